package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/verbs"
)

// What waits for somebody's agreement: the list of cases, what became of the reader's own proposals, and
// decisions on several at once.

// mostWaiting is how many proposals a list shows.
const mostWaiting = 50

// queue lists the pending confirmations.
func (d *desk) queue() error {
	ctx := d.R.Context()
	if show := d.R.URL.Query()["show"]; len(show) > 0 {
		return d.decisionPage(http.StatusOK, "", "", show[:min(len(show), mostTogether)]...)
	}
	mine := pages.Inbox{ID: "mine", Empty: d.Say("pages/nothing-waits")}
	asked := pages.Inbox{ID: "asked", Title: d.Say("pages/asked-by-you")}
	var err error
	if mine.Rows, _, mine.Pages, err = d.waits(false, "after"); err != nil {
		return err
	}
	var own []pages.Item // what a program asked for in the reader's name
	if own, asked.Rows, asked.Pages, err = d.waits(true, "asked"); err != nil {
		return err
	}
	mine.Rows = append(own, mine.Rows...)
	if len(mine.Rows) > 1 {
		mine.Together = "/waiting"
	}
	count := strconv.Itoa(len(mine.Rows))
	if mine.Pages != nil {
		count += "+"
	}
	mine.Title = d.Say("pages/waiting-list", count)
	p := d.Frame(d.Say("pages/waiting"))
	p.Wide = true
	p.Main = []pages.Block{mine}
	if len(asked.Rows) > 0 || asked.Pages != nil {
		p.Main = append(p.Main, asked)
	}
	undone, err := d.Session.Journal().Decided(ctx, mostWaiting)
	if err != nil {
		return err
	}
	if len(undone) > 0 {
		list := pages.Inbox{ID: "decided", Title: d.Say("pages/staff-decided")}
		for _, c := range undone {
			about, err := d.about(c)
			if err != nil {
				return err
			}
			list.Rows = append(list.Rows, pages.Item{URL: "/waiting/" + c.ID, Title: about.title(d.calls(c)), Aside: d.Time(c.Decision.At), Lines: []string{d.calls(c), d.ended(c)}})
		}
		p.Main = append(p.Main, list)
	}
	return d.Render(http.StatusOK, p)
}

// waits lists the proposals of others, or the reader's own, from where an argument of the URL says: those
// that wait for the reader, and those that wait for somebody else.
func (d *desk) waits(own bool, name string) (mine, others []pages.Item, pager *pages.Pager, err error) {
	from := d.R.URL.Query().Get(name)
	all, next, err := d.Session.Journal().Waiting(d.R.Context(), own, from, mostWaiting)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, c := range all {
		about, err := d.about(c)
		if err != nil {
			return nil, nil, nil, err
		}
		calls := d.calls(c)
		item := pages.Item{URL: "/waiting/" + c.ID, Title: about.title(calls), Aside: d.Say("pages/until", d.Time(c.Expires))}
		if item.Title != calls {
			item.Lines = []string{calls}
		}
		if c.Mine {
			item.Key = c.ID
			item.Lines = append(item.Lines, d.Say("pages/asked-by", d.Who(c.Asker), d.ago(c.Asked)))
		}
		if c.Outdated() {
			item.Lines = append(item.Lines, d.Say("pages/ask-again", d.Who(c.Asker)))
		} else if !c.Mine {
			item.Lines = append(item.Lines, d.Say("pages/waits-for", d.missing(c)))
		}
		if c.Mine {
			mine = append(mine, item)
		} else {
			others = append(others, item)
		}
	}
	pager = &pages.Pager{}
	if from != "" {
		pager.Before = &pages.Link{URL: "/waiting", Text: d.Say("pages/staff-first-page")}
	}
	if next != "" {
		pager.After = &pages.Link{URL: "/waiting?" + url.Values{name: {next}}.Encode(), Text: d.Say("pages/staff-next-page", strconv.Itoa(mostWaiting))}
	}
	if *pager == (pages.Pager{}) {
		pager = nil
	}
	return mine, others, pager, nil
}

// An about is the rows that a proposal speaks of.
type about []string

// title names the rows, or says what is proposed where there are none.
func (a about) title(calls string) string {
	if len(a) == 0 {
		return calls
	}
	return strings.Join(a, ", ")
}

// about returns the labels of the rows that the calls of a proposal name, as far as the reader sees them.
func (d *desk) about(c *engine.Pending) (all about, err error) {
	for _, text := range c.Calls[:min(len(c.Calls), 3)] {
		script, _ := dsl.Parse(dsl.NewSource("waiting", text))
		if len(script.Calls) != 1 {
			continue
		}
		verb := d.Registry.Verb(script.Calls[0].Verb)
		if verb == nil {
			continue
		}
		for _, a := range script.Calls[0].Args {
			i := verb.ParamNamed(a.Key)
			if i < 0 || a.Value.Kind != dsl.Symbol || verb.Params[i].Type.Name != verbs.RefType || verb.Params[i].Type.Entity == nil {
				continue
			}
			e := verb.Params[i].Type.Entity
			_, key, err := d.Session.Names().Find(d.R.Context(), e.Store.Name+" @"+strings.TrimPrefix(a.Value.Text, "@"))
			if errors.Is(err, stores.ErrNotFound) || errors.Is(err, engine.ErrAmbiguous) {
				continue
			}
			if err != nil {
				return nil, err
			}
			names, err := d.Session.Names().Named(d.R.Context(), e, key)
			if err != nil {
				return nil, err
			}
			if label := pages.Sentence(d.Tell.Value(stores.NewString("@" + names[0]))); names[0] != "" && !slices.Contains(all, label) {
				all = append(all, label)
			}
		}
	}
	return all, nil
}

// ended says how a proposal ended, by whom and why.
func (d *desk) ended(c *engine.Pending) string {
	state := d.Say(settledWords[c.Status])
	switch {
	case c.Status == confirmations.Expired && c.Decision.By == c.Asker:
		return d.Say("pages/staff-withdrawn-by", d.Who(c.Asker))
	case c.Decision.By != "":
		state += ": " + d.Who(c.Decision.By)
	}
	if c.Decision.Reason != "" {
		state += ". " + c.Decision.Reason
	}
	return state
}

// together returns the form that decides on several proposals.
func (d *desk) together(ids []string) pages.Card {
	card := pages.Card{ID: "together", Title: d.Say("pages/staff-all-of-these", strconv.Itoa(len(ids))), Lines: []string{d.Say("pages/staff-each-alone")}, URL: "/waiting",
		Fields:  []pages.Field{{ID: "reason-all", Name: "reason", Kind: "area", Label: d.Say("pages/why-not"), Optional: true, Max: 500}},
		Buttons: []pages.Button{{Name: "decide", Value: "agree", Text: d.Say("pages/staff-agree-all")}, {Name: "decide", Value: "decline", Text: d.Say("pages/staff-decline-all")}}}
	card.Hidden = []pages.Hidden{{Name: "ids", Value: strings.Join(ids, " ")}}
	return card
}

// decideTogether agrees to several proposals, or declines them, each by itself: each has its own record,
// and one that cannot be decided any more keeps no other back.
func (d *desk) decideTogether() error {
	ctx := d.R.Context()
	form := d.R.PostForm
	ids, how := strings.Fields(form.Get("ids")), form.Get("decide")
	if len(ids) == 0 || len(ids) > mostTogether || how != "agree" && how != "decline" {
		return server.BadBody("nothing was decided", "press one of the two buttons")
	}
	table := pages.Table{ID: "told", Title: d.Say("pages/decided"), Head: []string{d.Say("pages/staff-rows"), d.Say("pages/staff-what"), d.Say("pages/became")}}
	for _, id := range ids {
		c, err := d.Session.Show(ctx, id)
		if refusal, ok := errors.AsType[*engine.Refusal](err); ok {
			table.Rows = append(table.Rows, []pages.Cell{{Text: id}, {}, {Text: d.Refused(refusal.Diagnostics)}})
			continue
		}
		if err != nil {
			return err
		}
		rows, err := d.about(c)
		if err != nil {
			return err
		}
		became := d.Say("pages/declined")
		if how == "agree" {
			became = d.Say("pages/agreed")
			if c, _, err = d.Session.Agree(ctx, id); err == nil && d.missing(c) != "" {
				became = d.Say("pages/agreed-waits", d.missing(c))
			}
		} else {
			err = d.Session.Decline(ctx, id, strings.TrimSpace(form.Get("reason")))
		}
		if refusal, ok := errors.AsType[*engine.Refusal](err); ok {
			if refusal.Diagnostics[0].Code == "sign-in-again" {
				return d.See(server.SignInAt("/waiting"))
			}
			became = d.Refused(refusal.Diagnostics)
		} else if err != nil {
			return err
		}
		cells := []pages.Cell{{Text: rows.title("")}, {}, {Text: became}}
		if c != nil {
			cells[1] = pages.Cell{Text: d.calls(c)}
		}
		table.Rows = append(table.Rows, cells)
	}
	p := d.Frame(d.Say("pages/decided"))
	p.Wide, p.Back = true, &pages.Link{URL: "/waiting", Text: d.Say("pages/waiting")}
	p.Main = []pages.Block{table}
	return d.Render(http.StatusOK, p)
}
