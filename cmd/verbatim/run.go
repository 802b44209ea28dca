package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/verbs"
)

// runFlags are what `verbatim run` is told.
type runFlags struct {
	palettes, store, as, confirm string
	dryRun, full, yes            bool
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run FILE|-",
		Short: "Do what a script says, all of it or nothing",
		Example: `verbatim run --dry-run --as clara answer.dsl
verbatim run --as clara answer.dsl`,
		Long: `Calls that their palette wants agreed to are shown first; the question is asked on
the terminal and answered with the word yes. --yes answers it beforehand, --confirm for
one preview only. What needs somebody else's agreement is never done by either.`,
		Args: exactly(1, "one file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runScript(cmd.Context(), args[0], f)
		},
	}
	a.palettesFlag(cmd, &f.palettes)
	a.storeFlag(cmd, &f.store)
	cmd.Flags().StringVar(&f.as, "as", "", "the `name` of whoever is asking (default $VERBATIM_AS)")
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change and change nothing")
	cmd.Flags().BoolVar(&f.full, "full", false, "show every row, also of calls that look alike")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree to what is asked, without looking")
	cmd.Flags().StringVar(&f.confirm, "confirm", "", "agree to the preview with this `id`, and to no other")
	return cmd
}

// A job is one run on its way.
type job struct {
	*app
	runFlags
	file    string
	session *runtime.Session
	program *verbs.Program
	started time.Time
}

func (a *app) runScript(ctx context.Context, file string, f runFlags) error {
	started := a.now()
	if f.as == "" {
		f.as = a.env("VERBATIM_AS")
	}
	switch {
	case f.as == "":
		return usage("who is asking?", "verbatim run --as NAME "+shell(file))
	case f.confirm != "" && f.yes:
		return usage("--yes agrees to anything and --confirm to one preview", "give one of them")
	case f.confirm != "" && f.dryRun:
		return usage("--dry-run changes nothing, so there is nothing to confirm", "leave one of them out")
	}
	reg, err := a.palettes(f.palettes)
	if err != nil {
		return err
	}
	src, err := a.source(file)
	if err != nil {
		return err
	}
	store, err := a.open(ctx, f.store)
	if err != nil {
		return err
	}
	defer store.Close()
	engine, err := runtime.New(reg, store, runtime.Options{Clock: a.now})
	if err != nil {
		return a.runFailed(err)
	}
	session, err := engine.Session(ctx, f.as)
	if err != nil {
		return a.runFailed(err)
	}
	script, ds := dsl.Parse(src)
	program, more := session.Check(script)
	ds = inOrder(append(reg.Mask(script, ds), more...))
	if ds.HasErrors() {
		return a.runInvalid(script, ds)
	}
	a.complain(ds)
	if len(script.Calls) == 0 {
		if a.json {
			a.emit(runJSON{Schema: "verbatim/run@1", Outcome: "done", report: newReport(ds)})
			return nil
		}
		fmt.Fprintln(a.err, "the script holds no calls; nothing was done")
		return nil
	}
	j := &job{app: a, runFlags: f, file: file, session: session, program: program, started: started}
	return j.run(ctx)
}

func (j *job) run(ctx context.Context) error {
	if j.confirm != "" {
		return j.apply(ctx, strings.ReplaceAll(strings.TrimSpace(j.confirm), " ", "-"), false)
	}
	p, err := j.session.Preview(ctx, j.program)
	var refusal *runtime.Refusal
	switch {
	case errors.As(err, &refusal) && !j.dryRun:
		// A preview leaves no trace. That somebody tried and was refused
		// belongs into the journal, so the engine is asked in earnest.
		return j.apply(ctx, "", false)
	case err != nil:
		return j.runFailed(err)
	}
	if j.dryRun {
		if j.json {
			j.emit(runJSON{Schema: "verbatim/run@1", Outcome: "previewed", Preview: newPreview(p), report: newReport(nil)})
			return nil
		}
		j.preview(p, "nothing was changed (dry run)")
		return nil
	}
	others := false
	for _, ask := range p.Asks {
		others = others || ask.By != ""
	}
	switch {
	case len(p.Asks) == 0:
		return j.apply(ctx, "", false)
	case others || j.yes:
		// Where somebody else has to agree, the engine says no, whatever was
		// said here.
		return j.apply(ctx, p.ID, false)
	}
	terminal, ok := j.terminal(j.world)
	if !ok {
		s := &stop{exitRefused, "needs-agreement",
			fmt.Sprintf("%s first and there is no terminal to ask on", countedVerb(len(p.Asks), "call asks", "calls ask")),
			fmt.Sprintf("read it with verbatim run --dry-run, then pass --confirm %s", p.ID)}
		return s
	}
	defer terminal.Close()
	if !j.json {
		j.preview(p, "nothing has changed yet")
	}
	if err := j.flush(); err != nil {
		return err
	}
	fmt.Fprintf(j.err, "\nApply %s, in one transaction?  Type yes, anything else stops: ", all(len(p.Calls)))
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(terminal).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case word := <-answer:
		if word != "yes" {
			fmt.Fprintln(j.err)
			return &stop{exitRefused, "declined", "not agreed to; nothing was changed", "to do it after all, run it again and type yes"}
		}
	case <-ctx.Done():
		fmt.Fprintln(j.err)
		return &stop{exitRefused, "stopped", "stopped; nothing was changed", "run it again"}
	}
	return j.apply(ctx, p.ID, true)
}

// apply does it. seen says that the preview was printed already.
func (j *job) apply(ctx context.Context, agreed string, seen bool) error {
	reply, err := j.session.Run(ctx, j.program, runtime.RunOptions{Agreed: agreed})
	if err != nil {
		return j.runFailed(err)
	}
	p := reply.Preview
	if j.json {
		j.emit(runJSON{Schema: "verbatim/run@1", Outcome: "done", Preview: newPreview(p), First: reply.First, Last: reply.Last, report: newReport(nil)})
		return nil
	}
	if p.Rows > 0 || p.Notices > 0 {
		if seen {
			fmt.Fprintln(j.out)
		}
		fmt.Fprintf(j.out, "applied  %-63s %.1f s\n", j.summary(p, "changed", "sent"), j.now().Sub(j.started).Seconds())
	}
	if !seen {
		newView(j.out, p, j.full, j.whole()).body()
		if reply.First > 0 {
			fmt.Fprintln(j.out)
		}
	}
	if reply.First > 0 {
		entries := fmt.Sprint(reply.First)
		if reply.Last > reply.First {
			entries += fmt.Sprintf("..%d", reply.Last)
		}
		fmt.Fprintf(j.out, "journal  %s   see: verbatim log show %s\n", entries, entries)
	}
	return nil
}

// preview prints what would happen.
func (j *job) preview(p *runtime.Preview, state string) {
	fmt.Fprintf(j.out, "preview  %s; %s\n", j.summary(p, "would change", "send"), state)
	newView(j.out, p, j.full, j.whole()).body()
	if p.Rows == 0 && p.Notices == 0 {
		return
	}
	fmt.Fprintln(j.out)
	if n := len(p.Asks); n > 0 {
		asking := map[int]bool{}
		for _, a := range p.Asks {
			asking[a.Call] = true
		}
		fmt.Fprintf(j.out, "  %d of %s\n", len(asking), countedVerb(len(p.Calls), "call asks first", "calls ask first"))
	}
	fmt.Fprintf(j.out, "  preview %s   good for %s as they are now\n", spaced(p.ID), these(p.Rows))
}

// summary says "2 calls would change 3 rows in 2 tables and send 1 notice".
func (j *job) summary(p *runtime.Preview, change, send string) string {
	var parts []string
	if p.Rows > 0 || p.Notices == 0 {
		rows := counted(p.Rows, "row")
		if p.Rows == 0 {
			rows = "nothing"
		}
		if len(p.Tables) > 1 {
			rows += " in " + counted(len(p.Tables), "table")
		}
		parts = append(parts, change+" "+rows)
	}
	if p.Notices > 0 {
		if len(parts) == 0 && send == "send" {
			send = "would send"
		}
		parts = append(parts, send+" "+counted(p.Notices, "notice"))
	}
	return counted(len(p.Calls), "call") + " " + strings.Join(parts, " and ")
}

func (j *job) whole() string {
	return "verbatim run --dry-run --full --as " + shell(j.as) + " " + shell(j.file)
}

func these(rows int) string {
	if rows == 1 {
		return "this 1 row"
	}
	return fmt.Sprintf("these %s rows", thousands(rows))
}

func all(calls int) string {
	if calls == 1 {
		return "it"
	}
	return fmt.Sprintf("all %s", thousands(calls))
}

func countedVerb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + many
}

// flush hands over what was printed, before a question refers to it.
func (a *app) flush() error {
	if w, ok := a.out.(*bufio.Writer); ok {
		if err := w.Flush(); err != nil {
			return broken("the preview could not be written", err, "nothing was changed")
		}
	}
	return nil
}

// runJSON is what run answers to a program.
type runJSON struct {
	Schema  string       `json:"schema"`
	Outcome string       `json:"outcome"` // "done", "previewed", "refused" or "invalid"
	Preview *previewJSON `json:"preview,omitempty"`
	First   int64        `json:"first,omitempty"`
	Last    int64        `json:"last,omitempty"`
	report
}

// runInvalid tells of mistakes, and how much of the script is free of them.
func (a *app) runInvalid(script *dsl.Script, ds dsl.Diagnostics) error {
	if a.json {
		a.emit(runJSON{Schema: "verbatim/run@1", Outcome: "invalid", report: newReport(ds)})
		return said(exitInput)
	}
	a.complain(ds)
	wrong := 0
	for i := range script.Calls {
		r := script.Calls[i].Range
		for j := range ds {
			if at := ds[j].Place.Range; ds[j].Severity == dsl.Error && at.Start >= r.Start && at.Start < max(r.End, r.Start+1) {
				wrong++
				break
			}
		}
	}
	rest := ""
	if good := len(script.Calls) - wrong; good == 1 {
		rest = "; the other 1 is well formed"
	} else if good > 1 && wrong > 0 {
		rest = fmt.Sprintf("; the other %s are well formed", thousands(good))
	}
	fmt.Fprintf(a.err, "\n%s in %s%s. Nothing was changed.\n", counted(newReport(ds).Errors, "error"), counted(len(script.Calls), "call"), rest)
	fmt.Fprintln(a.err, explainOne(ds))
	return said(exitInput)
}

// runFailed tells why nothing was done.
func (a *app) runFailed(err error) error {
	var refusal *runtime.Refusal
	var config *runtime.ConfigError
	switch {
	case errors.As(err, &refusal):
		if a.json {
			a.emit(runJSON{Schema: "verbatim/run@1", Outcome: "refused", report: newReport(refusal.Diagnostics)})
			return said(exitRefused)
		}
		for i := range refusal.Diagnostics {
			d := &refusal.Diagnostics[i]
			fmt.Fprintf(a.err, "refused[%s]: %s\n", d.Code, safe(d.Summary))
			if at := place(d.Place); at != "" {
				fmt.Fprintf(a.err, "   --> %s\n", at)
			}
			for _, r := range d.Related {
				fmt.Fprintf(a.err, "   --> %s  %s\n", place(r.Place), safe(r.Message))
			}
			for _, note := range d.Notes {
				fmt.Fprintf(a.err, "next: %s\n", safe(note))
			}
		}
		fmt.Fprintln(a.err, "Nothing was changed.")
		return said(exitRefused)
	case errors.As(err, &config):
		if a.json {
			a.emit(runJSON{Schema: "verbatim/run@1", Outcome: "invalid", report: newReport(config.Diagnostics)})
			return said(exitInput)
		}
		a.complain(config.Diagnostics)
		fmt.Fprintln(a.err, "\nThe palettes and this program do not fit together. Nothing was changed.")
		return said(exitInput)
	case errors.Is(err, context.Canceled):
		return &stop{exitRefused, "stopped", "stopped; nothing was changed", "run it again"}
	}
	s := &stop{exit: exitSystem, code: "system", text: runtime.Sentence(err)}
	if a.env("VERBATIM_TRACE") != "" {
		s.next = err.Error()
	} else {
		s.next = "VERBATIM_TRACE=1 tells whoever looks after this what it was"
	}
	return s
}
