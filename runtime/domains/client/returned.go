package client

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/engine"
	"verbatim/stores"
)

// Answers that were sent and came back: the bank could not use them, or needs more. They are
// offered again to the client who sent them, and to nobody else. They are read from the received
// submissions, the one place that counts: if an answer was erased there, it is not looked for
// elsewhere.

// The entity of the parts of a request, and the states of a part that the client has to answer
// again.
const (
	parts     = "request-part"
	inPart    = "PARTIALLY_FULFILLED"
	toCorrect = "CORRECTION_NEEDED"
	received  = "RECEIVED"
)

// A returnedRequest is a request whose document was sent back.
type returnedRequest struct {
	says string      // why, for the person; "" if nothing came back or no reason was given
	sent *engine.Row // what they sent; nil if there is nothing to offer again
}

// returned finds what came back to the client of a request.
func (d *desk) returned(ctx context.Context, c *engine.Call, request *engine.Row, col *collection) (r returnedRequest, err error) {
	status, note := request.Value("status").Text(), request.Value("review_note")
	switch {
	case status == toCorrect && !note.IsNull():
		r.says = sayCannotUse.In(col.in.Language, strings.TrimRight(note.Text(), ". \n"))
	case status == inPart && !note.IsNull():
		lacks, err := d.lacks(ctx, c, request.Ref())
		if err != nil {
			return r, err
		}
		if len(lacks) > 0 {
			r.says = sayStillNeeds.In(col.in.Language, strings.Join(lacks, ", "))
		}
	case status != toCorrect && status != inPart:
		return r, nil
	}
	last, err := d.sent(ctx, c, request.Ref(), col.info)
	if err == nil && last != nil && last.Value("verdict").Text() != received {
		r.sent = last
	}
	return r, err
}

// lacks names the parts of a request that the bank does not have, the oldest first.
func (d *desk) lacks(ctx context.Context, c *engine.Call, request engine.Ref) (names []string, err error) {
	rows, err := c.Find(ctx, parts, engine.Fields{"request": request})
	slices.SortStableFunc(rows, func(a, b engine.Row) int {
		return a.Value("added_at").Time().Compare(b.Value("added_at").Time())
	})
	for i := range rows {
		if rows[i].Value("received_on").IsNull() {
			names = append(names, rows[i].Value("name").Text())
		}
	}
	return names, err
}

// sent returns the client's own last submission for a request; nil if there is none. A colleague's
// submission is not theirs, and neither is any submission if the bank's palette does not keep who
// sent it.
func (d *desk) sent(ctx context.Context, c *engine.Call, request engine.Ref, info string) (*engine.Row, error) {
	if e := d.reg.Entity(submissions); e == nil || e.Store.FieldIndex("client") < 0 {
		return nil, nil
	}
	rows, err := c.Find(ctx, submissions, engine.Fields{"request": request, "info_type": info, "client": c.Principal()})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	last := slices.MaxFunc(rows, func(a, b engine.Row) int {
		return a.Value("submitted_at").Time().Compare(b.Value("submitted_at").Time())
	})
	return &last, nil
}

// offer takes a returned submission into the answers, each checked against the present questions,
// and returns the questions whose answers are not valid any more. Later answers stay.
func (col *collection) offer(r returnedRequest) (gone []forms.Question, err error) {
	if r.sent == nil || r.sent.Ref() == col.given {
		return nil, nil
	}
	col.given = r.sent.Ref()
	object, _, err := over(r.sent.Value("collected_data"), col.filled.Object())
	if err != nil {
		return nil, err
	}
	col.filled, gone, err = col.form.Again(object, col.in)
	return gone, err
}

// before says which of the earlier answers were dropped, so that the questions are asked again.
func (col *collection) before(gone []forms.Question) string {
	var all []string
	for i := range gone {
		all = append(all, sayNoLonger.In(col.in.Language, gone[i].Label))
	}
	n, of := col.filled.Answered()
	switch {
	case col.status == reviewing:
		all = append(all, sayAsBefore.In(col.in.Language, col.filled.Questions()[0].Label))
	case n > 0:
		all = append(all, col.counts(sayGoesOn, n, of))
	}
	return join(all...)
}

// lacking reports whether a submission lacks an answer that is still to be asked for.
func lacking(row *engine.Row) (bool, error) {
	v := row.Value("missing")
	if v.IsNull() {
		return false, nil
	}
	lacks, err := v.Items(stores.String)
	return len(lacks) > 0, err
}
