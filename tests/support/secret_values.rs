//! Values with the shape of secrets, from the lengths, alphabets and checksums that the services document. They are made when
//! a test runs: no file of this repository contains one.

#![allow(dead_code, clippy::unwrap_used, clippy::string_slice)]

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};

use super::random::Random;

const DIGITS: &str = "0123456789";
const LOWER_HEX: &str = "0123456789abcdef";
const LOWER_AND_DIGITS: &str = "0123456789abcdefghijklmnopqrstuvwxyz";
const UPPER_AND_DIGITS: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LETTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// Letters and digits in the order of base62.
const BASE62: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE32: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const BECH32: &str = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

pub(crate) fn of(random: &mut Random, alphabet: &str, length: usize) -> String {
    (0..length).map(|_| char::from(alphabet.as_bytes()[random.below(alphabet.len())])).collect()
}

fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    (0..length).map(|_| u8::try_from(random.below(256)).unwrap()).collect()
}

/// Random bytes in base64url: the form of most tokens.
fn url(random: &mut Random, length: usize) -> String {
    // The last character of a token that is not a multiple of four may be any.
    let text = URL_SAFE_NO_PAD.encode(bytes(random, length));
    let text = text[..length].trim_end_matches(['-', '_']).to_owned();
    let missing = length - text.len();
    text + &of(random, LETTERS, missing)
}

pub(crate) fn base64(random: &mut Random, length: usize) -> String {
    STANDARD.encode(bytes(random, length))
}

pub(crate) fn base64_url(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(text)
}

pub(crate) fn hex(random: &mut Random, length: usize) -> String {
    of(random, LOWER_HEX, length)
}

/// GitHub's blog: 30 random characters and a CRC-32 of them in six base62 digits with leading zeros. npm took over the rule.
pub(crate) fn with_crc(random: &mut Random, prefix: &str) -> String {
    let body = of(random, BASE62, 30);
    let mut sum = u64::from(crc32fast::hash(body.as_bytes()));
    let mut digits = Vec::new();
    while digits.len() < 6 {
        digits.push(char::from(BASE62.as_bytes()[usize::try_from(sum % 62).unwrap()]));
        sum /= 62;
    }
    format!("{prefix}{body}{}", digits.iter().rev().collect::<String>())
}

pub(crate) fn github(random: &mut Random) -> String {
    let prefix = random.choice(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"]);
    with_crc(random, prefix)
}

/// Grafana's source: `glsa_`, 32 characters, `_`, and the four bytes of the CRC-32 in hexadecimal, the lowest first.
pub(crate) fn grafana(random: &mut Random) -> String {
    let body = format!("glsa_{}", of(random, BASE62, 32));
    let sum = crc32fast::hash(body.as_bytes()).to_le_bytes();
    format!("{body}_{}", sum.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

/// BIP 173, with the human-readable part of age: 32 bytes, thus 52 digits, and a checksum of six.
pub(crate) fn age(random: &mut Random) -> String {
    let label = "age-secret-key-";
    let mut digits: Vec<u32> = (0..51).map(|_| u32::try_from(random.below(32)).unwrap()).collect();
    // 256 bits leave four bits of the last digit empty.
    digits.push(u32::try_from(random.below(2) * 16).unwrap());
    let mut values: Vec<u32> = label.bytes().map(|byte| u32::from(byte) >> 5).collect();
    values.push(0);
    values.extend(label.bytes().map(|byte| u32::from(byte) & 31));
    values.extend(&digits);
    values.extend([0; 6]);
    let sum = bech32_polymod(&values) ^ 1;
    digits.extend((0..6).map(|index| (sum >> (5 * (5 - index))) & 31));
    let digits: String = digits.iter().map(|digit| char::from(BECH32.as_bytes()[*digit as usize])).collect();
    format!("{label}1{digits}").to_uppercase()
}

fn bech32_polymod(values: &[u32]) -> u32 {
    let generator = [0x3b6a_57b2_u32, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
    let mut sum = 1u32;
    for value in values {
        let top = sum >> 25;
        sum = ((sum & 0x01ff_ffff) << 5) ^ value;
        for (bit, number) in generator.iter().enumerate() {
            if (top >> bit) & 1 == 1 {
                sum ^= number;
            }
        }
    }
    sum
}

/// RFC 7519: header, claims and signature in base64url.
pub(crate) fn jwt(random: &mut Random) -> String {
    let header = format!(r#"{{"alg":"{}","typ":"JWT"}}"#, random.choice(&["HS256", "RS256", "ES256"]));
    let claims =
        format!(r#"{{"sub":"{}","iat":{}}}"#, of(random, LOWER_AND_DIGITS, 12), 1_700_000_000 + random.below(1000));
    let part = |text: &str| URL_SAFE_NO_PAD.encode(text);
    format!("{}.{}.{}", part(&header), part(&claims), URL_SAFE_NO_PAD.encode(bytes(random, 32)))
}

/// RFC 7468: lines of 64 base64 characters between labels. `magic`: the first bytes of the content.
pub(crate) fn pem(random: &mut Random, label: &str, magic: &[u8], length: usize) -> String {
    let mut content = magic.to_vec();
    content.extend(bytes(random, length));
    let base64 = STANDARD.encode(content);
    let lines: Vec<&str> = base64.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----", lines.join("\n"))
}

fn private_key(random: &mut Random) -> String {
    match random.below(5) {
        0 => pem(random, "RSA PRIVATE KEY", &[0x30, 0x82, 0x04, 0xa4, 2, 1, 0], 1184),
        1 => pem(random, "PRIVATE KEY", &[0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20], 32),
        2 => pem(random, "EC PRIVATE KEY", &[0x30, 0x77, 2, 1, 1, 4, 0x20], 113),
        3 => pem(random, "OPENSSH PRIVATE KEY", b"openssh-key-v1\0\0\0\0\x04none\0\0\0\x04none", 360),
        _ => pem(random, "PGP PRIVATE KEY BLOCK", &[0x94, 0x58, 0x04], 500),
    }
}

fn url_password(random: &mut Random) -> String {
    let scheme = random.choice(&["postgres", "mysql", "https", "redis", "amqp", "mongodb+srv", "ftp"]);
    let name = random.choice(&["app", "deploy", "", "svc-orders", "reader"]);
    let length = random.between(8, 24);
    let host = random.choice(&["db.internal.corp", "10.3.7.12:5432", "cache-1.prod.acme.io", "mirror.acme.dev"]);
    format!("{scheme}://{name}:{}@{host}/main", of(random, BASE62, length))
}

fn assignment(random: &mut Random) -> String {
    let name = random.choice(&[
        "DB_PASSWORD", "client_secret", "api-key", "apiKey", "SESSION_SECRET", "auth_token", "aws_secret_access_key",
        "passphrase", "signingSecret", "ACCESS_KEY", "passwd", "PWD", "credential", "access-key", "accessKey",
        "private_key", "private-key", "privateKey", "auth_key", "authKey", "API_KEY", "DB_PASS",
    ]);
    let value = match random.below(4) {
        0 => of(random, BASE62, 24),
        1 => base64(random, 30),
        2 => of(random, BASE62, 40),
        _ => url(random, 32),
    };
    match random.below(4) {
        0 => format!("{name}={value}"),
        1 => format!("{name}: {value}"),
        2 => format!("{name} = \"{value}\""),
        _ => format!("\"{name}\": \"{value}\""),
    }
}

/// The ways in which commands, tables and settings name a password.
fn named_value(random: &mut Random) -> String {
    let value = of(random, BASE62, 24);
    match random.below(10) {
        8 => format!("ALTER USER app PASSWORD '{value}'"),
        0 => format!("deploy --password {value} --region eu"),
        1 => format!("| DB password | {value} |"),
        2 => format!("machine db.acme.io login app password {value}"),
        3 => format!("<add key=\"password\" value=\"{value}\"/>"),
        4 => format!("<password>{value}</password>"),
        5 => format!("{{\"name\": \"DB_PASSWORD\", \"value\": \"{value}\"}}"),
        6 => format!("- name: DB_PASSWORD\n  value: {value}"),
        7 => format!("password:\u{a0}{value}"),
        _ => format!("The password is `{value}`."),
    }
}

fn in_command(random: &mut Random) -> String {
    let (name, length) = (random.choice(&["app", "admin", "deploy"]), random.between(10, 24));
    let password = of(random, BASE62, length);
    match random.below(3) {
        0 => format!("curl -u {name}:{password} https://db.acme.io/health"),
        1 => format!("curl -sS --user '{name}:{password}' https://db.acme.io/health"),
        _ => format!("curl -X POST \\\n  --user={name}:{password} https://10.1.2.3/health"),
    }
}

fn in_header(random: &mut Random) -> String {
    match random.below(3) {
        2 => format!("Authorization: token {}", of(random, BASE62, 40)),
        0 => format!("Authorization: Bearer {}", of(random, BASE62, 40)),
        _ => format!("Authorization: Basic {}", STANDARD.encode(format!("app:{}", of(random, BASE62, 16)))),
    }
}

/// Makes a value of a kind.
type Generator = fn(&mut Random) -> String;

/// The kinds, by the names that qipu gives them. Each generator follows the documentation of the service.
pub(crate) const KINDS: [(&str, Generator); 93] = [
    ("random value beside a word such as `password`", named_value),
    ("password in a command", in_command),
    ("credential in a header", in_header),
    ("GitHub token", github),
    ("GitHub fine-grained token", |r| format!("github_pat_{}_{}", of(r, BASE62, 22), of(r, BASE62, 59))),
    ("GitHub app token", |r| format!("ghs_{}_{}", of(r, "123456789", 7), jwt(r))),
    ("npm token", |r| with_crc(r, "npm_")),
    ("AWS access key id", |r| format!("{}{}", r.choice(&["AKIA", "ASIA", "ABIA", "ACCA"]), of(r, BASE32, 16))),
    ("AWS Bedrock key", |r| format!("ABSK{}", base64(r, 96))),
    ("Google API key", |r| format!("AIza{}", url(r, 35))),
    ("Google OAuth client secret", |r| format!("GOCSPX-{}", url(r, 28))),
    ("Slack bot token", |r| format!("xoxb-{}-{}-{}", of(r, DIGITS, 12), of(r, DIGITS, 13), of(r, BASE62, 24))),
    ("Slack user token", |r| {
        format!(
            "{}-{}-{}-{}-{}",
            r.choice(&["xoxp", "xoxe"]),
            of(r, DIGITS, 12),
            of(r, DIGITS, 12),
            of(r, DIGITS, 13),
            hex(r, 32)
        )
    }),
    ("Slack app token", |r| format!("xapp-1-A{}-{}-{}", of(r, UPPER_AND_DIGITS, 10), of(r, DIGITS, 13), hex(r, 64))),
    ("Slack configuration token", |r| format!("xoxe-1-{}", of(r, BASE62, 146))),
    ("Slack configuration token", |r| {
        let (form, length) = (r.choice(&["xoxp", "xoxb"]), r.between(163, 166));
        format!("xoxe.{form}-1-{}", of(r, BASE62, length))
    }),
    ("Slack legacy token", |r| {
        let numbers = [10, 10, 11].map(|length| of(r, DIGITS, length)).join("-");
        format!("{}-{numbers}-{}", r.choice(&["xoxs", "xoxo"]), hex(r, 10))
    }),
    ("Slack workflow webhook", |r| {
        let [team, flow] = [0, 1].map(|_| of(r, UPPER_AND_DIGITS, 10));
        format!("https://hooks.slack.com/workflows/T{team}/A{flow}/{}/{}", of(r, DIGITS, 18), of(r, BASE62, 24))
    }),
    ("Slack workflow webhook", |r| {
        let team = of(r, UPPER_AND_DIGITS, 10);
        format!("https://hooks.slack.com/triggers/T{team}/{}/{}", of(r, DIGITS, 13), hex(r, 32))
    }),
    ("Slack webhook", |r| {
        let [team, hook] = [0, 1].map(|_| of(r, UPPER_AND_DIGITS, 10));
        format!("https://hooks.slack.com/services/T{team}/B{hook}/{}", of(r, BASE62, 24))
    }),
    ("Stripe secret key", |r| format!("sk_{}_{}", r.choice(&["live", "test", "prod"]), of(r, BASE62, 24))),
    ("Stripe secret key", |r| format!("sk_live_51{}", of(r, BASE62, 97))),
    ("Stripe restricted key", |r| format!("rk_{}_{}", r.choice(&["live", "test", "prod"]), of(r, BASE62, 24))),
    ("Stripe webhook secret", |r| format!("whsec_{}", of(r, BASE62, 32))),
    ("OpenAI key", |r| format!("sk-{}T3BlbkFJ{}", of(r, BASE62, 20), of(r, BASE62, 20))),
    ("OpenAI key", |r| {
        let prefix = r.choice(&["sk-svcacct-", "sk-admin-"]);
        format!("{prefix}{}T3BlbkFJ{}", url(r, 58), url(r, 58))
    }),
    ("OpenAI key", |r| format!("sk-proj-{}T3BlbkFJ{}", url(r, 74), url(r, 74))),
    ("Anthropic key", |r| format!("sk-ant-{}-{}AA", r.choice(&["api03", "admin01"]), url(r, 93))),
    ("Anthropic token", |r| format!("sk-ant-oat01-{}", url(r, 95))),
    ("OpenRouter key", |r| format!("sk-or-v1-{}", hex(r, 64))),
    ("GitLab token", |r| {
        let prefix = r.choice(&["glpat-", "gldt-", "glrt-", "glft-", "glsoat-", "glffct-"]);
        format!("{prefix}{}", url(r, 20))
    }),
    ("GitLab token", |r| format!("glimt-{}", of(r, LOWER_AND_DIGITS, 25))),
    ("GitLab token", |r| format!("glpat-{}.{}", url(r, 27), of(r, LOWER_AND_DIGITS, 9))),
    ("GitLab runner token", |r| format!("glrt-t{}_{}.{}", r.between(1, 3), url(r, 27), of(r, LOWER_AND_DIGITS, 9))),
    ("GitLab runner token", |r| format!("glrt-t{}_{}.01.{}", r.between(1, 3), url(r, 44), of(r, LOWER_AND_DIGITS, 9))),
    ("GitLab OAuth secret", |r| format!("gloas-{}", hex(r, 64))),
    ("GitLab token", |r| format!("glpat-{}.01.{}", url(r, 44), of(r, LOWER_AND_DIGITS, 9))),
    ("GitLab trigger token", |r| format!("glptt-{}", hex(r, 40))),
    ("GitLab job token", |r| format!("glcbt-{}_{}", hex(r, 2), url(r, 20))),
    ("GitLab agent token", |r| format!("glagent-{}", url(r, 50))),
    ("PyPI token", |r| format!("pypi-AgEIcHlwaS5vcmc{}", url(r, 120))),
    ("RubyGems key", |r| format!("rubygems_{}", hex(r, 48))),
    ("crates.io token", |r| format!("cio{}", of(r, BASE62, 32))),
    ("Clojars token", |r| format!("CLOJARS_{}", of(r, LOWER_AND_DIGITS, 60))),
    ("Docker Hub token", |r| format!("dckr_{}_{}", r.choice(&["pat", "oat"]), url(r, 27))),
    ("Hugging Face token", |r| format!("hf_{}", of(r, LETTERS, 34))),
    ("DigitalOcean token", |r| format!("{}_v1_{}", r.choice(&["dop", "doo", "dor"]), hex(r, 64))),
    ("Vault service token", |r| format!("hvs.{}", url(r, 95))),
    ("Vault service token", |r| format!("hvs.{}", of(r, BASE62, 24))),
    ("Vault batch token", |r| format!("hvb.{}", url(r, 150))),
    ("Terraform Cloud token", |r| format!("{}.atlasv1.{}", of(r, BASE62, 14), of(r, BASE62, 67))),
    ("Azure client secret", |r| format!("{}{}Q~{}", of(r, BASE62, 3), of(r, DIGITS, 1), of(r, BASE62, 34))),
    ("Azure storage key", |r| format!("AccountName=logs;AccountKey={}", base64(r, 64))),
    ("Atlassian token", |r| format!("ATATT3{}={}", url(r, 177), hex(r, 8).to_uppercase())),
    ("SendGrid key", |r| format!("SG.{}.{}", url(r, 22), url(r, 43))),
    ("Mailchimp key", |r| format!("MAILCHIMP_KEY={}-us{}", hex(r, 32), r.between(1, 21))),
    ("Brevo key", |r| format!("xkeysib-{}-{}", hex(r, 64), of(r, BASE62, 16))),
    ("Twilio key", |r| format!("SK{}", hex(r, 32))),
    ("Shopify token", |r| format!("{}_{}", r.choice(&["shpat", "shpca", "shppa", "shpss"]), hex(r, 32))),
    ("Square token", |r| format!("sq0atp-{}", url(r, 22))),
    ("Square token", |r| format!("EAAA{}", url(r, 60))),
    ("Square secret", |r| format!("sq0csp-{}", url(r, 43))),
    ("Databricks token", |r| format!("dapi{}", hex(r, 32))),
    ("Databricks token", |r| format!("dapi{}-{}", hex(r, 32), r.between(2, 3))),
    ("Grafana service account token", grafana),
    ("Grafana Cloud token", |r| {
        let (organization, key) = (of(r, DIGITS, 6), of(r, BASE62, 24));
        let text = format!(r#"{{"o":"{organization}","n":"logs-write","k":"{key}","m":{{"r":"eu"}}}}"#);
        format!("glc_{}", STANDARD.encode(text))
    }),
    ("Linear key", |r| format!("lin_api_{}", of(r, BASE62, 40))),
    ("Notion token", |r| format!("ntn_{}{}", of(r, DIGITS, 11), of(r, BASE62, 35))),
    ("Figma token", |r| format!("figd_{}", url(r, 40))),
    ("Doppler token", |r| {
        let kind = r.choice(&["pt", "ct", "st", "sa", "said", "scim", "audit"]);
        let length = r.between(40, 44);
        format!("dp.{kind}.{}", of(r, BASE62, length))
    }),
    ("Doppler token", |r| format!("dp.st.{}.{}", r.choice(&["dev", "prd_eu", "stg-2"]), of(r, BASE62, 43))),
    ("Pulumi token", |r| format!("pul-{}", hex(r, 40))),
    ("Postman key", |r| format!("PMAK-{}-{}", hex(r, 24), hex(r, 34))),
    ("Sentry user token", |r| format!("sntryu_{}", hex(r, 64))),
    ("PlanetScale secret", |r| format!("pscale_{}_{}", r.choice(&["pw", "tkn", "oauth"]), url(r, 43))),
    ("New Relic key", |r| format!("NRAK-{}", of(r, UPPER_AND_DIGITS, 27))),
    ("Dynatrace token", |r| format!("dt0c01.{}.{}", of(r, UPPER_AND_DIGITS, 24), of(r, UPPER_AND_DIGITS, 64))),
    ("Fly.io token", |r| format!("fo1_{}", url(r, 43))),
    ("Fly.io token", |r| format!("FlyV1 {}_{}", r.choice(&["fm1r", "fm1a", "fm2"]), base64(r, 200))),
    ("Heroku key", |r| format!("HRKU-AA{}", url(r, 58))),
    ("Perplexity key", |r| format!("pplx-{}", of(r, BASE62, 48))),
    ("Airtable token", |r| format!("pat{}.{}", of(r, BASE62, 14), hex(r, 64))),
    ("1Password service account token", |r| {
        let [salt, key, uuid] = [22, 43, 26].map(|length| of(r, BASE62, length));
        let text = format!(
            r#"{{"signInAddress":"acme.1password.com","userAuth":{{"method":"SRPg-4096","iterations":650000,"salt":"{salt}"}},"muk":{{"alg":"A256GCM","k":"{key}"}},"throttleSecret":{{"seed":"{}"}},"deviceUuid":"{uuid}"}}"#,
            hex(r, 64)
        );
        format!("ops_{}", URL_SAFE_NO_PAD.encode(text))
    }),
    ("Prefect key", |r| format!("pnu_{}", of(r, BASE62, 36))),
    ("Infracost key", |r| format!("ico-{}", of(r, BASE62, 32))),
    ("Alibaba access key id", |r| format!("LTAI{}", of(r, BASE62, 20))),
    ("Telegram bot token", |r| {
        let (id, key) = (of(r, "123456789", 10), url(r, 33));
        format!("https://api.telegram.org/bot{id}:AA{key}/getMe")
    }),
    ("Telegram bot token", |r| format!("{}:AA{}", of(r, "123456789", 10), url(r, 33))),
    ("JSON Web Token", jwt),
    ("age secret key", age),
    ("private key", private_key),
    ("password in a URL", url_password),
    ("random value beside a word such as `password`", assignment),
];

/// Assignments of values that begin with the prefix of a service and have none of the shapes in [`KINDS`].
pub(crate) fn prefixed_assignments(random: &mut Random) -> [String; 9] {
    let old_grafana = format!(r#"{{"k":"{}","n":"{}","id":1}}"#, of(random, BASE62, 32), of(random, LETTERS, 6));
    [
        format!("DB_PASSWORD=pat{}", of(random, BASE62, 24)),
        format!("VAULT_TOKEN=hvs.{}", of(random, BASE62, 20)),
        format!("API_KEY=sk-or-v2-{}", hex(random, 64)),
        format!("DEEPSEEK_API_KEY=sk-{}", hex(random, 32)),
        format!("SLACK_REFRESH_TOKEN=xoxe-1-{}", of(random, BASE62, 100)),
        format!("GRAFANA_API_KEY={}", STANDARD.encode(old_grafana)),
        format!("FB_ACCESS_TOKEN=EAAA{}", of(random, BASE62, 180)),
        format!("OPENAI_API_KEY=sk-proj-{}", url(random, 120)),
        format!("GITHUB_TOKEN=ghp_{}", of(random, BASE62, 50)),
    ]
}

/// Values that are no secrets, by what they are.
pub(crate) fn negatives(random: &mut Random) -> Vec<(&'static str, String)> {
    let mut texts = Vec::new();
    for _ in 0..30 {
        texts.extend(hashes(random).map(|text| ("hash", text)));
        texts.extend(lock_lines(random).map(|text| ("lock file", text)));
        texts.extend(wrong_checksums(random).map(|text| ("wrong checksum", text)));
    }
    for _ in 0..20 {
        texts.extend(uuids(random).map(|text| ("UUID", text)));
        texts.extend(images(random).map(|text| ("image", text)));
        texts.extend(code(random).map(|text| ("code", text)));
        texts.extend(local_urls(random).map(|text| ("local URL", text)));
        texts.extend(public_values(random).map(|text| ("public value beside a word", text)));
        texts.extend(lookalikes(random).map(|text| ("name like a token", text)));
    }
    texts.extend(DOCUMENTED.iter().map(|text| ("documentation", (*text).to_owned())));
    texts
}

fn hashes(random: &mut Random) -> [String; 7] {
    [
        format!("commit {}", hex(random, 40)),
        format!("sha256:{}", hex(random, 64)),
        format!("{}  image.iso", hex(random, 32)),
        format!("password_hash = \"{}\"", hex(random, 64)),
        format!("The token of the build was {}.", hex(random, 12)),
        format!("objects/pack/pack-{}.idx", hex(random, 40)),
        format!("ETag: \"{}\"", hex(random, 32)),
    ]
}

fn lock_lines(random: &mut Random) -> [String; 6] {
    [
        format!("checksum = \"{}\"", hex(random, 64)),
        format!("\"integrity\": \"sha512-{}\",", base64(random, 64)),
        format!("golang.org/x/text v0.3.7 h1:{}", base64(random, 32)),
        format!("resolved \"https://registry.yarnpkg.com/token-stream/-/token-stream-1.0.0.tgz#{}\"", hex(random, 40)),
        format!("    {{file = \"secrets-1.2-py3-none-any.whl\", hash = \"sha256:{}\"}},", hex(random, 64)),
        format!("\"cache-key\": \"linux-{}\"", hex(random, 40)),
    ]
}

/// Changes a character of the checksum, or of what it is of.
fn wrong_checksums(random: &mut Random) -> [String; 6] {
    let changed = |text: String| {
        let last = if text.ends_with('0') { '1' } else { '0' };
        format!("{}{last}", &text[..text.len() - 1])
    };
    let bech32 = age(random);
    let swapped = if bech32.ends_with('Q') { 'P' } else { 'Q' };
    let header = URL_SAFE_NO_PAD.encode(r#"{"version":3,"file":"out.js"}"#);
    [
        changed(github(random)),
        format!("GITHUB_TOKEN={}", changed(github(random))),
        changed(with_crc(random, "npm_")),
        changed(grafana(random)),
        format!("{}{swapped}", &bech32[..bech32.len() - 1]),
        format!("{header}.{}.{}", URL_SAFE_NO_PAD.encode(r#"{"mappings":"AAAA"}"#), url(random, 43)),
    ]
}

fn uuids(random: &mut Random) -> [String; 5] {
    let mut uuid = || [8, 4, 4, 4, 12].map(|length| hex(random, length)).join("-");
    [
        uuid(),
        format!("request_id: {}", uuid()),
        format!("token: {}", uuid()),
        format!("client_secret_id = \"{}\"", uuid()),
        format!("https://api.acme.io/v1/tokens/{}", uuid()),
    ]
}

fn images(random: &mut Random) -> [String; 5] {
    [
        format!("data:image/png;base64,iVBORw0KGgo{}", base64(random, 240)),
        base64(random, 57),
        format!("![chart](data:image/svg+xml;base64,PHN2Zy{})", base64(random, 600)),
        format!("src: url(data:font/woff2;base64,d09GMg{})", base64(random, 300)),
        pem(random, "CERTIFICATE", &[0x30, 0x82, 0x03], 800),
    ]
}

fn code(random: &mut Random) -> [String; 8] {
    let name = of(random, LETTERS, 10);
    [
        format!("let token = parse_{name}(request.headers().get(\"x-token\"));"),
        format!("password: String::from_utf8(read_{name}_2024(path)?)?,"),
        format!("const API_KEY = process.env.{}_API_KEY_V2;", name.to_uppercase()),
        format!("api_key: ${{{{ secrets.{}_KEY_2 }}}}", name.to_uppercase()),
        format!("secret: config/{name}/prod-2024-01/secret_v2.yaml"),
        format!("private_key: ~/.ssh/id_ed25519_{name}"),
        format!("pub access_key: Option<{name}Credential3>,"),
        format!("{}:function(e,t){{return t.token=e.{name}||\"{}\"}}", of(random, LETTERS, 2), of(random, LETTERS, 8)),
    ]
}

/// URLs of hosts that only the own network or machine knows, and templates.
fn local_urls(random: &mut Random) -> [String; 7] {
    let length = random.between(5, 16);
    let password = of(random, LOWER_AND_DIGITS, length);
    let host = of(random, LOWER_AND_DIGITS, 8);
    [
        format!("postgres://app:{password}@db:5432/app"),
        format!("jdbc:mysql://root:{password}@mysql/test"),
        format!("http://me:{password}@{host}/"),
        format!("http://alice:{password}@127.{}.0.{}:8080/", random.below(256), random.between(1, 250)),
        format!("driver://user:{password}@host/dbname"),
        format!("redis://default:%{}_PW%@cache.acme.io:6379", of(random, UPPER_AND_DIGITS, 5)),
        format!("http://me:{password}@[::1]:8080/"),
    ]
}

/// Random values that are public although a word such as `token` is in their name.
fn public_values(random: &mut Random) -> [String; 12] {
    let crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    [
        format!("const USDC_TOKEN = \"0x{}\";", of(random, "0123456789abcdefABCDEF", 40)),
        format!("next_page_token: {}", url(random, 44)),
        format!("\"nextPageToken\": \"{}\"", base64(random, 30)),
        format!("continuation_token={}", of(random, BASE62, 32)),
        format!("cursor-token: {}", of(random, BASE62, 24)),
        format!("token: 01{}", of(random, crockford, 24)),
        format!("password: U2FsdGVkX1{}", base64(random, 33)),
        format!("sealed_secret: AgB{}", base64(random, 90)),
        format!("encrypted_password = \"{}\"", base64(random, 60)),
        format!("privateKey: keys/ed25519/2024Q3_{}.pem", of(random, BASE62, 12)),
        format!("private_key: {}.pem", of(random, BASE62, 16)),
        format!("secret: /run/secrets/{}", of(random, BASE62, 16)),
    ]
}

/// Names and hashes that begin or end like a token.
fn lookalikes(random: &mut Random) -> [String; 4] {
    let name = of(random, LETTERS, 3);
    [
        format!("TokenKind::Ident12AbcDef34{name} => {},", random.below(100)),
        format!("ciothereisalong{}exact{}", of(random, "abcdefghijklmnopqrstuvwxyz", 14), random.below(10)),
        format!("{}-us1", hex(random, 32)),
        format!("see hvs.{}_configuration_of_the_service", of(random, "abcdefghijklmnopqrstuvwxyz", 12)),
    ]
}

/// Values as guides write them, of the forms that readers replace.
const DOCUMENTED: [&str; 40] = [
    "postgres://user:password@localhost:5432/app",
    "postgresql://postgres:postgres@db:5432/app",
    "mysql://root:root@127.0.0.1/test",
    "redis://:p4ssw0rd@localhost:6379/0",
    "amqp://guest:guest@rabbitmq:5672",
    "https://user:<token>@github.com/acme/app.git",
    "https://x-access-token:${GITHUB_TOKEN}@github.com/acme/app.git",
    "https://oauth2:$TOKEN@gitlab.com/acme/app.git",
    "mongodb://admin:{{password}}@mongo.internal:27017",
    "ftp://anonymous:me@example.com/pub",
    "https://alice:wonderland@example.com/",
    "http://proxy.acme.io:8080/@scope/package",
    "ssh://git@github.com:22/acme/app.git",
    "https://host:443/path@v1.2.3",
    "export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "GITHUB_TOKEN=ghp_your_token_here",
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "STRIPE_KEY=sk_test_your_key_goes_here_please_now",
    "sk_live_...",
    "OPENAI_API_KEY=sk-...",
    "OPENAI_API_KEY=sk-proj-XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX",
    "xoxb-your-token",
    "xoxb-000000000000-000000000000-xxxxxxxxxxxxxxxxxxxxxxxx",
    "password = changeme",
    "password: \"correct horse battery staple\"",
    "PASSWORD=********************",
    "api_key: YOUR_API_KEY_1234567890",
    "api_key = \"<your api key from https://acme.io/settings>\"",
    "token: 00000000-0000-0000-0000-000000000000",
    "token = \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "client_secret: placeholder-value-for-tests-12",
    "Authorization: Bearer <token>",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA...\n-----END RSA PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n(base64)\n-----END PRIVATE KEY-----",
    "The tokens per second: 1234567890123456 in total.",
    "token-count: 128000; max_tokens=4096",
    "secret-scanning: enabled for all repositories in 2024",
    "The password is at least 16 characters long: letters, digits, symbols.",
    "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
];
