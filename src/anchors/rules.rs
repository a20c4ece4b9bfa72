//! The rules by which a recorded line or symbol is found in a file again: specs/anchors.md. Pure.

use crate::store::{SourceText, words};

/// The most lines that are looked at to find the type that a line belongs to, and the most lines with a symbol that are
/// looked at so.
const MAX_LINES_ABOVE: usize = 2_000;
const MAX_OWNED: usize = 1_000;
/// Words before a symbol in a line that probably defines it.
const DEFINING_WORDS: [&str; 27] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "impl", "macro_rules", "def", "class",
    "function", "func", "interface", "object", "let", "var", "val", "module", "package", "namespace", "sub", "proc",
    "record", "typedef",
];

/// What is recorded of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Baseline<'a> {
    /// The symbol, with what qualifies it.
    pub(super) symbol: Option<Symbol<'a>>,
    pub(super) line: usize,
    pub(super) text: &'a str,
    /// How many lines had the text when it was recorded; `None` if that is not known.
    pub(super) count: Option<usize>,
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
        let count = file.count(self.text);
        // One of several equal lines is gone: which one is not known.
        let is_lost = count < self.count.unwrap_or(if count > 1 { usize::MAX } else { 0 });
        let nearest = file.nearest(self.text, self.line).filter(|_| !is_lost);
        match (nearest, self.symbol) {
            (Some(line), _) => LinePlacement::At(line),
            (None, None) => LinePlacement::Changed(None),
            (None, Some(symbol)) => symbol_line(file, symbol, self.line)
                .map_or(LinePlacement::Lost, |line| LinePlacement::Changed(Some(line))),
        }
    }
}

/// A symbol: the word that is looked for, and the name of the type that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol<'a> {
    pub(super) word: &'a str,
    /// The part before the word, if it begins with a capital letter: a type, and no module.
    pub(super) owner: Option<&'a str>,
}

impl<'a> Symbol<'a> {
    pub(super) fn parse(symbol: &'a str) -> Self {
        let mut parts = symbol.rsplit(['.', ':']).filter(|part| !part.is_empty());
        let word = parts.next().unwrap_or(symbol);
        Self { word, owner: parts.next().filter(|part| part.starts_with(char::is_uppercase) && *part != "Self") }
    }

    /// Whether a line names the owner before the symbol, or is indented below a line that names it.
    fn is_owned(self, file: &SourceText, line_number: usize) -> bool {
        let Some(owner) = self.owner else { return true };
        let names = |line: &str| words(line).take_while(|word| *word != self.word).any(|word| word == owner);
        let Some(line) = file.line(line_number) else { return false };
        let (mut indent, mut is_found) = (indent_of(line), names(line));
        for above in (1..line_number).rev().take(MAX_LINES_ABOVE).filter_map(|above| file.line(above)) {
            if is_found || indent == 0 {
                break;
            }
            if is_header(above) && indent_of(above) < indent {
                (indent, is_found) = (indent_of(above), words(above).any(|word| word == owner));
            }
        }
        is_found
    }
}

fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Whether a line can begin a block: it begins with a word, and is neither a label nor a `where`.
fn is_header(line: &str) -> bool {
    let line = line.trim_start();
    let is_label = line.ends_with(':') && !line.contains(' ');
    line.starts_with(char::is_alphabetic) && !is_label && words(line).next() != Some("where")
}

/// Returns the line of a symbol: the first one that probably defines it, else the nearest one to `line` that names it. Of
/// a symbol of a type, only lines that belong to the type.
pub(super) fn symbol_line(file: &SourceText, symbol: Symbol<'_>, line: usize) -> Option<usize> {
    let defining = |line: &usize| file.line(*line).is_some_and(|text| defines(text, symbol.word));
    let named = || {
        let most = symbol.owner.map_or(usize::MAX, |_| MAX_OWNED);
        file.lines_with_word(symbol.word).take(most).filter(|number| symbol.is_owned(file, *number))
    };
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
        let symbol = symbol.map(Symbol::parse);
        Baseline { symbol, line, text: recorded, count: Some(1) }.find(&SourceText::new(text.as_bytes()))
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

    #[test]
    fn a_line_that_became_rarer_did_not_move() {
        let file = SourceText::new(b"x\na b\na b\n");
        let find = |count| Baseline { symbol: None, line: 1, text: "a b", count }.find(&file);
        assert_eq!(find(Some(2)), LinePlacement::At(2));
        assert_eq!(find(Some(1)), LinePlacement::At(2));
        assert_eq!(find(Some(3)), LinePlacement::Changed(None));
        assert_eq!(find(None), LinePlacement::Changed(None));
        let same = Baseline { symbol: None, line: 3, text: "a b", count: None };
        assert_eq!(same.find(&file), LinePlacement::At(3));
    }

    #[test]
    fn the_methods_of_two_types_are_not_the_same() {
        let rust = "struct B;\nimpl A {\n    fn new() {\n    }\n}\nimpl<T> B<T>\nwhere\n    T: A,\n{\n    fn new() {\n";
        let cpp = "class A {\npublic:\n  A run();\n};\nclass B {\npublic:\n  A run();\n};\n";
        let go = "func (a *A) Run() {\nfunc (b *B) Run() {\n";
        for (text, symbol, line) in [
            (rust, "A::new", Some(3)),
            (rust, "B::new", Some(10)),
            (rust, "C::new", None),
            (rust, "new", Some(3)),
            (rust, "module::new", Some(3)),
            (rust, "Self::new", Some(3)),
            (cpp, "A::run", Some(3)),
            (cpp, "B::run", Some(7)),
            (go, "B.Run", Some(2)),
        ] {
            let file = SourceText::new(text.as_bytes());
            assert_eq!(symbol_line(&file, Symbol::parse(symbol), 1), line, "{symbol}");
        }
    }
}
