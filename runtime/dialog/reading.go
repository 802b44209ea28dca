package dialog

import (
	"time"

	"verbatim/runtime/words"
	"verbatim/stores"
)

// readWords finds exact values in a text: dates, amounts, numbers and accounts, in all languages.
// An ambiguous one has no value.
func readWords(text string, now time.Time) []reading {
	found, _ := words.Find(text, words.In{Now: now})
	all := make([]reading, 0, len(found))
	for i := range found {
		f := &found[i]
		r := reading{start: f.Range.Start, end: f.Range.End}
		switch f.What {
		case words.Date:
			r.date = true
		case words.Money, words.Integer, words.Decimal, words.Percent:
		case words.Country:
			continue // a name is looked for as one
		default:
			if f.Known() {
				r.text = f.Value.Text()
			}
			all = append(all, r)
			continue
		}
		if f.Known() {
			r.value = f.Value
		}
		for _, o := range f.Others {
			r.others = append(r.others, o.Value)
		}
		if r.value.IsNull() && len(r.others) == 0 {
			r.others = []stores.Value{} // something was said, and nothing is known of it
		}
		all = append(all, r)
	}
	return all
}
