//! Settings that name collections: what `init` suggests for them, and which folders they mean.

use crate::support::world::World;

#[test]
fn the_call_that_init_prints_makes_the_store_read_the_folder() {
    for (folder, marker) in [
        ("docs", ""),
        ("Notes [work]", ".obsidian/x.json"),
        ("a \"b\"  \\c", ".obsidian/x.json"),
        ("n\u{202e}x", ".obsidian/x.json"),
    ] {
        let world = World::empty();
        world.write(".git/HEAD", "");
        world.write(&format!("{folder}/page.md"), "# Page\n");
        if !marker.is_empty() {
            world.write(&format!("{folder}/{marker}"), "");
        }
        let printed = world.answer_in("", &["init"]);
        assert!(printed.contains("`qipu init --documents ") && printed.contains("` reads them in place"), "{printed}");
        world.answer_in("", &["init", "--documents", folder]);
        let config: toml::Value =
            toml::from_str(&std::fs::read_to_string(world.at(".qipu/config.toml")).unwrap()).unwrap();
        assert_eq!(config["documents"][0]["path"].as_str(), Some(folder), "{printed}");
        let listed = world.answer_in("", &["status"]);
        assert!(listed.lines().any(|line| line.trim_start().starts_with("1  ")), "{folder}: {listed}");
    }
}

#[test]
fn init_proposes_only_folders_that_no_collection_reads() {
    let world = World::empty();
    world.write(".git/HEAD", "");
    for page in ["docs/a.md", "docs/adr/0001-x.md", "wiki/b.md", "wiki/c.md"] {
        world.write(page, "# Page\n");
    }
    let proposed = || {
        let answer: serde_json::Value = serde_json::from_str(&world.answer_in("", &["init", "--json"])).unwrap();
        let sources = answer["documents"].as_array().cloned().unwrap_or_default();
        let shown = |source: &serde_json::Value| format!("{} {}", source["path"].as_str().unwrap(), source["files"]);
        sources.iter().map(shown).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(proposed(), "docs/adr 1, docs 2, wiki 2");
    for (paths, expected) in [
        (&["docs"][..], "wiki 2"),
        (&["docs/adr"], "docs 1, wiki 2"),
        (&["docs", "docs/adr", "wiki"], ""),
        (&["."], ""),
        (&["wiki/b.md"], "docs/adr 1, docs 2, wiki 1"),
        (&["d*"], "wiki 2"),
        (&["nosuch"], "docs/adr 1, docs 2, wiki 2"),
    ] {
        let lines: String = paths.iter().map(|path| format!("[[documents]]\npath = \"{path}\"\n")).collect();
        world.write(".qipu/config.toml", &lines);
        assert_eq!(proposed(), expected, "{paths:?}");
    }
    // Sources of the user count too.
    world.write(".qipu/config.toml", "");
    let wiki = world.at("wiki");
    world.write("settings/qipu/config.toml", &format!("[[documents]]\npath = \"{}\"\n", wiki.display()));
    assert_eq!(proposed(), "docs/adr 1, docs 2");
}

#[test]
fn a_store_inside_a_project_counts_before_the_files_beside_it() {
    let world = World::empty();
    for beside in ["config.toml", "notes/x.md", "mocs/x.md", "journals/x.md"] {
        let (name, _) = beside.split_once(['.', '/']).unwrap();
        world.write(&format!("site-{name}/{beside}"), "# A file of the site\n");
        world.write(&format!("site-{name}/.qipu/notes/n.md"), "# In the store\n");
        let listed = world.answer_in("", &["list", "--store", &format!("site-{name}")]);
        assert!(listed.contains("In the store") && !listed.contains("of the site"), "{listed}");
        world.write(".qipu/config.toml", &format!("[[stores]]\npath = \"site-{name}\"\n"));
        assert!(world.answer_in("", &["list"]).contains("In the store"), "{beside}");
    }
}

#[test]
fn paths_in_the_settings_of_the_user_begin_at_the_root_or_at_home() {
    let world = World::empty();
    world.write("home/app/.git/HEAD", "");
    world.write("home/app/.qipu/config.toml", "[[documents]]\npath = \"../notes\"\n");
    world.write("home/notes/page.md", "# Page\n");
    let listed = |settings: &str| {
        world.write("settings/qipu/config.toml", settings);
        world.answer_in("home/app", &["status", "--json"])
    };
    for (allowed, is_read) in [("~/app", true), ("~/app/", true), ("~/other", false), ("~app", false), ("app", false)] {
        let answer = listed(&format!("allowed-repositories = [\"{allowed}\"]\n"));
        assert_eq!(answer.contains("\"name\":\"notes\",\"kind\""), is_read, "{allowed}: {answer}");
        assert_eq!(answer.contains("documents-outside"), !is_read, "{allowed}: {answer}");
    }
    for table in ["documents", "stores"] {
        for (path, reason) in
            [("docs", "is relative; in your settings, a path begins with `/` or `~/`"), ("", "is not a path")]
        {
            let answer = listed(&format!("[[{table}]]\npath = \"{path}\"\n"));
            assert!(answer.contains(&format!("under [[{table}]] {reason}\"")), "{answer}");
        }
    }
}

#[test]
fn the_error_of_a_user_without_an_own_store_names_the_command_that_creates_it() {
    let world = World::empty();
    world.write(".qipu/notes/a.md", "Text.\n");
    let hint = |args: &[&str]| world.call_of_user("", None, args).error.unwrap().hint.unwrap();
    for args in [&["list", "--in", "user"][..], &["capture", "--in", "user", "A thought"]] {
        assert!(hint(args).contains("`qipu init --user`"), "{args:?}: {}", hint(args));
    }
    assert!(hint(&["list", "--in", "nosuch"]).contains("qipu status"));
}

#[test]
fn a_user_with_an_own_store_alone_is_told_how_to_write_to_it() {
    let world = World::empty();
    world.write("app/x.txt", "");
    let hint = |args: &[&str]| world.call_of_user("app", None, args).error.unwrap().hint.unwrap();
    assert!(!hint(&["capture", "A thought"]).contains("--in user"));
    let made = world.answer_in("app", &["init", "--user"]);
    assert!(made.ends_with("Next: `qipu capture --in user` creates a note in it, from every folder.\n"), "{made}");
    for args in [&["capture", "A thought"][..], &["journal", "Done"], &["update", "x", "--tag", "y"]] {
        let hint = hint(args);
        assert!(hint.contains("`--in user` changes your own store") && hint.contains("`qipu init`"), "{hint}");
    }
    assert!(!hint(&["capture", "A thought", "--store", "nosuch"]).contains("--in user"));
    world.answer_in("app", &["capture", "A thought", "--in", "user"]);
    assert!(world.answer_in("app", &["list"]).contains("A thought"));
}

#[test]
fn init_below_a_store_tells_how_to_make_another() {
    let world = World::empty();
    world.write(".git/HEAD", "");
    world.write("packages/one/x.txt", "");
    world.answer_in("", &["init"]);
    let hint = "This store counts here too; `qipu init .` makes one in this folder.\n";
    let found = world.answer_in("packages/one", &["init"]);
    assert!(found.starts_with("unchanged ../../.qipu/config.toml\n") && found.ends_with(hint), "{found}");
    assert!(!world.answer_in("", &["init"]).contains("init ."));
    assert!(!world.answer_in("packages/one", &["init", "../.."]).contains("init ."));
    let made = world.answer_in("packages/one", &["init", "."]);
    assert!(made.contains("created .qipu/config.toml\n") && !made.contains("init ."), "{made}");
    assert!(!world.answer_in("packages/one", &["init"]).contains("init ."));
}

#[test]
fn a_path_without_a_store_and_documents_is_refused() {
    let world = World::empty();
    world.write("docs/index.md", "# Page\n");
    world.write("src/main.rs", "");
    for path in ["docs/index.md", "docs/*", "nosuch", "src"] {
        let error = world.call_of_user("", None, &["list", "--store", path]).error.unwrap();
        assert_eq!((error.message, error.kind.exit_code()), (format!("no store at {path}"), 3));
        assert!(error.hint.unwrap().starts_with("a store is a folder that contains"));
    }
    world.write("docs/[x]/page.md", "# Bracket\n");
    assert!(world.answer_in("", &["list", "--store", "docs/[x]"]).contains("Bracket"));
    // Stores and documents in any order; the first store is the project's.
    world.write("team/.qipu/notes/t.md", "---\nid: t\ntitle: Team\n---\n");
    for stores in [["docs", "team"], ["team", "docs"]] {
        let listed = world.answer_in("", &["status", "--json", "--store", stores[0], "--store", stores[1]]);
        assert!(listed.contains("\"name\":\"project\"") && listed.contains("\"name\":\"docs\""), "{listed}");
    }
    let error = world.call_of_user("", None, &["capture", "x", "--store", "docs"]).error.unwrap();
    assert_eq!(error.message, "no store at docs");
}

#[test]
fn init_writes_which_documents_are_read() {
    let world = World::empty();
    world.write("docs/page.md", "# Page\n");
    world.write("vault/.obsidian/app.json", "{}");
    world.write("vault/Vault.md", "Text.\n");
    world.answer_in("", &["init", "--documents", "docs"]);
    assert!(world.answer_in("", &["list"]).contains("Page"));
    let shown = world.answer_in("docs", &["init", "--documents", "../vault", "--documents", ".", "--dry-run"]);
    assert!(shown.contains("+path = \"vault\"\n+as = \"obsidian\"") && !shown.contains("\"docs\"\n+as"), "{shown}");
    assert!(!world.answer_in("", &["list"]).contains("Vault"));
    world.answer_in("docs", &["init", "--documents", "../vault", "--documents", "."]);
    assert!(world.answer_in("", &["list"]).contains("Vault"));
    let before = std::fs::read_to_string(world.at(".qipu/config.toml")).unwrap();
    assert_eq!(before.matches("\n[[documents]]\n").count(), 2);
    world.answer_in("", &["init", "--documents", "vault"]);
    assert_eq!(std::fs::read_to_string(world.at(".qipu/config.toml")).unwrap(), before);
    for (path, message) in [("nosuch", "there is no folder nosuch"), ("..", ".. is outside the project")] {
        let error = world.call_of_user("", None, &["init", "--documents", path]).error.unwrap();
        assert_eq!((error.message.as_str(), error.kind.exit_code()), (message, 2));
    }
}

#[test]
fn the_former_name_of_documents_is_read_with_a_finding() {
    let world = World::empty();
    world.write("docs/page.md", "# Page\n");
    world.write(".qipu/config.toml", "[[sources]]\npath = \"docs\"\n");
    assert!(world.answer_in("", &["list"]).contains("Page"));
    let found = world.answer_in("", &["doctor"]);
    assert!(found.contains("former-setting") && found.contains("`[[documents]]`"), "{found}");
}

#[cfg(unix)]
#[test]
fn findings_of_paths_name_the_reason() {
    let world = World::empty();
    world.write("docs/page.md", "# Page\n");
    world.write("docs/deep/page.md", "# Page\n");
    for (to, link) in [("docs", "link"), ("docs/page.md", "page.md"), ("nosuch", "gone")] {
        std::os::unix::fs::symlink(world.at(to), world.at(link)).unwrap();
    }
    let link = "it is a symbolic link, which is not followed";
    let missing = "there is no such folder";
    for (table, path, reason) in [
        ("documents", "link", link),
        ("documents", "page.md", link),
        ("documents", "gone", link),
        ("documents", "link/*.md", link),
        ("documents", "link/deep", "a folder above it is a symbolic link, which is not followed"),
        ("stores", "link", link),
        ("documents", "nosuch", missing),
        ("documents", "~/x", "there is no such folder; `~/` is your home only in your own settings"),
        ("stores", "~/x", "there is no such folder; `~/` is your home only in your own settings"),
        ("documents", "docs/**/../x", "has `..` behind a wildcard, which is not allowed"),
        ("stores", "*/../x", "has `..` behind a wildcard, which is not allowed"),
        ("stores", "**", "has `**`, which only [[documents]] may have; name each level with `*`"),
        ("stores", "docs/[", "is not a valid glob"),
        ("documents", "", "is not a path"),
    ] {
        world.write(".qipu/config.toml", &format!("[[{table}]]\npath = \"{path}\"\n"));
        let answer: serde_json::Value = serde_json::from_str(&world.answer_in("", &["status", "--json"])).unwrap();
        let message = answer["findings"][0]["message"].as_str().unwrap();
        assert!(message.ends_with(reason), "{path}: {message}");
    }
    // Links in the user's settings are followed; those to a file or nothing lead to no folder.
    world.write(".qipu/config.toml", "");
    for (path, is_read) in [("link", true), ("page.md", false), ("gone", false)] {
        let at = world.at(path);
        world.write("settings/qipu/config.toml", &format!("[[documents]]\npath = \"{}\"\n", at.display()));
        let answer = world.answer_in("", &["status", "--json"]);
        assert_eq!(answer.contains("it is a symbolic link that leads to no folder"), !is_read, "{path}: {answer}");
    }
}

#[test]
fn the_error_of_a_collection_that_is_not_read_says_why() {
    let world = World::empty();
    world.write("docs/page.md", "# Page\n");
    let config = "[[documents]]\npath = \"docs\"\n[[documents]]\npath = \"no docs\"\nwritable = true\n\
                  [[documents]]\npath = \"gone\"\nname = \"wiki\"\n[[stores]]\npath = \"web\"\n";
    world.write(".qipu/config.toml", config);
    for (args, name, path) in [
        (&["capture", "x", "--in", "no-docs"][..], "no-docs", "`path = \"no docs\"` under [[documents]]"),
        (&["list", "--in", "wiki"], "wiki", "`path = \"gone\"` under [[documents]]"),
        (&["capture", "x", "--in", "web", "--dry-run"], "web", "`path = \"web\"` under [[stores]]"),
    ] {
        let error = world.call_of_user("", None, args).error.unwrap();
        let why = format!(": .qipu/config.toml: {path} is not read: there is no such folder");
        assert_eq!(error.message, format!("no collection has the name `{name}`{why}"));
        assert!(error.hint.unwrap().contains("collections: project, docs"));
    }
    let error = world.call_of_user("", None, &["list", "--in", "gone"]).error.unwrap();
    assert_eq!(error.message, "no collection has the name `gone`");
}

#[test]
fn a_link_to_a_collection_without_a_type_hints_at_one() {
    let world = packages();
    let error = |link: &str| {
        let answer = world.call_of_user("packages/two", None, &["capture", "A thought", "--link", link]);
        answer.error.unwrap()
    };
    for link in ["root:r", "first:o", "one:nosuch"] {
        let (kind, hint) = (link.split(':').next().unwrap(), error(link).hint.unwrap());
        assert_eq!(error(link).message, format!("unknown link type `{kind}`"));
        assert_eq!(hint, format!("`{kind}` is a collection; with a type: `related:{link}`"));
    }
    assert!(error("nosuch:r").hint.unwrap().contains("types: "));
    world.answer_in("packages/two", &["capture", "A thought", "--link", "related:root:r"]);
}

#[test]
fn a_linked_note_shows_its_collection_in_every_format() {
    let world = World::empty();
    world.write(".qipu/notes/a.md", "---\nid: a\n---\n[[docs:page]] [[b]]\n");
    world.write(".qipu/notes/b.md", "---\nid: b\n---\nText.\n");
    let shown = |format: &[&str]| world.answer_in("", &[&["show", "a", "--links"], format].concat());
    assert!(!shown(&[]).contains("[in "), "one collection");
    world.write(".qipu/config.toml", "[[documents]]\npath = \"docs\"\n");
    world.write("docs/page.md", "# Page\n");
    assert!(shown(&[]).contains("related → Page (page) [in docs]\n"), "{}", shown(&[]));
    assert!(shown(&["--records"]).contains("\nE a related page inline in=docs\n"), "{}", shown(&["--records"]));
    assert!(shown(&["--records"]).contains("\nE a related b inline in=project\n"), "{}", shown(&["--records"]));
    let answer: serde_json::Value = serde_json::from_str(&shown(&["--json"])).unwrap();
    let links: Vec<&str> =
        answer["links"].as_array().unwrap().iter().map(|link| link["in"].as_str().unwrap()).collect();
    assert_eq!(links.len(), 2);
    assert!(links.contains(&"docs") && links.contains(&"project"), "{answer}");
}

#[test]
fn a_path_in_double_brackets_leads_from_the_folder_of_every_source() {
    for dialect in ["markdown", "obsidian", "logseq", "adr"] {
        let world = World::empty();
        world.write(".qipu/config.toml", &format!("[[documents]]\npath = \"docs\"\nas = \"{dialect}\"\n"));
        world.write("docs/0002-b.md", "# Second\n\nSee [[sub/0001-x]].\n");
        world.write("docs/sub/0001-x.md", "# First\n");
        let graph: serde_json::Value = serde_json::from_str(&world.answer_in("", &["export", "links"])).unwrap();
        assert_eq!(graph["links"].as_array().unwrap().len(), 1, "{dialect}: {graph}");
    }
}

/// A repository with a store at its root and one in each of two packages.
fn packages() -> World {
    let world = World::empty();
    world.write(".git/HEAD", "");
    world.write(
        ".qipu/config.toml",
        "[[stores]]\npath = \"packages/one\"\nname = \"first\"\n\n[[stores]]\npath = \"packages/*\"\n",
    );
    for (folder, id) in [("", "r"), ("packages/one/", "o"), ("packages/two/", "t")] {
        let links = "[[root:r]] [[first:o]] [[one:o]] [[two:t]]";
        world.write(&format!("{folder}.qipu/notes/{id}.md"), &format!("---\nid: {id}\n---\nSee {links}.\n"));
    }
    world
}

#[test]
fn links_behind_names_of_stores_mean_the_same_from_every_folder() {
    let world = packages();
    for folder in ["", "packages/one", "packages/two"] {
        for args in [&["export", "links"][..], &["export", "links", "--no-index"]] {
            let graph: serde_json::Value = serde_json::from_str(&world.answer_in(folder, args)).unwrap();
            let mut links: Vec<String> = graph["links"]
                .as_array()
                .unwrap()
                .iter()
                .map(|link| format!("{}{}", link["from"], link["to"]))
                .collect();
            links.sort();
            assert_eq!(links.join(" ").replace('"', ""), "or ot ro rt to tr", "{folder}");
        }
        assert!(!world.answer_in(folder, &["doctor"]).contains("broken-link"), "{folder}");
        for (name, id) in [("root", "r"), ("first", "o"), ("one", "o"), ("two", "t")] {
            let listed = world.answer_in(folder, &["list", "--in", name, "--json"]);
            assert!(listed.contains(&format!("\"id\":\"{id}\"")), "{folder}: {listed}");
            assert_eq!(listed.matches("\"id\":").count(), 1, "{folder}: {listed}");
            let shown = world.answer_in(folder, &["show", &format!("{name}:{id}"), "--json"]);
            assert!(shown.contains(&format!("\"id\":\"{id}\"")), "{folder}: {shown}");
        }
    }
    // The name that a collection has in the answer is not another's.
    world.write("packages/two/.qipu/config.toml", "[[documents]]\npath = \"docs\"\nname = \"one\"\n");
    world.write("packages/two/docs/o.md", "# Page\n");
    let shown = world.answer_in("packages/two", &["show", "one:o", "--json"]);
    assert!(shown.contains("\"path\":\"docs/o.md\""), "{shown}");
}

#[test]
fn a_store_without_a_repository_has_no_other_names() {
    let world = World::empty();
    world.write("app/.qipu/notes/a.md", "---\nid: a\n---\nText.\n");
    let answer = world.call_of_user("app", None, &["list", "--in", "app"]);
    assert_eq!(answer.code(), 2, "{}", answer.stdout);
}

#[test]
fn notes_of_the_user_use_the_names_that_the_users_settings_give_in_every_project() {
    let world = World::empty();
    for project in ["app", "other"] {
        std::fs::create_dir_all(world.at(&format!("{project}/.git"))).unwrap();
        world.write(&format!("{project}/.qipu/notes/{project}.md"), &format!("---\nid: n-{project}\n---\nText.\n"));
        world.write(&format!("{project}/pages/page.md"), "# Page\n");
    }
    // One of these stores is that of the project, and the folder of documents lies in it.
    let [app, pages] = ["app", "app/pages"].map(|path| world.at(path));
    let settings =
        format!("[[stores]]\npath = {app:?}\nname = \"work\"\n[[documents]]\npath = {pages:?}\nname = \"pages\"\n");
    world.write("settings/qipu/config.toml", &settings);
    for project in ["app", "other"] {
        let note = "---\nid: mine\n---\nSee [[work:n-app]] [[pages:page]] [[project:n-app]] [[root:n-app]].\n";
        world.write("data/qipu/notes/mine.md", note);
        let links = world.answer_in(project, &["link", "list", "mine"]);
        for (name, is_known) in
            [("work:n-app", true), ("pages:page", true), ("project:n-app", false), ("root:n-app", false)]
        {
            assert_eq!(!links.contains(&format!("(missing) {name}")), is_known, "{project} {name}: {links}");
            let add = ["link", "add", "mine", name, "--in", "user"];
            let answer = world.call_of_user(project, None, &add);
            // A command writes the name that lasts.
            assert_eq!(answer.error.is_none(), is_known || project == "app", "{project} {name}: {:?}", answer.error);
        }
        let text = std::fs::read_to_string(world.at("data/qipu/notes/mine.md")).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.split("id: \"").nth(1)?.split('"').next()).collect();
        assert_eq!(names, ["work:n-app", "pages:page"], "{project}: {text}");
    }
    let error = world.call_of_user("app", None, &["update", "project:n-app", "--value", "1", "--in", "user"]).error;
    assert!(format!("{error:?}").contains("belongs to the collection `project`"), "{error:?}");
}

#[test]
fn links_to_the_store_of_the_project_are_written_with_a_name_that_lasts() {
    let world = packages();
    for (folder, to, from, note, name) in [
        ("", "first", "o", "r", "root:r"),
        ("packages/two", "root", "r", "t", "two:t"),
        ("packages/two", "root", "r", "first:o", "first:o"),
    ] {
        world.answer_in(folder, &["link", "add", from, note, "--in", to]);
        let file = if from == "o" { "packages/one/.qipu/notes/o.md" } else { ".qipu/notes/r.md" };
        let text = std::fs::read_to_string(world.at(file)).unwrap();
        assert!(text.contains(&format!("id: \"{name}\"")), "{text}");
    }
    for (folder, name, note) in [("", "root:r", "r"), ("packages/one", "first:o", "o"), ("packages/one", "one:O", "o")]
    {
        let changed = world.answer_in(folder, &["update", name, "--title", "O", "--dry-run", "-q"]);
        assert_eq!(changed.trim(), note, "{name}");
    }
    // Any of the names removes the link.
    world.answer_in("", &["link", "remove", "r", "one:o"]);
    world.answer_in("packages/one", &["link", "remove", "r", "two:t", "--in", "root"]);
    let text = std::fs::read_to_string(world.at(".qipu/notes/r.md")).unwrap();
    assert!(!text.contains("first:o\"") && !text.contains("two:t\""), "{text}");
}

#[test]
fn a_glob_that_matches_no_document_is_a_finding_and_takes_no_name() {
    let world = World::empty();
    world.write("docs/guide/page.md", "# Page\n");
    world.write("docs/plain.txt", "Text\n");
    world.write("docs/sub/.hidden/x.md", "# Hidden\n");
    let config = |glob: &str, more: &str| {
        format!("[[documents]]\npath = \"{glob}\"\n{more}\n[[documents]]\npath = \"docs/guide\"\nname = \"docs\"\n")
    };
    for glob in ["docs/*.md", "docs/gide/*", "docs/*.txt", "docs/nosuch*/**", "docs/**/x.md"] {
        world.write(".qipu/config.toml", &config(glob, ""));
        let answer: serde_json::Value = serde_json::from_str(&world.answer_in("", &["status", "--json"])).unwrap();
        assert_eq!(answer["collections"].as_array().unwrap().len(), 2, "{glob}: {answer}");
        assert_eq!(answer["collections"][1]["name"], "docs", "{glob}: {answer}");
        let finding = &answer["findings"][0];
        assert_eq!(
            finding["code"],
            if glob.contains("gide") { "documents-missing" } else { "documents-empty" },
            "{answer}"
        );
    }
    // The first document of a source that may be changed is written by a command.
    world.write(".qipu/config.toml", &config("docs/*.md", "writable = true"));
    world.answer_in("", &["capture", "--title", "New", "--in", "docs"]);
    world.write(".qipu/config.toml", &config("docs/*.md", ""));
    assert!(!world.answer_in("", &["status"]).contains("documents-empty"));
}

#[test]
fn a_folder_with_brackets_in_its_name_is_no_glob() {
    for folder in ["Notes [work]", "{a,b}", "docs/[x]/deep", "[ab]"] {
        let world = World::empty();
        world.write(&format!("{folder}/page.md"), "# Page\n");
        world.write("a/other.md", "# Other\n");
        for path in [folder.to_owned(), format!("./{folder}/"), format!("{folder}/*.md"), format!("{folder}/page.md")] {
            world.write(".qipu/config.toml", &format!("[[documents]]\npath = \"{path}\"\n"));
            let listed = world.answer_in("", &["list"]);
            assert!(listed.contains("Page") && !listed.contains("Other"), "{path}: {listed}");
        }
    }
    // Without such a folder, it is a glob, and so is a name with another wildcard.
    let world = World::empty();
    world.write("a/page.md", "# Page\n");
    world.write("[a]*/other.md", "# Other\n");
    for path in ["[ab]", "[a]*"] {
        world.write(".qipu/config.toml", &format!("[[documents]]\npath = \"{path}\"\n"));
        let listed = world.answer_in("", &["list"]);
        assert!(listed.contains("Page") && !listed.contains("Other"), "{path}: {listed}");
    }
}

#[test]
fn a_file_with_brackets_in_its_name_is_no_glob() {
    for file in ["docs/a[1].md", "docs/{a,b}.md", "[x]/a[1].md", "a[1].md", "docs/a\\[1].md"] {
        let world = World::empty();
        world.write(file, "# Page\n");
        for other in ["docs/a1.md", "docs/a.md", "docs/b.md", "x/a1.md", "a1.md", "docs/a\\1.md", "docs/a[1.md"] {
            world.write(other, "# Other\n");
        }
        for path in [file.to_owned(), format!("./{file}")] {
            world.write(".qipu/config.toml", &format!("[[documents]]\npath = '{path}'\n"));
            let listed = world.answer_in("", &["list"]);
            assert_eq!((listed.matches("Page").count(), listed.contains("Other")), (1, false), "{path}: {listed}");
        }
    }
    // Without such a file, it is a glob.
    let world = World::empty();
    world.write("docs/a1.md", "# Page\n");
    world.write(".qipu/config.toml", "[[documents]]\npath = \"docs/a[1].md\"\n");
    assert!(world.answer_in("", &["list"]).contains("Page"));
}

#[test]
fn a_source_of_an_option_has_no_notes_of_a_store() {
    let world = World::empty();
    world.write(".qipu/notes/sub/a.md", "---\nid: a\ntitle: In the store\n---\nText.\n");
    world.write(".qipu/README.md", "# Beside the notes\n");
    for source in [".qipu/notes", ".qipu/notes/sub", ".qipu", "."] {
        let listed = world.answer_in("", &["list", "--store", ".", "--store", source]);
        assert_eq!(listed.matches("In the store").count(), 1, "{source}: {listed}");
        assert_eq!(listed.lines().count(), 1, "{source}: {listed}");
    }
    // A store that does not count has no notes that could be read twice.
    world.write("other/notes/b.md", "---\nid: b\ntitle: Elsewhere\n---\nText.\n");
    let listed = world.answer_in("", &["list", "--store", ".", "--store", "other/notes"]);
    assert_eq!(listed.lines().count(), 2, "{listed}");
}

#[test]
fn an_allowed_repository_by_a_relative_path_is_a_finding() {
    let world = World::empty();
    world.write("repo/.git/HEAD", "");
    world.write("repo/.qipu/notes/a.md", "Text.\n");
    for (path, is_invalid) in
        [("repo", true), ("./repo", true), ("~repo", true), ("~", true), ("", true), ("~/repo", false), ("/x", false)]
    {
        world.write("settings/qipu/config.toml", &format!("allowed-repositories = [\"{path}\"]\n"));
        for args in [&["status", "--json"][..], &["status", "--json", "--store", "."]] {
            let answer = world.answer_in("repo", args);
            let message = format!(
                "`{path}` under allowed-repositories is relative; in your settings, a path begins with `/` or `~/`"
            );
            assert_eq!(answer.contains(&message), is_invalid, "{path}: {answer}");
            assert_eq!(answer.contains("repository-invalid"), is_invalid, "{path}: {answer}");
        }
        world.answer_in("repo", &["list"]);
    }
}

/// Two projects, `app` and `other`, with a word in a folder of documents and in a store of the user's.
fn two_projects() -> World {
    let world = World::empty();
    for project in ["app", "other"] {
        world.write(&format!("home/{project}/.git/HEAD"), "");
        world.write(&format!("home/{project}/src/deep/a.rs"), "");
        world.write(&format!("home/{project}/.qipu/notes/own.md"), "---\nid: own\ntitle: Own\n---\nText.\n");
    }
    world.write("home/wiki/page.md", "# Page\n\nThe wombat sleeps.\n");
    world.write("home/shelf/.qipu/notes/kept.md", "---\nid: kept\ntitle: Kept\n---\nThe wombat wakes.\n");
    world
}

const IN_WIKI: &str = "[[documents]]\npath = \"~/wiki\"\n";
const IN_SHELF: &str = "[[stores]]\npath = \"~/shelf\"\n";

#[test]
fn a_folder_of_the_user_counts_only_in_the_projects_that_it_names() {
    let world = two_projects();
    world.write("home/app/vendor/lib/.git/HEAD", "");
    world.write("home/app/vendor/lib/.qipu/notes/own.md", "---\nid: own\n---\nText.\n");
    world.write("home/plain/.qipu/notes/own.md", "---\nid: own\n---\nText.\n");
    world.write("home/plain/below/a.md", "");
    std::os::unix::fs::symlink(world.at("home/app"), world.at("home/way")).unwrap();
    let answers = |folder: &str| {
        let calls =
            ["status --json", "doctor --json", "list", "search wombat --json", "ask wombat", "context --query wombat"];
        let answer = |call: &&str| {
            let answer = world.call_of_user(folder, Some("cache"), &call.split(' ').collect::<Vec<_>>());
            format!("{}{:?}", answer.stdout, answer.error)
        };
        calls.iter().map(answer).collect::<Vec<_>>()
    };
    for (table, title, name) in [(IN_WIKI, "Page", "wiki"), (IN_SHELF, "Kept", "shelf")] {
        let projects = ["home/app", "home/app/src/deep", "home/app/vendor/lib", "home/other", "home/plain/below"];
        world.write("settings/qipu/config.toml", "");
        let without = projects.map(answers);
        world.write("settings/qipu/config.toml", table);
        for project in projects {
            assert!(world.answer_in(project, &["list"]).contains(title), "it leaks into {project}");
        }
        let app = world.at("home/app");
        for (list, here) in [
            ("\"~/app\"", &projects[..3]),
            ("\"~/app/\"", &projects[..3]),
            ("\"~/none\", \"~/way\"", &projects[..3]),
            (&format!("{app:?}"), &projects[..3]),
            ("\"~/app/vendor\"", &projects[2..3]),
            ("\"~/app/src\"", &[]),
            ("\"~/ap\"", &[]),
            ("\"~/plain\", \"~/app/vendor/lib\"", &["home/app/vendor/lib", "home/plain/below"]),
            ("\"~/.\"", &projects),
            ("\"/\"", &projects),
            ("", &[]),
        ] {
            world.write("settings/qipu/config.toml", &format!("{table}for = [{list}]\n"));
            for (project, without) in projects.iter().zip(&without) {
                if here.contains(project) {
                    let status = world.answer_in(project, &["status", "--json"]);
                    assert!(status.contains("\"reason\":\"your settings, for this project\""), "{list}: {status}");
                    assert!(world.answer_in(project, &["list", "--in", name]).contains(title), "{list}: {project}");
                } else {
                    assert_eq!(answers(project), *without, "{list}: {project}");
                }
            }
        }
    }
}

#[test]
fn the_name_of_a_folder_that_counts_elsewhere_is_explained() {
    let world = two_projects();
    let settings =
        format!("{IN_WIKI}name = \"w\"\nwritable = true\nfor = [\"~/app\", \"/x\\u001b\"]\n{IN_SHELF}for = []\n");
    world.write("settings/qipu/config.toml", &settings);
    for (args, name, why) in [
        (&["list", "--in", "w"][..], "w", "`path = \"~/wiki\"` under [[documents]] counts only in `~/app`, `/x␛`"),
        (&["capture", "x", "--in", "w"], "w", "`path = \"~/wiki\"` under [[documents]] counts only in `~/app`, `/x␛`"),
        (&["list", "--in", "shelf"], "shelf", "`path = \"~/shelf\"` under [[stores]] counts only in no project"),
    ] {
        let error = world.call_of_user("home/other", None, args).error.unwrap();
        assert_eq!(error.message, format!("no collection has the name `{name}`: qipu/config.toml: {why}"));
        assert!(error.hint.unwrap().starts_with("collections: project;"));
    }
    world.answer_in("home/app", &["capture", "x", "--in", "w"]);
    assert!(world.call_of_user("home/other", None, &["show", "w:page"]).error.is_some());
    // A store that is named replaces what the settings name, as without `for`.
    assert!(!world.answer_in("home/app", &["status", "--store", "."]).contains("wiki"));
}

/// The user's own notes mean the same in every project.
#[test]
fn own_notes_of_the_user_have_no_links_to_what_counts_in_some_projects() {
    let world = two_projects();
    world.write("settings/qipu/config.toml", &format!("{IN_WIKI}for = [\"~/app\"]\n{IN_SHELF}"));
    world.write("data/qipu/notes/mine.md", "---\nid: mine\n---\nSee [[wiki:page]] and [[shelf:kept]].\n");
    for project in ["home/app", "home/other"] {
        let links = world.answer_in(project, &["link", "list", "mine"]);
        assert!(links.contains("(missing) wiki:page") && !links.contains("(missing) shelf:kept"), "{links}");
        let add = world.call_of_user(project, None, &["link", "add", "mine", "wiki:page", "--in", "user"]);
        assert!(add.error.is_some(), "{project}");
    }
    world.write("home/app/.qipu/notes/own.md", "---\nid: own\n---\nSee [[wiki:page]].\n");
    assert!(!world.answer_in("home/app", &["link", "list", "own"]).contains("missing"));
}

#[test]
fn a_project_by_a_relative_path_is_a_finding() {
    let world = two_projects();
    for (table, kind) in
        [(IN_WIKI, "documents"), (IN_SHELF, "stores"), ("[[sources]]\npath = \"~/wiki\"\n", "documents")]
    {
        for (path, is_invalid) in
            [("app", true), ("", true), ("~", true), (".", true), ("~/none", false), ("/x", false)]
        {
            world.write("settings/qipu/config.toml", &format!("{table}for = [\"{path}\"]\n"));
            let status = world.answer_in("home/app", &["status", "--json"]);
            let message =
                format!("`{path}` under `for` of [[{kind}]] is relative; in your settings, a path begins with");
            assert_eq!(status.contains(&message), is_invalid, "{path}: {status}");
            assert_eq!(status.contains("repository-invalid"), is_invalid, "{path}: {status}");
            assert!(!status.contains("your settings, for"), "{path}: {status}");
        }
    }
}

#[test]
fn the_config_of_a_store_limits_no_folder_to_projects() {
    let world = two_projects();
    world.write("home/app/docs/page.md", "# Page\n");
    for value in ["[\"~/other\"]", "3"] {
        let config =
            format!("[[documents]]\npath = \"docs\"\nfor = {value}\n[[stores]]\npath = \"x\"\nfor = {value}\n");
        world.write("home/app/.qipu/config.toml", &config);
        assert!(world.answer_in("home/app", &["list"]).contains("Page"));
        let found = world.answer_in("home/app", &["doctor", "--json"]);
        assert_eq!(found.matches("unknown-setting").count(), 2, "{found}");
        assert!(found.contains("documents.for") && found.contains("stores.for"), "{found}");
    }
}

#[test]
fn a_project_counts_in_its_linked_worktrees() {
    let world = two_projects();
    let tree = "home/app/.git/worktrees/tree";
    for (linked, is_known) in [("home/linked", true), ("home/forged", false)] {
        world.write(&format!("{linked}/.git"), &format!("gitdir: {}\n", world.at(tree).display()));
        world.write(&format!("{linked}/.qipu/notes/own.md"), "---\nid: own\n---\nText.\n");
        world.write(&format!("{tree}/commondir"), "../..\n");
        world.write(&format!("{tree}/gitdir"), &format!("{}\n", world.at("home/linked/.git").display()));
        for (project, is_read) in [("app", is_known), ("linked", is_known), ("other", false)] {
            world.write("settings/qipu/config.toml", &format!("{IN_WIKI}for = [\"~/{project}\"]\n"));
            assert_eq!(world.answer_in(linked, &["list"]).contains("Page"), is_read, "{project}: {linked}");
        }
    }
    // A linked one that is named does not speak for the others.
    world.write("settings/qipu/config.toml", &format!("{IN_WIKI}for = [\"~/linked\"]\n"));
    assert!(!world.answer_in("home/app", &["list"]).contains("Page"));
}
