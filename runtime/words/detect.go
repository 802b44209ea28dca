package words

import (
	"strings"
	"sync"
)

// Small words tell a language soonest.
var smallWords = [...]string{
	English: "the a an is are was were be been i we you he she it they my our your his her their this that these those of to in on at by for with from and or not no yes have has had will would can could should do does did what when where who how please thanks thank still need send sent get got by until next last week month if but as so me us him them here there about",
	German:  "der die das den dem des ein eine einen einem einer ist sind war waren sein bin ich wir du sie er es mein meine unser unsere ihr ihre und oder nicht nein ja haben hat habe hatte wird werden kann konnen was wann wo wer wie bitte danke noch schon bis zum zur am im von vom mit fur auf aus bei nach nachste woche monat wenn aber auch mir uns ihm hier wegen kommt schicken warum wieso welche welcher welches euch jetzt dann denn mal gibt geht muss mussen soll sollen wollen mochte habt seid",
	French:  "le la les un une des de du est sont etait je nous vous il elle ils elles mon ma mes notre nos votre son sa ses et ou ne pas non oui avoir a ai avons avez ont sera serait peut que qui quoi quand comment merci encore avec pour par sur dans chez au aux ce cet cette ces si mais me lui y en jusqu semaine mois prochain prochaine c d l qu s voici voila quel quelle quels quelles pourquoi ca cela tout tous faut dois doit veux voudrais puis peux sommes etes",
	Spanish: "el la los las un una unos unas de del es son era fue soy yo nosotros usted el ella ellos mi mis nuestro nuestra su sus y o no si tener tengo tenemos tiene sera puede que quien cuando donde como gracias todavia con para por sobre en al lo le se me nos este esta estos esas pero hasta semana mes proximo proxima hay necesito enviar viene quiero quieren cual cuales cuanto cuanta necesitan hacen ya mas ha han hemos estan aqui desde cuando donde falta faltan",
}

var smallSets = sync.OnceValue(func() (sets [len(smallWords)]map[string]bool) {
	for l, text := range smallWords {
		sets[l] = map[string]bool{}
		for w := range strings.FieldsSeq(text) {
			sets[l][w] = true
		}
	}
	return sets
})

// Detect says which languages a text is likely to be in, all of them where
// nothing tells.
func Detect(text string) []Language {
	const enough = 4096 // bytes
	if len(text) > enough {
		text = text[:enough]
	}
	score := smallScores(text)
	best := 0
	for _, n := range score {
		best = max(best, n)
	}
	var all []Language
	for l, n := range score {
		if n == best || best > 2 && n >= best-1 || best == 0 {
			all = append(all, Language(l))
		}
	}
	return all
}

// smallScores count the small words of each language in a text, and the words of
// its calendar.
func smallScores(text string) (score [len(smallWords)]int) {
	s := scan{text: text}
	s.divide()
	if strings.ContainsAny(text, "¿¡") {
		score[Spanish] += 2 // no other language begins a sentence so
	}
	for i := range s.tokens {
		t := &s.tokens[i]
		if t.kind != wordToken {
			continue
		}
		w := s.plain[t.from:t.to]
		// What hangs on a number is how an ordinal ends there, and no word: the
		// "er" of "1er mai" is no German pronoun.
		hangs := i > 0 && t.space == noSpace && s.tokens[i-1].kind == numberToken
		for l := range score {
			if hangs {
				if lexicons[l]().entries[string(w)][0].class == suffix {
					score[l] += 2
				}
			} else if smallSets()[l][string(w)] {
				if len(w) > 1 || !trails(text, t) {
					score[l] += 2
				}
			} else if e := lexicons[l]().entries[string(w)][0]; e.class == month || e.class == weekday || e.class == day || e.class == unit || e.class == next {
				score[l]++
			}
		}
	}
	return score
}

// trails reports whether a letter hangs on the word before it, by an apostrophe, as
// that of "Thomas's" does, and begins none, as that of "s'il" does.
func trails(text string, t *token) bool {
	before := text[:t.start]
	return strings.HasSuffix(before, "'") || strings.HasSuffix(before, "’")
}

// fillers are words that say nothing where a single thing was asked for.
var fillers = sync.OnceValue(func() map[string]bool {
	const text = "a am an and are at au aus be bin birth bis bitte bonjour born by c cest danke das date de del den der die dob el elle email en er es est et favor from geboren gracias hallo hello her hi his hola i iban ich ihre il im in is ist it its ja je la las le les los ma meine merci mi mon my naci nacida nacido nacimiento nacio naissance ne nee notre nuestro number on oui our para phone please por pour s sa seine she si sie son su suis svp thank thanks that the they think um und until vielen von vous war ware was were would y yes you geburtsdatum"
	all := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		all[w] = true
	}
	return all
})

// onlyFillers reports whether a text says nothing by itself.
func onlyFillers(text string) bool {
	if len(text) > 200 {
		return false
	}
	s := scan{text: text}
	s.divide()
	for i := range s.tokens {
		switch t := &s.tokens[i]; {
		case t.hidden, t.kind == numberToken:
			return false
		case t.kind == markToken:
			switch t.mark {
			case '?', '+', '-', '<', '>', '"', '“', '”', '„', '«', '»', '=', '~', '/':
				return false
			}
		case !fillers()[string(s.plain[t.from:t.to])]:
			return false
		}
	}
	return true
}
