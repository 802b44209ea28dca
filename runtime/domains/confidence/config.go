package confidence

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/confidence/score"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/verbs"
	"verbatim/verbs/strict"
)

// A Config says how the agent works. It is the operator's. The zero Config is not usable:
// DefaultConfig and ReadConfig make one.
type Config struct {
	As            string // the principal in whose name the program notes what became of steps
	MaxSteps      int    // of a plan
	Threshold     float64
	MaxRetries    int
	BackoffFactor float64
	MaxDelay      time.Duration
	Override      bool // a doubtful answer waits for a person instead of failing
	StepTimeout   time.Duration
	Parallel      int // steps that are made at once
	Tools         map[score.Tool]float64
	Context       int           // characters of a result in the arguments of a step
	CacheTTL      time.Duration // of answers of services that only read
	PlanCache     int           // plans
	Audit         Audit
	Templates     []Template
	Flags         trustgraph.Flags
	Wires         Wires
}

// Audit configures the audit trail of plans.
type Audit struct {
	Enabled bool
	Level   slog.Level // of the log entry at the end of a plan
	Raw     bool       // the answers of steps, without sensitive values
}

// Wires are the ways by which questions arrive, besides HTTP and sockets, and the shape of the
// answers.
type Wires struct {
	Shape             trustgraph.Shape
	Request, Response string // names of the broker's queues, as in the flow's configuration
	URLEnv            string // the variable of the environment that holds the broker's address; "" without a broker
	Subscription      string
	Caller            string // the principal of questions from the queue
	AtOnce            int    // concurrent questions of the queue
}

// A Template is a plan for questions of a shape. If a question reads like one of Asks, where a name
// in braces stands for any words, Steps is its plan, where {name} stands for those words. With
// When, a template is only for questions that contain one of these words.
type Template struct {
	Name  string   `yaml:"name"`
	Asks  []string `yaml:"asks"`
	When  []string `yaml:"when"`
	Steps string   `yaml:"steps"`

	asks []*regexp.Regexp
}

// DefaultConfig returns the defaults.
func DefaultConfig() Config {
	return Config{As: "plans", MaxSteps: 15, Threshold: 0.75, MaxRetries: 3, BackoffFactor: 2, MaxDelay: 5 * time.Second, Override: true, StepTimeout: 30 * time.Second, Parallel: 1,
		Tools: map[score.Tool]float64{score.GraphQuery: 0.8, score.TextCompletion: 0.7, score.McpTool: 0.6}, Context: 8192, CacheTTL: 300 * time.Second, PlanCache: 100,
		Audit: Audit{Enabled: true}, Flags: trustgraph.Flags{Enabled: true, Share: 100}}
}

// parallel is the default number of steps that are made concurrently.
const parallel = 4

// The shapes of the file: a service with its config, or the older block.
type configFile struct {
	As      string `yaml:"as"`
	Service struct {
		Name string `yaml:"name"`
		Type string `yaml:"type"`
	} `yaml:"service"`
	Pulsar struct {
		Request  string `yaml:"request_queue"`
		Response string `yaml:"response_queue"`
	} `yaml:"pulsar"`
	Wires struct {
		Shape  string `yaml:"shape"`
		Rabbit *struct {
			URLEnv       string `yaml:"url_env"`
			Subscription string `yaml:"subscription"`
			Caller       string `yaml:"caller"`
			AtOnce       *int   `yaml:"at_once"`
		} `yaml:"rabbitmq"`
	} `yaml:"wires"`
	Config   *settings     `yaml:"config"`
	Flow     *settings     `yaml:"confidence_agent"`
	Services []serviceFile `yaml:"services"`
	Flags    *flagsFile    `yaml:"feature_flags"`
	Plans    []Template    `yaml:"templates"`
}

type serviceFile struct {
	Name      string    `yaml:"name"`
	Module    string    `yaml:"module"`
	Instances int       `yaml:"instances"`
	Config    *settings `yaml:"config"`
}

type flagsFile struct {
	Enabled  *bool `yaml:"confidence_agent_enabled"`
	Share    *int  `yaml:"confidence_agent_traffic_percentage"`
	Fallback *bool `yaml:"confidence_agent_fallback_to_react"`
}

type settings struct {
	MaxIterations *int     `yaml:"max_iterations"`
	Threshold     *float64 `yaml:"confidence_threshold"`
	Default       *float64 `yaml:"default_confidence_threshold"`
	MaxRetries    *int     `yaml:"max_retries"`
	Factor        *float64 `yaml:"retry_backoff_factor"`
	Override      *bool    `yaml:"override_enabled"`
	StepTimeout   *int     `yaml:"step_timeout_ms"`
	AtOnce        *bool    `yaml:"parallel_execution"`
	Retry         struct {
		Attempts *int     `yaml:"max_attempts"`
		Factor   *float64 `yaml:"backoff_factor"`
		MaxDelay *int     `yaml:"max_delay_ms"`
	} `yaml:"retry"`
	Tools  map[string]float64 `yaml:"tool_confidence"`
	Memory struct {
		Context *int `yaml:"max_context_size"`
		TTL     *int `yaml:"cache_ttl_seconds"`
	} `yaml:"memory"`
	Audit struct {
		Enabled *bool   `yaml:"enabled"`
		Level   *string `yaml:"log_level"`
		Raw     *bool   `yaml:"include_raw_outputs"`
	} `yaml:"audit"`
	Performance struct {
		AtOnce    *bool `yaml:"parallel_execution"`
		PlanCache *int  `yaml:"plan_cache_size"`
		Timeout   *int  `yaml:"timeout_ms"`
	} `yaml:"performance"`
}

// maxConfig is the greatest size of a configuration file.
const maxConfig = 1 << 20

// ReadConfig reads a configuration in YAML. The error names the mistakes.
func ReadConfig(text []byte) (Config, error) {
	c := DefaultConfig()
	if len(text) > maxConfig {
		return c, errors.New("the configuration is larger than 1 MiB")
	}
	var f configFile
	if err := strict.YAML(text, &f); err != nil {
		return c, err
	}
	var r reader
	if f.As != "" {
		c.As = f.As
	}
	c.Wires.Request, c.Wires.Response = f.Pulsar.Request, f.Pulsar.Response
	if f.Wires.Shape != "" {
		shape, err := trustgraph.ParseShape(f.Wires.Shape)
		if err != nil {
			r.wrong("wires.shape: %v", err)
		}
		c.Wires.Shape = shape
	}
	if q := f.Wires.Rabbit; q != nil {
		c.Wires.URLEnv, c.Wires.Subscription, c.Wires.Caller, c.Wires.AtOnce = q.URLEnv, q.Subscription, q.Caller, 1
		r.within(&c.Wires.AtOnce, q.AtOnce, "wires.rabbitmq.at_once", 1, 100)
		if q.URLEnv == "" || q.Subscription == "" || q.Caller == "" || c.Wires.Request == "" || c.Wires.Response == "" {
			r.wrong("wires.rabbitmq needs url_env, subscription and caller, and pulsar.request_queue and pulsar.response_queue")
		}
	}
	for _, s := range f.Services {
		if s.Config != nil && strings.Contains(s.Module, "confidence") {
			r.settings(&c, "services.config", s.Config)
		}
	}
	r.settings(&c, "confidence_agent", f.Flow)
	r.settings(&c, "config", f.Config)
	if g := f.Flags; g != nil {
		set(&c.Flags.Enabled, g.Enabled)
		set(&c.Flags.Fallback, g.Fallback)
		r.within(&c.Flags.Share, g.Share, "feature_flags.confidence_agent_traffic_percentage", 0, 100)
	}
	c.Templates = f.Plans
	for i := range c.Templates {
		if err := c.Templates[i].prepare(); err != nil {
			r.wrong("templates[%d]: %s", i, err)
		}
	}
	return c, errors.Join(r.problems...)
}

// A reader gathers mistakes.
type reader struct{ problems []error }

func (r *reader) wrong(format string, args ...any) {
	r.problems = append(r.problems, fmt.Errorf(format, args...))
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

// differ refuses two keys of one setting that have different values.
func differ[T comparable](r *reader, key, one string, a *T, other string, b *T) {
	if a != nil && b != nil && *a != *b {
		r.wrong("%s.%s and %s.%s are the same, and have different values", key, one, key, other)
	}
}

func (r *reader) within(to, from *int, key string, least, most int) {
	switch {
	case from == nil:
	case *from < least || *from > most:
		r.wrong("%s is %d, and is from %d to %d", key, *from, least, most)
	default:
		*to = *from
	}
}

func (r *reader) share(to, from *float64, key string) {
	switch {
	case from == nil:
	case math.IsNaN(*from) || *from < 0 || *from > 1:
		r.wrong("%s is %v, and is from 0 to 1", key, *from)
	default:
		*to = *from
	}
}

func (r *reader) settings(c *Config, key string, s *settings) {
	if s == nil {
		return
	}
	differ(r, key, "confidence_threshold", s.Threshold, "default_confidence_threshold", s.Default)
	differ(r, key, "max_retries", s.MaxRetries, "retry.max_attempts", s.Retry.Attempts)
	differ(r, key, "retry_backoff_factor", s.Factor, "retry.backoff_factor", s.Retry.Factor)
	differ(r, key, "step_timeout_ms", s.StepTimeout, "performance.timeout_ms", s.Performance.Timeout)
	differ(r, key, "parallel_execution", s.AtOnce, "performance.parallel_execution", s.Performance.AtOnce)
	r.within(&c.MaxSteps, s.MaxIterations, key+".max_iterations", 1, 100)
	r.share(&c.Threshold, s.Threshold, key+".confidence_threshold")
	r.share(&c.Threshold, s.Default, key+".default_confidence_threshold")
	r.within(&c.MaxRetries, s.MaxRetries, key+".max_retries", 0, 10)
	r.within(&c.MaxRetries, s.Retry.Attempts, key+".retry.max_attempts", 0, 10)
	for name, factor := range map[string]*float64{"retry_backoff_factor": s.Factor, "retry.backoff_factor": s.Retry.Factor} {
		if factor != nil && (math.IsNaN(*factor) || *factor < 1 || *factor > 10) {
			r.wrong("%s.%s is %v, and is from 1 to 10", key, name, *factor)
		} else {
			set(&c.BackoffFactor, factor)
		}
	}
	millis := func(to *time.Duration, from *int, name string, least int) {
		n := int(to.Milliseconds())
		r.within(&n, from, key+"."+name, least, 600_000)
		*to = time.Duration(n) * time.Millisecond
	}
	millis(&c.MaxDelay, s.Retry.MaxDelay, "retry.max_delay_ms", 0)
	millis(&c.StepTimeout, s.StepTimeout, "step_timeout_ms", 10)
	millis(&c.StepTimeout, s.Performance.Timeout, "performance.timeout_ms", 10)
	set(&c.Override, s.Override)
	for _, at := range []*bool{s.AtOnce, s.Performance.AtOnce} {
		if at != nil {
			c.Parallel = 1
			if *at {
				c.Parallel = parallel
			}
		}
	}
	for name, least := range s.Tools {
		tool := score.Tool(name)
		if !slices.Contains(allTools, tool) {
			r.wrong("%s.tool_confidence: no tool is called %q; there are %v", key, name, allTools)
			continue
		}
		to := c.Tools[tool]
		r.share(&to, &least, key+".tool_confidence."+name)
		c.Tools[tool] = to
	}
	r.within(&c.Context, s.Memory.Context, key+".memory.max_context_size", 256, 1<<20)
	seconds := int(c.CacheTTL.Seconds())
	r.within(&seconds, s.Memory.TTL, key+".memory.cache_ttl_seconds", 0, 86_400)
	c.CacheTTL = time.Duration(seconds) * time.Second
	r.within(&c.PlanCache, s.Performance.PlanCache, key+".performance.plan_cache_size", 0, 10_000)
	set(&c.Audit.Enabled, s.Audit.Enabled)
	set(&c.Audit.Raw, s.Audit.Raw)
	if l := s.Audit.Level; l != nil {
		level, ok := map[string]slog.Level{"DEBUG": slog.LevelDebug, "INFO": slog.LevelInfo, "WARNING": slog.LevelWarn, "ERROR": slog.LevelError}[*l]
		if !ok {
			r.wrong("%s.audit.log_level is %q, and is DEBUG, INFO, WARNING or ERROR", key, *l)
		}
		c.Audit.Level = level
	}
}

// Fits reports what is wrong with the templates for the verbs of a registry: a verb that is not there, or
// an argument that does not fit.
func (c *Config) Fits(reg *verbs.Registry) error {
	var r reader
	for i, t := range c.Templates {
		for _, d := range reg.CheckText(t.Name, slot.ReplaceAllString(t.Steps, "x")) {
			if slices.Contains([]string{"unknown-verb", "unknown-argument", "missing-argument"}, d.Code) {
				r.wrong("templates[%d].steps: %s", i, d.Summary)
			}
		}
	}
	return errors.Join(r.problems...)
}

var slot = regexp.MustCompile(`\{([a-z][a-z0-9_]*)\}`)

// prepare checks a template, and makes it ready for use.
func (t *Template) prepare() error {
	if t.Name == "" || len(t.Asks) == 0 {
		return errors.New("it needs a name, and says under asks what is asked")
	}
	if script, ds := dsl.Parse(dsl.NewSource(t.Name, slot.ReplaceAllString(t.Steps, "x"))); ds.HasErrors() || len(script.Calls) == 0 {
		return errors.New("its steps are no script")
	}
	for _, place := range slot.FindAllString(t.Steps, -1) {
		if i := slices.IndexFunc(t.Asks, func(ask string) bool { return !strings.Contains(ask, place) }); i >= 0 {
			return fmt.Errorf("its steps have %s, and %q does not", place, t.Asks[i])
		}
	}
	for _, ask := range t.Asks {
		var b strings.Builder
		b.WriteString(`(?i)^\s*`)
		at := 0
		for _, m := range slot.FindAllStringSubmatchIndex(ask, -1) {
			b.WriteString(spaced(ask[at:m[0]]))
			b.WriteString("(?P<" + ask[m[2]:m[3]] + ">.+?)")
			at = m[1]
		}
		b.WriteString(spaced(ask[at:]) + `[\s?.!]*$`)
		re, err := regexp.Compile(b.String())
		if err != nil {
			return fmt.Errorf("%q cannot be read", ask)
		}
		for i, name := range re.SubexpNames() {
			if name != "" && re.SubexpIndex(name) != i {
				return fmt.Errorf("%q: {%s} stands in it twice", ask, name)
			}
		}
		t.asks = append(t.asks, re)
	}
	return nil
}

// spaced returns a regular expression for a text that allows any white space for a blank.
func spaced(text string) string {
	return regexp.MustCompile(`\s+`).ReplaceAllString(regexp.QuoteMeta(strings.TrimRight(text, "?.!")), `\s+`)
}

// plan returns the script of the template for a question; "" if the template is for others.
func (t *Template) plan(question string) string {
	if len(t.When) > 0 && !slices.ContainsFunc(t.When, func(w string) bool {
		return strings.Contains(strings.ToLower(question), strings.ToLower(w))
	}) {
		return ""
	}
	for _, re := range t.asks {
		m := re.FindStringSubmatch(question)
		if m == nil {
			continue
		}
		return slot.ReplaceAllStringFunc(t.Steps, func(s string) string {
			return inText(strings.Trim(strings.TrimSpace(m[re.SubexpIndex(s[1:len(s)-1])]), `"'“”„«»`))
		})
	}
	return ""
}

// inText returns a text in the form in which it stands inside the quotation marks of a script.
func inText(text string) string {
	quoted := dsl.FormatValue(dsl.NewString(text))
	return quoted[1 : len(quoted)-1]
}
