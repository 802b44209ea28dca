package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

const internalPalette = `
domain: x
roles: [{name: clerk, description: c}]
entities:
  order: {scope: everyone, label: "{title}", key: order_id, fields: {title: {type: string, required: true}}}
verbs:
  - verb: place
    description: Place an order.
    roles: [clerk]
    phrases: ["order {title}"]
    args: [{name: title, type: string, required: true}]
    effects:
      - creates: order
        set: {title: title}
      - triggers: chaser
        at: now + days(1)
        run: x.chase :title @title
  - verb: chase
    description: Chase the order.
    roles: [clerk]
    internal: true
    args: [{name: title, type: string, required: true}]
    effects: [{notifies: supplier, with: {title: title}}]
`

func internally(change ...string) (*verbs.Registry, dsl.Diagnostics) {
	return Sources(dsl.NewSource("x.yaml", strings.NewReplacer(change...).Replace(internalPalette)))
}

// X6: a verb that is kept for work is there for nobody else: neither called nor
// offered, whole or half written, alone or inside another call.
func TestInternalVerbs(t *testing.T) {
	t.Parallel()
	r, ds := internally()
	if r == nil || len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	const call = `x.chase :title "Bricks"`
	parse := func(text string) *dsl.Script {
		s, _ := dsl.Parse(dsl.NewSource("x.dsl", text))
		return s
	}
	for _, text := range []string{
		call,
		call + "\n" + `x.place :title "Tiles"`,
		call + " :as @c",
		`(x.place :title (` + call + `))`,
		`x.chase :title "Bricks" :title`,
	} {
		script := parse(text)
		p, ds := r.Check(script, nil)
		if p != nil || len(ds) == 0 || ds[0].Code != "unknown-verb" && (len(ds) < 2 || ds[1].Code != "unknown-verb") {
			t.Errorf("%s: %v\n%s", text, p != nil, inWords(ds))
		}
		var into verbs.Program
		if r.CheckInto(&into, script, nil); into.Valid() {
			t.Errorf("%s: checked into memory", text)
		}
	}
	for _, text := range []string{`x.chas :title "Bricks"`, `y.chase :title "Bricks"`, `x.nothing-like-it`} {
		_, ds := r.Check(parse(text), nil)
		if len(ds) == 0 || ds[0].Code != "unknown-verb" || strings.Contains(ds[0].Label+strings.Join(ds[0].Notes, " "), "x.chase") {
			t.Errorf("%s offers it:\n%s", text, inWords(ds))
		}
	}
	if p, ds := r.CheckWork(parse(call), nil); p == nil {
		t.Errorf("work cannot call it:\n%s", inWords(ds))
	}
}

// A palette names an internal verb in work, and nowhere that leads to a call.
func TestInternalVerbsAreNamedByWork(t *testing.T) {
	t.Parallel()
	for name, change := range map[string][]string{
		"said":     {"internal: true", "internal: true\n    phrases: [\"chase {title}\"]"},
		"told":     {"internal: true", "internal: true\n    tells: {done: Chased.}"},
		"context":  {"entities:", "conversation: {context: [x.chase]}\nentities:"},
		"answers":  {"entities:", "conversation: {answers: {while: x, verb: x.chase, argument: title}}\nentities:"},
		"person":   {"entities:", "conversation: {person: x.chase}\nentities:"},
		"replaces": {"roles: [clerk]\n    phrases", "roles: [clerk]\n    deprecated: {reason: old, replaced-by: x.chase}\n    phrases"},
		"a macro":  {"domain: x", "domain: x", "verbs:\n", "verbs:\n  - verb: both\n    roles: [clerk]\n    args: [{name: title, type: string, required: true}]\n    script: x.chase :title @title\n"},
	} {
		if r, ds := internally(change...); r != nil || !ds.HasErrors() {
			t.Errorf("%s: it loads\n%s", name, inWords(ds))
		} else if d := inWords(ds); !strings.Contains(d, "internal") {
			t.Errorf("%s: %s", name, d)
		}
	}
	// One that is internal itself may.
	if r, ds := internally("verbs:\n", "verbs:\n  - verb: both\n    roles: [clerk]\n    internal: true\n    args: [{name: title, type: string, required: true}]\n    script: x.chase :title @title\n"); r == nil {
		t.Error(inWords(ds))
	}
}
