#!/usr/bin/env bash
# An error of a Go function in SQL is no error with zombiezen.com/go/sqlite 1.4.2: its text becomes the value.
#
# Guess: if a function that is registered with CreateFunction returns an error, the statement fails with
#   it, as SQLite's documentation of sqlite3_result_error says.
# Found: SELECT fail() gives the text "no such thing" and no error, in conditions and aggregates too.
#   Source: func.go, Context.resultError(err error): `cerrstr, err := libc.CString(errstr)` sets the
#   parameter err to nil, so ErrCode(err) is ResultOK, and sqlite3_result_error_code(ctx, SQLITE_OK)
#   takes the error back after sqlite3_result_error made its text the result.
# Here: a value of another program's table that could not be compared was compared as the text of an
#   error. Our functions keep their error on the connection, and each step looks there (stores/sqlite).
# Needs: go 1.24 or newer.
set -euo pipefail
dir=$(mktemp -d); trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT; cd "$dir"
export GOFLAGS=-mod=mod CGO_ENABLED=0
cat >main.go <<'GO'
package main

import (
	"errors"
	"fmt"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

func main() {
	c, err := sqlite.OpenConn(":memory:")
	if err != nil {
		panic(err)
	}
	defer c.Close()
	err = c.CreateFunction("fail", &sqlite.FunctionImpl{NArgs: 0, Scalar: func(sqlite.Context, []sqlite.Value) (sqlite.Value, error) {
		return sqlite.Value{}, errors.New("no such thing")
	}})
	if err != nil {
		panic(err)
	}
	for _, sql := range []string{"SELECT fail()", "SELECT 'a row' WHERE fail() > 'a'"} {
		got := "no row"
		err := sqlitex.ExecuteTransient(c, sql, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			got = s.ColumnText(0)
			return nil
		}})
		fmt.Printf("%s: %s, error %v\n", sql, got, err)
	}
}
GO
go mod init found >/dev/null 2>&1
go get zombiezen.com/go/sqlite@v1.4.2 >/dev/null 2>&1
go run . | tee got
cat >want <<'TXT'
SELECT fail(): no such thing, error <nil>
SELECT 'a row' WHERE fail() > 'a': a row, error <nil>
TXT
diff want got && echo "as found: zombiezen.com/go/sqlite 1.4.2, $(go version)"
