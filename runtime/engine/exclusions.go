package engine

import (
	"verbatim/stores"
	"verbatim/verbs"
)

// An exclusionSide is one side of an exclusion: how calls of one verb stand to those of another.
type exclusionSide struct {
	with         *verbs.Verb
	mine, theirs int  // indexes of the arguments that must be equal; -1 where none has to be
	after        bool // the call may not come after one of the other verb
	rule         *verbs.Exclusion
	of           *verbs.Verb // the verb that declares it
}

// exclusions collects, for each verb, the exclusions that it is part of.
func exclusions(all []*verbs.Verb) map[*verbs.Verb][]exclusionSide {
	by := make(map[*verbs.Verb][]exclusionSide)
	for _, v := range all {
		for i := range v.Excludes {
			x := &v.Excludes[i]
			by[v] = append(by[v], exclusionSide{x.Verb, x.Param, x.Other, true, x, v})
			by[x.Verb] = append(by[x.Verb], exclusionSide{v, x.Other, x.Param, !x.Before, x, v})
		}
	}
	return by
}

// A metCall is a call of this run that excludes other calls.
type metCall struct {
	verb  *verbs.Verb
	param int
	value stores.Value
}

// together refuses a call that an earlier call of the run excludes, whether the script, a macro or
// a handler made that one.
func (r *run) together(st *step, all []exclusionSide) error {
	value := func(param int) (stores.Value, bool) {
		if param < 0 {
			return stores.Value{}, true
		}
		return st.args.values[param], !st.args.values[param].IsNull()
	}
	for i := range all {
		x := &all[i]
		if v, ok := value(x.mine); ok && x.after && r.met.calls[metCall{x.with, x.theirs, v}] {
			return &complaint{st.call.index, notTogether(st.call.place, x.of, x.rule)}
		}
	}
	if r.met.calls == nil {
		r.met.calls = make(map[metCall]bool)
	}
	for i := range all {
		if v, ok := value(all[i].mine); ok {
			r.met.calls[metCall{st.verb, all[i].mine, v}] = true
		}
	}
	return nil
}
