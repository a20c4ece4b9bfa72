#!/usr/bin/env bash
# Prints the counts of tests/architecture.rs for two commits, in two columns.
# Usage: tests/counts.sh [BEFORE [AFTER]]; without AFTER, the working tree.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

counts() {
    QIPU_SOURCE=$1 cargo test --locked --quiet --test all architecture::print_counts -- --ignored --nocapture |
        grep -E '^ +[0-9]+  '
}

extract() {
    mkdir "$work/$2"
    git archive "$1" src | tar -x -C "$work/$2"
    echo "$work/$2/src"
}

before=${1:-721ad8f}
counts "$(extract "$before" before)" > "$work/before.txt"
counts "$([ $# -gt 1 ] && extract "$2" after || echo "$PWD/src")" > "$work/after.txt"
echo "$before → ${2:-working tree}"
paste "$work/before.txt" "$work/after.txt" | awk -F '\t' '{ split($1, before, " "); print before[1] " → " $2 }' | sed -E 's/→ +/→ /'
