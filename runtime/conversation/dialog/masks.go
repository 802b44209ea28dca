package dialog

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/conversation/llm"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// Masks replace the sensitive values of a conversation in what is shown of its exchanges with a model.
// The zero Masks replace nothing.
type Masks struct {
	secrets []string // the longest first
}

// Sensitive stands for a value that is not shown.
const Sensitive = "(sensitive)"

// shortSecret is the length up to which a value is not looked for: it would stand everywhere.
const shortSecret = 3

// Learn finds the sensitive values in a model's answer to a message, and reports whether there are any.
func (m *Masks) Learn(reply *llm.Reply, reg *verbs.Registry, said string) (any bool) {
	var values []string
	for _, c := range reply.Calls {
		verb := grammar.VerbMeant(reg.Verbs(), c.Name)
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
	if script, ds := dsl.Parse(dsl.NewSource("model", reply.Text)); reply.Text != "" {
		for _, v := range reg.Verbs() {
			if strings.Contains(reply.Text, v.Name) && hasSensitive(v) {
				any = true
				if ds.HasErrors() {
					values = append(values, reply.Text)
				}
			}
		}
		for i := range script.Calls {
			if verb := reg.Verb(script.Calls[i].Verb); verb != nil {
				for _, arg := range script.Calls[i].Args {
					if sensitive(verb, arg.Key) {
						values = written(arg.Value, values)
					}
				}
			}
		}
	}
	m.add(values, said)
	return any
}

// learnProgram finds the sensitive values in the calls that were made of a message.
func (m *Masks) learnProgram(p *verbs.Program, said string) {
	if p == nil { // a colleague's proposal is decided, whose calls others made
		return
	}
	var values []string
	for i := range p.Calls() {
		c := &p.Calls()[i]
		for j := range c.Args {
			if c.Verb.Params[j].Sensitive && c.Args[j].Syntax != nil {
				values = written(*c.Args[j].Syntax, values)
			}
		}
	}
	m.add(values, said)
}

// add notes values. A message in which one of them does not stand as it was written is masked whole.
func (m *Masks) add(values []string, said string) {
	for _, v := range values {
		if len(v) > shortSecret {
			m.secrets = append(m.secrets, v)
		}
		if len(said) > shortSecret && (len(v) <= shortSecret || !strings.Contains(said, v)) {
			m.secrets = append(m.secrets, said)
		}
	}
	slices.SortFunc(m.secrets, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	m.secrets = slices.Compact(m.secrets)
}

// Mask replaces the values in a text, as they are and as JSON writes them, also in a text of JSON
// inside JSON.
func (m *Masks) Mask(text string) string {
	for _, secret := range m.secrets {
		for range 3 {
			text = strings.ReplaceAll(text, secret, Sensitive)
			in, _ := json.Marshal(secret) // a text
			secret = strings.Trim(string(in), `"`)
		}
	}
	return text
}

func hasSensitive(v *verbs.Verb) bool {
	return slices.ContainsFunc(v.Params, func(p verbs.Param) bool { return p.Sensitive })
}

// sensitive reports whether an argument is, or is none of the verb.
func sensitive(v *verbs.Verb, name string) bool {
	i := v.ParamNamed(name)
	return i < 0 || v.Params[i].Sensitive
}

// scalars are the texts and numbers of a JSON value, without the names of its members.
func scalars(value json.RawMessage) (all []string) {
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	var of any
	if dec.Decode(&of) != nil {
		return []string{string(value)}
	}
	var add func(any)
	add = func(of any) {
		switch t := of.(type) {
		case string:
			all = append(all, t)
		case json.Number:
			all = append(all, t.String())
		case []any:
			for _, v := range t {
				add(v)
			}
		case map[string]any:
			for _, v := range t {
				add(v)
			}
		}
	}
	add(of)
	return all
}

// written appends the texts and numbers of a value of a call.
func written(v dsl.Value, all []string) []string {
	switch v.Kind {
	case dsl.List:
		for _, item := range v.Items() {
			all = written(item, all)
		}
		return all
	case dsl.Map:
		for _, e := range v.Entries() {
			all = written(e.Value, all)
		}
		return all
	case dsl.Nested, dsl.Nil:
		return all
	}
	return append(all, v.Text)
}
