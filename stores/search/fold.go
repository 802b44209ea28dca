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
const Folding = "letters of 2026-11, fourth; shorter names"

// letters are the spellings of letters, and of two letters that are spelled together. Letters of the 26,
// and what Serbian adds to those of others, have their language before them: they are spelled so in names
// of that language only.
var letters = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(lettersText) {
		f := strings.Fields(line)
		if len(f) < 4 || f[0] == "#" {
			continue
		}
		letter := f[0]
		if letter[len(letter)-1] < unicode.MaxASCII || f[1] == "sr" && all[letter] != nil {
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
	if strings.ContainsAny(name, "đђћјљњџ") {
		return "sr"
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
	Plain  string // the spelling that an index keeps
	Half   bool   // a hyphen joins it to another word
	units  []unit
	first  string // each of them in its first spelling
	script int    // the alphabet that it is written in: its place among the scripts, from 1; 0 is Latin
}

// A unit is a letter, or two that are spelled together.
type unit struct {
	own      string // the letters
	spelling []string
	umlaut   bool // one of them is ä, ö, ü or ø
}

// scripts are the alphabets whose letters are compared one by one where both words are written in them.
var scripts = [...]*unicode.RangeTable{unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Georgian, unicode.Hangul}

// scriptOf returns the alphabet of a letter; any other one than those is the last.
func scriptOf(r rune) int {
	if r < unicode.MaxASCII || unicode.Is(unicode.Latin, r) {
		return 0
	}
	for i, of := range scripts {
		if unicode.Is(of, r) {
			return i + 1
		}
	}
	return len(scripts) + 1
}

// ownLetters returns letters as their alphabet tells them apart: without accents, by which no two letters
// of it differ, and ё as е, which most write for it. Where letters are no alphabet, it is how they are spelled.
func ownLetters(of []rune, spelled string) string {
	if s := scriptOf(of[0]); s == 0 || s > len(scripts) {
		return spelled
	}
	var b strings.Builder
	for _, r := range of {
		bare := []rune(norm.NFD.String(string(r)))
		switch {
		case r == 'ё', len(bare) > 1 && unicode.Is(unicode.Mn, bare[1]) && letters()[string(r)] == nil:
			r = bare[0]
		case r == 'ς':
			r = 'σ'
		case len(bare) > 1 && unicode.Is(unicode.Hangul, r):
			b.WriteString(string(bare[:len(bare)-1]))
			r = bare[len(bare)-1]
		}
		b.WriteRune(r)
	}
	return b.String()
}

// A node is a place in the spellings of a word, and how one comes to it.
type node []edge

type edge struct {
	from   int
	letter rune // 0 is no letter
}

// NameWords returns the words of a name, folded: small letters without marks, other alphabets in Latin
// letters, no punctuation. "Müller-Łukasz, J." is "muller" (or "mueller"), "lukasz" and "j".
func NameWords(text string) []NameWord {
	var all []NameWord
	var units []unit
	script, half := 0, false
	end := func() {
		if w := newWord(units, script); w.Plain != "" {
			w.Half = half
			all = append(all, w)
			half = false
		}
		units, script = nil, 0
	}
	text = strings.ReplaceAll(text, "´", "'") // a space and a mark by NFKC
	text = norm.NFC.String(strings.ToLower(norm.NFKC.String(text)))
	runes, language := []rune(text), languageOf(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		if strings.ContainsRune("'’‘‛`′·\u200b\u200c\u200d\u00ad", r) || r >= 'ʹ' && r <= 'ˏ' || r == 'ˮ' || unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Cf, r) {
			continue // it stands within a word: O’Brien, Gal·la, Oʻrinboyev
		}
		spelled, read := spellings(runes[i:])
		if language != "" {
			if own := letters()[language+string(runes[i:min(i+2, len(runes))])]; own != nil && i+1 < len(runes) {
				spelled, read = own, 2
			} else if own := letters()[language+string(r)]; own != nil && r < unicode.MaxASCII {
				spelled, read = own, 1
			} else if own != nil {
				spelled = slices.Concat(spelled, own)
			}
		}
		switch {
		case spelled != nil:
			units = append(units, unit{ownLetters(runes[i:i+read], spelled[0]), spelled, strings.ContainsAny(string(runes[i:i+read]), "äöüø")})
			script = max(script, scriptOf(r))
			if i += read - 1; unicode.Is(unicode.Han, r) || unicode.Is(unicode.Hangul, r) && r >= '가' {
				end() // names are written without spaces: each character, or syllable, is a word
			}
		default:
			if end(); unicode.Is(unicode.Pd, r) && len(all) > 0 {
				all[len(all)-1].Half, half = true, true
			}
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

func newWord(units []unit, script int) NameWord {
	plain := nth(units, 0)
	return NameWord{Plain: plain, units: units, first: plain, script: script}
}

// nth spells each letter in its nth spelling, or its last one.
func nth(units []unit, n int) string {
	var b strings.Builder
	for _, u := range units {
		b.WriteString(u.spelling[min(n, len(u.spelling)-1)])
	}
	return b.String()
}

// spelled returns the spellings of a word as nodes; its own letters alone if they are asked for.
func (w NameWord) spelled(own bool) []node {
	nodes := make([]node, 1, len(w.Plain)+1)
	for _, u := range w.units {
		begin := len(nodes) - 1
		all := u.spelling
		if own {
			all = []string{u.own}
		}
		var ends []edge
		for _, s := range all {
			from, last := begin, rune(0)
			for _, r := range s {
				if last != 0 {
					nodes = append(nodes, node{{from, last}})
					from = len(nodes) - 1
				}
				last = r
			}
			ends = append(ends, edge{from, last})
		}
		nodes = append(nodes, ends)
	}
	return nodes
}

// Edits returns how many letters have to be added, removed, changed or exchanged with their
// neighbour to make one word of the other (Damerau's distance of adjacent transpositions), in the
// spellings for which that is fewest. Words that are both written in one other alphabet are compared
// by its letters: what differs there is no other spelling. Latin letters are compared in all spellings, as
// a name may have been typed without its marks, and a passport has none.
func (w NameWord) Edits(of NameWord) int {
	if w.first == of.first && (w.script != of.script || w.script == 0) {
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
	own := w.script == of.script && w.script > 0
	a, b := w.spelled(own), of.spelled(own)
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
	return newWord(slices.Concat(w.units, next.units), max(w.script, next.script))
}

// Umlauts returns words whose ä, ö, ü and ø are all spelled with an e behind, or all without: whoever writes
// one name writes them in one way. It reports whether there is any.
func Umlauts(words []NameWord, e bool) (of []NameWord, some bool) {
	of = slices.Clone(words)
	for i, w := range of {
		of[i].units = slices.Clone(w.units)
		for j, u := range of[i].units {
			if u.umlaut {
				of[i].units[j].spelling = slices.DeleteFunc(slices.Clone(u.spelling), func(s string) bool { return strings.HasSuffix(s, "e") != e })
				some = true
			}
		}
		of[i].first = nth(of[i].units, 0)
	}
	return of, some
}

// Spelled returns a name with all letters in their first spelling, all in their second, and so on:
// "Müller" is "muller" and "mueller". Each spelling is returned once.
func Spelled(text string) []string {
	words := NameWords(text)
	most := 1
	for _, w := range words {
		for _, u := range w.units {
			most = max(most, len(u.spelling))
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

// Zone returns the name in the machine-readable zone of a passport or another document, and how many of
// its last words may be no more than the beginning of one: any, if it was cut to the 39, 31 or 30 characters
// that are there for it (ICAO Doc 9303, parts 4 to 6). Where fillers were turned to spaces, two of them
// perhaps to one, capitals of 37 to 39 characters are what a passport has cut; shorter ones are too many
// people's whole names. Any other text is a name already.
func Zone(text string) (name string, cut int) {
	name = strings.TrimSpace(text)
	if !strings.Contains(name, "<") {
		if len(name) >= 37 && len(name) <= 39 && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == "" {
			cut = 1
		}
		return text, cut
	}
	if len(name) == 44 || len(name) == 36 { // the line begins with the kind of document and the state
		name = name[5:]
	}
	if (len(name) == 39 || len(name) == 31 || len(name) == 30) && !strings.HasSuffix(name, "<") {
		cut = len(name)
	}
	return name, cut
}

// Servants writes Arabic names of a servant of God as one word, and the article as "al": Abd el-Karim,
// Abdul Karim and Abdelkarim are Abdalkarim.
func Servants(all []NameWord) (words []NameWord) {
	article := func(w string) bool { return w == "al" || w == "el" || w == "ul" }
	one := func(w string) NameWord { return NameWords(w)[0] }
	for i := 0; i < len(all); i++ {
		w := all[i]
		name, of := strings.CutPrefix(w.Plain, "abd")
		switch {
		case of && name == "" && i+2 < len(all) && article(all[i+1].Plain):
			w, i = one("abdal").Join(all[i+2]), i+2
		case of && article(name) && i+1 < len(all):
			w, i = one("abdal").Join(all[i+1]), i+1
		case of && len(name) > 3 && article(name[:2]):
			w = one("abdal" + name[2:])
		case article(w.Plain):
			w = one("al")
		}
		words = append(words, w)
	}
	return words
}

// Levenshtein returns how many edits make one of another: each adds, removes or changes one.
func Levenshtein[T comparable](a, b []T) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		last := row[0]
		row[0] = i + 1
		for j := range b {
			d := last
			if a[i] != b[j] {
				d = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// AnyOrder folds a name without the order of its words.
func AnyOrder(name string) string {
	words := strings.Fields(Name(name))
	slices.Sort(words)
	return strings.Join(words, " ")
}

// ShorterNames returns under what else a folded name of three words or more is found, since people leave
// out what stands in the middle or behind: a patronymic, a second family name, a legal form.
func ShorterNames(name string) []string {
	first, rest, _ := strings.Cut(name, " ")
	middle := strings.LastIndexByte(rest, ' ')
	if middle < 0 {
		return nil
	}
	return []string{first + rest[middle:], first + " " + rest[:middle]}
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
