package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/domains/kyc"
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

// misfits lists the fields of whose values some cannot be read, or are not as the types of the palettes keep
// them: a number that is no telephone number, or one that is not written as such numbers are kept. otherwise
// lists those that are compared all the same. It reads the rows, so it is for rows that SQL has just written.
// Each is one line, and quotes no value.
func misfits(ctx context.Context, reg *verbs.Registry, store stores.Store) (lines, otherwise []string, err error) {
	for _, e := range reg.Entities() {
		var fields []int
		var bad []stores.Unreadable
		find := stores.Find{Entity: e.Store, Select: []stores.Path{{Field: e.Store.Key}}, Limit: misfitsAtOnce, Cut: true, Unreadable: &bad}
		ofPeople := reg.Verb("kyc.verify") != nil
		for i := range e.Store.Fields {
			name := e.Store.Name + "." + e.Store.Fields[i].Name
			if t := e.Fields[i].Type; t != nil && t.CountryOf == "" && slices.Contains(exacting, t.Name) || ofPeople && keptForms[name] != nil {
				fields, find.Select = append(fields, i), append(find.Select, stores.Path{Field: i})
			}
		}
		wrong, other := make([]int, len(fields)), make([]int, len(fields))
		for last, more := (stores.Value{}), len(fields) > 0; more; {
			var rows [][]stores.Value
			bad = nil
			err := store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
				rows, err = r.Find(ctx, find)
				return err
			})
			if err != nil {
				return nil, nil, err
			}
			for _, u := range bad {
				otherwise = append(otherwise, fmt.Sprintf("%s of a row holds %s: verbs fail that come across it", u.Field, u.Why))
			}
			for _, row := range rows {
				last = row[0]
				for n, i := range fields {
					v := row[n+1]
					if is, err := e.Fields[i].Type.Accept(v); !v.IsNull() && (err != nil || !stores.Equal(is, v)) {
						wrong[n]++
					} else if keep := keptForms[e.Store.Name+"."+e.Store.Fields[i].Name]; ofPeople && keep != nil && keep(v.Text()) != v.Text() {
						other[n]++
					}
				}
			}
			more = len(rows)+len(bad) >= misfitsAtOnce && len(rows) > 0
			find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: e.Store.Key}, Value: last}
		}
		for n, i := range fields {
			field, t := e.Store.Fields[i].Name, e.Fields[i].Type
			if wrong[n] > 0 {
				lines = append(lines, fmt.Sprintf("%s of %s is not as %s is kept in %s", field, e.Store.Name, t.Phrase(), message.Count(wrong[n], "row")))
			}
			if other[n] > 0 {
				otherwise = append(otherwise, fmt.Sprintf("%s of %s is written otherwise than it is kept in %s: it is compared all the same, and by it alone they may not be found", field, e.Store.Name, message.Count(other[n], "row")))
			}
		}
	}
	slices.Sort(otherwise)
	return lines, slices.Compact(otherwise), nil
}

// keptForms are the fields of people who are verified that are kept in a form of their own. They are compared in
// any form, but people of quite another name are found by them in this one.
var keptForms = map[string]func(string) string{"person.phone": kyc.Phone, "person.email": kyc.Email, "person.consents": func(s string) string { return s }}

// misfitsAtOnce is how many rows misfits reads at once.
const misfitsAtOnce = 1000

// exacting are the types whose values have one spelling, which SQL need not have written.
var exacting = []verbs.TypeName{verbs.PhoneType, verbs.EmailType, verbs.IBANType, verbs.BICType, verbs.LEIType, verbs.NationalIDType}
