#!/usr/bin/env bash
# A comment in Content-Type makes go-message take a mail's text for an attachment, or not, by its capitals.
#
# Guess: a comment is allowed between the tokens of Content-Type (RFC 2045 5.1, RFC 822 3.1.4), and the
#   type is compared without regard to capitals (RFC 2045 5.1). All spellings of text/plain below are
#   the same, and mail.Reader gives each as inline text.
# Found: go-message 0.18.2 falls back to the raw value where the standard library's parser refuses the
#   comment. The raw value keeps its capitals, so "TEXT/Plain; (words) format=flowed" is an attachment
#   and "text/plain; (words) format=flowed" is not; a comment before the type makes an attachment, too.
# Here: what is an attachment is not the sender's own word, and what is inline may answer a question. We
#   read part headers in one place (runtime/internal/mimepart), comments included.
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/emersion/go-message/mail"
)

func main() {
	for _, head := range []string{"text/plain", "text/plain (words)", "(words) text/plain", "TEXT/Plain; format=flowed", "TEXT/Plain; (words) format=flowed", "text/plain; (words) format=flowed"} {
		r, err := mail.CreateReader(strings.NewReader("From: a@example.org\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=B\r\n\r\n--B\r\nContent-Type: " + head + "\r\n\r\nHello.\r\n--B--\r\n"))
		if err != nil {
			panic(err)
		}
		for {
			p, err := r.NextPart()
			if err == io.EOF {
				break
			}
			if err != nil {
				panic(err)
			}
			kind := "inline"
			if _, ok := p.Header.(*mail.AttachmentHeader); ok {
				kind = "attachment"
			}
			fmt.Printf("%-36s %s\n", head, kind)
		}
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod init finding >/dev/null 2>&1 && go get github.com/emersion/go-message@v0.18.2 >/dev/null 2>&1
go run . | tee got
cat >want <<'TXT'
text/plain                           inline
text/plain (words)                   inline
(words) text/plain                   attachment
TEXT/Plain; format=flowed            inline
TEXT/Plain; (words) format=flowed    attachment
text/plain; (words) format=flowed    inline
TXT
diff want got && echo "as found: go-message 0.18.2, $(go env GOVERSION)"
