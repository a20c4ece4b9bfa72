//! Whether a prompt asks for what the project remembers: "what did we decide about …", "remind me why …". Two classes of words,
//! of persons and of knowing, and the absence of a task tell more than lists of phrases do.

/// The most words of a prompt that asks for memory; a longer one explains a task.
const MAX_WORDS: usize = 30;
/// The most words between the parts of a pattern around `..`.
const MAX_BETWEEN: usize = 5;

/// The classes of words that patterns name: who knows; knowing, and how it came about; where it is written down; and words
/// behind which a question goes on.
const CLASSES: [(&str, &str); 4] = [
    ("WE", "we|we've|our|us|team|somebody|someone|anybody|anyone"),
    (
        "KNOW",
        "know|known|knew|decide|decided|decision|decisions|agree|agreed|discuss|discussed|document|documented|learn|learned|\
         learnt|reject|rejected|chose|chosen|ruled|written|wrote|said|tried|settled|concluded|recorded|considered|remember|recall",
    ),
    ("NOTES", "notes|decision|decisions|adr|adrs|findings|lessons|convention|conventions|learnings"),
    ("ASK", "what|why|how|which|when|where|who|whether|if"),
];

/// What asks for memory in any sentence. In a pattern, `..` is up to [`MAX_BETWEEN`] words, and `!a|b` any word but these.
const STRONG: [&str; 21] = [
    "last time we|you|i",
    "earlier we|you said|decided|agreed|discussed|explained|told",
    "you|we explained",
    "remind me",
    "refresh my memory",
    "ask|check|search qipu",
    "qipu know|knows|say|says|remember|remembers",
    "do|can|did|you|we recall|remember ASK",
    "remember ASK we|you",
    "i forgot|forget ASK !to",
    "don't recall|remember ASK !to",
    "our|my NOTES|memory say|says|on|about|for",
    "our|the earlier|previous|last NOTES",
    "in|from|check|search our|the|my notes|decisions|adrs",
    "in|from|check|search our|your|project memory",
    "look|looking in|into memory",
    "any|previous|earlier NOTES on|about|for|against",
    "anything|something|everything .. written|documented|known|recorded|decided about|on|down",
    "what|everything|anything we|we've know|learned|learnt|decided|tried|agreed|said",
    "history|background|story behind",
    "is|was|are there .. NOTES on|about|for|against",
];
/// What asks for memory in a question that does not begin with one of [`MODALS`].
const IN_QUESTION: [&str; 10] = [
    "WE .. KNOW",
    "decided|discussed|documented|learned|agreed|recorded about|on|against|why",
    "why do|did|don't|didn't we !get|got|need|see|saw|have|had|hit|receive|end|lose|lost",
    "why was|is|were|are .. rejected|chosen|dropped|decided|abandoned",
    "how come we",
    "NOTES on|about|for|against",
    "rationale|arguments|reasoning for|behind|against",
    "reason|reasons behind|against",
    "ever|already|before discussed|considered|tried|decided|rejected",
    "who decided|chose|rejected",
];
/// Verbs with which a question asks for something to be done, or whether it may be.
const MODALS: [&str; 8] = ["can", "could", "should", "would", "will", "shall", "may", "might"];
/// Verbs that give a task where a clause begins with them.
const TASKS: [&str; 46] = [
    "fix", "add", "remove", "rename", "write", "implement", "refactor", "create", "delete", "make", "build", "move",
    "replace", "set", "bump", "rewrite", "convert", "extract", "port", "migrate", "upgrade", "change", "update",
    "apply", "commit", "push", "revert", "merge", "split", "drop", "enable", "disable", "generate", "improve",
    "optimize", "clean", "test", "deploy", "release", "document", "install", "run", "use", "put", "turn", "let's",
];
/// Words before the verb of a task.
const BEFORE_TASKS: [&str; 9] = ["and", "then", "please", "also", "so", "just", "now", "you", "to"];

/// Words of asking that are in no class, and name no subject.
const ASKING: &str = "remind|refresh|memory|forgot|forget|ever|before|already|earlier|previous|previously|last|time|everything|\
                      anything|something|history|background|story|behind|reason|reasons|reasoning|rationale|arguments|against|\
                      explained|explain|told|tell|say|says|search|there|qipu|come|must|should|don't|didn't|you|that|about|down|\
                      note|rule|choose|try";

/// Tells whether a prompt asks for memory. `asks`: whether a line of it is a question.
pub(super) fn asks_for_memory(prose: &[&str], asks: impl Fn(&str) -> bool) -> bool {
    let mut count = 0;
    let mut has_cue = false;
    for line in prose {
        let is_question = asks(line);
        let line = line.replace('’', "'").to_lowercase();
        let words: Vec<&str> = line.split_whitespace().collect();
        count += words.len();
        if count > MAX_WORDS || gives_task(&words) {
            return false;
        }
        let words: Vec<&str> = words.into_iter().map(bare).filter(|word| !word.is_empty()).collect();
        let is_open = is_question && !words.first().is_some_and(|first| MODALS.contains(first));
        has_cue |= has_one(&STRONG, &words) || (is_open && has_one(&IN_QUESTION, &words));
    }
    has_cue
}

/// Whether a word belongs to the asking rather than to what is asked about.
pub(super) fn is_asking(word: &str) -> bool {
    let word = word.replace('’', "'").to_lowercase();
    let classes = CLASSES.iter().map(|(_, words)| *words).chain([ASKING]);
    classes.flat_map(|words| words.split('|')).any(|one| one == bare(&word))
}

/// Returns a word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// Tells whether a clause of a line begins with the verb of a task.
fn gives_task(words: &[&str]) -> bool {
    words.iter().enumerate().any(|(index, word)| {
        let before = index.checked_sub(1).and_then(|before| words.get(before));
        let begins =
            before.is_none_or(|word| word.ends_with(['?', ';', ',', '.', '!', ':']) || BEFORE_TASKS.contains(word));
        begins && TASKS.contains(&bare(word))
    })
}

/// Tells whether one of some patterns begins at a word.
fn has_one(patterns: &[&str], words: &[&str]) -> bool {
    let begins =
        |pattern: &[&str]| (0..words.len()).any(|start| matches(pattern, words.get(start..).unwrap_or_default()));
    patterns.iter().any(|pattern| begins(&pattern.split(' ').collect::<Vec<_>>()))
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
    if let Some(others) = slot.strip_prefix('!') {
        return others.split('|').all(|one| one != word);
    }
    slot.split('|').any(|one| match CLASSES.iter().find(|(name, _)| *name == one) {
        Some((_, words)) => words.split('|').any(|one| one == word),
        None => one == word,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(prompt: &str) -> bool {
        let lines: Vec<&str> = prompt.lines().collect();
        asks_for_memory(&lines, |line| {
            let first = line.split(' ').next().unwrap_or_default();
            line.ends_with('?') || ["what", "is", "why"].contains(&first)
        })
    }

    #[test]
    fn prompts_that_ask_for_memory_have_a_cue() {
        for prompt in [
            "remember what we said about the mobile app?",
            "what did we decide about token refresh?",
            "did we ever decide how often the token is refreshed?",
            "last time you explained the clock drift, what was it?",
            "what do we know about the mobile app",
            "Remind me why we pin the parser.",
            "any notes on the scheduler?",
            "why don’t we use floats for prices?",
            "has anybody tried SQLite here before?",
            "was a daemon ever considered?",
            "check the notes: why are prices cents?",
            "what was the rationale behind the two ledgers?",
            "What was the reasoning behind the budget?",
            "why was Redis rejected?",
            "have we ever tried embeddings?",
            "is there a decision about the parser",
            "anything written down about Windows support?",
            "Look in memory for the mutation testing rules",
            "I forgot how we rank passages, can you look it up?",
            "I'm about to touch the merge driver.\nWhat did we decide about it?",
        ] {
            assert!(asks(prompt), "{prompt}");
        }
    }

    #[test]
    fn tasks_and_other_questions_have_none() {
        for prompt in [
            "refactor the sidebar to use flexbox",
            "thanks, go on",
            "how does the parser read dates?",
            "why does the test fail?",
            "add a note about the release to the changelog",
            "what did we decide? fix the parser then",
            "can you find where the config is loaded?",
            "could you note the line numbers too?",
            "do you know a good crate for CSV?",
            "do you remember the syntax of a match guard?",
            "have you tried running the tests again?",
            "what have you found?",
            "did you write tests for that?",
            "can you say that again in simpler words?",
            "should we choose tokio for the client?",
            "can we use serde here?",
            "what else can we try?",
            "why do we need a semicolon here?",
            "why did we get a 500 on login?",
            "what is the reason for this compile error?",
            "the background of the header is red, it should be blue",
            "show me the git history of the login page",
            "Sessions live in the memory of the worker",
            "is there a memory leak in the image loader?",
            "are there any warnings on the build server?",
            "search the records table by customer name",
            "the qipu binary prints a warning when I resize the terminal",
            "as I said earlier we need pagination",
            "remember that the API is rate limited",
            "I don't recall how to rebase",
            "the team page is wrong, someone decided to sort by id",
        ] {
            assert!(!asks(prompt), "{prompt}");
        }
        assert!(!asks(&format!("what did we decide about {}?", "this and that ".repeat(15))));
    }
}
