package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"verbatim/dsl"
	"verbatim/runtime/domains/client"
	"verbatim/runtime/domains/confidence"
	"verbatim/runtime/domains/kiisha"
	"verbatim/runtime/domains/kyc"
	"verbatim/runtime/domains/manda"
	"verbatim/runtime/domains/rights"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/files/services"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/jobs/workflow"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/uploads"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// Rights are managed by verbs of the system palette, which is part of the program and is loaded
// with the palettes of the directory.

// wholePalettes loads the palettes of the directory and the system palette.
func (a *app) wholePalettes(flag string) (*verbs.Registry, error) {
	reg, err := a.palettes(flag, rights.Source())
	if err == nil {
		if beside := ownPalettes(reg); len(beside) > 1 {
			reg, err = a.palettes(flag, beside...)
		}
	}
	if err == nil {
		rights.Follow(reg)
	}
	return reg, err
}

// ownPalettes returns the palettes of this program that are loaded with those of a directory.
func ownPalettes(reg *verbs.Registry) []*dsl.Source {
	own := []*dsl.Source{rights.Source()}
	if len(reg.Channels()) > 0 {
		own = append(own, channel.Source())
	}
	if reg.Plans() {
		own = append(own, workflow.Source(), confidence.Source())
	}
	return own
}

// palettesFor loads the palettes of this program only if one of the given verbs is theirs.
func (a *app) palettesFor(flag string, verbs ...string) (*verbs.Registry, error) {
	reg, err := a.palettes(flag)
	if err != nil || !slices.ContainsFunc(verbs, func(v string) bool { return reg.Verb(v) == nil }) {
		return reg, err
	}
	whole, err := a.wholePalettes(flag)
	if err != nil {
		return nil, err
	}
	own := func(v string) bool {
		domain, _, _ := strings.Cut(v, ".")
		return whole.Palette(domain) != nil && reg.Palette(domain) == nil
	}
	if slices.ContainsFunc(verbs, own) {
		return whole, nil
	}
	return reg, nil
}

// declared counts the entities that the palettes of the directory declare.
func declared(reg *verbs.Registry) int {
	n := 0
	for _, e := range reg.Entities() {
		if !strings.HasPrefix(e.Store.Table, "system.") {
			n++
		}
	}
	return n
}

// newEngine joins palettes and a store.
func (a *app) newEngine(reg *verbs.Registry, store stores.Store, tools tools.Servers) (*engine.Engine, error) {
	return a.newEngineAt(reg, store, tools, a.now)
}

// A setup is what most subcommands need: where the palettes, the rows and the tool servers are, and
// the principal.
type setup struct{ palettes, store, servers, as string }

// setupFlags declares the flags of a setup, without servers. as describes whose name --as wants.
func (a *app) setupFlags(cmd *cobra.Command, s *setup, as string) {
	a.palettesFlag(cmd, &s.palettes)
	a.storeFlag(cmd, &s.store)
	cmd.Flags().StringVar(&s.as, "as", "", as+" (default $VERBATIM_AS)")
	_ = cmd.RegisterFlagCompletionFunc("as", a.completeNames(&s.store, &s.palettes))
}

// wire builds the registry, store and engine for a subcommand. The caller closes the store.
func (a *app) wire(ctx context.Context, s setup, tools tools.Servers) (*verbs.Registry, stores.Store, *engine.Engine, error) {
	if _, err := a.zone(); err != nil {
		return nil, nil, nil, err
	}
	reg, err := a.wholePalettes(s.palettes)
	if err != nil {
		return nil, nil, nil, err
	}
	store, err := a.openWrapped(ctx, s.store)
	if err != nil {
		return nil, nil, nil, err
	}
	eng, err := a.newEngine(reg, store, tools)
	if err != nil {
		store.Close()
		return nil, nil, nil, a.runFailed(err)
	}
	return reg, store, eng, nil
}

// openWrapped opens the store for use, as a test may have it.
func (a *app) openWrapped(ctx context.Context, flag string) (stores.Store, error) {
	store, err := a.open(ctx, flag)
	if err == nil && a.wraps != nil {
		store = a.wraps(store)
	}
	return store, err
}

// domains register the handlers of a domain, if one of its verbs is declared.
var domains = map[string]func(*engine.Handlers){
	"channel.receive": channel.Register, "confidence.assess": confidence.Register, "graph.connections": confidence.RegisterGraph, "kiisha.suggest-link": kiisha.Register, "kyc.verify": kyc.Register, "manda.query-knowledge-base": manda.Register,
}

// handlers returns the program's handlers. A palette may have verbs that they do not cover.
func handlers(reg *verbs.Registry) *engine.Handlers {
	h := &engine.Handlers{Partial: true}
	rights.Register(h, reg)
	client.Register(h, reg)
	if reg.Plans() {
		workflow.Register(h, reg)
	}
	for verb, register := range domains {
		if reg.Verb(verb) != nil {
			register(h)
		}
	}
	return h
}

// newEngineAt is newEngine with a clock.
func (a *app) newEngineAt(reg *verbs.Registry, store stores.Store, tools tools.Servers, clock func() time.Time) (*engine.Engine, error) {
	zone, err := a.zone()
	if err != nil {
		return nil, err
	}
	if _, err := a.tokensOfADay(); err != nil { // even if these palettes use none
		return nil, err
	}
	h := handlers(reg)
	scanner := ""
	if a.env("VERBATIM_SCAN") != "" {
		s, err := a.scanner("")
		if err != nil {
			return nil, err
		}
		scanner = s.String()
	}
	var eng *engine.Engine
	var complete services.Complete
	if slices.ContainsFunc(reg.Verbs(), func(v *verbs.Verb) bool { return carriedBy(v, modelsServer, figuresServer) }) {
		if complete, err = a.completes(); err != nil {
			return nil, err
		}
	}
	own := a.services(reg, tools, func() *engine.Engine { return eng }, complete)
	o := engine.Options{Clock: clock, Zone: zone, Handlers: h, Tools: own, People: engine.People{Authority: rights.Authority(reg), Profile: rights.Profile(reg), Deciders: rights.Deciders(reg), Standing: rights.Standing(reg)}, Scanner: scanner, Observe: a.observe, Agreed: a.noteAgreed}
	if len(reg.Channels()) > 0 || reg.Plans() {
		o.People.TellsAsker = tellsAsker
	}
	o.Keep = func(ctx context.Context, session *engine.Session, verb, name string, content []byte, lasts time.Duration) (uploads.Upload, error) {
		s, err := a.shelf(ctx, eng)
		if err != nil {
			return uploads.Upload{}, err
		}
		defer s.Files.Close()
		return s.Keep(ctx, session, verb, name, content, lasts)
	}
	if model := a.env("VERBATIM_EMBED"); model != "" {
		if o.Embedder, err = a.embedder(model); err != nil {
			return nil, err
		}
	}
	eng, err = engine.New(reg, store, o)
	return eng, err
}

// The names under which palettes call functions of this program: those that read files, extract
// figures, describe files, and ask a model.
const (
	documentsServer = "documents"
	figuresServer   = "figures"
	filingServer    = "filing"
	modelsServer    = "models"
)

var ownServers = []string{documentsServer, figuresServer, filingServer, modelsServer}

// carriedBy reports whether a verb calls one of some servers.
func carriedBy(v *verbs.Verb, servers ...string) bool {
	return v.Tool != nil && slices.Contains(servers, v.Tool.Server)
}

// services puts the functions of this program in front of the tools of other servers.
func (a *app) services(reg *verbs.Registry, others tools.Servers, eng func() *engine.Engine, complete services.Complete) tools.Servers {
	if !slices.ContainsFunc(reg.Verbs(), func(v *verbs.Verb) bool { return carriedBy(v, ownServers...) }) {
		return others
	}
	open := func(ctx context.Context, reference string) (string, io.ReadCloser, error) {
		s, err := a.shelf(ctx, eng())
		if err != nil {
			return "", nil, err
		}
		name, content, err := s.Open(ctx, reference)
		if err != nil {
			s.Files.Close()
			return "", nil, err
		}
		return name, both{content, s.Files}, nil
	}
	read := services.Reads(open)
	return tools.Services{Own: map[string]map[string]tools.Service{documentsServer: services.Documents(read), figuresServer: manda.Services(read, complete), filingServer: kiisha.Services(open, read), modelsServer: services.Models(complete)}, Others: others}
}

// dayTokens is how many tokens palettes may use in a day, unless VERBATIM_MODEL_TOKENS is set. Each
// process counts its own.
const dayTokens = 1_000_000

// tokensOfADay returns how many tokens palettes may use in a day.
func (a *app) tokensOfADay() (int, error) {
	tokens := a.env("VERBATIM_MODEL_TOKENS")
	if tokens == "" {
		return dayTokens, nil
	}
	n, err := strconv.Atoi(tokens)
	if err != nil || n < 1 {
		return 0, usage("VERBATIM_MODEL_TOKENS counts the tokens of a day, and "+strconv.Quote(tokens)+" is no number above 0", "VERBATIM_MODEL_TOKENS=1000000")
	}
	return n, nil
}

// shelf opens the files of the store, for verbs that read or write some. They are scanned as
// uploads are.
func (a *app) shelf(ctx context.Context, eng *engine.Engine) (*intake.Service, error) {
	scanner := intake.NoScanner
	if a.env("VERBATIM_SCAN") != "" {
		var err error
		if scanner, err = a.scanner(""); err != nil {
			return nil, err
		}
	}
	where, err := a.filesAt("", a.stands)
	if err != nil {
		return nil, err
	}
	kept, err := a.openFiles(ctx, where)
	if err != nil {
		return nil, err
	}
	return &intake.Service{Engine: eng, Files: kept, Scanner: scanner, Clock: a.now}, nil
}

// A both closes two things with one Close.
type both struct {
	io.ReadCloser
	from io.Closer
}

func (b both) Close() error { return errors.Join(b.ReadCloser.Close(), b.from.Close()) }

// found makes the first administrators.
func (a *app) found(ctx context.Context, where, palettes string, names []string) error {
	if len(names) == 0 {
		return nil
	}
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return err
	}
	at, err := a.storeAddress(where)
	if err != nil {
		return err
	}
	// The rows are written by the role that uses the store, not by the owner of its tables.
	store, err := a.open(ctx, where)
	var no *stop
	if errors.As(err, &no) && no.code == "store-role" {
		no.next = "the tables are migrated; give --administrator in a second verbatim migrate, whose --store names the role that runs use"
	}
	if err != nil {
		return err
	}
	defer store.Close()
	there, err := rights.CreateAdministrators(ctx, reg, store, names, a.now(), uuid.NewString)
	switch {
	case errors.Is(err, rights.ErrHasAdministrators):
		return &stop{exitRefused, "administrator-exists", "the tables are migrated, and no administrator was made: there are two, who can make others",
			"as one of them: verbatim run with system.grant-high-role; the other agrees with verbatim confirm"}
	case err != nil:
		return broken("the administrator could not be made", err, "nothing was changed; try again")
	}
	if !a.json {
		fmt.Fprintf(a.out, "ok   %s: first administrator %s\n", at, receipt.Safe(strings.Join(names, " and ")))
	}
	if there == 1 {
		fmt.Fprintf(a.err, "warning[one-administrator]: %s is alone, and can give no role that sees all rows and make no other administrator\nnext: verbatim migrate --administrator NAME, with a second name\n", receipt.Safe(names[0]))
	}
	return nil
}

// completeNames completes the names of principals, whether or not the system palette added them. It
// offers none if the store cannot be opened in time.
func (a *app) completeNames(store, palettes *string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), atOnce)
		defer cancel()
		s, err := a.open(ctx, *store)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.Close()
		names, _ := s.Principals(ctx)
		if l, err := loadPalettes(a.palettesDir(*palettes), rights.Source()); err == nil && l.reg != nil {
			more, _ := rights.Names(ctx, l.reg, s)
			names = append(names, more...)
		}
		// The names go to a shell, one per line.
		names = slices.DeleteFunc(names, func(name string) bool { return strings.ContainsFunc(name, unicode.IsControl) })
		slices.Sort(names)
		return slices.Compact(names), cobra.ShellCompDirectiveNoFileComp
	}
}

// atOnce is how long shell completion waits for a store.
const atOnce = 2 * time.Second
