package verbs

import (
	"testing"

	"verbatim/dsl"
)

const numbered = `domain: count
roles: [{name: clerk, description: Who counts people.}]
verbs:
  - verb: person
    description: Count a person.
    roles: [clerk]
    handler: true
    effects: [{notifies: clerk}]
    undo: {none: it was said}
    args:
      - {name: nation, type: string, required: true}
      - {name: number, type: national-id, country: nation, required: true}
`

// Every example that the reference prints can be run: it parses and checks.
func TestExamplesCheck(t *testing.T) {
	t.Parallel()
	for _, r := range []*Registry{loadText(t, "pay.yaml", basePalette(t)), loadPortal(t), newBank().Registry, loadText(t, "count.yaml", numbered)} {
		for _, v := range r.Verbs() {
			text := v.Example()
			script, ds := dsl.Parse(dsl.NewSource("-", text))
			if len(ds) > 0 {
				t.Errorf("%s\n%s", text, inWords(ds))
				continue
			}
			if p, ds := r.CheckWork(script, nil); p == nil {
				t.Errorf("%s\n%s", text, inWords(ds))
			}
			for i := range v.Params {
				p := &v.Params[i]
				text := "x.y :z " + p.Example()
				if by, ok := v.CountryParam(i); ok { // alone, it is the number of no country
					text += " :" + v.Params[by].Name + ` "FI"`
				}
				script, ds := dsl.Parse(dsl.NewSource("-", text))
				if len(ds) > 0 {
					t.Errorf("%s :%s %s\n%s", v.Name, p.Name, text, inWords(ds))
					continue
				}
				script.Calls[0].Verb, script.Calls[0].Args[0].Key = v.Name, p.Name
				_, ds = r.CheckWork(script, nil)
				for _, d := range ds {
					if d.Code != "missing-argument" && d.Code != "deprecated-verb" {
						t.Errorf("%s\n%s", text, inWords(ds))
					}
				}
			}
		}
	}
}
