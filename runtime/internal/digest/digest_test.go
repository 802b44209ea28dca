package digest

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"verbatim/stores"
)

// No two lists of texts run together.
func TestTextsAreKeptApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringN(0, 3, -1), 0, 4)
		a, b := texts.Draw(t, "a"), texts.Draw(t, "b")
		if (Of(a...) == Of(b...)) != (fmt.Sprintf("%q", a) == fmt.Sprintf("%q", b)) {
			t.Fatalf("%q and %q", a, b)
		}
	})
}

// A value is known by its kind and its text, and one that has an alias by that alone.
func TestValuesAreKnownByKindAndText(t *testing.T) {
	t.Parallel()
	key, other := stores.NewString("k1"), stores.NewString("k2")
	of := func(alias map[stores.Value]string, vs ...stores.Value) string {
		w := Writer{Alias: alias}
		w.Values(vs)
		return w.Hex()
	}
	if of(nil, stores.NewString("1")) == of(nil, stores.NewInt(1)) || of(nil, key) == of(nil, other) || of(nil, key) == of(nil, key, key) {
		t.Error("two values are one")
	}
	if of(map[stores.Value]string{key: "new 1"}, key) != of(map[stores.Value]string{other: "new 1"}, other) {
		t.Error("a key that was made up is known by more than its number")
	}
	if of(map[stores.Value]string{key: "new 1"}, key) == of(nil, stores.NewString("new 1")) {
		t.Error("an alias is taken for a value")
	}
}

// What was spilled is hashed with what follows.
func TestSpillingChangesNoDigest(t *testing.T) {
	t.Parallel()
	whole, parts := Writer{}, Writer{Into: sha256.New()}
	for i := range 1000 {
		for _, w := range []*Writer{&whole, &parts} {
			w.Value(stores.NewInt(int64(i)))
			w.Spill()
		}
	}
	if len(parts.B) >= len(whole.B) {
		t.Error("nothing was spilled")
	}
	parts.Into.Write(parts.B)
	if got := fmt.Sprintf("%x", parts.Into.Sum(nil)); got != whole.Hex() {
		t.Errorf("%s, want %s", got, whole.Hex())
	}
}
