package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"verbatim/stores"
)

// A conversation is kept turn by turn. Turns that led to a run are kept in the transaction of that
// run.

// A Role is the role of a speaker.
type Role string

// The roles.
const (
	Client Role = "CLIENT" // the person
	Agent  Role = "AGENT"  // the model or person who serves them
	System Role = "SYSTEM" // the program: an upload that arrived, a form that was sent
)

// WhyIntent is the intent of a system turn that explains how the answer before it came about. It is
// for people who look into that later, and was not shown in the conversation.
const WhyIntent = "why"

// A Said is something said in a session, to be kept as a turn.
type Said struct {
	Role    Role
	Content string
	// Intent is what the person seems to want, as a word that the dialog chose.
	Intent string
	// Mentions are the things that were spoken of, in the words that were used.
	Mentions []string
	// Names are rows that were spoken of, by their names in this session. Rows that a run reads
	// for its arguments or changes are noted besides.
	Names []string
	// Action says in words what was done; the default is the verbs that were called.
	Action string
	// Puts are the questions that it asks the person, and Settles the previews of the questions
	// that it answers or drops: see Waiting.
	Puts    []Question
	Settles []string
	// Answers is the one of those that must still be waiting: otherwise the turn is refused as
	// already used, with everything that is kept with it. "" is none.
	Answers string
	// Via is the id of the message in the channel that it came by. No two turns of a session have
	// the same one. "" is none.
	Via string
	// Exchange, of a turn that explains an answer, is what a model was told for that answer and
	// what it answered, as JSON without sensitive values; "" if none was asked. Like is the number of
	// the turn of the same session whose exchange holds what both have in common, 0 for none.
	Exchange string
	Like     int64
}

// A Turn is a Said that was kept.
type Turn struct {
	Said
	ID     string // journal entries name it by this
	Number int64  // from 1
	Time   time.Time
	// Entries is the number of journal entries in the transaction that kept the turn, and First the
	// number of the first one.
	Entries, First int64
	// Erased says that its words were erased because a person asked to be forgotten.
	Erased bool
	// Rows are references to the rows that it was about.
	Rows []Row
}

// A Row is a reference to a row.
type Row struct {
	Entity string      `json:"entity"`
	Kind   stores.Kind `json:"kind"`
	Key    string      `json:"key"`
}

// RowOf makes the reference to the row of an entity with a key.
func RowOf(e *stores.Entity, key stores.Value) Row { return Row{e.Name, key.Kind(), key.Text()} }

// Notes are kept with a turn beside its words.
type Notes struct {
	Intent   string   `json:"intent,omitempty"`
	Mentions []string `json:"mentions,omitempty"`
	Rows     []Row    `json:"rows,omitempty"`
	Action   string   `json:"action,omitempty"`
	Exchange string   `json:"exchange,omitempty"`
	Like     int64    `json:"like,omitempty"`
}

// The fields of a turn.
const (
	turnKey = iota // of the session, and the number
	turnSession
	FieldNumber
	turnTime
	turnRole
	turnContent // null once it was erased
	turnAbout   // canonical JSON of Notes; null once it was erased
	turnEntries // number of journal entries of the transaction that kept it
	turnFirst   // the number of the first of them
	turnVia
)

// Turns is the entity of turns.
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
}), []int{turnSession, turnVia}, []int{turnSession, FieldNumber}) // the latter is the index that finds the last turn

// TurnID returns the id of a turn of a session.
func TurnID(session string, number int64) string { return fmt.Sprintf("%s/%d", session, number) }

// MaxTurn is the greatest length of a turn, in bytes.
const MaxTurn = 100_000

// MaxExchange is the greatest length of what is kept of an exchange with a model, in bytes.
const MaxExchange = 400_000

// TooLong reports whether a turn is longer than MaxTurn.
func (s *Said) TooLong() bool {
	long := len(s.Content) + len(s.Intent) + len(s.Action)
	for _, m := range s.Mentions {
		long += len(m)
	}
	return long > MaxTurn || len(s.Exchange) > MaxExchange || len(s.Mentions) > 1000 || len(s.Names) > 1000
}

// IsText reports whether a store can keep all texts of a turn.
func (s *Said) IsText() bool {
	return !slices.ContainsFunc(append([]string{s.Content, s.Intent, s.Action, s.Exchange}, s.Mentions...), func(t string) bool { return !utf8.ValidString(t) || strings.ContainsRune(t, 0) })
}

// SpokenBy returns the number of the turn that led to a run, of those that are kept with it, the
// first of which has the number first: the last turn of the person, or else the named turn, or else
// the last of all.
func SpokenBy(said []Said, first, named int64) int64 {
	for i := range said {
		if said[i].Role == Client || i == len(said)-1 && named == 0 {
			named = first + int64(i)
		}
	}
	return named
}

// Turn makes the change that adds a turn to a session. names are the rows of Names, of are the notes
// of the run that it belongs to, and entries is the number of journal entries of that run.
func (s *Said) Turn(session stores.Value, number int64, names []Row, of Notes, entries int, at time.Time) (c stores.Change, err error) {
	if s.Role != Client && s.Role != Agent && s.Role != System {
		return c, fmt.Errorf("nobody speaks as %q", s.Role)
	}
	n := Notes{Intent: s.Intent, Mentions: s.Mentions, Action: cmp.Or(s.Action, of.Action), Rows: names, Exchange: s.Exchange, Like: s.Like}
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
	t.Intent, t.Mentions, t.Action, t.Rows, t.Exchange, t.Like = n.Intent, n.Mentions, n.Action, n.Rows, n.Exchange, n.Like
	return t, nil
}

// Between reads the turns of a session from one number to another, in order and a page at a time;
// to == 0 means up to the latest.
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

// A Conversed is a message in anybody's conversation, with the turns up to the next message.
type Conversed struct {
	Principal string
	Turns     []Turn
	Like      *Turn // the turn that one of them names so
}

// Message returns the turns from a message of a session to before the next one; stores.ErrNotFound if
// there is no such message.
func Message(ctx context.Context, r stores.Reader, session string, number int64) (c Conversed, err error) {
	row, err := r.Get(ctx, Entity, stores.NewString(session))
	if err != nil {
		return c, err
	}
	const most = 20 // an answer has two turns besides the message
	c.Principal = row.Values[fieldPrincipal].Text()
	all, err := Between(ctx, r, stores.NewString(session), number, number+most)
	if err != nil {
		return c, err
	}
	for i := range all {
		if i == 0 && (all[i].Number != number || all[i].Role != Client) {
			break
		}
		if i > 0 && all[i].Role == Client {
			break
		}
		c.Turns = append(c.Turns, all[i])
		if n := all[i].Like; n > 0 {
			like, err := TurnOf(ctx, r, TurnID(session, n))
			if err != nil && !errors.Is(err, stores.ErrNotFound) {
				return c, err
			}
			if c.Like = &like; err != nil {
				c.Like = nil
			}
		}
	}
	if len(c.Turns) == 0 {
		return c, stores.ErrNotFound
	}
	return c, nil
}

// Messages returns the latest messages of a principal's sessions that were used last, without their
// words.
func Messages(ctx context.Context, r stores.Reader, principal string, most int) (all []Turn, err error) {
	const sessions = 5
	rows, err := r.Find(ctx, stores.Find{Entity: Entity, Where: equals(stores.Path{Field: fieldPrincipal}, stores.NewString(principal)), Limit: sessions, Cut: true,
		Order: []stores.Order{{Path: stores.Path{Field: fieldLast}, Desc: true}}})
	for _, row := range rows {
		if len(all) >= most {
			break
		}
		last := row[fieldTurns].Int()
		said, err := Between(ctx, r, row[fieldKey], max(1, last-3*int64(most)), 0)
		if err != nil {
			return nil, err
		}
		for i := len(said) - 1; i >= 0 && len(all) < most; i-- {
			if t := &said[i]; t.Role == Client {
				all = append(all, Turn{Said: Said{Role: t.Role, Intent: t.Intent}, ID: t.ID, Number: t.Number, Time: t.Time, Entries: t.Entries, First: t.First, Erased: t.Erased})
			}
		}
	}
	return all, err
}

// Latest returns the last turn.
func (s *Session) Latest(ctx context.Context, r stores.Reader) (Turn, error) {
	if s.Turns == 0 {
		return Turn{}, nil
	}
	return TurnOf(ctx, r, TurnID(s.ID, s.Turns))
}

// Via returns the number of the turn that came by a channel under an id; 0 if there is none.
func Via(ctx context.Context, r stores.Reader, session stores.Value, via string) (int64, error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Turns, Limit: 1, Cut: true, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
		*equals(stores.Path{Field: turnSession}, session), *equals(stores.Path{Field: turnVia}, stores.NewString(via))}}})
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	return rows[0][FieldNumber].Int(), nil
}

// TurnOf returns the turn with an id.
func TurnOf(ctx context.Context, r stores.Reader, id string) (Turn, error) {
	row, err := r.Get(ctx, Turns, stores.NewString(id))
	if err != nil {
		return Turn{}, err
	}
	return turnOf(row.Values)
}

// SaidBy finds the turns of a principal's sessions that are not erased, at most n unless n is 0.
func SaidBy(principal string, n int) stores.Find {
	return stores.Find{Entity: Turns, Limit: n, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{*ofPrincipal(Turns, principal),
		{Op: stores.Not, Kids: []stores.Cond{*equals(stores.Path{Field: turnContent}, stores.Value{})}}}}}
}

// Erase makes the change that erases the words of a turn.
func Erase(turn []stores.Value) stores.Change {
	return stores.Change{Op: stores.Update, Entity: Turns, Key: turn[turnKey], Before: turn, Guard: []int{turnContent}, Set: []stores.Assign{{Field: turnContent}, {Field: turnAbout}}}
}
