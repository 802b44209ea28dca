package main

import (
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores/receipt"
)

// complain prints diagnostics for a person. With --json they are in the document instead.
func (a *app) complain(ds dsl.Diagnostics) {
	if len(ds) > 0 && !a.json {
		ds.AtConsole().Print(a.err, a.style())
	}
}

// report makes a report for a reader who has this command.
func report(ds dsl.Diagnostics) wire.Report { return wire.NewReport(ds.AtConsole()) }

// explainOne returns the command that explains one of the diagnostics.
func explainOne(ds dsl.Diagnostics) string {
	for i := range ds {
		if ds[i].Severity == dsl.Error {
			return "More about one of them: verbatim explain " + ds[i].Code
		}
	}
	if len(ds) > 0 {
		return "More about one of them: verbatim explain " + ds[0].Code
	}
	return ""
}

// place writes the place of a call as file:line.
func place(p dsl.Place) string {
	if p.Source == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Source.Name, p.Source.Position(p.Range.Start).Line)
}

// spaced writes an id for reading aloud: c7f2 91d0.
func spaced(id string) string { return strings.ReplaceAll(receipt.Short(id), "-", " ") }

func short(digest string) string { return digest[:min(len(digest), 8)] }
