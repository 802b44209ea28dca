package engine_test

import (
	"os"
	"testing"

	"verbatim/runtime/tests/norace"
	"verbatim/stores/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(norace.Cleanup(pgtest.Run(m))) }
