//! What agents are taught: when to look into the memory, and eight commands. The primer, the section in AGENTS.md, the skill and
//! the MCP server say the same. Tests run each command, and look for what it makes where it should be.

/// When to look. Agents that know when apply twice as many recorded decisions as those that know only how.
macro_rules! when_to_look {
    () => {
        "Before you change code, configuration, a dependency or a schedule, and before you call a change done, look up what was \
         decided, what was tried and rejected, and which checks are required."
    };
}

/// Calls a macro with the commands, the most useful first, each with what it does.
macro_rules! with_taught_commands {
    ($callback:ident) => {
        $callback! {
            "qipu ask \"WORDS\" --max-chars 1500" => "passages that answer. Use the words that the answer would use \
                (identifiers, error text, synonyms); for more, add `--after 1500`",
            "qipu show ID" => "a note in full",
            "qipu about PATH" => "the notes on a file or folder",
            "qipu context --query \"WORDS\" --records" => "a list of notes; `--note ID --with-body`: their text",
            "qipu capture --type decision --tag TAG --code PATH --link supports:ID <<'QIPU_END'" => "saves the lines up to \
                QIPU_END (another word if the text has that line, or the shell runs the rest; never in double quotes: it runs \
                backticks). Types: decision, warning, finding, how-to, convention",
            "qipu update ID --append - <<'QIPU_END'" => "adds to a note; `--replace 'OLD' 'NEW'` corrects it",
            "qipu supersede OLD NEW" => "shows a new note in place of one that no longer holds",
            "qipu journal - <<'QIPU_END'" => "writes down what was done today",
        }
    };
}

macro_rules! pairs {
    ($($command:literal => $what:literal,)*) => { [$(($command, $what)),*] };
}

macro_rules! list {
    ($($command:literal => $what:literal,)*) => { concat!($("- `", $command, "`: ", $what, "\n"),*) };
}

/// When to look, as one sentence.
pub const WHEN_TO_LOOK: &str = when_to_look!();

/// The commands, each with what it does.
pub const TAUGHT_COMMANDS: [(&str, &str); 8] = with_taught_commands!(pairs);

/// The instructions for agents.
pub(super) const SECTION_TEXT: &str = concat!(
    "## Project memory (qipu)\n\n",
    "This project keeps what it knows (decisions, findings, sources) as linked notes in `.qipu/`. ",
    when_to_look!(),
    "\n\n",
    with_taught_commands!(list),
    "\nAt the start of a session, run `qipu prime`. ",
    include_str!("agents-md.md"),
);

/// The text of the skill.
pub(super) const SKILL_TEXT: &str = concat!(
    "# qipu: the memory of this project\n\n",
    when_to_look!(),
    "\n\n",
    with_taught_commands!(list),
    "\nA weak match is background, not an answer. ",
    include_str!("skill.md"),
);
