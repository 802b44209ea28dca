// Package engine runs checked scripts, as a whole or not at all.
//
//	plan, err := store.Migrate(ctx, engine.Tables(registry), true) // once; plan.Problems must be empty
//	eng, err := engine.New(registry, store, engine.Options{})
//	session, err := eng.Session(ctx, "clara")
//	program, mistakes := session.Check(ctx, script)
//	preview, err := session.Preview(ctx, program)    // a receipt: rows, before and after
//	done, err := session.Run(ctx, program, engine.RunOptions{Agreed: preview.Answer()})
//
// If somebody else must agree, Run refuses: Propose keeps the program, Agree runs it.
//
// A call goes through six steps, each in the file of its name: permit (may the caller use the verb),
// resolve (rows and values), gate (what must hold, who must agree), execute, verify (did its palette
// promise that) and commit.
package engine

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/trail"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/journal"
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
	// Handlers are the Go functions that carry out verbs. If it is nil, such verbs are
	// refused when they are used; otherwise New demands one for each of them.
	Handlers *Handlers
	// People says who principals are, where rows keep it.
	People People
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
	// Scanner names the malware scanner in use; "" if it is unknown. With a scanner, a file that was
	// accepted without one, ScannedByNobody, has to be scanned before it is used.
	Scanner string
	// Tools reach the tools of other servers. If it is nil, verbs that need one are
	// refused when they are used.
	Tools tools.Servers
	// Keep stores a file that a verb made, as an upload of the session's principal, which expires
	// after the given time unless it is used. It is called with no transaction open. Without it,
	// verbs that make files are refused.
	Keep func(ctx context.Context, s *Session, verb, name string, content []byte, lasts time.Duration) (uploads.Upload, error)
	// Embedder makes the vectors for searches by meaning. Without one, such searches compare
	// runs of letters, and each answer says so.
	Embedder Embedder
}

// People tell who principals are. Every function may be left out.
type People struct {
	// Authority reads principals that are kept in rows. If it is nil, or does not know
	// somebody, the store's own principals count.
	Authority func(ctx context.Context, r stores.Reader, name string) (p stores.Principal, known bool, err error)
	// Profile returns the profile of a principal. Without it, only the store's label is
	// known.
	Profile func(ctx context.Context, r stores.Reader, name string) (Profile, error)
	// Deciders names the holders of a role who can be notified that a proposal waits for
	// them. Without it nobody is notified.
	Deciders func(ctx context.Context, r stores.Reader, role string) ([]string, error)
	// Standing returns the standing rules of a principal. Without it nobody has any.
	Standing func(ctx context.Context, r stores.Reader, principal string) ([]StandingRule, error)
	// TellsAsker reports, for the source of a call, whether its asker is to be notified
	// when somebody else decides: a notice with TargetDecided is queued then. Without it
	// nobody is notified.
	TellsAsker func(source string) bool
}

// An Engine runs programs of one set of palettes on one store. It is immutable
// and safe for use by many goroutines.
type Engine struct {
	reg     *verbs.Registry
	store   stores.Store
	opt     Options // with their defaults filled in
	verbs   map[*verbs.Verb]*prepared
	catalog catalog
	outside []verbs.Outside // parallel to the functions of the palettes
	limited []*verbs.Verb   // those that have limits
	tells   bool            // some verb counts or discloses even in a preview
	box     *tools.Box      // nil where no verb has a tool
	open    view.Opener
	idOnce  sync.Mutex
	id      stores.Identity // of the store, once it has been read
}

// A catalog is what the entities of the palettes come to. New makes it, and nothing changes it
// afterwards.
type catalog struct {
	entities []*verbs.Entity  // every entity, sorted by name
	tables   []*stores.Entity // the same, as they are kept
	facts    *view.Facts
	labels   map[*verbs.Entity][]stores.Path // what the label of a row is made of
	names    map[*verbs.Entity][]stores.Path // see namedBy
	setters  map[*verbs.Entity][]*verbs.Verb // verbs that set the session's active row
	counted  map[view.Field]bool             // fields by which a read counts rows
	writers  provenance.Written
	personal bool // the names of some rows are personal
}

// A ConfigError says that palettes, handlers and store do not fit together, so that New made
// no engine.
type ConfigError struct{ Diagnostics dsl.Diagnostics }

// Error implements error.
func (e *ConfigError) Error() string { return inWords(e.Diagnostics) }

// New joins palettes, a store and handlers. Where they disagree it returns a *ConfigError
// whose diagnostics point into the YAML. A query that cannot run does not stop New: see Unfit.
// Migrate the store with Tables first: New tries the queries on its tables.
func New(reg *verbs.Registry, store stores.Store, opt Options) (*Engine, error) {
	opt.fill()
	e := &Engine{reg: reg, store: store, opt: opt, catalog: newCatalog(reg), open: view.Open}
	for _, v := range reg.Verbs() {
		if len(v.Limits) > 0 {
			e.limited = append(e.limited, v)
		}
		e.tells = e.tells || len(v.Limits)+len(v.Discloses) > 0
	}
	ds, err := e.prepare(opt.Handlers)
	if err != nil {
		return nil, err
	}
	if ds.HasErrors() {
		return nil, &ConfigError{ds}
	}
	return e, nil
}

// fill sets the options that were left out to their defaults.
func (o *Options) fill() {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Backoff == nil {
		o.Backoff = backoff
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Zone == nil {
		o.Zone = time.UTC
	}
}

func newCatalog(reg *verbs.Registry) catalog {
	c := catalog{
		entities: reg.Entities(),
		labels:   make(map[*verbs.Entity][]stores.Path),
		names:    make(map[*verbs.Entity][]stores.Path),
		setters:  settersOf(reg.Verbs()),
		counted:  countedBy(reg.Verbs()),
	}
	for _, entity := range c.entities {
		c.tables = append(c.tables, entity.Store)
		c.labels[entity], c.names[entity] = labels(entity), namedBy(entity)
	}
	c.facts, c.writers = view.NewFacts(c.tables), provenance.New(c.entities)
	return c
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
		return nil, &Refusal{Diagnostics: dsl.Diagnostics{tell(dsl.Place{}, "unknown-principal", principal)}}
	}
	if err != nil {
		return nil, failure(err)
	}
	s := &Session{
		e:     e,
		id:    e.opt.NewID(),
		who:   who,
		zone:  e.opt.Zone,
		scope: stores.Scope{Principal: who.Name, Holds: withoutOwn(who.Holds)},
	}
	for _, name := range who.Roles {
		// A role that no palette declares gives no rights.
		if role := e.reg.Role(name); role != nil {
			s.rights.roles = append(s.rights.roles, role)
			s.scope.All = s.scope.All || role.SeesAll
		}
	}
	s.from = e.catalog.writers.For(s.rights.roles)
	return s, nil
}

// principal reads a principal with their present rights.
func (e *Engine) principal(ctx context.Context, name string) (who stores.Principal, err error) {
	if e.opt.People.Authority != nil {
		known := false
		err = e.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
			who, known, err = e.opt.People.Authority(ctx, r, name)
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

// SetPrincipal adds a principal to the store, or replaces one. It refuses a role or an entity that no
// palette declares, and a key that is none of its entity. The store itself takes them as they come,
// and they would give no rights.
func (e *Engine) SetPrincipal(ctx context.Context, p stores.Principal) error {
	var all []callError
	wrong := func(name string, args ...any) { all = append(all, callError{-1, tell(dsl.Place{}, name, args...)}) }
	var roles, entities []string
	for _, r := range e.reg.Roles() {
		roles = append(roles, r.Name)
	}
	for _, t := range e.catalog.tables {
		entities = append(entities, t.Name)
	}
	for _, name := range p.Roles {
		if e.reg.Role(name) == nil {
			wrong("bad-principal", name, meant(name, roles))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Holds)) {
		of := e.reg.Entity(name)
		if of == nil {
			wrong("bad-principal/holds", name, meant(name, entities))
			continue
		}
		for _, key := range p.Holds[name] {
			if kind := of.Store.Fields[of.Store.Key].Kind; key.Kind() != kind {
				wrong("bad-principal/key", name, kind, key.Kind())
			}
		}
	}
	if len(all) > 0 {
		return refuse(all)
	}
	return failure(e.store.SetPrincipal(ctx, p))
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
	StageExecute Stage = "carry"   // what the call would change
	StageVerify  Stage = "settle"  // is that what its verb promised
	StageApply   Stage = "apply"   // its changes go to the transaction
	StageAgreed  Stage = "agreed"  // is this what was agreed to
	StageRecord  Stage = "record"  // journal, notices and what the engine keeps go to the transaction
	StageReply   Stage = "reply"   // it is committed: what was done is put into words
)

// enter calls Options.At with a stage.
func (e *Engine) enter(s Stage) {
	if e.opt.At != nil {
		e.opt.At(s)
	}
}

// The engine keeps rows of its own: confirmations, receipts of idempotency keys, attempts with
// tools, uses of limited verbs, sessions with their turns and questions, counters, and
// uploads. They are entities like those of palettes, so that a store writes them in the same
// transaction as the rows they are about. Palettes cannot declare their names and tables.
//
// Each row of the first four owns itself, and nobody holds it: the engine adds the rows that a
// transaction needs to its scope, and looks for others in a scope of its own. Sessions belong
// to their principal, see sessions.Entity, and so do uploads, see upload.go.

// Own returns the entities of the engine's own rows, which are among those of Tables.
func Own() []*stores.Entity {
	return append([]*stores.Entity{confirmations.Entity, deliveries, attempts, uses, sessions.Entity, sessions.Turns, sessions.Questions, sessions.Budgets, uploads.Contents, uploads.Entity, trail.Entity}, journal.Own()...)
}

// The fields of a delivery: the receipt that is kept for an idempotency key.
const (
	dlvKey = iota // hash of the principal and their key
	dlvPrincipal
	dlvText    // hash of the canonical text
	dlvWritten // hash of the text as it was written
	dlvReply   // the kept form of its receipt
	dlvEach    // the key is used to commit call by call, and the calls have rows of their own
	dlvTime
	dlvFirst // number of the first journal entry, if there is one
	dlvSame  // see sameCalls
)

var deliveries = &stores.Entity{
	Name:    "verbatim.delivery",
	Table:   "verbatim.deliveries",
	Managed: true,
	Place:   "the engine's own",
	Key:     dlvKey,
	Fields: []stores.Field{
		dlvKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		dlvPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		dlvText:      {Name: "text", Column: "text_digest", Kind: stores.String, Required: true},
		dlvWritten:   {Name: "written", Column: "written_digest", Kind: stores.String, Required: true},
		dlvReply:     {Name: "reply", Column: "reply", Kind: stores.String, Required: true, Sensitive: true},
		dlvEach:      {Name: "each", Column: "call_by_call", Kind: stores.Bool, Required: true},
		dlvTime:      {Name: "time", Column: "done_at", Kind: stores.Time, Required: true},
		dlvFirst:     {Name: "first", Column: "first_entry", Kind: stores.Int},
		dlvSame:      {Name: "same", Column: "same_calls", Kind: stores.String},
	},
	Found: [][]int{{dlvSame, dlvTime}}, // by every question
}

// holding adds rows of the engine's own to a scope.
func holding(s stores.Scope, e *stores.Entity, keys ...stores.Value) stores.Scope {
	holds := maps.Clone(s.Holds)
	if holds == nil {
		holds = map[string][]stores.Value{}
	}
	holds[e.Name] = append(holds[e.Name][:len(holds[e.Name]):len(holds[e.Name])], keys...)
	s.Holds = holds
	return s
}

// withoutOwn removes the engine's own rows from a scope, whatever the grants say.
func withoutOwn(holds map[string][]stores.Value) map[string][]stores.Value {
	holds = maps.Clone(holds)
	for _, own := range []*stores.Entity{confirmations.Entity, deliveries, attempts, uses, uploads.Contents, journal.Openings} {
		delete(holds, own.Name)
	}
	return holds
}

// The fields of an attempt: a request to a tool of another server that may act.
const (
	attKey = iota // hash of the principal and their key, or of one that was drawn; the tool is asked under it
	attPrincipal
	attText // hash of the canonical text
	attSent // hash of what was asked
	attTool
	attStatus
	attAnswer // of a tool that has answered
	attTime
	attSame    // see sameCalls
	attFirst   // number of its first journal entry
	attEnded   // how it ended where attStatus alone does not say: see the constants beside it
	attEndedBy // who settled it
)

var attempts = &stores.Entity{
	Name:    "verbatim.attempt",
	Table:   "verbatim.attempts",
	Managed: true,
	Place:   "the engine's own",
	Key:     attKey,
	Fields: []stores.Field{
		attKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		attPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		attText:      {Name: "text", Column: "text_digest", Kind: stores.String, Required: true},
		attSent:      {Name: "sent", Column: "sent_digest", Kind: stores.String, Required: true},
		attTool:      {Name: "tool", Column: "tool", Kind: stores.String, Required: true},
		attStatus:    {Name: "status", Column: "status", Kind: stores.String, Required: true, Codes: []string{AttemptOpen, AttemptDone, AttemptFailed, AttemptUnknown}},
		attAnswer:    {Name: "answer", Column: "answer", Kind: stores.JSON, Sensitive: true},
		attTime:      {Name: "time", Column: "settled_at", Kind: stores.Time, Required: true},
		attSame:      {Name: "same", Column: "same_calls", Kind: stores.String},
		attFirst:     {Name: "first", Column: "first_entry", Kind: stores.Int},
		attEnded:     {Name: "ended", Column: "ended", Kind: stores.String},
		attEndedBy:   {Name: "ended-by", Column: "ended_by", Kind: stores.String},
	},
	Found: [][]int{{attSame, attTime}, {attFirst}},
}

// settersOf finds, for each entity, the verbs that set the session's row at work.
func settersOf(all []*verbs.Verb) map[*verbs.Entity][]*verbs.Verb {
	by := make(map[*verbs.Entity][]*verbs.Verb)
	for _, v := range all {
		for i := range v.Effects {
			f := &v.Effects[i]
			if f.Session == verbs.SessionActive && f.Value != nil && f.Of != nil && !slices.Contains(by[f.Of.Entity], v) {
				by[f.Of.Entity] = append(by[f.Of.Entity], v)
			}
		}
	}
	return by
}

// Tables returns all that a store keeps for an engine: the entities of the palettes, sorted by name,
// and the engine's own. Pass them to Migrate before the first session, and after palettes change.
func Tables(reg *verbs.Registry) []*stores.Entity {
	var all []*stores.Entity
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	return append(all, Own()...)
}

// Uploads looks after the uploads of the store.
func (e *Engine) Uploads() *uploads.Shelf {
	return &uploads.Shelf{
		Clock: e.opt.Clock,
		View: func(ctx context.Context, fn func(stores.Reader) error) error {
			return failure(e.store.View(ctx, system(), fn))
		},
		Write: func(ctx context.Context, fn func(stores.Tx) error) error {
			return failure(writeTo(ctx, e, system(), fn))
		},
		Prune: func(ctx context.Context, of *stores.Entity, where stores.Cond) (int, error) {
			n, err := e.prune(ctx, of, where)
			return n, failure(err)
		},
	}
}

// Visit opens a kept session, and counts a visit if the person had been away. Any number of
// processes may have the same session open.
func (e *Engine) Visit(ctx context.Context, principal string, v Visit) (*Session, error) {
	if err := v.fit(); err != nil {
		return nil, err
	}
	s, err := e.Session(ctx, principal)
	if err != nil {
		return nil, err
	}
	s.kept = stores.NewString(v.ID)
	if v.ID == "" {
		s.kept = sessions.Key(s.who.Name, v.Name)
	}
	now := stores.NewTime(e.opt.Clock()).Time()
	var kept *sessions.Session
	err = writeTo(ctx, e, mineOnly(s), func(tx stores.Tx) (err error) {
		kept, err = sessions.Get(ctx, tx, s.kept)
		switch {
		case err != nil:
			return err
		case kept == nil && (v.ID != "" || v.Existing):
			return refuseScript(tell(dsl.Place{}, "unknown-session"))
		case kept == nil:
			kept = sessions.Begin(s.kept, s.who.Name, v.Name, now)
		}
		// If two processes begin it at once, the second one finds it.
		return asConflict(tx.Apply(ctx, stores.Batch{Changes: []stores.Change{kept.Visit(v.Zone, v.Language, now)}}))
	})
	if err != nil {
		return nil, storeError(dsl.Place{}, err)
	}
	s.id = s.kept.Text()
	return s, speaks(ctx, s, kept.Zone, kept.Language)
}
