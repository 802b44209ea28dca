package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"verbatim/stores"
)

// A Record is what stores.Entry.Changes holds, taken apart.
type Record struct {
	// Opening names the erasable row in which the values stand that the record
	// only commits to; it is empty when there are none.
	Opening string
	// Call commits to the text of the call where the entry tells it without its
	// values.
	Call Commitment
	// About are the rows that such a call named. They say whose words it holds.
	About   []Row
	Changes []Change
	// Words is the text of the call, once it was opened.
	Words string
}

// A Row names a row for machines.
type Row struct {
	Entity string
	Key    stores.Value
}

// What a Change did.
const (
	Inserted = "insert"
	Updated  = "update"
	Deleted  = "delete"
	// Found tells of a row that was there already when the journal came to know
	// it: see Baseline.
	Found = "found"
	// Redacted names the row whose values were erased from the entries before.
	Redacted = "redact"
)

// A Change is one row change as an entry tells it. Of a row that was added or
// deleted it lists every field but the key that held a value.
type Change struct {
	Op            string
	Entity, Table string
	Key           stores.Value
	Name          string     // what the row was called in the session, "@pierre-sow"
	NameIs        Commitment // instead of Name, where that says something of a person
	Fields        []Field
}

// A Field is one field of a Change. Where its values are sensitive or personal,
// BeforeIs and AfterIs stand in the place of Before and After until the record
// is opened. No value is null, which is told by leaving it out.
type Field struct {
	Name               string
	Kind               stores.Kind
	Before, After      stores.Value
	BeforeIs, AfterIs  Commitment
	Origin             string // what the field is marked with after it, see stores.Assign
	Sensitive          bool   // not to be shown to people
	BeforeGone, IsGone bool   // of an opened record: the value was erased
}

// AppendText appends the canonical text of the record: JSON, its keys in the
// order of the alphabet, no white space. A record of nothing is the empty text.
func (r *Record) AppendText(b []byte) []byte {
	if r.Opening == "" && len(r.Changes) == 0 {
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
				b = append(b, `{"Entity":`...)
				b = stores.AppendJSONString(b, row.Entity)
				b = appendKey(b, row.Key)
				b = append(b, '}')
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
	for i := range r.Changes {
		if i > 0 || r.Opening != "" {
			b = append(b, ',')
		}
		b = r.Changes[i].append(b)
	}
	return append(b, ']')
}

func (c *Change) append(b []byte) []byte {
	b = append(b, `{"Entity":`...)
	b = stores.AppendJSONString(b, c.Entity)
	b = append(b, `,"Fields":[`...)
	for i := range c.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.Fields[i].append(b)
	}
	b = append(b, ']')
	b = appendKey(b, c.Key)
	if c.Name != "" && c.NameIs == "" {
		b = append(b, `,"Name":`...)
		b = stores.AppendJSONString(b, c.Name)
	}
	if c.NameIs != "" {
		b = append(b, `,"NameIs":"`...)
		b = append(append(b, c.NameIs...), '"')
	}
	b = append(b, `,"Op":"`...)
	b = append(append(b, c.Op...), `","Table":`...)
	b = stores.AppendJSONString(b, c.Table)
	return append(b, '}')
}

func appendKey(b []byte, key stores.Value) []byte {
	b = append(b, `,"Key":`...)
	b = key.AppendJSON(b)
	if key.Kind() != stores.UUID {
		b = append(b, `,"Kind":"`...)
		b = append(append(b, key.Kind().String()...), '"')
	}
	return b
}

func (f *Field) append(b []byte) []byte {
	b = append(b, '{')
	side := func(name string, v stores.Value, is Commitment) {
		switch {
		case is != "":
			b = append(append(b, '"'), name...)
			b = append(append(append(b, `Is":"`...), is...), `",`...)
		case !v.IsNull():
			b = append(append(b, '"'), name...)
			b = append(v.AppendJSON(append(b, `":`...)), ',')
		}
	}
	side("After", f.After, f.AfterIs)
	side("Before", f.Before, f.BeforeIs)
	b = append(b, `"Field":`...)
	b = stores.AppendJSONString(b, f.Name)
	if f.Kind != stores.String {
		b = append(b, `,"Kind":"`...)
		b = append(append(b, f.Kind.String()...), '"')
	}
	if f.Origin != "" {
		b = append(b, `,"Origin":`...)
		b = stores.AppendJSONString(b, f.Origin)
	}
	if f.Sensitive {
		b = append(b, `,"Sensitive":true`...)
	}
	return append(b, '}')
}

// Parse reads what AppendText wrote, and nothing else: an unknown word, another
// order or a blank is an error, so that one record has one text.
func Parse(text string) (Record, error) {
	var r Record
	if text == "" {
		return r, nil
	}
	var raw []struct {
		About []struct {
			Entity string
			Key    json.RawMessage
			Kind   string
		}
		Call, Opening              string
		Entity, Kind, Name, NameIs string
		Op, Table                  string
		Key                        json.RawMessage
		Fields                     []struct {
			After, Before     json.RawMessage
			AfterIs, BeforeIs string
			Field, Kind       string
			Origin            string
			Sensitive         bool
		}
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&raw); err != nil {
		return r, fmt.Errorf("the changes of a journal entry cannot be read: %w", err)
	}
	for i, c := range raw {
		if c.Op == "erasable" && i == 0 {
			r.Opening, r.Call = c.Opening, Commitment(c.Call)
			for _, a := range c.About {
				key, err := parseKey(a.Key, a.Kind)
				if err != nil {
					return r, err
				}
				r.About = append(r.About, Row{a.Entity, key})
			}
			continue
		}
		change := Change{Op: c.Op, Entity: c.Entity, Table: c.Table, Name: c.Name, NameIs: Commitment(c.NameIs)}
		switch c.Op {
		case Inserted, Updated, Deleted, Found, Redacted:
		default:
			return r, fmt.Errorf("a journal entry tells of a change of an unknown kind: %q", c.Op)
		}
		var err error
		if change.Key, err = parseKey(c.Key, c.Kind); err != nil {
			return r, err
		}
		for _, f := range c.Fields {
			kind, ok := kindOf(f.Kind, stores.String)
			if !ok {
				return r, fmt.Errorf("a journal entry tells of a value of an unknown kind: %q", f.Kind)
			}
			field := Field{Name: f.Field, Kind: kind, BeforeIs: Commitment(f.BeforeIs), AfterIs: Commitment(f.AfterIs), Origin: f.Origin, Sensitive: f.Sensitive}
			for _, side := range []struct {
				to  *stores.Value
				raw json.RawMessage
			}{{&field.Before, f.Before}, {&field.After, f.After}} {
				if len(side.raw) == 0 {
					continue
				}
				*side.to, ok = stores.FromJSON(kind, side.raw)
				if kind == stores.JSON { // in which null is a value
					v, err := stores.ParseJSON(string(side.raw))
					*side.to, ok = v, err == nil
				}
				if !ok || side.to.IsNull() {
					return r, fmt.Errorf("a journal entry holds a value of %s that is no %s", f.Field, kind)
				}
			}
			change.Fields = append(change.Fields, field)
		}
		r.Changes = append(r.Changes, change)
	}
	if !bytes.Equal(r.AppendText(nil), []byte(text)) {
		return r, fmt.Errorf("the changes of a journal entry are not written as the journal writes them")
	}
	return r, nil
}

func parseKey(raw json.RawMessage, kind string) (stores.Value, error) {
	k, ok := kindOf(kind, stores.UUID)
	if ok {
		var key stores.Value
		if key, ok = stores.FromJSON(k, raw); ok && !key.IsNull() {
			return key, nil
		}
	}
	return stores.Value{}, fmt.Errorf("a journal entry names a row by a key that cannot be read")
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
