//! Anchors in random histories of a git repository: each verdict of `qipu review` is that of an oracle, which is written from
//! specs/internals/reliability.md and knows the history from the operations that made it. It uses neither git nor code of
//! the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use crate::support::random::Random;
use crate::support::repository::Repository;

const REPOSITORIES: u64 = 200;
const REFERENCES: usize = 10;
/// How often each class of verdicts must occur at least.
const MIN_CASES: usize = 50;
/// The time of the first commit, and the seconds between two.
const FIRST_TIME: i64 = 1_700_000_000;
const PAUSE: i64 = 100_000;
/// The most lines that an edit changes.
const EDITS: usize = 12;
const PATHS: [&str; 6] = ["src/a.rs", "src/b.rs", "lib/a.rs", "c.py", "src/deep/d.go", "e.txt"];

type Lines = Vec<String>;
type Snapshot = BTreeMap<String, Lines>;

/// What is known of a repository without asking git.
#[derive(Debug, Default)]
struct Model {
    snapshots: Vec<Snapshot>,
    /// The rename that each commit makes.
    renames: Vec<Option<(String, String)>>,
    ids: Vec<String>,
    staged_rename: Option<(String, String)>,
    /// The files that git tracks.
    tracked: BTreeSet<String>,
    /// The regular files of the working tree.
    work: Snapshot,
}

#[derive(Debug, Clone)]
struct Reference {
    path: String,
    symbol: Option<String>,
    line: usize,
    text: Option<String>,
    /// The commit that it names, and the time of its note.
    commit: Option<usize>,
    note_time: i64,
}

fn pick<'a, T>(random: &mut Random, items: &'a [T]) -> &'a T {
    &items[random.below(items.len())]
}

fn word(random: &mut Random) -> String {
    (0..12).map(|_| char::from(b'a' + random.below(26) as u8)).collect()
}

fn new_line(random: &mut Random) -> String {
    match random.below(10) {
        0 => "}".to_owned(),
        1..=3 => format!("fn {}({}) {{", word(random), word(random)),
        4 => format!("    call({}, {});", word(random), word(random)),
        5 | 6 => format!("\t{}\t{}", word(random), word(random)),
        _ => format!("{} {}", word(random), word(random)),
    }
}

fn new_file(random: &mut Random) -> Lines {
    (0..20 + random.below(12)).map(|_| new_line(random)).collect()
}

/// Changes a line: its arguments, its words, or all of it.
fn edited(random: &mut Random, line: &str) -> String {
    match (line.split_once('('), random.below(3)) {
        (Some((head, _)), 0 | 1) if head.starts_with("fn ") => format!("{head}({}) {{", word(random)),
        _ => new_line(random),
    }
}

/// Edits some lines, those that define something more often than others.
fn edit(random: &mut Random, lines: &mut Lines) {
    for _ in 0..EDITS {
        let line = random.below(lines.len());
        if lines[line].starts_with("fn ") || random.below(3) == 0 {
            lines[line] = edited(random, &lines[line].clone());
        }
    }
}

/// Makes one commit: the next snapshot, and the rename in it.
fn step(random: &mut Random, model: &Model) -> (Snapshot, Option<(String, String)>) {
    let mut next = model.snapshots.last().unwrap().clone();
    let path = pick(random, &next.keys().cloned().collect::<Vec<_>>()).clone();
    let free: Vec<&str> = PATHS.into_iter().filter(|path| !next.contains_key(*path)).collect();
    let files = next.len();
    let lines = next.get_mut(&path).unwrap();
    let line = random.below(lines.len());
    match random.below(14) {
        0..=2 => edit(random, lines),
        3 => lines.insert(line, new_line(random)),
        4 if lines.len() > 20 => drop(lines.remove(line)),
        5 => lines.insert(line, pick(random, &lines.clone()).clone()),
        6 => {
            let middle = lines.len() / 2;
            lines.rotate_left(middle);
        }
        kind @ 7..=9 if !free.is_empty() => {
            let target = (*pick(random, &free)).to_owned();
            let mut lines = next.remove(&path).unwrap();
            if kind == 7 {
                lines[line] = new_line(random);
            }
            next.insert(target.clone(), lines);
            return (next, Some((path, target)));
        }
        10 if files > 1 => drop(next.remove(&path)),
        11 if !free.is_empty() => drop(next.insert((*pick(random, &free)).to_owned(), new_file(random))),
        12 | 13 if model.snapshots.len() > 1 => {
            let rename = model.renames.last().unwrap().clone().map(|(from, to)| (to, from));
            return (model.snapshots[model.snapshots.len() - 2].clone(), rename);
        }
        _ => lines.push(new_line(random)),
    }
    (next, None)
}

fn text_of(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Writes all commits by one `git fast-import`, and returns their ids.
fn import(repository: &Repository, model: &Model) -> Vec<String> {
    let mut stream = String::new();
    for (index, snapshot) in model.snapshots.iter().enumerate() {
        let (mark, time) = (index + 1, FIRST_TIME + PAUSE * index as i64);
        write!(
            stream,
            "commit refs/heads/main\nmark :{mark}\ncommitter a <a@example.org> {time} +0000\ndata 1\nm\ndeleteall\n"
        )
        .unwrap();
        for (path, lines) in snapshot {
            let text = text_of(lines);
            write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len()).unwrap();
        }
        stream.push('\n');
    }
    let marks = format!("--export-marks={}", repository.path(".git/marks").display());
    repository.git_with(&["fast-import", "--quiet", &marks], stream.as_bytes());
    repository.git(&["reset", "--quiet", "--hard"]);
    let marks = fs::read_to_string(repository.path(".git/marks")).unwrap();
    let mut ids = vec![String::new(); model.snapshots.len()];
    for line in marks.lines() {
        let (mark, id) = line.strip_prefix(':').unwrap().split_once(' ').unwrap();
        ids[mark.parse::<usize>().unwrap() - 1] = id.to_owned();
    }
    ids
}

/// Changes the working tree and the index without a commit.
fn disturb(random: &mut Random, repository: &Repository, model: &mut Model) {
    let head = model.snapshots.last().unwrap().clone();
    (model.tracked, model.work) = (head.keys().cloned().collect(), head.clone());
    for path in PATHS {
        let file = repository.path(path);
        match (head.get(path), random.below(12)) {
            (Some(lines), 0 | 1) => {
                let mut lines = lines.clone();
                edit(random, &mut lines);
                fs::write(&file, text_of(&lines)).unwrap();
                model.work.insert(path.to_owned(), lines);
            }
            // Line ends and blanks before them do not count.
            (Some(lines), 2) => fs::write(&file, lines.join(" \t\r\n")).unwrap(),
            (Some(_), kind @ (3 | 4)) => {
                fs::remove_file(&file).unwrap();
                if kind == 4 {
                    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
                }
                model.work.remove(path);
            }
            (Some(lines), 5) if model.staged_rename.is_none() && !head.contains_key("moved.rs") => {
                repository.git(&["mv", path, "moved.rs"]);
                model.staged_rename = Some((path.to_owned(), "moved.rs".to_owned()));
                model.tracked.remove(path);
                model.tracked.insert("moved.rs".to_owned());
                model.work.remove(path);
                model.work.insert("moved.rs".to_owned(), lines.clone());
            }
            // A file that git does not track.
            (None, 0 | 1) => {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "fn other(x) {\n".repeat(40)).unwrap();
            }
            _ => {}
        }
    }
}

fn is_recognisable(line: &str) -> bool {
    line.chars().filter(|c| c.is_alphanumeric()).count() >= 2
}

/// Makes a reference at a random commit.
fn reference(random: &mut Random, model: &Model) -> Reference {
    let base = random.below(model.snapshots.len());
    let (path, lines) = pick(random, &model.snapshots[base].iter().collect::<Vec<_>>()).to_owned();
    let lines: Vec<(usize, &String)> = lines.iter().enumerate().filter(|(_, line)| is_recognisable(line)).collect();
    // Lines that are no longer there are few, and the more interesting ones.
    let present = model.work.get(path.as_str());
    let is_lost = |line: &String| present.is_some_and(|present| !present.contains(line));
    let lost: Vec<(usize, &String)> = lines.iter().copied().filter(|(_, line)| is_lost(line)).collect();
    let lines = if random.below(2) == 0 && !lost.is_empty() { lost } else { lines };
    let defining: Vec<(usize, &String)> = lines.iter().copied().filter(|(_, line)| line.starts_with("fn ")).collect();
    let is_symbol = random.below(2) == 0 && !defining.is_empty();
    let (index, text) = *pick(random, if is_symbol { &defining } else { &lines });
    let symbol = is_symbol.then(|| text[3..15].to_owned());
    let has_text = random.below(6) > 0;
    Reference {
        path: path.clone(),
        symbol,
        line: index + 1,
        text: has_text.then(|| text.clone()),
        commit: (has_text && random.below(6) > 0).then_some(base),
        note_time: FIRST_TIME + PAUSE * base as i64 + 10,
    }
}

fn write_note(repository: &Repository, model: &Model, index: usize, reference: &Reference) {
    let updated = jiff::Timestamp::from_second(reference.note_time).unwrap();
    let mut fields = format!("updated: {updated}\ncode:\n");
    match (&reference.text, &reference.symbol) {
        (None, Some(symbol)) => writeln!(fields, "  - {}#{symbol}", reference.path).unwrap(),
        (None, None) => writeln!(fields, "  - {}:{}", reference.path, reference.line).unwrap(),
        (Some(text), symbol) => {
            writeln!(fields, "  - path: {}\n    line: {}\n    text: '{text}'", reference.path, reference.line).unwrap();
            symbol.iter().for_each(|symbol| writeln!(fields, "    symbol: {symbol}").unwrap());
            reference.commit.iter().for_each(|commit| writeln!(fields, "    commit: {}", model.ids[*commit]).unwrap());
        }
    }
    repository.note(&format!("n{index}"), &fields, "Text.");
}

/// What a reference looks for in the versions of its file.
enum Sought {
    File,
    /// More lines with this text than this number.
    Lines(String, usize),
    Symbol(String),
    /// A declaration of the symbol with this item, read in the language of a path.
    Item {
        symbol: String,
        item: Lines,
        path: String,
    },
}

impl Model {
    /// Returns the class of the verdict on a reference, and the finding; `None` for an unchanged one.
    fn expected(&self, reference: &Reference) -> (&'static str, Option<String>) {
        let (mut base, mut recorded) = (reference.commit, reference.text.clone().map(|text| (reference.line, text)));
        if reference.text.is_none() {
            base =
                (0..self.snapshots.len()).rev().find(|index| FIRST_TIME + PAUSE * *index as i64 <= reference.note_time);
            let lines = base.and_then(|base| self.snapshots[base].get(&reference.path));
            let line = lines.and_then(|lines| match &reference.symbol {
                Some(symbol) => symbol_line(lines, symbol, 1),
                None => Some(reference.line),
            });
            recorded = lines.zip(line).map(|(lines, line)| (line, lines[line - 1].clone()));
            recorded = recorded.filter(|(_, text)| is_recognisable(text));
            base = base.filter(|_| lines.is_some());
        }
        let name = match &reference.symbol {
            Some(symbol) => format!("{}#{symbol}", reference.path),
            None => format!("{}:{}", reference.path, reference.line),
        };
        let is_there = |path: &str| self.tracked.contains(path) && self.work.contains_key(path);
        let path = if is_there(&reference.path) { reference.path.clone() } else { self.renamed(&reference.path, base) };
        let since = |sought: Sought| self.since(&path, path != reference.path, base, &sought);
        let gone = |(class, since): (&'static str, String)| {
            let class = if class == "committed" { "gone with a commit" } else { "gone otherwise" };
            (class, Some(format!("code-gone: `{name}` is gone{since}")))
        };
        if !is_there(&path) {
            return gone(since(Sought::File));
        }
        let lines = &self.work[&path];
        let Some((line, text)) = recorded else { panic!("every reference here has a text") };
        let count = |lines: &Lines| lines.iter().filter(|line| **line == text).count();
        let then =
            base.and_then(|base| self.snapshots[base].get(&reference.path)).map(count).filter(|count| *count > 0);
        let same: Vec<usize> = (1..=lines.len()).filter(|number| lines[number - 1] == text).collect();
        let is_rarer = same.len() < then.unwrap_or(if same.len() > 1 { usize::MAX } else { 0 });
        let is_lost = is_rarer && !same.contains(&line);
        let perhaps = if same.len() > 1 && !same.contains(&line) { "perhaps " } else { "" };
        // The item of a symbol is what it was at the base.
        let base_lines = base.and_then(|base| self.snapshots[base].get(&reference.path));
        let is_read = reference.text.is_none() || reference.commit.is_some();
        let item = reference
            .symbol
            .as_ref()
            .zip(base_lines.filter(|_| is_read))
            .map(|(_, lines)| item(lines, line, &reference.path));
        let mut place = None;
        let same = match (&item, &reference.symbol) {
            (Some(item), Some(symbol)) => {
                let nearest = same.iter().min_by_key(|number| (number.abs_diff(line), **number)).copied();
                place = nearest.filter(|_| !is_lost);
                with_item(lines, symbol, item, &reference.path)
            }
            _ => same,
        };
        let is_lost = is_lost && (item.is_none() || count(lines) > 0);
        let perhaps = if item.is_none() {
            perhaps
        } else if same.len() > 1 && !same.contains(&line) {
            "perhaps "
        } else {
            ""
        };
        let same = if is_lost { &[] } else { same.as_slice() };
        if let Some(found) = same.iter().min_by_key(|number| (number.abs_diff(line), **number)) {
            let class = match (path == reference.path, *found == line) {
                (true, true) => return ("unchanged", None),
                (true, false) => "moved in its file",
                (false, _) => "moved with its file",
            };
            return (class, Some(format!("code-moved: `{name}` is {perhaps}now {path}:{found}")));
        }
        let place = match &reference.symbol {
            Some(symbol) => match place.or_else(|| symbol_line(lines, symbol, line)) {
                Some(found) => format!("; it is now in {path}:{found}"),
                None => {
                    let (_, finding) = gone(since(Sought::Symbol(symbol.clone())));
                    return ("gone symbol", finding);
                }
            },
            None if path == reference.path => String::new(),
            None if line <= lines.len() => format!("; it is now in {path}:{line}"),
            None => format!("; it is now in {path}"),
        };
        let sought = match item.zip(reference.symbol.clone()) {
            Some((item, symbol)) => Sought::Item { symbol, item, path: reference.path.clone() },
            None => Sought::Lines(text.clone(), count(lines)),
        };
        let (class, since) = since(sought);
        let class = match (class, reference.symbol.is_some()) {
            ("committed", false) => "changed line with a commit",
            ("committed", true) => "changed symbol with a commit",
            _ => "changed otherwise",
        };
        (class, Some(format!("code-changed: `{name}` changed{since}{place}")))
    }

    /// Rule 1: follows the renames after the base.
    fn renamed(&self, path: &str, base: Option<usize>) -> String {
        let mut renames: Vec<&Option<(String, String)>> = self.renames.iter().collect();
        renames.push(&self.staged_rename);
        let is_from = |rename: &&Option<(String, String)>| rename.as_ref().is_some_and(|(from, _)| from == path);
        let start = match base {
            Some(base) => base + 1,
            None => renames.iter().rposition(is_from).unwrap_or(renames.len()),
        };
        let mut path = path.to_owned();
        for (from, to) in renames[start..].iter().filter_map(|rename| rename.as_ref()) {
            if *from == path {
                path = to.clone();
            }
        }
        path
    }

    /// "Since when": the latest commit after the base without what its parent has.
    fn since(&self, path: &str, has_moved: bool, base: Option<usize>, sought: &Sought) -> (&'static str, String) {
        let before = |path: String, rename: &Option<(String, String)>| match rename {
            Some((from, to)) if has_moved && *to == path => from.clone(),
            _ => path,
        };
        let last = self.snapshots.len() - 1;
        let mut paths = vec![before(path.to_owned(), &self.staged_rename)];
        for index in (1..=last).rev() {
            paths.push(before(paths.last().unwrap().clone(), &self.renames[index]));
        }
        paths.reverse();
        let has = |index: usize| {
            self.snapshots[index].get(&paths[index]).is_some_and(|lines| match sought {
                Sought::File => true,
                Sought::Lines(text, count) => lines.iter().filter(|line| *line == text).count() > *count,
                Sought::Symbol(symbol) => lines.iter().any(|line| line.contains(symbol.as_str())),
                Sought::Item { symbol, item, path } => !with_item(lines, symbol, item, path).is_empty(),
            })
        };
        if has(last) {
            return ("not committed", " and is not committed".to_owned());
        }
        let first = base.map_or(1, |base| base + 1);
        match (first..=last).rev().find(|index| has(index - 1)) {
            Some(commit) => ("committed", format!(" in commit {}", &self.ids[commit][..12])),
            None => ("unknown", String::new()),
        }
    }
}

/// Rule 5: the first line that defines the symbol. Symbols here occur nowhere else.
fn symbol_line(lines: &[String], symbol: &str, _: usize) -> Option<usize> {
    declared(lines, symbol).next()
}

fn declared<'l>(lines: &'l [String], symbol: &str) -> impl Iterator<Item = usize> + 'l {
    let start = format!("fn {symbol}(");
    (1..=lines.len()).filter(move |number| lines[number - 1].starts_with(&start))
}

/// Returns the declarations of a symbol with an item.
fn with_item(lines: &[String], symbol: &str, wanted: &[String], path: &str) -> Vec<usize> {
    declared(lines, symbol).filter(|number| item(lines, *number, path) == wanted).collect()
}

/// Returns the item that begins with a function in a line: up to the bracket that closes it. In Python and in texts it goes on with
/// what is indented deeper, and in texts brackets do not count. In Python the depth of an indentation counts.
fn item(lines: &[String], line: usize, path: &str) -> Lines {
    let (is_python, is_text) = (path.ends_with(".py"), path.ends_with(".txt"));
    let (mut depth, mut item, mut indents) = (0, Lines::new(), Vec::new());
    for (index, text) in lines[line - 1..].iter().enumerate() {
        let indent = text.len() - text.trim_start().len();
        let is_continued = depth > 0 && !is_text;
        let is_outside = index > 0 && !is_continued && indent == 0;
        if index > 0 && !is_continued && !is_python && !is_text || is_outside && text != "}" {
            break;
        }
        let opened = text.matches('{').count();
        depth = (depth + opened).saturating_sub(text.matches('}').count());
        let mut plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if is_python && !is_continued {
            indents.retain(|other| *other < indent);
            plain.insert_str(0, &format!("{} ", indents.len()));
            indents.push(indent);
        }
        item.push(plain);
        if is_outside {
            break;
        }
    }
    item
}

/// Leaves the number of changed lines out of a finding.
fn without_count(finding: &str) -> String {
    match finding.split_once("` changed (").and_then(|(start, rest)| Some((start, rest.split_once(" line")?.1))) {
        Some((start, rest)) => format!("{start}` changed{}", rest.trim_start_matches(['s', ')'])),
        None => finding.to_owned(),
    }
}

fn check(seed: u64, counts: &mut BTreeMap<&'static str, usize>) {
    let mut random = Random::new(seed);
    let repository = Repository::new();
    let first: Snapshot = PATHS.into_iter().take(3).map(|path| (path.to_owned(), new_file(&mut random))).collect();
    let mut model = Model { snapshots: vec![first], renames: vec![None], ..Model::default() };
    for _ in 0..8 + random.below(8) {
        let (snapshot, rename) = step(&mut random, &model);
        model.snapshots.push(snapshot);
        model.renames.push(rename);
    }
    model.ids = import(&repository, &model);
    disturb(&mut random, &repository, &mut model);
    let references: Vec<Reference> = (0..REFERENCES).map(|_| reference(&mut random, &model)).collect();
    for (index, reference) in references.iter().enumerate() {
        write_note(&repository, &model, index, reference);
    }
    let found = repository.stale();
    for (index, reference) in references.iter().enumerate() {
        let (class, finding) = model.expected(reference);
        *counts.entry(class).or_default() += 1;
        let id = format!("n{index}: ");
        let actual = found.iter().filter_map(|finding| finding.strip_prefix(&id)).map(without_count);
        let actual: Vec<String> = actual.collect();
        let expected: Vec<&str> = finding.iter().map(String::as_str).collect();
        assert_eq!(actual, expected, "seed {seed}, {class}: {reference:?}\n{:?}\n{:?}", model.renames, model.ids);
    }
}

#[test]
#[ignore = "needs git"]
fn every_verdict_is_that_of_the_oracle() {
    let mut counts = BTreeMap::new();
    for seed in 0..REPOSITORIES {
        check(seed, &mut counts);
    }
    assert_eq!(counts.values().sum::<usize>(), REPOSITORIES as usize * REFERENCES);
    let classes = [
        "unchanged",
        "moved in its file",
        "moved with its file",
        "changed line with a commit",
        "changed symbol with a commit",
        "changed otherwise",
        "gone with a commit",
        "gone otherwise",
        "gone symbol",
    ];
    for class in classes {
        let count = counts.get(class).copied().unwrap_or_default();
        assert!(count >= MIN_CASES, "{class}: {count} cases of {counts:?}");
    }
}
