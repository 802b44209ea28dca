package llm_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
)

// A model that answers at once, with as many tokens as it may.
type eager struct {
	mu   sync.Mutex
	got  []llm.Request
	fail error
}

func (m *eager) Chat(_ context.Context, q llm.Request, _ func(string)) (*llm.Reply, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.got = append(m.got, q)
	if m.fail != nil {
		return nil, m.fail
	}
	out := q.MaxTokens
	if out == 0 {
		out = 100
	}
	return &llm.Reply{Text: "x", Usage: llm.Usage{In: llm.EstimateTokens(q.Messages[0].Text) + 4, Out: out}}, nil
}

func (m *eager) Embed(_ context.Context, texts []string) ([][]float32, llm.Usage, error) {
	return make([][]float32, len(texts)), llm.Usage{In: 10}, m.fail
}

func spent(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Kind == llm.Spent
}

// SAFE-S7, M31: nothing is sent once a budget is spent, whichever of those that
// it stands in, and an answer gets no longer than what is left.
func TestBudgetsStandInOneAnother(t *testing.T) {
	t.Parallel()
	day := llm.NewBudget("day", 1000)
	session := day.Within("session", 300)
	m := &eager{}
	first := llm.Limited(m, session.Within("turn", 120))
	if _, err := first.Chat(t.Context(), ask("abcdefgh"), nil); err != nil { // 6 to send
		t.Fatal(err)
	}
	if got := m.got[0].MaxTokens; got != 114 {
		t.Errorf("the answer may have %d tokens, want the 114 that the turn has left", got)
	}
	if _, err := first.Chat(t.Context(), ask("abcdefgh"), nil); !spent(err) {
		t.Errorf("the turn is spent: %v", err)
	}
	second := llm.Limited(m, session.Within("turn", 1000))
	if _, err := second.Chat(t.Context(), ask("abcdefgh"), nil); err != nil {
		t.Fatal(err)
	}
	if session.Spent() != 300 || day.Spent() != 300 {
		t.Errorf("spent %d in the session and %d on the day, want 300", session.Spent(), day.Spent())
	}
	third := llm.Limited(m, session.Within("turn", 1000))
	if _, err := third.Chat(t.Context(), ask("abcdefgh"), nil); !spent(err) {
		t.Errorf("the session is spent: %v", err)
	}
	if _, _, err := third.Embed(t.Context(), []string{"abcd"}); !spent(err) {
		t.Errorf("for vectors too: %v", err)
	}
	if len(m.got) != 2 {
		t.Errorf("%d requests were sent", len(m.got))
	}
}

// What fails is charged what it cost, and what was set aside comes back.
func TestAFailureCostsWhatItCost(t *testing.T) {
	t.Parallel()
	b := llm.NewBudget("session", 1000)
	m := llm.Limited(&eager{fail: &llm.Error{Kind: llm.Cut, Usage: llm.Usage{In: 40}}}, b)
	for range 3 {
		if _, err := m.Chat(t.Context(), llm.Request{Messages: ask("abcd").Messages, MaxTokens: 500}, nil); err == nil || spent(err) {
			t.Fatal(err)
		}
	}
	if b.Spent() != 120 {
		t.Errorf("spent %d, want 120", b.Spent())
	}
}

func TestADayEndsAtMidnight(t *testing.T) {
	t.Parallel()
	at := time.Date(2024, 12, 31, 23, 59, 59, 0, time.UTC)
	b := llm.NewDailyBudget("day", 100, func() time.Time { return at })
	m := llm.Limited(&eager{}, b)
	q := llm.Request{Messages: ask("abcd").Messages, MaxTokens: 95}
	if _, err := m.Chat(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Chat(t.Context(), q, nil); !spent(err) {
		t.Errorf("the same day: %v", err)
	}
	at = at.Add(-time.Hour)
	if _, err := m.Chat(t.Context(), q, nil); !spent(err) {
		t.Errorf("a clock that is set back: %v", err)
	}
	at = at.Add(2 * time.Hour)
	if _, err := m.Chat(t.Context(), q, nil); err != nil {
		t.Errorf("the next day: %v", err)
	}
}

// Many at once do not get more than there is.
func TestABudgetHoldsForManyAtOnce(t *testing.T) {
	t.Parallel()
	b := llm.NewBudget("session", 1000)
	m := llm.Limited(&eager{}, b)
	var all sync.WaitGroup
	for range 64 {
		all.Go(func() {
			_, err := m.Chat(t.Context(), llm.Request{Messages: ask("abcd").Messages, MaxTokens: 95}, nil)
			if err != nil && !spent(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if b.Spent() != 1000 {
		t.Errorf("spent %d of 1000 with 64 requests of 100", b.Spent())
	}
}

// A ledger is what processes share.
type ledger struct {
	mu    sync.Mutex
	total map[string]int64
	fail  error
	calls int
}

func (l *ledger) Count(ctx context.Context, account string, n, limit int64) (int64, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls++; l.fail != nil {
		return 0, false, l.fail
	}
	if ctx.Err() != nil {
		return 0, false, ctx.Err()
	}
	if limit > 0 && n > 0 && l.total[account]+n > limit {
		return l.total[account], false, nil
	}
	l.total[account] += n
	return l.total[account], true, nil
}

// SAFE-S7: what one process spends of a day is spent for every other; nothing is
// sent that cannot be counted, what was set aside and not needed comes back, also
// where whoever asked has given up, and a process that ends on the way has spent
// what it set aside.
func TestABudgetIsKeptAmongProcesses(t *testing.T) {
	t.Parallel()
	l := &ledger{total: map[string]int64{}}
	at := time.Date(2024, 12, 31, 23, 0, 0, 0, time.UTC)
	process := func() (*eager, llm.Model) {
		m := &eager{}
		day := llm.NewBudget("day", 250).Kept(func() string { return at.Format(time.DateOnly) }, l)
		return m, llm.Limited(m, day.Within("conversation", 1000).Within("turn", 200))
	}
	q := llm.Request{Messages: ask("abcd").Messages, MaxTokens: 95} // 100 with what it says
	first, one := process()
	second, two := process()
	for _, m := range []llm.Model{one, two} {
		if _, err := m.Chat(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
	}
	_, err := one.Chat(t.Context(), q, nil)
	var e *llm.Error
	if !errors.As(err, &e) || e.Kind != llm.Spent || e.Budget != "day" || len(first.got)+len(second.got) != 2 || l.total["2024-12-31"] != 200 {
		t.Fatalf("%v, after %d requests and %v tokens", err, len(first.got)+len(second.got), l.total)
	}
	at = at.Add(2 * time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	first.fail = &llm.Error{Kind: llm.Cancelled, Usage: llm.Usage{In: 5}}
	given := llm.Limited(stops{first, cancel}, llm.NewBudget("day", 250).Kept(func() string { return at.Format(time.DateOnly) }, l))
	if _, err := given.Chat(ctx, q, nil); err == nil || l.total["2025-01-01"] != 5 {
		t.Errorf("%v; %v", err, l.total)
	}
	l.fail = errors.New("the disk is full")
	if _, err := two.Chat(t.Context(), q, nil); !errors.As(err, &e) || e.Kind != llm.Uncounted || len(second.got) != 1 {
		t.Errorf("%v after %d requests", err, len(second.got))
	}
}

// stops is a model that whoever asks gives up on.
type stops struct {
	llm.Model
	stop func()
}

func (s stops) Chat(ctx context.Context, r llm.Request, piece func(string)) (*llm.Reply, error) {
	s.stop()
	return s.Model.Chat(ctx, r, piece)
}
