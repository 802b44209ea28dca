package load

import (
	"slices"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// search reads by which fields rows of an entity are found.
func (l *loader) search(en *entityNode, at pair) {
	d, e := en.d, en.e
	f, ok := d.fields(at.value, "search")
	if !ok {
		return
	}
	s := &stores.Search{}
	unfit := func(n *yaml.Node, why, what string) {
		d.report(tell(d.place(n), "contradiction", why, what, e.Place, e.Store.Name+" is declared here"))
	}
	for _, of := range []struct {
		key  string
		into *[]int
	}{{"text", &s.Text}, {"meaning", &s.Meaning}, {"names", &s.Names}} {
		d.items(f.at(of.key), func(n *yaml.Node) {
			i := d.fieldAt(e, n)
			switch {
			case i < 0:
			case e.Fields[i].Type == nil:
			case e.Fields[i].Type.Name != verbs.StringType:
				unfit(n, n.Value+" is no text, and rows are found by texts", "name fields of type string")
			case e.Store.Fields[i].Sensitive:
				unfit(n, "rows are not found by "+n.Value+", which is sensitive", "name a field that is not")
			case e.Store.Fields[i].Personal && of.key != "names":
				unfit(n, "rows are not found by "+n.Value+", of which an index would tell", "name fields that are neither sensitive nor personal, or find rows by it as by a name: names: ["+n.Value+"]")
			default:
				*of.into = append(*of.into, i)
			}
		})
	}
	switch {
	case len(e.Store.Parts) > 0:
		unfit(at.key, "rows whose key has several parts cannot be searched", "leave search out")
	case e.Store.Hides() >= 0:
		unfit(at.key, "rows that may be hidden would count among those that are searched", "leave search out, or visible")
	default:
		if len(s.Fields()) > 0 {
			e.Store.Search, l.searched = s, append(l.searched, e)
		}
	}
}

// ownerStays refuses effects that would give a row to another owner and with it rows that are
// searched, whose index would not be updated.
func (l *loader) ownerStays(e *verbs.Entity) {
	if len(e.Store.Scope) < 2 {
		return
	}
	at := e.Store.Scope[0].To
	for _, step := range e.Store.Scope[1:] {
		for i := range l.verbNodes {
			for _, x := range l.verbNodes[i].v.Effects {
				if x.Entity == nil || x.Entity.Store != at || x.Kind != verbs.Updates {
					continue
				}
				if j := slices.IndexFunc(x.Set, func(s verbs.Set) bool { return s.Field == step.Field }); j >= 0 {
					l.verbNodes[i].d.report(tell(x.Set[j].Place, "contradiction", "this would give "+e.Store.Name+" rows to another owner, and their index would not follow", "let nothing change "+at.Fields[step.Field].Name+", or leave search of "+e.Store.Name+" out", e.Place, e.Store.Name+" is searched"))
				}
			}
		}
		at = step.To
	}
}

// maxMatches is how many rows a search by text returns at most.
const maxMatches = 200

// matching reads the text by which rows are found, and the weight for their order.
func (l *loader) matching(vn *verbNode, r *verbs.Read, f mapping) {
	d, v := vn.d, vn.v
	at, weigh := f.at("matching"), f.at("weigh")
	if at.value == nil {
		d.report(tell(d.place(weigh.key), "contradiction", "weigh says how much rows count that matching finds", "say matching: an argument or a text", dsl.Place{}, ""))
		return
	}
	unfit := func(n *yaml.Node, why, what string) {
		d.report(tell(d.place(n), "contradiction", why, what, r.Entity.Place, r.Entity.Store.Name+" is declared here"))
	}
	if r.Entity.Store.Search == nil {
		unfit(at.key, r.Entity.Store.Name+" rows are not searched", "declare search for the entity, and by which fields")
		return
	}
	for _, key := range [...]string{"order", "one", "after"} {
		if p := f.at(key); p.key != nil {
			unfit(p.key, "the rows that fit best come first", "leave "+key+" out")
			return
		}
	}
	if r.Groups() || r.Limit == 0 || r.Limit > maxMatches {
		unfit(at.key, "the rows that fit best are so many, each for itself", "say limit, of 200 at most")
		return
	}
	l.looksFor(vn, at)
	if weigh.value != nil {
		if x := l.compile(d, weigh.value, scope{verb: v, row: r.Entity}, want{is: plainTypes[verbs.DecimalType], name: "what a row weighs"}, nil); x != nil {
			r.Weigh = &verbs.ReadField{From: verbs.FromExpr, Expr: x, Type: plainTypes[verbs.DecimalType]}
		}
	}
}

// looksFor reads the text that a read, or a handler, looks for.
func (l *loader) looksFor(vn *verbNode, at pair) {
	vn.v.Matching = l.compile(vn.d, at.value, scope{verb: vn.v}, want{is: plainTypes[verbs.StringType], name: "what is looked for"}, nil)
}
