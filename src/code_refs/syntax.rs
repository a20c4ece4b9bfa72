//! The syntax of programming languages, as far as comments, texts in quotes, and the ends of declared items depend on it.

/// How the end of a declared item is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemEnd {
    /// The bracket that closes its body, or `;`.
    Bracket,
    /// The same, or the end of a line where a language needs no `;`.
    BracketOrLine,
    /// The last line that is indented deeper, with a line that closes the item.
    Indentation,
    /// The line before the next heading of the same or a higher level.
    Heading,
}

/// The syntax of a language.
#[derive(Debug)]
pub(super) struct SourceSyntax {
    /// The extensions of its files, in lower case.
    extensions: &'static [&'static str],
    pub(super) end: ItemEnd,
    pub(super) line_comments: &'static [&'static str],
    pub(super) block_comments: &'static [(&'static str, &'static str)],
    /// The quotes of texts on one line, and of those that may go on behind its end.
    pub(super) quotes: &'static str,
    pub(super) long_quotes: &'static str,
    /// Whether three quotes begin a text that ends with three.
    pub(super) has_triple_quotes: bool,
    /// Whether `'` quotes a single character, or means something else: a lifetime, or a separator of digits.
    pub(super) has_char_literals: bool,
    /// Whether there are texts such as `r#"…"#`.
    pub(super) has_raw_texts: bool,
    /// Whether there are regular expressions between slashes.
    pub(super) has_regexes: bool,
    /// Whether `<<WORD` begins a text up to the line `WORD`.
    pub(super) has_here_documents: bool,
    /// Whether the depth of an indentation means something.
    pub(super) has_blocks_by_indentation: bool,
}

const C: SourceSyntax = SourceSyntax {
    extensions: &[
        "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "hxx", "m", "mm", "java", "cs", "proto", "css", "scss", "zig",
    ],
    end: ItemEnd::Bracket,
    line_comments: &["//"],
    block_comments: &[("/*", "*/")],
    quotes: "\"'",
    long_quotes: "",
    has_triple_quotes: false,
    has_char_literals: true,
    has_raw_texts: false,
    has_regexes: false,
    has_here_documents: false,
    has_blocks_by_indentation: false,
};

const SCRIPT: SourceSyntax = SourceSyntax {
    extensions: &["sh", "bash", "zsh", "ksh", "bats"],
    end: ItemEnd::Indentation,
    line_comments: &["#"],
    block_comments: &[],
    quotes: "",
    long_quotes: "\"'",
    has_char_literals: false,
    has_here_documents: true,
    ..C
};

const PLAIN: SourceSyntax =
    SourceSyntax { extensions: &[], line_comments: &[], long_quotes: "", has_here_documents: false, ..SCRIPT };

/// The languages that are known. Files of others are compared with their comments, by indentation.
static LANGUAGES: [SourceSyntax; 14] = [
    C,
    SourceSyntax { extensions: &["rs"], quotes: "'", long_quotes: "\"", has_raw_texts: true, ..C },
    SourceSyntax {
        extensions: &["js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte"],
        end: ItemEnd::BracketOrLine,
        long_quotes: "`",
        has_char_literals: false,
        has_regexes: true,
        ..C
    },
    SourceSyntax { extensions: &["go"], end: ItemEnd::BracketOrLine, long_quotes: "`", ..C },
    SourceSyntax {
        extensions: &["kt", "kts", "swift", "scala", "groovy", "gradle", "dart"],
        end: ItemEnd::BracketOrLine,
        has_triple_quotes: true,
        has_char_literals: false,
        ..C
    },
    SourceSyntax {
        extensions: &["php"],
        line_comments: &["//", "# "],
        quotes: "",
        long_quotes: "\"'",
        has_char_literals: false,
        ..C
    },
    SourceSyntax { extensions: &["json", "jsonc", "json5"], end: ItemEnd::BracketOrLine, quotes: "", ..C },
    SourceSyntax {
        extensions: &["py", "pyi", "pyx"],
        quotes: "\"'",
        long_quotes: "",
        has_triple_quotes: true,
        has_here_documents: false,
        has_blocks_by_indentation: true,
        ..SCRIPT
    },
    SourceSyntax {
        extensions: &["yml", "yaml"],
        quotes: "",
        long_quotes: "",
        has_here_documents: false,
        has_blocks_by_indentation: true,
        ..SCRIPT
    },
    SourceSyntax { extensions: &["rb", "rake", "ex", "exs", "pl", "pm"], has_regexes: true, ..SCRIPT },
    SourceSyntax { extensions: &["toml", "mk", "cmake", "r", "jl"], has_here_documents: false, ..SCRIPT },
    SourceSyntax { extensions: &["sql", "lua", "hs", "elm"], line_comments: &["--"], quotes: "\"", ..PLAIN },
    SourceSyntax {
        extensions: &["md", "markdown"],
        end: ItemEnd::Heading,
        block_comments: &[("<!--", "-->")],
        ..PLAIN
    },
    SCRIPT,
];

static OTHER: SourceSyntax = PLAIN;

impl SourceSyntax {
    /// Returns the syntax of a file, by the extension of its name.
    pub(super) fn of_path(path: &str) -> &'static Self {
        let name = path.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension).to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.extensions.contains(&extension.as_str())).unwrap_or(&OTHER)
    }

    /// Tells whether brackets and quotes of the language are known.
    pub(super) fn is_known(&self) -> bool {
        !self.extensions.is_empty()
    }
}
