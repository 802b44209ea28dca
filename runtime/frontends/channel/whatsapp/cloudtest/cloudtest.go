// Package cloudtest is a server that speaks the Cloud API of WhatsApp, for tests and
// demonstrations. It refuses what the real one refuses, and plays the people who write:
//
//	cloud := cloudtest.New(cloudtest.Options{Token: "t", Secret: "s", Verify: "v", Number: "106540352242922",
//		Webhook: "http://127.0.0.1:8080/channels/whatsapp", People: []string{"4915155501990"}, Clock: time.Now})
//	go http.Serve(listener, cloud)           // the API is http://ADDRESS/v23.0
//	id, status, err := cloud.Say(ctx, "4915155501990", cloudtest.Text("Hello"))
//	cloud.Sent()                             // what was answered
//
// A demonstration speaks to it over HTTP: POST /test/say takes {"from", "text"}, {"from",
// "tap", "title"} or {"from", "file" in base64, "type", "name"}, and GET /test/sent lists what
// was sent.
package cloudtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Options describe the simulated account.
type Options struct {
	Token, Secret, Verify string
	Number                string         // phone_number_id
	Webhook               string         // the URL that messages are posted to
	People                []string       // wa_ids and user ids that can be written to; nil means everybody
	Templates             map[string]int // the number of values that each takes
	Clock                 func() time.Time
	Client                *http.Client // posts to the webhook; nil is http.DefaultClient
}

// A Server is the Cloud API. It is safe for use by many goroutines.
type Server struct {
	opt Options
	mux *http.ServeMux

	mu     sync.Mutex
	last   int
	window map[string]time.Time // when each wrote last
	files  map[string]file
	sent   []Sent
	read   []string
	fail   []answer
}

type file struct {
	kind, sum string
	content   []byte
	until     time.Time // of the url
	key       int       // that the url has
}

type answer struct{ status, code int }

// Sent is a message that the server accepted.
type Sent struct {
	ID       string   `json:"id"`
	To       string   `json:"to"`
	Form     string   `json:"form"` // "text", "button", "list", "template"
	Text     string   `json:"text"` // for a template, its name
	Choices  []string `json:"choices,omitempty"`
	Titles   []string `json:"titles,omitempty"`
	Values   []string `json:"values,omitempty"` // of a template
	Language string   `json:"language,omitempty"`
	ReplyTo  string   `json:"reply_to,omitempty"`
	Ours     string   `json:"ours,omitempty"`
}

// New makes a server.
func New(o Options) *Server {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Client == nil {
		o.Client = http.DefaultClient
	}
	s := &Server{opt: o, mux: http.NewServeMux(), window: map[string]time.Time{}, files: map[string]file{}}
	s.mux.HandleFunc("POST /{version}/{number}/messages", s.messages)
	s.mux.HandleFunc("GET /{version}/{id}", s.where)
	s.mux.HandleFunc("GET /media/{id}/{key}", s.media)
	s.mux.HandleFunc("POST /test/say", s.testSay)
	s.mux.HandleFunc("GET /test/sent", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusOK, s.Sent()) })
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Webhook changes where messages are posted to.
func (s *Server) Webhook(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opt.Webhook = url
}

// Sent lists the accepted messages, in order.
func (s *Server) Sent() []Sent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Sent{}, s.sent...)
}

// Read lists the messages that were marked as read.
func (s *Server) Read() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.read)
}

// Fail lets the next message be answered so. Status 0 takes it, and ends the connection
// without an answer.
func (s *Server) Fail(status, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = append(s.fail, answer{status, code})
}

// Upload keeps a file, and returns its id and its SHA-256 in hex.
func (s *Server) Upload(kind string, content []byte) (id, sum string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	hash := sha256.Sum256(content)
	id, sum = strconv.Itoa(5_000_000+s.next()), hex.EncodeToString(hash[:])
	s.files[id] = file{kind: kind, sum: sum, content: slices.Clone(content)}
	return id, sum
}

// Forget ends the url of a file, as five minutes do.
func (s *Server) Forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	f.until = time.Time{}
	s.files[id] = f
}

func (s *Server) next() int { s.last++; return s.last }

// refuse answers as the API does.
func refuse(w http.ResponseWriter, status, code int, text string) {
	write(w, status, map[string]any{"error": map[string]any{"message": fmt.Sprintf("(#%d) %s", code, text), "type": "OAuthException", "code": code,
		"error_data": map[string]any{"messaging_product": "whatsapp", "details": text}, "fbtrace_id": "cloudtest"}})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has gone away needs no answer
}

func (s *Server) knows(w http.ResponseWriter, r *http.Request) bool {
	if all := r.Header["Authorization"]; len(all) == 1 && all[0] == "Bearer "+s.opt.Token {
		return true
	}
	refuse(w, http.StatusUnauthorized, 190, "Invalid OAuth access token")
	return false
}

type request struct {
	Product   string `json:"messaging_product"`
	Receiver  string `json:"recipient_type"`
	To        string `json:"to"`
	Recipient string `json:"recipient"`
	Type      string `json:"type"`
	Ours      string `json:"biz_opaque_callback_data"`
	Status    string `json:"status"`
	MessageID string `json:"message_id"`
	Typing    *struct {
		Type string `json:"type"`
	} `json:"typing_indicator"`
	Context *struct {
		MessageID string `json:"message_id"`
	} `json:"context"`
	Text *struct {
		Body string `json:"body"`
	} `json:"text"`
	Interactive *struct {
		Type string `json:"type"`
		Body struct {
			Text string `json:"text"`
		} `json:"body"`
		Action struct {
			Button  string `json:"button"`
			Buttons []struct {
				Type  string `json:"type"`
				Reply row    `json:"reply"`
			} `json:"buttons"`
			Sections []struct {
				Title string `json:"title"`
				Rows  []row  `json:"rows"`
			} `json:"sections"`
		} `json:"action"`
	} `json:"interactive"`
	Template *struct {
		Name     string `json:"name"`
		Language struct {
			Code string `json:"code"`
		} `json:"language"`
		Components []struct {
			Type       string `json:"type"`
			Parameters []struct {
				Type string `json:"type"`
				Text string `json:"text"`
			} `json:"parameters"`
		} `json:"components"`
	} `json:"template"`
}

type row struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
}

var digits = regexp.MustCompile(`^\+?[1-9][0-9]{6,14}$`)

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	if !s.knows(w, r) {
		return
	}
	var q request
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
	dec.DisallowUnknownFields()
	err := dec.Decode(&q)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case r.PathValue("number") != s.opt.Number:
		refuse(w, http.StatusBadRequest, 100, "no such phone number")
		return
	case err != nil || r.Header.Get("Content-Type") != "application/json" || q.Product != "whatsapp":
		refuse(w, http.StatusBadRequest, 100, "Invalid parameter")
		return
	case q.Status != "":
		if q.Status != "read" || q.MessageID == "" || q.Typing != nil && q.Typing.Type != "text" {
			refuse(w, http.StatusBadRequest, 100, "Invalid parameter")
			return
		}
		s.read = append(s.read, q.MessageID)
		write(w, http.StatusOK, map[string]any{"success": true})
		return
	}
	to := cmp.Or(strings.TrimPrefix(q.To, "+"), q.Recipient)
	one := Sent{To: to, Ours: q.Ours}
	if q.Context != nil {
		one.ReplyTo = q.Context.MessageID
	}
	if wrong := q.read(&one, s.opt.Templates); wrong != "" {
		refuse(w, http.StatusBadRequest, 100, wrong)
		return
	}
	if len(s.fail) > 0 {
		next := s.fail[0]
		s.fail = s.fail[1:]
		if next.status != 0 {
			refuse(w, next.status, next.code, "as was asked for")
			return
		}
		defer panic(http.ErrAbortHandler)
		w = nil
	} else if s.opt.People != nil && !slices.Contains(s.opt.People, to) {
		refuse(w, http.StatusBadRequest, 131026, "Message undeliverable")
		return
	} else if q.Type != "template" && s.opt.Clock().Sub(s.window[to]) >= 24*time.Hour {
		refuse(w, http.StatusBadRequest, 131047, "Re-engagement message")
		return
	}
	one.ID = "wamid.out." + strconv.Itoa(s.next())
	s.sent = append(s.sent, one)
	if w != nil {
		write(w, http.StatusOK, map[string]any{"messaging_product": "whatsapp", "contacts": []any{map[string]any{"input": to, "wa_id": to}},
			"messages": []any{map[string]any{"id": one.ID, "message_status": "accepted"}}})
	}
}

// read checks a message against the limits, and says in words why it is refused.
func (q *request) read(one *Sent, templates map[string]int) string {
	if q.Receiver != "individual" || q.To == "" && q.Recipient == "" || q.To != "" && !digits.MatchString(q.To) || len(q.Ours) > 512 || q.Context != nil && q.Context.MessageID == "" {
		return "who it is for cannot be read"
	}
	if (q.Text != nil) != (q.Type == "text") || (q.Interactive != nil) != (q.Type == "interactive") || (q.Template != nil) != (q.Type == "template") {
		return "it is not of its type"
	}
	within := func(s string, most int) bool { n := utf8.RuneCountInString(s); return n > 0 && n <= most }
	choose := func(c row, title, id int) bool {
		ok := within(c.Title, title) && within(c.ID, id) && !slices.Contains(one.Choices, c.ID) && !strings.Contains(c.Title, "\n")
		one.Choices, one.Titles = append(one.Choices, c.ID), append(one.Titles, c.Title)
		return ok
	}
	switch {
	case q.Text != nil:
		one.Form, one.Text = "text", q.Text.Body
		if !within(one.Text, 4096) {
			return "the text is empty or too long"
		}
	case q.Template != nil:
		t := q.Template
		one.Form, one.Text, one.Language = "template", t.Name, t.Language.Code
		for _, c := range t.Components {
			for _, p := range c.Parameters {
				if c.Type != "body" || p.Type != "text" || p.Text == "" {
					return "a value of a template cannot be read"
				}
				one.Values = append(one.Values, p.Text)
			}
		}
		if n, ok := templates[t.Name]; !ok || one.Language == "" || len(one.Values) != n {
			return "there is no such template, or it takes other values"
		}
	case q.Interactive != nil:
		i := q.Interactive
		one.Form, one.Text = i.Type, i.Body.Text
		switch i.Type {
		case "button":
			if n := len(i.Action.Buttons); n < 1 || n > 3 || !within(one.Text, 1024) || i.Action.Sections != nil {
				return "buttons are one to three, below a text of 1024 letters"
			}
			for _, b := range i.Action.Buttons {
				if b.Type != "reply" || b.Reply.Description != "" || slices.Contains(one.Titles, b.Reply.Title) || !choose(b.Reply, 20, 256) {
					return "a button is too long, or there twice"
				}
			}
		case "list":
			if n := len(i.Action.Sections); n < 1 || n > 10 || !within(one.Text, 4096) || !within(i.Action.Button, 20) || i.Action.Buttons != nil {
				return "a list has a button, and one to ten sections, below a text of 4096 letters"
			}
			for _, part := range i.Action.Sections {
				if len(part.Rows) == 0 || len(i.Action.Sections) > 1 && !within(part.Title, 24) {
					return "a section has rows, and a title where there are several"
				}
				for _, c := range part.Rows {
					if !choose(c, 24, 200) || utf8.RuneCountInString(c.Description) > 72 {
						return "a row is too long, or there twice"
					}
				}
			}
			if len(one.Choices) > 10 {
				return "a list has at most ten rows"
			}
		default:
			return "it is of no type that there is"
		}
	default:
		return "it is of no type that there is"
	}
	return ""
}

// where answers with the URL of a file.
func (s *Server) where(w http.ResponseWriter, r *http.Request) {
	if !s.knows(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.PathValue("id")
	if id == s.opt.Number {
		write(w, http.StatusOK, Object{"id": id})
		return
	}
	f, ok := s.files[id]
	if !ok {
		refuse(w, http.StatusBadRequest, 100, "Unsupported get request. Object does not exist")
		return
	}
	f.until, f.key = s.opt.Clock().Add(5*time.Minute), s.next()
	s.files[id] = f
	at := url.URL{Scheme: "http", Host: r.Host, Path: fmt.Sprintf("/media/%s/%d", id, f.key)}
	if r.TLS != nil {
		at.Scheme = "https"
	}
	write(w, http.StatusOK, map[string]any{"url": at.String(), "mime_type": f.kind, "sha256": f.sum, "file_size": len(f.content), "id": id, "messaging_product": "whatsapp"})
}

func (s *Server) media(w http.ResponseWriter, r *http.Request) {
	if !s.knows(w, r) {
		return
	}
	s.mu.Lock()
	f := s.files[r.PathValue("id")]
	gone := r.PathValue("key") != strconv.Itoa(f.key) || !s.opt.Clock().Before(f.until)
	s.mu.Unlock()
	if gone {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", f.kind)
	_, _ = w.Write(f.content)
}

// An Object is JSON.
type Object = map[string]any

// Text makes a text message.
func Text(body string) Object { return Object{"type": "text", "text": Object{"body": body}} }

// Tap makes a tap on a button or on a row of a list.
func Tap(id, title string) Object {
	return Object{"type": "interactive", "interactive": Object{"type": "button_reply", "button_reply": Object{"id": id, "title": title}}}
}

// File makes a message with an uploaded file. The kind is "image", "video", "audio", "document" or
// "sticker".
func File(kind, id, mime, sum, name, caption string) Object {
	f := Object{"id": id, "mime_type": mime, "sha256": sum}
	if name != "" {
		f["filename"] = name
	}
	if caption != "" {
		f["caption"] = caption
	}
	return Object{"type": kind, kind: f}
}

// Message makes a message of a person, sent now, with an id of its own.
func (s *Server) Message(from string, content Object) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := Object{"from": from, "id": "wamid.in." + strconv.Itoa(s.next()), "timestamp": strconv.FormatInt(s.opt.Clock().Unix(), 10)}
	maps.Copy(m, content)
	return m
}

// Status makes a status of a message that was sent. code is of "failed".
func (s *Server) Status(id, state string, code int) Object {
	m := Object{"id": id, "status": state, "timestamp": strconv.FormatInt(s.opt.Clock().Unix(), 10)}
	for _, one := range s.Sent() {
		if one.ID == id {
			m["recipient_id"], m["biz_opaque_callback_data"] = one.To, one.Ours
		}
	}
	if code != 0 {
		m["errors"] = []any{Object{"code": code, "title": "Message failed", "message": "Message failed"}}
	}
	return m
}

// Say posts a message of a person. status is the answer of the webhook.
func (s *Server) Say(ctx context.Context, from string, content Object) (id string, status int, err error) {
	m := s.Message(from, content)
	status, err = s.Deliver(ctx, []Object{m}, nil)
	return m["id"].(string), status, err
}

// Deliver posts messages and statuses in one request, in this order and with repetitions. A person
// who wrote can be answered for a day.
func (s *Server) Deliver(ctx context.Context, messages, statuses []Object) (status int, err error) {
	return s.Post(ctx, s.Batch(messages, statuses))
}

// Batch writes the body of a request.
func (s *Server) Batch(messages, statuses []Object) []byte {
	value := Object{"messaging_product": "whatsapp", "metadata": Object{"display_phone_number": "15550001111", "phone_number_id": s.opt.Number}}
	if len(messages) > 0 {
		value["messages"] = messages
	}
	if len(statuses) > 0 {
		value["statuses"] = statuses
	}
	var contacts []Object
	s.mu.Lock()
	for _, m := range messages {
		if from, ok := m["from"].(string); ok {
			s.window[from] = s.opt.Clock()
			contacts = append(contacts, Object{"profile": Object{"name": "Person " + from[max(0, len(from)-4):]}, "wa_id": from})
		}
	}
	s.mu.Unlock()
	if contacts != nil {
		value["contacts"] = contacts
	}
	body, err := json.Marshal(Object{"object": "whatsapp_business_account", "entry": []Object{{"id": "1", "changes": []Object{{"field": "messages", "value": value}}}}})
	if err != nil {
		panic(err) // the test's value is no JSON
	}
	return body
}

// Sign returns the value of the header X-Hub-Signature-256.
func Sign(secret string, body []byte) string {
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return "sha256=" + hex.EncodeToString(h.Sum(nil))
}

// Post signs a body and posts it to the webhook.
func (s *Server) Post(ctx context.Context, body []byte) (status int, err error) {
	s.mu.Lock()
	to := s.opt.Webhook
	s.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Hub-Signature-256", Sign(s.opt.Secret, body))
	resp, err := s.opt.Client.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return resp.StatusCode, err
}

// Subscribe sets the webhook up, as its owner does once.
func (s *Server) Subscribe(ctx context.Context) error {
	s.mu.Lock()
	at := s.opt.Webhook
	s.mu.Unlock()
	q := url.Values{"hub.mode": {"subscribe"}, "hub.challenge": {"1158201444"}, "hub.verify_token": {s.opt.Verify}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at+"?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	resp, err := s.opt.Client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if got, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10)); resp.StatusCode != http.StatusOK || string(got) != "1158201444" {
		return errors.New("the webhook does not give the challenge back")
	}
	return nil
}

func (s *Server) testSay(w http.ResponseWriter, r *http.Request) {
	var q struct {
		From, Text, Tap, Title string
		File                   []byte // in base64
		Type, Name             string
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 16<<20)).Decode(&q); err != nil || q.From == "" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	content := Text(q.Text)
	switch {
	case q.Tap != "":
		content = Tap(q.Tap, q.Title)
	case q.File != nil:
		id, sum := s.Upload(q.Type, q.File)
		content = File("document", id, q.Type, sum, q.Name, q.Text)
	}
	id, status, err := s.Say(r.Context(), q.From, content)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	write(w, http.StatusOK, Object{"id": id, "status": status})
}
