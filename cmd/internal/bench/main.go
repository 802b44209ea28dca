// Peers measures Verbatim beside programs that do a comparable thing, in one
// run on one machine, and says for each goal whether it is met:
//
//	go run . [-rounds 7] [-only PERF-P]
//
// Every figure is the median of several rounds, and the contestants take turns
// inside a round, so that a busy moment of the machine hits all of them.
// Nothing should be concluded from an absolute time; the ratios are the result.
//
// It is a module of its own so that nobody who imports Verbatim downloads the
// peers.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// A contestant does the same work n times.
type contestant struct {
	name string
	per  int // calls, files or what else one run of the work holds
	run  func(n int)
	// sample measures one round by itself, where counting rounds of work is not
	// how it is done, and returns nanoseconds for one of `per`.
	sample  func() (float64, error)
	missing string // why it is not measured on this machine; "" when it is
	n       int
	samples []float64 // nanoseconds for one of `per`
	total   cost      // of all samples
	calls   float64   // in all samples
}

// absent is a contestant that cannot be measured here.
func absent(name string, why error) *contestant { return &contestant{name: name, missing: why.Error()} }

// A goal is one line of the table.
type goal struct {
	id, what string
	figure   func() float64
	unit     string
	atLeast  bool
	limit    float64
}

// A race is some contestants and what is wanted of them.
type race struct {
	name        string
	contestants []*contestant
	goals       []goal
}

func main() {
	rounds := flag.Int("rounds", 7, "interleaved rounds, at least six")
	only := flag.String("only", "", "only goals whose id begins with this")
	scale := flag.Duration("scale", 0, "start 1, 2 and 4 servers and workers instead, and load each for so long")
	turns := flag.Bool("turns", false, "play 200 turns with a model that slips instead, for each checkout of Verbatim that is named")
	entries := flag.Int("journal", 0, "verify and replay a journal of so many entries instead, in the folder that is named")
	flag.Parse()
	if *entries > 0 {
		if err := journalled(*entries, flag.Arg(0)); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(4)
		}
		return
	}
	if *turns {
		if err := turned(flag.Args()); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(4)
		}
		return
	}
	if *scale > 0 {
		if err := scaled(32, *scale, []stage{{1, 1, false}, {2, 2, false}, {4, 4, false}, {2, 2, true}}); err != nil {
			fmt.Fprintln(os.Stderr, "peers:", err)
			os.Exit(4)
		}
		return
	}
	if *rounds < 6 || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage: peers [-rounds N] [-only ID]   at least six rounds make a median worth reading")
		os.Exit(2)
	}
	if err := run(*rounds, *only); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(4)
	}
}

func run(rounds int, only string) error {
	fmt.Printf("%s, %d processors, %d interleaved rounds, medians.\n", runtime.Version(), runtime.NumCPU(), rounds)
	fmt.Println("The machine is shared and noisy: read the ratios, not the times.")
	failed, unknown, raced := 0, 0, 0
	defer func() { stopServer() }()
	for _, open := range []struct {
		id   string
		make func() (*race, func(), error)
	}{
		{"PERF-P1 PERF-P2", parsing},
		{"PERF-C1", checking},
		{"PERF-C2", permitting},
		{"PERF-C3", deciding},
		{"PERF-L1", loading},
		{"PERF-L2", starting},
		{"PERF-X1", writing},
		{"PERF-X2", scripting},
		{"PERF-X3", reading},
		{"PERF-X4", embedding},
		{"PERF-S1", nearest},
		{"PERF-S2", ranking},
		{"PERF-F1", spelled},
		{"PERF-H1", serving},
		{"PORTAL-X3", portalReading},
		{"PORTAL-X1", portalWriting},
	} {
		if only != "" && !strings.Contains(open.id, only) {
			continue
		}
		raced++
		r, end, err := open.make()
		if err != nil {
			return err
		}
		err = r.measure(rounds)
		if err == nil {
			missed, left := r.print()
			failed, unknown = failed+missed, unknown+left
		}
		end()
		if err != nil {
			return err
		}
	}
	switch {
	case raced == 0:
		return fmt.Errorf("no goal is called %s", only)
	case failed > 0:
		fmt.Printf("\n%d goals not met in this run.\n", failed)
	case unknown == 0:
		fmt.Println("\nEvery goal met in this run.")
	}
	if unknown > 0 {
		fmt.Printf("\n%d goals not measured on this machine.\n", unknown)
	}
	return nil
}

// measure lets the contestants take turns.
func (r *race) measure(rounds int) error {
	for _, c := range r.contestants {
		if c.run != nil {
			c.calibrate()
		}
	}
	for range rounds {
		for _, c := range r.contestants {
			runtime.GC()
			before, start := spent(), time.Now()
			if c.sample != nil {
				ns, err := c.sample()
				if err != nil {
					return fmt.Errorf("%s: %w", c.name, err)
				}
				c.note(ns, before, float64(time.Since(start).Nanoseconds())/ns)
			}
			if c.run == nil {
				continue
			}
			c.run(c.n)
			calls := float64(c.n * c.per)
			c.note(float64(time.Since(start).Nanoseconds())/calls, before, calls)
		}
	}
	return nil
}

func (c *contestant) note(ns float64, before cost, calls float64) {
	spent := spent().since(before)
	c.samples, c.calls = append(c.samples, ns), c.calls+calls
	c.total.here, c.total.there = c.total.here+spent.here, c.total.there+spent.there
	c.total.allocs, c.total.memory = c.total.allocs+spent.allocs, c.total.memory+spent.memory
}

// costs tells what a call costs: processor time here and in other processes, and what
// memory was asked for here.
func (c *contestant) costs() string {
	if c.calls == 0 {
		return ""
	}
	each := func(total time.Duration) string { return duration(float64(total.Nanoseconds()) / c.calls) }
	return fmt.Sprintf("%s here\t%s elsewhere\t%.0f allocations\t%.1f kB", each(c.total.here), each(c.total.there), float64(c.total.allocs)/c.calls, float64(c.total.memory)/c.calls/1000)
}

// calibrate finds how often the work fits into a measurable time.
func (c *contestant) calibrate() {
	const enough = 40 * time.Millisecond
	c.run(1)
	for c.n = 1; ; c.n *= 2 {
		start := time.Now()
		c.run(c.n)
		if took := time.Since(start); took >= enough || c.n >= 1<<26 {
			return
		}
	}
}

// ns is the median time of one of `per`, no number where there is none.
func (c *contestant) ns() float64 {
	if len(c.samples) == 0 {
		return math.NaN()
	}
	s := slices.Clone(c.samples)
	slices.Sort(s)
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// allocs counts allocations for one of `per`.
func (c *contestant) allocs() float64 {
	var before, after runtime.MemStats
	times := max(5, 10_000/c.per) // so that what is set up once does not count
	c.run(1)
	runtime.ReadMemStats(&before)
	c.run(times)
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / float64(times*c.per)
}

// faster is how many times quicker ours is than theirs.
func faster(ours, theirs *contestant) func() float64 {
	return func() float64 { return theirs.ns() / ours.ns() }
}

// print writes the table of a race and returns how many goals were missed, and
// how many there are no figures for.
func (r *race) print() (missed, unknown int) {
	fmt.Printf("\n%s (load %s)\n", r.name, machineLoad())
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, c := range r.contestants {
		time := duration(c.ns())
		if c.missing != "" {
			time = "not measured: " + c.missing
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\n", c.name, time, c.costs())
	}
	w.Flush()
	w = tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	for _, g := range r.goals {
		got := g.figure()
		if math.IsNaN(got) {
			fmt.Fprintf(w, "  %s\t%s\tnot measured\n", g.id, g.what)
			unknown++
			continue
		}
		met, sign := got <= g.limit, "at most"
		if g.atLeast {
			met, sign = got >= g.limit, "at least"
		}
		verdict := "pass"
		if !met {
			verdict = "MISSED"
			missed++
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s %s\t%s\n", g.id, g.what, amount(got, g.unit), sign, amount(g.limit, g.unit), verdict)
	}
	w.Flush()
	return missed, unknown
}

func amount(x float64, unit string) string {
	switch {
	case unit == "ns":
		return duration(x)
	case unit == "x" && x >= 20:
		return fmt.Sprintf("%.0fx", x)
	case unit == "x":
		return fmt.Sprintf("%.2fx", x)
	}
	return fmt.Sprintf("%.2f %s", x, unit)
}

func duration(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%.0f ns", ns)
	case ns < 1e6:
		return fmt.Sprintf("%.2f µs", ns/1e3)
	}
	return fmt.Sprintf("%.2f ms", ns/1e6)
}
