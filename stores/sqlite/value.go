package sqlite

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"

	"verbatim/stores"
)

// How values are stored:
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

// number returns a value as its column stores it, if that is an integer.
func number(v stores.Value) (n int64, ok bool) {
	switch v.Kind() {
	case stores.Bool:
		if v.Bool() {
			n = 1
		}
		return n, true
	case stores.Int:
		return v.Int(), true
	case stores.Duration:
		return v.Duration().Microseconds(), true
	}
	return 0, false
}

// spelling returns a value as its column stores it, if that is text.
func spelling(v stores.Value) string {
	if v.Kind() == stores.Time {
		return v.Time().Format(timeLayout)
	}
	return v.Text()
}

// kept returns a value for a column of a kind: an integer in a decimal column is text like the
// other values.
func kept(kind stores.Kind, v stores.Value) stores.Value {
	if kind == stores.Decimal && v.Kind() == stores.Int {
		return stores.NewString(v.Text())
	}
	return v
}

// bind sets the nth argument of a statement.
func bind(st *sqlite.Stmt, n int, v stores.Value) {
	if v.IsNull() {
		st.BindNull(n)
	} else if i, ok := number(v); ok {
		st.BindInt64(n, i)
	} else {
		st.BindText(n, spelling(v))
	}
}

// A cell is a value from SQLite, in a row or as an argument of a function of ours.
type cell interface {
	Type() sqlite.ColumnType
	Int64() int64
	Float() float64
	Text() string
}

// cellOf is a cell of a row.
type cellOf struct {
	row *sqlite.Stmt
	at  int
}

func (c cellOf) Type() sqlite.ColumnType { return c.row.ColumnType(c.at) }
func (c cellOf) Float() float64          { return c.row.ColumnFloat(c.at) }
func (c cellOf) Int64() int64            { return c.row.ColumnInt64(c.at) }
func (c cellOf) Text() string            { return c.row.ColumnText(c.at) }

// decode reads what bind wrote. The error does not show the value.
func decode[C cell](kind stores.Kind, c C) (stores.Value, error) {
	switch c.Type() {
	case sqlite.TypeNull:
		return stores.Value{}, nil
	case sqlite.TypeInteger:
		switch n := c.Int64(); kind {
		case stores.Bool:
			if n == 0 || n == 1 {
				return stores.NewBool(n == 1), nil
			}
		case stores.Int:
			return stores.NewInt(n), nil
		case stores.Decimal:
			d, _ := stores.ParseDecimal(strconv.FormatInt(n, 10))
			return d, nil
		case stores.Duration:
			if n <= math.MaxInt64/1000 && n >= math.MinInt64/1000 {
				return stores.NewDuration(time.Duration(n) * time.Microsecond), nil
			}
		}
	case sqlite.TypeFloat:
		if kind == stores.Decimal {
			return stores.Value{}, errors.New("a binary fraction, which is not exact, instead of a decimal in text")
		}
	case sqlite.TypeText:
		switch s := c.Text(); kind {
		case stores.String:
			return stores.NewString(s), nil
		case stores.Decimal, stores.Date:
			if d, ok := stores.Parse(kind, s); ok {
				return d, nil
			}
		case stores.Time:
			if t, ok := readTime(s); ok {
				return t, nil
			}
		case stores.UUID:
			if u, ok := stores.ParseUUID(s); ok && u.Text() == s {
				return u, nil
			}
			return stores.Value{}, errors.New("something other than a uuid in lower case")
		case stores.JSON:
			if j, err := stores.ParseJSON(s); err == nil {
				return j, nil
			}
		}
	}
	return stores.Value{}, fmt.Errorf("something other than %s", kind.A())
}

// maxBinary is how many digits a binary fraction holds exactly.
const maxBinary = 15

// decodeNumeric is decode for a column that may store decimals as numbers; places is how many
// digits after the point are exact there.
func decodeNumeric[C cell](kind stores.Kind, c C, places int) (stores.Value, error) {
	if kind != stores.Decimal || places == 0 || c.Type() != sqlite.TypeInteger && c.Type() != sqlite.TypeFloat {
		return decode(kind, c)
	}
	f, text := c.Float(), ""
	if c.Type() == sqlite.TypeInteger {
		text = strconv.FormatInt(c.Int64(), 10) + "." + strings.Repeat("0", places)
	} else if text = strconv.FormatFloat(f, 'f', places, 64); true {
		if back, err := strconv.ParseFloat(text, 64); err != nil || back != f || digits(text) > maxBinary {
			return stores.Value{}, fmt.Errorf("a number that is not exact to %d digits after the point", places)
		}
	}
	v, ok := stores.ParseDecimal(text)
	if !ok {
		return stores.Value{}, errors.New("something other than a decimal")
	}
	return v, nil
}

// digits returns the number of digits of a decimal, without leading zeros.
func digits(text string) int {
	n := 0
	for _, c := range text {
		if c >= '0' && c <= '9' && (c != '0' || n > 0) {
			n++
		}
	}
	return n
}

// readTime reads the forms that tables of others hold: SQLite's own, with a space and without an
// offset, which means UTC in SQLite, and RFC 3339.
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

// decimalCollation orders text as the decimals that it spells. SQLite itself would order "9"
// after "10", or compare binary fractions.
const decimalCollation = "verbatim_decimal"

// compareDecimals orders texts that are no decimals before all that are, by byte.
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

// canonicalFunction converts a value of a table of others to the form that bind writes, so that
// it can be compared: verbatim_canonical(kind, value, 'table.column', places).
const canonicalFunction = "verbatim_canonical"

func (c *conn) canonicalSpelling(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	v, err := decodeNumeric(stores.Kind(args[0].Int()), args[1], args[3].Int())
	switch {
	case err == nil:
	case c.lenient == asNull:
		return sqlite.Value{}, nil
	case c.lenient == asItIs:
		return args[1], nil
	default:
		return sqlite.Value{}, c.fails("%s holds %w", args[2].Text(), err)
	}
	return textOrNull(v), nil
}

func textOrNull(v stores.Value) sqlite.Value {
	if v.IsNull() {
		return sqlite.Value{}
	}
	return sqlite.TextValue(spelling(v))
}

// unreadable begins the messages of our own functions, and distinguishes them from SQLite's.
const unreadable = "verbatim: "

// fails makes the error of a function of ours, and keeps it for the statement that calls the
// function: zombiezen.com/go/sqlite 1.4.2 makes the function's result of the text of an error (see
// findings/sqlite-function-errors.sh).
func (c *conn) fails(format string, args ...any) error {
	c.failed = &sqliteError{code: sqlite.ResultError, msg: unreadable + fmt.Errorf(format, args...).Error(), at: -1}
	return c.failed
}

// sumFunction adds decimals exactly, where SQLite's own sum adds binary
// fractions: decimal_sum(x), null when there is nothing to add.
const sumFunction = "decimal_sum"

type decimalSum struct {
	c     *conn
	total stores.Value
}

func (c *conn) newSum(sqlite.Context) (sqlite.AggregateFunction, error) {
	return &decimalSum{c: c}, nil
}

func (s *decimalSum) add(op byte, v sqlite.Value) error {
	d, err := decode(stores.Decimal, v)
	if err != nil {
		return s.c.fails("%s was given %w", sumFunction, err)
	}
	switch {
	case d.IsNull():
	case s.total.IsNull():
		s.total = d
	default:
		total, ok := stores.Arith(op, s.total, d)
		if !ok {
			return s.c.fails("the result of %s is out of range", sumFunction)
		}
		s.total = total
	}
	return nil
}

func (s *decimalSum) Step(_ sqlite.Context, args []sqlite.Value) error { return s.add('+', args[0]) }

func (s *decimalSum) WindowInverse(_ sqlite.Context, args []sqlite.Value) error {
	return s.add('-', args[0])
}

func (s *decimalSum) WindowValue(sqlite.Context) (sqlite.Value, error) {
	return textOrNull(s.total), nil
}

func (s *decimalSum) Finalize(sqlite.Context) {}

// unitsFunction converts an integer number of units to the decimal that it stands for, for
// queries: verbatim_units(n, digits).
const unitsFunction = "verbatim_units"

func (c *conn) units(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	n, err := decode(stores.Int, args[0])
	if err == nil {
		n, err = stores.NewUnits(args[1].Int()).Loaded(n)
	}
	if err != nil {
		return sqlite.Value{}, c.fails("a number of units is %w", err)
	}
	return textOrNull(n), nil
}

// ofTextFunction tests a text: Cond.OfText.
const ofTextFunction = "verbatim_of_text"

// register adds the collation and the functions to a connection.
func (c *conn) register(db *sqlite.Conn) error {
	return errors.Join(
		db.SetCollation(decimalCollation, compareDecimals),
		db.CreateFunction(canonicalFunction, &sqlite.FunctionImpl{NArgs: 4, Deterministic: true, Scalar: c.canonicalSpelling}),
		db.CreateFunction("verbatim_readable", &sqlite.FunctionImpl{NArgs: 3, Deterministic: true, Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			if _, err := decodeNumeric(stores.Kind(args[0].Int()), args[1], args[2].Int()); err != nil {
				return sqlite.IntegerValue(0), nil
			}
			return sqlite.IntegerValue(1), nil
		}}),
		db.CreateFunction(ofTextFunction, &sqlite.FunctionImpl{NArgs: 4, Deterministic: true, Scalar: func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			c := stores.Cond{Op: stores.CondOp(args[0].Int()), Lower: args[1].Int() != 0, Value: stores.NewString(args[3].Text())}
			if args[2].Type() != sqlite.TypeText || !c.OfText(args[2].Text()) {
				return sqlite.IntegerValue(0), nil
			}
			return sqlite.IntegerValue(1), nil
		}}),
		db.CreateFunction(unitsFunction, &sqlite.FunctionImpl{NArgs: 2, Deterministic: true, Scalar: c.units}),
		db.CreateFunction(sumFunction, &sqlite.FunctionImpl{NArgs: 1, Deterministic: true, MakeAggregate: c.newSum}),
	)
}
