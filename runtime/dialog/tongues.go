package dialog

import (
	"context"
	"regexp"
	"strings"

	"verbatim/runtime/words"
)

// Whoever asks for a language is answered in it. What it is called is no courtesy by
// itself: it may well be the answer to a question of a palette.

// tongueAsked are the courtesies of those who ask for a language: one for each that is
// spoken, and one for all others. What each is called stands in the files of all.
func tongueAsked() (all []courtesy) {
	of := func(called string) []func() *regexp.Regexp {
		return polites(func(l words.Language) string {
			name := l.Expression("called " + called)
			if name == "" {
				return "\x00" // nobody asks for it in this one
			}
			return strings.ReplaceAll(l.Expression("speak"), "{}", "("+name+")")
		})
	}
	for _, l := range words.Languages() {
		all = append(all, courtesy{of(l.String()), func(_ *turn, _ context.Context, w wording) (string, error) {
			return w.in(l.String()).say(sayInTongue), nil
		}})
	}
	var names []string
	for _, l := range words.Languages() {
		names = append(names, l.Phrases("name")...)
	}
	return append(all, courtesy{of("other"), func(_ *turn, _ context.Context, w wording) (string, error) {
		return w.say(sayTongues, strings.Join(names, ", ")), nil
	}})
}
