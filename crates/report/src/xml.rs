//! Escaping: names come from users, and a page must show them, not run them.

/// Text that is safe between tags and inside quoted attributes, of both HTML and SVG.
///
/// Control characters, which XML cannot hold at all, become U+FFFD.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Text as a JSON string with its quotes, safe inside a `<script>` element: no `<`, `>` or `&` is left.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '<' | '>' | '&' | '\0'..='\u{1f}' | '\u{7f}' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            _ => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A file name as a relative link: everything but plain ASCII letters, digits and `-_.` is percent-encoded.
///
/// The leading `./` keeps `javascript:...` a file name.
pub(crate) fn link(name: &str) -> String {
    let mut out = String::from("./");
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => out.push(char::from(byte)),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// The first tag that is not closed, or closed too early; `None` when the tags of `xml` are balanced and every `<`
/// and `&` starts something well formed. Knows the few rules of HTML that our pages use: elements without an end, and
/// text that is not parsed. Enough of a parser for tests.
#[cfg(test)]
pub(crate) fn first_fault(xml: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(start) = rest.find(['<', '&']) {
        let here = &rest[start..];
        if here.starts_with('&') {
            let end = here.find(';').filter(|&end| end < 8);
            let Some(end) = end else { return Some(format!("bare & at {:.40}", here)) };
            rest = &here[end..];
            continue;
        }
        let Some(end) = end_of_tag(here) else { return Some(format!("no end of {:.40}", here)) };
        let tag = &here[1..end];
        rest = &here[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Some(format!("</{name}> closes nothing"));
            }
        } else if !tag.ends_with('/') && tag != "!DOCTYPE html" {
            let name = tag.split_whitespace().next().unwrap_or("");
            if ["meta", "input"].contains(&name) {
                continue;
            }
            if ["script", "style"].contains(&name) {
                let Some(end) = rest.find("</") else { return Some(format!("<{name}> is never closed")) };
                rest = &rest[end..];
            }
            if !name.chars().next().is_some_and(|c| c.is_ascii_alphabetic()) {
                return Some(format!("<{tag:.40}> is no tag"));
            }
            open.push(name);
        }
    }
    open.pop().map(|name| format!("<{name}> is never closed"))
}

/// Where the `>` of a tag is, skipping quoted attribute values, which may not hold a `<`.
#[cfg(test)]
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quoted = false;
    for (i, c) in tag.char_indices().skip(1) {
        match c {
            '"' => quoted = !quoted,
            '>' if !quoted => return Some(i),
            '<' => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_dangerous_is_left() {
        assert_eq!(escape(r#"<a href='x'>"&"</a>"#), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;&quot;&lt;/a&gt;");
        assert_eq!(escape("a\u{0}b\u{1b}c\nd"), "a\u{fffd}b\u{fffd}c\nd");
        assert_eq!(json_string("</script>\"\\\n&"), r#""\u003c/script\u003e\"\\\u000a\u0026""#);
        assert_eq!(link("javascript:alert(1)"), "./javascript%3Aalert%281%29");
        assert_eq!(link("a b#?\".csv"), "./a%20b%23%3F%22.csv");
    }

    #[test]
    fn the_checker_finds_faults() {
        assert_eq!(first_fault(r#"<a b="x > y"><c/>&lt;</a>"#), None);
        assert_eq!(first_fault("<!DOCTYPE html><p><input><script>1 < 2</script></p>"), None);
        for bad in [
            "<a>",
            "<a></b>",
            "</a>",
            "<a>x & y</a>",
            r#"<a b="<">x</a>"#,
            "<a",
            "x < y",
            "<a><b></a></b>",
            "<script>",
        ] {
            assert!(first_fault(bad).is_some(), "{bad}");
        }
    }
}
