package console

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/verbs"
	"verbatim/verbs/drift"
	"verbatim/verbs/load"
)

// Palettes of two versions compared: the one that runs here, and a text that its author pastes or
// edits. Nothing of it is kept, and nothing runs by it.

// comparePage shows the text of a palette and, once another is sent, what would be different by it.
func (d *desk) comparePage() error {
	if !d.Serves() {
		return d.NotFound()
	}
	all := d.Registry.Palettes()
	if len(all) == 0 {
		return d.NotFound()
	}
	q := d.R.URL.Query()
	if d.R.Method == http.MethodPost {
		q = d.R.PostForm
	}
	i := max(0, slices.IndexFunc(all, func(p *verbs.Palette) bool { return p.Domain == q.Get("palette") }))
	text := strings.ReplaceAll(q.Get("text"), "\r\n", "\n")
	p := d.Frame(d.Say("pages/compare"))
	p.Wide = true
	p.Back = &pages.Link{URL: "/verbs", Text: d.Say("pages/reference")}
	form := pages.Form{Title: path.Base(all[i].Source.Name), URL: "/palettes", Hidden: []pages.Hidden{{Name: "palette", Value: all[i].Domain}},
		Fields:  []pages.Field{{ID: "text", Name: "text", Kind: "area", Label: d.Say("pages/other-version"), Value: all[i].Source.Text}},
		Buttons: []pages.Button{{Text: d.Say("pages/compare-now"), Tone: "main"}}}
	for k, other := range all {
		if k != i {
			form.Links = append(form.Links, pages.Link{URL: "/palettes?" + url.Values{"palette": {other.Domain}}.Encode(), Text: path.Base(other.Source.Name)})
		}
	}
	status := http.StatusOK
	if d.R.Method == http.MethodPost {
		form.Fields[0].Value = text
		var sources []*dsl.Source
		for k, other := range all {
			if sources = append(sources, other.Source); k == i {
				sources[k] = dsl.NewSource(path.Base(other.Source.Name), text)
			}
		}
		draft := load.ReadDraft(nil, false, sources...)
		for _, wrong := range draft.Diagnostics {
			if wrong.Severity == dsl.Error {
				form.Wrong = append(form.Wrong, pages.Mistake{Field: "text", Text: at(&wrong) + wrong.Summary})
			}
		}
		if p.Wrong = len(form.Wrong) > 0; p.Wrong {
			status = http.StatusUnprocessableEntity
		} else {
			changes, err := d.compared(all[i], draft.Registry, sources[i])
			if err != nil {
				return err
			}
			p.Main = append(p.Main, changes)
		}
	}
	p.Main = append(p.Main, form)
	return d.Render(status, p)
}

// at writes the line of a diagnostic.
func at(wrong *dsl.Diagnostic) string {
	if wrong.Place.Source == nil {
		return ""
	}
	return path.Base(wrong.Place.String()) + ": "
}

// compared lists what other palettes would change: the verbs that are new, gone or different, each with
// the lines of its reference that differ, and in which respects they would be less safe.
func (d *desk) compared(p *verbs.Palette, other *verbs.Registry, source *dsl.Source) (pages.Table, error) {
	table := pages.Table{ID: "changes", Title: d.Say("pages/differs"), Head: []string{d.Say("pages/verb"), d.Say("pages/became")}, Empty: d.Say("pages/no-difference")}
	add := func(name, text string) {
		table.Rows = append(table.Rows, []pages.Cell{{Text: name, Code: true}, {Text: text}})
	}
	for _, v := range p.Verbs {
		then := other.Verb(v.Name)
		if then == nil {
			add(v.Name, d.Say("pages/gone"))
			continue
		}
		was, err := reference(v)
		if err != nil {
			return table, err
		}
		is, err := reference(then)
		if err != nil {
			return table, err
		}
		var lines []string
		for _, line := range was {
			if !slices.Contains(is, line) {
				lines = append(lines, "− "+line)
			}
		}
		for _, line := range is {
			if !slices.Contains(was, line) {
				lines = append(lines, "+ "+line)
			}
		}
		if lines != nil {
			add(v.Name, strings.Join(lines, "\n"))
		}
	}
	for _, v := range other.Verbs() {
		if v.Place.Source == source && d.Registry.Verb(v.Name) == nil {
			add(v.Name, d.Say("pages/new")+": "+v.Description)
		}
	}
	for _, less := range drift.Between(d.Registry, other) {
		if less.Place.Source == source {
			table.Lines = append(table.Lines, at(&less)+less.Summary)
		}
	}
	return table, nil
}

// reference returns the lines of a verb's reference, without the place of its declaration.
func reference(v *verbs.Verb) (lines []string, err error) {
	text, err := server.Explained(v)
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.Join(strings.Fields(line), " "); line != "" && !strings.HasPrefix(line, "declared ") {
			lines = append(lines, line)
		}
	}
	return lines, err
}
