//go:build pulsar

// Bridge answers the questions of TrustGraph's queues on Pulsar by asking a gateway:
//
//	BRIDGE_TOKEN=… bridge -pulsar pulsar://localhost:6650 -gateway http://localhost:8888 \
//		-request flow:tg:agent-request:default -response response:tg:agent-response:default \
//		-subscription agent
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/pulsar"
	"verbatim/runtime/protocols/trustgraph/trustgraphtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Getenv, os.Stderr); err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, env func(string) string, stderr io.Writer) error {
	f := flag.NewFlagSet("bridge", flag.ContinueOnError)
	f.SetOutput(stderr)
	c := pulsar.Config{Token: env("PULSAR_TOKEN")}
	f.StringVar(&c.URL, "pulsar", "pulsar://localhost:6650", "the broker; PULSAR_TOKEN is its token")
	f.StringVar(&c.Request, "request", "flow:tg:agent-request:default", "the queue of the questions")
	f.StringVar(&c.Response, "response", "response:tg:agent-response:default", "the queue of the answers")
	f.StringVar(&c.Subscription, "subscription", "", "what services that share the questions have in common")
	f.IntVar(&c.Prefetch, "at-once", 1, "questions at once")
	client := &trustgraphtest.Client{Token: env("BRIDGE_TOKEN")}
	f.StringVar(&client.URL, "gateway", "http://localhost:8888", "the gateway; BRIDGE_TOKEN is the token")
	f.StringVar(&client.Flow, "flow", "default", "the flow")
	shape := f.String("shape", "chunked", "how answers are written: chunked, chunk-type or old")
	if err := f.Parse(args); err != nil {
		return err
	}
	s, err := trustgraph.ParseShape(*shape)
	if err != nil {
		return err
	}
	q, err := pulsar.Open(c)
	if err != nil {
		return err
	}
	defer q.Close()
	return trustgraph.Serve(ctx, q, trustgraph.AskFunc(client.Socket), trustgraph.Service{Shape: s, Concurrency: c.Prefetch, Log: slog.New(slog.NewJSONHandler(stderr, nil))})
}
