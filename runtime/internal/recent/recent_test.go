package recent

import (
	"testing"
	"time"
)

// What was used longest ago makes room, what is over is not given, and a map without room keeps nothing.
func TestTheLatestAreKept(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	var m Map[int]
	for i, k := range []string{"a", "b", "a", "c"} {
		m.Put(k, i, 2, now, time.Minute)
	}
	if _, _, ok := m.Get("b", now); ok {
		t.Error("what was used longest ago is kept")
	}
	if v, at, ok := m.Get("a", now.Add(59*time.Second)); !ok || v != 2 || !at.Equal(now) {
		t.Error(v, at, ok)
	}
	m.Put("d", 4, 2, now, 0)
	if _, _, ok := m.Get("c", now); ok {
		t.Error("what was asked for is not used")
	}
	if _, _, ok := m.Get("a", now.Add(time.Minute)); ok {
		t.Error("what is over is given")
	}
	if _, _, ok := m.Get("d", now.Add(time.Hour)); !ok {
		t.Error("what has no end is over")
	}
	var none Map[int]
	if none.Put("a", 1, 0, now, 0); len(none.kept) != 0 {
		t.Error("something is kept without room")
	}
}
