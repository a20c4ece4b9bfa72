//! Tests only: every row of the table of phrases, at several todays and under several time zones.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::*;

fn date(text: &str) -> Date {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Formats days as `2025-03-05`, `2025-03-05..2025-03-07` or `..2025-03-07`.
fn said(span: DateRange) -> String {
    match span {
        DateRange::Day(day) => day.to_string(),
        DateRange::Period(Period { from: Some(from), to }) => format!("{from}..{to}"),
        DateRange::Period(Period { from: None, to }) => format!("..{to}"),
    }
}

/// Parses all phrases in a text: their meanings and warnings.
fn read(text: &str, today: Date) -> (Vec<String>, Vec<String>) {
    let tokens = Tokens::new(text);
    let (mut spans, mut warnings, mut previous, mut at) = (Vec::new(), Vec::new(), None, 0);
    while at < tokens.len() {
        let Some(found) = tokens.phrase_at(at, today, previous) else {
            at += 1;
            continue;
        };
        if let Some(span) = found.range {
            spans.push(said(span));
            previous = Some(span.period());
        }
        warnings.extend(found.warning);
        at = found.end;
    }
    (spans, warnings)
}

fn check(today: &str, rows: &[(&str, &str)]) {
    for (phrase, expected) in rows {
        let framed = format!("what did I note {phrase}, and why?");
        for text in [(*phrase).to_owned(), phrase.to_uppercase(), framed] {
            // Capitals tell `on Sun` and `5 May` from other words; nothing else depends on them.
            let (spans, warnings) = read(&text, date(today));
            assert_eq!((spans.join(" "), warnings), ((*expected).to_owned(), Vec::new()), "{text:?} at {today}");
        }
        if !phrase.contains("and the week") {
            assert_eq!(parse(phrase, date(today)).map(said).as_deref(), Ok(*expected), "{phrase:?} at {today}");
        }
    }
}

/// The table of the specification: phrases and their meanings at 2025-03-31. `tests/questions.rs` checks the same table
/// with the binary.
const TABLE: &str = include_str!("phrases.tsv");

#[test]
fn every_row_of_the_table_of_phrases() {
    let rows: Vec<(&str, &str)> = TABLE.lines().filter_map(|line| line.split_once('\t')).collect();
    assert!(rows.len() > 60);
    check("2025-03-31", &rows);
}

#[test]
fn ends_of_months_leap_days_and_turns_of_years() {
    check(
        "2024-02-29",
        &[
            ("last month", "2024-01-29..2024-02-29"),
            ("last year", "2023-02-28..2024-02-29"),
            ("last 4 years", "2020-02-29..2024-02-29"),
            ("Feb 29", "2024-02-29"),
            ("tomorrow", "2024-03-01"),
            ("this month", "2024-02-01..2024-02-29"),
            ("twelve months ago", "2023-02-28"),
        ],
    );
    check(
        "2025-01-01",
        &[
            ("yesterday", "2024-12-31"),
            ("last week", "2024-12-25..2025-01-01"),
            ("this week", "2024-12-30..2025-01-05"),
            ("last month", "2024-12-01..2025-01-01"),
            ("Dec 31", "2024-12-31"),
            ("Jan 1", "2025-01-01"),
            ("Jan 2", "2024-01-02"),
            ("in December", "2024-12-01..2024-12-31"),
            ("in January", "2025-01-01..2025-01-31"),
            ("Feb 29", "2024-02-29"),
            ("on Wednesday", "2024-12-25"),
        ],
    );
    check(
        "2024-12-31",
        &[("tomorrow", "2025-01-01"), ("this week", "2024-12-30..2025-01-05"), ("this year", "2024-01-01..2024-12-31")],
    );
    check("2025-05-31", &[("last month", "2025-04-30..2025-05-31"), ("last 3 months", "2025-02-28..2025-05-31")]);
    check("2025-03-01", &[("yesterday", "2025-02-28"), ("last month", "2025-02-01..2025-03-01")]);
    check("2101-03-01", &[("Feb 29", "2096-02-29"), ("yesterday", "2101-02-28")]);
}

#[test]
fn every_weekday_at_every_weekday() {
    for offset in 0..7_i64 {
        let today = date("2025-03-31").checked_add(offset.days()).unwrap();
        for (number, name) in
            ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].iter().enumerate()
        {
            let found = ["last", "on", "past"].map(|word| parse(&format!("{word} {name}"), today));
            let mut day = today.yesterday().unwrap();
            while day.weekday() != Weekday::from_monday_zero_offset(number as i8).unwrap() {
                day = day.yesterday().unwrap();
            }
            assert!(found.iter().all(|found| *found == Ok(DateRange::Day(day))), "{name} at {today}: {found:?}");
        }
        let Ok(DateRange::Period(week)) = parse("this week", today) else { panic!("no week at {today}") };
        let from = week.from.unwrap();
        assert_eq!((from.weekday(), week.to.weekday()), (Weekday::Monday, Weekday::Sunday));
        assert!(week.contains(today) && from.until(week.to).unwrap().get_days() == 6);
    }
}

#[test]
fn impossible_dates_are_warned_of_and_skipped() {
    for text in
        ["2025-02-30", "2025-13-01", "2025/00/10", "Feb 30", "31 April 2025", "Feb 29, 2025", "last 9999999 years"]
    {
        let (spans, warnings) = read(&format!("what of {text}?"), date("2025-03-31"));
        assert_eq!((spans, warnings), (Vec::new(), vec![format!("`{text}` is not a valid date")]));
        assert_eq!(parse(text, date("2025-03-31")), Err(format!("`{text}` is not a valid date")));
    }
    let (spans, warnings) = read("2025-02-30 and 2025-03-05", date("2025-03-31"));
    assert_eq!((spans.as_slice(), warnings.len()), (["2025-03-05".to_owned()].as_slice(), 1));
}

#[test]
fn reversed_ranges_are_swapped_with_a_warning() {
    for text in ["2025-03-10 to 2025-03-05", "between 2025-03-10 and 2025-03-05", "2025-03-10..2025-03-05"] {
        let (spans, warnings) = read(text, date("2025-03-31"));
        assert_eq!((spans.join(" ").as_str(), warnings.len()), ("2025-03-05..2025-03-10", 1), "{text}");
        assert!(parse(text, date("2025-03-31")).is_err());
    }
}

#[test]
fn words_that_leave_open_which_period_they_mean_are_recognized() {
    let vague = |text: &str| {
        let tokens = Tokens::new(text);
        (0..tokens.len())
            .find_map(|at| Some(tokens.text_between(at, tokens.vague_at(at, date("2025-03-31"))?).to_owned()))
    };
    for text in ["since January", "in 2024", "before March", "during june", "until May", "after 1999"] {
        assert_eq!(vague(&format!("what was done {text}?")).as_deref(), Some(text));
    }
    assert_eq!(vague("between January and March").as_deref(), Some("between January"));
    for text in [
        "since Q1", "until Friday", "between monday", "end of February", "start of 2024", "late March", "last weekend",
        "last night", "next week", "this Friday", "few days ago", "couple of weeks ago", "2 years ago",
    ] {
        assert_eq!(vague(&format!("what was done {text}?")).as_deref(), Some(text));
    }
    for text in "in 2024-06|before may|after march|in 12345|since jan|in 3000|January|in, 2024|in May 2024|\
        end of the road|last nightly|since Monday|end of March 5|next step|this weekly"
        .split('|')
    {
        assert_eq!(vague(text), None, "{text}");
    }
}

#[test]
fn dates_whose_order_depends_on_the_country_name_both_readings() {
    let today = date("2025-03-31");
    for (text, readings) in [
        ("03/25/2025", "with the month first it is 2025-03-25, with the day first no date; write 2025-03-25 if"),
        ("25/3/2025", "with the month first it is no date, with the day first 2025-03-25; write 2025-03-25 if"),
        ("03/04/2025", "with the month first it is 2025-03-04, with the day first 2025-04-03; write 2025-03-04 if"),
        ("3.4.2025", "with the month first it is 2025-03-04, with the day first 2025-04-03; write 2025-03-04 if"),
        ("30-31-2025", "with the month first it is no date, with the day first no date"),
    ] {
        let (spans, warnings) = read(&format!("what of {text}?"), today);
        assert!(spans.is_empty() && warnings.len() == 1, "{text}: {spans:?} {warnings:?}");
        assert!(warnings[0].starts_with(&format!("`{text}` is not read: {readings}")), "{warnings:?}");
        assert_eq!(parse(text, today), Err(warnings[0].clone()));
    }
    for text in ["1/2/3/2025", "v1.2.2025", "1.2.2025.4", "3/4", "32/1/2025", "1/2/1800"] {
        assert_eq!(read(text, today), (Vec::new(), Vec::new()), "{text}");
    }
}

#[test]
fn quoted_phrases_are_short_whatever_stands_between_their_words() {
    let text = format!("between 2025-03-10{}and 2025-03-01", " ".repeat(5_000));
    let expected = "`2025-03-10 and 2025-03-01` ends before it begins; start and end are swapped";
    assert_eq!(read(&text, date("2025-03-31")).1, [expected]);
    let text = format!("last {} days", "9".repeat(5_000));
    assert!(read(&text, date("2025-03-31")).1[0].len() < 200);
}

#[test]
fn words_that_only_contain_a_date_word_are_none() {
    for text in "monthly report|marching on|you may go|you may 3 times|may|march|Wednesday|wednesday plans|\
        last weekend|the week before|weekly|yesteryear|january|2025|in 2025|week before|the day before|\
        a year ago|may journal|march journals|q1|q5 2025|in q5|monday journalist|since mon|\
        5 may help|version 2025.03.05|12025-03-05|journal-2025-03-05|2025-03-05-x|CVE-2025-01|march on|\
        on sunshine|on sun|last|last minute|this|in marchland|mar|dec 2|2025-3|ago|two ago|since|\
        between|..|A..B|March 5-10|3/4|may2025|last 0x3 days|next week|last 2nd days|a b to c|\
        the last of us"
        .split('|')
    {
        let (spans, warnings) = read(text, date("2025-03-31"));
        let is_day = text == "dec 2";
        assert_eq!((spans.is_empty(), warnings.len()), (!is_day, 0), "{text}: {spans:?}");
    }
}

#[test]
fn parts_of_a_range_are_not_told_again_and_phrases_stand_side_by_side() {
    let today = date("2025-03-31");
    let spans = |text: &str| read(text, today).0.join(" ");
    assert_eq!(spans("between 2025-03-01 and 2025-03-05 and yesterday"), "2025-03-01..2025-03-05 2025-03-30");
    assert_eq!(spans("today, yesterday and last week"), "2025-03-31 2025-03-30 2025-03-24..2025-03-31");
    assert_eq!(spans("last week's journals"), "2025-03-24..2025-03-31");
    assert_eq!(spans("my journal entries from last week"), "2025-03-24..2025-03-31");
    assert_eq!(spans("the journal of March 5th"), "2025-03-05");
    assert_eq!(spans("journal on Wednesday"), "2025-03-26");
    assert_eq!(spans("journals in January"), "2025-01-01..2025-01-31");
    assert_eq!(spans("over the past 3 months"), "2024-12-31..2025-03-31");
    assert_eq!(spans("last Wednesday’s plan"), "2025-03-26");
    assert_eq!(spans("in March 2025"), "2025-03-01..2025-03-31");
    assert_eq!(spans("the Monday journal"), "2025-03-24");
    assert_eq!(
        spans("February’s journal entries and the journals from Q4"),
        "2025-02-01..2025-02-28 2024-10-01..2024-12-31"
    );
    // Only `day before yesterday` needs no article, not a distance.
    assert_eq!(spans("one week before last week, two days before yesterday"), "2025-03-24..2025-03-31 2025-03-30");
    assert_eq!(spans("every day before yesterday"), "2025-03-30");
}

#[test]
fn whole_days_are_dates_with_a_year_and_nothing_else() {
    for text in
        ["2025-03-05", "2025_03_05", "2025/03/05", "Mar 5th, 2025", "March 5, 2025", "5 March 2025", " 2025-03-05 "]
    {
        assert_eq!(parse_day(text), Some(date("2025-03-05")), "{text}");
    }
    for text in [
        "March 5", "2025-03", "2025-02-30", "2025-03-05 x", "x 2025-03-05", "today", "", "(2025-03-05)", "2025-03-05.",
        "Mar 2025",
    ] {
        assert_eq!(parse_day(text), None, "{text}");
    }
    assert_eq!(find_numeric_day("qp-x1-2025-03-05-standup"), Some(date("2025-03-05")));
    assert_eq!(find_numeric_day("no 2025-02-30 here"), None);
}
