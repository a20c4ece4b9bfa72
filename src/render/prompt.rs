//! The prompt format: a section of a model's prompt, a note a list item. What notes say is indented so
//! far that nothing in it is a heading or an item.

use super::content::{LevelTexts, content};
use super::human::{Human, comparison_lines, day_parts, pattern_line};
use super::{BANNER, EntryText, Extent, Frame, FrameState, Included, Renderer, insufficient};
use crate::escape::{lines, one_line};
use crate::report::{Assessment, Detail, Entry, Level, NoteEntry, Passage, Report, ReportKind, SelectionStats};
use crate::tokens::Tokenizer;

/// What qipu says of a note in brackets.
const CONFIDENCE: &str = "confidence";

/// Renders a report as a section of a prompt.
pub(super) struct Prompt<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
    /// What stands beside notes is written as for people.
    pub(super) human: Human<'a>,
}

impl Renderer for Prompt<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let mut before = String::from("## Relevant Knowledge (from qipu)\n\n");
        if self.report.head.banner.unwrap_or(true) {
            before.push_str(&format!("{BANNER}\n\n"));
        }
        before.push_str(&self.understood(shown));
        let account = shown.account;
        if let Some(why) = insufficient(self.report, &shown) {
            before.push_str(&format!("({})\n", one_line(why)));
        } else if shown.is_empty && !self.report.entries.is_empty() {
            before.push_str("(nothing fitted)\n");
        }
        before.extend(shown.lacks.sentence().map(|sentence| format!("({sentence})\n")));
        let mut after = String::new();
        if account.is_some_and(|account| account.has_contradictions) && !shown.is_brief {
            after.push_str("\nNotes that are not shown contradict some of these.\n");
        }
        let is_full = |account: &SelectionStats| account.is_complete && account.expandable.is_empty();
        let note = match !shown.is_truncated && account.is_none_or(is_full) {
            true => "Full relevant context included.",
            false => "Additional context available on request.",
        };
        if self.report.head.matched > 0 {
            after.push_str(&format!("\nNote: {note}\n"));
        }
        // Where the last word counts, how much is covered is what may be missed.
        if let Some(account) = account.filter(|_| self.report.head.matched > 0 && !shown.is_brief) {
            after.push_str(&format!("Coverage: ~{:.0}% of relevant knowledge.\n", account.coverage * 100.0));
        }
        Frame(vec![before, after])
    }

    fn piece(&self, number: usize, extent: Extent, kept: &Included) -> EntryText {
        let mut piece = EntryText::default();
        match &self.report.entries[number] {
            Entry::Note(entry) => match &entry.belief {
                Some(belief) => self.item(number, entry, belief, extent, kept, &mut piece),
                None => return self.human.piece(number, extent, kept),
            },
            Entry::Comparison(comparison) => {
                piece.add(0, found_out("Comparison", &as_said(&comparison_lines(comparison))));
            }
            Entry::Pattern(pattern) => {
                let has_heading = self.has_kept(kept, |entry| matches!(entry, Entry::Pattern(_)));
                let heading = if has_heading { "" } else { "Patterns" };
                piece.add(0, found_out(heading, &as_said(&pattern_line(pattern))));
            }
            _ => {
                let text = self.human.piece(number, extent, kept).items.into_iter().map(|item| item.text);
                piece.add(0, quoted(&text.collect::<String>()));
            }
        }
        piece
    }

    fn detail(&self, _: &Entry) -> Detail {
        Detail::Name
    }
}

impl Prompt<'_> {
    /// Says which days and words a question was understood to mean, and what could not be understood: a reader
    /// of the notes alone would take them for the answer to it.
    fn understood(&self, shown: FrameState<'_>) -> String {
        if shown.is_brief {
            return String::new();
        }
        let mut parts: Vec<String> = Vec::new();
        if let Some(analysis) = &self.report.head.analysis {
            parts.extend(day_parts(analysis));
            parts.extend(analysis.warnings.iter().map(|warning| one_line(warning)));
        }
        let mut text = self.human.spellings(shown) + &self.human.unknown_names(shown);
        if !parts.is_empty() {
            text.insert_str(0, &format!("Understood: {}\n", parts.join("; ")));
        }
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    fn item(
        &self,
        number: usize,
        entry: &NoteEntry,
        belief: &Assessment,
        extent: Extent,
        kept: &Included,
        piece: &mut EntryText,
    ) {
        let content = content(number, entry, belief, extent, kept);
        let (id, title) = (&entry.note.id, one_line(&entry.note.title));
        let is_title = content.text == title;
        let (title, said) = (as_said(&title), as_said(lines(&content.text).trim_end()));
        let retired = entry.retired.map_or(String::new(), |retired| format!(" ({})", retired.words()));
        let mut known = String::new();
        if !self.report.head.show.passages || says_belief(belief, self.report) {
            known.push_str(&format!(" (confidence: {}", confidence(belief, &content)));
            if belief.contradictions > 0 {
                known.push_str(&format!(", contradictions: {}", belief.contradictions));
            }
            known.push(')');
        }
        let name = format!("- [{id}]{retired} {title}");
        let mut text = match &content.passages {
            Some(passages) => name + &known + &quoted_passages(passages),
            None if is_title => format!("{name}{known}\n"),
            None if said.contains('\n') => format!("{name}{known}:\n{}", quoted(&said)),
            None => format!("{name}: {said}{known}\n"),
        };
        if content.level == Level::Detailed && !belief.derived_from.is_empty() {
            text.push_str("  Derived from:\n");
            for (id, title, confidence) in &belief.derived_from {
                let title = as_said(&one_line(title));
                text.push_str(&format!("  - [{id}] {title} (confidence: {confidence:.2})\n"));
            }
        }
        for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
            text.push_str(&format!("  [{}] {} [{}]\n", edge.from, as_said(&one_line(&edge.kind)), edge.to));
        }
        if self.report.head.mode == ReportKind::Expansion && self.report.head.show.sources {
            for source in &entry.note.sources {
                let said = format!("{} {}", source.url, source.title.as_deref().unwrap_or_default());
                text.push_str(&format!("  Source: {}\n", as_said(&one_line(said.trim()))));
            }
        }
        piece.say(&content, self.tokenizer);
        let is_note = |entry: &Entry| entry.note().is_some();
        // What was found out about several notes stands by itself.
        let has_gap = self.has_kept(kept, Entry::is_finding_out) && !self.has_kept(kept, is_note);
        let gap = if has_gap { "\n" } else { "" };
        piece.add(0, format!("{gap}{text}"));
    }

    /// Tells whether an entry of a sort has its place.
    fn has_kept(&self, kept: &Included, is_meant: impl Fn(&Entry) -> bool) -> bool {
        self.report.entries.iter().enumerate().any(|(number, entry)| kept.has(number) && is_meant(entry))
    }
}

/// Returns a text of a note in which nothing looks like what qipu says of how far the note can be relied on: as in
/// markdown, a backslash stands before it.
fn as_said(text: &str) -> String {
    let mut said = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['(', '（']) {
        let (before, after) = rest.split_at_checked(at).unwrap_or((rest, ""));
        let mut inside = after.chars();
        let open = inside.next();
        let word: String = inside.as_str().trim_start().chars().take(CONFIDENCE.len()).collect();
        said.push_str(before);
        if word.eq_ignore_ascii_case(CONFIDENCE) {
            said.push('\\');
        }
        said.extend(open);
        rest = inside.as_str();
    }
    said + rest
}

/// Writes what was found out about several notes: below its name, as no item among the notes.
fn found_out(name: &str, lines: &str) -> String {
    let heading = if name.is_empty() { String::new() } else { format!("{name}:\n") };
    let lines = lines.lines().map(|line| format!("  {line}\n"));
    heading + &lines.collect::<String>()
}

/// Returns the confidence as a level tells it: an essence names it, others count it.
pub(super) fn confidence(belief: &Assessment, content: &LevelTexts) -> String {
    match content.level {
        Level::Essence => belief.confidence.label().to_owned(),
        _ => format!("{:.2}", belief.confidence.overall),
    }
}

/// Tells whether it is said how far a note can be relied on where passages are shown: where that is asked for, or is
/// not what it is of most notes.
pub(super) fn says_belief(belief: &Assessment, report: &Report) -> bool {
    let is_usual = Some(belief.confidence.label()) == report.head.show.usual_confidence && belief.contradictions == 0;
    report.head.explains || !is_usual || !belief.derived_from.is_empty()
}

/// Writes passages behind the name of their note: the lines and headings of each, then its text.
fn quoted_passages(passages: &[Passage]) -> String {
    let mut text = String::new();
    for (number, passage) in passages.iter().enumerate() {
        let (first, last) = passage.lines;
        let path: Vec<String> = passage.path.iter().map(|heading| as_said(&one_line(heading))).collect();
        let below = if path.is_empty() { String::new() } else { format!(", {}", path.join(" › ")) };
        let start = if number == 0 { "," } else { " " };
        text.push_str(&format!("{start} lines {first}-{last}{below}:\n{}", quoted(&as_said(&lines(&passage.text)))));
    }
    text
}

/// Writes a text as a block quote of markdown, where no line of it can be a heading or an item of the answer.
fn quoted(text: &str) -> String {
    let line = |line: &str| if line.trim().is_empty() { ">\n".to_owned() } else { format!("> {line}\n") };
    text.trim_end().lines().map(line).collect()
}
