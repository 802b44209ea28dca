package client

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/runtime/state/sessions"
)

type escalateArgs struct {
	Reason  *string    `verb:"reason"`
	Contact *string    `verb:"preferred-contact"`
	Company engine.Ref `verb:"cbu-id"`
	Without []int64    `verb:"leave-out"`
}

// wholeConversation is the promise that the whole conversation is handed over.
const wholeConversation = "full-conversation-context"

// A transcriptTurn is a turn in the form that the person who takes over reads.
type transcriptTurn struct {
	Number int64     `json:"number"`
	Time   time.Time `json:"time"`
	Role   string    `json:"role"`
	Said   string    `json:"said"`
	Did    string    `json:"did,omitempty"`
}

// An openRequest is a request that is still open.
type openRequest struct {
	Request  string `json:"request"`
	Status   string `json:"status"`
	Due      string `json:"due,omitempty"`
	Reason   string `json:"reason,omitempty"`
	Note     string `json:"note,omitempty"`
	Answered string `json:"answered,omitempty"`
}

// escalate hands the conversation over to the relationship manager.
func (d *desk) escalate(ctx context.Context, c *engine.Call, a escalateArgs) (engine.Outcome, error) {
	o := engine.Outcome{Kept: []string{wholeConversation}}
	cbu := a.Company
	// This read locks the company, so that its escalations can be counted.
	if _, err := c.Get(ctx, cbu); err != nil {
		return o, err
	}
	before, err := c.Find(ctx, escalations, engine.Fields{"cbu": cbu})
	if err != nil {
		return o, err
	}
	reference := fmt.Sprintf("E-%d", len(before)+1)
	manager, outstanding, err := d.outstanding(ctx, c, cbu)
	if err != nil {
		return o, err
	}
	turns, err := c.Turns(ctx)
	if err != nil {
		return o, err
	}
	transcript, tried := []transcriptTurn{}, []string{}
	without := false // an answer says what it answers: it is left out with the message
	for i := range turns {
		t := &turns[i]
		if t.Role == sessions.Client {
			without = slices.Contains(a.Without, t.Number)
		}
		if t.Role == sessions.System && t.Intent == sessions.WhyIntent || without || slices.Contains(a.Without, t.Number) {
			continue // the explanation of an answer is no part of the conversation
		}
		transcript = append(transcript, transcriptTurn{t.Number, t.Time, string(t.Role), t.Content, t.Action})
		if t.Action != "" && !slices.Contains(tried, t.Action) {
			tried = append(tried, t.Action)
		}
	}
	session, err := c.Session(ctx)
	if err != nil {
		return o, err
	}
	language, _ := values.ParseLanguage(session.Language)
	said, err := objects(transcript)
	if err != nil {
		return o, err
	}
	needed, err := objects(outstanding)
	if err != nil {
		return o, err
	}
	o.Changes = append(o.Changes, engine.Create(escalations, engine.Fields{"cbu": cbu, "reference": reference, "client": c.Principal(), "reason": a.Reason,
		"preferred_contact": a.Contact, "relationship_manager": manager, "outstanding": needed, "tried": tried, "transcript": said, "created_at": c.Now()}))
	o.Notices = append(o.Notices, engine.Notify("relationship-manager", engine.Fields{"reference": reference, "client": c.Principal(),
		"relationship_manager": manager, "preferred_contact": a.Contact, "turns": len(transcript), "outstanding": len(outstanding)}))
	o.Result = &engine.Answer{Columns: []string{"reference", "relationship_manager", "turns", "outstanding", "message"},
		Rows: [][]any{{reference, manager, len(transcript), len(outstanding), handedOver(language, manager, reference)}}}
	return o, nil
}

// outstanding lists the open requests of a company, and returns its manager.
func (d *desk) outstanding(ctx context.Context, c *engine.Call, cbu engine.Ref) (manager any, all []openRequest, err error) {
	cases, err := c.Find(ctx, "case", engine.Fields{"cbu": cbu})
	if err != nil {
		return nil, nil, err
	}
	for i := range cases {
		if v := cases[i].Value("relationship_manager"); !v.IsNull() && manager == nil {
			manager = v.Text()
		}
		streams, err := c.Find(ctx, "entity-workstream", engine.Fields{"case": cases[i].Ref()})
		if err != nil {
			return nil, nil, err
		}
		for j := range streams {
			entity, err := c.Get(ctx, streams[j].To("entity"))
			if err != nil {
				return nil, nil, err
			}
			needs, err := c.Find(ctx, requests, engine.Fields{"workstream": streams[j].Ref()})
			if err != nil {
				return nil, nil, err
			}
			for k := range needs {
				r := &needs[k]
				status := r.Value("status").Text()
				if status == "FULFILLED" || status == "WAIVED" {
					continue
				}
				next := openRequest{Request: entity.Value("name").Text() + " " + r.Value("request_subtype").Text(), Status: status,
					Reason: r.Value("reason_for_request").Text(), Note: r.Value("client_notes").Text()}
				if due := r.Value("due_date"); !due.IsNull() {
					next.Due = due.Text()
				}
				if next.Answered, err = d.answered(ctx, c, r.Ref()); err != nil {
					return nil, nil, err
				}
				all = append(all, next)
			}
		}
	}
	return manager, all, nil
}

// answered says how far questions about a request have come.
func (d *desk) answered(ctx context.Context, c *engine.Call, request engine.Ref) (string, error) {
	for _, status := range []string{collecting, reviewing} {
		rows, err := c.Find(ctx, collections, engine.Fields{"request": request, "client": c.Principal(), "status": status})
		if err != nil || len(rows) == 0 {
			if err != nil {
				return "", err
			}
			continue
		}
		col, err := d.read(ctx, c, rows[len(rows)-1])
		if err != nil {
			return "", err
		}
		n, of := col.filled.Answered()
		return fmt.Sprintf("%d of %d", n, of), nil
	}
	return "", nil
}

// objects writes a list as the store keeps it.
func objects[T any](list []T) (json.RawMessage, error) {
	if list == nil {
		list = []T{}
	}
	text, err := json.Marshal(list)
	return text, err
}
