package manda

import (
	"cmp"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/files/documents"
)

// A where says in which table a cell stands.
type where struct {
	inside, sheet      string
	page, slide, table int
}

// tables extracts the figures of tables, each table with the text before it.
func (r *reader) tables(pieces []documents.Piece) {
	var rows [][]*documents.Piece
	var at where
	caption := ""
	end := func() {
		if len(rows) > 0 {
			r.table(rows, caption)
			rows = nil
		}
	}
	last := ""
	for i := range pieces {
		p := &pieces[i]
		if p.Hidden {
			continue
		}
		if p.Cell == nil {
			end()
			if p.Kind == documents.Heading {
				caption = p.Text
			} else {
				caption = cmp.Or(p.At.Section, p.At.Sheet) + "\n" + last
				last = p.Text
				caption += "\n" + last
			}
			continue
		}
		now := where{p.At.Inside, p.At.Sheet, p.At.Page, p.At.Slide, p.At.Table}
		if now != at {
			end()
			if at = now; p.At.Sheet != "" {
				caption = p.At.Sheet
			}
		}
		if n := len(rows); n == 0 || rows[n-1][0].At.Row != p.At.Row {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	end()
}

// table takes the figures out of the rows of one table.
func (r *reader) table(rows [][]*documents.Piece, caption string) {
	heads := map[int]string{}
	data := false // the row before had figures
	under := ""
	for _, row := range rows {
		label, values := r.row(row)
		if len(values) == 0 { // headings, one for each column or one for the rows below
			texts, other := 0, 0
			for _, c := range row {
				if strings.TrimSpace(c.Text) != "" {
					texts++
				}
				if strings.ContainsAny(c.Text, "0123456789") && len(periods(c.Text)) == 0 {
					other++
				}
			}
			switch {
			case texts == 0, 2*other >= texts && texts > 1: // 1.43x: no figure that we know
			case texts == 1:
				under = row[0].Text
				if under == "" {
					under = label
				}
				if !data {
					caption += "\n" + under
				}
			default:
				if data {
					heads = map[int]string{}
				}
				for _, c := range row {
					heads[c.At.Column] = strings.TrimSpace(heads[c.At.Column] + " " + c.Text)
				}
				data = false
			}
			continue
		}
		data = true
		for _, v := range values {
			head := heads[v.column]
			if head == "" { // a heading that spans several columns
				for k := v.column - 1; k > 0 && head == "" && k > v.column-12; k-- {
					if len(periods(heads[k])) > 0 && k > row[0].At.Column {
						head = heads[k]
					}
				}
			}
			r.cell(v, label, head, under, caption, heads[row[0].At.Column])
		}
	}
}

// A value is a figure in a cell.
type value struct {
	Figure
	column int
	place  string
}

// row takes a row apart: what its figures are called, and those.
func (r *reader) row(row []*documents.Piece) (label string, values []value) {
	for _, p := range row {
		text := strings.TrimSpace(p.Text)
		if text == "" {
			continue
		}
		f, ok := r.figure(p)
		if ok && isYear(&f) && p.Cell.Type != "number" || ok && isYear(&f) && len(values) == 0 && !slices.ContainsFunc(row, func(q *documents.Piece) bool { g, is := r.figure(q); return is && !isYear(&g) }) {
			ok = false
		}
		switch {
		case ok:
			values = append(values, value{f, p.At.Column, p.At.String()})
		case len(values) == 0 && utf8.RuneCountInString(text) < 120:
			label = strings.TrimSpace(label + " " + text)
		}
	}
	return label, values
}

func isYear(f *Figure) bool {
	return f.Unit == "" && f.Value.IsInt() && f.Value.Num().IsInt64() && f.Value.Num().Int64() >= 1980 && f.Value.Num().Int64() <= 2060 && len(f.Text) == 4
}

// figure reads a cell that holds a figure and nothing else.
func (r *reader) figure(p *documents.Piece) (Figure, bool) {
	text := strings.TrimSpace(p.Text)
	if p.Cell.Type == "number" {
		v, ok := new(big.Rat).SetString(p.Cell.Value)
		if !ok {
			return Figure{}, false
		}
		f := Figure{Value: v, Step: new(big.Rat).SetInt64(1), Text: text}
		if _, decimals, ok := strings.Cut(p.Cell.Value, "."); ok {
			f.Step.SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(min(len(decimals), 6))), nil))
		}
		if strings.Contains(p.Cell.Format, "%") || strings.HasSuffix(text, "%") {
			hundred := big.NewRat(100, 1)
			f.Value.Mul(f.Value, hundred)
			f.Step.Mul(f.Step, hundred)
			f.Unit = "%"
		} else if m := measureOf(p.Cell.Format); m.unit != "" {
			f.Unit = m.unit
			if m.scale > 0 {
				f.Value.Mul(f.Value, big.NewRat(m.scale, 1))
				f.Step.Mul(f.Step, big.NewRat(m.scale, 1))
			}
		}
		return f, true
	}
	if p.Cell.Type == "date" || p.Cell.Type == "bool" || len(text) > 40 || len(periods(text)) > 0 && !looksPlain(text) {
		return Figure{}, false
	}
	all := figures(text, r.comma, func(int) bool { return false })
	if len(all) != 1 {
		return Figure{}, false
	}
	f := all[0]
	rest := strings.Trim(text[:f.at]+text[f.end:], " \u00a0()+-–−*≈~<>¹²³⁰⁴⁵⁶⁷⁸⁹.")
	if rest != "" && !strings.EqualFold(rest, "c") && !strings.EqualFold(rest, "ca") && !strings.EqualFold(rest, "approx") {
		return Figure{}, false
	}
	if strings.HasPrefix(text, "(") && strings.HasSuffix(text, ")") && f.Value.Sign() > 0 {
		f.Value.Neg(f.Value)
	}
	f.Text = text
	return f, true
}

func looksPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) }) && len(text) == 4
}

// cell makes a finding of a figure in a table: its row, its column and the text above together say
// what the figure measures.
func (r *reader) cell(v value, label, head, under, caption, corner string) {
	if changes.re().MatchString(head) {
		return
	}
	f := Finding{Figure: v.Figure, Place: v.place, Confidence: 95, Status: r.about.Status}
	r.timed(&f, label, head, under, caption)
	switch where := head + " " + label; {
	case actuals.re().MatchString(where) && r.about.Status != Audited && r.about.Status != Draft:
		f.Status = Actual
	case forecasts.re().MatchString(where), f.Status == Actual && forecasts.re().MatchString(under+" "+caption):
		f.Status = Forecast
	}
	known := r.named(&f, label, head, under, caption)
	if f.Metric == "" {
		return
	}
	r.counted(&f, measureOf(label), measureOf(head), measureOf(corner), measureOf(under), r.above(caption))
	if !known && f.Unit == "" {
		return // a number without a known metric or unit
	}
	r.keep(f)
}

const (
	monthIn   = pattern(`(?i)` + months)
	monthOnly = pattern(`(?i)^` + months + `\.?$`)
)

// timed gives a figure of a table its period, from the nearest places that state parts of it: "Q3"
// in the row and "2024" above the column are one period.
func (r *reader) timed(f *Finding, label, head, under, caption string) {
	if is := monthOnly.re().FindStringSubmatch(strings.TrimSpace(label)); is != nil {
		f.Period = Period{Kind: 'M', N: month(is[1])}
	} else if is := monthOnly.re().FindStringSubmatch(strings.TrimSpace(head)); is != nil {
		f.Period = Period{Kind: 'M', N: month(is[1])}
	}
	for i, where := range [...]string{label, head, under, caption} {
		for _, p := range periods(where) {
			if i > 1 && p.Kind == 'D' && p.Day < 28 && !asOf.re().MatchString(where[:p.at]) {
				continue // the day of a document, and not of its figures
			}
			switch {
			case f.Period.Kind == 0, f.Period.Kind == 'Y' && p.Year == 0 && i < 2:
				year := f.Period.Year
				if f.Period = p.Period; p.Year == 0 {
					f.Period.Year = year
				}
			case f.Period.Year == 0 && p.Year != 0:
				f.Period.Year = p.Year
			}
			if p.status != "" && i < 2 {
				f.Status = p.status
			}
		}
	}
	if f.Period.Kind == 0 {
		f.Period, f.Confidence = r.about.Period, f.Confidence-10
	}
	if f.Period.Year == 0 {
		f.Period.Year, f.Confidence = r.about.Period.Year, f.Confidence-5
	}
}

// above returns the unit and scale in the text above a table, from lines without figures.
func (r *reader) above(caption string) (m measure) {
	for line := range strings.Lines(caption) {
		if len(figures(line, r.comma, func(int) bool { return false })) > len(periods(line)) {
			continue
		}
		if of := measureOf(line); m.unit == "" && of.unit != "%" {
			m = of
		}
	}
	return m
}

// qualified matches the parts of a name that do not say what it is.
var qualified = pattern(`\([^)]*\)|[:;,–—*¹²³⁰⁴⁵⁶⁷⁸⁹]|\bincl\.?|\bexcl\.?`)

// inside matches text in brackets: payments for fixed assets (capital expenditure).
var inside = pattern(`\([\pL &-]{4,}\)`)

// bare returns a label without periods, units and qualifications.
func bare(text string) string {
	for _, p := range slices.Backward(periods(text)) {
		text = text[:p.at] + " " + text[p.end:]
	}
	return strings.TrimSpace(qualified.re().ReplaceAllString(text, " "))
}

// named finds the name of a figure in a table, and its part of the company: from its row, or else
// its column, or else the text above. known reports whether the lexicon has the name.
func (r *reader) named(f *Finding, label, head, under, caption string) (known bool) {
	name, column := bare(label), bare(head)
	if first, _, ok := strings.Cut(label, ","); ok && len(mentions(name)) == 0 {
		name = bare(first) // a company with its location
	}
	if monthOnly.re().MatchString(name) {
		name = ""
	}
	for _, in := range []struct{ text, beside string }{{name, column}, {bare(strings.Trim(inside.re().FindString(label), "()")), column}, {column, name}, {bare(under), name + " " + column}, {lastLine(caption), name + " " + column}} {
		all := mentions(in.text)
		if len(all) == 0 {
			continue
		}
		m := slices.MaxFunc(all, func(a, b mention) int { return cmp.Compare(a.end-a.at, b.end-b.at) })
		around := plainly(in.text[m.end:])
		if in.text == name || in.text == column {
			around += " " + plainly(in.text[:m.at])
		} else if around = ""; m.at > 0 {
			around = gross.re().FindString(in.text[:m.at])
		}
		if part, ok := partOf(around, plainly(in.beside)); ok {
			f.Metric, f.Domain, f.Subject = m.name, m.domain, part
			return true
		}
		if in.text == name && name != "" {
			break // it has a name that the lexicon does not know
		}
	}
	if m := r.whole(); m != nil && totals.re().MatchString(name) {
		f.Metric, f.Domain = m.name, m.domain
		return true
	}
	if strings.ContainsFunc(name, unicode.IsLetter) && utf8.RuneCountInString(name) <= 70 {
		f.Metric, f.Domain = plainly(name), "other"
		f.Subject, _ = partOf("", plainly(column))
	}
	return false
}

// totals matches the name of the last row of a table with its totals.
var totals = pattern(`(?i)^(?:grand total|total|sum|summe|gesamt|gesamtsumme|insgesamt|total général|somme|ensemble)(?: all| alle)?$`)

// whole returns the metric in the title of the document: in a plan of capital expenditure, the
// total is capital expenditure. It is nil if the title names none, or several.
func (r *reader) whole() *metric {
	all := mentions(r.about.Title)
	if len(all) != 1 || all[0].kind != "amount" {
		return nil
	}
	return all[0].metric
}

// gross matches a word right before a metric that makes it another figure.
var gross = pattern(`(?i)(?:gross|brutto|average|adjusted|durchschnittliche?)[ \x{a0}]$`)

// lastLine returns the last line of a caption that names a metric.
func lastLine(caption string) string {
	lines := strings.Split(caption, "\n")
	for _, line := range slices.Backward(lines) {
		if len(line) < 160 && len(mentions(line)) > 0 {
			return line
		}
	}
	return ""
}

// partOf returns the part of the company that the words beside a metric name, if they name one.
func partOf(before, behind string) (string, bool) {
	var rest []string
	for w := range strings.FieldsSeq(before + " " + behind) {
		if _, unit := unitOf(w); !unit && !groupWords.re().MatchString(w) && !forecasts.re().MatchString(w) && !actuals.re().MatchString(w) && !drafts.re().MatchString(w) && w != "audited" && !slices.Contains(rest, w) {
			rest = append(rest, w)
		}
	}
	return strings.Join(rest, " "), len(rest) <= 4
}

// counted gives a figure its unit and scale, from the nearest place that states them.
func (r *reader) counted(f *Finding, near ...measure) {
	kind := ""
	if m := lexicon()[f.Metric]; m != nil {
		kind = m.kind
	}
	switch kind {
	case "percent":
		if f.Unit != "pp" {
			f.Unit = "%"
		}
		return
	case "count":
		if f.Unit != "%" {
			f.Unit = ""
		}
		return
	}
	if f.Unit == "%" || f.Unit == "pp" {
		return
	}
	scaled := len(f.Text) > 0 && f.Unit != "" && measureOf(f.Text).scale > 0
	for _, m := range append(near, r.measure) {
		if f.Unit == "" && m.unit != "" && m.unit != "pp" && (m.unit != "%" || kind == "") {
			f.Unit = m.unit
		}
		if !scaled && m.scale > 0 && f.Unit != "%" {
			by := big.NewRat(m.scale, 1)
			f.Value, f.Step = new(big.Rat).Mul(f.Value, by), new(big.Rat).Mul(f.Step, by)
			scaled = true
		}
	}
	if f.Unit == "" && kind == "amount" {
		f.Confidence -= 15
	}
}
