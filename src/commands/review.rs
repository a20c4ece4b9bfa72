//! `qipu review`: the notes that a person should look at, the worst first, each with the command that settles it.

use std::cmp::Reverse;
use std::sync::Arc;

use jiff::ToSpan;

use super::change::{self, next_review};
use super::change_store;
use super::code_findings::{self, CodeFinding};
use crate::context::{NoteFilter, Session};
use crate::env::Env;
use crate::error::{Error, ErrorKind};
use crate::escape::{abbreviated, one_line, shortened};
use crate::graph::{Conflict, Contradiction, Graph, NameIndex, SETTLED, Successions, contradictions};
use crate::note::{SUPERSEDED_BY, SUPERSEDES, Value};
use crate::report::{Entry, Report, ReportHead, RowEntry, RowValue, counted, layout};
use crate::request::{ReviewKind, ReviewRequest};
use crate::store::{Dependence, Location, NoteHandle, NoteIdx, Store};
use crate::warnings;

/// The age in days from which on a note is old enough that some hook should have shown it.
const DAYS_TO_BE_SHOWN: i64 = 30;

/// The most replaced notes that the entry of a draft names.
const MAX_REPLACED: usize = 4;

/// The most characters of a title that an entry shows.
const MAX_TITLE: usize = 100;

/// Why a person should look at a note.
struct Finding {
    kind: ReviewKind,
    note: NoteIdx,
    other: Option<NoteIdx>,
    reason: String,
    command: String,
}

/// Reports the findings by kind, then value, then id, at most one of a kind for a note, code aside.
///
/// # Errors
/// See [`NoteFilter::new`]; `Store` for an unknown id.
pub(super) fn run(request: &ReviewRequest, session: &Session<'_>) -> Result<Report, Error> {
    let store = session.store;
    let filter = NoteFilter::new(session, &request.filters)?;
    let named = store.positions(&request.ids)?;
    let reviewer = Reviewer::new(session);
    let mut findings = reviewer.findings(request);
    findings.retain(|found| filter.matches(found.note) && (request.ids.is_empty() || named.contains(&found.note)));
    let value = |note: NoteIdx| store.notes()[note].value_or_default();
    findings.sort_by_key(|finding| (finding.kind, Reverse(value(finding.note)), finding.note, finding.other));
    findings.dedup_by(|b, a| (a.kind, a.note) == (b.kind, b.note) && (!a.kind.is_code() || a.reason == b.reason));
    let failed = findings.iter().filter(|finding| finding.kind != ReviewKind::CodeMoved).count();
    let count = findings.len();
    findings.truncate(request.limit.unwrap_or(count));
    let is_limited = findings.len() < count;
    let rows = findings.into_iter().map(|finding| Entry::Row(reviewer.row(finding)));
    let head = ReportHead { is_limited, ..ReportHead::new(&layout::REVIEW, Some(&store.shown_path)) };
    let mut report = Report::new(head, rows.collect());
    if request.is_strict && failed > 0 {
        let message = format!("{} to look at", counted(failed, "note"));
        report.verdict = Some(Error::new(ErrorKind::Store, message));
    }
    Ok(report)
}

/// Updates the references to code that merely moved, and reports the updates and what is left to look at.
pub(super) fn run_fix(request: &ReviewRequest, location: &Location, env: &Env) -> Result<Report, Error> {
    let paths = (location, env.current_dir.as_path());
    let builder = Some(super::text_index_builder as _);
    let plan = |store: &Store| {
        let notes = match request.ids.as_slice() {
            [] => code_findings::notes_in_force(store),
            ids => store.positions_to_change(ids)?,
        };
        let planned = code_findings::plan_moved(store, &code_findings::checked(store, &notes).found);
        let changes = change::changes_of(&planned);
        change::expect_held(store, &changes, env, true)?;
        Ok((changes, planned))
    };
    let (store, lock, planned) = change_store(request.is_dry_run, paths, builder, Dependence::Named, plan)?;
    let changes = planned.iter().map(|planned| change::entry(&store, planned, request.is_dry_run));
    let mut entries: Vec<Entry> = changes.collect();
    if lock.is_some() {
        entries.extend(change::finished(&store).map(Entry::Finding));
    }
    drop(lock);
    // The notes are those of before: what was updated is left out.
    let report = run(request, &Session::new(&store))?;
    entries.extend(report.entries);
    let head = ReportHead { layout: &layout::REVIEW_FIX, ..report.head };
    Ok(Report { verdict: report.verdict, ..Report::new(head, entries) })
}

/// Finds notes of one reason at a time.
struct Reviewer<'a, 's> {
    session: &'a Session<'s>,
    store: &'s Store,
    successions: &'a Successions,
    /// Also with successors that are not in force.
    as_written: Successions,
}

impl<'a, 's> Reviewer<'a, 's> {
    fn new(session: &'a Session<'s>) -> Self {
        let as_written = Successions::as_written(session.store.notes());
        Self { session, store: session.store, successions: session.successions(), as_written }
    }

    /// Returns the findings of the kinds that are asked for.
    fn findings(&self, request: &ReviewRequest) -> Vec<Finding> {
        let is_asked = |kind: ReviewKind| {
            request.kinds.contains(&kind) || (kind.is_code() && request.kinds.contains(&ReviewKind::Code))
        };
        let is_wanted = |kind: ReviewKind| request.kinds.is_empty() || is_asked(kind);
        let mut findings: Vec<Finding> = Vec::new();
        if is_wanted(ReviewKind::Contradiction) {
            findings.extend(self.contradictions());
        }
        if [ReviewKind::CodeGone, ReviewKind::CodeChanged, ReviewKind::CodeMoved].into_iter().any(is_wanted) {
            let is_shown = |kind| if kind == ReviewKind::CodeMoved { is_asked(kind) } else { is_wanted(kind) };
            findings.extend(self.code(request).into_iter().filter(|finding| is_shown(finding.kind)));
        }
        let wanted = |kind| is_wanted(kind).then_some(self);
        findings.extend(wanted(ReviewKind::Due).into_iter().flat_map(Self::due));
        findings.extend(wanted(ReviewKind::Draft).into_iter().flat_map(Self::drafts));
        findings.extend(wanted(ReviewKind::NearDuplicate).into_iter().flat_map(Self::near_duplicates));
        findings.extend(wanted(ReviewKind::NeverShown).into_iter().flat_map(Self::never_shown));
        // Nothing is wrong with a note without links.
        let orphans = Some(self).filter(|_| is_asked(ReviewKind::Orphan));
        findings.extend(orphans.into_iter().flat_map(Self::orphans));
        findings
    }

    fn note(&self, note: NoteIdx) -> &'s NoteHandle {
        &self.store.notes()[note]
    }

    /// Whether nobody has decided yet that the note no longer holds. A draft waits for that, even if another note
    /// supersedes it.
    fn is_open(&self, note: NoteIdx) -> bool {
        let retired = self.note(note).retired(|| self.store.today.day());
        let is_superseded = self.successions.is_superseded(note) && !self.note(note).is_draft();
        retired.is_none_or(|retired| retired.status.is_none()) && !is_superseded
    }

    /// Whether a link says that the note is replaced, or that it replaces another, and has no effect: yet, as that of a draft,
    /// or because of a cycle. A merge would give it one, and is refused.
    fn has_pending_succession(&self, note: NoteIdx) -> bool {
        let links = self.session.graph();
        let replaces = || {
            links.outgoing(note).any(|edge| &*edge.kind == SUPERSEDES)
                || links.incoming(note).any(|edge| &*edge.kind == SUPERSEDED_BY)
        };
        let mut refused = self.as_written.refused.iter().chain(&self.successions.refused);
        self.as_written.is_superseded(note)
            || (self.note(note).is_draft() && replaces())
            || refused.any(|(successor, _)| *successor == note)
    }

    fn open_notes(&self) -> impl Iterator<Item = (NoteIdx, &'s NoteHandle)> {
        // Notes of other collections are reviewed there.
        let own = NoteIdx::enumerate(self.store.notes()).filter(|(_, note)| note.collection_ordinal() == 0);
        own.map(|(position, _)| position).filter(|note| self.is_open(*note)).map(|note| (note, self.note(note)))
    }

    /// Returns the notes that a person has not accepted and that are neither drafts nor journals, which are not shown and
    /// linked as others are.
    fn unchecked(&self) -> impl Iterator<Item = (NoteIdx, &'s NoteHandle)> {
        self.open_notes().filter(|(_, note)| !note.flags.is_journal && !note.is_draft() && !is_accepted(note))
    }

    /// Returns the contradictions. The command of each is found when its row is made.
    fn contradictions(&self) -> impl Iterator<Item = Finding> {
        let notes = self.store.notes();
        let is_current = |note| !self.store.is_retired(note) && !self.successions.is_superseded(note);
        let found = contradictions(self.session.graph(), notes, is_current);
        found.into_iter().map(|found| self.contradiction(found))
    }

    /// Returns the older note of a contradiction, or the draft.
    fn contradiction(&self, found: Contradiction) -> Finding {
        let [first, second] = found.notes;
        let age = |note: NoteIdx| (!self.note(note).is_draft(), self.note(note).list_fields().created(), note);
        let (old, new) = if age(first) <= age(second) { (first, second) } else { (second, first) };
        let new_id = &self.note(new).id;
        let reason = match found.conflict {
            Conflict::EachOther => {
                format!("of it and `{new_id}`, one supports the other, and one contradicts the other")
            }
            Conflict::About(target) => {
                format!("of it and `{new_id}`, one supports `{}` and one contradicts it", self.note(target).id)
            }
            Conflict::Field { name, values } => {
                let [first_value, second_value] = values.map(|value| abbreviated(&value));
                let (here, there) =
                    if old == first { (first_value, second_value) } else { (second_value, first_value) };
                format!("`{}` is `{here}` here and `{there}` in `{new_id}`", abbreviated(&name))
            }
        };
        Finding { kind: ReviewKind::Contradiction, note: old, other: Some(new), reason, command: String::new() }
    }

    /// Adds the command that lets the other note of a contradiction hold.
    fn with_decision(&self, finding: Finding) -> Finding {
        let (old, as_written) = (finding.note, &self.as_written);
        let id = &self.note(old).id;
        let can_supersede = |new: &NoteIdx| {
            self.store.expect_own_id(old).is_ok()
                && as_written.successors(old).iter().all(|other| other == new)
                && !as_written.supersedes(old, *new)
        };
        let command = match finding.other.filter(can_supersede) {
            _ if self.note(old).is_draft() => format!("qipu update {id} --status rejected"),
            Some(new) => format!("qipu supersede {id} {}", self.note(new).id),
            None => format!("qipu update {id} --status obsolete"),
        };
        Finding { command, ..finding }
    }

    fn due(&self) -> impl Iterator<Item = Finding> {
        let today = self.store.today;
        self.open_notes().filter_map(move |(place, note)| {
            let due = note.due(|| today.day())?;
            let expired = note.retired(|| today.day()).and_then(|retired| retired.expired);
            let (reason, command) = match expired {
                Some(day) => (format!("it expired on {day}"), format!("qipu update {} --status obsolete", note.id)),
                None => {
                    let next = next_review(today.day());
                    (format!("due since {due}"), format!("qipu update {} --set stale_after={next}", note.id))
                }
            };
            Some(Finding { kind: ReviewKind::Due, note: place, other: None, reason, command })
        })
    }

    fn drafts(&self) -> impl Iterator<Item = Finding> {
        self.open_notes().filter(|(_, note)| note.is_draft()).map(|(place, note)| {
            let command = format!("qipu update {} --status stable --verified", note.id);
            let replaced = self.replaced_by(place);
            let reason = draft_reason(note) + &self.replacement(&replaced);
            Finding { kind: ReviewKind::Draft, note: place, other: replaced.first().copied(), reason, command }
        })
    }

    /// Returns the notes that a draft hides once it is accepted, at most [`MAX_REPLACED`] and one more: it supersedes them,
    /// or is their digest.
    fn replaced_by(&self, draft: NoteIdx) -> Vec<NoteIdx> {
        let mut replaced = self.as_written.all_replaced(draft, MAX_REPLACED + 1);
        let compacts = self.note(draft).relations().compacts;
        let names = (!compacts.is_empty()).then(|| NameIndex::of(self.store));
        let members = compacts.into_iter().filter_map(|name| names.as_ref()?.resolve_from(draft, name));
        for member in members {
            if replaced.len() <= MAX_REPLACED && !replaced.contains(&member) {
                replaced.push(member);
            }
        }
        replaced
    }

    /// Says which notes a draft would replace.
    fn replacement(&self, replaced: &[NoteIdx]) -> String {
        let shown = |note: &NoteIdx| {
            let note = self.note(*note);
            let title = shortened(&one_line(note.title()), MAX_TITLE);
            format!("`{}` ({title}{})", note.id, super::draft_mark(self.store, note).0)
        };
        let names: Vec<String> = replaced.iter().take(MAX_REPLACED).map(shown).collect();
        let more = if replaced.len() > MAX_REPLACED { " and more" } else { "" };
        if names.is_empty() { String::new() } else { format!("; accepted, it replaces {}{more}", names.join(", ")) }
    }

    /// Returns each note with almost the text of another one that should stay: no draft, of more value, or older.
    fn near_duplicates(&self) -> impl Iterator<Item = Finding> {
        let pairs = self.session.engine().near_duplicates().into_iter();
        let graph = self.session.graph();
        let pairs = pairs.filter(move |pair| {
            [pair.first, pair.second].iter().all(|note| self.is_open(*note) && !self.has_pending_succession(*note))
                && !is_linked(graph, pair.first, pair.second, |kind| SETTLED.as_flattened().contains(&kind))
        });
        pairs.map(|pair| {
            let worth = |place: NoteIdx| {
                let note = self.note(place);
                (note.is_draft(), Reverse(note.value_or_default()), note.list_fields().created(), place)
            };
            let is_first_kept = worth(pair.first) <= worth(pair.second);
            let (kept, note) = if is_first_kept { (pair.first, pair.second) } else { (pair.second, pair.first) };
            let (kept_id, id) = (&self.note(kept).id, &self.note(note).id);
            let reason = format!("{} % of its text is also in `{kept_id}`", (pair.share * 100.0).floor());
            let command = format!("qipu merge {kept_id} {id}");
            Finding { kind: ReviewKind::NearDuplicate, note, other: Some(kept), reason, command }
        })
    }

    /// Returns the references to code which is gone, has changed or is elsewhere, without those that `--fix` updates. Documents
    /// of the repository count too.
    fn code(&self, request: &ReviewRequest) -> Vec<Finding> {
        let is_superseded = |note: &NoteIdx| self.successions.is_superseded(*note) && !self.note(*note).is_draft();
        let mut notes = code_findings::notes_in_force(self.store);
        notes.retain(|note| !is_superseded(note));
        let checked = code_findings::checked(self.store, &notes);
        if checked.not_compared > 0 && !request.kinds.is_empty() {
            let references = counted(checked.not_compared, "reference");
            warnings::add(format!("{references} could not be compared: the code as it was is not known, or not read"));
        }
        let finding = |found: CodeFinding| {
            let CodeFinding { kind, note, message, fix, .. } = found;
            Finding { kind, note, other: None, reason: message, command: fix }
        };
        let is_left = |found: &CodeFinding| !request.is_fix || !found.is_fixable();
        checked.found.into_iter().filter(is_left).map(finding).collect()
    }

    /// Returns the notes of a certain age that no hook has shown, if there is a record of that.
    fn never_shown(&self) -> Vec<Finding> {
        let Some(shown) = self.store.shown_notes() else { return Vec::new() };
        let since = self.store.today.day().saturating_sub(DAYS_TO_BE_SHOWN.days());
        let is_old = |note: &NoteHandle| note.list_fields().changed().is_none_or(|stamp| stamp.date() <= since);
        let notes = self.unchecked().filter(|(_, note)| is_old(note) && !shown.contains(note.id.as_str()));
        let finding = |(place, note): (NoteIdx, &NoteHandle)| {
            let reason = "no hook has shown it".to_owned();
            let command = format!("qipu update {} --verified", note.id);
            Finding { kind: ReviewKind::NeverShown, note: place, other: None, reason, command }
        };
        notes.map(finding).collect()
    }

    /// Returns the notes without links. The most similar note of each is found when its row is made.
    fn orphans(&self) -> impl Iterator<Item = Finding> {
        let graph = self.session.graph();
        let alone = self.unchecked().filter(move |(place, _)| !graph.is_linked(*place));
        alone.map(|(place, _)| {
            let reason = "it has no links in either direction".to_owned();
            Finding { kind: ReviewKind::Orphan, note: place, other: None, reason, command: String::new() }
        })
    }

    /// Adds the most similar note to a note without links, and the command that links both; one that confirms the note as
    /// it is if there is none.
    fn with_similar(&self, finding: Finding) -> Finding {
        let is_last = |note| !self.is_open(note) || self.note(note).is_draft();
        let around = self.session.neighbourhood();
        let (similar, _) = self.session.engine().related(finding.note, &around, &is_last, 1);
        // No link can refer to a note that shares its id.
        let can_be_linked = |note: &NoteIdx| !is_last(*note) && self.store.expect_own_id(*note).is_ok();
        let other = similar.first().map(|similar| similar.note).filter(can_be_linked);
        let id = &self.note(finding.note).id;
        let command = match other {
            Some(other) => format!("qipu link add {id} {}", self.note(other).id),
            None => format!("qipu update {id} --verified"),
        };
        Finding { other, command, ..finding }
    }

    fn row(&self, finding: Finding) -> RowEntry {
        let finding = match finding.kind {
            ReviewKind::Contradiction => self.with_decision(finding),
            ReviewKind::Orphan => self.with_similar(finding),
            _ => finding,
        };
        let Finding { kind, note, other, reason, command } = finding;
        let note = &self.store.notes()[note];
        let title = shortened(&one_line(note.title()), MAX_TITLE);
        let (draft, status) = super::draft_mark(self.store, note);
        // An entry of that kind says so itself.
        let draft = if kind == ReviewKind::Draft { "" } else { draft };
        let line = format!("{}: {title} ({}){draft}: {reason}", kind.name(), note.id);
        let other = other.map_or(RowValue::Nothing, |other| RowValue::name(&self.note(other).id));
        let mut fields = vec![
            ("kind", RowValue::name(kind.name())),
            ("id", RowValue::name(&note.id)),
            ("title", RowValue::Text(title)),
            ("other", other),
            ("reason", RowValue::Text(reason)),
            ("command", RowValue::Text(command.clone())),
        ];
        fields.extend(status);
        let note = Some(Arc::clone(note));
        RowEntry { kind: "review", list: "worklist", line, detail: command, note, fields, ..RowEntry::default() }
    }
}

/// Whether a person has accepted a note.
fn is_accepted(note: &NoteHandle) -> bool {
    let is_stable = |status: &Value| status.to_line().trim().eq_ignore_ascii_case("stable");
    note.verified() == Some(true) || note.field("status").is_some_and(is_stable)
}

/// Returns who wrote a draft, and when, as far as the note says.
fn draft_reason(note: &NoteHandle) -> String {
    let mut reason = "nobody has accepted it yet".to_owned();
    if let Some(Value::Map(generated)) = note.field("generated") {
        let entry = |name: &str| generated.iter().find(|(key, _)| key == name).map(|(_, value)| value.to_line());
        reason.extend(entry("by").map(|by| format!("; written by {}", abbreviated(&by))));
        reason.extend(entry("at").map(|at| format!(" at {}", abbreviated(&at))));
    }
    reason
}

/// Whether one of two notes has a link of certain types to the other.
fn is_linked(graph: &Graph<'_>, a: NoteIdx, b: NoteIdx, is_wanted: impl Fn(&str) -> bool) -> bool {
    let has_link = |from, to| graph.outgoing(from).any(|edge| edge.to == to && is_wanted(&edge.kind));
    has_link(a, b) || has_link(b, a)
}
