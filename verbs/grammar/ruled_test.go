package grammar

import (
	"slices"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs/load"
)

// A grammar knows the form of an account or a telephone number and says that it does not know its
// check digits: those arguments are loose. The schemas for other programs accept every spelling that
// the checker reads, and no other form (G13).
func TestNumbersWithRulesOfTheirOwn(t *testing.T) {
	t.Parallel()
	reg, ds := load.Sources(dsl.NewSource("pay.yaml", `
domain: pay
roles: [{name: clerk}]
verbs:
  - verb: note
    description: Note all of it.
    roles: [clerk]
    handler: true
    args:
      - {name: account, type: iban}
      - {name: bank, type: bic}
      - {name: company, type: lei}
      - {name: number, type: phone}
      - {name: desk, type: phone, country: AT}
      - {name: person, type: national-id, country: FI}
`))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	v := Vocabulary{Verbs: reg.Verbs()}
	g := New(v)
	var want []string
	for _, name := range []string{"account", "bank", "company", "desk", "number", "person"} {
		want = append(want, "pay.note :"+name)
	}
	if loose := slices.Sorted(slices.Values(g.Loose())); !slices.Equal(loose, want) {
		t.Errorf("loose: %q", loose)
	}
	tools, err := Tools(v)
	if err != nil || len(tools) != 1 {
		t.Fatal(err)
	}
	schema := compile(t, tools[0].Parameters)
	for name, texts := range map[string]string{
		"account": "DE89370400440532013000|de89 3704 0044 0532 0130 00|! DE89|! 89370400440532013000|! DE89 3704 0044 0532 0130 0_",
		"bank":    "DEUTDEFF|deutdeff500|! DEUTDEFF5",
		"company": "5493001KJTIIGC8Y1R12|5493 001K JTII GC8Y 1R12|! 5493001KJTIIGC8Y1R1",
		"number":  "+442079460018|+44 20 7946 0018|+1 (415) 555-0132|0044 20 7946 0018|! 020 7946 0018|! call me",
		"desk":    "01 234567890|+43 1 234567890|(01) 234 567|! call me",
		"person":  "131052-308T",
	} {
		for text := range strings.SplitSeq(texts, "|") {
			text, wrong := strings.CutPrefix(text, "! ")
			args := map[string]any{"account": nil, "bank": nil, "company": nil, "number": nil, "desk": nil, "person": nil}
			args[name] = text
			if err := schema.Validate(args); (err != nil) != wrong {
				t.Errorf("%s %q: %v", name, text, err)
			}
			s, ds := dsl.Parse(dsl.NewSource("-", "pay.note :"+name+" "+dsl.FormatValue(dsl.NewString(text))))
			if _, more := reg.Check(s, nil); (len(ds)+len(more) > 0) != wrong {
				t.Errorf("%s %q is refused: %v", name, text, more)
			}
		}
	}
}
