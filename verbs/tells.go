package verbs

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Tells says how a person is told the result of a call, if no model words it.
type Tells struct {
	First Wordings // before the rows that were found
	Each  Wordings // for each row
	Lines Wordings // each row is a line of one text, which states its own source
	None  Wordings // if no row was found
	Done  Wordings // for what was changed
	Asks  Wordings // before it is done, if somebody is asked
}

// Wordings hold the same text in several languages.
type Wordings []Wording

// A Wording is text with the values of a result, or of arguments, in it.
type Wording struct {
	Language string // ISO 639-1 code; "" is the palette's own
	parts    []wordingPart
}

// A wordingPart is text, a value, or parts that are left out together.
type wordingPart struct {
	text  string
	name  string        // of a value
	group []wordingPart // left out if a value in it is empty, or if the value called name is
	items bool          // the group is repeated for each item of the list called name
}

// Told are the values that a wording is filled with.
type Told interface {
	// Value returns a value in words, "" if it is empty.
	Value(name string) string
	// Items returns the items of a list.
	Items(name string) []Told
}

// In returns the wording in a language, or else in the palette's own; nil if there is none.
func (w Wordings) In(language string) *Wording {
	for i := range w {
		if w[i].Language == language {
			return &w[i]
		}
	}
	if len(w) > 0 {
		return &w[0]
	}
	return nil
}

// Say fills in the values. A group that needs an empty value is left out; the texts for the items
// of a list are separated by semicolons, whole sentences by a space.
func (w *Wording) Say(of Told) string {
	between := "; "
	if w.Language == "fr" {
		between = typeset(w.Language, " ; ")
	}
	text, _ := sayParts(w.parts, of, between)
	return text
}

func sayParts(parts []wordingPart, of Told, between string) (_ string, whole bool) {
	var b strings.Builder
	whole = true
	for i := range parts {
		p := &parts[i]
		switch {
		case p.items:
			last := ""
			for _, item := range of.Items(p.name) {
				text, ok := sayParts(p.group, item, between)
				if !ok {
					continue
				}
				switch {
				case last == "":
				case strings.HasSuffix(last, ".") || strings.HasSuffix(last, "?"):
					b.WriteString(" ")
				default:
					b.WriteString(between)
				}
				b.WriteString(text)
				last = text
			}
			whole = whole && last != ""
		case p.group != nil:
			if p.name != "" {
				if is := of.Value(p.name); is == "" || is == "0" {
					continue
				}
			}
			if text, ok := sayParts(p.group, of, between); ok {
				b.WriteString(text)
			}
		case p.name != "":
			text := of.Value(p.name)
			whole = whole && text != ""
			b.WriteString(text)
		default:
			text := p.text
			if i > 0 && endsSentence(b.String()) {
				text = strings.TrimPrefix(text, ".") // a value that is a sentence has its own full stop
			}
			b.WriteString(text)
		}
	}
	return b.String(), whole
}

func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(text)
	return text != "" && strings.ContainsRune(".?!…", last)
}

// A telling is one kind of text that a person is told about a verb.
type telling struct {
	key   string
	of    *Wordings
	names []string // the values that it may name
}

func (v *Verb) tellings() [6]telling {
	params, all := v.Names(), v.toldNames()
	return [...]telling{
		{"first", &v.Tells.First, append([]string{"count"}, params...)},
		{"each", &v.Tells.Each, all},
		{"lines", &v.Tells.Lines, all},
		{"none", &v.Tells.None, params},
		{"done", &v.Tells.Done, all},
		{"asks", &v.Tells.Asks, params},
	}
}

// toldNames returns the names of the values that can be told: the results, and the arguments.
func (v *Verb) toldNames() []string {
	names := v.answerNames()
	for _, name := range v.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// answerNames are the values that the verb returns.
func (v *Verb) answerNames() (names []string) {
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
func (v *Verb) changedNames() (names []string) {
	for i := range v.Effects {
		if x := &v.Effects[i]; (x.Kind == Creates || x.Kind == Updates) && x.Entity != nil {
			names = append(names, x.Entity.Store.Name)
		}
	}
	return names
}

// itemNames returns the names of the values in the items of a list that the verb returns.
func (v *Verb) itemNames(list string) []string {
	if v.Read == nil {
		return nil
	}
	for i := range v.Read.Fields {
		f := &v.Read.Fields[i]
		switch {
		case f.Name != list:
		case f.From == FromCodes:
			return []string{"code", "description"}
		case f.From == FromList:
			var names []string
			for j := range v.Read.Lists[f.List].Fields {
				names = append(names, v.Read.Lists[f.List].Fields[j].Name)
			}
			return names
		}
	}
	return nil
}
