//! BM25F, the parts of the ranking formula that several scores share; specs/internals/ranking.md explains it.

use crate::search::postings::FieldTermFreqs;
use crate::search::read::composite_index::CompositeIndex;
use crate::store::NoteIdx;

/// BM25's `b` for bodies and for titles, 0 to 1.
pub(super) const B_BODY: f64 = 0.5;
const B_TITLE: f64 = 0.75;
/// The weights of an occurrence in a title, a tag and a heading, relative to one in a body.
const TITLE_WEIGHT: f64 = 2.0;
const TAG_WEIGHT: f64 = 2.0;
const HEADING_WEIGHT: f64 = 0.5;
/// The bounds of `k1`.
const K1_BOUNDS: (f64, f64) = (1.2, 2.0);
/// The length of the average body, in content terms, for each unit of `k1`.
const TERMS_PER_K1: f64 = 25.0;

/// Returns BM25's `k1`, by the average length of the bodies: in short texts, a second occurrence means little.
pub(crate) fn k1(index: &CompositeIndex) -> f64 {
    (index.average_body_len() / TERMS_PER_K1).clamp(K1_BOUNDS.0, K1_BOUNDS.1)
}

/// BM25's length norms of a note; 1 for fields of average length.
pub(crate) struct LengthNorms {
    body: f64,
    title: f64,
}

impl LengthNorms {
    pub(crate) fn of(note: NoteIdx, index: &CompositeIndex) -> Self {
        let lengths = index.norms(note);
        Self {
            body: length_norm(B_BODY, lengths.body, index.average_body_len()),
            title: length_norm(B_TITLE, lengths.title, index.average_title_len()),
        }
    }
}

/// The weighted frequencies of a term in a note.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WeightedFreqs {
    /// In the body.
    pub(crate) body: f64,
    /// In body, title and headings.
    pub(crate) fields: f64,
    pub(crate) tags: f64,
}

impl WeightedFreqs {
    /// Returns the frequencies of a term in a note, each field by its norm and weight.
    pub(crate) fn new(freqs: &FieldTermFreqs, norms: &LengthNorms) -> Self {
        let body = f64::from(freqs.body) / norms.body;
        let title = TITLE_WEIGHT * f64::from(freqs.title) / norms.title;
        let fields = body + title + HEADING_WEIGHT * f64::from(freqs.headings);
        Self { body, fields, tags: TAG_WEIGHT * f64::from(freqs.tags) }
    }

    #[inline]
    pub(crate) fn total(&self) -> f64 {
        self.fields + self.tags
    }
}

/// Returns `weight · (k1 + 1) · x / (x + k1)`: BM25's saturation of a normalised term frequency `x`.
#[inline]
pub(crate) fn saturate(weight: f64, x: f64, k1: f64) -> f64 {
    weight * (k1 + 1.0) * x / (x + k1)
}

/// Returns BM25's length norm, `1 − b + b · len / average`.
#[inline]
pub(crate) fn length_norm(b: f64, len: u32, average: f64) -> f64 {
    1.0 - b + b * f64::from(len) / average
}

/// Returns `ln(1 + (total − doc_freq + ½) / (doc_freq + ½))`, the inverse document frequency: above 0 (Robertson and
/// Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond*, 2009).
pub(crate) fn idf(total: f64, doc_freq: f64) -> f64 {
    (1.0 + (total - doc_freq + 0.5).max(0.0) / (doc_freq + 0.5)).ln()
}
