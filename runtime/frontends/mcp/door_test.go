package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// What a client is told of a verb's effects is what its palette promises: one that may change
// a row, tell somebody or start something is never said to only read, and one that changes or
// deletes what is there is said to. It is held against the promises of every verb of the
// palettes in the tree.
func TestHintsFollowEffects(t *testing.T) {
	t.Parallel()
	var dirs []string
	for _, pattern := range []string{"../../../verbs/palettes/[a-o]*", "../../../examples/*/verbs"} {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatal(pattern, err)
		}
		dirs = append(dirs, found...)
	}
	reads, writes := 0, 0
	for _, dir := range dirs {
		reg, ds := load.Dir(os.DirFS(dir))
		if ds.HasErrors() { // it stands on palettes of the program
			continue
		}
		d := &Door{Options: Options{Registry: reg}}
		for _, v := range reg.Verbs() {
			h := d.hints(v)
			acts, changes := v.Tool != nil && !v.Tool.ReadOnly, v.Tool != nil && !v.Tool.ReadOnly
			for i := range v.Effects {
				switch v.Effects[i].Kind {
				case verbs.Updates, verbs.Deletes:
					acts, changes = true, true
				case verbs.Creates, verbs.Triggers, verbs.Notifies, verbs.Attaches, verbs.Generates, verbs.Stores:
					acts = true
				}
			}
			if acts && h.ReadOnlyHint || changes && !*h.DestructiveHint || v.Read != nil && v.Read.File == "" && len(v.Effects) == 0 && !h.ReadOnlyHint {
				t.Errorf("%s: %+v, destructive %v", v.Name, h, *h.DestructiveHint)
			}
			if h.ReadOnlyHint {
				reads++
			} else {
				writes++
			}
		}
	}
	if reads < 10 || writes < 20 {
		t.Errorf("%d verbs read and %d write", reads, writes)
	}
}

// What is sealed is read by whoever has the secret, and by nobody else; and a letter that is
// changed anywhere makes it nothing.
func TestSealedStates(t *testing.T) {
	t.Parallel()
	ours, err := newSealer([]byte("the secret of a store"))
	if err != nil {
		t.Fatal(err)
	}
	other, _ := newSealer([]byte("another"))
	st := state{"clara", "clara x", sum("call"), "1111-2222", time.Unix(1, 0).UTC()}
	sealed, err := ours.close(st)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := ours.open(sealed); !ok || got != st {
		t.Errorf("%+v %v", got, ok)
	}
	if strings.Contains(sealed, "clara") {
		t.Error("it can be read")
	}
	if _, ok := other.open(sealed); ok {
		t.Error("another secret opens it")
	}
	if again, _ := ours.close(st); again == sealed {
		t.Error("it is the same twice")
	}
	for i := range sealed {
		letter := byte('A')
		if sealed[i] == 'A' {
			letter = 'B'
		}
		if got, ok := ours.open(sealed[:i] + string(letter) + sealed[i+1:]); ok && i < len(sealed)-1 {
			t.Errorf("with another letter at %d it is %+v", i, got)
		}
	}
	for _, text := range []string{"", "x", "====", strings.Repeat("A", 40)} {
		if _, ok := ours.open(text); ok {
			t.Errorf("%q is opened", text)
		}
	}
}

// manyVerbs is how many verbs a large palette has.
const manyVerbs = 1257

// house is an engine with a palette of so many verbs, and a caller who may use all.
func house(t testing.TB, many int, with ...func(*engine.Options)) (*verbs.Registry, *Caller) {
	t.Helper()
	var b strings.Builder
	b.WriteString("domain: ledger\ndescription: What a large house has verbs for.\nroles: [{name: clerk, sees: all}]\nentities:\n  account:\n    managed: true\n    key: id\n    scope: {principal: owner}\n    label: \"{title}\"\n    fields:\n      owner: {type: string, required: true}\n      title: {type: string}\n      note: {type: string}\n      units: {type: integer}\nverbs:\n")
	b.WriteString("  - verb: open\n    description: Open an account.\n    roles: [clerk]\n    args: [{name: title, type: string, required: true}]\n    effects:\n      - creates: account\n        set: {owner: principal, title: title}\n")
	b.WriteString("  - verb: list\n    description: List the accounts.\n    roles: [clerk]\n    reads: {entity: account, fields: {title: title}}\n")
	b.WriteString("  - verb: close\n    description: Close an account.\n    roles: [clerk]\n    confirm: always\n    args: [{name: account-id, type: ref, ref-type: account, required: true}]\n    effects:\n      - deletes: account\n        where: account-id\n")
	b.WriteString("  - verb: pay\n    description: Pay into a new account.\n    roles: [clerk]\n    confirm: always\n    args: [{name: title, type: string, required: true}]\n    effects:\n      - creates: account\n        set: {owner: principal, title: title}\n")
	b.WriteString("  - verb: count\n    description: Open an account with so many units.\n    roles: [clerk]\n    args: [{name: title, type: string, required: true}, {name: units, type: integer, required: true}]\n    effects:\n      - creates: account\n        set: {owner: principal, title: title, units: units}\n")
	b.WriteString("  - verb: counted\n    description: Tell the units.\n    roles: [clerk]\n    reads: {entity: account, fields: {title: title, units: units}}\n")
	for i := range many {
		fmt.Fprintf(&b, "  - verb: amend-%d\n    description: Amend the account of desk %d, as the rules of the house have it, and say why.\n    roles: [clerk]\n    args:\n      - {name: account-id, type: ref, ref-type: account, required: true, description: which account}\n      - {name: note, type: string, required: true, max-length: 200}\n      - {name: due, type: date}\n    effects:\n      - updates: account.note\n        where: account-id\n        set: {note: note}\n", i, i)
	}
	reg, ds := load.Dir(fstest.MapFS{"ledger.yaml": {Data: []byte(b.String())}})
	if ds.HasErrors() {
		t.Fatal(ds[0].Summary, ds[0].Place)
	}
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "door.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	tables := engine.Own()
	for _, e := range reg.Entities() {
		tables = append(tables, e.Store)
	}
	if plan, err := store.Migrate(t.Context(), tables, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan.Problems)
	}
	if err := store.SetPrincipal(t.Context(), stores.Principal{Name: "kim", Roles: []string{"clerk"}}); err != nil {
		t.Fatal(err)
	}
	o := engine.Options{}
	for _, fn := range with {
		fn(&o)
	}
	eng, err := engine.New(reg, store, o)
	if err != nil {
		t.Fatal(err)
	}
	return reg, &Caller{Key: "kim", Session: func(ctx context.Context) (*engine.Session, error) {
		return eng.Session(context.WithoutCancel(ctx), "kim")
	}}
}

// lists starts a door over a pipe, and returns what asks for the list of tools.
func lists(t testing.TB, reg *verbs.Registry, c *Caller, most int) (list func() string) {
	ask, _, _ := pipes(t, reg, c, most)
	return func() string { return ask(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`) }
}

// pipes starts a door over a pipe: send sends a line, next returns the next one that comes, and
// ask does both.
func pipes(t testing.TB, reg *verbs.Registry, c *Caller, most int) (ask func(string) string, send func(string), next func() string) {
	t.Helper()
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now, Most: most})
	if err != nil {
		t.Fatal(err)
	}
	in, say := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(context.Background(), in, out, c) }()
	lines := bufio.NewReaderSize(hear, 1<<20)
	t.Cleanup(func() {
		go func() { _, _ = io.Copy(io.Discard, lines) }() // a call that was called off may be answered last
		say.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	send = func(line string) {
		if _, err := io.WriteString(say, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next = func() string {
		answer, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	ask = func(line string) string {
		send(line)
		return next()
	}
	ask(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return ask, send, next
}

// Whole numbers beyond 2^53 pass both ways of the door, in and out, as they are written: the library
// makes floating-point numbers of them where a tool has a type of Go. Beyond 64 bits they are refused.
func TestLargeNumbersAreNotRounded(t *testing.T) {
	t.Parallel()
	reg, c := house(t, 0)
	ask, _, _ := pipes(t, reg, c, 0)
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for n, number := range []string{"9007199254740993", "-9007199254740993", "9223372036854775807", "-9223372036854775808"} {
		args := fmt.Sprintf(`"arguments":{"title":"T%d","units":%s}`, n, number)
		if answer := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ledger__count",` + args + `}}`); !strings.Contains(answer, number) {
			t.Errorf("%s becomes %s", number, answer)
		}
		if answer := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ledger__counted"}}`); !strings.Contains(answer, `,`+number+`]`) {
			t.Errorf("%s is told as %s", number, answer)
		}
		for _, accept := range []string{plainly, byLibrary} {
			w := httptest.NewRecorder()
			d.ServeHTTP(w, asking("tools/call", "ledger__count", strings.Replace(args, "T", "H"+accept[:1], 1)+","+about).request(accept), c)
			if !strings.Contains(w.Body.String(), number) {
				t.Errorf("%s becomes %s", number, w.Body)
			}
		}
	}
	if answer := ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ledger__count","arguments":{"title":"U","units":9223372036854775808}}}`); !strings.Contains(answer, "isError\":true") {
		t.Errorf("a number beyond 64 bits becomes %s", answer)
	}
}

// A list without anything in it is an empty list: clients refuse null where a list belongs. (G32)
func TestEmptyListsAreLists(t *testing.T) {
	t.Parallel()
	reg, c := house(t, 0, func(o *engine.Options) {
		o.People.Authority = func(context.Context, stores.Reader, string) (stores.Principal, bool, error) {
			return stores.Principal{Name: "kim"}, true, nil // who may use no verb
		}
	})
	ask, _, _ := pipes(t, reg, c, 40)
	for method, list := range map[string]string{"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"} {
		answer := ask(`{"jsonrpc":"2.0","id":1,"method":"` + method + `"}`)
		if !strings.Contains(answer, `"`+list+`":[`) || strings.Contains(answer, "null") {
			t.Errorf("%s is answered %s", method, answer)
		}
	}
}

// Of 1 257 verbs three tools are listed, and all of them where the operator wants that.
func TestAListOfManyVerbs(t *testing.T) {
	t.Parallel()
	reg, c := house(t, manyVerbs)
	for most, want := range map[int]int{0: 3, manyVerbs + 6: manyVerbs + 6} {
		var told struct {
			Result struct{ Tools []struct{ Name string } }
		}
		text := lists(t, reg, c, most)()
		if err := json.Unmarshal([]byte(text), &told); err != nil || len(told.Result.Tools) != want {
			t.Errorf("%v: %d tools are listed, want %d", err, len(told.Result.Tools), want)
		}
	}
}

// BenchmarkListOfManyVerbs asks for the tools of 1 257 verbs over a pipe: 50 ms is the goal.
func BenchmarkListOfManyVerbs(b *testing.B) {
	reg, c := house(b, manyVerbs)
	for name, most := range map[string]int{"three tools": 0, "a tool each": manyVerbs + 6} {
		b.Run(name, func(b *testing.B) {
			list := lists(b, reg, c, most)
			n := len(list())
			for b.Loop() {
				list()
			}
			b.ReportMetric(float64(n), "bytes")
		})
	}
}

// A fault of ours ends no process, and is told without a value.
func TestAPanicIsAnswered(t *testing.T) {
	t.Parallel()
	reg, c := house(t, 1)
	c.Session = func(context.Context) (*engine.Session, error) { panic("a secret") }
	if text := lists(t, reg, c, 0)(); !strings.Contains(text, `"code":-32603`) || !strings.Contains(text, "the server itself failed") || strings.Contains(text, "secret") {
		t.Error(text)
	}
}

// BenchmarkCallOverHTTP calls a tool that lists ten rows, as the newest version of the protocol
// has it, without a socket: without the library's reading of messages and with it.
func BenchmarkCallOverHTTP(b *testing.B) {
	reg, c := house(b, 30)
	s, err := c.Session(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	c.Session = func(context.Context) (*engine.Session, error) { return s, nil }
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10 {
		asking("tools/call", "ledger__open", fmt.Sprintf(`"arguments":{"title":"Account %d"},`, i)+about).at(b, d, c, plainly)
	}
	list := asking("tools/call", "ledger__list", about)
	for name, accept := range map[string]string{"direct": plainly, "library": byLibrary} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				d.ServeHTTP(w, list.request(accept), c)
				if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "Account 9") {
					b.Fatal(w.Code, w.Body.String())
				}
			}
		})
	}
}

// No more clients of earlier versions are connected over HTTP than there is room for.
func TestConnectionsAreCounted(t *testing.T) {
	t.Parallel()
	reg, c := house(t, 1)
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now, Sessions: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{200, 200, 503, 503} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
		w := httptest.NewRecorder()
		d.ServeHTTP(w, r, c)
		if w.Code != want {
			t.Errorf("client %d is answered %d, want %d: %s", i+1, w.Code, want, w.Body)
		}
	}
}

// A call that is called off before its commit does nothing.
func TestACallIsCalledOff(t *testing.T) {
	t.Parallel()
	entered, release := make(chan bool), make(chan bool)
	var once sync.Once
	reg, c := house(t, 1, func(o *engine.Options) {
		o.At = func(at engine.Stage) {
			if at == engine.StageApply {
				once.Do(func() {
					close(entered)
					<-release
				})
			}
		}
	})
	ask, send, next := pipes(t, reg, c, 0)
	send(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ledger__open","arguments":{"title":"First"}}}`)
	<-entered
	send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
	if pong := ask(`{"jsonrpc":"2.0","id":8,"method":"ping"}`); !strings.Contains(pong, `"id":8`) { // so it was read
		t.Fatal(pong)
	}
	close(release)
	answer := ask(`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"ledger__list"}}`)
	for !strings.Contains(answer, `"id":9`) { // that of the call that was called off may come first
		answer = next()
	}
	if !strings.Contains(answer, `"outcome":"done"`) || strings.Contains(answer, "First") {
		t.Error(answer)
	}
}
