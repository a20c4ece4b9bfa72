//! The human format: markdown for bundles, drawn trees for links, lists for the rest.

use std::borrow::Cow;

use super::level_text::NoteView;
use super::list_rows::{ColumnWidths, table_line};
use super::note_writer::NoteWriter;
use super::paint::TextRole as As;
use super::prose::guarded_lines;
use super::summary_lines::{
    analysis_line, comparison_lines, pattern_line, reason_line, spelling_lines, stats_lines, tail_lines,
    unknown_name_lines, weak_match_line,
};
use super::tool_marks::without_marks_in_lines;
use super::{
    EntryText, Frame, FrameState, Included, RenderEntry, Renderer, SOURCE, Screen, ShownPart, banner_line, highlight,
    insufficient, joined_ids, joined_lines, shows_body, tree,
};
use crate::escape::{escape_lines, one_line};
use crate::report::{
    AnswerFooter, ChangeEntry, EdgeEntry, Entry, EntryRole, FormatDetail, Header, LinkedNote, NoteEntry, NoteLayout,
    OverviewEntry, Report, SnippetText, counted,
};
use crate::tokens::Tokenizer;

/// The file that every new store gets.
const CONFIG: &str = "config.toml";

/// The commands to run in a new store.
const NEXT_STEPS: &str =
    "Next: `qipu setup` lists the agent tools that qipu can set up; `qipu capture` creates a note.\n";
const OWN_NEXT_STEPS: &str = "Next: `qipu capture --in user` creates a note in it, from every folder.\n";
/// How to make another store than the one above.
const STORE_ABOVE: &str = "This store counts here too; `qipu init .` makes one in this folder.\n";

/// Writes a report for people.
pub(super) struct Human<'a> {
    report: &'a Report,
    screen: Screen,
    notes: NoteWriter<'a>,
    widths: ColumnWidths,
}

impl<'a> Human<'a> {
    pub(super) fn new(report: &'a Report, screen: Screen, tokenizer: Tokenizer) -> Self {
        let notes = NoteWriter { report, screen, tokenizer };
        Self { report, screen, notes, widths: ColumnWidths::of(report, screen) }
    }
}

impl Renderer for Human<'_> {
    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let (head, layout) = (&self.report.head, self.report.head.layout);
        let has_reason = shown.stats.is_some() || head.insufficient.is_some();
        let is_empty = shown.is_empty && self.report.entries.is_empty() && !has_reason;
        let empty_text = if is_empty { head.empty_text() } else { String::new() };
        let unknown = if layout.has_notices { unknown_name_lines(head, shown) } else { String::new() };
        // The last line of a list tells how much of it is shown.
        let footer = tail_lines(self.report, shown) + &self.footer(layout.footer, shown);
        let (before, after) = match layout.header {
            Some(header) => (self.header(header, shown), format!("{empty_text}{unknown}{footer}")),
            None => {
                let spellings = if layout.has_notices { spelling_lines(head, shown) } else { String::new() };
                (format!("{}{spellings}{empty_text}{unknown}", weak_match_line(head, shown)), footer)
            }
        };
        // Without `--banner`, people read no banner.
        let mut banner = banner_line(self.report, false, "> ");
        if !banner.is_empty() && layout.header.is_none() {
            // Else markdown would take the next line for a part of the quotation.
            banner.push('\n');
        }
        let lines = [banner + &before, after].map(|text| without_marks_in_lines(&text).into_owned());
        Frame(lines.map(|text| self.notes.wrapped(text)).into())
    }

    fn separator(&self, _section: usize) -> &'static str {
        if self.report.head.show.has_pages { "\n" } else { "" }
    }

    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let mut out = self.entry(index, shown_part, included);
        if self.is_of_lines(&self.report.entries[index]) {
            for item in &mut out.items {
                if let Cow::Owned(guarded) = guarded_lines(&item.text) {
                    item.text = guarded;
                }
            }
        }
        out
    }
    fn detail(&self, entry: &Entry) -> FormatDetail {
        let is_whole = matches!(self.report.head.layout.note, NoteLayout::Section | NoteLayout::Document);
        match entry.note() {
            // Styled markdown may be shorter than its source.
            Some(entry) if entry.assessment.is_some() || self.screen.columns.is_some() => FormatDetail::Name,
            Some(entry) if entry.role == EntryRole::Selected && is_whole => {
                if shows_body(self.report, true) {
                    FormatDetail::Body
                } else {
                    FormatDetail::Summary
                }
            }
            _ => FormatDetail::Name,
        }
    }

    fn is_linear(&self) -> bool {
        !self.notes.is_tree()
    }

    fn assemble(&self, frame: &Frame, texts: &[(usize, EntryText)]) -> String {
        match frame.0.as_slice() {
            [before, after] if self.notes.is_tree() => {
                format!("{before}{}{after}", tree::draw(&self.report.entries, texts))
            }
            _ => super::join(frame, texts, |section| self.separator(section)),
        }
    }
}

impl Human<'_> {
    fn entry(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let text = match &self.report.entries[index] {
            Entry::Note(entry) => return self.note(NoteView { index, entry, shown_part, included }),
            Entry::Change(change) => return EntryText::of(self.change(change)),
            Entry::Unresolved { target, .. } => {
                let indent = if self.notes.is_tree() { tree::indent(1) } else { String::new() };
                format!("{indent}(missing) {}\n", one_line(target))
            }
            Entry::About(text) => format!("\n{text}\n"),
            Entry::Command { line, purpose, .. } => {
                let line = self.screen.paint(As::Code, &format!("`{line}`"));
                format!("{}- {line}: {purpose}\n", self.heading(index, included))
            }
            Entry::Overview(overview) => format!("\n{}\n", self.overview(overview)),
            Entry::Recipe(recipe) => self.screen.recipe_line(recipe),
            Entry::Link(edge, note) => self.link_line(edge, note),
            Entry::Tag(tag, count) => format!("{count:>5}  tagged {}\n", self.screen.paint(As::Tag, &one_line(tag))),
            Entry::Fact(name, count) => format!("{count:>5}  {}\n", one_line(name)),
            Entry::Kind(kind, count) => format!("{count:>5}  of type {}\n", one_line(kind)),
            Entry::Finding(finding) => self.screen.finding_line(finding),
            Entry::Row(row) => table_line(row),
            Entry::Comparison(comparison) => format!("\n## Comparison\n{}", comparison_lines(comparison)),
            Entry::Pattern(pattern) => self.heading(index, included) + &pattern_line(pattern),
            Entry::Text(text) if self.screen.is_terminal => escape_lines(text),
            Entry::Text(text) => text.clone(),
        };
        self.wrapped(text)
    }

    fn link_line(&self, edge: &EdgeEntry, note: &LinkedNote) -> String {
        let kind = self.screen.paint(As::Link, &one_line(&edge.kind));
        let kind = if edge.is_backward { format!("← {kind}") } else { format!("{kind} →") };
        let place = note.collection.as_ref().map(|name| format!("in {name}"));
        let state: Vec<String> = place.into_iter().chain(note.status.map(str::to_owned)).collect();
        let state = if state.is_empty() { String::new() } else { format!(" [{}]", state.join(", ")) };
        format!("{kind} {} ({}){state}\n", one_line(&note.title), edge.to)
    }

    /// Whether the text of an entry is lines in which names and fields of notes can stand first, and no text of its own, a
    /// diff or words of the program.
    fn is_of_lines(&self, entry: &Entry) -> bool {
        match entry {
            Entry::Note(_) => !matches!(self.report.head.layout.note, NoteLayout::Section | NoteLayout::Document),
            Entry::Link(..) | Entry::Row(_) | Entry::Tag(..) | Entry::Kind(..) | Entry::Pattern(_) => true,
            Entry::Comparison(_) | Entry::Unresolved { .. } | Entry::Overview(_) => true,
            Entry::Fact(..) | Entry::Finding(_) | Entry::Recipe(_) | Entry::Change(_) | Entry::Text(_) => false,
            Entry::About(_) | Entry::Command { .. } => false,
        }
    }

    fn wrapped(&self, text: String) -> EntryText {
        EntryText::of(self.notes.wrapped(text))
    }

    fn header(&self, header: Header, shown: FrameState<'_>) -> String {
        let head = &self.report.head;
        let store = one_line(head.store.as_deref().unwrap_or_default());
        let mut text = match header {
            Header::Bundle => {
                let title = self.screen.paint(As::Title, "# Qipu Context Bundle");
                format!("{title}\nStore: {store}\n{}", self.bundle_lines(shown))
            }
            Header::Expansion => "# Qipu Expansion\n".to_owned(),
            Header::Primer => format!("# qipu: the memory of this project\nStore: {store}\n"),
            Header::Hook => return format!("{SOURCE}\n{}", weak_match_line(head, shown)),
            Header::Answer => self.answer_lines(shown),
        };
        if header != Header::Primer {
            if head.matched > 0 && shown.is_empty && !self.report.entries.is_empty() {
                text.push_str(if shown.tail.is_behind_all { "Nothing more.\n" } else { "Nothing fits.\n" });
            }
            let reason = insufficient(self.report, &shown).filter(|_| shown.stats.is_none());
            text.extend(reason.map(reason_line));
            text.extend(shown.stats.map(|stats| stats_lines(stats, shown)));
        }
        text
    }

    /// Returns what a reader of passages alone would miss: the weakness of the match and the understanding of the question.
    fn answer_lines(&self, shown: FrameState<'_>) -> String {
        let head = &self.report.head;
        let mut text = weak_match_line(head, shown) + &spelling_lines(head, shown);
        let analysis = head.analysis.as_ref().filter(|analysis| !shown.is_brief && analysis.is_more_than_words());
        text.extend(analysis.map(|analysis| analysis_line(analysis, false)));
        text.extend(shown.omissions.sentence().map(|sentence| format!("There is {sentence}.\n")));
        if !text.is_empty() && !shown.is_empty {
            text.push('\n');
        }
        text
    }

    /// Returns the number of notes and the understanding of the question.
    fn bundle_lines(&self, shown: FrameState<'_>) -> String {
        let head = &self.report.head;
        let mut text = format!("Notes: {}", shown.notes);
        if shown.is_truncated {
            text.push_str(&format!(" of {} (truncated)", head.matched));
        }
        text.push('\n');
        text.push_str(&weak_match_line(head, shown));
        text.push_str(&spelling_lines(head, shown));
        let analysis = head.analysis.as_ref().filter(|analysis| !shown.is_brief && analysis.is_more_than_words());
        text.extend(analysis.map(|analysis| analysis_line(analysis, true)));
        text.extend(shown.omissions.sentence().map(|sentence| format!("There is {sentence}.\n")));
        text
    }

    fn footer(&self, footer: AnswerFooter, shown: FrameState<'_>) -> String {
        let is_new = |entry: &Entry| matches!(entry, Entry::Change(change) if change.action == "created" && change.path.ends_with(CONFIG));
        match footer {
            AnswerFooter::LinksShown if self.report.entries.len() == 1 && !shown.is_truncated => {
                "(no links)\n".to_owned()
            }
            AnswerFooter::NotesShown | AnswerFooter::LinksShown if shown.is_truncated => {
                format!("({} of {} notes shown)\n", shown.notes, self.report.head.matched)
            }
            AnswerFooter::EntriesLeftOut if shown.is_truncated => "(output truncated)\n".to_owned(),
            AnswerFooter::NextSteps if self.report.entries.iter().any(is_new) => NEXT_STEPS.to_owned(),
            AnswerFooter::OwnNextSteps if self.report.entries.iter().any(is_new) => OWN_NEXT_STEPS.to_owned(),
            AnswerFooter::StoreAbove => STORE_ABOVE.to_owned(),
            _ => String::new(),
        }
    }

    fn note(&self, view: NoteView<'_>) -> EntryText {
        match self.report.head.layout.note {
            NoteLayout::Section => self.notes.section(view),
            NoteLayout::Document => self.notes.document(view),
            NoteLayout::Row => EntryText::of(self.row(view.entry)),
            NoteLayout::Step => self.wrapped(self.step(view)),
            NoteLayout::Item => self.item(view),
            NoteLayout::Branch => self.branch(view),
        }
    }

    /// Returns the row of a note, with the evidence of the search below it.
    fn row(&self, entry: &NoteEntry) -> String {
        let hang = self.widths.hang();
        let line = self.screen.list_line(entry, self.widths);
        let Some(found) = &entry.match_info else { return self.notes.hanging(line, hang) };
        let head = self.notes.hanging(format!("{}  {:.2}\n", line.trim_end(), found.relevance), hang);
        let mut text = String::new();
        if found.has_snippet {
            let path = one_line(&self.report.head.path_of(&entry.note));
            text.push_str(&match entry.snippet() {
                // A commit has no file with lines.
                Some(snippet) if entry.note.is_commit() => format!("    {}\n", self.marked(&snippet)),
                Some(snippet) => format!("    {path}:{}: {}\n", snippet.line, self.marked(&snippet)),
                None => format!("    {path}\n"),
            });
        }
        if !found.shared.is_empty() {
            text.push_str(&format!("    shares {}\n", joined_lines(&found.shared, ", ")));
        }
        if !found.common.is_empty() {
            text.push_str(&format!("    both linked with {}\n", joined_ids(&found.common, ", ")));
        }
        if !found.parts.is_empty() {
            let parts: Vec<_> = found.parts.iter().map(|(name, part)| format!("{name} {part:.2}")).collect();
            text.push_str(&format!("    {}\n", parts.join(", ")));
        }
        head + &self.notes.hanging(text, 0)
    }

    /// Emphasises the words of the query, in colour if the screen has colours, else as markdown does.
    fn marked(&self, snippet: &SnippetText) -> String {
        if !self.screen.has_color {
            return highlight::in_markdown(snippet);
        }
        highlight::marked(&snippet.text, snippet.marks.iter(), |word| self.screen.paint(As::Mark, word))
    }

    /// Returns the change of a file. The id comes first, so that a script can cut it off. A diff keeps its lines, since
    /// broken lines would not be those of the file.
    fn change(&self, change: &ChangeEntry) -> String {
        let id = change.id.as_ref().map_or(String::new(), |id| format!("{id} "));
        let action = self.screen.paint(As::Good, change.action);
        let alias = change.alias.as_ref().map_or(String::new(), |alias| format!("    alias: {}\n", one_line(alias)));
        let revision = change.revision.as_ref().filter(|_| self.report.head.show.has_revision);
        let revision = revision.map_or(String::new(), |revision| format!(", revision {revision}"));
        let head = self.notes.wrapped(format!("{id}{action} {}{revision}\n{alias}", one_line(&change.path)));
        head + &self.screen.diff(change.diff.as_deref().unwrap_or_default())
    }

    /// Returns the number of notes, and the most frequent tags or folders.
    fn overview(&self, overview: &OverviewEntry) -> String {
        let notes = match overview.notes {
            0 => "No notes yet.".to_owned(),
            count => counted(count, "note"),
        };
        let journals = match overview.journals {
            0 => String::new(),
            1 => ", 1 of them a journal".to_owned(),
            count => format!(", {count} of them journals"),
        };
        let list = |name: &str, counts: &[(String, usize)]| {
            let item =
                |(text, count): &(String, usize)| format!("{} ({count})", self.screen.paint(As::Tag, &one_line(text)));
            let items: Vec<String> = counts.iter().map(item).collect();
            if items.is_empty() { String::new() } else { format!("; {name}: {}", items.join(", ")) }
        };
        notes + &journals + &list("tags", &overview.tags) + &list("folders", &overview.folders)
    }

    /// Returns a note of the primer, below a heading if it is the first of its group.
    fn item(&self, view: NoteView<'_>) -> EntryText {
        let entry = view.entry;
        let mut text = format!("{}- {}", self.heading(view.index, view.included), self.notes.name(entry));
        let is_recent = entry.role == EntryRole::Recent;
        let (summary, is_cut) = if is_recent { Default::default() } else { view.summary() };
        if !summary.is_empty() {
            text.push_str(&format!(": {summary}"));
        }
        text.push('\n');
        EntryText { is_cut, ..self.wrapped(text) }
    }

    /// Returns the heading of the group of the entry at `index` if the entry is the first included one of the group.
    fn heading(&self, index: usize, included: &Included) -> String {
        let heading = group_heading(&self.report.entries[index]);
        let mut before = self.report.entries.iter().take(index).enumerate();
        if before.any(|(other, entry)| included.has(other) && group_heading(entry) == heading) {
            return String::new();
        }
        format!("\n{}\n", self.screen.paint(As::Title, &format!("## {heading}")))
    }

    /// Returns a step of a path: the links from the note before, then the note.
    fn step(&self, view: NoteView<'_>) -> String {
        let edges: Vec<_> = view.edges().collect();
        let arrow = if edges.is_empty() { String::new() } else { format!("│ {}\n", self.arrow(view.entry, &edges)) };
        format!("{arrow}{}\n", self.notes.name(view.entry))
    }

    /// Returns the types of links with the note before, with an arrow for each direction.
    fn arrow(&self, entry: &NoteEntry, edges: &[&EdgeEntry]) -> String {
        let (inward, outward): (Vec<_>, Vec<_>) = edges.iter().partition(|edge| *edge.drawn_ends().1 == entry.note.id);
        let inward = (!inward.is_empty()).then(|| format!("{} →", self.link_types(&inward)));
        let outward = (!outward.is_empty()).then(|| format!("← {}", self.link_types(&outward)));
        inward.into_iter().chain(outward).collect::<Vec<_>>().join(", ")
    }

    fn link_types(&self, edges: &[&EdgeEntry]) -> String {
        let kinds: Vec<_> = edges.iter().map(|edge| self.screen.paint(As::Link, &one_line(&edge.kind))).collect();
        kinds.join(", ")
    }

    /// Returns a branch of a tree: the note, then a line for each link to a note that is drawn elsewhere.
    fn branch(&self, view: NoteView<'_>) -> EntryText {
        let entry = view.entry;
        let (branch, again): (Vec<_>, Vec<_>) = view.edges().partition(|edge| is_branch(entry, edge));
        let label = if branch.is_empty() { String::new() } else { format!("{} ", self.arrow(entry, &branch)) };
        let mut out = self.wrapped(format!("{}{label}{}\n", tree::indent(entry.hop), self.notes.name(entry)));
        for edges in again.chunk_by(|a, b| a.drawn_ends() == b.drawn_ends()) {
            let [edge, ..] = edges else { continue };
            let Some(other) = self.report.entries.get(edge.other).and_then(Entry::note) else { continue };
            let is_outward = *edge.drawn_ends().0 == entry.note.id;
            let (from, to, under) = if is_outward { (entry, other, view.index) } else { (other, entry, edge.other) };
            let (indent, types) = (tree::indent(from.hop + 1), self.link_types(edges));
            let text = self.notes.wrapped(format!("{indent}{types} → {} (again)\n", self.notes.name(to)));
            out.items.push(RenderEntry { section: 0, text, under: Some(under) });
        }
        out
    }
}

/// Whether an edge connects a note with its parent in the tree: an edge from the parent, or one to it if there is none.
fn is_branch(entry: &NoteEntry, edge: &EdgeEntry) -> bool {
    let is_inward = |edge: &EdgeEntry| entry.parent == Some(edge.other) && *edge.drawn_ends().1 == entry.note.id;
    entry.parent == Some(edge.other) && (is_inward(edge) || !entry.edges.iter().any(is_inward))
}

/// Returns the heading above entries of this group, in the primer and in a bundle; empty for an entry of no group.
fn group_heading(entry: &Entry) -> &'static str {
    match entry {
        Entry::Command { .. } => "Commands",
        Entry::Pattern(_) => "Patterns",
        Entry::Note(entry) => match entry.role {
            EntryRole::LastJournal => "Where the last session stopped",
            EntryRole::Saved => "Saved or changed in this session",
            EntryRole::Shown => "Shown in this session",
            EntryRole::Decision => "Latest decisions and warnings",
            EntryRole::Map => "Maps of content",
            EntryRole::Linked => "Most linked",
            EntryRole::Selected | EntryRole::Recent => "Recently changed",
        },
        _ => "",
    }
}
