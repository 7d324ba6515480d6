//! Pages: well formed, self-contained, and safe whatever the names are.

use super::*;
use crate::xml::first_fault;

const HOSTILE: &str = "\"'><script>alert(1)</script>&amp;<img src=x onerror=alert(2)>\u{0}";

/// A page with this text everywhere that a text can be.
fn page_of(text: &str) -> String {
    let mut table = Table::new([text, "b"]);
    table.row([text.into(), 1.0.into()]);
    let plot = Plot::line(text)
        .x(text)
        .y(text)
        .log_y()
        .series(text, &[0.0, 1.0, 2.0], &[1.0, 2.0, 0.0])
        .series(text, &[0.0, 1.0], &[1.0, f64::NAN])
        .points(text, &[0.0], &[1.0])
        .target(text, [1.0, 1.0]);
    let hovered = Plot::line(text).x(text).y(text).series(text, &[0.0, 1.0], &[3.0, 4.0]);
    let paths =
        Plot::paths(text).x(text).y(text).path(text, &[[0.0, 0.0], [1.0, 2.0]]).target(text, [0.0, 1.0]);
    let playback = Playback {
        times: vec![0.0, 1.0],
        positions: vec![vec![[0.0; 3]], vec![[1.0; 3]]],
        names: vec![text.into()],
        ..Playback::default()
    };
    Report::new(text)
        .summary(&[(text, text)])
        .section(text, |s| {
            s.text(text).code(text).table(&table).changes(&[Change::new(text, 1.0, 2.0)]);
            s.plot(&plot).plot(&hovered).plot(&paths).playback(&playback);
        })
        .section("2", |_| {})
        .section("3", |_| {})
        .section("4", |_| {})
        .file(text, Some(12), text)
        .html()
}

/// The names of all tags, in order: what a browser would make of the page.
fn tags(page: &str) -> Vec<&str> {
    page.split('<')
        .skip(1)
        .filter_map(|t| t.split([' ', '>', '\n', '/']).next())
        .filter(|t| !t.is_empty())
        .collect()
}

#[test]
fn hostile_texts_change_no_tag() {
    let (hostile, harmless) = (page_of(HOSTILE), page_of("name"));
    assert_eq!(first_fault(&hostile), None);
    assert_eq!(first_fault(&harmless), None);
    assert!(!hostile.contains("<script>alert") && !hostile.contains("<img"));
    let without_script = |page: &str| page.replace(playback::SCRIPT, "");
    let (hostile, harmless) = (without_script(&hostile), without_script(&harmless));
    let count = |page: &str, tag: &str| tags(page).iter().filter(|t| **t == tag).count();
    for tag in ["script", "img", "a", "p", "td", "th", "dt", "dd", "h1", "h2", "title", "li", "figure", "pre"]
    {
        assert_eq!(count(&hostile, tag), count(&harmless, tag), "<{tag}>");
    }
    assert!(count(&hostile, "title") > 10, "texts under the mouse are there to be escaped");
}

#[test]
fn a_page_needs_no_network() {
    let page = page_of("name");
    let links = page.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "@import", "url(", "src=", "<link", "//cdn"] {
        assert!(!links.contains(outside), "{outside}");
    }
    assert!(page.contains("<meta charset=\"utf-8\">") && page.contains("name=\"viewport\""));
}

#[test]
fn many_sections_have_a_table_of_contents() {
    let with = |count: usize| {
        (0..count).fold(Report::new("x"), |page, i| page.section(format!("Part {i}"), |_| {})).html()
    };
    assert!(!with(3).contains("<nav"));
    let page = with(4);
    for i in 0..4 {
        assert!(page.contains(&format!("<a href=\"#s{i}\">Part {i}</a>")), "{i}");
        assert_eq!(page.matches(&format!("id=\"s{i}\"")).count(), 1, "{i}");
    }
}

#[test]
fn the_player_comes_once_and_only_when_needed() {
    assert!(!Report::new("x").html().contains("<script"));
    let playback = || Playback { times: vec![0.0], positions: vec![vec![[0.0; 3]]], ..Playback::default() };
    let page = Report::new("x").section("two", |s| {
        s.playback(&playback()).playback(&playback());
    });
    assert_eq!(page.html().matches("<script>").count(), 1);
}

#[test]
fn paragraphs_are_apart_and_files_are_linked() {
    let page = Report::new("x")
        .section("text", |s| {
            s.text("one\n\ntwo\nlines\n\n\n");
        })
        .file("a b.csv", Some(2_345), "loss & more")
        .html();
    assert!(page.contains("<p>one</p>\n<p>two\nlines</p>\n</section>"));
    assert!(page.contains(
        "<a href=\"./a%20b.csv\">a b.csv</a></td><td class=\"pb-n\">2.3 kB</td><td>loss &amp; more</td>"
    ));
}
