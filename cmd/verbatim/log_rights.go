package main

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"verbatim/runtime/domains/rights"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// rights compares the rights in the store with those that the journal records. Otherwise somebody
// who can write to the store could grant themselves any right unnoticed.
type grantCheck struct {
	store stores.Store
	reg   *verbs.Registry
	state *journal.State // nil if the palettes do not load
}

func (a *app) rights(s stores.Store, palettes string) *grantCheck {
	l, err := loadPalettes(a.palettesDir(palettes), rights.Source())
	if err != nil || l.reg == nil {
		return &grantCheck{store: s}
	}
	rights.Follow(l.reg)
	return &grantCheck{s, l.reg, journal.NewState(rights.Rights(l.reg))}
}

// watch passes entries on and applies them.
func (r *grantCheck) watch(lines iter.Seq2[*journal.Line, error]) iter.Seq2[*journal.Line, error] {
	if r.state == nil {
		return lines
	}
	return func(yield func(*journal.Line, error) bool) {
		for l, err := range lines {
			if err == nil {
				// The chain check reports a record that cannot be read.
				if record, err := l.Record(); err == nil {
					r.state.Apply(l.Entry.Seq, &record)
				}
			}
			if !yield(l, err) {
				return
			}
		}
	}
}

// compare lists what the journal cannot tell about the rights. It fails with a *stop if the store's
// rights differ from the journal's.
func (r *grantCheck) compare(ctx context.Context) (unsure []string, err error) {
	names, err := r.store.Principals(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) > 0 && r.state != nil {
		came, err := rights.Names(ctx, r.reg, r.store)
		if err != nil && !errors.Is(err, stores.ErrSchema) {
			return nil, err
		}
		all := len(names)
		names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(came, name) })
		if n := all - len(names); n > 0 {
			unsure = append(unsure, "why "+receipt.Counted(n, "person")+" who came by a verb was given rights with SQL: such rights give nothing, and would if that verb's row went")
		}
	}
	if len(names) > 0 {
		unsure = append(unsure, "who gave "+receipt.Counted(len(names), "person")+" their rights: they were written with SQL, and no entry tells of them")
	}
	if r.state == nil {
		return append(unsure, "whether other rights are those that entries tell of: no palettes were found, which --palettes names"), nil
	}
	strange := 0
	err = r.store.View(ctx, stores.Scope{Principal: operatorName, All: true}, func(read stores.Reader) (err error) {
		_, strange, err = r.state.Compare(ctx, read)
		return err
	})
	if errors.Is(err, stores.ErrSchema) {
		return unsure, nil // the store was never migrated with them
	}
	if err != nil {
		return nil, err
	}
	var found []string
	for _, d := range r.state.Differences() {
		found = append(found, strings.TrimSuffix(receipt.LastName(d.Entity.Table)+"."+d.Field, ".")+" "+receipt.Safe(d.Msg))
	}
	if strange > 0 {
		found = append(found, "no entry gave "+receipt.Counted(strange, "right"))
	}
	if len(found) > 0 {
		return nil, &stop{exitInput, "journal-broken", "rights are not those that the journal tells of: " + strings.Join(found, "; "),
			"find out who changed them; system.list-roles and system.list-scopes list them, and verbatim log baseline tells the journal of them once they are right"}
	}
	return unsure, nil
}
