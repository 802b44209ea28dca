package phrase

import (
	"testing"

	"verbatim/runtime/words"
)

// O12, U7: what is to be noted is what follows the colon or the "that" of a phrase,
// in whichever language it is said, and not the order to note it; where nothing
// follows, it is asked for.
func TestWhatFollowsIsTheNote(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for _, c := range [][3]string{
		{"en", "leave a note for Pierre: the accountant is ill", "the accountant is ill"},
		{"en", "Please leave a note: Pierre's accountant is ill", "Pierre's accountant is ill"},
		{"en", "note that Pierre's accountant is ill", "Pierre's accountant is ill"},
		{"en", "Please note that the adviser of Pierre is on holiday", "the adviser of Pierre is on holiday"},
		{"en", "write down for Pierre's source of wealth that the adviser is ill", "the adviser is ill"},
		{"en", `Leave a note on Pierre: "our accountant is away"`, "our accountant is away"},
		{"en", "leave a note for Pierre, the accountant is ill", "the accountant is ill"},
		{"en", "leave a note for Pierre", ""},
		{"en", "Leave a note on Pierre's source of wealth, please", ""},
		{"en", "note for Pierre: they open at 10:30", "they open at 10:30"},
		{"de", "Notiz: Pierres Steuerberater ist krank", "Pierres Steuerberater ist krank"},
		{"de", "Notieren Sie bitte, dass Pierres Steuerberater krank ist", "Pierres Steuerberater krank ist"},
		{"de", "Bitte notieren Sie, dass der Steuerberater von Pierre krank ist", "der Steuerberater von Pierre krank ist"},
		{"de", "Hinterlassen Sie eine Notiz zu Pierre: der Steuerberater ist krank", "der Steuerberater ist krank"},
		{"fr", "Notez que le comptable de Pierre est malade", "le comptable de Pierre est malade"},
		{"fr", "Laissez une note sur Pierre : le comptable est malade", "le comptable est malade"},
		{"fr", "Note : le comptable de Pierre est malade", "le comptable de Pierre est malade"},
		{"es", "anota que el contable de Pierre está enfermo", "el contable de Pierre está enfermo"},
		{"es", "Nota: el contable de Pierre está enfermo", "el contable de Pierre está enfermo"},
		{"es", "Deje una nota en Pierre: «el contable está enfermo»", "el contable está enfermo"},
	} {
		l, _ := words.ParseLanguage(c[0])
		h := r.Read(c[1], words.In{Now: now, Languages: []words.Language{l}})
		got, asks := "", 0
		for i := range h.Parts {
			p := &h.Parts[i]
			if p.Verb == nil || p.Verb.Name != "client.add-note" {
				continue
			}
			asks = len(p.Asks)
			for _, a := range p.Args {
				if a.Param.Name == "note" {
					got = a.Value.Text
				}
			}
		}
		if got != c[2] || c[2] == "" && asks != 1 {
			t.Errorf("%q is noted as %q, and asks %d questions", c[1], got, asks)
		}
	}
}
