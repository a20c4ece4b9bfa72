//! The prompt format: a section of a model's prompt, a note a list item. The text of notes is indented so far that
//! nothing in it is a heading or an item.

use std::borrow::Cow;

use super::frame_guard::Framing;
use super::human::Human;
use super::level_text::{LevelText, NoteView};
use super::prose::{Prose, quoted};
use super::summary_lines::{
    comparison_lines, day_parts, pattern_line, reason_line, spelling_lines, tail_lines, unknown_name_lines,
};
use super::tool_marks::{without_marks_in_lines, without_tool_marks};
use super::{EntryText, Frame, FrameState, Included, Renderer, ShownPart, banner_line, insufficient};
use crate::escape::one_line;
use crate::note::Surroundings;
use crate::report::{Entry, MatchLevel, NoteEntry, Passage, Report, SelectionStats, layout, why_unsure};
use crate::tokens::Tokenizer;

/// The first word in the parentheses that qipu adds behind the name of a note.
const CONFIDENCE: &str = "confidence";

/// Writes a report as a section of a prompt.
pub(super) struct Prompt<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
    /// Writes the entries that are no assessed notes.
    pub(super) human: Human<'a>,
    /// Whether the share of what is known is shown, which a model takes for praise of the notes.
    pub(super) has_coverage: bool,
}

impl Renderer for Prompt<'_> {
    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let mut before = banner_line(self.report, true, "");
        let matched = self.report.head.question_match.as_ref();
        match matched.filter(|matched| matched.level == MatchLevel::Weak) {
            None => before.push_str("## Relevant Knowledge (from qipu)\n\n"),
            Some(weak) => {
                before.push_str("## Possibly Related (from qipu): a weak match\n\n");
                if !shown.is_brief {
                    before.push_str(reason_line(&why_unsure(&weak.unknown)).trim_end());
                    before.push_str(" Treat what follows as background, not as the answer; say so if you use it.\n\n");
                }
            }
        }
        before.push_str(&self.interpretation(shown));
        let stats = shown.stats;
        if let Some(reason) = insufficient(self.report, &shown) {
            before.push_str(&format!("({})\n", one_line(reason)));
        } else if shown.is_empty && !self.report.entries.is_empty() {
            before.push_str(if shown.tail.is_behind_all { "(nothing more)\n" } else { "(nothing fits)\n" });
        }
        before.extend(shown.omissions.sentence().map(|sentence| format!("({sentence})\n")));
        let mut after = String::new();
        if stats.is_some_and(|stats| stats.has_contradictions) && !shown.is_brief {
            after.push_str("\nNotes that are not shown contradict some of these.\n");
        }
        let is_full = |stats: &SelectionStats| stats.is_complete && stats.expandable.is_empty();
        let note = if !shown.is_truncated && stats.is_none_or(is_full) {
            "Full relevant context included."
        } else {
            "Additional context available on request."
        };
        if self.report.head.matched > 0 {
            after.push_str(&format!("\nNote: {note}\n"));
        }
        after.push_str(&tail_lines(self.report, shown));
        // The coverage comes first to mind if it comes last, and a brief frame may lack it. Of notes that hardly match it would
        // say how many of them are shown, which reads as praise.
        let is_answer = self.has_coverage && matched.is_none_or(|matched| matched.level == MatchLevel::Answer);
        if let Some(stats) = stats.filter(|_| is_answer && self.report.head.matched > 0 && !shown.is_brief) {
            after.push_str(&format!("Coverage: ~{:.0}% of relevant knowledge.\n", stats.coverage * 100.0));
        }
        Frame([before, after].map(|text| without_marks_in_lines(&text).into_owned()).into())
    }

    /// Writes an entry. Marks of tools are broken in code, too: the text is for a prompt, which is made of such marks.
    fn render(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let mut out = self.entry(index, shown_part, included);
        for text in out.items.iter_mut().map(|item| &mut item.text).chain([&mut out.closing]) {
            if let Cow::Owned(broken) = without_tool_marks(text, false, |_| true) {
                *text = broken;
            }
        }
        out
    }
}

impl Prompt<'_> {
    fn entry(&self, index: usize, shown_part: ShownPart, included: &Included) -> EntryText {
        let text = match &self.report.entries[index] {
            Entry::Note(entry) => {
                let view = NoteView { index, entry, shown_part, included };
                let content = view.level_text();
                return content.map_or_else(
                    || self.human.render(index, shown_part, included),
                    |content| self.item(view, &content),
                );
            }
            Entry::Comparison(comparison) => indented("Comparison", &escaped_lines(&comparison_lines(comparison))),
            Entry::Pattern(pattern) => {
                let has_heading = self.includes(included, |entry| matches!(entry, Entry::Pattern(_)));
                let heading = if has_heading { "" } else { "Patterns" };
                indented(heading, &escaped_lines(&pattern_line(pattern)))
            }
            _ => {
                let text = self.human.render(index, shown_part, included).items.into_iter().map(|item| item.text);
                quoted(&text.collect::<String>()) + "\n"
            }
        };
        EntryText::of(text)
    }

    /// Returns what a reader of the notes alone would miss: days and words recognised in a question, and the warnings.
    fn interpretation(&self, shown: FrameState<'_>) -> String {
        if shown.is_brief {
            return String::new();
        }
        let head = &self.report.head;
        let mut parts: Vec<String> = Vec::new();
        if let Some(analysis) = &head.analysis {
            parts.extend(day_parts(analysis));
            parts.extend(analysis.warnings.iter().map(|warning| one_line(warning)));
        }
        let mut text = spelling_lines(head, shown) + &unknown_name_lines(head, shown);
        if !parts.is_empty() {
            text.insert_str(0, &format!("Understood: {}\n", parts.join("; ")));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    /// Returns an assessed note as a list item.
    fn item(&self, view: NoteView<'_>, content: &LevelText<'_>) -> EntryText {
        let body = body_of(content);
        let mut text = self.item_text(view.entry, content, &body.text);
        if !content.origins().is_empty() {
            text.push_str("  Derived from:\n");
        }
        for (id, title, confidence) in content.origins() {
            let title = escaped_lines(&one_line(title));
            text.push_str(&format!("  - [{id}] {title} (confidence: {confidence:.2})\n"));
        }
        for edge in view.edges() {
            text.push_str(&format!("  [{}] {} [{}]\n", edge.from, escaped_lines(&one_line(&edge.kind)), edge.to));
        }
        if *self.report.head.layout == layout::EXPANSION && self.report.head.show.has_sources {
            for source in view.entry.note.sources() {
                let source = format!("{} {}", source.url, source.title.as_deref().unwrap_or_default());
                text.push_str(&format!("  Source: {}\n", escaped_lines(&one_line(source.trim()))));
            }
        }
        let is_note = |entry: &Entry| entry.note().is_some();
        // A blank line ends the derived entries.
        if self.includes(view.included, Entry::is_derived) && !self.includes(view.included, is_note) {
            text.insert(0, '\n');
        }
        let mut out = content.empty_entry(self.tokenizer);
        out.add(0, text);
        out.closing = body.closing;
        out
    }

    /// Returns the name, the confidence and the text of an assessed note.
    fn item_text(&self, entry: &NoteEntry, content: &LevelText<'_>, body: &str) -> String {
        let (id, title) = (&entry.note.id, one_line(entry.note.title()));
        let is_title = content.text == title;
        let (title, body) = (escaped_lines(&title), escape_confidence(body));
        let state = entry.state_in_words().map_or(String::new(), |words| format!(" ({words})"));
        let contradictions = match content.assessment.contradictions {
            0 => String::new(),
            count => format!(", contradictions: {count}"),
        };
        let known = format!(" (confidence: {}{contradictions})", content.confidence());
        let summary = content.summary.as_ref().map_or(String::new(), |text| format!(": {}", escaped_lines(text)));
        let name = format!("- [{id}]{state} {title}{summary}");
        match &content.passages {
            Some(passages) if passages.is_empty() => format!("{name}{known}\n"),
            Some(passages) => name + &known + &quoted_passages(passages),
            None if is_title => format!("{name}{known}\n"),
            None if body.contains('\n') || !summary.is_empty() => format!("{name}{known}:\n{body}\n"),
            None => format!("{name}: {}{known}\n", body.strip_prefix("> ").unwrap_or(&body)),
        }
    }

    /// Whether an entry of a kind is included.
    fn includes(&self, included: &Included, is_kind: impl Fn(&Entry) -> bool) -> bool {
        self.report.entries.iter().enumerate().any(|(index, entry)| included.has(index) && is_kind(entry))
    }
}

/// Escapes names and fields of a note, in which nothing may be open either.
fn escaped_lines(text: &str) -> String {
    escape_confidence(&without_marks_in_lines(text))
}

/// Escapes text of a note that could be mistaken for the confidence that qipu adds, with a backslash as in markdown.
fn escape_confidence(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['(', '（']) {
        let (before, after) = rest.split_at_checked(start).unwrap_or((rest, ""));
        let mut inside = after.chars();
        let open = inside.next();
        let word: String = inside.as_str().trim_start().chars().take(CONFIDENCE.len()).collect();
        out.push_str(before);
        if word.eq_ignore_ascii_case(CONFIDENCE) {
            out.push('\\');
        }
        out.extend(open);
        rest = inside.as_str();
    }
    out + rest
}

/// Returns a derived entry below its name, indented so that it is no item among the notes.
fn indented(name: &str, lines: &str) -> String {
    let heading = if name.is_empty() { String::new() } else { format!("{name}:\n") };
    let lines = lines.lines().map(|line| format!("  {line}\n"));
    heading + &lines.collect::<String>()
}

/// Returns the passages behind the name of their note: the lines and the heading path of each, then its text.
fn quoted_passages(passages: &[Passage]) -> String {
    let mut text = String::new();
    for (index, passage) in passages.iter().enumerate() {
        let (first, last) = passage.lines;
        let path: Vec<String> = passage.heading_path.iter().map(|heading| escaped_lines(&one_line(heading))).collect();
        let path = if path.is_empty() { String::new() } else { format!(", {}", path.join(" › ")) };
        let start = if index == 0 { "," } else { " " };
        text.push_str(&format!(
            "{start} lines {first}-{last}{path}:\n{}\n",
            escape_confidence(&Prose::new(&passage.shown_text(), false, Framing::Quoted, Surroundings::Quote).text)
        ));
    }
    text
}

/// Returns the text of an assessed note as a quotation; nothing if it is shown in passages.
fn body_of(content: &LevelText<'_>) -> Prose {
    if content.passages.is_some() {
        return Prose::default();
    }
    Prose::new(content.text.trim_end(), content.is_cut, Framing::Quoted, Surroundings::Quote)
}
