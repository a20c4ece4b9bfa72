//! BM25F, the parts of the ranking formula that several scores share; specs/ranking.md explains it.

use super::ranking_params::RankingParams;
use crate::search::postings::FieldTermFreqs;
use crate::search::read::composite_index::CompositeIndex;
use crate::search::read::segment::FieldNorms;

impl RankingParams {
    pub(crate) fn length_norms(&self, lengths: FieldNorms, index: &CompositeIndex) -> LengthNorms {
        LengthNorms {
            body: length_norm(self.b_body, lengths.body, index.average_body_len()),
            title: length_norm(self.b_title, lengths.title, index.average_title_len()),
        }
    }

    /// Returns the frequencies of a term in a note, each field by its norm and weight.
    pub(crate) fn weigh(&self, freqs: &FieldTermFreqs, norms: &LengthNorms) -> WeightedFreqs {
        let body = f64::from(freqs.body) / norms.body;
        let title = self.title * f64::from(freqs.title) / norms.title;
        let fields = body + title + self.heading * f64::from(freqs.headings);
        WeightedFreqs { body, fields, tags: self.tag * f64::from(freqs.tags) }
    }

    /// Returns BM25's saturation of a normalised term frequency `x`: `(k1 + 1) · x / (x + k1)`, times `weight`.
    #[inline]
    pub(crate) fn saturate(&self, weight: f64, x: f64) -> f64 {
        saturate(weight, x, self.k1)
    }
}

/// BM25's length norms of a note; 1 for fields of average length.
pub(crate) struct LengthNorms {
    body: f64,
    title: f64,
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

/// Returns the inverse document frequency of a term that `doc_freq` of `total` texts contain,
/// `ln(1 + (total − doc_freq + ½) / (doc_freq + ½))`: above 0 (Robertson and Zaragoza, *The Probabilistic Relevance
/// Framework: BM25 and Beyond*, 2009).
pub(crate) fn idf(total: f64, doc_freq: f64) -> f64 {
    (1.0 + (total - doc_freq + 0.5).max(0.0) / (doc_freq + 0.5)).ln()
}
