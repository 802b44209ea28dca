package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/verbs"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// ofCountry reads the country of a type. typ is the node of the type.
func (l *loader) ofCountry(d *doc, name verbs.TypeName, country pair, typ *yaml.Node) *verbs.Type {
	n := country.value
	switch {
	case n == nil && country.key != nil:
		return nil
	case n == nil && name == verbs.NationalIDType:
		d.report(tell(d.place(typ), "bad-country/missing", values.IDCountries()))
		return nil
	case n == nil:
		return plainTypes[name]
	case naming.IsCode(n.Value):
		_, known := l.countryFor(d, name, n)
		if !known {
			return nil
		}
		return &verbs.Type{Name: name, Scale: -1, Country: n.Value}
	}
	return &verbs.Type{Name: name, Scale: -1, CountryOf: naming.Underscored(n.Value)}
}

// countryFor reports whether numbers of a country are known.
func (l *loader) countryFor(d *doc, name verbs.TypeName, n *yaml.Node) (string, bool) {
	id, _ := values.IDName(n.Value)
	switch {
	case !values.IsCountry(n.Value):
		d.report(tell(d.place(n), "bad-country", n.Value))
	case name == verbs.NationalIDType && id == "":
		d.report(tell(d.place(n), "bad-country/no-rule", n.Value, values.IDCountries()))
	default:
		return n.Value, true
	}
	return "", false
}

// beside checks that the country of a type stands where it says: find returns the type of what has a
// name beside it, nil if it could not be read, and names what there is.
func (l *loader) beside(d *doc, t *verbs.Type, country pair, find func(ident string) (*verbs.Type, bool), names []string) {
	if t == nil || t.CountryOf == "" || country.value == nil {
		return
	}
	switch is, ok := find(t.CountryOf); {
	case !ok:
		d.report(tell(d.place(country.value), "bad-country/nowhere", country.value.Value, names))
	case is != nil && is.Name != verbs.StringType && is.Name != verbs.CodeType:
		d.report(tell(d.place(country.value), "bad-country/no-text", country.value.Value, is))
	}
}

// alone refuses a country that stands beside a value, where nothing does.
func (l *loader) alone(d *doc, t *verbs.Type, country pair) *verbs.Type {
	if t != nil && t.CountryOf != "" && country.value != nil {
		d.report(tell(d.place(country.value), "bad-country/alone", country.value.Value))
		return nil
	}
	return t
}

// paramsBeside finds the type of an argument, or of a field of a record.
func paramsBeside(params []verbs.Param) func(ident string) (*verbs.Type, bool) {
	return func(ident string) (*verbs.Type, bool) {
		i := slices.IndexFunc(params, func(p verbs.Param) bool { return naming.Same(p.Name, ident) })
		if i < 0 {
			return nil, false
		}
		return params[i].Type, true
	}
}
