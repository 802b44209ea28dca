package engine

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"verbatim/stores"
	"verbatim/verbs"
)

// What a database says about a change that it refuses reaches three readers. The operator gets all
// of it; the author maps codes and constraints to sentences with `refuses:`; the caller gets such a
// sentence, or one of ours that names the fields. The words of a trigger may be about rows that the
// caller must not see, so that they are told only where `refuses:` has {text}.

// databaseRefusal returns the entry of messages.txt, with its arguments, that tells a refusal of a
// change that name, a verb or the script, would make to rows of the entities changed.
func databaseRefusal(name string, changed []*verbs.Entity, err error) (entry string, args []any, why *stores.Refused) {
	if !errors.As(err, &why) {
		return "not-accepted", []any{name}, nil
	}
	var at *verbs.Entity
	if i := slices.IndexFunc(changed, func(e *verbs.Entity) bool { return e.Store == why.Entity }); i >= 0 {
		at = changed[i]
		changed = append([]*verbs.Entity{at}, changed...)
	}
	for _, key := range []string{why.Constraint, why.Code} {
		for _, of := range changed {
			if says := of.Refuses[key]; key != "" && says != "" {
				return "not-accepted/said", []any{strings.ReplaceAll(says, "{text}", why.Text)}, why
			}
		}
	}
	entity, fields := "", ""
	if at != nil {
		var all []string
		for _, f := range why.Fields() {
			if !slices.Contains(all, at.Store.Fields[f].Name) {
				all = append(all, at.Store.Fields[f].Name)
			}
		}
		entity, fields = at.Store.Name, strings.Join(all, ", ")
	}
	switch known := fields != ""; {
	case why.Why == stores.Raised:
		return "not-accepted/rule", []any{name}, why
	case why.Why == stores.Failed:
		return "not-accepted/failed", []any{name}, why
	case why.Why == stores.RuledOut:
		return "not-accepted/kept", []any{name, cmp.Or(entity, "row")}, why
	case why.Why == stores.ReferredTo:
		return "not-accepted/needed", []any{name}, why
	case why.Why == stores.Taken && known:
		return "already-exists/fields", []any{name, entity, fields}, why
	case why.Why == stores.Missing && known:
		return "not-accepted/empty", []any{name, entity, fields}, why
	case why.Why == stores.Referring && known:
		return "not-accepted/nothing", []any{name, entity, fields}, why
	case why.Why == stores.Unfit && known:
		return "not-accepted/size", []any{name, entity, fields}, why
	case why.Why == stores.Checked && known:
		return "not-accepted/check", []any{name, entity, fields}, why
	}
	return "not-accepted", []any{name}, why
}

// refusedByDatabase is databaseRefusal for what a call would store.
func refusedByDatabase(st *step, err error) error {
	var changed []*verbs.Entity
	for i := range st.out.changes {
		changed = append(changed, st.out.changes[i].entity)
	}
	if len(changed) == 0 && (st.verb.Read != nil || st.verb.Query != nil) {
		return &silence{st.refuse("unreadable-row/value", st.verb.Name), err}
	}
	entry, args, why := databaseRefusal(st.verb.Name, changed, err)
	if errors.Is(err, stores.ErrDuplicate) && entry != "not-accepted/said" {
		says := duplicateText(st)
		if says == "" && entry == "already-exists/fields" {
			return &silence{st.refuse(entry, args...), why}
		}
		return &silence{st.refuse("already-exists", cmp.Or(says, st.verb.Name+" would add what is there already")), errorOf(why)}
	}
	return &silence{st.refuse(entry, args...), errorOf(why)}
}

// errorOf keeps a nil from being an error that is not nil.
func errorOf(why *stores.Refused) error {
	if why == nil {
		return nil
	}
	return why
}
