//! The words of the commands that change notes.

use clap::{Args, Subcommand};

use super::examples;
use super::values::value;
use crate::env::Env;
use crate::error::Error;
use crate::request::{Action, InitRequest, NewFields, NewNote};
use crate::store::Location;

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Keep the store out of git
    #[arg(long)]
    stealth: bool,
    /// Name it `qipu/`, which everybody sees, in place of `.qipu/`
    #[arg(long)]
    visible: bool,
    /// Let the store that is there say how far its notes can be relied on: trust, confidence, verified
    #[arg(long)]
    trust: bool,
}

impl InitArgs {
    pub(super) fn into_request(self, location: Location, is_dry_run: bool) -> InitRequest {
        InitRequest {
            root: location.root,
            store: location.store,
            is_stealth: self.stealth,
            is_visible: self.visible,
            is_trusted: self.trust,
            settings: location.settings,
            is_dry_run,
        }
    }
}

/// Fields that new and old notes can be given.
#[derive(Debug, Args)]
#[command(next_help_heading = "Fields")]
struct FieldArgs {
    /// The type: fleeting, literature, permanent, moc, journal, or your own
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// A tag to add (repeatable, or with commas between)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    tag: Vec<String>,
    /// How much it is worth, 0 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value)]
    value: Option<u8>,
    /// Where it comes from (repeatable)
    #[arg(long, value_name = "URL")]
    source: Vec<String>,
    /// One or two sentences
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    summary: Option<String>,
    /// A custom field (repeatable)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Fields that are not custom, and how each is set.
const OWN_FIELDS: [(&str, &str); 8] = [
    ("id", "an id stays as it is"),
    ("links", "use `qipu link add ID ID --type TYPE`"),
    ("sources", "use --source URL"),
    ("summary", "use --summary TEXT"),
    ("tags", "use --tag TAG"),
    ("title", "use `qipu rename ID TITLE`, or `qipu update ID --title TITLE`"),
    ("type", "use --type TYPE"),
    ("value", "use --value N"),
];

impl FieldArgs {
    fn into_fields(self) -> Result<NewFields, Error> {
        let given = [("--tag", &self.tag), ("--source", &self.source)];
        if let Some((flag, _)) = given.into_iter().find(|(_, texts)| texts.iter().any(|text| text.trim().is_empty())) {
            return Err(Error::usage(format!("{flag} is given without a text")));
        }
        let custom: Result<Vec<_>, Error> = self.set.iter().map(|pair| split(pair, '=', "KEY=VALUE")).collect();
        let custom = custom?;
        if let Some((name, hint)) = OWN_FIELDS.iter().find(|(name, _)| custom.iter().any(|(key, _)| key == name)) {
            return Err(Error::usage(format!("--set is for custom fields, and `{name}` is not one")).hint(*hint));
        }
        Ok(NewFields {
            kind: self.kind,
            value: self.value,
            summary: self.summary,
            tags: self.tag,
            sources: self.source.iter().map(|url| url.trim().to_owned()).collect(),
            custom,
            ..NewFields::default()
        })
    }
}

#[derive(Debug, Args)]
pub(super) struct CreateArgs {
    /// The title
    title: String,
    #[command(flatten)]
    fields: FieldArgs,
    /// A typed link (repeatable)
    #[arg(long, value_name = "TYPE:ID")]
    link: Vec<String>,
    /// The text below the frontmatter; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
    /// Open it in your editor when it is made ($VISUAL, else $EDITOR)
    #[arg(long)]
    open: bool,
}

impl CreateArgs {
    pub(super) fn opens_editor(&self) -> bool {
        self.open
    }

    pub(super) fn into_action(self, env: &Env) -> Result<Action, Error> {
        let links: Result<Vec<_>, Error> = self.link.iter().map(|pair| split(pair, ':', "TYPE:ID")).collect();
        let fields = NewFields { links: links?, body: text(self.body, env)?, ..self.fields.into_fields()? };
        Ok(Action::Create(NewNote { title: Some(self.title), fields, is_generated: false }))
    }
}

#[derive(Debug, Args)]
pub(super) struct CaptureArgs {
    /// The thought; without it, standard input is read
    #[arg(value_parser = super::search::word)]
    text: Option<String>,
    /// The title, in place of the first line
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
}

impl CaptureArgs {
    pub(super) fn into_action(self, env: &Env) -> Result<Action, Error> {
        let body = text(Some(self.text.unwrap_or_else(|| "-".to_owned())), env)?;
        let fields = NewFields { body, ..self.fields.into_fields()? };
        Ok(Action::Create(NewNote { title: self.title, fields, is_generated: false }))
    }
}

#[derive(Debug, Args)]
pub(super) struct UpdateArgs {
    /// The notes
    #[arg(required = true, value_name = "ID")]
    ids: Vec<String>,
    /// The title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    fields: FieldArgs,
    /// A tag to take away (repeatable, or with commas between)
    #[arg(long, value_name = "TAG", value_delimiter = ',', value_parser = trimmed)]
    untag: Vec<String>,
    /// Whether a person has checked it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    verified: Option<bool>,
    /// The text below the frontmatter; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    body: Option<String>,
}

impl UpdateArgs {
    pub(super) fn into_action(self, env: &Env) -> Result<Action, Error> {
        let fields = NewFields {
            title: self.title,
            untags: self.untag,
            verified: self.verified,
            body: text(self.body, env)?,
            ..self.fields.into_fields()?
        };
        Ok(Action::Update { ids: self.ids, fields })
    }
}

/// Parses an item of a list that is written with commas: spaces around it do not belong to it.
pub(super) fn trimmed(text: &str) -> Result<String, std::convert::Infallible> {
    Ok(text.trim().to_owned())
}

/// Returns a text; `-` stands for standard input, which is never read unasked.
pub(super) fn text(given: Option<String>, env: &Env) -> Result<Option<String>, Error> {
    match given.as_deref() {
        Some("-") => {
            let read = (env.stdin)();
            read.map(|text| Some(text.trim_start_matches('\u{feff}').to_owned()))
                .map_err(|error| Error::usage(format!("can't read the text from standard input: {error}")))
        }
        _ => Ok(given),
    }
}

fn split(pair: &str, mark: char, form: &str) -> Result<(String, String), Error> {
    match pair.split_once(mark) {
        Some((left, right)) if !left.trim().is_empty() => Ok((left.trim().to_owned(), right.trim().to_owned())),
        _ => Err(Error::usage(format!("`{pair}` is not {form}"))),
    }
}

#[derive(Debug, Subcommand)]
pub(super) enum TagsSub {
    /// Give a tag another name in every note
    #[command(after_help = examples::TAGS_RENAME)]
    Rename {
        /// The tag
        from: String,
        /// Its new name
        to: String,
    },
}
