package stores

import "strings"

var (
	escapePart   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapePart = strings.NewReplacer("~1", "/", "~0", "~")
)

// NewKey makes one key of its parts. Null where one is missing.
func NewKey(parts ...Value) Value {
	texts := make([]string, len(parts))
	for i, p := range parts {
		if p.IsNull() {
			return Value{}
		}
		texts[i] = escapePart.Replace(p.Text())
	}
	return NewString(strings.Join(texts, "/"))
}

// PartsOf takes a key of the entity apart: the values of its parts, and the key alone
// where it has none. ok is false for what is no such key.
func (e *Entity) PartsOf(key Value) (parts []Value, ok bool) {
	if len(e.Parts) == 0 {
		return []Value{key}, true
	}
	texts := strings.Split(key.Text(), "/")
	if key.Kind() != String || len(texts) != len(e.Parts) {
		return nil, false
	}
	parts = make([]Value, len(texts))
	for i, text := range texts {
		if parts[i], ok = Parse(e.Fields[e.Parts[i]].Holds(), unescapePart.Replace(text)); !ok {
			return nil, false
		}
	}
	return parts, true
}

// KeyFields are the fields that name a row: the key, or its parts.
func (e *Entity) KeyFields() []int {
	if len(e.Parts) > 0 {
		return e.Parts
	}
	return []int{e.Key}
}

// At is the place of a field in what a change sets, -1 where it is not set.
func (c *Change) At(field int) int {
	for i := range c.Set {
		if c.Set[i].Field == field {
			return i
		}
	}
	return -1
}

// NewRow stands for a row that is new, among values that differ from one plan to the
// next: a number that a database gave to it may be anything else elsewhere.
func NewRow(entity string, key Value) Value {
	return NewString("row\x00" + entity + "\x00" + key.Text())
}
