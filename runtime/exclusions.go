package runtime

import (
	"verbatim/stores"
	"verbatim/verbs"
)

// An exclusionSide is one side of an exclusion: how calls of one verb stand to those of another.
type exclusionSide struct {
	with         *verbs.Verb
	mine, theirs int  // the arguments that must be the same; -1 where they need not be
	after        bool // the call may not come after one of the other verb
	rule         *verbs.Exclusion
	of           *verbs.Verb // that declares it
}

// exclusions are those of each verb that is part of one.
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

// A metCall is a call of a run that others may be excluded by.
type metCall struct {
	verb  *verbs.Verb
	param int
	value stores.Value
}

// together refuses a call that does not go with one before it, whoever made that one:
// the script, a macro or a handler.
func (r *run) together(st *step, all []exclusionSide) error {
	value := func(param int) (stores.Value, bool) {
		if param < 0 {
			return stores.Value{}, true
		}
		return st.args[param], !st.args[param].IsNull()
	}
	for i := range all {
		x := &all[i]
		if v, ok := value(x.mine); ok && x.after && r.metCalls[metCall{x.with, x.theirs, v}] {
			return &complaint{st.index, notTogether(st.place, x.of, x.rule)}
		}
	}
	if r.metCalls == nil {
		r.metCalls = make(map[metCall]bool)
	}
	for i := range all {
		if v, ok := value(all[i].mine); ok {
			r.metCalls[metCall{st.verb, all[i].mine, v}] = true
		}
	}
	return nil
}
