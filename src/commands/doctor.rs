//! `qipu doctor`: what is wrong or odd in a store. It only looks.

use crate::error::{Error, ErrorKind};
use crate::graph::{Digests, Graph};
use crate::note::{Finding, Note};
use crate::report::{Entry, FindingEntry, Head, Mode, Report};
use crate::request::Doctor;
use crate::store::Store;

/// Reports every finding, by path and line; errors (with `--strict`, warnings too) fail the check.
pub(super) fn run(request: &Doctor, store: &Store) -> Report {
    let mut findings = note_findings(store);
    findings.extend(link_findings(store));
    let passed_over = store.passed_over().into_iter().map(|(path, why)| FindingEntry {
        is_error: true,
        code: "passed-over",
        id: None,
        path: store.shown(&path),
        line: None,
        message: why.to_owned(),
    });
    findings.extend(passed_over);
    findings.sort_by(|a, b| (&a.path, a.line, a.code).cmp(&(&b.path, b.line, b.code)));
    let errors = findings.iter().filter(|finding| finding.is_error).count();
    let warnings = findings.len() - errors;
    let head = Head::new(Mode::Doctor, Some(&store.shown_path));
    let mut report = Report::new(head, findings.into_iter().map(Entry::Finding).collect());
    if errors > 0 || (request.is_strict && warnings > 0) {
        report.verdict = Some(Error::new(ErrorKind::Store, format!("{errors} errors, {warnings} warnings")));
    }
    report
}

fn note_findings(store: &Store) -> Vec<FindingEntry> {
    let of_note = |note: &std::sync::Arc<Note>| {
        let findings =
            note.findings.iter().map(|finding| FindingEntry::of_note(store.shown(&note.path), note, finding));
        findings.collect::<Vec<_>>()
    };
    store.notes().iter().flat_map(of_note).collect()
}

fn link_findings(store: &Store) -> Vec<FindingEntry> {
    let types = &store.config.link_types;
    let graph = Graph::new(store.notes(), types);
    let mut findings = Vec::new();
    for (place, note) in store.notes().iter().enumerate() {
        let mut find = |is_error: bool, code: &'static str, message: String| {
            let finding = Finding { code, line: None, message };
            findings.push(FindingEntry { is_error, ..FindingEntry::of_note(store.shown(&note.path), note, &finding) });
        };
        for target in graph.unresolved(place) {
            find(false, "broken-link", format!("nothing is named `{target}`"));
        }
        for path in graph.outside(place) {
            find(true, "link-leaves-store", format!("`{path}` leads out of the store"));
        }
        for link in note.links.iter().filter(|link| !types.knows(&link.kind)) {
            find(false, "unknown-link-type", format!("there is no link type `{}`", link.kind));
        }
        if graph.written(place).is_empty() && graph.backlinks(place).next().is_none() {
            find(false, "no-links", "no link leads from it or to it".to_owned());
        }
    }
    for (place, message) in Digests::new(store.notes()).refused() {
        let finding = Finding { code: "broken-digest", line: None, message: message.clone() };
        let note = &store.notes()[*place];
        findings.push(FindingEntry::of_note(store.shown(&note.path), note, &finding));
    }
    findings
}
