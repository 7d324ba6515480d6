//! The head of a kernel: its scalar, arguments, result and attributes.

use proc_macro2::TokenStream;
use syn::parse::Parser;
use syn::visit_mut::{VisitMut, visit_type_mut};
use syn::{
    Error, FnArg, GenericParam, Ident, ItemFn, Meta, Pat, Path, Result, ReturnType, Type, TypeParamBound,
};

pub struct Signature {
    /// The type parameter bounded by `Real`.
    pub scalar: Ident,
    pub arguments: Vec<Argument>,
    pub result: Type,
    pub options: Options,
}

pub struct Argument {
    pub name: Ident,
    pub mutable: bool,
    pub ty: Type,
}

#[derive(Default)]
pub struct Options {
    /// `pullback = NAME`: the kernel that is this kernel's pullback.
    pub pullback: Option<Path>,
    /// `primitive`: the body is plain Rust, and the CUDA prelude has a function of the same name.
    pub primitive: bool,
    /// `force = NAME`: a kernel to make of this one, minus its gradient by its first argument.
    pub force: Option<Ident>,
}

impl Options {
    fn parse(attributes: TokenStream) -> Result<Options> {
        let mut options = Options::default();
        let metas =
            syn::punctuated::Punctuated::<Meta, syn::Token![,]>::parse_terminated.parse2(attributes)?;
        for meta in metas {
            match &meta {
                Meta::Path(path) if path.is_ident("primitive") => options.primitive = true,
                Meta::NameValue(pair) if pair.path.is_ident("pullback") => {
                    let syn::Expr::Path(value) = &pair.value else {
                        return Err(Error::new_spanned(
                            &pair.value,
                            "name the kernel that is the pullback: `#[kernel(pullback = name)]`",
                        ));
                    };
                    options.pullback = Some(value.path.clone());
                }
                Meta::NameValue(pair) if pair.path.is_ident("force") => {
                    let ident = match &pair.value {
                        syn::Expr::Path(value) => value.path.get_ident(),
                        _ => None,
                    };
                    let Some(ident) = ident else {
                        let what = "give the force a name of its own: `#[kernel(force = name)]`";
                        return Err(Error::new_spanned(&pair.value, what));
                    };
                    options.force = Some(ident.clone());
                }
                other => {
                    return Err(Error::new_spanned(
                        other,
                        "unknown option: `#[kernel]`, `#[kernel(pullback = name)]` and `#[kernel(force = name)]` are what \
                         there is",
                    ));
                }
            }
        }
        Ok(options)
    }
}

impl Signature {
    pub fn parse(attributes: TokenStream, item: &ItemFn) -> Result<Signature> {
        let options = Options::parse(attributes)?;
        let sig = &item.sig;
        let not_default: Option<&dyn quote::ToTokens> = match &sig.safety {
            syn::Safety::Default => None,
            word => Some(word),
        };
        let refuse: [(Option<&dyn quote::ToTokens>, &str); 5] = [
            (not_default, "kernels touch no memory: remove the word"),
            (sig.constness.as_ref().map(|t| t as _), "a kernel is not `const`: remove the word"),
            (sig.asyncness.as_ref().map(|t| t as _), "a kernel is a pure function: remove `async`"),
            (sig.abi.as_ref().map(|t| t as _), "a kernel is a plain function: remove `extern`"),
            (sig.variadic.as_ref().map(|t| t as _), "a kernel has a fixed number of arguments"),
        ];
        for (token, message) in refuse {
            if let Some(token) = token {
                return Err(Error::new_spanned(token, message));
            }
        }
        let scalar = scalar(item)?;
        let arguments = sig.inputs.iter().map(argument).collect::<Result<Vec<_>>>()?;
        let result = match &sig.output {
            ReturnType::Type(_, ty) => (**ty).clone(),
            ReturnType::Default => {
                return Err(Error::new_spanned(
                    &sig.ident,
                    "a kernel returns a value, because it can change nothing else: write `-> Type`",
                ));
            }
        };
        refuse_borrows(&result)?;
        let signature = Signature { scalar, arguments, result, options };
        signature.check_force()?;
        Ok(signature)
    }

    /// An energy is a number, and there is a force where it depends on numbers.
    fn check_force(&self) -> Result<()> {
        let Some(force) = &self.options.force else { return Ok(()) };
        let is_scalar = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(&self.scalar));
        if !is_scalar(&self.result) {
            let what = format!("a force is minus the gradient of one number: return `{}`", self.scalar);
            return Err(Error::new_spanned(&self.result, what));
        }
        match self.arguments.first() {
            Some(first) if self.holds_numbers(&first.ty) => Ok(()),
            Some(first) => {
                Err(Error::new_spanned(&first.ty, "a force is by the first argument: let it be of numbers"))
            }
            None => Err(Error::new_spanned(force, "a force is by the first argument: there is none")),
        }
    }

    /// Does the type surely consist of numbers? It names the scalar, and is no tuple, which could hold an index too.
    pub fn holds_numbers(&self, ty: &Type) -> bool {
        match ty {
            Type::Group(group) => self.holds_numbers(&group.elem),
            Type::Array(array) => self.holds_numbers(&array.elem),
            Type::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|segment| segment.ident == self.scalar || !segment.arguments.is_none()),
            _ => false,
        }
    }

    /// `ty` with the scalar replaced by `f64`: how a type is named where no scalar is chosen yet.
    pub fn at_f64(&self, ty: &Type) -> Type {
        struct Replace<'a>(&'a Ident);
        impl VisitMut for Replace<'_> {
            fn visit_type_mut(&mut self, ty: &mut Type) {
                visit_type_mut(self, ty);
                if let Type::Path(path) = ty
                    && path.qself.is_none()
                    && path.path.is_ident(self.0)
                {
                    *ty = syn::parse_quote!(f64);
                }
            }
        }
        let mut ty = ty.clone();
        Replace(&self.scalar).visit_type_mut(&mut ty);
        ty
    }
}

fn scalar(item: &ItemFn) -> Result<Ident> {
    let generics = &item.sig.generics;
    let mut scalar = None;
    for param in &generics.params {
        match param {
            GenericParam::Type(param) if scalar.is_none() => scalar = Some(param),
            GenericParam::Type(param) => {
                return Err(Error::new_spanned(param, "a kernel has one type parameter: its scalar"));
            }
            GenericParam::Lifetime(param) => {
                return Err(Error::new_spanned(
                    param,
                    "a kernel takes values, not references: remove lifetimes",
                ));
            }
            GenericParam::Const(param) => {
                return Err(Error::new_spanned(
                    param,
                    "a kernel has no const parameters: write a kernel for each size, or use a `const` item",
                ));
            }
        }
    }
    let is_real = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|s| s.ident == "Real"),
        _ => false,
    };
    match scalar {
        Some(param) if param.bounds.len() == 1 && param.bounds.iter().all(is_real) => {
            if let Some(clause) = &generics.where_clause {
                return Err(Error::new_spanned(clause, "a kernel has no `where`: its scalar is any `Real`"));
            }
            Ok(param.ident.clone())
        }
        Some(param) => Err(Error::new_spanned(param, "a kernel's scalar is any `Real`: write `<R: Real>`")),
        None => Err(Error::new_spanned(
            &item.sig.ident,
            "a kernel is generic over its scalar: write `<R: Real>` after the name",
        )),
    }
}

fn argument(input: &FnArg) -> Result<Argument> {
    let FnArg::Typed(input) = input else {
        return Err(Error::new_spanned(
            input,
            "a kernel is a free function: pass `self` as an ordinary argument",
        ));
    };
    if let Some(attribute) = input.attrs.first() {
        return Err(Error::new_spanned(attribute, "an argument of a kernel has no attributes: remove it"));
    }
    refuse_borrows(&input.ty)?;
    match &*input.pat {
        Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => Ok(Argument {
            name: pat.ident.clone(),
            mutable: pat.mutability.is_some(),
            ty: (*input.ty).clone(),
        }),
        other => {
            Err(Error::new_spanned(other, "name the argument, and take it apart with `let` in the body"))
        }
    }
}

fn refuse_borrows(ty: &Type) -> Result<()> {
    match ty {
        Type::Reference(_) => Err(Error::new_spanned(
            ty,
            "a kernel takes and returns values, so that nothing can alias: remove the `&`",
        )),
        Type::Slice(_) => Err(Error::new_spanned(ty, "a kernel's arrays have a fixed size: write `[T; N]`")),
        Type::ImplTrait(_) | Type::TraitObject(_) | Type::Ptr(_) | Type::FnPtr(_) => Err(Error::new_spanned(
            ty,
            "a kernel takes numbers, vectors, arrays, structs of these, and indices",
        )),
        Type::Group(group) => refuse_borrows(&group.elem),
        Type::Paren(paren) => refuse_borrows(&paren.elem),
        Type::Path(path) if path.path.get_ident().is_some_and(is_number) => Err(Error::new_spanned(
            ty,
            "a kernel's numbers are its scalar: write `R` (and `usize` for an index)",
        )),
        Type::Path(path) if path.path.segments.last().is_some_and(|s| s.ident == "Vec") => {
            Err(Error::new_spanned(ty, "a kernel's arrays have a fixed size: write `[R; N]`"))
        }
        Type::Array(array) => refuse_borrows(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().try_for_each(refuse_borrows),
        _ => Ok(()),
    }
}

/// A number or a truth value that is not the kernel's scalar.
fn is_number(ident: &Ident) -> bool {
    const OTHERS: [&str; 13] =
        ["f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "bool"];
    OTHERS.iter().any(|name| ident == name)
}
