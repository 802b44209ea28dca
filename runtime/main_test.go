package runtime_test

import (
	"os"
	"testing"

	"verbatim/runtime/norace"
	"verbatim/stores/postgres/pgtest"
)

func TestMain(m *testing.M) { os.Exit(norace.Done(pgtest.Run(m))) }
