// Package tools checks tools of other servers against the verbs that use them. It believes none of a
// tool's description: it compares it with the palette, and with the description that an operator
// accepted.
package tools

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// Servers are the tools of other servers. The engine knows no protocol: an implementation of one is
// passed to engine.New.
//
// A tool acts outside of every transaction, so that the engine never calls the two methods inside
// one.
type Servers interface {
	// Tool returns a tool's present description. The error wraps ErrNone if there is no such server
	// or tool.
	Tool(ctx context.Context, server, name string) (Spec, error)
	// Call calls a tool once. An error that wraps ErrNotCalled, or ErrChanged, says for certain
	// that the tool was not called; after any other error it may have acted or not.
	Call(ctx context.Context, c Call) (Answer, error)
}

// What can keep a tool from being asked.
var (
	ErrNone      = errors.New("there is no such tool")
	ErrNotCalled = errors.New("the tool was not asked")
	ErrChanged   = errors.New("the tool says something else of itself than what was accepted")
	// ErrRestarted says that the server had ended, with whatever it remembered of earlier calls. The
	// tool was not asked; the next call goes to the server that was started meanwhile.
	ErrRestarted = errors.New("the server had ended and was started again; what it remembered is lost, and the tool was not asked")
)

// whose is the key of the principal in a context.
type whose struct{}

// For returns a context for external calls of a principal. A server remembers things between calls,
// so that a connection that stays open serves one principal only.
func For(ctx context.Context, principal string) context.Context {
	return context.WithValue(ctx, whose{}, principal)
}

// Principal returns the principal of For, "" without one.
func Principal(ctx context.Context) string {
	name, _ := ctx.Value(whose{}).(string)
	return name
}

// A Spec is a tool's description of itself. None of it is trusted: it is compared with the
// palette, and with the description that an operator accepted.
type Spec struct {
	Input    json.RawMessage // JSON Schema of its arguments
	Output   json.RawMessage // JSON Schema of its answer; nil if it declares none
	Writes   bool            // it declares that it does not only read
	Repeats  bool            // it knows no key under which the same call, sent again, acts once
	Says     string          // how it describes itself
	Digest   string          // of everything that it says of itself
	Accepted string          // the digest that the operator accepted, "" when none
	Local    bool            // it is a function of this program
	Document bool            // its answer was read from a document, and is as untrusted
	Model    bool            // its answer is a model's
}

// A Call is one thing that is asked of a tool.
type Call struct {
	Server, Name string
	Digest       string // of the Spec that this was prepared for
	Args         string // a JSON object
	Key          string // the same for every time that the same thing is asked
	// Columns are the columns of each row of the answer in the palette, and Rows the member that
	// lists the rows, "" if there is one row; Columns is empty if the palette takes the answer's
	// text.
	Columns []stores.Column
	Rows    string
	// Tell, if it is not nil, is called with the tool's progress, from any goroutine: the number
	// done and the total, 0 if unknown, of units such as pages.
	Tell func(done, total int, what string)
}

// An Answer is the answer of a tool.
type Answer struct {
	Structured string // a JSON value, "" when there is none
	Text       string
	Failed     bool // it says that it failed
	// File is a file that the tool made, or nil. It is kept like an upload of the caller, and only
	// they can read it.
	File *File
}

// A File is a file that a service made. If it is kept, only its metadata are here.
type File struct {
	Name    string
	Content []byte `json:"-"` // nil once it is kept

	Reference, Type, Says string
	Size                  int64
}

// A Box is the tools that were met, by the verb that they carry out. It may be used
// by several goroutines at once.
type Box struct {
	servers Servers
	reg     *verbs.Registry

	mu    sync.Mutex
	specs map[*verbs.Verb]Spec
}

// NewBox makes a Box of tools of servers.
func NewBox(servers Servers, reg *verbs.Registry) *Box {
	return &Box{servers: servers, reg: reg, specs: make(map[*verbs.Verb]Spec)}
}

// Check asks every server in the palettes whether its tools exist, accept their arguments, answer
// with the wanted columns, and are those that the operator accepted. Diagnostics point into the
// YAML.
func Check(ctx context.Context, reg *verbs.Registry, servers Servers) dsl.Diagnostics {
	var ds dsl.Diagnostics
	b := NewBox(servers, reg)
	for _, v := range reg.Verbs() {
		if v.Tool != nil {
			_, found := b.Verify(ctx, v)
			ds = append(ds, found...)
		}
	}
	return ds
}

// Verify reads a tool's description, and checks it against its verb. It does not check a tool again
// after success: Call does, each time.
func (b *Box) Verify(ctx context.Context, v *verbs.Verb) (Spec, dsl.Diagnostics) {
	b.mu.Lock()
	spec, known := b.specs[v]
	b.mu.Unlock()
	if known {
		return spec, nil
	}
	spec, err := b.servers.Tool(ctx, v.Tool.Server, v.Tool.Name)
	switch {
	case errors.Is(err, ErrNone):
		return spec, dsl.Diagnostics{missing(v, err)}
	case err != nil:
		return spec, dsl.Diagnostics{unreached(v, err)}
	case spec.Accepted == "":
		return spec, append(dsl.Diagnostics{unaccepted(v, spec.Says)}, fit(b.reg, v, spec)...)
	case spec.Accepted != spec.Digest:
		return spec, append(dsl.Diagnostics{changed(v, spec.Says)}, fit(b.reg, v, spec)...)
	}
	if ds := fit(b.reg, v, spec); len(ds) > 0 {
		return spec, ds
	}
	b.mu.Lock()
	b.specs[v] = spec
	b.mu.Unlock()
	return spec, nil
}

// Spec returns what Meet found.
func (b *Box) Spec(v *verbs.Verb) (Spec, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	spec, ok := b.specs[v]
	return spec, ok
}
