//! Errors for calls that are nearly valid: each row is a call, its exit code and its message.

use std::fs;
use std::path::Path;

use crate::support::files::{copy_folder, temp_dir};
use crate::support::process::{call, call_with, call_with_editor};

const RESEARCH: &str = "fixtures/research";

/// Words of a call with `|` between, a part of the message, and a part of the hint.
const WRONG: [(&str, &str, &str); 104] = [
    ("find|foo", "unrecognized subcommand 'find'", "did you mean `qipu search`?"),
    ("ls", "unrecognized subcommand 'ls'", "did you mean `qipu list`?"),
    ("rm|qp-h2v6", "'rm'", "did you mean `qipu delete`?"),
    ("link|list|qp-h2v6|--typed-only", "'--typed-only'", "did you mean `--via typed`?"),
    ("link|tree|qp-h2v6|--type|supports", "'--type'", "did you mean `--via TYPE`?"),
    ("link|tree|qp-h2v6|--max-fanout|3", "'--max-fanout'", "`--limit N` and a budget bound the notes"),
    ("capture|x|--open", "'--open'", "a title without a text opens your editor, on a terminal"),
    ("add|x", "'add'", "did you mean `qipu capture`?"),
    ("note|x", "'note'", "did you mean `qipu capture`?"),
    ("remember|x", "'remember'", "did you mean `qipu capture`?"),
    ("cat|qp-h2v6", "'cat'", "did you mean `qipu show`?"),
    ("serach|foo", "'serach'", "did you mean `qipu search`?"),
    ("link|rm|a|b", "'rm'", "did you mean `qipu link remove`?"),
    ("link|lst|a", "'lst'", "did you mean `qipu link list`?"),
    ("tags|rename|a|b", "'tags'", "did you mean `qipu status --tags`?"),
    ("inbox", "'inbox'", "did you mean `qipu list --type fleeting`?"),
    ("where", "'where'", "did you mean `qipu status`?"),
    ("xyzzy", "'xyzzy'", "usage: qipu [OPTIONS] <COMMAND>; see `qipu --help`"),
    ("link", "`qipu link` needs a command", "commands: list, tree, path, add, remove"),
    ("--store|list|link", "`qipu link` needs a command", "commands: list,"),
    ("--json", "`qipu` needs a command", "commands: prime, hook, ask, context, about, search,"),
    ("search", "<WORDS>", "usage: qipu search <WORDS>...; see `qipu search --help`"),
    ("list|crash recovery", "is not valid at character 7: expected `and`, `or`", "`qipu search WORDS` searches"),
    ("list|crash|recovery", "the filter `crash recovery` is not valid at character 7", "`qipu search WORDS` searches"),
    ("list|--fields|id|--json", "--fields is a format of its own", "omit the other format"),
    ("status|--fields|id", "`qipu status` takes no --fields", "see `qipu status --help`"),
    ("doctor|--format|paths", "`qipu doctor` takes no --format paths", "see `qipu doctor --help`"),
    ("journal|x|--fields|id", "--fields, --format ids and --format paths work only with commands that list notes", ""),
    ("completions|bash|--today|2025-03-05", "`qipu completions` takes no --today", "see `qipu completions --help`"),
    ("list|-0", "-0 works only with --fields, --format ids and --format paths", ""),
    ("tasks|done|qp-h2v6", "`qp-h2v6` is not ID:LINE", "`qipu tasks` lists the tasks with their lines"),
    ("list|--frmat|json", "'--frmat'", "did you mean `--format`?"),
    ("list|--format|jsn", "invalid value 'jsn'", "did you mean `json`?"),
    ("context|--query|x|--purpose|decid", "invalid value 'decid'", "did you mean `decide`?"),
    ("ask|cache|prune|--ci", "unexpected argument '--ci'", "to search for `--ci`, put `--` before the words"),
    ("ask|x|--purpose|decide", "'--purpose'", "`qipu context --query \"WORDS\"` takes `--purpose`; to search for"),
    ("ask|x|--moc|t", "'--moc'", "`qipu context --query \"WORDS\"` takes `--moc`;"),
    ("search|x|--purpose|decide", "'--purpose'", "`qipu context --query \"WORDS\"` takes `--purpose`;"),
    (
        "ask|x|--budget|100",
        "'--budget'",
        "did you mean `--max-chars`? to search for `--budget`, put `--` before the words",
    ),
    ("list|--top-k|5", "'--top-k'", "did you mean `--limit`?"),
    ("list|--chars|5", "'--chars'", "did you mean `--max-chars`?"),
    ("link|tree|qp-h2v6|--without-edges", "'--without-edges'", "see `qipu link tree --help`"),
    ("init|--path|x", "'--path'", "did you mean `--store`?"),
    ("link|x1|y1", "'x1'", "did you mean `qipu link add x1 y1`?"),
    ("link|x1", "'x1'", "commands: list, tree, path, add, remove"),
    ("ask|xargs|-0", "-0 works only with --fields", "to use `-0` as a word, put `--` before the words"),
    (
        "list|--since|03/25/2025",
        "with the month first it is 2025-03-25, with the day first no date",
        "use a form such as",
    ),
    ("update|qp-h2v6|--owner|ann", "unexpected argument '--owner'", "`--set owner=ann` sets a field of that name"),
    ("update|qp-h2v6|--owner=ann", "unexpected argument '--owner'", "`--set owner=ann` sets"),
    (
        "capture|x|--by|",
        "'' for '--by <WHO>': expected 1 to 128 characters without control characters",
        "capture --help`",
    ),
    ("capture|x|--by|false", "invalid value 'false' for '--by <WHO>': expected a name", "capture --help`"),
    ("capture|x|--session|a\nb", "expected 1 to 128 characters without control characters", "capture --help`"),
    ("capture|x|--link|supports", "`supports` is not TYPE:ID", ""),
    ("status|-q", "`qipu status` takes no --quiet", "see `qipu status --help`"),
    ("init|--quiet", "--fields, --format ids and --format paths work only with commands that list notes", ""),
    ("show|x|--query|y", "'--query'", "`qipu ask WORDS --note ID` answers from one note"),
    ("context|fsync errors", "unexpected argument 'fsync errors'", "did you mean `qipu ask 'fsync errors'`?"),
    ("list|--source|docs", "'--source'", "did you mean `--store`?"),
    ("list|--root|docs", "'--root'", "did you mean `--store`?"),
    ("list|--only|docs", "'--only'", "did you mean `--in`?"),
    ("delete|x|--to|docs", "'--to'", "did you mean `--in`?"),
    ("capture|x|--at|HEAD", "`qipu capture` takes no --at", "see `qipu capture --help`"),
    ("doctor|--fix|--at|HEAD", "--at works only with commands that read notes", ""),
    ("capture|x|-q|--json", "conflicting output formats", "use only one of --format, --json, --records and --quiet"),
    ("capture|x|--owner|-x y", "unexpected argument '--owner'", "`--set owner=VALUE` sets"),
    ("update|qp-h2v6|--titel|x", "'--titel'", "did you mean `--title`?"),
    ("update|qp-h2v6|--value|-1", "'-1' for '--value <N>': expected a whole number from 0 to 100", "update --help`"),
    ("update|qp-h2v6|--value|101", "'101' for '--value <N>': expected a whole number from 0 to 100", "update --help`"),
    ("search|x|--limit|-1", "'-1' for '--limit <N>': expected a whole number, 1 or more", "search --help`"),
    ("link|tree|qp-h2v6|--limit|none", "expected a whole number, 1 or more", "see `qipu link tree --help`"),
    ("list|--max-chars|10k", "'10k' for '--max-chars <N>': expected a whole number in digits", "`qipu list --help`"),
    ("context|--query|x|--max-tokens|1.5", "expected a whole number in digits, such as 10000", "context --help`"),
    ("ask|x|--min-relevance|-1", "expected a number from 0 to 1", "ask --help`"),
    ("evaluate|x", "'evaluate'", "did you mean `qipu eval`?"),
    ("eval|x|--budget|4000,0", "'0' for '--budget <N,N>': expected a whole number, 1 or more", "eval --help`"),
    ("eval|x|--min-hit|80", "'80' for '--min-hit <X>': expected a number from 0 to 1", "eval --help`"),
    (
        "list|--since|2025-13-01",
        "--since: `2025-13-01` is not a valid date",
        "use a form such as 2025-03-05, yesterday, monday",
    ),
    ("list|--since|someday", "--since: can't parse `someday` as a date or period", "3 days ago or 3d"),
    ("list|--since|3dd", "can't parse `3dd`", "3 days ago"),
    ("list|--custom-filter|a!>3", "`a!>3` is not a filter expression", "key!=value"),
    ("graph|-o|x.html", "'graph'", "`page FILE.html` a web page of notes and links, `links FILE.json`"),
    (
        "export",
        "`qipu export` needs a command",
        "`links FILE.json` the same as JSON, `passages FILE` texts for a search",
    ),
    ("export|x.html", "'x.html'", "`page FILE.html` a web page"),
    ("export|--as|bulk|--index-name|x", "'--as'", "did you mean `qipu export passages --bulk`?"),
    ("export|--since-index|x", "'--since-index'", "did you mean `qipu export passages --since-index`?"),
    ("export|passages|--index-name|x", "'--index-name'", "did you mean `--bulk`?"),
    ("export|page|-o|x.html", "'-o'", "the file needs no flag"),
    ("export|page|--json", "an export has its own format", "name a file, or omit the format"),
    ("export|links|--records", "an export has its own format", "name a file, or omit the format"),
    ("export|passages|--json", "an export has its own format", "name a file, or omit the format"),
    ("export|passages|--max-chars|100", "--max-chars and --max-tokens work only with commands that print notes", ""),
    ("export|passages|--bulk|_x", "'_x' for '--bulk <INDEX>': expected lower-case letters", "export passages --help`"),
    ("export|passages|--since-index|-", "--since-index needs a file that can be read and written again", ""),
    ("export|passages|--since-index|x.md", "x.md would be a document", "name a file without this ending"),
    ("export|passages|--since-index|.qipu/x", ".qipu/x belongs to the store", "name a file outside the store"),
    (
        "export|passages|--since-index|.qipu/config.toml",
        ".qipu/config.toml belongs to the store",
        "name a file outside the store",
    ),
    ("capture|x|--in|user|--in|docs", "a command changes notes in one place: give --in NAME once", ""),
    ("doctor|--fix|--in|project", "--fix changes the project's store and can't be combined with --in", ""),
    ("dump|README.md", "README.md exists and is not a qipu pack; not overwritten", "name another file"),
    ("link|add|qp-h2v6|suports|qp-9f2t", "unknown link type `suports`", "did you mean `supports`? types: "),
    (
        "link|add|qp-h2v6|replaces|qp-9f2t",
        "unknown link type `replaces`",
        "types: alias-of, answered-by, answers, contradicted-by, contradicts, derived-from, follows, has-alias, has-part, \
         part-of, precedes, refined-by, refines, related, same-as, source-of, superseded-by, supersedes, supported-by, supports; add one under \
         [link-types] in .qipu/config.toml",
    ),
    ("show|start her", "no such note: `start her`", "did you mean qp-7d1x (Crash safety: start here)?"),
    ("capture|x|--tag|a,,b", "--tag needs a value that is not empty", ""),
    ("prime|--records-version|x", "invalid value 'x' for '--records-version <N>'", "see `qipu prime --help`"),
];

#[test]
fn invalid_calls_are_explained_with_one_hint() {
    let dir = temp_dir();
    fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
    for (id, title) in [("qp-h2v6", "Retry"), ("qp-9f2t", "When fsync fails"), ("qp-7d1x", "Crash safety: start here")]
    {
        let text = format!("---\nid: {id}\ntitle: \"{title}\"\n---\n");
        fs::write(dir.path().join(format!(".qipu/notes/{id}.md")), text).unwrap();
    }
    fs::write(dir.path().join("README.md"), "mine\n").unwrap();
    for (words, message, hint) in WRONG {
        let answer = call(dir.path().to_str().unwrap(), &words.split('|').collect::<Vec<_>>());
        let error = answer.error.unwrap_or_else(|| panic!("{words}: {}", answer.stdout));
        let expected_code = if error.message.starts_with("no such note") { 3 } else { 2 };
        assert_eq!(error.kind.exit_code(), expected_code, "{words}");
        assert_eq!(answer.stdout, "", "{words}");
        assert!(error.message.contains(message), "{words}: {}", error.message);
        let said = error.hint.unwrap_or_default();
        assert!(said.contains(hint), "{words}: {said}");
        assert!(!said.contains("tip:") && !said.contains("try '--help'") && !said.contains('\n'), "{words}: {said}");
    }
    assert_eq!(fs::read_to_string(dir.path().join("README.md")).unwrap(), "mine\n");
}

/// Old spellings, each with the calls that its hint teaches. ID, DIGEST, OLD and NEW are the titles of notes.
const TAUGHT: [(&str, &[&str]); 15] = [
    ("graph", &["export|page|FILE.html", "export|links|FILE.json", "export|passages|FILE"]),
    ("export", &["export|page|FILE.html", "export|links|FILE.json", "export|passages|FILE"]),
    ("import|obsidian|src", &["import|src"]),
    ("create|T", &["capture|--title|TITLE", "capture|'TEXT'"]),
    ("new|T", &["capture|--title|TITLE", "capture|'TEXT'"]),
    ("edit|ID", &["update|ID"]),
    ("rename|ID|T", &["update|ID|--title|TITLE"]),
    ("mv|ID|T", &["update|ID|--title|TITLE"]),
    ("anchor|ID|src/a.rs", &["update|ID|--code|src/a.rs", "capture|'TEXT'|--code|src/a.rs"]),
    ("compact|DIGEST|ID", &["link|add|DIGEST|compacts|ID", "link|remove|DIGEST|compacts|ID"]),
    ("link|ID|NEW", &["link|add|ID|NEW"]),
    ("link|add|ID|NEW|--type|supports", &["link|add|ID|supports|NEW"]),
    ("link|add|ID|NEW|OLD", &["link|add|ID|related|NEW|OLD"]),
    ("link|add|ID|supports", &["link|add|ID|supports|ID2"]),
    ("link|remove|ID|OLD|NEW", &["link|remove|ID|related|OLD|NEW"]),
];

#[test]
fn calls_that_hints_teach_work() {
    for (old, taught) in TAUGHT {
        let dir = temp_dir();
        fs::create_dir_all(dir.path().join(".qipu/notes")).unwrap();
        for title in ["ID", "ID2", "DIGEST", "OLD", "NEW"] {
            let text = format!("---\nid: qp-{}\ntitle: {title}\n---\n", title.to_lowercase());
            fs::write(dir.path().join(format!(".qipu/notes/{title}.md")), text).unwrap();
        }
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/a.rs"), "").unwrap();
        fs::write(dir.path().join("src/README.md"), "# Source\n").unwrap();
        let at = dir.path().to_str().unwrap();
        let hint = call(at, &old.split('|').collect::<Vec<_>>()).error.unwrap().hint.unwrap();
        for words in taught {
            let words: Vec<&str> = words.split('|').collect();
            // The hint names the command once, and then its words.
            let is_taught = hint.contains(&words.join(" ")) || hint.contains(&format!("`{}`", words[1..].join(" ")));
            assert!(is_taught, "{words:?}: {hint}");
            // What opens an editor needs a terminal.
            let answer = call_with_editor(at, &words, |_| Ok(()));
            assert!(answer.error.is_none() && !answer.stdout.is_empty(), "{words:?}: {:?}", answer.error);
        }
    }
}

/// Calls of earlier versions, and those that their hints teach; `ID` stands for a note.
const RENAMED: [(&str, &str); 7] = [
    ("related|qp-h2v6", "search|--like|ID"),
    ("stale|--strict", "review|--kind|code,due"),
    ("inbox", "list|--type|fleeting"),
    ("index", "status"),
    ("tag", "status|--tags"),
    ("tags", "status|--tags"),
    ("where", "status"),
];

#[test]
fn calls_of_earlier_versions_lead_to_those_of_today() {
    let dir = temp_dir();
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(RESEARCH), dir.path());
    let at = dir.path().to_str().unwrap();
    for (old, new) in RENAMED {
        let hint = call(at, &old.split('|').collect::<Vec<_>>()).error.unwrap().hint.unwrap();
        assert!(hint.contains(&format!("qipu {}", new.replace('|', " "))), "{old}: {hint}");
        let words: Vec<&str> = new.split('|').map(|word| if word == "ID" { "qp-h2v6" } else { word }).collect();
        let answer = call(at, &words);
        assert!(answer.error.is_none(), "{new}: {:?}", answer.error);
    }
}

/// Words of a call with `|` between that another program's user would try, and a part of the answer.
const UNDERSTOOD: [(&str, &str); 26] = [
    ("", "`qipu help` lists everything."),
    ("list|--type|permanet", "No note matches.\nno note has the type 'permanet'; did you mean 'permanent'?\n"),
    ("list|--type|fleeting,moc|--limit|1", "(1 of 12 notes shown)\n"),
    ("list|fsync", "No note matches.\nno note has the field 'fsync'; `qipu search` finds words in the text of notes\n"),
    ("list|--where|tag = fsyncc", "no note has the tag 'fsyncc'; did you mean 'fsync'?\n"),
    ("review|--where|kin = decision", "Nothing to review.\nno note has the field 'kin'; did you mean 'kind'?\n"),
    ("list|--type|fleeting|--limit|1", "(1 of "),
    ("list|--since|monday|--today|2025-04-02|--limit|1", "journal-2025-03-31"),
    ("list|--since|3d|--today|2025-04-02|--limit|1", "journal-2025-03-31"),
    ("list|--since|a week ago|--today|2025-04-02|--limit|1", "journal-2025-03-31"),
    ("list|--type|fleeting|-n|1", "(1 of "),
    ("search|-n|1|fsync", "notes shown)"),
    ("search|fsync|-n1|-q", "qp-"),
    ("list|--custom-filter|kind!=decision|--custom-filter|kind", "No note matches.\n"),
    ("list|--custom-filter|kind!=decision|--type|permanent|--limit|1", "notes shown)"),
    ("list|--tag|drives, history|--limit|1", "notes shown)"),
    ("context|--tag|nosuch,fsync|--limit|1|--records", "notes=1 "),
    ("context|--query|fsync|--limit|2|--records", "notes=2 "),
    ("link|tree|qp-h2v6|--limit|2|--records", "notes=2 "),
    ("link|tree|qp-h2v6|--limit|2|--records", "notes=2 "),
    ("export|links|--limit|2", "\"matched\":56,\"truncated\":true"),
    ("show|retry FSYNC until it succeeds", "Retry fsync until it succeeds (qp-h2v6) [rejected]\n"),
    ("show|h2v6", "Retry fsync until it succeeds (qp-h2v6) [rejected]\n"),
    ("link|path|kill -9 is not a crash test|q8s2", "kill -9 is not a crash test (qp-0k9z)\n"),
    ("context|--moc|When fsync fails|--records|--limit|1", "N qp-9f2t moc"),
    ("search|--like|Retry fsync until it succeeds|--limit|1", "shares "),
];

#[test]
fn calls_that_users_of_other_programs_try_are_understood() {
    for (words, part) in UNDERSTOOD {
        let args: Vec<&str> = words.split('|').filter(|word| !word.is_empty()).collect();
        let answer = call(RESEARCH, &args);
        assert!(answer.error.is_none(), "{words}: {:?}", answer.error);
        assert!(answer.stdout.contains(part), "{words}: {}", answer.stdout);
    }
}

#[test]
fn lists_of_tags_may_be_written_with_commas() {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let at = dir.path().to_str().unwrap();
    assert!(call(at, &["init"]).stdout.contains("Next: `qipu setup` lists"));
    let tags = || call(at, &["status", "--tags"]).stdout;
    call_with(at, &["capture", "--tag", "a, b", "--tag", "c"], "A thought", &[]);
    assert_eq!(tags(), "    1  tagged a\n    1  tagged b\n    1  tagged c\n");
    let done = call(at, &["update", "a thought", "--tag", "d,e", "--untag", "a,b"]);
    assert!(done.error.is_none(), "{:?}", done.error);
    assert_eq!(tags(), "    1  tagged c\n    1  tagged d\n    1  tagged e\n");
    call(at, &["capture", "--title", "Two", "--tag=x,y"]);
    assert_eq!(call(at, &["list", "--tag", "nothing,y", "--json"]).stdout.matches("\"title\":\"Two\"").count(), 1);
}

#[test]
fn several_notes_are_deleted_together_or_not_at_all() {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    fs::create_dir_all(&notes).unwrap();
    for (id, body) in [("a", "[[b]]"), ("b", "[[a]]"), ("c", "[[a]] [[b]]"), ("d", "")] {
        fs::write(notes.join(format!("{id}.md")), format!("---\nid: {id}\ntitle: Title {id}\n---\n{body}\n")).unwrap();
    }
    let at = dir.path().to_str().unwrap();
    let refused = call(at, &["delete", "d", "a", "b"]).error.unwrap();
    assert_eq!((refused.kind.exit_code(), refused.message.as_str()), (1, "1 note links to `a`: c"));
    assert_eq!(fs::read_dir(&notes).unwrap().count(), 4, "nothing is deleted");
    let done = call(at, &["delete", "a", "Title b", "c", "a"]);
    assert!(done.error.is_none(), "links among the notes that go are no reason to keep them: {:?}", done.error);
    assert_eq!(done.stdout.lines().count(), 3, "{}", done.stdout);
    assert_eq!(call(at, &["delete", "d", "nobody"]).code(), 3);
    assert!(notes.join("d.md").exists());
}

#[test]
fn hiding_a_store_reports_files_that_git_tracks() {
    let dir = temp_dir();
    fs::create_dir(dir.path().join(".git")).unwrap();
    let at = dir.path().to_str().unwrap();
    call(at, &["init"]);
    let dry = call(at, &["init", "--stealth", "--dry-run"]).stdout;
    assert!(
        dry.contains("changed .qipu/.gitignore") && dry.contains("\n-/cache/\n") && dry.contains("\n+*\n"),
        "{dry}"
    );
    let done = call(at, &["init", "--stealth"]).stdout;
    assert!(done.contains("unchanged .qipu/config.toml\nchanged .qipu/.gitignore\n"), "{done}");
    assert!(done.contains("`git rm -r --cached .qipu/` removes them from it (still-tracked)"), "{done}");
    assert!(!done.contains("Next:"), "{done}");
    assert_eq!(call(at, &["init", "--stealth"]).stdout, "unchanged .qipu/config.toml\nunchanged .qipu/.gitignore\n");
}

#[test]
fn notes_without_a_date_are_listed_last_by_title() {
    let dir = temp_dir();
    let notes = dir.path().join(".qipu/notes");
    fs::create_dir_all(&notes).unwrap();
    for (id, fields) in
        [("a", "title: zebra"), ("b", "title: Ant"), ("c", "title: y\nupdated: 2025-01-01"), ("d", "title: bee")]
    {
        fs::write(notes.join(format!("{id}.md")), format!("---\nid: {id}\n{fields}\n---\n")).unwrap();
    }
    let at = dir.path().to_str().unwrap();
    for order in ["updated", "created"] {
        let list = call(at, &["list", "--sort", order]).stdout;
        let ids: Vec<&str> = list.lines().filter_map(|line| line.split(' ').next()).collect();
        let expected = if order == "updated" { ["c", "b", "d", "a"] } else { ["b", "d", "c", "a"] };
        assert_eq!(ids, expected, "{order}");
    }
}
