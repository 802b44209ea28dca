package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/values"
)

// U7, U8, X14: whoever waits for an answer is told what it waits for, a line at a
// time and after a while, and nothing once the answer has begun.
func TestWaitingIsSaidALineAtATime(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var out bytes.Buffer
	ticks := make(chan time.Time)
	var waits []time.Duration
	w := &watcher{after: func(d time.Duration) <-chan time.Time {
		mu.Lock()
		defer mu.Unlock()
		waits = append(waits, d)
		return ticks
	}}
	w.begin(&out)
	w.see(dialog.Event{Kind: dialog.Reading, About: "what is\x1b[2J still needed"})
	ticks <- time.Time{}
	w.see(dialog.Event{Kind: dialog.AskingModel})
	ticks <- time.Time{}
	w.end()
	w.see(dialog.Event{Kind: dialog.Doing, About: "leave a note"})
	w.end()
	select {
	case ticks <- time.Time{}:
		t.Error("it goes on waiting")
	default:
	}
	lines := strings.Split(out.String(), "\n")
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "(") || strings.ContainsAny(out.String(), "\x1b\r") || strings.Contains(out.String(), "at work") {
		t.Errorf("said %q", out.String())
	}
	if len(waits) < 2 || waits[0] != meterPatience || waits[1] != meterPause || meterPatience > 2*time.Second {
		t.Errorf("waited %v", waits)
	}
}

// X12: what it waits for is said in the language that is spoken, each thing in its
// own words.
func TestWaitingIsSaidInTheLanguage(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, l := range values.Languages() {
		for _, kind := range []dialog.EventKind{dialog.AskingModel, dialog.Mending, dialog.Reading, dialog.Doing} {
			said := atWork(dialog.Event{Kind: kind, About: "x", Language: l})
			if said == "" || seen[said] {
				t.Errorf("%s in %s: %q", kind, l, said)
			}
			seen[said] = true
			if far := atWork(dialog.Event{Kind: kind, About: "x", Language: l, Done: 120, Total: 300}); kind == dialog.Doing && far != said+" 120/300" {
				t.Errorf("%s in %s: %q", kind, l, far)
			}
		}
	}
}
