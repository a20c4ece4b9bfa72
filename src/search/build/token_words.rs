//! The words of a token, each in one integer.

use crate::search::ids::WordId;

/// A word id with flags: whether the word is a stop word, and whether it names a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FlaggedWord(u32);

const STOP_BIT: u32 = 1 << 30;
const TIME_BIT: u32 = 1 << 29;
const ID_BITS: u32 = TIME_BIT - 1;

impl FlaggedWord {
    pub(crate) fn new(word: WordId, is_stop: bool, is_time: bool) -> Self {
        let stop = if is_stop { STOP_BIT } else { 0 };
        let time = if is_time { TIME_BIT } else { 0 };
        Self(word.0 | stop | time)
    }

    #[inline]
    pub(crate) fn word(self) -> WordId {
        WordId(self.0 & ID_BITS)
    }

    #[inline]
    pub(crate) fn is_stop(self) -> bool {
        self.0 & STOP_BIT != 0
    }

    #[inline]
    pub(crate) fn is_time(self) -> bool {
        self.0 & TIME_BIT != 0
    }
}

/// The words of a token: the only one, or, with [`LIST_BIT`], the offset of their list in [`WordLists`].
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TokenWords(u32);

const LIST_BIT: u32 = 1 << 31;

/// The words of tokens that do not have exactly one: lists, each behind its length.
#[derive(Default)]
pub(crate) struct WordLists(Vec<u32>);

impl WordLists {
    pub(crate) fn encode(&mut self, words: &[FlaggedWord]) -> TokenWords {
        if let [only] = words {
            return TokenWords(only.0);
        }
        let offset = self.0.len() as u32;
        self.0.push(words.len() as u32);
        self.0.extend(words.iter().map(|word| word.0));
        TokenWords(offset | LIST_BIT)
    }

    #[inline]
    pub(crate) fn decode(&self, token: TokenWords, words: &mut Vec<FlaggedWord>) {
        if token.0 & LIST_BIT == 0 {
            words.push(FlaggedWord(token.0));
            return;
        }
        let list = self.0.get((token.0 & !LIST_BIT) as usize..).unwrap_or_default();
        let list = list.split_first().and_then(|(count, words)| words.get(..*count as usize));
        words.extend(list.unwrap_or_default().iter().map(|word| FlaggedWord(*word)));
    }
}
