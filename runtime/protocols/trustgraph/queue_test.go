package trustgraph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A fake is a queue in memory. What is requeued is delivered again.
type fake struct {
	in     chan Delivery
	refuse func(body string) error // the error of Reply

	mu      sync.Mutex
	replies map[string][]string
	acked   []string
	changed chan bool
}

func newFake() *fake {
	return &fake{in: make(chan Delivery, 100), replies: map[string][]string{}, changed: make(chan bool, 1000)}
}

func (f *fake) put(id, body string) {
	d := Delivery{ID: id, Body: []byte(body)}
	d.Ack = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.acked = append(f.acked, id)
		f.changed <- true
	}
	d.Requeue = func() { f.put(id, body) }
	f.in <- d
}

func (f *fake) Receive(ctx context.Context) (Delivery, error) {
	select {
	case d := <-f.in:
		return d, nil
	case <-ctx.Done():
		return Delivery{}, ctx.Err()
	}
}

func (f *fake) Reply(_ context.Context, id string, body []byte) error {
	if f.refuse != nil {
		if err := f.refuse(string(body)); err != nil {
			return err
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.replies[id] = append(f.replies[id], string(body))
	return nil
}

// await waits until so many questions are acknowledged.
func (f *fake) await(t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-f.changed:
		case <-time.After(5 * time.Second):
			t.Fatalf("acknowledged are %v", f.acked)
		}
	}
}

// answers starts a service on a fake.
func (f *fake) answers(t *testing.T, a Agent, o Service) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, f, a, o) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// T10, T38: every question is answered under its id and taken off the queue, also one that
// cannot be read and one that the agent cannot answer.
func TestEveryQuestionOfAQueueIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		if r.Question == "fail" {
			return errors.New("pq: secret")
		}
		return echo(ctx, who, r, tell)
	})
	f := newFake()
	f.answers(t, agent, Service{Caller: Caller{Name: "queue"}, Flow: "f", Shape: Old, MaxBytes: 1000, Concurrency: 4})
	wants := map[string]string{}
	for _, c := range []struct{ id, body, want string }{
		{"good", `{"question":"q","user":"root"}`, `{"answer":"queue@default/f: q","error":null,"observation":null,"thought":null}`},
		{"fails", `{"question":"fail"}`, `{"answer":null,"error":{"type":"agent-error","message":"the agent failed"},"observation":null,"thought":null}`},
		{"text", `what?`, `{"answer":null,"error":{"type":"agent-error","message":"the request is not JSON"},"observation":null,"thought":null}`},
		{"empty", `{}`, `{"answer":null,"error":{"type":"agent-error","message":"question is missing"},"observation":null,"thought":null}`},
		{"large", `{"question":"` + strings.Repeat("q", 1000) + `"}`, `{"answer":null,"error":{"type":"agent-error","message":"the request is larger than 1000 bytes"},"observation":null,"thought":null}`},
		{"", `{"question":"q"}`, ``},
	} {
		wants[c.id] = c.want
		f.put(c.id, c.body)
	}
	f.await(t, len(wants))
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, want := range wants {
		if got := strings.Join(f.replies[id], "\n"); got != want {
			t.Errorf("%s: %s\nwant %s", id, got, want)
		}
	}
}

// T38: a question that comes again while it is answered is not asked again, and both
// deliveries are acknowledged.
func TestAQuestionThatIsDeliveredAgainIsAskedOnce(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := 0
	release := make(chan bool)
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		mu.Lock()
		asked++
		mu.Unlock()
		<-release
		return echo(ctx, who, r, tell)
	})
	f := newFake()
	f.answers(t, agent, Service{Concurrency: 5})
	f.put("1", `{"question":"q"}`)
	f.put("1", `{"question":"q"}`)
	f.put("1", `{"question":"q"}`)
	for len(f.in) > 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(20 * time.Millisecond)
	close(release)
	f.await(t, 3)
	f.put("1", `{"question":"q"}`) // asked again, after the answer
	f.await(t, 1)
	mu.Lock()
	defer mu.Unlock()
	if asked != 2 || len(f.replies["1"]) != 2 {
		t.Errorf("asked %d times, answered %d times", asked, len(f.replies["1"]))
	}
}

// T38: no more questions are asked at once than configured.
func TestConcurrencyIsLimited(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	now, most := 0, 0
	agent := AskFunc(func(ctx context.Context, who Caller, r Request, tell func(Message) error) error {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		return echo(ctx, who, r, tell)
	})
	f := newFake()
	f.answers(t, agent, Service{Concurrency: 3})
	for i := range 12 {
		f.put(fmt.Sprint(i), `{"question":"q"}`)
	}
	f.await(t, 12)
	if most != 3 {
		t.Errorf("%d at once", most)
	}
}

// T38: an answer that the broker never takes does not keep its question in the queue for
// ever: the asker gets an error after the third attempt.
func TestAnAnswerThatCannotBeSentEndsAsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		refuse func(string) error
		want   int
	}{
		{func(body string) error {
			if strings.Contains(body, "too much") {
				return errors.New("refused")
			}
			return nil
		}, 1},
		{func(string) error { return errors.New("refused") }, 0},
	} {
		f := newFake()
		f.refuse = c.refuse
		f.answers(t, tells(nil, Message{Type: Answer, Content: "too much"}), Service{})
		f.put("1", `{"question":"q"}`)
		f.await(t, 1)
		f.mu.Lock()
		if got := f.replies["1"]; len(got) != c.want || c.want > 0 && !strings.Contains(got[0], "the answer could not be sent") {
			t.Errorf("%v", got)
		}
		f.mu.Unlock()
	}
}

// T38: what is being answered when the service ends is left for others.
func TestAServiceThatEndsPutsItsQuestionsBack(t *testing.T) {
	t.Parallel()
	begun := make(chan bool)
	agent := AskFunc(func(ctx context.Context, _ Caller, _ Request, tell func(Message) error) error {
		begun <- true
		<-ctx.Done()
		return ctx.Err()
	})
	f := newFake()
	stop := f.answers(t, agent, Service{})
	f.put("1", `{"question":"q"}`)
	f.put("2", `{"question":"q"}`)
	<-begun
	for len(f.in) > 0 { // the second waits for its turn
		time.Sleep(time.Millisecond)
	}
	stop()
	var back []string
	for len(f.in) > 0 {
		back = append(back, (<-f.in).ID)
	}
	slices.Sort(back)
	if !slices.Equal(back, []string{"1", "2"}) || len(f.replies) != 0 || len(f.acked) != 0 {
		t.Errorf("%v are in the queue; %v, %v", back, f.replies, f.acked)
	}
}

// T18: queues are named as in a flow's configuration.
func TestAQueueIsNamedByClassSpaceAndName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]Topic{
		"flow:tg:agent-request:default":      {"flow", "tg", "agent-request:default"},
		"response:tg:agent-response:default": {"response", "tg", "agent-response:default"},
		"agent":                              {"flow", "tg", "agent"},
	} {
		if got, err := ParseTopic(name); got != want || err != nil {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "flow:tg", "flow::x", "flow:tg:", "topic:tg:x"} {
		if got, err := ParseTopic(name); err == nil {
			t.Errorf("%q is %+v", name, got)
		}
	}
}
