package runtime

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
	"verbatim/runtime/sessions"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Visit says which session of a principal is opened. One that has a name goes
// on from process to process: what the effect `sets` has written, and what was
// said. Every principal has names of their own.
type Visit struct {
	// Name continues the session of that name, or begins it.
	Name string
	// ID, instead of a name, continues the session that has it. One of somebody
	// else is answered as one that does not exist.
	ID string
	// Existing refuses a name that there is no session of yet.
	Existing bool
	// Zone and Language are the person's, such as "Europe/Luxembourg" and "de".
	// They are kept; where they are left out, they stay what they were.
	Zone, Language string
}

// A Profile is what is known of a principal as a person.
type Profile struct {
	Label    string // what people call them
	Email    string
	Zone     string
	Language string
}

// maxSessionName is how long the name of a session may be, in characters.
const maxSessionName = 100

var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

// fit refuses what no session can have.
func (v *Visit) fit() error {
	_, err := time.LoadLocation(v.Zone)
	switch {
	case (v.ID == "") == (v.Name == ""):
		return &Failure{Err: errors.New("a visit is to a session by its name, or by its id")}
	case utf8.RuneCountInString(v.Name) > maxSessionName || !utf8.ValidString(v.Name) || strings.ContainsFunc(v.Name, unicode.IsControl):
		return refuse([]complaint{{-1, badSessionName()}})
	case err != nil || v.Zone == "Local":
		return refuse([]complaint{{-1, badZone(v.Zone)}})
	case v.Language != "" && !languageTag.MatchString(v.Language):
		return refuse([]complaint{{-1, badLanguage(v.Language)}})
	}
	return nil
}

// Visit opens a session that is kept, and counts the visit when the person had
// been away. Any number of processes may have it open.
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
	now := stores.NewTime(e.clock()).Time()
	var kept *sessions.Session
	err = e.write(ctx, s.mine(), func(tx stores.Tx) (err error) {
		kept, err = sessions.Get(ctx, tx, s.kept)
		switch {
		case err != nil:
			return err
		case kept == nil && (v.ID != "" || v.Existing):
			return refuse([]complaint{{-1, unknownSession()}})
		case kept == nil:
			kept = sessions.Begin(s.kept, s.who.Name, v.Name, now)
		}
		// Two who begin it at once are one after the other.
		return met(tx.Apply(ctx, stores.Batch{Changes: []stores.Change{kept.Visit(v.Zone, v.Language, now)}}))
	})
	if err != nil {
		return nil, storeError(dsl.Place{}, err)
	}
	s.id = s.kept.Text()
	return s, s.speaks(ctx, kept.Zone, kept.Language)
}

// mine is the scope of what belongs to the principal alone.
func (s *Session) mine() stores.Scope { return stores.Scope{Principal: s.who.Name} }

// speaks settles the person's zone and language: what they said in the session,
// what is known of them, what the organisation has.
func (s *Session) speaks(ctx context.Context, zone, language string) error {
	if s.e.profile != nil {
		err := s.e.store.View(ctx, stores.Scope{All: true}, func(r stores.Reader) (err error) {
			s.person, err = s.e.profile(ctx, r, s.who.Name)
			return err
		})
		if err != nil {
			return failure(err)
		}
	}
	s.person.Label = cmp.Or(s.person.Label, s.who.Label, s.who.Name)
	s.person.Zone, s.person.Language = cmp.Or(zone, s.person.Zone), cmp.Or(language, s.person.Language)
	s.zone = s.e.zone
	if at, err := time.LoadLocation(s.person.Zone); err == nil && s.person.Zone != "" {
		s.zone = at
	}
	s.person.Zone = s.zone.String()
	return nil
}

// Person returns what is known of the principal, with the zone and the language
// of this session. It knows no more than the name where the session is not kept.
func (s *Session) Person() Profile {
	p := s.person
	if s.kept.IsNull() {
		p = Profile{Label: cmp.Or(s.who.Label, s.who.Name), Zone: s.e.zone.String()}
	}
	p.Language = cmp.Or(p.Language, s.speech.heard(), "en")
	return p
}

// ID returns the id of the session, as the journal has it.
func (s *Session) ID() string { return s.id }

// What a session keeps

// session returns the session's row, nil where the session is not kept.
func (r *reading) session(ctx context.Context) (*sessions.Session, error) {
	if r.visit != nil || r.s.kept.IsNull() {
		return r.visit, nil
	}
	kept, err := sessions.Get(ctx, r.read, r.s.kept)
	if err == nil && kept == nil {
		// It was tidied away since it was opened.
		return nil, refuse([]complaint{{-1, unknownSession()}})
	}
	r.visit = kept
	return kept, err
}

// sessionSaw notes that a plan stands on a value of the session.
func (r *reading) sessionSaw(name string, v sessions.Value) {
	r.seen = append(r.seen, seen{entity: sessions.Entity, key: stores.NewString(name), paths: []stores.Path{{Field: sessions.FieldValues}}, values: []stores.Value{v.Value()}})
}

// A setting is a value that an effect gives the session.
type setting struct {
	name      string
	value     stores.Value
	entity    *verbs.Entity // of a reference
	from      string        // what it is worked out from, for people
	came      verbs.Origin
	sensitive bool
	before    sessions.Value
}

// set lets the session keep what a call has set. It is written when the run is.
func (r *reading) set(ctx context.Context, st *step, all []setting) error {
	if len(all) == 0 {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	if kept == nil {
		return &complaint{st.index, noSession(st.place, st.verb.Name)}
	}
	for i := range all {
		a := &all[i]
		a.before = kept.Values[a.name]
		r.sessionSaw(a.name, a.before)
		now := sessions.Value{Kind: a.value.Kind(), Text: a.value.Text(), Origin: a.came.Mark(), Sensitive: a.sensitive}
		if a.entity != nil {
			now.Entity = a.entity.Store.Name
		}
		if kept.Set(a.name, now) {
			st.sets = append(st.sets, *a)
		}
	}
	if kept.TooLarge() {
		return &complaint{st.index, sessionTooLarge(st.place)}
	}
	return nil
}

// meanwhile refuses to go on where the session went on without whoever asks.
func (r *reading) meanwhile(ctx context.Context, version int64) error {
	if version == 0 {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	if kept == nil {
		return refuse([]complaint{{-1, unknownSession()}})
	}
	if kept.Version != version {
		last, err := kept.Latest(ctx, r.read)
		if err != nil {
			return err
		}
		return refuse([]complaint{{-1, sessionMoved(dsl.Place{Source: r.source}, kept.LastActive.In(r.s.zone), last.Action)}})
	}
	return nil
}

// keepSession writes down what a run did to its session, and what was said with
// it. about says what the run was about; it is nil where nothing was run.
func (r *reading) keepSession(ctx context.Context, b *stores.Batch, said []sessions.Said, about func() sessions.Notes) error {
	if r.s.kept.IsNull() {
		if len(said) > 0 {
			return r.unkept()
		}
		return nil
	}
	if len(b.Entries) == 0 && len(said) == 0 && (r.visit == nil || !r.visit.Changed) {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	spoken, err := r.say(said, kept.Turns, len(b.Entries), about)
	if err != nil {
		return err
	}
	asked, gone, err := kept.Ask(ctx, r.read, said, about != nil)
	switch {
	case gone:
		return refuse([]complaint{{-1, alreadyUsed(dsl.Place{Source: r.source}, "", "")}})
	case err != nil:
		return err
	}
	c, err := kept.Keep(len(said), r.now)
	b.Changes = slices.Concat(b.Changes, spoken, asked, []stores.Change{c})
	return err
}

// unkept refuses to keep what was said in a session that keeps nothing.
func (r *reading) unkept() error {
	return refuse([]complaint{{-1, noSession(dsl.Place{Source: r.source}, "what was said")}})
}

// Looking at a session

// A SessionInfo is what is known of a session that is kept.
type SessionInfo struct {
	sessions.Info
	Person Profile        // with the session's zone and language
	Values []SessionValue // sorted by name
}

// A SessionValue is something that an effect has set. A reference is shown by
// the name of its row in this session.
type SessionValue struct {
	Name      string
	Value     stores.Value
	Sensitive bool
	Origin    verbs.Origin
}

// Info returns what is known of the session. It is a *Refusal where the session
// is not kept.
func (s *Session) Info(ctx context.Context) (SessionInfo, error) {
	var info SessionInfo
	err := s.lookInto(ctx, func(r *reading, kept *sessions.Session) error {
		info = SessionInfo{Info: kept.Info, Person: s.Person()}
		for _, name := range slices.Sorted(maps.Keys(kept.Values)) {
			v := kept.Values[name]
			shown := v.Value()
			if e := s.e.reg.Entity(v.Entity); e != nil {
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

// Sessions lists the sessions that the principal has, those active last first,
// without what they hold.
func (s *Session) Sessions(ctx context.Context) ([]SessionInfo, error) {
	var all []SessionInfo
	err := s.e.store.View(ctx, s.mine(), func(r stores.Reader) error {
		found, err := sessions.List(ctx, r)
		for _, one := range found {
			all = append(all, SessionInfo{Info: one, Person: Profile{Zone: one.Zone, Language: one.Language}})
		}
		return err
	})
	return all, failure(err)
}

// lookInto reads the session on one snapshot.
func (s *Session) lookInto(ctx context.Context, fn func(*reading, *sessions.Session) error) error {
	if s.kept.IsNull() {
		return refuse([]complaint{{-1, unknownSession()}})
	}
	return storeError(dsl.Place{}, s.view(ctx, func(read stores.Reader) error {
		r := s.reads(read)
		kept, err := r.session(ctx)
		if err != nil {
			return err
		}
		return fn(r, kept)
	}))
}

// Active returns the name of the row of an entity that the person is at work on:
// the one that session.active was set to, and without one the first that they
// can see, by what it is called. It is "" where they can see none.
func (s *Session) Active(ctx context.Context, entity string) (name string, err error) {
	e := s.e.reg.Entity(entity)
	if e == nil {
		return "", &Failure{Err: fmt.Errorf("no entity is called %q", entity)}
	}
	err = s.view(ctx, func(read stores.Reader) error {
		r := s.reads(read)
		key, err := r.active(ctx, e)
		if err != nil || key.IsNull() {
			return err
		}
		row, err := r.nameRow(ctx, e, key)
		name = row.Shown()
		return err
	})
	return name, failure(err)
}

// AtWork returns the name of the row that session.active was set to, where that is a row of
// an entity and can still be seen; "" otherwise.
func (s *Session) AtWork(ctx context.Context, e *verbs.Entity) (name string, err error) {
	if s.kept.IsNull() {
		return "", nil
	}
	err = s.view(ctx, func(read stores.Reader) error {
		r := s.reads(read)
		kept, err := r.session(ctx)
		if err != nil || kept == nil {
			return err
		}
		v := kept.Values[verbs.SessionActive]
		if r.e.reg.Entity(v.Entity) != e {
			return nil
		}
		if _, err := r.get(ctx, e.Store, v.Value()); err != nil {
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

// active is the key of the row that the person is at work on.
func (r *reading) active(ctx context.Context, e *verbs.Entity) (stores.Value, error) {
	kept, err := r.session(ctx)
	if err != nil {
		return stores.Value{}, err
	}
	if kept != nil {
		v := kept.Values[verbs.SessionActive]
		r.sessionSaw(verbs.SessionActive, v)
		if r.e.reg.Entity(v.Entity) == e {
			// What was at work on may be out of scope by now.
			_, err := r.get(ctx, e.Store, v.Value())
			if err == nil || !errors.Is(err, stores.ErrNotFound) {
				return v.Value(), err
			}
		}
	}
	rows, err := r.read.Find(ctx, stores.Find{Entity: e.Store, Select: r.e.labelled[e], Limit: maxNamed})
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

// given works out what an effect gives the session.
func (r *reading) given(ctx context.Context, st *step, p *promise) error {
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

// settings turns what a handler gives the session into the engine's own.
func (r *reading) settings(st *step, f Fields, came verbs.Origin, promises []promise) ([]setting, error) {
	var all []setting
	for _, key := range sortedKeys(f) {
		v, err := r.plainValue(f[key])
		if err != nil {
			return nil, fmt.Errorf("session.%s: %w", key, err)
		}
		a := setting{name: strings.ReplaceAll(key, "-", "_"), value: v, came: vouched(f[key], came), sensitive: r.carries(st, v)}
		plain := f[key]
		if known, ok := plain.(Known); ok {
			plain = known.Value
		}
		if ref, ok := plain.(Ref); ok {
			a.entity = r.e.reg.Entity(ref.entity)
		}
		for i := range promises {
			// What the palette says to the letter comes from where it takes it.
			if p := &promises[i]; p.due && p.effect.Session == a.name && p.effect.Value != nil && stores.Equal(p.setting.value, v) {
				a = p.setting
			}
		}
		all = append(all, a)
	}
	return all, nil
}

// nameSets names the rows that a session is given, or had.
func (r *reading) nameSets(ctx context.Context, st *step) error {
	for _, a := range st.sets {
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

// sessionChanges shows what a call gives the session, and those that it makes as
// a macro.
func (r *reading) sessionChanges(st *step) []receipt.Setting {
	if len(st.sets) == 0 && len(st.inner) == 0 {
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

// spoken settles which turn the entries of a run come of.
func (r *reading) spoken(ctx context.Context, o *RunOptions) error {
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
		return refuse([]complaint{{-1, unknownTurn(o.Turn)}})
	}
	o.Turn = sessions.SpokenBy(o.Said, kept.Turns+1, o.Turn)
	return nil
}

// What is counted

// Count adds n to a budget of the principal's, and returns what it comes to. Where
// that would be more than limit, nothing is added and ok is false; without a limit
// it is added in any case. A budget is never below nothing.
func (s *Session) Count(ctx context.Context, name string, n, limit int64) (total int64, ok bool, err error) {
	if name == "" || len(name) > maxSessionName {
		return 0, false, &Failure{Err: fmt.Errorf("no budget is called %q", name)}
	}
	err = s.e.write(ctx, s.mine(), func(tx stores.Tx) (err error) {
		total, ok, err = sessions.Count(ctx, tx, s.who.Name, name, n, limit, s.e.clock())
		return met(err)
	})
	return total, ok, failure(err)
}

// Counted returns what a budget of the principal's comes to.
func (s *Session) Counted(ctx context.Context, name string) (total int64, err error) {
	err = s.e.store.View(ctx, s.mine(), func(r stores.Reader) (err error) {
		total, err = sessions.Counted(ctx, r, s.who.Name, name)
		return err
	})
	return total, failure(err)
}
