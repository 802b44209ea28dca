package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/system"
	"verbatim/runtime/wire"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

func newCommand(a *app) *cobra.Command {
	var from, palettes string
	cmd := &cobra.Command{
		Use:   "new [NAME]",
		Short: "Write a first palette, from an existing database or an empty one",
		Example: `verbatim new --palettes fresh notes
verbatim new --palettes over --from sqlite:verbatim.db`,
		Long: `--from reads the tables of a database and changes nothing in it: entities with their
keys, references from foreign keys, codes from CHECK constraints and enumeration types,
a read of each table, and a verb that adds a row. What a person has to decide is marked
DECIDE; what cannot be said is told where it would stand. NAME is the domain, the
database's own name unless it is given.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			return a.begin(cmd.Context(), name, from, a.palettesDir(palettes))
		},
	}
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().StringVar(&from, "from", "", "the database, sqlite:`PATH` or postgres://…")
	return cmd
}

// notOurs leaves out the tables that say who may do what.
func notOurs(tables []stores.Table) ([]stores.Table, error) {
	reg, ds := verbs.LoadSources(system.Source())
	if reg == nil {
		return nil, broken("the palette of the program itself cannot be read", errors.New(ds[0].Summary), "it is a fault of the program")
	}
	flat := func(name string) string { return strings.ReplaceAll(name, ".", "_") }
	return slices.DeleteFunc(tables, func(t stores.Table) bool {
		return slices.ContainsFunc(reg.Entities(), func(e *verbs.Entity) bool { return flat(e.Store.Table) == flat(t.Name) })
	}), nil
}

var domainName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,49}$`)

// isDomain reports whether a domain may be called so: what begins with verbatim is the
// engine's own.
func isDomain(name string) bool {
	return domainName.MatchString(name) && !strings.HasPrefix(name, "verbatim") && name != "system"
}

func (a *app) begin(ctx context.Context, name, from, dir string) error {
	var tables []stores.Table
	at := address{}
	if from != "" {
		var err error
		if at, err = a.storeAddress(from); err != nil {
			kind, _, _ := strings.Cut(from, ":") // a password may follow
			return usage(fmt.Sprintf("--from does not know %q", kind+":"), "give a path, sqlite:PATH or postgres://ROLE@HOST/DATABASE")
		}
		if at.url != "" {
			tables, err = postgres.Tables(ctx, at.url)
		} else {
			tables, err = sqlite.Tables(ctx, at.file)
		}
		if errors.Is(err, os.ErrNotExist) {
			return &stop{exitUsage, "no-store", fmt.Sprintf("there is no database %s", quoted(at.String())), "name a file that is there, or postgres://ROLE@HOST/DATABASE"}
		}
		if err != nil {
			return broken(fmt.Sprintf("the database %s cannot be read", at), err, "check the address, and that it is a database")
		}
		if tables, err = notOurs(tables); err != nil {
			return err
		}
		if len(tables) == 0 {
			return &stop{exitInput, "no-tables", fmt.Sprintf("the database %s has no tables that can be seen", at), "name another, or begin with verbatim new NAME"}
		}
		if !slices.ContainsFunc(tables, func(t stores.Table) bool { return t.Fault == "" }) {
			return &stop{exitInput, "no-tables", fmt.Sprintf("none of the %s of the database %s can be read: %s", receipt.Counted(len(tables), "table"), at, receipt.Safe(tables[0].Fault)), "connect as a role that may read them"}
		}
		if name == "" {
			base := strings.TrimRight(at.String(), "/")
			base = strings.TrimSuffix(filepath.Base(base), filepath.Ext(base))
			name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(base), "-"), "-")
			if !isDomain(name) {
				name = "shop"
			}
		}
	}
	if !isDomain(name) {
		return usage(fmt.Sprintf("%q cannot be the name of a domain", name), "give a name in small letters, such as verbatim new notes")
	}
	source := ""
	if from != "" {
		source = filepath.Base(at.String())
	}
	files := verbs.Propose(name, source, tables)
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(dir, f.Name)); err == nil {
			return &stop{exitUsage, "exists", fmt.Sprintf("the file %s is there already", quoted(filepath.Join(dir, f.Name))), "a palette is never overwritten: give another NAME, or another folder with --palettes"}
		}
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return &stop{exitUsage, "unwritable", fmt.Sprintf("the folder %s cannot be made: %s", quoted(dir), reason(err)), "name another with --palettes DIR"}
	}
	var written []string
	decide := 0
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.WriteFile(path, f.Text, 0o666); err != nil {
			return &stop{exitUsage, "unwritable", fmt.Sprintf("the file %s cannot be written: %s", quoted(path), reason(err)), "name another folder with --palettes DIR"}
		}
		written, decide = append(written, path), decide+f.Decide
	}
	if a.json {
		a.emit(struct {
			Schema string   `json:"schema"`
			Files  []string `json:"files"`
			Tables int      `json:"tables"`
			Decide int      `json:"decide"`
		}{"verbatim/new@1", wire.Some(written), len(tables), decide})
		return nil
	}
	what := "a first palette"
	if from != "" {
		what = receipt.Counted(len(tables), "table") + " of " + receipt.Safe(source)
	}
	for _, path := range written {
		fmt.Fprintf(a.out, "ok   %s: %s\n", path, what)
	}
	lint, migrate := "", ""
	if dir != "verbs" {
		lint, migrate = " "+shell(dir), " --palettes "+shell(dir)
	}
	fmt.Fprintf(a.out, "     %s for you to decide: they say DECIDE\nnext: verbatim lint%s, then verbatim migrate%s%s --administrator NAME\n", receipt.Counted(decide, "line"), lint, migrate, storeHint(from))
	return nil
}

func storeHint(from string) string {
	if from == "" {
		return ""
	}
	if strings.HasPrefix(from, "sqlite:") {
		return " --store " + shell(from)
	}
	return " --store URL --grant-to ROLE"
}
