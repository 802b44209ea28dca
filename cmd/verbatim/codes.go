package main

import (
	_ "embed"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/mcp"
	"verbatim/verbs/drift"
	"verbatim/verbs/load"
)

// allCodes are the codes of all diagnostics and exits, sorted. If two packages have the same code,
// the first explains it.
func allCodes() []dsl.CodeDoc {
	all := slices.Concat(dsl.Codes(), load.Codes(), drift.Codes(), intent.Codes(), engine.Codes(), server.Codes(), mcp.Codes(), ownCodes())
	slices.SortStableFunc(all, func(a, b dsl.CodeDoc) int { return strings.Compare(a.Code, b.Code) })
	return slices.CompactFunc(all, func(a, b dsl.CodeDoc) bool { return a.Code == b.Code })
}

//go:embed codes.txtar
var ownText string

// ownCodes are the codes of the command itself. Their examples are command lines in the folder of
// the example bank. A code that needs a terminal, an interruption or a broken disk has no example.
func ownCodes() []dsl.CodeDoc { return dsl.ReadCodes(ownText) }
