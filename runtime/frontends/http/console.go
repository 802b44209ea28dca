package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
)

// The pages of staff: pending confirmations, the journal, the reference. They change rows by verbs,
// with the same forms as everybody else.

// queue lists the pending confirmations.
func (d *desk) queue() error {
	if show := d.r.URL.Query()["show"]; len(show) > 0 {
		return d.decisionPage(http.StatusOK, "", "", show[:min(len(show), mostTogether)]...)
	}
	all, err := d.session.Pending(d.r.Context())
	if err != nil {
		return err
	}
	mine := pages.Inbox{ID: "mine", Empty: d.tells("pages/nothing-waits")}
	asked := pages.Inbox{ID: "asked", Title: d.tells("pages/asked-by-you")}
	for _, c := range all {
		item := pages.Item{URL: "/waiting/" + c.ID, Key: c.ID, Title: d.calls(c), Aside: d.tells("pages/until", d.clock(c.Expires)), Lines: []string{d.tells("pages/asked-by", d.who(c.Asker), d.ago(c.Asked))}}
		if c.Mine {
			mine.Rows = append(mine.Rows, item)
		} else {
			item.Lines = []string{d.tells("pages/waits-for", d.missing(c))}
			asked.Rows = append(asked.Rows, item)
		}
	}
	if len(mine.Rows) > 1 {
		mine.Together = "/waiting"
	}
	mine.Title = d.tells("pages/waiting-list", strconv.Itoa(len(mine.Rows)))
	p := d.frame(d.tells("pages/waiting"))
	p.Wide = true
	p.Main = []pages.Block{mine}
	if len(asked.Rows) > 0 {
		p.Main = append(p.Main, asked)
	}
	return d.render(http.StatusOK, p)
}

// calls describes the calls of a confirmation.
func (d *desk) calls(c *engine.Pending) string {
	if len(c.Calls) == 0 {
		return d.tells("pages/other-palettes")
	}
	name, _, _ := strings.Cut(c.Calls[0], " ")
	title := name
	if v := d.Registry.Verb(name); v != nil {
		title = d.tell.Verb(v)
	}
	if n := len(c.Calls) - 1; n > 0 {
		title += d.tells("pages/and-more", strconv.Itoa(n))
	}
	return title
}

// missing lists the roles that have not agreed yet.
func (d *desk) missing(c *engine.Pending) string {
	var roles []string
	for _, r := range c.Roles {
		if r.By == "" {
			roles = append(roles, cmp.Or(d.tell.Text(r.Role), d.who(c.Asker)))
		}
	}
	return strings.Join(roles, ", ")
}

// who returns the label of a principal.
func (d *desk) who(name string) string {
	if d.names[name] == "" {
		d.names[name] = d.Engine.Label(d.r.Context(), name)
	}
	return d.names[name]
}

// ago says how long ago something was.
func (d *desk) ago(at time.Time) string {
	switch past := d.Clock().Sub(at); {
	case past < 2*time.Minute:
		return d.tells("pages/just-now")
	case past < 2*time.Hour:
		return d.tells("pages/minutes-ago", strconv.Itoa(int(past/time.Minute)))
	case past < 48*time.Hour:
		return d.tells("pages/hours-ago", strconv.Itoa(int(past/time.Hour)))
	default:
		return d.tells("pages/days-ago", strconv.Itoa(int(past/(24*time.Hour))))
	}
}

// decision shows one confirmation: the whole call, its effects as of now, and the reason for
// asking.
func (d *desk) decision() error {
	return d.decisionPage(http.StatusOK, "", "", d.r.PathValue("id"))
}

// mostTogether is how many confirmations one page shows.
const mostTogether = 20

// decisionPage shows confirmations, each with its own buttons. said is the asker's original
// message, if the reader has asked to see it.
func (d *desk) decisionPage(status int, wrong, said string, ids ...string) error {
	p := d.frame(d.tells("pages/decide"))
	p.Wrong, p.Wide = wrong != "", true
	p.Back = &pages.Link{URL: "/waiting", Text: d.tells("pages/waiting")}
	for i, id := range ids {
		c, err := d.session.Show(d.r.Context(), id)
		if err != nil {
			return err
		}
		card := d.decisionCard(c, wrong, said, strings.Repeat("-"+strconv.Itoa(i), min(i, 1)))
		if p.Title = card.Title; len(ids) > 1 {
			p.Title, card.Title = p.Head, d.tells("pages/count", card.Title, strconv.Itoa(i+1))
		}
		p.Main = append(p.Main, card)
	}
	return d.render(status, p)
}

// decisionCard returns the card of one confirmation; nth makes its ids unique on the page.
func (d *desk) decisionCard(c *engine.Pending, wrong, said, nth string) pages.Card {
	card := pages.Card{ID: "decision" + nth, Title: d.calls(c), Aside: d.tells("pages/asked-by", d.who(c.Asker), d.ago(c.Asked)), Calls: c.Calls}
	fact := func(key values.Key, text string) { card.Facts = append(card.Facts, d.facts(string(key), text)...) }
	if c.Preview != nil {
		card.Rows = d.diffs(c.Preview, "pages/asker-said")
		if text := d.tell.Earlier(c.Preview, d.zone()); text != "" {
			card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: text})
		}
		for _, ask := range c.Preview.Asks() {
			fact("pages/why-asked", sentence(d.tell.Text(ask.Reason))+" ("+path.Base(ask.Rule.String())+")")
		}
	}
	if c.Said {
		fact("pages/in-words", cmp.Or(said, masked))
	}
	for _, r := range c.Roles {
		if r.By != "" {
			fact("pages/agreed-already", d.who(r.By))
		}
	}
	fact("pages/source", c.Source)
	switch {
	case c.Status != confirmations.Waiting:
		state := d.tells(settledWords[c.Status])
		if c.By != "" {
			state += ": " + d.who(c.By)
		}
		if c.Reason != "" {
			state += ". " + c.Reason
		}
		card.Notes = append(card.Notes, pages.Banner{Text: state})
	case c.Stale:
		card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: strings.Join(append([]string{d.tells("pages/stale")}, c.Moved...), "\n")})
	case !c.Mine:
		fact("pages/good-until", d.clock(c.Expires))
		card.Notes = append(card.Notes, pages.Banner{Text: d.tells("pages/waits-for", d.missing(c))})
	default:
		fact("pages/good-until", d.clock(c.Expires)+". "+d.tells("pages/while-same"))
		card.URL = "/waiting/" + c.ID
		// Enter begins a new line in this field; it must not agree.
		card.Fields = []pages.Field{{ID: "reason" + nth, Name: "reason", Kind: "area", Label: d.tells("pages/why-not"), Value: d.r.PostForm.Get("reason"), Optional: true, Max: 500}}
		card.Buttons = []pages.Button{{Name: "decide", Value: "agree", Text: d.tells("pages/agree")}, {Name: "decide", Value: "decline", Text: d.tells("pages/decline")}}
		if c.Said && said == "" {
			card.Buttons = append(card.Buttons, pages.Button{Name: "decide", Value: "show", Text: d.tells("pages/show-words")})
		}
	}
	if wrong != "" {
		card.Notes = append(card.Notes, pages.Banner{Tone: "bad", Text: wrong})
	}
	return d.present("waiting "+c.ID, card)
}

// present adds to a card who else is looking at it.
func (d *desk) present(at string, card pages.Card) pages.Card {
	for _, name := range d.news.look(at, d.principal, d.Clock()) {
		card.Notes = append(card.Notes, pages.Banner{Text: d.tells("pages/also-looking", d.who(name))})
	}
	return card
}

// settledWords say how a confirmation ended.
var settledWords = map[string]values.Key{confirmations.Used: "pages/settled-used", confirmations.Declined: "pages/settled-declined", confirmations.Expired: "pages/settled-expired", confirmations.Stale: "pages/settled-stale"}

// decide agrees or declines.
func (d *desk) decide() error {
	ctx := d.r.Context()
	id := d.r.PathValue("id")
	var told string
	var entry int64
	switch d.r.PostForm.Get("decide") {
	case "agree":
		c, r, err := d.session.Agree(ctx, id)
		var refusal *engine.Refusal
		switch {
		case errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "sign-in-again":
			return d.see(signInAt(d.r.URL.Path))
		case errors.As(err, &refusal):
			return d.decisionPage(http.StatusConflict, d.tell.Refused(refusal.Diagnostics), "", id)
		case err != nil:
			return err
		}
		if told = d.tells("pages/agreed-waits", d.missing(c)); r != nil {
			told, entry = d.tells("pages/agreed")+"\n"+d.tell.Done(r), r.First
		}
	case "decline":
		if err := d.session.Decline(ctx, id, strings.TrimSpace(d.r.PostForm.Get("reason"))); err != nil {
			return err
		}
		told = d.tells("pages/declined")
	case "show":
		said, err := d.session.Words(ctx, id)
		if err != nil {
			return err
		}
		return d.decisionPage(http.StatusOK, "", said, id)
	default:
		return badBody("nothing was decided", "press one of the two buttons")
	}
	p := d.frame(d.tells("pages/decided"))
	links := []pages.Link{{URL: "/waiting", Text: d.tells("pages/waiting"), Tone: "main"}}
	if entry > 0 && d.keeps() {
		links = append(links, pages.Link{URL: "/journal/" + strconv.FormatInt(entry, 10), Text: d.tells("pages/came-about")})
	}
	p.Main = []pages.Block{pages.Prose{ID: "told", Told: true, Title: d.tells("pages/decided"), Lines: strings.Split(strings.TrimSpace(told), "\n"), Links: links}}
	return d.render(http.StatusOK, p)
}

// The journal.

// entriesPage is how many entries one page of the journal shows.
const entriesPage = 50

func (d *desk) journalPage() error {
	ctx := d.r.Context()
	if err := d.session.ReadsJournal(ctx); err != nil {
		return err
	}
	size, _, err := d.Store.Head(ctx)
	if err != nil {
		return err
	}
	last := size
	if n, err := strconv.ParseInt(d.r.URL.Query().Get("to"), 10, 64); err == nil && n >= 1 && n < size {
		last = n
	}
	table := pages.Table{ID: "entries", Title: d.tells("pages/journal"), Head: []string{d.tells("pages/number"), d.tells("pages/when"), d.tells("pages/who"), d.tells("pages/call"), d.tells("pages/became")}, Empty: d.tells("pages/none")}
	first := max(1, last-entriesPage+1)
	if size > 0 {
		for e, err := range journal.Entries(ctx, d.Store, first, last) {
			if err != nil {
				return err
			}
			table.Rows = append(table.Rows, []pages.Cell{{Text: strconv.FormatInt(e.Seq, 10), URL: "/journal/" + strconv.FormatInt(e.Seq, 10)}, {Text: d.clock(e.Time)}, {Text: d.who(e.Principal)}, {Text: cmp.Or(e.Call, e.Verb), Code: true}, {Text: e.Outcome}})
		}
	}
	slices.Reverse(table.Rows)
	state, err := d.chain(ctx)
	if err != nil {
		return err
	}
	table.Lines = []string{state}
	pager := &pages.Pager{}
	if first > 1 {
		pager.After = &pages.Link{URL: "/journal?to=" + strconv.FormatInt(first-1, 10), Text: d.tells("pages/older")}
	}
	if last < size {
		pager.Before = &pages.Link{URL: "/journal?to=" + strconv.FormatInt(min(size, last+entriesPage), 10), Text: d.tells("pages/newer")}
	}
	if pager.After != nil || pager.Before != nil {
		table.Pages = pager
	}
	p := d.frame(d.tells("pages/journal"))
	p.Wide = true
	p.Main = []pages.Block{table}
	if last == size {
		plots, err := d.plots(ctx, size)
		if err != nil {
			return err
		}
		p.Main = append(append(p.Main, plots...), d.latency()...)
	}
	return d.render(http.StatusOK, p)
}

// plotDays is how many days a plot shows, and how many verbs.
const plotDays = 14

// plots draws the outcomes of calls by day, and of confirmations by verb. It counts only entries
// whose chain was verified.
func (d *desk) plots(ctx context.Context, size int64) ([]pages.Block, error) {
	first := d.Clock().In(d.zone()).AddDate(0, 0, 1-plotDays)
	days, agreed := make([][2]int, plotDays), map[string][2]int{}
	for e, err := range journal.Entries(ctx, d.Store, max(1, size-longestChain), 0) {
		if err != nil {
			return nil, err
		}
		at, no := int(stores.DateOf(e.Time.In(d.zone())).Days()-stores.DateOf(first).Days()), 1
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
		names = append(names, values.SayDate(stores.DateOf(first.AddDate(0, 0, i)), d.lang))
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
	bounds, counts := d.Meter.programs()
	names, done := make([]string, len(counts)), 0
	for i := range counts {
		done += counts[i][0]
		if names[i] = d.tells("pages/longer"); i < len(bounds) {
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
	plot.Says = d.tells("pages/latency-says", strconv.Itoa(done), within(50), within(95))
	return append(all, plot)
}

// plot draws pairs of counts, one above the other, with the table that they are of.
func (d *desk) plot(id string, title, says values.Key, names []string, counts [][2]int, head ...values.Key) pages.Plot {
	plot, most, sum := pages.Plot{ID: id, Title: d.tells(title)}, 1, [2]int{}
	for _, key := range head {
		plot.Head = append(plot.Head, d.tells(key))
	}
	for _, n := range counts {
		most, sum[0], sum[1] = max(most, n[0]+n[1]), sum[0]+n[0], sum[1]+n[1]
	}
	for i, n := range counts {
		plot.Rows = append(plot.Rows, []string{strings.TrimPrefix(names[i], "verbatim."), strconv.Itoa(n[0]), strconv.Itoa(n[1])})
		x, a, b := 8+i*45, n[0]*150/most, n[1]*150/most
		plot.Bars = append(plot.Bars, pages.Bar{Class: "a", X: x, Y: 160 - a, W: 30, H: a}, pages.Bar{Class: "c", X: x, Y: 160 - a - b, W: 30, H: b})
	}
	plot.Marks = []pages.Mark{{X: 8, Text: plot.Rows[0][0]}}
	if n := len(counts); n > 6 {
		plot.Marks = append(plot.Marks, pages.Mark{X: 520, Text: plot.Rows[n-1][0]})
	}
	plot.Says = d.tells(says, strconv.Itoa(len(counts)), strconv.Itoa(sum[0]), strconv.Itoa(sum[1]))
	return plot
}

// drawn draws the answers that the palette has drawn on the page.
func (d *desk) drawn(ctx context.Context) (all []pages.Block, err error) {
	for i := range d.page.Plots {
		of := &d.page.Plots[i]
		call, err := d.read(ctx, of.Verb)
		if err != nil {
			return nil, err
		}
		if call.Result == nil || len(call.Result.Rows) == 0 {
			continue
		}
		plot := pages.Plot{ID: "plot-" + strconv.Itoa(i+1), Title: d.tell.Text(of.Title), Head: []string{d.tell.Text(of.Title), d.tell.Label(of.Number)}}
		list := &verbs.PageList{Verb: of.Verb}
		var counts []int
		most, sum := 1, 0
		for n := range call.Result.Rows[:min(len(call.Result.Rows), plotDays)] {
			r := row{d, list, call, n}
			var label []string
			for _, column := range of.Label {
				label = append(label, r.text(column))
			}
			count, _ := strconv.ParseFloat(r.value(of.Number).Text(), 64)
			counts, most, sum = append(counts, int(count)), max(most, int(count)), sum+int(count)
			plot.Rows = append(plot.Rows, []string{strings.Join(label, ", "), r.text(of.Number)})
		}
		for n, count := range counts {
			high := count * 150 / most
			plot.Bars = append(plot.Bars, pages.Bar{Class: "a", X: 8 + n*45, Y: 160 - high, W: 30, H: high})
		}
		plot.Marks = []pages.Mark{{X: 8, Text: plot.Rows[0][0]}}
		if n := len(counts); n > 6 {
			plot.Marks = append(plot.Marks, pages.Mark{X: 480, Text: plot.Rows[n-1][0]})
		}
		plot.Says = d.tells("pages/plot-says", strconv.Itoa(len(counts)), strconv.Itoa(sum))
		all = append(all, plot)
	}
	return all, nil
}

// longestChain is the greatest number of entries that a page verifies while it is shown; the
// command verifies a longer journal.
const longestChain = 5000

// chain says whether the journal's hash chain is valid.
func (d *desk) chain(ctx context.Context) (string, error) {
	size, _, err := d.Store.Head(ctx)
	if err != nil {
		return "", err
	}
	if size > longestChain {
		return d.tells("pages/chain-long", strconv.FormatInt(size, 10)), nil
	}
	head, err := journal.Verify(journal.Entries(ctx, d.Store, 1, 0))
	if err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return d.tells("pages/chain-broken", err.Error()), nil
	}
	return d.tells("pages/chain-whole", strconv.FormatInt(head.Size, 10)), nil
}

// journalEntry shows a journal entry: the call, the changes, and the recorded reasons. It is for
// roles that keep the journal, and for the principal of the entry. Personal data is masked until
// somebody opens it, which is journalled.
func (d *desk) journalEntry() error {
	ctx := d.r.Context()
	n, err := strconv.ParseInt(d.r.PathValue("entry"), 10, 64)
	if err != nil || n < 1 {
		return d.notFound()
	}
	for l, err := range journal.Opened(ctx, d.Store, d.principal, n, n) {
		if err != nil {
			return err
		}
		e, opened := &l.Entry, d.r.Method == http.MethodPost
		if e.Principal != d.principal {
			if err := d.session.ReadsJournal(ctx); err != nil {
				return err
			}
		}
		record, err := journal.Parse(e.Changes)
		if opened && err == nil {
			if err := d.session.OpensEntry(ctx, e); err != nil {
				return err
			}
			record, err = l.Record()
		}
		if err != nil {
			return err
		}
		p := d.frame(d.tells("pages/entry", strconv.FormatInt(n, 10)))
		p.Wide = true
		p.Back = &pages.Link{URL: d.at(d.page), Text: d.tells("pages/back")}
		if d.keeps() {
			p.Back = &pages.Link{URL: "/journal", Text: d.tells("pages/journal")}
		}
		card := pages.Card{ID: "entry", Title: d.tells("pages/came-about"), Calls: []string{cmp.Or(record.Words, e.Call, e.Verb)}}
		for i := range record.Rows {
			card.Rows = append(card.Rows, d.diff(&record.Rows[i], "pages/asker-said"))
		}
		who := d.who(e.Principal) + " (" + e.Principal + ")"
		card.Facts = d.whyDone(e, d.facts("pages/when", d.clock(e.Time), "pages/who", strings.TrimRight(who+", "+strings.Join(e.Roles, ", "), ", "), "pages/became", e.Outcome+strings.TrimRight(": "+e.Reason, ": "), "pages/source", e.Source))
		if l.Opening != nil && !opened {
			card.URL, card.Buttons = "/journal/"+strconv.FormatInt(n, 10), []pages.Button{{Name: "show", Value: "1", Text: d.tells("pages/show-masked")}}
		}
		p.Main = []pages.Block{card}
		if session, turn, _ := strings.Cut(e.Turn, "/"); session == d.session.ID() {
			p.Main = append(p.Main, pages.Prose{ID: "turn", Links: []pages.Link{{URL: "/why?" + query("turn", turn), Text: d.tells("pages/happened")}}})
		}
		return d.render(http.StatusOK, p)
	}
	if err := d.session.ReadsJournal(ctx); err != nil {
		return err // like an entry of somebody else
	}
	return d.notFound()
}

// facts makes facts from keys and texts in turn, without those whose text is "".
func (d *desk) facts(of ...string) (all []pages.Fact) {
	for i := 0; i < len(of); i += 2 {
		if of[i+1] != "" {
			all = append(all, pages.Fact{Name: values.Key(of[i]).In(d.lang), Text: of[i+1]})
		}
	}
	return all
}

// whyDone adds why an entry came about: where its arguments came from, the rules that
// asked, who agreed, and the turn of the conversation that it came of.
func (d *desk) whyDone(e *stores.Entry, all []pages.Fact) []pages.Fact {
	var from map[string]string
	if json.Unmarshal([]byte(e.Origins), &from) == nil {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			all = append(all, d.facts("pages/value-from", d.tell.Label(strings.TrimSuffix(name, "-id"))+": "+from[name])...)
		}
	}
	if verb := d.Registry.Verb(e.Verb); verb != nil && e.Preview != "" && e.Palette == d.Registry.Digest() {
		for i := range verb.Confirm {
			all = append(all, d.facts("pages/rule", sentence(d.tell.Text(verb.Confirm[i].Reason))+" ("+path.Base(verb.Confirm[i].Place.String())+")")...)
		}
	}
	agreed := e.Agreed
	if name, rest, _ := strings.Cut(agreed, ","); agreed != "" {
		agreed = strings.TrimRight(d.who(name)+","+rest, ",")
	}
	return append(all, d.facts("pages/agreed-by", agreed, "pages/preview", e.Preview, "pages/turn", e.Turn, "pages/palette", e.Palette[:min(12, len(e.Palette))])...)
}

// keeps reports whether a role of the person keeps the journal.
func (d *desk) keeps() bool {
	return slices.ContainsFunc(d.session.Roles(), func(r *verbs.Role) bool { return r.Keeps })
}

// The reference.

func (d *desk) referencePage() error {
	said := strings.TrimSpace(d.r.URL.Query().Get("q"))
	table := pages.Table{ID: "verbs", Title: d.tells("pages/reference"), Head: []string{d.tells("pages/verb"), d.tells("pages/does")}, Empty: d.tells("pages/none"),
		Find: &pages.Find{URL: "/verbs", Fields: []pages.Field{{ID: "q", Name: "q", Kind: "search", Label: d.tells("pages/search"), Value: said, Max: 100}}}}
	page, _ := strconv.Atoi(d.r.URL.Query().Get("page"))
	var found []*verbs.Verb
	for _, verb := range d.session.Verbs() {
		if matches(verb, said) {
			found = append(found, verb)
		}
	}
	const most = 100
	page = max(0, min(page, (len(found)-1)/most))
	for _, verb := range found[min(len(found), page*most):min(len(found), (page+1)*most)] {
		table.Rows = append(table.Rows, []pages.Cell{{Text: verb.Name, URL: "/verbs/" + verb.Name}, {Text: d.tell.Verb(verb)}})
	}
	table.Lines = []string{d.tells("pages/verbs-found", strconv.Itoa(len(found)))}
	link := func(n int, key values.Key) *pages.Link {
		return &pages.Link{URL: "/verbs?" + query("q", said) + "&page=" + strconv.Itoa(n), Text: d.tells(key)}
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
	p := d.frame(d.tells("pages/reference"))
	p.Wide = true
	p.Main = []pages.Block{table}
	return d.render(http.StatusOK, p)
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
	verb := d.Registry.Verb(d.r.PathValue("verb"))
	if verb == nil || !d.session.May(verb) {
		return d.notFound()
	}
	var text strings.Builder
	if err := d.Registry.Explain(&text, verb); err != nil {
		return err
	}
	p := d.frame(verb.Name)
	p.Wide = true
	p.Back = &pages.Link{URL: "/verbs", Text: d.tells("pages/reference")}
	p.Main = []pages.Block{pages.Prose{ID: "verb", Title: d.tell.Verb(verb), Calls: []string{strings.TrimRight(text.String(), "\n")},
		Links: []pages.Link{{URL: "/do/" + verb.Name + "?try=1", Text: d.tells("pages/try"), Tone: "main"}, {URL: "/do/" + verb.Name, Text: d.tells("pages/use")}}}}
	return d.render(http.StatusOK, p)
}

// tries previews the call of a form, in the palette's sentences. It sends nothing; sending takes
// another press.
func (d *desk) tries(f *filledForm, program *verbs.Program) error {
	ctx := d.r.Context()
	p := d.frame(d.actTitle(f.verb))
	p.Back = &pages.Link{URL: "/verbs/" + f.verb.Name, Text: f.verb.Name}
	card := pages.Card{ID: "try", Title: d.tells("pages/call"), Calls: []string{dsl.Format(program.Canonical())}, URL: "/do/" + f.verb.Name, Hidden: f.hidden(),
		Buttons: []pages.Button{{Name: "yes", Value: "1", Text: d.tells("pages/send-call")}, {Name: "try", Value: "change", Text: d.tells("pages/change")}}}
	r, err := d.session.Preview(ctx, program)
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		card.Notes = []pages.Banner{{Tone: "bad", Text: d.tell.Refused(refusal.Diagnostics)}}
		card.Buttons = card.Buttons[1:]
	case err != nil:
		return err
	default:
		card.Rows = d.diffs(r, "pages/you-said")
		if text := d.tell.Asks(r); text != "" {
			card.Facts = append(card.Facts, pages.Fact{Name: d.tells("pages/asked-before"), Text: text})
		}
		if text := strings.TrimSpace(d.tell.Done(r)); text != "" {
			card.Facts = append(card.Facts, pages.Fact{Name: d.tells("pages/told-after"), Text: text})
		}
	}
	p.Main = []pages.Block{card}
	return d.render(http.StatusOK, p)
}

// why shows how an answer of the conversation came about, from the recorded turn: the last one, or
// the one whose number is given.
func (d *desk) why() error {
	ctx := d.r.Context()
	info, err := d.session.Info(ctx)
	if err != nil {
		return err
	}
	from, last := max(1, info.Turns-mostTurns), info.Turns
	only, _ := strconv.ParseInt(d.r.URL.Query().Get("turn"), 10, 64)
	if only > 0 {
		from, last = only, only+mostTurns
	}
	turns, err := d.session.Turns(ctx, from, last)
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(turns, func(t sessions.Turn) bool { return t.Role == sessions.Client && t.Number > only }); only > 0 && i >= 0 {
		turns = turns[:i]
	}
	var turn pages.Turn
	var said int64
	for i := range turns {
		t := &turns[i]
		at := t.Time.In(d.zone()).Format("15:04") + " "
		switch {
		case t.Erased:
		case t.Intent == sessions.WhyIntent:
			turn.Why = nil
			for line := range strings.SplitSeq(strings.TrimSpace(t.Content), "\n") {
				// Each line is a name, two blanks, and a text.
				name, text, ok := strings.Cut(strings.TrimSpace(line), "  ")
				if !ok {
					name, text, _ = strings.Cut(strings.TrimSpace(line), " ")
				}
				turn.Why = append(turn.Why, pages.Fact{Name: sentence(name), Text: strings.TrimSpace(text)})
			}
		case t.Role == sessions.Client:
			turn.Happened, said = []string{at + d.tells("pages/you") + ": " + t.Content}, t.Number
		default:
			turn.Happened = append(turn.Happened, at+d.tells("pages/assistant")+": "+ids.ReplaceAllString(t.Content, ""))
			if t.Action != "" {
				turn.Happened = append(turn.Happened, at+t.Action)
			}
		}
	}
	turn.Why = append(turn.Why, d.facts("pages/turn", sessions.TurnID(d.session.ID(), said))...)
	p := d.frame(d.tells("pages/how-it-came"))
	p.Wide = true
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.tells("pages/back")}
	p.Main = []pages.Block{turn}
	if len(turn.Happened) == 0 {
		p.Main = []pages.Block{pages.Prose{ID: "none", Lines: []string{d.tells("pages/no-messages")}}}
	}
	return d.render(http.StatusOK, p)
}
