// Package logins keeps logins in the store: a row for each login, a row for each unused link
// that was mailed, and counts of attempts. Any number of processes share them, so that a
// person signs in with one process and acts with another, and a login that one process ends
// is over for all.
//
//	book := &logins.Book{Store: store, Clock: time.Now}
//	secret, err := book.Begin(ctx, "clara", "link")
//	login, err := book.Find(ctx, secret)   // ErrOver where there is none any more
//
// A secret is told once, to the person who signs in. The rows hold its SHA-256, so that a
// reader of the rows cannot sign in by them.
package logins

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
)

// How long a login lasts.
const (
	Longest = 12 * time.Hour   // from when somebody signed in
	Idle    = time.Hour        // from when they were last seen
	Link    = 15 * time.Minute // of a link that was mailed
)

// noticed is the least time between two updates of Login.Seen.
const noticed = time.Minute

// setBack is how far the clock may be set back: what was begun later than that is over, or it would be
// good for as much longer.
const setBack = 5 * time.Minute

// ErrOver says that there is no such login: it was ended, it expired, or it never existed. The
// caller cannot tell which.
var ErrOver = errors.New("the login is over")

// ErrTooMany says that something was tried too often.
var ErrTooMany = errors.New("too many attempts")

// A Login is one person signed in with one browser.
type Login struct {
	ID        string // to list and end logins by; nobody can sign in by it
	Principal string
	How       string    // "link", "oidc" or "shown"
	Proven    time.Time // when they signed in
	Seen      time.Time
	Ends      time.Time
}

// A Book keeps logins in a store. Set its fields before it is used, and do not change them
// afterwards. It is safe for use by many goroutines and processes.
type Book struct {
	Store stores.Store
	Clock func() time.Time
}

// The fields of a login.
const (
	loginKey = iota // SHA-256 of the secret
	loginPrincipal
	loginHow
	loginProven
	loginSeen
)

var logins = own("login", "logins", []stores.Field{
	loginKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
	loginPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
	loginHow:       {Name: "how", Column: "how", Kind: stores.String, Required: true},
	loginProven:    {Name: "proven", Column: "proven_at", Kind: stores.Time, Required: true},
	loginSeen:      {Name: "seen", Column: "seen_at", Kind: stores.Time, Required: true},
})

// The fields of a link.
const (
	linkKey = iota // SHA-256 of the secret
	linkPrincipal
	linkBrowser // SHA-256 of the secret of the browser that asked; "" where any will do
	linkUntil
)

var links = own("link", "links", []stores.Field{
	linkKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
	linkPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
	linkBrowser:   {Name: "browser", Column: "browser", Kind: stores.String, Required: true},
	linkUntil:     {Name: "until", Column: "good_until", Kind: stores.Time, Required: true},
})

// own makes an entity whose rows are in no principal's scope.
func own(name, table string, fields []stores.Field) *stores.Entity {
	return &stores.Entity{Name: "verbatim." + name, Table: "verbatim." + table, Managed: true, Place: "the server's own", Fields: fields}
}

// Own returns the entities that logins are kept in, to be given to Migrate.
func Own() []*stores.Entity { return []*stores.Entity{logins, links} }

// scope is the scope of the server itself.
var scope = stores.Scope{Principal: "verbatim", All: true}

// Secret makes a secret of 256 bits, fit for a cookie and for an address.
func Secret() string {
	var raw [32]byte
	rand.Read(raw[:]) // never fails, by its documentation
	return base64.RawURLEncoding.EncodeToString(raw[:])
}

// CertificateDigest returns the digest by which a client's certificate is known, from its bytes in
// DER. Certificates are not secret: no token can have this digest, so nobody can use the
// certificate's bytes as a token.
func CertificateDigest(der []byte) string {
	return digest.Of("verbatim certificate 1", string(der))
}

// Digest returns the digest of a secret, which is what the rows hold.
func Digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func keyOf(secret string) stores.Value { return stores.NewString(Digest(secret)) }

// now returns the time to the microsecond, as a store keeps it.
func (b *Book) now() time.Time { return stores.NewTime(b.Clock()).Time() }

// Begin signs a principal in, and returns the secret of the login. The secret is new each time, so
// that nobody is signed in by an earlier one.
func (b *Book) Begin(ctx context.Context, principal, how string) (secret string, err error) {
	secret = Secret()
	now := stores.NewTime(b.now())
	return secret, b.write(ctx, logins.Insert(keyOf(secret), stores.NewString(principal), stores.NewString(how), now, now))
}

// Find returns the login of a secret.
func (b *Book) Find(ctx context.Context, secret string) (Login, error) {
	row, err := b.get(ctx, logins, keyOf(secret))
	if err != nil {
		return Login{}, err
	}
	l, now := loginOf(row), b.now()
	if !now.Before(l.Ends) || l.Proven.Sub(now) > setBack {
		return Login{}, ErrOver
	}
	if now.Sub(l.Seen) < noticed {
		return l, nil
	}
	// Another process may update the login at the same time, or end it.
	err = b.update(ctx, func(tx stores.Tx) error {
		row, err := tx.Get(ctx, logins, keyOf(secret))
		if errors.Is(err, stores.ErrNotFound) {
			return ErrOver
		}
		if err != nil || now.Sub(row.Values[loginSeen].Time()) < noticed {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Update, Entity: logins, Key: row.Key(), Before: row.Values,
			Set: []stores.Assign{{Field: loginSeen, Value: stores.NewTime(now)}}}}})
	})
	if err != nil {
		return Login{}, err
	}
	l.Seen, l.Ends = now, ends(l.Proven, now)
	return l, nil
}

// List returns the logins of a principal that are not over.
func (b *Book) List(ctx context.Context, principal string) (all []Login, err error) {
	now := b.now()
	err = b.Store.View(ctx, scope, func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: logins, Where: equal(loginPrincipal, stores.NewString(principal)),
			Order: []stores.Order{{Path: stores.Path{Field: loginSeen}, Desc: true}}})
		for _, row := range rows {
			if l := loginOf(row); now.Before(l.Ends) {
				all = append(all, l)
			}
		}
		return err
	})
	return all, err
}

// End ends the login of a secret. That it is over already is no error.
func (b *Book) End(ctx context.Context, secret string) error {
	return b.drop(ctx, *equal(loginKey, keyOf(secret)))
}

// EndOne ends one login of a principal, by its ID.
func (b *Book) EndOne(ctx context.Context, principal, id string) error {
	return b.drop(ctx, stores.Cond{Op: stores.And, Kids: []stores.Cond{*equal(loginPrincipal, stores.NewString(principal)), *equal(loginKey, stores.NewString(id))}})
}

func (b *Book) drop(ctx context.Context, where stores.Cond) error {
	return b.update(ctx, func(tx stores.Tx) error {
		rows, err := tx.Find(ctx, stores.Find{Entity: logins, Where: &where, Hold: stores.Firm})
		if err != nil || len(rows) == 0 {
			return err
		}
		var batch stores.Batch
		for _, row := range rows {
			batch.Changes = append(batch.Changes, remove(logins, row))
		}
		return tx.Apply(ctx, batch)
	})
}

// Link makes a link by which a principal can sign in once, within the time lasts, Link at most. If browser is
// given, it is the Digest of one browser's secret, and only that browser can use the link.
func (b *Book) Link(ctx context.Context, principal, browser string, lasts time.Duration) (secret string, err error) {
	secret = Secret()
	return secret, b.write(ctx, links.Insert(keyOf(secret), stores.NewString(principal), stores.NewString(browser), stores.NewTime(b.now().Add(lasts))))
}

// Use signs in by a link, and uses it up. It returns ErrOver for a link that was used, that has
// expired, or that belongs to another browser; in the last case the link stays valid.
func (b *Book) Use(ctx context.Context, link, browser, how string) (secret, principal string, err error) {
	secret = Secret()
	err = b.update(ctx, func(tx stores.Tx) error {
		row, err := tx.Get(ctx, links, keyOf(link))
		if errors.Is(err, stores.ErrNotFound) {
			return ErrOver
		}
		if err != nil {
			return err
		}
		v := row.Values
		now := b.now()
		until := v[linkUntil].Time()
		if want := v[linkBrowser].Text(); !now.Before(until) || until.Sub(now) > Link+setBack || want != "" && want != Digest(browser) {
			return ErrOver
		}
		principal = v[linkPrincipal].Text()
		at := stores.NewTime(now)
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{remove(links, v),
			logins.Insert(keyOf(secret), v[linkPrincipal], stores.NewString(how), at, at)}})
	})
	return secret, principal, err
}

// Try counts an attempt of a kind by an address, an account or the like, and returns ErrTooMany if
// there were already more than most in this period.
func (b *Book) Try(ctx context.Context, kind, who string, most int64, period time.Duration) error {
	now := b.now()
	window := now.Truncate(period).UTC().Format(time.RFC3339)
	ok := false
	err := b.update(ctx, func(tx stores.Tx) (err error) {
		// A reader of the rows must not learn whose attempts they are.
		_, ok, err = sessions.Count(ctx, tx, scope.Principal, digest.Of("verbatim attempts 1", kind, who, window), 1, most, now)
		return err
	})
	if err == nil && !ok {
		err = ErrTooMany
	}
	return err
}

// Lease gives a process up to n of the requests that a client may make of all processes together: most
// at a time, and rate a second.
func (b *Book) Lease(ctx context.Context, who string, n, most int64, rate float64) (given int64, err error) {
	now := b.now()
	err = b.update(ctx, func(tx stores.Tx) (err error) {
		given, err = sessions.Draw(ctx, tx, scope.Principal, digest.Of("verbatim client 1", who), n, most, rate, now)
		return err
	})
	return given, err
}

// Housekeep deletes expired logins and links.
func (b *Book) Housekeep(ctx context.Context) error {
	now := b.now()
	return b.sweep(ctx, now, now.Add(-Longest), now.Add(-Idle))
}

// Forget deletes all logins and links. A restored store has some that were ended or used since.
func (b *Book) Forget(ctx context.Context) error {
	ever := b.now().AddDate(100, 0, 0)
	return b.sweep(ctx, ever, ever, ever)
}

// sweep deletes links that are good until a time, and logins that were proven or seen by one.
func (b *Book) sweep(ctx context.Context, until, proven, seen time.Time) error {
	by := func(field int, t time.Time) stores.Cond {
		return stores.Cond{Op: stores.Le, Path: stores.Path{Field: field}, Value: stores.NewTime(t)}
	}
	for _, what := range []struct {
		of    *stores.Entity
		where stores.Cond
	}{
		{logins, stores.Cond{Op: stores.Or, Kids: []stores.Cond{by(loginProven, proven), by(loginSeen, seen)}}},
		{links, by(linkUntil, until)},
	} {
		for part := 1; part > 0; {
			err := b.update(ctx, func(tx stores.Tx) error {
				rows, err := tx.Find(ctx, stores.Find{Entity: what.of, Where: &what.where, Limit: 200, Cut: true, Hold: stores.Firm})
				if part = len(rows); err != nil || part == 0 {
					return err
				}
				var batch stores.Batch
				for _, row := range rows {
					batch.Changes = append(batch.Changes, remove(what.of, row))
				}
				return tx.Apply(ctx, batch)
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func ends(proven, seen time.Time) time.Time {
	if idle, longest := seen.Add(Idle), proven.Add(Longest); idle.Before(longest) {
		return idle
	}
	return proven.Add(Longest)
}

func loginOf(row []stores.Value) Login {
	l := Login{ID: row[loginKey].Text(), Principal: row[loginPrincipal].Text(), How: row[loginHow].Text(), Proven: row[loginProven].Time(), Seen: row[loginSeen].Time()}
	l.Ends = ends(l.Proven, l.Seen)
	return l
}

func remove(e *stores.Entity, row []stores.Value) stores.Change {
	return stores.Change{Op: stores.Delete, Entity: e, Key: row[e.Key], Before: row}
}

func equal(field int, v stores.Value) *stores.Cond {
	return &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: field}, Value: v}
}

func (b *Book) get(ctx context.Context, e *stores.Entity, key stores.Value) (row []stores.Value, err error) {
	err = b.Store.View(ctx, scope, func(r stores.Reader) error {
		found, err := r.Get(ctx, e, key)
		row = found.Values
		return err
	})
	if errors.Is(err, stores.ErrNotFound) {
		err = ErrOver
	}
	return row, err
}

func (b *Book) write(ctx context.Context, c stores.Change) error {
	return b.update(ctx, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}}) })
}

func (b *Book) update(ctx context.Context, fn func(stores.Tx) error) error {
	return stores.Insist(ctx, b.Store, scope, fn)
}
