//! The arguments of `qipu link`.

use clap::{Args, Subcommand};

use super::examples::examples;
use super::globals::Invocation;
use crate::graph::{Follow, WalkLimits};
use crate::request::{Action, Command, LinkRequest, LinkView, ReadCommand, count, value};

/// The most hops of a tree and of a path by default.
const TREE_HOPS: usize = 3;
const PATH_HOPS: usize = 10;

#[derive(Debug, Subcommand)]
pub(super) enum LinkSub {
    /// Show the links of a note
    #[command(after_help = examples!("qipu link list ID", "qipu link list ID --direction in --via typed"))]
    List {
        /// The note
        id: String,
        #[command(flatten)]
        links: LinkArgs,
    },
    /// Show the notes around a note as a tree
    #[command(after_help = examples!(
        "qipu link tree ID",
        "qipu link tree ID --max-hops 2 --limit 20",
        "qipu link tree ID --via supports,refines",
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
    #[command(after_help = examples!("qipu link path ID ID", "qipu link path ID ID --via typed"))]
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
    /// Add typed links to a note's frontmatter
    #[command(override_usage = "qipu link add [OPTIONS] <ID> [TYPE] <ID>...", after_help = examples!(
        "qipu link add ID ID",
        "qipu link add ID supports ID",
        "qipu link add DIGEST compacts ID ID",
    ))]
    Add(LinkWords),
    /// Remove typed links from one note to others
    #[command(override_usage = "qipu link remove [OPTIONS] <ID> [TYPE] <ID>...", after_help = examples!(
        "qipu link remove ID ID",
        "qipu link remove ID supports ID",
    ))]
    Remove(LinkWords),
}

/// A link as it is said: a note, a type, and notes.
#[derive(Debug, Args)]
pub(super) struct LinkWords {
    /// The note that has the link
    #[arg(value_name = "ID")]
    from: String,
    /// The notes it links to; of several words, the first is the type: related (the type of a new link without one),
    /// derived-from, supports, contradicts, part-of, same-as, alias-of, follows, answers, refines, the inverse of one
    /// of these, supersedes, compacts (the note is then shown in place of the others), or one of [link-types] in the
    /// store's config.toml
    #[arg(required = true, value_name = "TYPE or ID")]
    rest: Vec<String>,
}

impl LinkWords {
    /// Splits the words into the note, the type and the notes it links to.
    fn split(mut self) -> (String, Option<String>, Vec<String>) {
        let kind = (self.rest.len() > 1).then(|| self.rest.remove(0));
        (self.from, kind, self.rest)
    }
}

/// Which links are followed, and how far.
#[derive(Debug, Args)]
#[command(next_help_heading = "Which links")]
pub(super) struct LinkArgs {
    #[command(flatten)]
    follow: Follow,
    /// Maximum number of results
    #[arg(short = 'n', long = "limit", value_name = "N", allow_negative_numbers = true, value_parser = count)]
    max_nodes: Option<usize>,
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
            Self::Add(words) => {
                let (from, kind, to) = words.split();
                return invocation.change(Action::AddLink { from, to, kind, is_generated: false });
            }
            Self::Remove(words) => {
                let (from, kind, to) = words.split();
                return invocation.change(Action::RemoveLink { from, to, kind });
            }
            Self::List { id, links } => (LinkView::List(id), 1, links),
            Self::Tree { id, max_hops, links } => (LinkView::Tree(id), max_hops, links),
            Self::Path { from, to, max_hops, links } => (LinkView::Path(from, to), max_hops, links),
        };
        Command::Read(ReadCommand::Link(LinkRequest {
            view,
            limits: WalkLimits { max_hops, max_nodes: links.max_nodes, min_value: links.min_value },
            no_compaction: links.no_compaction,
            follow: links.follow,
        }))
    }
}
