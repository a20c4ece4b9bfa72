//! How far the source of a note can be trusted. A repository must not vouch for itself: what a note states in its own
//! favour counts only as far as the user's settings, or the author of its last commit, support it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::fields;
use crate::error::Error;
use crate::note::Verification;
use crate::report::TrustBasis;
use crate::store::{NoteHandle, NoteIdx, Store, UserTrust};

/// The trust in a note about which nothing is known. Less trust in an author is distrust.
const DEFAULT_TRUST: f64 = 0.5;

/// The evidence for what notes state about themselves.
pub(super) struct Evidence<'s> {
    store: &'s Store,
    user: UserTrust,
    /// For each collection, whether the user trusts all its notes.
    trusted_collections: Vec<bool>,
    /// The trust in the authors of last commits, by the note; only of authors that the user trusts.
    commit_authors: HashMap<NoteIdx, f64>,
}

/// How far the statements of a note can raise a value.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Support {
    /// As far as they go.
    Full,
    /// Up to a limit, 0 to 1.
    UpTo(f64),
    /// Not at all; they can only lower it.
    None,
}

/// The trust in the source of a note, and what it is based on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct SourceTrust {
    pub(super) value: f64,
    pub(super) basis: TrustBasis,
}

impl<'s> Evidence<'s> {
    /// Collects the evidence for the notes of a store.
    ///
    /// # Errors
    /// `Store` if the user's settings are not valid.
    pub(super) fn new(store: &'s Store) -> Result<Self, Error> {
        let user = store.user_trust()?;
        let is_listed = |author: &str| user.authors.contains_key(author);
        let commit_authors = if user.has_commit_authors() { store.commit_authors(is_listed) } else { HashMap::new() };
        let trusted = commit_authors.into_iter().filter_map(|(note, author)| Some((note, *user.authors.get(&author)?)));
        let commit_authors = trusted.collect();
        Ok(Self { store, user, trusted_collections: store.trusted_collections(), commit_authors })
    }

    fn trusts_collection(&self, index: NoteIdx) -> bool {
        let ordinal = self.store.notes()[index].collection_ordinal();
        self.trusted_collections.get(ordinal).copied().unwrap_or_default()
    }

    fn support(&self, index: NoteIdx) -> Support {
        match self.commit_authors.get(&index) {
            Some(trust) if *trust < DEFAULT_TRUST => Support::None,
            _ if self.trusts_collection(index) => Support::Full,
            Some(trust) => Support::UpTo(*trust),
            None => Support::None,
        }
    }

    /// Returns the value of a statement beside the default, which unsupported statements can only lower.
    pub(super) fn accepted(&self, index: NoteIdx, stated: f64, default: f64) -> f64 {
        match self.support(index) {
            Support::Full => stated,
            Support::UpTo(limit) => stated.min(default.max(limit)),
            Support::None => stated.min(default),
        }
    }

    /// Whether statements of the note have no limit.
    pub(super) fn is_full(&self, index: NoteIdx) -> bool {
        self.support(index) == Support::Full
    }

    /// Tells whether a person whose word counts has verified the note.
    pub(super) fn is_verified(&self, index: NoteIdx) -> bool {
        let by = self.note(index).verifications();
        let counts = match &self.user.verifiers {
            None => self.states_verified(index),
            Some(verifiers) => by.iter().any(|entry| entry.is_human() && verifiers.contains(&entry.by)),
        };
        counts && self.support(index) != Support::None
    }

    /// Tells whether anybody, a person or a program, has verified the note, if that counts.
    pub(super) fn is_confirmed(&self, index: NoteIdx) -> bool {
        let is_by_program = self.note(index).verifications().iter().any(|entry| !entry.is_human());
        self.is_verified(index) || (is_by_program && self.support(index) != Support::None)
    }

    /// Tells whether the note says that a person verified it. A bare `true` names nobody.
    fn states_verified(&self, index: NoteIdx) -> bool {
        let note = self.note(index);
        match note.verifications() {
            [] => note.verified() == Some(true),
            by => by.iter().any(Verification::is_human),
        }
    }

    fn note(&self, index: NoteIdx) -> &'s NoteHandle {
        &self.store.notes()[index]
    }

    /// Returns the trust in the source of a note, without that in its origins. Where only the author of its last commit
    /// supports it, or the user distrusts that author, no statement raises it above the trust in that author.
    pub(super) fn own_trust(&self, index: NoteIdx) -> SourceTrust {
        let trust = self.stated_trust(index);
        let Some(author) = self.commit_authors.get(&index).copied() else { return trust };
        let limit = match self.support(index) {
            Support::Full => return trust,
            Support::UpTo(limit) => limit.max(default_trust(self.note(index), false, false, false).value),
            Support::None => author,
        };
        let is_cut = trust.value > limit;
        if is_cut { SourceTrust { value: limit, basis: TrustBasis::CommitAuthor } } else { trust }
    }

    /// Returns the trust that the note states; without full support, at most the trust that it
    /// has without the statement.
    fn stated_trust(&self, index: NoteIdx) -> SourceTrust {
        let stated = fields::trust(self.note(index));
        let stated = stated.map(|value| SourceTrust { value, basis: TrustBasis::Stated });
        match stated {
            Some(stated) if self.is_full(index) => stated,
            Some(stated) => {
                let without = self.trust_without_statement(index);
                if stated.value <= without.value { stated } else { without }
            }
            None => self.trust_without_statement(index),
        }
    }

    /// Returns the first of the trust in the author of a note, the author of its last commit, its hosts, and its kind.
    fn trust_without_statement(&self, index: NoteIdx) -> SourceTrust {
        let note = self.note(index);
        let store = &self.store.config.trust;
        let author = fields::author(note);
        let by_author = || {
            let author = author.as_ref()?;
            self.user.authors.get(author).or_else(|| store.authors.get(author)).copied()
        };
        let by_host = || host_trust(note, &self.user.hosts).or_else(|| host_trust(note, &store.hosts));
        let default = self.default_trust(index);
        let stated = [
            (TrustBasis::Author, by_author()),
            (TrustBasis::CommitAuthor, self.commit_authors.get(&index).copied()),
            (TrustBasis::Host, by_host()),
        ];
        let Some((basis, stated)) = stated.into_iter().find_map(|(basis, trust)| Some((basis, trust?))) else {
            return default;
        };
        let value = self.accepted(index, stated, default.value);
        // What was not accepted in full is no basis.
        let basis = match value {
            value if value >= stated => basis,
            value if value > default.value => TrustBasis::CommitAuthor,
            _ => default.basis,
        };
        SourceTrust { value, basis }
    }

    /// Returns the trust in a note by its kind. What it says about its author and sources is a statement too.
    fn default_trust(&self, index: NoteIdx) -> SourceTrust {
        let (note, is_supported) = (self.note(index), self.has_support(index));
        let has_author = is_supported && fields::author(note).is_some();
        default_trust(note, has_author, is_supported && !note.sources().is_empty(), self.is_verified(index))
    }

    /// Whether anything supports what the note states.
    pub(super) fn has_support(&self, index: NoteIdx) -> bool {
        self.support(index) != Support::None
    }

    /// Returns the fields with which a note of a collection that the user does not trust vouches for itself without effect.
    fn distrusted(&self, index: NoteIdx) -> Vec<&'static str> {
        if self.trusts_collection(index) { Vec::new() } else { self.unsupported(index) }
    }

    /// Returns the fields with which a note vouches for itself without effect.
    pub(super) fn unsupported(&self, index: NoteIdx) -> Vec<&'static str> {
        let note = self.note(index);
        let is_alone = self.support(index) == Support::None;
        let stated = [
            ("verified", self.states_verified(index) && !self.is_verified(index)),
            ("trust", is_alone && fields::trust(note).is_some()),
            ("confidence", is_alone && fields::confidence(note).is_some()),
            ("author", is_alone && fields::author(note).is_some()),
        ];
        stated.into_iter().filter(|(_, is_stated)| *is_stated).map(|(name, _)| name).collect()
    }
}

/// The statements of a store's notes that have no effect, because the user does not trust the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistrustedStatements {
    /// The position of the store among the collections.
    pub collection: usize,
    /// The number of notes with such statements.
    pub notes: usize,
    /// The fields.
    pub fields: BTreeSet<&'static str>,
}

/// Finds the stores whose notes state what the user does not trust them to say, in the order of the collections.
///
/// # Errors
/// `Store` if the user's settings are not valid.
pub fn distrusted_statements(store: &Store) -> Result<Vec<DistrustedStatements>, Error> {
    let evidence = Evidence::new(store)?;
    let mut found: BTreeMap<usize, DistrustedStatements> = BTreeMap::new();
    for (index, note) in NoteIdx::enumerate(store.notes()) {
        let fields = evidence.distrusted(index);
        // The fields of documents were not written for qipu, so they are no claims.
        if fields.is_empty() || store.collection_of(index).is_source() {
            continue;
        }
        let collection = note.collection_ordinal();
        let none = DistrustedStatements { collection, notes: 0, fields: BTreeSet::new() };
        let stated = found.entry(collection).or_insert(none);
        stated.notes += 1;
        stated.fields.extend(fields);
    }
    Ok(found.into_values().collect())
}

/// Returns the highest trust in a host of a note's sources, or in a domain above it.
fn host_trust(note: &NoteHandle, trusted: &BTreeMap<String, f64>) -> Option<f64> {
    let of_host = |host: String| {
        let is_in = |name: &str| host == name || host.strip_suffix(name).is_some_and(|sub| sub.ends_with('.'));
        trusted.iter().filter(|(name, _)| is_in(name)).map(|(_, trust)| *trust).reduce(f64::max)
    };
    hosts(note).into_iter().filter_map(of_host).reduce(f64::max)
}

fn default_trust(note: &NoteHandle, has_author: bool, has_source: bool, is_verified: bool) -> SourceTrust {
    let is_generated = fields::is_generated(note);
    let (value, basis) = if is_verified {
        (0.8, TrustBasis::Verified)
    } else if has_author && !is_generated {
        (0.75, TrustBasis::NamedAuthor)
    } else if has_source {
        (0.6, TrustBasis::Source)
    } else if is_generated {
        (0.4, TrustBasis::Generated)
    } else {
        (DEFAULT_TRUST, TrustBasis::Default)
    };
    SourceTrust { value, basis }
}

/// Returns the hosts of a note's sources in lower case, without `www.`.
pub(super) fn hosts(note: &NoteHandle) -> BTreeSet<String> {
    let host = |url: &str| {
        let rest = url.split_once("://")?.1;
        let authority = rest.split(['/', '?', '#']).next()?;
        let host = authority.rsplit('@').next()?.split(':').next()?.to_lowercase();
        let host = host.strip_prefix("www.").unwrap_or(&host).to_owned();
        (!host.is_empty()).then_some(host)
    };
    note.sources().iter().filter_map(|source| host(&source.url)).collect()
}
