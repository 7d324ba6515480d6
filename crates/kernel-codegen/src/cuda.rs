//! The CUDA dialect: forward and reverse pass as C++ templates over the scalar `R`.
//!
//! The text has holes for what only run time knows: the names of other kernels, of structs, and the values of
//! constants. A thread runs one scalar, so an `if` is an `if`.

mod force;

use std::collections::BTreeSet;

use quote::quote;
use syn::{Expr, Member, Path, Type};

use crate::ir::*;
use crate::reverse::{Addition, Define, From, Touched, inner_variables, reverse};
use crate::signature::Signature;
use crate::text::{Text, join, text};
pub use force::force;

/// Lines indented by the braces around them, for people.
pub fn indented(text: &str) -> String {
    let mut depth: usize = 0;
    let mut result = String::new();
    for line in text.lines().map(str::trim) {
        let closing = line.chars().take_while(|&c| c == '}').count();
        let indent = if line.is_empty() { 0 } else { depth.saturating_sub(closing) };
        result.push_str(&"    ".repeat(indent));
        result.push_str(line);
        result.push('\n');
        let (open, close) = (line.matches('{').count(), line.matches('}').count());
        depth = (depth + open).saturating_sub(close);
    }
    result
}

/// The most members that `pb_tuple` has; more are tuples of tuples.
const TUPLE: usize = 12;

pub struct Cuda<'a> {
    pub body: &'a Body,
    pub signature: &'a Signature,
}

/// The type `ty` of a signature.
fn type_hole(signature: &Signature, ty: &Type) -> Text {
    let at_f64 = signature.at_f64(ty);
    let readable = quote!(#ty).to_string().replace(' ', "");
    Text::hole(
        quote! { ::pullback_kernel::rt::Piece::Type(::pullback_kernel::rt::c_type::<#at_f64>) },
        readable,
    )
}

/// `template<class R> PB RESULT NAME(ARGUMENTS` of a kernel, up to the last argument, and the types of its arguments.
fn head(signature: &Signature, result: Text, suffix: &str, argument: impl Fn(usize) -> String) -> Text {
    let arguments = signature
        .arguments
        .iter()
        .enumerate()
        .map(|(i, a)| text![type_hole(signature, &a.ty), " ", argument(i)]);
    let name = Text::hole(quote! { ::pullback_kernel::rt::Piece::Name }, "@".into());
    text!["template<class R> PB ", result, " ", name, suffix, "(", join(arguments)]
}

/// The pullback's result: one cotangent per argument.
fn bars_type(signature: &Signature) -> Text {
    let types = signature.arguments.iter().map(|a| type_hole(signature, &a.ty));
    text!["pb_tuple<", join(types), ">"]
}

/// The pullback of a kernel that names its own.
pub fn named_pullback(signature: &Signature, path: &Path) -> Text {
    let n = signature.arguments.len();
    let arguments = join((0..n).map(|i| Text::from(format!("a{i}"))));
    let mut call = text![callee(path), "<R>(", arguments];
    if n > 0 {
        call.push(", ".into());
    }
    call.push("out_bar)".into());
    // A kernel with one argument has a pullback with one result, which is no tuple.
    let value = if n == 1 { text!["{", call, "}"] } else { call };
    let comma = if n > 0 { ", " } else { "" };
    text![
        head(signature, bars_type(signature), "_pullback", |i| format!("a{i}")),
        comma,
        type_hole(signature, &signature.result),
        " out_bar) { return ",
        value,
        "; }\n"
    ]
}

fn callee(path: &Path) -> Text {
    let readable = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
    Text::hole(
        quote! { ::pullback_kernel::rt::Piece::Callee(<#path as ::pullback_kernel::rt::Kernel>::definition) },
        readable,
    )
}

impl Cuda<'_> {
    fn var(&self, var: Var) -> String {
        format!("{}_{var}", ascii(&self.body.variables[var].name))
    }

    fn bar(&self, var: Var) -> String {
        format!("{}_bar", self.var(var))
    }

    /// The kernel as a function template.
    pub fn forward(&self) -> Text {
        let result = type_hole(self.signature, &self.signature.result);
        text![
            head(self.signature, result, "", |i| self.var(i)),
            ") {\n",
            self.block(&self.body.block),
            "return ",
            self.operand(&self.body.block.yields[0]),
            ";\n}\n"
        ]
    }

    /// Its pullback as a function template.
    pub fn pullback(&self) -> Text {
        let mut touched = Touched::new();
        let reverse = self.reverse_block(&self.body.block, &["out_bar".to_owned()], &mut touched);
        let arguments: BTreeSet<Var> = (0..self.body.arguments).collect();
        let comma = if arguments.is_empty() { "" } else { ", " };
        text![
            head(self.signature, bars_type(self.signature), "_pullback", |i| self.var(i)),
            comma,
            type_hole(self.signature, &self.signature.result),
            " out_bar) {\n",
            self.block(&self.body.block),
            self.declare_bars(&arguments),
            reverse,
            "return {",
            join(arguments.iter().map(|&a| Text::from(self.bar(a)))),
            "};\n}\n"
        ]
    }

    // ---- forward ----

    fn block(&self, block: &Block) -> Text {
        let mut text = Text::default();
        for statement in &block.statements {
            text.push(self.statement(statement));
        }
        text
    }

    fn statement(&self, statement: &Statement) -> Text {
        match statement {
            Statement::Let { var, op, .. } => self.assign(&self.var(*var), op),
            Statement::If { condition, then, otherwise, outs, .. } => {
                let sides = text![
                    "if (",
                    self.operand(condition),
                    ") {\n",
                    self.side(then),
                    "} else {\n",
                    self.side(otherwise),
                    "}\n"
                ];
                self.choose(sides, outs)
            }
            Statement::Match { scrutinee, arms, outs, .. } => {
                self.choose(self.arms(scrutinee, arms, |arm| self.side(&arm.block)), outs)
            }
            Statement::For { index, bounds, body, carried, .. } => {
                let mut text = self.rounds(*index, bounds, body, carried, Text::default());
                for c in carried {
                    let inner = self.var(c.inner);
                    text.push(format!("auto {} = {inner}_carried;\n", self.var(c.out)).into());
                }
                text
            }
        }
    }

    /// The statements of one side, and its yields as the value of the function around it.
    fn side(&self, block: &Block) -> Text {
        let tuple = |operands: &[Operand]| {
            text!["pb_make_tuple(", join(operands.iter().map(|operand| self.operand(operand))), ")"]
        };
        let value = match block.yields.len() {
            0..=TUPLE => tuple(&block.yields),
            _ => text!["pb_make_tuple(", join(block.yields.chunks(TUPLE).map(tuple)), ")"],
        };
        text![self.block(block), "return ", value, ";\n"]
    }

    /// C++ has no `if` with a value: a function called on the spot gives one, and its type.
    fn choose(&self, sides: Text, outs: &[Var]) -> Text {
        let Some(first) = outs.first() else { return Text::default() };
        let chosen = format!("{}_chosen", self.var(*first));
        let mut text = text![format!("auto {chosen} = [&]() {{\n"), sides, "}();\n"];
        for (i, out) in outs.iter().enumerate() {
            let member = match outs.len() {
                0..=TUPLE => format!("_{i}"),
                _ => format!("_{}._{}", i / TUPLE, i % TUPLE),
            };
            text.push(format!("auto {} = {chosen}.{member};\n", self.var(*out)).into());
        }
        text
    }

    /// `match` as a chain of `if`s. rustc has seen that the arms are complete, so the last needs no condition.
    fn arms(&self, scrutinee: &Operand, arms: &[Arm], mut body: impl FnMut(&Arm) -> Text) -> Text {
        let mut text = Text::default();
        for (i, arm) in arms.iter().enumerate() {
            let last = i + 1 == arms.len() || arm.choices.is_empty();
            if !last {
                let mut test = Text::default();
                for (k, choice) in arm.choices.iter().enumerate() {
                    let or = if k > 0 { " || " } else { "" };
                    test.push(text![or, self.operand(scrutinee), " == ", self.operand(choice)]);
                }
                text.push(text!["if (", test, ") "]);
            }
            text.push(text!["{\n", body(arm), "}"]);
            if last {
                break;
            }
            text.push(" else ".into());
        }
        text![text, "\n"]
    }

    fn rounds(
        &self,
        index: Var,
        (from, to): &(Expr, Expr),
        body: &Block,
        carried: &[Carried],
        before: Text,
    ) -> Text {
        let mut text = Text::default();
        for c in carried {
            let inner = self.var(c.inner);
            text.push(text![format!("auto {inner}_carried = "), self.operand(&c.init), ";\n"]);
        }
        let index = self.var(index);
        text.push(text![
            format!("for (unsigned {index} = "),
            self.bound(from),
            format!("; {index} < "),
            self.bound(to),
            format!("; ++{index}) {{\n")
        ]);
        text.push(before);
        for c in carried {
            let inner = self.var(c.inner);
            text.push(format!("auto {inner} = {inner}_carried;\n").into());
        }
        text.push(self.block(body));
        // All yields are read before any carried value changes.
        for (k, y) in body.yields.iter().enumerate() {
            text.push(text![format!("auto yield{k} = "), self.operand(y), ";\n"]);
        }
        for (k, c) in carried.iter().enumerate() {
            text.push(format!("{}_carried = yield{k};\n", self.var(c.inner)).into());
        }
        text.push("}\n".into());
        text
    }

    // ---- reverse ----

    fn declare_bars(&self, vars: &BTreeSet<Var>) -> Text {
        let lines: String = vars
            .iter()
            .map(|&v| format!("auto {} = pb_zero_like({});\n", self.bar(v), self.var(v)))
            .collect();
        lines.into()
    }

    fn reverse_block(&self, block: &Block, seeds: &[String], touched: &mut Touched) -> Text {
        let mut code = Text::default();
        for (operand, seed) in block.yields.iter().zip(seeds) {
            if let Operand::Var(var) = operand {
                touched.insert(*var);
                code.push(text![format!("pb_add({}, ", self.bar(*var)), seed.clone(), ");\n"]);
            }
        }
        for statement in block.statements.iter().rev() {
            code.push(self.reverse_statement(statement, touched));
        }
        let defined = block.defines().into_iter().filter(|v| touched.remove(v)).collect();
        text![self.declare_bars(&defined), code]
    }

    fn reverse_statement(&self, statement: &Statement, touched: &mut Touched) -> Text {
        match statement {
            Statement::Let { var, op, .. } => {
                if touched.contains(var) {
                    self.reverse_let(*var, op, touched)
                } else {
                    Text::default()
                }
            }
            Statement::If { condition, then, otherwise, outs, .. } => {
                if !outs.iter().any(|out| touched.contains(out)) {
                    return Text::default();
                }
                let zeros = self.zero_untouched(outs, touched);
                let seeds: Vec<_> = outs.iter().map(|&out| self.bar(out)).collect();
                let then = self.reverse_side(then, &seeds, touched);
                let otherwise = self.reverse_side(otherwise, &seeds, touched);
                let mut text = text!["if (", self.operand(condition), ") {\n", then, "}"];
                if !otherwise.is_empty() {
                    text.push(text![" else {\n", otherwise, "}"]);
                }
                text.push("\n".into());
                if zeros.is_empty() { text } else { text!["{\n", zeros, text, "}\n"] }
            }
            Statement::Match { scrutinee, arms, outs, .. } => {
                if !outs.iter().any(|out| touched.contains(out)) {
                    return Text::default();
                }
                let zeros = self.zero_untouched(outs, touched);
                let seeds: Vec<_> = outs.iter().map(|&out| self.bar(out)).collect();
                let arms = self.arms(scrutinee, arms, |arm| {
                    text![self.block(&arm.block), self.reverse_block(&arm.block, &seeds, touched)]
                });
                text!["{\n", zeros, arms, "}\n"]
            }
            Statement::For { index, bounds, body, carried, .. } => {
                if !carried.iter().any(|c| touched.contains(&c.out)) {
                    return Text::default();
                }
                self.reverse_for(*index, bounds, body, carried, touched)
            }
        }
    }

    /// One side of an `if`. What it adds to outer cotangents is summed first and added then, in the order of the
    /// Rust dialect, so that both give the same bits.
    fn reverse_side(&self, side: &Block, seeds: &[String], touched: &mut Touched) -> Text {
        let mut outer = Touched::new();
        let reverse = self.reverse_block(side, seeds, &mut outer);
        if outer.is_empty() {
            return Text::default();
        }
        touched.extend(&outer);
        let bars: Vec<String> = outer.iter().map(|&var| self.bar(var)).collect();
        let outside: String = bars.iter().map(|bar| format!("auto& {bar}_outside = {bar};\n")).collect();
        let additions: String = bars.iter().map(|bar| format!("pb_add({bar}_outside, {bar});\n")).collect();
        text![outside, "{\n", self.block(side), self.declare_bars(&outer), reverse, additions, "}\n"]
    }

    /// Zeros for the outputs that nothing was added to: the seeds name them.
    fn zero_untouched(&self, outs: &[Var], touched: &Touched) -> Text {
        self.declare_bars(&outs.iter().copied().filter(|out| !touched.contains(out)).collect())
    }

    fn reverse_let(&self, var: Var, op: &Op, touched: &mut Touched) -> Text {
        let bar = self.bar(var);
        let reverse = reverse(op);
        let scoped = reverse.define.is_some();
        let mut text = Text::default();
        if let Some(define) = reverse.define {
            text.push(match define {
                Define::Quotient(a, b) => text![
                    "{\nauto defined = pb_div_pullback(",
                    self.operand(&a),
                    ", ",
                    self.operand(&b),
                    format!(", {bar});\n")
                ],
                Define::Product { a, b, negative } => {
                    let mut before = |operand: &Operand| match operand {
                        Operand::Var(var) if reverse.additions.iter().any(|x| x.replaces(*var)) => {
                            touched.insert(*var);
                            Text::from(self.bar(*var))
                        }
                        other => text!["pb_zero_like(", self.operand(other), ")"],
                    };
                    let (a_bar, b_bar) = (before(&a), before(&b));
                    let bar = if negative { format!("pb_negate({bar})") } else { bar.clone() };
                    text![
                        "{\nauto defined = pb_mul_pullback_add(",
                        join([self.operand(&a), self.operand(&b), bar.into(), a_bar, b_bar]),
                        ");\n"
                    ]
                }
                Define::Call(path, arguments) => {
                    let mut arguments: Vec<Text> = arguments.iter().map(|a| self.operand(a)).collect();
                    arguments.push(bar.clone().into());
                    text!["{\nauto defined = ", callee(&path), "_pullback<R>(", join(arguments), ");\n"]
                }
                Define::Without(path) => text![
                    format!("{{\nauto defined = {bar};\npb_set_zero("),
                    self.project("defined".into(), &path),
                    ");\n"
                ],
            });
        }
        for Addition { to, path, negative, from } in &reverse.additions {
            touched.insert(*to);
            let from = match from {
                From::Bar(path) => self.project(bar.clone().into(), path),
                From::Part(i) => format!("defined._{i}").into(),
                From::Replacing(i) => {
                    text.push(format!("{} = defined._{i};\n", self.bar(*to)).into());
                    continue;
                }
                From::Defined => "defined".into(),
                From::Sum => format!("pb_sum({bar})").into(),
            };
            let rule = if *negative { "pb_subtract(" } else { "pb_add(" };
            text.push(text![rule, self.project(self.bar(*to).into(), path), ", ", from, ");\n"]);
        }
        if scoped {
            text.push("}\n".into());
        }
        text
    }

    fn reverse_for(
        &self,
        index: Var,
        bounds: &(Expr, Expr),
        body: &Block,
        carried: &[Carried],
        touched: &mut Touched,
    ) -> Text {
        let (from, to) = bounds;
        let mut text = text!["{\n"];
        let mut keep = Text::default();
        let name = self.var(index);
        for c in carried {
            let inner = self.var(c.inner);
            text.push(text![
                "pb_array<decltype(pb_value(",
                self.operand(&c.init),
                ")), ",
                self.bound(to),
                " - ",
                self.bound(from),
                format!("> {inner}_saved;\n")
            ]);
            keep.push(text![
                format!("{inner}_saved[{name} - "),
                self.bound(from),
                format!("] = {inner}_carried;\n")
            ]);
        }
        text.push(self.rounds(index, bounds, body, carried, keep));
        for c in carried {
            let inner = self.var(c.inner);
            let bar = format!("auto {inner}_carried_bar = ");
            text.push(if touched.contains(&c.out) {
                format!("{bar}{};\n", self.bar(c.out)).into()
            } else {
                format!("{bar}pb_zero_like({inner}_carried);\n").into()
            });
        }
        let seeds: Vec<_> = carried.iter().map(|c| format!("{}_carried_bar", self.var(c.inner))).collect();
        let reverse = self.reverse_block(body, &seeds, touched);
        let inner = inner_variables(index, carried, touched);
        text.push(text![
            format!("for (unsigned {name}_back = "),
            self.bound(to),
            format!("; {name}_back > "),
            self.bound(from),
            format!("; --{name}_back) {{\nunsigned {name} = {name}_back - 1u;\n")
        ]);
        for c in carried {
            let inner = self.var(c.inner);
            text.push(text![format!("auto {inner} = {inner}_saved[{name} - "), self.bound(from), "];\n"]);
        }
        text.push(text![self.block(body), self.declare_bars(&inner), reverse]);
        for c in carried {
            text.push(format!("{}_carried_bar = {};\n", self.var(c.inner), self.bar(c.inner)).into());
        }
        text.push("}\n".into());
        for c in carried {
            if let Operand::Var(init) = c.init {
                touched.insert(init);
                text.push(format!("pb_add({}, {}_carried_bar);\n", self.bar(init), self.var(c.inner)).into());
            }
        }
        text.push("}\n".into());
        text
    }

    // ---- operations and operands ----

    /// `auto NAME = op;`
    fn assign(&self, name: &str, op: &Op) -> Text {
        let auto = |value: Text| text![format!("auto {name} = "), value, ";\n"];
        let infix =
            |a: &Operand, op: &str, b: &Operand| text![self.operand(a), format!(" {op} "), self.operand(b)];
        match op {
            Op::Copy(a) => auto(self.operand(a)),
            Op::Negate(a) => auto(text!["-", self.operand(a)]),
            Op::Not(a) => auto(text!["!", self.operand(a)]),
            Op::Binary(op, a, b) => {
                let op = match op {
                    Binary::Add => "+",
                    Binary::Subtract => "-",
                    Binary::Multiply => "*",
                    Binary::Divide => "/",
                    Binary::Remainder => "%",
                    Binary::And => "&",
                    Binary::Or => "|",
                };
                // `bool & bool` is an `int` in C++.
                let value = infix(a, op, b);
                if matches!(op, "&" | "|") { auto(text!["bool(", value, ")"]) } else { auto(value) }
            }
            Op::Fused(fused, a, b, c) => {
                let rule = match fused {
                    Fused::TimesPlus => "pb_times_plus",
                    Fused::TimesMinus => "pb_times_minus",
                    Fused::MinusTimes => "pb_minus_times",
                };
                auto(text![rule, "(", join([self.operand(a), self.operand(b), self.operand(c)]), ")"])
            }
            Op::Compare(op, a, b) => {
                let op = match op {
                    Comparison::Less => "<",
                    Comparison::LessEqual => "<=",
                    Comparison::Greater => ">",
                    Comparison::GreaterEqual => ">=",
                    Comparison::Equal => "==",
                    Comparison::NotEqual => "!=",
                };
                auto(infix(a, op, b))
            }
            Op::Get(a, path) => auto(self.project(self.operand(a), path)),
            Op::Set(a, path, e) => {
                let part = self.project(name.to_owned().into(), path);
                text![auto(self.operand(a)), part, " = ", self.operand(e), ";\n"]
            }
            Op::Call(path, arguments) => {
                let arguments = join(arguments.iter().map(|a| self.operand(a)));
                auto(text![callee(path), "<R>(", arguments, ")"])
            }
            Op::Array(elements) => {
                auto(text!["pb_make_array(", join(elements.iter().map(|e| self.operand(e))), ")"])
            }
            Op::Repeat(element, length) => {
                auto(text!["pb_repeat<", self.bound(length), ">(", self.operand(element), ")"])
            }
            Op::Tuple(elements) => {
                auto(text!["pb_make_tuple(", join(elements.iter().map(|e| self.operand(e))), ")"])
            }
            Op::Struct(path, fields) => {
                let readable = path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
                let ty = Text::hole(
                    quote! { ::pullback_kernel::rt::Piece::Type(::pullback_kernel::rt::c_type::<#path<f64>>) },
                    format!("{readable}<R>"),
                );
                let mut text = text![ty, format!(" {name};\n")];
                for (member, value) in fields {
                    text.push(text![format!("{name}.{} = ", field(member)), self.operand(value), ";\n"]);
                }
                text
            }
        }
    }

    fn operand(&self, operand: &Operand) -> Text {
        match operand {
            Operand::Var(var) => self.var(*var).into(),
            Operand::Number(syn::Lit::Float(number)) => {
                let digits = number.base10_digits();
                let point = if digits.contains(['.', 'e', 'E']) { "" } else { ".0" };
                format!("R({digits}{point})").into()
            }
            Operand::Number(other) => quote!(#other).to_string().into(),
            Operand::Index(syn::Lit::Int(index)) => format!("{}u", index.base10_digits()).into(),
            Operand::Index(other) => quote!(#other).to_string().into(),
            Operand::Bool(bit) => bit.to_string().into(),
            Operand::Constant(path) => constant(path),
        }
    }

    /// A bound of a loop or the length of an array.
    fn bound(&self, expr: &Expr) -> Text {
        match expr {
            Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(index), .. }) => {
                format!("{}u", index.base10_digits()).into()
            }
            Expr::Path(path) => constant(&path.path),
            other => {
                let readable = quote!(#other).to_string();
                Text::hole(
                    quote! { ::pullback_kernel::rt::Piece::Constant(|| ::pullback_kernel::rt::c_constant::<usize>(#other)) },
                    readable,
                )
            }
        }
    }

    fn project(&self, mut base: Text, path: &[Projection]) -> Text {
        for step in path {
            base.push(match step {
                Projection::Field(member) => format!(".{}", field(member)).into(),
                Projection::Index(index) => text!["[", self.operand(index), "]"],
            });
        }
        base
    }
}

fn constant(path: &Path) -> Text {
    let readable = quote!(#path).to_string().replace(' ', "");
    Text::hole(
        quote! { ::pullback_kernel::rt::Piece::Constant(|| ::pullback_kernel::rt::c_constant(#path)) },
        readable,
    )
}

/// A name with the letters that C++ does not have in names as their code.
fn ascii(name: &str) -> String {
    let letter = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' => c.to_string(),
        c => format!("u{:x}", c as u32),
    };
    name.chars().map(letter).collect()
}

/// A field in C++: marked, so that none is a keyword.
pub fn field(member: &Member) -> String {
    match member {
        Member::Named(name) => format!("{}_", ascii(name.to_string().trim_start_matches("r#"))),
        Member::Unnamed(index) => format!("_{}", index.index),
    }
}
