package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/digest"
	"verbatim/runtime/names"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// What was done under a key is kept in the transaction that did it, so that
// asking again finds it exactly when it was done. Kept is the receipt, and whoever
// asks again is told what they were told at first.

// deliveryKey is the key of what a principal did under a key of theirs. Nobody
// else's leads to the same row.
func deliveryKey(principal, key string) stores.Value {
	return stores.NewString(digest.Of("verbatim key 1", principal, key))
}

// textDigest stands for a script under a key. The key goes into it, so that
// nobody who does not know the key can find out by trying what a short secret
// in the script was.
func textDigest(script *dsl.Script, key string) string {
	return digest.Of("verbatim text 1", key, dsl.Format(script))
}

// Repeat returns the receipt of a script that was done under a key already, and
// nil when none was. Run does the same; but what was done may have taken away
// the rows that the script names, so that it can no longer be checked.
func (s *Session) Repeat(ctx context.Context, script *dsl.Script, key string) (*receipt.Receipt, error) {
	var again *receipt.Receipt
	err := s.e.store.View(ctx, holding(s.scope, deliveries, deliveryKey(s.who.Name, key)), func(r stores.Reader) (err error) {
		settled, err := s.settled(ctx, r, script)
		if err != nil {
			return err
		}
		again, err = s.delivered(ctx, r, script, settled, key, false)
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	if again == nil {
		if each, err := s.usedForCalls(ctx, key); err != nil || !each {
			return nil, err
		}
		return s.repeatCalls(ctx, script, key, 1)
	}
	return again, nil
}

// settled is a script with names that cannot come to mean other rows, as far as the
// store knows them, whether or not their rows are still there.
func (s *Session) settled(ctx context.Context, r stores.Reader, script *dsl.Script) (*dsl.Script, error) {
	said := s.mentioned(script)
	kept := make(map[string]string)
	for _, e := range said.among {
		for _, word := range said.words(e) {
			if _, done := kept[word]; done {
				continue
			}
			if key, ok := s.names.Key(e.Store, word); ok {
				row, _ := s.names.Row(e.Store, key)
				kept[word] = row.Kept
				continue
			}
			plain, suffix, _ := strings.Cut(word, "~")
			q := stores.NameQuery{Entity: e.Store, Owners: s.owners(e.Store), Most: names.MaxHomonyms}
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
func (s *Session) delivered(ctx context.Context, read stores.Reader, script, settled *dsl.Script, key string, run bool) (*receipt.Receipt, error) {
	row, err := read.Get(ctx, deliveries, deliveryKey(s.who.Name, key))
	if errors.Is(err, stores.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if row.Values[dlvEach].Bool() {
		if !run {
			return nil, nil
		}
		return nil, refuse([]complaint{{-1, keyOfCalls(dsl.Place{Source: script.Source})}})
	}
	// What was done may have taken away the rows that the script names. Then the
	// text is known as it was written.
	if row.Values[dlvWritten].Text() != textDigest(script, key) && row.Values[dlvText].Text() != textDigest(settled, key) {
		if !run {
			return nil, nil
		}
		return nil, refuse([]complaint{{-1, keyReused(dsl.Place{Source: script.Source})}})
	}
	return s.keptReceipt(ctx, read, row)
}

// keptReceipt is the receipt of what was done under a key.
func (s *Session) keptReceipt(ctx context.Context, read stores.Reader, row stores.Row) (*receipt.Receipt, error) {
	again, err := receipt.ParseKept(row.Values[dlvReply].Text())
	if err != nil {
		return nil, &Failure{Err: err}
	}
	again.Repeated = true
	if v := row.Values[dlvFirst]; !v.IsNull() {
		again.Number(v.Int())
	}
	return again, s.nameNew(ctx, read, again)
}

// Done returns the receipt of what the principal did under a key, whatever its text was;
// nil when nothing was done, or when it was committed call by call.
func (s *Session) Done(ctx context.Context, key string) (done *receipt.Receipt, err error) {
	err = s.e.store.View(ctx, holding(s.scope, deliveries, deliveryKey(s.who.Name, key)), func(r stores.Reader) error {
		row, err := r.Get(ctx, deliveries, deliveryKey(s.who.Name, key))
		if errors.Is(err, stores.ErrNotFound) || err == nil && row.Values[dlvEach].Bool() {
			return nil
		}
		if err == nil {
			done, err = s.keptReceipt(ctx, r, row)
		}
		return err
	})
	return done, failure(err)
}

// claimKey has a key stand for a script that is committed call by call, in the
// transaction of a call. So the key has one effect, however it is committed: who
// uses it for all calls at once meets this row, and is met by it.
func (r *run) claimKey(ctx context.Context, tx stores.Tx, key string) error {
	at := deliveryKey(r.s.who.Name, key)
	row, err := tx.Get(ctx, deliveries, at)
	switch {
	case err == nil && !row.Values[dlvEach].Bool():
		return refuse([]complaint{{-1, keyReused(dsl.Place{Source: r.prog.Script().Source})}})
	case err == nil || !errors.Is(err, stores.ErrNotFound):
		return err
	}
	text := stores.NewString(textDigest(r.prog.Canonical(), key))
	r.own = append(r.own, stores.Change{Op: stores.Insert, Entity: deliveries, Key: at, Set: []stores.Assign{
		{Field: dlvPrincipal, Value: stores.NewString(r.s.who.Name)}, {Field: dlvText, Value: text}, {Field: dlvWritten, Value: text},
		{Field: dlvReply, Value: stores.NewString("")}, {Field: dlvEach, Value: stores.NewBool(true)}, {Field: dlvTime, Value: stores.NewTime(r.now)},
	}})
	return nil
}

// usedForCalls reports whether a key is used to commit call by call.
func (s *Session) usedForCalls(ctx context.Context, key string) (each bool, err error) {
	err = s.e.store.View(ctx, holding(s.scope, deliveries, deliveryKey(s.who.Name, key)), func(r stores.Reader) error {
		row, err := r.Get(ctx, deliveries, deliveryKey(s.who.Name, key))
		each = err == nil && row.Values[dlvEach].Bool()
		if errors.Is(err, stores.ErrNotFound) {
			err = nil
		}
		return err
	})
	return each, failure(err)
}

// nameNew names the rows that had no name yet when a receipt was kept: they were
// being added.
func (s *Session) nameNew(ctx context.Context, read stores.Reader, again *receipt.Receipt) error {
	r := s.reads(read)
	names := map[stores.Value]string{}
	for i := range again.Calls {
		for j := range again.Calls[i].Rows {
			row := &again.Calls[i].Rows[j]
			e := s.e.reg.Entity(row.Entity)
			if row.Op != receipt.Inserted || e == nil {
				continue
			}
			if _, err := r.nameRow(ctx, e, row.Key); err != nil {
				return err
			}
			names[stores.NewRow(e.Store.Name, row.Key)] = r.shownName(e.Store, row.Key)
		}
	}
	again.Rename(newRow, names)
	return nil
}

// delivery is the row that keeps what a run did, with the run. It is made before
// the run has its place in the journal: the store notes where that begins, and the
// receipt counts its entries from one.
func (r *run) delivery(key string) stores.Change {
	kept := &receipt.Receipt{ID: r.id, Digest: r.digest, Done: true, Calls: slices.Clone(r.told), Last: int64(len(r.of))}
	if kept.Last > 0 {
		kept.First = 1
	}
	for i, st := range r.written() {
		c := &kept.Calls[i]
		c.Seq = int64(1 + slices.Index(r.of, st))
		// What a person may see of their own is kept, unless a palette says that it is
		// sensitive.
		if c.Result != nil && c.Result.Own != nil {
			res := *c.Result
			res.Own = slices.Clone(res.Own)
			for j := range res.Own {
				res.Own[j] = res.Own[j] && !st.cells.columns[j].sensitive
			}
			c.Result = &res
		}
	}
	return stores.Change{Op: stores.Insert, Entity: deliveries, Key: deliveryKey(r.s.who.Name, key), Number: dlvFirst, Set: []stores.Assign{
		{Field: dlvPrincipal, Value: stores.NewString(r.s.who.Name)}, {Field: dlvText, Value: stores.NewString(textDigest(r.settledScript(), key))}, {Field: dlvWritten, Value: stores.NewString(textDigest(r.script(), key))},
		{Field: dlvReply, Value: stores.NewString(string(kept.AppendKept(nil)))}, {Field: dlvEach, Value: stores.NewBool(false)}, {Field: dlvTime, Value: stores.NewTime(r.now)},
	}}
}

// nameChange names what a change refers to.
func (r *reading) nameChange(ctx context.Context, c *change) error {
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

// isCode reports whether an error is a refusal with a code.
func isCode(err error, code string) bool {
	var r *Refusal
	return errors.As(err, &r) && len(r.Diagnostics) > 0 && r.Diagnostics[0].Code == code
}
