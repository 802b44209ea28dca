package portal

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/verbs"
)

// The next thing to do: one item above the others, with the form of the act that it needs first.

// mostNext is how many fields a form has that stands on the first page. A longer one is a page.
const mostNext = 4

// nextTask returns the first item that waits for the person; nil if none does.
func (d *Desk) nextTask(ctx context.Context) (*pages.Next, error) {
	if d.page.Desk {
		return nil, nil
	}
	rows, err := d.rows(ctx, d.page.Items)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(rows, func(r row) bool {
		return slices.Contains([]string{"to-do", "part", "correction", "late"}, r.state()) && r.item() != ""
	})
	if i < 0 {
		return nil, nil
	}
	r := rows[i]
	acts, err := d.acts(ctx, r)
	if err != nil || len(acts) == 0 {
		return nil, err
	}
	d.next = r.item()
	n := &pages.Next{ID: "next", Task: pages.Task{Title: r.title(), URL: d.itemURL(d.next), Tag: r.tag(), Lines: r.lines(), Facts: r.facts("remark", "note", "expected", "why", "rule", "accepts")}}
	for _, slot := range [...]string{"has", "lacks"} {
		for text := range strings.SplitSeq(r.text(r.of.Slots[slot]), "\n") {
			if text != "" {
				n.Parts = append(n.Parts, pages.Part{Text: pages.Sentence(text), Here: slot == "has"})
			}
		}
	}
	for k := range acts {
		if open, err := d.begun(ctx, r, &acts[k]); err != nil {
			return nil, err
		} else if open && k > 0 { // what was begun comes first
			acts[0].Tone, acts[k].Tone = "", "main"
			acts[0], acts[k] = acts[k], acts[0]
		}
	}
	if verb, ok := strings.CutPrefix(acts[0].URL, "/do/"); ok {
		name, _, _ := strings.Cut(verb, "?")
		if n.Form, err = d.nextForm(ctx, d.Registry.Verb(name), d.next); err != nil {
			return nil, err
		}
		if n.Form != nil {
			acts = acts[1:]
		}
	}
	n.Task.Acts = acts
	return n, nil
}

// nextForm returns the form of an act for the first page; nil if it is too long for that.
func (d *Desk) nextForm(ctx context.Context, verb *verbs.Verb, item string) (*pages.Form, error) {
	f, _, err := d.asked(verb, url.Values{"item": {item}, "key": {logins.Secret()}})
	if err != nil {
		return nil, err
	}
	form, err := d.form(ctx, f)
	if err != nil || len(form.Fields) == 0 || len(form.Fields) > mostNext {
		return nil, err
	}
	return &form, nil
}

// numbered finds the number of a question in what says how far the questions are.
var numbered = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+`) })

// begun reports whether an act goes on with questions that were begun, and makes its link say with
// which.
func (d *Desk) begun(ctx context.Context, r row, act *pages.Link) (bool, error) {
	if !strings.HasPrefix(act.URL, "/questions/") {
		return false, nil
	}
	s := &step{Desk: d, item: r.item(), row: r}
	program, err := s.starts(ctx)
	if err != nil {
		return false, err
	}
	preview, err := d.Session.Preview(ctx, program)
	if err != nil || len(preview.Calls[0].Result.Rows) == 0 {
		return false, err
	}
	s.call = &preview.Calls[0]
	if s.text(0, "status") == d.page.Questions.Checking {
		act.Text = d.Say("pages/check-answers")
		return true, nil
	}
	if n := numbered().FindString(s.text(0, "step")); n != "" && n != "1" {
		act.Text = d.Say("pages/continue-with", n)
		return true, nil
	}
	return false, nil
}
