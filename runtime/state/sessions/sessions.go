// Package sessions keeps what belongs to a named session: the values that effects have set, the
// turns, the waiting questions, and the counters that its principal's processes share. Readers and
// transactions come from the engine, which decides who may read, and which commits the changes.
//
//	kept, err := sessions.Get(ctx, tx, sessions.Key("ada", "onboarding"))
//	kept.Set("active", sessions.Value{Kind: stores.String, Text: "k-1", Entity: "request"})
//	change, err := kept.Keep(len(said), now)
//
// The words of a conversation are in its turns and questions and nowhere else: the values of a
// session and the notes beside a turn are references.
package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/stores"
)

// The fields of a session.
const (
	fieldKey = iota // see Key
	fieldPrincipal
	fieldName
	fieldZone     // as the person said, or ""
	fieldLanguage // as the person said, or ""
	FieldValues   // canonical JSON of Session.Values
	fieldStarted
	fieldLast   // when it was last opened or changed
	fieldVisits // how often the person came back to it
	fieldTurns  // number of turns, which is the number of the latest
	fieldVersion
)

// Entity is the entity of sessions. A session belongs to the principal who opened it, and so do the
// rows of its turns and questions.
var Entity = own("session", "sessions", []stores.Step{{Field: fieldPrincipal}}, []stores.Field{
	fieldKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
	fieldPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
	fieldName:      {Name: "name", Column: "name", Kind: stores.String, Required: true},
	fieldZone:      {Name: "zone", Column: "zone", Kind: stores.String},
	fieldLanguage:  {Name: "language", Column: "language", Kind: stores.String},
	FieldValues:    {Name: "values", Column: "set_values", Kind: stores.JSON, Required: true, Sensitive: true, Personal: true},
	fieldStarted:   {Name: "started", Column: "started", Kind: stores.Time, Required: true},
	fieldLast:      {Name: "last", Column: "last_active", Kind: stores.Time, Required: true},
	fieldVisits:    {Name: "visits", Column: "visits", Kind: stores.Int, Required: true},
	fieldTurns:     {Name: "turns", Column: "turns", Kind: stores.Int, Required: true},
	fieldVersion:   {Name: "version", Column: "version", Kind: stores.Int, Required: true},
})

// own makes an entity whose rows belong to a principal. The first field is the key.
func own(name, table string, scope []stores.Step, fields []stores.Field) *stores.Entity {
	return &stores.Entity{Name: "verbatim." + name, Table: "verbatim." + table, Managed: true, Place: "the engine's own", Access: stores.ByPrincipal, Scope: scope, Fields: fields}
}

// unique declares sets of fields that are unique together.
func unique(e *stores.Entity, sets ...[]int) *stores.Entity {
	e.Unique = sets
	return e
}

// change makes the change from an old row to a new one; a nil old row means an insert.
func change(e *stores.Entity, old, row []stores.Value, guard ...int) stores.Change {
	c := stores.Change{Op: stores.Insert, Entity: e, Key: row[e.Key]}
	if old != nil {
		c.Op, c.Before, c.Guard = stores.Update, old, guard
	}
	for f, v := range row {
		if f != e.Key && (old == nil && !v.IsNull() || old != nil && (v != old[f] || f == guard[0])) {
			c.Set = append(c.Set, stores.Assign{Field: f, Value: v})
		}
	}
	return c
}

// keyPrefix begins the ids of kept sessions; those of other sessions begin otherwise.
const keyPrefix = "s-"

// Key returns the key of the session that a principal calls by a name. No other principal's name
// leads to the same row.
func Key(principal, name string) stores.Value {
	return stores.NewString(keyPrefix + digest.Of("verbatim session 1", principal, name)[:32])
}

// KeyOf returns the key of the session with an id; null if that session is not kept.
func KeyOf(id string) stores.Value {
	if !strings.HasPrefix(id, keyPrefix) {
		return stores.Value{}
	}
	return stores.NewString(id)
}

// visitGap is how long a person has to be away for the next use to count as a new visit.
const visitGap = 30 * time.Minute

// An Info describes a session, without its values and turns.
type Info struct {
	ID, Name       string
	Zone, Language string // as the person said, or ""
	Started        time.Time
	LastActive     time.Time
	Visits, Turns  int64
	Version        int64 // counts what was done, set and said in it
}

func infoOf(row []stores.Value) Info {
	return Info{ID: row[fieldKey].Text(), Name: row[fieldName].Text(), Zone: row[fieldZone].Text(), Language: row[fieldLanguage].Text(), Started: row[fieldStarted].Time(),
		LastActive: row[fieldLast].Time(), Visits: row[fieldVisits].Int(), Turns: row[fieldTurns].Int(), Version: row[fieldVersion].Int()}
}

// A Session is an Info with the values that effects have set.
type Session struct {
	Info
	Values  map[string]Value
	Changed bool // by Set
	row     []stores.Value
	fresh   bool // it is not stored yet
}

func of(row []stores.Value) (*Session, error) {
	s := &Session{Info: infoOf(row), Values: map[string]Value{}, row: row}
	if err := json.Unmarshal([]byte(row[FieldValues].Text()), &s.Values); err != nil {
		return nil, fmt.Errorf("what a session keeps cannot be read: %w", err)
	}
	return s, nil
}

// get reads a row; nil if there is none.
func get(ctx context.Context, r stores.Reader, e *stores.Entity, key stores.Value) ([]stores.Value, error) {
	row, err := r.Get(ctx, e, key)
	if errors.Is(err, stores.ErrNotFound) {
		return nil, nil
	}
	return row.Values, err
}

// Get reads a session; nil if there is none.
func Get(ctx context.Context, r stores.Reader, key stores.Value) (*Session, error) {
	row, err := get(ctx, r, Entity, key)
	if err != nil || row == nil {
		return nil, err
	}
	return of(row)
}

// List reads the sessions in scope, the most recently active first.
func List(ctx context.Context, r stores.Reader) (all []Info, err error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Entity, Order: []stores.Order{{Path: stores.Path{Field: fieldLast}, Desc: true}}})
	for _, row := range rows {
		all = append(all, infoOf(row))
	}
	return all, err
}

// Begin makes a new session of a principal. Visit makes the change that stores it.
func Begin(key stores.Value, principal, name string, now time.Time) *Session {
	at := stores.NewTime(now)
	row := []stores.Value{fieldKey: key, fieldPrincipal: stores.NewString(principal), fieldName: stores.NewString(name), FieldValues: stores.NewObject(nil, nil),
		fieldStarted: at, fieldLast: at, fieldVisits: stores.NewInt(1), fieldTurns: stores.NewInt(0), fieldVersion: stores.NewInt(1)}
	return &Session{Info: infoOf(row), Values: map[string]Value{}, row: row, fresh: true}
}

// Visit notes that the person opened the session, and counts a visit if they had been away. An empty
// zone or language leaves the old one.
func (s *Session) Visit(zone, language string, now time.Time) stores.Change {
	row := slices.Clone(s.row)
	row[fieldLast] = s.last(now)
	if now.Sub(s.LastActive) >= visitGap {
		row[fieldVisits] = stores.NewInt(s.Visits + 1)
	}
	if zone != "" {
		s.Zone, row[fieldZone] = zone, stores.NewString(zone)
	}
	if language != "" {
		s.Language, row[fieldLanguage] = language, stores.NewString(language)
	}
	if s.fresh {
		return change(Entity, nil, row)
	}
	return change(Entity, s.row, row, fieldLast, fieldVisits, fieldVersion)
}

// last returns the time of the last activity, at least now; it never goes back, since the clocks of
// processes differ.
func (s *Session) last(now time.Time) stores.Value {
	if now.After(s.LastActive) {
		return stores.NewTime(now)
	}
	return s.row[fieldLast]
}

// A Value is a named value in its stored form.
type Value struct {
	Kind      stores.Kind `json:"kind"`
	Text      string      `json:"text"`
	Entity    string      `json:"entity,omitempty"` // of a reference
	Origin    string      `json:"origin,omitempty"`
	Sensitive bool        `json:"secret,omitempty"`
}

// Value returns the value; null if it cannot be read.
func (v Value) Value() stores.Value {
	value, ok := stores.Parse(v.Kind, v.Text)
	if !ok {
		return stores.Value{}
	}
	return value
}

// Set stores a value under a name in the session; null removes the name. It reports whether that
// changes anything.
func (s *Session) Set(name string, v Value) bool {
	before := s.Values[name]
	switch {
	case v == before || v.Kind == stores.Null && before == (Value{}):
		return false
	case v.Kind == stores.Null:
		delete(s.Values, name)
	default:
		s.Values[name] = v
	}
	s.Changed = true
	return true
}

// maxSize is the greatest size in bytes of a session's values, which are references and marks, not
// documents.
const maxSize = 64 << 10

// TooLarge reports whether a session's values exceed maxSize.
func (s *Session) TooLarge() bool {
	text, err := json.Marshal(s.Values)
	return err != nil || len(text) > maxSize
}

// Keep makes the change that stores the set values and the number of added turns.
func (s *Session) Keep(turns int, now time.Time) (c stores.Change, err error) {
	row := slices.Clone(s.row)
	row[fieldLast], row[fieldTurns], row[fieldVersion] = s.last(now), stores.NewInt(s.Turns+int64(turns)), stores.NewInt(s.Version+1)
	if s.Changed {
		row[FieldValues], err = asJSON(s.Values)
	}
	return change(Entity, s.row, row, fieldVersion, FieldValues, fieldTurns), err
}

func asJSON(v any) (stores.Value, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return stores.Value{}, err
	}
	return stores.ParseJSON(string(text))
}

// Deleting

// ForgetValues makes the changes that remove texts from the values of a principal's sessions:
// references and plain marks stay.
func ForgetValues(ctx context.Context, r stores.Reader, principal string) (all []stores.Change, err error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Entity, Where: equals(stores.Path{Field: fieldPrincipal}, stores.NewString(principal))})
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		s, err := of(row)
		if err != nil {
			return nil, err
		}
		for name, v := range s.Values {
			if v.Entity == "" && (v.Sensitive || v.Kind != stores.Bool && v.Kind != stores.Int) {
				s.Set(name, Value{})
			}
		}
		if !s.Changed {
			continue
		}
		c, err := s.Keep(0, s.LastActive)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// LeftBefore finds the sessions that nobody has used since a time, a few at once.
func LeftBefore(t time.Time) stores.Find {
	where := before(fieldLast, t)
	return stores.Find{Entity: Entity, Where: &where, Limit: 20}
}

// Delete makes the changes that delete sessions with their turns and questions. A session that is
// used meanwhile stays whole.
func Delete(ctx context.Context, r stores.Reader, rows [][]stores.Value) (all []stores.Change, err error) {
	for _, row := range rows {
		for _, part := range []*stores.Entity{Turns, Questions} {
			found, err := r.Find(ctx, stores.Find{Entity: part, Select: []stores.Path{{Field: part.Key}}, Where: equals(stores.Path{Field: part.Scope[0].Field}, row[fieldKey])})
			if err != nil {
				return nil, err
			}
			for _, one := range found {
				all = append(all, stores.Change{Op: stores.Delete, Entity: part, Key: one[0]})
			}
		}
		all = append(all, stores.Change{Op: stores.Delete, Entity: Entity, Key: row[fieldKey], Before: row, Guard: []int{fieldLast, fieldVersion}})
	}
	return all, nil
}

func equals(path stores.Path, v stores.Value) *stores.Cond {
	return &stores.Cond{Op: stores.Eq, Path: path, Value: v}
}

func before(field int, t time.Time) stores.Cond {
	return stores.Cond{Op: stores.Lt, Path: stores.Path{Field: field}, Value: stores.NewTime(t)}
}
