package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

// rowValues are those of a row, and the items of its lists.
type rowValues struct {
	of    map[string]string
	items map[string][]verbs.Told
}

func (v rowValues) Value(name string) string       { return v.of[name] }
func (v rowValues) Items(name string) []verbs.Told { return v.items[name] }

const tellingPalette = `
domain: x
roles: [{name: clerk, description: c}]
entities:
  order: {scope: everyone, label: "{title}", key: order_id, fields: {title: {type: string, required: true}, due: {type: date}, urgent: {type: boolean}}}
  line: {scope: everyone, label: "{title}", key: line_id, fields: {order: {type: ref, ref-type: order}, title: {type: string, required: true}, note: {type: string}}}
verbs:
  - verb: list
    description: List them.
    roles: [clerk]
    args: [{name: until, type: date, asks: "Until when?"}]
    tells: TELLS
    reads:
      entity: order
      fields: {title: title, due: due, urgent: urgent}
      lists:
        parts: {of: line.order, fields: {name: title, note: note}}
        counted: {of: line.order}
`

func tellingOf(tells string, beside ...*dsl.Source) (*verbs.Registry, dsl.Diagnostics) {
	return Sources(append(beside, dsl.NewSource("x.yaml", strings.Replace(tellingPalette, "TELLS", tells, 1)))...)
}

// OB10: what came of a call is told in the palette's sentences, without what is
// empty, in the person's language or else in another.
func TestTells(t *testing.T) {
	t.Parallel()
	r, ds := tellingOf(`{each: "{title}[, due {due}].[urgent? Now!][ Parts: <parts* {name}[ ({note})]>.][ Until {until}.]", first: "{count} of them:", none: Nothing.}`,
		dsl.NewSource("x.de.yaml", `verbs: {list: {tells: {each: "{title}[ bis {due}]."}, asks: {until: "Bis wann?"}}}`),
		dsl.NewSource("x.es.yaml", `verbs: {list: {tells: {each: "<parts* {name}.>"}}}`))
	if r == nil || len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	v := r.Verb("x.list")
	full := rowValues{map[string]string{"title": "Boiler", "due": "today", "urgent": "yes", "count": "2"}, map[string][]verbs.Told{"parts": {
		rowValues{of: map[string]string{"name": "pump", "note": "old"}}, rowValues{of: map[string]string{"name": "pipe"}}, rowValues{of: map[string]string{}}}}}
	bare := rowValues{of: map[string]string{"title": "Roof", "urgent": "0"}}
	for _, c := range []struct {
		in   verbs.Wordings
		lang string
		of   verbs.Told
		want string
	}{
		{v.Tells.Each, "en", full, "Boiler, due today. Now! Parts: pump (old); pipe."},
		{v.Tells.Each, "fr", bare, "Roof."},
		{v.Tells.Each, "de", full, "Boiler bis today."},
		{v.Tells.Each, "es", full, "pump. pipe."},
		{v.Tells.Each, "fr", rowValues{of: map[string]string{"title": "It leaks. Again."}}, "It leaks. Again."},
		{v.Tells.Each, "de", rowValues{of: map[string]string{"title": "Wer kommt?"}}, "Wer kommt?"},
		{v.Tells.First, "de", full, "2 of them:"},
		{v.Tells.None, "", bare, "Nothing."},
		{v.Params[0].Asks, "de", nil, "Bis wann?"},
	} {
		if got := c.in.In(c.lang).Say(c.of); got != c.want {
			t.Errorf("%s: %q, want %q", c.lang, got, c.want)
		}
	}
	if v.Tells.Done.In("en") != nil {
		t.Error("nothing is said of what was done, and something is told")
	}
}

// What an author can get wrong about it, each told where it stands.
func TestLoadTells(t *testing.T) {
	t.Parallel()
	for tells, want := range map[string]string{
		`{each: "{title}"}`:                  "",
		`{each: "{parts}, <parts* {name}>"}`: "",
		`{done: "{title} {until}"}`:          "",
		`{each: "{tilte}"}`:                  "unknown-name tilte",
		`{each: "[tilte? x]"}`:               "unknown-name tilte",
		`{each: "<parts* {nam}>"}`:           "unknown-name nam",
		`{none: "{title}"}`:                  "unknown-name title",
		`{each: "{title"}`:                   "bad-braces {",
		`{each: "title}"}`:                   "bad-braces }",
		`{each: "[{title}"}`:                 "bad-braces [",
		`{each: "{title}]"}`:                 "bad-braces ]",
		`{each: "<parts {name}>"}`:           "bad-braces <",
		`{each: "<title* x>"}`:               "bad-value title",
		`{each: "<counted* x>"}`:             "unknown-name counted",
		`{each: {en: "{title}"}}`:            "wrong-shape {",
		`{every: "{title}"}`:                 "unknown-key every",
		`{asks: "Until {until}?"}`:           "",
		`{asks: "May I[ until {until}]?"}`:   "",
		`{asks: "Now?"}`:                     "contradiction asks",
		`{asks: "{title}?"}`:                 "unknown-name title",
	} {
		r, ds := tellingOf(tells)
		got := ""
		for _, d := range ds {
			if d.Severity == dsl.Error {
				got = d.Code + " " + d.Place.Source.Text[d.Place.Range.Start:d.Place.Range.End]
			}
		}
		if got != want || (r == nil) != (want != "") {
			t.Errorf("%s\n%q, not %q: %s", tells, got, want, inWords(ds))
		}
	}
}

// A question says the rows that its call adds or changes, and no others.
func TestLoadQuestionsOfRows(t *testing.T) {
	t.Parallel()
	for asks, want := range map[string]string{
		"Shall I close {until}?[ With it: <line* {line}>.]": "",
		"Shall I close {until}? <line* {title}>":            "unknown-name title",
		"Shall I close {until}? <order* {order}>":           "unknown-name order",
		"Shall I close {until}? {line}":                     "unknown-name line",
	} {
		_, ds := Sources(dsl.NewSource("x.yaml", strings.Replace(tellingPalette, "TELLS", "{none: Nothing.}", 1)+`
  - verb: close
    description: Close them.
    roles: [clerk]
    args: [{name: until, type: date, required: true}]
    tells: {asks: "`+asks+`"}
    effects: [{may-update: line.note, where: row.order.due == until, set: {note: '"closed"'}}]
`))
		got := ""
		for _, d := range ds {
			if d.Severity == dsl.Error {
				got = d.Code + " " + d.Place.Source.Text[d.Place.Range.Start:d.Place.Range.End]
			}
		}
		if got != want {
			t.Errorf("%s\n%q, not %q: %s", asks, got, want, inWords(ds))
		}
	}
}

// What an author can get wrong about answers, each told where it stands.
func TestLoadAnswers(t *testing.T) {
	t.Parallel()
	for answers, want := range map[string]string{
		`{while: asking, verb: x.tell, argument: value, yes: 'x.list', no: 'x.tell :value "no"'}`: "",
		`{verb: x.tell, argument: value}`:                                      "missing-key",
		`{while: asking, verb: x.tel, argument: value}`:                        "unknown-verb",
		`{while: asking, verb: x.tell, argument: values}`:                      "unknown-argument",
		`{while: asking, verb: x.both, argument: value}`:                       "contradiction",
		`{while: asking, verb: x.tell, argument: value, yes: 'x.list x.tell'}`: "contradiction",
		`{while: asking, verb: x.tell, argument: value, no: 'x.lits'}`:         "unknown-verb",
		`{while: asking, verb: x.tell, argument: value, maybe: 'x.list'}`:      "unknown-key",
		`{while: asking, verb: x.tell, argument: value}, person: x.lits`:       "unknown-verb",
		`{while: asking, verb: x.tell, argument: value}, person: x.list`:       "",
	} {
		text := strings.Replace(tellingPalette, "TELLS", `{none: Nothing.}`, 1) + `
  - {verb: tell, description: Take it., roles: [clerk], handler: true, args: [{name: value, type: any, required: true}]}
  - {verb: both, description: Take both., roles: [clerk], handler: true, args: [{name: value, type: any, required: true}, {name: field, type: string, required: true}]}
conversation: {answers: ` + answers + "}\n"
		r, ds := Sources(dsl.NewSource("x.yaml", text))
		got := ""
		for _, d := range ds {
			if d.Severity == dsl.Error {
				got = d.Code
			}
		}
		if got != want || (r == nil) != (want != "") {
			t.Errorf("%s\n%q, not %q: %s", answers, got, want, inWords(ds))
		}
	}
}
