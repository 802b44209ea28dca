package llm

import (
	"testing"
	"time"
)

// 54: endpoints write in words when they may be asked again.
func TestWaitsAreReadFromWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"Please try again in 1.2s. Visit the console.": 1200 * time.Millisecond,
		"Please try again in 7m12.5s.":                 7*time.Minute + 12500*time.Millisecond,
		"Please try again in 312ms.":                   312 * time.Millisecond,
		"Please retry after 86400 seconds.":            24 * time.Hour,
		"Please retry after 3 minutes":                 3 * time.Minute,
		"Please retry in 34.07s.":                      34070 * time.Millisecond,
		"try again in 2 hours, 3 minutes":              2*time.Hour + 3*time.Minute,
		"try again in 999999999 days":                  30 * 24 * time.Hour,
		"Please retry after 5":                         5 * time.Second,
		"Please try again later":                       0,
		"try again in a moment":                        0,
	} {
		if got := (&refusal{best: text}).after(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
