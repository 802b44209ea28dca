// Package rabbit implements TrustGraph's queues on RabbitMQ, in TrustGraph's layout since 2.3.14: a
// queue for the service that answers.
//
//	q, err := rabbit.Open(rabbit.Config{
//		URL: "amqp://guest:guest@localhost:5672/", Subscription: "agent",
//		Request: "flow:tg:agent-request:default", Response: "response:tg:agent-response:default",
//	})
//	err = trustgraph.Serve(ctx, q, agent, service)
package rabbit

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"verbatim/runtime/protocols/trustgraph"
)

// A Config names the queues.
type Config struct {
	URL string // amqp:// or amqps://, with user, password and virtual host
	// Request and Response are the names in the flow's configuration, interfaces.agent:
	// class:space:topic.
	Request, Response string
	// Subscription is the end of the name of the service's queue. Services with the same one share
	// the questions; services with different ones each get a copy of all.
	Subscription string
	Prefetch     int           // questions at once; 0: 1, as in TrustGraph
	Longest      time.Duration // between two attempts to connect; 0: 10 seconds
	Log          *slog.Logger  // nil: none
}

// A topic is a queue's logical name with the name of its exchange.
type topic struct {
	trustgraph.Topic
	exchange string
}

func parse(name string) (topic, error) {
	t, err := trustgraph.ParseTopic(name)
	return topic{t, t.Space + "." + t.Class + "." + t.Name}, err
}

// mode returns the delivery mode of messages to a topic.
func (t topic) mode() uint8 {
	if t.Durable() {
		return amqp.Persistent
	}
	return amqp.Transient
}

// consume declares a topic's queue on a channel, and reads it.
func (t topic) consume(ch *amqp.Channel, subscription string, prefetch int) (<-chan amqp.Delivery, error) {
	if err := t.declare(ch); err != nil {
		return nil, err
	}
	name := t.exchange + "." + subscription
	if !t.Shared() {
		name = "" // a queue of its own, which goes with the connection
	}
	queue, err := ch.QueueDeclare(name, t.Durable(), !t.Shared(), !t.Shared(), false, nil)
	if err == nil {
		err = ch.QueueBind(queue.Name, "", t.exchange, false, nil)
	}
	if err == nil {
		err = ch.Qos(prefetch, 0, false)
	}
	if err != nil {
		return nil, err
	}
	return ch.Consume(queue.Name, "", false, false, false, false, nil)
}

func (t topic) declare(ch *amqp.Channel) error {
	return ch.ExchangeDeclare(t.exchange, amqp.ExchangeFanout, true, false, false, false, nil)
}

// A Queue is the answering side. It implements trustgraph.Queue.
type Queue struct {
	c       Config
	in, out topic // that it reads, and that it sends to

	shut   func() // closes closed, once
	closed chan struct{}
	turn   chan struct{} // held while link is used
	link   *link
}

// A link is one connection.
type link struct {
	conn *amqp.Connection
	out  *amqp.Channel
	in   <-chan amqp.Delivery
}

// dead reports whether nothing can be sent any more.
func (l *link) dead() bool { return l.conn.IsClosed() || l.out.IsClosed() }

// drop gives a connection up that failed.
func (l *link) drop() { _ = l.conn.Close() }

// errClosed says that a queue was closed.
var errClosed = errors.New("rabbit: closed")

// Open makes a queue. It connects when the queue is used, and again when the broker went away.
func Open(c Config) (*Queue, error) {
	if c.Subscription == "" {
		return nil, errors.New("rabbit: the subscription is missing")
	}
	c.Longest = cmp.Or(c.Longest, 10*time.Second)
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	c.Prefetch = max(c.Prefetch, 1)
	if _, err := amqp.ParseURI(c.URL); err != nil {
		return nil, errors.New("rabbit: the URL is not amqp://user:password@host:port/vhost") // err may hold the password
	}
	q := &Queue{c: c, closed: make(chan struct{}), turn: make(chan struct{}, 1)}
	q.shut = sync.OnceFunc(func() { close(q.closed) })
	var err error
	if q.in, err = parse(c.Request); err == nil {
		q.out, err = parse(c.Response)
	}
	return q, err
}

// connect makes one attempt.
func (q *Queue) connect() (_ *link, err error) {
	conn, err := amqp.DialConfig(q.c.URL, amqp.Config{Heartbeat: 10 * time.Second, Locale: "en_US", Dial: amqp.DefaultDial(10 * time.Second)})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = conn.Close()
		}
	}()
	l := &link{conn: conn}
	in, err := conn.Channel()
	if err != nil {
		return nil, err
	}
	if l.out, err = conn.Channel(); err != nil {
		return nil, err
	}
	if err = q.out.declare(l.out); err != nil {
		return nil, err
	}
	if err = l.out.Confirm(false); err != nil {
		return nil, err
	}
	l.in, err = q.in.consume(in, q.c.Subscription, q.c.Prefetch)
	return l, err
}

// get returns the present connection, or a new one. It tries until ctx ends.
func (q *Queue) get(ctx context.Context) (*link, error) {
	select {
	case q.turn <- struct{}{}:
		defer func() { <-q.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, q.c.Longest) {
		select {
		case <-q.closed:
			return nil, errClosed
		default:
		}
		if q.link != nil && !q.link.dead() {
			return q.link, nil
		}
		if q.link != nil {
			q.link.drop()
		}
		l, err := q.connect()
		if err == nil {
			q.link = l
			return l, nil
		}
		q.c.Log.Warn("rabbit: no connection", "error", err, "again", wait)
		select {
		case <-time.After(wait/2 + rand.N(wait/2)):
		case <-q.closed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close closes the connection. What was read and not acknowledged is delivered to others.
func (q *Queue) Close() error {
	q.shut()
	q.turn <- struct{}{}
	defer func() { <-q.turn }()
	if q.link == nil || q.link.conn.IsClosed() {
		return nil
	}
	return q.link.conn.Close()
}

// errRefused says that the broker does not want a message.
var errRefused = errors.New("rabbit: the broker refused a message")

// Reply implements trustgraph.Queue.
func (q *Queue) Reply(ctx context.Context, id string, body []byte) error {
	for {
		l, err := q.get(ctx)
		if err != nil {
			return err
		}
		confirmed, err := l.out.PublishWithDeferredConfirmWithContext(ctx, q.out.exchange, "", false, false, amqp.Publishing{
			ContentType: "application/json", DeliveryMode: q.out.mode(), Headers: amqp.Table{"id": id}, Body: body,
		})
		taken := false
		if err == nil {
			if taken, err = confirmed.WaitContext(ctx); taken {
				return nil
			}
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case !l.dead(): // the broker is well, and does not want this
			return cmp.Or(err, errRefused)
		}
	}
}

// idOf returns the id of a message; "" if it has none.
func idOf(headers amqp.Table) string {
	id, _ := headers["id"].(string)
	return id
}

// Receive implements trustgraph.Queue.
func (q *Queue) Receive(ctx context.Context) (trustgraph.Delivery, error) {
	for {
		l, err := q.get(ctx)
		if err != nil {
			return trustgraph.Delivery{}, err
		}
		select {
		case d, ok := <-l.in:
			if !ok {
				l.drop()
				continue
			}
			return trustgraph.Delivery{ID: idOf(d.Headers), Body: d.Body,
				Ack:     func() { _ = d.Ack(false) },        // fails with the connection, and then
				Requeue: func() { _ = d.Nack(false, true) }, // the broker requeues the question
			}, nil
		case <-ctx.Done():
			return trustgraph.Delivery{}, ctx.Err()
		}
	}
}
