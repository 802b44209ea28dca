package intent

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// Corrections: a person who is asked about a call may answer with a change: "make it Thursday",
// "Donnerstag statt Freitag", "plutôt Thomas", or with a missing value: "and it comes on Friday".
// The whole message must be one value of a kind that the call holds, and words of a closed list
// that mark a correction. Any other message is no correction.

// A Correction is a new value for a part of a call.
type Correction struct {
	// Fits are the calls that may be meant. If there are several, the person has to be asked.
	Fits []Fit
	// Ask asks which call is meant, or says what is wrong with the value. It is "" if there is one
	// fit.
	Ask string
	// Cued says that a word of the message marks a correction. Without a pending call, a bare value
	// corrects nothing.
	Cued bool
	// Bare says that it has no other words, but for the name of the row that the call has.
	Bare bool
}

// A Fit is a call with another value in one place.
type Fit struct {
	Call dsl.Call
	Says string // the value, as a person is told it
	Text string // and as it may be said again
}

// mostCorrected is the longest correction, in words.
const mostCorrected = 20

// Correct reads a message as a correction of a call; ok is false if it is none.
func (r *Reader) Correct(text string, in values.In, v *verbs.Verb, call *dsl.Call) (Correction, bool) {
	var none Correction
	if len(text) > maxBytes || v == nil {
		return none, false
	}
	plain := alike(text)
	all, more := values.Split(plain, mostCorrected)
	if len(all) == 0 || more || slices.ContainsFunc(all, func(w values.Word) bool { return w.Hidden }) {
		return none, false
	}
	l := spoken(text, in)
	if len(in.Languages) > 0 && !slices.Contains(in.Languages, l) {
		in.Languages = append([]values.Language{l}, in.Languages...)
	}
	readings, more := values.Find(plain, in)
	if more {
		return none, false
	}
	c := r.clause(text, all, readings, in, l)
	if slices.Contains(c.quoted, true) {
		return none, false
	}
	cues, cued, asks := cuesIn(all, func(i int) bool { return r.numbers(c, i) })
	if len(v.Effects) == 0 && !c.wish && (joins()[all[0].Plain] || follows.in(plainly(all, nil))) {
		cued, asks = true, true // "and Maria's?" asks what was just asked, of another
		for i := range cues {
			cues[i] = cues[i] || joins()[all[i].Plain] || small()[all[i].Plain]
		}
	}
	if strings.ContainsAny(text, "?¿") && !asks || r.asksFor(c, v) {
		return none, false
	}
	bare := false
	if cued || joins()[all[0].Plain] { // "and it comes on Friday"
		r.repeats(v, call, c, cues)
		bare = !slices.Contains(cues, false)
		r.restates(v, call, c, cues)
	}
	found := Correction{Cued: cued, Bare: cued && bare}
	several := 0 // places that it may be meant for
	for _, s := range slotsOf(v, call) {
		m := r.matches(&s, c, r.speaks(l))
		if m == nil || !m.accounts(cues) {
			continue
		}
		if m.problem != "" {
			if found.Ask == "" {
				found.Ask = m.problem
			}
			continue
		}
		if len(m.fits) == 0 {
			continue
		}
		several++
		for _, f := range m.fits {
			said, behind := c.raw(f.at), c.raw(f.at)
			if f.full || f.away {
				behind = f.says
			}
			if f.full {
				said = f.says
			}
			lead := c.text[c.leads(f.at):f.at.Start]
			fit := Fit{Call: s.put(call, f.value, lead, said, behind, in), Says: f.says, Text: f.text}
			if fit.Call.Err() == nil {
				found.Fits = append(found.Fits, fit)
			}
		}
		if several > 1 {
			found.Fits = r.apart(found.Fits, call, r.speaks(l))
		}
	}
	if len(found.Fits) > 1 {
		says := make([]string, len(found.Fits))
		for i := range found.Fits {
			says[i] = found.Fits[i].Says
		}
		found.Ask = askWhich.In(r.speaks(l), r.join(r.speaks(l), says))
	} else if len(found.Fits) == 1 {
		found.Ask = ""
	}
	return found, len(found.Fits) > 0 || found.Ask != ""
}

// asksFor reports whether a clause is, word for word, the phrase of another verb than v: "I wait for
// Violin No. 1" corrects no loan of Violin No. 2, although "wait" may mark a correction.
func (r *Reader) asksFor(c *clause, v *verbs.Verb) bool {
	all := r.rank(c)
	return r.exact(c, all) && r.ix.verbs[all[0].Verb] != v && c.first != ""
}

// numbers reports whether a word is the "No" in the name of a row.
func (r *Reader) numbers(c *clause, i int) bool {
	for e := range r.names {
		if refusals()[c.words[i].Plain] && slices.Contains(r.rowsIn(c, e).words, i) {
			return true
		}
	}
	return false
}

// restates marks words that repeat the call: words of its verb's phrases. So "no, Maria was born on 4 March" corrects the day as "no, 4 March" does. Phrases with a free text
// are left out, because the words behind them would be that text.
func (r *Reader) restates(v *verbs.Verb, call *dsl.Call, c *clause, cues []bool) {
	for i := range c.words {
		cues[i] = cues[i] || slight()[c.words[i].Plain] || slices.ContainsFunc(r.ix.templatesOf(v), func(tp template) bool {
			return r.has(&tp, c, i) && !slices.ContainsFunc(tp.words, func(w token) bool { return w.param != nil && freeText(w.param) })
		})
	}
}

// repeats marks the words that name the row of the call.
func (r *Reader) repeats(v *verbs.Verb, call *dsl.Call, c *clause, cues []bool) {
	for i := range call.Args {
		for k := range v.Params {
			p := &v.Params[k]
			if p.Name != call.Args[i].Key || p.Type.Entity == nil || r.names[p.Type.Entity] == nil {
				continue
			}
			if f := r.rowsIn(c, p.Type.Entity); slices.Contains(f.names, call.Args[i].Value.Text) {
				for _, at := range f.words {
					cues[at] = true
				}
			}
		}
	}
}

// apart describes fits of different arguments, so that a person can choose.
func (r *Reader) apart(fits []Fit, was *dsl.Call, l values.Language) []Fit {
	for i := range fits {
		for k := range fits[i].Call.Args {
			a := &fits[i].Call.Args[k]
			if k < len(was.Args) && dsl.FormatValue(a.Value) == dsl.FormatValue(was.Args[k].Value) {
				continue
			}
			if label := r.label(l, a.Key); !strings.HasPrefix(fits[i].Says, label+": ") {
				fits[i].Says, fits[i].Text = label+": "+fits[i].Says, ""
			}
			break
		}
	}
	return fits
}

// Days says from or to which days a part that reads does so, where the words did not say the very day: what is told
// of "november" is told with the day that it was looked up by.
func (p *Part) Days() (all []string) {
	l := p.reader.speaks(p.language)
	for i := range p.Args {
		if a := &p.Args[i]; len(p.Verb.Effects) == 0 && p.Call != "" && a.Reading != nil && a.Reading.What == values.Date && a.Reading.Kind != values.Exact {
			all = append(all, p.reader.label(l, a.Param.Name)+": "+values.SayDay(a.Reading.Value, l))
		}
	}
	return all
}

// label returns an argument's name in a language.
func (r *Reader) label(l values.Language, name string) string {
	for _, n := range [...]string{name, strings.ReplaceAll(name, "-", "_")} {
		if said, ok := r.ix.reg.Says(l.String(), n); ok {
			return said
		}
	}
	return strings.ReplaceAll(strings.TrimSuffix(name, "-id"), "-", " ")
}

// A slot is a place of a call that holds one value.
type slot struct {
	param *verbs.Param
	field string // of an object, "" for the argument itself
	value dsl.Value
	kind  verbs.TypeName
}

// slotsOf lists the places whose values can be said in words. A day, an amount or a code that the call
// leaves out has an empty place, if there is no other of its kind.
func slotsOf(v *verbs.Verb, call *dsl.Call) (all []slot) {
	for i := range call.Args {
		a := &call.Args[i]
		k := slices.IndexFunc(v.Params, func(p verbs.Param) bool { return p.Name == a.Key })
		if k < 0 || a.Value.Kind == dsl.Nil {
			continue
		}
		p := &v.Params[k]
		switch p.Type.Name {
		case verbs.ObjectType:
			entries := a.Value.Entries()
			for j := range entries {
				e := &entries[j]
				if _, ok := stores.ParseDate(e.Value.Text); ok && e.Value.Kind == dsl.String {
					all = append(all, slot{p, e.Key, e.Value, verbs.DateType})
				}
			}
		case verbs.DateType, verbs.MoneyType, verbs.IntegerType, verbs.DecimalType, verbs.EmailType, verbs.PhoneType, verbs.IBANType:
			all = append(all, slot{p, "", a.Value, p.Type.Name})
		case verbs.RefType:
			if p.Type.Entity != nil && a.Value.Kind == dsl.Symbol {
				all = append(all, slot{p, "", a.Value, verbs.RefType})
			}
		case verbs.CodeType:
			if p.Type.Codes != nil {
				all = append(all, slot{p, "", a.Value, verbs.CodeType})
			}
		}
	}
	for i := range v.Params {
		p := &v.Params[i]
		t := p.Type
		if slices.ContainsFunc(call.Args, func(a dsl.Arg) bool { return a.Key == p.Name }) || slices.ContainsFunc(all, func(s slot) bool { return s.kind == t.Name }) {
			continue
		}
		if t.Name == verbs.DateType || t.Name == verbs.MoneyType || t.Name == verbs.CodeType && t.Codes != nil {
			all = append(all, slot{p, "", dsl.NewNil(), t.Name})
		}
	}
	return all
}

// put returns the call with another value in a slot. If a free text of the call says the old date
// in words, they are replaced too, by said with its lead ("on ") or, behind a small word, by behind.
func (s *slot) put(call *dsl.Call, value dsl.Value, lead, said, behind string, in values.In) dsl.Call {
	out := *call
	out.Args = slices.Clone(call.Args)
	for i := range out.Args {
		a := &out.Args[i]
		switch {
		case a.Key != s.param.Name:
			if s.kind == verbs.DateType && a.Value.Kind == dsl.String {
				a.Value = dsl.NewString(reworded(a.Value.Text, s.value.Text, lead, said, behind, in))
			}
		case s.field == "":
			a.Value = value
		default:
			entries := slices.Clone(a.Value.Entries())
			for j := range entries {
				if entries[j].Key == s.field {
					entries[j].Value = value
				}
			}
			a.Value = dsl.NewMap(entries...)
		}
	}
	if s.value.Kind == dsl.Nil {
		out.Args = append(out.Args, dsl.NewArg(s.param.Name, value))
	}
	return out
}

// reworded replaces the words of one date in a text by those of another: those behind a small word
// by behind, since "on 4 March" must not become "on in two weeks". What stands before a week and not
// before a day is replaced as well: "la semaine prochaine" by "le vendredi 11 décembre".
func reworded(text, was, lead, said, behind string, in values.In) string {
	all, more := values.Find(text, in)
	if more {
		return text
	}
	l := spoken(text, in)
	for i := len(all) - 1; i >= 0; i-- {
		rd := &all[i]
		if rd.What != values.Date || !rd.Known() || rd.Value.Text() != was {
			continue
		}
		put, from := lead+said, rd.Range.Start
		before, _ := values.Split(text[:from], maxNote)
		n := len(before)
		if leading(l, before) > 0 || lead == "" && n > 0 && small()[before[n-1].Plain] {
			put = behind
		}
		for _, rule := range l.Phrases("beforeday") {
			old, now, _ := strings.Cut(rule, ">")
			if k := n - len(strings.Fields(old)); k >= 0 && plainly(before[k:], nil) == old {
				from, put = before[k].Range.Start, strings.TrimSpace(now+" "+behind)
				break
			}
		}
		if was, _ := utf8.DecodeRuneInString(text[from:]); unicode.IsUpper(was) {
			first, n := utf8.DecodeRuneInString(put)
			put = string(unicode.ToUpper(first)) + put[n:]
		}
		text = text[:from] + put + text[rd.Range.End:]
	}
	return text
}

// leads is where the words begin that lead to a date in a clause: "on", "bis zum".
func (c *clause) leads(at values.Range) int {
	n := 0
	for n < len(c.words) && c.words[n].Range.End <= at.Start {
		n++
	}
	if k := leading(c.tongue, c.words[:n]); k > 0 && !c.pauses(n) {
		return c.words[n-k].Range.Start
	}
	return at.Start
}

// leading counts the words at the end of others that lead to a day.
func leading(l values.Language, before []values.Word) (n int) {
	for _, p := range l.Phrases("onday") {
		if k := len(strings.Fields(p)); k > n && k <= len(before) && plainly(before[len(before)-k:], nil) == values.Plain(p) {
			n = k
		}
	}
	return n
}

// An instead is the replacement that a message names for one slot.
type instead struct {
	fits    []another
	covered []bool // words of the new value, and of the value that it replaces
	problem string
}

type another struct {
	value dsl.Value
	at    values.Range
	says  string
	text  string
	full  bool // the words alone would not say which
	away  bool // the words say how far away a day is, and so stand behind no "on"
}

// accounts reports whether every word of the message belongs to the new value, to the old one, or
// to the words that mark a correction.
func (m *instead) accounts(cues []bool) bool {
	for i := range m.covered {
		if !m.covered[i] && !cues[i] {
			return false
		}
	}
	return true
}

// matches reads the message for a slot; nil if it says nothing for it.
func (r *Reader) matches(s *slot, c *clause, l values.Language) *instead {
	switch s.kind {
	case verbs.RefType:
		return r.rowsFor(s, c, l)
	case verbs.CodeType:
		codes, at := r.codesIn(c, s.param.Type.Codes)
		if len(codes) == 0 {
			codes, at = r.codePart(c, s.param.Type.Codes)
		}
		if len(codes) == 0 {
			return nil
		}
		m := c.covers(at)
		for _, code := range codes {
			if code != s.value.Text {
				m.fits = append(m.fits, another{value: dsl.NewCode(code), at: c.span(at), says: r.join(l, []string{code}), text: code})
			}
		}
		return m
	}
	return c.valuesFor(s, l)
}

// rowsFor reads another row.
func (r *Reader) rowsFor(s *slot, c *clause, l values.Language) *instead {
	if r.names[s.param.Type.Entity] == nil {
		return nil
	}
	f := r.rowsIn(c, s.param.Type.Entity)
	if len(f.names) == 0 || r.doubt(nil, c, f) {
		return nil
	}
	m := c.covers(f.words)
	for _, name := range f.names {
		if name == s.value.Text {
			continue
		}
		m.fits = append(m.fits, another{value: dsl.NewSymbol(name), at: c.span(f.words), says: r.join(l, []string{"@" + name}), text: "@" + name})
	}
	return m
}

func (c *clause) covers(at []int) *instead {
	m := &instead{covered: make([]bool, len(c.words))}
	for _, i := range at {
		m.covered[i] = true
	}
	return m
}

func (m *instead) cover(c *clause, at values.Range) {
	for i := range c.words {
		if at.Start <= c.words[i].Range.Start && c.words[i].Range.End <= at.End {
			m.covered[i] = true
		}
	}
}

// kindsOf returns the kinds of readings that may be a value of a type.
func kindsOf(t verbs.TypeName) []values.What {
	switch t {
	case verbs.DateType, verbs.DateTimeType:
		return []values.What{values.Date}
	case verbs.MoneyType:
		return []values.What{values.Money}
	case verbs.IntegerType:
		return []values.What{values.Integer}
	case verbs.DecimalType:
		return []values.What{values.Decimal, values.Percent, values.Integer}
	case verbs.EmailType:
		return []values.What{values.Email}
	case verbs.PhoneType:
		return []values.What{values.Phone}
	case verbs.IBANType:
		return []values.What{values.IBAN}
	}
	return nil
}

// valuesFor reads a date, an amount, a number or an address.
func (c *clause) valuesFor(s *slot, l values.Language) *instead {
	kinds := kindsOf(s.kind)
	m := c.covers(nil)
	var said []*values.Reading
	for i := range c.readings {
		rd := &c.readings[i]
		if !slices.Contains(kinds, rd.What) {
			continue
		}
		m.cover(c, rd.Range)
		if rd.Problem != values.Negated && !c.replaced(rd) {
			said = append(said, rd)
		}
	}
	if len(said) == 0 {
		return c.yearFor(s, l)
	}
	if len(said) != 1 {
		return nil
	}
	rd := said[0]
	held := *rd
	if s.kind == verbs.DateType && s.field == "" {
		held = values.Between(s.param.Type.Between(stores.DateOf(c.in.Now))).Hold(held)
	}
	if held.Problem != 0 {
		m.problem = held.Ask(l)
		return m
	}
	for _, choice := range s.meant(&held, c) {
		v := s.literal(choice)
		if dsl.FormatValue(v) == dsl.FormatValue(s.value) {
			continue
		}
		f := another{value: v, at: rd.Range, says: choice.Say(l)}
		if rd.What == values.Date {
			f.says, f.text = values.SayDay(choice.Value, l), choice.Value.Text()
			f.away = rd.Kind != values.Exact && !rd.Weekday()
			f.full = rd.Weekday() && len(rd.Others) > 1 || rd.Assumed&values.NextSuch != 0 && (!rd.Weekday() || choice.Value != rd.Value)
		}
		m.fits = append(m.fits, f)
	}
	if len(m.fits) == 0 {
		return nil
	}
	return m
}

// yearFor reads a year alone as that of the day that a slot has: "1973 it is".
func (c *clause) yearFor(s *slot, l values.Language) *instead {
	was, ok := stores.ParseDate(s.value.Text)
	if s.kind != verbs.DateType || !ok {
		return nil
	}
	for i := range c.readings {
		rd := &c.readings[i]
		raw := c.raw(rd.Range)
		y, err := strconv.Atoi(raw)
		if err != nil || len(raw) != 4 || y < 1900 || y > 2100 {
			continue
		}
		_, m, d := was.Time().Date()
		day, ok := stores.NewDate(y, int(m), d)
		if !ok || day == was {
			continue
		}
		of := c.covers(nil)
		of.cover(c, rd.Range)
		of.fits = []another{{value: s.literal(values.Choice{Value: day}), at: rd.Range, says: values.SayDay(day, l), text: day.Text(), full: true}}
		return of
	}
	return nil
}

// literal writes a value as the slot holds it.
func (s *slot) literal(c values.Choice) dsl.Value {
	switch {
	case s.kind == verbs.MoneyType:
		return dsl.NewMap(dsl.NewArg("amount", dsl.NewNumber(c.Value.Text())), dsl.NewArg("currency", dsl.NewCode(c.Currency)))
	case s.kind == verbs.DateType && s.field == "":
		return dsl.NewDate(c.Value.Text())
	case s.kind == verbs.IntegerType, s.kind == verbs.DecimalType:
		return dsl.NewNumber(c.Value.Text())
	}
	return dsl.NewString(c.Value.Text())
}

// meant lists the values that a reading may mean, given the old value. The bare name of a weekday
// is that of the old date's week as well as the next one; the bare number of a day is in the old
// date's month; a past date, such as a birthday, keeps its year.
func (s *slot) meant(rd *values.Reading, c *clause) []values.Choice {
	all := slices.Clone(rd.Others)
	if len(all) == 0 {
		all = []values.Choice{rd.Choice}
	}
	was, ok := stores.ParseDate(s.value.Text)
	if s.kind != verbs.DateType || !ok || rd.Kind != values.Relative {
		return all
	}
	today := stores.DateOf(c.in.Now)
	near, bare := all[len(all)-1].Value, false
	switch raw := strings.Trim(strings.ToLower(c.raw(rd.Range)), "."); {
	case rd.Weekday() && len(rd.Others) > 1:
		return all // today, or in a week
	case rd.Weekday():
		near = stores.NewDays(values.Monday(was).Days() + near.Days() - values.Monday(near).Days())
		if near.Days() < today.Days() {
			return all
		}
	case rd.Assumed&values.NextSuch != 0:
		y, m, d := near.Time().Date()
		wy, wm, _ := was.Time().Date()
		if strings.Trim(raw, "0123456789sthndreo. ") == "" {
			m = wm
			bare = true // "the 15th" is of the month that it is about
		} else if was.Days() >= today.Days() {
			return all
		}
		if was.Days() < today.Days() || m == wm {
			y = wy
		}
		day, ok := stores.NewDate(y, int(m), d)
		if !ok {
			return all
		}
		near = day
		if was.Days() < today.Days() {
			return []values.Choice{{Value: near}}
		}
	default:
		return all
	}
	if slices.ContainsFunc(all, func(o values.Choice) bool { return o.Value == near }) {
		return []values.Choice{{Value: near}}
	}
	switch {
	case near.Days() < today.Days():
		return all
	case bare:
		return []values.Choice{{Value: near}}
	}
	return append(all, values.Choice{Value: near})
}

// replaced reports whether a value is the old one: it follows "instead of".
func (c *clause) replaced(rd *values.Reading) bool {
	var before []string
	for i := range c.words {
		if c.words[i].Range.End <= rd.Range.Start {
			before = append(before, c.words[i].Plain)
		}
	}
	for len(before) > 0 && articles()[before[len(before)-1]] {
		before = before[:len(before)-1]
	}
	text := " " + strings.Join(before, " ")
	for _, of := range values.Phrases("insteadof") {
		if strings.HasSuffix(text, " "+of) {
			return true
		}
	}
	return false
}

// follows matches a question that asks the same of something else.
var follows = begins("followon")

// Words that may stand around the new value, in plain form. cueing marks a correction, asking asks
// for one, and saying means nothing.
var cueing, asking, saying = cuesOf("cue"), cuesOf("cueasks"), cuesOf("cuesays")

// cuesIn marks the words of a message that only mark a correction, and reports whether one does,
// and whether they ask for it. The "No" of "Violin No. 1" is none.
func cuesIn(all []values.Word, named func(int) bool) (cues []bool, cued, asks bool) {
	cues = make([]bool, len(all))
	longest := func(of map[string][][]string, i int) int {
		for _, p := range of[all[i].Plain] {
			if i+len(p) <= len(all) && slices.EqualFunc(p, all[i:i+len(p)], func(s string, w values.Word) bool { return s == w.Plain }) {
				return len(p)
			}
		}
		return 0
	}
	for i := 0; i < len(all); {
		c, a, s := longest(cueing(), i), longest(asking(), i), longest(saying(), i)
		n := max(c, a, s)
		switch {
		case n == 0, named(i):
			i++
			continue
		case c == n:
			cued = true
		case a == n:
			cued, asks = true, true
		}
		for k := range n {
			cues[i+k] = true
		}
		i += n
	}
	return cues, cued, asks
}
