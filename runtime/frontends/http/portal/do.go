package portal

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
	"verbatim/verbs/explain"
)

// Running a verb from a page: the form, the preview if a rule asks for it, and the result.

// asked returns the form of a verb, with the values that follow from the item.
func (d *Desk) asked(verb *verbs.Verb, values url.Values) (*filledForm, string, error) {
	if verb == nil || !d.Session.May(verb) {
		return nil, "", d.NotFound()
	}
	f := d.fill(verb, values)
	if d.page != nil && verb == d.page.Person {
		talk, err := d.conversation(d.R.Context(), "", "")
		if err != nil {
			return nil, "", err
		}
		f.turns = append([]pages.Message{}, talk.Messages...)
	}
	item := values.Get("item")
	if item == "" {
		return f, "", nil
	}
	for _, page := range d.all {
		for i := range page.Acts {
			act := &page.Acts[i]
			if act.Verb != verb {
				continue
			}
			d.page = page
			f.fixed[act.Item] = item
			r, ok, err := d.find(d.R.Context(), item)
			switch {
			case err != nil:
				return nil, "", err
			case !ok && d.Session.Names().Called(item) == "":
				return nil, "", d.NotFound()
			case !ok:
				return f, f.called(item), nil
			}
			given, ok := d.settles(r, act)
			if !act.OfferedIn(r.state()) {
				ok = false
			}
			if !ok && d.R.Method == http.MethodGet {
				return nil, "", d.NotFound()
			}
			// A form keeps the values that were settled when it was opened. The item may have
			// changed since; then the engine says so.
			for param, codes := range given {
				if len(codes) == 1 {
					f.fixed[param] = codes[0]
				} else {
					f.only[param] = codes
				}
			}
			if r.slot("note").Kind() == stores.String {
				d.before(f, r)
			}
			if before, ok, err := d.given(d.R.Context(), r); err != nil {
				return nil, "", err
			} else if ok {
				d.prefill(f, before)
			}
			return f, r.title(), nil
		}
	}
	return f, "", nil
}

// before fills a form with the current values of what it changes.
func (d *Desk) before(f *filledForm, r row) {
	for i := range f.verb.Effects {
		for _, set := range f.verb.Effects[i].Set {
			param, ok := set.Value.ArgOnly()
			if e := f.verb.Effects[i].Entity; !ok || e == nil || f.values.Has(f.verb.Params[param].Name) {
				continue
			} else if e.Store.Fields[set.Field].Name == r.of.Slots["note"] {
				f.values.Set(f.verb.Params[param].Name, r.slot("note").Text())
			}
		}
	}
}

func (d *Desk) formPage() error {
	f, about, err := d.asked(d.Registry.Verb(d.R.PathValue("verb")), d.R.URL.Query())
	if err != nil {
		return err
	}
	if f.values.Get("key") == "" {
		f.values.Set("key", logins.Secret())
	}
	return d.showForm(http.StatusOK, f, about)
}

// showForm shows the form of a verb, with its mistakes.
func (d *Desk) showForm(status int, f *filledForm, about string) error {
	ctx := d.R.Context()
	form, err := d.form(ctx, f)
	if err != nil {
		return err
	}
	form.Title = about
	back := pages.Link{URL: d.at(d.page), Text: d.Say("pages/back")}
	if item := f.values.Get("item"); item != "" && d.page != nil && d.page.Desk && d.page.Detail != nil {
		back.URL = d.itemURL(item)
	}
	if f.values.Get("try") != "" {
		back.URL = "/verbs/" + f.verb.Name
		form.Buttons = []pages.Button{{Name: "try", Value: "show", Text: d.Say("pages/show-call"), Tone: "main"}}
	}
	form.Links = append([]pages.Link{back}, form.Links...)
	p := d.Frame(d.actTitle(f.verb))
	p.Wrong = len(form.Wrong) > 0
	p.Main = []pages.Block{form}
	if d.page != nil && f.verb == d.page.Person {
		passed, err := d.passedOn(ctx)
		if err != nil {
			return err
		}
		p.Main = append(p.Main, passed)
	}
	return d.Render(status, p)
}

// form makes the form of a verb, with its mistakes.
func (d *Desk) form(ctx context.Context, f *filledForm) (pages.Form, error) {
	fields, files, more, err := f.fields(ctx)
	if err != nil {
		return pages.Form{}, err
	}
	title := d.actTitle(f.verb)
	form := pages.Form{URL: "/do/" + f.verb.Name, Files: files, Fields: fields, Wrong: f.mistakes(fields), Hidden: []pages.Hidden{{Name: "edition", Value: d.edition(nil, f.verb)}}}
	for _, name := range [...]string{"item", "key", "next"} {
		if value := f.values.Get(name); value != "" {
			form.Hidden = append(form.Hidden, pages.Hidden{Name: name, Value: value})
		}
	}
	for i := range f.verb.Params {
		p := &f.verb.Params[i]
		if settled := f.fixed[i]; settled != "" && settled != f.values.Get("item") {
			form.Hidden = append(form.Hidden, pages.Hidden{Name: p.Name, Value: settled})
		}
	}
	for _, m := range f.turns {
		if m.Number != "" {
			form.Hidden = append(form.Hidden, pages.Hidden{Name: "shown", Value: m.Number})
		}
	}
	button := pages.Button{Text: title, Tone: "main"}
	if more {
		button.Text = d.Say("pages/continue")
		form.Hidden = append(form.Hidden, pages.Hidden{Name: "more", Value: "1"})
	}
	form.Buttons = []pages.Button{button}
	for _, name := range f.instead {
		if verb := d.Registry.Verb(name); verb != nil && verb != f.verb && !verb.Answers() && d.Session.May(verb) {
			form.Links = append(form.Links, pages.Link{URL: "/do/" + name + "?" + url.Values{"item": {f.values.Get("item")}}.Encode(), Text: d.actTitle(verb)})
		}
	}
	return form, nil
}

// Trial makes the form of a verb whose button shows the call and what it would do, and sends nothing.
func (d *Desk) Trial(verb *verbs.Verb) (pages.Form, error) {
	f := d.fill(verb, url.Values{"try": {"1"}})
	f.values.Set("key", logins.Secret())
	form, err := d.form(d.R.Context(), f)
	form.Title = d.Say("pages/try")
	form.Buttons = []pages.Button{{Name: "try", Value: "show", Text: d.Say("pages/show-call"), Tone: "main"}}
	return form, err
}

// edition returns a digest of the forms of verbs and schemas: it differs if a newer palette changed
// one.
func (d *Desk) edition(schema *verbs.Schema, all ...*verbs.Verb) string {
	var text strings.Builder
	for _, verb := range all {
		_ = explain.Verb(&text, verb) // a builder takes it all
	}
	if schema != nil {
		text.Write(schema.Text())
	}
	return logins.Digest(text.String())[:12]
}

// actTitle returns the title under which a verb is offered.
func (d *Desk) actTitle(verb *verbs.Verb) string {
	for _, page := range d.all {
		if page.Person == verb {
			return d.Say("pages/person")
		}
		for i := range page.Acts {
			if act := &page.Acts[i]; act.Verb == verb && act.Says != "" {
				return d.Tell.Text(act.Says)
			}
		}
	}
	return d.Tell.Verb(verb)
}

// passedOn lists what a call for a person passes on besides the conversation: the open tasks.
func (d *Desk) passedOn(ctx context.Context) (pages.Prose, error) {
	out := pages.Prose{ID: "passed", Title: d.Say("pages/passed-on")}
	rows, err := d.rows(ctx, d.page.Items)
	if err != nil {
		return out, err
	}
	for _, r := range rows {
		out.Lines = append(out.Lines, r.title())
	}
	return out, nil
}

// do runs the call of a form, once; or shows its preview, if a rule asks for an agreement.
func (d *Desk) do() error {
	verb := d.Registry.Verb(d.R.PathValue("verb"))
	if verb == nil {
		return d.NotFound()
	}
	values, refused, err := d.multipart(func(name string) bool {
		return slices.ContainsFunc(verb.Params, func(p verbs.Param) bool { return p.Name == name && p.Upload != nil })
	})
	if err != nil {
		return err
	}
	f, about, err := d.asked(verb, values)
	if err != nil {
		return err
	}
	key := values.Get("key")
	if key == "" || len(key) > 100 {
		return server.BadBody("the form has no key", "go back and open it again")
	}
	if refused != "" {
		for i := range verb.Params {
			if verb.Params[i].Upload != nil {
				f.wrong[verb.Params[i].Name] = refused
			}
		}
	}
	if values.Get("no") != "" {
		return d.declines(f)
	}
	// Under a newer palette the answers may mean something else, so the form is shown again.
	if edition := values.Get("edition"); edition != "" && edition != d.edition(nil, verb) {
		f.wrong[""] = d.Say("pages/asked-again")
		return d.showForm(http.StatusConflict, f, about)
	}
	if values.Get("change") != "" || values.Get("try") == "change" || values.Get("more") != "" && !f.moreGiven() {
		return d.showForm(http.StatusOK, f, about)
	}
	script, err := f.call()
	if err != nil {
		return err
	}
	if script == nil {
		return d.showForm(http.StatusUnprocessableEntity, f, about)
	}
	ctx := d.R.Context()
	// A repeated form gets the same answer, even if the run removed the row that the call names.
	if done := d.did(f, script, key); done != nil {
		return d.again(done)
	}
	program, ds := d.Session.Check(ctx, script, engine.CheckOptions{Said: theirs})
	if ds.HasErrors() || program == nil {
		if done := d.did(f, script, key); done != nil { // just now, by the same form
			return d.again(done)
		}
		f.misfits(script, ds)
		return d.showForm(http.StatusUnprocessableEntity, f, about)
	}
	if values.Get("try") == "show" {
		return d.tries(f, program)
	}
	return d.does(f, about, script, program, key)
}

// did returns the receipt of a form that already ran this script: by the same answer to the same
// question or, where nobody was asked, under the key of the form. It is nil if none did.
func (d *Desk) did(f *filledForm, script *dsl.Script, key string) *receipt.Receipt {
	again := func() (*receipt.Receipt, error) {
		return d.Session.Journal().Repeat(d.R.Context(), script, "form "+key)
	}
	if agreed := f.values.Get("agreed"); agreed != "" {
		again = func() (*receipt.Receipt, error) {
			return d.Session.Journal().Answered(d.R.Context(), script, agreed)
		}
	}
	done, err := again()
	if err != nil {
		return nil
	}
	return done
}

// again returns to the page of a form that was sent again, with the entry of what it did.
func (d *Desk) again(done *receipt.Receipt) error {
	return d.See(withDone(d.onward(d.R.PostForm.Get("next")), "again", done.First))
}

// moreGiven reports whether the arguments that follow a choice were sent along with it.
func (f *filledForm) moreGiven() bool {
	for i := range f.verb.Params {
		if p := &f.verb.Params[i]; p.Type.Name == verbs.ObjectType {
			for name := range f.values {
				if strings.HasPrefix(name, p.Name+".") {
					return true
				}
			}
		}
	}
	return false
}

// does runs a program. It asks first if a rule says so, and proposes it if somebody else must
// agree.
func (d *Desk) does(f *filledForm, about string, script *dsl.Script, program *verbs.Program, key string) error {
	ctx := d.R.Context()
	refuse := func(err error) error {
		var refusal *engine.Refusal
		if !errors.As(err, &refusal) {
			return err
		}
		// The refusal may come from a double submit: the first one already did it.
		if done := d.did(f, script, key); done != nil {
			return d.again(done)
		}
		if refusal.Diagnostics[0].Code == "key-reused" {
			// The form was sent before with other values: it gets a key of its own.
			f.values.Set("key", logins.Secret())
			f.wrong[""] = d.Say("pages/sent-before")
			return d.showForm(http.StatusConflict, f, about)
		}
		f.misfits(script, refusal.Diagnostics)
		if len(f.wrong) == 0 {
			f.wrong[""] = d.Tell.Refused(refusal.Diagnostics)
		}
		return d.showForm(http.StatusUnprocessableEntity, f, about)
	}
	agreed := f.values.Get("agreed")
	if f.verb.Answers() {
		r, err := d.Session.Run(ctx, program, engine.RunOptions{Source: "page"})
		if err != nil {
			return refuse(err)
		}
		return d.answers(f, r)
	}
	// The answer is to the question that was shown: it is not asked again.
	id, _ := receipt.ReadAnswer(agreed)
	look := d.Session.Keep
	if agreed != "" {
		look = d.Session.Preview
	}
	preview, err := look(ctx, program, engine.RunOptions{Source: "page"})
	if err == nil && agreed != "" && preview.Sealed().ID != id { // this is another question
		preview, err = d.Session.Keep(ctx, program, engine.RunOptions{Source: "page"})
	}
	if err != nil {
		return refuse(err)
	}
	own, others := false, false
	for _, ask := range preview.Asks() {
		own, others = own || ask.By == "", others || ask.By != ""
	}
	if (own || others) && preview.Sealed().ID != id {
		return d.asks(f, preview, agreed != "", others)
	}
	o := engine.RunOptions{Source: "page", Key: "form " + key}
	if own {
		o.Agreed, o.Key = agreed, ""
	}
	if others {
		pending, err := d.Session.Propose(ctx, program, engine.RunOptions{Source: "page", Agreed: o.Agreed})
		if err != nil {
			return refuse(err)
		}
		var roles []string
		for _, r := range pending.Roles {
			if r.By == "" {
				roles = append(roles, d.Tell.Text(r.Role))
			}
		}
		return d.settled(ctx, f, d.Say("pages/proposed", strings.Join(roles, ", "), d.Time(pending.Expires)), 0)
	}
	r, err := d.Session.Run(ctx, program, o)
	if err != nil {
		return refuse(err)
	}
	if r.Repeated {
		return d.again(r)
	}
	return d.settled(ctx, f, d.Tell.Done(r), r.First)
}

// settled records in the conversation what a form did. It returns to the page of the form, with a
// link to the entry of the journal.
func (d *Desk) settled(ctx context.Context, f *filledForm, told string, entry int64) error {
	var names []string
	if item := f.values.Get("item"); item != "" {
		names = d.Session.Names().Known([]string{item}) // a job is no row
	}
	told = strings.Join(slices.Compact(strings.Split(strings.TrimSpace(told), "\n")), "\n") // of several files
	n, err := d.Session.Turns().Say(ctx, sessions.Said{Role: sessions.System, Content: strings.TrimSpace(shown(told)), Intent: formIntent + f.verb.Name, Names: names})
	if err != nil {
		// The run is committed, so a failure to record it in the conversation is no error: what was
		// done is told here.
		p := d.Frame(d.actTitle(f.verb))
		p.Main = []pages.Block{pages.Prose{ID: "told", Told: true, Title: d.Say("pages/happened"), Lines: strings.Split(strings.TrimSpace(told), "\n"), Links: []pages.Link{{URL: d.at(d.page), Text: d.Say("pages/continue"), Tone: "main"}}}}
		return d.Render(http.StatusOK, p)
	}
	return d.See(withDone(d.onward(f.values.Get("next")), strconv.FormatInt(n, 10), entry))
}

// formIntent is the prefix of the intent of a turn that a form made.
const formIntent = "form "

// doneBanner says what was just done, and how to change it.
func (d *Desk) doneBanner(ctx context.Context) *pages.Banner {
	done := d.R.URL.Query().Get("done")
	entry, _ := strconv.ParseInt(d.R.URL.Query().Get("entry"), 10, 64)
	if done == "again" && entry > 0 {
		for e, err := range journal.ByNumber(ctx, d.Store, entry, entry) {
			if err == nil && e.Principal == d.Principal { // an address alone says nothing
				return &pages.Banner{Tone: "ok", Text: d.Say("pages/done-before")}
			}
		}
	}
	n, err := strconv.ParseInt(done, 10, 64)
	if err != nil {
		return nil
	}
	turns, err := d.Session.Turns().Between(ctx, n, n)
	if err != nil || len(turns) != 1 || turns[0].Role != sessions.System {
		return nil
	}
	verb, ok := strings.CutPrefix(turns[0].Intent, formIntent)
	if !ok {
		return nil
	}
	b := &pages.Banner{Tone: "ok", Text: turns[0].Content, Facts: d.gave(ctx, verb, turns[0].Names)}
	b.Acts, _ = d.acted(ctx, verb, turns[0].Names, entry) // without them it is told all the same
	return b
}

// acted lists what the person can do about an entry of the journal: change it, take it back, or see
// how it came about.
func (d *Desk) acted(ctx context.Context, verb string, names []string, entry int64) (all []pages.Link, err error) {
	v := d.Registry.Verb(verb)
	if v == nil {
		return nil, nil
	}
	of := d.actTitle(v)
	if d.page == nil {
		names = nil
	}
	offered := d.page != nil && slices.ContainsFunc(d.page.Acts, func(a verbs.PageAct) bool { return a.Verb == v })
	for _, name := range names {
		item := strings.TrimPrefix(name, "@")
		r, ok, err := d.find(ctx, item)
		if err != nil {
			return nil, err
		}
		if !ok || !offered || len(v.Confirm) > 0 {
			continue
		}
		// It is changed by the same verb, or by the one that corrects what was given.
		again, err := d.actsBy(ctx, r, func(a *verbs.PageAct) bool { return a.Verb == v && r.state() != "with-us" })
		if err != nil {
			return nil, err
		}
		for i := range again {
			again[i].Text, again[i].Tone = d.Say("pages/change"), ""
		}
		if len(again) == 0 {
			if again, err = d.actsBy(ctx, r, func(a *verbs.PageAct) bool { return a.Verb != v && corrects(a.Verb) && corrects(v) }); err != nil {
				return nil, err
			}
		}
		if len(again) > 0 {
			again[0].Of = of
			all = append(all, again[0])
			break
		}
	}
	if entry > 0 {
		at := strconv.FormatInt(entry, 10)
		if v.Undoes != nil || v.Undo != nil && v.Undo.None == "" {
			all = append(all, pages.Link{URL: "/undo/" + at, Text: d.Say("pages/take-back"), Of: of})
		}
		all = append(all, pages.Link{URL: "/journal/" + at, Text: d.Say("pages/came-about"), Of: of})
	}
	return all, nil
}

// asks shows a preview and asks for agreement.
func (d *Desk) asks(f *filledForm, preview *receipt.Receipt, stale, others bool) error {
	card := pages.Card{ID: "ask", Title: d.Say("pages/shall-i"), Rows: d.Diffs(preview, "pages/you-said"), URL: "/do/" + f.verb.Name, Hidden: append(f.hidden(), pages.Hidden{Name: "agreed", Value: preview.Answer()})}
	if text := d.Tell.Asks(preview); text != "" {
		card.Lines = strings.Split(text, "\n")
		// The question already says what changes; the rows are folded away.
		card.Rows, card.Folded = nil, card.Rows
	}
	if text := d.Tell.Earlier(preview, d.Zone()); text != "" {
		card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: text})
	}
	if stale {
		card.Notes = append(card.Notes, pages.Banner{Tone: "warn", Text: d.Say("pages/asked-again")})
	}
	for _, ask := range preview.Asks() {
		card.Facts = append(card.Facts, pages.Fact{Name: d.Say("pages/why"), Text: pages.Sentence(d.Tell.Text(ask.Reason))})
		if ask.By != "" {
			card.Facts = append(card.Facts, pages.Fact{Name: d.Say("pages/agrees-too"), Text: pages.Sentence(d.Tell.Text(ask.By))})
		}
	}
	card.Buttons = []pages.Button{{Name: "yes", Value: "1", Text: d.Say("pages/do-it")}, {Name: "no", Value: "1", Text: d.Say("pages/do-not")}, {Name: "change", Value: "1", Text: d.Say("pages/change")}}
	if others {
		card.Buttons[0].Text = d.Say("pages/ask-for-it")
	}
	p := d.Frame(d.actTitle(f.verb))
	p.Main = []pages.Block{card}
	return d.Render(http.StatusOK, p)
}

// declines declines a preview.
func (d *Desk) declines(f *filledForm) error {
	ctx := d.R.Context()
	if script, err := f.call(); err == nil && script != nil && f.values.Get("agreed") != "" {
		if program, ds := d.Session.Check(ctx, script, engine.CheckOptions{Said: theirs}); !ds.HasErrors() && program != nil {
			// A preview that does not exist any more counts as declined.
			if err := d.Session.DeclinePreview(ctx, program, f.values.Get("agreed")); err != nil {
				if done := d.did(f, script, f.values.Get("key")); done != nil {
					return d.again(done)
				}
			}
		}
	}
	return d.settled(ctx, f, d.Say("pages/not-done"), 0)
}

// Diffs lists the rows of a receipt, before and after. person labels values that the asker wrote.
func (d *Desk) Diffs(r *receipt.Receipt, person values.Key) (all []pages.Diff) {
	for i := range r.Calls {
		for k := range r.Calls[i].Rows {
			all = append(all, d.diff(&r.Calls[i].Rows[k], person))
		}
	}
	return all
}

func (d *Desk) diff(row *receipt.Row, person values.Key) pages.Diff {
	diff := pages.Diff{Title: d.Tell.Row(row)}
	switch row.Op {
	case receipt.Inserted:
		diff.Op = d.Say("pages/new")
	case receipt.Deleted:
		diff.Op = d.Say("pages/deleted")
	}
	if row.Op == receipt.Inserted || row.Name == "" {
		diff.Title = d.Tell.Label(row.Entity)
	}
	if row.Owner != "" {
		diff.Title += ", " + d.Tell.Value(stores.NewString("@"+strings.TrimPrefix(row.Owner, "@")))
	}
	fields := row.Shown()
	for n := range fields {
		field := &fields[n]
		if field.From == "now" || row.Op == receipt.Deleted || !d.Serves() && opaque().MatchString(field.After.Text()) {
			continue
		}
		side := func(v receipt.Value) string {
			if v.Is != "" && v.IsNull() && !v.Gone {
				return Masked
			}
			return d.Tell.Field(field, v)
		}
		diff.Fields = append(diff.Fields, pages.Changed{Name: d.Tell.Label(field.Name), Was: row.Op == receipt.Updated, Before: side(field.Before), After: side(field.After), From: d.from(field, person)})
	}
	return diff
}

// Masked replaces a value that is shown on request.
const Masked = "••••••"

// from says where a value comes from. person labels the asker's own words.
func (d *Desk) from(f *receipt.Field, person values.Key) string {
	if text := d.Tell.From(f.Origin); text != "" {
		return d.Say("pages/from", text)
	}
	if strings.Contains(f.Origin, "person") && strings.HasPrefix(f.From, ":") {
		return d.Say(person)
	}
	return ""
}

// answers shows the rows that a verb returned.
func (d *Desk) answers(f *filledForm, r *receipt.Receipt) error {
	call := &r.Calls[0]
	p := d.Frame(d.actTitle(f.verb))
	p.Wide = true
	if call.Result != nil && call.Result.File != nil {
		f := call.Result.File
		p.Banners = append(p.Banners, pages.Banner{Tone: "ok", Text: d.Say("pages/file", f.Says), Acts: []pages.Link{{URL: "/v1/uploads/" + strings.TrimPrefix(f.Reference, verbs.UploadScheme) + "/content", Text: f.Name}}})
	}
	p.Main = []pages.Block{d.found(f.verb, call)}
	return d.Render(http.StatusOK, p)
}

// found makes the table of the rows that a verb returned.
func (d *Desk) found(verb *verbs.Verb, call *receipt.Call) pages.Table {
	table := pages.Table{ID: "found", Title: d.Say("pages/found"), Empty: d.Say("pages/none")}
	if res := call.Result; res != nil {
		of := &verbs.PageList{Verb: verb}
		for j, column := range res.Columns {
			if !res.Withheld(j) {
				table.Head = append(table.Head, d.Tell.Label(column))
			}
		}
		for n := range res.Rows {
			row := row{d, of, call, n}
			var cells []pages.Cell
			for j, column := range res.Columns {
				if !res.Withheld(j) {
					cells = append(cells, pages.Cell{Text: row.text(column), URL: d.rowURL(res, n, j)})
				}
			}
			table.Rows = append(table.Rows, cells)
		}
	}
	return table
}

// Questions, one a page.

// questionsOf lists the questions of an item, from the schema of its kind.
func (d *Desk) questionsOf(r row) []string {
	q := d.page.Questions
	if q.Codes == nil {
		return []string{""}
	}
	if s := q.Codes.Schema(r.value(q.Kind).Text()); s != nil {
		return []string{s.Name}
	}
	return nil
}

// A step is the current question of an item.
type step struct {
	*Desk
	item string
	row  row
	call *receipt.Call
}

// step makes a route answer at the current question of an item.
func (p *Portal) step(answer func(*step) error) func(*server.Visit) error {
	return p.Desk(func(d *Desk) (err error) {
		i := slices.IndexFunc(d.all, func(p *verbs.Page) bool { return p.Questions != nil && d.Session.May(p.Questions.Start) })
		if i < 0 {
			return d.NotFound()
		}
		d.page = d.all[i]
		s, ok := &step{Desk: d, item: d.R.PathValue("item")}, false
		if s.row, ok, err = d.find(d.R.Context(), s.item); err != nil {
			return err
		}
		if !ok {
			return d.NotFound()
		}
		return answer(s)
	})
}

// starts returns the program that starts or continues the questions.
func (s *step) starts(ctx context.Context) (*verbs.Program, error) {
	q := s.page.Questions
	call := dsl.NewCall(q.Start.Name, dsl.NewArg(q.Start.Params[q.Item].Name, dsl.NewSymbol(s.item)))
	return s.program(ctx, dsl.FormatCall(&call), theirs)
}

// edition returns a digest of the questions and of the verbs that take their answers.
func (s *step) edition() string {
	q := s.page.Questions
	var schema *verbs.Schema
	if q.Codes != nil {
		schema = q.Codes.Schema(s.row.value(q.Kind).Text())
	}
	return s.Desk.edition(schema, q.Start, q.Answer)
}

// program parses and checks a call, whose values have the given origin.
func (d *Desk) program(ctx context.Context, text string, from verbs.Literals) (*verbs.Program, error) {
	script, ds := dsl.Parse(dsl.NewSource("page", text))
	program, more := d.Session.Check(ctx, script, engine.CheckOptions{Said: from, Parsed: ds})
	if ds = append(ds, more...); ds.HasErrors() || program == nil {
		return nil, &engine.Refusal{Diagnostics: ds}
	}
	return program, nil
}

// theirs marks values as the person's own words.
var theirs = verbs.Literals{Origin: verbs.NewOrigin(verbs.FromPerson, "")}

// question shows the current question from a preview, since looking changes nothing.
func (s *step) question() error {
	return s.again(s.R.Context(), http.StatusOK, s.R.URL.Query().Get("field"), url.Values{}, "")
}

// text returns a column of the current question.
func (s *step) text(n int, column string) string {
	j := slices.Index(s.call.Result.Columns, column)
	if j < 0 {
		return ""
	}
	v := s.call.Result.Rows[n][j] // even a sensitive one: it is the reader's own answer
	if v.IsNull() {
		return ""
	}
	return v.Text()
}

// show shows one question, or all answers to be checked.
func (s *step) show(ctx context.Context, status int, field string, values url.Values, wrong string) error {
	rows := len(s.call.Result.Rows)
	if rows == 0 {
		return s.NotFound()
	}
	n, other := 0, false // a question that is not asked now: it counts too
	if field != "" {
		for n = 0; n < rows && s.text(n, "field") != field; n++ {
		}
		if n == rows {
			n = 0
			_, other = s.schemaOf(field)
		}
	}
	if field == "" && s.text(0, "status") == s.page.Questions.Checking {
		return s.check(ctx, status, values.Get("show"), wrong)
	}
	if s.text(n, "field") == "" {
		return s.See(s.at(s.page)) // nothing is asked any more
	}
	if !other {
		field = s.text(n, "field")
	}
	q := s.asks(n, field, values)
	q.Wrong, q.Heading = wrong, true
	here := "/questions/" + url.PathEscape(s.item)
	form := pages.Form{URL: here, Fields: []pages.Field{q}, Hidden: []pages.Hidden{{Name: "field", Value: field}, {Name: "edition", Value: s.edition()}}, Buttons: []pages.Button{{Text: s.Say("pages/save-continue"), Tone: "main"}}}
	if !other {
		form.Step = s.text(n, "step")
		if message := s.text(n, "message"); message != "" && wrong == "" {
			form.Lines = strings.Split(message, "\n")
		}
	}
	if s.text(0, "status") == s.page.Questions.Checking {
		form.Buttons[0].Text = s.Say("pages/save-return")
		form.Links = []pages.Link{{URL: here, Text: s.Say("pages/back")}}
	} else if after := s.R.URL.Query().Get("after"); after != "" && !other {
		form.Links = []pages.Link{{URL: here + "?" + url.Values{"field": {after}}.Encode(), Text: s.Say("pages/back")}}
	}
	form.Links = append(form.Links, pages.Link{URL: s.at(s.page), Text: s.Say("pages/come-back")})
	if s.page.Questions.Skip != nil && q.Optional {
		form.Buttons = append(form.Buttons, pages.Button{Name: "skip", Value: "1", Text: s.Say("pages/skip-question")})
	}
	if wrong != "" {
		form.Wrong = []pages.Mistake{{Field: q.ID, Text: wrong}}
	}
	form.Hidden = append(form.Hidden, pages.Hidden{Name: "key", Value: logins.Secret()})
	p := s.Frame(q.Label)
	p.Head, p.Wrong = "", wrong != ""
	p.Back = &pages.Link{URL: s.at(s.page), Text: s.Tell.Text(s.page.Title)}
	p.Main = []pages.Block{form}
	return s.Render(status, p)
}

// asks returns the field for a question, as its schema describes it.
func (s *step) asks(n int, name string, values url.Values) pages.Field {
	f := s.fill(s.page.Questions.Answer, values)
	if q, ok := s.schemaOf(name); ok {
		if text := s.text(n, "answer"); text != "" && len(values) == 0 && !q.Sensitive {
			values.Set("value", text)
			s.answeredBefore(&q, text, values)
		}
		field := f.asked(&q, "value")
		if !q.Sensitive {
			field.Draft = "questions " + s.item + " " + name
		}
		return field
	}
	return pages.Field{ID: "value", Name: "value", Kind: "text", Label: s.text(n, "label"), Hint: s.text(n, "hint"), Value: values.Get("value"), Max: 2000}
}

// check shows all answers before they are sent.
func (s *step) check(ctx context.Context, status int, show, wrong string) error {
	here := "/questions/" + url.PathEscape(s.item)
	changed := s.R.URL.Query().Get("changed")
	a := pages.Answers{Title: s.Say("pages/check-answers"), URL: here, Hidden: []pages.Hidden{{Name: "key", Value: logins.Secret()}, {Name: "send", Value: "1"}, {Name: "edition", Value: s.edition()}},
		Buttons: []pages.Button{{Text: s.Say("pages/send-answers", strconv.Itoa(len(s.call.Result.Rows))), Tone: "main"}},
		Links:   []pages.Link{{URL: s.at(s.page), Text: s.Say("pages/come-back")}}}
	if message := s.text(0, "message"); message != "" {
		a.Lines = []string{message}
	}
	for n := range s.call.Result.Rows {
		field := s.text(n, "field")
		row := pages.Answered{Label: s.text(n, "label"), Answer: s.text(n, "answer"), Change: here + "?" + url.Values{"field": {field}}.Encode(), Now: field != "" && field == changed}
		if q, ok := s.schemaOf(field); ok && q.Sensitive && s.page.Opens != nil && s.Session.May(s.page.Opens) {
			row.Show = field
			if field == show {
				all, err := s.opened(ctx, s.item)
				if err != nil {
					return err
				}
				for _, fact := range all {
					if fact.Key == field {
						row.Answer, row.Show, row.Now = fact.Text, "", true
					}
				}
			}
		}
		a.Rows = append(a.Rows, row)
	}
	p := s.Frame(s.row.title())
	if p.Wrong = wrong != ""; p.Wrong {
		p.Banners = append(p.Banners, pages.Banner{Tone: "warn", Text: wrong})
	}
	p.Back = &pages.Link{URL: s.at(s.page), Text: s.Tell.Text(s.page.Title)}
	p.Main = []pages.Block{a}
	return s.Render(status, p)
}

// answered takes one answer, or sends all of them.
func (s *step) answered() error {
	ctx := s.R.Context()
	values := s.R.PostForm
	if values.Get("show") != "" {
		return s.again(ctx, http.StatusOK, "", values, "")
	}
	// Under a newer palette the answers may mean something else, so the question is shown again.
	if edition := values.Get("edition"); edition != "" && edition != s.edition() {
		return s.again(ctx, http.StatusConflict, values.Get("field"), values, s.Say("pages/asked-again"))
	}
	q := s.page.Questions
	o := engine.RunOptions{Source: "page", Key: "form " + values.Get("key")}
	// The collection is started or continued in the session that answers.
	start, err := s.starts(ctx)
	if err != nil {
		return err
	}
	if _, err := s.Session.Run(ctx, start, engine.RunOptions{Source: "page"}); err != nil {
		return err
	}
	here := "/questions/" + url.PathEscape(s.item)
	field := values.Get("field")
	var text string
	switch {
	case values.Get("send") != "":
		text = q.Send
	case values.Get("skip") != "" && q.Skip != nil:
		call := dsl.NewCall(q.Skip.Name)
		if i := slices.IndexFunc(q.Skip.Params, func(p verbs.Param) bool { return p.Name == q.Field }); i >= 0 {
			call.Args = append(call.Args, dsl.NewArg(q.Field, dsl.NewString(field)))
		}
		text = dsl.FormatCall(&call)
	default:
		f := s.fill(q.Answer, values)
		value, ok := f.date("value")
		if !ok {
			return s.again(ctx, http.StatusUnprocessableEntity, field, values, f.wrong["value"])
		}
		if value == "" {
			return s.again(ctx, http.StatusUnprocessableEntity, field, values, s.Say("pages/needed"))
		}
		call := dsl.NewCall(q.Answer.Name)
		if q.Field != "" {
			call.Args = append(call.Args, dsl.NewArg(q.Field, dsl.NewString(field)))
		}
		call.Args = append(call.Args, dsl.NewArg(q.Answer.Params[q.Param].Name, s.value(field, value)))
		text = dsl.FormatCall(&call)
	}
	program, err := s.program(ctx, text, theirs)
	if err != nil {
		return err
	}
	r, err := s.Session.Run(ctx, program, o)
	if refusal, ok := errors.AsType[*engine.Refusal](err); ok {
		return s.again(ctx, http.StatusUnprocessableEntity, field, values, s.Tell.Refused(refusal.Diagnostics))
	}
	if err != nil {
		return err
	}
	s.call = &r.Calls[len(r.Calls)-1]
	if s.call.Result == nil || len(s.call.Result.Rows) == 0 || values.Get("send") != "" {
		told := s.Tell.Done(r)
		if s.call.Result != nil && len(s.call.Result.Rows) > 0 && s.text(0, "message") != "" {
			told = s.text(0, "message")
		}
		f := s.fill(q.Answer, url.Values{})
		return s.settled(ctx, f, told, r.First)
	}
	if s.text(0, "status") != q.Checking && s.text(0, "field") == field && values.Get("skip") == "" && s.text(0, "message") != "" {
		return s.again(ctx, http.StatusUnprocessableEntity, field, values, s.text(0, "message"))
	}
	if s.text(0, "status") == q.Checking {
		return s.See(here + "?" + url.Values{"changed": {field}}.Encode())
	}
	return s.See(here + "?" + url.Values{"after": {field}}.Encode())
}

// again shows a question once more, with what was typed and why it was refused.
func (s *step) again(ctx context.Context, status int, field string, values url.Values, wrong string) error {
	program, err := s.starts(ctx)
	if err != nil {
		return err
	}
	r, err := s.Session.Preview(ctx, program)
	if err != nil {
		return err
	}
	s.call = &r.Calls[0]
	return s.show(ctx, status, field, values, wrong)
}

// value converts a text into a value: a boolean, a date or a string.
func (s *step) value(field, text string) dsl.Value {
	if q, ok := s.schemaOf(field); ok && q.Kind == forms.YesNo {
		return dsl.NewBool(text == "true")
	}
	if day := dsl.NewDate(text); day.Kind == dsl.Date {
		return day
	}
	return dsl.NewString(text)
}

// schemaOf returns the schema's description of a question.
func (s *step) schemaOf(field string) (forms.Question, bool) {
	q := s.page.Questions
	if q.Codes == nil {
		return forms.Question{}, false
	}
	schema := q.Codes.Schema(s.row.value(q.Kind).Text())
	if schema == nil {
		return forms.Question{}, false
	}
	form, err := forms.Read(schema)
	if err != nil {
		return forms.Question{}, false
	}
	form = form.In(s.lang)
	i := slices.IndexFunc(form.Questions, func(q forms.Question) bool { return q.Field == field })
	if i < 0 {
		return forms.Question{}, false
	}
	return form.Questions[i], true
}

// tries previews the call of a form, in the palette's sentences. It sends nothing; sending takes
// another press.
func (d *Desk) tries(f *filledForm, program *verbs.Program) error {
	ctx := d.R.Context()
	p := d.Frame(d.actTitle(f.verb))
	p.Back = &pages.Link{URL: "/verbs/" + f.verb.Name, Text: f.verb.Name}
	card := pages.Card{ID: "try", Title: d.Say("pages/call"), Calls: []string{dsl.Format(program.Canonical())}, URL: "/do/" + f.verb.Name, Hidden: f.hidden(),
		Buttons: []pages.Button{{Name: "yes", Value: "1", Text: d.Say("pages/send-call")}, {Name: "try", Value: "change", Text: d.Say("pages/change")}}}
	r, err := d.Session.Preview(ctx, program)
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal):
		card.Notes = []pages.Banner{{Tone: "bad", Text: d.Tell.Refused(refusal.Diagnostics)}}
		card.Buttons = card.Buttons[1:]
	case err != nil:
		return err
	default:
		card.Rows = d.Diffs(r, "pages/you-said")
		if text := d.Tell.Asks(r); text != "" {
			card.Facts = append(card.Facts, pages.Fact{Name: d.Say("pages/asked-before"), Text: text})
		}
		if text := strings.TrimSpace(d.Tell.Done(r)); text != "" {
			card.Facts = append(card.Facts, pages.Fact{Name: d.Say("pages/told-after"), Text: text})
		}
	}
	p.Main = []pages.Block{card}
	if r != nil && f.verb.Answers() {
		p.Main = append(p.Main, d.found(f.verb, &r.Calls[0]))
	}
	return d.Render(http.StatusOK, p)
}
