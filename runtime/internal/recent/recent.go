// Package recent keeps the values that were used last.
//
//	var plans recent.Map[string]
//	plans.Put("key", "value", 100, now, time.Hour)   // of at most 100
//	v, at, ok := plans.Get("key", now)
package recent

import (
	"slices"
	"sync"
	"time"
)

// A Map keeps values. Its zero value is empty, and it is safe for use by many goroutines.
type Map[V any] struct {
	mu    sync.Mutex
	kept  map[string]entry[V]
	order []string // the most recently used is the last
}

type entry[V any] struct {
	value     V
	at, until time.Time // until is zero if it is kept as long as there is room
}

// Get returns a value and when it was put there.
func (m *Map[V]) Get(key string, now time.Time) (v V, at time.Time, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.kept[key]
	if !ok || !e.until.IsZero() && !now.Before(e.until) {
		return v, at, false
	}
	m.used(key)
	return e.value, e.at, true
}

// Put keeps a value, among so many, for a time; 0 is without end.
func (m *Map[V]) Put(key string, v V, most int, now time.Time, keep time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if most <= 0 {
		return
	}
	if m.kept == nil {
		m.kept = map[string]entry[V]{}
	}
	e := entry[V]{value: v, at: now}
	if keep > 0 {
		e.until = now.Add(keep)
	}
	m.kept[key] = e
	if m.used(key); len(m.order) > most {
		delete(m.kept, m.order[0])
		m.order = m.order[1:]
	}
}

func (m *Map[V]) used(key string) {
	m.order = append(slices.DeleteFunc(m.order, func(k string) bool { return k == key }), key)
}
