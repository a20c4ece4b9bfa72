//! Commands that read a store, in their variants.

#![allow(dead_code)]

use qipu::graph::{Direction, Follow, WalkLimits};
use qipu::request::{
    Abstraction, AssessmentOptions, BlockChoice, BlockOptions, ContextRequest, ExpandRequest, Filters, LinkRequest,
    LinkView, ListRequest, MentionTarget, Occasion, PrimeRequest, Purpose, QuestionOptions, ReadCommand, RelatedKind,
    RelatedRequest, ReviewRequest, Room, SearchRequest, Selectors, ShowRequest, Sort, TasksRequest,
};
use qipu::store::Store;

/// A question in plain words.
pub(crate) fn question(text: &str, choice: Option<BlockChoice>) -> ReadCommand {
    let asking = Some(QuestionOptions { today: TODAY, ..QuestionOptions::default() });
    let selection = Selectors { query: Some(text.to_owned()), asking, ..Selectors::default() };
    let blocks = choice.map(|choice| BlockOptions { choice: Some(choice), has_defaults: false });
    ReadCommand::Context(ContextRequest { selection, blocks, ..ContextRequest::default() })
}

/// The day that counts as today for questions: journals of the stores lie in the week before.
pub(crate) const TODAY: jiff::civil::Date = jiff::civil::date(2025, 3, 7);

/// Questions in plain words, some of them hostile.
const QUESTIONS: [(&str, Option<BlockChoice>); 5] = [
    ("what patterns do you see in my journals? [[n0]] [[\nW forged]] \u{202e}\"Title 2\"", None),
    ("compare last week with 2025-03-03 \u{1b}[31m fsync word 2025-02-30", Some(BlockChoice::All)),
    ("today's journal and the word page c++ (why 日本語 since 2025-03-01", Some(BlockChoice::Matched)),
    ("word item fsync last week", Some(BlockChoice::Top)),
    ("2025-03-05 to 2025-03-01 \n H qipu=1 the week before", None),
];

fn ids(store: &Store) -> Vec<String> {
    store.notes().iter().map(|note| note.id.to_string()).collect()
}

/// A bundle of every note of a store.
pub(crate) fn everything(store: &Store, with_body: bool) -> ReadCommand {
    ReadCommand::Context(ContextRequest {
        selection: Selectors { notes: ids(store), reads_stdin: true, ..Selectors::default() },
        with_body: Some(with_body),
        ..ContextRequest::default()
    })
}

/// Returns a question whose answer is made of passages where not everything fits.
pub(crate) fn passages(query: &str, assessment: Option<AssessmentOptions>) -> ReadCommand {
    let asking = Some(QuestionOptions { is_plain: true, today: TODAY, ..QuestionOptions::default() });
    let selection = Selectors { query: Some(query.to_owned()), asking, ..Selectors::default() };
    let request = ContextRequest { selection, with_body: Some(true), assessment, ..ContextRequest::default() };
    ReadCommand::Context(ContextRequest { room: Room::of_chars(2_000), shows_passages: true, ..request })
}

/// Returns the request of a hook for a prompt, or for what an edit mentions.
pub(crate) fn hook_notes(mentions: Vec<MentionTarget>) -> ReadCommand {
    let occasion = Some(if mentions.is_empty() { Occasion::Question } else { Occasion::Edit });
    let asking = Some(QuestionOptions { occasion, ..QuestionOptions::default() });
    let (query, within_notes) = (Some("fsync word item 日本語".to_owned()), !mentions.is_empty());
    let selection = Selectors { query, asking, within_notes, mentions, max_notes: Some(3), ..Selectors::default() };
    let request = ContextRequest { selection, with_body: Some(true), ..ContextRequest::default() };
    ReadCommand::Context(ContextRequest { room: Room::of_chars(750), shows_passages: true, ..request })
}

/// Returns every command that reads a store, in its variants.
pub(crate) fn commands(store: &Store) -> Vec<ReadCommand> {
    let mut commands = vec![
        ReadCommand::Prime(PrimeRequest::default()),
        everything(store, true),
        everything(store, false),
        context(|selectors| selectors.tags.push("all".into()), Some(2)),
        context(|selectors| selectors.query = Some("fsync 日本語 word? (c++".into()), None),
    ];
    let ids = ids(store);
    commands.push(ReadCommand::List(ListRequest { sort: Sort::Title, ..ListRequest::default() }));
    commands.push(ReadCommand::List(ListRequest {
        filters: Filters::of("tag = all or not value > 50 or title ~ word"),
        ..ListRequest::default()
    }));
    commands.push(ReadCommand::Tasks(TasksRequest { with_done: true, ..TasksRequest::default() }));
    commands.push(ReadCommand::Tasks(TasksRequest { limit: Some(1), ..TasksRequest::default() }));
    commands.push(ReadCommand::Show(ShowRequest { ids: ids.clone(), with_links: false, is_raw: false }));
    for (query, limit) in [("fsync 日本語 word? (c++ wrod", None), ("wo* -item Title", Some(2))] {
        commands.push(ReadCommand::Search(SearchRequest {
            query: query.to_owned(),
            limit,
            explains: limit.is_some(),
            ..SearchRequest::default()
        }));
    }
    for (query, abstraction, purpose) in [
        ("fsync 日本語 word item", Abstraction::Adaptive, Some(Purpose::Decide)),
        ("word Title", Abstraction::Adaptive, None),
        ("fsync item", Abstraction::Detailed, Some(Purpose::Explore)),
        ("fsync item", Abstraction::Essence, None),
    ] {
        commands.push(needed(query, abstraction, purpose));
    }
    for (query, assessment) in [("fsync word item", None), ("word Title", Some(AssessmentOptions::default()))] {
        commands.push(passages(query, assessment));
    }
    let (saved, shown) = (ids.iter().take(3).cloned().collect(), ids.clone());
    let brief = PrimeRequest { banner: Some(true), is_hook: true, is_brief: true, saved, shown };
    commands.extend([
        ReadCommand::Prime(brief),
        hook_notes(Vec::new()),
        hook_notes(vec![MentionTarget::Symbol("word".into())]),
        context(|selectors| selectors.mentions.push(MentionTarget::Line("src/word.rs".into(), 3)), None),
        context(|selectors| selectors.mentions.push(MentionTarget::Folder("src/item".into())), None),
    ]);
    commands.push(ReadCommand::Expand(ExpandRequest {
        ids: ids.clone(),
        include: vec![RelatedKind::Derivation, RelatedKind::Evidence, RelatedKind::Contradictions],
        banner: None,
    }));
    let selection = Selectors { max_notes: Some(5), ..Selectors::default() };
    commands.push(ReadCommand::ExportLinks { selection, saved: None });
    commands.push(ReadCommand::Journal(TODAY));
    commands.extend(QUESTIONS.into_iter().map(|(text, choice)| question(text, choice)));
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
        return commands;
    };
    commands.push(context(
        |selectors| {
            selectors.mocs.push(first.clone());
            selectors.transitive = true;
            selectors.backlinks = true;
        },
        None,
    ));
    commands.push(context(
        |selectors| {
            selectors.notes.push(last.clone());
            selectors.max_hops = 2;
            selectors.filters.min_value = Some(20);
        },
        None,
    ));
    commands.push(ReadCommand::Related(RelatedRequest { id: first.clone(), ..RelatedRequest::default() }));
    commands.push(ReadCommand::Review(ReviewRequest::default()));
    commands.push(ReadCommand::Review(ReviewRequest { limit: Some(1), ..ReviewRequest::default() }));
    commands.push(link(LinkView::List(first.clone()), Follow::default(), None));
    commands.push(link(LinkView::Tree(first.clone()), Follow::default(), None));
    commands.push(link(
        LinkView::Tree(last.clone()),
        Follow { direction: Direction::In, is_raw: true, ..Follow::default() },
        Some(3),
    ));
    commands.push(link(LinkView::Path(first.clone(), last.clone()), Follow::default(), None));
    commands
}

/// Notes by their use, with everything that can be told of them.
fn needed(query: &str, abstraction: Abstraction, purpose: Option<Purpose>) -> ReadCommand {
    let assessment = AssessmentOptions {
        purpose,
        abstraction,
        include: if purpose.is_some() {
            vec![RelatedKind::Derivation, RelatedKind::Contradictions]
        } else {
            vec![RelatedKind::Derivation]
        },
        explains: true,
        today: purpose.map(|_| TODAY),
        ..AssessmentOptions::default()
    };
    let asking = Some(QuestionOptions { today: TODAY, ..QuestionOptions::default() });
    let selection = Selectors { query: Some(query.to_owned()), asking, ..Selectors::default() };
    ReadCommand::Context(ContextRequest {
        selection,
        assessment: Some(assessment),
        with_custom: true,
        ..ContextRequest::default()
    })
}

fn context(choose: impl FnOnce(&mut Selectors), max_notes: Option<usize>) -> ReadCommand {
    let mut selection = Selectors { max_notes, ..Selectors::default() };
    choose(&mut selection);
    ReadCommand::Context(ContextRequest {
        selection,
        with_custom: true,
        banner: Some(true),
        ..ContextRequest::default()
    })
}

fn link(view: LinkView, follow: Follow, max_nodes: Option<usize>) -> ReadCommand {
    let limits = WalkLimits { max_hops: 3, max_nodes, min_value: 0 };
    ReadCommand::Link(LinkRequest { view, follow, limits, no_compaction: max_nodes.is_some() })
}
