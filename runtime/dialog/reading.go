package dialog

import (
	"regexp"
	"strings"
	"time"

	"verbatim/stores"
)

var isoDates = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
var plainNumbers = regexp.MustCompile(`\b\d+(?:\.\d+)?\b`)

// readWords finds exact values in what people say.
func readWords(text string, now time.Time) []reading {
	var all []reading
	for _, at := range isoDates.FindAllStringIndex(text, -1) {
		if v, ok := stores.ParseDate(text[at[0]:at[1]]); ok {
			all = append(all, reading{start: at[0], end: at[1], date: true, value: v})
		}
	}
	for _, at := range plainNumbers.FindAllStringIndex(text, -1) {
		if v, ok := stores.ParseDecimal(strings.TrimSpace(text[at[0]:at[1]])); ok {
			all = append(all, reading{start: at[0], end: at[1], value: v})
		}
	}
	return all
}
