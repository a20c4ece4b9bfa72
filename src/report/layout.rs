//! The layout of each kind of report: what renderers write around entries and how they show a note. Renderers read this
//! table, so that a new kind of report needs no change in any of them.

use std::borrow::Cow;

use super::{ReportKind, RowValue};

/// The JSON array of edges.
pub const LINKS: &str = "links";
/// The JSON array of patterns, and the intent of a question that asks for them.
pub const PATTERNS: &str = "patterns";
/// The JSON object of a comparison, and the intent of a question that asks for one.
pub const COMPARISON: &str = "comparison";
/// The JSON array of the edges by which a walk reached each note.
pub const SPANNING_TREE: &str = "spanning_tree";

/// The parts of an answer that depend on the kind of its report alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The name of the kind, the `mode` of JSON and records; of a change, the name of its command replaces it.
    name: &'static str,
    /// The members of the JSON object that contain entries, in their order. An entry without one goes into the last.
    pub lists: &'static [&'static str],
    /// Whether JSON has the lists of links, patterns and comparisons only if there is something for them.
    pub has_optional_lists: bool,
    /// The header for people; `None` for an answer that begins with its first entry.
    pub header: Option<Header>,
    /// The form of a note for people.
    pub note: NoteLayout,
    /// The last line for people.
    pub footer: AnswerFooter,
    /// The text for people in place of entries, where there is none. [`ReportKind::empty_text`] completes it.
    empty_text: &'static str,
    /// Whether the budget may leave entries out. The effect of a change is shown whole or not at all.
    pub is_divisible: bool,
    /// Whether the head counts notes.
    pub counts_notes: bool,
    /// Whether people read of corrected words and unknown names before the entries.
    pub has_notices: bool,
    /// Whether JSON shows bodies unless the request hides them.
    pub has_body_in_json: bool,
    /// Whether records show bodies unless the request hides them.
    pub has_body_in_records: bool,
    /// Whether records have the banner unless the request hides it.
    pub has_banner_in_records: bool,
}

/// The lines for people before the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// A title, the store, the numbers of notes and the understanding of the question.
    Bundle,
    /// A title alone.
    Expansion,
    /// A title and the store.
    Primer,
}

/// The form of a note for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteLayout {
    /// A heading, the fields of the note, then its text between rules.
    Section,
    /// The fields of the note, then its body.
    Document,
    /// A row of a list, with the evidence of the search below it.
    Row,
    /// A row of a list, with its links below it.
    RowWithLinks,
    /// A step of a path.
    Step,
    /// An item below the heading of its group.
    Item,
    /// A branch of a drawn tree.
    Branch,
}

/// The last line for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerFooter {
    /// None.
    Nothing,
    /// The number of notes shown, if some are left out.
    NotesShown,
    /// That the note has no links, else as [`Footer::NotesShown`].
    LinksShown,
    /// That entries are left out, if some are.
    EntriesLeftOut,
    /// The commands to run in a new store, if the configuration was created.
    NextSteps,
}

/// The layout that the others vary: a list of notes.
const LIST: Layout = Layout {
    name: "list",
    lists: &["notes"],
    has_optional_lists: false,
    header: None,
    note: NoteLayout::Row,
    footer: AnswerFooter::NotesShown,
    empty_text: "No note matches.\n",
    is_divisible: true,
    counts_notes: true,
    has_notices: true,
    has_body_in_json: false,
    has_body_in_records: false,
    has_banner_in_records: false,
};
const SEARCH: Layout = Layout { name: "search", ..LIST };
const RELATED: Layout =
    Layout { name: "related", empty_text: "No similar notes that are not linked yet.\n", has_notices: false, ..LIST };
const GRAPH: Layout = Layout { name: "graph", lists: &["notes", LINKS], note: NoteLayout::RowWithLinks, ..LIST };
const CONTEXT: Layout = Layout {
    name: "context",
    lists: &["notes", LINKS, PATTERNS, COMPARISON],
    has_optional_lists: true,
    header: Some(Header::Bundle),
    note: NoteLayout::Section,
    footer: AnswerFooter::Nothing,
    empty_text: "\nNo note matches.\n",
    has_body_in_json: true,
    has_banner_in_records: true,
    ..LIST
};
const EXPANSION: Layout = Layout {
    name: "context.expand",
    lists: &["notes", LINKS],
    header: Some(Header::Expansion),
    note: NoteLayout::Section,
    empty_text: "",
    has_notices: false,
    has_banner_in_records: true,
    ..LIST
};
const PRIME: Layout = Layout {
    name: "prime",
    lists: &["about", "commands", "overview", "journals", "decisions", "mocs", "notes"],
    header: Some(Header::Primer),
    note: NoteLayout::Item,
    ..EXPANSION
};
const LINK_LIST: Layout = Layout {
    name: "link.list",
    lists: &["notes", LINKS, "unresolved"],
    note: NoteLayout::Branch,
    footer: AnswerFooter::LinksShown,
    empty_text: "",
    has_notices: false,
    ..LIST
};
const LINK_TREE: Layout = Layout { name: "link.tree", lists: &["notes", LINKS, SPANNING_TREE], ..LINK_LIST };
/// The tree of a walk of no hops, in which the missing links mean nothing.
const LINK_ROOT: Layout = Layout { footer: AnswerFooter::NotesShown, ..LINK_TREE };
const LINK_PATH: Layout = Layout {
    name: "link.path",
    lists: &["notes", LINKS],
    note: NoteLayout::Step,
    empty_text: "",
    has_notices: false,
    ..LIST
};
const NO_LINK_PATH: Layout = Layout { footer: AnswerFooter::Nothing, empty_text: "No path", ..LINK_PATH };
const SHOW: Layout = Layout {
    name: "show",
    lists: &["notes", LINKS, "unresolved", "text"],
    note: NoteLayout::Document,
    empty_text: "",
    has_notices: false,
    has_body_in_json: true,
    has_body_in_records: true,
    has_banner_in_records: true,
    ..LIST
};
const JOURNAL: Layout = Layout { name: "journal", lists: &["notes"], empty_text: "There is no journal of", ..SHOW };
const EVAL: Layout = Layout {
    name: "eval",
    lists: &["figures", "misses", "false_answers"],
    footer: AnswerFooter::EntriesLeftOut,
    empty_text: "",
    has_notices: false,
    counts_notes: false,
    ..LIST
};
const STATUS: Layout =
    Layout { name: "status", lists: &["counts", "types"], footer: AnswerFooter::Nothing, is_divisible: false, ..EVAL };
const INDEX: Layout = Layout { name: "index", lists: &["counts"], ..STATUS };
const TAGS: Layout = Layout { name: "tags", lists: &["tags"], ..STATUS };
const SETUP: Layout = Layout { name: "setup", lists: &["recipes", "changes", "text"], ..STATUS };
const DOCTOR: Layout =
    Layout { name: "doctor", lists: &["findings", "changes"], empty_text: "No problems found.\n", ..STATUS };
const CHANGE: Layout =
    Layout { name: "change", lists: &["changes", "findings"], empty_text: "Nothing to do.\n", ..STATUS };
const IMPORT: Layout = Layout { lists: &["changes", "findings", "counts"], ..CHANGE };
const INIT: Layout = Layout { footer: AnswerFooter::NextSteps, empty_text: "", ..CHANGE };

impl ReportKind {
    /// Returns the layout of a report of this kind.
    pub fn layout(&self) -> &'static Layout {
        match self {
            Self::Context => &CONTEXT,
            Self::Expansion => &EXPANSION,
            Self::Prime => &PRIME,
            Self::LinkList { .. } => &LINK_LIST,
            Self::LinkTree { max_hops: 0, .. } => &LINK_ROOT,
            Self::LinkTree { .. } => &LINK_TREE,
            Self::LinkPath { length: None, .. } => &NO_LINK_PATH,
            Self::LinkPath { .. } => &LINK_PATH,
            Self::Graph => &GRAPH,
            Self::List => &LIST,
            Self::Search => &SEARCH,
            Self::Related { .. } => &RELATED,
            Self::Show => &SHOW,
            Self::Journal { .. } => &JOURNAL,
            Self::Tags => &TAGS,
            Self::Status => &STATUS,
            Self::Index => &INDEX,
            Self::Doctor => &DOCTOR,
            Self::Eval => &EVAL,
            Self::Setup => &SETUP,
            Self::Change { command: "import", .. } => &IMPORT,
            Self::Change { command: "init", is_dry_run: false } => &INIT,
            Self::Change { .. } => &CHANGE,
        }
    }

    /// Returns the facts that JSON and the first record begin with: the `mode`, then what the kind carries. Records
    /// leave out a [`RowValue::Nothing`], which is `null` in JSON.
    pub fn facts(&self) -> Vec<(&'static str, RowValue)> {
        let text = |text: &dyn ToString| RowValue::Name(text.to_string());
        let own = match self {
            Self::LinkList { id, direction } => vec![("id", text(id)), ("direction", text(direction))],
            Self::LinkTree { root, direction, max_hops } => {
                vec![("root", text(root)), ("direction", text(direction)), ("max_hops", RowValue::Count(*max_hops))]
            }
            Self::LinkPath { from, to, direction, length } => vec![
                ("from", text(from)),
                ("to", text(to)),
                ("direction", text(direction)),
                ("found", RowValue::Flag(length.is_some())),
                ("path_length", length.map_or(RowValue::Nothing, RowValue::Count)),
            ],
            Self::Related { id } => vec![("id", text(id))],
            Self::Journal { day } => vec![("date", text(day))],
            Self::Change { is_dry_run, .. } => vec![("dry_run", RowValue::Flag(*is_dry_run))],
            _ => Vec::new(),
        };
        let name = match self {
            Self::Change { command, .. } => command,
            _ => self.layout().name,
        };
        [("mode", text(&name))].into_iter().chain(own).collect()
    }

    /// Returns the text for people in place of entries. `is_limited`: whether limits ended a search for a path.
    pub fn empty_text(&self, is_limited: bool) -> Cow<'static, str> {
        let text = self.layout().empty_text;
        match self {
            Self::LinkPath { from, to, length: None, .. } => {
                let within = if is_limited { " within the limits" } else { "" };
                format!("{text} from {from} to {to}{within}.\n").into()
            }
            Self::Journal { day } => format!("{text} {day}.\n").into(),
            _ => text.into(),
        }
    }
}
