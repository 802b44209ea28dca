package dsl

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"verbatim/runtime/tests/norace"

	"pgregory.net/rapid"
)

// U2: the nearest name of the same kind, or none.
func TestNearest(t *testing.T) {
	t.Parallel()
	verbs := []string{"client.add-note", "client.get-status", "client.get-outstanding", "client.escalate", "kyc.close", "kyc.clone"}
	for _, c := range []struct {
		word       string
		candidates []string
		want       string
	}{
		{"client.add-noet", verbs, "[client.add-note]"},     // two neighbours swapped
		{"client.ad-note", verbs, "[client.add-note]"},      // one left out
		{"client.addd-note", verbs, "[client.add-note]"},    // one too many
		{"client.get-statos", verbs, "[client.get-status]"}, // one replaced
		{"clinet.get-sttaus", verbs, "[client.get-status]"}, // two mistakes
		{"client.add-note", verbs, "[client.add-note]"},     // none
		{"kyc.clome", verbs, "[kyc.clone kyc.close]"},       // a tie, sorted
		{"dat", []string{"date", "data", "datetime", "day"}, "[data date day]"},
		{"x", []string{"d", "c", "b", "a", "e"}, "[a b c]"}, // at most three, whatever the order
		{"PASPORT", []string{"PASSPORT", "TAX_RETURN"}, "[PASSPORT]"},
		{"größe", []string{"grösse", "größer", "grosse"}, "[größer]"},
		{"日付", []string{"日時", "日付け"}, "[日付け 日時]"},
		{"", []string{"a", "ab"}, "[a]"},
		{"ab", []string{"a", "b", "ba", "xy", ""}, "[a b ba]"},
		// Too far, and so nothing.
		{"client.remove-everything", verbs, "[]"},
		{"dat", []string{"boolean", "ref", "tax"}, "[]"},
		{"abc", []string{"xyz", "abxy"}, "[]"},
		{"ca", []string{"abc"}, "[]"}, // optimal string alignment does not edit what it swapped
		{"note", []string{"no"}, "[]"},
		{"note", nil, "[]"},
	} {
		if got := fmt.Sprint(Nearest(c.word, slices.Values(c.candidates))); got != c.want {
			t.Errorf("%q: %s, want %s", c.word, got, c.want)
		}
	}
}

// plainDistance is the textbook's.
func plainDistance(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range d[0] {
		d[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

func TestNearestAgreesWithTheTextbook(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringOfN(rapid.RuneFrom([]rune("abcé.")), 0, 12, -1)
		word := words.Draw(t, "word")
		candidates := rapid.SliceOfN(words, 0, 12).Draw(t, "candidates")
		best := max(1, len([]rune(word))/3)
		var want []string
		for _, c := range candidates {
			switch d := plainDistance([]rune(word), []rune(c)); {
			case d < best:
				best, want = d, []string{c}
			case d == best:
				want = append(want, c)
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		if len(want) > 3 {
			want = want[:3]
		}
		if got := Nearest(word, slices.Values(candidates)); !slices.Equal(got, want) {
			t.Fatalf("%q among %q: %q, want %q", word, candidates, got, want)
		}
	})
}

// U2: of the misspellings people make, one or two edits away, at least 95 in a
// hundred are named.
func TestMisspeltVerbsAreNamed(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	var names []string
	for _, domain := range realisticDomains {
		for _, act := range realisticActs {
			for _, thing := range realisticThings {
				names = append(names, domain+"."+act+"-"+thing)
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	named := 0
	const trials = 4000
	for range trials {
		name := names[r.IntN(len(names))]
		word := []rune(name)
		for range r.IntN(2) + 1 {
			i := r.IntN(len(word) - 1)
			switch letter := rune('a' + r.IntN(26)); r.IntN(4) {
			case 0:
				word = slices.Insert(word, i, letter)
			case 1:
				word = slices.Delete(word, i, i+1)
			case 2:
				word[i] = letter
			case 3:
				word[i], word[i+1] = word[i+1], word[i]
			}
		}
		if slices.Contains(Nearest(string(word), slices.Values(names)), name) {
			named++
		}
	}
	if named < trials*95/100 {
		t.Errorf("%d of %d are named", named, trials)
	}
	t.Logf("%.1f%% are named", 100*float64(named)/trials)
}
