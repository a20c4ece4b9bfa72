//! Reads the id, title, type and fields of a note in a store, where qipu decides what the frontmatter means.

use std::ops::Range;

use super::dialect::NoteHead;
use super::{DEFAULT_KIND, Diagnostic, DiagnosticCode, JOURNAL, MOC, NoteId, find_long_body, frontmatter, title, yaml};

/// Reads the fields of a note of a store.
pub(super) fn read(path: &str, text: &str, findings: &mut Vec<Diagnostic>) -> NoteHead {
    let parts = frontmatter::split(text);
    find_long_body(&parts.body, findings);
    if parts.yaml.is_some() {
        find_second_frontmatter(text, &parts.body, findings);
    }
    let mut fields = frontmatter::read(text, &parts, findings);
    let body = if fields.is_text { frontmatter::range_without_bom(text) } else { parts.body };
    let id = fields.id.take().unwrap_or_else(|| {
        findings.push(Diagnostic::new(DiagnosticCode::NoId, "no valid id; one is derived from the file's path"));
        NoteId::from_path(path)
    });
    let title = fields.title.take().unwrap_or_else(|| {
        let message = "no title; the first level-1 heading or the file name is used";
        findings.push(Diagnostic::new(DiagnosticCode::NoTitle, message));
        text.get(body.clone()).and_then(|body| title::of_body(body, path)).unwrap_or_else(|| title::of_path(path))
    });
    let kind = fields.kind.take().unwrap_or_else(|| kind_by_folder(path).to_owned());
    NoteHead { id, title, kind, fields, body }
}

/// Finds a block below the frontmatter that another tool reads as one: its fields are text here.
fn find_second_frontmatter(text: &str, body: &Range<usize>, findings: &mut Vec<Diagnostic>) {
    let below = text.get(body.clone()).unwrap_or_default();
    let rest = below.trim_start();
    if !rest.starts_with("---") {
        return;
    }
    let yaml = frontmatter::split(rest).yaml.and_then(|range| rest.get(range)).map(yaml::parse);
    let is_map =
        matches!(yaml, Some(Ok(tree)) if matches!(&tree.kind, yaml::YamlNode::Map(entries) if !entries.is_empty()));
    if is_map {
        let before = text.get(..body.end - rest.len()).unwrap_or_default();
        let line = Some(before.bytes().filter(|byte| *byte == b'\n').count() + 1);
        let message = "a second frontmatter block begins here; its fields are text and have no effect".to_owned();
        findings.push(Diagnostic { code: DiagnosticCode::SecondFrontmatter, line, message });
    }
}

fn kind_by_folder(path: &str) -> &'static str {
    match path.split('/').next() {
        Some("mocs") => MOC,
        Some("journals") => JOURNAL,
        _ => DEFAULT_KIND,
    }
}
