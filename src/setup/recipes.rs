//! Recipes for one tool each: what it reads at the start of a session, in the place where it looks.

use super::Recipe;
use super::agents_md;
use super::managed_section::HASH;
use super::step::{HookPart, RecipeStep, SECTION, SectionPart};
use super::yaml_item::ListItem;

/// What every agent is told.
const TEXT: &str = include_str!("agents-md.md");

/// A skill: its head says when it is of use.
const SKILL_HEAD: &str = include_str!("skill-head.md");
const SKILL: &str = include_str!("skill.md");

/// What runs when a session of Claude Code starts.
const CLAUDE_HOOK: HookPart = HookPart {
    path: ".claude/settings.json",
    hook: r#"{"matcher":"startup|resume|clear|compact","hooks":[{"type":"command","command":"qipu prime --hook claude"}]}"#,
    keeper: "CLAUDE.md",
    user: "claude",
};

/// The recipe for Claude Code.
pub(super) const CLAUDE: Recipe = Recipe {
    name: "claude",
    about: "tells Claude Code how to use qipu, and primes its sessions",
    parts: &[
        RecipeStep::Section(SectionPart {
            path: "CLAUDE.md",
            text: TEXT,
            user: "claude",
            hook: Some(&CLAUDE_HOOK),
            ..SECTION
        }),
        RecipeStep::Hook(CLAUDE_HOOK),
        skill("claude", ".claude/skills/qipu/SKILL.md", None),
    ],
    signs: &["CLAUDE.md", ".claude"],
};

/// What runs when a session of Codex starts.
const CODEX_HOOK: HookPart = HookPart {
    path: ".codex/hooks.json",
    hook: r#"{"matcher":"startup|resume","hooks":[{"type":"command","command":"qipu prime --hook codex"}]}"#,
    keeper: ".agents/skills/qipu/SKILL.md",
    user: "codex",
};

/// The recipe for Codex.
pub(super) const CODEX: Recipe = Recipe {
    name: "codex",
    about: "tells Codex how to use qipu, and primes its sessions",
    parts: &[
        agents_md::section("codex"),
        skill("codex", ".agents/skills/qipu/SKILL.md", Some(&CODEX_HOOK)),
        RecipeStep::Hook(CODEX_HOOK),
    ],
    signs: &[".codex"],
};

/// What runs when a session of Gemini CLI starts.
pub(super) const GEMINI_HOOK: HookPart = HookPart {
    path: ".gemini/settings.json",
    hook: r#"{"matcher":"*","hooks":[{"name":"qipu","type":"command","command":"qipu prime --hook gemini"}]}"#,
    keeper: "GEMINI.md",
    user: "gemini",
};

/// The recipe for Gemini CLI.
pub(super) const GEMINI: Recipe = Recipe {
    name: "gemini",
    about: "tells Gemini CLI how to use qipu, and primes its sessions",
    parts: &[
        RecipeStep::Section(SectionPart {
            path: "GEMINI.md",
            text: TEXT,
            user: "gemini",
            hook: Some(&GEMINI_HOOK),
            ..SECTION
        }),
        RecipeStep::Hook(GEMINI_HOOK),
    ],
    signs: &["GEMINI.md", ".gemini"],
};

/// The recipe for Cursor.
pub(super) const CURSOR: Recipe = Recipe {
    name: "cursor",
    about: "gives Cursor a rule on how to use qipu",
    parts: &[rule(
        "cursor",
        ".cursor/rules/qipu.mdc",
        "---\ndescription: The project's memory, qipu\nalwaysApply: true\n---\n",
    )],
    signs: &[".cursor", ".cursorrules"],
};

/// The recipe for GitHub Copilot.
pub(super) const COPILOT: Recipe = Recipe {
    name: "copilot",
    about: "tells GitHub Copilot how to use qipu",
    parts: &[rule("copilot", ".github/copilot-instructions.md", "")],
    signs: &[".github/copilot-instructions.md", ".github/instructions"],
};

/// The recipe for Windsurf.
pub(super) const WINDSURF: Recipe = Recipe {
    name: "windsurf",
    about: "gives Windsurf a rule on how to use qipu",
    parts: &[rule("windsurf", ".windsurf/rules/qipu.md", "---\ntrigger: always_on\n---\n")],
    signs: &[".windsurf", ".windsurfrules"],
};

/// The recipe for opencode.
pub(super) const OPENCODE: Recipe = Recipe {
    name: "opencode",
    about: "tells opencode how to use qipu",
    parts: &[agents_md::section("opencode")],
    signs: &["opencode.json", "opencode.jsonc", ".opencode"],
};

/// The recipe for aider.
pub(super) const AIDER: Recipe = Recipe {
    name: "aider",
    about: "lets aider read AGENTS.md, which tells how to use qipu",
    parts: &[
        agents_md::section("aider"),
        RecipeStep::Section(SectionPart {
            path: ".aider.conf.yml",
            marks: &HASH,
            text: "read: [AGENTS.md]\n",
            item: Some(ListItem { key: "read", value: "AGENTS.md" }),
            ..SECTION
        }),
    ],
    signs: &[".aider.conf.yml"],
};

/// The recipe for Zed.
pub(super) const ZED: Recipe = Recipe {
    name: "zed",
    about: "tells Zed's agent how to use qipu",
    parts: &[agents_md::section("zed")],
    signs: &[".zed"],
};

/// The recipe for Junie.
pub(super) const JUNIE: Recipe = Recipe {
    name: "junie",
    about: "tells Junie how to use qipu",
    parts: &[rule("junie", ".junie/guidelines.md", "")],
    signs: &[".junie"],
};

/// The recipe for Cline.
pub(super) const CLINE: Recipe = Recipe {
    name: "cline",
    about: "gives Cline a rule on how to use qipu",
    parts: &[rule("cline", ".clinerules/qipu.md", "")],
    signs: &[".clinerules"],
};

const fn rule(user: &'static str, path: &'static str, head: &'static str) -> RecipeStep {
    RecipeStep::Section(SectionPart { path, text: TEXT, head, user, ..SECTION })
}

const fn skill(user: &'static str, path: &'static str, hook: Option<&'static HookPart>) -> RecipeStep {
    RecipeStep::Section(SectionPart { path, text: SKILL, head: SKILL_HEAD, user, hook, ..SECTION })
}
