package torture

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
)

// The ways along a line.
const (
	toServer = 0
	toClient = 1
)

// A proxy stands between a store and its server. It can cut the line after any
// byte, hold it in either direction, and slow it down.
type proxy struct {
	listen net.Listener
	server string
	store  string // address of the database, through the proxy

	mu      sync.Mutex
	moved   *sync.Cond
	conns   map[net.Conn]net.Conn // client to server
	passed  [2]int64              // bytes, since it was armed
	cutAt   [2]int64              // -1 is never
	tripped bool
	held    [2]bool
	holdAt  [2]int64 // -1 is never
	refuse  bool
	delay   time.Duration

	framed   bool // it carries the messages of PostgreSQL one by one
	messages int  // that may pass before everything is held; 0 is no end
}

func newProxy(t *testing.T, db pgtest.DB, options string) *proxy {
	t.Helper()
	p := &proxy{server: filepath.Join(db.Dir, ".s.PGSQL.5432"), conns: make(map[net.Conn]net.Conn), cutAt: [2]int64{-1, -1}, holdAt: [2]int64{-1, -1}}
	p.moved = sync.NewCond(&p.mu)
	var err error
	if p.listen, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(db.App)
	if err != nil {
		t.Fatal(err)
	}
	p.store = fmt.Sprintf("postgres://%s@%s%s?sslmode=disable%s", u.Query().Get("user"), p.listen.Addr(), u.Path, options)
	t.Cleanup(func() {
		p.listen.Close()
		p.heal()
		p.hangUp()
	})
	go func() {
		for {
			client, err := p.listen.Accept()
			if err != nil {
				return
			}
			go p.join(client)
		}
	}()
	return p
}

// join connects a client to the server, until either hangs up.
func (p *proxy) join(client net.Conn) {
	defer client.Close()
	p.mu.Lock()
	refuse := p.refuse
	p.mu.Unlock()
	if refuse {
		return
	}
	server, err := net.Dial("unix", p.server)
	if err != nil {
		return
	}
	defer server.Close()
	p.mu.Lock()
	p.conns[client] = server
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.pump(toServer, client, client, server) })
	both.Go(func() { p.pump(toClient, client, server, client) })
	both.Wait()
	p.mu.Lock()
	delete(p.conns, client)
	p.mu.Unlock()
}

// pump carries bytes one way.
func (p *proxy) pump(way int, client, from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	p.mu.Lock()
	framed := p.framed
	p.mu.Unlock()
	r, b := bufio.NewReaderSize(from, 32<<10), make([]byte, 32<<10)
	read := r.Read
	if framed {
		type1 := 1 // a message begins with its type and its length; the first of a client has no type
		if way == toServer {
			type1 = 0
		}
		read = func([]byte) (int, error) {
			head, err := r.Peek(type1 + 4)
			if err != nil {
				return 0, err
			}
			b = make([]byte, type1+int(binary.BigEndian.Uint32(head[type1:])))
			type1 = 1
			return io.ReadFull(r, b)
		}
	}
	for {
		n, err := read(b)
		if n > 0 {
			pass, cut := p.pass(way, client, n)
			if _, err := to.Write(b[:pass]); err != nil || cut {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// pass says how many of n bytes get through, once they may, and whether the line
// is cut then.
func (p *proxy) pass(way int, client net.Conn, n int) (int, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if delay := p.delay; delay > 0 {
		p.mu.Unlock()
		time.Sleep(delay)
		p.mu.Lock()
	}
	if at := p.holdAt[way]; at >= 0 && p.passed[way]+int64(n) > at {
		p.held, p.holdAt = [2]bool{true, true}, [2]int64{-1, -1}
	}
	for p.held[way] && p.conns[client] != nil {
		p.moved.Wait()
	}
	if cut := p.cutAt[way]; cut >= 0 && p.passed[way]+int64(n) > cut {
		n = int(cut - p.passed[way])
		p.cutAt, p.tripped = [2]int64{-1, -1}, true
		p.passed[way] += int64(n)
		return n, true
	}
	p.passed[way] += int64(n)
	if p.messages > 0 {
		if p.messages--; p.messages == 0 {
			p.held = [2]bool{true, true}
		}
	}
	return n, false
}

// frames has new lines carried message by message.
func (p *proxy) frames() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.framed = true
}

// stallAfter keeps back everything, both ways, once so many messages passed either way from now on.
func (p *proxy) stallAfter(messages int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.messages = messages
}

// stalls reports whether everything is kept back.
func (p *proxy) stalls() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[toServer] && p.held[toClient]
}

// arm has the line cut once, after so many bytes one way from now on.
func (p *proxy) arm(way int, after int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAt, p.passed, p.tripped = [2]int64{-1, -1}, [2]int64{}, false
	p.cutAt[way] = after
}

// disarm reports whether the line was cut, and how many bytes passed each way.
func (p *proxy) disarm() (bool, [2]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutAt = [2]int64{-1, -1}
	return p.tripped, p.passed
}

// hold keeps back what goes either way, without an end of the line.
func (p *proxy) hold(server, client bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = [2]bool{toServer: server, toClient: client}
	p.moved.Broadcast()
}

// holdAfter keeps back everything, both ways, once so many bytes passed one way from
// now on.
func (p *proxy) holdAfter(way int, after int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.passed = [2]int64{}
	p.holdAt[way] = after
}

// slow keeps everything back for a while.
func (p *proxy) slow(by time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = by
}

// shut refuses new connections.
func (p *proxy) shut(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
}

func (p *proxy) heal() {
	p.stallAfter(0)
	p.hold(false, false)
	p.slow(0)
	p.shut(false)
}

// hangUp cuts every line.
func (p *proxy) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for client, server := range p.conns {
		client.Close()
		server.Close()
		delete(p.conns, client)
	}
	p.moved.Broadcast()
}
