package verbs

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
)

// Unspoken compares what palettes say in the languages that they speak: a palette that
// has a language in some places and lacks it in others answers half in one and half in
// the other. There is a warning for each such palette and language, at the first of
// the places, with the next ones and how many there are. A palette that speaks English
// alone is whole.
func Unspoken(r *Registry) dsl.Diagnostics {
	var all dsl.Diagnostics
	for _, p := range r.Palettes() {
		if p.Source == nil {
			continue
		}
		all = append(all, unspokenIn(r, p)...)
	}
	return all
}

// mostUnspoken is how many places a warning shows.
const mostUnspoken = 3

func unspokenIn(r *Registry, p *Palette) (all dsl.Diagnostics) {
	s := &spoken{reg: r, d: newDoc(p.Source, len(p.Source.Text)), lacks: map[string][]dsl.Place{}}
	if s.d.root == nil {
		return nil // it did load, so it does not happen
	}
	worded(s.d.root, func(_, said *yaml.Node) {
		for i := 0; i < len(said.Content); i += 2 {
			if l := said.Content[i].Value; l != "en" && !slices.Contains(s.all, l) {
				s.all = append(s.all, l)
			}
		}
	})
	slices.Sort(s.all)
	worded(s.d.root, func(key, said *yaml.Node) {
		for _, l := range s.all {
			if !hasKey(said, l) {
				s.lack(key, l)
			}
		}
	})
	s.texts(s.d.root)
	for _, l := range s.all {
		places := s.lacks[l]
		if len(places) == 0 {
			continue
		}
		slices.SortFunc(places, func(a, b dsl.Place) int { return int(a.Range.Start) - int(b.Range.Start) })
		d := dsl.Diagnostic{
			Severity: dsl.Warning,
			Code:     "unspoken",
			Summary:  fmt.Sprintf("the palette %s speaks %s, and in %s it does not", p.Domain, l, counted(len(places))),
			Label:    "nothing in " + l,
			Place:    places[0],
			Notes:    []string{"people who speak " + l + " are told this in English; say it in " + l + " as well: beside the others, or under says"},
		}
		for _, at := range places[1:min(len(places), mostUnspoken)] {
			d.Related = append(d.Related, dsl.Related{Place: at, Message: "nor here"})
		}
		if more := len(places) - mostUnspoken; more > 0 {
			d.Notes = append(d.Notes, "and in "+strconv.Itoa(more)+" more")
		}
		all = append(all, d)
	}
	return all
}

// A spoken is what is looked at of one palette.
type spoken struct {
	reg   *Registry
	d     *doc
	all   []string // languages, but for English
	lacks map[string][]dsl.Place
}

// worded calls fn with each key of a palette under which one thing may be said in
// several languages, and with those languages. Elsewhere a mapping such as
// {id: id} names columns and no language.
func worded(n *yaml.Node, fn func(key, said *yaml.Node)) {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			switch key := n.Content[i-1]; {
			case key.Value == "phrases" || key.Value == "asks":
				inLanguages(key, c, fn)
			case (key.Value == "tells" || key.Value == "says") && c.Kind == yaml.MappingNode:
				for j := 0; j+1 < len(c.Content); j += 2 {
					inLanguages(c.Content[j], c.Content[j+1], fn)
				}
				continue
			}
		}
		worded(c, fn)
	}
}

// inLanguages calls fn where a node says one thing in several languages.
func inLanguages(key, n *yaml.Node, fn func(key, said *yaml.Node)) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		if !isLanguage(n.Content[i].Value) || n.Content[i+1].Kind == yaml.MappingNode {
			return
		}
	}
	fn(key, n)
}

// texts looks for what people are told that is said in English alone: descriptions
// of verbs, what a verb tells and asks, phrases, and why something is refused or
// asked first.
func (s *spoken) texts(root *yaml.Node) {
	verbs := keyed(root, "verbs")
	if root.Kind == yaml.SequenceNode { // of a large palette, some more of them
		verbs = root
	}
	if verbs == nil {
		return
	}
	for _, v := range verbs.Content {
		if internal := keyed(v, "internal"); internal != nil && internal.Value == "true" {
			continue
		}
		s.text(keyed(v, "description"))
		s.alone(v, "phrases")
		if tells := keyed(v, "tells"); tells != nil {
			for i := 0; i+1 < len(tells.Content); i += 2 {
				s.alone(tells, tells.Content[i].Value)
			}
		}
		for _, list := range [...][2]string{{"confirm", "reason"}, {"requires", "else"}} {
			if of := keyed(v, list[0]); of != nil {
				for _, one := range of.Content {
					s.text(keyed(one, list[1]))
				}
			}
		}
		if args := keyed(v, "args"); args != nil {
			for _, a := range args.Content {
				s.alone(a, "asks")
			}
		}
	}
}

// alone notes what stands under a key and names no language.
func (s *spoken) alone(of *yaml.Node, key string) {
	for i := 0; of.Kind == yaml.MappingNode && i+1 < len(of.Content); i += 2 {
		if of.Content[i].Value != key || of.Content[i+1].Kind == yaml.MappingNode || len(of.Content[i+1].Content) == 0 && of.Content[i+1].Kind == yaml.SequenceNode {
			continue
		}
		if v := of.Content[i+1]; v.Kind == yaml.ScalarNode && !strings.ContainsFunc(filledIn.ReplaceAllString(v.Value, ""), unicode.IsLetter) {
			continue // it has no words of its own
		}
		for _, l := range s.all {
			s.lack(of.Content[i], l)
		}
	}
}

// filledIn is what is filled into a wording.
var filledIn = regexp.MustCompile(`\{[^}]*\}`)

// text notes a text that no palette says in a language.
func (s *spoken) text(n *yaml.Node) {
	if n == nil || n.Kind != yaml.ScalarNode || n.Value == "" || s.reg.says[n.Value] != nil {
		return // what is said in some languages is looked at where it is
	}
	for _, l := range s.all {
		s.lack(n, l)
	}
}

func (s *spoken) lack(at *yaml.Node, language string) {
	s.lacks[language] = append(s.lacks[language], s.d.place(at))
}

func keyed(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func counted(places int) string {
	if places == 1 {
		return "1 place"
	}
	return strconv.Itoa(places) + " places"
}

func hasKey(n *yaml.Node, key string) bool { return keyed(n, key) != nil }
