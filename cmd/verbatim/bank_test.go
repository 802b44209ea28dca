package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The database of the example is the same on either store: what the one file puts
// into its tables the other does, row by row and value by value; only how a table is
// spelt differs. The tables themselves are held against the palettes by the
// migration of each.
func TestTheBankIsTheSameOnPostgreSQL(t *testing.T) {
	t.Parallel()
	rows := func(name string) string {
		text, err := os.ReadFile("../../examples/client/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)[strings.Index(string(text), "INSERT INTO"):]
	}
	const other = "bank.postgres.sql"
	want := regexp.MustCompile(`(?m)^INSERT INTO "ob-poc_(\w+)"`).ReplaceAllString(rows("bank.sql"), `INSERT INTO "ob-poc".$1`)
	want = regexp.MustCompile(`(?m)^INSERT INTO kyc_`).ReplaceAllString(want, "INSERT INTO kyc.")
	got := rows(other)
	if *update && got != want {
		text, err := os.ReadFile("../../examples/client/" + other)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("../../examples/client/"+other, []byte(strings.Replace(string(text), got, want, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("line %d of the rows of %s differs from bank.sql; run with -update, and read it:\n%s\n%s", i+1, other, at(a, i), at(b, i))
		}
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}
