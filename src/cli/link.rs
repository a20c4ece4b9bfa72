//! The arguments of `qipu link`.

use clap::{Args, Subcommand};

use super::examples::examples;
use super::globals::Invocation;
use crate::graph::{Follow, WalkLimits};
use crate::request::{Action, Command, LinkRequest, LinkView, count, value, whole};

/// The most hops of a tree and of a path by default.
const TREE_HOPS: usize = 3;
const PATH_HOPS: usize = 10;

#[derive(Debug, Subcommand)]
pub(super) enum LinkSub {
    /// Show the links of a note
    #[command(after_help = examples!("qipu link list ID", "qipu link list ID --direction in --typed-only"))]
    List {
        /// The note
        id: String,
        #[command(flatten)]
        links: LinkArgs,
    },
    /// Show the notes around a note as a tree
    #[command(after_help = examples!(
        "qipu link tree ID",
        "qipu link tree ID --max-hops 2 --max-fanout 5",
        "qipu link tree ID --type supports",
    ))]
    Tree {
        /// The root of the tree
        id: String,
        /// Maximum number of hops
        #[arg(long, value_name = "N", alias = "max-depth", allow_negative_numbers = true, default_value_t = TREE_HOPS, value_parser = hops)]
        max_hops: usize,
        #[command(flatten)]
        links: LinkArgs,
    },
    /// Show a shortest path between two notes
    #[command(after_help = examples!("qipu link path ID ID", "qipu link path ID ID --typed-only"))]
    Path {
        /// The first note of the path
        from: String,
        /// The last note of the path
        to: String,
        /// Maximum number of hops
        #[arg(long, value_name = "N", alias = "max-depth", allow_negative_numbers = true, default_value_t = PATH_HOPS, value_parser = hops)]
        max_hops: usize,
        #[command(flatten)]
        links: LinkArgs,
    },
    /// Add a typed link to a note's frontmatter
    #[command(after_help = examples!("qipu link add ID ID", "qipu link add ID ID --type supports"))]
    Add {
        /// The note that gets the link
        from: String,
        /// The note it links to
        to: String,
        /// The link's type: related, derived-from, supports, contradicts, part-of, same-as, alias-of, follows,
        /// answers, refines, the inverse of one of these, or one of [link-types] in the store's config.toml
        #[arg(long = "type", value_name = "TYPE", default_value = "related")]
        kind: String,
    },
    /// Remove typed links from one note to another
    #[command(after_help = examples!("qipu link remove ID ID", "qipu link remove ID ID --type supports"))]
    Remove {
        /// The note that has the link
        from: String,
        /// The note it links to
        to: String,
        /// Only links of this type
        #[arg(long = "type", value_name = "TYPE")]
        kind: Option<String>,
    },
}

/// Which links are followed, and how far.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which links")]
pub(super) struct LinkArgs {
    #[command(flatten)]
    follow: Follow,
    /// Show incoming links as they are written, not under their inverse type
    #[arg(long)]
    no_inversion: bool,
    /// Maximum number of notes
    #[arg(long = "limit", value_name = "N", allow_negative_numbers = true, value_parser = count)]
    max_nodes: Option<usize>,
    /// Maximum number of notes reached from each note
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    max_fanout: Option<usize>,
    /// Only notes with at least this value, 0 to 100
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0, value_parser = value)]
    min_value: u8,
    /// Ignore digests: show the notes that they replace
    #[arg(long)]
    no_compaction: bool,
}

/// The highest limit of hops: a deeper tree can't be drawn.
const MAX_HOPS: usize = 1_000;

/// Parses a number of hops, 0 to [`MAX_HOPS`].
fn hops(text: &str) -> Result<usize, String> {
    let hops: usize = text.parse().map_err(|_| "expected a whole number".to_owned())?;
    if hops > MAX_HOPS {
        return Err(format!("expected at most {MAX_HOPS}"));
    }
    Ok(hops)
}

impl LinkSub {
    pub(super) fn into_command(self, invocation: &Invocation<'_>) -> Command {
        let (view, max_hops, links) = match self {
            Self::Add { from, to, kind } => {
                return invocation.change(Action::AddLink { from, to, kind, is_generated: false });
            }
            Self::Remove { from, to, kind } => return invocation.change(Action::RemoveLink { from, to, kind }),
            Self::List { id, links } => (LinkView::List(id), 1, links),
            Self::Tree { id, max_hops, links } => (LinkView::Tree(id), max_hops, links),
            Self::Path { from, to, max_hops, links } => (LinkView::Path(from, to), max_hops, links),
        };
        Command::Link(LinkRequest {
            view,
            limits: WalkLimits {
                max_hops,
                max_nodes: links.max_nodes,
                max_fanout: links.max_fanout,
                min_value: links.min_value,
            },
            no_compaction: links.no_compaction,
            follow: Follow { is_raw: links.no_inversion, ..links.follow },
        })
    }
}
