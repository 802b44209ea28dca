package verbs

import (
	"errors"

	"verbatim/verbs/values"
)

// Telephone numbers and national ids are of a country. A palette says which, or names the argument or
// field beside it that holds the country, as a code of ISO 3166-1.

// CountryParam returns the index of the argument that holds the country of an argument.
func (v *Verb) CountryParam(param int) (by int, ok bool) {
	t := v.Params[param].Type
	if t == nil || t.CountryOf == "" {
		return 0, false
	}
	by = v.ParamNamed(t.CountryOf)
	return by, by >= 0
}

// CountryField returns the index of the field that holds the country of a field.
func (e *Entity) CountryField(field int) (by int, ok bool) {
	t := e.Fields[field].Type
	if t == nil || t.CountryOf == "" {
		return 0, false
	}
	by = e.FieldNamed(t.CountryOf)
	return by, by >= 0
}

// countryOf checks a literal again with the country beside it, if both are written out. The engine
// does so for what becomes known later.
func (c *checker) countryOf(at site, t *Type, country, value *Arg) {
	if value.Kind != Literal || value.Syntax == nil || value.Value.IsNull() || country.Kind != Literal && country.Syntax != nil {
		return
	}
	is := t.In(country.Value)
	v, p := is.Limit(value.Value)
	if p != Fine {
		c.add(c.refuse(at, is, value.Syntax, p))
		return
	}
	value.Value = v
}

// fault says why a text is no value of a type with a rule of its own. If the value is sensitive, it
// says nothing of it.
func (t *Type) fault(text string, sensitive bool) string {
	_, err := t.ruled(text)
	var f *values.Fault
	switch {
	case !errors.As(err, &f):
		return ""
	case sensitive:
		return f.Safe()
	}
	return f.Error()
}
