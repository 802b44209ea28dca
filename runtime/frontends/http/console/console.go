// Package console shows the pages of staff: what waits for agreement, the journal, and the reference.
// They change rows by verbs, with the portal's forms.
package console

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/portal"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
)

// Links lead to the pages of the console.
func Links() []portal.Link {
	return []portal.Link{
		{URL: "/waiting", Text: "pages/waiting"},
		{URL: "/open", Text: "pages/open"},
		{URL: "/journal", Text: "pages/journal", For: (*portal.Desk).Keeps},
		{URL: "/health", Text: "pages/staff-health", For: Operates},
		{URL: "/people", Text: "pages/people", For: seesPeople},
		{URL: "/turns", Text: "pages/turns", For: func(d *portal.Desk) bool { return d.Session.Journal().SeesTurns() }},
		{URL: "/verbs", Text: "pages/reference"},
	}
}

// Routes returns the routes of the console, whose pages look as those of a portal do.
func Routes(p *portal.Portal) []server.Route {
	route := func(pattern, name string, body int64, answer func(*desk) error) server.Route {
		return server.Route{Pattern: pattern, Name: name, Door: server.Page, Body: body, Handle: p.Desk(func(d *portal.Desk) error { return answer(&desk{d}) })}
	}
	return []server.Route{
		route("GET /waiting", "queue", 0, (*desk).queue),
		route("GET /waiting/{id}", "decision", 0, (*desk).decision),
		route("POST /waiting", "decided-together", 64<<10, (*desk).decideTogether),
		route("POST /waiting/{id}", "decided", 64<<10, (*desk).decide),
		route("GET /open", "open", 0, (*desk).openPage),
		route("POST /open/{entry}", "settled", 4<<10, (*desk).settle),
		route("GET /journal", "journal", 0, (*desk).historyPage),
		route("GET /journal.csv", "", 0, (*desk).historyFile),
		route("GET /health", "health", 0, (*desk).healthPage),
		route("POST /health/jobs", "jobs-tended", 64<<10, (*desk).tendJobs),
		route("GET /people", "people", 0, (*desk).peoplePage),
		route("GET /turns", "turns", 0, (*desk).turnsPage),
		route("GET /turns/{session}/{turn}", "turn", 0, (*desk).turnPage),
		route("POST /turns/{session}/{turn}", "turn-shown", 4<<10, (*desk).turnShown),
		route("GET /verbs", "reference", 0, (*desk).referencePage),
		route("GET /verbs/{verb}", "verb", 0, (*desk).verbPage),
		route("GET /palettes", "palettes", 0, (*desk).comparePage),
		route("POST /palettes", "palettes-compared", 2<<20, (*desk).comparePage),
	}
}

// A desk is where staff works.
type desk struct{ *portal.Desk }

// calls describes the calls of a confirmation.
func (d *desk) calls(c *engine.Pending) string {
	if len(c.Calls) == 0 {
		return d.Say("pages/other-palettes")
	}
	name, _, _ := strings.Cut(c.Calls[0], " ")
	title := name
	if v := d.Registry.Verb(name); v != nil {
		title = d.Tell.Verb(v)
	}
	if n := len(c.Calls) - 1; n > 0 {
		title += d.Say("pages/and-more", strconv.Itoa(n))
	}
	return title
}

// missing lists the roles that have not agreed yet.
func (d *desk) missing(c *engine.Pending) string {
	var roles []string
	for _, r := range c.Roles {
		if r.By == "" {
			roles = append(roles, cmp.Or(d.Tell.Text(r.Role), d.Who(c.Asker)))
		}
	}
	return strings.Join(roles, ", ")
}

// ago says how long ago something was.
func (d *desk) ago(at time.Time) string {
	switch past := d.Clock().Sub(at); {
	case past < 2*time.Minute:
		return d.Say("pages/just-now")
	case past < 2*time.Hour:
		return d.Say("pages/minutes-ago", strconv.Itoa(int(past/time.Minute)))
	case past < 48*time.Hour:
		return d.Say("pages/hours-ago", strconv.Itoa(int(past/time.Hour)))
	default:
		return d.Say("pages/days-ago", strconv.Itoa(int(past/(24*time.Hour))))
	}
}

// decision shows one confirmation: the whole call, its effects as of now, and the reason for
// asking.
func (d *desk) decision() error {
	return d.decisionPage(http.StatusOK, "", "", d.R.PathValue("id"))
}

// mostTogether is how many confirmations one page shows.
const mostTogether = 20

// decisionPage shows confirmations, each with its own buttons. said is the asker's original
// message, if the reader has asked to see it.
func (d *desk) decisionPage(status int, wrong, said string, ids ...string) error {
	p := d.Frame(d.Say("pages/decide"))
	p.Wrong, p.Wide = wrong != "", true
	mine := 0
	p.Back = &pages.Link{URL: "/waiting", Text: d.Say("pages/waiting")}
	for i, id := range ids {
		c, err := d.Session.Show(d.R.Context(), id)
		if err != nil {
			return err
		}
		card, err := d.decisionCard(c, wrong, said, strings.Repeat("-"+strconv.Itoa(i), min(i, 1)))
		if err != nil {
			return err
		}
		if p.Title = card.Title; len(ids) > 1 {
			p.Title, card.Title = p.Head, d.Say("pages/count", card.Title, strconv.Itoa(i+1))
		}
		p.Main = append(p.Main, card)
		if c.Mine && !c.Stale {
			mine++
		}
	}
	if len(ids) > 1 && mine == len(ids) {
		p.Main = append([]pages.Block{d.together(ids)}, p.Main...)
	}
	return d.Render(status, p)
}

// decisionCard returns the card of one confirmation; nth makes its ids unique on the page.
func (d *desk) decisionCard(c *engine.Pending, wrong, said, nth string) (pages.Card, error) {
	about, err := d.about(c)
	if err != nil {
		return pages.Card{}, err
	}
	card := pages.Card{ID: "decision" + nth, Title: about.title(d.calls(c)), Aside: d.Say("pages/asked-by", d.Who(c.Asker), d.ago(c.Asked)), Calls: c.Calls}
	fact := func(key values.Key, text string) { card.Facts = append(card.Facts, d.Facts(string(key), text)...) }
	if c.Preview != nil {
		card.Rows = d.Diffs(c.Preview, "pages/asker-said")
		if text := d.Tell.Earlier(c.Preview, d.Zone()); text != "" {
			card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: text})
		}
		for _, ask := range c.Preview.Asks() {
			fact("pages/why-asked", pages.Sentence(d.Tell.Text(ask.Reason))+" ("+path.Base(ask.Rule.String())+")")
		}
	}
	if c.Said {
		fact("pages/in-words", cmp.Or(said, portal.Masked))
	}
	for _, r := range c.Roles {
		if r.By != "" {
			fact("pages/agreed-already", d.Who(r.By))
		}
	}
	fact("pages/source", c.Source)
	switch {
	case c.Status != confirmations.Waiting:
		card.Notes = append(card.Notes, pages.Banner{Text: d.ended(c)})
	case c.Stale:
		why := d.Say("pages/stale")
		if c.Outdated() {
			why = d.Say("pages/ask-again", d.Who(c.Asker))
		}
		card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: strings.Join(append([]string{why}, c.Moved...), "\n")})
		// Nobody can agree to it any more, and it need not stay in the list.
		if c.Mine {
			card.URL, card.Buttons = "/waiting/"+c.ID, []pages.Button{{Name: "decide", Value: "decline", Text: d.Say("pages/decline")}}
		} else if c.Asker == d.Principal {
			card.URL, card.Buttons = "/waiting/"+c.ID, []pages.Button{{Name: "decide", Value: "withdraw", Text: d.Say("pages/staff-withdraw")}}
		}
	case !c.Mine:
		fact("pages/good-until", d.Time(c.Expires))
		card.Notes = append(card.Notes, pages.Banner{Text: d.Say("pages/waits-for", d.missing(c))})
		if c.Asker == d.Principal {
			card.URL, card.Buttons = "/waiting/"+c.ID, []pages.Button{{Name: "decide", Value: "withdraw", Text: d.Say("pages/staff-withdraw")}}
		}
	default:
		fact("pages/good-until", d.Time(c.Expires)+". "+d.Say("pages/while-same"))
		card.URL = "/waiting/" + c.ID
		// Enter begins a new line in this field; it must not agree.
		card.Fields = []pages.Field{{ID: "reason" + nth, Name: "reason", Kind: "area", Label: d.Say("pages/why-not"), Value: d.R.PostForm.Get("reason"), Optional: true, Max: 500}}
		card.Buttons = []pages.Button{{Name: "decide", Value: "agree", Text: d.Say("pages/agree")}, {Name: "decide", Value: "decline", Text: d.Say("pages/decline")}}
		if c.Said && said == "" {
			card.Buttons = append(card.Buttons, pages.Button{Name: "decide", Value: "show", Text: d.Say("pages/show-words")})
		}
	}
	if wrong != "" {
		card.Notes = append(card.Notes, pages.Banner{Tone: "bad", Text: wrong})
	}
	return d.Present("waiting "+c.ID, card), nil
}

// settledWords say how a confirmation ended.
var settledWords = map[string]values.Key{confirmations.Used: "pages/settled-used", confirmations.Declined: "pages/settled-declined", confirmations.Expired: "pages/settled-expired", confirmations.Stale: "pages/settled-stale"}

// decide agrees or declines.
func (d *desk) decide() error {
	ctx := d.R.Context()
	id := d.R.PathValue("id")
	var told string
	var entry int64
	switch d.R.PostForm.Get("decide") {
	case "agree":
		c, r, err := d.Session.Agree(ctx, id)
		var refusal *engine.Refusal
		switch {
		case errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "sign-in-again":
			return d.See(server.SignInAt(d.R.URL.Path))
		case errors.As(err, &refusal):
			return d.decisionPage(http.StatusConflict, d.Refused(refusal.Diagnostics), "", id)
		case err != nil:
			return err
		}
		if told = d.Say("pages/agreed-waits", d.missing(c)); r != nil {
			told, entry = d.Say("pages/agreed")+"\n"+d.Tell.Done(r), r.First
		}
	case "decline":
		if err := d.Session.Decline(ctx, id, strings.TrimSpace(d.R.PostForm.Get("reason"))); err != nil {
			return err
		}
		told = d.Say("pages/declined")
	case "withdraw":
		if err := d.Session.Withdraw(ctx, id); err != nil {
			return err
		}
		told = d.Say("pages/staff-withdrawn")
	case "show":
		said, err := d.Session.Words(ctx, id)
		if err != nil {
			return err
		}
		return d.decisionPage(http.StatusOK, "", said, id)
	default:
		return server.BadBody("nothing was decided", "press one of the two buttons")
	}
	p := d.Frame(d.Say("pages/decided"))
	links := []pages.Link{{URL: "/waiting", Text: d.Say("pages/waiting"), Tone: "main"}}
	if entry > 0 && d.Keeps() {
		links = append(links, pages.Link{URL: "/journal/" + strconv.FormatInt(entry, 10), Text: d.Say("pages/came-about")})
	}
	p.Main = []pages.Block{pages.Prose{ID: "told", Told: true, Title: d.Say("pages/decided"), Lines: strings.Split(strings.TrimSpace(told), "\n"), Links: links}}
	return d.Render(http.StatusOK, p)
}

// The plots.

// plotDays is how many days a plot shows, and how many verbs.
const plotDays = 14

// plots draws the outcomes of calls by day, and of confirmations by verb. It counts only entries
// whose chain was verified.
func (d *desk) plots(ctx context.Context, size int64) ([]pages.Block, error) {
	first := d.Clock().In(d.Zone()).AddDate(0, 0, 1-plotDays)
	days, agreed := make([][2]int, plotDays), map[string][2]int{}
	for e, err := range journal.Entries(ctx, d.Store, max(1, size-longestChain), 0) {
		if err != nil {
			return nil, err
		}
		at, no := int(stores.DateOf(e.Time.In(d.Zone())).Days()-stores.DateOf(first).Days()), 1
		if e.Outcome == "ok" {
			no = 0
		}
		if at >= 0 && at < plotDays {
			days[at][no]++
		}
		if of := agreed[e.Verb]; no == 0 && e.Agreed != "" || e.Outcome == "declined" || e.Outcome == "expired" {
			of[no]++
			agreed[e.Verb] = of
		}
	}
	var names []string
	for i := range plotDays {
		names = append(names, values.SayDate(stores.DateOf(first.AddDate(0, 0, i)), d.Language()))
	}
	all := []pages.Block{d.plot("per-day", "pages/per-day", "pages/per-day-says", names, days, "pages/day", "pages/done", "pages/refused")}
	var counts [][2]int
	verbs := slices.Sorted(maps.Keys(agreed))
	for _, verb := range verbs[:min(len(verbs), plotDays)] {
		counts = append(counts, agreed[verb])
	}
	if len(counts) > 0 {
		all = append(all, d.plot("per-verb", "pages/per-verb", "pages/per-verb-says", verbs, counts, "pages/verb", "pages/accepted", "pages/left"))
	}
	return all, nil
}

// latency draws how long programs took in this process since it began. The store does not keep that.
func (d *desk) latency() (all []pages.Block) {
	if d.Meter == nil {
		return nil
	}
	bounds, counts := d.Meter.Programs()
	names, done := make([]string, len(counts)), 0
	for i := range counts {
		done += counts[i][0]
		if names[i] = d.Say("pages/longer"); i < len(bounds) {
			names[i] = time.Duration(bounds[i] * float64(time.Second)).String()
		}
	}
	if done == 0 {
		return nil
	}
	// within returns the bound below which a percentage of the programs stayed.
	within := func(percent int) string {
		below := 0
		for i := range counts {
			if below += counts[i][0]; below*100 >= done*percent {
				return names[i]
			}
		}
		return ""
	}
	plot := d.plot("latency", "pages/latency", "pages/latency-says", names, counts, "pages/at-most", "pages/done", "pages/refused")
	plot.Says = d.Say("pages/latency-says", strconv.Itoa(done), within(50), within(95))
	return append(all, plot)
}

// plot draws pairs of counts, one above the other, with the table that they are of.
func (d *desk) plot(id string, title, says values.Key, names []string, counts [][2]int, head ...values.Key) pages.Plot {
	plot, sum := pages.Plot{ID: id, Title: d.Say(title)}, [2]int{}
	for _, key := range head {
		plot.Head = append(plot.Head, d.Say(key))
	}
	plot.Series = []pages.Series{{Tone: "a", Text: plot.Head[1]}, {Tone: "c", Text: plot.Head[2]}}
	for i, n := range counts {
		name := strings.TrimPrefix(names[i], "verbatim.")
		sum[0], sum[1] = sum[0]+n[0], sum[1]+n[1]
		plot.Rows = append(plot.Rows, []string{name, strconv.Itoa(n[0]), strconv.Itoa(n[1])})
		plot.Columns = append(plot.Columns, pages.Column{Text: name, Values: []float64{float64(n[0]), float64(n[1])}})
	}
	plot.Says = d.Say(says, strconv.Itoa(len(counts)), strconv.Itoa(sum[0]), strconv.Itoa(sum[1]))
	return plot
}

// longestChain is the greatest number of entries that a page verifies while it is shown; the
// command verifies a longer journal.
const longestChain = 5000

// chain says whether a journal is intact.
func chain(ctx context.Context, s journal.Rooted, l values.Language) (string, error) {
	size, _, err := s.Head(ctx)
	if err != nil {
		return "", err
	}
	if size > longestChain {
		return values.Key("pages/chain-long").In(l, strconv.FormatInt(size, 10)), nil
	}
	head, err := journal.Whole(ctx, s)
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return values.Key("pages/chain-broken").In(l, err.Error()), nil
	}
	return values.Key("pages/chain-whole").In(l, strconv.FormatInt(head.Entries, 10)), nil
}

// The reference.

func (d *desk) referencePage() error {
	if !d.Serves() {
		return d.NotFound()
	}
	said := strings.TrimSpace(d.R.URL.Query().Get("q"))
	table := pages.Table{ID: "verbs", Title: d.Say("pages/reference"), Head: []string{d.Say("pages/verb"), d.Say("pages/does")}, Empty: d.Say("pages/none"),
		Find: &pages.Find{URL: "/verbs", Fields: []pages.Field{{ID: "q", Name: "q", Kind: "search", Label: d.Say("pages/search"), Value: said, Max: 100}}}}
	page, _ := strconv.Atoi(d.R.URL.Query().Get("page"))
	var found []*verbs.Verb
	for _, verb := range d.Session.Verbs() {
		if matches(verb, said) {
			found = append(found, verb)
		}
	}
	const most = 100
	page = max(0, min(page, (len(found)-1)/most))
	for _, verb := range found[min(len(found), page*most):min(len(found), (page+1)*most)] {
		table.Rows = append(table.Rows, []pages.Cell{{Text: verb.Name, URL: "/verbs/" + verb.Name}, {Text: d.Tell.Verb(verb)}})
	}
	table.Lines = []string{d.Say("pages/verbs-found", strconv.Itoa(len(found)))}
	link := func(n int, key values.Key) *pages.Link {
		return &pages.Link{URL: "/verbs?" + url.Values{"q": {said}}.Encode() + "&page=" + strconv.Itoa(n), Text: d.Say(key)}
	}
	pager := &pages.Pager{}
	if page > 0 {
		pager.Before = link(page-1, "pages/page-before")
	}
	if (page+1)*most < len(found) {
		pager.After = link(page+1, "pages/page-after")
	}
	if pager.Before != nil || pager.After != nil {
		table.Pages = pager
	}
	p := d.Frame(d.Say("pages/reference"))
	p.Wide = true
	p.Main = []pages.Block{table, pages.Prose{ID: "compare", Links: []pages.Link{{URL: "/palettes", Text: d.Say("pages/compare")}}}}
	return d.Render(http.StatusOK, p)
}

// matches reports whether every word of a search occurs in a verb's name, description or phrases.
func matches(v *verbs.Verb, said string) bool {
	text := strings.ToLower(v.Name + " " + v.Description + " " + strings.Join(v.Phrases, " "))
	for word := range strings.FieldsSeq(strings.ToLower(said)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

func (d *desk) verbPage() error {
	verb := d.Registry.Verb(d.R.PathValue("verb"))
	if verb == nil || !d.Session.May(verb) || !d.Serves() {
		return d.NotFound()
	}
	text, err := server.Explained(verb)
	if err != nil {
		return err
	}
	p := d.Frame(verb.Name)
	p.Wide = true
	p.Back = &pages.Link{URL: "/verbs", Text: d.Say("pages/reference")}
	trial, err := d.Trial(verb)
	if err != nil {
		return err
	}
	p.Main = []pages.Block{trial, pages.Prose{ID: "verb", Title: d.Tell.Verb(verb), Calls: []string{strings.TrimRight(text, "\n")},
		Links: []pages.Link{{URL: "/do/" + verb.Name, Text: d.Say("pages/use")}}}}
	return d.Render(http.StatusOK, p)
}
