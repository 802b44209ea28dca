package verbs

import (
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker/nature"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"verbatim/stores"
)

// What expressions are made of when they run. The library's own arithmetic is
// in floats and its own comparisons know neither decimals nor dates, so every
// operation is a function here, and the library's part is to parse, to compile
// and to run. Values go from one to the next as *stores.Value, conditions as
// bool.

type function = func(...any) (any, error)

var functions = func() conf.FunctionsTable {
	table := conf.FunctionsTable{}
	for name, fn := range map[string]function{
		"eq":         func(a ...any) (any, error) { return stores.Equal(*valueOf(a[0]), *valueOf(a[1])), nil },
		"ne":         func(a ...any) (any, error) { return !stores.Equal(*valueOf(a[0]), *valueOf(a[1])), nil },
		"lt":         func(a ...any) (any, error) { n, err := order(*valueOf(a[0]), *valueOf(a[1])); return n < 0, err },
		"le":         func(a ...any) (any, error) { n, err := order(*valueOf(a[0]), *valueOf(a[1])); return n <= 0, err },
		"gt":         func(a ...any) (any, error) { n, err := order(*valueOf(a[0]), *valueOf(a[1])); return n > 0, err },
		"ge":         func(a ...any) (any, error) { n, err := order(*valueOf(a[0]), *valueOf(a[1])); return n >= 0, err },
		"add":        func(a ...any) (any, error) { return reckon('+', a) },
		"sub":        func(a ...any) (any, error) { return reckon('-', a) },
		"mul":        func(a ...any) (any, error) { return reckon('*', a) },
		"mod":        func(a ...any) (any, error) { return reckon('%', a) },
		"neg":        func(a ...any) (any, error) { return reckon('*', []any{a[0], minusOne}) },
		"bool":       func(a ...any) (any, error) { return valueOf(a[0]).Bool(), nil },
		"present":    func(a ...any) (any, error) { return !valueOf(a[0]).IsNull(), nil },
		"decimal":    toDecimal,
		"json":       toJSON,
		"list":       toList,
		"len":        length,
		"missing":    missingKeys,
		"in":         member,
		"lower":      textual(strings.ToLower),
		"upper":      textual(strings.ToUpper),
		"trim":       textual(strings.TrimSpace),
		"contains":   textTest(strings.Contains),
		"startsWith": textTest(strings.HasPrefix),
		"endsWith":   textTest(strings.HasSuffix),
		"matches":    func(a ...any) (any, error) { return match(a) },
		"amount":     moneyPart("amount", stores.Decimal),
		"currency":   moneyPart("currency", stores.String),
		"days":       spanOf(24 * time.Hour),
		"weeks":      spanOf(7 * 24 * time.Hour),
		"hours":      spanOf(time.Hour),
		"minutes":    spanOf(time.Minute),
	} {
		table[name] = &builtin.Function{Name: name, Func: fn}
	}
	return table
}()

// functionNames are the functions that palettes may call.
var functionNames = []string{"content", "date", "days", "hours", "len", "lower", "minutes", "missing", "trim", "upper", "weeks"}

var (
	environment = nature.FromType(reflect.TypeFor[map[string]any]())
	boolType    = reflect.TypeFor[bool]()
	minusOne    = ptr(stores.NewInt(-1))
)

func ptr(v stores.Value) *stores.Value { return &v }

// parseConfig makes the library's parser take every function for one of ours,
// so that it is we who say which exist.
var parseConfig = func() conf.Config {
	c := conf.Config{Env: environment, Functions: conf.FunctionsTable{}, Disabled: map[string]bool{}, MaxNodes: maxParts, DisableIfOperator: true}
	for _, b := range builtin.Builtins {
		c.Functions[b.Name] = &builtin.Function{Name: b.Name}
		c.Disabled[b.Name] = true
	}
	return c
}()

// compileTree compiles a tree that the checker made. It skips the library's
// own type check, which knows less than ours.
func compileTree(tree *parser.Tree) (*vm.Program, error) {
	config := &conf.Config{Env: environment, Functions: functions, Optimize: true, ShortCircuit: true}
	return compiler.Compile(tree, config)
}

func callNode(name string, args ...ast.Node) ast.Node {
	return &ast.CallNode{Callee: &ast.IdentifierNode{Value: name}, Arguments: args}
}

// condNode is callNode for functions that give a bool.
func condNode(name string, args ...ast.Node) ast.Node {
	n := callNode(name, args...)
	n.SetType(boolType)
	return n
}

// missingKeys lists what is still to be asked of an object, by the schema of the
// code beside it.
func missingKeys(a ...any) (any, error) {
	list, object, code := a[0].(*CodeList), valueOf(a[1]), valueOf(a[2])
	keys := []stores.Value{}
	if s := list.Schema(code.Text()); s != nil && !object.IsNull() {
		found, err := s.FollowUps(*object)
		if err != nil {
			return nil, err
		}
		for _, key := range found {
			keys = append(keys, stores.NewString(key))
		}
	}
	return ptr(stores.NewList(keys...)), nil
}

func valueOf(x any) *stores.Value {
	switch x := x.(type) {
	case *stores.Value:
		return x
	case bool:
		return ptr(stores.NewBool(x))
	}
	return &stores.Value{}
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
	maxText     = 1 << 16 // what an expression may join together
	minDay      = -719162 // 0001-01-01
	maxDay      = 2932896 // 9999-12-31
)

func reckon(op byte, a []any) (any, error) {
	x, y := valueOf(a[0]), valueOf(a[1])
	if x.IsNull() || y.IsNull() {
		return nil, ErrAbsent
	}
	v, err := arith(op, *x, *y)
	if err != nil {
		return nil, err
	}
	return &v, nil
}

// arith reckons exactly, or not at all.
func arith(op byte, x, y stores.Value) (stores.Value, error) {
	fail := func() (stores.Value, error) { return stores.Value{}, ErrRange }
	a, b := x.Kind(), y.Kind()
	if op == '+' && b == stores.Date { // duration + date
		x, y, a, b = y, x, b, a
	}
	if op == '+' && b == stores.Time && a == stores.Duration {
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
		if y.Int() == -1 { // the one case in which Go's % could trap
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

func spanOf(unit time.Duration) function {
	return func(a ...any) (any, error) {
		n := valueOf(a[0])
		if n.IsNull() {
			return nil, ErrAbsent
		}
		v, err := stretch(unit, n.Int())
		return &v, err
	}
}

func toDecimal(a ...any) (any, error) {
	v := valueOf(a[0])
	if v.Kind() != stores.Int {
		return v, nil
	}
	d, _ := stores.ParseDecimal(v.Text())
	return &d, nil
}

func toJSON(a ...any) (any, error) {
	v := valueOf(a[0])
	if v.IsNull() || v.Kind() == stores.JSON {
		return v, nil
	}
	w, err := stores.ParseJSON(string(v.AppendJSON(nil)))
	return &w, err
}

func toList(a ...any) (any, error) {
	items := make([]stores.Value, len(a))
	for i, x := range a {
		items[i] = *valueOf(x)
	}
	v := stores.NewList(items...)
	return &v, nil
}

func length(a ...any) (any, error) {
	v := valueOf(a[0])
	switch v.Kind() {
	case stores.Null:
		return nil, ErrAbsent
	case stores.JSON:
		return ptr(stores.NewInt(int64(len(listItems(v.Text()))))), nil
	}
	return ptr(stores.NewInt(int64(utf8.RuneCountInString(v.Text())))), nil
}

// member looks for a value in a list. The list is compared as JSON texts, in
// which every kind of scalar has one spelling, except numbers.
func member(a ...any) (any, error) {
	x, list := valueOf(a[0]), valueOf(a[1])
	if list.IsNull() {
		return false, nil
	}
	want := string(x.AppendJSON(nil))
	number := x.Kind() == stores.Int || x.Kind() == stores.Decimal
	for _, item := range listItems(list.Text()) {
		if item == want {
			return true, nil
		}
		if number {
			if n, ok := stores.ParseDecimal(item); ok && stores.Equal(n, *x) {
				return true, nil
			}
		}
	}
	return false, nil
}

// listItems cuts a canonical JSON list into the texts of its items.
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

func textual(f func(string) string) function {
	return func(a ...any) (any, error) {
		v := valueOf(a[0])
		if v.IsNull() {
			return v, nil
		}
		return ptr(stores.NewString(f(v.Text()))), nil
	}
}

func textTest(f func(s, part string) bool) function {
	return func(a ...any) (any, error) {
		s, part := valueOf(a[0]), valueOf(a[1])
		return !s.IsNull() && !part.IsNull() && f(s.Text(), part.Text()), nil
	}
}

func match(a []any) (any, error) {
	s := valueOf(a[0])
	return !s.IsNull() && a[1].(*regexp.Regexp).MatchString(s.Text()), nil
}

// moneyPart takes one half out of {"amount":12.50,"currency":"EUR"}, which is
// canonical JSON made by the checker.
func moneyPart(key string, kind stores.Kind) function {
	return func(a ...any) (any, error) {
		v := valueOf(a[0])
		if v.IsNull() {
			return v, nil
		}
		_, rest, ok := strings.Cut(v.Text(), `"`+key+`":`)
		if !ok {
			return &stores.Value{}, nil
		}
		end := strings.IndexAny(rest, ",}")
		if end < 0 {
			end = len(rest)
		}
		part, _ := stores.FromJSON(kind, []byte(rest[:end]))
		return &part, nil
	}
}

func (c *exprChecker) call(n *ast.CallNode) term {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return c.fail(say.notAllowed(c.place(n), "methods", "functions: "+strings.Join(functionNames, ", ")))
	}
	var loops bool
	switch id.Value {
	case "all", "any", "none", "one", "filter", "map", "count", "sum", "find", "findIndex", "findLast", "findLastIndex", "groupBy", "sortBy", "reduce":
		loops = true
	}
	if loops {
		return c.fail(say.notAllowed(c.place(n), "loops", "each rule looks at one row; a handler can look at many"))
	}
	switch id.Value {
	case "missing":
		return c.missing(n)
	case "content":
		return c.content(n)
	}
	var wants TypeName
	switch id.Value {
	case "days", "weeks", "hours", "minutes":
		wants = IntegerType
	case "lower", "upper", "trim", "date":
		wants = StringType
	case "len":
		wants = AnyType
	default:
		return c.fail(say.unknownFunction(c.place(id), id.Value))
	}
	if len(n.Arguments) != 1 {
		return c.fail(say.exprSyntax(c.place(n), id.Value+" takes one thing", "not "+itoa(len(n.Arguments))))
	}
	t := c.check(n.Arguments[0], nil)
	if t.name == badType {
		return bad
	}
	ok = t.name == wants || wants == StringType && t.textual() || wants == AnyType && (t.textual() || t.name == ListType)
	if !ok {
		phrase := plainTypes[wants].phrase()
		if wants == AnyType {
			phrase = "a string or a list"
		}
		return c.fail(say.mismatch(c.place(n.Arguments[0]), id.Value+" wants "+phrase+"; this is "+t.phrase(), phrase+" is wanted here"))
	}
	if t.path != nil {
		return c.fail(say.filterTooMuch(c.place(n), "what a function makes of it"))
	}
	switch wants {
	case IntegerType:
		c.needs(n.Arguments[0], t)
		return c.apply(DurationType, id.Value, t)
	case AnyType:
		c.needs(n.Arguments[0], t)
		return c.apply(IntegerType, "len", t)
	}
	if id.Value == "date" {
		v, p := plainTypes[DateType].read(t.text)
		if t.value == nil || p != fine {
			return c.fail(say.exprSyntax(c.place(n.Arguments[0]), "date wants a date in quotes", "year-month-day: 2025-01-03"))
		}
		return constant(DateType, v, t.text)
	}
	return c.apply(StringType, id.Value, t)
}

// missing is what is still to be asked of an argument that says so.
func (c *exprChecker) missing(n *ast.CallNode) term {
	wrong := func(at ast.Node) term {
		return c.fail(say.mismatch(c.place(at), "missing wants an argument that is taken with follow-ups", "follow-ups: true says so of an object with schema-of"))
	}
	if len(n.Arguments) != 1 {
		return wrong(n)
	}
	t := c.check(n.Arguments[0], nil)
	if t.name == badType {
		return bad
	}
	if t.param < 0 || t.read >= 0 {
		return wrong(n.Arguments[0])
	}
	p := &c.sc.verb.Params[t.param]
	by, ok := p.SchemaOf()
	if !ok || !p.FollowUps {
		return wrong(n.Arguments[0])
	}
	return term{name: ListType, item: &Type{Name: StringType}, param: -1, read: -1,
		node: callNode("missing", &ast.ConstantNode{Value: p.byCode}, t.node, c.load(slot{slotArg, by}))}
}

// content is what the bytes of an upload are known by.
func (c *exprChecker) content(n *ast.CallNode) term {
	wrong := func(at ast.Node) term {
		return c.fail(say.mismatch(c.place(at), "content wants an argument that is an upload", "upload: {types: …, max-size: …} says so of a string"))
	}
	if len(n.Arguments) != 1 {
		return wrong(n)
	}
	t := c.check(n.Arguments[0], nil)
	if t.name == badType {
		return bad
	}
	if t.param < 0 || t.read >= 0 || c.sc.verb.Params[t.param].Upload == nil {
		return wrong(n.Arguments[0])
	}
	return term{name: StringType, param: -1, read: -1, node: c.load(slot{slotContent, t.param})}
}
