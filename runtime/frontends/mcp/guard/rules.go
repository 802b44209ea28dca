package guard

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
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
//	      content: {at-most: 5000}            # a number, or the length of a text
//	      url: {host: example.com}
//	      to: {is: [kim@example.com]}
//	    per-hour: 20
//	    from: [mail]                          # results of these servers may be passed on
//
// The first rule that names the tool and whose bounds hold decides. A tool of no rule is asked about.
type Rules struct {
	Rules []Rule `yaml:"rules"`
}

// A Rule is one of them.
type Rule struct {
	Tools   []string         `yaml:"tools"`
	Then    string           `yaml:"then"`
	Where   map[string]Bound `yaml:"where"`
	PerHour int              `yaml:"per-hour"`
	From    []string         `yaml:"from"`
}

// A Bound is what an argument has to be.
type Bound struct {
	Under  string   `yaml:"under"`   // a path in this folder
	Host   string   `yaml:"host"`    // an address of this host or one below it
	AtMost string   `yaml:"at-most"` // a number of at most this, or a text of at most so many characters
	Is     []string `yaml:"is"`      // one of these
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
		if rule.PerHour < 0 {
			return nil, wrong("per-hour counts calls")
		}
		for name, b := range rule.Where {
			n := 0
			for _, given := range []bool{b.Under != "", b.Host != "", b.AtMost != "", len(b.Is) > 0} {
				if given {
					n++
				}
			}
			if n != 1 {
				return nil, wrong("the bound of %s is one of under, host, at-most and is", name)
			}
			if _, ok := stores.ParseDecimal(b.AtMost); b.AtMost != "" && !ok {
				return nil, wrong("at-most of %s is a number, and not %q", name, b.AtMost)
			}
			if b.Under != "" && !filepath.IsAbs(b.Under) {
				return nil, wrong("under of %s is a whole path, and not %q", name, b.Under)
			}
		}
	}
	return r, nil
}

// Check refuses a rule that names a tool, an argument or a server that no pin has. Unless all servers
// were met, one that has no pin may still come.
func (r *Rules) Check(s *State, met bool) error {
	pins, err := s.pins()
	if err != nil || r == nil || len(pins) == 0 {
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
					var d struct {
						InputSchema struct {
							Properties           map[string]json.RawMessage
							AdditionalProperties json.RawMessage
						}
					}
					_ = json.Unmarshal(raw, &d)
					for arg := range rule.Where {
						first, _, _ := strings.Cut(arg, ".")
						first, _, _ = strings.Cut(first, "[")
						if d.InputSchema.Properties[first] == nil && (len(d.InputSchema.AdditionalProperties) == 0 || string(d.InputSchema.AdditionalProperties) == "false") {
							return fmt.Errorf("rule %d: %s.%s has no argument %q", i+1, server, tool, first)
						}
					}
				}
			}
			if !found {
				return fmt.Errorf("rule %d: no tool is called %s; SERVER.TOOL names one, and verbatim guard status lists the servers", i+1, pattern)
			}
		}
	}
	return nil
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

// of returns the rule for a call, and its number; nil if there is none.
func (r *Rules) of(c *call) (*Rule, int) {
	if r == nil {
		return nil, 0
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		if slices.ContainsFunc(rule.Tools, func(p string) bool { return match(p, c.u.Name+"."+c.tool) }) && within(rule.Where, leaves(c.args)) {
			return rule, i + 1
		}
	}
	return nil, 0
}

// within reports whether arguments are within bounds. A bound of a list holds for each of its items.
func within(bounds map[string]Bound, args []leaf) bool {
	for name, b := range bounds {
		some := false
		for _, l := range args {
			if l.path != name && !strings.HasPrefix(l.path, name+"[") {
				continue
			}
			if some = true; !b.holds(l) {
				return false
			}
		}
		if !some {
			return false
		}
	}
	return true
}

func (b Bound) holds(l leaf) bool {
	switch {
	case b.Under != "":
		// A link within the folder may lead out of it; so may one that does not exist yet.
		path := filepath.Clean(l.text)
		if real, err := filepath.EvalSymlinks(path); err == nil {
			path = real
		} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			path = filepath.Join(dir, filepath.Base(path))
		}
		folder := filepath.Clean(b.Under)
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			folder = real
		}
		return l.isText && filepath.IsAbs(path) && (path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, string(filepath.Separator))+string(filepath.Separator)))
	case b.Host != "":
		u, err := url.Parse(l.text)
		return err == nil && l.isText && u.User == nil && !strings.Contains(l.text, `\`) && (strings.EqualFold(u.Hostname(), b.Host) || strings.HasSuffix(strings.ToLower(u.Hostname()), "."+strings.ToLower(b.Host)))
	case b.AtMost != "":
		most, _ := stores.ParseDecimal(b.AtMost)
		n, ok := stores.ParseDecimal(l.text)
		if l.isText {
			n, ok = stores.NewInt(int64(len([]rune(l.text)))), true
		}
		order, comparable := stores.Compare(n, most)
		return ok && comparable && order <= 0
	}
	return slices.Contains(b.Is, l.text)
}

// String says the bound for people.
func (b Bound) String() string {
	switch {
	case b.Under != "":
		return "in " + b.Under
	case b.Host != "":
		return "at " + b.Host
	case b.AtMost != "":
		return "at most " + b.AtMost
	}
	return "exactly " + strings.Join(b.Is, " or ")
}

// A standing is a person's yes to a tool within bounds, for an hour.
type standing struct {
	server, tool string
	bounds       map[string]Bound
	until        time.Time
}

// boundsOf returns the bounds in which a yes for an hour holds: paths in the same folder, addresses at
// the same host, numbers up to the present one, long texts of any content, and all else as it is.
func boundsOf(args []leaf) map[string]Bound {
	bounds := map[string]Bound{}
	for _, l := range args {
		u, err := url.Parse(l.text)
		switch {
		case l.isText && err == nil && u.Host != "" && u.User == nil:
			bounds[l.path] = Bound{Host: u.Hostname()}
		case l.isText && filepath.IsAbs(l.text):
			bounds[l.path] = Bound{Under: filepath.Dir(filepath.Clean(l.text))}
		case l.isText && len(l.text) > 60:
			bounds[l.path] = Bound{AtMost: fmt.Sprint(max(2*len([]rune(l.text)), 1000))}
		case !l.isText && strings.Trim(l.text, "0123456789.") == "" && l.text != "":
			bounds[l.path] = Bound{AtMost: l.text}
		default:
			bounds[l.path] = Bound{Is: []string{l.text}}
		}
	}
	return bounds
}

// stands reports whether a standing yes covers a call. It names every argument: an argument that is
// not in the bounds was not agreed to.
func (s *session) stands(c *call, args []leaf) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Clock()
	s.standing = slices.DeleteFunc(s.standing, func(y standing) bool { return !now.Before(y.until) })
	return slices.ContainsFunc(s.standing, func(y standing) bool {
		if y.server != c.u.Name || y.tool != c.tool || !within(y.bounds, args) {
			return false
		}
		for _, l := range args {
			if _, named := y.bounds[l.path]; !named {
				return false
			}
		}
		return true
	})
}
