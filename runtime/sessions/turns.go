package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/stores"
)

// What is said in a session is kept turn by turn, in the transaction of what it led to
// where it led to anything.

// A Role says who speaks.
type Role string

// Who speaks in a conversation.
const (
	Client Role = "CLIENT" // the person
	Agent  Role = "AGENT"  // whoever serves them, a model or a person
	System Role = "SYSTEM" // the program: an upload that arrived, a form that was sent
)

// WhyIntent is the intent of a system's turn that tells how the answer before it
// came about: it is there for whoever looks into that, and was said to nobody.
const WhyIntent = "why"

// A Said is something that is said in a session.
type Said struct {
	Role    Role
	Content string
	// Intent is what the person seems to want, in a word of whoever found out.
	Intent string
	// Mentions are the things that were spoken of, as they were called.
	Mentions []string
	// Names are rows that were spoken of, by their names in this session. Those
	// that a run reads for its arguments or changes are noted besides.
	Names []string
	// Action is what was done about it, in words; without it, the verbs that
	// were called.
	Action string
	// Puts are the questions that it puts to the person, and Settles the previews
	// of those that it answers or drops: see Waiting.
	Puts    []Question
	Settles []string
	// Answers is the one among those that nobody else may have settled before: it is
	// refused as used otherwise, with all that is kept with it. "" is none.
	Answers string
	// Via is what the message is called in the channel that it came by. No two turns of a
	// session have the same one. "" is none.
	Via string
}

// A Turn is a Said as it is kept.
type Turn struct {
	Said
	ID     string // as journal entries name it
	Number int64  // from 1
	Time   time.Time
	// Entries and First say which journal entries the turn was kept with: how
	// many, and the number of the first.
	Entries, First int64
	// Erased says that its words were taken out, because a person asked to be
	// forgotten.
	Erased bool
	// Rows are those that it was about, as they are kept.
	Rows []Row
}

// A Row is a pointer to one.
type Row struct {
	Entity string      `json:"entity"`
	Kind   stores.Kind `json:"kind"`
	Key    string      `json:"key"`
}

// RowOf points to the row of an entity that has a key.
func RowOf(e *stores.Entity, key stores.Value) Row { return Row{e.Name, key.Kind(), key.Text()} }

// Notes is what is kept about a turn beside its words.
type Notes struct {
	Intent   string   `json:"intent,omitempty"`
	Mentions []string `json:"mentions,omitempty"`
	Rows     []Row    `json:"rows,omitempty"`
	Action   string   `json:"action,omitempty"`
}

// The fields of a turn.
const (
	turnKey = iota // of the session, and the number
	turnSession
	FieldNumber
	turnTime
	turnRole
	turnContent // nothing once it was erased
	turnAbout   // canonical JSON of Notes; nothing once it was erased
	turnEntries // how many journal entries the transaction has that it came with
	turnFirst   // the number of the first of them
	turnVia
)

// Turns is what a turn is to a store.
var Turns = unique(own("turn", "turns", []stores.Step{{Field: turnSession, To: Entity}, {Field: fieldPrincipal}}, []stores.Field{
	turnKey:     {Name: "key", Column: "key", Kind: stores.String, Required: true},
	turnSession: {Name: "session", Column: "session", Kind: stores.String, Ref: Entity, Required: true},
	FieldNumber: {Name: "number", Column: "number", Kind: stores.Int, Required: true},
	turnTime:    {Name: "time", Column: "said_at", Kind: stores.Time, Required: true},
	turnRole:    {Name: "role", Column: "role", Kind: stores.String, Required: true, Codes: []string{string(Client), string(Agent), string(System)}},
	turnContent: {Name: "content", Column: "content", Kind: stores.String, Sensitive: true, Personal: true},
	turnAbout:   {Name: "about", Column: "about", Kind: stores.JSON, Sensitive: true, Personal: true},
	turnEntries: {Name: "entries", Column: "entries", Kind: stores.Int, Required: true},
	turnFirst:   {Name: "first", Column: "first_entry", Kind: stores.Int},
	turnVia:     {Name: "via", Column: "via", Kind: stores.String},
}), []int{turnSession, turnVia}, []int{turnSession, FieldNumber}) // the latter finds the last of many

// TurnID is the id of a turn of a session.
func TurnID(session string, number int64) string { return fmt.Sprintf("%s/%d", session, number) }

// MaxTurn is how long a turn may be, in bytes.
const MaxTurn = 100_000

// TooLong reports whether a turn is longer than it may be.
func (s *Said) TooLong() bool {
	long := len(s.Content) + len(s.Intent) + len(s.Action)
	for _, m := range s.Mentions {
		long += len(m)
	}
	return long > MaxTurn || len(s.Mentions) > 1000 || len(s.Names) > 1000
}

// IsText reports whether a store can keep all of a turn as text.
func (s *Said) IsText() bool {
	return !slices.ContainsFunc(append([]string{s.Content, s.Intent, s.Action}, s.Mentions...), func(t string) bool { return !utf8.ValidString(t) || strings.ContainsRune(t, 0) })
}

// SpokenBy picks the turn that a run comes of among those kept with it, the first of
// which has a number: the last of the person; without one the turn that was named, or
// the last of all.
func SpokenBy(said []Said, first, named int64) int64 {
	for i := range said {
		if said[i].Role == Client || i == len(said)-1 && named == 0 {
			named = first + int64(i)
		}
	}
	return named
}

// Turn adds a turn to a session. names are the rows that Names stand for, of is what
// the run was about that it came with, and entries how many journal entries that has.
func (s *Said) Turn(session stores.Value, number int64, names []Row, of Notes, entries int, at time.Time) (c stores.Change, err error) {
	if s.Role != Client && s.Role != Agent && s.Role != System {
		return c, fmt.Errorf("nobody speaks as %q", s.Role)
	}
	n := Notes{Intent: s.Intent, Mentions: s.Mentions, Action: cmp.Or(s.Action, of.Action), Rows: names}
	for _, row := range of.Rows {
		if !slices.Contains(n.Rows, row) {
			n.Rows = append(n.Rows, row)
		}
	}
	about, err := asJSON(n)
	c = change(Turns, nil, []stores.Value{turnKey: stores.NewString(TurnID(session.Text(), number)), turnSession: session, FieldNumber: stores.NewInt(number), turnTime: stores.NewTime(at),
		turnRole: stores.NewString(string(s.Role)), turnContent: stores.NewString(s.Content), turnAbout: about, turnEntries: stores.NewInt(int64(entries)), turnVia: stores.Value{}})
	if entries > 0 {
		c.Number = turnFirst
	}
	if s.Via != "" {
		c.Set = append(c.Set, stores.Assign{Field: turnVia, Value: stores.NewString(s.Via)})
	}
	return c, err
}

func turnOf(row []stores.Value) (Turn, error) {
	t := Turn{ID: row[turnKey].Text(), Number: row[FieldNumber].Int(), Time: row[turnTime].Time(), Entries: row[turnEntries].Int(), Erased: row[turnContent].IsNull()}
	t.Role, t.Content, t.First, t.Via = Role(row[turnRole].Text()), row[turnContent].Text(), row[turnFirst].Int(), row[turnVia].Text()
	var n Notes
	if !row[turnAbout].IsNull() {
		if err := json.Unmarshal([]byte(row[turnAbout].Text()), &n); err != nil {
			return t, fmt.Errorf("the notes beside a turn cannot be read: %w", err)
		}
	}
	t.Intent, t.Mentions, t.Action, t.Rows = n.Intent, n.Mentions, n.Action, n.Rows
	return t, nil
}

// Between reads the turns of a session from one number to another, in their order, a
// page at a time; to == 0 is the latest.
func Between(ctx context.Context, r stores.Reader, session stores.Value, from, to int64) (all []Turn, err error) {
	const page = 200
	for {
		rows, err := r.Find(ctx, stores.Find{Entity: Turns, Limit: page, Cut: true, Order: []stores.Order{{Path: stores.Path{Field: FieldNumber}}},
			Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{*equals(stores.Path{Field: turnSession}, session),
				{Op: stores.Ge, Path: stores.Path{Field: FieldNumber}, Value: stores.NewInt(from)}}}})
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if from = row[FieldNumber].Int() + 1; to != 0 && from > to+1 {
				return all, nil
			}
			t, err := turnOf(row)
			if err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		if len(rows) < page {
			return all, nil
		}
	}
}

// Latest is the turn that was kept last.
func (s *Session) Latest(ctx context.Context, r stores.Reader) (Turn, error) {
	if s.Turns == 0 {
		return Turn{}, nil
	}
	return TurnOf(ctx, r, TurnID(s.ID, s.Turns))
}

// Via is the number of the turn that came by a channel under a name; 0 where there is none.
func Via(ctx context.Context, r stores.Reader, session stores.Value, via string) (int64, error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Turns, Limit: 1, Cut: true, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
		*equals(stores.Path{Field: turnSession}, session), *equals(stores.Path{Field: turnVia}, stores.NewString(via))}}})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0][FieldNumber].Int(), nil
}

// TurnOf is the turn with an id.
func TurnOf(ctx context.Context, r stores.Reader, id string) (Turn, error) {
	row, err := r.Get(ctx, Turns, stores.NewString(id))
	if err != nil {
		return Turn{}, err
	}
	return turnOf(row.Values)
}

// SaidBy finds the turns of a principal's sessions whose words are kept, at most n
// unless it is 0.
func SaidBy(principal string, n int) stores.Find {
	return stores.Find{Entity: Turns, Limit: n, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{*ofPrincipal(Turns, principal),
		{Op: stores.Not, Kids: []stores.Cond{*equals(stores.Path{Field: turnContent}, stores.Value{})}}}}}
}

// Erase takes the words out of a turn.
func Erase(turn []stores.Value) stores.Change {
	return stores.Change{Op: stores.Update, Entity: Turns, Key: turn[turnKey], Before: turn, Guard: []int{turnContent}, Set: []stores.Assign{{Field: turnContent}, {Field: turnAbout}}}
}
