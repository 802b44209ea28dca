package torture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
)

// SAFE-A2: how long it takes to be told that a row is not there says nothing of
// whether it is somebody else's. A foreign account and none are asked for in
// turns, in an order that chance decides, by key, by name and by text. The short
// version sees that both are refused alike; the long one times 10 000 of each and
// holds the two to each other: their medians differ by less than 5 %, or a
// Mann-Whitney test finds no difference (p > 0.01).
func TestForeignTakesAsLongAsAbsent(t *testing.T) {
	// Not beside other tests: whatever else runs would be measured too.
	for _, at := range []struct {
		kind string
		open func() string
	}{
		{"SQLite", func() string { return newFile(t) }},
		{"PostgreSQL", func() string { return newDatabase(t).App }},
	} {
		ctx := context.Background()
		s := opened(t, at.open())
		elsewhere(t, s)
		tess, err := sit(ctx, s, "tess", engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, way := range []struct{ how, foreign, absent string }{
			{"key", `"` + id(901).Text() + `"`, `"` + id(902).Text() + `"`},
			{"name", "@far-west-1", "@far-went-1"},
			{"text", `"far west 1"`, `"far went 1"`},
		} {
			t.Run(way.how+", "+at.kind, func(t *testing.T) {
				y := begin(t, "SAFE-A2", "foreign against absent by "+way.how+", "+at.kind, "of each")
				n := 5
				if long() {
					n, y.asked = 10_000, 10_000
				}
				rnd := rand.New(rand.NewPCG(*seeded, 2))
				// ask says what is told of an account, and how long it took. Each has
				// a session that knows nothing yet.
				ask := func(way string) (string, time.Duration) {
					session, err := tess.engine.Session(ctx, "tess")
					if err != nil {
						t.Fatal(err)
					}
					text := "bank.see :account-id " + way + ` :tag "oracle" :part 1`
					began := time.Now()
					script, _ := dsl.Parse(dsl.NewSource("oracle.dsl", text))
					p, ds := session.Check(context.Background(), script)
					said := told(ds)
					if p != nil {
						_, err = session.Run(ctx, p, engine.RunOptions{})
						said += fmt.Sprint(err)
						if err == nil {
							y.wrong("%s is not refused", text)
						}
					}
					return strings.ReplaceAll(said, strings.Trim(way, `"@`), "IT"), time.Since(began)
				}
				var took [2][]float64
				for i := range n + 3 {
					var said [2]string
					first := rnd.IntN(2)
					for _, k := range []int{first, 1 - first} {
						var d time.Duration
						said[k], d = ask([]string{way.foreign, way.absent}[k])
						if i >= 3 { // the first ones prepare statements
							took[k] = append(took[k], float64(d))
						}
					}
					if said[0] != said[1] {
						y.wrong("of a foreign account is said\n%s\nand of none\n%s", said[0], said[1])
						return
					}
				}
				y.try(n)
				if !long() {
					return
				}
				p := mannWhitney(took[0], took[1])
				slices.Sort(took[0])
				slices.Sort(took[1])
				foreign, absent := took[0][n/2], took[1][n/2]
				apart := math.Abs(foreign-absent) / absent
				y.remark("medians %.1f and %.1f µs, %.2f %% apart, p = %.3g", foreign/1e3, absent/1e3, 100*apart, p)
				if apart >= 0.05 && p <= 0.01 {
					y.wrong("medians of %.1f and %.1f µs, p = %.3g", foreign/1e3, absent/1e3, p)
				}
			})
		}
	}
}

// elsewhere makes another branch, with an account that nobody of the first may
// see.
func elsewhere(t *testing.T, s stores.Store) {
	t.Helper()
	reg, err := registry()
	if err != nil {
		t.Fatal(err)
	}
	branch, account := reg.Entity("branch").Store, reg.Entity("account").Store
	row := func(e *stores.Entity, key stores.Value, values map[string]stores.Value) stores.Change {
		c := stores.Change{Op: stores.Insert, Entity: e, Key: key}
		for i := range e.Fields {
			if v, ok := values[e.Fields[i].Name]; ok {
				c.Set = append(c.Set, stores.Assign{Field: i, Value: v})
			}
		}
		return c
	}
	err = s.Update(context.Background(), stores.Scope{All: true}, func(tx stores.Tx) error {
		return tx.Apply(context.Background(), stores.Batch{Changes: []stores.Change{
			row(branch, id(900), map[string]stores.Value{"name": stores.NewString("Far West")}),
			row(account, id(901), map[string]stores.Value{"branch": id(900), "name": stores.NewString("far west 1"), "balance": stores.NewInt(1)}),
		}})
	})
	if err != nil {
		t.Fatal(err)
	}
}

// mannWhitney is the chance that two samples as far apart as these come out of
// one distribution: the rank sum test of Mann and Whitney, in the normal
// approximation, corrected for ties and for continuity.
func mannWhitney(a, b []float64) float64 {
	type one struct {
		v     float64
		first bool
	}
	var all []one
	for _, v := range a {
		all = append(all, one{v, true})
	}
	for _, v := range b {
		all = append(all, one{v, false})
	}
	slices.SortFunc(all, func(x, y one) int {
		switch {
		case x.v < y.v:
			return -1
		case x.v > y.v:
			return 1
		}
		return 0
	})
	n, m := float64(len(a)), float64(len(b))
	ranks, ties := 0.0, 0.0
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		for k := i; k < j; k++ {
			if all[k].first {
				ranks += float64(i+j+1) / 2
			}
		}
		same := float64(j - i)
		ties += same*same*same - same
		i = j
	}
	u, mean, of := ranks-n*(n+1)/2, n*m/2, n+m
	spread := math.Sqrt(n * m / 12 * (of + 1 - ties/(of*(of-1))))
	if spread == 0 {
		return 1
	}
	return math.Erfc(max(0, math.Abs(u-mean)-0.5) / spread / math.Sqrt2)
}

// The statistic, on samples whose p is known: the first two from a table, and
// those that are alike or wholly apart.
func TestMannWhitney(t *testing.T) {
	t.Parallel()
	upTo := func(from, n int) (all []float64) {
		for i := range n {
			all = append(all, float64(from+i))
		}
		return all
	}
	for _, c := range []struct {
		a, b []float64
		p    float64
	}{
		{[]float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, 0.1113},
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		{upTo(0, 50), upTo(0, 50), 1},
		{upTo(0, 50), upTo(100, 50), 0},
	} {
		if p := mannWhitney(c.a, c.b); math.Abs(p-c.p) > 0.0005 {
			t.Errorf("%v and %v: p = %.4f, and it is %.4f", c.a, c.b, p, c.p)
		}
	}
}
