package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/each"
	"verbatim/runtime/frontends/wire"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// runFlags are the flags of `verbatim run`.
type runFlags struct {
	setup
	confirm, key, origin, sitting string
	dryRun, full, yes, each       bool
	confirms                      bool  // --confirm was given
	undoes                        int64 // the entry that an undo takes back
	unseen                        bool  // who runs it has not seen what it says: an undo, by a number
	from                          int
	timeout                       time.Duration
	sealed                        bool // proofs are wanted
}

func runCommand(a *app) *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:     "run FILE|-",
		Short:   "Do what a script says, all of it or nothing",
		Example: "verbatim run --dry-run --as clara answer.dsl",
		Long:    `It authenticates nobody: it believes --as, --origin and --yes. Others agree by verbatim confirm.`,
		Args:    exactly(1, "one file, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.confirms = cmd.Flags().Changed("confirm")
			if cmd.Flags().Changed("from") && f.from < 1 {
				return usage("calls are counted from 1", "verbatim run --from 2 "+shell(args[0]))
			}
			if err := f.emptyKey(cmd); err != nil {
				return err
			}
			return a.runScript(cmd.Context(), args[0], f)
		},
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	a.serversFlag(cmd, &f.servers)
	cmd.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change and change nothing")
	cmd.Flags().BoolVar(&f.full, "full", false, "show every row, also of calls that look alike")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "agree to what is asked, without looking")
	cmd.Flags().StringVar(&f.confirm, "confirm", "", "agree to the preview with this `id`, and to no other")
	cmd.Flags().StringVar(&f.key, "key", "", "do it once under this `key`, however often it is sent")
	cmd.Flags().StringVar(&f.sitting, "session", "", "continue your session of this `name`, or begin it")
	cmd.Flags().BoolVar(&f.each, "each", false, "commit after each call, not all together at the end")
	cmd.Flags().IntVar(&f.from, "from", 0, "begin with call `N` of a script that --each left unfinished")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 0, "give up after this `time`, such as 30s")
	cmd.Flags().BoolVar(&f.sealed, "sealed", false, "print proofs that the journal has what was done: see verbatim log prove")
	cmd.Flags().BoolVar(&a.streams, "events", false, "with --json, print a line for each step of the way")
	cmd.Flags().StringVar(&f.origin, "origin", "", "`whose` words the script holds: script, person, model, tool=NAME or document=NAME")
	return cmd
}

// emptyKey refuses --key "", which a shell passes for a variable that is not set. Without a key, the
// script would be done each time.
func (f *runFlags) emptyKey(cmd *cobra.Command) error {
	if f.key == "" && cmd.Flags().Changed("key") {
		return usage("--key is empty", "give it a name of its own, or leave it out")
	}
	return nil
}

// A job is a run under way.
type job struct {
	*app
	runFlags
	file    string
	engine  *engine.Engine
	session *engine.Session
	program *verbs.Program
	said    verbs.Literals
	started time.Time
	store   stores.Store // for proofs
	signs   *logKey      // that signs them; nil without one
}

// manyCalls is the number of calls of a script from which a run saves memory rather than time.
const manyCalls = 10_000

func (a *app) runScript(ctx context.Context, file string, f runFlags) error {
	return a.runSource(ctx, file, func() (*dsl.Source, error) { return a.source(file) }, f)
}

// runSource runs a script from any source. A script without a file has the name "".
func (a *app) runSource(ctx context.Context, file string, read func() (*dsl.Source, error), f runFlags) error {
	started := a.now()
	f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
	switch {
	case f.as == "":
		return usage("who is asking?", "verbatim run --as NAME "+shell(file))
	case f.confirms && strings.TrimSpace(f.confirm) == "":
		return usage("--confirm names no preview", "verbatim run --dry-run "+shell(file)+" shows one, and its id")
	case f.confirm != "" && f.yes:
		return usage("--yes agrees to anything and --confirm to one preview", "give one of them")
	case f.confirm != "" && f.dryRun:
		return usage("--dry-run changes nothing, so there is nothing to confirm", "leave one of them out")
	case f.sealed && f.dryRun:
		return usage("--dry-run changes nothing, so there is nothing to prove", "leave one of them out")
	case a.streams && !a.json:
		return usage("--events are for programs, which read JSON", "verbatim run --json --events "+shell(file))
	case f.timeout < 0:
		return usage("no time is left before it begins", "verbatim run --timeout 30s "+shell(file))
	case f.key != "" && f.dryRun:
		return usage("--dry-run changes nothing, so there is nothing to do once", "leave one of them out")
	}
	said, err := spoken(f.origin)
	if err != nil {
		return err
	}
	f.each = f.each || f.from > 0
	if a.limit = f.timeout; f.timeout > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, f.timeout)
		defer end()
	}
	src, err := read()
	if err != nil {
		return err
	}
	var key *logKey
	if f.sealed {
		if key, err = a.logKey(""); err != nil {
			return err
		}
	}
	tools, err := a.tools(f.servers)
	if err != nil {
		return err
	}
	a.reads = f.dryRun
	reg, store, eng, err := a.wire(ctx, f.setup, tools)
	if err != nil {
		return err
	}
	defer store.Close()
	session, err := begin(ctx, eng, f.as, f.sitting)
	if err != nil {
		return a.runFailed(err)
	}
	if !f.dryRun { // which changes nothing, and agrees to nothing
		mark, err := a.marked(ctx, eng, store, f.store)
		if err != nil {
			return a.runFailed(err)
		}
		defer mark.keep(ctx)
	}
	script, ds := dsl.Parse(src)
	if len(script.Calls) > manyCalls && a.env("GOGC") == "" {
		debug.SetGCPercent(50) // its plan is what takes memory; see main
	}
	if f.key != "" && !ds.HasErrors() {
		reply, err := each.Runner{Session: session, From: f.from}.Repeat(ctx, script, f.key)
		if err != nil {
			return a.runFailed(err)
		}
		if reply != nil {
			j := &job{app: a, runFlags: f, file: file, session: session, started: started, store: store, signs: key}
			return j.told(ctx, reply, false)
		}
	}
	program, more := session.Check(ctx, script, engine.CheckOptions{Said: said, From: f.from, Parsed: ds})
	ds = inOrder(append(reg.Mask(script, ds), more...))
	if halt := a.halted(ctx.Err()); halt != nil {
		// An interrupted check reports the interruption.
		return halt
	}
	if ds.HasErrors() {
		return a.runInvalid(script, ds)
	}
	a.complain(ds)
	if len(script.Calls) == 0 {
		if a.json {
			a.emit(wire.Run{Schema: wire.RunSchema, Outcome: wire.Done, Report: report(ds)})
			return nil
		}
		fmt.Fprintln(a.err, "the script holds no calls; nothing was done")
		return nil
	}
	j := &job{app: a, runFlags: f, file: file, engine: eng, session: session, program: program, said: said, started: started, store: store, signs: key}
	return j.run(ctx)
}

// begin opens a named session, or one that keeps nothing.
func begin(ctx context.Context, e *engine.Engine, as, name string) (*engine.Session, error) {
	if name == "" {
		return e.Session(ctx, as)
	}
	return e.Visit(ctx, as, engine.Visit{Name: name})
}

// turn is the number of the person's last turn in the session, if it has no answer yet: the script
// answers it.
func (j *job) turn(ctx context.Context) (int64, error) {
	if j.sitting == "" {
		return 0, nil
	}
	info, err := j.session.Turns().Info(ctx)
	if err != nil || info.Turns == 0 {
		return 0, err
	}
	last, err := j.session.Turns().Between(ctx, info.Turns, info.Turns)
	if err != nil || len(last) == 0 || last[0].Role != sessions.Client {
		return 0, err
	}
	return info.Turns, nil
}

// spoken returns the origin of the values in a script. Nobody can type a record.
func spoken(origin string) (verbs.Literals, error) {
	o, err := verbs.ParseOrigin(origin)
	if err != nil || o.Kinds()&verbs.FromRecord != 0 {
		return verbs.Literals{}, usage(fmt.Sprintf("no script comes from %q", origin), "verbatim run --origin person, or script, model, document=letter.pdf or tool=NAME")
	}
	return verbs.Literals{Origin: o}, nil
}

func (j *job) run(ctx context.Context) error {
	if j.confirm != "" {
		return j.confirmed(ctx, strings.ReplaceAll(strings.TrimSpace(j.confirm), " ", "-"))
	}
	if !j.dryRun && !slices.ContainsFunc(j.program.Calls(), func(c verbs.Call) bool { return !answersAlone(c.Verb) }) {
		// Its preview would already be the answer, and limits would count both.
		return j.apply(ctx, "", false)
	}
	p, err := j.session.Preview(ctx, j.program, engine.RunOptions{Progress: each.Numbered(j.from, j.progress())})
	var refusal *engine.Refusal
	switch {
	case errors.As(err, &refusal) && !j.dryRun:
		// A preview leaves no trace, but a refused attempt belongs in the journal. So the engine
		// runs it.
		return j.apply(ctx, "", false)
	case err != nil:
		return j.runFailed(err)
	}
	mine, others := asking(p)
	if j.dryRun {
		return j.rehearse(ctx, p, mine > 0, others)
	}
	others = others && !j.each // each refuses then, because the others would have to agree to all of it
	switch {
	case j.yes && mine > 0 && others:
		return j.propose(ctx, p.Answer(), false)
	case j.yes && mine > 0:
		return j.apply(ctx, p.Answer(), false)
	case mine == 0 && others:
		return j.propose(ctx, "", false)
	case mine == 0 && (j.yes || !j.unseen):
		return j.apply(ctx, "", false)
	}
	terminal, ok := j.terminal(j.world)
	switch {
	case !ok && mine == 0: // a script, which nobody watches
		return j.apply(ctx, "", false)
	case !ok:
		s := &stop{exitRefused, "needs-agreement",
			fmt.Sprintf("%s first and there is no terminal to ask on", countedVerb(mine, "call asks", "calls ask")),
			fmt.Sprintf("read it with verbatim run --dry-run, then pass --confirm %s", receipt.Short(p.ID))}
		if j.undoes > 0 {
			s.next = fmt.Sprintf("read it with verbatim undo --dry-run --as %s %d, then pass --confirm %s", shell(j.as), j.undoes, receipt.Short(p.ID))
		} else if j.file == "" {
			s.next = "say --yes as well, to agree to it"
		}
		return s
	}
	defer terminal.Close()
	if !j.json {
		j.preview(p, "nothing has changed yet")
	}
	if err := j.flush(); err != nil {
		return err
	}
	question := fmt.Sprintf("Apply %s, in one transaction?", all(len(p.Calls)))
	if j.each {
		question = fmt.Sprintf("Apply %s, each in a transaction of its own?", all(len(j.program.Script().Calls)))
	}
	if others {
		question = "Agree to your part, and ask for the agreement of others?"
	}
	yes, err := j.ask(ctx, terminal, question)
	if err != nil {
		return err
	}
	switch {
	case !yes && mine == 0:
		return &stop{exitRefused, "declined", "not agreed to; nothing was changed", "to do it after all, run it again and type yes"}
	case !yes:
		if err := j.session.DeclinePreview(ctx, j.program, p.Answer()); err != nil {
			return j.runFailed(err)
		}
		return &stop{exitRefused, "declined", "not agreed to; nothing was changed", "to do it after all, run it again and type yes"}
	case others:
		return j.propose(ctx, p.Answer(), true)
	}
	return j.apply(ctx, p.Answer(), true)
}

// answersAlone reports whether a verb only answers, and needs no confirmation.
func answersAlone(v *verbs.Verb) bool {
	return v.Answers() && v.Macro == nil && len(v.Confirm) == 0 && !slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.From != 0 })
}

// asking counts the calls that need the person's agreement, and reports whether any needs somebody
// else's.
func asking(p *receipt.Receipt) (mine int, others bool) {
	calls := map[int]bool{}
	for _, ask := range p.Asks() {
		if ask.By != "" {
			others = true
		} else if !calls[ask.Call] {
			calls[ask.Call] = true
			mine++
		}
	}
	return mine, others
}

// ask asks on the terminal. Only "yes" means yes.
func (a *app) ask(ctx context.Context, terminal io.Reader, question string) (bool, error) {
	fmt.Fprintf(a.err, "\n%s  Type yes, anything else stops: ", question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(terminal).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case word := <-answer:
		if word != "yes" {
			fmt.Fprintln(a.err)
		}
		return word == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(a.err)
		return false, a.halted(ctx.Err())
	}
}

// rehearse shows a preview. It keeps a preview that needs agreement, so that the person can agree
// to exactly that in another process. Where others have to agree, it says so as a run does, and names
// what waits for them already.
func (j *job) rehearse(ctx context.Context, p *receipt.Receipt, mine, others bool) error {
	var waits *engine.Pending
	if others && !j.each {
		var err error
		if waits, err = j.session.Proposed(ctx, p); err != nil {
			return j.runFailed(err)
		}
	}
	lost := mine && j.copied // nobody finds it in a copy that goes
	if mine && !lost {
		kept, err := j.session.Keep(ctx, j.program)
		if kept == nil {
			return j.runFailed(err)
		}
		p, lost = kept, err != nil
	}
	if j.json {
		out := wire.Run{Schema: wire.RunSchema, Outcome: wire.Previewed, Preview: p, Report: wire.NewReport(nil)}
		if waits != nil {
			out.Confirmation = wire.NewConfirmation(waits)
		}
		j.emit(out)
	} else {
		j.preview(p, "nothing was changed (dry run)")
	}
	if err := j.flush(); err != nil {
		return err
	}
	if others && !j.json {
		j.wouldWait(p, waits)
	}
	if lost {
		fmt.Fprintln(j.err, "this preview could not be kept: agree to it on a terminal, without --dry-run")
	}
	return nil
}

// wouldWait says what a run would do that needs the agreement of others.
func (j *job) wouldWait(p *receipt.Receipt, waits *engine.Pending) {
	if waits != nil {
		fmt.Fprintf(j.err, "\nthis waits already for somebody else with %s\n", missing(waits))
		fmt.Fprintf(j.err, "next: it is kept until %s; who has the role decides with: verbatim confirm %s --as NAME\n", minute(waits.Expires), receipt.Short(waits.ID))
		return
	}
	var roles []string
	for _, ask := range p.Asks() {
		if role := "role " + ask.By; ask.By != "" && !slices.Contains(roles, role) {
			roles = append(roles, role)
		}
	}
	slices.Sort(roles)
	whom := strings.Join(roles, " and somebody with ")
	if j.each {
		fmt.Fprintf(j.err, "\nthis would be refused: it needs the agreement of somebody else with %s, and --each keeps no script\nnext: run it without --each, to ask them\n", whom)
		return
	}
	fmt.Fprintf(j.err, "\nthis would wait for the agreement of somebody else with %s\nnext: run it without --dry-run to ask them; who has the role decides with: verbatim confirm\n", whom)
}

// confirmed runs what the person agreed to in another process.
func (j *job) confirmed(ctx context.Context, id string) error {
	// Whether somebody else must agree is determined in another session: a session that makes a
	// preview counts as having shown it, and this one must be compared with what was shown before.
	other, err := begin(ctx, j.engine, j.as, j.sitting)
	if err != nil {
		return j.runFailed(err)
	}
	if program, _ := other.Check(ctx, j.program.Script(), engine.CheckOptions{Said: j.said}); program != nil && !j.each {
		if p, err := other.Preview(ctx, program); err == nil {
			if _, others := asking(p); others {
				return j.propose(ctx, id, false)
			}
		}
	}
	return j.apply(ctx, id, false)
}

// propose keeps the script until somebody else agrees, and says who may.
func (j *job) propose(ctx context.Context, agreed string, seen bool) error {
	c, err := j.session.Propose(ctx, j.program, engine.RunOptions{Agreed: agreed, Key: j.key})
	if err != nil {
		return j.runFailed(err)
	}
	if c.ID == "" { // nobody else has to agree any more
		return j.apply(ctx, agreed, seen)
	}
	j.waits = true
	if j.json {
		j.emit(wire.Run{Schema: wire.RunSchema, Outcome: wire.Waiting, Preview: c.Preview, Confirmation: wire.NewConfirmation(c), Report: wire.NewReport(nil)})
		return said(exitRefused)
	}
	if !seen {
		j.preview(c.Preview, "nothing has changed yet")
		if err := j.flush(); err != nil {
			return err
		}
		fmt.Fprintln(j.err)
	}
	fmt.Fprintf(j.err, "refused[needs-agreement]: this needs the agreement of somebody else with %s\n", missing(c))
	fmt.Fprintf(j.err, "next: it is kept until %s; who has the role decides with: verbatim confirm %s --as NAME\n", minute(c.Expires), receipt.Short(c.ID))
	fmt.Fprintln(j.err, "Nothing was changed.")
	return said(exitRefused)
}

// apply runs the script. seen says that the preview was printed.
func (j *job) apply(ctx context.Context, agreed string, seen bool) error {
	turn, err := j.turn(ctx)
	if err != nil {
		return j.runFailed(err)
	}
	run := j.session.Run
	if j.each {
		run = each.Runner{Session: j.session, From: j.from}.Run
	}
	reply, err := run(ctx, j.program, engine.RunOptions{Agreed: agreed, Key: j.key, Turn: turn, Progress: j.progress()})
	var stopped *each.Stopped
	if errors.As(err, &stopped) {
		return j.stopped(ctx, reply, stopped, seen)
	}
	if err != nil {
		return j.runFailed(err)
	}
	return j.told(ctx, reply, seen)
}

// told prints the result.
func (j *job) told(ctx context.Context, reply *receipt.Receipt, seen bool) error {
	var proofs []string
	unproven := ""
	if j.sealed && reply.First > 0 {
		var entries []int64
		for i := range reply.Calls {
			if n := reply.Calls[i].Seq; n > 0 && !slices.Contains(entries, n) {
				entries = append(entries, n)
			}
		}
		proofs, unproven = j.proofs(ctx, j.store, j.signs, entries)
	}
	if j.json {
		out := wire.DoneRun(reply)
		out.Proofs, out.Unproven = proofs, unproven
		j.emit(out)
		return nil
	}
	defer func() {
		for _, proof := range proofs {
			fmt.Fprint(j.out, "\n", proof)
		}
		if unproven != "" {
			fmt.Fprintln(j.err, unproven)
		}
	}()
	if reply.Repeated {
		fmt.Fprintln(j.err, "this was done before, under the same key; here is what it did then")
	}
	o := j.printed()
	o.Seen, o.Took = seen, j.now().Sub(j.started)
	receipt.Print(j.out, reply, o)
	return nil
}

// preview prints a preview.
func (j *job) preview(p *receipt.Receipt, state string) {
	o := j.printed()
	o.State = state
	receipt.Print(j.out, p, o)
}

// printed returns the options for printing receipts. Only who may read the journal is told how.
func (j *job) printed() receipt.Options {
	o := receipt.Options{Full: j.full, Whole: j.whole(), Undo: "verbatim undo"}
	if j.session.Journal().Readable() {
		o.Entry = "verbatim log show"
		if j.as != j.env("VERBATIM_AS") {
			o.Entry += " --as " + shell(j.as)
		}
	}
	return o
}

func (j *job) whole() string {
	return "verbatim run --dry-run --full --as " + shell(j.as) + " " + shell(j.file)
}

func all(calls int) string {
	if calls == 1 {
		return "it"
	}
	return fmt.Sprintf("all %s", receipt.Thousands(calls))
}

func countedVerb(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return receipt.Thousands(n) + " " + many
}

// flush writes what was printed, before a question refers to it.
func (a *app) flush() error {
	if w, ok := a.out.(*bufio.Writer); ok {
		if err := w.Flush(); err != nil {
			return broken("the preview could not be written", err, "nothing was changed")
		}
	}
	return nil
}

// runInvalid prints diagnostics, and how much of the script is correct.
func (a *app) runInvalid(script *dsl.Script, ds dsl.Diagnostics) error {
	if a.json {
		a.emit(wire.Run{Schema: wire.RunSchema, Outcome: wire.Invalid, Report: report(ds)})
		return said(exitInput)
	}
	a.complain(ds)
	wrong := 0
	for i := range script.Calls {
		r := script.Calls[i].Range
		for j := range ds {
			if at := ds[j].Place.Range; ds[j].Severity == dsl.Error && at.Start >= r.Start && at.Start < max(r.End, r.Start+1) {
				wrong++
				break
			}
		}
	}
	rest := ""
	if good := len(script.Calls) - wrong; good == 1 {
		rest = "; the other 1 is well formed"
	} else if good > 1 && wrong > 0 {
		rest = fmt.Sprintf("; the other %s are well formed", receipt.Thousands(good))
	}
	fmt.Fprintf(a.err, "\n%s in %s%s. Nothing was changed.\n", receipt.Counted(report(ds).Errors, "error"), receipt.Counted(len(script.Calls), "call"), rest)
	fmt.Fprintln(a.err, explainOne(ds))
	return said(exitInput)
}

// refused prints a refusal.
func (a *app) refused(refusal *engine.Refusal) {
	for _, d := range refusal.Diagnostics.AtConsole() {
		fmt.Fprintf(a.err, "refused[%s]: %s\n", d.Code, receipt.Safe(d.Summary))
		if at := place(d.Place); at != "" {
			fmt.Fprintf(a.err, "   --> %s\n", at)
		}
		for _, r := range d.Related {
			fmt.Fprintf(a.err, "   --> %s  %s\n", place(r.Place), receipt.Safe(r.Message))
		}
		for _, note := range d.Notes {
			fmt.Fprintf(a.err, "next: %s\n", receipt.Safe(note))
		}
	}
	if why := refusal.Cause(); why != nil && a.env("VERBATIM_TRACE") != "" {
		fmt.Fprintf(a.err, "why:  %s\n", receipt.Safe(why.Error()))
	}
}

// runFailed prints why nothing was done.
func (a *app) runFailed(err error) error {
	var refusal *engine.Refusal
	var config *engine.ConfigError
	var failed *engine.Failure
	var known *stop
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &failed) && failed.Told != nil:
		return a.toolFailed(failed)
	case errors.As(err, &refusal):
		if a.json {
			a.emit(wire.Run{Schema: wire.RunSchema, Outcome: wire.Refused, Report: report(refusal.Diagnostics)})
			return said(exitRefused)
		}
		a.refused(refusal)
		fmt.Fprintln(a.err, "Nothing was changed.")
		return said(exitRefused)
	case errors.As(err, &config):
		if a.json {
			a.emit(wire.Run{Schema: wire.RunSchema, Outcome: wire.Invalid, Report: report(config.Diagnostics)})
			return said(exitInput)
		}
		a.complain(config.Diagnostics)
		fmt.Fprintln(a.err, "\nThe palettes and this program do not fit together. Nothing was changed.")
		return said(exitInput)
	}
	if halt := a.halted(err); halt != nil && (failed == nil || !failed.Unknown) {
		return halt
	}
	s := &stop{exit: exitSystem, code: cmp.Or(stores.TroubleCode(err), "system"), text: engine.Sentence(err)}
	if failed != nil && failed.Unknown {
		s.code = "unknown"
	}
	if errors.Is(err, stores.ErrSchema) {
		s.text, s.next = "the store is not prepared for the palettes. Nothing was changed", "verbatim migrate prepares it"
		if a.strange != "" {
			s.text, s.next = a.strange, "check the name at the end of the URL; verbatim migrate prepares it if it is"
		}
		return s
	}
	if a.env("VERBATIM_TRACE") != "" {
		s.next = err.Error()
	} else {
		s.next = "VERBATIM_TRACE=1 tells whoever looks after this what it was"
	}
	return s
}
