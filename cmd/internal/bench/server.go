package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

// A server is a PostgreSQL server of our own that waits for the disk, with one
// database that holds a bank. The peers work on the very tables that we work
// on, as a superuser, whom no policy holds; only the journal has a copy for
// them, since a line of theirs is chained to nothing.
type server struct {
	*bank       // synchronous_commit is on, as it is unless somebody says otherwise
	async *bank // synchronous_commit is off
	pool  *pgxpool.Pool
	app   *pgxpool.Pool // as the application's role
	db    pgtest.DB
	line  map[string]string // what a line of the journal holds
	host  *host
}

// errNoServer says that there is nothing to measure on.
type errNoServer struct{ why string }

func (e errNoServer) Error() string { return e.why }

// A host is what pgtest asks of a test, for a program that is none.
type host struct {
	testing.TB
	cleanups []func()
}

func (h *host) Helper()           {}
func (h *host) Cleanup(fn func()) { h.cleanups = append(h.cleanups, fn) }
func (h *host) Error(args ...any) { fmt.Fprintln(os.Stderr, append([]any{"peers:"}, args...)...) }
func (h *host) Fatal(args ...any) { panic(hostStop{errors.New(fmt.Sprint(args...))}) }
func (h *host) Skip(args ...any)  { panic(hostStop{errNoServer{"PostgreSQL is not installed"}}) }

type hostStop struct{ err error }

// database makes a database on a server that waits for the disk.
func (h *host) database() (db pgtest.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			stop, ok := r.(hostStop)
			if !ok {
				panic(r)
			}
			err = stop.err
		}
	}()
	return pgtest.Durable(h), nil
}

// theServer is begun by whoever asks first. stopServer ends it, if anybody did.
var (
	theServer = sync.OnceValues(func() (*server, error) {
		s, err := openServer()
		if err == nil {
			stopServer = s.stop
		}
		return s, err
	})
	stopServer = func() {}
)

func openServer() (*server, error) {
	s := &server{host: &host{}}
	if err := s.open(context.Background()); err != nil {
		s.stop()
		return nil, err
	}
	return s, nil
}

func (s *server) open(ctx context.Context) (err error) {
	if s.db, err = s.host.database(); err != nil {
		return err
	}
	size := fmt.Sprintf("&pool_max_conns=%d", many)
	connect := func(more string) (*postgres.Store, error) {
		store, err := postgres.Open(ctx, s.db.App+size+more, postgres.MigrateAs(s.db.Owner))
		if err == nil {
			s.host.Cleanup(func() { store.Close() })
		}
		return store, err
	}
	waits, err := connect("")
	if err != nil {
		return err
	}
	if s.bank, err = openBank(waits); err != nil {
		return err
	}
	async, err := connect("&synchronous_commit=off")
	if err != nil {
		return err
	}
	if s.async, err = enterBank(async, s.bank.reg); err != nil {
		return err
	}
	if s.pool, err = pgxpool.New(ctx, s.db.Admin+size); err != nil {
		return err
	}
	s.host.Cleanup(s.pool.Close)
	if s.app, err = pgxpool.New(ctx, s.db.App+size); err != nil {
		return err
	}
	s.host.Cleanup(s.app.Close)
	if err := s.aNote(0, 0); err != nil {
		return err
	}
	for _, sql := range []string{
		chainTable("peers_journal"), `TRUNCATE public.peers_journal`, `CREATE SEQUENCE public.peers_seq`,
		chainTable("peers_chain"),
		`VACUUM ANALYZE`,
	} {
		if _, err = s.pool.Exec(ctx, sql); err != nil {
			return err
		}
	}
	e, err := s.lastEntry()
	if err != nil {
		return err
	}
	s.line = map[string]string{"principal": e.Principal, "session": e.Session, "source": e.Source, "verb": e.Verb,
		"call": e.Call, "changes": e.Changes, "preview": e.Preview, "palette": e.Palette}
	return nil
}

// stop ends the server.
func (s *server) stop() {
	for _, fn := range slices.Backward(s.host.cleanups) {
		fn()
	}
	if s.db.Dir == "" {
		return
	}
	text, _ := os.ReadFile(filepath.Join(s.db.Dir, "data", "postmaster.pid"))
	first, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil || syscall.Kill(pid, syscall.SIGQUIT) != nil {
		return
	}
	for range 200 {
		if syscall.Kill(pid, 0) != nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	_ = os.RemoveAll(s.db.Dir)
}

// vars are what a line of the journal needs, in the order of the columns.
var vars = []string{"principal", "session", "source", "verb", "call", "changes", "preview", "palette"}

// The statements of the peers. {name} is a variable.
const (
	theRow = `SELECT q.request_id FROM bank.requests q JOIN bank.workstreams w ON w.workstream_id = q.workstream JOIN bank.cases c ON c.case_id = w."case"
		WHERE q.request_id = {request}::uuid AND c.cbu = {cbu}::uuid AND q.status IS NOT NULL`
	setNote = `UPDATE bank.requests SET notes = {note}, updated_at = now() WHERE request_id = `
	aLine   = `INSERT INTO public.peers_journal SELECT n, now(), {principal}, '["client"]', {session}, {source}, {verb}, {call}, 'ok', '', {changes}, {preview}, '', {palette}, '', '', sha256(int8send(n)), sha256(int8send(n)), sha256(int8send(n)) FROM nextval('public.peers_seq') n`
	theirs  = `SELECT q.request_id, q.name, q.due_date, q.status, w.name FROM bank.requests q JOIN bank.workstreams w ON w.workstream_id = q.workstream JOIN bank.cases c ON c.case_id = w."case" WHERE c.cbu = {cbu}::uuid AND q.status <> 'FULFILLED' ORDER BY q.due_date, q.request_id LIMIT 100`
	// Tables of ours have a column that says whose a row is. Who leaves it out has
	// a trigger fill it in; the peers, who know it, are spared that.
	reminder = `INSERT INTO bank.reminders (reminder_id, request, commitment, remind_on, created_at, verbatim_root) SELECT gen_random_uuid(), request_id, {note}, date '2025-01-04', now(), {cbu}::uuid FROM `
)

// oneStatement is a write as one statement.
var oneStatement = `WITH r AS (` + theRow + `), u AS (UPDATE bank.requests t SET notes = {note}, updated_at = now() FROM r WHERE t.request_id = r.request_id RETURNING t.request_id),
	m AS (` + reminder + `u) ` + aLine + `, u`

// twoRows is a write without its line of the journal, and chainedLine the line,
// in a copy of the journal of its own, after the last one there and with its
// hash.
var (
	twoRows     = `WITH r AS (` + theRow + `), u AS (UPDATE bank.requests t SET notes = {note}, updated_at = now() FROM r WHERE t.request_id = r.request_id RETURNING t.request_id) ` + reminder + `u`
	chainedLine = strings.NewReplacer(
		"peers_journal SELECT n,", "peers_chain SELECT h.seq + 1,",
		"sha256(int8send(n)), sha256(int8send(n)), sha256(int8send(n)) FROM nextval('public.peers_seq') n",
		"h.hash, sha256(int8send(h.seq)), sha256(h.hash || int8send(h.seq + 1)) FROM (SELECT seq, hash FROM public.peers_chain ORDER BY seq DESC LIMIT 1) h").Replace(aLine)
)

// sixStatements are a write as a program without an engine does it.
var sixStatements = []string{
	`BEGIN`,
	theRow + ` FOR UPDATE OF q`,
	setNote + `{request}::uuid`,
	reminder + `(SELECT {request}::uuid AS request_id) q`,
	aLine,
	`COMMIT`,
}

// Prefixes of keys, to which pgbench and SQL add the number of the row.
const keyTail = "-0000-4000-8000-"

// forPgbench writes statements as a script of pgbench.
func (s *server) forPgbench(statements ...string) string {
	key := func(kind int, n string) string {
		return fmt.Sprintf("('%08d%s' || lpad(to_hex(%s::int), 12, '0'))", kind, keyTail, n)
	}
	pairs := []string{
		"{request}", key(aRequest, ":row"), "{cbu}", key(aCBU, ":client_id"), "\n", " ",
		"{note}", "('Accountant is sending it, ' || :salt::text)",
	}
	for _, v := range vars {
		is := ":" + v + "::text"
		if s.line[v] == "" { // which pgbench takes for no variable
			is = "''"
		}
		pairs = append(pairs, "{"+v+"}", is)
	}
	r := strings.NewReplacer(pairs...)
	text := fmt.Sprintf("\\set row :client_id * %d + random(0, %d)\n\\set salt random(1, 1000000000)\n", theirRows, theirRows-1)
	for _, statement := range statements {
		text += r.Replace(statement) + ";\n"
	}
	return text
}

// forPgx writes a statement for pgx, and how to make its arguments.
func (s *server) forPgx(statement string) (sql string, args func(who, i int) []any) {
	all := append([]string{"request", "cbu", "note"}, vars...)
	var used []string
	var pairs []string
	for _, v := range all {
		if strings.Contains(statement, "{"+v+"}") {
			used = append(used, v)
			pairs = append(pairs, "{"+v+"}", fmt.Sprintf("$%d::text", len(used)))
		}
	}
	return strings.NewReplacer(pairs...).Replace(statement), func(who, i int) []any {
		args := make([]any, len(used))
		for j, v := range used {
			switch v {
			case "request":
				rows := theirRows
				if who == busy {
					rows = manyRows
				}
				args[j] = bankKey(aRequest, who*theirRows+i%rows).Text()
			case "cbu":
				args[j] = bankKey(aCBU, who).Text()
			case "note":
				args[j] = fmt.Sprintf("Accountant is sending it, %d", notes.Add(1))
			default:
				args[j] = s.line[v]
			}
		}
		return args
	}
}

// pgbench makes a contestant of a script for pgbench, all clients at once.
func (s *server) pgbench(name string, statements ...string) *contestant {
	program := findPgbench()
	if program == "" {
		return absent(name, errors.New("pgbench is not installed"))
	}
	file := filepath.Join(s.db.Dir, strings.ReplaceAll(name, " ", "-")+".sql")
	if err := os.WriteFile(file, []byte(s.forPgbench(statements...)), 0o644); err != nil {
		return absent(name, err)
	}
	u, err := url.Parse(s.db.Admin)
	if err != nil {
		return absent(name, err)
	}
	args := []string{"-n", "-h", s.db.Dir, "-U", u.Query().Get("user"), "-M", "prepared", "-c", strconv.Itoa(clients), "-j", "2", "-f", file}
	for _, v := range vars {
		if s.line[v] != "" {
			args = append(args, "-D", v+"="+s.line[v])
		}
	}
	args = append(args, "-T", strconv.Itoa(int(turn.Seconds())), strings.TrimPrefix(u.Path, "/"))
	return &contestant{name: name, per: 1, sample: func() (float64, error) {
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%w: %s", err, out)
		}
		for line := range strings.Lines(string(out)) {
			rest, ok := strings.CutPrefix(line, "tps = ")
			if !ok {
				continue
			}
			if tps, err := strconv.ParseFloat(strings.Fields(rest)[0], 64); err == nil && tps > 0 {
				return 1e9 / tps, nil
			}
		}
		return 0, fmt.Errorf("pgbench told no speed: %s", out)
	}}
}

func findPgbench() string {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench")
	more, _ := filepath.Glob("/usr/pgsql-*/bin/pgbench")
	if found = append(found, more...); len(found) > 0 {
		return found[len(found)-1]
	}
	path, _ := exec.LookPath("pgbench")
	return path
}

// chainTable makes a table of entries in a hash chain, as the peers keep it, with one entry.
func chainTable(name string) string {
	return `CREATE TABLE public.` + name + ` AS SELECT seq, "time", principal, roles, session, source, verb, call, outcome, reason, changes, preview, agreed, palette, turn, origins, sha256(body) AS prev, body, body AS hash FROM public.verbatim_journal LIMIT 1;
		ALTER TABLE public.` + name + ` ADD PRIMARY KEY (seq), ADD UNIQUE (prev), ALTER body SET NOT NULL, ALTER hash SET NOT NULL`
}
