package manda

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/files/documents"
)

// A where says in which table a cell stands, which may go on on another page.
type where struct {
	inside, sheet string
	slide, table  int
}

// tables extracts the figures of tables, each table with the text before it.
func (r *reader) tables(pieces []documents.Piece) {
	var rows [][]*documents.Piece
	var at where
	caption, last := "", ""
	end := func(next int) {
		if len(rows) > 0 {
			r.nearby, r.title = around(pieces, rows[0][0], next)
			r.table(rows, caption)
			rows = nil
		}
	}
	for i := range pieces {
		p := &pieces[i]
		if p.Hidden {
			continue
		}
		if p.Cell == nil {
			end(i)
			if p.Kind == documents.Heading {
				caption, last = p.Text, ""
			} else {
				caption = cmp.Or(p.At.Section, p.At.Sheet) + "\n" + last
				last = p.Text
				caption += "\n" + last
			}
			continue
		}
		now := where{p.At.Inside, p.At.Sheet, p.At.Slide, p.At.Table}
		if now != at {
			end(i)
			if at = now; p.At.Sheet != "" {
				caption = p.At.Sheet
			}
		}
		if n := len(rows); n == 0 || rows[n-1][0].At.Row != p.At.Row {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], p)
	}
	end(len(pieces))
}

// nearby is the number of pieces before and behind a table in which a statement about its scale may
// stand.
const nearby = 40

// introduced matches a sentence that says what a table has.
var introduced = pattern(`(?i)(?:following|below|as follows|set forth|sets forth|summari[sz]e[sd]?|presents?|consist(?:s|ed)? of|components of|folgende\pL*|nachstehend\pL*|tabelle|suivants?|tableau|siguientes?|tabla)\b|:$`)

// around returns the unit and scale that the text around a table states for it, and what it says of the
// table: the text before it, or else behind it. What another table's text states does not hold for this
// one.
func around(pieces []documents.Piece, first *documents.Piece, next int) (m measure, title string) {
	from := next - 1
	for from > 0 && &pieces[from] != first {
		from--
	}
	scaled := false
	try := func(i int) {
		p := &pieces[i]
		if p.Hidden || p.Cell != nil || p.At.Inside != first.At.Inside || p.At.Page+1 < first.At.Page || p.At.Page > first.At.Page+1 || p.At.Slide != first.At.Slide {
			return
		}
		if is, ok := scaleIn(p.Text); ok && !scaled {
			m, scaled = is, true
		} else if o := i + 1; !scaled && p.At.Page > 0 && o < len(pieces) && pieces[o].Cell == nil {
			m, scaled = scaleIn(p.Text + " " + pieces[o].Text) // on a page the lines run on
		}
		if cut := firstRunes(p.Text, 300); title == "" && (p.Kind == documents.Heading || len(cut) == len(p.Text) && introduced.re().MatchString(p.Text)) {
			title = cut
		}
	}
	for i := from - 1; i >= max(0, from-nearby) && (pieces[i].Cell == nil || !scaled); i-- {
		try(i)
	}
	for i := next; i < min(len(pieces), next+nearby) && pieces[i].Cell == nil; i++ {
		try(i)
	}
	return m, title
}

var (
	inScale   = pattern(`(?i)\b(?:in|en)\s+(?:(?:u\.?s\.?|us|canadian|australian|hong kong|singapore|new taiwan|dollars?|euros?|pounds?|[$€£¥]|[a-z]{1,3}\$|rmb|eur|usd|gbp|chf)\s*)*['’]?(?:thousands?|millions?|billions?|000s?|tsd\.?|tausend|mio\.?|millionen|mrd\.?|milliers|[tkm]?(?:eur|€|\$|£)[mk]?)(?:\W|$)[^.;)]{0,90}`)
	bracketed = pattern(`\([^()]{1,100}\)`)
	thousands = pattern(`(?:^|[^\d])[$€£]?['’]?000['’]?s?(?:\W|$)`)
	perShare  = pattern(`(?i)\b(?:per|earnings per|loss per)[- ](?:\pL+[- ])?shares?\b`)
)

// scaleIn returns the unit and scale that a sentence states for figures elsewhere: "(in thousands,
// except per share data)". A figure of its own, $2.4 million, states nothing of the kind.
func scaleIn(text string) (m measure, ok bool) {
	is := inScale.re().FindString(text)
	if is == "" {
		for _, b := range bracketed.re().FindAllString(text, -1) {
			if m = measureOf(b); m.scale > 0 && !strings.ContainsAny(thousands.re().ReplaceAllString(b, ""), "0123456789") {
				is = b
				break
			}
		}
	}
	if is == "" {
		return measure{}, false
	}
	if m = measureOf(is); m.unit == "" && len(text) < 60 {
		m.unit = measureOf(text).unit
	}
	if _, but, found := strings.Cut(strings.ToLower(is), "except"); found {
		m.pieces = strings.Contains(perShare.re().ReplaceAllString(but, ""), "share")
	}
	return m, m.scale > 0
}

// A line is a row of a table.
type line struct {
	cells  []*documents.Piece // with text
	label  string             // the texts before the first figure
	first  string             // the first of them
	values []value
}

// A value is a figure in a cell.
type value struct {
	Figure
	column int
	place  string
	quiet  bool // its cell states no currency or percent itself
}

// A spot is where a figure stands in a table.
type spot struct {
	label, head string   // of its row and its column
	first       string   // the first cell of the row's label
	under       []string // the lines with a label alone above its row
	caption     string   // the text before the table
	title       string   // what the text around the table says of it
	corner      string   // the head of the labels, and notes on units
	dated       bool     // some column of the table says its period
	whole       bool     // most figures of the table have no decimals
	within      Period   // of the balance below the row, if one stands above it too
}

// path returns the label of a row with those that it stands under.
func (s *spot) path() string {
	all := append(slices.Clone(s.under), s.label)
	return strings.Join(slices.DeleteFunc(all, func(part string) bool { return part == "" }), ": ")
}

// table takes the figures out of the rows of one table: what stands in heads above a column, and the
// labels of its row and above that, say together what a figure is.
func (r *reader) table(pieces [][]*documents.Piece, caption string) {
	rows := make([]line, len(pieces))
	first, last := math.MaxInt, 0 // columns with figures
	percent, money := map[int]bool{}, ""
	whole, fine := 0, 0
	for i, row := range pieces {
		rows[i] = r.row(signed(row))
		for _, v := range rows[i].values {
			first, last = min(first, v.column), max(last, v.column)
			if v.Step.Cmp(big.NewRat(1, 1)) < 0 && v.Unit != "%" {
				fine++
			} else if v.Unit != "%" {
				whole++
			}
			if _, seen := percent[v.column]; !seen {
				percent[v.column] = v.Unit == "%"
			}
			percent[v.column] = percent[v.column] && (v.quiet || v.Unit == "%")
			if money == "" && v.Unit != "%" && v.Unit != "pp" {
				money = v.Unit
			}
		}
	}
	at := spot{caption: caption, title: r.title, whole: whole > 2*fine}
	var heads []map[int]string
	balances := balances(rows)
	data, labels := false, 0 // the row before had figures; the number of rows before with a label alone
	for i := range rows {
		row := &rows[i]
		above, named := heading(row, first, last)
		switch {
		case len(row.values) > 0:
			at.label, at.first = row.label, row.first
			if at.within = balances[i]; at.label == "" {
				at.label = "Total"
			}
			for _, v := range row.values {
				at.head = ""
				for _, h := range heads {
					at.head = strings.TrimSpace(at.head + " " + h[v.column])
				}
				if v.quiet && percent[v.column] {
					v.Unit = "%"
				}
				r.cell(v, &at, money)
			}
			data, labels = true, 0
		case named && len(row.cells) == 1 && measureOf(row.label) != (measure{}) && len(row.label) < 60 && !strings.ContainsAny(row.label, ":"):
			if at.corner += " " + row.label; !data { // all amounts below are in millions
				at.caption += "\n" + row.label
			}
		case named:
			if labels == 0 && len(at.under) > 0 {
				at.under = at.under[:len(at.under)-1]
			}
			at.under = append(slices.Clone(at.under), row.label)
			labels++
			if at.under = at.under[max(0, len(at.under)-2):]; !data {
				at.caption += "\n" + row.label
			}
		case above != nil:
			if at.under = nil; data && !unitsOnly(above) { // else what stood above was the title
				heads = nil
			}
			for _, head := range above {
				at.dated = at.dated || len(periods(head)) > 0
			}
			heads, data = append(heads, above), false
			if row.label != "" && row.cells[0].At.Column < first {
				at.corner = strings.TrimSpace(at.corner + " " + row.label)
			}
		}
	}
}

// closes matches what closes a figure in a cell of its own.
var closes = pattern(`^\)?%?\)?$`)

// signed joins a currency sign that has a cell of its own with the figure behind it, and a bracket or a
// percent sign with that before.
func signed(row []*documents.Piece) (all []*documents.Piece) {
	sign := ""
	for i, p := range row {
		text := strings.TrimSpace(p.Text)
		_, currency := currencies[strings.ToLower(text)]
		switch n := len(all); {
		case currency && i+1 < len(row) && alone.re().MatchString(row[i+1].Text):
			sign = text
			continue
		case text != "" && closes.re().MatchString(text) && n > 0 && alone.re().MatchString(all[n-1].Text+text):
			whole := *all[n-1]
			whole.Text += text
			all[n-1] = &whole
			continue
		case sign != "":
			whole := *p
			whole.Text, sign = sign+" "+text, ""
			p = &whole
		}
		all = append(all, p)
	}
	return all
}

// balances returns, for rows between two balances, the time of the lower one: what was granted between
// the end of one year and that of the next was granted in that.
func balances(rows []line) map[int]Period {
	all := map[int]Period{}
	last := -1
	for i := range rows {
		if len(rows[i].values) == 0 || !balance.re().MatchString(rows[i].label) {
			continue
		}
		if p := periods(rows[i].label); len(p) == 1 && p[0].Year != 0 {
			for k := last + 1; last >= 0 && k < i; k++ {
				all[k] = Period{Kind: 'Y', Year: p[0].Year}
			}
			last = i
		}
	}
	return all
}

// heading returns what a row without figures says of the columns, or whether it only names the rows
// below it. A head that covers several columns counts for each of them: by its span, or else, if the
// table has none, by the place where it stands among the columns.
func heading(row *line, first, last int) (above map[int]string, named bool) {
	above = map[int]string{}
	var heads []*documents.Piece
	spans, other := false, 0
	for _, c := range row.cells {
		text := strings.TrimSpace(c.Text)
		if c.At.Column < first && c.At.Column+max(1, c.Cell.Columns) <= first {
			continue
		}
		if strings.ContainsAny(text, "0123456789") && len(periods(text)) == 0 && measureOf(text) == (measure{}) && !covers.re().MatchString(text) || !strings.ContainsFunc(text, func(r rune) bool {
			return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '%' || r == '$' || r == '€' || r == '£'
		}) || strings.EqualFold(text, "n/a") {
			other++ // 1.43x, a dash: no figure that we know, and no head
		}
		heads = append(heads, c)
		spans = spans || c.Cell.Columns > 1
	}
	switch {
	case len(heads) == 0:
		return nil, len(row.cells) > 0
	case 2*other >= len(heads) && (other > 1 || row.cells[0].At.Column < first):
		return nil, false
	case len(heads) == 1 && len(row.cells) == 1 && len(periods(heads[0].Text)) == 0 && measureOf(heads[0].Text) == (measure{}) && strings.HasSuffix(strings.TrimSpace(heads[0].Text), ":"):
		row.label = heads[0].Text
		return nil, true // of the rows below, wherever it stands
	case len(heads) == 1 && len(row.cells) == 1 && heads[0].At.Column == row.cells[0].At.Column && heads[0].Cell.Columns > last-first+1:
		row.label = heads[0].Text
		return nil, true // over the whole table
	}
	for _, c := range heads {
		for k := range max(1, c.Cell.Columns) {
			above[c.At.Column+k] = footnoted.re().ReplaceAllString(c.Text, "$1")
		}
	}
	if n, m := len(heads), last-first+1; !spans && n < m {
		size := m / n
		even := m%n == 0
		timed := true
		for i, c := range heads {
			even = even && (c.At.Column-first)/size == i
			timed = timed && (len(periods(c.Text)) > 0 || covers.re().MatchString(c.Text) || measureOf(c.Text) != (measure{}))
		}
		for k := first; k <= last; k++ {
			if above[k] != "" {
				continue
			}
			switch {
			case even && (n > 1 || timed):
				above[k] = heads[(k-first)/size].Text
			case heads[0].At.Column == first && timed || n > 1 && timed:
				near := heads[0] // the last head before it
				for _, c := range heads {
					if c.At.Column <= k {
						near = c
					}
				}
				if timed {
					above[k] = near.Text
				}
			}
		}
	}
	return above, false
}

// footnoted matches a year with the number of a footnote that is not raised any more.
var footnoted = pattern(`^((?:19|20)\d\d)\d$`)

// unitsOnly reports whether the heads of a row only say in what figures are.
func unitsOnly(above map[int]string) bool {
	for _, head := range above {
		if measureOf(head) == (measure{}) || len(periods(head)) > 0 {
			return false
		}
	}
	return true
}

// covers matches a head that covers several columns.
var covers = pattern(`(?i)\b(?:years?|fiscal|months|weeks|quarters?|ended|as of|as at|at|january|february|march|april|may|june|july|august|september|october|november|december|jahre?|geschäftsjahr|zum|exercices?|au|clos)\b`)

// row takes a row apart.
func (r *reader) row(pieces []*documents.Piece) (l line) {
	years := 0
	figs := make([]Figure, len(pieces))
	are := make([]bool, len(pieces))
	for i, p := range pieces {
		if figs[i], are[i] = r.figure(p); are[i] && isYear(&figs[i]) {
			years++
		}
	}
	plain := 0
	for i := range pieces {
		if are[i] && !isYear(&figs[i]) {
			if years > 1 && footnoted.re().MatchString(strings.TrimSpace(pieces[i].Text)) {
				are[i] = false // the number of a footnote, in a row of years
				continue
			}
			plain++
		}
	}
	for i, p := range pieces {
		text := strings.TrimSpace(p.Text)
		if text == "" {
			continue
		}
		l.cells = append(l.cells, p)
		if plain > 0 && len(l.cells) > 1 && dash.re().MatchString(text) {
			l.values = append(l.values, value{Figure{Value: new(big.Rat), Step: big.NewRat(1, 1), Text: text}, p.At.Column, p.At.String(), true})
			continue
		}
		f, ok := figs[i], are[i]
		if ok && isYear(&f) && (p.Cell.Type != "number" || plain == 0 || len(l.cells) == 1) {
			ok = false // a heading, or the label of a row
		}
		switch {
		case ok:
			formatted := p.Cell.Type == "number" && strings.ContainsAny(p.Cell.Format, "0#") // and not as a percentage
			l.values = append(l.values, value{f, p.At.Column, p.At.String(), f.Unit == "" && !formatted})
		case len(l.values) == 0 && utf8.RuneCountInString(text) < 400 && !strings.HasSuffix(" "+l.label, " "+text):
			if l.label = strings.TrimSpace(l.label + " " + text); l.label == text {
				l.first = text
			}
		}
	}
	return l
}

// dash matches what tables have for nothing.
var dash = pattern(`^[$€£]?\s*[-–—]$`)

func isYear(f *Figure) bool {
	return f.Unit == "" && f.Value.IsInt() && f.Value.Num().IsInt64() && f.Value.Num().Int64() >= 1980 && f.Value.Num().Int64() <= 2060 && len(f.Text) == 4
}

// alone matches a cell that holds a figure and nothing else: "$ (5,264)", "(3) %", "12,345-", "1,234(2)".
var alone = pattern(`(?i)^[ \x{a0}]*([-–−(]?)[ \x{a0}]*(?:[*≈~<>≤≥]|ca?\.?|approx\.?)?[ \x{a0}]*(us\$|nt\$|hk\$|[sac]\$|[$€£¥₹]|rmb|rs\.?|[tkm]?(?:eur|usd|gbp|chf|pln|czk|sek|dkk|nok|huf|ron|inr|cny|jpy|aud|cad))?[ \x{a0}]*([-–−(]{0,2})[ \x{a0}]*(\d[\d .,'’\x{a0}\x{202f}\x{2009}]*|\.\d+)[ \x{a0}]*(\)?)[ \x{a0}]*([\pL€$£%'’]*\.?(?:[ \x{a0}][\pL€$£]+)?)[ \x{a0}]*([-–−)]?)[ \x{a0}]*(?:\(\w{1,2}\)|\[\w{1,2}\]|[*†‡¹²³⁰⁴⁵⁶⁷⁸⁹])*[ \x{a0}]*$`)

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
			f.scale(100)
			f.Unit = "%"
		} else if m := measureOf(p.Cell.Format); m.unit != "" {
			f.Unit = m.unit
			f.scale(max(1, m.scale))
		}
		return f, true
	}
	if p.Cell.Type == "date" || p.Cell.Type == "bool" || len(text) > 40 || len(periods(text)) > 0 && !looksPlain(text) {
		return Figure{}, false
	}
	m := alone.re().FindStringSubmatch(text)
	if m == nil {
		return Figure{}, false
	}
	v, step, ok := number(strings.Trim(m[4], " .,'’\u00a0\u202f\u2009"), r.comma)
	if !ok {
		return Figure{}, false
	}
	f := Figure{Value: v, Step: step, Text: text}
	if m[2] != "" {
		u, _ := unitOf(m[2])
		f.Unit = u.unit
		f.scale(max(1, u.scale))
	}
	for w := range strings.FieldsSeq(m[6]) {
		u, ok := unitOf(w)
		if !ok || len(w) == 1 && f.Unit == "" && strings.ContainsAny(w, "bBtTK") {
			return Figure{}, false // 94th, 1.43x
		}
		if f.Unit == "" {
			f.Unit = u.unit
		}
		f.scale(max(1, u.scale))
	}
	if m[1]+m[3] != "" || strings.Contains("-–−", m[7]) && m[7] != "" {
		f.Value.Neg(f.Value)
	}
	return f, true
}

// scale multiplies a figure by the scale that it is stated in.
func (f *Figure) scale(by int64) {
	if by > 1 {
		n := big.NewRat(by, 1)
		f.Value, f.Step, f.scaled = new(big.Rat).Mul(f.Value, n), new(big.Rat).Mul(f.Step, n), true
	}
}

func looksPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) }) && len(text) == 4
}

// cell makes a finding of a figure in a table. money is the currency that the table states first.
func (r *reader) cell(v value, at *spot, money string) {
	under := strings.Join(at.under, " ")
	f := Finding{Figure: v.Figure, Place: v.place, Confidence: 95, Status: r.about.Status, Label: at.path(), Head: at.head, Title: at.title}
	changed := changes.re().MatchString(at.head)
	if r.timed(&f, at.label, at.head, under, at.caption, at.within, at.dated); changed { // from one period to another
		f.Period = Period{}
		if all := periods(at.head); len(all) > 0 {
			f.Period = all[0].Period
		}
	}
	switch where := at.head + " " + at.label; {
	case actuals.re().MatchString(where) && r.about.Status != Audited && r.about.Status != Draft:
		f.Status = Actual
	case forecasts.re().MatchString(plansOf.re().ReplaceAllString(where, " ")), f.Status == Actual && forecasts.re().MatchString(under+" "+brief(at.caption)):
		f.Status = Forecast
	}
	if asides.re().MatchString(at.head) {
		return
	}
	if changed {
		f.Metric, f.Domain = plainly(bare(at.label)+" "+at.head), "other"
	} else {
		r.named(&f, at.label, at.first, at.head, under, at.caption)
	}
	if f.Metric == "" {
		return
	}
	if f.Subject == "" && alonely.re().MatchString(at.caption) && !groupIn.re().MatchString(at.caption) {
		f.Subject = "parent company"
	}
	r.counted(&f, at, money)
	r.keep(f)
}

// alonely matches what stands above the statements of a parent company alone, which says nothing of the group.
var alonely = pattern(`(?i)\bparent[- ]company\b|\bcompany(?:'s|’s)? (?:balance sheet|income statement|statement of|profit and loss|cash flow)|\b(?:unconsolidated|standalone|stand-alone|separate) (?:financial )?(?:statements|balance|accounts)|\bregistrant only\b|\beinzelabschluss|\bjahresabschluss der\b|\bcomptes sociaux\b|\bcuentas individuales\b`)

const (
	monthIn   = pattern(`(?i)` + months)
	monthOnly = pattern(`(?i)^` + months + `\.?$`)
)

// timed gives a figure of a table its period, from the nearest places that state parts of it: "Q3"
// in the row and "2024" above the column are one period.
func (r *reader) timed(f *Finding, label, head, under, caption string, within Period, dated bool) {
	if is := monthOnly.re().FindStringSubmatch(strings.TrimSpace(label)); is != nil {
		f.Period = Period{Kind: 'M', N: month(is[1])}
	} else if is := monthOnly.re().FindStringSubmatch(strings.TrimSpace(head)); is != nil {
		f.Period = Period{Kind: 'M', N: month(is[1])}
	}
	near := [...]string{label, head, under, caption}
	if yearly := slices.ContainsFunc(periods(head), func(s said) bool { return s.Year != 0 }); yearly && bare(label) != "" && slices.ContainsFunc(periods(label), func(s said) bool { return s.Year != 0 }) {
		near[0] = "" // a loan of 2014: the year is part of its name
	}
	if several(head) {
		return // due 2021 to 2022: no period that there is a word for
	}
	for i, where := range near {
		if i > 2 && (within.Kind != 0 || dated && f.Period.Year == 0 && f.Period.Kind == 0) {
			continue // it is of the other columns, or of the balance
		}
		if i > 1 && f.Period.Year == 0 && several(where) {
			continue // nothing says of which of them
		}
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
	if f.Period.Kind == 0 && within.Kind != 0 {
		f.Period = within
	}
	if f.Period.Kind == 0 && !dated {
		f.Period, f.Confidence = r.about.Period, f.Confidence-10
	}
	if f.Period.Year == 0 && f.Period.Kind != 0 {
		f.Period.Year, f.Confidence = r.about.Period.Year, f.Confidence-5
	}
}

// several reports whether a text states more than one year.
func several(text string) bool {
	first := 0
	for _, p := range periods(text) {
		if first != 0 && p.Year != 0 && p.Year != first {
			return true
		}
		first = cmp.Or(first, p.Year)
	}
	return false
}

// above returns the unit and scale in the text above a table, from lines without figures.
func (r *reader) above(caption string) (m measure) {
	for line := range strings.Lines(caption) {
		if len(figures(line, r.comma, func(int) bool { return false })) > len(periods(line)) {
			continue
		}
		if of, ok := scaleIn(line); ok {
			m = of
		} else if of := measureOf(line); m.unit == "" && m.scale == 0 && of.unit != "%" && len(line) < 160 {
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
// its column, or else the text above. The lexicon names a label that says the same and nothing else but
// a part; any other label is the name itself.
func (r *reader) named(f *Finding, label, own, head, under, caption string) {
	name, column := bare(label), plainColumn(bare(head))
	if monthOnly.re().MatchString(name) {
		name = ""
	}
	who := name
	if first, _, ok := strings.Cut(label, ","); ok && len(mentions(name)) == 0 {
		who = bare(first) // a company with its location
	} else if utf8.RuneCountInString(own) > 3 && own != label {
		who = bare(own) // a customer with its segment
	}
	is := func(m *mention, part string, ok bool) bool {
		if m != nil && ok {
			f.Metric, f.Domain, f.Subject = m.name, m.domain, part
		}
		return m != nil && ok
	}
	for _, text := range [...]string{name, bare(strings.Trim(inside.re().FindString(label), "()"))} {
		if m, rest, ok := wholly(text); ok {
			if part, ok := partOf(rest, plainly(column)); is(m, part, ok) {
				return
			}
		}
	}
	if m, rest, ok := wholly(column); ok && len(mentions(name)) == 0 {
		if part, ok := partOf(rest, plainly(who)); is(m, part, ok) {
			return
		}
	}
	if len(mentions(name)) == 0 || totals.re().MatchString(name) {
		for _, line := range append([]string{under}, lastLine(caption)) {
			if m := opening(bare(line)); m != nil {
				if part, ok := partOf("", plainly(who+" "+column)); is(m, part, ok) {
					return
				}
			}
		}
	}
	if m := r.whole(); m != nil && totals.re().MatchString(name) {
		f.Metric, f.Domain = m.name, m.domain
	} else if strings.ContainsFunc(name, unicode.IsLetter) {
		f.Metric, f.Domain = firstRunes(plainly(name), mostCalled), "other"
		f.Subject, _ = partOf("", plainly(column))
	} else if f.Metric = plainly(column); f.Metric != "" {
		f.Domain = "other" // its row is called by a period
	}
}

// plainColumn returns the head of a column without the words for a time.
func plainColumn(head string) string {
	return strings.TrimSpace(covers.re().ReplaceAllString(head, " "))
}

// qualifying matches words before a metric that make it another figure.
var qualifying = pattern(`(?i)\b(?:gross|brutto|average|adjusted|durchschnittliche?|deferred|other|sonstige\pL*|autres?|prepaid|accrued|unearned|comprehensive|weighted|non|changes?|increase|decrease|effects?|gains?|loss|losses|benefit|interest|income|tax|less|cost|costs)\b`)

// wholly returns the metric that a label names, with its other words, which may name a part. It is not
// ok if these make it another figure: "Deferred revenue", "Sales and marketing".
func wholly(label string) (m *mention, rest string, ok bool) {
	all := mentions(label)
	if len(all) == 0 {
		return nil, "", false
	}
	best := slices.MaxFunc(all, func(a, b mention) int { return cmp.Compare(a.end-a.at, b.end-b.at) })
	rest = label[:best.at] + " " + label[best.end:]
	if qualifying.re().MatchString(rest) || strings.Contains(rest, "/") {
		return nil, "", false
	}
	for w := range strings.FieldsSeq(rest) {
		word := plainly(w)
		_, unit := unitOf(w)
		if first, _ := utf8.DecodeRuneInString(w); word != "" && !unit && !unicode.IsUpper(first) && !unicode.IsDigit(first) && !groupWords.re().MatchString(word) && !forecasts.re().MatchString(word) && !actuals.re().MatchString(word) && !stops()[word] {
			return nil, "", false
		}
	}
	if words := strings.Fields(rest); len(words) == 1 && (strings.EqualFold(words[0], "and") || strings.EqualFold(words[0], "und")) {
		return nil, "", false
	}
	return &best, plainly(label[best.end:]) + " " + plainly(label[:best.at]), true
}

// after matches what may follow the name of a figure in the title of a table.
var after = pattern(`(?i)^\s*(?:$|[,:;–—-]|by\b|per (?:segment|region|country|company|site|plant|customer|product|quarter|month|year)|nach\b|pro\b|par\b|je\b|of\b|in\b|at\b|for\b|de\b|der\b|am\b|zum\b|au\b|und\b|\(?(?:in )?[tkm]?(?:€|eur)|\(?(?:19|20)\d\d|FY|Q\d)`)

// opening returns the metric with which the title of a table begins.
func opening(line string) *mention {
	line = strings.TrimSpace(line)
	if len(line) > 90 {
		return nil
	}
	for _, m := range mentions(line) {
		lead := plainly(titled.re().ReplaceAllString(line[:m.at], " "))
		if after.re().MatchString(line[m.end:]) && !slices.ContainsFunc(strings.Fields(lead), func(w string) bool { return !groupWords.re().MatchString(w) }) {
			return &m
		}
	}
	return nil
}

// titled matches the number of a table or a chapter.
var titled = pattern(`(?i)^(?:table|tabelle|tableau|note)? ?[\d.]+[a-z]?[:.)]?\s`)

// totals matches the name of the last row of a table with its totals.
var totals = pattern(`(?i)^(?:grand total|total|sum|summe|gesamt|gesamtsumme|insgesamt|total général|somme|ensemble)(?: all| alle)?$`)

// whole returns the metric in the title of the document: in a plan of capital expenditure, the
// total is capital expenditure. It is nil if the title names none, or several.
func (r *reader) whole() *metric {
	all := mentions(r.about.Title)
	if len(all) == 0 {
		all = mentions(r.stem)
	}
	if len(all) != 1 || all[0].kind != "amount" {
		return nil
	}
	return all[0].metric
}

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

// noted is measureOf for a note on the units of a table, which may have exceptions.
func noted(text string) measure {
	if m, ok := scaleIn("(" + text + ")"); ok {
		return m
	}
	return measureOf(text)
}

// asides matches the head of a column with the numbers of notes or pages.
var asides = pattern(`(?i)(?:^|[^\p{L}])(?:notes?|page|ref|nr|anhang|seite|no)\.?$`)

// plansOf matches plans that are no forecasts: of pensions, of shares.
var plansOf = pattern(`(?i)(?:incentive|option|purchase|award|bonus|pension|retirement|benefit|compensation|award|equity|share|stock|savings) plans?|plan (?:assets|category|amendments?)|plans (?:not )?approved`)

// brief returns the lines of a caption that are no sentences.
func brief(caption string) string {
	var all []string
	for line := range strings.Lines(caption) {
		if len(line) < 100 {
			all = append(all, line)
		}
	}
	return strings.Join(all, "")
}

// mostCalled is the greatest length of a name that a document gives a figure.
const mostCalled = 250

// pure matches labels of figures that no scale of the table is of: per share, in percent, in years.
var (
	pure     = pattern(`(?i)\bper (?:\pL+ ){0,3}(?:share|unit|day|ads|ordinary|common|tonne?|barrel|hour|employee)\b|\beps\b|%|\(?in years\)?|price\b[^:]{0,30}\bshare|\bje aktie\b|\bpar action\b`)
	rated    = pattern(`(?i)\bratios?\b|\bpercent(?:age)?\b|\brates?\b|\byield\b|\bvolatility\b`)
	physical = pattern(`(?i)\b(?:\(?in years\)?|[kmgt]wh?|kwh|tonn?es?|m[23]|sqm|lb|oz|kg|km|hours|stunden|heures|days|tage|jours|ftes?)\b|m[²³]`)
	pieceful = pattern(`(?i)\bshares?\b|\bnumber of\b|\bheadcount\b|\bemployees\b|\bAktien\b|\bMitarbeiter\b|\bactions\b`)
	awards   = pattern(`(?i)\b(?:RSUs?|PSUs?|options|awards)\b`)
	worth    = pattern(`(?i)\b(?:value|compensation|expenses?|costs?|amounts?|proceeds|payments?|dividends?|income|earnings|equity|capital|tax|price|purchases?|repurchases?|issuance)\b`)
	excepted = pattern(`(?i)\bexcept\b[^)]*`)
)

// counted gives a figure of a table its unit and scale, from the nearest place that states them: its
// row, its column, the corner, the labels above, the text around and the whole document.
func (r *reader) counted(f *Finding, at *spot, money string) {
	kind := ""
	if m := lexicon()[f.Metric]; m != nil {
		kind = m.kind
	}
	label := f.Label + " " + excepted.re().ReplaceAllString(f.Head, "")
	switch {
	case kind == "percent" && f.Unit != "" && f.Unit != "%" && f.Unit != "pp", kind == "percent" && f.Value.Cmp(big.NewRat(1000, 1)) > 0:
		f.Metric, f.Domain, kind = plainly(bare(at.label)), "other", "" // some call an amount a margin
	case kind == "percent":
		if f.Unit != "pp" {
			f.Unit = "%"
		}
		return
	case kind == "count" && f.Unit != "%":
		f.Unit = ""
		return
	case f.Unit == "%" || f.Unit == "pp":
		return
	}
	own := measureOf(at.label)
	if own == (measure{}) {
		own = measureOf(strings.Join(at.under, " "))
	}
	if f.Unit == "" && kind == "" && (own.unit == "%" || own.scale == 0 && measureOf(at.head).unit == "%") {
		f.Unit = "%"
		return
	}
	single := pure.re().MatchString(label) || f.Unit == "" && f.Value.Cmp(big.NewRat(100, 1)) < 0 && rated.re().MatchString(label)
	pieces := (pieceful.re().MatchString(label) || money == "" && awards.re().MatchString(f.Label)) && !worth.re().MatchString(f.Label) && f.Unit == "" && kind == ""
	near := []measure{own, noted(at.head), noted(at.corner), r.above(at.caption), r.nearby, r.measure}
	measured := physical.re().MatchString(at.head+" "+at.label) && f.Unit == ""
	scaled := f.scaled
	for i, m := range near {
		if f.Unit == "" && m.unit != "" && m.unit != "pp" && (m.unit != "%" || kind == "") && !pieces && !measured {
			f.Unit = m.unit
		}
		if scaled || m.scale == 0 {
			continue
		}
		scaled = true
		if r.stated.scale == 0 {
			r.stated = m
		}
		if i > 0 && (measured || at.whole && f.Step.Cmp(big.NewRat(1, 1)) < 0 && m.scale == 1000 || single && (i > 1 && kind == "" || perShare.re().MatchString(label)) || pieces && (m.unit != "" || m.pieces)) {
			continue // in thousands, except shares and per share data
		}
		f.scale(m.scale)
	}
	switch {
	case f.Unit == "" && kind == "amount" && money == "":
		f.Confidence -= 15
	case f.Unit == "" && !pieces && !measured && money != "" && !single:
		f.Unit = money
	}
}
