//! Filters: random expressions over random notes against an evaluator of its own, mistakes with their places, named
//! queries, queries in maps of content.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::support::files::{store_of_notes, temp_dir};
use crate::support::process::call;
use crate::support::random::Random;

const TAGS: [&str; 4] = ["a", "b", "c", "d e"];
const KINDS: [&str; 3] = ["fleeting", "permanent", "decision"];
const WORDS: [&str; 4] = ["alpha", "Beta", "gamma ray", "it's \"so\""];

/// A note as the evaluator sees it: the texts of each field. A field without a text is absent.
#[derive(Default)]
struct ModelNote {
    fields: BTreeMap<&'static str, Vec<String>>,
}

/// An expression as the evaluator sees it.
enum Model {
    And(Box<Model>, Box<Model>),
    Or(Box<Model>, Box<Model>),
    Not(Box<Model>),
    /// A field, a sign and the values.
    Test(&'static str, &'static str, Vec<String>),
}

/// The evaluator: what an expression means, in ten lines.
fn holds(model: &Model, note: &ModelNote) -> bool {
    match model {
        Model::And(a, b) => holds(a, note) && holds(b, note),
        Model::Or(a, b) => holds(a, note) || holds(b, note),
        Model::Not(a) => !holds(a, note),
        Model::Test(key, "!=", values) => !holds(&Model::Test(key, "=", values.clone()), note),
        Model::Test(key, sign, values) => note.fields.get(key).is_some_and(|texts| {
            texts.iter().any(|text| *sign == "?" || values.iter().any(|value| compares(text, sign, value)))
        }),
    }
}

/// Whether a text compares with a value: as numbers, as days, else as texts.
fn compares(text: &str, sign: &str, value: &str) -> bool {
    let order = match (text.parse::<f64>(), value.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.partial_cmp(&b).unwrap(),
        _ if sign == "~" => return text.to_lowercase().contains(&value.to_lowercase()),
        // Of a moment, the day counts.
        _ if is_day(value) && text.get(..10).is_some_and(is_day) => text[..10].cmp(value),
        _ if sign == "=" => return text == value,
        _ => return false,
    };
    match sign {
        "=" => order.is_eq(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => text.to_lowercase().contains(&value.to_lowercase()),
    }
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2
}

fn day(random: &mut Random) -> String {
    format!("2025-03-{:02}", random.between(1, 28))
}

/// Writes a random store, and returns its notes by id.
fn store(dir: &Path, random: &mut Random, count: usize) -> BTreeMap<String, ModelNote> {
    fs::create_dir_all(dir.join(".qipu/notes")).unwrap();
    fs::write(dir.join(".qipu/config.toml"), "parents = false\n").unwrap();
    let ids: Vec<String> = (0..count).map(|index| format!("n{index}")).collect();
    let mut notes: BTreeMap<String, ModelNote> = BTreeMap::new();
    for id in &ids {
        let mut text = format!("---\nid: {id}\ntitle: Title of {id}\n");
        let mut note = ModelNote::default();
        let kind = random.choice(&KINDS);
        text += &format!("type: {kind}\n");
        note.fields.insert("type", vec![kind.to_owned()]);
        let tags: BTreeSet<&str> = (0..random.below(3)).map(|_| random.choice(&TAGS)).collect();
        if !tags.is_empty() {
            let list: Vec<&str> = tags.iter().copied().collect();
            text += &format!("tags: [{}]\n", list.join(", "));
            note.fields.insert("tag", list.iter().map(|tag| (*tag).to_owned()).collect());
        }
        let value = random.below(101);
        if random.chance(70) {
            text += &format!("value: {value}\n");
        }
        note.fields.insert("value", vec![if text.contains("value:") { value } else { 50 }.to_string()]);
        if random.chance(70) {
            let created = format!("{}T{:02}:30:00Z", day(random), random.below(24));
            text += &format!("created: {created}\n");
            note.fields.insert("created", vec![created]);
        }
        for (key, chance) in [("due", 50), ("owner", 50), ("effort", 50)] {
            if random.chance(chance) {
                let value = match key {
                    "due" => day(random),
                    "owner" => random.choice(&WORDS).to_owned(),
                    _ => random.choice(&["1", "2.0", "2", "-3", "10"]).to_owned(),
                };
                text += &format!("{key}: '{}'\n", value.replace('\'', "''"));
                note.fields.insert(key, vec![value]);
            }
        }
        let linked: BTreeSet<&str> =
            (0..random.below(3)).map(|_| ids[random.below(count)].as_str()).filter(|to| to != id).collect();
        let links: Vec<String> = linked.iter().map(|to| format!("[[{to}]]")).collect();
        text += &format!("---\n{}\n", links.join(" "));
        if !linked.is_empty() {
            note.fields.insert("links-to", linked.iter().map(|to| (*to).to_owned()).collect());
        }
        fs::write(dir.join(format!(".qipu/notes/{id}.md")), text).unwrap();
        notes.insert(id.clone(), note);
    }
    for id in &ids {
        let from: Vec<String> = notes
            .iter()
            .filter(|(_, note)| note.fields.get("links-to").is_some_and(|to| to.contains(id)))
            .map(|(from, _)| from.clone())
            .collect();
        if !from.is_empty() {
            notes.get_mut(id).unwrap().fields.insert("linked-from", from);
        }
    }
    notes
}

fn expression(random: &mut Random, depth: usize, count: usize) -> Model {
    let kind = if depth == 0 { 3 } else { random.below(5) };
    let mut part = || Box::new(expression(random, depth.saturating_sub(1), count));
    match kind {
        0 => Model::And(part(), part()),
        1 => Model::Or(part(), part()),
        2 => Model::Not(part()),
        _ => test(random, count),
    }
}

fn test(random: &mut Random, count: usize) -> Model {
    let key = ["tag", "type", "value", "created", "due", "owner", "effort", "links-to", "linked-from"][random.below(9)];
    let value = |random: &mut Random| match key {
        "tag" => random.choice(&TAGS).to_owned(),
        "type" => random.choice(&KINDS).to_owned(),
        "value" => random.below(101).to_string(),
        "created" | "due" => day(random),
        "owner" => random.choice(&WORDS).to_owned(),
        "effort" => random.choice(&["1", "2", "-3", "10", "2.0"]).to_owned(),
        _ => format!("n{}", random.below(count)),
    };
    let signs: &[&'static str] = match key {
        "tag" | "type" | "owner" => &["?", "=", "!=", "~"],
        "links-to" | "linked-from" => &["?", "=", "!="],
        _ => &["?", "=", "!=", "<", "<=", ">", ">="],
    };
    let sign = signs[random.below(signs.len())];
    let several = ["=", "!="].contains(&sign) && key != "created" && random.chance(30);
    let mut values: Vec<String> = (0..if several { 2 } else { 1 }).map(|_| value(random)).collect();
    if sign == "~" {
        values[0] = values[0].chars().take(random.between(1, 3)).collect::<String>().to_uppercase();
    }
    Model::Test(key, sign, values)
}

/// Writes an expression as a user would, with as many parentheses and quotes as it needs, and sometimes more.
fn written(model: &Model, random: &mut Random, outer: usize) -> String {
    let (text, level) = match model {
        Model::Or(a, b) => (format!("{} or {}", written(a, random, 0), written(b, random, 1)), 0),
        Model::And(a, b) => (format!("{} and {}", written(a, random, 1), written(b, random, 2)), 1),
        Model::Not(a) => (format!("{}{}", random.choice(&["not ", "!", "NOT "]), written(a, random, 2)), 2),
        Model::Test(key, "?", _) => ((*key).to_owned(), 3),
        Model::Test(key, sign, values) if values.len() > 1 => {
            let list: Vec<String> = values.iter().map(|value| quoted(value, random)).collect();
            let not = if *sign == "!=" { "not " } else { "" };
            (format!("{key} {not}in ({})", list.join(random.choice(&[",", ", "]))), 3)
        }
        Model::Test(key, sign, values) => {
            let space = random.choice(&["", " "]);
            (format!("{key}{space}{sign}{space}{}", quoted(&values[0], random)), 3)
        }
    };
    if level < outer || random.chance(10) { format!("({text})") } else { text }
}

fn quoted(value: &str, random: &mut Random) -> String {
    let is_word = value.chars().all(|c| c.is_alphanumeric() || "-.".contains(c));
    match random.below(3) {
        0 if is_word => value.to_owned(),
        1 if !value.contains('\'') => format!("'{value}'"),
        _ => format!("\"{}\"", value.replace('"', "\\\"")),
    }
}

#[test]
fn expressions_mean_what_the_evaluator_says() {
    let mut random = Random::new(24);
    let mut found = 0;
    for _ in 0..40 {
        let dir = temp_dir();
        let count = random.between(1, 12);
        let notes = store(dir.path(), &mut random, count);
        for _ in 0..25 {
            let model = expression(&mut random, 3, count);
            let text = written(&model, &mut random, 0);
            let expected: BTreeSet<&str> =
                notes.iter().filter(|(_, note)| holds(&model, note)).map(|(id, _)| id.as_str()).collect();
            let list = call(dir.path().to_str().unwrap(), &["list", "--where", &text, "--format", "ids"]);
            assert!(list.error.is_none(), "{text}: {:?}", list.error);
            let listed: BTreeSet<&str> = list.stdout.lines().collect();
            assert_eq!(listed, expected, "{text}");
            found += listed.len();
        }
    }
    assert!(found > 1_000, "{found} notes found");
}

/// Filters with a mistake.
const WRONG: [&str; 30] = [
    "",
    "   ",
    "tag =",
    "tag = a b",
    "tag = a and",
    "(tag = a",
    "tag = a)",
    "tag = \"a",
    "tag = 'it\\'s",
    "type in (a, ",
    "type in (a b)",
    "type in ()",
    "and tag",
    "not",
    "due > soonish",
    "due > 3 apples",
    "created = soonish",
    "updated in (yesterday, soon)",
    "links-to > 3",
    "links-to ~ a",
    "tag = a or broken = yes",
    "confidence ~ low",
    "confidence > yesterday",
    "day ~ 2025",
    "day = 3x",
    "@nothing",
    "@",
    "tag == a",
    "tag = a, b",
    "日本 = 語 x",
];

#[test]
fn mistakes_are_named_with_their_place() {
    let mut said = String::new();
    for text in WRONG {
        let answer = call("fixtures/research", &["list", "--where", text]);
        let error = answer.error.unwrap_or_else(|| panic!("{text} is accepted"));
        assert_eq!(error.kind.exit_code(), 2, "{text}");
        assert!(error.hint.is_some_and(|hint| hint.contains("`tag = linux`")), "{text}");
        said.push_str(&format!("{text}\n    {}\n", error.message));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!("filters@mistakes", said));
}

#[test]
fn a_filter_has_limits() {
    let nested = format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000));
    let deep = format!("{}a", "not ".repeat(500));
    for text in [&nested, &deep] {
        assert_eq!(call("fixtures/research", &["list", "--where", text]).code(), 2);
    }
    for (count, code) in [(256, 0), (257, 2)] {
        let filter = vec!["tag"; count].join(" or ");
        assert_eq!(call("fixtures/research", &["list", "--where", &filter]).code(), code);
    }
}

/// Each short form, and the filter that it stands for.
const SHORT_FORMS: [(&[&str], &str); 8] = [
    (&["--tag", "errors,drives"], "tag in (errors, drives)"),
    (&["--type", "moc,literature"], "type in (moc, literature)"),
    (&["--min-value", "60"], "value >= 60"),
    (&["--since", "last week"], "day >= 'last week' or day = 'last week'"),
    (&["--until", "2025-03-20"], "day <= 2025-03-20"),
    (&["--since", "2025-03-20", "--until", "2025-03-24"], "day >= 2025-03-20 and day <= 2025-03-24"),
    (&["--custom-filter", "kind=decision", "--custom-filter", "!due"], "kind = decision and not due"),
    (&["--tag", "errors", "--where", "value > 50"], "tag = errors and value > 50"),
];

#[test]
fn flags_are_short_forms() {
    for (flags, filter) in SHORT_FORMS {
        let list = |args: &[&str]| {
            let answer = call("fixtures/research", &[&["list", "--today", "2025-03-31", "--json"], args].concat());
            assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
            answer.stdout
        };
        let listed = list(flags);
        assert_eq!(listed, list(&[filter]), "{flags:?}");
        assert!(!listed.contains("\"notes\":[]"), "{flags:?}");
    }
}

#[test]
fn trust_and_namespaces_are_properties_of_notes() {
    let dir = small_store("");
    let write = |path: &str, text: &str| {
        let path = dir.path().join(".qipu/notes").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("old/x.md", "---\nid: x\ntitle: X\n---\n");
    write("y.md", "---\nid: y\ntitle: Work/Old/Y\n---\n");
    write("z.md", "---\nid: z\ntitle: Z\nnamespace: old\n---\n");
    let list = |filter: &str| {
        let answer = call(dir.path().to_str().unwrap(), &["list", filter, "--sort", "id", "-q"]);
        assert!(answer.error.is_none(), "{filter}: {:?}", answer.error);
        answer.stdout.replace('\n', " ")
    };
    assert_eq!(list("namespace = OLD"), "x y z ");
    assert_eq!(list("namespace = work/old"), "y ");
    assert_eq!(list("namespace"), "x y z ");
    assert_eq!(list("namespace != old and type != moc"), "a b c ");
    assert_eq!(list("trust >= 0 and trust <= 1"), list("id"));
    for bad in ["trust = high", "trust > 2", "namespace > 3"] {
        let error = call(dir.path().to_str().unwrap(), &["list", bad]).error.unwrap();
        assert!(error.message.contains("takes"), "{bad}: {}", error.message);
    }
}

#[test]
fn questions_are_answered_only_from_notes_that_pass() {
    let ask = |args: &[&str]| {
        let answer = call("fixtures/research", &[&["ask", "does a failed fsync lose writes?", "-q"], args].concat());
        assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
        answer.stdout.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let list = |args: &[&str]| {
        let listed = call("fixtures/research", &[&["list", "-q"], args].concat()).stdout;
        listed.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let all = ask(&[]);
    for filters in [
        &["--tag", "errors"][..],
        &["--type", "literature"],
        &["--min-value", "80"],
        &["--where", "kind = decision"],
        &["--custom-filter", "kind=decision"],
        &["--since", "2025-03-20"],
        &["--until", "2025-03-20"],
    ] {
        let (found, passing) = (ask(filters), list(filters));
        assert!(!found.is_empty() && found != all, "{filters:?}: {found:?}");
        assert!(found.iter().all(|id| passing.contains(id)), "{filters:?}: {found:?}");
    }
    assert_eq!(ask(&["-n", "1"]).len(), 1);
    assert_eq!(ask(&["--note", "qp-h2v6", "--type", "literature"]), ["qp-h2v6"], "a named note needs not pass");
    let named = call("fixtures/research", &["ask", "[[Retry fsync until it succeeds]]", "--type", "literature"]).stdout;
    assert!(
        !named.contains("## Note: Retry fsync") && named.contains("is omitted: it does not match the filters"),
        "{named}"
    );
}

#[test]
fn every_command_that_selects_notes_takes_filters() {
    for args in [
        &["search", "fsync"][..],
        &["context"],
        &["context", "--query", "fsync"],
        &["export", "links"],
        &["review"],
        &["tasks", "--all"],
        &["list"],
        &["dump", "-"],
    ] {
        let call = |filter: &str| {
            let answer = call("fixtures/research", &[args, &["--where", filter]].concat());
            assert!(answer.error.is_none(), "{args:?} {filter}: {:?}", answer.error);
            answer.stdout
        };
        let (all, one) = (call("id"), call("id = qp-h2v6"));
        assert!(one.len() < all.len() || args[0] == "tasks", "{args:?}");
        assert!(!one.contains("qp-9f2t ") || args[0] == "context" || args[0] == "dump", "{args:?}: {one}");
    }
}

fn small_store(config: &str) -> tempfile::TempDir {
    let dir = temp_dir();
    let write = |path: &str, text: &str| {
        let path = dir.path().join(".qipu").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("config.toml", &format!("parents = false\n{config}"));
    write("notes/a.md", "---\nid: a\ntags: [task]\ncreated: 2025-03-04\nconfidence: low\n---\nA [[b]] [[gone]]\n");
    write("notes/b.md", "---\nid: b\ntags: [task]\ndone: true\ncreated: 2025-02-04\nstatus: rejected\n---\nB\n");
    write("notes/c.md", "---\nid: c\n---\nC\n");
    write("mocs/m.md", "---\nid: m\ntype: moc\n---\n[[c]]\n\n```qipu\n@open\n```\n");
    dir
}

const QUERIES: &str = "[queries]\nopen = \"tag = task and not done\"\nold = \"@open or created < 2025-03-01\"\n\
                       loop = \"@loop or @loop\"\nbad = \"tag =\"\n\"we ird\" = \"tag\"\n\
                       first = \"@second\"\nsecond = \"@third\"\nthird = \"tag or @second\"\n";

#[test]
fn queries_of_the_config_have_names() {
    let dir = small_store(QUERIES);
    let ids = |args: &[&str]| {
        let answer = call(dir.path().to_str().unwrap(), &[args, &["--format", "ids"]].concat());
        assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
        answer.stdout.lines().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let set = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(ids(&["list", "@open"]), set(&["a"]));
    assert_eq!(ids(&["list", "@old", "and", "status"]), set(&["b"]));
    assert_eq!(ids(&["list", "not", "@old", "and", "type", "!=", "moc"]), set(&["c"]));
    assert_eq!(ids(&["list", "broken"]), set(&["a"]));
    assert_eq!(ids(&["list", "confidence >= 0 and confidence <= 1"]), set(&["a", "b", "c", "m"]));
    assert_eq!(ids(&["list", "confidence > 0.99 or confidence in (unheard)"]), set(&[]));
    assert_eq!(ids(&["search", "B", "--where", "linked-from = a"]), set(&["b"]));
    assert_eq!(ids(&["context", "--where", "status = rejected"]), set(&["b"]));
    assert_eq!(ids(&["context", "--moc", "m"]), set(&["m", "c", "a"]), "a query in a map is opened");
    assert_eq!(
        ids(&[
            "list",
            "--tag",
            "task",
            "--where",
            "created in \"February 2025\" or created = yesterday",
            "--today",
            "2025-03-05"
        ]),
        set(&["a", "b"])
    );
    assert_eq!(ids(&["list", "created >= yesterday", "--today", "2025-03-05"]), set(&["a"]));
    assert_eq!(ids(&["list", "created in (yesterday, 2025-02)", "--today", "2025-03-05"]), set(&["a", "b"]));
    for (query, message) in [
        (
            "@loop",
            "query `loop` in config.toml is not valid at character 1: a query contains itself: `@loop` opens `@loop`",
        ),
        ("@first", "a query contains itself: `@second` opens `@third` opens `@second`"),
        ("@open or ".repeat(32).as_str(), "opens more than 32 queries"),
        ("@bad", "query `bad` in config.toml is not valid at character 6"),
    ] {
        let query = if query.ends_with("or ") { format!("{query}@open") } else { query.to_owned() };
        let error = call(dir.path().to_str().unwrap(), &["list", &query]).error.unwrap();
        assert!(error.message.contains(message), "{}", error.message);
    }
    let doctor = call(dir.path().to_str().unwrap(), &["doctor"]).stdout;
    assert!(doctor.contains("query-invalid") && doctor.contains("`bad`"), "{doctor}");
    assert!(doctor.contains("no filter can name the query `we ird`: a name is one word"), "{doctor}");
}

#[test]
fn a_map_with_an_invalid_query_shows_its_other_notes() {
    let dir = small_store("");
    let answer = call(dir.path().to_str().unwrap(), &["context", "--moc", "m", "--format", "ids"]);
    assert_eq!(answer.stdout, "m\nc\n");
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_qipu"));
    let output = command.args(["context", "--moc", "m", "--format", "ids"]).current_dir(dir.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.starts_with("warning: .qipu/mocs/m.md: the filter `@open` is not valid at character 1"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(call(dir.path().to_str().unwrap(), &["doctor"]).stdout.contains("query-invalid"));
}

/// The ids of the notes that `list` finds in a folder, on a day of March 2025.
fn listed(dir: &str, args: &[&str]) -> BTreeSet<String> {
    let answer = call(dir, &[&["list", "--format", "ids", "--today", "2025-03-31"], args].concat());
    assert!(answer.error.is_none(), "{args:?}: {:?}", answer.error);
    answer.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn a_year_is_a_period_and_a_number_is_no_date() {
    let dir = small_store("");
    let dir = dir.path().to_str().unwrap();
    for (filter, ids) in [
        ("created >= 2024", &["a", "b"][..]),
        ("created < 2025", &[]),
        ("created <= 2025", &["a", "b"]),
        ("created = 2025", &["a", "b"]),
        ("created in (2024, 2025-03)", &["a"]),
        ("created > 2025", &[]),
    ] {
        assert_eq!(listed(dir, &[filter]), ids.iter().map(|id| (*id).to_owned()).collect(), "{filter}");
        let (key, rest) = filter.split_at(filter.find(' ').unwrap());
        if rest.contains(['<', '>']) {
            assert_eq!(listed(dir, &["--custom-filter", filter]), listed(dir, &[filter]), "{key}");
        }
    }
    for (filter, place) in [("updated >= -1", 12), ("created < 3", 11), ("day > 20245", 7), ("date = 12.5", 8)] {
        let error = call(dir, &["list", filter]).error.unwrap();
        assert!(error.message.contains(&format!("at character {place}: ")), "{}", error.message);
        assert!(error.message.contains("is no day or period"), "{}", error.message);
    }
    let error = call(dir, &["list", "--custom-filter", "created>=5"]).error.unwrap();
    assert_eq!(error.kind.exit_code(), 2);
}

#[test]
fn filters_see_the_summaries_that_answers_show() {
    let dir = store_of_notes(&[
        ("body", "title: A", "Prose of the body.\n"),
        ("described", "title: B\ndescription: Described", "Other.\n"),
        ("written", "title: C\nsummary: As written", "Prose of the body.\n"),
        ("none", "title: D", ""),
    ]);
    let dir = dir.path().to_str().unwrap();
    let shown = call(dir, &["list", "--fields", "id,summary", "--sort", "id"]).stdout;
    assert_eq!(shown, "body\tProse of the body.\ndescribed\tDescribed\nnone\t\nwritten\tAs written\n");
    for line in shown.lines() {
        let (id, summary) = line.split_once('\t').unwrap();
        let filter = format!("id = {id} and summary = \"{summary}\"");
        assert_eq!(listed(dir, &[&filter]).contains(id), !summary.is_empty(), "{filter}");
    }
    assert_eq!(listed(dir, &["not summary"]), BTreeSet::from(["none".to_owned()]));
}

#[test]
fn a_field_without_a_value_hides_none_of_the_same_name() {
    let dir = store_of_notes(&[
        ("empty", "owner: ann\ncustom:\n  owner:\n  title:", ""),
        ("null", "owner: ann\ncustom:\n  owner: null", ""),
        ("blank", "owner: ann\ncustom:\n  owner: \"\"", ""),
        ("other", "owner:\ncustom:\n  owner: bob", ""),
    ]);
    let dir = dir.path().to_str().unwrap();
    let set = |ids: &[&str]| ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(listed(dir, &["owner = ann"]), set(&["empty", "null"]));
    assert_eq!(listed(dir, &["owner = bob"]), set(&["other"]));
    assert_eq!(listed(dir, &["title"]), set(&["blank", "empty", "null", "other"]));
    let owners = call(dir, &["list", "--fields", "owner", "--sort", "id"]).stdout;
    assert_eq!(owners, "\nann\nann\nbob\n");
}

#[test]
fn filters_know_the_days_of_flags() {
    for day in [
        "3d", "2w", "1m", "monday", "a week ago", "3 days ago", "last week", "last month", "yesterday", "2025-03-05",
        "2025-03", "in January", "March 5",
    ] {
        let filter = format!("day >= '{day}'");
        let (flags, filters) =
            (listed("fixtures/research", &["--since", day]), listed("fixtures/research", &[&filter]));
        assert_eq!(flags, filters, "{day}");
        let filter = format!("day <= '{day}'");
        let (flags, filters) =
            (listed("fixtures/research", &["--until", day]), listed("fixtures/research", &[&filter]));
        assert_eq!(flags, filters, "{day}");
    }
}

#[test]
fn a_moment_is_the_day_that_it_begins_with() {
    let dir = small_store("");
    let dir = dir.path().to_str().unwrap();
    for moment in ["2025-03-04T17:40:00Z", "'2025-03-04 17:40'", "2025-03-04T01:00:00.5+02:00", "27d"] {
        assert_eq!(listed(dir, &[&format!("created = {moment}")]), BTreeSet::from(["a".to_owned()]), "{moment}");
        assert_eq!(listed(dir, &[&format!("created < {moment}")]), BTreeSet::from(["b".to_owned()]), "{moment}");
    }
    for text in ["2025-03-04T", "2025-03-04Tea", "2025-02-30T10:00:00Z"] {
        assert_eq!(call(dir, &["list", &format!("created = {text}")]).code(), 2, "{text}");
    }
}

#[test]
fn signs_of_other_languages_and_wrong_confidences_are_explained() {
    for (filter, message) in [
        ("tag == x", "at character 5: there is no `==`; write `=`"),
        ("a <> b", "at character 3: there is no `<>`; write `!=`"),
        ("a !== b", "there is no `!==`; write `!=`"),
        ("value => 3", "there is no `=>`; write `>=`"),
        (
            "confidence > high",
            "at character 14: `confidence` takes a number from 0 to 1, or `=`, `!=` or `in` and a label",
        ),
        ("confidence > 2", "at character 1: `confidence` takes a number from 0 to 1"),
        ("confidence >= -0.1", "`confidence` takes a number from 0 to 1"),
        ("confidence > yesterday", "`confidence` takes a number from 0 to 1"),
        ("links-to > a", "`links-to` takes `=`, `!=` or `in` and the name of a note"),
        ("linked-from <= a", "`linked-from` takes `=`, `!=` or `in` and the name of a note"),
        ("broken > a", "`broken` takes no value"),
        ("tag in a", "at character 8: expected `(` and the values of a list, found `a`"),
        ("links-to not in a", "expected `(` and the values of a list"),
    ] {
        let error = call("fixtures/research", &["list", filter]).error.unwrap();
        assert!(error.message.contains(message), "{}", error.message);
    }
}
