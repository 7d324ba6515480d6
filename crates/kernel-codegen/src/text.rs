//! C++ text with holes for what only run time knows.

use proc_macro2::TokenStream;
use quote::quote;

/// C++ with holes.
#[derive(Clone, Default)]
pub struct Text {
    parts: Vec<Part>,
}

#[derive(Clone)]
enum Part {
    Text(String),
    /// A `Piece` of the runtime, and how a person should read it.
    Hole(TokenStream, String),
}

impl Text {
    pub fn hole(piece: TokenStream, readable: String) -> Text {
        Text { parts: vec![Part::Hole(piece, readable)] }
    }

    pub fn push(&mut self, other: Text) {
        for part in other.parts {
            match (self.parts.last_mut(), part) {
                (Some(Part::Text(last)), Part::Text(text)) => last.push_str(&text),
                (_, part) => self.parts.push(part),
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The `Piece`s as tokens.
    pub fn pieces(&self) -> TokenStream {
        let pieces = self.parts.iter().map(|part| match part {
            Part::Text(text) => quote! { ::pullback_kernel::rt::Piece::Text(#text) },
            Part::Hole(piece, _) => piece.clone(),
        });
        quote! { &[#(#pieces),*] }
    }

    pub fn readable(&self) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Hole(_, readable) => readable.as_str(),
            })
            .collect()
    }
}

/// Joins strings and `Text`s: `text!["a", b, "c"]`.
macro_rules! text {
    ($($part:expr),* $(,)?) => {{
        let mut text = Text::default();
        $(text.push($part.into());)*
        text
    }};
}
pub(crate) use text;

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        text.to_owned().into()
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text { parts: if text.is_empty() { Vec::new() } else { vec![Part::Text(text)] } }
    }
}

pub fn join(parts: impl IntoIterator<Item = Text>) -> Text {
    let mut text = Text::default();
    for (i, part) in parts.into_iter().enumerate() {
        if i > 0 {
            text.push(", ".into());
        }
        text.push(part);
    }
    text
}
