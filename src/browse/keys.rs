//! The text of the help: keys and what they do.

/// The keys in groups: the heading of each group, and its keys with their effects.
pub(super) const KEYS: [(&str, &[(&str, &str)]); 4] = [
    (
        "Anywhere",
        &[
            ("Tab, Shift-Tab", "the next part of the screen, the one before"),
            ("Alt-←, Alt-→", "back and forward along the notes that were read"),
            ("Ctrl-O", "open it in your editor ($VISUAL, else $EDITOR)"),
            ("Ctrl-Y", "copy the note's id"),
            ("Ctrl-T, Ctrl-G", "only notes of a type, only notes with a tag"),
            ("Ctrl-L", "show or hide the note beside the list"),
            ("Ctrl-R", "read the store again; changes are seen anyway"),
            ("?, F1", "this help"),
            ("Ctrl-Z", "back to the shell for a while; `fg` comes back"),
            ("Ctrl-C", "quit"),
        ],
    ),
    (
        "In the list",
        &[
            ("letters", "find by title, id, tags, aliases; `!word` keeps out"),
            ("Ctrl-F", "search the texts for what is typed (`qipu search`)"),
            ("↑ ↓, Ctrl-P, Ctrl-N", "choose a note; PgUp, PgDn, Home, End"),
            ("Enter", "read it"),
            ("Ctrl-U, Ctrl-W", "clear the line, a word; ← → Ctrl-A Ctrl-E move"),
            ("Esc", "clear what is typed, then the filters, then quit"),
        ],
    ),
    (
        "In a note",
        &[
            ("↑ ↓ j k", "scroll; Space, PgUp, PgDn, g, G, Home, End"),
            ("Enter", "to its links"),
            ("← →, b f", "back and forward"),
            ("e  y  r", "open in the editor, copy the id, read the store again"),
            ("t  #", "only notes of a type, only notes with a tag"),
            ("/, Esc", "back to the list"),
            ("q", "quit"),
        ],
    ),
    (
        "In its links",
        &[
            ("↑ ↓ j k", "choose a link: → leads from the note, ← to it"),
            ("Enter", "read the note at its other end"),
            ("Esc", "back to the note; other keys as in a note"),
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_fits_on_eighty_columns() {
        for (keys, purpose) in KEYS.iter().flat_map(|(_, keys)| *keys) {
            assert!(keys.chars().count() <= 20, "{keys}");
            assert!(purpose.chars().count() <= 55, "{purpose}");
        }
    }
}
