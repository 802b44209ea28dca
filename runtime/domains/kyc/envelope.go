package kyc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/domains/kyc/redact"
)

// The envelope of an older protocol that peers of this agent speak: one JSON object to one address,
// answered by another. The palette's verbs carry out its nine types of messages, as for every other
// door.
const (
	Protocol = "A2A/1.0"
	Version  = "3.0.0"
)

// The types of messages.
const (
	TaskInit        = "TASK_INIT"        // a peer begins a verification
	TaskNegotiation = "TASK_NEGOTIATION" // we ask for identifiers
	TaskUpdate      = "TASK_UPDATE"      // a peer sends, or corrects, identifiers
	TaskStatus      = "TASK_STATUS"      // how far it is; from a peer, the question
	TaskResult      = "TASK_RESULT"      // VERIFIED or REJECTED
	TaskChallenge   = "TASK_CHALLENGE"   // something does not match
	KeyExchange     = "KEY_EXCHANGE"     // a peer's public key, and data sealed for it
	TaskComplete    = "TASK_COMPLETE"    // a link by which data is moved
	TaskError       = "TASK_ERROR"
)

// The intents of a message.
const (
	VerifyUser     = "VERIFY_USER"
	MigrateData    = "MIGRATE_DATA"
	CheckStatus    = "CHECK_STATUS"
	ExplainFailure = "EXPLAIN_FAILURE"
	Unknown        = "UNKNOWN"
)

var intents = [...]string{VerifyUser, MigrateData, CheckStatus, ExplainFailure, Unknown}

// A Message is one of a peer's.
type Message struct {
	Protocol string  `json:"protocol"`
	Version  string  `json:"version"`
	Type     string  `json:"type"`
	ID       string  `json:"id"`   // of the message: sent again, it is done once
	Task     string  `json:"task"` // which verification it is about
	Intent   string  `json:"intent"`
	Text     string  `json:"text"` // in words
	Payload  Payload `json:"payload"`
}

// A Payload is the payload of a message from a peer.
type Payload struct {
	UserName  string `json:"userName"`
	Subject   string `json:"subject"` // the same, as some peers call it
	Phone     string `json:"phone"`
	Email     string `json:"email"`
	SSNLast4  string `json:"ssn_last4"`
	BirthDate string `json:"birth_date"`
	Purpose   string `json:"purpose"`
	RiskLevel string `json:"risk_level"`
	PublicKey string `json:"public_key"`
	Audience  string `json:"audience"`
}

// A Reply is a message from us.
type Reply struct {
	Protocol string        `json:"protocol"`
	Version  string        `json:"version"`
	Type     string        `json:"type"`
	ReplyTo  string        `json:"reply_to,omitempty"`
	Task     string        `json:"task,omitempty"`
	Routing  *Routing      `json:"routing,omitempty"`
	Payload  *ReplyPayload `json:"payload,omitempty"`
	Error    string        `json:"error,omitempty"`
	Reason   string        `json:"reason,omitempty"`
}

// A Routing is the intent that was detected in a message, with the confidence.
type Routing struct {
	DetectedIntent string  `json:"detectedIntent"`
	Confidence     float64 `json:"confidence"`
}

// A ReplyPayload is the payload of a reply. Replies of one type have the same members, whatever the
// outcome.
type ReplyPayload struct {
	Status   string         `json:"status"`
	Progress int            `json:"progress,omitempty"` // in percent
	Message  string         `json:"message"`
	Data     map[string]any `json:"data,omitempty"`
	Log      string         `json:"log"`
}

// A Caller makes calls of the palette's verbs, in the name of the peer who sent a message.
type Caller interface {
	// Act makes a call, once for each key, and returns the verification that the call was about: its
	// id, the columns that its palette tells of it, and the answer of the call. An error with a
	// Sentence may be told.
	Act(ctx context.Context, verb string, args map[string]any, key string) (task string, told, answered map[string]any, err error)
}

// A sentence is an error with a text that a peer may be told.
type sentence interface {
	error
	Sentence() (code, text string)
}

// The steps of which a stream reports the progress, in percent (H10).
var progress = [...]struct {
	percent int
	message string
}{{15, "the message was read"}, {45, "looking for the name"}, {75, "comparing the identifiers"}, {90, "looking at the answer before it leaves"}}

// Answer answers a message. It reports each step of a verification first, if step is not nil.
func Answer(ctx context.Context, c Caller, body []byte, step func(Reply)) Reply {
	m, err := read(body)
	if err != nil {
		return failed(nil, "the message cannot be read", err.Error())
	}
	for _, text := range [...]string{m.Text, m.Payload.UserName, m.Payload.Subject, m.Payload.Phone, m.Payload.Email, m.Payload.Purpose, m.Payload.RiskLevel, m.Payload.Audience, m.Intent} {
		if redact.Input(text).Found() {
			return failed(m, "Request blocked by security guardrail", "Potentially harmful input patterns detected") // H3: never which
		}
	}
	routing := route(m)
	verb, args, expects := m.call(routing.DetectedIntent)
	if expects != "" {
		r := failed(m, "the message cannot be carried out", expects)
		r.Routing = &routing
		return r
	}
	tell := func(i int) {
		if step != nil && (verb == "kyc.verify" || verb == "kyc.supply") {
			step(Reply{Protocol: Protocol, Version: Version, Type: TaskStatus, ReplyTo: m.ID, Task: m.Task, Payload: &ReplyPayload{Status: "WORKING", Progress: progress[i].percent, Message: progress[i].message}})
		}
	}
	tell(0)
	tell(1)
	task, told, answered, err := c.Act(ctx, verb, args, m.ID)
	if err != nil {
		reason := "try again later; if it goes on, write to us"
		var said sentence
		if errors.As(err, &said) {
			_, reason = said.Sentence()
			reason = members().Replace(reason)
		}
		if leaks(&ReplyPayload{Message: reason}) {
			reason = errUnsafe.Error()
		}
		r := failed(m, "the message was refused", reason)
		r.Routing = &routing
		return r
	}
	tell(2)
	tell(3)
	r := reply(verb, told, answered)
	if leaks(r.Payload) {
		r = failed(m, "the answer was withheld", errUnsafe.Error())
	}
	r.ReplyTo, r.Task, r.Routing = m.ID, task, &routing
	return r
}

// leaks reports whether an answer holds personal data, which it would have from a row that a palette
// or a person changed: the drafts of this package are checked by Reflect. What is sealed and what is
// a link are random letters, and are personal data only as a whole.
func leaks(p *ReplyPayload) bool {
	texts := []string{p.Message, p.Log}
	for name, value := range p.Data {
		text, _ := value.(string)
		if name != "sealed_ssn" && name != "migration_link" {
			texts = append(texts, text)
		} else if _, report := redact.Redact(text, redact.Record{}); report.Found() && report.Findings[0].End-report.Findings[0].Start == len(text) {
			return true
		}
	}
	return slices.ContainsFunc(texts, func(text string) bool {
		_, report := redact.Redact(text, redact.Record{})
		return report.Found()
	})
}

// members writes the names of arguments, in the reason of a refusal, as the members of a message.
var members = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(":name", "payload.userName", ":phone", "payload.phone", ":email", "payload.email", ":ssn-last4", "payload.ssn_last4 (four digits or letters)", ":birth-date", "payload.birth_date (as 1980-05-01)",
		":purpose", "payload.purpose", ":risk-level", "payload.risk_level", ":public-key", "payload.public_key (a key of X25519, 32 bytes in base64)", ":audience", "payload.audience", ":verification-id", "task")
})

// Refused returns the reply to a message that was refused before it was read.
func Refused(what, reason string) Reply { return failed(nil, what, reason) }

func failed(m *Message, what, reason string) Reply {
	r := Reply{Protocol: Protocol, Version: Version, Type: TaskError, Error: what, Reason: reason}
	if m != nil {
		r.ReplyTo, r.Task = m.ID, m.Task
	}
	return r
}

// read reads a message, strictly.
func read(body []byte) (*Message, error) {
	m := &Message{}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(m); err != nil {
		var unknown *json.UnmarshalTypeError
		switch {
		case errors.As(err, &unknown) && unknown.Field != "":
			return nil, fmt.Errorf("%s is to be a %s", unknown.Field, unknown.Type)
		case strings.HasPrefix(err.Error(), "json: unknown field "):
			return nil, errors.New("it has a member that there is not: " + strings.TrimPrefix(err.Error(), "json: unknown field "))
		}
		return nil, errors.New("it is no JSON object")
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("something follows the JSON object")
	}
	switch {
	case m.Protocol != Protocol:
		return nil, fmt.Errorf("protocol is to be %q", Protocol)
	case m.Version != "" && m.Version != Version:
		return nil, fmt.Errorf("version is to be %q", Version)
	case m.Type != TaskInit && m.Type != TaskUpdate && m.Type != TaskStatus && m.Type != KeyExchange:
		return nil, errors.New("type is to be one that peers send: TASK_INIT, TASK_UPDATE, TASK_STATUS or KEY_EXCHANGE")
	case m.Intent != "" && !slices.Contains(intents[:], m.Intent):
		return nil, fmt.Errorf("intent is to be one of %s", strings.Join(intents[:], ", "))
	case len(m.ID) > 200:
		return nil, errors.New("id is longer than 200 bytes")
	}
	return m, nil
}

// A wording is a pattern for texts of an intent.
type wording struct {
	intent string
	words  *regexp.Regexp
}

// said are the patterns by which the intent of a text is recognised. The first match wins.
var said = sync.OnceValue(func() []wording {
	return []wording{
		{ExplainFailure, regexp.MustCompile(`(?i)\b(why|explain\w*|reasons?|wrong|grounds|on what basis|cause[sd]?|how come|problem|issue|errors?|mismatch\w*|incorrect|not accepted|no good|(?:was|were|been|being|got|you|to) (?:declin|refus|reject|den(?:y|ied)|turned down|bounce|fail)\w*|declined|refused|rejected|denied|turned down|failed|failure|didn.?t (?:match|pass|work)|understand|what (?:is it|happened|led|made))\b`)},
		{CheckStatus, regexp.MustCompile(`(?i)\b(status|how far|progress\w*|pending|news|updates?|where (?:are we|do we|does (?:this|it|that)|is (?:it|this|that|my|our|the))|stand|state|(?:done|ready|finished|complete|through) (?:yet|now|already|soon)|percent\w*|when (?:will|can|do)|still (?:open|running|missing|waiting)|follow(?:ing)? up|looked at|moving|eta|how long|how much longer|(?:is|has|have|are) \S+(?: \S+)? (?:done|finished|complete|completed|ready|been (?:checked|processed|reviewed)))\b`)},
		{MigrateData, regexp.MustCompile(`(?i)\b(migrat\w*|transf\w+|move|moving|port|porting|portability|export\w*|hand(?:ing)? ?over|carry over|send over|relocat\w*|consolidat\w*|take (?:\S+ ){1,2}(?:credentials|data|documents) (?:along|with)|(?:new|other|our|your) wallet|from your side to ours|forward to us)\b`)},
		{VerifyUser, regexp.MustCompile(`(?i)\b(verif\w*|identi(?:fy|fied|ty|fication)|validat\w*|check\w*|kyc|know|genuine|look at|authentic\w*|applicant|confirm (?:that|who|whether|the)|vet|screen\w*|who (?:he|she|they) (?:is|says?|claims?|are))\b`)},
	}
})

// named reads a name, and a telephone, out of a sentence that asks for a verification.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:please\s+)?(?:verify|check|identify|do you know)\s+(.+?)(?:\s*,?\s*(?:with|and|by)?\s*(?:the\s+)?(?:phone|number)(?:\s+number)?\s*:?\s*([+()\d][\d\s().-]*\d))?\s*[.?!]?\s*$`)
})

// nameless matches words that stand for somebody whom they do not name.
var nameless = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:this|that|the|our|my|a|an)(?: new)? (?:users?|persons?|people|customers?|clients?|applicants?|individuals?|name|one|man|woman)|this|that|him|her|them|it|(?:some|any)(?:body|one)|who\b.*)$`)
})

// route returns the intent of a message and how sure that is (H5, H6). In this order: the intent that
// the message states (1); its words, where its type and payload leave them room (0.8, or 0.6 where they
// speak of several intents); what its type and payload ask for (1; 0.9 for a name in a TASK_INIT; 0.5
// for a TASK_STATUS whose words say nothing of it); UNKNOWN (0). A payload with data of a person is given to be verified, whatever is written beside it,
// and a TASK_STATUS only asks: words of a move or of a name do nothing there.
func route(m *Message) Routing {
	if m.Intent != "" && m.Intent != Unknown {
		return Routing{m.Intent, 1}
	}
	byType := Routing{Unknown, 0}
	switch {
	case m.Type == TaskStatus && m.Text == "":
		return Routing{CheckStatus, 1}
	case m.Type == TaskStatus:
		byType = Routing{CheckStatus, 0.5}
	case m.Type == KeyExchange, m.Type == TaskUpdate && (m.Payload.identifies() || m.Text == ""):
		return Routing{VerifyUser, 1}
	case m.Payload.name() != "":
		byType = Routing{VerifyUser, 0.9}
	}
	found := Routing{}
	for _, s := range said() {
		if m.Type == TaskStatus && s.intent != ExplainFailure && s.intent != CheckStatus || !s.words.MatchString(m.Text) {
			continue
		}
		if found.DetectedIntent != "" {
			found.Confidence = 0.6
			break
		}
		found = Routing{s.intent, 0.8}
	}
	if found.DetectedIntent != "" {
		return found
	}
	return byType
}

// identifies reports whether a payload holds data of a person.
func (p *Payload) identifies() bool {
	return p.name() != "" || p.Phone != "" || p.Email != "" || p.SSNLast4 != "" || p.BirthDate != ""
}

func (p *Payload) name() string {
	if p.UserName != "" {
		return p.UserName
	}
	return p.Subject
}

// call returns the verb for a message, with its arguments, or names the argument that is missing.
func (m *Message) call(intent string) (verb string, args map[string]any, lacks string) {
	p := m.Payload
	args = map[string]any{}
	set := func(values ...string) { // name, value, name, value
		for i := 0; i < len(values); i += 2 {
			if values[i+1] != "" {
				args[values[i]] = values[i+1]
			}
		}
	}
	about := func(verb string) (string, map[string]any, string) {
		if m.Task == "" {
			return "", nil, "task is to say which verification it is about"
		}
		args["verification-id"] = m.Task
		return verb, args, ""
	}
	switch {
	case m.Type == TaskUpdate && intent == VerifyUser:
		if !p.identifies() {
			return "", nil, "payload is to hold what is corrected or added"
		}
		set("name", p.name(), "phone", p.Phone, "email", p.Email, "ssn-last4", p.SSNLast4, "birth-date", p.BirthDate)
		return about("kyc.supply")
	case m.Type == KeyExchange && intent == VerifyUser:
		if p.PublicKey == "" {
			return "", nil, "payload.public_key is to hold a key"
		}
		set("public-key", p.PublicKey)
		return about("kyc.exchange-keys")
	case intent == MigrateData:
		if p.Audience == "" {
			return "", nil, "payload.audience is to name the wallet"
		}
		set("audience", p.Audience)
		return about("kyc.migrate")
	case intent == CheckStatus:
		return about("kyc.status")
	case intent == ExplainFailure:
		return about("kyc.explain")
	case intent == Unknown:
		return "", nil, "say intent, or what you want in text: a verification needs payload.userName"
	}
	if read := named().FindStringSubmatch(m.Text); p.name() == "" && read != nil && !nameless().MatchString(read[1]) {
		p.UserName = read[1]
		if p.Phone == "" {
			p.Phone = read[2]
		}
	}
	if p.name() == "" {
		return "", nil, "payload.userName is to name somebody"
	}
	set("name", p.name(), "phone", p.Phone, "email", p.Email, "ssn-last4", p.SSNLast4, "birth-date", p.BirthDate, "purpose", p.Purpose, "risk-level", p.RiskLevel)
	return "kyc.verify", args, ""
}

// reply makes a reply from the present state of a verification.
func reply(verb string, told, answered map[string]any) Reply {
	text := func(of map[string]any, name string) string {
		s, _ := of[name].(string)
		return s
	}
	status := text(told, "status")
	r := Reply{Protocol: Protocol, Version: Version, Type: TaskStatus, Payload: &ReplyPayload{Status: status, Message: text(told, "message"), Log: text(told, "log")}}
	said := Said{Status: status, Typed: text(told, "confirmed_name")}
	for i, name := range fieldNames {
		if said.Fields[i] = Field(text(told, name)); said.Fields[i] == "" {
			said.Fields[i] = NotGiven
		}
	}
	switch status {
	case statusNeeds:
		r.Type = TaskNegotiation
		r.Payload.Data = map[string]any{"required_to_proceed": said.RequiredToProceed()}
	case statusChallenge:
		r.Type, r.Payload.Status = TaskChallenge, string(Partial)
		r.Payload.Data = compared(&said, told)
	case statusRejected, statusVerified:
		r.Type = TaskResult
		r.Payload.Data = compared(&said, told)
	case statusHeld:
		r.Payload.Progress = progress[len(progress)-1].percent
	}
	switch verb {
	case "kyc.exchange-keys":
		r.Type = KeyExchange
		r.Payload.Data = map[string]any{"sealed_ssn": answered["ssn"]}
	case "kyc.migrate":
		r.Type = TaskComplete
		r.Payload.Data = map[string]any{"migration_link": answered["link"]}
	}
	return r
}

// compared returns the data of a result or a challenge: both have the same members (H24).
func compared(s *Said, told map[string]any) map[string]any {
	none := func(all []string) []string {
		if all == nil {
			return []string{}
		}
		return all
	}
	name, likeness := []string{"name"}, told["likeness"]
	if s.Status == statusRejected {
		name = nil
	}
	return map[string]any{
		"confirmed_name": told["confirmed_name"], "name_confidence": fmt.Sprint(likeness) + "%",
		"matched_fields": none(append(name, s.Matched()...)), "mismatched_fields": none(s.Mismatched()),
		"required_to_proceed": none(s.RequiredToProceed()),
	}
}
