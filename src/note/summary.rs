//! The summary of a body: a property line, the section `Summary`, the first prose, or the first list items.

use pulldown_cmark::{Event, HeadingLevel, Tag};

use super::Note;
use super::blocks::{self, Block};
use super::markdown::{Events, find_from_beginning, heading_text, is_container, parser};
use super::prose::{self, Paragraph};

/// The source of a summary, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SummarySource {
    /// The property line `description:: text` at the beginning.
    Property,
    /// The section `Summary`.
    Section,
    /// The first paragraph that is prose.
    Paragraph,
    /// The first list items.
    Outline,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BodySummary {
    pub(super) source: SummarySource,
    pub(super) text: String,
}

/// Returns the summary of a body; never the title of its note.
pub(super) fn of_body(body: &str, title: &str) -> Option<BodySummary> {
    let from = |source: SummarySource| move |text: String| BodySummary { source, text };
    let section = || may_have_section(body).then(|| first_under_summary(body, title)).flatten();
    let property = description(body).filter(|text| !prose::is_same_text(text, title)).map(str::to_owned);
    property
        .map(from(SummarySource::Property))
        .or_else(|| section().map(from(SummarySource::Section)))
        .or_else(|| find_from_beginning(body, |events| first_prose(events, title)).map(from(SummarySource::Paragraph)))
        .or_else(|| first_items(body, title, usize::MAX).map(from(SummarySource::Outline)))
}

impl Note {
    /// Returns the first list items, at most `limit`, as the last choice of a summary does.
    pub(crate) fn first_items(&self, limit: usize) -> Option<String> {
        first_items(self.body(), &self.title, limit)
    }
}

/// Returns the first list items of a body, at most `limit`, as its summary.
fn first_items(body: &str, title: &str, limit: usize) -> Option<String> {
    let is_metadata = |heading: &String| prose::is_metadata_name(heading) && !prose::is_same_text(heading, title);
    let item = |block: &Block| prose::item(&block.text, title).filter(|_| !block.heading_path.iter().any(is_metadata));
    blocks::outline(body, limit, item)
}

/// Returns the value of `description::` among the properties at the beginning of a Logseq page.
fn description(body: &str) -> Option<&str> {
    let lines = body.lines().map(|line| line.trim().trim_start_matches("- ")).skip_while(|line| line.is_empty());
    let mut properties = lines.map_while(prose::property);
    properties.find(|(key, value)| key.eq_ignore_ascii_case("description") && !value.is_empty()).map(|(_, value)| value)
}

/// Tells whether a line may be the heading `Summary`, without parsing markdown.
fn may_have_section(body: &str) -> bool {
    let may_be_heading = |line: &str| {
        let line = line.trim_start();
        let is_short = line.len() <= 40;
        (line.starts_with('#') || is_short) && (line.contains("ummary") || line.contains("UMMARY"))
    };
    (body.contains("ummary") || body.contains("UMMARY")) && body.split(['\n', '\r']).any(may_be_heading)
}

/// Returns the first prose under a heading `Summary`, or the items of a list before it.
fn first_under_summary(body: &str, title: &str) -> Option<String> {
    let (mut is_under_summary, mut depth) = (false, 0_usize);
    let mut events = parser(body).into_offset_iter();
    while let Some((event, range)) = events.next() {
        let mut rest = events.by_ref().map(|(event, _)| event);
        let found = match event {
            Event::Start(tag) if is_container(&tag.to_end()) => {
                let is_list = is_under_summary && depth == 0 && matches!(tag, Tag::List(_));
                depth += 1;
                let items = body.get(range).filter(|_| is_list).and_then(|list| first_items(list, title, usize::MAX));
                items.filter(|text| text.contains(char::is_alphanumeric))
            }
            Event::End(end) if is_container(&end) => {
                depth = depth.saturating_sub(1);
                None
            }
            Event::Start(Tag::Heading { .. }) if depth == 0 => {
                is_under_summary = heading_text(&mut rest).is_some_and(|heading| prose::is_summary(&heading));
                None
            }
            Event::Start(Tag::Paragraph) if depth == 0 => {
                Paragraph::read(&mut rest).prose(title).filter(|_| is_under_summary)
            }
            _ => None,
        };
        if found.is_some() {
            return found;
        }
    }
    None
}

/// Returns the first paragraph of prose outside of admonitions and of sections such as `Status`.
pub(super) fn first_prose(events: Events<'_, '_>, title: &str) -> Option<String> {
    let mut skipped_level: Option<HeadingLevel> = None;
    let mut is_in_admonition = false;
    loop {
        match events.next()? {
            Event::Start(Tag::Heading { level, .. }) => {
                is_in_admonition = false;
                let heading = heading_text(events).unwrap_or_default();
                if skipped_level.is_none_or(|skipped| level <= skipped) {
                    let is_skipped = prose::is_metadata_name(&heading) && !prose::is_same_text(&heading, title);
                    skipped_level = is_skipped.then_some(level);
                }
            }
            Event::Start(Tag::Paragraph) => {
                let paragraph = Paragraph::read(events);
                if let Some(is_open) = paragraph.admonition(is_in_admonition) {
                    is_in_admonition = is_open;
                } else if skipped_level.is_none()
                    && let Some(text) = paragraph.prose(title)
                {
                    return Some(text);
                }
            }
            _ => {}
        }
    }
}
