package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"verbatim/runtime/files/documents"
	"verbatim/runtime/protocols/trustgraph/rabbit/rabbittest"
	"verbatim/runtime/tests/norace"
	"verbatim/stores/postgres/pgtest"
)

var update = flag.Bool("update", false, "write what the program printed into the session files; then read the difference")

// The sessions are played by the program itself: the test binary, started
// under its name, is it. Only the clock differs, so that dates can be written
// down.
func TestMain(m *testing.M) {
	documents.Child() // as main does
	if filepath.Base(os.Args[0]) == "worker" {
		work()
	}
	testscript.Main(servers{m}, map[string]func(){"verbatim": func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		code := run(ctx, world{
			args: os.Args[1:], in: os.Stdin, out: os.Stdout, err: os.Stderr,
			env: os.Getenv, environ: os.Environ(), now: ticking(os.Getenv("TICK")), random: rand.Reader, terminal: openTerminal,
		})
		stop()
		os.Exit(code)
	}, "helpdesk": helpdesk})
}

// ticking is a clock that goes on by so much with each look at it; "now" is the real one.
func ticking(tick string) func() time.Time {
	if tick == "now" {
		return time.Now
	}
	if ahead, ok := strings.CutPrefix(tick, "now+"); ok {
		by, _ := time.ParseDuration(ahead)
		return func() time.Time { return time.Now().Add(by) }
	}
	if after, ok := strings.CutPrefix(tick, "back in "); ok { // by a minute
		in, _ := time.ParseDuration(after)
		began := time.Now()
		return func() time.Time {
			if now := time.Now(); now.Sub(began) < in {
				return now
			}
			return time.Now().Add(-time.Minute)
		}
	}
	step, _ := time.ParseDuration(tick) // it stands still where nothing is said
	at := morning
	return func() time.Time {
		now := at
		at = at.Add(step)
		return now
	}
}

// putProgram puts the program into a folder, under its names: this binary, or the same one
// without the race detector. With it every command of a session takes seven times as long,
// and minutes in all, and finds what the tests of the packages find anyway. Most commands
// are run by workers; PROCESS=own in their environment makes processes of them.
func putProgram(dir string) error {
	program, err := norace.Binary()
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "helpdesk"))
	}
	if err == nil {
		program, err = launcher()
	}
	if err == nil {
		err = os.Symlink(program, filepath.Join(dir, "verbatim"))
	}
	return err
}

// servers stops what tests started, and removes what they built.
type servers struct{ m *testing.M }

func (s servers) Run() int {
	code := pgtest.Run(s.m)
	rabbittest.Stop()
	dismissWorkers()
	return norace.Cleanup(code)
}

// morning is when the sessions take place.
var morning = time.Date(2024, 12, 27, 9, 14, 2, 0, time.UTC)

// Each session in testdata is a story that begins with why it is told.
func TestSessions(t *testing.T) {
	t.Parallel()
	scripts(t, "testdata")
}

// The same program keeps rows on a PostgreSQL server.
func TestSessionsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	db, bank, moved := pgtest.Database(t), pgtest.Database(t), pgtest.Database(t)
	scripts(t, "testdata/postgres", "ADMIN="+db.Admin, "OWNER="+db.Owner, "APP="+db.App, "BANK_OWNER="+bank.Owner, "BANK_APP="+bank.App, "MOVED_OWNER="+moved.Owner, "MOVED_APP="+moved.App)
}

func scripts(t *testing.T, dir string, vars ...string) {
	testscript.Run(t, testscript.Params{
		Dir:                 dir,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("TERM", "dumb")
			env.Setenv("GOGC", "400")
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".state"))
			env.Vars = append(env.Vars, vars...)
			env.Values[serversKey{}] = map[string]*exec.Cmd{}
			bin := filepath.Join(env.WorkDir, ".bin")
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			if err := os.Mkdir(bin, 0o777); err != nil {
				return err
			}
			return putProgram(bin)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"serves":    serves,
			"curl":      curl,
			"exits":     exits,
			"bank":      bank,
			"speaks":    speaks,
			"alter":     alter,
			"shop":      shop,
			"desk":      desk,
			"json":      isJSON,
			"plain":     isPlain,
			"same":      isSame,
			"mask":      mask,
			"calls":     calls,
			"kept":      kept,
			"sends":     sends,
			"referring": referringTo,
		},
	})
}

// Every command is run as a process of its own somewhere, as it is outside of tests.
func TestEveryCommandIsAProcess(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{"serve": true, "work": true, "mcp": true, "lsp": true} // testdata/launcher starts them
	for _, name := range all {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		process := false
		for line := range strings.Lines(string(txtar.Parse(text).Comment)) {
			if value, ok := strings.CutPrefix(line, "env PROCESS="); ok {
				process = strings.TrimSpace(value) == "own"
			}
			for _, command := range ranIn.FindAllStringSubmatch(line, -1) {
				own[command[1]] = own[command[1]] || process
			}
		}
	}
	for _, c := range commands {
		if !own[c.name] {
			t.Errorf("no script with PROCESS=own runs verbatim %s", c.name)
		}
	}
}

// ranIn finds the commands that a line of a script runs.
var ranIn = regexp.MustCompile(`(?:exec|exits \d+) verbatim ([a-z]+)`)

// exits runs a program and says which exit code it must have:
//
//	exits 2 verbatim chekc
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, %d wanted", got, want)
	}
}

// alter changes a file behind the program's back: alter FILE STATEMENT.
func alter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: alter FILE STATEMENT")
	}
	ts.Check(alterFile(ts.MkAbs(args[0]), args[1]))
}

func alterFile(name, script string) error {
	db, err := sqlite.OpenConn(name, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	return errors.Join(sqlitex.ExecuteScript(db, script, nil), db.Close())
}

// bank lays out the example: the palette, the scripts, and the store as the
// demonstration begins with it.
func bank(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: bank")
	}
	ts.Check(layOut(ts.Getenv("WORK")))
}

func layOut(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "verbs"), 0o777); err != nil {
		return err
	}
	if err := os.CopyFS(filepath.Join(dir, "conversation"), os.DirFS("../../examples/client/conversation")); err != nil {
		return err
	}
	files := map[string]string{}
	palettes, err := filepath.Glob("../../verbs/palettes/bank/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range palettes {
		files[name] = filepath.Join("verbs", filepath.Base(name))
	}
	examples, err := filepath.Glob("../../examples/client/*.*")
	if err != nil {
		return err
	}
	for _, name := range examples {
		if filepath.Ext(name) != ".sh" {
			files[name] = filepath.Base(name)
		}
	}
	for from, to := range files {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, to), text, 0o666)
		}
		if err != nil {
			return err
		}
	}
	store, err := bankStore()
	if err != nil {
		return err
	}
	for name, file := range store {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(to, file.Data, file.Mode); err != nil {
			return err
		}
	}
	return nil
}

// shop lays out the other example: its palette, its scripts, and the SQL that
// its store is made from.
func shop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: shop")
	}
	ts.Check(layOutShop(ts.Getenv("WORK")))
}

func layOutShop(dir string) error {
	return os.CopyFS(dir, os.DirFS("../../examples/retail"))
}

// bankStore is the bank's store, made once, with the files beside it: Clara has
// sent the passport that the example speaks of, before the journal began.
var bankStore = sync.OnceValues(func() (fstest.MapFS, error) {
	dir, err := os.MkdirTemp("", "verbatim-bank-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "verbatim.db")
	var said bytes.Buffer
	code := run(context.Background(), world{
		load: loadOnce, args: []string{"migrate", "--palettes", "../../verbs/palettes/bank", "--store", name, "--data", "../../examples/client/bank.sql", "--data", "../../examples/client/people.sql"},
		in: strings.NewReader(""), out: &said, err: &said,
		env: func(string) string { return "" }, now: func() time.Time { return morning }, terminal: openTerminal,
	})
	if code != exitDone {
		return nil, errors.New(said.String())
	}
	passport, err := os.ReadFile("../../examples/client/passport.pdf")
	if err != nil {
		return nil, err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(passport))
	err = alterFile(name, fmt.Sprintf(`INSERT INTO verbatim_contents (sum, tag, size, state) VALUES ('%[1]s', '0123456789abcdef', %[2]d, 'HELD');
		INSERT INTO verbatim_uploads (id, owner, name, media_type, size, sum, content, verdict, scanner, uploaded_at)
		VALUES ('thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau', 'clara', 'passport.pdf', 'application/pdf', %[2]d, '%[1]s', '%[1]s', 'CLEAN', 'none', '2024-12-26T18:00:00.000000Z')`, sum, len(passport)))
	if err != nil {
		return nil, err
	}
	store, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return fstest.MapFS{
		"verbatim.db": {Data: store, Mode: 0o600},
		"verbatim.files/" + sum[:2] + "/" + sum + "-0123456789abcdef": {Data: passport, Mode: 0o600},
	}, nil
})

// isJSON demands that a stream holds JSON documents and nothing else, each of
// them as the published schema says:
//
//	json stdout verbatim/check@1
func isJSON(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json FILE SCHEMA")
	}
	text := ts.ReadFile(args[0])
	schema, err := publishedSchema()
	ts.Check(err)
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	n := 0
	for ; dec.More(); n++ {
		var doc any
		if err := dec.Decode(&doc); err != nil {
			ts.Fatalf("not JSON: %v\n%s", err, text)
		}
		object, ok := doc.(map[string]any)
		if !ok || object["schema"] != args[1] {
			ts.Fatalf("the schema is not %s:\n%s", args[1], text)
		}
		if err := schema.Validate(doc); err != nil {
			ts.Fatalf("not as the schema says: %#v\n%s", err, text)
		}
	}
	if n == 0 {
		ts.Fatalf("there is no JSON")
	}
}

var publishedSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	return jsonschema.CompileString("output.schema.json", outputSchema)
})

// isPlain demands that a stream neither moves the cursor nor repaints (U7); SGR
// sequences, which only colour, are allowed with the argument colour.
func isPlain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: plain FILE [colour]")
	}
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "\r\n", "\n") // a terminal ends lines so
	if len(args) > 1 {
		text = uncoloured(text)
	}
	if i := strings.IndexAny(text, "\r\x1b\b"); i >= 0 {
		ts.Fatalf("byte %d moves the cursor: %q", i, text[i:min(len(text), i+20)])
	}
}

// mask copies a stream with the ids of previews blacked out: an id stands for
// every word of the palettes and every value of the rows, so it would change
// here with each of them.
//
//	mask stdout masked
func mask(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mask FILE COPY")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(anyID(ts.ReadFile(args[0]))), 0o666))
}

// calls writes a script of many calls that are alike but for their number, which
// stands where # does:
//
//	calls 40 many.dsl 'desk.remark :ticket-id @lamp :remark "n#"'
func calls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: calls N FILE CALL")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(args[2], "#", strconv.Itoa(i+1)) + "\n")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(b.String()), 0o666))
}

// kept demands that a directory of files holds so many:
//
//	kept verbatim.files 2
func kept(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: kept DIR N")
	}
	all, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0]), "*", "*"))
	ts.Check(err)
	if strconv.Itoa(len(all)) != args[1] {
		ts.Fatalf("%d files are kept, %s wanted: %q", len(all), args[1], all)
	}
}

// sends sends a file as somebody, and puts its reference where the script has
// upload://second:
//
//	sends clara second.pdf again.dsl
func sends(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: sends NAME FILE SCRIPT")
	}
	ts.Check(ts.Exec("verbatim", "upload", "--scan", "none", "--as", args[0], args[1]))
	reference := strings.TrimSpace(ts.ReadFile("stdout"))
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(strings.ReplaceAll(ts.ReadFile(args[2]), "upload://second", reference)), 0o666))
}

// referringTo sends a file, and writes a script that submits it as a passport:
//
//	referring passport.pdf script.dsl
func referringTo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: referring FILE SCRIPT")
	}
	ts.Check(ts.Exec("verbatim", "upload", args[0]))
	reference := strings.TrimSpace(ts.ReadFile("stdout"))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(fmt.Sprintf("client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference %q\n", reference)), 0o666))
}

// isSame demands that files hold the same text apart from its colours, and from
// how a terminal ends lines.
func isSame(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: same FILE FILE…")
	}
	plain := func(name string) string { return strings.ReplaceAll(uncoloured(ts.ReadFile(name)), "\r\n", "\n") }
	for _, name := range args[1:] {
		if got, want := plain(name), plain(args[0]); got != want {
			ts.Fatalf("%s and %s differ:\n%s\n%s", args[0], name, want, got)
		}
	}
}

// uncoloured drops SGR sequences, ESC [ … m.
func uncoloured(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		end := strings.IndexFunc(after, func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 || after[end] != 'm' {
			b.WriteString("\x1b[") // not a colour: left for the caller to find
			text = after
			continue
		}
		text = after[end+1:]
	}
}
