package values

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Clock is a time of day in a text.
type Clock struct {
	Range Range
	// Minutes are the times of day that may be meant, in minutes since midnight: both 3:00 and 15:00
	// of "at 3".
	Minutes []int
	Problem Problem // why it has no time of day
}

// SayClock says a time of day: "15:00". Clocks reads it back.
func SayClock(minutes int) string {
	return time.Time{}.Add(time.Duration(minutes) * time.Minute).Format("15:04")
}

var (
	// clocks are a number with what makes it a time of day: "at 10", "10:30", "10 Uhr", "10 h 30", "3 pm".
	clocks = besideRegexp(`(?:({clockat})[ \x{a0}]+)?(\d{1,2})(?:([:.])(\d{2}))?(?:[ \x{a0}\x{202f}]?({clockhour})(?:[ \x{a0}]?(\d{2}))?)?(?:,?[ \x{a0}]?(?:({forenoon})|({afternoon})))?`)
	noons  = besideRegexp(`{noon}`)
	// notClock is what may not stand right behind a time of day, and goesOnClock what makes another of it.
	notClock    = besideRegexp(`^(?:[\pL\d%]|[.,:/-]\d)`)
	goesOnClock = besideRegexp(`^(?:[ \x{a0}]+(?:{upto}|{plusword}|{either})[ \x{a0}]+(?:(?:{clockat})[ \x{a0}]+)?\d|[ \x{a0}]+(?:{clockpart})(?:$|\PL))`)
	// begunClock is what stands before one of several times of day, or makes it another: "half past 8 pm".
	begunClock = besideRegexp(`\d(?:[ \x{a0}]?(?:{clockhour}|{forenoon}|{afternoon}))?[ \x{a0}]+(?:{upto}|{plusword}|{either})[ \x{a0}]+$|(?:^|\PL)(?:{clockhalf})[ \x{a0}]+$`)
)

// Clocks finds the times of day in a text. asked says that one was asked for: then "10" is one.
func Clocks(text string, asked bool) (all []Clock) {
	for _, m := range clocks().FindAllStringSubmatchIndex(text, -1) {
		at := func(group int) string {
			if m[2*group] < 0 {
				return ""
			}
			return text[m[2*group]:m[2*group+1]]
		}
		if at(7) == "am" && (at(5) != "" || at(1) != "" && !slices.Contains(English.Phrases("clockat"), strings.ToLower(at(1)))) {
			m[1], m[14] = m[14]-1, -1 // "um 10 Uhr am Freitag"
		}
		c := Clock{Range: Range{m[0], m[1]}}
		before, behind := neighbours(text, c.Range)
		exact := at(3) == ":" || at(5) != "" || at(7) != "" || at(8) != ""
		switch last, _ := utf8.DecodeLastRuneInString(before); {
		case letterOrDigit(last), strings.ContainsRune(".,:/+-", last), notClock().MatchString(behind):
			continue
		case !exact && !asked && (at(1) == "" || !endsClock(behind)):
			continue
		}
		hour, _ := strconv.Atoi(at(2))
		minute, _ := strconv.Atoi(at(4) + at(6))
		switch half := at(7) != "" || at(8) != ""; {
		case at(4) != "" && at(6) != "", minute > 59, hour > 24 || hour == 24 && minute > 0,
			goesOnClock().MatchString(behind), begunClock().MatchString(before), half && (hour > 12 && at(7) != "" || hour == 0 && at(8) != ""):
			c.Problem = Unread
		case half:
			if hour %= 12; at(8) != "" {
				hour += 12
			}
			c.Minutes = []int{60*hour + minute}
		case 0 < hour && hour < earliest && len(at(2)) == 1:
			c.Minutes = []int{60*hour + minute, 60*(hour+12) + minute}
		default:
			c.Minutes = []int{(60*hour + minute) % (24 * 60)}
		}
		all = append(all, c)
	}
	for _, m := range noons().FindAllStringIndex(text, -1) {
		before, behind := neighbours(text, Range{m[0], m[1]})
		if last, _ := utf8.DecodeLastRuneInString(before); !letterOrDigit(last) && !notClock().MatchString(behind) {
			all = append(all, Clock{Range: Range{m[0], m[1]}, Minutes: []int{12 * 60}})
		}
	}
	return all
}

// earliest is the first hour that is taken as it was said. An earlier one may be in the afternoon.
const earliest = 7

var instants = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:[Zz]|[+-]\d\d:\d\d)?\b`)

// An Instant is a moment as programs write it: 2027-01-03T10:00:00Z.
type Instant struct {
	Range Range
	Time  time.Time
}

// Instants finds such moments in a text. One without an offset is in the time zone of In.Now.
func Instants(text string, in In) (all []Instant) {
	for _, m := range instants.FindAllStringIndex(text, -1) {
		written := strings.ToUpper(text[m[0]:m[1]])
		written = written[:10] + "T" + written[11:]
		for _, layout := range [...]string{"2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
			if t, err := time.ParseInLocation(layout, written, in.Now.Location()); err == nil {
				all = append(all, Instant{Range{m[0], m[1]}, t})
				break
			}
		}
	}
	return all
}

// endsClock reports whether a bare hour may end before a text: before a mark, a small word, or a day.
func endsClock(behind string) bool {
	next := strings.TrimLeft(behind, " \u00a0")
	if found, _ := Find(next, In{}); len(found) > 0 && found[0].What == Date && found[0].Range.Start == 0 {
		return true
	}
	word := strings.FieldsFunc(next, func(r rune) bool { return !letterOrDigit(r) })
	return next == "" || len(word) == 0 || !strings.HasPrefix(next, word[0]) || isSmall(Plain(word[0]))
}

func letterOrDigit(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
