#!/usr/bin/env bash
# go-openai ends a stream of a compatible endpoint with an error where other clients read on.
#
# Guess: comments that keep a stream alive are skipped however many there are, as the HTML standard says of event
#   streams, and an event of the type error tells its sentence, as in an answer that is not streamed.
# Found: go-openai 1.43.0 counts every line that is no data, also comments and empty lines, and gives up after
#   300 in a row; an event of the type error whose stream ends there is "unexpected end of JSON input"; a content
#   that is a list of parts, or arguments that are an object, end the stream as JSON of the wrong type.
# Here: events are read in the transport and written anew before the library sees them
#   (runtime/conversation/llm/answer.go).
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

func main() {
	const fine = "data: {\"choices\":[{\"delta\":{\"content\":\"fine\"}}]}\n\ndata: [DONE]\n\n"
	for _, c := range [][2]string{
		{"150 comments", strings.Repeat(": keep-alive\n\n", 150) + fine},
		{"160 comments", strings.Repeat(": keep-alive\n\n", 160) + fine},
		{"an error event", "event: error\ndata: {\"error\":{\"message\":\"too long\"},\"message\":\"too long\"}\n\n"},
		{"content of parts", `data: {"choices":[{"delta":{"content":[{"type":"text","text":"fine"}]}}]}` + "\n\n"},
		{"arguments", `data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"f","arguments":{}}}]}}]}` + "\n\n"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, c[1])
		}))
		cfg := openai.DefaultConfig("key")
		cfg.BaseURL = s.URL
		stream, err := openai.NewClientWithConfig(cfg).CreateChatCompletionStream(context.Background(), openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hi"}}})
		text := ""
		for err == nil {
			var r openai.ChatCompletionStreamResponse
			if r, err = stream.Recv(); err == nil {
				text += r.Choices[0].Delta.Content
			}
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		fmt.Printf("%-17s%q, %v\n", c[0], text, err)
		s.Close()
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod init finding >/dev/null 2>&1 && go get github.com/sashabaranov/go-openai@v1.43.0 >/dev/null 2>&1
go run . | tee got
cat >want <<'TXT'
150 comments     "fine", <nil>
160 comments     "", stream has sent too many empty messages
an error event   "", unexpected end of JSON input
content of parts "", json: cannot unmarshal array into Go struct field ChatCompletionStreamChoiceDelta.choices.delta.content of type string
arguments        "", json: cannot unmarshal object into Go struct field FunctionCall.choices.delta.tool_calls.function.arguments of type string
TXT
diff want got && echo "as found: go-openai 1.43.0, $(go env GOVERSION)"
