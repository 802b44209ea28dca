package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/provenance"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/names"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/verbs"
)

// A Session is the session of one principal: their rights, their scope, and the names of rows that
// they know. It is safe for use by many goroutines.
type Session struct {
	e     *Engine
	ctx   context.Context // of Engine.Session
	id    string
	who   stores.Principal
	roles []*verbs.Role // those that palettes declare
	only  []*verbs.Verb // nil unless it is narrowed
	// program says that no person began it: see ByProgram.
	program bool
	// proven is when the principal last signed in; see Prove.
	proven time.Time
	scope  stores.Scope
	names  names.Cache
	naming sync.RWMutex // held by a request that uses names: see begins
	from   provenance.Reader

	kept   stores.Value // key of its row; null for a session that keeps nothing
	person Profile
	zone   *time.Location // of the person, or of the organisation
	speech speech
	active sessions.Value // of a job: the row at work that it took along

	mu     sync.Mutex
	shown  []*shown  // the latest previews, oldest first
	looked time.Time // when the principal's rights were last looked at; see entitled
	fresh  bool      // they were read just now
}

// maxShown is how many previews a session remembers, to say which rows have moved since.
const maxShown = 16

// Principal returns the principal of the session.
func (s *Session) Principal() stores.Principal { return s.who }

// Roles returns the principal's roles that palettes declare. The slice must not be changed.
func (s *Session) Roles() []*verbs.Role { return s.roles }

// Check turns a script into a Program, with the names that this session knows. Check settles
// which row a name means: the Program keeps that row, even if the name means another row by
// the time it runs.
func (s *Session) Check(ctx context.Context, script *dsl.Script) (*verbs.Program, dsl.Diagnostics) {
	return s.check(ctx, script, s.e.reg.Check)
}

// checkWork is CheckFrom for the script of a job, which may call internal verbs.
func (s *Session) checkWork(ctx context.Context, script *dsl.Script, said verbs.Literals) (*verbs.Program, dsl.Diagnostics) {
	p, ds := s.check(ctx, script, s.e.reg.CheckWork)
	if p != nil {
		p.SaidBy(said)
	}
	return p, ds
}

func (s *Session) check(ctx context.Context, script *dsl.Script, with func(*dsl.Script, verbs.Names) (*verbs.Program, dsl.Diagnostics)) (*verbs.Program, dsl.Diagnostics) {
	defer s.begins()()
	names, err := s.mentionedNames(ctx, script)
	p, ds := with(script, names)
	if p != nil && p.Moves() {
		if late := p.Days(s.today(s.e.clock())); late.HasErrors() {
			p, ds = nil, append(ds, late...)
		}
	}
	if err != nil && ds.HasErrors() {
		// The store failed to answer for some names, and the checker reports them as
		// unknown, which would mislead.
		return nil, dsl.Diagnostics{namesUnread(err)}
	}
	s.unseen(script, ds)
	if p != nil {
		names.bind(p)
	}
	return p, ds
}

// unseen adds to each unknown name in a call that the principal may not make that they may not use
// the verb: such a principal often does not see the rows either.
func (s *Session) unseen(script *dsl.Script, ds dsl.Diagnostics) {
	for i := range ds {
		d := &ds[i]
		if d.Code != codeUnknownName {
			continue
		}
		for k := range script.Calls {
			c := &script.Calls[k]
			if v := s.e.reg.Verb(c.Verb); v != nil && !v.Internal && !permits(s.roles, v.Roles) && c.Range.Start <= d.Place.Range.Start && d.Place.Range.End <= c.Range.End {
				refused := notPermitted(d.Place, c.Verb, "")
				d.Notes = append([]string{refused.Summary + "; " + refused.Notes[0]}, d.Notes...)
			}
		}
	}
}

// begins says that a request is about to use the session's names, until the function that it
// returns is called. If no other request uses them, it first drops names beyond the limit.
func (s *Session) begins() (ends func()) {
	if s.naming.TryLock() {
		s.names.Trim()
		s.naming.Unlock()
	}
	s.naming.RLock()
	return s.naming.RUnlock
}

// today returns the day of an instant in the person's time zone.
func (s *Session) today(now time.Time) stores.Value {
	zone := s.zone
	if zone == nil {
		zone = s.e.zone
	}
	if zone != nil {
		now = now.In(zone)
	}
	return stores.DateOf(now)
}

func (s *Session) mentionedNames(ctx context.Context, script *dsl.Script) (*scriptNames, error) {
	names := s.mentioned(script)
	if len(names.meant) == 0 && !slices.ContainsFunc(names.among, func(e *verbs.Entity) bool { return len(names.lost(e)) > 0 }) {
		return names, nil
	}
	ctx, stop := context.WithTimeout(ctx, namingTime)
	defer stop()
	err := s.view(ctx, func(r stores.Reader) error {
		if err := names.find(ctx, r); err != nil {
			return err
		}
		return names.look(ctx, r)
	})
	return names, err
}

// remember keeps a preview that was shown.
func (s *Session) remember(p *shown) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.shown) >= maxShown {
		s.shown = append(s.shown[:0], s.shown[1:]...)
	}
	s.shown = append(s.shown, p)
}

// claim takes the preview that a run agrees to, so that no other run of this session can use
// it. If this session did not show it, claim looks for a kept one.
func (s *Session) claim(ctx context.Context, t *runOptions) {
	if t.Agreed == "" {
		return
	}
	under := func(occasion string) {
		if t.Key == "" && occasion != "" && !t.Each {
			t.Key, t.drawn = occasionKey(occasion), true
		}
	}
	s.mu.Lock()
	p := s.newest(t.Agreed)
	if p != nil {
		under(p.occasion)
		t.claimed, t.spent, t.declined = p, p.used, p.declined
		if !p.used {
			p.used, p.key = true, t.Key
		}
	}
	s.mu.Unlock()
	if p != nil {
		return
	}
	var c *confirmations.Confirmation
	if c, t.unread = s.newestKept(ctx, t.Agreed); c != nil {
		under(c.Occasion)
		t.kept = []stores.Value{c.Key}
	}
}

// release returns a preview that a run claimed and did not use. If the outcome of the run is
// unknown, the preview counts as used.
func (s *Session) release(t *runOptions, err error) {
	var failed *Failure
	if t.claimed == nil || t.spent || t.attempted || errors.As(err, &failed) && failed.Unknown {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.claimed.used = false
}
