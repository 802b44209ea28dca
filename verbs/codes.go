package verbs

import (
	_ "embed"

	"verbatim/dsl"
)

//go:embed codes.txtar
var codesText string

// CheckCodes explains the diagnostic codes of the checker: the possible errors of a call. The
// examples are scripts.
func CheckCodes() []dsl.CodeDoc { return dsl.ReadCodes(codesText) }
