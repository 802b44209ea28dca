package main

import (
	"fmt"
	"io/fs"

	"gopkg.in/yaml.v3"

	"verbatim/verbs/load"
	"verbatim/verbs/verbstest"
)

// loading is PERF-L1: a thousand verbs from YAML, positions included, against
// reading the same bytes into yaml.v3's nodes, which is the least that keeps
// positions at all.
func loading() (*race, func(), error) {
	const n = 1000
	files := verbstest.Files(n)
	reg, ds := load.Dir(files)
	if ds.HasErrors() || reg == nil || len(reg.Verbs()) != n {
		return nil, nil, fmt.Errorf("the palettes of the benchmark do not load: %v", ds)
	}
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, nil, err
	}
	var texts [][]byte
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, nil, err
		}
		texts = append(texts, text)
	}
	ours := &contestant{name: "verbs.Load, 1 000 verbs checked and compiled", per: 1, run: func(n int) {
		for range n {
			load.Dir(files)
		}
	}}
	nodes := &contestant{name: "yaml.v3, the same bytes to nodes", per: 1, run: func(n int) {
		for range n {
			for _, text := range texts {
				var node yaml.Node
				_ = yaml.Unmarshal(text, &node)
			}
		}
	}}
	return &race{
		name:        "Loading 1 000 verbs",
		contestants: []*contestant{ours, nodes},
		goals: []goal{
			{"PERF-L1", "times as long as yaml.v3 to nodes", func() float64 { return ours.ns() / nodes.ns() }, "x", false, 2},
		},
	}, func() {}, nil
}
