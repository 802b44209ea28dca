package values

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"verbatim/stores"
)

// SayDate says a date in words: "3 April 1972", "3. April 1972". Find reads it
// back.
func SayDate(v stores.Value, l Language) string { return ours().tongues[l].sayDate(v) }

func (t *tongue) sayDate(v stores.Value) string {
	y, m, d := civil(v.Days())
	day := strconv.Itoa(d)
	if d == 1 {
		day = cmp.Or(t.first, day)
	}
	return strings.NewReplacer("{d}", day, "{month}", t.months[m-1], "{y}", yearText(y)).Replace(t.date)
}

// SayDay is SayDate with the day of the week: "Friday 3 January 2025".
func SayDay(v stores.Value, l Language) string {
	t := ours().tongues[l]
	return strings.NewReplacer("{weekday}", t.weekdays[weekdayOf(v.Days())-1], "{date}", t.sayDate(v)).Replace(t.day)
}

func yearText(y int) string {
	text := strconv.Itoa(y)
	return strings.Repeat("0", max(0, 4-len(text))) + text
}

// Text returns the value in Verbatim: 2025-01-03, 12, "DE", or {:amount 50000000 :currency EUR}. It
// returns "" if there is no value.
func (c Choice) Text() string {
	switch {
	case c.Value.IsNull():
		return ""
	case c.Currency != "":
		return "{:amount " + c.Value.Text() + " :currency " + c.Currency + "}"
	case c.Value.Kind() == stores.String:
		return string(stores.AppendJSONString(nil, c.Value.Text()))
	}
	return c.Value.Text()
}

// Say says the value to a person.
func (c Choice) Say(l Language) string {
	switch {
	case c.Value.IsNull():
		return ""
	case c.Value.Kind() == stores.Date:
		return SayDate(c.Value, l)
	case c.Currency != "":
		return c.Currency + " " + c.Value.Text()
	}
	return c.Value.Text()
}

// SayTime words a time of day in the reader's zone. It names UTC, which is also the zone of a reader
// whose own is not known: nobody is to take such a time for a local one.
func SayTime(t time.Time, zone *time.Location) string {
	if t = t.In(zone); t.Location() == time.UTC {
		return t.Format("15:04 MST")
	}
	return t.Format("15:04")
}
