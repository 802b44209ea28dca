package portal

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The page of a row that an answer mentions: what the verb that reads one such row returns, and the
// source file, opened at its place.

// shows returns a verb that reads one row of an entity and that the person may use; nil if there is
// none.
func (d *Desk) shows(e *verbs.Entity) *verbs.Verb {
	for _, v := range d.Registry.Verbs() {
		if v.Read == nil || !v.Read.One || v.Read.File != "" || v.Read.Entity != e || v.Internal || v.Masked() || !d.Session.May(v) {
			continue
		}
		alone := true
		for i := range v.Params {
			alone = alone && v.Params[i].Required == (i == v.Read.By)
		}
		if alone {
			return v
		}
	}
	return nil
}

// rowURL returns the page of the row in a cell of an answer; "" if there is none.
func (d *Desk) rowURL(res *receipt.Result, row, column int) string {
	i := slices.IndexFunc(res.Refs, func(ref receipt.Ref) bool { return ref.Row == row && ref.Column == column })
	name, named := strings.CutPrefix(res.Rows[row][column].Text(), "@")
	if i < 0 || !named {
		return ""
	}
	verb := d.shows(d.Registry.Entity(res.Refs[i].Entity))
	if verb == nil {
		return ""
	}
	return "/row/" + verb.Name + "/" + url.PathEscape(name)
}

// RowPage returns the page of a row by its name: that of an item, or what a verb reads of it; "" if there
// is none.
func (d *Desk) RowPage(e *verbs.Entity, name string) string {
	name = strings.TrimPrefix(name, "@")
	for i, page := range d.all {
		if read := page.Items.Verb.Read; page.Detail != nil && read != nil && read.Entity == e {
			return "/p/" + strconv.Itoa(i+1) + "/item/" + url.PathEscape(name)
		}
	}
	if verb := d.shows(e); verb != nil {
		return "/row/" + verb.Name + "/" + url.PathEscape(name)
	}
	return ""
}

// ChangedFields tells the changes of a row of the journal, as far as verbs of the reader return the
// fields. Values that the journal only commits to are left out, and instants.
func (d *Desk) ChangedFields(e *verbs.Entity, r *receipt.Row) (all []string) {
	shown := *r
	shown.Fields = slices.DeleteFunc(slices.Clone(r.Fields), func(f receipt.Field) bool { return f.Kind == stores.Time || !d.Session.Journal().Shows(e, f.Name) })
	for _, f := range d.diff(&shown, "pages/asker-said").Fields {
		switch {
		case f.After == Masked || f.Was && f.Before == f.After:
		case f.Was && f.Before != "":
			all = append(all, f.Name+": "+f.Before+" → "+f.After)
		default:
			all = append(all, f.Name+": "+f.After)
		}
	}
	return all
}

// mostSources is how many rows are linked below an answer.
const mostSources = 12

// sources links the rows that an answer cites, if a palette declares their entity as a source.
func (d *Desk) sources(turn *sessions.Turn) (links []pages.Link) {
	if turn.Role != sessions.Agent {
		return nil
	}
	for _, name := range turn.Names {
		e := d.Session.Names().Of(name)
		if e == nil || len(links) == mostSources || !slices.ContainsFunc(d.Registry.Palettes(), func(p *verbs.Palette) bool {
			return p.Conversation != nil && slices.Contains(p.Conversation.Sources, e)
		}) {
			continue
		}
		if v := d.shows(e); v != nil {
			name = strings.TrimPrefix(name, "@")
			links = append(links, pages.Link{URL: "/row/" + v.Name + "/" + url.PathEscape(name), Text: cmp.Or(d.Session.Names().Called(name), name)})
		}
	}
	return links
}

// theRow reads the row in the path and its file; either may be nil. A missing row and another
// person's row give the same answer.
func (d *Desk) theRow() (*receipt.Call, *uploads.Upload, error) {
	ctx := d.R.Context()
	verb := d.Registry.Verb(d.R.PathValue("verb"))
	if verb == nil || verb.Read == nil || d.shows(verb.Read.Entity) != verb {
		return nil, nil, d.NotFound()
	}
	call, err := d.about(ctx, verb, d.R.PathValue("item"))
	if _, ok := errors.AsType[*engine.Refusal](err); ok {
		return nil, nil, d.NotFound()
	}
	if err != nil {
		return nil, nil, err
	}
	if call == nil || call.Result == nil || len(call.Result.Keys) != 1 {
		return nil, nil, d.NotFound()
	}
	if d.Uploads == nil {
		return call, nil, nil
	}
	u, err := d.Session.Uploads().Of(ctx, call.Result.Entity, call.Result.Keys[0])
	if errors.Is(err, stores.ErrNotFound) {
		return call, nil, nil
	}
	return call, &u, err
}

// onPage matches a place on a page, as package documents writes it.
var onPage = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^p\.([0-9]{1,6})\b`) })

// A text of a row is marked in its file if it is neither so short that it stands anywhere, nor a whole page.
const shortestMark, longestMark = 4, 400

func (d *Desk) rowPage() error {
	call, file, err := d.theRow()
	if err != nil {
		return err
	}
	p := d.Frame(pages.Sentence(d.Tell.Value(stores.NewString("@" + d.R.PathValue("item")))))
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.Say("pages/to-start")}
	block := pages.Prose{ID: "row", Facts: d.details(call)}
	p.Main = []pages.Block{block}
	if file != nil {
		link := pages.Link{URL: d.R.URL.EscapedPath() + "/file", Text: d.Say("pages/open-file", file.Name), Tone: "main"}
		var read []fact // what the row says is marked in its file
		page := 0
		for _, v := range call.Result.Rows[0] {
			if at := onPage().FindStringSubmatch(v.Text()); at != nil && file.Type == "application/pdf" && page == 0 {
				link.URL += "#page=" + at[1]
				link.Text = d.Say("pages/open-page", file.Name, at[1])
				page, _ = strconv.Atoi(at[1])
			} else if text := v.Text(); v.Kind() == stores.String && len(text) >= shortestMark && len(text) <= longestMark && text[0] != '@' && text != file.Name {
				read = append(read, fact{marked: pages.Marked{Spellings: []string{text}}})
			}
		}
		block.Links = []pages.Link{link}
		doc, err := d.document(d.R.Context(), file, d.R.URL.EscapedPath()+"/file", read)
		if err != nil {
			return err
		}
		p.Main, p.Wide = []pages.Block{block}, true
		if doc.Page = page; doc.Kind != "" {
			p.Main = append(p.Main, doc)
		}
	}
	return d.Render(http.StatusOK, p)
}

// rowFile sends the file of a row to a person who may see the row.
func (d *Desk) rowFile() error {
	_, file, err := d.theRow()
	if err == nil && file == nil {
		err = d.NotFound()
	}
	if err != nil {
		return err
	}
	return d.Give(file, true)
}
