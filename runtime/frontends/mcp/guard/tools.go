package guard

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
)

// A tool is a tool as its server lists it.
type tool struct {
	name string
	now  json.RawMessage // what it says of itself
	pin  json.RawMessage // what was accepted; nil for a tool that nobody has accepted

	changed bool // nobody has accepted what it says of itself now
	reads   bool // it says, in words that were accepted, that it only reads
	args    map[string]json.RawMessage
}

// claimsToRead reports whether the tool says, in words that were accepted, that it only reads. What
// else it says may contradict it: then it does not count.
func (t *tool) claimsToRead() bool {
	hint := func(name string) string { return string(member(t.pin, "annotations", name)) }
	return hint("readOnlyHint") == "true" && hint("destructiveHint") != "true"
}

// member returns a member of a member of an object, in this very spelling; nil if there is none.
func member(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var m map[string]json.RawMessage
		_ = json.Unmarshal(raw, &m)
		raw = m[name]
	}
	return raw
}

// canonical writes JSON in one spelling.
func canonical(raw json.RawMessage) []byte {
	var v any
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return nil
	}
	out, _ := json.Marshal(v)
	return out
}

// ready starts the server if it does not run, and compares its list if that was not done since it
// changed.
func (u *upstream) ready(ctx context.Context) error {
	u.starting.Lock()
	defer u.starting.Unlock()
	if err := u.start(ctx); err != nil {
		return err
	}
	u.mu.Lock()
	fresh := u.tools != nil && !u.stale
	u.mu.Unlock()
	if fresh {
		return nil
	}
	return u.compare(ctx)
}

// again compares the list, also if nothing says that it changed.
func (u *upstream) again(ctx context.Context) error {
	u.starting.Lock()
	defer u.starting.Unlock()
	return u.compare(ctx)
}

// compare asks for the list and compares it with the pins. A server that is met for the first time is
// pinned as it is.
func (u *upstream) compare(ctx context.Context) error {
	u.mu.Lock()
	u.stale = false
	u.mu.Unlock()
	var hello struct {
		Capabilities struct{ Tools json.RawMessage }
	}
	_ = json.Unmarshal(u.hello, &hello)
	var items []json.RawMessage
	if hello.Capabilities.Tools != nil {
		var err error
		if items, err = u.pages(ctx, "tools/list", "tools"); err != nil {
			return fmt.Errorf("its tools cannot be listed: %w", err)
		}
	}
	tools := []*tool{}
	seen := map[string]bool{}
	for _, raw := range items {
		var named struct{ Name string }
		if json.Unmarshal(raw, &named) != nil || named.Name == "" || seen[named.Name] {
			u.session.says("%s lists a tool that has no name, or the name of another (%q); it is left out", u.Name, named.Name)
			continue
		}
		seen[named.Name] = true
		tools = append(tools, &tool{name: named.Name, now: raw})
	}
	var other bool
	is := u.record()
	p, err := u.session.State.changes(u.Name, func(p *pin) *pin {
		if other = p != nil && !p.Server.same(is); other {
			return nil
		}
		if p == nil {
			p = &pin{Server: is, Since: u.session.Clock(), Tools: map[string]json.RawMessage{}}
			for _, t := range tools {
				p.Tools[t.name] = canonical(t.now)
			}
		}
		p.Offered = nil
		for _, t := range tools {
			now := canonical(t.now)
			t.pin = canonical(p.Tools[t.name])
			t.changed, t.reads = !bytes.Equal(now, t.pin), t.claimsToRead()
			_ = json.Unmarshal(member(t.pin, "inputSchema", "properties"), &t.args)
			if t.changed {
				if p.Offered == nil {
					p.Offered = map[string]json.RawMessage{}
				}
				p.Offered[t.name] = now
			}
		}
		return p
	})
	if other {
		return errors.New("another program has taken its name meanwhile; start verbatim guard again")
	}
	if err != nil {
		u.session.says("%s", err)
		return errors.New("what is known of it cannot be read or kept")
	}
	if p.Server.Like != "" && p.As == "" {
		u.session.says("%s is called %s, and runs something else than %s does: it is a new server, and is asked about before it is used", u.Name, u.Like, u.Like)
	}
	list, _ := json.Marshal(items)
	if now := digest(string(list)); now != u.told {
		u.remember("tools/list", list)
		u.told = now
	}
	for name := range p.Offered {
		u.session.says("%s says something else of itself than what was accepted, and is not used: verbatim guard accept %s %s", name, u.Name, name)
	}
	if unfixed := Unfixed(u.Command); unfixed != "" {
		u.session.says("%s runs %s, of whatever version is newest: name one, so that it stays what it is", u.Name, unfixed)
	}
	u.mu.Lock()
	u.pin, u.tools = p, tools
	u.mu.Unlock()
	u.session.names()
	return nil
}

// A place is where a tool is.
type place struct {
	u *upstream
	t *tool
}

// longest is the longest name of a tool that clients take.
const longest = 64

// names names the tools for the client. Without Apart a name is the server's own; otherwise the server's
// name stands before it, and what is too long, or clashes, ends in a digest.
func (s *session) names() {
	shown := map[string]place{}
	for _, u := range s.servers {
		u.mu.Lock()
		tools := u.tools
		u.mu.Unlock()
		for _, t := range tools {
			name := s.apart(u, t.name)
			if s.Apart {
				name = plainName(name)
				if _, taken := shown[name]; taken || len(name) > longest {
					h := fnv.New32a()
					fmt.Fprintf(h, "%s\x00%s", u.Name, t.name)
					name = fmt.Sprintf("%s_%08x", name[:min(len(name), longest-9)], h.Sum32())
				}
			}
			shown[name] = place{u, t}
		}
	}
	s.mu.Lock()
	s.shown = shown
	s.mu.Unlock()
}

// many is the number of tools of several servers above which they are searched.
const many = 40

// searches reports whether the client gets three tools that find, describe and call the others.
func (s *session) searches() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Apart && len(s.shown) > many
}

const (
	findTool     = "find_tools"
	describeTool = "describe_tool"
	callTool     = "call_tool"
)

var finders = []json.RawMessage{
	json.RawMessage(`{"name":"find_tools","description":"Find tools of the connected servers by words; gives names and first sentences.","inputSchema":{"type":"object","properties":{"words":{"type":"string"}},"required":["words"]},"annotations":{"readOnlyHint":true}}`),
	json.RawMessage(`{"name":"describe_tool","description":"Show a tool's own description and the schema of its arguments.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"annotations":{"readOnlyHint":true}}`),
	json.RawMessage(`{"name":"call_tool","description":"Call a tool that find_tools found.","inputSchema":{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object"}},"required":["name"]}}`),
}

// listTools answers with the tools as they are accepted. Each list that the server gives is compared.
func (s *session) listTools(m *message) {
	list := []json.RawMessage{}
	for _, u := range s.servers {
		err := u.ready(s.ctx)
		if err == nil {
			err = u.again(s.ctx)
		}
		if err != nil && !s.Apart {
			s.fails(m.ID, codeFailed, u.Name+": "+err.Error())
			return
		}
	}
	if s.searches() {
		s.answer(m.ID, map[string]any{"tools": finders})
		return
	}
	s.mu.Lock()
	byTool := map[*tool]string{}
	for name, at := range s.shown {
		byTool[at.t] = name
	}
	s.mu.Unlock()
	for _, u := range s.servers {
		u.mu.Lock()
		tools := u.tools
		u.mu.Unlock()
		for _, t := range tools {
			raw := t.shown()
			if s.Apart {
				name, _ := json.Marshal(byTool[t])
				raw = with(raw, "name", name)
			}
			list = append(list, raw)
		}
	}
	s.answer(m.ID, map[string]any{"tools": list})
}

// shown returns the description that a model may read: words that nobody has accepted may be
// instructions to it.
func (t *tool) shown() json.RawMessage {
	switch {
	case !t.changed:
		return t.now
	case t.pin != nil:
		return t.pin
	}
	name, _ := json.Marshal(t.name)
	return json.RawMessage(`{"name":` + string(name) + `,"description":"This tool is new, and its description waits for a person to accept it.","inputSchema":{"type":"object"}}`)
}

// finds answers a call of one of the three tools; it returns the tool and the arguments to call, if
// that was asked.
func (s *session) finds(name string, args json.RawMessage) (text, call string, inner json.RawMessage) {
	var p struct {
		Words, Name string
		Arguments   json.RawMessage
	}
	_ = json.Unmarshal(args, &p)
	s.mu.Lock()
	shown := maps.Clone(s.shown)
	s.mu.Unlock()
	switch name {
	case callTool:
		return "", p.Name, p.Arguments
	case describeTool:
		at, is := shown[p.Name]
		if !is {
			return fmt.Sprintf("there is no tool %q; find_tools finds others", p.Name), "", nil
		}
		return string(at.t.shown()), "", nil
	}
	words := strings.Fields(strings.ToLower(p.Words))
	score := map[string]int{}
	for name, at := range shown {
		text := strings.ToLower(name + " " + at.t.says())
		for _, w := range words {
			if strings.Contains(text, w) {
				score[name]++
			}
		}
	}
	found := slices.SortedFunc(maps.Keys(score), func(a, b string) int {
		if score[a] != score[b] {
			return score[b] - score[a]
		}
		return strings.Compare(a, b)
	})
	var b strings.Builder
	for _, name := range found[:min(len(found), 20)] {
		first, _, _ := strings.Cut(shown[name].t.says(), "\n")
		fmt.Fprintf(&b, "%s: %s\n", name, first)
	}
	if b.Len() == 0 {
		fmt.Fprintf(&b, "I looked for %q in %d tools and found none.", p.Words, len(shown))
	}
	return b.String(), "", nil
}

// says returns the accepted description.
func (t *tool) says() string {
	var d struct{ Description string }
	_ = json.Unmarshal(t.shown(), &d)
	return d.Description
}

// Unfixed returns the package that a command runs without naming its version, "" if it does not.
func Unfixed(command []string) string {
	if len(command) == 0 {
		return ""
	}
	base := command[0][strings.LastIndexAny(command[0], `/\`)+1:]
	switch strings.TrimSuffix(strings.TrimSuffix(base, ".cmd"), ".exe") {
	case "npx", "bunx", "pnpx", "uvx", "pipx":
	default:
		return ""
	}
	for _, arg := range command[1:] {
		if strings.HasPrefix(arg, "-") || arg == "run" {
			continue
		}
		if strings.LastIndex(arg, "@") > 0 && !strings.HasSuffix(arg, "@latest") || strings.Contains(arg, "==") {
			return ""
		}
		return arg
	}
	return ""
}

// NameOf makes the name of a server from how it is reached: the package rather than what runs it.
func NameOf(s Server) string {
	name := s.URL
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name, _, _ = strings.Cut(rest, "/")
	}
	if len(s.Command) > 0 {
		name = s.Command[0]
		base := name[strings.LastIndexAny(name, `/\`)+1:]
		if slices.Contains([]string{"npx", "bunx", "pnpx", "uvx", "pipx", "node", "python", "python3", "docker", "uv", "deno", "bun", "sh", "env"}, strings.TrimSuffix(base, ".exe")) {
			for _, arg := range s.Command[1:] {
				if !strings.HasPrefix(arg, "-") && arg != "run" && arg != "tool" {
					name = arg
					break
				}
			}
		}
		if i := strings.LastIndex(name, "@"); i > strings.LastIndexAny(name, `/\`) && i > 0 {
			name = name[:i]
		}
		name, _, _ = strings.Cut(name, "==")
		if rest, ok := strings.CutSuffix(name, "/dist/index.js"); ok {
			name = rest
		}
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		for _, end := range []string{".exe", ".js", ".mjs", ".py"} {
			name = strings.TrimSuffix(name, end)
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "server-"), "mcp-server-")
	}
	if name = strings.Trim(plainName(name), "-"); name == "" {
		name = "server"
	}
	return name[:min(len(name), 40)]
}
