package mcp

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
	"verbatim/stores/receipt"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// If a rule wants the caller's agreement, the client asks the person. A client of version 2026-07-28
// gets the question and a state, which it returns with the answer, to any process. A client of an
// earlier version is asked while it waits. A client that can do neither is told how a person agrees.
//
// The state is sealed, so that it can only say what we wrote: who was asked, about which preview of
// which call, and until when. The preview itself is kept in the store and valid once, and the engine
// compares it again inside the transaction that carries the call out.

// A question is a question that the caller has to answer before a call is carried out.
type question struct {
	preview *receipt.Receipt
	text    string
}

// agreeInput names the one input that is asked for.
const agreeInput = "agree"

// lasting is how long a question may be answered. Rules of palettes may shorten it.
const lasting = time.Hour

// agreeSchema is the schema of an answer.
var agreeSchema = json.RawMessage(`{"type":"object","properties":{"agree":{"type":"boolean","title":"Do it","description":"Yes: do exactly this. No: change nothing.","default":false}},"required":["agree"]}`)

// asks words the question of a preview: in the sentences of the palettes, with every row that would
// change.
func (c *call) asks(preview *receipt.Receipt) *question {
	language, _ := values.ParseLanguage(c.session.Person().Language)
	var text bytes.Buffer
	if says := dialog.NewTeller(c.Registry, c.session, language).Asks(preview); says != "" {
		text.WriteString(says + "\n\n")
	}
	receipt.Print(&text, preview, receipt.Options{Full: true, State: "nothing has changed yet"})
	var why []string
	for _, a := range preview.Asks() {
		if a.By == "" {
			why = append(why, a.Reason)
		} else {
			why = append(why, a.Reason+" (afterwards somebody with the role "+a.By+" has to agree too)")
		}
	}
	text.WriteString("\nYou are asked because " + strings.Join(why, "; ") + ".")
	return &question{preview, text.String()}
}

func (q *question) params() *sdk.ElicitParams {
	return &sdk.ElicitParams{Mode: "form", Message: q.text, RequestedSchema: agreeSchema}
}

// earlier returns the initialisation of a client with a version before 2026-07-28, nil for another
// client.
func (c *call) earlier() *sdk.InitializeParams {
	if c.req.Session == nil {
		return nil
	}
	if p := c.req.Session.InitializeParams(); p != nil && p.ProtocolVersion < modern {
		return p
	}
	return nil
}

// canAsk reports whether the client said that it asks people. The library does not look.
func (c *call) canAsk() bool {
	caps := c.req.ClientCapabilities()
	if p := c.earlier(); p != nil {
		caps = p.Capabilities
	}
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// inRounds reports whether the client comes back with its answer in a request of its own.
func (c *call) inRounds() bool { return c.earlier() == nil }

// pause answers with the question, and with the state that the client returns with the answer.
func (c *call) pause(q *question) (*sdk.CallToolResult, error) {
	state, err := c.seal.close(c.states(q))
	if err != nil {
		return nil, internal("the question cannot be sealed")
	}
	return &sdk.CallToolResult{InputRequests: sdk.InputRequestMap{agreeInput: q.params()}, RequestState: state}, nil
}

// askNow asks a client that waits.
func (c *call) askNow(ctx context.Context, q *question) (err error) {
	if c.answer, err = c.req.Session.Elicit(ctx, q.params()); err != nil {
		return err
	}
	c.agreed, err = c.seal.close(c.states(q))
	return err
}

// unanswered says that a client that was asked while it waited gave no answer.
func (c *call) unanswered(ctx context.Context, err error) *sdk.CallToolResult {
	why := "the client could not ask the person; nothing was changed"
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		why = "nobody answered in time; nothing was changed"
	case ctx.Err() != nil:
		return c.refused(ctx.Err())
	}
	c.Log.Info("no answer", "error", err.Error())
	return c.invalid(dsl.Diagnostics{{Severity: dsl.Error, Code: codeNotAsked, Summary: why, Notes: []string{"call it again to be asked again"}}})
}

// A state identifies the call that a question was about.
type state struct {
	Principal string    `json:"principal"`
	Caller    string    `json:"caller"`
	Call      string    `json:"call"`   // SHA-256 of its text
	Answer    string    `json:"answer"` // of its preview: what it is about, and on which occasion
	Until     time.Time `json:"until"`
}

func (c *call) states(q *question) state {
	return state{c.session.Principal().Name, c.caller.Key, sum(c.text), q.preview.Answer(), c.Clock().Add(lasting)}
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(s[:])
}

// opens returns the question that the client's answer is about. It refuses an answer to anything but
// a question that this caller was asked about this call, and does not say what is wrong with it.
func (c *call) opens() (answer string, ds dsl.Diagnostics) {
	s, ok := c.seal.open(c.agreed)
	asked := c.canAsk() && (c.answer != nil || c.req.Params.InputResponses[agreeInput] != nil)
	if !ok || !asked || s.Principal != c.session.Principal().Name || s.Caller != c.caller.Key || s.Call != sum(c.text) || !c.Clock().Before(s.Until) {
		return "", notAsked()
	}
	return s.Answer, nil
}

// says reports whether the answer is a yes: an accepted form in which it says so.
func (c *call) says() bool {
	answer := c.answer
	if answer == nil {
		answer, _ = c.req.Params.InputResponses[agreeInput].(*sdk.ElicitResult)
	}
	if answer == nil || answer.Action != "accept" {
		return false
	}
	yes, _ := answer.Content["agree"].(bool)
	return yes
}

// A sealer encrypts and authenticates states: only this server can make or read one.
type sealer struct{ aead cipher.AEAD }

func newSealer(secret []byte) (sealer, error) {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("verbatim mcp state 1"))
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return sealer{aead}, err
}

func (s sealer) close(st state) (string, error) {
	text, err := json.Marshal(st)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nil, nil, text, nil)), nil
}

func (s sealer) open(sealed string) (st state, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return st, false
	}
	text, err := s.aead.Open(nil, nil, raw, nil)
	return st, err == nil && json.Unmarshal(text, &st) == nil
}
