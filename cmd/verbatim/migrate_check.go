package main

import (
	"context"
	"fmt"
	"strings"
	"time"

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
	Warnings   []string   `json:"warnings"`
	Undeclared []string   `json:"undeclared"` // columns that no field has
	Queries    int        `json:"queries"`    // number of queries that were prepared
	Costs      []costJSON `json:"costs"`
	Back       backJSON   `json:"back"`
	// Diagnostics are mistakes in queries.
	Diagnostics dsl.Diagnostics `json:"diagnostics"`
}

// A costJSON is what the steps lock of a table, and how long.
type costJSON struct {
	Table   string  `json:"table"` // "" for the whole file of SQLite
	Lock    string  `json:"lock"`  // the strongest, held until the end
	Waits   string  `json:"waits"`
	Rows    int64   `json:"rows"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"` // of the steps that go through rows
	Sample  int64   `json:"sample"`  // the rows on which they were timed
	Untimed int     `json:"untimed"` // steps that could not be
}

// A backJSON is what remains for a program of before.
type backJSON struct {
	Stays  []string `json:"stays"`
	Barred []string `json:"barred"` // why only a copy of before leads back
}

// waits says who waits for a lock of PostgreSQL or SQLite, by their documentation.
var waits = map[string]string{"RESERVED": "writers", "ROW EXCLUSIVE": "nobody but who writes the same rows", "SHARE": "writers", "SHARE ROW EXCLUSIVE": "writers", "ACCESS EXCLUSIVE": "readers and writers"}

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
	opened, err := a.toMigrate(at, reg, false)
	if err != nil {
		return err
	}
	store, err := a.prepare(ctx, opened, opened != at, grantTo)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := notForward(ctx, reg, store); err != nil {
		return err
	}
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
	out.Costs = []costJSON{}
	for _, c := range plan.Costs {
		out.Costs = append(out.Costs, costJSON{c.Table, c.Lock, waits[c.Lock], c.Rows, c.Steps, c.Took.Seconds(), c.Sample, c.Untimed})
	}
	stays, barred := plan.Back()
	out.Back = backJSON{wire.Some(stays), wire.Some(barred)}
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

// told says in words who waits for the table, and how the time was found out.
func (c *costJSON) told() string {
	says := c.Waits + " wait (" + c.Lock + ")"
	if c.Lock == "ROW EXCLUSIVE" {
		says = "nobody waits but who writes the same rows"
	}
	says += "; " + receipt.Counted(int(c.Rows), "row") + ", " + receipt.Counted(c.Steps, "statement")
	switch {
	case c.Sample == 0:
		return says + ", which go through no rows"
	case c.Sample < c.Rows:
		says += fmt.Sprintf(", %s: from a trial on %d rows", lasts(c.Seconds), c.Sample)
	default:
		says += ", " + lasts(c.Seconds) + ": from a trial on all rows"
	}
	if c.Untimed > 0 {
		says += ", without " + receipt.Counted(c.Untimed, "statement") + " that could not be tried"
	}
	return says
}

// lasts writes about how long something takes.
func lasts(seconds float64) string {
	if seconds < 0.1 {
		return "less than 0.1 s"
	}
	return "about " + time.Duration(seconds*float64(time.Second)).Round(100*time.Millisecond).String()
}

func (a *app) toldChecked(c *checkedStore, entities int) {
	for _, s := range c.Steps {
		fmt.Fprintln(a.out, strings.TrimSuffix(s, ";")+";")
	}
	_ = a.flush() // a failure is reported at the end
	for _, d := range c.DataChanges {
		fmt.Fprintln(a.err, "asks  "+d)
	}
	seconds := 0.0
	for _, l := range c.Costs {
		if l.Table == "" {
			fmt.Fprintf(a.err, "locks the whole file: writers wait, readers go on; %s, %s: from a trial on all rows\n", receipt.Counted(l.Steps, "statement"), lasts(l.Seconds))
		} else {
			fmt.Fprintf(a.err, "locks %s: %s\n", l.Table, l.told())
		}
		seconds += l.Seconds
	}
	if len(c.Costs) > 0 {
		fmt.Fprintf(a.err, "time  %s in all; a lock is held until the end, and servers wait 5 s for one\n", lasts(seconds))
	}
	switch {
	case len(c.Steps) == 0:
	case len(c.Back.Barred) > 0:
		fmt.Fprintf(a.err, "back  only the copy of before leads back, without what is done since: %s\n", strings.Join(c.Back.Barred, "; "))
		fmt.Fprintln(a.err, "stops servers with the palettes or the program of before, at that moment: they are not ready, and refuse what needs it; have the new ones start then")
	case len(c.Back.Stays) > 0:
		fmt.Fprintf(a.err, "back  the program and the palettes of before go on with it; they do not use what stays: %s\n", strings.Join(c.Back.Stays, ", "))
	default:
		fmt.Fprintln(a.err, "back  the program and the palettes of before go on with it")
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
