package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
)

// Server-sent events tell a principal what is done in their name
// (https://html.spec.whatwg.org/multipage/server-sent-events.html). They are read from the journal,
// so a listener hears of it whichever process did it. The id of an event is that of its
// entry's place: with Last-Event-ID a listener misses nothing and hears nothing twice.

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

	place     int64
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
	listeners map[*Listener]bool
	ring      []newsEntry // the latest, oldest first
	head      int64       // the place of the entry that was read last
	running   bool
}

// A Listener is woken by entries of its principal or, without a principal, by changes of a row. Close
// it when it has heard enough.
type Listener struct {
	Wake      chan struct{} // has an element if something happened
	n         *news
	principal string
	row       string          // its key as JSON, as in the journal; "" stands for all rows
	touched   map[string]bool // of all rows, those that changed since it was asked: see Rows
}

// Listen listens to changes of a row, by its key as JSON, or of all rows, for "".
func (s *Server) Listen(ctx context.Context, row string) (*Listener, error) {
	l, _, err := s.news.add(ctx, &Listener{row: row})
	return l, err
}

// Rows returns which of all rows changed since it was asked last.
func (l *Listener) Rows() map[string]bool {
	l.n.mu.Lock()
	defer l.n.mu.Unlock()
	touched := l.touched
	l.touched = nil
	return touched
}

// Close ends the listening.
func (l *Listener) Close() {
	l.n.mu.Lock()
	delete(l.n.listeners, l)
	l.n.mu.Unlock()
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

// add adds a listener, and returns the number of the last entry.
func (n *news) add(ctx context.Context, l *Listener) (_ *Listener, head int64, err error) {
	l.n, l.Wake = n, make(chan struct{}, 1)
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

// since reads the entries behind a place.
func (n *news) since(ctx context.Context, from int64) ([]newsEntry, error) {
	head, _, err := n.s.Store.Head(ctx)
	if err != nil || head <= from {
		return nil, err
	}
	entries, err := n.s.Store.Placed(ctx, from+1, min(head, from+recent))
	all := make([]newsEntry, len(entries))
	for i := range entries {
		all[i] = newsEntryOf(&entries[i])
	}
	return all, err
}

func newsEntryOf(e *stores.Entry) newsEntry {
	return newsEntry{"verbatim/event@1", e.Seq, e.Time, e.Verb, e.Call, e.Outcome, e.Reason, e.Session, e.Source, e.Turn, e.Place, e.Principal, e.Changes}
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
	n.head = all[len(all)-1].place
	n.ring = append(n.ring, all...)
	if extra := len(n.ring) - recent; extra > 0 {
		n.ring = append([]newsEntry(nil), n.ring[extra:]...)
	}
	for l := range n.listeners {
		if l.principal != "" && concerned[l.principal] || l.principal == "" && (l.row == "" || touched[l.row]) {
			if l.principal == "" && l.row == "" {
				all := maps.Clone(touched)
				maps.Copy(all, l.touched)
				l.touched = all
			}
			select {
			case l.Wake <- struct{}{}:
			default: // it was woken, and has not looked yet
			}
		}
	}
}

// after lists the entries of a principal behind a place, and the place up to which the list is
// complete; ok is false if memory does not go back far enough.
func (n *news) after(principal string, from int64) (all []newsEntry, head int64, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	first := n.head + 1
	if len(n.ring) > 0 {
		first = n.ring[0].place
	}
	for i := range n.ring {
		if d := &n.ring[i]; d.place > from && d.principal == principal {
			all = append(all, *d)
		}
	}
	return all, n.head, from+1 >= first
}

// farthest is how many missed entries a listener receives at most.
const farthest = 10_000

// Events streams what is done in the caller's name.
func (v *Visit) Events() error {
	ctx := v.R.Context()
	last := int64(-1)
	if text := v.R.Header.Get("Last-Event-ID"); text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return BadBody("Last-Event-ID is the id of an event", "leave it out")
		}
		last = n
	}
	l, head, err := v.news.add(ctx, &Listener{principal: v.Principal})
	if err != nil {
		return err
	}
	if last < 0 || last > head {
		last = head
	}
	if conn := v.apart(); conn != nil {
		// Only the caller's identity is kept of the request.
		again := &Visit{Server: v.Server, R: (&http.Request{Header: v.R.Header, RemoteAddr: v.R.RemoteAddr}).WithContext(v.ctx), Route: v.Route, Caller: v.Caller, shown: v.shown}
		leave := v.leave
		v.leave = func() {}
		v.after.Go(func() {
			defer leave()
			defer conn.Close()
			again.listens(again.R.Context(), &Stream{w: conn, deadline: conn.SetWriteDeadline}, l, last, head)
		})
		return nil
	}
	v.listens(ctx, v.Stream(), l, last, head)
	return nil
}

// apart takes over an HTTP/1.1 connection. The server would keep two stacks and two buffers for it,
// which is most of the memory of 10 000 listeners. It returns nil for HTTP/2, whose connection
// serves other requests too.
func (v *Visit) apart() net.Conn {
	if v.R.ProtoMajor != 1 {
		return nil
	}
	conn, _, err := http.NewResponseController(v.W).Hijack()
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
	requestOf(v.R.Context()).status = http.StatusOK
	return conn
}

// listens sends events until the listener leaves or the server stops.
func (v *Visit) listens(ctx context.Context, s *Stream, l *Listener, last, head int64) {
	defer l.Close()
	if head-last > farthest {
		s.Send(strconv.FormatInt(head, 10), object{"schema": "verbatim/missed@1"})
		last = head
	}
	beat := time.NewTicker(25 * time.Second)
	defer beat.Stop()
	for {
		var later <-chan time.Time
		if last < head {
			// What happened is told to somebody whose rights are there at this moment, and waits while the
			// store cannot say.
			_, gone, err := v.Again()
			if gone {
				s.Send("", ProblemOf(err))
				return
			}
			if err != nil {
				v.Log.Error("events", "error", err.Error())
				later = time.After(fresh)
			}
		}
		for later == nil && last < head {
			all, to, ok := v.news.after(v.Principal, last)
			if !ok {
				var err error
				if all, err = v.news.since(ctx, last); err != nil {
					s.Send("", ProblemOf(err))
					return
				}
				if len(all) == 0 {
					break
				}
				to = all[len(all)-1].place
			}
			for i := range all {
				if all[i].principal == v.Principal {
					s.Send(strconv.FormatInt(all[i].place, 10), all[i])
				}
			}
			last = to
		}
		if s.Failed {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-v.Draining:
			return
		case <-later:
		case <-l.Wake:
			_, head, _ = v.news.after(v.Principal, head)
		case <-beat.C:
			// Nobody listens for ever to nothing.
			if _, gone, err := v.Again(); gone {
				s.Send("", ProblemOf(err))
				return
			}
			s.Beat()
		}
	}
}

// WantsEvents reports whether the client accepts events.
func (v *Visit) WantsEvents() bool {
	return strings.Contains(v.R.Header.Get("Accept"), "text/event-stream")
}

// A stream is an answer that is sent in parts.
type Stream struct {
	w        io.Writer
	deadline func(time.Time) error
	flush    func() error // nil if every write is sent at once
	Failed   bool         // the client is gone
}

// streams sets the headers of a stream.
func (v *Visit) streams() http.Header {
	h := v.W.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	return h
}

// Stream begins an answer of server-sent events.
func (v *Visit) Stream() *Stream {
	c := http.NewResponseController(v.W)
	s := &Stream{w: v.W, deadline: c.SetWriteDeadline, flush: c.Flush}
	v.streams()
	v.W.WriteHeader(http.StatusOK)
	s.Beat()
	return s
}

// Send writes an event. A client that does not read for stallTime is cut off.
func (s *Stream) Send(id string, data any) {
	text, err := json.Marshal(data)
	if err != nil {
		s.Failed = true
		return
	}
	line := "data: " + string(text) + "\n\n"
	if id != "" {
		line = "id: " + id + "\n" + line
	}
	s.write(line)
}

// Event writes an event with a name, or "" for none.
func (s *Stream) Event(name string, data []byte) {
	line := "data: " + string(data) + "\n\n"
	if name != "" {
		line = "event: " + name + "\n" + line
	}
	s.write(line)
}

// Beat writes a comment, which keeps the connection open and finds out if it is gone.
func (s *Stream) Beat() { s.write(": \n\n") }

func (s *Stream) write(text string) {
	if s.Failed {
		return
	}
	_ = s.deadline(time.Now().Add(stallTime))
	_, err := io.WriteString(s.w, text)
	if err == nil && s.flush != nil {
		err = s.flush()
	}
	s.Failed = err != nil
}

// End writes the last event.
func (s *Stream) End(data any) error {
	s.Send("", data)
	return nil
}
