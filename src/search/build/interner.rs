//! Interns raw tokens: equal tokens get equal ids.
//!
//! Each token of each note is looked up once. Most are short and lie in the table itself.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::codec::offsets::Offsets;
use crate::search::analysis::tokenizer::RawToken;

/// The longest token that is stored inline, in bytes.
const MAX_INLINE: usize = 12;
/// The shift of the token id in a slot of the inline table; the token lies below it.
const ID_SHIFT: u32 = 8 * MAX_INLINE as u32;
/// The bits of a slot that contain the token.
const TOKEN_BITS: u128 = (1 << ID_SHIFT) - 1;

/// The lookup key of a token: its bytes in the low [`ID_SHIFT`] bits; if these are 0, the high bits are a known id.
#[derive(Clone, Copy)]
pub(crate) struct InternKey(u128);

impl InternKey {
    pub(crate) fn known(id: u32) -> Self {
        Self(u128::from(id) << ID_SHIFT)
    }
}

/// Interns raw tokens. Ids are assigned by first occurrence; within one text, long tokens come first.
#[derive(Default)]
pub(crate) struct TokenInterner {
    /// The tokens in their first spelling, plain inline tokens in lower case, one after another.
    text: String,
    ends: Offsets<usize>,
    /// The tokens of at most [`MAX_INLINE`] bytes: each its bytes, with its id above them.
    inline: HashTable<u128>,
    long: HashTable<u32>,
    random: RandomState,
}

impl TokenInterner {
    /// Returns the number of tokens: the id of the next new one.
    pub(crate) fn token_count(&self) -> u32 {
        self.ends.row_count() as u32
    }

    /// Returns the token with an id; empty if there is none.
    pub(crate) fn token(&self, id: u32) -> &str {
        self.ends.text(id as usize, &self.text)
    }

    /// Returns the id of a token that another interner returned; a new one if it is unknown.
    pub(crate) fn intern(&mut self, token: &str) -> u32 {
        match inline_key(&RawToken { text: token, start: 0, is_plain: false }, token) {
            Some(key) => self.intern_inline(key),
            None => self.intern_long(token),
        }
    }

    /// Returns the lookup key of a token of `text`. Long tokens are interned at once.
    pub(crate) fn key(&mut self, token: &RawToken<'_>, text: &str) -> InternKey {
        inline_key(token, text).map_or_else(|| InternKey::known(self.intern_long(token.text)), InternKey)
    }

    /// Appends the ids of tokens to `ids`, in their order.
    pub(crate) fn push_ids(&mut self, keys: &[InternKey], ids: &mut Vec<u32>) {
        for key in keys {
            let token = key.0 & TOKEN_BITS;
            ids.push(if token == 0 { (key.0 >> ID_SHIFT) as u32 } else { self.intern_inline(token) });
        }
    }

    fn intern_inline(&mut self, key: u128) -> u32 {
        let next = self.token_count();
        let random = &self.random;
        let hash = |slot: &u128| random.hash_one(slot & TOKEN_BITS);
        match self.inline.entry(hash(&key), |slot| slot & TOKEN_BITS == key, hash) {
            Entry::Occupied(slot) => return (slot.get() >> ID_SHIFT) as u32,
            Entry::Vacant(slot) => slot.insert(key | u128::from(next) << ID_SHIFT),
        };
        let bytes = key.to_le_bytes();
        let length = bytes.iter().take_while(|byte| **byte != 0).count();
        let token = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
        self.push(token.unwrap_or_default());
        next
    }

    fn intern_long(&mut self, token: &str) -> u32 {
        let next = self.token_count();
        let Self { text, ends, long, random, .. } = self;
        let token_of = |id: &u32| ends.text(*id as usize, text);
        match long.entry(random.hash_one(token), |id| token_of(id) == token, |id| random.hash_one(token_of(id))) {
            Entry::Occupied(id) => return *id.get(),
            Entry::Vacant(slot) => slot.insert(next),
        };
        self.push(token);
        next
    }

    fn push(&mut self, token: &str) {
        self.text.push_str(token);
        self.ends.push(self.text.len());
    }
}

/// Returns the bytes of an inline token as an integer, of a plain token in lower case; `None` for a long one. No token
/// contains NUL, so that the last byte that is not 0 gives its length.
fn inline_key(token: &RawToken<'_>, text: &str) -> Option<u128> {
    let length = token.text.len();
    if length > MAX_INLINE || length == 0 {
        return None;
    }
    // To load sixteen bytes and mask those behind the token is faster than to copy it.
    let wide = text.as_bytes().get(token.start..).and_then(|rest| rest.first_chunk::<16>().copied());
    let wide = wide.unwrap_or_else(|| {
        let mut copy = [0; 16];
        copy.iter_mut().zip(token.text.bytes()).for_each(|(to, from)| *to = from);
        copy
    });
    let key = u128::from_le_bytes(wide) & (u128::MAX >> (128 - 8 * length));
    // Only the first letter of a plain token can be upper-case.
    Some(if token.is_plain { key | 0x20 } else { key })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::analysis::tokenizer::for_each_raw_token;

    fn ids(text: &str, interner: &mut TokenInterner) -> Vec<u32> {
        let (mut keys, mut ids) = (Vec::new(), Vec::new());
        for_each_raw_token(text, |token| keys.push(interner.key(&token, text)));
        interner.push_ids(&keys, &mut ids);
        ids
    }

    #[test]
    fn a_plain_word_has_one_id() {
        let mut interner = TokenInterner::default();
        let text = "Word word. WORD a incomprehensibilities word a_b Incomprehensibilities incomprehensibilities' a_b";
        // Long tokens get their ids first.
        assert_eq!(ids(text, &mut interner), [2, 2, 3, 4, 0, 2, 5, 1, 0, 5]);
    }

    #[test]
    fn ids_stay_when_the_tables_grow() {
        let text: String = (0..20_000).map(|n| format!("w{n} longer-than-twelve-{n} ")).collect();
        let mut interner = TokenInterner::default();
        let first = ids(&text, &mut interner);
        let mut sorted = first.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40_000).collect::<Vec<u32>>());
        assert_eq!(ids(&text, &mut interner), first);
    }

    #[test]
    fn tokens_of_other_interners_keep_their_ids() {
        let mut merged = TokenInterner::default();
        let mut merge = |text: &str| {
            let mut interner = TokenInterner::default();
            ids(text, &mut interner);
            let ids: Vec<u32> = (0..interner.token_count()).map(|id| merged.intern(interner.token(id))).collect();
            (ids, merged.token_count())
        };
        assert_eq!(merge("incomprehensibilities Word a_b été"), (vec![0, 1, 2, 3], 4));
        // Long tokens get their ids first; a plain token is stored in lower case.
        assert_eq!(merge("a_b new word incomprehensibilities"), (vec![0, 2, 4, 1], 5));
        assert_eq!([0, 1, 3, 4, 5].map(|id| merged.token(id)), ["incomprehensibilities", "word", "été", "new", ""]);
    }
}
