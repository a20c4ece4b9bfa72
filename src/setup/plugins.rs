//! The plugins for agent tools: each in the form that its tool documents, with the hooks of the recipe of the same name.
//!
//! Claude Code and Codex have a plugin each, although Codex reads the manifests of Claude Code too: both read
//! `hooks/hooks.json`, and the hooks name the tool that runs them.

use super::Recipe;
use super::file_step::FileStep;
use super::recipes::{CLAUDE_HOOKS, CODEX_HOOKS, COPILOT_HOOKS, CURSOR_HOOKS, GEMINI_HOOKS, SKILL, SKILL_HEAD};
use super::step::RecipeStep;

/// The body of each command.
const ASK: &str = include_str!("commands/ask.md");
const CAPTURE: &str = include_str!("commands/capture.md");
const DECIDE: &str = include_str!("commands/decide.md");

/// The beginning of each command's file: frontmatter.
const ASK_HEAD: &str = "---\ndescription: Answer a question from the project's notes\n---\n";
const CAPTURE_HEAD: &str = "---\ndescription: Save what was learned as a note\n---\n";
const DECIDE_HEAD: &str = "---\ndescription: Record a decision as a note\n---\n";

/// The beginning of each command's file for Gemini CLI, and the end.
const ASK_TOML: &str = "description = \"Answer a question from the project's notes\"\nprompt = \"\"\"\n";
const CAPTURE_TOML: &str = "description = \"Save what was learned as a note\"\nprompt = \"\"\"\n";
const DECIDE_TOML: &str = "description = \"Record a decision as a note\"\nprompt = \"\"\"\n";
const TOML_END: &str = "\"\"\"\n";

/// Servers in the form of most tools.
const SERVERS: &str =
    "{\n  \"mcpServers\": {\n    \"qipu\": {\n      \"command\": \"qipu\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
/// Servers in the form of Codex: without a key around them.
const CODEX_SERVERS: &str = "{\n  \"qipu\": {\n    \"command\": \"qipu\",\n    \"args\": [\"mcp\"]\n  }\n}\n";

/// Returns the text of a manifest with these fields after the common ones.
macro_rules! manifest {
    ($fields:literal) => {
        &[concat!(
            "{\n  \"name\": \"qipu\",\n  \"version\": \"",
            env!("CARGO_PKG_VERSION"),
            "\",\n  \"description\": \"The project's memory: notes on decisions, findings and sources\"",
            $fields,
            "\n}\n"
        )]
    };
}

/// The path of each manifest.
const CLAUDE: &str = ".claude-plugin/plugin.json";
const CODEX: &str = ".codex-plugin/plugin.json";
const GEMINI: &str = "gemini-extension.json";
const CURSOR: &str = ".cursor-plugin/plugin.json";
const COPILOT: &str = "plugin.json";

/// Every plugin, under the name of the recipe for its tool.
pub static PLUGINS: [Recipe; 5] = [
    plugin(
        "claude",
        "a plugin for Claude Code",
        &[
            file(CLAUDE, CLAUDE, manifest!("")),
            file(CLAUDE, "hooks/hooks.json", &[CLAUDE_HOOKS.template]),
            file(CLAUDE, "skills/qipu/SKILL.md", &[SKILL_HEAD, SKILL]),
            file(CLAUDE, ".mcp.json", &[SERVERS]),
            file(CLAUDE, "commands/ask.md", &[ASK_HEAD, ASK]),
            file(CLAUDE, "commands/capture.md", &[CAPTURE_HEAD, CAPTURE]),
            file(CLAUDE, "commands/decide.md", &[DECIDE_HEAD, DECIDE]),
        ],
    ),
    // Plugins of Codex have no commands.
    plugin(
        "codex",
        "a plugin for Codex",
        &[
            file(CODEX, CODEX, manifest!(",\n  \"skills\": \"./skills/\",\n  \"mcpServers\": \"./.mcp.json\"")),
            file(CODEX, "hooks/hooks.json", &[CODEX_HOOKS.template]),
            file(CODEX, "skills/qipu/SKILL.md", &[SKILL_HEAD, SKILL]),
            file(CODEX, ".mcp.json", &[CODEX_SERVERS]),
        ],
    ),
    plugin(
        "gemini",
        "an extension for Gemini CLI",
        &[
            file(
                GEMINI,
                GEMINI,
                manifest!(
                    ",\n  \"mcpServers\": {\n    \"qipu\": {\n      \"command\": \"qipu\",\n      \"args\": [\"mcp\"]\n    }\n  }"
                ),
            ),
            file(GEMINI, "hooks/hooks.json", &[GEMINI_HOOKS.template]),
            file(GEMINI, "skills/qipu/SKILL.md", &[SKILL_HEAD, SKILL]),
            file(GEMINI, "commands/qipu/ask.toml", &[ASK_TOML, ASK, TOML_END]),
            file(GEMINI, "commands/qipu/capture.toml", &[CAPTURE_TOML, CAPTURE, TOML_END]),
            file(GEMINI, "commands/qipu/decide.toml", &[DECIDE_TOML, DECIDE, TOML_END]),
        ],
    ),
    plugin(
        "cursor",
        "a plugin for Cursor",
        &[
            file(CURSOR, CURSOR, manifest!("")),
            file(CURSOR, "hooks/hooks.json", &[CURSOR_HOOKS.template]),
            file(CURSOR, "skills/qipu/SKILL.md", &[SKILL_HEAD, SKILL]),
            file(CURSOR, "mcp.json", &[SERVERS]),
            file(CURSOR, "commands/qipu-ask.md", &[ASK_HEAD, ASK]),
            file(CURSOR, "commands/qipu-capture.md", &[CAPTURE_HEAD, CAPTURE]),
            file(CURSOR, "commands/qipu-decide.md", &[DECIDE_HEAD, DECIDE]),
        ],
    ),
    plugin(
        "copilot",
        "a plugin for GitHub Copilot",
        &[
            file(
                COPILOT,
                COPILOT,
                manifest!(
                    ",\n  \"skills\": \"skills/\",\n  \"commands\": \"commands/\",\n  \"hooks\": \"hooks.json\",\n  \"mcpServers\": \".mcp.json\""
                ),
            ),
            file(COPILOT, "hooks.json", &[COPILOT_HOOKS.template]),
            file(COPILOT, "skills/qipu/SKILL.md", &[SKILL_HEAD, SKILL]),
            file(COPILOT, ".mcp.json", &[SERVERS]),
            file(COPILOT, "commands/qipu-ask.md", &[ASK_HEAD, ASK]),
            file(COPILOT, "commands/qipu-capture.md", &[CAPTURE_HEAD, CAPTURE]),
            file(COPILOT, "commands/qipu-decide.md", &[DECIDE_HEAD, DECIDE]),
        ],
    ),
];

const fn plugin(name: &'static str, about: &'static str, steps: &'static [RecipeStep]) -> Recipe {
    Recipe { name, about, steps, signs: &[] }
}

const fn file(manifest: &'static str, path: &'static str, parts: &'static [&'static str]) -> RecipeStep {
    RecipeStep::File(FileStep { path, parts, manifest })
}
