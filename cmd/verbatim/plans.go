package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/llm"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/domains/confidence/react"
	"verbatim/runtime/domains/kyc/redact"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/runtime/jobs/serviceaccount"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/trustgraph"
	"verbatim/runtime/protocols/trustgraph/rabbit"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Plans. If a palette says `plans: true`, the plan verbs are loaded, and servers and workers run
// their steps. VERBATIM_PLANS names a YAML file with thresholds and transports; the guide
// "answer-by-plans" describes it.

// planning makes plans and answers questions with them.
type planning struct {
	file   string
	config confidence.Config
	runner *workflow.Runner
	agent  *confidence.Agent
	answer *trustgraph.Switch
	log    *slog.Logger
}

// plansConfig reads the file of VERBATIM_PLANS; the default if it is not set.
func (a *app) plansConfig() (c confidence.Config, name string, err error) {
	if name = a.env("VERBATIM_PLANS"); name == "" {
		return confidence.DefaultConfig(), "", nil
	}
	c, err = readPlans(name)
	if err != nil {
		return c, name, usage(fmt.Sprintf("the file of plans %q cannot be used: %s", name, receipt.Safe(err.Error())), "verbatim help answer-by-plans")
	}
	return c, name, nil
}

func readPlans(name string) (c confidence.Config, err error) {
	f, err := os.Open(name)
	if err != nil {
		return c, errors.New(reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 2<<20))
	if err != nil {
		return c, errors.New(reason(err))
	}
	return confidence.ReadConfig(text)
}

// plans builds the planner for an engine; nil if no palette has plans.
func (a *app) plans(reg *verbs.Registry, store stores.Store, eng *engine.Engine, model llm.Model, clock func() time.Time, meter *server.Meter, log *slog.Logger) (*planning, error) {
	if !reg.Plans() {
		return nil, nil
	}
	config, file, err := a.plansConfig()
	if err != nil {
		return nil, err
	}
	if err := config.Fits(reg); err != nil {
		return nil, usage(fmt.Sprintf("the file of plans %q cannot be used: %s", file, receipt.Safe(err.Error())), "verbatim explain lists the verbs")
	}
	if config.As != confidence.DefaultConfig().As { // the file names them
		s, err := eng.Session(context.Background(), config.As)
		var refusal *engine.Refusal
		if err != nil && !errors.As(err, &refusal) {
			return nil, err
		}
		if err != nil || !s.May(reg.Verb("plan.note")) {
			return nil, usage(fmt.Sprintf("the file of plans %q cannot be used: as: %s is nobody with the role plan-runner", file, receipt.Safe(config.As)), "verbatim help make-plans says who notes what became of steps")
		}
	}
	host, _ := os.Hostname() // without one, the process id suffices
	p := &planning{file: file, config: config, log: log, runner: &workflow.Runner{
		Clerk: serviceaccount.Clerk{Registry: reg, Engine: eng, Store: store, As: config.As, Source: "plan"},
		Name:  strings.TrimSpace(host + " " + strconv.Itoa(os.Getpid())), Clock: clock}}
	p.agent = confidence.New(config, p.runner, model, clock)
	p.agent.Sanitize = sanitized
	count := func(trustgraph.Route, error) {}
	p.runner.Observe = logsPlans(config.Audit, log)
	if meter != nil {
		counts, logs := countingPlans(meter), p.runner.Observe
		p.runner.Observe = func(e workflow.Event) { counts(e); logs(e) }
		p.runner.Span, p.agent.Span = meter.Span, meter.Span
		count = func(route trustgraph.Route, _ error) { meter.Routed(string(route)) }
	}
	zone, err := a.zone()
	if err != nil {
		return nil, err
	}
	p.answer, err = trustgraph.NewSwitch(p.agent, reacting(eng, &react.Agent{Registry: reg, Model: model, Clock: clock, Zone: zone}, model != nil), config.Flags, count)
	return p, err
}

// plansAtWork builds a planner for a separate worker: it runs steps, but asks no model for plans.
func (a *app) plansAtWork(reg *verbs.Registry, store stores.Store, eng *engine.Engine, clock func() time.Time) (*planning, error) {
	return a.plans(reg, store, eng, nil, clock, nil, a.logger("error"))
}

// sanitized takes secrets and numbers of persons out of a question that is audited.
func sanitized(question string) string {
	text, _ := redact.Redact(credentials().ReplaceAllString(question, "$1[secret]"), redact.Record{})
	return text
}

var credentials = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(\b(?:pass(?:word|phrase|code)|pin|api[- ]?key|token|secret|passwort|kennwort|mot de passe|contraseña|clave)\b\W{0,3}(?:(?:is|was|ist|war|lautet|est|es)\b\W{0,3})?)[^\s,;]+`)
})

// logsPlans logs the end of each plan without its texts, and each attempt that failed for another
// reason than a refusal, since the asker is only told that the system failed.
func logsPlans(c confidence.Audit, log *slog.Logger) func(workflow.Event) {
	return func(e workflow.Event) {
		if at := e.Attempt; e.Kind == workflow.Attempted && at.Err != nil {
			var refusal *engine.Refusal
			switch says := at.Err.Error(); {
			case !errors.As(at.Err, &refusal):
				log.Error("a step of a plan failed", "plan", e.Plan.Key.Text(), "verb", at.Call.Verb, "attempt", at.Number, "error", says)
			case len(refusal.Diagnostics) > 0 && strings.HasPrefix(refusal.Diagnostics[0].Code, "tool-"):
				says = strings.Join(append([]string{refusal.Diagnostics[0].Summary}, refusal.Diagnostics[0].Notes...), "; ")
				log.Warn("a tool did not answer a step of a plan", "plan", e.Plan.Key.Text(), "verb", at.Call.Verb, "attempt", at.Number, "error", says)
			}
		}
		if p := e.Plan; c.Enabled && e.Kind == workflow.Finished && !p.Ended.IsZero() {
			log.Log(context.Background(), c.Level, "a plan has ended", "plan", p.Key.Text(), "status", p.Status, "steps", len(p.Steps), "took_ms", p.Ended.Sub(p.Started).Milliseconds())
		}
	}
}

// countingPlans counts plans in a meter.
func countingPlans(m *server.Meter) func(workflow.Event) {
	return func(e workflow.Event) {
		switch {
		case e.Kind == workflow.Attempted:
			at := e.Attempt
			m.Attempted(server.Attempt{Function: string(confidence.ToolOf(e.Step.Verb)), Score: at.Verdict.Score, Good: at.Verdict.Good, Number: at.Number, Took: at.Ended.Sub(at.Began)})
		case e.Kind == workflow.Settled && e.Step.Tries > 0:
			m.Settled(e.Step.Tries, e.Step.Status == "DONE")
		case e.Kind == workflow.Finished && !e.Plan.Ended.IsZero():
			m.Planned(len(e.Plan.Steps), e.Plan.Ended.Sub(e.Plan.Started))
		}
	}
}

// reacting is the older agent, which asks a model for each next step.
func reacting(eng *engine.Engine, agent *react.Agent, there bool) trustgraph.Agent {
	return trustgraph.AskFunc(func(ctx context.Context, who trustgraph.Caller, r trustgraph.Request, tell func(trustgraph.Message) error) error {
		if !there {
			return &trustgraph.Error{Type: trustgraph.AgentError, Message: "no model is set up here"}
		}
		s, err := eng.Session(ctx, who.Name)
		var refusal *engine.Refusal
		if errors.As(err, &refusal) {
			return &trustgraph.Error{Type: trustgraph.AccessDenied, Message: "access denied"}
		}
		if err != nil {
			return err
		}
		err = agent.Ask(ctx, s, r.Question, func(m react.Message) error {
			kind := map[react.Type]trustgraph.Type{react.Thought: trustgraph.Thought, react.Action: trustgraph.Action, react.Observation: trustgraph.Observation, react.Answer: trustgraph.Answer}[m.Type]
			return tell(trustgraph.Message{Type: kind, Content: m.Text, EndOfMessage: true})
		})
		var failed *react.Error
		if errors.As(err, &failed) {
			return &trustgraph.Error{Type: trustgraph.AgentError, Message: failed.Message}
		}
		return err
	})
}

// tellsAsker reports whether the asker must be told what others decided.
func tellsAsker(source string) bool { return channel.TellsAsker(source) || workflow.TellsAsker(source) }

// delivers handles notices of plans, and passes others to send, which may be nil.
func (p *planning) delivers(send func(context.Context, engine.Message) error) func(context.Context, engine.Message) error {
	if p == nil {
		return send
	}
	return func(ctx context.Context, m engine.Message) error {
		mine, err := p.runner.Deliver(ctx, m)
		if mine {
			return err
		}
		return nowhere(send)(ctx, m)
	}
}

// adaptEvery is how often thresholds are adapted; watchEvery is how often the file is checked for
// changed flags.
const (
	adaptEvery = time.Hour
	watchEvery = 2 * time.Second
)

// inBackground adapts thresholds within their bounds, and reloads changed flags, until ctx ends.
func (p *planning) inBackground(ctx context.Context) {
	if p == nil {
		return
	}
	was := changed(p.file)
	adapt, watch := time.NewTicker(adaptEvery), time.NewTicker(watchEvery)
	defer adapt.Stop()
	defer watch.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-adapt.C:
			if moved, err := p.agent.Adapt(ctx); err != nil {
				p.log.Error("thresholds", "error", err.Error())
			} else if len(moved) > 0 {
				p.log.Info("thresholds", "moved", moved)
			}
		case <-watch.C:
			if now := changed(p.file); now != was {
				was = now
				p.reload()
			}
		}
	}
}

// changed returns when a file was last changed; zero if there is none.
func changed(name string) time.Time {
	info, err := os.Stat(name)
	if name == "" || err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// reload reloads the flags of the file. It logs a mistake in the file and changes nothing then.
func (p *planning) reload() {
	c, err := readPlans(p.file)
	if err == nil {
		err = p.answer.Set(c.Flags)
	}
	if err != nil {
		p.log.Error("flags", "error", err.Error())
		return
	}
	p.log.Info("flags", "enabled", c.Flags.Enabled, "percent", c.Flags.Share, "fallback", c.Flags.Fallback)
}

// gateway has the server speak TrustGraph's gateway protocol, for programs with an API token; nil
// without plans.
func (p *planning) gateway(s *server.Server) *trustgraph.Gateway {
	if p == nil {
		return nil
	}
	g := &trustgraph.Gateway{Agent: p.answer, Shape: p.config.Wires.Shape, Log: p.log, Authenticate: func(ctx context.Context, token string) (trustgraph.Caller, error) {
		who, err := s.Bearer(ctx, token)
		if err != nil && !errors.Is(err, server.ErrNobody) && !errors.Is(err, logins.ErrTooMany) {
			err = fmt.Errorf("%w: %w", trustgraph.ErrUnasked, err)
		}
		return trustgraph.Caller{Name: who}, err
	}}
	s.Mount(server.Route{Pattern: "POST /api/v1/flow/{flow}/service/agent", Body: 1 << 20, Stream: true, Does: "Answers a question, as TrustGraph's gateway does.", Handle: server.Handler(g)},
		server.Route{Pattern: "GET /api/v1/socket", Stream: true, Does: "Answers questions over a WebSocket, as TrustGraph's gateway does.", Handle: server.Handler(g)})
	return g
}

// queue returns a function that serves questions from a broker until ctx ends; nil if there is no
// broker.
func (p *planning) queue(env func(string) string) (func(ctx context.Context) error, error) {
	if p == nil || p.config.Wires.URLEnv == "" {
		return nil, nil
	}
	w := p.config.Wires
	at := env(w.URLEnv)
	if at == "" {
		return nil, usage(fmt.Sprintf("the environment has no %s, which should hold the address of the broker", w.URLEnv), "set it, or take wires out of the file of plans")
	}
	q, err := rabbit.Open(rabbit.Config{URL: at, Request: w.Request, Response: w.Response, Subscription: w.Subscription, Prefetch: w.AtOnce, Log: p.log})
	if err != nil {
		return nil, usage("the queues cannot be used: "+receipt.Safe(err.Error()), "check wires and pulsar in the file of plans")
	}
	return func(ctx context.Context) error {
		defer q.Close()
		err := trustgraph.Serve(ctx, q, p.answer, trustgraph.Service{Caller: trustgraph.Caller{Name: w.Caller}, Shape: w.Shape, Concurrency: w.AtOnce, Log: p.log})
		if ctx.Err() != nil {
			return nil
		}
		return err
	}, nil
}

func logPlanCommand(a *app) *cobra.Command {
	var s setup
	cmd := &cobra.Command{
		Use:     "plan ID|@NAME",
		Short:   "The audit trail of a plan: steps, thresholds, scores and times",
		Example: "verbatim log plan @ends --as vera",
		Long: `Reads it out of the journal and compares it with the rows of the plan. It takes a role
with keeps: journal. No value of an answer stands in it, unless VERBATIM_PLANS says
include_raw_outputs.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			p, session, close, err := a.keepsPlans(cmd.Context(), s)
			if err != nil {
				return err
			}
			defer close()
			if !p.config.Audit.Enabled {
				return usage("the audit of plans is off", "VERBATIM_PLANS says audit: {enabled: false}")
			}
			record, err := p.agent.Audit(cmd.Context(), session, args[0])
			switch {
			case errors.Is(err, confidence.ErrDiffers):
				return broken("the audit trail cannot be trusted", err, "verbatim log verify, and verbatim log replay")
			case err != nil:
				return a.runFailed(err)
			case record == nil:
				return &stop{exitInput, "no-plan", "there is no such plan", "plan.list lists them; an answer names the plan that it came of"}
			}
			a.emit(record)
			return a.flush()
		},
	}
	a.setupFlags(cmd, &s, "the `name` of whoever keeps the journal")
	return cmd
}

// keepsPlans opens the store, the plans, and a session of an overseer.
func (a *app) keepsPlans(ctx context.Context, from setup) (p *planning, session *engine.Session, close func(), err error) {
	reg, s, eng, err := a.wire(ctx, from, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	close = func() { s.Close() }
	if p, err = a.plans(reg, s, eng, nil, a.now, nil, slog.New(slog.DiscardHandler)); err == nil && p == nil {
		err = usage("these palettes have no plans", "a palette that says plans: true has them")
	}
	if err == nil {
		if session, err = eng.Session(ctx, cmp.Or(from.as, a.env("VERBATIM_AS"))); err != nil {
			err = a.runFailed(err)
		}
	}
	if err != nil {
		close()
		return nil, nil, nil, err
	}
	return p, session, close, nil
}

func logTemplatesCommand(a *app) *cobra.Command {
	var s setup
	days, least := 30, 3
	cmd := &cobra.Command{
		Use:     "templates",
		Short:   "Templates for questions that were asked often and planned well",
		Example: "verbatim log templates --as vera --days 90",
		Long: `Prints templates for VERBATIM_PLANS, made of plans that answered questions of one shape with
nobody asked whether an answer will do. Names in a question become places. It takes a role with
keeps: journal. Nothing is changed: whoever runs the server takes over what they want.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if days < 1 || least < 2 {
				return usage("--days is at least 1, and --plans at least 2", "what was asked once is told to nobody")
			}
			p, session, close, err := a.keepsPlans(cmd.Context(), s)
			if err != nil {
				return err
			}
			defer close()
			all, err := p.agent.Proposals(cmd.Context(), session, a.now().AddDate(0, 0, -days), least)
			if err != nil {
				return a.runFailed(err)
			}
			if len(all) == 0 {
				fmt.Fprintln(a.out, "# no question of one shape was planned well that often")
				return a.flush()
			}
			fmt.Fprint(a.out, confidence.Templates(all))
			return a.flush()
		},
	}
	a.setupFlags(cmd, &s, "the `name` of whoever keeps the journal")
	flags := cmd.Flags()
	flags.IntVar(&days, "days", days, "look at plans of so many `days`")
	flags.IntVar(&least, "plans", least, "propose what went well in at least so many `plans`")
	return cmd
}
