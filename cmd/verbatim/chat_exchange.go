package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
)

// Exchanges are the requests to a model and its answers, as chat --explain-turn shows them: as they
// were sent and received, without the key, and with sensitive values masked.
type exchanges struct {
	mu    sync.Mutex
	turn  []llm.Exchange // since the last turn was told
	masks dialog.Masks
}

func (e *exchanges) add(x llm.Exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turn = append(e.turn, x)
}

// tell writes the exchanges of a turn, in which the person said something.
func (e *exchanges) tell(w io.Writer, reg *verbs.Registry, said string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	spoken := make([]bool, len(e.turn)) // an answer has sensitive values
	for i := range e.turn {
		spoken[i] = e.masks.Learn(&e.turn[i].Reply, reg, said)
	}
	for i, x := range e.turn {
		fmt.Fprintf(w, "request %d of %d, as it was sent:\n%s\n", i+1, len(e.turn), visibly(e.masks.Mask(indented(x.Sent))))
		answer := "answer, as it was received"
		received := x.Received
		if spoken[i] { // the pieces of a stream may cut a value in two
			answer = "answer, put together with sensitive values masked"
			all, _ := json.Marshal(x.Reply) // made of texts and numbers
			received = string(all)
		}
		switch {
		case x.Status == 0:
			fmt.Fprintf(w, "no answer: %s\n", visibly(x.Failed))
			continue
		case x.Failed != "":
			answer += ", which is none: " + visibly(x.Failed)
		}
		fmt.Fprintf(w, "%s (HTTP %d):\n%s\n", answer, x.Status, visibly(e.masks.Mask(strings.TrimRight(indented(received), "\n"))))
	}
	e.turn = nil
}

func indented(text string) string {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}
