package load

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
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// MissingTranslations compares palettes with their sidecars: if a sidecar lacks a text of its palette,
// people get answers half in one language and half in the other. It returns a warning for each
// sidecar, at the first missing text, with the next ones and their number.
func MissingTranslations(r *verbs.Registry) dsl.Diagnostics {
	var all dsl.Diagnostics
	for _, p := range r.Palettes() {
		for _, s := range p.Sidecars {
			lacks := lacking(r, p, s.Language)
			if len(lacks) == 0 {
				continue
			}
			d := tell(lacks[0].place, "unspoken", p.Domain, s.Language, message.Count(len(lacks), "place"), s.Source.Name)
			for _, l := range lacks[1:min(len(lacks), mostMissing)] {
				d.Related = append(d.Related, dsl.Related{Place: l.place, Message: "nor here"})
			}
			if more := len(lacks) - mostMissing; more > 0 {
				d.Notes = append(d.Notes, "and in "+strconv.Itoa(more)+" more")
			}
			all = append(all, d)
		}
	}
	return all
}

// mostMissing is how many places a warning shows.
const mostMissing = 3

// Untranslated writes a sidecar with the texts of a palette that are not translated into a
// language: each in English, above the empty place for its translation. The file loads as it is.
func Untranslated(w io.Writer, r *verbs.Registry, p *verbs.Palette, language string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "# yaml-language-server: $schema=sidecar.schema.json")
	var last []string
	for _, l := range lacking(r, p, language) {
		in, above := len(l.path)-1, 0
		for above < min(in, len(last)-1) && l.path[above] == last[above] {
			above++
		}
		if above < 2 && last != nil && in > above {
			fmt.Fprintln(b)
		}
		for i := above; i < in; i++ {
			fmt.Fprintf(b, "%*s%s:\n", 2*i, "", l.path[i])
		}
		empty := `""`
		for _, phrase := range l.n.Content {
			fmt.Fprintf(b, "%*s# %s\n", 2*in, "", phrase.Value)
			empty = "[]"
		}
		if in == 3 { // elsewhere the key is the text itself
			fmt.Fprintf(b, "%*s# %s\n", 2*in, "", strings.ReplaceAll(l.n.Value, "\n", `\n`))
		}
		fmt.Fprintf(b, "%*s%s: %s\n", 2*in, "", l.path[in], empty)
		last = l.path
	}
	return b.Flush()
}

// A lack is a text of a palette that has no translation into a language.
type lack struct {
	path  []string // the keys for it in the sidecar
	n     *yaml.Node
	place dsl.Place
}

// lacking returns the texts of a palette that no sidecar translates into a language: first those
// of verbs, and then the others, both in the order of the palette.
func lacking(r *verbs.Registry, p *verbs.Palette, language string) (all []lack) {
	d := newDoc(p.Source, len(p.Source.Text))
	var others []lack
	seen := map[string]bool{}
	text := func(n *yaml.Node) {
		if n.Kind != yaml.ScalarNode || seen[n.Value] || !strings.ContainsFunc(n.Value, unicode.IsLetter) {
			return
		}
		seen[n.Value] = true
		if _, said := r.Says(language, n.Value); !said {
			others = append(others, lack{[]string{"says", strconv.Quote(n.Value)}, n, d.place(n)})
		}
	}
	for _, n := range keyed(d.root, "verbs").Content {
		i := slices.IndexFunc(p.Verbs, func(v *verbs.Verb) bool { return v.Name == p.Domain+"."+keyed(n, "verb").Value })
		if i < 0 || p.Verbs[i].Internal {
			continue
		}
		v := p.Verbs[i]
		add := func(n *yaml.Node, said bool, under ...string) {
			if n.Kind != poisoned && !said {
				all = append(all, lack{append([]string{"verbs", strings.TrimPrefix(v.Name, p.Domain+".")}, under...), n, d.place(n)})
			}
		}
		text(keyed(n, "description"))
		add(keyed(n, "phrases"), len(v.PhrasesIn[language]) > 0 || len(v.Phrases) == 0, "phrases")
		for _, t := range tellings(v) {
			add(keyed(keyed(n, "tells"), t.key), in(*t.of, language), "tells", t.key)
		}
		for _, arg := range keyed(n, "args").Content {
			name := keyed(arg, "name").Value
			add(keyed(arg, "asks"), in(v.Params[v.ParamNamed(name)].Asks, language), "asks", name)
		}
		for _, c := range keyed(n, "requires").Content {
			text(keyed(c, "else"))
		}
		for _, c := range keyed(n, "confirm").Content {
			text(keyed(c, "reason"))
		}
	}
	for _, list := range keyed(d.root, "codes").Content {
		for _, code := range keyed(list, "values").Content {
			text(code)
			text(keyed(code, "code"))
			text(keyed(code, "description"))
			text(keyed(code, "else"))
		}
	}
	schemaTexts(keyed(d.root, "schemas"), text)
	for _, e := range keyed(d.root, "entities").Content {
		text(keyed(e, "unique-else"))
		for i, n := range keyed(e, "refuses").Content {
			if i%2 == 1 {
				text(n)
			}
		}
		for _, c := range keyed(e, "constraints").Content {
			text(keyed(c, "else"))
		}
	}
	elsewhere := r.Translated() // a text that one language translates needs a translation in all
	scalars(d.root, func(n *yaml.Node) {
		if elsewhere[n.Value] {
			text(n)
		}
	})
	slices.SortStableFunc(others, func(a, b lack) int { return int(a.place.Range.Start - b.place.Range.Start) })
	return append(all, others...)
}

// schemaTexts calls fn with the texts of a schema that people are shown.
func schemaTexts(n *yaml.Node, fn func(n *yaml.Node)) {
	for _, key := range [...]string{"x-about", "title", "description", "x-wrong"} {
		fn(keyed(n, key))
	}
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode || i%2 == 1 && n.Content[i-1].Value != "examples" {
			schemaTexts(c, fn)
		}
	}
}

// in reports whether there is a wording in a language, with every value of the palette's own
// text; a text without words needs no translation.
func in(w verbs.Wordings, language string) bool {
	if len(w) == 0 || !hasWords(w[0].Parts) {
		return true
	}
	said := w.In(language)
	values := valuesOf(said.Parts)
	return said.Language == language && !slices.ContainsFunc(valuesOf(w[0].Parts), func(name string) bool { return !slices.Contains(values, name) })
}

func hasWords(parts []verbs.WordingPart) bool {
	return slices.ContainsFunc(parts, func(p verbs.WordingPart) bool {
		return strings.ContainsFunc(p.Text, unicode.IsLetter) || hasWords(p.Group)
	})
}

// keyed returns the value of a key of a mapping, an empty node if there is none.
func keyed(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return &yaml.Node{}
}

// scalars calls fn with each text of a palette.
func scalars(n *yaml.Node, fn func(n *yaml.Node)) {
	if n.Kind == yaml.ScalarNode {
		fn(n)
	}
	for _, c := range n.Content {
		scalars(c, fn)
	}
}
