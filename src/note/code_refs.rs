//! References of notes to code: items of the field `code`, and names such as `src/a.rs:12` in the text.

use super::percent::percent_decoded;
use super::{UserFields, Value};

/// The field whose list contains the stored references of a note.
pub const CODE: &str = "code";
/// The most references of one note that are read, and the most bytes of a path or a line's text.
const MAX_REFS: usize = 256;
const MAX_TEXT: usize = 4_096;
/// Extensions of texts in which a fragment names a heading, no symbol.
const TEXT_EXTENSIONS: [&str; 6] = ["md", "markdown", "html", "htm", "rst", "adoc"];
/// The parts of a permalink between the repository and the commit: GitHub and GitLab, Gitea and Forgejo, Bitbucket.
const FORGE_MARKS: [&str; 3] = ["/blob/", "/src/commit/", "/src/"];
/// The least and greatest number of hexadecimal digits of a commit.
const COMMIT_DIGITS: std::ops::RangeInclusive<usize> = 7..=64;

/// A reference of a note to a file, a line or a symbol of its project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeRef {
    /// The path of the file in the project, with `/` between names.
    pub path: String,
    /// The symbol, as written.
    pub symbol: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The text of the line when it was recorded, without blanks at its end.
    pub text: Option<String>,
    /// The hash of the item that the symbol declares, when it was recorded, in hexadecimal digits.
    pub hash: Option<String>,
    /// The commit at which it was recorded, in hexadecimal digits.
    pub commit: Option<String>,
    /// Where it is written.
    pub origin: RefOrigin,
}

/// Where a reference is written in a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RefOrigin {
    /// This item of the field `code`.
    Field(Value),
    /// The text, as these characters, in this line of the body from 0.
    Text {
        /// The reference as written.
        written: String,
        /// The line in the body, from 0.
        line: usize,
    },
}

impl CodeRef {
    /// Parses a path with a line or a symbol: `src/a.rs`, `src/a.rs:12`, `src/a.rs:12:3`, `src/a.rs#run`, `src/a.rs#L12`.
    /// `None` if the path can't be that of a file in a project.
    pub fn parse(text: &str) -> Option<Self> {
        let (path, symbol, line) = match text.split_once('#') {
            Some((path, fragment)) => match line_of_fragment(fragment) {
                Some(line) => (path, None, Some(line)),
                None => (path, Some(fragment), None),
            },
            None => match with_line(text) {
                Some((path, line)) => (path, None, Some(line)),
                None => (text, None, None),
            },
        };
        let path = path.strip_prefix("./").unwrap_or(path);
        let is_name = |symbol| is_symbol(symbol) || is_heading(path, symbol);
        let is_valid = is_project_path(path) && symbol.is_none_or(is_name) && line != Some(0);
        let symbol = symbol.map(str::to_owned);
        let origin = RefOrigin::Field(Value::text(text));
        is_valid.then(|| Self { path: path.to_owned(), symbol, line, text: None, hash: None, commit: None, origin })
    }

    /// Returns the last part of the symbol, by which it is found in a file: `open` of `Store::open`.
    pub fn symbol_word(&self) -> Option<&str> {
        self.symbol.as_deref()?.rsplit(['.', ':']).next()
    }

    /// Returns the reference as one text: `src/a.rs:12`, `src/a.rs#run`.
    pub fn shown(&self) -> String {
        match (&self.symbol, self.line) {
            (Some(symbol), _) => format!("{}#{symbol}", self.path),
            (None, Some(line)) => format!("{}:{line}", self.path),
            (None, None) => self.path.clone(),
        }
    }

    /// Whether it is an item of the field `code` with the text of its line.
    pub fn is_stored(&self) -> bool {
        matches!(self.origin, RefOrigin::Field(Value::Map(_))) && self.text.is_some()
    }

    /// Returns the reference as the entries of an item of the field `code`.
    pub fn to_entries(&self) -> Vec<(String, Value)> {
        let plain = |line: usize| Value::Text { text: line.to_string(), plain: true };
        let texts = [("symbol", &self.symbol), ("text", &self.text), ("hash", &self.hash), ("commit", &self.commit)];
        let texts = texts.map(|(key, text)| Some((key, Value::text(text.clone()?))));
        let [symbol, text, hash, commit] = texts;
        let line = self.line.map(|line| ("line", plain(line)));
        let path = Some(("path", Value::text(&*self.path)));
        let entries = [path, symbol, line, text, hash, commit].into_iter().flatten();
        entries.map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn of_item(item: &Value) -> Option<Self> {
        let origin = RefOrigin::Field(item.clone());
        let Value::Map(entries) = item else {
            let Value::Text { text, .. } = item else { return None };
            return Some(Self { origin, ..Self::parse(text)? });
        };
        let text = |key: &str| match entries.iter().find(|(name, _)| name == key)? {
            (_, Value::Text { text, .. }) if text.len() <= MAX_TEXT => Some(text.as_str()),
            _ => None,
        };
        let path = text("path").filter(|path| is_project_path(path))?.to_owned();
        let symbol = text("symbol").filter(|symbol| is_symbol(symbol) || is_heading(&path, symbol)).map(str::to_owned);
        let hash = text("hash").filter(|hash| is_commit(hash)).map(str::to_owned);
        let line = text("line").and_then(|line| line.parse().ok()).filter(|line| *line > 0);
        let commit = text("commit").filter(|commit| is_commit(commit)).map(str::to_owned);
        let line_text = text("text").map(|text| line_text(text).to_owned()).filter(|text| !text.is_empty());
        Some(Self { path, symbol, line, text: line_text, hash, commit, origin })
    }
}

/// Returns the references in the field `code`, in their order; malformed items are left out.
pub fn code_refs_of(fields: UserFields<'_>) -> Vec<CodeRef> {
    let list = fields.unknown.iter().find(|(key, _)| key == CODE).map(|(_, value)| value);
    let items = match list {
        Some(Value::List(items)) => items.as_slice(),
        Some(item) => std::slice::from_ref(item),
        None => &[],
    };
    items.iter().filter_map(CodeRef::of_item).take(MAX_REFS).collect()
}

/// Returns the references in a text: paths with a line or a symbol, and permalinks of forges. O(bytes).
pub fn code_refs_in(text: &str) -> Vec<CodeRef> {
    let mut refs = Vec::new();
    for (line, content) in text.lines().enumerate() {
        // Most lines have none.
        if !content.contains(['#', ':']) {
            continue;
        }
        let words = content.split(|c: char| c.is_whitespace() || "()[]<>{}\"'`,;|*".contains(c));
        for word in words.filter(|word| word.len() <= MAX_TEXT) {
            let word = word.trim_end_matches(['.', ':', '!', '?']);
            let found = if word.contains("://") { permalink(word) } else { in_word(word) };
            refs.extend(
                found.map(|found| CodeRef { origin: RefOrigin::Text { written: word.to_owned(), line }, ..found }),
            );
        }
        if refs.len() >= MAX_REFS {
            break;
        }
    }
    refs.truncate(MAX_REFS);
    refs
}

/// Returns a line as references record it: without its line end, and blanks before that.
pub fn line_text(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r', ' ', '\t'])
}

/// Parses a word of a text that names a line or a symbol.
fn in_word(word: &str) -> Option<CodeRef> {
    let is_of_path = |c: char| c.is_alphanumeric() || "_./-@+~".contains(c);
    let found = CodeRef::parse(word).filter(|found| found.line.is_some() || found.symbol.is_some())?;
    let extension = found.path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let names_heading = found.symbol.is_some() && TEXT_EXTENSIONS.contains(&extension.to_ascii_lowercase().as_str());
    (found.path.chars().all(is_of_path) && !names_heading).then_some(found)
}

/// Parses the address of a line at a commit, as forges show it.
fn permalink(word: &str) -> Option<CodeRef> {
    let address = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"))?;
    let (address, fragment) = address.split_once('#')?;
    let line = line_of_fragment(fragment)?;
    FORGE_MARKS.iter().find_map(|mark| {
        let (repository, rest) = address.split_once(mark)?;
        let (commit, path) = rest.split_once('/')?;
        let path = percent_decoded(path.split('?').next()?);
        let is_valid = repository.matches('/').count() >= 2 && is_commit(commit) && is_project_path(&path);
        let commit = Some(commit.to_owned());
        let origin = RefOrigin::Field(Value::text(word));
        is_valid.then_some(CodeRef { path, symbol: None, line: Some(line), text: None, hash: None, commit, origin })
    })
}

/// Returns the first line that a fragment names: `L12`, `L12-L20`, `lines-12`.
fn line_of_fragment(fragment: &str) -> Option<usize> {
    let digits = fragment.strip_prefix('L').or_else(|| fragment.strip_prefix("lines-"))?;
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (first, rest) = digits.split_at_checked(end)?;
    let is_range = rest.is_empty() || rest.starts_with(['-', ':', 'C']);
    first.parse().ok().filter(|line| is_range && *line > 0)
}

/// Splits a path from the line behind it; a column or the end of a range behind the line is left out.
fn with_line(text: &str) -> Option<(&str, usize)> {
    let (path, numbers) = text.split_once(':')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (line, rest) = numbers.split_once([':', '-']).unwrap_or((numbers, "0"));
    (is_number(line) && is_number(rest)).then_some((path, line.parse().ok()?))
}

/// Whether a path can be that of a file in a project: relative, with a folder or an extension, not upwards, not in `.git`.
pub fn is_project_path(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    let has_extension =
        name.rsplit_once('.').is_some_and(|(_, extension)| extension.chars().any(|c| c.is_ascii_alphabetic()));
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.eq_ignore_ascii_case(".git");
    (has_extension || path.contains('/'))
        && path.len() <= MAX_TEXT
        && !path.contains(|c: char| c.is_control() || matches!(c, '\\' | ':'))
        && path.split('/').all(is_name)
}

fn is_symbol(symbol: &str) -> bool {
    let is_word = |word: &str| {
        word.chars().all(|c| c.is_alphanumeric() || c == '_')
            && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
    };
    symbol.len() <= MAX_TEXT && symbol.split("::").flat_map(|part| part.split('.')).all(is_word)
}

/// Whether a symbol can be the text or the anchor of a heading of a Markdown file.
fn is_heading(path: &str, symbol: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let is_markdown = ["md", "markdown"].iter().any(|markdown| extension.eq_ignore_ascii_case(markdown));
    is_markdown && symbol.len() <= MAX_TEXT && !symbol.trim().is_empty() && !symbol.contains(char::is_control)
}

fn is_commit(text: &str) -> bool {
    COMMIT_DIGITS.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::super::Note;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        code_refs_in(text).iter().map(CodeRef::shown).collect()
    }

    #[test]
    fn references_in_a_text_name_a_file_with_a_line_or_a_symbol() {
        let text = "See `src/a.rs:12`, (src/b.rs#run) and lib/c.py:3:7. Not src/d.rs, 10:30, localhost:80,\n\
                    [x](docs/a.md#heading), ../up.rs:1, /etc/passwd.txt:1, .git/config.x:1, a/../b.rs:2, x#y, a.rs:0\n\
                    src/e.go:4-9 ./src/f.rs#Store::open src/g.rs#L7 C:/x.rs:1 x.rs#a-b";
        let expected =
            ["src/a.rs:12", "src/b.rs#run", "lib/c.py:3", "src/e.go:4", "src/f.rs#Store::open", "src/g.rs:7"];
        assert_eq!(found(text), expected);
        let lines: Vec<_> = code_refs_in(text).into_iter().map(|found| found.origin).collect();
        assert_eq!(lines[3], RefOrigin::Text { written: "src/e.go:4-9".to_owned(), line: 2 });
        assert_eq!(code_refs_in("src/f.rs#Store::open")[0].symbol_word(), Some("open"));
    }

    #[test]
    fn permalinks_of_forges_name_a_commit() {
        let sha = "0123456789abcdef0123456789abcdef01234567";
        for address in [
            format!("https://forge.example/o/r/blob/{sha}/src/a%20b.rs#L12-L20"),
            format!("https://forge.example/group/sub/r/-/blob/{sha}/src/a%20b.rs#L12"),
            format!("https://forge.example/o/r/src/commit/{sha}/src/a%20b.rs#L12"),
            format!("https://forge.example/o/r/src/{sha}/src/a%20b.rs#lines-12:20"),
        ] {
            let found = code_refs_in(&format!("[there]({address})."));
            assert_eq!(found.len(), 1, "{address}");
            assert_eq!((found[0].shown().as_str(), found[0].commit.as_deref()), ("src/a b.rs:12", Some(sha)));
        }
        assert_eq!(found("https://forge.example/o/r/blob/main/src/a.rs#L12"), Vec::<String>::new());
        assert_eq!(found("https://forge.example/o/r/blob/0123456789/../../a.rs#L12"), Vec::<String>::new());
    }

    #[test]
    fn the_field_contains_maps_and_texts() {
        let text = "---\ncode:\n- {path: src/a.rs, line: 3, text: 'fn run() {  ', commit: 0123abcd}\n- src/b.rs#run\n\
                    - {path: ../x.rs, line: 1}\n- {path: /etc/x, line: 1}\n- [x]\n- {path: c.rs, symbol: a b, line: -1}\n---\n";
        let note = Note::parse("notes/n.md", text.as_bytes().to_vec());
        let refs = code_refs_of(note.extra_fields());
        let shown: Vec<_> = refs.iter().map(CodeRef::shown).collect();
        assert_eq!(shown, ["src/a.rs:3", "src/b.rs#run", "c.rs"]);
        assert_eq!(refs[0].text.as_deref(), Some("fn run() {"));
        assert!(refs[0].is_stored() && !refs[1].is_stored());
        assert_eq!(CodeRef::of_item(&Value::Map(refs[0].to_entries())).unwrap().commit.as_deref(), Some("0123abcd"));
    }

    #[test]
    fn a_long_text_is_read_once() {
        assert_eq!(code_refs_in(&"a/b.rs:1 ".repeat(100_000)).len(), MAX_REFS);
        assert_eq!(code_refs_in(&"a/b.rs:1".repeat(100_000)).len(), 0);
        assert_eq!(code_refs_in(&"a/b#".repeat(100_000)).len(), 0);
    }
}
