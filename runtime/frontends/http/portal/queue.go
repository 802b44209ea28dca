package portal

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/stores"
	"verbatim/verbs"
)

// The queue of a page for staff: its items, a page at a time, in the order and with the filters that
// the URL says. The store does both, and reads no row that is not shown.

// queuePage is how many items a page of a queue shows.
const queuePage = 50

// A queue is a page of the items of d.page.
type queue struct {
	d      *Desk
	window verbs.Window
	args   url.Values // of the URL that the window follows from
	rows   []row
	more   bool
}

// The arguments of a queue in a URL.
const (
	argSearch, argOrder, argStatus = "q", "order", "status"
	argMine, argAfter, argItem     = "mine", "after", "item"
)

// queue reads the page of the queue that the request's URL names.
func (d *Desk) queue(ctx context.Context) (*queue, error) {
	of, given := d.page.Items, d.R.URL.Query()
	q := &queue{d: d, args: url.Values{}, window: verbs.Window{Limit: queuePage}}
	keep := func(name string, ok bool) string {
		value := strings.TrimSpace(given.Get(name))
		if !ok || value == "" || len(value) > 200 {
			return ""
		}
		q.args.Set(name, value)
		return value
	}
	if said := keep(argSearch, true); said != "" {
		q.window.Where = append(q.window.Where, d.searched(of, said))
	}
	if code := keep(argStatus, d.statuses(of) != nil); code != "" {
		q.window.Where = append(q.window.Where, []verbs.Match{{Field: of.Slots["status"], Codes: []string{code}}})
	}
	if keep(argMine, of.Slots["mine"] != "") != "" {
		q.window.Where = append(q.window.Where, []verbs.Match{{Field: of.Slots["mine"], Codes: []string{d.Principal}}})
	}
	if by := keep(argOrder, slices.Contains(d.orders(of), strings.TrimPrefix(given.Get(argOrder), "-"))); by != "" {
		q.window.Order, q.window.Desc = strings.TrimPrefix(by, "-"), strings.HasPrefix(by, "-")
	}
	q.window.After = keep(argAfter, true)
	var err error
	q.rows, q.more, err = d.listed(ctx, of, q.window)
	return q, err
}

// searched looks for a text in the columns that the reader of a list sees.
func (d *Desk) searched(of *verbs.PageList, said string) (all []verbs.Match) {
	columns := slices.Clone(of.Title)
	for _, slot := range []string{"owner", "note", "mine"} {
		columns = append(columns, of.Slots[slot])
	}
	for _, column := range columns {
		if column == "" {
			continue
		}
		all = append(all, verbs.Match{Field: column, Text: said})
		if list := d.codesOf(of.Verb, column); list != nil {
			codes := []string{}
			for _, c := range list.Codes {
				if strings.Contains(strings.ToLower(d.Tell.Value(stores.NewString(c.Name))), strings.ToLower(said)) {
					codes = append(codes, c.Name)
				}
			}
			all = append(all, verbs.Match{Field: column, Codes: codes})
		}
	}
	return all
}

// codesOf returns the codes of a returned field; nil if it has none.
func (d *Desk) codesOf(v *verbs.Verb, column string) *verbs.CodeList {
	if v.Pickable(column) == nil {
		return nil
	}
	path := v.Read.Fields[slices.IndexFunc(v.Read.Fields, func(f verbs.ReadField) bool { return f.Name == column })].Path
	e := v.Read.Entity
	for _, step := range path.Steps {
		if e = d.Registry.EntityOf(step.To); e == nil {
			return nil
		}
	}
	if path.Count != nil || e.Fields[path.Field].Type == nil {
		return nil
	}
	return e.Fields[path.Field].Type.Codes
}

// statuses lists the codes of a list's status, by which it can be limited; nil if it cannot.
func (d *Desk) statuses(of *verbs.PageList) *verbs.CodeList {
	return d.codesOf(of.Verb, of.Slots["status"])
}

// orders lists the columns by which a list can be ordered.
func (d *Desk) orders(of *verbs.PageList) (all []string) {
	columns := []string{of.Slots["due"], of.Slots["on"], of.Slots["owner"]}
	for _, column := range append(columns, of.Title...) {
		if of.Verb.Pickable(column) != nil && !slices.Contains(all, column) {
			all = append(all, column)
		}
	}
	return all
}

// url returns the URL of a path with the arguments of the queue, and others besides; a value "" leaves
// one out.
func (q *queue) url(path string, with ...string) string {
	args := url.Values{}
	for name := range q.args {
		args.Set(name, q.args.Get(name))
	}
	for i := 0; i < len(with); i += 2 {
		args.Del(with[i])
		if with[i+1] != "" {
			args.Set(with[i], with[i+1])
		}
	}
	if len(args) == 0 {
		return path
	}
	return path + "?" + args.Encode()
}

// list shows the queue. here is the item beside which it stands, "" for the whole page.
func (q *queue) list(ctx context.Context, here string) (pages.Queue, error) {
	d := q.d
	of := d.page.Items
	out := pages.Queue{ID: "items", Title: d.Tell.Text(d.page.Title), Empty: d.Say("pages/staff-none-fits")}
	if len(q.args) == 0 {
		out.Empty = d.Say("pages/none")
		if none := of.Verb.Tells.None.In(d.lang.String()); none != nil {
			out.Empty = none.Say(nothing{})
		}
	}
	switch after := q.window.After; {
	case !q.more && after == "":
		out.Title = d.Say("pages/count", out.Title, strconv.Itoa(len(q.rows)))
	case len(q.rows) > 0:
		out.Pages = &pages.Pager{}
		if after != "" {
			out.Pages.Before = &pages.Link{URL: q.url(d.at(d.page), argAfter, ""), Text: d.Say("pages/staff-first-page")}
		}
		if q.more {
			out.Pages.After = &pages.Link{URL: q.url(d.at(d.page), argAfter, q.rows[len(q.rows)-1].item()), Text: d.Say("pages/staff-next-page", strconv.Itoa(queuePage))}
		}
	}
	var acts [][]pages.Link
	if d.page.Detail == nil && here == "" {
		var err error
		if acts, err = d.actsOf(ctx, q.rows, nil); err != nil {
			return out, err
		}
	}
	for i, r := range q.rows {
		item := pages.Queued{Title: r.title(), Tag: r.tag(), Here: r.item() == here}
		if at := d.itemURL(r.item()); at != "" && r.item() != "" {
			item.URL = q.url(at)
		}
		item.Lines, item.Due = r.summary(here != "")
		if acts != nil {
			item.Acts = acts[i]
		}
		out.Rows = append(out.Rows, item)
	}
	if here == "" && len(q.rows)+len(q.args) > 0 {
		out.Find = q.filters()
	}
	return out, nil
}

// summary returns the lines of a row in a queue; short without what only the whole list has room for.
func (r row) summary(short bool) (lines []string, due string) {
	all := r.lines()
	if owner := r.d.Tell.Value(r.slot("owner")); owner != "" && len(all) > 0 && all[0] == owner {
		lines, all = append(lines, owner), all[1:]
	}
	due = strings.Join(all, ". ")
	if short {
		return lines, due
	}
	for _, f := range r.facts("has", "lacks", "why", "remark", "note", "expected") {
		lines = append(lines, f.Name+": "+strings.ReplaceAll(f.Text, "\n", "; "))
	}
	return lines, due
}

// filters returns the fields that limit and order the queue.
func (q *queue) filters() *pages.Filters {
	d := q.d
	of, at := d.page.Items, d.at(d.page)
	f := &pages.Filters{URL: at, Fields: []pages.Field{{ID: argSearch, Name: argSearch, Kind: "search", Label: d.Say("pages/search"), Value: q.args.Get(argSearch), Max: 200}}}
	if q.args.Get(argMine) != "" {
		f.Hidden = []pages.Hidden{{Name: argMine, Value: "1"}}
	}
	if list := d.statuses(of); list != nil {
		field := pages.Field{ID: argStatus, Name: argStatus, Kind: "select", Label: d.Tell.Label(of.Slots["status"])}
		for _, c := range list.Codes {
			field.Options = append(field.Options, pages.Choice{Value: c.Name, Text: pages.Sentence(d.Tell.Value(stores.NewString(c.Name))), Chosen: c.Name == q.args.Get(argStatus)})
		}
		f.Fields = append(f.Fields, field)
	}
	if orders := d.orders(of); len(orders) > 0 {
		field := pages.Field{ID: argOrder, Name: argOrder, Kind: "select", Label: d.Say("pages/staff-order")}
		for _, column := range orders {
			for _, way := range [...]string{"", "-"} {
				text := d.Tell.Label(column)
				if way != "" {
					text = d.Say("pages/staff-descending", text)
				}
				field.Options = append(field.Options, pages.Choice{Value: way + column, Text: text, Chosen: way+column == q.args.Get(argOrder)})
			}
		}
		f.Fields = append(f.Fields, field)
	}
	if of.Slots["mine"] != "" {
		mine := q.args.Get(argMine) != ""
		f.Links = []pages.Link{{URL: q.url(at, argMine, "", argAfter, ""), Text: d.Say("pages/staff-all"), Here: !mine}, {URL: q.url(at, argMine, "1", argAfter, ""), Text: d.Say("pages/staff-mine"), Here: mine}}
	}
	if q.args.Get(argSearch)+q.args.Get(argStatus)+q.args.Get(argOrder) != "" {
		f.Clear = q.url(at, argSearch, "", argStatus, "", argOrder, "", argAfter, "")
	}
	return f
}

// deskPage shows the home of a page for staff: its queue, and the conversation.
func (d *Desk) deskPage(status int, draft, unsent string) error {
	ctx := d.R.Context()
	p := d.headed(ctx, d.Tell.Text(d.page.Title))
	late, err := d.lateAtDesk(ctx)
	if err != nil {
		return err
	}
	p.Banners = append(p.Banners, late...)
	q, err := d.queue(ctx)
	if err != nil {
		return err
	}
	list, err := q.list(ctx, "")
	if err != nil {
		return err
	}
	p.Main = append(p.Main, list)
	return d.homeOf(ctx, status, p, draft, unsent)
}

// mostLate is how many promises that were not kept stand above a queue.
const mostLate = 3

// lateAtDesk lists the promises whose day has passed, each with the page of its item.
func (d *Desk) lateAtDesk(ctx context.Context) (all []pages.Banner, err error) {
	of := d.page.Promises
	if of == nil {
		return nil, nil
	}
	rows, more, err := d.listed(ctx, of, verbs.Window{Limit: mostLate})
	for _, r := range rows {
		b := pages.Banner{Tone: "warn", Text: d.Say("pages/was-expected", r.title(), values.SayDate(r.slot("due"), d.lang))}
		if at := d.itemURL(r.item()); at != "" && r.item() != "" {
			b.Acts = []pages.Link{{URL: at, Text: d.Say("pages/staff-open-item"), Of: r.title()}}
		}
		all = append(all, b)
	}
	if more {
		all = append(all, pages.Banner{Tone: "warn", Text: d.Say("pages/staff-more-late")})
	}
	return all, err
}

// also lists verbs that are offered besides those of items; nil without any.
func (d *Desk) also() *pages.Prose {
	var links []pages.Link
	for _, verb := range d.page.Also {
		links = append(links, pages.Link{URL: "/do/" + verb.Name, Text: d.Tell.Verb(verb)})
	}
	if links == nil {
		return nil
	}
	return &pages.Prose{ID: "also", Title: d.Say("pages/also"), Links: links}
}
