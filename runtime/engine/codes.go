package engine

import (
	_ "embed"

	"verbatim/dsl"
)

//go:embed codes.txtar
var codesText string

// Codes explains every code that the engine can answer with. The first line of
// an example says who runs it and what they agree to; examples that begin with
// `domain:` are palettes, beside a program that registers a handler for
// shop.price which takes :name, a string.
func Codes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }
