package documents

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A numberFormat is how the cells of a style show a number.
type numberFormat struct {
	code  string // as the workbook has it, or "" for a plain number
	shows shows
}

type shows int

const (
	aNumber   shows = iota
	aDay            // a date, perhaps with a time
	aTime           // a time of day
	aDuration       // hours, minutes or seconds in all: [h]:mm
)

var (
	// literal matches what a format shows as it is: texts, single characters; and colours and conditions.
	literal = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|[\\_*].`)
	elapsed = regexp.MustCompile(`(?i)\[(h+|m+|s+|ช+|น+|ท+)\]`)
	thai    = strings.NewReplacer("ว", "d", "ด", "m", "ป", "y", "ช", "h", "น", "m", "ท", "s")
)

// formatOf reads the code of a format (ECMA-376 part 1, 18.8.31), also with the letters of Thai.
func formatOf(code string) numberFormat {
	if strings.EqualFold(code, "General") {
		code = ""
	}
	f := numberFormat{code: code}
	first, _, _ := strings.Cut(literal.ReplaceAllString(code, ""), ";")
	first = strings.ToLower(thai.Replace(first))
	switch {
	case elapsed.MatchString(code):
		f.shows = aDuration
	case strings.ContainsAny(first, "dyb") || strings.Contains(first, "m") && !strings.ContainsAny(first, "hs"):
		f.shows = aDay
	case strings.ContainsAny(first, "hs"):
		f.shows = aTime
	}
	return f
}

// parts matches what a format of durations is made of.
var parts = regexp.MustCompile(`\[([hms])+\]|"([^"]*)"|\\(.)|[_*].|\[[^\]]*\]|m+|s+|\.0+`)

// duration writes days as hours, minutes and seconds: 1.5 as [h]:mm is 36:00. It returns "" for what
// is no duration.
func (f numberFormat) duration(days float64) string {
	if math.Abs(days) > 1e9 {
		return ""
	}
	first, _, _ := strings.Cut(strings.ToLower(thai.Replace(f.code)), ";")
	seconds := int(math.Round(math.Abs(days) * 86400))
	if strings.Contains(first, ".0") {
		seconds = int(math.Abs(days)*86400 + 1e-6)
	}
	s := parts.ReplaceAllStringFunc(first, func(part string) string {
		m := parts.FindStringSubmatch(part)
		digits := strings.Trim(part, "[]")
		switch {
		case m[1] != "":
			return fmt.Sprintf("%0*d", len(digits), seconds/map[string]int{"h": 3600, "m": 60, "s": 1}[m[1]])
		case part[0] == 'm':
			return fmt.Sprintf("%0*d", len(digits), seconds/60%60)
		case part[0] == 's':
			return fmt.Sprintf("%0*d", len(digits), seconds%60)
		case part[0] == '.':
			_, fraction, _ := strings.Cut(strconv.FormatFloat(math.Abs(days)*86400-float64(seconds), 'f', len(part)-1, 64), ".")
			return "." + fraction
		}
		return m[2] + m[3]
	})
	if days < 0 {
		s = "-" + s
	}
	return strings.TrimSpace(s)
}

// date returns the date and time for a serial number, or "" where it is none. In workbooks that
// count from 1900, zero is a time of day and no day: what stands there was never filled in.
func (w *workbook) date(serial float64, as shows) string {
	if serial < 0 || serial >= 2958466 {
		return ""
	}
	from1904 := w.epoch.Year() == 1904
	days, seconds := int(serial), int(math.Round((serial-math.Floor(serial))*86400))
	switch {
	case days == 0 && (as == aTime || seconds > 0 && !from1904):
		return w.epoch.Add(time.Duration(seconds) * time.Second).Format(time.TimeOnly)
	case days == 0 && !from1904:
		return ""
	case days < 60 && !from1904:
		days++ // Excel believes that there was a 29 February 1900
	}
	at := w.epoch.AddDate(0, 0, days).Add(time.Duration(seconds) * time.Second)
	if seconds == 0 {
		return at.Format(time.DateOnly)
	}
	return at.Format("2006-01-02T15:04:05")
}

var escapes = regexp.MustCompile(`(?:_x[0-9A-Fa-f]{4}_)+`)

// unescaped returns a text with its escapes replaced: _x0041_ is A (ECMA-376 part 1, 22.9.2.19).
func unescaped(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	s = escapes.ReplaceAllStringFunc(s, func(run string) string {
		var units []uint16
		for ; run != ""; run = run[7:] {
			n, _ := strconv.ParseUint(run[2:6], 16, 16)
			units = append(units, uint16(n))
		}
		return string(utf16.Decode(units))
	})
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' { // XML itself cannot hold it
			return -1
		}
		return r
	}, s)
}
