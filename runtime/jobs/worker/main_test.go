package worker_test

import (
	"os"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(inChild) != "" {
		os.Exit(child())
	}
	pgtest.Main(m)
}
