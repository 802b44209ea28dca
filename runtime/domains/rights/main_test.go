package rights_test

import (
	"testing"

	"verbatim/stores/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
