package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

// The demonstration of the agent that verifies people, as its README says: a bank's agent and
// ours talk over HTTP, each transcript is the file beside it, and nothing that is stored was
// told, on both stores (H1 to H20, H24 to H34).
func TestVerificationsAreDemonstrated(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it builds a program")
	}
	play := func(t *testing.T, env ...string) {
		t.Helper()
		bin := t.TempDir()
		if err := putProgram(bin); err != nil {
			t.Fatal(err)
		}
		demo := exec.Command("bash", filepath.Join(root, "examples", "kyc", "demo.sh"))
		demo.Env = append(append(os.Environ(), "VERBATIM_BIN="+bin), env...)
		out, err := demo.CombinedOutput()
		if err != nil || strings.Count(string(out), "\nok ") != 8 || !strings.Contains(string(out), "nothing that is stored was told") {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		play(t)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		db := pgtest.Database(t)
		play(t, "KYC_OWNER="+db.Owner, "KYC_STORE="+db.App)
	})
}

// So is the page of its README.
func TestVerificationsReadmeIsTrue(t *testing.T) {
	t.Parallel()
	s := shellIn{t.TempDir(), t.TempDir()}
	err := putProgram(s.bin)
	if err == nil {
		err = os.CopyFS(s.dir, os.DirFS("../../examples/kyc"))
	}
	if err != nil {
		t.Fatal(err)
	}
	s.page(t, "examples/kyc/README.md", "examples/kyc/verbs/kyc.yaml", "").play(t)
}
