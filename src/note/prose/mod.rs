//! Recognition of prose in markdown, as opposed to dates, labels, lists of links, tool markup and licences.

mod terms;

use pulldown_cmark::{Event, Tag, TagEnd};

use super::markdown::{Events, top_level_events};
use terms::{
    ADMONITIONS, AFTER_STATE, LICENCES, METADATA_BEGINNINGS, METADATA_NAMES, METADATA_WORDS, PART_NAMES, STATES,
};

/// The most words of a value that is not a sentence.
const MAX_VALUE_WORDS: usize = 6;
/// The most words of a value after a metadata key.
const MAX_METADATA_WORDS: usize = 25;
const MAX_KEY_WORDS: usize = 4;
/// The most words of a lead-in such as `For example:`.
const MAX_LEAD_WORDS: usize = 3;

pub(super) fn is_summary(heading: &str) -> bool {
    section_name(heading) == "summary"
}

/// Tells whether a heading names a common part of documents, and thus can't be a title.
pub(super) fn is_part_name(heading: &str) -> bool {
    PART_NAMES.contains(&section_name(heading).as_str())
}

/// Tells whether a section with this heading is about the document and not about its subject.
pub(super) fn is_metadata_name(heading: &str) -> bool {
    METADATA_NAMES.contains(&section_name(heading).as_str())
}

/// Returns a heading in lower case, without a number before it or a colon after it.
fn section_name(heading: &str) -> String {
    let is_numbering = |c: char| c.is_ascii_digit() || matches!(c, '.' | ')' | ' ');
    heading.trim_start_matches(is_numbering).trim_end_matches(':').trim().to_lowercase()
}

/// Tells whether two texts are equal up to case, white space and punctuation.
pub(super) fn is_same_text(a: &str, b: &str) -> bool {
    fn letters(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
    }
    a.trim() == b.trim() || (letters(a).next().is_some() && letters(a).eq(letters(b)))
}

/// Splits a property line of an outliner, `key:: value`.
pub(super) fn property(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let is_in_key = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let (key, rest) = line.split_at_checked(line.find(|c| !is_in_key(c))?)?;
    let value = rest.strip_prefix("::").filter(|_| !key.is_empty())?;
    (value.is_empty() || value.starts_with([' ', '\t'])).then(|| (key, value.trim()))
}

/// A paragraph as lines without markup.
pub(super) struct Paragraph(Vec<ProseLine>);

#[derive(Debug, Default)]
struct ProseLine {
    text: String,
    /// The number of letters and digits of `text`, and of those neither in a link nor in code.
    letters: usize,
    unlinked_letters: usize,
    links: usize,
    /// Whether a link leads anywhere but to a heading of the same file.
    has_link_outside: bool,
    /// The length of bold text at the beginning of the line, in bytes of `text`.
    bold_len: usize,
}

impl Paragraph {
    /// Reads a paragraph, up to its end, from the events after its start.
    pub(super) fn read(events: Events<'_, '_>) -> Self {
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
                    line.has_link_outside |= !dest_url.starts_with('#');
                }
                Event::End(TagEnd::Link) => links = links.saturating_sub(1),
                Event::Start(Tag::Strong) => is_bold = line.text.trim().is_empty(),
                Event::End(TagEnd::Strong) if is_bold => {
                    is_bold = false;
                    line.bold_len = line.text.len();
                }
                Event::Text(piece) if images == 0 => line.push(&piece, links == 0),
                Event::Code(piece) if images == 0 => line.push(&piece, false),
                Event::SoftBreak | Event::HardBreak if images == 0 => lines.push(ProseLine::default()),
                Event::InlineHtml(tag) if tag.starts_with("<br") => lines.push(ProseLine::default()),
                Event::End(TagEnd::Paragraph | TagEnd::Item) => break,
                _ => {}
            }
        }
        Self(lines)
    }

    /// Tells whether the paragraph belongs to an admonition, `!!! note` or `:::note … :::`. Returns whether the
    /// admonition continues after it; `None` if the paragraph is outside of any admonition.
    pub(super) fn admonition(&self, is_open: bool) -> Option<bool> {
        let is_end =
            |line: &ProseLine| line.text.trim_start_matches(':').trim().is_empty() && line.text.starts_with(":::");
        let ends = || self.0.iter().skip(1).any(is_end);
        let first = self.0.first().map_or("", |line| line.text.trim());
        if is_open {
            return Some(!self.0.iter().any(is_end));
        }
        if ["!!! ", "??? ", "???+ ", "=== \""].iter().any(|prefix| first.starts_with(prefix)) {
            return Some(false);
        }
        let kind = first.strip_prefix(":::")?.trim_start_matches([':', ' ', '{', '.']);
        let end = kind.find(|c: char| !c.is_alphanumeric()).unwrap_or(kind.len());
        let is_kind = ADMONITIONS.contains(&kind.get(..end)?.to_lowercase().as_str());
        is_kind.then(|| !ends())
    }

    /// Returns the prose on one line without leading labels, dates, tool markup and the title; `None` if none is left.
    pub(super) fn prose(&self, title: &str) -> Option<String> {
        let is_skipped =
            |line: &&ProseLine| line.is_metadata() || line.is_tool_markup() || is_same_text(&line.text, title);
        let skipped = self.0.iter().take_while(is_skipped).count();
        let lines = self.0.get(skipped..)?;
        let texts: Vec<&str> =
            lines.iter().filter(|line| !line.is_tool_markup()).map(|line| line.text.trim()).collect();
        let text = texts.join(" ").trim().to_owned();
        let has_own_text = !text.is_empty() && !is_link_list(lines);
        let are_labels =
            lines.iter().all(ProseLine::is_bold_label) || (lines.len() > 1 && lines.iter().all(ProseLine::is_label));
        let is_bold_name = matches!(lines, [line] if line.is_bold_name());
        let is_lead_in = text.ends_with(':') && text.split_whitespace().nth(MAX_LEAD_WORDS).is_none();
        let is_other = are_labels
            || is_bold_name
            || is_state(&text)
            || is_licence(&text)
            || is_lead_in
            || is_same_text(&text, title);
        (has_own_text && !is_other).then_some(text)
    }
}

/// Returns the text of a list item without markup; `None` for entries of a table of contents, metadata and the title.
pub(super) fn item(markdown: &str, title: &str) -> Option<String> {
    let mut events = top_level_events(markdown);
    // A block start such as that of a heading is text inside an item.
    let paragraph = loop {
        match events.next()? {
            Event::Start(Tag::Paragraph) => break Paragraph::read(&mut events),
            Event::Start(Tag::Heading { .. }) => {
                let is_inside = |event: &Event<'_>| !matches!(event, Event::End(TagEnd::Heading(_)));
                break Paragraph::read(&mut events.take_while(is_inside));
            }
            _ => {}
        }
    };
    let is_anchor = |line: &ProseLine| line.links > 0 && !line.has_link_outside && line.unlinked_letters == 0;
    let is_omitted = |line: &&ProseLine| {
        line.is_tool_markup() || property(&line.text).is_some() || is_anchor(line) || is_same_text(&line.text, title)
    };
    let lines = paragraph.0.iter().filter(|line| !is_omitted(line) && !line.is_metadata());
    let text = lines.map(|line| line.text.trim()).collect::<Vec<_>>().join(" ");
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

impl ProseLine {
    fn push(&mut self, text: &str, is_unlinked: bool) {
        let letters = if text.is_ascii() {
            text.bytes().filter(u8::is_ascii_alphanumeric).count()
        } else {
            text.chars().filter(|c| c.is_alphanumeric()).count()
        };
        self.letters += letters;
        self.unlinked_letters += if is_unlinked { letters } else { 0 };
        self.text.push_str(text);
    }

    /// Tells whether the line is markup of a tool: an include, a template tag, a table of contents, a comment, tags.
    fn is_tool_markup(&self) -> bool {
        let text = self.text.trim();
        let is_tag = |word: &str| word.len() > 1 && word.starts_with('#') && !word.starts_with("##");
        let begins = ["--8<--", "-8<-", "!include", "#include", "@import", "<<<", "%%", ":::", "{:", "+++"];
        let encloses = [("{%", "%}"), ("{{", "}}"), ("[[_", "_]]"), ("${", "}"), ("{#", "}"), ("{@", "}")];
        let tables = ["[toc]", "[[toc]]", "[[_toc_]]", "table of contents", "contents"];
        let is_import = (text.starts_with("import ") || text.starts_with("export ")) && text.ends_with(';');
        begins.iter().any(|prefix| text.starts_with(prefix))
            || encloses.iter().any(|(start, end)| text.starts_with(start) && text.ends_with(end))
            || is_import
            || tables.iter().any(|name| text.eq_ignore_ascii_case(name))
            || (text.starts_with('#') && text.split_whitespace().all(is_tag))
            || (text.starts_with('^') && !text.contains(' '))
            || is_address(text)
    }

    /// Tells whether the line is metadata of the document: a date, an author, a state.
    fn is_metadata(&self) -> bool {
        let text = self.text.trim();
        let is_short = || text.split_whitespace().nth(10).is_none();
        let begins = || {
            let lower = text.to_lowercase();
            METADATA_BEGINNINGS.iter().any(|beginning| lower.starts_with(beginning))
        };
        property(text).is_some() || is_date(text) || (is_short() && begins()) || self.has_metadata_key()
    }

    fn has_metadata_key(&self) -> bool {
        let Some((key, value)) = label(&self.text) else { return false };
        let is_metadata_word = |word: &str| METADATA_WORDS.contains(&word);
        let is_key = key.to_lowercase().split([' ', '-', '/', '_']).all(is_metadata_word);
        is_key && value.split_whitespace().nth(MAX_METADATA_WORDS).is_none()
    }

    /// Tells whether the line is a bold key with a value that is not a sentence.
    fn is_bold_label(&self) -> bool {
        self.bold_len > 0 && self.is_label() && label(&self.text).is_some_and(|(key, _)| key.len() <= self.bold_len)
    }

    /// Tells whether the line is a few bold words used as a heading.
    fn is_bold_name(&self) -> bool {
        let is_phrase = self.text.split_whitespace().nth(MAX_LEAD_WORDS).is_none() && !ends_sentence(&self.text);
        self.bold_len > 0 && self.bold_len == self.text.trim_end().len() && is_phrase
    }

    /// Tells whether the line is a key with a value that is not a sentence.
    fn is_label(&self) -> bool {
        let is_phrase = |value: &str| value.split_whitespace().nth(MAX_VALUE_WORDS).is_none() && !ends_sentence(value);
        label(&self.text).is_some_and(|(_, value)| is_phrase(value))
    }
}

fn label(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.trim().split_once(':')?;
    let is_key = key.starts_with(char::is_alphabetic) && key.split_whitespace().nth(MAX_KEY_WORDS).is_none();
    let is_value = value.is_empty() || value.starts_with(char::is_whitespace);
    (is_key && is_value).then(|| (key.trim(), value.trim()))
}

fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '\'', ')', '*', '_', '”', '’']).ends_with(['.', '!', '?', '…', '。', '！', '？', '।'])
}

fn is_address(text: &str) -> bool {
    let text = text.trim_start_matches('<').trim_end_matches('>');
    !text.contains(char::is_whitespace) && ["http://", "https://", "www."].iter().any(|start| text.starts_with(start))
}

fn is_date(text: &str) -> bool {
    const NAMES: [&str; 20] = [
        "january", "february", "march", "april", "may", "june", "july", "august", "sept", "september", "october",
        "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
    ];
    let is_name = |word: &str| NAMES.iter().any(|name| *name == word || (word.len() == 3 && name.starts_with(word)));
    let is_rest =
        |word: &str| matches!(word, "st" | "nd" | "rd" | "th" | "t" | "z" | "utc" | "年" | "月" | "日" | "of");
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    if digits == 0 {
        return false;
    }
    let lower = text.to_lowercase();
    let words = || lower.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    words().all(|word| is_name(word) || is_rest(word)) && (digits >= 4 || words().any(is_name))
}

/// Tells whether a text is the state of a document: `Accepted`, `Superseded by ADR 12`.
fn is_state(text: &str) -> bool {
    let is_word_end = |c: char| !c.is_alphanumeric();
    let is_one_of = |word: &str, known: &[&str]| known.iter().any(|known| word.eq_ignore_ascii_case(known));
    // Few texts begin with a state, and the others need not be copied.
    let first = text.trim_start_matches(is_word_end).split(is_word_end).next().unwrap_or_default();
    if !is_one_of(first, &STATES) {
        return false;
    }
    let lower = text.to_lowercase();
    let mut words = lower.split(is_word_end).filter(|word| !word.is_empty()).skip(1);
    let is_end = |word: &str| is_one_of(word, &AFTER_STATE) || word.bytes().all(|byte| byte.is_ascii_digit());
    words.next().is_none_or(|word| is_end(word) && words.nth(MAX_VALUE_WORDS).is_none())
}

fn is_licence(text: &str) -> bool {
    let lower = text.get(..text.floor_char_boundary(60)).unwrap_or_default().to_lowercase();
    LICENCES.iter().any(|beginning| lower.starts_with(beginning))
}

/// Tells whether lines consist mostly of links or code.
fn is_link_list(lines: &[ProseLine]) -> bool {
    let sum = |count: fn(&ProseLine) -> usize| lines.iter().map(count).sum::<usize>();
    let (all, own, links) = (sum(|line| line.letters), sum(|line| line.unlinked_letters), sum(|line| line.links));
    // For example `English | [Deutsch](de.md)`.
    let is_short = |part: &str| part.split_whitespace().nth(MAX_LEAD_WORDS).is_none();
    let is_menu = |line: &ProseLine| {
        let mut parts = line.text.split(['|', '·', '•']);
        line.text.contains(['|', '·', '•']) && parts.all(is_short)
    };
    own == 0 || (links > 1 && own * 4 < all) || (links > 0 && lines.iter().all(is_menu))
}

#[cfg(test)]
mod tests;
