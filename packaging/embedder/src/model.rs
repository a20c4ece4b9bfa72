//! The network of all-MiniLM-L6-v2: BERT (Devlin and others, 2018) with the mean of its last states as the vector of a text.

use anyhow::{Context as _, Result, ensure};
use pulp::Arch;

use crate::attention::Attention;
use crate::functions::{AddAndNormalize, Gelu};
use crate::matrix::{LANES, Lanes, Product, push_block};
use crate::weights::Weights;

/// The numbers of a vector.
pub(crate) const HIDDEN: usize = 384;
/// The layers of the network.
pub(crate) const LAYERS: usize = 6;
/// The heads of a layer.
pub(crate) const HEADS: usize = 12;
/// The tokens of the longest text, with the first and the last one, with which the model was made.
pub(crate) const MAX_TOKENS: usize = 256;
const VOCABULARY: usize = 30_522;
const POSITIONS: usize = 512;
const INTERMEDIATE: usize = 1536;

/// A vector of length 1.
pub(crate) type Vector = [f32; HIDDEN];

/// The weights, without the vectors of words.
pub(crate) struct Model {
    pub(crate) arch: Arch,
    weights: Weights,
    /// Where the vectors of words begin in the file. They are half of it, and a request needs few.
    words: u64,
    /// The vectors of positions, each with that of the first sentence added to it.
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Norm {
    scale: Vec<f32>,
    bias: Vec<f32>,
}

struct Linear {
    matrix: Vec<Lanes>,
    bias: Vec<f32>,
}

/// A layer of the network.
pub(crate) struct Layer {
    queries_and_keys: Linear,
    values: Linear,
    attention: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

/// The memory in which texts are computed. Each text begins a block of tokens.
#[derive(Default)]
pub(crate) struct Scratch {
    states: Vec<Lanes>,
    queries_and_keys: Vec<Lanes>,
    values: Vec<Lanes>,
    mixed: Vec<Lanes>,
    change: Vec<Lanes>,
    intermediate: Vec<Lanes>,
    attention: Vec<Lanes>,
}

impl Norm {
    fn load(weights: &Weights, name: &str) -> Result<Self> {
        let scale = weights.tensor(&format!("{name}.LayerNorm.weight"), &[HIDDEN])?;
        let bias = weights.tensor(&format!("{name}.LayerNorm.bias"), &[HIDDEN])?;
        Ok(Self { scale, bias })
    }

    fn apply(&self, arch: Arch, states: &mut [Lanes], other: &[Lanes]) {
        AddAndNormalize { states, other, scale: &self.scale, bias: &self.bias }.compute(arch);
    }
}

impl Linear {
    /// Loads matrices with the same number of columns as one that has the rows of all.
    fn load(weights: &Weights, names: &[String], outputs: usize, inputs: usize) -> Result<Self> {
        let mut matrix = Vec::with_capacity(names.len() * outputs * inputs / LANES);
        let mut bias = Vec::with_capacity(names.len() * outputs);
        // A few rows at a time, which stay in the cache.
        let mut rows = vec![0.0; LANES * inputs];
        for name in names {
            let mut position = weights.position(&format!("{name}.weight"), &[outputs, inputs])?;
            for _ in 0..outputs / LANES {
                weights.read(&mut rows, position).with_context(|| format!("can't read {name}"))?;
                push_block(&mut matrix, &rows);
                position += size_of_val(&*rows) as u64;
            }
            bias.extend(weights.tensor(&format!("{name}.bias"), &[outputs])?);
        }
        Ok(Self { matrix, bias })
    }

    fn inputs(&self) -> usize {
        self.matrix.len() * LANES / self.bias.len()
    }

    /// Computes the outputs for states, with a token in each column, or an output if `has_outputs_as_columns`.
    fn apply(&self, arch: Arch, states: &[Lanes], out: &mut Vec<Lanes>, has_outputs_as_columns: bool) {
        let Self { matrix: weights, bias } = self;
        let inner = self.inputs();
        out.resize(states.len() / inner * bias.len(), Lanes::ZERO);
        Product { weights, bias, states, inner, out, has_outputs_as_columns }.compute(arch);
    }
}

impl Layer {
    /// Loads a layer.
    pub(crate) fn load(weights: &Weights, number: usize) -> Result<Self> {
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        let (query, key) = (name("attention.self.query"), name("attention.self.key"));
        Ok(Self {
            queries_and_keys: Linear::load(weights, &[query, key], HIDDEN, HIDDEN)?,
            values: Linear::load(weights, &[name("attention.self.value")], HIDDEN, HIDDEN)?,
            attention: Linear::load(weights, &[name("attention.output.dense")], HIDDEN, HIDDEN)?,
            attention_norm: Norm::load(weights, &name("attention.output"))?,
            intermediate: Linear::load(weights, &[name("intermediate.dense")], INTERMEDIATE, HIDDEN)?,
            output: Linear::load(weights, &[name("output.dense")], HIDDEN, INTERMEDIATE)?,
            output_norm: Norm::load(weights, &name("output"))?,
        })
    }

    /// Replaces the states of texts, which have these numbers of tokens, by those of the next layer.
    fn apply(&self, arch: Arch, texts: &[&[u32]], scratch: &mut Scratch) {
        let Scratch { states, queries_and_keys, values, mixed, change, intermediate, attention } = scratch;
        self.queries_and_keys.apply(arch, states, queries_and_keys, false);
        self.values.apply(arch, states, values, true);
        mixed.resize(states.len(), Lanes::ZERO);
        let mut rest = 0;
        for text in texts {
            let rows = rest..rest + text.len().div_ceil(LANES) * HIDDEN;
            rest = rows.end;
            Attention {
                tokens: text.len(),
                head: HIDDEN / HEADS,
                heads: HEADS,
                queries_and_keys: &queries_and_keys[2 * rows.start..2 * rows.end],
                values: &values[rows.clone()],
                out: &mut mixed[rows],
                weights: attention,
            }
            .compute(arch);
        }
        self.attention.apply(arch, mixed, change, false);
        self.attention_norm.apply(arch, states, change);
        self.intermediate.apply(arch, states, intermediate, false);
        Gelu(intermediate).compute(arch);
        self.output.apply(arch, intermediate, change, false);
        self.output_norm.apply(arch, states, change);
    }
}

impl Model {
    /// Puts a model together from its layers, and loads the rest.
    pub(crate) fn new(weights: Weights, layers: Vec<Layer>) -> Result<Self> {
        let words = weights.position("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?;
        let mut positions = weights.tensor("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
        positions.truncate(MAX_TOKENS * HIDDEN);
        let sentences = weights.tensor("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for position in positions.chunks_exact_mut(HIDDEN) {
            for (value, sentence) in position.iter_mut().zip(&sentences) {
                *value += sentence;
            }
        }
        let norm = Norm::load(&weights, "embeddings")?;
        Ok(Self { arch: Arch::new(), weights, words, positions, norm, layers })
    }

    /// Returns the vectors of texts, each the numbers of its tokens.
    ///
    /// The texts are computed together; the vector of each is the same, to the bit, as alone.
    pub(crate) fn embed(&self, texts: &[&[u32]], scratch: &mut Scratch) -> Result<Vec<Vector>> {
        self.look_up(texts, scratch)?;
        for layer in &self.layers {
            layer.apply(self.arch, texts, scratch);
        }
        let mut blocks = scratch.states.chunks_exact(HIDDEN);
        let means = texts.iter().map(|text| mean(blocks.by_ref(), text.len()));
        Ok(means.collect())
    }

    /// Sets the states to the vectors of words and positions.
    fn look_up(&self, texts: &[&[u32]], scratch: &mut Scratch) -> Result<()> {
        let Scratch { states, change, .. } = scratch;
        states.clear();
        change.clear();
        let mut word = [0.0; HIDDEN];
        for text in texts {
            let mut positions = self.positions.chunks_exact(HIDDEN);
            for tokens in text.chunks(LANES) {
                let start = states.len();
                states.resize(start + HIDDEN, Lanes::ZERO);
                change.resize(start + HIDDEN, Lanes::ZERO);
                for (lane, (token, position)) in tokens.iter().zip(&mut positions).enumerate() {
                    // The bytes after the last word are other weights.
                    ensure!((*token as usize) < VOCABULARY, "tokenizer.json has the token {token}, the model has not");
                    let place = self.words + u64::from(*token) * size_of::<Vector>() as u64;
                    self.weights.read(&mut word, place)?;
                    set_column(&mut states[start..], lane, &word);
                    set_column(&mut change[start..], lane, position);
                }
            }
        }
        self.norm.apply(self.arch, states, change);
        Ok(())
    }
}

fn set_column(block: &mut [Lanes], lane: usize, values: &[f32]) {
    for (row, value) in block.iter_mut().zip(values) {
        row.0[lane] = *value;
    }
}

/// Takes the blocks of a text and returns the mean of its tokens, scaled to length 1.
fn mean<'a>(blocks: impl Iterator<Item = &'a [Lanes]>, tokens: usize) -> Vector {
    let mut vector = [0.0; HIDDEN];
    for (number, block) in blocks.take(tokens.div_ceil(LANES)).enumerate() {
        let count = LANES.min(tokens - number * LANES);
        for (sum, row) in vector.iter_mut().zip(block) {
            *sum += row.0.iter().take(count).sum::<f32>();
        }
    }
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    vector.map(|value| value / length)
}
