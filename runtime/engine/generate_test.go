package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"verbatim/runtime/engine"
	"verbatim/verbs"
)

// X6: what only work calls is not called through a handler either: an engine whose
// palettes promise it does not begin, and says so where the promise stands.
func TestNoHandlerCallsWhatIsInternal(t *testing.T) {
	t.Parallel()
	palette := func(internal, promised string) *verbs.Registry {
		return loadYAML(t, map[string]string{"t.yaml": `domain: t
roles: [{name: r}]
entities:
  box:
    table: t.boxes
    key: box_id
    managed: true
    scope: everyone
    fields: {name: {type: string, required: true}}
verbs:
  - verb: pack
    description: Pack.
    roles: [r]` + internal + `
    args: [{name: name, type: string, required: true}]
    effects: [{creates: box, set: {name: name}}]
  - verb: hand-over
    description: Have it packed.
    roles: [r]
    handler: true
    effects: [{generates: ` + promised + `}, {returns: what was packed}]
`})
	}
	for _, c := range []struct{ name, internal, promised, want string }{
		{"one that anybody calls", "", "t.pack", ""},
		{"one that only work calls", "\n    internal: true", "t.pack", "t.hand-over promises to call t.pack, which is internal"},
		{"itself", "", "t.hand-over", "there is no such other verb"},
		{"none", "", "t.unpack", "there is no such other verb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := &engine.Handlers{}
			engine.Handle(h, "t.hand-over", func(context.Context, *engine.Call, struct{}) (engine.Outcome, error) { return engine.Outcome{}, nil })
			_, err := engine.New(palette(c.internal, c.promised), nullStore{}, engine.Options{Handlers: h})
			if c.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var config *engine.ConfigError
			if !errors.As(err, &config) || len(config.Diagnostics) != 1 {
				t.Fatalf("got %v", err)
			}
			d := &config.Diagnostics[0]
			if d.Code != "generates-unknown" || !strings.Contains(d.Summary, c.want) || len(d.Notes) == 0 {
				t.Errorf("%s: %s %v", d.Code, d.Summary, d.Notes)
			}
			if text := d.Place.Source.Text[d.Place.Range.Start:]; !strings.HasPrefix(text, "generates: "+c.promised) && !strings.HasPrefix(text, c.promised) && !strings.HasPrefix(text, "{generates") {
				t.Errorf("it is told at %.40q", text)
			}
		})
	}
}
