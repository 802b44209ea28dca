package phrase

import (
	"math"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/collect"
	"verbatim/runtime/words"
	"verbatim/verbs"
)

// An Index holds the words of palettes. It is made once for a registry, is
// immutable, and may be shared.
type Index struct {
	reg       *verbs.Registry
	aliases   []alias
	verbs     []*verbs.Verb
	stems     map[string]int32
	list      []string // the stems, by number
	weight    []float32
	templates []template
	inside    [][]place    // by stem: where it stands in templates
	about     [][]about    // by stem: which verbs it is a word of
	byLetter  [256][]int32 // stems by their first letter, for words with a slip
	near      [][]int32    // by stem: those of its groups
	codes     map[*verbs.CodeList][]codeWords
	forms     map[*verbs.Schema]*collect.Form
	firsts    []string // by verb: stem of its name's first word
	asking    []bool   // by verb: it is said as a question, or puts one
}

// A template is a phrase, or another text that says what a verb is for.
type template struct {
	verb    int32
	text    string // as the palette has it
	quality float32
	tongue  words.Language
	words   []int32 // stems, in order; -1-i is the slot of parameter i
	weight  float32 // of its words
	slots   bool    // it has places for arguments
	colon   bool    // a colon stands before the last of them: "leave a note: {note}"
	telling bool    // a word of it says something by itself
}

type place struct {
	template int32
	word     uint8
}

type about struct {
	verb   int32
	weight float32
}

type codeWords struct {
	code  string
	stems []string
}

// Qualities of what a verb is known by.
const (
	ofPhrase      = 1.0
	ofName        = 0.8
	ofDescription = 0.62
)

// maxTemplate is how many words of a phrase count.
const maxTemplate = 24

// New reads the words of palettes.
func New(reg *verbs.Registry) *Index {
	ix := &Index{reg: reg, verbs: reg.Verbs(), stems: map[string]int32{}, codes: map[*verbs.CodeList][]codeWords{}, forms: map[*verbs.Schema]*collect.Form{}}
	for _, l := range reg.CodeLists() {
		ix.codeWords(l)
	}
	seen := map[int32]int{} // verbs that have a stem: by stem
	ix.asking = make([]bool, len(ix.verbs))
	for i, v := range ix.verbs {
		own := map[int32]float32{}
		note := func(stem int32, weight float32) {
			if w, ok := own[stem]; !ok || w < weight {
				own[stem] = weight
			}
		}
		ix.asking[i] = len(v.Effects) == 0
		ix.readForms(v)
		if _, local, ok := strings.Cut(v.Name, "."); ok && len(v.Phrases) > 0 {
			word, _, _ := strings.Cut(local, "-")
			ix.firsts = append(ix.firsts, stem(word))
		} else {
			ix.firsts = append(ix.firsts, "")
		}
		phrasesOf(v, func(l words.Language, p string) {
			ix.template(i, v, p, l, ofPhrase, note)
			if w := split(p); len(w) > 0 && (questionWords[w[0]] || strings.HasSuffix(p, "?")) {
				ix.asking[i] = true
			}
		})
		for j := range v.Params {
			if v.Params[j].Name == "question" {
				ix.asking[i] = true
			}
		}
		_, name, _ := strings.Cut(v.Name, ".")
		ix.template(i, v, strings.NewReplacer("-", " ", ".", " ").Replace(name), words.English, ofName, note)
		first, _, _ := strings.Cut(v.Description, ". ")
		ix.template(i, v, strings.NewReplacer("{", " ", "}", " ").Replace(first), words.English, ofDescription, note)
		for j := range v.Params {
			p := &v.Params[j]
			for _, w := range split(strings.ReplaceAll(p.Name, "-", " ")) {
				if w != "id" {
					note(ix.stem(w), 0.6)
				}
			}
			if p.Type.Codes != nil {
				for _, c := range ix.codeWords(p.Type.Codes) {
					for _, s := range c.stems {
						note(ix.stemOf(s), 0.7)
					}
				}
			}
			if p.Type.Entity != nil {
				for _, w := range split(strings.ReplaceAll(p.Type.Entity.Store.Name, "-", " ")) {
					note(ix.stem(w), 0.5)
				}
			}
		}
		for s, w := range own {
			seen[s]++
			ix.about[s] = append(ix.about[s], about{int32(i), w})
		}
	}
	n := float64(len(ix.verbs))
	for s := range ix.list {
		w := math.Log(1+n/float64(max(1, seen[int32(s)]))) / math.Log(1+n)
		if l := smallWeight(ix.list[s]); l > 0 {
			w = min(w, l)
		}
		ix.weight[s] = float32(max(w, 0.05))
		slices.SortFunc(ix.about[s], func(a, b about) int { return int(a.verb) - int(b.verb) })
	}
	for t := range ix.templates {
		tp := &ix.templates[t]
		for k, s := range tp.words {
			if s >= 0 {
				tp.telling = tp.telling || smallWeight(ix.list[s]) == 0
				tp.weight += ix.wordWeight(tp, s)
				ix.inside[s] = append(ix.inside[s], place{int32(t), uint8(k)})
			} else if p := &ix.verbs[tp.verb].Params[-1-s]; !freeText(p) {
				tp.weight += slotWeight
			}
		}
	}
	ix.near = make([][]int32, len(ix.list))
	for s, w := range ix.list {
		if plainStem(w) == w {
			ix.byLetter[w[0]] = append(ix.byLetter[w[0]], int32(s))
		}
		for _, other := range groupsOf()[w] {
			if id, ok := ix.stems[other]; ok {
				ix.near[s] = append(ix.near[s], id)
			}
		}
	}
	return ix
}

// slotWeight is what a slot of a phrase counts for.
const slotWeight = 0.35

// wordWeight is what a word of a template counts for: in a phrase, small words
// tell it from others.
func (ix *Index) wordWeight(t *template, s int32) float32 {
	if t.quality == ofPhrase {
		return max(ix.weight[s], 0.3)
	}
	return ix.weight[s]
}

// freeText reports that an argument takes words as they come, so that any
// sentence has something for it.
func freeText(p *verbs.Param) bool {
	return p.Type.Name == verbs.StringType && p.Type.Pattern == nil
}

// template adds a text that a verb is known by.
func (ix *Index) template(verb int, v *verbs.Verb, text string, l words.Language, quality float32, note func(int32, float32)) {
	t := template{verb: int32(verb), text: text, quality: quality, tongue: l}
	add := func(plain string) {
		for _, w := range split(plain) {
			s := ix.stemOf(stemIn(l, w))
			note(s, quality)
			if len(t.words) < maxTemplate && !slices.Contains(t.words, s) {
				t.words = append(t.words, s)
			}
		}
	}
	for rest := text; rest != ""; {
		before, after, open := strings.Cut(rest, "{")
		add(before)
		if !open {
			break
		}
		name, after, _ := strings.Cut(after, "}")
		for i := range v.Params {
			if v.Params[i].Name == name && len(t.words) < maxTemplate {
				t.words = append(t.words, int32(-1-i))
				t.slots = t.slots || !freeText(&v.Params[i])
				t.colon = freeText(&v.Params[i]) && strings.HasSuffix(strings.TrimSpace(before), ":")
			}
		}
		rest = after
	}
	if len(t.words) > 0 {
		ix.templates = append(ix.templates, t)
	}
}

// split divides one of our own texts into words.
func split(text string) []string {
	all, _ := words.Split(text, 64)
	plain := make([]string, len(all))
	for i := range all {
		plain[i] = all[i].Plain
	}
	return plain
}

func (ix *Index) stem(w string) int32 { return ix.stemOf(stem(w)) }

func (ix *Index) stemOf(s string) int32 {
	id, ok := ix.stems[s]
	if !ok {
		id = int32(len(ix.list))
		ix.stems[s] = id
		ix.list = append(ix.list, s)
		ix.weight = append(ix.weight, 0)
		ix.inside = append(ix.inside, nil)
		ix.about = append(ix.about, nil)
	}
	return id
}

// codeWords are the words of a list's codes: TAX_RETURN is "tax return".
func (ix *Index) codeWords(l *verbs.CodeList) []codeWords {
	if all, ok := ix.codes[l]; ok {
		return all
	}
	var all []codeWords
	for _, c := range l.Codes {
		cw := codeWords{code: c.Name}
		for _, w := range split(strings.ReplaceAll(c.Name, "_", " ")) {
			if small()[w] == 0 {
				cw.stems = append(cw.stems, stem(w))
			}
		}
		if len(cw.stems) > 0 {
			all = append(all, cw)
			for _, stems := range ix.sayings(c.Name) {
				all = append(all, codeWords{c.Name, stems})
				ix.aliases = append(ix.aliases, alias{strings.ToLower(strings.ReplaceAll(c.Name, "_", "-")), cw.stems[0], stems})
			}
		}
	}
	ix.codes[l] = all
	return all
}

// An alias is what a code is called in another language: names of rows that hold
// the code are understood by it.
type alias struct {
	slug  string   // the code, as a name has it
	first string   // the first stem of it
	stems []string // in the other language
}

// sayings are the stems of what a code is called in other languages than English.
// Articles and such are left out.
func (ix *Index) sayings(code string) (all [][]string) {
	for _, l := range words.Languages {
		said, ok := ix.reg.Says(l.String(), code)
		if !ok || l == words.English {
			continue
		}
		var stems []string
		for _, w := range split(said) {
			if len(w) > 3 && small()[w] == 0 {
				stems = append(stems, stem(w))
			}
		}
		if len(stems) > 0 {
			all = append(all, stems)
		}
	}
	return all
}

// A match is a word of the palettes that a word of the sentence may be.
type match struct {
	stem   int32
	weight float32
}

// matches are those words, the word itself first. In another language than
// English it may be one of its words as well.
func (ix *Index) matches(dst []match, s, also string) []match {
	if also != "" {
		if id, ok := ix.stems[also]; ok {
			dst = append(dst, match{id, 1})
		}
	}
	id, ok := ix.stems[s]
	if ok {
		dst = append(dst, match{id, 1})
		for _, other := range ix.near[id] {
			dst = append(dst, match{other, 0.8})
		}
		return dst
	}
	for _, other := range groupsOf()[s] {
		if id, ok := ix.stems[other]; ok {
			dst = append(dst, match{id, 0.8})
		}
	}
	if len(dst) > 0 || len(s) < 5 {
		return dst
	}
	// A slip of the finger, in a longer word, after its first letter.
	for _, id := range ix.byLetter[s[0]] {
		w := ix.list[id]
		if len(w) >= 5 && len(w) <= len(s)+1 && len(s) <= len(w)+1 && dsl.Distance(s, w, 1) <= 1 {
			dst = append(dst, match{id, 0.75})
		}
	}
	return dst
}
