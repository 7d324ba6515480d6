//! Kernels in single assignment: every variable is assigned once, `if` and `match` yield the variables that their
//! branches assign, `for` carries them from one round to the next.

use proc_macro2::Span;
use syn::{Expr, Lit, Member, Path, Type};

/// A variable, by its place in [`Body::variables`].
pub type Var = usize;

pub struct Variable {
    /// What the user calls it, or `t`.
    pub name: String,
    /// Is it a part of an expression, and has no name of its own?
    pub temporary: bool,
    pub span: Span,
}

/// The body of a kernel.
pub struct Body {
    pub variables: Vec<Variable>,
    /// Variables 0 .. `arguments` are the arguments.
    pub arguments: usize,
    /// Yields the result alone.
    pub block: Block,
}

pub struct Block {
    pub statements: Vec<Statement>,
    pub yields: Vec<Operand>,
}

#[derive(Clone)]
pub enum Operand {
    Var(Var),
    /// A number such as `0.5`.
    Number(Lit),
    /// An index such as `2`.
    Index(Lit),
    Bool(bool),
    /// A named constant such as `GRAVITY` or `Joint::Ball`.
    Constant(Path),
}

pub enum Statement {
    Let { var: Var, ty: Option<Type>, op: Op, span: Span },
    If { condition: Operand, then: Block, otherwise: Block, outs: Vec<Var>, span: Span },
    Match { scrutinee: Operand, arms: Vec<Arm>, outs: Vec<Var>, span: Span },
    For { index: Var, bounds: (Expr, Expr), body: Block, carried: Vec<Carried>, span: Span },
}

pub struct Arm {
    pub pattern: syn::Pat,
    /// The literals and constants of the pattern; none for `_`.
    pub choices: Vec<Operand>,
    pub block: Block,
}

/// A variable that a loop assigns: `inner` is its value when a round starts, the block's yield when it ends.
pub struct Carried {
    pub init: Operand,
    pub inner: Var,
    pub out: Var,
}

pub enum Op {
    Copy(Operand),
    Negate(Operand),
    Not(Operand),
    Binary(Binary, Operand, Operand),
    /// A product with one addend, rounded once: `a * b + c` and its like, made by `fuse`.
    Fused(Fused, Operand, Operand, Operand),
    Compare(Comparison, Operand, Operand),
    /// `a.field[index]...`
    Get(Operand, Vec<Projection>),
    /// A copy of the first operand with one part replaced by the second.
    Set(Operand, Vec<Projection>, Operand),
    Call(Path, Vec<Operand>),
    Array(Vec<Operand>),
    Repeat(Operand, Expr),
    Tuple(Vec<Operand>),
    Struct(Path, Vec<(Member, Operand)>),
}

#[derive(Clone, Copy, PartialEq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    And,
    Or,
}

/// a b + c, a b - c, c - a b.
#[derive(Clone, Copy, PartialEq)]
pub enum Fused {
    TimesPlus,
    TimesMinus,
    MinusTimes,
}

#[derive(Clone, Copy)]
pub enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

#[derive(Clone)]
pub enum Projection {
    Field(Member),
    Index(Operand),
}

impl Block {
    /// The variables that the block defines itself, nested blocks left out.
    pub fn defines(&self) -> Vec<Var> {
        let mut vars = Vec::new();
        for statement in &self.statements {
            match statement {
                Statement::Let { var, .. } => vars.push(*var),
                Statement::If { outs, .. } | Statement::Match { outs, .. } => vars.extend(outs),
                Statement::For { carried, .. } => vars.extend(carried.iter().map(|c| c.out)),
            }
        }
        vars
    }

    /// Can lanes that do not take this block run it all the same? Then an `if` is a plain select. Subtractions and
    /// divisions of indices, and variable indices, could panic.
    pub fn is_harmless(&self) -> bool {
        self.statements.len() <= 4 && self.cannot_panic()
    }

    /// Can it run where Rust would not run it?
    pub fn cannot_panic(&self) -> bool {
        self.statements.iter().all(Statement::cannot_panic)
    }
}

impl Statement {
    fn cannot_panic(&self) -> bool {
        let Statement::Let { op, .. } = self else { return false };
        let fixed = |path: &[Projection]| {
            path.iter().all(|p| !matches!(p, Projection::Index(Operand::Var(_) | Operand::Constant(_))))
        };
        match op {
            Op::Copy(_) | Op::Negate(_) | Op::Not(_) | Op::Compare(..) => true,
            Op::Binary(op, a, b) => {
                // Next to a literal with a decimal point, it is no index.
                let of_numbers = matches!(a, Operand::Number(_)) || matches!(b, Operand::Number(_));
                of_numbers || matches!(op, Binary::Add | Binary::Multiply | Binary::And | Binary::Or)
            }
            Op::Fused(fused, ..) => *fused == Fused::TimesPlus,
            Op::Get(_, path) | Op::Set(_, path, _) => fixed(path),
            Op::Array(_) | Op::Repeat(..) | Op::Tuple(_) | Op::Struct(..) => true,
            Op::Call(..) => false,
        }
    }
}
