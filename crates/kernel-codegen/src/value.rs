//! `#[derive(Value)]`: structs of numbers as values in kernels and buffers, fieldwise.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Member, Result};

use crate::cuda::field;
use crate::item::place;

pub fn value(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let advice = "a value is a struct with one scalar parameter and named fields: `struct Name<R> { a: R, b: Vec3<R> }`";
    let Data::Struct(data) = &item.data else { return Err(Error::new_spanned(&item.ident, advice)) };
    let Fields::Named(fields) = &data.fields else { return Err(Error::new_spanned(&item.ident, advice)) };
    let mut params = item.generics.params.iter();
    let (Some(GenericParam::Type(scalar)), None) = (params.next(), params.next()) else {
        return Err(Error::new_spanned(&item.ident, advice));
    };
    if fields.named.is_empty() {
        return Err(Error::new_spanned(&item.ident, advice));
    }
    for field in &fields.named {
        if matches!(&field.ty, syn::Type::Path(path) if ["usize", "u32", "bool"].iter().any(|t| path.path.is_ident(t)))
        {
            return Err(Error::new_spanned(
                &field.ty,
                "a value consists of numbers: give indices and kinds to the kernel as arguments of their own",
            ));
        }
    }
    let repr_c = item.attrs.iter().any(|attr| {
        attr.path().is_ident("repr") && attr.parse_args::<syn::Ident>().is_ok_and(|repr| repr == "C")
    });
    if !repr_c {
        return Err(Error::new_spanned(
            &item.ident,
            "a value's numbers lie in the order of its fields: add `#[repr(C)]` above the struct",
        ));
    }

    let name = &item.ident;
    let r = &scalar.ident;
    let names: Vec<_> = fields.named.iter().filter_map(|f| f.ident.as_ref()).collect();
    let types: Vec<_> = fields.named.iter().map(|f| &f.ty).collect();
    let rt = quote! { ::pullback_kernel::rt };

    // The fields' types at another scalar are named through the struct's own definition.
    let replace = |ty: &syn::Type, with: TokenStream| -> TokenStream { substitute(quote! { #ty }, r, &with) };
    let types_f64: Vec<_> = types.iter().map(|ty| replace(ty, quote! { f64 })).collect();

    let fieldwise = |call: TokenStream| quote! { Self { #(#names: #call(self.#names, other.#names)),* } };
    let plus = fieldwise(quote! { #rt::Local::<#r>::plus });
    let minus = fieldwise(quote! { #rt::Local::<#r>::minus });

    let c_fields: Vec<String> = names.iter().map(|n| field(&Member::Named((*n).clone()))).collect();
    let c_name = name.to_string();
    // A field may be called `dual`.
    let parts: Vec<_> = (0..names.len()).map(|i| quote::format_ident!("parts{i}")).collect();
    let place = place();
    Ok(quote! {
        impl<#r: #rt::Real> #rt::Local<#r> for #name<#r> {
            #[inline(always)]
            fn zero() -> Self {
                Self { #(#names: #rt::Local::<#r>::zero()),* }
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self { #plus }
            #[inline(always)]
            fn minus(self, other: Self) -> Self { #minus }
            #[inline(always)]
            fn keep(self, mask: #r::Mask) -> Self {
                Self { #(#names: #rt::Local::<#r>::keep(self.#names, mask)),* }
            }
        }
        impl<#r: #rt::Real> #rt::Blend<#r> for #name<#r> {
            #[inline(always)]
            fn select(mask: #r::Mask, a: Self, b: Self) -> Self {
                Self { #(#names: #rt::Blend::<#r>::select(mask, a.#names, b.#names)),* }
            }
        }
        impl<#r: #rt::Real> #rt::Linear<#r> for #name<#r> {
            #[inline(always)]
            fn scale(self, s: #r) -> Self {
                Self { #(#names: #rt::Linear::<#r>::scale(self.#names, s)),* }
            }
            #[inline(always)]
            fn divide(self, s: #r) -> Self {
                Self { #(#names: #rt::Linear::<#r>::divide(self.#names, s)),* }
            }
            #[inline(always)]
            fn scale_add(self, s: #r, c: Self) -> Self {
                Self { #(#names: #rt::Linear::<#r>::scale_add(self.#names, s, c.#names)),* }
            }
            #[inline(always)]
            fn inner_add(self, other: Self, sum: #r) -> #r {
                #(let sum = #rt::Linear::<#r>::inner_add(self.#names, other.#names, sum);)*
                sum
            }
            #[inline(always)]
            fn negative(self) -> Self { -self }
        }
        impl<#r: #rt::Real> ::core::ops::Add for #name<#r> {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self { #rt::Local::<#r>::plus(self, other) }
        }
        impl<#r: #rt::Real> ::core::ops::Sub for #name<#r> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self { #rt::Local::<#r>::minus(self, other) }
        }
        impl<#r: #rt::Real> ::core::ops::Neg for #name<#r> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self { #rt::Local::<#r>::minus(#rt::Local::<#r>::zero(), self) }
        }
        impl<#r: #rt::Real> ::core::ops::Mul<#r> for #name<#r> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, s: #r) -> Self { #rt::Linear::<#r>::scale(self, s) }
        }
        impl<#r: #rt::Real> ::core::ops::Div<#r> for #name<#r> {
            type Output = Self;
            #[inline(always)]
            fn div(self, s: #r) -> Self { #rt::Linear::<#r>::divide(self, s) }
        }
        impl #rt::Argument for #name<f64> {
            type With<#r: #rt::Real> = #name<#r>;
            #[inline(always)]
            fn dual<#r: #rt::Real>(value: #name<#r>, tangent: #name<#r>) -> #name<#rt::Dual<#r>> {
                #name { #(#names: <#types_f64 as #rt::Argument>::dual::<#r>(value.#names, tangent.#names)),* }
            }
            #[inline(always)]
            fn parts<#r: #rt::Real>(dual: #name<#rt::Dual<#r>>) -> (#name<#r>, #name<#r>) {
                #(let #parts = <#types_f64 as #rt::Argument>::parts::<#r>(dual.#names);)*
                (#name { #(#names: #parts.0),* }, #name { #(#names: #parts.1),* })
            }
            #[inline(always)]
            fn each<#r: #rt::Real>(value: &mut #name<#r>, visit: &mut impl FnMut(&mut #r)) {
                #(<#types_f64 as #rt::Argument>::each::<#r>(&mut value.#names, visit);)*
            }
            fn c_type(source: &mut #rt::Source) -> ::std::string::String {
                static STRUCT: #rt::Struct = #rt::Struct {
                    name: #c_name,
                    place: #place,
                    fields: &[#((#c_fields, #rt::c_type::<#types_f64>)),*],
                };
                source.add_struct(&STRUCT)
            }
        }
        // SAFETY: `repr(C)` with fields that are all values of the same scalar: their numbers lie side by side.
        unsafe impl #rt::Value for #name<f64> {
            const LEN: usize = {
                let len = 0 #(+ <#types_f64 as #rt::Value>::LEN)*;
                assert!(size_of::<#name<f64>>() == 8 * len, "a value has no padding: remove `repr(align)`");
                len
            };
        }
    })
}

/// `tokens` with the identifier `from` replaced.
fn substitute(tokens: TokenStream, from: &syn::Ident, to: &TokenStream) -> TokenStream {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            proc_macro2::TokenTree::Ident(ident) if ident == *from => to.clone(),
            proc_macro2::TokenTree::Group(group) => {
                let inner = substitute(group.stream(), from, to);
                let mut new = proc_macro2::Group::new(group.delimiter(), inner);
                new.set_span(group.span());
                TokenStream::from(proc_macro2::TokenTree::Group(new))
            }
            other => TokenStream::from(other),
        })
        .collect()
}
