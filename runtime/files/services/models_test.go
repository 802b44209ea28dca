package services_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"verbatim/runtime/files/services"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
)

// A model is asked for what the palette wants, told of while it answers, and its answer taken
// only where it is an object; who stops waiting is told that nothing was done.
func TestAModelIsAskedForColumns(t *testing.T) {
	t.Parallel()
	columns := []stores.Column{{Name: "metric", Kind: stores.String}, {Name: "value", Kind: stores.Decimal}, {Name: "pages", Kind: stores.Int}, {Name: "sure", Kind: stores.Bool}, {Name: "on", Kind: stores.Date}, {Name: "rest", Kind: stores.JSON}}
	for name, c := range map[string]struct {
		says    string
		columns []stores.Column
		want    tools.Answer
	}{
		"an object":         {`{"metric":"revenue"}`, columns, tools.Answer{Structured: `{"metric":"revenue"}`}},
		"in a fence":        {"\n```json\n{\"metric\":1}\n```\n", columns, tools.Answer{Structured: `{"metric":1}`}},
		"in a bare fence":   {"```\n{}\n```", columns, tools.Answer{Structured: `{}`}},
		"a list":            {`[1]`, columns, tools.Answer{Failed: true, Text: "what the model answered is not what was asked for"}},
		"nothing":           {`null`, columns, tools.Answer{Failed: true, Text: "what the model answered is not what was asked for"}},
		"half an object":    {`{"metric":`, columns, tools.Answer{Failed: true, Text: "what the model answered is not what was asked for"}},
		"prose is no JSON":  {`Sure! {"metric":1}`, columns, tools.Answer{Failed: true, Text: "what the model answered is not what was asked for"}},
		"prose that is one": {"```json", nil, tools.Answer{Text: "```json"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var told int
			s := services.Models(func(_ context.Context, instruction, text string, schema json.RawMessage, heard func(int)) (string, string, error) {
				if instruction != "Find." || text != "Dear" || (schema == nil) != (c.columns == nil) {
					t.Errorf("%q %q %s", instruction, text, schema)
				}
				if schema != nil && (!json.Valid(schema) || !strings.Contains(string(schema), `"items":{"additionalProperties":false`) || !strings.Contains(string(schema), `"sure":{"type":["boolean","null"]}`)) {
					t.Errorf("%s", schema)
				}
				heard(7)
				return c.says, "", nil
			})["complete"]
			if !s.Model || s.Writes || !json.Valid(s.Input) {
				t.Errorf("%+v", s)
			}
			a, err := s.Do(t.Context(), tools.Call{Args: `{"instruction":"Find.","text":"Dear"}`, Columns: c.columns, Rows: "claims", Tell: func(done, total int, what string) {
				if total != 0 || what != "characters" {
					t.Errorf("%d of %d %s", done, total, what)
				}
				told = done
			}})
			if err != nil || a != c.want || told != 7 {
				t.Errorf("%+v %v, told %d; want %+v", a, err, told, c.want)
			}
		})
	}
	s := services.Models(func(context.Context, string, string, json.RawMessage, func(int)) (string, string, error) {
		return "", "", context.Canceled
	})["complete"]
	if _, err := s.Do(t.Context(), tools.Call{Args: `{"instruction":"Find."}`}); !errors.Is(err, tools.ErrNotCalled) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
