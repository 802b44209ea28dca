package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
)

// Exchanges are the requests to a model and its answers, as chat --explain-turn shows them: as they
// were sent and received, without the key, and with sensitive values masked.
type exchanges struct {
	mu      sync.Mutex
	turn    []llm.Exchange // since the last turn was told
	secrets []string       // sensitive values of the conversation, the longest first
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
		spoken[i] = e.learn(&e.turn[i], reg, said)
	}
	slices.SortFunc(e.secrets, func(a, b string) int { return len(b) - len(a) })
	e.secrets = slices.Compact(e.secrets)
	for i, x := range e.turn {
		fmt.Fprintf(w, "request %d of %d, as it was sent:\n%s\n", i+1, len(e.turn), visibly(e.masked(indented(x.Sent))))
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
		fmt.Fprintf(w, "%s (HTTP %d):\n%s\n", answer, x.Status, visibly(e.masked(strings.TrimRight(indented(received), "\n"))))
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

// shortSecret is the length up to which a value is not looked for: it would stand everywhere.
const shortSecret = 3

// learn finds the sensitive values of an answer, and reports whether there are any. What the person
// wrote is withheld whole where a value does not stand in it as the model wrote it.
func (e *exchanges) learn(x *llm.Exchange, reg *verbs.Registry, said string) (any bool) {
	var values []string
	for _, c := range x.Reply.Calls {
		verb := reg.Verb(strings.ReplaceAll(strings.TrimPrefix(c.Name, "functions."), "__", "."))
		if verb == nil || !hasSensitive(verb) {
			continue
		}
		any = true
		var args map[string]json.RawMessage
		if json.Unmarshal([]byte(c.Arguments), &args) != nil {
			values = append(values, c.Arguments)
			continue
		}
		for name, value := range args {
			if sensitive(verb, strings.ReplaceAll(name, "_", "-")) {
				values = append(values, scalars(value)...)
			}
		}
	}
	if script, ds := dsl.Parse(dsl.NewSource("model", x.Reply.Text)); x.Reply.Text != "" {
		for _, v := range reg.Verbs() {
			if strings.Contains(x.Reply.Text, v.Name) && hasSensitive(v) {
				any = true
				if ds.HasErrors() {
					values = append(values, x.Reply.Text)
				}
			}
		}
		for i := range script.Calls {
			if verb := reg.Verb(script.Calls[i].Verb); verb != nil {
				for _, arg := range script.Calls[i].Args {
					if sensitive(verb, arg.Key) {
						values = append(values, strings.Trim(dsl.FormatValue(arg.Value), `"`))
					}
				}
			}
		}
	}
	for _, v := range values {
		if len(v) > shortSecret {
			e.secrets = append(e.secrets, v)
		}
		if said != "" && (len(v) <= shortSecret || !strings.Contains(said, v)) {
			e.secrets = append(e.secrets, said)
		}
	}
	return any
}

func hasSensitive(v *verbs.Verb) bool {
	return slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Sensitive })
}

// sensitive reports whether an argument is, or is none of the verb.
func sensitive(v *verbs.Verb, name string) bool {
	i := v.ParamNamed(name)
	return i < 0 || v.Params[i].Sensitive
}

// scalars are the texts and numbers of a value.
func scalars(value json.RawMessage) (all []string) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	for {
		token, err := dec.Token()
		if err != nil {
			return all
		}
		switch t := token.(type) {
		case string:
			all = append(all, t)
		case json.Number:
			all = append(all, t.String())
		}
	}
}

// masked replaces the sensitive values of a text, as they are and as JSON writes them, also in a text
// of JSON inside JSON.
func (e *exchanges) masked(text string) string {
	for _, secret := range e.secrets {
		for range 3 {
			text = strings.ReplaceAll(text, secret, "(sensitive)")
			in, _ := json.Marshal(secret) // a text
			secret = strings.Trim(string(in), `"`)
		}
	}
	return text
}
