package names

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"verbatim/stores"
)

var people = &stores.Entity{Name: "person", Table: "people"}

func given(key int64, plain, suffix string) NamedRow {
	return NamedRow{Key: stores.NewInt(key), Label: plain, Plain: plain, Suffix: suffix + "0000000000000000"[len(suffix):], Kept: true}
}

// known is what a Cache takes a word for: the number of a row, 0 for none.
func known(b *Cache, word string) int64 {
	if key, ok := b.Key(people, word); ok {
		return key.Int()
	}
	return 0
}

func shown(b *Cache, key int64) string {
	row, _ := b.Row(people, stores.NewInt(key))
	return row.Name
}

// F1: a plain name means a row while it is the only one of that name that is known,
// and none from then on; each row is shown by a name that means it.
func TestAHomonymTakesThePlainNameAway(t *testing.T) {
	t.Parallel()
	var b Cache
	b.Add(people, given(1, "ann", "aaaaaa"))
	if known(&b, "ann") != 1 || shown(&b, 1) != "ann" {
		t.Fatalf("@ann is %d, and it is shown as %s", known(&b, "ann"), shown(&b, 1))
	}
	b.Add(people, given(2, "ann", "bbbbbb"))
	if known(&b, "ann") != 0 {
		t.Errorf("@ann is %d of two", known(&b, "ann"))
	}
	for key, name := range map[int64]string{1: "ann~aaaaaa", 2: "ann~bbbbbb"} {
		if shown(&b, key) != name || known(&b, name) != key || known(&b, name+"0000000000") != key {
			t.Errorf("row %d is shown as %s; @%s is %d", key, shown(&b, key), name, known(&b, name))
		}
	}
	var told []string
	for _, row := range b.Homonyms(people, "ann") {
		told = append(told, row.Name)
	}
	if !slices.Equal(told, []string{"ann~aaaaaa", "ann~bbbbbb"}) {
		t.Errorf("@ann may be %v", told)
	}
	if b.Homonyms(people, "ann~aaaaaa") != nil {
		t.Error("a name that is known has homonyms")
	}
}

// F1: a row that shares its name with one that this session does not know is shown
// with its suffix from the start.
func TestASharedNameIsShownWithItsSuffix(t *testing.T) {
	t.Parallel()
	var b Cache
	g := given(1, "ann", "aaaaaa")
	g.Shared = true
	b.Add(people, g)
	if shown(&b, 1) != "ann~aaaaaa" || known(&b, "ann") != 0 {
		t.Errorf("it is shown as %s, and @ann is %d", shown(&b, 1), known(&b, "ann"))
	}
}

// Suffixes that begin alike are shown whole: the short form means neither.
func TestSuffixesThatBeginAlike(t *testing.T) {
	t.Parallel()
	var b Cache
	b.Add(people, given(1, "ann", "aaaaaa1"), given(2, "ann", "aaaaaa2"), given(3, "ann", "aaaaaa3"))
	if known(&b, "ann~aaaaaa") != 0 {
		t.Errorf("@ann~aaaaaa is %d", known(&b, "ann~aaaaaa"))
	}
	for key := int64(1); key <= 3; key++ {
		if name := shown(&b, key); known(&b, name) != key || len(name) != len("ann~")+SuffixLength {
			t.Errorf("row %d is shown as %s, which is %d", key, name, known(&b, name))
		}
	}
}

// F1: a word means a row only if no other row had that name, also one that is gone.
func TestAWordIsSettledByAllThatEverHadIt(t *testing.T) {
	t.Parallel()
	one, two := stores.Name{Entity: people, Key: stores.NewInt(1)}, stores.Name{Entity: people, Key: stores.NewInt(2)}
	for name, c := range map[string]struct {
		found []stores.Name
		want  int64
	}{
		"nobody had it":                {nil, 0},
		"one row had it":               {[]stores.Name{one}, 1},
		"one row had it twice":         {[]stores.Name{one, one}, 1},
		"a row that is gone had it":    {[]stores.Name{two}, 0},
		"it and a row that is gone":    {[]stores.Name{one, two}, 0},
		"a row that is gone, and then": {[]stores.Name{two, one}, 0},
	} {
		var b Cache
		b.Add(people, given(1, "ann", "aaaaaa"))
		b.Settle(people, "former", c.found)
		if got := known(&b, "former"); got != c.want {
			t.Errorf("%s: @former is %d, want %d", name, got, c.want)
		}
		if c.want == 0 && len(c.found) == 2 {
			b.Settle(people, "former", []stores.Name{one})
			if known(&b, "former") != 0 || len(b.Homonyms(people, "former")) != 1 {
				t.Errorf("%s: what may be several became one", name)
			}
		}
	}
}

// A row whose label changed is named anew; what it was called goes on meaning it.
func TestAFormerNameGoesOnMeaningItsRow(t *testing.T) {
	t.Parallel()
	var b Cache
	b.SetExtent(people, All)
	b.Add(people, given(1, "ann", "aaaaaa"))
	b.Forget(people, stores.NewInt(1))
	if _, ok := b.Row(people, stores.NewInt(1)); ok || b.Extent(people) != Some {
		t.Error("it is still known")
	}
	b.Add(people, given(1, "anna", "aaaaaa"))
	if known(&b, "ann") != 1 || known(&b, "anna") != 1 || shown(&b, 1) != "anna" {
		t.Errorf("@ann is %d, @anna is %d, it is shown as %s", known(&b, "ann"), known(&b, "anna"), shown(&b, 1))
	}
	b.SetExtent(people, TooMany)
	b.Forget(people, stores.NewInt(1))
	if b.Extent(people) != TooMany {
		t.Error("there are few of them now")
	}
}

// What the store does not have is told once.
func TestFreshNamesAreTakenOnce(t *testing.T) {
	t.Parallel()
	var b Cache
	fresh := given(2, "bob", "bbbbbb")
	fresh.Kept, fresh.Owner = false, "o"
	b.Add(people, given(1, "ann", "aaaaaa"), fresh)
	got := b.Fresh()
	if len(got) != 1 || got[0] != (stores.Name{Entity: people, Key: stores.NewInt(2), Plain: "bob", Suffix: "bbbbbb0000000000", Owner: "o"}) {
		t.Errorf("fresh: %+v", got)
	}
	if again := b.Fresh(); again != nil {
		t.Errorf("fresh again: %+v", again)
	}
	if left := b.Unknown(people, []NamedRow{given(1, "ann", "aaaaaa"), given(3, "cy", "cccccc")}); len(left) != 1 || left[0].Key.Int() != 3 {
		t.Errorf("unknown: %+v", left)
	}
}

// Whatever rows are added in whatever order, the name that a row is shown by means
// that row, and its whole name does for ever.
func TestShownNamesMeanTheirRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var b Cache
		rows := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) [3]string {
			return [3]string{rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "name"), rapid.StringOfN(rapid.RuneFrom([]rune("ab")), 8, 8, -1).Draw(t, "suffix")}
		}), 1, 20, func(r [3]string) string { return r[1] }).Draw(t, "rows")
		for i, r := range rows {
			b.Add(people, given(int64(i+1), r[0], r[1]))
		}
		for i, r := range rows {
			name := shown(&b, int64(i+1))
			if known(&b, name) != int64(i+1) || known(&b, r[0]+"~"+r[1]+"00000000") != int64(i+1) {
				t.Fatalf("row %d is shown as %s, which is row %d", i+1, name, known(&b, name))
			}
		}
	})
}

// SAFE-S8: a suffix tells nothing of its key and is another in another store.
func TestSuffixesDependOnTheStoreAndTheRow(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, secret := range []string{"a", "b"} {
		for _, e := range []*stores.Entity{people, {Name: "person", Table: "others"}} {
			for _, key := range []stores.Value{stores.NewInt(1), stores.NewInt(2), stores.NewString("1")} {
				s := Suffix([]byte(secret), e, key)
				if len(s) != SuffixLength || seen[s] || s != Suffix([]byte(secret), e, key) {
					t.Errorf("the suffix of %s in %s is %q", key.Text(), e.Table, s)
				}
				seen[s] = true
			}
		}
	}
	for symbol, want := range map[string]string{"ann": "ann", "ann~aaaaaabbbb": "ann~aaaaaa", "ann~aaaaaabbbb.club.name": "ann~aaaaaa.club.name", "ann~a": "ann~a", "ann.name": "ann.name"} {
		if got := Shorten(symbol); got != want {
			t.Errorf("@%s is shown as @%s, want @%s", symbol, got, want)
		}
	}
}

// Of many names those are forgotten that nothing hangs on: the names of all rows of an
// entity are kept for longer than those of rows that came by.
func TestManyNamesAreForgotten(t *testing.T) {
	t.Parallel()
	var b Cache
	for key := int64(1); key <= Most; key++ {
		b.Add(people, given(key, "p"+stores.NewInt(key).Text(), "aaaaaa"))
	}
	b.Trim()
	if known(&b, "p7") != 7 {
		t.Error("a name is forgotten though there are not too many")
	}
	b.SetExtent(people, All)
	b.Add(people, given(Most+1, "last", "bbbbbb"))
	b.Trim()
	if known(&b, "p7") != 7 || b.Extent(people) != All {
		t.Error("a name of all there are is forgotten")
	}
	b.SetExtent(people, TooMany)
	b.Trim()
	if known(&b, "p7") != 0 || shown(&b, 7) != "" || b.Extent(people) != TooMany {
		t.Errorf("@p7 is %d", known(&b, "p7"))
	}
}
