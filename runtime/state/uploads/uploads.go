// Package uploads keeps the records of files that people send: their owner, their type by their
// first bytes, the verdict of the scan, and their expiry. Other packages keep the bytes; here are
// rows.
//
// An upload is pending until a scanner has judged it. It expires unless a call uses it. Equal bytes
// are kept once: bytes without a reference are marked as going, deleted, and then forgotten.
//
//	shelf := engine.Uploads()
//	list, err := shelf.Unjudged(ctx, before, "", 100, scanner)
//	upload, err := shelf.Judge(ctx, list[0].ID, uploads.Clean, scanner)
package uploads

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// The verdicts on an upload.
const (
	// Pending says that it has not been scanned yet.
	Pending = "PENDING"
	// Clean says that nothing harmful was found in it.
	Clean = "CLEAN"
	// Infected says that something harmful was. Its bytes are not kept.
	Infected = "INFECTED"
	// Failed says that it could not be looked at. It is tried again.
	Failed = "FAILED"
)

// ScannedByNobody is the scanner that scans nothing. Its verdict Clean counts as long as no other
// scanner is set; see Options.Scanner.
const ScannedByNobody = "none"

// Unused is how long an upload is kept that nothing uses.
const Unused = 7 * 24 * time.Hour

// NotScanned is the verdict that is told where nobody looked for harm. It is not kept: such a file is
// Clean by the scanner that scans nothing.
const NotScanned = "NOT_SCANNED"

// Told is the verdict as people and programs are told it.
func (u *Upload) Told() string {
	if u.Verdict == Clean && u.Scanner == ScannedByNobody {
		return NotScanned
	}
	return u.Verdict
}

// An Upload is the record of a file that somebody sent.
type Upload struct {
	ID       string
	Owner    string // name of a principal
	Name     string // the owner's name for it, made harmless
	Type     string // "application/pdf", determined from its content
	Size     int64
	Sum      string // SHA-256, in hexadecimal
	Verdict  string
	Scanner  string // the scanner that judged it; "" if none has
	Uploaded time.Time
	Expires  time.Time // zero once it is used
	UsedBy   string    // the verb of the first call that used it; "" while none has
	UsedAt   time.Time
	// Rows are the rows that calls have put its reference into.
	Rows []Place
	// MadeBy is the verb that made it, "" if it was sent; it is in the journal.
	MadeBy string
	// Kept distinguishes its bytes from earlier equal ones; "" if they are not kept.
	Kept string
}

// A Place is a row that names a file.
type Place struct{ Entity, Key string }

// Reference returns its name in calls.
func (u *Upload) Reference() string { return verbs.UploadScheme + u.ID }

// The fields of Contents.
const (
	contentSum   = iota // SHA-256, in hexadecimal
	contentTag          // see Upload.Kept
	contentSize         // in bytes
	contentState        // held, or going
)

// The states of bytes. Held bytes may be referred to. Going bytes are being deleted; if the same
// bytes are sent again, they are held anew, under another tag.
const (
	held  = "HELD"
	going = "GOING"
)

// Contents is the entity of the bytes of uploads. Equal bytes are kept once, for all senders.
var Contents = &stores.Entity{
	Name:    "verbatim.content",
	Table:   "verbatim.contents",
	Managed: true,
	Place:   "the engine's own",
	Key:     contentSum,
	Fields: []stores.Field{
		contentSum:   {Name: "sum", Column: "sum", Kind: stores.String, Required: true},
		contentTag:   {Name: "tag", Column: "tag", Kind: stores.String, Required: true},
		contentSize:  {Name: "size", Column: "size", Kind: stores.Int, Required: true},
		contentState: {Name: "state", Column: "state", Kind: stores.String, Required: true, Codes: []string{held, going}},
	},
}

// The fields of an upload.
const (
	fieldID = iota
	fieldOwner
	fieldName
	fieldType
	fieldSize
	fieldSum
	fieldContent // whose bytes are kept; null when they are not
	fieldVerdict
	fieldScanner
	fieldTime
	fieldExpires // null once it is used
	fieldUsedBy
	fieldUsedAt
	fieldRows // entities, each followed by a key
)

// Entity is the entity of uploads.
var Entity = &stores.Entity{
	Name:    "verbatim.upload",
	Table:   "verbatim.uploads",
	Managed: true,
	Place:   "the engine's own",
	Key:     fieldID,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: fieldOwner}},
	Fields: []stores.Field{
		fieldID:      {Name: "id", Column: "id", Kind: stores.String, Required: true},
		fieldOwner:   {Name: "owner", Column: "owner", Kind: stores.String, Required: true},
		fieldName:    {Name: "name", Column: "name", Kind: stores.String, Required: true, Personal: true},
		fieldType:    {Name: "type", Column: "media_type", Kind: stores.String, Required: true},
		fieldSize:    {Name: "size", Column: "size", Kind: stores.Int, Required: true},
		fieldSum:     {Name: "sum", Column: "sum", Kind: stores.String, Required: true},
		fieldContent: {Name: "content", Column: "content", Kind: stores.String, Ref: Contents},
		fieldVerdict: {Name: "verdict", Column: "verdict", Kind: stores.String, Required: true, Codes: []string{Pending, Clean, Infected, Failed}},
		fieldScanner: {Name: "scanner", Column: "scanner", Kind: stores.String},
		fieldTime:    {Name: "time", Column: "uploaded_at", Kind: stores.Time, Required: true},
		fieldExpires: {Name: "expires", Column: "expires", Kind: stores.Time},
		fieldUsedBy:  {Name: "used-by", Column: "used_by", Kind: stores.String},
		fieldUsedAt:  {Name: "used-at", Column: "used_at", Kind: stores.Time},
		fieldRows:    {Name: "rows", Column: "named_by", Kind: stores.JSON, Elem: stores.String},
	},
}

// Of reads a row.
func Of(v []stores.Value) Upload {
	at := func(f int) time.Time {
		if v[f].IsNull() {
			return time.Time{}
		}
		return v[f].Time()
	}
	u := Upload{ID: v[fieldID].Text(), Owner: v[fieldOwner].Text(), Name: v[fieldName].Text(), Type: v[fieldType].Text(), Size: v[fieldSize].Int(), Sum: v[fieldSum].Text(),
		Verdict: v[fieldVerdict].Text(), Scanner: v[fieldScanner].Text(), Uploaded: at(fieldTime), Expires: at(fieldExpires), UsedBy: v[fieldUsedBy].Text(), UsedAt: at(fieldUsedAt)}
	rows, _ := v[fieldRows].Items(stores.String)
	for i := 0; i+1 < len(rows); i += 2 {
		u.Rows = append(u.Rows, Place{rows[i].Text(), rows[i+1].Text()})
	}
	return u
}

// Gone reports whether an upload has expired: only one that was never used can.
func (u *Upload) Gone(now time.Time) bool {
	return u.UsedAt.IsZero() && !u.Expires.IsZero() && !u.Expires.After(now)
}

// FileOf returns the facts about an upload for a person.
func FileOf(u *Upload) receipt.File {
	return receipt.File{Name: u.Name, Type: u.Type, Size: u.Size, Says: verbs.TypeText(u.Type) + ", " + verbs.SizeText(u.Size)}
}

// A Shelf looks after uploads in a store. It is safe for use by many goroutines and
// processes at once.
type Shelf struct {
	Clock func() time.Time
	// View and Write read and change rows in an unrestricted scope; Write retries after a conflict
	// with another transaction.
	View  func(ctx context.Context, fn func(stores.Reader) error) error
	Write func(ctx context.Context, fn func(stores.Tx) error) error
	// Prune deletes the rows that match a condition, and returns their number.
	Prune func(ctx context.Context, of *stores.Entity, where stores.Cond) (int, error)
}

// Begin adds an upload in a transaction, with an entry of the journal. Where its bytes
// are just being deleted, under another tag than dropped, it changes nothing and says
// which they are: they have to be deleted first.
func Begin(ctx context.Context, tx stores.Tx, u *Upload, tag, dropped string, entry stores.Entry) (being *Upload, err error) {
	key := stores.NewString(u.Sum)
	b := stores.Batch{Entries: []stores.Entry{entry}}
	row, err := tx.Get(ctx, Contents, key)
	switch {
	case errors.Is(err, stores.ErrNotFound):
		u.Kept = tag
		b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: Contents, Key: key, Set: []stores.Assign{
			{Field: contentTag, Value: stores.NewString(tag)}, {Field: contentSize, Value: stores.NewInt(u.Size)}, {Field: contentState, Value: stores.NewString(held)}}})
	case err != nil:
		return nil, err
	case row.Values[contentState].Text() == held:
		u.Kept = row.Values[contentTag].Text()
	case row.Values[contentTag].Text() != dropped:
		return &Upload{Sum: u.Sum, Size: u.Size, Kept: row.Values[contentTag].Text()}, nil
	default:
		u.Kept = tag
		b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: Contents, Key: key, Before: row.Values, Guard: []int{contentTag, contentState}, Set: []stores.Assign{
			{Field: contentTag, Value: stores.NewString(tag)}, {Field: contentState, Value: stores.NewString(held)}}})
	}
	b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: Entity, Key: stores.NewString(u.ID), Set: []stores.Assign{
		{Field: fieldOwner, Value: stores.NewString(u.Owner)}, {Field: fieldName, Value: stores.NewString(u.Name)}, {Field: fieldType, Value: stores.NewString(u.Type)},
		{Field: fieldSize, Value: stores.NewInt(u.Size)}, {Field: fieldSum, Value: key}, {Field: fieldContent, Value: key}, {Field: fieldVerdict, Value: stores.NewString(u.Verdict)},
		{Field: fieldTime, Value: stores.NewTime(u.Uploaded)}, {Field: fieldExpires, Value: stores.NewTime(u.Expires)}}})
	if err := tx.Apply(ctx, b); errors.Is(err, stores.ErrDuplicate) {
		return nil, fmt.Errorf("the same bytes came twice at once: %w", stores.ErrConflict)
	} else if err != nil {
		return nil, err
	}
	return nil, nil
}

// Use makes an upload kept for good, in the transaction of the verb that uses it, and notes the row that
// the verb puts its reference into: e is nil if there is none. It reports whether there is anything to
// change.
func Use(row stores.Row, verb string, e *stores.Entity, key stores.Value, now time.Time) (stores.Change, bool) {
	c := stores.Change{Op: stores.Update, Entity: Entity, Key: row.Key(), Before: row.Values, Guard: []int{fieldVerdict, fieldExpires, fieldUsedAt, fieldRows}}
	if row.Values[fieldUsedAt].IsNull() {
		c.Set = []stores.Assign{{Field: fieldExpires}, {Field: fieldUsedBy, Value: stores.NewString(verb)}, {Field: fieldUsedAt, Value: stores.NewTime(now)}}
	}
	if e != nil {
		rows, _ := row.Values[fieldRows].Items(stores.String)
		c.Set = append(c.Set, stores.Assign{Field: fieldRows, Value: stores.NewList(append(rows, stores.NewString(e.Name), stores.NewString(key.Text()))...)})
	}
	return c, len(c.Set) > 0
}

// Await extends an unused upload's expiry to a time at least; false if it already lasts that long,
// or has no expiry.
func Await(row stores.Row, until time.Time) (stores.Change, bool) {
	e := row.Values[fieldExpires]
	return stores.Change{Op: stores.Update, Entity: Entity, Key: row.Key(), Before: row.Values, Guard: []int{fieldExpires, fieldUsedAt},
		Set: []stores.Assign{{Field: fieldExpires, Value: stores.NewTime(until)}}}, !e.IsNull() && e.Time().Before(until)
}

// Named finds an upload by its reference, for any owner, but not if its bytes are not kept. It is
// for code that got the reference from the engine.
func (s *Shelf) Named(ctx context.Context, reference string) (u Upload, found bool, err error) {
	id, ok := strings.CutPrefix(reference, verbs.UploadScheme)
	if !ok {
		return u, false, nil
	}
	err = s.View(ctx, func(r stores.Reader) error {
		row, err := r.Get(ctx, Entity, stores.NewString(id))
		if err != nil {
			return err
		}
		if u = Of(row.Values); row.Values[fieldContent].IsNull() {
			return stores.ErrNotFound
		}
		content, err := r.Get(ctx, Contents, row.Values[fieldContent])
		if err == nil {
			u.Kept = content.Values[contentTag].Text()
		}
		return err
	})
	if errors.Is(err, stores.ErrNotFound) {
		return Upload{}, false, nil
	}
	return u, err == nil && !u.Gone(s.Clock()) && u.Verdict == Clean, err
}

// Judge records a scanner's verdict on an upload. An infected upload loses its bytes. An earlier
// Clean or Infected remains, unless it came without a scan.
func (s *Shelf) Judge(ctx context.Context, id, verdict, scanner string) (u Upload, err error) {
	err = s.Write(ctx, func(tx stores.Tx) error {
		row, err := tx.Get(ctx, Entity, stores.NewString(id))
		if err != nil {
			return err
		}
		u = Of(row.Values)
		again := u.Verdict == Clean && u.Scanner == ScannedByNobody && scanner != ScannedByNobody
		if (u.Verdict == Clean || u.Verdict == Infected) && !again {
			return nil
		}
		u.Verdict, u.Scanner = verdict, scanner
		c := stores.Change{Op: stores.Update, Entity: Entity, Key: row.Key(), Before: row.Values, Guard: []int{fieldVerdict}}
		if verdict == Infected {
			c.Set = append(c.Set, stores.Assign{Field: fieldContent})
		}
		c.Set = append(c.Set, stores.Assign{Field: fieldVerdict, Value: stores.NewString(verdict)}, stores.Assign{Field: fieldScanner, Value: stores.NewString(scanner)})
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}})
	})
	return u, err
}

// Unjudged returns at most n uploads that were sent before a time and have no verdict yet, ordered
// by ID, after a given ID. For a scanner that scans, they include those that were accepted without
// a scan, also those in use.
func (s *Shelf) Unjudged(ctx context.Context, before time.Time, after string, n int, scanner string) (all []Upload, err error) {
	verdict := func(v ...stores.Value) stores.Cond {
		return stores.Cond{Op: stores.In, Path: stores.Path{Field: fieldVerdict}, Value: stores.NewList(v...)}
	}
	which := verdict(stores.NewString(Pending), stores.NewString(Failed))
	if scanner != ScannedByNobody {
		which = stores.Cond{Op: stores.Or, Kids: []stores.Cond{which, {Op: stores.And, Kids: []stores.Cond{verdict(stores.NewString(Clean)),
			{Op: stores.Eq, Path: stores.Path{Field: fieldScanner}, Value: stores.NewString(ScannedByNobody)}}}}}
	}
	paths := make([]stores.Path, len(Entity.Fields), len(Entity.Fields)+1)
	for i := range paths {
		paths[i].Field = i
	}
	paths = append(paths, stores.Path{Steps: []stores.Step{{Field: fieldContent, To: Contents}}, Field: contentTag})
	err = s.View(ctx, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: Entity, Select: paths, Limit: n, Cut: true, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
			which,
			{Op: stores.Lt, Path: stores.Path{Field: fieldTime}, Value: stores.NewTime(before)},
			{Op: stores.Gt, Path: stores.Path{Field: fieldID}, Value: stores.NewString(after)},
		}}, Order: []stores.Order{{Path: stores.Path{Field: fieldID}}}})
		for _, row := range rows {
			u := Of(row)
			u.Kept = row[len(row)-1].Text()
			all = append(all, u)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Held returns at most n bytes that are kept, ordered by Sum, after a given Sum. Their Sum, Size and
// Kept identify them. r has to see every row.
func Held(ctx context.Context, r stores.Reader, after string, n int) (all []Upload, err error) {
	rows, err := r.Find(ctx, stores.Find{Entity: Contents, Limit: n, Cut: true, Order: []stores.Order{{Path: stores.Path{Field: contentSum}}}, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
		{Op: stores.Eq, Path: stores.Path{Field: contentState}, Value: stores.NewString(held)},
		{Op: stores.Gt, Path: stores.Path{Field: contentSum}, Value: stores.NewString(after)}}}})
	for _, row := range rows {
		all = append(all, Upload{Sum: row[contentSum].Text(), Size: row[contentSize].Int(), Kept: row[contentTag].Text()})
	}
	return all, err
}

// Dumped reads a line of Contents as PostgreSQL's COPY writes it, with its columns in a given order; false
// if these bytes are not kept.
func Dumped(columns []string, line string) (u Upload, kept bool) {
	for i, cell := range strings.Split(line, "\t") {
		switch {
		case i >= len(columns):
			return Upload{}, false
		case columns[i] == Contents.Fields[contentSum].Column:
			u.Sum = cell
		case columns[i] == Contents.Fields[contentTag].Column:
			u.Kept = cell
		case columns[i] == Contents.Fields[contentSize].Column:
			u.Size, _ = strconv.ParseInt(cell, 10, 64)
		case columns[i] == Contents.Fields[contentState].Column:
			kept = cell == held
		}
	}
	return u, kept
}

// Letting go

// Forget deletes uploads that expired without having been used. It returns
// how many there were.
func (s *Shelf) Forget(ctx context.Context) (int, error) {
	now := stores.NewTime(s.Clock())
	n, err := s.Prune(ctx, Entity, stores.Cond{Op: stores.And, Kids: []stores.Cond{
		{Op: stores.Le, Path: stores.Path{Field: fieldExpires}, Value: now},
		{Op: stores.Eq, Path: stores.Path{Field: fieldUsedAt}},
	}})
	return n, err
}

// Free finds at most n bytes without references, and marks them as going: from then on they get no
// new references. Their Sum, Size and Kept identify them. They are to be deleted, and then
// forgotten.
//
// It is safe to call at any time, also while the same bytes are being sent.
func (s *Shelf) Free(ctx context.Context, n int) ([]Upload, error) {
	var free []Upload
	var found [][]stores.Value
	err := s.View(ctx, func(r stores.Reader) (err error) {
		found, err = r.Find(ctx, stores.Find{Entity: Contents, Limit: n, Cut: true, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Count: Entity, By: fieldContent}, Value: stores.NewInt(0)}})
		return err
	})
	for _, row := range found {
		if err != nil {
			break
		}
		key := row[contentSum]
		var one *Upload
		err = s.Write(ctx, func(tx stores.Tx) error {
			// A new reference locks this row first: after Get, none can be added.
			one = nil
			row, err := tx.Get(ctx, Contents, key)
			if errors.Is(err, stores.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			held, err := tx.Find(ctx, stores.Find{Entity: Entity, Select: []stores.Path{{Field: fieldID}}, Limit: 1, Cut: true,
				Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: fieldContent}, Value: key}})
			if err != nil || len(held) > 0 {
				return err
			}
			one = &Upload{Sum: key.Text(), Size: row.Values[contentSize].Int(), Kept: row.Values[contentTag].Text()}
			if row.Values[contentState].Text() == going {
				return nil // another process is deleting it, or died: deleting it twice does no harm
			}
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: Contents, Key: key, Before: row.Values, Guard: []int{contentTag, contentState},
				Set: []stores.Assign{{Field: contentState, Value: stores.NewString(going)}}}}})
		})
		if err == nil && one != nil {
			free = append(free, *one)
		}
	}
	if err != nil {
		return nil, err
	}
	return free, nil
}

// ForgetContent forgets bytes that were going and are deleted. If the same bytes were sent again
// meanwhile, those remain.
func (s *Shelf) ForgetContent(ctx context.Context, gone Upload) error {
	key := stores.NewString(gone.Sum)
	err := s.Write(ctx, func(tx stores.Tx) error {
		row, err := tx.Get(ctx, Contents, key)
		if errors.Is(err, stores.ErrNotFound) || err == nil && (row.Values[contentState].Text() != going || row.Values[contentTag].Text() != gone.Kept) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: Contents, Key: key, Before: row.Values, Guard: []int{contentTag, contentState}}}})
	})
	return err
}
