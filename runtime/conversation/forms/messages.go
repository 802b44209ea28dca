package forms

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
	sayNothing      values.Key = "collect/nothing"
	sayOneAnswer    values.Key = "collect/one-answer"
	sayTooLong      values.Key = "collect/too-long"
	sayUnreadable   values.Key = "collect/unreadable"
	sayUnusable     values.Key = "collect/unusable"
	sayUnlikeThis   values.Key = "collect/unlike-this"
	sayLikeThis     values.Key = "collect/like-this"
	sayYesOrNo      values.Key = "collect/yes-or-no"
	sayOnly         values.Key = "collect/only"
	sayOneOf        values.Key = "collect/one-of"
	sayNotAsked     values.Key = "collect/not-asked"
	sayNearQuestion values.Key = "collect/near-question"
	sayNoQuestion   values.Key = "collect/no-question"
	sayYes          values.Key = "collect/yes"
	sayNo           values.Key = "collect/no"
)

func notUnderstood(label, example string, l values.Language) string {
	if example == "" {
		return sayUnlikeThis.In(l, label)
	}
	return sayLikeThis.In(l, label, example)
}

func oneOf(label string, choices []Option, l values.Language) string {
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
