package llm

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A numbering replaces random values by numbers, in their order of appearance, so that two
// conversations that differ in nothing else are the same text. The number replaces the first
// group of the match.
type numbering struct {
	what  *regexp.Regexp
	known []string
}

const numbered = "reference-%d"

// hide replaces random values by numbers, in text that is JSON: random values must consist of
// letters, digits and signs that JSON does not escape.
func (n *numbering) hide(text []byte) []byte {
	if n.what == nil {
		return text
	}
	var out []byte
	end := 0
	for _, at := range n.what.FindAllSubmatchIndex(text, -1) {
		is := string(text[at[2]:at[3]])
		i := slices.Index(n.known, is)
		if i < 0 {
			i, n.known = len(n.known), append(n.known, is)
		}
		out = append(out, text[end:at[2]]...)
		out = fmt.Appendf(out, numbered, i+1)
		end = at[3]
	}
	return append(out, text[end:]...)
}

// show replaces the numbers by the random values, as far as they are known.
func (n *numbering) show(line recorded) (*recorded, error) {
	if n.what == nil || len(n.known) == 0 {
		return &line, nil
	}
	text, err := json.Marshal(line)
	if err != nil {
		return nil, err
	}
	var pairs []string
	for i, is := range slices.Backward(n.known) { // the longer number first: 10 begins as 1 does
		pairs = append(pairs, fmt.Sprintf(numbered, i+1), is)
	}
	var shown recorded
	err = json.Unmarshal([]byte(strings.NewReplacer(pairs...).Replace(string(text))), &shown)
	return &shown, err
}
