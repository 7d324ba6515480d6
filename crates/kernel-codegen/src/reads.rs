//! Which values a pullback reads: what a program has to keep.

use crate::ir::{Block, Body, Op, Operand, Projection, Statement};
use crate::reverse::{Define, reverse};

/// A set of arguments, bit by bit.
type Set = u32;

/// For each argument, the arguments whose cotangents need its value. All of them where a kernel branches or loops, and for those that it
/// hands to another kernel.
pub fn reads(body: &Body) -> Vec<Set> {
    let all = vec![Set::MAX; body.arguments];
    if body.arguments > Set::BITS as usize {
        return all;
    }
    let mut of: Vec<Set> =
        (0..body.variables.len()).map(|v| if v < body.arguments { 1 << v } else { 0 }).collect();
    let mut needs = vec![0; body.arguments];
    if !straight(&body.block, &mut of, &mut needs) {
        return all;
    }
    // From what each cotangent needs to who needs each value.
    let by = |value: usize| (0..needs.len()).map(|bar| (needs[bar] >> value & 1) << bar).sum();
    (0..body.arguments).map(by).collect()
}

/// Notes what values depend on (`of`), and what cotangents of arguments need; false where the block is no list of operations.
fn straight(block: &Block, of: &mut [Set], needs: &mut [Set]) -> bool {
    for statement in &block.statements {
        let Statement::Let { var, op, .. } = statement else { return false };
        let depends = |operand: &Operand| match operand {
            Operand::Var(var) => of[*var],
            Operand::Number(_) | Operand::Index(_) | Operand::Bool(_) | Operand::Constant(_) => 0,
        };
        let mut need = |bar: &Operand, values: Set| {
            (0..needs.len())
                .filter(|&argument| depends(bar) >> argument & 1 == 1)
                .for_each(|argument| needs[argument] |= values);
        };
        match reverse(op).define {
            None | Some(Define::Without(_)) => {}
            Some(Define::Product { a, b, .. }) => {
                need(&a, depends(&b));
                need(&b, depends(&a));
            }
            Some(Define::Quotient(a, b)) => {
                need(&a, depends(&b));
                need(&b, depends(&a) | depends(&b));
            }
            Some(Define::Call(_, arguments)) => {
                let values = arguments.iter().map(depends).fold(0, |all, some| all | some);
                arguments.iter().for_each(|argument| need(argument, values));
            }
        }
        // An index that is computed chooses where cotangents go.
        let indices = chosen_by(op).map(depends).fold(0, |all, some| all | some);
        needs.iter_mut().for_each(|values| *values |= indices);
        of[*var] = operands(op).iter().map(|operand| depends(operand)).fold(indices, |all, some| all | some);
    }
    true
}

/// The operands that say which part of a value is meant.
fn chosen_by(op: &Op) -> impl Iterator<Item = &Operand> {
    let path = match op {
        Op::Get(_, path) | Op::Set(_, path, _) => &path[..],
        _ => &[],
    };
    path.iter().filter_map(|projection| match projection {
        Projection::Index(index) => Some(index),
        Projection::Field(_) => None,
    })
}

fn operands(op: &Op) -> Vec<&Operand> {
    match op {
        Op::Copy(a) | Op::Negate(a) | Op::Not(a) | Op::Get(a, _) | Op::Repeat(a, _) => vec![a],
        Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Set(a, _, b) => vec![a, b],
        Op::Fused(_, a, b, c) => vec![a, b, c],
        Op::Call(_, all) | Op::Array(all) | Op::Tuple(all) => all.iter().collect(),
        Op::Struct(_, fields) => fields.iter().map(|(_, value)| value).collect(),
    }
}
