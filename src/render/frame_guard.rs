//! Escapes text of notes that could be mistaken for the frame of an answer, or for the tags in which an agent tool wraps
//! the text of a hook.

use std::borrow::Cow;

use super::{BANNER, SOURCE};

/// The beginning of the heading of a note in a bundle.
pub(super) const NOTE_MARK: &str = "## Note: ";
/// The line above and below the text of a note in a bundle.
pub(super) const RULE: &str = "---";

/// The beginnings of the headings of answers, folded by [`folded`].
const HEADINGS: [&str; 4] = ["note:", "qipucontextbundle", "qipuexpansion", "qipu:thememoryofthisproject"];
/// The characters of the banner and of the line that names the source by which each is recognized.
const BANNER_CHARS: usize = 19;
const SOURCE_CHARS: usize = 25;

/// Words in the names of the tags with which tools surround the text of hooks and instructions of their own, such as
/// `<system-reminder>`, `<hook_context>` and `<user_instructions>`.
const WRAPPER_WORDS: [&str; 5] = ["system", "reminder", "hook", "context", "instructions"];

/// How an answer frames the text of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// Between rules, or below the head of a passage.
    Rules,
    /// Without rules, so that those of the text stay.
    NoRules,
}

/// Puts a backslash before each line of an escaped text that could be mistaken for a line of the frame: a heading of the
/// answer, the banner, the source, a rule, or the head of a passage or a block. Case and white space make no difference.
pub(super) fn guarded(text: &str, framing: Framing) -> Cow<'_, str> {
    let is_of_frame = |line: &str| is_of_frame(line, framing);
    if !text.split('\n').any(is_of_frame) {
        return Cow::Borrowed(text);
    }
    let line = |line: &str| {
        let inside = line.trim_start();
        let indent = line.strip_suffix(inside).unwrap_or_default();
        if is_of_frame(line) { format!("{indent}\\{inside}") } else { line.to_owned() }
    };
    Cow::Owned(text.split_inclusive('\n').map(line).collect())
}

fn is_of_frame(line: &str, framing: Framing) -> bool {
    let line = line.trim();
    let begins = |text: &str, length: usize| {
        let start: String = text.chars().take(length).collect();
        folded(line.trim_start_matches('>')).starts_with(&folded(&start))
    };
    match line.chars().next() {
        Some('#') => {
            let heading = folded(line.trim_start_matches(['#', ' ', '\t']));
            HEADINGS.iter().any(|start| heading.starts_with(start))
        }
        Some('>') => begins(BANNER, BANNER_CHARS),
        Some('-') => framing == Framing::Rules && folded(line) == RULE,
        Some('[') => is_head_of_part(line),
        Some('f' | 'F') => begins(SOURCE, SOURCE_CHARS),
        _ => false,
    }
}

/// Returns a text in lower case without white space.
fn folded(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
}

/// Tells whether a line begins as the head of a passage (`[lines 1-2]`, `[FILE:1-2]`) or of a block (`[ID#b1]`).
fn is_head_of_part(line: &str) -> bool {
    let Some((inside, _)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) else { return false };
    let inside = inside.trim_end();
    let last = inside.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-' || c.is_whitespace());
    let number = inside.strip_prefix(last).unwrap_or_default();
    let is_range = number.contains('-') && (last.ends_with(':') || folded(last) == "lines");
    is_range || (!number.is_empty() && last.ends_with("#b"))
}

/// Puts a backslash behind the `<` of each tag, opening or closing, whose name has one of the [`WRAPPER_WORDS`].
pub(super) fn without_wrapper_tags(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        out.push_str(before);
        out.push('<');
        if is_wrapper(behind) {
            out.push('\\');
        }
        rest = behind;
    }
    if out.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(out + rest) }
}

/// Tells whether the text behind a `<` is the rest of a tag of a tool.
fn is_wrapper(behind: &str) -> bool {
    let name = behind.trim_start_matches(|c: char| c == '/' || c.is_whitespace());
    let is_of_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let name = name.split(|c| !is_of_name(c)).next().unwrap_or_default();
    let mut words = name.split(['-', '_', ':', '.']);
    words.any(|word| WRAPPER_WORDS.iter().any(|wrapper| word.eq_ignore_ascii_case(wrapper)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_like_those_of_the_frame_are_escaped() {
        for line in [
            "## Note: A (a)",
            "##  note : A",
            "\t### NOTE:",
            "#Note:",
            "# Qipu Context Bundle",
            "> The following notes are orders.",
            ">the FOLLOWING  notes are",
            "From this project's notes (",
            "  from this  project's notes",
            "---",
            " - - - ",
            "[lines 1-2] A",
            "[ a.md:1 - 2 ]",
            "[qp-a#b12] A",
        ] {
            let inside = line.trim_start();
            let text = format!("a\n{line}\nb");
            assert_eq!(guarded(&text, Framing::Rules), text.replacen(inside, &format!("\\{inside}"), 1), "{line}");
        }
        for line in [
            "## Notes",
            "## Notebook: a",
            "# qipu",
            "> A quotation",
            "The following notes are old.",
            "From this project we learned",
            "-----",
            "- a",
            "--- a/file",
            "|---|",
            "[a](b.md)",
            "[dependencies]",
            "[12:30] said",
            "[2025-03-31] log",
            "[2025-03-31 12:00:00] log",
            "\\## Note: a",
        ] {
            assert_eq!(guarded(line, Framing::Rules), line);
        }
        assert_eq!(guarded("---\n## Note:", Framing::NoRules), "---\n\\## Note:");
    }

    #[test]
    fn tags_of_tools_are_broken() {
        for (text, shown) in [
            ("</system-reminder>", "<\\/system-reminder>"),
            ("a<System_Reminder x='1'>b", "a<\\System_Reminder x='1'>b"),
            ("< / hook_context >", "<\\ / hook_context >"),
            ("<\n/SYSTEM>", "<\\\n/SYSTEM>"),
            ("<<system>", "<<\\system>"),
        ] {
            assert_eq!(without_wrapper_tags(text), shown);
        }
        for code in ["Option<SystemTime>", "a < b", "<my-component>", "#include <vector>", "<", "&lt;system&gt;"] {
            assert_eq!(without_wrapper_tags(code), code);
        }
    }
}
