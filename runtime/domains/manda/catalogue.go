package manda

import (
	"embed"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
)

// All that answers say stands in one file per language; the head of the English one
// explains the form. What documents say stays in their own language.
//
//go:embed answers/*.txt
var answersFiles embed.FS

// catalogues holds the sentences of each language by key, each with its forms.
var catalogues = sync.OnceValue(func() []map[string][]string {
	var all []map[string][]string
	for _, l := range values.Languages() {
		sentences := map[string][]string{}
		values.Lines(answersFiles, "answers/"+l.String()+".txt", "  ", func(key, text string) {
			if quoted, err := strconv.Unquote(text); err == nil {
				text = quoted
			}
			sentences[key] = strings.Split(values.Typeset(l, text), " | ")
		})
		for _, m := range lexicon() {
			sentences["metric "+m.name] = strings.Split(values.Typeset(l, m.called[l]), "; ")
		}
		all = append(all, sentences)
	}
	return all
})

// The forms of a sentence, of a metric and of a period.
const (
	one, many, nameless    = 0, 1, 2
	label, subject, plural = 0, 1, 2
	adverbial, atEnd       = 1, 2 // of a period, besides its label
)

// A tongue is the language of an answer.
type tongue values.Language

// form returns one form of a sentence, and whether the catalogue has the sentence.
func (t tongue) form(n int, key string) (string, bool) {
	forms := catalogues()[t][key]
	if forms == nil {
		forms = catalogues()[values.English][key]
	}
	if len(forms) == 0 {
		return "", false
	}
	if n >= len(forms) {
		n = 0
	}
	return forms[n], true
}

// Says returns all sentences of a language, one per line.
func Says(l values.Language) string {
	var all strings.Builder
	for _, forms := range catalogues()[l] {
		all.WriteString(strings.Join(forms, " ") + "\n")
	}
	return all.String()
}

// spelt holds the words of each language of answers.
var spelt = sync.OnceValue(func() []map[string]bool {
	var all []map[string]bool
	for _, l := range values.Languages() {
		known := map[string]bool{}
		for w := range strings.FieldsSeq(plainly(Says(l))) {
			known[w] = true
		}
		all = append(all, known)
	}
	return all
})

// languages returns the languages that a question may be in, by its small words and, if they leave
// several, by the words that answers have. Periods do not count, because Mars is a name too.
func languages(text string) []values.Language {
	for _, p := range slices.Backward(periods(text)) {
		text = text[:p.at] + " " + text[p.end:]
	}
	var best []values.Language
	most := 0
	for _, l := range values.Detect(text) {
		n := 0
		for w := range strings.FieldsSeq(plainly(text)) {
			if spelt()[l][w] {
				n++
			}
		}
		if n > most {
			best, most = nil, n
		}
		if n == most {
			best = append(best, l)
		}
	}
	return best
}

// text returns a sentence. places are names and values in turn; the first value of a name counts.
func (t tongue) text(key string, places ...string) string { return t.said(one, key, places) }

// said returns one form of a sentence. The value of a place whose name begins with a capital gets
// one.
func (t tongue) said(n int, key string, places []string) string {
	text, _ := t.form(n, key)
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		var name string
		name, text, _ = strings.Cut(rest, "}")
		low := strings.ToLower(name)
		for i := 0; i+1 < len(places); i += 2 {
			if places[i] != low {
				continue
			}
			if low != name {
				b.WriteString(capital(places[i+1]))
			} else {
				b.WriteString(places[i+1])
			}
			break
		}
	}
}

// counted returns the form of a sentence for a number of things. The sentence may state the number.
func (t tongue) counted(n int, key string, places ...string) string {
	form := many
	if n == 1 {
		form = one
	}
	return t.said(form, key, append(places, "count", strconv.Itoa(n)))
}

// word returns the name of a thing of a kind, such as a domain or a priority. A thing that is not in
// the catalogue keeps its own name.
func (t tongue) word(kind, name string) string {
	if said, ok := t.form(label, kind+" "+name); ok {
		return said
	}
	return name
}

// called returns the name of a metric, of a part of the company or of the whole.
func (t tongue) called(metric, part string) string {
	return t.withPart(t.word("metric", metric), part)
}

func (t tongue) withPart(what, part string) string {
	if part == "" {
		return what
	}
	return t.text("of-part", "what", what, "part", capital(part))
}

// day writes the day of a document.
func (t tongue) day(at time.Time) string {
	return values.SayDate(stores.DateOf(at), values.Language(t))
}

// period writes a period; "" if its year is not known.
func (t tongue) period(p Period, form int) string {
	if p.String() == "" {
		return ""
	}
	return t.yearless(p, form)
}

// yearless writes a period, whether or not its year is known.
func (t tongue) yearless(p Period, form int) string {
	if p.String() == "FY"+strconv.Itoa(p.Year) {
		p = Period{Kind: 'Y', Year: p.Year}
	}
	year, n := "", strconv.Itoa(p.N)
	nth := func(key string) string { of, _ := t.form(p.N-1, key); return of }
	if p.Year != 0 {
		year = strconv.Itoa(p.Year)
	}
	places := []string{"year", year, "n", n}
	switch p.Kind {
	case 'H', 'Q':
		places = append(places, "nth", nth("nth"))
	case 'M', 'T':
		places = append(places, "month", nth("month"), "mm", fmt.Sprintf("%02d", p.N))
	case 'D':
		places = append(places, "date", t.day(time.Date(p.Year, time.Month(p.N), p.Day, 0, 0, 0, 0, time.UTC)), "iso", p.String())
	}
	return strings.TrimSpace(t.said(form, "period "+string(p.Kind), places))
}

// at writes the period of a fact. A period in another stored form is written as it is.
func (t tongue) at(f *Fact, form int) string {
	if p := parsePeriod(f.Period); p.String() == f.Period {
		return t.period(p, form)
	}
	return f.Period
}

// value writes the figure of a fact.
func (t tongue) value(f *Fact) string { return t.show(f.Value, f.Unit) }

// source writes a document and a place in it.
func (t tongue) source(document, place string) string {
	if place == "" {
		return t.text("source", "document", document)
	}
	return t.text("source-place", "document", document, "place", place)
}

// stated cites the source of a fact. If somebody corrected the fact, it also gives the value in the
// source.
func (t tongue) stated(f *Fact) string {
	if f.Corrected {
		return t.text("source-corrected", "text", f.Text, "document", f.Document, "place", f.Place)
	}
	if f.Scaled != "" {
		return t.text("source-scaled", "document", f.Document, "place", f.Place, "other", f.Scaled)
	}
	return t.source(f.Document, f.Place)
}

// about writes a sentence about a fact, in the form that suits its metric. Further places come
// before those of the fact.
func (t tongue) about(f *Fact, key string, places ...string) string {
	the, named := t.form(subject, "metric "+f.Metric)
	form := nameless
	if named {
		form = one
		if n, _ := t.form(plural, "metric "+f.Metric); n == "many" {
			form = many
		}
	} else {
		the = f.Metric
	}
	adverb := adverbial
	if m := lexicon()[f.Metric]; m != nil && m.stock {
		adverb = atEnd
	}
	text := t.said(form, key, append(places,
		"metric", t.called(f.Metric, f.Subject), "metric.the", t.withPart(the, f.Subject),
		"period", t.at(f, label), "period.in", t.at(f, adverb),
		"value", t.value(f), "document", f.Document))
	if f.Period == "" { // nothing stands in its place
		text = strings.TrimLeft(strings.NewReplacer(", :", ":", " :", ":").Replace(text), ", ")
	}
	return text
}

// show writes a figure as people read it: €5.2m, 42.5 %, 240; 5,2 Mio. €.
func (t tongue) show(v *big.Rat, unit string) string {
	if unit == "%" || unit == "pp" {
		return t.text("amount "+unit, "n", t.number(shown(v), false))
	}
	sign, ok := "", unit == ""
	if !ok {
		if sign, ok = t.form(label, "sign "+unit); !ok {
			sign = t.text("sign", "code", unit)
		}
	}
	minus := ""
	if v.Sign() < 0 {
		minus, v = "-", new(big.Rat).Neg(v)
	}
	amount := func(key, n string) string {
		return strings.TrimSpace(t.text(key, "minus", minus, "sign", sign, "n", n))
	}
	for _, by := range []struct {
		n     int64
		key   string
		exact int64 // the digits that are cut off must be zero
	}{{1_000_000_000, "amount bn", 1_000_000}, {1_000_000, "amount m", 1_000}, {1_000, "amount k", 1_000}} {
		if unit == "" || v.Cmp(big.NewRat(by.n, 1)) < 0 || by.n == 1_000 && v.Cmp(big.NewRat(10_000, 1)) < 0 {
			continue
		}
		if new(big.Rat).Quo(v, big.NewRat(by.exact, 1)).IsInt() {
			return amount(by.key, t.number(shown(new(big.Rat).Quo(v, big.NewRat(by.n, 1))), false))
		}
	}
	return amount("amount", t.number(shown(v), true))
}

// number puts the marks of the language into a number.
func (t tongue) number(s string, grouped bool) string {
	whole, rest, fraction := strings.Cut(s, ".")
	for i := len(whole) - 3; grouped && i > 0; i -= 3 {
		whole = whole[:i] + t.text("thousands") + whole[i:]
	}
	if fraction {
		return whole + t.text("decimal") + rest
	}
	return whole
}

// change says how far a figure is from another: exactly, and in percent of the other with
// one decimal. Of percentages it is percentage points.
func (t tongue) change(from, to *big.Rat, unit string) string {
	difference := new(big.Rat).Sub(to, from)
	plus := ""
	if difference.Sign() >= 0 {
		plus = "+"
	}
	if unit == "%" {
		return plus + t.show(difference, "pp")
	}
	text := plus + t.show(difference, unit)
	if from.Sign() != 0 {
		percent := new(big.Rat).Quo(difference, new(big.Rat).Abs(from))
		n := strings.TrimSuffix(percent.Mul(percent, big.NewRat(100, 1)).FloatString(1), ".0")
		text += " (" + plus + t.text("amount %", "n", t.number(n, false)) + ")"
	}
	return text
}

func capital(s string) string {
	if s == "" {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
