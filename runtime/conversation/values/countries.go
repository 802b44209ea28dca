package values

import (
	_ "embed"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"verbatim/stores"
)

// countryNames has a line for each country of ISO 3166: its codes of two and of three letters, and
// its names in English, German, French and Spanish as in the Unicode Common Locale Data Repository.
// Other names in use follow a +; one that belongs to two countries is a choice. A further language
// names countries in its file: "country DE: Germanio".
//
//go:embed countries.txt
var countryNames string

type countryList struct {
	names map[string][]string // codes by plain name
	first map[string]int      // words of the longest name that begins with a word
	codes map[string]string   // of two and three letters
	says  map[string][]string // what a code stands for, in English, German, French and Spanish
}

var countries = sync.OnceValue(func() *countryList {
	l := &countryList{names: map[string][]string{}, first: map[string]int{}, codes: map[string]string{}, says: map[string][]string{}}
	add := func(code, name string) {
		n := Plain(strings.ReplaceAll(name, "&", "and"))
		for _, c := range l.names[n] {
			if c == code {
				return
			}
		}
		l.names[n] = append(l.names[n], code)
		first, _, _ := strings.Cut(n, " ")
		l.first[first] = max(l.first[first], 1+strings.Count(n, " "))
	}
	for line := range strings.Lines(countryNames) {
		parts := strings.Split(strings.TrimSpace(line), "|")
		code, besides := strings.CutPrefix(parts[0], "+")
		if !besides {
			l.codes[code], l.codes[parts[1]], l.says[code] = code, code, parts[2:]
			parts = parts[1:]
		}
		for _, name := range parts[1:] {
			add(code, name)
		}
	}
	for _, t := range ours().tongues {
		for key, names := range t.said {
			if code, ok := strings.CutPrefix(key, "country "); ok {
				for _, name := range names {
					add(code, name)
				}
			}
		}
	}
	return l
})

// country reads a country's name, which has a capital, or its code of three
// letters. Two letters are too much like words to be read in a sentence.
func (s *scan) country(i int) (Reading, int) {
	x := &s.lexemes[i]
	t := &s.tokens[x.first]
	if t.kind != wordToken {
		return Reading{}, i
	}
	if r, _ := utf8.DecodeRuneInString(s.text[t.start:]); !unicode.IsUpper(r) {
		return Reading{}, i
	}
	l := countries()
	s.key = append(s.key[:0], s.plain[t.from:t.to]...)
	most := l.first[string(s.key)]
	last, codes := int(x.first), l.names[string(s.key)]
	if most > 0 && len(codes) > 0 && t.end-t.start == 2 && s.text[t.start:t.end] != strings.ToUpper(s.text[t.start:t.end]) {
		codes = nil // "Us"
	}
	for n, j := 1, last+1; n < most && j < len(s.tokens); n++ {
		for j < len(s.tokens) && s.tokens[j].kind == markToken && strings.ContainsRune("-'’.&–", s.tokens[j].mark) {
			if s.tokens[j].mark == '&' {
				s.key = append(s.key, " and"...)
				n++
			}
			j++
		}
		if j >= len(s.tokens) || s.tokens[j].kind != wordToken || s.tokens[j].space == newLine {
			break
		}
		s.key = append(append(s.key, ' '), s.plain[s.tokens[j].from:s.tokens[j].to]...)
		if all := l.names[string(s.key)]; all != nil {
			codes, last = all, j
		}
		j++
	}
	if codes == nil {
		raw := s.text[t.start:t.end]
		if len(raw) != 3 || raw != strings.ToUpper(raw) || l.codes[raw] == "" {
			return Reading{}, i
		}
		codes = []string{l.codes[raw]}
	}
	r := Reading{What: Country}
	var choices []Choice
	for _, c := range codes {
		choices = append(choices, Choice{Value: stores.NewString(c)})
	}
	r.offer(choices)
	end := i
	for end < len(s.lexemes) && int(s.lexemes[end].first) <= last {
		end++
	}
	if int(s.lexemes[end-1].last) > last {
		return Reading{}, i
	}
	return r, end
}

// CountryNamed returns the code of the country with a name in one of our languages, in capitals or
// not. It returns "" for none and for several.
func CountryNamed(name string) string {
	if codes := countries().names[Plain(name)]; len(codes) == 1 {
		return codes[0]
	}
	return ""
}

// CountryOf returns the name of the country of a code, in one of our languages; English in others, and the
// code itself if it is none.
func CountryOf(code string, l Language) string {
	names := countries().says[code]
	switch {
	case len(names) == 0:
		return code
	case int(l) < len(names):
		return names[l]
	}
	return names[English]
}

// wholeCode reads a text that is nothing but a code of a country.
func wholeCode(text string, what What) (Reading, bool) {
	trimmed := strings.TrimSpace(text)
	if what != Country || len(trimmed) > 3 {
		return Reading{}, false
	}
	code, ok := countries().codes[strings.ToUpper(trimmed)]
	at := strings.Index(text, trimmed)
	return Reading{What: Country, Range: Range{at, at + len(trimmed)}, Choice: Choice{Value: stores.NewString(code)}}, ok
}
