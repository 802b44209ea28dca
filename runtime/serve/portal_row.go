package serve

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"verbatim/runtime"
	"verbatim/runtime/serve/pages"
	"verbatim/runtime/sessions"
	"verbatim/runtime/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A row that an answer names has a page: what the verb tells that reads one of its kind, and
// the file that it comes from, opened at its place.

// shows is the verb that reads one row of an entity, of those that the person may use; nil
// where there is none.
func (d *desk) shows(e *verbs.Entity) *verbs.Verb {
	for _, v := range d.Registry.Verbs() {
		if v.Read == nil || !v.Read.One || v.Read.File != "" || v.Read.Entity != e || v.Internal || v.Masked() || !d.session.May(v) {
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

// rowURL is the page of the row that a value of an answer names; "" where it names none, or
// none that has a page.
func (d *desk) rowURL(res *receipt.Result, row, column int) string {
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

// mostSources is how many rows are linked below an answer.
const mostSources = 12

// sources link the rows that an answer rests on, of entities that a palette says are such.
func (d *desk) sources(turn *sessions.Turn) (links []pages.Link) {
	if turn.Role != sessions.Agent {
		return nil
	}
	for _, name := range turn.Names {
		e := d.session.Of(name)
		if e == nil || len(links) == mostSources || !slices.ContainsFunc(d.Registry.Palettes(), func(p *verbs.Palette) bool {
			return p.Conversation != nil && slices.Contains(p.Conversation.Sources, e)
		}) {
			continue
		}
		if v := d.shows(e); v != nil {
			name = strings.TrimPrefix(name, "@")
			links = append(links, pages.Link{URL: "/row/" + v.Name + "/" + url.PathEscape(name), Text: cmp.Or(d.session.Called(name), name)})
		}
	}
	return links
}

// theRow is the row that the address names, as its verb tells it, and its file: nil where
// none can be given. What is not there, or is not theirs, is one answer.
func (d *desk) theRow() (*receipt.Call, *uploads.Upload, error) {
	ctx := d.r.Context()
	verb := d.Registry.Verb(d.r.PathValue("verb"))
	if verb == nil || verb.Read == nil || d.shows(verb.Read.Entity) != verb {
		return nil, nil, d.notFound()
	}
	call, err := d.about(ctx, verb, d.r.PathValue("item"))
	var refusal *runtime.Refusal
	if errors.As(err, &refusal) {
		return nil, nil, d.notFound()
	}
	if err != nil {
		return nil, nil, err
	}
	if call == nil || call.Result == nil || len(call.Result.Keys) != 1 {
		return nil, nil, d.notFound()
	}
	if d.Uploads == nil {
		return call, nil, nil
	}
	u, err := d.session.FileOf(ctx, call.Result.Entity, call.Result.Keys[0])
	if errors.Is(err, stores.ErrNotFound) {
		return call, nil, nil
	}
	return call, &u, err
}

// onPage is the place of a text on a page, as package documents writes it.
var onPage = regexp.MustCompile(`^p\.([0-9]{1,6})\b`)

func (d *desk) rowPage() error {
	call, file, err := d.theRow()
	if err != nil {
		return err
	}
	p := d.frame(sentence(d.tell.Value(stores.NewString("@" + d.r.PathValue("item")))))
	p.Back = &pages.Link{URL: d.at(d.page), Text: d.tells("pages/to-start")}
	block := pages.Prose{ID: "row", Facts: d.details(call)}
	if file != nil {
		link := pages.Link{URL: d.r.URL.EscapedPath() + "/file", Text: d.tells("pages/open-file", file.Name), Tone: "main"}
		for _, v := range call.Result.Rows[0] {
			if at := onPage.FindStringSubmatch(v.Text()); at != nil && file.Type == pdf {
				link.URL += "#page=" + at[1]
				link.Text = d.tells("pages/open-page", file.Name, at[1])
				break
			}
		}
		block.Links = []pages.Link{link}
	}
	p.Main = []pages.Block{block}
	return d.render(http.StatusOK, p)
}

// rowFile gives the file of a row to whoever may see the row.
func (d *desk) rowFile() error {
	_, file, err := d.theRow()
	if err == nil && file == nil {
		err = d.notFound()
	}
	if err != nil {
		return err
	}
	return d.give(file, true)
}
