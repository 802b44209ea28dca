package stores_test

import (
	"encoding/json"
	"slices"
	"testing"

	"verbatim/stores"
)

// Marks mean what JSON says they mean, however they are written.
func FuzzReadMarks(f *testing.F) {
	for _, text := range []string{
		`{"notes": "model"}`, `{"status": "model", "notes": "document a.pdf"}`, `{"notes":"model","of_nothing":"model"}`, `{}`, `{ }`, `null`, ``, `{`, `{"notes"}`, `{"notes":`,
		`{"notes": "model"`, `{"notes": "model"}}`, `{"notes": "model"} `, ` {"notes": "model"}`, `{"notes": "mo\"del"}`, `{"no\u0074es": "model"}`, `{"notes": "a", "notes": "b"}`,
		`{"notes": "", "notes": ""}`, `{"notes": ""}`, `{"notes": null}`, `{"notes": 1}`, `{"notes": {"of": "model"}}`, `["notes"]`, `"notes"`, "{\"notes\": \"\xff\"}", "{\"notes\": \"a\nb\"}",
		`{"notes": "é, ü: {}"}`, `{"notes" : "model"}`, `{"notes":  "model"}`, `{"notes": "model",}`, `{,"notes": "model"}`, `{"": ""}`,
	} {
		f.Add(text)
	}
	e := &stores.Entity{Name: "request", Fields: []stores.Field{{Name: "id", Column: "id"}, {Name: "state", Column: "status"}, {Name: "note", Column: "notes"}}}
	f.Fuzz(func(t *testing.T, text string) {
		var columns map[string]string
		failed := json.Unmarshal([]byte(text), &columns)
		var want []stores.Mark
		for i := range e.Fields {
			if origin, ok := columns[e.Fields[i].Column]; ok && failed == nil {
				want = append(want, stores.Mark{Field: i, Origin: origin})
			}
		}
		got, err := stores.ReadMarks(e, stores.NewString(text))
		if (err != nil) != (failed != nil) || !slices.Equal(got, want) {
			t.Errorf("%q is read as %v, %v: it says %v, %v", text, got, err, want, failed)
		}
	})
}

func BenchmarkReadMarks(b *testing.B) {
	e := &stores.Entity{Name: "request", Fields: []stores.Field{{Name: "id", Column: "id"}, {Name: "state", Column: "status"}, {Name: "note", Column: "notes"}}}
	v := stores.NewString(`{"notes": "model m-1", "status": "document answer.pdf"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := stores.ReadMarks(e, v); err != nil {
			b.Fatal(err)
		}
	}
}
