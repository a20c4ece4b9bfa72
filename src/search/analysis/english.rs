//! English word lists: stop words, irregular forms, and words that name a time.

/// Words that occur in questions and texts whatever these are about.
pub(super) const STOP_WORDS: &str = "\
    a about above after again against all am an and any are as at be because been before being below between both but \
    by can could did do does doing done down during each few for from further get gets getting got had has have having he her \
    here hers herself him himself his how i if in into is it its itself just let may me might more most much must my myself \
    no nor not now of off on once only or other our ours ourselves out over own same shall she should so some such \
    than that the their theirs them themselves then there these they this those through to too under until up \
    very was we were what when where whether which while who whom whose why will with would you your yours yourself \
    yourselves also ever tell know either neither rather etc without within upon via per among along although though \
    however thus hence since therefore yet still quite many us let one eg ie";

/// Irregular forms behind their base forms, without those that are as often another word (`bound`, `better`, `media`).
const IRREGULAR: &str = "\
    go went gone|buy bought|child children|man men|woman women|foot feet|tooth teeth|mouse mice|goose geese|\
    person people persons|eat ate eaten|see saw seen|take took taken|make made|come came|give gave given|find found|\
    think thought|say said|feel felt|leave left|keep kept|begin began begun|run ran|write wrote written|\
    speak spoke spoken|drive drove driven|ride rode ridden|fly flew flown|know knew known|grow grew grown|\
    throw threw thrown|draw drew drawn|show shown|break broke broken|choose chose chosen|wear wore worn|\
    tear tore torn|swim swam swum|sing sang sung|drink drank drunk|ring rang rung|sink sank sunk|win won|\
    lose lost|meet met|sit sat|stand stood|understand understood|hold held|tell told|sell sold|send sent|\
    spend spent|build built|lend lent|bend bent|teach taught|catch caught|bring brought|fight fought|seek sought|\
    sleep slept|sweep swept|deal dealt|mean meant|dream dreamt|learn learnt|hear heard|pay paid|\
    lead led|feed fed|breed bred|fall fell fallen|forget forgot forgotten|hide hid hidden|bite bitten|\
    freeze froze frozen|steal stole stolen|wake woke woken|rise risen|shake shook shaken|become became|\
    hang hung|dig dug|stick stuck|strike struck|swing swung|shoot shot|shine shone|slide slid|\
    blow blew blown|swear swore sworn|\
    life lives|wife wives|knife knives|leaf leaves|half halves|shelf shelves|wolf wolves|\
    analysis analyses|hypothesis hypotheses|index indices|matrix matrices|vertex vertices|axis axes|\
    criterion criteria|phenomenon phenomena|datum data";

/// Words by which a text names a time, beside years.
const TIME_WORDS: &str = "\
    yesterday today tonight tomorrow ago weekend week month year january february march april june july august \
    september october november december monday tuesday wednesday thursday friday saturday sunday";

/// Numbers as words before their digits, without "one", which is more often a pronoun.
const NUMBERS: &str = "\
    two 2|three 3|four 4|five 5|six 6|seven 7|eight 8|nine 9|ten 10|eleven 11|twelve 12|thirteen 13|fourteen 14|\
    fifteen 15|sixteen 16|seventeen 17|eighteen 18|nineteen 19|twenty 20|thirty 30|forty 40|fifty 50|sixty 60|\
    seventy 70|eighty 80|ninety 90|hundred 100|thousand 1000";

/// Returns numbers as words, each with its digits.
pub(crate) fn number_words() -> impl Iterator<Item = (&'static str, &'static str)> {
    NUMBERS.split('|').filter_map(|pair| pair.split_once(' '))
}

/// Returns the irregular forms, each with its base form.
pub(super) fn irregular_forms() -> impl Iterator<Item = (&'static str, &'static str)> {
    IRREGULAR.split('|').flat_map(|group| {
        let mut words = group.split_whitespace();
        let base = words.next().unwrap_or_default();
        words.map(move |form| (form, base))
    })
}

/// Returns the words by which a text names a time.
pub(super) fn time_words() -> impl Iterator<Item = &'static str> {
    TIME_WORDS.split_whitespace()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_contain_only_words() {
        let forms = irregular_forms().flat_map(|(form, base)| [form, base]);
        for word in STOP_WORDS.split_whitespace().chain(time_words()).chain(forms) {
            assert!(word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'\''), "{word}");
        }
        let base = |word: &str| irregular_forms().find(|(form, _)| *form == word).map(|(_, base)| base);
        assert_eq!((base("met"), base("held"), base("indices")), (Some("meet"), Some("hold"), Some("index")));
    }
}
