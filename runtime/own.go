package runtime

import (
	"maps"

	"verbatim/runtime/confirmations"
	"verbatim/runtime/sessions"
	"verbatim/runtime/uploads"
	"verbatim/stores"
	"verbatim/stores/journal"
)

// The engine keeps rows of its own: what waits for somebody's agreement, what
// was done under a key, what a tool of another server was asked under one, how often
// verbs with limits were used,
// sessions with what was said and asked in them, what is counted from process to
// process, and what is known of files that were sent.
// They are entities like those of palettes, so that every store keeps them in the
// transaction of what they stand for, and no palette can speak of them: their
// names and tables are refused there.
//
// Each row of the first four owns itself. Nobody holds one; the engine adds the
// rows that a transaction needs to its scope, and looks for others with a scope of
// its own. Sessions are their principal's, see sessions.Entity, and so are uploads,
// see upload.go.

// Own returns the entities that the engine needs besides those of palettes, to
// be given to Migrate with them.
func Own() []*stores.Entity {
	return append([]*stores.Entity{confirmations.Entity, deliveries, attempts, uses, sessions.Entity, sessions.Turns, sessions.Questions, sessions.Budgets, uploads.Contents, uploads.Entity}, journal.Own()...)
}

// The fields of a delivery: what was done under a key, and what was answered.
const (
	dlvKey = iota // hash of the principal and their key
	dlvPrincipal
	dlvText    // hash of the canonical text
	dlvWritten // hash of the text as it was written
	dlvReply   // the kept form of its receipt
	dlvEach    // the key is used to commit call by call, and the calls have rows of their own
	dlvTime
	dlvFirst // number of the first journal entry, if there is one
)

var deliveries = &stores.Entity{
	Name:    "verbatim.delivery",
	Table:   "verbatim.deliveries",
	Managed: true,
	Place:   "the engine's own",
	Key:     dlvKey,
	Fields: []stores.Field{
		dlvKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		dlvPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		dlvText:      {Name: "text", Column: "text_digest", Kind: stores.String, Required: true},
		dlvWritten:   {Name: "written", Column: "written_digest", Kind: stores.String, Required: true},
		dlvReply:     {Name: "reply", Column: "reply", Kind: stores.String, Required: true, Sensitive: true},
		dlvEach:      {Name: "each", Column: "call_by_call", Kind: stores.Bool, Required: true},
		dlvTime:      {Name: "time", Column: "done_at", Kind: stores.Time, Required: true},
		dlvFirst:     {Name: "first", Column: "first_entry", Kind: stores.Int},
	},
}

// holding adds rows of the engine's own to a scope.
func holding(s stores.Scope, e *stores.Entity, keys ...stores.Value) stores.Scope {
	holds := maps.Clone(s.Holds)
	if holds == nil {
		holds = map[string][]stores.Value{}
	}
	holds[e.Name] = append(holds[e.Name][:len(holds[e.Name]):len(holds[e.Name])], keys...)
	s.Holds = holds
	return s
}

// withoutOwn takes away what nobody may hold, whatever the grants say.
func withoutOwn(holds map[string][]stores.Value) map[string][]stores.Value {
	holds = maps.Clone(holds)
	for _, own := range []*stores.Entity{confirmations.Entity, deliveries, attempts, uses, uploads.Contents, journal.Openings} {
		delete(holds, own.Name)
	}
	return holds
}

// The fields of an attempt: what a tool of another server was asked, under a
// key of the run that asked it.
const (
	attKey = iota // hash of the principal and their key; the tool is asked under it
	attPrincipal
	attText // hash of the canonical text
	attSent // hash of what was asked
	attTool
	attStatus
	attAnswer // of a tool that has answered
	attTime
)

var attempts = &stores.Entity{
	Name:    "verbatim.attempt",
	Table:   "verbatim.attempts",
	Managed: true,
	Place:   "the engine's own",
	Key:     attKey,
	Fields: []stores.Field{
		attKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		attPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		attText:      {Name: "text", Column: "text_digest", Kind: stores.String, Required: true},
		attSent:      {Name: "sent", Column: "sent_digest", Kind: stores.String, Required: true},
		attTool:      {Name: "tool", Column: "tool", Kind: stores.String, Required: true},
		attStatus:    {Name: "status", Column: "status", Kind: stores.String, Required: true, Codes: []string{AttemptOpen, AttemptDone, AttemptFailed, AttemptUnknown}},
		attAnswer:    {Name: "answer", Column: "answer", Kind: stores.JSON, Sensitive: true},
		attTime:      {Name: "time", Column: "settled_at", Kind: stores.Time, Required: true},
	},
}
