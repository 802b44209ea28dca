package console

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
)

// What a model was told and answered in somebody's conversation, for a role of its own. Each look is
// noted in the journal.

// messagesPage is how many messages of a person are listed.
const messagesPage = 50

// turnsPage lists the latest messages of a person, without their words.
func (d *desk) turnsPage() error {
	ctx := d.R.Context()
	who := strings.TrimSpace(d.R.URL.Query().Get("who"))
	all, err := d.Session.Journal().Messages(ctx, who, messagesPage)
	if err != nil {
		return err
	}
	p := d.Frame(d.Say("pages/turns"))
	p.Wide = true
	table := pages.Table{ID: "turns", Title: d.Say("pages/turns"), Lines: []string{d.Say("pages/turn-noted")}, Empty: d.Say("pages/turns-none"),
		Find: &pages.Find{URL: "/turns", Fields: []pages.Field{{ID: "who", Name: "who", Kind: "search", Label: d.Say("pages/staff-who"), Value: who, Max: 100}}},
		Head: []string{d.Say("pages/when"), d.Say("pages/staff-what"), d.Say("pages/entry-of")}}
	if who == "" {
		table.Empty = d.Say("pages/turns-first")
	}
	for i := range all {
		t := &all[i]
		cells := []pages.Cell{{Text: d.Time(t.Time), URL: "/turns/" + t.ID}, {Text: d.verb(t.Intent)}, {}}
		if t.Entries > 0 && d.Keeps() {
			number := strconv.FormatInt(t.First, 10)
			cells[2] = pages.Cell{Text: number, URL: "/journal/" + number}
		}
		table.Rows = append(table.Rows, cells)
	}
	p.Main = []pages.Block{table}
	return d.Render(http.StatusOK, p)
}

// turnPage offers to show what the model was told for an answer.
func (d *desk) turnPage() error {
	if !d.Session.Journal().SeesTurns() {
		return d.NotFound()
	}
	p := d.turnFrame("")
	p.Main = []pages.Block{pages.Card{ID: "turn", Title: d.Say("pages/turn-title"), Lines: []string{d.Say("pages/turn-noted")}, URL: d.R.URL.Path,
		Buttons: []pages.Button{{Name: "do", Value: "show", Text: d.Say("pages/turn-show"), Tone: "main"}}}}
	return d.Render(http.StatusOK, p)
}

func (d *desk) turnFrame(who string) pages.Page {
	p := d.Frame(d.Say("pages/turn-title"))
	p.Wide, p.Back = true, &pages.Link{URL: "/turns", Text: d.Say("pages/turns")}
	if who != "" {
		p.Back.URL += "?" + url.Values{"who": {who}}.Encode()
	}
	return p
}

// turnShown shows an exchange, asks the model again, or gives the message as a test.
func (d *desk) turnShown() error {
	ctx := d.R.Context()
	number, err := strconv.ParseInt(d.R.PathValue("turn"), 10, 64)
	if err != nil {
		return d.NotFound()
	}
	of, err := d.Session.Journal().Message(ctx, d.R.PathValue("session"), number)
	if errors.Is(err, stores.ErrNotFound) {
		return d.NotFound()
	}
	if err != nil {
		return err
	}
	p := d.turnFrame(of.Principal)
	about := pages.Card{ID: "turn", Title: d.Say("pages/turn-title"), Facts: d.Facts("pages/who", d.Who(of.Principal), "pages/when", d.Time(of.Turns[0].Time), "pages/staff-what", d.verb(of.Turns[0].Intent))}
	var x *dialog.Exchange
	for i := range of.Turns {
		t := &of.Turns[i]
		switch {
		case t.Intent == sessions.WhyIntent && t.Exchange != "":
			if x, err = dialog.ReadExchange(t, of.Like); err != nil {
				return err
			}
		case t.Role == sessions.Agent:
			about.Facts = append(about.Facts, d.Facts("pages/turn-told", t.Content)...)
		}
	}
	if x == nil || len(x.Asked) == 0 {
		about.Notes = []pages.Banner{{Text: d.Say("pages/turn-none")}}
		p.Main = []pages.Block{about}
		return d.Render(http.StatusOK, p)
	}
	palette := d.Say("pages/turn-same")
	if x.Palette != d.Registry.Digest() {
		palette = d.Say("pages/turn-other")
	}
	about.Facts = append(about.Facts, d.Facts("pages/turn-ran", strings.Join(x.Calls, "\n"), "pages/palette", palette, "pages/turn-of-model", x.Model)...)
	about.URL, about.Lines = d.R.URL.Path, []string{d.Say("pages/turn-again-says")}
	about.Buttons = []pages.Button{{Name: "do", Value: "again", Text: d.Say("pages/turn-again"), Tone: "main"}, {Name: "do", Value: "test", Text: d.Say("pages/turn-test")}}
	p.Main = []pages.Block{about}
	switch d.R.PostForm.Get("do") {
	case "show":
	case "test":
		text, err := x.Test("KEPT-"+strconv.FormatInt(number, 10), of.Principal, of.Turns[0].Time)
		if err != nil {
			return err
		}
		d.W.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "kept.yaml"}))
		return d.Send(http.StatusOK, "application/yaml", text)
	case "again":
		table, err := d.again(of.Principal, x)
		if err != nil {
			return err
		}
		p.Main = append(p.Main, table)
	default:
		return server.BadBody("the form says nothing to do", "press one of the buttons")
	}
	for i := range x.Asked {
		p.Main = append(p.Main, d.exchange(x, i))
	}
	return d.Render(http.StatusOK, p)
}

// speakers are what the page calls those who speak in an exchange.
var speakers = map[llm.Role]values.Key{llm.System: "pages/turn-system", llm.User: "pages/turn-person", llm.Assistant: "pages/turn-model", llm.ToolRole: "pages/turn-result"}

// exchange shows a request and its answer.
func (d *desk) exchange(x *dialog.Exchange, i int) pages.Exchange {
	asked, n := &x.Asked[i], strconv.Itoa(i+1)
	out := pages.Exchange{ID: "request-" + n, Title: d.Say("pages/turn-request", n), Lines: []string{d.Say("pages/turn-masked")}}
	if i > 0 {
		out.Lines = []string{d.Say("pages/turn-rest")}
	}
	for _, m := range asked.Messages {
		part := pages.Told{Who: d.Say(speakers[m.Role]), Text: spoken(m.Text, m.Calls)}
		if m.Role == llm.System {
			part.Summary = d.Say("pages/turn-rules")
		}
		out.Parts = append(out.Parts, part)
	}
	if len(asked.Tools) > 0 {
		text, _ := json.MarshalIndent(asked.Tools, "", "  ") // of texts
		out.Parts = append(out.Parts, pages.Told{Who: d.Say("pages/turn-tools"), Summary: d.Say("pages/turn-tools-of", strconv.Itoa(len(asked.Tools))), Text: string(text)})
	}
	answer := pages.Told{Who: d.Say("pages/turn-answer"), Text: asked.Failed}
	if asked.Reply != nil {
		answer.Text = spoken(asked.Reply.Text, asked.Reply.Calls)
	}
	out.Parts = append(out.Parts, answer)
	return out
}

// spoken writes a text and the calls beside it.
func spoken(text string, calls []llm.ToolCall) string {
	lines := []string{text}
	if text == "" {
		lines = nil
	}
	for _, c := range calls {
		lines = append(lines, c.Name+" "+c.Arguments)
	}
	return strings.Join(lines, "\n")
}

// again asks the model as it would be asked now, and puts its answer beside the earlier one.
func (d *desk) again(who string, x *dialog.Exchange) (pages.Table, error) {
	ctx := d.R.Context()
	table := pages.Table{ID: "again", Title: d.Say("pages/turn-again"), Head: []string{d.Say("pages/staff-what"), d.Say("pages/turn-then"), d.Say("pages/turn-now")}}
	session, err := d.Engine.Session(ctx, who) // it asks nothing but what this person may use
	if err != nil {
		return table, err
	}
	o := d.Talk(session)
	o.Session, o.Budget = session, d.Talk(d.Session).Budget
	talk, err := dialog.New(o)
	if err != nil {
		return table, err
	}
	now, err := talk.Again(ctx, x)
	if err != nil {
		if ctx.Err() != nil {
			return table, err
		}
		d.LogError("asked again", err)
		table.Lines = []string{d.Say("pages/turn-unasked")}
		return table, nil
	}
	then := ""
	if first := x.Asked[0].Reply; first != nil {
		then = spoken(first.Text, first.Calls)
	}
	table.Rows = [][]pages.Cell{
		{{Text: d.Say("pages/turn-answer")}, {Text: then}, {Text: now.Says}},
		{{Text: d.Say("pages/turn-calls")}, {Text: strings.Join(x.Calls, "\n"), Code: true}, {Text: strings.Join(now.Calls, "\n"), Code: true}},
		{{Text: d.Say("pages/turn-wrong")}, {}, {Text: strings.Join(now.Wrong, "\n")}},
	}
	return table, nil
}
