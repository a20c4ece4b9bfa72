//! The tags in a text: `#tag`, `#nested/tag`, `#[[two words]]`.

use std::ops::Range;

use foldhash::{HashSet, HashSetExt};
use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::markdown::parser;

/// The largest number of tags from one text; typed texts have fewer.
const MAX_TAGS: usize = 500;

/// Returns the tags in a text in its order, each once, without those in code, links and comments.
pub(crate) fn inline_tags(text: &str) -> Vec<String> {
    if !text.contains('#') {
        return Vec::new();
    }
    let mut scanner = TagScanner { text, tags: Vec::new(), seen: HashSet::new(), run: 0..0 };
    let (mut in_code, mut links) = (false, 0_usize);
    for (event, range) in parser(text).into_offset_iter() {
        if matches!(event, Event::Text(_)) && !in_code && links == 0 {
            scanner.add_text(range);
            continue;
        }
        scanner.end_run();
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                links += 1;
                scanner.link(link_type, &dest_url, range.start);
            }
            Event::Start(Tag::Image { link_type, dest_url, .. }) => {
                links += 1;
                scanner.link(link_type, &dest_url, range.start);
            }
            Event::End(TagEnd::Link | TagEnd::Image) => links = links.saturating_sub(1),
            _ => {}
        }
    }
    scanner.end_run();
    scanner.tags
}

struct TagScanner<'a> {
    text: &'a str,
    tags: Vec<String>,
    seen: HashSet<String>,
    /// The range of the current run of plain text.
    run: Range<usize>,
}

impl TagScanner<'_> {
    /// The parser splits text wherever a construct might have begun.
    fn add_text(&mut self, range: Range<usize>) {
        if self.run.end == range.start {
            self.run.end = range.end;
        } else {
            self.end_run();
            self.run = range;
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let text = self.text.get(run.clone()).unwrap_or_default();
        for (offset, _) in text.match_indices('#') {
            let before = self.text.get(..run.start + offset).and_then(|before| before.chars().next_back());
            let is_at_start = before.is_none_or(|c| c.is_whitespace() || matches!(c, '(' | ',' | ';'));
            let rest = text.get(offset + 1..).unwrap_or_default();
            let end = rest.find(|c: char| !is_tag_char(c)).unwrap_or(rest.len());
            let tag = rest.get(..end).unwrap_or_default().trim_end_matches(['/', '-', '.', '\'']);
            if is_at_start && tag.chars().any(|c| c.is_alphabetic() || !c.is_ascii()) {
                self.add(tag);
            }
        }
    }

    fn link(&mut self, link_type: LinkType, target: &str, start: usize) {
        let is_wiki = matches!(link_type, LinkType::WikiLink { .. });
        let target = target.trim_end_matches('\\').trim();
        if is_wiki && !target.is_empty() && self.text.get(..start).is_some_and(|before| before.ends_with('#')) {
            self.add(target);
        }
    }

    fn add(&mut self, tag: &str) {
        if self.tags.len() < MAX_TAGS && self.seen.insert(tag.to_owned()) {
            self.tags.push(tag.to_owned());
        }
    }
}

fn is_tag_char(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '_' | '-' | '/' | '.' | '\'')
        || (!c.is_ascii() && !c.is_whitespace() && !is_punctuation(c))
}

/// Tells whether a character is punctuation beyond ASCII, which ends a tag.
fn is_punctuation(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}' | '«' | '»')
}
