package verbs

import "verbatim/dsl"

// together reports calls that exclude one another, as far as the script shows it. The engine
// detects rows that are named in other ways, and calls by macros and handlers.
func (c *checker) together() {
	type what struct {
		verb  *Verb
		param int // -1 if none matters
		text  string
	}
	p := c.p
	first := make(map[what]int) // position in the order of the first such call
	text := func(i, param int) (string, bool) {
		switch a := &p.calls[i].Args[param]; {
		case a.Syntax != nil:
			return dsl.FormatValue(*a.Syntax), true
		case a.Kind == Literal:
			return a.Value.Text(), true
		}
		return "", false
	}
	note := func(at, i, param int) {
		w := what{verb: p.calls[i].Verb, param: param}
		if param >= 0 {
			var there bool
			if w.text, there = text(i, param); !there {
				return
			}
		}
		if _, known := first[w]; !known {
			first[w] = at
		}
	}
	for at, i := range p.order {
		note(at, i, -1)
		for param := range p.calls[i].Args {
			note(at, i, param)
		}
	}
	for at, i := range p.order {
		call := &p.calls[i]
		for k := range call.Verb.Excludes {
			x := &call.Verb.Excludes[k]
			w := what{verb: x.Verb, param: x.Other}
			if x.Param >= 0 {
				var there bool
				if w.text, there = text(i, x.Param); !there {
					continue
				}
			}
			other, there := first[w]
			if !there || other == at || x.Before && other > at {
				continue
			}
			d := tell(c.place(call.Syntax.Range), "not-together", x.Else, x.Verb.Name)
			d.Related = []dsl.Related{{Place: c.place(p.calls[p.order[other]].Syntax.Range), Message: "the other one"}, {Place: x.Place, Message: call.Verb.Name + " says so"}}
			c.add(d)
		}
	}
}
