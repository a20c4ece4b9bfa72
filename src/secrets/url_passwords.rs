//! Passwords in the user information of URLs (RFC 3986, section 3.2.1).

use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::Range;

use super::Attempt;
use super::checks::is_example;

/// The most bytes of a scheme, a user's name and a password.
const MAX_SCHEME: usize = 20;
const MAX_NAME: usize = 128;
const MAX_PASSWORD: usize = 256;

const MIN_PASSWORD: usize = 3;

/// Passwords of documentation and of development databases, in lower case.
const DEFAULTS: [&str; 24] = [
    "password", "passwd", "pass", "pwd", "passw0rd", "p4ssw0rd", "secret", "token", "user", "username", "test",
    "admin", "root", "guest", "postgres", "mysql", "mongo", "redis", "minioadmin", "123456", "12345", "1234", "123",
    "pw",
];

/// Hosts that RFC 2606 reserves.
const RESERVED_HOSTS: [&str; 7] =
    ["example.com", "example.org", "example.net", ".example", ".test", ".invalid", ".localhost"];

/// Matches the password behind its anchor, `://`.
pub(super) fn attempt(text: &str, anchor: Range<usize>) -> Attempt {
    let none = |end| Attempt { matched: None, end };
    let bytes = text.as_bytes();
    let scheme = bytes.get(..anchor.start).unwrap_or_default().iter().rev().take(MAX_SCHEME);
    let is_scheme = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'+' | b'-' | b'.');
    if scheme.take_while(is_scheme).count() < 2 {
        return none(anchor.end);
    }
    let colon = end_of(bytes, anchor.end, MAX_NAME);
    if bytes.get(colon) != Some(&b':') {
        return none(colon.max(anchor.end));
    }
    let mut end = end_of(bytes, colon + 1, MAX_PASSWORD);
    while bytes.get(end) == Some(&b':') && end < colon + MAX_PASSWORD {
        end = end_of(bytes, end + 1, MAX_PASSWORD);
    }
    let host = text.get(end + 1..host_end(bytes, end + 1)).unwrap_or_default();
    let name = text.get(anchor.end..colon).unwrap_or_default();
    let password = text.get(colon + 1..end).unwrap_or_default();
    let is_secret = bytes.get(end) == Some(&b'@') && is_real(name, password) && is_reachable(host);
    Attempt { matched: is_secret.then_some(colon + 1..end), end }
}

/// Returns the end of a part of the user information.
fn end_of(bytes: &[u8], start: usize, most: usize) -> usize {
    let is_part = |byte: &&u8| byte.is_ascii_graphic() && !b":/@?#\"'`<>()[]{}|\\^,".contains(*byte);
    start + bytes.get(start..).unwrap_or_default().iter().take(most).take_while(is_part).count()
}

pub(super) fn host_end(bytes: &[u8], start: usize) -> usize {
    let is_host =
        |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'.' | b'-' | b'_' | b'[' | b']' | b':');
    start + bytes.get(start..).unwrap_or_default().iter().take(MAX_NAME).take_while(is_host).count()
}

/// Tells whether a password is none of a template, an example or a default.
pub(super) fn is_real(name: &str, password: &str) -> bool {
    let lower = password.to_ascii_lowercase();
    let is_template = password.contains(['$', '*']) || password.contains("%s") || password.contains("..");
    // A variable of cmd.exe; the `%` of an encoded character has two digits behind it.
    let is_template = is_template || (password.starts_with('%') && password.ends_with('%'));
    let is_default = DEFAULTS.contains(&lower.as_str()) || lower == name.to_ascii_lowercase();
    let names_itself = ["password", "passwd", "_pass", "-pass"].iter().any(|word| lower.contains(word));
    password.len() >= MIN_PASSWORD && !is_template && !is_default && !names_itself && !is_example(password)
}

/// Tells whether others reach a host: not this machine, a name without a domain, or a reserved name.
pub(super) fn is_reachable(host: &str) -> bool {
    if let Some(literal) = host.strip_prefix('[') {
        let address = literal.split(']').next().unwrap_or_default().parse::<Ipv6Addr>();
        return !address.is_ok_and(|address| address.is_loopback() || address.is_unspecified());
    }
    let host = host.to_ascii_lowercase();
    let name = host.split(':').next().unwrap_or_default().trim_end_matches('.');
    if let Ok(address) = name.parse::<Ipv4Addr>() {
        return !address.is_loopback() && !address.is_unspecified();
    }
    name.contains('.') && !RESERVED_HOSTS.iter().any(|reserved| name.ends_with(reserved))
}
