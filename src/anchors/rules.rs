//! The rules by which a recorded line or symbol is found in a file again: specs/anchors.md. Pure.

use crate::store::{SourceText, words};

/// Words before a symbol in a line that probably defines it.
const DEFINING_WORDS: [&str; 27] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "impl", "macro_rules", "def", "class",
    "function", "func", "interface", "object", "let", "var", "val", "module", "package", "namespace", "sub", "proc",
    "record", "typedef",
];

/// What is recorded of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Baseline<'a> {
    /// The symbol, without what qualifies it.
    pub(super) symbol: Option<&'a str>,
    pub(super) line: usize,
    pub(super) text: &'a str,
}

/// Where a recorded line is in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinePlacement {
    /// Its text is in this line.
    At(usize),
    /// Its text is in no line; its symbol, if it has one, is in this line.
    Changed(Option<usize>),
    /// Its symbol is in no line.
    Lost,
}

impl Baseline<'_> {
    /// Finds the line in a file: the same line, else the nearest one with its text, else the line of its symbol.
    pub(super) fn find(self, file: &SourceText) -> LinePlacement {
        if file.line(self.line) == Some(self.text) {
            return LinePlacement::At(self.line);
        }
        match (file.nearest(self.text, self.line), self.symbol) {
            (Some(line), _) => LinePlacement::At(line),
            (None, None) => LinePlacement::Changed(None),
            (None, Some(symbol)) => symbol_line(file, symbol, self.line)
                .map_or(LinePlacement::Lost, |line| LinePlacement::Changed(Some(line))),
        }
    }
}

/// Returns the line of a symbol: the first one that probably defines it, else the nearest one to `line` that names it.
pub(super) fn symbol_line(file: &SourceText, symbol: &str, line: usize) -> Option<usize> {
    let defining = |number: &usize| file.line(*number).is_some_and(|text| defines(text, symbol));
    let named = || file.lines_with_word(symbol);
    named().find(defining).or_else(|| named().min_by_key(|number| (number.abs_diff(line), *number)))
}

/// Whether a word that precedes definitions is before the symbol in a line.
fn defines(line: &str, symbol: &str) -> bool {
    let before = words(line).take_while(|word| *word != symbol);
    before.into_iter().any(|word| DEFINING_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, line: usize, recorded: &str, symbol: Option<&str>) -> LinePlacement {
        Baseline { symbol, line, text: recorded }.find(&SourceText::new(text.as_bytes()))
    }

    #[test]
    fn a_line_is_found_by_its_number_its_text_and_its_symbol() {
        let text = "a\n  fn run() {\r\nb  \nfn run() {\nb\n";
        assert_eq!(find(text, 4, "fn run() {", None), LinePlacement::At(4));
        assert_eq!(find(text, 2, "fn run() {", None), LinePlacement::At(4));
        assert_eq!(find(text, 4, "b", None), LinePlacement::At(3), "the upper one of two that are equally near");
        assert_eq!(find(text, 5, "b", None), LinePlacement::At(5));
        assert_eq!(find(text, 1, "c", None), LinePlacement::Changed(None));
        assert_eq!(find(text, 9, "fn run(x: u8) {", Some("run")), LinePlacement::Changed(Some(2)));
        assert_eq!(find("rerun();\nrun_it();\n", 1, "fn run()", Some("run")), LinePlacement::Lost);
        assert_eq!(find("use run;\ny = run();\nrun();\n", 3, "fn run()", Some("run")), LinePlacement::Changed(Some(3)));
        assert_eq!(find("run();\nfunc (s *S) run() {\n", 1, "fn run()", Some("run")), LinePlacement::Changed(Some(2)));
    }
}
