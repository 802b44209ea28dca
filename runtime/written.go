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

// written returns a call as it is kept and shown: without the values of
// sensitive arguments and, inside a macro, with the macro's own arguments in
// the place of their names. A call in which nothing needs replacing is
// returned as it is.
func (e *Engine) written(c *dsl.Call, macro *step) *dsl.Call {
	verb := e.reg.Verb(c.Verb)
	var args []dsl.Arg
	for i := range c.Args {
		old := &c.Args[i].Value
		value, replaced := dsl.Value{}, false
		if verb != nil && isSensitive(verb, c.Args[i].Key) {
			value, replaced = dsl.NewString(withheld), true
		} else {
			value, replaced = e.writtenValue(old, macro)
		}
		if !replaced {
			continue
		}
		if args == nil {
			args = append(args, c.Args...)
		}
		args[i].Value = value
	}
	if args == nil {
		return c
	}
	copied := *c
	copied.Args = args
	return &copied
}

func (e *Engine) writtenValue(v *dsl.Value, macro *step) (dsl.Value, bool) {
	switch v.Kind {
	case dsl.Nested:
		inner := v.Call()
		if out := e.written(inner, macro); out != inner {
			return dsl.NewNested(*out), true
		}
	case dsl.List:
		var items []dsl.Value
		for i, item := range v.Items() {
			if out, replaced := e.writtenValue(&item, macro); replaced {
				if items == nil {
					items = append(items, v.Items()...)
				}
				items[i] = out
			}
		}
		if items != nil {
			return dsl.NewList(items...), true
		}
	case dsl.Map:
		var entries []dsl.Arg
		for i, entry := range v.Entries() {
			if out, replaced := e.writtenValue(&entry.Value, macro); replaced {
				if entries == nil {
					entries = append(entries, v.Entries()...)
				}
				entries[i].Value = out
			}
		}
		if entries != nil {
			return dsl.NewMap(entries...), true
		}
	case dsl.Symbol:
		if macro == nil {
			break
		}
		name, path, _ := strings.Cut(v.Text, ".")
		for i := range macro.verb.Params {
			p := &macro.verb.Params[i]
			if !sameWord(p.Name, name) {
				continue
			}
			outer, given := macro.syntax.Get(p.Name)
			switch {
			case macro.isDark(i) && (!given || outer.Kind != dsl.Symbol):
				outer = dsl.NewString(withheld)
			case !given:
				outer = literal(macro.args[i])
			case path != "" && outer.Kind == dsl.Symbol:
				outer = dsl.NewSymbol(outer.Text + "." + path)
			}
			return outer, true
		}
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
