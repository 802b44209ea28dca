package verbs

import (
	"strings"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// Says are texts of a palette in other languages: what a code is called and what
// it means, why something is asked first, what is told where a requirement does
// not hold, what the questions of a schema are. The palette's own text is the key,
// as it stands there, and what is recorded; in other words it is told to people
// alone.
//
//	says:
//	  PENDING: {de: offen, fr: en attente, es: pendiente}
//	  that day is not over yet: {de: dieser Tag ist noch nicht vorbei}
type Says map[string]map[string]string

// In is a text as people of a language say it, or the text itself.
func (s Says) In(language, text string) string {
	if said, ok := s[text][language]; ok {
		return said
	}
	return text
}

// Says is a text of any palette as people of a language say it; ok says that a
// palette has it in that language.
func (r *Registry) Says(language, text string) (said string, ok bool) {
	said, ok = r.says[text][language]
	if !ok {
		said = text
	}
	return said, ok
}

// says reads what a palette says in other languages. What none of its texts says
// any more would be told to nobody, and is an error: a text was changed, and its
// other languages were not.
func (l *loader) says(d *doc, p *Palette, n *yaml.Node) {
	p.Says = Says{}
	here := map[string]bool{}
	var texts func(of *yaml.Node)
	texts = func(of *yaml.Node) {
		if of == n || of.Kind == poisoned {
			return
		}
		if of.Kind == yaml.ScalarNode {
			here[of.Value] = true
			for _, word := range strings.FieldsFunc(of.Value, func(r rune) bool { return !isNameRune(r) }) {
				here[word] = true // such as what an effect sets
			}
		}
		for _, c := range of.Content {
			texts(c)
		}
	}
	texts(d.root)
	d.entries(n, func(k, v *yaml.Node) {
		if v.Kind != yaml.MappingNode {
			d.report(tell(d.place(v), "wrong-shape", quoted(k.Value), "a mapping from languages"))
			return
		}
		if !here[k.Value] {
			d.report(tell(d.place(k), "contradiction", "no text of this palette is "+quoted(shorten(k.Value, 60)), "write it as it stands there", dsl.Place{}, ""))
			return
		}
		said := map[string]string{}
		d.scalars(pair{k, v}, func(k, v *yaml.Node) {
			if !isLanguage(k.Value) {
				d.report(tell(d.place(k), "bad-value/no-language", k.Value))
				return
			}
			said[k.Value] = typeset(k.Value, v.Value)
		})
		p.Says[k.Value] = said
	})
}

func isNameRune(r rune) bool {
	return r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

func isLanguage(tag string) bool {
	return len(tag) == 2 && strings.Trim(tag, "abcdefghijklmnopqrstuvwxyz") == ""
}

// sayings are those of all palettes; where two say one text, the first does.
func sayings(palettes []*Palette) Says {
	all := Says{}
	for _, p := range palettes {
		for text, in := range p.Says {
			for language, said := range in {
				if all[text] == nil {
					all[text] = map[string]string{}
				}
				if _, there := all[text][language]; !there {
					all[text][language] = said
				}
			}
		}
	}
	return all
}

// typeset puts the spaces of French as they are printed: palettes write plain ones.
func typeset(language, text string) string {
	if language != "fr" {
		return text
	}
	return frenchSpaces.Replace(text)
}

var frenchSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u202f;", " ?", "\u202f?", " !", "\u202f!", " %", "\u00a0%", "« ", "«\u00a0", " »", "\u00a0»")
