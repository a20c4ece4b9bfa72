//! What the text of an architecture decision record says of its status, its date, and the records to which it relates.

use super::super::source_links::document_path;
use super::super::{NoteId, RELATED, SUPERSEDED_BY, SUPERSEDES, Timestamp, join_path, title};

/// The words of records for relations, each with its link type.
const RELATIONS: [(&str, &str); 17] = [
    ("superseded by", SUPERSEDED_BY),
    ("superceded by", SUPERSEDED_BY),
    ("replaced by", SUPERSEDED_BY),
    ("supersedes", SUPERSEDES),
    ("supercedes", SUPERSEDES),
    ("replaces", SUPERSEDES),
    ("amends", "refines"),
    ("amended by", "refined-by"),
    ("clarifies", "refines"),
    ("clarified by", "refined-by"),
    ("extends", "refines"),
    ("extended by", "refined-by"),
    ("refines", "refines"),
    ("refined by", "refined-by"),
    ("relates to", "related"),
    ("related to", "related"),
    ("see also", "related"),
];

/// The words for a status, each with the status of the note.
const STATUSES: [(&str, &str); 10] = [
    // A draft of a team is a proposal; a draft of a store is a note that nobody has accepted into it.
    ("draft", "proposed"),
    ("superseded", "superseded"),
    ("superceded", "superseded"),
    ("replaced", "superseded"),
    ("rejected", "rejected"),
    ("declined", "rejected"),
    ("withdrawn", "rejected"),
    ("deprecated", "deprecated"),
    ("obsolete", "obsolete"),
    ("retired", "obsolete"),
];
/// The largest number of words of a line that is a status of its own.
const MAX_STATUS_WORDS: usize = 3;

/// The most bytes of the name of a section that is read.
const MAX_SECTION_NAME: usize = 40;
/// The most relations of a record; those that people write have fewer.
const MAX_RELATIONS: usize = 200;

/// What a record says of itself.
pub(super) struct Metadata<'a> {
    path: &'a str,
    pub(super) status: Option<String>,
    pub(super) created: Option<Timestamp>,
    pub(super) tags: Vec<String>,
    /// Link types and targets.
    pub(super) relations: Vec<(&'static str, String)>,
}

impl<'a> Metadata<'a> {
    /// Creates the metadata of the record at a path, to which the paths of its links are relative.
    pub(super) fn new(path: &'a str) -> Self {
        Self { path, status: None, created: None, tags: Vec::new(), relations: Vec::new() }
    }

    /// Reads the lines above the first section, and the sections on status, date and relations.
    pub(super) fn read_body(&mut self, body: &str) {
        for (section, line) in section_lines(body) {
            match section.as_str() {
                "" => self.labelled_line(line),
                "status" => self.status_line(line),
                "date" => self.date(line),
                "links" | "related" | "related decisions" => self.relation_line(line),
                section => {
                    if let Some(kind) = relation_kind(section) {
                        self.add_relation(kind, line);
                    }
                }
            }
        }
    }

    /// Reads a line such as `* Status: accepted`, `**Date**: 2020-01-01`, `| Status | accepted |`.
    fn labelled_line(&mut self, line: &str) {
        const MARKS: [char; 7] = ['*', '-', '+', ' ', '_', '>', '|'];
        let inside = line.trim().trim_matches(MARKS);
        let pair = inside.split_once(':').or_else(|| inside.split_once('|'));
        let Some((label, value)) = pair.map(|(label, value)| (label.trim_matches(MARKS), value.trim_matches(MARKS)))
        else {
            return self.relation_line(line);
        };
        let label = label.to_lowercase();
        match label.as_str() {
            "status" => self.status_line(value),
            "date" => self.date(value),
            "tags" => self.tags.extend(value.split(',').map(|tag| tag.trim().to_owned())),
            label => match relation_kind(label) {
                Some(kind) => self.add_relation(kind, value),
                None => self.relation_line(line),
            },
        }
    }

    /// Reads a line that begins with a relation.
    fn relation_line(&mut self, line: &str) {
        let begins = relations_in(line).first().is_some_and(|found| found.start == begin_of_words(line));
        if begins {
            self.add_relations(line);
        }
    }

    /// Reads a line of a status: `Accepted`, `Superseded by [ADR 13](0013-x.md)`, `Amends [3. Y](0003-y.md)`.
    pub(super) fn status_line(&mut self, line: &str) {
        // The choices of a template are no relations.
        let is_template = line.trim().trim_matches('|').contains('|');
        let has_relation = !is_template && self.add_relations(line);
        let words: Vec<&str> = line.get(begin_of_words(line)..).unwrap_or_default().split_whitespace().collect();
        let first = words.first().map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '-').next());
        let Some(first) = first.flatten().map(str::to_lowercase).filter(|word| !word.is_empty()) else { return };
        let known = STATUSES.iter().find(|(word, _)| *word == first).map(|(_, status)| *status);
        let is_short = words.len() <= MAX_STATUS_WORDS || is_template || first == "accepted";
        let status = known.map(str::to_owned).or_else(|| (is_short && !has_relation).then_some(first));
        self.status = self.status.take().or(status);
    }

    /// Adds the relations that a line of a status names; a line with a link and without such words is related to it.
    /// Tells whether the line begins with a relation.
    fn add_relations(&mut self, line: &str) -> bool {
        let found = relations_in(line);
        let Some(first) = found.first() else {
            self.add_relation(RELATED, line);
            return false;
        };
        let ends = found.iter().skip(1).map(|next| next.start).chain([line.len()]);
        for (relation, end) in found.iter().zip(ends) {
            if relation.kind == SUPERSEDED_BY {
                self.status = Some("superseded".to_owned());
            }
            self.add_relation(relation.kind, line.get(relation.end..end).unwrap_or_default());
        }
        first.start == begin_of_words(line)
    }

    /// Adds a relation to each record that a text names.
    pub(super) fn add_relation(&mut self, kind: &'static str, text: &str) {
        let targets = self.targets(text);
        if kind == SUPERSEDED_BY && !targets.is_empty() {
            self.status = Some("superseded".to_owned());
        }
        for target in targets {
            if self.relations.len() < MAX_RELATIONS && !self.relations.contains(&(kind, target.clone())) {
                self.relations.push((kind, target));
            }
        }
    }

    fn date(&mut self, text: &str) {
        if self.created.is_none() {
            self.created = Timestamp::parse_lenient(text);
        }
    }

    /// Returns the ids of the files that a text links to, else the names of the records whose numbers it gives.
    fn targets(&self, text: &str) -> Vec<String> {
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        let ids = links.filter_map(|(address, _)| linked_id(self.path, address.split_whitespace().next()?));
        let ids: Vec<String> = ids.map(|id| id.to_string()).collect();
        if ids.is_empty() { numbers(text).map(|number| format!("ADR-{number:04}")).collect() } else { ids }
    }
}

/// A phrase for a relation in a line, as offsets in bytes.
struct FoundRelation {
    kind: &'static str,
    start: usize,
    end: usize,
}

/// Finds the phrases for relations outside of the texts and addresses of links; in these if there are no others.
fn relations_in(line: &str) -> Vec<FoundRelation> {
    let lower = line.to_ascii_lowercase();
    let outside = phrases(&without_links(&lower));
    if outside.is_empty() && lower.trim_start().starts_with('[') && !lower.contains("](") {
        phrases(&lower)
    } else {
        outside
    }
}

fn phrases(lower: &str) -> Vec<FoundRelation> {
    let mut found: Vec<FoundRelation> = Vec::new();
    for (phrase, kind) in RELATIONS {
        for (start, _) in lower.match_indices(phrase) {
            let before = lower.get(..start).unwrap_or_default();
            let end = start + phrase.len();
            let is_inside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            if is_inside(before.chars().next_back()) || is_inside(lower.get(end..).and_then(|rest| rest.chars().next()))
            {
                continue;
            }
            // What is replaced in part still holds.
            let is_partial = ["partially", "partly"].iter().any(|word| before.trim_end().ends_with(word));
            let kind = match kind {
                SUPERSEDED_BY if is_partial => "refined-by",
                SUPERSEDES if is_partial => "refines",
                kind => kind,
            };
            found.push(FoundRelation { kind, start, end });
        }
    }
    found.sort_by_key(|relation| relation.start);
    found
}

/// Returns a text of the same length with spaces in brackets and parentheses.
fn without_links(text: &str) -> String {
    let (mut masked, mut depth) = (String::with_capacity(text.len()), 0_usize);
    for c in text.chars() {
        match c {
            '[' | '(' => depth += 1,
            ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                masked.push(c);
                continue;
            }
            _ => {}
        }
        (0..c.len_utf8()).for_each(|_| masked.push(' '));
    }
    masked
}

/// Returns the offset of the first letter after marks, quotes and a date at the beginning of a line.
fn begin_of_words(line: &str) -> usize {
    line.find(char::is_alphabetic).unwrap_or(line.len())
}

/// Returns the link type of a label such as `superseded by`.
pub(super) fn relation_kind(label: &str) -> Option<&'static str> {
    RELATIONS.iter().find(|(phrase, _)| *phrase == label).map(|(_, kind)| *kind)
}

/// Returns the id of the file of the source that the record at `path` links to.
fn linked_id(path: &str, address: &str) -> Option<NoteId> {
    let linked = document_path(address.trim_matches(['<', '>']))?;
    let file = join_path(path, &linked)?;
    let (stem, ending) = file.rsplit_once('.').unwrap_or((&file, ""));
    Some(NoteId::from_source_path(&match ending {
        "html" | "htm" => format!("{stem}.md"),
        ending if title::is_markdown_ending(ending) => file,
        _ => format!("{file}.md"),
    }))
}

/// Yields the numbers that a text gives as `ADR-0013`, `ADR 13`, or that it begins with.
fn numbers(text: &str) -> impl Iterator<Item = u32> {
    let lower = text.to_ascii_lowercase();
    let after_word = |(offset, word): (usize, &str)| {
        let rest = text.get(offset + word.len()..)?.trim_start_matches(['-', '_', ' ', '#']);
        Some(leading_number(rest)?.0)
    };
    let mut numbers: Vec<u32> = lower.match_indices("adr").filter_map(after_word).collect();
    if numbers.is_empty() {
        let begun = leading_number(text.trim_start_matches([' ', ':', '#', '[']));
        let is_whole = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
        numbers.extend(begun.filter(|(_, rest)| is_whole(rest)).map(|(number, _)| number));
    }
    numbers.into_iter()
}

/// Returns the number with at most five digits that a text begins with, and the rest.
pub(super) fn leading_number(text: &str) -> Option<(u32, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = text.split_at_checked(length)?;
    Some((digits.parse().ok().filter(|_| length <= 5)?, rest))
}

/// Returns the lines of a body that are not headings, code or comments, each with the name of its section in lower case;
/// above the first section it is empty.
fn section_lines(body: &str) -> Vec<(String, &str)> {
    let (mut found, mut section) = (Vec::new(), String::new());
    let (mut fence, mut in_comment) = (None::<&str>, false);
    let mut lines = body.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let marker = ["```", "~~~"].into_iter().find(|marker| trimmed.starts_with(marker));
        if in_comment {
            in_comment = !trimmed.contains("-->");
        } else if fence.is_some() || marker.is_some() {
            fence = if fence.is_none() { marker } else { fence.filter(|open| marker != Some(*open)) };
        } else if trimmed.starts_with("<!--") {
            in_comment = !trimmed.contains("-->");
        } else if let Some((name, is_title)) = heading(line, lines.peek().copied()) {
            let name = name.get(..name.floor_char_boundary(MAX_SECTION_NAME)).unwrap_or(name);
            section = if is_title { String::new() } else { name.to_lowercase() };
        } else if !trimmed.is_empty() {
            found.push((section.clone(), line));
        }
    }
    found
}

/// Returns the text of a heading, and whether its level is 1; `None` for other lines.
fn heading<'l>(line: &'l str, next: Option<&str>) -> Option<(&'l str, bool)> {
    let trimmed = line.trim();
    let text = trimmed.trim_start_matches('#');
    let level = trimmed.len() - text.len();
    if level > 0 {
        return text.starts_with([' ', '\t']).then(|| (text.trim().trim_end_matches(['#', ':', ' ']), level == 1));
    }
    let underline = next.map(str::trim).filter(|next| next.len() > 2 && !trimmed.is_empty())?;
    let is_all = |mark: char| underline.chars().all(|c| c == mark);
    (is_all('=') || is_all('-')).then(|| (trimmed.trim_end_matches(':'), is_all('=')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> (Option<String>, Vec<String>) {
        let mut metadata = Metadata::new("adr/0001-a.md");
        metadata.read_body(body);
        let relations = metadata.relations.iter().map(|(kind, target)| format!("{kind} {target}"));
        (metadata.status.clone(), relations.collect())
    }

    #[test]
    fn a_status_has_many_forms() {
        for (body, status, relations) in [
            ("# 1. A\n\n## Status\n\nAccepted\n", "accepted", ""),
            ("# A\n\n* Status: proposed\n* Date: 2020-01-01\n", "proposed", ""),
            ("# A\n\n**Status**: Draft\n", "proposed", ""),
            ("# A\n\n**Status:** Deprecated\n", "deprecated", ""),
            ("| Status | Rejected |\n|---|---|\n", "rejected", ""),
            ("A\n===\n\nStatus\n------\n\nRetired.\n", "obsolete", ""),
            (
                "## Status\n\nSuperseded by [ADR 13](0013-supersedes-x.md)\n",
                "superseded",
                "superseded-by adr--0013-supersedes-x",
            ),
            ("## Status\n\nAccepted\n\nSuperceded by [2. B](0002-b.md)\n", "superseded", "superseded-by adr--0002-b"),
            ("## Status\nAccepted, superseded by ADR-0013 on 2020-01-01", "superseded", "superseded-by ADR-0013"),
            ("## Status\nAccepted, partially superseded by ADR 13", "accepted", "refined-by ADR-0013"),
            ("* Status: superseded by 0013\n", "superseded", "superseded-by ADR-0013"),
            ("* Status: [superseded by ADR-13]\n", "superseded", "superseded-by ADR-0013"),
            ("* Status: superseded by [ADR-13](https://x.org/13)\n", "superseded", "superseded-by ADR-0013"),
            (
                "## Status\n\nAccepted\n\nSupercedes [1. B](0001-b.md)\n\nAmends [2. C](../b/c)\n\nRefers [3. D](d.html#x)\n",
                "accepted",
                "supersedes adr--0001-b, refines b--c, related adr--d",
            ),
            (
                "# A\n\n- Supersedes: ADR 3, ADR 4\n- Superseded by: none\n",
                "",
                "supersedes ADR-0003, supersedes ADR-0004",
            ),
            (
                "## Supersedes\n\n* [x](x.md)\n\n## Links\n\n* Refined by [y](y.md)\n* [z](z.md)\n",
                "",
                "supersedes adr--x, refined-by adr--y",
            ),
            ("* Status: {proposed | accepted | superseded by ADR-0123}\n", "proposed", ""),
            ("## Status\n\nWhat is the status, such as proposed, accepted, rejected?\n", "", ""),
            ("## Status\n\n<!-- Rejected -->\n\n```\nRejected\n```\n", "", ""),
            ("## Context\n\nStatus: rejected\n\nSupersedes [x](x.md)\n", "", ""),
        ] {
            let (read_status, read_relations) = read(body);
            assert_eq!(read_status.unwrap_or_default(), status, "{body:?}");
            assert_eq!(read_relations.join(", "), relations, "{body:?}");
        }
    }
}
