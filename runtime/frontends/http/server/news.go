package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
)

// Server-sent events tell a principal what is done in their name
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). They are read from the journal,
// so a listener hears of it whichever process did it. The id of an event is the number of its
// entry: with Last-Event-ID a listener misses nothing and hears nothing twice.

// A newsEntry is an entry of the journal, in the form that its principal receives.
type newsEntry struct {
	Schema  string    `json:"schema"`
	Seq     int64     `json:"seq"`
	Time    time.Time `json:"time"`
	Verb    string    `json:"verb"`
	Call    string    `json:"call"`
	Outcome string    `json:"outcome"`
	Reason  string    `json:"reason,omitempty"`
	Session string    `json:"session,omitempty"`
	Source  string    `json:"source"`
	Turn    string    `json:"turn,omitempty"`

	principal string
	changes   string // of rows, until it was handed on
}

// recent is how many entries are kept in memory. A listener who missed more reads them from the
// store.
const recent = 1024

// looks is how often the journal is polled while anybody listens.
const looks = 250 * time.Millisecond

// A news distributes the journal to listeners. One goroutine reads, however many listen.
type news struct {
	s *Server

	mu        sync.Mutex
	listeners map[*listener]bool
	ring      []newsEntry // the latest, oldest first
	head      int64       // the entry that was read last
	running   bool
	looking   map[string]map[string]time.Time // by object, the principals who look at it, with the last time
}

// lookTime is how long a person counts as looking at a page that they opened.
const lookTime = 5 * time.Minute

// look records that a principal looks at something, and lists the others who do, among those
// connected to this process.
func (n *news) look(at, principal string, now time.Time) (others []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for what, of := range n.looking {
		maps.DeleteFunc(of, func(_ string, last time.Time) bool { return now.Sub(last) > lookTime })
		if len(of) == 0 {
			delete(n.looking, what)
		}
	}
	for name := range n.looking[at] {
		if name != principal {
			others = append(others, name)
		}
	}
	if n.looking[at] == nil {
		n.looking[at] = map[string]time.Time{}
	}
	n.looking[at][principal] = now
	slices.Sort(others)
	return others
}

// A listener is woken by entries of its principal or, without a principal, by changes of a row; ""
// stands for any row.
type listener struct {
	principal string
	row       string // its key as JSON, as in the journal
	wake      chan struct{}
	all       bool            // it listens to every row, and learns which ones changed
	touched   map[string]bool // since it was told last: see rows
}

func newNews(s *Server) *news {
	return &news{s: s, listeners: map[*listener]bool{}, looking: map[string]map[string]time.Time{}}
}

// listen adds a listener for a principal, and returns the number of the last entry.
func (n *news) listen(ctx context.Context, principal string) (l *listener, head int64, err error) {
	return n.add(ctx, &listener{principal: principal, wake: make(chan struct{}, 1)})
}

// about adds a listener for changes of a row.
func (n *news) about(ctx context.Context, row string) (*listener, error) {
	l, _, err := n.add(ctx, &listener{row: row, wake: make(chan struct{}, 1)})
	return l, err
}

// every adds a listener for changes of any row.
func (n *news) every(ctx context.Context) (*listener, error) {
	l, _, err := n.add(ctx, &listener{all: true, wake: make(chan struct{}, 1)})
	return l, err
}

// rows returns the rows that changed since the listener asked last.
func (n *news) rows(l *listener) map[string]bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	touched := l.touched
	l.touched = nil
	return touched
}

// mention collects the values in a JSON list of changes. The keys of the changed rows are among
// them, and the keys of rows that they refer to.
func mention(changes string, values map[string]bool) {
	for at := 0; at < len(changes); {
		end := at + 1
		switch c := changes[at]; {
		case c == '"':
			for end < len(changes) && changes[end] != '"' {
				if changes[end] == '\\' {
					end++
				}
				end++
			}
			end = min(end+1, len(changes))
		case strings.IndexByte("{}[],:", c) >= 0:
			at++
			continue
		default:
			for end < len(changes) && strings.IndexByte(`{}[],:"`, changes[end]) < 0 {
				end++
			}
		}
		values[changes[at:end]] = true
		at = end
	}
}

func (n *news) add(ctx context.Context, l *listener) (_ *listener, head int64, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.running {
		if n.head, _, err = n.s.Store.Head(ctx); err != nil {
			return nil, 0, err
		}
		n.ring, n.running = nil, true
		go n.follow()
	}
	n.listeners[l] = true
	return l, n.head, nil
}

func (n *news) leave(l *listener) {
	n.mu.Lock()
	delete(n.listeners, l)
	n.mu.Unlock()
}

// follow polls the journal while anybody listens.
func (n *news) follow() {
	tick := time.NewTicker(looks)
	defer tick.Stop()
	for {
		select {
		case <-n.s.ctx.Done():
			return
		case <-tick.C:
		}
		n.mu.Lock()
		if len(n.listeners) == 0 {
			n.running = false
			n.mu.Unlock()
			return
		}
		from := n.head
		n.mu.Unlock()
		ctx, cancel := context.WithTimeout(n.s.ctx, 5*time.Second)
		all, err := n.since(ctx, from)
		cancel()
		if err != nil {
			n.s.Log.Error("news", "error", err.Error())
			continue
		}
		n.hand(all)
	}
}

// since reads the entries after a number.
func (n *news) since(ctx context.Context, from int64) ([]newsEntry, error) {
	head, _, err := n.s.Store.Head(ctx)
	if err != nil || head <= from {
		return nil, err
	}
	entries, err := n.s.Store.Journal(ctx, from+1, min(head, from+recent))
	all := make([]newsEntry, len(entries))
	for i := range entries {
		all[i] = newsEntryOf(&entries[i])
	}
	return all, err
}

func newsEntryOf(e *stores.Entry) newsEntry {
	return newsEntry{"verbatim/event@1", e.Seq, e.Time, e.Verb, e.Call, e.Outcome, e.Reason, e.Session, e.Source, e.Turn, e.Principal, e.Changes}
}

// hand adds entries, and wakes the listeners concerned.
func (n *news) hand(all []newsEntry) {
	if len(all) == 0 {
		return
	}
	concerned := map[string]bool{}
	for i := range all {
		concerned[all[i].principal] = true
	}
	touched := map[string]bool{}
	for i := range all {
		mention(all[i].changes, touched)
		all[i].changes = ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.head = all[len(all)-1].Seq
	n.ring = append(n.ring, all...)
	if extra := len(n.ring) - recent; extra > 0 {
		n.ring = append([]newsEntry(nil), n.ring[extra:]...)
	}
	for l := range n.listeners {
		if l.principal != "" && concerned[l.principal] || l.principal == "" && (l.row == "" || touched[l.row]) {
			if l.all && l.touched == nil {
				l.touched = touched // which is not changed any more
			} else if l.all {
				both := maps.Clone(l.touched)
				maps.Copy(both, touched)
				l.touched = both
			}
			select {
			case l.wake <- struct{}{}:
			default: // it was woken, and has not looked yet
			}
		}
	}
}

// after lists the entries of a principal after an entry, and the entry up to which the list is
// complete; ok is false if memory does not go back far enough.
func (n *news) after(principal string, from int64) (all []newsEntry, head int64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := n.head + 1
	if len(n.ring) > 0 {
		first = n.ring[0].Seq
	}
	for i := range n.ring {
		if d := &n.ring[i]; d.Seq > from && d.principal == principal {
			all = append(all, *d)
		}
	}
	return all, n.head, from+1 >= first
}

// farthest is how many missed entries a listener receives at most.
const farthest = 10_000

// events streams what is done in the caller's name.
func (v *visit) events() error {
	ctx := v.r.Context()
	last := int64(-1)
	if text := v.r.Header.Get("Last-Event-ID"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return badBody("Last-Event-ID is the id of an event", "leave it out")
		}
		last = n
	}
	l, head, err := v.news.listen(ctx, v.principal)
	if err != nil {
		return err
	}
	if last < 0 || last > head {
		last = head
	}
	if conn := v.apart(); conn != nil {
		// Only the caller's identity is kept of the request.
		again := &visit{Server: v.Server, r: (&http.Request{Header: v.r.Header, RemoteAddr: v.r.RemoteAddr}).WithContext(v.ctx), route: v.route, caller: v.caller}
		leave := v.leave
		v.leave = func() {}
		v.after.Go(func() {
			defer leave()
			defer conn.Close()
			again.listens(again.r.Context(), &stream{w: conn, deadline: conn.SetWriteDeadline}, l, last, head)
		})
		return nil
	}
	v.listens(ctx, v.stream(), l, last, head)
	return nil
}

// apart takes over an HTTP/1.1 connection. The server would keep two stacks and two buffers for it,
// which is most of the memory of 10 000 listeners. It returns nil for HTTP/2, whose connection
// serves other requests too.
func (v *visit) apart() net.Conn {
	if v.r.ProtoMajor != 1 {
		return nil
	}
	conn, _, err := http.NewResponseController(v.w).Hijack()
	if err != nil {
		return nil
	}
	h := v.streams()
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var head bytes.Buffer
	head.WriteString("HTTP/1.1 200 OK\r\n")
	_ = h.Write(&head)
	head.WriteString("\r\n: \n\n")
	_ = conn.SetDeadline(time.Time{})
	_ = conn.SetWriteDeadline(time.Now().Add(stallTime))
	_, _ = conn.Write(head.Bytes()) // later writes show whether the client is still there
	requestOf(v.r.Context()).status = http.StatusOK
	return conn
}

// listens sends events until the listener leaves or the server stops.
func (v *visit) listens(ctx context.Context, s *stream, l *listener, last, head int64) {
	defer v.news.leave(l)
	if head-last > farthest {
		s.send(strconv.FormatInt(head, 10), object{"schema": "verbatim/missed@1"})
		last = head
	}
	beat := time.NewTicker(25 * time.Second)
	defer beat.Stop()
	for {
		for last < head {
			all, to, ok := v.news.after(v.principal, last)
			if !ok {
				var err error
				if all, err = v.news.since(ctx, last); err != nil {
					s.send("", problemOf(err))
					return
				}
				if len(all) == 0 {
					break
				}
				to = all[len(all)-1].Seq
			}
			for i := range all {
				if all[i].principal == v.principal {
					s.send(strconv.FormatInt(all[i].Seq, 10), all[i])
				}
			}
			last = to
		}
		if s.failed {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-v.draining:
			return // who listens comes back, to a server that is there
		case <-l.wake:
			_, head, _ = v.news.after(v.principal, head)
		case <-beat.C:
			// The caller's rights are checked again from time to time.
			if p := problemOf(v.stillIn(ctx)); p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden {
				s.send("", p)
				return
			}
			s.beat()
		}
	}
}

// stillIn returns an error once the caller may no longer come in.
func (v *visit) stillIn(ctx context.Context) error {
	again := &visit{Server: v.Server, w: v.w, r: v.r.WithContext(ctx), route: v.route}
	return again.enters()
}

// wantsEvents reports whether the client accepts events.
func (v *visit) wantsEvents() bool {
	return strings.Contains(v.r.Header.Get("Accept"), "text/event-stream")
}

// A stream is an answer that is sent in parts.
type stream struct {
	w        io.Writer
	deadline func(time.Time) error
	flush    func() error // nil if every write is sent at once
	failed   bool
}

// streams sets the headers of a stream.
func (v *visit) streams() http.Header {
	h := v.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	return h
}

func (v *visit) stream() *stream {
	c := http.NewResponseController(v.w)
	s := &stream{w: v.w, deadline: c.SetWriteDeadline, flush: c.Flush}
	v.streams()
	v.w.WriteHeader(http.StatusOK)
	s.beat()
	return s
}

// send writes an event. A client that does not read for stallTime is cut off.
func (s *stream) send(id string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		s.failed = true
		return
	}
	line := "data: " + string(text) + "\n\n"
	if id != "" {
		line = "id: " + id + "\n" + line
	}
	s.write(line)
}

// event writes an event with a name, or "" for none.
func (s *stream) event(name string, data []byte) {
	line := "data: " + string(data) + "\n\n"
	if name != "" {
		line = "event: " + name + "\n" + line
	}
	s.write(line)
}

// beat writes a comment, which keeps the connection open and finds out if it is gone.
func (s *stream) beat() { s.write(": \n\n") }

func (s *stream) write(text string) {
	if s.failed {
		return
	}
	_ = s.deadline(time.Now().Add(stallTime))
	_, err := io.WriteString(s.w, text)
	if err == nil && s.flush != nil {
		err = s.flush()
	}
	s.failed = err != nil
}

// end writes the last event.
func (s *stream) end(data any) error {
	s.send("", data)
	return nil
}
