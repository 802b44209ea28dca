package torture

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// inChild says to a test binary that it is a child, and what to do.
const inChild = "VERBATIM_TORTURE"

// An order is what a child does. It says what it tries before it tries it, and
// what came of it once the engine has answered: one line each, in one write.
type order struct {
	Store   string
	Who     string
	Seed    uint64
	Name    string        // of the stream, so that tags differ
	Count   int           // scripts of each stream; 0 is without end
	Streams int           // side by side; 0 is one, on one thread
	Reopen  int           // close the store and open it again after so many scripts
	Within  time.Duration // for each script; 0 is a minute

	Point string // where to die: see watched
	Hit   int    // the how manieth time it comes there
	Tell  bool   // say at the end which points were passed, and how often
	Same  string // instead of a stream: this script, under one key
	Agree string // instead of a stream: agree to this
	Big   bool   // scripts that a manager must agree to

	Plans *shift // instead of streams: make the steps of plans
}

// The words of a child.
const (
	saidTry     = "try"
	saidAck     = "ack"
	saidRefused = "refused"
	saidUnknown = "unknown"
	saidFailed  = "failed"
	saidPoint   = "point"
)

// A word is one line of what a child said.
type word struct {
	what, tag, rest string
}

// child is the process that is tortured.
func child(spec string, out, diag io.Writer) int {
	var o order
	if err := json.Unmarshal([]byte(spec), &o); err != nil {
		fmt.Fprintln(diag, err)
		return 2
	}
	if o.Plans != nil {
		if err := o.Plans.work(o.Store, out); err != nil {
			fmt.Fprintln(diag, err)
			return 4
		}
		return 0
	}
	if o.Streams == 0 {
		// Faults are counted for each thread.
		goruntime.LockOSThread()
	}
	if err := o.work(out); err != nil {
		fmt.Fprintln(diag, err)
		return 4
	}
	return 0
}

func (o *order) work(out io.Writer) error {
	ctx := context.Background()
	p := &points{die: o.Point, hit: o.Hit, passed: make(map[string]int)}
	tell := teller(out)
	opts := engine.Options{At: func(s engine.Stage) { p.at(string(s)) }}
	streams := make([]*stream, max(1, o.Streams))
	for n := range streams {
		name := o.Name
		if o.Streams > 0 {
			name = fmt.Sprintf("%s.%d", o.Name, n)
		}
		streams[n] = newStream(o.Seed+uint64(n), name)
	}
	turn := o.Count
	if o.Reopen > 0 {
		turn = o.Reopen
	}
	for done := 0; done == 0 || done < o.Count; done += turn {
		if err := o.sitting(ctx, streams, min(turn, o.Count-done), p, opts, tell); err != nil {
			return err
		}
	}
	if o.Tell {
		for _, name := range sorted(p.passed) {
			tell(saidPoint, name, fmt.Sprint(p.passed[name]))
		}
	}
	return nil
}

// teller writes one line at a time, each in one write.
func teller(out io.Writer) func(what, tag, rest string) {
	var mu sync.Mutex
	return func(what, tag, rest string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, "%s %s %s\n", what, tag, strings.ReplaceAll(rest, "\n", " "))
	}
}

// sitting opens the store, does so many scripts of each stream, and closes it.
func (o *order) sitting(ctx context.Context, streams []*stream, count int, p *points, opts engine.Options, tell func(what, tag, rest string)) error {
	store, err := open(ctx, o.Store)
	if err != nil {
		return err
	}
	s := &watched{store, p}
	if o.Streams == 0 {
		err = o.stream(ctx, s, opts, streams[0], count, p, tell)
	} else {
		var all sync.WaitGroup
		ends := make([]error, len(streams))
		for n := range streams {
			all.Go(func() { ends[n] = o.stream(ctx, s, opts, streams[n], count, p, tell) })
		}
		all.Wait()
		err = errors.Join(ends...)
	}
	return errors.Join(err, s.Close())
}

func (o *order) stream(ctx context.Context, s stores.Store, opts engine.Options, scripts *stream, count int, p *points, tell func(what, tag, rest string)) error {
	who := o.Who
	if who == "" {
		who = "tess"
	}
	d, err := sit(ctx, s, who, opts)
	if err != nil {
		return err
	}
	var manager *desk
	if o.Big {
		if manager, err = sit(ctx, s, "mara", opts); err != nil {
			return err
		}
	}
	for i := 0; count == 0 || i < count; i++ {
		var sc script
		switch {
		case o.Agree != "":
			sc.tag = o.Agree
		case o.Same != "":
			sc = script{tag: o.Name, text: o.Same}
		default:
			sc = scripts.take(o.Big)
		}
		within := o.Within
		if within == 0 {
			within = time.Minute
		}
		once, stop := context.WithTimeout(ctx, within)
		tell(saidTry, sc.tag, "")
		var reply *receipt.Receipt
		began := time.Now()
		switch {
		case o.Agree != "":
			_, reply, err = d.Agree(once, o.Agree)
		case sc.big:
			reply, err = d.propose(once, manager, sc)
		default:
			reply, err = d.do(once, sc.text, sc.tag)
		}
		took := time.Since(began)
		stop()
		p.at("ack")
		what, rest := outcome(reply, err)
		if over := took - within; over > time.Second {
			what, rest = saidFailed, fmt.Sprintf("HANGS: it took %s longer than it had", over)
		}
		tell(what, sc.tag, rest)
		p.at("acked")
	}
	return nil
}

// outcome puts what an engine answered into a word.
func outcome(reply *receipt.Receipt, err error) (what, rest string) {
	var refusal *engine.Refusal
	var failure *engine.Failure
	switch {
	case err == nil:
		return saidAck, fmt.Sprintf("%d..%d %t", reply.First, reply.Last, reply.Repeated)
	case errors.As(err, &refusal):
		rest = refusal.Diagnostics[0].Code
		if agreeing := (*whileAgreeing)(nil); errors.As(err, &agreeing) {
			rest += " " + agreeing.id
		}
		return saidRefused, rest
	case errors.As(err, &failure) && failure.Unknown:
		return saidUnknown, err.Error()
	}
	return saidFailed, err.Error()
}

// propose asks for what somebody else must agree to, and has them agree.
func (d *desk) propose(ctx context.Context, manager *desk, sc script) (*receipt.Receipt, error) {
	parsed, ds := dsl.Parse(dsl.NewSource("bank.dsl", sc.text))
	if ds.HasErrors() {
		return nil, errors.New(told(ds))
	}
	if reply, err := d.Journal().Repeat(ctx, parsed, sc.tag); err != nil || reply != nil {
		return reply, err
	}
	p, err := d.program(sc.text)
	if err != nil {
		return nil, err
	}
	o := engine.RunOptions{Key: sc.tag}
	preview, err := d.Preview(ctx, p)
	// A look is no attempt: one that met somebody's change is taken again, and
	// the journal says nothing of it.
	for try := 0; err != nil && try < 20 && ctx.Err() == nil && meanwhile(err); try++ {
		preview, err = d.Preview(ctx, p)
	}
	if err != nil {
		return nil, err
	}
	o.Agreed = preview.ID
	pending, err := d.Propose(ctx, p, o)
	if err != nil {
		return nil, err
	}
	_, reply, err := manager.Agree(ctx, pending.ID)
	if err != nil {
		err = &whileAgreeing{pending.ID, err}
	}
	return reply, err
}

// meanwhile reports whether somebody else was changing the same rows.
func meanwhile(err error) bool {
	var refusal *engine.Refusal
	return errors.As(err, &refusal) && refusal.Diagnostics[0].Code == "changed-meanwhile"
}

// whileAgreeing is what went wrong as somebody agreed: the journal tells of it
// under the confirmation's name, since it is theirs to agree to and not a call of
// the asker's.
type whileAgreeing struct {
	id string
	error
}

func (e *whileAgreeing) Unwrap() error { return e.error }

// points are the places where a process can be told to die.
type points struct {
	mu     sync.Mutex
	die    string
	hit    int
	passed map[string]int
}

func (p *points) at(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed[name]++
	if p.die == name && p.passed[name] == p.hit {
		// Nothing of the program runs after this: no deferred call, no flush.
		_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// watched passes points at every call of a store. With the stages of the engine
// they are, for a script that changes something:
//
//	permit begin begun resolve gate carry settle apply … written agreed record
//	journal journalled … commit committed reply ack acked
type watched struct {
	stores.Store
	p *points
}

func (w *watched) View(ctx context.Context, scope stores.Scope, fn func(stores.Reader) error) error {
	w.p.at("view")
	defer w.p.at("viewed")
	return w.Store.View(ctx, scope, fn)
}

func (w *watched) Update(ctx context.Context, scope stores.Scope, fn func(stores.Tx) error) error {
	w.p.at("begin")
	err := w.Store.Update(ctx, scope, func(tx stores.Tx) error {
		w.p.at("begun")
		if err := fn(&watchedTx{tx, w.p}); err != nil {
			w.p.at("rollback")
			return err
		}
		w.p.at("commit")
		return nil
	})
	if err != nil {
		w.p.at("rolled-back")
	} else {
		w.p.at("committed")
	}
	return err
}

type watchedTx struct {
	stores.Tx
	p *points
}

func (w *watchedTx) Get(ctx context.Context, e *stores.Entity, key stores.Value) (stores.Row, error) {
	w.p.at("get")
	return w.Tx.Get(ctx, e, key)
}

func (w *watchedTx) Find(ctx context.Context, f stores.Find) ([][]stores.Value, error) {
	w.p.at("find")
	return w.Tx.Find(ctx, f)
}

func (w *watchedTx) Apply(ctx context.Context, b stores.Batch) error {
	before, after := "write", "written"
	switch {
	case len(b.Jobs) > 0:
		before, after = "notice", "noticed"
	case len(b.Entries) > 0:
		before, after = "journal", "journalled"
	}
	w.p.at(before)
	err := w.Tx.Apply(ctx, b)
	w.p.at(after)
	return err
}

// A process is a child while it runs.
type process struct {
	cmd  *exec.Cmd
	out  *growing
	diag bytes.Buffer
}

// growing is what a child has said so far.
type growing struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (g *growing) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.b.Write(p)
}

func (g *growing) words() []word {
	g.mu.Lock()
	defer g.mu.Unlock()
	return words(g.b.String())
}

// words reads what a child said. A line that was cut off was not said.
func words(text string) []word {
	var all []word
	for line := range strings.Lines(text) {
		if !strings.HasSuffix(line, "\n") {
			break
		}
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 3)
		if len(f) == 3 {
			all = append(all, word{f[0], f[1], f[2]})
		}
	}
	return all
}

// spawn starts a child, under a program that watches it if one is named.
func spawn(t *testing.T, o order, under ...string) *process {
	t.Helper()
	spec, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(under[:len(under):len(under)], self)
	p := &process{cmd: exec.Command(args[0], args[1:]...), out: new(growing)}
	p.cmd.Env = append(os.Environ(), inChild+"="+string(spec))
	p.cmd.Stdout, p.cmd.Stderr = p.out, &p.diag
	// A child does not outlive a test that is stopped.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	return p
}

func (p *process) kill() { _ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }

// wait waits for the end, and returns what was said and how it ended.
func (p *process) wait() ([]word, error) {
	err := p.cmd.Wait()
	if err != nil && p.diag.Len() > 0 {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(p.diag.Bytes()))
	}
	return p.out.words(), err
}

// run is spawn and wait.
func (o order) run(t *testing.T, under ...string) ([]word, error) {
	t.Helper()
	return spawn(t, o, under...).wait()
}

// killed reports whether a process ended by SIGKILL.
func killed(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}
