//! Parses answers in the records format: the notes that they show, and the texts and headings of those notes.

use super::text::{NormalizedText, words};
use crate::fit::ShownText;

#[derive(Default)]
pub(super) struct ShownAnswer {
    /// The ids of the notes, in the order of the answer.
    pub(super) ids: Vec<String>,
    /// The ids of notes that a digest among these replaces.
    pub(super) represented_ids: Vec<String>,
    /// The titles of notes and the headings in their texts, each as [`words`].
    pub(super) headings: Vec<String>,
    /// The texts of notes, without what an answer repeats of the question.
    pub(super) texts: Vec<NormalizedText>,
}

impl ShownAnswer {
    pub(super) fn parse(answer: &str) -> Self {
        let mut shown = Self::default();
        let mut lines = answer.lines();
        while let Some(line) = lines.next() {
            let Some((tag, rest)) = line.split_once(' ') else { continue };
            match tag {
                "N" => shown.add_note(rest),
                "S" => shown.add_text(rest.split_once(' ').map_or("", |(_, summary)| summary)),
                "D" => shown.add_detail(rest),
                "B" => {
                    shown.headings.extend(passage_path(rest));
                    let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "B-END").collect();
                    shown.headings.extend(headings(&body.join("\n")));
                    shown.add_text(&body.join("\n"));
                }
                _ => {}
            }
        }
        shown
    }

    /// Returns the answer that shows parts of notes, those of one note one after the other.
    pub(super) fn of_parts(parts: &[ShownText]) -> Self {
        let mut shown = Self::default();
        for of_note in parts.chunk_by(|(note, _), (next, _)| note == next) {
            let [(note, _), ..] = of_note else { continue };
            let text = of_note.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
            shown.ids.push(note.to_string());
            shown.headings.extend(headings(&text));
            shown.add_text(&text);
        }
        shown
    }

    /// Returns whether a note is shown, or a digest that replaces it.
    pub(super) fn shows(&self, id: &str) -> bool {
        self.ids.iter().chain(&self.represented_ids).any(|shown| shown == id)
    }

    fn add_note(&mut self, rest: &str) {
        let Some((id, rest)) = rest.split_once(' ') else { return };
        self.ids.push(id.to_owned());
        let kind_end = json_text(rest).map_or_else(|| rest.find(' '), |(_, end)| Some(end));
        let title = kind_end.and_then(|end| json_text(rest.get(end..)?.trim_start()));
        self.headings.extend(title.map(|(title, _)| words(&title)));
    }

    fn add_detail(&mut self, rest: &str) {
        if let Some(rest) = rest.strip_prefix("compacted ") {
            self.represented_ids.extend(rest.split(' ').next().map(str::to_owned));
        } else if rest.starts_with("block ") {
            self.headings.extend(parse_printed_heading_path(rest));
            let text = rest.find(" text=\"").and_then(|start| json_text(rest.get(start + " text=".len()..)?));
            if let Some((text, _)) = text {
                self.headings.extend(headings(&text));
                self.add_text(&text);
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        self.texts.push(NormalizedText::new(text));
    }
}

/// Returns the headings of a text, each as [`words`].
pub(super) fn headings(text: &str) -> Vec<String> {
    let heading = |line: &str| line.trim_start().strip_prefix('#').map(|rest| words(rest.trim_matches('#')));
    text.lines().filter_map(heading).filter(|heading| !heading.trim().is_empty()).collect()
}

/// Returns the heading path in the line that begins a passage.
fn passage_path(line: &str) -> Vec<String> {
    let path = line.split_once(" in=").and_then(|(_, path)| json_text(path));
    path.map(|(path, _)| path.split(" › ").map(words).collect()).unwrap_or_default()
}

/// Returns the heading path in the line of a block.
fn parse_printed_heading_path(line: &str) -> Vec<String> {
    let Some((_, mut rest)) = line.split_once(" path=") else { return Vec::new() };
    let mut path = Vec::new();
    loop {
        let quoted = json_text(rest);
        let end = match &quoted {
            Some((_, end)) => *end,
            None => rest.find([',', ' ']).unwrap_or(rest.len()),
        };
        let heading = quoted.map_or_else(|| rest.get(..end).unwrap_or_default().to_owned(), |(text, _)| text);
        path.push(words(&heading));
        match rest.get(end..).and_then(|after| after.strip_prefix(',')) {
            Some(after) => rest = after,
            None => return path,
        }
    }
}

/// Parses the JSON string at the beginning of a text. Returns it and the byte offset of its end.
fn json_text(text: &str) -> Option<(String, usize)> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let string = stream.next()?.ok()?;
    Some((string, stream.byte_offset()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_notes_are_parsed_and_the_analysis_is_not() {
        let answer = "H qipu=1 records=1 store=.qipu/ mode=context notes=2 matched=2 truncated=false\n\
            D analysis terms=echo\nW The following notes are reference material.\n\
            N qp-a1 \"a b\" \"Title \\\"one\\\"\" tags=-\nS qp-a1 A summary.\nE qp-a1 related qp-e5 typed\nD compacted qp-c3 from=qp-a1\n\
            N qp-b2 permanent \"Two\" tags=x,y\nB qp-b2 lines=4 at=7 in=\"Three › \\\"Four\\\" path=X\"\n# A *heading* #\nN qp-d4 permanent \"Forged\" tags=-\n\\B-END\ntext\nB-END\n\
            D block id=qp-b2#1 path=Two,\"Below, it\" depth=0 changed=- score=1.000 text=\"## Inner\\nsays so\" from=qp-b2\n";
        let shown = ShownAnswer::parse(answer);
        assert_eq!(shown.ids, ["qp-a1", "qp-b2"]);
        assert!(shown.shows("qp-c3") && !shown.shows("qp-d4") && !shown.shows("qp-e5"));
        assert_eq!(
            shown.headings,
            [" title one ", " two ", " three ", " four path x ", " a heading ", " two ", " below it ", " inner "]
        );
        let contains = |sentence: &str| shown.texts.iter().any(|text| text.contains(&words(sentence)));
        assert!(contains("a summary") && contains("forged") && contains("says so"));
        assert!(!contains("echo") && !contains("reference material"));
    }
}
