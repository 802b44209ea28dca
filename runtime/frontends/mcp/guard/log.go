package guard

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/stores/journal"
)

// What a call came to, in the journal.
const (
	outcomeOK        = "ok"
	outcomeAttempted = "attempted" // it was sent, or is about to be
	outcomeFailed    = "failed"    // the server says that it failed
	outcomeUnknown   = "unknown"   // its answer was lost
	outcomeRefused   = "refused"
	outcomeDeclined  = "declined"
)

// sent keeps the calls that were sent and may have acted: what became of them is asked when the same
// is to be done again.
var sent = &stores.Entity{
	Name: "verbatim.guarded", Table: "verbatim.guarded", Managed: true, Place: "the guard's own",
	Fields: []stores.Field{
		{Name: "key", Column: "key", Kind: stores.String, Required: true},
		{Name: "same", Column: "same", Kind: stores.String, Required: true},
		{Name: "status", Column: "status", Kind: stores.String, Required: true},
		{Name: "time", Column: "sent_at", Kind: stores.Time, Required: true},
		// The entry of the call is so many behind the first of its transaction.
		{Name: "first", Column: "first_entry", Kind: stores.Int},
		{Name: "behind", Column: "entries_behind", Kind: stores.Int, Required: true},
	},
	Found: [][]int{{sentSame, sentTime}},
}

const (
	sentKey = iota
	sentSame
	sentStatus
	sentTime
	sentFirst
	sentBehind
)

// statusAgain is the status of a call whose answer was lost and which somebody agreed to do again.
const statusAgain = "again"

// Entities are the entities of a guard's store, for Migrate.
func Entities() []*stores.Entity { return []*stores.Entity{sent} }

// A log writes the journal. What only reads is written behind, several entries in one transaction; an
// acting call is written before it is sent.
type log struct {
	store stores.Store
	who   string
	clock func() time.Time

	writing sync.Mutex // one transaction at a time, so that entries stand in their order

	mu     sync.Mutex
	queue  []write
	ended  map[string]string // statuses that are still to be written, by key
	failed error             // of the last transaction
	kick   chan struct{}
	done   chan struct{}
	over   chan struct{}
}

// A write is an entry, and the row that it settles.
type write struct {
	entry  stores.Entry
	key    string // of the row; "" without one
	status string
}

// behind is how long entries are collected.
const behind = 100 * time.Millisecond

func newLog(store stores.Store, who string, clock func() time.Time) *log {
	l := &log{store: store, who: who, clock: clock, kick: make(chan struct{}, 1), done: make(chan struct{}), over: make(chan struct{}), ended: map[string]string{}}
	go l.run()
	return l
}

func (l *log) run() {
	defer close(l.over)
	for {
		select {
		case <-l.kick:
		case <-l.done:
			l.flush()
			return
		}
		select {
		case <-time.After(behind):
		case <-l.done:
		}
		l.flush()
	}
}

func (l *log) close() error {
	close(l.done)
	<-l.over
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil && len(l.queue) > 0 {
		return fmt.Errorf("%d entries of the journal could not be written: %w", len(l.queue), l.failed)
	}
	return nil
}

// most is the number of entries that are kept while the store cannot be written.
const most = 10_000

// later writes an entry soon. It returns the error of the last transaction, if that failed.
func (l *log) later(w write) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) < most {
		l.queue = append(l.queue, w)
		if w.key != "" {
			l.ended[w.key] = w.status
		}
	}
	select {
	case l.kick <- struct{}{}:
	default:
	}
	return l.failed
}

func (l *log) scope() stores.Scope { return stores.Scope{Principal: l.who, All: true} }

// flush writes what was collected. What cannot be written is tried again with the next.
func (l *log) flush() { _ = l.writes(context.Background(), stores.Batch{}, nil) }

// writes writes what was collected and, after it, one entry more.
func (l *log) writes(ctx context.Context, b stores.Batch, last *stores.Entry) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	all := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, w := range all {
		b.Entries = append(b.Entries, w.entry)
		if w.key != "" {
			b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: sent, Key: stores.NewString(w.key),
				Set: []stores.Assign{{Field: sentStatus, Value: stores.NewString(w.status)}}})
		}
	}
	if last != nil {
		set := &b.Changes[0].Set
		*set = append(*set, stores.Assign{Field: sentBehind, Value: stores.NewInt(int64(len(all)))})
		b.Entries = append(b.Entries, *last)
	}
	if len(b.Entries) == 0 {
		return nil
	}
	err := l.update(ctx, b)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed = err; err != nil {
		l.queue = append(all, l.queue...)
		return err
	}
	for _, w := range all {
		delete(l.ended, w.key)
	}
	return nil
}

func (l *log) update(ctx context.Context, b stores.Batch) error {
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	for {
		err := l.store.Update(ctx, l.scope(), func(tx stores.Tx) error { return tx.Apply(ctx, b) })
		if !errors.Is(err, stores.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// before is the last time that the same was sent.
type before struct {
	key, status string
	at          time.Time
	entry       int64
}

// lost reports whether nobody knows what became of it.
func (b *before) lost() bool {
	return b != nil && (b.status == outcomeAttempted || b.status == outcomeUnknown)
}

// same finds the last time that the same call was sent, within a week.
func (l *log) same(ctx context.Context, digest string) (*before, error) {
	var found *before
	err := l.store.View(ctx, l.scope(), func(r stores.Reader) error {
		rows, err := r.Find(ctx, stores.Find{Entity: sent, Limit: 1, Cut: true, Last: true,
			Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: sentSame}, Value: stores.NewString(digest)},
			Order: []stores.Order{{Path: stores.Path{Field: sentTime}, Desc: true}}})
		if err != nil || len(rows) == 0 {
			return err
		}
		row := rows[0]
		at := row[sentTime].Time()
		first, _ := strconv.ParseInt(row[sentFirst].Text(), 10, 64)
		behind, _ := strconv.ParseInt(row[sentBehind].Text(), 10, 64)
		if b := (&before{row[sentKey].Text(), row[sentStatus].Text(), at, first + behind}); l.clock().Sub(at) < 7*24*time.Hour && b.status != statusAgain {
			found = b
		}
		return nil
	})
	if found != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		found.status = cmp.Or(l.ended[found.key], found.status)
	}
	return found, err
}

// attempt journals that a call is about to be sent, and returns once that cannot be lost any more. A
// lost call that it does again is linked.
func (l *log) attempt(ctx context.Context, e stores.Entry, key, same string, again *before) error {
	e.Outcome = outcomeAttempted
	b := stores.Batch{Changes: []stores.Change{{Op: stores.Insert, Entity: sent, Key: stores.NewString(key), Number: sentFirst, Set: []stores.Assign{
		{Field: sentKey, Value: stores.NewString(key)}, {Field: sentSame, Value: stores.NewString(same)},
		{Field: sentStatus, Value: stores.NewString(outcomeAttempted)}, {Field: sentTime, Value: stores.NewTime(e.Time)},
	}}}}
	if again.lost() {
		record := journal.Record{After: again.entry}
		e.Changes = string(record.AppendText(nil))
		b.Changes = append(b.Changes, stores.Change{Op: stores.Update, Entity: sent, Key: stores.NewString(again.key),
			Set: []stores.Assign{{Field: sentStatus, Value: stores.NewString(statusAgain)}}})
	}
	return l.writes(ctx, b, &e)
}

// longText is the greatest length of arguments that the journal holds; longer ones are a digest.
const longText = 64 << 10

// entry makes an entry about a call.
func (l *log) entry(c *call) stores.Entry {
	args := []dsl.Arg{dsl.NewArg("server", dsl.NewString(c.u.Name)), dsl.NewArg("tool", dsl.NewString(c.tool))}
	if len(c.args) > longText {
		args = append(args, dsl.NewArg("arguments-sha256", dsl.NewString(digest(string(c.args)))))
	} else if len(c.args) > 0 {
		args = append(args, dsl.NewArg("arguments", dsl.NewString(string(c.args))))
	}
	var from []string
	for _, o := range c.origins {
		for _, f := range o.from {
			from = append(from, o.path+" from "+f.String())
		}
	}
	slices.Sort(from)
	if len(from) > 0 {
		args = append(args, dsl.NewArg("traced", dsl.NewString(fmt.Sprint(slices.Compact(from)))))
	}
	said := dsl.NewCall(VerbCall, args...)
	return stores.Entry{Time: l.clock(), Principal: l.who, Session: c.session.id, Source: "guard " + c.session.name, Verb: VerbCall,
		Call: dsl.FormatCall(&said), Agreed: c.agreed}
}

// The verbs of the journal.
const (
	VerbCall   = "guard.call"
	verbRefuse = "guard.refuse" // something that is not passed on
	verbAgree  = "guard.agree"
	VerbAccept = "guard.accept"
)

// agreement makes an entry about what a person decided beside a call.
func (s *session) agreement(verb, server, what, outcome string) write {
	said := dsl.NewCall(verb, dsl.NewArg("server", dsl.NewString(server)), dsl.NewArg("what", dsl.NewString(what)))
	return write{entry: stores.Entry{Time: s.Clock(), Principal: s.Who, Session: s.id, Source: "guard " + s.name, Verb: verb,
		Call: dsl.FormatCall(&said), Outcome: outcome, Agreed: s.Who}}
}

// parts reads the arguments for people: the leaves of an object with their paths, and its names.
func parts(raw json.RawMessage) (leaves, keys []leaf) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 && path != "" {
				leaves = append(leaves, leaf{path, "{}", false})
			}
			for _, k := range sortedKeys(v) {
				next := k
				if strings.ContainsAny(k, `.[]"`) { // one path is one place
					next = strconv.Quote(k)
				}
				if path != "" {
					next = path + "." + next
				}
				keys = append(keys, leaf{next, k, true})
				walk(next, v[k])
			}
		case []any:
			if len(v) == 0 {
				leaves = append(leaves, leaf{path, "[]", false})
			}
			for i := range v {
				walk(fmt.Sprintf("%s[%d]", path, i+1), v[i])
			}
		case string:
			leaves = append(leaves, leaf{path, v, true})
		default:
			text, _ := json.Marshal(v)
			leaves = append(leaves, leaf{path, string(text), false})
		}
	}
	walk("", decoded(raw))
	return leaves, keys
}

// A leaf is one value among the arguments.
type leaf struct {
	path, text string
	isText     bool
}
