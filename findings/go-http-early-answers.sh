#!/usr/bin/env bash
# A Go server that refuses a request unread keeps its answer back until the sender has sent the body.
#
# Guess: a handler that answers 401 and returns is heard at once; at worst the connection is closed behind it.
# Found: with Go 1.26, an answer without a body read waits for the rest of a body of up to 256 KiB, so that the
#   connection can be used again: to a sender who announces 1,000 bytes and sends none, nothing at all comes until
#   the read deadline. A larger body, or the header Connection: close, and the answer comes at once. Source: the
#   comment on reading the remaining body in chunkWriter.writeHeader of net/http; the documentation of Handler
#   says only that a body may be read before the answer.
# Here: whoever is nobody is refused before their body is read, and slow senders were held, with their connection,
#   for as long as they liked to be. Refusals before the body close the connection
#   (runtime/frontends/http/server/visit.go).
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"time"
)

func main() {
	for _, c := range []struct {
		what   string
		length int
		close  bool
	}{{"1,000 bytes announced", 1000, false}, {"1,000 bytes announced, and Connection: close", 1000, true}, {"300,000 bytes announced", 300_000, false}} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.close {
				w.Header().Set("Connection", "close")
			}
			w.WriteHeader(http.StatusUnauthorized)
		}))
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", c.length)
		conn.SetReadDeadline(time.Now().Add(2 * time.Second))
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			line = "nothing within two seconds\n"
		}
		fmt.Printf("%-45s %s", c.what, line)
		conn.Close()
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod init finding >/dev/null 2>&1
go run . | tr -d '\r' | tee got
cat >want <<'TXT'
1,000 bytes announced                         nothing within two seconds
1,000 bytes announced, and Connection: close  HTTP/1.1 401 Unauthorized
300,000 bytes announced                       HTTP/1.1 401 Unauthorized
TXT
diff want got && echo "as found: $(go env GOVERSION)"
