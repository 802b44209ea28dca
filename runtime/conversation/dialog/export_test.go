package dialog

import (
	"fmt"
	"strings"

	"verbatim/runtime/conversation/values"
)

// Answered reads what somebody says to a question: "yes", "no", "against" or
// "other", and which of several questions is meant.
func Answered(text string) (string, int) {
	a := hear(text, false, "").reply
	switch a.Answer {
	case values.Agree:
		return "yes", a.Which
	case values.Decline:
		return "no", a.Which
	case values.Change:
		return "against", 0
	}
	return "other", a.Which
}

// Moves is the table of them, as the package's documentation has it.
func Moves() string {
	var b strings.Builder
	list := func(all []State) string {
		if all == nil {
			return "any"
		}
		text := make([]string, len(all))
		for i, s := range all {
			text[i] = string(s)
		}
		return strings.Join(text, ", ")
	}
	for _, m := range moves {
		fmt.Fprintf(&b, "%-10s  from %-18s  to %s\n", m.taken, list(m.from), list(m.to))
	}
	return b.String()
}
