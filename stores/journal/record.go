package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A Record is the decoded text of stores.Entry.Changes.
type Record struct {
	// Opening is the id of the erasable row with the values that the record only commits to; it
	// is empty if there are none.
	Opening string
	// Call commits to the text of the call, if the entry has that text without its values.
	Call receipt.Commitment
	// About are the rows that such a call named: its text concerns them.
	About []Row
	// Rows are the rows that changed. A sensitive or personal value is replaced by a commitment
	// until the record is opened.
	Rows []receipt.Row
	// Jobs are the ids of the jobs that the call scheduled, and Instead commits to the jobs that
	// it dropped, each as JobValue writes it. Both are kept for calls that can be undone, and so
	// is Sent: the recipients of their notices.
	Jobs    []string
	Instead []receipt.Commitment
	Sent    []string
	// Erased lists the entries from which a redaction erased values, as in "4 9-12"; ErasedSelf says
	// that values of the entry itself were never kept.
	Erased string
	// After is the entry of an earlier attempt at the same call, of which nobody knew whether it was
	// done when somebody agreed to do it again.
	After int64
	// Words is the text of the call, and Dropped the values of Instead, once the record was
	// opened. Erased values are null.
	Words   string
	Dropped []stores.Value
}

// ErasedSelf is the Record.Erased of an entry about values that were forgotten: it commits to them, and
// nothing opens the commitments.
const ErasedSelf = "self"

// A Row identifies a row for machines.
type Row struct {
	Entity string
	Key    stores.Value
	// Was is the former name of its entity, for searching entries.
	Was string
}

// RowOf identifies a row of an entity, by its former name too if it had one.
func RowOf(e *stores.Entity, key stores.Value) *Row {
	return &Row{Entity: e.Name, Key: key, Was: e.Was}
}

// is reports whether r is the row of an entity with a key.
func (r *Row) is(entity string, key stores.Value) bool {
	return r.Key == key && (r.Entity == entity || r.Was != "" && r.Was == entity)
}

// version is the version of the text of a record. No other is read.
const version = 1

// bare begins a record without commitments.
var bare = fmt.Sprintf(`[{"v":%d}`, version)

// AppendText appends the canonical text of the record: a JSON list without white space, first the
// version and the commitments, then the rows. An empty record is the empty text.
func (r *Record) AppendText(b []byte) []byte {
	if r.Opening == "" && len(r.Rows) == 0 && r.Erased == "" && len(r.Jobs)+len(r.Sent) == 0 && r.After == 0 {
		return b
	}
	b = append(b, bare...)
	member := func(name string) { b = append(append(append(b[:len(b)-1], `,"`...), name...), `":`...) }
	texts := func(name string, all []stores.Value) {
		if len(all) > 0 {
			member(name)
			b = append(append(b, stores.NewList(all...).Text()...), '}')
		}
	}
	if r.After != 0 {
		member("After")
		b = append(strconv.AppendInt(b, r.After, 10), '}')
	}
	if r.Erased != "" {
		member("Erased")
		b = append(stores.AppendJSONString(b, r.Erased), '}')
	}
	if r.Opening != "" && len(r.About) > 0 {
		member("About")
		b = append(b, '[')
		for i, row := range r.About {
			if i > 0 {
				b = append(b, ',')
			}
			named := receipt.Row{Entity: row.Entity, Key: row.Key}
			b = named.AppendKept(b)
		}
		b = append(b, "]}"...)
	}
	if r.Opening != "" && r.Call != "" {
		member("Call")
		b = append(append(append(b, '"'), r.Call...), `"}`...)
	}
	texts("Instead", valuesOf(r.Instead))
	texts("Jobs", valuesOf(r.Jobs))
	if r.Opening != "" {
		member("Opening")
		b = append(stores.AppendJSONString(b, r.Opening), '}')
	}
	texts("Sent", valuesOf(r.Sent))
	for i := range r.Rows {
		b = r.Rows[i].AppendKept(append(b, ','))
	}
	return append(b, ']')
}

func valuesOf[T ~string](all []T) []stores.Value {
	values := make([]stores.Value, len(all))
	for i, text := range all {
		values[i] = stores.NewString(string(text))
	}
	return values
}

// Parse reads what AppendText wrote, and nothing else: an unknown word, another order or a blank
// is an error, so that each record has only one text.
func Parse(text string) (Record, error) {
	var r Record
	if text == "" {
		return r, nil
	}
	rest, isBare := strings.CutPrefix(text, bare)
	if !isBare {
		rest = strings.TrimPrefix(text, "[")
		var is struct{ V int }
		var head struct {
			V             int
			After         int64
			Erased        string
			About         []json.RawMessage
			Call, Opening string
			Jobs, Sent    []string
			Instead       []receipt.Commitment
		}
		d := json.NewDecoder(strings.NewReader(rest))
		err := d.Decode(&is) // an unknown version may have unknown members
		if err == nil && is.V != version {
			return r, fmt.Errorf("the changes of a journal entry are of version %d, and this program reads version %d: read them with the version that wrote them", is.V, version)
		}
		if err == nil {
			d = json.NewDecoder(strings.NewReader(rest))
			d.DisallowUnknownFields()
			err = d.Decode(&head)
		}
		if err != nil {
			return r, fmt.Errorf("the changes of a journal entry cannot be read: %w", err)
		}
		r.Opening, r.Call, r.Erased = head.Opening, receipt.Commitment(head.Call), head.Erased
		r.After = head.After
		r.Jobs, r.Instead, r.Sent = head.Jobs, head.Instead, head.Sent
		for _, a := range head.About {
			row, _, err := receipt.ParseRow(string(a))
			if err != nil {
				return r, fmt.Errorf("a journal entry names a row that cannot be read: %w", err)
			}
			r.About = append(r.About, Row{Entity: row.Entity, Key: row.Key})
		}
		rest = rest[d.InputOffset():]
	}
	for strings.HasPrefix(rest, ",{") {
		row, after, err := receipt.ParseRow(rest[1:])
		if err != nil {
			return r, fmt.Errorf("the changes of a journal entry cannot be read: %w", err)
		}
		switch row.Op {
		case receipt.Inserted, receipt.Updated, receipt.Deleted, receipt.Found, receipt.Redacted:
		default:
			return r, fmt.Errorf("a journal entry tells of a change of an unknown kind: %q", row.Op)
		}
		if row.Key.IsNull() {
			return r, errors.New("a journal entry tells of a row without its key")
		}
		r.Rows, rest = append(r.Rows, row), after
	}
	if !bytes.Equal(r.AppendText(nil), []byte(text)) {
		return r, errors.New("the changes of a journal entry are not written as the journal writes them")
	}
	return r, nil
}

// kindOf reads the name of a kind; "" stands for the usual one.
func kindOf(name string, usual stores.Kind) (stores.Kind, bool) {
	if name == "" {
		return usual, true
	}
	for k := stores.Null; k <= stores.JSON; k++ {
		if k.String() == name && k != usual {
			return k, true
		}
	}
	return stores.Null, false
}

// Added returns the text of a Record of new rows that refer only to one another, for rows that are
// added outside any call and hold nothing sensitive or personal.
func Added(changes []stores.Change) string {
	var told Record
	for i := range changes {
		c := &changes[i]
		row := receipt.Row{Op: receipt.Inserted, Entity: c.Entity.Name, Table: c.Entity.Table, Key: c.Key}
		for _, set := range c.Set {
			f := &c.Entity.Fields[set.Field]
			after := receipt.Value{Value: set.Value}
			if f.Ref != nil {
				after.Name = "new"
			}
			row.Fields = append(row.Fields, receipt.Field{Name: f.Name, Kind: f.Holds(), After: after})
		}
		told.Rows = append(told.Rows, row)
	}
	return string(told.AppendText(nil))
}
