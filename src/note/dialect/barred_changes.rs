//! Changes that qipu can't make in a file of another application. qipu writes fields as YAML frontmatter, and some files have
//! theirs elsewhere.

use super::super::edit::has_yaml;
use super::super::frontmatter::{has_toml, read_foreign};
use super::super::properties::head;
use super::Dialect;
use super::adr_metadata::Metadata;

impl Dialect {
    /// Returns the reason why a file must not change from an old to a new text; `None` if it may.
    pub fn bars_change(self, old: &str, new: &str) -> Option<&'static str> {
        let is_changed = self != Self::Qipu && old != new;
        let has_properties = || !head(old.trim_start_matches('\u{feff}')).is_empty();
        let gets_yaml = || !has_yaml(old) && has_yaml(new);
        match self {
            _ if !is_changed => None,
            _ if has_toml(old) => Some("its frontmatter is TOML, and fields are written as YAML"),
            Self::Logseq if gets_yaml() && has_properties() => {
                Some("its fields are properties of Logseq, which count only in the first lines")
            }
            Self::Adr if states_status(old) && status_field(old) != status_field(new) => {
                Some("its status is in the text, and a field would contradict it")
            }
            _ => None,
        }
    }
}

/// Whether the text of a record states its status.
fn states_status(text: &str) -> bool {
    let (_, body) = read_foreign(text, &mut Vec::new());
    let mut metadata = Metadata::new("");
    metadata.read_body(text.get(body).unwrap_or_default());
    metadata.status.is_some()
}

/// Returns the status in the frontmatter of a record, as it is written there.
fn status_field(text: &str) -> Option<String> {
    let (fields, _) = read_foreign(text, &mut Vec::new());
    let mut all = fields.unknown.iter().chain(&fields.custom);
    all.find(|(key, _)| key == "status").map(|(_, value)| value.to_line())
}
