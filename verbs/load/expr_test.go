package load

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/expr"
)

const exprPalette = `domain: bank
roles: [{name: teller}]
codes:
  - {name: status, values: [OPEN, CLOSED]}
entities:
  owner:
    key: owner_id
    scope: self
    fields:
      name: {type: string}
      born: {type: date}
  account:
    key: account_id
    scope: owner
    fields:
      owner: {type: ref, ref-type: owner, required: true}
      status: {type: code, ref-type: status}
      opened: {type: date}
      limit: {type: decimal}
      count: {type: integer}
      active: {type: boolean}
      any: {type: any}
      text: {type: string}
      at: {type: datetime}
      tags: {type: list, of: string}
verbs:
  - verb: test
    roles: [teller]
    handler: true
    args:
      - {name: account-id, type: ref, ref-type: account, required: true}
      - {name: amount, type: decimal, required: true}
      - {name: count, type: integer, required: true}
      - {name: new-date, type: date, required: true}
      - {name: maybe, type: date}
      - {name: text, type: string, required: true}
      - {name: status, type: code, ref-type: status, required: true}
      - {name: flag, type: boolean, required: true}
      - {name: tags, type: list, of: string, required: true}
      - {name: price, type: money, required: true}
      - {name: at, type: datetime, required: true}
      - {name: span, type: duration, required: true}
`

var exprArgs = map[string]stores.Value{
	"account-id": must(stores.ParseUUID("123e4567-e89b-12d3-a456-426614174000")),
	"amount":     must(stores.ParseDecimal("1000.00")),
	"count":      stores.NewInt(7),
	"new-date":   must(stores.ParseDate("2025-02-10")),
	"maybe":      {},
	"text":       stores.NewString("Grüße, Ann"),
	"status":     stores.NewString("OPEN"),
	"flag":       stores.NewBool(true),
	"tags":       stores.NewList(stores.NewString("a"), stores.NewString("b,\"c")),
	"price":      stores.NewObject([]string{"amount", "currency"}, []stores.Value{must(stores.ParseDecimal("12.50")), stores.NewString("EUR")}),
	"at":         stores.NewTime(time.Date(2025, 1, 3, 10, 0, 0, 0, time.UTC)),
	"span":       stores.NewDuration(36 * time.Hour),
}

func must(v stores.Value, ok bool) stores.Value {
	if !ok {
		panic("not a value")
	}
	return v
}

// exprFixture compiles expressions as the effects of one verb would.
type exprFixture struct {
	l    *loader
	verb *verbs.Verb
	row  *verbs.Entity
}

func newExprFixture(t testing.TB) *exprFixture {
	t.Helper()
	l := newLoader()
	l.docs = []*doc{newDoc(dsl.NewSource("bank.yaml", exprPalette), DefaultMaxFile)}
	l.declare(l.docs[0])
	for i := range l.entityNodes {
		l.makeFields(&l.entityNodes[i])
	}
	for i := range l.entityNodes {
		l.relate(&l.entityNodes[i])
	}
	l.verb(&l.verbNodes[0])
	if ds := l.diagnostics(); len(ds) > 0 {
		t.Fatal(ds[0].Summary)
	}
	return &exprFixture{l: l, verb: l.verbNodes[0].v, row: l.entityNamed["account"]}
}

func (f *exprFixture) doc(text string) *doc {
	return newDoc(dsl.NewSource("expr.yaml", `"`+strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\x00", "").Replace(text)+`"`), DefaultMaxFile)
}

func (f *exprFixture) compile(text string, w want) (*verbs.Expr, dsl.Diagnostics) {
	d := f.doc(text)
	if d.root == nil {
		return nil, d.diags
	}
	e := f.l.compile(d, d.root, scope{verb: f.verb, row: f.row}, w, nil)
	return e, d.diags
}

// env gives the arguments above, and for each read a value by its path.
func (f *exprFixture) env(reads []verbs.ExprRead) verbs.Env {
	env := verbs.Env{Principal: "clara", Now: time.Date(2025, 1, 3, 12, 30, 0, 0, time.UTC)}
	for i := range f.verb.Params {
		env.Args = append(env.Args, exprArgs[f.verb.Params[i].Name])
	}
	for _, r := range reads {
		e := f.row.Store
		if n := len(r.Path.Steps); n > 0 {
			e = r.Path.Steps[n-1].To
		}
		v := map[string]stores.Value{
			"name": stores.NewString("Pierre"), "opened": must(stores.ParseDate("2025-01-15")), "count": stores.NewInt(3),
			"limit": must(stores.ParseDecimal("99.90")), "active": stores.NewBool(true), "text": stores.NewString("row"),
			"status": stores.NewString("CLOSED"), "born": {},
		}[e.Fields[r.Path.Field].Name]
		env.Reads = append(env.Reads, v)
	}
	return env
}

func TestExpressionsWorkOut(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	for text, want := range map[string]string{
		// Exact numbers: no float comes near them.
		"amount == 1000":                       "true",
		"amount > 1000.00":                     "false",
		"amount >= 999.999999999999999999":     "true",
		"0.1 + 0.2 == 0.3":                     "true",
		"0.1 + 0.2":                            "0.3",
		"amount * 1.10":                        "1100.0000",
		"amount * 3":                           "3000.00",
		"1000.00 - amount":                     "0.00",
		"count * 2 + 1":                        "15",
		"-count":                               "-7",
		"-count % 4":                           "-3",
		"-(2 - 5)":                             "3",
		"9007199254740993 == 9007199254740992": "false",
		"count > 6.5":                          "true",
		"amount + count":                       "1007.00",
		// Dates.
		"new_date > account_id.opened + days(14)": "true",
		"new_date > account_id.opened + days(26)": "false",
		"new_date - account_id.opened":            "624h0m0s",
		"new_date + weeks(1)":                     "2025-02-17",
		"days(1) + new_date":                      "2025-02-11",
		"today":                                   "2025-01-03",
		"now - hours(12)":                         "2025-01-03T00:30:00Z",
		"at + span":                               "2025-01-04T22:00:00Z",
		"now - at == minutes(150)":                "true",
		`new_date == "2025-02-10"`:                "true",
		`date("2025-02-10") == new_date`:          "true",
		"days(2) * 3 - hours(1)":                  "143h0m0s",
		"2 * days(2) == days(4)":                  "true",
		// Absence.
		"maybe == nil":                    "true",
		"nil != maybe":                    "false",
		"maybe ?? today":                  "2025-01-03",
		"maybe != nil and maybe > today":  "false",
		"maybe == nil or maybe > today":   "true",
		"account_id.owner.born == nil":    "true",
		"(maybe == nil ? count : 5) == 7": "true",
		// Text.
		"len(text)":             "10",
		`text startsWith "Grü"`: "true",
		`text endsWith "Ann" and text contains ","`: "true",
		`text matches "^[A-Z][a-zü]+"`:              "true",
		`upper(trim(" x ")) + "-" + principal`:      "X-clara",
		`lower(text) == "grüße, ann"`:               "true",
		"account_id.owner.name":                     "Pierre",
		`text < "H"`:                                "true",
		// Codes, lists, money, booleans.
		"status == OPEN":                    "true",
		"OPEN == status":                    "true",
		"status in [CLOSED]":                "false",
		"status not in [CLOSED]":            "true",
		`"a" in tags and not ("c" in tags)`: "true",
		`"b,\"c" in tags`:                   "true",
		"count in [1, 7.0]":                 "true",
		"len(tags)":                         "2",
		"round(10.005, 2)":                  "10.01",
		"round(-10.005, 2)":                 "-10.01",
		"round(7, 0)":                       "7",
		"round(2.4, 3)":                     "2.400",
		"divide(10, 3, 4)":                  "3.3333",
		"divide(-2, 3, 0)":                  "-1",
		"divide(1, 8, 2)":                   "0.13",
		"abs(-3.50)":                        "3.50",
		"abs(2)":                            "2",
		"min(3, 2.5)":                       "2.5",
		"max(3, 3.0)":                       "3",
		"max(date(\"2024-02-28\"), date(\"2024-02-29\"))": "2024-02-29",
		"seconds(90)":                   "1m30s",
		"year(date(\"2024-12-30\"))":    "2024",
		"month(date(\"2024-12-30\"))":   "12",
		"day(date(\"1969-12-31\"))":     "31",
		"weekday(date(\"2024-12-30\"))": "1",
		"weekday(date(\"2024-12-29\"))": "7",
		"price.amount * 2":              "25.00",
		"price.currency == EUR":         "true",
		"flag and not (count > 7)":      "true",
		"flag ? 1 : 2.5":                "1",
		"count > 5 == flag":             "true",
		// The row.
		"row.count + count":                            "10",
		"row.active and row.status == CLOSED":          "true",
		`row.text + "!"`:                               "row!",
		"1 < count < 10":                               "true",
		"1 < count < 7 <= 9":                           "false",
		`"2025-01-01" < new_date < "2025-12-31"`:       "true",
		"today < (maybe ?? \"2025-02-01\") < new_date": "true",
		"text | upper() | len()":                       "10",
		"::len(text) + len(tags,)":                     "12",
		"(count > 9 ?: flag)":                          "true",
		"flag && !(count > 9) || false;":               "true",
		"maybe ?? nil ?? new_date":                     "2025-02-10",
		":amount":                                      "1000.00",
		"new-date":                                     "2025-02-10",
		"true":                                         "true",
	} {
		t.Run(text, func(t *testing.T) {
			e, diags := f.compile(text, wantAnything)
			if e == nil || diags.HasErrors() {
				t.Fatal(diags)
			}
			v, err := e.Eval(f.env(e.Reads))
			if err != nil {
				t.Fatal(err)
			}
			if v.Text() != want {
				t.Errorf("%s, not %s", v, want)
			}
		})
	}
}

// What cannot be worked out is an error, never a panic and never a guess.
func TestExpressionsFailByName(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	for text, want := range map[string]error{
		"maybe > today":                                verbs.ErrAbsent,
		"maybe + days(1)":                              verbs.ErrAbsent,
		"account_id.owner.born < today":                verbs.ErrAbsent,
		"days(count - 7) == days(0) and maybe < today": verbs.ErrAbsent,
		"count % (count - 7)":                          verbs.ErrZero,
		"divide(1, count - 7, 2)":                      verbs.ErrZero,
		"year(account_id.owner.born)":                  verbs.ErrAbsent,
		"9223372036854775807 + count":                  verbs.ErrRange,
		"9223372036854775807 * count":                  verbs.ErrRange,
		"-9223372036854775807 - count":                 verbs.ErrRange,
		"new_date + days(9223372036854775807)":         verbs.ErrRange,
		"new_date + days(count * 1000000)":             verbs.ErrRange,
		"new_date + hours(5)":                          verbs.ErrRange,
		"at + days(count * 10000000)":                  verbs.ErrRange,
	} {
		t.Run(text, func(t *testing.T) {
			e, diags := f.compile(text, wantAnything)
			if e == nil {
				t.Fatal(diags)
			}
			v, err := e.Eval(f.env(e.Reads))
			if !errors.Is(err, want) {
				t.Errorf("%v, %v; not %v", v, err, want)
			}
			if err != nil && !strings.HasPrefix(err.Error(), text) {
				t.Errorf("the error does not say which expression: %v", err)
			}
		})
	}
	// An environment that is too short is one in which things are absent.
	e, _ := f.compile("new_date > account_id.opened", wantBoolean)
	if _, err := e.Eval(verbs.Env{}); !errors.Is(err, verbs.ErrAbsent) {
		t.Error(err)
	}
}

// Values are made what the field holds.
func TestExpressionsFitTheirField(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	for _, c := range []struct {
		field, text string
		kind        stores.Kind
		want        string
	}{
		{"limit", "count", stores.Decimal, "7"},
		{"limit", "5", stores.Decimal, "5"},
		{"limit", "count + 1", stores.Decimal, "8"},
		{"limit", "flag ? count : amount", stores.Decimal, "7"},
		{"any", "count", stores.JSON, "7"},
		{"any", "text", stores.JSON, `"Grüße, Ann"`},
		{"any", "tags", stores.JSON, `["a","b,\"c"]`},
		{"any", "nil", stores.Null, ""},
		{"text", "status", stores.String, "OPEN"},
		{"status", "CLOSED", stores.String, "CLOSED"},
		{"opened", `"2025-03-01"`, stores.Date, "2025-03-01"},
		{"at", "now", stores.Time, "2025-01-03T12:30:00Z"},
		{"tags", `["x", text]`, stores.JSON, `["x","Grüße, Ann"]`},
		{"active", "count > 5", stores.Bool, "true"},
		{"owner", "account_id.owner", stores.Null, ""},
	} {
		e, diags := f.compile(c.text, wantField(f.row, f.row.FieldNamed(c.field)))
		if e == nil {
			t.Errorf("%s: %s: %s", c.field, c.text, diags[0].Summary)
			continue
		}
		v, err := e.Eval(f.env(e.Reads))
		if err != nil || v.Kind() != c.kind || v.Text() != c.want {
			t.Errorf("%s: %s is %s %s, %v", c.field, c.text, v.Kind(), v, err)
		}
	}
}

// What a preview says of a value: that it is an argument as it was given.
func TestArgOnly(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	for text, want := range map[string]string{"text": "text", ":new-date": "new-date", "account_id": "account-id", "(count)": "count", "count + 1": "", "principal": "", "1": "", "row.text": ""} {
		e, diags := f.compile(text, wantAnything)
		if e == nil {
			t.Fatal(diags)
		}
		i, ok := e.ArgOnly()
		if got := ok && want != "" && f.verb.Params[i].Name == want; ok != (want != "") || ok != got {
			t.Errorf("%s: %d %v", text, i, ok)
		}
		if v, ok := e.Constant(); ok != (text == "1") || ok && v.Int() != 1 {
			t.Errorf("%s: constant %v %v", text, v, ok)
		}
	}
}

// Arithmetic in an expression is the arithmetic of values: exact,
// to the last digit.
func TestArithmeticIsExact(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	rapid.Check(t, func(rt *rapid.T) {
		a := rapid.StringMatching(`[1-9][0-9]{0,15}(\.[0-9]{1,6})?`).Draw(rt, "a")
		b := rapid.StringMatching(`[1-9][0-9]{0,15}(\.[0-9]{1,6})?`).Draw(rt, "b")
		op := rapid.SampledFrom([]string{"+", "-", "*"}).Draw(rt, "op")
		e, diags := f.compile(fmt.Sprintf("(flag ? %s : amount) %s %s", a, op, b), wantAnything)
		if e == nil {
			rt.Fatal(diags)
		}
		got, err := e.Eval(f.env(nil))
		x, y := must(stores.ParseDecimal(a)), must(stores.ParseDecimal(b))
		want, ok := stores.Arith(op[0], x, y)
		if err != nil || !ok || !stores.Equal(got, want) {
			rt.Fatalf("%s %s %s is %s, %v; not %s", a, op, b, got, err, want)
		}
	})
}

// SAFE-P7: an expression stays cheap however it is put together, and what
// cannot be cheap is refused when the palette is loaded.
func TestExpressionsStayCheap(t *testing.T) {
	f := newExprFixture(t)
	for name, text := range map[string]string{
		"sum":      strings.TrimSuffix(strings.Repeat("amount + ", 100), "+ "),
		"product":  strings.TrimSuffix(strings.Repeat("amount * ", 100), "* "),
		"not":      strings.Repeat("not ", 200) + "flag",
		"brackets": strings.Repeat("(", 900) + "flag" + strings.Repeat(")", 900),
		"join":     strings.TrimSuffix(strings.Repeat("text + ", 120), "+ "),
		"choice":   strings.Repeat("flag ? 1 : ", 80) + "2",
		"or else":  strings.Repeat("(", 60) + "flag" + strings.Repeat(" ?: flag)", 60),
		"default":  "maybe" + strings.Repeat(" ?? maybe", 60),
		"chain":    strings.Repeat("(1 < ", 20) + "count" + strings.Repeat(" < 9 ? 1 : 2)", 20),
		"list":     "count in [" + strings.TrimSuffix(strings.Repeat("1, ", 200), ", ") + "]",
		"pattern":  `text matches "^(((a*)*)*)*$"`,
		"counted":  `text matches "(a{1,6}){1,6}$"`,
	} {
		e, diags := f.compile(text, wantAnything)
		if e == nil {
			t.Errorf("%s: %s", name, diags[0].Summary)
			continue
		}
		env := f.env(e.Reads)
		env.Args[f.verb.ParamNamed("text")] = stores.NewString(strings.Repeat("a", 2000))
		if _, err := e.Eval(env); err != nil && !errors.Is(err, verbs.ErrRange) {
			t.Errorf("%s: %v", name, err)
		}
		spends(t, 2<<20, name, func() { e.Eval(env) })
	}
	for name, text := range map[string]string{
		"long":      strings.Repeat("x", expr.MaxBytes+1),
		"parts":     strings.TrimSuffix(strings.Repeat("1+", 200), "+"),
		"brackets":  strings.Repeat("(", 1900),
		"blow-up":   `text matches "((a{1000}){1000}){1000}"`,
		"lookahead": `text matches "(?=a)"`,
		"range":     "count in 1..1000000000",
		"map":       "map(tags, {#})",
		"let":       "let a = 1; a",
		"counted":   `text matches "(a{1,30}){1,30}"`,
		"env":       "$env",
	} {
		spends(t, 1<<20, "refusing "+name, func() {
			if e, diags := f.compile(text, wantAnything); e != nil || len(diags) == 0 {
				t.Errorf("%s compiles", name)
			}
		})
	}
}

// A filter leaves to the store what depends on the row, and nothing else.
func TestFiltersBecomeConditions(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	for text, want := range map[string]string{
		"row.active":     "(active = true)",
		"not row.active": "not (active = true)",
		"row.active and (flag or row.status != CLOSED)":     "(active = true)",
		"row.active and (not flag or row.status != CLOSED)": "((active = true) and (status <> CLOSED))",
		"flag":                                        "true",
		"not flag":                                    "false",
		"not flag and row.active":                     "false",
		"row.opened < new_date":                       "(opened < 2025-02-10)",
		"new_date > row.opened":                       "(opened < 2025-02-10)",
		"row.opened >= maybe":                         "(opened >= )",
		"maybe == nil or row.opened > maybe":          "true",
		"row.opened < maybe + days(1)":                "(opened < )",
		"row.status == nil":                           "(status = )",
		"nil != row.status":                           "(status <> )",
		"row.status in [OPEN, CLOSED]":                `(status in ["OPEN","CLOSED"])`,
		"row.text in tags":                            `(text in ["a","b,\"c"])`,
		"row.limit > count":                           "(limit > 7)",
		"row.owner.name == text":                      "(owner.name = Grüße, Ann)",
		"row.opened == row.owner.born":                "(opened = owner.born)",
		"row.owner == account_id.owner":               "(owner = )",
		"row.account_id == account_id":                "(account_id = 123e4567-e89b-12d3-a456-426614174000)",
		"row.active and row.active and row.count > 1": "((active = true) and (active = true) and (count > 1))",
		"row.count == 1 or row.count == 2":            "((count = 1) or (count = 2))",
		`row.text == (flag ? "a" : "b")`:              "(text = a)",
		"1 < row.count <= count":                      "((count > 1) and (count <= 7))",
		"count < 9 < row.count < 10 < 11":             "((count > 9) and (count < 10))",
		"not (row.count in [1, count])":               "not (count in [1,7])",
		"row.opened < account_id.opened":              "(opened < 2025-01-15)",
	} {
		d := f.doc(text)
		filter := f.l.filter(d, d.root, scope{verb: f.verb, row: f.row})
		if filter == nil {
			t.Errorf("%s: %s", text, d.diags[0].Summary)
			continue
		}
		c, err := filter.Cond(f.env(filter.Reads))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := condText(f.row, c); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
		if c.Op == stores.Gt && c.Path.Field == f.row.FieldNamed("limit") && c.Value.Kind() != stores.Decimal {
			t.Errorf("%s compares a decimal with %s", text, c.Value.Kind())
		}
	}
}

func condText(e *verbs.Entity, c stores.Cond) string {
	path := func(p stores.Path) string {
		at, s := e.Store, ""
		for _, step := range p.Steps {
			s += at.Fields[step.Field].Name + "."
			at = step.To
		}
		return s + at.Fields[p.Field].Name
	}
	switch c.Op {
	case stores.True:
		return "true"
	case stores.False:
		return "false"
	case stores.Not:
		return "not " + condText(e, c.Kids[0])
	case stores.And, stores.Or:
		var kids []string
		for _, k := range c.Kids {
			kids = append(kids, condText(e, k))
		}
		return "(" + strings.Join(kids, map[stores.CondOp]string{stores.And: " and ", stores.Or: " or "}[c.Op]) + ")"
	}
	op := map[stores.CondOp]string{stores.Eq: "=", stores.Ne: "<>", stores.Lt: "<", stores.Le: "<=", stores.Gt: ">", stores.Ge: ">=", stores.In: "in"}[c.Op]
	if c.Other != nil {
		return "(" + path(c.Path) + " " + op + " " + path(*c.Other) + ")"
	}
	return "(" + path(c.Path) + " " + op + " " + c.Value.Text() + ")"
}

// Expressions may be evaluated by many at once, from the first time on.
func TestExpressionsAreShared(t *testing.T) {
	t.Parallel()
	f := newExprFixture(t)
	e, _ := f.compile("new_date > account_id.opened + days(count) and amount > 1", wantBoolean)
	env := f.env(e.Reads)
	done := make(chan error, 8)
	for range cap(done) {
		go func() {
			for range 200 {
				if v, err := e.Eval(env); err != nil || !v.Bool() {
					done <- fmt.Errorf("%v, %v", v, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// PERF-C2: cmd/internal/bench compares such conditions with a library's.
func BenchmarkEval(b *testing.B) {
	f := newExprFixture(b)
	e, diags := f.compile("new_date > account_id.opened + days(14) and status == OPEN", wantBoolean)
	if e == nil {
		b.Fatal(diags)
	}
	env := f.env(e.Reads)
	b.ReportAllocs()
	for b.Loop() {
		if v, err := e.Eval(env); err != nil || !v.Bool() {
			b.Fatal(v, err)
		}
	}
}
