// Package peers keeps the messages of foreign agents, and the addresses at which they are notified
// of their tasks, so that any process continues where another stopped. It keeps no texts: those are
// in the turns of a session.
//
//	book := &peers.Book{Store: store, Clock: time.Now}
//	said, err := book.Message(ctx, "acme", "m-1")   // nil where nothing was said under that id
//	err = book.Keep(ctx, "acme", "m-1", peers.Message{Sum: sum, Task: "ticket~k3f9…", Context: "a-1"})
//
// A Push holds a secret of its peer in the clear, since it is sent with each notification. A Key
// is in the clear too: anyone who can write to the store can leave notifications anyway.
package peers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"verbatim/runtime/internal/digest"
	"verbatim/stores"
)

// A Book keeps it in a store. It is safe for use by many goroutines and processes.
type Book struct {
	Store stores.Store
	Clock func() time.Time
}

// A Message is the record of a message that a peer sent.
type Message struct {
	Sum     string // digest of its text
	Task    string // the task that it began or continued; "" if it did neither
	Context string // the session that it was said in
}

// The fields of said. A row is a message, or says in which session a task was begun.
const (
	saidKey = iota
	saidPrincipal
	saidSum
	saidTask
	saidContext
	saidTime
)

var said = &stores.Entity{Name: "verbatim.peer-message", Table: "verbatim.peer_messages", Managed: true, Place: "the server's own", Fields: []stores.Field{
	saidKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
	saidPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
	saidSum:       {Name: "sum", Column: "sum", Kind: stores.String, Required: true},
	saidTask:      {Name: "task", Column: "task", Kind: stores.String, Required: true},
	saidContext:   {Name: "context", Column: "context", Kind: stores.String, Required: true},
	saidTime:      {Name: "time", Column: "said_at", Kind: stores.Time, Required: true},
}}

// A Push is an address at which a peer is notified of a task.
type Push struct {
	Principal, Task, ID string
	Row                 string // the key of the task's row, "" while there is none
	By                  string // digest of the token under which the push was set
	URL                 string
	Token               string // sent in a header of its own, if there is no Scheme
	Scheme, Credentials string // of the header Authorization
	Told                string // digest of the task in the last notification
	Ended               bool   // the peer was told that the task ended
	row                 []stores.Value
}

const (
	pushKey = iota
	pushPrincipal
	pushTask
	pushID
	pushRow
	pushBy
	pushURL
	pushToken
	pushScheme
	pushCredentials
	pushTold
	pushEnded
	pushTime
)

var pushes = &stores.Entity{Name: "verbatim.peer-push", Table: "verbatim.peer_pushes", Managed: true, Place: "the server's own", Fields: []stores.Field{
	pushKey:         {Name: "key", Column: "key", Kind: stores.String, Required: true},
	pushPrincipal:   {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
	pushTask:        {Name: "task", Column: "task", Kind: stores.String, Required: true},
	pushID:          {Name: "id", Column: "id", Kind: stores.String, Required: true},
	pushRow:         {Name: "row", Column: "row_key", Kind: stores.String, Required: true},
	pushBy:          {Name: "by", Column: "by_token", Kind: stores.String, Required: true},
	pushURL:         {Name: "url", Column: "url", Kind: stores.String, Required: true, Sensitive: true},
	pushToken:       {Name: "token", Column: "token", Kind: stores.String, Required: true, Sensitive: true},
	pushScheme:      {Name: "scheme", Column: "scheme", Kind: stores.String, Required: true},
	pushCredentials: {Name: "credentials", Column: "credentials", Kind: stores.String, Required: true, Sensitive: true},
	pushTold:        {Name: "told", Column: "told", Kind: stores.String, Required: true},
	pushEnded:       {Name: "ended", Column: "ended", Kind: stores.Bool, Required: true},
	pushTime:        {Name: "time", Column: "made_at", Kind: stores.Time, Required: true},
}}

// Own returns the entities of this package, to be given to Migrate.
func Own() []*stores.Entity { return []*stores.Entity{said, pushes, keys} }

// scope is the scope of the server itself.
var scope = stores.Scope{Principal: "verbatim", All: true}

func messageKey(principal, id string) stores.Value {
	return stores.NewString("message " + digest.Of("verbatim peer 1", principal, id))
}

func taskKey(principal, task string) stores.Value {
	return stores.NewString("task " + digest.Of("verbatim peer 1", principal, task))
}

// Message returns the record of a principal's message; nil if there is none.
func (b *Book) Message(ctx context.Context, principal, id string) (*Message, error) {
	row, err := b.get(ctx, said, messageKey(principal, id))
	if err != nil || row == nil {
		return nil, err
	}
	return &Message{Sum: row[saidSum].Text(), Task: row[saidTask].Text(), Context: row[saidContext].Text()}, nil
}

// Keep notes a message, and in which session its task was begun. What was noted before
// stands.
func (b *Book) Keep(ctx context.Context, principal, id string, m Message) error {
	keys := []stores.Value{messageKey(principal, id)}
	if m.Task != "" {
		keys = append(keys, taskKey(principal, m.Task))
	}
	return b.keep(ctx, principal, m, keys...)
}

// Begun notes in which session a task was begun.
func (b *Book) Begun(ctx context.Context, principal, task, session string) error {
	return b.keep(ctx, principal, Message{Task: task, Context: session}, taskKey(principal, task))
}

func (b *Book) keep(ctx context.Context, principal string, m Message, keys ...stores.Value) error {
	now := stores.NewTime(b.Clock())
	return b.update(ctx, func(tx stores.Tx) error {
		var batch stores.Batch
		for _, key := range keys {
			switch _, err := tx.Get(ctx, said, key); {
			case err == nil:
				continue
			case !errors.Is(err, stores.ErrNotFound):
				return err
			}
			batch.Changes = append(batch.Changes, said.Insert(key, stores.NewString(principal), stores.NewString(m.Sum), stores.NewString(m.Task), stores.NewString(m.Context), now))
		}
		if len(batch.Changes) == 0 {
			return nil
		}
		return tx.Apply(ctx, batch)
	})
}

// Contexts returns, by task, the sessions in which tasks of a principal were begun. It has only
// tasks that an agent of theirs began.
func (b *Book) Contexts(ctx context.Context, principal string, tasks ...string) (map[string]string, error) {
	of := make(map[string]string, len(tasks))
	keys := make([]stores.Value, len(tasks))
	for i, task := range tasks {
		keys[i] = taskKey(principal, task)
	}
	err := b.Store.View(ctx, scope, func(r stores.Reader) error {
		rows, err := r.Rows(ctx, said, keys)
		for _, row := range rows {
			of[row.Values[saidTask].Text()] = row.Values[saidContext].Text()
		}
		return err
	})
	return of, err
}

func keyOfPush(principal, task, id string) stores.Value {
	return stores.NewString(digest.Of("verbatim push 1", principal, task, id))
}

// Key returns the key by which a worker finds the push that it delivers.
func (p *Push) Key() string { return keyOfPush(p.Principal, p.Task, p.ID).Text() }

func pushOf(row []stores.Value) *Push {
	return &Push{Principal: row[pushPrincipal].Text(), Task: row[pushTask].Text(), ID: row[pushID].Text(), Row: row[pushRow].Text(), By: row[pushBy].Text(), URL: row[pushURL].Text(), Token: row[pushToken].Text(),
		Scheme: row[pushScheme].Text(), Credentials: row[pushCredentials].Text(), Told: row[pushTold].Text(), Ended: row[pushEnded].Bool(), row: row}
}

// MostPushes is the greatest number of push addresses of one task.
const MostPushes = 10

// ErrTooMany says that a task already has MostPushes push addresses.
var ErrTooMany = errors.New("too many places to tell of one task")

// SetPush keeps a push address of a task. It replaces the one with the same ID.
func (b *Book) SetPush(ctx context.Context, p Push) error {
	return b.update(ctx, func(tx stores.Tx) error {
		rows, err := tx.Find(ctx, stores.Find{Entity: pushes, Where: of(p.Principal, p.Task), Hold: stores.Firm})
		if err != nil {
			return err
		}
		c := pushes.Insert(keyOfPush(p.Principal, p.Task, p.ID), stores.NewString(p.Principal), stores.NewString(p.Task), stores.NewString(p.ID),
			stores.NewString(p.Row), stores.NewString(p.By), stores.NewString(p.URL), stores.NewString(p.Token), stores.NewString(p.Scheme), stores.NewString(p.Credentials), stores.NewString(p.Told), stores.NewBool(p.Ended), stores.NewTime(b.Clock()))
		if i := slices.IndexFunc(rows, func(row []stores.Value) bool { return row[pushID].Text() == p.ID }); i >= 0 {
			c.Op, c.Before = stores.Update, rows[i]
		} else if len(rows) >= MostPushes {
			return ErrTooMany
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{c}})
	})
}

func of(principal, task string) *stores.Cond {
	return &stores.Cond{Op: stores.And, Kids: []stores.Cond{is(pushPrincipal, stores.NewString(principal)), is(pushTask, stores.NewString(task))}}
}

func is(field int, v stores.Value) stores.Cond {
	return stores.Cond{Op: stores.Eq, Path: stores.Path{Field: field}, Value: v}
}

// Pushes lists the push addresses of a principal's task, ordered by ID.
func (b *Book) Pushes(ctx context.Context, principal, task string) ([]*Push, error) {
	all, err := b.find(ctx, stores.Find{Entity: pushes, Where: of(principal, task)})
	slices.SortFunc(all, func(p, q *Push) int { return strings.Compare(p.ID, q.ID) })
	return all, err
}

// Open lists the pushes whose tasks have not ended, a page at a time: those after a key.
func (b *Book) Open(ctx context.Context, behind string, most int) ([]*Push, error) {
	after := stores.Cond{Op: stores.Gt, Path: stores.Path{Field: pushKey}, Value: stores.NewString(behind)}
	return b.find(ctx, stores.Find{Entity: pushes, Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{is(pushEnded, stores.NewBool(false)), after}},
		Order: []stores.Order{{Path: stores.Path{Field: pushKey}}}, Limit: most, Cut: true})
}

func (b *Book) find(ctx context.Context, f stores.Find) (all []*Push, err error) {
	err = b.Store.View(ctx, scope, func(r stores.Reader) error {
		rows, err := r.Find(ctx, f)
		for _, row := range rows {
			all = append(all, pushOf(row))
		}
		return err
	})
	return all, err
}

// PushCalled returns the push with a key; nil if it was dropped.
func (b *Book) PushCalled(ctx context.Context, key string) (*Push, error) {
	row, err := b.get(ctx, pushes, stores.NewString(key))
	if err != nil || row == nil {
		return nil, err
	}
	return pushOf(row), nil
}

// DropPush forgets one.
func (b *Book) DropPush(ctx context.Context, principal, task, id string) error {
	return b.update(ctx, func(tx stores.Tx) error {
		row, err := tx.Get(ctx, pushes, keyOfPush(principal, task, id))
		if errors.Is(err, stores.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Apply(ctx, stores.Batch{Changes: []stores.Change{{Op: stores.Delete, Entity: pushes, Key: row.Key(), Before: row.Values}}})
	})
}

// Tell records a notification of a peer, together with the jobs that send it. If several processes
// notice the same change, only one of them does this.
func (b *Book) Tell(ctx context.Context, p *Push, told string, ended bool, jobs []stores.Job) error {
	err := b.Store.Update(ctx, scope, func(tx stores.Tx) error {
		return tx.Apply(ctx, stores.Batch{Jobs: jobs, Changes: []stores.Change{{Op: stores.Update, Entity: pushes, Key: p.row[pushKey], Before: p.row, Guard: []int{pushTold},
			Set: []stores.Assign{{Field: pushTold, Value: stores.NewString(told)}, {Field: pushEnded, Value: stores.NewBool(ended)}}}}})
	})
	if errors.Is(err, stores.ErrConflict) || errors.Is(err, stores.ErrNotFound) {
		return nil // another process told it, or the peer wants no more
	}
	return err
}

// kept is how long a message is kept, and a push address after its task has ended.
const kept = 90 * 24 * time.Hour

// Housekeep deletes rows that are not needed any more. The session in which a task was begun stays.
func (b *Book) Housekeep(ctx context.Context) error {
	before := func(field int) stores.Cond {
		return stores.Cond{Op: stores.Lt, Path: stores.Path{Field: field}, Value: stores.NewTime(b.Clock().Add(-kept))}
	}
	for _, old := range []struct {
		of    *stores.Entity
		where []stores.Cond
	}{
		{said, []stores.Cond{before(saidTime), {Op: stores.Starts, Path: stores.Path{Field: saidKey}, Value: stores.NewString("message ")}}},
		{pushes, []stores.Cond{before(pushTime), is(pushEnded, stores.NewBool(true))}},
		{keys, []stores.Cond{{Op: stores.Lt, Path: stores.Path{Field: keyTime}, Value: stores.NewTime(b.Clock().Add(-2 * signs))}}},
	} {
		for part := 1; part > 0; {
			err := b.update(ctx, func(tx stores.Tx) error {
				rows, err := tx.Find(ctx, stores.Find{Entity: old.of, Where: &stores.Cond{Op: stores.And, Kids: old.where}, Limit: 200, Cut: true, Hold: stores.Firm})
				if part = len(rows); err != nil || part == 0 {
					return err
				}
				var batch stores.Batch
				for _, row := range rows {
					batch.Changes = append(batch.Changes, stores.Change{Op: stores.Delete, Entity: old.of, Key: row[old.of.Key], Before: row})
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

func (b *Book) get(ctx context.Context, e *stores.Entity, key stores.Value) (row []stores.Value, err error) {
	err = b.Store.View(ctx, scope, func(r stores.Reader) error {
		found, err := r.Get(ctx, e, key)
		if errors.Is(err, stores.ErrNotFound) {
			return nil
		}
		row = found.Values
		return err
	})
	return row, err
}

func (b *Book) update(ctx context.Context, fn func(stores.Tx) error) error {
	return stores.Insist(ctx, b.Store, scope, fn)
}
