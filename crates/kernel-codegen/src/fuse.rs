//! Fuses products with the sums that they stand in: `a * b + c` is rounded once, on every machine.
//!
//! Only inside one expression: `let p = a * b; p + c` is rounded twice, as it says. Of two products in a sum the second is
//! fused, so that `a * b + c * d + e * f` is a chain.

use std::collections::HashMap;

use crate::ir::*;

/// Fuses everything in a body.
pub fn fuse(body: &mut Body) {
    let mut uses = HashMap::new();
    count_block(&body.block, &mut uses);
    // What has a name is rounded on its own.
    uses.retain(|var, _| body.variables[*var].temporary);
    fuse_block(&mut body.block, &uses);
}

fn fuse_block(block: &mut Block, uses: &HashMap<Var, usize>) {
    // The products of this block that one thing uses.
    let mut products: HashMap<Var, (usize, Operand, Operand)> = HashMap::new();
    let mut gone = Vec::new();
    for i in 0..block.statements.len() {
        match &mut block.statements[i] {
            Statement::Let { var, op, .. } => {
                if let Op::Binary(Binary::Multiply, a, b) = op {
                    if uses.get(var) == Some(&1) {
                        products.insert(*var, (i, a.clone(), b.clone()));
                    }
                    continue;
                }
                let Op::Binary(kind @ (Binary::Add | Binary::Subtract), left, right) = op else { continue };
                let product = |operand: &Operand| match operand {
                    Operand::Var(var) => products.get(var).cloned(),
                    _ => None,
                };
                let sum = *kind == Binary::Add;
                let fused = match (product(right), product(left)) {
                    (Some((at, a, b)), _) => {
                        gone.push(at);
                        Op::Fused(if sum { Fused::TimesPlus } else { Fused::MinusTimes }, a, b, left.clone())
                    }
                    (None, Some((at, a, b))) => {
                        gone.push(at);
                        Op::Fused(if sum { Fused::TimesPlus } else { Fused::TimesMinus }, a, b, right.clone())
                    }
                    (None, None) => continue,
                };
                *op = fused;
            }
            Statement::If { then, otherwise, .. } => {
                fuse_block(then, uses);
                fuse_block(otherwise, uses);
            }
            Statement::Match { arms, .. } => arms.iter_mut().for_each(|arm| fuse_block(&mut arm.block, uses)),
            Statement::For { body, .. } => fuse_block(body, uses),
        }
    }
    let mut i = 0;
    block.statements.retain(|_| {
        i += 1;
        !gone.contains(&(i - 1))
    });
}

fn count(operand: &Operand, uses: &mut HashMap<Var, usize>) {
    if let Operand::Var(var) = operand {
        *uses.entry(*var).or_default() += 1;
    }
}

fn count_path(path: &[Projection], uses: &mut HashMap<Var, usize>) {
    for step in path {
        if let Projection::Index(index) = step {
            count(index, uses);
        }
    }
}

fn count_block(block: &Block, uses: &mut HashMap<Var, usize>) {
    for statement in &block.statements {
        match statement {
            Statement::Let { op, .. } => count_op(op, uses),
            Statement::If { condition, then, otherwise, .. } => {
                count(condition, uses);
                count_block(then, uses);
                count_block(otherwise, uses);
            }
            Statement::Match { scrutinee, arms, .. } => {
                count(scrutinee, uses);
                arms.iter().for_each(|arm| count_block(&arm.block, uses));
            }
            Statement::For { body, carried, .. } => {
                carried.iter().for_each(|c| count(&c.init, uses));
                count_block(body, uses);
            }
        }
    }
    block.yields.iter().for_each(|operand| count(operand, uses));
}

fn count_op(op: &Op, uses: &mut HashMap<Var, usize>) {
    match op {
        Op::Copy(a) | Op::Negate(a) | Op::Not(a) | Op::Repeat(a, _) => count(a, uses),
        Op::Binary(_, a, b) | Op::Compare(_, a, b) => [a, b].into_iter().for_each(|x| count(x, uses)),
        Op::Fused(_, a, b, c) => [a, b, c].into_iter().for_each(|x| count(x, uses)),
        Op::Get(a, path) => {
            count(a, uses);
            count_path(path, uses);
        }
        Op::Set(a, path, e) => {
            count(a, uses);
            count_path(path, uses);
            count(e, uses);
        }
        Op::Call(_, all) | Op::Array(all) | Op::Tuple(all) => all.iter().for_each(|x| count(x, uses)),
        Op::Struct(_, fields) => fields.iter().for_each(|(_, x)| count(x, uses)),
    }
}
