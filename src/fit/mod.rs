//! The one place where anything is dropped, shortened or counted.
//!
//! The law: what is written never has more characters than the budget allows; whole entries in
//! their order, one that does not fit is passed over; only when none fits is the first one cut;
//! when not even the empty frame fits, the error names the smallest number that works.

mod blocks;
mod levels;
mod limits;
mod passages;

use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use crate::error::{Error, ErrorKind};
use crate::escape;
use crate::render::{
    self, CUT_MARK, EntryText, Extent, FrameState, Included, Omissions, Renderer, Screen, without_blank_ends,
};
use crate::report::{Entry, Report, SelectionStats, ShownNote};
use crate::request::{Budget, Format};
use crate::tokens::CHARS_PER_TOKEN;
use limits::{OutputLimits, TextSize};

/// How many places for a cut are tried before the last that may fit.
const MAX_STEPS_BACK: usize = 16;
/// From how many entries on it pays to write them side by side, and how many of them become one piece.
const MANY: usize = 16;
const RUN: usize = 256;

/// Writes a report in a format within a budget. The text ends with a line end.
///
/// # Errors
/// `Budget`, naming the smallest number that works, when not even the empty frame fits.
pub fn fit(report: &Report, budget: Budget, format: Format, screen: Screen) -> Result<String, Error> {
    let renderer = render::renderer(report, format, screen, budget.tokenizer);
    let text = written(report, &*renderer, budget);
    text.map_err(|least| too_small(smallest(least, report, &*renderer, budget), budget))
}

/// Writes a report within a budget.
///
/// # Errors
/// What the shortest answer takes, where that is too long.
fn written(report: &Report, renderer: &dyn Renderer, budget: Budget) -> Result<String, TextSize> {
    let limits = OutputLimits::new(budget);
    let page = DocumentBuilder::new(report, renderer, limits);
    let text = match &report.ranking {
        _ if report.head.show.passages => passages::written(&page, report.ranking.as_deref(), budget.target_tokens),
        Some(ranking) => levels::leveled(&page, &**ranking, budget.target_tokens).and_then(DocumentBuilder::finished),
        None => {
            let everything = page.clone().with_everything();
            everything.or_else(|least| page.with_what_fits(least).and_then(DocumentBuilder::finished))
        }
    }?;
    debug_assert!(limits.allow(&text), "the parts are the sum of the text");
    Ok(text)
}

/// How many smaller numbers of tokens are tried before one is named.
const MAX_STEPS_DOWN: usize = 32;

/// Returns the least size of an answer. A text of more characters may have fewer tokens of an encoding, so smaller
/// numbers of these are tried.
fn smallest(mut least: TextSize, report: &Report, renderer: &dyn Renderer, budget: Budget) -> TextSize {
    for _ in 0..MAX_STEPS_DOWN {
        let fewer = least.tokens.and_then(|tokens| tokens.checked_sub(1));
        let Some(fewer) = fewer.filter(|fewer| budget.max_tokens.is_some_and(|given| given < *fewer)) else { break };
        let Ok(text) = written(report, renderer, Budget { max_tokens: Some(fewer), ..budget }) else { break };
        least = OutputLimits::new(budget).size(&text);
    }
    least
}

/// Writes a report in two formats, each within the budget: the second of the entries of the first, as far as there
/// is room; `None` where there is none.
///
/// # Errors
/// As [`fit`], for the first format.
pub fn fit_both(
    report: &Report,
    budget: Budget,
    format: Format,
    beside: Format,
) -> Result<(String, Option<String>), Error> {
    let screen = Screen::default();
    let renderer = render::renderer(report, format, screen, budget.tokenizer);
    let Some(ranking) = &report.ranking else {
        return Ok((fit(report, budget, format, screen)?, fit(report, budget, beside, screen).ok()));
    };
    let page = DocumentBuilder::new(report, &*renderer, OutputLimits::new(budget));
    let page = match report.head.show.passages {
        true => passages::shown(&page, &**ranking, budget.target_tokens),
        false => levels::leveled(&page, &**ranking, budget.target_tokens),
    };
    let page = page.map_err(|least| too_small(least, budget))?;
    let other = render::renderer(report, beside, screen, budget.tokenizer);
    let beside = page.beside(&*other);
    Ok((page.finished().map_err(|least| too_small(least, budget))?, beside))
}

/// Says what is to be told of the one note that is shown, from its piece.
type AccountOf<'a> = dyn Fn(&EntryText) -> Option<SelectionStats> + 'a;

/// A document in the making.
#[derive(Clone)]
struct DocumentBuilder<'a> {
    report: &'a Report,
    renderer: &'a dyn Renderer,
    limits: OutputLimits,
    separator: usize,
    kept: Included,
    pieces: Vec<(usize, EntryText)>,
    /// Characters of the pieces, separators included.
    chars: usize,
    notes: usize,
    has_cut: bool,
    /// Whether there is no room for what a question was understood to mean.
    is_brief: bool,
    /// Whether nothing is left out.
    is_all: bool,
    /// Which sections hold something; they need a separator before the next item.
    in_use: Vec<bool>,
    /// How notes are shown that are shown at a level.
    shown: Vec<ShownNote>,
    /// What is said of these.
    account: Option<SelectionStats>,
    /// How many pieces there would be with everything at the highest level, and the notes among them; `None` where
    /// that is not known to be too long.
    everything: Option<(usize, Vec<ShownNote>)>,
    /// What was found out and had no room.
    lacks: Omissions,
}

impl<'a> DocumentBuilder<'a> {
    /// Writes what was kept in another format within the same limits: as many of the entries as fit.
    fn beside(&self, renderer: &'a dyn Renderer) -> Option<String> {
        let mut both = DocumentBuilder::new(self.report, renderer, self.limits);
        both.shown.clone_from(&self.shown);
        both.account.clone_from(&self.account);
        both.lacks = self.lacks;
        both.kept.fragments.clone_from(&self.kept.fragments);
        both.is_brief = !both.allow(both.truncated(self.notes), None);
        both.is_all = self.is_all;
        for (number, piece) in &self.pieces {
            let shown = self.shown.iter().find(|shown| shown.entry == *number);
            let extent = shown.map_or(Extent::Whole, |shown| Extent::At(shown.shape));
            let extent = if self.kept.fragments.contains_key(number) { Extent::Passages } else { extent };
            let extent = if piece.is_cut { Extent::Summary(0) } else { extent };
            let piece = renderer.piece(*number, extent, &self.kept);
            let fits = both.allow(both.truncated(self.notes), Some((*number, &piece)));
            if fits { both.keep(*number, piece) } else { both.is_all = false }
        }
        both.finished().ok()
    }

    fn new(report: &'a Report, renderer: &'a dyn Renderer, limits: OutputLimits) -> Self {
        Self {
            report,
            renderer,
            limits,
            separator: chars(renderer.separator()),
            kept: Included::all(report.entries.len(), false),
            pieces: Vec::new(),
            chars: 0,
            notes: 0,
            has_cut: false,
            is_brief: false,
            is_all: false,
            in_use: Vec::new(),
            shown: Vec::new(),
            account: None,
            everything: None,
            lacks: Omissions::default(),
        }
    }

    /// Returns the whole answer if all of it fits, else what it takes; counting stops where that passes
    /// both the limit and what an empty frame takes.
    fn with_everything(mut self) -> Result<String, TextSize> {
        let enough = match self.report.is_divisible() {
            true => self.limits.chars.max(self.renderer.frame_chars(self.says(true))),
            false => usize::MAX,
        };
        match self.may_be_written_at_once() {
            true => self.keep_all(),
            false => self.keep_each(enough)?,
        }
        let shown = self.says(self.report.head.is_limited || self.has_cut);
        let chars = self.chars + self.renderer.frame_chars(shown);
        if chars > self.limits.chars {
            return Err(TextSize { chars, tokens: None });
        }
        let text = self.renderer.assemble(&self.renderer.frame(shown), &self.pieces);
        if self.limits.allow(&text) { Ok(text) } else { Err(self.limits.size(&text)) }
    }

    /// Tells whether there are many notes, nothing limits them, and none of them depends on others that may or
    /// may not be shown.
    fn may_be_written_at_once(&self) -> bool {
        let entries = &self.report.entries;
        let is_alone = |entry: &Entry| entry.note().is_some_and(|note| note.edges.is_empty());
        let is_free = !self.limits.are_there() && self.renderer.stands_in_line();
        is_free && entries.len() >= MANY && entries.iter().all(is_alone)
    }

    /// Keeps all entries, unless they come to more characters than is enough to know.
    fn keep_each(&mut self, enough: usize) -> Result<(), TextSize> {
        for number in 0..self.report.entries.len() {
            let piece = self.renderer.piece(number, Extent::Whole, &self.kept);
            self.keep(number, piece);
            if self.chars > enough {
                return Err(TextSize { chars: self.chars, tokens: None });
            }
        }
        Ok(())
    }

    /// Keeps all entries, which are notes: they are written side by side.
    fn keep_all(&mut self) {
        let count = self.report.entries.len();
        let (renderer, kept) = (self.renderer, Included::all(count, true));
        let run = |first: usize| {
            let numbers = first..count.min(first + RUN);
            EntryText::joined(numbers.map(|number| renderer.piece(number, Extent::Whole, &kept)), renderer.separator())
        };
        let runs: Vec<EntryText> = (0..count).into_par_iter().step_by(RUN).map(run).collect();
        (self.kept, self.notes) = (kept, count);
        runs.into_iter().enumerate().for_each(|(number, piece)| self.add(number * RUN, piece));
    }

    /// Keeps as many whole entries as fit, or the first one cut, or none.
    fn with_what_fits(mut self, everything: TextSize) -> Result<Self, TextSize> {
        let has_entries = !self.report.entries.is_empty();
        if !self.report.is_divisible() || (!has_entries && !self.has_more_to_say()) {
            return Err(everything);
        }
        self.make_room_for_frame(everything)?;
        if has_entries {
            self.keep_whole_entries();
        }
        if self.report.head.show.best_blocks {
            self.keep_best_blocks();
        }
        if self.pieces.is_empty() {
            let first = self.report.entries.iter().position(|entry| !entry.is_finding_out());
            first.into_iter().for_each(|first| self.cut_entry(first, true, &|_| None));
        }
        Ok(self)
    }

    /// Says no more than must be where the frame alone is too long.
    ///
    /// # Errors
    /// What the shortest answer takes, where that is too long.
    fn make_room_for_frame(&mut self, everything: TextSize) -> Result<(), TextSize> {
        if !self.allow(self.says(true), None) || self.report.entries.is_empty() {
            // A long question must not make the least budget longer than a short one does.
            self.is_brief = true;
        }
        if self.allow(self.says(true), None) {
            return Ok(());
        }
        let frame = self.renderer.frame(self.says(true));
        let empty = self.limits.size(&self.renderer.assemble(&frame, &self.pieces));
        Err(self.limits.smaller(everything, empty))
    }

    /// Writes what was kept.
    ///
    /// # Errors
    /// What the shortest answer takes, where that is too long.
    fn finished(mut self) -> Result<String, TextSize> {
        // What is said of the notes may have become longer with the last that was passed over.
        if !self.allow(self.says(self.is_truncated()), None) {
            self.is_brief = true;
        }
        let frame = self.renderer.frame(self.says(self.is_truncated()));
        let text = self.renderer.assemble(&frame, &self.pieces);
        if self.limits.allow(&text) { Ok(text) } else { Err(self.limits.size(&text)) }
    }

    /// Tells whether what was kept, one more piece and a frame are short enough.
    fn allow(&self, shown: FrameState<'_>, more: Option<(usize, &EntryText)>) -> bool {
        let chars = more.map_or(self.chars, |(_, piece)| self.chars_with(piece));
        let chars = chars + self.renderer.frame_chars(shown);
        if chars > self.limits.chars {
            return false;
        }
        let Some(max_tokens) = self.limits.tokens else { return true };
        let frame = self.renderer.frame(shown);
        let text = match more {
            None => self.renderer.assemble(&frame, &self.pieces),
            Some((number, piece)) => {
                let mut pieces = self.pieces.clone();
                pieces.push((number, piece.clone()));
                self.renderer.assemble(&frame, &pieces)
            }
        };
        self.limits.tokenizer.count(&text) <= max_tokens
    }

    /// Tells whether the frame says more than it must. If not, nothing can be left out of an answer
    /// without entries.
    fn has_more_to_say(&self) -> bool {
        let account = self.account.as_ref();
        let lacks = Omissions::default();
        let shown = FrameState { notes: 0, is_truncated: false, is_empty: true, is_brief: false, account, lacks };
        let frame = |is_brief| self.renderer.frame(FrameState { is_brief, ..shown }).0;
        frame(false) != frame(true)
    }

    fn keep_whole_entries(&mut self) {
        let last = self.report.entries.len() - 1;
        // What the frame takes, with one note more and without; it changes with what is kept only.
        let frames = |page: &Self| [0, 1].map(|more| page.renderer.frame_chars(page.truncated(page.notes + more)));
        let mut frame_chars = frames(self);
        for (number, entry) in self.report.entries.iter().enumerate() {
            let is_everything = number == last && self.pieces.len() == last;
            let has_parent = entry.parent().is_none_or(|parent| self.kept.has(parent));
            let more = usize::from(entry.note().is_some());
            let room = self.limits.chars.saturating_sub(self.chars + frame_chars[more]);
            // That everything does not fit is known; without the word that something is left out
            // it might seem to.
            let may_fit = || !is_everything && has_parent && entry.may_fit(self.renderer.detail(entry), room);
            let is_whole = !blocks::are_kept_one_by_one(self.report, entry);
            let piece = (is_whole && may_fit()).then(|| self.renderer.piece(number, Extent::Whole, &self.kept));
            let is_allowed = |piece: &EntryText| {
                self.chars_with(piece) + frame_chars[more] <= self.limits.chars
                    && self.allow(self.truncated(self.notes + more), Some((number, piece)))
            };
            match piece.filter(is_allowed) {
                Some(piece) => self.keep(number, piece),
                None if entry.is_finding_out() => self.pass_over(entry),
                None => continue,
            }
            frame_chars = frames(self);
        }
    }

    /// Passes over what was found out about several notes, and notes that down. Where there is no room to tell it,
    /// what was found out last makes room.
    fn pass_over(&mut self, entry: &Entry) {
        let before = self.clone();
        match entry {
            Entry::Comparison(_) => self.lacks.comparison = true,
            Entry::Pattern(_) => self.lacks.patterns = true,
            _ => return,
        }
        while !self.allow(self.says(true), None) {
            let last = self.pieces.pop_if(|(number, _)| self.report.entries[*number].is_finding_out());
            let Some((number, piece)) = last else {
                *self = before;
                return;
            };
            self.forget(&piece);
            self.kept.entries[number] = false;
        }
    }

    /// Forgets what was kept, save which blocks are to be shown.
    fn forget_pieces(&mut self) {
        self.kept.entries.fill(false);
        (self.chars, self.notes, self.has_cut) = (0, 0, false);
        self.pieces.clear();
        self.in_use.clear();
    }

    /// Returns what the frame says of a document that leaves something out.
    fn truncated(&self, notes: usize) -> FrameState<'_> {
        let (is_brief, account, lacks) = (self.is_brief, self.account.as_ref(), self.lacks);
        FrameState { notes, is_truncated: true, is_empty: false, is_brief, account, lacks }
    }

    /// Cuts an entry's text where the most of it fits, with what is said of it then: its body, or else its summary.
    fn cut_entry(&mut self, number: usize, may_be_body: bool, account_of: &AccountOf<'_>) {
        let Some(note) = self.report.entries.get(number).and_then(Entry::note) else {
            return;
        };
        let body = without_blank_ends(note.note.body());
        let summary = note.summary().map(|summary| escape::one_line(&summary)).unwrap_or_default();
        let piece = may_be_body.then(|| self.longest_cut(number, body, Extent::Body, account_of)).flatten();
        let piece = piece.or_else(|| self.longest_cut(number, &summary, Extent::Summary, account_of));
        if let Some(piece) = piece {
            self.keep(number, piece);
        }
    }

    /// Finds the last place between two characters (as people see them) where a cut fits.
    fn longest_cut(
        &self,
        number: usize,
        text: &str,
        extent: impl Fn(usize) -> Extent,
        account_of: &AccountOf<'_>,
    ) -> Option<EntryText> {
        if text.is_empty() {
            return None;
        }
        // A text that ends like one that was cut would lose nothing there.
        let loses = |place: &usize| text.get(*place..) != Some(CUT_MARK);
        let places = text.grapheme_indices(true).map(|(place, _)| place).take(self.limits.chars);
        let places: Vec<usize> = places.filter(loses).collect();
        let cut_at = |place: usize| {
            let piece = self.renderer.piece(number, extent(place), &self.kept);
            let account = account_of(&piece);
            let shown = FrameState { account: account.as_ref(), ..self.truncated(1) };
            (piece.is_cut && self.allow(shown, Some((number, &piece)))).then_some(piece)
        };
        let fitting = places.partition_point(|place| cut_at(*place).is_some());
        // A text that is a little longer may have fewer tokens.
        let last = fitting.checked_sub(1)?;
        (last.saturating_sub(MAX_STEPS_BACK)..=last).rev().find_map(|place| cut_at(*places.get(place)?))
    }

    fn keep(&mut self, number: usize, piece: EntryText) {
        self.notes += usize::from(self.report.entries[number].note().is_some());
        self.kept.entries[number] = true;
        self.add(number, piece);
    }

    fn add(&mut self, number: usize, piece: EntryText) {
        self.chars = self.chars_with(&piece);
        for item in &piece.items {
            mark(&mut self.in_use, item.section);
        }
        self.has_cut |= piece.is_cut;
        self.pieces.push((number, piece));
    }

    /// Counts the characters of the pieces so far and one more.
    fn chars_with(&self, piece: &EntryText) -> usize {
        let mut in_use = self.in_use.clone();
        let mut total = self.chars;
        for item in &piece.items {
            if mark(&mut in_use, item.section) {
                total += self.separator;
            }
            total += chars(&item.text);
        }
        total
    }

    /// Tells whether something is left out or cut.
    fn is_truncated(&self) -> bool {
        !self.is_all || self.has_cut || self.report.head.is_limited
    }

    /// Returns what the frame says of what was kept.
    fn says(&self, is_truncated: bool) -> FrameState<'_> {
        FrameState {
            notes: self.notes,
            is_truncated,
            is_empty: self.pieces.is_empty(),
            is_brief: self.is_brief,
            account: self.account.as_ref(),
            lacks: self.lacks,
        }
    }
}

/// Marks a section as holding something; returns whether it did before.
fn mark(in_use: &mut Vec<bool>, section: usize) -> bool {
    if in_use.len() <= section {
        in_use.resize(section + 1, false);
    }
    std::mem::replace(&mut in_use[section], true)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn too_small(least: TextSize, budget: Budget) -> Error {
    let tokens = least.tokens.unwrap_or_else(|| least.chars.div_ceil(CHARS_PER_TOKEN));
    let chars = least.chars;
    let too_few_chars = budget.max_chars.is_some_and(|max| max < chars);
    let too_few_tokens = budget.max_tokens.is_some_and(|max| max < tokens);
    let needed = match (too_few_chars, too_few_tokens) {
        (true, true) => format!("--max-chars {chars} and --max-tokens {tokens}"),
        (false, true) => format!("--max-tokens {tokens}"),
        _ => format!("--max-chars {chars}"),
    };
    Error::new(
        ErrorKind::Budget,
        format!("the budget is too small for even an empty answer; the smallest that works is {needed}"),
    )
    .hint(format!("use {needed} or more"))
}
