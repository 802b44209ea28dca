package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// slots are the roles in which a list can show columns.
var slots = []string{"status", "due", "on", "why", "rule", "accepts", "has", "lacks", "note", "expected", "remark", "minutes", "owner", "mine"}

// A pageNode is a page, and where it is written.
type pageNode struct {
	d *doc
	p *verbs.Palette
	n *yaml.Node
}

// page reads a page, when all verbs are known.
func (l *loader) page(pn *pageNode) {
	d := pn.d
	f, ok := d.fields(pn.n, "page")
	if !ok || f.at("role").value == nil || f.at("items").value == nil {
		return
	}
	page := &verbs.Page{Role: l.roleOf(d, f.at("role").value), Title: f.text("title"), Desk: f.boolean("desk"), Place: d.place(pn.n)}
	if page.Role == nil {
		d.report(unknownRole(d.place(f.at("role").value), f.text("role"), l.roles, "as it stands, nobody would see the page"))
		return
	}
	if page.Items = l.pageList(d, page, f.at("items")); page.Items == nil {
		return
	}
	page.Done, page.Promises = l.pageList(d, page, f.at("done")), l.pageList(d, page, f.at("promises"))
	if page.Detail, _ = l.pageItem(d, page, f.at("detail")); page.Detail != nil && page.Detail.WritesFile() {
		d.report(tell(d.place(f.at("detail").value), "contradiction", page.Detail.Name+" is shown with an item, and would write a file each time", "name a read without file, and this one under also", page.Detail.Place, "declared here"))
	}
	if page.Detail != nil {
		page.Sent = d.column(page.Detail, f.at("sent"))
	}
	if page.Opens, _ = l.pageItem(d, page, f.at("opens")); page.Opens != nil && !page.Opens.Masked() {
		d.report(tell(d.place(f.at("opens").value), "contradiction", page.Opens.Name+" opens what stands masked, and gives something else too", "name a verb that reads sensitive fields alone", page.Opens.Place, "declared here"))
	}
	if page.Given, _ = l.pageItem(d, page, f.at("given")); page.Given != nil && !page.Given.Masked() {
		d.report(tell(d.place(f.at("given").value), "contradiction", page.Given.Name+" shows what the person gave, and gives something else too", "name a verb that reads sensitive fields alone", page.Given.Place, "declared here"))
	}
	page.Person = l.pageVerb(d, page, f.at("person").value)
	if n := f.at("about").value; n != nil {
		page.About = l.entityAt(d, n)
	}
	if n := f.at("progress").value; n != nil {
		pf, ok := d.fields(n, "page-progress")
		if v := l.pageRead(d, page, pf.at("verb").value); ok && v != nil {
			p := &verbs.PageProgress{Verb: v}
			for key, to := range map[string]*string{"done": &p.Done, "total": &p.Total, "percent": &p.Percent, "yours": &p.Yours, "ours": &p.Ours} {
				*to = d.column(v, pf.at(key))
			}
			page.Progress = p
		}
	}
	d.each(f.at("acts"), func(n *yaml.Node) { l.pageAct(d, page, n) })
	d.items(f.at("also"), func(n *yaml.Node) {
		if v := l.pageVerb(d, page, n); v != nil {
			d.noRecord(v, n, nil)
			page.Also = append(page.Also, v)
		}
	})
	d.each(f.at("plots"), func(n *yaml.Node) {
		pf, ok := d.fields(n, "page-plot")
		v := l.pageRead(d, page, pf.at("verb").value)
		if !ok || v == nil {
			return
		}
		plot := verbs.PagePlot{Verb: v, Title: pf.text("title"), Number: d.column(v, pf.at("number"))}
		d.items(pf.at("label"), func(n *yaml.Node) { plot.Label = append(plot.Label, d.column(v, pair{pf.at("label").key, n})) })
		page.Plots = append(page.Plots, plot)
	})
	if n := f.at("questions").value; n != nil {
		page.Questions = l.pageQuestions(d, page, n)
	}
	pn.p.Pages = append(pn.p.Pages, page)
}

// pageVerb returns the verb that a page names; nil if there is none that its role may use.
func (l *loader) pageVerb(d *doc, page *verbs.Page, n *yaml.Node) *verbs.Verb {
	if n == nil {
		return nil
	}
	v := l.callable(d, n, "a page names")
	if v == nil || v.Read != nil && v.Read.Entity == nil {
		return nil // its own error is reported elsewhere
	}
	if !slices.Contains(v.Roles, page.Role) {
		d.report(tell(d.place(n), "contradiction", "the page is for "+page.Role.Name+", who may not use "+v.Name, "name a verb that they may use", v.Place, "declared here"))
		return nil
	}
	return v
}

// pageRead returns a verb that only answers, and needs no arguments.
func (l *loader) pageRead(d *doc, page *verbs.Page, n *yaml.Node) *verbs.Verb {
	v := l.pageVerb(d, page, n)
	switch {
	case v == nil:
	case !v.Answers():
		d.report(tell(d.place(n), "contradiction", v.Name+" is shown on a page, and does more than answer", "name a verb that only reads", v.Place, "declared here"))
	case v.WritesFile():
		d.report(tell(d.place(n), "contradiction", v.Name+" is shown on a page, and would write a file each time", "name a read without file, and this one under also", v.Place, "declared here"))
	case v.NeedsArgument() != "":
		d.report(tell(d.place(n), "contradiction", v.Name+" is shown on a page, and needs :"+v.NeedsArgument(), "name a verb that can be called without arguments", v.Place, "declared here"))
	default:
		return v
	}
	return nil
}

// pageItem returns a verb about an item of the page, and its first reference argument with one of
// these names.
func (l *loader) pageItem(d *doc, page *verbs.Page, p pair) (*verbs.Verb, int) {
	v := l.pageVerb(d, page, p.value)
	if v == nil {
		return nil, -1
	}
	of := entity(page.Items)
	for i := range v.Params {
		p := &v.Params[i]
		if p.Type != nil && p.Type.Name == verbs.RefType && p.Type.Entity != nil && (of == nil || p.Type.Entity == of) || of == nil && p.Ident == page.Items.Row {
			return v, i
		}
	}
	d.report(tell(d.place(p.value), "contradiction", v.Name+" is offered for an item, and takes none", "name a verb with a reference to what the page lists", v.Place, "declared here"))
	return nil, -1
}

// entity returns the entity of the rows of the list; nil if it is not known.
func entity(p *verbs.PageList) *verbs.Entity {
	if p.Verb.Read != nil {
		return p.Verb.Read.Entity
	}
	return nil
}

// column returns a column of the result of a verb.
func (d *doc) column(v *verbs.Verb, p pair) string {
	if p.value == nil {
		return ""
	}
	if names := resultNames(v); !slices.Contains(names, p.value.Value) {
		d.report(tell(d.place(p.value), "unknown-word", p.key.Value, p.value.Value, names))
		return ""
	}
	return p.value.Value
}

func (l *loader) pageList(d *doc, page *verbs.Page, p pair) *verbs.PageList {
	if p.value == nil {
		return nil
	}
	f, ok := d.fields(p.value, "page-list")
	if !ok || f.at("verb").value == nil || f.at("title").value == nil {
		return nil
	}
	v := l.pageRead(d, page, f.at("verb").value)
	if v == nil {
		return nil
	}
	list := &verbs.PageList{Verb: v, Row: d.column(v, f.at("row")), Head: f.text("heading"), Slots: map[string]string{}, States: map[string]string{}}
	d.items(f.at("title"), func(n *yaml.Node) { list.Title = append(list.Title, d.column(v, pair{f.at("title").key, n})) })
	for _, slot := range slots {
		if name := d.column(v, f.at(slot)); name != "" {
			list.Slots[slot] = name
		}
	}
	d.scalars(f.at("states"), func(k, n *yaml.Node) {
		if !slices.Contains(verbs.PageStates, n.Value) {
			d.report(tell(d.place(n), "unknown-word", k.Value, n.Value, verbs.PageStates))
		}
		list.States[k.Value] = n.Value
	})
	return list
}

func (l *loader) pageAct(d *doc, page *verbs.Page, n *yaml.Node) {
	f, ok := d.fields(n, "page-act")
	if !ok || f.at("verb").value == nil {
		return
	}
	v, item := l.pageItem(d, page, f.at("verb"))
	if v == nil {
		return
	}
	act := verbs.PageAct{Verb: v, Item: item, Says: f.text("says"), All: f.boolean("all")}
	d.scalars(f.at("with"), func(k, n *yaml.Node) {
		i := d.paramAt(v, k)
		if i < 0 {
			d.report(unknownArgument(d.place(k), v, k.Value))
			return
		}
		act.With = append(act.With, verbs.PageWith{Param: i, Column: d.column(page.Items.Verb, pair{k, n})})
	})
	d.items(f.at("in"), func(n *yaml.Node) {
		if !slices.Contains(verbs.PageStates, n.Value) {
			d.report(tell(d.place(n), "unknown-word", f.at("in").key.Value, n.Value, verbs.PageStates))
		}
		act.In = append(act.In, n.Value)
	})
	d.noRecord(v, f.at("verb").value, act.With)
	page.Acts = append(page.Acts, act)
}

// noRecord refuses a verb on a page if a form would have to ask for a record: a form has a field
// for each argument. with are the arguments that need not be asked for.
func (d *doc) noRecord(v *verbs.Verb, at *yaml.Node, with []verbs.PageWith) {
	for i := range v.Params {
		p := &v.Params[i]
		if p.Required && p.Type.Record() != nil && !slices.ContainsFunc(with, func(w verbs.PageWith) bool { return w.Param == i }) {
			d.report(tell(d.place(at), "contradiction", v.Name+" takes records, and no form asks for them", "name a verb that takes the parts one by one", p.Place, "the argument"))
		}
	}
}

func (l *loader) pageQuestions(d *doc, page *verbs.Page, n *yaml.Node) *verbs.PageQuestions {
	f, ok := d.fields(n, "page-questions")
	if !ok || f.at("start").value == nil || f.at("answer").value == nil || f.at("argument").value == nil {
		return nil
	}
	q := &verbs.PageQuestions{Answer: l.pageVerb(d, page, f.at("answer").value), Skip: l.pageVerb(d, page, f.at("skip").value), Field: f.text("field"), Checking: f.text("checking"), Send: f.text("send")}
	q.Start, q.Item = l.pageItem(d, page, f.at("start"))
	if q.Start == nil || q.Answer == nil {
		return nil
	}
	for _, key := range [...]string{"argument", "field"} {
		if n := f.at(key).value; n != nil && q.Answer.ParamNamed(n.Value) < 0 {
			d.report(unknownArgument(d.place(n), q.Answer, n.Value))
			return nil
		}
	}
	for _, name := range [...]string{"status", "step", "field", "label", "answer", "message"} {
		if !slices.Contains(q.Start.Returns.Includes, name) {
			d.report(tell(d.place(f.at("start").value), "contradiction", q.Start.Name+" begins with questions, and does not return "+name, "name it under returns, includes", q.Start.Place, "declared here"))
			return nil
		}
	}
	q.Param = q.Answer.ParamNamed(f.text("argument"))
	q.Kind = d.column(page.Items.Verb, f.at("kind"))
	if n := f.at("codes").value; n != nil {
		if q.Codes = l.codeListOf(d, n, 0, n.Value); q.Codes == nil {
			d.report(tell(d.place(n), "unknown-code-list", n.Value, visible(d, l.codes)))
		}
	}
	if n := f.at("send").value; n != nil {
		script, ds := dsl.Parse(dsl.NewSource("call", q.Send))
		switch {
		case ds.HasErrors() || len(script.Calls) != 1:
			d.report(tell(d.place(n), "contradiction", f.at("send").key.Value+" is one call", "write it as a script does: client.send :confirmed true", dsl.Place{}, ""))
		default:
			l.single = append(l.single, singleNode{d, n, script})
			l.pageVerb(d, page, &yaml.Node{Kind: yaml.ScalarNode, Value: script.Calls[0].Verb, Line: n.Line, Column: n.Column})
		}
	}
	return q
}
