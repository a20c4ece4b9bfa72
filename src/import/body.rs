//! Scans a page's text for links, embeds, block references, tags, block ids and queries.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, LinkType, Tag, TagEnd};

use crate::note::{Destination, InlineLink, destinations, inline_tags, markdown_parser, percent_decoded_text};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReferenceTarget {
    /// A page or file, as in `[[target]]`.
    Wiki(String),
    /// The path of a file, percent-decoded and without `#heading`.
    Path(String),
    Block(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextReference {
    pub(crate) target: ReferenceTarget,
    pub(crate) is_embed: bool,
    pub(crate) range: Range<usize>,
    /// The label in `[[target|label]]`.
    pub(crate) label: Option<String>,
    destination: Option<Destination>,
}

impl TextReference {
    /// Returns the replacement that makes it name `new`; `None` if the target can't be replaced alone.
    pub(crate) fn replacement(&self, text: &str, new: &str) -> Option<(Range<usize>, String)> {
        self.destination.as_ref()?.replacement(text, new)
    }
}

#[derive(Debug, Default)]
pub(crate) struct ScannedText {
    pub(crate) references: Vec<TextReference>,
    /// Link definitions, in the order of the text, whether used or not.
    pub(crate) definitions: Vec<TextReference>,
    /// Tags, without duplicates.
    pub(crate) tags: Vec<String>,
    /// Block ids, `id:: x` and `^x`, in lower case.
    pub(crate) blocks: HashSet<String>,
    /// The number of queries, which an app evaluates and a text can't.
    pub(crate) queries: usize,
}

pub(super) fn scan(text: &str) -> ScannedText {
    let destinations = destinations(text).into_iter();
    let destinations = destinations.map(|found| ((found.range.start, found.range.end), found)).collect();
    let mut scanner = Scanner { text, destinations, ..Scanner::default() };
    for (event, range) in markdown_parser(text).into_offset_iter() {
        scanner.handle_event(&event, range);
    }
    scanner.finish()
}

#[derive(Default)]
struct Scanner<'a> {
    text: &'a str,
    /// The destinations of links, by start and end of the link.
    destinations: HashMap<(usize, usize), Destination>,
    scan: ScannedText,
    in_code: bool,
    in_links: usize,
    /// The range of the current run of plain text.
    run: Range<usize>,
}

impl Scanner<'_> {
    fn handle_event(&mut self, event: &Event<'_>, range: Range<usize>) {
        if matches!(event, Event::Text(_)) && !self.in_code && self.in_links == 0 {
            return self.add_text(range);
        }
        self.end_run();
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                self.in_code = true;
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.split_whitespace().next().unwrap_or_default(),
                    CodeBlockKind::Indented => "",
                };
                self.scan.queries += usize::from(matches!(language, "dataview" | "dataviewjs" | "query" | "tasks"));
            }
            Event::End(TagEnd::CodeBlock) => self.in_code = false,
            Event::Start(Tag::Link { link_type, dest_url, .. }) => self.link(*link_type, dest_url, range, false),
            Event::Start(Tag::Image { link_type, dest_url, .. }) => self.link(*link_type, dest_url, range, true),
            Event::End(TagEnd::Link | TagEnd::Image) => self.in_links = self.in_links.saturating_sub(1),
            _ => {}
        }
    }

    /// The parser splits text wherever a construct might have begun.
    fn add_text(&mut self, range: Range<usize>) {
        if self.run.is_empty() || self.run.end != range.start {
            self.end_run();
            self.run = range;
        } else {
            self.run.end = range.end;
        }
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        let Some(text) = self.text.get(run.clone()).filter(|text| !text.is_empty()) else { return };
        let queries = ["{{query", "#+BEGIN_QUERY", "#+begin_query"];
        self.scan.queries += queries.iter().map(|query| text.matches(query).count()).sum::<usize>();
        self.block_ids(text);
        self.block_references(text, run.start);
    }

    fn link(&mut self, link_type: LinkType, url: &CowStr<'_>, range: Range<usize>, is_embed: bool) {
        self.in_links += 1;
        // In a table the bar of `[[page\|label]]` is escaped.
        let written = url.trim_end_matches('\\').trim();
        if written.is_empty() || matches!(link_type, LinkType::Autolink | LinkType::Email) {
            return;
        }
        let target = if let LinkType::WikiLink { .. } = link_type {
            ReferenceTarget::Wiki(written.to_owned())
        } else if let Some(block) = written.strip_prefix("((").and_then(|rest| rest.strip_suffix("))")) {
            ReferenceTarget::Block(block.to_lowercase())
        } else if let Some(page) = written.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
            ReferenceTarget::Wiki(page.to_owned())
        } else {
            let path = written.split('#').next().unwrap_or_default();
            if path.is_empty() || path.starts_with("//") || has_scheme(path) {
                // What is left is a definition.
                self.destinations.remove(&(range.start, range.end));
                return;
            }
            ReferenceTarget::Path(percent_decoded_text(path))
        };
        let destination = self.destinations.remove(&(range.start, range.end));
        let label = self.label(link_type, &range);
        self.scan.references.push(TextReference { target, is_embed, range, label, destination });
    }

    fn label(&self, link_type: LinkType, range: &Range<usize>) -> Option<String> {
        let is_labelled = link_type == LinkType::WikiLink { has_pothole: true };
        let inside = self.text.get(range.clone()).filter(|_| is_labelled)?.strip_suffix("]]")?;
        inside.split_once('|').map(|(_, label)| label.trim().to_owned())
    }

    /// Ends the scan. Destinations without a link are those of definitions.
    fn finish(mut self) -> ScannedText {
        self.end_run();
        let mut left: Vec<Destination> = self.destinations.into_values().collect();
        left.sort_by_key(|found| found.range.start);
        let definition = |found: Destination| {
            let InlineLink::Path(path) = &found.link else { return None };
            let (target, range) = (ReferenceTarget::Path(path.clone()), found.range.clone());
            Some(TextReference { target, is_embed: false, range, label: None, destination: Some(found) })
        };
        self.scan.tags = inline_tags(self.text);
        self.scan.definitions = left.into_iter().filter_map(definition).collect();
        self.scan
    }

    fn block_ids(&mut self, text: &str) {
        let property = text.trim_start().strip_prefix("id:: ").and_then(|rest| rest.split_whitespace().next());
        let last = text.trim_end().rsplit(char::is_whitespace).next().unwrap_or_default();
        let anchor = last.strip_prefix('^').filter(|anchor| is_anchor(anchor));
        self.scan.blocks.extend(property.into_iter().chain(anchor).map(str::to_lowercase));
    }

    fn block_references(&mut self, text: &str, start: usize) {
        for (offset, _) in text.match_indices("((") {
            let inside = text.get(offset + 2..).and_then(|rest| rest.split_once("))"));
            let Some((id, _)) = inside.filter(|(id, _)| is_uuid(id)) else { continue };
            let range = start + offset..start + offset + id.len() + 4;
            let target = ReferenceTarget::Block(id.to_lowercase());
            self.scan.references.push(TextReference { target, is_embed: false, range, label: None, destination: None });
        }
    }
}

/// Tells whether a URL has a scheme, such as `https:` or `mailto:`, and so is no file.
fn has_scheme(url: &str) -> bool {
    let is_word = |word: &str| word.len() > 1 && word.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    url.split_once(':').is_some_and(|(scheme, _)| is_word(scheme))
}

fn is_anchor(text: &str) -> bool {
    !text.is_empty() && text.len() <= 200 && text.chars().all(|c| c.is_alphanumeric() || c == '-')
}

fn is_uuid(text: &str) -> bool {
    (8..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<ReferenceTarget> {
        scan(text).references.into_iter().map(|reference| reference.target).collect()
    }

    #[test]
    fn finds_what_a_text_refers_to() {
        let wiki = |name: &str| ReferenceTarget::Wiki(name.to_owned());
        let text = "- see [[A b]] and ((6401ab12-0000-4000-8000-0123456789ab))\n\t- id:: 6401AB12-x\n\t- \
                    [x](../assets/a%20b.png) ![y](<../assets/c d.png>) {{embed [[E]]}}\n- [l](((6401ab12-1111))) [m]([[N]])\n\
                    - `[[no]]` ((not a block)) https://x.org/#no ![[pic.png|100]]\n\n```\n[[no]] #no\n```\n";
        assert_eq!(
            targets(text),
            [
                wiki("A b"),
                ReferenceTarget::Block("6401ab12-0000-4000-8000-0123456789ab".into()),
                ReferenceTarget::Path("../assets/a b.png".into()),
                ReferenceTarget::Path("../assets/c d.png".into()),
                wiki("E"),
                ReferenceTarget::Block("6401ab12-1111".into()),
                wiki("N"),
                wiki("pic.png"),
            ]
        );
        assert!(scan(text).blocks.contains("6401ab12-x"));
        let found = scan(text);
        let replaced_text = |reference: &TextReference| text.get(reference.replacement(text, "")?.0);
        let replaced_texts: Vec<_> = found.references.iter().filter_map(replaced_text).collect();
        assert_eq!(replaced_texts[..3], ["A b", "../assets/a%20b.png", "../assets/c d.png"]);
    }

    #[test]
    fn finds_tags_and_anchors() {
        let found = scan(
            "#a/b-c_d, (#two) #[[two words]] \\#no x#no #12 #été. `#no` #日本語。 [#no](x.md) #a/b-c_d\n\nText ^an-chor\n\n- item ^b2\n",
        );
        assert_eq!(found.tags, ["a/b-c_d", "two", "two words", "été", "日本語"]);
        let mut blocks: Vec<_> = found.blocks.into_iter().collect();
        blocks.sort();
        assert_eq!(blocks, ["an-chor", "b2"]);
        assert_eq!(scan("{{query (and [[a]])}}\n\n```dataview\nLIST\n```\n").queries, 2);
    }
}
