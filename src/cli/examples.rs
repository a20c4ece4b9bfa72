//! The ends of help texts. `tests/docs.rs` runs each line that begins with `qipu`.

/// The end of a help text with these examples, joined when the program is compiled.
macro_rules! examples {
    ($($line:literal),+ $(,)?) => {
        concat!("Examples:" $(, "\n  ", $line)+)
    };
}
pub(super) use examples;

pub(super) const TASKS: &str = "Common tasks:
  Capture a thought:
    qipu capture 'TEXT'
  Add to today's journal:
    qipu journal 'TEXT'
  Get the passages that answer a question (use words that the answer would use):
    qipu ask \"WORDS\" --max-chars 1500
  Find notes on a subject:
    qipu search \"WORDS\"
  Read a note:
    qipu show ID
  See which notes are linked to it:
    qipu link tree ID
  See why two notes are related:
    qipu link path ID ID
  Get an index of the notes on a subject, for an agent:
    qipu context --query \"WORDS\" --format records --max-chars 8000
  See what changed recently:
    qipu list --since \"last week\"
  See what is still unsorted:
    qipu list --type fleeting
  Tell the agents in this project about qipu:
    qipu setup --all-detected";

pub(super) const ASK: &str = "Use the words that the answer would use: identifiers, error text, synonyms.
No word is an operator; put `--` before a word such as `--force`.
Set the budget with --max-chars or --max-tokens (default: 4000 characters).
An answer that goes on ends with `more: --after N`, which gets the next page.

Examples:
  qipu ask \"WORDS\" --max-chars 1500
  qipu ask \"WORDS\" --max-chars 1500 --after 1500
  qipu ask \"WORDS\" --note ID";

pub(super) const HOOK: &str =
    "`qipu setup TOOL` makes the tool call it. EVENT is the tool's own name for an event, such as UserPromptSubmit. \
     The tool's JSON is read from standard input; the answer is the JSON that the tool reads, or nothing. A hook never fails.

Examples:
  qipu hook claude UserPromptSubmit < input.json
  qipu hook claude UserPromptSubmit --no-seen --max-chars 3000 < input.json";

pub(super) const EVAL: &str = "A question is an object: a line of a .jsonl file, or an item of a list in JSON or YAML.
  {\"question\": \"Why do we abort when fsync fails?\", \"answers\": {\"sentences\": [\"it logs the path\"]}}
  {\"question\": \"How do I peel a mango?\", \"silent\": true}
Answers are ids of notes, or headings, sentences and patterns (regular expressions) in them; with these, ids only \
    name the notes that contain them. With --prompts, `input` in place of `question` is what a tool writes to its hook.

Examples:
  qipu eval questions.jsonl
  qipu eval questions.jsonl --budget 1000,4000 --min-hit 0.8";

pub(super) const COMPLETIONS: &str = "Add one line to the startup file of your shell:
  bash: source <(qipu completions bash)
  zsh:  source <(qipu completions zsh)
  fish: qipu completions fish | source

Examples:
  qipu completions bash
  qipu completions zsh
  qipu completions fish";
