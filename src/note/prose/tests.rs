//! Tests only: recognition of prose.

use super::super::summary::{SummarySource, of_body};

fn summary(body: &str) -> Option<String> {
    of_body(body, "The title").filter(|found| found.source == SummarySource::Paragraph).map(|found| found.text)
}

#[test]
fn what_surrounds_prose_is_skipped() {
    for noise in
        "2020-01-01¦Date: 2020-01-01¦_Last updated on 5 May 2020_¦March 5th, 2021¦2025年3月5日¦Created on: 20 May 2019¦\
        Author: Ann Smith¦**Status**: accepted¦**Status:** accepted\n**Deciders:** Ann, Bob¦\
        **Reading level:** all of us¦Size: small\nColour: red¦Accepted¦Superseded by [ADR 12](0012-x.md)¦\
        ## Status\n\nAccepted after a long and friendly discussion of all sides.¦\
        ## 2. Status\n\nWe like it.\n\n### Since\n\nWe like it since May.¦\
        ## License\n\nThis is free for everybody to use.¦!!! note \"Read this\"\n    Text of the note.¦\
        !!! tip\n\n    Text of the tip.¦??? question \"Why?\"¦:::tip\nText of the tip.\n:::¦\
        :::note Title\n\nText of the note.\n\n:::¦> [!NOTE]\n> Text of the note.¦=== \"macOS\"¦\
        --8<-- \"CONTRIBUTING.md\"¦{% include header.html %}¦{{#include ../README.md}}¦{{< toc >}}¦\
        ![A logo with words](logo.png)¦[![Build status](a.svg)](a) [![Docs](b.svg)](b)¦![[embedded]]¦\
        [Home](a.md) | [Guide](b.md)¦[[one]] [[two]]¦English | [Deutsch](de.md) | [日本語](ja.md)¦**Performance**¦\
        Dual-licensed under MIT or Apache 2.0.¦Next: [A long name of a page](a.md), [Another](b.md)¦\
        https://example.org/page¦<https://example.org/page>¦[TOC]¦[[_TOC_]]¦**Table of Contents**¦\
        SPDX-License-Identifier: MIT¦Copyright (c) 2020 Ann Smith. All rights reserved.¦\
        Licensed under the Apache License, Version 2.0.¦<!-- a comment -->¦#tag #other/tag¦`code`¦\
        tags:: a, b\ntype:: page¦import Tabs from '@theme/Tabs';¦For example:¦The title¦**The Title.**"
            .split('¦')
    {
        let body = format!("{noise}\n\n## Context\n\nWhat it is *about*.\n\nMore.");
        assert_eq!(summary(&body).as_deref(), Some("What it is about."), "{noise:?}");
        assert_eq!(summary(noise), None, "{noise:?}");
    }
}

#[test]
fn prose_stays_prose() {
    for prose in "Short¦Note: this function returns an error where the file is gone.¦Status codes are explained here.¦\
        Active learning is a method.¦In May 2020 we moved.¦See the guide for what is meant.¦\
        Licensing is a subject of its own.¦Description: what it does.¦import taxes are high¦\
        Copyrights end after 70 years.¦日本語のメモ¦Either a | b or b | c is what it reads.¦\
        To install it, run this command:¦The title and more"
        .split('¦')
    {
        assert_eq!(summary(&format!("{prose}\n\nMore.")).as_deref(), Some(prose));
    }
    let bold_len = summary("**Warning:** this removes all files.\n\nMore.");
    assert_eq!(bold_len.as_deref(), Some("Warning: this removes all files."));
    assert_eq!(summary("The title\nWhat it says.\n").as_deref(), Some("What it says."));
    assert_eq!(summary("Date: 2020-01-01\nWhat it says.").as_deref(), Some("What it says."));
    assert_eq!(summary("![x](x.png) What it says, see [a](a).").as_deref(), Some("What it says, see a."));
    assert_eq!(summary("::: lead\nWhat it says.\n:::").as_deref(), Some("What it says."));
    assert_eq!(summary("# Licence\n\nText.\n").as_deref(), None);
    assert_eq!(of_body("# Licence\n\nText.\n", "Licence").unwrap().text, "Text.");
}
