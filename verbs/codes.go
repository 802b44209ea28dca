package verbs

import (
	_ "embed"
	"slices"

	"verbatim/dsl"
)

var (
	//go:embed codes_load.txtar
	loadCodesText string
	//go:embed codes_check.txtar
	checkCodesText string
	//go:embed codes_unspoken.txtar
	unspokenCodesText string
)

// Codes explains every diagnostic code of this package. The examples of the
// loader are palettes, and those of the checker are scripts.
func Codes() []dsl.CodeDoc {
	return slices.Concat(loadCodes(), CheckCodes(), unspokenCodes())
}

// CheckCodes explains the codes of the checker alone: the possible errors of a call.
func CheckCodes() []dsl.CodeDoc { return dsl.ReadCodes(checkCodesText) }

func loadCodes() []dsl.CodeDoc { return dsl.ReadCodes(loadCodesText) }

func unspokenCodes() []dsl.CodeDoc { return dsl.ReadCodes(unspokenCodesText) }
