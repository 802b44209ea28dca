package main

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/jobs/workflow"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// fixFlags are the flags of `verbatim fix`.
type fixFlags struct {
	runFlags
	write bool
}

func fixCommand(a *app) *cobra.Command {
	var f fixFlags
	cmd := &cobra.Command{
		Use:   "fix FILE|DIR… | --store STORE",
		Short: "Write calls of deprecated verbs as those that took their place",
		Example: `verbatim fix .
verbatim fix -w answer.dsl
verbatim fix --store verbatim.db --as clara`,
		Long: `It shows the difference, and -w makes it. Scripts (.dsl), the palettes in use and datasets
of evaluations are rewritten in place: nothing but the names of verbs and arguments. With
--store, the calls of plans that were not started are, in one transaction, of those plans
that --as may see. A call whose meaning would change stays, and is told with the reason.
A difference, or a call that stays, is exit code 1.`,
		RunE: func(cmd *cobra.Command, names []string) error {
			switch here := cmd.Flags().Changed("store"); {
			case here && len(names) > 0:
				return usage("files and a store are two things to fix", "run it once with the files, and once with --store")
			case here:
				return a.fixStore(cmd.Context(), f)
			case len(names) == 0:
				return usage("verbatim fix wants files, folders or a store", "verbatim fix . shows what it would change below this folder")
			}
			return a.fix(names, f)
		},
	}
	a.setupFlags(cmd, &f.setup, "with --store, your `name`, which is believed")
	cmd.Flags().Lookup("store").Usage = "fix what waits in this `store`"
	a.serversFlag(cmd, &f.servers)
	cmd.Flags().BoolVarP(&f.write, "write", "w", false, "make the changes")
	return cmd
}

func (a *app) fix(names []string, f fixFlags) error {
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return err
	}
	var files []formatted
	var found dsl.Diagnostics
	changed := 0
	for _, name := range names {
		all, err := a.fixable(name)
		if err != nil {
			return err
		}
		for _, name := range all {
			text, err := readWhole(name)
			if err != nil {
				return err
			}
			check := checkOf(reg, name, text)
			if check == nil {
				if slices.Contains(names, name) {
					return &stop{exitUsage, "not-fixable", quoted(name) + " holds no calls: it is no script, no dataset and no palette in use", "name a .dsl file, a dataset of verbatim eval, or a palette of --palettes"}
				}
				continue
			}
			renewed, left := verbs.Rewrite(text, check)
			found = append(found, left...)
			file := formatted{File: name, Changed: renewed != text, Text: renewed}
			files = append(files, file)
			if !file.Changed {
				continue
			}
			changed++
			switch {
			case f.write:
				if err := replace(name, renewed); err != nil {
					return broken(quoted(name)+" cannot be written", err, "the file is as it was, and those before it are written; try again")
				}
			case !a.json:
				writeDiff(a.out, name, "fixed", text, renewed)
			}
		}
	}
	if a.json {
		a.emit(struct {
			Schema string      `json:"schema"`
			Files  []formatted `json:"files"`
			wire.Report
		}{"verbatim/fix@1", wire.Some(files), report(found)})
	}
	a.complain(found)
	what := "would change"
	if f.write {
		what = "changed"
	}
	fmt.Fprintf(a.err, "%d of %s %s, %s\n", changed, receipt.Counted(len(files), "file"), what, report(found))
	if len(found) > 0 || changed > 0 && !f.write {
		return said(exitInput)
	}
	return nil
}

// fixable lists the files that a name stands for: the file itself, or the files below a folder.
func (a *app) fixable(name string) (all []string, err error) {
	if info, err := os.Stat(name); err != nil || !info.IsDir() {
		return []string{name}, nil // errors of the file are reported when it is read
	}
	err = filepath.WalkDir(name, func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case at != name && (strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules"):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular() && slices.Contains([]string{".dsl", ".yaml", ".yml"}, filepath.Ext(at)):
			all = append(all, at)
		}
		return nil
	})
	if err != nil {
		return nil, &stop{exitUsage, "unreadable", fmt.Sprintf("%s cannot be read: %s", quoted(name), reason(err)), "check the path, and who may read it"}
	}
	return all, nil
}

// readWhole reads a file completely or fails: a cut text must not be written back.
func readWhole(name string) (string, error) {
	info, err := os.Stat(name)
	if err == nil && info.Size() > load.MaxScripts {
		return "", &stop{exitInput, "too-large", fmt.Sprintf("%s has %d bytes, and at most %d are read", quoted(name), info.Size(), load.MaxScripts), "divide it"}
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return "", &stop{exitUsage, "unreadable", fmt.Sprintf("%s cannot be read: %s", quoted(name), reason(err)), "check the path, and who may read it"}
	}
	return string(text), nil
}

// checkOf returns the check for a file; nil if it holds no calls that can be fixed.
func checkOf(reg *verbs.Registry, name, text string) func(string) dsl.Diagnostics {
	if filepath.Ext(name) == ".dsl" {
		return func(text string) dsl.Diagnostics { return reg.CheckText(name, text) }
	}
	if p := paletteAt(reg, name); p != nil {
		return func(text string) dsl.Diagnostics { return checkPalette(reg, p, name, text) }
	}
	if check, n := load.ScriptsIn(reg, name, text, "cases", "expected_behavior", "calls"); n > 0 {
		return check // a dataset of verbatim eval
	}
	return nil
}

// paletteAt returns the loaded palette that is this file.
func paletteAt(reg *verbs.Registry, name string) *dsl.Source {
	info, err := os.Stat(name)
	if err != nil {
		return nil
	}
	for _, src := range sourcesOf(reg) {
		if is, err := os.Stat(src.Name); err == nil && os.SameFile(is, info) {
			return src
		}
	}
	return nil
}

// sourcesOf returns the texts of the loaded palettes.
func sourcesOf(reg *verbs.Registry) (all []*dsl.Source) {
	for _, p := range reg.Palettes() {
		all = append(all, p.Source)
		for _, s := range p.Sidecars {
			all = append(all, s.Source)
		}
	}
	return all
}

// checkPalette checks a new text of a palette together with the others. Warnings count only if they
// are about this palette.
func checkPalette(reg *verbs.Registry, p *dsl.Source, name, text string) (ds dsl.Diagnostics) {
	var all []*dsl.Source
	var mine *dsl.Source
	for _, src := range sourcesOf(reg) {
		as := dsl.NewSource(path.Base(src.Name), src.Text)
		if src == p {
			as = dsl.NewSource(as.Name, text)
			mine = as
		}
		all = append(all, as)
	}
	_, found := load.Sources(all...)
	mine.Name = name
	for _, d := range found {
		if d.Severity == dsl.Error || d.Place.Source == mine {
			ds = append(ds, d)
		}
	}
	return ds
}

// fixStore renews the calls of staged plans in a store by a verb, and reports what cannot be
// changed.
func (a *app) fixStore(ctx context.Context, f fixFlags) error {
	if f.as = cmp.Or(f.as, a.env("VERBATIM_AS")); f.as == "" {
		return usage("who is asking?", "verbatim fix --as NAME --store "+shell(f.store))
	}
	src, left, err := a.fixScript(ctx, f)
	if err != nil {
		return err
	}
	a.complain(left)
	if src == nil {
		fmt.Fprintln(a.err, "no call of a plan that waits can be fixed")
		if len(left) > 0 {
			return said(exitInput)
		}
		return nil
	}
	f.dryRun = !f.write
	err = a.runSource(ctx, "", func() (*dsl.Source, error) { return src, nil }, f.runFlags)
	if err == nil && (f.dryRun || len(left) > 0) {
		return said(exitInput)
	}
	return err
}

// fixScript finds staged plans, confirmations and scheduled work that call deprecated verbs. It
// returns a script that renews the plans, nil if there are none, and reports the rest with the
// reason.
func (a *app) fixScript(ctx context.Context, f fixFlags) (*dsl.Source, dsl.Diagnostics, error) {
	reg, store, engine, err := a.wire(ctx, f.setup, nil)
	if err != nil {
		return nil, nil, err
	}
	defer store.Close()
	session, err := begin(ctx, engine, f.as, "")
	if err != nil {
		return nil, nil, a.runFailed(err)
	}
	left, err := waitsDeprecated(ctx, reg, store, session)
	if err != nil {
		return nil, nil, a.runFailed(err)
	}
	var plans []string
	next := "plan.staged"
	if v := reg.Verb(next); v == nil || !session.May(v) {
		return nil, left, nil
	}
	for next != "" {
		script, _ := dsl.Parse(dsl.NewSource("fix", next))
		program, ds := session.Check(ctx, script)
		if ds.HasErrors() {
			return nil, nil, a.runInvalid(script, ds)
		}
		answer, err := session.Preview(ctx, program)
		if err != nil {
			return nil, nil, a.runFailed(err)
		}
		next = ""
		page := answer.Calls[0].Result
		for _, row := range page.Rows {
			cell := func(column string) string { return row[slices.Index(page.Columns, column)].Text() }
			call, stays := workflow.Renewed(reg, cell("call"))
			for i := range stays {
				stays[i].Place.Source.Name = cell("title") + ", step " + cell("name")
			}
			left = append(left, stays...)
			if name := cell("plan"); call != cell("call") && !slices.Contains(plans, name) {
				plans = append(plans, name)
			}
			if len(page.Left) > 0 {
				next = "plan.staged :after " + cell("step")
			}
		}
	}
	if len(plans) == 0 {
		return nil, left, nil
	}
	var b strings.Builder
	for _, name := range plans {
		fmt.Fprintf(&b, "plan.renew :plan-id %s\n", name)
	}
	return dsl.NewSource("fix", b.String()), left, nil
}

// waitsDeprecated reports confirmations and scheduled work with deprecated verbs. They cannot be
// rewritten: a confirmation is bound to its text, and of scheduled work only the verb that made it
// is stored. It tells no values.
func waitsDeprecated(ctx context.Context, reg *verbs.Registry, store stores.Store, session *engine.Session) (left dsl.Diagnostics, err error) {
	stays := func(what, verb, why, next string) {
		if v := reg.Verb(verb); v != nil && v.Deprecated != nil {
			left = append(left, dsl.Diagnostic{Severity: dsl.Warning, Code: "deprecated-verb", Summary: what + " calls " + verb + ", which is deprecated",
				Notes: []string{"it stays: " + why, next}, Place: dsl.Place{Source: dsl.NewSource(what, "")}})
		}
	}
	pending, err := session.Pending(ctx)
	if err != nil {
		return nil, err
	}
	for _, p := range pending {
		for _, call := range p.Calls {
			script, _ := dsl.Parse(dsl.NewSource("", call))
			dsl.Walk(script, func(at dsl.Node) bool {
				if at.Call != nil {
					stays("confirmation "+p.ID, at.Call.Verb, "who agrees, agrees to these words", "decide it while the verb is there, or have "+p.Asker+" ask again")
				}
				return true
			})
		}
	}
	jobs, err := store.Jobs(ctx, stores.JobFilter{Kinds: []string{engine.JobCall}, States: []stores.JobState{stores.JobWaiting, stores.JobRunning, stores.JobDead}})
	for i := range jobs {
		verb, _, _ := strings.Cut(engine.JobSubject(&jobs[i].Job), " ")
		stays("job "+jobs[i].ID, verb, "it is the work that this verb led to, as its trigger says", "leave the verb in the palette until "+jobs[i].At.UTC().Format(time.DateOnly))
	}
	return left, err
}
