//! `cargo xtask expand NAME`: what `#[kernel]` makes of a kernel, readable.

use crate::Command;
use crate::workspace;
use anyhow::{Context, Result, bail};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::Visit;
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, ExprLit, ImplItem, Item, ItemFn, Lit, parse_quote};

pub const COMMAND: Command = Command {
    name: "expand",
    usage: "NAME",
    about: "Print what #[kernel] makes of the function NAME: forward and pullback in Rust, and the CUDA C++.",
    run,
};

fn run(arguments: &[String]) -> Result<()> {
    let [name] = arguments else { bail!("which kernel? usage: cargo xtask expand {}", COMMAND.usage) };
    let kernels = kernels(&workspace::root())?;
    let found: Vec<&Kernel> = kernels.iter().filter(|kernel| kernel.name == *name).collect();
    if found.is_empty() {
        bail!("{}", not_found(name, &kernels));
    }
    for kernel in found {
        println!("{}", expand(kernel)?);
    }
    Ok(())
}

/// A function marked `#[kernel]`.
struct Kernel {
    name: String,
    place: String,
    attributes: TokenStream,
    item: ItemFn,
}

/// All kernels in the repository's Rust files.
fn kernels(root: &Path) -> Result<Vec<Kernel>> {
    let mut kernels = Vec::new();
    for path in rust_files(root)? {
        let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
        // Some tests are programs that do not compile.
        let Ok(file) = syn::parse_file(&text) else { continue };
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let mut visitor = Kernels { place: shown, found: Vec::new() };
        visitor.visit_file(&file);
        kernels.extend(visitor.found);
    }
    Ok(kernels)
}

fn rust_files(root: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_path_buf()]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let skipped = name.starts_with('.') || matches!(name.as_str(), "target" | "refused");
            if path.is_dir() && !skipped {
                folders.push(path);
            } else if name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

struct Kernels {
    place: String,
    found: Vec<Kernel>,
}

impl Kernels {
    fn add(&mut self, item: &ItemFn) {
        let is_kernel = |attribute: &&Attribute| {
            attribute.path().segments.last().is_some_and(|segment| segment.ident == "kernel")
        };
        let Some(attribute) = item.attrs.iter().find(is_kernel) else { return };
        let attributes = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let mut item = item.clone();
        item.attrs.retain(|attribute| attribute.path().is_ident("doc"));
        let line = item.sig.ident.span().start().line;
        self.found.push(Kernel {
            name: item.sig.ident.to_string().trim_start_matches("r#").to_owned(),
            place: format!("{}:{line}", self.place),
            attributes,
            item,
        });
    }
}

impl<'ast> Visit<'ast> for Kernels {
    fn visit_item_fn(&mut self, item: &'ast ItemFn) {
        self.add(item);
        syn::visit::visit_item_fn(self, item);
    }

    // Kernels that a macro declares, such as those of the language tests, stand in its tokens.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Ok(file) = syn::parse2::<syn::File>(mac.tokens.clone()) {
            self.visit_file(&file);
        }
    }
}

/// The error for a name that no kernel has, with those that are near.
fn not_found(name: &str, kernels: &[Kernel]) -> String {
    let mut near: Vec<(usize, &str)> = kernels
        .iter()
        .map(|kernel| (distance(name, &kernel.name), kernel.name.as_str()))
        .filter(|(distance, candidate)| *distance <= 2 + name.len() / 4 || candidate.contains(name))
        .collect();
    near.sort_unstable();
    near.dedup();
    let near: Vec<&str> = near.into_iter().map(|(_, name)| name).take(8).collect();
    match near.as_slice() {
        [] => format!("there is no kernel `{name}` among the {} in the repository", kernels.len()),
        near => format!("there is no kernel `{name}`; near it: {}", near.join(", ")),
    }
}

/// How many letters to change, insert or remove (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// The kernel, its generated Rust and its CUDA C++.
fn expand(kernel: &Kernel) -> Result<String> {
    let (attributes, item) = (kernel.attributes.clone(), kernel.item.to_token_stream());
    let cuda = pullback_kernel_codegen::readable_cuda(attributes.clone(), item.clone())
        .map_err(anyhow::Error::msg)
        .with_context(|| kernel.place.clone())?;
    let expanded: syn::File = syn::parse2(pullback_kernel_codegen::kernel(attributes, item))?;
    Ok(format!(
        "// {} in {}\n\n// ---- Rust: forward, for any scalar ----\n\n{}\n// ---- Rust: pullback ----\n\n{}\n\
         // ---- CUDA C++ ----\n\n{}",
        kernel.name,
        kernel.place,
        forward(&expanded),
        pullbacks(&expanded),
        cuda,
    ))
}

fn forward(file: &syn::File) -> String {
    let functions = file.items.iter().filter(|item| matches!(item, Item::Fn(_)));
    pretty(functions.cloned().collect())
}

/// The functions of the kernel's own `impl`.
fn pullbacks(file: &syn::File) -> String {
    let mut functions = Vec::new();
    for item in &file.items {
        if let Item::Impl(item) = item
            && item.trait_.is_none()
        {
            functions.extend(item.items.iter().filter_map(|item| match item {
                ImplItem::Fn(function) => syn::parse2(function.to_token_stream()).ok(),
                _ => None,
            }));
        }
    }
    pretty(functions)
}

/// The items as a person would format them, without what only the compiler wants to read.
fn pretty(mut items: Vec<Item>) -> String {
    for item in &mut items {
        if let Item::Fn(function) = item {
            function.attrs.retain(|attribute| attribute.path().is_ident("doc"));
        }
        Readable.visit_item_mut(item);
    }
    let file = items.iter().map(ToTokens::to_token_stream).collect::<TokenStream>();
    syn::parse2(file).map(|file| prettyplease::unparse(&file)).unwrap_or_default()
}

/// Turns calls of the runtime back into the operators that they stand for.
struct Readable;

impl VisitMut for Readable {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        syn::visit_mut::visit_expr_mut(self, expr);
        let Expr::Call(call) = &*expr else { return };
        let Expr::Path(function) = &*call.func else { return };
        let names: Vec<String> = function.path.segments.iter().map(|s| s.ident.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let readable: Option<Expr> = match (names.as_slice(), arguments.as_slice()) {
            (["pullback_kernel", "rt", "Real", "from_f64"], [number]) => Some(number_without_suffix(number)),
            (["pullback_kernel", "rt", "constant" | "condition" | "bit"], [value]) => Some((*value).clone()),
            (["pullback_kernel", "rt", name], [Expr::Tuple(pair)]) => {
                let parts: Vec<&Expr> = pair.elems.iter().collect();
                match (*name, parts.as_slice()) {
                    ("times", [a, b]) => Some(parse_quote!(#a * #b)),
                    ("over", [a, b]) => Some(parse_quote!(#a / #b)),
                    ("times_plus", [a, b, c]) => Some(parse_quote!(#a * #b + #c)),
                    ("times_minus", [a, b, c]) => Some(parse_quote!(#a * #b - #c)),
                    ("minus_times", [a, b, c]) => Some(parse_quote!(#c - #a * #b)),
                    _ => None,
                }
            }
            (["pullback_kernel", "rt", "not"], [a]) => Some(parse_quote!(!#a)),
            (["pullback_kernel", "rt", name], [Expr::Reference(place), value]) => {
                let place = &place.expr;
                match *name {
                    "accumulate" => Some(parse_quote!(#place += #value)),
                    "subtract" => Some(parse_quote!(#place -= #value)),
                    _ => None,
                }
            }
            (["pullback_kernel", "rt", name], [a, b]) => match *name {
                "lt" => Some(parse_quote!(#a < #b)),
                "le" => Some(parse_quote!(#a <= #b)),
                "eq" => Some(parse_quote!(#a == #b)),
                "ne" => Some(parse_quote!(#a != #b)),
                "and" => Some(parse_quote!(#a & #b)),
                "or" => Some(parse_quote!(#a | #b)),
                _ => None,
            },
            _ => None,
        };
        match readable {
            Some(readable) => *expr = readable,
            None => without_turbofish(expr),
        }
    }

    fn visit_item_mut(&mut self, item: &mut Item) {
        syn::visit_mut::visit_item_mut(self, item);
        Plain.visit_item_mut(item);
    }
}

/// Takes the runtime's path off names. Afterwards, because by that path [`Readable`] knows them.
struct Plain;

impl VisitMut for Plain {
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        syn::visit_mut::visit_path_mut(self, path);
        let runtime = path.segments.iter().map(|s| &s.ident).take(2).eq(["pullback_kernel", "rt"].iter());
        if runtime {
            path.leading_colon = None;
            path.segments = path.segments.iter().skip(2).cloned().collect();
        }
    }
}

fn number_without_suffix(number: &Expr) -> Expr {
    match number {
        Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) => {
            let digits = float.base10_digits();
            let point = if digits.contains(['.', 'e']) { "" } else { ".0" };
            let number = syn::LitFloat::new(&format!("{digits}{point}"), float.span());
            parse_quote!(#number)
        }
        other => other.clone(),
    }
}

/// The scalar of a call is the kernel's, always.
fn without_turbofish(expr: &mut Expr) {
    if let Expr::Call(call) = expr
        && let Expr::Path(function) = &mut *call.func
        && let Some(last) = function.path.segments.last_mut()
    {
        last.arguments = syn::PathArguments::None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel(text: &str) -> Result<Kernel> {
        let mut kernels = Kernels { place: "test.rs".into(), found: Vec::new() };
        kernels.visit_file(&syn::parse_file(text)?);
        kernels.found.pop().context("no kernel")
    }

    #[test]
    fn builtins_are_found() -> Result<()> {
        let kernels = kernels(&workspace::root())?;
        let normalize = kernels.iter().find(|kernel| kernel.name == "normalize").context("normalize")?;
        assert!(normalize.place.starts_with("crates/kernel/src/math/vector.rs:"), "{}", normalize.place);
        assert_eq!(normalize.attributes.to_string(), "pullback = normalize_pullback");
        Ok(())
    }

    #[test]
    fn every_kernel_expands() -> Result<()> {
        let kernels = kernels(&workspace::root())?;
        assert!(kernels.len() > 60, "{}", kernels.len());
        for kernel in &kernels {
            expand(kernel)?;
        }
        Ok(())
    }

    #[test]
    fn the_expansion_can_be_read() -> Result<()> {
        let text =
            expand(&kernel("/// a b\n#[kernel]\nfn area<R: Real>(a: R, b: R) -> R { 0.5 * a * b }\n")?)?;
        for line in [
            "// area in test.rs:3",
            "/// a b",
            "fn area<R: Real>(a_0: R, b_1: R) -> R {",
            "    let t_2 = 0.5 * a_0;",
            "    let t_3 = t_2 * b_1;",
            "    t_3_bar += out_bar;",
            "pub fn pullback<R: Real>(a_0: R, b_1: R, out_bar: R) -> (R, R) {",
            "template<class R> PB R area(R a_0, R b_1) {",
            "    auto t_3 = t_2 * b_1;",
        ] {
            assert!(text.lines().any(|l| l == line), "no line `{line}` in:\n{text}");
        }
        assert!(!text.contains("pullback_kernel"), "{text}");
        Ok(())
    }

    /// Ends with the fix, which is to copy what it prints.
    #[test]
    fn the_page_quotes_the_expansion() -> Result<()> {
        let root = workspace::root();
        let page = fs::read_to_string(root.join("docs/kernels.md"))?;
        let kernels = kernels(&root)?;
        let energy = kernels.iter().find(|kernel| kernel.name == "energy").context("energy")?;
        let text = expand(energy)?;
        for part in text.split("// ----").filter(|part| part.contains('\n')).skip(1) {
            let code = part.split_once("\n\n").map_or(part, |(_, code)| code).trim();
            assert!(page.contains(code), "docs/kernels.md does not quote this:\n{code}");
        }
        Ok(())
    }

    #[test]
    fn kernels_in_modules_functions_and_macros_are_found() -> Result<()> {
        let text = "mod a { fn b() { #[pullback_kernel::kernel] fn inner<R: Real>(x: R) -> R { x } } }";
        assert_eq!(kernel(text)?.name, "inner");
        assert_eq!(kernel("m! { #[kernel] fn r#type<R: Real>(x: R) -> R { x } }")?.name, "type");
        Ok(())
    }

    #[test]
    fn near_names_are_suggested() -> Result<()> {
        let kernels = [kernel("#[kernel] fn normalize<R: Real>(x: R) -> R { x }")?];
        assert_eq!(not_found("normalise", &kernels), "there is no kernel `normalise`; near it: normalize");
        assert_eq!(not_found("zz", &kernels), "there is no kernel `zz` among the 1 in the repository");
        Ok(())
    }

    #[test]
    fn distances() {
        assert_eq!((distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")), (3, 3, 0));
    }
}
