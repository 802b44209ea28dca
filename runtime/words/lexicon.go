package words

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// A lexicon says what the words of a language mean here. An entry may have
// several words: "day after tomorrow".

type class uint8

const (
	none      class = iota
	number          // digits
	mark            // anything that is neither a letter nor a digit
	month           // n is its number
	weekday         // n from 1, a Monday
	weekdayOn       // short for one, where a date or a preposition stands beside it
	cardinal        // a number in words
	ordinal         // "third"
	suffix          // of an ordinal number: "3rd"
	unit            // n is one of the units
	next
	this
	last
	coming    // the very next one
	afterNext // the one after the next
	after     // makes a day the one before what is meant
	ending
	early
	mid
	late
	of     // what stands between the parts of a date and says nothing
	by     // what stands before a day: "by", "on"
	within // "in" three days
	ago    // three days "ago"
	since  // "vor", "il y a", before what is ago
	hence  // three days "from now"
	day    // n days from today
	weekend
	quarterMark // the Q of Q1
	one         // "a" week
	times       // n is the exponent of a thousand, a million
	hundred
	currency
	percent
	minus
	not
	or
	to
	about
	daypart // "morning", after a day
	spoils  // makes what stands before it mean something else
)

// The units.
const (
	days = 1 + iota
	weeks
	months
	quarters
	years
	workingDays
	fortnights
)

type entry struct {
	class class
	n     int16
}

type lexicon struct {
	entries map[string][2]entry // a word may have two meanings
	longest map[string]int      // words of the longest entry that begins with a word
}

var classNames = map[string]class{
	"month": month, "weekday": weekday, "weekdayon": weekdayOn, "ordinal": ordinal, "suffix": suffix, "unit": unit, "next": next, "this": this,
	"last": last, "coming": coming, "afternext": afterNext, "after": after, "end": ending, "early": early, "mid": mid, "late": late, "of": of, "by": by, "within": within,
	"ago": ago, "since": since, "hence": hence, "day": day, "weekend": weekend, "q": quarterMark, "one": one, "times": times,
	"hundred": hundred, "percent": percent, "minus": minus, "not": not, "or": or, "to": to, "about": about, "daypart": daypart, "spoils": spoils,
	"cardinal": cardinal,
}

// lexicons are read when they are first needed.
var lexicons = [...]func() *lexicon{
	sync.OnceValue(func() *lexicon { return readLexicon(English, englishWords) }),
	sync.OnceValue(func() *lexicon { return readLexicon(German, germanWords) }),
	sync.OnceValue(func() *lexicon { return readLexicon(French, frenchWords) }),
	sync.OnceValue(func() *lexicon { return readLexicon(Spanish, spanishWords) }),
}

// readLexicon reads lines of a class, an optional number, and words divided by
// commas.
func readLexicon(l Language, text string) *lexicon {
	x := &lexicon{entries: make(map[string][2]entry, 600), longest: make(map[string]int, 500)}
	for line := range strings.Lines(text) {
		head, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		name, n, numbered := strings.Cut(head, " ")
		e := entry{class: classNames[name]}
		if numbered {
			v, err := strconv.Atoi(n)
			if err != nil {
				panic(fmt.Sprintf("words: the lexicon of %s has %q", l, line))
			}
			e.n = int16(v)
		}
		for w := range strings.SplitSeq(list, ",") {
			x.add(strings.TrimSpace(w), e)
		}
	}
	for n, w := range cardinals(l) {
		x.add(w, entry{cardinal, int16(n)})
	}
	for n, all := range ordinals(l) {
		for _, w := range all {
			x.add(w, entry{ordinal, int16(n)})
		}
	}
	for i, c := range currencies {
		for _, w := range c.names[l] {
			x.add(w, entry{currency, int16(i)})
		}
	}
	return x
}

func (x *lexicon) add(w string, e entry) {
	if e.class == none || w == "" {
		panic("words: a lexicon has a line without a class: " + w)
	}
	all := x.entries[w]
	switch {
	case all[0] == e || all[1] == e:
		return
	case all[0].class == none:
		all[0] = e
	case all[1].class == none:
		all[1] = e
	default:
		panic("words: a lexicon gives a word three meanings: " + w)
	}
	x.entries[w] = all
	first, _, _ := strings.Cut(w, " ")
	x.longest[first] = max(x.longest[first], 1+strings.Count(w, " "))
}

const englishWords = `
month 1: january, jan
month 2: february, feb
month 3: march, mar
month 4: april, apr
month 5: may
month 6: june, jun
month 7: july, jul
month 8: august, aug
month 9: september, sept, sep
month 10: october, oct
month 11: november, nov
month 12: december, dec
weekday 1: monday
weekday 2: tuesday
weekday 3: wednesday
weekday 4: thursday
weekday 5: friday
weekday 6: saturday
weekday 7: sunday
weekdayon 1: mon
weekdayon 2: tue, tues
weekdayon 3: wed
weekdayon 4: thu, thur, thurs
weekdayon 5: fri
weekdayon 6: sat
weekdayon 7: sun
suffix: st, nd, rd, th
unit 1: day, days
unit 2: week, weeks
unit 3: month, months
unit 4: quarter, quarters
unit 5: year, years
unit 6: working day, working days, business day, business days, workday, workdays
unit 7: fortnight, fortnights
next: next
this: this
last: last, past, previous
coming: coming, upcoming
end: end, the end
end 3: month end, month s end
end 4: quarter end, quarter s end
end 5: year end, year s end
early: early, beginning, start, the beginning, the start
mid: mid, middle, the middle
late: late
of: of, the, of the
by: by, on, until, till, before, for, at, no later than, from
within: in, within
ago: ago
hence: from now, from today, s time, time
day 0: today, tonight, this morning, this afternoon, this evening
day 1: tomorrow
day 2: the day after tomorrow, day after tomorrow
day -1: yesterday
day -2: the day before yesterday, day before yesterday
weekend: weekend, week end
daypart: morning, afternoon, evening, night, noon, at noon
q: q
afternext: after next
after: after, following
one: a, an
times 3: thousand, k, grand
times 6: million, millions, m, mn, mio, mln, mill
times 9: billion, billions, bn, milliard, milliards
times 12: trillion, trillions, tn
times 5: lakh, lakhs
times 7: crore, crores
hundred: hundred
percent: percent, per cent, pct
minus: minus
not: not, never, except, don t, won t, not by, not on, not before
or: or
to: to, through, thru
about: about, around, roughly, approximately
spoils: or so, or later, or earlier, or after, or thereabouts, ish, eve, mm
`

const germanWords = `
month 1: januar, janner, jaenner, jan
month 2: februar, feber, feb
month 3: marz, maerz, mrz
month 4: april, apr
month 5: mai
month 6: juni, jun
month 7: juli, jul
month 8: august, aug
month 9: september, sept, sep
month 10: oktober, okt
month 11: november, nov
month 12: dezember, dez
weekday 1: montag
weekday 2: dienstag
weekday 3: mittwoch
weekday 4: donnerstag
weekday 5: freitag
weekday 6: samstag, sonnabend
weekday 7: sonntag
unit 1: tag, tage, tagen
unit 2: woche, wochen
unit 3: monat, monate, monaten, monats
unit 4: quartal, quartale, quartalen, quartals
unit 5: jahr, jahre, jahren, jahres
unit 6: arbeitstag, arbeitstage, arbeitstagen
next: nachste, nachsten, nachster, nachstes, nachstem, naechste, naechsten, naechster, naechstes, naechstem
this: diese, diesen, dieser, dieses, diesem
last: letzte, letzten, letzter, letztes, vergangene, vergangenen, vergangener, vergangenes, vorige, vorigen, voriger, voriges
coming: kommende, kommenden, kommender, kommendes, kommendem
afternext: ubernachste, ubernachsten, ubernachster, ubernachstes, uebernaechste, uebernaechsten, uebernaechster, uebernaechstes
end: ende, das ende
early: anfang, beginn
mid: mitte
of: der, des, den, dem, die, das
by: am, im, vom, bis, bis zum, bis zur, zum, zur, vor dem, vor, spatestens, spatestens am, spaetestens, ab, ab dem, fur, fuer
within: in, binnen, innerhalb von
since: vor
hence: ab heute
day 0: heute, heut, heute morgen, heute fruh, heute abend, heute nachmittag, heute mittag, heute vormittag, heute nacht
day 1: morgen
day 2: ubermorgen, uebermorgen
day -1: gestern
day -2: vorgestern
weekend: wochenende
end 2: wochenschluss
end 3: monatsende
end 4: quartalsende
end 5: jahresende
daypart: fruh, frueh, vormittag, mittag, nachmittag, abend
q: q
one: ein, eine, einen, einem, einer, eines
times 3: tausend, tsd, k
times 6: million, millionen, mio, mill, m
times 9: milliarde, milliarden, mrd, mia
times 12: billion, billionen, bio
hundred: hundert
percent: prozent, v h
minus: minus
not: nicht, nie, ausser, kein, keine, keinen, nicht am, nicht bis, nicht vor
or: oder
to: bis
about: ca, circa, etwa, ungefahr, rund
spoils: oder so, oder spater, oder danach, werktag, werktage, werktagen
after: nach, nach dem, nachdem, der tag nach, am tag nach
`

const frenchWords = `
month 1: janvier, janv
month 2: fevrier, fevr, fev
month 3: mars
month 4: avril, avr
month 5: mai
month 6: juin
month 7: juillet, juil
month 8: aout
month 9: septembre, sept
month 10: octobre, oct
month 11: novembre, nov
month 12: decembre, dec
weekday 1: lundi
weekday 2: mardi
weekday 3: mercredi
weekday 4: jeudi
weekday 5: vendredi
weekday 6: samedi
weekday 7: dimanche
suffix: er, e, eme, ere
unit 1: jour, jours
unit 2: semaine, semaines
unit 3: mois
unit 4: trimestre, trimestres
unit 5: an, ans, annee, annees
unit 6: jour ouvre, jours ouvres
next: prochain, prochaine, prochains, prochaines
this: ce, cet, cette
last: dernier, derniere, passe, passee, derniers, dernieres
coming: qui vient, a venir
end: fin, la fin, a la fin
early: debut, le debut
mid: mi, milieu, le milieu
of: de, du, des, d, la, le, l, les, de la, de l
by: avant, avant le, le, au, pour, pour le, d ici, d ici a, d ici au, jusqu au, jusqu a, au plus tard, au plus tard le, a, depuis le, des le
within: dans, sous, en, d ici
since: il y a
hence: a partir d aujourd hui
day 0: aujourd hui, ce soir, ce matin, cet apres midi
day 1: demain
day 2: apres demain
day -1: hier
day -2: avant hier
weekend: week end, weekend
daypart: matin, soir, apres midi, midi
q: q, t
one: un, une
times 3: mille, k, milliers
times 6: million, millions, mio, m, mn
times 9: milliard, milliards, mrd, md, mds
times 12: billion, billions
hundred: cent, cents
percent: pour cent, pourcent, pourcents
minus: moins
not: pas, jamais, sauf, pas le, pas avant, pas avant le, pas pour
or: ou
to: au, a
about: environ, vers
spoils: ou plus tard, jours ouvrables, jour ouvrable, ou apres
after: apres, apres le, le lendemain de
`

const spanishWords = `
month 1: enero, ene
month 2: febrero, feb
month 3: marzo
month 4: abril, abr
month 5: mayo
month 6: junio, jun
month 7: julio, jul
month 8: agosto, ago
month 9: septiembre, setiembre, sept, sep
month 10: octubre, oct
month 11: noviembre, nov
month 12: diciembre, dic
weekday 1: lunes
weekday 2: martes
weekday 3: miercoles
weekday 4: jueves
weekday 5: viernes
weekday 6: sabado
weekday 7: domingo
suffix: º, o, ª
unit 1: dia, dias
unit 2: semana, semanas
unit 3: mes, meses
unit 4: trimestre, trimestres
unit 5: ano, anos
next: proximo, proxima, proximos, proximas
this: este, esta
last: pasado, pasada, ultimo, ultima
coming: que viene, que entra, siguiente
end: fin, final, a fin, el fin, al final, el final, a final
early: principios, a principios, comienzos, a comienzos, inicios, a inicios
mid: mediados, a mediados
late: finales, a finales, fines, a fines
of: de, del, la, el, los, las, de la, lo
by: el, al, antes de, antes del, para, para el, hasta, hasta el, a mas tardar, a mas tardar el, desde el, por
within: en, dentro de, en el plazo de
since: hace
hence: a partir de hoy
day 0: hoy, esta manana, esta tarde, esta noche
day 1: manana
day 2: pasado manana
day -1: ayer
day -2: anteayer, antes de ayer
weekend: fin de semana, el fin de semana
daypart: por la manana, por la tarde, por la noche
q: q, t
one: un, una
times 3: mil, k
times 6: millon, millones, mio, m, mill, mm
times 9: mil millones, milmillones, millardo, millardos
times 12: billon, billones
hundred: cien, ciento, cientos
percent: por ciento, porciento
minus: menos
not: no, nunca, excepto, no el, no antes del, no para el
or: o, u
to: al, a, hasta
about: unos, unas, aproximadamente, cerca de
spoils: o asi, o mas tarde, o despues, dias habiles, dia habil, dias laborables, dia laborable
after: despues de, despues del, tras, tras el
`
