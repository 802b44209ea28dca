package engine

import (
	"cmp"
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
	e      *Engine
	id     string
	who    stores.Principal
	rights rights
	scope  stores.Scope
	names  names.Cache
	naming sync.RWMutex // held by a request that uses names: see begins
	from   provenance.Reader

	kept   stores.Value // key of its row; null for a session that keeps nothing
	person Profile
	zone   *time.Location // of the person, or of the organisation
	speech speech
	active sessions.Value // of a job: the row at work that it took along

	previews previews
}

// Rights are what the principal of a session may do.
type rights struct {
	roles []*verbs.Role // those that palettes declare
	only  []*verbs.Verb // nil unless it is narrowed
	// program says that no person began it: see ByProgram.
	program bool
	proven  time.Time // when the principal last signed in; see Prove

	mu     sync.Mutex
	looked time.Time // when they were last looked at; see entitled
	fresh  bool      // they were read just now
}

// Previews are the latest that a session showed, oldest first.
type previews struct {
	mu   sync.Mutex
	list []*shown
}

// maxShown is how many previews a session remembers, to say which rows have moved since.
const maxShown = 16

// Principal returns the principal of the session.
func (s *Session) Principal() stores.Principal { return s.who }

// Roles returns the principal's roles that palettes declare. The slice must not be changed.
func (s *Session) Roles() []*verbs.Role { return s.rights.roles }

// CheckOptions say how a script is checked.
type CheckOptions struct {
	// Said gives the origin of each literal, for a script that holds values of several, such as a
	// document's or a model's. The program keeps the origins, for previews, runs and proposals.
	Said verbs.Literals
	// From is the number of the call to begin with; 0 means 1. A call after it that uses the result
	// of one before it is an error.
	From int
	// Parsed is what dsl.Parse said of the script, for a caller who tells that. Otherwise Check says
	// itself which calls could not be read.
	Parsed dsl.Diagnostics
}

// given returns the options that a caller gave, or none.
func given[O any](all []O) (o O) {
	if len(all) > 0 {
		o = all[0]
	}
	return o
}

// Check turns a script into a Program, with the names that this session knows, and with options if
// they are given. Check settles which row a name means: the Program keeps that row, even if the name
// means another row by the time it runs. The Program is nil exactly if there is an error, here or in
// what Parse said.
func (s *Session) Check(ctx context.Context, script *dsl.Script, options ...CheckOptions) (*verbs.Program, dsl.Diagnostics) {
	o := given(options)
	if o.From > 1 {
		var ds dsl.Diagnostics
		if script, ds = rest(script, o.From); ds != nil {
			return nil, ds
		}
	}
	p, ds := s.check(ctx, script, s.e.reg.Check, o.Said)
	if p == nil && !ds.HasErrors() && !o.Parsed.HasErrors() {
		ds = append(ds, s.e.reg.Mask(script, unread(script))...)
	}
	return p, ds
}

// unread lists the calls that could not be read.
func unread(script *dsl.Script) (ds dsl.Diagnostics) {
	dsl.Walk(script, func(n dsl.Node) bool {
		if n.Call != nil && n.Call.Broken {
			ds = append(ds, tell(dsl.Place{Source: script.Source, Range: n.Call.Range}, "broken-call"))
			return false
		}
		return true
	})
	return ds
}

func (s *Session) check(ctx context.Context, script *dsl.Script, with func(*dsl.Script, verbs.Names) (*verbs.Program, dsl.Diagnostics), said verbs.Literals) (*verbs.Program, dsl.Diagnostics) {
	defer s.begins()()
	names, err := s.mentionedNames(ctx, script)
	p, ds := with(script, names)
	if p != nil && p.Moves() {
		if late := p.Days(s.today(s.e.opt.Clock())); late.HasErrors() {
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
		p.SaidBy(said)
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
			if v := s.e.reg.Verb(c.Verb); v != nil && !v.Internal && !permits(s.rights.roles, v.Roles) && c.Range.Start <= d.Place.Range.Start && d.Place.Range.End <= c.Range.End {
				refused := notPermitted(d.Place, c.Verb, "")
				d.Console = append([]string{refused.Summary + "; " + refused.Console[0]}, d.Notes...)
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
		zone = s.e.opt.Zone
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
	s.previews.mu.Lock()
	defer s.previews.mu.Unlock()
	if len(s.previews.list) >= maxShown {
		s.previews.list = append(s.previews.list[:0], s.previews.list[1:]...)
	}
	s.previews.list = append(s.previews.list, p)
}

// claim takes the preview that a run agrees to, so that no other run of this session can use
// it. If this session did not show it, claim looks for a kept one.
func (s *Session) claim(ctx context.Context, t *runOptions) {
	if t.opt.Agreed == "" {
		return
	}
	under := func(occasion string) {
		if t.opt.Key == "" && occasion != "" && t.part == nil {
			t.opt.Key, t.drawn = occasionKey(occasion), true
		}
	}
	s.previews.mu.Lock()
	p := newestShown(s, t.opt.Agreed)
	if p != nil {
		under(p.occasion)
		t.answer.claimed, t.answer.spent, t.answer.declined = p, p.used, p.declined
		if s.e.opt.Clock().Before(p.until) {
			t.answers = p.answers
		}
		if !p.used {
			p.used, p.key = true, t.opt.Key
		}
	}
	s.previews.mu.Unlock()
	if p != nil {
		return
	}
	var c *confirmations.Confirmation
	if c, t.answer.unread = newestKept(ctx, s, t.opt.Agreed); c != nil {
		under(c.Occasion)
		if unusable(s.e, c, s.e.opt.Clock(), dsl.Place{}) == nil {
			t.answers = storedAnswers(c)
		}
		t.answer.kept = []stores.Value{c.Key}
	}
}

// release returns a preview that a run claimed and did not use. If the outcome of the run is
// unknown, the preview counts as used.
func (s *Session) release(t *runOptions, err error) {
	var failed *Failure
	if t.answer.claimed == nil || t.answer.spent || t.attempted || errors.As(err, &failed) && failed.Unknown {
		return
	}
	s.previews.mu.Lock()
	defer s.previews.mu.Unlock()
	t.answer.claimed.used = false
}

// Names are what a session calls rows, and the rows that it can see.
type Names struct{ s *Session }

// Names returns the names of the session.
func (s *Session) Names() Names { return Names{s} }

// A Journal is what was done, as far as the principal of a session may look it up.
type Journal struct{ s *Session }

// Journal returns what was done: receipts of earlier runs, and the entries of the journal.
func (s *Session) Journal() Journal { return Journal{s} }

// Uploads are the files that a session has taken in.
type Uploads struct{ s *Session }

// Uploads returns the files of the session.
func (s *Session) Uploads() Uploads { return Uploads{s} }

// Turns are what was said in a session, and what the session keeps.
type Turns struct{ s *Session }

// Turns returns what was said in the session.
func (s *Session) Turns() Turns { return Turns{s} }

// ID returns the id of the session in the journal.
func (s *Session) ID() string { return s.id }

// Person returns the principal's profile, with the zone and the language of this session. If
// the session is not kept, it holds only the name.
func (s *Session) Person() Profile {
	p := s.person
	if s.kept.IsNull() {
		p = Profile{Label: cmp.Or(s.who.Label, s.who.Name), Zone: s.e.opt.Zone.String()}
	}
	p.Language = cmp.Or(p.Language, s.speech.heard(), "en")
	return p
}
