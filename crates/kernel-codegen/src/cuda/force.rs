//! Kernels that are forces of energies.

use quote::quote;
use syn::{Ident, Path};

use super::{bars_type, callee, head, type_hole};
use crate::signature::Signature;
use crate::text::{Text, join, text};

/// The force of an energy: minus its gradient by the first argument; and its pullback, the tangent of that gradient along the
/// cotangent of the force (Hessians are symmetric).
pub fn force(signature: &Signature, energy: &Ident) -> Vec<Text> {
    let n = signature.arguments.len();
    let energy = callee(&Path::from(energy.clone()));
    let first = || type_hole(signature, &signature.arguments[0].ty);
    let dual = || {
        let piece = quote! { ::pullback_kernel::rt::Piece::Type(::pullback_kernel::rt::c_dual) };
        Text::hole(piece, "pb_dual<R>".into())
    };
    let name = |i: usize| format!("a{i}");
    let arguments = join((0..n).map(|i| Text::from(name(i))));
    let duals = join((0..n).map(|i| match i {
        0 => Text::from("pb_as_dual<R>(a0, out_bar)"),
        i => format!("pb_as_dual<R>(a{i})").into(),
    }));
    let tangents = join((0..n).map(|i| {
        text!["pb_tangents<", type_hole(signature, &signature.arguments[i].ty), format!(", R>(bars._{i})")]
    }));
    vec![
        text![
            head(signature, first(), "", name),
            ") { return ",
            energy.clone(),
            "_pullback<R>(",
            arguments,
            ", R(-1.0))._0; }\n"
        ],
        text![
            head(signature, bars_type(signature), "_pullback", name),
            ", ",
            first(),
            " out_bar) { auto bars = ",
            energy,
            "_pullback<",
            dual(),
            ">(",
            duals,
            ", ",
            dual(),
            "(-1.0)); return {",
            tangents,
            "}; }\n"
        ],
    ]
}
