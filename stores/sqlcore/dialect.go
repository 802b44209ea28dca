package sqlcore

import (
	"strings"

	"verbatim/stores"
)

// A Dialect is the SQL of one database where the two stores differ. It is made once and does not
// change.
type Dialect struct {
	Quote func(name string) string      // quotes a name, so that it can be nothing but a name
	Table func(e *stores.Entity) string // writes an entity's table in a statement, so that no other table can be meant
	Fold  func(name string) string      // names that are equal when folded are the same name
	True  string                        // a condition that is true
	False string                        // a condition that is false
	Yes   string                        // follows a boolean: tests that it is true
	Is    string                        // stands between two values: tests that they are equal, null being equal to null
	IsNot string
}

// LastPart returns a table's name without its schema.
func LastPart(table string) string { return table[strings.LastIndexByte(table, '.')+1:] }

// Flat returns an entity's table as one word.
func Flat(e *stores.Entity) string { return strings.ReplaceAll(e.Table, ".", "_") }

// SetOf makes a set of words.
func SetOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(words) {
		set[w] = true
	}
	return set
}
