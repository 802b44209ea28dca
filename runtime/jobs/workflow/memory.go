package workflow

import (
	"slices"
	"sync"
	"time"

	"verbatim/stores/receipt"
)

// mostKept is the greatest number of answers that are kept.
const mostKept = 1000

// A memory keeps answers for a while.
type memory struct {
	mu    sync.Mutex
	kept  map[string]remembered
	order []string // the oldest first
}

type remembered struct {
	receipt   *receipt.Receipt
	at, until time.Time
}

// get returns an answer and when it was got; nil if there is none.
func (m *memory) get(key string, now time.Time) (*receipt.Receipt, time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.kept[key]; ok && now.Before(r.until) {
		return r.receipt, r.at
	}
	return nil, time.Time{}
}

func (m *memory) put(key string, r *receipt.Receipt, now time.Time, keep time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]remembered{}
	}
	if _, again := m.kept[key]; again {
		m.order = slices.DeleteFunc(m.order, func(k string) bool { return k == key })
	}
	m.kept[key], m.order = remembered{r, now, now.Add(keep)}, append(m.order, key)
	for len(m.order) > mostKept || len(m.order) > 0 && !now.Before(m.kept[m.order[0]].until) {
		delete(m.kept, m.order[0])
		m.order = m.order[1:]
	}
}
