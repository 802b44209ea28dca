package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/domains/rights"
	"verbatim/runtime/frontends/mcp/guard"
	"verbatim/runtime/protocols/mcp"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// guardFlags are the flags of `verbatim guard`.
type guardFlags struct {
	state, config, name, ask, listen, rules string
	show                                    bool
}

func guardCommand(a *app) *cobra.Command {
	var f guardFlags
	cmd := &cobra.Command{
		Use:     "guard [-- COMMAND… | URL]",
		Short:   "Stand before an MCP server: what may act is asked about, and journalled first",
		Example: "verbatim guard -- npx -y @modelcontextprotocol/server-filesystem@2026.8.31 ~/notes",
		Long: `A client starts it instead of the server, and sees the server's tools as they are. A call that
may act is shown to you as it will be sent, and sent after your yes. verbatim guard install CLIENT
puts it before all servers that a client has. See verbatim help guard-servers.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.show {
				return a.guardShow(f)
			}
			return a.guard(cmd.Context(), f, args)
		},
	}
	cmd.PersistentFlags().StringVar(&f.state, "state", "", "the `folder` of pins and journal (default $VERBATIM_GUARD or the user's state)")
	own := cmd.Flags()
	own.StringVar(&f.config, "config", "", "stand before all servers of a client's `file`, with their names kept apart")
	own.StringVar(&f.name, "name", "", "what the server is called (default its package)")
	own.StringVar(&f.ask, "ask", guard.AskClient, "`who` asks you: client, or page, of which the client learns nothing")
	own.StringVar(&f.listen, "listen", "", "serve clients over HTTP on this `address` of this machine")
	own.StringVar(&f.rules, "rules", "", "your rules, a `file` (default guard.yaml in the state folder)")
	own.BoolVar(&f.show, "show", false, "write palettes and a servers file for what is guarded, to go on by hand")
	cmd.AddCommand(a.guardInstall(&f), a.guardStatus(&f), a.guardStop(&f), a.guardAccept(&f))
	return cmd
}

// guardState opens the folder.
func (a *app) guardState(f guardFlags) (*guard.State, error) {
	dir := cmp.Or(f.state, a.env("VERBATIM_GUARD"))
	if dir == "" {
		if dir = a.stateFolder(); dir == "" {
			return nil, usage("there is no folder for what guard remembers", "name one with --state DIR")
		}
		dir = filepath.Join(dir, "guard")
	}
	state, err := guard.OpenState(dir)
	if err != nil {
		return nil, broken("the folder of guard cannot be used", err, "see who may write "+quoted(dir)+", or name another with --state")
	}
	return state, nil
}

// guarded returns the servers that are guarded.
func (a *app) guarded(f guardFlags, args []string) ([]guard.Server, error) {
	if f.config != "" {
		if len(args) > 0 {
			return nil, usage("--config names all servers", "leave the command out")
		}
		text, err := os.ReadFile(f.config)
		if err != nil {
			return nil, usage(fmt.Sprintf("the servers in %s cannot be read: %s", quoted(f.config), reason(err)), "name a client's file, such as .mcp.json")
		}
		all, err := guard.ReadServers(text)
		if err != nil {
			return nil, usage(quoted(f.config)+": "+receipt.Safe(err.Error()), "name a client's file, such as .mcp.json")
		}
		return all, nil
	}
	if len(args) == 0 {
		return nil, usage("which server?", "verbatim guard -- COMMAND…, verbatim guard URL, or --config FILE")
	}
	s := guard.Server{Command: args}
	if len(args) == 1 && (strings.HasPrefix(args[0], "https://") || strings.HasPrefix(args[0], "http://")) {
		s.URL, s.Command = args[0], nil
		if text := a.env("VERBATIM_GUARD_HEADERS"); text != "" && json.Unmarshal([]byte(text), &s.Headers) != nil {
			return nil, usage(guard.HeadersVariable+" holds no headers", `it is an object of texts: {"Authorization": "Bearer …"}`)
		}
	}
	s.Name = cmp.Or(f.name, guard.NameOf(s))
	return []guard.Server{s}, nil
}

// guard serves a client, or those that come to an address.
func (a *app) guard(ctx context.Context, f guardFlags, args []string) error {
	if f.ask != guard.AskClient && f.ask != guard.AskPage {
		return usage(fmt.Sprintf("--ask is client or page, and not %q", f.ask), "leave it out")
	}
	state, err := a.guardState(f)
	if err != nil {
		return err
	}
	servers, err := a.guarded(f, args)
	if err != nil {
		return err
	}
	file := cmp.Or(f.rules, state.Path("guard.yaml"))
	rules := guard.OpenRules(file, f.rules != "")
	if _, err := rules.Now(state, false); err != nil {
		return &stop{exitUsage, "bad-rules", fmt.Sprintf("the rules in %s cannot be used: %s", quoted(file), receipt.Safe(err.Error())), "nothing passes until they are right: verbatim help guard-servers shows some"}
	}
	own := []string{file}
	if f.config != "" {
		own = append(own, f.config)
	}
	for _, c := range guard.Clients(runtime.GOOS, a.env) {
		own = append(own, c.File)
	}
	if a.env("GOGC") == "" {
		debug.SetGCPercent(100) // it runs for long, and beside others of its kind
	}
	store, key, err := openGuarded(ctx, state)
	if err != nil {
		return broken("the journal of guard cannot be opened, and nothing that acts may pass without it", err, "see who may write "+quoted(state.Dir)+", or name another folder with --state")
	}
	defer store.Close()
	version, _ := built()
	g, err := guard.New(guard.Options{Servers: servers, Apart: f.config != "", State: state, Store: store, Key: key, Rules: rules, Own: own, Ask: f.ask,
		Who: a.osUser(), Show: a.shows(), Clock: a.now, Version: version, Log: a.err})
	if err != nil {
		return err
	}
	if f.listen != "" {
		err = a.guardListens(ctx, g, f.listen)
	} else if in, is := a.in.(io.ReadCloser); is {
		err = g.Serve(ctx, in, a.sent)
	} else {
		err = g.Serve(ctx, io.NopCloser(a.in), a.sent)
	}
	if closed := g.Close(); closed != nil {
		fmt.Fprintln(a.err, "guard:", receipt.Safe(closed.Error()))
	}
	var told *stop
	if err != nil && !errors.As(err, &told) {
		return broken("the client can no longer be answered", err, "start it again")
	}
	return err
}

// openGuarded opens the journal. A new one gets the tables with which verbatim log reads it.
func openGuarded(ctx context.Context, state *guard.State) (store *sqlite.Store, key []byte, err error) {
	err = state.Opening(func(first bool) error {
		if store, err = sqlite.Open(state.Path("guard.db")); err != nil || !first {
			return err
		}
		own, _ := load.Sources(rights.Source())
		all := append(ownTables(), guard.Entities()...)
		for _, e := range own.Entities() {
			all = append(all, e.Store)
		}
		_, err := store.Migrate(ctx, all, true)
		return err
	})
	var id stores.Identity
	if err == nil {
		id, err = store.Identity(ctx)
	}
	if err != nil && store != nil {
		store.Close()
	}
	return store, id.Secret, err
}

// osUser is the name of the user of the operating system.
func (a *app) osUser() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return cmp.Or(a.env("USER"), "somebody")
}

// shows returns what brings a page before the person: a browser, or the terminal. The client sees
// neither.
func (a *app) shows() func(string) error {
	program := a.env("BROWSER")
	if program == "" {
		switch {
		case runtime.GOOS == "darwin":
			program = "open"
		case runtime.GOOS == "windows":
			program = "explorer"
		case a.env("DISPLAY") != "" || a.env("WAYLAND_DISPLAY") != "":
			program = "xdg-open"
		}
	}
	return guard.Shows(program)
}

// guardListens serves clients of this machine over HTTP.
func (a *app) guardListens(ctx context.Context, g *guard.Guard, at string) error {
	host, _, err := net.SplitHostPort(at)
	if ip := net.ParseIP(host); err != nil || host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return usage(fmt.Sprintf("--listen is an address of this machine, and not %q", at), "--listen 127.0.0.1:8090")
	}
	l, err := net.Listen("tcp", at)
	if err != nil {
		return broken("guard cannot listen on "+at, err, "name another port")
	}
	token := cmp.Or(a.env("VERBATIM_GUARD_TOKEN"), rand.Text())
	fmt.Fprintf(a.err, "guard: serving http://%s/%s/mcp; the same without the token, with Authorization: Bearer %s\n", l.Addr(), token, token)
	return g.Listen(ctx, l, token)
}

func (a *app) guardInstall(f *guardFlags) *cobra.Command {
	var undo bool
	var ask, file string
	cmd := &cobra.Command{
		Use: "install CLIENT", Short: "Put guard before all servers of a client", Example: "verbatim guard install claude-desktop",
		Long: "CLIENT is claude-desktop, claude-code, cursor or vscode. Start it again afterwards.",
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			state, err := a.guardState(*f)
			if err != nil {
				return err
			}
			all := guard.Clients(runtime.GOOS, a.env)
			i := slices.IndexFunc(all, func(c guard.Client) bool { return c.Name == args[0] })
			if i < 0 {
				return usage(fmt.Sprintf("guard does not know where %q keeps its servers", args[0]), "claude-desktop, claude-code, cursor or vscode; elsewhere write verbatim guard -- before the command")
			}
			c := all[i]
			c.File = cmp.Or(file, c.File)
			if undo {
				left, err := state.Uninstall(c)
				if err != nil {
					return usage(receipt.Safe(err.Error()), "see what stands in "+quoted(c.File))
				}
				fmt.Fprintf(a.out, "undone  %s is as it was\n", c.File)
				for _, name := range left {
					fmt.Fprintf(a.out, "left    %s was changed by somebody since, and stays\n", receipt.Safe(name))
				}
				return nil
			}
			self, err := os.Executable()
			if err != nil {
				return broken("this program does not know where it is", err, "write verbatim guard -- before the command")
			}
			var flags []string
			if ask != "" {
				flags = []string{"--ask", ask}
			}
			names, err := state.Install(c, self, flags...)
			if err != nil {
				return usage(fmt.Sprintf("the servers of %s cannot be changed: %s", c.Name, receipt.Safe(err.Error())), "name its file with --file")
			}
			for _, name := range names {
				fmt.Fprintf(a.out, "guarded  %s\n", receipt.Safe(name))
			}
			fmt.Fprintf(a.out, "%s  %s; verbatim guard install --undo %s puts it back\n", receipt.Counted(len(names), "server"), c.File, c.Name)
			return nil
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "put the file back as it was")
	cmd.Flags().StringVar(&ask, "ask", "", "`who` asks you: client or page")
	cmd.Flags().StringVar(&file, "file", "", "the client's `file`, if it is elsewhere")
	return cmd
}

func (a *app) guardStatus(f *guardFlags) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Say what is guarded, who is served, and what waits for you", Example: "verbatim guard status",
		Args: atMost(0),
		RunE: func(*cobra.Command, []string) error {
			state, err := a.guardState(*f)
			if err != nil {
				return err
			}
			known, err := state.Known()
			if err != nil {
				return broken("what servers said cannot be read", err, "put "+state.Path("pins.json")+" back")
			}
			if a.json {
				a.emit(struct {
					Schema  string          `json:"schema"`
					State   string          `json:"state"`
					Servers []guard.Known   `json:"servers"`
					Clients []guard.Running `json:"clients"`
					Stopped []string        `json:"stopped"` // "" for all
				}{"verbatim/guard@1", state.Dir, append([]guard.Known{}, known...), append([]guard.Running{}, state.Running()...), append([]string{}, state.Stopped()...)})
				return nil
			}
			for _, k := range known {
				reads := "all are asked about"
				if k.Asked {
					reads = fmt.Sprintf("%d pass as reading", k.Reads)
				}
				fmt.Fprintf(a.out, "server   %s\t%s, %s\n", receipt.Safe(k.Name), receipt.Counted(k.Tools, "tool"), reads)
				if unfixed := guard.Unfixed(k.Server.Command); unfixed != "" {
					fmt.Fprintf(a.out, "         runs %s in whatever version is newest\n", receipt.Safe(unfixed))
				}
				for _, name := range k.Offered {
					fmt.Fprintf(a.out, "changed  %s\tverbatim guard accept %s %s\n", receipt.Safe(name), k.Name, shell(name))
				}
			}
			for _, r := range state.Running() {
				fmt.Fprintf(a.out, "client   %s\tsince %s, %s\n", receipt.Safe(r.Client), stamp(r.Since), strings.Join(r.Servers, " "))
			}
			for _, name := range state.Stopped() {
				if name == "" {
					fmt.Fprintln(a.out, "stopped  all clients\tverbatim guard stop --undo")
					continue
				}
				fmt.Fprintf(a.out, "stopped  %s\tverbatim guard stop --undo %s\n", receipt.Safe(name), shell(name))
			}
			fmt.Fprintf(a.out, "journal  verbatim log show --store %s\n", shell(state.Path("guard.db")))
			return nil
		},
	}
}

func (a *app) guardStop(f *guardFlags) *cobra.Command {
	var undo bool
	cmd := &cobra.Command{
		Use: "stop [CLIENT]", Short: "Let a client ask servers for nothing any more, at once and everywhere", Example: "verbatim guard stop",
		Long: `CLIENT is what verbatim guard status lists; without it all clients are stopped. Nothing is
sent until --undo. A client says itself what it is called, and one that is not to be trusted
may come back under another name: stop all then.`,
		Args: atMost(1),
		RunE: func(_ *cobra.Command, args []string) error {
			client, title := strings.Join(args, ""), cmp.Or(strings.Join(args, ""), "all clients")
			state, err := a.guardState(*f)
			if err == nil && undo {
				if err = state.Go(client); errors.Is(err, os.ErrNotExist) {
					return usage(fmt.Sprintf("%q was not stopped", title), "verbatim guard status lists who was")
				}
			} else if err == nil {
				err = state.Stop(client)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s  %s\n", map[bool]string{true: "goes on", false: "stopped"}[undo], receipt.Safe(title))
			return nil
		},
	}
	cmd.Flags().BoolVar(&undo, "undo", false, "let it go on")
	return cmd
}

func (a *app) guardAccept(f *guardFlags) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "accept SERVER [TOOL…]", Short: "Read what tools say of themselves now, and accept it", Example: "verbatim guard accept filesystem write_file --yes",
		Long: "Old words have a -, new ones a +. Nothing is accepted without --yes; without TOOL, all are.",
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			state, err := a.guardState(*f)
			if err != nil {
				return err
			}
			offered, err := state.Offered(args[0], args[1:]...)
			if err != nil {
				return usage(receipt.Safe(err.Error()), "verbatim guard status lists servers and what waits")
			}
			for _, o := range offered {
				fmt.Fprintf(a.out, "%s\n%s", receipt.Safe(o.Tool), o.Difference)
			}
			if !yes || len(offered) == 0 {
				fmt.Fprintf(a.out, "%s; nothing was accepted\n", receipt.Counted(len(offered), "change"))
				return nil
			}
			names, err := state.Accept(args[0], args[1:]...)
			if err != nil {
				return err
			}
			slices.Sort(names)
			fmt.Fprintf(a.out, "accepted  %s\n", receipt.Safe(strings.Join(names, ", ")))
			return nil
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "accept what is shown")
	return cmd
}

// guardShow writes what is guarded as palettes and a servers file.
func (a *app) guardShow(f guardFlags) error {
	state, err := a.guardState(f)
	if err != nil {
		return err
	}
	known, err := state.Known()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state.Path("verbs"), 0o700); err != nil {
		return err
	}
	var accepted mcp.Accepted
	servers := "servers:\n"
	for _, k := range known {
		quotedName, _ := json.Marshal(k.Name)
		servers += fmt.Sprintf("  %s:\n", quotedName)
		if k.Server.URL != "" {
			at, _ := json.Marshal(k.Server.URL)
			servers += fmt.Sprintf("    url: %s\n    local: true\n", at)
		} else {
			line, _ := json.Marshal(k.Server.Command)
			servers += fmt.Sprintf("    command: %s\n", line)
		}
		for _, s := range k.Said {
			accepted = accepted.With(s)
		}
		list, err := mcp.List(k.Said)
		if err != nil {
			return err
		}
		name, err := named("", k.Name+".x")
		if err != nil {
			return err
		}
		b, err := described(name, k.Name, k.Name, list)
		if err != nil {
			fmt.Fprintf(a.err, "guard: no palette for %s: %s\n", receipt.Safe(k.Name), receipt.Safe(err.Error()))
			continue
		}
		for _, p := range b.files {
			at := state.Path("verbs", filepath.Base(p.Name))
			if err := os.WriteFile(at, p.Text, 0o600); err != nil {
				return err
			}
			fmt.Fprintln(a.out, at)
		}
	}
	for file, text := range map[string][]byte{"servers.yaml": []byte(servers), "servers.accepted.json": accepted.Text()} {
		if err := os.WriteFile(state.Path(file), text, 0o600); err != nil {
			return err
		}
	}
	for _, file := range []string{"servers.yaml", "servers.accepted.json", "pins.json", "guard.db"} {
		fmt.Fprintln(a.out, state.Path(file))
	}
	return nil
}
