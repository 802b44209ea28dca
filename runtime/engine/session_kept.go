package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Visit says which session of a principal to open. The store keeps a session that has a
// name: the values that `sets` effects wrote, and what was said. Each principal has session
// names of their own.
type Visit struct {
	// Name continues the session of that name, or begins it.
	Name string
	// ID, instead of a name, continues the session with that id. A session of another
	// principal gets the same answer as one that does not exist.
	ID string
	// Existing refuses a name that no session has yet.
	Existing bool
	// Zone and Language are the person's, such as "Europe/Luxembourg" and "de". The
	// session keeps them. An empty one leaves what is kept unchanged.
	Zone, Language string
}

// A Profile describes the person behind a principal.
type Profile struct {
	Label    string // what people call them
	Email    string
	Zone     string
	Language string
}

// maxSessionName is the greatest length of a session's name, in characters.
const maxSessionName = 100

var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

// fit refuses a name, a zone or a language that is not valid.
func (v *Visit) fit() error {
	_, err := time.LoadLocation(v.Zone)
	switch {
	case (v.ID == "") == (v.Name == ""):
		return &Failure{Err: errors.New("a visit is to a session by its name, or by its id")}
	case utf8.RuneCountInString(v.Name) > maxSessionName || !utf8.ValidString(v.Name) || strings.ContainsFunc(v.Name, unicode.IsControl):
		return refuseScript(tell(dsl.Place{}, "bad-session", maxSessionName))
	case err != nil || v.Zone == "Local":
		return refuseScript(tell(dsl.Place{}, "bad-session/zone", v.Zone))
	case v.Language != "" && !languageTag.MatchString(v.Language):
		return refuseScript(tell(dsl.Place{}, "bad-session/language", v.Language))
	}
	return nil
}

// mineOnly returns the scope of rows that belong to the principal alone.
func mineOnly(s *Session) stores.Scope { return stores.Scope{Principal: s.who.Name} }

// speaks settles the person's zone and language: the session's, else those of their profile,
// else the organisation's.
func speaks(ctx context.Context, s *Session, zone, language string) error {
	if s.e.opt.People.Profile != nil {
		err := s.e.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
			s.person, err = s.e.opt.People.Profile(ctx, r, s.who.Name)
			return err
		})
		if err != nil {
			return failure(err)
		}
	}
	s.person.Label = cmp.Or(s.person.Label, s.who.Label, s.who.Name)
	s.person.Zone, s.person.Language = cmp.Or(zone, s.person.Zone), cmp.Or(language, s.person.Language)
	s.zone = s.e.opt.Zone
	if at, err := time.LoadLocation(s.person.Zone); err == nil && s.person.Zone != "" {
		s.zone = at
	}
	s.person.Zone = s.zone.String()
	return nil
}

// What a session keeps

// session returns the session's row, nil where the session is not kept.
func (r *source) session(ctx context.Context) (*sessions.Session, error) {
	if r.draft.visit != nil || r.s.kept.IsNull() {
		return r.draft.visit, nil
	}
	kept, err := sessions.Get(ctx, r.read, r.s.kept)
	if err == nil && kept == nil {
		// Housekeeping has removed it since it was opened.
		return nil, refuseScript(tell(dsl.Place{}, "unknown-session"))
	}
	r.draft.visit = kept
	return kept, err
}

// A setting is a value that an effect gives the session.
type setting struct {
	name      string
	value     stores.Value
	entity    *verbs.Entity // of a reference
	from      string        // the argument or expression that it is taken from, for people
	came      verbs.Origin
	sensitive bool
	before    sessions.Value
}

// set notes the values that a call gives the session. They are written when the run commits.
func (r *source) set(ctx context.Context, st *step, all []setting) error {
	if len(all) == 0 {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	if kept == nil {
		return st.refuse("no-session", st.verb.Name)
	}
	for i := range all {
		a := &all[i]
		a.before = kept.Values[a.name]
		st.sawSession(a.name, a.before)
		now := sessions.Value{Kind: a.value.Kind(), Text: a.value.Text(), Origin: a.came.Mark(), Sensitive: a.sensitive}
		if a.entity != nil {
			now.Entity = a.entity.Store.Name
		}
		if kept.Set(a.name, now) {
			st.out.sets = append(st.out.sets, *a)
		}
	}
	if kept.TooLarge() {
		return st.refuse("session-too-large")
	}
	return nil
}

// checkVersion refuses a run whose session has moved on since its caller last saw it.
func (r *source) checkVersion(ctx context.Context, version int64) error {
	if version == 0 {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	if kept == nil {
		return refuseScript(tell(dsl.Place{}, "unknown-session"))
	}
	if kept.Version != version {
		last, err := kept.Latest(ctx, r.read)
		if err != nil {
			return err
		}
		return refuseScript(tell(dsl.Place{Source: r.script}, "session-moved", after(": ", last.Action), kept.LastActive.In(r.s.zone).Format("15:04:05 on 2006-01-02")))
	}
	return nil
}

// keepSession writes the values that a run gave its session, and the turns that belong to
// the run. about lists the rows and verbs of the run; it is nil where nothing was run.
func (r *source) keepSession(ctx context.Context, b *stores.Batch, said []sessions.Said, about func() sessions.Notes) error {
	if r.s.kept.IsNull() {
		if len(said) > 0 {
			return r.unkept()
		}
		return nil
	}
	if len(b.Entries) == 0 && len(said) == 0 && (r.draft.visit == nil || !r.draft.visit.Changed) {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	spoken, err := sayTurns(r, said, kept.Turns, len(b.Entries), about)
	if err != nil {
		return err
	}
	asked, gone, err := kept.Ask(ctx, r.read, said, about != nil)
	switch {
	case gone:
		return refuseScript(tell(dsl.Place{Source: r.script}, "already-used"))
	case err != nil:
		return err
	}
	c, err := kept.Keep(len(said), r.now)
	b.Changes = slices.Concat(b.Changes, spoken, asked, []stores.Change{c})
	return err
}

// unkept refuses to keep turns in a session that is not kept.
func (r *source) unkept() error {
	return refuseScript(tell(dsl.Place{Source: r.script}, "no-session", "what was said"))
}

// Looking at a session

// A SessionInfo describes a kept session.
type SessionInfo struct {
	sessions.Info
	Person Profile        // with the session's zone and language
	Values []SessionValue // sorted by name
}

// A SessionValue is a value that an effect has set. A reference is shown by the name of its
// row in this session.
type SessionValue struct {
	Name      string
	Value     stores.Value
	Sensitive bool
	Origin    verbs.Origin
}

// Info describes the session. It returns a *Refusal where the session is not kept.
func (ts Turns) Info(ctx context.Context) (SessionInfo, error) {
	var info SessionInfo
	err := lookInto(ctx, ts.s, func(r *source, kept *sessions.Session) error {
		info = SessionInfo{Info: kept.Info, Person: ts.s.Person()}
		for _, name := range slices.Sorted(maps.Keys(kept.Values)) {
			v := kept.Values[name]
			shown := v.Value()
			if e := ts.s.e.reg.Entity(v.Entity); e != nil {
				if _, err := r.nameRow(ctx, e, shown); err != nil {
					return err
				}
				shown = r.shownValue(e.Store, shown)
			}
			info.Values = append(info.Values, SessionValue{name, shown, v.Sensitive, verbs.Stored(v.Origin)})
		}
		return nil
	})
	return info, err
}

// Sessions lists the principal's sessions without their values, the most recently active
// first.
func (ts Turns) Sessions(ctx context.Context) ([]SessionInfo, error) {
	var all []SessionInfo
	err := ts.s.e.store.View(ctx, mineOnly(ts.s), func(r stores.Reader) error {
		found, err := sessions.List(ctx, r)
		for _, one := range found {
			all = append(all, SessionInfo{Info: one, Person: Profile{Zone: one.Zone, Language: one.Language}})
		}
		return err
	})
	return all, failure(err)
}

// lookInto reads the session on one snapshot.
func lookInto(ctx context.Context, s *Session, fn func(*source, *sessions.Session) error) error {
	if s.kept.IsNull() {
		return refuseScript(tell(dsl.Place{}, "unknown-session"))
	}
	return storeError(dsl.Place{}, s.view(ctx, func(read stores.Reader) error {
		r := sourceOf(s, read)
		kept, err := r.session(ctx)
		if err != nil {
			return err
		}
		return fn(r, kept)
	}))
}

// Active returns the name of the row of an entity that the person is at work on: the one that
// session.active was set to, or else the first by label that they can see. It returns ""
// where they can see none.
func (ns Names) Active(ctx context.Context, entity string) (name string, err error) {
	e := ns.s.e.reg.Entity(entity)
	if e == nil {
		return "", &Failure{Err: fmt.Errorf("no entity is called %q", entity)}
	}
	err = ns.s.view(ctx, func(read stores.Reader) error {
		r := sourceOf(ns.s, read)
		key, err := r.active(ctx, nil, e)
		if err != nil || key.IsNull() {
			return err
		}
		row, err := r.nameRow(ctx, e, key)
		if err == nil {
			name = row.Shown()
		}
		return err
	})
	return name, failure(err)
}

// AtWork returns the name of the row that session.active was set to, where that is a row of
// an entity and can still be seen; "" otherwise.
func (ns Names) AtWork(ctx context.Context, e *verbs.Entity) (name string, err error) {
	if ns.s.kept.IsNull() {
		return "", nil
	}
	err = ns.s.view(ctx, func(read stores.Reader) error {
		r := sourceOf(ns.s, read)
		kept, err := r.session(ctx)
		if err != nil || kept == nil {
			return err
		}
		v := kept.Values[verbs.SessionActive]
		if r.e.reg.Entity(v.Entity) != e {
			return nil
		}
		if _, err := r.get(ctx, nil, e.Store, v.Value()); err != nil {
			if errors.Is(err, stores.ErrNotFound) {
				return nil
			}
			return err
		}
		row, err := r.nameRow(ctx, e, v.Value())
		name = row.Name
		return err
	})
	return name, failure(err)
}

// active returns the key of the row at work.
func (r *source) active(ctx context.Context, st *step, e *verbs.Entity) (stores.Value, error) {
	kept, err := r.session(ctx)
	if err != nil {
		return stores.Value{}, err
	}
	if kept != nil {
		v := kept.Values[verbs.SessionActive]
		st.sawSession(verbs.SessionActive, v)
		if r.e.reg.Entity(v.Entity) == e {
			// The row may have left the scope.
			_, err := r.get(ctx, st, e.Store, v.Value())
			if err == nil || !errors.Is(err, stores.ErrNotFound) {
				return v.Value(), err
			}
		}
	}
	rows, err := r.read.Find(ctx, stores.Find{Entity: e.Store, Select: r.e.catalog.labels[e], Limit: maxNamed, Blank: true})
	if err != nil {
		return stores.Value{}, err
	}
	if len(rows) == 0 {
		return stores.Value{}, nil
	}
	return slices.MinFunc(rows, func(a, b []stores.Value) int {
		return cmp.Or(cmp.Compare(label(e, a), label(e, b)), cmp.Compare(a[0].Text(), b[0].Text()))
	})[0], nil
}

// given evaluates the value that an effect sets in the session.
func (r *source) given(ctx context.Context, st *step, p *promise) error {
	x := p.effect.Value
	v, came, err := r.evalFrom(ctx, st, x, nil)
	if err != nil {
		return err
	}
	from, sensitive := st.origin(x, nil)
	p.setting = setting{name: p.effect.Session, value: v, from: from, came: came, sensitive: sensitive}
	if p.effect.Of != nil {
		p.setting.entity = p.effect.Of.Entity
	}
	return nil
}

// settings turns the session values that a handler returns into settings.
func (r *source) settings(st *step, f Fields, came verbs.Origin, promises []promise) ([]setting, error) {
	var all []setting
	for _, key := range sortedKeys(f) {
		v, err := plainValue(f[key])
		if err != nil {
			return nil, fmt.Errorf("session.%s: %w", key, err)
		}
		a := setting{name: strings.ReplaceAll(key, "-", "_"), value: v, came: vouched(f[key], came), sensitive: carries(st, v)}
		plain := f[key]
		if known, ok := plain.(Known); ok {
			plain = known.Value
		}
		if ref, ok := plain.(Ref); ok {
			a.entity = r.e.reg.Entity(ref.entity)
		}
		for i := range promises {
			// A value that the palette takes from an argument keeps that argument's origin.
			if p := &promises[i]; p.due && p.effect.Session == a.name && p.effect.Value != nil && stores.Equal(p.setting.value, v) {
				a = p.setting
			}
		}
		all = append(all, a)
	}
	return all, nil
}

// nameSets names the rows that session values are set to, and those that they replace.
func (r *source) nameSets(ctx context.Context, st *step) error {
	for _, a := range st.out.sets {
		for _, ref := range [...]struct {
			e   *verbs.Entity
			key stores.Value
		}{{a.entity, a.value}, {r.e.reg.Entity(a.before.Entity), a.before.Value()}} {
			if ref.e == nil || ref.key.IsNull() {
				continue
			}
			if _, err := r.nameRow(ctx, ref.e, ref.key); err != nil {
				return err
			}
		}
	}
	return nil
}

// sessionChanges lists the values that a call gives the session, including the calls of a
// macro.
func (r *source) sessionChanges(st *step) []receipt.Setting {
	if len(st.out.sets) == 0 && len(st.tree.inner) == 0 {
		return nil
	}
	var out []receipt.Setting
	for _, a := range st.gather().sets {
		s := receipt.Setting{Name: a.name, Before: receipt.Of(a.before.Value()), After: receipt.Of(a.value), Sensitive: a.sensitive || a.before.Sensitive, From: a.from, Origin: a.came.String()}
		if e := r.e.reg.Entity(a.before.Entity); e != nil {
			r.nameValue(&s.Before, e.Store)
		}
		if a.entity != nil {
			r.nameValue(&s.After, a.entity.Store)
		}
		out = append(out, s)
	}
	return out
}

// spoken finds out which turn the journal entries of a run name.
func (r *source) spoken(ctx context.Context, o *RunOptions) error {
	if len(o.Said) == 0 && o.Turn == 0 {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	if kept == nil {
		return r.unkept()
	}
	if o.Turn < 0 || o.Turn > kept.Turns {
		return refuseScript(tell(dsl.Place{}, "bad-turn/unknown", o.Turn))
	}
	o.Turn = sessions.SpokenBy(o.Said, kept.Turns+1, o.Turn)
	return nil
}

// What is counted

// Count adds n to a counter of the principal and returns the new total. If the total would
// exceed limit, nothing is added and ok is false. Without a limit it always adds. A counter
// never falls below zero.
func (ts Turns) Count(ctx context.Context, name string, n, limit int64) (total int64, ok bool, err error) {
	if name == "" || len(name) > maxSessionName {
		return 0, false, &Failure{Err: fmt.Errorf("no budget is called %q", name)}
	}
	err = writeTo(ctx, ts.s.e, mineOnly(ts.s), func(tx stores.Tx) (err error) {
		total, ok, err = sessions.Count(ctx, tx, ts.s.who.Name, name, n, limit, ts.s.e.opt.Clock())
		return asConflict(err)
	})
	return total, ok, failure(err)
}

// Counted returns the total of a counter of the principal.
func (ts Turns) Counted(ctx context.Context, name string) (total int64, err error) {
	err = ts.s.e.store.View(ctx, mineOnly(ts.s), func(r stores.Reader) (err error) {
		total, err = sessions.Counted(ctx, r, ts.s.who.Name, name)
		return err
	})
	return total, failure(err)
}
