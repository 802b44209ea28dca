package manda

import (
	"fmt"
	"math/big"
	"path"
	"strconv"
	"strings"

	"verbatim/runtime/engine"
	"verbatim/runtime/files/documents"
)

// A table and its text in two files: a workbook states in no cell that its figures are in thousands, and the
// report of the same name beside it does.

// states returns the unit and scale that a document states for the figures of a table, or in a sentence.
func (r *reader) states(pieces []documents.Piece) string {
	m := r.measure
	if r.stated.scale > 0 {
		m = r.stated
	}
	for i := range pieces {
		if p := &pieces[i]; m.scale == 0 && !p.Hidden {
			m, _ = scaleIn(p.Text)
		}
	}
	if m.scale == 0 {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(m.scale, " ", m.unit))
}

// beside finds, for each workbook that states no scale, the one document of the same name that does.
func (l *loader) beside() {
	stem := func(d engine.Row) string {
		name := d.Value("name").Text()
		return plainly(strings.TrimSuffix(name, path.Ext(name)))
	}
	texts := map[string]engine.Row{}
	several := map[string]bool{}
	for ref, d := range l.documents {
		if d.Value("scale").Text() != "" && !l.replaced[ref] {
			_, again := texts[stem(d)]
			texts[stem(d)], several[stem(d)] = d, again
		}
	}
	for ref, d := range l.documents {
		if text, ok := texts[stem(d)]; ok && !several[stem(d)] && d.Value("format").Text() == "xlsx" && d.Value("scale").Text() == "" {
			l.texts[ref] = text
		}
	}
}

// scaledBy gives the figure of a workbook the scale of the text beside it, which is then told with it, unless
// the figure is of a kind that no such scale is of.
func (f *Fact) scaledBy(text engine.Row) {
	scale, unit, _ := strings.Cut(text.Value("scale").Text(), " ")
	by, err := strconv.ParseInt(scale, 10, 64)
	label := f.Label + " " + f.Head
	m := lexicon()[f.Metric]
	switch {
	case err != nil || f.Label == "" || f.Corrected || f.Unit == "%" || f.Unit == "pp" || m != nil && m.kind != "amount":
		return
	case pure.re().MatchString(label), physical.re().MatchString(label), rated.re().MatchString(label) && f.Value.Cmp(big.NewRat(100, 1)) < 0:
		return
	case pieceful.re().MatchString(label) && !worth.re().MatchString(label):
		return
	}
	n := big.NewRat(by, 1)
	f.Value, f.Step, f.Scaled = new(big.Rat).Mul(f.Value, n), new(big.Rat).Mul(f.Step, n), text.Value("name").Text()
	if f.Unit == "" {
		f.Unit = unit
	}
}
