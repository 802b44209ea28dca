package lsp

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sourcegraph/jsonrpc2"
)

// An editor is the other end of a server's connection.
type editor struct {
	t       testing.TB
	conn    *jsonrpc2.Conn
	dir     string
	served  chan error
	mu      sync.Mutex
	told    map[string]published
	history []published
	heard   chan struct{}
	version map[string]int
}

// start starts a server, and an editor with a folder that holds these files: name, text, …
func start(t testing.TB, files ...string) *editor {
	t.Helper()
	here, there := net.Pipe()
	e := newEditor(t, here, files...)
	go func() {
		e.served <- Serve(context.Background(), there, Config{Version: "test", Files: os.DirFS("/"), Log: io.Discard})
	}()
	e.ask("initialize", map[string]any{"processId": nil, "rootUri": uriOf(e.dir), "capabilities": map[string]any{}}, nil)
	e.notify("initialized", map[string]any{})
	return e
}

func newEditor(t testing.TB, conn io.ReadWriteCloser, files ...string) *editor {
	t.Helper()
	e := &editor{t: t, dir: t.TempDir(), served: make(chan error, 1), told: map[string]published{}, heard: make(chan struct{}, 1), version: map[string]int{}}
	for i := 0; i < len(files); i += 2 {
		e.write(files[i], files[i+1])
	}
	handler := jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		if r.Method == "textDocument/publishDiagnostics" {
			var p published
			if err := json.Unmarshal(*r.Params, &p); err != nil {
				t.Error(err)
			}
			e.mu.Lock()
			e.told[p.URI] = p
			e.history = append(e.history, p)
			e.mu.Unlock()
			select {
			case e.heard <- struct{}{}:
			default:
			}
		}
		return nil, nil
	})
	e.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(conn, jsonrpc2.VSCodeObjectCodec{}), handler)
	t.Cleanup(func() { _ = e.conn.Close() })
	return e
}

func (e *editor) write(name, text string) {
	e.t.Helper()
	path := filepath.Join(e.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		e.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) uri(name string) string { return uriOf(filepath.Join(e.dir, name)) }

func (e *editor) ask(method string, params, into any) {
	e.t.Helper()
	if err := e.try(method, params, into); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) try(method string, params, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return e.conn.Call(ctx, method, params, into)
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	if err := e.conn.Notify(context.Background(), method, params); err != nil {
		e.t.Fatalf("%s: %v", method, err)
	}
}

func (e *editor) open(name, text string) {
	language := "verbatim"
	if isYAML(name) {
		language = "yaml"
	}
	e.version[name] = 1
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "languageId": language, "version": 1, "text": text}})
}

func (e *editor) edit(name string, changes ...change) {
	e.version[name]++
	var sent []map[string]any
	for _, c := range changes {
		m := map[string]any{"text": c.Text}
		if c.Range != nil {
			m["range"] = c.Range
		}
		sent = append(sent, m)
	}
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": e.uri(name), "version": e.version[name]}, "contentChanges": sent})
}

// diagnostics waits for those of the version that was sent last; 0 is of a file that is not
// open.
func (e *editor) diagnostics(name string) []diagnostic {
	e.t.Helper()
	deadline := time.After(30 * time.Second)
	for {
		e.mu.Lock()
		p, told := e.told[e.uri(name)]
		e.mu.Unlock()
		if told && (p.Version == nil && e.version[name] == 0 || p.Version != nil && *p.Version == e.version[name]) {
			return p.Diagnostics
		}
		select {
		case <-e.heard:
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			e.t.Fatalf("nothing was said of version %d of %s", e.version[name], name)
		}
	}
}

func codes(ds []diagnostic) []string {
	all := []string{}
	for _, d := range ds {
		all = append(all, d.Code)
	}
	return all
}

func (e *editor) expect(name string, want ...string) {
	e.t.Helper()
	if got := codes(e.diagnostics(name)); !slices.Equal(got, want) {
		e.t.Errorf("%s: %v, not %v", name, got, want)
	}
}

// at is the position of the mark | in a text, and the text without it.
func at(t testing.TB, marked string) (string, position) {
	t.Helper()
	before, after, found := strings.Cut(marked, "|")
	if !found {
		t.Fatal("no mark")
	}
	text := newText("", before+after)
	return before + after, text.ruler().position(len(before))
}

func (e *editor) at(name string, p position) map[string]any {
	return map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "position": p}
}

const shop = `domain: shop
description: A shop.
roles:
  - {name: clerk, description: Somebody who sells.}
codes:
  - name: size
    description: How large it is.
    values: [SMALL, LARGE]
entities:
  order:
    key: order_id
    scope: self
    managed: true
    fields:
      size: {type: code, ref-type: size, required: true}
      note: {type: string, description: What to mind.}
      due_date: {type: date}
verbs:
  - verb: add-order
    description: Take an order.
    roles: [clerk]
    args:
      - {name: size, type: code, ref-type: size, required: true, description: how large}
      - {name: due-date, type: date}
      - {name: note, type: string}
    requires:
      - {that: due_date == nil or due_date >= today, else: that day is over}
    effects:
      - creates: order
        as: it
        set: {size: size, due_date: due_date, note: note}
  - verb: list-orders
    description: List the orders.
    roles: [clerk]
    args:
      - {name: size, type: code, ref-type: size}
    reads:
      entity: order
      where: size == nil or row.size == size
      fields:
        order: order_id
        size: size
        note: note
`

const script = `shop.add-order :size SMALL :note "x" :as @first
`

// OB12: a script is checked while it is typed, with the palettes beside it; unsaved texts
// stand in place of files.
func TestDiagnosticsWhileTyping(t *testing.T) {
	t.Parallel()
	e := start(t, "verbs/shop.yaml", shop)
	e.open("a.dsl", "shop.add-ordr :size SMALL\n")
	e.expect("a.dsl", "unknown-verb")
	e.edit("a.dsl", change{&span{position{0, 12}, position{0, 12}}, "e"})
	e.expect("a.dsl")
	e.open("verbs/shop.yaml", strings.Replace(shop, "values: [SMALL", "values: [TINY", 1))
	e.expect("verbs/shop.yaml")
	e.edit("a.dsl", change{nil, script})
	if ds := e.diagnostics("a.dsl"); len(ds) == 0 || ds[0].Range.Start != (position{0, 21}) {
		t.Errorf("SMALL is no code of the palette that is open: %+v", ds)
	}
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": e.uri("verbs/shop.yaml")}})
	e.edit("a.dsl", change{nil, script})
	e.expect("a.dsl")
}

func TestLifecycle(t *testing.T) {
	t.Parallel()
	e := start(t)
	if err := e.try("workspace/nonsense", map[string]any{}, nil); err == nil || !strings.Contains(err.Error(), "not spoken here") {
		t.Error(err)
	}
	if err := e.try("textDocument/hover", []int{1}, nil); err == nil || !strings.Contains(err.Error(), "not of its shape") {
		t.Error(err)
	}
	e.ask("shutdown", nil, nil)
	if err := e.try("textDocument/hover", map[string]any{}, nil); err == nil || !strings.Contains(err.Error(), "after shutdown") {
		t.Error(err)
	}
	e.notify("exit", nil)
	if err := <-e.served; err != nil {
		t.Error(err)
	}
	e = start(t)
	_ = e.conn.Close()
	if err := <-e.served; err != ErrNoShutdown {
		t.Error(err)
	}
}

// A broken file does not silence the others, nor the scripts that use them: what it said
// when it could be read is known until it can be again.
func TestABrokenFileSilencesNothing(t *testing.T) {
	t.Parallel()
	other := "domain: desk\nverbs:\n  - verb: ask\n    description: Ask.\n    roles: [clerk]\n    args: [{name: q, type: strin, required: true}]\n    handler: true\n"
	e := start(t, "verbs/shop.yaml", shop, "verbs/desk.yaml", other)
	e.open("a.dsl", script)
	e.expect("a.dsl")
	e.open("verbs/shop.yaml", shop)
	e.expect("verbs/shop.yaml")
	half := shop[:strings.Index(shop, "size: {type: code")+12] // a half-saved palette
	e.edit("verbs/shop.yaml", change{nil, half})
	e.expect("verbs/shop.yaml", "not-yaml")
	e.mu.Lock()
	delete(e.told, e.uri("verbs/desk.yaml"))
	e.mu.Unlock()
	e.open("verbs/desk.yaml", other)
	e.expect("verbs/desk.yaml", "unknown-type")
	e.edit("a.dsl", change{nil, "shop.add-order :size HUGE\n"})
	e.expect("a.dsl", "unknown-code")
	e.edit("a.dsl", change{nil, script})
	e.expect("a.dsl")
	// One that was never whole: names that nothing knows are nothing to complain about.
	f := start(t, "verbs/shop.yaml", half, "verbs/desk.yaml", other)
	f.open("a.dsl", "shop.add-order :size HUGE\ndesk.asc :q \"x\"\n")
	f.expect("a.dsl", "unknown-verb")
}

// Seeded fault: stale diagnostics. Nothing is told of a version that the server knows to be
// over, however fast somebody types.
func TestDiagnosticsAreOfTheNewestVersion(t *testing.T) {
	t.Parallel()
	e := start(t, "verbs/shop.yaml", shop)
	s := &server{published: map[string]string{}, docs: map[string]*document{}, homes: map[string]string{}, checked: map[string]*checked{},
		house: house{files: os.DirFS("/"), sets: map[string]*palettes{}}, wake: make(chan struct{}, 1)}
	var sent []published
	here, there := net.Pipe()
	heard := make(chan published, 10)
	_ = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(there, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.HandlerWithError(func(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
		var p published
		_ = json.Unmarshal(*r.Params, &p)
		heard <- p
		return nil, nil
	}))
	s.conn = jsonrpc2.NewConn(context.Background(), jsonrpc2.NewBufferedStream(here, jsonrpc2.VSCodeObjectCodec{}), jsonrpc2.HandlerWithError(s.handle))
	open := func(version int, text string) func() {
		return func() {
			path := filepath.Join(e.dir, "a.dsl")
			s.docs[uriOf(path)] = &document{uri: uriOf(path), path: path, script: true, version: version, text: newText("a.dsl", text)}
		}
	}
	s.change(true, open(1, "shop.add-ordr\n"))
	docs, changes := s.snapshot()
	found := s.everything(docs)
	s.change(false, open(2, script)) // while version 1 was looked at
	s.publish(context.Background(), found, changes)
	s.diagnose(context.Background())
	sent = append(sent, <-heard)
	if len(sent[0].Diagnostics) != 0 || *sent[0].Version != 2 {
		t.Errorf("told of version %d, which was over: %+v", *sent[0].Version, sent[0].Diagnostics)
	}
	_ = s.conn.Close()
}
