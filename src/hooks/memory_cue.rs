//! Whether a prompt asks for what the project remembers: "what did we decide about …", "remind me why …". Two classes of words,
//! of persons and of knowing, and the absence of a task tell more than lists of phrases do.

use std::collections::HashSet;

/// The most words of a prompt that asks for memory; a longer one explains a task.
const MAX_WORDS: usize = 30;
/// The most words between the parts of a pattern around `..`.
const MAX_BETWEEN: usize = 5;

/// Who knows.
const WE: &str = "we|we've|our|us|team|somebody|someone|anybody|anyone|you";
/// Knowing, and how it came about.
const KNOW: &str = "know|known|knew|decide|decided|decision|decisions|agree|agreed|discuss|discussed|document|documented|learn|\
                    learned|learnt|reject|rejected|choose|chose|chosen|rule|ruled|write|written|wrote|say|said|try|tried|settle|\
                    settled|conclude|concluded|note|noted|record|recorded|remember|recall|find|found|consider|considered";
/// Where it is written down.
const NOTES: &str =
    "notes|note|memory|decision|decisions|adr|adrs|findings|lessons|conventions|warnings|records|learnings";
/// Words behind which a question goes on.
const ASK: &str = "what|why|how|which|when|where|who|whether|if|about|that";

/// What asks for memory in any sentence. `WE`, `KNOW`, `NOTES` and `ASK` are the classes above; `..` are up to
/// [`MAX_BETWEEN`] words.
const STRONG: [&str; 17] = [
    "last time WE|i",
    "earlier WE",
    "you|we explained|told",
    "remind me ASK|of",
    "refresh my memory",
    "qipu",
    "do|can|did|don't you|we|i recall|remember ASK",
    "remember ASK WE",
    "i forgot|forget ASK",
    "don't recall|remember ASK",
    "our|my NOTES say|on|about|for",
    "in|from|check|search our|your|the|my NOTES",
    "any|previous|our|earlier NOTES on|about|for|against",
    "what|everything|anything WE have|know|learned|learnt|decided|tried",
    "history|background|story of|behind",
    "is|was|are there .. NOTES on|about|for|against",
    "what|which .. NOTES .. have WE",
];
/// What asks for memory in a question.
const IN_QUESTION: [&str; 9] = [
    "WE .. KNOW",
    "KNOW about|on|against|why",
    "why do|did|don't|didn't|are|must|should|can't WE",
    "why was|is|were|are .. rejected|chosen|dropped|decided|abandoned",
    "how come WE",
    "NOTES on|about|for|against",
    "arguments|reasons|reason|rationale for|behind|against",
    "discussed|tried|decided|rejected before|already|earlier",
    "who decided|chose|rejected",
];
/// Verbs that give a task where a clause begins with them.
const TASKS: [&str; 46] = [
    "fix", "add", "remove", "rename", "write", "implement", "refactor", "create", "delete", "make", "build", "move",
    "replace", "set", "bump", "rewrite", "convert", "extract", "port", "migrate", "upgrade", "change", "update",
    "apply", "commit", "push", "revert", "merge", "split", "drop", "enable", "disable", "generate", "improve",
    "optimize", "clean", "test", "deploy", "release", "document", "install", "run", "use", "put", "turn", "let's",
];
/// Words before the verb of a task.
const BEFORE_TASKS: [&str; 9] = ["and", "then", "please", "also", "so", "just", "now", "you", "to"];

/// The words of asking, which name no subject.
const ASKING: &str = "remind|remember|recall|refresh|memory|forgot|forget|ever|before|already|earlier|previous|previously|last|\
                      time|team|somebody|someone|anybody|anyone|everything|anything|history|background|story|behind|reason|reasons|\
                      rationale|arguments|against|explained|explain|told|tell|say|says|search|there|qipu|come|must|should|don't|\
                      didn't|our|us";

/// A prompt that asks for memory.
pub(super) struct MemoryCue {
    words: HashSet<&'static str>,
}

impl MemoryCue {
    /// Reads the prose of a prompt; `None` if it does not ask for memory. `is_question`: whether a line of it asks.
    pub(super) fn find(prose: &[&str], is_question: bool) -> Option<Self> {
        let [line] = prose else { return None };
        let line = line.replace('’', "'").to_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() > MAX_WORDS || gives_task(&words) {
            return None;
        }
        let words: Vec<&str> = words.into_iter().map(bare).filter(|word| !word.is_empty()).collect();
        let has = |patterns: &[&'static str]| {
            patterns.iter().any(|pattern| {
                let pattern: Vec<&str> = pattern.split(' ').collect();
                (0..words.len()).any(|start| matches(&pattern, words.get(start..).unwrap_or_default()))
            })
        };
        (has(&STRONG) || (is_question && has(&IN_QUESTION))).then(|| {
            let words = [WE, KNOW, NOTES, ASK, ASKING].into_iter().flat_map(|class| class.split('|')).collect();
            Self { words }
        })
    }

    /// Whether a word belongs to the asking rather than to what is asked about.
    pub(super) fn is_asking(&self, word: &str) -> bool {
        self.words.contains(bare(&word.replace('’', "'").to_lowercase()))
    }
}

/// Returns a word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Tells whether a clause of a prompt begins with the verb of a task.
fn gives_task(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let begins = before
            .is_none_or(|before| before.ends_with(['?', ';', ',', '.', '!', ':']) || BEFORE_TASKS.contains(before));
        begins && TASKS.contains(&bare(word))
    })
}

/// Tells whether words begin with a pattern.
fn matches(pattern: &[&str], words: &[&str]) -> bool {
    match (pattern, words) {
        ([], _) => true,
        (["..", rest @ ..], _) => {
            (0..=MAX_BETWEEN.min(words.len())).any(|skipped| matches(rest, words.get(skipped..).unwrap_or_default()))
        }
        ([slot, rest @ ..], [word, behind @ ..]) => fits(slot, word) && matches(rest, behind),
        (_, []) => false,
    }
}

/// Tells whether a word is one of the alternatives of a slot.
fn fits(slot: &str, word: &str) -> bool {
    slot.split('|').any(|one| match one {
        "WE" => WE.split('|').any(|one| one == word),
        "KNOW" => KNOW.split('|').any(|one| one == word),
        "NOTES" => NOTES.split('|').any(|one| one == word),
        "ASK" => ASK.split('|').any(|one| one == word),
        one => one == word,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(prompt: &str) -> bool {
        let is_question = prompt.ends_with('?') || prompt.starts_with("what ");
        MemoryCue::find(&[prompt], is_question).is_some()
    }

    #[test]
    fn prompts_that_ask_for_memory_have_a_cue() {
        for prompt in "remember what we said about the mobile app?|what did we decide about token refresh?|\
            did we ever decide how often the token is refreshed?|last time you explained the clock drift, what was it?|\
            what do we know about the mobile app|Remind me why we pin the parser.|any notes on the scheduler?|\
            why don’t we use floats for prices?|has anybody tried SQLite here before?|Was a queue ever discussed before?|\
            check the notes about retries|what was the rationale behind the two ledgers?|why was Redis rejected?"
            .split('|')
        {
            assert!(asks(prompt.trim()), "{prompt}");
        }
    }

    #[test]
    fn tasks_and_other_questions_have_none() {
        for prompt in "refactor the sidebar to use flexbox|thanks, go on|how does the parser read dates?|\
            why does the test fail?|add a note about the release to the changelog|what did we decide? fix the parser then|\
            is this correct?|can you write down what the function does and rename it?|why is the build so slow?"
            .split('|')
        {
            assert!(!asks(prompt.trim()), "{prompt}");
        }
        assert!(!asks(&format!("what did we decide about {}?", "this and that ".repeat(15))));
        assert!(MemoryCue::find(&["what did we decide?", "and why?"], true).is_none());
    }
}
