package manda

import (
	"cmp"
	_ "embed"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/documents"
)

// What a figure is.
const (
	Actual   = "ACTUAL"
	Forecast = "FORECAST"
	Draft    = "DRAFT"
	Audited  = "AUDITED"
)

// A Finding is a figure of the company, and where a document states it.
type Finding struct {
	Figure
	Metric     string // as the lexicon calls it; of what that does not know, as the document does
	Domain     string
	Subject    string // the part of the company that it is of; empty is all of it
	Period     Period
	Status     string
	Place      string
	Confidence int // percent: how much of it the document says itself
}

// A metric is what figures are of.
type metric struct {
	name, domain, kind string
	stock              bool // it is counted at a day
	unsigned           bool // it is written with or without a minus
}

//go:embed metrics.txt
var metricsFile string

// lexicon are the metrics by each of their names.
var lexicon = sync.OnceValue(func() map[string]*metric {
	all := map[string]*metric{}
	for line := range strings.Lines(metricsFile) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.Split(strings.TrimSpace(line), "|")
		kinds := strings.Fields(parts[2])
		m := &metric{strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), kinds[0], slices.Contains(kinds, "stock"), slices.Contains(kinds, "unsigned")}
		all[plainly(m.name)] = m
		for name := range strings.SplitSeq(parts[3], ";") {
			all[plainly(name)] = m
		}
	}
	return all
})

var tokens = pattern(`[\p{L}\d&]+(?:['’.-][\p{L}\d&]+)*`)

// plainly is a text in small letters, its words one space apart.
func plainly(text string) string {
	return strings.ReplaceAll(strings.ToLower(strings.Join(tokens.re().FindAllString(text, -1), " ")), "’", "'")
}

// A mention is a metric that a text names, and where.
type mention struct {
	*metric
	at, end int
}

// mostWords is how many words the name of a metric has at most.
const mostWords = 7

// mentions are the metrics that a text names, the longest name of each place.
func mentions(text string) []mention {
	var all []mention
	words := tokens.re().FindAllStringIndex(text, -1)
	for i := 0; i < len(words); i++ {
		for n := min(mostWords, len(words)-i); n > 0; n-- {
			at, end := words[i][0], words[i+n-1][1]
			if m := known(plainly(text[at:end])); m != nil {
				all = append(all, mention{m, at, end})
				i += n - 1
				break
			}
		}
	}
	return all
}

// known finds a metric by a name, whatever ending its last word has.
func known(name string) *metric {
	if m := lexicon()[name]; m != nil {
		return m
	}
	for _, ending := range [...]string{"s", "n", "en", "e", "es"} {
		if short, ok := strings.CutSuffix(name, ending); ok && len(short) > 3 {
			if m := lexicon()[short]; m != nil {
				return m
			}
		}
	}
	return nil
}

var (
	forecasts  = pattern(`(?i)(?:^|[^\p{L}])(?:forecasts?|forecasted|budgets?|budgeted|plan|planned|outlook|guidance|estimated?s?|expects?|expected|projected|projections?|target|will (?:reach|be|rise|grow|come)|should reach|prognosen?|prognostiziert|planung|hochrechnung|erwarte[nt]|erwartete[nrs]?|wird|werden|prévisions?|prévisionnel|prévoit|prévu|estimée?s?|attendue?s?|objectif)(?:[^\p{L}]|$)`)
	actuals    = pattern(`(?i)(?:^|[^\p{L}])(?:actuals?|ist|réel|réalisé|reported)(?:[^\p{L}]|$)`)
	drafts     = pattern(`(?i)(?:^|[^\p{L}])(?:draft|preliminary|provisional|entwurf|vorläufige?[nrs]?|projet|provisoires?)(?:[^\p{L}]|$)`)
	audits     = pattern(`(?i)(?:^|[^\p{L}])(?:audited (?:consolidated |annual )?(?:financial )?(?:statements|accounts|figures|report)|auditor'?s'? report|independent auditors?|geprüfte?r? (?:konzern|jahres)abschluss|bestätigungsvermerk|comptes (?:annuels )?audités|rapport des commissaires aux comptes)(?:[^\p{L}]|$)`)
	changes    = pattern(`(?i)(?:^|[^\p{L}])(?:change|variance|delta|yoy|y-o-y|growth|abw(?:eichung)?|veränd(?:erung)?|vs|variation|évolution|écart|notes?|page|ref|nr|no|row|share|anteil|limits?|thresholds?|covenant|minimum|maximum|grenzwert|% of)(?:[^\p{L}]|$)|[Δ∆]`)
	wholeDoc   = pattern(`(?i)(?:all |the )?(?:figures|amounts|numbers|values|angaben|beträge|zahlen|werte|montants|chiffres)(?: are)?(?: stated| shown| expressed| presented)?[^.;]{0,20} (?:in|en) [^.;]{1,40}`)
	earlier    = pattern(`(?i)(?:a |the )?(?:year (?:earlier|ago|before)|(?:prior|previous|last|preceding)[- ]year|vorjahr\pL*|(?:l'|d')?(?:année|exercice) précédente?|(?:a|an) un an plus tôt|ein jahr (?:zuvor|vorher|davor)|corresponding period)`)
	otherwise  = pattern(`(?i)(?:earlier|previous|prior|former|initial|original|frühere\pL*|bisherige\pL*|ursprüngliche\pL*|précédente?|initiale?)(?: \pL+){0,2} (?:estimate|figure|forecast|version|number|value|schätzung|angabe|wert|zahl|estimation|chiffre|montant)(?: of| von| de)?[^.]{0,12}$|(?:instead of|rather than|statt|anstelle von|au lieu de|and not|not)[^\p{L}]{0,3}$`)
	groupWords = pattern(`(?i)^(?:of|de|du|der|des|from|for|by|von|nach|to|persons?|people|personen|number|amount|amounts|value|values|figure|figures|betrag|wert|montant|valeur|all|sum|summe|somme|insgesamt|gruppe|konzerns|konzernweit|outstanding|balance|position|item|book|nominal|end|january|december|year|ensemble|gesamtkonzern|anzahl|group|total|consolidated|overall|company|net|reported|konzern|gesamt|groupe|total|the|our|annual|quarterly|full[- ]year|year|end|of which|in|per|at|as|as at|year[- ]end|closing|average|fy|and)$`)
	partBehind = pattern(`^(?:,? ?(?:of|at|in|for|from|der|des|von|im|in der|de la|de|du|chez|à) (?:the |der |dem |our |la |le )?((?:\p{Lu}[\p{L}&.-]*|segment|subsidiary|division|plant)(?: (?:\p{Lu}[\p{L}&.-]*|segment|subsidiary|division|plant)){0,3}))`)
	partBefore = pattern(`((?:\p{Lu}[\p{L}&.-]*)(?: (?:\p{Lu}[\p{L}&.-]*|&)){0,2}(?: (?:segment|subsidiary|division|plant|site|business unit))?)['’]?s? $`)
)

// A pattern is an expression that is compiled when it is first needed: most runs of the
// program read no documents.
type pattern string

var compiled sync.Map // by pattern

func (p pattern) re() *regexp.Regexp {
	if re, ok := compiled.Load(p); ok {
		return re.(*regexp.Regexp)
	}
	re, _ := compiled.LoadOrStore(p, regexp.MustCompile(string(p)))
	return re.(*regexp.Regexp)
}

// An About is what a document says of itself.
type About struct {
	Status   string
	Date     time.Time // zero where it says none
	Title    string
	Period   Period    // that it is of
	Part     string    // the part of the company that it is of; empty where it names none
	Replaces []Replace // what it says that it takes the place of
}

// A reader takes findings out of one document.
type reader struct {
	about    About
	comma    bool
	measure  measure // of the whole document
	findings []Finding
	seen     map[string]bool
}

// Extract takes the figures out of a document by that name: those of its tables, and those
// that its sentences state of something that the lexicon knows. It is a function of its
// arguments.
func Extract(name string, doc *documents.Document) (About, []Finding) {
	r := &reader{seen: map[string]bool{}}
	var text, first strings.Builder
	var heading string
	for i := range doc.Pieces {
		p := &doc.Pieces[i]
		if p.Hidden {
			continue
		}
		text.WriteString(p.Text + "\n")
		if first.Len() < 1500 {
			first.WriteString(p.Text + "\n")
		}
		if heading == "" && p.Kind == documents.Heading {
			heading = p.Text
		}
	}
	r.comma = commas(text.String())
	if is := wholeDoc.re().FindString(text.String()); is != "" {
		r.measure = measureOf(is)
	}
	stem := strings.NewReplacer("_", " ", "-", " ").Replace(strings.TrimSuffix(name, path.Ext(name)))
	opening, _, _ := strings.Cut(first.String(), "\n")
	r.about = about(stem, cmp.Or(doc.Title, heading, firstRunes(opening, 120)), first.String(), doc)
	r.about.Replaces = replaces(text.String())
	r.about.Part = partIn(cmp.Or(doc.Title, heading) + "\n" + firstRunes(first.String(), 250) + "\n" + stem)
	r.tables(doc.Pieces)
	r.prose(doc.Pieces)
	return r.about, r.findings
}

// about is what the name, the title and the beginning of a document say of it.
func about(stem, title, first string, doc *documents.Document) About {
	a := About{Title: title, Status: Actual}
	head := stem + "\n" + title + "\n" + firstRunes(first, 400)
	switch {
	case drafts.re().MatchString(stem + " " + title):
		a.Status = Draft
	case audits.re().MatchString(head) && !drafts.re().MatchString(head):
		a.Status = Audited
	case drafts.re().MatchString(head):
		a.Status = Draft
	case forecasts.re().MatchString(stem + " " + title):
		a.Status = Forecast
	}
	for _, part := range []string{stem, title, firstRunes(first, 300)} {
		for _, p := range periods(part) {
			if a.Period.Kind == 0 && (p.Kind != 'D' || asOf.re().MatchString(part[:p.at])) && p.Year != 0 {
				a.Period = p.Period
			}
		}
	}
	for _, p := range periods(first) {
		if p.Kind == 'D' && a.Date.IsZero() {
			a.Date = time.Date(p.Year, time.Month(p.N), p.Day, 0, 0, 0, 0, time.UTC)
		}
	}
	if a.Date.IsZero() {
		a.Date = doc.Modified
		if a.Date.IsZero() {
			a.Date = doc.Created
		}
	}
	if a.Period.Kind == 0 && !a.Date.IsZero() {
		a.Period = Period{Kind: 'Y', Year: a.Date.Year()}
	}
	return a
}

var (
	groupIn  = pattern(`(?i)(?:^|[^\p{L}])(?:group|holding|consolidated|konzern\pL*|gruppe|groupe|consolidés?)(?:[^\p{L}]|$)|-gruppe|-konzern`)
	siteIn   = pattern(`(?:[Ss]ite|[Pp]lant|[Ww]erk|Werksbericht|Standort|[Uu]sine|[Ff]iliale|Niederlassung|[Ss]ubsidiary)(?: de| of| du| in| d['’])? (\p{Lu}\p{L}+)`)
	entityIn = pattern(`((?:\p{Lu}[\p{L}&-]+ ){1,4})(?:Inc\b|SAS\b|S\.A\.S|SARL\b|S\.A\.|s\.r\.o|Ltd\b|LLC\b|B\.V|GmbH|AG\b|SE\b|KG\b|Sp\. z)`)
)

// partIn is the part of the company that the beginning of a document says it is of: a
// site, or one of several companies. What names the group is of all of it.
func partIn(head string) string {
	if is := siteIn.re().FindStringSubmatch(head); is != nil {
		return plainly(is[1])
	}
	if is := entityIn.re().FindStringSubmatchIndex(head); is != nil && !groupIn.re().MatchString(head[:is[1]]) {
		return plainly(head[is[0]:is[1]])
	}
	return ""
}

// asOf is what stands before the day that figures are of, and not the one of their document.
var asOf = pattern(`(?i)(?:as of|as at|ended|ending|zum|per|stichtag|au|clos le)[ \x{a0}](?:the )?$`)

func firstRunes(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return s[:i]
		}
	}
	return s
}

// A where says in which table a cell stands.
type where struct {
	inside, sheet      string
	page, slide, table int
}

// tables takes the figures out of tables, each with what stands before it.
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
		if len(values) == 0 { // a heading, of a column each or of what follows
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
			if head == "" { // one that covers several columns
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
	rest := strings.Trim(text[:f.at]+text[f.end:], " \u00a0()+-–−*≈~<>¹²³.")
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

// cell makes a finding of a figure in a table: its row, its column and what stands above
// say together what it is of.
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
		return // a number of something that nobody knows
	}
	r.keep(f)
}

var monthOnly = pattern(`(?i)^` + months + `\.?$`)

// timed gives a figure of a table its period, from the nearest places that say parts of it:
// "Q3" beside the row and "2024" above the column are one.
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

// above is what stands above a table of what its figures count: in lines that state none.
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

// qualified is what stands in a name and says nothing of what it is.
var qualified = pattern(`\([^)]*\)|[:;,–—*¹²³]|\bincl\.?|\bexcl\.?`)

// inside is what stands in brackets: payments for fixed assets (capital expenditure).
var inside = pattern(`\([\pL &-]{4,}\)`)

// bare is a label without periods, units and what only qualifies it.
func bare(text string) string {
	for _, p := range slices.Backward(periods(text)) {
		text = text[:p.at] + " " + text[p.end:]
	}
	return strings.TrimSpace(qualified.re().ReplaceAllString(text, " "))
}

// named says what a figure of a table is called, and of what part of the company it is:
// after its row, else its column, else what stands above; known reports whether the lexicon
// has that.
func (r *reader) named(f *Finding, label, head, under, caption string) (known bool) {
	name, column := bare(label), bare(head)
	if first, _, ok := strings.Cut(label, ","); ok && len(mentions(name)) == 0 {
		name = bare(first) // a company, and where it is
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
			break // it is named, and is not what the lexicon knows
		}
	}
	if strings.ContainsFunc(name, unicode.IsLetter) && utf8.RuneCountInString(name) <= 70 {
		f.Metric, f.Domain = plainly(name), "other"
		f.Subject, _ = partOf("", plainly(column))
	}
	return false
}

// gross is a word right before a metric that makes another figure of it.
var gross = pattern(`(?i)(?:gross|brutto|average|adjusted|durchschnittliche?)[ \x{a0}]$`)

// lastLine is the last line of a caption that names a metric.
func lastLine(caption string) string {
	lines := strings.Split(caption, "\n")
	for _, line := range slices.Backward(lines) {
		if len(line) < 160 && len(mentions(line)) > 0 {
			return line
		}
	}
	return ""
}

// partOf is the part of the company that words beside a metric name, if they name one.
func partOf(before, behind string) (string, bool) {
	var rest []string
	for w := range strings.FieldsSeq(before + " " + behind) {
		if _, unit := unitOf(w); !unit && !groupWords.re().MatchString(w) && !forecasts.re().MatchString(w) && !actuals.re().MatchString(w) && !drafts.re().MatchString(w) && w != "audited" && !slices.Contains(rest, w) {
			rest = append(rest, w)
		}
	}
	return strings.Join(rest, " "), len(rest) <= 4
}

// counted gives a figure what it counts, from the nearest place that says so.
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

// prose takes the figures out of sentences. Lines of a page are put together first.
func (r *reader) prose(pieces []documents.Piece) {
	type run struct {
		text   strings.Builder
		starts []int // of pieces
		of     []*documents.Piece
	}
	var now *run
	end := func() {
		if now != nil {
			text := now.text.String()
			r.passage(text, func(at int) *documents.Piece {
				i, ok := slices.BinarySearch(now.starts, at)
				if !ok {
					i--
				}
				return now.of[max(i, 0)]
			})
		}
		now = nil
	}
	var at documents.Location
	for i := range pieces {
		p := &pieces[i]
		if p.Hidden || p.Cell != nil || p.Kind == documents.Heading || strings.TrimSpace(p.Text) == "" {
			end()
			continue
		}
		if now != nil && (p.At.Page != at.Page || p.At.Slide != at.Slide || p.At.Section != at.Section || p.At.Inside != at.Inside || p.At.Part != at.Part || p.At.Page == 0 && p.At.Line == 0) {
			end()
		}
		if now == nil {
			now, at = &run{}, p.At
		}
		now.starts, now.of = append(now.starts, now.text.Len()), append(now.of, p)
		now.text.WriteString(p.Text)
		now.text.WriteByte(' ')
	}
	end()
}

var sentenceEnds = pattern(`[.!?](?:["”»)]?)\s+(?:[\p{Lu}"“«(•\d-])|\s[•▪–]\s`)

// passage reads text that stands together, sentence by sentence.
func (r *reader) passage(text string, pieceAt func(at int) *documents.Piece) {
	var lately Period
	from := 0
	for _, end := range cuts(text) {
		r.sentence(text[from:end], from, &lately, pieceAt)
		from = end
	}
}

// cuts are where the sentences of a text end.
func cuts(text string) []int {
	var all []int
	for _, is := range sentenceEnds.re().FindAllStringIndex(text, -1) {
		if abbreviated.re().MatchString(strings.TrimRight(text[max(0, is[0]-12):is[0]], " ")) { // Mio. EUR, approx. 12, 3. Quartal
			continue
		}
		_, n := utf8.DecodeLastRuneInString(text[:is[1]])
		all = append(all, is[1]-n)
	}
	return append(all, len(text))
}

var abbreviated = pattern(`(?i)(?:^|[\s(])(?:mio|mrd|tsd|approx|ca|c|no|nr|inc|ltd|bzw|ggü|vs|incl|excl|z\.b|e\.g|i\.e|dr|mr|mrs|ms|\d{1,2})$`)

// sentence takes the figures out of one sentence: each belongs to the metric that was
// named last, of its kind.
func (r *reader) sentence(text string, from int, lately *Period, pieceAt func(int) *documents.Piece) {
	if !strings.ContainsAny(text, "0123456789") {
		return
	}
	times := periods(text)
	names := mentions(text)
	if len(names) == 0 {
		if i := slices.IndexFunc(times, func(s said) bool { return s.Kind != 'D' && s.Year != 0 }); i >= 0 && len(times) == 1 {
			*lately = times[i].Period
		}
		return
	}
	next := 0 // the first finding says of what period the sentences after it are
	all := figures(text, r.comma, func(at int) bool {
		return slices.ContainsFunc(times, func(s said) bool { return at >= s.at && at < s.end })
	})
	planned := forecasts.re().MatchString(text)
	for i, fig := range all {
		if isYear(&fig) || derived.re().MatchString(text[:fig.at]) || otherwise.re().MatchString(text[:fig.at]) || len(fig.Text) < 3 && fig.Unit == "" && heads(pieceAt(from+fig.at).Text, fig.Text) {
			continue // 1 Business: a heading
		}
		m := nearest(names, all, i, text)
		if m == nil {
			continue
		}
		f := Finding{Figure: fig, Metric: m.name, Domain: m.domain, Status: r.about.Status, Confidence: 85, Place: pieceAt(from + fig.at).At.String()}
		f.Period = r.periodOf(text, times, all, i, *lately, pieceAt(from+fig.at), &f.Confidence)
		f.Subject = subjectOf(text, m)
		if i > 0 && m.end <= all[i-1].at { // of 8.4 %, in Chemnitz of 12.6 %
			if is := local.re().FindStringSubmatch(text[all[i-1].end:fig.at]); is != nil && month(is[1]) == 0 && len(periods(is[1])) == 0 {
				f.Subject = plainly(is[1])
			}
		}
		if planned {
			f.Status = Forecast
		} else if f.Status == Forecast && f.Period.Year < r.about.Period.Year {
			f.Status = Actual // a plan says what was, too
		}
		if next == 0 {
			next, *lately = 1, f.Period
		}
		if !fits(m, &f, text) {
			continue
		}
		r.counted(&f)
		r.keep(f)
	}
}

// heads reports whether a line is a heading with a number.
func heads(line, number string) bool {
	return strings.HasPrefix(line, number+" ") && len(line) < 40 && len(strings.Fields(line)) < 5
}

// derived says that a figure is what something was written down by, and not what it is.
var derived = pattern(`(?i)(?:write-?downs?|allowances?|impairments?|provisions? for|wertberichtigung\pL*|abwertung\pL*|dépréciations?)[^\d.;]{0,40}$`)

// local names the place that the second of two figures is of.
var local = pattern(`(?:^|[ ,(])(?:in|at|à|für|for) (\p{Lu}\p{L}{2,})`)

// change reports whether a figure says by how much something changed, and not what it is.
var change = pattern(`(?i)(?:\bby|\bum|\bde|\bof some|\+)(?: (?:about|around|some|rund|etwa|environ|nearly|almost|over))?[ \x{a0}]?[(]?$`)

// counts is what stands behind a number that counts what was named before it, and not what
// follows.
var counts = pattern(`^(?:[ \x{a0}]*(?:[.,;:)(]|$|(?:in|at|by|on|as|and|am|zum|im|an|und|au|à|en|fin|end|with|mit|after|nach|against|compared|from|persons?|people|employees|personen|mitarbeiter\pL*|personnes|salariés)(?:[^\p{L}]|$)))`)

var days = pattern(`(?i)^ ?(?:days|tage|jours)`)

var rose = pattern(`(?i)(?:increase|decrease|decline|growth|improvement|reduction|rise|fall|drop|rose|grew|fell|up|down|gestiegen|stieg|sank|gefallen|wuchs|anstieg|rückgang|plus|minus|hausse|baisse|progression|progressé|augmenté|recul|reculé|croissance)[^\d.;]{0,24}$`)

// fits reports whether a figure may be one of a kind.
func fits(m *mention, f *Finding, text string) bool {
	kind := m.kind
	before := text[:f.at]
	switch {
	case kind == "text":
		return false
	case change.re().MatchString(before) && rose.re().MatchString(strings.TrimRight(change.re().ReplaceAllString(before, ""), " ")):
		return false
	case f.Unit == "pp":
		return false
	case kind == "percent":
		return f.Unit == "%" && !change.re().MatchString(before)
	case f.Unit == "%":
		return false
	case kind == "amount":
		return f.Unit != ""
	case kind == "count":
		return f.Unit == "" && f.Value.IsInt() && f.Value.Sign() > 0 && (m.at > f.at || counts.re().MatchString(text[f.end:]))
	case kind == "days":
		return f.Unit == "" && days.re().MatchString(text[f.end:])
	}
	return true
}

// nearest is the metric that a figure is of: the last that was named before it in the
// sentence, unless one stands right behind it, as in "240 employees".
func nearest(names []mention, all []Figure, i int, text string) *mention {
	f := &all[i]
	var m *mention
	for k := range names {
		n := &names[k]
		fitting := (f.Unit == "%") == (n.kind == "percent")
		switch {
		case n.end <= f.at && fitting:
			m = n
		case n.at >= f.end && fitting && (m == nil || n.kind == "count") && n.at-f.end < 40 && !strings.ContainsAny(text[f.end:n.at], ".;,"):
			if i+1 < len(all) && all[i+1].at < n.at {
				return m
			}
			return n
		}
	}
	if m != nil && strings.ContainsAny(text[m.end:f.at], ";") {
		return nil
	}
	return m
}

// periodOf is the period that a figure of a sentence is of: the one right behind it, else
// the last before it that is not right behind another figure, else what stands around.
func (r *reader) periodOf(text string, times []said, all []Figure, i int, lately Period, at *documents.Piece, confidence *int) Period {
	f := &all[i]
	// behind is the period right behind a figure, -1 where there is none.
	behind := func(i int) int {
		next := len(text)
		if i+1 < len(all) {
			next = all[i+1].at
		}
		for k := range times {
			if s := &times[k]; s.at >= all[i].end && s.at < next && s.at-all[i].end < 40 && !strings.ContainsAny(text[all[i].end:s.at], ",;:") {
				return k
			}
		}
		return -1
	}
	// ahead is the period that is said of a figure alone: (2023: 38.5 %).
	ahead := func(i int) int {
		return slices.IndexFunc(times, func(s said) bool {
			return s.end <= all[i].at && strings.Trim(text[s.end:all[i].at], " \u00a0") == ":"
		})
	}
	taken := map[int]bool{}
	for k := range all {
		if k != i {
			taken[behind(k)], taken[ahead(k)] = true, true
		}
	}
	var p Period
	if k := ahead(i); k >= 0 {
		p = times[k].Period
	} else if k := behind(i); k >= 0 && !taken[k] {
		p = times[k].Period
	} else {
		for k := range times {
			if s := &times[k]; !taken[k] && (s.end <= f.at || p.Kind == 0) {
				p = s.Period
			}
		}
		next := len(text)
		if i+1 < len(all) {
			next = all[i+1].at
		}
		prior := 0
		if i > 0 {
			prior = all[i-1].end
		}
		if earlier.re().MatchString(text[f.end:min(next, f.end+60)]) || i > 0 && earlier.re().MatchString(text[prior:f.at]) || i == 0 && earlier.re().MatchString(text[max(0, f.at-30):f.at]) {
			for _, main := range [...]Period{p, lately, r.about.Period} {
				if main.Kind != 0 && main.Year != 0 {
					main.Year--
					return main
				}
			}
		}
	}
	if p.Kind == 0 {
		*confidence -= 10
		for _, s := range periods(at.At.Section) {
			p = s.Period
			break
		}
	}
	if p.Kind == 0 {
		if p = lately; p.Kind == 0 {
			p, *confidence = r.about.Period, *confidence-5
		}
	}
	if p.Year == 0 {
		p.Year, *confidence = cmp.Or(lately.Year, r.about.Period.Year), *confidence-5
	}
	return p
}

// subjectOf is the part of the company that a metric of a sentence is of.
func subjectOf(text string, m *mention) string {
	part := ""
	if is := partBehind.re().FindStringSubmatch(text[m.end:]); is != nil {
		part = is[1]
	} else if is := partBefore.re().FindStringSubmatch(text[:m.at]); is != nil && m.at > len(is[0]) {
		part = is[1]
	}
	if len(part) < 3 || len(periods(part)) > 0 || month(part) > 0 && len(part) < 10 || len(mentions(part)) > 0 {
		part = ""
	}
	if part, _ = partOf(plainly(part), ""); part == "" {
		part = plainly(kindOf.re().FindString(text[:m.at]))
	}
	if part == "" {
		part = plainly(someOf.re().FindString(text[max(0, m.at-50):m.at]))
	}
	return part
}

// kindOf is a word right before a metric by which it is of a part.
var kindOf = pattern(`(?i)(?:recurring|subscription|services?|export|domestic|spare[- ]parts|after-sales|licen[cs]e|product|software|online|digital|rental|wiederkehrende\pL*|inlands|auslands|export|gross|brutto)[ -]$`)

// someOf says that what follows is of a part, whichever it is.
var someOf = pattern(`(?i)\b(?:product line|segment|subsidiary|division|business unit|region|this customer|produktlinie|sparte|tochter\pL*|filiale|diesem kunden|ce client)\b`)

// keep keeps a finding, once for each place and meaning.
func (r *reader) keep(f Finding) {
	if m := lexicon()[f.Metric]; m != nil {
		if m.stock {
			f.Period = f.Period.close()
		}
		if m.unsigned {
			f.Value = new(big.Rat).Abs(f.Value)
		}
	}
	if f.Period.String() == "" || f.Value.Num().BitLen() > 200 {
		return
	}
	if f.Status == Draft {
		f.Confidence -= 15
	}
	key := strings.Join([]string{f.Place, f.Metric, f.Subject, f.Period.String(), f.Status, shown(f.Value)}, "|")
	if !r.seen[key] {
		r.seen[key] = true
		r.findings = append(r.findings, f)
	}
}
