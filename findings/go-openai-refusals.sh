#!/usr/bin/env bash
# go-openai gives an endpoint's own sentence only where the refusal has the shape that OpenAI's has.
#
# Guess: a 400 whose body is JSON becomes an *APIError with the endpoint's sentence in Message, whichever of the
#   compatible endpoints sent it: the package is used with all of them.
# Found: go-openai 1.43.0 makes an *APIError of {"error": {...}} alone. A list of one such object (as Gemini's
#   compatible endpoint answers), an object without an error member (vLLM, Mistral) and a validator's detail list
#   become a *RequestError: the sentence is in Body only, and the text of the latter two holds the mark of a
#   failed format, because the error that it wraps is nil.
# Here: what a refusal names is left out of the next request, and the sentence is told to the operator. We read
#   refusals in the transport, before the library does (runtime/conversation/llm/refusal.go).
# Needs: Go 1.26.
set -euo pipefail
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT; cd "$dir"
cat >main.go <<'GO'
package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	openai "github.com/sashabaranov/go-openai"
)

func main() {
	const sentence = "temperature must be 1 for this model"
	for _, c := range [][2]string{
		{"an error member", `{"error":{"message":"` + sentence + `","type":"invalid_request_error","code":"unsupported_value"}}`},
		{"a list of one", `[{"error":{"message":"` + sentence + `","status":"INVALID_ARGUMENT","code":400}}]`},
		{"no error member", `{"object":"error","message":"` + sentence + `","type":"BadRequestError","code":400}`},
		{"a detail list", `{"detail":[{"loc":["body","temperature"],"msg":"` + sentence + `"}]}`},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, c[1])
		}))
		cfg := openai.DefaultConfig("key")
		cfg.BaseURL = s.URL
		_, err := openai.NewClientWithConfig(cfg).CreateChatCompletion(context.Background(), openai.ChatCompletionRequest{Model: "m", Messages: []openai.ChatCompletionMessage{{Role: "user", Content: "hi"}}})
		var api *openai.APIError
		var req *openai.RequestError
		kind := fmt.Sprintf("%T", err)
		switch {
		case errors.As(err, &api):
			kind = "APIError"
		case errors.As(err, &req):
			kind = "RequestError, body kept: " + fmt.Sprint(strings.Contains(string(req.Body), sentence))
		}
		told := api != nil && strings.Contains(api.Message, sentence)
		fmt.Printf("%-16s %s; message tells it: %v; a formatting mistake in the text: %v\n", c[0], kind, told, strings.Contains(err.Error(), "%!s"))
		s.Close()
	}
}
GO
export GOFLAGS=-mod=mod CGO_ENABLED=0
go mod init finding >/dev/null 2>&1 && go get github.com/sashabaranov/go-openai@v1.43.0 >/dev/null 2>&1
go run . | tee got
cat >want <<'TXT'
an error member  APIError; message tells it: true; a formatting mistake in the text: false
a list of one    RequestError, body kept: true; message tells it: false; a formatting mistake in the text: false
no error member  RequestError, body kept: true; message tells it: false; a formatting mistake in the text: true
a detail list    RequestError, body kept: true; message tells it: false; a formatting mistake in the text: true
TXT
diff want got && echo "as found: go-openai 1.43.0, $(go env GOVERSION)"
