package verbs

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// Unspoken compares palettes with what is beside them in other languages: where such
// a file lacks something that the palette says, people are answered half in one
// language and half in the other. There is a warning for each file, at the first text
// that it lacks, with the next ones and how many there are.
func Unspoken(r *Registry) dsl.Diagnostics {
	var all dsl.Diagnostics
	for _, p := range r.Palettes() {
		for _, s := range p.Sidecars {
			lacks := lacking(r, p, s.Language)
			if len(lacks) == 0 {
				continue
			}
			d := tell(lacks[0].place, "unspoken", p.Domain, s.Language, Count(len(lacks), "place"), s.Source.Name)
			for _, l := range lacks[1:min(len(lacks), mostUnspoken)] {
				d.Related = append(d.Related, dsl.Related{Place: l.place, Message: "nor here"})
			}
			if more := len(lacks) - mostUnspoken; more > 0 {
				d.Notes = append(d.Notes, "and in "+strconv.Itoa(more)+" more")
			}
			all = append(all, d)
		}
	}
	return all
}

// mostUnspoken is how many places a warning shows.
const mostUnspoken = 3

// Untranslated writes what a palette says and does not say in a language, as the file
// beside it is to hold it: each text in English, above the place of the other. It
// loads as it is written, and says nothing yet.
func Untranslated(w io.Writer, r *Registry, p *Palette, language string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# yaml-language-server: $schema=sidecar.schema.json")
	verb, under := "", ""
	for _, l := range lacking(r, p, language) {
		if l.verb != verb || under == "" {
			switch {
			case l.verb == "":
				fmt.Fprintln(b, "\nsays:")
			case verb == "":
				fmt.Fprintf(b, "verbs:\n  %s:\n", l.verb)
			default:
				fmt.Fprintf(b, "\n  %s:\n", l.verb)
			}
			verb, under = l.verb, ""
		}
		switch {
		case l.verb == "":
			under = "says"
			fmt.Fprintf(b, "  %q: \"\"\n", l.n.Value)
			continue
		case l.under == "phrases":
			for _, phrase := range l.n.Content {
				fmt.Fprintf(b, "    # %s\n", phrase.Value)
			}
			fmt.Fprintln(b, "    phrases: []")
		case l.under != under:
			fmt.Fprintf(b, "    %s:\n", l.under)
			fallthrough
		default:
			fmt.Fprintf(b, "      # %s\n      %s: \"\"\n", strings.ReplaceAll(l.n.Value, "\n", `\n`), l.key)
		}
		under = l.under
	}
	return b.Flush()
}

// A lack is a text of a palette that a language has not.
type lack struct {
	verb  string // whose text it is, or "" where the text is the key
	under string // phrases, tells or asks
	key   string // what is told, or the argument
	n     *yaml.Node
	place dsl.Place
}

// lacking are the texts of a palette that no palette says in a language: first those of verbs, and then the
// others, both in the order of the palette.
func lacking(r *Registry, p *Palette, language string) (all []lack) {
	d := newDoc(p.Source, len(p.Source.Text))
	var others []lack
	seen := map[string]bool{}
	text := func(n *yaml.Node) {
		if n == nil || n.Kind != yaml.ScalarNode || seen[n.Value] || !strings.ContainsFunc(n.Value, unicode.IsLetter) {
			return
		}
		seen[n.Value] = true
		if _, said := r.Says(language, n.Value); !said {
			others = append(others, lack{n: n, place: d.place(n)})
		}
	}
	for _, n := range content(keyed(d.root, "verbs")) {
		internal := keyed(n, "internal")
		i := slices.IndexFunc(p.Verbs, func(v *Verb) bool { return v.Name == p.Domain+"."+keyed(n, "verb").Value })
		if i < 0 || internal != nil && internal.Value == "true" {
			continue
		}
		v := p.Verbs[i]
		add := func(under, key string, n *yaml.Node, said bool) {
			if n != nil && !said {
				all = append(all, lack{strings.TrimPrefix(v.Name, p.Domain+"."), under, key, n, d.place(n)})
			}
		}
		text(keyed(n, "description"))
		add("phrases", "", keyed(n, "phrases"), len(v.PhrasesIn[language]) > 0 || len(v.Phrases) == 0)
		for _, t := range v.tellings() {
			add("tells", t.key, keyed(keyed(n, "tells"), t.key), t.of.in(language))
		}
		for _, arg := range content(keyed(n, "args")) {
			name := keyed(arg, "name").Value
			add("asks", name, keyed(arg, "asks"), v.Params[v.param(name)].Asks.in(language))
		}
		for _, c := range content(keyed(n, "requires")) {
			text(keyed(c, "else"))
		}
		for _, c := range content(keyed(n, "confirm")) {
			text(keyed(c, "reason"))
		}
	}
	for _, list := range content(keyed(d.root, "codes")) {
		for _, code := range content(keyed(list, "values")) {
			if code.Kind == yaml.ScalarNode {
				text(code)
			}
			text(keyed(code, "code"))
			text(keyed(code, "description"))
			text(keyed(code, "else"))
		}
	}
	schemaTexts(keyed(d.root, "schemas"), text)
	for _, e := range content(keyed(d.root, "entities")) {
		text(keyed(e, "unique-else"))
	}
	// What one other language says is for all of them.
	var rest func(n *yaml.Node)
	rest = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode && p.says[n.Value] != nil {
			text(n)
		}
		for _, c := range n.Content {
			rest(c)
		}
	}
	rest(d.root)
	slices.SortStableFunc(others, func(a, b lack) int { return int(a.place.Range.Start - b.place.Range.Start) })
	return append(all, others...)
}

// schemaTexts calls fn with the texts that people are told of a schema.
func schemaTexts(n *yaml.Node, fn func(n *yaml.Node)) {
	for _, key := range [...]string{"x-about", "title", "description", "x-wrong"} {
		fn(keyed(n, key))
	}
	for i, c := range content(n) {
		if n.Kind != yaml.MappingNode || i%2 == 1 && n.Content[i-1].Value != "examples" {
			schemaTexts(c, fn)
		}
	}
}

// in reports whether something is said in a language, with every value that the
// palette's own text has; a text without words is said in all.
func (w Wordings) in(language string) bool {
	if len(w) == 0 || !hasWords(w[0].parts) {
		return true
	}
	said := w.In(language)
	return said.Language == language && !slices.ContainsFunc(valuesOf(w[0].parts), func(name string) bool { return !said.says(name) })
}

func hasWords(parts []wordingPart) bool {
	return slices.ContainsFunc(parts, func(p wordingPart) bool {
		return strings.ContainsFunc(p.text, unicode.IsLetter) || hasWords(p.group)
	})
}

// valuesOf are the values in a wording, but those of the items of lists.
func valuesOf(parts []wordingPart) (names []string) {
	for _, p := range parts {
		switch {
		case p.items:
		case p.group != nil:
			names = append(names, valuesOf(p.group)...)
		case p.name != "":
			names = append(names, p.name)
		}
	}
	return names
}

func keyed(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func content(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	return n.Content
}
