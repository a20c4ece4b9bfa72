//! The text of a declared item, from its declaration to its end, without comments and blanks. Pure.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::scanner::{LineScanner, ScannedLine, is_of_word};
use super::syntax::{ItemEnd, SourceSyntax};
use crate::codec::hex::hex;
use crate::note::find_heading;
use crate::store::SourceText;

/// The bytes of a hash: 64 bits, for a comparison with one other text.
const HASH_BYTES: usize = 8;
/// The most hashes of items that a reader keeps, and the most bytes of items.
const MAX_KNOWN_HASHES: usize = 100_000;
const MAX_KEPT_BYTES: usize = 8 * 1024 * 1024;
/// The most lines behind a declaration in which its body begins.
const MAX_HEAD: usize = 30;
/// What a line begins with that goes on with the line before it, and what a line ends with that goes on in the next one.
const CONTINUED: &str = ".?:+-*/%&|=<>^{";
const CONTINUING: &str = ".?:+-*/%&|=<>^,(!~\\";
/// Words at the beginning of a line that go on with an item, at its own indentation, and those that end it.
const INNER_WORDS: [&str; 9] = ["rescue", "ensure", "else", "elsif", "elif", "when", "in", "catch", "after"];
const LAST_WORDS: [&str; 4] = ["end", "done", "fi", "esac"];
/// Words at the beginning of a line that go on with the head of an item.
const HEAD_WORDS: [&str; 5] = ["where", "extends", "implements", "with", "throws"];

/// A line of a text: the number of the text, the path that says in which language it is read, and the line.
type ItemKey = (u64, String, usize);

/// Reads items, up to a number of bytes together: notes may refer to one long item many times. What was read is known.
pub(super) struct ItemReader {
    room: Cell<usize>,
    hashes: RefCell<HashMap<ItemKey, String>>,
    items: RefCell<HashMap<ItemKey, Rc<SymbolItem>>>,
    /// The bytes of further items that are kept.
    room_to_keep: Cell<usize>,
}

impl ItemReader {
    pub(super) fn new(most_bytes: usize) -> Self {
        let (hashes, items) = (RefCell::default(), RefCell::default());
        Self { room: Cell::new(most_bytes), hashes, items, room_to_keep: Cell::new(MAX_KEPT_BYTES) }
    }

    /// Returns the hash of the item that begins in a line of a file; `None` if there is no room left.
    pub(super) fn hash(&self, file: &SourceText, path: &str, line: usize) -> Option<String> {
        let key = (file.number(), path.to_owned(), line);
        if let Some(known) = self.hashes.borrow().get(&key) {
            return Some(known.clone());
        }
        let hash = SymbolItem::read_within(file, path, line, &self.room)?.hash;
        if self.hashes.borrow().len() < MAX_KNOWN_HASHES {
            self.hashes.borrow_mut().insert(key, hash.clone());
        }
        Some(hash)
    }

    /// Reads the item that begins in a line of a file; `None` if there is no room left.
    pub(super) fn read(&self, file: &SourceText, path: &str, line: usize) -> Option<Rc<SymbolItem>> {
        let key = (file.number(), path.to_owned(), line);
        if let Some(known) = self.items.borrow().get(&key) {
            return Some(Rc::clone(known));
        }
        let item = Rc::new(SymbolItem::read_within(file, path, line, &self.room)?);
        if let Some(room) = self.room_to_keep.get().checked_sub(item.bytes) {
            self.room_to_keep.set(room);
            self.items.borrow_mut().insert(key, Rc::clone(&item));
        }
        Some(item)
    }
}

/// The text of a declared item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SymbolItem {
    /// Its lines, except for those that are empty.
    lines: Vec<String>,
    /// The hash of its text. Where lines are broken matters only in languages in which that has a meaning.
    pub(super) hash: String,
    /// The bytes that were read for it.
    pub(super) bytes: usize,
}

impl SymbolItem {
    /// Reads the item that begins in a line of a file. O(bytes of the item).
    pub(super) fn read(file: &SourceText, path: &str, line: usize) -> Self {
        Self::of_source(Source { file, syntax: SourceSyntax::of_path(path), room: &Cell::new(usize::MAX) }, line)
    }

    /// Reads the item that begins in a line of a file, and takes the bytes that are read from `room`. `None` if it has no room.
    fn read_within(file: &SourceText, path: &str, line: usize, room: &Cell<usize>) -> Option<Self> {
        let item = Self::of_source(Source { file, syntax: SourceSyntax::of_path(path), room }, line);
        (room.get() > 0).then_some(item)
    }

    fn of_source(source: Source<'_>, line: usize) -> Self {
        let by_indentation = || by_indentation(source, line);
        match source.syntax.end {
            ItemEnd::Heading => Self::of_lines(section(source, line).unwrap_or_else(by_indentation), false),
            ItemEnd::Indentation => {
                let lines = by_indentation();
                let lines = if source.syntax.has_blocks_by_indentation { with_depths(lines) } else { lines };
                Self::of_lines(lines, true)
            }
            ItemEnd::Bracket | ItemEnd::BracketOrLine => {
                Self::of_lines(by_brackets(source, line).unwrap_or_else(by_indentation), false)
            }
        }
    }

    fn of_lines(lines: Vec<ScannedLine>, has_line_ends: bool) -> Self {
        let (mut hash, mut last) = (Sha256::new(), None);
        let bytes = lines.iter().map(|line| line.bytes + 1).sum();
        let lines: Vec<ScannedLine> = lines.into_iter().filter(|line| !line.text.is_empty()).collect();
        for line in &lines {
            let is_one_word = last.is_some_and(is_of_word) && line.text.starts_with(is_of_word);
            let has_line_end = has_line_ends && !line.is_continuation;
            hash.update(if has_line_end {
                "\n"
            } else if is_one_word {
                " "
            } else {
                ""
            });
            hash.update(&line.text);
            last = line.text.chars().next_back();
        }
        let hash = hex(hash.finalize().get(..HASH_BYTES).unwrap_or_default());
        Self { lines: lines.into_iter().map(|line| line.text).collect(), hash, bytes }
    }

    /// Counts the lines that differ, wherever they are: a line that was replaced counts once, and a new order as one line. O(lines).
    pub(super) fn changed_lines(&self, old: &Self) -> usize {
        let mut counts: HashMap<&str, isize> = HashMap::new();
        self.lines.iter().for_each(|line| *counts.entry(line).or_default() += 1);
        old.lines.iter().for_each(|line| *counts.entry(line).or_default() -= 1);
        let added: isize = counts.values().filter(|count| **count > 0).sum();
        let removed: isize = counts.values().filter(|count| **count < 0).sum();
        added.max(-removed).max(1).unsigned_abs()
    }
}

/// Tells whether the body of an item begins behind a name in a line: a bracket, outside of others, before `;`.
pub(super) fn has_body(file: &SourceText, syntax: &'static SourceSyntax, line: usize, name_end: usize) -> bool {
    let mut depth = 0;
    for (index, scanned) in scan_from(file, syntax, line).take(MAX_HEAD).enumerate() {
        let start = if index == 0 { name_end } else { 0 };
        let code = scanned.code.get(start..).unwrap_or_default();
        for (offset, c) in code.char_indices() {
            match c {
                '{' if depth == 0 => return true,
                '=' if depth == 0 => return code.get(offset..).is_some_and(|rest| rest.starts_with("=>")),
                ';' if depth == 0 => return false,
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' if depth == 0 => return false,
                ')' | ']' | '}' => depth -= 1,
                _ => {}
            }
        }
    }
    false
}

/// Iterates over the lines of a file from one on.
pub(super) fn scan_from<'f>(
    file: &'f SourceText,
    syntax: &'static SourceSyntax,
    line: usize,
) -> impl Iterator<Item = ScannedLine> + 'f {
    let mut scanner = LineScanner::new(syntax);
    (line..).map_while(|number| file.line(number)).map(move |line| scanner.scan(line))
}

/// A file whose items are read, as long as there is room.
#[derive(Clone, Copy)]
struct Source<'f> {
    file: &'f SourceText,
    syntax: &'static SourceSyntax,
    /// The bytes that may still be read; 0 once there was no room for a line.
    room: &'f Cell<usize>,
}

impl<'f> Source<'f> {
    /// Iterates over the lines from one on, up to the first one without room.
    fn scan_from(self, line: usize) -> impl Iterator<Item = ScannedLine> + 'f {
        let has_room = move |line: &&str| {
            self.room.set(self.room.get().saturating_sub(line.len() + 1));
            self.room.get() > 0
        };
        let mut scanner = LineScanner::new(self.syntax);
        let lines = (line..).map_while(move |number| self.file.line(number)).take_while(has_room);
        lines.map(move |line| scanner.scan(line))
    }
}

/// What a line of an item means for its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineRole {
    Inner,
    /// It ends the item.
    Last,
    /// The item ended before it.
    Outer,
}

/// The walk over an item whose end is a bracket.
struct BracketWalk {
    depth: usize,
    /// Whether the end of a line ends an item.
    ends_with_line: bool,
    /// Whether the last line ended the item unless the next one goes on with it.
    may_have_ended: bool,
}

impl BracketWalk {
    fn step(&mut self, code: &str) -> LineRole {
        let code = code.trim();
        if code.is_empty() {
            return LineRole::Inner;
        }
        if std::mem::take(&mut self.may_have_ended) && !continues(code) {
            return LineRole::Outer;
        }
        for (offset, c) in code.char_indices() {
            match c {
                '{' | '(' | '[' => self.depth += 1,
                // The end of what is around the item.
                '}' | ')' | ']' if self.depth == 0 => return LineRole::Outer,
                '}' | ')' | ']' => {
                    self.depth -= 1;
                    let rest = code.get(offset + 1..).unwrap_or_default().trim_start();
                    let is_end = rest.is_empty() || rest.starts_with([';', ',', ')', ']', '}']);
                    if self.depth == 0 && c == '}' && is_end {
                        return LineRole::Last;
                    }
                }
                ';' if self.depth == 0 => return LineRole::Last,
                _ => {}
            }
        }
        self.may_have_ended = self.ends_with_line && self.depth == 0 && !code.ends_with(|c| CONTINUING.contains(c));
        LineRole::Inner
    }
}

/// Tells whether a line goes on with a statement of the line before it.
fn continues(code: &str) -> bool {
    let first = code.split(|c| !is_of_word(c)).next().unwrap_or_default();
    code.starts_with(|c| CONTINUED.contains(c)) || HEAD_WORDS.contains(&first)
}

/// Returns the lines of an item up to the bracket that closes its body; `None` if nothing closes it.
fn by_brackets(source: Source<'_>, line: usize) -> Option<Vec<ScannedLine>> {
    let first = source.file.line(line).unwrap_or_default().trim();
    // A directive of a preprocessor ends with its line.
    let is_directive = first.starts_with('#') && !first.starts_with("#[");
    let ends_with_line = is_directive || source.syntax.end == ItemEnd::BracketOrLine;
    let mut walk = BracketWalk { depth: 0, ends_with_line, may_have_ended: false };
    let mut lines: Vec<ScannedLine> = Vec::new();
    for scanned in source.scan_from(line) {
        let role = walk.step(&scanned.code);
        // A field or variant.
        let is_member = lines.is_empty() && walk.depth == 0 && scanned.code.ends_with(',');
        if role == LineRole::Outer && !lines.is_empty() {
            return Some(lines);
        }
        lines.push(scanned);
        if role != LineRole::Inner || is_member {
            return Some(lines);
        }
    }
    (walk.depth == 0).then_some(lines)
}

/// Returns the lines of an item up to the last one that is indented deeper than the first, or that closes it.
fn by_indentation(source: Source<'_>, line: usize) -> Vec<ScannedLine> {
    let (mut lines, mut depth): (Vec<ScannedLine>, usize) = (Vec::new(), 0);
    for mut scanned in source.scan_from(line) {
        scanned.is_continuation |= depth > 0;
        let role = match lines.first() {
            None => LineRole::Inner,
            Some(_) if scanned.text.is_empty() || scanned.is_continuation => LineRole::Inner,
            Some(first) if scanned.indent > first.indent => LineRole::Inner,
            Some(_) => role_at_indentation(&scanned.code),
        };
        if role == LineRole::Outer {
            break;
        }
        if source.syntax.is_known() {
            let deeper = |depth: usize, c: char| match c {
                '(' | '[' | '{' => depth + 1,
                ')' | ']' | '}' => depth.saturating_sub(1),
                _ => depth,
            };
            depth = scanned.code.chars().fold(depth, deeper);
        }
        lines.push(scanned);
        if role == LineRole::Last {
            break;
        }
    }
    lines
}

/// Returns the role of a line with the indentation of the item, or less.
fn role_at_indentation(code: &str) -> LineRole {
    let word = code.split(|c| !is_of_word(c)).next().unwrap_or_default();
    if INNER_WORDS.contains(&word) {
        return LineRole::Inner;
    }
    let is_end = code.starts_with(['}', ')', ']']) || LAST_WORDS.contains(&word);
    if !is_end {
        LineRole::Outer
    } else if code.ends_with([':', '{', '(']) {
        LineRole::Inner
    } else {
        LineRole::Last
    }
}

/// Adds the depth of its indentation to each line: in some languages, that alone says which statements belong together.
fn with_depths(mut lines: Vec<ScannedLine>) -> Vec<ScannedLine> {
    let mut indents: Vec<usize> = Vec::new();
    for line in lines.iter_mut().filter(|line| !line.text.is_empty() && !line.is_continuation) {
        indents.retain(|indent| *indent < line.indent);
        line.text.insert_str(0, &format!("{} ", indents.len()));
        indents.push(line.indent);
    }
    lines
}

/// Returns the line of a heading by its text or anchor.
pub(super) fn heading_line(file: &SourceText, fragment: &str) -> Option<usize> {
    let heading = file.headings().get(find_heading(file.headings(), fragment)?)?;
    Some(file.line_at(heading.start))
}

/// Returns the lines of the section whose heading is in a line.
fn section(source: Source<'_>, line: usize) -> Option<Vec<ScannedLine>> {
    let file = source.file;
    let heading = file.headings().iter().find(|heading| file.line_at(heading.start) == line)?;
    let last = file.line_at(heading.section.end.checked_sub(1)?);
    let source = Source { syntax: SourceSyntax::of_path("section.md"), ..source };
    Some(source.scan_from(line).take((last + 1).saturating_sub(line)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str, line: usize) -> Vec<String> {
        SymbolItem::read(&SourceText::new(text.as_bytes()), path, line).lines
    }

    /// The last line of each item: what comes after it is not part of it, and what comes before it is.
    #[test]
    fn an_item_ends_where_its_language_says() {
        let mut wrong = Vec::new();
        for (path, text, last) in [
            (
                "a.rs",
                "fn run<T>(a: [u8; 3]) -> bool\nwhere\n    T: A,\n    U: B,\n{\n    if a { b(\"}\") } else { c('}') }\n}\nfn next() {}\n",
                "}",
            ),
            ("a.rs", "const N: u8 = {\n    3\n};\nconst M: u8 = 4;\n", "};"),
            ("a.rs", "struct Unit;\nstruct Next;\n", "struct Unit;"),
            ("a.rs", "    count: u32,\n    next: u32,\n}\n", "count:u32,"),
            ("a.rs", "    Last(u32)\n}\nfn next() {}\n", "Last(u32)"),
            ("a.c", "int\nrun(int a,\n    int b)\n{\nreturn 1;\n}\nint next;\n", "}"),
            ("a.h", "#define LIMIT \\\n  3\n#define NEXT 4\n", "3"),
            ("a.h", "#define LIMIT 3\n#define NEXT 4\n", "#define LIMIT 3"),
            ("a.cpp", "A::A()\n  : a(1),\n    b(2)\n{\n  run();\n}\nvoid next();\n", "}"),
            ("a.java", "  public int run(int a)\n      throws E {\n    return a; // }\n  }\n  int next;\n", "}"),
            ("a.go", "func (s *S) Run(a int) (int, error) {\n\treturn a, nil\n}\nfunc Next() {}\n", "}"),
            ("a.go", "const Limit = 3\nconst Next = 4\n", "const Limit=3"),
            ("a.js", "const run = async (a) => {\n  return `}`;\n};\nconst next = 1;\n", "};"),
            (
                "a.js",
                "export const run = (a) =>\n  a\n    .map(b)\n    .filter(c)\n\nexport const next = 1\n",
                ".filter(c)",
            ),
            ("a.ts", "  run(a: { b: string }): Promise<void> {\n    x = /[}]/;\n  }\n  next() {}\n", "}"),
            (
                "a.py",
                "def run(\n    a,\n) -> int:\n    '''\nText.\n'''\n\n# A comment.\n    if a:\n        return 1\n\ndef next(): pass\n",
                "2 return 1",
            ),
            ("a.py", "LIMIT = 3\nNEXT = 4\n", "0 LIMIT=3"),
            ("a.rb", "  def run\n    a\n  rescue E\n    b\n  end\n\n  def next\n", "end"),
            ("a.rb", "X = 3\nY = 4\n", "X=3"),
            ("a.sh", "run() {\n  cat <<EOF\nit's }\nEOF\n  case $1 in a) b;; esac\n}\nnext() { :; }\n", "}"),
            ("a.sh", "run() { a; }\nnext\n", "run(){a;}"),
            ("a.md", "## Run\nText.\n\n### Part\nMore.\n\n## Next\n", "More."),
            ("a.toml", "limit = 3\nnext = 4\n", "limit=3"),
            ("a.yaml", "run:\n  a: 1\n  b:\n    - 2\nnext: 3\n", "2 -2"),
            ("a.unknown", "run {\n  a\n}\nnext\n", "}"),
        ] {
            let lines = lines(path, text, 1);
            if lines.last().map(String::as_str) != Some(last) {
                wrong.push(format!("{path}: {lines:?}, not up to {last}"));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn the_hash_is_that_of_the_code() {
        let hash = |path: &str, text: &str| SymbolItem::read(&SourceText::new(text.as_bytes()), path, 1).hash;
        let run = hash("a.rs", "fn run(a: u8) -> u8 {\n    a + 1\n}\n");
        assert_eq!(
            hash("a.rs", "fn run(\n    a: u8) -> u8 { // One more.\n\n\ta+1 /* here */\n}\nfn next() {}\n"),
            run
        );
        assert_ne!(hash("a.rs", "fn run(a: u8) -> u8 {\n    a + 2\n}\n"), run);
        assert_ne!(hash("a.rs", "fn run() { \"a  b\" }\n"), hash("a.rs", "fn run() { \"a b\" }\n"));
        let python = hash("a.py", "def run(a):\n    if a:\n        b()\n    c()\n");
        assert_eq!(hash("a.py", "def run(\n    a\n):\n    if a:\n        b()\n    c()\n"), python);
        assert_eq!(hash("a.py", "def run(a): # Text.\n  if a:\n    b()\n\n  c()\n"), python);
        assert_ne!(hash("a.py", "def run(a):\n    if a:\n        b()\n        c()\n"), python);
    }

    #[test]
    fn changed_lines_are_counted_once() {
        let item = |text: &str| SymbolItem::read(&SourceText::new(text.as_bytes()), "a.rs", 1);
        let old = item("fn run() {\n    a();\n    b();\n}\n");
        assert_eq!(item("fn run() {\n    a();\n    c();\n}\n").changed_lines(&old), 1);
        assert_eq!(item("fn run() {\n    a();\n    c();\n    d();\n}\n").changed_lines(&old), 2);
        assert_eq!(item("fn run() {\n}\n").changed_lines(&old), 2);
    }

    /// One long item costs its bytes once, and no more than the room.
    #[test]
    fn an_item_is_read_once_and_within_the_room() {
        let text = "fn run() {\n".repeat(1000);
        let file = SourceText::new(text.as_bytes());
        let reader = ItemReader::new(1_000_000);
        let read = |line: usize| {
            let before = reader.room.get();
            assert!(reader.hash(&file, "a.rs", line).is_some());
            before - reader.room.get()
        };
        assert!((11_000..=22_000).contains(&read(1)));
        assert_eq!((read(1), reader.hashes.borrow().len()), (0, 1));
        assert!(read(2) > 0);
        let whole = reader.read(&file, "a.rs", 1).unwrap();
        assert!(Rc::ptr_eq(&whole, &reader.read(&file, "a.rs", 1).unwrap()));
        let other = SourceText::new(b"fn run() {}\n");
        assert_ne!(reader.hash(&other, "a.rs", 1), reader.hash(&file, "a.rs", 1));
        // Without room, nothing more is read.
        let small = ItemReader::new(5_000);
        assert_eq!((small.hash(&file, "a.rs", 1), small.room.get()), (None, 0));
        assert!(small.read(&other, "a.rs", 1).is_none());
        let room = Cell::new(5_000);
        let source = Source { file: &file, syntax: SourceSyntax::of_path("a.rs"), room: &room };
        assert_eq!(source.scan_from(1).count(), 454);
    }
}
