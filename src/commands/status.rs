//! `qipu status`: what there is: the collections that answers are made of, their notes, types and tags.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::collections::{distrusted, setting_findings};
use super::list::MIN_NOTES_PER_TASK;
use crate::context::{Session, embedded_texts};
use crate::error::Error;
use crate::note::Dialect;
use crate::report::{Entry, Report, ReportHead, RowEntry, RowValue, layout};
use crate::store::{COMMITS, Collection, CommitHistory, NoteHandle, NoteIdx, Store, Tier};

/// The names of the counts of what hooks did. The records of sessions do not tell which hook showed a passage.
const HOOK_SESSIONS: &str = "sessions with notes from hooks, 7 days";
const HOOK_PASSAGES: &str = "passages from hooks, 7 days";

/// The names of the counts of vectors.
const EMBEDDED: &str = "embedded passages";
const VECTOR_BYTES: &str = "bytes of vectors";

/// The most tags that are shown among other facts: a store has hundreds of tags, and its subjects are the most frequent ones.
const TAGS: usize = 12;

/// Reports each collection, the numbers of notes, findings, notes without links and in an index, those of notes of each type
/// and tag, and what has no effect. `only_tags`: all tags and nothing else; `embeds`: what an embedder made, and nothing else.
///
/// # Errors
/// `Usage` without an embedder, `Failure` if it fails.
pub(super) fn run(only_tags: bool, embeds: bool, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let head = ReportHead::new(&layout::STATUS, Some(&store.shown_path));
    if embeds {
        return Ok(Report::new(head, embed(session)?.collect()));
    }
    if only_tags {
        return Ok(Report::new(head, tags(store).collect()));
    }
    let mut entries: Vec<Entry> =
        store.collection_sizes().map(|(collection, notes)| Entry::Row(row(collection, notes))).collect();
    entries.extend(store.commit_history().map(|history| Entry::Row(commits_row(&history))));
    entries.extend(counts(session));
    entries.extend(tags(store).take(TAGS));
    entries.extend(setting_findings(store).chain(distrusted(store)).map(Entry::Finding));
    Ok(Report::new(head, entries))
}

/// Embeds all passages that have no vector yet. Returns the numbers of vectors and of their bytes.
fn embed(session: &Session<'_>) -> Result<impl Iterator<Item = Entry>, Error> {
    let none = || {
        let error = Error::usage("there is no embedder");
        error.hint("name its program under [embedder] in your settings: `command`, and the `name` of its model")
    };
    let embedder = session.embedder().ok_or_else(none)?;
    let (vectors, bytes) = embedder.embed_all(&embedded_texts(session.store)).map_err(|reason| {
        let error = Error::failure(format!("the embedder {} {reason}", embedder.name()));
        error.hint("what it made so far is kept; the next call goes on from there")
    })?;
    let facts = [(EMBEDDED, vectors), (VECTOR_BYTES, bytes)];
    Ok(facts.into_iter().map(|(name, count)| Entry::Fact(name.to_owned(), count)))
}

/// Returns the tags in use by descending count, then by name.
fn tags(store: &Store) -> impl Iterator<Item = Entry> {
    let mut counts: Vec<_> = tag_counts(store.notes()).into_iter().collect();
    counts.sort_unstable_by_key(|(tag, count)| (Reverse(*count), *tag));
    counts.into_iter().map(|(tag, count)| Entry::Tag(tag.to_owned(), count))
}

/// Counts the notes with each tag.
pub(crate) fn tag_counts(notes: &[Arc<NoteHandle>]) -> HashMap<&str, usize> {
    let counts = notes.par_iter().with_min_len(MIN_NOTES_PER_TASK).fold(HashMap::new, |mut counts, note| {
        note.tags().into_iter().for_each(|tag| *counts.entry(tag).or_default() += 1);
        counts
    });
    counts.reduce(HashMap::new, |mut all, counts| {
        counts.into_iter().for_each(|(tag, count)| *all.entry(tag).or_default() += count);
        all
    })
}

/// Returns the numbers of notes, of diagnostics, of notes without links, and of notes of each type; and the state of the
/// index, if there is one: small stores need none.
fn counts(session: &Session<'_>) -> impl Iterator<Item = Entry> {
    let notes = session.store.notes();
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for note in notes {
        *kinds.entry(note.list_fields().kind).or_default() += 1;
    }
    let findings = notes.iter().map(|note| note.findings().count()).sum();
    // Documents and journals need no links.
    let needs_links = |note: &NoteHandle| note.dialect() == Dialect::Qipu && !note.flags.is_journal;
    let is_alone =
        |(note, handle): &(NoteIdx, &Arc<NoteHandle>)| needs_links(handle) && !session.graph().is_linked(*note);
    let unlinked = NoteIdx::enumerate(notes).filter(is_alone).count();
    let facts = [("notes", notes.len()), ("findings", findings), ("unlinked", unlinked)];
    let index = session.store.indexed().map(|(notes, bytes)| [("indexed", notes), ("index bytes", bytes as usize)]);
    let hooks = session.store.shown_lately();
    let hooks = hooks.map(|(sessions, parts)| [(HOOK_SESSIONS, sessions), (HOOK_PASSAGES, parts)]);
    let facts = facts.into_iter().chain(index.into_iter().flatten()).chain(hooks.into_iter().flatten());
    let facts = facts.map(|(name, count)| Entry::Fact(name.to_owned(), count));
    facts.chain(kinds.into_iter().map(|(kind, count)| Entry::Kind(kind.to_owned(), count)))
}

/// Returns the row of the commits that questions read.
fn commits_row(history: &CommitHistory) -> RowEntry {
    let mut about = vec!["history".to_owned()];
    about.extend(history.count.as_ref().err().map(|error| error.message.clone()));
    about.extend(history.is_shallow.then(|| "shallow clone: earlier ones are missing".to_owned()));
    about.extend(history.is_partial.then(|| "partial clone: files of some may be missing".to_owned()));
    let count = history.count.as_ref().copied().unwrap_or_default();
    let reason = about.join("; ");
    RowEntry {
        kind: "collection",
        list: "collections",
        figure: count.to_string(),
        line: format!("{COMMITS} ({reason})"),
        fields: vec![
            ("name", RowValue::name(COMMITS)),
            ("kind", RowValue::name("history")),
            ("tier", RowValue::name(Tier::History.name())),
            ("as", RowValue::Nothing),
            ("path", RowValue::Nothing),
            ("notes", RowValue::Count(count)),
            ("writable", RowValue::Flag(false)),
            ("reason", RowValue::Text(reason)),
        ],
        ..RowEntry::default()
    }
}

fn row(collection: &Collection, notes: usize) -> RowEntry {
    let (kind, reason) = (if collection.is_source() { "documents" } else { "store" }, collection.reason.to_string());
    let mut about = vec![if collection.is_source() {
        format!("documents, {}", collection.dialect.name())
    } else {
        kind.to_owned()
    }];
    about.extend((!collection.is_writable).then(|| "only read".to_owned()));
    about.push(reason.clone());
    let dialect = if collection.is_source() { RowValue::name(collection.dialect.name()) } else { RowValue::Nothing };
    RowEntry {
        kind: "collection",
        list: "collections",
        figure: notes.to_string(),
        line: format!("{}  {} ({})", collection.name, collection.shown_path, about.join("; ")),
        fields: vec![
            ("name", RowValue::name(&collection.name)),
            ("kind", RowValue::name(kind)),
            ("tier", RowValue::name(collection.tier().name())),
            ("as", dialect),
            ("path", RowValue::name(&collection.shown_path)),
            ("notes", RowValue::Count(notes)),
            ("writable", RowValue::Flag(collection.is_writable)),
            ("reason", RowValue::Text(reason)),
        ],
        ..RowEntry::default()
    }
}
