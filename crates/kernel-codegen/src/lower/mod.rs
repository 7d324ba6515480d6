//! From the function's body to single assignment. What the language does not have is refused here, with the token
//! and what to write instead (`refuse`).

mod expression;
mod refuse;

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::visit::Visit;
use syn::{Error, Expr, Ident, Pat, Result, Stmt, Type};

use crate::ir::*;
use crate::signature::Signature;

/// Lowers the body of the kernel `name`.
pub fn body(name: &Ident, signature: &Signature, block: &syn::Block) -> Result<Body> {
    let mut lower = Lower {
        variables: Vec::new(),
        scope: Vec::new(),
        scalar: signature.scalar.clone(),
        kernel: name.clone(),
    };
    for argument in &signature.arguments {
        lower.declare(&argument.name, argument.mutable);
    }
    let arguments = lower.variables.len();
    let mut statements = Vec::new();
    let result = lower.block(block, &mut statements)?.ok_or_else(|| {
        Error::new(block.brace_token.span.close(), "a kernel ends with its result: an expression without `;`")
    })?;
    Ok(Body { variables: lower.variables, arguments, block: Block { statements, yields: vec![result] } })
}

/// What a name stands for at this point of the body.
#[derive(Clone)]
struct Binding {
    name: String,
    value: Operand,
    mutable: bool,
}

struct Lower {
    variables: Vec<Variable>,
    scope: Vec<Binding>,
    scalar: Ident,
    kernel: Ident,
}

impl Lower {
    fn fresh(&mut self, name: &str, span: Span) -> Var {
        self.variables.push(Variable { name: name.trim_start_matches("r#").to_owned(), span });
        self.variables.len() - 1
    }

    /// A new variable of the user's.
    fn declare(&mut self, ident: &Ident, mutable: bool) -> Var {
        let var = self.fresh(&ident.to_string(), ident.span());
        self.bind(ident, Operand::Var(var), mutable);
        var
    }

    fn bind(&mut self, ident: &Ident, value: Operand, mutable: bool) {
        self.scope.push(Binding { name: ident.to_string(), value, mutable });
    }

    fn find(&self, ident: &Ident) -> Option<usize> {
        self.scope.iter().rposition(|b| ident == &b.name)
    }

    /// `let NAME = op`
    fn emit(&mut self, op: Op, name: &str, span: Span, out: &mut Vec<Statement>) -> Operand {
        let var = self.fresh(name, span);
        out.push(Statement::Let { var, ty: None, op, span });
        Operand::Var(var)
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
                let value = self.emit(Op::Binary(op, old, change), "t", binary.op.span(), out);
                self.assign(&binary.left, value, out)?;
                Ok(None)
            }
            Expr::ForLoop(for_loop) => self.for_loop(for_loop, out).map(|()| None),
            Expr::If(_) | Expr::Match(_) | Expr::Block(_) => self.control(expr, is_value, out),
            Expr::While(_) | Expr::Loop(_) | Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => {
                Err(refuse::expression(expr))
            }
            _ if is_value => self.expression(expr, out).map(Some),
            _ => {
                self.expression(expr, out)?;
                Err(Error::new_spanned(
                    expr,
                    "this computes a value that nobody uses, and a kernel changes nothing else: bind it with `let`",
                ))
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
                let span = ident.ident.span();
                let var = self.fresh(&ident.ident.to_string(), span);
                out.push(Statement::Let { var, ty: ty.cloned(), op: Op::Copy(value), span });
                self.bind(&ident.ident, Operand::Var(var), ident.mutability.is_some());
                Ok(())
            }
            Pat::Wild(_) => Ok(()),
            Pat::Type(typed) => self.pattern(&typed.pat, value, Some(&typed.ty), out),
            Pat::Paren(paren) => self.pattern(&paren.pat, value, ty, out),
            Pat::Tuple(tuple) => {
                for (i, part) in tuple.elems.iter().enumerate() {
                    let path = vec![Projection::Field(syn::Member::from(i))];
                    let value = self.emit(Op::Get(value.clone(), path), "t", part.span(), out);
                    self.pattern(part, value, None, out)?;
                }
                Ok(())
            }
            Pat::Slice(slice) => {
                for (i, part) in slice.elems.iter().enumerate() {
                    let index = Operand::Index(syn::Lit::Int(syn::LitInt::new(&i.to_string(), part.span())));
                    let path = vec![Projection::Index(index)];
                    let value = self.emit(Op::Get(value.clone(), path), "t", part.span(), out);
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

    /// `place = value`, where a place is a variable or a part of one.
    fn assign(&mut self, place: &Expr, value: Operand, out: &mut Vec<Statement>) -> Result<()> {
        let (ident, path) = self.place(place, out)?;
        let binding = self.find(&ident).ok_or_else(|| refuse::unknown_variable(&ident))?;
        if !self.scope[binding].mutable {
            return Err(Error::new_spanned(
                &ident,
                format!("`{ident}` is assigned twice: declare it with `let mut {ident}`"),
            ));
        }
        let op = if path.is_empty() {
            Op::Copy(value)
        } else {
            Op::Set(self.scope[binding].value.clone(), path, value)
        };
        self.scope[binding].value = self.emit(op, &ident.to_string(), ident.span(), out);
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

    /// Lowers one branch. `value` says whether it must end with one. Returns the block, yielding nothing yet, what
    /// the outer names stand for at its end, and its value.
    fn branch(&mut self, body: &Expr, value: bool) -> Result<(Block, Vec<Binding>, Option<Operand>)> {
        let before = self.scope.clone();
        let mut statements = Vec::new();
        let result = match body {
            Expr::Block(block) => self.block(&block.block, &mut statements)?,
            other => self.expression_statement(other, value, &mut statements)?,
        };
        if value && result.is_none() {
            return Err(Error::new_spanned(
                body,
                "this branch has no value: end it with an expression without `;`",
            ));
        }
        let after = std::mem::replace(&mut self.scope, before);
        Ok((Block { statements, yields: Vec::new() }, after, if value { result } else { None }))
    }

    /// `if`, `match` or a block, as a statement or as a value.
    fn control(&mut self, expr: &Expr, is_value: bool, out: &mut Vec<Statement>) -> Result<Option<Operand>> {
        match expr {
            Expr::Block(block) if block.label.is_none() => self.block(&block.block, out),
            Expr::If(conditional) => {
                let condition = self.expression(&conditional.cond, out)?;
                let then = Expr::Block(syn::ExprBlock {
                    attrs: Vec::new(),
                    label: None,
                    block: conditional.then_branch.clone(),
                });
                let otherwise = match &conditional.else_branch {
                    Some((_, otherwise)) => (**otherwise).clone(),
                    None if is_value && !ends_without_value(&conditional.then_branch) => {
                        return Err(Error::new_spanned(
                            conditional.if_token,
                            "an `if` with a value needs an `else`",
                        ));
                    }
                    None => syn::parse_quote!({}),
                };
                let is_value = is_value && !ends_without_value(&conditional.then_branch);
                let branches = vec![self.branch(&then, is_value)?, self.branch(&otherwise, is_value)?];
                let (mut blocks, outs, value) = self.join(branches, conditional.if_token.span);
                let otherwise = blocks.pop().unwrap_or(Block { statements: Vec::new(), yields: Vec::new() });
                let then = blocks.pop().unwrap_or(Block { statements: Vec::new(), yields: Vec::new() });
                out.push(Statement::If { condition, then, otherwise, outs, span: conditional.if_token.span });
                Ok(value)
            }
            Expr::Match(matching) => {
                let scrutinee = self.expression(&matching.expr, out)?;
                let span = matching.match_token.span;
                let is_value = is_value
                    && !matches!(matching.arms.first().map(|a| &*a.body),
                                 Some(Expr::Block(b)) if ends_without_value(&b.block));
                let mut branches = Vec::new();
                let mut heads = Vec::new();
                for arm in &matching.arms {
                    heads.push((arm.pat.clone(), self.choices(&arm.pat)?));
                    branches.push(self.branch(&arm.body, is_value)?);
                }
                if branches.is_empty() {
                    return Err(Error::new_spanned(matching, "a `match` needs at least one arm"));
                }
                let (blocks, outs, value) = self.join(branches, span);
                let arms = heads
                    .into_iter()
                    .zip(blocks)
                    .map(|((pattern, choices), block)| Arm { pattern, choices, block })
                    .collect();
                out.push(Statement::Match { scrutinee, arms, outs, span });
                Ok(value)
            }
            other => Err(refuse::expression(other)),
        }
    }

    /// Where branches meet: each name that one of them assigned, and their value, become new variables.
    fn join(
        &mut self,
        branches: Vec<(Block, Vec<Binding>, Option<Operand>)>,
        span: Span,
    ) -> (Vec<Block>, Vec<Var>, Option<Operand>) {
        let mut outs = Vec::new();
        let (mut blocks, mut ends, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (block, end, value) in branches {
            blocks.push(block);
            ends.push(end);
            values.extend(value);
        }
        for i in 0..self.scope.len() {
            let unchanged = |end: &Vec<Binding>| same(&end[i].value, &self.scope[i].value);
            if ends.iter().all(unchanged) {
                continue;
            }
            for (block, end) in blocks.iter_mut().zip(&ends) {
                block.yields.push(end[i].value.clone());
            }
            let name = self.scope[i].name.clone();
            let var = self.fresh(&name, span);
            self.scope[i].value = Operand::Var(var);
            outs.push(var);
        }
        if values.is_empty() {
            return (blocks, outs, None);
        }
        for (block, value) in blocks.iter_mut().zip(values) {
            block.yields.push(value);
        }
        let var = self.fresh("t", span);
        outs.push(var);
        (blocks, outs, Some(Operand::Var(var)))
    }

    fn for_loop(&mut self, for_loop: &syn::ExprForLoop, out: &mut Vec<Statement>) -> Result<()> {
        if let Some(label) = &for_loop.label {
            return Err(Error::new_spanned(label, "loops in kernels run to their end: remove the label"));
        }
        let bounds = self.bounds(&for_loop.expr)?;
        let span = for_loop.for_token.span;

        let mut assigned = Assigned(Vec::new());
        assigned.visit_block(&for_loop.body);
        let before = self.scope.clone();
        let mut carried = Vec::new();
        for i in 0..self.scope.len() {
            let name = self.scope[i].name.clone();
            let shadowed = self.scope[i + 1..].iter().any(|later| later.name == name);
            if assigned.0.contains(&name) && !shadowed && self.scope[i].mutable {
                let (inner, after) = (self.fresh(&name, span), self.fresh(&name, span));
                carried.push((i, Carried { init: self.scope[i].value.clone(), inner, out: after }));
                self.scope[i].value = Operand::Var(inner);
            }
        }

        let depth = self.scope.len();
        let index = match &*for_loop.pat {
            Pat::Ident(ident) => self.declare(&ident.ident, false),
            Pat::Wild(_) => self.fresh("i", span),
            other => return Err(Error::new_spanned(other, "name the index: `for i in 0..3`")),
        };
        let mut statements = Vec::new();
        if let Some(Operand::Var(_)) = self.block(&for_loop.body, &mut statements)? {
            return Err(Error::new_spanned(
                &for_loop.body,
                "a loop has no value: assign to a `let mut` variable",
            ));
        }
        self.scope.truncate(depth);
        let yields = carried.iter().map(|(i, _)| self.scope[*i].value.clone()).collect();
        self.scope = before;
        for (i, carried) in &carried {
            self.scope[*i].value = Operand::Var(carried.out);
        }
        let carried = carried.into_iter().map(|(_, carried)| carried).collect();
        out.push(Statement::For { index, bounds, body: Block { statements, yields }, carried, span });
        Ok(())
    }

    /// `a..b` with literals or constants: the number of rounds is known when the kernel is compiled.
    fn bounds(&self, range: &Expr) -> Result<(Expr, Expr)> {
        let advice = "loop over a range with constant bounds, such as `0..3` or `0..COUNT`; \
                      a bound that varies is an `if` inside the loop";
        let Expr::Range(range) = range else {
            return Err(Error::new_spanned(range, advice));
        };
        let (Some(from), Some(to), syn::RangeLimits::HalfOpen(_)) = (&range.start, &range.end, &range.limits)
        else {
            return Err(Error::new_spanned(range, advice));
        };
        for bound in [from, to] {
            let constant = match &**bound {
                Expr::Lit(lit) => matches!(lit.lit, syn::Lit::Int(_)),
                Expr::Path(path) => path.path.get_ident().is_none_or(|ident| self.find(ident).is_none()),
                _ => false,
            };
            if !constant {
                return Err(Error::new_spanned(bound, advice));
            }
        }
        Ok(((**from).clone(), (**to).clone()))
    }

    /// The literals and constants of a `match` pattern; none for `_`.
    fn choices(&self, pat: &Pat) -> Result<Vec<Operand>> {
        match pat {
            Pat::Wild(_) => Ok(Vec::new()),
            Pat::Lit(lit) => match &lit.lit {
                syn::Lit::Int(_) => Ok(vec![Operand::Index(lit.lit.clone())]),
                other => Err(Error::new_spanned(
                    other,
                    "`match` is for indices and kinds: compare numbers with `if`",
                )),
            },
            Pat::Path(path) => Ok(vec![Operand::Constant(path.path.clone())]),
            Pat::Ident(ident) if ident.ident.to_string().chars().all(|c| !c.is_lowercase()) => {
                Ok(vec![Operand::Constant(ident.ident.clone().into())])
            }
            Pat::Paren(paren) => self.choices(&paren.pat),
            Pat::Or(or) => {
                let mut choices = Vec::new();
                for case in &or.cases {
                    choices.extend(self.choices(case)?);
                }
                Ok(choices)
            }
            other => Err(Error::new_spanned(
                other,
                "an arm is a literal, a constant, a kind such as `Joint::Ball`, several with `|`, or `_`",
            )),
        }
    }
}

fn same(a: &Operand, b: &Operand) -> bool {
    matches!((a, b), (Operand::Var(a), Operand::Var(b)) if a == b)
}

/// Does the block end with a statement rather than with a value?
fn ends_without_value(block: &syn::Block) -> bool {
    match block.stmts.last() {
        None => true,
        Some(Stmt::Expr(Expr::ForLoop(_) | Expr::Assign(_), _)) => true,
        Some(Stmt::Expr(Expr::Binary(binary), _)) if expression::assigning(&binary.op).is_some() => true,
        Some(Stmt::Expr(Expr::If(inner), None)) => ends_without_value(&inner.then_branch),
        Some(Stmt::Expr(_, semi)) => semi.is_some(),
        Some(_) => true,
    }
}

/// The names that a loop's body assigns.
struct Assigned(Vec<String>);

impl Assigned {
    fn add(&mut self, place: &Expr) {
        match place {
            Expr::Path(path) => self.0.extend(path.path.get_ident().map(Ident::to_string)),
            Expr::Field(field) => self.add(&field.base),
            Expr::Index(index) => self.add(&index.expr),
            Expr::Paren(paren) => self.add(&paren.expr),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Assigned {
    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.add(&assign.left);
        syn::visit::visit_expr_assign(self, assign);
    }
    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if expression::assigning(&binary.op).is_some() {
            self.add(&binary.left);
        }
        syn::visit::visit_expr_binary(self, binary);
    }
}
