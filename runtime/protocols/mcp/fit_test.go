package mcp_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/protocols/mcp"
	"verbatim/runtime/protocols/tools"
	"verbatim/verbs/load"
	"verbatim/verbs/propose"
)

var openapi = flag.String("openapi", "", "a `folder` of OpenAPI descriptions of others, to be compared with the palettes that are proposed for them")

// Verbs that are proposed for an API fit its operations as they are: what one reading of a description
// writes, the other one takes.
func TestProposedVerbsFitTheirOperations(t *testing.T) {
	t.Parallel()
	files := []string{"testdata/shop.yaml", "../../../verbs/propose/testdata/api.yaml"}
	if *openapi != "" {
		others, err := filepath.Glob(filepath.Join(*openapi, "*.json"))
		if err != nil || len(others) == 0 {
			t.Fatalf("no descriptions in %s: %v", *openapi, err)
		}
		files = append(files, others...)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found, err := propose.FromDescription("shop", "shop", text)
		if err != nil {
			t.Fatal(err)
		}
		var sources []*dsl.Source
		for _, f := range found.Files {
			sources = append(sources, dsl.NewSource(f.Name, string(f.Text)))
		}
		reg, ds := load.Sources(sources...)
		if ds.HasErrors() {
			t.Fatal(file, ds)
		}
		config := mcp.Config{Servers: map[string]mcp.Server{"shop": {API: "shop", Timeout: time.Minute, MaxAnswer: 4096}}}
		opt := mcp.Options{Files: fstest.MapFS{"shop": {Data: text}}}
		all, err := mcp.New(config, mcp.Accepted{}, opt).All(t.Context(), "shop")
		if err != nil {
			t.Fatal(file, err)
		}
		var accepted mcp.Accepted
		accepted.Tools = all
		asked := 0
		for _, v := range reg.Verbs() {
			if v.Tool != nil {
				asked++
			}
		}
		if asked < 5 && *openapi == "" {
			t.Errorf("%s: %d verbs ask the API", file, asked)
		}
		wrong := tools.Check(t.Context(), reg, mcp.New(config, accepted, opt))
		for _, d := range wrong {
			t.Errorf("%s: %s", filepath.Base(file), d.Summary)
		}
		t.Logf("%s: %d operations, %d verbs, %d of them ask the API, %d do not fit", filepath.Base(file), found.Count, len(reg.Verbs()), asked, len(wrong))
	}
}
