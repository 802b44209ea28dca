package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/postgres"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

func migrateCommand(a *app) *cobra.Command {
	var store, palettes, grantTo, from, roles string
	var administrators []string
	var planOnly, check, yes, cut, engine bool
	var data []string
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Create the tables that palettes declare, and verify those that exist",
		Example: `verbatim migrate --store fresh.db --data bank.sql --data people.sql
verbatim migrate --check`,
		Long: `Mapped tables are compared with the palette and never altered. --data is for examples and tests:
an operator's SQL, run first. On PostgreSQL, connect as the role that owns the tables. --from moves
a file there: rows, people, the journal and what waits. Nobody may use the file, and nothing of it
may be there already. --check exits 1 where queries, rights, codes or waiting work would stop.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if engine {
				return a.checkEngine(cmd.Context(), store)
			}
			if roles != "" {
				if check || cut || yes || len(data)+len(administrators) > 0 || from != "" || grantTo != "" {
					return usage("--roles makes roles and a database, and nothing else", "verbatim migrate --roles NAME, with --plan to see the statements; then verbatim migrate as the owner")
				}
				return a.makeRoles(cmd.Context(), store, roles, planOnly)
			}
			if check {
				switch {
				case cut:
					return usage("--check changes nothing, and --cut-journal does", "verbatim migrate --plan --cut-journal shows the statements")
				case planOnly:
					return usage("--check says what --plan does", "give one of them")
				case len(data)+len(administrators) > 0 || from != "":
					return usage("--check changes nothing, and --data, --from and --administrator do", "give one of them")
				}
				return a.checkStore(cmd.Context(), store, palettes, grantTo)
			}
			if planOnly && len(data) > 0 {
				return usage("--plan changes nothing and --data does", "give one of them")
			}
			if planOnly && len(administrators) > 0 {
				return usage("--plan changes nothing and --administrator does", "give one of them")
			}
			if planOnly && from != "" {
				return usage("--plan changes nothing and --from does", "give one of them")
			}
			if len(administrators) > 0 && grantTo != "" {
				return a.twoCommands(store, palettes, grantTo, administrators)
			}
			if err := a.migrate(cmd.Context(), store, palettes, grantTo, from, planOnly, yes, cut, data); err != nil {
				return err
			}
			return a.found(cmd.Context(), store, palettes, administrators)
		},
	}
	a.storeFlag(cmd, &store)
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().StringVar(&grantTo, "grant-to", "", "on PostgreSQL, the `role` that runs use")
	cmd.Flags().StringArrayVar(&administrators, "administrator", nil, "make `name` an administrator; the first are made so")
	cmd.Flags().BoolVar(&planOnly, "plan", false, "print the statements and change nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "rename and fill rows that are there, and do not ask")
	cmd.Flags().BoolVar(&check, "check", false, "say what would be done and what would stop verbs, and change nothing")
	cmd.Flags().BoolVar(&engine, "check-engine", false, "say what the engine of a database lacks that a store needs, and change nothing")
	cmd.Flags().BoolVar(&cut, "cut-journal", false, "on PostgreSQL, have the journal go on in another part")
	cmd.Flags().StringArrayVar(&data, "data", nil, "run the SQL of a `file` first")
	cmd.Flags().StringVar(&roles, "roles", "", "on PostgreSQL, as a superuser, make `NAME`_owner, _app, _backup and the database")
	cmd.Flags().StringVar(&from, "from", "", "then fill the store with all that is in this one, a `file`")
	return cmd
}

// twoCommands returns the command with which the owner of the tables migrates, and the one with
// which the role that runs use then makes administrators: the owner may not write rows.
func (a *app) twoCommands(where, palettes, grantTo string, administrators []string) error {
	at, err := a.storeAddress(where)
	if err != nil {
		return err
	}
	if at.url == "" {
		return usage("a file has no roles to grant anything to", "leave --grant-to out")
	}
	migrate := "verbatim migrate"
	if palettes != "" {
		migrate += " --palettes " + shell(palettes)
	}
	then := migrate + " --store " + shell(at.as(grantTo))
	for _, name := range administrators {
		then += " --administrator " + shell(name)
	}
	return usage("an administrator is made by the role that runs use, and --grant-to is for the one that owns the tables; nothing was done",
		migrate+" --store "+shell(at.as(""))+" --grant-to "+shell(grantTo)+", then "+then)
}

// migrateTries is how often a migration is tried that others' transactions interfere with.
const migrateTries = 5

func (a *app) migrate(ctx context.Context, where, palettes, grantTo, from string, planOnly, yes, cut bool, data []string) error {
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return err
	}
	var scripts []string
	for _, name := range data {
		src, err := a.source(name)
		if err != nil {
			return err
		}
		scripts = append(scripts, src.Text)
	}
	at, err := a.storeAddress(where)
	if err != nil {
		return err
	}
	var left *sqliteMove
	if from != "" {
		if left, err = a.leave(ctx, reg, from, at); err != nil {
			return err
		}
		defer left.store.Close()
	}
	fresh := false
	if at.url == "" {
		_, statErr := os.Stat(at.file)
		fresh = errors.Is(statErr, os.ErrNotExist)
	}
	var opts []postgres.Option
	if cut {
		opts = append(opts, postgres.CutJournal())
	}
	opened, err := a.toMigrate(at, reg, !planOnly)
	if err != nil {
		return err
	}
	store, err := a.prepare(ctx, opened, !planOnly || opened != at, grantTo, opts...)
	if err != nil {
		return err
	}
	defer func() {
		_ = store.Close()
		// A file that this failed run created is removed.
		if fresh && err != nil {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(at.file + suffix)
			}
		}
	}()
	if err = notForward(ctx, reg, store); err != nil {
		return err
	}
	all := allTables(reg)
	made, err := a.fill(ctx, store, all, data, scripts)
	if err != nil {
		return err
	}
	var plan stores.Plan
	var agreed []stores.DataChange
	tell := func(p *stores.Plan) ([]stores.Entry, error) {
		if !yes && !slices.EqualFunc(p.DataChanges, agreed, sameDataChange) {
			return nil, &unagreed{p.DataChanges}
		}
		return a.dataChangeEntries(reg, p.DataChanges), nil
	}
	// Servers may be at work, and one transaction of theirs may stand in the way.
	migrate := func(apply bool) (plan stores.Plan, err error) {
		for range migrateTries {
			if plan, err = store.Migrate(ctx, all, apply, tell); !errors.Is(err, stores.ErrConflict) || ctx.Err() != nil {
				break
			}
		}
		return plan, err
	}
	plan, err = migrate(!planOnly)
	var ask *unagreed
	if errors.As(err, &ask) {
		if err = a.agreeTo(ctx, ask.changes); err != nil {
			return err
		}
		agreed = ask.changes
		plan, err = migrate(true)
	}
	if errors.As(err, &ask) {
		return &stop{exitRefused, "changed-meanwhile", "the store is not as it was when you were asked. Nothing was changed", "verbatim migrate asks again"}
	}
	if err != nil {
		err = broken("the store cannot be migrated", err, "nothing was changed; see the reason, and try again")
		return err
	}
	if !planOnly && len(plan.Problems) == 0 {
		left, leftErr := engine.Left(ctx, reg, store)
		if err = leftErr; err != nil {
			return broken("what the store holds cannot be compared with the palettes", err, "migrate again")
		}
		plan.Warnings = append(plan.Warnings, left...)
	}
	if !planOnly && len(plan.Problems) == 0 && len(data) > 0 {
		wrong, misfitErr := misfits(ctx, reg, store)
		if err = misfitErr; err != nil {
			return broken("the rows cannot be compared with the palettes", err, "migrate again")
		}
		plan.Problems = append(plan.Problems, wrong...)
	}
	plan.Steps = append(made, plan.Steps...)
	if served, ok := store.(interface {
		Served(context.Context) ([]string, error)
	}); ok && !planOnly && grantTo == "" && len(plan.Steps) > 0 {
		roles, servedErr := served.Served(ctx)
		if err = servedErr; err != nil {
			return broken("the rights of roles cannot be read", err, "migrate again")
		}
		for _, role := range roles {
			plan.Warnings = append(plan.Warnings, fmt.Sprintf("role %s was granted nothing of what is new: verbatim migrate --grant-to %s", role, shell(role)))
		}
	}
	if err = a.tellPlan(at.String(), plan, planOnly, len(data) > 0 && !fresh, declared(reg)); err != nil || planOnly {
		return err
	}
	fresh = false // the store stays, even if queries are wrong
	if left != nil {
		if err = a.moveIn(ctx, reg, left, store); err != nil {
			return err
		}
	}
	if len(data) > 0 {
		if err = indexed(ctx, reg, store); err != nil {
			return a.runFailed(err)
		}
	}
	return a.nameRows(ctx, reg, store, where, grantTo == "" || left != nil)
}

// indexed adds rows that SQL wrote to the search index.
func indexed(ctx context.Context, reg *verbs.Registry, store stores.Store) error {
	for _, e := range reg.Entities() {
		if e.Store.Search == nil {
			continue
		}
		if _, err := store.Index(ctx, e.Store, true); err != nil {
			return err
		}
	}
	return nil
}

// nameRows names rows that other programs wrote, and notes where the store is.
func (a *app) nameRows(ctx context.Context, reg *verbs.Registry, store stores.Store, flag string, note bool) error {
	engine, err := engine.New(reg, store, engine.Options{})
	if err == nil {
		_, err = engine.NameRows(ctx)
	}
	if err == nil && note {
		_, err = a.marked(ctx, engine, store, flag)
	}
	if err != nil {
		return broken("the rows cannot be given names", err, "migrate again")
	}
	if ds := engine.Unfit(); len(ds) > 0 {
		a.complain(ds)
		return said(exitInput)
	}
	return nil
}

// fill loads the data of an example. The store's own tables are made first, since the data
// contains rights, and then those of the palettes. It returns which tables were made.
func (a *app) fill(ctx context.Context, store preparer, entities []*stores.Entity, names, scripts []string) (made []string, err error) {
	if len(scripts) == 0 {
		return nil, nil
	}
	if _, err := store.Migrate(ctx, nil, true); err != nil {
		return nil, broken("the store cannot be prepared", err, "nothing was changed; see the reason, and try again")
	}
	// The data may itself create tables that palettes map; tables that refer to those are made
	// later.
	for _, some := range [][]*stores.Entity{entities, onlyOurs(entities)} {
		plan, err := store.Migrate(ctx, some, false)
		fits := err == nil && len(plan.Problems)+len(plan.DataChanges) == 0
		if fits {
			plan, err = store.Migrate(ctx, some, true)
		}
		if err != nil {
			return nil, broken("the store cannot be prepared", err, "no data was loaded; try again")
		}
		if fits {
			made = plan.Steps
			break
		}
	}
	unchanged := "nothing was changed"
	if len(made) > 0 {
		unchanged = "no data was loaded"
	}
	err = store.Load(ctx, strings.Join(scripts, "\n;\n"), entities...)
	switch {
	case errors.Is(err, stores.ErrDuplicate):
		return nil, &stop{exitRefused, "there-already", fmt.Sprintf("%s: %s", strings.Join(names, ", "), err), unchanged + "; take out of the SQL what is there already"}
	case errors.Is(err, stores.ErrInvalid):
		return nil, &stop{exitInput, "bad-sql", fmt.Sprintf("%s: %s", strings.Join(names, ", "), err), unchanged + "; correct the SQL and try again"}
	case err != nil:
		return nil, broken("the data cannot be loaded", err, unchanged+"; try again")
	}
	return made, nil
}

// onlyOurs leaves out tables that are not managed, and managed ones that refer to them.
func onlyOurs(entities []*stores.Entity) []*stores.Entity {
	ours := slices.DeleteFunc(slices.Clone(entities), func(e *stores.Entity) bool { return !e.Managed })
	for n := -1; n != len(ours); {
		n = len(ours)
		kept := slices.Clone(ours)
		ours = slices.DeleteFunc(ours, func(e *stores.Entity) bool {
			return slices.ContainsFunc(e.Fields, func(f stores.Field) bool { return f.Ref != nil && !slices.Contains(kept, f.Ref) })
		})
	}
	return ours
}

func (a *app) tellPlan(path string, plan stores.Plan, planOnly, loaded bool, entities int) error {
	if a.json {
		a.emit(struct {
			Schema      string   `json:"schema"`
			Store       string   `json:"store"`
			Applied     bool     `json:"applied"`
			Steps       []string `json:"steps"`
			Problems    []string `json:"problems"`
			Warnings    []string `json:"warnings"`
			DataChanges []string `json:"data_changes"` // to existing rows
		}{"verbatim/migrate@1", path, !planOnly && len(plan.Problems) == 0, wire.Some(plan.Steps), wire.Some(plan.Problems), wire.Some(plan.Warnings), dataChangeTexts(plan)})
	}
	for _, w := range plan.Warnings {
		if !a.json {
			fmt.Fprintln(a.err, "warning[store-mismatch]: "+w)
		}
	}
	if len(plan.Problems) > 0 {
		if !a.json {
			for _, p := range plan.Problems {
				fmt.Fprintln(a.err, "error[store-mismatch]: "+p)
			}
			unchanged := "Nothing was changed"
			if loaded {
				unchanged = "The data is loaded, and nothing else was changed"
			}
			fmt.Fprintf(a.err, "\n%s. %s.\nnext: change the data, the palette or the table, then verbatim migrate --plan\n", receipt.Counted(len(plan.Problems), "problem"), unchanged)
		}
		return said(exitInput)
	}
	if a.json {
		return nil
	}
	if planOnly {
		for _, s := range plan.Steps {
			fmt.Fprintln(a.out, strings.TrimSuffix(s, ";")+";")
		}
		for _, d := range plan.DataChanges {
			fmt.Fprintln(a.err, "asks  "+dataChangeText(d))
		}
		fmt.Fprintf(a.err, "%s would be run; nothing was changed\n", receipt.Counted(len(plan.Steps), "statement"))
		return nil
	}
	fmt.Fprintf(a.out, "ok   %s: %s verified, %s run\n", path, receipt.Counted(entities, "entity"), receipt.Counted(len(plan.Steps), "statement"))
	return nil
}

// tables returns the entities as the store knows them.
func tables(reg *verbs.Registry) []*stores.Entity {
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	return all
}
