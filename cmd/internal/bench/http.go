package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"verbatim/runtime/frontends/http/api"
	serve "verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

const (
	httpRead  = "POST /v1/run, a read verb"
	httpWrite = "POST /v1/run, a write verb"
	thinRead  = "net/http and pgx, the same rows within row-level security"
	thinWrite = "net/http and pgx, the writes as one statement"
	thinChain = "net/http and pgx, the same with each line chained to the last"
	toolRead  = "MCP Toolbox for Databases over REST, the same rows"
	toolWrite = "MCP Toolbox for Databases over REST, the writes as one statement"
	mcpRead   = "POST /mcp, a read verb as a tool"
	mcpWrite  = "POST /mcp, a write verb as a tool"
	boxRead   = "MCP Toolbox for Databases over MCP, the same rows"
	boxWrite  = "MCP Toolbox for Databases over MCP, the writes as one statement"
)

// serving is PERF-H1: a call over HTTP, beside a handler that does what its author
// thought of: it looks up the token, works within row-level security, and writes JSON.
func serving() (*race, func(), error) {
	with := func(cs []*contestant) *race {
		return &race{
			name:        "A call over HTTP on PostgreSQL, 8 connections that are kept: a token, a scope, a journal",
			contestants: cs,
			goals: []goal{
				{"PERF-H1", "speed of a thin handler, reading", faster(cs[0], cs[1]), "x", true, 0.9},
				{"PERF-H1", "speed of a thin handler that chains its journal, writing", faster(cs[2], cs[4]), "x", true, 0.9},
				{"PERF-H1", "speed of MCP Toolbox over REST, reading", faster(cs[0], cs[5]), "x", true, 1.2},
				{"PERF-H1", "speed of MCP Toolbox over REST, writing", faster(cs[2], cs[6]), "x", true, 1.2},
				{"PERF-H1", "speed of MCP Toolbox over MCP, reading", faster(cs[7], cs[9]), "x", true, 1.3},
				{"PERF-H1", "speed of MCP Toolbox over MCP, writing", faster(cs[8], cs[10]), "x", true, 1.3},
			},
		}
	}
	return onServer(func(s *server) (*race, error) {
		tokens := map[string]int{}
		for who := range clients {
			tokens[logins.Digest(token(who))] = who
		}
		ours, err := s.listen(tokens)
		if err != nil {
			return nil, err
		}
		thin, err := s.thin(tokens)
		if err != nil {
			return nil, err
		}
		ask := func(url string, who int, script string, want string) error {
			body, _ := json.Marshal(map[string]string{"script": script})
			r, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
			if err != nil {
				return err
			}
			r.Header.Set("Authorization", "Bearer "+token(who))
			r.Header.Set("Content-Type", "application/json")
			answer, err := visitors.Do(r)
			if err != nil {
				return err
			}
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			if err == nil && (answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(want))) {
				err = fmt.Errorf("%s is answered %d: %s", url, answer.StatusCode, text)
			}
			return err
		}
		call, err := s.toolbox()
		box := func(name string, overMCP bool, tool string) *contestant {
			if err != nil {
				return absent(name, err)
			}
			return &contestant{name: name, per: 1, sample: together(func(who, i int) error { return call(overMCP, tool, who, i) })}
		}
		tools := []*contestant{
			box(toolRead, false, "read"), box(toolWrite, false, "write"),
			{name: mcpRead, per: 1, sample: together(func(who, _ int) error { return askMCP(ours, who, "bank__list-requests", nil) })},
			{name: mcpWrite, per: 1, sample: together(func(who, i int) error {
				return askMCP(ours, who, "bank__add-note", map[string]any{"request-id": "@request-" + strconv.Itoa(who*theirRows+i%theirRows),
					"note": "Accountant is sending it, " + strconv.FormatInt(notes.Add(1), 10), "expected-date": "2025-01-03"})
			})},
			box(boxRead, true, "read"), box(boxWrite, true, "write"),
		}
		return with(append([]*contestant{
			{name: httpRead, per: 1, sample: together(func(who, _ int) error { return ask(ours+"/v1/run", who, listing, `"outcome":"done"`) })},
			{name: thinRead, per: 1, sample: together(func(who, i int) error { return ask(thin+"/read/"+strconv.Itoa(i), who, listing, `"rows"`) })},
			{name: httpWrite, per: 1, sample: together(func(who, i int) error {
				return ask(ours+"/v1/run", who, note(who*theirRows+i%theirRows), `"outcome":"done"`)
			})},
			{name: thinWrite, per: 1, sample: together(func(who, i int) error { return ask(thin+"/write/"+strconv.Itoa(i), who, "", `"done"`) })},
			{name: thinChain, per: 1, sample: together(func(who, i int) error { return ask(thin+"/chain/"+strconv.Itoa(i), who, "", `"done"`) })},
		}, tools...)), nil
	}, func(why error) *race {
		return with(nobody(why, httpRead, thinRead, httpWrite, thinWrite, thinChain, toolRead, toolWrite, mcpRead, mcpWrite, boxRead, boxWrite))
	})
}

// askMCP calls a tool, in the version of the protocol that has no connections to begin.
func askMCP(at string, who int, tool string, args map[string]any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": args,
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": map[string]any{}}}})
	if err != nil {
		return err
	}
	r, err := http.NewRequest(http.MethodPost, at+"/mcp", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + token(who)}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {tool}}
	answer, err := visitors.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode != http.StatusOK || !bytes.Contains(text, []byte(`"outcome":"done"`))) {
		err = fmt.Errorf("%s is answered %d: %s", tool, answer.StatusCode, text)
	}
	return err
}

// visitors keep their connections.
var visitors = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * clients}}

func token(who int) string { return "the token of " + strconv.Itoa(who) }

// listen starts our server.
func (s *server) listen(tokens map[string]int) (string, error) {
	rule := []engine.StandingRule{{Name: "notes", Verb: "bank.add-note", Until: stores.DateOf(time.Now().AddDate(0, 0, 1))}} // so that nobody is asked over MCP
	e, err := engine.New(s.reg, s.store, engine.Options{People: engine.People{Standing: func(context.Context, stores.Reader, string) ([]engine.StandingRule, error) { return rule, nil }}})
	if err != nil {
		return "", err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	at := "http://" + l.Addr().String()
	door, err := serve.New(serve.Options{Registry: s.reg, Engine: e, Store: s.store, URL: at, Limits: serve.Limits{Rate: 1e9, Burst: 1e9},
		Tokens: func(_ context.Context, digest string) (serve.Token, error) {
			who, ok := tokens[digest]
			if !ok {
				return serve.Token{}, serve.ErrNobody
			}
			return serve.Token{Principal: client(who), Audience: at, Expires: time.Now().Add(time.Hour), Script: true}, nil
		}})
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithCancel(context.Background())
	s.host.Cleanup(stop)
	programs, err := api.New(ctx, door, api.Options{})
	if err != nil {
		return "", err
	}
	door.Mount(programs.Routes()...)
	go func() { _ = door.Run(ctx, l, nil) }()
	return at, nil
}

// thin starts a handler as somebody writes it who needs no more than this.
func (s *server) thin(tokens map[string]int) (string, error) {
	readSQL, readArgs := s.forPgx(theirs)
	writeSQL, writeArgs := s.forPgx(oneStatement)
	chain := s.chained()
	mux := http.NewServeMux()
	handle := func(path string, do func(who, i int) (any, error)) {
		mux.HandleFunc("POST "+path+"/{i}", func(w http.ResponseWriter, r *http.Request) {
			secret, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
			who, known := tokens[logins.Digest(secret)]
			i, _ := strconv.Atoi(r.PathValue("i"))
			var asked struct{ Script string }
			if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || !known {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			doc, err := do(who, i)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			_ = json.NewEncoder(w).Encode(doc)
		})
	}
	handle("/read", func(who, i int) (any, error) {
		rows, err := rowsWithin(s.app, who, bankKey(aCBU, who).Text(), readSQL, readArgs(who, i)...)
		if err == nil && len(rows) != theirRows {
			err = fmt.Errorf("%d rows were read", len(rows))
		}
		return map[string]any{"rows": rows}, err
	})
	handle("/write", func(who, i int) (any, error) {
		tag, err := s.pool.Exec(context.Background(), writeSQL, writeArgs(who, i)...)
		if err == nil && tag.RowsAffected() != 1 {
			err = errors.New("nothing was written")
		}
		return map[string]bool{"done": true}, err
	})
	handle("/chain", func(who, i int) (any, error) { return map[string]bool{"done": true}, chain(who, i) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	s.host.Cleanup(func() { server.Close() })
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String(), nil
}
