package redact

import (
	"os"
	"testing"

	"verbatim/runtime/tests/norace"
)

func TestMain(m *testing.M) { os.Exit(norace.Cleanup(m.Run())) }
