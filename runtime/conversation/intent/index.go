package intent

import (
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/intent/rank"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// An Index holds the words of the palettes. It is made once and can be shared.
type Index struct {
	reg       *verbs.Registry
	aliases   []alias
	verbs     []*verbs.Verb
	ranker    *rank.Ranker
	takes     []uint64 // by verb: what may stand in its arguments, see the kinds
	order     map[*verbs.Verb]int32
	templates []template
	own       []int32 // by verb: the first of its templates, which follow each other
	codes     map[*verbs.CodeList][]codeWords
	forms     map[*verbs.Schema]*forms.Form
	firsts    []string // by verb: stem of its name's first word
	asking    []bool   // by verb: it is said as a question, or puts one
	entities  map[*verbs.Entity]int
	model     *rank.Model
	beside    []func(values.Language) string
	spoken    func() []map[string]bool // by language: the words of phrases and codes
}

// A template is a phrase of a verb.
type template struct {
	verb  int32
	text  string // as the palette has it
	words []token
	colon bool // a colon stands before the last place: "leave a note: {note}"
	named bool // it is the name of the verb
}

// A token is a stem of a phrase, or the place of an argument.
type token struct {
	stem  string
	param *verbs.Param
}

type codeWords struct {
	code  string
	stems []string
}

// maxTemplate is how many words of a phrase are used.
const maxTemplate = 24

// New indexes the palettes. The verbs of without are never proposed, and their words do not count.
func New(reg *verbs.Registry, without ...func(*verbs.Verb) bool) *Index {
	ix := &Index{reg: reg, verbs: slices.DeleteFunc(slices.Clone(reg.Verbs()), func(v *verbs.Verb) bool {
		return v.Masked() || slices.ContainsFunc(without, func(leave func(*verbs.Verb) bool) bool { return leave(v) })
	}), codes: map[*verbs.CodeList][]codeWords{}, forms: map[*verbs.Schema]*forms.Form{}, entities: map[*verbs.Entity]int{}, order: map[*verbs.Verb]int32{}}
	for _, l := range reg.CodeLists() {
		ix.codeWords(l)
	}
	all := make([]rank.Verb, len(ix.verbs))
	ix.asking, ix.takes = make([]bool, len(ix.verbs)), make([]uint64, len(ix.verbs))
	for i, v := range ix.verbs {
		ix.order[v], ix.own = int32(i), append(ix.own, int32(len(ix.templates)))
		ix.asking[i] = len(v.Effects) == 0
		ix.readForms(v)
		_, name, _ := strings.Cut(v.Name, ".")
		first := ""
		if len(v.Phrases) > 0 {
			word, _, _ := strings.Cut(name, "-")
			first = stem(word)
		}
		ix.firsts = append(ix.firsts, first)
		k := rank.Verb{Phrases: make([][][]string, len(values.Languages()))}
		k.Phrases[values.English] = append(k.Phrases[values.English], ix.template(i, v, nameOf(v), values.English))
		phrasesOf(v, func(l values.Language, p string) {
			k.Phrases[l] = append(k.Phrases[l], ix.template(i, v, p, l))
			if w := split(p); len(w) > 0 && (questionWords()[w[0]] || strings.HasSuffix(p, "?")) {
				ix.asking[i] = true
			}
		})
		about := func(text string) {
			for _, w := range split(strings.NewReplacer("-", " ", ".", " ", "_", " ", "{", " ", "}", " ").Replace(text)) {
				if w != "id" {
					k.About = append(k.About, root(values.English, w))
				}
			}
		}
		about(name)
		description, _, _ := strings.Cut(v.Description, ". ")
		about(description)
		for j := range v.Params {
			p := &v.Params[j]
			ix.asking[i] = ix.asking[i] || p.Name == "question"
			ix.takes[i] |= ix.kindsOf(p)
			about(p.Name)
			if p.Type.Codes != nil {
				for _, c := range ix.codeWords(p.Type.Codes) {
					for _, s := range c.stems {
						k.About = append(k.About, short(s))
					}
				}
			}
			if p.Type.Entity != nil {
				about(p.Type.Entity.Store.Name)
			}
		}
		k.Labels = labels(v.Name)
		if len(ix.verbs) >= rank.ManyVerbs {
			domain, _, _ := strings.Cut(v.Name, ".")
			about(domain)
		}
		all[i] = k
	}
	ix.ranker = rank.New(all, func(w string) bool { return small()[w] })
	ix.model = ix.calibrated()
	ix.spoken = sync.OnceValue(ix.readSpoken)
	return ix
}

// templatesOf returns the phrases of a verb, its name included.
func (ix *Index) templatesOf(v *verbs.Verb) []template {
	i := ix.order[v]
	if int(i)+1 == len(ix.own) {
		return ix.templates[ix.own[i]:]
	}
	return ix.templates[ix.own[i]:ix.own[i+1]]
}

// labels returns what a verb may share with others: the first word of its name, which is what is done, the
// other words, the last of them, which is what it is done to, and the domain.
func labels(name string) (all []string) {
	domain, name, _ := strings.Cut(name, ".")
	words := strings.Split(name, "-")
	for i, w := range words {
		w = root(values.English, w)
		if i == 0 {
			w = "to " + w
		}
		if !slices.Contains(all, w) {
			all = append(all, w)
		}
	}
	return append(all, "a "+words[len(words)-1], "of "+domain)
}

// nameOf returns the name of a verb as words.
func nameOf(v *verbs.Verb) string {
	_, name, _ := strings.Cut(v.Name, ".")
	return strings.NewReplacer("-", " ", ".", " ").Replace(name)
}

// kindsOf returns the kinds of values that an argument accepts, as bits.
func (ix *Index) kindsOf(p *verbs.Param) uint64 {
	switch p.Type.Name {
	case verbs.RefType:
		if p.Type.Entity != nil {
			return ix.kindOf(p.Type.Entity)
		}
	case verbs.CodeType:
		return codeKind
	case verbs.DateType, verbs.DateTimeType:
		return 1 << values.Date
	case verbs.MoneyType:
		return 1<<values.Money | 1<<values.Integer | 1<<values.Decimal
	case verbs.IntegerType:
		return 1 << values.Integer
	case verbs.DecimalType:
		return 1<<values.Integer | 1<<values.Decimal | 1<<values.Percent
	case verbs.EmailType:
		return 1 << values.Email
	case verbs.PhoneType:
		return 1 << values.Phone
	case verbs.IBANType:
		return 1 << values.IBAN
	case verbs.BICType, verbs.LEIType, verbs.NationalIDType:
		return patternKind
	case verbs.ObjectType:
		return 1<<values.Date | 1<<values.Country | 1<<values.Percent
	case verbs.StringType:
		if p.Upload != nil {
			return fileKind
		} else if p.Type.Pattern != nil {
			return 1<<values.IBAN | patternKind
		}
	}
	return 0
}

// Kinds of values that values.Find does not return.
const (
	codeKind    = rank.CodeKind
	fileKind    = rank.FileKind
	patternKind = 1 << 31
	firstEntity = 32 // bits; entities beyond the last share one
)

func (ix *Index) kindOf(e *verbs.Entity) uint64 {
	n, ok := ix.entities[e]
	if !ok {
		n = len(ix.entities)
		ix.entities[e] = n
	}
	return entityKind(n)
}

// freeText reports that an argument accepts any text, so every sentence has a value for it.
func freeText(p *verbs.Param) bool {
	return p.Type.Name == verbs.StringType && p.Type.Pattern == nil
}

func entityKind(n int) uint64 { return 1 << min(63, firstEntity+n) }

// template adds a phrase, and returns the words by which it is compared.
func (ix *Index) template(verb int, v *verbs.Verb, text string, l values.Language) (plain []string) {
	t := template{verb: int32(verb), text: text}
	for rest := text; rest != ""; {
		before, after, open := strings.Cut(rest, "{")
		for _, w := range split(before) {
			plain = append(plain, root(l, w))
			if len(t.words) < maxTemplate {
				t.words = append(t.words, token{stem: stemIn(l, w)})
			}
		}
		if !open {
			break
		}
		name, after, _ := strings.Cut(after, "}")
		for i := range v.Params {
			if p := &v.Params[i]; p.Name == name && len(t.words) < maxTemplate {
				t.words = append(t.words, token{param: p})
				t.colon = freeText(p) && strings.HasSuffix(strings.TrimSpace(before), ":")
				if s := placeOf(p); s != "" {
					plain = append(plain, s)
				}
			}
		}
		rest = after
	}
	t.named = text == nameOf(v)
	ix.templates = append(ix.templates, t)
	return plain
}

// placeOf stands for an argument's value in compared texts; "" if its own words are compared.
func placeOf(p *verbs.Param) string {
	switch p.Type.Name {
	case verbs.RefType:
		return "{row}"
	case verbs.DateType, verbs.DateTimeType:
		return "{date}"
	case verbs.MoneyType, verbs.IntegerType, verbs.DecimalType:
		return "{number}"
	case verbs.EmailType, verbs.PhoneType, verbs.IBANType, verbs.BICType, verbs.LEIType, verbs.NationalIDType:
		return "{address}"
	case verbs.CodeType:
		return "{code}"
	}
	return ""
}

// split divides one of our own texts into words.
func split(text string) []string {
	all, _ := values.Split(text, 64)
	plain := make([]string, len(all))
	for i := range all {
		plain[i] = all[i].Plain
	}
	return plain
}

// codeWords returns the words of a list's codes: TAX_RETURN is "tax return".
func (ix *Index) codeWords(l *verbs.CodeList) []codeWords {
	if all, ok := ix.codes[l]; ok {
		return all
	}
	var all []codeWords
	for _, c := range l.Codes {
		cw := codeWords{code: c.Name}
		for _, w := range split(strings.ReplaceAll(c.Name, "_", " ")) {
			if !small()[w] {
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

// An alias is the name of a code in another language. It also matches names of rows that contain
// the code.
type alias struct {
	slug  string   // the code, as a name has it
	first string   // the first stem of it
	stems []string // in the other language
}

// sayings returns the stems of a code's names in languages other than English, without articles.
func (ix *Index) sayings(code string) (all [][]string) {
	for _, l := range values.Languages() {
		said, ok := ix.reg.Says(l.String(), code)
		if !ok || l == values.English {
			continue
		}
		var stems []string
		for _, w := range split(said) {
			if len(w) > 3 && !small()[w] {
				stems = append(stems, stem(w))
			}
		}
		if len(stems) > 0 {
			all = append(all, stems)
		}
	}
	return all
}
