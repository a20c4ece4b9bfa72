//! Loads the model and computes the texts of a request on all processors.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, anyhow, ensure};
use serde_json::Value;

use crate::matrix::LANES;
use crate::model::{HEADS, HIDDEN, LAYERS, Layer, MAX_TOKENS, Model, Vector};
use crate::tokenizer::Tokenizer;
use crate::weights::Weights;

/// The tokens of a group of texts that are computed together, unless a single text has more.
///
/// A group reads all weights, 43 MB, once. Smaller groups than the first are slower; larger ones than the second are no faster,
/// because their states leave the second cache.
const MIN_GROUP: usize = 128;
const MAX_GROUP: usize = 384;

/// The model in memory.
pub(crate) struct Embedder {
    tokenizer: Tokenizer,
    model: Model,
    threads: usize,
}

impl Embedder {
    /// Loads the model of a folder on all processors.
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        check_config(&folder.join("config.json"))?;
        let vocabulary = folder.join("tokenizer.json");
        let file = folder.join("model.safetensors");
        let weights = Weights::open(&file).with_context(|| format!("can't read {}", file.display()))?;
        let (tokenizer, layers) = thread::scope(|scope| {
            let tokenizer = scope.spawn(|| {
                let json = fs::read_to_string(&vocabulary)?;
                Tokenizer::parse(&json)
            });
            let numbers: Vec<usize> = (0..LAYERS).collect();
            let layers = share(&numbers, threads, |(), number| Layer::load(&weights, *number));
            (tokenizer.join(), layers)
        });
        let tokenizer = tokenizer.map_err(|_| anyhow!("a thread failed"))?;
        let tokenizer = tokenizer.with_context(|| format!("can't read {}", vocabulary.display()))?;
        let layers: Result<_> = layers.into_iter().collect();
        let model = layers.and_then(|layers| Model::new(weights, layers));
        let model = model.with_context(|| format!("can't read {}", file.display()))?;
        Ok(Self { tokenizer, model, threads })
    }

    /// Returns the vectors of texts, in their order.
    pub(crate) fn embed(&self, texts: &[&str]) -> Result<Vec<Vector>> {
        let ids: Vec<_> = texts.iter().map(|text| self.tokenizer.encode(text, MAX_TOKENS)).collect();
        let groups = group(&ids, self.threads);
        let computed = share(&groups, self.threads, |scratch, group| {
            let texts: Vec<&[u32]> = group.iter().map(|text| &*ids[*text]).collect();
            self.model.embed(&texts, scratch)
        });
        let mut vectors = vec![[0.0; HIDDEN]; texts.len()];
        for (group, computed) in groups.iter().zip(computed) {
            for (text, vector) in group.iter().zip(computed?) {
                vectors[*text] = vector;
            }
        }
        Ok(vectors)
    }
}

/// Refuses the files of another model, whose weights may have the same shapes.
fn check_config(path: &Path) -> Result<()> {
    let expected = [
        ("model_type", Value::from("bert")),
        ("hidden_act", Value::from("gelu")),
        ("hidden_size", Value::from(HIDDEN)),
        ("num_attention_heads", Value::from(HEADS)),
        ("num_hidden_layers", Value::from(LAYERS)),
    ];
    let read = || -> Result<()> {
        let config: Value = serde_json::from_slice(&fs::read(path)?)?;
        for (name, value) in expected {
            ensure!(config[name] == value, "{name} is not {value}");
        }
        Ok(())
    };
    read().with_context(|| format!("can't use {}", path.display()))
}

/// Returns the number of a text's tokens, with those that fill its last block.
fn padded(ids: &[u32]) -> usize {
    ids.len().next_multiple_of(LANES)
}

/// Returns the texts in groups, the longest first.
///
/// A group has at most half of a thread's share of what is left, so that all threads end at about the same time (Polychronopoulos
/// and Kuck, Guided self-scheduling, 1987).
fn group(ids: &[Vec<u32>], threads: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..ids.len()).collect();
    order.sort_by_key(|text| Reverse(ids[*text].len()));
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut rest: usize = ids.iter().map(|ids| padded(ids)).sum();
    // The tokens that may be added to the last group.
    let mut room = 0;
    for text in order {
        let length = padded(&ids[text]);
        match groups.last_mut().filter(|_| length <= room) {
            Some(group) => group.push(text),
            None => {
                room = (rest / threads.max(1) / 2).clamp(MIN_GROUP, MAX_GROUP);
                groups.push(vec![text]);
            }
        }
        room = room.saturating_sub(length);
        rest -= length;
    }
    groups
}

/// Computes a result for each item, in their order. Each thread has a scratch of its own, and takes the next item when it is done
/// with one.
fn share<T: Sync, S: Default, R: Send>(
    items: &[T],
    threads: usize,
    compute: impl Fn(&mut S, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut scratch = S::default();
        let mut results = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { break results };
            results.push((number, compute(&mut scratch, item)));
        }
    };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        let mut results = work();
        for other in others {
            match other.join() {
                Ok(others) => results.extend(others),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_by_key(|(number, _)| *number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::env;

    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn groups_have_the_longest_texts_first() {
        let ids: Vec<Vec<u32>> = [3, 64, 2, 99, 60, 1].map(|length| vec![7; length]).into();
        // 112, 64, 64, 16, 16 and 16 tokens with those that fill their blocks.
        assert_eq!(group(&ids, 1), [vec![3], vec![1, 4], vec![0, 2, 5]]);
        let ids = vec![vec![7; 100]; 13];
        assert_eq!(group(&ids, 1).iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 3, 2, 1, 1]);
        assert_eq!(group(&ids, 2).iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 2, 1, 1, 1, 1, 1, 1]);
        assert!(group(&[], 2).is_empty());
    }

    #[test]
    fn results_are_in_order() {
        let items: Vec<u32> = (0..100).collect();
        for threads in [0, 1, 2, 7, 200] {
            let doubled = share(&items, threads, |(), item| 2 * item);
            assert_eq!(doubled, items.iter().map(|item| 2 * item).collect::<Vec<_>>());
        }
        assert!(share(&[], 2, |(), item: &u32| *item).is_empty());
    }

    fn load() -> Embedder {
        let folder = env::var_os("QIPU_EMBED_MODEL").expect("QIPU_EMBED_MODEL names the folder of the model");
        Embedder::load(Path::new(&folder)).unwrap()
    }

    fn cosine(a: &Vector, b: &Vector) -> f32 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    /// `reference.json` has texts with their tokens and vectors; `reference.py` makes it.
    #[test]
    #[ignore = "the weights"]
    fn vectors_are_those_of_the_reference() {
        let reference: Value = serde_json::from_str(include_str!("../reference.json")).unwrap();
        let embedder = load();
        let cases = reference.as_array().unwrap();
        assert!(cases.len() >= 10);
        for case in cases {
            let text = case["text"].as_str().unwrap();
            assert_eq!(Value::from(embedder.tokenizer.encode(text, MAX_TOKENS)), case["tokens"], "{text}");
            let bytes = STANDARD.decode(case["vector"].as_str().unwrap()).unwrap();
            let vector = embedder.embed(&[text]).unwrap()[0];
            assert_eq!(bytes.len(), size_of_val(&vector));
            for (computed, expected) in vector.iter().zip(bytes.as_chunks().0) {
                let difference = (computed - f32::from_le_bytes(*expected)).abs();
                assert!(difference < 1e-5, "{text}: {difference}");
            }
        }
    }

    #[test]
    #[ignore = "the weights"]
    fn vectors_do_not_depend_on_the_request() {
        let source = include_str!("embedder.rs");
        let mut texts: Vec<&str> = source.lines().take(40).collect();
        texts.extend([source, ""]);
        texts.extend([..600, ..601, ..900].map(|range| source.get(range).unwrap()));
        let mut embedder = load();
        let alone: Vec<Vector> = texts.iter().map(|text| embedder.embed(&[text]).unwrap()[0]).collect();
        for threads in 1..=4 {
            embedder.threads = threads;
            assert!(embedder.embed(&texts).unwrap() == alone, "{threads} threads");
        }
        #[cfg(target_arch = "x86_64")]
        if let Some(avx2) = pulp::x86::V3::try_new() {
            embedder.model.arch = pulp::Arch::V3(avx2);
            assert!(embedder.embed(&texts).unwrap() == alone, "AVX2");
        }
        texts.reverse();
        let reversed = embedder.embed(&texts).unwrap();
        assert!(reversed.into_iter().rev().eq(alone));
    }

    #[test]
    #[ignore = "the weights"]
    fn similar_texts_have_similar_vectors() {
        let texts = ["a man is eating food", "a man eats something", "the stock market fell sharply today"];
        let vectors = load().embed(&texts).unwrap();
        let (similar, other) = (cosine(&vectors[0], &vectors[1]), cosine(&vectors[0], &vectors[2]));
        assert!(similar > 0.8 && other < 0.1, "{similar} {other}");
        assert!((cosine(&vectors[0], &vectors[0]) - 1.0).abs() < 1e-6);
    }
}
