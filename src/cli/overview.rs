//! The help of `qipu` itself: its commands in groups, the first of them for those who begin.

use clap::Command;

use super::clap_errors::visible;
use super::command_properties::SELDOM;

/// The commands in groups. Nobody reads a list of forty; the first group is what a newcomer needs.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Start here", &["init", "setup", "ask", "capture", "search", "show", "journal"]),
    ("Find", &["context", "list", "about", "link", "tasks", "history"]),
    ("Change", &["update", "supersede", "merge", "delete"]),
    ("Look after", &["review", "doctor", "status", "eval"]),
    ("Move", &["export", "import"]),
    ("Programs", &["prime", "mcp", "lsp", "hook", "browse", "completions"]),
];

/// What most calls do: ask and save.
const FIRST_CALLS: &str = "qipu ask \"why do we retry fsync?\" --max-chars 1500
qipu capture --type decision \"We abort when fsync fails.\"
";

/// Replaces the list of commands in the help of the program by one in groups.
pub(super) fn with_groups(root: Command) -> Command {
    let groups: Vec<String> = GROUPS.iter().map(|group| list(&root, group)).collect();
    let head = format!("{}\n\nUsage: qipu COMMAND …          qipu help COMMAND, qipu help flags\n\n", about(&root));
    root.help_template(format!("{head}{}\n{{after-help}}", groups.concat()))
}

/// Returns what is printed for a call without a command.
pub(super) fn first_steps(root: &Command) -> String {
    let start = GROUPS.first().map(|group| list(root, group)).unwrap_or_default();
    format!("{}\n\n{start}\n{FIRST_CALLS}`qipu help` lists everything.\n", about(root))
}

/// Returns what `qipu help flags` prints: the common flags that the help of single commands leaves out.
pub(super) fn flags(root: &Command) -> String {
    let seldom = root.get_arguments().filter(|arg| SELDOM.contains(&arg.get_id().as_str()));
    let help = Command::new("flags").disable_help_flag(true).max_term_width(100).args(seldom.cloned());
    let options = help.help_template("{options}").render_help();
    format!("Flags that all commands take where they apply; the help of each command lists its own.\n\n{options}\n")
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Returns the heading of a group and a line for each of its commands.
fn list(root: &Command, (heading, names): &(&str, &[&str])) -> String {
    let commands = names.iter().filter_map(|name| visible(root).find(|command| command.get_name() == *name));
    let lines = commands.map(|command| format!("  {:<12}{}\n", command.get_name(), about(command)));
    format!("{heading}\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    #[test]
    fn every_command_has_one_group_and_a_short_line() {
        let root = Cli::command();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = visible(&root).map(Command::get_name).collect();
        listed.sort_unstable();
        all.sort_unstable();
        assert_eq!(listed, all);
        assert_eq!(GROUPS[0].1.len(), 7);
        for line in GROUPS.iter().flat_map(|group| list(&root, group).lines().map(str::to_owned).collect::<Vec<_>>()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn a_call_without_a_command_prints_fourteen_lines() {
        assert_eq!(first_steps(&Cli::command()).lines().count(), 14);
    }
}
