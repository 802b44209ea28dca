package verbs_test

import (
	"verbatim/verbs"
	"verbatim/verbs/load"
)

func init() { verbs.LoadSources = load.Sources }
