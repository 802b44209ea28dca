package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/stores/receipt"
)

func checkCommand(a *app) *cobra.Command {
	var palettes string
	cmd := &cobra.Command{
		Use:   "check FILE…|-",
		Short: "Report every mistake in scripts, all at once",
		Example: `verbatim check answer.dsl
verbatim check --json answer.dsl
verbatim check - <answer.dsl`,
		Long: `Names such as @pierre-dupont-identity belong to whoever runs the script; run looks them up.
Where verbs stand in palettes is remembered under ~/.cache; VERBATIM_CACHE=off does without.`,
		Args: atLeast(1, "a file, or - for standard input"),
		RunE: func(_ *cobra.Command, names []string) error {
			return a.check(names, palettes)
		},
	}
	a.palettesFlag(cmd, &palettes)
	return cmd
}

func (a *app) check(names []string, palettes string) error {
	var scripts []*dsl.Script
	var ofEach []dsl.Diagnostics
	calls, wellFormed := 0, true
	for _, name := range names {
		src, err := a.source(name)
		if err != nil {
			return err
		}
		script, ds := dsl.Parse(src)
		scripts, ofEach = append(scripts, script), append(ofEach, ds)
		calls += len(script.Calls)
		wellFormed = wellFormed && len(ds) == 0
	}
	var found dsl.Diagnostics
	dir := a.palettesDir(palettes)
	ix := a.quickIndex(dir)
	if !wellFormed || !ix.quickCheck(scripts) {
		var verbs []string
		for _, script := range scripts {
			for i := range script.Calls {
				verbs = append(verbs, script.Calls[i].Verb)
			}
		}
		reg, err := a.palettesFor(dir, verbs...)
		if err != nil {
			return err
		}
		if ix != nil {
			ix.remember(reg)
		}
		for i, script := range scripts {
			_, more := reg.Check(script, nil)
			found = append(found, inOrder(append(reg.Mask(script, ofEach[i]), more...))...)
		}
	}
	r := newReport(found)
	if a.json {
		a.emit(struct {
			Schema string `json:"schema"`
			OK     bool   `json:"ok"`
			Files  int    `json:"files"`
			Calls  int    `json:"calls"`
			report
		}{"verbatim/check@1", r.Errors == 0, len(names), calls, r})
	} else {
		a.complain(found)
		where := receipt.Counted(calls, "call")
		if len(names) > 1 {
			where += " in " + receipt.Counted(len(names), "file")
		}
		if r.Errors == 0 {
			fmt.Fprintf(a.out, "ok   %s, %s\n", where, r)
		} else {
			fmt.Fprintf(a.err, "\n%s, %s.\n", where, r)
		}
		if more := explainOne(found); more != "" {
			fmt.Fprintln(a.err, more)
		}
	}
	if r.Errors > 0 {
		return said(exitInput)
	}
	return nil
}
