package engine

import (
	"context"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/state/confirmations"
	"verbatim/stores"
	"verbatim/stores/receipt"
)

// forgetRow erases what receipts tell of a row that are kept beside the journal: those of requests with
// keys, and the previews of confirmations that were decided. One that still waits is shown as it was asked.
func forgetRow(ctx context.Context, e *Engine, of *stores.Entity, key stores.Value) error {
	for _, kept := range []struct {
		in            *stores.Entity
		reply, script int
	}{{deliveries, dlvReply, -1}, {confirmations.Entity, confirmations.FieldReceipt, confirmations.FieldScript}} {
		for after, more := stores.NewString(""), true; more; {
			var last stores.Value
			err := writeTo(ctx, e, system(), func(tx stores.Tx) error {
				rows, err := tx.Find(ctx, stores.Find{Entity: kept.in, Limit: housekeeping, Cut: true, Order: []stores.Order{{Path: stores.Path{Field: kept.in.Key}}},
					Where: &stores.Cond{Op: stores.And, Kids: []stores.Cond{
						{Op: stores.Gt, Path: stores.Path{Field: kept.in.Key}, Value: after},
						{Op: stores.Contains, Path: stores.Path{Field: kept.reply}, Value: stores.NewString(key.Text())}}}})
				if more = len(rows) == housekeeping; err != nil || len(rows) == 0 {
					return err
				}
				last = rows[len(rows)-1][kept.in.Key]
				var b stores.Batch
				for _, row := range rows {
					if kept.in == confirmations.Entity && row[confirmations.FieldStatus].Text() == confirmations.Waiting {
						continue
					}
					r, err := receipt.ParseKept(row[kept.reply].Text())
					if err != nil {
						return err
					}
					gone := forgetIn(r, of, key)
					if len(gone) == 0 {
						continue
					}
					c := stores.Change{Op: stores.Update, Entity: kept.in, Key: row[kept.in.Key], Before: row, Guard: []int{kept.reply}}
					if kept.script >= 0 { // fields are set in order
						c.Set = append(c.Set, stores.Assign{Field: kept.script, Value: stores.NewString(without(row[kept.script].Text(), gone))})
					}
					c.Set = append(c.Set, stores.Assign{Field: kept.reply, Value: stores.NewString(string(r.AppendKept(nil)))})
					b.Changes = append(b.Changes, c)
				}
				if len(b.Changes) == 0 {
					return nil
				}
				return tx.Apply(ctx, b)
			})
			if err != nil {
				return err
			}
			after = last
		}
	}
	return nil
}

// forgetIn takes the personal and sensitive values of a row out of a receipt, and returns those that are texts.
func forgetIn(r *receipt.Receipt, of *stores.Entity, key stores.Value) (gone []string) {
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
		r.Calls[i].Text = without(r.Calls[i].Text, gone)
	}
	return gone
}

// without replaces texts in a script.
func without(script string, gone []string) string {
	for _, text := range gone {
		script = strings.ReplaceAll(script, dsl.NewString(text).String(), `"erased"`)
	}
	return script
}
