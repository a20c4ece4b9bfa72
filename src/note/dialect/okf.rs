//! Files of bundles of Open Knowledge Format: concepts, `index.md` files as maps, `log.md` files as journals.

use super::super::frontmatter::Frontmatter;
use super::super::journal_dates::day_heading;
use super::super::{JOURNAL, MOC, title};

pub(super) fn read(fields: &mut Frontmatter, path: &str, body: &str) {
    match path.rsplit('/').next() {
        Some("index.md") => {
            fields.kind = Some(MOC.to_owned());
            fields.title.get_or_insert_with(|| title::of_source_path(path));
        }
        Some("log.md") => {
            fields.kind = Some(JOURNAL.to_owned());
            fields.date = body.lines().filter_map(day_heading).max();
        }
        // A concept without a title is named by its file.
        _ => {
            fields.title.get_or_insert_with(|| title::source_stem(path).to_owned());
        }
    }
}
