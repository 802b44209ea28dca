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
var rooms = []string{"dsl", "stores", "stores/storetest", "stores/sqlcore", "stores/sqlite", "stores/postgres", "stores/postgres/pgtest", "stores/postgres/internal/ajar", "stores/receipt", "stores/journal", "stores/files", "stores/search", "verbs", "verbs/expr", "verbs/drift", "verbs/grammar", "verbs/pack", "verbs/verbstest", "runtime", "runtime/state/names", "runtime/protocols/tools", "runtime/internal/view", "runtime/internal/digest", "runtime/state/confirmations", "runtime/internal/provenance", "runtime/state/uploads", "runtime/state/sessions", "runtime/protocols/dial", "runtime/jobs/notify", "runtime/frontends/channel", "runtime/frontends/channel/internal/proven", "runtime/state/contact", "runtime/frontends/channel/mail", "runtime/frontends/channel/signed", "runtime/frontends/channel/whatsapp", "runtime/frontends/channel/whatsapp/cloudtest", "runtime/jobs/worker", "runtime/conversation/llm", "runtime/conversation/dialog", "runtime/protocols/mcp", "runtime/frontends/mcp", "runtime/domains/rights", "runtime/files/intake", "runtime/conversation/values", "runtime/conversation/intent", "runtime/conversation/forms", "runtime/domains/client", "runtime/frontends/wire", "runtime/protocols/a2a", "runtime/frontends/http", "runtime/frontends/http/logins", "runtime/frontends/http/peers", "runtime/frontends/http/pages", "runtime/frontends/http/browsertest", "runtime/tests/torture", "runtime/files/documents", "runtime/domains/kyc/guard", "runtime/files/services", "runtime/internal/sheet", "runtime/domains/manda", "runtime/domains/kyc", "runtime/domains/kiisha", "runtime/jobs/serviceaccount", "runtime/jobs/workflow", "runtime/conversation/replay", "runtime/domains/confidence", "runtime/domains/confidence/score", "runtime/domains/confidence/react", "runtime/domains/confidence/modeltest", "runtime/protocols/trustgraph", "runtime/protocols/trustgraph/rabbit", "runtime/protocols/trustgraph/rabbit/rabbittest", "runtime/conversation/eval", "runtime/frontends/lsp", "runtime/tests/norace", "cmd/verbatim", "cmd/teeth", "examples/embed"}

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

	"runtime/jobs/serviceaccount":                    {"dsl", "verbs", "stores", "stores/receipt", "runtime"},
	"runtime/jobs/workflow":                          {"dsl", "verbs", "stores", "stores/receipt", "runtime", "runtime/jobs/serviceaccount", "runtime/state/confirmations"},
	"runtime/conversation/replay":                    {"dsl", "verbs", "stores", "stores/journal", "stores/receipt", "runtime"},
	"runtime/domains/confidence":                     {"dsl", "verbs", "verbs/grammar", "stores", "stores/journal", "stores/receipt", "runtime", "runtime/jobs/serviceaccount", "runtime/domains/confidence/score", "runtime/conversation/dialog", "runtime/internal/digest", "runtime/conversation/llm", "runtime/jobs/workflow", "runtime/files/services", "runtime/protocols/trustgraph", "runtime/conversation/values"},
	"runtime/domains/confidence/score":               nil,
	"runtime/domains/confidence/react":               {"dsl", "verbs", "verbs/grammar", "stores", "stores/receipt", "runtime", "runtime/conversation/llm"},
	"runtime/domains/confidence/modeltest":           {"runtime/conversation/llm"},
	"runtime/protocols/trustgraph":                   nil,
	"runtime/protocols/trustgraph/rabbit":            {"runtime/protocols/trustgraph"},
	"runtime/protocols/trustgraph/rabbit/rabbittest": nil,
	"runtime/protocols/dial":                         nil,
	"runtime/state/contact":                          nil,
	"runtime/frontends/channel/internal/proven":      nil,
	"runtime/frontends/channel":                      {"dsl", "verbs", "stores", "stores/receipt", "runtime", "runtime/jobs/serviceaccount", "runtime/frontends/channel/internal/proven", "runtime/state/confirmations", "runtime/internal/digest", "runtime/conversation/dialog", "runtime/jobs/notify", "runtime/state/sessions", "runtime/domains/rights", "runtime/files/intake", "runtime/state/uploads", "runtime/conversation/values"},
	"runtime/frontends/channel/signed":               {"runtime/frontends/channel", "runtime/frontends/channel/internal/proven", "runtime/jobs/notify"},
	"runtime/frontends/channel/whatsapp":             {"runtime/frontends/channel", "runtime/frontends/channel/internal/proven", "runtime/state/contact", "runtime/protocols/dial"},
	"runtime/frontends/channel/whatsapp/cloudtest":   nil,

	"stores/receipt":                 {"stores"},
	"stores/journal":                 {"stores", "stores/receipt"},
	"stores/files":                   nil,
	"verbs":                          {"dsl", "stores", "verbs/expr"},
	"verbs/expr":                     {"stores"},
	"verbs/drift":                    {"dsl", "stores", "verbs"},
	"verbs/grammar":                  {"dsl", "stores", "verbs"},
	"verbs/pack":                     nil,
	"verbs/verbstest":                nil,
	"runtime":                        {"dsl", "verbs", "stores", "stores/search", "stores/receipt", "stores/journal", "runtime/state/names", "runtime/protocols/tools", "runtime/internal/view", "runtime/internal/digest", "runtime/state/confirmations", "runtime/internal/provenance", "runtime/state/uploads", "runtime/state/sessions", "runtime/internal/sheet"},
	"runtime/internal/sheet":         {"stores"},
	"runtime/state/names":            {"dsl", "stores"},
	"runtime/protocols/tools":        {"dsl", "stores", "verbs"},
	"runtime/internal/view":          {"stores", "stores/search"},
	"runtime/internal/digest":        {"stores"},
	"runtime/state/confirmations":    {"stores", "stores/receipt", "runtime/internal/digest"},
	"runtime/internal/provenance":    {"stores", "verbs"},
	"runtime/state/uploads":          {"stores", "stores/receipt", "verbs"},
	"runtime/state/sessions":         {"dsl", "stores", "verbs", "runtime/internal/digest"},
	"runtime/jobs/notify":            {"runtime", "runtime/protocols/dial"},
	"runtime/frontends/channel/mail": {"runtime/frontends/channel", "runtime/state/contact", "runtime/frontends/channel/internal/proven", "runtime/conversation/values"},
	"runtime/jobs/worker":            {"stores", "runtime", "runtime/jobs/notify"},
	"runtime/conversation/llm":       nil,
	"runtime/conversation/dialog":    {"dsl", "stores", "stores/receipt", "verbs", "verbs/grammar", "runtime", "runtime/state/names", "runtime/conversation/llm", "runtime/conversation/values", "runtime/state/uploads", "runtime/state/sessions"},
	"runtime/protocols/mcp":          {"runtime/protocols/tools", "runtime/protocols/a2a", "runtime/protocols/dial"},
	"runtime/frontends/mcp":          {"dsl", "verbs", "verbs/grammar", "stores", "stores/receipt", "runtime", "runtime/conversation/dialog", "runtime/protocols/mcp", "runtime/frontends/wire", "runtime/conversation/values"},
	"runtime/frontends/http/pages":   {"runtime/conversation/values"},
	"runtime/domains/rights":         {"dsl", "verbs", "stores", "runtime", "runtime/state/contact"},
	"runtime/files/intake":           {"verbs", "stores/files", "runtime", "runtime/state/uploads"},
	"runtime/conversation/values":    {"stores"},
	"runtime/conversation/intent":    {"dsl", "stores", "verbs", "runtime/conversation/values", "runtime/conversation/forms"},
	"runtime/conversation/forms":     {"dsl", "stores", "verbs", "runtime/conversation/values"},
	"runtime/domains/client":         {"stores", "verbs", "runtime", "runtime/state/sessions", "runtime/conversation/values", "runtime/conversation/forms"},
	"runtime/frontends/wire":         {"dsl", "stores", "stores/journal", "stores/receipt", "runtime", "runtime/conversation/dialog", "runtime/state/sessions", "runtime/state/uploads"},
	"runtime/protocols/a2a":          nil,
	"runtime/frontends/http/logins":  {"stores", "runtime/internal/digest", "runtime/state/sessions"},
	"runtime/frontends/http/peers":   {"stores", "runtime/internal/digest"},
	"runtime/frontends/http":         {"dsl", "verbs", "verbs/grammar", "stores", "stores/journal", "stores/receipt", "runtime", "runtime/protocols/a2a", "runtime/state/confirmations", "runtime/internal/digest", "runtime/conversation/dialog", "runtime/files/intake", "runtime/state/uploads", "runtime/state/sessions", "runtime/conversation/forms", "runtime/conversation/values", "runtime/frontends/wire", "runtime/frontends/mcp", "runtime/frontends/http/logins", "runtime/frontends/http/peers", "runtime/frontends/http/pages"},
	"runtime/tests/torture":          nil,
	"runtime/tests/norace":           nil,
	"runtime/files/documents":        nil,
	"runtime/domains/kyc/guard":      nil,
	"runtime/frontends/lsp":          {"dsl", "verbs"},
	"runtime/conversation/eval":      {"stores/receipt", "runtime/conversation/llm", "runtime/conversation/dialog"},
	"runtime/domains/manda":          {"dsl", "runtime", "runtime/files/documents", "runtime/files/services", "runtime/state/sessions", "runtime/protocols/tools", "runtime/conversation/values", "stores", "verbs"},
	"runtime/domains/kyc":            {"runtime", "runtime/domains/kyc/guard", "stores", "stores/search"},
	"runtime/domains/kiisha":         {"runtime", "runtime/files/documents", "runtime/files/services", "runtime/protocols/tools", "stores", "stores/files"},
	"runtime/files/services":         {"runtime/files/documents", "runtime/internal/sheet", "runtime/protocols/tools", "stores", "stores/files"},
	"cmd/verbatim":                   {"dsl", "runtime/state/contact", "runtime/frontends/channel", "runtime/frontends/channel/mail", "runtime/frontends/channel/signed", "verbs", "verbs/drift", "verbs/grammar", "verbs/pack", "stores", "stores/sqlite", "stores/postgres", "stores/receipt", "stores/journal", "stores/files", "stores/search", "runtime", "runtime/state/names", "runtime/protocols/tools", "runtime/state/confirmations", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/conversation/llm", "runtime/conversation/dialog", "runtime/protocols/mcp", "runtime/frontends/mcp", "runtime/domains/rights", "runtime/frontends/channel/whatsapp", "runtime/domains/client", "runtime/conversation/values", "runtime/conversation/intent", "runtime/files/intake", "runtime/state/uploads", "runtime/state/sessions", "runtime/frontends/wire", "runtime/frontends/http", "runtime/frontends/http/logins", "runtime/frontends/http/peers", "runtime/files/documents", "runtime/files/services", "runtime/domains/manda", "runtime/domains/kyc", "runtime/domains/kiisha", "runtime/jobs/serviceaccount", "runtime/jobs/workflow", "runtime/conversation/replay", "runtime/domains/confidence", "runtime/domains/confidence/react", "runtime/protocols/trustgraph", "runtime/protocols/trustgraph/rabbit", "runtime/conversation/eval", "runtime/frontends/lsp"},
	"cmd/teeth":                      nil,
	"examples/embed":                 {"dsl", "verbs", "stores/receipt", "stores/sqlite", "runtime"},
}

// allBut lists every room but some.
func allBut(some ...string) []string {
	return slices.DeleteFunc(slices.Clone(rooms), func(room string) bool { return slices.Contains(some, room) })
}

// groups are rooms that stand for one another in a reason.
var groups = map[string][]string{
	"below the engine":                           {"dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/receipt", "stores/journal", "verbs", "verbs/grammar"},
	"the engine and below":                       {"dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/receipt", "stores/journal", "verbs", "verbs/grammar", "runtime"},
	"who holds no conversation":                  allBut("runtime/frontends/channel", "runtime/conversation/dialog", "runtime/frontends/wire", "runtime/frontends/mcp", "runtime/frontends/http", "runtime/conversation/eval", "cmd/verbatim", "runtime/domains/confidence"),
	"who does not say what rows are called":      allBut("runtime", "runtime/state/names", "runtime/conversation/dialog", "cmd/verbatim"),
	"who has nothing to ask of a tool":           allBut("runtime", "runtime/protocols/tools", "runtime/protocols/mcp", "runtime/files/services", "runtime/domains/manda", "runtime/domains/kiisha", "cmd/verbatim"),
	"whom a lock is taken from":                  allBut("stores/postgres", "stores/postgres/pgtest", "stores/postgres/internal/ajar"),
	"parts of the engine":                        {"runtime/state/names", "runtime/protocols/tools", "runtime/internal/view", "runtime/internal/digest", "runtime/state/confirmations", "runtime/internal/provenance", "runtime/state/uploads", "runtime/state/sessions"},
	"who is not the engine":                      allBut("runtime/frontends/channel", "runtime", "runtime/internal/view", "runtime/internal/digest", "runtime/state/confirmations", "runtime/internal/provenance", "runtime/state/sessions", "runtime/frontends/http", "runtime/frontends/http/logins", "runtime/frontends/http/peers", "runtime/domains/confidence"),
	"who holds no session":                       allBut("runtime/frontends/channel", "runtime", "runtime/state/sessions", "runtime/domains/client", "runtime/domains/manda", "runtime/conversation/dialog", "runtime/frontends/wire", "runtime/frontends/http", "runtime/frontends/http/logins", "cmd/verbatim"),
	"who has no files to show":                   allBut("runtime/frontends/channel", "runtime", "runtime/state/uploads", "runtime/files/intake", "runtime/conversation/dialog", "runtime/frontends/wire", "runtime/frontends/http", "cmd/verbatim"),
	"who does not say what became of a question": allBut("runtime/frontends/channel", "runtime", "runtime/state/confirmations", "runtime/frontends/http", "cmd/verbatim", "runtime/jobs/workflow"),
	"who speaks to no agents of others":          allBut("runtime/protocols/a2a", "runtime/frontends/http", "runtime/protocols/mcp"),
	"who shows no pages":                         allBut("runtime/frontends/http/pages", "runtime/frontends/http"),
	"who edits nothing":                          allBut("runtime/frontends/lsp", "cmd/verbatim"),
	"who serves nothing":                         allBut("runtime/frontends/http", "cmd/verbatim"),
	"who tells programs nothing":                 allBut("runtime/frontends/http", "runtime/frontends/mcp", "cmd/verbatim"),
	"who lets no clients of models in":           allBut("runtime/frontends/mcp", "runtime/frontends/http", "cmd/verbatim"),
	"who makes no files":                         allBut("runtime", "runtime/files/services", "runtime/internal/sheet"),
	"who reads no files":                         allBut("runtime/files/documents", "runtime/files/services", "runtime/domains/manda", "runtime/domains/kiisha", "cmd/verbatim"),
	"who brings no services":                     allBut("runtime/files/services", "runtime/domains/manda", "runtime/domains/kiisha", "cmd/verbatim", "runtime/domains/confidence"),
	"who speaks no SQL":                          allBut("stores/sqlcore", "stores/sqlite", "stores/postgres"),
	"who searches nothing":                       allBut("stores", "stores/search", "stores/storetest", "stores/sqlite", "stores/postgres", "runtime", "runtime/internal/view", "runtime/domains/kyc", "cmd/verbatim"),
	"who goes nowhere that others name":          allBut("runtime/protocols/dial", "runtime/jobs/notify", "runtime/frontends/channel/whatsapp", "runtime/protocols/mcp"),
	"who is no channel":                          allBut("runtime/frontends/channel", "runtime/frontends/channel/internal/proven", "runtime/frontends/channel/mail", "runtime/frontends/channel/signed", "runtime/frontends/channel/whatsapp", "cmd/verbatim"),
	"who spells no addresses":                    allBut("runtime/state/contact", "runtime/frontends/channel/whatsapp", "runtime/frontends/channel/mail", "runtime/domains/rights", "cmd/verbatim"),
	"who asks no model":                          allBut("runtime/frontends/mcp", "runtime/frontends/channel", "runtime/conversation/dialog", "runtime/frontends/wire", "runtime/frontends/http", "runtime/conversation/eval", "runtime/domains/confidence", "runtime/domains/confidence/react", "runtime/domains/confidence/modeltest", "cmd/verbatim"),
	"who writes in nobody's name":                allBut("runtime/jobs/serviceaccount", "runtime/frontends/channel", "runtime/jobs/workflow", "runtime/domains/confidence", "cmd/verbatim"),
	"who scores nothing":                         allBut("runtime/domains/confidence", "runtime/domains/confidence/score"),
	"who makes no plans":                         allBut("runtime/jobs/workflow", "runtime/domains/confidence", "cmd/verbatim"),
	"who answers no questions":                   allBut("runtime/domains/confidence", "runtime/domains/confidence/react", "cmd/verbatim"),
	"who speaks to no TrustGraph":                allBut("runtime/domains/confidence", "runtime/protocols/trustgraph", "runtime/protocols/trustgraph/rabbit", "cmd/verbatim"),
	"who guards no texts":                        allBut("runtime/domains/kyc/guard", "runtime/domains/kyc"),
	"who compares no palettes":                   allBut("verbs/drift", "cmd/verbatim"),
	"who hands no palettes over":                 allBut("verbs/pack", "cmd/verbatim"),
	"who loads no palettes":                      allBut("verbs"),
	"beside the engine":                          {"runtime/jobs/notify", "runtime/jobs/worker", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/domains/rights"},
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
	{"who does not say what rows are called", []string{"runtime/state/names"}, "names are given to rows by the engine, and told by who tells of rows"},
	{"who has nothing to ask of a tool", []string{"runtime/protocols/tools"}, "tools of other servers are asked by the engine, through whoever speaks their protocol"},
	{"runtime/protocols/tools", allBut("dsl", "stores", "verbs", "runtime/protocols/tools"), "it holds what a tool says of itself against a verb, and asks nothing of it"},
	{"who compares no palettes", []string{"verbs/drift"}, "one version of the palettes is loaded; two are compared by the linter alone"},
	{"libraries", []string{"runtime/conversation/replay"}, "what a session did is done again from outside, by the command alone"},
	{"who hands no palettes over", []string{"verbs/pack"}, "palettes are loaded from files, wherever those were put; what a pack is, the command knows"},
	{"verbs/pack", allBut("verbs/pack"), "a pack is files and what they say of themselves; what the files mean, others know"},
	{"verbs/drift", allBut("dsl", "stores", "verbs", "verbs/drift"), "it reads two sets of palettes, and nothing of what they are used for"},
	{"parts of the engine", []string{"runtime"}, "each is a room with its own types and tests, which the engine is made of"},
	{"who is not the engine", []string{"runtime/internal/view", "runtime/internal/digest", "runtime/internal/provenance"}, "how a store is asked, what a plan is known by, and where values come from, is the engine's own affair"},
	{"who does not say what became of a question", []string{"runtime/state/confirmations"}, "who may agree, and to what, the engine decides"},
	{"runtime/internal/view", allBut("stores", "stores/search", "runtime/internal/view"), "it knows rows and changes, and nothing of what they are for"},
	{"who has no files to show", []string{"runtime/state/uploads"}, "what is known of files is the engine's, and of those who take and show them"},
	{"runtime/internal/provenance", allBut("stores", "verbs", "runtime/internal/provenance"), "it knows rows and who reads them, and nothing of what is done with them"},
	{"runtime/state/uploads", allBut("stores", "stores/receipt", "verbs", "runtime/state/uploads"), "it keeps what is known of files; who may use one the engine decides"},
	{"who holds no session", []string{"runtime/state/sessions"}, "what is said and asked in a session is the engine's, and of those who speak in one"},
	{"runtime/state/sessions", allBut("dsl", "stores", "verbs", "runtime/internal/digest", "runtime/state/sessions"), "it keeps what was set, said and asked; who may read it, and what rows are called, the engine decides"},
	{"runtime/internal/digest", allBut("stores", "runtime/internal/digest"), "it hashes texts and values, whatever they mean"},
	{"runtime/state/confirmations", allBut("stores", "stores/receipt", "runtime/internal/digest", "runtime/state/confirmations"), "it keeps scripts as texts: who reads them is the engine"},
	{"runtime/protocols/mcp", []string{"runtime"}, "it answers the engine, and need not know it"},
	{"runtime/state/names", allBut("dsl", "stores", "runtime/state/names"), "it knows what rows are called, and nothing of who asks or why"},
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
	{"runtime/files/intake", []string{"stores/receipt"}, "a file is sent before a call names it"},
	{"runtime/conversation/values", []string{"stores/receipt"}, "what people say is read the same whatever comes of it"},
	{"runtime/conversation/intent", []string{"stores/receipt"}, "what people say is read the same whatever comes of it"},
	{"runtime/conversation/forms", []string{"stores/receipt"}, "what people say is read the same whatever comes of it"},
	{"runtime/domains/client", []string{"stores/receipt"}, "a handler says what it wants done; the engine tells what was"},
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
	{"the engine and below", []string{"runtime/files/intake"}, "the engine knows rows of uploads; who takes bytes and has them looked at stands above it"},
	{"runtime/conversation/intent", []string{"runtime/files/intake"}, "what people say is read the same whatever they have sent"},
	{"runtime/conversation/forms", []string{"runtime/files/intake"}, "a file is sent before an answer names it"},
	{"runtime/domains/client", []string{"runtime/files/intake"}, "a file is sent before a call names it"},
	{"beside the engine", []string{"runtime/files/intake"}, "files come in by one door, which the command opens"},
	{"runtime/files/intake", []string{"runtime/conversation/values", "runtime/conversation/intent", "runtime/conversation/forms", "runtime/domains/client", "dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "verbs/grammar", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/domains/rights"}, "it takes files in the words of the engine, on any store"},
	{"stores/files", rooms, "bytes are kept by what they are, whoever they belong to and whatever rows say of them"},
	{"the engine and below", []string{"stores/files"}, "what is known of a file is rows; who reads and keeps its bytes stands above"},
	{"beside the engine", []string{"stores/files"}, "what is known of a file is rows; who reads and keeps its bytes is a room of its own"},
	{"stores/postgres/pgtest", allBut("stores/postgres/internal/ajar"), "it hands out empty databases, whoever fills them"},
	{"stores/storetest", []string{"dsl", "verbs", "runtime"}, "the suite defines what a store promises, in the words of stores only"},
	{"stores/storetest", []string{"stores/sqlite", "stores/postgres"}, "one suite for every backend: each backend's tests call it, never the other way round"},
	{"verbs", []string{"runtime"}, "what may be said does not depend on how it is done; the engine hands verbs functions, not itself"},
	{"verbs", []string{"stores/sqlite", "stores/postgres", "stores/storetest"}, "a palette means the same on every backend"},
	{"runtime", []string{"stores/sqlite", "stores/postgres", "stores/storetest"}, "the engine runs on any store; cmd picks one"},
	{"below the engine", []string{"runtime/jobs/notify", "runtime/jobs/worker"}, "what may be said, and what is kept, does not depend on when it is done"},
	{"runtime/conversation/llm", []string{"runtime/jobs/notify", "runtime/jobs/worker"}, "it talks to strangers, and has no part in what happens later"},
	{"runtime/protocols/mcp", []string{"runtime/jobs/notify", "runtime/jobs/worker"}, "it talks to strangers, and has no part in what happens later"},
	{"runtime", []string{"runtime/jobs/notify", "runtime/jobs/worker"}, "the engine does one job when it is handed one; when that is, and how a notice travels, is decided above it"},
	{"runtime/jobs/notify", []string{"dsl", "stores", "stores/storetest", "stores/sqlite", "stores/postgres", "verbs", "verbs/grammar", "verbs/verbstest", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/jobs/worker"}, "a channel is handed a message and looks at nothing else"},
	{"runtime/jobs/worker", []string{"dsl", "stores/storetest", "stores/sqlite", "stores/postgres", "verbs", "verbs/grammar", "verbs/verbstest", "runtime/conversation/llm", "runtime/protocols/mcp"}, "a worker takes jobs from any store, and the engine knows what they mean"},
	{"who asks no model", []string{"runtime/conversation/llm"}, "what a model says is text; only who holds a conversation asks it, and nothing below does"},
	{"runtime/conversation/llm", []string{"dsl", "verbs", "verbs/verbstest", "runtime", "stores", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it asks a stranger and hands over what was said; what that means is not its business"},
	{"the engine and below", []string{"runtime/domains/rights"}, "who may do what is said by verbs like any others: nobody but the command knows which those are"},
	{"beside the engine", []string{"runtime/domains/rights"}, "who may do what is said by verbs like any others: nobody but the command knows which those are"},
	{"the engine and below", []string{"runtime/protocols/mcp"}, "the engine asks through an interface of its own; only the command knows which protocol there is"},
	{"runtime/conversation/llm", []string{"runtime/protocols/mcp"}, "tools of others are asked by the engine, when everything was decided, and not by who talks to a model"},
	{"runtime/domains/rights", []string{"runtime/protocols/mcp", "runtime/jobs/notify", "runtime/jobs/worker", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it manages rights on any store, in the words of the engine"},
	{"runtime/conversation/values", []string{"runtime/files/intake", "dsl", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files", "verbs", "runtime", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/protocols/mcp", "runtime/domains/rights"}, "what a date is in words is the same whatever it is for: text goes in, values come out"},
	{"the engine and below", []string{"runtime/conversation/values"}, "the language holds exact values; words are turned into them before a call is made, and never by who checks or runs it"},
	{"beside the engine", []string{"runtime/conversation/values"}, "nobody speaks to it in words"},
	{"runtime/conversation/forms", []string{"runtime", "runtime/conversation/dialog", "runtime/domains/client", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/domains/rights", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files"}, "an object is asked for by its schema, whatever it is for: answers go in, questions come out"},
	{"libraries", []string{"runtime/domains/client", "runtime/domains/manda", "runtime/domains/kyc", "runtime/domains/kiisha"}, "a domain goes away with its palette, its folder and its line in the command"},
	{"runtime/domains/client", []string{"runtime/conversation/dialog", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/domains/rights", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files"}, "it says what YAML cannot say of a domain, in the words of the engine"},
	{"beside the engine", []string{"runtime/conversation/forms"}, "nobody is asked question by question there"},
	{"runtime/conversation/values", []string{"runtime/conversation/forms", "runtime/domains/client"}, "what a date is in words is the same whatever it is for"},
	{"runtime/conversation/dialog", []string{"runtime/conversation/forms"}, "a conversation leads to calls; what asks question by question stands behind one"},
	{"stores/files", []string{"runtime/conversation/forms"}, "bytes are kept, whatever asked for them"},
	{"cmd/verbatim", []string{"runtime/conversation/forms"}, "what asks question by question is a domain, which the command wires"},
	{"runtime/domains/client", []string{"dsl"}, "a handler hands the engine values, and the engine writes the call"},
	{"the engine and below", []string{"runtime/conversation/forms"}, "who asks question by question is a handler; the engine sees the call that comes of it"},
	{"runtime/conversation/forms", []string{"runtime/conversation/intent"}, "an answer to a question is no call"},
	{"runtime/domains/client", []string{"runtime/conversation/intent"}, "a handler is called when the call is written"},
	{"runtime/conversation/dialog", []string{"runtime/conversation/intent"}, "it asks through an interface of its own: who reads phrases, and from which palettes, the command says"},
	{"runtime/conversation/values", []string{"runtime/conversation/intent"}, "what a word means as a value does not depend on the verbs that there are"},
	{"runtime/conversation/intent", []string{"stores/storetest", "stores/sqlite", "stores/postgres", "stores/journal", "stores/files", "runtime", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/protocols/mcp", "runtime/domains/rights"}, "it writes calls and makes none: whose session it is for arrives as verbs and names"},
	{"the engine and below", []string{"runtime/conversation/intent"}, "a call is a call, whoever wrote it"},
	{"beside the engine", []string{"runtime/conversation/intent"}, "nobody speaks to it in words"},
	{"*", []string{"runtime/tests/torture"}, "it holds tests and nothing that could be called"},
	{"runtime/tests/torture", rooms, "outside its tests it is a page of documentation"},
	{"who brings no services", []string{"runtime/files/services"}, "the engine asks for what palettes name, and the command says what that is"},
	{"who reads no files", []string{"runtime/files/documents"}, "text comes out of a file in another process: who wants it says so to the engine, and the command wires it"},
	{"runtime/domains/manda", allBut("runtime/domains/manda", "dsl", "runtime", "runtime/files/documents", "runtime/files/services", "runtime/state/sessions", "runtime/protocols/tools", "runtime/conversation/values", "stores", "verbs"), "it says what YAML cannot say of a domain, in the words of the engine"},
	{"runtime/internal/sheet", allBut("runtime/internal/sheet", "stores"), "it makes a file of values, whoever they are for"},
	{"who makes no files", []string{"runtime/internal/sheet"}, "rows are written into a file by the engine, and read back by a service"},
	{"runtime/files/services", allBut("runtime/files/services", "runtime/files/documents", "runtime/internal/sheet", "runtime/protocols/tools", "stores", "stores/files"), "what palettes use as tools knows neither the engine nor who asks"},
	{"who speaks no SQL", []string{"stores/sqlcore"}, "what two dialects say alike is their affair"},
	{"stores/sqlcore", allBut("stores/sqlcore", "stores"), "it writes SQL for rows, whatever they are and whoever keeps them"},
	{"who searches nothing", []string{"stores/search"}, "what words and vectors an index keeps is the stores' affair, and the engine's who asks"},
	{"stores/search", allBut("stores/search"), "it makes numbers of texts, whatever rows they stand in"},
	{"runtime/protocols/dial", allBut("runtime/protocols/dial"), "it looks at the address that is dialled, whoever goes there"},
	{"who goes nowhere that others name", []string{"runtime/protocols/dial"}, "connections are opened in few rooms, and looked at in one"},
	{"runtime/frontends/channel", allBut(append(allowed["runtime/frontends/channel"], "runtime/frontends/channel")...), "it finds out who writes and goes on with their conversation; what they may do the engine decides, and no protocol is spoken here"},
	{"runtime/frontends/channel/internal/proven", allBut("runtime/frontends/channel/internal/proven"), "it holds what an adapter has proved"},
	{"runtime/frontends/channel/signed", allBut(append(allowed["runtime/frontends/channel/signed"], "runtime/frontends/channel/signed")...), "it proves which program wrote, and tells a door: what a message means is found out behind it"},
	{"who is no channel", []string{"runtime/frontends/channel", "runtime/frontends/channel/internal/proven", "runtime/frontends/channel/signed"}, "a message whose sender is proved is made by adapters alone, and a channel goes away with its folder and its line in the command"},
	{"cmd/verbatim", []string{"runtime/frontends/channel/internal/proven"}, "only an adapter says who a sender is"},
	{"runtime/state/contact", allBut("runtime/state/contact"), "it spells addresses and numbers, whoever has them"},
	{"who spells no addresses", []string{"runtime/state/contact"}, "an address is spelled where it comes in, and where people are known by it"},
	{"runtime/frontends/channel/whatsapp", allBut(append(allowed["runtime/frontends/channel/whatsapp"], "runtime/frontends/channel/whatsapp")...), "it proves who wrote, and tells a door: what a message means is found out behind it"},
	{"libraries", []string{"runtime/frontends/channel/whatsapp"}, "a channel goes away with its folder and its line in the command"},
	{"runtime/frontends/channel/whatsapp/cloudtest", allBut("runtime/frontends/channel/whatsapp/cloudtest"), "it plays the other side, and shares nothing with ours that could be wrong on both"},
	{"*", []string{"runtime/frontends/channel/whatsapp/cloudtest"}, "it plays WhatsApp for tests, which no program needs"},
	{"libraries", []string{"runtime/conversation/eval"}, "how good conversations are is asked from outside, by the command alone"},
	{"runtime/conversation/eval", allBut(append(allowed["runtime/conversation/eval"], "runtime/conversation/eval")...), "it counts what conversations came to, and holds none"},
	{"runtime/domains/kyc/guard", allBut("runtime/domains/kyc/guard"), "it reads texts, whoever wrote them and whatever they are for"},
	{"who guards no texts", []string{"runtime/domains/kyc/guard"}, "texts are guarded by who takes them from strangers, and tells strangers something"},
	{"runtime/domains/kiisha", allBut("runtime/domains/kiisha", "runtime", "runtime/files/documents", "runtime/files/services", "runtime/protocols/tools", "stores", "stores/files"), "it says what YAML cannot say of a domain, in the words of the engine"},
	{"runtime/domains/kyc", allBut("runtime/domains/kyc", "runtime", "runtime/domains/kyc/guard", "stores", "stores/search"), "it says what YAML cannot say of a domain, in the words of the engine"},
	{"runtime/frontends/channel/mail", allBut(append(allowed["runtime/frontends/channel/mail"], "runtime/frontends/channel/mail")...), "it proves who wrote, and tells a door: what a mail means is found out behind it"},
	{"libraries", []string{"runtime/frontends/channel/mail"}, "a channel goes away with its folder and its line in the command"},
	{"runtime/files/documents", allBut("runtime/files/documents"), "it reads what strangers wrote in a process that knows nothing of us"},
	{"runtime/protocols/mcp", []string{"dsl", "verbs", "verbs/grammar", "verbs/verbstest", "runtime/conversation/llm", "stores", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it carries questions to strangers and their answers back; what they mean is the engine's business"},
	{"*", []string{"cmd/verbatim"}, "a library is not built on a command"},
	{"who asks no model", []string{"verbs/grammar"}, "what a model is held to while it writes is printed for it, or handed to it, and asked of nobody else"},
	{"who holds no conversation", []string{"runtime/conversation/dialog"}, "nothing depends on how it is talked about: a script needs no conversation, and a conversation writes scripts"},
	{"runtime/conversation/dialog", []string{"runtime/files/intake", "runtime/jobs/notify", "runtime/jobs/worker", "runtime/protocols/mcp", "runtime/domains/rights", "stores/files", "stores/journal", "stores/storetest", "stores/sqlite", "stores/postgres"}, "it says what people say in calls, at the two doors that everybody uses, and has no door of its own"},
	{"verbs/grammar", []string{"runtime", "runtime/conversation/llm", "runtime/tests/torture", "verbs/verbstest", "stores/storetest", "stores/sqlite", "stores/postgres", "stores/postgres/pgtest"}, "a grammar is text made of palettes; whose session it is for arrives as an argument"},
	{"*", []string{"verbs/verbstest"}, "it writes palettes to measure with, which no program needs"},
	{"verbs/verbstest", rooms, "it writes text, and is the same whatever reads it"},
	{"*", []string{"cmd/teeth"}, "a library is not built on a command"},
	{"*", []string{"examples/embed"}, "nothing is built on an example"},
	{"examples/embed", slices.DeleteFunc(slices.Clone(rooms), func(room string) bool { return slices.Contains(allowed["examples/embed"], room) }), "it shows the least that a program needs"},
	{"cmd/teeth", rooms, "it spoils text and runs tests; a fault in what it imported could hide a fault"},
	{"who loads no palettes", []string{"verbs/expr"}, "expressions stand in palettes, and what is made of them is asked through verbs"},
	{"verbs/expr", allBut("stores"), "it reads text and works on values; what the names in a text mean, verbs says"},
	{"runtime/frontends/lsp", allBut("dsl", "verbs", "runtime/frontends/lsp"), "it tells editors what the parser and the checker say: it runs nothing, and has no second of either"},
	{"who edits nothing", []string{"runtime/frontends/lsp"}, "an editor is one more reader of palettes and scripts, and nothing is built on it"},
	{"runtime/protocols/a2a", allBut("runtime/protocols/a2a"), "it reads and writes a protocol: who serves it, and what a task is, it is told through an interface"},
	{"who speaks to no agents of others", []string{"runtime/protocols/a2a"}, "agents of others come in by the server's door, and are asked as servers of tools are"},
	{"runtime/frontends/http/peers", allBut("stores", "runtime/internal/digest", "runtime/frontends/http/peers"), "it keeps which messages came and where somebody is told; what they mean the server decides"},
	{"runtime/frontends/http", []string{"runtime/internal/view", "runtime/internal/provenance"}, "how a store is asked, and where values come from, is the engine's own affair"},
	{"who serves nothing", []string{"runtime/frontends/http", "runtime/frontends/http/logins", "runtime/frontends/http/peers"}, "a door is built on the house, and the house on no door"},
	{"who tells programs nothing", []string{"runtime/frontends/wire"}, "a door is built on the house, and the house on no door"},
	{"who lets no clients of models in", []string{"runtime/frontends/mcp"}, "a door is built on the house, and the house on no door"},
	{"runtime/frontends/mcp", allBut(append(allowed["runtime/frontends/mcp"], "runtime/frontends/mcp")...), "it makes calls of what clients of models ask, at the two doors that everybody uses; who such a client speaks for it is told"},
	{"who writes in nobody's name", []string{"runtime/jobs/serviceaccount"}, "what the program itself writes down, rooms write that handle things while nobody asks"},
	{"runtime/jobs/serviceaccount", allBut(append(allowed["runtime/jobs/serviceaccount"], "runtime/jobs/serviceaccount")...), "it makes calls and reads rows, whatever they are for"},
	{"who makes no plans", []string{"runtime/jobs/workflow"}, "a plan is made over the engine; whoever makes one is the agent, or the command"},
	{"runtime/conversation/replay", allBut(append(allowed["runtime/conversation/replay"], "runtime/conversation/replay")...), "it makes calls again over the engine, which somebody else puts together"},
	{"runtime/jobs/workflow", allBut(append(allowed["runtime/jobs/workflow"], "runtime/jobs/workflow")...), "it makes calls step by step: how sure an answer is, and who asked, others know"},
	{"who answers no questions", []string{"runtime/domains/confidence", "runtime/domains/confidence/react"}, "an agent is one more way to make calls, and nothing is built on it"},
	{"runtime/domains/confidence", allBut(append(allowed["runtime/domains/confidence"], "runtime/domains/confidence")...), "it plans and judges; what carries calls out is the engine"},
	{"runtime/domains/confidence", []string{"runtime/domains/confidence/react"}, "the two agents stand beside each other: the command gives questions to one of them"},
	{"runtime/domains/confidence/react", allBut(append(allowed["runtime/domains/confidence/react"], "runtime/domains/confidence/react")...), "it makes the calls that a model chooses, and knows no plan"},
	{"runtime/domains/confidence/score", allBut("runtime/domains/confidence/score"), "it reckons with numbers and texts, wherever they come from"},
	{"*", []string{"runtime/domains/confidence/modeltest", "runtime/tests/norace", "runtime/protocols/trustgraph/rabbit/rabbittest"}, "it serves tests, which no program needs"},
	{"runtime/tests/norace", allBut("runtime/tests/norace"), "it runs tests again, whatever they test"},
	{"runtime/domains/confidence/modeltest", allBut("runtime/conversation/llm", "runtime/domains/confidence/modeltest"), "it plays an endpoint, whoever asks"},
	{"who scores nothing", []string{"runtime/domains/confidence/score"}, "answers of plans are scored, and nothing else"},
	{"runtime/protocols/trustgraph", allBut("runtime/protocols/trustgraph"), "it is a protocol: who answers, it is told"},
	{"runtime/protocols/trustgraph/rabbit", allBut("runtime/protocols/trustgraph", "runtime/protocols/trustgraph/rabbit"), "it brings questions from a broker and takes answers back"},
	{"runtime/protocols/trustgraph/rabbit/rabbittest", allBut("runtime/protocols/trustgraph/rabbit/rabbittest"), "it starts a broker for tests"},
	{"who speaks to no TrustGraph", []string{"runtime/protocols/trustgraph", "runtime/protocols/trustgraph/rabbit"}, "how programs of TrustGraph ask is known where they are answered"},
	{"runtime/domains/confidence", []string{"runtime/protocols/trustgraph/rabbit"}, "by which way a question comes in makes no difference"},
	{"runtime/frontends/http/logins", allBut("stores", "runtime/internal/digest", "runtime/state/sessions", "runtime/frontends/http/logins"), "it keeps who is signed in; what they may do the engine decides"},
	{"runtime/frontends/wire", allBut(append(allowed["runtime/frontends/wire"], "runtime/frontends/wire")...), "it is the shape of what programs are told, whoever tells it"},
	{"runtime/frontends/http", allBut(append(allowed["runtime/frontends/http"], "runtime/frontends/http")...), "it is a door: what is behind it is asked through the engine, and who speaks other protocols has a door of its own"},
	{"runtime/frontends/http/pages", allBut("runtime/conversation/values", "runtime/frontends/http/pages"), "a page is made of texts: it knows no store, no engine and no palette"},
	{"who shows no pages", []string{"runtime/frontends/http/pages"}, "pages are shown by the server alone"},
	{"*", []string{"runtime/frontends/http/browsertest"}, "it drives a browser for tests, which no program needs"},
	{"runtime/frontends/http/browsertest", rooms, "it clicks and looks, whatever it is shown"},
	{"cmd/verbatim", []string{"stores/storetest"}, "the suite imports testing, which a program has no use for"},
}

// exceptions are arrows that tests alone may draw.
var exceptions = map[[2]string]string{
	{"runtime/frontends/channel/whatsapp", "runtime/frontends/channel/whatsapp/cloudtest"}: "its tests speak to the other side",
	{"cmd/verbatim", "runtime/frontends/channel/whatsapp/cloudtest"}:                       "its tests speak to the other side",
	{"runtime/frontends/channel/whatsapp/cloudtest"}:                                       "it plays everybody who writes",
	{"runtime/frontends/channel", "runtime/frontends/channel/mail"}:                        "its tests read answers as they come by mail",
	{"runtime/frontends/channel", "runtime/jobs/worker"}:                                   "its tests work off what is due",
	{"runtime/frontends/channel", "stores/files"}:                                          "its tests keep files",
	{"runtime/frontends/channel", "stores/sqlite"}:                                         "its tests run on every store",
	{"runtime/frontends/channel", "stores/postgres"}:                                       "its tests run on every store",
	{"runtime/frontends/channel", "stores/postgres/pgtest"}:                                "its tests run on every store",

	{"cmd/verbatim", "runtime/tests/norace"}:                   "its heavy tests run without the race detector",
	{"runtime", "runtime/tests/norace"}:                        "its heavy tests run without the race detector",
	{"runtime/frontends/channel", "runtime/tests/norace"}:      "its heavy tests run without the race detector",
	{"verbs", "runtime/tests/norace"}:                          "its heavy tests run without the race detector",
	{"dsl", "runtime/tests/norace"}:                            "its heavy tests run without the race detector",
	{"runtime/domains/kyc/guard", "runtime/tests/norace"}:      "its heavy tests run without the race detector",
	{"runtime/frontends/channel/mail", "runtime/tests/norace"}: "its heavy tests run without the race detector",
	{"runtime/files/documents", "runtime/tests/norace"}:        "its heavy tests run without the race detector",
	{"runtime/domains/manda", "runtime/tests/norace"}:          "its heavy tests run without the race detector",

	{"runtime/conversation/replay", "stores/sqlite"}:                                          "its tests run on every store",
	{"runtime/conversation/replay", "stores/postgres"}:                                        "its tests run on every store",
	{"runtime/conversation/replay", "stores/postgres/pgtest"}:                                 "its tests run on every store",
	{"runtime/jobs/workflow", "runtime/jobs/worker"}:                                          "its tests work off what is due",
	{"runtime/jobs/workflow", "stores/sqlite"}:                                                "its tests run on every store",
	{"runtime/jobs/workflow", "stores/postgres"}:                                              "its tests run on every store",
	{"runtime/jobs/workflow", "stores/postgres/pgtest"}:                                       "its tests run on every store",
	{"runtime/domains/confidence", "stores/sqlite"}:                                           "its tests run the engine on a real store",
	{"runtime/domains/confidence", "runtime/protocols/tools"}:                                 "its tests bring the functions that palettes call",
	{"runtime/domains/confidence", "runtime/domains/confidence/modeltest"}:                    "its tests ask a model over HTTP",
	{"runtime/domains/confidence", "runtime/domains/confidence/react"}:                        "its tests hold the two agents against each other",
	{"runtime/domains/confidence/react", "runtime/domains/confidence/modeltest"}:              "its tests ask a model over HTTP",
	{"runtime/domains/confidence/react", "runtime/protocols/tools"}:                           "its tests bring tools",
	{"runtime/domains/confidence/react", "stores/sqlite"}:                                     "its tests run the engine on a real store",
	{"runtime/protocols/trustgraph/rabbit", "runtime/protocols/trustgraph/rabbit/rabbittest"}: "its tests ask a broker",
	{"cmd/verbatim", "runtime/protocols/trustgraph/rabbit/rabbittest"}:                        "its tests ask a broker",
	{"runtime/protocols/trustgraph/rabbit", "github.com/rabbitmq/amqp091-go"}:                 "its tests look at the queues",
	{"runtime/protocols/trustgraph", "github.com/coder/websocket"}:                            "its tests are clients",
	{"runtime/frontends/http", "runtime/frontends/http/browsertest"}:                          "its tests look at pages in a browser",
	{"runtime/frontends/http", "runtime/frontends/channel/whatsapp/cloudtest"}:                "its tests have people write",
	{"runtime/frontends/http/pages", "runtime/frontends/http/browsertest"}:                    "its tests look at pages in a browser",
	{"runtime/frontends/lsp", "runtime/frontends/http/browsertest"}:                           "its tests look at VS Code in a browser",
	{"stores/sqlite", "stores/storetest"}:                                                     "its tests run the conformance suite",
	{"stores/postgres", "stores/storetest"}:                                                   "its tests run the conformance suite",
	{"runtime/jobs/worker", "stores/storetest"}:                                               "its tests take a job as a worker does that is lost",
	{"runtime/domains/rights", "stores/storetest"}:                                            "its tests take a job as a worker does that is lost",
	{"runtime/tests/torture", "stores/storetest"}:                                             "its tests take a job as a worker does that is lost",
	{"stores/postgres", "stores/postgres/pgtest"}:                                             "its tests run on a real server",
	{"runtime", "verbs/grammar"}:                                                              "its tests hold a grammar against what a session permits",
	{"runtime", "stores/postgres"}:                                                            "its tests run the engine on a real store",
	{"runtime", "stores/postgres/pgtest"}:                                                     "its tests run the engine on a real server",
	{"cmd/verbatim", "stores/postgres/pgtest"}:                                                "its tests run the command on a real server",
	{"runtime/jobs/worker", "dsl"}:                                                            "its tests write scripts",
	{"runtime/jobs/worker", "verbs"}:                                                          "its tests have a palette",
	{"runtime/jobs/worker", "stores/sqlite"}:                                                  "its tests work on real stores",
	{"runtime/jobs/worker", "stores/postgres"}:                                                "its tests work on real stores",
	{"runtime/jobs/worker", "stores/postgres/pgtest"}:                                         "its tests work on real servers",
	{"runtime/files/intake", "dsl"}:                                                           "its tests write scripts",
	{"runtime/files/intake", "stores"}:                                                        "its tests have people",
	{"runtime/files/intake", "stores/sqlite"}:                                                 "its tests run on a real store",
	{"runtime/domains/rights", "stores/sqlite"}:                                               "its tests run the verbs on a real store",
	{"runtime/domains/rights", "stores/postgres"}:                                             "its tests run the verbs on a real store",
	{"runtime/domains/rights", "stores/postgres/pgtest"}:                                      "its tests run the verbs on a real server",
	{"runtime/frontends/mcp", "stores/sqlite"}:                                                "its tests list the tools of an engine on a real store",
	{"runtime/frontends/http", "stores/sqlite"}:                                               "its tests serve agents on real stores",
	{"runtime/frontends/http/peers", "stores/sqlite"}:                                         "its tests keep messages in a real store",
	{"runtime/frontends/http", "stores/postgres"}:                                             "its tests serve agents on real stores",
	{"runtime/frontends/http", "stores/postgres/pgtest"}:                                      "its tests serve agents on real servers",
	{"runtime/frontends/http", "runtime/jobs/worker"}:                                         "its tests post what agents are told",
	{"runtime/frontends/http", "runtime/jobs/notify"}:                                         "its tests post what agents are told",
	{"runtime/frontends/http/logins", "stores/sqlite"}:                                        "its tests sign in on real stores",
	{"runtime/frontends/http/logins", "stores/postgres"}:                                      "its tests sign in on real stores",
	{"runtime/frontends/http/logins", "stores/postgres/pgtest"}:                               "its tests sign in on real servers",
	{"runtime/domains/kyc", "dsl"}:                                                            "its tests write scripts",
	{"runtime/domains/kyc", "verbs"}:                                                          "its tests load the palette of the example",
	{"runtime/domains/kyc", "stores/sqlite"}:                                                  "its tests tell stories on real stores",
	{"runtime/domains/kyc", "stores/postgres"}:                                                "its tests tell stories on real stores",
	{"runtime/domains/kyc", "stores/postgres/pgtest"}:                                         "its tests tell stories on real servers",
	{"runtime/domains/kyc", "stores/receipt"}:                                                 "its tests read what calls did",
	{"runtime/domains/client", "dsl"}:                                                         "its tests write scripts",
	{"runtime/domains/client", "stores/sqlite"}:                                               "its tests tell stories on real stores",
	{"runtime/domains/client", "stores/postgres"}:                                             "its tests tell stories on real stores",
	{"runtime/conversation/dialog", "stores/postgres"}:                                        "its questions wait on both backends",
	{"runtime/conversation/dialog", "stores/postgres/pgtest"}:                                 "its questions wait on real servers",
	{"runtime/domains/client", "stores/postgres/pgtest"}:                                      "its tests tell stories on real servers",
	{"runtime/conversation/dialog", "stores/sqlite"}:                                          "its tests talk about rows of a real store",
	{"runtime/tests/torture", "dsl"}:                                                          "it writes scripts",
	{"runtime/tests/torture", "runtime/jobs/serviceaccount"}:                                  "it kills processes that make plans",
	{"runtime/tests/torture", "runtime/jobs/workflow"}:                                        "it kills processes that make plans",
	{"runtime/tests/torture", "runtime/jobs/worker"}:                                          "it kills processes that make plans, as workers",
	{"runtime/domains/confidence", "stores/search"}:                                           "its race finds by words as a store does that has faults",
	{"runtime/tests/torture", "verbs"}:                                                        "it has a palette",
	{"runtime/tests/torture", "stores/journal"}:                                               "it reads what happened",
	{"runtime/domains/client", "stores/receipt"}:                                              "its tests read what calls did",
	{"runtime/jobs/worker", "stores/receipt"}:                                                 "its tests read what calls did",
	{"runtime/tests/torture", "stores/receipt"}:                                               "it reads what happened",
	{"runtime/tests/torture", "stores"}:                                                       "it looks at what is left",
	{"runtime/tests/torture", "stores/sqlite"}:                                                "it pulls the plug on real stores",
	{"runtime/tests/torture", "stores/postgres"}:                                              "it pulls the plug on real stores",
	{"runtime/tests/torture", "stores/postgres/pgtest"}:                                       "it pulls the plug on real servers",
	{"runtime/tests/torture", "runtime"}:                                                      "it pulls the plug on the engine",
	{"runtime/tests/torture", "runtime/state/sessions"}:                                       "it talks, and keeps questions waiting",
	{"runtime/conversation/intent", "verbs/verbstest"}:                                        "its benchmarks need palettes of any size",
	{"runtime/frontends/lsp", "verbs/verbstest"}:                                              "its benchmarks need palettes of any size",
	{"verbs", "verbs/verbstest"}:                                                              "its benchmarks need palettes of any size",
	{"cmd/verbatim", "verbs/verbstest"}:                                                       "its benchmarks need palettes of any size",
	{"runtime", "stores/sqlite"}:                                                              "its tests run the engine on a real store",
	{"verbs/grammar", "github.com/santhosh-tekuri/jsonschema/v5"}:                             "its tests hold what a schema allows against an independent reading of it",
	{"cmd/verbatim", "github.com/modelcontextprotocol/go-sdk"}:                                "its tests run a server of tools beside the program",
	{"cmd/verbatim", "github.com/santhosh-tekuri/jsonschema/v5"}:                              "its tests hold what --json prints against the published schema",
	{"runtime/files/services", "github.com/xuri/excelize/v2"}:                                 "its tests lay out tables as people do",
	{"cmd/verbatim", "github.com/xuri/excelize/v2"}:                                           "its tests edit a workbook as a person does",
	{"cmd/verbatim", "zombiezen.com/go/sqlite"}:                                               "its tests change a file behind the program's back",
	{"cmd/verbatim", "gopkg.in/yaml.v3"}:                                                      "its tests look for what is English in the text of a palette",
}

// libraries are met in one package each, and their types stop there.
var libraries = map[string]struct {
	in  []string
	why string
}{
	"github.com/alecthomas/participle/v2":      {[]string{"dsl", "verbs"}, "dsl declares the normative grammar with it; verbs reads effect operands with it, in one file"},
	"gopkg.in/yaml.v3":                         {[]string{"verbs", "runtime/protocols/mcp", "runtime/conversation/dialog", "runtime/domains/confidence", "runtime/domains/confidence/modeltest"}, "palettes are YAML, and so are the operator's lists of servers and settings of agents, and datasets"},
	"github.com/modelcontextprotocol/go-sdk":   {[]string{"runtime/protocols/mcp", "runtime/frontends/mcp"}, "one protocol, for tools of other servers and for clients of ours, and its types stop there"},
	"github.com/go-json-experiment/json":       {[]string{"runtime/frontends/mcp", "runtime/frontends/http"}, "what clients send is read strictly: exact names, none twice and none unknown, in valid Unicode; encoding/json does none of these"},
	"github.com/santhosh-tekuri/jsonschema/v5": {[]string{"verbs"}, "object arguments are checked where all arguments are"},
	"github.com/google/uuid":                   {[]string{"runtime", "cmd/verbatim"}, "new ids are random UUIDs, for the engine and for letters of the command"},
	"github.com/shopspring/decimal":            {[]string{"stores"}, "stores.Value is the one decimal of the house"},
	"zombiezen.com/go/sqlite":                  {[]string{"stores/sqlite"}, "nothing of a library's own types leaves a backend"},
	"modernc.org/sqlite":                       {[]string{"stores/sqlite"}, "SQLite itself, in Go, for the one setting that the library around it does not reach"},
	"github.com/jackc/pgx/v5":                  {[]string{"stores/postgres", "stores/postgres/pgtest"}, "nothing of a driver's own types leaves a backend, but the pool that a caller may hand in"},
	"github.com/riverqueue/river":              {[]string{"stores/postgres"}, "jobs on PostgreSQL are rows of River's; another queue would touch one file"},
	"modernc.org/libc":                         {[]string{"stores/sqlite"}, "it belongs to SQLite in Go, which pins it"},
	"github.com/xuri/excelize/v2":              {[]string{"runtime/internal/sheet"}, "workbooks are written by it, and read without it, in a process of their own"},
	"github.com/spf13/cobra":                   {[]string{"cmd/verbatim"}, "flags are a matter of the command"},
	"github.com/spf13/pflag":                   {[]string{"cmd/verbatim"}, "flags are a matter of the command"},
	"github.com/gabriel-vasile/mimetype":       {[]string{"runtime/files/intake", "runtime/files/documents"}, "the type of a file is told once, as it comes in, and once more before it is read"},
	"github.com/aws/aws-sdk-go-v2":             {[]string{"stores/files"}, "requests to a bucket are signed in one place"},
	"github.com/sourcegraph/jsonrpc2":          {[]string{"runtime/frontends/lsp"}, "messages of editors are framed and answered in one place; the libraries with the shapes of the protocol are of version 3.15, or cannot be had"},
	"github.com/sashabaranov/go-openai":        {[]string{"runtime/conversation/llm"}, "models are asked in one place, and its types stop there"},
	"golang.org/x/tools":                       {[]string{"dsl"}, "what codes mean stands in txtar archives, and one function reads them"},
	"golang.org/x/text":                        {[]string{"runtime/state/contact", "runtime/conversation/values", "runtime/files/documents", "runtime/domains/kyc/guard", "runtime/frontends/channel/mail", "stores/search"}, "letters are taken apart from their accents where words are read, searched and guarded; files come in many encodings"},
	"github.com/mozillazg/go-unidecode":        {[]string{"stores/search"}, "names of all alphabets are compared in Latin letters"},
	"github.com/blevesearch/snowballstem":      {[]string{"stores/search"}, "words are searched without their endings"},
	"golang.org/x/image":                       {[]string{"runtime/frontends/channel/mail"}, "the names of colours are known there: white on white is not read"},
	"golang.org/x/net":                         {[]string{"runtime/state/contact", "runtime/files/documents", "runtime/frontends/channel/mail"}, "pages of HTML are read where all files are, and where mails are; there domains are folded too"},
	"github.com/pdfcpu/pdfcpu":                 {[]string{"runtime/files/documents"}, "the objects of a PDF are found, repaired and decrypted; what they say is read there"},
	"github.com/emersion/go-message":           {[]string{"runtime/files/documents", "runtime/frontends/channel/mail"}, "mails are taken apart where all files are, and where they come in"},
	"github.com/emersion/go-smtp":              {[]string{"runtime/frontends/channel/mail"}, "mail comes in and goes out in one place"},
	"github.com/emersion/go-sasl":              {[]string{"runtime/frontends/channel/mail"}, "it belongs to sending mail"},
	"github.com/emersion/go-msgauth":           {[]string{"runtime/frontends/channel/mail"}, "signatures of mails are verified where mails come in"},
	"blitiri.com.ar/go/spf":                    {[]string{"runtime/frontends/channel/mail"}, "which servers may send for a domain is asked where mails come in"},
	"github.com/coreos/go-oidc/v3":             {[]string{"runtime/frontends/http"}, "who another system names is asked at the door"},
	"golang.org/x/mod":                         {[]string{"verbs/pack"}, "versions are compared, and folders are hashed, as Go does with modules"},
	"golang.org/x/oauth2":                      {[]string{"runtime/frontends/http"}, "it belongs to signing in with another system"},
	"golang.org/x/sync":                        {[]string{"runtime/frontends/http"}, "whoever shows the same login at once is looked up once"},
	"golang.org/x/time":                        {[]string{"runtime/frontends/http"}, "load is shed at the door"},
	"go.opentelemetry.io/otel":                 {[]string{"runtime/frontends/http"}, "spans are told in one place"},
	"github.com/prometheus/client_golang":      {[]string{"runtime/frontends/http"}, "what is counted is shown in one place"},
	"github.com/coder/websocket":               {[]string{"runtime/protocols/trustgraph"}, "one protocol is spoken over sockets"},
	"github.com/rabbitmq/amqp091-go":           {[]string{"runtime/protocols/trustgraph/rabbit"}, "one broker is spoken to, in one place"},
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
	"os":           {[]string{"runtime/tests/norace", "cmd/verbatim", "cmd/teeth", "examples/embed", "stores/sqlite", "stores/files", "stores/postgres/pgtest", "runtime/frontends/http/browsertest", "runtime/files/documents", "runtime/protocols/trustgraph/rabbit/rabbittest", "runtime/domains/confidence/modeltest"}, "files and the environment arrive as arguments; only commands, a store that is a file, the one that keeps files, and a server for tests touch them; a child that reads a file has a mark in its environment"},
	"os/exec":      {[]string{"runtime/tests/norace", "cmd/teeth", "stores/postgres/pgtest", "runtime/frontends/http/browsertest", "runtime/protocols/mcp", "runtime/files/documents", "runtime/protocols/trustgraph/rabbit/rabbittest"}, "nothing here starts other programs, but for the tests that a fault is tried on, the server that they run on, and the servers of tools that an operator names; this program starts itself to read a file"},
	"net":          {[]string{"runtime/frontends/channel/mail", "runtime/protocols/dial", "runtime/jobs/notify", "runtime/files/intake", "runtime/frontends/http", "stores/files", "cmd/verbatim", "runtime/protocols/trustgraph/rabbit/rabbittest", "stores/postgres/pgtest"}, "connections are opened where the address that is dialled is looked at; a notice on its way out opens one, and so do a bucket, a scanner, and tests that wait for a pooler"},
	"net/http":     {[]string{"runtime/protocols/a2a", "runtime/protocols/dial", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/frontends/mcp", "runtime/jobs/notify", "runtime/frontends/channel/mail", "runtime/frontends/channel/signed", "runtime/frontends/channel/whatsapp", "runtime/frontends/channel/whatsapp/cloudtest", "runtime/frontends/http", "stores/files", "runtime/protocols/trustgraph", "runtime/domains/confidence/modeltest"}, "the doors to the network are rooms of their own; a model is behind one, tools of other servers behind another, agents of others among them; whoever is sent a webhook is behind another, a bucket of files behind another, and a channel that people write in behind another"},
	"net/smtp":     {[]string{"runtime/jobs/notify"}, "mail is a channel for notices, and nothing else sends any"},
	"database/sql": {nil, "a store steps its own statements: what it reads is in its values at once"},
	"log":          {nil, "libraries return errors, the command prints them"},
	"math/rand":    {nil, "randomness arrives as an argument"},
	"math/rand/v2": {[]string{"stores/sqlite", "verbs/grammar", "cmd/verbatim", "runtime/protocols/trustgraph/rabbit"}, "randomness arrives as an argument; a store may wait a random moment before it tries again, and a grammar is given a source to say something at random from; the command hands it in"},
	"plugin":       {nil, "nothing registers itself by being loaded"},
	"testing":      {[]string{"runtime/tests/norace", "stores/storetest", "stores/postgres/pgtest", "runtime/frontends/http/browsertest", "runtime/protocols/trustgraph/rabbit/rabbittest"}, "only what tests call needs it outside a test file"},
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
			if name != root && (strings.HasPrefix(base, ".") || base == "testdata" || base == "bin" || rel == "cmd/peers" || rel == "examples/kyc/bank" || rel == "examples/kiisha/world" || rel == "examples/confidence/play" || rel == "runtime/protocols/trustgraph/pulsar") {
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
			if test || from == "stores/storetest" || from == "runtime/frontends/http/browsertest" {
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
