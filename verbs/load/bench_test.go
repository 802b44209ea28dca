package load

import (
	"testing"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs/verbstest"
)

// PERF-L1: loading a palette costs little more than reading its YAML. Compare
// the two benchmarks of one run.

func BenchmarkLoad1000(b *testing.B) {
	text := string(verbstest.Palette(1000))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r, diags := Sources(dsl.NewSource("work.yaml", text))
		if r == nil {
			b.Fatal(diags[0].Summary)
		}
	}
}

func BenchmarkYAMLNodes1000(b *testing.B) {
	text := verbstest.Palette(1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var n yaml.Node
		if err := yaml.Unmarshal(text, &n); err != nil {
			b.Fatal(err)
		}
	}
}
