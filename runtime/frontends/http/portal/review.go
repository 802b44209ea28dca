package portal

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The page of an item for staff: the queue that it came from, its document, and what can be done.

// review shows an item beside its queue and its document. call is what the palette's detail verb says of
// it.
func (d *Desk) review(name string, call *receipt.Call, r row, listed bool) error {
	ctx := d.R.Context()
	q, err := d.queue(ctx)
	if err != nil {
		return err
	}
	list, err := q.list(ctx, name)
	if err != nil {
		return err
	}
	title := d.Tell.Value(stores.NewString("@" + name))
	if listed {
		title = r.title()
	}
	p := d.headed(ctx, pages.Sentence(title))
	p.Wide, p.Full, p.Back = true, true, &pages.Link{URL: q.url(d.at(d.page)), Text: d.Tell.Text(d.page.Title)}
	opened, err := d.openedCard(ctx, name)
	if err != nil {
		return err
	}
	onFile := onFileOf(r, listed, opened)
	out := pages.Review{Queue: list}
	if out.Document, out.Files, err = d.documents(ctx, q, name, call, onFile); err != nil {
		return err
	}
	decision, err := d.decision(ctx, q, name, call, r, listed)
	if err != nil {
		return err
	}
	out.Side = append(out.Side, decision)
	if compared := d.compared(out.Document, onFile); compared != nil {
		out.Side = append(out.Side, *compared)
	}
	if opened != nil {
		out.Side = append(out.Side, *opened)
	}
	if d.portal.History != nil && len(call.Result.Keys) == 1 {
		events, err := d.portal.History(d, call.Result.Entity, call.Result.Keys[0])
		if err != nil {
			return err
		}
		out.Side = append(out.Side, events)
	}
	p.Main = []pages.Block{out}
	drawn, err := d.drawings(ctx, call.Result.Entity, call.Result.Keys)
	if err != nil {
		return err
	}
	p.Main = append(p.Main, drawn...)
	return d.Render(http.StatusOK, p)
}

// decision shows what is known of an item, and the acts that are offered for it. An act that needs
// nothing but the item is done from here; the others are links to their forms.
func (d *Desk) decision(ctx context.Context, q *queue, name string, call *receipt.Call, r row, listed bool) (pages.Card, error) {
	card := pages.Card{ID: "decision", Title: d.Say("pages/staff-decide"), Arrive: true, Facts: d.details(call)}
	if !listed {
		card.Notes = []pages.Banner{{Text: d.Say("pages/staff-not-listed")}}
		return d.Present("item "+name, card), nil
	}
	card.Lines = r.lines()
	card.Facts = slices.DeleteFunc(card.Facts, func(f pages.Fact) bool { // the title says it
		return slices.ContainsFunc(r.of.Title, func(column string) bool { return f.Text == pages.Sentence(r.text(column)) })
	})
	links, err := d.acts(ctx, r)
	if err != nil {
		return card, err
	}
	next := q.after(name)
	for i := range links {
		if next != "" {
			links[i].URL += "&" + url.Values{"next": {next}}.Encode()
		}
	}
	if len(links) > 0 {
		if form, ok := d.direct(links[0], name, next); ok {
			card.URL, card.Hidden, card.Buttons = form.URL, append(form.Hidden, pages.Hidden{Name: "key", Value: logins.Secret()}), []pages.Button{{Name: "direct", Value: "1", Text: links[0].Text, Tone: "main"}}
			links = links[1:]
		}
	}
	card.Links = links
	return d.Present("item "+name, card), nil
}

// direct returns the form of an act that asks for nothing but its item.
func (d *Desk) direct(link pages.Link, item, next string) (form pages.Act, ok bool) {
	at, _, _ := strings.Cut(link.URL, "?")
	name, isForm := strings.CutPrefix(at, "/do/")
	verb := d.Registry.Verb(name)
	if !isForm || verb == nil || slices.ContainsFunc(verb.Params, func(p verbs.Param) bool { return p.Type.Name != verbs.RefType || !p.Required }) || len(verb.Params) != 1 {
		return form, false
	}
	form = pages.Act{URL: at, Hidden: []pages.Hidden{{Name: "item", Value: item}, {Name: "edition", Value: d.edition(nil, verb)}}}
	if next != "" {
		form.Hidden = append(form.Hidden, pages.Hidden{Name: "next", Value: next})
	}
	return form, true
}

// after returns the page of the item behind another in the queue, "" if there is none: the page that a
// decision leads on to.
func (q *queue) after(item string) string {
	i := slices.IndexFunc(q.rows, func(r row) bool { return r.item() == item })
	if i < 0 || i+1 >= len(q.rows) {
		return ""
	}
	return q.url(q.d.itemURL(q.rows[i+1].item()))
}

// openedCard shows the masked values of an item once somebody asks for them; nil if the palette has none.
func (d *Desk) openedCard(ctx context.Context, name string) (*pages.Card, error) {
	if d.page.Opens == nil || !d.Session.May(d.page.Opens) {
		return nil, nil
	}
	card := &pages.Card{ID: "opened", Title: d.Tell.Verb(d.page.Opens)}
	if d.R.Method != http.MethodPost {
		card.URL, card.Lines, card.Buttons = d.R.URL.RequestURI(), []string{Masked}, []pages.Button{{Name: "show", Value: "1", Text: d.Say("pages/show")}}
		return card, nil
	}
	var err error
	if card.Facts, err = d.opened(ctx, name); err == nil && len(card.Facts) == 0 {
		card.Lines = []string{d.Say("pages/none")}
	}
	return card, err
}

// A fact is what is on file, as it may be written in a document.
type fact struct {
	name, text string
	marked     pages.Marked
}

// onFileOf lists what is on file and can be looked for in an item's document: what the item is called by,
// whose it is, and the masked values that somebody opened.
func onFileOf(r row, listed bool, opened *pages.Card) (all []fact) {
	if listed {
		for _, column := range append(slices.Clone(r.of.Title), r.of.Slots["owner"]) {
			if column == "" {
				continue
			}
			if v := r.value(column); v.Kind() == stores.String && r.d.codesOf(r.of.Verb, column) == nil && v.Text() != "" {
				all = append(all, fact{r.d.heading(r.of.Verb, column), r.text(column), pages.Marked{Spellings: []string{r.text(column)}, Words: true}})
			}
		}
	}
	if opened != nil {
		for _, f := range opened.Facts {
			all = append(all, fact{f.Name, f.Text, pages.Marked{Spellings: spellings(f.Text)}})
		}
	}
	return all
}

// spellings lists the ways in which a value is written in documents: a date has several.
func spellings(text string) []string {
	found, _ := values.Find(text, values.In{Now: time.Now(), Languages: []values.Language{values.English, values.German, values.French, values.Spanish}})
	if len(found) != 1 || !found[0].Known() || found[0].Value.Kind() != stores.Date {
		return []string{text}
	}
	day, err := time.Parse(time.DateOnly, found[0].Value.Text())
	if err != nil {
		return []string{text}
	}
	all := []string{text}
	for _, layout := range []string{"2006-01-02", "02.01.2006", "2.1.2006", "02/01/2006", "02 Jan 2006", "2 January 2006", "January 2, 2006", "02 01 2006", "060102"} {
		all = append(all, day.Format(layout))
	}
	return all
}

// compared puts what is on file beside where the document says it; nil if there is nothing to compare.
func (d *Desk) compared(doc *pages.Document, of []fact) *pages.Compared {
	if doc == nil || len(of) == 0 {
		return nil
	}
	out := &pages.Compared{ID: "compared", Title: d.Say("pages/compared")}
	for i := range of {
		row := pages.OnFile{Name: of[i].name, Text: of[i].text, Where: d.Say("pages/compared-eye")}
		switch doc.Kind {
		case "pdf":
			out.Says = d.Say("pages/compared-how")
		case "text":
			row.Where = d.Say("pages/compared-not-text")
			line := 1
			for _, run := range doc.Text {
				if run.Mark == i+1 {
					row.Where, row.URL = d.Say("pages/compared-line", strconv.Itoa(line)), "#mark-"+strconv.Itoa(i+1)
					break
				}
				line += strings.Count(run.Text, "\n")
			}
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// marked divides a text at the first place of each fact.
func marked(text string, of []fact) []pages.Run {
	type place struct{ from, to, mark int }
	var all []place
	for i := range of {
		for _, spelling := range of[i].marked.Spellings {
			words := strings.Fields(spelling)
			for k := range words {
				words[k] = regexp.QuoteMeta(words[k])
			}
			if at := regexp.MustCompile("(?i)" + strings.Join(words, `\s+`)).FindStringIndex(text); at != nil && len(words) > 0 {
				all = append(all, place{at[0], at[1], i + 1})
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b place) int { return a.from - b.from })
	var runs []pages.Run
	from := 0
	for _, p := range all {
		if p.from < from {
			continue
		}
		runs = append(runs, pages.Run{Text: text[from:p.from]}, pages.Run{Text: text[p.from:p.to], Mark: p.mark})
		from = p.to
	}
	return append(runs, pages.Run{Text: text[from:]})
}

// mostFiles is how many files of an item are looked up.
const mostFiles = 20

// fileReference matches a reference of a file in a result.
var fileReference = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`upload://[A-Za-z0-9_-]{1,64}`) })

// references lists the files that a result names, in lists too.
func references(res *receipt.Result) (all []string) {
	for _, values := range res.Rows {
		for j, v := range values {
			if res.Withheld(j) {
				continue
			}
			for _, ref := range fileReference().FindAllString(v.Text(), mostFiles) {
				if !slices.Contains(all, ref) {
					all = append(all, ref)
				}
			}
		}
	}
	return all[:min(len(all), mostFiles)]
}

// files returns the files that a result names and that the person may see.
func (d *Desk) files(ctx context.Context, call *receipt.Call) (all []uploads.Upload, err error) {
	if d.Uploads == nil || call == nil || call.Result == nil {
		return nil, nil
	}
	for _, ref := range references(call.Result) {
		u, err := d.Session.Uploads().Shown(ctx, ref)
		if errors.Is(err, stores.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// documents returns the file of an item that is shown, and links to all of them if there are several.
func (d *Desk) documents(ctx context.Context, q *queue, name string, call *receipt.Call, onFile []fact) (*pages.Document, []pages.Link, error) {
	all, err := d.files(ctx, call)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	slices.Reverse(all) // the latest first
	at := max(0, slices.IndexFunc(all, func(u uploads.Upload) bool { return u.ID == d.R.URL.Query().Get("file") }))
	var links []pages.Link
	if len(all) > 1 {
		for i := range all {
			links = append(links, pages.Link{URL: q.url(d.itemURL(name), "file", all[i].ID), Text: all[i].Name, Here: i == at})
		}
	}
	doc, err := d.document(ctx, &all[at], "/file/"+all[at].ID, onFile)
	return &doc, links, err
}

// mostText is how much of a text is shown, in bytes.
const mostText = 100_000

// document shows a file whose content is at a URL. What runs, or may, is not shown.
func (d *Desk) document(ctx context.Context, u *uploads.Upload, at string, onFile []fact) (pages.Document, error) {
	doc := pages.Document{Name: u.Name, Says: uploads.FileOf(u).Says, URL: at}
	for i := range onFile {
		doc.Marks = append(doc.Marks, onFile[i].marked)
	}
	switch u.Type {
	case "application/pdf":
		doc.Kind = "pdf"
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		doc.Kind = "image"
	case "text/plain", "text/csv", "text/markdown", "application/json":
		_, content, err := d.Uploads.Open(ctx, u.Reference())
		if err != nil {
			return doc, err
		}
		defer content.Close()
		text, err := io.ReadAll(io.LimitReader(content, mostText+1))
		if err != nil {
			return doc, err
		}
		if doc.Cut = len(text) > mostText; doc.Cut {
			for text = text[:mostText]; !utf8.Valid(text[max(0, len(text)-utf8.UTFMax):]) && len(text) > mostText-utf8.UTFMax; {
				text = text[:len(text)-1]
			}
		}
		doc.Kind, doc.Text = "text", marked(strings.ToValidUTF8(string(text), "�"), onFile)
	}
	return doc, nil
}

// file sends a file to a person to whom a verb shows it.
func (d *Desk) file() error {
	if d.Uploads == nil {
		return d.NotFound()
	}
	u, err := d.Session.Uploads().Shown(d.R.Context(), verbs.UploadScheme+d.R.PathValue("id"))
	if errors.Is(err, stores.ErrNotFound) {
		return d.NotFound()
	}
	if err != nil {
		return err
	}
	return d.Give(&u, true)
}

// onward returns where a decision leads on to: the page of an item that its form names, or the page of
// the form.
func (d *Desk) onward(next string) string {
	if u, err := url.Parse(next); err == nil && u.Host == "" && u.Scheme == "" && onItem().MatchString(u.Path) {
		return u.RequestURI()
	}
	return d.at(d.page)
}

// onItem matches the path of an item's page.
var onItem = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^/p/[0-9]{1,4}/item/[^/]+$`) })

// withDone adds to a URL what was done, for the banner there.
func withDone(at, done string, entry int64) string {
	u, err := url.Parse(at)
	if err != nil {
		return at
	}
	args := u.Query()
	args.Set("done", done)
	args.Set("entry", strconv.FormatInt(entry, 10))
	u.RawQuery = args.Encode()
	return u.RequestURI()
}
