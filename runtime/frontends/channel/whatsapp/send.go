package whatsapp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/protocols/dial"
	"verbatim/runtime/state/contact"
)

// maxAnswer is larger than any answer of WhatsApp except files.
const maxAnswer = 1 << 20

// Send implements channel.Adapter. Out.ID comes back as Status.Ours, so that a later status shows
// whether a message with a lost answer arrived.
func (a *Adapter) Send(ctx context.Context, o channel.Out) (string, error) {
	body, f := a.message(o)
	if f != nil {
		return "", f
	}
	id, err := a.post(ctx, o.Inbox, body)
	var said *channel.Failure
	to, _ := body["to"].(string)
	if other := contact.OtherPhone("+" + to); other != "" && errors.As(err, &said) && (said.Code == codeUndeliverable || said.Code == codeNotListed) {
		// The network may know them by the other spelling of their number.
		body["to"] = other[1:]
		if again, err := a.post(ctx, o.Inbox, body); err == nil || !refused(err) {
			return again, err
		}
	}
	return id, err
}

// refused reports whether nothing was sent, and trying again is pointless.
func refused(err error) bool {
	var f *channel.Failure
	return errors.As(err, &f) && f.Permanent
}

type object = map[string]any

// message makes the body to be posted.
func (a *Adapter) message(o channel.Out) (object, *channel.Failure) {
	to := strings.TrimPrefix(o.To, "+")
	switch {
	case !slices.Contains(a.opt.Numbers, o.Inbox):
		return nil, lasting("inbox", "the phone number that it should be sent from is none of ours")
	case to == "":
		return nil, lasting("receiver", "nobody is named as its receiver")
	case o.ID == "" || len(o.ID) > maxOpaque:
		return nil, lasting("id", "the id of a delivery has 1 to 512 bytes")
	}
	m := object{"messaging_product": "whatsapp", "recipient_type": "individual", "biz_opaque_callback_data": o.ID}
	if strings.Trim(to, "0123456789") == "" {
		m["to"] = to
	} else {
		m["recipient"] = o.To
	}
	if o.ReplyTo != "" {
		m["context"] = object{"message_id": o.ReplyTo}
	}
	if t := o.Template; t != nil {
		template := object{"name": t.Name, "language": object{"code": t.Language}}
		if len(t.Values) > 0 {
			values := make([]object, len(t.Values))
			for i, v := range t.Values {
				values[i] = object{"type": "text", "text": v}
			}
			template["components"] = []object{{"type": "body", "parameters": values}}
		}
		m["type"], m["template"] = "template", template
		return m, nil
	}
	if strings.TrimSpace(o.Text) == "" {
		return nil, lasting("text", "a message without text cannot be sent")
	}
	form := Shape(o.Text, o.Choices)
	m["type"] = "interactive"
	switch form {
	case Buttons:
		buttons := make([]object, len(o.Choices))
		for i, c := range o.Choices {
			buttons[i] = object{"type": "reply", "reply": object{"id": c.ID, "title": c.Title}}
		}
		m["interactive"] = object{"type": "button", "body": object{"text": o.Text}, "action": object{"buttons": buttons}}
	case List:
		rows := make([]object, len(o.Choices))
		for i, c := range o.Choices {
			rows[i] = object{"id": c.ID, "title": c.Title}
		}
		m["interactive"] = object{"type": "list", "body": object{"text": o.Text}, "action": object{"button": a.opt.Pick, "sections": []object{{"rows": rows}}}}
	case Plain:
		m["type"], m["text"] = "text", object{"body": o.Text}
	case Numbered:
		m["type"], m["text"] = "text", object{"body": numbered(o.Text, o.Choices)}
	default:
		return nil, lasting("length", "the text is longer than a message may be, which is 4096 letters")
	}
	return m, nil
}

// Read marks a message and those before it as read, and shows that an answer is being written.
// It is a courtesy: the caller may ignore the error.
func (a *Adapter) Read(ctx context.Context, inbox, id string) error {
	if !slices.Contains(a.opt.Numbers, inbox) {
		return lasting("inbox", "the phone number that it should be sent from is none of ours")
	}
	_, err := a.ask(ctx, http.MethodPost, inbox+"/messages",
		object{"messaging_product": "whatsapp", "status": "read", "message_id": id, "typing_indicator": object{"type": "text"}})
	return err
}

// post sends a message and returns its id.
func (a *Adapter) post(ctx context.Context, inbox string, body object) (string, error) {
	answer, err := a.ask(ctx, http.MethodPost, inbox+"/messages", body)
	if err != nil {
		return "", err
	}
	var got struct{ Messages []struct{ ID string } }
	if err := json.Unmarshal(answer, &got); err != nil || len(got.Messages) == 0 || got.Messages[0].ID == "" {
		return "", &channel.Failure{Code: "answer", Text: "WhatsApp took it and did not say what it is called", Unknown: true}
	}
	return got.Messages[0].ID, nil
}

// Try asks the API what each of our numbers is, which it says to those whose token is for it.
func (a *Adapter) Try(ctx context.Context) error {
	for _, n := range a.opt.Numbers {
		if _, err := a.ask(ctx, http.MethodGet, n+"?fields=id", nil); err != nil {
			return fmt.Errorf("number %s: %w", n, err)
		}
	}
	return nil
}

// ask sends a request to the API and returns the answer. An error is a *channel.Failure.
func (a *Adapter) ask(ctx context.Context, method, path string, body object) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, a.opt.Timeout)
	defer cancel()
	// Once a byte of the request may have left, whether it arrived is not known until an
	// answer comes.
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, lasting("request", "the request to WhatsApp cannot be written")
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, a.opt.API+"/"+path, content)
	if err != nil {
		return nil, lasting("request", "the request to WhatsApp cannot be made")
	}
	req.Header.Set("Authorization", "Bearer "+a.opt.Token)
	req.Header.Set("User-Agent", "verbatim")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.api.Do(req)
	if err != nil {
		return nil, lost(err, sent.Load())
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		if err != nil {
			return nil, lost(err, true)
		}
		return answer, nil
	}
	var said struct{ Error wireError }
	_ = json.Unmarshal(answer, &said) // an answer that cannot be read has its status
	return nil, failure(resp.StatusCode, said.Error.Code)
}

// lost says what became of a request that was not answered.
func lost(err error, sent bool) *channel.Failure {
	switch {
	case errors.Is(err, dial.ErrPrivate):
		return lasting("private", "WhatsApp: "+dial.ErrPrivate.Error())
	case sent:
		return &channel.Failure{Code: "lost", Text: "the request was sent to WhatsApp and no answer came", Unknown: true}
	}
	return &channel.Failure{Code: "unreachable", Text: "no connection to WhatsApp"}
}
