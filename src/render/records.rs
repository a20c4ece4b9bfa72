//! The records format: one record a line, made for the context of a model.

use super::content::{LevelTexts, content, summary};
use super::prompt::{confidence, says_belief};
use super::{
    BANNER, EntryText, Extent, Frame, FrameState, Included, Renderer, body_text, insufficient, shows_body, summary_text,
};
use crate::escape::{json_string, lines, value};
use crate::note::{Note, Retired, SummarySource};
use crate::report::{
    Analysis, Assessment, BlockEntry, ChangeEntry, ComparisonEntry, DIMENSIONS, Detail, DiagnosticEntry, EdgeEntry,
    Entry, EntryRole, JournalTraits, Level, MatchInfo, NoteEntry, OverviewEntry, Passage, Report, ReportKind, RowEntry,
    RowValue, SelectionStats, SideEntry, UTILITY_PARTS, UnknownWord,
};
use crate::tokens::Tokenizer;

/// What the letters at the beginning of lines mean: told once, in the primer.
const LETTERS: &str = "H head (how much was found and shown), W warning, N note, M map of content, S summary, E link, \
                       B text up to B-END (at= lines of the file, in= headings), D detail, C command";

/// Renders a report as records.
pub(super) struct Records<'a> {
    pub(super) report: &'a Report,
    pub(super) tokenizer: Tokenizer,
}

impl Renderer for Records<'_> {
    fn separator(&self) -> &'static str {
        ""
    }

    fn frame(&self, shown: FrameState<'_>) -> Frame {
        let head = &self.report.head;
        let mut text = String::from("H qipu=1 records=1");
        if let Some(store) = &head.store {
            text.push_str(&format!(" store={}", value(store)));
        }
        text.push_str(&mode(&head.mode));
        if head.mode == ReportKind::Eval {
            text.push_str(&format!(" truncated={}", shown.is_truncated));
        } else if self.report.is_divisible() {
            text.push_str(&format!(" notes={} matched={} truncated={}", shown.notes, head.matched, shown.is_truncated));
        }
        text.push('\n');
        text.extend(head.spellings.iter().filter(|_| !shown.is_brief).map(spelling_line));
        let analysis = head.analysis.as_ref().filter(|analysis| !shown.is_brief && analysis.is_more_than_words());
        text.extend(analysis.map(|analysis| analysis_lines(analysis)));
        text.extend(shown.lacks.sentence().map(|sentence| format!("W {sentence}\n")));
        let why = insufficient(self.report, &shown).filter(|_| shown.account.is_none());
        text.extend(why.map(|why| format!("W insufficient {}\n", json_string(why))));
        text.extend(shown.account.map(|account| account_lines(account, shown)));
        let usual = matches!(
            head.mode,
            ReportKind::Context
                | ReportKind::Expansion
                | ReportKind::Prime
                | ReportKind::Show
                | ReportKind::Journal { .. }
        );
        if head.banner.unwrap_or(usual) {
            text.push_str(&format!("W {BANNER}\n"));
        }
        Frame(vec![text, String::new()])
    }

    fn piece(&self, number: usize, extent: Extent, kept: &Included) -> EntryText {
        let mut piece = EntryText::default();
        let text = match &self.report.entries[number] {
            Entry::Note(entry) => self.note(number, entry, extent, kept, &mut piece),
            Entry::Unresolved { from, target, .. } => {
                format!("W unresolved {} from={from}\n", json_string(target))
            }
            Entry::About(text) => format!("D about {text}\nD records {LETTERS}\n"),
            Entry::Command { line, purpose } => {
                format!("C {} {}\n", json_string(line), json_string(purpose))
            }
            Entry::Overview(overview) => overview_line(overview),
            Entry::Recipe(recipe) => format!(
                "D recipe name={} state={} path={} about={}{}\n",
                recipe.name,
                recipe.state,
                value(&recipe.path),
                json_string(recipe.about),
                recipe.fits.map(|fits| format!(" fits={fits}")).unwrap_or_default()
            ),
            Entry::Link { edge, .. } => edge_line(edge),
            Entry::Tag { tag, count } => format!("D tag name={} count={count}\n", value(tag)),
            Entry::Fact { name, count } => format!("D count name={} count={count}\n", value(name)),
            Entry::Kind { kind, count } => format!("D type name={} count={count}\n", value(kind)),
            Entry::Finding(finding) => finding_line(finding),
            Entry::Row(row) => row_line(row),
            Entry::Change(change) => change_lines(change),
            Entry::Comparison(comparison) => comparison_lines(comparison),
            Entry::Pattern(pattern) => {
                let (kind, name) = (pattern.kind, json_string(&pattern.pattern));
                let dates: Vec<String> = pattern.dates.iter().map(|date| date.to_string()).collect();
                format!("D pattern kind={kind} pattern={name} count={} dates={}\n", pattern.count, dates.join(","))
            }
            Entry::Text(text) => {
                let mut body = String::new();
                push_body("-", text.trim_end_matches('\n'), &mut body);
                body
            }
        };
        piece.add(0, text);
        piece
    }

    fn detail(&self, entry: &Entry) -> Detail {
        match entry.note().map(|entry| entry.role) {
            _ if entry.note().is_some_and(|entry| entry.belief.is_some()) => Detail::Name,
            Some(EntryRole::Selected) if shows_body(self.report, self.usually_shows_body()) => Detail::Body,
            Some(EntryRole::Recent) | None => Detail::Name,
            Some(_) => Detail::Summary,
        }
    }
}

impl Records<'_> {
    fn usually_shows_body(&self) -> bool {
        matches!(self.report.head.mode, ReportKind::Show | ReportKind::Journal { .. })
    }

    fn note(&self, number: usize, entry: &NoteEntry, extent: Extent, kept: &Included, piece: &mut EntryText) -> String {
        let note = &entry.note;
        let mut text = name_line(entry);
        if entry.role == EntryRole::Recent {
            compacted_lines(entry, &mut text);
            return text;
        }
        if let Some(belief) = &entry.belief {
            self.belief((number, kept), entry, belief, extent, piece, &mut text);
            return text;
        }
        let passages = kept.passages(number, entry, extent);
        let shows_body = entry.blocks.is_none() && shows_body(self.report, self.usually_shows_body());
        let body = body_text(note.body(), note.is_cut, extent, shows_body);
        let blocks = kept.blocks(entry).filter(|_| extent == Extent::Whole);
        // The beginning of a text that is shown is not said twice; what somebody wrote as a summary is said.
        let summary = match body.is_some() || blocks.is_some() {
            true => note.summary_from(SummarySource::Section).map(Into::into),
            false => entry.summary(),
        };
        let (summary, summary_cut) = summary_text(summary.as_deref(), extent);
        if !summary.is_empty() {
            text.push_str(&format!("S {} {summary}\n", note.id));
        }
        for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
            text.push_str(&edge_line(edge));
        }
        compacted_lines(entry, &mut text);
        self.details(note, &mut text);
        if let Some(found) = entry.found.as_ref().filter(|_| extent == Extent::Whole) {
            found_lines(found, note, &mut text);
        }
        if let Some(blocks) = blocks {
            text.extend(blocks.iter().map(|block| block_line(block, note)));
        }
        piece.is_cut = summary_cut;
        for passage in passages.iter().flatten() {
            push_passage(note.id.as_str(), passage, &mut text);
        }
        if let Some((body, is_cut)) = body.filter(|_| passages.is_none()) {
            piece.is_cut |= is_cut;
            push_body(note.id.as_str(), &body, &mut text);
        }
        text
    }

    /// A note at a level: what it says, and how far it can be relied on.
    fn belief(
        &self,
        (number, kept): (usize, &Included),
        entry: &NoteEntry,
        belief: &Assessment,
        extent: Extent,
        piece: &mut EntryText,
        text: &mut String,
    ) {
        let note = &entry.note;
        let content = content(number, entry, belief, extent, kept);
        piece.say(&content, self.tokenizer);
        // A text that is its own summary stands on one line.
        let is_summary = content.text == summary(entry);
        if content.level <= Level::Summary || is_summary {
            text.push_str(&format!("S {} {}\n", note.id, content.text));
        }
        for edge in entry.edges.iter().filter(|edge| kept.has(edge.other)) {
            text.push_str(&edge_line(edge));
        }
        compacted_lines(entry, text);
        if !self.report.head.show.passages || says_belief(belief, self.report) {
            text.push_str(&belief_line(belief, &content, note));
        }
        if let Some(novelty) = extent.novelty().filter(|_| self.report.head.explains) {
            text.push_str(&explained_lines(belief, novelty, piece.tokens, note));
        }
        self.details(note, text);
        if content.level == Level::Detailed {
            for (id, _, confidence) in &belief.derived_from {
                text.push_str(&format!("D derived-from id={id} confidence={confidence:.2} from={}\n", note.id));
            }
        }
        for passage in content.passages.iter().flatten() {
            push_passage(note.id.as_str(), passage, text);
        }
        if content.level > Level::Summary && !is_summary && content.passages.is_none() {
            push_body(note.id.as_str(), &content.text, text);
        }
    }

    fn details(&self, note: &Note, text: &mut String) {
        if self.report.head.show.sources {
            for source in &note.sources {
                text.push_str(&format!("D source url={}", value(&source.url)));
                if let Some(title) = &source.title {
                    text.push_str(&format!(" title={}", json_string(title)));
                }
                if let Some(accessed) = &source.accessed {
                    text.push_str(&format!(" accessed={}", value(accessed)));
                }
                text.push_str(&format!(" from={}\n", note.id));
            }
        }
        if self.report.head.show.custom {
            for (key, field) in &note.custom {
                let field = json_string(&field.to_line());
                text.push_str(&format!("D custom name={} value={field} from={}\n", value(key), note.id));
            }
        }
    }
}

/// Says for which notes this one is shown.
fn compacted_lines(entry: &NoteEntry, text: &mut String) {
    for member in &entry.compacts {
        text.push_str(&format!("D compacted {member} from={}\n", entry.note.id));
    }
}

/// Says how many notes there are, and which tags or folders most of them have.
fn overview_line(overview: &OverviewEntry) -> String {
    let names = |counts: &[(String, usize)]| -> Vec<String> { counts.iter().map(|(name, _)| name.clone()).collect() };
    let (tags, folders) = (values(&names(&overview.tags)), values(&names(&overview.folders)));
    let (notes, journals) = (overview.notes, overview.journals);
    format!("D overview notes={notes} journals={journals} tags={tags} folders={folders}\n")
}

/// Says what was searched for in the place of a word that no note holds.
fn spelling_line(spelling: &UnknownWord) -> String {
    let shown: Vec<_> = spelling.shown.iter().map(|word| value(word)).collect();
    let shown = if shown.is_empty() { "-".to_owned() } else { shown.join(",") };
    format!("D spelling word={} shown={shown}\n", json_string(&spelling.word))
}

/// Says what a question was understood to mean, a thing a line.
fn analysis_lines(analysis: &Analysis) -> String {
    let mut text = String::new();
    for (name, ids) in &analysis.references {
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        text.push_str(&format!("D analysis reference={} ids={}\n", json_string(name), ids.join(",")));
    }
    for named in &analysis.dates {
        let (name, day, count) = (json_string(&named.text), named.day, named.journals);
        text.push_str(&format!("D analysis date={name} day={day} journals={count}\n"));
    }
    for period in &analysis.periods {
        let (name, count) = (json_string(&period.text), period.journals);
        let begin = period.from.map_or("-".to_owned(), |from| from.to_string());
        text.push_str(&format!("D analysis period={name} begin={begin} end={} journals={count}\n", period.to));
    }
    if !analysis.intents.is_empty() {
        text.push_str(&format!("D analysis intents={}\n", analysis.intents.join(",")));
    }
    text.push_str(&format!("D analysis terms={}\n", values(&analysis.terms)));
    for warning in &analysis.warnings {
        text.push_str(&format!("D analysis warning={}\n", json_string(warning)));
    }
    text
}

/// Writes several values, `-` for none.
fn values(texts: &[String]) -> String {
    let values: Vec<_> = texts.iter().map(|text| value(text)).collect();
    if values.is_empty() { "-".to_owned() } else { values.join(",") }
}

fn comparison_lines(comparison: &ComparisonEntry) -> String {
    let side = |name: &str, side: &SideEntry| {
        let begin = side.from.map_or("-".to_owned(), |from| from.to_string());
        let (text, to, journals, blocks) = (json_string(&side.text), side.to, side.journals, side.blocks);
        format!("D comparison side={name} text={text} begin={begin} end={to} journals={journals} blocks={blocks}\n")
    };
    let traits = |name: &str, traits: &JournalTraits| {
        let (tags, keywords, fields) = (values(&traits.tags), values(&traits.keywords), values(&traits.fields));
        format!("D comparison part={name} tags={tags} keywords={keywords} fields={fields}\n")
    };
    let similarity = comparison.similarity.map_or("-".to_owned(), |similarity| format!("{similarity:.2}"));
    let mut text = side("a", &comparison.a) + &side("b", &comparison.b);
    text.push_str(&format!("D comparison similarity={similarity}\n"));
    text + &traits("shared", &comparison.shared)
        + &traits("only_a", &comparison.only_a)
        + &traits("only_b", &comparison.only_b)
}

fn block_line(block: &BlockEntry, note: &Note) -> String {
    let changed = note.changed().map_or("-".to_owned(), |stamp| stamp.date().to_string());
    let (id, path, text) = (value(&block.id), values(&block.path), json_string(&block.text));
    let (depth, score) = (block.depth, block.score);
    format!(
        "D block id={id} path={path} depth={depth} changed={changed} score={score:.3} text={text} from={}\n",
        note.id
    )
}

/// Says how and why a note was found.
fn found_lines(found: &MatchInfo, note: &Note, text: &mut String) {
    text.push_str(&format!("D match relevance={:.3}", found.relevance));
    if let Some(snippet) = found.excerpt.as_ref().and_then(|excerpt| (excerpt.0)(note)) {
        text.push_str(&format!(" snippet={}", json_string(&snippet.text)));
    }
    if !found.shared.is_empty() {
        let words: Vec<_> = found.shared.iter().map(|word| value(word)).collect();
        text.push_str(&format!(" shared={}", words.join(",")));
    }
    if !found.common.is_empty() {
        let ids: Vec<_> = found.common.iter().map(|id| id.as_str()).collect();
        text.push_str(&format!(" common={}", ids.join(",")));
    }
    text.push_str(&format!(" from={}\n", note.id));
    if !found.parts.is_empty() {
        let parts: Vec<_> = found.parts.iter().map(|(name, part)| format!("{name}={part:.3}")).collect();
        text.push_str(&format!("D explain {} from={}\n", parts.join(" "), note.id));
    }
}

fn mode(mode: &ReportKind) -> String {
    match mode {
        ReportKind::Context => " mode=context".to_owned(),
        ReportKind::Expansion => " mode=context.expand".to_owned(),
        ReportKind::Prime => " mode=prime".to_owned(),
        ReportKind::LinkList { id, direction } => format!(" mode=link.list id={id} direction={direction}"),
        ReportKind::LinkTree { root, direction, max_hops } => {
            format!(" mode=link.tree root={root} direction={direction} max_hops={max_hops}")
        }
        ReportKind::LinkPath { from, to, direction, length } => {
            let length = length.map_or(" found=false".to_owned(), |n| format!(" found=true path_length={n}"));
            format!(" mode=link.path from={from} to={to} direction={direction}{length}")
        }
        ReportKind::Graph => " mode=graph".to_owned(),
        ReportKind::List => " mode=list".to_owned(),
        ReportKind::Search => " mode=search".to_owned(),
        ReportKind::Related { id } => format!(" mode=related id={id}"),
        ReportKind::Show => " mode=show".to_owned(),
        ReportKind::Journal { day } => format!(" mode=journal date={day}"),
        ReportKind::Tags => " mode=tags".to_owned(),
        ReportKind::Status => " mode=status".to_owned(),
        ReportKind::Index => " mode=index".to_owned(),
        ReportKind::Doctor => " mode=doctor".to_owned(),
        ReportKind::Eval => " mode=eval".to_owned(),
        ReportKind::Setup => " mode=setup".to_owned(),
        ReportKind::Change { command, is_dry_run } => format!(" mode={command} dry_run={is_dry_run}"),
    }
}

/// A change is a detail; its difference is a body, so that no line of it can be another record.
fn change_lines(change: &ChangeEntry) -> String {
    let from = change.id.as_ref().map_or(String::new(), |id| format!(" from={id}"));
    let mut text = format!("D change action={} path={}{from}\n", change.action, value(&change.path));
    if let Some(diff) = &change.diff {
        push_body(change.id.as_ref().map_or("-", |id| id.as_str()), diff.trim_end_matches('\n'), &mut text);
    }
    text
}

/// A row is a detail; a column without a value is left out.
fn row_line(row: &RowEntry) -> String {
    let mut text = format!("D {}", row.kind);
    for (name, field) in &row.fields {
        let written = match field {
            RowValue::Name(name) => value(name).into_owned(),
            RowValue::Text(text) => json_string(text),
            RowValue::Count(count) => count.to_string(),
            RowValue::Counts(counts) => counts.iter().map(usize::to_string).collect::<Vec<_>>().join(","),
            RowValue::Share(share) => format!("{share:.3}"),
            RowValue::Nothing => continue,
        };
        text.push_str(&format!(" {name}={written}"));
    }
    text + "\n"
}

fn finding_line(finding: &DiagnosticEntry) -> String {
    let line = finding.line.map_or(String::new(), |line| format!(" line={line}"));
    let from = finding.id.as_ref().map_or(String::new(), |id| format!(" from={id}"));
    let (level, path, message) = (finding.level(), value(&finding.path), json_string(&finding.message));
    format!("D finding level={level} code={} path={path}{line} message={message}{from}\n", finding.code)
}

fn edge_line(edge: &EdgeEntry) -> String {
    format!("E {} {} {} {}\n", edge.from, value(&edge.kind), edge.to, edge.sources.join(" "))
}

fn name_line(entry: &NoteEntry) -> String {
    let (note, role) = (&entry.note, entry.role);
    let prefix = if role == EntryRole::Map { "M" } else { "N" };
    let tags: Vec<_> = note.tags.iter().map(|tag| value(tag)).collect();
    let tags = if tags.is_empty() { "-".to_owned() } else { tags.join(",") };
    let title = json_string(&note.title);
    let retired = entry.retired.map(retired_fields).unwrap_or_default();
    match role {
        EntryRole::Map => format!("{prefix} {} {title} tags={tags}{retired}\n", note.id),
        _ => format!("{prefix} {} {} {title} tags={tags}{retired}\n", note.id, value(&note.kind)),
    }
}

/// Says why a note no longer holds.
fn retired_fields(retired: Retired) -> String {
    let status = retired.status.map_or(String::new(), |status| format!(" status={status}"));
    let expired = retired.expired.map_or(String::new(), |day| format!(" expired={day}"));
    status + &expired
}

/// Adds a passage between its marks, with the line of the file that it begins in and the headings that it stands below.
fn push_passage(id: &str, passage: &Passage, text: &mut String) {
    let below = match passage.path.as_ref() {
        [] => String::new(),
        path => format!(" in={}", json_string(&path.join(" › "))),
    };
    push_lines(id, &format!(" at={}{below}", passage.lines.0), &passage.text, text);
}

/// Adds a body between its marks. A line that could be taken for the closing one gets a `\`.
fn push_body(id: &str, body: &str, text: &mut String) {
    if body.is_empty() {
        return;
    }
    push_lines(id, "", body, text);
}

/// Adds a text between its marks, with fields behind the number of its lines.
fn push_lines(id: &str, fields: &str, body: &str, text: &mut String) {
    let body = lines(body);
    text.push_str(&format!("B {id} lines={}{fields}\n", body.split('\n').count()));
    for line in body.split('\n') {
        if line.trim_start_matches('\\') == "B-END" {
            text.push('\\');
        }
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("B-END\n");
}

/// Says what is shown of all that was found, and what is missing.
fn account_lines(account: &SelectionStats, shown: FrameState<'_>) -> String {
    let mut text = String::new();
    if let Some(reason) = &account.insufficient {
        text.push_str(&format!("W insufficient {}\n", json_string(reason)));
    }
    let floor = account.confidence_floor.map_or("-".to_owned(), |floor| format!("{floor:.2}"));
    let (tokens, coverage) = (account.total_tokens, account.coverage);
    text.push_str(&format!("D selection tokens={tokens} coverage={coverage:.2} confidence_floor={floor}"));
    if account.has_contradictions && !shown.is_brief {
        text.push_str(" contradictions=true");
    }
    if !shown.is_brief {
        text.push_str(&format!(" reasoning={}", json_string(&account.reasoning)));
    }
    text.push('\n');
    text
}

/// Says how far a note can be relied on, in few characters: every note has this line. The rest is told
/// where it is asked for; a note without a level is detailed.
fn belief_line(belief: &Assessment, content: &LevelTexts, note: &Note) -> String {
    let mut text = "D belief".to_owned();
    if content.level < Level::Detailed {
        text.push_str(&format!(" level={}", content.level.name()));
    }
    text.push_str(&format!(" confidence={}", confidence(belief, content)));
    if content.has_more {
        text.push_str(" more=true");
    }
    if !belief.derived_from.is_empty() {
        text.push_str(" derived=true");
    }
    if belief.contradictions > 0 {
        text.push_str(&format!(" contradictions={}", belief.contradictions));
    }
    format!("{text} from={}\n", note.id)
}

/// Tells the parts of a note's confidence and of its use.
fn explained_lines(belief: &Assessment, novelty: f64, tokens: usize, note: &Note) -> String {
    let parts = |names: [&str; 6], parts: [f64; 6]| -> String {
        names.iter().zip(parts).map(|(name, part)| format!(" {name}={part:.4}")).collect()
    };
    let (trust, relevance) = (belief.trust, belief.relevance);
    let mut text = format!("D weighed trust={trust:.2} relevance={relevance:.2} tokens={tokens} from={}\n", note.id);
    if let Some(dimensions) = belief.confidence.dimensions {
        text.push_str(&format!("D confidence{} from={}\n", parts(DIMENSIONS, dimensions), note.id));
    }
    if let Some(utility) = belief.utility.map(|utility| utility.with_novelty(novelty)) {
        let parts = parts(UTILITY_PARTS, utility.parts);
        text.push_str(&format!("D utility total={:.4}{parts} from={}\n", utility.total(), note.id));
    }
    text
}
