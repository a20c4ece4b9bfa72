//! What of a text is prose, and what only surrounds it: dates, labels, links, marks of tools, licences.

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::TopLevelEvents;

/// Headings of sections that hold no prose about the subject.
const METADATA_NAMES: [&str; 30] = [
    "status",
    "date",
    "dates",
    "author",
    "authors",
    "contributors",
    "deciders",
    "decision makers",
    "metadata",
    "contents",
    "table of contents",
    "toc",
    "on this page",
    "in this article",
    "license",
    "licence",
    "licensing",
    "copyright",
    "changelog",
    "change log",
    "revision history",
    "version history",
    "document history",
    "see also",
    "references",
    "links",
    "related",
    "related links",
    "tags",
    "acknowledgements",
];

/// Headings of parts of a document that never name the whole.
const PART_NAMES: [&str; 13] = [
    "summary",
    "abstract",
    "tl;dr",
    "motivation",
    "status",
    "metadata",
    "contents",
    "table of contents",
    "toc",
    "on this page",
    "license",
    "licence",
    "copyright",
];

/// Words that make up the keys of lines about a document: `Last updated`, `Decided by`.
const METADATA_WORDS: [&str; 99] = [
    "accepted",
    "approved",
    "approver",
    "approvers",
    "area",
    "assignee",
    "at",
    "attendees",
    "author",
    "authored",
    "authors",
    "autor",
    "autoren",
    "auteur",
    "by",
    "categories",
    "category",
    "champion",
    "champions",
    "changed",
    "component",
    "components",
    "consulted",
    "contact",
    "contributors",
    "copyright",
    "created",
    "creation",
    "date",
    "datum",
    "decided",
    "decider",
    "deciders",
    "difficulty",
    "duration",
    "edited",
    "edition",
    "editor",
    "editors",
    "effective",
    "email",
    "estado",
    "feature",
    "fecha",
    "from",
    "homepage",
    "id",
    "informed",
    "issue",
    "issues",
    "jira",
    "keywords",
    "lang",
    "language",
    "last",
    "layout",
    "level",
    "licence",
    "license",
    "link",
    "maintained",
    "maintainer",
    "maintainers",
    "modified",
    "name",
    "number",
    "on",
    "owner",
    "owners",
    "participants",
    "permalink",
    "posted",
    "pr",
    "published",
    "replaces",
    "reviewed",
    "reviewer",
    "reviewers",
    "revised",
    "revision",
    "rfc",
    "slug",
    "spdx",
    "stakeholders",
    "start",
    "state",
    "status",
    "statut",
    "superseded",
    "supersedes",
    "tag",
    "tags",
    "team",
    "ticket",
    "title",
    "tracking",
    "updated",
    "version",
    "written",
];

/// Beginnings of a line about a document that has no colon.
const METADATA_BEGINNINGS: [&str; 13] = [
    "last updated",
    "last modified",
    "last reviewed",
    "last edited",
    "last changed",
    "updated on",
    "created on",
    "published on",
    "posted on",
    "posted by",
    "written by",
    "maintained by",
    "reviewed by",
];

/// States of a document.
const STATES: [&str; 20] = [
    "accepted",
    "active",
    "approved",
    "archived",
    "declined",
    "deprecated",
    "draft",
    "final",
    "implemented",
    "obsolete",
    "pending",
    "proposed",
    "rejected",
    "replaced",
    "retired",
    "superseded",
    "tbd",
    "todo",
    "unmaintained",
    "wip",
];

/// Words that follow a state: `Superseded by`, `Accepted on`.
const AFTER_STATE: [&str; 6] = ["by", "on", "in", "since", "as", "and"];

/// Beginnings of licences and copyright lines, in lower case.
const LICENCES: [&str; 18] = [
    "spdx-",
    "copyright ",
    "copyright:",
    "(c) ",
    "©",
    "licensed under",
    "licensed either under",
    "dual-licensed",
    "dual licensed",
    "unless you explicitly state otherwise",
    "unless required by applicable law",
    "this work is licensed",
    "this file is licensed",
    "this document is licensed",
    "this software is licensed",
    "permission is hereby granted",
    "redistribution and use in source",
    "all rights reserved",
];

/// The kinds of an admonition in `:::kind`.
const ADMONITIONS: [&str; 21] = [
    "abstract",
    "attention",
    "bug",
    "caution",
    "danger",
    "details",
    "error",
    "example",
    "failure",
    "hint",
    "important",
    "info",
    "note",
    "question",
    "quote",
    "seealso",
    "success",
    "tip",
    "todo",
    "warn",
    "warning",
];

/// The most words of a value that is no sentence.
const MAX_VALUE_WORDS: usize = 6;
/// The most words of a value behind a key about the document.
const MAX_METADATA_WORDS: usize = 25;
/// The most words of a key.
const MAX_KEY_WORDS: usize = 4;
/// The most words of a line that only introduces what follows it: `For example:`.
const MAX_LEAD_WORDS: usize = 3;

/// Tells whether a heading is `Summary`.
pub(super) fn is_summary(heading: &str) -> bool {
    section_name(heading) == "summary"
}

/// Tells whether a heading names a part that many documents have, so that it can't be a title.
pub(super) fn is_part_name(heading: &str) -> bool {
    PART_NAMES.contains(&section_name(heading).as_str())
}

/// Tells whether a section of this name speaks of the document and not of its subject.
pub(super) fn is_metadata_name(heading: &str) -> bool {
    METADATA_NAMES.contains(&section_name(heading).as_str())
}

/// Returns a heading in lower case, without a number before it and a colon behind it.
fn section_name(heading: &str) -> String {
    let is_numbering = |c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ');
    heading.trim_start_matches(is_numbering).trim_end_matches(':').trim().to_lowercase()
}

/// Tells whether two texts are the same but for case, white space and punctuation.
pub(super) fn is_same(a: &str, b: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    a.trim() == b.trim() || (letters(a).next().is_some() && letters(a).eq(letters(b)))
}

/// Splits a property line of an outliner, `key:: value`.
pub(super) fn property(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once("::")?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/'));
    let is_value = value.is_empty() || value.starts_with([' ', '\t']);
    (is_key && is_value).then(|| (key, value.trim()))
}

/// A paragraph, line by line, without its markup.
#[derive(Debug, Default)]
pub(super) struct Paragraph {
    lines: Vec<ProseLine>,
}

#[derive(Debug, Default)]
struct ProseLine {
    text: String,
    /// The letters and digits of `text`, and how many of them stand neither in a link nor in code.
    letters: usize,
    own_letters: usize,
    links: usize,
    /// Whether a link leads to anything but a heading of the same file.
    has_foreign_link: bool,
    /// The length of the bold text that the line begins with, in bytes of `text`.
    bold: usize,
}

impl Paragraph {
    /// Reads the paragraph that has just begun.
    pub(super) fn read<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> Self {
        let mut lines = vec![ProseLine::default()];
        let (mut links, mut images, mut is_bold) = (0_usize, 0_usize, false);
        for event in events {
            let Some(line) = lines.last_mut() else { break };
            match event {
                Event::Start(Tag::Image { .. }) => images += 1,
                Event::End(TagEnd::Image) => images = images.saturating_sub(1),
                Event::Start(Tag::Link { dest_url, .. }) => {
                    links += 1;
                    line.links += 1;
                    line.has_foreign_link |= !dest_url.starts_with('#');
                }
                Event::End(TagEnd::Link) => links = links.saturating_sub(1),
                Event::Start(Tag::Strong) => is_bold = line.text.trim().is_empty(),
                Event::End(TagEnd::Strong) if is_bold => {
                    is_bold = false;
                    line.bold = line.text.len();
                }
                Event::Text(piece) if images == 0 => line.push(&piece, links == 0),
                Event::Code(piece) if images == 0 => line.push(&piece, false),
                Event::SoftBreak | Event::HardBreak if images == 0 => lines.push(ProseLine::default()),
                Event::InlineHtml(tag) if tag.starts_with("<br") => lines.push(ProseLine::default()),
                Event::End(TagEnd::Paragraph | TagEnd::Item) => break,
                _ => {}
            }
        }
        Self { lines }
    }

    /// Tells whether the paragraph belongs to an admonition, `!!! note` or `:::note … :::`: `Some` with whether the
    /// admonition goes on behind it, `None` where it is text of its own.
    pub(super) fn admonition(&self, is_open: bool) -> Option<bool> {
        let is_end =
            |line: &ProseLine| line.text.trim_start_matches(':').trim().is_empty() && line.text.starts_with(":::");
        let ends = || self.lines.iter().skip(1).any(is_end);
        let first = self.lines.first().map_or("", |line| line.text.trim());
        if is_open {
            return Some(!self.lines.iter().any(is_end));
        }
        if ["!!! ", "??? ", "???+ ", "=== \""].iter().any(|mark| first.starts_with(mark)) {
            return Some(false);
        }
        let kind = first.strip_prefix(":::")?.trim_start_matches([':', ' ', '{', '.']);
        let end = kind.find(|c: char| !c.is_alphanumeric()).unwrap_or(kind.len());
        let is_kind = ADMONITIONS.contains(&kind.get(..end)?.to_lowercase().as_str());
        is_kind.then(|| !ends())
    }

    /// Returns the prose of the paragraph on one line: without lines before it that are labels, dates, marks of a tool or
    /// the title. `None` where nothing else is in it.
    pub(super) fn prose(&self, title: &str) -> Option<String> {
        let is_about = |line: &&ProseLine| line.is_metadata() || line.is_mark() || is_same(&line.text, title);
        let before = self.lines.iter().take_while(is_about).count();
        let lines = self.lines.get(before..)?;
        let texts: Vec<&str> = lines.iter().filter(|line| !line.is_mark()).map(|line| line.text.trim()).collect();
        let text = texts.join(" ").trim().to_owned();
        let has_own_text = !text.is_empty() && !is_link_list(lines);
        let are_labels =
            lines.iter().all(ProseLine::is_bold_label) || (lines.len() > 1 && lines.iter().all(ProseLine::is_label));
        let is_bold_name = matches!(lines, [line] if line.is_bold_name());
        let is_other = are_labels
            || is_bold_name
            || is_state(&text)
            || is_licence(&text)
            || is_lead(&text)
            || is_same(&text, title);
        (has_own_text && !is_other).then_some(text)
    }
}

/// Returns the text of a list item on one line, without its markup: `None` where it says nothing, as an entry of a table
/// of contents, a label about the document, and the title.
pub(super) fn item(markdown: &str, title: &str) -> Option<String> {
    let mut events = TopLevelEvents::new(markdown);
    // What begins like another block, such as a heading in an item, is text here.
    let paragraph = loop {
        match events.next()? {
            Event::Start(Tag::Paragraph) => break Paragraph::read(&mut events),
            Event::Start(Tag::Heading { .. }) => break Paragraph::read_heading(&mut events),
            _ => {}
        }
    };
    let is_anchor = |line: &ProseLine| line.links > 0 && !line.has_foreign_link && line.own_letters == 0;
    let is_left_out = |line: &&ProseLine| {
        line.is_mark() || property(&line.text).is_some() || is_anchor(line) || is_same(&line.text, title)
    };
    let lines = paragraph.lines.iter().filter(|line| !is_left_out(line) && !line.is_metadata());
    let text = lines.map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

impl Paragraph {
    fn read_heading<'a>(events: &mut impl Iterator<Item = Event<'a>>) -> Self {
        let is_inside = |event: &Event<'_>| !matches!(event, Event::End(TagEnd::Heading(_)));
        Self::read(&mut events.take_while(is_inside))
    }
}

impl ProseLine {
    fn push(&mut self, text: &str, is_own: bool) {
        let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
        self.letters += letters;
        self.own_letters += if is_own { letters } else { 0 };
        self.text.push_str(text);
    }

    /// Tells whether the line is a mark of a tool: an include, a template's tag, a table of contents, a comment, tags.
    fn is_mark(&self) -> bool {
        let text = self.text.trim();
        let is_tag = |word: &str| word.len() > 1 && word.starts_with('#') && !word.starts_with("##");
        let begins = ["--8<--", "-8<-", "!include", "#include", "@import", "<<<", "%%", ":::", "{:", "+++"];
        let encloses = [("{%", "%}"), ("{{", "}}"), ("[[_", "_]]"), ("${", "}"), ("{#", "}"), ("{@", "}")];
        let is_import = (text.starts_with("import ") || text.starts_with("export ")) && text.ends_with(';');
        begins.iter().any(|mark| text.starts_with(mark))
            || encloses.iter().any(|(start, end)| text.starts_with(start) && text.ends_with(end))
            || is_import
            || matches!(
                text.to_lowercase().as_str(),
                "[toc]" | "[[toc]]" | "[[_toc_]]" | "table of contents" | "contents"
            )
            || (text.starts_with('#') && text.split_whitespace().all(is_tag))
            || (text.starts_with('^') && !text.contains(' '))
            || is_address(text)
    }

    /// Tells whether the line says something about the document: a date, an author, a state.
    fn is_metadata(&self) -> bool {
        let text = self.text.trim();
        let lower = text.to_lowercase();
        let is_short = text.split_whitespace().nth(10).is_none();
        let begins = METADATA_BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning));
        property(text).is_some() || is_date(&lower) || (begins && is_short) || self.has_metadata_key()
    }

    fn has_metadata_key(&self) -> bool {
        let Some((key, value)) = label(&self.text) else { return false };
        let is_metadata_word = |word: &str| METADATA_WORDS.contains(&word);
        let is_key = key.to_lowercase().split([' ', '-', '/', '_']).all(is_metadata_word);
        is_key && value.split_whitespace().nth(MAX_METADATA_WORDS).is_none()
    }

    /// Tells whether the line is a key in bold with a value that is no sentence.
    fn is_bold_label(&self) -> bool {
        self.bold > 0 && self.is_label() && label(&self.text).is_some_and(|(key, _)| key.len() <= self.bold)
    }

    /// Tells whether the line is a few bold words, which stand for a heading.
    fn is_bold_name(&self) -> bool {
        let is_phrase = self.text.split_whitespace().nth(MAX_LEAD_WORDS).is_none() && !ends_sentence(&self.text);
        self.bold > 0 && self.bold == self.text.trim_end().len() && is_phrase
    }

    /// Tells whether the line is a key with a value that is no sentence.
    fn is_label(&self) -> bool {
        let is_phrase = |value: &str| value.split_whitespace().nth(MAX_VALUE_WORDS).is_none() && !ends_sentence(value);
        label(&self.text).is_some_and(|(_, value)| is_phrase(value))
    }
}

/// Splits a line that begins with a key and a colon.
fn label(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once(':')?;
    let is_key = key.starts_with(char::is_alphabetic) && key.split_whitespace().nth(MAX_KEY_WORDS).is_none();
    let is_value = value.is_empty() || value.starts_with(char::is_whitespace);
    (is_key && is_value).then(|| (key.trim(), value.trim()))
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '\'', ')', '*', '_', '”', '’']).ends_with(['.', '!', '?', '…', '。', '！', '？', '।'])
}

/// Tells whether a text is nothing but a web address.
fn is_address(text: &str) -> bool {
    let text = text.trim_start_matches('<').trim_end_matches('>');
    !text.contains(char::is_whitespace) && ["http://", "https://", "www."].iter().any(|start| text.starts_with(start))
}

/// Tells whether a text in lower case is a day or a time and nothing else.
fn is_date(text: &str) -> bool {
    const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const LONG: [&str; 19] = [
        "january",
        "february",
        "march",
        "april",
        "june",
        "july",
        "august",
        "sept",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ];
    let is_name = |word: &str| MONTHS.contains(&word) || DAYS.contains(&word) || LONG.contains(&word);
    let is_rest =
        |word: &str| matches!(word, "st" | "nd" | "rd" | "th" | "t" | "z" | "utc" | "年" | "月" | "日" | "of");
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    digits > 0 && (digits >= 4 || words().any(is_name)) && words().all(|word| is_name(word) || is_rest(word))
}

/// Tells whether a text is the state of a document: `Accepted`, `Superseded by ADR 12`.
fn is_state(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_state = words.next().is_some_and(|word| STATES.contains(&word));
    let is_phrase = match words.next() {
        None => true,
        Some(word) => {
            let follows = AFTER_STATE.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit());
            follows && words.nth(MAX_VALUE_WORDS).is_none()
        }
    };
    is_state && is_phrase
}

fn is_licence(text: &str) -> bool {
    let lower = text.get(..text.floor_char_boundary(60)).unwrap_or_default().to_lowercase();
    LICENCES.iter().any(|beginning| lower.starts_with(beginning))
}

/// Tells whether a text only introduces what follows it.
fn is_lead(text: &str) -> bool {
    text.ends_with(':') && text.split_whitespace().nth(MAX_LEAD_WORDS).is_none()
}

/// Tells whether lines hold little but links or code.
fn is_link_list(lines: &[ProseLine]) -> bool {
    let sum = |count: fn(&ProseLine) -> usize| lines.iter().map(count).sum::<usize>();
    let (all, own, links) = (sum(|line| line.letters), sum(|line| line.own_letters), sum(|line| line.links));
    // Such as `English | [Deutsch](de.md)`.
    let is_short = |part: &str| part.split_whitespace().nth(MAX_LEAD_WORDS).is_none();
    let is_menu = |line: &ProseLine| {
        let mut parts = line.text.split(['|', '·', '•']);
        line.text.contains(['|', '·', '•']) && parts.all(is_short)
    };
    own == 0 || (links > 1 && own * 4 < all) || (links > 0 && lines.iter().all(is_menu))
}

#[cfg(test)]
mod tests {
    use super::super::summary::{SummarySource, of_body};

    fn summary(body: &str) -> Option<String> {
        of_body(body, "The title").filter(|found| found.source == SummarySource::Paragraph).map(|found| found.text)
    }

    #[test]
    fn what_surrounds_prose_is_passed_over() {
        for noise in [
            "2020-01-01",
            "Date: 2020-01-01",
            "_Last updated on 5 May 2020_",
            "March 5th, 2021",
            "2025年3月5日",
            "Created on: 20 May 2019",
            "Author: Ann Smith",
            "**Status**: accepted",
            "**Status:** accepted\n**Deciders:** Ann, Bob",
            "**Reading level:** all of us",
            "Size: small\nColour: red",
            "Accepted",
            "Superseded by [ADR 12](0012-x.md)",
            "## Status\n\nAccepted after a long and friendly discussion of all sides.",
            "## 2. Status\n\nWe like it.\n\n### Since\n\nWe like it since May.",
            "## License\n\nThis is free for everybody to use.",
            "!!! note \"Read this\"\n    Text of the note.",
            "!!! tip\n\n    Text of the tip.",
            "??? question \"Why?\"",
            ":::tip\nText of the tip.\n:::",
            ":::note Title\n\nText of the note.\n\n:::",
            "> [!NOTE]\n> Text of the note.",
            "=== \"macOS\"",
            "--8<-- \"CONTRIBUTING.md\"",
            "{% include header.html %}",
            "{{#include ../README.md}}",
            "{{< toc >}}",
            "![A logo with words](logo.png)",
            "[![Build status](a.svg)](a) [![Docs](b.svg)](b)",
            "![[embedded]]",
            "[Home](a.md) | [Guide](b.md)",
            "[[one]] [[two]]",
            "English | [Deutsch](de.md) | [日本語](ja.md)",
            "**Performance**",
            "Dual-licensed under MIT or Apache 2.0.",
            "Next: [A long name of a page](a.md), [Another](b.md)",
            "https://example.org/page",
            "<https://example.org/page>",
            "[TOC]",
            "[[_TOC_]]",
            "**Table of Contents**",
            "SPDX-License-Identifier: MIT",
            "Copyright (c) 2020 Ann Smith. All rights reserved.",
            "Licensed under the Apache License, Version 2.0.",
            "<!-- a comment -->",
            "#tag #other/tag",
            "`code`",
            "tags:: a, b\ntype:: page",
            "import Tabs from '@theme/Tabs';",
            "For example:",
            "The title",
            "**The Title.**",
        ] {
            let body = format!("{noise}\n\n## Context\n\nWhat it is *about*.\n\nMore.");
            assert_eq!(summary(&body).as_deref(), Some("What it is about."), "{noise:?}");
            assert_eq!(summary(noise), None, "{noise:?}");
        }
    }

    #[test]
    fn prose_stays_prose() {
        for prose in [
            "Short",
            "Note: this function returns an error where the file is gone.",
            "Status codes are explained here.",
            "Active learning is a method.",
            "In May 2020 we moved.",
            "See the guide for what is meant.",
            "Licensing is a subject of its own.",
            "Description: what it does.",
            "import taxes are high",
            "Copyrights end after 70 years.",
            "日本語のメモ",
            "Either a | b or b | c is what it reads.",
            "To install it, run this command:",
            "The title and more",
        ] {
            assert_eq!(summary(&format!("{prose}\n\nMore.")).as_deref(), Some(prose));
        }
        let bold = summary("**Warning:** this removes all files.\n\nMore.");
        assert_eq!(bold.as_deref(), Some("Warning: this removes all files."));
        assert_eq!(summary("The title\nWhat it says.\n").as_deref(), Some("What it says."));
        assert_eq!(summary("Date: 2020-01-01\nWhat it says.").as_deref(), Some("What it says."));
        assert_eq!(summary("![x](x.png) What it says, see [a](a).").as_deref(), Some("What it says, see a."));
        assert_eq!(summary("::: lead\nWhat it says.\n:::").as_deref(), Some("What it says."));
        assert_eq!(summary("# Licence\n\nText.\n").as_deref(), None);
        assert_eq!(of_body("# Licence\n\nText.\n", "Licence").unwrap().text, "Text.");
    }
}
