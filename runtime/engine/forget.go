package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

// A redaction erases, beside the journal, the copies that the engine keeps of what was said: receipts of
// requests with keys, previews that were decided, finished jobs, turns and the values of sessions. What
// still waits for somebody is left as it was asked, and listed with the time at which it goes.

// copies are the engine's own rows that repeat values of other rows.
var copies = []*stores.Entity{deliveries, confirmations.Entity, sessions.Turns, sessions.Entity, sessions.Questions}

// below lists the fields by which rows with personal data belong to rows of an entity. Those of a
// principal, who is known by addresses, go with the principal while they exist, too.
func below(e *Engine, of *stores.Entity) (all []journal.Below) {
	for _, entity := range e.catalog.entities {
		in := entity.Store
		if len(in.Scope) > 0 && in.Scope[0].To == of && slices.ContainsFunc(in.Fields, mayBeErased) {
			all = append(all, journal.Below{Entity: in.Name, Field: in.Fields[in.Scope[0].Field].Name, Live: of.Name == principalEntity})
		}
	}
	return all
}

// principalEntity is the entity of principals in the system's palette.
const principalEntity = "system-principal"

func mayBeErased(f stores.Field) bool { return f.Personal || f.Sensitive }

// textsOf returns the personal and sensitive texts that a row and the rows below it hold now.
func textsOf(ctx context.Context, e *Engine, w *Redaction, belong []journal.Below) (texts []string, err error) {
	keep := func(of *stores.Entity, values []stores.Value) {
		for i, v := range values {
			if mayBeErased(of.Fields[i]) && v.Kind() == stores.String && v.Text() != "" {
				texts = append(texts, v.Text())
			}
		}
	}
	err = e.store.View(ctx, system(), func(r stores.Reader) error {
		row, err := r.Get(ctx, w.Entity, w.Key)
		if err != nil && !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		if err == nil {
			keep(w.Entity, row.Values)
		}
		for _, b := range belong {
			if !b.Live {
				continue
			}
			of := e.reg.Entity(b.Entity).Store
			rows, err := r.Find(ctx, stores.Find{Entity: of, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: of.FieldIndex(b.Field)}, Value: w.Key}})
			if err != nil {
				return err
			}
			for _, values := range rows {
				keep(of, values)
			}
		}
		return nil
	})
	return texts, err
}

// forgetCopies erases values of rows, and texts, from the copies. It counts them in n, or lists those
// that stay. A dry one changes nothing.
func forgetCopies(ctx context.Context, e *Engine, rows []journal.Row, texts []string, n *journal.Erased, dry bool) error {
	for _, kept := range copies {
		for after, more := stores.NewString(""), true; more; {
			var last stores.Value
			var changed int
			var stay []journal.Repeat
			err := writeTo(ctx, e, system(), func(tx stores.Tx) error {
				found, err := tx.Find(ctx, stores.Find{Entity: kept, Limit: housekeeping, Cut: true, Order: []stores.Order{{Path: stores.Path{Field: kept.Key}}},
					Where: &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: kept.Key}, Value: after}})
				if more = len(found) == housekeeping; err != nil || len(found) == 0 {
					return err
				}
				last, changed, stay = found[len(found)-1][kept.Key], 0, nil
				var b stores.Batch
				for _, row := range found {
					c := stores.Change{Op: stores.Update, Entity: kept, Key: row[kept.Key], Before: row}
					for i, v := range row {
						now, err := forgetIn(e, kept, i, v, rows, texts)
						if err != nil {
							return err
						}
						if now != v {
							c.Set, c.Guard = append(c.Set, stores.Assign{Field: i, Value: now}), append(c.Guard, i)
						}
					}
					if len(c.Set) == 0 {
						continue
					}
					if waits, until := waitsFor(kept, row); waits != "" {
						stay = append(stay, journal.Repeat{Waits: waits, Until: until})
						continue
					}
					changed++
					b.Changes = append(b.Changes, c)
				}
				if len(b.Changes) == 0 || dry {
					return nil
				}
				return tx.Apply(ctx, b)
			})
			if err != nil {
				return err
			}
			n.Copies += changed
			n.Elsewhere = append(n.Elsewhere, stay...)
			after = last
		}
	}
	for _, text := range texts {
		for len(text) >= journal.LongEnough {
			done, err := e.store.Jobs(ctx, stores.JobFilter{States: []stores.JobState{stores.JobDone}, Holds: text})
			if err != nil {
				return err
			}
			n.Copies += len(done)
			if len(done) == 0 || dry {
				break
			}
			var b stores.Batch
			for i := range done {
				b.JobChanges = append(b.JobChanges, stores.JobChange{ID: done[i].ID, Attempt: done[i].Attempt, Drop: true, Done: true})
			}
			if err := writeTo(ctx, e, system(), func(tx stores.Tx) error { return tx.Apply(ctx, b) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// waitsFor returns the id of what a row keeps for somebody who still has to decide, and until when.
func waitsFor(kept *stores.Entity, row []stores.Value) (id string, until time.Time) {
	switch kept {
	case confirmations.Entity:
		if c := confirmations.Of(stores.Row{Entity: kept, Values: row}); c.Status == confirmations.Waiting {
			return cmp.Or(c.ID, c.Preview), c.Expires
		}
	case sessions.Questions:
		return sessions.Waits(row)
	}
	return "", time.Time{}
}

// forgetIn returns the value of a field of a copy without what is to be erased.
func forgetIn(e *Engine, kept *stores.Entity, field int, v stores.Value, rows []journal.Row, texts []string) (stores.Value, error) {
	f := &kept.Fields[field]
	switch {
	case v.IsNull() || !mayBeErased(*f) && !(kept == confirmations.Entity && field == confirmations.FieldReason) && !(kept == sessions.Entity && field == sessions.FieldValues):
		return v, nil
	case kept == deliveries && field == dlvReply || kept == confirmations.Entity && field == confirmations.FieldReceipt:
		return forgetReceipt(e, v, rows, texts)
	case f.Kind == stores.JSON:
		return stores.ParseJSON(withoutInJSON(v.Text(), texts))
	case f.Kind == stores.String:
		return stores.NewString(without(v.Text(), texts)), nil
	}
	return v, nil
}

// forgetReceipt erases values of rows, and texts, from a receipt in the kept form.
func forgetReceipt(e *Engine, v stores.Value, rows []journal.Row, texts []string) (stores.Value, error) {
	if v.Text() == "" {
		return v, nil
	}
	r, err := receipt.ParseKept(v.Text())
	if err != nil {
		return v, err
	}
	for _, row := range rows {
		if of := e.reg.Entity(row.Entity); of != nil {
			texts = append(texts[:len(texts):len(texts)], forgetRow(r, of.Store, row.Key)...)
		}
	}
	now := withoutInJSON(string(r.AppendKept(nil)), texts)
	if _, err := receipt.ParseKept(now); err != nil { // a text that is also a word of the form: nothing but the numbers is kept
		bare := receipt.Receipt{ID: r.ID, Digest: r.Digest, Done: r.Done, First: r.First, Last: r.Last}
		now = string(bare.AppendKept(nil))
	}
	return stores.NewString(now), nil
}

// forgetRow takes the personal and sensitive values of a row out of a receipt, and returns those that are texts.
func forgetRow(r *receipt.Receipt, of *stores.Entity, key stores.Value) (gone []string) {
	for i := range r.Calls {
		for j := range r.Calls[i].Rows {
			row := &r.Calls[i].Rows[j]
			if row.Entity != of.Name || row.Key.Text() != key.Text() {
				continue
			}
			for k := range row.Fields {
				f := &row.Fields[k]
				at := of.FieldIndex(f.Name)
				if at < 0 || !of.Fields[at].Personal && !of.Fields[at].Sensitive {
					continue
				}
				for _, v := range []*receipt.Value{&f.Before, &f.After, &f.Given} {
					if v.Kind() == stores.String && v.Text() != "" {
						gone = append(gone, v.Text())
					}
					*v = receipt.Value{}
				}
			}
		}
	}
	for i := range r.Calls {
		r.Calls[i].Text = withoutLiterals(r.Calls[i].Text, gone)
	}
	return gone
}

// withoutLiterals replaces texts, however short, where they are written out in a script.
func withoutLiterals(script string, gone []string) string {
	for _, text := range gone {
		script = strings.ReplaceAll(script, dsl.NewString(text).String(), `"erased"`)
	}
	return script
}

// without replaces texts, where they are whole words: also as a script writes them.
func without(in string, gone []string) string {
	in = withoutLiterals(in, gone)
	for _, text := range gone {
		literal := dsl.NewString(text).String()
		for _, text := range []string{text, literal[1 : len(literal)-1]} {
			if len(text) >= journal.LongEnough {
				in = replaceWords(in, text)
			}
		}
	}
	return in
}

func replaceWords(in, text string) string {
	var b strings.Builder
	for rest := in; ; {
		at := strings.Index(rest, text)
		if at < 0 {
			if b.Len() == 0 {
				return in
			}
			return b.String() + rest
		}
		end := at + len(text)
		before, _ := utf8.DecodeLastRuneInString(rest[:at])
		after, _ := utf8.DecodeRuneInString(rest[end:])
		first, _ := utf8.DecodeRuneInString(text)
		last, _ := utf8.DecodeLastRuneInString(text)
		if inWord(before) && inWord(first) || inWord(last) && inWord(after) {
			b.WriteString(rest[:end])
		} else {
			b.WriteString(rest[:at] + "erased")
		}
		rest = rest[end:]
	}
}

func inWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// withoutInJSON replaces texts in the strings of a JSON text, but not in the names of members.
func withoutInJSON(in string, gone []string) string {
	var b strings.Builder
	for i := 0; i < len(in); {
		if in[i] != '"' {
			b.WriteByte(in[i])
			i++
			continue
		}
		end := i + 1
		for end < len(in) && in[end] != '"' {
			if in[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end+1, len(in))
		quoted, text := in[i:end], ""
		if isName := end < len(in) && in[end] == ':'; !isName && json.Unmarshal([]byte(quoted), &text) == nil {
			if now := without(text, gone); now != text {
				quoted = string(stores.AppendJSONString(nil, now))
			}
		}
		b.WriteString(quoted)
		i = end
	}
	return b.String()
}
