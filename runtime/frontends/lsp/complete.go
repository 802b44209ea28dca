package lsp

import (
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/explain"
	"verbatim/verbs/load"
)

// The completions at a position are found by an experiment: an impossible word is put there, and
// the parser's result for it, or the names that the checker wanted instead, are the completions. So
// nothing here knows the grammar.
const (
	noName = "zqzq"
	noCode = "ZQZQ"
)

// complete offers what could stand at a position.
func (s *server) complete(p params) (any, error) {
	v, err := s.look(p)
	if err != nil {
		return nil, err
	}
	at := v.doc.text.offset(p.Position)
	list := completionList{Items: []completionItem{}}
	if v.of == nil {
		return list, nil
	}
	if v.is != nil {
		list.Items = v.inCall(at)
	} else {
		list.Items = v.inPalette(at)
	}
	return list, nil
}

// item offers text in place of a range.
func (v *view) item(r dsl.Range, text string, kind int, detail, doc string) completionItem {
	span := v.doc.text.ruler().span(r)
	return completionItem{Label: text, Kind: kind, Detail: detail, Doc: doc, Filter: text, TextEdit: &textEdit{span, text}}
}

// tried returns the document with a word in place of a range.
func (v *view) tried(r dsl.Range, word string) string {
	s := v.doc.text.src.Text
	return s[:r.Start] + word + s[r.End:]
}

// inCall returns the completions in a script.
func (v *view) inCall(at int) []completionItem {
	s := v.doc.text.src.Text
	word := v.doc.text.word(at, ofName)
	dotted := v.doc.text.word(at, func(c byte) bool { return ofName(c) || c == '.' })
	before := byte('\n')
	if dotted.Start > 0 {
		before = s[dotted.Start-1]
	}
	switch before {
	case ':':
		script, _ := dsl.Parse(dsl.NewSource("", v.tried(word, noName)))
		return v.arguments(dsl.Range{Start: word.Start - 1, End: word.End}, script)
	case '@':
		return v.bindings(dotted)
	}
	line := s[strings.LastIndexAny(s[:dotted.Start], "\r\n")+1 : dotted.Start]
	bare := strings.TrimLeft(line, " \t(")
	if bare == "" && (line == "" || strings.HasSuffix(line, "(")) || before == '(' {
		return v.verbs(dotted)
	}
	script, _ := dsl.Parse(dsl.NewSource("", v.tried(word, noCode)))
	var items []completionItem
	found := false
	reg := v.reg()
	dsl.Walk(script, func(n dsl.Node) bool {
		if n.Call == nil {
			return true
		}
		verb := reg.Verb(n.Call.Verb)
		for i := range n.Call.Args {
			a := &n.Call.Args[i]
			dsl.WalkValue(&a.Value, func(in dsl.Node) bool {
				if in.Value != nil && in.Value.Kind == dsl.Code && in.Value.Text == noCode {
					found = true
					if verb != nil {
						if p := param(reg, verb.Name+":"+a.Key); p != nil {
							items = v.values(word, p.Type)
						}
					}
				}
				return in.Call == nil
			})
		}
		return true
	})
	if found {
		return items
	}
	script, _ = dsl.Parse(dsl.NewSource("", v.tried(word, ":"+noName)))
	if items = v.arguments(word, script); items == nil && bare == "" {
		items = v.verbs(dotted)
	}
	return items
}

func (v *view) verbs(r dsl.Range) (items []completionItem) {
	for _, verb := range v.reg().Verbs() {
		if !verb.Internal {
			items = append(items, v.item(r, verb.Name, itemFunction, verb.Description, verb.Example()))
		}
	}
	return items
}

// arguments returns the missing arguments of the call with the impossible key, the required ones
// first.
func (v *view) arguments(r dsl.Range, script *dsl.Script) (items []completionItem) {
	dsl.Walk(script, func(n dsl.Node) bool {
		if n.Call == nil || !slices.ContainsFunc(n.Call.Args, func(a dsl.Arg) bool { return a.Key == noName }) {
			return true
		}
		verb := v.reg().Verb(n.Call.Verb)
		if verb == nil {
			return true
		}
		for i := range verb.Params {
			p := &verb.Params[i]
			if slices.ContainsFunc(n.Call.Args, func(a dsl.Arg) bool { return a.Key == p.Name }) {
				continue
			}
			item := v.item(r, ":"+p.Name, itemField, explain.Argument(p), p.Description)
			item.Sort = "b" + strconv.Itoa(100+i)
			if p.Required {
				item.Sort = "a" + strconv.Itoa(100+i)
			}
			items = append(items, item)
		}
		return true
	})
	return items
}

// bindings returns the names of results in the script.
func (v *view) bindings(r dsl.Range) (items []completionItem) {
	dsl.Walk(v.is.script, func(n dsl.Node) bool {
		if c := n.Call; c != nil && c.As != "" {
			items = append(items, v.item(r, c.As, itemVariable, "what "+c.Verb+" comes to", ""))
		}
		return true
	})
	return items
}

// values returns the values of a type that can be listed.
func (v *view) values(r dsl.Range, t *verbs.Type) (items []completionItem) {
	for t != nil && t.Name == verbs.ListType {
		t = t.Item
	}
	switch {
	case t == nil:
	case t.Name == verbs.CodeType && t.Codes != nil:
		for _, c := range t.Codes.Codes {
			items = append(items, v.item(r, c.Name, itemEnumMember, t.Codes.Name, strings.TrimSpace(c.Label+" "+c.Description)))
		}
	case t.Name == verbs.BooleanType:
		for _, word := range []string{"true", "false"} {
			items = append(items, v.item(r, word, itemKeyword, "", ""))
		}
	}
	for _, item := range v.bindings(r) {
		item.Label = "@" + item.Label
		item.Filter, item.TextEdit.NewText = item.Label, item.Label
		items = append(items, item)
	}
	return items
}

var itemKinds = map[string]int{load.RoleThing: itemVariable, load.EntityThing: itemClass, load.FieldThing: itemField, load.CodesThing: itemEnum,
	load.CodeThing: itemEnumMember, load.SchemaThing: itemClass, load.VerbThing: itemFunction, load.ArgumentThing: itemVariable, load.WordThing: itemKeyword, load.KeyThing: itemProperty}

// inPalette returns the completions in a palette.
func (v *view) inPalette(at int) []completionItem {
	s := v.doc.text.src.Text
	word := v.doc.text.word(at, ofName)
	rest, _, _ := strings.Cut(s[word.End:], "\n")
	tries := []struct{ word, after string }{{noName, ""}, {noCode, ""}, {noName, ": " + noName}}
	if strings.HasPrefix(strings.TrimSpace(rest), ":") { // it is a key
		tries = tries[:1]
	}
	var items []completionItem
	offered := make(map[string]bool)
	for _, try := range tries {
		if try.after != "" && items != nil {
			break // a value could stand here, so no key begins
		}
		all, _ := v.of.named(map[string]string{v.doc.path: v.tried(word, try.word+try.after)})
		for _, n := range all {
			r := n.Place.Range
			if n.path != v.doc.path || n.Known || r.Start > word.Start || r.End < word.Start+int32(len(try.word)) || !strings.Contains(n.text.src.Text[r.Start:r.End], try.word) {
				continue
			}
			in := dsl.Range{Start: r.Start, End: r.End - int32(len(try.word)) + word.End - word.Start}
			if try.after != "" && n.Thing.Kind != load.KeyThing {
				continue // the value that this experiment put there
			}
			for _, name := range n.Names {
				if offered[name] {
					continue
				}
				offered[name] = true
				detail, doc, text := n.Thing.Kind, "", name
				if n.Thing.Kind == load.KeyThing {
					shape, _, _ := strings.Cut(n.Thing.Name, " ")
					doc, detail = load.KeyDoc(shape + " " + name)
					if try.after != "" {
						text += ": "
					}
				}
				item := v.item(in, text, itemKinds[n.Thing.Kind], detail, doc)
				item.Label, item.Filter = name, name
				items = append(items, item)
			}
		}
	}
	return items
}
