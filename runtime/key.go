package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// What was done under a key is kept in the transaction that did it, so that
// asking again finds it exactly when it was done. Kept are rows by their keys,
// not what was shown: whoever asks again, perhaps in another session, is told
// the names that they know the rows by.

// A kept is a reply as it is kept.
type kept struct {
	Entries int    // how many the journal has of it, one after another
	Digest  string // of the preview
	ID      string
	Calls   []keptCall  // parallel to Program.Calls
	Files   []knownFile `json:",omitempty"`
}

type keptCall struct {
	Verb    string
	Text    string
	Entry   int          `json:",omitempty"` // which of the entries is its own, from one
	Asks    []keptAsk    `json:",omitempty"`
	Changes []keptChange `json:",omitempty"`
	Notices []keptNotice `json:",omitempty"`
	Sets    []keptSet    `json:",omitempty"`
	Filled  []keptFill   `json:",omitempty"`
	Tended  []TendedJob  `json:",omitempty"`
	Table   *keptTable   `json:",omitempty"`
}

type keptAsk struct{ By, Reason string }

type keptNotice struct {
	Kind, Target string
	Calls        string    `json:",omitempty"`
	At           keptValue `json:",omitzero"`
	Instead      int       `json:",omitempty"`
}

// A keptSet is something that the session was given; of what is secret, that it
// was.
type keptSet struct {
	Name   string
	Before sessionValue
	After  sessionValue
	From   string
}

type keptChange struct {
	Op     stores.Op
	Entity string
	Key    keptValue
	Name   string `json:",omitempty"`
	Label  string `json:",omitempty"`
	Fields []keptField
}

type keptField struct {
	Field         string
	Before, After keptValue
	Set           bool   // it was assigned; otherwise it is a field of a row that was deleted
	From          string `json:",omitempty"`
	Origin, Was   string `json:",omitempty"`
	Secret        bool   `json:",omitempty"`
}

type keptTable struct {
	Columns []keptColumn
	Entity  string
	Keys    []keptValue
	Rows    [][]keptCell
	From    verbs.Origins `json:",omitempty"`
}

type keptColumn struct {
	Name   string
	Secret bool `json:",omitempty"`
}

type keptCell struct {
	Value  keptValue
	Entity string `json:",omitempty"`
	Origin string `json:",omitempty"`
}

// A keptValue is a value with its kind.
type keptValue struct {
	Kind stores.Kind
	Text string
}

func keep(v stores.Value) keptValue { return keptValue{v.Kind(), v.Text()} }

func (k keptValue) value() (stores.Value, error) {
	if k.Kind == stores.Null {
		return stores.Value{}, nil
	}
	v, ok := stores.Parse(k.Kind, k.Text)
	if !ok {
		return v, errors.New("a reply that was kept holds a value that cannot be read")
	}
	return v, nil
}

// deliveryKey is the key of what a principal did under a key of theirs. Nobody
// else's leads to the same row.
func deliveryKey(principal, key string) stores.Value {
	d := digester{}
	d.text("verbatim key 1")
	d.text(principal)
	d.text(key)
	return stores.NewString(d.sum())
}

// textDigest stands for a script under a key. The key goes into it, so that
// nobody who does not know the key can find out by trying what a short secret
// in the script was.
func textDigest(script *dsl.Script, key string) string {
	d := digester{}
	d.text("verbatim text 1")
	d.text(key)
	d.text(dsl.Format(script))
	return fmt.Sprintf("%x", sha256.Sum256(d.b))
}

// Repeat returns the reply of a script that was done under a key already, and
// nil when none was. Run does the same; but what was done may have taken away
// the rows that the script names, so that it can no longer be checked.
func (s *Session) Repeat(ctx context.Context, script *dsl.Script, key string) (*Reply, error) {
	var reply *Reply
	err := s.e.store.View(ctx, holding(s.scope, deliveries, deliveryKey(s.who.Name, key)), func(r stores.Reader) (err error) {
		settled, err := s.settled(ctx, r, script)
		if err != nil {
			return err
		}
		reply, _, err = s.delivered(ctx, r, script, settled, key, false)
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	return reply, nil
}

// settled is a script with names that cannot come to mean other rows, as far as the
// store knows them, whether or not their rows are still there.
func (s *Session) settled(ctx context.Context, r stores.Reader, script *dsl.Script) (*dsl.Script, error) {
	names := s.mentioned(script)
	kept := make(map[string]string)
	for _, e := range names.among {
		for _, word := range names.words(e) {
			if _, done := kept[word]; done {
				continue
			}
			if key, ok := s.key(e.Store, word); ok {
				row, _ := s.known(e.Store, key)
				kept[word] = row.kept
				continue
			}
			plain, suffix, _ := strings.Cut(word, "~")
			q := stores.NameQuery{Entity: e.Store, Owners: s.owners(e.Store), Most: maxHomonyms}
			if suffix != "" {
				q.Suffix = suffix
			} else {
				q.Plain = []string{plain}
			}
			found, err := r.Names(ctx, q)
			if err != nil {
				return nil, err
			}
			if len(found) > 0 && !slices.ContainsFunc(found, func(n stores.Name) bool { return n.Key != found[0].Key }) {
				kept[word] = plain + "~" + found[0].Suffix
			}
		}
	}
	out := *script
	out.Calls = make([]dsl.Call, len(script.Calls))
	for i := range out.Calls {
		out.Calls[i] = *dsl.Replace(&script.Calls[i], func(_ *dsl.Call, _ string, v *dsl.Value) (dsl.Value, bool) {
			word, path, has := strings.Cut(v.Text, ".")
			name, ok := kept[word]
			if v.Kind != dsl.Symbol || !ok {
				return dsl.Value{}, false
			}
			if has {
				name += "." + path
			}
			return dsl.NewSymbol(name), true
		})
	}
	return &out, nil
}

// delivered looks for what was done under a key. Another text under it is a
// complaint when it is about to be run.
func (s *Session) delivered(ctx context.Context, read stores.Reader, script, settled *dsl.Script, key string, run bool) (*Reply, []*step, error) {
	row, err := read.Get(ctx, deliveries, deliveryKey(s.who.Name, key))
	if errors.Is(err, stores.ErrNotFound) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	// What was done may have taken away the rows that the script names. Then the
	// text is known as it was written.
	if row.Values[dlvWritten].Text() != textDigest(script, key) && row.Values[dlvText].Text() != textDigest(settled, key) {
		if !run {
			return nil, nil, nil
		}
		return nil, nil, refuse([]complaint{{-1, keyReused(dsl.Place{Source: script.Source})}})
	}
	var k kept
	if err := json.Unmarshal([]byte(row.Values[dlvReply].Text()), &k); err != nil {
		return nil, nil, &Failure{Err: fmt.Errorf("a reply that was kept cannot be read: %w", err)}
	}
	first := int64(0)
	if v := row.Values[dlvFirst]; !v.IsNull() {
		first = v.Int()
	}
	return s.retell(ctx, read, script, &k, first)
}

// delivery is the row that keeps what a run did, with the run. It is made before
// the run has its place in the journal: the store notes where that begins.
func (r *run) delivery(key string, labels map[stores.Value]string) (stores.Change, error) {
	k := kept{Entries: len(r.of), Digest: fmt.Sprintf("%x", r.digest), ID: r.id, Files: r.files}
	for _, st := range r.written() {
		c := keptCall{Verb: st.verb.Name, Text: st.text, Entry: 1 + slices.Index(r.of, st)}
		for _, a := range st.allAsks(nil) {
			c.Asks = append(c.Asks, keptAsk{a.By, a.Reason})
		}
		all := st.gather(&gathered{})
		for i := range all.changes {
			c.Changes = append(c.Changes, keepChange(&all.changes[i], labels))
		}
		for _, n := range r.noticeChanges(st) {
			c.Notices = append(c.Notices, keptNotice{n.Kind, n.Target, n.Calls, keep(n.At), n.Instead})
		}
		for i := range all.sets {
			c.Sets = append(c.Sets, all.sets[i].keep())
		}
		for i := range st.filled {
			c.Filled = append(c.Filled, st.filled[i].keep())
		}
		c.Tended = st.allTended()
		c.Table = keepTable(st.cells)
		k.Calls = append(k.Calls, c)
	}
	text, err := json.Marshal(k)
	if err != nil {
		return stores.Change{}, &Failure{Err: fmt.Errorf("the reply cannot be kept: %w", err)}
	}
	return stores.Change{Op: stores.Insert, Entity: deliveries, Key: deliveryKey(r.s.who.Name, key), Number: dlvFirst, Set: []stores.Assign{
		{Field: dlvPrincipal, Value: stores.NewString(r.s.who.Name)}, {Field: dlvText, Value: stores.NewString(textDigest(r.settledScript(), key))}, {Field: dlvWritten, Value: stores.NewString(textDigest(r.script(), key))},
		{Field: dlvReply, Value: stores.NewString(string(text))}, {Field: dlvTime, Value: stores.NewTime(r.now)},
	}}, nil
}

func keepChange(c *change, labels map[stores.Value]string) keptChange {
	k := keptChange{Op: c.Op, Entity: c.Entity.Name, Key: keep(c.Key), Name: c.named.name, Label: c.named.label}
	if c.Op == stores.Insert || k.Label == "" {
		k.Label = labels[c.Key]
	}
	field := func(f int, before, after stores.Value, set bool, from string, came verbs.Origin) {
		secret := false
		for _, s := range c.secret {
			secret = secret || s == f
		}
		if secret {
			before, after = stores.Value{}, stores.Value{}
		}
		k.Fields = append(k.Fields, keptField{c.Entity.Fields[f].Name, keep(before), keep(after), set, from, came.String(), stores.MarkOf(c.Marks, f), secret})
	}
	if c.Op == stores.Delete {
		for f, v := range c.Before {
			if f != c.Entity.Key && !v.IsNull() {
				field(f, v, stores.Value{}, false, "", verbs.Origin{})
			}
		}
	}
	for i, a := range c.Set {
		var before stores.Value
		if c.Before != nil {
			before = c.Before[a.Field]
		}
		field(a.Field, before, a.Value, true, c.from[i], c.came[i])
	}
	return k
}

func keepTable(t *table) *keptTable {
	if t == nil {
		return nil
	}
	k := &keptTable{From: t.from}
	for _, c := range t.columns {
		k.Columns = append(k.Columns, keptColumn{c.name, c.sensitive})
	}
	if t.entity != nil {
		k.Entity = t.entity.Store.Name
	}
	for _, key := range t.keys {
		k.Keys = append(k.Keys, keep(key))
	}
	for _, row := range t.rows {
		cells := make([]keptCell, len(row))
		for i, c := range row {
			if !t.columns[i].sensitive {
				cells[i].Value = keep(c.value)
			}
			if c.entity != nil {
				cells[i].Entity = c.entity.Store.Name
			}
			cells[i].Origin = c.from.String()
		}
		k.Rows = append(k.Rows, cells)
	}
	return k
}

// retell makes the reply again of what was kept, as the run would have made it
// in this session, where the journal begins to tell of it at first. What the
// palettes of today have no words for is left out; the journal has it.
func (s *Session) retell(ctx context.Context, read stores.Reader, script *dsl.Script, k *kept, first int64) (*Reply, []*step, error) {
	r := &run{e: s.e, s: s, read: read, id: k.ID, alias: map[stores.Value]string{}, added: map[stores.Value]string{}}
	if digest, err := hex.DecodeString(k.Digest); err == nil {
		copy(r.digest[:], digest)
	}
	places := callPlaces(script)
	names := map[stores.Value]string{} // of rows that are there no more
	for i := range k.Calls {
		c := &k.Calls[i]
		st := &step{verb: s.e.reg.Verb(c.Verb), index: i, text: c.Text, place: dsl.Place{Source: script.Source}}
		if st.verb == nil {
			continue
		}
		if c.Entry > 0 {
			st.seq = first + int64(c.Entry) - 1
		}
		st.rows = make([]stores.Row, len(st.verb.Params))
		if len(places) == len(k.Calls) {
			st.place.Range = places[i]
		}
		for _, a := range c.Asks {
			st.asks = append(st.asks, Ask{By: a.By, Reason: a.Reason, Call: i})
		}
		for _, n := range c.Notices {
			at, err := n.At.value()
			if err != nil {
				return nil, nil, err
			}
			st.notices = append(st.notices, notice{kind: n.Kind, target: n.Target, calls: n.Calls, at: at, instead: make([]stores.JobRecord, n.Instead)})
		}
		for j := range c.Sets {
			st.sets = append(st.sets, c.Sets[j].setting(s.e))
		}
		if err := r.nameSets(ctx, st); err != nil {
			return nil, nil, err
		}
		for j := range c.Filled {
			f, ok, err := c.Filled[j].filled(s.e)
			if err != nil {
				return nil, nil, err
			}
			if !ok {
				continue
			}
			if _, err := r.nameRow(ctx, f.entity, f.key); err != nil {
				return nil, nil, err
			}
			st.filled = append(st.filled, f)
		}
		st.tended = c.Tended
		for j := range c.Changes {
			change, err := s.retellChange(&c.Changes[j])
			if err != nil {
				return nil, nil, err
			}
			if change == nil {
				continue
			}
			if c.Changes[j].Name != "" {
				names[change.Key] = "@" + c.Changes[j].Name
			}
			if _, err := r.nameRow(ctx, change.entity, change.Key); err != nil {
				return nil, nil, err
			}
			st.changes = append(st.changes, *change)
		}
		var err error
		if st.cells, err = s.retellTable(c.Table); err != nil {
			return nil, nil, err
		}
		if st.cells != nil {
			if err := r.nameCells(ctx, st.cells); err != nil {
				return nil, nil, err
			}
		}
		r.top, r.steps = append(r.top, st), append(r.steps, st)
	}
	for _, st := range r.steps {
		for i := range st.changes {
			if err := r.nameChange(ctx, &st.changes[i]); err != nil {
				return nil, nil, err
			}
		}
	}
	labels := map[stores.Value]string{}
	for _, st := range r.steps {
		for i := range st.changes {
			labels[st.changes[i].Key] = st.changes[i].named.label
		}
	}
	r.files = k.Files
	reply := &Reply{Preview: r.preview(labels), Repeated: true}
	if k.Entries > 0 {
		reply.First, reply.Last = first, first+int64(k.Entries)-1
	}
	for i, st := range r.top {
		p := &reply.Preview.Calls[i]
		for j := range p.Rows {
			if name := names[st.changes[j].Key]; name != "" && p.Rows[j].Name == hidden {
				p.Rows[j].Name = name
			}
		}
		reply.Calls = append(reply.Calls, CallReply{Verb: st.verb, Place: st.place, Rows: p.Rows, Notices: p.Notices, Sets: p.Sets, Filled: p.Filled, Tended: p.Tended, Result: p.Result, Seq: st.seq})
	}
	return reply, r.top, nil
}

// nameChange names what a change refers to.
func (r *run) nameChange(ctx context.Context, c *change) error {
	for _, a := range c.Set {
		to := r.e.refersTo(c.Entity, a.Field)
		if to == nil || a.Field == c.Entity.Key {
			continue
		}
		values := []stores.Value{a.Value}
		if c.Before != nil {
			values = append(values, c.Before[a.Field])
		}
		for _, v := range values {
			if !v.IsNull() {
				if _, err := r.nameRow(ctx, to, v); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// retellChange returns nil where the palettes do not know the row any more.
func (s *Session) retellChange(k *keptChange) (*change, error) {
	e := s.e.reg.Entity(k.Entity)
	if e == nil {
		return nil, nil
	}
	key, err := k.Key.value()
	if err != nil {
		return nil, err
	}
	c := &change{entity: e, named: named{name: k.Name, label: k.Label}, Change: stores.Change{Op: k.Op, Entity: e.Store, Key: key}}
	if k.Op != stores.Insert {
		c.Before = make([]stores.Value, len(e.Store.Fields))
		c.Before[e.Store.Key] = key
	}
	for _, f := range k.Fields {
		i := e.Store.FieldIndex(f.Field)
		if i < 0 {
			return nil, nil
		}
		before, err := f.Before.value()
		if err != nil {
			return nil, err
		}
		after, err := f.After.value()
		if err != nil {
			return nil, err
		}
		if c.Before != nil {
			c.Before[i] = before
		}
		if f.Set {
			came, err := verbs.ParseOrigin(f.Origin)
			if err != nil {
				came = ofDocument
			}
			c.Set, c.from, c.came = append(c.Set, stores.Assign{Field: i, Value: after}), append(c.from, f.From), append(c.came, came)
		}
		if f.Was != "" {
			c.Marks = append(c.Marks, stores.Mark{Field: i, Origin: f.Was})
		}
		if f.Secret {
			c.secret = append(c.secret, i)
		}
	}
	return c, nil
}

func (s *Session) retellTable(k *keptTable) (*table, error) {
	if k == nil {
		return nil, nil
	}
	t := &table{from: k.From}
	if k.Entity != "" {
		t.entity = s.e.reg.Entity(k.Entity)
	}
	for _, c := range k.Columns {
		t.columns = append(t.columns, column{c.Name, c.Secret})
	}
	for _, key := range k.Keys {
		v, err := key.value()
		if err != nil {
			return nil, err
		}
		t.keys = append(t.keys, v)
	}
	for _, row := range k.Rows {
		cells := make([]cell, len(row))
		for i, c := range row {
			v, err := c.Value.value()
			if err != nil {
				return nil, err
			}
			if cells[i].value, cells[i].from = v, ofRecord; c.Origin != "" {
				if cells[i].from, err = verbs.ParseOrigin(c.Origin); err != nil {
					return nil, err
				}
			}
			if c.Entity != "" {
				cells[i].entity = s.e.reg.Entity(c.Entity)
			}
		}
		t.rows = append(t.rows, cells)
	}
	return t, nil
}

// callPlaces lists where the calls of a script stand, in the order of
// Program.Calls: a nested call before the call that it stands in.
func callPlaces(script *dsl.Script) []dsl.Range {
	var out []dsl.Range
	var call func(c *dsl.Call)
	var value func(v dsl.Value)
	call = func(c *dsl.Call) {
		for i := range c.Args {
			value(c.Args[i].Value)
		}
		out = append(out, c.Range)
	}
	value = func(v dsl.Value) {
		if nested := v.Call(); nested != nil {
			call(nested)
		}
		for _, item := range v.Items() {
			value(item)
		}
		for _, entry := range v.Entries() {
			value(entry.Value)
		}
	}
	for i := range script.Calls {
		call(&script.Calls[i])
	}
	return out
}
