package engine

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// commit checks that nothing of a plan changed on its way, and hands over its batch.
func (r *run) commit(ctx context.Context, o RunOptions) error {
	r.src.e.enter(StageRecord)
	for _, st := range r.plan.steps {
		if err := r.unchanged(st); err != nil {
			return err
		}
	}
	b, err := r.batch(ctx, o)
	if err != nil || len(b.Entries) == 0 && len(b.Changes) == 0 && len(b.Jobs) == 0 && len(b.Settled) == 0 && len(b.JobChanges) == 0 && !r.src.read.Waiting() {
		return err
	}
	return r.src.read.Apply(ctx, b)
}

// batch makes what a plan adds to a transaction that already holds its changes: the journal entries,
// the notices, and the engine's own rows.
func (r *run) batch(ctx context.Context, o RunOptions) (b stores.Batch, err error) {
	for _, u := range r.plan.uploads() {
		e, key := r.plan.rowOfFile(u.row.Key().Text())
		if c, some := uploads.Use(u.row, u.verb, e, key, r.src.now); some {
			r.own.Changes = append(r.own.Changes, c)
		}
	}
	if len(r.src.answers)+len(r.src.kept) > 0 {
		kept, err := extendFiles(ctx, r.src.read, madeFiles(r), r.src.now.Add(uploads.Unused))
		if err != nil {
			return b, err
		}
		r.own.Changes = append(r.own.Changes, kept...)
	}
	if len(r.met.uses) > 0 {
		r.own.Changes = append(r.own.Changes, usedUp(r)...)
	}
	b = r.own
	b.Late = true
	if err = r.nameAdded(ctx, &b); err != nil {
		return b, err
	}
	if err := r.src.spoken(ctx, &o); err != nil {
		return b, err
	}
	for _, st := range r.plan.steps {
		r.changeJobs(&b, st)
		for i := range st.out.notices {
			n := &st.out.notices[i]
			for _, was := range n.instead {
				// A job that another call of this run scheduled is known by its key alone.
				if at := slices.IndexFunc(b.Jobs, func(j stores.Job) bool { return j.Unique == n.unique && j.Kind == JobCall }); at >= 0 && was.Kind == "" {
					was.Job = b.Jobs[at]
				}
				st.out.dropped = append(st.out.dropped, was.Job)
			}
			st.out.jobs = append(st.out.jobs, jobOf(r, st, n))
		}
		b.Jobs = append(b.Jobs, st.out.jobs...)
	}
	if r.of, err = r.entries(&b, o); err != nil {
		return b, err
	}
	if err := r.src.keepSession(ctx, &b, o.Said, func() sessions.Notes { return aboutRun(r) }); err != nil {
		return b, err
	}
	if o.Key != "" {
		b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], deliveryOf(r, o.Key))
	}
	return b, nil
}

// outgoing returns the content of a notice: the call, the rows that it speaks of, and the
// values that the palette sends along. Only our own workers read it, so it holds keys.
// Sensitive values are left out unless the palette sends them.
func (r *run) outgoing(st *step, n *notice) stores.Value {
	var refs []string
	var keys []stores.Value
	for i := range st.args.values {
		if st.args.rows[i].Entity != nil {
			refs, keys = append(refs, st.verb.Params[i].Name), append(keys, st.args.values[i])
		}
	}
	names := []string{"verb", "call", "refs", "with"}
	parts := []stores.Value{stores.NewString(st.verb.Name), stores.NewString(st.call.text), stores.NewObject(refs, keys), stores.NewObject(n.keys, n.shownValues())}
	if marks, ok := n.marks(); ok {
		names, parts = append(names, "origins"), append(parts, marks)
	}
	return stores.NewObject(names, parts)
}

// reply makes the receipt of a committed run. New rows get their names only now.
func (r *run) reply() *receipt.Receipt {
	r.src.e.enter(StageReply)
	for _, n := range r.plan.called {
		compare(n.rows, n.found)
	}
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			if c := &st.out.changes[i]; c.Op == stores.Insert {
				r.src.s.adopt(c.Entity, r.src.draft.minted[view.RowKey{Entity: c.Entity, Key: c.Key}])
			}
		}
	}
	if r.plan.receipts == nil || len(r.src.draft.added) > 0 {
		r.makeReceipts()
	}
	reply := r.preview()
	reply.Done = true
	for i, st := range r.written() {
		reply.Calls[i].Seq, reply.Calls[i].Undo = st.out.seq, st.undoUntil(r.src.now)
	}
	reply.First, reply.Last = r.journalled()
	for _, st := range r.plan.steps {
		for i := range st.out.changes {
			if c := &st.out.changes[i]; c.Op == stores.Update && r.src.e.renames(c) {
				r.src.s.names.Forget(c.Entity, c.Key)
			}
		}
	}
	if r.plan.unsealed {
		r.src.read = nil // it is kept for its digest
		reply.SealLater(func() (string, [32]byte) {
			r.finish()
			return r.plan.id, r.plan.digest
		})
	}
	return reply
}

// journalled returns the first and the last journal entry of a run.
func (r *run) journalled() (first, last int64) {
	for _, st := range r.plan.steps {
		if st.out.seq > 0 && (first == 0 || st.out.seq < first) {
			first = st.out.seq
		}
		last = max(last, st.out.seq)
	}
	return first, last
}

// undoUntil returns the time until which a call can be taken back; null where it cannot,
// or where its palette names no time.
func (st *step) undoUntil(now time.Time) stores.Value {
	u := st.verb.Undo
	if st.verb.Undoes != nil {
		u = st.verb.Undoes.Undo
	}
	if u == nil || u.None != "" {
		return stores.Value{}
	}
	return stores.NewTime(now.Add(u.Within))
}

// A digester hashes a plan, and the rows that it depends on.
type digester struct{ digest.Writer }

// sealIn hashes the verb and the resolved arguments of a call, in a buffer that is reused.
func (st *step) sealIn(b *[]byte) [32]byte {
	d := digester{digest.Writer{B: (*b)[:0]}}
	d.Text(st.verb.Name)
	d.Values(st.args.values)
	d.origins(st.args.from)
	*b = d.B
	return sha256.Sum256(d.B)
}

// finish computes the digest of the plan: the principal, the palettes, the changes, and the
// rows that they depend on. Generated keys and instants that move with the clock are replaced
// by descriptions, so that two previews of the same plan are equal.
func (r *run) finish() {
	d := digester{digest.Writer{Alias: r.src.draft.alias, Into: sha256.New()}}
	d.Text("verbatim preview 1")
	d.Text(r.src.e.reg.Digest())
	d.Text(r.src.s.who.Name)
	d.Value(r.src.s.kept) // what was shown in one session is not agreed to in another
	d.Number(len(r.src.s.rights.roles))
	for _, role := range r.src.s.rights.roles {
		d.Text(role.Name)
	}
	d.Number(len(r.plan.steps))
	for i := range r.plan.receipts {
		d.B = r.plan.receipts[i].AppendDigest(d.B, d.Alias)
		d.Spill()
	}
	for _, st := range r.plan.steps {
		d.step(st)
		d.Spill()
	}
	d.readSet(r.plan.steps)
	d.Into.Write(d.B)
	d.Into.Sum(r.plan.digest[:0])
	r.plan.id = receipt.NewID(r.plan.digest[:16])
}

// step hashes what a call depends on and its receipt does not hold.
func (d *digester) step(st *step) {
	d.Text(st.call.text)
	d.Number(len(st.args.values))
	for i, v := range st.args.values {
		d.of(st.verb.Params[i].Type, v)
	}
	d.origins(st.args.from)
	d.Number(len(st.out.notices))
	for _, n := range st.out.notices {
		d.Number(len(n.values))
		for i, v := range n.values {
			if n.effect != nil && i < len(n.effect.With) && n.effect.With[i].Of != nil {
				d.Key(n.effect.With[i].Of.Store.Name, v)
			} else {
				d.Value(v)
			}
		}
		d.origins(n.came)
		d.instead(n.instead)
	}
	if e := st.external; e != nil {
		d.Text(e.spec.Digest)
	}
}

// of hashes a value of a type; the type says whether it is the key of a row.
func (d *digester) of(t *verbs.Type, v stores.Value) {
	if t != nil && t.Name == verbs.RefType && t.Entity != nil {
		d.Key(t.Entity.Store.Name, v)
		return
	}
	d.Value(v)
}

// fieldOf hashes a value that was read along a path.
func (d *digester) fieldOf(e *stores.Entity, p stores.Path, v stores.Value) {
	for _, s := range p.Steps {
		e = s.To
	}
	switch {
	case e == nil || p.Count != nil || p.Marks || p.Field >= len(e.Fields):
		d.Value(v)
	case p.Field == e.Key:
		d.Key(e.Name, v)
	case e.Fields[p.Field].Ref != nil:
		d.Key(e.Fields[p.Field].Ref.Name, v)
	default:
		d.Value(v)
	}
}

// readSet hashes the rows that calls depend on.
func (d *digester) readSet(steps []*step) {
	n := 0
	for _, st := range steps {
		n += len(st.reads)
	}
	d.Number(n)
	for _, st := range steps {
		for i := range st.reads {
			d.read(&st.reads[i])
			d.Spill()
		}
	}
}

func (d *digester) read(s *readRow) {
	if s.entity == nil {
		d.Value(s.key)
		d.Values(s.values)
	} else {
		d.Text(s.entity.Name)
		d.Key(s.entity.Name, s.key)
		d.Number(len(s.values))
		for i, v := range s.values {
			p := stores.Path{Field: i}
			if i < len(s.paths) {
				p = s.paths[i]
			}
			d.fieldOf(s.entity, p, v)
		}
	}
	d.Number(len(s.marks))
	for _, m := range s.marks {
		d.Number(m.Field)
		d.Text(m.Origin)
	}
}

// origins hashes the origins of values.
func (d *digester) origins(origins []verbs.Origin) {
	for _, o := range origins {
		d.origin(o)
	}
}

func (d *digester) origin(o verbs.Origin) {
	d.Number(int(o.Kinds()))
	d.Text(o.Sources())
}

// instead hashes the jobs that a job replaces, if there are any.
func (d *digester) instead(jobs []stores.JobRecord) {
	if len(jobs) == 0 {
		return
	}
	d.Text("instead")
	d.Number(len(jobs))
	for i := range jobs {
		d.Text(jobs[i].ID)
	}
}

// digestOf returns the digest of some calls of a plan: what they would do, and the rows that they
// depend on, after the earlier calls.
func (r *run) digestOf(calls []int) [32]byte {
	d := digester{digest.Writer{Alias: r.src.draft.alias}}
	d.Text("verbatim call 1")
	d.Text(r.src.e.reg.Digest())
	d.Text(r.src.s.who.Name)
	for i, st := range r.written() {
		if slices.Contains(calls, st.call.index) {
			d.B = r.plan.receipts[i].AppendDigest(d.B, d.Alias)
		}
	}
	for _, st := range r.plan.steps {
		if slices.Contains(calls, st.call.index) {
			d.step(st)
		}
	}
	d.readSet(slices.DeleteFunc(slices.Clone(r.plan.steps), func(st *step) bool { return !slices.Contains(calls, st.call.index) }))
	return sha256.Sum256(d.B)
}

// The journal has an entry for every call that may change something, done or refused, and for
// every call that returned a sensitive field. Other reads have none, so that reading stays cheap
// and writes nothing. The calls of a macro have entries of their own, with their changes; the
// entry of the macro itself comes before them and says what was asked for.

const (
	outcomeOK       = "ok"
	outcomeRefused  = "refused"
	outcomeDeclined = "declined"
	outcomeSkipped  = "skipped" // of a job that had become pointless when its time came
	outcomeExpired  = "expired" // of a confirmation that nobody decided in time
)

// The reasons of entries whose outcome is failed, beside the codes of refusals.
const (
	reasonBroken  = "broken-promise" // the verb did not do exactly what its palette promises
	reasonHandler = "handler-failed"
)

// entries adds the journal entries of a run to a batch, in the order in which its calls were
// carried out, and returns the steps of the entries.
func (r *run) entries(b *stores.Batch, o RunOptions) ([]*step, error) {
	var of []*step
	b.Entries = slices.Grow(b.Entries, len(r.plan.steps))
	for _, st := range r.plan.steps {
		if r.src.e.verbs[st.verb].reads && !gaveSensitive(st) && len(st.verb.Discloses) == 0 {
			continue
		}
		e := entryOf(r.src.s, r.plan.prog, o, st.call.place)
		e.Time, e.Verb, e.Outcome, e.Origins = r.src.now, st.verb.Name, outcomeOK, originsText(st)
		switch {
		case r.agreedBy != "":
			e.Preview, e.Agreed = r.plan.id, r.agreedBy
		case o.Agreed != "":
			e.Preview, e.Agreed = r.plan.id, r.src.s.who.Name
		case r.plan.top[st.call.index].passed != nil:
			e.Agreed = byStandingRule(r.src.s.who.Name, r.plan.top[st.call.index].passed)
		}
		say := saidAs(r.src.e, r.plan.prog, st)
		say.st = st
		if err := tellCall(r.src.e, b, e, say); err != nil {
			return nil, err
		}
		of = append(of, st)
	}
	return of, nil
}

func gaveSensitive(st *step) bool {
	return st.out.cells != nil && len(st.out.cells.rows) > 0 && slices.ContainsFunc(st.out.cells.columns, func(c column) bool { return c.sensitive })
}

// entryOf begins a journal entry with the fields that every entry of a session has.
func entryOf(s *Session, p *verbs.Program, o RunOptions, place dsl.Place) stores.Entry {
	e := stores.Entry{Principal: s.who.Name, Session: s.id, Source: o.Source, Palette: s.e.reg.Digest(), Turn: turnID(s, o), Roles: roleNames(s)}
	if src := p.Script().Source; src != nil {
		e.Source = cmp.Or(e.Source, src.Name)
		e.Source = fmt.Sprintf("%s:%d", e.Source, src.Position(place.Range.Start).Line)
	}
	return e
}

// roleNames returns the principal's roles for a journal entry.
func roleNames(s *Session) (names []string) {
	for _, role := range s.rights.roles {
		names = append(names, role.Name)
	}
	return names
}

// turnID returns the id of the turn that led to a run, "" if there is none.
func turnID(s *Session, o RunOptions) string {
	if o.Turn > 0 && !s.kept.IsNull() {
		return sessions.TurnID(s.id, o.Turn)
	}
	return ""
}

// refusalOf writes refused calls into the journal, and those that broke a promise or whose handler
// failed, in a transaction of their own, which ends the job that made them, if there is one.
func refusalOf(ctx context.Context, s *Session, p *verbs.Program, o RunOptions, err error, settled ...stores.Settlement) error {
	var b stores.Batch
	var counted []countedUse
	told := make(map[int]bool)
	entry := func(call int, outcome, reason string) error {
		calls := p.Calls()
		if call < 0 && len(calls) > 0 {
			call = stands(s, p) // it is about the script
		}
		if call < 0 || told[call] {
			return nil
		}
		told[call] = true
		c := &calls[call]
		e := entryOf(s, p, o, placeOf(p, c))
		e.Time, e.Verb, e.Outcome, e.Reason = s.e.opt.Clock(), c.Verb.Name, outcome, reason
		return tellCall(s.e, &b, e, saidOf(s.e, p, call))
	}
	var r *Refusal
	var broken *BrokenPromise
	var failed *Failure
	var unwritten error
	switch {
	case errors.As(err, &r) && !r.journalled:
		for i, call := range r.calls {
			unwritten = cmp.Or(unwritten, entry(call, outcomeRefused, r.Diagnostics[i].Code))
		}
		counted = countsRefused(p, r)
	case errors.As(err, &r), errors.As(err, &failed) && failed.Told != nil: // it is journalled already
		return err
	case errors.As(err, &broken):
		unwritten = entry(broken.call-1, outcomeFailed, reasonBroken)
	case errors.As(err, &failed) && failed.call > 0:
		unwritten = entry(failed.call-1, outcomeFailed, reasonHandler)
	default:
		return err
	}
	if unwritten != nil {
		return unwritten
	}
	if len(b.Entries) == 0 && len(settled) == 0 {
		return err
	}
	b.Settled = settled
	if failed := recordEntries(ctx, s, b, counted...); failed != nil {
		return &Failure{Err: fmt.Errorf("%w; and the journal could not be told: %w", err, failed)}
	}
	return err
}

// stands picks the call that the journal names for a whole program: the first one that may
// change something, or else the first one.
func stands(s *Session, p *verbs.Program) int {
	calls, order := p.Calls(), p.Order()
	for _, i := range order {
		if !s.e.verbs[calls[i].Verb].reads {
			return i
		}
	}
	return order[0]
}

// recordEntries writes a batch that has to be kept even if the request was cancelled meanwhile, and
// counts the uses of limited verbs.
func recordEntries(ctx context.Context, s *Session, b stores.Batch, used ...countedUse) error {
	ctx, stop := stores.Detached(ctx)
	defer stop()
	scope := s.scope
	for _, u := range used {
		scope = holding(scope, uses, limitKey(s, u.verb, u.limit))
	}
	return writeTo(ctx, s.e, scope, func(tx stores.Tx) error {
		with := b
		if len(used) > 0 {
			more, err := countUses(ctx, s, tx, used)
			if err != nil {
				return err
			}
			with.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], more...)
		}
		err := tx.Apply(ctx, with)
		if len(used) > 0 && errors.Is(err, stores.ErrDuplicate) {
			err = fmt.Errorf("two began to count at once: %w", stores.ErrConflict)
		}
		return err
	})
}

// writeTo runs fn in a transaction, again when rows change meanwhile.
func writeTo(ctx context.Context, e *Engine, scope stores.Scope, fn func(stores.Tx) error) error {
	var err error
	for attempt := range maxAttempts {
		if attempt > 0 {
			pause(ctx, e, attempt)
		}
		if err = e.store.Update(ctx, scope, fn); !errors.Is(err, stores.ErrConflict) || ctx.Err() != nil {
			break
		}
	}
	return err
}

// onlyLooks reports whether a program can run on a snapshot: it changes nothing and is not
// journalled.
func onlyLooks(e *Engine, p *verbs.Program) bool {
	calls := p.Calls()
	for i := range calls {
		if v := e.verbs[calls[i].Verb]; !v.reads || v.recorded {
			return false
		}
	}
	return true
}

// onRecord reports whether a verb is journalled even though it only reads: its answer may
// hold sensitive values, or tell of rows outside the caller's scope.
func onRecord(v *verbs.Verb) bool {
	return v.Query != nil && v.Query.IsSensitive() || len(v.Discloses) > 0 || v.Read != nil && slices.ContainsFunc(v.Read.Fields, func(f verbs.ReadField) bool { return f.Sensitive })
}

// withheld replaces the value of a sensitive argument in a text. It is a string literal, so
// that the text still parses.
const withheld = "(withheld)"

// writtenCall returns a call of a program as it is kept and shown: with suffixed names, without
// the values of sensitive arguments and, inside a macro, with the macro's arguments in place
// of their names. p is nil for a call whose names are not settled. A call in which nothing
// needs replacing is returned unchanged.
func writtenCall(e *Engine, p *verbs.Program, c *dsl.Call, macro *step) *dsl.Call {
	return dsl.Replace(c, func(of *dsl.Call, key string, v *dsl.Value) (dsl.Value, bool) {
		if verb := e.reg.Verb(of.Verb); verb != nil && isSensitive(verb, key) {
			return dsl.NewString(withheld), true
		}
		if macro != nil && v.Kind == dsl.Symbol {
			return macro.given(v.Text)
		}
		return p.Named(v)
	})
}

// given returns the written value of the argument that a symbol names in a macro's script.
func (st *step) given(symbol string) (dsl.Value, bool) {
	name, path, _ := strings.Cut(symbol, ".")
	if of, ok := st.verb.Macro.ForEach(); ok && name == "each" {
		outer, given := st.call.syntax.Get(st.verb.Params[of].Name)
		switch items := outer.Items(); {
		case st.isSensitive(of):
			return dsl.NewString(withheld), true
		case !given || st.sees.each.at >= len(items):
			return verbs.AsLiteral(st.sees.each.item), true
		default:
			return inMap(items[st.sees.each.at], path), true
		}
	}
	for i := range st.verb.Params {
		p := &st.verb.Params[i]
		if !sameWord(p.Name, name) {
			continue
		}
		outer, given := st.call.syntax.Get(p.Name)
		switch {
		case st.isSensitive(i) && (!given || outer.Kind != dsl.Symbol):
			outer = dsl.NewString(withheld)
		case !given:
			outer = verbs.AsLiteral(st.args.values[i])
		default:
			outer = inMap(outer, path)
		}
		return outer, true
	}
	return dsl.Value{}, false
}

// inMap returns the part of a written value that a path leads to, as far as that is written.
func inMap(v dsl.Value, path string) dsl.Value {
	switch {
	case path == "":
	case v.Kind == dsl.Symbol:
		return dsl.NewSymbol(v.Text + "." + path)
	case v.Kind == dsl.Map:
		if part, ok := partOf(v, path); ok {
			return part
		}
	}
	return v
}

func isSensitive(v *verbs.Verb, key string) bool {
	for i := range v.Params {
		if v.Params[i].Name == key {
			return v.Params[i].Sensitive
		}
	}
	return false
}

// A journal entry is never changed, but a person may ask to be forgotten, and a log should
// hold no sensitive values. An entry holds commitments to such values; the values themselves
// stand in a row beside it, which can be erased: see package journal. These values are
//
//   - fields that are sensitive or personal, or that were taken from a sensitive argument,
//   - names of rows whose label shows a personal field, and
//   - all values in the text of a call whose verb has to do with either, or that names such a
//     row. Of such a call the entry tells only which arguments were given. That withholds more
//     than it has to, and keeps nothing that could not be erased.

// erasable replaces a value in the text of a call that may have to be erased.
const erasable = "(personal)"

// isPersonal reports whether the calls of a verb may hold personal data.
func isPersonal(e *Engine, v *verbs.Verb) bool {
	for i := range v.Params {
		p := &v.Params[i]
		if p.Personal || namesPersonal(e, p.Type) {
			return true
		}
	}
	return slices.ContainsFunc(v.Effects, func(f verbs.Effect) bool {
		return f.Entity != nil && slices.ContainsFunc(f.Entity.Store.Fields, func(f stores.Field) bool { return f.Personal })
	})
}

// namesPersonal reports whether a value of a type may be the name of a row whose label shows a
// personal field.
func namesPersonal(e *Engine, t *verbs.Type) bool {
	for t != nil && t.Name == verbs.ListType {
		t = t.Item
	}
	switch {
	case t != nil && t.Name == verbs.RecordType:
		return slices.ContainsFunc(t.Fields, func(f verbs.Param) bool { return namesPersonal(e, f.Type) })
	case t == nil || t.Name == verbs.AnyType || t.Name == verbs.CallType || t.Name == verbs.RefType && t.Entity == nil:
		return slices.ContainsFunc(e.catalog.entities, personalLabel)
	case t.Name == verbs.RefType:
		return personalLabel(t.Entity)
	}
	return false
}

func personalLabel(e *verbs.Entity) bool {
	return slices.ContainsFunc(e.Label.Paths, func(p stores.Path) bool { return p.Count == nil && fieldAt(e.Store, p).Personal })
}

// A journaledCall is a call in the form in which a journal entry tells it.
type journaledCall struct {
	verb   *verbs.Verb
	syntax *dsl.Call // without sensitive values
	text   string
	st     *step         // nil if the call was not carried out
	about  []journal.Row // the rows that it names
	names  bool          // one of them has a personal name
	after  int64         // see journal.Record
}

// saidOf makes the saying of a call that was not carried out as a step.
func saidOf(e *Engine, p *verbs.Program, call int) journaledCall {
	c := &p.Calls()[call]
	syntax := writtenCall(e, p, c.Syntax, nil)
	say := journaledCall{verb: c.Verb, syntax: syntax, text: dsl.FormatCall(syntax)}
	say.aboutRows(e, p, call)
	return say
}

// saidAs makes the saying of a step.
func saidAs(e *Engine, p *verbs.Program, st *step) journaledCall {
	say := journaledCall{verb: st.verb, syntax: st.call.syntax, text: st.call.text}
	say.aboutRows(e, p, st.call.index)
	return say
}

// aboutRows notes the rows that a call names. The calls of a macro name the rows of the macro's
// call.
func (say *journaledCall) aboutRows(e *Engine, p *verbs.Program, call int) {
	if !e.verbs[say.verb].personal && !e.catalog.personal {
		return
	}
	p.RowsIn(call, func(row verbs.Row) {
		say.names = say.names || personalLabel(row.Entity)
		say.add(row.Entity.Store, row.Key)
	})
}

func (say *journaledCall) add(e *stores.Entity, key stores.Value) {
	if row := (journal.Row{Entity: e.Name, Key: key}); !slices.Contains(say.about, row) {
		say.about = append(say.about, row)
	}
}

// outline returns a call with its values erased.
func outline(c *dsl.Call) string {
	out := dsl.NewCall(c.Verb)
	for i := range c.Args {
		out.Args = append(out.Args, dsl.NewArg(c.Args[i].Key, dsl.NewString(erasable)))
	}
	return dsl.FormatCall(&out)
}

// tellCall adds a journal entry about a call to a batch, with the values that the entry commits to.
func tellCall(e *Engine, b *stores.Batch, entry stores.Entry, say journaledCall) error {
	entry.Call = say.text
	w := recorders.Get().(*recorder)
	defer recorders.Put(w)
	*w = recorder{e: e, of: &entry, fields: w.fields[:0], text: w.text[:0]}
	st := say.st
	if e.verbs[say.verb].personal || say.names {
		entry.Call = outline(say.syntax)
		w.record.Call = w.commit(stores.NewString(say.text))
		if st != nil {
			for _, row := range st.args.rows {
				if row.Entity != nil {
					say.add(row.Entity, row.Key())
				}
			}
		}
		w.record.About = say.about
	}
	if st != nil {
		for i := range st.out.changes {
			w.record.Rows = append(w.record.Rows, w.row(&st.out.changes[i]))
		}
		if v := say.verb; v.Undoes != nil || v.Undo != nil && v.Undo.Back != nil {
			w.later(st)
		}
	}
	w.record.After = say.after
	if w.err != nil {
		return failure(w.err)
	}
	if w.opening != nil {
		w.record.Opening = w.opening.ID
		if w.opening.Len() > 0 {
			b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], w.opening.Insert())
		}
	}
	w.text = w.record.AppendText(w.text)
	entry.Changes = string(w.text)
	b.Entries = append(b.Entries, entry)
	return nil
}

// A recorder makes the record of one entry.
type recorder struct {
	e       *Engine
	of      *stores.Entry
	record  journal.Record
	opening *journal.Opening // nil while no value is erasable
	err     error
	fields  []receipt.Field // of all rows of the record
	text    []byte          // of the record
}

// recorders keeps used recorders, whose buffers the next entries reuse.
var recorders = sync.Pool{New: func() any { return new(recorder) }}

// commit moves a value to the erasable opening, and returns the commitment to it.
func (w *recorder) commit(v stores.Value) receipt.Commitment {
	if w.opening == nil {
		w.opening = journal.NewOpening(w.e.opt.NewID(), w.of.Principal)
	}
	c, err := w.opening.Commit(rand.Reader, v)
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("the journal cannot be written: %w", err)
	}
	return c
}

// later records the jobs that a call scheduled and dropped, and the messages that it sent, so that
// the call can be undone.
func (w *recorder) later(st *step) {
	for i := range st.out.jobs {
		if st.out.jobs[i].Kind == JobCall {
			w.record.Jobs = append(w.record.Jobs, st.out.jobs[i].ID)
		} else {
			w.record.Sent = append(w.record.Sent, st.out.notices[i].target)
		}
	}
	for i := range st.out.dropped {
		w.record.Instead = append(w.record.Instead, w.commit(journal.JobValue(&st.out.dropped[i])))
	}
}

// row records one changed row. It leaves out columns, sources and names of other rows: a replay
// does not need them, and the journal outlives them.
func (w *recorder) row(c *change) receipt.Row {
	out := c.row
	out.Given = nil // it is the key
	if out.Label = ""; out.Name != "" && personalLabel(c.entity) {
		out.NameIs, out.Name = w.commit(stores.NewString(out.Name)), ""
	}
	from := len(w.fields)
	for k := range c.row.Fields {
		f := &c.row.Fields[k]
		at := c.at(k)
		def := &c.Entity.Fields[at]
		g := receipt.Field{Name: f.Name, Kind: f.Kind, Before: receipt.Of(f.Before.Value), After: receipt.Of(f.After.Value), Sensitive: f.Sensitive, Was: f.Was}
		if c.Op != stores.Delete {
			g.Origin = c.Set[k].Origin
		}
		if g.Sensitive || def.Personal {
			g.Before, g.After = receipt.Value{Is: w.commit(f.Before.Value)}, receipt.Value{Is: w.commit(f.After.Value)}
			if c.forgets && g.Before.Is != "" {
				w.opening.Forget(g.Before.Is)
				w.record.Erased = journal.ErasedSelf
			}
		}
		switch g.Made = f.Made; {
		case f.Given.IsNull():
		case g.Sensitive, def.Personal:
			g.Given = receipt.Value{Is: w.commit(f.Given.Value)}
		default:
			g.Given = receipt.Of(f.Given.Value)
		}
		w.fields = append(w.fields, g)
	}
	out.Fields = w.fields[from:len(w.fields):len(w.fields)]
	return out
}

// changeJobs adds the job changes of a call to a batch.
func (r *run) changeJobs(b *stores.Batch, st *step) {
	for i := range st.out.jobChanges {
		t := &st.out.jobChanges[i]
		b.JobChanges = append(b.JobChanges, stores.JobChange{ID: t.ID, Attempt: t.Attempt, Drop: t.Drop, At: r.src.now})
	}
}

// refers adds the rows that the fields of a change refer to, before it and after.
func refers(r *source, all []reference, c *change) []reference {
	for _, a := range c.Set {
		to := refersTo(r.e, c.Entity, a.Field)
		if to == nil || a.Field == c.Entity.Key {
			continue
		}
		all = append(all, reference{to, a.Value})
		if c.Before != nil {
			all = append(all, reference{to, c.Before[a.Field]})
		}
	}
	if c.Op == stores.Delete { // also report the references of a deleted row
		for field, v := range c.Before {
			if to := refersTo(r.e, c.Entity, field); to != nil && field != c.Entity.Key && !v.IsNull() {
				all = append(all, reference{to, v})
			}
		}
	}
	return all
}
