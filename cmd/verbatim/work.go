package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	_ "time/tzdata" // a machine may have no time zone data

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/jobs/notify"
	"verbatim/runtime/jobs/worker"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// workFlags are the flags of `verbatim work`.
type workFlags struct {
	palettes, store, files, notify, at string
	once                               bool
	concurrency                        int
	timeout, drain                     time.Duration
}

func workCommand(a *app) *cobra.Command {
	var f workFlags
	cmd := &cobra.Command{
		Use:     "work",
		Short:   "Do what is due: work for later, notices, expiry",
		Example: "verbatim work --once",
		Long: `Works until it is stopped, and then finishes what it began, for at most --drain, which
$VERBATIM_DRAIN sets too. Any number of machines share one PostgreSQL, and any number of
processes one file. A line is printed for each problem. --notify names a file that says where
notices go; without it they are left. With $VERBATIM_CHANNELS, as for verbatim serve, it answers
who writes, with the model of $VERBATIM_MODEL at $VERBATIM_BASE_URL, if any. $VERBATIM_ZONE is
where the organisation's days begin (default UTC).`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if text := a.env("VERBATIM_DRAIN"); text != "" && !cmd.Flags().Changed("drain") {
				if cmd.Flags().Set("drain", text) != nil {
					return usage(fmt.Sprintf("VERBATIM_DRAIN is %q, and no time", text), "write it like 30s")
				}
			}
			return a.work(cmd.Context(), f)
		},
	}
	a.palettesFlag(cmd, &f.palettes)
	a.storeFlag(cmd, &f.store)
	a.filesFlag(cmd, &f.files)
	cmd.Flags().BoolVar(&f.once, "once", false, "do what is due now and end, as for cron")
	cmd.Flags().StringVar(&f.at, "at", "", "with --once: do, for good, what was due at this `time`, which is past")
	cmd.Flags().IntVar(&f.concurrency, "concurrency", 4, "do `n` things at once")
	cmd.Flags().DurationVar(&f.timeout, "timeout", time.Minute, "how long one thing may take")
	cmd.Flags().DurationVar(&f.drain, "drain", 10*time.Second, "how long it finishes what it began when stopped")
	cmd.Flags().StringVar(&f.notify, "notify", "", "a `file` of channels and routes (default $VERBATIM_NOTIFY)")
	cmd.AddCommand(workListCommand(a))
	return cmd
}

// zone returns the organisation's time zone.
func (a *app) zone() (*time.Location, error) {
	name := a.env("VERBATIM_ZONE")
	if name == "" {
		return time.UTC, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, usage(fmt.Sprintf("VERBATIM_ZONE is %q, which is no time zone", name), "name one like Europe/Vienna")
	}
	return zone, nil
}

// keeping is how long finished confirmations and idempotency keys are kept, which is far longer
// than anybody repeats a request. Each start of a worker deletes older ones.
const keeping = 90 * 24 * time.Hour

// work works until ctx ends. At each SIGHUP it reads palettes, files of the configuration and variables that files
// hold again, and goes on with these; what it had begun is finished by what that was begun with. What cannot be
// read is refused, and all goes on as it was.
func (a *app) work(ctx context.Context, f workFlags) error {
	hangups := make(chan os.Signal, 1) // several that come together are one
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	var ends []func()
	defer func() { ended(ends) }()
	w, err := a.worker(ctx, f, &ends)
	if err != nil {
		return err
	}
	if f.once {
		return a.workOnce(ctx, w)
	}
	told := ctx.Done()
	for {
		working, stop := context.WithCancel(ctx)
		over := make(chan error, 1)
		go func() { over <- w.Run(working) }()
		next, nextEnds := w, ends
		for next == w {
			select {
			case err := <-over:
				stop()
				return a.workEnded(ctx, err)
			case <-told:
				told = nil
				fmt.Fprintf(a.err, "stopping: what was begun is finished, for at most %s\n", f.drain)
			case <-hangups:
				next, nextEnds = a.workerAgain(ctx, f, w, ends)
			}
		}
		stop()
		<-over
		ended(ends)
		w, ends = next, nextEnds
	}
}

// workerAgain builds a worker from the configuration as it is by now, or returns the one that there is.
func (a *app) workerAgain(ctx context.Context, f workFlags, was *worker.Worker, its []func()) (*worker.Worker, []func()) {
	b := &app{world: a.began, began: a.began, command: a.command, sent: a.sent}
	b.out, b.err, b.now, b.json = a.out, a.err, a.now, a.json
	err := b.readEnvironment()
	var w *worker.Worker
	var ends []func()
	if err == nil {
		w, err = b.worker(ctx, f, &ends)
	}
	if err != nil {
		ended(ends)
		said := *b
		var why bytes.Buffer
		said.err = &why
		said.fail(err)
		fmt.Fprintf(a.err, "reload refused, and all goes on as it was: %s\n", strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(why.String(), "verbatim: ")), "\n", "; "))
		return was, its
	}
	fmt.Fprintln(a.err, "reloaded: palettes, files and what they name")
	return w, ends
}

func ended(ends []func()) {
	for _, end := range slices.Backward(ends) {
		end()
	}
}

// workOnce does what is due.
func (a *app) workOnce(ctx context.Context, w *worker.Worker) error {
	counts, err := w.Once(ctx)
	if err == nil && !a.json {
		var parts []string
		for outcome, n := range counts {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
		slices.Sort(parts)
		if len(parts) == 0 {
			parts = append(parts, "nothing was due")
		}
		fmt.Fprintln(a.out, "work     "+strings.Join(parts, ", "))
	}
	return a.workEnded(ctx, err)
}

func (a *app) workEnded(ctx context.Context, err error) error {
	if err != nil && ctx.Err() == nil {
		return broken("the work could not be done", err, "check the store; nothing that waits is lost")
	}
	return nil
}

// worker builds what works, from the configuration as it is. ends are called when it has ended, the last first.
func (a *app) worker(ctx context.Context, f workFlags, ends *[]func()) (*worker.Worker, error) {
	clock := func() time.Time { return a.now() }
	w := &worker.Worker{Concurrency: f.concurrency, Timeout: f.timeout, Drain: f.drain, Spread: rand.Float64}
	switch {
	case f.at != "" && !f.once:
		return nil, usage("--at is for one look at what is due", "give --once as well, or leave it out")
	case f.concurrency < 1 || f.concurrency > 1000:
		return nil, usage("--concurrency is 1 to 1000", "leave it out for 4")
	case f.drain <= 0 || f.drain > time.Hour:
		return nil, usage("--drain is a time up to an hour", "write it like 30s, or leave it out for 10s")
	case f.timeout < time.Second:
		return nil, usage("--timeout is a second or more", "leave it out for a minute")
	}
	var at time.Time
	if f.at != "" {
		var err error
		at, err = time.Parse(time.RFC3339, f.at)
		if err != nil {
			return nil, usage(fmt.Sprintf("--at takes an instant, not %q", f.at), "write it like 2025-01-04T00:00:00Z")
		}
		clock = func() time.Time { return at }
		w.Clock = clock // otherwise the store's clock decides what is due
	}
	if _, err := a.zone(); err != nil {
		return nil, err
	}
	reg, err := a.wholePalettes(f.palettes)
	if err != nil {
		return nil, err
	}
	channels, err := a.channels(f.notify, clock)
	if err != nil {
		return nil, err
	}
	store, err := a.open(ctx, f.store)
	if err != nil {
		return nil, err
	}
	*ends = append(*ends, func() { store.Close() })
	posts, err := a.posts()
	if err != nil {
		return nil, err
	}
	now, err := store.Clock(ctx)
	switch {
	case err != nil:
		return nil, broken("the store does not tell the time", err, "check the store; nothing that waits is lost")
	case at.After(now):
		// The journal would record an instant that has not come.
		return nil, usage(fmt.Sprintf("--at %s is in the future", f.at), "the work of a time is done when it has come; verbatim work list --all lists what waits")
	case f.at == "":
		clock = setBy(now, clock)
	}
	tools, err := a.tools("")
	if err != nil {
		return nil, err
	}
	if w.Engine, err = a.newEngineAt(reg, store, tools, clock); err != nil {
		return nil, a.runFailed(err)
	}
	mark, err := a.marked(ctx, w.Engine, store, f.store)
	if err != nil {
		return nil, a.runFailed(err)
	}
	*ends = append(*ends, func() { mark.keep(ctx) })
	by, err := a.reachAtWork(ctx, reg, store, w.Engine, clock, ends)
	if err != nil {
		return nil, err
	}
	w.Send = by.delivers(a.posting(reg, store, clock, posts, a.sending(reg, store, channels, a.env("VERBATIM_URL"))))
	plans, err := a.plansAtWork(reg, store, w.Engine, clock)
	if err != nil {
		return nil, err
	}
	w.Send, w.Channel, w.Provider = plans.delivers(w.Send), channels.Channel, answersFor(channels.Channel)
	if _, err := w.Engine.Housekeep(ctx, clock().Add(-keeping)); err != nil {
		return nil, a.runFailed(err)
	}
	if err := a.keepFiles(ctx, w.Engine, f.files, f.store, clock); err != nil {
		return nil, err
	}
	host, _ := os.Hostname() // without one, the process id suffices
	w.Store, w.Name, w.Report = store, strings.TrimSpace(host+" "+strconv.Itoa(os.Getpid())), a.worked
	if w.Send == nil {
		fmt.Fprintln(a.err, "notices are left where they are: --notify FILE says where they go")
	}
	return w, nil
}

// setBy returns a clock that follows the store's, which all machines share, so that a machine with
// a wrong clock schedules work correctly.
func setBy(now time.Time, clock func() time.Time) func() time.Time {
	off := time.Until(now)
	if off.Abs() < time.Second {
		return clock
	}
	return func() time.Time { return clock().Add(off) }
}

// channels reads the routes of notices; nil without a file.
func (a *app) channels(file string, clock func() time.Time) (*notify.Sender, error) {
	by := "--notify"
	if file == "" {
		by, file = "VERBATIM_NOTIFY", a.env("VERBATIM_NOTIFY")
	}
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, usage(fmt.Sprintf("the file of notices %q of %s cannot be read: %s", file, by, reason(err)), "check the path, and who may read it")
	}
	defer f.Close()
	var out io.Writer = &flushed{a: a}
	if a.json {
		out = a.err // standard output holds what --json promises, and nothing else
	}
	host, _ := os.Hostname() // without one, a server is greeted as by localhost
	s, err := notify.Read(f, notify.Options{Env: a.secret, Out: out, Host: host, Clock: clock, Append: func(path string) (io.WriteCloser, error) {
		return os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	}})
	if err != nil {
		return nil, usage(fmt.Sprintf("the file of notices %q of %s cannot be used: %s", file, by, receipt.Safe(err.Error())), "verbatim help notices shows its form")
	}
	return s, nil
}

// flushed writes to standard output and flushes each line.
type flushed struct {
	a  *app
	mu sync.Mutex
}

func (f *flushed) Write(b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.a.out.Write(b)
	if err == nil {
		err = f.a.flush()
	}
	return n, err
}

// worked reports a job: each with --json, otherwise only those that need attention.
func (a *app) worked(e worker.Event) {
	if a.json {
		out := workEventJSON{Schema: "verbatim/work@1", Outcome: e.Outcome, Job: e.Job.ID, Kind: e.Job.Kind, What: e.What, Attempt: e.Attempt,
			Reason: e.Reason, Entry: e.Seq, Confirmation: e.Pending, Alarm: e.Alarm()}
		if !e.Again.IsZero() {
			out.Again = &e.Again
		}
		a.emit(out)
		_ = a.flush() // a failure is reported at the end
		return
	}
	if e.Err == nil && !e.Alarm() {
		return
	}
	line := fmt.Sprintf("%s[%s]: %s %s", e.Outcome, e.Reason, e.Job.Kind, e.Job.ID)
	if e.What != "" {
		line += " (" + receipt.Safe(e.What) + ")"
	}
	line += fmt.Sprintf(", attempt %d of %d", e.Attempt, e.Job.Tries())
	if !e.Again.IsZero() {
		line += ", again " + minute(e.Again)
	}
	fmt.Fprintln(a.err, line)
	if e.Err != nil && a.env("VERBATIM_TRACE") != "" {
		fmt.Fprintln(a.err, e.Err)
	}
}

type workEventJSON struct {
	Schema       string     `json:"schema"`
	Outcome      string     `json:"outcome"`
	Job          string     `json:"job"`
	Kind         string     `json:"kind"`
	What         string     `json:"what,omitempty"`
	Attempt      int        `json:"attempt"`
	Reason       string     `json:"reason,omitempty"`
	Again        *time.Time `json:"again,omitempty"`
	Entry        int64      `json:"entry,omitempty"`
	Confirmation string     `json:"confirmation,omitempty"`
	Alarm        bool       `json:"alarm"`
}

type workListFlags struct {
	runFlags
	all, retry, remove bool
}

func workListCommand(a *app) *cobra.Command {
	var f workListFlags
	cmd := &cobra.Command{
		Use:     "list [ID]",
		Short:   "List what failed or runs late; try it again, or drop it",
		Example: "verbatim work list --as d.lang\nverbatim work list --as d.lang --all --json",
		Long: `A line holds the id, the state, what it is, how old it is, how often it was tried, when
it is due, and what the last problem was. It is read by an operator, or by who keeps the
journal. --retry and --drop run system.retry-job and system.drop-job, as somebody with
the role operator; the journal says so.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error { return a.listWork(cmd.Context(), args, f) },
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	cmd.Flags().BoolVar(&f.all, "all", false, "list also what waits and what was done")
	cmd.Flags().BoolVar(&f.retry, "retry", false, "try the one with this ID again, now")
	cmd.Flags().BoolVar(&f.remove, "drop", false, "remove the one with this ID, for good")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "with --drop: agree to it, without looking")
	return cmd
}

func (a *app) listWork(ctx context.Context, ids []string, f workListFlags) error {
	switch {
	case f.retry && f.remove:
		return usage("--retry and --drop are opposites", "give one of them")
	case (f.retry || f.remove) && len(ids) == 0:
		return usage("which one?", "verbatim work list lists them; give its ID")
	case (f.retry || f.remove) && f.as == "" && a.env("VERBATIM_AS") == "":
		return usage("who decides that?", "verbatim work list --as NAME "+shell(ids[0]))
	case f.retry:
		return a.changeJob(ctx, "system.retry-job", ids[0], f)
	case f.remove:
		return a.changeJob(ctx, "system.drop-job", ids[0], f)
	}
	store, err := a.open(ctx, f.store)
	if err != nil {
		return err
	}
	defer store.Close()
	if err := a.readsJournal(ctx, store, f.palettes, f.as, "work list", "operator"); err != nil {
		return err
	}
	now, err := store.Clock(ctx)
	var all []stores.JobRecord
	if err == nil {
		if f.all || len(ids) > 0 {
			all, err = store.Jobs(ctx, stores.JobFilter{IDs: ids})
		} else {
			all, err = rights.Troubled(ctx, store, now)
		}
	}
	if err != nil {
		return broken("the work could not be listed", err, "check the store; verbatim migrate prepares it")
	}
	list := []jobJSON{}
	for i := range all {
		j := &all[i]
		list = append(list, jobJSON{j.ID, j.State.String(), j.Kind, engine.JobSubject(&j.Job), j.Created, int64(now.Sub(j.Created).Seconds()), j.Attempt, j.Tries(), j.At, j.Worker, rights.Problem(j, now)})
	}
	if a.json {
		a.emit(struct {
			Schema string    `json:"schema"`
			Jobs   []jobJSON `json:"jobs"`
		}{"verbatim/jobs@1", list})
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.err, "I looked for work that failed, is late or is running, and found none; --all lists what waits for its time, too")
	}
	for _, j := range list {
		fmt.Fprintln(a.out, strings.Join([]string{receipt.Safe(j.ID), j.State, j.Kind + " " + receipt.Safe(j.What), (time.Duration(j.Age) * time.Second).String(),
			fmt.Sprintf("%d of %d", j.Attempt, j.Attempts), minute(j.Due), receipt.Safe(j.Note)}, "\t"))
	}
	return nil
}

type jobJSON struct {
	ID       string    `json:"id"`
	State    string    `json:"state"`
	Kind     string    `json:"kind"`
	What     string    `json:"what"`
	Created  time.Time `json:"created"`
	Age      int64     `json:"age_seconds"`
	Attempt  int       `json:"attempt"`
	Attempts int       `json:"attempts"`
	Due      time.Time `json:"due"`
	Worker   string    `json:"worker,omitempty"`
	Note     string    `json:"note,omitempty"`
}

// changeJob runs a verb on a job, as a script of one call.
func (a *app) changeJob(ctx context.Context, verb, id string, f workListFlags) error {
	call := dsl.NewCall(verb, dsl.NewArg("job", dsl.NewString(id)))
	src := dsl.NewSource("work list", dsl.FormatCall(&call)+"\n")
	return a.runSource(ctx, "", func() (*dsl.Source, error) { return src, nil }, f.runFlags)
}
