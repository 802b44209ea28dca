package intake

import "verbatim/verbs"

func tooLarge(most int64) *Refusal {
	return &Refusal{CodeTooLarge, "the file is larger than any verb that you may use takes: " + verbs.SizeText(most),
		"send a smaller one: fewer pages, or a picture of less detail"}
}
