//! The styles of the browser: the sixteen colours of the terminal, or none.

use ratatui::style::{Color, Modifier, Style};

use crate::note::{InlineStyle, StyleSet};

/// Maps the elements of the screen to styles.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Theme {
    /// Whether colours are used. Bold, underlined and reversed text does not depend on it.
    pub(super) has_color: bool,
}

impl Theme {
    fn colored(self, style: Style, color: Color) -> Style {
        if self.has_color { style.fg(color) } else { style }
    }

    /// Returns the style of secondary text.
    pub(super) fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    pub(super) fn title(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    pub(super) fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Returns the style of a frame; `is_active` if its area has the focus.
    pub(super) fn frame(self, is_active: bool) -> Style {
        if is_active { self.colored(Style::new().add_modifier(Modifier::BOLD), Color::Cyan) } else { self.faint() }
    }

    /// Returns the style of letters of a title that match the input.
    pub(super) fn matched(self) -> Style {
        self.colored(Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED), Color::Yellow)
    }

    pub(super) fn tag(self) -> Style {
        self.colored(Style::new(), Color::Blue)
    }

    pub(super) fn warning(self) -> Style {
        self.colored(Style::new(), Color::Yellow)
    }

    /// Returns the style of a type of notes: each predefined type has its own colour.
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

    /// Combines the styles of markdown in a body. A later one in the table takes precedence.
    pub(super) fn inline(self, styles: StyleSet) -> Style {
        let table: [(InlineStyle, Style); 8] = [
            (InlineStyle::Quote, self.faint()),
            (InlineStyle::Heading, self.colored(Style::new().add_modifier(Modifier::BOLD), Color::Cyan)),
            (InlineStyle::Strong, Style::new().add_modifier(Modifier::BOLD)),
            (InlineStyle::Emphasis, Style::new().add_modifier(Modifier::ITALIC)),
            (InlineStyle::Struck, Style::new().add_modifier(Modifier::CROSSED_OUT)),
            (InlineStyle::Code, self.colored(Style::new(), Color::Green)),
            (InlineStyle::Link, self.colored(Style::new().add_modifier(Modifier::UNDERLINED), Color::Blue)),
            (InlineStyle::Bullet, self.colored(Style::new(), Color::Cyan)),
        ];
        let applied = table.into_iter().filter(|(inline, _)| styles.has(*inline));
        applied.fold(Style::new(), |combined, (_, style)| combined.patch(style))
    }
}
