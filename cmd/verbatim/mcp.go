package main

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/mcp"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// mcpFlags are the flags of `verbatim mcp`.
type mcpFlags struct {
	setup
	sitting, origin string
	most            int
}

func mcpCommand(a *app) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:     "mcp",
		Short:   "Let the client of a model call verbs, over MCP on standard input and output",
		Example: `verbatim mcp --as clara </dev/null`,
		Long: `A client starts it, and each verb that you may use is a tool. It believes --as. What a rule
asks, the client asks you. verbatim serve is for clients elsewhere: verbatim help models-as-clients.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serveMCP(cmd.Context(), f) },
	}
	a.setupFlags(cmd, &f.setup, "your `name`, which is believed")
	a.serversFlag(cmd, &f.servers)
	cmd.Flags().StringVar(&f.sitting, "session", "", "continue your session of this `name`, or begin it")
	cmd.Flags().StringVar(&f.origin, "origin", "model", "`whose` words the client sends: model, script, tool=NAME or document=NAME")
	cmd.Flags().IntVar(&f.most, "tools", mcp.MostTools, "of more than `N` verbs, list three tools that find, describe and call them")
	return cmd
}

// serveMCP serves one client until it disconnects.
func (a *app) serveMCP(ctx context.Context, f mcpFlags) error {
	f.as = cmp.Or(f.as, a.env("VERBATIM_AS"))
	said, err := spoken(f.origin)
	switch {
	case f.as == "":
		return usage("who is asking?", "verbatim mcp --as NAME")
	case f.most < 0:
		return usage("--tools counts tools", "give a number")
	case err != nil:
		return err
	}
	said.Unheard = said.Origin.Kinds()&verbs.FromModel != 0
	tools, err := a.tools(f.servers)
	if err != nil {
		return err
	}
	reg, store, eng, err := a.wire(ctx, f.setup, tools)
	if err != nil {
		return err
	}
	defer store.Close()
	mark, err := a.marked(ctx, eng, store, f.store)
	if err != nil {
		return a.runFailed(err)
	}
	defer mark.keep(ctx)
	of, err := store.Identity(ctx)
	if err != nil {
		return a.runFailed(err)
	}
	name, _ := built()
	d, err := mcp.New(mcp.Options{Registry: reg, Seal: of.Secret, Clock: a.now, Search: a.finding(reg), Most: max(f.most, 1), Version: name, Log: a.logger("error")})
	if err != nil {
		return err
	}
	sitting := &sitting{open: func(ctx context.Context) (*engine.Session, error) { return begin(ctx, eng, f.as, f.sitting) }}
	if _, err := sitting.session(ctx); err != nil {
		return a.runFailed(err)
	}
	err = d.Serve(ctx, a.in, a.sent, &mcp.Caller{Key: f.as, Session: sitting.session, Said: said,
		Agree: func(id string) string {
			return fmt.Sprintf("verbatim confirm %s --as %s", receipt.Short(id), shell(f.as))
		}})
	if err != nil {
		return broken("the client can no longer be answered", err, "start it again")
	}
	return nil
}

// finding finds verbs by the palettes' phrases, which are indexed on first use.
func (a *app) finding(reg *verbs.Registry) func(string, []*verbs.Verb, int) []*verbs.Verb {
	index := sync.OnceValue(func() *intent.Index { return a.phrases(reg) })
	return func(words string, among []*verbs.Verb, most int) []*verbs.Verb {
		return index().Reader(intent.Vocabulary{Verbs: among}).Shortlist(words, most)
	}
}

// A sitting reopens its session from time to time, so that changed rights take effect.
type sitting struct {
	open func(context.Context) (*engine.Session, error)

	mu     sync.Mutex
	now    *engine.Session
	opened time.Time
}

// fresh is how long a session is used.
const fresh = time.Second

func (s *sitting) session(ctx context.Context) (*engine.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil && time.Since(s.opened) < fresh {
		return s.now, nil
	}
	// The session outlives the request that opens it.
	now, err := s.open(context.WithoutCancel(ctx))
	if err == nil {
		s.now, s.opened = now, time.Now()
	}
	return now, err
}
