package load

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

const everyKey = "testdata/every-key"

func everyKeyFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(everyKey, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The palette that has every key loads, and so do its translation, a palette with a
// namespace and one that takes back what it did. Its calls check.
func TestThePaletteOfEveryKeyLoads(t *testing.T) {
	t.Parallel()
	pay, ds := Sources(dsl.NewSource("pay.yaml", everyKeyFile(t, "pay.yaml")), dsl.NewSource("pay.de.yaml", everyKeyFile(t, "pay.de.yaml")), dsl.NewSource("kyc.yaml", everyKeyFile(t, "kyc.yaml")))
	if pay == nil {
		t.Fatal(inWords(ds))
	}
	for _, d := range ds {
		if d.Code != "handler-needed" && d.Code != "any-code" {
			t.Errorf("%s: %s", d.Code, d.Summary)
		}
	}
	if cooks, ds := Sources(dsl.NewSource("kitchen.yaml", everyKeyFile(t, "kitchen.yaml"))); len(ds) > 0 || len(cooks.NoUndo()) > 0 {
		t.Fatal(inWords(ds))
	}
	script, ds := dsl.Parse(dsl.NewSource("check.dsl", everyKeyFile(t, "check.dsl")))
	_, more := pay.Check(script, nil)
	if ds = append(ds, more...); len(ds) > 0 || len(script.Calls) < 4 {
		t.Errorf("%d calls: %s", len(script.Calls), inWords(ds))
	}
}

// A palette that is tested or shipped has each key and each type that a palette can have.
func TestEveryKeyHasAnExampleThatLoads(t *testing.T) {
	t.Parallel()
	all := ""
	for _, pattern := range []string{everyKey + "/*.yaml", "../palettes/*/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all += string(text)
		}
	}
	keys := map[string]bool{}
	for _, written := range regexp.MustCompile(`[A-Za-z0-9_-]+:`).FindAllString(all, -1) {
		keys[strings.TrimSuffix(written, ":")] = true
	}
	for _, s := range shapes() {
		for _, k := range s.keys {
			if !keys[k.name] {
				t.Errorf("%s of %s is not shown", k.name, s.name)
			}
		}
	}
	for _, name := range verbs.TypeWords {
		if !strings.Contains(all, "type: "+name) {
			t.Errorf("type %s is not shown", name)
		}
	}
}

// Each form of an expression that the guide "expressions" lists loads as the condition of a rule.
func TestFormsOfExpressionsLoad(t *testing.T) {
	t.Parallel()
	told := everyKeyFile(t, "pay.yaml") + `
  - verb: attempt
    description: Try a condition.
    roles: [clerk]
    args:
      - {name: payment-id, type: ref, ref-type: payment, required: true}
      - {name: price, type: money, required: true}
      - {name: text, type: string, required: true}
      - {name: day, type: date, required: true}
      - {name: tags, type: list, of: string, required: true}
      - {name: n, type: integer, required: true}
    effects:
      - notifies: somebody
    confirm:
      - when: `
	for _, expr := range []string{
		`payment_id.supplier.name == text`,
		`price.amount > 12.50 and price.currency == EUR`,
		`payment_id.status == DRAFT or payment_id.status in [RELEASED, REJECTED]`,
		`payment_id.note == nil or payment_id.note != "text"`,
		`day > today + days(2) or day < today - weeks(1)`,
		`payment_id.entered + hours(4) < now - minutes(5)`,
		`principal == text`,
		`day == date("2025-01-20")`,
		`n * 2 + 1 - 3 >= 10 and n % 2 != 0 or not (n <= 3)`,
		`n > 3 ? true : false`,
		`text contains "a" or text startsWith "b" or text endsWith "c" or text matches "^[a-z]+$"`,
		`len(text) > 3 and lower(text) == upper(trim(text))`,
		`len(tags) > 3 or "a" in tags`,
	} {
		if r, ds := Sources(dsl.NewSource("pay.yaml", told+"'"+expr+"'\n")); r == nil {
			t.Errorf("%s\n%s", expr, inWords(ds))
		}
	}
	if r, _ := Sources(dsl.NewSource("pay.yaml", told+"'n == text'\n")); r != nil {
		t.Error("a number is compared with a text and nobody minds")
	}
}
