package postgres

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"verbatim/stores/postgres/pgtest"
)

// F17: small letters are those of strings.ToLower, of every character up to U+FFFF, so
// that a filter finds the same on both stores.
func TestSmallLettersAreThoseOfGo(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t).Admin)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	rows, err := conn.Query(t.Context(), "SELECT 'x'||chr(i)||'y', "+lowerBegins+"'x'||chr(i)||'y'"+lowerEnds+" FROM generate_series(1, 65535) i WHERE i NOT BETWEEN 55296 AND 57343")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for rows.Next() {
		var text, small string
		if err := rows.Scan(&text, &small); err != nil {
			t.Fatal(err)
		}
		if n++; small != strings.ToLower(text) {
			t.Errorf("%q is %q here and %q there", text, small, strings.ToLower(text))
		}
	}
	if rows.Err() != nil || n < 60_000 {
		t.Error(n, rows.Err())
	}
}
