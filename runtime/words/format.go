package words

import (
	"strconv"
	"strings"

	"verbatim/stores"
)

var monthNames = [...]string{
	English: "January February March April May June July August September October November December",
	German:  "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
	French:  "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	Spanish: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
}

var weekdayNames = [...]string{
	English: "Monday Tuesday Wednesday Thursday Friday Saturday Sunday",
	German:  "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag",
	French:  "lundi mardi mercredi jeudi vendredi samedi dimanche",
	Spanish: "lunes martes miércoles jueves viernes sábado domingo",
}

// SayDate says a date in words: "3 April 1972", "3. April 1972". Find reads it
// back.
func SayDate(v stores.Value, l Language) string {
	y, m, d := civil(v.Days())
	name := strings.Fields(monthNames[l])[m-1]
	day, year := strconv.Itoa(d), yearText(y)
	switch l {
	case German:
		return day + ". " + name + " " + year
	case French:
		if d == 1 {
			day = "1er"
		}
		return day + " " + name + " " + year
	case Spanish:
		return day + " de " + name + " de " + year
	}
	return day + " " + name + " " + year
}

// SayDay is SayDate with the day of the week: "Friday 3 January 2025".
func SayDay(v stores.Value, l Language) string {
	name := strings.Fields(weekdayNames[l])[weekdayOf(v.Days())-1]
	switch l {
	case German, Spanish:
		return name + ", " + SayDate(v, l)
	}
	return name + " " + SayDate(v, l)
}

func yearText(y int) string {
	text := strconv.Itoa(y)
	return strings.Repeat("0", max(0, 4-len(text))) + text
}

// Text is the value as Verbatim writes it: 2025-01-03, 12, "DE", or
// {:amount 50000000 :currency EUR}. It is "" where there is none.
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
