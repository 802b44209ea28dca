package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/view"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Pending is a script that waits for the agreement of somebody else, or that
// did.
type Pending struct {
	ID      string // of 128 bits, see receipt.Short; empty when nobody has to be asked
	Asker   string
	Asked   time.Time
	Expires time.Time // it is good until then
	Source  string
	Calls   []string // canonical text, sensitive values withheld; none when the palettes are others now
	Roles   []Agreement
	Status  string // StatusWaiting and the others
	Settled time.Time
	By      string // who settled it
	Reason  string // of a decline
	// Mine says that it waits for the principal who looks at it.
	Mine bool
	// Preview is what would happen now, done as the asker may at this moment. It
	// is given by Propose and Show, and nil where the script could not run.
	Preview *receipt.Receipt
	// Stale says that Preview is not what was asked for: nobody can agree to it
	// any more. Moved says what is otherwise, as far as rows show it.
	Stale bool
	Moved []string
}

// An Agreement is one that is needed, and who gave it.
type Agreement struct {
	Role string // "" is the asker's own, to what a job of theirs comes to
	By   string // "" while nobody has
}

// What the engine writes into the journal of its own has these verbs. No
// palette can declare them.
const (
	verbAgree   = "verbatim.agree"
	verbDecline = "verbatim.decline"
	verbExpire  = "verbatim.expire"
)

// A confirmation is one row of confirmations.
type confirmation struct {
	row            stores.Row
	key            stores.Value
	id             string
	asker, person  string
	session        string
	source, script string
	origins        string
	digest         string
	preview        string
	palette        string
	roles, agreed  []string
	rows           []string
	underKey       string
	before         int64
	time, expires  time.Time
	status         string
	by, reason     string
	receipt        string
	settled        time.Time
}

func confirmationOf(row stores.Row) *confirmation {
	v := row.Values
	when := func(i int) time.Time {
		if v[i].IsNull() {
			return time.Time{}
		}
		return v[i].Time()
	}
	var before int64
	if !v[confBefore].IsNull() {
		before = v[confBefore].Int()
	}
	return &confirmation{
		row: row, before: before, key: v[confKey], id: v[confID].Text(), asker: v[confAsker].Text(), person: v[confPerson].Text(), session: v[confSession].Text(),
		source: v[confSource].Text(), script: v[confScript].Text(), origins: v[confOrigins].Text(), digest: v[confDigest].Text(), preview: v[confPreview].Text(),
		palette: v[confPalette].Text(), roles: texts(v[confRoles]), agreed: texts(v[confAgreed]), rows: texts(v[confRows]),
		underKey: v[confUnderKey].Text(), time: when(confTime), expires: when(confExpires), status: v[confStatus].Text(),
		by: v[confSettledBy].Text(), settled: when(confSettledAt), reason: v[confReason].Text(), receipt: v[confReceipt].Text(),
	}
}

func texts(list stores.Value) []string {
	items, _ := list.Items(stores.String)
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.Text()
	}
	return out
}

func listOf(words []string) stores.Value {
	values := make([]stores.Value, len(words))
	for i, w := range words {
		values[i] = stores.NewString(w)
	}
	return stores.NewList(values...)
}

// change makes a change of the row that holds only while it is what it was.
func (c *confirmation) change(set ...stores.Assign) stores.Change {
	return stores.Change{Op: stores.Update, Entity: confirmations, Key: c.key, Set: set, Before: c.row.Values,
		Guard: []int{confDigest, confAgreed, confExpires, confStatus}}
}

// settle makes the change that decides it, which can happen once. What was
// decided needs its secrets no more, so they go with it.
func (c *confirmation) settle(e *Engine, status, by, reason string, now time.Time) stores.Change {
	set := []stores.Assign{{Field: confScript, Value: stores.NewString(e.writtenScript(c))}}
	if status == StatusUsed {
		set = append(set, stores.Assign{Field: confAgreed, Value: listOf(c.agreed)})
	}
	return c.change(append(set,
		stores.Assign{Field: confStatus, Value: stores.NewString(status)},
		stores.Assign{Field: confSettledBy, Value: stores.NewString(by)},
		stores.Assign{Field: confSettledAt, Value: stores.NewTime(now)},
		stores.Assign{Field: confReason, Value: stores.NewString(reason)})...)
}

// unusable says why a confirmation cannot be used now, whoever uses it.
func (e *Engine) unusable(c *confirmation, now time.Time, at dsl.Place) *dsl.Diagnostic {
	var d dsl.Diagnostic
	switch {
	case c.status == StatusUsed:
		d = alreadyUsed(at, c.by, stamp(c.settled))
	case c.status == StatusDeclined:
		d = declinedBefore(at, c.by, c.reason)
	case c.status == StatusExpired, c.status == StatusWaiting && !now.Before(c.expires):
		d = agreementExpired(at, c.expires)
	case c.status == StatusStale:
		d = stalePreview(at, nil)
	case c.status != StatusWaiting:
		d = unknownConfirmation(c.id)
	case c.palette != e.reg.Digest():
		d = otherPalette(at)
	default:
		return nil
	}
	return &d
}

// engineScope is the scope in which the engine looks after its own rows.
func (s *Session) engineScope() stores.Scope { return stores.Scope{Principal: s.who.Name, All: true} }

// findConfirmations reads confirmations whose fields have these values.
func findConfirmations(ctx context.Context, r stores.Reader, where map[int]stores.Value) ([]*confirmation, error) {
	cond := stores.Cond{Op: stores.And}
	for f := range confirmations.Fields {
		if v, ok := where[f]; ok {
			cond.Kids = append(cond.Kids, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: f}, Value: v})
		}
	}
	rows, err := r.Find(ctx, stores.Find{Entity: confirmations, Where: &cond, Order: []stores.Order{{Path: stores.Path{Field: confTime}}}})
	if err != nil {
		return nil, err
	}
	out := make([]*confirmation, len(rows))
	for i, row := range rows {
		out[i] = confirmationOf(stores.Row{Entity: confirmations, Values: row})
	}
	return out, nil
}

// keptPreviews finds previews with an ID that the principal kept.
func (s *Session) keptPreviews(ctx context.Context, id string) ([]stores.Value, error) {
	var keys []stores.Value
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) error {
		found, err := findConfirmations(ctx, r, map[int]stores.Value{
			confID: {}, confAsker: stores.NewString(s.who.Name)})
		for _, c := range found {
			if receipt.IsID(c.preview, id) {
				keys = append(keys, c.key)
			}
		}
		return err
	})
	return keys, err
}

// Keep is Preview for a person who will agree in another process: where the
// program asks them, the preview is kept in the store, for one use, by them,
// and for as long as the rules allow. Where it could not be kept, the preview
// is returned beside the error.
func (s *Session) Keep(ctx context.Context, p *verbs.Program) (*receipt.Receipt, error) {
	return s.KeepWith(ctx, p, RunOptions{})
}

// KeepWith is Keep with the options of PreviewWith, and their Source.
func (s *Session) KeepWith(ctx context.Context, p *verbs.Program, o RunOptions) (*receipt.Receipt, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	if all := permit(p, s.roles, s.e.inside, false); len(all) > 0 {
		return nil, refuse(all)
	}
	r, err := s.attempts(ctx, p, rehearsal(o))
	if err != nil {
		return nil, err
	}
	shown := r.shown()
	preview := r.preview()
	if len(shown.asking) == 0 {
		s.remember(shown)
		return preview, nil
	}
	c := r.confirmation("", nil, RunOptions{Source: o.Source})
	c.script = s.e.writtenScript(c) // whoever agrees to a preview of their own has the script
	err = s.e.write(ctx, s.engineScope(), func(tx stores.Tx) error {
		shown.kept = stores.Value{}
		mine := map[int]stores.Value{confID: {}, confAsker: stores.NewString(s.who.Name)}
		old, err := findConfirmations(ctx, tx, mine)
		if err != nil {
			return err
		}
		b := stores.Batch{}
		for _, o := range old {
			switch {
			case !r.now.Before(o.expires):
				// Nobody can agree to it any more, so there is nothing to remember.
				b.Changes = append(b.Changes, stores.Change{Op: stores.Delete, Entity: confirmations, Key: o.key, Before: o.row.Values, Guard: []int{confExpires}})
				if o.status == StatusWaiting {
					b.Entries = append(b.Entries, s.e.expired(o, o.source, r.now))
				}
			case o.digest == c.digest && o.status == StatusWaiting:
				c.key = stores.Value{}
				shown.kept = o.key
				b.Changes = append(b.Changes, o.change(stores.Assign{Field: confExpires, Value: stores.NewTime(c.expires)}))
			}
		}
		if shown.kept.IsNull() {
			c.key = c.follows(old)
			b.Changes = append(b.Changes, c.insert())
		}
		return met(tx.Apply(ctx, b))
	})
	if err != nil {
		s.remember(shown)
		return preview, failure(fmt.Errorf("the preview could not be kept: %w", err))
	}
	if shown.kept.IsNull() {
		shown.kept = c.key
	}
	s.remember(shown)
	return preview, nil
}

// confirmation makes the row that stands for a plan.
func (r *run) confirmation(id string, roles []string, o RunOptions) *confirmation {
	source := o.Source
	if src := r.prog.Script().Source; source == "" && src != nil {
		source = src.Name
	}
	return &confirmation{
		key: stores.NewString(r.e.newID()), id: id, asker: r.s.who.Name, person: r.s.who.Whose(), session: r.s.id, source: source,
		script: dsl.Format(r.prog.Canonical()), origins: r.prog.Literals().Encode(r.prog.Script()), digest: fmt.Sprintf("%x", r.digest), preview: r.id, palette: r.e.reg.Digest(),
		roles: roles, agreed: make([]string, len(roles)), rows: r.footing(), underKey: o.Key, before: r.heardUntil(),
		time: r.now, expires: r.now.Add(r.lasts()), status: StatusWaiting, receipt: string(r.preview().AppendKept(nil)),
	}
}

// follows makes the key of a confirmation out of what it asks and of those that
// were found before it. Two who ask at once, and both find that nobody has, make
// the same key: see met.
func (c *confirmation) follows(before []*confirmation) stores.Value {
	d := digester{}
	d.text("verbatim confirmation 1")
	d.text(c.asker)
	d.text(c.digest)
	d.number(len(c.roles)) // who keeps a preview for themselves asks nobody
	for _, b := range before {
		d.text(b.key.Text())
	}
	return stores.NewString(d.sum())
}

// met says what it means that a row is there that was not there when it was
// looked for: somebody was quicker, and looking again finds what they did.
func met(err error) error {
	if errors.Is(err, stores.ErrDuplicate) {
		return fmt.Errorf("two asked the same at once: %w", stores.ErrConflict)
	}
	return err
}

// writtenScript is the script of a confirmation without its secrets.
func (e *Engine) writtenScript(c *confirmation) string {
	if c.palette != e.reg.Digest() {
		return withheld // only the palettes of then know what is sensitive
	}
	script, _ := dsl.Parse(dsl.NewSource(c.source, c.script))
	var b strings.Builder
	for i := range script.Calls {
		b.WriteString(dsl.FormatCall(e.written(nil, &script.Calls[i], nil)))
		b.WriteByte('\n')
	}
	return b.String()
}

func (c *confirmation) insert() stores.Change {
	id, short := stores.Value{}, stores.Value{}
	if c.id != "" {
		id, short = stores.NewString(c.id), stores.NewString(receipt.Short(c.id))
	}
	return stores.Change{Op: stores.Insert, Entity: confirmations, Key: c.key, Set: []stores.Assign{
		{Field: confID, Value: id}, {Field: confShort, Value: short}, {Field: confAsker, Value: stores.NewString(c.asker)}, {Field: confPerson, Value: stores.NewString(c.person)}, {Field: confSession, Value: stores.NewString(c.session)},
		{Field: confSource, Value: stores.NewString(c.source)}, {Field: confScript, Value: stores.NewString(c.script)}, {Field: confOrigins, Value: stores.NewString(c.origins)},
		{Field: confDigest, Value: stores.NewString(c.digest)}, {Field: confPreview, Value: stores.NewString(c.preview)},
		{Field: confPalette, Value: stores.NewString(c.palette)}, {Field: confRoles, Value: listOf(c.roles)}, {Field: confAgreed, Value: listOf(c.agreed)},
		{Field: confRows, Value: listOf(c.rows)}, {Field: confUnderKey, Value: stores.NewString(c.underKey)}, {Field: confTime, Value: stores.NewTime(c.time)},
		{Field: confExpires, Value: stores.NewTime(c.expires)}, {Field: confStatus, Value: stores.NewString(c.status)}, {Field: confReceipt, Value: stores.NewString(c.receipt)}, {Field: confBefore, Value: stores.NewInt(c.before)},
	}}
}

// What a plan stands on decides who may look at it: somebody who has to agree
// sees, of what they are shown, nothing that is outside their own scope.

// anything stands for rows that a palette's own SQL gave: which they were is
// not known, so that only who sees all rows sees them.
const anything = "*"

// footing lists the rows that a plan stands on, and that were there before it.
func (r *run) footing() []string {
	var rows []string
	add := func(row string) {
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	for _, s := range r.seen {
		if s.entity == nil {
			add(anything)
			continue
		}
		if _, isNew := r.added[s.key]; !isNew {
			add(s.entity.Name + " " + s.key.Text())
		}
	}
	slices.Sort(rows)
	return rows
}

// sees reports whether every row of a footing lies within the session's scope.
func (s *Session) sees(ctx context.Context, r stores.Reader, rows []string) (bool, error) {
	if s.scope.All {
		return true, nil
	}
	keys := make(map[*stores.Entity][]stores.Value)
	var order []*stores.Entity
	for _, row := range rows {
		name, text, _ := strings.Cut(row, " ")
		e := s.e.reg.Entity(name)
		if e == nil {
			return false, nil
		}
		key, ok := stores.Parse(e.Store.Fields[e.Store.Key].Kind, text)
		if !ok {
			return false, nil
		}
		if keys[e.Store] == nil {
			order = append(order, e.Store)
		}
		keys[e.Store] = append(keys[e.Store], key)
	}
	for _, e := range order {
		found, err := r.Find(ctx, stores.Find{Entity: e, Select: []stores.Path{{Field: e.Key}},
			Where: &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Key}, Value: stores.NewList(keys[e]...)}})
		if err != nil || len(found) != len(keys[e]) {
			return false, err
		}
	}
	return true, nil
}

// has reports whether the session's principal has a role.
func (s *Session) has(role string) bool {
	return slices.ContainsFunc(s.roles, func(r *verbs.Role) bool { return r.Name == role })
}

// concerns reports whether a confirmation is the principal's business: their
// own, or for a role of theirs to agree to, on rows within their scope.
func (s *Session) concerns(ctx context.Context, c *confirmation) (bool, error) {
	if c.id == "" {
		return false, nil
	}
	if c.asker == s.who.Name {
		return true, nil
	}
	if !slices.ContainsFunc(c.roles, s.has) {
		return false, nil
	}
	ok := false
	err := s.e.store.View(ctx, s.scope, func(r stores.Reader) (err error) {
		ok, err = s.sees(ctx, r, c.rows)
		return err
	})
	return ok, err
}

// Propose asks for the agreement that somebody else has to give: the program is
// kept as it is, whole, until somebody with each of the roles that its rules
// name agrees to it, and nothing of it is done before. What it asks the person
// as well must have been agreed to already, by o.Agreed. It returns a Pending
// without an ID where nobody else has to be asked.
//
// Proposing the same thing again gives the same Pending while it waits, and a
// *Refusal once somebody declined it.
func (s *Session) Propose(ctx context.Context, p *verbs.Program, o RunOptions) (*Pending, error) {
	if err := s.ready(p); err != nil {
		return nil, err
	}
	if all := permit(p, s.roles, s.e.inside, false); len(all) > 0 {
		return nil, s.refusal(ctx, p, o, refuse(all))
	}
	r, err := s.attempts(ctx, p, rehearsal(RunOptions{Before: o.Before}))
	if err != nil {
		return nil, s.refusal(ctx, p, o, err)
	}
	preview := r.preview()
	others, mine := r.unanswered()
	if len(others) == 0 {
		s.remember(r.shown())
		return &Pending{Asker: s.who.Name, Preview: preview}, nil
	}
	if len(mine) > 0 && o.Agreed == "" {
		s.remember(r.shown())
		return nil, s.refusal(ctx, p, o, refuse(mine))
	}
	t := &terms{RunOptions: o}
	s.claim(ctx, t)
	c, err := s.propose(ctx, r, t, others, len(mine) > 0)
	if err != nil {
		s.release(t, err)
		return nil, s.refusal(ctx, p, o, s.finalError(p, err))
	}
	pending := s.pending(c)
	pending.Preview = preview
	return pending, nil
}

func (s *Session) propose(ctx context.Context, r *run, t *terms, others []complaint, asked bool) (*confirmation, error) {
	var roles []string
	for _, st := range r.written() {
		for _, ask := range st.allAsks(nil) {
			if (ask.By != "" || t.job != nil) && !slices.Contains(roles, ask.By) {
				roles = append(roles, ask.By)
			}
		}
	}
	slices.Sort(roles)
	at := dsl.Place{Source: r.prog.Script().Source}
	var c *confirmation
	err := s.e.write(ctx, s.engineScope(), func(tx stores.Tx) error {
		r.read, r.own = view.Direct(tx, tx, nil), nil
		before, err := findConfirmations(ctx, tx, map[int]stores.Value{
			confAsker: stores.NewString(s.who.Name), confDigest: stores.NewString(fmt.Sprintf("%x", r.digest))})
		if err != nil {
			return err
		}
		for _, b := range before {
			switch {
			case b.id == "":
			case b.status == StatusDeclined:
				return refuse([]complaint{{-1, declinedBefore(at, b.by, b.reason)}})
			case b.status == StatusWaiting && r.now.Before(b.expires):
				c = b
				if t.job == nil {
					return nil
				}
				return tx.Apply(ctx, stores.Batch{Settled: r.settled})
			}
		}
		if t.Agreed != "" {
			if err := r.ownConsent(ctx, t, asked); err != nil {
				return err
			}
		}
		c = r.confirmation("", roles, t.RunOptions)
		c.key = c.follows(before)
		var bits [16]byte
		if _, err := io.ReadFull(s.e.random, bits[:]); err != nil {
			return &Failure{Err: fmt.Errorf("an id cannot be drawn: %w", err)}
		}
		c.id = receipt.NewID(bits[:])
		kept, err := r.await(ctx, tx, c.expires)
		if err != nil {
			return err
		}
		b := stores.Batch{Changes: append(append(r.own, kept...), c.insert()), Jobs: []stores.Job{s.e.expiry(c)}, Settled: r.settled}
		told := map[int]bool{}
		for _, o := range others {
			if st := r.top[o.call]; !told[o.call] {
				told[o.call] = true
				e := s.entry(r.prog, t.RunOptions, st.place)
				e.Time, e.Verb, e.Outcome, e.Reason, e.Preview = r.now, st.verb.Name, outcomeRefused, codeNeedsAgreement, r.id
				if t.Agreed != "" {
					e.Agreed = s.who.Name
				}
				if err := s.e.tell(&b, e, st.verb, st.syntax, st.text, nil); err != nil {
					return err
				}
			}
		}
		return met(tx.Apply(ctx, b))
	})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// pending tells of a confirmation.
func (s *Session) pending(c *confirmation) *Pending {
	p := &Pending{ID: c.id, Asker: c.asker, Asked: c.time, Expires: c.expires, Source: c.source, Status: c.status, Settled: c.settled, By: c.by, Reason: c.reason}
	if c.palette == s.e.reg.Digest() {
		// Only the palettes of then know what is sensitive.
		script, _ := dsl.Parse(dsl.NewSource(c.source, c.script))
		for i := range script.Calls {
			p.Calls = append(p.Calls, dsl.FormatCall(s.e.written(nil, &script.Calls[i], nil)))
		}
	}
	for i, role := range c.roles {
		p.Roles = append(p.Roles, Agreement{role, c.agreed[i]})
		p.Mine = p.Mine || c.status == StatusWaiting && c.agreed[i] == "" && c.mine(s, role)
	}
	return p
}

// Pending lists what waits for the principal's agreement, and what they asked
// others for, oldest first.
func (s *Session) Pending(ctx context.Context) ([]*Pending, error) {
	now := s.e.clock()
	var found []*confirmation
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		found, err = findConfirmations(ctx, r, map[int]stores.Value{confStatus: stores.NewString(StatusWaiting)})
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	if slices.ContainsFunc(found, func(c *confirmation) bool { return !now.Before(c.expires) }) {
		if err := s.e.expire(ctx, stores.NewTime(now).Time()); err != nil {
			return nil, failure(err)
		}
	}
	var all []*Pending
	for _, c := range found {
		if !now.Before(c.expires) {
			continue
		}
		ok, err := s.concerns(ctx, c)
		if err != nil {
			return nil, failure(err)
		}
		if ok {
			all = append(all, s.pending(c))
		}
	}
	return all, nil
}

// look finds a confirmation that is the principal's business. What is nobody's
// and what is somebody else's are one answer.
func (s *Session) look(ctx context.Context, id string) (*confirmation, error) {
	var found []*confirmation
	err := s.e.store.View(ctx, s.engineScope(), func(r stores.Reader) (err error) {
		found, err = s.confirmationsCalled(ctx, r, id)
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	// Several may have one short form. Those that still wait come first.
	var mine []*confirmation
	for _, c := range found {
		if !receipt.IsID(c.id, id) {
			continue
		}
		ok, err := s.concerns(ctx, c)
		if err != nil {
			return nil, failure(err)
		}
		if ok {
			mine = append(mine, c)
		}
	}
	if waiting := slices.DeleteFunc(slices.Clone(mine), func(c *confirmation) bool { return c.status != StatusWaiting }); len(waiting) > 0 {
		mine = waiting
	}
	if len(mine) == 1 {
		return mine[0], nil
	}
	return nil, refuse([]complaint{{-1, unknownConfirmation(id)}})
}

// looks are the terms on which somebody looks at what another asks for: whose rows
// are is told as they see it.
func (s *Session) looks(c *confirmation) *terms {
	t := rehearsal(RunOptions{Before: c.before})
	t.owners = s.SeesSeveral()
	return t
}

// moved says what is otherwise now than when it was asked for.
func (c *confirmation) moved(now *receipt.Receipt) []string {
	was, err := receipt.ParseKept(c.receipt)
	if err != nil {
		return nil
	}
	return receipt.Moved(was, now)
}

// confirmationsCalled reads the confirmations that an id may mean.
func (s *Session) confirmationsCalled(ctx context.Context, r stores.Reader, id string) ([]*confirmation, error) {
	if id == "" {
		return nil, nil
	}
	return findConfirmations(ctx, r, map[int]stores.Value{confShort: stores.NewString(receipt.Short(strings.ToLower(id)))})
}

// Show tells what agreeing would do now: it is worked out again, with the roles
// and the scope that the asker has at this moment. It changes nothing. A
// *Refusal with code unknown-confirmation answers for what is not the
// principal's business.
func (s *Session) Show(ctx context.Context, id string) (*Pending, error) {
	c, err := s.look(ctx, id)
	if err != nil {
		return nil, err
	}
	p := s.pending(c)
	if c.status != StatusWaiting {
		return p, nil
	}
	now := s.e.clock()
	if !now.Before(c.expires) {
		p.Status, p.Mine = StatusExpired, false
		if err := s.e.expire(ctx, stores.NewTime(now).Time()); err != nil {
			return nil, failure(err)
		}
		return p, nil
	}
	asker, prog, err := s.again(ctx, c)
	if err == nil {
		var r *run
		if r, err = asker.attempts(ctx, prog, s.looks(c)); err == nil {
			p.Preview = r.preview()
			p.Preview.ToOthers()
			if p.Stale = fmt.Sprintf("%x", r.digest) != c.digest; p.Stale {
				p.Moved = c.moved(p.Preview)
			}
			return p, nil
		}
	}
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		return nil, err
	}
	p.Stale = true
	return p, nil
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }
