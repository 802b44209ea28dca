package rabbit

import (
	"context"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// A Line is the asking side. It implements trustgraph.Line.
type Line struct {
	end *end

	mu      sync.Mutex
	waiting map[string]*asker
}

// An asker waits for the answer to one question.
type asker struct {
	events chan event
	done   <-chan struct{} // closed when the asker has gone
}

// An event is a reply to an asker, or the loss of its question.
type event struct {
	reply []byte
	lost  bool // no queue took the question, or the connection is gone
}

// NewLine makes a line. The subscription of its Config is not used.
func NewLine(c Config) (*Line, error) {
	e, err := newEnd(c, c.Response, c.Request)
	if err != nil {
		return nil, err
	}
	l := &Line{end: e, waiting: map[string]*asker{}}
	e.began = l.read
	return l, nil
}

// Close closes the connection.
func (l *Line) Close() error { return l.end.close() }

// read passes the messages of a new connection to the waiting askers.
func (l *Line) read(on *link) {
	returns := on.out.NotifyReturn(make(chan amqp.Return, 1))
	go func() {
		for r := range returns {
			l.wake(r.Headers, event{lost: true})
		}
	}()
	go func() {
		for d := range on.in {
			l.wake(d.Headers, event{reply: d.Body})
			_ = d.Ack(false)
		}
		on.drop()
		l.mu.Lock()
		defer l.mu.Unlock()
		for _, a := range l.waiting {
			go a.wake(event{lost: true})
		}
	}()
}

// wake tells the asker of a question. Subscribers see the replies to everyone's questions.
func (l *Line) wake(headers amqp.Table, e event) {
	l.mu.Lock()
	a := l.waiting[idOf(headers)]
	l.mu.Unlock()
	if a != nil {
		a.wake(e)
	}
}

func (a *asker) wake(e event) {
	select {
	case a.events <- e:
	case <-a.done:
	}
}

// Ask implements trustgraph.Line.
func (l *Line) Ask(ctx context.Context, id string, body []byte, reply func(body []byte) (last bool)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	a := &asker{make(chan event, 16), ctx.Done()}
	l.mu.Lock()
	l.waiting[id] = a
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.waiting, id)
	}()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, l.end.c.Longest) {
		if err := l.end.send(ctx, id, body, true); err != nil {
			return err
		}
		for lost := false; !lost; {
			select {
			case e := <-a.events:
				if lost = e.lost; !lost && reply(e.reply) {
					return nil
				}
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
