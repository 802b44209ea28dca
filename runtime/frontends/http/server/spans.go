package server

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"verbatim/runtime/engine"
)

// Spans send OpenTelemetry spans of requests, runs and model calls to a collector. They hold
// routes, verb names, outcomes and counts, and no user text.
type Spans struct {
	provider *trace.TracerProvider
	tracer   oteltrace.Tracer
}

// NewSpans sends spans to the collector at an endpoint (OTEL_EXPORTER_OTLP_ENDPOINT) with headers
// (OTEL_EXPORTER_OTLP_HEADERS). It calls failed when spans could not be sent; those are lost. The
// SDK also reads OTEL_TRACES_SAMPLER and OTEL_BSP_….
func NewSpans(endpoint, headers, service string, failed func(error)) (*Spans, error) {
	to, err := url.Parse(endpoint)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return nil, errors.New("the collector of spans is reached at a URL like http://localhost:4318")
	}
	e := &exporter{to: to.JoinPath("v1", "traces").String(), failed: failed, client: &http.Client{Timeout: 10 * time.Second}, header: http.Header{}}
	for _, pair := range strings.Split(headers, ",") {
		name, value, ok := strings.Cut(pair, "=")
		if value, err = url.PathUnescape(strings.TrimSpace(value)); strings.TrimSpace(pair) != "" && (!ok || err != nil) {
			return nil, errors.New("headers for the collector are like name=value,name=value")
		}
		if ok {
			e.header.Set(strings.TrimSpace(name), value)
		}
	}
	p := trace.NewTracerProvider(trace.WithBatcher(e), trace.WithResource(resource.NewSchemaless(attribute.String("service.name", cmp.Or(service, "verbatim")))))
	return &Spans{p, p.Tracer("verbatim")}, nil
}

// Close sends the spans that are left.
func (s *Spans) Close(ctx context.Context) error { return s.provider.Shutdown(ctx) }

// request begins the span of a request, as a child of the client's span if it names one.
func (s *Spans) request(r *http.Request) (context.Context, oteltrace.Span) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	return s.tracer.Start(ctx, method(r.Method), oteltrace.WithSpanKind(oteltrace.SpanKindServer))
}

func answered(span oteltrace.Span, method, route string, q *request) {
	span.SetName(method + " " + strings.TrimPrefix(route, method+" "))
	span.SetAttributes(attribute.String("http.request.method", method), attribute.String("http.route", route), attribute.Int("http.response.status_code", q.status),
		attribute.String("verbatim.request", q.id))
	if q.status >= 500 {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}

func (s *Spans) program(ctx context.Context, stage string, o engine.Observed) {
	names := make([]string, len(o.Calls))
	for i, v := range o.Calls {
		names[i] = v.Name
	}
	now := time.Now()
	_, span := s.tracer.Start(ctx, stage+" "+strings.Join(names[:min(len(names), 3)], " "), oteltrace.WithTimestamp(now.Add(-o.Took)))
	span.SetAttributes(attribute.StringSlice("verbatim.verbs", names), attribute.String("verbatim.outcome", o.Outcome))
	if o.Code != "" {
		span.SetAttributes(attribute.String("verbatim.code", o.Code))
	}
	if o.Outcome == "failed" {
		span.SetStatus(codes.Error, "")
	}
	span.End(oteltrace.WithTimestamp(now))
}

// Asked begins the span of a model call. done ends it with the tokens used, and whether the model
// answered.
func (m *Meter) Asked(ctx context.Context, model string) (_ context.Context, done func(in, out int, ok bool)) {
	end := func(int, int, bool) {}
	if m.Spans != nil {
		var span oteltrace.Span
		ctx, span = m.Spans.tracer.Start(ctx, "chat "+model, oteltrace.WithSpanKind(oteltrace.SpanKindClient))
		end = func(in, out int, ok bool) {
			span.SetAttributes(attribute.String("gen_ai.operation.name", "chat"), attribute.String("gen_ai.request.model", model),
				attribute.Int("gen_ai.usage.input_tokens", in), attribute.Int("gen_ai.usage.output_tokens", out))
			if !ok {
				span.SetStatus(codes.Error, "")
			}
			span.End()
		}
	}
	return ctx, func(in, out int, ok bool) {
		m.tokens.WithLabelValues(model, "in").Add(float64(in))
		m.tokens.WithLabelValues(model, "out").Add(float64(out))
		end(in, out, ok)
	}
}

type object = map[string]any

// An exporter sends spans as OTLP 1.x in JSON over HTTP (opentelemetry.io/docs/specs/otlp). The
// library's exporters bring protocol buffers and gRPC, which cost every command five milliseconds
// at its start.
type exporter struct {
	to     string
	header http.Header
	client *http.Client
	failed func(error)
}

func otlpPairs(all []attribute.KeyValue) []object {
	pairs := []object{}
	for _, a := range all {
		value := object{"stringValue": a.Value.String()}
		switch a.Value.Type() {
		case attribute.INT64:
			value = object{"intValue": strconv.FormatInt(a.Value.AsInt64(), 10)}
		case attribute.STRINGSLICE:
			list := []object{}
			for _, text := range a.Value.AsStringSlice() {
				list = append(list, object{"stringValue": text})
			}
			value = object{"arrayValue": object{"values": list}}
		}
		pairs = append(pairs, object{"key": string(a.Key), "value": value})
	}
	return pairs
}

// ExportSpans implements trace.SpanExporter.
func (e *exporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	all := make([]object, len(spans))
	for i, s := range spans {
		c, status := s.SpanContext(), object{}
		if s.Status().Code == codes.Error {
			status["code"] = 2
		}
		all[i] = object{"traceId": c.TraceID().String(), "spanId": c.SpanID().String(), "name": s.Name(), "kind": int(s.SpanKind()), "attributes": otlpPairs(s.Attributes()), "status": status,
			"startTimeUnixNano": strconv.FormatInt(s.StartTime().UnixNano(), 10), "endTimeUnixNano": strconv.FormatInt(s.EndTime().UnixNano(), 10)}
		if s.Parent().IsValid() {
			all[i]["parentSpanId"] = s.Parent().SpanID().String()
		}
	}
	body, err := json.Marshal(object{"resourceSpans": []object{{
		"resource":   object{"attributes": otlpPairs(spans[0].Resource().Attributes())},
		"scopeSpans": []object{{"scope": object{"name": "verbatim"}, "spans": all}}}}})
	if err != nil {
		return err
	}
	if err = e.send(ctx, body); err != nil && e.failed != nil {
		e.failed(err)
	}
	return nil
}

func (e *exporter) send(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.to, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = e.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	answer, err := e.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("the collector of spans answers %d", answer.StatusCode)
	}
	return nil
}

// Shutdown implements trace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error { return nil }
