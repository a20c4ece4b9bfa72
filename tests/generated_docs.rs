//! The pages of `specs/reference/` that are made from the program.
//!
//! `QIPU_UPDATE_DOCS=1 cargo test --test all docs::` rewrites what is below the mark of a generated page.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::process::{call, commands_in};
use crate::support::schema::SCHEMAS;

/// What stands between the text of a page that is written and that which is generated.
const MARK: &str = "<!-- generated: QIPU_UPDATE_DOCS=1 cargo test --test all docs:: -->\n";

/// The width of generated lines.
const WIDTH: usize = 150;

fn page(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("specs/{name}.md"))
}

/// The most words of each page of the reference.
const BUDGETS: [(&str, usize); 13] = [
    ("answers", 2_200),
    ("changes", 1_400),
    ("commands", 4_300),
    ("embedder", 600),
    ("hooks-mcp-setup", 1_200),
    ("json", 650),
    ("notes-and-links", 1_600),
    ("packs-and-passages", 500),
    ("purpose-and-trust", 1_600),
    ("questions", 1_500),
    ("records", 1_100),
    ("search-and-filters", 1_500),
    ("settings", 500),
];

/// A page that grows repeats what another page has.
#[test]
fn each_page_of_the_reference_keeps_its_budget() {
    for (name, most) in BUDGETS {
        let text = fs::read_to_string(page(&format!("reference/{name}"))).unwrap();
        let words = text.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        assert!(words <= most, "{name}.md has {words} words; its budget is {most}");
    }
    let folder = fs::read_dir(page("reference").with_extension("")).unwrap();
    assert_eq!(folder.count(), BUDGETS.len(), "each page has a budget");
}

/// Compares what is below the mark of a page, or rewrites it.
fn check_generated(name: &str, generated: &str) {
    let text = fs::read_to_string(page(name)).unwrap();
    let (written, old) = text.split_once(MARK).unwrap();
    if std::env::var_os("QIPU_UPDATE_DOCS").is_some() {
        return fs::write(page(name), format!("{written}{MARK}\n{generated}")).unwrap();
    }
    let lines = old.trim_start().lines().zip(generated.lines());
    let difference = lines.into_iter().find(|(old, new)| old != new);
    assert_eq!(difference, None, "{name}.md");
    assert_eq!(old.trim_start().lines().count(), generated.lines().count(), "{name}.md");
}

/// The help of a command, taken apart.
#[derive(Default)]
struct Help {
    about: String,
    usage: String,
    /// The headings, each with its arguments or flags and what they mean.
    sections: Vec<(String, Vec<(String, String)>)>,
    /// The prose below the flags.
    notes: Vec<String>,
}

impl Help {
    fn parse(text: &str) -> Self {
        let mut help = Self::default();
        for line in text.split("\nExamples:\n").next().unwrap().lines().map(str::trim_end) {
            let words = line.trim_start();
            let indentation = line.len() - words.len();
            let item = help.sections.last_mut().and_then(|(_, items)| items.last_mut());
            if let Some(usage) = line.strip_prefix("Usage: ") {
                help.usage = usage.replace("[OPTIONS] ", "").replace(" [OPTIONS]", "");
            } else if help.usage.is_empty() {
                push_words(&mut help.about, words);
            } else if line.ends_with(':') && indentation == 0 {
                help.sections.push((line.trim_end_matches(':').to_owned(), Vec::new()));
            } else if let Some((_, text)) = item.filter(|_| indentation >= 10) {
                push_words(text, words);
            } else if indentation > 0 && words.starts_with(['-', '<', '[']) {
                let (name, text) = words.split_once("  ").unwrap_or((words, ""));
                help.sections.last_mut().unwrap().1.push((name.to_owned(), text.trim_start().to_owned()));
            } else if indentation == 0 {
                help.notes.push(words.to_owned());
            }
        }
        help
    }
}

/// Adds a line to a text. What is listed follows a semicolon.
fn push_words(text: &mut String, words: &str) {
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.strip_prefix("- ") {
        _ if words.is_empty() || words == "Possible values:" => {}
        Some(value) => text.push_str(&format!("; {value}")),
        None if text.is_empty() => text.push_str(&words),
        None => text.push_str(&format!(" {words}")),
    }
}

fn items(items: &[(String, String)]) -> String {
    items.iter().map(|(name, text)| wrapped(&format!("- `{name}`: {}", escaped(text)))).collect()
}

/// Returns a text in which no sign begins markup.
fn escaped(text: &str) -> String {
    text.replace('<', "\\<").replace('*', "\\*").replace("[[", "\\[[")
}

/// Makes the page of commands, with the flags of many commands once.
#[derive(Default)]
struct CommandsPage {
    text: String,
    common: Vec<(String, String)>,
    /// The sections that are written already, with the command that has them.
    seen: BTreeMap<String, String>,
}

impl CommandsPage {
    fn add(&mut self, command: &[&str]) {
        let text = call("fixtures/research", &[command, &["--help"]].concat()).stdout;
        let (name, mut help) = (command.join(" "), Help::parse(&text));
        self.text += &format!("## {name}\n\n{}.\n\n    {}\n\n", escaped(&help.about), help.usage);
        help.sections.retain(|(_, flags)| !flags.is_empty());
        for (heading, mut flags) in help.sections {
            flags.retain(|(flag, _)| !flag.ends_with("--help"));
            if heading == "Common options" {
                self.add_common(flags);
            } else if !flags.is_empty() {
                self.add_section(&name, &heading, &flags);
            }
        }
        let notes = help.notes.join(" ");
        self.text += &if notes.trim().is_empty() { String::new() } else { format!("{}\n\n", escaped(notes.trim())) };
        for below in commands_in(&text) {
            self.add(&[command, &[&below]].concat());
        }
    }

    fn add_section(&mut self, name: &str, heading: &str, flags: &[(String, String)]) {
        let is_named = !["Arguments", "Options"].contains(&heading);
        let text = items(flags);
        match self.seen.get(&text).filter(|_| flags.len() >= 3) {
            Some(first) => self.text += &format!("{heading}: as for [{first}](#{}).\n\n", first.replace(' ', "-")),
            None => {
                self.text += &if is_named { format!("{heading}:\n\n") } else { String::new() };
                self.text += &format!("{text}\n");
                self.seen.insert(text, name.to_owned());
            }
        }
    }

    fn add_common(&mut self, flags: Vec<(String, String)>) {
        for (flag, text) in flags {
            if !self.common.iter().any(|(other, _)| *other == flag) {
                self.common.push((flag, text));
            }
        }
    }
}

#[test]
fn the_page_of_commands_is_their_help() {
    let mut page = CommandsPage::default();
    for command in commands_in(&call("fixtures/research", &["--help"]).stdout) {
        page.add(&[&command]);
    }
    let seldom = call("fixtures/research", &["help", "flags"]).stdout;
    let flags: String = seldom.lines().filter(|line| line.starts_with(' ')).map(|line| format!("{line}\n")).collect();
    page.add_common(Help::parse(&format!("Usage: qipu\nFlags:\n{flags}")).sections.remove(0).1);
    let common = items(&page.common);
    check_generated("reference/commands", &format!("{}## Common flags\n\n{common}", page.text));
}

/// Returns the type of a value; none for a string.
fn type_of(schema: &Value) -> String {
    if let Some(part) = schema["$ref"].as_str() {
        let name = part.rsplit('/').next().unwrap();
        let part = &SCHEMAS["definitions"]["$defs"][name];
        return if part.get("properties").is_some() { name.to_owned() } else { type_of(part) };
    }
    if schema.get("properties").is_some() {
        return format!("{{{}}}", fields(schema, &[]).join(","));
    }
    let list = |values: &Value| {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        values.as_array().map(|values| values.iter().map(text).collect::<Vec<_>>().join("|"))
    };
    if let Some(any) = schema["anyOf"].as_array() {
        return any.iter().map(type_of).collect::<Vec<_>>().join("|");
    }
    if let Some(values) = list(&schema["enum"]) {
        return values;
    }
    if let Some(value) = schema.get("const") {
        return value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    }
    match schema["type"].as_str() {
        Some("array") => {
            let item = type_of(&schema["items"]);
            format!("[{}]", if item.is_empty() { "string" } else { &item })
        }
        Some("string") => String::new(),
        Some(name) => name.to_owned(),
        None => list(&schema["type"]).unwrap_or_default(),
    }
}

/// Returns the fields of an object but for some, each with a `?` if it can be missing, and with its type.
fn fields(schema: &Value, without: &[&str]) -> Vec<String> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
    let fields = schema["properties"].as_object().into_iter().flatten();
    let fields = fields.filter(|(name, _)| !without.contains(&name.as_str())).map(|(name, schema)| {
        let mark = if required.contains(&name.as_str()) { "" } else { "?" };
        let value = type_of(schema);
        if value.is_empty() { format!("{name}{mark}") } else { format!("{name}{mark}:{value}") }
    });
    fields.collect()
}

/// Returns the lines of a list, in which equal objects share one.
fn listed<'a>(objects: impl Iterator<Item = (&'a str, Vec<String>)>) -> String {
    let mut names: Vec<(Vec<String>, Vec<&str>)> = Vec::new();
    for (name, fields) in objects {
        match names.iter_mut().find(|(others, _)| *others == fields) {
            Some((_, sharing)) => sharing.push(name),
            None => names.push((fields, vec![name])),
        }
    }
    let line = |(fields, names): (Vec<String>, Vec<&str>)| {
        let head = format!("- **{}**:", names.join(", "));
        let fields = fields.iter().map(|field| format!(" `{field}`")).collect::<Vec<_>>().join(",");
        wrapped(&format!("{head}{fields}"))
    };
    names.into_iter().map(line).collect()
}

/// Breaks the lines of an item of a list.
fn wrapped(item: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for word in item.split(' ') {
        let width = word.chars().count();
        if column > 0 && column + width > WIDTH {
            text.push_str("\n ");
            column = 1;
        }
        if column > 0 {
            text.push(' ');
        }
        text.push_str(word);
        column += width + 1;
    }
    text + "\n"
}

#[test]
fn the_page_of_json_has_the_fields_of_the_schemas() {
    let is_mode = |(name, _): &(&String, &Value)| !["definitions", "error"].contains(&name.as_str());
    let everywhere = ["schema", "store", "mode", "banner", "matched", "truncated"];
    let answers = SCHEMAS.iter().filter(is_mode).flat_map(|(name, schema)| {
        let modes = schema["properties"]["mode"]["enum"].as_array();
        let modes = modes.map_or_else(|| vec![name.as_str()], |modes| modes.iter().filter_map(Value::as_str).collect());
        modes.into_iter().map(|mode| (mode, fields(schema, &everywhere)))
    });
    let parts = SCHEMAS["definitions"]["$defs"].as_object().unwrap().iter();
    let parts = parts.filter(|(_, schema)| schema.get("properties").is_some()).map(|(name, schema)| {
        let base = schema["allOf"].as_array().into_iter().flatten().map(type_of);
        (name.as_str(), base.chain(fields(schema, &[])).collect())
    });
    check_generated("reference/json", &format!("## Modes\n\n{}\n## Parts\n\n{}", listed(answers), listed(parts)));
}

/// Returns the first cells of the table that follows a line.
fn first_cells(page: &str, head: &str) -> Vec<String> {
    let rows = page.lines().skip_while(|line| !line.starts_with(head)).skip(2).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').nth(1).unwrap().trim().trim_matches('`').to_owned()).collect()
}

#[test]
fn the_page_of_setup_lists_each_recipe() {
    let answer = call("fixtures/research", &["setup", "--json"]).stdout;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let recipes = answer["recipes"].as_array().unwrap().iter().map(|recipe| recipe["name"].as_str().unwrap());
    let text = fs::read_to_string(page("reference/hooks-mcp-setup")).unwrap();
    assert_eq!(first_cells(&text, "| recipe |"), recipes.collect::<Vec<_>>());
}
