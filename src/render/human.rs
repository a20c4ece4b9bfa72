//! The human format: markdown for bundles, drawn trees for links, lists for the rest.

use std::borrow::Cow;

use jiff::civil::Date;

use super::content::{LevelTexts, content};
use super::list_rows::Widths;
use super::paint::TextRole as As;
use super::prompt::{confidence, says_belief};
use super::{
    BANNER, EntryText, Extent, Frame, FrameState, Included, RenderEntry, Renderer, Screen, body_text, days, flow,
    highlight, insufficient, markdown, shows_body, summary_text, tree,
};
use crate::escape::{lines, one_line};
use crate::note::{ContentSource, IMPORTED, Note};
use crate::report::{
    Analysis, Assessment, BlockEntry, ComparisonEntry, DIMENSIONS, DayEntry, Detail, EdgeEntry, Entry, EntryRole,
    JournalTraits, Level, NoteEntry, OverviewEntry, Passage, PatternEntry, PeriodEntry, Report, ReportKind, RowEntry,
    SelectionStats, SideEntry, SnippetText, UTILITY_PARTS, UnknownName, UnknownWord,
};
use crate::tokens::Tokenizer;

/// The file that is made with every store.
const CONFIG: &str = "config.toml";

/// What a person does next in a new store.
const NEXT_STEPS: &str = "Next: `qipu setup` lists the agent tools to set up; `qipu capture` makes a first note.\n";

/// How the head of a note in a bundle begins.
const NOTE_MARK: &str = "## Note: ";

/// How far in the rest of a line that was broken begins.
const HANG: usize = 2;

/// Renders a report for people.
pub(super) struct Human<'a> {
    pub(super) report: &'a Report,
    pub(super) screen: Screen,
    pub(super) tokenizer: Tokenizer,
    pub(super) widths: Widths,
}

impl<'a> Human<'a> {
    pub(super) fn new(report: &'a Report, screen: Screen, tokenizer: Tokenizer) -> Self {
        let human = Self { report, screen, tokenizer, widths: Widths::default() };
        Self { widths: human.widths(), ..human }
    }
}

impl Renderer for Human<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let (before, after) = match &self.report.head.mode {
            ReportKind::Context if shown.account.is_some() => (self.bundle_head(shown), self.unknown_names(shown)),
            ReportKind::Context => {
                (self.bundle_head(shown), self.if_empty(shown, "\nNo note matches.\n") + &self.unknown_names(shown))
            }
            ReportKind::Expansion => (self.expansion_head(shown), self.rest(shown)),
            ReportKind::Prime => (self.prime_head(), self.rest(shown)),
            ReportKind::LinkList { .. } | ReportKind::LinkTree { .. } => (String::new(), self.around(shown)),
            ReportKind::LinkPath { from, to, length: None, .. } => {
                let within = if self.report.head.is_limited { " within the limits" } else { "" };
                (format!("No path from {from} to {to}{within}.\n"), String::new())
            }
            ReportKind::LinkPath { .. } => (String::new(), self.rest(shown)),
            ReportKind::List | ReportKind::Search | ReportKind::Graph => {
                let before = self.spellings(shown) + &self.if_empty(shown, "No note matches.\n");
                let before = before + &self.unknown_names(shown);
                (before, self.rest(shown))
            }
            ReportKind::Related { .. } => (self.if_empty(shown, "No note is like it.\n"), self.rest(shown)),
            ReportKind::Show => (String::new(), self.rest(shown)),
            ReportKind::Journal { day } => {
                (self.if_empty(shown, &format!("There is no journal of {day}.\n")), self.rest(shown))
            }
            ReportKind::Eval => (String::new(), self.left_out(shown)),
            ReportKind::Doctor => (self.if_empty(shown, "Nothing is wrong.\n"), String::new()),
            ReportKind::Change { command: "init", is_dry_run: false } => (String::new(), self.next_steps()),
            ReportKind::Change { .. } => (self.if_empty(shown, "Nothing to do.\n"), String::new()),
            ReportKind::Tags | ReportKind::Status | ReportKind::Index | ReportKind::Setup => {
                (String::new(), String::new())
            }
        };
        let opens = matches!(self.report.head.mode, ReportKind::Context | ReportKind::Expansion | ReportKind::Prime);
        let banner = if opens { String::new() } else { self.banner() };
        Frame(vec![self.flowing(banner + &before), self.flowing(after)])
    }

    fn piece(&self, number: usize, extent: Extent, kept: &Included) -> EntryText {
        let mut piece = EntryText::default();
        match &self.report.entries[number] {
            Entry::Note(entry) => self.note(number, entry, extent, kept, &mut piece),
            Entry::Unresolved { target, .. } => {
                let indent = if self.report.head.mode == ReportKind::Show { String::new() } else { tree::indent(1) };
                self.add(&mut piece, format!("{indent}(missing) {}\n", one_line(target)));
            }
            Entry::About(text) => self.add(&mut piece, format!("\n{text}\n")),
            Entry::Command { line, purpose } => {
                let heading = self.heading(number, "Commands", kept);
                let line = self.screen.paint(As::Code, &format!("`{line}`"));
                self.add(&mut piece, format!("{heading}- {line}: {purpose}\n"));
            }
            Entry::Overview(overview) => self.add(&mut piece, format!("\n{}\n", self.overview(overview))),
            Entry::Recipe(recipe) => self.add(&mut piece, self.recipe_line(recipe)),
            Entry::Link { edge, title } => {
                let kind = self.screen.paint(As::Link, &one_line(&edge.kind));
                let kind = if edge.is_backward { format!("← {kind}") } else { format!("{kind} →") };
                let text = format!("{kind} {} ({})\n", one_line(title), edge.to);
                self.add(&mut piece, text);
            }
            Entry::Tag { tag, count } => {
                let tag = self.screen.paint(As::Tag, &one_line(tag));
                self.add(&mut piece, format!("{count:>5}  {tag}\n"));
            }
            Entry::Fact { name, count } => self.add(&mut piece, format!("{count:>5}  {}\n", one_line(name))),
            Entry::Kind { kind, count } => self.add(&mut piece, format!("{count:>5}  of type {}\n", one_line(kind))),
            Entry::Finding(finding) => self.add(&mut piece, self.finding_line(finding)),
            Entry::Row(row) => self.add(&mut piece, row_line(row)),
            Entry::Change(change) => self.change(change, &mut piece),
            Entry::Comparison(comparison) => {
                self.add(&mut piece, format!("\n## Comparison\n{}", comparison_lines(comparison)));
            }
            Entry::Pattern(pattern) => {
                let heading = self.heading(number, "Patterns", kept);
                self.add(&mut piece, format!("{heading}{}", pattern_line(pattern)));
            }
            Entry::Text(text) if self.screen.is_terminal => self.add(&mut piece, lines(text)),
            Entry::Text(text) => self.add(&mut piece, text.clone()),
        }
        piece
    }

    fn detail(&self, entry: &Entry) -> Detail {
        match (entry.note().map(|entry| entry.role), &self.report.head.mode) {
            _ if entry.note().is_some_and(|entry| entry.belief.is_some()) => Detail::Name,
            // Markdown that is shown as it is meant may be shorter than its text.
            _ if self.screen.columns.is_some() => Detail::Name,
            (Some(EntryRole::Selected), ReportKind::Context | ReportKind::Show | ReportKind::Journal { .. })
                if self.shows_body() =>
            {
                Detail::Body
            }
            (Some(EntryRole::Selected), ReportKind::Context | ReportKind::Show | ReportKind::Journal { .. }) => {
                Detail::Summary
            }
            _ => Detail::Name,
        }
    }

    fn stands_in_line(&self) -> bool {
        !self.is_tree()
    }

    fn assemble(&self, frame: &Frame, pieces: &[(usize, EntryText)]) -> String {
        match frame.0.as_slice() {
            [before, after] if self.is_tree() => {
                format!("{before}{}{after}", tree::draw(&self.report.entries, pieces))
            }
            _ => super::join(frame, pieces, self.separator()),
        }
    }
}

impl Human<'_> {
    fn add(&self, piece: &mut EntryText, text: String) {
        piece.add(0, self.flowing(text));
    }

    /// Makes a text ready for the screen: its lines end where the screen does.
    pub(super) fn flowing(&self, text: String) -> String {
        self.hanging(text, HANG)
    }

    fn hanging(&self, text: String, hang: usize) -> String {
        match self.screen.columns {
            Some(columns) if self.is_tree() => flow::wrap(&text, columns.max(flow::least_columns(&text, hang)), hang),
            Some(columns) => flow::wrap(&text, columns, hang),
            None => text,
        }
    }

    /// Tells whether lines hang on each other, so that each must keep its indent.
    fn is_tree(&self) -> bool {
        matches!(self.report.head.mode, ReportKind::LinkList { .. } | ReportKind::LinkTree { .. })
    }

    fn shows_body(&self) -> bool {
        shows_body(self.report, true)
    }

    fn bundle_head(&self, shown: FrameState<'_>) -> String {
        let head = &self.report.head;
        let store = one_line(head.store.as_deref().unwrap_or_default());
        let title = self.screen.paint(As::Title, "# Qipu Context Bundle");
        let mut text = format!("{title}\nStore: {store}\nNotes: {}", shown.notes);
        if shown.is_truncated {
            text.push_str(&format!(" of {} (truncated)", head.matched));
        }
        text.push('\n');
        text.push_str(&self.spellings(shown));
        let analysis = head.analysis.as_ref().filter(|analysis| !shown.is_brief && analysis.is_more_than_words());
        text.extend(analysis.map(|analysis| analysis_line(analysis)));
        text.extend(shown.lacks.sentence().map(|sentence| format!("There is {sentence}.\n")));
        if head.matched > 0 && shown.is_empty && !self.report.entries.is_empty() {
            text.push_str("Nothing fitted.\n");
        }
        let why = insufficient(self.report, &shown).filter(|_| shown.account.is_none());
        text.extend(why.map(|why| format!("Insufficient: {}\n", one_line(why))));
        text.extend(shown.account.map(|account| account_lines(account, shown)));
        text.push_str(&self.banner());
        text
    }

    fn expansion_head(&self, shown: FrameState<'_>) -> String {
        let mut text = "# Qipu Expansion\n".to_owned();
        if shown.is_empty && !self.report.entries.is_empty() {
            text.push_str("Nothing fitted.\n");
        }
        text.extend(shown.account.map(|account| account_lines(account, shown)));
        text.push_str(&self.banner());
        text
    }

    fn prime_head(&self) -> String {
        let store = one_line(self.report.head.store.as_deref().unwrap_or_default());
        let mut text = format!("# qipu: the memory of this project\nStore: {store}\n");
        text.push_str(&self.banner());
        text
    }

    /// The warning, where it is asked for; it is asked for in what an agent is given unasked.
    fn banner(&self) -> String {
        let is_given = self.report.head.banner == Some(true);
        if is_given { format!("> {BANNER}\n") } else { String::new() }
    }

    /// Says what to do with a store that was just made.
    fn next_steps(&self) -> String {
        let is_new = |entry: &Entry| matches!(entry, Entry::Change(change) if change.action == "created" && change.path.ends_with(CONFIG));
        let says = self.report.entries.iter().any(is_new);
        if says { NEXT_STEPS.to_owned() } else { String::new() }
    }

    /// Says that nothing matched, where nothing did.
    fn if_empty(&self, shown: FrameState<'_>, text: &str) -> String {
        let is_said = shown.is_empty && self.report.entries.is_empty();
        if is_said { text.to_owned() } else { String::new() }
    }

    /// Says what was searched for in the place of words that no note holds.
    pub(super) fn spellings(&self, shown: FrameState<'_>) -> String {
        if shown.is_brief {
            return String::new();
        }
        let line = |spelling: &UnknownWord| {
            let quoted = |word: &String| format!("'{}'", one_line(word));
            let shown: Vec<_> = spelling.shown.iter().map(quoted).collect();
            let shown = if shown.is_empty() { "its words".to_owned() } else { shown.join(", ") };
            format!("no {}; showing {shown}\n", quoted(&spelling.word))
        };
        self.report.head.spellings.iter().map(line).collect()
    }

    /// Names tags and types that no note has, and those that may have been meant, after the warnings of the store.
    pub(super) fn unknown_names(&self, shown: FrameState) -> String {
        if shown.is_brief {
            return String::new();
        }
        let line = |unknown: &UnknownName| {
            let near: Vec<_> = unknown.near.iter().map(|near| format!("'{near}'")).collect();
            let meant = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            format!("no note has the {} '{}'{meant}\n", unknown.sort, one_line(&unknown.name))
        };
        let warnings = self.report.head.warnings.iter().map(|warning| format!("warning: {}\n", one_line(warning)));
        warnings.chain(self.report.head.unknown_names.iter().map(line)).collect()
    }

    /// A note of a list, with what was found in it.
    fn listed(&self, entry: &NoteEntry, piece: &mut EntryText) {
        let hang = self.widths.hang();
        let line = self.list_line(entry);
        let Some(found) = &entry.found else { return piece.add(0, self.hanging(line, hang)) };
        let head = self.hanging(format!("{}  {:.2}\n", line.trim_end(), found.relevance), hang);
        let mut text = String::new();
        if let Some(snippet) = found.excerpt.as_ref().and_then(|excerpt| (excerpt.0)(&entry.note)) {
            text.push_str(&format!("    {}\n", self.marked(&snippet)));
        }
        if !found.shared.is_empty() {
            let words: Vec<_> = found.shared.iter().map(|word| one_line(word)).collect();
            text.push_str(&format!("    shares {}\n", words.join(", ")));
        }
        if !found.common.is_empty() {
            let ids: Vec<_> = found.common.iter().map(|id| id.as_str()).collect();
            text.push_str(&format!("    both with links to {}\n", ids.join(", ")));
        }
        if !found.parts.is_empty() {
            let parts: Vec<_> = found.parts.iter().map(|(name, part)| format!("{name} {part:.2}")).collect();
            text.push_str(&format!("    {}\n", parts.join(", ")));
        }
        piece.add(0, head + &self.hanging(text, 0));
    }

    /// A note's title and id, and for which notes it is shown.
    fn name(&self, entry: &NoteEntry) -> String {
        let members: Vec<_> = entry.compacts.iter().map(|id| id.as_str()).collect();
        let members = if members.is_empty() { String::new() } else { format!(" [stands for {}]", members.join(", ")) };
        let title = self.screen.paint(As::Title, &one_line(&entry.note.title));
        let id = self.screen.paint(As::Kind(&entry.note.kind), entry.note.id.as_str());
        let retired = self.retired(entry);
        format!("{title} ({id}){retired}{members}")
    }

    /// Says why a note no longer holds, where it doesn't.
    pub(super) fn retired(&self, entry: &NoteEntry) -> String {
        let Some(retired) = entry.retired else { return String::new() };
        format!(" {}", self.screen.paint(As::Warning, &format!("[{}]", retired.words())))
    }

    fn tags(&self, entry: &NoteEntry) -> String {
        let tags: Vec<_> = entry.note.tags.iter().map(|tag| self.screen.paint(As::Tag, &one_line(tag))).collect();
        tags.join(", ")
    }

    fn kind(&self, entry: &NoteEntry) -> String {
        self.screen.paint(As::Kind(&entry.note.kind), &one_line(&entry.note.kind))
    }

    /// A day: in words beside it, where days are told so.
    fn day(&self, day: Date, text: &str) -> String {
        let words = |today| format!("{} ({})", days::in_words(day, today), one_line(text));
        self.screen.today.map_or_else(|| one_line(text), words)
    }

    /// A body: markdown as it is meant on a terminal, else as it is. One that was cut is always shown as it
    /// is, so that its length grows with the place of the cut.
    fn body(&self, body: &str, extent: Extent) -> String {
        let columns = self.screen.columns.filter(|_| extent == Extent::Whole);
        let body = guarded(body);
        let rendered = columns.and_then(|columns| markdown::rendered(&body, self.screen, columns));
        rendered.unwrap_or_else(|| lines(&body))
    }

    /// A note of a graph: its line, then its links with notes before it.
    fn tied(&self, entry: &NoteEntry, kept: &Included, piece: &mut EntryText) {
        let mut text = self.list_line(entry);
        for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
            text.push_str(&format!("    {} {} → {}\n", edge.from, one_line(&edge.kind), edge.to));
        }
        self.add(piece, text);
    }

    /// Emphasises the marked words: as markdown does, in colour where the screen has colours.
    fn marked(&self, snippet: &SnippetText) -> String {
        if !self.screen.has_color {
            return highlight::in_markdown(snippet);
        }
        let marked = |text: &str| self.screen.paint(As::Mark, text);
        let mut text = String::new();
        let mut at = 0;
        for mark in &snippet.marks {
            text.push_str(snippet.text.get(at..mark.start).unwrap_or_default());
            text.push_str(&marked(snippet.text.get(mark.clone()).unwrap_or_default()));
            at = mark.end;
        }
        text + snippet.text.get(at..).unwrap_or_default()
    }

    /// Says how much is not shown.
    fn rest(&self, shown: FrameState<'_>) -> String {
        if !shown.is_truncated {
            return String::new();
        }
        format!("({} of {} notes shown)\n", shown.notes, self.report.head.matched)
    }

    /// Says that rows are left out, where some are.
    fn left_out(&self, shown: FrameState<'_>) -> String {
        if shown.is_truncated { "(not all is shown)\n".to_owned() } else { String::new() }
    }

    fn around(&self, shown: FrameState<'_>) -> String {
        let has_looked = !matches!(self.report.head.mode, ReportKind::LinkTree { max_hops: 0, .. });
        if self.report.entries.len() == 1 && !shown.is_truncated && has_looked {
            return "(no links)\n".to_owned();
        }
        self.rest(shown)
    }

    fn note(&self, number: usize, entry: &NoteEntry, extent: Extent, kept: &Included, piece: &mut EntryText) {
        match &self.report.head.mode {
            ReportKind::Context | ReportKind::Expansion => self.bundled(number, entry, extent, kept, piece),
            ReportKind::Show | ReportKind::Journal { .. } => self.whole(entry, extent, piece),
            ReportKind::List | ReportKind::Search | ReportKind::Related { .. } => self.listed(entry, piece),
            ReportKind::Graph => self.tied(entry, kept, piece),
            ReportKind::LinkPath { .. } => self.step(entry, kept, piece),
            ReportKind::Prime => self.index_line(number, entry, extent, kept, piece),
            _ => self.branch(number, entry, kept, piece),
        }
    }

    /// A note of a bundle: a heading, what is known of it, its text.
    fn bundled(&self, number: usize, entry: &NoteEntry, extent: Extent, kept: &Included, piece: &mut EntryText) {
        let note = &entry.note;
        let (name, kind, tags) = (self.name(entry), self.kind(entry), self.tags(entry));
        let mut text = match kept.passages(number, entry, extent) {
            Some(_) => format!("\n{NOTE_MARK}{name}\n"),
            None => format!("\n{NOTE_MARK}{name}\nType: {kind}\nTags: {tags}\n"),
        };
        let show = self.report.head.show;
        if show.sources && !note.sources.is_empty() {
            text.push_str("Sources:\n");
            for source in &note.sources {
                let title = source.title.as_deref().unwrap_or_default();
                let name = if source.url.is_empty() { title } else { &source.url };
                text.push_str(&format!("- {}\n", one_line(name)));
            }
        }
        if show.custom && !note.custom.is_empty() {
            text.push_str("Custom:\n");
            for (key, value) in &note.custom {
                text.push_str(&format!("- {}: {}\n", one_line(key), one_line(&value.to_line())));
            }
        }
        if entry.blocks.is_some() {
            let day = |day: Date| self.day(day, &day.to_string());
            let changed = note.changed().map_or("unknown".to_owned(), |stamp| day(stamp.date()));
            text.push_str(&format!("Changed: {changed}\n"));
        }
        if let Some(belief) = &entry.belief {
            let content = content(number, entry, belief, extent, kept);
            if let Some(passages) = &content.passages {
                piece.say(&content, self.tokenizer);
                if says_belief(belief, self.report) {
                    text.push_str(&belief_lines(entry, belief, &content, extent, self.report.head.explains, kept));
                }
                return piece.add(0, self.flowing(text) + &self.passages(entry, passages));
            }
            text.push_str(&belief_lines(entry, belief, &content, extent, self.report.head.explains, kept));
            let extent = if content.is_cut { extent } else { Extent::Whole };
            let said = self.body(&content.text, extent);
            piece.say(&content, self.tokenizer);
            return piece.add(0, format!("{}\n---\n{said}\n\n---\n", self.flowing(text)));
        }
        if let Some(passages) = kept.passages(number, entry, extent) {
            return piece.add(0, self.flowing(text) + &self.passages(entry, &passages));
        }
        let shows_body = entry.blocks.is_none() && self.shows_body();
        let blocks = kept.blocks(entry).filter(|_| extent == Extent::Whole);
        let (shown, is_cut) = match (blocks, body_text(note.body(), note.is_cut, extent, shows_body)) {
            (Some(blocks), _) => (self.blocks(&blocks), false),
            (_, Some((body, is_cut))) => (self.body(&body, extent), is_cut),
            (_, None) => {
                let (summary, is_cut) = summary_text(entry.summary().as_deref(), extent);
                (self.hanging(summary, 0), is_cut)
            }
        };
        piece.is_cut = is_cut;
        let mut text = self.flowing(text) + "\n---\n";
        if !shown.is_empty() {
            text.push_str(&format!("{shown}\n\n"));
        }
        text.push_str("---\n");
        piece.add(0, text);
    }

    /// Passages, each below its place in the file and the headings above it.
    fn passages(&self, entry: &NoteEntry, passages: &[Passage]) -> String {
        let file = one_line(&self.report.head.shown(&entry.note.path));
        let passage = |passage: &Passage| {
            let (first, last) = passage.lines;
            let path: Vec<String> = passage.path.iter().map(|heading| one_line(heading)).collect();
            let place = self.screen.paint(As::Quiet, &format!("[{file}:{first}-{last}]"));
            let head = self.flowing(format!("{place} {}", path.join(" › ")).trim_end().to_owned());
            format!("{head}\n{}\n", self.body(&passage.text, Extent::Whole))
        };
        passages.iter().map(passage).collect::<Vec<_>>().join("\n")
    }

    /// Blocks, each below its id and the headings above it.
    fn blocks(&self, blocks: &[BlockEntry]) -> String {
        let block = |block: &BlockEntry| {
            let path: Vec<String> = block.path.iter().map(|heading| one_line(heading)).collect();
            let mut path = if path.is_empty() { String::new() } else { format!(" {}", path.join(" > ")) };
            if block.depth > 1 {
                path.push_str(&format!(" (depth {})", block.depth));
            }
            let id = self.screen.paint(As::Quiet, &format!("[{}]", one_line(&block.id)));
            self.flowing(format!("{id}{path}\n")) + &self.body(&block.text, Extent::Whole)
        };
        blocks.iter().map(block).collect::<Vec<_>>().join("\n\n")
    }

    /// A note for somebody who reads this one: what is known of it, then its text.
    fn whole(&self, entry: &NoteEntry, extent: Extent, piece: &mut EntryText) {
        let note = &entry.note;
        let mut text = format!("{}\n{}", self.name(entry), self.kind(entry));
        text.push_str(&format!(", value {}", note.value_or_default()));
        if !note.tags.is_empty() {
            text.push_str(&format!(", tags {}", self.tags(entry)));
        }
        let stamps = [("created", &note.created), ("updated", &note.updated)];
        for (word, stamp) in stamps {
            let Some(stamp) = stamp else { continue };
            text.push_str(&format!(", {word} {}", self.day(stamp.date(), stamp.as_str())));
        }
        let path = one_line(&self.report.head.shown(&note.path));
        text.push_str(&format!("\n{}\n", self.screen.paint(As::Quiet, &path)));
        if self.report.head.show.custom {
            text.push_str(&own_fields(note));
        }
        let (body, is_cut) = match body_text(note.body(), note.is_cut, extent, true) {
            Some((body, is_cut)) => (self.body(&body, extent), is_cut),
            None => {
                let (summary, is_cut) = summary_text(entry.summary().as_deref(), extent);
                (self.hanging(lines(&summary), 0), is_cut)
            }
        };
        piece.is_cut = is_cut;
        let mut text = self.flowing(text);
        if !body.is_empty() {
            text.push_str(&format!("\n{body}\n"));
        }
        text.push('\n');
        piece.add(0, text);
    }

    /// Says how many notes there are, and which tags or folders most of them have.
    fn overview(&self, overview: &OverviewEntry) -> String {
        let notes = match overview.notes {
            0 => "No notes yet.".to_owned(),
            1 => "1 note".to_owned(),
            count => format!("{count} notes"),
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

    /// A note of the primer.
    fn index_line(&self, number: usize, entry: &NoteEntry, extent: Extent, kept: &Included, piece: &mut EntryText) {
        let heading = match entry.role {
            EntryRole::LastJournal => "Where the last session stopped",
            EntryRole::Decision => "Latest decisions",
            EntryRole::Map => "Maps of content",
            EntryRole::Selected | EntryRole::Recent => "Recently changed",
        };
        let mut text = format!("{}- {}", self.heading(number, heading, kept), self.name(entry));
        if entry.role != EntryRole::Recent {
            let (summary, is_cut) = summary_text(entry.summary().as_deref(), extent);
            piece.is_cut = is_cut;
            if !summary.is_empty() {
                text.push_str(&format!(": {summary}"));
            }
        }
        text.push('\n');
        self.add(piece, text);
    }

    /// Returns a heading where the entry is the first of its group.
    fn heading(&self, number: usize, heading: &str, kept: &Included) -> String {
        let group = group(&self.report.entries[number]);
        let mut before = self.report.entries.iter().take(number).enumerate();
        if before.any(|(other, entry)| kept.has(other) && self::group(entry) == group) {
            return String::new();
        }
        format!("\n{}\n", self.screen.paint(As::Title, &format!("## {heading}")))
    }

    /// A step of a path: how it is reached, then the note.
    fn step(&self, entry: &NoteEntry, kept: &Included, piece: &mut EntryText) {
        let edges: Vec<_> = entry.edges.iter().filter(|edge| kept.has(edge.other)).collect();
        let mut text = String::new();
        if !edges.is_empty() {
            text.push_str(&format!("│ {}\n", self.arrow(entry, &edges)));
        }
        text.push_str(&format!("{}\n", self.name(entry)));
        self.add(piece, text);
    }

    /// Writes how links lead from the note before to this one.
    fn arrow(&self, entry: &NoteEntry, edges: &[&EdgeEntry]) -> String {
        let (inward, outward): (Vec<_>, Vec<_>) = edges.iter().partition(|edge| *edge.drawn_ends().1 == entry.note.id);
        let inward = (!inward.is_empty()).then(|| format!("{} →", self.kinds(&inward)));
        let outward = (!outward.is_empty()).then(|| format!("← {}", self.kinds(&outward)));
        inward.into_iter().chain(outward).collect::<Vec<_>>().join(", ")
    }

    fn kinds(&self, edges: &[&EdgeEntry]) -> String {
        let kinds: Vec<_> = edges.iter().map(|edge| self.screen.paint(As::Link, &one_line(&edge.kind))).collect();
        kinds.join(", ")
    }

    /// A note of a tree: its own line, then a line for each link that leads to a note which has
    /// one already.
    fn branch(&self, number: usize, entry: &NoteEntry, kept: &Included, piece: &mut EntryText) {
        let edges = entry.edges.iter().filter(|edge| kept.has(edge.other));
        let (branch, again): (Vec<_>, Vec<_>) = edges.partition(|edge| is_branch(entry, edge));
        let label = if branch.is_empty() { String::new() } else { format!("{} ", self.arrow(entry, &branch)) };
        self.add(piece, format!("{}{label}{}\n", tree::indent(entry.hop), self.name(entry)));
        for edges in again.chunk_by(|a, b| a.drawn_ends() == b.drawn_ends()) {
            let [edge, ..] = edges else { continue };
            let Some(other) = self.report.entries.get(edge.other).and_then(Entry::note) else { continue };
            let is_outward = *edge.drawn_ends().0 == entry.note.id;
            let (from, to, under) = if is_outward { (entry, other, number) } else { (other, entry, edge.other) };
            let text = format!("{}{} → {} (again)\n", tree::indent(from.hop + 1), self.kinds(edges), self.name(to));
            let text = self.flowing(text);
            piece.items.push(RenderEntry { section: 0, text, under: Some(under) });
        }
    }
}

/// Tells whether an edge is one by which a note hangs in the tree: those from its parent, or if
/// there are none, those to it.
/// Puts a backslash, as markdown does, before each line of a note that could be taken for the head of another note or
/// of a passage.
fn guarded(body: &str) -> Cow<'_, str> {
    let is_place = |line: &str| {
        let place =
            line.strip_prefix('[').and_then(|line| line.split_once(']')).and_then(|(place, _)| place.rsplit_once(':'));
        place.is_some_and(|(_, lines)| {
            lines.contains('-') && lines.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
        })
    };
    let is_head = |line: &str| line.trim_start().starts_with(NOTE_MARK.trim_end()) || is_place(line.trim_start());
    if !body.split(['\n', '\r']).any(is_head) {
        return Cow::Borrowed(body);
    }
    let guarded = body
        .split_inclusive(['\n', '\r'])
        .map(|line| if is_head(line) { format!("\\{line}") } else { line.to_owned() });
    Cow::Owned(guarded.collect())
}

fn is_branch(entry: &NoteEntry, edge: &EdgeEntry) -> bool {
    let is_inward = |edge: &EdgeEntry| entry.parent == Some(edge.other) && *edge.drawn_ends().1 == entry.note.id;
    entry.parent == Some(edge.other) && (is_inward(edge) || !entry.edges.iter().any(is_inward))
}

/// Says on one line what a question was understood to mean.
fn analysis_line(analysis: &Analysis) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (text, ids) in &analysis.references {
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        parts.push(format!("{} = {}", one_line(text), ids.join(", ")));
    }
    parts.extend(day_parts(analysis));
    parts.extend(analysis.intents.iter().map(|intent| (*intent).to_owned()));
    if !analysis.terms.is_empty() {
        let terms: Vec<String> = analysis.terms.iter().map(|term| one_line(term)).collect();
        parts.push(format!("words {}", terms.join(", ")));
    }
    parts.extend(analysis.warnings.iter().map(|warning| format!("warning: {}", one_line(warning))));
    format!("Understood: {}\n", parts.join("; "))
}

/// Says which days and periods a question names, and how many journals each has.
pub(super) fn day_parts(analysis: &Analysis) -> impl Iterator<Item = String> {
    let day = |named: &DayEntry| {
        let text = one_line(&named.text);
        match named.journals {
            // A warning says that there is none.
            0 => format!("{text} = {}", named.day),
            count => format!("{text} = {}, {}", named.day, counted(count, "journal")),
        }
    };
    let period = |period: &PeriodEntry| {
        let from = period.from.map_or(String::new(), |from| format!("{from} "));
        let (text, to, journals) = (one_line(&period.text), period.to, counted(period.journals, "journal"));
        format!("{text} = {from}to {to}, {journals}")
    };
    analysis.dates.iter().map(day).chain(analysis.periods.iter().map(period))
}

/// A row of a table: its number below those of others, then its line.
fn row_line(row: &RowEntry) -> String {
    let line = one_line(&row.line);
    if row.figure.is_empty() { format!("{line}\n") } else { format!("{:>5}  {line}\n", one_line(&row.figure)) }
}

fn counted(count: usize, name: &str) -> String {
    if count == 1 { format!("1 {name}") } else { format!("{count} {name}s") }
}

pub(super) fn pattern_line(pattern: &PatternEntry) -> String {
    let dates: Vec<String> = pattern.dates.iter().map(|date| date.to_string()).collect();
    format!("- {} {}: {} ({})\n", pattern.kind, one_line(&pattern.pattern), pattern.count, dates.join(", "))
}

pub(super) fn comparison_lines(comparison: &ComparisonEntry) -> String {
    let side = |name: &str, side: &SideEntry| {
        let from = side.from.map_or(String::new(), |from| from.to_string());
        let days = if side.from == Some(side.to) { from } else { format!("{from} to {}", side.to) };
        let (journals, blocks) = (counted(side.journals, "journal"), counted(side.blocks, "block"));
        format!("{name}: {} ({days}), {journals}, {blocks}\n", one_line(&side.text))
    };
    let traits = |name: &str, traits: &JournalTraits| {
        let all = [("tags", &traits.tags), ("keywords", &traits.keywords), ("fields", &traits.fields)];
        let line = |(sort, texts): (&str, &Vec<String>)| {
            let texts: Vec<String> = texts.iter().map(|text| one_line(text)).collect();
            format!("{name} {sort}: {}\n", texts.join(", "))
        };
        all.into_iter().filter(|(_, texts)| !texts.is_empty()).map(line).collect::<String>()
    };
    let similarity = comparison.similarity.map_or("unknown".to_owned(), |similarity| format!("{similarity:.2}"));
    format!(
        "{}{}Similarity: {similarity}\n{}{}{}",
        side("A", &comparison.a),
        side("B", &comparison.b),
        traits("Shared", &comparison.shared),
        traits("Only A", &comparison.only_a),
        traits("Only B", &comparison.only_b)
    )
}

/// Returns the sources of a note and the fields that are its own, a line each.
fn own_fields(note: &Note) -> String {
    let source = |source: &ContentSource| {
        let title = source.title.as_deref().map(one_line).unwrap_or_default();
        format!("source: {} {title}", one_line(&source.url)).trim_end().to_owned() + "\n"
    };
    let fields = note.custom.iter().chain(&note.unknown).filter(|(key, _)| key != IMPORTED);
    let fields = fields.map(|(key, value)| format!("{}: {}\n", one_line(key), one_line(&value.to_line())));
    note.sources.iter().map(source).chain(fields).collect()
}

/// The groups of the primer, and of a bundle.
fn group(entry: &Entry) -> u8 {
    match entry {
        Entry::Pattern(_) => 4,
        Entry::Command { .. } => 0,
        Entry::Note(NoteEntry { role: EntryRole::Map, .. }) => 1,
        Entry::Note(NoteEntry { role: EntryRole::LastJournal, .. }) => 5,
        Entry::Note(NoteEntry { role: EntryRole::Decision, .. }) => 6,
        Entry::Note(_) => 2,
        _ => 3,
    }
}

/// Says how notes were chosen, and what is missing.
fn account_lines(account: &SelectionStats, shown: FrameState<'_>) -> String {
    let mut text = String::new();
    if let Some(reason) = &account.insufficient {
        text.push_str(&format!("Insufficient: {}\n", one_line(reason)));
    }
    text.push_str(&format!("Coverage: {:.0} %\n", account.coverage * 100.0));
    if let Some(floor) = account.confidence_floor {
        text.push_str(&format!("Least confidence: {floor:.2}\n"));
    }
    if shown.is_brief {
        return text;
    }
    text.push_str(&format!("Selection: {}\n", account.reasoning));
    if account.has_contradictions {
        text.push_str("Contradicted by notes that are not shown (ask for contradictions to see them)\n");
    }
    if !account.expandable.is_empty() {
        let ids: Vec<_> = account.expandable.iter().map(|id| id.as_str()).collect();
        text.push_str(&format!("More to say (--expand): {}\n", ids.join(", ")));
    }
    text
}

/// Says what is known of a note beside what it says.
fn belief_lines(
    entry: &NoteEntry,
    belief: &Assessment,
    content: &LevelTexts,
    extent: Extent,
    explains: bool,
    kept: &Included,
) -> String {
    let (trust, relevance) = (belief.trust, belief.relevance);
    let mut text = format!("Level: {}\nConfidence: {}", content.level.name(), confidence(belief, content));
    text.push_str(&format!(", trust {trust:.2}, relevance {relevance:.2}\n"));
    if belief.contradictions > 0 {
        text.push_str(&format!("Contradictions: {}\n", belief.contradictions));
    }
    for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
        text.push_str(&format!("Link: {} {} {}\n", edge.from, one_line(&edge.kind), edge.to));
    }
    if content.level == Level::Detailed && !belief.derived_from.is_empty() {
        text.push_str("Derived from:\n");
        for (id, title, confidence) in &belief.derived_from {
            text.push_str(&format!("- {} ({id}), confidence {confidence:.2}\n", one_line(title)));
        }
    }
    let Some(novelty) = extent.novelty().filter(|_| explains) else { return text };
    let parts = |names: [&str; 6], parts: [f64; 6]| -> String {
        names.iter().zip(parts).map(|(name, part)| format!("{name} {part:.3}")).collect::<Vec<_>>().join(", ")
    };
    if let Some(dimensions) = belief.confidence.dimensions {
        text.push_str(&format!("Dimensions: {}\n", parts(DIMENSIONS, dimensions)));
    }
    if let Some(utility) = belief.utility.map(|utility| utility.with_novelty(novelty)) {
        text.push_str(&format!("Utility: {:.3} of {}\n", utility.total(), parts(UTILITY_PARTS, utility.parts)));
    }
    text
}
