//! The rules by which a recorded line or symbol is found in a file again: specs/internals/reliability.md. Pure.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use super::item::{has_body, heading_line, scan_from};
use super::scanner::is_of_word;
use super::syntax::{ItemEnd, SourceSyntax};
use crate::store::{SourceText, words};

/// The most lines that are looked at to find the type that a line belongs to, and the most lines with a symbol that are
/// looked at so.
const MAX_LINES_ABOVE: usize = 2_000;
const MAX_NAMED: usize = 1_000;
/// The most lines with symbols that are kept.
const MAX_KNOWN: usize = 1_000_000;
/// Words before a symbol in a line that probably defines it.
const DEFINING_WORDS: [&str; 30] = [
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "impl", "macro_rules", "def", "class",
    "function", "func", "interface", "object", "let", "var", "val", "module", "package", "namespace", "sub", "proc",
    "record", "typedef", "define", "fun", "protocol",
];
/// Words between such a word and the symbol.
const INNER_WORDS: [&str; 2] = ["self", "mut"];
/// Words at the beginning of a statement that declares nothing.
const STATEMENT_WORDS: [&str; 14] =
    ["return", "if", "while", "for", "switch", "else", "await", "new", "throw", "case", "do", "yield", "assert", "use"];

/// What is recorded of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Baseline<'a> {
    /// The path of the file in which it is looked for.
    pub(super) path: &'a str,
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
    pub(super) fn find(self, search: &SymbolSearch, file: &SourceText) -> LinePlacement {
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
            (None, Some(symbol)) => search
                .symbol_line(file, self.path, symbol, self.line)
                .map_or(LinePlacement::Lost, |line| LinePlacement::Changed(Some(line))),
        }
    }
}

/// A symbol: the word that is looked for, and the name of the type that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol<'a> {
    /// The symbol as it is written.
    whole: &'a str,
    pub(super) word: &'a str,
    /// The part before the word, if it begins with a capital letter: a type, and no module.
    pub(super) owner: Option<&'a str>,
}

impl<'a> Symbol<'a> {
    pub(super) fn parse(symbol: &'a str) -> Self {
        let mut parts = symbol.rsplit(['.', ':']).filter(|part| !part.is_empty());
        let word = parts.next().unwrap_or(symbol);
        Self {
            whole: symbol,
            word,
            owner: parts.next().filter(|part| part.starts_with(char::is_uppercase) && *part != "Self"),
        }
    }

    /// Whether a line names the symbol, and belongs to its owner.
    pub(super) fn is_named(self, file: &SourceText, line_number: usize) -> bool {
        let names = |line: &str| words(line).any(|word| word == self.word);
        file.line(line_number).is_some_and(names) && self.is_owned(file, line_number)
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

/// How sure it is that a line declares a symbol, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Declaration {
    /// A word that precedes definitions is directly before it.
    Defined,
    /// It has the form of one: a body behind its parameters, or a value.
    Formed,
    /// A word that precedes definitions is somewhere before it.
    Perhaps,
    /// The line names it.
    Named,
}

/// The search for symbols in files. What was found is known: notes may refer to one symbol many times.
#[derive(Default)]
pub(super) struct SymbolSearch {
    /// By the number of the text, the path that says in which language it is read, and the symbol.
    known: RefCell<HashMap<(u64, String, String), Declarations>>,
    /// How many lines are known.
    lines: Cell<usize>,
}

/// The lines that name a symbol, ascending, and how sure it is that they declare it.
type Declarations = Rc<[(Declaration, usize)]>;

impl SymbolSearch {
    /// Returns the line of a symbol: the first one of those that most surely declare it, else the nearest one to `line` that
    /// names it. Of a symbol of a type, only lines that belong to the type. In Markdown a symbol is a heading.
    pub(super) fn symbol_line(&self, file: &SourceText, path: &str, symbol: Symbol<'_>, line: usize) -> Option<usize> {
        let heading = || heading_line(file, symbol.whole);
        if let Some(line) = (SourceSyntax::of_path(path).end == ItemEnd::Heading).then(heading).flatten() {
            return Some(line);
        }
        let rank = |(declaration, number): &(Declaration, usize)| match declaration {
            Declaration::Named => (*declaration, number.abs_diff(line), *number),
            _ => (*declaration, *number, 0),
        };
        self.declarations(file, path, symbol).iter().min_by_key(|found| rank(found)).map(|(_, number)| *number)
    }

    fn declarations(&self, file: &SourceText, path: &str, symbol: Symbol<'_>) -> Declarations {
        let key = (file.number(), path.to_owned(), symbol.whole.to_owned());
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let syntax = SourceSyntax::of_path(path);
        let named = file.lines_with_word(symbol.word).take(MAX_NAMED).filter(|number| symbol.is_owned(file, *number));
        let found: Declarations =
            named.map(|number| (declaration(file, syntax, number, symbol.word), number)).collect();
        let lines = self.lines.get() + found.len() + 1;
        if lines <= MAX_KNOWN {
            self.lines.set(lines);
            self.known.borrow_mut().insert(key, Rc::clone(&found));
        }
        found
    }

    /// Returns the lines that probably declare a symbol, at most `most` of those nearest to `line`.
    pub(super) fn declared_lines(
        &self,
        file: &SourceText,
        path: &str,
        symbol: Symbol<'_>,
        line: usize,
        most: usize,
    ) -> Vec<usize> {
        let declarations = self.declarations(file, path, symbol);
        let declared = declarations.iter().filter(|(declaration, _)| *declaration < Declaration::Named);
        let mut lines: Vec<usize> = declared.map(|(_, number)| *number).collect();
        lines.sort_unstable_by_key(|number| (number.abs_diff(line), *number));
        lines.truncate(most);
        lines
    }
}

fn declaration(file: &SourceText, syntax: &'static SourceSyntax, line: usize, word: &str) -> Declaration {
    let code = scan_from(file, syntax, line).next().map(|scanned| scanned.code).unwrap_or_default();
    let Some(start) = position_of_word(&code, word) else { return Declaration::Named };
    let end = start + word.len();
    let (before, after) = (code.get(..start).unwrap_or_default(), code.get(end..).unwrap_or_default());
    let mut words_before = words(before).collect::<Vec<_>>();
    while words_before.last().is_some_and(|last| INNER_WORDS.contains(last)) {
        words_before.pop();
    }
    let is_receiver = before.trim_start().starts_with("func(") && before.ends_with(')');
    let is_defined = is_receiver || words_before.last().is_some_and(|last| DEFINING_WORDS.contains(last));
    let is_formed = || {
        is_declarator(before)
            && match after.as_bytes() {
                [b'(', b')', ..] if syntax.end == ItemEnd::Indentation => true,
                [b'(' | b'<', ..] => has_body(file, syntax, line, end),
                [b'=', next, ..] => !matches!(next, b'=' | b'>' | b'~'),
                [b':', b':', ..] => false,
                [b':', ..] => true,
                _ => false,
            }
    };
    if is_defined {
        Declaration::Defined
    } else if is_formed() {
        Declaration::Formed
    } else if words_before.iter().any(|word| DEFINING_WORDS.contains(word)) {
        Declaration::Perhaps
    } else {
        Declaration::Named
    }
}

/// Tells whether a name behind this code can be that of a declaration: types and modifiers alone are before it.
fn is_declarator(before: &str) -> bool {
    let count = |wanted: &[char]| before.matches(wanted).count();
    let first = words(before).next().unwrap_or_default();
    count(&['(', '[', '{']) == count(&[')', ']', '}'])
        && !before.contains(['=', ';', '?', '+', '!', '|', '/', '%'])
        && !before.ends_with('.')
        && !before.ends_with("->")
        && !STATEMENT_WORDS.contains(&first)
}

/// Returns where a text first contains a whole word.
fn position_of_word(text: &str, word: &str) -> Option<usize> {
    let is_whole = |start: &usize| {
        let (before, rest) = text.split_at_checked(*start).unwrap_or_default();
        !before.ends_with(is_of_word) && !rest.get(word.len()..).unwrap_or_default().starts_with(is_of_word)
    };
    text.match_indices(word).map(|(start, _)| start).find(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, line: usize, recorded: &str, symbol: Option<&str>) -> LinePlacement {
        let symbol = symbol.map(Symbol::parse);
        Baseline { path: "a.rs", symbol, line, text: recorded, count: Some(1) }
            .find(&SymbolSearch::default(), &SourceText::new(text.as_bytes()))
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
        let find = |count| {
            Baseline { path: "a.rs", symbol: None, line: 1, text: "a b", count }.find(&SymbolSearch::default(), &file)
        };
        assert_eq!(find(Some(2)), LinePlacement::At(2));
        assert_eq!(find(Some(1)), LinePlacement::At(2));
        assert_eq!(find(Some(3)), LinePlacement::Changed(None));
        assert_eq!(find(None), LinePlacement::Changed(None));
        let same = Baseline { path: "a.rs", symbol: None, line: 3, text: "a b", count: None };
        assert_eq!(same.find(&SymbolSearch::default(), &file), LinePlacement::At(3));
    }

    #[test]
    fn the_methods_of_two_types_are_not_the_same() {
        let rust = "struct B;\nimpl A {\n    fn new() {\n    }\n}\nimpl<T> B<T>\nwhere\n    T: A,\n{\n    fn new() {\n";
        let cpp = "class A {\npublic:\n  A run();\n};\nclass B {\npublic:\n  A run();\n};\n";
        let go = "func (a *A) Run() {\nfunc (b *B) Run() {\n";
        for (path, text, symbol, line) in [
            ("a.rs", rust, "A::new", Some(3)),
            ("a.rs", rust, "B::new", Some(10)),
            ("a.rs", rust, "C::new", None),
            ("a.rs", rust, "new", Some(3)),
            ("a.rs", rust, "module::new", Some(3)),
            ("a.rs", rust, "Self::new", Some(3)),
            ("a.cpp", cpp, "A::run", Some(3)),
            ("a.cpp", cpp, "B::run", Some(7)),
            ("a.go", go, "B.Run", Some(2)),
        ] {
            let file = SourceText::new(text.as_bytes());
            assert_eq!(SymbolSearch::default().symbol_line(&file, path, Symbol::parse(symbol), 1), line, "{symbol}");
        }
    }

    /// Line 3 of each file declares `run`; what is above it only names it.
    #[test]
    fn the_declaration_is_told_from_what_names_the_symbol() {
        for (path, text) in [
            ("a.rs", "// The fn run is below.\nlet a = run();\npub(crate) async fn run() {}\n"),
            ("a.c", "int run(int);\nint a = run(1);\nstatic int run(int a)\n{\n}\n"),
            ("a.h", "#include <run.h>\n// run\n#define run 3\n"),
            ("a.cpp", "auto a = b.run(1);\nif (run(2)) {}\nint A::run(int a) const {\n}\n"),
            ("a.java", "return run(1);\na.run(() -> { });\n  public static <T> List<T> run(int a) throws E {\n  }\n"),
            ("a.go", "x := run(1)\nrun(2)\nfunc (s *S) run() {\n}\n"),
            ("a.js", "import { run } from 'run';\nawait run(1);\n  async run(a) {\n  }\n"),
            ("a.ts", "const a = run(1);\nrun(a);\nexport const run = async (a: string) => {\n};\n"),
            ("a.tsx", "run<string>(a);\nx.run = 3;\n  private run<T>(a: T): Promise<T> {\n  }\n"),
            ("a.py", "# def run\nx = run(1)\nasync def run(a):\n    pass\n"),
            ("a.py", "print(run)\nif run == 3:\nrun = 4\n"),
            ("a.rb", "x = run 1\nself.run(2)\n  def self.run(a)\n  end\n"),
            ("a.sh", "run 1\nx=$(run 2)\nrun() {\n}\n"),
            ("a.sh", "echo run\nrun\nfunction run {\n}\n"),
            ("a.yaml", "# run:\na: run\nrun:\n  b: 1\n"),
            ("a.md", "See run.\n\n## Run\nText.\n"),
        ] {
            let file = SourceText::new(text.as_bytes());
            let symbol = if path == "a.md" { "Run" } else { "run" };
            assert_eq!(
                SymbolSearch::default().symbol_line(&file, path, Symbol::parse(symbol), 1),
                Some(3),
                "{path}: {text}"
            );
        }
    }

    #[test]
    fn a_symbol_is_searched_for_once_in_a_text() {
        let (file, other) = (SourceText::new(b"fn run() {}\n"), SourceText::new(b"\nfn run() {}\n"));
        let search = SymbolSearch::default();
        let line = |file: &SourceText| search.symbol_line(file, "a.rs", Symbol::parse("run"), 1);
        assert_eq!((line(&file), line(&file), line(&other)), (Some(1), Some(1), Some(2)));
        let declared = search.declarations(&file, "a.rs", Symbol::parse("run"));
        assert!(Rc::ptr_eq(&declared, &search.declarations(&file, "a.rs", Symbol::parse("run"))));
        assert_eq!(search.known.borrow().len(), 2);
    }
}
