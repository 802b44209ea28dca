package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/stores"
)

// Everybody who may sign in, whether rows of the system or a file of the operator name them.

const (
	verbPeople = "system.list-principals"
	peoplePage = 50
)

// seesPeople reports whether a person may see who there is.
func seesPeople(d *portal.Desk) bool {
	v := d.Registry.Verb(verbPeople)
	return v != nil && v.Read != nil && d.Session.May(v)
}

// peoplePage lists people by their sign-in names, with their roles, where they are signed in, and when
// they were last seen.
func (d *desk) peoplePage() error {
	if !seesPeople(d.Desk) {
		return d.NotFound()
	}
	after := d.R.URL.Query().Get("after")
	names, more, err := d.people(after)
	if err != nil {
		return err
	}
	p := d.Frame(d.Say("pages/people"))
	p.Wide = true
	table := pages.Table{ID: "people", Title: d.Say("pages/people"), Lines: []string{d.Say("pages/people-all")}, Empty: d.Say("pages/none"),
		Head: []string{d.Say("pages/staff-who"), d.Say("pages/people-called"), d.Say("pages/people-roles"), d.Say("pages/people-logins"), d.Say("pages/people-seen")}}
	for _, name := range names {
		cells, err := d.person(name)
		if err != nil {
			return err
		}
		table.Rows = append(table.Rows, cells)
	}
	if table.Pages = (&pages.Pager{}); after != "" {
		table.Pages.Before = &pages.Link{URL: "/people", Text: d.Say("pages/staff-first-page")}
	}
	if more {
		table.Pages.After = &pages.Link{URL: "/people?" + url.Values{"after": {names[len(names)-1]}}.Encode(), Text: d.Say("pages/staff-next-page", strconv.Itoa(peoplePage))}
	}
	if *table.Pages == (pages.Pager{}) {
		table.Pages = nil
	}
	p.Main = []pages.Block{table}
	if link := d.ListOf(verbPeople); link != nil { // where they are changed
		p.Main = append(p.Main, pages.Prose{ID: "change", Links: []pages.Link{*link}})
	}
	return d.Render(http.StatusOK, p)
}

// people returns the names after another, in order.
func (d *desk) people(after string) (names []string, more bool, err error) {
	ctx := d.R.Context()
	if names, err = d.Store.Principals(ctx); err != nil {
		return nil, false, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name <= after })
	e := d.Registry.Verb(verbPeople).Read.Entity.Store
	field := stores.Path{Field: e.FieldIndex("name")}
	err = d.Store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{field}, Where: &stores.Cond{Op: stores.Gt, Path: field, Value: stores.NewString(after)},
			Order: []stores.Order{{Path: field}}, Limit: peoplePage + 1, Cut: true})
		for _, row := range rows {
			names = append(names, row[0].Text())
		}
		return err
	})
	slices.Sort(names)
	if names = slices.Compact(names); len(names) > peoplePage {
		return names[:peoplePage], true, err
	}
	return names, false, err
}

// person returns the cells of one person.
func (d *desk) person(name string) ([]pages.Cell, error) {
	ctx := d.R.Context()
	s, err := d.Engine.Session(ctx, name)
	if _, ok := errors.AsType[*engine.Refusal](err); ok {
		return []pages.Cell{{Text: name}, {Text: d.Who(name)}, {}, {}, {}}, nil
	}
	if err != nil {
		return nil, err
	}
	var roles, logins []string
	for _, role := range s.Roles() {
		roles = append(roles, d.Tell.Text(role.Name))
	}
	at, err := d.Logins.List(ctx, name)
	if err != nil {
		return nil, err
	}
	seen := ""
	for _, login := range at {
		logins = append(logins, d.Time(login.Proven))
	}
	last, err := s.Turns().Sessions(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case len(at) > 0:
		latest := at[0].Seen
		for _, login := range at {
			if login.Seen.After(latest) {
				latest = login.Seen
			}
		}
		seen = d.ago(latest)
	case len(last) > 0:
		seen = d.Time(last[0].LastActive)
	}
	return []pages.Cell{{Text: name}, {Text: d.Who(name)}, {Text: strings.Join(roles, ", ")}, {Text: strings.Join(logins, "\n")}, {Text: seen}}, nil
}
