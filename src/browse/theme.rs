//! How things look: the terminal's own sixteen colours, or none.

use ratatui::style::{Color, Modifier, Style};

use crate::note::{InlineStyle, StyleSet};

/// How things look.
#[derive(Debug, Clone, Copy)]
pub(super) struct Theme {
    /// Whether colours are used; bold, underlined and reversed text is always.
    pub(super) has_color: bool,
}

impl Theme {
    fn colored(self, style: Style, color: Color) -> Style {
        if self.has_color { style.fg(color) } else { style }
    }

    /// What matters less.
    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// A title.
    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The line at the cursor.
    pub(super) fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// The frame of a part of the screen, and of the part that has the keys.
    pub(super) fn frame(self, is_active: bool) -> Style {
        if is_active { self.colored(Style::new().add_modifier(Modifier::BOLD), Color::Cyan) } else { self.faint() }
    }

    /// Letters that were typed, where they were found.
    pub(super) fn found(self) -> Style {
        self.colored(Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED), Color::Yellow)
    }

    /// A tag.
    pub(super) fn tag(self) -> Style {
        self.colored(Style::new(), Color::Blue)
    }

    /// Something odd.
    pub(super) fn odd(self) -> Style {
        self.colored(Style::new(), Color::Yellow)
    }

    /// The type of a note: each usual one has its colour.
    pub(super) fn kind(self, kind: &str) -> Style {
        match kind {
            "moc" => self.colored(Style::new(), Color::Magenta),
            "permanent" => self.colored(Style::new(), Color::Green),
            "literature" => self.colored(Style::new(), Color::Blue),
            "journal" => self.colored(Style::new(), Color::Cyan),
            "fleeting" => self.colored(Style::new(), Color::Yellow),
            _ => Style::new(),
        }
    }

    /// Marked text of a body.
    pub(super) fn marked(self, marks: StyleSet) -> Style {
        let looks: [(InlineStyle, Style); 8] = [
            (InlineStyle::Quote, self.faint()),
            (InlineStyle::Heading, self.colored(Style::new().add_modifier(Modifier::BOLD), Color::Cyan)),
            (InlineStyle::Strong, Style::new().add_modifier(Modifier::BOLD)),
            (InlineStyle::Emphasis, Style::new().add_modifier(Modifier::ITALIC)),
            (InlineStyle::Struck, Style::new().add_modifier(Modifier::CROSSED_OUT)),
            (InlineStyle::Code, self.colored(Style::new(), Color::Green)),
            (InlineStyle::Link, self.colored(Style::new().add_modifier(Modifier::UNDERLINED), Color::Blue)),
            (InlineStyle::Bullet, self.colored(Style::new(), Color::Cyan)),
        ];
        let all = looks.into_iter().filter(|(mark, _)| marks.has(*mark));
        all.fold(Style::new(), |style, (_, look)| style.patch(look))
    }
}
