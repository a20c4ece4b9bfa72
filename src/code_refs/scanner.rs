//! Reads the lines of a source: without comments, and with no more white space than separates words. Pure.

use super::syntax::SourceSyntax;

/// Where a scanner is between two characters.
#[derive(Debug, Default, PartialEq, Eq)]
enum LexicalState {
    #[default]
    Code,
    /// In a comment, up to this text.
    Comment(&'static str),
    /// In quotes, up to this text.
    Quoted { end: String, has_escapes: bool, is_long: bool },
    /// In a here-document, up to the line with this word.
    HereDocument(String),
}

/// A line without comments.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ScannedLine {
    /// The text: white space only between words and in quotes.
    pub(super) text: String,
    /// The text without what is in quotes.
    pub(super) code: String,
    /// Whether it goes on with the line before it: it begins in quotes, or in brackets.
    pub(super) is_continuation: bool,
    /// The bytes of white space at its beginning.
    pub(super) indent: usize,
    /// The bytes of the whole line.
    pub(super) bytes: usize,
}

impl ScannedLine {
    fn push(&mut self, c: char, is_code: bool) {
        self.text.push(c);
        if is_code {
            self.code.push(c);
        }
    }

    /// Adds a character of code, after the space that separates it from the word before.
    fn push_code(&mut self, c: char, has_space: bool) {
        if has_space && is_of_word(c) && self.code.ends_with(is_of_word) {
            self.push(' ', true);
        }
        self.push(c, true);
    }
}

/// A scanner of consecutive lines. The first one begins in code.
pub(super) struct LineScanner {
    syntax: &'static SourceSyntax,
    state: LexicalState,
}

impl LineScanner {
    pub(super) fn new(syntax: &'static SourceSyntax) -> Self {
        Self { syntax, state: LexicalState::Code }
    }

    /// Reads the next line. O(bytes).
    pub(super) fn scan(&mut self, line: &str) -> ScannedLine {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let is_continuation = matches!(self.state, LexicalState::Quoted { .. } | LexicalState::HereDocument(_));
        let mut scanned = ScannedLine { is_continuation, indent, bytes: line.len(), ..ScannedLine::default() };
        if let LexicalState::HereDocument(word) = &self.state {
            if line.trim() == word {
                self.state = LexicalState::Code;
            }
            scanned.text.push_str(line);
            return scanned;
        }
        let (mut rest, mut has_space) = (line, false);
        while let Some(c) = rest.chars().next() {
            let read = match &self.state {
                LexicalState::Comment(end) => {
                    let end = *end;
                    has_space = true;
                    self.skip_comment(rest, end)
                }
                LexicalState::Quoted { .. } => self.quoted(rest, &mut scanned),
                _ if c.is_whitespace() => {
                    has_space = true;
                    c.len_utf8()
                }
                _ => {
                    let Some(read) = self.code(rest, has_space, &mut scanned) else { break };
                    has_space = false;
                    read
                }
            };
            rest = rest.get(read..).unwrap_or_default();
        }
        self.end_line(line, &scanned.code);
        scanned
    }

    /// Ends what can't go on behind the end of a line, and begins a here-document.
    fn end_line(&mut self, line: &str, code: &str) {
        if matches!(self.state, LexicalState::Quoted { is_long: false, .. }) && !line.ends_with('\\') {
            self.state = LexicalState::Code;
        }
        if self.syntax.has_here_documents && self.state == LexicalState::Code && code.contains("<<") {
            self.state = here_document(line).map_or(LexicalState::Code, LexicalState::HereDocument);
        }
    }

    fn skip_comment(&mut self, rest: &str, end: &str) -> usize {
        let Some(found) = rest.find(end) else { return rest.len() };
        self.state = LexicalState::Code;
        found + end.len()
    }

    /// Reads a character in quotes.
    fn quoted(&mut self, rest: &str, scanned: &mut ScannedLine) -> usize {
        let LexicalState::Quoted { end, has_escapes, .. } = &self.state else { return rest.len() };
        if rest.starts_with(end.as_str()) {
            let read = end.len();
            end.chars().for_each(|c| scanned.push(c, true));
            self.state = LexicalState::Code;
            return read;
        }
        let mut chars = rest.chars();
        let taken = if *has_escapes && rest.starts_with('\\') { 2 } else { 1 };
        chars.by_ref().take(taken).for_each(|c| scanned.push(c, false));
        rest.len() - chars.as_str().len()
    }

    /// Reads code: a character, or the beginning of a comment or of quotes. `None` if a comment ends the line.
    fn code(&mut self, rest: &str, has_space: bool, scanned: &mut ScannedLine) -> Option<usize> {
        if self.begins_line_comment(rest, has_space || scanned.text.is_empty()) {
            return None;
        }
        if let Some((start, end)) = self.syntax.block_comments.iter().find(|(start, _)| rest.starts_with(start)) {
            self.state = LexicalState::Comment(end);
            return Some(start.len());
        }
        if let Some((read, quoted)) = self.quote(rest, &scanned.code) {
            rest.chars().take(read).for_each(|c| scanned.push_code(c, has_space));
            self.state = quoted;
            return Some(read);
        }
        let c = rest.chars().next()?;
        scanned.push_code(c, has_space);
        Some(c.len_utf8())
    }

    fn begins_line_comment(&self, rest: &str, is_behind_space: bool) -> bool {
        // In scripts, `#` inside a word is a part of it, as in `${#list}`.
        let is_comment = |mark: &str| rest.starts_with(mark) && (is_behind_space || !mark.starts_with('#'));
        self.syntax.line_comments.iter().any(|mark| is_comment(mark))
    }

    /// Returns the length of the quote that begins here, in bytes of ASCII, and the state behind it.
    fn quote(&self, rest: &str, before: &str) -> Option<(usize, LexicalState)> {
        let syntax = self.syntax;
        let until =
            |end: &str, has_escapes, is_long| LexicalState::Quoted { end: end.to_owned(), has_escapes, is_long };
        if syntax.has_raw_texts && rest.starts_with('r') && !before.trim_end_matches('b').ends_with(is_of_word) {
            let marks = rest.bytes().skip(1).take_while(|byte| *byte == b'#').count();
            if rest.as_bytes().get(1 + marks) == Some(&b'"') {
                return Some((marks + 2, until(&format!("\"{}", "#".repeat(marks)), false, true)));
            }
        }
        let quote = rest.chars().next()?;
        if syntax.has_regexes && quote == '/' && begins_regex(before) && is_closed(rest, '/') {
            return Some((1, until("/", true, false)));
        }
        let triple = ["\"\"\"", "'''"].into_iter().find(|triple| syntax.has_triple_quotes && rest.starts_with(triple));
        if let Some(triple) = triple {
            return Some((3, until(triple, true, true)));
        }
        let is_char = || is_char_literal(rest, before);
        if quote == '\'' && syntax.has_char_literals && !is_char() {
            return None;
        }
        let is_long = syntax.long_quotes.contains(quote);
        (is_long || syntax.quotes.contains(quote)).then(|| (1, until(quote.encode_utf8(&mut [0; 4]), true, is_long)))
    }
}

/// Tells whether `'` begins a quoted character: one character, or an escape, and another `'`. Otherwise it is that of a lifetime
/// or a number.
fn is_char_literal(rest: &str, before: &str) -> bool {
    let mut chars = rest.chars().skip(1);
    let first = chars.next();
    let is_closed = chars.take(10).take_while(|c| first == Some('\\') || *c == '\'').any(|c| c == '\'');
    is_closed && !before.ends_with(|c: char| c.is_ascii_digit())
}

/// Tells whether a slash behind this code begins a regular expression: no value is before it that it could divide.
fn begins_regex(before: &str) -> bool {
    let is_keyword =
        ["return", "typeof", "case", "when", "if", "in", "and", "or"].iter().any(|word| before.ends_with(word));
    before.is_empty() || is_keyword || before.ends_with(|c: char| "(,=:[!&|?{};+-*%~^<>".contains(c))
}

/// Tells whether a text that begins with a quote contains it again.
fn is_closed(rest: &str, quote: char) -> bool {
    rest.chars().skip(1).any(|c| c == quote)
}

/// Returns the word that ends the here-document which a line begins.
fn here_document(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("<<")?;
    let rest = rest.trim_start_matches(['-', '~']);
    let rest = rest.strip_prefix(['"', '\'', '\\']).unwrap_or(rest);
    let end = rest.find(|c: char| !is_of_word(c)).unwrap_or(rest.len());
    let word = rest.get(..end).filter(|word| word.starts_with(|c: char| c.is_uppercase() || c == '_'))?;
    Some(word.to_owned())
}

/// Tells whether a character is one of words.
pub(super) fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(path: &str, text: &str) -> Vec<String> {
        let mut scanner = LineScanner::new(SourceSyntax::of_path(path));
        text.lines().map(|line| scanner.scan(line).text).collect()
    }

    #[test]
    fn comments_and_blanks_are_left_out() {
        for (path, text, expected) in [
            (
                "a.rs",
                "let  a = \"// b  c\" ; // d\n/* e\nf */ let 'x: &'a str = '\\'';",
                &["let a=\"// b  c\";", "", "let'x:&'a str='\\'';"][..],
            ),
            ("a.rs", "r#\"a // \" b\"# c // d\nbr\"\\\" e", &["r#\"a // \" b\"#c", "br\"\\\"e"]),
            ("a.c", "int n = 1'000; char c = '\"'; // x", &["int n=1'000;char c='\"';"]),
            (
                "a.js",
                "x = /[\"'] \\/ /; y = a / b // c\n`t // ${u}\n  v` // w",
                &["x=/[\"'] \\/ /;y=a/b", "`t // ${u}", "  v`"],
            ),
            ("a.py", "x = '''a # b\n # c\n''' # d\ny = \"it's\" # e", &["x='''a # b", " # c", "'''", "y=\"it's\""]),
            (
                "a.sh",
                "n=${#a} # b\ncat <<-'EOF' # c\n # it's\nEOF\nd  # e",
                &["n=${#a}", "cat<<-'EOF'", " # it's", "EOF", "d"],
            ),
            ("a.md", "A  b<!-- c\nd --> e", &["A b", "e"]),
            ("a.txt", "a  b # c // d", &["a b#c//d"]),
        ] {
            assert_eq!(texts(path, text), expected, "{path}");
        }
    }
}
