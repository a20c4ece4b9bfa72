//! The findings about the collections that answers are made of: settings and statements that have no effect.

use crate::context::{DistrustedStatements, distrusted_statements};
use crate::report::{DiagnosticEntry, counted};
use crate::store::{SettingFinding, Store};
use crate::warnings;

/// Returns the findings of settings that have no effect, for an answer that contains them in place of the warning.
pub(super) fn setting_findings(store: &Store) -> impl Iterator<Item = DiagnosticEntry> {
    store.settings_warning().into_iter().for_each(|warning| warnings::remove(&warning));
    let finding = |finding: &SettingFinding| {
        DiagnosticEntry::warning(finding.code.name(), finding.file.clone(), finding.message.clone())
    };
    store.setting_findings.iter().map(finding)
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
