package dialog

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/state/sessions"
	"verbatim/stores/receipt"
)

// A Spoken holds the subjects of a turn, for later references such as "it".
type Spoken struct {
	// Names are the names of rows that calls mentioned and answers told, or that an unclear message
	// named.
	Names []string `json:"names,omitempty"`
	// Changed says that something was done, so a later "it" may also mean something else.
	Changed bool `json:"changed,omitempty"`
}

// speak adds the subjects of a call.
func (s *Spoken) speak(p *receipt.Call) {
	add := func(name string) {
		if name != "" && !slices.Contains(s.Names, name) {
			s.Names = append(s.Names, name)
		}
	}
	var of func(v dsl.Value)
	of = func(v dsl.Value) {
		switch v.Kind {
		case dsl.Symbol:
			add(v.Text)
		case dsl.List:
			for _, item := range v.Items() {
				of(item)
			}
		}
	}
	if script, ds := dsl.Parse(dsl.NewSource("call", p.Text)); !ds.HasErrors() {
		for i := range script.Calls {
			for _, a := range script.Calls[i].Args {
				of(a.Value)
			}
		}
	}
	if p.Result != nil {
		for _, row := range p.Result.Rows {
			for _, v := range row {
				if name, ok := strings.CutPrefix(plain(v), "@"); ok {
					add(name)
				}
			}
		}
	}
	s.Changed = s.Changed || len(p.Rows) > 0
}

// spokenIn returns what a stored turn was about: its rows that still exist, by their names in this
// session.
func spokenIn(s *sessions.Turn) Spoken {
	about := Spoken{Changed: s.Entries > 0}
	for _, name := range s.Names {
		about.Names = append(about.Names, strings.TrimPrefix(name, "@"))
	}
	return about
}

func (s *Spoken) join(other Spoken) {
	for _, name := range other.Names {
		if !slices.Contains(s.Names, name) {
			s.Names = append(s.Names, name)
		}
	}
	s.Changed = s.Changed || other.Changed
}

// repliesTo makes an earlier turn count as the latest for references.
func (t *turn) repliesTo(ctx context.Context, id string) error {
	number, err := t.c.o.Session.Turns().Via(ctx, id)
	if err != nil || number == 0 {
		return err
	}
	said, err := t.c.o.Session.Turns().Between(ctx, number, number+1)
	for i := range said {
		if said[i].Role != sessions.Client || i == 0 {
			t.earlier.join(spokenIn(&said[i]))
		}
	}
	return err
}

// before lists what earlier turns were about, the latest first, by the rows' names now.
func (t *turn) before() []Spoken {
	var all []Spoken
	know := t.c.o.Session.Names().Known
	if names := know(t.was.Names); len(names) > 0 { // the rows of the open question
		all = append(all, Spoken{Names: names})
	}
	if names := know(t.earlier.Names); len(names) > 0 {
		all = append(all, Spoken{names, t.earlier.Changed})
	}
	for _, past := range slices.Backward(t.c.latest()) {
		if names := know(past.spoken.Names); !past.Foreign && len(names) > 0 {
			all = append(all, Spoken{names, past.spoken.Changed})
		}
	}
	if len(t.subject.Names) > 0 {
		all = append(all, t.subject)
	}
	return all
}
