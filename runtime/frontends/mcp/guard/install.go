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

	"verbatim/verbs/strict"
)

// A Client is a program whose file of servers Install changes.
type Client struct {
	Name, File, Member string // the member of the file that holds the servers by name
}

// Clients returns the clients that Install knows, with the places of their files on this system.
func Clients(goos string, env func(string) string) []Client {
	home := env("HOME")
	apps := filepath.Join(home, ".config")
	if dir := env("XDG_CONFIG_HOME"); dir != "" {
		apps = dir
	}
	switch goos {
	case "darwin":
		apps = filepath.Join(home, "Library", "Application Support")
	case "windows":
		home, apps = env("USERPROFILE"), env("APPDATA")
	}
	return []Client{
		{"claude-desktop", filepath.Join(apps, "Claude", "claude_desktop_config.json"), "mcpServers"},
		{"claude-code", filepath.Join(home, ".claude.json"), "mcpServers"},
		{"cursor", filepath.Join(home, ".cursor", "mcp.json"), "mcpServers"},
		{"vscode", filepath.Join(apps, "Code", "User", "mcp.json"), "servers"},
	}
}

// An installed is what Install changed in a file.
type installed struct {
	File          string
	Before, After []byte
	Was           map[string]json.RawMessage // entries by the names of servers
	Now           map[string]json.RawMessage
}

// HeadersVariable is the variable of the environment with the headers for a server's address.
const HeadersVariable = "VERBATIM_GUARD_HEADERS"

// Install puts guard before the servers of a client, and returns their names. All else in the file
// stays as it is, to the byte.
func (s *State) Install(c Client, self string, flags ...string) (names []string, err error) {
	err = s.locked(func() error {
		done, err := s.installed()
		if err != nil {
			return err
		}
		text, err := os.ReadFile(c.File)
		if err != nil {
			return err
		}
		entries, err := entriesOf(text, c.Member)
		if err != nil {
			return fmt.Errorf("%s: %w", c.File, err)
		}
		in := installed{File: c.File, Before: text, Was: map[string]json.RawMessage{}, Now: map[string]json.RawMessage{}}
		if old, is := done[c.Name]; is { // servers were added since
			maps.Copy(in.Was, old.Was)
			maps.Copy(in.Now, old.Now)
			in.Before = nil
		}
		after := bytes.Clone(text)
		for _, e := range slices.Backward(entries) {
			raw := text[e.start:e.end]
			now, why := guarded(e.name, blank(raw), self, flags)
			if why != "" {
				continue
			}
			in.Was[e.name], in.Now[e.name] = json.RawMessage(jsonString(raw)), json.RawMessage(jsonString(now))
			after = slices.Concat(after[:e.start], now, after[e.end:])
			names = append(names, e.name)
		}
		if len(names) == 0 {
			return nil
		}
		in.After = after
		done[c.Name] = in
		if err := s.records(done); err != nil { // first: what was must be known
			return err
		}
		return Write(c.File, after)
	})
	slices.Sort(names)
	return names, err
}

// jsonString keeps bytes as they are in a document of JSON.
func jsonString(raw []byte) []byte {
	text, _ := json.Marshal(raw)
	return text
}

// Uninstall puts a client's file back, to the byte if nobody has changed it since. Otherwise it puts
// back each server whose entry is still ours, and returns the names of the others.
func (s *State) Uninstall(c Client) (left []string, err error) {
	err = s.locked(func() error {
		done, err := s.installed()
		if err != nil {
			return err
		}
		in, is := done[c.Name]
		if !is {
			return fmt.Errorf("guard was not put before the servers of %s", c.Name)
		}
		text, err := os.ReadFile(in.File)
		if err != nil {
			return err
		}
		now := in.Before
		if now == nil || !bytes.Equal(text, in.After) {
			entries, err := entriesOf(text, c.Member)
			if err != nil {
				return fmt.Errorf("%s: %w", in.File, err)
			}
			now = bytes.Clone(text)
			back := map[string]bool{}
			for _, e := range slices.Backward(entries) {
				var was, ours []byte
				if json.Unmarshal(in.Now[e.name], &ours) == nil && json.Unmarshal(in.Was[e.name], &was) == nil && bytes.Equal(ours, text[e.start:e.end]) {
					now = slices.Concat(now[:e.start], was, now[e.end:])
					back[e.name] = true
				} else if in.Now[e.name] != nil {
					left = append(left, e.name)
				}
			}
		}
		if err := Write(in.File, now); err != nil {
			return err
		}
		delete(done, c.Name)
		return s.records(done)
	})
	return left, err
}

// files are the files that Install changed.
func (s *State) files() (all []string) {
	done, _ := s.installed()
	for _, in := range done {
		all = append(all, in.File)
	}
	return all
}

// records writes down what Install changed.
func (s *State) records(done map[string]installed) error {
	text, err := json.MarshalIndent(done, "", "  ")
	if err != nil {
		return err
	}
	return Write(s.Path("installed.json"), text)
}

func (s *State) installed() (map[string]installed, error) {
	done := map[string]installed{}
	text, err := os.ReadFile(s.Path("installed.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err == nil {
		err = strict.Record(text, &done)
	}
	return done, err
}

// An entry is where the value of a member stands.
type entry struct {
	name       string
	start, end int
}

// entriesOf finds the members of a member of a document, which may have comments.
func entriesOf(text []byte, member string) (entries []entry, err error) {
	plain := blank(text)
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(plain, &doc); err != nil {
		return nil, errors.New("this is not JSON, or not an object; nothing was changed")
	}
	members := func(from, to int, each func(name string, start, end int) error) error {
		dec := json.NewDecoder(bytes.NewReader(plain[from:to]))
		if open, err := dec.Token(); err != nil || open != json.Delim('{') {
			return fmt.Errorf("%q is no object", member)
		}
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return err
			}
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				return err
			}
			end := from + int(dec.InputOffset())
			if err := each(name.(string), end-len(value), end); err != nil {
				return err
			}
		}
		return nil
	}
	err = members(0, len(plain), func(name string, start, end int) error {
		if name != member {
			return nil
		}
		return members(start, end, func(name string, start, end int) error {
			entries = append(entries, entry{name, start, end})
			return nil
		})
	})
	if err == nil && len(entries) == 0 {
		err = fmt.Errorf("there are no servers in %q", member)
	}
	return entries, err
}

// blank writes spaces over the comments and trailing commas that files of VS Code may have, so that
// all else keeps its place.
func blank(text []byte) []byte {
	out := bytes.Clone(text)
	comma := -1
	for i := 0; i < len(out); i++ {
		switch c := out[i]; {
		case c == '"':
			for i++; i < len(out) && out[i] != '"'; i++ {
				if out[i] == '\\' {
					i++
				}
			}
			comma = -1
		case c == '/' && i+1 < len(out) && (out[i+1] == '/' || out[i+1] == '*'):
			end := "\n"
			if out[i+1] == '*' {
				end = "*/"
			}
			n := bytes.Index(out[i+2:], []byte(end))
			if n < 0 {
				n = len(out) - i - 2
			}
			stop := min(i+2+n+len(end), len(out))
			for ; i < stop; i++ {
				if out[i] != '\n' {
					out[i] = ' '
				}
			}
			i--
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				out[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\n' && c != '\r':
			comma = -1
		}
	}
	return out
}

// guarded returns an entry with guard before its server, and why there is none.
func guarded(name string, raw []byte, self string, flags []string) (now []byte, why string) {
	var e map[string]json.RawMessage
	var command, at string
	var args []string
	if json.Unmarshal(raw, &e) != nil {
		return nil, "it is no object"
	}
	_ = json.Unmarshal(e["command"], &command)
	_ = json.Unmarshal(e["args"], &args)
	_ = json.Unmarshal(e["url"], &at)
	line := append(append([]string{"guard", "--name", plainName(name)}, flags...), "--")
	switch {
	case command == self && len(args) > 0 && args[0] == "guard":
		return nil, "guard is there already"
	case command != "":
		line = append(append(line, command), args...)
	case at != "":
		line = append(line[:len(line)-1], at)
		if e["headers"] != nil {
			var env map[string]json.RawMessage
			if _ = json.Unmarshal(e["env"], &env); env == nil {
				env = map[string]json.RawMessage{}
			}
			env[HeadersVariable], _ = json.Marshal(string(canonical(e["headers"])))
			e["env"], _ = json.Marshal(env)
		}
		delete(e, "url")
		delete(e, "headers")
	default:
		return nil, "it names neither a command nor a url"
	}
	if e["type"] != nil {
		e["type"] = json.RawMessage(`"stdio"`)
	}
	e["command"], _ = json.Marshal(self)
	e["args"], _ = json.Marshal(line)
	now, _ = json.Marshal(e)
	return now, ""
}

// ReadServers reads a client's file of servers.
func ReadServers(text []byte) (all []Server, err error) {
	plain := blank(text)
	member := "mcpServers"
	if entries, err := entriesOf(text, member); err != nil || len(entries) == 0 {
		member = "servers"
	}
	entries, err := entriesOf(text, member)
	if err != nil {
		return nil, errors.New(`a file of servers is {"mcpServers": {"NAME": {"command": …, "args": […]}}}`)
	}
	for _, e := range entries {
		var one struct {
			Command      string
			Args         []string
			Env, Headers map[string]string
			Cwd, URL     string
			Disabled     bool
		}
		if err := json.Unmarshal(plain[e.start:e.end], &one); err != nil {
			return nil, fmt.Errorf("the server %q cannot be read: %w", e.name, err)
		}
		s := Server{Name: e.name, Dir: one.Cwd, Env: one.Env, URL: one.URL, Headers: one.Headers}
		if one.Command != "" {
			s.Command, s.URL = append([]string{one.Command}, one.Args...), ""
		}
		if len(s.Command) == 0 && !strings.Contains(s.URL, "://") {
			return nil, fmt.Errorf("the server %q names neither a command nor a url", e.name)
		}
		if !one.Disabled {
			all = append(all, s)
		}
	}
	return all, nil
}
