//! What the language does not have, and what to write instead.

use proc_macro2::Span;
use syn::visit::Visit;
use syn::{Attribute, Error, Expr, Ident, Lit, Macro, Result};

use super::Role;
use crate::ir::Binary;

/// Attributes inside a body: `#[cfg]` would have to be obeyed, and the others change nothing.
pub fn attributes(block: &syn::Block) -> Result<()> {
    struct Attributes(Option<Error>);
    impl<'ast> Visit<'ast> for Attributes {
        fn visit_attribute(&mut self, attribute: &'ast Attribute) {
            let advice = "there are no attributes inside a kernel: put it above the kernel, or remove it";
            self.0.get_or_insert_with(|| Error::new_spanned(attribute, advice));
        }
    }
    let mut attributes = Attributes(None);
    attributes.visit_block(block);
    attributes.0.map_or(Ok(()), Err)
}

/// Why a variable cannot be assigned, if it cannot.
pub fn assignment(ident: &Ident, role: Role) -> Option<Error> {
    let advice = match role {
        Role::Mutable => return None,
        Role::Let => format!("`{ident}` is assigned again: declare it with `let mut {ident}`"),
        Role::Argument => {
            format!("the argument `{ident}` is assigned: write `mut {ident}` where it is declared")
        }
        Role::LoopIndex => {
            format!("`{ident}` counts the rounds of its loop: change a `let mut` variable instead")
        }
    };
    Some(Error::new_spanned(ident, advice))
}

/// An integer next to a number, or `%` of numbers.
pub fn arithmetic(op: Binary, literal: Option<&Lit>, span: Span) -> Error {
    match literal {
        Some(literal) => Error::new_spanned(
            literal,
            format!("an integer is an index: numbers have a decimal point, `{}.0`", quote::quote!(#literal)),
        ),
        None if op == Binary::Remainder => {
            Error::new(span, "`%` is for indices: of numbers, write `x - y * floor(x / y)`")
        }
        None => Error::new(span, "kernels compute with real numbers"),
    }
}

pub fn unused(expr: &Expr) -> Error {
    Error::new_spanned(
        expr,
        "this computes a value that nobody uses, and a kernel changes nothing else: bind it with `let`",
    )
}

pub fn macro_call(mac: &Macro) -> Error {
    Error::new_spanned(mac, "a kernel computes and nothing else: remove the macro")
}

pub fn unknown_variable(ident: &Ident) -> Error {
    Error::new_spanned(
        ident,
        format!(
            "no variable `{ident}` here: declare it with `let`, or make it an argument (constants are UPPER_CASE)"
        ),
    )
}

pub fn expression(expr: &Expr) -> Error {
    let advice = match expr {
        Expr::MethodCall(call) => {
            let name = &call.method;
            return Error::new_spanned(
                name,
                format!(
                    "kernels call functions, not methods: write `{name}(...)` with the value as first argument, if there is such a builtin or kernel"
                ),
            );
        }
        Expr::Macro(mac) => return macro_call(&mac.mac),
        Expr::Reference(_) => "kernels work on values, so that nothing can alias: remove the `&`",
        Expr::Unary(_) => "kernels work on values: there is nothing to dereference",
        Expr::Closure(_) => "there are no closures in kernels: write another kernel and call it",
        Expr::While(found) => {
            return Error::new_spanned(
                found.while_token,
                "the number of rounds must be known: write `for i in 0..COUNT` with an `if` inside",
            );
        }
        Expr::Loop(found) => {
            return Error::new_spanned(
                found.loop_token,
                "the number of rounds must be known: write `for i in 0..COUNT`",
            );
        }
        Expr::ForLoop(_) => "a loop has no value: assign to a `let mut` variable inside it",
        Expr::Return(_) => {
            "a kernel has one exit, its last expression: use `if` and `else` instead of `return`"
        }
        Expr::Break(_) | Expr::Continue(_) => "loops run to their end: put the rest of the body into an `if`",
        Expr::Cast(_) => "there are no casts in kernels: pass numbers as numbers and indices as indices",
        Expr::Range(_) => "a range stands only in `for i in 0..3`",
        Expr::Assign(_) => "an assignment is a statement of its own: end it with `;`",
        Expr::Let(_) => "`if let` has no place in kernels: there are no enums with fields",
        Expr::Try(_) => "a kernel always returns a value: there is no `?`",
        Expr::Unsafe(_) => "kernels touch no memory: there is no `unsafe`",
        Expr::Async(_) | Expr::Await(_) => "a kernel is a pure function: there is no `async`",
        _ => {
            "not in the kernel language: it has let, assignment, arithmetic, comparisons, if, match, \
             for over constant bounds, arrays, structs and calls of kernels"
        }
    };
    Error::new_spanned(expr, advice)
}
