package trustgraph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// A Queue delivers questions and takes answers.
type Queue interface {
	// Receive waits for the next delivery. It reconnects as long as ctx lasts.
	Receive(ctx context.Context) (Delivery, error)
	// Reply sends a message to the askers of the question with this id, and returns when the broker
	// has it. It reconnects as long as ctx lasts: other errors mean that the broker refuses this
	// message.
	Reply(ctx context.Context, id string, body []byte) error
}

// A Delivery is a question delivered by a broker.
type Delivery struct {
	ID   string // "" if the sender gave none
	Body []byte
	// Ack takes the question off the queue, and Requeue puts it back. A broker that has lost
	// the connection since delivers the question again in either case, and no error is told.
	Ack, Requeue func()
}

// A Topic is the logical name of a queue, as a flow's configuration has it.
type Topic struct{ Class, Space, Name string }

// ParseTopic reads class:space:name. A name alone is one of flow:tg.
func ParseTopic(name string) (Topic, error) {
	parts := strings.SplitN(name, ":", 3)
	if len(parts) == 1 {
		parts = []string{"flow", "tg", name}
	}
	if len(parts) != 3 || parts[1] == "" || parts[2] == "" {
		return Topic{}, fmt.Errorf("trustgraph: %q is no queue: class:space:name", name)
	}
	if !slices.Contains([]string{"flow", "request", "response", "notify"}, parts[0]) {
		return Topic{}, fmt.Errorf("trustgraph: the queue %q has no class of TrustGraph's: flow, request, response or notify", name)
	}
	return Topic{parts[0], parts[1], parts[2]}, nil
}

// Durable reports whether questions of the topic outlive the broker.
func (t Topic) Durable() bool { return t.Class == "flow" }

// Shared reports whether services share the messages of the topic. Otherwise each gets all.
func (t Topic) Shared() bool { return t.Class == "flow" || t.Class == "request" }

// A Service says how questions of a queue are answered.
type Service struct {
	// Caller is the caller of all questions of the queue: a queue does not authenticate anybody.
	Caller      Caller
	Flow        string
	Shape       Shape
	Concurrency int          // questions at once; 0: 1. The adapter's prefetch limits it too
	MaxBytes    int          // of a question; 0: 1 MiB
	Log         *slog.Logger // nil: none
}

// tries is how often a question is processed if the broker refuses the answer.
const tries = 3

// Serve answers the questions of a queue until ctx ends, or receiving fails for good.
//
// A question is acknowledged when its last message is with the broker, so that each is
// answered at least once. One that is delivered again while it is being answered is not
// asked again. Those that are being answered when ctx ends go back to the queue.
func Serve(ctx context.Context, q Queue, a Agent, o Service) error {
	o.Caller.Workspace = cmp.Or(o.Caller.Workspace, "default")
	s := &service{q: q, agent: a, o: o, running: map[string][]Delivery{}, failed: map[string]int{}}
	room := make(chan struct{}, max(o.Concurrency, 1))
	defer s.working.Wait()
	for {
		d, err := q.Receive(ctx)
		if err != nil {
			return err
		}
		if d.ID == "" {
			logger(o.Log).Error("trustgraph: a question without an id was dropped", "bytes", len(d.Body))
			d.Ack()
			continue
		}
		if s.joins(d) {
			continue
		}
		select {
		case room <- struct{}{}:
		case <-ctx.Done():
			s.settle(d.ID, Delivery.requeue)
			return ctx.Err()
		}
		s.working.Go(func() {
			defer func() { <-room }()
			s.serve(ctx, d)
		})
	}
}

type service struct {
	q       Queue
	agent   Agent
	o       Service
	working sync.WaitGroup

	mu      sync.Mutex
	running map[string][]Delivery // of each question that is being answered
	failed  map[string]int        // how often the answer to a question could not be sent
}

func (d Delivery) ack()     { d.Ack() }
func (d Delivery) requeue() { d.Requeue() }

// joins adds a delivery to those of its question. It reports whether the question is being answered
// already.
func (s *service) joins(d Delivery) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.running[d.ID]
	s.running[d.ID] = append(all, d)
	return len(all) > 0
}

// settle does the same with all deliveries of a question.
func (s *service) settle(id string, how func(Delivery)) {
	s.mu.Lock()
	all := s.running[id]
	delete(s.running, id)
	s.mu.Unlock()
	for _, d := range all {
		how(d)
	}
}

// serve answers one question.
func (s *service) serve(ctx context.Context, d Delivery) {
	err := s.dialog(ctx, d)
	switch {
	case err == nil:
		s.forget(d.ID)
		s.settle(d.ID, Delivery.ack)
	case ctx.Err() != nil:
		s.settle(d.ID, Delivery.requeue)
	case s.fails(d.ID) < tries:
		logger(s.o.Log).Warn("trustgraph: an answer could not be sent; the question is asked again", "id", d.ID, "error", err)
		s.settle(d.ID, Delivery.requeue)
	default:
		logger(s.o.Log).Error("trustgraph: an answer could not be sent", "id", d.ID, "error", err)
		_ = s.reply(ctx, d.ID, failure(errUnsent)) // the question is done, whatever the outcome of this
		s.forget(d.ID)
		s.settle(d.ID, Delivery.ack)
	}
}

// dialog asks the question and sends all messages. Its error is that of sending.
func (s *service) dialog(ctx context.Context, d Delivery) error {
	most := cmp.Or(s.o.MaxBytes, 1<<20)
	err := error(nil)
	if len(d.Body) > most {
		err = tooLarge(int64(most))
	}
	var r Request
	if err == nil {
		r, err = DecodeRequest(d.Body)
	}
	if err == nil {
		r.Flow, r.Workspace = s.o.Flow, s.o.Caller.Workspace
		q := question{agent: s.agent, who: s.o.Caller, r: r, shape: s.o.Shape, log: s.o.Log}
		err = q.ask(ctx, func(m Message) error { return s.reply(ctx, d.ID, m) })
	}
	if told := new(Error); errors.As(err, &told) {
		if told.Type == BadRequest { // queues know no refusals
			told = &Error{AgentError, told.Message}
		}
		err = s.reply(ctx, d.ID, failure(told))
	}
	return err
}

func (s *service) reply(ctx context.Context, id string, m Message) error {
	return s.q.Reply(ctx, id, s.o.Shape.Record(m))
}

// fails counts that the answer to a question could not be sent.
func (s *service) fails(id string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) > 1000 { // of brokers that deliver to another consumer next
		clear(s.failed)
	}
	s.failed[id]++
	return s.failed[id]
}

func (s *service) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.failed, id)
}
