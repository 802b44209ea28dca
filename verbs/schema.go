package verbs

import "verbatim/dsl"

// A Schema is a JSON Schema for object arguments, compiled when first needed.
type Schema struct {
	Name  string
	Place dsl.Place
}
