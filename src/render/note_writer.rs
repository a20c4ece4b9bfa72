//! Notes for people: their names, fields and text, as a section of a bundle or as a whole document.

use jiff::civil::Date;

use super::frame_guard::{ANSWER_MARK, Framing, NEXT_MARK, NOTE_MARK, RULE};
use super::level_text::{LevelText, NoteView};
use super::paint::TextRole as As;
use super::prose::{Prose, guarded_lines, prose_line};
use super::tool_marks::without_marks_in_lines;
use super::{EntryText, Screen, joined_ids, joined_lines, markdown, relative_days, shows_body, wrap};
use crate::escape::one_line;
use crate::note::{ContentSource, Surroundings};
use crate::report::{
    Assessment, BlockEntry, DIMENSIONS, Header, NoteEntry, NoteHandle, NoteLayout, Passage, Report, UTILITY_PARTS,
};
use crate::tokens::Tokenizer;

/// The headings above a passage that are shown, from the nearest one: more of them repeat the title and the path.
const SHOWN_HEADINGS: usize = 2;
/// The indent of the rest of a broken line.
const HANG: usize = 2;

#[derive(Clone, Copy)]
pub(super) struct NoteWriter<'a> {
    pub(super) report: &'a Report,
    pub(super) screen: Screen,
    pub(super) tokenizer: Tokenizer,
}

impl NoteWriter<'_> {
    /// Breaks the lines of a text at the width of the screen, with the usual indent.
    pub(super) fn wrapped(self, text: String) -> String {
        self.hanging(text, HANG)
    }

    /// Breaks the lines of a text at the width of the screen, and indents the rest of each by `hang` columns.
    pub(super) fn hanging(self, text: String, hang: usize) -> String {
        match self.screen.columns {
            Some(columns) if self.is_tree() => wrap::wrap(&text, columns.max(wrap::least_columns(&text, hang)), hang),
            Some(columns) => wrap::wrap(&text, columns, hang),
            None => text,
        }
    }

    /// Whether the lines form a tree, so that each must keep its indent.
    pub(super) fn is_tree(self) -> bool {
        self.report.head.layout.note == NoteLayout::Branch
    }

    /// Returns the title and the id of a note, and the notes that it replaces. It never begins with a blank, which a tree
    /// would take for its indent.
    pub(super) fn name(self, entry: &NoteEntry) -> String {
        let members = digest_of(entry);
        let title = match one_line(entry.note.title()) {
            title if title.is_empty() => title,
            title => self.screen.paint(As::Title, &title) + " ",
        };
        let id = self.screen.paint(As::Kind(entry.note.list_fields().kind), entry.note.id.as_str());
        let state = self.screen.state(entry);
        format!("{title}({id}){state}{members}")
    }

    fn tags(self, entry: &NoteEntry) -> String {
        let tags: Vec<_> = entry.note.tags().iter().map(|tag| self.screen.paint(As::Tag, &one_line(tag))).collect();
        tags.join(", ")
    }

    fn kind(self, entry: &NoteEntry) -> String {
        let kind = entry.note.list_fields().kind;
        self.screen.paint(As::Kind(kind), &one_line(kind))
    }

    /// Returns a day in words and its spelling `text`, or `text` alone where dates are not related to today.
    fn day(self, day: Date, text: &str) -> String {
        let words = |today| format!("{} ({})", relative_days::in_words(day, today), one_line(text));
        self.screen.today.map_or_else(|| one_line(text), words)
    }

    /// Returns a body, as styled markdown on a terminal. A body that was cut stays verbatim, so that its length grows
    /// with the position of the cut, but for what closes it.
    fn body(self, body: &str, is_cut: bool, framing: Framing) -> Prose {
        let prose = Prose::new(body, is_cut, framing, Surroundings::Own);
        if is_cut { prose } else { self.styled(prose.text).into() }
    }

    /// Returns a part of a body right below a line of the answer.
    fn part(self, text: &str) -> String {
        self.styled(Prose::new(text, false, Framing::Rules, Surroundings::BelowLine).text)
    }

    /// Returns a markdown text with styles, on a screen that has some.
    fn styled(self, text: String) -> String {
        let rendered = self.screen.columns.and_then(|columns| markdown::rendered(&text, self.screen, columns));
        rendered.unwrap_or(text)
    }

    /// Returns a note as a section of a bundle: a heading, its fields, its text.
    pub(super) fn section(self, view: NoteView<'_>) -> EntryText {
        let entry = view.entry;
        if self.report.head.show.has_pages && entry.assessment.is_none() {
            return self.answer(view);
        }
        let passages = view.passages();
        let head = self.section_head(view);
        if let Some(content) = view.level_text() {
            return self.assessed(view, &content, head);
        }
        if let Some(passages) = passages {
            return EntryText::of(self.wrapped(head) + &self.framed_passages(entry, &passages));
        }
        let shows_body = entry.shown_blocks.is_none() && shows_body(self.report, true);
        let blocks = view.blocks();
        let (Prose { text, closing }, is_cut) = match view.body(shows_body) {
            _ if !blocks.is_empty() => (Prose::from(self.blocks(&blocks)), false),
            Some((body, is_cut)) => (self.body(&body, is_cut, Framing::Rules), is_cut),
            None => {
                let (summary, is_cut) = view.summary();
                (Prose::from(self.hanging(prose_line(&summary), 0)), is_cut)
            }
        };
        let mut section = self.wrapped(head);
        // A note without text is its title.
        if !text.is_empty() {
            section.push_str(&format!("\n{RULE}\n{text}\n\n{RULE}\n"));
        }
        EntryText { is_cut, closing, ..EntryText::of(section) }
    }

    /// Returns the heading of a section, the sources, the summary beside the text and the custom fields.
    fn section_head(self, view: NoteView<'_>) -> String {
        let entry = view.entry;
        let (note, show) = (&entry.note, self.report.head.show);
        let mut text = format!("\n{NOTE_MARK}{}\n", self.name(entry));
        if !self.is_hook() {
            text.push_str(&format!("Type: {}\nTags: {}\n", self.kind(entry), self.tags(entry)));
        }
        if let Some(revision) = show.has_revision.then(|| entry.revision()).flatten() {
            text.push_str(&format!("Revision: {revision}\n"));
        }
        text.extend(view.summary_beside_text().map(|summary| format!("Summary: {summary}\n")));
        if show.has_sources && !note.sources().is_empty() {
            text.push_str("Sources:\n");
            for source in note.sources() {
                let title = source.title.as_deref().unwrap_or_default();
                let name = if source.url.is_empty() { title } else { &source.url };
                text.push_str(&format!("- {}\n", one_line(name)));
            }
        }
        if show.has_custom && !note.extra_fields().custom.is_empty() {
            text.push_str("Custom:\n");
            for (key, value) in note.extra_fields().custom {
                text.push_str(&format!("- {}: {}\n", one_line(key), one_line(&value.to_line())));
            }
        }
        if entry.shown_blocks.is_some() {
            let day = |day: Date| self.day(day, &day.to_string());
            let changed = note.list_fields().changed().map_or("unknown".to_owned(), |stamp| day(stamp.date()));
            text.push_str(&format!("Changed: {changed}\n"));
        }
        without_marks_in_lines(&text).into_owned()
    }

    /// Returns an assessed note below the head of its section.
    fn assessed(self, view: NoteView<'_>, content: &LevelText<'_>, mut head: String) -> EntryText {
        let mut out = content.empty_entry(self.tokenizer);
        head.push_str(&self.assessment_lines(view, content));
        let head = self.wrapped(head);
        let text = match &content.passages {
            Some(passages) => head + &self.framed_passages(view.entry, passages),
            None => {
                let Prose { text, closing } = self.body(&content.text, content.is_cut, Framing::Rules);
                out.closing = closing;
                if text.is_empty() { head } else { format!("{head}\n{RULE}\n{text}\n\n{RULE}\n") }
            }
        };
        out.add(0, text);
        out
    }

    /// Returns the lines of an assessment, with its parts if they are to be explained.
    fn assessment_lines(self, view: NoteView<'_>, content: &LevelText<'_>) -> String {
        let assessment = content.assessment;
        let (trust, relevance) = (assessment.trust, assessment.relevance);
        let mut text = format!("Level: {}\nConfidence: {}", content.level.name(), content.confidence());
        text.push_str(&format!(", trust {trust:.2}, relevance {relevance:.2}\n"));
        if assessment.contradictions > 0 {
            text.push_str(&format!("Contradictions: {}\n", assessment.contradictions));
        }
        for edge in view.edges() {
            text.push_str(&format!("Link: {} {} {}\n", edge.from, one_line(&edge.kind), edge.to));
        }
        if !content.origins().is_empty() {
            text.push_str("Derived from:\n");
        }
        for (id, title, confidence) in content.origins() {
            text.push_str(&format!("- {} ({id}), confidence {confidence:.2}\n", one_line(title)));
        }
        if let Some(novelty) = view.shown_part.novelty().filter(|_| self.report.head.is_explained) {
            text.push_str(&explanation(assessment, novelty));
        }
        without_marks_in_lines(&text).into_owned()
    }

    /// Returns a note in an answer that is passages alone: each below a line with its place and the headings above it. Such
    /// a frame takes 178 of 1,000 characters; one with a header, fields and rules took 298, and with them 4 of 100 questions
    /// their passage.
    fn answer(self, view: NoteView<'_>) -> EntryText {
        let note = &view.entry.note;
        let path = one_line(&self.report.head.path_of(note));
        let name = self.place_name(view.entry, &path);
        let passages = view.passages();
        let first = passages.as_ref().and_then(|passages| passages.first());
        // A commit has no file with lines.
        let has_lines = !note.is_commit();
        let lines = first.filter(|_| has_lines);
        let lines = lines.map_or(String::new(), |passage| format!(":{}-{}", passage.lines.0, passage.lines.1));
        let place = self.screen.paint(As::Quiet, &format!("{path}{lines}"));
        let below = first.map_or(String::new(), headings);
        let mut text = self.answer_line(&format!("{ANSWER_MARK}{place} {name}{below}"));
        if let Some(summary) = view.summary_beside_text() {
            text.push_str(&self.answer_line(&format!("Summary: {summary}")));
        }
        let Some(passages) = &passages else {
            let (body, is_cut) = match view.body(shows_body(self.report, true)) {
                Some((body, is_cut)) => (self.body(&body, is_cut, Framing::Answer), is_cut),
                None => {
                    let (summary, is_cut) = view.summary();
                    (Prose::from(self.hanging(prose_line(&summary), 0)), is_cut)
                }
            };
            let end = if body.text.is_empty() { "" } else { "\n" };
            return EntryText { is_cut, closing: body.closing, ..EntryText::of(text + &body.text + end) };
        };
        let mut above: &[String] = first.map_or(&[], |passage| &passage.heading_path);
        for (index, passage) in passages.iter().enumerate() {
            if index > 0 {
                let (first, last) = passage.lines;
                let changed = if *above == *passage.heading_path { String::new() } else { headings(passage) };
                let lines = if has_lines { format!("{first}-{last}") } else { String::new() };
                let place = self.screen.paint(As::Quiet, &format!("{NEXT_MARK}{lines}"));
                text.push_str(&format!("\n{}", self.answer_line(&format!("{place}{changed}"))));
                above = &passage.heading_path;
            }
            let prose = Prose::new(&passage.shown_text(), false, Framing::Answer, Surroundings::BelowLine);
            text.push_str(&format!("{}\n", self.styled(prose.text)));
        }
        EntryText::of(text)
    }

    /// Returns a line of the frame of passages, in which nothing is open.
    fn answer_line(self, line: &str) -> String {
        self.wrapped(format!("{}\n", without_marks_in_lines(line.trim_end())))
    }

    /// Returns the title of a note below its path, with its id if the path does not tell it, and its state.
    fn place_name(self, entry: &NoteEntry, path: &str) -> String {
        let id = entry.note.id.as_str();
        let name = id.rsplit(':').next().unwrap_or(id);
        // An id that is derived from a path has `--` between the folders.
        let is_in_path = path.contains(name) || path.replace('/', "--").contains(name);
        let id = if is_in_path { String::new() } else { format!(" ({id})") };
        let title = self.screen.paint(As::Title, &one_line(entry.note.title()));
        format!("{title}{id}{}{}", self.screen.state(entry), digest_of(entry))
    }

    /// Whether the notes are those that a hook adds. It has little room, and the id of a note names its file too.
    fn is_hook(self) -> bool {
        self.report.head.layout.header == Some(Header::Hook)
    }

    /// Returns passages as the text of a section.
    fn framed_passages(self, entry: &NoteEntry, passages: &[Passage]) -> String {
        let text = self.passages(entry, passages);
        let end = if text.is_empty() { "" } else { "\n" };
        if self.is_hook() { text } else { format!("\n{RULE}\n{text}{end}{RULE}\n") }
    }

    /// Returns passages, each below its lines in the file and its heading path.
    fn passages(self, entry: &NoteEntry, passages: &[Passage]) -> String {
        let is_brief = self.is_hook();
        let file = one_line(&self.report.head.path_of(&entry.note));
        let passage = |passage: &Passage| {
            let (first, last) = passage.lines;
            let path = joined_lines(&passage.heading_path, " › ");
            let range = if is_brief { format!("[lines {first}-{last}]") } else { format!("[{file}:{first}-{last}]") };
            let range = self.screen.paint(As::Quiet, &range);
            let head = without_marks_in_lines(format!("{range} {path}").trim_end()).into_owned();
            format!("{}\n{}\n", self.wrapped(head), self.part(&passage.shown_text()))
        };
        passages.iter().map(passage).collect::<Vec<_>>().join("\n")
    }

    /// Returns blocks, each below its id and its heading path.
    fn blocks(self, blocks: &[&BlockEntry]) -> String {
        let block = |block: &&BlockEntry| {
            let mut path = String::new();
            if !block.heading_path.is_empty() {
                path.push_str(&format!(" {}", joined_lines(&block.heading_path, " > ")));
            }
            if block.depth > 1 {
                path.push_str(&format!(" (depth {})", block.depth));
            }
            let id = self.screen.paint(As::Quiet, &format!("[{}]", one_line(&block.id)));
            let head = without_marks_in_lines(&format!("{id}{path}\n")).into_owned();
            self.wrapped(head) + &self.part(&block.text)
        };
        blocks.iter().map(block).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns a note as a document: its fields, then its body.
    pub(super) fn document(self, view: NoteView<'_>) -> EntryText {
        let (entry, note) = (view.entry, &view.entry.note);
        let mut head = format!("{}\n{}", self.name(entry), self.kind(entry));
        head.push_str(&format!(", value {}", note.value_or_default()));
        if !note.tags().is_empty() {
            head.push_str(&format!(", tags {}", self.tags(entry)));
        }
        let fields = note.list_fields();
        for (word, stamp) in [("created", fields.created_as_written()), ("updated", fields.updated_as_written())] {
            let Some(stamp) = stamp else { continue };
            head.push_str(&format!(", {word} {}", self.day(stamp.date(), stamp.as_str())));
        }
        let path = one_line(&self.report.head.path_of(note));
        head.push_str(&format!("\n{}\n", self.screen.paint(As::Quiet, &path)));
        if self.report.head.show.has_custom {
            head.push_str(&own_fields(note));
        }
        let (Prose { text: body, closing }, is_cut) = match view.body(true) {
            Some((body, is_cut)) => (self.body(&body, is_cut, Framing::NoRules), is_cut),
            None => {
                let (summary, is_cut) = view.summary();
                (Prose::from(self.hanging(prose_line(&summary), 0)), is_cut)
            }
        };
        let mut document = self.wrapped(guarded_lines(&head).into_owned());
        if !body.is_empty() {
            document.push_str(&format!("\n{body}\n"));
        }
        document.push('\n');
        EntryText { is_cut, closing, ..EntryText::of(document) }
    }
}

/// Returns the last headings above a passage.
fn headings(passage: &Passage) -> String {
    let skipped = passage.heading_path.len().saturating_sub(SHOWN_HEADINGS);
    passage.heading_path.iter().skip(skipped).map(|heading| format!(" › {}", one_line(heading))).collect()
}

/// Returns the notes that a note replaces.
fn digest_of(entry: &NoteEntry) -> String {
    match entry.compacted.as_slice() {
        [] => String::new(),
        members => format!(" [digest of {}]", joined_ids(members, ", ")),
    }
}

fn explanation(assessment: &Assessment, novelty: f64) -> String {
    let parts = |names: [&str; 6], parts: [f64; 6]| -> String {
        names.iter().zip(parts).map(|(name, part)| format!("{name} {part:.3}")).collect::<Vec<_>>().join(", ")
    };
    let mut text = format!("Trust: {}", assessment.trust_basis.name());
    if !assessment.unsupported.is_empty() {
        text.push_str(&format!("; without support: {}", assessment.unsupported.join(", ")));
    }
    text.push('\n');
    if let Some(dimensions) = assessment.confidence.dimensions {
        text.push_str(&format!("Dimensions: {}\n", parts(DIMENSIONS, dimensions)));
    }
    if let Some(utility) = assessment.utility.map(|utility| utility.with_novelty(novelty)) {
        text.push_str(&format!("Utility: {:.3} of {}\n", utility.total(), parts(UTILITY_PARTS, utility.parts)));
    }
    text
}

/// Returns the sources, the custom fields and the unknown fields of a note, a line each.
fn own_fields(note: &NoteHandle) -> String {
    let source = |source: &ContentSource| {
        let title = source.title.as_deref().map(one_line).unwrap_or_default();
        format!("source: {} {title}", one_line(&source.url)).trim_end().to_owned() + "\n"
    };
    let extra = note.extra_fields();
    let fields = extra.custom.iter().chain(extra.unknown);
    let fields = fields.map(|(key, value)| format!("{}: {}\n", one_line(key), one_line(&value.to_line())));
    note.sources().iter().map(source).chain(fields).collect()
}
