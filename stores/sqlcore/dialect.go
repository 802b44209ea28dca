package sqlcore

import "verbatim/stores"

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
