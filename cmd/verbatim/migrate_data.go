package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// Changes of existing rows by a migration. They are shown first, need agreement, and are journalled
// in the migration's transaction.

// An unagreed ends a migration without agreement.
type unagreed struct{ changes []stores.DataChange }

func (*unagreed) Error() string { return "not agreed to" }

// sameDataChange compares changes with those agreed to, except for their row counts, since rows
// may have been added meanwhile.
func sameDataChange(a, b stores.DataChange) bool {
	a.Rows = b.Rows
	return a == b
}

// dataChangeText describes a change.
func dataChangeText(d stores.DataChange) string {
	rows := receipt.Counted(int(d.Rows), "row")
	var s string
	switch d.Kind {
	case stores.RenameEntity:
		s = fmt.Sprintf("entity %s is called %s (%s)", d.From, d.To, rows)
	case stores.RenameField:
		s = fmt.Sprintf("field %s of %s is called %s (%s)", d.From, d.Entity, d.To, rows)
	case stores.RenameCode:
		s = fmt.Sprintf("%s in %s of %s is called %s (%s)", d.From, d.Field, d.Entity, d.To, rows)
	case stores.CutJournal:
		s = fmt.Sprintf("the journal goes on in another part, behind %s (%s)", d.From, receipt.Counted(int(d.Rows), "entry"))
	case stores.Backfill:
		if s = fmt.Sprintf("%s of %s is its default (%s)", d.Field, d.Entity, rows); d.To != "" {
			s = fmt.Sprintf("%s of %s is %s (%s)", d.Field, d.Entity, d.To, rows)
		}
	}
	return receipt.Safe(s)
}

func dataChangeTexts(p stores.Plan) []string {
	all := []string{}
	for _, d := range p.DataChanges {
		all = append(all, dataChangeText(d))
	}
	return all
}

// dataChangeEntries are the journal entries of the changes.
func (a *app) dataChangeEntries(reg *verbs.Registry, all []stores.DataChange) (entries []stores.Entry) {
	for _, d := range all {
		args := []dsl.Arg{dsl.NewArg("entity", dsl.NewString(d.Entity))}
		for _, arg := range [...][2]string{{"field", d.Field}, {"from", d.From}, {"to", d.To}} {
			if arg[1] != "" && !(d.Kind == stores.RenameField && arg[0] == "field") {
				args = append(args, dsl.NewArg(arg[0], dsl.NewString(arg[1])))
			}
		}
		call := dsl.NewCall("migrate."+string(d.Kind), append(args, dsl.NewArg("rows", dsl.NewInteger(d.Rows)))...)
		entries = append(entries, stores.Entry{Time: a.now(), Principal: operatorName, Source: "migrate", Verb: call.Verb, Call: dsl.FormatCall(&call), Outcome: "ok", Palette: reg.Digest()})
	}
	return entries
}

// agreeTo asks the operator.
func (a *app) agreeTo(ctx context.Context, all []stores.DataChange) error {
	terminal, ok := a.terminal(a.world)
	if !ok {
		var said []string
		for _, d := range all {
			said = append(said, dataChangeText(d))
		}
		return &stop{exitRefused, "needs-agreement", fmt.Sprintf("rows that are there would change, and there is no terminal to ask on: %s", strings.Join(said, "; ")), "verbatim migrate --plan shows the statements; pass --yes to run them"}
	}
	defer terminal.Close()
	w := io.Writer(a.out)
	if a.json {
		w = a.err // standard output is for JSON
	}
	for _, d := range all {
		fmt.Fprintln(w, dataChangeText(d))
	}
	if err := a.flush(); err != nil {
		return err
	}
	yes, err := a.ask(ctx, terminal, "Change what rows hold, or are called by?")
	if err != nil {
		return err
	}
	if !yes {
		return &stop{exitRefused, "declined", "not agreed to; nothing was changed", "to do it after all, run it again and type yes"}
	}
	return nil
}

// misfits lists the fields of whose values some are not as the types of the palettes keep them: a number
// that is no telephone number, or one that is not written as such numbers are kept. It reads the rows, so
// it is for rows that SQL has just written. Each is one line, and quotes no value.
func misfits(ctx context.Context, reg *verbs.Registry, store stores.Store) (lines []string, err error) {
	for _, e := range reg.Entities() {
		var fields []int
		find := stores.Find{Entity: e.Store, Select: []stores.Path{{Field: e.Store.Key}}, Limit: misfitsAtOnce, Cut: true}
		for i := range e.Store.Fields {
			if t := e.Fields[i].Type; t != nil && t.CountryOf == "" && slices.Contains(exacting, t.Name) {
				fields, find.Select = append(fields, i), append(find.Select, stores.Path{Field: i})
			}
		}
		wrong := make([]int, len(fields))
		for len(fields) > 0 {
			var rows [][]stores.Value
			err := store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
				rows, err = r.Find(ctx, find)
				return err
			})
			if err != nil {
				return nil, err
			}
			for _, row := range rows {
				for n, i := range fields {
					v := row[n+1]
					if kept, err := e.Fields[i].Type.Accept(v); !v.IsNull() && (err != nil || !stores.Equal(kept, v)) {
						wrong[n]++
					}
				}
			}
			if len(rows) < misfitsAtOnce {
				break
			}
			find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: e.Store.Key}, Value: rows[len(rows)-1][0]}
		}
		for n, i := range fields {
			if wrong[n] > 0 {
				t := e.Fields[i].Type
				lines = append(lines, fmt.Sprintf("%s of %s is not as %s is kept in %s", e.Store.Fields[i].Name, e.Store.Name, t.Phrase(), message.Count(wrong[n], "row")))
			}
		}
	}
	return lines, nil
}

// misfitsAtOnce is how many rows misfits reads at once.
const misfitsAtOnce = 1000

// exacting are the types whose values have one spelling, which SQL need not have written.
var exacting = []verbs.TypeName{verbs.PhoneType, verbs.EmailType, verbs.IBANType, verbs.BICType, verbs.LEIType, verbs.NationalIDType}
