//! Search: the notes that answer a query, best first, and the notes that are similar to one.
//!
//! One [engine](Engine) for everything that compares texts. Its parts, each built on those before it: `analysis` (text to
//! terms), `format` (the layout of a segment), `build` (notes to a segment), `read` (segments to one index), `query`
//! (text to a plan), `score` (the plan and the index to hits), and the highlighter.

mod analysis;
mod bounded_cache;
mod build;
mod engine;
mod format;
mod highlighter;
mod ids;
mod postings;
mod query;
mod read;
mod score;

pub use analysis::stop_words::StopWords;
pub use build::indexer::TextIndexer;
pub use engine::{Engine, NoteTerms, SearchResults};
pub use highlighter::{Highlighter, Snippet};
pub use query::parser::Query;
pub use query::plan::{Spelling, asks_when};
pub use read::composite_index::CompositeIndex;
pub use score::block_scorer::{BlockScore, BlockScorer, BlockText, TokenCache};
pub use score::duplicates::NearDuplicate;
pub use score::hit::{Hit, ScoreBreakdown, by_relevance};
pub use score::lookalikes::Lookalike;
pub use score::neighbourhood::{Linked, Neighbourhood, Sequences, neighbour_in};
pub use score::related::SimilarNote;
