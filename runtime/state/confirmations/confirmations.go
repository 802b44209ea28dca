// Package confirmations keeps pending confirmations: the script, the person who saw it, its
// preview, the needed agreements, and those given. A confirmation is waiting until it is settled,
// which happens once.
//
//	found, err := confirmations.Find(ctx, tx, map[int]stores.Value{confirmations.FieldStatus: stores.NewString(confirmations.Waiting)})
//	change := found[0].Settle(script, confirmations.Declined, "bob", "not now", now)
//
// The engine decides who may agree, and to what.
package confirmations

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// The states of a confirmation.
const (
	// Waiting says that nothing was decided yet.
	Waiting = "WAITING"
	// Used says that it was agreed to and carried out, once.
	Used = "USED"
	// Declined says that somebody declined it.
	Declined = "DECLINED"
	// Expired says that nobody decided in time, or that its asker withdrew it: then they settled it.
	Expired = "EXPIRED"
	// Stale says that its effects had changed since it was asked for.
	Stale = "STALE"
)

// The fields of a Confirmation, in the order of the entity.
const (
	FieldKey      = iota // unique: see Follows
	FieldID              // shown to people; empty for a preview that is only the asker's
	FieldShort           // the end of the ID, for look-ups
	FieldAsker           // name of a principal
	FieldPerson          // whose login that is
	FieldSession         // of the asker
	FieldSource          // where the script came from
	FieldScript          // canonical text; every value in it while somebody else may agree to it
	FieldOrigins         // of the values in it: see verbs.Literals
	FieldDigest          // of the whole plan, in hex
	FieldPreview         // ID of the preview
	FieldPalette         // digest of the palettes
	FieldRoles           // who must agree; empty for the asker
	FieldAgreed          // parallel to FieldRoles: the principals who agreed, "" for none yet
	FieldRows            // rows that the plan depends on: see the engine
	FieldUnderKey        // RunOptions.Key
	FieldTime
	FieldExpires
	FieldStatus
	FieldSettledBy
	FieldSettledAt
	FieldReason
	FieldReceipt  // the preview shown to the asker, in the kept form
	FieldBefore   // the conversation's position at the time: of the run
	FieldTurn     // id of the turn in which the asker said what led to it
	FieldOccasion // of the question that the asker answered, or was asked: see receipt.Receipt
	FieldAnswers  // of read-only tools, which the preview asked; null once it is settled
)

// Entity is the entity of confirmations.
var Entity = &stores.Entity{
	Name:    "verbatim.confirmation",
	Table:   "verbatim.confirmations",
	Managed: true,
	Place:   "the engine's own",
	Key:     FieldKey,
	Fields: []stores.Field{
		FieldKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		FieldID:        {Name: "id", Column: "id", Kind: stores.String},
		FieldShort:     {Name: "short", Column: "short_id", Kind: stores.String},
		FieldAsker:     {Name: "asker", Column: "asker", Kind: stores.String, Required: true},
		FieldPerson:    {Name: "person", Column: "person", Kind: stores.String, Required: true},
		FieldSession:   {Name: "session", Column: "session", Kind: stores.String, Required: true},
		FieldSource:    {Name: "source", Column: "source", Kind: stores.String, Required: true},
		FieldScript:    {Name: "script", Column: "script", Kind: stores.String, Required: true, Sensitive: true},
		FieldDigest:    {Name: "digest", Column: "digest", Kind: stores.String, Required: true},
		FieldPreview:   {Name: "preview", Column: "preview", Kind: stores.String, Required: true},
		FieldPalette:   {Name: "palette", Column: "palette", Kind: stores.String, Required: true},
		FieldOrigins:   {Name: "origins", Column: "origins", Kind: stores.String},
		FieldRoles:     {Name: "roles", Column: "roles", Kind: stores.JSON, Elem: stores.String, Required: true},
		FieldAgreed:    {Name: "agreed", Column: "agreed", Kind: stores.JSON, Elem: stores.String, Required: true},
		FieldRows:      {Name: "rows", Column: "stands_on", Kind: stores.JSON, Elem: stores.String, Required: true},
		FieldUnderKey:  {Name: "under-key", Column: "under_key", Kind: stores.String},
		FieldTime:      {Name: "time", Column: "asked_at", Kind: stores.Time, Required: true},
		FieldExpires:   {Name: "expires", Column: "expires", Kind: stores.Time, Required: true},
		FieldStatus:    {Name: "status", Column: "status", Kind: stores.String, Required: true, Codes: []string{Waiting, Used, Declined, Expired, Stale}},
		FieldSettledBy: {Name: "settled-by", Column: "settled_by", Kind: stores.String},
		FieldSettledAt: {Name: "settled-at", Column: "settled_at", Kind: stores.Time},
		FieldReason:    {Name: "reason", Column: "reason", Kind: stores.String},
		FieldReceipt:   {Name: "receipt", Column: "receipt", Kind: stores.String, Sensitive: true},
		FieldBefore:    {Name: "before", Column: "before_turn", Kind: stores.Int},
		FieldTurn:      {Name: "turn", Column: "turn", Kind: stores.String},
		FieldOccasion:  {Name: "occasion", Column: "occasion", Kind: stores.String},
		FieldAnswers:   {Name: "answers", Column: "answers", Kind: stores.String, Sensitive: true},
	},
	// Every proposal looks up waiting confirmations, those that an asker proposed or kept, and
	// those with a short id; settled rows stay, and their number only grows.
	Found: [][]int{{FieldStatus, FieldTime}, {FieldAsker, FieldID}, {FieldAsker, FieldDigest}, {FieldShort}},
}

// A Confirmation is one row of confirmations.
type Confirmation struct {
	Row            stores.Row
	Key            stores.Value
	ID             string
	Asker, Person  string
	Session        string
	Source, Script string
	Origins        string
	Digest         string
	Preview        string
	Palette        string
	Roles, Agreed  []string
	Rows           []string
	UnderKey       string
	Before         int64
	Turn           string
	Occasion       string
	Answers        string
	Time, Expires  time.Time
	Status         string
	By, Reason     string
	Receipt        string
	Settled        time.Time
}

// Of reads a row.
func Of(row stores.Row) *Confirmation {
	v := row.Values
	when := func(i int) time.Time {
		if v[i].IsNull() {
			return time.Time{}
		}
		return v[i].Time()
	}
	return &Confirmation{
		Row: row, Before: v[FieldBefore].Int(), Turn: v[FieldTurn].Text(), Occasion: v[FieldOccasion].Text(), Answers: v[FieldAnswers].Text(), Key: v[FieldKey], ID: v[FieldID].Text(), Asker: v[FieldAsker].Text(), Person: v[FieldPerson].Text(), Session: v[FieldSession].Text(),
		Source: v[FieldSource].Text(), Script: v[FieldScript].Text(), Origins: v[FieldOrigins].Text(), Digest: v[FieldDigest].Text(), Preview: v[FieldPreview].Text(),
		Palette: v[FieldPalette].Text(), Roles: Texts(v[FieldRoles]), Agreed: Texts(v[FieldAgreed]), Rows: Texts(v[FieldRows]),
		UnderKey: v[FieldUnderKey].Text(), Time: when(FieldTime), Expires: when(FieldExpires), Status: v[FieldStatus].Text(),
		By: v[FieldSettledBy].Text(), Settled: when(FieldSettledAt), Reason: v[FieldReason].Text(), Receipt: v[FieldReceipt].Text(),
	}
}

// Texts reads a list of texts.
func Texts(list stores.Value) []string {
	items, _ := list.Items(stores.String)
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = item.Text()
	}
	return out
}

// List makes a list of texts.
func List(words []string) stores.Value {
	values := make([]stores.Value, len(words))
	for i, w := range words {
		values[i] = stores.NewString(w)
	}
	return stores.NewList(values...)
}

// Change makes a change of the row that holds only while the row is unchanged.
func (c *Confirmation) Change(set ...stores.Assign) stores.Change {
	return stores.Change{Op: stores.Update, Entity: Entity, Key: c.Key, Set: set, Before: c.Row.Values,
		Guard: []int{FieldDigest, FieldAgreed, FieldExpires, FieldStatus}}
}

// Use makes the change that uses it up for a run under a key, so that the same answer, sent again,
// finds what that run did.
func (c *Confirmation) Use(script, by, key string, now time.Time) stores.Change {
	change := c.Settle(script, Used, by, "", now)
	at := slices.IndexFunc(change.Set, func(a stores.Assign) bool { return a.Field > FieldUnderKey })
	change.Set = slices.Insert(change.Set, at, stores.Assign{Field: FieldUnderKey, Value: stores.NewString(key)})
	return change
}

// Settle makes the change that decides it, which can happen once. What was
// decided needs its secrets no more, so they go with it.
func (c *Confirmation) Settle(script, status, by, reason string, now time.Time) stores.Change {
	set := []stores.Assign{{Field: FieldScript, Value: stores.NewString(script)}}
	if status == Used {
		set = append(set, stores.Assign{Field: FieldAgreed, Value: List(c.Agreed)})
	}
	return c.Change(append(set,
		stores.Assign{Field: FieldStatus, Value: stores.NewString(status)},
		stores.Assign{Field: FieldSettledBy, Value: stores.NewString(by)},
		stores.Assign{Field: FieldSettledAt, Value: stores.NewTime(now)},
		stores.Assign{Field: FieldReason, Value: stores.NewString(reason)},
		stores.Assign{Field: FieldAnswers})...)
}

// Get reads a confirmation; nil if there is none.
func Get(ctx context.Context, r stores.Reader, key stores.Value) (*Confirmation, error) {
	row, err := r.Get(ctx, Entity, key)
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return Of(row), nil
}

// Find reads confirmations whose fields have these values.
func Find(ctx context.Context, r stores.Reader, where map[int]stores.Value) ([]*Confirmation, error) {
	cond := stores.Cond{Op: stores.And}
	for f := range Entity.Fields {
		if v, ok := where[f]; ok {
			cond.Kids = append(cond.Kids, stores.Cond{Op: stores.Eq, Path: stores.Path{Field: f}, Value: v})
		}
	}
	rows, err := r.Find(ctx, stores.Find{Entity: Entity, Where: &cond, Order: []stores.Order{{Path: stores.Path{Field: FieldTime}}}})
	if err != nil {
		return nil, err
	}
	out := make([]*Confirmation, len(rows))
	for i, row := range rows {
		out[i] = Of(stores.Row{Entity: Entity, Values: row})
	}
	return out, nil
}

// A Place is a place in the list of confirmations that wait for others, the oldest first.
type Place struct {
	Time time.Time
	Key  string
}

// Place returns the place of a confirmation.
func (c *Confirmation) Place() Place { return Place{c.Time, c.Key.Text()} }

// String writes a place, for ParsePlace.
func (p Place) String() string { return p.Time.UTC().Format(time.RFC3339Nano) + " " + p.Key }

// ParsePlace reads a place; the beginning is "".
func ParsePlace(text string) (p Place, ok bool) {
	at, key, _ := strings.Cut(text, " ")
	var err error
	p.Key = key
	p.Time, err = time.Parse(time.RFC3339Nano, at)
	return p, err == nil
}

// Waits finds confirmations that wait for others at an instant, behind a place: those that an asker
// proposed, or those of anybody else.
func Waits(ctx context.Context, r stores.Reader, asker string, own bool, now time.Time, after Place, most int) ([]*Confirmation, error) {
	of := stores.Ne
	if own {
		of = stores.Eq
	}
	where := stores.Cond{Op: stores.And, Kids: []stores.Cond{is(stores.Eq, FieldStatus, stores.NewString(Waiting)), is(stores.Ne, FieldID, stores.NewString("")),
		is(of, FieldAsker, stores.NewString(asker)), is(stores.Gt, FieldExpires, stores.NewTime(now))}}
	if after != (Place{}) {
		at := stores.NewTime(after.Time)
		where.Kids = append(where.Kids, is(stores.Ge, FieldTime, at), stores.Cond{Op: stores.Or, Kids: []stores.Cond{is(stores.Gt, FieldTime, at), is(stores.Gt, FieldKey, stores.NewString(after.Key))}})
	}
	return found(ctx, r, where, most, stores.Order{Path: stores.Path{Field: FieldTime}}, stores.Order{Path: stores.Path{Field: FieldKey}})
}

// Undone finds the latest confirmations of an asker that were settled since an instant without being
// used.
func Undone(ctx context.Context, r stores.Reader, asker string, since time.Time, most int) ([]*Confirmation, error) {
	where := stores.Cond{Op: stores.And, Kids: []stores.Cond{is(stores.Eq, FieldAsker, stores.NewString(asker)), is(stores.Ne, FieldID, stores.NewString("")),
		is(stores.In, FieldStatus, stores.NewList(stores.NewString(Declined), stores.NewString(Expired), stores.NewString(Stale))), is(stores.Ge, FieldSettledAt, stores.NewTime(since))}}
	return found(ctx, r, where, most, stores.Order{Path: stores.Path{Field: FieldSettledAt}, Desc: true})
}

func is(op stores.CondOp, field int, v stores.Value) stores.Cond {
	return stores.Cond{Op: op, Path: stores.Path{Field: field}, Value: v}
}

// found finds the first confirmations, in an order.
func found(ctx context.Context, r stores.Reader, where stores.Cond, most int, order ...stores.Order) ([]*Confirmation, error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Entity, Where: &where, Limit: most, Cut: true, Order: order})
	out := make([]*Confirmation, len(rows))
	for i, row := range rows {
		out[i] = Of(stores.Row{Entity: Entity, Values: row})
	}
	return out, err
}

// Ending counts the confirmations that wait for others and expire before an instant, up to most.
func Ending(ctx context.Context, r stores.Reader, before time.Time, most int) (int, error) {
	where := stores.Cond{Op: stores.And, Kids: []stores.Cond{{Op: stores.Eq, Path: stores.Path{Field: FieldStatus}, Value: stores.NewString(Waiting)},
		{Op: stores.Ne, Path: stores.Path{Field: FieldID}, Value: stores.NewString("")}, {Op: stores.Lt, Path: stores.Path{Field: FieldExpires}, Value: stores.NewTime(before)}}}
	rows, err := r.Find(ctx, stores.Find{Entity: Entity, Select: []stores.Path{{Field: FieldKey}}, Where: &where, Limit: most, Cut: true})
	return len(rows), err
}

// MakeKey makes the key of a confirmation from its content and from the confirmations found before
// it. Two askers at once, who both find none, make the same key: see asConflict.
func (c *Confirmation) MakeKey(before []*Confirmation) stores.Value {
	var d digest.Writer
	d.Text("verbatim confirmation 1")
	d.Text(c.Asker)
	d.Text(c.Digest)
	d.Number(len(c.Roles)) // a preview that is only the asker's needs no agreement
	for _, b := range before {
		d.Text(b.Key.Text())
	}
	return stores.NewString(d.Hex())
}

// Insert makes the change that adds it.
func (c *Confirmation) Insert() stores.Change {
	id, short := stores.Value{}, stores.Value{}
	if c.ID != "" {
		id, short = stores.NewString(c.ID), stores.NewString(receipt.Short(c.ID))
	}
	return stores.Change{Op: stores.Insert, Entity: Entity, Key: c.Key, Set: []stores.Assign{
		{Field: FieldID, Value: id}, {Field: FieldShort, Value: short}, {Field: FieldAsker, Value: stores.NewString(c.Asker)}, {Field: FieldPerson, Value: stores.NewString(c.Person)}, {Field: FieldSession, Value: stores.NewString(c.Session)},
		{Field: FieldSource, Value: stores.NewString(c.Source)}, {Field: FieldScript, Value: stores.NewString(c.Script)}, {Field: FieldOrigins, Value: stores.NewString(c.Origins)},
		{Field: FieldDigest, Value: stores.NewString(c.Digest)}, {Field: FieldPreview, Value: stores.NewString(c.Preview)},
		{Field: FieldPalette, Value: stores.NewString(c.Palette)}, {Field: FieldRoles, Value: List(c.Roles)}, {Field: FieldAgreed, Value: List(c.Agreed)},
		{Field: FieldRows, Value: List(c.Rows)}, {Field: FieldUnderKey, Value: stores.NewString(c.UnderKey)}, {Field: FieldTime, Value: stores.NewTime(c.Time)},
		{Field: FieldExpires, Value: stores.NewTime(c.Expires)}, {Field: FieldStatus, Value: stores.NewString(c.Status)}, {Field: FieldReceipt, Value: stores.NewString(c.Receipt)}, {Field: FieldBefore, Value: stores.NewInt(c.Before)}, {Field: FieldTurn, Value: stores.NewString(c.Turn)},
		{Field: FieldOccasion, Value: stores.NewString(c.Occasion)}, {Field: FieldAnswers, Value: stores.NewString(c.Answers)},
	}}
}

// Differences returns the differences of the present effects to those at the time of asking.
func (c *Confirmation) Differences(now *receipt.Receipt) []string {
	was, err := receipt.ParseKept(c.Receipt)
	if err != nil {
		return nil
	}
	return receipt.Moved(was, now)
}

// ByAsker stands, among the required roles, for the asker: they were not present when a job of
// theirs had to ask.
const ByAsker = ""

// IsAsker reports whether a principal is the person who asked, with any of their logins.
func (c *Confirmation) IsAsker(who *stores.Principal) bool {
	return c.Asker == who.Name || c.Person == who.Whose()
}

// MayDecide reports whether a principal may decide, and need not leave it to others.
func (c *Confirmation) MayDecide(who *stores.Principal) bool {
	return !c.IsAsker(who) || slices.Contains(c.Roles, ByAsker)
}

// MayAgree reports whether a principal with some roles may agree for one of the required roles.
// Nobody agrees for a role to their own request.
func (c *Confirmation) MayAgree(who *stores.Principal, has func(role string) bool, role string) bool {
	if role == ByAsker {
		return c.Asker == who.Name
	}
	return !c.IsAsker(who) && has(role)
}
