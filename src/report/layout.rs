//! The layout of each kind of report: what renderers write around entries and how they show a note. Renderers read this
//! table, so that a new kind of report needs no change in any of them.

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
    pub name: &'static str,
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
    /// The text for people in place of entries, where there is none, with the names of facts in braces.
    pub empty_text: &'static str,
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
    /// A line that names the source of the notes.
    Hook,
    /// What a reader of passages would miss, and no title.
    Answer,
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
    /// A step of a path: a note with its links to the one before.
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
    /// That the note has no links, else as [`AnswerFooter::NotesShown`].
    LinksShown,
    /// That entries are left out, if some are.
    EntriesLeftOut,
    /// The commands to run in a new store, if the configuration was created.
    NextSteps,
    /// The same for a store of the user's own.
    OwnNextSteps,
    /// That the store was found above the current directory, and how to make one there.
    StoreAbove,
}

/// The default, which the others vary.
pub(crate) const LIST: Layout = Layout {
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
pub(crate) const SEARCH: Layout = Layout { name: "search", ..LIST };
pub(crate) const RELATED: Layout = Layout {
    name: "search.like",
    empty_text: "No similar notes that are not linked yet.\n",
    has_notices: false,
    ..LIST
};
/// Is written as JSON or as a page only. No list of rows: those are written in parts, and an export goes to a file whole.
pub(crate) const EXPORT_LINKS: Layout =
    Layout { name: "export.links", lists: &["notes", LINKS], note: NoteLayout::Step, ..LIST };
pub(crate) const CONTEXT: Layout = Layout {
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
/// The passages that answer a question.
pub(crate) const ASK: Layout = Layout { header: Some(Header::Answer), empty_text: "No note matches.\n", ..CONTEXT };
pub(crate) const ABOUT: Layout = Layout { name: "about", empty_text: "\nNo note names it.\n", ..CONTEXT };
/// More text of notes that an earlier bundle showed, and the notes behind or against them.
pub(crate) const EXPANSION: Layout = Layout {
    name: "context.expand",
    lists: &["notes", LINKS],
    header: Some(Header::Expansion),
    note: NoteLayout::Section,
    empty_text: "",
    has_notices: false,
    has_banner_in_records: true,
    ..LIST
};
pub(crate) const PRIME: Layout = Layout {
    name: "prime",
    lists: &["about", "commands", "overview", "journals", "decisions", "mocs", "notes"],
    header: Some(Header::Primer),
    note: NoteLayout::Item,
    ..EXPANSION
};
/// The notes that a hook adds to the context of a session.
pub(crate) const HOOK_NOTES: Layout = Layout { name: "hook", header: Some(Header::Hook), ..EXPANSION };
/// A text that a hook shows.
pub(crate) const HOOK_TEXT: Layout = Layout { name: "hook", lists: &["text"], ..STATUS };
pub(crate) const LINK_LIST: Layout = Layout {
    name: "link.list",
    lists: &["notes", LINKS, "unresolved"],
    note: NoteLayout::Branch,
    footer: AnswerFooter::LinksShown,
    empty_text: "",
    has_notices: false,
    ..LIST
};
pub(crate) const LINK_TREE: Layout = Layout { name: "link.tree", lists: &["notes", LINKS, SPANNING_TREE], ..LINK_LIST };
/// The tree of a walk of no hops, in which the missing links mean nothing.
pub(crate) const LINK_ROOT: Layout = Layout { footer: AnswerFooter::NotesShown, ..LINK_TREE };
pub(crate) const LINK_PATH: Layout = Layout {
    name: "link.path",
    lists: &["notes", LINKS],
    note: NoteLayout::Step,
    empty_text: "",
    has_notices: false,
    ..LIST
};
pub(crate) const NO_LINK_PATH: Layout =
    Layout { footer: AnswerFooter::Nothing, empty_text: "No path from {from} to {to}{within}.\n", ..LINK_PATH };
pub(crate) const SHOW: Layout = Layout {
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
pub(crate) const JOURNAL: Layout =
    Layout { name: "journal", lists: &["notes"], empty_text: "There is no journal of {date}.\n", ..SHOW };
pub(crate) const EVAL: Layout = Layout {
    name: "eval",
    lists: &["figures", "misses", "false_answers"],
    footer: AnswerFooter::EntriesLeftOut,
    empty_text: "",
    has_notices: false,
    counts_notes: false,
    ..LIST
};
pub(crate) const REVIEW: Layout =
    Layout { name: "review", lists: &["worklist"], empty_text: "Nothing to review.\n", has_notices: true, ..EVAL };
pub(crate) const TASKS: Layout =
    Layout { name: "tasks", lists: &["tasks"], empty_text: "No task matches.\n", has_notices: true, ..EVAL };
pub(crate) const HISTORY: Layout = Layout { name: "history", lists: &["versions"], ..EVAL };
pub(crate) const DIFF: Layout =
    Layout { name: "history.notes", lists: &["differences"], empty_text: "No note differs.\n", ..EVAL };
pub(crate) const STATUS: Layout =
    Layout { name: "status", lists: STATUS_LISTS, footer: AnswerFooter::Nothing, is_divisible: false, ..EVAL };
const STATUS_LISTS: &[&str] = &["collections", "counts", "types", "tags", "findings"];
pub(crate) const SETUP: Layout = Layout { name: "setup", lists: &["recipes", "changes", "text"], ..STATUS };
pub(crate) const DOCTOR: Layout =
    Layout { name: "doctor", lists: &["findings", "changes"], empty_text: "No problems found.\n", ..STATUS };
/// A review that updates references to code, which is shown whole.
pub(crate) const REVIEW_FIX: Layout =
    Layout { name: "review", lists: &["worklist", "findings", "changes"], is_divisible: false, ..REVIEW };
pub(crate) const CHANGE: Layout =
    Layout { name: "change", lists: &["changes", "findings"], empty_text: "Nothing to do.\n", ..STATUS };
pub(crate) const IMPORT: Layout = Layout { lists: &["changes", "findings", "counts"], ..CHANGE };
pub(crate) const INIT: Layout = Layout {
    lists: &["changes", "findings", "documents", "history"],
    footer: AnswerFooter::NextSteps,
    empty_text: "",
    ..CHANGE
};
pub(crate) const INIT_OWN: Layout = Layout { footer: AnswerFooter::OwnNextSteps, ..INIT };
pub(crate) const INIT_ABOVE: Layout = Layout { footer: AnswerFooter::StoreAbove, ..INIT };

impl Default for &Layout {
    fn default() -> Self {
        &LIST
    }
}
