package main

import (
	"context"
	"fmt"

	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
)

// checkEngine reports which features that the store needs are missing from a database.
func (a *app) checkEngine(ctx context.Context, store string) error {
	at, err := a.storeAddress(store)
	if err != nil {
		return err
	}
	if at.url == "" {
		return usage("the engine of a file is part of this program", "--check-engine is for postgres://ROLE@HOST/DATABASE, as a role that may create schemas")
	}
	about, needs, err := postgres.Engine(ctx, at.url)
	if err != nil {
		return broken(fmt.Sprintf("the database %s cannot be tried", at), err, "check the URL, that the server answers, and that the role may create schemas there")
	}
	lacks := 0
	type needJSON struct {
		Need  string `json:"need"`
		For   string `json:"for"`
		Only  bool   `json:"only,omitempty"` // needed for that alone
		Lacks string `json:"lacks,omitempty"`
	}
	out := struct {
		Schema string     `json:"schema"`
		Engine string     `json:"engine"`
		OK     bool       `json:"ok"`
		Needs  []needJSON `json:"needs"`
	}{Schema: "verbatim/migrate-engine@1", Engine: about}
	for _, n := range needs {
		n.Lacks = receipt.Safe(n.Lacks)
		if n.Lacks != "" && !n.Only {
			lacks++
		}
		out.Needs = append(out.Needs, needJSON{n.What, n.For, n.Only, n.Lacks})
		if a.json {
			continue
		}
		says := "ok    "
		if n.Lacks != "" {
			says = "lacks "
		}
		fmt.Fprintf(a.out, "%s%s", says, n.What)
		if n.Lacks != "" {
			fmt.Fprintf(a.out, ", for this: %s. It says: %s", n.For, n.Lacks)
		}
		fmt.Fprintln(a.out)
	}
	out.OK = lacks == 0
	if a.json {
		a.emit(out)
	} else {
		fmt.Fprintf(a.out, "%s\n", receipt.Safe(about))
	}
	if out.OK {
		return nil
	}
	if !a.json {
		fmt.Fprintf(a.err, "\n%s not met: no store can be kept there. Nothing was changed.\nnext: keep it on PostgreSQL\n", receipt.Counted(lacks, "need"))
	}
	return said(exitInput)
}
