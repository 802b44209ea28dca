package engine

import (
	"context"
	"slices"

	"verbatim/dsl"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/verbs"
)

// A job has no session, but its call may leave out an argument that stands for the row at work.
// So the job takes along the row that the session was at work on when it was scheduled: a
// session that turns to another row does not change the job, and a plan says which row the job
// will be about.

// fillActive writes the row that a job takes along into its call, as people are shown it.
func fillActive(r *source, n *notice, call *dsl.Call) {
	e := r.e.reg.Entity(n.active.Entity)
	if e == nil {
		return
	}
	name := r.shownName(e.Store, n.active.Value())
	if len(name) < 2 || name[0] != '@' {
		return
	}
	for _, p := range leavesOut(r.e, call) {
		if p.Type.Entity == e {
			call.Args = append(slices.Clone(call.Args), dsl.NewArg(p.Name, dsl.NewSymbol(name[1:])))
		}
	}
}

// A takenAlong is the form in which a job keeps a sessions.Value.
type takenAlong struct{ Entity, Kind, Origin, Text string }

func along(v sessions.Value) stores.Value {
	return stores.NewObject([]string{"entity", "kind", "origin", "text"},
		[]stores.Value{stores.NewString(v.Entity), stores.NewString(v.Kind.String()), stores.NewString(v.Origin), stores.NewString(v.Text)})
}

// read makes a sessions.Value of it; false if it cannot be read.
func (a *takenAlong) read() (sessions.Value, bool) {
	kind, known := kindNamed(a.Kind)
	if !known {
		return sessions.Value{}, false
	}
	if _, ok := stores.Parse(kind, a.Text); !ok {
		return sessions.Value{}, false
	}
	return sessions.Value{Kind: kind, Text: a.Text, Entity: a.Entity, Origin: a.Origin}, true
}

// setToWork writes the row at work that a job took along into its call, so that all records of the
// call name the row, and lets the calls inside it find the row.
func setToWork(ctx context.Context, s *Session, read stores.Reader, w *work, call *dsl.Call, came *[]verbs.Origin) error {
	e := s.e.reg.Entity(w.active.Entity)
	if e == nil {
		return nil
	}
	s.active = w.active
	for _, p := range leavesOut(s.e, call) {
		if p.Type.Entity != e {
			continue
		}
		name, err := workName(ctx, s, read, e, w.active.Value())
		if err != nil {
			return err
		}
		call.Args = append(call.Args, dsl.NewArg(p.Name, name))
		*came = append(*came, ofRecord.Mix(verbs.Stored(w.active.Origin)))
	}
	return nil
}
