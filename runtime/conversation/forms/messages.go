package collect

import (
	"strings"

	"verbatim/runtime/conversation/values"
)

// Sentences for the person who answers, in each language, to be read aloud together. They have no
// code, and each describes a valid answer. None quotes the input. {} stands for the arguments, in
// order.

// masked replaces an answer that is not shown again.
const masked = "••••••"

const (
	sayNothing      words.Key = "collect/nothing"
	sayOneAnswer    words.Key = "collect/one-answer"
	sayTooLong      words.Key = "collect/too-long"
	sayUnreadable   words.Key = "collect/unreadable"
	sayUnusable     words.Key = "collect/unusable"
	sayUnlikeThis   words.Key = "collect/unlike-this"
	sayLikeThis     words.Key = "collect/like-this"
	sayYesOrNo      words.Key = "collect/yes-or-no"
	sayOnly         words.Key = "collect/only"
	sayOneOf        words.Key = "collect/one-of"
	sayNotAsked     words.Key = "collect/not-asked"
	sayNearQuestion words.Key = "collect/near-question"
	sayNoQuestion   words.Key = "collect/no-question"
	sayYes          words.Key = "collect/yes"
	sayNo           words.Key = "collect/no"
)

func notUnderstood(label, example string, l words.Language) string {
	if example == "" {
		return sayUnlikeThis.In(l, label)
	}
	return sayLikeThis.In(l, label, example)
}

func oneOf(label string, choices []Option, l words.Language) string {
	names := make([]string, len(choices))
	for i, o := range choices {
		names[i] = o.Label
	}
	last := len(names) - 1
	if last == 0 {
		return sayOnly.In(l, label, names[0])
	}
	return sayOneOf.In(l, label, strings.Join(names[:last], ", "), names[last])
}
