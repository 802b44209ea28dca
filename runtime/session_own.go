package runtime

import (
	"verbatim/stores"
)

// What a session that has a name is kept as: a row for it, a row for each turn of
// its conversation, and one for each question that waits in it, see
// session_asked.go. All belong to the principal who opened it, and to
// nobody else: the scope of every store says so, and Session reads them with
// nothing but the principal's own name.

// The fields of a session.
const (
	sesKey = iota // see sessionKey
	sesPrincipal
	sesName
	sesZone     // as the person said, or ""
	sesLanguage // as the person said, or ""
	sesValues   // canonical JSON: what effects have set, see sessionValue
	sesStarted
	sesLast   // when it was last opened or changed
	sesVisits // how often somebody came back to it
	sesTurns  // how many turns there are; the number of the latest
	sesVersion
)

var sessions = &stores.Entity{
	Name:    "verbatim.session",
	Table:   "verbatim.sessions",
	Managed: true,
	Place:   "the engine's own",
	Key:     sesKey,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: sesPrincipal}},
	Fields: []stores.Field{
		sesKey:       {Name: "key", Column: "key", Kind: stores.String, Required: true},
		sesPrincipal: {Name: "principal", Column: "principal", Kind: stores.String, Required: true},
		sesName:      {Name: "name", Column: "name", Kind: stores.String, Required: true},
		sesZone:      {Name: "zone", Column: "zone", Kind: stores.String},
		sesLanguage:  {Name: "language", Column: "language", Kind: stores.String},
		sesValues:    {Name: "values", Column: "set_values", Kind: stores.JSON, Required: true, Sensitive: true, Personal: true},
		sesStarted:   {Name: "started", Column: "started", Kind: stores.Time, Required: true},
		sesLast:      {Name: "last", Column: "last_active", Kind: stores.Time, Required: true},
		sesVisits:    {Name: "visits", Column: "visits", Kind: stores.Int, Required: true},
		sesTurns:     {Name: "turns", Column: "turns", Kind: stores.Int, Required: true},
		sesVersion:   {Name: "version", Column: "version", Kind: stores.Int, Required: true},
	},
}

// The fields of a turn.
const (
	turnKey = iota // of the session, and the number
	turnSession
	turnNumber
	turnTime
	turnRole
	turnContent // nothing once it was erased
	turnAbout   // canonical JSON, see turnNotes; nothing once it was erased
	turnEntries // how many journal entries the transaction has that it came with
	turnFirst   // the number of the first of them
)

var turns = &stores.Entity{
	Name:    "verbatim.turn",
	Table:   "verbatim.turns",
	Managed: true,
	Place:   "the engine's own",
	Key:     turnKey,
	Access:  stores.ByPrincipal,
	Scope:   []stores.Step{{Field: turnSession, To: sessions}, {Field: sesPrincipal}},
	Fields: []stores.Field{
		turnKey:     {Name: "key", Column: "key", Kind: stores.String, Required: true},
		turnSession: {Name: "session", Column: "session", Kind: stores.String, Ref: sessions, Required: true},
		turnNumber:  {Name: "number", Column: "number", Kind: stores.Int, Required: true},
		turnTime:    {Name: "time", Column: "said_at", Kind: stores.Time, Required: true},
		turnRole:    {Name: "role", Column: "role", Kind: stores.String, Required: true, Codes: []string{string(ClientTurn), string(AgentTurn), string(SystemTurn)}},
		turnContent: {Name: "content", Column: "content", Kind: stores.String, Sensitive: true, Personal: true},
		turnAbout:   {Name: "about", Column: "about", Kind: stores.JSON, Sensitive: true, Personal: true},
		turnEntries: {Name: "entries", Column: "entries", Kind: stores.Int, Required: true},
		turnFirst:   {Name: "first", Column: "first_entry", Kind: stores.Int},
	},
}
