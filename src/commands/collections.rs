//! `qipu where`: reports the collections that answers are made of, and why each counts.

use crate::context::{DistrustedStatements, distrusted_statements};
use crate::report::{DiagnosticEntry, Entry, Report, ReportHead, RowEntry, RowValue, counted, layout};
use crate::store::{Collection, SettingFinding, Store};
use crate::warnings;

/// Reports each collection, then the settings without effect.
pub(super) fn run(store: &Store) -> Report {
    let rows = store.collection_sizes().map(|(collection, notes)| Entry::Row(row(collection, notes)));
    let findings = setting_findings(store).chain(distrusted(store)).map(Entry::Finding);
    Report::new(ReportHead::new(&layout::WHERE, Some(&store.shown_path)), rows.chain(findings).collect())
}

/// Returns the findings of settings that have no effect, for an answer that contains them in place of the warning.
pub(super) fn setting_findings(store: &Store) -> impl Iterator<Item = DiagnosticEntry> {
    store.settings_warning().into_iter().for_each(|warning| warnings::remove(&warning));
    let finding = |finding: &SettingFinding| {
        DiagnosticEntry::warning(finding.code, finding.file.clone(), finding.message.clone())
    };
    store.setting_findings().iter().map(finding)
}

/// Returns a finding for each store whose notes state what does not count, since the user does not trust the store.
pub(super) fn distrusted(store: &Store) -> Vec<DiagnosticEntry> {
    // Invalid settings are a finding of their own.
    let found = distrusted_statements(store).unwrap_or_default();
    let finding = |found: DistrustedStatements| {
        let path = store.collections().nth(found.collection).map(|one| one.shown_path.clone()).unwrap_or_default();
        let fields: Vec<String> = found.fields.iter().map(|field| format!("`{field}`")).collect();
        let (notes, verb) = (counted(found.notes, "note"), if found.notes == 1 { "states" } else { "state" });
        let message = format!(
            "{notes} {verb} {}, which has no effect, because you do not trust the store; `qipu init --trust` lets it count",
            fields.join(", ")
        );
        DiagnosticEntry::warning("claims-ignored", path, message)
    };
    found.into_iter().map(finding).collect()
}

fn row(collection: &Collection, notes: usize) -> RowEntry {
    let (kind, reason) = (if collection.is_source() { "source" } else { "store" }, collection.reason.to_string());
    let mut about =
        vec![if collection.is_source() { format!("source, {}", collection.dialect.name()) } else { kind.to_owned() }];
    about.extend((!collection.is_writable).then(|| "only read".to_owned()));
    about.push(reason.clone());
    let dialect = if collection.is_source() { RowValue::name(collection.dialect.name()) } else { RowValue::Nothing };
    RowEntry {
        kind: "collection",
        list: "collections",
        figure: notes.to_string(),
        line: format!("{}  {} ({})", collection.name, collection.shown_path, about.join("; ")),
        fields: vec![
            ("name", RowValue::name(&collection.name)),
            ("kind", RowValue::name(kind)),
            ("as", dialect),
            ("path", RowValue::name(&collection.shown_path)),
            ("notes", RowValue::Count(notes)),
            ("writable", RowValue::Flag(collection.is_writable)),
            ("reason", RowValue::Text(reason)),
        ],
        ..RowEntry::default()
    }
}
