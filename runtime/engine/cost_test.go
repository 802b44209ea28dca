package engine_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores/postgres"
	"verbatim/stores/postgres/pgtest"
)

// A counter stands between a store and its server, and counts what the store sends.
type counter struct {
	mu         sync.Mutex
	trips      int
	prepared   map[string]string // by name
	statements []string
}

// count lets a store's connections through a socket of its own, whose folder it returns.
func (c *counter) count(t *testing.T, server string) string {
	t.Helper()
	const name = ".s.PGSQL.5432"
	dir := t.TempDir()
	listen, err := net.Listen("unix", filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listen.Close() })
	go func() {
		for {
			client, err := listen.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("unix", filepath.Join(server, name))
			if err != nil {
				_ = client.Close()
				return
			}
			go func() { _, _ = io.Copy(client, to); _ = client.Close() }()
			go func() { c.forward(client, to); _ = to.Close() }()
		}
	}()
	return dir
}

// forward reads the messages of PostgreSQL's protocol. Only the first has no letter.
func (c *counter) forward(client io.Reader, to io.Writer) {
	in := bufio.NewReader(client)
	letter := byte(0)
	for {
		head := make([]byte, 0, 5)
		if letter != 0 {
			b, err := in.ReadByte()
			if err != nil {
				return
			}
			head, letter = append(head, b), b
		}
		head = head[:len(head)+4]
		if _, err := io.ReadFull(in, head[len(head)-4:]); err != nil {
			return
		}
		body := make([]byte, binary.BigEndian.Uint32(head[len(head)-4:])-4)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		c.sent(letter, body)
		letter = max(letter, 1)
		if _, err := to.Write(append(head, body...)); err != nil {
			return
		}
	}
}

// sent notes a message of the store's.
func (c *counter) sent(letter byte, body []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	texts := strings.SplitN(string(body), "\x00", 3)
	switch letter {
	case 'P': // a name, and what it stands for
		c.prepared[texts[0]] = texts[1]
	case 'B': // a portal, and the name of a statement
		if sql := c.prepared[texts[1]]; !strings.Contains(sql, "pg_notify") { // workers are woken once a second at most
			c.statements = append(c.statements, sql)
		}
	case 'Q':
		c.statements = append(c.statements, texts[0])
		c.trips++
	case 'S':
		c.trips++
	}
}

// through is the address of a server's database by way of the counter, for one connection.
func (c *counter) through(t *testing.T, db pgtest.DB) string {
	t.Helper()
	return strings.Replace(db.App, url.QueryEscape(db.Dir), url.QueryEscape(c.count(t, db.Dir)), 1) + "&pool_max_conns=1"
}

// cost is that of a call that is checked already.
func (c *counter) cost(t *testing.T, s *engine.Session, text string) string {
	t.Helper()
	script, _ := dsl.Parse(dsl.NewSource("cost.dsl", text))
	prog, ds := s.Check(t.Context(), script)
	if prog == nil {
		t.Fatal(told(ds))
	}
	c.mu.Lock()
	c.statements, c.trips = nil, 0
	c.mu.Unlock()
	if _, err := s.Run(t.Context(), prog, engine.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Sprintf("%d statements, %d trips", len(c.statements), c.trips)
}

// What a verb costs on a server, whatever else that does: statements, the beginning and the
// end of its transaction among them, and round trips (PERF-X1, PERF-X3, PORTAL-X1).
func TestWhatAVerbCosts(t *testing.T) {
	t.Parallel()
	type is struct{ name, call, want string }
	costs := func(t *testing.T, c *counter, s *engine.Session, prepare []string, all ...is) {
		for _, text := range prepare { // the connection prepares its statements
			c.cost(t, s, text)
		}
		for _, v := range all {
			if got := c.cost(t, s, v.call); got != v.want {
				t.Errorf("%s costs %s, want %s:\n%s", v.name, got, v.want, strings.Join(c.statements, "\n"))
			}
		}
	}
	t.Run("the portal", func(t *testing.T) {
		t.Parallel()
		c := &counter{prepared: map[string]string{}}
		_, db := serverAndLike(t, "bank", fillBank(t))
		store, err := postgres.Open(t.Context(), c.through(t, db), postgres.MigrateAs(db.Owner), postgres.WithoutSealer())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		p := newPortal(t, openBank(t, store))
		clara, err := p.engine.Session(t.Context(), "clara")
		if err != nil {
			t.Fatal(err)
		}
		note := func(request string) string {
			return fmt.Sprintf(`client.add-note :request-id @%s :note "note" :expected-date 2025-01-10`, request)
		}
		document := func(n int) string {
			return fmt.Sprintf(`client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference "upload://f%d"`, n)
		}
		question := `client.request-clarification :request-id @maria-schmidt-date-of-birth :question "Which one?"`
		var prepare []string
		for n := range 3 {
			prepare = append(prepare, "client.get-outstanding", note("thomas-muller-identity"), question, document(n))
		}
		costs(t, c, clara, prepare,
			is{"a read of two entities", "client.get-outstanding", "5 statements, 1 trips"},
			is{"a note with a reminder", note("pierre-dupont-source-of-wealth"), "13 statements, 2 trips"},
			is{"one that takes the place of another", note("thomas-muller-identity"), "14 statements, 2 trips"},
			is{"a question", question, "11 statements, 2 trips"},
			is{"a document", document(4), "17 statements, 5 trips"})
	})
}
