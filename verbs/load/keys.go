package load

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"gopkg.in/yaml.v3"

	"verbatim/verbs"
	"verbatim/verbs/message"
)

// keys.txt holds the keys of a palette: which keys a mapping may have, what they hold and what
// they are for. The decoder refuses all others, and the JSON Schema for editors is made from it.
//
//go:embed keys.txt
var keysText string

// A shape is a mapping with known keys.
type shape struct {
	name  string // "a verb", as messages call it
	doc   string
	keys  []key
	index map[string]int // keys by name
}

// A key is one key of a shape.
type key struct {
	name     string
	doc      string
	example  string // YAML flow syntax, which is JSON where it matters
	holds    string // one of forms
	of       *shape // of maps and mappings
	required bool
	words    []string // the possible words, for editors
	closed   bool     // the decoder refuses other words
}

// key finds a key by its name.
func (sh *shape) key(name string) *key {
	i, ok := sh.index[name]
	if !ok {
		return nil
	}
	return &sh.keys[i]
}

// Names returns the keys of a shape.
func (sh *shape) Names() []string {
	return message.Names(sh.keys, func(k key) string { return k.name })
}

// KeyDoc returns the documentation of a key, with an example, given the name of its KeyThing.
func KeyDoc(name string) (doc, example string) {
	of, name, _ := strings.Cut(name, " ")
	if sh := shapes()[of]; sh != nil {
		if k := sh.key(name); k != nil {
			return k.doc, k.example
		}
	}
	return "", ""
}

// KeyKinds lists the kinds of mappings that a palette has, as messages call them, the palette itself first.
func KeyKinds() []string {
	var kinds []string
	for line := range strings.Lines(keysText) {
		if word, kind, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && line[0] != ' ' && line[0] != '#' && !strings.Contains(word, " ") {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// KeysOf tells the keys of a kind of mapping, "an entity" or "entity": what each holds and is for,
// with an example. Keys that must be given end in an exclamation mark.
func KeysOf(kind string) (text string, ok bool) {
	for name, sh := range shapes() {
		if kind != name && kind != sh.name {
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%s: %s\n", sh.name, sh.doc)
		for _, k := range sh.keys {
			mark := ""
			if k.required {
				mark = "!"
			}
			fmt.Fprintf(&b, "\n  %s%s: %s\n      %s\n", k.name, mark, k.example, k.doc)
			if k.of != nil {
				fmt.Fprintf(&b, "      its keys are those of %s\n", k.of.name)
			}
		}
		return b.String(), true
	}
	return "", false
}

// forms are the kinds of YAML that a key may hold, by their names in keys.txt.
var forms = map[string]struct {
	kinds  []yaml.Kind
	wanted string
}{
	"text":          {scalar, "text"},
	"boolean":       {scalar, "true or false"},
	"integer":       {scalar, "a whole number"},
	"number":        {scalar, "a number"},
	"texts":         {sequence, "a list: [a, b]"},
	"map":           {yamlMap, "a mapping: key: value"},
	"maps":          {sequence, "a list of mappings, each begun by a dash"},
	"named-maps":    {yamlMap, "a mapping from names to mappings"},
	"named-texts":   {yamlMap, "a mapping from names to text"},
	"text-or-texts": {append(scalar, yaml.SequenceNode), "text, or a list: [a, b]"},
	"text-or-map":   {append(scalar, yamlMap...), "text or a mapping"},
	"text-or-maps":  {append(scalar, sequence...), "a word or a list of rules"},
	"texts-or-maps": {sequence, "a list: [A, B]"},
	"lists":         {sequence, "a list of lists: [[a, b]]"},
	"anything":      {slices.Concat(scalar, sequence, yamlMap), "anything"}, // a JSON Schema, a default
	"named":         {yamlMap, "a mapping from names"},
}

var scalar, sequence, yamlMap = []yaml.Kind{yaml.ScalarNode}, []yaml.Kind{yaml.SequenceNode}, []yaml.Kind{yaml.MappingNode}

// shapes returns the shapes of keys.txt, by name.
var shapes = sync.OnceValue(func() map[string]*shape { return readShapes(keysText) })

func readShapes(text string) map[string]*shape {
	all := make(map[string]*shape)
	named := func(name string) *shape {
		if all[name] == nil {
			all[name] = &shape{index: make(map[string]int)}
		}
		return all[name]
	}
	var sh *shape
	add := func(k key) {
		sh.index[k.name] = len(sh.keys)
		sh.keys = append(sh.keys, k)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case line == "" || line[0] == '#':
		case line[0] != ' ':
			sh = named(strings.TrimSuffix(word, ":"))
			sh.name = rest
		case word == "+": // the keys of another shape
			for _, k := range named(rest).keys {
				add(k)
			}
		case sh.doc == "":
			sh.doc = strings.TrimSpace(line)
		case strings.HasPrefix(line, "    "):
			sh.keys[len(sh.keys)-1].doc = strings.TrimSpace(line)
		default:
			k := key{}
			k.name, k.required = strings.CutSuffix(word, "!")
			k.holds, k.example, _ = strings.Cut(rest, " ")
			var words string
			if k.holds, words, k.closed = strings.Cut(k.holds, "|"); !k.closed {
				k.holds, words, _ = strings.Cut(k.holds, "~")
			}
			if k.words = wordLists[words]; k.words == nil && words != "" {
				k.words = strings.Split(words, ",")
			}
			if form, of, ok := strings.Cut(k.holds, ":"); ok {
				k.holds, k.of = form, named(of)
			}
			add(k)
		}
	}
	return all
}

// wordLists are the lists of words to which keys.txt refers by name.
var wordLists = map[string][]string{"types": verbs.TypeWords, "origins": verbs.OriginWords, "again": verbs.AgainWords}

// sortedTypes are the types in alphabetical order.
var sortedTypes = slices.Sorted(slices.Values(verbs.TypeWords))

// String returns what messages call the shape.
func (sh *shape) String() string { return sh.name }
