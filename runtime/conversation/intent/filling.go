package intent

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
)

// arguments fills the arguments that the clause gives, and asks for the others.
func (r *Reader) arguments(p *Part, c *clause, l values.Language) {
	v := p.Verb
	f := r.filling(p, c, l)
	for i := range v.Params {
		pr := &v.Params[i]
		if v.Read != nil && v.Read.After == i {
			continue // a page is continued by a link, and not in words
		}
		f.argument(pr)
		if p.guide {
			break
		}
	}
	r.refer(p, c)
	r.besideText(p, c, l)
	p.finish()
}

// besideText fills what a dictated answer says besides, such as the day in "they send it on Friday".
func (r *Reader) besideText(p *Part, c *clause, l values.Language) {
	for _, g := range r.in.Given {
		pr := slices.IndexFunc(p.Verb.Params, func(pr verbs.Param) bool { return pr.Name == g.Param && freeText(&pr) })
		all, more := values.Split(alike(g.Text), maxWords)
		if g.Verb != p.Verb.Name || pr < 0 || more || len(all) == 0 {
			continue
		}
		readings, _ := values.Find(alike(g.Text), c.in)
		said, n := r.clause(g.Text, all, readings, c.in, l), len(p.Args)
		f := r.filling(p, said, l)
		for i := range p.Verb.Params {
			other := &p.Verb.Params[i]
			if t := other.Type.Name; p.given(other) || t != verbs.DateType && t != verbs.DateTimeType && t != verbs.MoneyType {
				continue
			}
			p.Asks = slices.DeleteFunc(p.Asks, func(a Ask) bool { return a.Param == other })
			f.argument(other)
			for ; n < len(p.Args); n++ {
				p.Args[n].Given, p.Args[n].Range = true, values.Range{} // it has no place in the message
			}
		}
	}
}

// fill adds the arguments from a later clause to a part.
func (r *Reader) fill(p *Part, c *clause, l values.Language) {
	f := r.filling(p, c, l)
	for i := range p.Verb.Params {
		pr := &p.Verb.Params[i]
		if p.given(pr) || !p.open(pr) && pr.Type.Name != verbs.DateType && pr.Type.Name != verbs.MoneyType && pr.Type.Name != verbs.ObjectType {
			continue
		}
		p.Asks = slices.DeleteFunc(p.Asks, func(a Ask) bool { return a.Param == pr })
		f.argument(pr)
	}
	p.Range.End = c.rng.End
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

// A filling sets the arguments of a part, one after the other, from a clause.
type filling struct {
	r     *Reader
	p     *Part
	c     *clause
	l     values.Language
	used  map[int]bool // readings that an argument has
	taken []bool       // words that name the row of an argument

	pr      *verbs.Param // the argument at hand
	answers []*clause    // the answers given for it, the last first
	apart   bool         // the clause is an answer, whose places are not those of the message
	beside  string       // the words of the last answer besides the value
}

func (r *Reader) filling(p *Part, c *clause, l values.Language) *filling {
	return &filling{r: r, p: p, c: c, l: l, used: map[int]bool{}, taken: make([]bool, len(c.words))}
}

// argument fills an argument, or asks for what it lacks. Answers to the question for it count before
// the message.
func (f *filling) argument(pr *verbs.Param) {
	f.pr, f.answers, f.beside = pr, nil, ""
	for _, g := range slices.Backward(f.r.in.Given) {
		if g.Verb != f.p.Verb.Name || g.Param != pr.Name {
			continue
		}
		if freeText(pr) {
			if f.accepted(stores.NewString(g.Text)) {
				f.p.Args = append(f.p.Args, Arg{Param: pr, Value: dsl.NewString(g.Text), Given: true})
			}
			return
		}
		if c, beside := f.answer(g.Text); c != nil {
			if len(f.answers) == 0 {
				f.beside = beside
			}
			f.answers = append(f.answers, c)
		}
	}
	of := f
	parts := pr.Type.Name == verbs.ObjectType || pr.Type.Name == verbs.DateTimeType // each of which may have been asked for
	if len(f.answers) > 0 && !parts {
		of = f.r.filling(f.p, f.answers[0], f.l)
		of.pr, of.apart = pr, true
	}
	n := len(f.p.Args)
	of.said()
	for i := n; i < len(f.p.Args) && len(f.answers) > 0; i++ {
		f.p.Args[i].Given, f.p.Args[i].Range = true, values.Range{} // it has no place in the message
		f.p.Args[i].Beside = f.beside
	}
}

// said fills the argument at hand from the clause.
func (f *filling) said() {
	pr := f.pr
	switch pr.Type.Name {
	case verbs.RefType:
		f.row()
	case verbs.CodeType:
		f.code()
	case verbs.DateType:
		f.value(func(v stores.Value) dsl.Value { return dsl.NewDate(v.Text()) }, values.Date)
	case verbs.DateTimeType:
		f.moment()
	case verbs.MoneyType:
		f.money()
	case verbs.IntegerType:
		f.value(func(v stores.Value) dsl.Value {
			n, _ := strconv.ParseInt(v.Text(), 10, 64)
			return dsl.NewInteger(n)
		}, values.Integer)
	case verbs.DecimalType:
		f.found(func(v stores.Value) dsl.Value { return dsl.NewNumber(offeredAs(v.Text())) }, values.Decimal, values.Percent, values.Integer)
	case verbs.EmailType:
		f.address(values.Email)
	case verbs.PhoneType:
		f.address(values.Phone)
	case verbs.IBANType:
		f.found(asText, values.IBAN)
	case verbs.BICType, verbs.LEIType, verbs.NationalIDType:
		if at, v, ok := f.c.written(pr.Type); ok && (f.apart || !f.p.took(at)) {
			f.take(asText(v), at, nil)
			return
		}
		f.missing()
	case verbs.StringType:
		f.text()
	case verbs.ObjectType:
		if pr.Required {
			f.object()
		}
	default:
		f.missing()
	}
}

func asText(v stores.Value) dsl.Value { return dsl.NewString(v.Text()) }

func (f *filling) take(v dsl.Value, at values.Range, rd *values.Reading) {
	f.p.Args = append(f.p.Args, Arg{Param: f.pr, Value: v, Range: at, Reading: rd})
}

func (f *filling) asks(a Ask) { f.p.Asks = append(f.p.Asks, a) }

// missing asks for an argument that is required.
func (f *filling) missing(choices ...string) {
	if f.pr.Required {
		f.asks(Ask{Param: f.pr, Text: f.r.ask(f.l, askMissing, f.pr, choices), Choices: choices})
	}
}

// several asks which of some codes is meant.
func (f *filling) several(codes []string) {
	f.asks(Ask{Param: f.pr, Text: f.r.ask(f.l, askSeveral, f.pr, codes), Choices: codes})
}

// reading returns the only unused reading of some kinds; a repeated value counts once. there is
// true if the clause has one, also if it is not returned because the person has to be asked about
// it.
func (f *filling) reading(what ...values.What) (one *values.Reading, there bool) {
	var said []int
	for i := range f.c.readings {
		rd := &f.c.readings[i]
		if f.used[i] || !slices.Contains(what, rd.What) || rd.What == values.Integer && f.c.inName(rd.Range, f.taken) {
			continue
		}
		if one != nil && f.c.names(one, rd) {
			said = append(said, i)
			continue // "Friday, the 11th"
		}
		if one != nil && f.c.names(rd, one) {
			one, said = rd, append(said, i)
			continue
		}
		if one != nil && !one.Same(rd) {
			f.asks(f.r.either(f.pr, f.l, one, rd))
			return nil, true
		}
		said = append(said, i)
		if one == nil || rd.Kind < one.Kind {
			one = rd // "3 April, that is 3 April 2027": the one that assumes less
		}
	}
	if one == nil {
		return nil, false
	}
	f.use(said)
	if f.pr.Type.Name == verbs.DateType {
		// An ambiguous date means the one that the argument accepts.
		held := values.Between(f.pr.Type.Between(stores.DateOf(f.c.in.Now))).Hold(*one)
		one = &held
	}
	if f.pr.Type.Name == verbs.MoneyType {
		held := values.InCurrencies(*one, f.pr.Type.Currencies)
		if one = &held; one.Problem == 0 && len(one.Others) > 0 && !f.pr.Type.AcceptsCurrency(one.Others[0].Currency) {
			f.asksCurrency() // "12 dollars", where none of them is accepted
			return nil, true
		}
	}
	if f.pr.Type.Name == verbs.DateType && one.Kind == values.Vague && !one.First.IsNull() && slices.Contains([]string{"since", "from", "after"}, f.pr.Name) {
		held := *one
		held.Choice, held.Others, held.Problem = values.Choice{Value: one.First}, nil, 0
		one = &held // "sales since November": from its first day on
	}
	if !one.Known() && !f.pr.Required && (f.c.tells(one.Range) || one.Problem == values.Negated) {
		return nil, false
	}
	if !one.Known() {
		f.asks(f.r.unclear(f.pr, f.l, one))
		return nil, true
	}
	return one, true
}

// names reports whether a day that is said by its number is the one that another reading only calls by its weekday.
func (c *clause) names(day, other *values.Reading) bool {
	digit := func(rd *values.Reading) bool { return strings.ContainsAny(c.raw(rd.Range), "0123456789") }
	return day.What == values.Date && other.What == values.Date && day.Known() && digit(day) && !digit(other) && other.Kind == values.Relative &&
		(other.Known() || len(other.Others) > 0) && slices.ContainsFunc(append([]values.Choice{other.Choice}, other.Others...), func(o values.Choice) bool {
		return !o.Value.IsNull() && (o.Value.Days()-day.Value.Days())%7 == 0
	})
}

// tells reports whether a place is in a further sentence of a text that is taken as it comes: "he is
// ill. Maria was born in 1972." What cannot be a value is a part of that text, and no more.
func (c *clause) tells(at values.Range) bool {
	return c.dictated != nil && slices.ContainsFunc(c.words, func(w values.Word) bool {
		return w.Breaks && c.dictated.at.Start < w.Range.Start && w.Range.Start <= at.Start
	})
}

// use marks readings as taken by the current argument.
func (f *filling) use(readings []int) {
	for _, i := range readings {
		f.used[i] = true
	}
}

// accepted reports that an argument accepts a value; otherwise it asks for another, and says why.
func (f *filling) accepted(v stores.Value) bool {
	n := utf8.RuneCountInString(v.Text())
	if most := f.pr.Type.MaxLength; freeText(f.pr) && most > 0 && n > most {
		f.asks(Ask{Param: f.pr, Text: f.r.ask(f.l, askShorter, f.pr, []string{strconv.Itoa(n), strconv.Itoa(most)})})
		return false
	}
	if _, err := f.pr.Type.Accept(v); err != nil {
		f.asks(Ask{Param: f.pr, Text: f.r.ask(f.l, askLimit, f.pr, []string{err.Error()})})
		return false
	}
	return true
}

// found fills an argument with a reading of some kinds, and says how it is written.
func (f *filling) found(written func(stores.Value) dsl.Value, what ...values.What) {
	rd, there := f.reading(what...)
	switch {
	case rd != nil:
		f.take(written(rd.Value), rd.Range, rd)
	case !there:
		f.missing()
	}
}

// value is found, but the argument must accept the value.
func (f *filling) value(written func(stores.Value) dsl.Value, what values.What) {
	rd, there := f.reading(what)
	switch {
	case rd != nil && f.accepted(rd.Value):
		f.take(written(rd.Value), rd.Range, rd)
	case !there:
		f.missing()
	}
}

// others reports that the words which name a row fill another argument: one that took them before, or
// one whose place in a phrase they stand in. A word of a sentence fills one argument: "lend ATLAS to Tom
// Brandt" does not say whose desk it went over.
func (f *filling) others(said *found) bool {
	if len(said.names) == 0 || said.written && len(said.words) == 0 {
		return false
	}
	at := f.c.span(said.words)
	for i := range f.p.Args {
		if a := &f.p.Args[i]; a.Param != f.pr && a.Param.Type.Name == verbs.RefType && a.Param.Type.Entity == f.pr.Type.Entity && a.Range.Start <= at.Start && at.End <= a.Range.End {
			return true
		}
	}
	theirs := false
	all := f.r.ix.templatesOf(f.p.Verb)
	for t := range all {
		tp := &all[t]
		for i := range f.p.Verb.Params {
			pr := &f.p.Verb.Params[i]
			if pr.Type.Name != verbs.RefType || pr.Type.Entity != f.pr.Type.Entity {
				continue
			}
			from, to, ways := tp.place(pr, f.c)
			if ways == 0 || f.c.words[from].Range.Start > at.Start || at.End > f.c.words[to-1].Range.End {
				continue
			}
			if pr == f.pr {
				return false
			}
			theirs = true
		}
	}
	return theirs
}

func (f *filling) row() {
	r, p, pr, c := f.r, f.p, f.pr, f.c
	if pr.Type.Entity == nil {
		f.missing()
		return
	}
	all := r.names[pr.Type.Entity]
	if all == nil || len(all.names) == 0 {
		f.missing()
		return
	}
	said := r.rowsApart(p.Verb, pr, c)
	if f.others(said) {
		f.missing() // the words say somebody else
		return
	}
	switch {
	case len(said.names) > 0 && r.doubt(p.Verb, c, said):
		// "Thomas Schmidt", if only Thomas Müller exists.
		if pr.Required {
			f.asks(r.which(p.Verb, pr, all.names, askStranger, f.l))
		}
	case len(said.names) == 1 && (pr.Required || all.sure(said, c) && !p.took(c.span(said.words)) && !f.texts(said)):
		for _, k := range said.words {
			f.taken[k] = true
		}
		f.take(dsl.NewSymbol(said.names[0]), c.span(said.words), nil)
	case !pr.Required:
	case len(said.names) > 1 && p.supposing == pr && slices.Contains(said.names, p.supposed):
		f.take(dsl.NewSymbol(p.supposed), values.Range{}, nil)
	case len(said.names) > 1:
		a := r.which(p.Verb, pr, said.names, askSeveral, f.l)
		a.Among = said.names
		f.asks(a)
	case len(all.names) == 1 && !r.others(c, p.Verb):
		f.take(dsl.NewSymbol(all.names[0]), values.Range{}, nil)
	case p.supposing == pr && slices.Contains(all.names, p.supposed):
		f.take(dsl.NewSymbol(p.supposed), values.Range{}, nil)
	default:
		a := r.which(p.Verb, pr, all.names, askMissing, f.l)
		a.Open = !r.others(c, p.Verb)
		f.asks(a)
	}
}

func (f *filling) code() {
	list := f.pr.Type.Codes
	if list == nil {
		f.missing()
		return
	}
	codes, at := f.r.codesIn(f.c, list)
	row, follows := f.p.follows(f.pr)
	switch {
	case follows != "" && len(codes) == 0:
		f.p.Args = append(f.p.Args, Arg{Param: f.pr, Value: dsl.NewCode(follows), Follows: row})
	case follows != "" && !slices.Contains(codes, follows):
		f.several(append(codes, follows)) // the words name one code, and the row implies another
	case len(codes) == 1:
		f.take(dsl.NewCode(codes[0]), f.c.span(at), nil)
	case len(codes) > 1:
		f.several(codes)
	default:
		var first []string
		for _, code := range list.Codes[:min(len(list.Codes), 8)] {
			first = append(first, code.Name)
		}
		f.missing(first...)
	}
}

func (f *filling) money() {
	rd, there := f.reading(values.Money)
	for _, what := range []values.What{values.Decimal, values.Integer} {
		if rd == nil && !there {
			rd, there = f.reading(what)
		}
	}
	switch {
	case rd == nil && !there:
		f.missing()
	case rd == nil:
	case rd.Currency == "" && rd.Known() && len(f.pr.Type.Currencies) > 0:
		f.asksWhichCurrency(rd)
	case rd.Currency == "", len(f.pr.Type.Currencies) > 0 && !slices.Contains(f.pr.Type.Currencies, rd.Currency):
		f.asksCurrency()
	default:
		f.take(dsl.NewMap(dsl.NewArg("amount", dsl.NewNumber(offeredAs(rd.Value.Text()))), dsl.NewArg("currency", dsl.NewCode(rd.Currency))), rd.Range, rd)
	}
}

// asksCurrency asks for an amount in a currency that is accepted.
func (f *filling) asksCurrency() {
	l := f.r.speaks(f.l)
	f.asks(Ask{Param: f.pr, Text: f.r.ask(f.l, askMissing, f.pr, nil) + " " + askCurrency.In(l, values.AmountExample(f.pr.Type.Currencies, l))})
}

// asksWhichCurrency asks for the currency of an amount that was said without one.
func (f *filling) asksWhichCurrency(rd *values.Reading) {
	a := Ask{Param: f.pr}
	held := *rd
	held.What = values.Money
	for _, code := range f.pr.Type.Currencies[:min(len(f.pr.Type.Currencies), mostOffered)] {
		a.offer(&held, values.Choice{Value: rd.Value, Currency: code}, f.r.speaks(f.l))
	}
	a.Text = f.r.ask(f.l, askSeveral, f.pr, nil) + " " + values.Either(f.r.speaks(f.l), a.says)
	f.asks(a)
}

// patterned fills a string argument that has a pattern.
func (f *filling) patterned() {
	has := f.p.Args
	if f.apart {
		has = nil
	}
	if at, ok := patternIn(f.c, f.pr, has...); ok {
		f.take(dsl.NewString(f.c.raw(at)), at, nil)
		return
	}
	f.missing()
}

// took reports that a range of the message is the value of an argument, or within it.
func (p *Part) took(at values.Range) bool {
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

// span returns the range from the first to the last of some words.
func (c *clause) span(at []int) values.Range {
	if len(at) == 0 {
		return values.Range{}
	}
	return values.Range{Start: c.words[at[0]].Range.Start, End: c.words[at[len(at)-1]].Range.End}
}

func (c *clause) raw(at values.Range) string { return c.text[at.Start:at.End] }
