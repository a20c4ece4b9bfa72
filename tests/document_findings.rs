//! What `doctor` finds in documents that are read where they lie: which links are broken, and what is no error in a document
//! that is only read.

use std::fs;

use crate::support::files::{path, store, temp_dir, write_in_store};
use crate::support::process::{Answer, call_with_cache};
use crate::support::random::Random;
use crate::support::secret_values::github;
use serde_json::Value;
use tempfile::TempDir;

/// A project with documents in `docs`, and a README beside it.
struct Project {
    dir: TempDir,
    cache: TempDir,
}

impl Project {
    fn new(documents: &[(&str, &str)]) -> Self {
        let project = Self { dir: store(&[]), cache: temp_dir() };
        fs::create_dir(project.dir.path().join(".git")).unwrap();
        project.write("README.md", "# The project\n");
        documents.iter().for_each(|(path, text)| project.write(&format!("docs/{path}"), text));
        project
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Calls the program with `docs` as a source of the project's store.
    fn call(&self, dialect: &str, settings: &str, args: &[&str]) -> Answer {
        let config = format!("[[documents]]\npath = \"docs\"\nas = \"{dialect}\"\n{settings}\n");
        write_in_store(self.dir.path(), "config.toml", config);
        call_with_cache(path(&self.dir), self.cache.path(), args, "")
    }

    /// Returns the findings of `doctor`, each as level, code, and path or the name in its message.
    fn findings(&self, dialect: &str, settings: &str) -> Vec<String> {
        findings(&self.call(dialect, settings, &["doctor", "--json"]))
    }
}

fn findings(answer: &Answer) -> Vec<String> {
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let shown = |finding: &Value| {
        let text = |field: &str| finding[field].as_str().unwrap().to_owned();
        let message = text("message");
        let name = message.split('`').nth(1).filter(|_| text("code").contains("link")).map(str::to_owned);
        format!("{} {} {}", text("level"), text("code"), name.unwrap_or_else(|| text("path")))
    };
    report["findings"].as_array().unwrap().iter().map(shown).collect()
}

/// Links that lead to nothing, of every form.
const LOST: &str = "[a](a.md) [b](sub/b.markdown) [c](c.mdx#part) <a href=\"d.md\">d</a> [e][e] [f](../f.md)\n\
    [g](guide) [h](guide/) [i](page.html) [j](/guide/x) [k](/guide/x.md) [l](../../x) [m](../x/) [[Name]] [[#part]]\n\n\
    [e]: e.md\n";

#[test]
fn a_link_of_a_document_is_broken_if_it_can_only_lead_to_markdown() {
    let project = Project::new(&[("page.md", LOST)]);
    let paths = ["a.md", "sub/b.markdown", "c.mdx", "d.md", "e.md", "../f.md"];
    for (dialect, name) in
        [("markdown", None), ("adr", None), ("okf", None), ("obsidian", Some("Name")), ("logseq", Some("Name"))]
    {
        let mut expected: Vec<String> =
            paths.into_iter().chain(name).map(|name| format!("warning broken-link {name}")).collect();
        let mut found = project.findings(dialect, "");
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{dialect}");
        assert_eq!(project.findings(dialect, "writable = true").len(), expected.len(), "{dialect}");
    }
    // Other commands agree.
    for (dialect, count) in [("markdown", 0), ("obsidian", 1)] {
        project.write("docs/page.md", "[g](guide) [j](/guide/x.md) [i](page.html) [[Name]]\n");
        let listed = project.call(dialect, "", &["list", "broken", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed["notes"].as_array().unwrap().len(), count, "{listed}");
    }
}

#[test]
fn a_link_to_markdown_that_is_no_note_is_not_broken() {
    let project = Project::new(&[
        (
            "page.md",
            "[a](../README.md) [b](made/b.md) [c](.hidden/c.md) [d](../../elsewhere.md) [again](../../elsewhere.md) [e](../../elsewhere)",
        ),
        ("made/b.md", "Ignored."),
        (".hidden/c.md", "Hidden."),
    ]);
    project.write(".gitignore", "made/\n");
    let expected = ["warning link-leaves-project ../../elsewhere.md"];
    assert_eq!(project.findings("markdown", ""), expected);
    // Without a store, the project is the repository of the first source.
    let folder = project.dir.path().join("docs");
    let from_source = |folder: &str, args: &[&str]| {
        fs::remove_dir_all(project.dir.path().join(".qipu")).unwrap_or_default();
        findings(&call_with_cache(folder, project.cache.path(), &[args, &["doctor", "--json"]].concat(), ""))
    };
    assert_eq!(from_source(path(&project.dir), &["--store", "docs"]), expected);
    fs::create_dir(folder.join(".git")).unwrap();
    let leaving = ["warning link-leaves-project ../README.md", expected[0]];
    assert_eq!(from_source(folder.to_str().unwrap(), &["--store", "."]), leaving);
}

#[test]
fn nothing_in_a_document_that_is_only_read_is_an_error() {
    let token = format!("Use {} as token.\n", github(&mut Random::new(1)));
    let project = Project::new(&[
        ("broken.md", "---\ntitle: [\n---\nText.\n"),
        ("secret.md", &token),
        ("unclosed.md", "---\ntitle: A\n\nText.\n"),
        ("binary.md", "\0\0"),
    ]);
    fs::write(project.dir.path().join("docs/latin.md"), b"caf\xe9").unwrap();
    let lines = |level: &str| {
        [
            ("skipped", "binary"),
            ("frontmatter-broken", "broken"),
            ("not-utf-8", "latin"),
            ("secret", "secret"),
            ("frontmatter-unclosed", "unclosed"),
        ]
        .map(|(code, name)| {
            let level = if code == "skipped" { "warning" } else { level };
            format!("{level} {code} docs/{name}.md")
        })
    };
    assert_eq!(project.findings("markdown", ""), lines("warning"));
    assert_eq!(project.findings("markdown", "writable = true"), lines("error"));
    assert_eq!(project.call("markdown", "", &["doctor"]).code(), 0);
    assert_eq!(project.call("markdown", "", &["doctor", "--strict"]).code(), 3);
    assert_eq!(project.call("markdown", "writable = true", &["doctor"]).code(), 3);
    // A note of the store is as before.
    write_in_store(project.dir.path(), "notes/n.md", format!("---\nid: n\ntitle: N\n---\n{token}"));
    let found = project.findings("markdown", "");
    assert!(found.contains(&"error secret .qipu/notes/n.md".to_owned()), "{found:?}");
}
