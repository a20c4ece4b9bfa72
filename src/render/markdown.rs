//! Bodies on a terminal: styled markdown, by tui-markdown.

use anstyle::Style;
use ratatui_core::style::Style as TuiStyle;
use ratatui_core::text::Line;
use tui_markdown::{Options, StyleSheet, from_str_with_options};

use super::{Screen, wrap};
use crate::escape::escape_lines;

/// The longest body that is styled, in bytes. Longer ones stay verbatim.
const MAX_BYTES: usize = 256 * 1024;

/// The styles of the parts of a body.
#[derive(Debug, Clone, Copy)]
struct MarkdownTheme;

impl StyleSheet for MarkdownTheme {
    fn heading(&self, level: u8) -> TuiStyle {
        if level <= 2 { TuiStyle::new().bold().underlined() } else { TuiStyle::new().bold() }
    }

    fn code(&self) -> TuiStyle {
        TuiStyle::new().cyan()
    }

    fn link(&self) -> TuiStyle {
        TuiStyle::new().blue().underlined()
    }

    fn blockquote(&self) -> TuiStyle {
        TuiStyle::new().italic()
    }
}

/// Returns a body as styled markdown of at most `columns` columns, except for code; `None` if it is too long. The parser
/// decodes entities such as `&#27;`, so that control characters are replaced behind it.
pub(super) fn rendered(body: &str, screen: Screen, columns: usize) -> Option<String> {
    if body.len() > MAX_BYTES {
        return None;
    }
    let options = Options::new(MarkdownTheme).table_width(u16::try_from(columns).unwrap_or(u16::MAX));
    let text = from_str_with_options(body, &options);
    let mut out = String::with_capacity(body.len());
    let mut is_code = false;
    for line in &text.lines {
        let is_fence = plain(line).trim_start_matches([' ', '>']).starts_with("```");
        is_code ^= is_fence;
        let styled = styled(line, screen);
        // A line break would change the meaning of code.
        if is_code || is_fence {
            out.push_str(&styled);
        } else {
            out.push_str(&wrap::wrap(&styled, columns, hang(&plain(line))));
        }
        out.push('\n');
    }
    out.truncate(out.trim_end_matches('\n').len());
    Some(out)
}

/// Returns the text of a line without styles.
fn plain(line: &Line<'_>) -> String {
    line.spans.iter().map(|span| &*span.content).collect()
}

/// Returns a line with its styles, without control characters.
fn styled(line: &Line<'_>, screen: Screen) -> String {
    let text = |content: &str| escape_lines(content).replace('\n', " ");
    let style = |style: TuiStyle| Style::from(line.style.patch(style));
    line.spans.iter().map(|span| screen.styled(style(span.style), &text(&span.content))).collect()
}

/// Returns the hanging indent of a list item or quote, in columns from the beginning of its line.
fn hang(line: &str) -> usize {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match line.get(digits..).unwrap_or_default() {
        rest if digits > 0 && rest.starts_with(". ") => digits + 2,
        rest if digits == 0 && (rest.starts_with("- ") || rest.starts_with("> ")) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str, columns: usize) -> String {
        rendered(body, Screen::default(), columns).unwrap()
    }

    #[test]
    fn markdown_is_styled_and_wrapped() {
        let body = "# Title\n\nSome **bold** words and `code` in a line that is long.\n\n- one item that goes on and on\n- two\n\n```sh\nls   --all --long-option-that-goes-on\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n";
        assert_eq!(
            shown(body, 24),
            "# Title\n\nSome bold words and code\nin a line that is long.\n\n- one item that goes on\n  and on\n- two\n\n\
             ```sh\nls   --all --long-option-that-goes-on\n```\n\n┌───┬───┐\n│ a │ b │\n├───┼───┤\n│ 1 │ 2 │\n└───┴───┘"
        );
        let colored = rendered("**bold** &#27;[31m", Screen { has_color: true, ..Screen::default() }, 40).unwrap();
        assert_eq!(colored, "\u{1b}[1mbold\u{1b}[0m ␛[31m");
    }

    #[test]
    fn entities_never_become_control_characters() {
        let text = shown("&#27;]8;;x&#7; &#x202e; &#x9b; &#13; [[link]] <b>html</b>", 60);
        assert!(!text.contains(|c: char| c.is_control() || c == '\u{202e}'), "{text:?}");
        assert!(text.contains("[[link]] <b>html</b>"), "{text}");
    }
}
