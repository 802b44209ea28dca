package mcp

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"verbatim/verbs/strict"
)

// A Config lists the servers. It belongs to the operator, and no palette can add to it. It holds no
// secret: it names variables of the environment.
type Config struct {
	Servers map[string]Server
}

// A Server is a program that is started and used over its standard input and output, an address
// that is used over HTTP, a foreign agent, or an API. One of Command, URL and Agent is set, or API.
type Server struct {
	Command []string // the program and its arguments
	Env     []string // names of variables that it gets, besides PATH

	URL   string
	Agent string // where its card is, by the protocol A2A; its skills are its tools

	API         string            // the file that describes it by OpenAPI; its operations are its tools, and URL is where it is
	Basic       string            // name of the variable that holds user:password
	Headers     map[string]string // of each request, by the names of the variables that hold them
	Reads       []string          // operations that only read, though their methods say otherwise
	Idempotency string            // header for a key, under which a request that is repeated acts once

	Token string // name of the variable that holds a bearer token
	Local bool   // it may be on this machine or in a private network

	Timeout   time.Duration // for one external call, from connecting to the answer
	MaxAnswer int           // bytes
}

// What a server has when the configuration does not say.
const (
	DefaultTimeout   = 30 * time.Second
	DefaultMaxAnswer = 1 << 20
	maxTimeout       = 10 * time.Minute
	maxMaxAnswer     = 64 << 20
	maxConfig        = 1 << 20
)

// A ConfigError is everything that is wrong with a configuration, a sentence a
// line.
type ConfigError struct{ Problems []Problem }

// A Problem is one thing that is wrong, and where.
type Problem struct {
	Line int
	Text string
}

// Error implements error.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("line %d: %s", p.Line, p.Text)
	}
	return strings.Join(lines, "\n")
}

// ReadConfig reads a configuration:
//
//	servers:
//	  helpdesk:
//	    command: [helpdesk-mcp, --stdio]
//	    env: [HELPDESK_TOKEN]
//	  crm:
//	    url: https://crm.example.com/mcp
//	    token: CRM_TOKEN
//	    timeout: 20s
//	  analyst:
//	    agent: https://analyst.example.com/
//	  post:
//	    api: post.yaml
//	    url: https://post.example.com/v1
//
// The error is a *ConfigError.
func ReadConfig(text []byte) (Config, error) {
	r := reader{}
	if len(text) > maxConfig {
		r.wrong(1, "the configuration is larger than %d bytes", maxConfig)
		return Config{}, &ConfigError{r.problems}
	}
	said := r.file(text)
	if len(r.problems) > 0 {
		return Config{}, &ConfigError{r.problems}
	}
	var doc yaml.Node
	_ = yaml.Unmarshal(text, &doc) // it was read just now
	c := Config{Servers: make(map[string]Server)}
	if len(doc.Content) > 0 {
		r.mapping(doc.Content[0], func(_, value *yaml.Node) {
			r.mapping(value, func(name, value *yaml.Node) { c.Servers[name.Value] = r.server(name, value, said[name.Value]) })
		})
	}
	if len(c.Servers) == 0 && len(r.problems) == 0 {
		r.wrong(1, "no servers are named; write servers: {NAME: {command: [PROGRAM]}}")
	}
	if len(r.problems) > 0 {
		return Config{}, &ConfigError{r.problems}
	}
	return c, nil
}

type reader struct{ problems []Problem }

func (r *reader) wrong(line int, format string, args ...any) {
	r.problems = append(r.problems, Problem{line, fmt.Sprintf(format, args...)})
}

// An entry is a server as the file has it.
type entry struct {
	Command, Env      []string
	URL, Agent, Token string
	API, Basic        string
	Headers           map[string]string
	Reads             []string
	Idempotency       string
	Local             bool
	Timeout           string
	MaxAnswer         int `yaml:"max-answer"`
}

// file reads the servers, and holds the file to its shape: the keys, and what each takes.
func (r *reader) file(text []byte) map[string]entry {
	var shape struct{ Servers map[string]entry }
	err := strict.YAML(text, &shape)
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		if wrong := (*strict.Error)(nil); errors.As(err, &wrong) {
			r.wrong(wrong.Line, "%s", wrong.Text)
		}
	}
	return shape.Servers
}

func (r *reader) mapping(n *yaml.Node, each func(key, value *yaml.Node)) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Tag == "!!merge" || value.Kind == yaml.AliasNode || value.Anchor != "" {
			r.wrong(key.Line, "anchors and aliases are not taken; write it out")
			continue
		}
		each(key, value)
	}
}

func (r *reader) server(name, n *yaml.Node, e entry) Server {
	s := Server{Command: e.Command, Env: e.Env, URL: e.URL, Agent: e.Agent, API: e.API, Basic: e.Basic, Reads: e.Reads, Idempotency: e.Idempotency,
		Token: e.Token, Local: e.Local, Timeout: DefaultTimeout, MaxAnswer: DefaultMaxAnswer}
	what := "server " + name.Value
	given := make(map[string]int)
	r.mapping(n, func(key, value *yaml.Node) {
		line := key.Line
		given[key.Value] = line
		switch key.Value {
		case "command":
			if len(s.Command) == 0 || s.Command[0] == "" {
				r.wrong(line, "command names no program")
			}
		case "env":
			for _, v := range s.Env {
				r.variable(line, "env", v)
			}
		case "api":
			if !fs.ValidPath(s.API) || s.API == "." {
				r.wrong(line, "api is a file below the folder of this one, such as crm.yaml or apis/crm.json")
			}
		case "token", "basic":
			r.variable(line, key.Value, value.Value)
		case "idempotency":
			if !isHeader(s.Idempotency) {
				r.wrong(line, "idempotency is the name of a header, such as Idempotency-Key")
			}
		case "headers":
			s.Headers = map[string]string{}
			r.mapping(value, func(name, variable *yaml.Node) {
				if !isHeader(name.Value) {
					r.wrong(name.Line, "headers are names such as X-Api-Key, with the variables that hold them")
				}
				r.variable(name.Line, "headers", variable.Value)
				s.Headers[http.CanonicalHeaderKey(name.Value)] = variable.Value
			})
		case "timeout":
			d, err := time.ParseDuration(e.Timeout)
			if s.Timeout = d; err != nil || d <= 0 || d > maxTimeout {
				r.wrong(line, "timeout is a duration of at most %s, such as 20s", maxTimeout)
			}
		case "max-answer":
			if s.MaxAnswer = e.MaxAnswer; s.MaxAnswer < 1024 || s.MaxAnswer > maxMaxAnswer {
				r.wrong(line, "max-answer is a number of bytes from 1024 to %d", maxMaxAnswer)
			}
		}
	})
	var kinds []string
	for _, key := range []string{"command", "url", "agent", "api"} {
		if _, ok := given[key]; ok {
			kinds = append(kinds, key)
		}
	}
	kind := strings.Join(kinds, " ")
	for _, of := range []struct {
		keys, kinds, belong string
	}{
		{"env", "command", "a command"},
		{"token local", "url agent api", "a url, an agent or an api"},
		{"basic headers reads idempotency", "api", "an api"},
	} {
		for _, key := range strings.Fields(of.keys) {
			if line, ok := given[key]; ok && kind != "" && !slices.Contains(strings.Fields(of.kinds), kinds[len(kinds)-1]) {
				r.wrong(line, "%s belongs to %s, and %s is %s", key, of.belong, what, map[string]string{"command": "a command", "url": "a url", "agent": "an agent", "api": "an api"}[kinds[0]])
			}
		}
	}
	switch kind {
	case "command", "api":
	case "url", "agent", "url api":
		r.address(given[kinds[0]], kinds[0], s.URL+s.Agent, s.Local)
	default:
		r.wrong(name.Line, "%s is either a command, a url, an agent or an api", what)
	}
	if given["token"] > 0 && given["basic"] > 0 || given["token"]+given["basic"] > 0 && s.Headers["Authorization"] != "" {
		r.wrong(name.Line, "%s has two things to show in the header Authorization", what)
	}
	return s
}

// isHeader reports whether a request may have a header of this name, besides those of HTTP itself.
func isHeader(name string) bool {
	for _, c := range name {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return name != "" && !slices.Contains([]string{"accept", "connection", "content-length", "content-type", "cookie", "host", "transfer-encoding"}, strings.ToLower(name))
}

// variable refuses what looks like a secret where its name belongs. It quotes
// nothing.
func (r *reader) variable(line int, key, name string) {
	ok := name != "" && len(name) <= 64 && (name[0] < '0' || name[0] > '9')
	for _, c := range name {
		ok = ok && (c == '_' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9')
	}
	if !ok {
		r.wrong(line, "%s holds names of variables of the environment, in capitals; what they hold does not belong here", key)
	}
}

func (r *reader) address(line int, key, at string, local bool) {
	u, err := url.Parse(at)
	switch {
	case err != nil || u.Host == "" || !slices.Contains([]string{"http", "https"}, u.Scheme):
		r.wrong(line, "%s is an address such as https://crm.example.com/mcp", key)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		r.wrong(line, "%s holds a password, a query or a fragment; name a variable with token instead", key)
	case u.Scheme == "http" && !local:
		r.wrong(line, "%s is not encrypted; use https, or say local: true for a server on this machine or in a private network", key)
	}
}
