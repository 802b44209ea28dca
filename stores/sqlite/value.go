package sqlite

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"

	"verbatim/stores"
)

// How values are kept:
//
//	boolean   INTEGER 0 or 1
//	integer   INTEGER
//	decimal   TEXT as written, 12.50
//	string    TEXT
//	date      TEXT 2025-01-03
//	datetime  TEXT 2025-01-03T10:00:00.000000Z, always this long, so that text order is time order
//	duration  INTEGER microseconds
//	uuid      TEXT, lower case
//	json      TEXT, canonical

const timeLayout = "2006-01-02T15:04:05.000000Z"

// encode gives the driver a value.
func encode(v stores.Value) driver.Value {
	switch v.Kind() {
	case stores.Null:
		return nil
	case stores.Bool:
		if v.Bool() {
			return int64(1)
		}
		return int64(0)
	case stores.Int:
		return v.Int()
	case stores.Duration:
		return v.Duration().Microseconds()
	case stores.Time:
		return v.Time().Format(timeLayout)
	}
	return v.Text()
}

// encodeAs is encode for a column of a kind: an integer in a decimal column is
// text like its neighbours.
func encodeAs(kind stores.Kind, v stores.Value) driver.Value {
	if kind == stores.Decimal && v.Kind() == stores.Int {
		return strconv.FormatInt(v.Int(), 10)
	}
	return encode(v)
}

// decode reads what encode wrote. The error says what is wrong and not what is
// there.
func decode(kind stores.Kind, v driver.Value) (stores.Value, error) {
	switch x := v.(type) {
	case nil:
		return stores.Value{}, nil
	case int64:
		switch kind {
		case stores.Bool:
			if x == 0 || x == 1 {
				return stores.NewBool(x == 1), nil
			}
		case stores.Int:
			return stores.NewInt(x), nil
		case stores.Decimal:
			d, _ := stores.ParseDecimal(strconv.FormatInt(x, 10))
			return d, nil
		case stores.Duration:
			if x <= math.MaxInt64/1000 && x >= math.MinInt64/1000 {
				return stores.NewDuration(time.Duration(x) * time.Microsecond), nil
			}
		}
	case float64:
		if kind == stores.Decimal {
			return stores.Value{}, errors.New("a binary fraction, which is not exact, instead of a decimal in text")
		}
	case string:
		switch kind {
		case stores.String:
			return stores.NewString(x), nil
		case stores.Decimal, stores.Date:
			if d, ok := stores.Parse(kind, x); ok {
				return d, nil
			}
		case stores.Time:
			if t, ok := readTime(x); ok {
				return t, nil
			}
		case stores.UUID:
			if u, ok := stores.ParseUUID(x); ok && u.Text() == x {
				return u, nil
			}
			return stores.Value{}, errors.New("something other than a uuid in lower case")
		case stores.JSON:
			if j, err := stores.ParseJSON(x); err == nil {
				return j, nil
			}
		}
	}
	return stores.Value{}, fmt.Errorf("something other than a %s", kind)
}

// decodeField is decode with the field's name in the error.
func decodeField(e *stores.Entity, field int, v driver.Value) (stores.Value, error) {
	f := &e.Fields[field]
	val, err := decode(f.Holds(), v)
	if err != nil {
		return val, fmt.Errorf("%s.%s holds %w: %w", e.Name, f.Name, err, stores.ErrInvalid)
	}
	return val, nil
}

// readTime reads the spellings that tables of others hold: SQLite's own, with a
// space and without an offset, which SQLite means as UTC, and RFC 3339.
func readTime(s string) (stores.Value, bool) {
	if len(s) < len("2006-01-02 15:04") || s[10] != ' ' && s[10] != 'T' {
		return stores.Value{}, false
	}
	s = s[:10] + "T" + s[11:]
	clock := s[11:]
	if !strings.ContainsAny(clock, "Zz+-") {
		s += "Z"
	}
	if len(clock) == 5 || len(clock) > 5 && clock[5] != ':' {
		s = s[:16] + ":00" + s[16:]
	}
	return stores.ParseTime(s)
}

// decimalCollation orders text as the decimals that it spells. SQLite itself
// would order "9" after "10", or compare binary fractions.
const decimalCollation = "verbatim_decimal"

// compareDecimals orders what is no decimal before all that are, by byte.
func compareDecimals(a, b string) int {
	x, okA := stores.ParseDecimal(a)
	y, okB := stores.ParseDecimal(b)
	if okA && okB {
		n, _ := stores.Compare(x, y)
		return n
	}
	if okA != okB {
		if okB {
			return -1
		}
		return 1
	}
	return cmp.Compare(a, b)
}

// canonicalFunction spells what a table of others holds the way encode does, so
// that it can be compared: verbatim_canonical(kind, value, 'table.column').
const canonicalFunction = "verbatim_canonical"

func canonicalSpelling(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	kind, _ := args[0].(int64)
	v, err := decode(stores.Kind(kind), args[1])
	if err != nil {
		return nil, fmt.Errorf("%s %v holds %w", unreadable, args[2], err)
	}
	return encode(v), nil
}

// unreadable begins the message by which canonicalSpelling is told from SQLite.
const unreadable = "verbatim:"

// sumFunction adds decimals exactly, where SQLite's own sum adds binary
// fractions: decimal_sum(x), null when there is nothing to add.
const sumFunction = "decimal_sum"

type decimalSum struct{ total stores.Value }

func newSum(sqlite.FunctionContext) (sqlite.AggregateFunction, error) { return new(decimalSum), nil }

func (s *decimalSum) add(op byte, v driver.Value) error {
	d, err := decode(stores.Decimal, v)
	if err != nil {
		return fmt.Errorf("%s %s was given %w", unreadable, sumFunction, err)
	}
	switch {
	case d.IsNull():
	case s.total.IsNull():
		s.total = d
	default:
		total, ok := stores.Arith(op, s.total, d)
		if !ok {
			return fmt.Errorf("%s the result of %s is out of range", unreadable, sumFunction)
		}
		s.total = total
	}
	return nil
}

func (s *decimalSum) Step(_ *sqlite.FunctionContext, args []driver.Value) error {
	return s.add('+', args[0])
}

func (s *decimalSum) WindowInverse(_ *sqlite.FunctionContext, args []driver.Value) error {
	return s.add('-', args[0])
}

func (s *decimalSum) WindowValue(*sqlite.FunctionContext) (driver.Value, error) {
	return encode(s.total), nil
}

func (s *decimalSum) Final(*sqlite.FunctionContext) {}
