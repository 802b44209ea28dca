package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Budget bounds the number of tokens spent. Budgets are nested, as a turn in a session and a
// session in a day: tokens spent in one count in all budgets around it. It is safe for use by many
// goroutines.
type Budget struct {
	name   string
	limit  int
	parent *Budget
	mu     sync.Mutex
	spent  int
	held   int // promised to requests under way
	day    int64
	now    func() time.Time // of a budget that begins anew each day

	account func() string // of a budget that is kept
	ledger  Ledger
}

// A Ledger counts for several processes: it adds n to an account, unless the total would exceed
// limit, and returns the account's total. Without a limit it always adds. *engine.Session is one.
type Ledger interface {
	Count(ctx context.Context, account string, n, limit int64) (total int64, ok bool, err error)
}

// Kept shares the budget with every other process, and keeps it beyond the end of this one: the
// ledger counts the tokens before a request is sent, and corrects the count when the cost is known.
// A process that ends between the two has spent the tokens it reserved. account returns the current
// account, such as that of a day.
func (b *Budget) Kept(account func() string, l Ledger) *Budget {
	b.account, b.ledger = account, l
	return b
}

// NewBudget makes an outermost budget. A limit of 0 only counts.
func NewBudget(name string, limit int) *Budget { return &Budget{name: name, limit: limit} }

// NewDailyBudget makes a budget that restarts at midnight UTC.
func NewDailyBudget(name string, limit int, now func() time.Time) *Budget {
	return &Budget{name: name, limit: limit, now: now, day: dayOf(now())}
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// Within makes a budget inside b.
func (b *Budget) Within(name string, limit int) *Budget {
	return &Budget{name: name, limit: limit, parent: b}
}

// Spent returns how many tokens were spent.
func (b *Budget) Spent() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnOver()
	return b.spent
}

// turnOver begins a new day. A clock that was set back begins none.
func (b *Budget) turnOver() {
	if b.now == nil {
		return
	}
	if today := dayOf(b.now()); today > b.day {
		b.day, b.spent = today, 0
	}
}

// A hold is the tokens that are reserved for a request under way.
type hold struct {
	n     int
	parts []part
}

// A part is the part of a hold that is reserved in one budget.
type part struct {
	b       *Budget
	account string // in which the tokens are reserved, if the budget is kept
}

// hold reserves n tokens for a request, in this budget and all budgets around it, or in none of
// them. It returns the least remainder of them, or -1 if none has a limit.
func (b *Budget) hold(ctx context.Context, n int) (h *hold, left int, err error) {
	h, left = &hold{n: n}, -1
	for at := b; at != nil; at = at.parent {
		rest, account, err := at.take(ctx, n)
		if err != nil {
			h.settle(ctx, 0)
			return nil, 0, err
		}
		h.parts = append(h.parts, part{at, account})
		if rest >= 0 && (left < 0 || rest < left) {
			left = rest
		}
	}
	return h, left, nil
}

func (b *Budget) take(ctx context.Context, n int) (rest int, account string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnOver()
	spent := b.spent
	over := b.limit > 0 && b.spent+b.held+n > b.limit
	rest = b.limit - b.spent - b.held - n
	if b.ledger != nil && !over {
		account = b.account()
		total, ok, err := b.ledger.Count(ctx, account, int64(n), int64(b.limit))
		if err != nil {
			// What cannot be counted is not spent.
			return 0, "", &Error{Kind: Uncounted, Budget: b.name, Err: errors.New("what is spent cannot be counted")}
		}
		over, spent, rest = !ok, int(total), b.limit-int(total)
	}
	if over {
		return 0, "", &Error{Kind: Spent, Budget: b.name, Err: fmt.Errorf("%d of %d tokens of the %s are spent, and this needs about %d more", spent, b.limit, b.name, n)}
	}
	b.held += n
	if b.limit == 0 {
		rest = -1
	}
	return rest, account, nil
}

// settle replaces the reserved tokens by the tokens spent. They count even if the caller has
// given up.
func (h *hold) settle(ctx context.Context, spent int) {
	for _, p := range h.parts {
		p.b.settle(context.WithoutCancel(ctx), p.account, h.n, spent)
	}
}

func (b *Budget) settle(ctx context.Context, account string, n, spent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnOver()
	b.held -= n
	b.spent += spent
	if b.ledger != nil && spent != n {
		// If the correction fails, the reservation remains.
		_, _, _ = b.ledger.Count(ctx, account, int64(spent-n), 0)
	}
}

// Limited makes a model that asks m only while the budget lasts. Before it sends a request, it
// reserves its possible cost: the estimate of its text, and its MaxTokens; a request without
// MaxTokens gets the rest of the budget as its own. So a budget is overdrawn only by the tokens
// that an endpoint counts beyond the estimate, and by at most one request for each that is in
// progress.
func Limited(m Model, b *Budget) Model { return &limited{m, b} }

type limited struct {
	model  Model
	budget *Budget
}

func (l *limited) Chat(ctx context.Context, r Request, piece func(string)) (*Reply, error) {
	// An answer has at least one token: with nothing left for it, nothing is sent.
	held, left, err := l.budget.hold(ctx, r.estimate()+max(r.MaxTokens, 1))
	if err != nil {
		return nil, err
	}
	if r.MaxTokens == 0 && left >= 0 {
		// Set aside too, so that two requests at once do not both get it.
		r.MaxTokens = 1
		if more, _, err := l.budget.hold(ctx, left); err == nil {
			r.MaxTokens = left + 1
			defer more.settle(ctx, 0)
		}
	}
	reply, err := l.model.Chat(ctx, r, piece)
	held.settle(ctx, spentOn(reply, err))
	return reply, err
}

func spentOn(reply *Reply, err error) int {
	if err == nil {
		return reply.Usage.Total()
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Usage.Total()
	}
	return 0
}

func (l *limited) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	n := 0
	for _, t := range texts {
		n += EstimateTokens(t)
	}
	held, _, err := l.budget.hold(ctx, n)
	if err != nil {
		return nil, Usage{}, err
	}
	vectors, usage, err := l.model.Embed(ctx, texts)
	spent := usage.Total()
	var e *Error
	if errors.As(err, &e) {
		spent = e.Usage.Total()
	}
	held.settle(ctx, spent)
	return vectors, usage, err
}
