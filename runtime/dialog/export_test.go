package dialog

// Answered reads what somebody says to a question: "yes", "no", "against" or
// "other", and which of several questions is meant.
func Answered(text string) (string, int) {
	h := hear(text, false)
	a := answer(h.own)
	switch {
	case h.bad != "" || h.auto || h.own == "":
		return "other", 0
	case a.verdict == yes && !h.hidden:
		return "yes", a.which
	case a.verdict == no:
		return "no", a.which
	case a.against:
		return "against", 0
	}
	return "other", a.which
}
