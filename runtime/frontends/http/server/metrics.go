package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/codes"

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
	models *prometheus.GaugeVec
	down   atomic.Bool // the model could not be asked the last time
	jobs   *prometheus.CounterVec
	up     *prometheus.GaugeVec
	plans  *planMeter

	requests *prometheus.HistogramVec // of servers that follow one another
	sheds    prometheus.Counter
}

// NewMeter makes a Meter.
func NewMeter() *Meter {
	return &Meter{
		plans: newPlanMeter(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "verbatim_request_seconds", Help: "How long requests took, by route and status.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 120}}, []string{"route", "status"}),
		sheds: prometheus.NewCounter(prometheus.CounterOpts{Name: "verbatim_requests_shed_total", Help: "Requests that were turned away because there was too much to do."}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "verbatim_calls_total", Help: "Calls, by verb and by what became of the program that they stand in."}, []string{"verb", "outcome", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "verbatim_program_seconds", Help: "How long programs took to be worked out or carried out.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30}}, []string{"stage", "outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "verbatim_model_tokens_total", Help: "Tokens that a model read and wrote."}, []string{"model", "direction"}),
		jobs:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "verbatim_job_runs_total", Help: "Runs of jobs, by the channel of a notice (otherwise the kind of the job) and by what became of them."}, []string{"channel", "outcome"}),
		up:     prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "verbatim_channel_up", Help: "0 of a channel that did not answer several times in a row: its notices wait, and one at a time is tried. 1 once it answered again."}, []string{"channel"}),
		models: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "verbatim_model_up", Help: "1 if the model answered when it was asked last, 0 if it could not be asked."}, []string{"model"}),
	}
}

// Model notes whether a model answered, or could not be asked.
func (m *Meter) Model(name string, answered bool) {
	up := 0.0
	if answered {
		up = 1
	}
	m.models.WithLabelValues(name).Set(up)
	m.down.Store(!answered)
}

// Ran counts a run of a job.
func (m *Meter) Ran(channel, outcome string) { m.jobs.WithLabelValues(channel, outcome).Inc() }

// Channel notes whether a channel of notices answers.
func (m *Meter) Channel(name string, up bool) {
	value := 0.0
	if up {
		value = 1
	}
	m.up.WithLabelValues(name).Set(value)
}

// Down reports whether the model could not be asked the last time.
func (m *Meter) Down() bool { return m.down.Load() }

// Silent lists the channels of notices that do not answer, as far as this process sends any.
func (m *Meter) Silent() (all []string) {
	own := prometheus.NewRegistry()
	own.MustRegister(m.up)
	families, _ := own.Gather() // of one gauge, which is whole
	for _, family := range families {
		for _, of := range family.GetMetric() {
			if of.GetGauge().GetValue() == 0 {
				all = append(all, of.GetLabel()[0].GetValue())
			}
		}
	}
	return all
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

// Programs counts runs that succeeded and failed, by their duration. The last count is of runs
// longer than the last bound.
func (m *Meter) Programs() (bounds []float64, counts [][2]int) {
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

// A Note is a line for operators about something that they should mend.
type Note struct {
	About string // one of those below, a label
	Says  string
}

// What notes are about.
const (
	NoteRestore     = "restore"     // a restored store would not be noticed
	NoteCertificate = "certificate" // it does not hold
	NoteReload      = "reload"      // the last one refused something
	NoteKey         = "key"         // it signs nothing
	NoteDisk        = "disk"        // it has little room
	NoteWatch       = "watch"       // nobody reads what is counted
)

var noteKinds = [...]string{NoteRestore, NoteCertificate, NoteReload, NoteKey, NoteDisk, NoteWatch}

// Watched is what the program knows of its machine and of itself, beside what the server counts.
type Watched struct {
	Certificates map[string]time.Time // when those end that clients are shown, by the door: https or mail
	Refused      map[string]string    // the parts that the last reload refused, each with the code of the cause
	Disks        []Disk
	ClockAhead   time.Duration // of the machine before the store
}

// A Disk is the free space where a folder is, and the space that should be free there, in bytes.
type Disk struct {
	Of           string // what the folder is for, a label
	Free, Wanted int64
}

func newMetrics(s *Server) *metrics {
	counts := s.Meter
	if counts == nil {
		counts = NewMeter()
	}
	m := &metrics{registry: prometheus.NewRegistry(), requests: counts.requests, sheds: counts.sheds}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), m.requests, m.sheds,
		s.gauges(s.countStore, "verbatim_store_up", "1 if the store answers, 0 if it does not.",
			"verbatim_store_full", "1 if the disk of the store was full when something was written last, 0 if not."),
		s.gauges(s.countNotes, "verbatim_notes{about}", "1 where /readyz has a line for operators about this, 0 where it has none."),
		s.gauges(s.countWatched, "verbatim_certificate_days{door}", "Days until a certificate ends that clients are shown; below 0 it has ended.",
			"verbatim_reload_refused{part,cause}", "1 for each part of the configuration that the last reload refused, with the code of the cause.",
			"verbatim_disk_free_bytes{of}", "Free space where the folder is.",
			"verbatim_disk_wanted_bytes{of}", "Free space that should be there: serve --room.",
			"verbatim_clock_ahead_seconds", "How far the clock of this machine is ahead of the store's."),
		s.gauges(s.countJobs, "verbatim_jobs{state}", "Jobs, by state; those that are done are not counted.",
			"verbatim_oldest_job_seconds", "How late the job is that is due longest.",
			"verbatim_oldest_failing_job_seconds", "How long ago the oldest job was made that failed and waits to be tried again."),
		s.gauges(s.countWaiting, "verbatim_waiting_agreements", "What waits for somebody's agreement.",
			"verbatim_oldest_agreement_seconds", "For how long the oldest of them waits."))
	if store, ok := s.Store.(watched); ok {
		m.registry.MustRegister(
			s.gauges(func(ctx context.Context, to func(int, float64, ...string)) error {
				sealed, waiting, err := store.Sealing(ctx)
				to(0, float64(sealed))
				to(1, float64(waiting))
				return err
			}, "verbatim_sealed_entries", "Leaves of the journal's sealed log.",
				"verbatim_unsealed_entries", "Entries of the journal that wait to be sealed."),
			s.gauges(func(_ context.Context, to func(int, float64, ...string)) error {
				used, most := store.Connections()
				to(0, float64(used))
				to(1, float64(most))
				return nil
			}, "verbatim_store_connections", "Connections to the database that are in use.",
				"verbatim_store_connections_most", "Connections to the database that this process makes at most."))
	}
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "verbatim_build_info", Help: "1, with the version of the program and the digest of its palettes."}, []string{"version", "palettes"})
	palettes := "" // a server that only lists its routes has none
	if s.Registry != nil {
		palettes = s.Registry.Digest()
	}
	build.WithLabelValues(s.Version, palettes).Set(1)
	m.registry.MustRegister(build)
	if s.Meter != nil {
		m.registry.MustRegister(append([]prometheus.Collector{s.Meter.calls, s.Meter.took, s.Meter.tokens, s.Meter.models, s.Meter.jobs, s.Meter.up}, s.Meter.plans.collectors()...)...)
	}
	m.show = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

// gauges makes gauges of names and helps. The labels of a gauge stand in braces behind its name.
func (s *Server) gauges(count func(context.Context, func(int, float64, ...string)) error, namesAndHelps ...string) *gauges {
	g := &gauges{s: s, count: count}
	for i := 0; i < len(namesAndHelps); i += 2 {
		var labels []string
		name, listed, labelled := strings.Cut(strings.TrimSuffix(namesAndHelps[i], "}"), "{")
		if labelled {
			labels = strings.Split(listed, ",")
		}
		g.descs = append(g.descs, prometheus.NewDesc(name, namesAndHelps[i+1], labels, nil))
	}
	return g
}

// ServeMetrics answers at a listener of its own until ctx ends, whatever host is asked for: only
// programs that watch this server reach that address. read is called for each answer.
func (f *Front) ServeMetrics(ctx context.Context, l net.Listener, read func()) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		read()
		f.Server().metrics.show.ServeHTTP(w, r)
	})
	own := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 30 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = own.Close() })
	defer stop()
	if err := own.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// showMetrics answers programs on this machine only.
func (s *Server) showMetrics(v *Visit) error {
	if !onlyHere(v.R) {
		return Problem{Status: http.StatusForbidden, Code: "not-permitted", Title: "only this machine may see that"}
	}
	s.metrics.show.ServeHTTP(v.W, v.R)
	return nil
}

// Gauges are read from the store when they are scraped. While it does not answer they keep the
// values that they had, and verbatim_store_up is 0.
type gauges struct {
	s     *Server
	descs []*prometheus.Desc
	count func(ctx context.Context, to func(i int, value float64, labels ...string)) error
	mu    sync.Mutex
	last  []prometheus.Metric
}

func (c *gauges) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		to <- d
	}
}

func (c *gauges) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(c.s.ctx, 2*time.Second)
	defer cancel()
	var now []prometheus.Metric
	err := c.count(ctx, func(i int, value float64, labels ...string) {
		now = append(now, prometheus.MustNewConstMetric(c.descs[i], prometheus.GaugeValue, value, labels...))
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		c.last = now
	}
	for _, m := range c.last {
		to <- m
	}
}

// A watched store is a database to which a process has several connections, and whose log is sealed
// behind its commits.
type watched interface {
	Sealing(ctx context.Context) (sealed, waiting int64, err error)
	Connections() (used, most int)
}

// countStore tells whether the store answers.
func (s *Server) countStore(ctx context.Context, to func(i int, value float64, labels ...string)) error {
	up := 1.0
	if _, err := s.Store.Clock(ctx); err != nil {
		up = 0
	}
	to(0, up)
	full := 0.0
	if s.Store.Full() {
		full = 1
	}
	to(1, full)
	return nil
}

func (s *Server) countNotes(ctx context.Context, to func(i int, value float64, labels ...string)) error {
	there := map[string]float64{}
	for _, n := range s.notes(ctx) {
		there[n.About] = 1
	}
	for _, about := range noteKinds {
		to(0, there[about], about)
	}
	return nil
}

func (s *Server) countWatched(_ context.Context, to func(i int, value float64, labels ...string)) error {
	if s.Watched == nil {
		return nil
	}
	w := s.Watched()
	for door, end := range w.Certificates {
		to(0, time.Until(end).Hours()/24, door)
	}
	for part, cause := range w.Refused {
		to(1, 1, part, cause)
	}
	for _, d := range w.Disks {
		to(2, float64(d.Free), d.Of)
		to(3, float64(d.Wanted), d.Of)
	}
	to(4, w.ClockAhead.Seconds())
	return nil
}

func (s *Server) countJobs(ctx context.Context, to func(i int, value float64, labels ...string)) error {
	now, err := s.Store.Clock(ctx)
	if err != nil {
		return err
	}
	c, err := s.Store.CountJobs(ctx)
	if err != nil {
		return err
	}
	for state, n := range map[stores.JobState]int{stores.JobWaiting: c.Waiting, stores.JobRunning: c.Running, stores.JobDead: c.Dead} {
		to(0, float64(n), state.String())
	}
	since := func(t time.Time) float64 {
		if t.IsZero() {
			return 0
		}
		return max(0, now.Sub(t).Seconds())
	}
	to(1, since(c.Due))
	to(2, since(c.Failing))
	return nil
}

func (s *Server) countWaiting(ctx context.Context, to func(i int, value float64, labels ...string)) error {
	n, oldest, err := s.Engine.Waiting(ctx)
	if err != nil {
		return err
	}
	age := time.Duration(0)
	if n > 0 {
		age = s.Clock().Sub(oldest)
	}
	to(0, float64(n))
	to(1, age.Seconds())
	return nil
}

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
