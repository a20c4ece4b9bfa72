//! Formats a pack as text.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

use super::{MAGIC, Pack, PackedFile, PackedLink, PackedNote};
use crate::codec::hex::hex;
use crate::escape::{json_string, quote_value};
use crate::note::{ContentSource, NoteId};

/// The bytes per line of data: 76 columns of base64, as in MIME (RFC 2045).
pub(super) const LINE_BYTES: usize = 57;

/// Formats a pack. Values are escaped, so that no content of a note or path can look like a line of the pack.
pub fn write(pack: &Pack) -> String {
    let mut text = String::new();
    push(&mut text, &head_line(&pack.store, pack.notes.len(), pack.attachments.len()));
    for note in &pack.notes {
        push(&mut text, &note_line(note));
        for source in &note.sources {
            push(&mut text, &source_line(&note.id, source));
        }
        for link in &note.links {
            push(&mut text, &link_line(&note.id, link));
        }
        push_data(&mut text, 'C', &note.file.bytes);
    }
    for file in &pack.attachments {
        push(&mut text, &attachment_line(&pack.store, file));
        push_data(&mut text, 'D', &file.bytes);
    }
    let end = end_line(text.as_bytes());
    push(&mut text, &end);
    text
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn push_data(text: &mut String, letter: char, bytes: &[u8]) {
    for chunk in bytes.chunks(LINE_BYTES) {
        push(text, &data_line(letter, chunk));
    }
    push(text, &format!("{letter}-END"));
}

pub(super) fn head_line(store: &str, notes: usize, attachments: usize) -> String {
    format!("{MAGIC}1 store={} notes={notes} attachments={attachments}", quote_value(store))
}

pub(super) fn note_line(note: &PackedNote) -> String {
    let tags: Vec<_> = note.tags.iter().map(|tag| quote_value(tag)).collect();
    let tags = if tags.is_empty() { "-".to_owned() } else { tags.join(",") };
    let (kind, title, path) = (quote_value(&note.kind), json_string(&note.title), quote_value(&note.file.path));
    format!("N {} {kind} {title} tags={tags} path={path}", note.id)
}

pub(super) fn source_line(id: &NoteId, source: &ContentSource) -> String {
    let title = source.title.as_ref().map_or(String::new(), |title| format!(" title={}", json_string(title)));
    let accessed = source.accessed.as_ref().map_or(String::new(), |text| format!(" accessed={}", quote_value(text)));
    format!("S {id} url={}{title}{accessed}", quote_value(&source.url))
}

pub(super) fn link_line(from: &NoteId, link: &PackedLink) -> String {
    format!("L {from} {} type={} inline={}", link.to, quote_value(&link.kind), link.is_inline)
}

pub(super) fn attachment_line(store: &str, file: &PackedFile) -> String {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let path = format!("{}{}", prefix(store), file.path);
    format!("A {} name={} content_type={}", quote_value(&path), quote_value(name), content_type(name))
}

pub(super) fn prefix(store: &str) -> &str {
    store.strip_prefix("./").unwrap_or(store)
}

pub(super) fn data_line(letter: char, chunk: &[u8]) -> String {
    format!("{letter} {}", STANDARD.encode(chunk))
}

/// Returns the last line of a pack, with the checksum of everything before it.
pub(super) fn end_line(before: &[u8]) -> String {
    format!("END sha256={}", hex(&Sha256::digest(before)))
}

/// Returns the media type of a file by its extension, for readers of the pack.
fn content_type(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match extension.to_ascii_lowercase().as_str() {
        "csv" => "text/csv",
        "gif" => "image/gif",
        "gz" => "application/gzip",
        "html" => "text/html",
        "jpeg" | "jpg" => "image/jpeg",
        "js" => "text/javascript",
        "json" => "application/json",
        "md" => "text/markdown",
        "mp3" => "audio/mpeg",
        "mp4" => "video/mp4",
        "pdf" => "application/pdf",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "tar" => "application/x-tar",
        "toml" => "application/toml",
        "txt" => "text/plain",
        "wav" => "audio/wav",
        "webp" => "image/webp",
        "xml" => "application/xml",
        "yaml" => "application/yaml",
        "zip" => "application/zip",
        _ => "application/octet-stream",
    }
}
