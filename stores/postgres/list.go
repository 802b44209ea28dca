package postgres

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"verbatim/stores"
	"verbatim/stores/sqlcore"
)

// The related rows of each row that a Find returns come with it, as an array of text that holds
// them one after another: one statement, and so one snapshot and one round trip. For each row in
// turn the server uses the index on the reference, as it does for a count.

// A listed is one list of a Find, with the state of reading it.
type listed struct {
	*stores.List
	kinds []stores.Kind
	most  int // rows, in all of the lists together
	some  int // rows read so far
	as    row // the formats in which its values are read
	rows  [][][]stores.Value
	ends  []*stores.Field // parallel to kinds, or nil
}

// list writes the column of a list.
func (q *finder) list(t *text, l *stores.List, most int) (listed, error) {
	found := listed{List: l, most: most, ends: l.Ends()}
	if err := l.Check(q.Root); err != nil {
		return found, err
	}
	in := newFinder(q.view, l.Entity, t.Alias(), t.Part())
	t.Add("ARRAY(SELECT ARRAY[")
	for i, p := range l.Select {
		if i > 0 {
			t.Add(",")
		}
		kind, err := in.selected(t.Add("("), p)
		if err != nil {
			return found, err
		}
		found.kinds = append(found.kinds, kind)
		found.as.fields = append(found.as.fields, pgconn.FieldDescription{Format: pgtype.TextFormatCode, DataTypeOID: spellings[kind]})
		t.Add(")::text")
	}
	where := t.Part()
	if _, err := in.Path(where, l.By); err != nil {
		return found, err
	}
	where.Add(" = ", q.Datum(q.Root, q.At, q.Root.Key))
	if len(l.By.Steps) == 0 && l.Entity.Vouches(l.By.Field) {
		// A related row has the owner of the row that it belongs to, and that row is visible.
		sqlcore.Itself(where, in, l.Entity, func(f int) string { return in.Datum(l.Entity, in.At, f) })
	} else {
		sqlcore.Within(where, in, l.Entity, in.At, false)
	}
	if l.Where != nil {
		if err := in.Cond(where.Add(" AND "), l.Where, false); err != nil {
			return found, err
		}
	}
	order := t.Part()
	if err := in.Order(order, l.Order); err != nil {
		return found, err
	}
	t.Add("] FROM ", table(l.Entity), " ", in.At).Join(in.From).Add(" WHERE ").Join(where).Join(order)
	t.Add(" LIMIT ").Arg(strconv.Itoa(most+1), "::bigint").Add(")")
	return found, nil
}

// read reads the related rows of the next row of f.
func (l *listed) read(raw row, at int, f *stores.Find) error {
	items, err := raw.items(at)
	width := len(l.kinds)
	if err != nil || len(items)%width != 0 {
		return fmt.Errorf("a list of %s cannot be read: %w", l.Entity.Name, stores.ErrInvalid)
	}
	n := len(items) / width
	if l.some += n; l.some > l.most {
		return fmt.Errorf("more than %d rows: %w", l.most, stores.ErrLimit)
	}
	var rows [][]stores.Value
	if n > 0 {
		rows = make([][]stores.Value, n)
	}
	block := make([]stores.Value, len(items))
	l.as.texts = raw.texts
	n = 0
	for ; len(items) > 0; items = items[width:] {
		l.as.raw = items[:width]
		row := block[:width:width]
		ok, err := l.readRow(row, f)
		if err != nil {
			return err
		}
		if ok {
			rows[n], block = row, block[width:]
			n++
		}
	}
	l.rows = append(l.rows, rows[:n])
	return nil
}

// readRow reads one related row. It returns false for one that is left out.
func (l *listed) readRow(row []stores.Value, f *stores.Find) (ok bool, err error) {
	for j, kind := range l.kinds {
		if b := l.as.raw[j]; kind == stores.Bool && len(b) > 1 {
			l.as.raw[j] = b[:1] // true or false
		}
		if row[j], err = l.as.decode(j, kind); err == nil {
			row[j], err = stores.EndAt(l.ends, j).Loaded(row[j])
		}
		if err != nil {
			var key stores.Value
			if at := l.KeyAt(); at >= 0 {
				key, _ = l.as.decode(at, l.kinds[at])
			}
			return false, l.Leave(f.Unreadable, j, key, err)
		}
	}
	return true, nil
}

// spellings are the types whose text a value of a kind is read from.
var spellings = map[stores.Kind]uint32{
	stores.Bool: pgtype.BoolOID, stores.Int: pgtype.Int8OID, stores.Duration: pgtype.Int8OID, stores.Decimal: pgtype.NumericOID,
	stores.Date: pgtype.DateOID, stores.Time: pgtype.TimestamptzOID, stores.UUID: pgtype.UUIDOID, stores.JSON: pgtype.JSONOID, stores.String: pgtype.TextOID,
}

// items reads a column that holds an array of text, of one or more dimensions: it returns the
// items one after another, nil for a null.
func (r row) items(i int) ([][]byte, error) {
	b := r.raw[i]
	if b == nil {
		return nil, nil
	}
	if !r.binary(i) {
		var texts pgtype.FlatArray[*string]
		if err := arrays().Scan(r.fields[i].DataTypeOID, r.fields[i].Format, b, &texts); err != nil {
			return nil, err
		}
		items := make([][]byte, len(texts))
		for j, s := range texts {
			if s != nil {
				items[j] = []byte(*s)
			}
		}
		return items, nil
	}
	// The binary form: the number of dimensions, whether there are nulls, the type of the items,
	// the length and the lower bound of each dimension; then each item after its length, which is
	// negative for null.
	word := func() int {
		if len(b) < 4 {
			b = nil
			return -1
		}
		n := int(int32(binary.BigEndian.Uint32(b)))
		b = b[4:]
		return n
	}
	dimensions := word()
	word()
	word()
	n := min(1, dimensions)
	for range dimensions {
		n *= word()
		word()
	}
	if n < 0 || n > len(b)/4 {
		return nil, errNoArray
	}
	items := make([][]byte, n)
	for j := range items {
		switch size := word(); {
		case size > len(b) || b == nil:
			return nil, errNoArray
		case size >= 0:
			items[j], b = b[:size:size], b[size:]
		}
	}
	return items, nil
}

var errNoArray = fmt.Errorf("no array")
