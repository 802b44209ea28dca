package intent

import (
	"testing"

	"verbatim/runtime/conversation/values"
)

// An address or a number that was said and cannot be read is asked about, although the argument may be
// left out: a person who gave one would not know that it was dropped.
func TestAnAddressThatCannotBeReadIsAskedAbout(t *testing.T) {
	t.Parallel()
	_, r := inline(t, `
domain: c
roles: [{name: u}]
entities:
  own: {key: own_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: reach
    description: Say how to reach you.
    roles: [u]
    phrases: ["my mail is {mail}", "my phone is {tel}", "call me at {tel}", "write to me at {mail}", "write to me"]
    handler: true
    args: [{name: mail, type: email}, {name: tel, type: phone}]
`, "own")
	for _, c := range []struct{ said, call, asks string }{
		{"my phone is 12", "", "I cannot read “12” as a phone number. Please check it."},
		{"call me at +49 12-34", "", "I cannot read “49 12-34” as a phone number. Please check it."},
		{"my mail is a@@b", "", "I cannot read “a@@b” as an e-mail address. Please check it."},
		{"my mail is ada@home, thanks", "", "I cannot read “ada@home” as an e-mail address. Please check it."},
		{"my phone is 0151 555 0199", "", "Which country is that number in? Please begin it with + and the country's code."},
		{"my phone is +49 151 5550199", `c.reach :tel "+491515550199"`, ""},
		{"my mail is ada@home.de.", `c.reach :mail "ada@home.de"`, ""},
		{"write to me", "c.reach", ""},
		{"call me at home", "c.reach", ""},
		{"call me at 5 tomorrow", "c.reach", ""},
	} {
		h := r.Read(c.said, values.In{Now: now})
		if len(h.Parts) != 1 || h.Parts[0].Call != c.call || c.asks != "" && (len(h.Parts[0].Asks) != 1 || h.Parts[0].Asks[0].Text != c.asks) {
			t.Errorf("%q is read as %s", c.said, describe(c.said, &h))
		}
	}
	for l, want := range map[values.Language]string{
		values.German:  "„12“ kann ich nicht als eine Telefonnummer lesen. Bitte prüfen Sie das.",
		values.French:  "Je ne peux pas lire «\u00a012\u00a0» comme un numéro de téléphone. Veuillez vérifier.",
		values.Spanish: "No puedo leer «12» como un número de teléfono. Compruébelo, por favor.",
	} {
		in := r.in
		in.Tongue = &l
		if h := r.ix.Reader(in).Read("my phone is 12", values.In{Now: now}); len(h.Parts) != 1 || len(h.Parts[0].Asks) != 1 || h.Parts[0].Asks[0].Text != want {
			t.Errorf("%s", describe("my phone is 12", &h))
		}
	}
}

// What a number with three digits behind its point means is asked, and each of the two can be taken.
// The value has no digit that nobody said: an amount of three digits would not take a fourth.
func TestANumberThatMayBeTwo(t *testing.T) {
	t.Parallel()
	_, r := inline(t, `
domain: c
roles: [{name: u}]
entities:
  own: {key: own_id, scope: everyone, label: "{name}", fields: {name: {type: string}}}
verbs:
  - verb: pay
    description: Pay something.
    roles: [u]
    phrases: ["pay {amount}"]
    handler: true
    args: [{name: amount, type: decimal, scale: 3, required: true}]
`, "own")
	for _, c := range []struct{ said, verb, first, second string }{
		{"pay 1.234", "c.pay", "c.pay :amount 1234", "c.pay :amount 1.234"},
		{"pay 12.340", "c.pay", "c.pay :amount 12340", "c.pay :amount 12.340"},
	} {
		h := r.Read(c.said, values.In{Now: now})
		if len(h.Parts) != 1 || len(h.Parts[0].Asks) != 1 || len(h.Parts[0].Asks[0].Choices) != 2 {
			t.Errorf("%s", describe(c.said, &h))
			continue
		}
		for i, want := range []string{c.first, c.second} {
			v := r.in
			v.Given = []Given{{c.verb, "amount", h.Parts[0].Asks[0].Choices[i]}}
			if h := r.ix.Reader(v).Read(c.said, values.In{Now: now}); len(h.Parts) != 1 || h.Parts[0].Call != want {
				t.Errorf("choice %d of %q is read as %s, want %s", i, c.said, describe(c.said, &h), want)
			}
		}
	}
}
