//! The simple commands of a command line and their words, as a shell splits them.

/// Splits a command line into its simple commands, and each into its words, without quotes. The texts of here-documents
/// are no words. O(bytes).
pub(super) fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let line = without_here_documents(line);
    let (mut commands, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            // A backslash before a letter separates the folders of a path on Windows.
            (None | Some('"'), '\\') if chars.peek().is_some_and(|next| !next.is_alphanumeric()) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => word.get_or_insert_default().push(c),
            (None, '"' | '\'' | '`') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            // A comment. `$#` and `a#b` are none.
            (None, '#') if word.is_none() => while chars.next_if(|next| *next != '\n').is_some() {},
            (None, '<' | '>') => words.extend(word.take()),
            (None, ';' | '|' | '&' | '\n' | '(' | ')') => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
            }
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    commands.push(words);
    commands.retain(|words| !words.is_empty());
    commands
}

/// Returns a command line without the lines of its here-documents.
fn without_here_documents(line: &str) -> String {
    let mut end: Option<&str> = None;
    let mut kept = Vec::new();
    for text in line.split('\n') {
        match end {
            Some(word) if text.trim() == word => end = None,
            Some(_) => {}
            None => {
                end = delimiter(text);
                kept.push(text);
            }
        }
    }
    kept.join("\n")
}

/// Returns the word that ends the here-document which begins behind a line; `None` if none begins.
fn delimiter(line: &str) -> Option<&str> {
    let (_, behind) = line.split_once("<<").filter(|(_, behind)| !behind.starts_with('<'))?;
    let word = behind.trim_start_matches('-').trim_start().trim_start_matches(['"', '\'', '\\']);
    let word = word.get(..word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len()))?;
    word.starts_with(|c: char| c.is_alphabetic() || c == '_').then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_a_shell() {
        let commands = |line| simple_commands(line).into_iter().map(|words| words.join("|")).collect::<Vec<_>>();
        assert_eq!(commands("a 'b c'\"d\" \\\"e && f\\ g;(h)\n"), ["a|b cd|\"e", "f g", "h"]);
        assert_eq!(commands("a \"b 'c' \\\"d\\\"\" ''"), ["a|b 'c' \"d\"|"]);
        assert_eq!(commands(r"type src\a.rs"), [r"type|src\a.rs"]);
        assert_eq!(commands("a 'b; c"), ["a|b; c"]);
        assert_eq!(commands("  "), [""; 0]);
        assert_eq!(commands("\\"), ["\\"]);
    }

    #[test]
    fn here_documents_are_left_out() {
        let text =
            "qipu capture <<'EOF'\nit's in src/a.rs\n  EOF\ncat b <<-X | tee c\n'\nX\ncat <<< d\nwc $((1<<2))\ne";
        let commands: Vec<String> = simple_commands(text).iter().map(|words| words.join(" ")).collect();
        assert_eq!(commands[..3], ["qipu capture EOF", "cat b -X", "tee c"]);
        assert!(commands.contains(&"cat d".to_owned()) && commands.last().unwrap() == "e");
        assert_eq!(without_here_documents("a <<EOF\nnever ended"), "a <<EOF");
    }
}
