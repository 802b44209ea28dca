package serve

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Undoing: another call takes back what a call did. This file writes that call; it runs like any
// other.

// undoing returns the call that takes back the entry in the path.
func (v *visit) undoing() (*dsl.Script, error) {
	seq, err := strconv.ParseInt(v.r.PathValue("entry"), 10, 64)
	if err != nil || seq < 1 {
		return nil, v.notFound()
	}
	return v.session.Undo(v.r.Context(), seq)
}

// undo answers a program with that call, to preview and run.
func (v *visit) undo() error {
	script, err := v.undoing()
	if err != nil {
		return err
	}
	return v.json(http.StatusOK, struct {
		Schema string `json:"schema"`
		Script string `json:"script"`
	}{"verbatim/undo@1", dsl.Format(script)})
}

// undoPage shows what taking it back would change, and asks for agreement.
func (d *desk) undoPage() error {
	script, err := d.undoing()
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return d.notUndone(refusal)
	}
	if err != nil {
		return err
	}
	call := &script.Calls[0]
	values := url.Values{}
	for _, a := range call.Args {
		values.Set(a.Key, a.Value.Text)
	}
	verb := d.Registry.Verb(call.Verb)
	if verb.Undoes == nil {
		return d.see("/do/" + call.Verb + "?" + values.Encode()) // the form of that verb, filled in
	}
	program, err := d.program(d.r.Context(), dsl.Format(script), theirs)
	if err == nil {
		var key string
		if key, err = d.book.Secret(); err == nil {
			values.Set("key", key)
			return d.showUndo(verb, program, values)
		}
	}
	if errors.As(err, &refusal) {
		return d.notUndone(refusal)
	}
	return err
}

func (d *desk) showUndo(verb *verbs.Verb, program *verbs.Program, values url.Values) error {
	preview, err := d.session.KeepWith(d.r.Context(), program, engine.RunOptions{Source: "page"})
	var refusal *engine.Refusal
	if errors.As(err, &refusal) {
		return d.notUndone(refusal)
	}
	if err != nil {
		return err
	}
	f := d.fill(d.session, verb, values)
	card := pages.Card{ID: "ask", Title: d.tells("pages/shall-i"), Rows: d.diffs(preview, "pages/you-said"), URL: "/do/" + verb.Name,
		Hidden:  append(f.hidden(), pages.Hidden{Name: "agreed", Value: preview.Answer()}),
		Buttons: []pages.Button{{Name: "yes", Value: "1", Text: d.tells("pages/take-back"), Tone: "main"}, {Name: "no", Value: "1", Text: d.tells("pages/do-not")}}}
	if slices.ContainsFunc(preview.Asks(), func(a receipt.Ask) bool { return a.By != "" }) {
		card.Buttons[0].Text = d.tells("pages/ask-for-it")
	}
	card.Lines = []string{d.tell.Verb(verb) + "."}
	if r := preview.Calls[0].Result; r != nil {
		for _, row := range r.Rows {
			card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: d.tells("dialog/stays", row[0].Text())})
		}
	}
	p := d.frame(d.tells("pages/take-back"))
	p.Main = []pages.Block{card}
	return d.render(http.StatusOK, p)
}

// notUndone says why an entry cannot be taken back.
func (d *desk) notUndone(refusal *engine.Refusal) error {
	p := d.frame(d.tells("pages/take-back"))
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.tells("pages/back")}
	p.Banners = append(p.Banners, pages.Banner{Tone: "warn", Text: d.tell.Refused(refusal.Diagnostics)})
	return d.render(http.StatusUnprocessableEntity, p)
}
