//! The text of the help: keys and what they do.

/// The keys in groups: the heading of each group, and its keys with their effects.
pub(super) const KEYS: [(&str, &[(&str, &str)]); 5] = [
    (
        "Anywhere",
        &[
            ("Tab, Shift-Tab", "next pane, previous pane"),
            ("Alt-←, Alt-→", "back and forward through the notes you read"),
            ("Ctrl-O", "open it in your editor ($VISUAL, else $EDITOR)"),
            ("Ctrl-Y", "copy the note's id"),
            ("Ctrl-T, Ctrl-G", "filter by type, filter by tag"),
            ("Ctrl-L", "show or hide the note beside the list"),
            ("Ctrl-V, F2", "the worklist of `qipu review`"),
            ("Ctrl-R", "reload the store (changes are noticed anyway)"),
            ("?, F1", "this help"),
            ("Ctrl-Z", "suspend; `fg` in the shell resumes"),
            ("Ctrl-C", "quit"),
        ],
    ),
    (
        "In the list",
        &[
            ("letters", "find by title, id, tags, aliases; `!word` excludes"),
            ("Ctrl-F", "search the full text of notes (`qipu search`)"),
            ("↑ ↓, Ctrl-P, Ctrl-N", "select a note; PgUp, PgDn, Home, End"),
            ("Enter", "read it"),
            ("Ctrl-U, Ctrl-W", "clear the line, a word; ← → Ctrl-A Ctrl-E move"),
            ("Esc", "clear the input, then the filters, then quit"),
        ],
    ),
    (
        "In a note",
        &[
            ("↑ ↓ j k", "scroll; Space, PgUp, PgDn, g, G, Home, End"),
            ("Enter", "go to its links"),
            ("← →, b f", "back and forward"),
            ("e  y  r", "open in the editor, copy the id, reload the store"),
            ("t  #", "filter by type, filter by tag"),
            ("/, Esc", "back to the list"),
            ("q", "quit"),
        ],
    ),
    (
        "In its links",
        &[
            ("↑ ↓ j k", "select a link: → is outgoing, ← is incoming"),
            ("Enter", "open the note at its other end"),
            ("Esc", "back to the note; other keys as in a note"),
        ],
    ),
    (
        "In the worklist",
        &[
            ("↑ ↓ j k", "select an entry; PgUp, PgDn, Home, End"),
            ("a", "accept the note: you have read it, and it holds"),
            ("e", "open it in your editor"),
            ("m m, s s", "merge it into the other note; let that one supersede it"),
            ("x x", "reject it"),
            ("Enter, Esc", "read the note, close the worklist"),
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
