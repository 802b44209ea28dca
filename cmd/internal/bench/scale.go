package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"verbatim/stores/postgres/pgtest"
)

// scale starts more and more real servers and workers on one PostgreSQL, and says what
// they do together: calls answered, how long they took, who used the processors, and how
// much of the time the journal, which has one end, was somebody's. What was acknowledged is
// counted after each stage: nothing is lost, and nothing is there twice.

// scalePalette is the bank with work for later, in a domain of its own.
const scalePalette = bankPalette + `  - verb: remember
    description: Be reminded of something in a second.
    roles: [client]
    args:
      - {name: request-id, type: ref, ref-type: request, required: true}
      - {name: note, type: string, required: true}
    effects:
      - triggers: later
        at: now + seconds(1)
        run: bank.recall :request-id @request-id :note @note
  - verb: recall
    description: What was to be remembered.
    roles: [client]
    internal: true
    args:
      - {name: request-id, type: ref, ref-type: request, required: true}
      - {name: note, type: string, required: true}
    effects:
      - creates: reminder
        set: {request: request-id, commitment: note, remind_on: today, created_at: now}
`

// A fleet is a store, what serves it, and whom.
type fleet struct {
	host     *host
	db       pgtest.DB
	admin    *pgxpool.Pool
	dir      string
	program  string
	replica  string // URL of a server to read from
	servers  []*process
	workers  []*process
	visitors []*http.Client // one for each connection, with an address of its own
	noted    atomic.Int64   // notes that were acknowledged, in all stages
	recalls  atomic.Int64   // works for later that were
	again    atomic.Int64   // requests that were told to come back
}

type process struct {
	*exec.Cmd
	url string
	log bytes.Buffer
}

// people is how many clients there are, each with rows of their own.
const people = 100

func openFleet() (f *fleet, err error) {
	f = &fleet{host: &host{}}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.db, err = f.host.database(); err != nil {
		return f, err
	}
	ctx := context.Background()
	if f.admin, err = pgxpool.New(ctx, f.db.Admin+"&pool_max_conns=2"); err != nil {
		return f, err
	}
	f.host.Cleanup(f.admin.Close)
	if f.dir, err = os.MkdirTemp("", "verbatim-scale-"); err != nil {
		return f, err
	}
	f.host.Cleanup(func() { os.RemoveAll(f.dir) })
	f.program = filepath.Join(f.dir, "verbatim")
	build := exec.Command("go", "build", "-o", f.program, "./cmd/verbatim")
	build.Dir = filepath.Join("..", "..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		return f, fmt.Errorf("go build: %w\n%s", err, out)
	}
	if err := errors.Join(os.Mkdir(filepath.Join(f.dir, "verbs"), 0o755), os.WriteFile(filepath.Join(f.dir, "verbs", "bank.yaml"), []byte(scalePalette), 0o644)); err != nil {
		return f, err
	}
	if err := f.do(f.db.Owner, "migrate", "--grant-to", "verbatim_app"); err != nil {
		return f, err
	}
	rows := filepath.Join(f.dir, "rows.sql")
	if err := os.WriteFile(rows, []byte(scaleRows()), 0o644); err != nil {
		return f, err
	}
	return f, f.do(f.db.Owner, "migrate", "--grant-to", "verbatim_app", "--data", rows)
}

func (f *fleet) close() {
	f.stop()
	(&server{host: f.host, db: f.db}).stop()
}

func scaleRows() string {
	var b strings.Builder
	for i := range people {
		key := func(kind, n int) string { return "'" + bankKey(kind, n).Text() + "'" }
		fmt.Fprintf(&b, "INSERT INTO verbatim_principal (name, label) VALUES ('%[1]s', '%[1]s');\n", client(i))
		fmt.Fprintf(&b, "INSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('%s', 'client', '', ''), ('%s', '', 'cbu', %s);\n", client(i), client(i), key(aCBU, i))
		fmt.Fprintf(&b, "INSERT INTO bank.cbus (cbu_id, name) VALUES (%s, 'Client %d');\n", key(aCBU, i), i)
		fmt.Fprintf(&b, "INSERT INTO bank.cases (case_id, name, cbu) VALUES (%s, 'Case %d', %s);\n", key(aCase, i), i, key(aCBU, i))
		fmt.Fprintf(&b, "INSERT INTO bank.workstreams (workstream_id, name, \"case\") VALUES (%s, 'Part %d', %s);\n", key(aWorkstream, i), i, key(aCase, i))
		for j := range theirRows {
			fmt.Fprintf(&b, "INSERT INTO bank.requests (request_id, name, workstream, status, due_date) VALUES (%s, 'Request %d', %s, 'PENDING', date '2025-01-03' + %d);\n", key(aRequest, i*theirRows+j), i*theirRows+j, key(aWorkstream, i), j)
		}
	}
	return b.String()
}

// command is verbatim on a store.
func (f *fleet) command(store string, args ...string) *exec.Cmd {
	cmd := exec.Command(f.program, args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "VERBATIM_STORE="+store, "VERBATIM_PALETTES="+filepath.Join(f.dir, "verbs"), "XDG_STATE_HOME="+filepath.Join(f.dir, "state"), "GOMAXPROCS="+fmt.Sprint(runtime.NumCPU()))
	return cmd
}

func (f *fleet) do(store string, args ...string) error {
	if out, err := f.command(store, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("verbatim %s: %w\n%s", args[0], err, out)
	}
	return nil
}

// start starts servers and workers, and signs everybody in.
func (f *fleet) start(servers, workers int) error {
	store := f.db.App + "&pool_max_conns=16"
	for i := range servers {
		args := []string{"serve", "--listen", "127.0.0.1:0", "--no-work", "--log", "error"}
		if i == 0 {
			for who := range people {
				args = append(args, "--sign-in", client(who))
			}
		}
		p := &process{Cmd: f.command(store, args...)}
		p.Stderr = &p.log
		if f.replica != "" {
			p.Env = append(p.Env, "VERBATIM_REPLICA="+f.replica+"&pool_max_conns=16")
		}
		out, err := p.StdoutPipe()
		if err == nil {
			err = p.Start()
		}
		if err != nil {
			return err
		}
		f.servers = append(f.servers, p)
		links, lines := 0, bufio.NewScanner(out)
		for (p.url == "" || i == 0 && links < people) && lines.Scan() {
			if at, ok := strings.CutPrefix(lines.Text(), "serving   "); ok {
				p.url = at
			} else if m := signInLink.FindStringSubmatch(lines.Text()); m != nil {
				if err := f.signIn(p.url, links, m[1]); err != nil {
					return err
				}
				links++
			}
		}
		if p.url == "" {
			return fmt.Errorf("a server does not serve: %s", &p.log)
		}
	}
	for range workers {
		p := &process{Cmd: f.command(store, "work")}
		p.Stderr, p.Stdout = &p.log, io.Discard
		if err := p.Start(); err != nil {
			return err
		}
		f.workers = append(f.workers, p)
	}
	return nil
}

var signInLink = regexp.MustCompile(`^sign in +\S+ +\S+[?]link=([^&]+)`)

// signIn makes the visitor with a number, who comes from an address of their own.
func (f *fleet) signIn(at string, who int, link string) error {
	jar, _ := cookiejar.New(nil)
	v := &http.Client{Jar: jar, Timeout: 30 * time.Second, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(who+1))}}).DialContext}}
	answer, err := v.PostForm(at+"/sign-in/link", url.Values{"link": {link}})
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusSeeOther {
		return fmt.Errorf("%s cannot sign in: %s", client(who), answer.Status)
	}
	if who == 0 {
		f.visitors = nil
	}
	f.visitors = append(f.visitors, v)
	return nil
}

// stop ends servers and workers as an operator does.
func (f *fleet) stop() (err error) {
	for _, p := range slices.Concat(f.servers, f.workers) {
		_ = p.Process.Signal(os.Interrupt)
	}
	for _, p := range slices.Concat(f.servers, f.workers) {
		if e := p.Wait(); e != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s", e, &p.log))
		}
	}
	for _, v := range f.visitors {
		v.CloseIdleConnections()
	}
	f.servers, f.workers = nil, nil
	return err
}

// ask sends a script, again where it is told to come back, and says how long the answer
// took.
func (f *fleet) ask(server, who int, key, script, want string) (time.Duration, error) {
	body, _ := json.Marshal(map[string]string{"script": script})
	began := time.Now()
	for {
		r, err := http.NewRequest(http.MethodPost, f.servers[server].url+"/v1/run", bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		r.Header.Set("Content-Type", "application/json")
		if key != "" {
			r.Header.Set("Idempotency-Key", key)
		}
		answer, err := f.visitors[who].Do(r)
		if err != nil {
			return 0, err
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		switch {
		case err != nil:
			return 0, err
		case answer.StatusCode == http.StatusServiceUnavailable || answer.StatusCode == http.StatusTooManyRequests:
			f.again.Add(1)
			time.Sleep(50 * time.Millisecond)
		case answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(want)):
			return 0, fmt.Errorf("%s is answered %s: %.300s", script, answer.Status, text)
		default:
			return time.Since(began), nil
		}
	}
}

// A spell is what a while of load came to.
type spell struct {
	took                   time.Duration
	reads, writes          []time.Duration
	again                  int64
	servers, workers       float64 // processors used
	postgres, replica, own float64
	held                   float64        // the share of the time in which the journal's lock was somebody's
	doing                  map[string]int // what connections were at, whenever somebody looked
	entries                int64
}

// call makes one call of the mix: of ten, five reads, four writes and one for later.
func (f *fleet) call(s *spell, mu *sync.Mutex, server, who int) error {
	n := rand.IntN(10)
	row := `"` + bankKey(aRequest, who*theirRows+rand.IntN(theirRows)).Text() + `"`
	text := fmt.Sprintf("Accountant is sending it, %d", notes.Add(1))
	read := n < 5
	key, script, want, count := text, fmt.Sprintf(`bank.add-note :request-id %s :note "%s" :expected-date 2025-01-03`, row, text), text, &f.noted
	switch {
	case read:
		key, script, want, count = "", listing, `"name"`, nil
	case n == 9:
		script, want, count = fmt.Sprintf(`bank.remember :request-id %s :note "later, %s"`, row, text), `"outcome":"done"`, &f.recalls
	}
	d, err := f.ask(server, who, key, script, want)
	if err != nil {
		return err
	}
	if count != nil {
		count.Add(1)
	}
	mu.Lock()
	defer mu.Unlock()
	if read {
		s.reads = append(s.reads, d)
	} else {
		s.writes = append(s.writes, d)
	}
	return nil
}

// loaded has connections make calls, one after the other, for a while.
func (f *fleet) loaded(connections int, d time.Duration) (*spell, error) {
	s := &spell{}
	var mu sync.Mutex
	var all sync.WaitGroup
	failed := make(chan error, connections)
	before, again := f.used(), f.again.Load()
	stop := f.watch(s)
	began := time.Now()
	for c := range connections {
		all.Go(func() {
			for i := c; time.Since(began) < d; i++ {
				if err := f.call(s, &mu, i%len(f.servers), c%people); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	s.took = time.Since(began)
	stop()
	s.again = f.again.Load() - again
	after := f.used()
	for i, p := range []*float64{&s.servers, &s.workers, &s.postgres, &s.replica, &s.own} {
		*p = (after[i] - before[i]).Seconds() / s.took.Seconds()
	}
	select {
	case err := <-failed:
		return nil, err
	default:
		return s, nil
	}
}

// used is the time of processors that servers, workers, PostgreSQL, its replica and this
// program have had.
func (f *fleet) used() (all [5]time.Duration) {
	for i, ps := range [][]*process{f.servers, f.workers} {
		for _, p := range ps {
			all[i] += ticks(p.Process.Pid)
		}
	}
	all[2] = family(f.db.Dir)
	if u, err := url.Parse(f.replica); err == nil && f.replica != "" {
		all[3] = family(u.Query().Get("host"))
	}
	all[4] = used(syscall.RUSAGE_SELF)
	return all
}

// family is what a server of PostgreSQL and its processes have used, those that ended too.
func family(dir string) (sum time.Duration) {
	text, _ := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
	var top int
	if _, err := fmt.Sscan(string(text), &top); err != nil {
		return 0
	}
	for _, pid := range descendants() {
		if pid == top || parent(pid) == top {
			sum += ticks(pid)
		}
	}
	return sum
}

func parent(pid int) (of int) {
	if f := stat(pid); len(f) > 1 {
		fmt.Sscan(string(f[1]), &of)
	}
	return of
}

// watch looks a hundred times a second at who has the journal's lock and who waits for it.
// A lock that is held at one look of two is held half of the time.
func (f *fleet) watch(s *spell) (stop func()) {
	const look = `SELECT (SELECT count(*) FROM pg_locks l WHERE l.granted AND l.locktype = 'advisory' AND ((l.classid::bigint << 32) | l.objid::bigint) = -2102251852386772864),
	ARRAY(SELECT CASE WHEN wait_event IS NULL THEN 'processor' WHEN wait_event = 'advisory' THEN 'journal' ELSE wait_event END FROM pg_stat_activity WHERE usename = 'verbatim_app' AND state = 'active')::text[]`
	const last = "SELECT coalesce(max(seq), 0) FROM public.verbatim_journal"
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	var first int64
	_ = f.admin.QueryRow(ctx, last).Scan(&first)
	go func() {
		defer close(done)
		var looks, held float64
		s.doing = map[string]int{}
		for ctx.Err() == nil {
			var h float64
			var doing []string
			if f.admin.QueryRow(ctx, look).Scan(&h, &doing) == nil {
				looks, held = looks+1, held+min(h, 1)
				for _, what := range doing {
					s.doing[what]++
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		s.held = held / max(1, looks)
	}()
	return func() {
		cancel()
		<-done
		_ = f.admin.QueryRow(context.Background(), last).Scan(&s.entries)
		s.entries -= first
	}
}

// judge waits until all that is for later is done, and counts.
func (f *fleet) judge() error {
	ctx := context.Background()
	var reminders, distinct, recalled int64
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := f.admin.QueryRow(ctx, `SELECT count(*) FILTER (WHERE commitment NOT LIKE 'later, %'), count(DISTINCT commitment), count(*) FILTER (WHERE commitment LIKE 'later, %') FROM bank.reminders`).Scan(&reminders, &distinct, &recalled)
		if err != nil {
			return err
		}
		if recalled >= f.recalls.Load() || time.Now().After(deadline) {
			break
		}
	}
	if reminders != f.noted.Load() || recalled != f.recalls.Load() || distinct != reminders+recalled {
		return fmt.Errorf("%d notes and %d works for later were acknowledged; there are %d and %d, %d of them different", f.noted.Load(), f.recalls.Load(), reminders, recalled, distinct)
	}
	return f.do(f.db.App, "log", "verify")
}

// most says what connections were at the most.
func (s *spell) most() string {
	all := 0
	for _, n := range s.doing {
		all += n
	}
	var words []string
	for _, what := range slices.SortedFunc(maps.Keys(s.doing), func(a, b string) int { return s.doing[b] - s.doing[a] }) {
		if share := 100 * s.doing[what] / max(1, all); share >= 3 {
			words = append(words, fmt.Sprintf("%s %d", what, share))
		}
	}
	return strings.Join(words, ", ")
}

func within99(d []time.Duration) (half, most time.Duration) {
	if len(d) == 0 {
		return 0, 0
	}
	slices.Sort(d)
	return d[len(d)/2], d[len(d)*99/100]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.1f", float64(d)/1e6) }

// A stage is a number of servers and workers.
type stage struct {
	servers, workers int
	replica          bool
}

// scaled prints the tables.
func scaled(connections int, d time.Duration, stages []stage) error {
	f, err := openFleet()
	if err != nil {
		return err
	}
	defer f.close()
	fmt.Printf("%s, %d processors, %d connections that each make one call after the other, %s a stage.\n", runtime.Version(), runtime.NumCPU(), connections, d)
	fmt.Println("Of ten calls, five read, four write and one is for later. The load is made on the same processors, and others use the machine: read the ratios.")
	fmt.Println("held: the share of the time in which the journal's lock was somebody's; entries/s by held is what the journal could take on this machine.")
	fmt.Println("connections were at: the processor, or waiting for the journal's lock, the disk (WAL…) or something else, in percent of all looks.")
	fmt.Println("Milliseconds; processors that were used. PostgreSQL waits for the disk.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "servers\tworkers\treplica\tcalls/s\tread p50\tp99\twrite p50\tp99\tservers\tworkers\tPostgreSQL\treplica\tthis\tentries/s\theld\tcome back\tload\tconnections were at")
	for _, st := range stages {
		f.replica = ""
		if st.replica {
			standby, err := f.follow()
			if err != nil {
				return err
			}
			f.replica = standby
		}
		if err := f.start(st.servers, st.workers); err != nil {
			return err
		}
		if _, err := f.loaded(connections, time.Second); err != nil { // plans and caches
			return err
		}
		s, err := f.loaded(connections, d)
		if err == nil {
			err = f.judge()
		}
		if err = errors.Join(err, f.stop()); err != nil {
			return err
		}
		sec := s.took.Seconds()
		rh, rm := within99(s.reads)
		wh, wm := within99(s.writes)
		fmt.Fprintf(w, "%d\t%d\t%v\t%.0f\t%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%.2f\t%.0f\t%.0f %%\t%d\t%s\t%s\n", st.servers, st.workers, map[bool]string{true: "yes", false: "no"}[st.replica],
			float64(len(s.reads)+len(s.writes))/sec, ms(rh), ms(rm), ms(wh), ms(wm), s.servers, s.workers, s.postgres, s.replica, s.own,
			float64(s.entries)/sec, 100*s.held, s.again, machineLoad(), s.most())
	}
	w.Flush()
	return f.noisy(d)
}

// follow has a server follow the store's.
func (f *fleet) follow() (at string, err error) {
	defer func() {
		if r := recover(); r != nil {
			stop, ok := r.(hostStop)
			if !ok {
				panic(r)
			}
			err = stop.err
		}
	}()
	s := f.db.Follow(f.host)
	return s.Of(f.db).App, nil
}

// noisy asks how long quiet clients wait while one asks for as much as it can get: ninety-
// nine make a call twice a second, with one server, and then one more asks over 64
// connections from one address.
func (f *fleet) noisy(d time.Duration) error {
	f.replica = ""
	if err := f.start(1, 1); err != nil {
		return err
	}
	fmt.Println("\nA hundred clients of one server, of whom one is noisy: the other 99 make a call twice a second.")
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "the noisy one\tquiet calls\tread p50\tp99\twrite p50\tp99\tits calls/s\tit is told to come back/s\tload")
	for _, noise := range []int{0, 64} {
		quiet, loud := &spell{}, &spell{}
		var mu, loudMu sync.Mutex
		var all sync.WaitGroup
		failed := make(chan error, people+noise)
		again, began := f.again.Load(), time.Now()
		for who := range people - 1 {
			all.Go(func() {
				for next := began.Add(rand.N(500 * time.Millisecond)); next.Before(began.Add(d)); next = next.Add(500 * time.Millisecond) {
					time.Sleep(time.Until(next))
					if err := f.call(quiet, &mu, 0, who); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		for range noise {
			all.Go(func() {
				for time.Since(began) < d {
					if err := f.call(loud, &loudMu, 0, people-1); err != nil {
						failed <- err
						return
					}
				}
			})
		}
		all.Wait()
		select {
		case err := <-failed:
			return err
		default:
		}
		rh, rm := within99(quiet.reads)
		wh, wm := within99(quiet.writes)
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t%s\n", map[bool]string{true: "is silent", false: "asks over 64 connections"}[noise == 0], len(quiet.reads)+len(quiet.writes), ms(rh), ms(rm), ms(wh), ms(wm),
			float64(len(loud.reads)+len(loud.writes))/d.Seconds(), float64(f.again.Load()-again)/d.Seconds(), machineLoad())
	}
	w.Flush()
	return errors.Join(f.judge(), f.stop())
}
