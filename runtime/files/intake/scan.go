package intake

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"verbatim/runtime/state/uploads"
)

// A Scanner looks at files for anything harmful. It is safe for use by many
// goroutines.
type Scanner interface {
	// Scan reads a file. An error means that the scan failed, and says nothing about the file.
	Scan(ctx context.Context, r io.Reader) (Finding, error)
	// String returns the scanner's name, for operators and in the row of an upload.
	String() string
}

// A Finding is the result of a scan.
type Finding struct {
	Harmful bool
	What    string // the scanner's name for it
}

// NoScanner scans nothing and finds nothing. It must be chosen explicitly.
var NoScanner Scanner = noScanner{}

type noScanner struct{}

func (noScanner) Scan(context.Context, io.Reader) (Finding, error) { return Finding{}, nil }
func (noScanner) String() string                                   { return uploads.ScannedByNobody }

// A Clamav asks a clamd, over its INSTREAM command.
type Clamav struct {
	Network, Address string // "tcp" and "127.0.0.1:3310", or "unix" and a path
	// Stall is the longest time without progress; a minute when zero.
	Stall time.Duration
}

// ReadScanner reads the operator's setting: none, clamd://HOST:PORT or clamd:///PATH of a socket.
func ReadScanner(text string) (Scanner, error) {
	if text == "none" {
		return NoScanner, nil
	}
	address, ok := strings.CutPrefix(text, "clamd://")
	if strings.HasPrefix(address, "/") {
		return &Clamav{Network: "unix", Address: address}, nil
	}
	if host, port, err := net.SplitHostPort(address); !ok || err != nil || host == "" || port == "" {
		return nil, errors.New("a scanner is none, clamd://HOST:PORT or clamd:///PATH of a socket")
	}
	return &Clamav{Network: "tcp", Address: address}, nil
}

// String implements Scanner.
func (c *Clamav) String() string { return "clamd" }

const (
	chunkSize = 64 << 10
	// maxReply bounds a scanner's answer.
	maxReply = 4 << 10
)

// Scan implements Scanner.
func (c *Clamav) Scan(ctx context.Context, r io.Reader) (Finding, error) {
	stall := cmp.Or(c.Stall, time.Minute)
	conn, err := (&net.Dialer{Timeout: min(stall, 10*time.Second)}).DialContext(ctx, c.Network, c.Address)
	if err != nil {
		return Finding{}, scannerError(ctx, err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	move := func() {
		if ctx.Err() == nil {
			_ = conn.SetDeadline(time.Now().Add(stall)) // a connection without deadlines fails at the next step
		}
	}
	move()
	if _, err := conn.Write([]byte("zINSTREAM\x00")); err != nil {
		return Finding{}, scannerError(ctx, err)
	}
	buf := make([]byte, 4+chunkSize)
	for {
		n, err := io.ReadFull(r, buf[4:])
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return Finding{}, err // of the file, not of the scanner
		}
		if n > 0 {
			binary.BigEndian.PutUint32(buf, uint32(n))
			move()
			if _, sent := conn.Write(buf[:4+n]); sent != nil {
				// It may have said why before it hung up: the file is too large for
				// it, say.
				if found, err := c.reply(conn); err == nil && found.Harmful {
					return found, nil
				}
				return Finding{}, scannerError(ctx, sent)
			}
		}
		if err != nil {
			break
		}
	}
	move()
	if _, err := conn.Write([]byte{0, 0, 0, 0}); err != nil {
		return Finding{}, scannerError(ctx, err)
	}
	move()
	found, err := c.reply(conn)
	if err != nil {
		return found, scannerError(ctx, err)
	}
	return found, nil
}

// reply reads "stream: OK" or "stream: NAME FOUND". Anything else is no verdict.
func (c *Clamav) reply(conn net.Conn) (Finding, error) {
	text, err := bufio.NewReader(io.LimitReader(conn, maxReply)).ReadString(0)
	if err != nil {
		return Finding{}, errNoVerdict
	}
	text = strings.TrimSuffix(text, "\x00")
	name, found := strings.CutSuffix(text, " FOUND")
	switch {
	case text == "stream: OK":
		return Finding{}, nil
	case found && strings.HasPrefix(name, "stream: "):
		return Finding{true, Harmless(strings.TrimPrefix(name, "stream: "))}, nil
	case strings.Contains(text, "size limit exceeded"):
		return Finding{}, errors.New("the file is larger than the scanner takes; its StreamMaxLength says how much")
	}
	return Finding{}, errNoVerdict
}

var errNoVerdict = errors.New("the scanner gave no verdict")

func scannerError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(err, errNoVerdict) {
		return err
	}
	return fmt.Errorf("the scanner could not be asked: %w", err)
}
