package main

import (
	_ "embed"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/mcp/door"
	"verbatim/runtime/phrase"
	"verbatim/runtime/serve"
	"verbatim/verbs"
	"verbatim/verbs/drift"
)

// allCodes are the codes of every diagnostic and of every way to stop, sorted.
// A mistake that two packages can find has one code, and is explained by the
// first that does.
func allCodes() []dsl.CodeDoc {
	all := slices.Concat(dsl.Codes(), verbs.Codes(), drift.Codes(), phrase.Codes(), runtime.Codes(), serve.Codes(), door.Codes(), ownCodes())
	slices.SortStableFunc(all, func(a, b dsl.CodeDoc) int { return strings.Compare(a.Code, b.Code) })
	return slices.CompactFunc(all, func(a, b dsl.CodeDoc) bool { return a.Code == b.Code })
}

//go:embed codes.txtar
var ownText string

// ownCodes are what the command itself stops with. Their examples are command
// lines in the folder of the example bank; those that need a terminal, an
// interruption or a broken disk have none.
func ownCodes() []dsl.CodeDoc { return dsl.ReadCodes(ownText) }
