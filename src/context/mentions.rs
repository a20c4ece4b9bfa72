//! Selection of the notes that name a file, an identifier or a command: decisions and warnings first.
//!
//! The text index finds the notes with all words of a name; the name itself is then looked for in their texts.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::Selector;
use super::importance::decides_or_warns;
use crate::note::{CodeRef, Fragment, RefOrigin, code_refs_in, link_definitions};
use crate::report::{NoteEntry, Passages};
use crate::request::{MAX_PATH_BYTES, MentionTarget, Occasion};
use crate::store::{NoteHandle, NoteIdx, Store};

/// The most notes whose texts are read, those first that are most likely to be shown.
const MAX_READ: usize = 200;
/// The most commits of a piece of code that are shown.
const MAX_COMMITS: usize = 10;
/// The most folders above a file that are looked for, the deepest ones.
const MAX_FOLDERS: usize = 8;
/// Names of files that many folders of a project contain. A note means this one only if it names a folder too.
const GENERIC_FILES: [&str; 14] = [
    "mod.rs", "lib.rs", "main.rs", "build.rs", "index.ts", "index.tsx", "index.js", "index.html", "__init__.py",
    "main.py", "main.go", "main.c", "README.md", "types.ts",
];
/// The worth of the fragment that states a decision or a warning; one that names what is looked for has 1.
const STATEMENT_WORTH: f64 = 0.9;

/// How a note names what is looked for, the closest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Closeness {
    /// It refers to the code, so many lines away.
    Reference(usize),
    /// It names the file, with so many folders.
    File(Reverse<usize>),
    /// It names the identifier or the command.
    Name,
    /// It names a folder above the file, of so many components.
    Folder(Reverse<usize>),
}

impl Selector<'_, '_> {
    /// Adds the notes that name one of the mentions of the request: decisions and warnings first, then by closeness,
    /// value and latest change. Journals and retired notes are left out; a successor is shown in place of the note
    /// that it replaces.
    pub(super) fn choose_mentioning(&mut self) {
        if self.selectors.mentions.is_empty() {
            return;
        }
        let mentions: Vec<Located> =
            self.selectors.mentions.iter().map(|mention| located(self.store, mention)).collect();
        let needles: Vec<Needle<'_>> = mentions.iter().flat_map(|(mention, _)| Needle::of(mention)).collect();
        let words: Vec<&str> = needles.iter().map(|needle| needle.text.as_str()).collect();
        let found = self.session.engine().notes_with_words(&words);
        let mut needles_of: BTreeMap<NoteIdx, Vec<&Needle<'_>>> = BTreeMap::new();
        for (needle, notes) in needles.iter().zip(&found) {
            for note in notes.iter().filter(|note| self.is_worth_reading(**note)) {
                needles_of.entry(*note).or_default().push(needle);
            }
        }
        let notes = self.store.notes();
        // Notes that refer to the code need not have its words.
        let refers = |(_, note): &(NoteIdx, &Arc<NoteHandle>)| note.flags.has_code && !note.is_commit();
        for (note, _) in NoteIdx::enumerate(notes).filter(refers) {
            if self.is_worth_reading(note) && closest_reference(&notes[note].code_refs(), &mentions).is_some() {
                needles_of.entry(note).or_default();
            }
        }
        let rank = |note: NoteIdx| {
            let handle = &notes[note];
            let is_last = !(handle.flags.is_decision || handle.flags.is_warning);
            (is_last, Reverse(handle.value_or_default()), Reverse(handle.list_fields().changed()), note)
        };
        let mut candidates: Vec<_> = needles_of.into_iter().map(|(note, needles)| (rank(note), needles)).collect();
        // A note with the words of the file and of its folder probably names the file with its folder.
        candidates.sort_by_key(|((is_last, value, changed, note), needles)| {
            (*is_last, !needles.is_empty(), Reverse(needles.len()), *value, *changed, *note)
        });
        candidates.truncate(MAX_READ);
        let mut chosen: Vec<_> = candidates
            .into_iter()
            .filter_map(|((_, value, changed, note), needles)| {
                let is_last = !decides_or_warns(&notes[note]);
                let named = needles.iter().filter_map(|needle| needle.closeness_in(&notes[note])).min();
                let closest = closest_reference(&references(&notes[note]), &mentions).into_iter().chain(named).min()?;
                self.may_speak(note, is_last, closest).then_some(())?;
                Some((is_last, closest, value, changed, note))
            })
            .collect();
        chosen.sort();
        chosen.into_iter().for_each(|(.., note)| self.choose(note));
        // Only those of the code are read.
        let mut commits: Vec<NoteIdx> = (self.store.commits_start()..notes.len()).map(NoteIdx::new).collect();
        commits.sort_by_key(|commit| {
            let handle = &notes[*commit];
            // A commit of many files, whose record has none, is hardly about this code.
            let is_sweep = !handle.flags.has_code;
            (is_sweep, Reverse(handle.body_chars()), Reverse(handle.list_fields().changed()), *commit)
        });
        commits.retain(|commit| self.passes(*commit));
        commits.truncate(MAX_COMMITS);
        commits.into_iter().for_each(|commit| self.choose(commit));
    }

    /// Whether a note may be shown for what it names. Before an edit, which asks nothing, a document may only if it decides
    /// or warns about the file itself; documents mention files and identifiers on every page.
    fn may_speak(&self, note: NoteIdx, is_last: bool, closeness: Closeness) -> bool {
        let is_of_file = matches!(closeness, Closeness::Reference(_) | Closeness::File(_));
        self.occasion() != Some(Occasion::Edit) || self.store.notes()[note].is_own_word() || (!is_last && is_of_file)
    }

    fn is_worth_reading(&self, note: NoteIdx) -> bool {
        let shown = self.result.replacements.representative(note);
        let is_hidden = self.store.is_retired(shown) || self.store.is_hidden_draft(shown);
        self.passes(note) && !self.store.notes()[note].flags.is_journal && !is_hidden
    }
}

/// Returns the references of a note to code: in its field, and in its text.
fn references(note: &NoteHandle) -> Vec<CodeRef> {
    let mut references = note.code_refs();
    references.extend(code_refs_in(note.parsed_or_empty().body()));
    references
}

/// A mention, and the path in the project of its file or folder, if it is in the project.
type Located = (MentionTarget, Option<String>);

/// Finds the paths of mentions in the project; a folder is then one of the project.
fn located(store: &Store, mention: &MentionTarget) -> Located {
    let path = match mention {
        MentionTarget::File(path) | MentionTarget::Line(path, _) | MentionTarget::SymbolOf(path, _) => path,
        MentionTarget::Folder(path) => {
            let path = store.project_path(path).unwrap_or_else(|| path.clone());
            return (MentionTarget::Folder(path), None);
        }
        MentionTarget::Symbol(_) | MentionTarget::Command(_) => return (mention.clone(), None),
    };
    (mention.clone(), store.project_path(path))
}

/// Returns how close the references of a note are to one of the mentions; `None` if none is one of its file or symbol.
fn closest_reference(references: &[CodeRef], mentions: &[Located]) -> Option<Closeness> {
    let distance = |reference: &CodeRef, (mention, in_project): &Located| {
        // A text may name the end of a path; the field contains whole ones.
        let is_same_file = |path: &str| match (&reference.origin, in_project) {
            (RefOrigin::Field(_), Some(in_project)) => reference.path == *in_project,
            _ => common_file(&reference.path, path).is_some(),
        };
        match mention {
            MentionTarget::File(path) => is_same_file(path).then_some(0),
            MentionTarget::Line(path, line) => {
                is_same_file(path).then(|| reference.line.map_or(usize::MAX, |of_note| of_note.abs_diff(*line)))
            }
            MentionTarget::Symbol(symbol) => (reference.symbol_word() == Some(symbol)).then_some(0),
            MentionTarget::SymbolOf(path, symbol) => {
                (reference.symbol_word() == Some(symbol) && is_same_file(path)).then_some(0)
            }
            MentionTarget::Folder(path) => is_below(&reference.path, &components(path)).then_some(0),
            MentionTarget::Command(_) => None,
        }
    };
    let of_reference = |reference| mentions.iter().filter_map(move |mention| distance(reference, mention));
    references.iter().flat_map(of_reference).min().map(Closeness::Reference)
}

/// A text that notes with a mention contain.
struct Needle<'a> {
    mention: &'a MentionTarget,
    /// The name of the file, the last two components of a folder, the identifier or the command.
    text: String,
    /// Of a folder, the components of its path.
    folder: Option<Vec<&'a str>>,
}

impl<'a> Needle<'a> {
    fn of(mention: &'a MentionTarget) -> Vec<Self> {
        let path = match mention {
            MentionTarget::File(path) | MentionTarget::Line(path, _) => path,
            MentionTarget::Folder(path) => {
                let folder = components(path);
                let last = folder.get(folder.len().saturating_sub(2)..).unwrap_or_default().join("/");
                return vec![Self { mention, text: last, folder: Some(folder) }];
            }
            _ => return vec![Self { mention, text: mention.text().to_owned(), folder: None }],
        };
        let components = components(path);
        let Some((file, folders)) = components.split_last() else { return Vec::new() };
        let file = Self { mention, text: (*file).to_owned(), folder: None };
        let folders = (2..=folders.len()).rev().take(MAX_FOLDERS).filter_map(|count| {
            let folder = folders.get(..count)?;
            Some(Self { mention, text: folder.get(count - 2..)?.join("/"), folder: Some(folder.to_vec()) })
        });
        [file].into_iter().chain(folders).collect()
    }

    /// Returns how closely a note names it, by its title or body; `None` if it does not. A command counts only in
    /// decisions and warnings.
    fn closeness_in(&self, note: &NoteHandle) -> Option<Closeness> {
        if matches!(self.mention, MentionTarget::Command(_)) && !decides_or_warns(note) {
            return None;
        }
        let in_body = self.closeness_in_text(note.parsed_or_empty().body());
        in_body.into_iter().chain(self.closeness_in_text(note.title())).min()
    }

    fn closeness_in_text(&self, text: &str) -> Option<Closeness> {
        match (self.mention, &self.folder) {
            (MentionTarget::Folder(_), Some(folder)) => {
                let mut named = paths_with(text, &self.text).filter(|named| is_below(named, folder));
                named.next().map(|named| Closeness::Folder(Reverse(components(named).len())))
            }
            (MentionTarget::File(_) | MentionTarget::Line(..), Some(folder)) => {
                let named = paths_with(text, &self.text).filter_map(|named| common_folder(named, folder));
                named.max().map(|count| Closeness::Folder(Reverse(count)))
            }
            (MentionTarget::File(path) | MentionTarget::Line(path, _), None) => {
                let named = paths_with(text, &self.text).filter_map(|named| common_file(named, path));
                named.max().map(|count| Closeness::File(Reverse(count)))
            }
            _ => {
                let mut occurrences = text.match_indices(&self.text);
                occurrences.find(|(start, _)| is_word(text, *start, self.text.len())).map(|_| Closeness::Name)
            }
        }
    }
}

/// Returns the components of a path, without `.` and empty ones.
fn components(path: &str) -> Vec<&str> {
    path.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".").collect()
}

/// Yields the runs of characters of paths that contain a text, each once, without a full stop behind it. Runs of more
/// than [`MAX_PATH_BYTES`] are no paths. O(bytes).
fn paths_with<'t>(text: &'t str, part: &str) -> impl Iterator<Item = &'t str> {
    let is_of_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | '\\' | '-' | '@' | '~' | '+');
    let mut searched = 0;
    let next_run = move || {
        let rest = text.get(searched..)?;
        let (before, after) = rest.split_at_checked(rest.find(part)?)?;
        let begin = searched + before.trim_end_matches(is_of_path).len();
        let start = searched + before.len();
        searched = (start + part.len()).max(start + after.find(|c| !is_of_path(c)).unwrap_or(after.len()));
        text.get(begin..searched)
    };
    let runs = std::iter::from_fn(next_run).filter(|run| run.len() <= MAX_PATH_BYTES);
    runs.map(|run| run.trim_end_matches('.'))
}

/// Returns the number of components that a path in a note shares with that of a file, if one ends with the other.
fn common_file(named: &str, path: &str) -> Option<usize> {
    let (named, path) = (components(named), components(path));
    let common = named.iter().rev().zip(path.iter().rev()).take_while(|(a, b)| a == b).count();
    // A whole path without folders may be that of any folder's file.
    let is_whole = common == path.len() && common > 1;
    let is_same = common > 0 && (common == named.len() || is_whole);
    let is_generic = common == 1 && path.len() > 1 && named.last().is_some_and(|name| GENERIC_FILES.contains(name));
    (is_same && !is_generic).then_some(common)
}

/// Returns the number of components of a path in a note if it names the folder, with at least two of its components.
fn common_folder(named: &str, folder: &[&str]) -> Option<usize> {
    let named = components(named);
    (named.len() >= 2 && folder.ends_with(&named)).then_some(named.len())
}

/// Whether a path in a note is that of a folder or of something in it: it begins with the last components of the folder's
/// path, with at least two of them if there are so many.
fn is_below(named: &str, folder: &[&str]) -> bool {
    let named = components(named);
    let least = folder.len().min(2);
    (least..=named.len().min(folder.len())).any(|count| named.get(..count).is_some_and(|first| folder.ends_with(first)))
}

/// Tells whether the `len` bytes at an offset are no part of a longer word.
fn is_word(text: &str, start: usize, len: usize) -> bool {
    let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let before = text.get(..start).and_then(|before| before.chars().next_back());
    let after = text.get(start + len..).and_then(|after| after.chars().next());
    !before.is_some_and(is_of_word) && !after.is_some_and(is_of_word)
}

/// Sets the worth of the fragments of notes that name one of the mentions: those with a name first, then, of a decision
/// or a warning, the one that states it. Other fragments have no worth. `is_late`: whether these notes come behind all others.
pub fn weigh_mentions<'n>(entries: impl Iterator<Item = &'n mut NoteEntry>, mentions: &[MentionTarget], is_late: bool) {
    let needles: Vec<Needle<'_>> = mentions.iter().flat_map(Needle::of).collect();
    // References in a text have no path in the project.
    let located: Vec<Located> = mentions.iter().map(|mention| (mention.clone(), None)).collect();
    let is_named_in = |text: &str| {
        needles.iter().any(|needle| needle.closeness_in_text(text).is_some())
            || closest_reference(&code_refs_in(text), &located).is_some()
    };
    for entry in entries {
        let body = entry.note.parsed_or_empty().body();
        let Some(passages) = entry.passages.get() else { continue };
        let labels = labels(body, is_named_in);
        let names_one = |fragment: &Fragment| {
            let text = fragment.text(body);
            is_named_in(text) || (!labels.is_empty() && has_label(&text.to_lowercase(), &labels))
        };
        let has_statement = decides_or_warns(&entry.note);
        let statement = passages.conclusion().filter(|_| has_statement);
        let weighed = passages.fragments.iter().enumerate().map(|(index, fragment)| {
            let statement = if statement == Some(index) { STATEMENT_WORTH } else { 0.0 };
            if names_one(fragment) { 1.0 } else { statement }
        });
        let worth = weighed.collect();
        let weighed = Passages { worth, is_late, ..(**passages).clone() };
        entry.passages = Arc::new(weighed).into();
    }
}

/// Returns the labels of the link definitions of a body whose destination names what is looked for, in brackets: their text is
/// not that of the fragment that uses them.
fn labels(body: &str, is_named_in: impl Fn(&str) -> bool) -> Vec<String> {
    let defined = if body.contains("]:") { link_definitions(body) } else { Vec::new() };
    let named = defined.into_iter().filter(|(_, destination)| is_named_in(destination));
    named.map(|(label, _)| format!("[{label}]")).collect()
}

fn has_label(text: &str, labels: &[String]) -> bool {
    labels.iter().any(|label| text.contains(label.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closeness(mention: MentionTarget, text: &str) -> Option<Closeness> {
        Needle::of(&mention).iter().filter_map(|needle| needle.closeness_in_text(text)).min()
    }

    #[test]
    fn a_note_names_a_file_by_any_end_of_its_path() {
        let file = |text| closeness(MentionTarget::File("/home/u/app/src/pay/refund.ts".to_owned()), text);
        let named = |count| Some(Closeness::File(Reverse(count)));
        assert_eq!(file("See `refund.ts`."), named(1));
        assert_eq!(file("See src/pay/refund.ts:12, and refund.ts."), named(3));
        assert_eq!(file("(./pay/refund.ts)"), named(2));
        assert_eq!(file(r"src\pay\refund.ts"), named(3));
        assert_eq!(file("old/refund.ts, refund.ts.bak, prerefund.ts, refund.tsx"), None);
        assert_eq!(file("Everything in `src/pay/` is in cents."), Some(Closeness::Folder(Reverse(2))));
        assert_eq!(file("Everything in `lib/pay/` is in cents."), None);
        assert_eq!(file("Everything in pay/ is in cents."), None);
    }

    #[test]
    fn a_generic_file_needs_a_folder() {
        let file = |text| closeness(MentionTarget::File("src/store/mod.rs".to_owned()), text);
        assert_eq!(file("See mod.rs."), None);
        assert_eq!(file("See store/mod.rs."), Some(Closeness::File(Reverse(2))));
        let root = |text| closeness(MentionTarget::File("README.md".to_owned()), text);
        assert_eq!(root("See README.md."), Some(Closeness::File(Reverse(1))));
        assert_eq!(root("See web/README.md."), None);
    }

    #[test]
    fn a_run_of_paths_is_read_once() {
        let text = "zq.rs/".repeat(700) + " a/zq.rs, b/zq.rs. zq.rs";
        assert_eq!(paths_with(&text, "zq.rs").collect::<Vec<_>>(), ["a/zq.rs", "b/zq.rs", "zq.rs"]);
        let huge = "zq.rs/".repeat(500_000);
        assert_eq!(paths_with(&huge, "zq.rs").count(), 0);
    }

    #[test]
    fn identifiers_are_whole_words() {
        let symbol = |text| closeness(MentionTarget::Symbol("applyDiscount".to_owned()), text);
        assert_eq!(symbol("`cart.applyDiscount()` rounds"), Some(Closeness::Name));
        assert_eq!(symbol("reapplyDiscount, applyDiscounts, apply_Discount, applydiscount"), None);
    }
}
