package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The plan of the house: which package may know which. Arrows point down only.
//
//	roof    cmd/verbatim        wiring
//	2       runtime             the engine
//	        runtime/{names,tools}   its parts: what rows are called; whether a tool fits its verb
//	1       verbs               verbs/{expr,drift,grammar}   verbs/verbstest   stores/{sqlite,postgres,sqlcore,journal}   stores/storetest
//	ground  dsl   stores
//
// A package that is not named here is not part of the house yet, and the test
// says so: whoever adds a room adds its lines and their reasons.
var rooms = []string{"dsl", "stores", "stores/storetest", "stores/sqlcore", "stores/sqlite", "stores/postgres", "stores/postgres/pgtest", "stores/postgres/internal/ajar", "stores/receipt", "stores/journal", "stores/files", "stores/search", "verbs", "verbs/expr", "verbs/drift", "verbs/grammar", "verbs/pack", "verbs/verbstest", "runtime", "runtime/names", "runtime/tools", "runtime/view", "runtime/digest", "runtime/confirmations", "runtime/provenance", "runtime/uploads", "runtime/sessions", "runtime/dial", "runtime/notify", "runtime/channel", "runtime/channel/internal/proven", "runtime/channel/contact", "runtime/channel/mail", "runtime/channel/signed", "runtime/channel/whatsapp", "runtime/channel/whatsapp/cloudtest", "runtime/work", "runtime/llm", "runtime/dialog", "runtime/mcp", "runtime/mcp/door", "runtime/system", "runtime/upload", "runtime/words", "runtime/phrase", "runtime/collect", "runtime/client", "runtime/wire", "runtime/a2a", "runtime/serve", "runtime/serve/logins", "runtime/serve/peers", "runtime/serve/pages", "runtime/serve/browsertest", "runtime/torture", "runtime/documents", "runtime/guard", "runtime/services", "runtime/sheet", "runtime/manda", "runtime/kyc", "runtime/kiisha", "runtime/clerk", "runtime/plan", "runtime/rerun", "runtime/confidence", "runtime/confidence/score", "runtime/confidence/react", "runtime/confidence/modeltest", "runtime/trustgraph", "runtime/trustgraph/rabbit", "runtime/trustgraph/rabbit/rabbittest", "runtime/eval", "runtime/lsp", "runtime/norace", "cmd/verbatim", "cmd/teeth", "examples/embed"}

// allowed are the arrows that exist.
var allowed = map[string][]string{
	"dsl":                    nil,
	"stores":                 {"stores/search"},
	"stores/search":          nil,
	"stores/storetest":       {"stores", "stores/search"},
	"stores/sqlcore":         {"stores"},
	"stores/sqlite":          {"stores", "stores/search", "stores/sqlcore"},
	"stores/postgres":        {"stores", "stores/search", "stores/sqlcore", "stores/postgres/internal/ajar"},
	"stores/postgres/pgtest": {"stores/postgres/internal/ajar"},

	"stores/postgres/internal/ajar": nil,

	"runtime/clerk":                        {"dsl", "verbs", "stores", "stores/receipt", "runtime"},
	"runtime/plan":                         {"dsl", "verbs", "stores", "stores/receipt", "runtime", "runtime/clerk", "runtime/confirmations"},
	"runtime/rerun":                        {"dsl", "verbs", "stores", "stores/journal", "stores/receipt", "runtime"},
	"runtime/confidence":                   {"dsl", "verbs", "verbs/grammar", "stores", "stores/journal", "stores/receipt", "runtime", "runtime/clerk", "runtime/confidence/score", "runtime/dialog", "runtime/digest", "runtime/llm", "runtime/plan", "runtime/services", "runtime/trustgraph", "runtime/words"},
	"runtime/confidence/score":             nil,
	"runtime/confidence/react":             {"dsl", "verbs", "verbs/grammar", "stores", "stores/receipt", "runtime", "runtime/llm"},
	"runtime/confidence/modeltest":         {"runtime/llm"},
	"runtime/trustgraph":                   nil,
	"runtime/trustgraph/rabbit":            {"runtime/trustgraph"},
	"runtime/trustgraph/rabbit/rabbittest": nil,
	"runtime/dial":                         nil,
	"runtime/channel/contact":              nil,
	"runtime/channel/internal/proven":      nil,
	"runtime/channel":                      {"dsl", "verbs", "stores", "stores/receipt", "runtime", "runtime/clerk", "runtime/channel/internal/proven", "runtime/confirmations", "runtime/digest", "runtime/dialog", "runtime/notify", "runtime/sessions", "runtime/system", "runtime/upload", "runtime/uploads", "runtime/words"},
	"runtime/channel/signed":               {"runtime/channel", "runtime/channel/internal/proven", "runtime/notify"},
	"runtime/channel/whatsapp":             {"runtime/channel", "runtime/channel/internal/proven", "runtime/channel/contact", "runtime/dial"},
	"runtime/channel/whatsapp/cloudtest":   nil,

	"stores/receipt":        {"stores"},
	"stores/journal":        {"stores", "stores/receipt"},
	"stores/files":          nil,
	"verbs":                 {"dsl", "stores", "verbs/expr"},
	"verbs/expr":            {"stores"},
	"verbs/drift":           {"dsl", "stores", "verbs"},
	"verbs/grammar":         {"dsl", "stores", "verbs"},
	"verbs/pack":            nil,
	"verbs/verbstest":       nil,
	"runtime":               {"dsl", "verbs", "stores", "stores/search", "stores/receipt", "stores/journal", "runtime/names", "runtime/tools", "runtime/view", "runtime/digest", "runtime/confirmations", "runtime/provenance", "runtime/uploads", "runtime/sessions", "runtime/sheet"},
	"runtime/sheet":         {"stores"},
	"runtime/names":         {"dsl", "stores"},
	"runtime/tools":         {"dsl", "stores", "verbs"},
	"runtime/view":          {"stores", "stores/search"},
	"runtime/digest":        {"stores"},
	"runtime/confirmations": {"stores", "stores/receipt", "runtime/digest"},
	"runtime/provenance":    {"stores", "verbs"},
	"runtime/uploads":       {"stores", "stores/receipt", "verbs"},
	"runtime/sessions":      {"dsl", "stores", "verbs", "runtime/digest"},
	"runtime/notify":        {"runtime", "runtime/dial"},
	"runtime/channel/mail":  {"runtime/channel", "runtime/channel/contact", "runtime/channel/internal/proven", "runtime/words"},
	"runtime/work":          {"stores", "runtime", "runtime/notify"},
	"runtime/llm":           nil,
	"runtime/dialog":        {"dsl", "stores", "stores/receipt", "verbs", "verbs/grammar", "runtime", "runtime/names", "runtime/llm", "runtime/words", "runtime/uploads", "runtime/sessions"},
	"runtime/mcp":           {"runtime/tools", "runtime/a2a", "runtime/dial"},
	"runtime/mcp/door":      {"dsl", "verbs", "verbs/grammar", "stores", "stores/receipt", "runtime", "runtime/dialog", "runtime/mcp", "runtime/wire", "runtime/words"},
	"runtime/serve/pages":   {"runtime/words"},
	"runtime/system":        {"dsl", "verbs", "stores", "runtime", "runtime/channel/contact"},
	"runtime/upload":        {"verbs", "stores/files", "runtime", "runtime/uploads"},
	"runtime/words":         {"stores"},
	"runtime/phrase":        {"dsl", "stores", "verbs", "runtime/words", "runtime/collect"},
	"runtime/collect":       {"dsl", "stores", "verbs", "runtime/words"},
	"runtime/client":        {"stores", "verbs", "runtime", "runtime/sessions", "runtime/words", "runtime/collect"},
	"runtime/wire":          {"dsl", "stores", "stores/journal", "stores/receipt", "runtime", "runtime/dialog", "runtime/sessions", "runtime/uploads"},
	"runtime/a2a":           nil,
	"runtime/serve/logins":  {"stores", "runtime/digest", "runtime/sessions"},
	"runtime/serve/peers":   {"stores", "runtime/digest"},
	"runtime/serve":         {"dsl", "verbs", "verbs/grammar", "stores", "stores/journal", "stores/receipt", "runtime", "runtime/a2a", "runtime/confirmations", "runtime/digest", "runtime/dialog", "runtime/upload", "runtime/uploads", "runtime/sessions", "runtime/collect", "runtime/words", "runtime/wire", "runtime/mcp/door", "runtime/serve/logins", "runtime/serve/peers", "runtime/serve/pages"},
	"runtime/torture":       nil,
	"runtime/norace":        nil,
	"runtime/documents":     nil,
	"runtime/guard":         nil,
	"runtime/lsp":           {"dsl", "verbs"},
	"runtime/eval":          {"stores/receipt", "runtime/llm", "runtime/dialog"},
	"runtime/manda":         {"dsl", "runtime", "runtime/documents", "runtime/services", "runtime/sessions", "runtime/tools", "runtime/words", "stores", "verbs"},
	"runtime/kyc":           {"runtime", "runtime/guard", "stores", "stores/search"},
	"runtime/kiisha":        {"runtime", "runtime/documents", "runtime/services", "runtime/tools", "stores", "stores/files"},
	"runtime/services":      {"runtime/documents", "runtime/sheet", "runtime/tools", "stores", "stores/files"},
	"cmd/verbatim":          {"dsl", "runtime/channel/contact", "runtime/channel", "runtime/channel/mail", "runtime/channel/signed", "verbs", "verbs/drift", "verbs/grammar", "verbs/pack", "stores", "stores/sqlite", "stores/postgres", "stores/receipt", "stores/journal", "stores/files", "stores/search", "runtime", "runtime/names", "runtime/tools", "runtime/confirmations", "runtime/notify", "runtime/work", "runtime/llm", "runtime/dialog", "runtime/mcp", "runtime/mcp/door", "runtime/system", "runtime/channel/whatsapp", "runtime/client", "runtime/words", "runtime/phrase", "runtime/upload", "runtime/uploads", "runtime/sessions", "runtime/wire", "runtime/serve", "runtime/serve/logins", "runtime/serve/peers", "runtime/documents", "runtime/services", "runtime/manda", "runtime/kyc", "runtime/kiisha", "runtime/clerk", "runtime/plan", "runtime/rerun", "runtime/confidence", "runtime/confidence/react", "runtime/trustgraph", "runtime/trustgraph/rabbit", "runtime/eval", "runtime/lsp"},
	"cmd/teeth":             nil,
	"examples/embed":        {"dsl", "verbs", "stores/receipt", "stores/sqlite", "runtime"},
}

// allBut lists every room but some.
func allBut(some ...string) []string {
	return slices.DeleteFunc(slices.Clone(rooms), func(room string) bool { return slices.Contains(some, room) })
}

// groups are rooms that stand for one another in a reason.
var groups = map[string][]string{
	"below the engine":                           {"dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/receipt", "stores/journal", "verbs", "verbs/grammar"},
	"the engine and below":                       {"dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/receipt", "stores/journal", "verbs", "verbs/grammar", "runtime"},
	"who holds no conversation":                  allBut("runtime/channel", "runtime/dialog", "runtime/wire", "runtime/mcp/door", "runtime/serve", "runtime/eval", "cmd/verbatim", "runtime/confidence"),
	"who does not say what rows are called":      allBut("runtime", "runtime/names", "runtime/dialog", "cmd/verbatim"),
	"who has nothing to ask of a tool":           allBut("runtime", "runtime/tools", "runtime/mcp", "runtime/services", "runtime/manda", "runtime/kiisha", "cmd/verbatim"),
	"whom a lock is taken from":                  allBut("stores/postgres", "stores/postgres/pgtest", "stores/postgres/internal/ajar"),
	"parts of the engine":                        {"runtime/names", "runtime/tools", "runtime/view", "runtime/digest", "runtime/confirmations", "runtime/provenance", "runtime/uploads", "runtime/sessions"},
	"who is not the engine":                      allBut("runtime/channel", "runtime", "runtime/view", "runtime/digest", "runtime/confirmations", "runtime/provenance", "runtime/sessions", "runtime/serve", "runtime/serve/logins", "runtime/serve/peers", "runtime/confidence"),
	"who holds no session":                       allBut("runtime/channel", "runtime", "runtime/sessions", "runtime/client", "runtime/manda", "runtime/dialog", "runtime/wire", "runtime/serve", "runtime/serve/logins", "cmd/verbatim"),
	"who has no files to show":                   allBut("runtime/channel", "runtime", "runtime/uploads", "runtime/upload", "runtime/dialog", "runtime/wire", "runtime/serve", "cmd/verbatim"),
	"who does not say what became of a question": allBut("runtime/channel", "runtime", "runtime/confirmations", "runtime/serve", "cmd/verbatim", "runtime/plan"),
	"who speaks to no agents of others":          allBut("runtime/a2a", "runtime/serve", "runtime/mcp"),
	"who shows no pages":                         allBut("runtime/serve/pages", "runtime/serve"),
	"who edits nothing":                          allBut("runtime/lsp", "cmd/verbatim"),
	"who serves nothing":                         allBut("runtime/serve", "cmd/verbatim"),
	"who tells programs nothing":                 allBut("runtime/serve", "runtime/mcp/door", "cmd/verbatim"),
	"who lets no clients of models in":           allBut("runtime/mcp/door", "runtime/serve", "cmd/verbatim"),
	"who makes no files":                         allBut("runtime", "runtime/services", "runtime/sheet"),
	"who reads no files":                         allBut("runtime/documents", "runtime/services", "runtime/manda", "runtime/kiisha", "cmd/verbatim"),
	"who brings no services":                     allBut("runtime/services", "runtime/manda", "runtime/kiisha", "cmd/verbatim", "runtime/confidence"),
	"who speaks no SQL":                          allBut("stores/sqlcore", "stores/sqlite", "stores/postgres"),
	"who searches nothing":                       allBut("stores", "stores/search", "stores/storetest", "stores/sqlite", "stores/postgres", "runtime", "runtime/view", "runtime/kyc", "cmd/verbatim"),
	"who goes nowhere that others name":          allBut("runtime/dial", "runtime/notify", "runtime/channel/whatsapp", "runtime/mcp"),
	"who is no channel":                          allBut("runtime/channel", "runtime/channel/internal/proven", "runtime/channel/mail", "runtime/channel/signed", "runtime/channel/whatsapp", "cmd/verbatim"),
	"who spells no addresses":                    allBut("runtime/channel/contact", "runtime/channel/whatsapp", "runtime/channel/mail", "runtime/system", "cmd/verbatim"),
	"who asks no model":                          allBut("runtime/mcp/door", "runtime/channel", "runtime/dialog", "runtime/wire", "runtime/serve", "runtime/eval", "runtime/confidence", "runtime/confidence/react", "runtime/confidence/modeltest", "cmd/verbatim"),
	"who writes in nobody's name":                allBut("runtime/clerk", "runtime/channel", "runtime/plan", "runtime/confidence", "cmd/verbatim"),
	"who scores nothing":                         allBut("runtime/confidence", "runtime/confidence/score"),
	"who makes no plans":                         allBut("runtime/plan", "runtime/confidence", "cmd/verbatim"),
	"who answers no questions":                   allBut("runtime/confidence", "runtime/confidence/react", "cmd/verbatim"),
	"who speaks to no TrustGraph":                allBut("runtime/confidence", "runtime/trustgraph", "runtime/trustgraph/rabbit", "cmd/verbatim"),
	"who guards no texts":                        allBut("runtime/guard", "runtime/kyc"),
	"who compares no palettes":                   allBut("verbs/drift", "cmd/verbatim"),
	"who hands no palettes over":                 allBut("verbs/pack", "cmd/verbatim"),
	"who loads no palettes":                      allBut("verbs"),
	"beside the engine":                          {"runtime/notify", "runtime/work", "runtime/llm", "runtime/mcp", "runtime/system"},
}

// A forbidden arrow, and why. From "*" is from anywhere, from "libraries" from
// anywhere but a command, and from a group from each of its rooms.
type arrow struct {
	from string
	to   []string
	why  string
}

func (a arrow) forbids(from, to string) bool {
	where := a.from == from || a.from == "*" || a.from == "libraries" && !strings.HasPrefix(from, "cmd/") || slices.Contains(groups[a.from], from)
	return where && slices.Contains(a.to, to)
}

var forbidden = []arrow{
	{"who does not say what rows are called", []string{"runtime/names"}, "names are given to rows by the engine, and told by who tells of rows"},
	{"who has nothing to ask of a tool", []string{"runtime/tools"}, "tools of other servers are asked by the engine, through whoever speaks their protocol"},
	{"runtime/tools", allBut("dsl", "stores", "verbs", "runtime/tools"), "it holds what a tool says of itself against a verb, and asks nothing of it"},
	{"who compares no palettes", []string{"verbs/drift"}, "one version of the palettes is loaded; two are compared by the linter alone"},
	{"libraries", []string{"runtime/rerun"}, "what a session did is done again from outside, by the command alone"},
	{"who hands no palettes over", []string{"verbs/pack"}, "palettes are loaded from files, wherever those were put; what a pack is, the command knows"},
	{"verbs/pack", allBut("verbs/pack"), "a pack is files and what they say of themselves; what the files mean, others know"},
	{"verbs/drift", allBut("dsl", "stores", "verbs", "verbs/drift"), "it reads two sets of palettes, and nothing of what they are used for"},
	{"parts of the engine", []string{"runtime"}, "each is a room with its own types and tests, which the engine is made of"},
	{"who is not the engine", []string{"runtime/view", "runtime/digest", "runtime/provenance"}, "how a store is asked, what a plan is known by, and where values come from, is the engine's own affair"},
	{"who does not say what became of a question", []string{"runtime/confirmations"}, "who may agree, and to what, the engine decides"},
	{"runtime/view", allBut("stores", "stores/search", "runtime/view"), "it knows rows and changes, and nothing of what they are for"},
	{"who has no files to show", []string{"runtime/uploads"}, "what is known of files is the engine's, and of those who take and show them"},
	{"runtime/provenance", allBut("stores", "verbs", "runtime/provenance"), "it knows rows and who reads them, and nothing of what is done with them"},
	{"runtime/uploads", allBut("stores", "stores/receipt", "verbs", "runtime/uploads"), "it keeps what is known of files; who may use one the engine decides"},
	{"who holds no session", []string{"runtime/sessions"}, "what is said and asked in a session is the engine's, and of those who speak in one"},
	{"runtime/sessions", allBut("dsl", "stores", "verbs", "runtime/digest", "runtime/sessions"), "it keeps what was set, said and asked; who may read it, and what rows are called, the engine decides"},
	{"runtime/digest", allBut("stores", "runtime/digest"), "it hashes texts and values, whatever they mean"},
	{"runtime/confirmations", allBut("stores", "stores/receipt", "runtime/digest", "runtime/confirmations"), "it keeps scripts as texts: who reads them is the engine"},
	{"runtime/mcp", []string{"runtime"}, "it answers the engine, and need not know it"},
	{"runtime/names", allBut("dsl", "stores", "runtime/names"), "it knows what rows are called, and nothing of who asks or why"},
	{"dsl", []string{"verbs", "runtime"}, "a well-formed call is one whatever it means: a program that only parses or formats takes dsl alone"},
	{"dsl", []string{"stores", "stores/storetest", "stores/sqlite", "stores/postgres"}, "text has no rows; dsl hands out digits and words, and verbs makes typed values of them"},
	{"stores", []string{"dsl", "verbs"}, "a store keeps entities, not palettes: it must be usable, and testable, without a line of YAML or of our language"},
	{"stores", []string{"runtime"}, "who may do what is decided before a store is asked; scope reaches it as an argument"},
	{"stores", []string{"stores/sqlite", "stores/postgres", "stores/storetest"}, "the interface does not know who implements it or how that is tested"},
	{"stores/sqlite", []string{"dsl", "verbs", "runtime"}, "a backend has no private feature that the engine could need, so it has nothing to ask of the floors above"},
	{"stores/sqlite", []string{"stores/storetest"}, "the conformance suite calls the backend's tests, the backend itself is built without it"},
	{"stores/sqlite", []string{"stores/postgres"}, "two dialects of one interface: what they share is in stores and stores/sqlcore, and either can go without the other"},
	{"stores/postgres", []string{"stores/sqlite"}, "two dialects of one interface: what they share is in stores and stores/sqlcore, and either can go without the other"},
	{"stores/postgres", []string{"dsl", "verbs", "runtime"}, "a backend has no private feature that the engine could need, so it has nothing to ask of the floors above"},
	{"stores/postgres", []string{"stores/storetest"}, "the conformance suite calls the backend's tests, the backend itself is built without it"},
	{"stores/journal", []string{"dsl", "verbs", "runtime"}, "whether a journal is whole, and what rows it makes, can be shown without a palette and without our language"},
	{"stores/journal", []string{"stores/sqlite", "stores/postgres", "stores/storetest"}, "a journal is the same whichever store it came from"},
	{"stores/receipt", []string{"dsl", "verbs", "runtime"}, "what calls do is told in names and values: a program that shows or keeps it needs no palette"},
	{"stores/receipt", []string{"stores/journal", "stores/sqlite", "stores/postgres", "stores/storetest"}, "what happened is the same wherever it is kept"},
	{"stores", []string{"stores/receipt"}, "a store carries out changes and tells nobody of them"},
	{"stores/sqlite", []string{"stores/receipt"}, "a store carries out changes and tells nobody of them"},
	{"stores/postgres", []string{"stores/receipt"}, "a store carries out changes and tells nobody of them"},
	{"stores/storetest", []string{"stores/receipt"}, "a store carries out changes and tells nobody of them"},
	{"dsl", []string{"stores/receipt"}, "text has no rows, and nothing happened to them"},
	{"verbs", []string{"stores/receipt"}, "what may be said does not depend on what came of it"},
	{"verbs/grammar", []string{"stores/receipt"}, "what may be said does not depend on what came of it"},
	{"beside the engine", []string{"stores/receipt"}, "what calls did is told by whoever made them"},
	{"runtime/upload", []string{"stores/receipt"}, "a file is sent before a call names it"},
	{"runtime/words", []string{"stores/receipt"}, "what people say is read the same whatever comes of it"},
	{"runtime/phrase", []string{"stores/receipt"}, "what people say is read the same whatever comes of it"},
	{"runtime/collect", []string{"stores/receipt"}, "what people say is read the same whatever comes of it"},
	{"runtime/client", []string{"stores/receipt"}, "a handler says what it wants done; the engine tells what was"},
	{"stores", []string{"stores/journal"}, "a store chains what it is given, whatever that says"},
	{"stores/sqlite", []string{"stores/journal"}, "a store chains what it is given, whatever that says"},
	{"stores/postgres", []string{"stores/journal"}, "a store chains what it is given, whatever that says"},
	{"dsl", []string{"stores/journal"}, "text has no rows, and nothing happened to them"},
	{"stores/storetest", []string{"stores/journal"}, "what a store promises of its journal is a chain, whatever the entries say"},
	{"verbs", []string{"stores/journal"}, "what may be said does not depend on how it is recorded"},
	{"verbs/grammar", []string{"stores/journal"}, "what may be said does not depend on how it is recorded"},
	{"beside the engine", []string{"stores/journal"}, "what is recorded, and how, is the engine's business"},
	{"stores/postgres/internal/ajar", rooms, "it is one word between a test and a backend"},
	{"whom a lock is taken from", []string{"stores/postgres/internal/ajar"}, "it takes one of two locks away, for a test of the other"},
	{"*", []string{"stores/postgres/pgtest"}, "it starts servers for tests, which no program needs"},
	{"the engine and below", []string{"runtime/upload"}, "the engine knows rows of uploads; who takes bytes and has them looked at stands above it"},
	{"runtime/phrase", []string{"runtime/upload"}, "what people say is read the same whatever they have sent"},
	{"runtime/collect", []string{"runtime/upload"}, "a file is sent before an answer names it"},
	{"runtime/client", []string{"runtime/upload"}, "a file is sent before a call names it"},
	{"beside the engine", []string{"runtime/upload"}, "files come in by one door, which the command opens"},
	{"runtime/upload", []string{"runtime/words", "runtime/phrase", "runtime/collect", "runtime/client", "dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "verbs/grammar", "runtime/notify", "runtime/work", "runtime/llm", "runtime/mcp", "runtime/system"}, "it takes files in the words of the engine, on any store"},
	{"stores/files", rooms, "bytes are kept by what they are, whoever they belong to and whatever rows say of them"},
	{"the engine and below", []string{"stores/files"}, "what is known of a file is rows; who reads and keeps its bytes stands above"},
	{"beside the engine", []string{"stores/files"}, "what is known of a file is rows; who reads and keeps its bytes is a room of its own"},
	{"stores/postgres/pgtest", allBut("stores/postgres/internal/ajar"), "it hands out empty databases, whoever fills them"},
	{"stores/storetest", []string{"dsl", "verbs", "runtime"}, "the suite defines what a store promises, in the words of stores only"},
	{"stores/storetest", []string{"stores/sqlite", "stores/postgres"}, "one suite for every backend: each backend's tests call it, never the other way round"},
	{"verbs", []string{"runtime"}, "what may be said does not depend on how it is done; the engine hands verbs functions, not itself"},
	{"verbs", []string{"stores/sqlite", "stores/postgres", "stores/storetest"}, "a palette means the same on every backend"},
	{"runtime", []string{"stores/sqlite", "stores/postgres", "stores/storetest"}, "the engine runs on any store; cmd picks one"},
	{"below the engine", []string{"runtime/notify", "runtime/work"}, "what may be said, and what is kept, does not depend on when it is done"},
	{"runtime/llm", []string{"runtime/notify", "runtime/work"}, "it talks to strangers, and has no part in what happens later"},
	{"runtime/mcp", []string{"runtime/notify", "runtime/work"}, "it talks to strangers, and has no part in what happens later"},
	{"runtime", []string{"runtime/notify", "runtime/work"}, "the engine does one job when it is handed one; when that is, and how a notice travels, is decided above it"},
	{"runtime/notify", []string{"dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "verbs", "verbs/grammar", "verbs/verbstest", "runtime/llm", "runtime/mcp", "runtime/work"}, "a channel is handed a message and looks at nothing else"},
	{"runtime/work", []string{"dsl", "stores/storetest", "stores/sqlite", "stores/postgres", "verbs", "verbs/grammar", "verbs/verbstest", "runtime/llm", "runtime/mcp"}, "a worker takes jobs from any store, and the engine knows what they mean"},
	{"who asks no model", []string{"runtime/llm"}, "what a model says is text; only who holds a conversation asks it, and nothing below does"},
	{"runtime/llm", []string{"dsl", "verbs", "verbs/verbstest", "runtime", "stores", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it asks a stranger and hands over what was said; what that means is not its business"},
	{"the engine and below", []string{"runtime/system"}, "who may do what is said by verbs like any others: nobody but the command knows which those are"},
	{"beside the engine", []string{"runtime/system"}, "who may do what is said by verbs like any others: nobody but the command knows which those are"},
	{"the engine and below", []string{"runtime/mcp"}, "the engine asks through an interface of its own; only the command knows which protocol there is"},
	{"runtime/llm", []string{"runtime/mcp"}, "tools of others are asked by the engine, when everything was decided, and not by who talks to a model"},
	{"runtime/system", []string{"runtime/mcp", "runtime/notify", "runtime/work", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it manages rights on any store, in the words of the engine"},
	{"runtime/words", []string{"runtime/upload", "dsl", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files", "verbs", "runtime", "runtime/notify", "runtime/work", "runtime/mcp", "runtime/system"}, "what a date is in words is the same whatever it is for: text goes in, values come out"},
	{"the engine and below", []string{"runtime/words"}, "the language holds exact values; words are turned into them before a call is made, and never by who checks or runs it"},
	{"beside the engine", []string{"runtime/words"}, "nobody speaks to it in words"},
	{"runtime/collect", []string{"runtime", "runtime/dialog", "runtime/client", "runtime/notify", "runtime/work", "runtime/llm", "runtime/mcp", "runtime/system", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files"}, "an object is asked for by its schema, whatever it is for: answers go in, questions come out"},
	{"libraries", []string{"runtime/client", "runtime/manda", "runtime/kyc", "runtime/kiisha"}, "a domain goes away with its palette, its folder and its line in the command"},
	{"runtime/client", []string{"runtime/dialog", "runtime/notify", "runtime/work", "runtime/llm", "runtime/mcp", "runtime/system", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files"}, "it says what YAML cannot say of a domain, in the words of the engine"},
	{"beside the engine", []string{"runtime/collect"}, "nobody is asked question by question there"},
	{"runtime/words", []string{"runtime/collect", "runtime/client"}, "what a date is in words is the same whatever it is for"},
	{"runtime/dialog", []string{"runtime/collect"}, "a conversation leads to calls; what asks question by question stands behind one"},
	{"stores/files", []string{"runtime/collect"}, "bytes are kept, whatever asked for them"},
	{"cmd/verbatim", []string{"runtime/collect"}, "what asks question by question is a domain, which the command wires"},
	{"runtime/client", []string{"dsl"}, "a handler hands the engine values, and the engine writes the call"},
	{"the engine and below", []string{"runtime/collect"}, "who asks question by question is a handler; the engine sees the call that comes of it"},
	{"runtime/collect", []string{"runtime/phrase"}, "an answer to a question is no call"},
	{"runtime/client", []string{"runtime/phrase"}, "a handler is called when the call is written"},
	{"runtime/dialog", []string{"runtime/phrase"}, "it asks through an interface of its own: who reads phrases, and from which palettes, the command says"},
	{"runtime/words", []string{"runtime/phrase"}, "what a word means as a value does not depend on the verbs that there are"},
	{"runtime/phrase", []string{"stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files", "runtime", "runtime/notify", "runtime/work", "runtime/mcp", "runtime/system"}, "it writes calls and makes none: whose session it is for arrives as verbs and names"},
	{"the engine and below", []string{"runtime/phrase"}, "a call is a call, whoever wrote it"},
	{"beside the engine", []string{"runtime/phrase"}, "nobody speaks to it in words"},
	{"*", []string{"runtime/torture"}, "it holds tests and nothing that could be called"},
	{"runtime/torture", rooms, "outside its tests it is a page of documentation"},
	{"who brings no services", []string{"runtime/services"}, "the engine asks for what palettes name, and the command says what that is"},
	{"who reads no files", []string{"runtime/documents"}, "text comes out of a file in another process: who wants it says so to the engine, and the command wires it"},
	{"runtime/manda", allBut("runtime/manda", "dsl", "runtime", "runtime/documents", "runtime/services", "runtime/sessions", "runtime/tools", "runtime/words", "stores", "verbs"), "it says what YAML cannot say of a domain, in the words of the engine"},
	{"runtime/sheet", allBut("runtime/sheet", "stores"), "it makes a file of values, whoever they are for"},
	{"who makes no files", []string{"runtime/sheet"}, "rows are written into a file by the engine, and read back by a service"},
	{"runtime/services", allBut("runtime/services", "runtime/documents", "runtime/sheet", "runtime/tools", "stores", "stores/files"), "what palettes use as tools knows neither the engine nor who asks"},
	{"who speaks no SQL", []string{"stores/sqlcore"}, "what two dialects say alike is their affair"},
	{"stores/sqlcore", allBut("stores/sqlcore", "stores"), "it writes SQL for rows, whatever they are and whoever keeps them"},
	{"who searches nothing", []string{"stores/search"}, "what words and vectors an index keeps is the stores' affair, and the engine's who asks"},
	{"stores/search", allBut("stores/search"), "it makes numbers of texts, whatever rows they stand in"},
	{"runtime/dial", allBut("runtime/dial"), "it looks at the address that is dialled, whoever goes there"},
	{"who goes nowhere that others name", []string{"runtime/dial"}, "connections are opened in few rooms, and looked at in one"},
	{"runtime/channel", allBut(append(allowed["runtime/channel"], "runtime/channel")...), "it finds out who writes and goes on with their conversation; what they may do the engine decides, and no protocol is spoken here"},
	{"runtime/channel/internal/proven", allBut("runtime/channel/internal/proven"), "it holds what an adapter has proved"},
	{"runtime/channel/signed", allBut(append(allowed["runtime/channel/signed"], "runtime/channel/signed")...), "it proves which program wrote, and tells a door: what a message means is found out behind it"},
	{"who is no channel", []string{"runtime/channel", "runtime/channel/internal/proven", "runtime/channel/signed"}, "a message whose sender is proved is made by adapters alone, and a channel goes away with its folder and its line in the command"},
	{"cmd/verbatim", []string{"runtime/channel/internal/proven"}, "only an adapter says who a sender is"},
	{"runtime/channel/contact", allBut("runtime/channel/contact"), "it spells addresses and numbers, whoever has them"},
	{"who spells no addresses", []string{"runtime/channel/contact"}, "an address is spelled where it comes in, and where people are known by it"},
	{"runtime/channel/whatsapp", allBut(append(allowed["runtime/channel/whatsapp"], "runtime/channel/whatsapp")...), "it proves who wrote, and tells a door: what a message means is found out behind it"},
	{"libraries", []string{"runtime/channel/whatsapp"}, "a channel goes away with its folder and its line in the command"},
	{"runtime/channel/whatsapp/cloudtest", allBut("runtime/channel/whatsapp/cloudtest"), "it plays the other side, and shares nothing with ours that could be wrong on both"},
	{"*", []string{"runtime/channel/whatsapp/cloudtest"}, "it plays WhatsApp for tests, which no program needs"},
	{"libraries", []string{"runtime/eval"}, "how good conversations are is asked from outside, by the command alone"},
	{"runtime/eval", allBut(append(allowed["runtime/eval"], "runtime/eval")...), "it counts what conversations came to, and holds none"},
	{"runtime/guard", allBut("runtime/guard"), "it reads texts, whoever wrote them and whatever they are for"},
	{"who guards no texts", []string{"runtime/guard"}, "texts are guarded by who takes them from strangers, and tells strangers something"},
	{"runtime/kiisha", allBut("runtime/kiisha", "runtime", "runtime/documents", "runtime/services", "runtime/tools", "stores", "stores/files"), "it says what YAML cannot say of a domain, in the words of the engine"},
	{"runtime/kyc", allBut("runtime/kyc", "runtime", "runtime/guard", "stores", "stores/search"), "it says what YAML cannot say of a domain, in the words of the engine"},
	{"runtime/channel/mail", allBut(append(allowed["runtime/channel/mail"], "runtime/channel/mail")...), "it proves who wrote, and tells a door: what a mail means is found out behind it"},
	{"libraries", []string{"runtime/channel/mail"}, "a channel goes away with its folder and its line in the command"},
	{"runtime/documents", allBut("runtime/documents"), "it reads what strangers wrote in a process that knows nothing of us"},
	{"runtime/mcp", []string{"dsl", "verbs", "verbs/grammar", "verbs/verbstest", "runtime/llm", "stores", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it carries questions to strangers and their answers back; what they mean is the engine's business"},
	{"*", []string{"cmd/verbatim"}, "a library is not built on a command"},
	{"who asks no model", []string{"verbs/grammar"}, "what a model is held to while it writes is printed for it, or handed to it, and asked of nobody else"},
	{"who holds no conversation", []string{"runtime/dialog"}, "nothing depends on how it is talked about: a script needs no conversation, and a conversation writes scripts"},
	{"runtime/dialog", []string{"runtime/upload", "runtime/notify", "runtime/work", "runtime/mcp", "runtime/system", "stores/files", "stores/journal", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it says what people say in calls, at the two doors that everybody uses, and has no door of its own"},
	{"verbs/grammar", []string{"runtime", "runtime/llm", "runtime/torture", "verbs/verbstest", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/postgres/pgtest"}, "a grammar is text made of palettes; whose session it is for arrives as an argument"},
	{"*", []string{"verbs/verbstest"}, "it writes palettes to measure with, which no program needs"},
	{"verbs/verbstest", rooms, "it writes text, and is the same whatever reads it"},
	{"*", []string{"cmd/teeth"}, "a library is not built on a command"},
	{"*", []string{"examples/embed"}, "nothing is built on an example"},
	{"examples/embed", slices.DeleteFunc(slices.Clone(rooms), func(room string) bool { return slices.Contains(allowed["examples/embed"], room) }), "it shows the least that a program needs"},
	{"cmd/teeth", rooms, "it spoils text and runs tests; a fault in what it imported could hide a fault"},
	{"who loads no palettes", []string{"verbs/expr"}, "expressions stand in palettes, and what is made of them is asked through verbs"},
	{"verbs/expr", allBut("stores"), "it reads text and works on values; what the names in a text mean, verbs says"},
	{"runtime/lsp", allBut("dsl", "verbs", "runtime/lsp"), "it tells editors what the parser and the checker say: it runs nothing, and has no second of either"},
	{"who edits nothing", []string{"runtime/lsp"}, "an editor is one more reader of palettes and scripts, and nothing is built on it"},
	{"runtime/a2a", allBut("runtime/a2a"), "it reads and writes a protocol: who serves it, and what a task is, it is told through an interface"},
	{"who speaks to no agents of others", []string{"runtime/a2a"}, "agents of others come in by the server's door, and are asked as servers of tools are"},
	{"runtime/serve/peers", allBut("stores", "runtime/digest", "runtime/serve/peers"), "it keeps which messages came and where somebody is told; what they mean the server decides"},
	{"runtime/serve", []string{"runtime/view", "runtime/provenance"}, "how a store is asked, and where values come from, is the engine's own affair"},
	{"who serves nothing", []string{"runtime/serve", "runtime/serve/logins", "runtime/serve/peers"}, "a door is built on the house, and the house on no door"},
	{"who tells programs nothing", []string{"runtime/wire"}, "a door is built on the house, and the house on no door"},
	{"who lets no clients of models in", []string{"runtime/mcp/door"}, "a door is built on the house, and the house on no door"},
	{"runtime/mcp/door", allBut(append(allowed["runtime/mcp/door"], "runtime/mcp/door")...), "it makes calls of what clients of models ask, at the two doors that everybody uses; who such a client speaks for it is told"},
	{"who writes in nobody's name", []string{"runtime/clerk"}, "what the program itself writes down, rooms write that handle things while nobody asks"},
	{"runtime/clerk", allBut(append(allowed["runtime/clerk"], "runtime/clerk")...), "it makes calls and reads rows, whatever they are for"},
	{"who makes no plans", []string{"runtime/plan"}, "a plan is made over the engine; whoever makes one is the agent, or the command"},
	{"runtime/rerun", allBut(append(allowed["runtime/rerun"], "runtime/rerun")...), "it makes calls again over the engine, which somebody else puts together"},
	{"runtime/plan", allBut(append(allowed["runtime/plan"], "runtime/plan")...), "it makes calls step by step: how sure an answer is, and who asked, others know"},
	{"who answers no questions", []string{"runtime/confidence", "runtime/confidence/react"}, "an agent is one more way to make calls, and nothing is built on it"},
	{"runtime/confidence", allBut(append(allowed["runtime/confidence"], "runtime/confidence")...), "it plans and judges; what carries calls out is the engine"},
	{"runtime/confidence", []string{"runtime/confidence/react"}, "the two agents stand beside each other: the command gives questions to one of them"},
	{"runtime/confidence/react", allBut(append(allowed["runtime/confidence/react"], "runtime/confidence/react")...), "it makes the calls that a model chooses, and knows no plan"},
	{"runtime/confidence/score", allBut("runtime/confidence/score"), "it reckons with numbers and texts, wherever they come from"},
	{"*", []string{"runtime/confidence/modeltest", "runtime/norace", "runtime/trustgraph/rabbit/rabbittest"}, "it serves tests, which no program needs"},
	{"runtime/norace", allBut("runtime/norace"), "it runs tests again, whatever they test"},
	{"runtime/confidence/modeltest", allBut("runtime/llm", "runtime/confidence/modeltest"), "it plays an endpoint, whoever asks"},
	{"who scores nothing", []string{"runtime/confidence/score"}, "answers of plans are scored, and nothing else"},
	{"runtime/trustgraph", allBut("runtime/trustgraph"), "it is a protocol: who answers, it is told"},
	{"runtime/trustgraph/rabbit", allBut("runtime/trustgraph", "runtime/trustgraph/rabbit"), "it brings questions from a broker and takes answers back"},
	{"runtime/trustgraph/rabbit/rabbittest", allBut("runtime/trustgraph/rabbit/rabbittest"), "it starts a broker for tests"},
	{"who speaks to no TrustGraph", []string{"runtime/trustgraph", "runtime/trustgraph/rabbit"}, "how programs of TrustGraph ask is known where they are answered"},
	{"runtime/confidence", []string{"runtime/trustgraph/rabbit"}, "by which way a question comes in makes no difference"},
	{"runtime/serve/logins", allBut("stores", "runtime/digest", "runtime/sessions", "runtime/serve/logins"), "it keeps who is signed in; what they may do the engine decides"},
	{"runtime/wire", allBut(append(allowed["runtime/wire"], "runtime/wire")...), "it is the shape of what programs are told, whoever tells it"},
	{"runtime/serve", allBut(append(allowed["runtime/serve"], "runtime/serve")...), "it is a door: what is behind it is asked through the engine, and who speaks other protocols has a door of its own"},
	{"runtime/serve/pages", allBut("runtime/words", "runtime/serve/pages"), "a page is made of texts: it knows no store, no engine and no palette"},
	{"who shows no pages", []string{"runtime/serve/pages"}, "pages are shown by the server alone"},
	{"*", []string{"runtime/serve/browsertest"}, "it drives a browser for tests, which no program needs"},
	{"runtime/serve/browsertest", rooms, "it clicks and looks, whatever it is shown"},
	{"cmd/verbatim", []string{"stores/storetest"}, "the suite imports testing, which a program has no use for"},
}

// exceptions are arrows that tests alone may draw.
var exceptions = map[[2]string]string{
	{"runtime/channel/whatsapp", "runtime/channel/whatsapp/cloudtest"}: "its tests speak to the other side",
	{"cmd/verbatim", "runtime/channel/whatsapp/cloudtest"}:             "its tests speak to the other side",
	{"runtime/channel/whatsapp/cloudtest"}:                             "it plays everybody who writes",
	{"runtime/channel", "runtime/channel/mail"}:                        "its tests read answers as they come by mail",
	{"runtime/channel", "runtime/work"}:                                "its tests work off what is due",
	{"runtime/channel", "stores/files"}:                                "its tests keep files",
	{"runtime/channel", "stores/sqlite"}:                               "its tests run on every store",
	{"runtime/channel", "stores/postgres"}:                             "its tests run on every store",
	{"runtime/channel", "stores/postgres/pgtest"}:                      "its tests run on every store",

	{"cmd/verbatim", "runtime/norace"}:         "its heavy tests run without the race detector",
	{"runtime", "runtime/norace"}:              "its heavy tests run without the race detector",
	{"runtime/channel", "runtime/norace"}:      "its heavy tests run without the race detector",
	{"verbs", "runtime/norace"}:                "its heavy tests run without the race detector",
	{"dsl", "runtime/norace"}:                  "its heavy tests run without the race detector",
	{"runtime/guard", "runtime/norace"}:        "its heavy tests run without the race detector",
	{"runtime/channel/mail", "runtime/norace"}: "its heavy tests run without the race detector",
	{"runtime/documents", "runtime/norace"}:    "its heavy tests run without the race detector",
	{"runtime/manda", "runtime/norace"}:        "its heavy tests run without the race detector",

	{"runtime/rerun", "stores/sqlite"}:                                    "its tests run on every store",
	{"runtime/rerun", "stores/postgres"}:                                  "its tests run on every store",
	{"runtime/rerun", "stores/postgres/pgtest"}:                           "its tests run on every store",
	{"runtime/plan", "runtime/work"}:                                      "its tests work off what is due",
	{"runtime/plan", "stores/sqlite"}:                                     "its tests run on every store",
	{"runtime/plan", "stores/postgres"}:                                   "its tests run on every store",
	{"runtime/plan", "stores/postgres/pgtest"}:                            "its tests run on every store",
	{"runtime/confidence", "stores/sqlite"}:                               "its tests run the engine on a real store",
	{"runtime/confidence", "runtime/tools"}:                               "its tests bring the functions that palettes call",
	{"runtime/confidence", "runtime/confidence/modeltest"}:                "its tests ask a model over HTTP",
	{"runtime/confidence", "runtime/confidence/react"}:                    "its tests hold the two agents against each other",
	{"runtime/confidence/react", "runtime/confidence/modeltest"}:          "its tests ask a model over HTTP",
	{"runtime/confidence/react", "runtime/tools"}:                         "its tests bring tools",
	{"runtime/confidence/react", "stores/sqlite"}:                         "its tests run the engine on a real store",
	{"runtime/trustgraph/rabbit", "runtime/trustgraph/rabbit/rabbittest"}: "its tests ask a broker",
	{"cmd/verbatim", "runtime/trustgraph/rabbit/rabbittest"}:              "its tests ask a broker",
	{"runtime/trustgraph/rabbit", "github.com/rabbitmq/amqp091-go"}:       "its tests look at the queues",
	{"runtime/trustgraph", "github.com/coder/websocket"}:                  "its tests are clients",
	{"runtime/serve", "runtime/serve/browsertest"}:                        "its tests look at pages in a browser",
	{"runtime/serve", "runtime/channel/whatsapp/cloudtest"}:               "its tests have people write",
	{"runtime/serve/pages", "runtime/serve/browsertest"}:                  "its tests look at pages in a browser",
	{"runtime/lsp", "runtime/serve/browsertest"}:                          "its tests look at VS Code in a browser",
	{"stores/sqlite", "stores/storetest"}:                                 "its tests run the conformance suite",
	{"stores/postgres", "stores/storetest"}:                               "its tests run the conformance suite",
	{"runtime/work", "stores/storetest"}:                                  "its tests take a job as a worker does that is lost",
	{"runtime/system", "stores/storetest"}:                                "its tests take a job as a worker does that is lost",
	{"runtime/torture", "stores/storetest"}:                               "its tests take a job as a worker does that is lost",
	{"stores/postgres", "stores/postgres/pgtest"}:                         "its tests run on a real server",
	{"runtime", "verbs/grammar"}:                                          "its tests hold a grammar against what a session permits",
	{"runtime", "stores/postgres"}:                                        "its tests run the engine on a real store",
	{"runtime", "stores/postgres/pgtest"}:                                 "its tests run the engine on a real server",
	{"cmd/verbatim", "stores/postgres/pgtest"}:                            "its tests run the command on a real server",
	{"runtime/work", "dsl"}:                                               "its tests write scripts",
	{"runtime/work", "verbs"}:                                             "its tests have a palette",
	{"runtime/work", "stores/sqlite"}:                                     "its tests work on real stores",
	{"runtime/work", "stores/postgres"}:                                   "its tests work on real stores",
	{"runtime/work", "stores/postgres/pgtest"}:                            "its tests work on real servers",
	{"runtime/upload", "dsl"}:                                             "its tests write scripts",
	{"runtime/upload", "stores"}:                                          "its tests have people",
	{"runtime/upload", "stores/sqlite"}:                                   "its tests run on a real store",
	{"runtime/system", "stores/sqlite"}:                                   "its tests run the verbs on a real store",
	{"runtime/system", "stores/postgres"}:                                 "its tests run the verbs on a real store",
	{"runtime/system", "stores/postgres/pgtest"}:                          "its tests run the verbs on a real server",
	{"runtime/mcp/door", "stores/sqlite"}:                                 "its tests list the tools of an engine on a real store",
	{"runtime/serve", "stores/sqlite"}:                                    "its tests serve agents on real stores",
	{"runtime/serve/peers", "stores/sqlite"}:                              "its tests keep messages in a real store",
	{"runtime/serve", "stores/postgres"}:                                  "its tests serve agents on real stores",
	{"runtime/serve", "stores/postgres/pgtest"}:                           "its tests serve agents on real servers",
	{"runtime/serve", "runtime/work"}:                                     "its tests post what agents are told",
	{"runtime/serve", "runtime/notify"}:                                   "its tests post what agents are told",
	{"runtime/serve/logins", "stores/sqlite"}:                             "its tests sign in on real stores",
	{"runtime/serve/logins", "stores/postgres"}:                           "its tests sign in on real stores",
	{"runtime/serve/logins", "stores/postgres/pgtest"}:                    "its tests sign in on real servers",
	{"runtime/kyc", "dsl"}:                                                "its tests write scripts",
	{"runtime/kyc", "verbs"}:                                              "its tests load the palette of the example",
	{"runtime/kyc", "stores/sqlite"}:                                      "its tests tell stories on real stores",
	{"runtime/kyc", "stores/postgres"}:                                    "its tests tell stories on real stores",
	{"runtime/kyc", "stores/postgres/pgtest"}:                             "its tests tell stories on real servers",
	{"runtime/kyc", "stores/receipt"}:                                     "its tests read what calls did",
	{"runtime/client", "dsl"}:                                             "its tests write scripts",
	{"runtime/client", "stores/sqlite"}:                                   "its tests tell stories on real stores",
	{"runtime/client", "stores/postgres"}:                                 "its tests tell stories on real stores",
	{"runtime/dialog", "stores/postgres"}:                                 "its questions wait on both backends",
	{"runtime/dialog", "stores/postgres/pgtest"}:                          "its questions wait on real servers",
	{"runtime/client", "stores/postgres/pgtest"}:                          "its tests tell stories on real servers",
	{"runtime/dialog", "stores/sqlite"}:                                   "its tests talk about rows of a real store",
	{"runtime/torture", "dsl"}:                                            "it writes scripts",
	{"runtime/torture", "runtime/clerk"}:                                  "it kills processes that make plans",
	{"runtime/torture", "runtime/plan"}:                                   "it kills processes that make plans",
	{"runtime/torture", "runtime/work"}:                                   "it kills processes that make plans, as workers",
	{"runtime/confidence", "stores/search"}:                               "its race finds by words as a store does that has faults",
	{"runtime/torture", "verbs"}:                                          "it has a palette",
	{"runtime/torture", "stores/journal"}:                                 "it reads what happened",
	{"runtime/client", "stores/receipt"}:                                  "its tests read what calls did",
	{"runtime/work", "stores/receipt"}:                                    "its tests read what calls did",
	{"runtime/torture", "stores/receipt"}:                                 "it reads what happened",
	{"runtime/torture", "stores"}:                                         "it looks at what is left",
	{"runtime/torture", "stores/sqlite"}:                                  "it pulls the plug on real stores",
	{"runtime/torture", "stores/postgres"}:                                "it pulls the plug on real stores",
	{"runtime/torture", "stores/postgres/pgtest"}:                         "it pulls the plug on real servers",
	{"runtime/torture", "runtime"}:                                        "it pulls the plug on the engine",
	{"runtime/torture", "runtime/sessions"}:                               "it talks, and keeps questions waiting",
	{"runtime/phrase", "verbs/verbstest"}:                                 "its benchmarks need palettes of any size",
	{"runtime/lsp", "verbs/verbstest"}:                                    "its benchmarks need palettes of any size",
	{"verbs", "verbs/verbstest"}:                                          "its benchmarks need palettes of any size",
	{"cmd/verbatim", "verbs/verbstest"}:                                   "its benchmarks need palettes of any size",
	{"runtime", "stores/sqlite"}:                                          "its tests run the engine on a real store",
	{"verbs/grammar", "github.com/santhosh-tekuri/jsonschema/v5"}:         "its tests hold what a schema allows against an independent reading of it",
	{"cmd/verbatim", "github.com/modelcontextprotocol/go-sdk"}:            "its tests run a server of tools beside the program",
	{"cmd/verbatim", "github.com/santhosh-tekuri/jsonschema/v5"}:          "its tests hold what --json prints against the published schema",
	{"runtime/services", "github.com/xuri/excelize/v2"}:                   "its tests lay out tables as people do",
	{"cmd/verbatim", "github.com/xuri/excelize/v2"}:                       "its tests edit a workbook as a person does",
	{"cmd/verbatim", "zombiezen.com/go/sqlite"}:                           "its tests change a file behind the program's back",
	{"cmd/verbatim", "gopkg.in/yaml.v3"}:                                  "its tests look for what is English in the text of a palette",
}

// libraries are met in one package each, and their types stop there.
var libraries = map[string]struct {
	in  []string
	why string
}{
	"github.com/alecthomas/participle/v2":      {[]string{"dsl", "verbs"}, "dsl declares the normative grammar with it; verbs reads effect operands with it, in one file"},
	"gopkg.in/yaml.v3":                         {[]string{"verbs", "runtime/mcp", "runtime/dialog", "runtime/confidence", "runtime/confidence/modeltest"}, "palettes are YAML, and so are the operator's lists of servers and settings of agents, and datasets"},
	"github.com/modelcontextprotocol/go-sdk":   {[]string{"runtime/mcp", "runtime/mcp/door"}, "one protocol, for tools of other servers and for clients of ours, and its types stop there"},
	"github.com/go-json-experiment/json":       {[]string{"runtime/mcp/door", "runtime/serve"}, "what clients send is read strictly: exact names, none twice and none unknown, in valid Unicode; encoding/json does none of these"},
	"github.com/santhosh-tekuri/jsonschema/v5": {[]string{"verbs"}, "object arguments are checked where all arguments are"},
	"github.com/google/uuid":                   {[]string{"runtime", "cmd/verbatim"}, "new ids are random UUIDs, for the engine and for letters of the command"},
	"github.com/shopspring/decimal":            {[]string{"stores"}, "stores.Value is the one decimal of the house"},
	"zombiezen.com/go/sqlite":                  {[]string{"stores/sqlite"}, "nothing of a library's own types leaves a backend"},
	"modernc.org/sqlite":                       {[]string{"stores/sqlite"}, "SQLite itself, in Go, for the one setting that the library around it does not reach"},
	"github.com/jackc/pgx/v5":                  {[]string{"stores/postgres", "stores/postgres/pgtest"}, "nothing of a driver's own types leaves a backend, but the pool that a caller may hand in"},
	"github.com/riverqueue/river":              {[]string{"stores/postgres"}, "jobs on PostgreSQL are rows of River's; another queue would touch one file"},
	"modernc.org/libc":                         {[]string{"stores/sqlite"}, "it belongs to SQLite in Go, which pins it"},
	"github.com/xuri/excelize/v2":              {[]string{"runtime/sheet"}, "workbooks are written by it, and read without it, in a process of their own"},
	"github.com/spf13/cobra":                   {[]string{"cmd/verbatim"}, "flags are a matter of the command"},
	"github.com/spf13/pflag":                   {[]string{"cmd/verbatim"}, "flags are a matter of the command"},
	"github.com/gabriel-vasile/mimetype":       {[]string{"runtime/upload", "runtime/documents"}, "the type of a file is told once, as it comes in, and once more before it is read"},
	"github.com/aws/aws-sdk-go-v2":             {[]string{"stores/files"}, "requests to a bucket are signed in one place"},
	"github.com/sourcegraph/jsonrpc2":          {[]string{"runtime/lsp"}, "messages of editors are framed and answered in one place; the libraries with the shapes of the protocol are of version 3.15, or cannot be had"},
	"github.com/sashabaranov/go-openai":        {[]string{"runtime/llm"}, "models are asked in one place, and its types stop there"},
	"golang.org/x/tools":                       {[]string{"dsl"}, "what codes mean stands in txtar archives, and one function reads them"},
	"golang.org/x/text":                        {[]string{"runtime/channel/contact", "runtime/words", "runtime/documents", "runtime/guard", "runtime/channel/mail", "stores/search"}, "letters are taken apart from their accents where words are read, searched and guarded; files come in many encodings"},
	"github.com/mozillazg/go-unidecode":        {[]string{"stores/search"}, "names of all alphabets are compared in Latin letters"},
	"github.com/blevesearch/snowballstem":      {[]string{"stores/search"}, "words are searched without their endings"},
	"golang.org/x/image":                       {[]string{"runtime/channel/mail"}, "the names of colours are known there: white on white is not read"},
	"golang.org/x/net":                         {[]string{"runtime/channel/contact", "runtime/documents", "runtime/channel/mail"}, "pages of HTML are read where all files are, and where mails are; there domains are folded too"},
	"github.com/pdfcpu/pdfcpu":                 {[]string{"runtime/documents"}, "the objects of a PDF are found, repaired and decrypted; what they say is read there"},
	"github.com/emersion/go-message":           {[]string{"runtime/documents", "runtime/channel/mail"}, "mails are taken apart where all files are, and where they come in"},
	"github.com/emersion/go-smtp":              {[]string{"runtime/channel/mail"}, "mail comes in and goes out in one place"},
	"github.com/emersion/go-sasl":              {[]string{"runtime/channel/mail"}, "it belongs to sending mail"},
	"github.com/emersion/go-msgauth":           {[]string{"runtime/channel/mail"}, "signatures of mails are verified where mails come in"},
	"blitiri.com.ar/go/spf":                    {[]string{"runtime/channel/mail"}, "which servers may send for a domain is asked where mails come in"},
	"github.com/coreos/go-oidc/v3":             {[]string{"runtime/serve"}, "who another system names is asked at the door"},
	"golang.org/x/mod":                         {[]string{"verbs/pack"}, "versions are compared, and folders are hashed, as Go does with modules"},
	"golang.org/x/oauth2":                      {[]string{"runtime/serve"}, "it belongs to signing in with another system"},
	"golang.org/x/sync":                        {[]string{"runtime/serve"}, "whoever shows the same login at once is looked up once"},
	"golang.org/x/time":                        {[]string{"runtime/serve"}, "load is shed at the door"},
	"go.opentelemetry.io/otel":                 {[]string{"runtime/serve"}, "spans are told in one place"},
	"github.com/prometheus/client_golang":      {[]string{"runtime/serve"}, "what is counted is shown in one place"},
	"github.com/coder/websocket":               {[]string{"runtime/trustgraph"}, "one protocol is spoken over sockets"},
	"github.com/rabbitmq/amqp091-go":           {[]string{"runtime/trustgraph/rabbit"}, "one broker is spoken to, in one place"},
	"github.com/mattn/go-isatty":               {[]string{"cmd/verbatim"}, "only the command talks to a terminal"},
}

// testLibraries never reach a program that is built.
var testLibraries = []string{"github.com/chromedp/cdproto", "github.com/chromedp/chromedp", "github.com/johannesboyne/gofakes3", "github.com/rogpeppe/go-internal", "pgregory.net/rapid"}

// standard says where parts of the standard library stay out of: the
// environment, files and the network arrive as arguments.
var standard = map[string]struct {
	in  []string
	why string
}{
	"os":           {[]string{"runtime/norace", "cmd/verbatim", "cmd/teeth", "examples/embed", "stores/sqlite", "stores/files", "stores/postgres/pgtest", "runtime/serve/browsertest", "runtime/documents", "runtime/trustgraph/rabbit/rabbittest", "runtime/confidence/modeltest"}, "files and the environment arrive as arguments; only commands, a store that is a file, the one that keeps files, and a server for tests touch them; a child that reads a file has a mark in its environment"},
	"os/exec":      {[]string{"runtime/norace", "cmd/teeth", "stores/postgres/pgtest", "runtime/serve/browsertest", "runtime/mcp", "runtime/documents", "runtime/trustgraph/rabbit/rabbittest"}, "nothing here starts other programs, but for the tests that a fault is tried on, the server that they run on, and the servers of tools that an operator names; this program starts itself to read a file"},
	"net":          {[]string{"runtime/channel/mail", "runtime/dial", "runtime/notify", "runtime/upload", "runtime/serve", "stores/files", "cmd/verbatim", "runtime/trustgraph/rabbit/rabbittest", "stores/postgres/pgtest"}, "connections are opened where the address that is dialled is looked at; a notice on its way out opens one, and so do a bucket, a scanner, and tests that wait for a pooler"},
	"net/http":     {[]string{"runtime/a2a", "runtime/dial", "runtime/llm", "runtime/mcp", "runtime/mcp/door", "runtime/notify", "runtime/channel/mail", "runtime/channel/signed", "runtime/channel/whatsapp", "runtime/channel/whatsapp/cloudtest", "runtime/serve", "stores/files", "runtime/trustgraph", "runtime/confidence/modeltest"}, "the doors to the network are rooms of their own; a model is behind one, tools of other servers behind another, agents of others among them; whoever is sent a webhook is behind another, a bucket of files behind another, and a channel that people write in behind another"},
	"net/smtp":     {[]string{"runtime/notify"}, "mail is a channel for notices, and nothing else sends any"},
	"database/sql": {nil, "a store steps its own statements: what it reads is in its values at once"},
	"log":          {nil, "libraries return errors, the command prints them"},
	"math/rand":    {nil, "randomness arrives as an argument"},
	"math/rand/v2": {[]string{"stores/sqlite", "verbs/grammar", "cmd/verbatim", "runtime/trustgraph/rabbit"}, "randomness arrives as an argument; a store may wait a random moment before it tries again, and a grammar is given a source to say something at random from; the command hands it in"},
	"plugin":       {nil, "nothing registers itself by being loaded"},
	"testing":      {[]string{"runtime/norace", "stores/storetest", "stores/postgres/pgtest", "runtime/serve/browsertest", "runtime/trustgraph/rabbit/rabbittest"}, "only what tests call needs it outside a test file"},
	"C":            {nil, "the program builds without a C compiler"},
}

const root = "../.."

// The drawing above is complete: every arrow that does not exist is forbidden
// for a reason.
func TestPlanGivesAReasonForEveryForbiddenArrow(t *testing.T) {
	t.Parallel()
	for _, from := range rooms {
		for _, to := range rooms {
			if from == to {
				continue
			}
			reason := ""
			for _, a := range forbidden {
				if a.forbids(from, to) {
					reason = a.why
				}
			}
			switch may := slices.Contains(allowed[from], to); {
			case may && reason != "":
				t.Errorf("%s -> %s is both allowed and forbidden", from, to)
			case !may && reason == "":
				t.Errorf("%s -> %s is neither allowed nor forbidden with a reason", from, to)
			}
		}
	}
}

// Every import of every file follows the plan.
func TestImportsFollowThePlan(t *testing.T) {
	t.Parallel()
	operandFiles := map[string]bool{}
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if d.IsDir() {
			base := d.Name()
			// cmd/peers is another module, and so is the bank of an example; what they import reaches nobody.
			if name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin" || rel == "cmd/peers" || rel == "examples/kyc/bank" || rel == "examples/kiisha/world" || rel == "examples/confidence/play" || rel == "runtime/trustgraph/pulsar") {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		from := path.Dir(rel)
		if !slices.Contains(rooms, from) {
			t.Errorf("%s stands in a package that the plan does not know", rel)
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		test := strings.HasSuffix(name, "_test.go")
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if from == "verbs" && !test && within(to, "github.com/alecthomas/participle/v2") {
				operandFiles[rel] = true
			}
			if complaint := judge(from, to, test); complaint != "" {
				t.Errorf("%s imports %s: %s", rel, to, complaint)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(operandFiles) > 1 {
		t.Errorf("%d files of verbs import participle; the operand grammar is one file", len(operandFiles))
	}
}

// The test above would be worth nothing if it could not fail.
func TestPlanJudgesArrows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"verbs", "verbatim/dsl", false, true},
		{"dsl", "verbatim/verbs", false, false},
		{"dsl", "verbatim/verbs", true, false},
		{"runtime", "verbatim/stores/sqlite", false, false},
		{"runtime", "verbatim/stores/sqlite", true, true},
		{"runtime", "gopkg.in/yaml.v3", false, false},
		{"dsl", "pgregory.net/rapid", true, true},
		{"dsl", "pgregory.net/rapid", false, false},
		{"dsl", "github.com/someone/something", false, false},
		{"dsl", "github.com/someone/something", true, false},
		{"stores/sqlite", "zombiezen.com/go/sqlite/sqlitex", false, true},
		{"verbs", "os", false, false},
		{"verbs", "os", true, true},
		{"dsl", "C", true, false},
		{"dsl", "strings", false, true},
		{"dsl", "verbatim/unheard-of", false, false},
	} {
		if got := judge(c.from, c.to, c.test); (got == "") != c.ok {
			t.Errorf("%s -> %s (test %v): %q", c.from, c.to, c.test, got)
		}
	}
}

// The top level holds the rooms and nothing else, so that a newcomer sees all
// of it at a glance.
func TestTopLevelHoldsTheRoomsOnly(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	known := strings.Fields("verbs dsl runtime stores cmd examples go.mod go.sum Makefile README.md")
	built := strings.Fields("bin coverage.out coverage.html") // named in .gitignore
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(known, e.Name()) && !slices.Contains(built, e.Name()) {
			t.Errorf("%s does not belong at the top level", e.Name())
		}
	}
}

// judge says what is wrong with an import, or nothing.
func judge(from, to string, test bool) string {
	if to == "C" {
		return standard["C"].why
	}
	if ours, ok := strings.CutPrefix(to, "verbatim/"); ok {
		if ours == from || slices.Contains(allowed[from], ours) {
			return ""
		}
		if _, ok := exceptions[[2]string{from, ours}]; ok && test {
			return ""
		}
		for _, a := range forbidden {
			if a.forbids(from, ours) {
				return a.why
			}
		}
		return "the plan does not know this package"
	}
	if first, _, _ := strings.Cut(to, "/"); !strings.Contains(first, ".") {
		if rule, ok := standard[to]; ok && !test && !slices.Contains(rule.in, from) {
			return rule.why
		}
		return ""
	}
	for _, lib := range testLibraries {
		if within(to, lib) {
			if test || from == "stores/storetest" || from == "runtime/serve/browsertest" {
				return ""
			}
			return "a library for tests only"
		}
	}
	for lib, rule := range libraries {
		if within(to, lib) {
			_, excepted := exceptions[[2]string{from, lib}]
			if slices.Contains(rule.in, from) || test && excepted {
				return ""
			}
			return "met in " + strings.Join(rule.in, " and ") + " only: " + rule.why
		}
	}
	return "a library that the plan does not name; add it with its reason, or do without"
}

func within(importPath, module string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}
