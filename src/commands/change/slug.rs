//! The words of a title in the name of a file.

/// The longest slug, in bytes.
const MAX_SLUG: usize = 60;

/// Returns the first words of a title for a file name, in lower case, each behind a hyphen: `-a-title`. At most [`MAX_SLUG`]
/// bytes.
pub(super) fn slug(title: &str) -> String {
    let mut slug = String::new();
    for word in title.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        if slug.len() + 1 + word.len() > MAX_SLUG {
            break;
        }
        slug.push('-');
        slug.push_str(word);
    }
    slug
}
