package runtime

import (
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// withheld stands in a text for the value of a sensitive argument. It is a
// string, so that the text still parses.
const withheld = "(withheld)"

// written returns a call of a program as it is kept and shown: with names that
// cannot move, without the values of sensitive arguments and, inside a macro, with
// the macro's own arguments in the place of their names. p is nil for a call whose
// names are not settled. A call in which nothing needs replacing is returned as it
// is.
func (e *Engine) written(p *verbs.Program, c *dsl.Call, macro *step) *dsl.Call {
	return dsl.Replace(c, func(of *dsl.Call, key string, v *dsl.Value) (dsl.Value, bool) {
		if verb := e.reg.Verb(of.Verb); verb != nil && isSensitive(verb, key) {
			return dsl.NewString(withheld), true
		}
		if macro != nil && v.Kind == dsl.Symbol {
			return macro.given(v.Text)
		}
		return p.Named(v)
	})
}

// given is the value that an argument of a macro stands for in its script.
func (st *step) given(symbol string) (dsl.Value, bool) {
	name, path, _ := strings.Cut(symbol, ".")
	for i := range st.verb.Params {
		p := &st.verb.Params[i]
		if !sameWord(p.Name, name) {
			continue
		}
		outer, given := st.syntax.Get(p.Name)
		switch {
		case st.isDark(i) && (!given || outer.Kind != dsl.Symbol):
			outer = dsl.NewString(withheld)
		case !given:
			outer = literal(st.args[i])
		case path != "" && outer.Kind == dsl.Symbol:
			outer = dsl.NewSymbol(outer.Text + "." + path)
		}
		return outer, true
	}
	return dsl.Value{}, false
}

func isSensitive(v *verbs.Verb, key string) bool {
	for i := range v.Params {
		if v.Params[i].Name == key {
			return v.Params[i].Sensitive
		}
	}
	return false
}

// literal writes a default as a literal.
func literal(v stores.Value) dsl.Value {
	switch v.Kind() {
	case stores.Null:
		return dsl.NewNil()
	case stores.Bool:
		return dsl.NewBool(v.Bool())
	case stores.Int:
		return dsl.NewInteger(v.Int())
	case stores.Decimal:
		return dsl.NewNumber(v.Text())
	case stores.Date:
		return dsl.NewDate(v.Text())
	case stores.Time:
		return dsl.NewTime(v.Time())
	}
	return dsl.NewString(v.Text())
}
