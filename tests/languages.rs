//! Search in every language that people write notes in: which notes a query finds, and which of
//! them is first, over `fixtures/languages` and over small stores with a language of their own.

use std::path::Path;

use qipu::note::{Language, Note};
use qipu::search::{Engine, Query};
use qipu::store::{Config, Location, Store};

fn ids(store: &Store, query: &str) -> Vec<String> {
    let engine = Engine::new(store.notes(), store.config.language);
    let found = engine.search(&Query::parse(query), None);
    found.hits.iter().map(|hit| store.notes()[hit.note].id.to_string()).collect()
}

fn fixture() -> Store {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/languages");
    Store::open(&Location::default(), &dir).unwrap()
}

/// What is asked, and the note that must come first.
const FIRST: [(&str, &str); 58] = [
    // Japanese: any piece of two characters, one character alone, half-width letters, a sentence.
    ("停電", "ja-power"),
    ("電の", "ja-power"),
    ("書き込み中", "ja-power"),
    ("ジャーナル", "ja-power"),
    ("ファイル", "ja-power"),
    ("猫", "ja-power"),
    ("停電の後にファイルが壊れたら?", "ja-power"),
    ("データベースの負荷", "ja-cache"),
    ("有効期限", "ja-cache"),
    // Chinese.
    ("事务", "zh-database"),
    ("原子性", "zh-database"),
    ("断电以后怎么恢复数据?", "zh-database"),
    ("重试", "zh-network"),
    ("超时", "zh-network"),
    // Korean: words with other particles.
    ("메모리", "ko-memory"),
    ("메모리를", "ko-memory"),
    ("누수", "ko-memory"),
    ("데이터베이스 백업", "ko-deploy"),
    // Thai: pieces of a sentence without spaces.
    ("สำรองข้อมูล", "th-backup"),
    ("ข้อมูล", "th-backup"),
    ("ทดสอบ", "th-test"),
    ("ติดตั้ง", "th-test"),
    // German: compounds, umlauts and sharp s with and without their signs.
    ("Datenbank", "de-connection"),
    ("Datenbankverbindung", "de-connection"),
    ("hauser", "de-connection"),
    ("STRASSEN", "de-connection"),
    ("Dateisystemfehler", "de-files"),
    ("Schliessen", "de-files"),
    // French: accents given, left out, or composed of two characters; elisions.
    ("café", "fr-cafe"),
    ("cafe", "fr-cafe"),
    ("cafe\u{301}", "fr-cafe"),
    ("CAFÉ", "fr-cafe"),
    ("équipe", "fr-cafe"),
    ("l'équipe", "fr-cafe"),
    ("zurich", "fr-cafe"),
    ("requete", "fr-errors"),
    ("hotel", "fr-errors"),
    // Arabic: with and without vowel signs, with and without the article.
    ("كتب", "ar-library"),
    ("مكتبة", "ar-library"),
    ("شبكة", "ar-network"),
    ("النسخ الاحتياطي", "ar-library"),
    // Russian, Greek, Hindi: other endings, ё as е.
    ("ошибка", "ru-errors"),
    ("елка", "ru-errors"),
    ("αποθηκευση", "el-storage"),
    ("δίσκος", "el-storage"),
    ("सुरक्षा", "hi-data"),
    // Code: whole names first, and their parts.
    ("HashMap", "code-rust"),
    ("hashmap", "code-rust"),
    ("max_chars", "code-rust"),
    ("E0502", "code-rust"),
    ("src/search/words.rs", "code-rust"),
    ("words.rs", "code-rust"),
    ("C++", "code-cpp"),
    ("user by id", "code-cpp"),
    ("node.js", "code-node"),
    ("18.2.1", "code-node"),
    ("#frontend", "code-node"),
    ("🚀", "mixed-emoji"),
];

#[test]
fn the_right_note_is_first_in_every_language() {
    let store = fixture();
    let wrong: Vec<String> = FIRST
        .iter()
        .filter(|(query, first)| ids(&store, query).first().map(String::as_str) != Some(first))
        .map(|(query, first)| format!("{query}: wanted {first}, found {:?}", ids(&store, query)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn words_that_occur_in_no_note_find_nothing() {
    let store = fixture();
    for query in ["電停", "猫犬", "データ構造体", "재시작", "qqqq", "E0503", "18.2.2", "?!", "-", "'"] {
        let found = ids(&store, query);
        assert!(!found.iter().any(|id| id == "ja-power") || query == "データ構造体", "{query}: {found:?}");
    }
    assert_eq!(ids(&store, "電停"), [""; 0]);
    assert_eq!(ids(&store, "18.2.2"), [""; 0]);
    assert_eq!(ids(&store, "fullwidth"), ["mixed-emoji"]);
    assert_eq!(ids(&store, "team"), ["code-node"]);
    assert_eq!(ids(&store, "CVE-2024-3094").first().map(String::as_str), Some("code-node"));
    assert_eq!(ids(&store, "server").first().map(String::as_str), Some("code-cpp"));
}

fn store_in(language: Language, bodies: &[(&str, &str)]) -> Store {
    let note = |(id, body): &(&str, &str)| {
        Note::parse(&format!("notes/{id}.md"), format!("---\nid: {id}\ntitle: {id}\n---\n{body}\n").into_bytes())
    };
    let config = Config { language, ..Config::default() };
    Store::from_notes(".qipu/".to_owned(), config, bodies.iter().map(note).collect())
}

#[test]
fn the_stores_language_decides_about_stems() {
    let french = [("a", "Les chevaux mangeaient élégamment l'été dernier."), ("b", "Une autre note.")];
    let store = store_in(Language::French, &french);
    for query in ["mangé", "élégante", "ete", "dernière"] {
        assert_eq!(ids(&store, query), ["a"], "{query}");
    }
    assert_eq!(ids(&store, "quand est-ce que les chevaux"), ["a"]);
    let german = [("a", "Die Datenbankverbindungen brechen ab."), ("b", "Eine Datenbank."), ("c", "Sonst nichts.")];
    assert_eq!(ids(&store_in(Language::German, &german), "Datenbank"), ["b", "a"]);
    let none = [("a", "running"), ("b", "runs")];
    assert_eq!(ids(&store_in(Language::None, &none), "runs"), ["b"]);
    assert_eq!(ids(&store_in(Language::English, &none), "run").len(), 2);
}

#[test]
fn english_forms_of_a_word_are_one() {
    let store = store_in(Language::English, &[("a", "The children went to the store's buyers."), ("b", "Nothing.")]);
    for query in ["child", "going", "stores", "buyer", "Children's", "child’s"] {
        assert_eq!(ids(&store, query), ["a"], "{query}");
    }
    let store = store_in(
        Language::English,
        &[("a", "We don't do it, can't and won't."), ("b", "Something done in the U.S.A., e.g. tests.")],
    );
    assert_eq!(ids(&store, "USA"), ["b"]);
    assert_eq!(ids(&store, "u.s.a."), ["b"]);
}
