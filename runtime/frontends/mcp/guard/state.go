package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/runtime/protocols/mcp"
	"verbatim/verbs/strict"
)

// A State is the folder with what guards remember. All guards of a user share it:
//
//	guard.db      the journal
//	pins.json     what each tool said of itself when it was accepted
//	guard.yaml    the person's rules, if there are any
//	verbs/ servers.yaml servers.accepted.json   the same tools as palettes, to go on by hand
//	counted.json  when calls passed by rules that limit them, in the last hour
//	running/      a file for each guard that runs
//	stopped/      a file for each client that was stopped
//	traces        digests of what results held
type State struct {
	Dir string
	mu  sync.Mutex
}

// OpenState makes the folder if it is missing.
func OpenState(dir string) (*State, error) {
	for _, d := range []string{dir, filepath.Join(dir, "running"), filepath.Join(dir, "stopped")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	return &State{Dir: dir}, nil
}

// Path returns the path of a file in the folder.
func (s *State) Path(name ...string) string {
	return filepath.Join(append([]string{s.Dir}, name...)...)
}

// locked calls fn while no other process is in locked.
func (s *State) locked(fn func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, err := os.OpenFile(s.Path("lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := lock(f); err != nil {
		return err
	}
	return fn()
}

// Write replaces a file as a whole, or leaves it as it was.
func Write(path string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".guard-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	return err
}

// A pin is what is known of a server.
type pin struct {
	Server Server                     `json:"server"`
	Since  time.Time                  `json:"since"`
	Tools  map[string]json.RawMessage `json:"tools"` // as accepted
	// Reads are the tools that the person lets pass because they say that they only read, nil before
	// the person has answered.
	Reads []string `json:"reads"`
	// Besides is true if the person lets requests for resources, prompts and completions pass, as they do the tools that only read.
	Besides bool `json:"besides,omitempty"`
	// As is, for a server that was given the name of another, the server whose rules hold for it as well
	// by the person's word, or "-"; "" before the person has said that it may be used.
	As string `json:"as,omitempty"`
	// Offered are the descriptions that wait for somebody to accept them.
	Offered map[string]json.RawMessage `json:"offered,omitempty"`
}

// pins reads the pins by the names of servers.
func (s *State) pins() (map[string]*pin, error) {
	pins := map[string]*pin{}
	text, err := os.ReadFile(s.Path("pins.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return pins, nil
	}
	if err == nil {
		err = strict.Record(text, &pins)
	}
	if err != nil {
		return nil, fmt.Errorf("what servers said of themselves in %s cannot be read: %w", s.Path("pins.json"), err)
	}
	return pins, nil
}

// changes changes the pin of a server, which fn gets or, if there is none, makes.
func (s *State) changes(name string, fn func(*pin) *pin) (p *pin, err error) {
	err = s.locked(func() error {
		pins, err := s.pins()
		if err != nil {
			return err
		}
		before, _ := json.Marshal(pins)
		if p = fn(pins[name]); p == nil {
			return nil
		}
		pins[name] = p
		after, err := json.MarshalIndent(pins, "", "  ")
		if now, _ := json.Marshal(pins); err != nil || bytes.Equal(before, now) {
			return err
		}
		return Write(s.Path("pins.json"), append(after, '\n'))
	})
	return p, err
}

// named returns the name under which a server is known: the wanted one, or with a number behind it if
// another server has that, which like names then.
func (s *State) named(want string, server *Server) (name, like string, err error) {
	pins, err := s.pins()
	if err != nil || want == "" {
		return "", "", err
	}
	for n := 1; ; n++ {
		if name = want; n > 1 {
			name, like = fmt.Sprintf("%s-%d", want, n), want
		}
		if p := pins[name]; p == nil || p.Server.Like == like && p.Server.same(server.record()) {
			return name, like, nil
		}
	}
}

// record returns what a server is, without what is secret: the values of its environment are digests,
// and the folder stands there if it decides what runs.
func (s *Server) record() Server {
	r := Server{Name: s.Name, Command: s.Command, Dir: s.Dir, URL: s.URL, Like: s.Like}
	for name, value := range s.Env {
		if r.Env == nil {
			r.Env = map[string]string{}
		}
		r.Env[name] = "sha256 " + digest(value)[:16]
	}
	if dir := s.folder(); s.Dir != "" || slices.ContainsFunc(s.Command, func(arg string) bool { return standsIn(dir, arg) }) {
		r.Dir = dir
	}
	return r
}

// folder is where a program is started.
func (s *Server) folder() string {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return s.Dir
	}
	return dir
}

// standsIn reports whether an argument means something of a folder: a file there, or a package that
// npx finds there first.
func standsIn(dir, arg string) bool {
	_, value, option := strings.Cut(arg, "=")
	if option && strings.HasPrefix(arg, "-") {
		arg = value
	}
	if arg == "" || filepath.IsAbs(arg) || strings.HasPrefix(arg, "-") || strings.Contains(arg, "://") {
		return false
	}
	if strings.HasPrefix(arg, ".") {
		return true
	}
	if i := strings.LastIndexByte(arg, '@'); i > 0 {
		arg = arg[:i]
	}
	for _, place := range []string{"", "node_modules"} {
		if _, err := os.Lstat(filepath.Join(dir, place, arg)); err == nil {
			return true
		}
	}
	return false
}

// same reports whether two records are of one server: one command, arguments, environment and, if that
// decides what runs, folder; or one address.
func (s Server) same(other Server) bool {
	return s.URL == other.URL && s.Dir == other.Dir && slices.Equal(s.Command, other.Command) && maps.Equal(s.Env, other.Env)
}

// Accept accepts what the tools of a server say of themselves now, all of them if none is named, and
// returns their names.
func (s *State) Accept(server string, tools ...string) (names []string, err error) {
	_, err = s.changes(server, func(p *pin) *pin {
		if p == nil {
			return nil
		}
		names = p.accept(tools...)
		return p
	})
	return names, err
}

// accept moves offered descriptions to the accepted ones. A tool that passed as one that only reads
// has to be asked about again: the person said so of another description.
func (p *pin) accept(tools ...string) (names []string) {
	for name, raw := range p.Offered {
		if len(tools) > 0 && !slices.Contains(tools, name) {
			continue
		}
		p.Tools[name] = raw
		delete(p.Offered, name)
		if p.Reads != nil {
			p.Reads = slices.DeleteFunc(p.Reads, func(r string) bool { return r == name })
		}
		names = append(names, name)
	}
	return names
}

// A Running is a client that a guard serves.
type Running struct {
	PID     int       `json:"pid"`
	Client  string    `json:"client"`
	Since   time.Time `json:"since"`
	Servers []string  `json:"servers"`
	Page    string    `json:"page,omitempty"` // a question that waits on this page
}

// enter notes that a client is served.
func (s *State) enter(id string, r Running) {
	text, _ := json.Marshal(r)
	_ = Write(s.Path("running", id), text)
}

func (s *State) leave(id string) { _ = os.Remove(s.Path("running", id)) }

// Running lists the clients that are served now.
func (s *State) Running() (all []Running) {
	entries, _ := os.ReadDir(s.Path("running"))
	for _, e := range entries {
		text, err := os.ReadFile(s.Path("running", e.Name()))
		var r Running
		if err != nil || json.Unmarshal(text, &r) != nil {
			continue
		}
		if !runs(r.PID) {
			s.leave(e.Name()) // it was killed
			continue
		}
		all = append(all, r)
	}
	return all
}

// counts counts a call under a key, and reports whether there were fewer than most within an hour.
func (s *State) counts(key string, most int, now time.Time) (ok bool, err error) {
	err = s.locked(func() error {
		all := map[string][]time.Time{}
		text, err := os.ReadFile(s.Path("counted.json"))
		if err == nil {
			err = strict.Record(text, &all)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for k, times := range all {
			if all[k] = slices.DeleteFunc(times, func(t time.Time) bool { return now.Sub(t) >= time.Hour }); len(all[k]) == 0 {
				delete(all, k)
			}
		}
		if len(all[key]) >= most {
			return nil
		}
		ok, all[key] = true, append(all[key], now)
		text, _ = json.Marshal(all)
		return Write(s.Path("counted.json"), text)
	})
	return ok, err
}

// everyone is the name under which all clients are stopped; no client's file is called so.
const everyone = "all.clients"

// Stop keeps a client from asking anything of servers, at once and in every guard, until Go; with no
// name all clients. A name is what a client says of itself, and it may come back under another.
func (s *State) Stop(client string) error {
	return os.WriteFile(s.Path("stopped", fileName(client)), []byte(client), 0o600)
}

// Go lets a client go on.
func (s *State) Go(client string) error { return os.Remove(s.Path("stopped", fileName(client))) }

// Stopped lists the clients that were stopped.
func (s *State) Stopped() (all []string) {
	entries, _ := os.ReadDir(s.Path("stopped"))
	for _, e := range entries {
		if text, err := os.ReadFile(s.Path("stopped", e.Name())); err == nil {
			all = append(all, string(text))
		}
	}
	return all
}

func (s *State) isStopped(client string) bool {
	for _, name := range []string{everyone, fileName(client)} {
		if _, err := os.Stat(s.Path("stopped", name)); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// fileName makes a file name of any name.
func fileName(name string) string {
	if name == "" {
		return everyone
	}
	plain := plainName(name)
	if plain == name && len(name) <= 64 {
		return name
	}
	return plain[:min(len(plain), 64)] + "-" + digest(name)[:12]
}

// plainName replaces what does not belong into a name of a server.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

// Opening calls fn, which opens the journal, alone; first says that it has to be prepared.
func (s *State) Opening(fn func(first bool) error) error {
	return s.locked(func() error {
		_, err := os.Stat(s.Path("prepared"))
		first := err != nil
		if err := fn(first); err != nil || !first {
			return err
		}
		return os.WriteFile(s.Path("prepared"), nil, 0o600)
	})
}

// A Known is a server that was met.
type Known struct {
	Name    string     `json:"name"`
	Server  Server     `json:"server"`
	Tools   int        `json:"tools"`
	Asked   bool       `json:"asked"` // whether its tools may pass that say that they only read
	Reads   int        `json:"reads"`
	Offered []string   `json:"offered,omitempty"` // tools that say something else than what was accepted
	Said    []mcp.Said `json:"-"`
}

// Known lists the servers.
func (s *State) Known() (all []Known, err error) {
	pins, err := s.pins()
	for _, name := range slices.Sorted(maps.Keys(pins)) {
		p := pins[name]
		k := Known{Name: name, Server: p.Server, Tools: len(p.Tools), Asked: p.Reads != nil, Reads: len(p.Reads), Offered: slices.Sorted(maps.Keys(p.Offered))}
		for _, tool := range slices.Sorted(maps.Keys(p.Tools)) {
			if said, err := mcp.ReadSaid(name, p.Tools[tool]); err == nil {
				k.Said = append(k.Said, said)
			}
		}
		all = append(all, k)
	}
	return all, err
}

// An Offer is a changed description.
type Offer struct{ Tool, Difference string }

// Offered lists what waits to be accepted, of all tools of a server or of some.
func (s *State) Offered(server string, tools ...string) (all []Offer, err error) {
	pins, err := s.pins()
	if err != nil {
		return nil, err
	}
	p := pins[server]
	if p == nil {
		return nil, fmt.Errorf("no server is called %s", server)
	}
	for _, name := range tools {
		if p.Offered[name] == nil {
			return nil, fmt.Errorf("%s of %s has not changed", name, server)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Offered)) {
		if len(tools) == 0 || slices.Contains(tools, name) {
			all = append(all, Offer{name, difference(p.Tools[name], p.Offered[name])})
		}
	}
	return all, nil
}
