// Package portal shows the pages of people who have a page in a palette: their tasks, the forms for
// them, and a conversation. It shows what verbs return, and changes things only by verbs. Pages of
// other packages are answered at a Desk too, so that all look alike.
package portal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// visited is the name of each person's session for pages.
const visited = "pages"

// Options are what the portal needs besides a server.
type Options struct {
	Draws Draws  // draws rows; nil for no drawings
	Staff []Link // pages that staff has besides those of the palettes
	// History tells what happened to a row, for its page; nil for nothing.
	History func(d *Desk, entity string, key stores.Value) (pages.Timeline, error)
}

// A Link leads to a page that stands in the navigation of staff.
type Link struct {
	URL  string
	Text values.Key
	For  func(*Desk) bool // says who may go there; nil for all
}

// A Portal shows the pages of people. Make it with New.
type Portal struct {
	Options

	mu      sync.Mutex
	looking map[string]map[string]time.Time // by object, the principals who look at it, with the last time
}

// New makes a portal. Mount its Routes.
func New(o Options) *Portal { return &Portal{Options: o, looking: map[string]map[string]time.Time{}} }

// Routes returns the routes of the pages.
func (p *Portal) Routes() []server.Route {
	const form, file = 64 << 10, 26 << 20
	routes := []server.Route{
		{Pattern: "GET /{$}", Name: "home", Handle: p.Desk((*Desk).home)},
		{Pattern: "GET /p/{page}", Name: "page", Handle: p.Desk((*Desk).home)},
		{Pattern: "GET /p/{page}/item/{item}", Name: "item", Handle: p.Desk((*Desk).item)},
		{Pattern: "POST /p/{page}/item/{item}", Name: "item-opened", Body: form, Handle: p.Desk((*Desk).item)},
		{Pattern: "POST /say", Body: form, Handle: p.Desk((*Desk).said)},
		{Pattern: "POST /say/file", Body: file, Upload: true, Handle: p.Desk((*Desk).sent)},
		{Pattern: "GET /do/{verb}", Name: "form", Handle: p.Desk((*Desk).formPage)},
		{Pattern: "POST /do/{verb}", Name: "done", Body: file, Upload: true, Handle: p.Desk((*Desk).do)},
		{Pattern: "GET /undo/{entry}", Name: "undo", Handle: p.Desk((*Desk).undoPage)},
		{Pattern: "GET /row/{verb}/{item}", Name: "row", Handle: p.Desk((*Desk).rowPage)},
		{Pattern: "GET /row/{verb}/{item}/file", Whole: true, Handle: p.Desk((*Desk).rowFile)},
		{Pattern: "GET /file/{id}", Whole: true, Handle: p.Desk((*Desk).file)},
		{Pattern: "GET /questions/{item}", Name: "question", Handle: p.step((*step).question)},
		{Pattern: "POST /questions/{item}", Name: "answered", Body: form, Handle: p.step((*step).answered)},
		{Pattern: "GET /why", Name: "why", Handle: p.Desk((*Desk).why)},
		{Pattern: "GET /journal/{entry}", Name: "entry", Handle: p.Desk((*Desk).journalEntry)},
		{Pattern: "POST /journal/{entry}", Name: "entry-opened", Body: form, Handle: p.Desk((*Desk).journalEntry)},
	}
	for i := range routes {
		routes[i].Door = server.Page
	}
	return routes
}

// A Desk is the state shared by a person's pages: their session, and their part of the palettes.
type Desk struct {
	*server.Visit
	Tell   dialog.Teller // words rows, values and refusals for the person
	portal *Portal
	lang   values.Language
	all    []*verbs.Page     // the person's pages, the first is their home
	page   *verbs.Page       // the page that is shown; nil if they have none
	names  map[string]string // what people call principals
	lists  map[*verbs.PageList][]row
	next   string // the item that stands above the list
}

// Desk makes a route of a page answer at the caller's desk, with the form of the request read.
func (p *Portal) Desk(answer func(*Desk) error) func(*server.Visit) error {
	return func(v *server.Visit) error {
		d, err := p.desk(v)
		if err == nil && v.R.Method == http.MethodPost && !v.Route.Upload {
			err = v.Form()
		}
		if err != nil {
			return err
		}
		return answer(d)
	}
}

func (p *Portal) desk(v *server.Visit) (*Desk, error) {
	s, err := v.Named(visited)
	if err != nil {
		return nil, err
	}
	s.Turns().Hears(v.Browser().String())
	v.Session = s
	d := &Desk{Visit: v, portal: p, lang: v.Language(), names: map[string]string{}, lists: map[*verbs.PageList][]row{}}
	d.Tell = dialog.NewTeller(v.Registry, s, d.lang)
	for _, p := range v.Registry.Palettes() {
		for _, page := range p.Pages {
			if slices.Contains(s.Roles(), page.Role) {
				d.all = append(d.all, page)
			}
		}
	}
	if len(d.all) > 0 {
		d.page = d.all[0]
	}
	if page := v.R.PathValue("page"); page != "" {
		n, err := strconv.Atoi(page)
		if err != nil || n < 1 || n > len(d.all) {
			return nil, v.NotFound()
		}
		d.page = d.all[n-1]
	}
	return d, nil
}

// at returns the path of a palette's page, by its number.
func (d *Desk) at(page *verbs.Page) string {
	if i := slices.Index(d.all, page); i > 0 {
		return "/p/" + strconv.Itoa(i+1)
	}
	return "/"
}

// Serves reports whether the person is staff.
func (d *Desk) Serves() bool {
	return len(d.all) == 0 || slices.ContainsFunc(d.all, func(p *verbs.Page) bool { return p.Desk })
}

// ListOf leads to the page whose items a verb lists; nil if the person has none.
func (d *Desk) ListOf(verb string) *pages.Link {
	for _, page := range d.all {
		if page.Items.Verb.Name == verb {
			return &pages.Link{URL: d.at(page), Text: d.Tell.Text(page.Title)}
		}
	}
	return nil
}

// Frame returns the part of a page around its blocks, with what the person may go to.
func (d *Desk) Frame(title string) pages.Page {
	here := d.R.URL.Path
	p := d.Visit.Frame(title)
	p.Person, p.SignOut = d.person(), &pages.Act{URL: "/sign-out"}
	if d.page != nil && d.page.About != nil {
		if name, err := d.Session.Names().Active(d.R.Context(), d.page.About.Store.Name); err == nil && name != "" {
			p.Org = d.Tell.Value(stores.NewString("@" + strings.TrimPrefix(name, "@")))
		}
	}
	if d.page != nil && d.page.Person != nil {
		p.Help = "/do/" + d.page.Person.Name
	}
	for _, page := range d.all {
		p.Nav = append(p.Nav, pages.Link{URL: d.at(page), Text: d.Tell.Text(page.Title), Here: here == d.at(page)})
	}
	if len(d.all) == 0 {
		p.Nav = append(p.Nav, pages.Link{URL: "/", Text: d.Say("pages/start"), Here: here == "/"})
	}
	if d.Serves() {
		p.Keys = d.Setting("keys") != "off"
		p.KeysOff = &pages.Act{URL: "/look", Hidden: []pages.Hidden{{Name: "to", Value: d.R.URL.RequestURI()}, {Name: "keys", Value: "off"}}}
		for _, l := range d.portal.Staff {
			if l.For == nil || l.For(d) {
				p.Nav = append(p.Nav, pages.Link{URL: l.URL, Text: d.Say(l.Text), Here: here == l.URL})
			}
		}
	}
	if len(p.Nav) < 2 {
		p.Nav = nil
	}
	return p
}

func (d *Desk) person() string {
	if label := d.Session.Person().Label; label != "" {
		return label
	}
	return d.Principal
}

// read runs a verb that only reads.
func (d *Desk) read(ctx context.Context, verb *verbs.Verb, args ...dsl.Arg) (*receipt.Call, error) {
	return d.readWithin(ctx, nil, verb, args...)
}

// readWithin runs a verb that only reads, within a window.
func (d *Desk) readWithin(ctx context.Context, w *verbs.Window, verb *verbs.Verb, args ...dsl.Arg) (*receipt.Call, error) {
	call := dsl.NewCall(verb.Name, args...)
	program, err := d.program(ctx, dsl.FormatCall(&call), verbs.Literals{})
	if err != nil {
		return nil, err
	}
	r, err := d.Session.Run(ctx, program, engine.RunOptions{Source: "page", Window: w})
	if err != nil {
		return nil, err
	}
	return &r.Calls[0], nil
}

// home shows the tasks and the conversation.
func (d *Desk) home() error {
	return d.homePage(http.StatusOK, "", "")
}

// plainPage is the first page of a person for whom no palette arranges one: their verbs, each with its
// form, beside the conversation.
func (d *Desk) plainPage(status int, draft, unsent string) error {
	ctx := d.R.Context()
	p := d.headed(ctx, d.Say("pages/start"))
	can := pages.Prose{ID: "also", Title: d.Say("pages/can-do")}
	all := d.Session.Verbs()
	for _, verb := range all[:min(len(all), mostVerbs)] {
		can.Links = append(can.Links, pages.Link{URL: "/do/" + verb.Name, Text: d.Tell.Verb(verb)})
	}
	if len(all) > mostVerbs {
		can.Links = append(can.Links, pages.Link{URL: "/verbs", Text: d.Say("pages/reference")})
	}
	if len(all) == 0 {
		can.Lines = []string{d.Say("pages/none")}
	}
	p.Main = append(p.Main, can)
	return d.beside(ctx, status, p, draft, unsent)
}

// headed returns the part of a page around its blocks, with what was done last.
func (d *Desk) headed(ctx context.Context, title string) pages.Page {
	p := d.Frame(title)
	if banner := d.doneBanner(ctx); banner != nil {
		p.Banners = append(p.Banners, *banner)
	}
	return p
}

// beside shows a page with the conversation beside it.
func (d *Desk) beside(ctx context.Context, status int, p pages.Page, draft, unsent string) error {
	talk, err := d.conversation(ctx, draft, unsent)
	if err != nil {
		return err
	}
	p.Aside = append(p.Aside, talk)
	return d.Render(status, p)
}

// homeOf ends the home of a page: what the palette offers besides, and draws, comes last.
func (d *Desk) homeOf(ctx context.Context, status int, p pages.Page, draft, unsent string) error {
	if also := d.also(); also != nil {
		p.Main = append(p.Main, *also)
	}
	drawn, err := d.drawn(ctx)
	if err != nil {
		return err
	}
	p.Main = append(p.Main, drawn...)
	return d.beside(ctx, status, p, draft, unsent)
}

// mostVerbs is how many verbs a page lists that no palette arranges; the reference has the others.
const mostVerbs = 40

func (d *Desk) homePage(status int, draft, unsent string) error {
	switch {
	case d.page == nil:
		return d.plainPage(status, draft, unsent)
	case d.page.Desk:
		return d.deskPage(status, draft, unsent)
	}
	ctx := d.R.Context()
	p := d.headed(ctx, d.Tell.Text(d.page.Title))
	if d.page.About != nil {
		if name, err := d.Session.Names().Active(ctx, d.page.About.Store.Name); err == nil && name == "" {
			var help []pages.Link
			if p.Help != "" {
				help = []pages.Link{{URL: p.Help, Text: d.Say("pages/person"), Tone: "main"}}
			}
			p.Main = []pages.Block{pages.Prose{ID: "empty", Title: d.Say("pages/nothing-visible"), Lines: []string{d.Say("pages/not-linked")}, Links: help}}
			return d.Render(status, p)
		}
	}
	late, err := d.late(ctx)
	if err != nil {
		return err
	}
	p.Banners = append(p.Banners, late...)
	far, err := d.progress(ctx)
	if err != nil {
		return err
	}
	if far != nil {
		p.Main = append(p.Main, *far)
		p.Title = p.Title + ": " + strings.TrimSuffix(far.Bold, ".")
	}
	next, err := d.nextTask(ctx)
	if err != nil {
		return err
	}
	if next != nil {
		p.Main = append(p.Main, *next)
	}
	tasks, err := d.tasks(ctx)
	if err != nil {
		return err
	}
	if len(tasks.Tasks) > 0 || next == nil || tasks.Folded != nil {
		p.Main = append(p.Main, tasks)
	}
	return d.homeOf(ctx, status, p, draft, unsent)
}

// A row is a row of an answer, for a page.
type row struct {
	d    *Desk
	of   *verbs.PageList
	call *receipt.Call
	n    int
}

// mostRows is how many rows of a list a page shows that has no pages.
const mostRows = 100

// rows reads the first rows of a list, once for each page.
func (d *Desk) rows(ctx context.Context, of *verbs.PageList) ([]row, error) {
	if of == nil {
		return nil, nil
	}
	if all, ok := d.lists[of]; ok {
		return all, nil
	}
	all, _, err := d.listed(ctx, of, verbs.Window{Limit: mostRows})
	if err == nil {
		d.lists[of] = all
	}
	return all, err
}

// listed reads the rows of a list within a window, and reports whether there are more.
func (d *Desk) listed(ctx context.Context, of *verbs.PageList, w verbs.Window) (all []row, more bool, err error) {
	limit := w.Limit
	if w.Limit > 0 {
		w.Limit++
	}
	call, err := d.readWithin(ctx, &w, of.Verb)
	if err != nil || call.Result == nil {
		return nil, false, err
	}
	for n := range call.Result.Rows {
		all = append(all, row{d, of, call, n})
	}
	if !of.Verb.Windowed() {
		all = among(all, &w)
	}
	if limit > 0 && len(all) > limit {
		return all[:limit], true, nil
	}
	return all, false, nil
}

// among applies a window to rows that a handler or a query has listed. It keeps their order.
func among(all []row, w *verbs.Window) []row {
	if w.Only != nil {
		all = slices.DeleteFunc(all, func(r row) bool { return !slices.Contains(w.Only, r.item()) })
	}
	for _, one := range w.Where {
		all = slices.DeleteFunc(all, func(r row) bool {
			return !slices.ContainsFunc(one, func(m verbs.Match) bool {
				if m.Codes != nil {
					return slices.Contains(m.Codes, r.value(m.Field).Text())
				}
				return strings.Contains(strings.ToLower(r.text(m.Field)), strings.ToLower(m.Text))
			})
		})
	}
	if i := slices.IndexFunc(all, func(r row) bool { return w.After != "" && r.item() == w.After }); i >= 0 {
		all = all[i+1:]
	}
	return all
}

func (r row) value(column string) (v stores.Value) {
	if j := slices.Index(r.call.Result.Columns, column); column != "" && j >= 0 && !r.call.Result.Withheld(j) {
		v = r.call.Result.Rows[r.n][j]
	}
	return v
}

func (r row) slot(name string) stores.Value { return r.value(r.of.Slots[name]) }

// text returns the text of a column; a list gets a line for each item.
func (r row) text(column string) string {
	v := r.value(column)
	if v.Kind() == stores.JSON {
		if lines := r.list(column, v); lines != "" {
			return lines
		}
	}
	if v.Kind() == stores.Time {
		return r.d.Time(v.Time())
	}
	return r.d.Tell.Value(v)
}

// list writes a list of objects: the first column of each, with the others in brackets.
func (r row) list(column string, v stores.Value) string {
	var names []string // in the order in which the palette has them
	if read := r.of.Verb.Read; read != nil {
		if i := slices.IndexFunc(read.Lists, func(l verbs.ReadList) bool { return l.Name == column }); i >= 0 {
			for _, field := range read.Lists[i].Fields {
				names = append(names, field.Name)
			}
		}
	}
	var items []map[string]any
	d := json.NewDecoder(strings.NewReader(v.Text()))
	d.UseNumber()
	if d.Decode(&items) != nil {
		return ""
	}
	var lines []string
	for _, item := range items {
		of := names
		if of == nil {
			of = slices.Sorted(maps.Keys(item))
		}
		var parts []string
		for _, name := range of {
			text := r.d.Tell.Item(item, name)
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
				text = r.d.Time(at)
			}
			if text != "" && !strings.HasPrefix(text, "upload://") {
				parts = append(parts, text)
			}
		}
		switch {
		case len(parts) == 0:
			continue
		case len(parts) > 1 && names != nil:
			lines = append(lines, parts[0]+" ("+strings.Join(parts[1:], ", ")+")")
		default:
			lines = append(lines, pages.Sentence(strings.Join(parts, ": ")))
		}
	}
	return strings.Join(lines, "\n")
}

// item returns the name of the row, without its @.
func (r row) item() string {
	return strings.TrimPrefix(r.value(r.of.Row).Text(), "@")
}

// title returns the title of the row.
func (r row) title() string {
	var parts []string
	for _, column := range r.of.Title {
		if text := r.text(column); text != "" {
			parts = append(parts, text)
		}
	}
	return pages.Sentence(strings.Join(parts, ": "))
}

// state maps the status to one of verbs.PageStates; "" if the palette does not.
func (r row) state() string {
	if r.of == r.d.page.Done {
		return "done"
	}
	return r.of.States[r.slot("status").Text()]
}

var stateWords = map[string]struct {
	says values.Key
	tone string
}{
	"to-do":      {"pages/to-do", "you"},
	"part":       {"pages/part", "you"},
	"with-us":    {"pages/with-us", "us"},
	"correction": {"pages/correction", "bad"},
	"late":       {"pages/late", "bad"},
	"done":       {"pages/done", "done"},
}

func (r row) tag() pages.Tag {
	state := r.state()
	if due := r.slot("due"); slices.Contains([]string{"to-do", "part", "correction"}, state) && due.Kind() == stores.Date && due.Days() < r.d.today() {
		state = "late" // whatever is done about it
	}
	if s, ok := stateWords[state]; ok {
		return pages.Tag{Text: r.d.Say(s.says), Tone: s.tone}
	}
	if text := r.d.Tell.Value(r.slot("status")); text != "" {
		return pages.Tag{Text: pages.Sentence(text), Tone: "us"}
	}
	return pages.Tag{}
}

// due says when something is due, and how far away that is.
func (d *Desk) due(v stores.Value) string {
	if v.Kind() != stores.Date {
		return ""
	}
	day := values.SayDay(v, d.lang)
	switch left := v.Days() - d.today(); {
	case left < 0:
		return d.Say("pages/was-due", day)
	case left == 0:
		return d.Say("pages/due-today", day)
	case left == 1:
		return d.Say("pages/due-tomorrow", day)
	default:
		return d.Say("pages/due-in", day, strconv.FormatInt(int64(left), 10))
	}
}

// today is the day that it is for the person.
func (d *Desk) today() int64 { return stores.DateOf(d.Clock().In(d.Zone())).Days() }

// Zone returns the person's time zone.
func (d *Desk) Zone() *time.Location {
	if zone, err := time.LoadLocation(d.Session.Person().Zone); err == nil {
		return zone
	}
	return time.UTC
}

// lines returns the lines below the title of a row.
func (r row) lines() (lines []string) {
	d := r.d
	add := func(text string) {
		if text != "" {
			lines = append(lines, text)
		}
	}
	add(d.Tell.Value(r.slot("owner")))
	if s := r.state(); s != "done" && s != "with-us" {
		add(d.due(r.slot("due")))
		if n := r.slot("minutes"); n.Kind() == stores.Int {
			if n.Text() == "1" {
				add(d.Say("pages/one-minute"))
			} else {
				add(d.Say("pages/minutes", n.Text()))
			}
		}
	}
	switch on := r.slot("on"); on.Kind() {
	case stores.Date:
		add(values.SayDate(on, d.lang))
	case stores.Time:
		add(values.SayDate(stores.DateOf(on.Time().In(d.Zone())), d.lang))
	}
	return lines
}

// facts returns columns of a row under labels of our own.
func (r row) facts(names ...string) (all []pages.Fact) {
	d := r.d
	for _, name := range names {
		text := r.text(r.of.Slots[name])
		if name == "expected" {
			if v := r.slot(name); v.Kind() == stores.Date {
				text = values.SayDay(v, d.lang)
			}
		}
		switch name {
		case "accepts", "has", "lacks", "expected": // words of ours; the others are somebody's own
			text = pages.Sentence(text)
		}
		if text != "" {
			all = append(all, pages.Fact{Name: d.Say(factWords[name]), Text: text})
		}
	}
	return all
}

var factWords = map[string]values.Key{"why": "pages/why", "rule": "pages/rule", "accepts": "pages/accepts", "has": "pages/has", "lacks": "pages/lacks", "note": "pages/note", "expected": "pages/expected", "remark": "pages/remark"}

// progress says how much is done.
func (d *Desk) progress(ctx context.Context) (*pages.Progress, error) {
	of := d.page.Progress
	if of == nil {
		return nil, nil
	}
	call, err := d.read(ctx, of.Verb)
	if err != nil || call.Result == nil || len(call.Result.Rows) == 0 {
		return nil, err
	}
	r := row{d, &verbs.PageList{Verb: of.Verb}, call, 0}
	number := func(column string) int {
		n, _ := strconv.Atoi(r.value(column).Text())
		return n
	}
	done, total, ours := number(of.Done), number(of.Total), number(of.Ours)
	if total <= 0 {
		return nil, nil
	}
	p := &pages.Progress{Bold: d.Say("pages/steps", strconv.Itoa(done), strconv.Itoa(total)), Done: done * 1000 / total, Total: 1000}
	if percent := r.value(of.Percent).Text(); percent != "" {
		p.Bold = d.Say("pages/steps-percent", strconv.Itoa(done), strconv.Itoa(total), percent)
	}
	if of.Yours != "" && of.Ours != "" {
		p.Text = d.counted(number(of.Yours), "pages/with-you-none", "pages/with-you-one", "pages/with-you-some") + " " + d.counted(ours, "pages/with-us-none", "pages/with-us-one", "pages/with-us-some")
		// For the sender, what the bank is checking counts as done; it is shown as the last part of
		// it.
		p.Ours = min(ours*1000/total, p.Done)
		p.Done -= p.Ours
	}
	return p, nil
}

func (d *Desk) counted(n int, none, one, some values.Key) string {
	switch n {
	case 0:
		return d.Say(none)
	case 1:
		return d.Say(one)
	}
	return d.Say(some, strconv.Itoa(n))
}

// tasks lists the tasks, each with the forms offered for it.
func (d *Desk) tasks(ctx context.Context) (pages.Tasks, error) {
	rows, err := d.rows(ctx, d.page.Items)
	if err != nil {
		return pages.Tasks{}, err
	}
	t := pages.Tasks{ID: "items", Title: d.listHeading(d.page.Items, "pages/listed", "pages/needed-list", len(rows)), Empty: d.Say("pages/all-here")}
	acts, err := d.actsOf(ctx, rows, nil)
	if err != nil {
		return t, err
	}
	if d.next != "" {
		t.Title = d.listHeading(d.page.Items, "pages/listed", "pages/else-list", len(rows)-1)
	}
	for i, r := range rows {
		if d.next != "" && r.item() == d.next {
			continue
		}
		task := pages.Task{Title: r.title(), Tag: r.tag(), Lines: r.lines(), URL: d.itemURL(r.item())}
		first, more := r.facts("remark", "has", "lacks", "note", "expected"), r.facts("why", "rule", "accepts")
		if i == 0 && d.next == "" {
			task.Facts = append(first, more...)
		} else {
			task.Facts = first
			if len(more) > 0 {
				task.More = &pages.More{Summary: d.Say("pages/why-accepts"), Of: task.Title, Facts: more}
			}
		}
		if task.Acts = acts[i]; len(task.Acts) > 0 {
			task.Acts[0].Tone = "" // there is one next thing to do, and it stands above
		}
		t.Tasks = append(t.Tasks, task)
	}
	done, err := d.rows(ctx, d.page.Done)
	if err != nil || len(done) == 0 {
		return t, err
	}
	corrects, err := d.actsOf(ctx, done, func(a *verbs.PageAct) bool { return len(a.With) > 0 })
	if err != nil {
		return t, err
	}
	fold := &pages.Folded{Summary: d.listHeading(d.page.Done, "pages/done-list", "pages/done-list", len(done))}
	for i, r := range done {
		task := pages.Task{Title: r.title(), URL: d.itemURL(r.item()), Tag: pages.Tag{Text: d.Say("pages/done"), Tone: "done"}, Lines: r.lines(), Acts: corrects[i]}
		fold.Tasks = append(fold.Tasks, task)
	}
	t.Folded = fold
	return t, nil
}

// listHeading returns what stands above a list of n rows: the palette's own heading, or asked where the list
// says what each status means to the reader, who is then asked for something, or else plain.
func (d *Desk) listHeading(of *verbs.PageList, plain, asked values.Key, n int) string {
	switch {
	case of.Head != "":
		return d.Say("pages/headed", d.Tell.Text(of.Head), strconv.Itoa(n))
	case len(of.States) > 0:
		return d.Say(asked, strconv.Itoa(n))
	}
	return d.Say(plain, strconv.Itoa(n))
}

// itemURL is the address of the page of an item; "" if the palette declares no detail for it.
func (d *Desk) itemURL(item string) string {
	if d.page.Detail == nil || item == "" {
		return ""
	}
	n := slices.Index(d.all, d.page) + 1
	return "/p/" + strconv.Itoa(n) + "/item/" + url.PathEscape(item)
}

// acts lists the verbs offered for an item, if the item is in a state for them.
func (d *Desk) acts(ctx context.Context, r row) ([]pages.Link, error) { return d.actsBy(ctx, r, nil) }

// actsBy lists those verbs offered for an item that are of a kind; nil is all.
func (d *Desk) actsBy(ctx context.Context, r row, of func(*verbs.PageAct) bool) ([]pages.Link, error) {
	all, err := d.actsOf(ctx, []row{r}, of)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// actsOf is acts for several rows. The store is asked once for all of them.
func (d *Desk) actsOf(ctx context.Context, rows []row, of func(*verbs.PageAct) bool) ([][]pages.Link, error) {
	var names []string
	for _, r := range rows {
		if item := r.item(); item != "" {
			names = append(names, item)
		}
	}
	var acts []*verbs.PageAct
	for i := range d.page.Acts {
		if act := &d.page.Acts[i]; d.Session.May(act.Verb) && (of == nil || of(act)) {
			acts = append(acts, act)
		}
	}
	usable, err := d.Session.Names().UsableBy(ctx, names, acts...)
	if err != nil {
		return nil, err
	}
	all := make([][]pages.Link, len(rows))
	for i, r := range rows {
		for n, act := range acts {
			if item := r.item(); item != "" && slices.Contains(usable[n], item) && act.OfferedIn(r.state()) {
				if link, ok := d.offer(r, act); ok {
					if s := r.state(); len(all[i]) == 0 && s != "with-us" && s != "done" {
						link.Tone = "main"
					}
					all[i] = append(all[i], link)
				}
			}
		}
	}
	return all, nil
}

// offer returns the link to the form of a verb for an item; ok is false if the verb accepts none of the
// values that follow from the item.
func (d *Desk) offer(r row, act *verbs.PageAct) (link pages.Link, ok bool) {
	if _, ok := d.settles(r, act); !ok {
		return link, false
	}
	item := r.item()
	link = pages.Link{URL: "/do/" + act.Verb.Name + "?" + url.Values{"item": {item}}.Encode(), Text: d.Tell.Text(act.Says), Of: r.title()}
	if act.Says == "" {
		link.Text = d.Tell.Verb(act.Verb)
	}
	if q := d.page.Questions; q != nil && q.Start == act.Verb {
		if len(d.questionsOf(r)) == 0 {
			return link, false
		}
		link.URL = "/questions/" + url.PathEscape(item)
	}
	return link, true
}

// settles returns the arguments whose values follow from the item; ok is false if the verb accepts
// none of those values.
func (d *Desk) settles(r row, act *verbs.PageAct) (of map[int][]string, ok bool) {
	of = map[int][]string{}
	for _, w := range act.With {
		v, t := r.value(w.Column), act.Verb.Params[w.Param].Type
		var given []string
		if v.Kind() == stores.JSON {
			given = codesIn(v.Text())
		} else if !v.IsNull() {
			given = []string{v.Text()}
		}
		if t.Codes != nil {
			given = slices.DeleteFunc(given, func(code string) bool { return !t.Codes.Has(code) })
		}
		if len(given) == 0 && !(act.All && v.IsNull()) {
			return nil, false
		}
		of[w.Param] = given
	}
	return of, true
}

// codesIn returns the members of a list, or the values of its objects, each once.
func codesIn(text string) (all []string) {
	if json.Unmarshal([]byte(text), &all) == nil {
		return all
	}
	var items []map[string]string
	_ = json.Unmarshal([]byte(text), &items)
	all = nil
	for _, item := range items {
		for _, code := range item {
			if !slices.Contains(all, code) {
				all = append(all, code)
			}
		}
	}
	return all
}

// find returns the row of an item, by its name: of those that are to be done, or are done.
func (d *Desk) find(ctx context.Context, item string) (row, bool, error) {
	for _, of := range [...]*verbs.PageList{d.page.Items, d.page.Done} {
		if of == nil || of.Row == "" || item == "" {
			continue
		}
		all, known := d.lists[of]
		i := slices.IndexFunc(all, func(r row) bool { return r.item() == item })
		if i < 0 && !(known && len(all) < mostRows) {
			var err error
			if all, _, err = d.listed(ctx, of, verbs.Window{Field: of.Row, Only: []string{item}}); err != nil {
				return row{}, false, err
			}
			i = min(len(all), 1) - 1
		}
		if i >= 0 {
			return all[i], true, nil
		}
	}
	return row{}, false, nil
}

// late lists promises whose day has passed.
func (d *Desk) late(ctx context.Context) (all []pages.Banner, err error) {
	of := d.page.Promises
	rows, err := d.rows(ctx, of)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if of.Slots["status"] != "" && r.state() != "late" {
			continue
		}
		b := pages.Banner{Tone: "warn", Text: d.Say("pages/was-expected", r.title(), values.SayDate(r.slot("due"), d.lang))}
		if found, ok, err := d.find(ctx, r.item()); err != nil {
			return nil, err
		} else if ok {
			if b.Acts, err = d.acts(ctx, found); err != nil {
				return nil, err
			}
		}
		all = append(all, b)
	}
	return all, nil
}

// item shows all of one item.
func (d *Desk) item() error {
	ctx := d.R.Context()
	name := d.R.PathValue("item")
	if d.page == nil || d.page.Detail == nil {
		return d.NotFound()
	}
	call, err := d.about(ctx, d.page.Detail, name)
	if _, ok := errors.AsType[*engine.Refusal](err); ok {
		return d.NotFound()
	}
	if err != nil {
		return err
	}
	r, listed, err := d.find(ctx, name)
	if err != nil {
		return err
	}
	if d.page.Desk && call != nil && call.Result != nil {
		return d.review(name, call, r, listed)
	}
	title := d.Tell.Value(stores.NewString("@" + name))
	if listed {
		title = r.title()
	}
	p := d.Frame(pages.Sentence(title))
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.Tell.Text(d.page.Title)}
	block := pages.Prose{ID: "detail", Facts: d.details(call)}
	if listed {
		block.Lines = r.lines()
		if block.Links, err = d.acts(ctx, r); err != nil {
			return err
		}
	}
	p.Main = []pages.Block{block}
	if listed {
		gave, ok, err := d.given(ctx, r)
		if err != nil {
			return err
		}
		if ok {
			p.Main = append(p.Main, d.givenAnswers(gave, d.R.PostForm.Get("show")))
		}
	}
	if call != nil && call.Result != nil {
		drawn, err := d.drawings(ctx, call.Result.Entity, call.Result.Keys)
		if err != nil {
			return err
		}
		if len(drawn) > 0 {
			p.Wide = true
			p.Main = append(p.Main, drawn...)
		}
	}
	return d.Render(http.StatusOK, p)
}

// about runs a verb that reads an item, by the item's name.
func (d *Desk) about(ctx context.Context, verb *verbs.Verb, item string) (*receipt.Call, error) {
	i := slices.IndexFunc(verb.Params, func(p verbs.Param) bool { return p.Type.Name == verbs.RefType && p.Required })
	symbol := dsl.NewSymbol(item)
	if i < 0 || symbol.Kind == dsl.Invalid {
		return nil, d.NotFound()
	}
	return d.read(ctx, verb, dsl.NewArg(verb.Params[i].Name, symbol))
}

// opened returns the values of an item that are otherwise masked. The person asked for them, and
// the engine journals that.
func (d *Desk) opened(ctx context.Context, item string) (all []pages.Fact, err error) {
	call, err := d.about(ctx, d.page.Opens, item)
	if err != nil || call.Result == nil {
		return nil, err
	}
	for _, values := range call.Result.Rows {
		for _, v := range values {
			var of map[string]any
			if json.Unmarshal([]byte(v.Text()), &of) != nil {
				all = append(all, pages.Fact{Name: d.Tell.Label(call.Result.Columns[0]), Text: v.Text()})
			}
			for _, name := range slices.Sorted(maps.Keys(of)) {
				all = append(all, pages.Fact{Key: name, Name: d.Tell.Label(name), Text: d.Tell.Item(of, name)})
			}
		}
	}
	return all, nil
}

// details returns all fields of one row of an answer.
func (d *Desk) details(call *receipt.Call) (all []pages.Fact) {
	if call.Result == nil || len(call.Result.Rows) == 0 {
		return nil
	}
	of := &verbs.PageList{Verb: d.Registry.Verb(call.Verb)}
	r := row{d, of, call, 0}
	columns := of.Verb.Returns.Includes
	if len(columns) == 0 {
		columns = call.Result.Columns
	}
	for _, column := range columns {
		v := r.value(column)
		if strings.HasPrefix(v.Text(), "@") && v.Kind() == stores.String || strings.HasPrefix(v.Text(), "upload://") {
			continue
		}
		if text := r.text(column); text != "" && text != "[]" {
			all = append(all, pages.Fact{Name: d.heading(of.Verb, column), Text: pages.Sentence(text)})
		}
	}
	return all
}

// heading returns what people call a returned field: what the palette writes before it, or before the
// same field of a row in another answer, or else its name.
func (d *Desk) heading(v *verbs.Verb, column string) string {
	// stored returns the field of the row itself that a column has, -1 if it has none.
	stored := func(f *verbs.ReadField) int {
		if f.From != verbs.FromPath || f.Path.Count != nil || len(f.Path.Steps) > 0 {
			return -1
		}
		return f.Path.Field
	}
	field := -1
	if v.Read != nil {
		if i := slices.IndexFunc(v.Read.Fields, func(f verbs.ReadField) bool { return f.Name == column }); i >= 0 {
			field = stored(&v.Read.Fields[i])
		}
	}
	said := func(v *verbs.Verb, column string) string {
		if each := v.Tells.Each.In(d.lang.String()); each != nil {
			return pages.Sentence(each.Heading(column))
		}
		return ""
	}
	if name := said(v, column); name != "" {
		return name
	}
	for _, other := range d.Registry.Verbs() {
		if field < 0 || other.Read == nil || other.Read.Entity != v.Read.Entity {
			continue
		}
		for i := range other.Read.Fields {
			if f := &other.Read.Fields[i]; stored(f) == field {
				if name := said(other, f.Name); name != "" {
					return name
				}
			}
		}
	}
	return d.Tell.Label(column)
}

// The conversation.

// ids matches what a terminal shows and a page does not: ids of previews, and references of files
// that have a name.
var ids = regexp.MustCompile(` ?\((?:[0-9a-f]{4}-?){2}[^)]*\)| ?: upload://\w+`)

// terms matches until when a question can be answered, in any language: of one that is open, its card says
// it, and for others it does not hold any more.
var terms = sync.OnceValue(func() *regexp.Regexp {
	var all []string
	for _, l := range values.Languages() {
		for _, key := range [...]values.Key{"dialog/shall-i", "dialog/answer-how"} {
			if _, term, ok := strings.Cut(key.Text(l), "("); ok {
				all = append(all, strings.ReplaceAll(regexp.QuoteMeta(" ("+term), `\{\}`, `[^()]*`))
			}
		}
	}
	return regexp.MustCompile(strings.Join(all, "|"))
})

// shown is a text of the conversation as pages show it.
func shown(text string) string { return terms().ReplaceAllString(ids.ReplaceAllString(text, ""), "") }

// mostTurns is how many turns a page shows.
const mostTurns = 40

// conversation shows the turns, and the forms to go on. draft is a message that was not accepted,
// and unsent the reason why a file was not.
func (d *Desk) conversation(ctx context.Context, draft, unsent string) (pages.Talk, error) {
	t := pages.Talk{URL: "/say", Draft: draft}
	if d.Talk == nil {
		t.Off = d.Say("pages/no-chat")
		return t, nil
	}
	info, err := d.Session.Turns().Info(ctx)
	if err != nil {
		return t, err
	}
	turns, err := d.Session.Turns().Between(ctx, max(1, info.Turns-mostTurns), info.Turns)
	if err != nil {
		return t, err
	}
	var did *sessions.Turn // the turn that the next message answers, if it did something
	for i := range turns {
		if turn := &turns[i]; !turn.Erased && turn.Intent != sessions.WhyIntent && turn.Content != "" {
			m := pages.Message{Number: strconv.FormatInt(turn.Number, 10), Who: d.Say("pages/assistant"), Lines: strings.Split(strings.TrimSpace(shown(turn.Content)), "\n")}
			switch turn.Role {
			case sessions.Client:
				m.Who, m.Mine, t.Last, did = d.Say("pages/you"), true, strings.TrimSpace(turn.Content), turn
			case sessions.System:
				m.Who = d.Say("pages/happened")
			case sessions.Agent:
				if did != nil && did.Entries > 0 {
					if m.Acts, err = d.acted(ctx, did.Action, did.Names, did.First); err != nil {
						return t, err
					}
				}
				did = nil
			}
			m.Sources = d.sources(turn)
			t.Messages = append(t.Messages, m)
		}
	}
	if len(t.Messages) > 0 {
		t.Acts = []pages.Link{{URL: "/why", Text: d.Say("pages/how-it-came")}}
	} else {
		t.Messages = []pages.Message{{Who: d.Say("pages/assistant"), Lines: []string{d.Say("pages/hello", d.person())}}}
	}
	t.Hidden = []pages.Hidden{{Name: "page", Value: strconv.Itoa(slices.Index(d.all, d.page) + 1)}, {Name: "key", Value: logins.Secret()}}
	t.File = d.takesFile(unsent)
	c, err := d.Converse(d.Session)
	if err != nil {
		return t, err
	}
	open := c.Open()
	for i := len(open) - 1; i >= 0; i-- { // the last one stands, and the others were put off
		q := open[i]
		card := pages.Card{ID: "asked" + strings.Repeat("-"+strconv.Itoa(i), min(1, len(open)-1-i)), Title: d.Say("pages/shall-i"), URL: "/say", Hidden: append(t.Hidden, pages.Hidden{Name: "asked", Value: q.ID}),
			Facts:   []pages.Fact{{Name: d.Say("pages/why"), Text: pages.Sentence(q.Because)}, {Name: d.Say("pages/good-until"), Text: d.Time(q.Until)}},
			Buttons: []pages.Button{{Name: "said", Value: d.Say("dialog/yes"), Text: pages.Sentence(d.Say("dialog/yes"))}, {Name: "said", Value: d.Say("dialog/no"), Text: pages.Sentence(d.Say("dialog/no"))}}}
		asks, shows := c.Asked(q)
		card.Lines = strings.Split(strings.TrimSpace(cmp.Or(asks, shows)), "\n")
		t.Messages = unasked(t.Messages, c.Question(q))
		if q.Because == "" {
			card.Facts = card.Facts[1:]
		}
		t.Cards = append(t.Cards, card)
	}
	if len(open) == 0 {
		for _, says := range c.Offered() {
			t.Replies = append(t.Replies, pages.Button{Value: says, Text: pages.Sentence(says)})
		}
	}
	return t, nil
}

// unasked removes a question from the last message that puts it, since a card asks it.
func unasked(all []pages.Message, question string) []pages.Message {
	question = strings.TrimSpace(shown(question))
	for i := len(all) - 1; i >= 0; i-- {
		text := strings.Join(all[i].Lines, "\n")
		if before, after, ok := strings.Cut(text, question); ok && !all[i].Mine {
			all[i].Lines = strings.Split(strings.TrimSpace(before+after), "\n")
			if strings.TrimSpace(before+after) == "" {
				return slices.Delete(all, i, i+1)
			}
			break
		}
	}
	return all
}

// Time formats an instant in the person's time zone.
func (d *Desk) Time(at time.Time) string {
	zone := d.Zone()
	return values.SayDate(stores.DateOf(at.In(zone)), d.lang) + ", " + values.SayTime(at, zone)
}

// said takes a message, as `verbatim chat` does.
func (d *Desk) said() error { return d.says(d.R.PostForm, d.R.PostForm.Get("said")) }

// says takes a message of a form. The form has a key, so a message that is sent twice counts once.
func (d *Desk) says(form url.Values, text string) error {
	d.onPage(form)
	// A button answers the question above it, and no later question.
	m := dialog.Message{Text: strings.TrimSpace(text), Answers: form.Get("asked")}
	if key := form.Get("key"); key != "" {
		m.ID = "page " + logins.Digest(key+" "+m.Text) // an edited text is another message
	}
	if m.Text == "" || d.Talk == nil {
		return d.See(d.at(d.page))
	}
	ctx := d.R.Context()
	c, err := d.Converse(d.Session)
	if err != nil {
		return err
	}
	here := d.at(d.page)
	if d.WantsEvents() {
		s := d.Stream()
		_, err := c.Follow(ctx, m, func(e dialog.Event) {
			if told := strings.TrimSpace(shown(e.Text)); told != "" {
				s.Send("", map[string]any{"text": told})
			}
		})
		if err != nil {
			here = "failed"
			if !errors.Is(err, context.Canceled) { // they stopped it
				d.LogError("said", err)
			}
		}
		return s.End(map[string]any{"to": here})
	}
	if _, err := c.Say(ctx, m); err != nil {
		if errors.Is(err, context.Canceled) {
			return err
		}
		d.LogError("said", err)
		return d.homePage(http.StatusServiceUnavailable, m.Text, "")
	}
	return d.See(here + "#talk")
}

// onPage continues on the page that the form stood on.
func (d *Desk) onPage(form url.Values) {
	if n, err := strconv.Atoi(form.Get("page")); err == nil && n >= 1 && n <= len(d.all) {
		d.page = d.all[n-1]
	}
}

// takesFile returns the field for a file; nil if no file can be sent.
func (d *Desk) takesFile(unsent string) *pages.Field {
	if !d.TakesFiles() {
		return nil
	}
	all := verbs.Upload{MaxSize: d.Session.Uploads().Largest()}
	for _, verb := range d.Session.Verbs() {
		for i := range verb.Params {
			if u := verb.Params[i].Upload; u != nil {
				all.Types = append(all.Types, u.Types...)
			}
		}
	}
	if slices.Sort(all.Types); all.MaxSize == 0 {
		return nil
	}
	all.Types = slices.Compact(all.Types)
	return &pages.Field{ID: "file", Name: "file", Kind: "file", Label: d.Say("pages/add-file"), Accept: accept(&all), Most: all.MaxSize, Hint: fileHint(d.lang, &all), Wrong: unsent}
}

// sent uploads a file and names it in the conversation, as the person would.
func (d *Desk) sent() error {
	form, unsent, err := d.multipart(func(name string) bool { return name == "file" })
	if err != nil {
		return err
	}
	ref := form.Get("file")
	if unsent == "" && ref == "" {
		unsent = d.Say("pages/no-file")
	}
	d.onPage(form)
	if unsent != "" {
		return d.homePage(http.StatusUnprocessableEntity, "", unsent)
	}
	u, err := d.Session.Uploads().Get(d.R.Context(), ref)
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return server.ErrNoUpload
	case err != nil:
		return err
	case u.Verdict == uploads.Infected:
		return d.homePage(http.StatusUnprocessableEntity, "", pages.Sentence(d.Say("chat/harmful"))+". "+pages.Sentence(d.Say("chat/harmful-next")))
	}
	return d.says(form, d.Say("chat/here-is", u.Name, ref))
}

// Keeps reports whether a role of the person keeps the journal.
func (d *Desk) Keeps() bool {
	return slices.ContainsFunc(d.Session.Roles(), func(r *verbs.Role) bool { return r.Keeps })
}

// Who returns the label of a principal.
func (d *Desk) Who(name string) string {
	if d.names[name] == "" {
		d.names[name] = isolated(d.Engine.Label(d.R.Context(), name))
	}
	return d.names[name]
}

// isolated sets a name that is written from right to left apart from what stands beside it.
func isolated(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool {
		return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
	}) {
		return string(firstIsolate) + name + string(popIsolate)
	}
	return name
}

// The marks around such a name.
const firstIsolate, popIsolate = '\u2068', '\u2069'

// Bare returns a name without these marks, for files.
func Bare(name string) string { return strings.Trim(name, string(firstIsolate)+string(popIsolate)) }

// lookTime is how long a person counts as looking at a page that they opened.
const lookTime = 5 * time.Minute

// Present adds to a card who else is looking at it, among those who came to this process.
func (d *Desk) Present(at string, card pages.Card) pages.Card {
	for _, name := range d.portal.look(at, d.Principal, d.Clock()) {
		card.Notes = append(card.Notes, pages.Banner{Text: d.Say("pages/also-looking", d.Who(name))})
	}
	return card
}

// look records that a principal looks at something, and lists the others who do.
func (p *Portal) look(at, principal string, now time.Time) (others []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for what, of := range p.looking {
		maps.DeleteFunc(of, func(_ string, last time.Time) bool { return now.Sub(last) > lookTime })
		if len(of) == 0 {
			delete(p.looking, what)
		}
	}
	for name := range p.looking[at] {
		if name != principal {
			others = append(others, name)
		}
	}
	if p.looking[at] == nil {
		p.looking[at] = map[string]time.Time{}
	}
	p.looking[at][principal] = now
	slices.Sort(others)
	return others
}
