//go:build unix

package dsl

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// SAFE-P3: twice the text takes about twice the time. What counts is the
// processor time of the process, which other processes do not lengthen much,
// the best of several runs; a bad ratio is measured again. That it is no test
// keeps a busy machine from failing what is right.
func BenchmarkHostileTextsTakeLinearTime(b *testing.B) {
	spent := func() time.Duration {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			b.Fatal(err)
		}
		return time.Duration(u.Utime.Nano())
	}
	best := func(text string) time.Duration {
		least := time.Hour
		for range 3 {
			src := NewSource("", text)
			start := spent()
			Parse(src)
			least = min(least, spent()-start)
		}
		return least
	}
	for name, make := range hostile {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			for b.Loop() {
				var ratio float64
				for range 10 {
					// Limits end some of them early; half of what fits is well below.
					one, two := best(make(1<<16)), best(make(1<<17))
					ratio = float64(two) / float64(max(one, 100*time.Microsecond))
					if ratio <= 2.3 {
						break
					}
				}
				if ratio > 2.3 {
					b.Fatalf("twice the text takes %.1f times as long", ratio)
				}
			}
		})
	}
}
