package dialog

import (
	"context"
	"errors"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// What a model is told of the rows that there are. The prompts of a conversation begin with it as it
// was at first, and end with what is different by now: an endpoint that keeps what it has read need not
// read the rest anew.

// A rowsBrief is the names of an entity, or the answer of a read of the context.
type rowsBrief struct {
	of, text string
	read     bool
	stood    string          // which rows stand for arguments of the read
	result   *receipt.Result // nil if the read was refused
	chosen   bool            // for the message, from among too many
}

// A background is what the prompts of a conversation begin with.
type background struct {
	rows []rowsBrief
	turn int // that it was written for
}

// rows lists the names of entities, and reads the context that palettes declare.
func (t *turn) rows(ctx context.Context, entities []*verbs.Entity) (all []rowsBrief, err error) {
	for _, e := range entities {
		name := e.Store.Name
		all = append(all, rowsBrief{of: name, text: "- " + name + ": " + t.listed(e) + "\n", chosen: len(t.names[e]) > maxNames})
	}
	for _, v := range t.c.context {
		script, _ := dsl.Parse(dsl.NewSource("context", v.Name))
		program, ds := t.c.o.Session.Check(ctx, script)
		if program == nil {
			t.record.note(noteContext, v.Name, ds[0].Summary)
			continue
		}
		t.event(Reading, v)
		reply, err := t.c.o.Session.Run(ctx, program, engine.RunOptions{Source: t.c.o.Source, Progress: t.far})
		var refusal *engine.Refusal
		if errors.As(err, &refusal) {
			t.record.note(noteContext, v.Name, refusal.Diagnostics[0].Summary)
			if d := &refusal.Diagnostics[0]; d.Code == "which-at-work" {
				// The person would have to be asked first.
				all = append(all, rowsBrief{of: v.Name, text: v.Name + ": " + d.Summary + "; " + strings.Join(d.Notes, "; ") + "\n", read: true})
			}
			continue
		}
		if err != nil {
			return nil, err
		}
		for i := range reply.Calls {
			if r := reply.Calls[i].Result; r != nil {
				t.trace.result(r)
				t.hasRead(&reply.Calls[i])
				t.record.Read = append(t.record.Read, CallNote{Call: v.Name, Verb: v.Name, Rows: len(r.Rows), From: resultFrom(r)})
				b := rowsBrief{of: v.Name, read: true, stood: stood(reply.Calls[i].Filled), result: r}
				b.text = b.stood + shown(v.Name, r, nil, !t.c.planFirst)
				all = append(all, b)
			}
		}
	}
	return all, nil
}

// since returns what the prompts of this conversation begin with, and what is different by now. The
// beginning is written anew when earlier turns are no longer shown, since the messages behind it move
// then.
func (t *turn) since(rows []rowsBrief) (first, changed string) {
	b := &t.c.background
	if b.rows == nil || len(t.c.turns)-b.turn >= t.c.o.History {
		*b = background{slices.DeleteFunc(slices.Clone(rows), func(r rowsBrief) bool { return r.chosen }), len(t.c.turns)}
	}
	var other []rowsBrief
	for _, r := range rows {
		i := slices.IndexFunc(b.rows, func(was rowsBrief) bool { return was.of == r.of })
		if i >= 0 && b.rows[i].text == r.text {
			continue
		}
		if i >= 0 && r.result != nil && b.rows[i].stood == r.stood {
			r.text = r.stood + shown(r.of, r.result, b.rows[i].result, !t.c.planFirst)
		}
		other = append(other, r)
	}
	for _, r := range b.rows {
		if !slices.ContainsFunc(rows, func(now rowsBrief) bool { return now.of == r.of }) {
			other = append(other, rowsBrief{of: r.of, text: "What stands above of " + r.of + " no longer holds.\n", read: r.read})
		}
	}
	return rowsText(b.rows, "Names:\n", "What is known, from records:\n"), rowsText(other, "Names now:\n", "What is known now, from records:\n")
}

func rowsText(rows []rowsBrief, names, records string) string {
	var b strings.Builder
	for _, read := range []bool{false, true} {
		title := names
		if read {
			title = records
		}
		for _, r := range rows {
			if r.read == read {
				b.WriteString(title + r.text)
				title = ""
			}
		}
		if title == "" {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
