//! The file in which Claude Code reads the instructions of a project.

use super::managed_section::{MARKDOWN, ManagedSection};
use super::project::Project;
use crate::error::Error;
use crate::note::without_code_and_comments;

/// The file that Claude Code always reads, and the one that it reads only if there is none of the former: since v2.1.277
/// (<https://code.claude.com/docs/en/memory>). Older versions get the primer by the hook.
pub(super) const CLAUDE_MD: &str = "CLAUDE.md";
pub(super) const AGENTS_MD: &str = "AGENTS.md";

/// The other place of CLAUDE.md.
const INNER_CLAUDE_MD: &str = ".claude/CLAUDE.md";

/// The file with instructions of one user, which is usually not committed. It hides AGENTS.md from Claude Code too.
const LOCAL_CLAUDE_MD: &str = "CLAUDE.local.md";

/// The remark if CLAUDE.local.md hides AGENTS.md with the section.
const HIDDEN: &str = "Claude Code does not read AGENTS.md beside your CLAUDE.local.md: a line `@AGENTS.md` in CLAUDE.local.md imports it.";

/// Why the section is in the wrong file.
pub(super) const REASON: &str = "Claude Code does not read AGENTS.md beside CLAUDE.md";

/// Returns the file that contains the section of the recipe `claude`: CLAUDE.md; but AGENTS.md where Claude Code reads it,
/// or would read it without a CLAUDE.md that contains nothing but our section, if it has more than that.
pub(super) fn choose(project: &Project<'_>) -> Result<&'static str, Error> {
    let has_better = !project.is_there(AGENTS_MD)? || project.is_there(INNER_CLAUDE_MD)?;
    if has_better || project.is_same_file(CLAUDE_MD, AGENTS_MD) {
        return Ok(CLAUDE_MD);
    }
    let Some(text) = project.read(CLAUDE_MD)? else { return Ok(AGENTS_MD) };
    let section = ManagedSection::find_in(CLAUDE_MD, &MARKDOWN, &text)?;
    let is_agents_md_better = match section {
        // If AGENTS.md also has nothing but the section, reading it gains nothing: CLAUDE.md stays.
        Some(section) => {
            section.removed("").is_none()
                && section.marker.users.iter().all(|user| user == "claude")
                && !has_section_alone(project)?
        }
        None => imports(&text, AGENTS_MD),
    };
    Ok(if is_agents_md_better { AGENTS_MD } else { CLAUDE_MD })
}

/// Whether AGENTS.md contains our section and nothing else.
fn has_section_alone(project: &Project<'_>) -> Result<bool, Error> {
    let Some(text) = project.read(AGENTS_MD)? else { return Ok(false) };
    let section = ManagedSection::find_in(AGENTS_MD, &MARKDOWN, &text)?;
    Ok(section.is_some_and(|section| section.removed("").is_none()))
}

/// Returns a remark if the section is in AGENTS.md, and Claude Code does not read that for the user alone. The section
/// stays there: a CLAUDE.md would hide AGENTS.md from everyone who works on the project.
pub(super) fn remark(project: &Project<'_>) -> Result<Option<&'static str>, Error> {
    let is_read = project.has(CLAUDE_MD) || !project.has(LOCAL_CLAUDE_MD);
    if is_read || project.is_same_file(LOCAL_CLAUDE_MD, AGENTS_MD) || choose(project)? != AGENTS_MD {
        return Ok(None);
    }
    // A file that can't be read is none of ours, and no reason to fail.
    let text = project.read(LOCAL_CLAUDE_MD).ok().flatten().unwrap_or_default();
    Ok((!imports(&text, AGENTS_MD)).then_some(HIDDEN))
}

/// Tells whether a text imports a file that is beside it. Claude Code does not look for imports in code, and removes
/// comments.
fn imports(text: &str, path: &str) -> bool {
    let is_import = |word: &str| word.strip_prefix('@').map(|word| word.trim_start_matches("./")) == Some(path);
    without_code_and_comments(text).split_whitespace().any(is_import)
}
