package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"verbatim/stores"
)

// How our tables store values:
//
//	boolean   boolean
//	integer   bigint
//	decimal   numeric, which keeps the digits after the point
//	string    text COLLATE "C", so that order is that of bytes
//	date      date
//	datetime  timestamp with time zone
//	duration  bigint, microseconds: an interval's months have no length
//	uuid      uuid
//	json      json, canonical: jsonb would write 1e5 as 100000

// typeOf returns the type in which values of a kind are compared.
func typeOf(kind stores.Kind) string {
	switch kind {
	case stores.Bool:
		return "boolean"
	case stores.Int, stores.Duration:
		return "bigint"
	case stores.Decimal:
		return "numeric"
	case stores.Date:
		return "date"
	case stores.Time:
		return "timestamptz"
	case stores.UUID:
		return "uuid"
	}
	return "text"
}

// encode writes a value as PostgreSQL reads it. Every argument is text with the name of its type,
// which works in every mode of the protocol.
func encode(v stores.Value) any {
	switch v.Kind() {
	case stores.Null:
		return nil
	case stores.Duration:
		return strconv.FormatInt(v.Duration().Microseconds(), 10)
	}
	return v.Text()
}

// array writes values as a PostgreSQL array.
func array(values []stores.Value) string {
	items := make([]any, len(values))
	for i, v := range values {
		items[i] = encode(v)
	}
	return arrayOf(items)
}

func arrayOf(items []any) string {
	size := 2
	for _, item := range items {
		text, _ := item.(string)
		size += len(text) + len(`"",`) + 1
	}
	var b strings.Builder
	b.Grow(size)
	b.WriteByte('{')
	for i, item := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		text, ok := item.(string)
		if !ok {
			b.WriteString("NULL")
			continue
		}
		b.WriteByte('"')
		for {
			at := strings.IndexAny(text, `"\\`)
			if at < 0 {
				break
			}
			b.WriteString(text[:at])
			b.WriteByte('\\')
			b.WriteByte(text[at])
			text = text[at+1:]
		}
		b.WriteString(text)
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

// A row is one returned row, not yet decoded. It is valid until the next is read.
type row struct {
	raw    [][]byte
	fields []pgconn.FieldDescription
	texts  *texts // where short texts are allocated; nil allocates each separately
}

// A texts allocates the short texts of an answer together, many in one allocation. A text that is
// kept for long keeps only a few others in memory.
type texts struct{ strings.Builder }

const (
	shortText = 64
	someTexts = 1024
)

func (t *texts) add(b []byte) string {
	if t == nil || len(b) > shortText {
		return string(b)
	}
	if t.Cap()-t.Len() < len(b) {
		size := max(4*shortText, min(someTexts, 2*t.Cap()))
		t.Builder = strings.Builder{}
		t.Grow(size)
	}
	n := t.Len()
	t.Write(b)
	return t.String()[n:]
}

// Days and microseconds from 1970-01-01 to 2000-01-01, which is PostgreSQL's epoch.
const (
	epochDays   = 10957
	epochMicros = epochDays * 86400 * 1e6
)

func (t *texts) addUUID(b [16]byte) string {
	id := [36]byte{8: '-', 13: '-', 18: '-', 23: '-'}
	hex.Encode(id[:8], b[:4])
	hex.Encode(id[9:13], b[4:6])
	hex.Encode(id[14:18], b[6:8])
	hex.Encode(id[19:23], b[8:10])
	hex.Encode(id[24:], b[10:])
	return t.add(id[:])
}

// decode reads a column of a kind. The error does not show the value.
func (r row) decode(i int, kind stores.Kind) (stores.Value, error) {
	b := r.raw[i]
	if b == nil {
		return stores.Value{}, nil
	}
	fail := func() (stores.Value, error) {
		return stores.Value{}, fmt.Errorf("something other than %s", kind.A())
	}
	given := func(v stores.Value, ok bool) (stores.Value, error) {
		if !ok {
			return fail()
		}
		return v, nil
	}
	binary := r.binary(i)
	switch oid := r.fields[i].DataTypeOID; oid {
	case pgtype.BoolOID:
		on := len(b) == 1 && (b[0] == 1 || b[0] == 't')
		return given(stores.NewBool(on), kind == stores.Bool)
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		n, ok := integer(b, binary)
		switch {
		case !ok:
			return fail()
		case kind == stores.Int:
			return stores.NewInt(n), nil
		case kind == stores.Decimal:
			return given(stores.ParseDecimal(strconv.FormatInt(n, 10)))
		case kind == stores.Duration && n <= math.MaxInt64/1000 && n >= math.MinInt64/1000:
			return stores.NewDuration(time.Duration(n) * time.Microsecond), nil
		}
		return fail()
	case pgtype.NumericOID:
		s := string(b)
		if binary {
			s = numeric(b)
		}
		switch kind {
		case stores.Decimal:
			return given(stores.ParseDecimal(s))
		case stores.Int: // sum of integers
			return given(stores.ParseInt(s))
		}
		return fail()
	case pgtype.Float4OID, pgtype.Float8OID:
		if kind == stores.Decimal {
			return stores.Value{}, errors.New("a binary fraction, which is not exact, instead of a numeric")
		}
		return fail()
	case pgtype.DateOID:
		if kind != stores.Date {
			return fail()
		}
		if !binary {
			return given(stores.ParseDate(string(b)))
		}
		if len(b) != 4 {
			return fail()
		}
		v := stores.NewDays(int64(int32(uint32(b[0])<<24|uint32(b[1])<<16|uint32(b[2])<<8|uint32(b[3]))) + epochDays)
		y := v.Time().Year()
		return given(v, y >= 1 && y <= 9999)
	case pgtype.TimestamptzOID, pgtype.TimestampOID:
		if kind != stores.Time {
			return fail()
		}
		if !binary {
			s := strings.Replace(string(b), " ", "T", 1)
			s = strings.TrimSuffix(s, "+00") // TimeZone is UTC
			return given(stores.ParseTime(s + "Z"))
		}
		n, ok := integer(b, true)
		if !ok || n > math.MaxInt64-epochMicros {
			return fail()
		}
		v := stores.NewTime(time.UnixMicro(n + epochMicros))
		y := v.Time().Year()
		return given(v, y >= 1 && y <= 9999)
	case pgtype.UUIDOID:
		if kind != stores.UUID && kind != stores.String {
			return fail()
		}
		var s string
		switch {
		case !binary:
			s = r.texts.add(b)
		case len(b) != 16:
			return fail()
		default:
			s = r.texts.addUUID([16]byte(b))
		}
		if kind == stores.String {
			return stores.NewString(s), nil
		}
		return given(stores.ParseUUID(s))
	case pgtype.JSONOID, pgtype.JSONBOID:
		if oid == pgtype.JSONBOID && binary && len(b) > 0 {
			b = b[1:] // the version
		}
		if kind != stores.JSON {
			return fail()
		}
		v, err := stores.ParseJSON(string(b))
		return given(v, err == nil)
	case pgtype.TextArrayOID, pgtype.VarcharArrayOID:
		var items []*string
		if kind != stores.JSON || arrays().Scan(oid, r.fields[i].Format, b, &items) != nil {
			return fail()
		}
		values := make([]stores.Value, len(items))
		for j, s := range items {
			if s != nil {
				values[j] = stores.NewString(*s)
			}
		}
		return stores.NewList(values...), nil
	case pgtype.TextOID, pgtype.VarcharOID, pgtype.BPCharOID, pgtype.NameOID, pgtype.UnknownOID:
	default:
		// An enumeration, citext and the like are text in both formats; any other value here does
		// not parse as its kind.
		if kind != stores.String || binary {
			return fail()
		}
	}
	switch kind {
	case stores.String:
		return stores.NewString(r.texts.add(b)), nil
	case stores.JSON:
		v, err := stores.ParseJSON(string(b))
		return given(v, err == nil)
	case stores.Date, stores.UUID:
		v, ok := stores.Parse(kind, string(b))
		return given(v, ok && v.Text() == string(b))
	}
	return fail()
}

// arrays encodes arrays.
var arrays = sync.OnceValue(pgtype.NewMap)

// field is decode with the field's name in the error.
func (r row) field(i int, e *stores.Entity, field int) (stores.Value, error) {
	v, err := r.decode(i, e.Fields[field].Keeps())
	if err == nil {
		v, err = e.Fields[field].Loaded(v)
	}
	if err != nil {
		u := &stores.Unreadable{Entity: e, Field: e.Name + "." + e.Fields[field].Name, Why: err.Error()}
		u.Key, _ = r.decode(e.Key, e.Fields[e.Key].Kind)
		return v, u
	}
	return v, nil
}

// binary reports whether a column came in the binary format.
func (r row) binary(i int) bool { return r.fields[i].Format == pgtype.BinaryFormatCode }

// str and num read columns of our tables, whose types are known.
func (r row) str(i int) string { return string(r.raw[i]) }

func (r row) num(i int) int64 {
	n, _ := integer(r.raw[i], r.binary(i))
	return n
}

func (r row) yes(i int) bool {
	return len(r.raw[i]) == 1 && (r.raw[i][0] == 1 || r.raw[i][0] == 't')
}

// bytes reads a bytea.
func (r row) bytes(i int) []byte {
	b := r.raw[i]
	if r.binary(i) {
		return b
	}
	b, err := hex.DecodeString(strings.TrimPrefix(string(b), `\x`))
	if err != nil {
		return nil
	}
	return b
}

func integer(b []byte, bin bool) (int64, bool) {
	if !bin {
		n, err := strconv.ParseInt(string(b), 10, 64)
		return n, err == nil
	}
	switch len(b) {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b))), true
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b))), true
	case 8:
		return int64(binary.BigEndian.Uint64(b)), true
	}
	return 0, false
}

// numeric writes PostgreSQL's binary numeric in digits, "" if it is no number. The format is four
// 16-bit integers — the number of groups of four digits, the weight of the first in powers of ten
// thousand, the sign, and the number of digits after the point — and then the groups.
func numeric(b []byte) string {
	if len(b) < 8 {
		return ""
	}
	word := func(i int) int { return int(int16(binary.BigEndian.Uint16(b[2*i:]))) }
	n, weight, sign, scale := word(0), word(1), uint16(word(2)), word(3)
	if len(b) != 8+2*n || sign != 0 && sign != 0x4000 || scale < 0 {
		return "" // not a number, or infinite
	}
	group := func(i int) int {
		if i < 0 || i >= n {
			return 0
		}
		return word(4 + i)
	}
	var s []byte
	if sign != 0 {
		s = append(s, '-')
	}
	if weight < 0 {
		s = append(s, '0')
	}
	for i := 0; i <= weight; i++ {
		if i == 0 {
			s = strconv.AppendInt(s, int64(group(0)), 10)
			continue
		}
		s = fmt.Appendf(s, "%04d", group(i))
	}
	if scale > 0 {
		s = append(s, '.')
		from := len(s)
		for i := weight + 1; len(s)-from < scale; i++ {
			s = fmt.Appendf(s, "%04d", group(i))
		}
		s = s[:from+scale]
	}
	return string(s)
}
