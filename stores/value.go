package stores

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/shopspring/decimal"
)

// Kind is the type of a Value, and of the values that a Field holds.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Int      // signed, 64 bits
	Decimal  // exact, as written: 3.50 and 3.5 are equal but print differently
	String   // UTF-8 text; codes, e-mail addresses and phone numbers too
	Date     // a calendar day, no time zone
	Time     // an instant, to the microsecond, UTC
	Duration // to the microsecond
	UUID     // canonical lower case
	JSON     // canonical JSON text of a list or an object
)

var kindNames = [...]string{"null", "boolean", "integer", "decimal", "string", "date", "datetime", "duration", "uuid", "json"}

// String names the kind as palettes do.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind " + strconv.Itoa(int(k))
}

// A writes the kind with its article: a decimal, an integer.
func (k Kind) A() string {
	if k == Int {
		return "an " + k.String()
	}
	return "a " + k.String()
}

// A Value is one immutable datum. The zero Value is null. Equal values of one kind are equal with
// ==, except decimals (3.50 and 3.5): see Equal.
//
// Money is a decimal and a currency code, in two fields or one object; there is no kind for it.
type Value struct {
	kind Kind
	num  int64  // Bool 0/1, Int, Date in days since 1970-01-01, Time and Duration in microseconds
	text string // Decimal, String, UUID, JSON
}

// Limits of the kinds whose values are fewer than their notation allows.
const (
	// MaxDigits bounds a decimal, before and after the point together. It is
	// far above money and far below what makes arithmetic slow.
	MaxDigits = 1000

	minYear, maxYear = 1, 9999
)

// NewBool makes a boolean.
func NewBool(b bool) Value {
	if b {
		return Value{kind: Bool, num: 1}
	}
	return Value{kind: Bool}
}

// NewInt makes an integer.
func NewInt(n int64) Value { return Value{kind: Int, num: n} }

// NewString makes a string, code, e-mail address or the like.
func NewString(s string) Value { return Value{kind: String, text: s} }

// NewTime makes an instant, cut to the microsecond.
func NewTime(t time.Time) Value { return Value{kind: Time, num: t.UnixMicro()} }

// NewDuration makes a duration, cut to the microsecond.
func NewDuration(d time.Duration) Value { return Value{kind: Duration, num: d.Microseconds()} }

// NewDays makes the date that lies n days after 1970-01-01.
func NewDays(n int64) Value { return Value{kind: Date, num: n} }

// NewDate makes a date; ok is false when the calendar has no such day.
func NewDate(year, month, day int) (v Value, ok bool) {
	if year < minYear || year > maxYear || month < 1 || month > 12 || day < 1 || day > 31 {
		return Value{}, false
	}
	t := midnight(year, time.Month(month), day)
	return daysTo(t), t.Day() == day
}

// DateOf makes the date of an instant, in the instant's own time zone. Its year
// is from 1 to 9999.
func DateOf(t time.Time) Value { return daysTo(midnight(t.Date())) }

func midnight(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

func daysTo(midnight time.Time) Value { return NewDays(midnight.Unix() / 86400) }

// AddMonths gives the date n months after a date, or the last day of that month
// when the month has no such day; cut reports the second.
func (v Value) AddMonths(n int) (to Value, cut bool) {
	y, m, d := v.Time().Date()
	last := midnight(y, m+time.Month(n)+1, 0)
	return daysTo(last.AddDate(0, 0, min(d-last.Day(), 0))), d > last.Day()
}

// ParseInt reads an optional minus and digits that fit 64 bits.
func ParseInt(s string) (v Value, ok bool) {
	if strings.HasPrefix(s, "+") {
		return Value{}, false
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return NewInt(n), err == nil
}

// ParseDecimal reads an optional minus, digits, and optionally a point and more digits: no
// exponent, at most MaxDigits. The text is kept, not copied, without leading zeros, which JSON
// does not allow.
func ParseDecimal(s string) (v Value, ok bool) {
	digits, point := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' && i == 0:
		case c == '.' && !point && digits > 0 && i+1 < len(s):
			point = true
		default:
			return Value{}, false
		}
	}
	if digits == 0 || digits > MaxDigits {
		return Value{}, false
	}
	return Value{kind: Decimal, text: withoutZeros(s)}, true
}

// withoutZeros removes leading zeros before another digit.
func withoutZeros(s string) string {
	minus := strings.HasPrefix(s, "-")
	rest := strings.TrimPrefix(s, "-")
	if len(rest) < 2 || rest[0] != '0' || rest[1] == '.' {
		return s
	}
	for len(rest) > 1 && rest[0] == '0' && rest[1] != '.' {
		rest = rest[1:]
	}
	if minus {
		return "-" + rest
	}
	return rest
}

// ParseDate reads 2025-01-03.
func ParseDate(s string) (v Value, ok bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return Value{}, false
	}
	y, m, d := atoi(s[:4]), atoi(s[5:7]), atoi(s[8:])
	if y < 0 || m < 0 || d < 0 {
		return Value{}, false
	}
	return NewDate(y, m, d)
}

// ParseTime reads an RFC 3339 date and time with its offset; the offset is
// applied, not kept.
func ParseTime(s string) (v Value, ok bool) {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || t.Nanosecond()%1000 != 0 || t.UTC().Year() < minYear || t.UTC().Year() > maxYear {
		return Value{}, false
	}
	return NewTime(t), true
}

// ParseUUID reads the 8-4-4-4-12 form in either case.
func ParseUUID(s string) (v Value, ok bool) {
	if len(s) != 36 {
		return Value{}, false
	}
	upper := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return Value{}, false
			}
			continue
		}
		switch {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'F':
			upper = true
		default:
			return Value{}, false
		}
	}
	if upper {
		s = strings.ToLower(s)
	}
	return Value{kind: UUID, text: s}, true
}

// ParseJSON reads one JSON value and keeps its canonical text: no white space,
// keys sorted by byte, numbers as they were written, text escaped only where
// JSON demands it. Duplicate keys, and anything after the value, are errors.
func ParseJSON(s string) (Value, error) {
	if !utf8.ValidString(s) {
		return Value{}, fmt.Errorf("not UTF-8")
	}
	if spelt(s) {
		return Value{kind: JSON, text: s}, nil
	}
	return respell(s)
}

// respell reads a JSON value in any spelling.
func respell(s string) (Value, error) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	b, err := canonical(dec, make([]byte, 0, len(s)), 0)
	if err != nil {
		return Value{}, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return Value{}, fmt.Errorf("more than one JSON value")
	}
	return Value{kind: JSON, text: string(b)}, nil
}

// maxJSONDepth limits nesting, so that hostile input cannot exhaust the stack.
const maxJSONDepth = 200

func canonical(dec *json.Decoder, b []byte, depth int) ([]byte, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxJSONDepth)
	}
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case json.Delim:
		if t == '[' {
			b = append(b, '[')
			for n := 0; dec.More(); n++ {
				if n > 0 {
					b = append(b, ',')
				}
				if b, err = canonical(dec, b, depth+1); err != nil {
					return nil, err
				}
			}
			b = append(b, ']')
		} else {
			type entry struct {
				key  string
				text []byte
			}
			var entries []entry
			for dec.More() {
				key, err := dec.Token()
				if err != nil {
					return nil, err
				}
				text, err := canonical(dec, nil, depth+1)
				if err != nil {
					return nil, err
				}
				entries = append(entries, entry{key.(string), text})
			}
			slices.SortFunc(entries, func(a, b entry) int { return strings.Compare(a.key, b.key) })
			b = append(b, '{')
			for i, e := range entries {
				if i > 0 {
					if entries[i-1].key == e.key {
						return nil, fmt.Errorf("key %q twice", e.key)
					}
					b = append(b, ',')
				}
				b = AppendJSONString(b, e.key)
				b = append(append(b, ':'), e.text...)
			}
			b = append(b, '}')
		}
		_, err := dec.Token() // the closing bracket
		return b, err
	case string:
		return AppendJSONString(b, t), nil
	case json.Number:
		return append(b, t...), nil
	case bool:
		return strconv.AppendBool(b, t), nil
	default:
		return append(b, "null"...), nil
	}
}

// AppendJSONString appends s as a canonical JSON string.
func AppendJSONString(b []byte, s string) []byte {
	b = append(slices.Grow(b, len(s)+2), '"')
	plain := 0 // text that needs no escape, nearly always all of it, is copied whole
	for plain < len(s) && s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\' {
		plain++
	}
	b = append(b, s[:plain]...)
	for _, r := range s[plain:] {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < 0x20 || r == 0x7f || r == 0x2028 || r == 0x2029:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// Kind returns the kind of the value.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v.kind == Null }

// Bool returns the value of a boolean, false for every other kind.
func (v Value) Bool() bool { return v.kind == Bool && v.num == 1 }

// Int returns the value of an integer, zero for every other kind.
func (v Value) Int() int64 {
	if v.kind == Int {
		return v.num
	}
	return 0
}

// Days returns a date as days since 1970-01-01, zero for every other kind.
func (v Value) Days() int64 {
	if v.kind == Date {
		return v.num
	}
	return 0
}

// Time returns an instant in UTC; a date is its midnight in UTC. It is the zero
// time for every other kind.
func (v Value) Time() time.Time {
	switch v.kind {
	case Time:
		return time.UnixMicro(v.num).UTC()
	case Date:
		return time.Unix(v.num*86400, 0).UTC()
	}
	return time.Time{}
}

// Duration returns the value of a duration, zero for every other kind.
func (v Value) Duration() time.Duration {
	if v.kind == Duration {
		return time.Duration(v.num) * time.Microsecond
	}
	return 0
}

// Text returns the text of a string, decimal, UUID or JSON value as it is, other kinds as they
// are written, and "" for null.
func (v Value) Text() string {
	switch v.kind {
	case Decimal, String, UUID, JSON:
		return v.text
	case Null:
		return ""
	}
	return string(v.AppendText(nil))
}

// AppendText appends the result of Text.
func (v Value) AppendText(b []byte) []byte {
	switch v.kind {
	case Bool:
		return strconv.AppendBool(b, v.num == 1)
	case Int:
		return strconv.AppendInt(b, v.num, 10)
	case Date:
		return v.Time().AppendFormat(b, time.DateOnly)
	case Time:
		return v.Time().AppendFormat(b, time.RFC3339Nano)
	case Duration:
		return append(b, v.Duration().String()...)
	}
	return append(b, v.text...)
}

// String is for people and for test failures: null reads "nil", strings are
// quoted.
func (v Value) String() string {
	switch v.kind {
	case Null:
		return "nil"
	case String:
		return strconv.Quote(v.text)
	}
	return v.Text()
}

// AppendJSON appends the canonical JSON of the value: dates, times, durations
// and uuids are strings, decimals are numbers with their digits kept.
func (v Value) AppendJSON(b []byte) []byte {
	switch v.kind {
	case Null:
		return append(b, "null"...)
	case Bool, Int, Decimal, JSON:
		return v.AppendText(b)
	case String, UUID:
		return AppendJSONString(b, v.text)
	}
	b = append(b, '"')
	return append(v.AppendText(b), '"')
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

// NewList makes a JSON list of values.
func NewList(items ...Value) Value {
	b := append(make([]byte, 0, jsonSize(nil, items)), '[')
	for i, v := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = v.AppendJSON(b)
	}
	return Value{kind: JSON, text: string(append(b, ']'))}
}

// NewObject makes a JSON object of values under keys, which must differ from
// one another and come in any order.
func NewObject(keys []string, values []Value) Value {
	var few [16]int // so that small objects need no allocation for it
	order := few[:0]
	for i := range keys {
		order = append(order, i)
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(keys[a], keys[b]) })
	b := append(make([]byte, 0, jsonSize(keys, values)), '{')
	for n, i := range order {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(AppendJSONString(b, keys[i]), ':')
		b = values[i].AppendJSON(b)
	}
	return Value{kind: JSON, text: string(append(b, '}'))}
}

// jsonSize estimates the length of the JSON of values under keys: seldom too little, and never
// much too much.
func jsonSize(keys []string, values []Value) int {
	n := 2
	for _, k := range keys {
		n += len(k) + 3
	}
	for _, v := range values {
		n += len(v.text) + 3
		if v.text == "" {
			n += len("2025-01-03T10:00:00.000000Z")
		}
	}
	return n
}

// Items splits a JSON list whose items are of one kind. It fails if the value is no such list.
func (v Value) Items(kind Kind) ([]Value, error) {
	if v.kind != JSON {
		return nil, fmt.Errorf("a %s is not a list", v.kind)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal([]byte(v.text), &raw); err != nil {
		return nil, fmt.Errorf("not a list")
	}
	items := make([]Value, len(raw))
	for i, r := range raw {
		item, ok := FromJSON(kind, r)
		if !ok {
			return nil, fmt.Errorf("item %d is not a %s", i+1, kind)
		}
		items[i] = item
	}
	return items, nil
}

// FromJSON reads what AppendJSON wrote for a value of the given kind.
func FromJSON(kind Kind, raw []byte) (v Value, ok bool) {
	raw = bytes.TrimSpace(raw)
	if string(raw) == "null" {
		return Value{}, true
	}
	switch kind {
	case Bool:
		return NewBool(string(raw) == "true"), string(raw) == "true" || string(raw) == "false"
	case Int:
		return ParseInt(string(raw))
	case Decimal:
		return ParseDecimal(string(raw))
	case JSON:
		v, err := ParseJSON(string(raw))
		return v, err == nil
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return Value{}, false
	}
	return Parse(kind, s)
}

// Parse reads what Text wrote for a value of the given kind.
func Parse(kind Kind, s string) (v Value, ok bool) {
	switch kind {
	case Bool:
		return NewBool(s == "true"), s == "true" || s == "false"
	case Int:
		return ParseInt(s)
	case Decimal:
		return ParseDecimal(s)
	case String:
		return NewString(s), true
	case Date:
		return ParseDate(s)
	case Time:
		return ParseTime(s)
	case Duration:
		d, err := time.ParseDuration(s)
		return NewDuration(d), err == nil
	case UUID:
		return ParseUUID(s)
	case JSON:
		v, err := ParseJSON(s)
		return v, err == nil
	}
	return Value{}, s == ""
}

// Equal reports whether two values are equal: null equals null, and numbers are compared by their
// numeric value whatever their kinds.
func Equal(a, b Value) bool {
	if a == b {
		return true
	}
	if a.isNumber() && b.isNumber() {
		n, _ := Compare(a, b)
		return n == 0
	}
	return false
}

// Compare orders two values of one kind, or two numbers. Strings order by byte,
// false before true. ok is false when they cannot be ordered: null, JSON, or
// different kinds.
func Compare(a, b Value) (order int, ok bool) {
	if a.kind != b.kind || a.kind == Decimal {
		if a.isNumber() && b.isNumber() {
			return a.decimal().Cmp(b.decimal()), true
		}
		return 0, false
	}
	switch a.kind {
	case Null, JSON:
		return 0, false
	case String, UUID:
		return strings.Compare(a.text, b.text), true
	}
	return cmp.Compare(a.num, b.num), true
}

// Arith carries out + - * on two numbers exactly; two integers stay an integer.
// ok is false when one is no number or the result is out of range.
func Arith(op byte, a, b Value) (v Value, ok bool) {
	if !a.isNumber() || !b.isNumber() {
		return Value{}, false
	}
	x, y := a.decimal(), b.decimal()
	switch op {
	case '+':
		x = x.Add(y)
	case '-':
		x = x.Sub(y)
	case '*':
		x = x.Mul(y)
	default:
		return Value{}, false
	}
	if a.kind == Int && b.kind == Int {
		if !x.BigInt().IsInt64() {
			return Value{}, false
		}
		return NewInt(x.IntPart()), true
	}
	// StringFixed keeps the scale: 1.10 + 1.40 is 2.50, not 2.5.
	return ParseDecimal(x.StringFixed(max(0, -x.Exponent())))
}

// Quotient divides a by b, which is not 0, and rounds to so many digits after the point, halves
// away from zero. ok is false unless both are numbers.
func Quotient(a, b Value, places int) (v Value, ok bool) {
	if !a.isNumber() || !b.isNumber() {
		return Value{}, false
	}
	return ParseDecimal(a.decimal().DivRound(b.decimal(), int32(places)).StringFixed(int32(places)))
}

// Scale returns how many digits a decimal has after its point.
func (v Value) Scale() int {
	if v.kind != Decimal {
		return 0
	}
	if _, after, found := strings.Cut(v.text, "."); found {
		return len(after)
	}
	return 0
}

func (v Value) isNumber() bool { return v.kind == Int || v.kind == Decimal }

func (v Value) decimal() decimal.Decimal {
	if v.kind == Int {
		return decimal.NewFromInt(v.num)
	}
	d, err := decimal.NewFromString(v.text)
	if err != nil {
		panic("stores: a Decimal that ParseDecimal did not make: " + v.text)
	}
	return d
}

// atoi reads decimal digits only; -1 for anything else.
func atoi(s string) int {
	n := 0
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return -1
		}
		n = n*10 + int(s[i]-'0')
	}
	return n
}
