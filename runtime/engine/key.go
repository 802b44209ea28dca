package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/internal/digest"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// The receipt of a run that has a key is kept in the transaction of that run, so that it is
// there exactly if the run took effect. A repeated request gets the same receipt.

// deliveryKey returns the primary key of the row that keeps the receipt for a principal's key. No
// key of another principal leads to the same row.
func deliveryKey(principal, key string) stores.Value {
	return stores.NewString(digest.Of("verbatim key 1", principal, key))
}

// textDigest returns the digest of a script and its key. Without the key, nobody can find a short
// secret in the script by trying.
func textDigest(script *dsl.Script, key string) string {
	return digest.Of("verbatim text 1", key, dsl.Format(script))
}

// Repeat returns the receipt of a script that already took effect under a key, nil if none
// did. Run does the same, but only for a script that still checks: the first run may have
// deleted the rows that it names.
func (jn Journal) Repeat(ctx context.Context, script *dsl.Script, key string) (*receipt.Receipt, error) {
	var again *receipt.Receipt
	err := jn.s.e.store.View(ctx, holding(jn.s.scope, deliveries, deliveryKey(jn.s.who.Name, key)), func(r stores.Reader) (err error) {
		settled, err := settledScript(ctx, jn.s, r, script)
		if err != nil {
			return err
		}
		again, err = delivered(ctx, jn.s, r, script, settled, key, false)
		return err
	})
	if err != nil {
		return nil, failure(err)
	}
	return again, nil
}

// settledScript returns a script with suffixed names, as far as the store knows the names, whether
// or not their rows still exist.
func settledScript(ctx context.Context, s *Session, r stores.Reader, script *dsl.Script) (*dsl.Script, error) {
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

// delivered looks for the receipt of a key. Another text under the same key is refused when
// it is about to be run.
func delivered(ctx context.Context, s *Session, read stores.Reader, script, settled *dsl.Script, key string, run bool) (*receipt.Receipt, error) {
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
		return nil, refuseScript(tell(dsl.Place{Source: script.Source}, "key-reused/calls"))
	}
	// The first run may have deleted the rows that the script names. Then the text is
	// compared as it was written.
	if row.Values[dlvWritten].Text() != textDigest(script, key) && row.Values[dlvText].Text() != textDigest(settled, key) {
		if !run {
			return nil, nil
		}
		return nil, refuseScript(tell(dsl.Place{Source: script.Source}, "key-reused"))
	}
	return keptReceipt(ctx, s, read, row)
}

// keptReceipt returns the receipt that was kept under a key.
func keptReceipt(ctx context.Context, s *Session, read stores.Reader, row stores.Row) (*receipt.Receipt, error) {
	again, err := receipt.ParseKept(row.Values[dlvReply].Text())
	if err != nil {
		return nil, &Failure{Err: err}
	}
	again.Repeated = true
	if v := row.Values[dlvFirst]; !v.IsNull() {
		again.Number(v.Int())
	}
	return again, nameNew(ctx, s, read, again)
}

// Done returns the receipt of the principal's run under a key, whatever its text; nil if
// there was none, or if it was committed call by call.
func (jn Journal) Done(ctx context.Context, key string) (done *receipt.Receipt, err error) {
	err = jn.s.e.store.View(ctx, holding(jn.s.scope, deliveries, deliveryKey(jn.s.who.Name, key)), func(r stores.Reader) error {
		row, err := r.Get(ctx, deliveries, deliveryKey(jn.s.who.Name, key))
		if errors.Is(err, stores.ErrNotFound) || err == nil && row.Values[dlvEach].Bool() {
			return nil
		}
		if err == nil {
			done, err = keptReceipt(ctx, jn.s, r, row)
		}
		return err
	})
	return done, failure(err)
}

// claimKey reserves a key for a script that is committed call by call, in the transaction of
// a call. A run of all calls at once under the same key finds this row, and the other way
// round, so that a key has one effect however it is committed.
func claimKey(ctx context.Context, r *run, tx stores.Tx, part *part) error {
	at := deliveryKey(r.src.s.who.Name, part.key)
	row, err := tx.Get(ctx, deliveries, at)
	switch {
	case err == nil && !row.Values[dlvEach].Bool():
		return refuseScript(tell(dsl.Place{Source: r.plan.prog.Script().Source}, "key-reused"))
	case err == nil || !errors.Is(err, stores.ErrNotFound):
		return err
	}
	text := stores.NewString(part.text)
	r.own.Changes = append(r.own.Changes, stores.Change{Op: stores.Insert, Entity: deliveries, Key: at, Set: []stores.Assign{
		{Field: dlvPrincipal, Value: stores.NewString(r.src.s.who.Name)}, {Field: dlvText, Value: text}, {Field: dlvWritten, Value: text},
		{Field: dlvReply, Value: stores.NewString("")}, {Field: dlvEach, Value: stores.NewBool(true)}, {Field: dlvTime, Value: stores.NewTime(r.src.now)},
	}})
	return nil
}

// nameNew names the rows of a receipt that had no name when it was kept, because that run
// added them.
func nameNew(ctx context.Context, s *Session, read stores.Reader, again *receipt.Receipt) error {
	r := sourceOf(s, read)
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

// deliveryOf makes the row that keeps the receipt of a run. The run has no place in the journal
// yet: the store notes the number of its first entry, and the receipt counts from one.
func deliveryOf(r *run, key string) stores.Change {
	kept := &receipt.Receipt{ID: r.plan.id, Digest: r.plan.digest, Done: true, Calls: slices.Clone(r.plan.receipts), Last: int64(len(r.of))}
	if kept.Last > 0 {
		kept.First = 1
	}
	for i, st := range r.written() {
		c := &kept.Calls[i]
		c.Seq = int64(1 + slices.Index(r.of, st))
		// Values that the person may see are kept, unless a palette marks them sensitive.
		if c.Result != nil && c.Result.Own != nil {
			res := *c.Result
			res.Own = slices.Clone(res.Own)
			for j := range res.Own {
				res.Own[j] = res.Own[j] && !st.out.cells.columns[j].sensitive
			}
			c.Result = &res
		}
	}
	settled := r.plan.prog.Canonical()
	same, _ := sameCalls(r.src.s, settled)
	return stores.Change{Op: stores.Insert, Entity: deliveries, Key: deliveryKey(r.src.s.who.Name, key), Number: dlvFirst, Set: []stores.Assign{
		{Field: dlvPrincipal, Value: stores.NewString(r.src.s.who.Name)}, {Field: dlvText, Value: stores.NewString(textDigest(settled, key))}, {Field: dlvWritten, Value: stores.NewString(textDigest(r.plan.prog.Script(), key))},
		{Field: dlvReply, Value: stores.NewString(string(kept.AppendKept(nil)))}, {Field: dlvEach, Value: stores.NewBool(false)}, {Field: dlvTime, Value: stores.NewTime(r.src.now)},
		{Field: dlvSame, Value: stores.NewString(same)},
	}}
}
