package verbs

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"verbatim/dsl"
)

// Of words that are misspelt by one or two edits, at least 95 in a hundred are
// named, for verbs, arguments, codes and names alike, and the fix that names
// the word makes the script right (goals: Truth, suggestions; U2).
//
// Two edits are made only in words of six characters or more: of a shorter one
// they are more than a third.
func TestMisspellingsAreNamed(t *testing.T) {
	t.Parallel()
	r := loadPortal(t)
	known := session{}
	for _, e := range r.Entities() {
		known[e.Store.Name] = e
	}
	rng := rand.New(rand.NewPCG(1, 2))
	type tally struct{ tried, named, fixed int }
	tallies := map[string]*tally{}
	for range 80 {
		for _, v := range r.Verbs() {
			if v.Internal {
				continue // it is offered to nobody
			}
			right := wholeCall(rng, v)
			for _, w := range wordsOf(t, right, known, r) {
				for edits := 1; edits <= 2; edits++ {
					word := right[w.at.Start:w.at.End]
					if edits == 2 && len(word) < 6 {
						continue
					}
					wrong := misspell(rng, word, edits)
					if wrong == "" || w.exists(wrong) {
						continue
					}
					key := fmt.Sprintf("%s, %d", w.code, edits)
					if tallies[key] == nil {
						tallies[key] = &tally{}
					}
					n := tallies[key]
					n.tried++
					src := right[:w.at.Start] + wrong + right[w.at.End:]
					script, ds := dsl.Parse(dsl.NewSource("-", src))
					if len(ds) > 0 {
						t.Fatalf("%s\n%s", src, inWords(ds))
					}
					_, ds = r.Check(script, known)
					if fix := fixNaming(ds, w.code, word); fix != nil {
						n.named++
						fixed, _ := dsl.ApplyFixes(src, []dsl.Fix{*fix})
						script, _ := dsl.Parse(dsl.NewSource("-", fixed))
						if p, _ := r.Check(script, known); p != nil {
							n.fixed++
						}
					}
				}
			}
		}
	}
	for _, code := range []string{"unknown-verb", "unknown-argument", "unknown-code", "unknown-name"} {
		for edits := 1; edits <= 2; edits++ {
			n := tallies[fmt.Sprintf("%s, %d", code, edits)]
			if n == nil || n.tried < 100 {
				t.Errorf("%s, %d edits: hardly tried", code, edits)
				continue
			}
			t.Logf("%s, %d edits: %d of %d named", code, edits, n.named, n.tried)
			if n.named*100 < n.tried*95 {
				t.Errorf("%s, %d edits: only %d of %d are named", code, edits, n.named, n.tried)
			}
			if n.fixed != n.named {
				t.Errorf("%s, %d edits: only %d of %d fixes settle the mistake", code, edits, n.fixed, n.named)
			}
		}
	}
}

// wholeCall gives every argument of a verb.
func wholeCall(rng *rand.Rand, v *Verb) string {
	var b strings.Builder
	b.WriteString(v.Name)
	chosen := make([]string, len(v.Params))
	for i := range v.Params {
		p := &v.Params[i]
		value := p.Example()
		if p.Type.Name == CodeType && p.Type.Codes != nil {
			value = p.Type.Codes.Codes[rng.IntN(len(p.Type.Codes.Codes))].Name
		}
		chosen[i] = value
		if by, ok := p.SchemaOf(); ok {
			value = v.Params[by].Type.Codes.Schema(chosen[by]).Example()
		}
		fmt.Fprintf(&b, " :%s %s", p.Name, value)
	}
	return b.String()
}

// A word is one that can be misspelt.
type word struct {
	at     dsl.Range
	code   string
	exists func(string) bool
}

func wordsOf(t *testing.T, text string, names session, r *Registry) []word {
	script, ds := dsl.Parse(dsl.NewSource("-", text))
	if len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	if p, ds := r.Check(script, names); p == nil {
		t.Fatalf("%s\n%s", text, inWords(ds))
	}
	call := &script.Calls[0]
	v := r.Verb(call.Verb)
	words := []word{{call.VerbRange, "unknown-verb", func(s string) bool { return r.Verb(s) != nil }}}
	for i := range call.Args {
		a := &call.Args[i]
		key := a.KeyRange
		key.Start++
		words = append(words, word{key, "unknown-argument", func(s string) bool { return paramNamed(v, s) != nil || s == "as" }})
		p := paramNamed(v, a.Key)
		at := a.Value.Range
		switch {
		case a.Value.Kind == dsl.Code && p.Type.Codes != nil:
			words = append(words, word{at, "unknown-code", p.Type.Codes.Has})
		case a.Value.Kind == dsl.Symbol:
			at.Start++
			words = append(words, word{at, "unknown-name", func(s string) bool { return names[s] != nil }})
		}
	}
	return words
}

// misspell makes edits of the kinds that fingers make: a letter left out, put
// in, mistaken or swapped with its neighbour. Dots and hyphens stay, and so
// does the first letter of each part.
func misspell(rng *rand.Rand, s string, edits int) string {
	b := []byte(s)
	letter := func() byte {
		c := byte('a' + rng.IntN(26))
		if s[0] >= 'A' && s[0] <= 'Z' {
			c -= 'a' - 'A'
		}
		return c
	}
	inner := func(i int) bool {
		return i > 0 && i < len(b) && isWordByte(b[i]) && isWordByte(b[i-1])
	}
	for done := 0; done < edits; {
		i := 1 + rng.IntN(len(b))
		switch rng.IntN(4) {
		case 0:
			if !inner(i) || len(b) < 3 {
				continue
			}
			b = append(b[:i], b[i+1:]...)
		case 1:
			if i < len(b) && !isWordByte(b[i-1]) {
				continue
			}
			b = append(b[:i], append([]byte{letter()}, b[i:]...)...)
		case 2:
			if !inner(i) {
				continue
			}
			b[i] = letter()
		case 3:
			if !inner(i) || !inner(i+1) {
				continue
			}
			b[i], b[i+1] = b[i+1], b[i]
		}
		done++
	}
	if string(b) == s {
		return ""
	}
	return string(b)
}

func isWordByte(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// fixNaming finds the fix that writes a word.
func fixNaming(ds dsl.Diagnostics, code, word string) *dsl.Fix {
	for i := range ds {
		for k := range ds[i].Fixes {
			f := &ds[i].Fixes[k]
			if ds[i].Code == code && strings.TrimLeft(f.Edits[0].Text, ":@") == word {
				return f
			}
		}
	}
	return nil
}
