package runtime

import (
	"cmp"
	"context"
	"encoding/json"
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
	"verbatim/runtime/digest"
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

// visitGap is how long somebody has to be away to come back.
const visitGap = 30 * time.Minute

// maxSessionName is how long the name of a session may be, in characters.
const maxSessionName = 100

// sessionPrefix tells the ids of sessions that are kept from those that are not.
const sessionPrefix = "s-"

// sessionKey is the key of the session that a principal calls by a name. Nobody
// else's name leads to the same row.
func sessionKey(principal, name string) stores.Value {
	return stores.NewString(sessionPrefix + digest.Of("verbatim session 1", principal, name)[:32])
}

var languageTag = regexp.MustCompile(`^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$`)

// fit refuses what no session can have.
func (v *Visit) fit() error {
	if v.ID != "" && v.Name != "" || v.ID == "" && v.Name == "" {
		return &Failure{Err: errors.New("a visit is to a session by its name, or by its id")}
	}
	if v.Name != "" {
		wrong := utf8.RuneCountInString(v.Name) > maxSessionName || !utf8.ValidString(v.Name)
		for _, r := range v.Name {
			wrong = wrong || unicode.IsControl(r)
		}
		if wrong {
			return refuse([]complaint{{-1, badSessionName()}})
		}
	}
	if v.Zone != "" {
		if _, err := time.LoadLocation(v.Zone); err != nil || v.Zone == "Local" {
			return refuse([]complaint{{-1, badZone(v.Zone)}})
		}
	}
	if v.Language != "" && !languageTag.MatchString(v.Language) {
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
		s.kept = sessionKey(s.who.Name, v.Name)
	}
	now := stores.NewTime(e.clock())
	var row []stores.Value
	for attempt := range maxAttempts {
		if attempt > 0 {
			e.pause(ctx, attempt)
		}
		err = e.store.Update(ctx, s.mine(), func(tx stores.Tx) error {
			var change stores.Change
			if row, change, err = s.visited(ctx, tx, &v, now); err != nil {
				return err
			}
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{change}})
		})
		// Two who begin it at once are one after the other.
		if !errors.Is(err, stores.ErrConflict) && !errors.Is(err, stores.ErrDuplicate) || ctx.Err() != nil {
			break
		}
	}
	var refusal *Refusal
	switch {
	case errors.As(err, &refusal):
		return nil, err
	case errors.Is(err, stores.ErrConflict):
		return nil, refuse([]complaint{{-1, changedMeanwhile(dsl.Place{})}})
	case err != nil:
		return nil, failure(err)
	}
	s.id = s.kept.Text()
	return s, s.speaks(ctx, row[sesZone].Text(), row[sesLanguage].Text())
}

// visited makes the change that a visit is, and the row as it will be.
func (s *Session) visited(ctx context.Context, tx stores.Tx, v *Visit, now stores.Value) (row []stores.Value, c stores.Change, err error) {
	old, err := tx.Get(ctx, sessions, s.kept)
	switch {
	case errors.Is(err, stores.ErrNotFound) && (v.ID != "" || v.Existing):
		return nil, c, refuse([]complaint{{-1, unknownSession()}})
	case errors.Is(err, stores.ErrNotFound):
		row = make([]stores.Value, len(sessions.Fields))
		row[sesKey], row[sesPrincipal], row[sesName] = s.kept, stores.NewString(s.who.Name), stores.NewString(v.Name)
		row[sesValues], row[sesStarted], row[sesLast] = stores.NewObject(nil, nil), now, now
		row[sesVisits], row[sesTurns], row[sesVersion] = stores.NewInt(1), stores.NewInt(0), stores.NewInt(1)
		c = stores.Change{Op: stores.Insert, Entity: sessions, Key: s.kept}
	case err != nil:
		return nil, c, err
	default:
		row = slices.Clone(old.Values)
		if now.Time().Sub(row[sesLast].Time()) >= visitGap {
			row[sesVisits] = stores.NewInt(row[sesVisits].Int() + 1)
		}
		if now.Time().After(row[sesLast].Time()) {
			row[sesLast] = now
		}
		c = stores.Change{Op: stores.Update, Entity: sessions, Key: s.kept, Before: old.Values, Guard: []int{sesVisits, sesLast, sesVersion}}
	}
	if v.Zone != "" {
		row[sesZone] = stores.NewString(v.Zone)
	}
	if v.Language != "" {
		row[sesLanguage] = stores.NewString(v.Language)
	}
	for f, is := range row {
		if f != sesKey && (c.Op == stores.Insert && !is.IsNull() || c.Op == stores.Update && is != old.Values[f]) {
			c.Set = append(c.Set, stores.Assign{Field: f, Value: is})
		}
	}
	if c.Op == stores.Update && len(c.Set) == 0 { // twice in one instant
		c.Set = []stores.Assign{{Field: sesLast, Value: row[sesLast]}}
	}
	return row, c, nil
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

// A sessionValue is a value under a name, as it is kept.
type sessionValue struct {
	Kind   stores.Kind `json:"kind"`
	Text   string      `json:"text"`
	Entity string      `json:"entity,omitempty"` // of a reference
	Origin string      `json:"origin,omitempty"`
	Secret bool        `json:"secret,omitempty"`
}

func (v sessionValue) value() stores.Value {
	value, ok := stores.Parse(v.Kind, v.Text)
	if !ok {
		return stores.Value{}
	}
	return value
}

// sessionValues reads what a session keeps.
func sessionValues(row stores.Row) (map[string]sessionValue, error) {
	values := make(map[string]sessionValue)
	if err := json.Unmarshal([]byte(row.Values[sesValues].Text()), &values); err != nil {
		return nil, &Failure{Err: fmt.Errorf("what a session keeps cannot be read: %w", err)}
	}
	return values, nil
}

// A keptSession is a session's row within a run.
type keptSession struct {
	row    stores.Row
	values map[string]sessionValue
	dirty  bool // an effect has set something
}

// session returns the session's row, nil where the session is not kept.
func (r *reading) session(ctx context.Context) (*keptSession, error) {
	if r.visit != nil || r.s.kept.IsNull() {
		return r.visit, nil
	}
	row, err := r.read.Get(ctx, sessions, r.s.kept)
	if errors.Is(err, stores.ErrNotFound) {
		// It was tidied away since it was opened.
		return nil, refuse([]complaint{{-1, unknownSession()}})
	}
	if err != nil {
		return nil, err
	}
	values, err := sessionValues(row)
	if err != nil {
		return nil, err
	}
	r.visit = &keptSession{row: row, values: values}
	return r.visit, nil
}

// sessionSaw notes that a plan stands on a value of the session.
func (r *reading) sessionSaw(name string, v sessionValue) {
	r.seen = append(r.seen, seen{entity: sessions, key: stores.NewString(name), paths: []stores.Path{{Field: sesValues}}, values: []stores.Value{v.value()}})
}

// A setting is a value that an effect gives the session.
type setting struct {
	name   string
	value  stores.Value
	entity *verbs.Entity // of a reference
	from   string        // what it is worked out from, for people
	came   verbs.Origin
	secret bool
	before sessionValue
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
		a.before = kept.values[a.name]
		r.sessionSaw(a.name, a.before)
		now := sessionValue{Kind: a.value.Kind(), Text: a.value.Text(), Origin: a.came.Mark(), Secret: a.secret}
		if a.entity != nil {
			now.Entity = a.entity.Store.Name
		}
		if now == a.before || a.value.IsNull() && a.before == (sessionValue{}) {
			continue
		}
		kept.dirty = true
		if a.value.IsNull() {
			delete(kept.values, a.name)
		} else {
			kept.values[a.name] = now
		}
		st.sets = append(st.sets, *a)
	}
	if len(mustJSON(kept.values)) > maxSessionSize {
		return &complaint{st.index, sessionTooLarge(st.place)}
	}
	return nil
}

// maxSessionSize is how much a session keeps, in bytes: pointers and marks, and
// no documents.
const maxSessionSize = 64 << 10

func mustJSON(values map[string]sessionValue) string {
	text, err := json.Marshal(values)
	if err != nil {
		panic(err) // of strings and numbers
	}
	return string(text)
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
	if is := kept.row.Values[sesVersion].Int(); is != version {
		what, err := r.latestTurn(ctx, kept.row)
		if err != nil {
			return err
		}
		return refuse([]complaint{{-1, sessionMoved(dsl.Place{Source: r.source}, kept.row.Values[sesLast].Time().In(r.s.zone), what)}})
	}
	return nil
}

// keepSession writes down what a run did to its session, and what was said with
// it. about is what the run was about, nil where nothing was run.
func (r *reading) keepSession(ctx context.Context, b *stores.Batch, said []Said, about *touched) error {
	if r.s.kept.IsNull() {
		if len(said) > 0 {
			return refuse([]complaint{{-1, noSession(dsl.Place{Source: r.source}, "what was said")}})
		}
		return nil
	}
	if len(b.Entries) == 0 && len(said) == 0 && (r.visit == nil || !r.visit.dirty) {
		return nil
	}
	kept, err := r.session(ctx)
	if err != nil {
		return err
	}
	before := kept.row.Values
	number := before[sesTurns].Int()
	if b.Changes, err = r.say(b.Changes, said, number, len(b.Entries), about); err != nil {
		return err
	}
	if b.Changes, err = r.ask(ctx, b.Changes, said, number+int64(len(said)), about != nil); err != nil {
		return err
	}
	c := stores.Change{Op: stores.Update, Entity: sessions, Key: r.s.kept, Before: before, Guard: []int{sesValues, sesTurns, sesVersion}}
	if kept.dirty {
		values, err := stores.ParseJSON(mustJSON(kept.values))
		if err != nil {
			return &Failure{Err: err}
		}
		c.Set = append(c.Set, stores.Assign{Field: sesValues, Value: values})
	}
	if last := stores.NewTime(r.now); last.Time().After(before[sesLast].Time()) {
		c.Set = append(c.Set, stores.Assign{Field: sesLast, Value: last})
	}
	if n := len(said); n > 0 {
		c.Set = append(c.Set, stores.Assign{Field: sesTurns, Value: stores.NewInt(number + int64(n))})
	}
	c.Set = append(c.Set, stores.Assign{Field: sesVersion, Value: stores.NewInt(before[sesVersion].Int() + 1)})
	b.Changes = append(b.Changes[:len(b.Changes):len(b.Changes)], c)
	return nil
}

// Looking at a session

// A SessionInfo is what is known of a session that is kept.
type SessionInfo struct {
	ID, Name      string
	Person        Profile // with the session's zone and language
	Started       time.Time
	LastActive    time.Time
	Visits, Turns int64
	Version       int64          // counts what was done, set and said in it
	Values        []SessionValue // sorted by name
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
	err := s.lookInto(ctx, func(r *reading, kept *keptSession) error {
		row := kept.row.Values
		info = SessionInfo{ID: s.id, Name: row[sesName].Text(), Person: s.Person(), Started: row[sesStarted].Time(), LastActive: row[sesLast].Time(),
			Visits: row[sesVisits].Int(), Turns: row[sesTurns].Int(), Version: row[sesVersion].Int()}
		for _, name := range slices.Sorted(maps.Keys(kept.values)) {
			v := kept.values[name]
			shown := v.value()
			if e := s.e.reg.Entity(v.Entity); e != nil {
				if _, err := r.nameRow(ctx, e, shown); err != nil {
					return err
				}
				shown = r.shownValue(e.Store, shown)
			}
			info.Values = append(info.Values, SessionValue{name, shown, v.Secret, verbs.Stored(v.Origin)})
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
		rows, err := r.Find(ctx, stores.Find{Entity: sessions, Order: []stores.Order{{Path: stores.Path{Field: sesLast}, Desc: true}}})
		for _, row := range rows {
			all = append(all, SessionInfo{ID: row[sesKey].Text(), Name: row[sesName].Text(), Person: Profile{Zone: row[sesZone].Text(), Language: row[sesLanguage].Text()},
				Started: row[sesStarted].Time(), LastActive: row[sesLast].Time(), Visits: row[sesVisits].Int(), Turns: row[sesTurns].Int(), Version: row[sesVersion].Int()})
		}
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	return all, nil
}

// lookInto reads the session on one snapshot.
func (s *Session) lookInto(ctx context.Context, fn func(*reading, *keptSession) error) error {
	if s.kept.IsNull() {
		return refuse([]complaint{{-1, unknownSession()}})
	}
	err := s.view(ctx, func(read stores.Reader) error {
		r := s.reads(read)
		kept, err := r.session(ctx)
		if err != nil {
			return err
		}
		return fn(r, kept)
	})
	var refusal *Refusal
	if err == nil || errors.As(err, &refusal) {
		return err
	}
	return failure(err)
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
		name = "@" + row.Name
		return err
	})
	if err != nil {
		return "", failure(err)
	}
	return name, nil
}

// active is the key of the row that the person is at work on.
func (r *reading) active(ctx context.Context, e *verbs.Entity) (stores.Value, error) {
	kept, err := r.session(ctx)
	if err != nil {
		return stores.Value{}, err
	}
	if kept != nil {
		v := kept.values[verbs.SessionActive]
		r.sessionSaw(verbs.SessionActive, v)
		if v.Entity == e.Store.Name {
			// What was at work on may be out of scope by now.
			_, err := r.get(ctx, e.Store, v.value())
			if err == nil || !errors.Is(err, stores.ErrNotFound) {
				return v.value(), err
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
	from, secret := st.origin(x, nil)
	p.setting = setting{name: p.effect.Session, value: v, from: from, came: came, secret: secret}
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
		a := setting{name: strings.ReplaceAll(key, "-", "_"), value: v, came: vouched(f[key], came), secret: r.carries(st, v)}
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
		}{{a.entity, a.value}, {r.e.reg.Entity(a.before.Entity), a.before.value()}} {
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
		s := receipt.Setting{Name: a.name, Before: receipt.Of(a.before.value()), After: receipt.Of(a.value), Sensitive: a.secret || a.before.Secret, From: a.from, Origin: a.came.String()}
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
		return refuse([]complaint{{-1, noSession(dsl.Place{Source: r.source}, "what was said")}})
	}
	there := kept.row.Values[sesTurns].Int()
	if o.Turn < 0 || o.Turn > there {
		return refuse([]complaint{{-1, unknownTurn(o.Turn)}})
	}
	o.Turn = personTurn(o.Said, there+1, o.Turn)
	return nil
}

// personTurn picks the turn that a run comes of among those kept with it, the
// first of which has a number: the last of the person; without one the turn that
// was named, or the last of all.
func personTurn(said []Said, first, named int64) int64 {
	for i := range said {
		if said[i].Role == ClientTurn || i == len(said)-1 && named == 0 {
			named = first + int64(i)
		}
	}
	return named
}
