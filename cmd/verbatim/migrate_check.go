package main

import (
	"context"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores/receipt"
)

// A checkedStore is the report of migrate --check.
type checkedStore struct {
	Schema      string   `json:"schema"`
	Store       string   `json:"store"`
	OK          bool     `json:"ok"`
	Steps       []string `json:"steps"`        // what migrate would run
	DataChanges []string `json:"data_changes"` // to existing rows
	Stops       []string `json:"stops"`        // obstacles to the steps, and data that would be lost
	// Warnings are about slow verbs, and about checks that were not possible.
	Warnings   []string `json:"warnings"`
	Undeclared []string `json:"undeclared"` // columns that no field has
	Queries    int      `json:"queries"`    // number of queries that were prepared
	// Diagnostics are mistakes in queries.
	Diagnostics dsl.Diagnostics `json:"diagnostics"`
}

// checkStore reports what migrate would do to a store, and which verbs would not work.
func (a *app) checkStore(ctx context.Context, where, palettes, grantTo string) error {
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return err
	}
	at, err := a.storeAddress(where)
	if err != nil {
		return err
	}
	store, err := a.prepare(ctx, at, false, grantTo)
	if err != nil {
		return err
	}
	defer store.Close()
	plan, unfit, left, err := engine.Rehearse(ctx, reg, store, ownTables()...)
	if err != nil {
		return broken("the store cannot be checked", err, "nothing was changed; see that the role may read its tables")
	}
	out := checkedStore{Schema: "verbatim/migrate-check@1", Store: at.String(), Steps: wire.Some(plan.Steps), Warnings: wire.Some(plan.Warnings),
		DataChanges: dataChangeTexts(plan), Stops: wire.Some(append(plan.Problems, left...)), Undeclared: wire.Some(plan.Undeclared), Diagnostics: report(unfit).Diagnostics}
	for _, v := range reg.Verbs() {
		if v.Query != nil {
			out.Queries++
		}
	}
	out.OK = len(out.Stops) == 0 && !unfit.HasErrors()
	if a.json {
		a.emit(out)
	} else {
		a.toldChecked(&out, declared(reg))
		a.complain(unfit)
	}
	if !out.OK {
		if !a.json {
			stops := len(out.Stops) + len(unfit)
			fmt.Fprintf(a.err, "\n%s verbs. Nothing was changed.\nnext: change the palette or the store, then verbatim migrate --check\n", map[bool]string{true: "1 problem stops", false: receipt.Counted(stops, "problem") + " stop"}[stops == 1])
		}
		return said(exitInput)
	}
	return nil
}

func (a *app) toldChecked(c *checkedStore, entities int) {
	for _, s := range c.Steps {
		fmt.Fprintln(a.out, strings.TrimSuffix(s, ";")+";")
	}
	_ = a.flush() // a failure is reported at the end
	for _, d := range c.DataChanges {
		fmt.Fprintln(a.err, "asks  "+d)
	}
	for _, w := range append(c.Warnings, c.Undeclared...) {
		fmt.Fprintln(a.err, "warning[store-mismatch]: "+w)
	}
	for _, s := range c.Stops {
		fmt.Fprintln(a.err, "error[store-mismatch]: "+s)
	}
	if c.OK {
		fmt.Fprintf(a.err, "ok   %s: %s and %s fit, %s would be run; nothing was changed\n", c.Store, receipt.Counted(entities, "entity"), receipt.Counted(c.Queries, "query"), receipt.Counted(len(c.Steps), "statement"))
	}
}
