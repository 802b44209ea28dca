package verbs

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/stores"
)

// What is worked out at the run meets the same limits as what is written, and
// the refusal quotes nothing of the value.
func TestAcceptHoldsValuesToTheirTypes(t *testing.T) {
	t.Parallel()
	v := newBank().Verb("bank.everything")
	json := func(s string) stores.Value {
		w, err := stores.ParseJSON(s)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for _, c := range []struct {
		param string
		value stores.Value
		says  string // "" when it is accepted
	}{
		{"count", stores.NewInt(7), ""},
		{"count", stores.NewInt(11), "the most is 10"},
		{"count", stores.NewString("7"), "an integer is wanted, not a string"},
		{"price", stores.NewInt(7), ""},
		{"price", decimal("7.505"), "at most 2 digits"},
		{"day", date("1999-12-31"), "the least is 2000-01-01"},
		{"day", stores.Value{}, ""},
		{"email", stores.NewString("nobody"), "an e-mail address is wanted"},
		{"code", stores.NewString("lower"), "a code is wanted"},
		{"secret", stores.NewString("hunter2"), "at most 4 characters"},
		{"ssn", stores.NewString("hunter2"), "this form is wanted"},
		{"tags", json(`["a","b"]`), ""},
		{"tags", json(`[]`), "at least 1 item"},
		{"tags", json(`["a",2]`), "item 2: a string is wanted"},
		{"tags", json(`["a",null]`), "item 2: a string is wanted"},
		{"tags", json(`{"a":1}`), "a list of strings is wanted"},
		{"money", json(`{"amount":12.50,"currency":"EUR"}`), ""},
		{"money", json(`{"amount":12.50,"currency":"GBP"}`), "another currency"},
		{"money", json(`{"amount":"x","currency":"EUR"}`), "an amount and a currency"},
		{"money", json(`{"amount":1}`), "an amount and a currency"},
		{"address", json(`{"street":"a","city":"b"}`), ""},
		{"address", json(`{"street":"a"}`), "is missing :city"},
		{"address", json(`[1]`), "an object is wanted"},
		{"object", json(`{"anything":1}`), ""},
		{"anything", stores.NewInt(1), ""},
	} {
		_, err := paramNamed(v, c.param).Type.Accept(c.value)
		switch {
		case err == nil && c.says != "":
			t.Errorf("%s: %v is accepted", c.param, c.value)
		case err != nil && (c.says == "" || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v: %v", c.param, c.value, err)
		case err != nil && strings.Contains(err.Error(), "hunter2"):
			t.Errorf("%s: the value is quoted: %v", c.param, err)
		}
	}
}

// Whatever Check lets into a program, Accept lets through unchanged: the two
// doors are equally wide.
func TestAcceptAgreesWithCheck(t *testing.T) {
	t.Parallel()
	bank := newBank()
	v := bank.Verb("bank.everything")
	rapid.Check(t, func(t *rapid.T) {
		p := &v.Params[rapid.IntRange(0, len(v.Params)-1).Draw(t, "param")]
		value := rapid.SampledFrom([]dsl.Value{
			dsl.NewInteger(int64(rapid.IntRange(-3, 13).Draw(t, "n"))), dsl.NewNumber("12.50"), dsl.NewNumber("0.125"),
			dsl.NewBool(true), dsl.NewDate("2025-01-03"), dsl.NewDate("1990-01-01"), dsl.NewDateTime("2025-01-03T10:00:00Z"),
			dsl.NewString(rapid.SampledFrom([]string{"", "a", "abcde", "2025-01-03", "3d", "123-45-6789", "a@b.example", "+44 20 7946 0018", "EUR"}).Draw(t, "s")),
			dsl.NewUUID("123e4567-e89b-12d3-a456-426614174000"), dsl.NewCode("PASSPORT"),
			dsl.NewList(dsl.NewString("a")), dsl.NewList(dsl.NewInteger(1)), dsl.NewList(),
			dsl.NewMap(dsl.NewArg("amount", dsl.NewNumber("12.50")), dsl.NewArg("currency", dsl.NewCode("EUR"))),
			dsl.NewMap(dsl.NewArg("street", dsl.NewString("a")), dsl.NewArg("city", dsl.NewString("b"))),
		}).Draw(t, "value")
		script := &dsl.Script{Source: dsl.NewSource("-", ""), Calls: []dsl.Call{dsl.NewCall(v.Name, dsl.NewArg(p.Name, value))}}
		program, _ := bank.Check(script, nil)
		if program == nil {
			return
		}
		got := program.Calls()[0].Args[v.plan.param(p.Name, 0)].Value
		again, err := p.Type.Accept(got)
		if err != nil || again != got {
			t.Fatalf("%s: Check makes %v, Accept makes %v, %v", p.Name, got, again, err)
		}
	})
}

// What becomes known during a run is judged as what is written is, and the reason has nothing of the
// value in it (G13).
func TestAcceptSaysNothingOfANumber(t *testing.T) {
	t.Parallel()
	for name, texts := range map[TypeName]map[string]string{
		IBANType:       {"DE89370400440532013000": "", "DЕ89370400440532013000": "an IBAN is wanted; character 2 is neither a letter from A to Z nor a digit, and only looks like one: type it again", "US64SVBKUS6S3300958879": "an IBAN is wanted; its country has no IBANs (SWIFT's registry, release 100)"},
		BICType:        {"DEUTXXFF": "a BIC is wanted; characters 5 and 6 are no country"},
		NationalIDType: {"131052T308T": "a henkilötunnus is wanted; character 7 is no sign of a century"},
		PhoneType:      {"+44 20 79O6 0018": "a telephone number is wanted; it holds more than digits, and + and the usual marks between them"},
	} {
		is := &Type{Name: name, Scale: -1}
		if name == NationalIDType {
			is = (&Type{Name: name, Scale: -1, CountryOf: "nationality"}).In(stores.NewString("fi"))
		}
		for text, want := range texts {
			got := ""
			if _, err := is.Accept(stores.NewString(text)); err != nil {
				got = err.Error()
			}
			if got != want {
				t.Errorf("%s: %s", text, got)
			}
		}
	}
	if _, err := (&Type{Name: NationalIDType, Scale: -1, CountryOf: "nationality"}).In(stores.Value{}).Accept(stores.NewString("131052-308T")); err == nil || err.Error() != "a national id is wanted; its country is not said" {
		t.Errorf("without its country: %v", err)
	}
}
