package phrase

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/words"
	"verbatim/stores"
	"verbatim/verbs"
)

// A nameList indexes the names of an entity's rows by their words.
type nameList struct {
	kind   string // of rows, which begins the name of a label that begins with a digit
	names  []string
	stems  [][]string
	byStem map[string][]int32
	weight map[string]float64
}

func newNames(kind string, all []string, aliases []alias) *nameList {
	n := &nameList{kind: strings.ReplaceAll(kind, "_", "-"), names: all, stems: make([][]string, len(all)), byStem: map[string][]int32{}, weight: map[string]float64{}}
	for i, name := range all {
		plain, _, _ := strings.Cut(name, "~") // what tells rows of one label apart is in no sentence
		for w := range strings.SplitSeq(plain, "-") {
			if w == "" || small()[w] {
				continue
			}
			s := stem(w)
			if !slices.Contains(n.stems[i], s) {
				n.stems[i] = append(n.stems[i], s)
				n.byStem[s] = append(n.byStem[s], int32(i))
			}
		}
	}
	for _, a := range aliases {
		for _, row := range n.byStem[a.first] {
			if !strings.Contains(all[row], a.slug) {
				continue
			}
			for _, s := range a.stems {
				if !slices.Contains(n.byStem[s], row) {
					n.byStem[s] = append(n.byStem[s], row)
				}
			}
		}
	}
	for s, rows := range n.byStem {
		n.weight[s] = math.Log(1 + float64(len(all))/float64(len(rows)))
	}
	return n
}

// found are the rows that words of a clause may mean.
type found struct {
	names   []string // one where it is certain
	words   []int    // of the clause
	written bool     // in full: as a call writes it, @pierre-dupont, or as its label does, MS-0004
}

// find returns the rows that a clause names. It is certain of one only if no other row's name has a
// word of the clause that this one lacks.
func (n *nameList) find(c *clause) found {
	hits := map[int32]uint64{}
	var letters uint64 // words of one letter, which name nothing by themselves
	var words [64]int
	count := 0
	for i := range c.words {
		if count == len(words) || c.quoted[i] {
			continue
		}
		s := c.stems[i]
		rows := n.byStem[s]
		if from, to := c.glued(i, ""); rows == nil && to-from > 1 {
			rows = n.byStem[c.joined(from, to)] // names are not divided between letters and digits
		} else if small()[c.words[i].Plain] {
			continue
		}
		if rows == nil && len(s) >= 4 && len(n.byStem) <= maxLoose && plainWord(s) {
			// The beginning of a name's word, or a word with one typing error.
			for t, all := range n.byStem {
				if len(t) >= 4 && (strings.HasPrefix(t, s) || len(s) >= 5 && t[0] == s[0] && dsl.Distance(s, t, 1) <= 1) {
					rows = append(rows, all...)
				}
			}
		}
		if len(rows) == 0 {
			continue
		}
		for _, row := range rows {
			hits[row] |= 1 << count
		}
		if len(s) == 1 && (s[0] < '0' || s[0] > '9') {
			letters |= 1 << count
		}
		words[count] = i
		count++
	}
	for row, h := range hits {
		if h&^letters == 0 {
			delete(hits, row)
		}
	}
	if len(hits) == 0 {
		return found{}
	}
	// A row whose matching words are a proper subset of another row's is dropped.
	masks := map[uint64]bool{}
	for _, h := range hits {
		masks[h] = true
	}
	beaten := func(h uint64) bool {
		for g := range masks {
			if g&h == h && g != h {
				return true
			}
		}
		return false
	}
	for h := range masks {
		masks[h] = !beaten(h)
	}
	var best []int32
	for row, h := range hits {
		if masks[h] {
			best = append(best, row)
		}
	}
	slices.Sort(best)
	var f found
	for _, row := range best {
		if len(f.names) < maxNames {
			f.names = append(f.names, n.names[row])
		}
		for k := range count {
			if hits[row]&(1<<k) != 0 && !slices.Contains(f.words, words[k]) {
				f.words = append(f.words, words[k])
			}
		}
	}
	// The small words of a name are said with it: of "MS-0004", "Ms" is no person's title.
	for _, k := range slices.Clone(f.words) {
		from, to := c.glued(k, labelMarks)
		for i := from; i < to && !plainWord(c.joined(from, to)); i++ {
			if small()[c.words[i].Plain] && !slices.Contains(f.words, i) && slices.ContainsFunc(f.names, func(name string) bool {
				return slices.Contains(strings.Split(name, "-"), c.words[i].Plain)
			}) {
				f.words = append(f.words, i)
			}
		}
	}
	slices.Sort(f.words)
	return f
}

// labelMarks stand inside labels such as MS-0004, 2024/17 and INV.2024.7.
const labelMarks = "-–—/._#"

// mostGlued is how many words of a run are looked at; a name is no longer.
const mostGlued = 48

// glued is the run of words around a word that only some marks join, without a space.
func (c *clause) glued(i int, marks string) (from, to int) {
	joins := func(a, b int) bool {
		return strings.Trim(c.text[c.words[a].Range.End:c.words[b].Range.Start], marks) == ""
	}
	from, to = i, i+1
	for from > 0 && i-from < mostGlued && joins(from-1, from) {
		from--
	}
	for to < len(c.words) && to-i < mostGlued && joins(to-1, to) {
		to++
	}
	return from, to
}

// joined is a run of words as names are written: a hyphen stands for what is between two of them.
func (c *clause) joined(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		if i > from && c.words[i].Range.Start > c.words[i-1].Range.End {
			b.WriteByte('-')
		}
		b.WriteString(c.words[i].Plain)
	}
	return b.String()
}

// spelled finds the rows whose labels the clause has, letter by letter, where those hold digits
// beside letters or marks: "MS-0004", "2024/17", "X1". Such a label means its row alone, although
// other names have the same words, and whatever its parts mean elsewhere.
func (n *nameList) spelled(c *clause) (found, bool) {
	f := found{written: true}
	for i := 0; i < len(c.words); {
		from, to := c.glued(i, labelMarks)
		i = to
		start := c.words[from].Range.Start
		if to-from < 2 || c.quoted[from] || inside(c.files, c.words[from].Range) || start > 0 && strings.IndexByte("@/:", c.text[start-1]) >= 0 {
			continue
		}
		name := c.joined(from, to)
		if plainWord(name) {
			continue
		}
		if name[0] >= '0' && name[0] <= '9' {
			name = n.kind + "-" + name
		}
		there := false
		for _, row := range n.names {
			if plain, _, _ := strings.Cut(row, "~"); plain == name {
				there = true
				if !slices.Contains(f.names, row) {
					f.names = append(f.names, row)
				}
			}
		}
		for k := from; k < to && there; k++ {
			f.words = append(f.words, k)
		}
	}
	return f, len(f.names) > 0
}

// named is find, but for what is spelled: its words name no other row.
func (n *nameList) named(c *clause) found {
	f := n.find(c)
	s, ok := n.spelled(c)
	if !ok || len(f.names) == 1 && len(f.words) > len(s.words) {
		return f // "the spare X1" is one row
	}
	rest := *c
	rest.quoted = slices.Clone(c.quoted)
	for k := range rest.quoted {
		rest.quoted[k] = rest.quoted[k] || slices.Contains(s.words, k) || slices.Contains(strings.Split(n.kind, "-"), c.words[k].Plain)
	}
	f = n.find(&rest)
	if !slices.ContainsFunc(f.names, func(name string) bool { return !slices.Contains(s.names, name) }) {
		return s
	}
	s.written = false // another row is named besides
	s.names, s.words = append(s.names, f.names...), append(s.words, f.words...)
	slices.Sort(s.names)
	slices.Sort(s.words)
	s.names, s.words = slices.Compact(s.names), slices.Compact(s.words)
	return s
}

// maxLoose is up to how many words of names an inexact match is tried.
const maxLoose = 4000

// maxNames is how many rows a question offers.
const maxNames = 5

// written finds the one row that the clause names as a call would.
func (n *nameList) written(c *clause) (found, bool) {
	f := found{written: true}
	for i := range c.words {
		start := c.words[i].Range.Start
		if start == 0 || c.text[start-1] != '@' || c.quoted[i] {
			continue
		}
		end := start
		for end < len(c.text) && (c.text[end] == '-' || c.text[end] >= 'a' && c.text[end] <= 'z' || c.text[end] >= '0' && c.text[end] <= '9') {
			end++
		}
		if name := c.text[start:end]; slices.Contains(n.names, name) && !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
			for k := i; k < len(c.words) && c.words[k].Range.End <= end; k++ {
				f.words = append(f.words, k)
			}
		}
	}
	return f, len(f.names) > 0
}

// rowsIn is find with its result kept in the clause.
func (r *Reader) rowsIn(c *clause, e *verbs.Entity) *found {
	if f := c.rows[e]; f != nil {
		return f
	}
	if c.rows == nil {
		c.rows = map[*verbs.Entity]*found{}
	}
	f, ok := r.names[e].written(c)
	if !ok {
		f = r.names[e].named(c)
	}
	c.rows[e] = &f
	return &f
}

// rowsApart is rowsIn for one argument of several. A word next to words that name a row of another
// entity belongs to that row: in "it belongs to Kwale South" nobody means the Kwale lease, since
// Kwale South is a site.
func (r *Reader) rowsApart(v *verbs.Verb, pr *verbs.Param, c *clause) *found {
	f := r.rowsIn(c, pr.Type.Entity)
	if f.written {
		return f
	}
	rest := *c
	rest.quoted = slices.Clone(c.quoted)
	beside := func(k int, in, out *found) bool {
		return slices.ContainsFunc(in.words, func(i int) bool { return (i == k-1 || i == k+1) && !slices.Contains(out.words, i) })
	}
	for i := range v.Params {
		e := v.Params[i].Type.Entity
		if e == nil || e == pr.Type.Entity || r.names[e] == nil {
			continue
		}
		other := r.rowsIn(c, e)
		for _, k := range f.words {
			if slices.Contains(other.words, k) && beside(k, other, f) && !beside(k, f, other) {
				rest.quoted[k] = true
			}
		}
	}
	if slices.Equal(rest.quoted, c.quoted) {
		return f
	}
	apart := r.names[pr.Type.Entity].find(&rest)
	return &apart
}

type codesFound struct {
	codes []string
	at    []int
}

// codesIn finds the codes of a list that a clause mentions, and the words that do so.
func (r *Reader) codesIn(c *clause, l *verbs.CodeList) ([]string, []int) {
	if f := c.codes[l]; f != nil {
		return f.codes, f.at
	}
	if c.codes == nil {
		c.codes = map[*verbs.CodeList]*codesFound{}
	}
	codes, at := r.codesOf(c, l)
	c.codes[l] = &codesFound{codes, at}
	return codes, at
}

func (r *Reader) codesOf(c *clause, l *verbs.CodeList) (codes []string, at []int) {
	longest := 0
	for _, cw := range r.ix.codeWords(l) {
		var where []int
		for _, s := range cw.stems {
			k := slices.IndexFunc(c.stems, func(w string) bool { return w == s || codeAlike(w, s) })
			if k < 0 || c.quoted[k] {
				where = nil
				break
			}
			where = append(where, k)
		}
		switch {
		case where == nil || len(cw.stems) < longest:
		case len(cw.stems) > longest:
			longest, codes, at = len(cw.stems), []string{cw.code}, where
		case slices.Contains(codes, cw.code):
			at = append(at, where...)
		default:
			codes, at = append(codes, cw.code), append(at, where...)
		}
	}
	slices.Sort(at)
	return codes, slices.Compact(at)
}

// codeAlike reports that a word is a form of a code's word.
func codeAlike(w, s string) bool {
	return len(w) >= 5 && len(s) >= 5 && (strings.HasPrefix(w, s) && len(w)-len(s) <= 3 || w[0] == s[0] && dsl.Distance(w, s, 1) <= 1)
}

// patternIn finds the only text in a clause that matches an argument's pattern.
func patternIn(c *clause, p *verbs.Param) (words.Range, bool) {
	if p.Upload != nil {
		if len(c.files) != 1 || !p.Type.Pattern.MatchString(c.raw(c.files[0])) {
			return words.Range{}, false
		}
		return c.files[0], true
	}
	var hit words.Range
	n := 0
	for i := range c.words {
		for j := i; j < min(i+4, len(c.words)); j++ {
			at := words.Range{Start: c.words[i].Range.Start, End: c.words[j].Range.End}
			if raw := c.raw(at); !plainWord(raw) && p.Type.Pattern.MatchString(raw) {
				if n == 0 || at.Start >= hit.End {
					n++
					hit = at
				} else if at.End > hit.End {
					hit = at
				}
			}
		}
	}
	return hit, n == 1
}

// plainWord reports that a text has no digits, so that it may be an ordinary word: an argument with
// a pattern is not filled with such a word.
func plainWord(text string) bool {
	return !strings.ContainsAny(text, "0123456789")
}

func (c *clause) raw(at words.Range) string { return c.text[at.Start:at.End] }

// arguments fills the arguments that the clause gives, and asks for the others.
func (r *Reader) arguments(p *Part, c *clause, l words.Language) {
	v := p.Verb
	used := map[int]bool{} // readings
	taken := make([]bool, len(c.words))
	for i := range v.Params {
		pr := &v.Params[i]
		if v.Read != nil && v.Read.After == i {
			continue // nobody says after which row a page begins
		}
		r.argument(p, pr, c, l, used, taken)
		if p.guide {
			break
		}
	}
	r.refer(p, c)
	p.finish()
}

// finish makes the call.
func (p *Part) finish() {
	p.call, p.Call = dsl.Call{}, ""
	if len(p.Asks) > 0 {
		return
	}
	var args []dsl.Arg
	for i := range p.Verb.Params {
		for k := range p.Args {
			if p.Args[k].Param == &p.Verb.Params[i] {
				args = append(args, dsl.NewArg(p.Args[k].Param.Name, p.Args[k].Value))
			}
		}
	}
	p.call = dsl.NewCall(p.Verb.Name, args...)
	if p.call.Err() != nil {
		p.Asks = append(p.Asks, Ask{Text: "?"})
		return
	}
	p.Call = dsl.FormatCall(&p.call)
}

func (r *Reader) argument(p *Part, pr *verbs.Param, c *clause, l words.Language, used map[int]bool, taken []bool) {
	missing := func(choices ...string) {
		if pr.Required {
			p.Asks = append(p.Asks, Ask{Param: pr, Text: r.ask(l, askMissing, pr, choices), Choices: choices})
		}
	}
	take := func(v dsl.Value, at words.Range, rd *words.Reading) {
		p.Args = append(p.Args, Arg{Param: pr, Value: v, Range: at, Reading: rd})
	}
	reading := func(what ...words.What) (*words.Reading, bool) {
		var one *words.Reading
		index := -1
		for i := range c.readings {
			rd := &c.readings[i]
			if used[i] || !slices.Contains(what, rd.What) || rd.What == words.Integer && c.inName(rd.Range, taken) {
				continue
			}
			if one != nil {
				// Two values for one argument: ask which is meant.
				p.Asks = append(p.Asks, r.either(pr, l, one, rd))
				return nil, true
			}
			one, index = rd, i
		}
		if one == nil {
			return nil, false
		}
		used[index] = true
		if pr.Type.Name == verbs.DateType {
			// An ambiguous date means the one that the argument accepts.
			held := words.Between(pr.Type.Between(stores.DateOf(c.in.Now))).Hold(*one)
			one = &held
		}
		if !one.Known() {
			p.Asks = append(p.Asks, r.unclear(pr, l, one))
			return nil, true
		}
		return one, true
	}
	hold := func(v stores.Value) bool {
		n := utf8.RuneCountInString(v.Text())
		if most := pr.Type.MaxLength; freeText(pr) && most > 0 && n > most {
			p.Asks = append(p.Asks, Ask{Param: pr, Text: r.ask(l, askShorter, pr, []string{strconv.Itoa(n), strconv.Itoa(most)})})
			return false
		}
		if _, err := pr.Type.Accept(v); err != nil {
			p.Asks = append(p.Asks, Ask{Param: pr, Text: r.ask(l, askLimit, pr, []string{err.Error()})})
			return false
		}
		return true
	}
	switch pr.Type.Name {
	case verbs.RefType:
		if pr.Type.Entity == nil {
			missing()
			return
		}
		n := r.names[pr.Type.Entity]
		if n == nil || len(n.names) == 0 {
			missing()
			return
		}
		f := r.rowsApart(p.Verb, pr, c)
		switch {
		case len(f.names) > 0 && r.doubt(p.Verb, c, f):
			// "Thomas Schmidt", if only Thomas Müller exists.
			if pr.Required {
				p.Asks = append(p.Asks, r.which(p.Verb, pr, n.names, askStranger, l))
			}
		case len(f.names) == 1 && (pr.Required || n.sure(f, c) && !p.took(c.span(f.words))):
			for _, k := range f.words {
				taken[k] = true
			}
			take(dsl.NewSymbol(f.names[0]), c.span(f.words), nil)
		case !pr.Required:
		case len(f.names) > 1 && p.supposing == pr && slices.Contains(f.names, p.supposed):
			take(dsl.NewSymbol(p.supposed), words.Range{}, nil)
		case len(f.names) > 1:
			a := r.which(p.Verb, pr, f.names, askSeveral, l)
			a.Among = f.names
			p.Asks = append(p.Asks, a)
		case len(n.names) == 1 && !r.others(c, p.Verb):
			take(dsl.NewSymbol(n.names[0]), words.Range{}, nil)
		case p.supposing == pr && slices.Contains(n.names, p.supposed):
			take(dsl.NewSymbol(p.supposed), words.Range{}, nil)
		default:
			a := r.which(p.Verb, pr, n.names, askMissing, l)
			a.Open = !r.others(c, p.Verb)
			p.Asks = append(p.Asks, a)
		}
	case verbs.CodeType:
		if pr.Type.Codes == nil {
			missing()
			return
		}
		codes, at := r.codesIn(c, pr.Type.Codes)
		row, follows := p.follows(pr)
		switch {
		case follows != "" && len(codes) == 0:
			p.Args = append(p.Args, Arg{Param: pr, Value: dsl.NewCode(follows), Follows: row})
		case follows != "" && !slices.Contains(codes, follows):
			// The words name one code, and the row implies another.
			codes = append(codes, follows)
			p.Asks = append(p.Asks, Ask{Param: pr, Text: r.ask(l, askSeveral, pr, codes), Choices: codes})
		case len(codes) == 1:
			take(dsl.NewCode(codes[0]), c.span(at), nil)
		case len(codes) > 1:
			p.Asks = append(p.Asks, Ask{Param: pr, Text: r.ask(l, askSeveral, pr, codes), Choices: codes})
		default:
			var all []string
			for _, code := range pr.Type.Codes.Codes[:min(len(pr.Type.Codes.Codes), 8)] {
				all = append(all, code.Name)
			}
			missing(all...)
		}
	case verbs.DateType:
		rd, there := reading(words.Date)
		switch {
		case rd != nil && hold(rd.Value):
			take(dsl.NewDate(rd.Value.Text()), rd.Range, rd)
		case rd == nil && !there:
			missing()
		}
	case verbs.MoneyType:
		rd, there := reading(words.Money)
		switch {
		case rd == nil && !there:
			missing()
		case rd != nil:
			if len(pr.Type.Currencies) > 0 && !slices.Contains(pr.Type.Currencies, rd.Currency) {
				p.Asks = append(p.Asks, Ask{Param: pr, Text: r.ask(l, askMissing, pr, pr.Type.Currencies), Choices: pr.Type.Currencies})
				return
			}
			take(dsl.NewMap(dsl.NewArg("amount", dsl.NewNumber(rd.Value.Text())), dsl.NewArg("currency", dsl.NewCode(rd.Currency))), rd.Range, rd)
		}
	case verbs.IntegerType:
		rd, there := reading(words.Integer)
		switch {
		case rd != nil && hold(rd.Value):
			n, _ := strconv.ParseInt(rd.Value.Text(), 10, 64)
			take(dsl.NewInteger(n), rd.Range, rd)
		case rd == nil && !there:
			missing()
		}
	case verbs.DecimalType:
		rd, there := reading(words.Decimal, words.Percent, words.Integer)
		switch {
		case rd != nil:
			take(dsl.NewNumber(rd.Value.Text()), rd.Range, rd)
		case !there:
			missing()
		}
	case verbs.EmailType, verbs.PhoneType:
		what := words.Email
		if pr.Type.Name == verbs.PhoneType {
			what = words.Phone
		}
		rd, there := reading(what)
		switch {
		case rd != nil:
			take(dsl.NewString(rd.Value.Text()), rd.Range, rd)
		case !there:
			missing()
		}
	case verbs.StringType:
		r.text(p, pr, c, missing, take, hold, reading)
	case verbs.ObjectType:
		if pr.Required {
			r.object(p, pr, c, l, used)
		}
	default:
		missing()
	}
}

// unclear asks what an ambiguous value means.
func (r *Reader) unclear(pr *verbs.Param, l words.Language, rd *words.Reading) Ask {
	speaks := r.speaks(l)
	q := Ask{Param: pr, Text: rd.Ask(speaks)}
	if rd.Problem == 0 && len(rd.Others) > 0 {
		q.Places = []words.Range{rd.Range}
		for _, o := range rd.Offered() {
			q.offer(rd, o, speaks)
		}
	}
	return q
}

// either asks which of two values is meant for one argument.
func (r *Reader) either(pr *verbs.Param, l words.Language, all ...*words.Reading) Ask {
	q := Ask{Param: pr}
	speaks := r.speaks(l)
	for _, rd := range all {
		if !rd.Known() {
			// One of the two is ambiguous itself, so positions cannot be offered.
			q = Ask{Param: pr}
			break
		}
		q.Places = append(q.Places, rd.Range)
		q.offer(rd, rd.Choice, speaks)
	}
	q.Text = r.ask(l, askSeveral, pr, q.says)
	return q
}

// offer adds one meaning of an ambiguous value to the choices.
func (q *Ask) offer(rd *words.Reading, c words.Choice, l words.Language) {
	fits := c.Text()
	if c.Value.Kind() == stores.Int || c.Value.Kind() == stores.Decimal {
		// Three digits after a point may be read as thousands; four cannot.
		if fits = c.Value.Text(); len(fits) > 4 && fits[len(fits)-4] == '.' {
			fits += "0"
		}
		fits = strings.TrimSpace(c.Currency + " " + fits)
	}
	q.Choices, q.says, q.fits = append(q.Choices, c.Text()), append(q.says, rd.SayChoice(c, l)), append(q.fits, fits)
}

// took reports that a range of the message is the value of an argument, or within it.
func (p *Part) took(at words.Range) bool {
	return slices.ContainsFunc(p.Args, func(a Arg) bool { return a.Range.Start <= at.Start && at.End <= a.Range.End })
}

// follows returns the code that the part's row implies for an object's schema, and that row.
func (p *Part) follows(pr *verbs.Param) (row, code string) {
	for i := range p.Verb.Params {
		k, ok := p.Verb.Params[i].SchemaOf()
		if !ok || &p.Verb.Params[k] != pr {
			continue
		}
		for j := range p.Args {
			if a := &p.Args[j]; a.Param.Type.Name == verbs.RefType && a.Param.Required {
				if code := p.reader.codeOfRow(pr.Type.Codes, a.Value.Text); code != "" {
					return a.Value.Text, code
				}
			}
		}
	}
	return "", ""
}

// text fills a string argument: with a text that matches its pattern or, for free text, with the
// person's own words.
func (r *Reader) text(p *Part, pr *verbs.Param, c *clause, missing func(...string), take func(dsl.Value, words.Range, *words.Reading), hold func(stores.Value) bool, reading func(...words.What) (*words.Reading, bool)) {
	if pr.Type.Pattern != nil {
		if rd, there := reading(words.IBAN); rd != nil && pr.Type.Pattern.MatchString(rd.Value.Text()) {
			take(dsl.NewString(rd.Value.Text()), rd.Range, rd)
			return
		} else if there && rd == nil {
			return
		}
		if at, ok := patternIn(c, pr); ok {
			take(dsl.NewString(c.raw(at)), at, nil)
			return
		}
		missing()
		return
	}
	for _, g := range r.in.Given {
		if g.Verb == p.Verb.Name && g.Param == pr.Name {
			if hold(stores.NewString(g.Text)) {
				p.Args = append(p.Args, Arg{Param: pr, Value: dsl.NewString(g.Text), Given: true})
			}
			return
		}
	}
	if !pr.Required {
		return
	}
	free := 0
	for i := range p.Verb.Params {
		if q := &p.Verb.Params[i]; q.Required && q.Type.Name == verbs.StringType && q.Type.Pattern == nil {
			free++
		}
	}
	at, how := r.captured(p, pr, c)
	if colon := c.colon(); how == elsewhere && colon > 0 && r.announcement(p.Verb, pr, c, colon) {
		at, how = unquoted(c.text, words.Range{Start: colon, End: c.rng.End}), said
	}
	if at.End == c.rng.End && strings.HasPrefix(c.text[at.End:], "?") {
		at.End++
	}
	switch {
	case how == said && !r.onlyNames(p.Verb, c, at):
	case how != elsewhere:
		missing()
		return
	case free == 1 && sentences(pr) && c.content() && !r.announcement(p.Verb, pr, c, c.rng.End):
		at = c.rng
	default:
		missing()
		return
	}
	if raw := c.raw(at); hold(stores.NewString(raw)) {
		take(dsl.NewString(raw), at, nil)
	}
}

// onlyNames reports that a range of a clause is nothing but names of rows.
func (r *Reader) onlyNames(v *verbs.Verb, c *clause, at words.Range) bool {
	named := r.named(v, c)
	for i := range c.words {
		if c.words[i].Range.Start >= at.Start && c.words[i].Range.End <= at.End && !named[i] {
			return false
		}
	}
	return true
}

// content reports that a clause says more than which verb is meant.
func (c *clause) content() bool {
	n := 0
	for i := range c.words {
		if c.weights[i] > 0.2 {
			n++
		}
	}
	return n >= 2 || len(c.words) >= 4
}

// announcement reports that a clause, up to a place, only announces the text that follows. All of
// its words lead to the text's place in the phrases, name rows, or are small words; if a word such
// as "note" names the argument, one other word is allowed: "add a note". (F26)
func (r *Reader) announcement(v *verbs.Verb, pr *verbs.Param, c *clause, upto int) bool {
	named, calls, leads, others := r.named(v, c), 0, 0, 0
	for i := range c.words {
		switch {
		case c.words[i].Range.End > upto:
			continue
		case named[i]:
			leads++
			continue
		case small()[c.words[i].Plain]:
			continue
		}
		as := 0
		for t := range r.ix.templates {
			tp := &r.ix.templates[t]
			ends := len(tp.words) > 0 && tp.words[len(tp.words)-1].param == pr
			switch {
			case r.ix.verbs[tp.verb] != v || !tp.named && !ends || !r.has(tp, c, i):
			case tp.named || tp.colon:
				as = 2
			default:
				as = max(as, 1)
			}
		}
		switch {
		case as == 2 || c.is(i, stem(pr.Name)):
			calls++
		case as == 1:
			leads++
		default:
			others++
		}
	}
	return others == 0 && calls+leads > 0 || calls > 0 && others+leads <= 1+count(named, true)
}

// sure reports that a row is certainly meant although it was not asked for: the clause has a word
// that only its name has.
func (n *nameList) sure(f *found, c *clause) bool {
	if f.written {
		return true
	}
	for _, k := range f.words {
		if len(n.byStem[c.stems[k]]) == 1 && len(c.stems[k]) >= 3 {
			return true
		}
	}
	return false
}

// doubt reports that a word next to a row's name names something else: another family name, another
// number.
func (r *Reader) doubt(v *verbs.Verb, c *clause, f *found) bool {
	if f.written {
		return false
	}
	named := make([]bool, len(c.words))
	if v != nil {
		named = r.named(v, c) // of "the UMZA permit belongs to UMZA-1", -1 is the project's
	}
	for _, k := range f.words {
		for _, i := range []int{k - 1, k + 1} {
			if i < 0 || i >= len(c.words) || slices.Contains(f.words, i) {
				continue
			}
			between := c.text[min(c.words[i].Range.End, c.words[k].Range.End):max(c.words[i].Range.Start, c.words[k].Range.Start)]
			if strings.Trim(between, " -") != "" {
				continue
			}
			if !named[i] && (between == "-" || between == "" || r.unknownName(c, i) || c.otherLabel(i) || i > k && !takesNumbers(v) && c.integer(i)) {
				return true
			}
		}
	}
	return false
}

// otherLabel reports that a word is part of a label of letters and digits, such as T3, that is
// nothing else: no date and no amount.
func (c *clause) otherLabel(i int) bool {
	from, to := c.glued(i, labelMarks)
	at := c.words[i].Range
	return to-from > 1 && !plainWord(c.joined(from, to)) && !slices.ContainsFunc(c.readings, func(rd words.Reading) bool {
		return rd.What != words.Integer && rd.Range.Start <= at.Start && at.End <= rd.Range.End
	})
}

// integer reports that a word is a number and no more.
func (c *clause) integer(i int) bool {
	return slices.ContainsFunc(c.readings, func(rd words.Reading) bool { return rd.What == words.Integer && rd.Range == c.words[i].Range })
}

// takesNumbers reports that a verb has a use for a number.
func takesNumbers(v *verbs.Verb) bool {
	return v != nil && slices.ContainsFunc(v.Params, func(p verbs.Param) bool {
		return p.Type.Name == verbs.IntegerType || p.Type.Name == verbs.DecimalType
	})
}

// others reports that a clause has a name or number that the verb has no use for. Then even an only
// row need not be meant.
func (r *Reader) others(c *clause, v *verbs.Verb) bool {
	named := r.named(v, c) // what another argument takes is of use
	for i := range c.words {
		if !named[i] && (r.unknownName(c, i) || !c.taken[i] && !plainWord(c.words[i].Plain)) {
			return true
		}
	}
	return !takesNumbers(v) && c.has(words.Integer)
}

// unknownName reports that a word has a capital letter inside a sentence and no known meaning.
func (r *Reader) unknownName(c *clause, i int) bool {
	first, _ := utf8.DecodeRuneInString(c.raw(c.words[i].Range))
	if i == 0 || !unicode.IsUpper(first) || c.taken[i] || small()[c.words[i].Plain] || len(c.words[i].Plain) < 2 {
		return false
	}
	_, known := r.ix.matcher.words[r.rootOf(c, i)]
	return !known
}

// inName reports that a number is part of a name that was found.
func (c *clause) inName(at words.Range, taken []bool) bool {
	for i := range c.words {
		if taken[i] && at.Start <= c.words[i].Range.Start && c.words[i].Range.End <= at.End {
			return true
		}
	}
	return false
}

// span is the range from the first to the last of some words.
func (c *clause) span(at []int) words.Range {
	if len(at) == 0 {
		return words.Range{}
	}
	return words.Range{Start: c.words[at[0]].Range.Start, End: c.words[at[len(at)-1]].Range.End}
}

// which asks which of some rows is meant. It lists the first of those that the verb accepts, and
// how many more there are. (F27)
func (r *Reader) which(v *verbs.Verb, pr *verbs.Param, names []string, q question, l words.Language) Ask {
	names = r.usable(v, pr, names)
	choices := symbols(names[:min(len(names), maxNames)])
	a := Ask{Param: pr, Text: r.ask(l, q, pr, choices), Choices: choices}
	if more := len(names) - len(choices); more > 0 {
		a.Text += " " + askMore.In(r.speaks(l), strconv.Itoa(more))
	}
	return a
}

// usable lists the rows that the verb accepts, or all rows if it accepts none: then the refusal
// says why.
func (r *Reader) usable(v *verbs.Verb, pr *verbs.Param, names []string) []string {
	if r.in.Usable == nil || len(names) < 2 {
		return names
	}
	if left := r.in.Usable(v, pr, names); len(left) > 0 {
		return left
	}
	return names
}

func symbols(names []string) []string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = "@" + n
	}
	return all
}

// fill adds what a later clause says to a part.
func (r *Reader) fill(p *Part, c *clause, l words.Language) {
	used := map[int]bool{}
	taken := make([]bool, len(c.words))
	for i := range p.Verb.Params {
		pr := &p.Verb.Params[i]
		if open := p.open(pr, c); p.given(pr) || !open && pr.Type.Name != verbs.DateType && pr.Type.Name != verbs.MoneyType && pr.Type.Name != verbs.ObjectType {
			continue
		}
		p.Asks = slices.DeleteFunc(p.Asks, func(a Ask) bool { return a.Param == pr })
		r.argument(p, pr, c, l, used, taken)
	}
	p.Range.End = c.rng.End
	p.finish()
}
