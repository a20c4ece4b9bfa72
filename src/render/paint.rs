//! Colours: the style of each part of an answer, on screens with colours.

use anstyle::{AnsiColor, Style};

use super::Screen;

/// The role of a text in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextRole<'a> {
    /// The id or the type of a note, with that type.
    Kind(&'a str),
    /// A title, or a heading.
    Title,
    Tag,
    Link,
    /// A word of the query.
    Mark,
    Code,
    /// A success, or an added line.
    Good,
    Warning,
    /// An error, or a removed line.
    Error,
    /// A detail: a day, a path, a count.
    Quiet,
}

impl TextRole<'_> {
    /// Returns the style, in the sixteen colours of the terminal, which follow the user's theme.
    pub(super) fn style(self) -> Style {
        let color = |color: AnsiColor| Style::new().fg_color(Some(color.into()));
        match self {
            Self::Kind("moc") => color(AnsiColor::Magenta),
            Self::Kind("permanent") => color(AnsiColor::Green),
            Self::Kind("literature") => color(AnsiColor::Blue),
            Self::Kind("journal") => color(AnsiColor::Cyan),
            Self::Kind(_) | Self::Warning => color(AnsiColor::Yellow),
            Self::Title => Style::new().bold(),
            Self::Tag => color(AnsiColor::Blue),
            Self::Link | Self::Code => color(AnsiColor::Cyan),
            Self::Mark => color(AnsiColor::Yellow).bold(),
            Self::Good => color(AnsiColor::Green),
            Self::Error => color(AnsiColor::Red).bold(),
            Self::Quiet => Style::new().dimmed(),
        }
    }
}

impl Screen {
    /// Returns a text in the style of its role; unchanged without colours.
    pub(super) fn paint(self, role: TextRole<'_>, text: &str) -> String {
        self.styled(role.style(), text)
    }

    /// Returns a text in a style; unchanged without colours.
    pub(super) fn styled(self, style: Style, text: &str) -> String {
        let mut styled = String::with_capacity(text.len());
        if !text.is_empty() {
            self.style_onto(&mut styled, style, |styled| styled.push_str(text));
        }
        styled
    }

    /// Adds the text that `write` adds, which must not be empty, in a style.
    pub(super) fn style_onto(self, to: &mut String, style: Style, write: impl FnOnce(&mut String)) {
        if !self.has_color || style.is_plain() {
            return write(to);
        }
        to.push_str(&style.render().to_string());
        write(to);
        to.push_str(&style.render_reset().to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_colour_nothing_is_added() {
        let colored = Screen { has_color: true, ..Screen::default() };
        assert_eq!(Screen::default().paint(TextRole::Title, "a"), "a");
        assert_eq!(colored.paint(TextRole::Title, "a"), "\u{1b}[1ma\u{1b}[0m");
        assert_eq!(colored.paint(TextRole::Tag, ""), "");
    }
}
