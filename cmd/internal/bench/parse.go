package main

import (
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.starlark.net/syntax"

	"verbatim/dsl"
)

// single is the call of PERF-P2, 93 bytes.
const single = `client.add-note :request-id @pierre-sow :note "Accountant sends it" :expected-date 2025-01-03`

// parsing is PERF-P1 and PERF-P2: text to a full tree with ranges.
func parsing() (*race, func(), error) {
	const calls = 10_000
	corpus := script(calls)
	ours := verbatimText(corpus)
	star := starlarkText(corpus)
	blocks := []byte(hclText(corpus))
	object, err := jsonText(corpus)
	if err != nil {
		return nil, nil, err
	}
	if len(single) != 93 {
		return nil, nil, fmt.Errorf("the single call has %d bytes, 93 wanted", len(single))
	}

	// Nobody wins by refusing the input.
	if s, ds := dsl.Parse(dsl.NewSource("corpus", ours)); len(ds) > 0 || len(s.Calls) != calls {
		return nil, nil, fmt.Errorf("dsl read %d calls with %d diagnostics", len(s.Calls), len(ds))
	}
	dialect := new(syntax.FileOptions)
	if f, err := dialect.Parse("corpus", star, 0); err != nil || len(f.Stmts) != calls {
		return nil, nil, fmt.Errorf("starlark: %v", err)
	}
	if f, ds := hclsyntax.ParseConfig(blocks, "corpus", hcl.InitialPos); ds.HasErrors() || len(f.Body.(*hclsyntax.Body).Blocks) != calls {
		return nil, nil, fmt.Errorf("hcl: %v", ds)
	}
	var decoded []jsonCall
	if err := json.Unmarshal(object, &decoded); err != nil || len(decoded) != calls {
		return nil, nil, fmt.Errorf("json: %v", err)
	}

	dslMany := &contestant{name: "dsl.Parse, a call", per: calls, run: func(n int) {
		for range n {
			dsl.Parse(dsl.NewSource("corpus", ours))
		}
	}}
	starlark := &contestant{name: "Starlark's parser, a call", per: calls, run: func(n int) {
		for range n {
			_, _ = dialect.Parse("corpus", star, 0)
		}
	}}
	hcl2 := &contestant{name: "HCL's parser, a block", per: calls, run: func(n int) {
		for range n {
			hclsyntax.ParseConfig(blocks, "corpus", hcl.InitialPos)
		}
	}}
	std := &contestant{name: "encoding/json, an object", per: calls, run: func(n int) {
		for range n {
			var out []jsonCall
			_ = json.Unmarshal(object, &out)
		}
	}}
	dslOne := &contestant{name: "dsl.Parse, one call of 93 bytes", per: 1, run: func(n int) {
		for range n {
			dsl.Parse(dsl.NewSource("one", single))
		}
	}}
	return &race{
		name:        fmt.Sprintf("Parsing a script of %d calls (%.2f MB)", calls, float64(len(ours))/1e6),
		contestants: []*contestant{dslMany, starlark, hcl2, std, dslOne},
		goals: []goal{
			{"PERF-P1", "times faster than Starlark", faster(dslMany, starlark), "x", true, 8},
			{"PERF-P1", "times faster than HCL", faster(dslMany, hcl2), "x", true, 50},
			{"PERF-P1", "times faster than encoding/json", faster(dslMany, std), "x", true, 4},
			{"PERF-P1", "allocations a call", dslMany.allocs, "", false, 1},
			{"PERF-P2", "allocations", dslOne.allocs, "", false, 15},
		},
	}, func() {}, nil
}
