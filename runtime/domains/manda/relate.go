package manda

import (
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Relation is the relation of one finding to another.
type Relation string

// The relations between findings. The document of a finding, EXTRACTED_FROM, is in its row.
const (
	Unrelated   Relation = ""
	Supports    Relation = "SUPPORTS"
	Contradicts Relation = "CONTRADICTS"
	Supersedes  Relation = "SUPERSEDES"
)

// FindingFacts holds the facts about a finding that Relate needs.
type FindingFacts struct {
	Metric, Subject, Period, Unit, Status string
	Label, Head, Title                    string // in a table, of its row, of its column and of itself
	Document                              string
	Value, Step                           *big.Rat
}

// Relate returns the relation of a finding to an earlier one. corrects says that its document
// replaces the other's.
//
// Figures of different metrics, parts, periods or currencies are unrelated, and so are a forecast
// and the actual figure (M5). If one document corrects the other, its figure replaces the other's,
// equal or not (M6, M7). Otherwise figures that agree within the precision of both support each
// other, and others contradict each other (M8).
func Relate(a, b FindingFacts, corrects bool) Relation {
	if a.Document == b.Document || a.Metric != b.Metric || a.Subject != b.Subject || !a.together(&b) || a.Unit != b.Unit || (a.Status == Forecast) != (b.Status == Forecast) {
		return Unrelated
	}
	if lexicon()[a.Metric] == nil && a.Label != "" && b.Label != "" && a.cell() != b.cell() {
		return Unrelated // rows of one name under different headings
	}
	if corrects {
		return Supersedes
	}
	if Agree(a.Value, a.Step, b.Value, b.Step) {
		return Supports
	}
	return Contradicts
}

// together reports whether two figures are of one period. What a contract says is of each.
func (f *FindingFacts) together(o *FindingFacts) bool {
	return f.Period == o.Period || (f.Period == "" || o.Period == "") && f.Label == "" && o.Label == ""
}

// cell identifies a cell of a table by the words of its row and its column.
func (f *FindingFacts) cell() string {
	if f.Label == "" {
		return ""
	}
	return plainly(f.Label) + "|" + plainly(f.Head)
}

// Unmatched returns those pairs of figures that differ of which the documents do not say the same as
// well: a figure that another document states too, in a cell with the same heads or else anywhere, does
// not contradict its other figures. If one of a pair stands in the other document in a cell with the
// same heads, only that cell counts.
func Unmatched(all []FindingFacts, differ [][2]int) map[[2]int]bool {
	key := func(f *FindingFacts) string {
		return strings.Join([]string{f.Metric, f.Subject, f.Period, f.Unit, f.Document}, "|")
	}
	by := map[string][]int{}
	cells := make([]string, len(all))
	for i := range all {
		by[key(&all[i])] = append(by[key(&all[i])], i)
		cells[i] = all[i].cell()
	}
	// Documents that state one figure many times have as many pairs as its square, and each asks
	// the same of its ends: whether the other's document has the figure, or a cell with its heads.
	type stating struct{ figure, cell bool }
	type asked struct {
		of       int
		document string
	}
	known := map[asked]stating{}
	states := func(of, other int) stating {
		q := asked{of, all[other].Document}
		s, ok := known[q]
		if !ok {
			at := all[of]
			at.Document = q.document
			for _, o := range by[key(&at)] {
				s.figure = s.figure || Relate(all[of], all[o], false) == Supports
				s.cell = s.cell || cells[of] != "" && cells[of] == cells[o]
			}
			known[q] = s
		}
		return s
	}
	left := map[[2]int]bool{}
	for _, p := range differ {
		same := cells[p[0]] != "" && cells[p[0]] == cells[p[1]]
		a, b := states(p[0], p[1]), states(p[1], p[0])
		if !a.figure && !b.figure && (same || !a.cell && !b.cell) {
			left[p] = true
		}
	}
	return left
}

// Agree reports whether two figures may be the same: they differ by no more than rounding
// each to what its last digit counts explains.
func Agree(a, stepA, b, stepB *big.Rat) bool {
	if stepA.Cmp(stepB) == 0 { // both are as exact: they are the same, or they are not
		return a.Cmp(b) == 0
	}
	difference := new(big.Rat).Sub(a, b)
	rounding := new(big.Rat).Mul(new(big.Rat).Add(stepA, stepB), big.NewRat(1, 2))
	return difference.Abs(difference).Cmp(rounding) <= 0
}

// A Replace is that a document says that it takes the place of another: of that day, or by
// that name.
type Replace struct {
	Day  time.Time // zero if none is stated
	Name string    // of a file; "" if none is stated
	Text string    // the words
}

var (
	replacing = pattern(`(?i)(?:\bsupersedes?\b|\breplaces?\b|\bcorrects\b|\bupdated? (?:from|version of)\b|\bamends\b|\bin place of\b|\bersetzt\b|\bkorrigiert\b|\bberichtigt\b|\baktualisierte (?:fassung|version)\b|\bannule et remplace\b|\bremplace\b|\bcorrige\b|\brectifie\b|\bmise? à jour d[eu]\b)`)
	fileName  = pattern(`(?i)[\p{L}\d][\p{L}\d&_() .-]{0,80}\.(?:pdf|xlsx|docx|pptx|csv|eml|html?|txt)`)
	oldOne    = pattern(`(?i)(?:earlier|previous|prior|former|old|original|version|estimate|report|figures|letzte|frühere|vorherige|bisherige|ursprüngliche|fassung|bericht|schätzung|stand|vom|précédente?|ancienne?|version|rapport|estimation|du \d)`)
)

// replaces lists the documents that a text says it replaces. In "replaces the report of May"
// the words after "replaces" name one.
func replaces(text string) []Replace {
	var all []Replace
	text = strings.Join(strings.Fields(firstRunes(text, 20_000)), " ")
	for _, is := range replacing.re().FindAllStringIndex(text, 20) {
		behind := firstRunes(text[is[1]:], 160)
		if !oldOne.re().MatchString(behind) {
			continue
		}
		r := Replace{Text: strings.TrimSpace(text[max(0, is[0]-80):is[0]] + text[is[0]:is[1]] + behind), Name: strings.TrimSpace(fileName.re().FindString(behind))}
		for _, p := range periods(behind) {
			if p.Kind == 'D' && r.Day.IsZero() {
				r.Day = time.Date(p.Year, time.Month(p.N), p.Day, 0, 0, 0, 0, time.UTC)
			}
		}
		r.Text = strings.ToValidUTF8(r.Text, "")
		if !slices.ContainsFunc(all, func(o Replace) bool { return o.Name == r.Name && o.Day.Equal(r.Day) }) {
			all = append(all, r)
		}
	}
	return all
}

// DocumentFacts holds the facts about a document that are needed to tell its versions apart.
type DocumentFacts struct {
	Name, Title string
	Dated       time.Time
	Replaces    []Replace
}

// A Why is the reason to believe that a document replaces another.
type Why string

// The reasons.
const (
	ByName     Why = "NAME"     // of the file (M47 to M51)
	ByPhrase   Why = "PHRASE"   // it says so (M52)
	ByMetadata Why = "METADATA" // the same title, and later (M53)
)

// Replaced reports whether a document replaces another, and why: by the names of the files, its own
// statement, or their titles and dates.
func Replaced(newer, older DocumentFacts) (Why, bool) {
	if Corrects(newer.Name, older.Name) {
		return ByName, true
	}
	same := sync.OnceValue(func() bool { return sameTitle(newer, older) })
	for _, r := range newer.Replaces {
		switch {
		case r.Name != "":
			if strings.EqualFold(r.Name, older.Name) || stemOf(r.Name) == stemOf(older.Name) && stemOf(r.Name) != "" {
				return ByPhrase, true
			}
		case !r.Day.IsZero():
			if sameDay(r.Day, older.Dated) && (same() || alike(newer, r.Text, older)) {
				return ByPhrase, true
			}
		case older.Dated.Before(newer.Dated) && same():
			return ByPhrase, true
		}
	}
	if !older.Dated.IsZero() && older.Dated.Before(newer.Dated) && !sameDay(older.Dated, newer.Dated) && same() && !serial(newer, older) {
		return ByMetadata, true
	}
	return "", false
}

// serial reports whether two documents are two of a series, of which each stands: of two meetings, of two
// months.
func serial(a, b DocumentFacts) bool {
	x, y := periods(a.Title), periods(b.Title)
	return len(x) > 0 && len(y) > 0 && x[0].Period != y[0].Period || recurring.re().MatchString(a.Title)
}

var recurring = pattern(`(?i)\b(?:minutes|protokoll|procès-verbal|actas?|(?:daily|weekly|monthly|quarterly|interim) \pL+|\pL*(?:monats|wochen|quartals)bericht|rapport (?:mensuel|trimestriel|hebdomadaire)|informe (?:mensual|trimestral)|newsletter|certificate|invoice|rechnung|facture|factura|letter|memo(?:randum)? (?:of|to))\b`)

func sameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }

// sameTitle reports whether two documents are called the same, in words of some length. The
// day on which they are written does not count; the period that they are of does.
func sameTitle(a, b DocumentFacts) bool {
	x, y := undated(a.Title), undated(b.Title)
	return x != "" && x == y && len(strings.Fields(x)) >= 2
}

// undated returns a title without dates and version numbers.
func undated(title string) string {
	if strings.Contains(title, "20") { // as every date has: looking for periods is slow
		for _, p := range slices.Backward(periods(title)) {
			if p.Kind == 'D' {
				title = title[:p.at] + " " + title[p.end:]
			}
		}
	}
	return plainly(versioned.re().ReplaceAllString(title, " "))
}

var versioned = pattern(`(?i)\b(?:version|v|rev|revision|fassung|draft|final|entwurf|updated|corrected)\b\.? ?\d*(?:\.\d+)?`)

// stemOf returns the name of a file without its extension and version.
func stemOf(name string) string {
	stem, _, _ := takeApart(name)
	return stem
}

// alike reports whether a document, by its title, its name and the words with which it
// says that it takes another's place, is about what another is called.
func alike(newer DocumentFacts, words string, older DocumentFacts) bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(plainly(strings.NewReplacer("_", " ", "-", " ").Replace(newer.Title + " " + stemOf(newer.Name) + " " + words))) {
		set[stem(w)] = true
	}
	for w := range strings.FieldsSeq(plainly(strings.NewReplacer("_", " ", "-", " ").Replace(older.Title + " " + stemOf(older.Name)))) {
		if len(w) > 3 && set[stem(w)] && !versioned.re().MatchString(w) && num(w) == 0 && month(w) == 0 {
			return true
		}
	}
	return false
}

// leastMain is the number of documents that name a company by the name of the deal before it is taken for the
// whole: of a group, companies of that name have documents too.
const leastMain = 3

// Main returns the part that most of some documents belong to: if there is only one company, all documents
// name it. If most name none, it is the company with the name of the deal, or else "".
func Main(deal string, parts []string) string {
	name, _, _ := strings.Cut(plainly(deal), " ")
	count := map[string]int{}
	best, ours, rest := "", "", 0
	for _, p := range parts {
		if count[p]++; count[p] > count[best] || count[p] == count[best] && p < best {
			best = p
		}
		if name != "" && strings.HasPrefix(p+" ", name+" ") {
			if rest++; ours == "" || count[p] > count[ours] {
				ours = p
			}
		}
	}
	if n := count[ours]; best == "" && ours != "" && n >= leastMain && 2*n > rest {
		return ours
	}
	return best
}

// PartOf returns the part of the company that a finding belongs to: the one that it names, or else
// the one of its document, unless that is the main one.
func PartOf(subject, document, main string) string {
	if subject != "" || document == main {
		return subject
	}
	return document
}
