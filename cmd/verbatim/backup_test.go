package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// fails runs a command, which has to fail and to say something.
func (h *house) fails(want string, args ...string) {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), want) {
		h.t.Errorf("verbatim %q: %v, and not %q:\n%s", args, err, want, out)
	}
}

// elsewhereAt returns the URL of another database or role of the same server.
func elsewhereAt(t *testing.T, address, name, role string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if role != "" {
		q.Set("user", role)
	}
	u.Path, u.RawQuery = cmp.Or(name, u.Path), q.Encode()
	return u.String()
}

// keptIn lists the files below a folder that are longer than the example's.
func keptIn(t *testing.T, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, "-0123456789abcdef") {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A backup holds the files that its rows name, and no other. It is verified, against a checkpoint too, and a file of
// it is opened where it was restored. Where a file is missing or damaged, nothing is backed up or restored. G83
func TestABackupHoldsItsFiles(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		files := "2 files (240.7 kB)" // with the one of the example
		from, into, again := []string{}, []string{"--store", "else/back.db", "--files", "else/kept"}, ""
		live := filepath.Join(h.dir, "verbatim.files")
		backup := "monday.db"
		for _, v := range h.env {
			if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
				admin := elsewhereAt(t, at, "", "postgres")
				h.env = append(h.env, "PATH="+filepath.Join(h.dir, ".bin")+":"+filepath.Dir(pgtest.Program(t, "pg_dump"))+":"+os.Getenv("PATH"))
				files = "1 file (240 kB)"
				from, live, backup = []string{"--store", elsewhereAt(t, at, "", "verbatim_backup")}, filepath.Join(h.dir, "files"), "monday.dump"
				again = "files_of_a_backup"
				pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE IF EXISTS "+again, "CREATE DATABASE "+again+" OWNER verbatim_owner")
				t.Cleanup(func() { pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE IF EXISTS "+again) })
				into = []string{"--store", elsewhereAt(t, admin, "/"+again, ""), "--files", "else/kept"}
			}
		}
		with := func(cmd string, rest []string, args ...string) []string {
			return append(append([]string{cmd}, args...), rest...)
		}
		if err := os.Mkdir(filepath.Join(h.dir, "else"), 0o777); err != nil {
			t.Fatal(err)
		}
		passport := bytes.Repeat([]byte("A passport.\n"), 20_000)
		if err := os.WriteFile(filepath.Join(h.dir, "passport.txt"), passport, 0o666); err != nil {
			t.Fatal(err)
		}
		sent := h.do("upload", "--as", "clara", "passport.txt")
		ref := strings.Fields(sent[strings.Index(sent, "upload://"):])[0]
		h.script("clara", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "Adviser is back"`)
		h.do("log", "keygen", "bank.key", "--name", "bank.example/journal")
		note := h.do("log", "checkpoint", "--sign", "bank.key")
		if err := os.WriteFile(filepath.Join(h.dir, "sunday.note"), []byte(note), 0o666); err != nil {
			t.Fatal(err)
		}

		out := h.do(with("backup", from, backup, "--since", "sunday.note")...)
		for _, want := range []string{"journal whole: ", "extends the checkpoint of ", "backed up: " + backup + ", with " + files} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in what it says:\n%s", want, out)
			}
		}
		for line := range strings.Lines(h.do(with("backup", from, "json.bak", "--without-files", "--json")...)) {
			if !validJSON(t, line) {
				t.Errorf("with --json it says %s", line)
			}
		}
		copied := keptIn(t, filepath.Join(h.dir, "monday.files"))
		if len(copied) != 1 {
			t.Fatalf("the backup has the files %q", copied)
		}
		h.fails("is there already", with("backup", from, "monday.bak")...)

		// A backup that is behind a checkpoint is not restored, not even in part: the next one goes there.
		h.script("clara", `client.add-note :request-id @pierre-dupont-source-of-wealth :note "Adviser calls back"`)
		if err := os.WriteFile(filepath.Join(h.dir, "later.note"), []byte(h.do("log", "checkpoint", "--sign", "bank.key")), 0o666); err != nil {
			t.Fatal(err)
		}
		h.fails("the checkpoint knows of", with("restore", into, backup, "--since", "later.note")...)
		if left := keptIn(t, filepath.Join(h.dir, "else")); len(left) > 0 {
			t.Errorf("%q were left behind", left)
		}

		// Nothing is restored without its files, or with one that is not what its row names.
		if err := os.Rename(filepath.Join(h.dir, "monday.files"), filepath.Join(h.dir, "gone")); err != nil {
			t.Fatal(err)
		}
		h.fails("the backup names "+files[:strings.Index(files, " (")]+", and the folder", with("restore", into, backup)...)
		if err := os.Rename(filepath.Join(h.dir, "gone"), filepath.Join(h.dir, "monday.files")); err != nil {
			t.Fatal(err)
		}
		changed := slices.Clone(passport)
		changed[len(changed)/2] ^= 1
		for _, content := range [][]byte{changed, passport[:1000]} {
			if err := os.WriteFile(copied[0], content, 0o600); err != nil {
				t.Fatal(err)
			}
			h.fails("missing or damaged in", with("restore", into, backup)...)
		}
		if _, err := os.Stat(filepath.Join(h.dir, "else", "back.db")); err == nil {
			t.Error("a store is there whose files are not")
		}
		if left := keptIn(t, filepath.Join(h.dir, "else")); len(left) > 0 {
			t.Errorf("%q were left behind", left)
		}
		if err := os.WriteFile(copied[0], passport, 0o600); err != nil {
			t.Fatal(err)
		}

		out = h.do(with("restore", into, backup, "--since", "sunday.note")...)
		if !strings.Contains(out, "extends the checkpoint of ") || !strings.Contains(out, ", with "+files) {
			t.Error(out)
		}
		store := into[1]
		if again != "" {
			store = elsewhereAt(t, store, "", "verbatim_app")
		}
		h.do("upload", "--as", "clara", "--store", store, "--files", "else/kept", "--get", ref, "-o", "else/passport.txt")
		if got, err := os.ReadFile(filepath.Join(h.dir, "else", "passport.txt")); err != nil || !bytes.Equal(got, passport) {
			t.Errorf("the restored file has %d bytes, %v", len(got), err)
		}

		// A live file that is damaged or missing fails loudly, and leaves nothing that looks like a backup.
		kept := keptIn(t, live)
		if len(kept) != 1 {
			t.Fatal(kept)
		}
		if err := os.WriteFile(kept[0], changed, 0o600); err != nil {
			t.Fatal(err)
		}
		h.fails("missing or damaged in", with("backup", from, "tuesday.db")...)
		if err := os.Remove(kept[0]); err != nil {
			t.Fatal(err)
		}
		h.fails("missing or damaged in", with("backup", from, "tuesday.db")...)
		if left, _ := filepath.Glob(filepath.Join(h.dir, "tuesday*")); len(left) > 0 {
			t.Errorf("%q were left behind", left)
		}
		if left, _ := filepath.Glob(filepath.Join(h.dir, ".backup-*")); len(left) > 0 {
			t.Errorf("%q were left behind", left)
		}
		if out := h.do(with("backup", from, "tuesday.db", "--without-files")...); !strings.Contains(out, "tuesday.db, without its "+files[:strings.Index(files, " (")]) {
			t.Error(out)
		}
	})
}

// What somebody who left was called stands in no dump and no export, also where a request of theirs had a key and
// another person agreed to it; the key still answers. G85
func TestWhoLeftIsNamedInNoDump(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	h.people()
	h.script("ada", `system.add-principal :name "vera" :label "Vera Rosengarten"`)
	for name, text := range map[string]string{"called.dsl": `system.describe-principal :principal-id "vera" :label "Vera Rosengarten-Lund"`, "left.dsl": `system.end-principal :principal-id "vera"`} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.do("run", "--as", "ada", "--key", "called", "--yes", "called.dsl")
	h.fails("needs-agreement", "run", "--as", "ada", "left.dsl")
	h.do("confirm", "--as", "bo", "--agree", regexp.MustCompile(`\S+`).FindString(h.do("confirm", "--as", "bo")))
	store := h.env[len(h.env)-1]
	for _, v := range h.env {
		if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			store = at
		}
	}
	dump := func() string {
		out, err := exec.Command(pgtest.Program(t, "pg_dump"), "--dbname="+elsewhereAt(t, store, "", "postgres")).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out) + h.do("log", "export", "--as", "d.lang")
	}
	if n := strings.Count(dump(), "Rosengarten"); n < 4 {
		t.Fatalf("they are named %d times before they are erased", n)
	}
	h.env = append(h.env, "VERBATIM_TRACE=1")
	h.do("log", "redact", "--row", "@vera", "--everywhere", "--as", "d.lang", "--yes")
	for line := range strings.Lines(dump()) {
		if strings.Contains(line, "Rosengarten") {
			t.Errorf("they are named in %.1500s", line)
		}
	}
	h.do("log", "verify")
	if out := h.do("run", "--as", "ada", "--key", "called", "--yes", "called.dsl"); !strings.Contains(out, "before") {
		t.Errorf("the key answers\n%s", out)
	}
}

// Whoever keeps the journal and the administrators erase somebody in either order: neither their name nor their
// address stands anywhere in the store, though requests had keys, somebody agreed, and jobs were done. What still
// waits for somebody is told with the time until which it does, and is gone after that.
func TestWhoLeftStandsNowhereInEitherOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		h.people()
		store := ""
		for _, v := range h.env {
			if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
				store = at
			}
		}
		dump := func() (out []byte) {
			t.Helper()
			if store != "" {
				out, err := exec.Command(pgtest.Program(t, "pg_dump"), "--dbname="+elsewhereAt(t, store, "", "postgres")).Output()
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			file := filepath.Join(t.TempDir(), "dump.db")
			h.do("backup", file, "--without-files")
			out, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		added := func(who string) {
			h.script("ada", fmt.Sprintf(`system.add-principal :name %q :label "%[2]s Rosengarten" :as @who
system.describe-principal :principal-id @who :email "%[1]s.rosengarten@client.example"
system.add-identity :principal-id @who :issuer "email" :subject "%[1]s.rosengarten@client.example" :status "VERIFIED"
system.add-identity :principal-id @who :issuer "email" :subject "%[1]s.kallstrom@home.example" :status "VERIFIED"`, who, strings.ToUpper(who)))
			file := filepath.Join(h.dir, who+".dsl")
			text := fmt.Sprintf(`system.describe-principal :principal-id %[1]q :label "%[1]s Rosengarten-Lund"`, who)
			if err := os.WriteFile(file, []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			h.do("run", "--as", "ada", "--key", "of "+who, "--yes", file)
		}
		ends := func(who string) { h.script("ada", fmt.Sprintf("system.end-principal :principal-id %q", who)) }
		redact := func(who string) string {
			return h.do("log", "redact", "--row", "@"+who, "--everywhere", "--as", "d.lang", "--yes")
		}
		for _, who := range []string{"vera", "otto"} {
			added(who)
		}
		if before := dump(); bytes.Count(before, []byte("osengarten")) < 12 {
			t.Fatalf("they are named %d times before they are erased", bytes.Count(before, []byte("osengarten")))
		}
		ends("vera")
		redact("vera")

		waits := filepath.Join(h.dir, "waits.dsl")
		if err := os.WriteFile(waits, []byte(`system.add-identity :principal-id "nina" :issuer "email" :subject "otto.rosengarten@client.example" :status "VERIFIED"`+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		h.fails("needs-agreement", "run", "--as", "ada", waits)
		if out := redact("otto"); !strings.Contains(out, ", which waits for somebody until 20") {
			t.Error(out)
		}
		h.do("confirm", regexp.MustCompile(`\S+`).FindString(h.do("confirm", "--as", "bo")), "--as", "bo", "--decline")
		redact("otto")
		ends("otto")
		for line := range bytes.Lines(append(dump(), h.do("log", "export", "--as", "d.lang")...)) {
			for _, name := range []string{"rosengarten", "kallstrom"} { // the second is that of an identity alone
				if at := bytes.Index(bytes.ToLower(line), []byte(name)); at >= 0 {
					t.Errorf("they are named in %q", line[max(0, at-300):min(len(line), at+200)])
				}
			}
		}
		if out := h.do("log", "verify"); strings.Contains(out, "without") {
			t.Error(out)
		}
		h.do("log", "replay")
		if out := h.do("run", "--as", "ada", "--key", "of vera", "--yes", "vera.dsl"); !strings.Contains(out, "before") {
			t.Errorf("the key answers\n%s", out)
		}
	})
}

// A file that is let go while its store is copied is in the backup if a row of the backup names it, and otherwise not.
func TestFilesAreLetGoDuringABackup(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	ctx, to := t.Context(), filepath.Join(t.TempDir(), "files")
	a := &app{world: world{env: func(string) string { return "" }, err: io.Discard, now: time.Now}}
	s, err := a.openFile(ctx, address{file: filepath.Join(dir, "verbatim.db")}, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	b := fileCopy{app: a, from: filepath.Join(dir, "verbatim.files"), to: to}
	if err := b.before(ctx, s); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(b.from); err != nil {
		t.Fatal(err)
	}
	count := func() (n int) {
		_ = filepath.WalkDir(to, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		return n
	}
	needs, err := namedFiles(ctx, s)
	if err != nil || len(needs) != 1 {
		t.Fatal(needs, err)
	}
	if err := b.exactly(ctx, needs); err != nil || count() != 1 {
		t.Errorf("a row of the backup names a file that was let go: %v, and %d files", err, count())
	}
	if err := b.exactly(ctx, nil); err != nil || count() != 0 {
		t.Errorf("no row of the backup names a file: %v, and %d files", err, count())
	}
}

// What is no backup is called that, and nobody is told to prepare it.
func TestWhatIsNoBackup(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, text := range map[string]string{"empty.db": "", "text.db": "domain: client, and more of it\n", "bank.dump": "PGDMP\x01\x0e"} {
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.fails("is empty, and no backup\nnext: name a file that verbatim backup made", "restore", "empty.db", "--store", "back.db")
	h.fails("is no backup\nnext: name a file", "restore", "text.db", "--store", "back.db")
	h.fails("is a backup of a PostgreSQL database, and --store is a file", "restore", "bank.dump", "--store", "back.db")
	h.do("backup", "monday.db")
	h.fails("is a backup of a store that is a file", "restore", "monday.db", "--store", "postgres://nobody@127.0.0.1:1/none")
	if left, _ := filepath.Glob(filepath.Join(h.dir, "back*")); len(left) > 0 {
		t.Errorf("%q were left behind", left)
	}
}

// A dry run asks nobody, so nobody is told after a restore that what it asked was dropped; a question is.
func TestADryRunIsNothingThatARestoreDrops(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.env = append(h.env, "XDG_STATE_HOME="+filepath.Join(h.dir, "state"))
	h.people()
	if err := os.WriteFile(filepath.Join(h.dir, "high.dsl"), []byte(`system.grant-high-role :principal-id @nina :role "analyst"`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dry := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "run", "--as", "ada", "--dry-run", "high.dsl")
	dry.Dir, dry.Env = h.dir, h.env
	if out, _ := dry.CombinedOutput(); !strings.Contains(string(out), "preview") {
		t.Fatalf("%s", out)
	}
	h.do("backup", "dry.db")
	h.do("restore", "dry.db", "--store", "one.db")
	if out := h.do("confirm", "--as", "bo", "--store", "one.db"); strings.Contains(out, "dropped") {
		t.Errorf("after a dry run: %s", out)
	}
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	h.do("backup", "asked.db")
	h.do("restore", "asked.db", "--store", "two.db")
	if out := h.do("confirm", "--as", "bo", "--store", "two.db"); !strings.Contains(out, "was dropped (1)") {
		t.Errorf("after a question: %s", out)
	}
}

// A restore by the owner of the tables gives back the right that queries must not have. Each start and the doctor
// say so, until a superuser has taken it away. G83
func TestARestoreByTheOwnerIsNoticed(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	var app string
	for _, v := range h.env {
		if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			app = at
		}
	}
	h.env = append(h.env, "PATH="+filepath.Join(h.dir, ".bin")+":"+filepath.Dir(pgtest.Program(t, "pg_dump"))+":"+os.Getenv("PATH"))
	h.do("backup", "--without-files", "--store", elsewhereAt(t, app, "", "verbatim_backup"), "bank.dump")
	const name = "restored_by_its_owner"
	admin := elsewhereAt(t, app, "", "postgres")
	pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name+" TEMPLATE template0 OWNER verbatim_owner")
	t.Cleanup(func() { pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	at := func(role string) string { return elsewhereAt(t, app, "/"+name, role) }
	if out := h.both("restore", "--store", at("verbatim_owner"), "bank.dump"); !strings.Contains(out, "restored") || !strings.Contains(out, "warning[row-security]: whoever restored is no superuser") {
		t.Errorf("a restore by the owner says\n%s", out)
	}
	pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE "+name+" WITH (FORCE)", "CREATE DATABASE "+name+" TEMPLATE template0 OWNER verbatim_owner")
	restore := exec.Command(pgtest.Program(t, "pg_restore"), "--no-owner", "--dbname="+at("verbatim_owner"), filepath.Join(h.dir, "bank.dump"))
	_, _ = restore.CombinedOutput() // of what it may not do, it says so and goes on
	h.env = append(h.env, "VERBATIM_STORE="+at("verbatim_app"))
	const why = "role verbatim_app_queries may call set_config"
	if out := h.both("log", "verify"); !strings.Contains(out, "warning[row-security]: "+why) || !strings.Contains(out, "verbatim migrate --roles") {
		t.Errorf("a start says\n%s", out)
	}
	if out := h.both("doctor"); !strings.Contains(out, "fails  rights        "+why) || strings.Contains(out, "warning[") {
		t.Errorf("the doctor says\n%s", out)
	}
	s := h.serve()
	if said := s.said.String(); !strings.Contains(said, `"msg":"row security","why":"`+why) {
		t.Errorf("the log of a server says\n%s", said)
	}
	if out := h.do("migrate", "--roles", "verbatim", "--store", at("postgres"), "--json"); !validJSON(t, out) {
		t.Errorf("not as the schema says: %s", out)
	}
	if out := h.both("doctor"); !strings.Contains(out, "well   rights ") {
		t.Errorf("the doctor says\n%s", out)
	}
}

// both is what a command says on both streams, however it ends.
func (h *house) both(args ...string) string {
	h.t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// validJSON reports whether a document is one that the published schema knows.
func validJSON(t *testing.T, text string) bool {
	t.Helper()
	schema, err := publishedSchema()
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Error(err)
		return false
	}
	return schema.Validate(doc) == nil
}

// A dump without all rows of a table is no backup: a pg_dump that loses one is found out, and nothing is left. G83
func TestADumpThatLosesRowsIsNoticed(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	var app string
	for _, v := range h.env {
		if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			app = at
		}
	}
	bin := filepath.Join(h.dir, "loses")
	lossy := "#!/bin/sh\nexec " + pgtest.Program(t, "pg_dump") + " --exclude-table-data=kyc.case_steps \"$@\"\n"
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "pg_dump"), []byte(lossy), 0o755)); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+":"+filepath.Join(h.dir, ".bin")+":"+filepath.Dir(pgtest.Program(t, "pg_dump"))+":"+os.Getenv("PATH"))
	h.fails("the dump has 0 rows of kyc.", "backup", "--without-files", "--store", elsewhereAt(t, app, "", "verbatim_backup"), "bank.dump")
	if left, _ := filepath.Glob(filepath.Join(h.dir, "bank.dump*")); len(left) > 0 {
		t.Errorf("%q were left", left)
	}
}

// A dump of another version of pg_dump than pg_restore reads, or than the server takes, is said to be one, with the
// versions and the next step, and nothing is left behind. 59
func TestADumpOfAnotherVersionIsNamed(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	var app string
	for _, v := range h.env {
		if at, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			app = at
		}
	}
	bin, real := filepath.Join(h.dir, "older"), pgtest.Program(t, "pg_restore")
	// As a server before 17 answers a dump of 17.
	older := "#!/bin/sh\ncase \"$*\" in *--single-transaction*) echo 'pg_restore: error: could not execute query: ERROR:  unrecognized configuration parameter \"transaction_timeout\"' >&2; exit 1;; esac\nexec " + real + " \"$@\"\n"
	if err := errors.Join(os.Mkdir(bin, 0o755), os.WriteFile(filepath.Join(bin, "pg_restore"), []byte(older), 0o755)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(h.dir, ".bin") + ":" + filepath.Dir(real) + ":" + os.Getenv("PATH")
	h.env = append(h.env, "PATH="+path)
	h.do("backup", "--without-files", "--store", elsewhereAt(t, app, "", "verbatim_backup"), "bank.dump")
	const name = "restored_of_another_version"
	admin := elsewhereAt(t, app, "", "postgres")
	pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name+" TEMPLATE template0 OWNER verbatim_owner")
	t.Cleanup(func() { pgtest.DB{Admin: admin}.Run(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	empty := elsewhereAt(t, app, "/"+name, "postgres")
	text, err := os.ReadFile(filepath.Join(h.dir, "bank.dump"))
	if err == nil {
		text[6] = 99 // the second number of the format's version, behind PGDMP
		err = os.WriteFile(filepath.Join(h.dir, "newer.dump"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := h.both("restore", "--without-files", "--store", empty, "newer.dump"); !strings.Contains(out, "a newer pg_dump made the backup \"newer.dump\" than the pg_restore on the PATH reads (pg_restore: error: unsupported version (1.99) in file header); nothing was changed") ||
		!strings.Contains(out, "\nnext: put the client programs of the version that made it, or newer, first on the PATH") {
		t.Errorf("a newer dump is told as\n%s", out)
	}
	h.env = append(h.env, "PATH="+bin+":"+path)
	if out := h.both("restore", "--without-files", "--store", empty, "bank.dump"); !regexp.MustCompile(`transaction_timeout"; the dump was made by pg_dump \d+\.\d+.* of a server \d+\.\d+.*\nnext: mend what it says; where the versions differ, restore with the client programs of the newer one`).MatchString(out) {
		t.Errorf("a dump of a newer server is told as\n%s", out)
	}
	h.env = append(h.env, "PATH="+path)
	h.do("restore", "--without-files", "--store", empty, "bank.dump")
}

// Rows of a dump are its lines, however long; what looks like an end in a value is escaped.
func TestRowsOfADumpAreCounted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<17)
	text := "SET a = 1;\nCOPY public.a (id, text) FROM stdin;\n1\tone\n2\t" + long + "\n3\tCOPY public.b (id) FROM stdin;\n\\.\n\n-- more\nCOPY public.b (id) FROM stdin;\n\\.\nCOPY kyc.\"C d\" (id) FROM stdin;\n\\\\.\n\\.\n"
	got, err := countRows(strings.NewReader(text))
	if want := map[string]int64{"public.a": 3, "public.b": 0, `kyc."C d"`: 1}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}
