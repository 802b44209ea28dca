package verbs

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/naming"
	"verbatim/verbs/values"
)

// A Problem says why a value is not accepted. It is a small number rather than an error so that
// reading values costs nothing until something is wrong; its messages are in messages_check.go.
type Problem uint8

const (
	Fine Problem = iota
	WrongType
	TooShort
	TooLong
	noMatch // with the pattern
	tooSmall
	tooLarge
	tooPrecise
	notInt64
	notDecimal
	notDate
	notDateTime
	notDuration
	notUUID
	notRuled // an email, a phone, an iban and so on
	unknownCode
	notCode
	notText // not UTF-8, or with a zero character
)

// Literal reads a scalar as a type: a string is read as a date, a uuid and so on if the type says
// so. Text in the result is the script's own, not a copy. It does not read symbols, lists, maps
// and nested calls.
func (t *Type) Literal(v *dsl.Value) (w stores.Value, p Problem) {
	switch {
	case t.Name == AnyType:
		return anyLiteral(v)
	case int(t.Name) >= len(literalKinds) || literalKinds[t.Name]&(1<<v.Kind) == 0:
		return w, WrongType
	}
	ok := true
	switch t.Name {
	case IntegerType:
		if w, ok = stores.ParseInt(v.Text); !ok {
			return w, notInt64
		}
	case DecimalType:
		if w, ok = stores.ParseDecimal(v.Text); !ok {
			return w, notDecimal
		}
	case BooleanType:
		w = stores.NewBool(v.Text == "true")
	default:
		return t.Read(v.Text)
	}
	return t.Limit(w)
}

// literalKinds are the kinds of scalars that a type can be written as, by bits. Money, objects and
// lists are not scalars.
var literalKinds = func() [CallType + 1]uint32 {
	const text = 1 << dsl.String
	return [...]uint32{
		StringType: text, DurationType: text, EmailType: text, PhoneType: text, IBANType: text, BICType: text, LEIType: text, NationalIDType: text,
		IntegerType: 1 << dsl.Integer, DecimalType: 1<<dsl.Decimal | 1<<dsl.Integer, BooleanType: 1 << dsl.Bool,
		DateType: 1<<dsl.Date | text, DateTimeType: 1<<dsl.DateTime | text, UUIDType: 1<<dsl.UUID | text, RefType: 1<<dsl.UUID | text,
		CodeType: 1<<dsl.Code | text, CallType: 0,
	}
}()

// Read reads a text as a type that strings can represent.
func (t *Type) Read(s string) (v stores.Value, p Problem) {
	ok := true
	switch t.Name {
	case DateType:
		if v, ok = stores.ParseDate(s); !ok {
			return v, notDate
		}
	case DateTimeType:
		if v, ok = stores.ParseTime(s); !ok {
			return v, notDateTime
		}
	case DurationType:
		if v, ok = ParseDuration(s); !ok {
			return v, notDuration
		}
	case UUIDType, RefType:
		if v, ok = stores.ParseUUID(s); !ok {
			return v, notUUID
		}
		return v, Fine
	default:
		v = stores.NewString(s)
	}
	return t.Limit(v)
}

func anyLiteral(v *dsl.Value) (w stores.Value, p Problem) {
	ok := true
	switch v.Kind {
	case dsl.Bool:
		return stores.NewBool(v.Text == "true"), Fine
	case dsl.Integer:
		if w, ok = stores.ParseInt(v.Text); !ok {
			return w, notInt64
		}
	case dsl.Decimal:
		if w, ok = stores.ParseDecimal(v.Text); !ok {
			return w, notDecimal
		}
	case dsl.String, dsl.Code:
		if !utf8.ValidString(v.Text) || strings.IndexByte(v.Text, 0) >= 0 {
			return w, notText
		}
		return stores.NewString(v.Text), Fine
	case dsl.Date:
		if w, ok = stores.ParseDate(v.Text); !ok {
			return w, notDate
		}
	case dsl.DateTime:
		if w, ok = stores.ParseTime(v.Text); !ok {
			return w, notDateTime
		}
	case dsl.UUID:
		if w, ok = stores.ParseUUID(v.Text); !ok {
			return w, notUUID
		}
	default:
		return w, WrongType
	}
	return w, Fine
}

// Limit checks a value of the right kind against the limits of the type. It returns the value in
// its stored form: an IBAN in capitals and without spaces.
func (t *Type) Limit(v stores.Value) (stores.Value, Problem) {
	switch t.Name {
	case StringType:
		return v, t.limitText(v.Text())
	case IntegerType, DateType, DateTimeType, DurationType:
		return v, t.limitRange(v)
	case DecimalType:
		if t.Scale >= 0 && v.Scale() > t.Scale {
			return v, tooPrecise
		}
		return v, t.limitRange(v)
	case CodeType:
		switch {
		case t.Codes == nil && !naming.IsCode(v.Text()):
			return v, notCode
		case t.Codes != nil && !t.Codes.Has(v.Text()):
			return v, unknownCode
		}
	case EmailType, PhoneType, IBANType, BICType, LEIType, NationalIDType:
		s, err := t.ruled(v.Text())
		if err != nil {
			return v, notRuled
		}
		return stores.NewString(s), t.limitText(s)
	}
	return v, Fine
}

// limitText counts code points only if counting bytes does not decide.
func (t *Type) limitText(s string) Problem {
	if n := len(s); n > t.MaxLength && t.MaxLength > 0 || (n+3)/4 < t.MinLength {
		n = utf8.RuneCountInString(s)
		switch {
		case n < t.MinLength:
			return TooShort
		case t.MaxLength > 0 && n > t.MaxLength:
			return TooLong
		}
	}
	switch {
	case strings.IndexByte(s, 0) >= 0:
		return notText // PostgreSQL cannot store it
	case t.Pattern != nil && !t.Pattern.MatchString(s):
		return noMatch
	}
	return Fine
}

func (t *Type) limitRange(v stores.Value) Problem {
	if !t.Min.IsNull() && Less(v, t.Min) {
		return tooSmall
	}
	if !t.Max.IsNull() && Less(t.Max, v) {
		return tooLarge
	}
	return Fine
}

// Less orders two values of one kind. Decimals are compared by their digits,
// because stores.Compare allocates for them and this is on the path of every
// call.
func Less(a, b stores.Value) bool {
	if a.Kind() == stores.Decimal && b.Kind() == stores.Decimal {
		return compareDecimals(a.Text(), b.Text()) < 0
	}
	n, ok := stores.Compare(a, b)
	return ok && n < 0
}

func compareDecimals(a, b string) int {
	minusA, minusB := a[0] == '-', b[0] == '-'
	if minusA {
		a = a[1:]
	}
	if minusB {
		b = b[1:]
	}
	n := comparePlain(a, b)
	switch {
	case minusA && minusB:
		return -n
	case minusA != minusB && isZero(a) && isZero(b):
		return 0
	case minusA:
		return -1
	case minusB:
		return 1
	}
	return n
}

// comparePlain compares decimals without a sign.
func comparePlain(a, b string) int {
	for a != "" && a[0] == '0' {
		a = a[1:]
	}
	for b != "" && b[0] == '0' {
		b = b[1:]
	}
	pointA, pointB := strings.IndexByte(a, '.'), strings.IndexByte(b, '.')
	if pointA < 0 {
		pointA = len(a)
	}
	if pointB < 0 {
		pointB = len(b)
	}
	if pointA != pointB {
		if pointA < pointB {
			return -1
		}
		return 1
	}
	for i := 0; i < len(a) || i < len(b); i++ {
		x, y := byte('0'), byte('0') // missing digits are zero
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		if i == pointA { // the point itself, or nothing
			continue
		}
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return 0
}

func isZero(s string) bool { return strings.Trim(s, "0.") == "" }

// ruled reads a text by the rule of its type, and returns the one spelling in which it is kept. If the
// country stands in another argument or field, the text is only read as far as that does not matter:
// In gives the type with the country.
func (t *Type) ruled(s string) (string, error) {
	switch t.Name {
	case EmailType:
		return values.Email(s)
	case PhoneType:
		kept, err := values.Phone(s, t.Country)
		if err != nil && t.CountryOf != "" {
			return s, nil
		}
		return kept, err
	case IBANType:
		return values.IBAN(s)
	case BICType:
		return values.BIC(s)
	case LEIType:
		return values.LEI(s)
	}
	if t.Country == "" {
		return s, nil
	}
	return values.NationalID(s, t.Country)
}

// In returns the type for the country that the argument or field beside it holds: t itself if its
// country is fixed or does not matter.
func (t *Type) In(country stores.Value) *Type {
	if t.CountryOf == "" {
		return t
	}
	is := *t
	is.CountryOf, is.Country = "", noCountry
	if country.Kind() == stores.String && country.Text() != "" {
		is.Country = strings.ToUpper(country.Text())
	}
	return &is
}

// noCountry is the Country of a type whose value is of no known country.
const noCountry = "-"

// ParseDuration reads "90m", "24h", "3d", "2w", combinations such as "1d12h",
// and the ISO 8601 form of the same, "P1DT12H". A day is 24 hours. Months and
// years are not durations: how long they are depends on when they begin.
func ParseDuration(s string) (v stores.Value, ok bool) {
	iso := strings.HasPrefix(s, "P")
	if iso {
		s = s[1:]
	}
	if s == "" || s == "T" || strings.HasSuffix(s, "T") {
		return v, false
	}
	var total time.Duration
	last := time.Duration(math.MaxInt64) // units go from large to small, each once
	clock := false
	for s != "" {
		if iso && s[0] == 'T' {
			if clock {
				return v, false
			}
			clock, s = true, s[1:]
		}
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9') {
			n++
		}
		count, err := strconv.ParseInt(s[:n], 10, 64)
		if err != nil {
			return v, false
		}
		s = s[n:]
		u := 0
		for u < len(s) && s[u] > '9' && (s[u] != 'T' || !iso) {
			u++
		}
		unit := unitOf(s[:u], iso, clock)
		s = s[u:]
		if unit == 0 || unit >= last || count > int64(math.MaxInt64/unit) {
			return v, false
		}
		last = unit
		add := time.Duration(count) * unit
		if total > math.MaxInt64-add {
			return v, false
		}
		total += add
	}
	return stores.NewDuration(total), true
}

// units are those of durations, as people write them and as ISO 8601 does: there behind a T from
// the hour on.
var units = map[string]time.Duration{
	"w": 7 * 24 * time.Hour, "d": 24 * time.Hour, "h": time.Hour, "m": time.Minute, "s": time.Second, "ms": time.Millisecond, "us": time.Microsecond,
	"W": 7 * 24 * time.Hour, "D": 24 * time.Hour, "TH": time.Hour, "TM": time.Minute, "TS": time.Second,
}

func unitOf(s string, iso, clock bool) time.Duration {
	switch {
	case s == "" || iso != (s[0] <= 'Z') || s[0] == 'T':
		return 0
	case clock:
		s = "T" + s
	}
	return units[s]
}

// AcceptsCurrency reports whether money of this type may be in a currency.
func (t *Type) AcceptsCurrency(code string) bool {
	if len(t.Currencies) == 0 {
		_, ok := values.CurrencyOf(code)
		return ok
	}
	return slices.Contains(t.Currencies, code)
}

// CurrencyCodes are the currencies that money of this type may be in.
func (t *Type) CurrencyCodes() []string {
	if len(t.Currencies) > 0 {
		return slices.Clone(t.Currencies)
	}
	return values.Currencies()
}
