//! What of a prompt is worth a search: the words of its prose but for those that only steer the agent.
//! specs/internals/ranking.md has the rule.

use std::collections::HashSet;

use super::action::{MAX_NOTES, path_mention};
use super::memory_request::{asks_for_memory, is_asking};
use crate::request::{ContextRequest, Occasion, QuestionOptions, Room, Selectors};

/// The most bytes of a prompt that are searched for.
const MAX_BYTES: usize = 4_000;
/// The most paths whose notes are looked for.
const MAX_PATHS: usize = 4;
/// The share of the room of an answer, as a divisor, by which the sizes of passages are chosen: short ones, so that several
/// notes have room.
const ROOM_SHARE: usize = 3;
/// The least words of a prose that names its subject without the code beside it, and beside which those of a path are searched
/// for: its folders alone bring notes on anything in them. With no such words, 17 of 48 judged tasks bring their note, with them
/// 20.
const MIN_PROSE_WORDS: usize = 3;
/// The least words about its subject of a prompt that counts as a question.
const MIN_QUESTION_WORDS: usize = 3;
/// The words with which questions begin: question words, and auxiliary verbs before their subject.
const QUESTION_STARTS: [&str; 33] = [
    "what", "what's", "which", "who", "whose", "why", "when", "where", "how", "is", "isn't", "are", "aren't", "was",
    "were", "do", "don't", "does", "doesn't", "did", "didn't", "has", "have", "had", "can", "can't", "could", "should",
    "shouldn't", "would", "will", "may", "must",
];
/// The most digits of a number that means nothing by itself.
const MAX_DIGITS: usize = 4;

/// The folders of the root of a file system (Filesystem Hierarchy Standard 3.0), without `/run`, which names a command of
/// tools more often. A prompt that begins with one of them is no command.
const ROOT_FOLDERS: [&str; 17] = [
    "bin", "boot", "dev", "etc", "home", "lib", "media", "mnt", "opt", "proc", "root", "sbin", "srv", "sys", "tmp",
    "usr", "var",
];

/// Words with which users steer agents, and which name no subject.
const STEERING: &str = include_str!("steering-words.txt");

/// Returns the request for the notes that help with a prompt or name one of its paths, within `room` characters; `None` for a
/// prompt that names no subject: a greeting, an approval, a command of the tool, or nothing but code.
pub fn request(prompt: &str, room: usize) -> Option<ContextRequest> {
    let prompt = prompt.trim();
    let prose = prose(prompt);
    if is_tool_command(prompt) || prose.is_empty() {
        return None;
    }
    let has_cue = asks_for_memory(&prose, asks);
    let steering: HashSet<&str> = STEERING.split_whitespace().collect();
    let is_subject = |word: &str| names_subject(word, &steering) && !(has_cue && is_asking(word));
    let mut words = subject_words(&prose, is_subject);
    if words.len() < MIN_PROSE_WORDS && !has_cue {
        words = subject_words(&[prompt], is_subject);
    }
    let is_question = words.len() >= MIN_QUESTION_WORDS && prose.iter().any(|line| asks(line));
    let occasion = match (has_cue, is_question) {
        (true, _) => Occasion::Memory,
        (false, true) => Occasion::Question,
        (false, false) => Occasion::Task,
    };
    let (mut mentions, mut prose) = (Vec::new(), Vec::new());
    for word in &words {
        match path_mention(bare(word)) {
            Some(mention) => mentions.push(mention),
            None => prose.push(*word),
        }
    }
    mentions.truncate(MAX_PATHS);
    let names_only_paths = prose.is_empty();
    let is_explained = names_only_paths || prose.len() >= MIN_PROSE_WORDS;
    let query = if is_explained { words.join(" ") } else { prose.join(" ") };
    (!query.is_empty()).then(|| ContextRequest {
        selection: Selectors {
            query: Some(query),
            within_notes: names_only_paths,
            asking: Some(QuestionOptions { occasion: Some(occasion), ..QuestionOptions::default() }),
            max_notes: Some(MAX_NOTES),
            mentions,
            ..Selectors::default()
        },
        with_body: Some(true),
        room: Room::of_chars(room / ROOM_SHARE),
        shows_passages: true,
        ..ContextRequest::default()
    })
}

/// Tells whether a prompt is a command of the tool, such as `/compact`, and no path; or a shell command.
fn is_tool_command(prompt: &str) -> bool {
    let name = prompt.strip_prefix('/').map(|rest| rest.split_whitespace().next().unwrap_or_default());
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let is_name = |name: &str| name.chars().all(is_of_name) && !ROOT_FOLDERS.contains(&name);
    name.is_some_and(is_name) || prompt.starts_with('!')
}

/// Tells whether a line asks something: it ends in a question mark, or begins as a question does.
pub(super) fn asks(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default().replace('’', "'").to_lowercase();
    line.trim_end().ends_with('?') || QUESTION_STARTS.contains(&first.as_str())
}

/// Returns the words of texts that may name a subject, from the first [`MAX_BYTES`] bytes.
fn subject_words<'a>(texts: &[&'a str], is_subject: impl Fn(&str) -> bool) -> Vec<&'a str> {
    let mut room = MAX_BYTES;
    let words = texts.iter().flat_map(|text| text.split_whitespace());
    let has_room = |word: &&str| {
        room = room.saturating_sub(word.len() + 1);
        room > 0
    };
    words.take_while(has_room).filter(|word| is_subject(word)).collect()
}

/// Returns the path in a word of prose: without the punctuation around it, the `@` before a file that tools add to a prompt, a
/// line behind `#L`, and the text of a link.
fn bare(word: &str) -> &str {
    let word = word.rsplit_once("](").map_or(word, |(_, destination)| destination);
    let word = word.split_once("#L").map_or(word, |(path, _)| path);
    let word = word.trim_end_matches("'s").trim_end_matches("’s");
    word.trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '.' | '~' | '_'))
        .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '/' | '_'))
}

/// Tells whether a word, with the punctuation around it, may name a subject: it has a letter or a long number, and does
/// not steer the agent.
fn names_subject(word: &str, steering: &HashSet<&str>) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let is_short_number = word.len() <= MAX_DIGITS && word.bytes().all(|byte| byte.is_ascii_digit());
    !is_short_number && !steering.contains(word.to_lowercase().as_str())
}

/// Returns the lines of a prompt that are neither code nor part of a log: outside of fences and not indented.
fn prose(prompt: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
        is_fenced ^= is_fence;
        let is_indented = line.starts_with("    ") || line.starts_with('\t');
        !is_fence && !is_fenced && !is_indented && !line.trim().is_empty() && !is_code(line)
    };
    prompt.lines().filter(is_prose).collect()
}

/// Tells whether a line is one of code or of a log, by its form.
fn is_code(line: &str) -> bool {
    const STARTS: [&str; 15] =
        ["}", "{", "<", "at ", "//", "/*", "*/", "@@", "+++", "---", "diff --git", "import ", "#include", "#[", "$ "];
    let text = line.trim();
    let is_symbol = |c: char| matches!(c, '{' | '}' | '(' | ')' | ';' | '=' | '<' | '>' | '[' | ']' | '|');
    let symbols = text.chars().filter(|c| is_symbol(*c)).count();
    let has_year =
        text.split('-').next().is_some_and(|year| year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()));
    text.ends_with(['{', '}', ';', '\\'])
        || text.ends_with("=>")
        || STARTS.iter().any(|start| text.starts_with(start))
        || has_year
        || (text.starts_with('"') && text.contains("\":"))
        || symbols * 6 > text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::MentionTarget;

    fn query(prompt: &str) -> Option<String> {
        request(prompt, 1_500)?.selection.query
    }

    #[test]
    fn prompts_without_a_subject_are_not_searched_for() {
        for prompt in
            "|  \n|hi|Hello!|yes|Yes, please.|continue|go on|ok do it|LGTM, thanks!|try again|/compact|/review 123|\
            /my-plugin:ask why|!git status|run the tests|fix the lint errors|commit this and push|1|2026|...|\
            let total = price * 2;|```\nfn main() {}\n```|{\n  \"name\": \"a\"\n}|\
            #[derive(Parser)]\nstruct Cli {\n    dir: PathBuf,\n}"
                .split('|')
        {
            assert_eq!(query(prompt), None, "{prompt:?}");
        }
    }

    #[test]
    fn the_words_of_other_prompts_are_searched_for() {
        assert_eq!(query("Please add retries to the webhook handler.").unwrap(), "retries webhook handler.");
        assert_eq!(query("/srv/data is full, why?").unwrap(), "/srv/data full,");
        assert_eq!(query("/srv why is it full").unwrap(), "/srv full");
        let pasted = "this panics:\n\n```\nlet key = Uuid::new_v4();\n```\n";
        assert_eq!(query(pasted).unwrap(), "panics: key Uuid::new_v4();");
        let explained = "the id of an order panics:\n\n```\nlet key = Uuid::new_v4();\n```\n";
        assert_eq!(query(explained).unwrap(), "id order panics:");
        assert!(query(&"über ".repeat(10_000)).unwrap().len() <= MAX_BYTES);
    }

    #[test]
    fn the_words_of_paths_are_searched_for_beside_others_only() {
        let request = |prompt: &str| request(prompt, 1_500).unwrap().selection;
        let file = MentionTarget::File("lib/src/revset.rs".to_owned());
        let alone = request("please fix the tests in `lib/src/revset.rs:12`");
        assert_eq!((alone.within_notes, &alone.mentions[..]), (true, std::slice::from_ref(&file)));
        let few = request("fix the revsets in lib/src/revset.rs.");
        assert_eq!((few.query.as_deref(), &few.mentions[..]), (Some("revsets"), std::slice::from_ref(&file)));
        let many = request("let revsets remember the last bookmark, see lib/src/revset.rs");
        assert_eq!(many.query.as_deref(), Some("revsets remember bookmark, lib/src/revset.rs"));
        for prompt in ["use Node.js and/or CI/CD here", "a read/write lock e.g. for Windows", "add /admin/users/list"] {
            assert_eq!(request(prompt).mentions, [], "{prompt}");
        }
        for word in ["@lib/src/revset.rs", "lib/src/revset.rs#L12,", "lib/src/revset.rs's", "[it](lib/src/revset.rs)"] {
            let prompt = format!("fix {word}");
            assert_eq!(request(&prompt).mentions, std::slice::from_ref(&file), "{word}");
        }
        assert_eq!(request("docs/ has stale pages").mentions, [MentionTarget::Folder("docs/".to_owned())]);
    }

    #[test]
    fn words_of_asking_are_not_searched_for() {
        assert_eq!(query("remember what we said about the mobile app?").unwrap(), "mobile app?");
        assert_eq!(query("did we ever decide how often the token is refreshed?").unwrap(), "often token refreshed?");
        assert_eq!(query("what did we decide?"), None);
    }
}
