package modeltest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"verbatim/verbs/strict"
)

// A Race is the conditions of race.yaml, whose comments say what each is for.
type Race struct {
	Version int
	Source  map[string]struct {
		P50, P99, Success float64
		MemoryMB          float64 `yaml:"memory_mb"`
	}
	Scale float64
	Seeds []uint64
	Model struct {
		Base     float64
		PerToken float64 `yaml:"per_token"`
	}
	Tools  map[string]float64
	Faults struct {
		Rates       []float64
		Model, Tool Shares
	}
	TimeOut float64 `yaml:"time_out"`
	React   struct {
		Steps, Retries int
		Pause          float64
	}
	Below struct {
		ClientAttempts int `yaml:"client_attempts"`
		ToolAttempts   int `yaml:"tool_attempts"`
	}
	Planner struct {
		Retries     int
		Pause       float64
		PauseFactor float64 `yaml:"pause_factor"`
	}
	Questions struct {
		Count int
		Kinds []struct {
			Kind                      string
			Count, Calls, Unconnected int
		}
	}
	Mind, Judge, Measures map[string]string
	Concurrency           int
	Claims                struct {
		NoGainAt     float64 `yaml:"no_gain_at"`
		Interval     float64
		Resamples    int
		P50AtMost    float64 `yaml:"p50_at_most"`
		P99AtMost    float64 `yaml:"p99_at_most"`
		MemoryAtMost float64 `yaml:"memory_at_most"`
	}
}

// ReadRace reads race.yaml. A key that Race does not have is an error.
func ReadRace(path string) (*Race, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r Race
	if err := strict.YAML(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}

// Time returns a time of race.yaml at the scale of a run.
func (r *Race) Time(ms float64) time.Duration {
	return time.Duration(ms * r.Scale * float64(time.Millisecond))
}

// A Fault is a failure that is injected into a call.
type Fault string

// The faults of race.yaml. NoFault is that of a call that succeeds.
const (
	NoFault  Fault = ""
	Fails    Fault = "error"
	TimesOut Fault = "time-out"
	Empty    Fault = "empty"
	Cut      Fault = "cut"
	Nonsense Fault = "nonsense"
)

// Shares are the shares of the kinds of faults.
type Shares map[Fault]float64

// Faults draws faults. A draw depends on the seed, on the request and on how often the same request
// was made, and not on other requests in between. It is safe for use by many goroutines.
type Faults struct {
	Seed   uint64
	Rate   float64
	Shares Shares

	mu    sync.Mutex
	times map[string]uint64
}

// Next draws the fault of a call; what must hold everything that distinguishes this call from
// others.
func (f *Faults) Next(what string) Fault {
	f.mu.Lock()
	if f.times == nil {
		f.times = map[string]uint64{}
	}
	f.times[what]++
	n := f.times[what]
	f.mu.Unlock()
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", f.Seed, n, what))
	unit := func(at int) float64 { return float64(binary.BigEndian.Uint64(sum[at:])>>11) / (1 << 53) }
	if unit(0) >= f.Rate {
		return NoFault
	}
	left, last := unit(8), NoFault
	for _, kind := range slices.Sorted(maps.Keys(f.Shares)) {
		if last = kind; left < f.Shares[kind] {
			break
		}
		left -= f.Shares[kind]
	}
	return last
}
