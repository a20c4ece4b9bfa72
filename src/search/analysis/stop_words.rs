//! Stop words of the most frequent languages: articles, pronouns, prepositions, auxiliaries and question words.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use super::english;
use crate::note::Language;

const FRENCH: &str = "\
    le la les un une des du de d l au aux et ou où mais donc or ni car ce cet cette ces mon ma mes ton ta tes son sa \
    ses notre nos votre vos leur leurs je tu il elle on nous vous ils elles me te se moi toi lui y en que qu qui quoi \
    quel quelle quels quelles dont quand comment pourquoi est sont être était suis es sommes êtes avoir a ai as \
    avons avez ont avait fait faire peut dans par pour sur sous avec sans entre vers chez ne pas plus si";
const GERMAN: &str = "\
    der die das den dem des ein eine einen einem einer eines und oder aber ich du er sie es wir ihr mich dich sich uns \
    euch mir dir ihm ihn ihnen mein dein sein unser euer wer was wann wo wie warum wieso weshalb wohin woher welche \
    welcher welches welchen ist sind war waren bin bist wird werden wurde wurden hat haben hatte hatten kann können \
    muss müssen soll sollen will wollen darf nicht kein keine in im an am auf aus bei mit nach seit von vom vor zu zum \
    zur für durch gegen ohne um über unter zwischen dass ob wenn als auch noch nur so";
const SPANISH: &str = "\
    el la los las un una unos unas y o pero de del al a en con por para sin sobre entre que qué quien quién cuando \
    cuándo donde dónde como cómo cuál cuáles porque yo tú él ella nosotros ellos ellas me te se le les lo mi mis tu tus \
    su sus nuestro este esta estos estas ese esa es son era fue ser está están estar ha han haber hay no si más";
const ITALIAN: &str = "\
    il lo la i gli le un uno una e o ma di del della dei delle da dal in nel nella con su sul per tra fra che chi cosa \
    come quando dove perché quale quali io tu lui lei noi voi loro mi ti si ci vi mio tuo suo nostro questo questa è \
    sono era ha hanno avere essere non se più al alla";
const PORTUGUESE: &str = "\
    o a os as um uma uns umas e ou mas de do da dos das em no na nos nas por para com sem sobre entre que quem quando \
    onde como qual quais porque eu tu ele ela nós eles elas me te se lhe meu minha seu sua este esta esse essa é são era \
    foi ser está estão estar há não mais ao à";
const DUTCH: &str = "\
    de het een en of maar ik jij je hij zij ze wij we jullie hun hem haar mij mijn jouw zijn ons onze wie wat wanneer \
    waar hoe waarom welke welk is ben bent was waren worden wordt werd heeft hebben had kan kunnen moet moeten zal \
    zullen wil niet geen in op aan uit bij met naar van voor door over onder tussen om te dat die dit deze als ook nog";
const SWEDISH: &str = "\
    en ett den det de och eller men jag du han hon vi ni mig dig sig oss er min din sin vår vem vad när var hur varför \
    vilken vilket vilka är vara har hade ha kan ska skall vill blir blev inte ingen i på av till från med för om under \
    över mellan att som också";

/// The stop words of a language: words that occur in texts whatever these are about.
#[derive(Debug)]
pub struct StopWords(HashSet<&'static str, RandomState>);

impl StopWords {
    /// Returns the stop words of a language; none if it has no list.
    pub fn new(language: Language) -> Self {
        let words = match language {
            Language::English => english::STOP_WORDS,
            Language::French => FRENCH,
            Language::German => GERMAN,
            Language::Spanish => SPANISH,
            Language::Italian => ITALIAN,
            Language::Portuguese => PORTUGUESE,
            Language::Dutch => DUTCH,
            Language::Swedish => SWEDISH,
            _ => "",
        };
        Self(words.split_whitespace().collect())
    }

    /// Returns whether a lower-case word is a stop word.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }
}
