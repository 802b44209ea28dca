package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

const followPalette = `domain: desk
roles: [{name: clerk}]
schemas:
  parcel:
    type: object
    required: [kind, weight]
    additionalProperties: false
    properties: {kind: {enum: [PLAIN, INSURED]}, weight: {type: integer}, worth: {type: integer}, proof: {type: string}}
    if: {properties: {kind: {const: INSURED}}, required: [kind]}
    then: {required: [worth, proof]}
  letter: {type: object, properties: {words: {type: integer}}}
codes:
  - name: what
    values: [{code: PARCEL, schema: parcel}, {code: LETTER, schema: letter}]
verbs:
  - verb: send
    roles: [clerk]
    args:
      - {name: what, type: code, ref-type: what, required: true}
      - {name: facts, type: object, required: true, schema-of: what, follow-ups: true}
    effects:
      - notifies: clerk
        when: len(missing(facts)) > 0
        with: {missing: missing(facts)}
`

// O11: what a schema requires because of what was said is no mistake where a
// palette says that it is asked later, and a mistake where it does not; what is
// always required, and what does not fit, is one in both.
func TestWhatFollowsIsAskedLater(t *testing.T) {
	t.Parallel()
	strict := loadText(t, "desk.yaml", strings.NewReplacer(", follow-ups: true", "", "        when: len(missing(facts)) > 0\n        with: {missing: missing(facts)}\n", "").Replace(followPalette))
	lenient := loadText(t, "desk.yaml", followPalette)
	e := &lenient.Verb("desk.send").Effects[0]
	for _, c := range []struct{ what, facts, missing, lenient, strict string }{
		{"PARCEL", `{:kind "PLAIN" :weight 2}`, `[]`, "", ""},
		{"PARCEL", `{:kind "INSURED" :weight 2}`, `["proof","worth"]`, "", "is missing :proof; is missing :worth"},
		{"PARCEL", `{:kind "INSURED" :weight 2 :worth 10}`, `["proof"]`, "", "is missing :proof"},
		{"PARCEL", `{:kind "INSURED"}`, `["proof","worth"]`, "is missing :weight", "is missing :proof; is missing :weight; is missing :worth"},
		{"PARCEL", `{:kind "INSURED" :weight "two"}`, `["proof","worth"]`, "must be an integer", "must be an integer; is missing :proof; is missing :worth"},
		{"LETTER", `{}`, `[]`, "", ""},
	} {
		script, ds := dsl.Parse(dsl.NewSource("-", "desk.send :what "+c.what+" :facts "+c.facts))
		if len(ds) > 0 {
			t.Fatal(inWords(ds))
		}
		for _, of := range []struct {
			r    *verbs.Registry
			want string
		}{{lenient, c.lenient}, {strict, c.strict}} {
			_, ds := of.r.Check(script, nil)
			for _, part := range strings.Split(of.want, "; ") {
				if !strings.Contains(inWords(ds), part) || of.want == "" && len(ds) > 0 || of.want != "" && len(ds) != strings.Count(of.want, ";")+1 {
					t.Errorf("%s: %s, want %s", c.facts, inWords(ds), of.want)
				}
			}
		}
		schema := lenient.CodeList("what").Schema(c.what)
		facts, err := stores.ParseJSON(strings.NewReplacer(":kind", `"kind":`, " :weight", `, "weight":`, " :worth", `, "worth":`).Replace(c.facts))
		if err != nil {
			t.Fatal(err)
		}
		keys, err := schema.FollowUps(facts)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.With[0].Value.Eval(verbs.Env{Args: []stores.Value{stores.NewString(c.what), facts}})
		if err != nil || got.Text() != c.missing {
			t.Errorf("%s: %v, %v, want %s", c.facts, got, err, c.missing)
		}
		holds, err := e.When.Eval(verbs.Env{Args: []stores.Value{stores.NewString(c.what), facts}})
		if err != nil || holds.Bool() != (len(keys) > 0) {
			t.Errorf("%s: %v, %v", c.facts, holds, err)
		}
	}
	// missing speaks of such an argument, and of nothing else.
	for _, wrong := range []string{"missing(what)", "missing()", "missing(facts, what)", `missing("facts")`} {
		_, ds := Sources(dsl.NewSource("desk.yaml", strings.Replace(followPalette, "len(missing(facts))", "len("+wrong+")", 1)))
		if !strings.Contains(inWords(ds), "missing wants an argument that is taken with follow-ups") {
			t.Errorf("%s: %s", wrong, inWords(ds))
		}
	}
}
