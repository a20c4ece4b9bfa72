//! Commits: a message as the body of a note, without what templates and tools add to it, and the files that it changed.
//!
//! A commit has no file. What git says of it is written down as lines of fields, an empty line and the message, which is then
//! read as any other document is.

use std::fmt::Write;
use std::ops::Range;

use super::super::frontmatter::Frontmatter;
use super::super::{NoteId, SUPERSEDES, Timestamp, TypedLink, Value};
use super::NoteHead;

/// The type of a commit.
const COMMIT: &str = "commit";
/// The digits of an id: 48 bits, so that of 200,000 commits two share one in a repository of ten thousand.
pub(crate) const ID_LEN: usize = 12;
/// A commit with more files than this refers to none: it is an import, a move or a new format of all.
const MAX_FILES: usize = 64;
/// The longest fence that stays, in lines. Longer ones are output of programs.
const MAX_FENCE: usize = 20;
const REVERT: &str = "This reverts commit ";

/// The headings of templates: under them stands what matters, or nothing.
const TEMPLATE_HEADINGS: [&str; 24] = [
    "description",
    "summary",
    "overview",
    "motivation",
    "motivation and context",
    "context",
    "background",
    "problem",
    "solution",
    "what",
    "why",
    "how",
    "changes",
    "details",
    "type of change",
    "types of changes",
    "checklist",
    "test plan",
    "testing",
    "how has this been tested?",
    "related issues",
    "related issue",
    "screenshots",
    "notes",
];

/// The keys of trailers that no hyphen tells from words of a sentence.
const TRAILERS: [&str; 4] = ["cc", "bug", "link", "tested"];

/// What git says of a commit.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct CommitFields<'a> {
    /// When it was written, in RFC 3339.
    pub(crate) date: &'a str,
    pub(crate) subject: &'a str,
    /// The message below the subject.
    pub(crate) message: &'a str,
    /// The files that it changed, relative to the project.
    pub(crate) paths: Vec<&'a str>,
    /// The first release that has it.
    pub(crate) release: Option<&'a str>,
}

impl CommitFields<'_> {
    /// Writes the fields down as a text that [`read`] reads.
    pub(crate) fn to_text(&self) -> String {
        let mut text = String::new();
        let line = |text: &mut String, key: &str, value: &str| {
            // A value ends with its line.
            let _ = writeln!(text, "{key} {}", value.replace(char::is_control, " "));
        };
        line(&mut text, "title", self.subject.trim());
        line(&mut text, "date", self.date);
        self.release.iter().for_each(|release| line(&mut text, "release", release));
        let is_whole = |path: &&&str| !path.contains(char::is_control);
        if self.paths.len() <= MAX_FILES {
            self.paths.iter().filter(is_whole).for_each(|path| line(&mut text, "path", path));
        }
        text.push('\n');
        text.push_str(&essence(self.message));
        text
    }
}

/// Returns the whole id of a commit in its path.
pub(crate) fn hash_in(path: &str) -> &str {
    path.split_once('-').map_or(path, |(_, hash)| hash)
}

/// Reads the text of a commit; `path` is its time, a hyphen and its whole id.
pub(super) fn read(path: &str, text: &str) -> NoteHead {
    let head = text.find("\n\n").map_or(text.len(), |end| end + 1);
    let body = (head + 1).min(text.len())..text.len();
    let id = hash_in(path).get(..ID_LEN).and_then(NoteId::parse).unwrap_or_else(|| NoteId::from_source_path(path));
    let (mut fields, mut title, mut code) = (Frontmatter::default(), String::new(), Vec::new());
    for line in text.get(..head).unwrap_or_default().lines() {
        match line.split_once(' ') {
            Some(("title", subject)) => subject.clone_into(&mut title),
            Some(("date", date)) => fields.created = Timestamp::parse(date),
            Some(("release", release)) => fields.unknown.push(("release".to_owned(), Value::text(release.to_owned()))),
            Some(("path", path)) => code.push(Value::text(path.to_owned())),
            _ => {}
        }
    }
    if !code.is_empty() {
        fields.unknown.push(("code".to_owned(), Value::List(code)));
    }
    fields.links = reverted(text.get(body.clone()).unwrap_or_default());
    if title.trim().is_empty() {
        title = format!("commit {id}");
    }
    NoteHead { id, title, kind: COMMIT.to_owned(), fields, body }
}

/// Returns the links to the commits that a message says are reverted.
fn reverted(message: &str) -> Vec<TypedLink> {
    let ids = message.split(REVERT).skip(1).filter_map(|rest| {
        let id = rest.get(..ID_LEN)?;
        id.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| id.to_ascii_lowercase())
    });
    ids.map(|target| TypedLink { kind: SUPERSEDES.to_owned(), target }).collect()
}

/// Returns what a person wrote: a message without trailers, headings and boxes of templates, comments and long fences.
fn essence(message: &str) -> String {
    let lines: Vec<&str> = message.lines().map(str::trim_end).collect();
    let trailers = trailers_start(&lines);
    let (mut kept, mut place): (Vec<&str>, _) = (Vec::with_capacity(lines.len()), 0);
    while let Some(line) = lines.get(place) {
        let fence = fence(&lines, place);
        if fence.len() > MAX_FENCE + 2 {
            place = fence.end;
            continue;
        }
        if !fence.is_empty() {
            kept.extend(lines.get(fence.clone()).into_iter().flatten());
            place = fence.end;
            continue;
        }
        let is_left_out = is_of_template(line) || (place >= trailers && is_trailer(line));
        kept.extend((!is_left_out).then_some(line));
        place += 1;
    }
    let text = kept.join("\n");
    text.trim_matches('\n').to_owned()
}

/// Returns the lines of the fence that begins at a line; none if none does, or it has no end.
fn fence(lines: &[&str], start: usize) -> Range<usize> {
    let mark = |line: &str| {
        let line = line.trim_start();
        ["```", "~~~"].into_iter().find(|mark| line.starts_with(mark))
    };
    let Some(opening) = lines.get(start).and_then(|line| mark(line)) else { return start..start };
    let is_end = |line: &&str| mark(line) == Some(opening) && line.trim().chars().all(|c| opening.contains(c));
    let rest = lines.get(start + 1..).unwrap_or_default();
    start..rest.iter().position(is_end).map_or(start, |end| start + end + 2)
}

/// Returns the line from which on trailers are left out: the first of the last paragraph.
fn trailers_start(lines: &[&str]) -> usize {
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    lines.get(..end).unwrap_or_default().iter().rposition(|line| line.is_empty()).map_or(0, |blank| blank + 1)
}

/// Whether a line is a trailer: a key with a hyphen, such as `Signed-off-by`, or a known one, a colon and a value; or what
/// git and hosts of repositories add.
fn is_trailer(line: &str) -> bool {
    let has_key = line.split_once(": ").is_some_and(|(key, value)| {
        let is_key = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        let has_address = value.contains('<') && value.contains('@') && value.ends_with('>');
        is_key && (key.contains('-') || has_address || TRAILERS.contains(&key.to_ascii_lowercase().as_str()))
    });
    has_key || line.starts_with("(cherry picked from commit ") || line.starts_with("git-svn-id: ")
}

/// Whether a line is part of a template: a heading of one, a box to tick, or a comment.
fn is_of_template(line: &str) -> bool {
    let line = line.trim();
    let heading = line.trim_start_matches('#');
    let heading = (heading.len() < line.len()).then(|| heading.trim().trim_end_matches(':').to_lowercase());
    let is_comment = line.starts_with("<!--") && line.ends_with("-->");
    let is_box = ["- [ ] ", "- [x] ", "- [X] ", "* [ ] ", "* [x] "].iter().any(|sign| line.starts_with(sign));
    is_comment || is_box || heading.is_some_and(|heading| TEMPLATE_HEADINGS.contains(&heading.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::{Dialect, Note};

    fn parsed(fields: &CommitFields<'_>) -> Note {
        Note::parse_as(
            Dialect::Commit,
            "00001714550400-3e647b139ead3e647b139ead3e647b139ead3e64",
            fields.to_text().into_bytes(),
        )
    }

    #[test]
    fn a_commit_is_a_note_with_its_files_and_release() {
        let fields = CommitFields {
            date: "2024-05-01T10:00:00+02:00",
            subject: "cli: read\u{1b}[31m once",
            message: "Since the file is large.\n\nThis reverts commit 0123456789abcdef0123.\n",
            paths: vec!["src/cli.rs", "a\nb.rs"],
            release: Some("1.2.0"),
        };
        let note = parsed(&fields);
        assert_eq!((note.id.as_str(), &*note.title, &*note.kind), ("3e647b139ead", "cli: read [31m once", "commit"));
        assert_eq!(note.created.as_ref().map(|date| date.date().to_string()).as_deref(), Some("2024-05-01"));
        assert_eq!(
            crate::note::code_refs_of(note.extra_fields()).iter().map(|code| &*code.path).collect::<Vec<_>>(),
            ["src/cli.rs"]
        );
        assert_eq!(note.extra_fields().field("release"), Some(&Value::text("1.2.0".to_owned())));
        let links: Vec<_> = note.links.iter().map(|link| (&*link.kind, &*link.target)).collect();
        assert_eq!(links, [(SUPERSEDES, "0123456789ab")]);
        assert!(note.body().starts_with("Since the file is large."));
        let all: Vec<String> = (0..65).map(|number| format!("src/{number}.rs")).collect();
        let many = CommitFields { paths: all.iter().map(String::as_str).collect(), ..fields };
        assert_eq!(crate::note::code_refs_of(parsed(&many).extra_fields()).len(), 0);
    }

    #[test]
    fn no_message_forges_a_field() {
        for subject in ["", "a\ntitle b", "a\n\nb", "title x\ndate 2000-01-01"] {
            let fields = CommitFields { subject, message: "path x.rs\ntitle y", ..CommitFields::default() };
            let note = parsed(&fields);
            assert_eq!(
                (note.body(), crate::note::code_refs_of(note.extra_fields()).len(), note.created.is_none()),
                ("path x.rs\ntitle y", 0, true)
            );
        }
    }

    #[test]
    fn only_what_a_person_wrote_stays() {
        for (message, left) in [
            ("Why.\n\nSigned-off-by: A <a@b.c>\nChange-Id: I1\n", "Why."),
            ("Signed-off-by: A <a@b.c>\n", ""),
            ("Note-to-self: stays.\n\nThe end.\n", "Note-to-self: stays.\n\nThe end."),
            ("Fixes: #12\nCc: A <a@b.c>\n", "Fixes: #12"),
            ("## Why\nSpeed.\n\n## Checklist\n- [x] tests\n<!-- hint -->\n", "Speed."),
            ("## Our reason\nSpeed.\n", "## Our reason\nSpeed."),
            ("It says\n```\nerror\n```\n", "It says\n```\nerror\n```"),
            ("Open\n```\n1\n2\n", "Open\n```\n1\n2"),
        ] {
            assert_eq!(essence(message), left, "{message}");
        }
        let long = format!("Log:\n```\n{}```\nThe end.", "line\n".repeat(21));
        assert_eq!(essence(&long), "Log:\nThe end.");
        let open = format!("Log:\n```\n{}The reason.", "line\n".repeat(25));
        assert_eq!(essence(&open), open);
    }
}
