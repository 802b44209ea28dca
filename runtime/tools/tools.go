// Package tools holds tools of other servers against the verbs that they carry out.
// Nothing that a tool says of itself is believed: it is compared with the palette,
// and with what an operator accepted.
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

// Servers are the tools of other servers. The engine knows no protocol: whoever
// speaks one is handed to runtime.New.
//
// A tool acts outside of every transaction, so that the two methods are never
// called inside one.
type Servers interface {
	// Tool returns what a tool says of itself at this moment. The error wraps
	// ErrNone   when there is no such server or tool.
	Tool(ctx context.Context, server, name string) (Spec, error)
	// Call asks a tool to do something, once. An error that wraps ErrNotCalled,
	// or ErrChanged, says for certain that the tool was not asked; after any
	// other it may have done it or not.
	Call(ctx context.Context, c Call) (Answer, error)
}

// What can keep a tool from being asked.
var (
	ErrNone      = errors.New("there is no such tool")
	ErrNotCalled = errors.New("the tool was not asked")
	ErrChanged   = errors.New("the tool says something else of itself than what was accepted")
)

// A Spec is a tool's description of itself. None of it is trusted: it is compared with the
// palette, and with the description that an operator accepted.
type Spec struct {
	Input    json.RawMessage // JSON Schema of what it takes
	Output   json.RawMessage // JSON Schema of what it answers; nil when it does not say
	Writes   bool            // it says outright that it does not only read
	Says     string          // how it describes itself
	Digest   string          // of everything that it says of itself
	Accepted string          // the digest that the operator accepted, "" when none
	Here     bool            // it is a function of this program
	Document bool            // what it answers was read out of a document, and is as little to be trusted
	Model    bool            // what it answers a model has said
}

// A Call is one thing that is asked of a tool.
type Call struct {
	Server, Name string
	Digest       string // of the Spec that this was prepared for
	Args         string // a JSON object
	Key          string // the same for every time that the same thing is asked
	// Columns are what the palette wants of each row of the answer, and Rows the member that
	// lists those, "" where it is one; none where it takes the text of it.
	Columns []stores.Column
	Rows    string
	// Tell, where it is not nil, is told how far the tool is, from any goroutine: of how
	// many of what, such as pages, so many are done; of an unknown number the total is 0.
	Tell func(done, total int, what string)
}

// An Answer is the answer of a tool.
type Answer struct {
	Structured string // a JSON value, "" when there is none
	Text       string
	Failed     bool // it says that it did not do what it was asked
	// File is one that it made, nil where it made none. It is kept as a file that the
	// caller had sent, and only they can read it.
	File *File
}

// A File is one that a service made. Of one that is kept, there is what it is known by.
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

// Check asks every server that the palettes name whether its tools are
// there, take what is sent, answer with what is wanted, and are those that the
// operator accepted. What is wrong points into the YAML.
func Check(ctx context.Context, reg *verbs.Registry, servers Servers) dsl.Diagnostics {
	var ds dsl.Diagnostics
	b := NewBox(servers, reg)
	for _, v := range reg.Verbs() {
		if v.Tool != nil {
			_, found := b.Meet(ctx, v)
			ds = append(ds, found...)
		}
	}
	return ds
}

// Meet asks what a tool is, and holds it against its verb. What was found to be
// in order is not asked again here: Call is, each time.
func (b *Box) Meet(ctx context.Context, v *verbs.Verb) (Spec, dsl.Diagnostics) {
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
