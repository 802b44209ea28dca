package load

import (
	"os"
	"path/filepath"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

// portalSources are the palettes of the bank's portal, as a client may use it.
func portalSources(t testing.TB) (all []*dsl.Source) {
	t.Helper()
	for _, name := range []string{"client.yaml", "onboarding.yaml"} {
		text, err := os.ReadFile(filepath.Join("../palettes/bank", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, dsl.NewSource(name, string(text)))
	}
	return all
}

// loadPortal loads them.
func loadPortal(t testing.TB) *verbs.Registry {
	t.Helper()
	r, ds := Sources(portalSources(t)...)
	if r == nil {
		t.Fatal(inWords(ds))
	}
	return r
}
