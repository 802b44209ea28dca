package main

import (
	"errors"
	"slices"
	"testing"

	"verbatim/stores"
	"verbatim/stores/postgres/pgtest"
	"verbatim/stores/search"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// open makes a small room on both stores, for one test.
func open(t *testing.T, findings, questions int) (m *room, file, server stores.Store, ranked func(question, join string) ([]string, error)) {
	t.Helper()
	m, err := newRoom(findings, questions)
	if err != nil {
		t.Fatal(err)
	}
	onFile, end, err := m.onFile()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	h := &host{}
	t.Cleanup(func() {
		for _, fn := range slices.Backward(h.cleanups) {
			fn()
		}
	})
	onServer, peer, err := m.onServer(h)
	var none errNoServer
	if errors.As(err, &none) {
		t.Skip(none)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m, onFile, onServer, func(question, join string) ([]string, error) { return m.ranked(peer, question, join) }
}

// A race is worth something where the contestants do the same work: both stores find the
// same ten of the deal that is asked about, and ts_rank finds as many.
func TestTheSameRowsAreRanked(t *testing.T) {
	m, file, server, ranked := open(t, 2000, 40)
	ours := func(q string) ([]string, error) { return m.ten(server, stores.Match{Text: q}) }
	if err := m.agree(m.questions, func(q string) ([]string, error) { return m.ten(file, stores.Match{Text: q}) }, ours); err != nil {
		t.Error(err)
	}
	mine, strict := 0, 0
	for _, q := range m.questions {
		ten, err := ours(q)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := ranked(q, "|")
		if err != nil {
			t.Fatal(err)
		}
		all, err := ranked(q, "&")
		if err != nil {
			t.Fatal(err)
		}
		if len(ten) < len(theirs) { // we have more stems of a word
			t.Errorf("%q finds %d rows, and ts_rank %d", q, len(ten), len(theirs))
		}
		for _, key := range slices.Concat(ten, theirs) {
			if key >= bankKey(aFinding, len(m.texts)).Text() {
				t.Errorf("%q finds %s, which is hidden", q, key)
			}
		}
		mine, strict = mine+len(ten), strict+len(all)
	}
	if mine < 8*len(m.questions) || strict >= mine {
		t.Errorf("%d questions find %d rows by some of their words and %d by all", len(m.questions), mine, strict)
	}
}

// The ten nearest are those that PGlite's pgvector finds where it is there, and otherwise
// those of a loop over all vectors.
func TestTheSameVectorsAreNearest(t *testing.T) {
	m, err := newRoom(1000, 10)
	if err != nil {
		t.Fatal(err)
	}
	store, end, err := m.onFile()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	asked := m.meant()
	for _, near := range asked {
		best := search.NewBest(10)
		for i, text := range m.texts {
			best.Add(bankKey(aFinding, i).Text(), float64(search.Likeness(near, search.Grams(text))))
		}
		var want []string
		for _, f := range best.All() {
			want = append(want, f.Key)
		}
		if got, err := m.ten(store, stores.Match{Near: near, Maker: search.Letters}); err != nil || !slices.Equal(got, want) {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
	}
	p, err := m.openPGlite(asked)
	var none errNoServer
	if errors.As(err, &none) {
		t.Log(none)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	if err := m.sameNearest(store, p, asked); err != nil {
		t.Error(err)
	}
}

func TestThePercentilesOfARound(t *testing.T) {
	var took []float64
	for i := range 100 {
		took = append(took, float64(100-i))
	}
	if median, slow := middle(took); median != 51 || slow != 96 {
		t.Errorf("median %v, 95th percentile %v", median, slow)
	}
	if median, slow := middle([]float64{7}); median != 7 || slow != 7 {
		t.Errorf("median %v, 95th percentile %v", median, slow)
	}
}
