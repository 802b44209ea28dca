package rabbit_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/rabbit"
	"verbatim/runtime/protocols/trustgraph/rabbit/rabbittest"
)

// T38: the broker is killed while questions wait, are answered and are being answered. Every
// question is answered to its asker, and nothing is left in the queue. One whose asker and
// whose service are gone is delivered to the next service. The test does not run beside the
// others, which want the broker alive.
func TestNoQuestionIsLostWhenTheBrokerIsKilled(t *testing.T) {
	broker := rabbittest.Start(t)
	c := place(t, broker, "flow")
	var mu sync.Mutex
	asked, now := map[string]int{}, map[string]int{}
	agent := trustgraph.AskFunc(func(ctx context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
		mu.Lock()
		asked[r.Question]++
		if now[r.Question]++; now[r.Question] > 1 {
			t.Errorf("%s is asked twice at once", r.Question)
		}
		mu.Unlock()
		defer func() {
			mu.Lock()
			now[r.Question]--
			mu.Unlock()
		}()
		for i := range 4 {
			if err := tell(trustgraph.Message{Type: trustgraph.Thought, Content: fmt.Sprint(i), EndOfMessage: true}); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
		return tell(trustgraph.Message{Type: trustgraph.Answer, Content: "answer to " + r.Question})
	})
	answers(t, c, agent, trustgraph.Service{Concurrency: 4})
	ask := asks(t, c)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	const questions = 80
	var all sync.WaitGroup
	answered := make(chan bool, questions)
	for i := range questions {
		all.Go(func() {
			q := fmt.Sprint("question ", i)
			if got, want := collect(ctx, ask, trustgraph.Request{Question: q}), `"content":"answer to `+q+`"`; !strings.Contains(got, want) || !strings.HasSuffix(got, "<nil>") {
				t.Errorf("%s: %s", q, got)
			}
			answered <- true
		})
	}
	for range questions / 4 {
		<-answered
	}
	other := c
	other.Request += "/taken"
	stopped := taken(t, broker, other)
	broker.Kill()
	stopped()
	waiting := questions/4*3 - len(answered)
	if err := broker.Start(); err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 1)
	answers(t, other, trustgraph.AskFunc(func(_ context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
		got <- r.Question
		return tell(trustgraph.Message{Type: trustgraph.Answer, Content: "a"})
	}), trustgraph.Service{})
	all.Wait()
	select {
	case <-got:
	case <-time.After(20 * time.Second):
		t.Error("a question that was taken is lost")
	}
	mu.Lock()
	again := 0
	for _, n := range asked {
		again += n - 1
	}
	t.Logf("%d of %d questions were waiting when the broker was killed; %d were asked again", waiting, questions, again)
	if len(asked) != questions || waiting == 0 {
		t.Errorf("%d questions were asked, %d were waiting", len(asked), waiting)
	}
	mu.Unlock()
	ch := channel(t, broker)
	for deadline := time.Now().Add(10 * time.Second); left(t, ch, c) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d questions are left", left(t, ch, c))
		}
	}
}

// taken puts a question into a queue as the broker confirms it, and stops the service while
// it is being answered.
func taken(t *testing.T, broker *rabbittest.Broker, c rabbit.Config) (stop func()) {
	t.Helper()
	begun := make(chan bool, 1)
	ctx, cancel := context.WithCancel(t.Context())
	q, done := open(t, c), make(chan error, 1)
	go func() {
		done <- trustgraph.Serve(ctx, q, trustgraph.AskFunc(func(ctx context.Context, _ trustgraph.Caller, _ trustgraph.Request, _ func(trustgraph.Message) error) error {
			begun <- true
			<-ctx.Done()
			return ctx.Err()
		}), trustgraph.Service{})
	}()
	if err := q.Reply(t.Context(), "nobody", nil); err != nil { // by now it is connected
		t.Fatal(err)
	}
	ch := channel(t, broker)
	if err := ch.Confirm(false); err != nil {
		t.Fatal(err)
	}
	confirmed, err := ch.PublishWithDeferredConfirmWithContext(t.Context(), "tg.flow."+strings.TrimPrefix(c.Request, "flow:tg:"), "", false, false,
		amqp.Publishing{DeliveryMode: amqp.Persistent, Headers: amqp.Table{"id": "taken"}, Body: []byte(`{"question":"taken"}`)})
	if err != nil || !confirmed.Wait() {
		t.Fatal(err)
	}
	<-begun
	return func() {
		cancel()
		<-done
		_ = q.Close()
	}
}
