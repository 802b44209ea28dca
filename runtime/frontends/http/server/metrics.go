package server

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"verbatim/runtime/engine"
	"verbatim/stores"
)

// A Meter counts what an engine does and what a model costs. Make it before the engine, give the
// engine its Observe, and give the Meter to the server that shows it.
type Meter struct {
	Spans  *Spans // exported to a collector, or nil
	calls  *prometheus.CounterVec
	took   *prometheus.HistogramVec
	tokens *prometheus.CounterVec
	plans  *planMeter
}

// NewMeter makes a Meter.
func NewMeter() *Meter {
	return &Meter{
		plans: newPlanMeter(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "verbatim_calls_total", Help: "Calls, by verb and by what became of the program that they stand in."}, []string{"verb", "outcome", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "verbatim_program_seconds", Help: "How long programs took to be worked out or carried out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}}, []string{"stage", "outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "verbatim_model_tokens_total", Help: "Tokens that a model read and wrote."}, []string{"model", "direction"}),
	}
}

// Observe is for engine.Options.
func (m *Meter) Observe(ctx context.Context, o engine.Observed) {
	stage := "run"
	if o.Rehearsal {
		stage = "preview"
	}
	m.took.WithLabelValues(stage, o.Outcome).Observe(o.Took.Seconds())
	if m.Spans != nil {
		m.Spans.program(ctx, stage, o)
	}
	if o.Rehearsal {
		return
	}
	for _, v := range o.Calls {
		m.calls.WithLabelValues(v.Name, o.Outcome, o.Code).Inc()
	}
}

// programs counts runs that succeeded and failed, by their duration. The last count is of runs
// longer than the last bound.
func (m *Meter) programs() (bounds []float64, counts [][2]int) {
	own := prometheus.NewRegistry()
	own.MustRegister(m.took)
	families, _ := own.Gather() // of one histogram, which is whole
	for _, family := range families {
		for _, of := range family.GetMetric() {
			if label := of.GetLabel(); label[1].GetValue() != "run" { // outcome, stage
				continue
			}
			h, no, below := of.GetHistogram(), 0, uint64(0)
			if of.GetLabel()[0].GetValue() != "ok" {
				no = 1
			}
			if counts == nil {
				counts = make([][2]int, len(h.GetBucket())+1)
			}
			for i, b := range h.GetBucket() {
				if len(bounds) < len(h.GetBucket()) {
					bounds = append(bounds, b.GetUpperBound())
				}
				counts[i][no], below = int(b.GetCumulativeCount()-below), b.GetCumulativeCount()
			}
			counts[len(counts)-1][no] = int(h.GetSampleCount() - below)
		}
	}
	return bounds, counts
}

// metrics are what an operator watches. No label holds user text: a route is a pattern of the route
// table, a verb one of the palettes.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	sheds    prometheus.Counter
	show     http.Handler
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "verbatim_request_seconds", Help: "How long requests took, by route and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}}, []string{"route", "status"}),
		sheds: prometheus.NewCounter(prometheus.CounterOpts{Name: "verbatim_requests_shed_total", Help: "Requests that were turned away because there was too much to do."}),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests, m.sheds,
		&gauges{s, []*prometheus.Desc{prometheus.NewDesc("verbatim_jobs", "Jobs, by state; those that are done are not counted.", []string{"state"}, nil),
			prometheus.NewDesc("verbatim_oldest_job_seconds", "How late the job is that is due longest.", nil, nil)}, s.countJobs},
		&gauges{s, []*prometheus.Desc{prometheus.NewDesc("verbatim_waiting_agreements", "What waits for somebody's agreement.", nil, nil),
			prometheus.NewDesc("verbatim_oldest_agreement_seconds", "For how long the oldest of them waits.", nil, nil)}, s.countWaiting})
	if s.Meter != nil {
		m.registry.MustRegister(append([]prometheus.Collector{s.Meter.calls, s.Meter.took, s.Meter.tokens}, s.Meter.plans.collectors()...)...)
	}
	m.show = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) answered(route string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Observe(took.Seconds())
}

func (m *metrics) shed() { m.sheds.Inc() }

// showMetrics answers programs on this machine only.
func (s *Server) showMetrics(v *visit) error {
	host, _, err := net.SplitHostPort(v.r.RemoteAddr)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() || v.r.Header.Get("X-Forwarded-For") != "" {
		return problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "only this machine may see that"}
	}
	s.metrics.show.ServeHTTP(v.w, v.r)
	return nil
}

// Gauges are computed when they are scraped.
type gauges struct {
	s     *Server
	descs []*prometheus.Desc
	count func(ctx context.Context, to chan<- prometheus.Metric, descs []*prometheus.Desc) error
}

func (c *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

func (c *gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.s.ctx, 2*time.Second)
	defer cancel()
	_ = c.count(ctx, to, c.descs) // what cannot be counted is left out
}

func gauge(to chan<- prometheus.Metric, of *prometheus.Desc, value float64, labels ...string) {
	to <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
}

func (s *Server) countJobs(ctx context.Context, to chan<- prometheus.Metric, descs []*prometheus.Desc) error {
	now, err := s.Store.Clock(ctx)
	if err != nil {
		return err
	}
	var late time.Duration
	for _, state := range []stores.JobState{stores.JobWaiting, stores.JobRunning, stores.JobDead} {
		all, err := s.Store.Jobs(ctx, stores.JobFilter{States: []stores.JobState{state}, Limit: 10_000})
		if err != nil {
			return err
		}
		for i := range all {
			if state == stores.JobWaiting {
				late = max(late, now.Sub(all[i].At))
			}
		}
		gauge(to, descs[0], float64(len(all)), state.String())
	}
	gauge(to, descs[1], late.Seconds())
	return nil
}

func (s *Server) countWaiting(ctx context.Context, to chan<- prometheus.Metric, descs []*prometheus.Desc) error {
	n, oldest, err := s.Engine.Waiting(ctx)
	if err != nil {
		return err
	}
	age := time.Duration(0)
	if n > 0 {
		age = s.Clock().Sub(oldest)
	}
	gauge(to, descs[0], float64(n))
	gauge(to, descs[1], age.Seconds())
	return nil
}
