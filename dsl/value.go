package dsl

import "unsafe"

// A Value is a literal, a symbol, or a composite of values.
//
// Text is the decoded content of a string, the digits of a number, date or
// uuid in canonical spelling (a uuid in lower case), the word of a bool or
// code, and a symbol with its path but without its @.
//
// A Value is made by Parse or by a constructor (NewString and its sisters) and
// is read-only afterwards. It may be copied freely.
type Value struct {
	Kind  Kind
	Range Range
	n     int32 // number of items or entries that sub points to
	Text  string
	// sub points to the first of n items (List), to the first of n entries
	// (Map) or to the call (Nested). One untyped pointer keeps a Value at 40
	// bytes: a script is mostly values, and the bound on memory (twenty bytes
	// for a byte of input, however hostile) leaves no room for three.
	sub unsafe.Pointer
}

// Items returns the values of a list, nil for every other kind.
func (v Value) Items() []Value {
	if v.Kind != List || v.n == 0 {
		return nil
	}
	return unsafe.Slice((*Value)(v.sub), v.n)
}

// Entries returns the entries of a map in the order written, nil for every
// other kind.
func (v Value) Entries() []Arg {
	if v.Kind != Map || v.n == 0 {
		return nil
	}
	return unsafe.Slice((*Arg)(v.sub), v.n)
}

// Call returns the call of a Nested value, nil for every other kind.
func (v Value) Call() *Call {
	if v.Kind != Nested {
		return nil
	}
	return (*Call)(v.sub)
}

// String returns the canonical spelling, like FormatValue.
func (v Value) String() string { return FormatValue(v) }

// Equal reports whether two values mean the same, wherever they are in their texts.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind || v.n != w.n {
		return false
	}
	switch v.Kind {
	case List:
		ws := w.Items()
		for i, item := range v.Items() {
			if !item.Equal(ws[i]) {
				return false
			}
		}
		return true
	case Map:
		return equalArgs(v.Entries(), w.Entries())
	case Nested:
		return v.Call().Equal(w.Call())
	case Nil:
		return true
	}
	return v.Text == w.Text
}

// Equal reports whether two calls mean the same: verb, arguments in the order written, and
// symbol. Their places in the text make no difference.
func (c *Call) Equal(d *Call) bool {
	if c == nil || d == nil {
		return c == d
	}
	return c.Verb == d.Verb && c.As == d.As && equalArgs(c.Args, d.Args)
}

func equalArgs(as, bs []Arg) bool {
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if as[i].Key != bs[i].Key || !as[i].Value.Equal(bs[i].Value) {
			return false
		}
	}
	return true
}

// Get returns the value of the first argument with this key.
func (c *Call) Get(key string) (Value, bool) {
	for i := range c.Args {
		if c.Args[i].Key == key {
			return c.Args[i].Value, true
		}
	}
	return Value{}, false
}

func listOf(items []Value) Value {
	return Value{Kind: List, n: int32(len(items)), sub: unsafe.Pointer(unsafe.SliceData(items))}
}

func mapOf(entries []Arg) Value {
	return Value{Kind: Map, n: int32(len(entries)), sub: unsafe.Pointer(unsafe.SliceData(entries))}
}

func nestedOf(c *Call) Value {
	return Value{Kind: Nested, sub: unsafe.Pointer(c)}
}
