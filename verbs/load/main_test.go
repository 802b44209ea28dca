package load

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/tests/norace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func inWords(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s | %s\n", d.Code, d.Summary, d.Label)
	}
	return b.String()
}

func TestMain(m *testing.M) { os.Exit(norace.Cleanup(m.Run())) }
