package dialog

import (
	"strings"
	"testing"
	"time"
)

// A message of 20 kB costs no more than one can wait for: what is too long to be compared is asked about.
func TestALongMessageIsNotCompared(t *testing.T) {
	t.Parallel()
	read := func(string, time.Time) []reading { return nil }
	long := strings.Repeat("warum liegt der Pass noch immer beim Konsulat und nicht bei uns ", 300)
	words := [][]*spokenWord{heardIn(long, read, time.Time{})}
	text := strings.Repeat("nicht bei uns liegt der Pass ", 60) + "gestern?"
	began := time.Now()
	if len(takeText(words, text, heardIn(text, read, time.Time{}))) > 0 {
		t.Error("it was found")
	}
	t.Log(time.Since(began))
}
