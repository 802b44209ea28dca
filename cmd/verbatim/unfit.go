package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
)

// unfit says why a store cannot serve palettes, as a *server.Unfit; nil if it can.
func unfit(ctx context.Context, reg *verbs.Registry, store stores.Store) error {
	plan, _, _, err := engine.Rehearse(ctx, reg, store, ownTables()...)
	return unfitFor(ctx, reg, store, plan, err)
}

// unfitFor is unfit for the plan that Rehearse returned, or its error.
func unfitFor(ctx context.Context, reg *verbs.Registry, store stores.Store, plan stores.Plan, err error) error {
	stays, _ := plan.Back()
	why := &server.Unfit{Do: "verbatim migrate, as the owner of the tables", Err: stores.ErrSchema}
	switch {
	case errors.Is(err, stores.ErrSchema), errors.Is(err, stores.ErrDenied):
		why.Why, why.Do = "the store is not migrated for these palettes: "+reason(err), "verbatim migrate --check, as the owner of the tables"
	case err != nil:
		return err
	case len(stays) > 0:
		why.Why = "the store is not migrated for these palettes; missing: " + strings.Join(stays, ", ")
	case len(plan.Lacks) > 0:
		why.Why, why.Err = plan.Problems[0], stores.ErrDenied
		why.Do = "verbatim migrate --grant-to ROLE, as the owner of the tables, with the role that the server connects as"
		return why
	default:
		return nil // what is left to do stops no verb
	}
	if away, err := renamedAway(ctx, reg, store); err == nil && away != nil {
		why.Why, why.Do = away.what(), away.next()
		why.Newer = fmt.Sprintf("this store was migrated by newer palettes (entry %d): start those, or restore", away.entry)
	}
	return why
}

// A renamed is a name of palettes that the journal knows as a former one.
type renamed struct {
	entry            int64
	entity, from, to string // entity is "" where the entity itself was renamed
}

func (r *renamed) what() string {
	of := "entity " + r.from
	if r.entity != "" {
		of = "field " + r.from + " of " + r.entity
	}
	return fmt.Sprintf("%s is called %s since entry %d of the journal: this store was migrated by newer palettes than these", of, r.to, r.entry)
}

func (r *renamed) next() string {
	return "start the palettes that it was migrated for, or restore a copy of before that entry"
}

// renamedAway returns the last renaming that a migration by other palettes made of a name that these palettes
// still use; nil if there is none.
func renamedAway(ctx context.Context, reg *verbs.Registry, store stores.Store) (found *renamed, err error) {
	away := map[[2]string]*renamed{}
	for e, err := range journal.ByNumber(ctx, store, 1, 0) {
		if errors.Is(err, stores.ErrSchema) || errors.Is(err, stores.ErrDenied) {
			return nil, nil // there is no journal yet, or this role does not read it
		}
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(e.Verb, renames) {
			continue
		}
		script, ds := dsl.Parse(dsl.NewSource("journal", e.Call))
		if ds.HasErrors() || len(script.Calls) != 1 {
			continue
		}
		text := func(arg string) string {
			v, _ := script.Calls[0].Get(arg)
			return v.Text
		}
		r := &renamed{entry: e.Seq, from: text("from"), to: text("to")}
		switch stores.DataChangeKind(strings.TrimPrefix(e.Verb, "migrate.")) {
		case stores.RenameField:
			r.entity = text("entity")
		case stores.RenameEntity:
		default:
			continue
		}
		delete(away, [2]string{r.entity, r.to}) // it has this name again
		away[[2]string{r.entity, r.from}] = r
	}
	for _, r := range away {
		var uses, knows bool
		if r.entity == "" {
			uses, knows = reg.Entity(r.from) != nil, reg.Entity(r.to) != nil
		} else if e := reg.Entity(r.entity); e != nil {
			uses, knows = e.Store.FieldIndex(r.from) >= 0, e.Store.FieldIndex(r.to) >= 0
		}
		if uses && !knows && (found == nil || r.entry > found.entry) {
			found = r
		}
	}
	return found, nil
}

// renames begins the verbs of journal entries about renaming.
const renames = "migrate.rename-"

// notForward refuses to migrate a store with older palettes than those that it was migrated for: that would add an
// empty column or table of the former name beside what holds the rows.
func notForward(ctx context.Context, reg *verbs.Registry, store stores.Store) error {
	away, err := renamedAway(ctx, reg, store)
	if err != nil {
		return broken("the journal cannot be read", err, "nothing was changed; see the reason, and try again")
	}
	if away == nil {
		return nil
	}
	return &stop{exitRefused, "migrated-forward", away.what() + ". Nothing was changed", away.next()}
}
