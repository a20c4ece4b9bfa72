//! How far notes can be relied on, from what they say of themselves and how they are linked. The
//! numbers are those of specs/context-query.md.

use std::collections::{BTreeSet, HashSet};

use jiff::civil::Date;

use super::fields::{self, StatedConfidence};
use crate::context::{Session, journal_day};
use crate::graph::Graph;
use crate::note::Note;
use crate::report::{Assessment, Confidence};
use crate::search::Highlighter;

/// What each dimension counts in the whole, in the order of the dimensions.
const WEIGHTS: [f64; 6] = [0.25, 0.20, 0.15, 0.15, 0.15, 0.10];
/// The least that a dimension counts as, so that one alone does not decide.
const LEAST: f64 = 0.001;
/// How far back derivations are followed, in steps.
pub(super) const MAX_STEPS: usize = 3;
/// How much of the best trust among its origins a note has at least.
const INHERITED: f64 = 0.7;

/// Link types.
pub(super) const DERIVED_FROM: &str = "derived-from";
pub(super) const SUPPORTED_BY: &str = "supported-by";
pub(super) const CONTRADICTS: [&str; 2] = ["contradicts", "contradicted-by"];
pub(super) const SAME_AS: &str = "same-as";

/// Weighs the notes of a store.
pub(super) struct Assessor<'a, 's> {
    pub(super) desk: &'a Session<'s>,
    graph: &'a Graph<'s>,
    /// The day that counts as today; without one, time plays no part.
    today: Option<Date>,
    /// Whether what notes and the store's config say in favour of notes counts. What they say against them always does.
    believes: bool,
    highlighter: Option<&'a Highlighter>,
}

impl<'a, 's> Assessor<'a, 's> {
    /// Gets ready to weigh notes of a store.
    pub(super) fn new(desk: &'a Session<'s>, today: Option<Date>, highlighter: Option<&'a Highlighter>) -> Self {
        Self { desk, graph: desk.graph(), today, believes: desk.store.is_trusted(), highlighter }
    }

    fn note(&self, place: usize) -> &Note {
        &self.desk.store.notes()[place]
    }

    /// Returns the notes to which a note has a link of a type, written at either end, in order.
    pub(super) fn linked(&self, place: usize, kind: &str) -> BTreeSet<usize> {
        let graph = self.graph;
        let types = &self.desk.store.config.link_types;
        let out = graph.outgoing(place).filter(|edge| edge.kind == kind).map(|edge| edge.to);
        let back = graph.incoming(place).filter(|edge| types.inverse(&edge.kind) == kind).map(|edge| edge.from);
        out.chain(back).collect()
    }

    /// Returns the notes that contradict a note, or that it contradicts.
    pub(super) fn opponents(&self, place: usize) -> BTreeSet<usize> {
        CONTRADICTS.iter().flat_map(|kind| self.linked(place, kind)).collect()
    }

    /// Returns the notes that a note comes from, in so many steps at most, the nearest first.
    pub(super) fn origins(&self, place: usize) -> Vec<usize> {
        let mut seen = HashSet::from([place]);
        let (mut origins, mut last) = (Vec::new(), vec![place]);
        for _ in 0..MAX_STEPS {
            let next = last.iter().flat_map(|note| self.linked(*note, DERIVED_FROM));
            last = next.filter(|note| seen.insert(*note)).collect();
            origins.extend(&last);
        }
        origins
    }

    /// Returns how far a note's source is trusted, 0 to 1.
    pub(super) fn trust(&self, place: usize) -> f64 {
        let note = self.note(place);
        if fields::trust(note).is_some() {
            return self.own_trust(note);
        }
        let inherited = self.origins(place).into_iter().map(|origin| INHERITED * self.own_trust(self.note(origin)));
        inherited.fold(self.own_trust(note), f64::max)
    }

    /// Returns what a note or the config states; where they are not believed, no more than there would be without.
    fn believed(&self, stated: Option<f64>, usual: f64) -> f64 {
        match stated {
            Some(stated) if self.believes => stated,
            Some(stated) => stated.min(usual),
            None => usual,
        }
    }

    /// Tells whether a person has checked a note, as far as that is believed.
    fn is_verified(&self, note: &Note) -> bool {
        self.believes && note.verified == Some(true)
    }

    fn own_trust(&self, note: &Note) -> f64 {
        let config = &self.desk.store.config.trust;
        let author = fields::author(note);
        let by_author = || config.authors.get(author.as_deref()?).copied();
        let by_host = || {
            let hosts = hosts(note).into_iter();
            let trusted = hosts.filter_map(|host| {
                let is_in = |name: &str| host == name || host.strip_suffix(name).is_some_and(|sub| sub.ends_with('.'));
                config.hosts.iter().filter(|(name, _)| is_in(name)).map(|(_, trust)| *trust).reduce(f64::max)
            });
            trusted.reduce(f64::max)
        };
        let has_author = self.believes && author.is_some();
        let stated = fields::trust(note).or_else(by_author).or_else(by_host);
        self.believed(stated, by_kind(note, has_author, self.is_verified(note)))
    }

    /// Returns what is known of a note that answers so well.
    pub(super) fn belief(&self, place: usize, relevance: f64) -> Assessment {
        let origin = |origin: usize| {
            let note = self.note(origin);
            (note.id.clone(), note.title.clone(), self.confidence(origin).overall)
        };
        Assessment {
            confidence: self.confidence(place),
            trust: rounded(self.trust(place)),
            relevance: rounded(relevance),
            utility: None,
            derived_from: self.linked(place, DERIVED_FROM).into_iter().map(origin).collect(),
            contradictions: self.opponents(place).len(),
            answers: None,
        }
    }

    /// Returns how far a note can be relied on.
    pub(super) fn confidence(&self, place: usize) -> Confidence {
        let opponents = self.opponents(place);
        // A note that was rejected or superseded speaks against nothing any more.
        let holding = opponents.iter().filter(|opponent| !self.desk.store.is_retired(**opponent));
        let consistency = holding.map(|opponent| self.consistency_beside(*opponent)).fold(0.9, f64::min);
        self.confidence_with(place, consistency)
    }

    /// Returns how consistent a note is that this one contradicts. That others contradict this one too
    /// does not count: two notes that contradict each other would have to wait for each other.
    fn consistency_beside(&self, opponent: usize) -> f64 {
        let confidence = self.confidence_with(opponent, 0.9).overall;
        match self.is_verified(self.note(opponent)) {
            true => 0.0,
            false if confidence < 0.4 => 0.5,
            false if confidence < 0.7 => 0.3,
            false => 0.1,
        }
    }

    fn confidence_with(&self, place: usize, consistency: f64) -> Confidence {
        let stated = fields::confidence(self.note(place));
        if let (Some(StatedConfidence::Overall(overall)), true) = (stated, self.believes) {
            return Confidence { overall, dimensions: None };
        }
        let derived = [
            self.trust(place),
            self.method_quality(place, &mut HashSet::new(), MAX_STEPS),
            consistency,
            self.freshness(place),
            self.corroboration(place),
            self.applicability(place),
        ]
        .map(rounded);
        match stated {
            Some(stated) => stated.completed(derived, self.believes, overall),
            None => Confidence { overall: overall(&derived), dimensions: Some(derived) },
        }
    }

    /// How the note came about: what it states, else by its type; never better than the weakest that it is derived
    /// from.
    fn method_quality(&self, place: usize, seen: &mut HashSet<usize>, steps: usize) -> f64 {
        let note = self.note(place);
        let by_kind = match note.kind.as_str() {
            _ if self.is_verified(note) => 0.7,
            _ if fields::is_generated(note) => 0.1,
            "permanent" | "moc" => 0.5,
            "fleeting" | "journal" => 0.2,
            // Literature, and types that qipu knows nothing of.
            _ => 0.3,
        };
        let own = self.believed(fields::method_quality(note), by_kind);
        if steps == 0 || !seen.insert(place) {
            return own;
        }
        let origins = self.linked(place, DERIVED_FROM);
        origins.into_iter().map(|origin| self.method_quality(origin, seen, steps - 1)).fold(own, f64::min)
    }

    /// Halves in a time that depends on the type; at least 0.1.
    fn freshness(&self, place: usize) -> f64 {
        let note = self.note(place);
        let half_life = match note.kind.as_str() {
            "permanent" | "moc" => 365.0,
            "fleeting" | "journal" => 30.0,
            _ => 90.0,
        };
        self.days_old(note).map_or(0.5, |days| (-days / half_life).exp2().max(0.1))
    }

    /// Returns how lately a note changed: 1 today, the half after 69 days; 0.5 where that is not known.
    pub(super) fn recency(&self, place: usize) -> f64 {
        self.days_old(self.note(place)).map_or(0.5, |days| (-days / 69.0).exp2())
    }

    /// Counts the days since a note changed; of a journal, since its day.
    fn days_old(&self, note: &Note) -> Option<f64> {
        let day = journal_day(note).or_else(|| note.changed().map(|stamp| stamp.date()))?;
        let days = day.until(self.today?).ok()?.get_days();
        Some(f64::from(days.max(0)))
    }

    /// Grows with what supports the note: other notes, sources of different hosts, a person's check.
    fn corroboration(&self, place: usize) -> f64 {
        let note = self.note(place);
        let hosts: BTreeSet<String> = hosts(note).into_iter().collect();
        let supporters = self.linked(place, SUPPORTED_BY).len() + hosts.len();
        match supporters + usize::from(self.is_verified(note)) {
            0 => 0.2,
            // More than this many are as good.
            supporters => 1.0 - 0.6_f64.powi(supporters.min(100) as i32),
        }
    }

    /// Whether one of its tags is what was asked for.
    fn applicability(&self, place: usize) -> f64 {
        let is_asked = |tag: &String| self.highlighter.is_some_and(|highlighter| highlighter.says(tag) > 0.0);
        if self.note(place).tags.iter().any(is_asked) { 0.8 } else { 0.6 }
    }
}

/// Returns how far notes of a kind are trusted.
fn by_kind(note: &Note, has_author: bool, is_verified: bool) -> f64 {
    let is_generated = fields::is_generated(note);
    match is_verified {
        true => 0.8,
        false if has_author && !is_generated => 0.75,
        false if !note.sources.is_empty() => 0.6,
        false if is_generated => 0.4,
        false => 0.5,
    }
}

/// Returns the hosts of a note's sources, in small letters, without `www.`.
fn hosts(note: &Note) -> Vec<String> {
    let host = |url: &str| {
        let rest = url.split_once("://")?.1;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit('@').next()?.split(':').next()?.to_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        (!host.is_empty()).then_some(host)
    };
    note.sources.iter().filter_map(|source| host(&source.url)).collect()
}

/// The weighted geometric mean.
fn overall(dimensions: &[f64; 6]) -> f64 {
    let logs = dimensions.iter().zip(WEIGHTS).map(|(dimension, weight)| weight * dimension.max(LEAST).ln());
    rounded(logs.sum::<f64>().exp())
}

/// Rounds to four decimals, so that numbers are the same on every machine and are what is shown.
pub(super) fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Config, Store};

    fn store(notes: &[(&str, &str)]) -> Store {
        let note = |(id, fields): &(&str, &str)| {
            let text = format!("---\nid: {id}\n{fields}\n---\nText of {id}.\n");
            Note::parse(&format!("notes/{id}.md"), text.into_bytes())
        };
        let config = Config::parse("[trust.authors]\nAnn = 0.9\n[trust.hosts]\n\"x.org\" = 0.85\n").unwrap();
        Store::from_notes(".qipu/".to_owned(), config, notes.iter().map(note).collect())
    }

    fn weigh<T>(notes: &[(&str, &str)], look: impl Fn(&Assessor<'_, '_>, &dyn Fn(&str) -> usize) -> T) -> T {
        let store = store(notes);
        let desk = Session::new(&store);
        let weigher = Assessor::new(&desk, "2025-03-05".parse().ok(), None);
        look(&weigher, &|id| store.named(id).unwrap())
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
        let trust = weigh(&notes, |weigher, at| notes.map(|(id, _)| rounded(weigher.trust(at(id)))));
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
        let dimensions =
            weigh(&notes, |weigher, at| notes.map(|(id, _)| weigher.confidence(at(id)).dimensions.unwrap()));
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
        let overall = weigh(&notes, |weigher, at| weigher.confidence(at("d")).overall);
        assert!((overall - by_hand).abs() < 1e-4, "{overall} {by_hand}");
    }

    #[test]
    fn the_strongest_opponent_counts_and_two_may_contradict_each_other() {
        let against = |fields: &str| {
            let opponent = format!("{fields}\nlinks:\n- type: contradicts\n  id: a");
            let notes =
                [("a", "links:\n- type: contradicts\n  id: b"), ("b", opponent.as_str()), ("c", "confidence: 0.1")];
            weigh(&notes, |weigher, at| weigher.confidence(at("a")).dimensions.unwrap()[2])
        };
        let consistency = ["confidence: 0.3", "confidence: 0.6", "confidence: 0.9", "verified: true"].map(against);
        assert_eq!(consistency, [0.5, 0.3, 0.1, 0.0]);
        let retired = ["verified: true\nstatus: rejected", "confidence: 0.9\nvalid_until: 2020-01-01"].map(against);
        assert_eq!(retired, [0.9, 0.9]);
    }

    #[test]
    fn stated_dimensions_stand_beside_derived_ones() {
        let notes = [("a", "confidence:\n  corroboration: 1\n  overall: 0.4"), ("b", "confidence: high")];
        let found = weigh(&notes, |weigher, at| ["a", "b"].map(|id| weigher.confidence(at(id))));
        assert_eq!((found[0].overall, found[0].dimensions.map(|all| all[4])), (0.4, Some(1.0)));
        assert_eq!((found[1].overall, found[1].dimensions, found[1].label()), (0.8, None, "high"));
    }
}
