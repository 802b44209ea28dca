package rabbit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/rabbit"
	"verbatim/runtime/protocols/trustgraph/rabbit/rabbittest"
	"verbatim/runtime/protocols/trustgraph/trustgraphtest"
)

func TestMain(m *testing.M) { rabbittest.Main(m) }

// place is a config with queues of one test.
func place(t *testing.T, b *rabbittest.Broker, class string) rabbit.Config {
	return rabbit.Config{URL: b.URL, Subscription: "agent", Prefetch: 4, Longest: 200 * time.Millisecond,
		Request: class + ":tg:agent-request:" + t.Name(), Response: "response:tg:agent-response:" + t.Name()}
}

func open(t *testing.T, c rabbit.Config) *rabbit.Queue {
	t.Helper()
	q, err := rabbit.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// answers serves an agent until the test ends.
func answers(t *testing.T, c rabbit.Config, a trustgraph.Agent, o trustgraph.Service) *rabbit.Queue {
	t.Helper()
	q := open(t, c)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- trustgraph.Serve(ctx, q, a, o) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		_ = q.Close()
	})
	return q
}

// asks is an agent behind the queues.
func asks(t *testing.T, c rabbit.Config) trustgraph.AskFunc {
	t.Helper()
	line, err := rabbittest.NewLine(c.URL, c.Request, c.Response)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = line.Close() })
	var n atomic.Int64
	return trustgraphtest.Over(line, func() string { return fmt.Sprintf("%s-%d", t.Name(), n.Add(1)) })
}

func channel(t *testing.T, b *rabbittest.Broker) *amqp.Channel {
	t.Helper()
	conn, err := amqp.Dial(b.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	ch, err := conn.Channel()
	if err != nil {
		t.Fatal(err)
	}
	return ch
}

// left is how many questions are in the service's queue.
func left(t *testing.T, ch *amqp.Channel, c rabbit.Config) int {
	t.Helper()
	q, err := ch.QueueDeclarePassive("tg.flow."+strings.TrimPrefix(c.Request, "flow:tg:")+".agent", true, false, false, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return q.Messages
}

// collect asks and writes down what comes.
func collect(ctx context.Context, a trustgraph.Agent, r trustgraph.Request) string {
	var b strings.Builder
	err := a.Ask(ctx, trustgraph.Caller{}, r, func(m trustgraph.Message) error {
		fmt.Fprintf(&b, "%s\n", trustgraph.Chunked.Encode(m))
		return nil
	})
	fmt.Fprint(&b, err)
	return b.String()
}

// T10, T18, T38: the same dialog comes over HTTP, server-sent events, WebSocket and queues.
func TestADialogIsTheSameOverEveryWire(t *testing.T) {
	t.Parallel()
	broker := rabbittest.Start(t)
	for name, failure := range map[string]error{"answer": nil, "failure": errors.New("secret"), "error": &trustgraph.Error{Type: "agent-error", Message: "no model"}} {
		agent := trustgraph.AskFunc(func(_ context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
			for _, m := range []trustgraph.Message{
				{Type: trustgraph.Thought, Content: "The register ", MessageID: "1"},
				{Type: trustgraph.Thought, Content: "knows Größe", MessageID: "1", EndOfMessage: true},
				{Type: trustgraph.Observation, Content: "2 owners", MessageID: "2", EndOfMessage: true},
				{Type: trustgraph.Answer, Content: "Ana and ", MessageID: "3"},
				{Type: trustgraph.Answer, Content: "Bo.", MessageID: "3", InTokens: 7, OutTokens: 8, Model: "small"},
			} {
				if err := tell(m); err != nil {
					return err
				}
			}
			return failure
		})
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(&trustgraph.Gateway{Agent: agent, Authenticate: func(context.Context, string) (trustgraph.Caller, error) {
				return trustgraph.Caller{Name: "ana"}, nil
			}})
			defer server.Close()
			c := place(t, broker, "flow")
			answers(t, c, agent, trustgraph.Service{Concurrency: 4})
			client := &trustgraphtest.Client{URL: server.URL}
			queue := asks(t, c)
			for _, streaming := range []bool{false, true} {
				r := trustgraph.Request{Question: "Who owns Umza?", Streaming: streaming}
				want := collect(t.Context(), trustgraph.AskFunc(client.Socket), r)
				for wire, ask := range map[string]trustgraph.AskFunc{"SSE": client.Events, "queue": queue} {
					if got := collect(t.Context(), ask, r); got != want {
						t.Errorf("streaming %v, %s:\n%s\nwant\n%s", streaming, wire, got, want)
					}
				}
				lines := strings.Split(want, "\n")
				last := strings.Join(lines[max(len(lines)-2, 0):], "\n")
				if failure != nil {
					last = lines[len(lines)-1]
				}
				if got := collect(t.Context(), trustgraph.AskFunc(client.Post), r); got != last {
					t.Errorf("streaming %v, HTTP:\n%s\nwant\n%s", streaming, got, last)
				}
			}
		})
	}
}

// T10, T38: exchanges, queues and messages are those of TrustGraph: a peer that declares them
// as TrustGraph does is not refused, and is answered.
func TestTheLayoutIsTrustGraphs(t *testing.T) {
	t.Parallel()
	broker := rabbittest.Start(t)
	for _, class := range []string{"flow", "request"} {
		t.Run(class, func(t *testing.T) {
			t.Parallel()
			c := place(t, broker, class)
			q := answers(t, c, trustgraph.AskFunc(func(_ context.Context, who trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
				return tell(trustgraph.Message{Type: trustgraph.Answer, Content: who.Name + ": " + r.Question})
			}), trustgraph.Service{Caller: trustgraph.Caller{Name: "queue"}})
			if err := q.Reply(t.Context(), "nobody", nil); err != nil { // by now it is connected
				t.Fatal(err)
			}
			ch := channel(t, broker)
			exchange, responses := "tg."+class+".agent-request:"+t.Name(), "tg.response.agent-response:"+t.Name()
			for _, name := range []string{exchange, responses} {
				if err := ch.ExchangeDeclarePassive(name, "fanout", true, false, false, false, nil); err != nil {
					t.Fatal(err)
				}
			}
			// A queue that is declared otherwise than it is would be an error.
			if _, err := ch.QueueDeclare(exchange+".agent", class == "flow", false, false, false, nil); err != nil {
				t.Fatal(err)
			}
			own, err := ch.QueueDeclare("", false, true, true, false, nil)
			if err == nil {
				err = ch.QueueBind(own.Name, "", responses, false, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			replies, err := ch.Consume(own.Name, "", true, false, false, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range []amqp.Publishing{
				{Body: []byte(`{"question":"nobody is told"}`)},                                                          // no id
				{Body: []byte(`{"question":"nor here"}`), CorrelationId: "x"},                                            // no header
				{Body: []byte(`what?`), Headers: amqp.Table{"id": "1"}},                                                  // not JSON
				{Body: []byte(`{"question":"q","history":[],"group":null,"plan":null}`), Headers: amqp.Table{"id": "2"}}, // nulls kept
			} {
				if err := ch.PublishWithContext(t.Context(), exchange, "", false, false, m); err != nil {
					t.Fatal(err)
				}
			}
			wants := map[string]string{
				"1": `{"content":"the request is not JSON","end_of_dialog":true,"end_of_message":true,"error":{"type":"agent-error","message":"the request is not JSON"},"explain_graph":null,"explain_id":null,"explain_triples":[],"in_token":null,"message_id":"","message_type":"error","model":null,"out_token":null}`,
				"2": `{"content":"queue: q","end_of_dialog":true,"end_of_message":true,"error":null,"explain_graph":null,"explain_id":null,"explain_triples":[],"in_token":null,"message_id":"","message_type":"answer","model":null,"out_token":null}`,
			}
			for range wants {
				select {
				case m := <-replies:
					id, _ := m.Headers["id"].(string)
					if string(m.Body) != wants[id] || m.ContentType != "application/json" || m.CorrelationId != "" {
						t.Errorf("%v %s %s", m.Headers, m.ContentType, m.Body)
					}
				case <-time.After(10 * time.Second):
					t.Fatal("no reply")
				}
			}
		})
	}
}

// T38: services with one subscription share the questions, and another gets a copy of each.
func TestASubscriptionSharesItsQuestions(t *testing.T) {
	t.Parallel()
	broker := rabbittest.Start(t)
	c := place(t, broker, "flow")
	var first, second, other atomic.Int64
	counts := func(n *atomic.Int64) trustgraph.AskFunc {
		return func(_ context.Context, _ trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
			n.Add(1)
			time.Sleep(5 * time.Millisecond)
			return tell(trustgraph.Message{Type: trustgraph.Answer, Content: r.Question})
		}
	}
	apart := c
	apart.Subscription = "other"
	for _, s := range []struct {
		c rabbit.Config
		n *atomic.Int64
	}{{c, &first}, {c, &second}, {apart, &other}} {
		q := answers(t, s.c, counts(s.n), trustgraph.Service{Concurrency: 4})
		if err := q.Reply(t.Context(), "nobody", nil); err != nil {
			t.Fatal(err)
		}
	}
	ask := asks(t, c)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			if got, want := collect(t.Context(), ask, trustgraph.Request{Question: fmt.Sprint(i)}), fmt.Sprintf(`"content":"%d"`, i); !strings.Contains(got, want) {
				t.Error(got)
			}
		})
	}
	all.Wait()
	for deadline := time.Now().Add(5 * time.Second); first.Load()+second.Load() < 40 || other.Load() < 40; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the questions do not arrive")
		}
	}
	if first.Load() == 0 || second.Load() == 0 || first.Load()+second.Load() != 40 || other.Load() != 40 {
		t.Errorf("%d and %d were shared, %d were copied", first.Load(), second.Load(), other.Load())
	}
}

func TestAConfigThatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	good := rabbit.Config{URL: "amqp://localhost/", Request: "agent", Response: "response:tg:r", Subscription: "s"}
	if _, err := rabbit.Open(good); err != nil {
		t.Error(err)
	}
	for _, change := range []func(*rabbit.Config){
		func(c *rabbit.Config) { c.URL = "http://user:secret@localhost" },
		func(c *rabbit.Config) { c.Request = "" },
		func(c *rabbit.Config) { c.Request = "topic:tg:x" },
		func(c *rabbit.Config) { c.Response = "response:tg" },
		func(c *rabbit.Config) { c.Subscription = "" },
	} {
		c := good
		change(&c)
		if _, err := rabbit.Open(c); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// T38: what waits for a broker that is away stops when it is closed.
func TestWhatIsClosedTriesNoMore(t *testing.T) {
	t.Parallel()
	c := rabbit.Config{URL: "amqp://127.0.0.1:1/", Request: "flow:tg:q", Response: "response:tg:r", Subscription: "s"}
	q := open(t, c)
	done := make(chan error, 2)
	go func() { _, err := q.Receive(t.Context()); done <- err }()
	go func() { done <- q.Reply(t.Context(), "1", nil) }()
	time.Sleep(100 * time.Millisecond)
	_ = q.Close()
	for range 2 {
		select {
		case err := <-done:
			if err == nil {
				t.Error("no error")
			}
		case <-time.After(5 * time.Second):
			t.Fatal("it still tries")
		}
	}
}
