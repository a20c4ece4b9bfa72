//! The table of rules: for each kind of secret the literals that it begins with, its shape, and a check.
//!
//! The shapes are those that the services document, compared with the rules of gitleaks;
//! specs/decisions/0007-notes-are-data.md names the sources.

use std::ops::Range;

use super::checks::{has_base62_crc, has_bech32_checksum, has_hex_crc, has_jwt, is_mixed_case, is_plausible};
use super::shape::Alphabet::{
    Alnum, Base32, Base64, Digit, Hex, Letter, LowerAlnum, LowerHex, Unreserved, UpperAlnum, Url, UrlPadded,
};
use super::shape::{self, ShapePart, between, exactly, literal};
use super::{Attempt, assignments, credentials, private_keys, url_passwords};

/// The most bytes between a value and the word that tells its kind.
const NEAR: usize = 100;

/// A kind of secret and how it is recognized.
pub(super) struct Rule {
    pub(super) kind: &'static str,
    /// Each text that starts an attempt, of at least three bytes.
    pub(super) anchors: &'static [&'static str],
    /// Whether it knows a value only by a word beside it.
    pub(super) is_generic: bool,
    /// A word, in lower case, that must stand within [`NEAR`] bytes before or behind the value.
    word: Option<&'static str>,
    matcher: Matcher,
}

enum Matcher {
    /// A token: a run before the anchor, the shape behind it, and a check of the whole.
    Token { before: Option<ShapePart>, shape: &'static [ShapePart], check: TokenCheck },
    /// A function from the text and the anchor's range.
    Other(fn(&str, Range<usize>) -> Attempt),
}

/// A check of a value that has the shape of a token.
enum TokenCheck {
    None,
    /// Other services make values of the same shape, so that a value that fails it may be another secret.
    Partial(fn(&str) -> bool),
    /// A checksum or format: a value that fails it is no secret of any kind.
    Decisive(fn(&str) -> bool),
}

impl TokenCheck {
    fn accepts(&self, value: &str) -> bool {
        match self {
            Self::None => true,
            Self::Partial(check) | Self::Decisive(check) => check(value),
        }
    }
}

impl Rule {
    /// Tells whether a text begins with one of its anchors.
    pub(super) fn begins(&self, text: &[u8], anchor: &str) -> bool {
        let head = text.get(..anchor.len()).unwrap_or_default();
        head == anchor.as_bytes() || (self.is_generic && head.eq_ignore_ascii_case(anchor.as_bytes()))
    }

    /// Tells whether the text at an anchor has the shape of a token, but fails its decisive check.
    pub(super) fn refutes(&self, text: &str, anchor: Range<usize>) -> bool {
        let Matcher::Token { before: None, shape, check: TokenCheck::Decisive(check) } = &self.matcher else {
            return false;
        };
        let matched = shape::attempt(text.as_bytes(), anchor, None, shape).matched;
        matched.and_then(|range| text.get(range)).is_some_and(|value| !check(value))
    }

    /// Matches it at an anchor.
    pub(super) fn attempt(&self, text: &str, anchor: Range<usize>) -> Attempt {
        let (before, segments, check) = match &self.matcher {
            Matcher::Other(attempt) => return attempt(text, anchor),
            Matcher::Token { before, shape, check } => (*before, *shape, check),
        };
        let attempt = shape::attempt(text.as_bytes(), anchor.clone(), before, segments);
        let is_secret = |range: &Range<usize>| {
            // The anchor is not random; a run before it is.
            let start = if before.is_some() { range.start } else { anchor.end };
            let (value, random) = (text.get(range.clone()), text.get(start..range.end));
            value.zip(random).is_some_and(|(value, random)| is_plausible(random) && check.accepts(value))
                && self.word.is_none_or(|word| is_near(text, range, word))
        };
        Attempt { matched: attempt.matched.filter(is_secret), ..attempt }
    }
}

/// Tells whether a word stands near a place in a text.
fn is_near(text: &str, range: &Range<usize>, word: &str) -> bool {
    let around = range.start.saturating_sub(NEAR)..text.len().min(range.end + NEAR);
    let mut windows = text.as_bytes().get(around).unwrap_or_default().windows(word.len());
    windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

const fn token(kind: &'static str, anchors: &'static [&'static str], shape: &'static [ShapePart]) -> Rule {
    checked(kind, anchors, shape, TokenCheck::None)
}

const fn checked(
    kind: &'static str,
    anchors: &'static [&'static str],
    shape: &'static [ShapePart],
    check: TokenCheck,
) -> Rule {
    Rule { kind, anchors, is_generic: false, word: None, matcher: Matcher::Token { before: None, shape, check } }
}

/// A token whose anchor comes behind a run.
const fn infixed(
    kind: &'static str,
    before: ShapePart,
    anchors: &'static [&'static str],
    shape: &'static [ShapePart],
) -> Rule {
    Rule {
        kind,
        anchors,
        is_generic: false,
        word: None,
        matcher: Matcher::Token { before: Some(before), shape, check: TokenCheck::None },
    }
}

const fn other(
    kind: &'static str,
    anchors: &'static [&'static str],
    attempt: fn(&str, Range<usize>) -> Attempt,
) -> Rule {
    Rule { kind, anchors, is_generic: false, word: None, matcher: Matcher::Other(attempt) }
}

/// A JSON Web Token behind `eyJ`, which is `{"` in base64.
const JWT: [ShapePart; 5] =
    [between(Url, 10, 2000), literal(".eyJ"), between(Url, 7, 6000), literal("."), between(Url, 10, 1400)];

const STRIPE_SECRET: &[&str] = &["sk_live_", "sk_test_", "sk_prod_"];
const STRIPE_RESTRICTED: &[&str] = &["rk_live_", "rk_test_", "rk_prod_"];
const GITHUB_CLASSIC: &[&str] = &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"];
const GITLAB_SHORT: &[&str] = &["glpat-", "gldt-", "glrt-", "glft-", "glsoat-", "glffct-"];
const DOPPLER: &[&str] = &["dp.pt.", "dp.ct.", "dp.st.", "dp.sa.", "dp.said.", "dp.scim.", "dp.audit."];
const PLANETSCALE: &[&str] = &["pscale_pw_", "pscale_tkn_", "pscale_oauth_"];
const AZURE_ANCHORS: &[&str] = &["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"];
const TWILIO_ANCHORS: &[&str] =
    &["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf"];

/// All rules. Where two match at the same byte, the first counts.
pub(super) static RULES: [Rule; 87] = [
    checked("GitHub token", GITHUB_CLASSIC, &[exactly(Alnum, 36)], TokenCheck::Decisive(has_base62_crc)),
    token("GitHub fine-grained token", &["github_pat_"], &[exactly(Alnum, 22), literal("_"), exactly(Alnum, 59)]),
    checked(
        "GitHub app token",
        &["ghs_"],
        &[between(Digit, 1, 20), literal("_eyJ"), JWT[0], JWT[1], JWT[2], JWT[3], JWT[4]],
        TokenCheck::Decisive(has_jwt),
    ),
    checked("npm token", &["npm_"], &[exactly(Alnum, 36)], TokenCheck::Decisive(has_base62_crc)),
    token("AWS access key id", &["AKIA", "ASIA", "ABIA", "ACCA"], &[exactly(Base32, 16)]),
    token("AWS Bedrock key", &["ABSK"], &[between(Base64, 109, 269), between(UrlPadded, 0, 2)]),
    token("Google API key", &["AIza"], &[exactly(Url, 35)]),
    token("Google OAuth client secret", &["GOCSPX-"], &[exactly(Url, 28)]),
    token(
        "Slack bot token",
        &["xoxb-"],
        &[between(Digit, 10, 13), literal("-"), between(Digit, 10, 13), literal("-"), between(Alnum, 18, 34)],
    ),
    token(
        "Slack user token",
        &["xoxp-", "xoxe-"],
        &[
            between(Digit, 10, 13),
            literal("-"),
            between(Digit, 10, 13),
            literal("-"),
            between(Digit, 10, 13),
            literal("-"),
            between(Url, 28, 34),
        ],
    ),
    token(
        "Slack app token",
        &["xapp-"],
        &[
            exactly(Digit, 1),
            literal("-"),
            between(UpperAlnum, 8, 14),
            literal("-"),
            between(Digit, 10, 14),
            literal("-"),
            between(LowerAlnum, 32, 80),
        ],
    ),
    token(
        "Slack legacy token",
        &["xoxs-", "xoxo-"],
        &[
            between(Digit, 8, 13),
            literal("-"),
            between(Digit, 8, 13),
            literal("-"),
            between(Digit, 8, 13),
            literal("-"),
            between(LowerHex, 10, 64),
        ],
    ),
    token("Slack configuration token", &["xoxe-"], &[exactly(Digit, 1), literal("-"), exactly(Alnum, 146)]),
    token(
        "Slack configuration token",
        &["xoxe.xoxp-", "xoxe.xoxb-"],
        &[exactly(Digit, 1), literal("-"), between(Alnum, 163, 166)],
    ),
    token(
        "Slack webhook",
        &["hooks.slack.com/services/"],
        &[between(UpperAlnum, 9, 12), literal("/"), between(UpperAlnum, 9, 12), literal("/"), between(Alnum, 23, 25)],
    ),
    token("Stripe secret key", STRIPE_SECRET, &[between(Alnum, 20, 99)]),
    token("Stripe restricted key", STRIPE_RESTRICTED, &[between(Alnum, 20, 99)]),
    token("Stripe webhook secret", &["whsec_"], &[between(Base64, 32, 64)]),
    checked(
        "OpenAI key",
        &["sk-proj-", "sk-svcacct-", "sk-admin-"],
        &[between(Url, 48, 200)],
        // `OpenAI` in base64.
        TokenCheck::Partial(|token| token.contains("T3BlbkFJ")),
    ),
    token("OpenAI key", &["sk-"], &[exactly(Alnum, 20), literal("T3BlbkFJ"), exactly(Alnum, 20)]),
    checked(
        "Anthropic key",
        &["sk-ant-api03-", "sk-ant-admin01-"],
        &[exactly(Url, 95)],
        TokenCheck::Partial(|token| token.ends_with("AA")),
    ),
    token("Anthropic token", &["sk-ant-oat01-"], &[exactly(Url, 95)]),
    token("OpenRouter key", &["sk-or-v1-"], &[exactly(LowerHex, 64)]),
    token("GitLab token", GITLAB_SHORT, &[exactly(Url, 20)]),
    token("GitLab token", &["glimt-"], &[exactly(Url, 25)]),
    token(
        "GitLab token",
        &["glpat-"],
        &[between(Url, 27, 300), literal("."), exactly(LowerAlnum, 2), literal("."), exactly(LowerAlnum, 9)],
    ),
    token("GitLab token", &["glpat-"], &[between(Url, 27, 300), literal("."), exactly(LowerAlnum, 9)]),
    token(
        "GitLab runner token",
        &["glrt-t"],
        &[
            exactly(Digit, 1),
            literal("_"),
            between(Url, 27, 300),
            literal("."),
            exactly(LowerAlnum, 2),
            literal("."),
            exactly(LowerAlnum, 9),
        ],
    ),
    token(
        "GitLab runner token",
        &["glrt-t"],
        &[exactly(Digit, 1), literal("_"), between(Url, 27, 300), literal("."), exactly(LowerAlnum, 9)],
    ),
    token("GitLab trigger token", &["glptt-"], &[exactly(LowerHex, 40)]),
    token("GitLab job token", &["glcbt-"], &[between(Alnum, 1, 5), literal("_"), exactly(Url, 20)]),
    token("GitLab agent token", &["glagent-"], &[exactly(Url, 50)]),
    token("GitLab OAuth secret", &["gloas-"], &[exactly(Url, 64)]),
    token("PyPI token", &["pypi-AgEIcHlwaS5vcmc"], &[between(Url, 50, 1000)]),
    token("RubyGems key", &["rubygems_"], &[exactly(LowerHex, 48)]),
    checked("crates.io token", &["cio"], &[exactly(Alnum, 32)], TokenCheck::Partial(is_mixed_case)),
    token("Clojars token", &["CLOJARS_"], &[exactly(LowerAlnum, 60)]),
    token("Docker Hub token", &["dckr_pat_", "dckr_oat_"], &[between(Url, 27, 32)]),
    token("Hugging Face token", &["hf_"], &[exactly(Letter, 34)]),
    token("DigitalOcean token", &["dop_v1_", "doo_v1_", "dor_v1_"], &[exactly(LowerHex, 64)]),
    checked("Vault service token", &["hvs."], &[between(Url, 24, 120)], TokenCheck::Partial(is_mixed_case)),
    token("Vault batch token", &["hvb."], &[between(Url, 138, 300)]),
    infixed("Terraform Cloud token", exactly(Alnum, 14), &[".atlasv1."], &[between(Url, 60, 70)]),
    infixed("Azure client secret", exactly(Unreserved, 3), AZURE_ANCHORS, &[between(Unreserved, 31, 34)]),
    token("Azure storage key", &["AccountKey="], &[exactly(Base64, 86), literal("==")]),
    token("Atlassian token", &["ATATT3"], &[exactly(UrlPadded, 186)]),
    token("SendGrid key", &["SG."], &[exactly(Url, 22), literal("."), exactly(Url, 43)]),
    // Hashes have endings too, so that the name of the service must be near.
    Rule {
        word: Some("mailchimp"),
        ..infixed("Mailchimp key", exactly(LowerHex, 32), &["-us"], &[between(Digit, 1, 2)])
    },
    token("Brevo key", &["xkeysib-"], &[exactly(LowerHex, 64), literal("-"), exactly(Alnum, 16)]),
    token("Twilio key", TWILIO_ANCHORS, &[exactly(LowerHex, 31)]),
    token("Shopify token", &["shpat_", "shpca_", "shppa_", "shpss_"], &[exactly(Hex, 32)]),
    token("Square token", &["sq0atp-"], &[exactly(Url, 22)]),
    token("Square secret", &["sq0csp-"], &[exactly(Url, 43)]),
    token("Square token", &["EAAA"], &[exactly(Url, 60)]),
    token("Databricks token", &["dapi"], &[exactly(LowerHex, 32)]),
    token("Databricks token", &["dapi"], &[exactly(LowerHex, 32), literal("-"), exactly(Digit, 1)]),
    checked(
        "Grafana service account token",
        &["glsa_"],
        &[exactly(Alnum, 32), literal("_"), exactly(Hex, 8)],
        TokenCheck::Decisive(has_hex_crc),
    ),
    token("Grafana Cloud token", &["glc_"], &[between(Base64, 32, 400), between(UrlPadded, 0, 2)]),
    token("Linear key", &["lin_api_"], &[exactly(Alnum, 40)]),
    token("Notion token", &["ntn_"], &[exactly(Digit, 11), exactly(Alnum, 35)]),
    token("Figma token", &["figd_"], &[exactly(Url, 40)]),
    token("Doppler token", DOPPLER, &[between(Alnum, 40, 44)]),
    token("Doppler token", &["dp.st."], &[between(Url, 2, 35), literal("."), between(Alnum, 40, 44)]),
    token("Pulumi token", &["pul-"], &[exactly(LowerHex, 40)]),
    token("Postman key", &["PMAK-"], &[exactly(LowerHex, 24), literal("-"), exactly(LowerHex, 34)]),
    token("Sentry user token", &["sntryu_"], &[exactly(LowerHex, 64)]),
    token("PlanetScale secret", PLANETSCALE, &[between(UrlPadded, 32, 64)]),
    token("New Relic key", &["NRAK-"], &[exactly(UpperAlnum, 27)]),
    token("Dynatrace token", &["dt0c01."], &[exactly(UpperAlnum, 24), literal("."), exactly(UpperAlnum, 64)]),
    token("Fly.io token", &["fo1_"], &[exactly(Url, 43)]),
    token("Fly.io token", &["fm1r_", "fm1a_", "fm2_"], &[between(Base64, 100, 4000), between(UrlPadded, 0, 3)]),
    token("Heroku key", &["HRKU-AA"], &[exactly(Url, 58)]),
    token("Perplexity key", &["pplx-"], &[exactly(Alnum, 48)]),
    token("Airtable token", &["pat"], &[exactly(Alnum, 14), literal("."), exactly(LowerHex, 64)]),
    token("1Password service account token", &["ops_eyJ"], &[between(Base64, 250, 2000)]),
    token("Prefect key", &["pnu_"], &[exactly(Alnum, 36)]),
    token("Infracost key", &["ico-"], &[exactly(Alnum, 32)]),
    infixed("Telegram bot token", between(Digit, 8, 10), &[":AA"], &[exactly(Url, 33)]),
    token("Alibaba access key id", &["LTAI"], &[exactly(Alnum, 20)]),
    checked("JSON Web Token", &["eyJ"], &JWT, TokenCheck::Decisive(has_jwt)),
    checked(
        "age secret key",
        &["AGE-SECRET-KEY-1"],
        &[exactly(UpperAlnum, 58)],
        TokenCheck::Decisive(has_bech32_checksum),
    ),
    other("private key", &["-----BEGIN "], private_keys::attempt),
    other("password in a URL", &["://"], url_passwords::attempt),
    other("password in a command", &["curl "], credentials::in_command),
    Rule {
        is_generic: true,
        ..other(
            "credential in a header",
            &["bearer ", "authorization: basic ", "authorization: token "],
            credentials::in_header,
        )
    },
    Rule {
        kind: "random value beside a word such as `password`",
        anchors: &assignments::WORDS,
        is_generic: true,
        word: None,
        matcher: Matcher::Other(assignments::attempt),
    },
    token(
        "Slack workflow webhook",
        &["hooks.slack.com/workflows/", "hooks.slack.com/triggers/"],
        &[between(Base64, 43, 90)],
    ),
];
