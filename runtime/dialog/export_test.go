package dialog

import "verbatim/runtime/words"

// Answered reads what somebody says to a question: "yes", "no", "against" or
// "other", and which of several questions is meant.
func Answered(text string) (string, int) {
	a := hear(text, false).reply
	switch a.Answer {
	case words.Agree:
		return "yes", a.Which
	case words.Decline:
		return "no", a.Which
	case words.Change:
		return "against", 0
	}
	return "other", a.Which
}
