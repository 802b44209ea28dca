package score

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// A tool whose answers are right in 60 % instead of 92 % of cases is noticed within 50 calls,
// in 99 of 100 simulations at least. // T21 T47
func TestDriftIsNoticedWithinFiftyCalls(t *testing.T) {
	t.Parallel()
	const tools = 5000
	noticed, calls := 0, 0
	for seed := range uint64(tools) {
		r := rand.New(rand.NewPCG(seed, 50))
		d := Drift{Expected: 0.92}
		for range 100 { // the tool is steady at first
			d, _ = d.Add(r.Float64() < 0.92)
		}
		for call := range 50 {
			var alarm bool
			if d, alarm = d.Add(r.Float64() < 0.6); alarm {
				noticed++
				calls += call + 1
				break
			}
		}
	}
	t.Logf("%d of %d noticed, after %.1f calls on average", noticed, tools, float64(calls)/float64(noticed))
	if noticed < tools*99/100 {
		t.Errorf("only %d of %d are noticed", noticed, tools)
	}
}

// A steady tool raises at most one false alarm in 1 000 calls on average. // T47
func TestASteadyToolRarelyRaisesAnAlarm(t *testing.T) {
	t.Parallel()
	const calls = 500_000
	for _, rate := range []float64{0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99} {
		r := rand.New(rand.NewPCG(1, 51))
		d, alarms := Drift{Expected: rate}, 0
		for range calls {
			var alarm bool
			if d, alarm = d.Add(r.Float64() < rate); alarm {
				alarms++
			}
		}
		t.Logf("expected %.2f: %.2f false alarms in 1 000 calls", rate, float64(alarms)*1000/calls)
		if alarms > calls/1000 {
			t.Errorf("expected %.2f: %d false alarms in %d calls", rate, alarms, calls)
		}
	}
}

// The state is a value: adding to it leaves the old one, it can be stored between calls, and
// absurd states do no harm. // T47
func TestDriftIsAValue(t *testing.T) {
	t.Parallel()
	d := Drift{Expected: 0.92}
	next, _ := d.Add(false)
	if d.Sum != 0 || next.Sum <= 0 {
		t.Errorf("%v became %v", d, next)
	}
	data, _ := json.Marshal(next)
	var read Drift
	if err := json.Unmarshal(data, &read); err != nil || read != next {
		t.Errorf("%s became %v (%v)", data, read, err)
	}
	for _, expected := range odd {
		for _, sum := range odd {
			s := Drift{expected, sum}
			for i := range 100 {
				if s, _ = s.Add(i%2 == 0); !(s.Sum >= 0 && s.Sum < driftLimit) {
					t.Fatalf("%v and %v lead to %v", expected, sum, s)
				}
			}
		}
	}
}
