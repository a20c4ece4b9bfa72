//! What an edit or a command names: files, identifiers, and the first words of a command line.

use std::path::Path;

use super::command_line::simple_commands;
use super::input::HookInput;
use crate::request::{ContextRequest, MAX_PATH_BYTES, MentionTarget, Occasion, QuestionOptions, Room, Selectors};

/// The most notes that are shown, and the most before an edit.
pub(super) const MAX_NOTES: usize = 3;
const MAX_EDIT_NOTES: usize = 2;
/// The most files, and the most identifiers of an edit, that are looked for.
const MAX_FILES: usize = 8;
const MAX_SYMBOLS: usize = 16;
/// The fewest characters of an identifier.
const MIN_SYMBOL_CHARS: usize = 6;
/// The most bytes of a command line that are read.
const MAX_COMMAND_BYTES: usize = 8_000;
/// The most bytes of a command line that are searched for: the rest is data.
const MAX_QUERY_BYTES: usize = 400;
/// Words before the name of a program: words of a shell, and programs that run another one.
const PREFIXES: [&str; 13] =
    ["sudo", "env", "time", "nohup", "exec", "command", "if", "then", "else", "while", "do", "!", "{"];
/// Programs that run a command line behind the option `-c`.
const SHELLS: [&str; 4] = ["sh", "bash", "zsh", "dash"];

/// Returns the request for the notes that name what an edit or a command is about, and for the one that answers the words
/// of the command, within `room` characters; `None` if it names nothing.
pub(super) fn request(input: &HookInput, room: usize) -> Option<ContextRequest> {
    let files = input.files.iter().take(MAX_FILES).map(|file| MentionTarget::File(file.clone()));
    let symbols = symbols(input).into_iter().map(MentionTarget::Symbol);
    let of_command = of_command(&input.command);
    let absolute = |mention| match mention {
        MentionTarget::File(file) => MentionTarget::File(absolute(&file, input)),
        other => other,
    };
    let is_short = |mention: &MentionTarget| mention.text().len() <= MAX_PATH_BYTES;
    let mentions = files.chain(symbols).chain(of_command).map(absolute).filter(is_short);
    let mentions: Vec<MentionTarget> = mentions.collect();
    let is_edit = !input.files.is_empty();
    // The words for the passages of the notes that name what an edit is about.
    let edit_query = || mentions.iter().map(MentionTarget::text).collect::<Vec<_>>().join(" ");
    let query = if is_edit { edit_query() } else { command_query(&input.command) };
    let occasion = if is_edit { Occasion::Edit } else { Occasion::Command };
    (!query.is_empty()).then(|| ContextRequest {
        selection: Selectors {
            query: Some(query),
            // What an edit is about can't be told from its words: notes that do not name it are no better than any.
            within_notes: is_edit,
            max_hits: Some(1),
            asking: Some(QuestionOptions { occasion: Some(occasion), ..QuestionOptions::default() }),
            max_notes: Some(if is_edit { MAX_EDIT_NOTES } else { MAX_NOTES }),
            mentions,
            ..Selectors::default()
        },
        with_body: Some(true),
        room: Room::of_chars(room),
        shows_passages: true,
        ..ContextRequest::default()
    })
}

/// Returns the beginning of a command line, by whose words a note is found that does not name its files.
fn command_query(line: &str) -> String {
    let line = line.trim();
    line.get(..line.floor_char_boundary(MAX_QUERY_BYTES)).unwrap_or_default().to_owned()
}

/// Returns the absolute path of a file, if the current directory of the session is known.
fn absolute(file: &str, input: &HookInput) -> String {
    let is_absolute = file.starts_with(['/', '\\']) || file.get(1..3).is_some_and(|root| matches!(root, ":\\" | ":/"));
    match input.current_dir.as_deref().and_then(Path::to_str).filter(|_| !is_absolute) {
        Some(dir) => format!("{dir}/{file}"),
        None => file.to_owned(),
    }
}

/// Returns the identifiers of an edit, each once: the stem of each file's name, then those of its text in their order.
fn symbols(input: &HookInput) -> Vec<String> {
    let stem = |file: &String| {
        let name = file.rsplit(['/', '\\']).next()?;
        Some(name.split_once('.').map_or(name, |(stem, _)| stem).to_owned())
    };
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let words = input.edited.split(|c| !is_of_word(c)).map(str::to_owned);
    let mut symbols = Vec::new();
    for word in input.files.iter().filter_map(stem).chain(words) {
        if symbols.len() >= MAX_SYMBOLS {
            break;
        }
        if is_identifier(&word) && !symbols.contains(&word) {
            symbols.push(word);
        }
    }
    symbols
}

/// Tells whether a word can only be an identifier: it has an inner underscore, or an inner capital after a small letter.
fn is_identifier(word: &str) -> bool {
    let inner = word.trim_matches('_');
    let has_hump = inner
        .as_bytes()
        .windows(2)
        .any(|two| matches!(two, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
    inner.chars().count() >= MIN_SYMBOL_CHARS
        && inner.chars().any(char::is_alphabetic)
        && (has_hump || inner.contains('_'))
}

/// Returns the files that a command line names, and the program with its subcommand of each simple command in it.
fn of_command(line: &str) -> Vec<MentionTarget> {
    let line = line.get(..line.floor_char_boundary(MAX_COMMAND_BYTES)).unwrap_or_default();
    let outer = simple_commands(line);
    let runs_script = |words: &&Vec<String>| words.iter().any(|word| SHELLS.contains(&word.as_str()));
    let scripts = outer.iter().filter(runs_script).flat_map(|words| behind_option(words, 'c', "--command"));
    let inner: Vec<_> = scripts.flat_map(|script| simple_commands(script)).collect();
    let (mut files, mut commands) = (Vec::new(), Vec::new());
    for words in outer.iter().chain(&inner) {
        let messages: Vec<_> = behind_option(words, 'm', "--message").collect();
        let is_named = |word: &&String| is_file(word) && !messages.contains(word);
        files.extend(words.iter().filter(is_named).map(|word| MentionTarget::File(without_line(word).to_owned())));
        let is_before =
            |word: &&String| PREFIXES.contains(&word.as_str()) || word.starts_with('-') || word.contains('=');
        let mut words = words.iter().skip_while(is_before);
        let is_name = |word: &&String| word.starts_with(|c: char| c.is_ascii_alphabetic());
        let program = words.next().filter(is_name);
        // Options and toolchains, such as `+nightly`, precede the subcommand.
        let first =
            words.find(|word| !word.starts_with(['-', '+'])).filter(|word| is_name(word) && !word.contains('/'));
        if let (Some(program), Some(first)) = (program, first) {
            commands.push(MentionTarget::Command(format!("{program} {first}")));
        }
    }
    files.truncate(MAX_FILES);
    commands.truncate(MAX_FILES);
    files.into_iter().chain(commands).collect()
}

/// Yields the words behind an option, which may be the last one of a group of short ones, such as `-am`.
fn behind_option<'a>(words: &'a [String], short: char, long: &'a str) -> impl Iterator<Item = &'a String> {
    let is_option = move |word: &String| {
        let group = word.strip_prefix('-').and_then(|word| word.strip_suffix(short));
        word == long || group.is_some_and(|group| group.bytes().all(|byte| byte.is_ascii_alphabetic()))
    };
    words.iter().zip(words.iter().skip(1)).filter(move |(option, _)| is_option(option)).map(|(_, word)| word)
}

/// Returns a path without a line and a column behind it: `src/a.rs` of `src/a.rs:12:3`.
fn without_line(path: &str) -> &str {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut path = path;
    while let Some((before, _)) = path.rsplit_once(':').filter(|(_, number)| is_number(number)) {
        path = before;
    }
    path
}

/// Tells whether a word of a command line is the path of a file: its last component has a letter before and after a dot,
/// or it has a folder. A word with a space is a text.
fn is_file(word: &str) -> bool {
    if word.starts_with('-') || word.contains("://") || word.contains(char::is_whitespace) {
        return false;
    }
    let name = word.rsplit('/').next().unwrap_or_default();
    let has_extension = name.rsplit_once('.').is_some_and(|(stem, extension)| {
        stem.chars().any(char::is_alphanumeric) && extension.chars().any(char::is_alphabetic)
    });
    has_extension || (word.contains('/') && name.chars().any(char::is_alphanumeric))
}

/// Returns the file or folder that a word of prose names by its path; `None` for other words with slashes, such as `and/or` and
/// the route `/admin/users`.
pub(super) fn path_mention(word: &str) -> Option<MentionTarget> {
    let path = without_line(word);
    let name = path.rsplit('/').next().unwrap_or_default();
    let has_extension =
        name.rsplit_once('.').is_some_and(|(stem, extension)| !stem.is_empty() && !extension.is_empty());
    let folders = path.split('/').filter(|part| !part.is_empty() && *part != ".").count();
    if !path.contains('/') || path.contains("://") || path.len() > MAX_PATH_BYTES {
        None
    } else if has_extension {
        Some(MentionTarget::File(path.to_owned()))
    } else {
        let is_folder = !path.starts_with('/') && (path.ends_with('/') || path.starts_with('.') || folders > 2);
        is_folder.then(|| MentionTarget::Folder(path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_names_files_and_subcommands() {
        let file = |text: &str| MentionTarget::File(text.to_owned());
        let command = |text: &str| MentionTarget::Command(text.to_owned());
        let line = "cd web && RUST_LOG=debug cargo publish -p core; sed -i s/a/b/ src/a.rs | tee 'out.log'";
        let named =
            [file("src/a.rs"), file("out.log"), command("cd web"), command("cargo publish"), command("tee out.log")];
        assert_eq!(of_command(line), named);
        assert_eq!(of_command("ls -la https://a.b/c 1.2"), []);
        let script = "bash -lc 'cargo publish && cat src/a.rs'";
        assert_eq!(of_command(script), [file("src/a.rs"), command("cargo publish")]);
        assert_eq!(of_command(""), []);
        for line in [
            "sudo cargo publish",
            "cargo +nightly publish",
            "cargo --quiet publish",
            "env A=1 cargo publish",
            "if true; then cargo publish; fi",
            "! cargo publish>log # cargo yank",
        ] {
            assert!(of_command(line).contains(&command("cargo publish")), "{line}");
            assert!(!of_command(line).contains(&command("cargo yank")), "{line}");
        }
        assert_eq!(of_command("cat src/a.rs:12 <in.txt>>src/b.rs")[..3], ["src/a.rs", "in.txt", "src/b.rs"].map(file));
        assert_eq!(of_command(r"type C:\x\a.rs").first(), Some(&file(r"C:\x\a.rs")));
    }

    #[test]
    fn texts_in_a_command_line_name_no_files() {
        for line in [
            "git commit -m 'mend src/a.rs'",
            "git commit -am src/a.rs",
            "git commit --message \"src/a.rs; src/b.rs\"",
            "git commit --message=src/a.rs",
            "git commit -m \"$(cat <<'EOF'\nmend \"src/a.rs\"\n\nIt's a.rs\nEOF\n)\"",
            "git commit -F - <<EOF\nmend src/a.rs\nEOF",
            "gh pr create --title 'mend src/a.rs' --body 'see b.rs'",
        ] {
            let named = of_command(line);
            assert!(named.iter().all(|mention| matches!(mention, MentionTarget::Command(_))), "{line}: {named:?}");
            assert!(!named.is_empty());
        }
        let file = MentionTarget::File("src/b.rs".to_owned());
        assert_eq!(of_command("git commit -m 'mend src/a.rs' src/b.rs").first(), Some(&file));
    }

    #[test]
    fn identifiers_of_an_edit_are_those_that_are_no_plain_words() {
        let input = HookInput {
            files: vec!["/w/src/LoginForm.tsx".to_owned()],
            edited: "const total = applyDiscount(max_retries, price, __init__, HTTP, applyDiscount)".to_owned(),
            current_dir: Some("/w".into()),
            ..HookInput::default()
        };
        assert_eq!(symbols(&input), ["LoginForm", "applyDiscount", "max_retries"]);
        assert_eq!(absolute("/x/a.ts", &input), "/x/a.ts");
        assert_eq!(absolute("src/a.ts", &input), "/w/src/a.ts");
        assert_eq!(absolute(r"C:\x\a.ts", &input), r"C:\x\a.ts");
    }
}
