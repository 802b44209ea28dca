//go:build pulsar

// Package pulsar is the answering side of TrustGraph's queues on Apache Pulsar. It is a module
// of its own, built with the tag pulsar: its client brings fifty modules that nothing else
// needs. It was compiled, and never run against a broker.
//
//	q, err := pulsar.Open(pulsar.Config{
//		URL: "pulsar://localhost:6650", Subscription: "agent",
//		Request: "flow:tg:agent-request:default", Response: "response:tg:agent-response:default",
//	})
//	err = trustgraph.Serve(ctx, q, agent, service)
package pulsar

import (
	"context"
	"time"

	"github.com/apache/pulsar-client-go/pulsar"

	"verbatim/runtime/protocols/trustgraph"
)

// A Config names the queues.
type Config struct {
	URL   string // pulsar:// or pulsar+ssl://
	Token string // "": none
	// Request and Response are the names in the flow's configuration, interfaces.agent:
	// class:space:topic.
	Request, Response string
	// Subscription is shared by all services that share the questions.
	Subscription string
	Prefetch     int // questions at once; 0: 1
}

// A Queue is the answering side. It implements trustgraph.Queue.
type Queue struct {
	client   pulsar.Client
	consumer pulsar.Consumer
	producer pulsar.Producer
}

// address returns the Pulsar topic for a logical name.
func address(t trustgraph.Topic) string {
	if t.Durable() {
		return "persistent://" + t.Space + "/" + t.Class + "/" + t.Name
	}
	return "non-persistent://" + t.Space + "/" + t.Class + "/" + t.Name
}

// Open connects. Later the client connects again by itself when the broker went away.
func Open(c Config) (*Queue, error) {
	request, err := trustgraph.ParseTopic(c.Request)
	if err != nil {
		return nil, err
	}
	response, err := trustgraph.ParseTopic(c.Response)
	if err != nil {
		return nil, err
	}
	o := pulsar.ClientOptions{URL: c.URL}
	if c.Token != "" {
		o.Authentication = pulsar.NewAuthenticationToken(c.Token)
	}
	q := &Queue{}
	if q.client, err = pulsar.NewClient(o); err != nil {
		return nil, err
	}
	kind := pulsar.Shared
	if !request.Shared() {
		kind = pulsar.Exclusive
	}
	// A reply waits as long as its context does, and goes out at once.
	q.producer, err = q.client.CreateProducer(pulsar.ProducerOptions{Topic: address(response), SendTimeout: -1, DisableBatching: true})
	if err == nil {
		q.consumer, err = q.client.Subscribe(pulsar.ConsumerOptions{Topic: address(request), SubscriptionName: c.Subscription, Type: kind,
			ReceiverQueueSize: max(c.Prefetch, 1), NackRedeliveryDelay: time.Second})
	}
	if err != nil {
		q.client.Close()
		return nil, err
	}
	return q, nil
}

// Close closes the connection. What was received and not acknowledged goes to others.
func (q *Queue) Close() {
	q.consumer.Close()
	q.producer.Close()
	q.client.Close()
}

// Receive implements trustgraph.Queue.
func (q *Queue) Receive(ctx context.Context) (trustgraph.Delivery, error) {
	m, err := q.consumer.Receive(ctx)
	if err != nil {
		return trustgraph.Delivery{}, err
	}
	return trustgraph.Delivery{ID: m.Properties()["id"], Body: m.Payload(),
		Ack:     func() { _ = q.consumer.Ack(m) }, // if it fails, the question comes again
		Requeue: func() { q.consumer.Nack(m) },
	}, nil
}

// Reply implements trustgraph.Queue.
func (q *Queue) Reply(ctx context.Context, id string, body []byte) error {
	_, err := q.producer.Send(ctx, &pulsar.ProducerMessage{Payload: body, Properties: map[string]string{"id": id}})
	return err
}
