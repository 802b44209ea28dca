package load

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// tells reads the texts that a person is told.
func (vn *verbNode) tells(n *yaml.Node) {
	d, v := vn.d, vn.v
	f, ok := d.fields(n, "tells")
	if !ok || v.Read != nil && v.Read.Entity == nil {
		return
	}
	found := v.Read != nil || v.Query != nil || v.Tool != nil || len(v.Returns.Includes) > 0
	if k := f.at("lines"); k.key != nil && !vn.f.boolean("handler") {
		d.report(tell(d.place(k.key), "contradiction", "lines are of a text that says where each comes from, and "+v.Name+" is carried out by no handler", "say with each what a person is told of a row", dsl.Place{}, ""))
		return
	}
	for _, k := range [...]string{"first", "one", "each", "lines", "none"} {
		if f.at(k).key != nil && !found {
			d.report(tell(d.place(f.at(k).key), "contradiction", f.at(k).key.Value+" tells what was found, and "+v.Name+" finds nothing", "say with done what a person is told", dsl.Place{}, ""))
			return
		}
	}
	for _, t := range tellings(v) {
		d.wording(v, f.at(t.key), t.of, "", t.names)
	}
}

// wording reads a text and adds it to its translations; a translation is accepted only for a text
// that the palette has itself.
func (d *doc) wording(v *verbs.Verb, p pair, to *verbs.Wordings, language string, names []string) {
	switch {
	case p.value == nil || language != "" && p.value.Value == "":
	case language != "" && len(*to) == 0:
		d.idle(p.key, "the palette itself does not say "+strconv.Quote(p.key.Value)+" of "+v.Name, v.Place)
	default:
		w := wordingReader{d: d, v: v, n: p.value, text: p.value.Value}
		if to == &v.Tells.Asks {
			w.rows = append([]string{}, changedNames(v)...)
		}
		parts, ok := w.parts(names, 0)
		if !ok {
			parts = nil
		}
		typesetParts(language, parts)
		*to = append(*to, verbs.Wording{Language: language, Parts: parts})
		if to == &v.Tells.Asks && ok {
			d.asksAll(v, p.key, &(*to)[len(*to)-1])
		}
	}
}

// asksAll refuses a question that leaves out an argument: the person who is asked would agree to
// a value that they were not told.
func (d *doc) asksAll(v *verbs.Verb, key *yaml.Node, w *verbs.Wording) {
	said := valuesOf(w.Parts)
	for i := range v.Params {
		if name := v.Params[i].Name; !slices.Contains(said, name) {
			d.report(tell(d.place(key), "contradiction", "the person who is asked is not told :"+name, "say {"+name+"}, in [brackets] where it may be left out", v.Params[i].Place, "declared here"))
		}
	}
}

// valuesOf returns the names of the values in a wording.
func valuesOf(parts []verbs.WordingPart) (names []string) {
	for _, p := range parts {
		if p.Group == nil && p.Name != "" {
			names = append(names, p.Name)
		}
		names = append(names, valuesOf(p.Group)...)
	}
	return names
}

func typesetParts(language string, parts []verbs.WordingPart) {
	for i := range parts {
		parts[i].Text = verbs.Typeset(language, parts[i].Text)
		typesetParts(language, parts[i].Group)
	}
}

// A wordingReader parses a wording: {name} is a value; [text] is left out if a value in it is
// empty, and [name? text] if that value is empty or 0; <name* text> is repeated for each item of
// a list.
type wordingReader struct {
	d    *doc
	v    *verbs.Verb
	n    *yaml.Node
	text string
	at   int
	rows []string // of a question, the entities whose rows it can name; nil for another text
}

// parts reads up to the end, or to the character that closes a group.
func (w *wordingReader) parts(names []string, closing byte) (parts []verbs.WordingPart, ok bool) {
	begun := w.at - 1
	for w.at < len(w.text) {
		next := strings.IndexAny(w.text[w.at:], "{}[]<>")
		if next < 0 {
			parts = append(parts, verbs.WordingPart{Text: w.text[w.at:]})
			w.at = len(w.text)
			break
		}
		if next > 0 {
			parts = append(parts, verbs.WordingPart{Text: w.text[w.at : w.at+next]})
			w.at += next
		}
		sign := w.text[w.at]
		w.at++
		switch sign {
		case closing:
			return parts, true
		case '{':
			end := strings.IndexByte(w.text[w.at:], '}')
			if end < 0 {
				return nil, w.wrong(tell(w.d.within(w.n, w.at-1, w.at), "bad-braces", "{"))
			}
			name, ok := w.name(names, w.at+end)
			if !ok {
				return nil, false
			}
			w.at++
			parts = append(parts, verbs.WordingPart{Name: name})
		case '[':
			group := verbs.WordingPart{}
			if to := strings.IndexAny(w.text[w.at:], "?{[<]"); to > 0 && w.text[w.at+to] == '?' && !strings.Contains(w.text[w.at:w.at+to], " ") {
				if group.Name, ok = w.name(names, w.at+to); !ok {
					return nil, false
				}
				w.at++
			}
			if group.Group, ok = w.parts(names, ']'); !ok {
				return nil, false
			}
			parts = append(parts, group)
		case '<':
			to := strings.IndexAny(w.text[w.at:], "*>{[<")
			if to < 0 || w.text[w.at+to] != '*' {
				return nil, w.wrong(tell(w.d.within(w.n, w.at-1, w.at), "bad-braces/brackets"))
			}
			items, lists := itemNames(w.v, w.text[w.at:w.at+to]), names
			if slices.Contains(w.rows, w.text[w.at:w.at+to]) {
				items, lists = []string{w.text[w.at : w.at+to]}, w.rows
			}
			group := verbs.WordingPart{Items: true}
			if group.Name, ok = w.name(lists, w.at+to); !ok {
				return nil, false
			}
			if len(items) == 0 {
				return nil, w.wrong(tell(w.d.within(w.n, w.at-to, w.at), "bad-value/no-items", group.Name))
			}
			w.at++
			if strings.HasPrefix(w.text[w.at:], " ") {
				w.at++
			}
			if group.Group, ok = w.parts(items, '>'); !ok {
				return nil, false
			}
			parts = append(parts, group)
		case '}':
			return nil, w.wrong(tell(w.d.within(w.n, w.at-1, w.at), "bad-braces", "}"))
		default:
			return nil, w.wrong(tell(w.d.within(w.n, w.at-1, w.at), "bad-braces/brackets"))
		}
	}
	if closing != 0 {
		return nil, w.wrong(tell(w.d.within(w.n, begun, begun+1), "bad-braces/brackets"))
	}
	return parts, true
}

// name reads the name that ends at an offset.
func (w *wordingReader) name(names []string, end int) (string, bool) {
	name := w.text[w.at:end]
	if !slices.Contains(names, name) {
		return "", w.wrong(tell(w.d.within(w.n, w.at, end), "unknown-name/told", name, names))
	}
	// A question names arguments alone; other texts name what the verb returns before them.
	if i := w.v.ParamNamed(name); i >= 0 && w.v.Params[i].Name == name && !w.ofItem(names) && (w.rows != nil || !slices.Contains(answerNames(w.v), name)) {
		w.d.usesParam(w.v, i, w.n, w.at, end, w.v.Names)
	}
	w.at = end
	return name, true
}

// ofItem reports whether names are those of the items of a list, and not of the verb.
func (w *wordingReader) ofItem(names []string) bool {
	return slices.ContainsFunc(w.v.Params, func(p verbs.Param) bool { return !slices.Contains(names, p.Name) })
}

func (w *wordingReader) wrong(d dsl.Diagnostic) bool {
	w.d.report(d)
	return false
}

// A telling is one kind of text that a person is told about a verb.
type telling struct {
	key   string
	of    *verbs.Wordings
	names []string // the values that it may name
}

func tellings(v *verbs.Verb) [7]telling {
	params, all := v.Names(), resultNames(v)
	return [...]telling{
		{"first", &v.Tells.First, append([]string{"count"}, params...)},
		{"one", &v.Tells.One, params},
		{"each", &v.Tells.Each, all},
		{"lines", &v.Tells.Lines, all},
		{"none", &v.Tells.None, params},
		{"done", &v.Tells.Done, all},
		{"asks", &v.Tells.Asks, params},
	}
}

// resultNames returns the names of the values that can be told: the results, and the arguments.
func resultNames(v *verbs.Verb) []string {
	names := answerNames(v)
	for _, name := range v.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// answerNames are the values that the verb returns.
func answerNames(v *verbs.Verb) (names []string) {
	switch {
	case v.Read != nil:
		for i := range v.Read.Fields {
			names = append(names, v.Read.Fields[i].Name)
		}
		if len(names) == 0 && v.Read.Entity != nil {
			names = v.Read.Entity.Names()
		}
	case v.Query != nil:
		for i := range v.Query.Columns {
			names = append(names, v.Query.Columns[i].Name)
		}
	case v.Tool != nil:
		for i := range v.Tool.Columns {
			names = append(names, v.Tool.Columns[i].Name)
		}
	}
	for i := range v.Discloses {
		if v.Discloses[i].Tells() {
			names = append(names, v.Discloses[i].Name)
		}
	}
	for _, name := range v.Returns.Includes {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// changedNames returns the entities of which the verb adds or changes rows, so that a question
// can name the rows.
func changedNames(v *verbs.Verb) (names []string) {
	for i := range v.Effects {
		if x := &v.Effects[i]; (x.Kind == verbs.Creates || x.Kind == verbs.Updates) && x.Entity != nil {
			names = append(names, x.Entity.Store.Name)
		}
	}
	return names
}

// itemNames returns the names of the values in the items of a list that the verb returns.
func itemNames(v *verbs.Verb, list string) []string {
	if v.Read == nil {
		return nil
	}
	for i := range v.Read.Fields {
		f := &v.Read.Fields[i]
		switch {
		case f.Name != list:
		case f.From == verbs.FromCodes:
			return []string{"code", "description"}
		case f.From == verbs.FromList:
			var names []string
			for j := range v.Read.Lists[f.List].Fields {
				names = append(names, v.Read.Lists[f.List].Fields[j].Name)
			}
			return names
		}
	}
	return nil
}
