package engine

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Uploads: the rows about files that people send. Package runtime/files/intake looks after their bytes.
//
// A file is named by a reference, upload://ID, which is random and which nobody but the file's owner
// can use in a call. Anybody who sees a row that names a file may read the file: see FileOf. If an
// argument is an upload, the gate resolves the reference to an upload of that principal that is not
// expired, was scanned and found harmless, and has a type and a size that the palette accepts. There
// is one answer for an upload that does not exist, that is somebody else's, and that has expired.
// The name that a file states for itself and its contents never become a value.
//
// The reference has the origin of its author, as the choice of any row has: that Clara sent a
// passport is her act, and that this call is about it is the act of the call's author. For an
// argument that only a person may fill, the palette says so with `from`; a reference that a model
// wrote is then refused, though the file is Clara's. A value that is read out of the file is another
// matter: its origin is a document, no matter who sent the file, and the handler that reads it says
// so (see Known).

// At the gate

// useUpload resolves the reference in an argument to a file that may be used.
func useUpload(ctx context.Context, r *source, st *step, i int, v stores.Value, place dsl.Place) error {
	p := &st.verb.Params[i]
	id, ok := strings.CutPrefix(v.Text(), verbs.UploadScheme)
	if !ok || v.Kind() != stores.String {
		return &callError{st.call.index, tell(place, "unknown-upload", p.Name)}
	}
	row, err := r.read.Get(ctx, uploads.Entity, stores.NewString(id))
	if err != nil && !errors.Is(err, stores.ErrNotFound) {
		return err
	}
	var u uploads.Upload
	if err == nil {
		u = uploads.Of(row.Values)
	}
	// A role that sees all rows sees other people's uploads, and may not use one.
	if err != nil || u.Owner != r.s.who.Name || u.Gone(r.now) {
		return &callError{st.call.index, tell(place, "unknown-upload", p.Name)}
	}
	switch {
	case u.Verdict == uploads.Infected:
		return &callError{st.call.index, tell(place, "upload-harmful", p.Name)}
	case u.Verdict != uploads.Clean, looksAgain(r.e, &u):
		return &callError{st.call.index, unscannedUpload(place, p.Name, u.Verdict == uploads.Failed)}
	case !p.Upload.Takes(u.Type):
		return &callError{st.call.index, tell(place, "upload-type", p.Name, u.Type, p.Upload.Wanted())}
	case u.Size > p.Upload.MaxSize:
		return &callError{st.call.index, tell(place, "upload-too-large", p.Name, verbs.SizeText(p.Upload.MaxSize), verbs.SizeText(u.Size))}
	}
	if st.args.contents == nil {
		st.args.contents = make([]stores.Value, len(st.verb.Params))
	}
	st.args.contents[i] = stores.NewString(u.Sum)
	st.args.files = append(st.args.files, knownFile{v.Text(), u.Sum, uploads.FileOf(&u)})
	st.args.uploads = append(st.args.uploads, usedUpload{row, st.verb.Name})
	return nil
}

// A knownFile is a file that an argument names, with the values that stand for it in rows: its
// reference and the digest of its bytes.
type knownFile struct {
	Reference, Content string
	File               receipt.File
}

// looksAgain reports whether a file has to be scanned again: there is a scanner now, and there was
// none when the file was taken.
func looksAgain(e *Engine, u *uploads.Upload) bool {
	return u.Verdict == uploads.Clean && u.Scanner == uploads.ScannedByNobody && e.opt.Scanner != "" && e.opt.Scanner != uploads.ScannedByNobody
}

// A usedUpload is an upload that a call uses.
type usedUpload struct {
	row  stores.Row
	verb string
}

// extendFiles makes the changes by which uploads that nothing uses last until a time at least.
func extendFiles(ctx context.Context, read stores.Reader, keys []stores.Value, until time.Time) ([]stores.Change, error) {
	var all []stores.Change
	for _, key := range keys {
		row, err := read.Get(ctx, uploads.Entity, key)
		if errors.Is(err, stores.ErrNotFound) {
			continue // agreeing to what names it says so
		}
		if err != nil {
			return nil, err
		}
		if c, some := uploads.Await(row, until); some {
			all = append(all, c)
		}
	}
	return all, nil
}

// Receiving

// verbUpload is the verb of the journal entries of uploads. No palette can declare it.
const verbUpload = "verbatim.upload"

// Largest returns the greatest size of a file for any verb that the session may use; 0 if none
// takes a file.
func (up Uploads) Largest() int64 {
	var most int64
	for _, v := range up.s.e.reg.Verbs() {
		for i := range v.Params {
			if u := v.Params[i].Upload; u != nil && u.MaxSize > most && up.s.May(v) {
				most = u.MaxSize
			}
		}
	}
	return most
}

// Begin records that the session's principal sent a file with a known Name, Type, Size and
// Sum. The upload is pending, and expires after a while unless it is used. The returned upload has
// the tag for its bytes: tag, or another under which equal bytes are kept already. The bytes must
// be stored after this, and not before, so that bytes without a reference can be found.
//
// If equal bytes are just being deleted, drop is called to delete them first.
func (up Uploads) Begin(ctx context.Context, u uploads.Upload, id, tag string, lasts time.Duration, drop func(context.Context, uploads.Upload) error) (uploads.Upload, error) {
	now := stores.NewTime(up.s.e.opt.Clock()).Time()
	u.ID, u.Owner, u.Verdict, u.Scanner = id, up.s.who.Name, uploads.Pending, ""
	u.Uploaded, u.Expires = now, now.Add(lasts)
	args := []dsl.Arg{dsl.NewArg("reference", dsl.NewString(u.Reference())), dsl.NewArg("sha-256", dsl.NewString(u.Sum)),
		dsl.NewArg("type", dsl.NewString(u.Type)), dsl.NewArg("size", dsl.NewInteger(u.Size))}
	if u.MadeBy != "" {
		args = append(args, dsl.NewArg("made-by", dsl.NewString(u.MadeBy)))
	}
	entry := actEntry(up.s, verbUpload, args...)
	entry.Source, entry.Time = "upload", now
	for dropped := ""; ; {
		var going *uploads.Upload
		err := writeTo(ctx, up.s.e, up.s.engineScope(), func(tx stores.Tx) (err error) {
			going, err = uploads.Begin(ctx, tx, &u, tag, dropped, entry)
			return err
		})
		if err != nil {
			return u, failure(err)
		}
		if going == nil {
			return u, nil
		}
		if err := drop(ctx, *going); err != nil {
			return u, failure(err)
		}
		dropped = going.Kept
	}
}

// Get returns the record of an upload of the session's principal, by its reference;
// stores.ErrNotFound if they have no such upload, or it has expired.
func (up Uploads) Get(ctx context.Context, reference string) (u uploads.Upload, err error) {
	id, ok := strings.CutPrefix(reference, verbs.UploadScheme)
	if !ok {
		return u, stores.ErrNotFound
	}
	err = up.s.e.store.View(ctx, stores.Scope{Principal: up.s.who.Name}, func(r stores.Reader) error {
		row, err := r.Get(ctx, uploads.Entity, stores.NewString(id))
		if err != nil {
			return err
		}
		u = uploads.Of(row.Values)
		return nil
	})
	if err == nil && u.Gone(up.s.e.opt.Clock()) {
		return uploads.Upload{}, stores.ErrNotFound
	}
	return u, err
}

// Of returns the file that a row within the session's scope names, or one to which a reference
// of the row leads, regardless of its sender. verbs.FileField decides which fields name files. It
// returns stores.ErrNotFound if there is no row, or no permitted file of it.
func (up Uploads) Of(ctx context.Context, entity string, key stores.Value) (u uploads.Upload, err error) {
	e := up.s.e.reg.Entity(entity)
	if e == nil {
		return u, stores.ErrNotFound
	}
	reference := ""
	err = up.s.e.store.View(ctx, up.s.scope, func(r stores.Reader) error {
		row, err := r.Get(ctx, e.Store, key)
		at := up.s.e.reg.FileField(e)
		for i := 0; err == nil && at < 0 && i < len(e.Fields); i++ {
			f := &e.Store.Fields[i]
			if f.Ref == nil || f.Sensitive || row.Values[i].IsNull() {
				continue
			}
			if at = up.s.e.reg.FileField(up.s.e.reg.EntityOf(f.Ref)); at >= 0 {
				row, err = r.Get(ctx, f.Ref, row.Values[i])
			}
		}
		if err == nil && at < 0 {
			err = stores.ErrNotFound
		}
		if err == nil {
			reference = row.Values[at].Text()
		}
		return err
	})
	if err != nil {
		return u, err
	}
	u, given, err := up.s.e.Uploads().Named(ctx, reference)
	if err == nil && (!given || u.UsedAt.IsZero() || looksAgain(up.s.e, &u)) {
		return uploads.Upload{}, stores.ErrNotFound
	}
	return u, err
}

// Shown returns the file of a reference that a verb of the session shows: a row that a call put the
// file into is within the session's scope and still holds the reference, and some verb of the session
// reads that field. A row into which another program wrote the reference does not show the file. It
// returns stores.ErrNotFound if no verb shows it.
func (up Uploads) Shown(ctx context.Context, reference string) (u uploads.Upload, err error) {
	u, given, err := up.s.e.Uploads().Named(ctx, reference)
	if err != nil || !given || looksAgain(up.s.e, &u) {
		return uploads.Upload{}, cmp.Or(err, stores.ErrNotFound)
	}
	shown := false
	err = up.s.e.store.View(ctx, up.s.scope, func(r stores.Reader) error {
		for _, at := range u.Rows {
			e := up.s.e.reg.Entity(at.Entity)
			if shown || e == nil {
				continue
			}
			key, ok := stores.Parse(e.Store.Fields[e.Store.Key].Kind, at.Key)
			if !ok {
				continue
			}
			row, err := r.Get(ctx, e.Store, key)
			if err != nil && !errors.Is(err, stores.ErrNotFound) {
				return err
			}
			for i, v := range row.Values {
				shown = shown || v == stores.NewString(reference) && up.s.reads(e, i)
			}
		}
		return nil
	})
	if err == nil && !shown {
		err = stores.ErrNotFound
	}
	if err != nil {
		return uploads.Upload{}, err
	}
	return u, nil
}
