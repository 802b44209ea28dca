package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/stores/postgres/pgtest"
)

// The demonstration of people who write by WhatsApp and mail, as its README says: the other
// side, the mail servers and the DNS are one process, the server another, and each transcript is the
// file beside it, on both stores (K1 K2 K29 K35 K36 K37 K38 K42, the three-channel story).
func TestWritingByWhatsAppAndMailIsDemonstrated(t *testing.T) {
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
		demo := exec.Command("bash", filepath.Join(root, "examples", "kiisha", "demo.sh"))
		demo.Env = append(append(os.Environ(), "PROGRAM_DIR="+bin, "TICK=now"), env...)
		out, err := demo.CombinedOutput()
		if err != nil || strings.Count(string(out), "ok    ") != 5 {
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
		play(t, "KIISHA_OWNER="+db.Owner, "KIISHA_STORE="+db.App)
	})
}
