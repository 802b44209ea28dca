// Package guard stands between the clients of models and the MCP servers that they use already. All
// passes through as it came, but for the calls of tools: what is not known to read only is asked
// about, shown exactly as it will be sent, and journalled before it is sent.
//
//	g, err := guard.New(guard.Options{Servers: servers, State: state, Store: store, …})
//	err = g.Serve(ctx, os.Stdin, os.Stdout)
//
// A server's word about itself can tighten, never loosen: that a tool only reads is believed once the
// person has said so, for the description that the server gave then. Descriptions are pinned tool by
// tool; a changed one is kept from the model, and its tool refused, until a person accepts it.
//
// Messages are passed on as raw JSON, and no library of the protocol reads them: what it does not know
// would be lost. A call belongs to one client; each client has connections of its own to each server.
package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
)

// A Server is a program that is started, or an address. It is what it runs, and its name is only a
// name: see Server.same.
type Server struct {
	Name    string            `json:"name"`
	Command []string          `json:"command,omitempty"`
	Dir     string            `json:"dir,omitempty"`
	Env     map[string]string `json:"env,omitempty"` // beside the environment of this program
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"-"`
	// Like is the name that it was given, where another server has that; Name is another one then.
	Like string `json:"like,omitempty"`
}

// The ways in which a person is asked.
const (
	AskClient = "client" // by the client, or on a page where it cannot
	AskPage   = "page"   // on a page of this machine: a client may answer for its person
)

// Options are the options of a Guard. All are needed but Apart, Rules, Show and Log.
type Options struct {
	Servers []Server
	// Apart puts the name of its server before the name of each tool and prompt.
	Apart bool
	State *State
	Store stores.Store
	Key   []byte // keys the digests of what results hold
	Rules *Rules
	Own   []string // files beside State that no client may change unasked
	Ask   string
	Who   string // the person, who is the user of the operating system
	// Show brings an address before the person, and never before the client. Its error says why
	// nobody can see it; it may be nil.
	Show    func(url string) error
	Clock   func() time.Time
	Version string
	Log     io.Writer // for the person: one line each
}

// A Guard serves clients. It may be used by many goroutines.
type Guard struct {
	Options
	log    *log
	traces *traces
	page   page
	own    []string // what Own and State name, as the system follows it; the state folder first
	tell   sync.Mutex
}

// New makes a Guard.
func New(o Options) (*Guard, error) {
	g := &Guard{Options: o}
	for _, path := range append([]string{o.State.Dir}, append(o.State.files(), o.Own...)...) {
		path, _ = filepath.Abs(path)
		if at, ok := follows(path); ok {
			path = at
		}
		g.own = append(g.own, strings.ToLower(path))
	}
	g.Servers = slices.Clone(g.Servers)
	if g.Log == nil {
		g.Log = io.Discard
	}
	var err error
	for i := range g.Servers {
		s := &g.Servers[i]
		want := plainName(s.Name)
		if s.Name, s.Like, err = o.State.named(want, s); err != nil {
			return nil, err
		}
		if s.Name == "" || slices.ContainsFunc(g.Servers[:i], func(o Server) bool { return o.Name == s.Name }) {
			return nil, fmt.Errorf("two servers are called %q", s.Name)
		}
	}
	if g.traces, err = newTraces(o.State, o.Key); err != nil {
		return nil, err
	}
	g.log = newLog(o.Store, o.Who, o.Clock)
	return g, nil
}

// Close writes what is still to be written.
func (g *Guard) Close() error {
	g.page.close()
	return g.log.close()
}

// owns reports whether a value leads to, into or above the state folder, or to another file that decides
// what passes: no rule and no hour lets that pass. Where nobody can say where a path leads, it does.
func (g *Guard) owns(c *call, l leaf) bool {
	text := l.text
	for _, rest := range strings.Split(strings.ToLower(text), g.own[0])[1:] {
		if rest == "" || plainName(rest[:1]) == "-" && rest[0] != '-' { // and not another folder that begins like it
			return true
		}
	}
	if u, err := url.Parse(text); err == nil && u.Scheme == "file" {
		text = u.Path
	}
	if text == "" || len(text) > 4096 || !l.isText || strings.Contains(text, "://") {
		return false
	}
	if home, err := os.UserHomeDir(); err == nil && (text == "~" || strings.HasPrefix(text, "~/")) {
		text = home + text[1:]
	}
	whole := filepath.IsAbs(text)
	if !whole && c.u.URL != "" {
		return false
	}
	if !whole {
		text = c.u.folder() + string(filepath.Separator) + text
	}
	path, sure := follows(text)
	if !sure {
		return whole || strings.ContainsRune(l.text, '/') && !strings.ContainsAny(l.text, " \n\t")
	}
	path = strings.ToLower(path)
	return inside(path, g.own[0]) || inside(g.own[0], path) || slices.Contains(g.own, path)
}

// says tells the person who reads the standard error of the program.
func (g *Guard) says(format string, args ...any) {
	g.tell.Lock()
	defer g.tell.Unlock()
	fmt.Fprintf(g.Log, "guard: "+format+"\n", args...)
}

// Serve answers one client over a pipe, until it goes or ctx ends.
func (g *Guard) Serve(ctx context.Context, in io.ReadCloser, out io.Writer) error {
	return g.session(ctx, newLines(in, out, nil))
}

// session answers one client.
func (g *Guard) session(ctx context.Context, client pipe) error {
	ctx, stop := context.WithCancel(ctx)
	s := &session{Guard: g, client: client, ctx: ctx, waiting: map[int64]*waiting{}, running: map[string]*running{}, began: g.Clock()}
	for i := range g.Servers {
		s.servers = append(s.servers, &upstream{session: s, Server: &g.Servers[i], waiting: map[int64]*waiting{}})
	}
	defer s.ends()
	defer stop()
	ended := context.AfterFunc(ctx, client.close)
	defer ended()
	type came struct {
		m   *message
		err error
	}
	in := make(chan came)
	go func() { // the standard input cannot be closed while it is read
		for {
			m, err := client.read()
			select {
			case in <- came{m, err}:
			case <-ctx.Done():
				return
			}
			if err != nil && !errors.Is(err, errNoMessage) {
				return
			}
		}
	}()
	for {
		var m *message
		var err error
		select {
		case c := <-in:
			m, err = c.m, c.err
		case <-ctx.Done():
		}
		var long *tooLong
		switch {
		case ctx.Err() == nil && errors.As(err, &long) && long.id != nil:
			_ = client.write(&message{ID: long.id, Error: errorOf(codeRequest, err.Error()+"; nothing was passed on")})
			continue
		case errors.Is(err, errNoMessage):
			_ = client.write(&message{ID: json.RawMessage("null"), Error: errorOf(codeParse, err.Error())})
			continue
		case ctx.Err() != nil, errors.Is(err, io.EOF):
			s.finish()
			return nil
		case err != nil:
			return err
		}
		s.hears(m)
	}
}

// apart returns the name under which clients know a tool or prompt of a server.
func (g *Guard) apart(s *upstream, name string) string {
	if !g.Apart {
		return name
	}
	return s.Name + separator + name
}

// separator stands between the name of a server and that of a tool.
const separator = "__"

// owner finds the server of a name that apart made.
func (s *session) owner(name string) (*upstream, string) {
	if !s.Apart {
		return s.servers[0], name
	}
	for _, u := range s.servers {
		if rest, ok := strings.CutPrefix(name, u.Name+separator); ok {
			return u, rest
		}
	}
	return nil, name
}
