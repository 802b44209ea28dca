// Package lsp is a language server for scripts and palettes: it reports the results of dsl.Parse,
// load.ReadDraft and Registry.Check to editors, and has no parser or checker of its own.
//
//	err := lsp.Serve(ctx, conn, lsp.Config{Palettes: "verbs"})
//
// Texts that are open in the editor replace files. Every answer is about the texts at its time:
// diagnostics of texts that have changed since are dropped, and computed again.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/sourcegraph/jsonrpc2"
)

// Config configures a server.
type Config struct {
	// Palettes is the directory of palettes for scripts that have none nearby; "" means none.
	Palettes string
	Version  string
	Files    fs.FS     // all files, by their paths without the first slash; only read
	Log      io.Writer // for faults of the server itself
}

// ErrNoShutdown is the error of Serve if the editor ended the connection, or asked for an exit,
// without a shutdown before it.
var ErrNoShutdown = errors.New("the editor ended the connection without a shutdown")

// Serve serves one editor until it exits, disconnects, or ctx ends, which is no error.
func Serve(ctx context.Context, conn io.ReadWriteCloser, cfg Config) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := &server{
		cfg:  cfg,
		docs: make(map[string]*document), published: make(map[string]string),
		wake: make(chan struct{}, 1), homes: make(map[string]string),
		house: house{files: cfg.Files, sets: make(map[string]*palettes)}, checked: make(map[string]*checked),
	}
	s.mu.Lock() // the first message may come before the connection is known
	s.conn = jsonrpc2.NewConn(ctx, jsonrpc2.NewBufferedStream(conn, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed(), jsonrpc2.SetLogger(unsaid{}))
	s.mu.Unlock()
	var worker sync.WaitGroup
	worker.Go(func() { s.work(ctx) })
	defer worker.Wait()
	defer stop()
	select {
	case <-ctx.Done():
		_ = s.conn.Close()
		return nil
	case <-s.conn.DisconnectNotify():
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready && !s.down {
		return ErrNoShutdown
	}
	return nil
}

// unsaid drops the library's log: messages that are no JSON, or came too late.
type unsaid struct{}

func (unsaid) Printf(string, ...any) {}

type server struct {
	cfg  Config
	conn *jsonrpc2.Conn
	wake chan struct{}

	mu        sync.Mutex // for the fields below; held while diagnostics are published
	ready     bool       // initialize was answered
	down      bool       // shutdown was
	watches   bool       // the editor watches files when it is asked to
	folders   []string
	docs      map[string]*document // by URI; a document is never changed, but replaced
	changes   int                  // number of changes of docs or files
	published map[string]string    // the last message to the editor about a URI
	homes     map[string]string    // the directory of a script's palettes

	house house

	checking sync.Mutex
	checked  map[string]*checked // by path
}

// A document is a text that is open in the editor.
type document struct {
	uri, path string
	script    bool
	version   int
	text      *text
}

func isYAML(path string) bool {
	ext := filepath.Ext(path)
	return ext == ".yaml" || ext == ".yml"
}

// pathOf returns the file of a URI; a document without a file keeps its URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return uri
	}
	return filepath.Clean(filepath.FromSlash(u.Path))
}

func uriOf(path string) string {
	if !filepath.IsAbs(path) {
		return path
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
}

func refuse(code int64, format string, args ...any) error {
	return &jsonrpc2.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// What errors of the protocol are called by.
const (
	notInitialized = -32002
	requestFailed  = -32803
)

// handle answers one message. They come one after the other, in the order in which the
// editor sent them.
func (s *server) handle(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (answer any, err error) {
	defer func() {
		if r := recover(); r != nil { // an editor is not left without a server for one request
			fmt.Fprintf(s.cfg.Log, "%s: %v\n%s\n", req.Method, r, debug.Stack())
			answer, err = nil, refuse(jsonrpc2.CodeInternalError, "the server failed at %s", req.Method)
		}
	}()
	s.mu.Lock()
	ready, down := s.ready, s.down
	s.mu.Unlock()
	switch {
	case req.Method == "exit":
		return nil, s.conn.Close()
	case !ready && req.Method != "initialize":
		return nil, refuse(notInitialized, "initialize comes before %s", req.Method)
	case down:
		return nil, refuse(jsonrpc2.CodeInvalidRequest, "after shutdown there is nothing but exit")
	}
	given := func(into any) error {
		if req.Params == nil {
			return refuse(jsonrpc2.CodeInvalidParams, "%s has no parameters", req.Method)
		}
		if err := json.Unmarshal(*req.Params, into); err != nil {
			return refuse(jsonrpc2.CodeInvalidParams, "the parameters of %s are not of its shape: %v", req.Method, err)
		}
		return nil
	}
	switch req.Method {
	case "initialize":
		var p initializeParams
		if err := given(&p); err != nil {
			return nil, err
		}
		return s.initialize(p), nil
	case "initialized":
		s.watch(ctx)
		return nil, nil
	case "shutdown":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.down = true
		return nil, nil
	case "textDocument/didOpen":
		var p openParams
		if err := given(&p); err != nil {
			return nil, err
		}
		d := &document{uri: p.Document.URI, path: pathOf(p.Document.URI), version: p.Document.Version}
		d.script = p.Document.LanguageID == "verbatim" || filepath.Ext(d.path) == ".dsl"
		d.text = newText(filepath.Base(d.path), p.Document.Text)
		s.change(true, func() { s.docs[d.uri] = d })
		return nil, nil
	case "textDocument/didChange":
		var p changeParams
		if err := given(&p); err != nil {
			return nil, err
		}
		s.change(false, func() {
			if old := s.docs[p.Document.URI]; old != nil {
				d := *old
				d.version, d.text = p.Document.Version, old.text.edited(p.Changes)
				s.docs[d.uri] = &d
			}
		})
		return nil, nil
	case "textDocument/didClose":
		var p params
		if err := given(&p); err != nil {
			return nil, err
		}
		s.change(true, func() { delete(s.docs, p.Document.URI) })
		return nil, nil
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.change(true, func() {})
		return nil, nil
	case "workspace/didChangeWorkspaceFolders":
		var p foldersParams
		if err := given(&p); err != nil {
			return nil, err
		}
		s.change(true, func() {
			for _, f := range p.Event.Removed {
				s.folders = slices.DeleteFunc(s.folders, func(path string) bool { return path == pathOf(f.URI) })
			}
			for _, f := range p.Event.Added {
				s.folders = append(s.folders, pathOf(f.URI))
			}
		})
		return nil, nil
	}
	ask, known := requests[req.Method]
	if !known {
		if req.Notif {
			return nil, nil // an unused notification
		}
		return nil, refuse(jsonrpc2.CodeMethodNotFound, "%s is not spoken here", req.Method)
	}
	var p params
	if err := given(&p); err != nil {
		return nil, err
	}
	return ask(s, p)
}

func (s *server) initialize(p initializeParams) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range p.Folders {
		s.folders = append(s.folders, pathOf(f.URI))
	}
	if len(s.folders) == 0 && p.RootURI != "" {
		s.folders = append(s.folders, pathOf(p.RootURI))
	}
	s.ready, s.watches = true, p.Capabilities.Workspace.Watched.Dynamic
	return map[string]any{
		"capabilities": capabilities,
		"serverInfo":   map[string]string{"name": "verbatim", "version": s.cfg.Version},
	}
}

// watch asks the editor to report changes of files by others.
func (s *server) watch(ctx context.Context) {
	if !s.watches {
		return
	}
	go func() { // the answer comes through the same handler
		_ = s.conn.Call(ctx, "client/registerCapability", json.RawMessage(`{"registrations": [{"id": "files", "method": "workspace/didChangeWatchedFiles",
			"registerOptions": {"watchers": [{"globPattern": "**/*.{yaml,yml,dsl}"}]}}]}`), nil)
	}()
}

// change changes the documents, and starts new diagnostics. files says that the set of files may
// have changed.
func (s *server) change(files bool, change func()) {
	s.mu.Lock()
	change()
	s.changes++
	if files {
		clear(s.homes)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // it is awake
	}
}

// work makes diagnostics whenever something has changed, of how everything stands then.
func (s *server) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		s.diagnose(ctx)
	}
}

func (s *server) diagnose(ctx context.Context) {
	defer func() {
		if r := recover(); r != nil {
			fmt.Fprintf(s.cfg.Log, "diagnostics: %v\n%s\n", r, debug.Stack())
		}
	}()
	docs, changes := s.snapshot()
	s.publish(ctx, s.everything(docs), changes)
}

// publish sends the editor the diagnostics of the state after a number of changes.
func (s *server) publish(ctx context.Context, found map[string]published, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if changes != s.changes {
		return // outdated; the newer change has woken the worker
	}
	for uri, p := range found {
		told, err := json.Marshal(p)
		if err != nil || s.published[uri] == string(told) {
			continue
		}
		s.published[uri] = string(told)
		_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", json.RawMessage(told))
	}
	for uri := range s.published {
		if _, still := found[uri]; !still {
			delete(s.published, uri)
			_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", published{URI: uri, Diagnostics: []diagnostic{}})
		}
	}
}

// snapshot returns the documents, and the number of changes so far.
func (s *server) snapshot() (map[string]*document, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	byPath := make(map[string]*document, len(s.docs))
	for _, d := range s.docs {
		byPath[d.path] = d
	}
	return byPath, s.changes
}

// home returns the directory of a script's palettes: the nearest one, up to the open folder, which
// holds palettes or has them in its folder verbs.
func (s *server) home(path string, docs map[string]*document) string {
	s.mu.Lock()
	folders := slices.Clone(s.folders)
	home, known := s.homes[path]
	s.mu.Unlock()
	if known {
		return home
	}
	defer func() {
		s.mu.Lock()
		s.homes[path] = home
		s.mu.Unlock()
	}()
	home = s.cfg.Palettes
	dir := filepath.Dir(path)
	if !filepath.IsAbs(path) { // not saved yet
		if len(folders) == 0 {
			return home
		}
		dir = folders[0]
	}
	for {
		for _, d := range []string{dir, filepath.Join(dir, "verbs")} {
			if len(s.house.filesOf(d, docs)) > 0 {
				home = d
				return home
			}
		}
		up := filepath.Dir(dir)
		if slices.Contains(folders, dir) || up == dir || !slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(dir, f+string(filepath.Separator)) }) {
			return home
		}
		dir = up
	}
}
