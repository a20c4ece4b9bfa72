//! Bodies on a terminal in a build without the feature `styles`.

use super::Screen;

/// Returns `None`: bodies stay verbatim.
pub(super) fn rendered(_body: &str, _screen: Screen, _columns: usize) -> Option<String> {
    None
}
