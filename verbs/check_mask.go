package verbs

import (
	"slices"
	"strings"

	"verbatim/dsl"
)

// Mask keeps the values of sensitive arguments out of what Parse said about a
// script: out of the excerpts and out of the words. Check does it for its own
// diagnostics; those of Parse should pass through here before anybody prints
// them. Where a call or an argument is not understood, what may be sensitive
// counts as sensitive.
func (r *Registry) Mask(s *dsl.Script, ds dsl.Diagnostics) dsl.Diagnostics {
	return r.mask(s, ds, true)
}

// mask with foreign set takes the words of a complaint about a sensitive value
// for the words of somebody who did not know that it was sensitive, and puts
// the meaning of its code in their place.
func (r *Registry) mask(s *dsl.Script, ds dsl.Diagnostics, foreign bool) dsl.Diagnostics {
	if len(ds) == 0 || len(r.sensitive) == 0 || s == nil {
		return ds
	}
	var ranges []dsl.Range
	for i := range s.Calls {
		ranges = r.maskCall(&s.Calls[i], ranges, 0)
	}
	if len(ranges) == 0 {
		return ds
	}
	// The parser knows no arguments, so its words may quote one.
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
			d.Label, d.Notes, d.Fixes = "", nil, nil
			for _, doc := range dsl.Codes() {
				if doc.Code == d.Code {
					d.Summary = "in a value that is not shown: " + doc.Meaning
				}
			}
		}
		d.Summary, d.Label = dim.Replace(d.Summary), dim.Replace(d.Label)
		for n := range d.Notes {
			d.Notes[n] = dim.Replace(d.Notes[n])
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
	for i := range call.Args {
		a := &call.Args[i]
		dark := r.sensitive[a.Key]
		if v != nil {
			k := v.plan.param(a.Key, i)
			dark = k >= 0 && v.plan.inlets[k].dark || k < 0 && (dark || v.plan.dark)
		}
		ranges = r.maskValue(&a.Value, dark, ranges, depth+1)
	}
	return ranges
}

func (r *Registry) maskValue(v *dsl.Value, dark bool, ranges []dsl.Range, depth int) []dsl.Range {
	if depth > maxNesting {
		return append(ranges, v.Range)
	}
	switch v.Kind {
	case dsl.Nested:
		if call := v.Call(); call != nil {
			return r.maskCall(call, ranges, depth+1)
		}
	case dsl.List, dsl.Map:
		if dark {
			return append(ranges, v.Range)
		}
		for i, items := 0, v.Items(); i < len(items); i++ {
			ranges = r.maskValue(&items[i], dark, ranges, depth+1)
		}
		for i, entries := 0, v.Entries(); i < len(entries); i++ {
			ranges = r.maskValue(&entries[i].Value, dark, ranges, depth+1)
		}
	case dsl.Symbol, dsl.Nil, dsl.Invalid:
		if dark && v.Kind == dsl.Invalid {
			return append(ranges, v.Range)
		}
	default:
		if dark {
			return append(ranges, v.Range)
		}
	}
	return ranges
}
