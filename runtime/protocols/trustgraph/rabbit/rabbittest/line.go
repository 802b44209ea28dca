package rabbittest

import (
	"context"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"verbatim/runtime/protocols/trustgraph"
)

// A Line asks over the queues, as TrustGraph's gateway does. It implements trustgraphtest.Line.
type Line struct {
	url, request, response string // the last two are exchanges

	mu   sync.Mutex
	conn *amqp.Connection
}

// NewLine makes a line to queues with logical names. It connects when something is asked.
func NewLine(url, request, response string) (*Line, error) {
	l := &Line{url: url}
	for name, exchange := range map[string]*string{request: &l.request, response: &l.response} {
		t, err := trustgraph.ParseTopic(name)
		if err != nil {
			return nil, err
		}
		*exchange = t.Space + "." + t.Class + "." + t.Name
	}
	return l, nil
}

// Close closes the connection.
func (l *Line) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil {
		return nil
	}
	return l.conn.Close()
}

// Ask implements trustgraphtest.Line.
func (l *Line) Ask(ctx context.Context, id string, body []byte, reply func(body []byte) (last bool)) error {
	for !l.attempt(ctx, id, body, reply) {
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// attempt sends a question once, on a channel of its own. It reports whether the answer came:
// otherwise the broker went away, no queue took the question, or ctx ended.
func (l *Line) attempt(ctx context.Context, id string, body []byte, reply func(body []byte) (last bool)) bool {
	ch, err := l.channel()
	if err != nil {
		return false
	}
	defer ch.Close()
	for _, exchange := range []string{l.request, l.response} {
		if ch.ExchangeDeclare(exchange, amqp.ExchangeFanout, true, false, false, false, nil) != nil {
			return false
		}
	}
	queue, err := ch.QueueDeclare("", false, true, true, false, nil)
	if err != nil || ch.QueueBind(queue.Name, "", l.response, false, nil) != nil {
		return false
	}
	replies, err := ch.Consume(queue.Name, "", true, false, false, false, nil)
	if err != nil {
		return false
	}
	returned := ch.NotifyReturn(make(chan amqp.Return, 1))
	if ch.PublishWithContext(ctx, l.request, "", true, false, amqp.Publishing{ContentType: "application/json",
		DeliveryMode: amqp.Persistent, Headers: amqp.Table{"id": id}, Body: body}) != nil {
		return false
	}
	for {
		select {
		case d, ok := <-replies:
			switch {
			case !ok:
				return false
			case d.Headers["id"] == id && reply(d.Body): // all replies come to everybody
				return true
			}
		case <-returned:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// channel opens a channel, on a new connection if the broker went away.
func (l *Line) channel() (*amqp.Channel, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.conn == nil || l.conn.IsClosed() {
		conn, err := amqp.Dial(l.url)
		if err != nil {
			return nil, err
		}
		l.conn = conn
	}
	return l.conn.Channel()
}
