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
		return SayMoney(c.Value, c.Currency, l)
	}
	return c.Value.Text()
}

// SayMoney says an amount with the digits that its currency has, and with the decimal sign of the
// language: "120.00 GBP", "120,00 GBP". Find reads it back.
func SayMoney(amount stores.Value, currency string, l Language) string {
	whole, part, _ := strings.Cut(amount.Text(), ".")
	if n := minorDigits(currency); len(part) < n {
		part += strings.Repeat("0", n-len(part))
	}
	if part == "" {
		return whole + " " + currency
	}
	sign := ","
	if ours().tongues[l].traits[commaThousands] {
		sign = "."
	}
	return whole + sign + part + " " + currency
}

// Units of a duration, with the words for one and for several of them.
var durationUnits = [...]struct {
	of        time.Duration
	one, many Key
}{
	{24 * time.Hour, "words/one-day", "words/some-days"},
	{time.Hour, "words/one-hour", "words/some-hours"},
	{time.Minute, "words/one-minute", "words/some-minutes"},
}

// SayDuration says a duration: "1 day 12 hours", "90 seconds" as "1 minute 30 seconds".
func SayDuration(d time.Duration, l Language) string {
	var parts []string
	if d < 0 {
		parts, d = append(parts, "-"), -d
	}
	for _, u := range durationUnits {
		switch n := d / u.of; {
		case n == 1:
			parts = append(parts, u.one.In(l))
		case n > 1:
			parts = append(parts, u.many.In(l, strconv.FormatInt(int64(n), 10)))
		}
		d %= u.of
	}
	if d > 0 || len(parts) == 0 {
		parts = append(parts, Key("words/some-seconds").In(l, strconv.FormatFloat(d.Seconds(), 'f', -1, 64)))
	}
	return strings.Join(parts, " ")
}

// SayTime words a time of day in the reader's zone. It names UTC, which is also the zone of a reader
// whose own is not known: nobody is to take such a time for a local one.
func SayTime(t time.Time, zone *time.Location) string {
	if t = t.In(zone); t.Location() == time.UTC {
		return t.Format("15:04 MST")
	}
	return t.Format("15:04")
}
