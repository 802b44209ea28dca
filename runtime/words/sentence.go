package words

import (
	"bufio"
	"embed"
	"io/fs"
	"strconv"
	"strings"
	"sync"
)

// catalogues hold what the program says to people, a file for each language: see the
// head of en.txt. golang.org/x/text/message would add plurals and number formats; no
// sentence here needs either, since one and several are two sentences.
//
//go:embed catalogue
var catalogues embed.FS

// A Key names a sentence of the catalogue: "collect/one-answer".
type Key string

// In says the sentence in a language, with what belongs to it in the place of each {};
// where that language has no such sentence, all of it is said in English.
func (k Key) In(l Language, of ...string) string { return fill(k.Text(l), of) }

// Text is the sentence as the catalogue has it, with {} where something belongs to it.
func (k Key) Text(l Language) string {
	if text := sentences()[l][k]; text != "" {
		return text
	}
	return sentences()[English][k]
}

var sentences = sync.OnceValue(func() (all [len(Languages)]map[Key]string) {
	for _, l := range Languages {
		all[l] = readCatalogue(catalogues, l)
	}
	return all
})

// readCatalogue reads the file of a language. What is wrong in it is found by a test.
func readCatalogue(files fs.FS, l Language) map[Key]string {
	all := map[Key]string{}
	f, err := files.Open("catalogue/" + l.String() + ".txt")
	if err != nil {
		return all
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, text, ok := strings.Cut(lines.Text(), "  ")
		if !ok || key[0] == '#' {
			continue
		}
		if quoted, err := strconv.Unquote(text); err == nil {
			text = quoted
		}
		all[Key(key)] = Typeset(l, text)
	}
	return all
}

// A Sentence is what a person is told or asked, in each language by its number, where
// the catalogue does not have it. {} in it is what belongs to it, in order.
type Sentence [len(languageTags)]string

// In says the sentence in a language; where it is not known in that one, all of it
// is said in English.
func (s Sentence) In(l Language, of ...string) string {
	text := Typeset(l, s[l])
	if text == "" {
		text = s[English]
	}
	return fill(text, of)
}

func fill(text string, of []string) string {
	var b strings.Builder
	for _, v := range of {
		before, after, found := strings.Cut(text, "{}")
		if !found {
			break
		}
		b.WriteString(before + v)
		text = after
	}
	return b.String() + text
}

// Typeset puts the spaces of French as they are printed: before high signs and
// within quotation marks stands one that no line breaks at. Who writes a sentence
// writes plain spaces, which can be seen.
func Typeset(l Language, text string) string {
	if l != French {
		return text
	}
	return frenchSpaces.Replace(text)
}

var frenchSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u202f;", " ?", "\u202f?", " !", "\u202f!", " %", "\u00a0%", "« ", "«\u00a0", " »", "\u00a0»")
