//! The examples at the end of help texts. `tests/docs.rs` runs each line that begins with `qipu`.

pub(super) const TASKS: &str = "Common tasks:
  Capture a thought:
    qipu capture \"TEXT\"
  Add to today's journal:
    qipu journal \"TEXT\"
  Get the passages that answer a question (use words that the answer would use, and set a budget):
    qipu ask \"WORDS\" --max-chars 4000
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
  See what is still to be processed:
    qipu inbox
  Tell the agents in this project about qipu:
    qipu setup --all-detected";

pub(super) const PRIME: &str = "Examples:
  qipu prime
  qipu prime --hook claude
  qipu prime --records --max-chars 4000";

pub(super) const ASK: &str = "Use the words that the answer would use: identifiers, error text, synonyms.
Set the budget with --max-chars or --max-tokens (default: 4000 characters).

Examples:
  qipu ask \"WORDS\"
  qipu ask \"WORDS\" --max-chars 1500 --format records
  qipu ask \"WORDS\" --note ID";

pub(super) const CONTEXT: &str = "Examples:
  qipu context --query \"WORDS\" --format records --max-chars 8000
  qipu context --query \"what did we decide last week?\"
  qipu context --note ID --with-body
  qipu context --moc ID --transitive
  qipu context --walk ID --max-hops 2 --min-value 60
  qipu context --tag TAG --json
  qipu context --query \"WORDS\" --purpose decide --max-tokens 2000 --format prompt
  qipu context --expand ID --include derivation,evidence";

pub(super) const MCP: &str = "Examples:
  qipu mcp";

pub(super) const BROWSE: &str = "Examples:
  qipu browse
  qipu browse WORDS";

pub(super) const SEARCH: &str = "Examples:
  qipu search \"WORDS\"
  qipu search checksum -drives --tag TAG
  qipu search \"WORDS\" --since \"last month\" --limit 5 --explain";

pub(super) const RELATED: &str = "Examples:
  qipu related ID
  qipu related ID --limit 3";

pub(super) const LINK: &str = "Examples:
  qipu link list ID
  qipu link tree ID --max-hops 2
  qipu link path ID ID";

pub(super) const LINK_LIST: &str = "Examples:
  qipu link list ID
  qipu link list ID --direction in --typed-only";

pub(super) const LINK_TREE: &str = "Examples:
  qipu link tree ID
  qipu link tree ID --max-hops 2 --max-fanout 5
  qipu link tree ID --type supports";

pub(super) const LINK_PATH: &str = "Examples:
  qipu link path ID ID
  qipu link path ID ID --typed-only";

pub(super) const LINK_ADD: &str = "Examples:
  qipu link add ID ID
  qipu link add ID ID --type supports";

pub(super) const LINK_REMOVE: &str = "Examples:
  qipu link remove ID ID
  qipu link remove ID ID --type supports";

pub(super) const SHOW: &str = "Examples:
  qipu show ID
  qipu show ID --links
  qipu show ID --raw";

pub(super) const JOURNAL: &str = "Examples:
  qipu journal
  qipu journal \"TEXT\"
  qipu journal --date yesterday";

pub(super) const LIST: &str = "Examples:
  qipu list --type permanent --sort value
  qipu list --tag TAG --since 2025-01-01
  qipu list --orphans";

pub(super) const INBOX: &str = "Examples:
  qipu inbox
  qipu inbox --json";

pub(super) const TAGS: &str = "Examples:
  qipu tags
  qipu tags rename TAG NEW";

pub(super) const TAGS_RENAME: &str = "Examples:
  qipu tags rename TAG NEW
  qipu tags rename TAG NEW --dry-run";

pub(super) const STATUS: &str = "Examples:
  qipu status";

pub(super) const DOCTOR: &str = "Examples:
  qipu doctor
  qipu doctor --fix --dry-run";

pub(super) const EVAL: &str = "A question is an object: a line of a .jsonl file, or an item of a list in JSON or YAML.
  {\"question\": \"Why do we abort when fsync fails?\", \"answers\": {\"sentences\": [\"it logs the path\"]}}
  {\"question\": \"How do I peel a mango?\", \"silent\": true}
Answers are ids of notes, or headings, sentences and patterns (regular expressions) in them; with these, ids only
name the notes that contain them.

Examples:
  qipu eval questions.jsonl
  qipu eval questions.jsonl --budget 1000,4000 --min-hit 0.8";

pub(super) const INDEX: &str = "Examples:
  qipu index
  qipu index --rebuild";

pub(super) const INIT: &str = "Examples:
  qipu init";

pub(super) const CAPTURE: &str = "Examples:
  qipu capture \"TEXT\"
  qipu capture \"TEXT\" --tag idea,draft --title \"A better name\"
  qipu capture --tag TAG <<'EOF'
  git log -1 --format=%B | qipu capture";

pub(super) const CREATE: &str = "Examples:
  qipu create \"Retries hide bugs\" --type permanent --tag TAG
  qipu create \"Retries hide bugs\" --link supports:ID --body \"TEXT\"";

pub(super) const EDIT: &str = "Examples:
  qipu edit ID";

pub(super) const UPDATE: &str = "Examples:
  qipu update ID --type permanent --value 80
  qipu update ID --tag reviewed --untag TAG
  qipu update ID --set status=accepted --dry-run";

pub(super) const RENAME: &str = "Examples:
  qipu rename ID \"A better title\"";

pub(super) const MERGE: &str = "Examples:
  qipu merge ID ID
  qipu merge ID ID --dry-run";

pub(super) const COMPACT: &str = "Examples:
  qipu compact ID ID";

pub(super) const DELETE: &str = "Examples:
  qipu delete ID ID
  qipu delete ID --force";

pub(super) const DUMP: &str = "Examples:
  qipu dump notes.pack
  qipu dump - --note ID";

pub(super) const LOAD: &str = "Examples:
  qipu load notes.pack
  qipu load notes.pack --strategy merge --dry-run";

pub(super) const IMPORT: &str = "Examples:
  qipu import logseq ../graph --dry-run
  qipu import obsidian ../vault --name notes";

pub(super) const IMPORT_LOGSEQ: &str = "Examples:
  qipu import logseq ../graph
  qipu import logseq ../graph --dry-run";

pub(super) const IMPORT_OBSIDIAN: &str = "Examples:
  qipu import obsidian ../vault
  qipu import obsidian ../vault --name notes --dry-run";

pub(super) const SETUP: &str = "Examples:
  qipu setup
  qipu setup --all-detected
  qipu setup claude
  qipu setup mcp
  qipu setup agents-md --print";

pub(super) const COMPLETIONS: &str = "Add one line to the startup file of your shell:
  bash: source <(qipu completions bash)
  zsh:  source <(qipu completions zsh)
  fish: qipu completions fish | source

Examples:
  qipu completions bash
  qipu completions zsh
  qipu completions fish";

pub(super) const MAN: &str = "Examples:
  qipu man
  qipu man link tree
  qipu man --dir man1
  qipu man context | man -l -";
