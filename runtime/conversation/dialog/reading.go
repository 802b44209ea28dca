package dialog

import (
	"slices"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/stores"
)

// readWords finds exact values in a text: dates, amounts, numbers and accounts, in all languages.
// An ambiguous one has no value.
func readWords(text string, now time.Time) []reading {
	found, _ := values.Find(text, values.In{Now: now})
	all := make([]reading, 0, len(found))
	for i := range found {
		f := &found[i]
		r := reading{start: f.Range.Start, end: f.Range.End}
		switch f.What {
		case values.Date:
			r.date = true
		case values.Money, values.Integer, values.Decimal, values.Percent:
		case values.Country:
			continue // a name is looked for as one
		default:
			if f.Known() {
				r.text = f.Value.Text()
			}
			all = append(all, r)
			continue
		}
		if f.Known() {
			r.value, r.currency = f.Value, f.Currency
		}
		for _, o := range f.Others {
			r.others = append(r.others, o.Value)
			r.currencies = append(r.currencies, o.Currency)
		}
		if r.value.IsNull() && len(r.others) == 0 {
			r.others = []stores.Value{} // something was said, and nothing is known of it
		}
		all = append(all, r)
	}
	return append(all, moments(text, now, all)...)
}

// moments are the moments that a text says: as programs write them, or as its only day and its only
// time of day.
func moments(text string, now time.Time, days []reading) (all []reading) {
	for _, i := range values.Instants(text, values.In{Now: now}) {
		all = append(all, reading{start: i.Range.Start, end: i.Range.End, value: stores.NewTime(i.Time)})
	}
	days = slices.DeleteFunc(slices.Clone(days), func(r reading) bool { return !r.date || r.value.IsNull() })
	if clocks := values.Clocks(text, false); len(days) == 1 && len(clocks) == 1 {
		for _, m := range clocks[0].Minutes {
			on := days[0].value.Time()
			at := time.Date(on.Year(), on.Month(), on.Day(), m/60, m%60, 0, 0, now.Location())
			all = append(all, reading{start: days[0].start, end: days[0].end, value: stores.NewTime(at)})
		}
	}
	return all
}
