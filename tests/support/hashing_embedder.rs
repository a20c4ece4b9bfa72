//! An embedder for tests: each word of a text is a direction, chosen by its hash. The first argument is the name of its model,
//! the second what it does wrong, and the third a file to which it adds the number of texts of each request.

#![allow(missing_docs, clippy::unwrap_used, clippy::print_stdout, clippy::print_stderr, clippy::exit)]

use std::io::Write;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};

const DIMENSIONS: usize = 64;
const WIDE: usize = 128;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let (name, fault) = (&args[1], args.get(2).map(String::as_str).unwrap_or_default());
    match fault {
        "ends" => {
            eprintln!("first line\nno model \u{1b}[31m here");
            std::process::exit(1);
        }
        "silent" => std::thread::sleep(Duration::from_secs(30)),
        "flood" => loop {
            std::io::stdout().write_all(&[b'x'; 65_536]).unwrap();
        },
        "no hello" => println!("loading"),
        "many dimensions" => println!("{}", json!({"name": name, "dimensions": 1_000_000, "longest_text": 99})),
        "other name" => println!("{}", json!({"name": "other", "dimensions": DIMENSIONS, "longest_text": 99})),
        "wide" => println!("{}", json!({"name": name, "dimensions": WIDE, "longest_text": 4000})),
        _ => println!("{}", json!({"name": name, "dimensions": DIMENSIONS, "longest_text": 4000, "more": true})),
    }
    for (count, line) in std::io::stdin().lines().enumerate() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let texts: Vec<&str> = request["texts"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        if let Some(log) = args.get(3) {
            let mut log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
            writeln!(log, "{}", texts.len()).unwrap();
        }
        let is_first = count == 0;
        match fault {
            "dies later" if !is_first => std::process::exit(1),
            "slow" if !is_first => std::thread::sleep(Duration::from_secs(30)),
            _ => {}
        }
        println!("{}", answer(&request["id"], &texts, fault, is_first));
    }
    if fault == "stays" {
        std::thread::sleep(Duration::from_secs(30));
    }
}

fn answer(id: &Value, texts: &[&str], fault: &str, is_first: bool) -> Value {
    let vector = |text: &&str| {
        let mut numbers = vec![0.01_f32; if fault == "wide" { WIDE } else { DIMENSIONS }];
        for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            numbers[word.bytes().fold(7, |hash: usize, byte| (hash * 31 + usize::from(byte)) % DIMENSIONS)] += 1.0;
        }
        match fault {
            "nan" => numbers[3] = f32::NAN,
            "nan later" if !is_first => numbers[3] = f32::NAN,
            "infinite" => numbers[3] = f32::INFINITY,
            "zero" => numbers.fill(0.0),
            _ => {}
        }
        let short = usize::from(fault == "short" || (fault == "short later" && !is_first));
        let bytes: Vec<u8> = numbers[short..].iter().flat_map(|number| number.to_le_bytes()).collect();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    };
    let mut vectors: Vec<String> = texts.iter().map(vector).collect();
    match fault {
        "fewer" => drop(vectors.pop()),
        "more" => vectors.push(vectors[0].clone()),
        "no base64" => vectors[0] = "?".to_owned(),
        "other id" => return json!({"id": 77, "vectors": vectors}),
        "refuses" => return json!({"id": id, "error": "out of \u{1b}[31m memory"}),
        "no answer" => return json!(["what"]),
        _ => {}
    }
    json!({"id": id, "vectors": vectors})
}
