package expr

import (
	"cmp"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/stores"
)

// An Env holds the values for evaluating a program.
type Env struct {
	Args      []stores.Value // parallel to Verb.Params
	Item      stores.Value   // the current item of the list
	Contents  []stores.Value // parallel to Args: identifiers of the bytes of uploads
	Reads     []stores.Value // the row fields that the expression needs
	Principal string
	Now       time.Time
	Outside   []Outside // the functions that a Go program supplies
}

// An Outside is a function that a Go program supplies. Its result depends only on its arguments.
type Outside func(args []stores.Value) (stores.Value, error)

// Errors of Eval. A condition with an error must be decided for the safer side: ask, or refuse.
var (
	// ErrAbsent says that an absent value was used in a comparison or in arithmetic. `x != nil
	// and x > 5` avoids that.
	ErrAbsent = errors.New("a value is absent")
	// ErrRange says that a result does not fit: an integer of more than 64
	// bits, a date after the year 9999.
	ErrRange = errors.New("the result is out of range")
	// ErrLacking says that a declared function is not supplied.
	ErrLacking = errors.New("nothing carries this function out")
	// ErrZero says that something was divided by zero.
	ErrZero = errors.New("division by zero")
)

// A Program is an expression whose names are resolved. It is immutable, and many goroutines may
// evaluate it at once. It is a tree and not a closure, for two reasons: other packages can ask
// what it uses, and an Env that is passed to closures escapes to the heap each time, which cost a
// third more.
type Program struct {
	From    Source
	Index   int          // into Args, Contents, Reads or Outside
	Value   stores.Value // of a constant
	fn      Func         // of a and b
	a, b, c *Program
	part    int        // for a function that takes one part of a: the number of the part, from 1
	list    []*Program // the items of a list; the operands of the comparisons of a chain
	fns     []Func     // the comparisons of a chain
}

// Source says where a program takes its value from.
type Source uint8

const (
	Constant Source = iota
	Argument
	Content
	Item // of the list at Index
	Read
	Principal
	Now
	Today
	function
	about // a function whose result contains nothing of its arguments
	and
	or
	not
	choice
	fallback
	chain
	list
	outside
)

// A Func computes a value from one or two others.
type Func func(a, b stores.Value) (stores.Value, error)

// Apply returns the program that applies a function to one or two programs; if these are
// constants, it is evaluated at once.
func Apply(fn Func, of ...*Program) *Program {
	p := &Program{From: function, fn: fn, a: of[0]}
	fixed := p.a.From == Constant
	if len(of) > 1 {
		p.b = of[1]
		fixed = fixed && p.b.From == Constant
	}
	if fixed {
		if v, err := p.eval(nil); err == nil {
			return &Program{Value: v}
		}
	}
	return p
}

// Part returns the program for a part of a record, which fn extracts; n is the number of the
// part, from 0.
func Part(fn Func, record *Program, n int) *Program {
	p := Apply(fn, record)
	p.part = n + 1
	return p
}

// About returns the program for a function whose result contains no value of its arguments.
func About(fn Func, a, b *Program) *Program { return &Program{From: about, fn: fn, a: a, b: b} }

// And evaluates b only if a holds, and Or only if it does not.
func And(a, b *Program) *Program { return &Program{From: and, a: a, b: b} }
func Or(a, b *Program) *Program  { return &Program{From: or, a: a, b: b} }
func Not(a *Program) *Program    { return &Program{From: not, a: a} }

// Choose returns the program for a ? b : c. Without b it is a ?: c.
func Choose(a, b, c *Program) *Program { return &Program{From: choice, a: a, b: b, c: c} }

// Outcomes returns the constants of which a program is one, whatever a choice among them depends on;
// nil if it may be anything else.
func (p *Program) Outcomes() []stores.Value {
	switch {
	case p.From == Constant:
		return []stores.Value{p.Value}
	case p.From != choice || p.b == nil:
		return nil
	}
	b, c := p.b.Outcomes(), p.c.Outcomes()
	if b == nil || c == nil {
		return nil
	}
	return append(b, c...)
}

// Default returns the program for a ?? b.
func Default(a, b *Program) *Program { return &Program{From: fallback, a: a, b: b} }

// Compare returns the program that holds if each comparison does. Each has two of the operands;
// if the first of them is nil, it is the second operand of the previous comparison.
func Compare(ops []string, operands []*Program) *Program {
	p := &Program{From: chain, list: operands}
	for _, op := range ops {
		p.fns = append(p.fns, Functions[op])
	}
	return p
}

// Items returns the program for a list of the programs' values.
func Items(items []*Program) *Program { return &Program{From: list, list: items} }

// CallOutside returns the program that calls the function Outside[index], none of whose arguments
// may be absent.
func CallOutside(index int, of []*Program) *Program {
	return &Program{From: outside, Index: index, list: of}
}

// Uses calls see with each value that a program takes from its Env.
func (p *Program) Uses(see func(Source, int)) {
	if p == nil {
		return
	}
	if p.From > Constant && p.From < function {
		see(p.From, p.Index)
	}
	for _, of := range []*Program{p.a, p.b, p.c} {
		of.Uses(see)
	}
	for _, of := range p.list {
		of.Uses(see)
	}
}

// Copies calls see with each value of the Env that the result may contain, whole or in part, but
// not with values that only conditions use. part is the number, from 1, of the only part of a
// record that the result may contain, and 0 otherwise.
func (p *Program) Copies(see func(from Source, index, part int)) {
	switch {
	case p == nil || p.From == about || p.From == and || p.From == or || p.From == not || p.From == chain:
		return
	case p.From > Constant && p.From < function:
		see(p.From, p.Index, 0)
	case p.part > 0:
		p.a.Copies(func(from Source, index, _ int) { see(from, index, p.part) })
		return
	}
	if p.From != choice || p.b == nil {
		p.a.Copies(see)
	}
	p.b.Copies(see)
	p.c.Copies(see)
	for _, of := range p.list {
		of.Copies(see)
	}
}

// Eval evaluates the program. The result of a condition is a boolean, or null if it is an absent
// argument or field. With an error there is no value.
func (p *Program) Eval(env *Env) (stores.Value, error) {
	v, err := p.eval(env)
	if err != nil {
		return stores.Value{}, err
	}
	return v, nil
}

func (p *Program) eval(env *Env) (stores.Value, error) {
	switch p.From {
	case Constant:
		return p.Value, nil
	case Argument:
		return valueAt(env.Args, p.Index), nil
	case Content:
		return valueAt(env.Contents, p.Index), nil
	case Item:
		return env.Item, nil
	case Read:
		return valueAt(env.Reads, p.Index), nil
	case Principal:
		return stores.NewString(env.Principal), nil
	case Now:
		return stores.NewTime(env.Now), nil
	case Today:
		return stores.DateOf(env.Now), nil
	case list:
		items := make([]stores.Value, len(p.list))
		for i, of := range p.list {
			var err error
			if items[i], err = of.eval(env); err != nil {
				return stores.Value{}, err
			}
		}
		return stores.NewList(items...), nil
	case chain:
		return p.compare(env)
	case outside:
		return p.call(env)
	}
	a, err := p.a.eval(env)
	if err != nil {
		return stores.Value{}, err
	}
	switch p.From {
	case and, or:
		if a.Bool() == (p.From == or) {
			return stores.NewBool(a.Bool()), nil
		}
		b, err := p.b.eval(env)
		return stores.NewBool(b.Bool()), err
	case not:
		return stores.NewBool(!a.Bool()), nil
	case choice:
		switch {
		case !a.Bool():
			return p.c.eval(env)
		case p.b == nil:
			return a, nil
		}
		return p.b.eval(env)
	case fallback:
		if a.IsNull() {
			return p.b.eval(env)
		}
		return a, nil
	}
	if p.b == nil {
		return p.fn(a, stores.Value{})
	}
	b, err := p.b.eval(env)
	if err != nil {
		return stores.Value{}, err
	}
	return p.fn(a, b)
}

func (p *Program) call(env *Env) (stores.Value, error) {
	args := make([]stores.Value, len(p.list))
	for i, of := range p.list {
		var err error
		if args[i], err = of.eval(env); err != nil {
			return stores.Value{}, err
		}
		if args[i].IsNull() {
			return stores.Value{}, ErrAbsent
		}
	}
	if p.Index >= len(env.Outside) || env.Outside[p.Index] == nil {
		return stores.Value{}, ErrLacking
	}
	return env.Outside[p.Index](args)
}

func (p *Program) compare(env *Env) (v stores.Value, err error) {
	var a, b stores.Value
	for i, holds := range p.fns {
		if left := p.list[2*i]; left == nil {
			a = b
		} else if a, err = left.eval(env); err != nil {
			return v, err
		}
		if b, err = p.list[2*i+1].eval(env); err != nil {
			return v, err
		}
		if v, err = holds(a, b); err != nil || !v.Bool() {
			return v, err
		}
	}
	return v, nil
}

// valueAt returns null for an index that an environment lacks.
func valueAt(values []stores.Value, i int) stores.Value {
	if i < len(values) {
		return values[i]
	}
	return stores.Value{}
}

// Functions holds the operators, by their spelling, the functions that a palette may call, and
// functions for the fields of money and for conversions between types.
var Functions = map[string]Func{
	"==": func(a, b stores.Value) (stores.Value, error) { return stores.NewBool(stores.Equal(a, b)), nil },
	"!=": func(a, b stores.Value) (stores.Value, error) { return stores.NewBool(!stores.Equal(a, b)), nil },
	"<": func(a, b stores.Value) (stores.Value, error) {
		n, err := order(a, b)
		return stores.NewBool(n < 0), err
	},
	"<=": func(a, b stores.Value) (stores.Value, error) {
		n, err := order(a, b)
		return stores.NewBool(n <= 0), err
	},
	">": func(a, b stores.Value) (stores.Value, error) {
		n, err := order(a, b)
		return stores.NewBool(n > 0), err
	},
	">=": func(a, b stores.Value) (stores.Value, error) {
		n, err := order(a, b)
		return stores.NewBool(n >= 0), err
	},
	"+": func(a, b stores.Value) (stores.Value, error) { return reckon('+', a, b) },
	"-": func(a, b stores.Value) (stores.Value, error) { return reckon('-', a, b) },
	"*": func(a, b stores.Value) (stores.Value, error) { return reckon('*', a, b) },
	"%": func(a, b stores.Value) (stores.Value, error) { return reckon('%', a, b) },

	"negative":   func(a, _ stores.Value) (stores.Value, error) { return reckon('*', a, stores.NewInt(-1)) },
	"in":         member,
	"contains":   textTest(strings.Contains),
	"startsWith": textTest(strings.HasPrefix),
	"endsWith":   textTest(strings.HasSuffix),
	"lower":      onText(strings.ToLower),
	"upper":      onText(strings.ToUpper),
	"trim":       onText(strings.TrimSpace),
	"len":        length,
	"days":       spanOf(24 * time.Hour),
	"weeks":      spanOf(7 * 24 * time.Hour),
	"hours":      spanOf(time.Hour),
	"minutes":    spanOf(time.Minute),
	"seconds":    spanOf(time.Second),
	"abs": func(a, _ stores.Value) (stores.Value, error) {
		n, err := order(a, stores.NewInt(0))
		if err != nil || n >= 0 {
			return a, err
		}
		return reckon('*', a, stores.NewInt(-1))
	},
	"min":      nearest(-1),
	"max":      nearest(1),
	"year":     ofDay(func(d time.Time) int { return d.Year() }),
	"month":    ofDay(func(d time.Time) int { return int(d.Month()) }),
	"day":      ofDay(time.Time.Day),
	"weekday":  ofDay(func(d time.Time) int { return (int(d.Weekday())+6)%7 + 1 }), // ISO 8601: Monday is 1
	"amount":   moneyPart("amount", stores.Decimal),
	"currency": moneyPart("currency", stores.String),
	"decimal":  toDecimal,
	"json":     toJSON,
}

// Rounds returns a function that rounds to so many digits after the point, halves away from zero
// as invoices do.
func Rounds(places int) Func {
	return func(a, _ stores.Value) (stores.Value, error) {
		return exactly(stores.Quotient(a, stores.NewInt(1), places))
	}
}

// Divides returns a function that divides, and rounds the quotient as Rounds does.
func Divides(places int) Func {
	return func(a, b stores.Value) (stores.Value, error) {
		if n, err := order(b, stores.NewInt(0)); err != nil || n == 0 {
			return stores.Value{}, cmp.Or(err, ErrZero)
		}
		return exactly(stores.Quotient(a, b, places))
	}
}

// exactly returns the result of an operation, or an error if there is none.
func exactly(v stores.Value, ok bool) (stores.Value, error) {
	if !ok {
		return v, ErrAbsent
	}
	return v, nil
}

// nearest returns a function for the lesser of two values, or the greater.
func nearest(sign int) Func {
	return func(a, b stores.Value) (stores.Value, error) {
		n, err := order(a, b)
		if n*sign < 0 {
			a = b
		}
		return a, err
	}
}

// ofDay returns a function for a part of a date.
func ofDay(part func(time.Time) int) Func {
	return func(d, _ stores.Value) (stores.Value, error) {
		if d.IsNull() {
			return d, ErrAbsent
		}
		return stores.NewInt(int64(part(time.Unix(d.Days()*24*60*60, 0).UTC()))), nil
	}
}

func order(x, y stores.Value) (int, error) {
	n, ok := stores.Compare(x, y)
	if !ok {
		return 0, ErrAbsent // kinds were checked when the palette was loaded
	}
	return n, nil
}

const (
	microsOfDay = int64(24 * time.Hour / time.Microsecond)
	maxText     = 1 << 16 // greatest length of a joined text
	minDay      = -719162 // 0001-01-01
	maxDay      = 2932896 // 9999-12-31
)

// reckon computes the exact result, or returns an error.
func reckon(op byte, x, y stores.Value) (stores.Value, error) {
	if x.IsNull() || y.IsNull() {
		return stores.Value{}, ErrAbsent
	}
	fail := func() (stores.Value, error) { return stores.Value{}, ErrRange }
	a, b := x.Kind(), y.Kind()
	if op == '+' && a == stores.Duration && (b == stores.Date || b == stores.Time) {
		x, y, a, b = y, x, b, a
	}
	switch {
	case a == stores.String && b == stores.String:
		if len(x.Text())+len(y.Text()) > maxText {
			return fail()
		}
		return stores.NewString(x.Text() + y.Text()), nil
	case a == stores.Date && b == stores.Duration:
		micros := y.Duration().Microseconds()
		if micros%microsOfDay != 0 {
			return fail() // a date has no hours
		}
		return dayAfter(x.Days(), micros/microsOfDay, op)
	case a == stores.Date && b == stores.Date:
		return stores.NewDuration(time.Duration(x.Days()-y.Days()) * 24 * time.Hour), nil
	case a == stores.Time && b == stores.Duration:
		d := y.Duration()
		if op == '-' {
			d = -d
		}
		t := x.Time().Add(d)
		if t.Year() < 1 || t.Year() > 9999 {
			return fail()
		}
		return stores.NewTime(t), nil
	case a == stores.Time && b == stores.Time:
		return stores.NewDuration(x.Time().Sub(y.Time())), nil
	case a == stores.Duration && b == stores.Duration:
		m, n := x.Duration(), y.Duration()
		if op == '-' {
			n = -n
		}
		if sum := m + n; (sum > m) == (n > 0) {
			return stores.NewDuration(sum), nil
		}
		return fail()
	case a == stores.Duration && b == stores.Int:
		return stretch(x.Duration(), y.Int())
	case a == stores.Int && b == stores.Duration:
		return stretch(y.Duration(), x.Int())
	case op == '%':
		if y.Int() == 0 {
			return stores.Value{}, ErrZero
		}
		if y.Int() == -1 { // the only case in which Go's % could trap
			return stores.NewInt(0), nil
		}
		return stores.NewInt(x.Int() % y.Int()), nil
	}
	v, ok := stores.Arith(op, x, y)
	if !ok {
		return fail()
	}
	return v, nil
}

func dayAfter(day, n int64, op byte) (stores.Value, error) {
	if op == '-' {
		n = -n
	}
	if day += n; day < minDay || day > maxDay {
		return stores.Value{}, ErrRange
	}
	return stores.NewDays(day), nil
}

func stretch(unit time.Duration, n int64) (stores.Value, error) {
	total := unit * time.Duration(n)
	if n != 0 && (total/time.Duration(n) != unit || n == -1 && unit == total && unit != 0) {
		return stores.Value{}, ErrRange
	}
	return stores.NewDuration(total), nil
}

func spanOf(unit time.Duration) Func {
	return func(n, _ stores.Value) (stores.Value, error) {
		if n.IsNull() {
			return stores.Value{}, ErrAbsent
		}
		return stretch(unit, n.Int())
	}
}

func toDecimal(v, _ stores.Value) (stores.Value, error) {
	if v.Kind() == stores.Int {
		v, _ = stores.ParseDecimal(v.Text())
	}
	return v, nil
}

func toJSON(v, _ stores.Value) (stores.Value, error) {
	if v.IsNull() || v.Kind() == stores.JSON {
		return v, nil
	}
	return stores.ParseJSON(string(v.AppendJSON(nil)))
}

func length(v, _ stores.Value) (stores.Value, error) {
	switch v.Kind() {
	case stores.Null:
		return stores.Value{}, ErrAbsent
	case stores.JSON:
		return stores.NewInt(int64(len(listItems(v.Text())))), nil
	}
	return stores.NewInt(int64(utf8.RuneCountInString(v.Text()))), nil
}

// member looks for a value in a list. It compares JSON texts, in which every kind of scalar
// except numbers has only one spelling.
func member(x, list stores.Value) (stores.Value, error) {
	if list.IsNull() {
		return stores.NewBool(false), nil
	}
	want := string(x.AppendJSON(nil))
	number := x.Kind() == stores.Int || x.Kind() == stores.Decimal
	for _, item := range listItems(list.Text()) {
		if item == want {
			return stores.NewBool(true), nil
		}
		if number {
			if n, ok := stores.ParseDecimal(item); ok && stores.Equal(n, x) {
				return stores.NewBool(true), nil
			}
		}
	}
	return stores.NewBool(false), nil
}

// listItems splits a canonical JSON list into the texts of its items.
func listItems(s string) []string {
	if len(s) < 2 || s[0] != '[' {
		return nil
	}
	s = s[1 : len(s)-1]
	var items []string
	start, depth, quoted := 0, 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth == 0:
			items = append(items, s[start:i])
			start = i + 1
		}
	}
	if s != "" {
		items = append(items, s[start:])
	}
	return items
}

func onText(f func(string) string) Func {
	return func(v, _ stores.Value) (stores.Value, error) {
		if v.IsNull() {
			return v, nil
		}
		return stores.NewString(f(v.Text())), nil
	}
}

func textTest(f func(s, part string) bool) Func {
	return func(s, part stores.Value) (stores.Value, error) {
		return stores.NewBool(!s.IsNull() && !part.IsNull() && f(s.Text(), part.Text())), nil
	}
}

// moneyPart returns the function for one half of {"amount":12.50,"currency":"EUR"}, which is
// canonical JSON made by the checker.
func moneyPart(key string, kind stores.Kind) Func {
	return func(v, _ stores.Value) (stores.Value, error) {
		if v.IsNull() {
			return v, nil
		}
		_, rest, ok := strings.Cut(v.Text(), `"`+key+`":`)
		if !ok {
			return stores.Value{}, nil
		}
		end := strings.IndexAny(rest, ",}")
		if end < 0 {
			end = len(rest)
		}
		part, _ := stores.FromJSON(kind, []byte(rest[:end]))
		return part, nil
	}
}
