package values

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// phrases returns the plain phrases of a list by their first word, the longest first. The list is
// read at its first use, so that a program without conversations does not wait for it.
type phrases func() map[string][][]string

func phrasesOf(key string) phrases {
	return phrasesIn(func() []string { return ours().phrases(key) })
}

func phrasesIn(list func() []string) phrases {
	return sync.OnceValue(func() map[string][][]string {
		l := map[string][][]string{}
		for _, p := range list() {
			words := strings.Fields(Plain(p))
			l[words[0]] = append(l[words[0]], words)
		}
		for first := range l {
			slices.SortFunc(l[first], func(a, b []string) int { return len(b) - len(a) })
		}
		return l
	})
}

// placesOf returns words with the places that they mean: "which 2: two, second".
func placesOf(key string) func() map[string]int {
	return sync.OnceValue(func() map[string]int {
		all := map[string]int{}
		for _, n := range []int{-1, 1, 2, 3, 4, 5} {
			for _, w := range ours().phrases(key + " " + strconv.Itoa(n)) {
				all[w] = n
			}
		}
		return all
	})
}

// at returns how many words, from word i on, are one of the phrases.
func (l phrases) at(words []string, i int) int {
	for _, p := range l()[words[i]] {
		if len(p) <= len(words)-i && slices.Equal(p, words[i:i+len(p)]) {
			return len(p)
		}
	}
	return 0
}

// besideRegexp compiles an expression at its first use. In it, {key} matches any expression of the
// languages under a key of their files, \pL one of their letters, and \PL any other character.
func besideRegexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		expression = keyed.ReplaceAllStringFunc(expression, func(key string) string { return ours().either(key[1 : len(key)-1]) })
		return regexp.MustCompile(`(?i)` + strings.NewReplacer(`[^\pL]`, `[^a-zß-ÿœ]`, `\PL`, `[^a-zß-ÿœ]`, `\pL`, `[a-zß-ÿœ]`).Replace(expression))
	})
}

var keyed = regexp.MustCompile(`\{[a-z]{3,}\}`)
