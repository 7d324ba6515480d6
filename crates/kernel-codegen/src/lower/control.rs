//! Blocks, branches and loops: where names meet again.

use proc_macro2::Span;
use syn::visit::Visit;
use syn::{Error, Expr, Ident, Pat, Result, Stmt};

use super::{Binding, Lower, Role, TEMPORARY, expression, refuse};
use crate::ir::*;

/// One side of an `if`, or one arm of a `match`.
struct Branch {
    /// It yields nothing yet.
    block: Block,
    /// What the outer names stand for at its end.
    after: Vec<Binding>,
    value: Option<Operand>,
}

impl Lower {
    /// Lowers one branch. `value` says whether it must end with one.
    fn branch(&mut self, body: &Expr, value: bool) -> Result<Branch> {
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
        if !value && result.is_some() {
            return Err(refuse::unused(body));
        }
        let after = std::mem::replace(&mut self.scope, before);
        Ok(Branch { block: Block { statements, yields: Vec::new() }, after, value: result })
    }

    /// `a && b` and `a || b`: the right side runs where the left has not decided.
    pub(super) fn lazily(
        &mut self,
        op: Binary,
        left: Operand,
        right: &Expr,
        span: Span,
        out: &mut Vec<Statement>,
    ) -> Result<Operand> {
        let branch = self.branch(right, true)?;
        let changes_nothing = branch.after.iter().zip(&self.scope).all(|(a, b)| same(&a.value, &b.value));
        if branch.block.cannot_panic() && changes_nothing {
            // Cheaper than a branch, and nobody can tell.
            out.extend(branch.block.statements);
            let right = branch.value.unwrap_or(Operand::Bool(true));
            return Ok(self.emit(Op::Binary(op, left, right), TEMPORARY, span, out));
        }
        let decided = Branch {
            block: Block { statements: Vec::new(), yields: Vec::new() },
            after: self.scope.clone(),
            value: Some(Operand::Bool(op == Binary::Or)),
        };
        let sides = if op == Binary::And { [branch, decided] } else { [decided, branch] };
        self.conditional(left, sides, span, out).ok_or_else(|| Error::new(span, "this has no value"))
    }

    fn conditional(
        &mut self,
        condition: Operand,
        sides: [Branch; 2],
        span: Span,
        out: &mut Vec<Statement>,
    ) -> Option<Operand> {
        let (blocks, outs, value) = self.join(sides.into(), span);
        if let Ok([then, otherwise]) = <[Block; 2]>::try_from(blocks) {
            out.push(Statement::If { condition, then, otherwise, outs, span });
        }
        value
    }

    /// `if`, `match` or a block, as a statement or as a value.
    pub(super) fn control(
        &mut self,
        expr: &Expr,
        is_value: bool,
        out: &mut Vec<Statement>,
    ) -> Result<Option<Operand>> {
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
                    None if is_value && block_has_value(&conditional.then_branch) => {
                        return Err(Error::new_spanned(
                            conditional.if_token,
                            "an `if` with a value needs an `else`",
                        ));
                    }
                    None => syn::parse_quote!({}),
                };
                let is_value = is_value && block_has_value(&conditional.then_branch);
                let sides = [self.branch(&then, is_value)?, self.branch(&otherwise, is_value)?];
                Ok(self.conditional(condition, sides, conditional.if_token.span, out))
            }
            Expr::Match(matching) => {
                let scrutinee = self.expression(&matching.expr, out)?;
                let span = matching.match_token.span;
                let is_value = is_value && matching.arms.first().is_some_and(|arm| has_value(&arm.body));
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
    fn join(&mut self, branches: Vec<Branch>, span: Span) -> (Vec<Block>, Vec<Var>, Option<Operand>) {
        let mut outs = Vec::new();
        let (mut blocks, mut ends, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for branch in branches {
            blocks.push(branch.block);
            ends.push(branch.after);
            values.extend(branch.value);
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
            if ends.iter().any(|end| self.is_number(&end[i].value)) {
                self.numbers.insert(var);
            }
            self.scope[i].value = Operand::Var(var);
            outs.push(var);
        }
        if values.is_empty() {
            return (blocks, outs, None);
        }
        let number = values.iter().any(|value| self.is_number(value));
        for (block, value) in blocks.iter_mut().zip(values) {
            block.yields.push(value);
        }
        let var = self.fresh(TEMPORARY, span);
        if number {
            self.numbers.insert(var);
        }
        outs.push(var);
        (blocks, outs, Some(Operand::Var(var)))
    }

    pub(super) fn for_loop(&mut self, for_loop: &syn::ExprForLoop, out: &mut Vec<Statement>) -> Result<()> {
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
            if assigned.0.contains(&name) && !shadowed && self.scope[i].role == Role::Mutable {
                let (inner, after) = (self.fresh(&name, span), self.fresh(&name, span));
                if self.is_number(&self.scope[i].value) {
                    self.numbers.extend([inner, after]);
                }
                carried.push((i, Carried { init: self.scope[i].value.clone(), inner, out: after }));
                self.scope[i].value = Operand::Var(inner);
            }
        }

        let depth = self.scope.len();
        let index = match &*for_loop.pat {
            Pat::Ident(ident) => {
                if let Some(token) = ident.mutability {
                    return Err(Error::new_spanned(
                        token,
                        "the index counts the rounds: remove `mut`, and change a `let mut` variable",
                    ));
                }
                self.declare(&ident.ident, Role::LoopIndex)
            }
            Pat::Wild(_) => self.fresh("i", span),
            other => return Err(Error::new_spanned(other, "name the index: `for i in 0..3`")),
        };
        let mut statements = Vec::new();
        if self.block(&for_loop.body, &mut statements)?.is_some() {
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
            return Err(Error::new_spanned(
                range,
                "loop over indices, and take the element inside: `for i in 0..3 { let x = a[i]; ... }`",
            ));
        };
        if let syn::RangeLimits::Closed(token) = &range.limits {
            return Err(Error::new_spanned(token, "write `a..b`, which ends before `b`"));
        }
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
            Pat::Guard(guard) => {
                Err(Error::new_spanned(guard.if_token, "an arm has no `if`: put the `if` into its body"))
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

/// Does the block end with a value rather than with a statement?
fn block_has_value(block: &syn::Block) -> bool {
    matches!(block.stmts.last(), Some(Stmt::Expr(last, None)) if has_value(last))
}

/// Is the expression more than an assignment or a loop?
fn has_value(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_) | Expr::ForLoop(_) => false,
        Expr::Binary(binary) => expression::assigning(&binary.op).is_none(),
        Expr::Block(block) => block_has_value(&block.block),
        Expr::If(conditional) => block_has_value(&conditional.then_branch),
        Expr::Match(matching) => matching.arms.first().is_some_and(|arm| has_value(&arm.body)),
        _ => true,
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
            Expr::Group(group) => self.add(&group.expr),
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
