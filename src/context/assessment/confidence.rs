//! Confidence, trust and freshness of notes, from their fields and links, with the constants of
//! specs/reference/purpose-and-trust.md.

use std::collections::{BTreeSet, HashSet};

use jiff::civil::Date;

use super::fields::{self, StatedConfidence};
use super::trust::{Evidence, SourceTrust, hosts};
use crate::context::Session;
use crate::error::Error;
use crate::graph::{CONTRADICTS, Graph, SeenType};
use crate::report::{Assessment, Confidence, TrustBasis};
use crate::search::Highlighter;
use crate::store::{NoteHandle, NoteIdx};

/// The weights of the dimensions in the overall confidence, in the order of the dimensions; their sum is 1.
const WEIGHTS: [f64; 6] = [0.25, 0.20, 0.15, 0.15, 0.15, 0.10];
/// The least value of a dimension in the overall confidence, so that no single dimension makes it 0.
const MIN_DIMENSION: f64 = 0.001;
/// The most steps in which derivations are followed back.
pub(super) const MAX_STEPS: usize = 3;
/// The share of the highest trust among its origins that a note has at least.
const INHERITED_SHARE: f64 = 0.7;

/// The half-life of the recency of a note, in days.
const RECENCY_HALF_LIFE: f64 = 69.0;
/// The recency and freshness of a note without a date.
const UNKNOWN_RECENCY: f64 = 0.5;
/// The least freshness.
const MIN_FRESHNESS: f64 = 0.1;
/// The consistency of a note without opponents.
const UNOPPOSED_CONSISTENCY: f64 = 0.9;
/// The factor by which each supporter reduces the share of a note that is not corroborated.
const UNSUPPORTED_PER_SUPPORTER: f64 = 0.6;
/// The corroboration of a note without supporters.
const MIN_CORROBORATION: f64 = 0.2;
/// The most supporters that are counted.
const MAX_SUPPORTERS: usize = 100;

/// Link types.
pub(super) const DERIVED_FROM: &str = "derived-from";
pub(super) const SUPPORTED_BY: &str = "supported-by";
pub(super) const SAME_AS: &str = "same-as";

/// Assesses the notes of a store.
pub(super) struct Assessor<'a, 's> {
    pub(super) session: &'a Session<'s>,
    graph: &'a Graph<'s>,
    /// The day that counts as today; without one, time is ignored.
    today: Option<Date>,
    evidence: Evidence<'s>,
    /// The types of links that decide about notes, each with the stored types that are seen as it.
    seen_types: Vec<(&'static str, SeenType)>,
    highlighter: Option<&'a Highlighter>,
}

impl<'a, 's> Assessor<'a, 's> {
    /// Makes an assessor.
    ///
    /// # Errors
    /// `Store` if the user's settings are not valid.
    pub(super) fn new(
        session: &'a Session<'s>,
        today: Option<Date>,
        highlighter: Option<&'a Highlighter>,
    ) -> Result<Self, Error> {
        let (graph, evidence) = (session.graph(), Evidence::new(session.store)?);
        let seen_types = [DERIVED_FROM, SUPPORTED_BY, SAME_AS].into_iter().chain(CONTRADICTS);
        let seen_types = seen_types.map(|kind| (kind, graph.seen_type(kind))).collect();
        Ok(Self { session, graph, today, evidence, seen_types, highlighter })
    }

    fn note(&self, index: NoteIdx) -> &NoteHandle {
        &self.session.store.notes()[index]
    }

    /// Returns the notes at the other ends of a note's links of a type of [`Assessor::seen_types`], in either direction, sorted;
    /// without drafts that the store hides, which nobody accepted.
    pub(super) fn linked(&self, index: NoteIdx, kind: &str) -> BTreeSet<NoteIdx> {
        let seen = self.seen_types.iter().filter(|(of, _)| *of == kind);
        let linked = seen.flat_map(|(_, seen)| self.graph.linked_as(index, seen));
        linked.filter(|other| !self.session.store.is_hidden_draft(*other)).collect()
    }

    /// Returns the notes that contradict a note, or that it contradicts, without superseded ones.
    pub(super) fn opponents(&self, index: NoteIdx) -> BTreeSet<NoteIdx> {
        CONTRADICTS.iter().flat_map(|kind| self.linked_in_force(index, kind)).collect()
    }

    /// Returns the notes that support a note, without superseded ones.
    pub(super) fn supporters(&self, index: NoteIdx) -> BTreeSet<NoteIdx> {
        self.linked_in_force(index, SUPPORTED_BY).collect()
    }

    fn linked_in_force(&self, index: NoteIdx, kind: &str) -> impl Iterator<Item = NoteIdx> {
        self.linked(index, kind).into_iter().filter(|other| !self.session.successions().is_superseded(*other))
    }

    /// Returns the notes from which a note is derived in at most [`MAX_STEPS`] steps, the nearest first.
    pub(super) fn origins(&self, index: NoteIdx) -> Vec<NoteIdx> {
        let mut seen = HashSet::from([index]);
        let (mut origins, mut last) = (Vec::new(), vec![index]);
        for _ in 0..MAX_STEPS {
            let next = last.iter().flat_map(|note| self.linked(*note, DERIVED_FROM));
            last = next.filter(|note| seen.insert(*note)).collect();
            origins.extend(&last);
        }
        origins
    }

    /// Returns the trust in the source of a note.
    pub(super) fn trust(&self, index: NoteIdx) -> SourceTrust {
        let own = self.evidence.own_trust(index);
        // Without support, a note gains nothing by naming its origins.
        if fields::trust(self.note(index)).is_some() || !self.evidence.has_support(index) {
            return own;
        }
        // Else a note of the repository would gain trust by naming a note of the user.
        let counts = |origin: &NoteIdx| self.note(index).may_replace(self.note(*origin));
        let of_origins = self.origins(index).into_iter().filter(counts);
        let of_origins = of_origins.map(|origin| self.evidence.own_trust(origin).value);
        let inherited = INHERITED_SHARE * of_origins.fold(0.0, f64::max);
        if inherited > own.value { SourceTrust { value: inherited, basis: TrustBasis::Origin } } else { own }
    }

    pub(super) fn assessment(&self, index: NoteIdx, relevance: f64) -> Assessment {
        let origin = |origin: NoteIdx| {
            let note = self.note(origin);
            (note.id.clone(), note.title().to_owned(), self.confidence(origin).overall)
        };
        let trust = self.trust(index);
        Assessment {
            confidence: self.confidence(index),
            trust: rounded(trust.value),
            trust_basis: trust.basis,
            unsupported: self.evidence.unsupported(index),
            relevance: rounded(relevance),
            utility: None,
            derived_from: self.linked(index, DERIVED_FROM).into_iter().map(origin).collect(),
            contradictions: self.opponents(index).len(),
        }
    }

    pub(super) fn confidence(&self, index: NoteIdx) -> Confidence {
        let opponents = self.opponents(index);
        // A note that no longer holds contradicts no other, and one of the repository makes none of the user less certain.
        let counts =
            |other: NoteIdx| !self.session.store.is_retired(other) && self.note(other).may_replace(self.note(index));
        let valid = opponents.iter().filter(|opponent| counts(**opponent));
        let consistency =
            valid.map(|opponent| self.consistency_against(*opponent)).fold(UNOPPOSED_CONSISTENCY, f64::min);
        self.confidence_with(index, consistency)
    }

    /// Returns the consistency of a note that contradicts `opponent`. The contradictions of the opponent itself are
    /// ignored, since two notes may contradict each other.
    fn consistency_against(&self, opponent: NoteIdx) -> f64 {
        let confidence = self.confidence_with(opponent, UNOPPOSED_CONSISTENCY).overall;
        match confidence {
            _ if self.evidence.is_verified(opponent) => 0.0,
            ..0.4 => 0.5,
            ..0.7 => 0.3,
            _ => 0.1,
        }
    }

    fn confidence_with(&self, index: NoteIdx, consistency: f64) -> Confidence {
        let stated = fields::confidence(self.note(index));
        if let (Some(StatedConfidence::Overall(overall)), true) = (stated, self.evidence.is_full(index)) {
            return Confidence { overall, dimensions: None };
        }
        let derived = [
            self.trust(index).value,
            self.method_quality(index, &mut HashSet::new(), MAX_STEPS),
            consistency,
            self.freshness(index),
            self.corroboration(index),
            self.applicability(index),
        ]
        .map(rounded);
        match stated {
            Some(stated) => {
                stated.completed(derived, |stated, derived| self.evidence.accepted(index, stated, derived), overall)
            }
            None => Confidence { overall: overall(&derived), dimensions: Some(derived) },
        }
    }

    /// Returns the quality of method, 0 to 1: as stated, else by the note's type; at most that of the weakest origin.
    fn method_quality(&self, index: NoteIdx, seen: &mut HashSet<NoteIdx>, steps: usize) -> f64 {
        let note = self.note(index);
        let by_kind = match note.list_fields().kind {
            _ if self.evidence.is_verified(index) => 0.7,
            _ if fields::is_generated(note) => 0.1,
            "permanent" | "moc" => 0.5,
            "fleeting" | "journal" => 0.2,
            // Literature, and unknown types.
            _ => 0.3,
        };
        let own = fields::method_quality(note).map_or(by_kind, |stated| self.evidence.accepted(index, stated, by_kind));
        if steps == 0 || !seen.insert(index) {
            return own;
        }
        let origins = self.linked(index, DERIVED_FROM);
        origins.into_iter().map(|origin| self.method_quality(origin, seen, steps - 1)).fold(own, f64::min)
    }

    /// Returns the freshness, which halves with the half-life of the note's type; at least [`MIN_FRESHNESS`], which is
    /// that of a stale note.
    fn freshness(&self, index: NoteIdx) -> f64 {
        let note = self.note(index);
        if self.today.is_some_and(|today| note.due(|| today).is_some()) {
            return MIN_FRESHNESS;
        }
        let half_life = match note.list_fields().kind {
            "permanent" | "moc" => 365.0,
            "fleeting" | "journal" => 30.0,
            _ => 90.0,
        };
        self.days_old(note).map_or(UNKNOWN_RECENCY, |days| (-days / half_life).exp2().max(MIN_FRESHNESS))
    }

    /// Returns the recency: 1 for a change today, half after [`RECENCY_HALF_LIFE`]; [`UNKNOWN_RECENCY`] without a date.
    pub(super) fn recency(&self, index: NoteIdx) -> f64 {
        self.days_old(self.note(index)).map_or(UNKNOWN_RECENCY, |days| (-days / RECENCY_HALF_LIFE).exp2())
    }

    /// Returns the days since the last change of a note, or since the day of a journal; at least 0.
    fn days_old(&self, note: &NoteHandle) -> Option<f64> {
        let day = note.journal_day().or_else(|| note.list_fields().changed().map(|time| time.date()))?;
        let days = day.until(self.today?).ok()?.get_days();
        Some(f64::from(days.max(0)))
    }

    /// Returns the corroboration, 0 to 1, which grows with the supporting notes, hosts of sources, and verification.
    fn corroboration(&self, index: NoteIdx) -> f64 {
        let note = self.note(index);
        // Without support, a note gains nothing by naming its sources.
        let hosts = if self.evidence.has_support(index) { hosts(note).len() } else { 0 };
        let supporters = self.supporters(index).len() + hosts;
        match supporters + usize::from(self.evidence.is_confirmed(index)) {
            0 => MIN_CORROBORATION,
            supporters => 1.0 - UNSUPPORTED_PER_SUPPORTER.powi(supporters.min(MAX_SUPPORTERS) as i32),
        }
    }

    /// Returns the applicability: higher if a tag of the note is in the query.
    fn applicability(&self, index: NoteIdx) -> f64 {
        let is_in_query = |tag: &str| self.highlighter.is_some_and(|highlighter| highlighter.idf_weight(tag) > 0.0);
        if self.note(index).tags().into_iter().any(is_in_query) { 0.8 } else { 0.6 }
    }
}

/// Computes the confidence of notes apart from an answer.
pub(crate) struct ConfidenceSource<'a, 's>(Assessor<'a, 's>);

impl<'a, 's> ConfidenceSource<'a, 's> {
    /// Makes a source of the confidences today.
    ///
    /// # Errors
    /// `Store` if the user's settings are not valid.
    pub(crate) fn new(session: &'a Session<'s>) -> Result<Self, Error> {
        Assessor::new(session, Some(session.store.today.day()), None).map(Self)
    }

    /// Returns the confidence of a note.
    pub(crate) fn of(&self, note: NoteIdx) -> Confidence {
        self.0.confidence(note)
    }

    /// Returns the trust in the source of a note.
    pub(crate) fn trust_of(&self, note: NoteIdx) -> f64 {
        rounded(self.0.trust(note).value)
    }
}

/// Returns the weighted geometric mean of the dimensions.
fn overall(dimensions: &[f64; 6]) -> f64 {
    let logs = dimensions.iter().zip(WEIGHTS).map(|(dimension, weight)| weight * dimension.max(MIN_DIMENSION).ln());
    rounded(logs.sum::<f64>().exp())
}

/// Rounds to four decimals, so that numbers are equal on every machine and equal to what is shown.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Config, Store};

    fn store(notes: &[(&str, &str)]) -> Store {
        store_with("[trust.authors]\nAnn = 0.9\n[trust.hosts]\n\"x.org\" = 0.85\n", notes)
    }

    fn store_with(config: &str, notes: &[(&str, &str)]) -> Store {
        let note = |(id, fields): &(&str, &str)| {
            let text = format!("---\nid: {id}\n{fields}\n---\nText of {id}.\n");
            crate::note::Note::parse(&format!("notes/{id}.md"), text.into_bytes())
        };
        let config = Config::parse(config).unwrap();
        Store::from_notes(".qipu/".to_owned(), config, notes.iter().map(note).collect())
    }

    fn with_assessor<T>(notes: &[(&str, &str)], test: impl Fn(&Assessor<'_, '_>, &dyn Fn(&str) -> NoteIdx) -> T) -> T {
        let store = store(notes);
        let session = Session::new(&store);
        let assessor = Assessor::new(&session, "2025-03-05".parse().ok(), None).unwrap();
        test(&assessor, &|id| store.named(id).unwrap())
    }

    #[test]
    fn trust_is_stated_configured_or_by_kind_and_lent_by_origins() {
        let notes = [
            ("a", "trust: 0.2\nauthor: Ann"),
            ("b", "author: Ann"),
            ("c", "author: Bob"),
            ("d", "sources: https://www.docs.x.org:80/p"),
            ("e", "sources: https://notx.org"),
            ("f", "generated: true"),
            ("g", "verified: true"),
            ("h", "links:\n- type: derived-from\n  id: i"),
            ("i", "links:\n- type: derived-from\n  id: b"),
            ("j", "links:\n- type: derived-from\n  id: k\ngenerated: true"),
            ("k", "links:\n- type: derived-from\n  id: j"),
        ];
        let trust = with_assessor(&notes, |assessor, index_of| {
            notes.map(|(id, _)| rounded(assessor.trust(index_of(id)).value))
        });
        assert_eq!(trust, [0.2, 0.9, 0.75, 0.85, 0.6, 0.4, 0.8, 0.63, 0.63, 0.4, 0.5]);
    }

    #[test]
    fn every_dimension_is_derived() {
        let notes = [
            (
                "a",
                "type: permanent\nupdated: 2025-03-05\ntags: [x]\nsources: [https://p.org/1, https://p.org/2, https://q.org]",
            ),
            ("b", "type: fleeting\nlinks:\n- type: supports\n  id: a\n- type: contradicts\n  id: c"),
            ("c", "type: literature\nupdated: 2024-12-05"),
            ("d", "type: permanent\nupdated: 2020-01-01\nlinks:\n- type: derived-from\n  id: b"),
        ];
        let dimensions = with_assessor(&notes, |assessor, index_of| {
            notes.map(|(id, _)| assessor.confidence(index_of(id)).dimensions.unwrap())
        });
        assert_eq!(dimensions[0], [0.6, 0.5, 0.9, 1.0, rounded(1.0 - 0.216), 0.6]);
        assert_eq!(dimensions[1], [0.5, 0.2, 0.3, 0.5, 0.2, 0.6]);
        assert_eq!(dimensions[2], [0.5, 0.3, 0.3, 0.5, 0.2, 0.6]);
        assert_eq!(dimensions[3], [0.5, 0.2, 0.9, 0.1, 0.2, 0.6]);
        let by_hand = (0.25 * 0.5_f64.ln()
            + 0.2 * 0.2_f64.ln()
            + 0.15 * 0.9_f64.ln()
            + 0.15 * 0.1_f64.ln()
            + 0.15 * 0.2_f64.ln()
            + 0.1 * 0.6_f64.ln())
        .exp();
        let overall = with_assessor(&notes, |assessor, index_of| assessor.confidence(index_of("d")).overall);
        assert!((overall - by_hand).abs() < 1e-4, "{overall} {by_hand}");
    }

    #[test]
    fn the_strongest_opponent_counts_and_two_may_contradict_each_other() {
        let against = |fields: &str| {
            let opponent = format!("{fields}\nlinks:\n- type: contradicts\n  id: a");
            let notes =
                [("a", "links:\n- type: contradicts\n  id: b"), ("b", opponent.as_str()), ("c", "confidence: 0.1")];
            with_assessor(&notes, |assessor, index_of| assessor.confidence(index_of("a")).dimensions.unwrap()[2])
        };
        let consistency = ["confidence: 0.3", "confidence: 0.6", "confidence: 0.9", "verified: true"].map(against);
        assert_eq!(consistency, [0.5, 0.3, 0.1, 0.0]);
        let retired = ["verified: true\nstatus: rejected", "confidence: 0.9\nvalid_until: 2020-01-01"].map(against);
        assert_eq!(retired, [0.9, 0.9]);
    }

    /// What nobody accepted, and what another note supersedes, neither raises nor lowers the confidence of a note.
    #[test]
    fn hidden_drafts_and_superseded_notes_do_not_count() {
        let note = "type: permanent\nupdated: 2025-03-05\nlinks:\n- type: derived-from\n  id: base";
        let assessed = |others: &[(&str, &str)], config: &str| {
            let notes: Vec<(&str, &str)> =
                [("a", note), ("base", "trust: 0.3")].iter().chain(others).copied().collect();
            let store = store_with(config, &notes);
            let session = Session::new(&store);
            let assessor = Assessor::new(&session, "2025-03-05".parse().ok(), None).unwrap();
            assessor.assessment(store.named("a").unwrap(), 1.0)
        };
        let hides = "[review]\nhold = true\n";
        let alone = assessed(&[], hides);
        for kind in ["contradicts", "supports"] {
            let fields = |status: &str| format!("status: {status}\nconfidence: 0.9\nlinks:\n- type: {kind}\n  id: a");
            let (draft, accepted) = (fields("draft"), fields("stable"));
            assert_eq!(assessed(&[("x", &draft)], hides), alone, "{kind}");
            assert_ne!(assessed(&[("x", &draft)], ""), alone, "{kind}: a draft that is shown counts");
            assert_ne!(assessed(&[("x", &accepted)], hides), alone, "{kind}");
            let successor = ("y", "links:\n- type: supersedes\n  id: x");
            assert_eq!(assessed(&[("x", &accepted), successor], hides), alone, "{kind}: superseded");
        }
    }

    #[test]
    fn stated_dimensions_stand_beside_derived_ones() {
        let notes = [("a", "confidence:\n  corroboration: 1\n  overall: 0.4"), ("b", "confidence: high")];
        let found = with_assessor(&notes, |assessor, index_of| ["a", "b"].map(|id| assessor.confidence(index_of(id))));
        assert_eq!((found[0].overall, found[0].dimensions.map(|all| all[4])), (0.4, Some(1.0)));
        assert_eq!((found[1].overall, found[1].dimensions, found[1].label()), (0.8, None, "high"));
    }
}
