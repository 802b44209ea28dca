package stores

// Kind says what a Value is, and what a Field holds.
type Kind uint8

// The kinds of value.
const (
	Null Kind = iota
	Bool
	Int      // signed, 64 bits
	Decimal  // exact, as written: 3.50 is not 3.5 to a reader, though equal
	String   // UTF-8 text; codes, e-mail addresses and phone numbers too
	Date     // a calendar day, no time zone
	Time     // an instant, to the microsecond, UTC
	Duration // to the microsecond
	UUID     // canonical lower case
	JSON     // canonical JSON text of a list or an object
)

// A Value is one immutable datum. Values of one kind that mean the same are
// equal with ==, except decimals (3.50 and 3.5), for which see Equal.
//
// Money is a decimal beside a currency code, in two fields; there is no kind
// for it.
type Value struct {
	kind Kind
	num  int64  // Bool 0/1, Int, Date in days since 1970-01-01, Time and Duration in microseconds
	text string // Decimal, String, UUID, JSON
}

// Kind returns what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether there is no value.
func (v Value) IsNull() bool { return v.kind == Null }
