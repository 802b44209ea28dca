package server

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/codes"
)

// A planMeter counts plans and their steps under the names of TrustGraph's specification of the
// confidence agent, section 6.1. No label holds user text.
type planMeter struct {
	score      *prometheus.HistogramVec
	failures   *prometheus.CounterVec
	retries    *prometheus.CounterVec
	success    prometheus.Gauge
	plan, step prometheus.Histogram
	complexity prometheus.Histogram
	routes     *prometheus.CounterVec

	mu             sync.Mutex
	retried, right int // steps that were retried, and those of them that succeeded
}

func newPlanMeter() *planMeter {
	seconds := []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	return &planMeter{
		score:      prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "agent_confidence_score", Help: "How sure answers are.", Buckets: []float64{0.1, 0.3, 0.5, 0.7, 0.9, 1.0}}, []string{"function"}),
		failures:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "agent_confidence_failures", Help: "Answers that were not sure enough."}, []string{"function"}),
		retries:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "agent_retry_count", Help: "Further tries of steps."}, []string{"function"}),
		success:    prometheus.NewGauge(prometheus.GaugeOpts{Name: "agent_retry_success_rate", Help: "The share of steps done among those that were tried again, in percent."}),
		plan:       prometheus.NewHistogram(prometheus.HistogramOpts{Name: "agent_plan_execution_seconds", Help: "How long plans took from their start to their end.", Buckets: seconds}),
		step:       prometheus.NewHistogram(prometheus.HistogramOpts{Name: "agent_step_execution_seconds", Help: "How long attempts of steps took.", Buckets: seconds}),
		complexity: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "agent_plan_complexity", Help: "Steps of a plan.", Buckets: []float64{1, 2, 3, 5, 8, 12, 15, 30, 100}}),
		routes:     prometheus.NewCounterVec(prometheus.CounterOpts{Name: "agent_routes_total", Help: "Questions by the agent that they were given to: confidence, react, or fallback from the one to the other."}, []string{"route"}),
	}
}

func (m *planMeter) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.score, m.failures, m.retries, m.success, m.plan, m.step, m.complexity, m.routes}
}

// An Attempt is one attempt at a step.
type Attempt struct {
	Function string
	Score    *float64 // nil if it did not answer
	Good     bool
	Number   int
	Took     time.Duration
}

// Attempted counts an attempt at a step.
func (m *Meter) Attempted(a Attempt) {
	m.plans.step.Observe(a.Took.Seconds())
	if a.Score != nil {
		m.plans.score.WithLabelValues(a.Function).Observe(*a.Score)
		if !a.Good {
			m.plans.failures.WithLabelValues(a.Function).Inc()
		}
	}
	if a.Number > 1 {
		m.plans.retries.WithLabelValues(a.Function).Inc()
	}
}

// Settled counts a step that has ended.
func (m *Meter) Settled(tries int, done bool) {
	if tries < 2 {
		return
	}
	m.plans.mu.Lock()
	defer m.plans.mu.Unlock()
	if m.plans.retried++; done {
		m.plans.right++
	}
	m.plans.success.Set(100 * float64(m.plans.right) / float64(m.plans.retried))
}

// Planned counts a plan that has ended.
func (m *Meter) Planned(steps int, took time.Duration) {
	m.plans.complexity.Observe(float64(steps))
	m.plans.plan.Observe(took.Seconds())
}

// Routed counts a question by the agent that answers it.
func (m *Meter) Routed(route string) { m.plans.routes.WithLabelValues(route).Inc() }

// Span begins a span, and returns the function that ends it. Without a collector it does nothing.
func (m *Meter) Span(ctx context.Context, name string) (context.Context, func(failed bool)) {
	if m.Spans == nil {
		return ctx, func(bool) {}
	}
	ctx, span := m.Spans.tracer.Start(ctx, name)
	return ctx, func(failed bool) {
		if failed {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
