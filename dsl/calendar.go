package dsl

import "fmt"

var months = [...]string{"", "January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"}

func number2(s string) int { return int(s[0]-'0')*10 + int(s[1]-'0') }

func daysIn(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// dateProblem says why the calendar has no such day; "" when it has. s has the
// shape of a date.
func dateProblem(s string) string {
	year := number2(s)*100 + number2(s[2:])
	month, day := number2(s[5:]), number2(s[8:])
	switch {
	case year == 0:
		return "years run from 0001 to 9999"
	case month < 1 || month > 12:
		return "months run from 01 to 12"
	case day < 1:
		return "days begin at 01"
	case day > daysIn(year, month):
		if month == 2 {
			return fmt.Sprintf("February %d has %d days", year, daysIn(year, month))
		}
		return fmt.Sprintf("%s has %d days", months[month], daysIn(year, month))
	}
	return ""
}

// dateTimeProblem is dateProblem for something of the shape of a date-time.
func dateTimeProblem(s string) string {
	if why := dateProblem(s[:10]); why != "" {
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
