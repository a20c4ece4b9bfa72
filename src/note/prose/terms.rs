//! Words and phrases by which metadata and licences are distinguished from prose.

/// Headings of sections without prose about the subject.
pub(super) const METADATA_NAMES: [&str; 30] = [
    "status", "date", "dates", "author", "authors", "contributors", "deciders", "decision makers", "metadata",
    "contents", "table of contents", "toc", "on this page", "in this article", "license", "licence", "licensing",
    "copyright", "changelog", "change log", "revision history", "version history", "document history", "see also",
    "references", "links", "related", "related links", "tags", "acknowledgements",
];

/// Headings of parts of a document that are never titles.
pub(super) const PART_NAMES: [&str; 13] = [
    "summary", "abstract", "tl;dr", "motivation", "status", "metadata", "contents", "table of contents", "toc",
    "on this page", "license", "licence", "copyright",
];

/// Words of metadata keys: `Last updated`, `Decided by`.
pub(super) const METADATA_WORDS: [&str; 99] = [
    "accepted", "approved", "approver", "approvers", "area", "assignee", "at", "attendees", "author", "authored",
    "authors", "autor", "autoren", "auteur", "by", "categories", "category", "champion", "champions", "changed",
    "component", "components", "consulted", "contact", "contributors", "copyright", "created", "creation", "date",
    "datum", "decided", "decider", "deciders", "difficulty", "duration", "edited", "edition", "editor", "editors",
    "effective", "email", "estado", "feature", "fecha", "from", "homepage", "id", "informed", "issue", "issues",
    "jira", "keywords", "lang", "language", "last", "layout", "level", "licence", "license", "link", "maintained",
    "maintainer", "maintainers", "modified", "name", "number", "on", "owner", "owners", "participants", "permalink",
    "posted", "pr", "published", "replaces", "reviewed", "reviewer", "reviewers", "revised", "revision", "rfc", "slug",
    "spdx", "stakeholders", "start", "state", "status", "statut", "superseded", "supersedes", "tag", "tags", "team",
    "ticket", "title", "tracking", "updated", "version", "written",
];

/// Beginnings of metadata lines without a colon.
pub(super) const METADATA_BEGINNINGS: [&str; 13] = [
    "last updated", "last modified", "last reviewed", "last edited", "last changed", "updated on", "created on",
    "published on", "posted on", "posted by", "written by", "maintained by", "reviewed by",
];

/// States of a document.
pub(super) const STATES: [&str; 20] = [
    "accepted", "active", "approved", "archived", "declined", "deprecated", "draft", "final", "implemented",
    "obsolete", "pending", "proposed", "rejected", "replaced", "retired", "superseded", "tbd", "todo", "unmaintained",
    "wip",
];

/// Words after a state: `Superseded by`, `Accepted on`.
pub(super) const AFTER_STATE: [&str; 6] = ["by", "on", "in", "since", "as", "and"];

/// Beginnings of licences and copyright lines, in lower case.
pub(super) const LICENCES: [&str; 18] = [
    "spdx-",
    "copyright ",
    "copyright:",
    "(c) ",
    "©",
    "licensed under",
    "licensed either under",
    "dual-licensed",
    "dual licensed",
    "unless you explicitly state otherwise",
    "unless required by applicable law",
    "this work is licensed",
    "this file is licensed",
    "this document is licensed",
    "this software is licensed",
    "permission is hereby granted",
    "redistribution and use in source",
    "all rights reserved",
];

/// The kinds of an admonition `:::kind`.
pub(super) const ADMONITIONS: [&str; 21] = [
    "abstract", "attention", "bug", "caution", "danger", "details", "error", "example", "failure", "hint", "important",
    "info", "note", "question", "quote", "seealso", "success", "tip", "todo", "warn", "warning",
];
