//! Expressions, one operation to a variable.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{BinOp, Error, Expr, Lit, Path, Result, UnOp};

use super::{Lower, TEMPORARY, refuse};
use crate::ir::*;

impl Lower {
    /// Lowers an expression to an operand.
    pub fn expression(&mut self, expr: &Expr, out: &mut Vec<Statement>) -> Result<Operand> {
        let span = expr.span();
        let op = match expr {
            Expr::Lit(lit) => return literal(&lit.lit),
            Expr::Paren(paren) => return self.expression(&paren.expr, out),
            Expr::Group(group) => return self.expression(&group.expr, out),
            Expr::Path(path) if path.qself.is_none() => return self.name(&path.path),
            Expr::Unary(unary) => {
                let operand = self.expression(&unary.expr, out)?;
                match &unary.op {
                    UnOp::Neg(_) => Op::Negate(operand),
                    UnOp::Not(_) => Op::Not(operand),
                    _ => return Err(refuse::expression(expr)),
                }
            }
            Expr::Binary(binary) => return self.binary(binary, out),
            Expr::Field(_) | Expr::Index(_) => {
                let (base, path) = self.part(expr, out)?;
                Op::Get(base, path)
            }
            Expr::Call(call) => self.call(call, out)?,
            Expr::Array(array) if array.elems.is_empty() => {
                return Err(Error::new_spanned(array, "an array in a kernel has at least one element"));
            }
            Expr::Array(array) => Op::Array(self.all(&array.elems, out)?),
            Expr::Repeat(repeat) => {
                self.constant(&repeat.len)?;
                Op::Repeat(self.expression(&repeat.expr, out)?, (*repeat.len).clone())
            }
            Expr::Tuple(tuple) if tuple.elems.is_empty() => {
                return Err(Error::new_spanned(tuple, "`()` is no value in a kernel: remove it"));
            }
            Expr::Tuple(tuple) => Op::Tuple(self.all(&tuple.elems, out)?),
            Expr::Struct(literal) => {
                if let Some(rest) = &literal.rest {
                    return Err(Error::new_spanned(
                        rest,
                        "name every field: a kernel has no `..` in a struct",
                    ));
                }
                let plain = literal.path.segments.iter().all(|s| s.arguments.is_none());
                if literal.qself.is_some() || !plain {
                    return Err(Error::new_spanned(
                        &literal.path,
                        "name the struct alone, `Name { .. }`: its scalar is this kernel's",
                    ));
                }
                let mut fields = Vec::new();
                for field in &literal.fields {
                    fields.push((field.member.clone(), self.expression(&field.expr, out)?));
                }
                Op::Struct(literal.path.clone(), fields)
            }
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => {
                return self.control(expr, true, out)?.ok_or_else(|| {
                    Error::new_spanned(
                        expr,
                        "this has no value: end its blocks with an expression without `;`",
                    )
                });
            }
            _ => return Err(refuse::expression(expr)),
        };
        Ok(self.emit(op, TEMPORARY, span, out))
    }

    fn all<'a>(
        &mut self,
        exprs: impl IntoIterator<Item = &'a Expr>,
        out: &mut Vec<Statement>,
    ) -> Result<Vec<Operand>> {
        exprs.into_iter().map(|expr| self.expression(expr, out)).collect()
    }

    /// A variable, or a constant: `PI`, `consts::PI`, `Joint::Ball`.
    fn name(&self, path: &Path) -> Result<Operand> {
        if let Some(ident) = path.get_ident() {
            if let Some(binding) = self.find(ident) {
                return Ok(self.scope[binding].value.clone());
            }
            if ident.to_string().chars().any(char::is_lowercase) {
                return Err(refuse::unknown_variable(ident));
            }
        }
        Ok(Operand::Constant(path.clone()))
    }

    /// The length of an array: literals and constants.
    fn constant(&self, length: &Expr) -> Result<()> {
        struct Names<'a>(&'a Lower, Option<Error>);
        impl<'ast> Visit<'ast> for Names<'_> {
            fn visit_ident(&mut self, ident: &'ast syn::Ident) {
                if self.0.find(ident).is_some() {
                    let advice = "an array's length is a literal or a constant, `[x; 3]` or `[x; COUNT]`";
                    self.1.get_or_insert_with(|| Error::new_spanned(ident, advice));
                }
            }
        }
        let mut names = Names(self, None);
        names.visit_expr(length);
        names.1.map_or(Ok(()), Err)
    }

    /// A chain of fields and indices, down to what it starts from.
    fn part(&mut self, expr: &Expr, out: &mut Vec<Statement>) -> Result<(Operand, Vec<Projection>)> {
        match expr {
            Expr::Field(field) => {
                let (base, mut path) = self.part(&field.base, out)?;
                path.push(Projection::Field(field.member.clone()));
                Ok((base, path))
            }
            Expr::Index(index) => {
                let (base, mut path) = self.part(&index.expr, out)?;
                path.push(Projection::Index(self.expression(&index.index, out)?));
                Ok((base, path))
            }
            other => Ok((self.expression(other, out)?, Vec::new())),
        }
    }

    fn call(&mut self, call: &syn::ExprCall, out: &mut Vec<Statement>) -> Result<Op> {
        let Expr::Path(function) = &*call.func else {
            return Err(Error::new_spanned(&call.func, "call a kernel or a builtin by its name"));
        };
        let path = &function.path;
        if function.qself.is_some() || path.segments.iter().any(|s| !s.arguments.is_none()) {
            return Err(Error::new_spanned(
                path,
                "call a kernel by its plain name: its scalar is this kernel's",
            ));
        }
        if path.segments.first().is_some_and(|s| s.ident == self.scalar) {
            return Err(Error::new_spanned(
                path,
                "write numbers as literals, `0.5`, and functions by name, `sqrt(x)`",
            ));
        }
        let types = path.segments.iter().rev().skip(1).any(|s| is_type_name(&s.ident));
        if types {
            return Err(Error::new_spanned(
                path,
                "kernels call free functions, not functions of a type: write a kernel, or `vec3(x, y, z)`",
            ));
        }
        if path.is_ident(&self.kernel) {
            return Err(Error::new_spanned(
                path,
                "a kernel cannot call itself: use a `for` with constant bounds",
            ));
        }
        if path.segments.last().is_some_and(|s| is_type_name(&s.ident)) {
            return Err(Error::new_spanned(
                path,
                "structs in kernels have named fields: write `Name { field: x }`",
            ));
        }
        Ok(Op::Call(path.clone(), self.all(&call.args, out)?))
    }

    fn binary(&mut self, binary: &syn::ExprBinary, out: &mut Vec<Statement>) -> Result<Operand> {
        if assigning(&binary.op).is_some() {
            return Err(Error::new_spanned(
                binary.op,
                "an assignment is a statement of its own: end it with `;`",
            ));
        }
        let comparison = match &binary.op {
            BinOp::Lt(_) => Some(Comparison::Less),
            BinOp::Le(_) => Some(Comparison::LessEqual),
            BinOp::Gt(_) => Some(Comparison::Greater),
            BinOp::Ge(_) => Some(Comparison::GreaterEqual),
            BinOp::Eq(_) => Some(Comparison::Equal),
            BinOp::Ne(_) => Some(Comparison::NotEqual),
            _ => None,
        };
        let arithmetic = match &binary.op {
            BinOp::Add(_) => Some(Binary::Add),
            BinOp::Sub(_) => Some(Binary::Subtract),
            BinOp::Mul(_) => Some(Binary::Multiply),
            BinOp::Div(_) => Some(Binary::Divide),
            BinOp::Rem(_) => Some(Binary::Remainder),
            BinOp::And(_) => Some(Binary::And),
            BinOp::Or(_) => Some(Binary::Or),
            _ => None,
        };
        let left = self.expression(&binary.left, out)?;
        if let Some(op @ (Binary::And | Binary::Or)) = arithmetic {
            return self.lazily(op, left, &binary.right, binary.op.span(), out);
        }
        let right = self.expression(&binary.right, out)?;
        let op = match (comparison, arithmetic) {
            (Some(comparison), _) => {
                self.arithmetic(Binary::Subtract, left.clone(), right.clone(), binary.op.span())?;
                Op::Compare(comparison, left, right)
            }
            (None, Some(arithmetic)) => self.arithmetic(arithmetic, left, right, binary.op.span())?,
            (None, None) => {
                return Err(Error::new_spanned(
                    binary.op,
                    "kernels compute with real numbers: there are no bit operations",
                ));
            }
        };
        let span: Span = binary.op.span();
        Ok(self.emit(op, TEMPORARY, span, out))
    }
}

fn is_type_name(ident: &syn::Ident) -> bool {
    ident.to_string().starts_with(char::is_uppercase)
}

/// `+=` and its like.
pub fn assigning(op: &BinOp) -> Option<Binary> {
    match op {
        BinOp::AddAssign(_) => Some(Binary::Add),
        BinOp::SubAssign(_) => Some(Binary::Subtract),
        BinOp::MulAssign(_) => Some(Binary::Multiply),
        BinOp::DivAssign(_) => Some(Binary::Divide),
        BinOp::RemAssign(_) => Some(Binary::Remainder),
        _ => None,
    }
}

fn literal(lit: &Lit) -> Result<Operand> {
    let suffix = match lit {
        Lit::Float(number) => number.suffix(),
        Lit::Int(index) => index.suffix(),
        Lit::Bool(bit) => return Ok(Operand::Bool(bit.value)),
        other => return Err(Error::new_spanned(other, "kernels compute with numbers and indices")),
    };
    if !suffix.is_empty() {
        return Err(Error::new_spanned(
            lit,
            format!("a number takes the kernel's scalar: remove the suffix `{suffix}`"),
        ));
    }
    Ok(match lit {
        Lit::Int(_) => Operand::Index(lit.clone()),
        _ => Operand::Number(lit.clone()),
    })
}
