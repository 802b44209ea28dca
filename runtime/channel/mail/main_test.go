package mail

import (
	"os"
	"testing"

	"verbatim/runtime/norace"
)

func TestMain(m *testing.M) { os.Exit(norace.Cleanup(m.Run())) }
