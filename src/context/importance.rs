//! Notes that weigh more than others in a project: decisions and warnings, by their type, a tag or a folder; those without a
//! type of their own by their words.

use crate::note::DEFAULT_KIND;
use crate::store::NoteHandle;

/// The types of notes that decide and that warn.
const DECISION: &str = "decision";
const WARNING: &str = "warning";
/// The bytes of a text in which it says what it decides or warns of.
const MAX_RULE_BYTES: usize = 1_000;

/// Tells whether a note decides or warns: it is marked so, or it has no type of its own and says it in its first sentences.
pub(super) fn decides_or_warns(note: &NoteHandle) -> bool {
    let by_words = || {
        let has_type = note.list_fields().kind != DEFAULT_KIND || note.flags.is_moc || note.flags.is_journal;
        !has_type && stated_type(note.parsed_or_empty().body()).is_some()
    };
    note.flags.is_decision || note.flags.is_warning || by_words()
}

/// Returns the type of a text that decides or warns in its first sentences; `None` for any other. The words are English.
pub fn stated_type(text: &str) -> Option<&'static str> {
    let beginning = text.get(..text.floor_char_boundary(MAX_RULE_BYTES)).unwrap_or_default();
    // Quoted code states no rule.
    let prose: String = beginning.split('`').step_by(2).collect::<Vec<_>>().join("x");
    let prose = prose.replace('’', "'").to_lowercase();
    prose.split(['.', '\n', ';', ':', '!', '?']).find_map(type_of_sentence)
}

/// As [`stated_type`], of a sentence in lower case. It forbids something to its reader, or tells what "we" decided.
fn type_of_sentence(sentence: &str) -> Option<&'static str> {
    let words: Vec<&str> = sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let is_pair = |index: usize, pair: [&str; 2]| words.get(index..index + 2).is_some_and(|two| two == pair);
    let has_pair = |first: &str, second: &str| (0..words.len()).any(|index| is_pair(index, [first, second]));
    let is_said_to_reader = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        before.is_none_or(|word| ["you", "we", "must", "should", "please", "so", "and", "but"].contains(word))
    };
    let forbids = |index: usize| {
        let is_ban = ["never", "don't"].contains(&words[index]) || is_pair(index, ["do", "not"]);
        (is_ban && is_said_to_reader(index)) || is_pair(index, ["must", "not"])
    };
    let obliges = (0..words.len()).any(|index| words[index] == "must" && !is_pair(index, ["must", "have"]));
    let has_reason = words.contains(&"because") && (has_pair("we", "use") || has_pair("we", "chose"));
    let decides = obliges || has_reason || has_pair("we", "decided") || words.first() == Some(&"decided");
    if (0..words.len()).any(forbids) { Some(WARNING) } else { decides.then_some(DECISION) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_decides_or_warns_says_so_by_its_words() {
        for (text, stated) in [
            ("Never run `migrate down` in production: it drops the audit table.", Some(WARNING)),
            ("The cache.\n\nDon’t share it between threads.", Some(WARNING)),
            ("We decided to pin the parser.", Some(DECISION)),
            ("We use cents because floats round.", Some(DECISION)),
            ("Amounts must be cents.", Some(DECISION)),
            ("We use cents.", None),
            ("The tests do not depend on the time zone.", None),
            ("Users who don't have an account see a page.", None),
            ("It is slow since the index grew, we use a scratch file.", None),
            ("The table must have grown.", None),
            ("Ann decided to leave.", None),
            ("The type `never!()` diverges.", None),
            ("Retries are capped, and never retry a charge.", Some(WARNING)),
            ("The log is read from its end. Because of that, opening is slow.", None),
        ] {
            assert_eq!(stated_type(text), stated, "{text}");
        }
        assert_eq!(stated_type(&format!("{} Never.", "word ".repeat(300))), None);
    }
}
