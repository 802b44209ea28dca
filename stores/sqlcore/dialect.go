package sqlcore

import (
	"strings"

	"verbatim/stores"
)

// A Dialect is how a database spells what both write. It is made once and does not
// change.
type Dialect struct {
	Quote func(name string) string      // writes a name so that it can be nothing but a name
	Table func(e *stores.Entity) string // a table in a statement, so that nothing else can stand in for it
	Fold  func(name string) string      // names that are alike when folded are one
	True  string                        // a condition that holds
	False string                        // one that does not
	Yes   string                        // behind a boolean: that it is true
	Is    string                        // between two values: that they are the same, of which null is one
	IsNot string
}

// LastPart is a table's name without its schema.
func LastPart(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// Flat is an entity's table in one word.
func Flat(e *stores.Entity) string { return strings.ReplaceAll(e.Table, ".", "_") }

// SetOf makes a set of words.
func SetOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
