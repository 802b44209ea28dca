package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores/receipt"
	"verbatim/verbs/drift"
	"verbatim/verbs/load"
	"verbatim/verbs/pack"
	"verbatim/verbs/palettes"
)

func lintCommand(a *app) *cobra.Command {
	var format, against, servers, missing, schema, on string
	var accept, phrases bool
	cmd := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Report every mistake in palettes",
		Example: `verbatim lint
verbatim lint --against verbs verbs
verbatim lint --missing client.it.yaml
verbatim lint --schema`,
		Long: `DIR holds palettes, or folders of palettes, each of which is checked by itself. Queries are
prepared, on an empty file of SQLite. What a palette says in another language stands beside
it, in NAME.de.yaml for NAME.yaml; what that lacks is warned about, and printed by --missing.
--against reports every change that lowers safety; --servers compares verbs with the tools
that carry them out; --phrases names those that take each other's phrases.
--schema prints the JSON Schema of palettes, --schema=sidecar that of what is beside.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch schema {
			case "":
			case "palette":
				_, err := a.out.Write(load.PaletteSchema())
				return err
			case "sidecar":
				_, err := a.out.Write(load.SidecarSchema())
				return err
			default:
				return usage(fmt.Sprintf("--schema is palette or sidecar, not %q%s", schema, didYouMean(schema, []string{"palette", "sidecar"})), "verbatim lint --help")
			}
			switch format {
			case "json":
				a.json = true
			case "text", "github":
			default:
				return usage(fmt.Sprintf("--format is text, json or github, not %q%s", format, didYouMean(format, []string{"text", "json", "github"})), "verbatim lint --help")
			}
			dir := a.palettesDir("")
			if len(args) > 0 {
				dir = args[0]
			}
			if missing != "" {
				return a.missing(dir, missing)
			}
			if accept && a.serversFile(servers) == "" {
				return usage("--accept accepts tools of servers, and none are named", "verbatim lint --servers FILE --accept")
			}
			return a.lint(cmd.Context(), lintFlags{dir, against, format, a.serversFile(servers), on, accept, phrases, ""})
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "text, json, or github for annotations of a pull request")
	cmd.Flags().StringVar(&against, "against", "", "the `dir` of the palettes as they were")
	cmd.Flags().StringVar(&on, "on", "", "prepare queries on this `store`, and not on an empty one")
	a.serversFlag(cmd, &servers)
	cmd.Flags().BoolVar(&accept, "accept", false, "accept the tools of the servers as they are now")
	cmd.Flags().StringVar(&missing, "missing", "", "print what a `file` with another language lacks, such as client.de.yaml")
	cmd.Flags().BoolVar(&phrases, "phrases", false, "warn of verbs that take each other's phrases")
	cmd.Flags().StringVar(&schema, "schema", "", "print the JSON Schema of palettes, or of sidecars")
	cmd.Flags().Lookup("schema").NoOptDefVal = "palette"
	return cmd
}

const lintSchema = "verbatim/lint@1"

type lintJSON struct {
	Schema   string       `json:"schema"`
	OK       bool         `json:"ok"`
	Palettes int          `json:"palettes"`
	Verbs    int          `json:"verbs"`
	Lacking  []string     `json:"lacking,omitempty"`  // verbs that need a handler that this program lacks
	Numbered []string     `json:"numbered,omitempty"` // arguments for which WhatsApp has no buttons
	Without  []string     `json:"without,omitempty"`  // functions that this program lacks
	NoUndo   []string     `json:"no_undo,omitempty"`  // verbs without a declaration of how to undo them
	Models   []string     `json:"models,omitempty"`   // arguments that a model may fill by itself
	Held     *intent.Held `json:"held,omitempty"`     // with --phrases
	Sets     []string     `json:"sets,omitempty"`     // the folders, where each was checked by itself
	wire.Report
}

func newLint(l *loaded) lintJSON {
	j := lintJSON{Schema: lintSchema, OK: !l.ds.HasErrors(), Palettes: l.files, Report: report(l.ds)}
	if l.reg != nil {
		j.Verbs, j.Lacking, j.Without = len(l.reg.Verbs()), handlers(l.reg).Lacks(l.reg), handlers(l.reg).LacksFunctions(l.reg)
		j.NoUndo, j.Models = l.reg.NoUndo(), l.reg.FromModels()
	}
	j.Numbered = withoutButtons(l.reg)
	return j
}

// lintFlags are the flags of `verbatim lint`.
type lintFlags struct {
	dir, against, format, servers, store string
	accept, phrases                      bool
	set                                  string // one of several, with ": " behind it
}

func (a *app) lint(ctx context.Context, f lintFlags) error {
	sets := setsIn(f.dir)
	if len(sets) == 0 {
		c, err := a.lintSet(ctx, f)
		if err != nil {
			return err
		}
		j := newLint(c.loaded)
		j.Held = c.held
		return a.linted(f, c, j)
	}
	if f.accept {
		return usage("--accept accepts the tools of one set of palettes, and "+quoted(f.dir)+" holds "+receipt.Counted(len(sets), "set"), "verbatim lint "+shell(sets[0])+" --servers FILE --accept")
	}
	whole, failed := lintJSON{Schema: lintSchema, OK: true}, error(nil)
	for _, dir := range sets {
		one := f
		if one.dir, one.set = dir, filepath.Base(dir)+": "; f.against != "" {
			if one.against = filepath.Join(f.against, filepath.Base(dir)); !isFolder(one.against) {
				one.against = "" // the set is new
			}
		}
		c, err := a.lintSet(ctx, one)
		if err != nil {
			return err
		}
		j := newLint(c.loaded)
		j.Held = c.held
		if whole.join(j, dir); a.json {
			continue
		}
		if err := a.linted(one, c, j); err != nil {
			failed = err
		}
	}
	if a.json {
		a.emit(whole)
		if whole.Errors > 0 {
			return said(exitInput)
		}
	}
	return failed
}

// join adds the figures of a set.
func (j *lintJSON) join(one lintJSON, dir string) {
	j.Sets = append(j.Sets, dir)
	j.OK = j.OK && one.OK
	j.Palettes += one.Palettes
	j.Verbs += one.Verbs
	j.Lacking = append(j.Lacking, one.Lacking...)
	j.Numbered = append(j.Numbered, one.Numbered...)
	j.Without = append(j.Without, one.Without...)
	j.NoUndo = append(j.NoUndo, one.NoUndo...)
	j.Models = append(j.Models, one.Models...)
	if one.Held != nil {
		if j.Held == nil {
			j.Held = &intent.Held{}
		}
		j.Held.Phrases += one.Held.Phrases
		j.Held.First += one.Held.First
		j.Held.Taken += one.Held.Taken
	}
	j.Errors += one.Errors
	j.Warnings += one.Warnings
	j.Diagnostics = append(wire.Some(j.Diagnostics), one.Diagnostics...)
}

// setsIn lists the folders with palettes in a folder that holds none itself.
func setsIn(dir string) (sets []string) {
	entries, err := os.ReadDir(dir)
	if _, carried := palettes.Files(dir); err != nil || carried || holdsPalettes(dir) {
		return nil
	}
	for _, e := range entries {
		if name := filepath.Join(dir, e.Name()); e.IsDir() && !strings.HasPrefix(e.Name(), ".") && holdsPalettes(name) {
			sets = append(sets, name)
		}
	}
	return sets
}

func holdsPalettes(dir string) bool {
	for _, pattern := range []string{"*.y*ml", pack.LockName} {
		if found, _ := filepath.Glob(filepath.Join(dir, pattern)); len(found) > 0 {
			return true
		}
	}
	return false
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

// A lintedSet is what lint knows of a set of palettes.
type lintedSet struct {
	*loaded
	took time.Duration
	held *intent.Held
}

// lintSet checks palettes that are loaded together.
func (a *app) lintSet(ctx context.Context, f lintFlags) (c lintedSet, err error) {
	dir, against := f.dir, f.against
	started := time.Now()
	l, err := loadPalettes(dir)
	if err != nil {
		return c, err
	}
	c.took = time.Since(started)
	if l.reg != nil {
		// Other commands load them with the palettes of this program.
		whole, err := loadPalettes(dir, ownPalettes(l.reg)...)
		if err != nil {
			return c, err
		}
		if whole.reg == nil {
			l = whole
		}
	}
	if l.reg != nil {
		l.ds = slices.Concat(l.ds, load.MissingTranslations(l.reg), load.OnlyToRead(l.reg), load.NotForRoles(l.reg))
		found, err := a.lintQueries(ctx, dir, f.store)
		if err != nil {
			return c, err
		}
		l.ds = append(l.ds, found...)
	}
	if against != "" && l.reg != nil {
		old, err := loadPalettes(against)
		if err != nil {
			return c, err
		}
		if old.reg == nil {
			return c, &stop{exitInput, "bad-palettes", fmt.Sprintf("the palettes in %s do not load, so nothing can be compared with them", quoted(against)),
				"verbatim lint " + shell(against)}
		}
		l.ds = append(l.ds, drift.Between(old.reg, l.reg)...)
	}
	if f.servers != "" && l.reg != nil {
		found, taken, err := a.lintTools(ctx, l.reg, f.servers, f.accept)
		if err != nil {
			return c, err
		}
		l.ds = append(l.ds, found...)
		if f.accept {
			fmt.Fprintf(a.err, "accepted %s in %s; read it before you keep it\n", receipt.Counted(taken, "tool"), quoted(acceptedFile(f.servers)))
		}
	}
	if f.servers == "" && l.reg != nil {
		box := tools.NewBox(a.services(l.reg, nil, nil, nil), l.reg)
		for _, v := range l.reg.Verbs() {
			if carriedBy(v, ownServers...) {
				_, found := box.Verify(ctx, v)
				l.ds = append(l.ds, found...)
			}
		}
	}
	if f.phrases && l.reg != nil {
		found, figures := intent.New(l.reg).Lint()
		l.ds, c.held = append(l.ds, found...), &figures
	}
	c.loaded = l
	return c, nil
}

// linted prints what was found in a set, and fails if that has errors.
func (a *app) linted(f lintFlags, c lintedSet, j lintJSON) error {
	l, held, against := c.loaded, c.held, f.against
	switch {
	case a.json:
		a.emit(j)
	case f.format == "github":
		for i := range l.ds {
			fmt.Fprintln(a.out, annotation(&l.ds[i]))
		}
	case j.Errors > 0:
		a.complain(l.ds)
		state := "Nothing was loaded."
		if l.reg != nil {
			state = "They load; this has to be seen to first."
			if against != "" {
				state = "They load; what they allow is less safe than it was."
			}
		}
		fmt.Fprintf(a.err, "\n%s%s in %s. %s\n%s\n", f.set, j.Report, receipt.Counted(j.Palettes, "palette"), state, explainOne(l.ds))
	default:
		a.complain(l.ds)
		line := fmt.Sprintf("ok   %s%s, %s, %s", f.set, receipt.Counted(j.Palettes, "palette"), receipt.Counted(j.Verbs, "verb"), j.Report)
		fmt.Fprintf(a.out, "%-72s %d ms\n", line, c.took.Milliseconds())
		if n := len(j.Lacking); n > 0 {
			fmt.Fprintf(a.out, "     nothing in this program carries out %s: %s\n", receipt.Counted(n, "verb"), receipt.Safe(shortened(j.Lacking)))
		}
		if n := len(j.Without); n > 0 {
			fmt.Fprintf(a.out, "     nothing in this program carries out %s: %s\n", receipt.Counted(n, "function"), receipt.Safe(shortened(j.Without)))
		}
		if n := len(j.NoUndo); n > 0 {
			fmt.Fprintf(a.out, "     nothing says how to take back %s: %s\n", receipt.Counted(n, "verb"), receipt.Safe(shortened(j.NoUndo)))
		}
		if n := len(j.Models); n > 0 {
			fmt.Fprintf(a.out, "     a model may fill %s by itself: %s\n", receipt.Counted(n, "argument"), receipt.Safe(shortened(j.Models)))
		}
		if n := len(j.Numbered); n > 0 {
			fmt.Fprintf(a.out, "     on WhatsApp, numbered lines stand for buttons: %s\n", receipt.Safe(shortened(j.Numbered)))
		}
		if held != nil {
			fmt.Fprintf(a.out, "of %s, each left out, %d still come first for their verb, and %d would be taken for another\n", receipt.Counted(held.Phrases, "phrase"), held.First, held.Taken)
		}
		if more := explainOne(l.ds); more != "" {
			fmt.Fprintln(a.err, more)
		}
	}
	if j.Errors > 0 {
		return said(exitInput)
	}
	return nil
}

// shortened lists at most five names.
func shortened(names []string) string {
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + " and " + receipt.Counted(more, "other")
	}
	return strings.Join(names, ", ")
}

// missing prints what a sidecar lacks.
func (a *app) missing(dir, sidecar string) error {
	reg, err := a.palettes(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, p := range reg.Palettes() {
		name, _, _ := strings.Cut(path.Base(p.Source.Name), ".")
		if language, ok := strings.CutPrefix(strings.TrimSuffix(path.Base(sidecar), ".yaml"), name+"."); ok && language != "" {
			return load.Untranslated(a.out, reg, p, language)
		}
		names = append(names, name)
	}
	return usage(fmt.Sprintf("--missing names a file such as %s.de.yaml; %q belongs to no palette in %s", names[0], sidecar, quoted(dir)), "verbatim lint "+shell(dir))
}

// annotation writes a diagnostic as a GitHub annotation.
func annotation(d *dsl.Diagnostic) string {
	level := "error"
	if d.Severity == dsl.Warning {
		level = "warning"
	}
	// GitHub wants its separators percent-encoded.
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	message := d.Summary
	if d.Label != "" {
		message += "; " + d.Label
	}
	for _, note := range d.Notes {
		message += "\n" + note
	}
	if d.Place.Source == nil {
		return fmt.Sprintf("::%s title=%s::%s", level, property.Replace(d.Code), data.Replace(message))
	}
	from, to := d.Place.Source.Position(d.Place.Range.Start), d.Place.Source.Position(d.Place.Range.End)
	return fmt.Sprintf("::%s file=%s,line=%d,endLine=%d,col=%d,endColumn=%d,title=%s::%s", level, property.Replace(d.Place.Source.Name),
		from.Line, to.Line, from.Column, to.Column, property.Replace(d.Code), data.Replace(message))
}
