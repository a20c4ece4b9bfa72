//! The arguments of the commands that change notes.

use clap::Args;

use super::globals::Invocation;
use super::values::text_or_stdin;
use crate::env::{Env, parse_name};
use crate::error::Error;
use crate::note::Revision;
use crate::note::edit::BodyEdit;
use crate::request::{Action, Command, NewFields, SESSION, UNKNOWN_TOOL, WriteCommand, generated_by, trimmed};

/// The fields that new and existing notes can be given.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fields")]
struct FieldArgs {
    #[command(flatten)]
    own: NewFields,
    /// A custom field (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// The status; superseded, rejected, deprecated and obsolete mean that the note is no longer valid
    #[arg(long, value_name = "STATUS", value_parser = trimmed)]
    status: Option<String>,
}

/// The fields that are not custom, and how each is set.
pub(crate) const OWN_FIELDS: [(&str, &str); 8] = [
    ("id", "the id of a note never changes"),
    ("links", "use `qipu link add ID TYPE ID`"),
    ("sources", "use --source URL"),
    ("summary", "use --summary TEXT"),
    ("tags", "use --tag TAG"),
    ("title", "use --title TITLE"),
    ("type", "use --type TYPE"),
    ("value", "use --value N"),
];

impl FieldArgs {
    fn into_fields(self) -> Result<NewFields, Error> {
        let given = [("--tag", &self.own.tags), ("--source", &self.own.sources)];
        if let Some((flag, _)) = given.into_iter().find(|(_, texts)| texts.iter().any(String::is_empty)) {
            return Err(Error::usage(format!("{flag} needs a value that is not empty")));
        }
        let custom: Result<Vec<_>, Error> = self.set.iter().map(|pair| split(pair, '=', "KEY=VALUE")).collect();
        let custom = custom?;
        if let Some((name, hint)) = OWN_FIELDS.iter().find(|(name, _)| custom.iter().any(|(key, _)| key == name)) {
            return Err(Error::usage(format!("--set is for custom fields, and `{name}` is not one")).hint(*hint));
        }
        let status = self.status.map(|status| ("status".to_owned(), status));
        Ok(NewFields { custom: custom.into_iter().chain(status).collect(), ..self.own })
    }
}

/// The fields that only new notes can be given.
#[derive(Debug, Args)]
struct NewNoteArgs {
    #[command(flatten)]
    fields: FieldArgs,
    /// A typed link (repeatable)
    #[arg(long, value_name = "TYPE:ID")]
    link: Vec<String>,
    /// A note that the new one replaces: it gets the status superseded and a link from the new one (repeatable)
    #[arg(long, value_name = "ID")]
    supersedes: Vec<String>,
}

impl NewNoteArgs {
    /// Returns the fields, with further custom ones.
    fn into_fields(self, custom: impl IntoIterator<Item = (String, String)>) -> Result<NewFields, Error> {
        let links: Result<Vec<_>, Error> = self.link.iter().map(|pair| split(pair, ':', "TYPE:ID")).collect();
        let mut fields = NewFields { links: links?, ..self.fields.into_fields()? };
        fields.custom.extend(custom);
        Ok(fields)
    }
}

#[derive(Debug, Args)]
pub(super) struct CaptureArgs {
    /// The text of the note (default: standard input; on a terminal with --title, your editor: $VISUAL, else $EDITOR)
    text: Option<String>,
    /// The title (default: the first line)
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    title: Option<String>,
    /// The text below the frontmatter; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "text")]
    body: Option<String>,
    /// Make it of a document or passage (ID#HEADING, FILE:LINES); source, date and code are filled in
    #[arg(long, value_name = "ID")]
    from: Option<String>,
    #[command(flatten)]
    note: NewNoteArgs,
    /// The agent or program that wrote it (default: the agent tool that runs this, if recognized)
    #[arg(long, value_name = "WHO", value_parser = program)]
    by: Option<String>,
    /// The session of the agent (default: that of the environment)
    #[arg(long, value_name = "ID", value_parser = parse_name)]
    session: Option<String>,
}

impl CaptureArgs {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let env = invocation.env;
        let given = self.text.or(self.body);
        // In a loop over names, standard input has the other names.
        let is_without_text =
            given.is_none() && (self.from.is_some() || (self.title.is_some() && env.stdin.is_terminal()));
        // An agent can't leave an editor.
        let is_opened = is_without_text && self.from.is_none() && env.editor.is_some() && env.agent_session().is_none();
        let stdin = || (!is_without_text).then(|| "-".to_owned());
        let body = text_or_stdin(given.or_else(stdin), env)?;
        let (tool, found) = env.agent_session().map(|session| (session.tool, session.id)).unzip();
        let session = self.session.or(found.flatten());
        let tool = tool.or(session.is_some().then_some(UNKNOWN_TOOL)).map(str::to_owned);
        let by = self.by.or(tool);
        let is_generated = by.is_some();
        let custom = [by.map(generated_by), session.map(|id| (SESSION.to_owned(), id))];
        let supersedes = self.note.supersedes.clone();
        let fields = NewFields { title: self.title, body, ..self.note.into_fields(custom.into_iter().flatten())? };
        Ok(invocation.change(Action::Create { fields, is_generated, is_opened, supersedes, from: self.from }))
    }
}

/// Parses the name of a program. `false` and `null` would say that no program wrote the note.
fn program(text: &str) -> Result<String, String> {
    let is_absent = |name: &String| ["false", "null", "~"].contains(&name.as_str());
    parse_name(text).and_then(|name| if is_absent(&name) { Err("expected a name".to_owned()) } else { Ok(name) })
}

#[derive(Debug, Args)]
pub(super) struct UpdateArgs {
    /// The notes
    #[arg(required_unless_present = "where", value_name = "ID")]
    ids: Vec<String>,
    /// Change all notes that match a filter, such as 'tag = linux' (repeatable)
    #[arg(id = "where", long = "where", value_name = "FILTER", conflicts_with = "ids")]
    filters: Vec<String>,
    /// Allow a change of more than 20 notes
    #[arg(long, requires = "where")]
    yes: bool,
    /// A new title; the file name, aliases and links follow
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "where")]
    title: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    /// A tag to remove (repeatable, or comma-separated)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    untag: Vec<String>,
    /// Whether a person has checked it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    verified: Option<bool>,
    /// The text below the frontmatter; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// A paragraph to add at the end; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "body")]
    append: Option<String>,
    /// Replace a text that occurs exactly once; `-` reads one of the two from standard input
    #[arg(long, value_names = ["OLD", "NEW"], num_args = 2, allow_hyphen_values = true,
        conflicts_with_all = ["body", "append"])]
    replace: Option<Vec<String>>,
    /// Replace only the text below this heading with --body; `A › B` names heading B below A
    #[arg(long, value_name = "HEADING", requires = "body", conflicts_with_all = ["append", "replace"])]
    section: Option<String>,
    /// Refuse if `show --json` no longer gives this revision
    #[arg(long = "if", value_name = "REV", value_parser = Revision::parse, conflicts_with = "where")]
    revision: Option<Revision>,
}

impl UpdateArgs {
    pub(super) fn into_command(mut self, invocation: &Invocation<'_>) -> Result<Command, Error> {
        let body_edit = self.take_body_edit(invocation.env)?;
        let fields = NewFields {
            title: self.title,
            untags: self.untag,
            verified: self.verified,
            body: text_or_stdin(self.body, invocation.env)?,
            ..self.fields.into_fields()?
        };
        if let [id] = self.ids.as_slice()
            && fields == NewFields::default()
            && body_edit.is_none()
            && self.revision.is_none()
            && invocation.env.stdin.is_terminal()
        {
            return Ok(Command::Write(WriteCommand::Edit { id: id.clone(), now: invocation.now() }));
        }
        let action = Action::Update {
            ids: self.ids,
            filters: self.filters,
            fields,
            body_edit,
            is_generated: false,
            is_confirmed: self.yes,
        };
        Ok(invocation.change_if(self.revision, action))
    }

    /// Takes the change of a part of the body out of the arguments.
    fn take_body_edit(&mut self, env: &Env) -> Result<Option<BodyEdit>, Error> {
        if let Some(text) = text_or_stdin(self.append.take(), env)? {
            if text.trim().is_empty() {
                return Err(Error::usage("there is nothing to append").hint("give some text"));
            }
            return Ok(Some(BodyEdit::Append(text)));
        }
        if let Some(texts) = self.replace.take() {
            return passages(texts, env).map(Some);
        }
        let Some(heading) = self.section.take() else { return Ok(None) };
        if heading.trim().is_empty() {
            return Err(Error::usage("the heading is empty"));
        }
        let text = text_or_stdin(self.body.take(), env)?.unwrap_or_default();
        Ok(Some(BodyEdit::Section { heading, text }))
    }
}

/// Reads the texts of `--replace`. One from standard input loses its final line ending, which shells add.
fn passages(texts: Vec<String>, env: &Env) -> Result<BodyEdit, Error> {
    if texts.iter().all(|text| text == "-") {
        return Err(Error::usage("only one of the two texts can be read from standard input"));
    }
    let read = |text: String| {
        let is_stdin = text == "-";
        let mut text = text_or_stdin(Some(text), env)?.unwrap_or_default();
        if is_stdin && text.ends_with('\n') {
            text.truncate(text.len() - if text.ends_with("\r\n") { 2 } else { 1 });
        }
        Ok(text)
    };
    let mut texts = texts.into_iter().map(read).collect::<Result<Vec<_>, Error>>()?.into_iter();
    let (old, new) = (texts.next().unwrap_or_default(), texts.next().unwrap_or_default());
    if old.is_empty() {
        return Err(Error::usage("the text to replace is empty"));
    }
    Ok(BodyEdit::Replace { old, new })
}

/// Splits a pair at its first separator and trims both sides. `form` names the form in errors.
fn split(pair: &str, separator: char, form: &str) -> Result<(String, String), Error> {
    match pair.split_once(separator) {
        Some((left, right)) if !left.trim().is_empty() => Ok((left.trim().to_owned(), right.trim().to_owned())),
        _ => Err(Error::usage(format!("`{pair}` is not {form}"))),
    }
}
