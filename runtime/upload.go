package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Uploads: what the engine knows of files that people send. Their bytes are
// somebody else's business, see package runtime/upload; here are rows.
//
// A file is named by a reference, upload://ID, which is made of chance and is no
// use to anybody but its owner. Where a palette says of an argument that it is an
// upload, the gate resolves the reference: to an upload of that principal, not
// expired, looked at and found harmless, of a type and a size that the palette
// takes. Whether there is no such upload, or it is another's, or it has expired,
// is one answer. What a file says of itself, its name and its contents, never
// becomes a value.
//
// The reference has the origin of whoever wrote it, as any other choice of a row
// has: that Clara sent a passport is her act, and that this call is about it is
// the act of whoever wrote the call. An argument that only a person may fill says
// so with `from`, and a reference that a model wrote is then refused, though the
// file is Clara's. What is read out of the file is another matter. It is a
// document's, whoever sent it, and whoever reads it says so (see Known).

// The verdicts on an upload.
const (
	// VerdictPending says that nobody has looked at it yet.
	VerdictPending = "PENDING"
	// VerdictClean says that nothing harmful was found in it.
	VerdictClean = "CLEAN"
	// VerdictInfected says that something harmful was. Its bytes are not kept.
	VerdictInfected = "INFECTED"
	// VerdictFailed says that it could not be looked at. It is tried again.
	VerdictFailed = "FAILED"
)

// ScannedByNobody is the scanner that looks at nothing. What it found harmless is
// taken as long as nobody looks; see Options.Scanner.
const ScannedByNobody = "none"

// An Upload is what is known of a file that somebody sent.
type Upload struct {
	ID       string
	Owner    string // name of a principal
	Name     string // what its owner calls it, made harmless
	Type     string // "application/pdf", told by what is in it
	Size     int64
	Sum      string // SHA-256, in hexadecimal
	Verdict  string
	Scanner  string // who said so; "" while nobody has
	Uploaded time.Time
	Expires  time.Time // zero once it is used
	UsedBy   string    // the verb of the first call that used it; "" while none has
	UsedAt   time.Time
	// Kept is what tells its bytes from others that were the same; "" when they
	// are not kept.
	Kept string
}

// Reference is what a call names it by.
func (u *Upload) Reference() string { return verbs.UploadScheme + u.ID }

// The fields of the bytes of uploads: what is kept, whoever sent it.
const (
	conSum   = iota // SHA-256, in hexadecimal
	conTag          // see Upload.Kept
	conSize         // in bytes
	conState        // held, or going
)

// The states of bytes. What is held may be referred to. What is going is being
// deleted; whoever sends the same bytes holds them anew, under another tag.
const (
	conHeld  = "HELD"
	conGoing = "GOING"
)

var contents = &stores.Entity{
	Name:    "verbatim.content",
	Table:   "verbatim.contents",
	Managed: true,
	Place:   "the engine's own",
	Key:     conSum,
	Fields: []stores.Field{
		conSum:   {Name: "sum", Column: "sum", Kind: stores.String, Required: true},
		conTag:   {Name: "tag", Column: "tag", Kind: stores.String, Required: true},
		conSize:  {Name: "size", Column: "size", Kind: stores.Int, Required: true},
		conState: {Name: "state", Column: "state", Kind: stores.String, Required: true, Codes: []string{conHeld, conGoing}},
	},
}

// The fields of an upload.
const (
	upID = iota
	upOwner
	upName
	upType
	upSize
	upSum
	upContent // whose bytes are kept; null when they are not
	upVerdict
	upScanner
	upTime
	upExpires // null once it is used
	upUsedBy
	upUsedAt
)

var uploads = &stores.Entity{
	Name:    "verbatim.upload",
	Table:   "verbatim.uploads",
	Managed: true,
	Place:   "the engine's own",
	Key:     upID,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: upOwner}},
	Fields: []stores.Field{
		upID:      {Name: "id", Column: "id", Kind: stores.String, Required: true},
		upOwner:   {Name: "owner", Column: "owner", Kind: stores.String, Required: true},
		upName:    {Name: "name", Column: "name", Kind: stores.String, Required: true, Personal: true},
		upType:    {Name: "type", Column: "media_type", Kind: stores.String, Required: true},
		upSize:    {Name: "size", Column: "size", Kind: stores.Int, Required: true},
		upSum:     {Name: "sum", Column: "sum", Kind: stores.String, Required: true},
		upContent: {Name: "content", Column: "content", Kind: stores.String, Ref: contents},
		upVerdict: {Name: "verdict", Column: "verdict", Kind: stores.String, Required: true, Codes: []string{VerdictPending, VerdictClean, VerdictInfected, VerdictFailed}},
		upScanner: {Name: "scanner", Column: "scanner", Kind: stores.String},
		upTime:    {Name: "time", Column: "uploaded_at", Kind: stores.Time, Required: true},
		upExpires: {Name: "expires", Column: "expires", Kind: stores.Time},
		upUsedBy:  {Name: "used-by", Column: "used_by", Kind: stores.String},
		upUsedAt:  {Name: "used-at", Column: "used_at", Kind: stores.Time},
	},
}

func uploadOf(v []stores.Value) Upload {
	at := func(f int) time.Time {
		if v[f].IsNull() {
			return time.Time{}
		}
		return v[f].Time()
	}
	return Upload{ID: v[upID].Text(), Owner: v[upOwner].Text(), Name: v[upName].Text(), Type: v[upType].Text(), Size: v[upSize].Int(), Sum: v[upSum].Text(),
		Verdict: v[upVerdict].Text(), Scanner: v[upScanner].Text(), Uploaded: at(upTime), Expires: at(upExpires), UsedBy: v[upUsedBy].Text(), UsedAt: at(upUsedAt)}
}

// gone reports whether an upload has expired: only one that was never used can.
func (u *Upload) gone(now time.Time) bool {
	return u.UsedAt.IsZero() && !u.Expires.IsZero() && !u.Expires.After(now)
}

// At the gate

// upload resolves what an argument says to a file that may be used.
func (r *reading) upload(ctx context.Context, st *step, i int, v stores.Value, place dsl.Place) error {
	p := &st.verb.Params[i]
	id, ok := strings.CutPrefix(v.Text(), verbs.UploadScheme)
	if !ok || v.Kind() != stores.String {
		return &complaint{st.index, unknownUpload(place, p.Name)}
	}
	row, err := r.read.Get(ctx, uploads, stores.NewString(id))
	if err != nil && !errors.Is(err, stores.ErrNotFound) {
		return err
	}
	var u Upload
	if err == nil {
		u = uploadOf(row.Values)
	}
	// A role that sees all rows sees other people's uploads, and may not use one.
	if err != nil || u.Owner != r.s.who.Name || u.gone(r.now) {
		return &complaint{st.index, unknownUpload(place, p.Name)}
	}
	switch {
	case u.Verdict == VerdictInfected:
		return &complaint{st.index, harmfulUpload(place, p.Name)}
	case u.Verdict != VerdictClean, r.e.looksAgain(&u):
		return &complaint{st.index, unscannedUpload(place, p.Name, u.Verdict == VerdictFailed)}
	case !p.Upload.Takes(u.Type):
		return &complaint{st.index, uploadOfType(place, p, u.Type)}
	case u.Size > p.Upload.MaxSize:
		return &complaint{st.index, uploadTooLarge(place, p, u.Size)}
	}
	if st.contents == nil {
		st.contents = make([]stores.Value, len(st.verb.Params))
	}
	st.contents[i] = stores.NewString(u.Sum)
	r.know(v, &u)
	if u.UsedAt.IsZero() && !slices.ContainsFunc(r.uploads, func(used usedUpload) bool { return used.row.Key() == row.Key() }) {
		r.uploads = append(r.uploads, usedUpload{row, st.verb.Name})
	}
	return nil
}

// A knownFile is a file that an argument names, with the values that stand for it in
// rows: its reference, and what its bytes are known by.
type knownFile struct {
	Reference, Content string
	File               receipt.File
}

// FileOf is what a person knows an upload by.
func FileOf(u *Upload) receipt.File {
	return receipt.File{Name: u.Name, Type: u.Type, Size: u.Size, Says: verbs.TypeText(u.Type) + ", " + verbs.SizeText(u.Size)}
}

// know remembers what a person knows a file by.
func (r *reading) know(reference stores.Value, u *Upload) {
	k := knownFile{reference.Text(), u.Sum, FileOf(u)}
	if !slices.Contains(r.files, k) {
		r.files = append(r.files, k)
	}
}

// fileOf finds the file that a value stands for; nil where it stands for itself.
func (r *reading) fileOf(v stores.Value) *receipt.File {
	if len(r.files) == 0 || v.Kind() != stores.String {
		return nil
	}
	text := v.Text()
	for i := range r.files {
		if k := &r.files[i]; k.Reference == text || k.Content == text {
			return &k.File
		}
	}
	return nil
}

// looksAgain reports whether somebody looks at files by now, and nobody has looked
// at this one.
func (e *Engine) looksAgain(u *Upload) bool {
	return u.Verdict == VerdictClean && u.Scanner == ScannedByNobody && e.scanner != "" && e.scanner != ScannedByNobody
}

// A usedUpload is one that nothing used before this run.
type usedUpload struct {
	row  stores.Row
	verb string
}

// use makes it kept, in the transaction of what uses it.
func (u *usedUpload) use(now time.Time) stores.Change {
	return stores.Change{Op: stores.Update, Entity: uploads, Key: u.row.Key(), Before: u.row.Values, Guard: []int{upVerdict, upExpires, upUsedAt}, Set: []stores.Assign{
		{Field: upExpires}, {Field: upUsedBy, Value: stores.NewString(u.verb)}, {Field: upUsedAt, Value: stores.NewTime(now)},
	}}
}

// await lets uploads that a proposal names last as long as it may be agreed to.
func (r *reading) await(ctx context.Context, tx stores.Tx, until time.Time) ([]stores.Change, error) {
	var all []stores.Change
	for _, u := range r.uploads {
		row, err := tx.Get(ctx, uploads, u.row.Key())
		if errors.Is(err, stores.ErrNotFound) {
			continue // agreeing to it says so
		}
		if err != nil {
			return nil, err
		}
		if e := row.Values[upExpires]; !e.IsNull() && e.Time().Before(until) {
			all = append(all, stores.Change{Op: stores.Update, Entity: uploads, Key: row.Key(), Before: row.Values, Guard: []int{upExpires, upUsedAt},
				Set: []stores.Assign{{Field: upExpires, Value: stores.NewTime(until)}}})
		}
	}
	return all, nil
}

// Receiving

// verbUpload is the verb of the entries that tell of a file that was sent. No
// palette can declare it.
const verbUpload = "verbatim.upload"

// LargestUpload is how large a file may be for any verb that the session may use;
// 0 where none takes a file.
func (s *Session) LargestUpload() int64 {
	var most int64
	for _, v := range s.e.reg.Verbs() {
		for i := range v.Params {
			if u := v.Params[i].Upload; u != nil && u.MaxSize > most && s.May(v) {
				most = u.MaxSize
			}
		}
	}
	return most
}

// BeginUpload notes that the session's principal sent a file, of which Name,
// Type, Size and Sum are known. It is pending, and expires after a while unless
// it is used. What comes back says under which tag its bytes are to be kept: tag,
// or another that they have already. They are to be kept after this, and not
// before, so that what nothing refers to can be told.
//
// Where the same bytes are just being deleted, drop is asked to delete them
// first.
func (s *Session) BeginUpload(ctx context.Context, u Upload, id, tag string, lasts time.Duration, drop func(context.Context, Upload) error) (Upload, error) {
	now := stores.NewTime(s.e.clock()).Time()
	u.ID, u.Owner, u.Verdict, u.Scanner = id, s.who.Name, VerdictPending, ""
	u.Uploaded, u.Expires = now, now.Add(lasts)
	entry := s.act(verbUpload, dsl.NewArg("reference", dsl.NewString(u.Reference())), dsl.NewArg("sha-256", dsl.NewString(u.Sum)),
		dsl.NewArg("type", dsl.NewString(u.Type)), dsl.NewArg("size", dsl.NewInteger(u.Size)))
	entry.Source, entry.Time = "upload", now
	key := stores.NewString(u.Sum)
	var dropped string
	for {
		var going *Upload
		err := s.e.write(ctx, s.engineScope(), func(tx stores.Tx) error {
			going = nil
			b := stores.Batch{Entries: []stores.Entry{entry}}
			row, err := tx.Get(ctx, contents, key)
			switch {
			case errors.Is(err, stores.ErrNotFound):
				u.Kept = tag
				b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: contents, Key: key, Set: []stores.Assign{
					{Field: conTag, Value: stores.NewString(tag)}, {Field: conSize, Value: stores.NewInt(u.Size)}, {Field: conState, Value: stores.NewString(conHeld)}}})
			case err != nil:
				return err
			case row.Values[conState].Text() == conHeld:
				u.Kept = row.Values[conTag].Text()
			case row.Values[conTag].Text() != dropped:
				going = &Upload{Sum: u.Sum, Size: u.Size, Kept: row.Values[conTag].Text()}
				tx.Discard()
				return nil
			default:
				u.Kept = tag
				b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: contents, Key: key, Before: row.Values, Guard: []int{conTag, conState}, Set: []stores.Assign{
					{Field: conTag, Value: stores.NewString(tag)}, {Field: conState, Value: stores.NewString(conHeld)}}})
			}
			b.Changes = append(b.Changes, stores.Change{Op: stores.Insert, Entity: uploads, Key: stores.NewString(id), Set: []stores.Assign{
				{Field: upOwner, Value: stores.NewString(u.Owner)}, {Field: upName, Value: stores.NewString(u.Name)}, {Field: upType, Value: stores.NewString(u.Type)},
				{Field: upSize, Value: stores.NewInt(u.Size)}, {Field: upSum, Value: key}, {Field: upContent, Value: key}, {Field: upVerdict, Value: stores.NewString(u.Verdict)},
				{Field: upTime, Value: stores.NewTime(now)}, {Field: upExpires, Value: stores.NewTime(u.Expires)}}})
			if err := tx.Apply(ctx, b); errors.Is(err, stores.ErrDuplicate) {
				return fmt.Errorf("the same bytes came twice at once: %w", stores.ErrConflict)
			} else if err != nil {
				return err
			}
			return nil
		})
		switch {
		case err == nil && going != nil:
			if err := drop(ctx, *going); err != nil {
				return u, failure(err)
			}
			dropped = going.Kept
		case err != nil:
			return u, failure(err)
		default:
			return u, nil
		}
	}
}

// Upload returns what is known of an upload of the session's principal, by its
// reference; stores.ErrNotFound where there is none of theirs, or it has expired.
func (s *Session) Upload(ctx context.Context, reference string) (u Upload, err error) {
	id, ok := strings.CutPrefix(reference, verbs.UploadScheme)
	if !ok {
		return u, stores.ErrNotFound
	}
	err = s.e.store.View(ctx, stores.Scope{Principal: s.who.Name}, func(r stores.Reader) error {
		row, err := r.Get(ctx, uploads, stores.NewString(id))
		if err != nil {
			return err
		}
		u = uploadOf(row.Values)
		return nil
	})
	if err == nil && u.gone(s.e.clock()) {
		return Upload{}, stores.ErrNotFound
	}
	return u, err
}

// Looking at what was sent

// JudgeUpload notes what a scanner said of an upload. What is harmful is let go
// of. One that was judged meanwhile stays as it is, unless nobody had looked at it.
func (e *Engine) JudgeUpload(ctx context.Context, id, verdict, scanner string) (u Upload, err error) {
	err = e.write(ctx, system(), func(tx stores.Tx) error {
		row, err := tx.Get(ctx, uploads, stores.NewString(id))
		if err != nil {
			return err
		}
		u = uploadOf(row.Values)
		again := u.Verdict == VerdictClean && u.Scanner == ScannedByNobody && scanner != ScannedByNobody
		if (u.Verdict == VerdictClean || u.Verdict == VerdictInfected) && !again {
			return nil
		}
		u.Verdict, u.Scanner = verdict, scanner
		c := stores.Change{Op: stores.Update, Entity: uploads, Key: row.Key(), Before: row.Values, Guard: []int{upVerdict}}
		if verdict == VerdictInfected {
			c.Set = append(c.Set, stores.Assign{Field: upContent})
		}
		c.Set = append(c.Set, stores.Assign{Field: upVerdict, Value: stores.NewString(verdict)}, stores.Assign{Field: upScanner, Value: stores.NewString(scanner)})
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}})
	})
	if err != nil {
		return u, failure(err)
	}
	return u, nil
}

// UnjudgedUploads returns uploads that were sent before a time and that nobody
// has found harmless or harmful yet, by ID behind another, at most n. Where it is
// for a scanner that looks, those that were taken while nobody did are among them,
// also those that are in use.
func (e *Engine) UnjudgedUploads(ctx context.Context, before time.Time, after string, n int, scanner string) (all []Upload, err error) {
	verdict := func(v ...stores.Value) stores.Cond {
		return stores.Cond{Op: stores.In, Path: stores.Path{Field: upVerdict}, Value: stores.NewList(v...)}
	}
	which := verdict(stores.NewString(VerdictPending), stores.NewString(VerdictFailed))
	if scanner != ScannedByNobody {
		which = stores.Cond{Op: stores.Or, Kids: []stores.Cond{which, {Op: stores.And, Kids: []stores.Cond{verdict(stores.NewString(VerdictClean)),
			{Op: stores.Eq, Path: stores.Path{Field: upScanner}, Value: stores.NewString(ScannedByNobody)}}}}}
	}
	paths := make([]stores.Path, len(uploads.Fields), len(uploads.Fields)+1)
	for i := range paths {
		paths[i].Field = i
	}
	paths = append(paths, stores.Path{Steps: []stores.Step{{Field: upContent, To: contents}}, Field: conTag})
	err = e.store.View(ctx, system(), func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: uploads, Select: paths, Limit: n, Cut: true, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
			which,
			{Op: stores.Lt, Path: stores.Path{Field: upTime}, Value: stores.NewTime(before)},
			{Op: stores.Gt, Path: stores.Path{Field: upID}, Value: stores.NewString(after)},
		}}, Order: []stores.Order{{Path: stores.Path{Field: upID}}}})
		for _, row := range rows {
			u := uploadOf(row)
			u.Kept = row[len(row)-1].Text()
			all = append(all, u)
		}
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	return all, nil
}

// Letting go

// ForgetUploads deletes uploads that expired without having been used. It returns
// how many there were.
func (e *Engine) ForgetUploads(ctx context.Context) (int, error) {
	now := stores.NewTime(e.clock())
	n, err := e.prune(ctx, uploads, stores.Cond{Op: stores.And, Kids: []stores.Cond{
		{Op: stores.Le, Path: stores.Path{Field: upExpires}, Value: now},
		{Op: stores.Eq, Path: stores.Path{Field: upUsedAt}},
	}})
	if err != nil {
		return n, failure(err)
	}
	return n, nil
}

// FreeContents finds bytes that nothing refers to, at most n, and marks them as
// going: from then on nobody refers to them again. Their Sum, Size and Kept say
// which they are. They are to be deleted, and then forgotten.
//
// It is safe to call at any time, also while the same bytes are being sent.
func (e *Engine) FreeContents(ctx context.Context, n int) ([]Upload, error) {
	var free []Upload
	var found [][]stores.Value
	err := e.store.View(ctx, system(), func(r stores.Reader) (err error) {
		found, err = r.Find(ctx, stores.Find{Entity: contents, Limit: n, Cut: true, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Count: uploads, By: upContent}, Value: stores.NewInt(0)}})
		return err
	})
	for _, row := range found {
		if err != nil {
			break
		}
		key := row[conSum]
		var one *Upload
		err = e.write(ctx, system(), func(tx stores.Tx) error {
			// Whoever refers to it holds this row first: after Get, nobody can.
			one = nil
			row, err := tx.Get(ctx, contents, key)
			if errors.Is(err, stores.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			held, err := tx.Find(ctx, stores.Find{Entity: uploads, Select: []stores.Path{{Field: upID}}, Limit: 1, Cut: true,
				Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: upContent}, Value: key}})
			if err != nil || len(held) > 0 {
				return err
			}
			one = &Upload{Sum: key.Text(), Size: row.Values[conSize].Int(), Kept: row.Values[conTag].Text()}
			if row.Values[conState].Text() == conGoing {
				return nil // whoever was deleting it died, or is at it: twice does no harm
			}
			return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: contents, Key: key, Before: row.Values, Guard: []int{conTag, conState},
				Set: []stores.Assign{{Field: conState, Value: stores.NewString(conGoing)}}}}})
		})
		if err == nil && one != nil {
			free = append(free, *one)
		}
	}
	if err != nil {
		return nil, failure(err)
	}
	return free, nil
}

// ForgetContent forgets bytes that were going and are deleted. Where somebody
// sent the same ones meanwhile, those stay.
func (e *Engine) ForgetContent(ctx context.Context, gone Upload) error {
	key := stores.NewString(gone.Sum)
	err := e.write(ctx, system(), func(tx stores.Tx) error {
		row, err := tx.Get(ctx, contents, key)
		if errors.Is(err, stores.ErrNotFound) || err == nil && (row.Values[conState].Text() != conGoing || row.Values[conTag].Text() != gone.Kept) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: contents, Key: key, Before: row.Values, Guard: []int{conTag, conState}}}})
	})
	if err != nil {
		return failure(err)
	}
	return nil
}
