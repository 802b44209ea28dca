package client

import (
	"context"
	"slices"
	"strings"

	"verbatim/runtime"
	"verbatim/runtime/collect"
	"verbatim/stores"
)

// What was sent and came back: the bank could not use it, or needs more. It is
// offered again to whoever sent it, and to nobody else. It is read out of what
// the bank received, which is the one place that counts: of an answer that was
// erased there, nothing is looked for elsewhere.

// The entity of the parts of a request, and the states in which one is with the
// client again.
const (
	parts     = "request-part"
	inPart    = "PARTIALLY_FULFILLED"
	toCorrect = "CORRECTION_NEEDED"
	received  = "RECEIVED"
)

// A returnedRequest is a request whose document was sent back.
type returnedRequest struct {
	says string       // why, for the person; "" where nothing came back, or nobody said why
	sent *runtime.Row // what they sent; nil where they sent nothing that can be offered again
}

// returned finds what came back to the client of a request.
func (d *desk) returned(ctx context.Context, c *runtime.Call, request *runtime.Row, col *collection) (r returnedRequest, err error) {
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
func (d *desk) lacks(ctx context.Context, c *runtime.Call, request runtime.Ref) (names []string, err error) {
	rows, err := c.Find(ctx, parts, runtime.Fields{"request": request})
	slices.SortStableFunc(rows, func(a, b runtime.Row) int {
		return a.Value("added_at").Time().Compare(b.Value("added_at").Time())
	})
	for i := range rows {
		if rows[i].Value("received_on").IsNull() {
			names = append(names, rows[i].Value("name").Text())
		}
	}
	return names, err
}

// sent is what the client themselves sent last for a request, nil where that is
// nothing. What a colleague sent is the colleague's, and so may everything be where
// the bank's palette does not keep who sent it.
func (d *desk) sent(ctx context.Context, c *runtime.Call, request runtime.Ref, info string) (*runtime.Row, error) {
	if e := d.reg.Entity(submissions); e == nil || e.Store.FieldIndex("client") < 0 {
		return nil, nil
	}
	rows, err := c.Find(ctx, submissions, runtime.Fields{"request": request, "info_type": info, "client": c.Principal()})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	last := slices.MaxFunc(rows, func(a, b runtime.Row) int {
		return a.Value("submitted_at").Time().Compare(b.Value("submitted_at").Time())
	})
	return &last, nil
}

// offer puts what came back under the answers, each held against the questions as
// they are today, and says which do not do any more. What was answered since stays.
func (col *collection) offer(r returnedRequest) (gone []collect.Question, err error) {
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

// before says how far the answers of before go, and which of them are asked again.
func (col *collection) before(gone []collect.Question) string {
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

// lacking reports whether what was given at once has something that is still to
// be asked.
func lacking(row *runtime.Row) (bool, error) {
	v := row.Value("missing")
	if v.IsNull() {
		return false, nil
	}
	lacks, err := v.Items(stores.String)
	return len(lacks) > 0, err
}
