package engine

import (
	"maps"

	"verbatim/runtime/state/confirmations"
	"verbatim/runtime/state/sessions"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/journal"
)

// The engine keeps rows of its own: confirmations, receipts of idempotency keys, attempts with
// tools, uses of limited verbs, sessions with their turns and questions, counters, and
// uploads. They are entities like those of palettes, so that a store writes them in the same
// transaction as the rows they are about. Palettes cannot declare their names and tables.
//
// Each row of the first four owns itself, and nobody holds it: the engine adds the rows that a
// transaction needs to its scope, and looks for others in a scope of its own. Sessions belong
// to their principal, see sessions.Entity, and so do uploads, see upload.go.

// Own returns the entities of the engine's own rows. Pass them to Migrate together with those of
// the palettes.
func Own() []*stores.Entity {
	return append([]*stores.Entity{confirmations.Entity, deliveries, attempts, uses, sessions.Entity, sessions.Turns, sessions.Questions, sessions.Budgets, uploads.Contents, uploads.Entity}, journal.Own()...)
}

// The fields of a delivery: the receipt that is kept for an idempotency key.
const (
	dlvKey = iota // hash of the principal and their key
	dlvPrincipal
	dlvText    // hash of the canonical text
	dlvWritten // hash of the text as it was written
	dlvReply   // the kept form of its receipt
	dlvEach    // the key is used to commit call by call, and the calls have rows of their own
	dlvTime
	dlvFirst // number of the first journal entry, if there is one
	dlvSame  // see sameCalls
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
		dlvSame:      {Name: "same", Column: "same_calls", Kind: stores.String},
	},
	Found: [][]int{{dlvSame, dlvTime}}, // by every question
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

// withoutOwn removes the engine's own rows from a scope, whatever the grants say.
func withoutOwn(holds map[string][]stores.Value) map[string][]stores.Value {
	holds = maps.Clone(holds)
	for _, own := range []*stores.Entity{confirmations.Entity, deliveries, attempts, uses, uploads.Contents, journal.Openings} {
		delete(holds, own.Name)
	}
	return holds
}

// The fields of an attempt: a request to a tool of another server that may act.
const (
	attKey = iota // hash of the principal and their key, or of one that was drawn; the tool is asked under it
	attPrincipal
	attText // hash of the canonical text
	attSent // hash of what was asked
	attTool
	attStatus
	attAnswer // of a tool that has answered
	attTime
	attSame    // see sameCalls
	attFirst   // number of its first journal entry
	attEnded   // how it ended where attStatus alone does not say: see the constants beside it
	attEndedBy // who settled it
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
		attSame:      {Name: "same", Column: "same_calls", Kind: stores.String},
		attFirst:     {Name: "first", Column: "first_entry", Kind: stores.Int},
		attEnded:     {Name: "ended", Column: "ended", Kind: stores.String},
		attEndedBy:   {Name: "ended-by", Column: "ended_by", Kind: stores.String},
	},
	Found: [][]int{{attSame, attTime}, {attFirst}},
}
