//! What is known of a note, in a form that can be kept: everything but its text, which stays in its
//! file until somebody asks for it.

use std::fmt::Debug;
use std::sync::{Arc, OnceLock};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Finding, InlineLink, Note, NoteId, Source, Stamp, Text, TypedLink, Value, finding_code};

/// Reads the files of notes, by their paths in the store; nothing where that can't be done.
pub trait Files: Debug + Send + Sync {
    /// Returns a file's bytes, of an over-long one the beginning.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
}

/// A note without its text.
#[derive(Debug, Serialize, Deserialize)]
pub struct Stored {
    id: String,
    title: String,
    kind: String,
    created: Option<String>,
    updated: Option<String>,
    date: Option<String>,
    tags: Vec<String>,
    value: Option<u8>,
    verified: Option<bool>,
    sources: Vec<Source>,
    links: Vec<TypedLink>,
    aliases: Vec<String>,
    compacts: Vec<String>,
    custom: Vec<(String, Value)>,
    unknown: Vec<(String, Value)>,
    findings: Vec<(String, Option<usize>, String)>,
    is_cut: bool,
    summary_field: Option<String>,
    body_summary: Option<String>,
    inline: Vec<InlineLink>,
    body_chars: usize,
}

impl Stored {
    /// Takes what is known of a note, its summary and its links included.
    pub fn of(note: &Note) -> Self {
        let stamp = |stamp: &Option<Stamp>| stamp.as_ref().map(|stamp| stamp.as_str().to_owned());
        Self {
            id: note.id.to_string(),
            title: note.title.clone(),
            kind: note.kind.clone(),
            created: stamp(&note.created),
            updated: stamp(&note.updated),
            date: note.date.map(|date| date.to_string()),
            tags: note.tags.clone(),
            value: note.value,
            verified: note.verified,
            sources: note.sources.clone(),
            links: note.links.clone(),
            aliases: note.aliases.clone(),
            compacts: note.compacts.clone(),
            custom: note.custom.clone(),
            unknown: note.unknown.clone(),
            findings: note.findings.iter().map(|f| (f.code.to_owned(), f.line, f.message.clone())).collect(),
            is_cut: note.is_cut,
            summary_field: note.summary_field.clone(),
            body_summary: note.body_summary().map(str::to_owned),
            inline: note.inline_links().to_vec(),
            body_chars: note.body_chars(),
        }
    }

    /// Makes the note again; `None` where this can't be what was kept.
    pub fn into_note(self, path: &str, files: &Arc<dyn Files>) -> Option<Note> {
        let stamp = |text: Option<String>| text.map_or(Some(None), |text| Stamp::parse(&text).map(Some));
        let finding =
            |(code, line, message): (String, _, _)| Some(Finding { code: finding_code(&code)?, line, message });
        let findings: Option<Vec<Finding>> = self.findings.into_iter().map(finding).collect();
        let date = match self.date {
            Some(text) => Some(text.parse::<Date>().ok()?),
            None => None,
        };
        Some(Note {
            id: NoteId::parse(&self.id)?,
            path: path.to_owned(),
            title: self.title,
            kind: self.kind,
            created: stamp(self.created)?,
            updated: stamp(self.updated)?,
            date,
            tags: self.tags,
            value: self.value,
            verified: self.verified,
            sources: self.sources,
            links: self.links,
            aliases: self.aliases,
            compacts: self.compacts,
            custom: self.custom,
            unknown: self.unknown,
            findings: findings?,
            is_cut: self.is_cut,
            summary_field: self.summary_field,
            body_summary: OnceLock::from(self.body_summary),
            inline: OnceLock::from(self.inline),
            body_chars: OnceLock::from(self.body_chars),
            text: Text::InFile { files: Arc::clone(files), read: OnceLock::new() },
        })
    }
}
