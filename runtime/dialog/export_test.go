package dialog

import "verbatim/runtime/words"

// Answered reads what somebody says to a question: "yes", "no", "against" or
// "other", and which of several questions is meant.
func Answered(text string) (string, int) {
	h := hear(text, false)
	a := words.ReadAnswer(h.own)
	switch {
	case h.bad != nil || h.auto || h.own == "":
		return "other", 0
	case a.Answer == words.Agree && !h.hidden:
		return "yes", a.Which
	case a.Answer == words.Decline:
		return "no", a.Which
	case a.Answer == words.Change:
		return "against", 0
	}
	return "other", a.Which
}
