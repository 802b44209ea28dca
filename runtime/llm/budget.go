package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// A Budget bounds how many tokens are spent. Budgets stand in one another, as a
// turn does in a session and a session in a day: what is spent in one is spent
// in all that it stands in. It is safe for use by many goroutines.
type Budget struct {
	name   string
	limit  int
	parent *Budget
	mu     sync.Mutex
	spent  int
	held   int // promised to requests under way
	day    int64
	now    func() time.Time // of a budget that begins anew each day
}

// NewBudget makes a budget that stands in no other. A limit of 0 only counts.
func NewBudget(name string, limit int) *Budget { return &Budget{name: name, limit: limit} }

// NewDailyBudget makes a budget that begins anew at midnight UTC.
func NewDailyBudget(name string, limit int, now func() time.Time) *Budget {
	return &Budget{name: name, limit: limit, now: now, day: dayOf(now())}
}

func dayOf(t time.Time) int64 { return t.Unix() / (24 * 60 * 60) }

// Within makes a budget that stands in b.
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

// hold promises n tokens to a request, in this budget and all it stands in, or
// in none of them. It returns the least that is left beyond them, or -1 when
// nothing bounds it.
func (b *Budget) hold(n int) (left int, err error) {
	left = -1
	for at := b; at != nil; at = at.parent {
		rest, ok := at.take(n)
		if !ok {
			for back := b; back != at; back = back.parent {
				back.settle(n, 0)
			}
			return 0, &Error{Kind: Spent, Err: fmt.Errorf("%d of %d tokens of the %s are spent, and this needs about %d more", at.Spent(), at.limit, at.name, n)}
		}
		if rest >= 0 && (left < 0 || rest < left) {
			left = rest
		}
	}
	return left, nil
}

func (b *Budget) take(n int) (rest int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnOver()
	if b.limit == 0 {
		b.held += n
		return -1, true
	}
	if rest = b.limit - b.spent - b.held - n; rest < 0 {
		return 0, false
	}
	b.held += n
	return rest, true
}

// settle turns a promise of n tokens into what was spent.
func (b *Budget) settle(n, spent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turnOver()
	b.held -= n
	b.spent += spent
}

// settleAll settles in this budget and all it stands in.
func (b *Budget) settleAll(n, spent int) {
	for at := b; at != nil; at = at.parent {
		at.settle(n, spent)
	}
}

// Limited makes a model that asks m only while the budget lasts. What a request
// may cost is set aside before it is sent: the estimate of what it says, and its
// MaxTokens; a request without MaxTokens gets what is left of the budget as its
// own. So a budget is overdrawn only by what an endpoint counts beyond the
// estimate, and by one request at most for each that is under way.
func Limited(m Model, b *Budget) Model { return &limited{m, b} }

type limited struct {
	model  Model
	budget *Budget
}

func (l *limited) Chat(ctx context.Context, r Request, piece func(string)) (*Reply, error) {
	// An answer has at least one token: with nothing left for it, nothing is sent.
	held := r.estimate() + max(r.MaxTokens, 1)
	left, err := l.budget.hold(held)
	if err != nil {
		return nil, err
	}
	if r.MaxTokens == 0 && left >= 0 {
		// Set aside too, so that two requests at once do not both get it.
		if _, err := l.budget.hold(left); err == nil {
			r.MaxTokens, held = left+1, held+left
		} else {
			r.MaxTokens = 1
		}
	}
	reply, err := l.model.Chat(ctx, r, piece)
	l.budget.settleAll(held, spentOn(reply, err))
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
	held := 0
	for _, t := range texts {
		held += EstimateTokens(t)
	}
	if _, err := l.budget.hold(held); err != nil {
		return nil, Usage{}, err
	}
	vectors, usage, err := l.model.Embed(ctx, texts)
	spent := usage.Total()
	var e *Error
	if errors.As(err, &e) {
		spent = e.Usage.Total()
	}
	l.budget.settleAll(held, spent)
	return vectors, usage, err
}
