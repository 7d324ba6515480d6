//! From kernels to one C++ source: each kernel's text with its holes filled, after what it calls.

use std::collections::HashSet;
use std::fmt::Write;

/// A kernel's CUDA text.
pub struct Definition {
    /// The function's name.
    pub name: &'static str,
    /// Where it is defined: with the name, what tells it from others.
    pub place: &'static str,
    /// The prelude has its forward pass, as `pb_NAME`.
    pub primitive: bool,
    /// Function templates over the scalar `R`.
    pub texts: &'static [&'static [Piece]],
}

/// A part of a kernel's text.
pub enum Piece {
    /// C++ as it is.
    Text(&'static str),
    /// The kernel's own name.
    Name,
    /// The name of another kernel.
    Callee(fn() -> &'static Definition),
    /// The name of a type.
    Type(fn(&mut Source) -> String),
    /// The value of a constant.
    Constant(fn() -> String),
}

/// A struct's fields, to define it in C++.
pub struct Struct {
    /// The struct's name.
    pub name: &'static str,
    /// Where it is defined: with the name, what tells it from others.
    pub place: &'static str,
    /// Each field's name in C++ and its type.
    pub fields: &'static [Field],
}

/// A field's name in C++ and its type.
pub type Field = (&'static str, fn(&mut Source) -> String);

/// A constant that kernels can name.
pub trait CConstant {
    /// Its value as a C++ expression, where the scalar is `R`.
    fn c_constant(self) -> String;
}

impl CConstant for f64 {
    fn c_constant(self) -> String {
        if self.is_finite() { format!("R({self:e})") } else { format!("R({})", non_finite(self)) }
    }
}

fn non_finite(x: f64) -> &'static str {
    if x.is_nan() {
        "PB_NAN"
    } else if x > 0.0 {
        "PB_INFINITY"
    } else {
        "-PB_INFINITY"
    }
}

impl CConstant for usize {
    fn c_constant(self) -> String {
        format!("{self}u")
    }
}

/// C++ that grows by kernels and types, each once, in the order of their dependencies.
pub struct Source {
    text: String,
    done: HashSet<String>,
}

/// Types and functions that every kernel may use.
const PRELUDE: &str = include_str!("prelude.cuh");
/// What needs tuples: the pullbacks of numbers, and the primitives.
const NUMBERS: &str = include_str!("numbers.cuh");
/// Values with tangents, for kernels that are forces.
const DUAL: &str = include_str!("dual.cuh");

impl Default for Source {
    fn default() -> Self {
        Self::new()
    }
}

impl Source {
    /// The prelude, and the products of the vector and matrix types.
    pub fn new() -> Source {
        let mut source = Source { text: String::from(PRELUDE), done: HashSet::new() };
        source.tuples(12);
        source.push(NUMBERS);
        for product in crate::math::PRODUCTS {
            product(&mut source);
        }
        source
    }

    /// The text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds C++ as it is.
    pub fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds a kernel and what it calls; returns its name in C++.
    pub fn add_kernel(&mut self, definition: &'static Definition) -> String {
        let name = if definition.primitive {
            format!("pb_{}", definition.name)
        } else {
            unique(definition.name, definition.place)
        };
        if self.done.insert(name.clone()) {
            // Declared before what it calls, because a pullback can lead back to its function.
            for pieces in definition.texts {
                let (head, rest) = head(pieces);
                let text = self.fill(&name, head) + rest + ";\n";
                self.text.push_str(&text);
            }
            for pieces in definition.texts {
                let text = self.fill(&name, pieces);
                self.text.push_str(&text);
            }
        }
        name
    }

    /// The name of the scalar with a tangent, whose definition and functions are added, each by its pullback.
    pub fn add_dual(&mut self) -> String {
        if self.done.insert("pb_dual".into()) {
            self.push(DUAL);
            for (name, pullback) in crate::math::PULLBACKS {
                let pullback = self.add_kernel(pullback());
                let _ = writeln!(
                    self.text,
                    "template<class S> PB pb_dual<S> pb_c_{name}(pb_dual<S> x) {{ return {{pb_c_{name}(x.value), \
                     {pullback}<S>(x.value, x.tangent)}}; }}"
                );
            }
            for (name, pullback) in crate::math::PULLBACKS_OF_TWO {
                let pullback = self.add_kernel(pullback());
                let _ = writeln!(
                    self.text,
                    "template<class S> PB pb_dual<S> pb_c_{name}(pb_dual<S> a, pb_dual<S> b) {{ return \
                     {{pb_c_{name}(a.value, b.value), {pullback}<S>(a.value, b.value, a.tangent)._0 + \
                     {pullback}<S>(a.value, b.value, b.tangent)._1}}; }}"
                );
            }
        }
        "pb_dual<R>".into()
    }

    /// The text of `pieces`, with what they name added before.
    fn fill(&mut self, name: &str, pieces: &[Piece]) -> String {
        let mut text = String::new();
        for piece in pieces {
            match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::Name => text.push_str(name),
                Piece::Callee(callee) => text.push_str(&self.add_kernel(callee())),
                Piece::Type(ty) => text.push_str(&ty(self)),
                Piece::Constant(constant) => text.push_str(&constant()),
            }
        }
        text
    }

    /// Adds a struct and the fieldwise operations on it; returns its name in C++, at the scalar `R`.
    pub fn add_struct(&mut self, definition: &'static Struct) -> String {
        let name = unique(definition.name, definition.place);
        if self.done.insert(name.clone()) {
            let fields: Vec<(&str, String)> =
                definition.fields.iter().map(|(field, ty)| (*field, ty(self))).collect();
            self.define_struct(&name, &fields);
        }
        format!("{name}<R>")
    }

    fn define_struct(&mut self, name: &str, fields: &[(&str, String)]) {
        let each = |line: &dyn Fn(&str) -> String| fields.iter().map(|(f, _)| line(f)).collect::<String>();
        let list = |item: &dyn Fn(&str) -> String| {
            fields.iter().map(|(f, _)| item(f)).collect::<Vec<_>>().join(", ")
        };
        let members: String = fields.iter().map(|(f, ty)| format!("{ty} {f}; ")).collect();
        let t = format!("{name}<R>");
        let (zero, add, subtract) = (
            each(&|f| format!("pb_set_zero(a.{f}); ")),
            each(&|f| format!("pb_add(a.{f}, b.{f}); ")),
            each(&|f| format!("pb_subtract(a.{f}, b.{f}); ")),
        );
        let (plus, minus, negate) = (
            list(&|f| format!("a.{f} + b.{f}")),
            list(&|f| format!("a.{f} - b.{f}")),
            list(&|f| format!("-a.{f}")),
        );
        let (scale, divide) = (list(&|f| format!("a.{f} * s")), list(&|f| format!("a.{f} / s")));
        let scale_add = list(&|f| format!("pb_scale_add(a.{f}, s, c.{f})"));
        let inner_add = each(&|f| format!("sum = pb_inner_add(a.{f}, b.{f}, sum); "));
        let template = "template<class R> PB";
        // Writing to a `String` cannot fail.
        let _ = write!(
            self.text,
            "template<class R> struct {name} {{ {members}}};\n\
             {template} void pb_set_zero({t}& a) {{ {zero}}}\n\
             {template} void pb_add({t}& a, const {t}& b) {{ {add}}}\n\
             {template} void pb_subtract({t}& a, const {t}& b) {{ {subtract}}}\n\
             {template} {t} operator+(const {t}& a, const {t}& b) {{ return {{{plus}}}; }}\n\
             {template} {t} operator-(const {t}& a, const {t}& b) {{ return {{{minus}}}; }}\n\
             {template} {t} operator-(const {t}& a) {{ return {{{negate}}}; }}\n\
             {template} {t} operator*(const {t}& a, R s) {{ return {{{scale}}}; }}\n\
             {template} {t} operator*(R s, const {t}& a) {{ return {{{scale}}}; }}\n\
             {template} {t} operator/(const {t}& a, R s) {{ return {{{divide}}}; }}\n\
             {template} {t} pb_scale_add(const {t}& a, R s, const {t}& c) {{ return {{{scale_add}}}; }}\n\
             {template} R pb_inner_add(const {t}& a, const {t}& b, R sum) {{ {inner_add}return sum; }}\n\
             {template} {t} pb_times_plus(const {t}& a, R s, const {t}& c) {{ return pb_scale_add(a, s, c); }}\n\
             {template} {t} pb_times_plus(R s, const {t}& a, const {t}& c) {{ return pb_scale_add(a, s, c); }}\n\
             {template} {t} pb_times_minus(const {t}& a, R s, const {t}& c) {{ return pb_scale_add(a, s, -c); }}\n\
             {template} {t} pb_times_minus(R s, const {t}& a, const {t}& c) {{ return pb_scale_add(a, s, -c); }}\n\
             {template} {t} pb_minus_times(const {t}& a, R s, const {t}& c) {{ return pb_scale_add(a, -s, c); }}\n\
             {template} {t} pb_minus_times(R s, const {t}& a, const {t}& c) {{ return pb_scale_add(a, -s, c); }}\n\
             {template} pb_tuple<{t}, R> pb_mul_pullback_add(const {t}& a, R s, const {t}& c_bar, const {t}& a_bar, R s_bar) \
             {{ return {{pb_scale_add(c_bar, s, a_bar), pb_inner_add(a, c_bar, s_bar)}}; }}\n\
             {template} pb_tuple<R, {t}> pb_mul_pullback_add(R s, const {t}& a, const {t}& c_bar, R s_bar, const {t}& a_bar) \
             {{ return {{pb_inner_add(a, c_bar, s_bar), pb_scale_add(c_bar, s, a_bar)}}; }}\n\
             {template} pb_tuple<{t}, R> pb_div_pullback(const {t}& a, R s, const {t}& c_bar) \
             {{ {t} a_bar = c_bar / s; return {{a_bar, -pb_inner_add(a / s, a_bar, R(-0.0))}}; }}\n",
        );
    }

    /// Adds `left * right` as a call of the kernel.
    pub fn add_product(&mut self, left: &str, right: &str, kernel: &'static Definition) {
        let name = self.add_kernel(kernel);
        let _ = write!(
            self.text,
            "template<class R> PB auto operator*(const {left}& a, const {right}& b) {{ return {name}<R>(a, b); }}\n\
             template<class R, class C> PB C pb_times_plus(const {left}& a, const {right}& b, const C& c) \
             {{ return {name}<R>(a, b) + c; }}\n\
             template<class R, class C> PB C pb_times_minus(const {left}& a, const {right}& b, const C& c) \
             {{ return {name}<R>(a, b) - c; }}\n\
             template<class R, class C> PB C pb_minus_times(const {left}& a, const {right}& b, const C& c) \
             {{ return c - {name}<R>(a, b); }}\n\
             template<class R, class C> PB pb_tuple<{left}, {right}> pb_mul_pullback_add(const {left}& a, \
             const {right}& b, const C& c_bar, const {left}& a_bar, const {right}& b_bar) \
             {{ auto bars = {name}_pullback<R>(a, b, c_bar); return {{a_bar + bars._0, b_bar + bars._1}}; }}\n",
        );
    }

    /// `pb_tuple` with up to `most` members.
    fn tuples(&mut self, most: usize) {
        for n in 1..=most {
            let list = |item: &dyn Fn(usize) -> String| (0..n).map(item).collect::<Vec<_>>().join(", ");
            let each = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
            let (params, types) = (list(&|i| format!("class T{i}")), list(&|i| format!("T{i}")));
            let members = each(&|i| format!("T{i} _{i}; "));
            let (args, names) = (list(&|i| format!("T{i} a{i}")), list(&|i| format!("a{i}")));
            let t = format!("pb_tuple<{types}>");
            let zero = each(&|i| format!("pb_set_zero(a._{i}); "));
            let add = each(&|i| format!("pb_add(a._{i}, b._{i}); "));
            let subtract = each(&|i| format!("pb_subtract(a._{i}, b._{i}); "));
            let _ = write!(
                self.text,
                "template<{params}> struct {t} {{ {members}}};\n\
                 template<{params}> PB {t} pb_make_tuple({args}) {{ return {{{names}}}; }}\n\
                 template<{params}> PB void pb_set_zero({t}& a) {{ {zero}}}\n\
                 template<{params}> PB void pb_add({t}& a, const {t}& b) {{ {add}}}\n\
                 template<{params}> PB void pb_subtract({t}& a, const {t}& b) {{ {subtract}}}\n",
            );
        }
    }
}

/// A function's pieces up to its body, and what is left of its head.
fn head(pieces: &[Piece]) -> (&[Piece], &str) {
    for (i, piece) in pieces.iter().enumerate() {
        if let Piece::Text(text) = piece
            && let Some((rest, _)) = text.split_once('{')
        {
            return (&pieces[..i], rest);
        }
    }
    (pieces, "")
}

/// A name in C++ that no other kernel or struct has.
fn unique(name: &str, place: &str) -> String {
    // FNV-1a: short, and the same on every machine, so that compiled modules can be cached by their text.
    let mut hash: u32 = 0x811c_9dc5;
    for byte in name.bytes().chain(place.bytes()) {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    let ascii: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("{ascii}_{hash:08x}")
}
