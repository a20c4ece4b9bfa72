//! Differences between lists and between texts, by Myers' algorithm (*An O(ND) Difference Algorithm*, 1986).

use std::collections::HashMap;
use std::fmt::Write;
use std::hash::Hash;

use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use similar::{ChangeTag, DiffOp, DiffableStr, group_diff_ops};

/// The unchanged lines around changes in a unified diff.
const CONTEXT: usize = 3;

/// Returns the operations that turn one list into the other.
pub(crate) fn operations<T: Eq + Hash>(old: &[T], new: &[T]) -> Vec<DiffOp> {
    let mut numbers: HashMap<&T, usize> = HashMap::with_capacity(old.len() + new.len());
    let [old, new] = [old, new].map(|items| -> Vec<usize> {
        let number = |item| {
            let next = numbers.len();
            *numbers.entry(item).or_insert(next)
        };
        items.iter().map(number).collect()
    });
    operations_of_numbers(&old, &new)
}

/// The only instance of the algorithm: with one for each type of item, and the crate's other algorithms, diffs took .8 MB.
fn operations_of_numbers(old: &[usize], new: &[usize]) -> Vec<DiffOp> {
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    let Ok(()) = myers::diff(&mut hook, old, 0..old.len(), new, 0..new.len());
    hook.into_inner().into_inner().into_ops()
}

/// Returns how many lines of a text are new in another one, and how many are gone.
pub(crate) fn changed_lines(old: &str, new: &str) -> (usize, usize) {
    let operations = operations(&old.tokenize_lines(), &new.tokenize_lines());
    let changed = operations.iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
    changed.fold((0, 0), |(added, gone), operation| {
        (added + operation.new_range().len(), gone + operation.old_range().len())
    })
}

/// Returns the difference between two texts as a unified diff; empty if they are equal.
pub(crate) fn unified(from: &str, to: &str, old: &str, new: &str) -> String {
    let (old, new) = (old.tokenize_lines(), new.tokenize_lines());
    let mut diff = String::new();
    for hunk in group_diff_ops(operations(&old, &new), CONTEXT) {
        if hunk.is_empty() {
            continue;
        }
        if diff.is_empty() {
            diff = format!("--- {from}\n+++ {to}\n");
        }
        let _ = writeln!(diff, "{}", UnifiedHunkHeader::new(&hunk));
        for change in hunk.iter().flat_map(|operation| operation.iter_changes(old.as_slice(), new.as_slice())) {
            push_line(&mut diff, change.tag(), change.value());
        }
    }
    diff
}

fn push_line(diff: &mut String, tag: ChangeTag, line: &str) {
    let end = if line.ends_with_newline() { "" } else { "\n\\ No newline at end of file\n" };
    let _ = write!(diff, "{tag}{line}{end}");
}

#[cfg(test)]
mod tests {
    use similar::TextDiff;

    use super::*;
    use crate::random::Random;

    /// The crate's own functions, in which other algorithms are compiled too, return the same.
    #[test]
    fn diffs_are_those_of_the_crate() {
        let mut random = Random::new(7);
        for round in 0..400 {
            let lines = [0, 1, 40, 40, 700][round % 5];
            let mut text = |kinds: usize| -> String {
                let ends = ["\n", "\n", "\n", "\r\n", "\r", "\n\n"];
                let line = |_| format!("{}{}", random.below(kinds), ends[random.below(ends.len())]);
                let mut text: String = (0..lines).map(line).collect();
                text.truncate(text.len().saturating_sub(random.below(2)));
                text
            };
            let kinds = [3, 30, 3000][round % 3];
            let old = text(kinds);
            let new = if round % 2 == 0 { old.replacen("2\n", "9\n", round) } else { text(kinds) };
            let expected = TextDiff::from_lines(&old, &new);
            assert_eq!(unified("a", "b", &old, &new), expected.unified_diff().header("a", "b").to_string());
            let count = |tag| expected.iter_all_changes().filter(|change| change.tag() == tag).count();
            assert_eq!(changed_lines(&old, &new), (count(ChangeTag::Insert), count(ChangeTag::Delete)));
            let (old, new) = (old.tokenize_lines(), new.tokenize_lines());
            let expected = similar::capture_diff_slices(similar::Algorithm::Myers, &old, &new);
            assert_eq!(operations(&old, &new), expected);
        }
    }
}
