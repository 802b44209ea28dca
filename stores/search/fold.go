package search

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mozillazg/go-unidecode"
	"golang.org/x/text/unicode/norm"
)

// lettersText says how letters of names are spelled in the Latin alphabet, with its sources.
//
//go:embed letters.txt
var lettersText string

// Folding changes when Name folds names in another way, so that indexes are made anew.
const Folding = "letters of 2026-11, third"

// letters are the spellings of letters, and of two letters that are spelled together. Letters of the 26
// have their language before them: they are spelled otherwise in names of that language only.
var letters = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(lettersText) {
		f := strings.Fields(line)
		if len(f) < 4 || f[0] == "#" {
			continue
		}
		letter := f[0]
		if letter[len(letter)-1] < unicode.MaxASCII {
			letter = f[1] + letter
		}
		for _, spelling := range f[3:] {
			if spelling = strings.TrimPrefix(spelling, "-"); !slices.Contains(all[letter], spelling) {
				all[letter] = append(all[letter], spelling)
			}
		}
	}
	return all
})

// languageOf returns the language of a name in small letters, as far as it shows in letters or words that
// only this language has, or in how family names end: some of the 26 letters are spelled otherwise in it.
func languageOf(name string) string {
	for _, sign := range [...]string{"ə", " oğlu", " qızı"} {
		if strings.Contains(name, sign) {
			return "az"
		}
	}
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r < 'a' || r > 'z' }) {
		for _, end := range [...]string{"ov", "ova", "ev", "eva", "kin", "kina", "sky", "skiy", "skii", "skaya", "skaia", "enko", "chuk", "yuk", "iuk"} {
			if len(word) > len(end)+1 && strings.HasSuffix(word, end) {
				return "ru" // or another one that is written in Cyrillic
			}
		}
	}
	return ""
}

// A NameWord is a word of a name, as it may be spelled in the 26 Latin letters.
type NameWord struct {
	Plain string     // the spelling that an index keeps
	units [][]string // how each of its letters is spelled
	latin bool       // it is written in Latin letters
}

// A node is a place in the spellings of a word, and how one comes to it.
type node []edge

type edge struct {
	from   int
	letter byte // 0 is no letter
}

// NameWords returns the words of a name, folded: small letters without marks, other alphabets in Latin
// letters, no punctuation. "Müller-Łukasz, J." is "muller" (or "mueller"), "lukasz" and "j".
func NameWords(text string) []NameWord {
	var all []NameWord
	var units [][]string
	latin := true
	end := func() {
		if w := newWord(units, latin); w.Plain != "" {
			all = append(all, w)
		}
		units, latin = nil, true
	}
	text = norm.NFC.String(strings.ToLower(norm.NFKC.String(text)))
	runes, language := []rune(text), languageOf(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		spelled, read := spellings(runes[i:])
		if language != "" && r < unicode.MaxASCII {
			if own := letters()[language+string(runes[i:min(i+2, len(runes))])]; own != nil && i+1 < len(runes) {
				spelled, read = own, 2
			} else if own := letters()[language+string(r)]; own != nil {
				spelled, read = own, 1
			}
		}
		switch {
		case spelled != nil:
			units = append(units, spelled)
			latin = latin && unicode.Is(unicode.Latin, r)
			if i += read - 1; unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hangul, r) && r >= '가' {
				end() // names are written without spaces: each character, or syllable, is a word
			}
		case strings.ContainsRune("'’ʼ‘`´ʹʻ·\u200b\u200c\u200d\u00ad", r) || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r):
			// It stands within a word: O’Brien, Gal·la.
		default:
			end()
		}
	}
	end()
	return all
}

const acute, diaeresis = '\u0301', '\u0308'

// spellings returns how the letters at the beginning are spelled, and how many there are; nil where
// there is none.
func spellings(runes []rune) ([]string, int) {
	if len(runes) > 1 {
		second := runes[1]
		if bare := []rune(norm.NFD.String(string(second))); len(bare) == 2 && bare[1] == acute && unicode.Is(unicode.Greek, bare[0]) {
			second = bare[0] // ού is ου; the accent on the first of two says that they are apart
		} else if len(bare) == 3 && bare[1] == diaeresis { // lǚ is lü
			second = []rune(norm.NFC.String(string(bare[:2])))[0]
		}
		if two := letters()[string([]rune{runes[0], second})]; two != nil {
			return two, 2
		}
	}
	r := runes[0]
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
		return []string{string(r)}, 1
	}
	if r < unicode.MaxASCII {
		return nil, 0
	}
	if one := letters()[string(r)]; one != nil {
		return one, 1
	}
	if !unicode.IsLetter(r) && !unicode.IsNumber(r) {
		return nil, 0
	}
	if bare := []rune(norm.NFD.String(string(r))); len(bare) > 1 && unicode.Is(unicode.Hangul, r) {
		return syllable(bare), 1
	} else if len(bare) > 1 && unicode.Is(unicode.Mn, bare[1]) { // a letter with marks is the letter
		if one, _ := spellings(bare[:1]); one != nil {
			return one[:1], 1
		}
	}
	if r >= 'ⴀ' && r <= 'ⴥ' { // the church's letters of Georgian, which capitals become
		return spellings([]rune{r - 'ⴀ' + 'ა'})
	}
	least := 'a'
	if unicode.IsNumber(r) {
		least = '0'
	}
	plain := strings.Map(func(r rune) rune {
		if r >= least && r <= 'z' && (r >= 'a' || r <= '9') {
			return r
		}
		return -1
	}, strings.ToLower(unidecode.Unidecode(string(r))))
	// A letter that nobody's spelling is known of is some letter, always the same: names of such
	// letters can be told apart and found.
	if plain == "" && unicode.IsLetter(r) {
		plain = string('a' + r%26)
	}
	return []string{plain}, 1
}

// syllable returns how a syllable of Korean is spelled, from its letters.
func syllable(of []rune) []string {
	all := []string{""}
	for _, r := range of {
		var longer []string
		spelled, _ := spellings([]rune{r})
		for _, s := range all {
			for _, t := range spelled {
				longer = append(longer, s+t)
			}
		}
		all = longer
	}
	return all
}

func newWord(units [][]string, latin bool) NameWord {
	return NameWord{Plain: nth(units, 0), units: units, latin: latin}
}

// nth spells each letter in its nth spelling, or its last one.
func nth(units [][]string, n int) string {
	var b strings.Builder
	for _, u := range units {
		b.WriteString(u[min(n, len(u)-1)])
	}
	return b.String()
}

// spelled returns the spellings of a word as nodes; the first spelling alone if only one is asked for.
func (w NameWord) spelled(one bool) []node {
	nodes := make([]node, 1, len(w.Plain)+1)
	for _, u := range w.units {
		begin := len(nodes) - 1
		var ends []edge
		for _, s := range u {
			from := begin
			for i := range max(0, len(s)-1) {
				nodes = append(nodes, node{{from, s[i]}})
				from = len(nodes) - 1
			}
			if s == "" {
				ends = append(ends, edge{from, 0})
			} else {
				ends = append(ends, edge{from, s[len(s)-1]})
			}
			if one {
				break
			}
		}
		nodes = append(nodes, ends)
	}
	return nodes
}

// Edits returns how many letters have to be added, removed, changed or exchanged with their
// neighbour to make one word of the other (Damerau's distance of adjacent transpositions), in the
// spellings for which that is fewest. Words that are both written in one other alphabet are compared
// in one spelling: what differs there is no other spelling.
func (w NameWord) Edits(of NameWord) int {
	if w.Plain == of.Plain {
		return 0
	}
	ends := w.edits(of)
	return ends[len(ends)-1]
}

// Begins reports whether a word begins with another one, in some spelling of each.
func (w NameWord) Begins(with NameWord) bool { return slices.Contains(w.edits(with), 0) }

// edits returns how many letters each beginning of a word is away from the whole of another one. The
// last one is the word itself.
func (w NameWord) edits(of NameWord) []int {
	one := !w.latin && !of.latin
	a, b := w.spelled(one), of.spelled(one)
	d := make([]int, len(a)*len(b))
	at := func(i, j int) *int { return &d[i*len(b)+j] }
	for i := range a {
		for j := range b {
			if i == 0 && j == 0 {
				continue
			}
			least := len(a) + len(b)
			for _, x := range a[i] {
				least = min(least, *at(x.from, j)+cost(x))
			}
			for _, y := range b[j] {
				least = min(least, *at(i, y.from)+cost(y))
			}
			for _, x := range a[i] {
				for _, y := range b[j] {
					if x.letter == 0 || y.letter == 0 {
						continue
					}
					if x.letter == y.letter {
						least = min(least, *at(x.from, y.from))
						continue
					}
					least = min(least, *at(x.from, y.from)+1)
					for _, before := range a[x.from] {
						for _, other := range b[y.from] {
							if before.letter == y.letter && other.letter == x.letter {
								least = min(least, *at(before.from, other.from)+1)
							}
						}
					}
				}
			}
			*at(i, j) = least
		}
	}
	ends := make([]int, len(a))
	for i := range ends {
		ends[i] = *at(i, len(b)-1)
	}
	return ends
}

func cost(e edge) int {
	if e.letter == 0 {
		return 0
	}
	return 1
}

// Join returns two words as one.
func (w NameWord) Join(next NameWord) NameWord {
	return newWord(slices.Concat(w.units, next.units), w.latin && next.latin)
}

// Spelled returns a name with all letters in their first spelling, all in their second, and so on:
// "Müller" is "muller" and "mueller". Each spelling is returned once.
func Spelled(text string) []string {
	words := NameWords(text)
	most := 1
	for _, w := range words {
		for _, u := range w.units {
			most = max(most, len(u))
		}
	}
	var all []string
	for n := range most {
		var name []string
		for _, w := range words {
			name = append(name, nth(w.units, n))
		}
		if s := strings.Join(name, " "); !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// Name folds a name for an index: its words in their first spelling, with one space between them, 64
// letters at most. "О’Брайен" is "obraien".
func Name(text string) string {
	var b strings.Builder
	for i, w := range NameWords(text) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Plain)
	}
	name := b.String()
	return strings.TrimSuffix(name[:min(len(name), mostName)], " ")
}
