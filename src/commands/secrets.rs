//! Refuses changes and packs that contain secrets, and reports the secrets of a store.

use super::note_warning;
use crate::error::{Error, ErrorKind};
use crate::note::Note;
use crate::report::{DiagnosticEntry, Severity, counted};
use crate::secrets::{KnownSecrets, Secret, find, find_new, find_new_in_spite_of_comments};
use crate::store::{Change, NoteHandle, Store};

/// The most secrets that an error names.
const MAX_NAMED: usize = 3;

/// The longest attachment that is searched, in bytes. Longer ones, and those that are not UTF-8, are data.
const MAX_ATTACHMENT: u64 = 1024 * 1024;

/// How a person allows an example.
const EXAMPLES_HINT: &str =
    "An example is allowed by the comment `qipu:allow-secret` on its line, or by --allow-secret on the command line";

/// The fields of a note whose names an error may contain; the name of any other may be a secret.
const FIELDS: [&str; 8] = ["id", "title", "type", "tags", "summary", "sources", "links", "aliases"];

/// The secrets in the files of a change or pack that were in none of the old ones.
#[derive(Default)]
pub(super) struct SecretSearch {
    known: KnownSecrets,
    /// Kinds and places.
    found: Vec<String>,
    /// Whether a program writes the words, which can't decide that a secret is an example.
    is_of_program: bool,
}

impl SecretSearch {
    /// Searches for secrets that changes add to the files of a store. `is_of_program`: whether a program makes them.
    pub(super) fn among<'c>(changes: impl Iterator<Item = &'c Change> + Clone, is_of_program: bool) -> Self {
        let mut search = Self { is_of_program, ..Self::default() };
        for (_, old) in changes.filter_map(|change| change.files()[0]) {
            search.known.add(&String::from_utf8_lossy(old));
        }
        search
    }

    /// Searches a note that a command writes. Places are fields, and lines of the text below them: a new file has no lines
    /// that the user knows.
    pub(super) fn add_written(&mut self, path: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let secrets = self.new_secrets(&text);
        if secrets.is_empty() {
            return;
        }
        let body_line = Note::parse(path, bytes.to_vec()).body_line();
        for secret in secrets {
            let place = match secret.line.checked_sub(body_line) {
                Some(line) => format!("line {}, column {} of the text", line + 1, secret.column),
                None => field_of(&text, &secret),
            };
            self.add(&secret, &place);
        }
    }

    /// Searches a file of a store, a pack or another app, and its name. `name`: the file as the user knows it.
    pub(super) fn add_file(&mut self, name: &str, bytes: &[u8], is_note: bool) {
        let in_name = self.new_secrets(name);
        in_name.iter().for_each(|secret| self.add(secret, "the name of a file"));
        let is_searched = is_note || (bytes.len() as u64 <= MAX_ATTACHMENT && std::str::from_utf8(bytes).is_ok());
        let secrets = if is_searched { self.new_secrets(&String::from_utf8_lossy(bytes)) } else { Vec::new() };
        let name = if find(name).is_empty() { name } else { "a file with a secret in its name" };
        for secret in secrets {
            self.add(&secret, &format!("line {}, column {} of {name}", secret.line, secret.column));
        }
    }

    fn new_secrets(&self, text: &str) -> Vec<Secret> {
        let search = if self.is_of_program { find_new_in_spite_of_comments } else { find_new };
        search(text, &self.known)
    }

    fn add(&mut self, secret: &Secret, place: &str) {
        let found = format!("{} in {place}", secret.kind);
        if !self.found.contains(&found) {
            self.found.push(found);
        }
    }

    /// Ends the search. `target`: what must not contain them.
    ///
    /// # Errors
    /// `Failure`, with the kinds and places of the secrets.
    pub(super) fn expect_none(self, target: &str) -> Result<(), Error> {
        let count = self.found.len();
        if count == 0 {
            return Ok(());
        }
        let named = self.found.get(..count.min(MAX_NAMED)).unwrap_or_default().join("; ");
        let more = count.saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!("; {more} more") } else { String::new() };
        let message = format!("{target} would contain {}: {named}{more}", counted(count, "secret"));
        let hint = "nothing was written; write where the secret is kept instead of its value";
        let hint = if self.is_of_program { hint.to_owned() } else { format!("{hint}. {EXAMPLES_HINT}") };
        Err(Error::new(ErrorKind::Failure, message).hint(hint))
    }
}

/// Refuses changes of notes that add a secret. `is_of_program`: whether a program writes them.
pub(super) fn expect_no_new_secrets<'c>(
    changes: impl Iterator<Item = &'c Change> + Clone,
    is_of_program: bool,
) -> Result<(), Error> {
    let mut search = SecretSearch::among(changes.clone(), is_of_program);
    for (path, new) in changes.filter_map(|change| change.files()[1]) {
        search.add_written(path, new);
    }
    search.expect_none("the note")
}

/// Returns the name of the field that contains a secret, if that is one of qipu's own.
fn field_of(text: &str, secret: &Secret) -> String {
    let lines = text.lines().take(secret.line).collect::<Vec<_>>();
    let top = lines.iter().rev().find(|line| !line.starts_with([' ', '-', '\t']));
    let key = top.and_then(|line| line.split_once(':')).map(|(key, _)| key);
    match key.and_then(|key| FIELDS.iter().find(|field| **field == key)) {
        Some(field) => format!("the field `{field}`"),
        None => "the fields".to_owned(),
    }
}

/// Returns diagnostics about the secrets in attachments that are texts, and about attachments that can't be read.
pub(super) fn attachment_diagnostics(store: &Store) -> Vec<DiagnosticEntry> {
    let unreadable = |path: &str, error: Error| DiagnosticEntry {
        severity: Severity::Error,
        ..DiagnosticEntry::warning("skipped", store.shown(path), error.message)
    };
    let paths = match store.attachments() {
        Ok(paths) => paths,
        Err(error) => return vec![unreadable("attachments", error)],
    };
    let mut findings = Vec::new();
    for path in paths {
        let bytes = match store.file_of(&path, MAX_ATTACHMENT) {
            Ok(bytes) => bytes.unwrap_or_default(),
            Err(error) => {
                findings.push(unreadable(&path, error));
                continue;
            }
        };
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let found = find(&text);
        findings.extend(
            found
                .iter()
                .map(|secret| located(secret, DiagnosticEntry::warning("secret", store.shown(&path), String::new()))),
        );
    }
    findings
}

/// Returns diagnostics about the secrets in a note.
pub(super) fn note_diagnostics(store: &Store, note: &NoteHandle) -> Vec<DiagnosticEntry> {
    let secrets = note.read_once(|note| find(note.text()));
    secrets.iter().map(|secret| located(secret, note_warning(store, note, "secret", String::new()))).collect()
}

fn located(secret: &Secret, entry: DiagnosticEntry) -> DiagnosticEntry {
    let message = format!("it contains a secret, column {}: {}", secret.column, secret.kind);
    DiagnosticEntry { severity: Severity::Error, line: Some(secret.line), message, ..entry }
}
