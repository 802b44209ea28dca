package dsl

import (
	"fmt"
	"time"
)

func number2(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

// DateFault says why a date is not in the calendar: "months run from 01 to 12". It returns "" for
// a day that exists and for a text that is not written like a date.
func DateFault(s string) string {
	if !isDateShape(s) {
		return ""
	}
	year := number2(s)*100 + number2(s[2:])
	month, day := number2(s[5:]), number2(s[8:])
	switch {
	case year == 0:
		return "years run from 0001 to 9999"
	case month < 1 || month > 12:
		return "months run from 01 to 12"
	case day < 1:
		return "days begin at 01"
	}
	last := time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC)
	switch {
	case day <= last.Day():
		return ""
	case month == 2:
		return fmt.Sprintf("February %d has %d days", year, last.Day())
	}
	return fmt.Sprintf("%s has %d days", last.Month(), last.Day())
}

// dateTimeProblem is DateFault for a text that is written like a date-time.
func dateTimeProblem(s string) string {
	if why := DateFault(s[:10]); why != "" {
		return why
	}
	switch {
	case number2(s[11:]) > 23:
		return "hours run from 00 to 23"
	case number2(s[14:]) > 59:
		return "minutes run from 00 to 59"
	case number2(s[17:]) > 59:
		return "seconds run from 00 to 59"
	}
	if zone := s[len(s)-6:]; zone[0] == '+' || zone[0] == '-' {
		if number2(zone[1:]) > 23 || number2(zone[4:]) > 59 {
			return "offsets run from -23:59 to +23:59"
		}
	}
	return ""
}
