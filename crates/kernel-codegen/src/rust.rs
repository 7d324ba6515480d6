//! The Rust dialect: forward and reverse pass for any scalar, lanes included.
//!
//! A condition is a mask. `if` runs a side when any lane takes it and blends; in the reverse pass the cotangents of
//! a side are masked on the way in and on the way out, so that a lane that did not take it contributes nothing,
//! whatever the side computed there (an infinity times zero would be NaN).

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::Lit;
use syn::spanned::Spanned;

use crate::ir::*;
use crate::reverse::{Addition, Define, From, Touched, inner_variables, reverse};

/// Generated code: its names are hygienic, so that `condition` here is no `condition` of the user's.
macro_rules! code {
    ($($tokens:tt)*) => { quote_spanned! {Span::mixed_site()=> $($tokens)* } };
}

pub struct Rust<'a> {
    pub body: &'a Body,
    pub scalar: &'a Ident,
}

impl Rust<'_> {
    /// The name of a variable. It is hygienic, so it cannot clash with a name of the user's.
    pub fn var(&self, var: Var) -> Ident {
        let variable = &self.body.variables[var];
        Ident::new(&format!("{}_{var}", variable.name), variable.span.resolved_at(Span::mixed_site()))
    }

    /// The name of a variable's cotangent.
    pub fn bar(&self, var: Var) -> Ident {
        let variable = &self.body.variables[var];
        Ident::new(&format!("{}_{var}_bar", variable.name), variable.span.resolved_at(Span::mixed_site()))
    }

    /// A name of the generated code's own. Variables end in `_` and a number, or in that and `_bar`; this does not.
    fn local(&self, name: &str, k: usize) -> Ident {
        format_ident!("{name}{k}", span = Span::mixed_site())
    }

    /// The body's statements and its result.
    pub fn forward(&self) -> TokenStream {
        let statements = self.block(&self.body.block);
        let result = self.operand(&self.body.block.yields[0]);
        code! { #statements #result }
    }

    /// The body's reverse pass after its forward pass: from `out_bar` to one cotangent per argument, as a tuple.
    pub fn pullback(&self, out_bar: &Ident) -> TokenStream {
        let arguments: Vec<Var> = (0..self.body.arguments).collect();
        let mut touched = Touched::new();
        let seeds = code! { #out_bar };
        let reverse = self.reverse_block(&self.body.block, &[seeds], &mut touched);
        let forward = self.block(&self.body.block);
        let declare = self.declare_bars(&arguments.iter().copied().collect());
        let bars = arguments.iter().map(|&a| self.bar(a));
        code! { #forward #declare #reverse (#(#bars,)*) }
    }

    // ---- forward ----

    fn block(&self, block: &Block) -> TokenStream {
        block.statements.iter().map(|statement| self.statement(statement)).collect()
    }

    fn statement(&self, statement: &Statement) -> TokenStream {
        match statement {
            Statement::Let { var, ty, op, span } => {
                let (var, op) = (self.var(*var), self.op(op, *span));
                match ty {
                    Some(ty) => quote_spanned! {*span=> let #var: #ty = #op; },
                    None => quote_spanned! {*span=> let #var = #op; },
                }
            }
            Statement::If { condition, then, otherwise, outs, span } => {
                self.conditional(condition, then, otherwise, outs, *span)
            }
            Statement::Match { scrutinee, arms, outs, span } => {
                if outs.is_empty() {
                    return code! {};
                }
                let scrutinee = self.operand(scrutinee);
                let arms = arms.iter().map(|arm| {
                    let pattern = &arm.pattern;
                    let statements = self.block(&arm.block);
                    let yields = self.operands(&arm.block.yields);
                    code! { #pattern => { #statements (#(#yields,)*) } }
                });
                let outs = outs.iter().map(|&out| self.var(out));
                quote_spanned! {*span=> let (#(#outs,)*) = match #scrutinee { #(#arms)* }; }
            }
            Statement::For { index, bounds, body, carried, span } => {
                let rounds = self.rounds(*index, bounds, body, carried, |_| code! {});
                let outs = carried.iter().map(|c| self.var(c.out));
                let values = (0..carried.len()).map(|k| self.local("carried", k));
                quote_spanned! {*span=> let (#(#outs,)*) = { #rounds (#(#values,)*) }; }
            }
        }
    }

    fn conditional(
        &self,
        condition: &Operand,
        then: &Block,
        otherwise: &Block,
        outs: &[Var],
        span: Span,
    ) -> TokenStream {
        if outs.is_empty() {
            return code! {};
        }
        let scalar = self.scalar;
        let condition = self.condition(condition, span);
        let side = |block: &Block, name: &str, guard: TokenStream| {
            let statements = self.block(block);
            let yields = self.operands(&block.yields);
            let names: Vec<_> = (0..yields.len()).map(|k| self.local(name, k)).collect();
            if block.is_harmless() {
                return code! { let (#(#names,)*) = { #statements (#(#yields,)*) }; };
            }
            code! {
                #(let mut #names = ::pullback_kernel::rt::zero::<#scalar, _>();)*
                if #guard { #statements #(#names = #yields;)* }
            }
        };
        let then = side(then, "then", code! { ::pullback_kernel::rt::any(condition) });
        let otherwise = side(otherwise, "otherwise", code! { !::pullback_kernel::rt::all(condition) });
        let blends = (0..outs.len()).map(|k| {
            let (a, b) = (self.local("then", k), self.local("otherwise", k));
            {
                let condition = code! { condition };
                quote_spanned! {span=> ::pullback_kernel::rt::select::<#scalar, _>(#condition, #a, #b) }
            }
        });
        let outs = outs.iter().map(|&out| self.var(out));
        code! {
            let (#(#outs,)*) = {
                let condition = #condition;
                #then
                #otherwise
                (#(#blends,)*)
            };
        }
    }

    /// The rounds of a loop, with the carried values in `carried_k`; `before` comes first in each.
    fn rounds(
        &self,
        index: Var,
        (from, to): &(syn::Expr, syn::Expr),
        body: &Block,
        carried: &[Carried],
        before: impl Fn(&Ident) -> TokenStream,
    ) -> TokenStream {
        let index = self.var(index);
        let inits = carried.iter().enumerate().map(|(k, c)| {
            let (name, init) = (self.local("carried", k), self.operand(&c.init));
            code! { let mut #name = #init; }
        });
        let starts = carried.iter().enumerate().map(|(k, c)| {
            let (name, inner) = (self.local("carried", k), self.var(c.inner));
            code! { let #inner = #name; }
        });
        let statements = self.block(body);
        let names: Vec<_> = (0..carried.len()).map(|k| self.local("carried", k)).collect();
        let yields = self.operands(&body.yields);
        let before = before(&index);
        // `while`: a `for` goes through calls of the iterator, which inherit no target features.
        code! {
            #(#inits)*
            let mut round: usize = #from;
            while round < #to {
                let #index = round;
                #before
                #(#starts)*
                #statements
                (#(#names,)*) = (#(#yields,)*);
                round += 1;
            }
        }
    }

    // ---- reverse ----

    /// `let mut v_bar = 0` for each.
    fn declare_bars(&self, vars: &BTreeSet<Var>) -> TokenStream {
        let scalar = self.scalar;
        vars.iter()
            .map(|&var| {
                let (value, bar) = (self.var(var), self.bar(var));
                code! { let mut #bar = ::pullback_kernel::rt::zero_like::<#scalar, _>(#value); }
            })
            .collect()
    }

    /// The reverse pass of a block whose forward pass has run in the same scope, from the cotangents of its yields.
    /// What it touches is left in `touched`, without the variables that end with the block.
    fn reverse_block(&self, block: &Block, seeds: &[TokenStream], touched: &mut Touched) -> TokenStream {
        let mut code = TokenStream::new();
        for (operand, seed) in block.yields.iter().zip(seeds) {
            if let Operand::Var(var) = operand {
                touched.insert(*var);
                code.extend(self.add(&self.bar_of(*var, &[]), code! { #seed }, false));
            }
        }
        for statement in block.statements.iter().rev() {
            code.extend(self.reverse_statement(statement, touched));
        }
        let defined: BTreeSet<Var> = block.defines().into_iter().filter(|v| touched.remove(v)).collect();
        let declare = self.declare_bars(&defined);
        code! { #declare #code }
    }

    fn reverse_statement(&self, statement: &Statement, touched: &mut Touched) -> TokenStream {
        match statement {
            Statement::Let { var, op, span, .. } => {
                if !touched.contains(var) {
                    return code! {};
                }
                self.reverse_let(*var, op, *span, touched)
            }
            Statement::If { condition, then, otherwise, outs, span } => {
                if !outs.iter().any(|out| touched.contains(out)) {
                    return code! {};
                }
                let condition = self.condition(condition, *span);
                let then = self.reverse_side(then, outs, code! { condition }, touched);
                let otherwise = self.reverse_side(otherwise, outs, code! { !condition }, touched);
                code! {{
                    let condition = #condition;
                    #then
                    #otherwise
                }}
            }
            Statement::Match { scrutinee, arms, outs, .. } => {
                if !outs.iter().any(|out| touched.contains(out)) {
                    return code! {};
                }
                let scrutinee = self.operand(scrutinee);
                let seeds: Vec<_> = outs.iter().map(|&out| self.bar_or_zero(out, touched)).collect();
                let arms: Vec<_> = arms
                    .iter()
                    .map(|arm| {
                        let pattern = &arm.pattern;
                        let forward = self.block(&arm.block);
                        let reverse = self.reverse_block(&arm.block, &seeds, touched);
                        code! { #pattern => { #forward #reverse } }
                    })
                    .collect();
                code! { match #scrutinee { #(#arms)* } }
            }
            Statement::For { index, bounds, body, carried, .. } => {
                if !carried.iter().any(|c| touched.contains(&c.out)) {
                    return code! {};
                }
                self.reverse_for(*index, bounds, body, carried, touched)
            }
        }
    }

    fn reverse_let(&self, var: Var, op: &Op, span: Span, touched: &mut Touched) -> TokenStream {
        let scalar = self.scalar;
        let bar = self.bar(var);
        let reverse = reverse(op);
        let define = reverse.define.map(|define| match define {
            Define::Quotient(a, b) => {
                let (a, b) = (self.operand_at(&a, span), self.operand_at(&b, span));
                let partials = quote_spanned! {span=> ::pullback_kernel::rt::over_pullback::<#scalar, _>((#a, #b), #bar) };
                code! { let defined = #partials; }
            }
            Define::Product { a, b, negative } => {
                // Where both factors are one variable, its cotangent is added to afterwards.
                let mut before = |operand: &Operand| match operand {
                    Operand::Var(var) if reverse.additions.iter().any(|x| x.replaces(*var)) => {
                        touched.insert(*var);
                        let bar = self.bar(*var);
                        code! { #bar }
                    }
                    _ => code! { ::pullback_kernel::rt::zero::<#scalar, _>() },
                };
                let (a_bar, b_bar) = (before(&a), before(&b));
                let (a, b) = (self.operand_at(&a, span), self.operand_at(&b, span));
                let bar = match negative {
                    true => code! { ::pullback_kernel::rt::negate::<#scalar, _>(#bar) },
                    false => code! { #bar },
                };
                let rule = quote_spanned! {span=> ::pullback_kernel::rt::times_pullback_add::<#scalar, _> };
                code! { let defined = #rule((#a, #b), #bar, (#a_bar, #b_bar)); }
            }
            Define::Call(path, arguments) => {
                let arguments = self.operands(&arguments);
                code! { let defined = #path::pullback::<#scalar>(#(#arguments,)* #bar); }
            }
            Define::Without(path) => {
                let part = self.project(code! { defined }, &path);
                code! {
                    let mut defined = #bar;
                    #part = ::pullback_kernel::rt::zero::<#scalar, _>();
                }
            }
        });
        let additions = reverse.additions.iter().map(|addition| {
            let Addition { to, path, negative, from } = addition;
            touched.insert(*to);
            let from = match from {
                From::Bar(path) => self.project(code! { #bar }, path),
                From::Part(i) => {
                    let i = syn::Index::from(*i);
                    code! { defined.#i }
                }
                From::Replacing(i) => {
                    let (i, bar) = (syn::Index::from(*i), self.bar(*to));
                    return code! { #bar = defined.#i; };
                }
                From::Defined => code! { defined },
                From::Sum => code! { ::pullback_kernel::rt::sum::<#scalar, _, _>(#bar) },
            };
            self.add(&self.bar_of(*to, path), from, *negative)
        });
        let additions: TokenStream = additions.collect();
        if define.is_some() {
            code! {{ #define #additions }}
        } else {
            additions
        }
    }

    /// One side of an `if`: run it again, reverse it, and add what its lanes contribute.
    fn reverse_side(
        &self,
        side: &Block,
        outs: &[Var],
        mask: TokenStream,
        touched: &mut Touched,
    ) -> TokenStream {
        let scalar = self.scalar;
        let seeds: Vec<_> = outs
            .iter()
            .map(|&out| {
                let bar = self.bar_or_zero(out, touched);
                code! { ::pullback_kernel::rt::keep::<#scalar, _>(mask, #bar) }
            })
            .collect();
        let mut outer = Touched::new();
        let reverse = self.reverse_block(side, &seeds, &mut outer);
        let forward = self.block(side);
        if outer.is_empty() {
            return code! {};
        }
        touched.extend(&outer);
        let declare = self.declare_bars(&outer);
        let bars: Vec<_> = outer.iter().map(|&var| self.bar(var)).collect();
        let names: Vec<_> = (0..bars.len()).map(|k| self.local("inside", k)).collect();
        let additions: TokenStream = bars
            .iter()
            .zip(&names)
            .map(|(bar, name)| {
                let masked = code! { ::pullback_kernel::rt::keep::<#scalar, _>(mask, #name) };
                self.add(&code! { #bar }, masked, false)
            })
            .collect();
        let run = code! {
            let (#(#names,)*) = {
                #forward
                #declare
                #reverse
                (#(#bars,)*)
            };
            #additions
        };
        let run = code! { let mask = #mask; #run };
        if side.is_harmless() {
            code! {{ #run }}
        } else {
            code! { if ::pullback_kernel::rt::any(#mask) { #run } }
        }
    }

    fn reverse_for(
        &self,
        index: Var,
        bounds: &(syn::Expr, syn::Expr),
        body: &Block,
        carried: &[Carried],
        touched: &mut Touched,
    ) -> TokenStream {
        let (from, to) = bounds;
        let ks: Vec<usize> = (0..carried.len()).collect();
        let saved: Vec<_> = ks.iter().map(|&k| self.local("saved", k)).collect();
        let bars: Vec<_> = ks.iter().map(|&k| self.local("carried_bar", k)).collect();
        let inits: Vec<_> = carried.iter().map(|c| self.operand(&c.init)).collect();
        let names: Vec<_> = ks.iter().map(|&k| self.local("carried", k)).collect();
        let seeds: Vec<_> = carried.iter().map(|c| self.bar_or_zero(c.out, touched)).collect();

        // The cotangents that go round are set aside for each round, and added after it.
        let carried_seeds: Vec<_> = bars.iter().map(|bar| code! { #bar }).collect();
        let reverse = self.reverse_block(body, &carried_seeds, touched);
        let inner = inner_variables(index, carried, touched);
        let declare_inner = self.declare_bars(&inner);
        let inner_values: Vec<_> = carried.iter().map(|c| self.var(c.inner)).collect();
        let inner_bars: Vec<_> = carried.iter().map(|c| self.bar(c.inner)).collect();
        let keep = |index: &Ident| code! { #(#saved[#index - #from] = #names;)* };
        let rounds = self.rounds(index, bounds, body, carried, keep);
        let statements = self.block(body);
        let index = self.var(index);
        let additions: TokenStream = carried
            .iter()
            .zip(&bars)
            .filter_map(|(c, bar)| match c.init {
                Operand::Var(init) => {
                    touched.insert(init);
                    Some(self.add(&self.bar_of(init, &[]), code! { #bar }, false))
                }
                _ => None,
            })
            .collect();
        let keep_rounds = if carried.is_empty() {
            code! {}
        } else {
            rounds
        };
        code! {{
            #(let mut #saved = [#inits; #to - #from];)*
            #keep_rounds
            #(let mut #bars = ::pullback_kernel::rt::same_type(#seeds, #inits);)*
            let mut round: usize = #to;
            while round > #from {
                round -= 1;
                let #index = round;
                #(let #inner_values = #saved[#index - #from];)*
                #statements
                #declare_inner
                #reverse
                (#(#bars,)*) = (#(#inner_bars,)*);
            }
            #additions
        }}
    }

    /// The cotangent of a variable where it may have none.
    fn bar_or_zero(&self, var: Var, touched: &Touched) -> TokenStream {
        let scalar = self.scalar;
        if touched.contains(&var) {
            let bar = self.bar(var);
            code! { #bar }
        } else {
            code! { ::pullback_kernel::rt::zero::<#scalar, _>() }
        }
    }

    fn bar_of(&self, var: Var, path: &[Projection]) -> TokenStream {
        let bar = self.bar(var);
        self.project(code! { #bar }, path)
    }

    /// `place += contribution`
    fn add(&self, place: &TokenStream, contribution: TokenStream, negative: bool) -> TokenStream {
        let scalar = self.scalar;
        let rule = if negative {
            code! { subtract }
        } else {
            code! { accumulate }
        };
        code! { ::pullback_kernel::rt::#rule::<#scalar, _>(&mut #place, #contribution); }
    }

    // ---- operations and operands ----

    fn op(&self, op: &Op, span: Span) -> TokenStream {
        let scalar = self.scalar;
        match op {
            Op::Copy(a) => self.operand_at(a, span),
            Op::Negate(a) => {
                let a = self.operand_at(a, span);
                quote_spanned! {span=> -#a }
            }
            Op::Not(a) => {
                let a = self.operand_at(a, span);
                quote_spanned! {span=> ::pullback_kernel::rt::not::<#scalar>(#a) }
            }
            Op::Binary(op, a, b) => {
                let (a, b) = (self.operand_at(a, span), self.operand_at(b, span));
                match op {
                    Binary::Add => quote_spanned! {span=> #a + #b },
                    Binary::Subtract => quote_spanned! {span=> #a - #b },
                    Binary::Multiply => {
                        quote_spanned! {span=> ::pullback_kernel::rt::times::<#scalar, _>((#a, #b)) }
                    }
                    Binary::Divide => {
                        quote_spanned! {span=> ::pullback_kernel::rt::over::<#scalar, _>((#a, #b)) }
                    }
                    Binary::Remainder => quote_spanned! {span=> #a % #b },
                    Binary::And => quote_spanned! {span=> ::pullback_kernel::rt::and::<#scalar>(#a, #b) },
                    Binary::Or => quote_spanned! {span=> ::pullback_kernel::rt::or::<#scalar>(#a, #b) },
                }
            }
            Op::Fused(fused, a, b, c) => {
                let operands = [a, b, c].map(|operand| self.operand_at(operand, span));
                let rule = Ident::new(fused_name(*fused), span);
                quote_spanned! {span=> ::pullback_kernel::rt::#rule::<#scalar, _>((#(#operands),*)) }
            }
            Op::Compare(op, a, b) => {
                let (a, b) = (self.operand_at(a, span), self.operand_at(b, span));
                let (name, a, b) = match op {
                    Comparison::Less => ("lt", a, b),
                    Comparison::LessEqual => ("le", a, b),
                    Comparison::Greater => ("lt", b, a),
                    Comparison::GreaterEqual => ("le", b, a),
                    Comparison::Equal => ("eq", a, b),
                    Comparison::NotEqual => ("ne", a, b),
                };
                let name = Ident::new(name, span);
                quote_spanned! {span=> ::pullback_kernel::rt::#name::<#scalar, _>(#a, #b) }
            }
            Op::Get(a, path) => self.project(self.operand_at(a, span), path),
            Op::Set(a, path, e) => {
                let (a, e) = (self.operand_at(a, span), self.operand_at(e, span));
                let part = self.project(code! { whole }, path);
                code! {{ let mut whole = #a; #part = #e; whole }}
            }
            Op::Call(path, arguments) => {
                let arguments = self.operands_at(arguments, span);
                quote_spanned! {span=> #path::<#scalar>(#(#arguments),*) }
            }
            Op::Array(elements) => {
                let elements = self.operands_at(elements, span);
                quote_spanned! {span=> [#(#elements),*] }
            }
            Op::Repeat(element, length) => {
                let element = self.operand_at(element, span);
                quote_spanned! {span=> [#element; #length] }
            }
            Op::Tuple(elements) => {
                let elements = self.operands_at(elements, span);
                quote_spanned! {span=> (#(#elements,)*) }
            }
            Op::Struct(path, fields) => {
                let fields = fields.iter().map(|(member, value)| {
                    let value = self.operand_at(value, span);
                    code! { #member: #value }
                });
                quote_spanned! {span=> #path { #(#fields),* } }
            }
        }
    }

    fn operands(&self, operands: &[Operand]) -> Vec<TokenStream> {
        operands.iter().map(|operand| self.operand(operand)).collect()
    }

    fn operands_at(&self, operands: &[Operand], span: Span) -> Vec<TokenStream> {
        operands.iter().map(|operand| self.operand_at(operand, span)).collect()
    }

    /// An operand where it is used: what rustc says about its type should point there, not at its declaration.
    fn operand_at(&self, operand: &Operand, span: Span) -> TokenStream {
        match operand {
            Operand::Var(var) => {
                let mut ident = self.var(*var);
                ident.set_span(span.resolved_at(Span::mixed_site()));
                code! { #ident }
            }
            other => self.operand(other),
        }
    }

    fn operand(&self, operand: &Operand) -> TokenStream {
        let scalar = self.scalar;
        match operand {
            Operand::Var(var) => {
                let var = self.var(*var);
                code! { #var }
            }
            Operand::Number(number) => {
                let number = match number {
                    // `1.` is a number as well; f64 is what `from_f64` takes.
                    Lit::Float(float) => {
                        let digits = float.base10_digits().trim_end_matches('.');
                        Lit::Float(syn::LitFloat::new(&format!("{digits}f64"), float.span()))
                    }
                    other => other.clone(),
                };
                code! { <#scalar as ::pullback_kernel::rt::Real>::from_f64(#number) }
            }
            Operand::Index(index) => code! { #index },
            Operand::Bool(bit) => code! { ::pullback_kernel::rt::bit::<#scalar>(#bit) },
            Operand::Constant(path) => {
                quote_spanned! {path.span()=> ::pullback_kernel::rt::constant::<#scalar, _>(#path) }
            }
        }
    }

    fn condition(&self, condition: &Operand, span: Span) -> TokenStream {
        let scalar = self.scalar;
        let condition = self.operand_at(condition, span);
        quote_spanned! {span=> ::pullback_kernel::rt::condition::<#scalar>(#condition) }
    }

    fn project(&self, base: TokenStream, path: &[Projection]) -> TokenStream {
        path.iter().fold(base, |base, step| match step {
            Projection::Field(member) => code! { #base.#member },
            Projection::Index(index) => {
                let index = self.operand(index);
                code! { #base[#index] }
            }
        })
    }
}

fn fused_name(fused: Fused) -> &'static str {
    match fused {
        Fused::TimesPlus => "times_plus",
        Fused::TimesMinus => "times_minus",
        Fused::MinusTimes => "minus_times",
    }
}
