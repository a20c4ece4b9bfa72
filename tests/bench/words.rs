//! Random words from a vocabulary with the frequencies of real text. The same seed gives the same words on every machine.

use std::collections::HashSet;

use crate::random::Random;

/// How many words there are.
const SIZE: usize = 20_000;
/// The rank of the first technical word, and how many ranks lie between two of them.
const FIRST_TECHNICAL: usize = 60;
const TECHNICAL_STEP: usize = 25;

/// The most frequent words, as in English.
const FUNCTION_WORDS: &str = "\
    the of and to a in is that for it as with on be by this not are or from at when an which if but we can has one \
    so only its then than no all more after before";

/// Words of the trade, the more frequent first.
const TECHNICAL_WORDS: &str = "\
    cache file write index error crash token lock parser commit query budget recovery thread fsync rename journal \
    kernel memory buffer checksum latency schema retry timeout compiler iterator transaction replica snapshot \
    checkpoint allocator durability consensus scheduler pipeline tokenizer embedding ranking postgres sqlite ext4 \
    inode syscall mutex atomic backoff throughput profiler benchmark regression fixture linter formatter \
    serializer unicode grapheme markdown frontmatter yaml json websocket handshake certificate cipher entropy \
    quorum leader election partition compaction bloom btree segment wal mmap epoll iouring simd zstd";

const ONSETS: [&str; 24] = [
    "b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "l", "m", "n", "p", "pl", "r", "s", "st",
    "t", "tr", "v",
];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "a", "e", "ou"];
const CODAS: [&str; 10] = ["", "", "", "", "l", "n", "r", "s", "t", "nd"];

/// Words by rank; the n-th is about 1/n as frequent as the first (Zipf's law).
pub(crate) struct Vocabulary {
    words: Vec<String>,
    /// For each word, its weight and those of all words before it.
    weights: Vec<usize>,
    /// The number of function words, which come first.
    function_words: usize,
}

impl Vocabulary {
    pub(crate) fn new(random: &mut Random) -> Self {
        let mut words: Vec<String> = FUNCTION_WORDS.split(' ').map(str::to_owned).collect();
        let function_words = words.len();
        let mut technical = TECHNICAL_WORDS.split(' ').map(str::to_owned);
        let mut taken: HashSet<String> = words.iter().cloned().chain(technical.clone()).collect();
        for rank in function_words..SIZE {
            let is_technical = rank >= FIRST_TECHNICAL && (rank - FIRST_TECHNICAL).is_multiple_of(TECHNICAL_STEP);
            let word = is_technical.then(|| technical.next()).flatten();
            words.push(word.unwrap_or_else(|| pseudo_word(random, rank, &mut taken)));
        }
        let weights = (0..SIZE).scan(0, |sum, rank| {
            *sum += 1_000_000_000 / (rank + 3);
            Some(*sum)
        });
        Self { words, weights: weights.collect(), function_words }
    }

    /// Returns a word, the frequent ones more often.
    pub(crate) fn word(&self, random: &mut Random) -> &str {
        &self.words[self.rank(random)]
    }

    /// Returns a content word.
    pub(crate) fn content_word(&self, random: &mut Random) -> &str {
        loop {
            let rank = self.rank(random);
            if rank >= self.function_words {
                return &self.words[rank];
            }
        }
    }

    fn rank(&self, random: &mut Random) -> usize {
        let at = random.below(self.weights.last().copied().unwrap_or(1));
        self.weights.partition_point(|sum| *sum <= at)
    }
}

/// Generates a word that is not taken. Frequent words are short.
fn pseudo_word(random: &mut Random, rank: usize, taken: &mut HashSet<String>) -> String {
    let (shortest, longest) = match rank {
        0..400 => (1, 1),
        400..4_000 => (1, 2),
        _ => (2, 3),
    };
    loop {
        let syllables = random.between(shortest, longest);
        let word: String = (0..syllables)
            .flat_map(|_| [random.choice(&ONSETS), random.choice(&VOWELS), random.choice(&CODAS)])
            .collect();
        if taken.insert(word.clone()) {
            return word;
        }
    }
}
