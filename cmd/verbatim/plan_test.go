package main

import (
	"fmt"
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

const root = "../.."

// floors are the folders of the house, from the top. A folder may import those of the floors below
// its own, and no other: within a folder, Go itself forbids circles. Each store and each domain is
// a folder; everything else of stores is one, and so is everything of verbs.
var floors = []string{
	"cmd/verbatim cmd/internal examples",
	"runtime/frontends",
	"runtime/domains/client runtime/domains/confidence runtime/domains/kiisha runtime/domains/kyc runtime/domains/manda runtime/domains/rights",
	"runtime/conversation runtime/jobs runtime/files",
	"runtime/engine",
	"runtime/state runtime/protocols",
	"runtime/internal",
	"verbs",
	"stores/sqlite stores/postgres",
	"stores",
	"dsl",
}

// testFolder holds tests and what they share. It may import everything; only tests import it.
const testFolder = "runtime/tests"

// plan lists the imports between folders that the program has, a line each. A new line is a decision.
var plan = []struct{ from, to string }{
	{"cmd/verbatim", "runtime/frontends"},
	{"cmd/verbatim", "runtime/domains/client"},
	{"cmd/verbatim", "runtime/domains/confidence"},
	{"cmd/verbatim", "runtime/domains/kiisha"},
	{"cmd/verbatim", "runtime/domains/kyc"},
	{"cmd/verbatim", "runtime/domains/manda"},
	{"cmd/verbatim", "runtime/domains/rights"},
	{"cmd/verbatim", "runtime/conversation"},
	{"cmd/verbatim", "runtime/jobs"},
	{"cmd/verbatim", "runtime/files"},
	{"cmd/verbatim", "runtime/engine"},
	{"cmd/verbatim", "runtime/state"},
	{"cmd/verbatim", "runtime/protocols"},
	{"cmd/verbatim", "verbs"},
	{"cmd/verbatim", "stores/sqlite"},
	{"cmd/verbatim", "stores/postgres"},
	{"cmd/verbatim", "stores"},
	{"cmd/verbatim", "dsl"},
	{"runtime/frontends", "runtime/domains/rights"},
	{"runtime/frontends", "runtime/conversation"},
	{"runtime/frontends", "runtime/jobs"},
	{"runtime/frontends", "runtime/files"},
	{"runtime/frontends", "runtime/engine"},
	{"runtime/frontends", "runtime/state"},
	{"runtime/frontends", "runtime/protocols"},
	{"runtime/frontends", "runtime/internal"},
	{"runtime/frontends", "verbs"},
	{"runtime/frontends", "stores"},
	{"runtime/frontends", "dsl"},
	{"runtime/domains/client", "runtime/conversation"},
	{"runtime/domains/client", "runtime/engine"},
	{"runtime/domains/client", "runtime/state"},
	{"runtime/domains/client", "verbs"},
	{"runtime/domains/client", "stores"},
	{"runtime/domains/confidence", "runtime/conversation"},
	{"runtime/domains/confidence", "runtime/jobs"},
	{"runtime/domains/confidence", "runtime/files"},
	{"runtime/domains/confidence", "runtime/engine"},
	{"runtime/domains/confidence", "runtime/protocols"},
	{"runtime/domains/confidence", "runtime/internal"},
	{"runtime/domains/confidence", "verbs"},
	{"runtime/domains/confidence", "stores"},
	{"runtime/domains/confidence", "dsl"},
	{"runtime/domains/kiisha", "runtime/files"},
	{"runtime/domains/kiisha", "runtime/engine"},
	{"runtime/domains/kiisha", "runtime/protocols"},
	{"runtime/domains/kiisha", "stores"},
	{"runtime/domains/kyc", "runtime/engine"},
	{"runtime/domains/kyc", "stores"},
	{"runtime/domains/kyc", "verbs"},
	{"runtime/domains/manda", "runtime/conversation"},
	{"runtime/domains/manda", "runtime/files"},
	{"runtime/domains/manda", "runtime/engine"},
	{"runtime/domains/manda", "runtime/state"},
	{"runtime/domains/manda", "runtime/protocols"},
	{"runtime/domains/manda", "stores"},
	{"runtime/domains/manda", "dsl"},
	{"runtime/domains/rights", "runtime/engine"},
	{"runtime/domains/rights", "runtime/state"},
	{"runtime/domains/rights", "verbs"},
	{"runtime/domains/rights", "stores"},
	{"runtime/domains/rights", "dsl"},
	{"runtime/conversation", "runtime/engine"},
	{"runtime/conversation", "runtime/state"},
	{"runtime/conversation", "verbs"},
	{"runtime/conversation", "stores"},
	{"runtime/conversation", "dsl"},
	{"runtime/jobs", "runtime/engine"},
	{"runtime/jobs", "runtime/state"},
	{"runtime/jobs", "runtime/internal"},
	{"runtime/jobs", "runtime/protocols"},
	{"runtime/jobs", "verbs"},
	{"runtime/jobs", "stores"},
	{"runtime/jobs", "dsl"},
	{"runtime/files", "runtime/engine"},
	{"runtime/files", "runtime/state"},
	{"runtime/files", "runtime/protocols"},
	{"runtime/files", "runtime/internal"},
	{"runtime/files", "verbs"},
	{"runtime/files", "stores"},
	{"runtime/engine", "runtime/state"},
	{"runtime/engine", "runtime/protocols"},
	{"runtime/engine", "runtime/internal"},
	{"runtime/engine", "verbs"},
	{"runtime/engine", "stores"},
	{"runtime/engine", "dsl"},
	{"runtime/state", "runtime/internal"},
	{"runtime/state", "verbs"},
	{"runtime/state", "stores"},
	{"runtime/state", "dsl"},
	{"runtime/protocols", "runtime/internal"},
	{"runtime/protocols", "verbs"},
	{"runtime/protocols", "stores"},
	{"runtime/protocols", "dsl"},
	{"runtime/internal", "verbs"},
	{"runtime/internal", "stores"},
	{"verbs", "stores"},
	{"verbs", "dsl"},
	{"stores/sqlite", "stores"},
	{"stores/postgres", "stores"},
}

// libraries are what is met of others: each in the packages named first, and in tests of those named
// second.
var libraries = []struct{ library, in, tests, why string }{
	{"blitiri.com.ar/go/spf", "runtime/frontends/channel/mail", "", "which servers may send for a domain is asked where mails come in"},
	{"github.com/alecthomas/participle/v2", "dsl", "", "grammars are declared for it, and one file of dsl hands it their texts"},
	{"github.com/aws/aws-sdk-go-v2", "stores/files", "", "requests to a bucket are signed in one place"},
	{"github.com/blevesearch/snowballstem", "stores/search", "", "words are searched without their endings"},
	{"github.com/coder/websocket", "runtime/protocols/trustgraph runtime/protocols/trustgraph/trustgraphtest", "runtime/protocols/trustgraph", "one protocol is spoken over sockets"},
	{"github.com/coreos/go-oidc/v3", "runtime/frontends/http/server", "runtime/frontends/http/a2a", "who another system names is asked at the door"},
	{"github.com/emersion/go-message", "runtime/internal/mimepart runtime/files/documents", "runtime/frontends/channel/mail", "mails are taken apart in one place, for files and for what comes in; a test compares that with the library's own reader"},
	{"github.com/emersion/go-msgauth", "runtime/frontends/channel/mail", "", "signatures of mails are verified where mails come in"},
	{"github.com/emersion/go-sasl", "runtime/internal/submit", "runtime/frontends/channel/mail cmd/verbatim", "it belongs to sending mail"},
	{"github.com/emersion/go-smtp", "runtime/internal/submit runtime/frontends/channel/mail", "cmd/verbatim", "mail goes out in one place, and comes in in one"},
	{"github.com/gabriel-vasile/mimetype", "runtime/files/intake runtime/files/documents", "", "the type of a file is told once, as it comes in, and once more before it is read"},
	{"github.com/go-json-experiment/json", "verbs/strict runtime/frontends/mcp runtime/frontends/mcp/guard runtime/frontends/http/server runtime/frontends/channel/signed", "", "what clients send, and settings that people write, are read strictly: exact names, none twice and none unknown, in valid Unicode; encoding/json does none of these"},
	{"github.com/google/uuid", "runtime/engine cmd/verbatim", "", "new ids are random UUIDs, for the engine and for letters of the command"},
	{"github.com/jackc/pgx/v5", "stores/postgres stores/postgres/pgtest", "", "nothing of a driver's own types leaves a backend, but the pool that a caller may hand in"},
	{"github.com/mattn/go-isatty", "cmd/verbatim", "", "only the command talks to a terminal"},
	{"github.com/modelcontextprotocol/go-sdk", "runtime/protocols/mcp runtime/frontends/mcp", "cmd/verbatim", "one protocol, for tools of other servers and for clients of ours, and its types stop there"},
	{"github.com/mozillazg/go-unidecode", "stores/search", "", "names of all alphabets are compared in Latin letters"},
	{"github.com/pdfcpu/pdfcpu", "runtime/files/documents", "", "the objects of a PDF are found, repaired and decrypted; what they say is read there"},
	{"github.com/prometheus/client_golang", "runtime/frontends/http/server", "", "what is counted is shown in one place"},
	{"github.com/rabbitmq/amqp091-go", "runtime/protocols/trustgraph/rabbit runtime/protocols/trustgraph/rabbit/rabbittest", "runtime/protocols/trustgraph/rabbit", "one broker is spoken to, in one place"},
	{"github.com/riverqueue/river", "stores/postgres", "", "jobs on PostgreSQL are rows of River's; another queue would touch one file"},
	{"github.com/santhosh-tekuri/jsonschema/v5", "verbs", "verbs/load verbs/propose verbs/grammar cmd/verbatim", "object arguments are checked where all arguments are"},
	{"github.com/sashabaranov/go-openai", "runtime/conversation/llm", "", "models are asked in one place, and its types stop there"},
	{"github.com/shopspring/decimal", "stores", "", "stores.Value is the one decimal of the house"},
	{"github.com/sourcegraph/jsonrpc2", "runtime/frontends/lsp", "", "messages of editors are framed and answered in one place; the libraries with the shapes of the protocol are of version 3.15, or cannot be had"},
	{"github.com/spf13/cobra", "cmd/verbatim", "", "flags are a matter of the command"},
	{"github.com/spf13/pflag", "cmd/verbatim", "", "flags are a matter of the command"},
	{"github.com/transparency-dev/merkle", "stores/merkle", "", "the tree of the sealed log is that of transparency logs, and is met in one package"},
	{"github.com/xuri/excelize/v2", "runtime/internal/sheet", "runtime/files/services cmd/verbatim", "workbooks are written by it, and read without it, in a process of their own"},
	{"go.opentelemetry.io/otel", "runtime/frontends/http/server", "", "spans are told in one place"},
	{"golang.org/x/image", "runtime/frontends/channel/mail", "", "the names of colours are known there: white on white is not read"},
	{"golang.org/x/mod", "verbs/pack stores/storetest", "stores stores/merkle", "versions are compared, and folders are hashed, as Go does with modules; its own log verifies ours in tests"},
	{"golang.org/x/net", "runtime/state/contact runtime/files/documents runtime/frontends/channel/mail", "cmd/verbatim", "pages of HTML are read where all files are, and where mails are; there domains are folded too"},
	{"golang.org/x/oauth2", "runtime/frontends/http/server", "", "it belongs to signing in with another system"},
	{"golang.org/x/sync", "runtime/frontends/http/server", "", "whoever shows the same login at once is looked up once"},
	{"golang.org/x/text", "runtime/state/contact runtime/conversation/values runtime/files/documents runtime/domains/kyc/redact stores/search", "", "letters are taken apart from their accents where words are read, searched and guarded; files come in many encodings"},
	{"golang.org/x/time", "runtime/frontends/http/server", "", "load is shed at the door"},
	{"golang.org/x/tools", "dsl", "", "what codes mean stands in txtar archives, and one function reads them"},
	{"gopkg.in/yaml.v3", "verbs/load verbs/propose verbs/strict runtime/protocols/mcp runtime/conversation/dialog runtime/domains/confidence", "cmd/verbatim", "palettes are YAML, and so are the operator's lists of servers and settings of agents, and datasets"},
	{"modernc.org/libc", "stores/sqlite", "", "it belongs to SQLite in Go, which pins it"},
	{"modernc.org/sqlite", "stores/sqlite", "cmd/verbatim", "SQLite itself, in Go, for the one setting that the library around it does not reach"},
	{"zombiezen.com/go/sqlite", "stores/sqlite", "cmd/verbatim", "nothing of a library's own types leaves a backend"},
}

// testLibraries never reach a program that is built.
var testLibraries = []string{"github.com/chromedp/cdproto", "github.com/chromedp/chromedp", "github.com/johannesboyne/gofakes3", "github.com/rogpeppe/go-internal", "pgregory.net/rapid"}

// standard says where parts of the standard library stay out of: the
// environment, files and the network arrive as arguments.
var standard = map[string]struct {
	in  []string
	why string
}{
	"os":           {[]string{"runtime/frontends/mcp/guard", "runtime/tests/norace", "cmd/verbatim", "cmd/internal/mutants", "stores/sqlite", "stores/files", "stores/postgres/pgtest", "runtime/files/documents", "runtime/protocols/trustgraph/rabbit/rabbittest", "runtime/domains/confidence/modeltest"}, "files and the environment arrive as arguments; only commands, a store that is a file, the one that keeps files, and a server for tests touch them; a child that reads a file has a mark in its environment; guard keeps its folder and changes files of clients"},
	"os/exec":      {[]string{"cmd/verbatim", "runtime/frontends/mcp/guard", "runtime/tests/norace", "cmd/internal/mutants", "stores/postgres/pgtest", "runtime/protocols/mcp", "runtime/files/documents", "runtime/protocols/trustgraph/rabbit/rabbittest"}, "nothing here starts other programs, but for the tests that a fault is tried on, the server that they run on, and the servers of tools that an operator names; this program starts itself to read a file; backup and restore start those of PostgreSQL; guard starts the servers of a client, and a browser"},
	"net":          {[]string{"runtime/frontends/mcp/guard", "runtime/frontends/channel/mail", "runtime/protocols/dial", "runtime/internal/submit", "runtime/files/intake", "runtime/frontends/http/server", "stores/files", "cmd/verbatim", "runtime/protocols/trustgraph/rabbit/rabbittest", "stores/postgres/pgtest"}, "connections are opened where the address that is dialled is looked at; a notice on its way out opens one, and so do a bucket, a scanner, and tests that wait for a pooler"},
	"net/http":     {[]string{"runtime/frontends/mcp/guard", "runtime/protocols/a2a", "runtime/protocols/dial", "runtime/conversation/llm", "runtime/protocols/mcp", "runtime/frontends/mcp", "runtime/jobs/notify", "runtime/frontends/channel/mail", "runtime/frontends/channel/signed", "runtime/frontends/channel/whatsapp", "runtime/frontends/channel/whatsapp/cloudtest", "runtime/frontends/http/server", "runtime/frontends/http/api", "runtime/frontends/http/a2a", "runtime/frontends/http/portal", "runtime/frontends/http/console", "stores/files", "runtime/protocols/trustgraph", "runtime/domains/confidence/modeltest", "cmd/verbatim"}, "the doors to the network are rooms of their own, and doctor knocks at the server's; a model is behind one, tools of other servers behind another, agents of others among them; whoever is sent a webhook is behind another, a bucket of files behind another, and a channel that people write in behind another; guard passes messages on as they are, and asks on a page"},
	"net/smtp":     {[]string{"runtime/jobs/notify"}, "mail is a channel for notices, and nothing else sends any"},
	"database/sql": {nil, "a store steps its own statements: what it reads is in its values at once"},
	"log":          {nil, "libraries return errors, the command prints them"},
	"math/rand":    {nil, "randomness arrives as an argument"},
	"math/rand/v2": {[]string{"stores/sqlite", "verbs/grammar", "cmd/verbatim", "runtime/protocols/trustgraph/rabbit"}, "randomness arrives as an argument; a store may wait a random moment before it tries again, and a grammar is given a source to say something at random from; the command hands it in"},
	"plugin":       {nil, "nothing registers itself by being loaded"},
	"testing":      {[]string{"runtime/tests/norace", "runtime/tests/told", "stores/storetest", "stores/postgres/pgtest", "runtime/protocols/trustgraph/rabbit/rabbittest"}, "only what tests call needs it outside a test file"},
	"C":            {nil, "the program builds without a C compiler"},
}

// folderOf returns the folder of a package.
func folderOf(pkg string) string {
	parts := strings.Split(pkg, "/")
	deep := 1
	switch {
	case parts[0] == "runtime" && len(parts) > 2 && parts[1] == "domains":
		deep = 3
	case parts[0] == "runtime" || parts[0] == "cmd", pkg == "stores/sqlite", within(pkg, "stores/postgres"):
		deep = 2
	}
	return strings.Join(parts[:min(deep, len(parts))], "/")
}

// floorOf counts from the top; it is -1 for a folder that the plan does not know.
func floorOf(folder string) int {
	return slices.IndexFunc(floors, func(f string) bool { return slices.Contains(strings.Fields(f), folder) })
}

// isTest reports whether a package serves tests alone: the folder of tests, and packages named …test.
func isTest(pkg string) bool { return within(pkg, testFolder) || strings.HasSuffix(pkg, "test") }

func TestPlanPointsDown(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, p := range plan {
		from, to := floorOf(p.from), floorOf(p.to)
		switch pair := p.from + " -> " + p.to; {
		case from < 0 || to < 0:
			t.Errorf("%s names a folder that the plan does not know", pair)
		case from >= to:
			t.Errorf("%s does not point down", pair)
		case seen[pair]:
			t.Errorf("%s stands twice", pair)
		default:
			seen[pair] = true
		}
	}
}

// Every import of every file follows the plan, every line of the plan is used, and go test -v prints
// the packages of each folder.
func TestImportsFollowThePlan(t *testing.T) {
	t.Parallel()
	packages, used, met := map[string][]string{}, map[string]bool{}, map[string]bool{}
	grammar := map[string]bool{} // files that meet participle
	goFiles(t, func(rel string, text []byte) {
		pkg := path.Dir(rel)
		folder := folderOf(pkg)
		if floorOf(folder) < 0 && folder != testFolder {
			t.Errorf("%s stands in %s, which the plan does not know", rel, folder)
			return
		}
		if all := packages[folder]; !slices.Contains(all, pkg) {
			packages[folder] = append(all, pkg)
		}
		file, err := parser.ParseFile(token.NewFileSet(), rel, text, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		test := strings.HasSuffix(rel, "_test.go")
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if ours, ok := strings.CutPrefix(to, "verbatim/"); ok && !test {
				used[folder+" -> "+folderOf(ours)] = true
			}
			for _, l := range libraries {
				if within(to, l.library) {
					met[l.library] = true
				}
			}
			if !test && within(to, "github.com/alecthomas/participle/v2") {
				grammar[rel] = true
			}
			if wrong := judgeImport(pkg, to, test); wrong != "" {
				t.Errorf("%s imports %s: %s", rel, to, wrong)
			}
		}
	})
	for _, p := range plan {
		if !used[p.from+" -> "+p.to] {
			t.Errorf("%s -> %s is in the plan, and no file imports it", p.from, p.to)
		}
	}
	for _, l := range libraries {
		if !met[l.library] {
			t.Errorf("%s is in the table of libraries, and no file imports it", l.library)
		}
	}
	if len(grammar) > 1 {
		t.Errorf("%d files import participle; one hands it every grammar", len(grammar))
	}
	for _, floor := range append(slices.Clone(floors), testFolder) {
		for _, folder := range strings.Fields(floor) {
			slices.Sort(packages[folder])
			t.Logf("%-28s %s", folder, strings.Join(packages[folder], " "))
		}
	}
}

// The test above would be worth nothing if it could not fail.
func TestPlanJudgesImports(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		from, to string
		test, ok bool
	}{
		{"verbs", "verbatim/dsl", false, true},
		{"dsl", "verbatim/verbs", false, false},
		{"dsl", "verbatim/verbs", true, false},
		{"runtime/engine", "verbatim/stores/sqlite", false, false},
		{"runtime/engine", "verbatim/stores/sqlite", true, true},
		{"runtime/engine", "verbatim/runtime/jobs/worker", true, false},
		{"runtime/engine", "verbatim/runtime/tests/norace", true, true},
		{"runtime/engine", "verbatim/runtime/tests/norace", false, false},
		{"runtime/domains/kyc", "verbatim/runtime/domains/client", false, false},
		{"runtime/engine", "gopkg.in/yaml.v3", false, false},
		{"dsl", "pgregory.net/rapid", true, true},
		{"dsl", "pgregory.net/rapid", false, false},
		{"stores/storetest", "pgregory.net/rapid", false, true},
		{"dsl", "github.com/someone/something", false, false},
		{"dsl", "github.com/someone/something", true, false},
		{"stores/sqlite", "zombiezen.com/go/sqlite/sqlitex", false, true},
		{"verbs", "os", false, false},
		{"verbs", "os", true, true},
		{"dsl", "C", true, false},
		{"dsl", "strings", false, true},
		{"dsl", "verbatim/unheard-of", false, false},
	} {
		if got := judgeImport(c.from, c.to, c.test); (got == "") != c.ok {
			t.Errorf("%s -> %s (test %v): %q", c.from, c.to, c.test, got)
		}
	}
}

// The top level holds what DESIGN names and nothing else, so that a newcomer sees all of it at a glance.
func TestTopLevelHoldsTheRoomsOnly(t *testing.T) {
	t.Parallel()
	for dir, known := range map[string]string{
		".":       "verbs dsl runtime stores cmd examples findings go.mod go.sum Makefile README.md",
		"runtime": "README.md frontends domains conversation jobs files engine state protocols internal tests",
	} {
		entries, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		built := strings.Fields("bin dist coverage.out coverage.html") // named in .gitignore
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(strings.Fields(known), e.Name()) && !(dir == "." && slices.Contains(built, e.Name())) {
				t.Errorf("%s does not belong in %s", e.Name(), dir)
			}
		}
	}
}

// judgeImport says what is wrong with an import of a package, or nothing.
func judgeImport(from, to string, test bool) string {
	if to == "C" {
		return standard["C"].why
	}
	if ours, ok := strings.CutPrefix(to, "verbatim/"); ok {
		a, b := folderOf(from), folderOf(ours)
		switch fromTest := test || isTest(from); {
		case isTest(ours) && !fromTest:
			return "it serves tests alone"
		case a == b || a == testFolder, fromTest && isTest(ours):
			return ""
		case floorOf(b) < 0:
			return "the plan does not know this folder"
		case floorOf(a) >= floorOf(b):
			return b + " does not lie below " + a
		case !fromTest && !slices.Contains(plan, struct{ from, to string }{a, b}):
			return fmt.Sprintf("the plan has no line for %s -> %s", a, b)
		}
		return ""
	}
	if first, _, _ := strings.Cut(to, "/"); !strings.Contains(first, ".") {
		if rule, ok := standard[to]; ok && !test && !isTest(from) && !slices.Contains(rule.in, from) {
			return rule.why
		}
		return ""
	}
	for _, lib := range testLibraries {
		if within(to, lib) {
			if test || isTest(from) {
				return ""
			}
			return "a library for tests only"
		}
	}
	for _, l := range libraries {
		if within(to, l.library) {
			if slices.Contains(strings.Fields(l.in), from) || test && slices.Contains(strings.Fields(l.tests), from) {
				return ""
			}
			return "met in " + l.in + " only: " + l.why
		}
	}
	return "a library that the plan does not name; add it with its reason, or do without"
}

func within(importPath, module string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// goFiles calls f with every Go file of this module, by its path from the root.
func goFiles(t *testing.T, f func(rel string, text []byte)) {
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == root {
				return nil
			}
			// What another module imports reaches nobody here.
			if _, err := os.Stat(filepath.Join(name, "go.mod")); err == nil || strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "bin" {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err == nil {
			f(filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator))), text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
