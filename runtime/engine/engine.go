// Package engine runs checked scripts. It checks permissions, resolves references within scope,
// asks for agreement if a palette requires it, turns calls into changes that are plain values,
// checks every change against the verb's declared effects, and commits changes, journal and notices
// in one transaction.
//
//	text ─dsl.Parse→ Script ─Session.Check→ Program ─Session.Run→ Receipt
//
// A program runs as a whole or not at all:
//
//	eng, err := engine.New(registry, store, engine.Options{})
//	session, err := eng.Session(ctx, "clara")
//	program, mistakes := session.Check(ctx, script)
//	preview, err := session.Preview(ctx, program)    // a receipt: rows, before and after
//	done, err := session.Run(ctx, program, engine.RunOptions{Agreed: preview.ID})
//	receipt.Print(os.Stdout, done, receipt.Options{})
//
// If a rule requires somebody else's agreement, Run refuses. Propose keeps the program instead.
// Agree, called by a person with the needed role, runs it in the asker's name, if its plan still
// equals the proposed one:
//
//	pending, err := session.Propose(ctx, program, engine.RunOptions{})
//	_, done, err := other.Agree(ctx, pending.ID)
//
// With a RunOptions.Key, Run can be repeated if its answer was lost: it takes effect once. Proposals
// and keys are rows of the engine's own; Migrate takes the entities of Own for them, beside those of
// the palettes.
//
// Preview runs the program in a transaction that is then rolled back, and Run runs it again,
// compares, and commits. An overlay of planned rows over the store was considered instead: it would
// not hold SQLite's one writer during a preview, but it would have to answer filters, orders, counts
// and the palette author's own SQL as the database does, and would know nothing of its constraints.
// A preview must show exactly what will run, so the database itself executes it.
//
// A call goes through six steps, each in the file of its name, in plan.go:
//
//	permit   may this caller use the verb
//	resolve  which rows and values do its arguments stand for
//	gate     who must agree first (require.go: what must hold)
//	carry    what would it do: effects, read, query, handler or tool
//	settle   is that what its palette promised
//	commit   changes, journal, notices and jobs, in one transaction
//
// The package knows no domain: what YAML cannot say of one is a handler,
// registered by the domain's own package and joined to the engine in cmd.
package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/verbs"
)

// Options configure an engine. The zero Options are usable: the system's clock, random ids, and no
// handlers.
type Options struct {
	// Clock tells the time.
	Clock func() time.Time
	// NewID makes the text of a fresh UUID.
	NewID func() string
	// Backoff returns how long to wait before the first retry after a conflict, and
	// before each later one. The default is a few milliseconds, growing, with jitter.
	Backoff func(attempt int) time.Duration
	// Sleep waits for a time, or until the context ends. The default uses the machine's
	// clock.
	Sleep func(ctx context.Context, d time.Duration)
	// Random returns salts for commitments in the journal. It must be unpredictable, and
	// safe for use by many goroutines; nil is the system's.
	Random io.Reader
	// Handlers are the Go functions that carry out verbs. If it is nil, such verbs are
	// refused when they are used; otherwise New demands one for each of them.
	Handlers *Handlers
	// Authority reads principals that are kept in rows. If it is nil, or does not know
	// somebody, the store's own principals count.
	Authority Authority
	// At, if set, is called with each stage that a run enters, on the run's goroutine.
	// Tests stop a process there.
	At func(Stage)
	// Observe, if set, is called after each preview and run, on the run's goroutine. It
	// must be safe for use by many goroutines.
	Observe func(context.Context, Observed)
	// Agreed, if set, is called after each commit that used an agreement, before Run or Agree returns.
	Agreed func(context.Context)
	// Zone is the organisation's time zone: a job for a day begins at midnight there. The
	// default is UTC.
	Zone *time.Location
	// Profile returns the profile of a principal. Without it, only the store's label is
	// known.
	Profile func(ctx context.Context, r stores.Reader, name string) (Profile, error)
	// Deciders names the holders of a role who can be notified that a proposal waits for
	// them. Without it nobody is notified.
	Deciders func(ctx context.Context, r stores.Reader, role string) ([]string, error)
	// TellsAsker reports, for the source of a call, whether its asker is to be notified
	// when somebody else decides: a notice with TargetDecided is queued then. Without it
	// nobody is notified.
	TellsAsker func(source string) bool
	// Scanner names the malware scanner in use; "" if it is unknown. With a scanner, a file that was
	// accepted without one, ScannedByNobody, has to be scanned before it is used.
	Scanner string
	// Tools reach the tools of other servers. If it is nil, verbs that need one are
	// refused when they are used.
	Tools tools.Servers
	// Keep stores a file that a verb made, as an upload of the session's principal. It is
	// called with no transaction open. Without it, verbs that make files are refused.
	Keep func(ctx context.Context, s *Session, verb, name string, content []byte) (uploads.Upload, error)
	// Standing returns the standing rules of a principal. Without it nobody has any.
	Standing func(ctx context.Context, r stores.Reader, principal string) ([]StandingRule, error)
	// Embedder makes the vectors for searches by meaning. Without one, such searches compare
	// runs of letters, and each answer says so.
	Embedder Embedder
}

// An Authority reads a principal from rows, in a scope that sees all.
type Authority func(ctx context.Context, r stores.Reader, name string) (p stores.Principal, known bool, err error)

// An Engine runs programs of one set of palettes on one store. It is immutable
// and safe for use by many goroutines.
type Engine struct {
	reg            *verbs.Registry
	store          stores.Store
	clock          func() time.Time
	newID          func() string
	at             func(Stage) // nil but in tests
	observe        func(context.Context, Observed)
	agreed         func(context.Context)
	backoff        func(attempt int) time.Duration
	sleep          func(context.Context, time.Duration)
	zone           *time.Location
	random         io.Reader
	embedder       Embedder
	keep           func(ctx context.Context, s *Session, verb, name string, content []byte) (uploads.Upload, error)
	personal       map[*verbs.Verb]bool // see erasable.go
	people         bool                 // the names of some rows are personal
	writers        provenance.Written
	handlers       map[*verbs.Verb]*handler
	lookers        map[*verbs.Verb]*handler // that look for verbs, also where the caller does not see
	macros         map[*verbs.Verb]*verbs.Program
	inside         map[*verbs.Verb][]*verbs.Verb   // of a macro: every verb that it uses, however deep, once
	excluded       map[*verbs.Verb][]exclusionSide // of verbs that do not go with others
	limited        []*verbs.Verb                   // those that have limits
	countsPreviews bool                            // some verb counts or discloses even in a preview
	unfit          map[*verbs.Verb]dsl.Diagnostic  // queries that cannot be run
	sensitive      map[*verbs.Verb][]bool          // of a query: which columns are sensitive; none of a verb that has no such
	entities       []*verbs.Entity                 // every entity, sorted by name
	tables         []*stores.Entity                // the same, as they are kept
	open           view.Opener
	facts          *view.Facts
	outside        []verbs.Outside     // parallel to the functions of the palettes
	counted        map[view.Field]bool // fields by which a read counts rows
	labelled       map[*verbs.Entity][]stores.Path
	naming         map[*verbs.Entity][]stores.Path // see namedBy
	idOnce         sync.Mutex
	id             stores.Identity                 // of the store, once it has been read
	setters        map[*verbs.Entity][]*verbs.Verb // verbs that set the session's active row
	wants          map[*verbs.Verb][]wants         // of each argument: see ahead
	reads          map[*verbs.Verb]bool            // verbs whose reads need no row first: see owes
	selected       sync.Map                        // *verbs.Read -> *selections
	tools          tools.Servers
	box            *tools.Box
	usesTools      map[*verbs.Verb][]*verbs.Verb // verbs that lead to a tool, however deep, and which
	scanner        string

	authority  Authority // nil where the store alone says who somebody is
	profile    func(ctx context.Context, r stores.Reader, name string) (Profile, error)
	deciders   func(ctx context.Context, r stores.Reader, role string) ([]string, error)
	standing   func(ctx context.Context, r stores.Reader, principal string) ([]StandingRule, error)
	tellsAsker func(string) bool
}

// A ConfigError says that palettes, handlers and store do not fit together, so that New made
// no engine.
type ConfigError struct{ Diagnostics dsl.Diagnostics }

// Error implements error.
func (e *ConfigError) Error() string { return tell(e.Diagnostics) }

// New joins palettes, a store and handlers. Where they disagree it returns a *ConfigError
// whose diagnostics point into the YAML. A query that cannot run does not stop New: see Unfit.
func New(reg *verbs.Registry, store stores.Store, opt Options) (e *Engine, err error) {
	e = &Engine{
		reg:       reg,
		store:     store,
		clock:     opt.Clock,
		newID:     opt.NewID,
		at:        opt.At,
		observe:   opt.Observe,
		agreed:    opt.Agreed,
		keep:      opt.Keep,
		backoff:   opt.Backoff,
		sleep:     opt.Sleep,
		zone:      opt.Zone,
		handlers:  make(map[*verbs.Verb]*handler),
		lookers:   make(map[*verbs.Verb]*handler),
		macros:    make(map[*verbs.Verb]*verbs.Program),
		inside:    make(map[*verbs.Verb][]*verbs.Verb),
		limited:   slices.DeleteFunc(slices.Clone(reg.Verbs()), func(v *verbs.Verb) bool { return len(v.Limits) == 0 }),
		sensitive: make(map[*verbs.Verb][]bool),
		entities:  reg.Entities(),
		labelled:  make(map[*verbs.Entity][]stores.Path),
		naming:    make(map[*verbs.Entity][]stores.Path),
		wants:     make(map[*verbs.Verb][]wants),
		reads:     make(map[*verbs.Verb]bool),

		authority:  opt.Authority,
		profile:    opt.Profile,
		deciders:   opt.Deciders,
		standing:   opt.Standing,
		tellsAsker: opt.TellsAsker,
		scanner:    opt.Scanner,
	}
	if reg.Excludes() {
		e.excluded = exclusions(reg.Verbs())
	}
	if e.clock == nil {
		e.clock = time.Now
	}
	if e.backoff == nil {
		e.backoff = backoff
	}
	if e.sleep == nil {
		e.sleep = sleep
	}
	if e.newID == nil {
		e.newID = uuid.NewString
	}
	if e.zone == nil {
		e.zone = time.UTC
	}
	e.embedder = opt.Embedder
	if e.random = opt.Random; e.random == nil {
		e.random = rand.Reader
	}
	for _, entity := range e.entities {
		e.tables = append(e.tables, entity.Store)
		e.labelled[entity], e.naming[entity] = labels(entity), namedBy(entity)
	}
	e.open, e.facts = view.Open, view.NewFacts(e.tables)
	e.counted = countedBy(reg.Verbs())
	e.countsPreviews = slices.ContainsFunc(reg.Verbs(), func(v *verbs.Verb) bool { return len(v.Limits)+len(v.Discloses) > 0 })
	e.setters = settersOf(reg.Verbs())
	var ds dsl.Diagnostics
	ds = append(ds, e.join(opt.Handlers)...)
	if e.unfit, err = unfitQueries(context.Background(), reg, store); err != nil {
		return nil, err
	}
	for _, v := range reg.Verbs() {
		ds = append(ds, e.prepare(v)...)
		e.wants[v] = e.predictedReads(v)
		e.reads[v] = e.readsAtOnce(v)
	}
	if ds.HasErrors() {
		return nil, &ConfigError{ds}
	}
	for v := range e.macros {
		e.look(v)
	}
	if ds := e.findGenerated(); ds.HasErrors() {
		return nil, &ConfigError{ds}
	}
	if e.usesTools = e.findTools(); len(e.usesTools) > 0 {
		e.tools, e.box = opt.Tools, tools.NewBox(opt.Tools, reg)
	}
	e.findPersonal()
	e.writers = provenance.New(e.entities)
	return e, nil
}

// CheckQueries lists the queries of palettes that cannot run on a store that has their tables.
// An engine refuses their verbs, and no others.
func CheckQueries(ctx context.Context, reg *verbs.Registry, store stores.Store) (dsl.Diagnostics, error) {
	unfit, err := unfitQueries(ctx, reg, store)
	return inOrder(reg, unfit), err
}

// Unfit lists the queries of its palettes that an engine cannot run.
func (e *Engine) Unfit() dsl.Diagnostics { return inOrder(e.reg, e.unfit) }

func inOrder(reg *verbs.Registry, of map[*verbs.Verb]dsl.Diagnostic) (ds dsl.Diagnostics) {
	for _, v := range reg.Verbs() {
		if d, ok := of[v]; ok {
			ds = append(ds, d)
		}
	}
	return ds
}

func unfitQueries(ctx context.Context, reg *verbs.Registry, store stores.Store) (map[*verbs.Verb]dsl.Diagnostic, error) {
	var tables []*stores.Entity
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	unfit := make(map[*verbs.Verb]dsl.Diagnostic)
	for _, v := range reg.Verbs() {
		if v.Query == nil {
			continue
		}
		err := store.CheckSQL(ctx, tables, queryOf(v, nil))
		var wrong *stores.SQLError
		switch {
		case errors.As(err, &wrong):
			unfit[v] = badQuery(v, wrong)
		case err != nil:
			return nil, fmt.Errorf("the query of %s: %w", v.Name, err)
		}
	}
	return unfit, nil
}

// look finds the verbs that a macro uses. Nested macros multiply their calls, so each macro is
// visited once.
func (e *Engine) look(v *verbs.Verb) []*verbs.Verb {
	p := e.macros[v]
	if found, done := e.inside[v]; done || p == nil {
		return found
	}
	e.inside[v] = nil // loading refused circles; this would end one
	var all []*verbs.Verb
	calls := p.Calls()
	for i := range calls {
		for _, inner := range append([]*verbs.Verb{calls[i].Verb}, e.look(calls[i].Verb)...) {
			if !slices.Contains(all, inner) {
				all = append(all, inner)
			}
		}
	}
	e.inside[v] = all
	return all
}

// prepare checks what a verb needs of handlers and store, which the loader does not know.
func (e *Engine) prepare(v *verbs.Verb) dsl.Diagnostics {
	var ds dsl.Diagnostics
	if v.Query != nil {
		if v.Query.IsSensitive() {
			e.sensitive[v] = v.Query.Sensitive
		}
	}
	if v.Macro != nil {
		p, found := e.reg.CheckMacro(v)
		for _, d := range found {
			if d.Severity == dsl.Error {
				ds = append(ds, d)
			}
		}
		if p != nil {
			e.macros[v] = p
		}
	}
	return ds
}

// Session begins a session for a principal, and reads their roles and scope. Runs read them
// again; once they have changed, the session refuses to go on. A principal whom the store does
// not know is refused.
//
// The session reads within ctx for as long as it lives.
func (e *Engine) Session(ctx context.Context, principal string) (*Session, error) {
	// The store is asked which it is before anything else, and never while it is read.
	if _, err := e.identity(ctx); err != nil {
		return nil, failure(err)
	}
	who, err := e.principal(ctx, principal)
	if errors.Is(err, stores.ErrNotFound) {
		return nil, &Refusal{Diagnostics: dsl.Diagnostics{unknownPrincipal(principal)}}
	}
	if err != nil {
		return nil, failure(err)
	}
	s := &Session{
		e:     e,
		ctx:   ctx,
		id:    e.newID(),
		who:   who,
		zone:  e.zone,
		scope: stores.Scope{Principal: who.Name, Holds: withoutOwn(who.Holds)},
	}
	for _, name := range who.Roles {
		// A role that no palette declares gives no rights.
		if role := e.reg.Role(name); role != nil {
			s.roles = append(s.roles, role)
			s.scope.All = s.scope.All || role.SeesAll
		}
	}
	s.from = e.writers.For(s.roles)
	return s, nil
}

// principal reads a principal with their present rights.
func (e *Engine) principal(ctx context.Context, name string) (who stores.Principal, err error) {
	if e.authority != nil {
		known := false
		err = e.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
			who, known, err = e.authority(ctx, r, name)
			return err
		})
		if err != nil || known {
			return who, err
		}
	}
	if who, err = e.store.Principal(ctx, name); err == nil && e.reg.Formerly() {
		holds := make(map[string][]stores.Value, len(who.Holds))
		for name, keys := range who.Holds {
			if entity := e.reg.Entity(name); entity != nil {
				name = entity.Store.Name
			}
			holds[name] = append(holds[name], keys...)
		}
		who.Holds = holds
	}
	return who, err
}

// Label returns the label of a principal, or else their name.
func (e *Engine) Label(ctx context.Context, name string) string {
	who, err := e.principal(ctx, name)
	if err != nil {
		return name
	}
	return cmp.Or(who.Label, name)
}

// sends reports whether an effect sends a notice or schedules a job.
func sends(e *verbs.Effect) bool { return e.Kind == verbs.Triggers || e.Kind == verbs.Notifies }

// A Stage is a step of a call or of a run, for Options.At.
type Stage string

// The stages of a call, and then of the run that it belongs to, in the order in
// which they are entered. A run that is tried again begins again.
const (
	StagePermit  Stage = "permit"  // may the principal use the verbs
	StageResolve Stage = "resolve" // which rows do the references of a call name
	StageGate    Stage = "gate"    // what a call requires, and who must agree to it
	StageCarry   Stage = "carry"   // what the call would change
	StageSettle  Stage = "settle"  // is that what its verb promised
	StageApply   Stage = "apply"   // its changes go to the transaction
	StageAgreed  Stage = "agreed"  // is this what was agreed to
	StageRecord  Stage = "record"  // journal, notices and what the engine keeps go to the transaction
	StageReply   Stage = "reply"   // it is committed: what was done is put into words
)

// enter calls Options.At with a stage.
func (e *Engine) enter(s Stage) {
	if e.at != nil {
		e.at(s)
	}
}
