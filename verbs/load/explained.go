package load

import (
	_ "embed"
	"slices"

	"verbatim/dsl"
	"verbatim/verbs"
)

var (
	//go:embed codes.txtar
	codesTextLoad string
	//go:embed codes_unspoken.txtar
	unspokenCodesText string
)

// Codes explains the diagnostic codes of palettes, and those of the checker of scripts. The
// examples of the first are palettes.
func Codes() []dsl.CodeDoc {
	return slices.Concat(loadCodes(), verbs.CheckCodes(), unspokenCodes())
}

func loadCodes() []dsl.CodeDoc { return dsl.ReadCodes(codesTextLoad) }

func unspokenCodes() []dsl.CodeDoc { return dsl.ReadCodes(unspokenCodesText) }
