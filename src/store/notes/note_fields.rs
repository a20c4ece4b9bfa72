//! The fields of a note by their names, for filters and lines.

use std::borrow::Cow;

use super::note_handle::NoteHandle;
use crate::note::Value;

/// The names of qipu's own fields; `tag` is one of `tags` for people who write a filter.
pub const OWN_FIELDS: [&str; 15] = [
    "aliases", "compacts", "created", "date", "id", "links", "path", "sources", "summary", "tag", "tags", "title",
    "type", "updated", "value",
];

impl NoteHandle {
    /// Returns the texts of a field, several of a list and none of an object: of a custom one, else one that qipu does not
    /// know, else one of its own. `None` if it is absent.
    pub fn field_texts(&self, name: &str) -> Option<Vec<Cow<'_, str>>> {
        let fields = self.extra_fields();
        // A field without a value is absent, so that it hides none of the same name.
        let mut named =
            fields.custom.iter().chain(fields.unknown).filter(|(key, value)| key == name && !value.is_null());
        let Some((_, value)) = named.next() else { return self.own_texts(name) };
        let mut texts = Vec::new();
        add_texts(value, &mut texts);
        Some(texts)
    }

    /// Returns the texts of one of qipu's own fields. `None` if it is absent.
    pub fn own_texts(&self, name: &str) -> Option<Vec<Cow<'_, str>>> {
        let fields = self.list_fields();
        let text = match name {
            "id" => Cow::Borrowed(self.id.as_str()),
            "title" => Cow::Borrowed(self.title()),
            "type" => Cow::Borrowed(fields.kind),
            "path" => Cow::Borrowed(self.path.as_str()),
            "created" => Cow::Owned(fields.created_as_written()?.as_str().to_owned()),
            "updated" => Cow::Owned(fields.updated_as_written()?.as_str().to_owned()),
            "date" => Cow::Owned(fields.day()?.to_string()),
            // That of the body too, as answers show it.
            "summary" => self.summary()?,
            "value" => Cow::Owned(self.value_or_default().to_string()),
            "verified" => Cow::Owned(self.verified()?.to_string()),
            "tag" | "tags" => return texts_of(self.tags()),
            "aliases" => return texts_of(self.aliases()),
            "compacts" => return texts_of(self.relations().compacts),
            "sources" => return texts_of(self.sources().iter().map(|source| source.url.as_str()).collect()),
            "links" => return texts_of(self.link_fields().typed.iter().map(|(_, target)| *target).collect()),
            _ => return None,
        };
        Some(vec![text])
    }
}

/// Returns the items of a list as texts; `None` if there are none.
fn texts_of(items: Vec<&str>) -> Option<Vec<Cow<'_, str>>> {
    (!items.is_empty()).then(|| items.into_iter().map(Cow::Borrowed).collect())
}

fn add_texts<'a>(value: &'a Value, texts: &mut Vec<Cow<'a, str>>) {
    match value {
        Value::Text { text, .. } => texts.push(Cow::Borrowed(text)),
        Value::List(items) => items.iter().for_each(|item| add_texts(item, texts)),
        Value::Map(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_own_field_has_texts() {
        let text = "---\nid: n\ntitle: T\ntype: fleeting\nvalue: 70\ntags: [a]\naliases: [x]\ncompacts: [m]\nsummary: S\n\
                    created: 2025-03-05\nupdated: 2025-03-05\ndate: 2025-03-05\nsources: [{url: u}]\n\
                    links: [{type: related, id: m}]\n---\n";
        let note = NoteHandle::parse("notes/n.md", text.as_bytes().to_vec());
        for name in OWN_FIELDS {
            assert!(note.own_texts(name).is_some(), "{name}");
        }
        assert_eq!(note.own_texts("verified"), None);
    }
}
