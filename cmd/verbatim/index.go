package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/conversation/llm"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/stores/search"
)

func indexCommand(a *app) *cobra.Command {
	var store, palettes string
	cmd := &cobra.Command{
		Use:     "index verify|rebuild",
		Short:   "Compare the index of what is searched with its rows, or make it anew",
		Example: "verbatim index verify\nverbatim index rebuild",
		Long: `Rows of entities that declare search are found by an index. It follows each change that
goes through verbs. What another program writes into a table that it shares is not in it,
until it is made anew. Values that verbs cannot read, or that are written otherwise than
verbs keep them, are told as well.`,
		Args: exactly(1, "verify or rebuild"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "verify" && args[0] != "rebuild" {
				return usage(fmt.Sprintf("an index is there to verify or to rebuild, not to %q%s", args[0], didYouMean(args[0], []string{"verify", "rebuild"})), "verbatim index verify")
			}
			return a.index(cmd.Context(), store, palettes, args[0] == "rebuild")
		},
	}
	a.storeFlag(cmd, &store)
	a.palettesFlag(cmd, &palettes)
	return cmd
}

func (a *app) index(ctx context.Context, store, palettes string, anew bool) error {
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return err
	}
	s, err := a.open(ctx, store)
	if err != nil {
		return err
	}
	defer s.Close()
	type line struct {
		Entity string `json:"entity"`
		stores.IndexState
	}
	lines, unclean := []line{}, ""
	for _, e := range reg.Entities() {
		if e.Store.Search == nil {
			continue
		}
		state, err := s.Index(ctx, e.Store, anew)
		if err != nil {
			return a.runFailed(err)
		}
		if lines = append(lines, line{e.Store.Name, state}); !state.Clean() && unclean == "" {
			unclean = e.Store.Name
		}
	}
	wrong, otherwise, err := misfits(ctx, reg, s)
	if err != nil {
		return a.runFailed(err)
	}
	if a.json {
		a.emit(struct {
			Schema   string   `json:"schema"`
			Entities []line   `json:"entities"`
			Misfits  []string `json:"misfits,omitempty"`
		}{"verbatim/index@1", lines, slices.Concat(wrong, otherwise)})
	} else {
		for _, l := range lines {
			fmt.Fprintf(a.out, "%-5s%s: %s%s\n", map[bool]string{true: "ok", false: "!"}[l.Clean()], l.Entity, receipt.Counted(int(l.Rows), "row"), told(l.IndexState))
		}
		if len(lines) == 0 {
			fmt.Fprintln(a.out, "no entity is searched")
		}
		for _, says := range slices.Concat(wrong, otherwise) {
			fmt.Fprintln(a.out, "!    "+says)
		}
	}
	if unclean != "" {
		return &stop{exitInput, "index-stale", "the index of " + unclean + " is not as its rows are", "verbatim index rebuild makes it anew; nothing else depends on it"}
	}
	return nil
}

// told describes the faults of an index.
func told(s stores.IndexState) string {
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{s.Missing, "missing"}, {s.Stale, "stale"}, {s.Stray, "of no row"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	return strings.TrimSuffix(": "+strings.Join(parts, ", "), ": ")
}

// An embedder makes vectors with a model.
type embedder struct {
	llm.Model
	name string
}

func (e *embedder) Maker() string { return e.name }

// mostEmbedded is how many bytes of a text are embedded: models accept that many.
const mostEmbedded = 8000

func (e *embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	cut := make([]string, len(texts))
	for i, t := range texts {
		cut[i] = strings.ToValidUTF8(t[:min(len(t), mostEmbedded)], "")
	}
	vectors, _, err := e.Model.Embed(ctx, cut)
	return vectors, err
}

// embedder returns the model that VERBATIM_EMBED names.
func (a *app) embedder(model string) (*embedder, error) {
	base := cmp.Or(a.env("VERBATIM_EMBED_URL"), a.env("VERBATIM_BASE_URL"))
	if model == search.Letters || base == "" {
		return nil, usage("VERBATIM_EMBED names a model, and no endpoint is known that has it", "VERBATIM_EMBED_URL=http://localhost:11434/v1 says where, as VERBATIM_BASE_URL does")
	}
	client, err := llm.New(llm.Config{BaseURL: base, Key: a.env("VERBATIM_MODEL_KEY"), Model: model, Embedding: model, Random: rand.Float64, Now: a.now})
	if err != nil {
		return nil, usage(err.Error(), "VERBATIM_EMBED_URL is an address like http://localhost:11434/v1")
	}
	e := &embedder{client, model}
	if tokens := a.env("VERBATIM_EMBED_TOKENS"); tokens != "" {
		n, err := strconv.Atoi(tokens)
		if err != nil || n < 1 {
			return nil, usage("VERBATIM_EMBED_TOKENS counts the tokens of a day, and "+strconv.Quote(tokens)+" is no number above 0", "VERBATIM_EMBED_TOKENS=1000000")
		}
		e.Model = llm.Limited(client, llm.NewDailyBudget("embeddings", n, a.now))
	}
	return e, nil
}
