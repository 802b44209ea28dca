package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// sample is a palette and scripts of one call each, spread over its verbs, so
// that no verb is met twice in a row and the index is really searched.
type sample struct {
	registry *verbs.Registry
	texts    []string
	scripts  []*dsl.Script
}

func newSample(size int) (*sample, error) {
	reg, ds := load.Dir(palettes(size))
	if ds.HasErrors() || reg == nil {
		return nil, fmt.Errorf("the palettes of the benchmark do not load: %v", ds)
	}
	s := &sample{registry: reg}
	const spread = 97
	for i := range spread {
		text := fiveArgs(i * 7919 % size)
		script, ds := dsl.Parse(dsl.NewSource("one.dsl", text))
		if len(ds) > 0 {
			return nil, fmt.Errorf("%v", ds)
		}
		if _, ds := reg.Check(script, nil); len(ds) > 0 {
			return nil, fmt.Errorf("%s: %v", text, ds)
		}
		s.texts = append(s.texts, text)
		s.scripts = append(s.scripts, script)
	}
	return s, nil
}

func (s *sample) check(n int) {
	var p verbs.Program
	for i := range n {
		s.registry.CheckInto(&p, s.scripts[i%len(s.scripts)], nil)
	}
}

// checking is PERF-C1: what a call of five arguments costs the checker, and
// whether the size of the palette matters.
func checking() (*race, func(), error) {
	small, err := newSample(100)
	if err != nil {
		return nil, nil, err
	}
	large, err := newSample(10_000)
	if err != nil {
		return nil, nil, err
	}
	schema, object, err := sameArgs()
	if err != nil {
		return nil, nil, err
	}
	at100 := &contestant{name: "check, 100 verbs", per: 1, run: small.check}
	at10000 := &contestant{name: "check, 10 000 verbs", per: 1, run: large.check}
	schema6 := &contestant{name: "jsonschema v6, the same five arguments", per: 1, run: func(n int) {
		for range n {
			_ = schema.Validate(object)
		}
	}}
	return &race{
		name:        "Checking one call of five arguments",
		contestants: []*contestant{at100, at10000, schema6},
		goals: []goal{
			{"PERF-C1", "allocations when valid", at10000.allocs, "", false, 0.004}, // the Program itself, once
			{"PERF-C1", "time with 10 000 verbs over time with 100", func() float64 { return at10000.ns() / at100.ns() }, "x", false, 1.6},
			{"PERF-C1", "times faster than jsonschema v6", faster(at10000, schema6), "x", true, 10},
		},
	}, func() {}, nil
}

// sameArgs is the call of fiveArgs for jsonschema: decoded already, as our
// calls are parsed already.
func sameArgs() (*jsonschema.Schema, any, error) {
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(`{
		"type": "object",
		"properties": {
			"item-id":  {"type": "string", "pattern": "^@[a-z]"},
			"note":     {"type": "string", "maxLength": 2000},
			"due-date": {"type": "string", "format": "date"},
			"amount":   {"type": "number", "minimum": 0, "multipleOf": 0.01},
			"channel":  {"enum": ["CALL", "EMAIL", "VIDEO"]}
		},
		"required": ["item-id", "note"],
		"additionalProperties": false
	}`))
	if err != nil {
		return nil, nil, err
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("args.json", document); err != nil {
		return nil, nil, err
	}
	schema, err := compiler.Compile("args.json")
	if err != nil {
		return nil, nil, err
	}
	object := map[string]any{
		"item-id": "@first-item", "note": "Accountant is sending it", "due-date": "2025-01-03",
		"amount": json.Number("12.50"), "channel": "EMAIL",
	}
	if err := schema.Validate(object); err != nil {
		return nil, nil, err
	}
	return schema, object, nil
}

// deciding is PERF-C3: from text to a decision, without a database, and the
// same with an entry chained to a journal.
func deciding() (*race, func(), error) {
	s, err := newSample(1000)
	if err != nil {
		return nil, nil, err
	}
	role := s.registry.Role("clerk")
	decide := func(text string) *verbs.Call {
		script, ds := dsl.Parse(dsl.NewSource("one.dsl", text))
		if ds.HasErrors() {
			return nil
		}
		p, ds := s.registry.Check(script, nil)
		if ds.HasErrors() {
			return nil
		}
		call := &p.Calls()[0]
		for _, r := range call.Verb.Roles {
			if r == role {
				return call
			}
		}
		return nil
	}
	for _, text := range s.texts {
		if decide(text) == nil {
			return nil, nil, fmt.Errorf("%s is not permitted", text)
		}
	}
	decision := &contestant{name: "text to decision", per: 1, run: func(n int) {
		for i := range n {
			decide(s.texts[i%len(s.texts)])
		}
	}}
	now := time.Date(2025, 1, 2, 9, 0, 0, 0, time.UTC)
	chained := &contestant{name: "text to decision, with a journal entry", per: 1, run: func(n int) {
		for i := range n {
			text := s.texts[i%len(s.texts)]
			call := decide(text)
			e := stores.Entry{
				Time: now, Principal: "lena", Roles: []string{"clerk"}, Session: "s1", Source: "one.dsl:1",
				Verb: call.Verb.Name, Call: dsl.FormatCall(call.Syntax), Outcome: "ok", Palette: s.registry.Digest(),
			}
			e.Write()
			e.Number(int64(i) + 1)
		}
	}}
	return &race{
		name:        "Text to decision, one call, no database",
		contestants: []*contestant{decision, chained},
		goals: []goal{
			{"PERF-C3", "time to a decision", decision.ns, "ns", false, 3_000},
			{"PERF-C3", "time with a journal entry", chained.ns, "ns", false, 6_000},
		},
	}, func() {}, nil
}
