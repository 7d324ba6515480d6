//! From the function's body to single assignment. What the language does not have is refused here, with the token
//! and what to write instead (`refuse`).

mod control;
mod expression;
mod refuse;

use std::collections::HashSet;

use proc_macro2::Span;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Expr, Ident, Pat, Result, Stmt, Type, parse_quote};

use crate::ir::*;
use crate::signature::Signature;

/// Lowers the body of the kernel `name`.
pub fn body(name: &Ident, signature: &Signature, block: &syn::Block) -> Result<Body> {
    let mut lower = Lower {
        variables: Vec::new(),
        scope: Vec::new(),
        numbers: HashSet::new(),
        scalar: signature.scalar.clone(),
        kernel: name.clone(),
    };
    refuse::attributes(block)?;
    for argument in &signature.arguments {
        let role = if argument.mutable { Role::Mutable } else { Role::Argument };
        let var = lower.declare(&argument.name, role);
        if signature.holds_numbers(&argument.ty) {
            lower.numbers.insert(var);
        }
    }
    let arguments = lower.variables.len();
    let mut statements = Vec::new();
    let result = lower.block(block, &mut statements)?.ok_or_else(|| {
        Error::new(block.brace_token.span.close(), "a kernel ends with its result: an expression without `;`")
    })?;
    Ok(Body { variables: lower.variables, arguments, block: Block { statements, yields: vec![result] } })
}

/// The name of what has none.
const TEMPORARY: &str = "t";

/// What a name stands for at this point of the body.
#[derive(Clone)]
struct Binding {
    name: String,
    value: Operand,
    role: Role,
}

/// May it be assigned, and if not, why not?
#[derive(Clone, Copy, PartialEq)]
enum Role {
    Mutable,
    Let,
    Argument,
    LoopIndex,
}

struct Lower {
    variables: Vec<Variable>,
    scope: Vec<Binding>,
    /// Variables that surely hold numbers and no index: for the message where an integer meets one.
    numbers: HashSet<Var>,
    scalar: Ident,
    kernel: Ident,
}

impl Lower {
    fn fresh(&mut self, name: &str, span: Span) -> Var {
        let name = name.trim_start_matches("r#").to_owned();
        self.variables.push(Variable { name, temporary: false, span });
        self.variables.len() - 1
    }

    /// A new variable of the user's.
    fn declare(&mut self, ident: &Ident, role: Role) -> Var {
        let var = self.fresh(&ident.to_string(), ident.span());
        self.bind(ident, Operand::Var(var), role);
        var
    }

    fn bind(&mut self, ident: &Ident, value: Operand, role: Role) {
        self.scope.push(Binding { name: ident.to_string(), value, role });
    }

    fn find(&self, ident: &Ident) -> Option<usize> {
        self.scope.iter().rposition(|b| ident == &b.name)
    }

    /// `let NAME = op`
    fn emit(&mut self, op: Op, name: &str, span: Span, out: &mut Vec<Statement>) -> Operand {
        let var = self.fresh(name, span);
        self.variables[var].temporary = name == TEMPORARY;
        if self.yields_number(&op) {
            self.numbers.insert(var);
        }
        out.push(Statement::Let { var, ty: None, op, span });
        Operand::Var(var)
    }

    fn is_number(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Var(var) => self.numbers.contains(var),
            Operand::Number(_) => true,
            Operand::Index(_) | Operand::Bool(_) | Operand::Constant(_) => false,
        }
    }

    fn yields_number(&self, op: &Op) -> bool {
        match op {
            Op::Copy(a) | Op::Negate(a) | Op::Get(a, _) | Op::Repeat(a, _) => self.is_number(a),
            Op::Binary(_, a, b) | Op::Fused(_, a, b, _) => self.is_number(a) || self.is_number(b),
            Op::Array(elements) => elements.iter().any(|element| self.is_number(element)),
            Op::Struct(..) => true,
            Op::Set(..) | Op::Not(_) | Op::Compare(..) | Op::Call(..) | Op::Tuple(_) => false,
        }
    }

    /// `a op b`, unless an integer stands where only a number can.
    fn arithmetic(&self, op: Binary, a: Operand, b: Operand, span: Span) -> Result<Op> {
        match (&a, &b) {
            (Operand::Index(lit), number) | (number, Operand::Index(lit)) if self.is_number(number) => {
                Err(refuse::arithmetic(op, Some(lit), span))
            }
            _ if op == Binary::Remainder && (self.is_number(&a) || self.is_number(&b)) => {
                Err(refuse::arithmetic(op, None, span))
            }
            _ => Ok(Op::Binary(op, a, b)),
        }
    }

    /// Lowers a block into `out`; its final expression, if it has one, is the value. The names it declares end
    /// with it; what it assigns to outer names stays.
    fn block(&mut self, block: &syn::Block, out: &mut Vec<Statement>) -> Result<Option<Operand>> {
        let depth = self.scope.len();
        let mut value = None;
        for (i, statement) in block.stmts.iter().enumerate() {
            value = self.statement(statement, i + 1 == block.stmts.len(), out)?;
        }
        self.scope.truncate(depth);
        Ok(value)
    }

    fn statement(
        &mut self,
        statement: &Stmt,
        last: bool,
        out: &mut Vec<Statement>,
    ) -> Result<Option<Operand>> {
        match statement {
            Stmt::Local(local) => {
                let Some(init) = &local.init else {
                    return Err(Error::new_spanned(local, "give the variable a value here: `let x = ...;`"));
                };
                if let Some((token, _)) = &init.diverge {
                    return Err(Error::new_spanned(
                        token,
                        "`let ... else` has no place in a kernel: use `if`",
                    ));
                }
                let value = self.expression(&init.expr, out)?;
                self.pattern(&local.pat, value, None, out)?;
                Ok(None)
            }
            Stmt::Expr(expr, semi) => self.expression_statement(expr, semi.is_none() && last, out),
            Stmt::Item(item) => Err(Error::new_spanned(
                item,
                "move the item out of the kernel: a body has `let`, `if`, `for` ...",
            )),
            Stmt::Macro(mac) => Err(refuse::macro_call(&mac.mac)),
        }
    }

    /// `if`, `match`, `for`, an assignment, or, at the end of a block, its value.
    fn expression_statement(
        &mut self,
        expr: &Expr,
        is_value: bool,
        out: &mut Vec<Statement>,
    ) -> Result<Option<Operand>> {
        match expr {
            Expr::Assign(assign) => {
                let value = self.expression(&assign.right, out)?;
                self.assign(&assign.left, value, out)?;
                Ok(None)
            }
            Expr::Binary(binary) if expression::assigning(&binary.op).is_some() => {
                let op = expression::assigning(&binary.op).unwrap_or(Binary::Add);
                let old = self.expression(&binary.left, out)?;
                let change = self.expression(&binary.right, out)?;
                let op = self.arithmetic(op, old, change, binary.op.span())?;
                let value = self.emit(op, TEMPORARY, binary.op.span(), out);
                self.assign(&binary.left, value, out)?;
                Ok(None)
            }
            Expr::ForLoop(for_loop) => self.for_loop(for_loop, out).map(|()| None),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => match self.control(expr, is_value, out)? {
                Some(_) if !is_value => Err(refuse::unused(expr)),
                value => Ok(value),
            },
            Expr::While(_) | Expr::Loop(_) | Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                Err(refuse::expression(expr))
            }
            _ if is_value => self.expression(expr, out).map(Some),
            _ => {
                self.expression(expr, out)?;
                Err(refuse::unused(expr))
            }
        }
    }

    /// Takes a value apart into names: `x`, `mut x`, `(a, b)`, `[a, b]`, `_`, with or without a type.
    fn pattern(
        &mut self,
        pat: &Pat,
        value: Operand,
        ty: Option<&Type>,
        out: &mut Vec<Statement>,
    ) -> Result<()> {
        match pat {
            Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => {
                let var = self.named(&ident.ident, value, ty, out);
                let role = if ident.mutability.is_some() { Role::Mutable } else { Role::Let };
                self.bind(&ident.ident, Operand::Var(var), role);
                Ok(())
            }
            Pat::Wild(_) => Ok(()),
            Pat::Type(typed) if matches!(*typed.pat, Pat::Ident(_)) => {
                self.pattern(&typed.pat, value, Some(&typed.ty), out)
            }
            Pat::Type(typed) => {
                let value = self.typed((*typed.ty).clone(), value, typed.pat.span(), out);
                self.pattern(&typed.pat, value, None, out)
            }
            Pat::Paren(paren) => self.pattern(&paren.pat, value, ty, out),
            Pat::Tuple(tuple) => {
                // With its type, so that rustc counts the parts.
                let parts = tuple.elems.iter().map(|_| quote!(_));
                let value = self.typed(parse_quote!((#(#parts,)*)), value, tuple.span(), out);
                for (i, part) in tuple.elems.iter().enumerate() {
                    let path = vec![Projection::Field(syn::Member::from(i))];
                    let value = self.emit(Op::Get(value.clone(), path), TEMPORARY, part.span(), out);
                    self.pattern(part, value, None, out)?;
                }
                Ok(())
            }
            Pat::Slice(slice) => {
                let length = slice.elems.len();
                let value = self.typed(parse_quote!([_; #length]), value, slice.span(), out);
                for (i, part) in slice.elems.iter().enumerate() {
                    let index = Operand::Index(syn::Lit::Int(syn::LitInt::new(&i.to_string(), part.span())));
                    let path = vec![Projection::Index(index)];
                    let value = self.emit(Op::Get(value.clone(), path), TEMPORARY, part.span(), out);
                    self.pattern(part, value, None, out)?;
                }
                Ok(())
            }
            other => Err(Error::new_spanned(
                other,
                "bind a name, a tuple `(a, b)` or an array `[a, b]`; take structs apart by their fields: `s.field`",
            )),
        }
    }

    /// `let NAME: ty = value`. A value that was just computed takes the name itself.
    fn named(&mut self, ident: &Ident, value: Operand, ty: Option<&Type>, out: &mut Vec<Statement>) -> Var {
        let span = ident.span();
        if let (Operand::Var(var), Some(Statement::Let { var: last, ty: last_ty @ None, .. })) =
            (&value, out.last_mut())
            && var == last
            && self.variables[*var].temporary
        {
            *last_ty = ty.cloned();
            let name = ident.to_string().trim_start_matches("r#").to_owned();
            self.variables[*var] = Variable { name, temporary: false, span };
            return *var;
        }
        let var = self.fresh(&ident.to_string(), span);
        if self.is_number(&value) {
            self.numbers.insert(var);
        }
        out.push(Statement::Let { var, ty: ty.cloned(), op: Op::Copy(value), span });
        var
    }

    /// `let t: TYPE = value`
    fn typed(&mut self, ty: Type, value: Operand, span: Span, out: &mut Vec<Statement>) -> Operand {
        let var = self.fresh(TEMPORARY, span);
        if self.is_number(&value) {
            self.numbers.insert(var);
        }
        out.push(Statement::Let { var, ty: Some(ty), op: Op::Copy(value), span });
        Operand::Var(var)
    }

    /// `place = value`, where a place is a variable or a part of one.
    fn assign(&mut self, place: &Expr, value: Operand, out: &mut Vec<Statement>) -> Result<()> {
        let (ident, path) = self.place(place, out)?;
        let binding = self.find(&ident).ok_or_else(|| refuse::unknown_variable(&ident))?;
        if let Some(error) = refuse::assignment(&ident, self.scope[binding].role) {
            return Err(error);
        }
        self.scope[binding].value = if path.is_empty() {
            Operand::Var(self.named(&ident, value, None, out))
        } else {
            let op = Op::Set(self.scope[binding].value.clone(), path, value);
            self.emit(op, &ident.to_string(), ident.span(), out)
        };
        Ok(())
    }

    /// A variable and the path to a part of it: `a.b[i]`.
    fn place(&mut self, expr: &Expr, out: &mut Vec<Statement>) -> Result<(Ident, Vec<Projection>)> {
        match expr {
            Expr::Path(path) if path.path.get_ident().is_some() => {
                let ident = path.path.get_ident().cloned().unwrap_or_else(|| self.kernel.clone());
                Ok((ident, Vec::new()))
            }
            Expr::Paren(paren) => self.place(&paren.expr, out),
            Expr::Group(group) => self.place(&group.expr, out),
            Expr::Field(field) => {
                let (ident, mut path) = self.place(&field.base, out)?;
                path.push(Projection::Field(field.member.clone()));
                Ok((ident, path))
            }
            Expr::Index(index) => {
                let (ident, mut path) = self.place(&index.expr, out)?;
                path.push(Projection::Index(self.expression(&index.index, out)?));
                Ok((ident, path))
            }
            other => Err(Error::new_spanned(
                other,
                "assign to a variable or a part of one: `x = ...`, `x.field = ...`, `x[i] = ...`",
            )),
        }
    }
}
