package services

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
)

// A Complete lets a model answer a text by an instruction; with a schema, in JSON that fits it.
// heard, if it is not nil, receives the number of characters so far. why is a sentence with the
// reason for a missing answer; an error means that the caller has given up.
type Complete func(ctx context.Context, instruction, text string, schema json.RawMessage, heard func(characters int)) (answer, why string, err error)

// Models are services that ask a model: complete lets it answer a text. Its answer has the origin
// of a model. If there is no model, complete is nil, and calls are refused.
func Models(complete Complete) map[string]tools.Service {
	return map[string]tools.Service{"complete": {
		Model: true,
		Says:  "What a model answers to a text, as an instruction says, with the members that the palette names as columns.",
		Input: json.RawMessage(`{"type":"object","properties":{"instruction":{"type":"string"},"text":{"type":"string"}},"required":["instruction"],"additionalProperties":false}`),
		Do: func(ctx context.Context, c tools.Call) (tools.Answer, error) {
			var a struct{ Instruction, Text string }
			if err := json.Unmarshal([]byte(c.Args), &a); err != nil {
				return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
			}
			if complete == nil {
				return tools.Answer{Failed: true, Text: "no model is set up here"}, nil
			}
			var heard func(int)
			if c.Tell != nil {
				heard = func(n int) { c.Tell(n, 0, "characters") }
			}
			answer, why, err := complete(ctx, a.Instruction, a.Text, schemaOf(c.Columns, c.Rows), heard)
			switch {
			case err != nil:
				return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
			case why != "":
				return tools.Answer{Failed: true, Text: why}, nil
			case len(c.Columns) == 0:
				return tools.Answer{Text: answer}, nil
			}
			answer = Bare(answer)
			var whole map[string]json.RawMessage
			if json.Unmarshal([]byte(answer), &whole) != nil || whole == nil {
				return tools.Answer{Failed: true, Text: "what the model answered is not what was asked for"}, nil
			}
			return tools.Answer{Structured: answer}, nil
		},
	}}
}

// Bare returns an answer without the fence that models often put around JSON.
func Bare(answer string) string {
	answer = strings.TrimSpace(answer)
	if rest, ok := strings.CutPrefix(answer, "```"); ok {
		rest = strings.TrimSuffix(strings.TrimSpace(rest), "```")
		answer = strings.TrimSpace(strings.TrimPrefix(rest, "json"))
	}
	return answer
}

// schemaOf returns the JSON Schema of the columns in a palette; nil if it takes text. Numbers are
// texts, so that every digit arrives.
func schemaOf(columns []stores.Column, rows string) json.RawMessage {
	if len(columns) == 0 {
		return nil
	}
	type object = map[string]any
	properties, names := object{}, make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.Name
		kinds := map[stores.Kind]object{
			stores.Int:     {"type": []string{"integer", "null"}},
			stores.Bool:    {"type": []string{"boolean", "null"}},
			stores.Decimal: {"type": []string{"string", "null"}, "description": "a number, with a point and no other signs, such as -1234.50"},
			stores.Date:    {"type": []string{"string", "null"}, "description": "a date, such as 2025-01-31"},
			stores.Time:    {"type": []string{"string", "null"}, "description": "a date and time, such as 2025-01-31T10:00:00Z"},
			stores.JSON:    {},
		}
		var ok bool
		if properties[c.Name], ok = kinds[c.Kind]; !ok {
			properties[c.Name] = object{"type": []string{"string", "null"}}
		}
	}
	of := object{"type": "object", "properties": properties, "required": names, "additionalProperties": false}
	if rows != "" {
		of = object{"type": "object", "properties": object{rows: object{"type": "array", "items": of}}, "required": []string{rows}, "additionalProperties": false}
	}
	text, _ := json.Marshal(of) // of texts
	return text
}
