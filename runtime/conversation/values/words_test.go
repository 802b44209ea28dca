package values

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"verbatim/stores"
)

// The example of the package's comment.
func ExampleFind() {
	in := In{Now: time.Date(2024, 12, 27, 9, 14, 0, 0, time.UTC), Languages: []Language{English}}
	all, _ := Find("Should have them next week.", in)
	fmt.Println(all[0].Text(), all[0].Kind, SayDay(all[0].Value, English))

	all, _ = Find("She was born on 03/04/1972", in)
	fmt.Println(all[0].Ask(English))
	// Output:
	// 2025-01-03 vague Friday 3 January 2025
	// Is that 3 April 1972 or 4 March 1972?
}

// A date that was said in words is the same date when it is read. (U46)
func TestADateSaidIsReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		day := rapid.Int64Range(dayOf(1000, 1, 1), dayOf(2999, 12, 31)).Draw(t, "day")
		l := rapid.SampledFrom(Languages()[:]).Draw(t, "language")
		in := In{Now: now, Languages: []Language{l}}
		v := dateValue(day)
		for _, text := range []string{SayDate(v, l), SayDay(v, l), strings.ToUpper(SayDate(v, l)), "(" + SayDate(v, l) + ").", v.Text()} {
			all, _ := Find(text, in)
			if len(all) != 1 || !all[0].Known() || all[0].Value != v || all[0].Kind != Exact {
				t.Fatalf("%q is read as %+v, not %s", text, all, v.Text())
			}
		}
		// In a language that nobody told, it is that date or nothing is certain.
		all, _ := Find(SayDate(v, l), In{Now: now})
		for i := range all {
			if all[i].What == Date && all[i].Known() && all[i].Value != v {
				t.Fatalf("%q is read as %s", SayDate(v, l), all[i].Text())
			}
		}
	})
}

// "er" is a word in German, and hangs on a number in French: the day that is said
// is not the end of its month. (U46)
func TestAFirstOfMayIsNoMonth(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"1er mai 1944": "1944-05-01", "1er juin 2024": "2024-06-01", "Il est né le 1er mai 1944.": "1944-05-01",
		"May 1st, 1944": "1944-05-01", "1. Mai 1944": "1944-05-01"} {
		all, _ := Find(text, In{Now: now})
		if len(all) != 1 || !all[0].Known() || all[0].Value.Text() != want {
			t.Errorf("%q is read as %+v, not %s", text, all, want)
		}
	}
}

// Of two numbers that may each be the day or the month, English guesses neither:
// whatever they are, there is no value. (U46)
func TestAnAmbiguousDateIsNeverGuessed(t *testing.T) {
	t.Parallel()
	for _, sep := range []string{"/", "-", "."} {
		for a := 1; a <= 12; a++ {
			for b := 1; b <= 12; b++ {
				for _, year := range []string{"1972", "72", "2024"} {
					if a == b {
						continue
					}
					text := fmt.Sprintf("%02d%s%02d%s%s", a, sep, b, sep, year)
					for _, in := range []In{{Now: now, Languages: []Language{English}}, {Now: now}} {
						all, _ := Find("Maria was born on "+text, in)
						for i := range all {
							if all[i].Known() {
								t.Fatalf("%s is read as %s", text, all[i].Text())
							}
						}
						if len(all) != 1 || len(all[0].Others) < 2 {
							t.Fatalf("%s gives %+v", text, all)
						}
						for _, held := range []Reading{Birth(now).Hold(all[0]), ahead(now).Hold(all[0])} {
							if Birth(now).Hold(held); held.Known() && year != "2024" && year != "72" {
								t.Fatalf("%s is held as %s", text, held.Text())
							}
						}
						if held := Birth(now).Hold(all[0]); held.Known() {
							t.Fatalf("the birth on %s is guessed to be %s", text, held.Text())
						}
					}
				}
			}
		}
	}
}

// O27: a date of birth is said in full, or asked for. (U46)
func TestADateOfBirthIsNeverGuessed(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want, ask string }{
		{"March 15, 1972", "1972-03-15", ""},
		{"15 March 1872", "", "That would make an age of 152. Please check the year."},
		{"1850-01-01", "", "That would make an age of 174. Please check the year."},
		{"1 January 2025", "", "That day is still to come. Please check the year."},
		{"27 December 2024", "2024-12-27", ""},
		{"28 December 2024", "", "That day is still to come. Please check the year."},
		{"27 December 1901", "1901-12-27", ""},
		{"26 December 1900", "", "That would make an age of 124. Please check the year."},
		{"1 January 1900", "", "That would make an age of 124. Please check the year."}, // what registers write for unknown
		{"15/3/72", "", "Is that 15 March 1972?"},
		{"15/3/05", "", "Is that 15 March 1905 or 15 March 2005?"},
		{"15 March '72", "", "Is that 15 March 1972?"},
		{"Wednesday, 15 March '72", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"15 March", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"3/4/72", "", "Is that 3 April 1972 or 4 March 1972?"},
		{"03/04/1972", "", "Is that 3 April 1972 or 4 March 1972?"},
		{"03/12/2024", "", "Is that 3 December 2024 or 12 March 2024?"},
		{"12/28/2024", "", "That day is still to come. Please check the year."},
		{"March 1972", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"in 1972", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"yesterday", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"last Friday", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"last week", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"end of 1972", "", "Please say the day, the month and the year, with all four digits of the year."},
		{"30 February 1972", "", "There is no such day in the calendar. Please check the date."},
		{"Friday, 15 March 1972", "", "That date is not a Friday. Which of the two is right?"},
		{"Wednesday, 15 March 1972", "1972-03-15", ""},
		{"15\u200b March 1972", "", "There are characters in it that cannot be seen. Please type it again."},
	}
	for _, c := range cases {
		all, _ := Find(c.text, In{Now: now, Languages: []Language{English}})
		if len(all) != 1 {
			t.Errorf("%q: %d readings", c.text, len(all))
			continue
		}
		r := Birth(now).Hold(all[0])
		if r.Text() != c.want || r.Ask(English) != c.ask {
			t.Errorf("%q: %q, and asks %q\nwant %q and %q", c.text, r.Text(), r.Ask(English), c.want, c.ask)
		}
	}
}

// O28: a day that is expected lies ahead, and what may mean a day that does and one
// that does not means the one that does.
func TestADayAhead(t *testing.T) {
	t.Parallel()
	cases := []struct{ text, want, ask string }{
		{"next week", "2025-01-03", ""},
		{"yesterday", "", "That is too early. Please check the date."},
		{"this Thursday", "2025-01-02", ""},
		{"Friday", "", "Is that Friday 27 December 2024 or Friday 3 January 2025?"},
		{"3/1/25", "", "Is that 3 January 2025 or 1 March 2025?"},
		{"31/1/25", "2025-01-31", ""},
		{"in 900 months", "", "That is too late. Please check the date."},
	}
	for _, c := range cases {
		all, _ := Find(c.text, In{Now: now, Languages: []Language{English}})
		if len(all) != 1 {
			t.Errorf("%q: %d readings", c.text, len(all))
			continue
		}
		r := ahead(now).Hold(all[0])
		if r.Text() != c.want || r.Ask(English) != c.ask {
			t.Errorf("%q: %q, and asks %q", c.text, r.Text(), r.Ask(English))
		}
	}
}

// Days are counted in the person's zone: where it is still Thursday, tomorrow is
// another day than where it is Friday.
func TestDaysAreThoseOfThePersonsZone(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 12, 27, 3, 0, 0, 0, time.UTC)
	for zone, want := range map[int]string{0: "2024-12-28", -8: "2024-12-27", 13: "2024-12-28", 22: "2024-12-29"} {
		all, _ := Find("tomorrow", In{Now: at.In(time.FixedZone("", zone*3600)), Languages: []Language{English}})
		if got := all[0].Text(); got != want {
			t.Errorf("at UTC%+d tomorrow is %s, not %s", zone, got, want)
		}
	}
}

// What somebody cannot see is never part of a value: with a character that is
// invisible, or turns the order round, at any place of a text, no reading that it
// stands in has a value. (SAFE-S3)
func TestHiddenCharactersMakeNoValue(t *testing.T) {
	t.Parallel()
	in := In{Now: now, Languages: []Language{English}}
	for _, text := range []string{"March 15, 1972", "1972-03-15", "€1,234.56", "25%", "tomorrow", "LU28 0019 4006 4475 0000", "a.b@example.com", "+49 151 555 0199"} {
		plain, _ := Find(text, in)
		if len(plain) != 1 || !plain[0].Known() {
			t.Fatalf("%q is read as %+v", text, plain)
		}
		for _, hidden := range []string{"\u200b", "\u202e", "\u2066", "\u00ad", "\ufeff", "\x00", "\u0336", "\u20dd", "\U000e0041", "\ufe0f", "\u061c"} {
			for at := 1; at < len(text); at++ {
				if !utf8.RuneStart(text[at]) {
					continue
				}
				all, _ := Find(text[:at]+hidden+text[at:], in)
				for i := range all {
					if all[i].Known() && all[i].Range.Start < at && all[i].Range.End > at {
						t.Errorf("%q with %U at %d is read as %s %s", text, []rune(hidden)[0], at, all[i].What, all[i].Text())
					}
				}
			}
		}
	}
	all, _ := Find("\u202e2791 hcraM 51\u202c and 15 March 1972", in)
	for i := range all {
		if all[i].Known() {
			t.Errorf("what is shown in another order is read as %s", all[i].Text())
		}
	}
	// Wide digits are digits; others are none.
	if all, _ := Find("１９７２-０３-１５", in); len(all) != 1 || all[0].Text() != "1972-03-15" {
		t.Errorf("wide digits are read as %+v", all)
	}
	for _, text := range []string{"١٥ March ١٩٧٢", "𝟏𝟓 March 1972", "15 Μarch 1972", "①⑤ March 1972"} {
		all, _ := Find(text, in)
		for i := range all {
			if all[i].What == Date && all[i].Known() && all[i].Kind == Exact {
				t.Errorf("%q is read as %s", text, all[i].Text())
			}
		}
	}
}

// A text of a megabyte is read whatever it holds, and gives no more readings
// than are promised. Nothing is looked at from more than a few places: were it
// not so, this would not end.
func TestLongTexts(t *testing.T) {
	t.Parallel()
	in := In{Now: now}
	for i, unit := range []string{"€", "aa@", "12-", "1 ", "a", "in ", "1.", "1,", "next ", "twenty ", "or ", "'", "Friday or ", "\u0301", "+4", "LU28 ", "the day after ", "Antigua & ", "not ", "2 000 ", "\u202e"} {
		size := 1 << 17
		if i < 3 {
			size = 1 << 20
		}
		text := strings.Repeat(unit, size/len(unit))
		if all, _ := Find(text, in); len(all) > MaxReadings {
			t.Errorf("%q: %d readings", unit, len(all))
		}
		if got := ReadAnswer(text); got != (Reply{}) {
			t.Errorf("%q is %s", unit, got.Answer)
		}
		if all, more := Split(text, 100); len(all) > 100 || len(all) == 100 && !more {
			t.Errorf("%q: %d words", unit, len(all))
		}
	}
}

// Answers to a question that wants a yes or a no. (SAFE-C7)
func TestAnswers(t *testing.T) {
	t.Parallel()
	cases := map[Answer][]string{
		Agree: {
			"yes", "Yes.", "YES!", "yes please", "yes, do it now", "ok", "Yes, that's right", "Yes, perfect", "go ahead", "sure", "ok, go ahead please", "ok, danke",
			"ja", "Ja, bitte", "in Ordnung", "Ja, machen Sie das", "einverstanden", "oui", "Oui, merci", "d'accord", "D’accord !", "c'est bon", "sí", "Sí, por favor", "de acuerdo", "vale", "adelante", "¡Sí!", "👍", "👍🏽", "✅",
		},
		Pleased: {
			"Perfect", "perfect, thanks", "sounds good", "that works", "👌", "Great.", "passt", "Sehr gut, danke", "parfait", "très bien", "ça marche", "perfecto", "muy bien",
		},
		Decline: {
			"no", "No.", "no thanks", "not ok", "never mind", "cancel", "don't", "do not do it", "forget it", "not now", "no, leave it", "👎",
			"nein", "Nein danke", "abbrechen", "nicht ok", "auf keinen Fall", "vergiss es", "non", "non merci", "annulez", "laissez tomber", "pas maintenant", "no, gracias", "cancela", "olvídalo", "mejor no",
		},
		Change: {
			"no wait, make it Friday", "yes but not today", "actually Thursday", "Monday instead", "no, change it to 5", "yes no", "ja nein", "no, perfect", "not yet", "no idea", "not yes", "yes if the bank agrees", "ja, wenn es sein muss",
			"lieber Freitag", "nein, doch lieber am Montag", "plutôt vendredi", "oui mais lundi", "mejor el viernes", "sí, pero el lunes",
		},
		Other: {
			"", "yes?", "\"yes\"", "> yes", "did you say yes", "what?", "what is missing?", "I said yes to Thomas", "ye\u200bs", "say yes", "oui ?", "¿sí?", "the weather is perfect", "y\u202ees", "„ja“", "`yes`", "yes...or maybe", "*yes*", "perfect?",
			"make it Friday", "y", "(yes)", "ye s", strings.Repeat("yes ", 200), "1", "the second one",
		},
	}
	for want, texts := range cases {
		for _, text := range texts {
			if got := ReadAnswer(text); got.Answer != want {
				t.Errorf("%q is %s, not %s", text, got.Answer, want)
			}
		}
	}
	for text, want := range map[string]int{"yes, the second": 2, "no to the first": 1, "the last one": -1, "2.": 2, "ja, die dritte": 3, "the 1st": 1, "1 and 2": 0, "yes to 1 and 2": 0} {
		if got := ReadAnswer(text); got.Which != want {
			t.Errorf("%q is to question %d, not %d", text, got.Which, want)
		}
	}
}

// Whole takes a text for one thing only where it is nothing else.
func TestWhole(t *testing.T) {
	t.Parallel()
	in := In{Now: now, Languages: []Language{English}}
	cases := []struct {
		text string
		what What
		want string
	}{
		{"15 March 1972", Date, "1972-03-15"},
		{"It's the 15th of March 1972, thanks.", Date, "1972-03-15"},
		{"She was born on 15 March 1972", Date, "1972-03-15"},
		{"is it 15 March 1972?", Date, ""},
		{"15 March 1972 or thereabouts", Date, ""},
		{"not 15 March 1972", Date, ""},
		{"15 March 1972 and 16 March 1972", Date, ""},
		{"DE", Country, `"DE"`},
		{"de", Country, `"DE"`},
		{"France", Country, `"FR"`},
		{"IT department", Country, ""},
		{"3", Integer, "3"},
		{"three", Integer, "3"},
		{"3 or 4", Integer, ""},
		{"€50M", Money, "{:amount 50000000 :currency EUR}"},
		{"3", Decimal, "3"},
	}
	for _, c := range cases {
		r, ok := Whole(c.text, c.what, in)
		if got := r.Text(); got != c.want || ok && c.want == "" && r.Known() {
			t.Errorf("%q is %q, not %q", c.text, got, c.want)
		}
	}
}

// Every question and every assumption has words in every language.
func TestEverythingIsSaidInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, l := range Languages() {
		for p := NoSuchDay; p <= NotWhole; p++ {
			r := Reading{What: Date, Problem: p, Detail: 5}
			if text := r.Ask(l); text == "" || strings.Contains(text, "{}") {
				t.Errorf("%s in %s: %q", p, l, text)
			}
		}
		for i := range assumptionWords {
			if Assumption(1<<i).Say(l) == "" {
				t.Errorf("assumption %d has no words in %s", i, l)
			}
		}
		all, _ := Find("03/04/1972", In{Now: now, Languages: []Language{English}})
		t.Logf("%s", all[0].Ask(l))
	}
	if int(NotWhole) != len(problemNames)-1 {
		t.Errorf("%d problems have %d names", NotWhole, len(problemNames)-1)
	}
}

// No country's name is another's, but for those that people say of two.
func TestCountryNames(t *testing.T) {
	t.Parallel()
	l := countries()
	var shared []string
	for name, codes := range l.names {
		if len(codes) > 1 {
			shared = append(shared, name+" "+strings.Join(codes, " "))
		}
	}
	slices.Sort(shared)
	if got, want := strings.Join(shared, "; "), "congo CD CG; corea KR KP; coree KR KP; kongo CD CG; korea KR KP"; got != want {
		t.Errorf("names of two countries: %s", got)
	}
	if len(l.codes) != 500 {
		t.Errorf("%d codes", len(l.codes))
	}
}

// Whatever is said, nothing panics, readings lie in the text, in order, and a
// value and a problem are never told together.
func FuzzFind(f *testing.F) {
	for _, text := range []string{"March 15, 1972", "in 2-3 weeks, or Friday", "CHF 2'000.–", "am 15. März 1972 oder so", "d’ici la fin de l’année", "１９７２\u200b-0\u0336", "+44 (0)20", "LU28 0019", "1.234,56,7 €"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, in := range []In{{Now: now}, {Now: now, Languages: []Language{English}}, {Now: now, Languages: []Language{German, French, Spanish}}} {
			all, _ := Find(text, in)
			last := 0
			for i := range all {
				r := &all[i]
				if r.Range.Start < last || r.Range.End <= r.Range.Start || r.Range.End > len(text) {
					t.Fatalf("%q: a reading at %v after %d", text, r.Range, last)
				}
				last = r.Range.End
				if !r.Value.IsNull() && (r.Problem != 0 || len(r.Others) > 0) {
					t.Fatalf("%q: %+v has a value and does not", text, r)
				}
				if r.Known() == (r.Ask(English) != "") {
					t.Fatalf("%q: %+v asks %q", text, r, r.Ask(English))
				}
				if r.What == Date && r.Known() && r.Value.Kind() != stores.Date {
					t.Fatalf("%q: a date is %s", text, r.Text())
				}
				Birth(now).Hold(*r)
				ahead(now).Hold(*r)
				r.Ask(German)
			}
			ReadAnswer(text)
			Whole(text, Date, in)
		}
		Split(text, 20)
		Plain(text)
	})
}

// A day and a month as numbers are a day where one is asked for; which of them is the month is asked
// where it is in a whole date, and a date of birth needs its year.
func TestADayThatIsAskedForNeedsNoYear(t *testing.T) {
	t.Parallel()
	in := In{Now: now, Day: true}
	for said, want := range map[string]string{
		"en 31/1": "2025-01-31", "en 1/31": "2025-01-31", "fr le 3/4": "2025-04-03", "de 3.4.": "2025-04-03", "de 3.4": "2025-04-03",
		"en 3/4": "2025-03-04 2025-04-03", "en by 3/4, please": "2025-03-04 2025-04-03",
		"en 3/4 of it": "", "en 1 3/4": "", "en 3/4 weeks": "", "en 3/45": "", "en 13/14": "", "en 3/4/5/6": "", "en 1/2025": "", "en 3-4": "",
	} {
		l, _ := ParseLanguage(said[:2])
		in.Languages = []Language{l}
		var got []string
		found, _ := Find(said[3:], in)
		for _, r := range found {
			if r.What != Date || r.Problem != 0 {
				continue
			}
			for _, c := range r.choices() {
				got = append(got, c.Value.Text())
			}
			if born := Birth(now).Hold(r); born.Problem != NotWhole {
				t.Errorf("%q is a date of birth: %+v", said, born)
			}
		}
		slices.Sort(got)
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q is %q, want %q", said, s, want)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	in := In{Now: now, Languages: []Language{English}}
	b.ReportAllocs()
	for b.Loop() {
		Find("Maria was born March 15, 1972. I have Thomas's passport here.", in)
	}
}

// ahead are the bounds of a day that is to come, in the next ten years.
func ahead(now time.Time) Bounds {
	return Between(stores.DateOf(now), stores.DateOf(now.AddDate(10, 0, 0)))
}
