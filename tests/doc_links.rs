//! Relative links of the documents: each leads to a file that exists, and to a heading of it.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use walkdir::WalkDir;

/// A document: the anchors of its headings, and the targets of its links.
#[derive(Default)]
struct Page {
    anchors: HashSet<String>,
    links: Vec<String>,
}

impl Page {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (mut page, mut heading) = (Self::default(), None);
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => page.anchors.extend(heading.take().map(|text| anchor(&text))),
                Event::Start(Tag::Link { dest_url, .. }) => page.links.push(dest_url.to_string()),
                Event::Text(text) | Event::Code(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
                _ => {}
            }
        }
        page
    }
}

/// Returns the anchor of a heading, without the number that tells equal ones apart.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

#[test]
fn links_between_documents_lead_somewhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize().unwrap();
    let folders = [(root.clone(), 1), (root.join("specs"), usize::MAX)];
    let files = folders.iter().flat_map(|(folder, depth)| WalkDir::new(folder).max_depth(*depth));
    let paths =
        files.map(|entry| entry.unwrap().into_path()).filter(|path| path.extension().is_some_and(|it| it == "md"));
    let pages: BTreeMap<PathBuf, Page> = paths.map(|path| (path.clone(), Page::read(&path))).collect();
    let (mut count, mut lost) = (0, Vec::new());
    for (path, page) in &pages {
        for link in page.links.iter().filter(|link| !link.contains("://")) {
            let (file, fragment) = link.split_once('#').unwrap_or((link, ""));
            let named = if file.is_empty() { path.clone() } else { path.with_file_name(file) };
            let has_heading = |target: &Path| pages.get(target).is_none_or(|page| page.anchors.contains(fragment));
            if !named.canonicalize().is_ok_and(|target| fragment.is_empty() || has_heading(&target)) {
                lost.push(format!("{}: {link}", path.display()));
            }
            count += 1;
        }
    }
    assert!(lost.is_empty(), "{}", lost.join("\n"));
    assert!(count >= 150, "only {count} links");
}
