package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/frontends/wire"
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
		Long: `Names such as @pierre-dupont-identity belong to whoever runs the script; run looks them up.`,
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
	var named []string
	for _, name := range names {
		src, err := a.source(name)
		if err != nil {
			return err
		}
		script, ds := dsl.Parse(src)
		scripts, ofEach = append(scripts, script), append(ofEach, ds)
		for i := range script.Calls {
			named = append(named, script.Calls[i].Verb)
		}
	}
	reg, err := a.palettesFor(a.palettesDir(palettes), named...)
	if err != nil {
		return err
	}
	var found dsl.Diagnostics
	for i, script := range scripts {
		_, more := reg.Check(script, nil)
		found = append(found, inOrder(append(reg.Mask(script, ofEach[i]), more...))...)
	}
	r := report(found)
	if a.json {
		a.emit(struct {
			Schema string `json:"schema"`
			OK     bool   `json:"ok"`
			Files  int    `json:"files"`
			Calls  int    `json:"calls"`
			wire.Report
		}{"verbatim/check@1", r.Errors == 0, len(names), len(named), r})
	} else {
		a.complain(found)
		where := receipt.Counted(len(named), "call")
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
