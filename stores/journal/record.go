package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"verbatim/stores"
	"verbatim/stores/receipt"
)

// A Record is what stores.Entry.Changes holds, taken apart.
type Record struct {
	// Opening names the erasable row in which the values stand that the record
	// only commits to; it is empty when there are none.
	Opening string
	// Call commits to the text of the call where the entry tells it without its
	// values.
	Call receipt.Commitment
	// About are the rows that such a call named. They say whose words it holds.
	About []Row
	// Rows are those that changed. Where a value is sensitive or personal, a
	// commitment stands in its place until the record is opened.
	Rows []receipt.Row
	// Words is the text of the call, once it was opened.
	Words string
}

// A Row names a row for machines.
type Row struct {
	Entity string
	Key    stores.Value
}

// AppendText appends the canonical text of the record: JSON, its keys in the
// order of the alphabet, no white space. A record of nothing is the empty text.
func (r *Record) AppendText(b []byte) []byte {
	if r.Opening == "" && len(r.Rows) == 0 {
		return b
	}
	b = append(b, '[')
	if r.Opening != "" {
		b = append(b, '{')
		if len(r.About) > 0 {
			b = append(b, `"About":[`...)
			for i, row := range r.About {
				if i > 0 {
					b = append(b, ',')
				}
				named := receipt.Row{Entity: row.Entity, Key: row.Key}
				b = named.AppendKept(b)
			}
			b = append(b, `],`...)
		}
		if r.Call != "" {
			b = append(b, `"Call":"`...)
			b = append(append(b, r.Call...), `",`...)
		}
		b = append(b, `"Op":"erasable","Opening":`...)
		b = stores.AppendJSONString(b, r.Opening)
		b = append(b, '}')
	}
	for i := range r.Rows {
		if i > 0 || r.Opening != "" {
			b = append(b, ',')
		}
		b = r.Rows[i].AppendKept(b)
	}
	return append(b, ']')
}

// Parse reads what AppendText wrote, and nothing else: an unknown word, another
// order or a blank is an error, so that one record has one text.
func Parse(text string) (Record, error) {
	var r Record
	if text == "" {
		return r, nil
	}
	rest := strings.TrimPrefix(text, "[")
	if !strings.HasPrefix(rest, `{"Entity"`) {
		var head struct {
			About         []json.RawMessage
			Call, Opening string
			Op            string
		}
		d := json.NewDecoder(strings.NewReader(rest))
		d.DisallowUnknownFields()
		if err := d.Decode(&head); err != nil {
			return r, fmt.Errorf("the changes of a journal entry cannot be read: %w", err)
		}
		r.Opening, r.Call = head.Opening, receipt.Commitment(head.Call)
		for _, a := range head.About {
			row, _, err := receipt.ParseRow(string(a))
			if err != nil {
				return r, fmt.Errorf("a journal entry names a row that cannot be read: %w", err)
			}
			r.About = append(r.About, Row{row.Entity, row.Key})
		}
		rest = strings.TrimPrefix(rest[d.InputOffset():], ",")
	}
	for strings.HasPrefix(rest, "{") {
		row, after, err := receipt.ParseRow(rest)
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
		r.Rows, rest = append(r.Rows, row), strings.TrimPrefix(after, ",")
	}
	if !bytes.Equal(r.AppendText(nil), []byte(text)) {
		return r, errors.New("the changes of a journal entry are not written as the journal writes them")
	}
	return r, nil
}

// kindOf reads the name of a kind; without one it is usual.
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
