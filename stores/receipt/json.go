package receipt

import (
	"bytes"
	"encoding/json"
	"fmt"

	"verbatim/stores"
)

// The outside form: what json.Marshal writes, and what --json prints. It has names
// and no keys, and nothing of a sensitive value. Fields are only ever added to it.

// MarshalJSON writes the receipt as programs outside are shown it: with its totals,
// without keys. What was done without anybody having agreed to a preview has no ID.
func (r *Receipt) MarshalJSON() ([]byte, error) {
	if !r.Done {
		r.Sealed()
	}
	t := r.Totals()
	return marshal(struct {
		ID      string  `json:"id,omitempty"`
		Calls   []Call  `json:"calls"`
		Tables  []Table `json:"tables"`
		Rows    int     `json:"rows"`
		Notices int     `json:"notices"`
		Jobs    int     `json:"jobs"`
		Asks    []Ask   `json:"asks"`
	}{r.ID, some(r.Calls), some(t.Tables), t.Rows, t.Notices, t.Jobs, some(r.Asks())})
}

// marshal leaves it to whoever prints it all whether signs of HTML are spelt out.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// some is a list that JSON writes as [] when it is empty.
func some[T any](all []T) []T {
	if all == nil {
		return []T{}
	}
	return all
}

// MarshalJSON implements json.Marshaler.
func (c Call) MarshalJSON() ([]byte, error) {
	type call Call // whose tags say the rest
	c.Rows, c.Notices, c.Asks = some(c.Rows), some(c.Notices), some(c.Asks)
	return marshal(call(c))
}

// MarshalJSON implements json.Marshaler.
func (r Row) MarshalJSON() ([]byte, error) {
	type row Row
	r.Fields = some(r.Fields)
	return marshal(row(r))
}

// MarshalJSON implements json.Marshaler.
func (f Field) MarshalJSON() ([]byte, error) {
	out := struct {
		Name      string `json:"field"`
		Column    string `json:"column"`
		Before    *Value `json:"before,omitempty"`
		After     *Value `json:"after,omitempty"`
		Sensitive bool   `json:"sensitive,omitempty"`
		From      string `json:"from,omitempty"`
		Origin    string `json:"origin,omitempty"`
		Was       string `json:"was,omitempty"`
		File      *File  `json:"file,omitempty"`
	}{f.Name, f.Column, &f.Before, &f.After, f.Sensitive, f.From, f.Origin, f.Was, f.File}
	if f.Sensitive {
		out.Before, out.After = nil, nil
	}
	return marshal(out)
}

// MarshalJSON implements json.Marshaler.
func (s Setting) MarshalJSON() ([]byte, error) {
	out := struct {
		Name      string `json:"name"`
		Before    *Value `json:"before,omitempty"`
		After     *Value `json:"after,omitempty"`
		Sensitive bool   `json:"sensitive,omitempty"`
		From      string `json:"from,omitempty"`
		Origin    string `json:"origin,omitempty"`
	}{s.Name, &s.Before, &s.After, s.Sensitive, s.From, s.Origin}
	if s.Sensitive {
		out.Before, out.After = nil, nil
	}
	return marshal(out)
}

// MarshalJSON implements json.Marshaler.
func (e Errand) MarshalJSON() ([]byte, error) {
	type errand Errand
	e.Sent = some(e.Sent)
	return marshal(errand(e))
}

// MarshalJSON implements json.Marshaler.
func (s Sent) MarshalJSON() ([]byte, error) {
	out := struct {
		Key       string        `json:"name"`
		Value     *stores.Value `json:"value,omitempty"`
		Sensitive bool          `json:"sensitive,omitempty"`
		From      string        `json:"from,omitempty"`
	}{s.Key, &s.Value, s.Sensitive, s.From}
	if s.Sensitive {
		out.Value = nil
	}
	return marshal(out)
}

// MarshalJSON implements json.Marshaler.
func (r Result) MarshalJSON() ([]byte, error) {
	size := 64
	for i := range r.Rows {
		for j := range r.Rows[i] {
			size += len(r.Rows[i][j].Text()) + 4
		}
	}
	texts := func(c *coder, name string, all []string) {
		c.member(name, true)
		items(c, &all, c.word)
	}
	c := coder{b: make([]byte, 0, size)}
	c.object(func() {
		texts(&c, "columns", r.Columns)
		if len(r.Owners) > 0 {
			texts(&c, "owners", r.Owners)
		}
		c.member("rows", true)
		items(&c, &r.Rows, func(row *[]stores.Value) {
			j := -1
			items(&c, row, func(v *stores.Value) {
				if j++; r.Withheld(j) {
					v = new(stores.Value)
				}
				c.b = v.AppendJSON(c.b)
			})
		})
	})
	return c.b, nil
}

// String is "year-end.dsl:3"; "" of the zero Place.
func (p Place) String() string {
	if p == (Place{}) {
		return ""
	}
	return fmt.Sprintf("%s:%d", p.Source, p.Line)
}

// MarshalJSON implements json.Marshaler.
func (p Place) MarshalJSON() ([]byte, error) { return marshal(p.String()) }

// Logged writes rows as a log for machines does: with their keys and kinds, since a
// name is of a session and the journal outlives it, and without sensitive values.
func Logged(rows []Row) json.RawMessage {
	type field struct {
		Name      string       `json:"field"`
		Kind      string       `json:"kind"`
		Before    stores.Value `json:"before"`
		After     stores.Value `json:"after"`
		Sensitive bool         `json:"sensitive,omitempty"` // the values are not told
		Erased    bool         `json:"erased,omitempty"`    // one of them is no longer there
	}
	type row struct {
		Op     string       `json:"op"`
		Entity string       `json:"entity"`
		Table  string       `json:"table"`
		Key    stores.Value `json:"key"`
		Name   string       `json:"name,omitempty"`
		Fields []field      `json:"fields"`
	}
	var all []row
	for i := range rows {
		r := &rows[i]
		out := row{r.Op, r.Entity, r.Table, r.Key, r.Name, []field{}}
		for j := range r.Fields {
			f := &r.Fields[j]
			told := field{Name: f.Name, Kind: f.Kind.String(), Sensitive: f.Sensitive, Erased: f.Before.Gone || f.After.Gone}
			if !f.Sensitive {
				told.Before, told.After = f.Before.Value, f.After.Value
			}
			out.Fields = append(out.Fields, told)
		}
		all = append(all, out)
	}
	if all == nil {
		return nil
	}
	text, _ := marshal(all) // of texts and values, which can always be written
	return text
}
