//! Words in messages: the nearest of several names, lists of names, what a value looks like; and globs.

/// Longest text of a file that a message repeats, in characters.
const MOST_SHOWN: usize = 60;

/// Names that a message lists before it says how many more there are.
const MOST_LISTED: usize = 12;

/// A text of the file, quoted, without control characters, and cut when it is long.
pub(crate) fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(MOST_SHOWN).collect();
    let escaped: String = cut.chars().flat_map(char::escape_debug).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!("`{}{more}`", escaped.replace("\\\"", "\"").replace("\\'", "'"))
}

/// `a`, `b` and `c`.
pub(crate) fn list<S: AsRef<str>>(names: &[S]) -> String {
    joined(names.len(), names.iter().map(|name| quoted(name.as_ref())))
}

/// a, b and c.
pub(crate) fn joined(count: usize, words: impl Iterator<Item = String>) -> String {
    let shown: Vec<String> = words.take(MOST_LISTED).collect();
    if count > MOST_LISTED {
        return format!("{} and {} more", shown.join(", "), count - MOST_LISTED);
    }
    match shown.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// 1 particle, 2 particles, 3 bodies.
pub(crate) fn counted(count: usize, one: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {}", plural(one)) }
}

/// particles, bodies.
pub(crate) fn plural(one: &str) -> String {
    one.strip_suffix('y').map_or(format!("{one}s"), |stem| format!("{stem}ies"))
}

/// The candidate that `word` is most likely a slip of, if one is near enough.
pub fn nearest<'c, S>(word: &str, candidates: impl IntoIterator<Item = &'c S>) -> Option<&'c str>
where
    S: AsRef<str> + 'c + ?Sized,
{
    nearest_few(word, candidates).first().copied()
}

/// The candidates that `word` is most likely a slip of, best first: three at most, and none that is not near.
pub fn nearest_few<'c, S>(word: &str, candidates: impl IntoIterator<Item = &'c S>) -> Vec<&'c str>
where
    S: AsRef<str> + 'c + ?Sized,
{
    const MOST: usize = 3;
    let word: Vec<char> = word.chars().take(MOST_SHOWN + 1).flat_map(char::to_lowercase).collect();
    let limit = (word.len() / 3).max(1);
    let mut near: Vec<(usize, &str)> = candidates
        .into_iter()
        .map(AsRef::as_ref)
        .filter(|candidate| candidate.chars().count().abs_diff(word.len()) <= limit)
        .map(|candidate| (distance(&word, &candidate.to_lowercase().chars().collect::<Vec<_>>()), candidate))
        .filter(|(distance, _)| *distance <= limit && *distance < word.len())
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().take(MOST).map(|(_, candidate)| candidate).collect()
}

/// The nearest candidate as a question, if there is one, before a sentence that starts with a small letter.
pub(crate) fn suggest<'c, S>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c S>,
    sentence: impl Into<String>,
) -> String
where
    S: AsRef<str> + 'c + ?Sized,
{
    did_you_mean(nearest(word, candidates).map(quoted), sentence)
}

/// A suggestion as a question, if there is one, before a sentence that starts with a small letter.
pub(crate) fn did_you_mean(suggestion: Option<String>, sentence: impl Into<String>) -> String {
    let mut sentence = sentence.into();
    let Some(suggestion) = suggestion else {
        return sentence;
    };
    if let Some(first) = sentence.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("did you mean {suggestion}? {sentence}")
}

/// Edit distance with swaps of neighbours (optimal string alignment: Boytsov 2011, section 2.1):
/// insertions, deletions, replacements and swaps each cost 1.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// Whether `pattern` covers `name`: `*` stands for any characters, `?` for one, everything else for itself.
///
/// Greedy, with a return to the last `*` only: time of at most the product of the lengths, for any pattern.
pub fn glob(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            star = Some((p, n));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == b'?' || pattern[p] == name[n]) {
            (p, n) = (p + 1, n + 1);
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            (p, n) = (at + 1, taken + 1);
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_known_pairs() {
        let of = |a: &str, b: &str| distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(of("kitten", "sitting"), 3);
        assert_eq!(of("chian", "chain"), 1);
        assert_eq!(of("", "abc"), 3);
        assert_eq!(of("abc", "abc"), 0);
        assert_eq!(of("flaw", "lawn"), 2);
    }

    #[test]
    fn the_nearest_word_is_near() {
        let words = ["mass", "masses", "position"];
        assert_eq!(nearest("mas", &words), Some("mass"));
        assert_eq!(nearest("MASS", &words), Some("mass"));
        assert_eq!(nearest("postion", &words), Some("position"));
        assert_eq!(nearest("colour", &words), None);
        assert_eq!(nearest("w", &["x"]), None);
        assert_eq!(nearest(&"m".repeat(1 << 20), &words), None);
    }

    #[test]
    fn globs() {
        for (pattern, name, matches) in [
            ("ball", "ball", true),
            ("ball", "balls", false),
            ("*", "", true),
            ("*.mass", "ball.mass", true),
            ("chain[*]", "chain[12]", true),
            ("chain[?]", "chain[12]", false),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxc", false),
        ] {
            assert_eq!(glob(pattern, name), matches, "{pattern} {name}");
        }
        assert!(!glob(&"*a".repeat(500), &"a".repeat(499)));
    }

    #[test]
    fn lists_are_cut() {
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(list::<&str>(&[]), "none");
        assert!(list(&vec!["a"; 20]).ends_with("and 8 more"));
        assert_eq!(quoted("a\n\u{1b}"), "`a\\n\\u{1b}`");
    }
}
