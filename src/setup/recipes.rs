//! The definitions of all recipes.

use super::Recipe;
use super::claude_md::{AGENTS_MD, CLAUDE_MD};
use super::git_config::GitConfigStep;
use super::hook_step::HookStep;
use super::managed_section::HASH;
use super::section_step::{BaseFolder, SECTION, SectionStep};
use super::server_entry::server_item;
use super::server_step::{McpServerStep, SERVER};
use super::step::RecipeStep;
use super::taught::{SECTION_TEXT, SKILL_TEXT};

/// The head of the skill, which tells agents when to use it.
const SKILL_HEAD: &str = include_str!("skill-head.md");

/// The hooks of each tool, each with a time limit: qipu answers before, or not at all. Events at which the tool ignores context have none, except for the ones before a compaction,
/// after which qipu repeats what it added before.
const CLAUDE_HOOKS: HookStep =
    HookStep::new("claude", ".claude/settings.json", include_str!("hooks/claude.json"), &[CLAUDE_MD, AGENTS_MD]);
/// Codex asks its user to trust each hook again when its definition changes: keep these as they are.
const CODEX_HOOKS: HookStep =
    HookStep::new("codex", ".codex/hooks.json", include_str!("hooks/codex.json"), &[".agents/skills/qipu/SKILL.md"]);
const GEMINI_HOOKS: HookStep =
    HookStep::new("gemini", ".gemini/settings.json", include_str!("hooks/gemini.json"), &["GEMINI.md"]);
const CURSOR_HOOKS: HookStep =
    HookStep::new("cursor", ".cursor/hooks.json", include_str!("hooks/cursor.json"), &[".cursor/rules/qipu.mdc"]);
const COPILOT_HOOKS: HookStep = HookStep::new(
    "copilot",
    ".github/hooks/qipu.json",
    include_str!("hooks/copilot.json"),
    &[".github/copilot-instructions.md"],
);
#[cfg(test)]
pub(super) const HOOKS: [HookStep; 5] = [CLAUDE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS, CURSOR_HOOKS, COPILOT_HOOKS];

/// The merge driver that git runs for a note changed on both sides. Exit codes above 1 are failures: qipu is not
/// installed, is too old, or could not read the files. Git then merges the note as text.
const DRIVER: &str = "command -v qipu >/dev/null 2>&1 && { qipu merge-driver --marker-size=%L %O %A %B; code=$?; \
                      test $code -gt 1 || exit $code; }; \
                      git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B";

/// Agent tools that read AGENTS.md and need no recipe of their own.
pub const READERS_OF_AGENTS_MD: [&str; 6] = ["aider", "cline", "junie", "opencode", "windsurf", "zed"];

/// Every recipe, in the order in which they are listed.
pub static RECIPES: [Recipe; 8] = [
    Recipe {
        name: "agents-md",
        about: "tells every agent that reads AGENTS.md how to use qipu",
        steps: &[shared_section("agents-md")],
        signs: &["AGENTS.md"],
    },
    Recipe {
        name: "claude",
        about: "tells Claude Code how to use qipu, and runs `qipu hook` in its sessions",
        steps: &[
            RecipeStep::Section(SectionStep { other: Some(AGENTS_MD), ..with_hooks(CLAUDE_MD, &CLAUDE_HOOKS) }),
            RecipeStep::Section(SectionStep { other: Some(CLAUDE_MD), ..with_hooks(AGENTS_MD, &CLAUDE_HOOKS) }),
            RecipeStep::Hook(CLAUDE_HOOKS),
            skill("claude", ".claude/skills/qipu/SKILL.md", None),
        ],
        signs: &["CLAUDE.md", ".claude"],
    },
    Recipe {
        name: "codex",
        about: "tells Codex how to use qipu, and runs `qipu hook` in its sessions",
        steps: &[
            shared_section("codex"),
            skill("codex", ".agents/skills/qipu/SKILL.md", Some(&CODEX_HOOKS)),
            RecipeStep::Hook(CODEX_HOOKS),
        ],
        signs: &[".codex"],
    },
    Recipe {
        name: "gemini",
        about: "tells Gemini CLI how to use qipu, and runs `qipu hook` in its sessions",
        steps: &[RecipeStep::Section(with_hooks("GEMINI.md", &GEMINI_HOOKS)), RecipeStep::Hook(GEMINI_HOOKS)],
        signs: &["GEMINI.md", ".gemini"],
    },
    Recipe {
        name: "cursor",
        about: "gives Cursor a rule on how to use qipu, and runs `qipu hook` in its sessions",
        steps: &[
            RecipeStep::Section(SectionStep {
                head: "---\ndescription: The project's memory, qipu\nalwaysApply: true\n---\n",
                ..with_hooks(".cursor/rules/qipu.mdc", &CURSOR_HOOKS)
            }),
            RecipeStep::Hook(CURSOR_HOOKS),
        ],
        signs: &[".cursor", ".cursorrules"],
    },
    Recipe {
        name: "copilot",
        about: "tells GitHub Copilot how to use qipu, and runs `qipu hook` in its sessions",
        steps: &[
            RecipeStep::Section(with_hooks(".github/copilot-instructions.md", &COPILOT_HOOKS)),
            RecipeStep::Hook(COPILOT_HOOKS),
        ],
        signs: &[".github/copilot-instructions.md", ".github/instructions"],
    },
    Recipe {
        name: "mcp",
        about: "lets agent tools call qipu as an MCP server",
        steps: &[
            RecipeStep::Server(McpServerStep { paths: &[".mcp.json"], ..SERVER }),
            RecipeStep::Server(McpServerStep {
                paths: &[".cursor/mcp.json"],
                signs: &[".cursor", ".cursorrules"],
                ..SERVER
            }),
            RecipeStep::Server(McpServerStep {
                paths: &[".vscode/mcp.json"],
                item: server_item(&["servers"]),
                entry: r#"{"type":"stdio","command":"qipu","args":["mcp"]}"#,
                signs: &[".vscode"],
                ..SERVER
            }),
            RecipeStep::Server(McpServerStep {
                paths: &[".gemini/settings.json"],
                signs: &[".gemini", "GEMINI.md"],
                hook: Some(&GEMINI_HOOKS),
                ..SERVER
            }),
            RecipeStep::Server(McpServerStep {
                paths: &["opencode.json", "opencode.jsonc"],
                item: server_item(&["mcp"]),
                entry: r#"{"type":"local","command":["qipu","mcp"],"enabled":true}"#,
                signs: &["opencode.json", "opencode.jsonc", ".opencode"],
                ..SERVER
            }),
        ],
        // A tool may be used without servers: the recipe is suggested only where some are configured.
        signs: &[".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"],
    },
    Recipe {
        name: "git",
        about: "lets git merge two versions of a note field by field",
        steps: &[
            RecipeStep::Section(SectionStep {
                folder: BaseFolder::Store,
                path: ".gitattributes",
                style: &HASH,
                text: include_str!("git.attributes"),
                ..SECTION
            }),
            RecipeStep::GitConfig(GitConfigStep(&[
                ("merge.qipu.name", "notes of qipu, field by field"),
                ("merge.qipu.driver", DRIVER),
            ])),
        ],
        signs: &[".git"],
    },
];

/// The section whose marker stores what existed before the hooks of its recipe.
const fn with_hooks(path: &'static str, hook: &'static HookStep) -> SectionStep {
    SectionStep { path, text: SECTION_TEXT, user: hook.user, hook: Some(hook), ..SECTION }
}

/// The section in AGENTS.md, which several tools read: removing a recipe keeps it for the others.
const fn shared_section(user: &'static str) -> RecipeStep {
    RecipeStep::Section(SectionStep { path: "AGENTS.md", text: SECTION_TEXT, user, ..SECTION })
}

const fn skill(user: &'static str, path: &'static str, hook: Option<&'static HookStep>) -> RecipeStep {
    RecipeStep::Section(SectionStep { path, text: SKILL_TEXT, head: SKILL_HEAD, user, hook, ..SECTION })
}
