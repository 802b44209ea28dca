package verbs

import (
	"slices"
	"strings"

	"verbatim/dsl"
)

// Mask removes the values of sensitive arguments from Parse's diagnostics of a script: from the
// excerpts and from the messages. Check does so for its own diagnostics; those of Parse should be
// masked before they are printed. If a call or an argument is not understood, everything that may
// be sensitive is masked.
func (r *Registry) Mask(s *dsl.Script, ds dsl.Diagnostics) dsl.Diagnostics {
	r.wanted(s, ds)
	return r.mask(s, ds, true)
}

// wanted says of a word that is no value, where the argument takes a code or a day, what it takes. The
// parser, which knows no arguments, only says that a text stands in quotes.
func (r *Registry) wanted(s *dsl.Script, ds dsl.Diagnostics) {
	for i := range ds {
		d := &ds[i]
		if d.Code != "unquoted-text" || s == nil {
			continue
		}
		for c := range s.Calls {
			v := r.verbs[s.Calls[c].Verb]
			for k := range s.Calls[c].Args {
				a := &s.Calls[c].Args[k]
				if v == nil || a.Value.Kind != dsl.Invalid || !overlap(a.Value.Range, d.Place.Range) {
					continue
				}
				n := v.plan.param(a.Key, k)
				if n < 0 || v.Params[n].Sensitive {
					continue
				}
				p := &v.Params[n]
				said := dsl.NewString(textAt(s.Source, d.Place.Range))
				switch {
				case p.Type.Name == CodeType && p.Type.Codes != nil:
					*d = unknownCodeOf(d.Place, "", p.Type.Codes, &said, false)
				case p.Type.Name == DateType:
					*d = refusal(d.Place, site{verb: v, param: p}, p.Type, &said, notDate, false)
				case p.Type.Name == DateTimeType:
					*d = refusal(d.Place, site{verb: v, param: p}, p.Type, &said, notDateTime, false)
				}
			}
		}
	}
}

// mask with foreign set treats the message of a diagnostic about a sensitive value as written by
// code that did not know that it was sensitive, and replaces it by the general meaning of the
// diagnostic's code.
func (r *Registry) mask(s *dsl.Script, ds dsl.Diagnostics, foreign bool) dsl.Diagnostics {
	if len(ds) == 0 || len(r.sensitive) == 0 || s == nil {
		return ds
	}
	var ranges []dsl.Range
	for i := range s.Calls {
		ranges = r.maskCall(&s.Calls[i], ranges, 0)
	}
	ranges = r.maskRest(s, ranges)
	if len(ranges) == 0 {
		return ds
	}
	// The parser does not know which arguments are sensitive, so its messages may quote one.
	var quotes []string
	for _, m := range ranges {
		raw := textAt(s.Source, m)
		if inner := strings.Trim(raw, `"'`); len(inner) > 1 {
			quotes = append(quotes, raw, "•••", inner, "•••")
		}
	}
	dim := strings.NewReplacer(quotes...)
	for i := range ds {
		d := &ds[i]
		d.Mask = append(slices.Clip(d.Mask), ranges...)
		if !slices.ContainsFunc(ranges, func(m dsl.Range) bool { return overlap(m, d.Place.Range) }) {
			continue
		}
		if foreign {
			d.Label, d.Notes, d.Console, d.Fixes = "", nil, nil, nil
			for _, doc := range dsl.Codes() {
				if doc.Code == d.Code {
					d.Summary = "in a value that is not shown: " + doc.Meaning
				}
			}
		}
		d.Summary, d.Label = dim.Replace(d.Summary), dim.Replace(d.Label)
		for _, notes := range [...][]string{d.Notes, d.Console} {
			for n := range notes {
				notes[n] = dim.Replace(notes[n])
			}
		}
		d.Fixes = slices.DeleteFunc(d.Fixes, func(f dsl.Fix) bool {
			return slices.ContainsFunc(f.Edits, func(e dsl.Edit) bool {
				return slices.ContainsFunc(ranges, func(m dsl.Range) bool { return overlap(m, e.Range) })
			})
		})
	}
	return ds
}

func overlap(a, b dsl.Range) bool { return a.Start < b.End && b.Start < a.End }

func (r *Registry) maskCall(call *dsl.Call, ranges []dsl.Range, depth int) []dsl.Range {
	v := r.verbs[call.Verb]
	lacking := false
	for i := range call.Args {
		a := &call.Args[i]
		// For an unknown verb, an unknown argument may be any argument.
		sensitive := r.sensitive[a.Key] || v == nil && !r.open[a.Key]
		if v != nil {
			k := v.plan.param(a.Key, i)
			sensitive = k >= 0 && v.Params[k].Sensitive || k < 0 && (sensitive || v.plan.sensitive)
		}
		// The text after a key that has no value, and that is no key of the verb, may be meant as
		// the value.
		if i > 0 && lacking && !r.open[a.Key] && !r.sensitive[a.Key] {
			ranges = append(ranges, a.KeyRange)
		}
		lacking = sensitive && a.Value.Kind == dsl.Invalid
		ranges = r.maskValue(&a.Value, sensitive, ranges, depth+1)
	}
	return ranges
}

func (r *Registry) maskValue(v *dsl.Value, sensitive bool, ranges []dsl.Range, depth int) []dsl.Range {
	if depth > maxNesting {
		return append(ranges, v.Range)
	}
	switch v.Kind {
	case dsl.Nested:
		if call := v.Call(); call != nil {
			return r.maskCall(call, ranges, depth+1)
		}
	case dsl.List, dsl.Map:
		if sensitive {
			return append(ranges, v.Range)
		}
		for i, items := 0, v.Items(); i < len(items); i++ {
			ranges = r.maskValue(&items[i], sensitive, ranges, depth+1)
		}
		for i, entries := 0, v.Entries(); i < len(entries); i++ {
			ranges = r.maskValue(&entries[i].Value, sensitive, ranges, depth+1)
		}
	case dsl.Symbol, dsl.Nil, dsl.Invalid:
		if sensitive && v.Kind == dsl.Invalid {
			return append(ranges, v.Range)
		}
	default:
		if sensitive {
			return append(ranges, v.Range)
		}
	}
	return ranges
}

// maskRest masks the text that the parser did not understand: all of it between the arguments of
// a call that takes a sensitive argument, and elsewhere what begins like a value.
func (r *Registry) maskRest(s *dsl.Script, ranges []dsl.Range) []dsl.Range {
	var made []dsl.Range // ranges that it understood
	var call func(c *dsl.Call, depth int) (sensitive bool)
	var value func(v *dsl.Value, depth int) bool
	call = func(c *dsl.Call, depth int) bool {
		v := r.verbs[c.Verb]
		sensitive := v == nil || v.plan.sensitive
		made = append(made, c.VerbRange, c.AsRange)
		for i := range c.Args {
			made = append(made, c.Args[i].KeyRange)
			if c.Args[i].Value.Kind == dsl.Invalid && !sensitive {
				made = append(made, c.Args[i].Value.Range) // wrong, but not secret
			}
			sensitive = value(&c.Args[i].Value, depth+1) || sensitive
		}
		return sensitive
	}
	value = func(v *dsl.Value, depth int) (sensitive bool) {
		switch {
		case v.Kind == dsl.Invalid:
			return false
		case depth > maxNesting:
		case v.Kind == dsl.Nested && v.Call() != nil:
			return call(v.Call(), depth+1)
		case v.Kind == dsl.List, v.Kind == dsl.Map:
			for i, items := 0, v.Items(); i < len(items); i++ {
				sensitive = value(&items[i], depth+1) || sensitive
			}
			for i, entries := 0, v.Entries(); i < len(entries); i++ {
				made = append(made, entries[i].KeyRange)
				sensitive = value(&entries[i].Value, depth+1) || sensitive
			}
			return sensitive
		}
		made = append(made, v.Range)
		return false
	}
	owners := make([]bool, len(s.Calls))
	for i := range s.Calls {
		owners[i] = call(&s.Calls[i], 0)
	}
	for _, c := range s.Comments {
		made = append(made, c.Range)
	}
	slices.SortFunc(made, func(a, b dsl.Range) int { return int(a.Start) - int(b.Start) })
	text := s.Source.Text
	owner, at := -1, 0
	rest := func(to int) {
		for at < to {
			for owner+1 < len(s.Calls) && int(s.Calls[owner+1].Range.Start) <= at {
				owner++
			}
			if strings.IndexByte(" \t\r\n()[]{},", text[at]) >= 0 || strings.HasPrefix(text[at:], ":as") {
				at++
				if text[at-1] == ':' {
					at += 2
				}
				continue
			}
			end := at
			for end < to && text[end] != '\n' {
				end++
			}
			from := at
			if owner < 0 || !owners[owner] {
				// Ordinary words are not secret; the text after a quote, a colon or a digit may
				// be.
				i := strings.IndexAny(text[at:end], "0123456789\"'`:=@“”‘’")
				if i < 0 {
					at = end
					continue
				}
				from = at + strings.LastIndexAny(text[at:at+i], " \t") + 1
			}
			ranges = append(ranges, dsl.Range{Start: int32(from), End: int32(end)})
			at = end
		}
	}
	for _, m := range made {
		rest(min(int(m.Start), len(text)))
		at = max(at, min(int(m.End), len(text)))
	}
	rest(len(text))
	return ranges
}
