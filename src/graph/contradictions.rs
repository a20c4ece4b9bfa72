//! Contradiction candidates: pairs of notes that say the opposite of each other, as far as links and fields tell.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Graph;
use crate::note::Value;
use crate::store::{NoteHandle, NoteIdx};

/// The most notes that a note is compared with for one reason: a store with thousands of equal titles has one mistake, not
/// millions.
const MAX_COMPARED: usize = 40;

/// The type of links by which a note speaks for another, with its inverse.
const SUPPORTS: [&str; 2] = ["supports", "supported-by"];
/// The type of links by which a note speaks against another, with its inverse.
pub const CONTRADICTS: [&str; 2] = ["contradicts", "contradicted-by"];

/// The types of links that say how two notes differ, each with its inverse.
pub const SETTLED: [[&str; 2]; 4] =
    [["supersedes", "superseded-by"], ["refines", "refined-by"], ["same-as", "same-as"], ["alias-of", "has-alias"]];

/// The fields that say what a note is about.
const SUBJECTS: [&str; 2] = ["subject", "key"];

/// The fields that do not describe the subject of a note.
const NOT_COMPARED: [&str; 17] = [
    "subject", "key", "status", "session", "generated", "generated_by", "generated-by", "imported", "confidence",
    "trust", "author", "verified", "valid_until", "stale_after", "description", "resource", "timestamp",
];

/// Why two notes may contradict each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// One supports the other, and one of them contradicts the other.
    EachOther,
    /// One supports this note, and the other contradicts it.
    About(NoteIdx),
    /// A field of both has different values.
    Field {
        /// Its name.
        name: String,
        /// The value in the first note, and in the second.
        values: [String; 2],
    },
}

/// Two notes that may contradict each other, in the order of their ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The notes.
    pub notes: [NoteIdx; 2],
    /// The reason.
    pub conflict: Conflict,
}

/// Returns the candidates among the notes for which `is_current` is true, by the ids of the notes:
///
/// - one supports the other, and one of them contradicts the other;
/// - one supports a current note that the other contradicts;
/// - they have the same title, `subject` or `key`, and another field in common with different single values.
///
/// Notes between which a link says how they differ are no candidates; for the last two reasons, neither are those where
/// one contradicts the other. Each note is compared with at most [`MAX_COMPARED`] others for one reason.
pub fn contradictions(
    graph: &Graph<'_>,
    notes: &[Arc<NoteHandle>],
    is_current: impl Fn(NoteIdx) -> bool,
) -> Vec<Contradiction> {
    let (supports, contradicts) = (Links::new(graph, notes, SUPPORTS), Links::new(graph, notes, CONTRADICTS));
    let settled = SETTLED.map(|kinds| Links::new(graph, notes, kinds));
    let is_settled = |a, b| settled.iter().any(|links| links.has_either(a, b));
    let mut found: BTreeMap<[NoteIdx; 2], Conflict> = BTreeMap::new();
    let mut add = |a: NoteIdx, b: NoteIdx, conflict| {
        if a != b && is_current(a) && is_current(b) && !is_settled(a, b) {
            found.entry([a.min(b), a.max(b)]).or_insert(conflict);
        }
    };
    for (a, b) in supports.0.iter().filter(|(a, b)| contradicts.has_either(*a, *b)) {
        add(*a, *b, Conflict::EachOther);
    }
    let supporters = supports.by_target();
    for (target, opponents) in contradicts.by_target().into_iter().filter(|(target, _)| is_current(*target)) {
        let supporters = supporters.get(&target).into_iter().flatten().take(MAX_COMPARED);
        for (a, b) in supporters.flat_map(|a| opponents.iter().take(MAX_COMPARED).map(move |b| (*a, *b))) {
            if !contradicts.has_either(a, b) {
                add(a, b, Conflict::About(target));
            }
        }
    }
    for same in groups(notes, &is_current) {
        for (position, a) in same.iter().enumerate() {
            for b in same.iter().skip(position + 1).take(MAX_COMPARED).filter(|b| !contradicts.has_either(*a, **b)) {
                if let Some(conflict) = different_field(&notes[*a], &notes[*b]) {
                    add(*a, *b, conflict);
                }
            }
        }
    }
    found.into_iter().map(|(notes, conflict)| Contradiction { notes, conflict }).collect()
}

/// The typed links of one kind, as pairs of a source and a target.
struct Links(BTreeSet<(NoteIdx, NoteIdx)>);

impl Links {
    fn new(graph: &Graph<'_>, notes: &[Arc<NoteHandle>], [kind, inverse]: [&str; 2]) -> Self {
        let edges = NoteIdx::all(notes.len()).flat_map(|note| graph.outgoing(note));
        let pairs = edges.filter_map(|edge| {
            let is_forward = edge.kind == kind;
            let pair = if is_forward { (edge.from, edge.to) } else { (edge.to, edge.from) };
            (edge.sources.is_typed && (is_forward || edge.kind == inverse)).then_some(pair)
        });
        Self(pairs.collect())
    }

    /// Whether one of two notes has a link to the other.
    fn has_either(&self, a: NoteIdx, b: NoteIdx) -> bool {
        self.0.contains(&(a, b)) || self.0.contains(&(b, a))
    }

    fn by_target(&self) -> BTreeMap<NoteIdx, Vec<NoteIdx>> {
        let mut sources: BTreeMap<NoteIdx, Vec<NoteIdx>> = BTreeMap::new();
        self.0.iter().for_each(|(from, to)| sources.entry(*to).or_default().push(*from));
        sources
    }
}

/// Returns the current notes with the same title, `subject` or `key`, in the order of their ids. Journals have no subject.
fn groups(notes: &[Arc<NoteHandle>], is_current: impl Fn(NoteIdx) -> bool) -> Vec<Vec<NoteIdx>> {
    let mut groups: BTreeMap<(&str, String), Vec<NoteIdx>> = BTreeMap::new();
    for (place, note) in NoteIdx::enumerate(notes).filter(|(place, note)| !note.flags.is_journal && is_current(*place))
    {
        let subjects = SUBJECTS.iter().filter_map(|name| Some((*name, folded(&single(note.field(name)?)?))));
        for key in subjects.chain([("title", folded(note.title()))]).filter(|(_, text)| !text.is_empty()) {
            groups.entry(key).or_default().push(place);
        }
    }
    groups.into_values().filter(|same| same.len() > 1).collect()
}

/// Returns the first field of a note, by its name, that another note has with a different value.
fn different_field(a: &NoteHandle, b: &NoteHandle) -> Option<Conflict> {
    let fields = a.extra_fields();
    let names: BTreeSet<&str> = fields.unknown.iter().chain(fields.custom).map(|(name, _)| name.as_str()).collect();
    names.into_iter().filter(|name| !NOT_COMPARED.contains(name)).find_map(|name| {
        let values = [single(a.field(name)?)?, single(b.field(name)?)?];
        let is_different = folded(&values[0]) != folded(&values[1]);
        is_different.then(|| Conflict::Field { name: name.to_owned(), values })
    })
}

/// Returns the text of a value that is neither a list nor a map; `None` if it is blank.
fn single(value: &Value) -> Option<String> {
    let Value::Text { text, .. } = value else { return None };
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// Returns a text without differences of case and white space.
fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::note::LinkTypes;

    /// Returns the candidates among notes `a`, `b` and so on, each with its fields.
    fn found(fields: &[&str]) -> Vec<String> {
        let note = |(id, fields): (char, &&str)| {
            let text = format!("---\nid: {id}\n{fields}\n---\nText.\n");
            Arc::new(NoteHandle::parse(&format!("notes/{id}.md"), text.into_bytes()))
        };
        let notes: Vec<Arc<NoteHandle>> = ('a'..).zip(fields).map(note).collect();
        let notes = &notes[..];
        let types = LinkTypes::default();
        let found = contradictions(&Graph::new(notes, &types), notes, |note| !notes[note].is_turned_down());
        let shown = found.iter().map(|Contradiction { notes: [a, b], conflict }| {
            let reason = match conflict {
                Conflict::EachOther => "each other".to_owned(),
                Conflict::About(target) => format!("about {}", notes[*target].id),
                Conflict::Field { name, values } => format!("{name} {}", values.join(" ")),
            };
            format!("{} {} {reason}", notes[*a].id, notes[*b].id)
        });
        shown.collect()
    }

    #[test]
    fn links_of_opposite_sense_are_candidates() {
        let link = |kind: &str, id: &str| format!("links: [{{type: {kind}, id: {id}}}]");
        let (for_b, against_a, against_c) = (link("supports", "b"), link("contradicts", "a"), link("contradicts", "c"));
        assert_eq!(found(&[&for_b, &against_a]), ["a b each other"]);
        assert_eq!(found(&[&link("supported-by", "b"), &link("contradicted-by", "a")]), ["a b each other"]);
        assert_eq!(found(&["", &against_a]), [""; 0], "a known contradiction");
        assert_eq!(found(&[&link("supports", "c"), &against_c, ""]), ["a b about c"]);
        assert_eq!(found(&[&link("supports", "c"), &link("supports", "c"), ""]), [""; 0]);
        let known = "links: [{type: contradicts, id: c}, {type: contradicts, id: a}]";
        assert_eq!(found(&[&link("supports", "c"), known, ""]), [""; 0]);
        let refined = "links: [{type: contradicts, id: c}, {type: refines, id: a}]";
        assert_eq!(found(&[&link("supports", "c"), refined, ""]), [""; 0]);
        assert_eq!(
            found(&[&link("supports", "c"), &against_c, "status: rejected"]),
            [""; 0],
            "about nothing that holds"
        );
        assert_eq!(found(&[&link("supports", "c"), &format!("{against_c}\nstatus: rejected"), ""]), [""; 0]);
    }

    #[test]
    fn different_values_of_one_subject_are_candidates() {
        assert_eq!(
            found(&["title: Retry limit\nlimit: 3", "title: retry  LIMIT\ncustom: {limit: 5}"]),
            ["a b limit 3 5"]
        );
        assert_eq!(found(&["title: Retry limit\nlimit: Three", "title: Retry limit\nlimit: three"]), [""; 0]);
        assert_eq!(found(&["title: A\nsubject: x\nport: 1", "title: B\nsubject: X\nport: 2"]), ["a b port 1 2"]);
        assert_eq!(found(&["title: A\nkey: x\nport: 1", "title: B\nsubject: x\nport: 2"]), [""; 0]);
        for ignored in ["status", "author", "session", "generated_by", "confidence", "valid_until", "subject"] {
            let fields = ["1", "2"].map(|value| format!("title: T\n{ignored}: {value}"));
            assert_eq!(found(&[&fields[0], &fields[1]]), [""; 0], "{ignored}");
        }
        let lists = ["title: T\nports: [1]", "title: T\nports: [2]", "title: T\ntype: journal\nports: 3"];
        assert_eq!(found(&lists), [""; 0]);
        let refined = "title: T\nlimit: 2\nlinks: [{type: refines, id: a}]";
        assert_eq!(found(&["title: T\nlimit: 1", refined]), [""; 0]);
    }
}
