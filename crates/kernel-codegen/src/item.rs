//! A kernel as Rust items: the function, a type of the same name with its pullback, and its CUDA definition.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::{Attribute, Error, ItemFn, Path, Result, Type, Visibility};

use crate::cuda::{self, Cuda};
use crate::fuse::fuse;
use crate::ir::Body;
use crate::lower;
use crate::reads::reads;
use crate::rust::Rust;
use crate::signature::Signature;
use crate::text::Text;

/// What was read of a kernel.
struct Parsed {
    item: ItemFn,
    signature: Signature,
    /// None for a primitive, whose body is plain Rust.
    body: Option<Body>,
}

fn parse(attributes: TokenStream, item: TokenStream) -> Result<Parsed> {
    let item: ItemFn = syn::parse2(item)?;
    let signature = Signature::parse(attributes, &item)?;
    let body = match signature.options.primitive {
        true if signature.options.pullback.is_none() => {
            return Err(Error::new_spanned(
                &item.sig.ident,
                "a primitive names its pullback: `pullback = name`",
            ));
        }
        true => None,
        false => {
            let mut body = lower::body(&item.sig.ident, &signature, &item.block)?;
            fuse(&mut body);
            Some(body)
        }
    };
    Ok(Parsed { item, signature, body })
}

pub fn readable_cuda(attributes: TokenStream, item: TokenStream) -> Result<String> {
    let parsed = parse(attributes, item)?;
    let text = cuda_text(&parsed).iter().map(Text::readable).collect::<Vec<_>>().join("\n");
    let name = parsed.item.sig.ident.to_string();
    Ok(cuda::indented(&text.replace('@', name.trim_start_matches("r#"))))
}

/// The forward pass (none for a primitive) and the pullback.
fn cuda_text(parsed: &Parsed) -> Vec<Text> {
    let signature = &parsed.signature;
    let mut texts = Vec::new();
    if let Some(body) = &parsed.body {
        let cuda = Cuda { body, signature };
        texts.push(cuda.forward());
        if signature.options.pullback.is_none() {
            texts.push(cuda.pullback());
        }
    }
    texts.extend(signature.options.pullback.as_ref().map(|path| cuda::named_pullback(signature, path)));
    texts
}

pub fn kernel(attributes: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let parsed = parse(attributes, item)?;
    let Parsed { item, signature, body } = &parsed;
    let ItemFn { attrs, vis, sig, block, .. } = item;
    let name = &sig.ident;
    let (scalar, result) = (&signature.scalar, &signature.result);
    let types: Vec<_> = signature.arguments.iter().map(|a| &a.ty).collect();

    // In the generated functions an argument has the name of its variable.
    let variables: Vec<Ident> = match body {
        Some(body) => (0..body.arguments).map(|i| Rust { body, scalar }.var(i)).collect(),
        None => (0..types.len()).map(|i| Ident::new(&format!("a{i}"), Span::mixed_site())).collect(),
    };
    let out_bar = Ident::new("out_bar", Span::mixed_site());

    let forward = match body {
        Some(body) => {
            let code = Rust { body, scalar }.forward();
            quote! { #vis fn #name<#scalar: ::pullback_kernel::rt::Real>(#(#variables: #types),*) -> #result { #code } }
        }
        None => quote! { #vis #sig #block },
    };
    let derived = body.as_ref().map(|body| Rust { body, scalar }.pullback(&out_bar));
    let named =
        signature.options.pullback.as_ref().map(|path| call_named(path, scalar, &variables, &out_bar));
    let (pullback, derived) = match (named, derived) {
        (Some(named), derived) => (named, derived),
        (None, derived) => (derived.unwrap_or_default(), None),
    };
    // What decides whether the function exists decides it for all that stands beside it.
    let conditions: Vec<_> = attrs.iter().filter(|attr| attr.path().is_ident("cfg")).collect();
    let of = |items: Items<'_>| items.emit(signature, vis, &conditions);
    let this = of(Items {
        name,
        attributes: quote! { #(#attrs)* },
        variables: &variables,
        out_bar: &out_bar,
        result,
        forward,
        pullback,
        derived,
        reads: body.as_ref().filter(|_| signature.options.pullback.is_none()).map(reads),
        texts: cuda_text(&parsed),
    });
    let Some(force) = &signature.options.force else { return Ok(this) };
    let doc = format!(" Minus the gradient of [`{name}`] by its first argument.");
    let (first, others) =
        (types[0], vec![quote! { ::pullback_kernel::rt::zero::<#scalar, _>() }; types.len() - 1]);
    let force = of(Items {
        name: force,
        attributes: quote! { #(#conditions)* #[doc = #doc] },
        variables: &variables,
        out_bar: &out_bar,
        result: first,
        forward: quote! {
            #vis fn #force<#scalar: ::pullback_kernel::rt::Real>(#(#variables: #types),*) -> #first {
                #name::pullback::<#scalar>(#(#variables,)* ::pullback_kernel::rt::constant::<#scalar, _>(-1.0)).0
            }
        },
        pullback: quote! {
            ::pullback_kernel::rt::force_pullback::<#name, #scalar>((#(#variables,)*), (#out_bar, #(#others,)*))
        },
        derived: None,
        reads: None,
        texts: cuda::force(signature, name),
    });
    Ok(quote! { #this #force })
}

/// What is made of a kernel.
struct Items<'a> {
    name: &'a Ident,
    /// Of the function.
    attributes: TokenStream,
    variables: &'a [Ident],
    out_bar: &'a Ident,
    result: &'a Type,
    /// The function.
    forward: TokenStream,
    /// The body of its pullback.
    pullback: TokenStream,
    /// The same as the macro writes it, if the kernel names another.
    derived: Option<TokenStream>,
    /// For each argument, the arguments whose cotangents need its value; none: not known.
    reads: Option<Vec<u32>>,
    texts: Vec<Text>,
}

impl Items<'_> {
    /// The function, the type of the same name with its pullback, and what patterns and programs take.
    fn emit(&self, signature: &Signature, vis: &Visibility, conditions: &[&Attribute]) -> TokenStream {
        let Items { name, attributes, variables, out_bar, result, forward, pullback, derived, reads, texts } =
            self;
        let scalar = &signature.scalar;
        let types: Vec<_> = signature.arguments.iter().map(|a| &a.ty).collect();
        let types_f64: Vec<_> = types.iter().map(|ty| signature.at_f64(ty)).collect();
        let result_f64 = signature.at_f64(result);
        let plain = |ident: &Ident| ident.to_string().trim_start_matches("r#").to_owned();
        let names: Vec<String> = signature.arguments.iter().map(|a| plain(&a.name)).collect();
        let name_text = plain(name);
        let head = quote! {
            <#scalar: ::pullback_kernel::rt::Real>(#(#variables: #types,)* #out_bar: #result) -> (#(#types,)*)
        };
        let derived_pullback = derived.as_ref().map(|derived| {
            quote! {
                /// The pullback that the macro writes: the test of the named one.
                #[inline(always)]
                #[allow(unused, clippy::all)]
                pub fn derived_pullback #head { #derived }
            }
        });
        let has_derived = derived.as_ref().map(|_| {
            quote! {
                const NAMES_ITS_PULLBACK: bool = true;
                #[inline(always)]
                fn derived_pullback<R: ::pullback_kernel::rt::Real>(
                    arguments: ::pullback_kernel::rt::With<Self::Arguments, R>,
                    out_bar: ::pullback_kernel::rt::With<Self::Output, R>,
                ) -> ::pullback_kernel::rt::With<Self::Arguments, R> {
                    let (#(#variables,)*) = arguments;
                    #name::derived_pullback::<R>(#(#variables,)* out_bar)
                }
            }
        });
        let reads = reads.as_ref().map(|reads| quote! { const READS: &'static [u32] = &[#(#reads),*]; });
        let place = place();
        let pieces = texts.iter().map(Text::pieces);
        let primitive = signature.options.primitive;
        let doc_type = format!(
            " The kernel `{name_text}` as a type: its pullback, and what patterns and programs take."
        );
        let doc_pullback =
            format!(" The pullback of `{name_text}`: from the cotangent of its result to one per argument.");

        quote! {
            #attributes
            #[inline(always)]
            #[allow(unused, clippy::all)]
            #forward

            #(#conditions)*
            #[doc = #doc_type]
            #[allow(non_camel_case_types)]
            #[derive(Clone, Copy, Debug)]
            #vis struct #name {}

            #(#conditions)*
            impl #name {
                #[doc = #doc_pullback]
                #[inline(always)]
                #[allow(unused, clippy::all)]
                pub fn pullback #head { #pullback }
                #derived_pullback
            }

            #(#conditions)*
            #[cfg(test)]
            ::pullback_kernel::rt::submit! { ::pullback_kernel::rt::Registered::new::<#name>() }

            #(#conditions)*
            impl ::pullback_kernel::rt::Kernel for #name {
                type Arguments = (#(#types_f64,)*);
                type Output = #result_f64;
                const NAME: &'static str = #name_text;
                const ARGUMENTS: &'static [&'static str] = &[#(#names),*];
                #reads

                #[inline(always)]
                fn forward<R: ::pullback_kernel::rt::Real>(
                    arguments: ::pullback_kernel::rt::With<Self::Arguments, R>,
                ) -> ::pullback_kernel::rt::With<Self::Output, R> {
                    let (#(#variables,)*) = arguments;
                    #name::<R>(#(#variables),*)
                }

                #[inline(always)]
                fn pullback<R: ::pullback_kernel::rt::Real>(
                    arguments: ::pullback_kernel::rt::With<Self::Arguments, R>,
                    out_bar: ::pullback_kernel::rt::With<Self::Output, R>,
                ) -> ::pullback_kernel::rt::With<Self::Arguments, R> {
                    let (#(#variables,)*) = arguments;
                    #name::pullback::<R>(#(#variables,)* out_bar)
                }

                #has_derived

                fn definition() -> &'static ::pullback_kernel::rt::Definition {
                    static DEFINITION: ::pullback_kernel::rt::Definition = ::pullback_kernel::rt::Definition {
                        name: #name_text,
                        place: #place,
                        primitive: #primitive,
                        texts: &[#(#pieces),*],
                    };
                    &DEFINITION
                }
            }
        }
    }
}

/// Where an item is, as an expression: with its name, what tells it from others.
pub fn place() -> TokenStream {
    quote! {
        ::core::concat!(::core::module_path!(), ":", ::core::file!(), ":", ::core::line!(), ":", ::core::column!())
    }
}

/// A call of the named pullback. That of a kernel with one argument returns its cotangent alone.
fn call_named(path: &Path, scalar: &Ident, variables: &[Ident], out_bar: &Ident) -> TokenStream {
    let call = quote! { #path::<#scalar>(#(#variables,)* #out_bar) };
    if variables.len() == 1 {
        quote! { (#call,) }
    } else {
        call
    }
}
