package guard

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
	"verbatim/verbs/strict"
)

// Rules are what a person decided beforehand, in guard.yaml:
//
//	rules:
//	  - tools: [filesystem.write_file]        # SERVER.TOOL; * stands for any text
//	    then: pass                            # pass, ask or deny
//	    where:                                # each must hold; an argument that is missing does not
//	      path: {under: /home/kim/notes}
//	      amount: {at-most: 50}               # a number from 0 to 50; at-least moves the 0
//	      url: {host: example.com}
//	      to: {is: [kim@example.com]}
//	      bcc: {absent: true}
//	    additional: true                      # and arguments that the tool does not list
//	    per-hour: 20
//	    from: [mail]                          # results of these servers may be passed on
//
// The first rule that names the tool and whose bounds hold decides. A tool of no rule is asked about, and
// so is a call outside the bounds of the rules that let its tool pass.
type Rules struct {
	Rules []Rule `yaml:"rules"`

	file  string
	named bool // without the file nothing passes
	mu    sync.Mutex
	read  string // the text that Rules are of
	err   error  // why they cannot be used
}

// A Rule is one of them.
type Rule struct {
	Tools      []string         `yaml:"tools"`
	Then       string           `yaml:"then"`
	Where      map[string]Bound `yaml:"where"`
	Additional bool             `yaml:"additional"`
	PerHour    *int             `yaml:"per-hour"`
	From       []string         `yaml:"from"`
}

// A Bound is what an argument has to be.
type Bound struct {
	Under   string   `yaml:"under"`    // a path in this folder
	Host    string   `yaml:"host"`     // an address of this very host by http or https, at another port only if that is named
	AtMost  string   `yaml:"at-most"`  // a number, also in a text, of at most this
	AtLeast string   `yaml:"at-least"` // and at least this, or 0
	Is      []string `yaml:"is"`       // one of these
	Absent  bool     `yaml:"absent"`   // nothing

	any bool // any text; only a person's tick says so
}

// OpenRules opens a file of rules, which is read again whenever it is changed. Unless it was named, it
// may be missing.
func OpenRules(file string, named bool) *Rules { return &Rules{file: file, named: named} }

// Now returns the rules as they stand in the file, checked against the servers that were met; met says
// that all were.
func (r *Rules) Now(s *State, met bool) (*Rules, error) {
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) && !r.named {
		text, err = []byte("rules: []"), nil
	}
	var at *fs.PathError
	if errors.As(err, &at) { // a model may read the error
		err = at.Err
	}
	if err != nil {
		r.read, r.err = "", err
	} else if now := fmt.Sprint(met, string(text)); now != r.read {
		var fresh *Rules
		if fresh, r.err = ReadRules(text); r.err == nil {
			r.Rules, r.err = fresh.Rules, fresh.check(s, met)
		}
		r.read = now
	}
	return &Rules{Rules: r.Rules}, r.err
}

// ReadRules reads guard.yaml. The error names everything that is wrong.
func ReadRules(text []byte) (*Rules, error) {
	r := &Rules{}
	if err := strict.YAML(text, r); err != nil {
		return nil, err
	}
	for i, rule := range r.Rules {
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("rule %d: "+format, append([]any{i + 1}, args...)...)
		}
		switch rule.Then {
		case "pass", "ask", "deny":
		case "second":
			return nil, wrong("a second person is wanted, and there is none: the person is the user of the operating system. A palette can name roles: verbatim help guard")
		default:
			return nil, wrong("then is pass, ask or deny, and not %q", rule.Then)
		}
		if len(rule.Tools) == 0 {
			return nil, wrong("tools names no tool")
		}
		if rule.PerHour != nil && *rule.PerHour < 0 {
			return nil, wrong("per-hour counts calls")
		}
		for name, b := range rule.Where {
			n := 0
			for _, given := range []bool{b.Under != "", b.Host != "", b.AtMost != "" || b.AtLeast != "", len(b.Is) > 0, b.Absent} {
				if given {
					n++
				}
			}
			if n != 1 {
				return nil, wrong("the bound of %s is one of under, host, at-most, is and absent", name)
			}
			for _, n := range []string{b.AtMost, b.AtLeast} {
				if _, ok := stores.ParseDecimal(n); n != "" && !ok {
					return nil, wrong("at-most and at-least of %s is a number, and not %q", name, n)
				}
			}
			if b.Under != "" && !filepath.IsAbs(b.Under) {
				return nil, wrong("under of %s is a whole path, and not %q", name, b.Under)
			}
		}
	}
	return r, nil
}

// check refuses a rule that names a tool, an argument or a server that no pin has. Unless all servers
// were met, one that has no pin may still come.
func (r *Rules) check(s *State, met bool) error {
	pins, err := s.pins()
	if err != nil || len(pins) == 0 {
		return err
	}
	for i, rule := range r.Rules {
		for _, name := range rule.From {
			if met && pins[name] == nil {
				return fmt.Errorf("rule %d: no server is called %s", i+1, name)
			}
		}
		for _, pattern := range rule.Tools {
			server, _, _ := strings.Cut(pattern, ".")
			found := !met && pins[server] == nil
			for server, p := range pins {
				for method := range passed {
					found = found || match(pattern, server+"."+method)
				}
				for tool, raw := range p.Tools {
					if !match(pattern, server+"."+tool) {
						continue
					}
					found = true
					more := string(member(raw, "inputSchema", "additionalProperties"))
					for arg := range rule.Where {
						first, _, _ := strings.Cut(arg, ".")
						first, _, _ = strings.Cut(first, "[")
						if member(raw, "inputSchema", "properties", first) == nil && (more == "" || more == "false") {
							return fmt.Errorf("rule %d: %s.%s has no argument %q", i+1, server, tool, first)
						}
					}
				}
			}
			if !found {
				return fmt.Errorf("rule %d: no tool is called %s; SERVER.TOOL names one", i+1, pattern)
			}
		}
	}
	return nil
}

// covers reports whether values out of a result may go where a rule lets a call pass: back to the server
// that gave them if the rule bounds its calls, or because the rule names it. Without bounds a letter would
// say to whom mail is sent.
func (r *Rule) covers(c *call, from *source) bool {
	return from.Server == c.u.Name && len(r.Where) > 0 || slices.Contains(r.From, from.Server) || from.As != "" && slices.Contains(r.From, from.As)
}

// match compares a name with a pattern, in which * stands for any text.
func match(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for i := range len(name) + 1 {
		if match(rest, name[i:]) {
			return true
		}
	}
	return false
}

// of returns the rule for a call, and its number; nil if there is none. outside is the number of a rule
// that lets the tool pass, in bounds in which this call is not.
func (r *Rules) of(c *call) (rule *Rule, number, outside int) {
	if r == nil {
		return nil, 0, 0
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		passes := rule.Then == "pass"
		if !slices.ContainsFunc(rule.Tools, func(p string) bool {
			return match(p, c.u.Name+"."+c.tool) || c.u.Like != "" && (!passes || c.as == c.u.Like) && match(p, c.u.Like+"."+c.tool)
		}) {
			continue
		}
		if within(rule.Where, c.leaves, c.keys, rule.Then == "deny") && (!passes || rule.Additional || c.listed(rule)) {
			return rule, i + 1, 0
		}
		if passes && c.isTool() {
			outside = i + 1
		}
	}
	return nil, 0, outside
}

// listed reports whether a tool lists all arguments of a call, or a rule names them.
func (c *call) listed(rule *Rule) bool {
	args, _ := decoded(c.args).(map[string]any)
	for name := range args {
		if _, named := rule.Where[name]; c.isTool() && !named && c.t.args[name] == nil {
			return false
		}
	}
	return true
}

// within reports whether arguments are within bounds. A bound of a list holds for each of its items. For
// a rule that denies, one value or name within the argument is enough, and what cannot be decided holds.
func within(bounds map[string]Bound, args, keys []leaf, denies bool) bool {
	for name, b := range bounds {
		some, every, there := false, true, false
		for i, l := range slices.Concat(args, keys) {
			rest, is := strings.CutPrefix(l.path, name)
			key := i >= len(args)
			switch {
			case !is, rest == "" && key, rest != "" && rest[0] != '[' && (rest[0] != '.' || !denies && !b.Absent), key && !denies:
				continue
			}
			holds := b.holds(l, denies, key)
			some, every, there = some || holds, every && holds, true
		}
		if b.Absent && there || !b.Absent && (!some || !every && !denies) {
			return false
		}
	}
	return true
}

func (b Bound) holds(l leaf, denies, key bool) bool {
	doubt := denies && !key // what cannot be decided
	switch {
	case b.any:
		return l.isText
	case b.Under != "":
		path, ok := follows(l.text)
		folder, known := follows(b.Under)
		if !ok || !known {
			return doubt
		}
		return l.isText && inside(path, folder)
	case b.Host != "":
		host := strings.TrimSuffix(hostOf(l.text), ".")
		if bare, _, _ := strings.Cut(host, ":"); denies && (strings.EqualFold(bare, b.Host) || host == "") {
			return host != "" || doubt
		}
		return l.isText && strings.EqualFold(host, b.Host)
	case b.AtMost != "" || b.AtLeast != "":
		n, ok := stores.ParseDecimal(l.text)
		if !ok {
			return doubt
		}
		least, _ := stores.ParseDecimal(cmp.Or(b.AtLeast, "0"))
		low, comparable := stores.Compare(n, least)
		if ok = comparable && low >= 0; b.AtMost == "" {
			return ok
		}
		most, _ := stores.ParseDecimal(b.AtMost)
		high, comparable := stores.Compare(n, most)
		return ok && comparable && high <= 0
	}
	return slices.ContainsFunc(b.Is, func(is string) bool {
		return is == l.text || denies && strings.EqualFold(strings.TrimSpace(is), strings.TrimSpace(l.text))
	})
}

// inside reports whether a path is a folder or below it.
func inside(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator))
}

// hostOf returns the host of an address of the web, with its port if that is not the usual one; "" of
// what is none.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || strings.Contains(text, `\`) {
		return ""
	}
	switch port := u.Port(); {
	case u.Scheme == "http" && (port == "" || port == "80"), u.Scheme == "https" && (port == "" || port == "443"):
		return u.Hostname()
	case u.Scheme == "http", u.Scheme == "https":
		return u.Host
	}
	return ""
}

// follows resolves a path as the operating system does, part by part: a link first, and then the `..`
// behind it. What does not exist is taken as it stands, unless a `..` follows. A link that leads
// nowhere is not resolved, and so is what cannot be read.
func follows(path string) (string, bool) {
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	volume := filepath.VolumeName(path)
	at := volume + string(filepath.Separator)
	parts := strings.FieldsFunc(path[len(volume):], func(r rune) bool { return r < 128 && os.IsPathSeparator(uint8(r)) })
	for i, part := range parts {
		switch part {
		case ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) {
			return filepath.Join(append([]string{at}, parts[i:]...)...), !slices.Contains(parts[i:], "..")
		}
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			next, err = filepath.EvalSymlinks(next)
		}
		if err != nil {
			return "", false
		}
		at = next
	}
	return at, true
}

// String says the bound for people.
func (b Bound) String() string {
	switch {
	case b.any:
		return "any text"
	case b.Under != "":
		return "in " + b.Under + " or below it"
	case b.Host != "":
		return "at " + b.Host
	case b.AtMost != "":
		return "a number from 0 to " + b.AtMost
	case len(b.Is[0]) > 60:
		return "exactly as shown"
	}
	return fmt.Sprintf("exactly %q", b.Is[0])
}

// A standing is a person's yes to a tool within bounds, for an hour.
type standing struct {
	server, tool string
	pin          json.RawMessage // what the tool said of itself
	bounds       map[string]Bound
	texts        map[string]bool // whether the argument was a text
	until        time.Time
}

// boundsOf returns the bounds in which a yes for an hour holds: paths in the same folder, addresses at
// the same host, numbers from 0 to the present one, and all else as it is.
func boundsOf(args []leaf) map[string]Bound {
	bounds := map[string]Bound{}
	for _, l := range args {
		bound := Bound{Is: []string{l.text}}
		path, ok := follows(l.text)
		info, err := os.Stat(path)
		switch {
		case l.isText && hostOf(l.text) != "":
			bound = Bound{Host: hostOf(l.text)}
		case l.isText && ok && (err != nil || !info.IsDir()) && filepath.Dir(path) != filepath.Dir(filepath.Dir(path)):
			bound = Bound{Under: filepath.Dir(path)}
		case !l.isText && strings.Trim(l.text, "0123456789.") == "" && l.text != "":
			bound = Bound{AtMost: l.text}
		}
		bounds[l.path] = bound
	}
	return bounds
}

// prose are the names of arguments that are words for people, and commands those in the names of tools
// whose texts are something else.
var (
	prose    = []string{"body", "content", "contents", "text", "message", "description", "comment", "note", "notes", "summary"}
	commands = []string{"run", "exec", "eval", "shell", "bash", "command", "code", "script", "sql", "query", "terminal"}
)

// freeTexts returns the arguments of which a person may say that any text will do: never commands, code,
// paths, addresses or names.
func freeTexts(tool string, args []leaf, bounds map[string]Bound) (paths []string) {
	if slices.ContainsFunc(commands, func(w string) bool { return strings.Contains(strings.ToLower(tool), w) }) {
		return nil
	}
	for _, l := range args {
		if l.isText && slices.Contains(prose, l.path) && bounds[l.path].Is != nil {
			paths = append(paths, l.path)
		}
	}
	return paths
}

// stands reports whether a standing yes covers a call. It names every argument: an argument that is
// not in the bounds was not agreed to.
func (s *session) stands(c *call, args []leaf) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock()
	s.standing = slices.DeleteFunc(s.standing, func(y standing) bool { return !now.Before(y.until) })
	return slices.ContainsFunc(s.standing, func(y standing) bool {
		if y.server != c.u.Name || y.tool != c.tool || !bytes.Equal(y.pin, c.pin()) || !within(y.bounds, args, nil, false) {
			return false
		}
		for _, l := range args {
			if _, named := y.bounds[l.path]; !named || y.texts[l.path] != l.isText {
				return false
			}
		}
		return true
	})
}
