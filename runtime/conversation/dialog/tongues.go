package dialog

import (
	"context"
	"regexp"
	"strings"

	"verbatim/runtime/conversation/values"
)

// Requests for another language. The bare name of a language is no request: it may be the answer to
// a palette's question.

// tongueAsked returns the courtesies that ask for a language: one for each that the engine has, and
// one for all others. Each language file lists the names of all languages.
func tongueAsked() (all []courtesy) {
	of := func(called string) []func() *regexp.Regexp {
		return polites(func(l values.Language) string {
			name := l.Expression("called " + called)
			if name == "" {
				return "\x00" // nobody asks for it in this one
			}
			return strings.ReplaceAll(l.Expression("speak"), "{}", "("+name+")")
		})
	}
	for _, l := range values.Languages() {
		all = append(all, courtesy{of(l.String()), func(_ *turn, _ context.Context, w wording) (string, error) {
			return w.in(l.String()).say(sayInTongue), nil
		}})
	}
	var names []string
	for _, l := range values.Languages() {
		names = append(names, l.Phrases("name")...)
	}
	return append(all, courtesy{of("other"), func(_ *turn, _ context.Context, w wording) (string, error) {
		return w.say(sayTongues, strings.Join(names, ", ")), nil
	}})
}
