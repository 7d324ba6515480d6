//! The reverse of one operation, in no dialect: which cotangents it adds to which.

use std::collections::BTreeSet;

use syn::{Member, Path};

use crate::ir::*;

/// What `let c = op` does to the cotangents of its operands, given `c_bar`.
pub struct Reverse {
    /// Computed first, when the additions need it.
    pub define: Option<Define>,
    pub additions: Vec<Addition>,
}

pub enum Define {
    /// (a_bar, b_bar) of a quotient.
    Quotient(Operand, Operand),
    /// (a_bar, b_bar) after the partials of a product, of -c_bar if `negative`, have been added to them.
    Product { a: Operand, b: Operand, negative: bool },
    /// One cotangent per argument, from the callee's pullback.
    Call(Path, Vec<Operand>),
    /// `c_bar` with the part at the path set to zero.
    Without(Vec<Projection>),
}

/// `to_bar.path += from`, or `-=`.
pub struct Addition {
    pub to: Var,
    pub path: Vec<Projection>,
    pub negative: bool,
    pub from: From,
}

impl Addition {
    /// Does it give `var` a new cotangent, rather than adding to the old one?
    pub fn replaces(&self, var: Var) -> bool {
        self.to == var && matches!(self.from, From::Replacing(_))
    }
}

pub enum From {
    /// A part of `c_bar`, or all of it.
    Bar(Vec<Projection>),
    /// Part `i` of what was defined.
    Part(usize),
    /// Part `i` of what was defined, which holds what was there before: it replaces it.
    Replacing(usize),
    /// What was defined.
    Defined,
    /// The sum over the elements of `c_bar`, an array.
    Sum,
}

/// The variables whose cotangents something has been added to: the others are zero, and what they would do is left out.
pub type Touched = BTreeSet<Var>;

/// The variables that begin with each round of a loop, to declare cotangents for: the carried ones, and the index if
/// something was added to it (indices in arithmetic have cotangents, which are ignored). They end with the round.
pub fn inner_variables(index: Var, carried: &[Carried], touched: &mut Touched) -> BTreeSet<Var> {
    let mut inner: BTreeSet<Var> = carried.iter().map(|c| c.inner).collect();
    for var in &inner {
        touched.remove(var);
    }
    if touched.remove(&index) {
        inner.insert(index);
    }
    inner
}

/// The reverse of `op`.
pub fn reverse(op: &Op) -> Reverse {
    let mut define = None;
    let mut additions = Vec::new();
    let mut add = |to: &Operand, path: &[Projection], negative: bool, from: From| {
        if let Operand::Var(to) = to {
            additions.push(Addition { to: *to, path: path.to_vec(), negative, from });
        }
    };
    match op {
        Op::Copy(a) => add(a, &[], false, From::Bar(vec![])),
        Op::Negate(a) => add(a, &[], true, From::Bar(vec![])),
        Op::Binary(Binary::Add, a, b) => {
            add(a, &[], false, From::Bar(vec![]));
            add(b, &[], false, From::Bar(vec![]));
        }
        Op::Binary(Binary::Subtract, a, b) => {
            add(a, &[], false, From::Bar(vec![]));
            add(b, &[], true, From::Bar(vec![]));
        }
        Op::Binary(Binary::Multiply, a, b) => {
            product(a, b, &mut add);
            define = Some(Define::Product { a: a.clone(), b: b.clone(), negative: false });
        }
        Op::Fused(fused, a, b, c) => {
            // The addend last: in `x * y + x` it must not be replaced by what the product makes of x_bar.
            product(a, b, &mut add);
            add(c, &[], *fused == Fused::TimesMinus, From::Bar(vec![]));
            let negative = *fused == Fused::MinusTimes;
            define = Some(Define::Product { a: a.clone(), b: b.clone(), negative });
        }
        Op::Binary(Binary::Divide, a, b) => {
            add(a, &[], false, From::Part(0));
            add(b, &[], false, From::Part(1));
            define = Some(Define::Quotient(a.clone(), b.clone()));
        }
        // Remainders are of indices, the others are of truth values: neither has a derivative.
        Op::Binary(Binary::Remainder | Binary::And | Binary::Or, ..) | Op::Not(_) | Op::Compare(..) => {}
        Op::Get(a, path) => add(a, path, false, From::Bar(vec![])),
        Op::Set(a, path, e) => {
            add(e, &[], false, From::Bar(path.clone()));
            add(a, &[], false, From::Defined);
            define = Some(Define::Without(path.clone()));
        }
        Op::Call(path, arguments) => {
            for (i, argument) in arguments.iter().enumerate() {
                add(argument, &[], false, From::Part(i));
            }
            define = Some(Define::Call(path.clone(), arguments.clone()));
        }
        Op::Array(elements) => {
            for (i, element) in elements.iter().enumerate() {
                add(element, &[], false, From::Bar(vec![Projection::Index(index(i))]));
            }
        }
        Op::Repeat(element, _) => add(element, &[], false, From::Sum),
        Op::Tuple(elements) => {
            for (i, element) in elements.iter().enumerate() {
                add(element, &[], false, From::Bar(vec![Projection::Field(Member::from(i))]));
            }
        }
        Op::Struct(_, fields) => {
            for (member, value) in fields {
                add(value, &[], false, From::Bar(vec![Projection::Field(member.clone())]));
            }
        }
    }
    // x * x: both partials are for one cotangent, so that neither can hold it.
    if let Some(Define::Product { a: Operand::Var(a), b: Operand::Var(b), .. }) = &define
        && a == b
    {
        for addition in &mut additions {
            if let From::Replacing(i) = addition.from {
                addition.from = From::Part(i);
            }
        }
    }
    if additions.is_empty() {
        define = None;
    }
    Reverse { define, additions }
}

fn product(a: &Operand, b: &Operand, add: &mut impl FnMut(&Operand, &[Projection], bool, From)) {
    add(a, &[], false, From::Replacing(0));
    add(b, &[], false, From::Replacing(1));
}

/// The index `i` as a literal.
fn index(i: usize) -> Operand {
    Operand::Index(syn::Lit::Int(syn::LitInt::new(&i.to_string(), proc_macro2::Span::call_site())))
}
