//! `#[derive(Kind)]`: fieldless enums that kernels can match on.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Fields, Result};

pub fn kind(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let advice = "a kind is an enum without fields: `enum Joint { Hinge, Slide }`";
    let Data::Enum(data) = &item.data else { return Err(Error::new_spanned(&item.ident, advice)) };
    if let Some(variant) = data.variants.iter().find(|v| v.discriminant.is_some() || v.fields != Fields::Unit)
    {
        return Err(Error::new_spanned(variant, advice));
    }
    let Some(first) = data.variants.first() else { return Err(Error::new_spanned(&item.ident, advice)) };
    let name = &item.ident;
    let first = &first.ident;
    let variants: Vec<_> = data.variants.iter().map(|v| &v.ident).collect();
    let indices: Vec<u32> = (0..variants.len() as u32).collect();
    let rt = quote! { ::pullback_kernel::rt };
    Ok(quote! {
        impl #rt::Kind for #name {
            const COUNT: u32 = [#(#indices),*].len() as u32;
            #[inline(always)]
            fn index(self) -> u32 {
                self as u32
            }
            #[inline(always)]
            fn at<R: #rt::Real>(index: u32) -> Self {
                match index {
                    #(#indices => #name::#variants,)*
                    _ => #name::#first,
                }
            }
        }
        impl<R: #rt::Real> #rt::Local<R> for #name {
            #[inline(always)]
            fn zero() -> Self { #name::#first }
            #[inline(always)]
            fn plus(self, _: Self) -> Self { self }
            #[inline(always)]
            fn minus(self, _: Self) -> Self { self }
            #[inline(always)]
            fn keep(self, _: R::Mask) -> Self { self }
        }
        impl<R: #rt::Real> #rt::Compare<R> for #name {
            #[inline(always)]
            fn lt(self, other: Self) -> R::Mask { #rt::bit::<R>((self as u32) < other as u32) }
            #[inline(always)]
            fn le(self, other: Self) -> R::Mask { #rt::bit::<R>((self as u32) <= other as u32) }
            #[inline(always)]
            fn eq(self, other: Self) -> R::Mask { #rt::bit::<R>(self as u32 == other as u32) }
        }
        impl<R: #rt::Real> #rt::Constant<R> for #name {
            type Lifted = Self;
            #[inline(always)]
            fn lift(self) -> Self { self }
        }
        impl #rt::CConstant for #name {
            fn c_constant(self) -> ::std::string::String { ::std::format!("{}u", self as u32) }
        }
        impl #rt::Argument for #name {
            type With<R: #rt::Real> = #name;
            #[inline(always)]
            fn dual<R: #rt::Real>(value: Self, _: Self) -> Self { value }
            #[inline(always)]
            fn parts<R: #rt::Real>(dual: Self) -> (Self, Self) { (dual, dual) }
            fn each<R: #rt::Real>(_: &mut Self, _: &mut impl FnMut(&mut R)) {}
            fn each_index<R: #rt::Real>(
                value: &mut Self,
                visit: &mut impl FnMut(::core::option::Option<u32>, usize) -> usize,
            ) {
                let index = visit(::core::option::Option::Some(<Self as #rt::Kind>::COUNT), *value as usize);
                *value = <Self as #rt::Kind>::at::<f64>(index as u32);
            }
            fn c_type(_: &mut #rt::Source) -> ::std::string::String { "unsigned".into() }
        }
    })
}
