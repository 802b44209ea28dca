package console

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/stores"
)

// What is still open: notices that have not left, and requests to tools of which nobody knows what
// became.

// openPage lists both. Notices are shown to roles that keep the journal, and requests to those and
// to the principal who made them.
func (d *desk) openPage() error { return d.showOpen(http.StatusOK, 0, "") }

// showOpen shows the page, with what is wrong at one of the requests.
func (d *desk) showOpen(status int, entry int64, wrong string) error {
	p := d.Frame(d.Say("pages/open"))
	p.Wide, p.Wrong = true, wrong != ""
	all, err := d.Session.Journal().Unsettled(d.R.Context())
	if err != nil {
		return err
	}
	if wrong != "" && !slices.ContainsFunc(all, func(u engine.Unsettled) bool { return u.Entry == entry }) {
		p.Banners = append(p.Banners, pages.Banner{Tone: "bad", Text: wrong}) // it is settled by now
	}
	for i := range all {
		p.Main = append(p.Main, d.unsettledCard(&all[i], entry, wrong))
	}
	if len(all) == 0 {
		p.Main = append(p.Main, pages.Prose{ID: "none", Title: d.Say("pages/unknown-list", "0"), Lines: []string{d.Say("pages/none-unknown")}})
	}
	if d.Keeps() {
		notices, err := d.notices()
		if err != nil {
			return err
		}
		p.Main = append(p.Main, notices)
	}
	return d.Render(status, p)
}

// unsettledCard shows a request whose outcome is unknown, with the buttons that settle it.
func (d *desk) unsettledCard(u *engine.Unsettled, entry int64, wrong string) pages.Card {
	n := strconv.FormatInt(u.Entry, 10)
	said := values.Key("pages/unknown-call")
	if u.Status == engine.AttemptDone {
		said = "pages/alone-call" // the tool answered, and nothing was stored here
	}
	card := pages.Card{ID: "call-" + n, Title: u.Tool, Aside: d.Say("pages/asked-by", d.Who(u.Principal), d.ago(u.Time)), Lines: []string{d.Say(said, d.Time(u.Time))},
		Facts: d.Facts("pages/number", n)}
	if u.Entry > 0 { // one from before these were noted cannot be named
		card.URL = "/open/" + n
		for _, how := range settlings {
			card.Buttons = append(card.Buttons, pages.Button{Name: "outcome", Value: how.value, Text: d.Say(how.text)})
		}
	}
	if u.Entry == entry && wrong != "" {
		card.Notes = append(card.Notes, pages.Banner{Tone: "bad", Text: wrong})
	}
	return card
}

// settlings are the outcomes that a person gives a request.
var settlings = []struct {
	value string
	text  values.Key
}{{engine.SettleDone, "pages/settle-done"}, {engine.SettleNotDone, "pages/settle-not-done"}, {engine.SettleAgain, "pages/settle-again"}}

// settle says what became of a request, as verbatim log settle does.
func (d *desk) settle() error {
	entry, err := strconv.ParseInt(d.R.PathValue("entry"), 10, 64)
	if err != nil || entry < 1 {
		return d.NotFound()
	}
	how := d.R.PostForm.Get("outcome")
	i := slices.IndexFunc(settlings, func(s struct {
		value string
		text  values.Key
	}) bool {
		return s.value == how
	})
	if i < 0 {
		return server.BadBody("nothing was decided", "press one of the three buttons")
	}
	by, err := d.Session.Journal().Settle(d.R.Context(), entry, how)
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		return d.showOpen(http.StatusConflict, entry, d.Refused(refusal.Diagnostics))
	case err != nil:
		return err
	}
	at := func(n int64) pages.Link {
		number := strconv.FormatInt(n, 10)
		return pages.Link{URL: "/journal/" + number, Text: d.Say("pages/entry", number)}
	}
	p := d.Frame(d.Say("pages/decided"))
	p.Main = []pages.Block{pages.Prose{ID: "told", Told: true, Title: d.Say("pages/decided"), Lines: []string{d.Say("pages/settled-as", strconv.FormatInt(entry, 10), d.Say(settlings[i].text))},
		Links: []pages.Link{{URL: "/open", Text: d.Say("pages/open"), Tone: "main"}, at(entry), at(by)}}}
	return d.Render(http.StatusOK, p)
}

// notices lists the notices that have not left: they wait for their time or for a worker, are being
// sent, or were given up.
func (d *desk) notices() (pages.Table, error) {
	jobs, err := d.Store.Jobs(d.R.Context(), stores.JobFilter{Kinds: []string{engine.JobNotice}, States: []stores.JobState{stores.JobWaiting, stores.JobRunning, stores.JobDead}})
	if err != nil {
		return pages.Table{}, err
	}
	t := pages.Table{ID: "notices", Title: d.Say("pages/unsent-list", strconv.Itoa(len(jobs))), Empty: d.Say("pages/none"),
		Head: []string{d.Say("pages/when"), d.Say("pages/to"), d.Say("pages/who"), d.Say("plans/state"), d.Say("plans/tries"), d.Say("pages/why")}}
	for i := range jobs {
		j := &jobs[i]
		state := d.Say("pages/unsent")
		if j.State == stores.JobDead {
			state = d.Say("pages/given-up")
		}
		t.Rows = append(t.Rows, []pages.Cell{{Text: d.Time(j.Created)}, {Text: d.Tell.Label(cmp.Or(engine.JobSubject(&j.Job), j.Kind))}, {Text: d.Who(j.Principal)}, {Text: state},
			{Text: d.Say("dialog/of", strconv.Itoa(j.Attempt), strconv.Itoa(j.Tries()))}, {Text: j.Note}})
	}
	return t, nil
}
