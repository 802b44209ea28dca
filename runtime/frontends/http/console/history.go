package console

import (
	"context"
	"encoding/csv"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/internal/sheet"
	"verbatim/runtime/state/trail"
	"verbatim/stores"
	"verbatim/stores/journal"
)

// What happened: the journal by person, verb, day and row, as a page and as a file, and what happened to
// one row beside it.

const (
	entriesPage = 50     // on a page
	entriesFile = 10_000 // in a file
	eventsShown = 10     // of one row
)

// A search is what the URL of the history asks for.
type search struct {
	filter trail.Filter
	args   url.Values
	wrong  []pages.Mistake
}

// search reads the URL.
func (d *desk) search(ctx context.Context) (*search, error) {
	given := d.R.URL.Query()
	s := &search{args: url.Values{}, filter: trail.Filter{Limit: entriesPage}}
	text := func(name string) string {
		value := strings.TrimSpace(given.Get(name))
		if value == "" || len(value) > 300 {
			return ""
		}
		s.args.Set(name, value)
		return value
	}
	if who := text("who"); who != "" {
		s.filter.Principals = []string{who}
	}
	s.filter.Verb = text("verb")
	for _, name := range [...]string{"from", "until"} {
		said := text(name)
		if said == "" {
			continue
		}
		found, _ := values.Find(said, values.In{Now: d.Clock().In(d.Zone()), Languages: []values.Language{d.Language()}})
		if len(found) != 1 || !found[0].Known() || found[0].Value.Kind() != stores.Date {
			s.wrong = append(s.wrong, pages.Mistake{Field: name, Text: d.Say("words/no-such-day")})
			continue
		}
		day, _ := time.ParseInLocation(time.DateOnly, found[0].Value.Text(), d.Zone())
		if name == "from" {
			s.filter.From = day
		} else {
			s.filter.Until = day.AddDate(0, 0, 1)
		}
	}
	if row := text("row"); row != "" {
		e, key, err := d.Session.Names().Find(ctx, row)
		switch {
		case errors.Is(err, stores.ErrNotFound), errors.Is(err, engine.ErrAmbiguous):
			s.wrong = append(s.wrong, pages.Mistake{Field: "row", Text: d.Say("pages/staff-no-such-row")})
		case err != nil:
			return nil, err
		default:
			s.filter.Entity, s.filter.Key = e.Name, key
		}
	}
	s.filter.Before, _ = strconv.ParseInt(given.Get("before"), 10, 64)
	return s, nil
}

// url returns the URL of the history with the arguments of the search and one more.
func (s *search) url(path, name, value string) string {
	args := url.Values{}
	for name, of := range s.args {
		args[name] = of
	}
	if args.Del(name); value != "" {
		args.Set(name, value)
	}
	if len(args) == 0 {
		return path
	}
	return path + "?" + args.Encode()
}

// historyPage lists entries of the journal.
func (d *desk) historyPage() error {
	ctx := d.R.Context()
	s, err := d.search(ctx)
	if err != nil {
		return err
	}
	var h trail.Page
	if len(s.wrong) > 0 {
		err = d.Session.Journal().Reads(ctx)
	} else {
		h, err = d.Session.Journal().History(ctx, s.filter)
	}
	if err != nil {
		return err
	}
	p := d.Frame(d.Say("pages/journal"))
	p.Wide, p.Wrong = true, len(s.wrong) > 0
	table := pages.Table{ID: "entries", Title: d.Say("pages/journal"), Empty: d.Say("pages/staff-none-fits"), Filters: d.historyFilters(s),
		Head: []string{d.Say("pages/number"), d.Say("pages/when"), d.Say("pages/who"), d.Say("pages/staff-what"), d.Say("pages/staff-rows"), d.Say("pages/became")}}
	if h.Behind {
		p.Banners = append(p.Banners, pages.Banner{Tone: "warn", Text: d.Say("pages/staff-behind")})
	}
	rows, err := d.changed(ctx, h.Entries)
	if err != nil {
		return err
	}
	for i := range h.Entries {
		e := &h.Entries[i]
		number := strconv.FormatInt(e.Seq, 10)
		cells := []pages.Cell{{Text: number, URL: "/journal/" + number}, {Text: d.Time(e.Time)}, {Text: d.Who(e.Principal), URL: s.url("/journal", "who", e.Principal)},
			{Text: d.verb(e.Verb), URL: s.url("/journal", "verb", e.Verb)}, {}, {Text: d.became(e)}}
		if len(rows[i]) > 0 {
			cells[4] = pages.Cell{Text: rows[i][0].text, URL: rows[i][0].url}
			if n := len(rows[i]) - 1; n > 0 {
				cells[4].Text += d.Say("pages/and-more", strconv.Itoa(n))
			}
		}
		table.Rows = append(table.Rows, cells)
	}
	table.Pages = &pages.Pager{}
	if s.filter.Before > 0 {
		table.Pages.Before = &pages.Link{URL: s.url("/journal", "", ""), Text: d.Say("pages/staff-latest")}
	}
	if h.More {
		table.Pages.After = &pages.Link{URL: s.url("/journal", "before", strconv.FormatInt(h.Entries[len(h.Entries)-1].Seq, 10)), Text: d.Say("pages/older")}
	}
	if *table.Pages == (pages.Pager{}) {
		table.Pages = nil
	}
	p.Main = []pages.Block{table}
	return d.Render(http.StatusOK, p)
}

// historyFilters returns the fields of the search.
func (d *desk) historyFilters(s *search) *pages.Filters {
	f := &pages.Filters{URL: "/journal"}
	for _, field := range [...]struct {
		name  string
		label values.Key
	}{{"who", "pages/staff-who"}, {"verb", "pages/verb"}, {"from", "pages/staff-from"}, {"until", "pages/staff-until"}, {"row", "pages/staff-row"}} {
		out := pages.Field{ID: field.name, Name: field.name, Kind: "text", Label: d.Say(field.label), Value: s.args.Get(field.name), Max: 300}
		if i := slices.IndexFunc(s.wrong, func(m pages.Mistake) bool { return m.Field == field.name }); i >= 0 {
			out.Wrong = s.wrong[i].Text
		}
		f.Fields = append(f.Fields, out)
	}
	f.Fields[0].Kind = "search"
	f.Links = []pages.Link{{URL: s.url("/journal.csv", "", ""), Text: d.Say("pages/staff-as-csv")}}
	if len(s.args) > 0 {
		f.Clear = "/journal"
	}
	return f
}

// verb describes a verb, as far as the reader may know of it.
func (d *desk) verb(name string) string {
	if v := d.Registry.Verb(name); v != nil {
		return d.Tell.Verb(v)
	}
	return name
}

// became says how an entry ended.
func (d *desk) became(e *stores.Entry) string {
	switch {
	case e.Outcome == "ok" && e.Agreed != "":
		who, _, _ := strings.Cut(e.Agreed, ",")
		return d.Say("pages/staff-done-agreed", d.Who(who))
	case e.Outcome == "ok":
		return d.Say("pages/done")
	case e.Reason != "":
		return e.Outcome + ": " + e.Reason
	}
	return e.Outcome
}

// A touched is a row that an entry changed: what the reader calls it, and its page.
type touched struct{ text, url string }

// changed returns the rows that entries changed. A row that the reader does not see, or that is gone,
// is called by its kind.
func (d *desk) changed(ctx context.Context, entries []stores.Entry) ([][]touched, error) {
	type row struct {
		entity string
		key    stores.Value
	}
	all, keys := make([][]row, len(entries)), map[string][]stores.Value{}
	for i := range entries {
		record, err := journal.Parse(entries[i].Changes)
		if err != nil {
			continue
		}
		for k := range record.Rows {
			r := row{record.Rows[k].Entity, record.Rows[k].Key}
			if !slices.Contains(all[i], r) && d.Registry.Entity(r.entity) != nil {
				all[i], keys[r.entity] = append(all[i], r), append(keys[r.entity], r.key)
			}
		}
	}
	names := map[row]string{}
	for entity, of := range keys {
		named, err := d.Session.Names().Named(ctx, d.Registry.Entity(entity), of...)
		if err != nil {
			return nil, err
		}
		for i, key := range of {
			names[row{entity, key}] = named[i]
		}
	}
	out := make([][]touched, len(entries))
	for i := range all {
		for _, r := range all[i] {
			t := touched{text: d.Tell.Label(r.entity)}
			if name := names[r]; name != "" {
				t = touched{pages.Sentence(d.Tell.Value(stores.NewString("@" + name))), d.RowPage(d.Registry.Entity(r.entity), name)}
			}
			out[i] = append(out[i], t)
		}
	}
	return out, nil
}

// historyFile sends what a search finds as a CSV file.
func (d *desk) historyFile() error {
	ctx := d.R.Context()
	s, err := d.search(ctx)
	if err != nil {
		return err
	}
	if len(s.wrong) > 0 {
		return d.See(s.url("/journal", "", ""))
	}
	var out strings.Builder
	w := csv.NewWriter(&out)
	// A spreadsheet takes some texts for formulas.
	put := func(cells ...string) {
		for i, text := range cells {
			cells[i] = sheet.Plain(text)
		}
		_ = w.Write(cells) // a builder takes it all
	}
	put("entry", "time", "principal", "person", "verb", "what", "rows", "outcome", "reason", "agreed")
	s.filter.Limit = 500
	for n := 0; n < entriesFile; {
		h, err := d.Session.Journal().History(ctx, s.filter)
		if err != nil {
			return err
		}
		rows, err := d.changed(ctx, h.Entries)
		if err != nil {
			return err
		}
		for i := range h.Entries {
			e := &h.Entries[i]
			texts := make([]string, len(rows[i]))
			for k := range texts {
				texts[k] = rows[i][k].text
			}
			put(strconv.FormatInt(e.Seq, 10), e.Time.UTC().Format(time.RFC3339), e.Principal, portal.Bare(d.Who(e.Principal)), e.Verb, d.verb(e.Verb), strings.Join(texts, "; "), e.Outcome, e.Reason, e.Agreed)
		}
		if n += len(h.Entries); !h.More {
			break
		}
		s.filter.Before = h.Entries[len(h.Entries)-1].Seq
	}
	w.Flush()
	d.W.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "history.csv"}))
	return d.Send(http.StatusOK, "text/csv; charset=utf-8", []byte(out.String()))
}

// History tells what happened to a row, to somebody who sees it: see portal.Options.
func History(of *portal.Desk, entity string, key stores.Value) (pages.Timeline, error) {
	d := &desk{of}
	ctx := d.R.Context()
	t := pages.Timeline{ID: "history", Title: d.Say("pages/happened"), Empty: d.Say("pages/staff-nothing-yet")}
	e := d.Registry.Entity(entity)
	if e == nil {
		return t, nil
	}
	h, err := d.Session.Journal().OfRow(ctx, e, key, eventsShown)
	if err != nil {
		return t, err
	}
	for i := range h.Entries {
		of := &h.Entries[i]
		event := pages.Event{When: d.Time(of.Time), Who: d.Who(of.Principal), What: d.verb(of.Verb)}
		if of.Outcome != "ok" {
			event.What += " (" + d.became(of) + ")"
		} else if of.Agreed != "" {
			event.Who = d.Say("pages/staff-and-agreed", event.Who, d.became(of))
		}
		if d.Keeps() || of.Principal == d.Principal {
			event.URL = "/journal/" + strconv.FormatInt(of.Seq, 10)
		}
		if record, err := journal.Parse(of.Changes); err == nil {
			for k := range record.Rows {
				if r := &record.Rows[k]; r.Entity == entity && r.Key == key {
					event.Why = strings.Join(d.ChangedFields(e, r), ". ")
				}
			}
		}
		t.Events = append(t.Events, event)
	}
	if h.More && d.Keeps() {
		if names, err := d.Session.Names().Named(ctx, e, key); err == nil && names[0] != "" {
			t.More = &pages.Link{URL: "/journal?" + url.Values{"row": {entity + " @" + names[0]}}.Encode(), Text: d.Say("pages/staff-all-of-it")}
		}
	}
	return t, nil
}
