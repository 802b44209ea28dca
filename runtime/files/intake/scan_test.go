package intake

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// eicar is what every scanner takes for harmful, by agreement. It stands here in
// two halves, or a scanner would find this file.
const eicar = `X5O!P%@AP[4\PZX54(P^)7CC)7}` + `$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*`

// A scanning is a server that speaks clamd's protocol: it reads the chunks of an
// INSTREAM, and finds EICAR in them.
type scanning struct {
	net.Listener
	mu      sync.Mutex
	seen    []byte              // of the last stream
	trouble func(conn net.Conn) // instead of an answer
	most    int                 // StreamMaxLength
}

func scanner(t testing.TB, network string) (*scanning, *Clamav) {
	t.Helper()
	address := "127.0.0.1:0"
	if network == "unix" {
		address = filepath.Join(t.TempDir(), "clamd.sock")
	}
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	s := &scanning{Listener: l, most: 1 << 20}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s, &Clamav{Network: network, Address: l.Addr().String()}
}

func (s *scanning) serve(conn net.Conn) {
	defer conn.Close()
	command := make([]byte, len("zINSTREAM\x00"))
	if _, err := io.ReadFull(conn, command); err != nil || string(command) != "zINSTREAM\x00" {
		io.WriteString(conn, "UNKNOWN COMMAND\x00")
		return
	}
	s.mu.Lock()
	trouble, most := s.trouble, s.most
	s.mu.Unlock()
	if trouble != nil {
		trouble(conn)
		return
	}
	var all []byte
	for {
		var size uint32
		if err := binary.Read(conn, binary.BigEndian, &size); err != nil {
			return
		}
		if size == 0 {
			break
		}
		if len(all)+int(size) > most {
			io.WriteString(conn, "INSTREAM size limit exceeded. ERROR\x00")
			return
		}
		chunk := make([]byte, size)
		if _, err := io.ReadFull(conn, chunk); err != nil {
			return
		}
		all = append(all, chunk...)
	}
	s.mu.Lock()
	s.seen = all
	s.mu.Unlock()
	if bytes.Contains(all, []byte(eicar)) {
		io.WriteString(conn, "stream: Eicar-Test-Signature FOUND\x00")
		return
	}
	io.WriteString(conn, "stream: OK\x00")
}

func (s *scanning) makes(trouble func(net.Conn)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.trouble = trouble
}

func TestClamav(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"tcp", "unix"} {
		s, c := scanner(t, network)
		for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 300_000} {
			clean := bytes.Repeat([]byte("clean "), size/6+1)[:size]
			if found, err := c.Scan(context.Background(), bytes.NewReader(clean)); err != nil || found.Harmful {
				t.Errorf("%s, %d bytes: %v %v", network, size, found, err)
			}
			if !bytes.Equal(s.seen, clean) {
				t.Errorf("%d bytes were sent as %d others", size, len(s.seen))
			}
			// Wherever it stands, and across chunks.
			bad := append(bytes.Clone(clean), eicar...)
			if found, err := c.Scan(context.Background(), iotest.HalfReader(bytes.NewReader(bad))); err != nil || found != (Finding{true, "Eicar-Test-Signature"}) {
				t.Errorf("%s, after %d bytes: %v %v", network, size, found, err)
			}
		}
	}
}

// Whatever a scanner does instead of saying OK, the file does not count as clean.
func TestClamavInTrouble(t *testing.T) {
	t.Parallel()
	says := func(text string) func(net.Conn) {
		return func(c net.Conn) {
			go io.Copy(io.Discard, c)
			io.WriteString(c, text)
			c.(*net.TCPConn).CloseWrite()
		}
	}
	for name, trouble := range map[string]func(net.Conn){
		"cut":            func(net.Conn) {},
		"an error":       says("Can't allocate memory ERROR\x00"),
		"nothing":        says(""),
		"half an answer": says("stream: OK"),
		"another answer": says("stream: OKAY\x00"),
		"an empty name":  says("FOUND\x00"),
		"without an end": says(strings.Repeat("stream: OK ", 10_000)),
		"OK of another":  says("other: OK\x00"),
	} {
		s, c := scanner(t, "tcp")
		s.makes(trouble)
		if found, err := c.Scan(context.Background(), bytes.NewReader(make([]byte, 200_000))); err == nil || found.Harmful {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	s, c := scanner(t, "tcp")
	s.most = 1000
	if found, err := c.Scan(context.Background(), bytes.NewReader(make([]byte, 2000))); err == nil || found.Harmful {
		t.Errorf("too large for it: %v %v", found, err)
	}
	// One that stands still is left, by its own time or by whoever asked.
	still := make(chan struct{})
	defer close(still)
	asked := make(chan struct{}, 2)
	s, c = scanner(t, "tcp")
	s.makes(func(net.Conn) { asked <- struct{}{}; <-still })
	c.Stall = 50 * time.Millisecond
	if _, err := c.Scan(context.Background(), strings.NewReader("x")); err == nil {
		t.Error("it waited for nothing")
	}
	<-asked
	c.Stall = time.Hour
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-asked; cancel() }()
	if _, err := c.Scan(ctx, strings.NewReader("x")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	// Nobody is there.
	s.Close()
	if _, err := c.Scan(context.Background(), strings.NewReader("x")); err == nil {
		t.Error("nobody looked, and it is clean")
	}
	// The file itself breaks off.
	broken := errors.New("disk")
	_, c = scanner(t, "tcp")
	if _, err := c.Scan(context.Background(), iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// What an operator may say, and that saying nothing is not "none".
func TestReadScanner(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"none": "none", "clamd://127.0.0.1:3310": "clamd", "clamd:///run/clamd.sock": "clamd",
		"": "", "None": "", "clamd": "", "clamd://": "", "clamd://host": "", "http://host:1": "",
	} {
		s, err := ReadScanner(text)
		got := ""
		if err == nil {
			got = s.String()
		}
		if got != want {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
}

// A scanner's answer is somebody else's text, whatever it is.
func FuzzReply(f *testing.F) {
	f.Add("stream: OK\x00")
	f.Add("stream: Eicar-Test-Signature FOUND\x00")
	f.Add("stream: \x1b[31m FOUND\x00")
	f.Fuzz(func(t *testing.T, text string) {
		near, far := net.Pipe()
		defer near.Close()
		go func() {
			io.WriteString(far, text)
			far.Close()
		}()
		found, err := (&Clamav{}).reply(near)
		said, _, whole := strings.Cut(text, "\x00")
		if clean := err == nil && !found.Harmful; clean != (whole && said == "stream: OK") {
			t.Fatalf("%q: %v %v", text, found, err)
		}
		if strings.ContainsAny(found.What, "\x1b\n\r/") {
			t.Fatalf("%q is told", found.What)
		}
	})
}
