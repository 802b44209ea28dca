package verbs

import (
	"os"
	"path/filepath"
	"testing"

	"verbatim/dsl"
)

// LoadSources is that of package load, which the tests of this package cannot import: it imports
// this one. A test outside of the package hands it in.
var LoadSources func(srcs ...*dsl.Source) (*Registry, dsl.Diagnostics)

func loadText(t interface{ Fatal(...any) }, name, text string) *Registry {
	r, ds := LoadSources(dsl.NewSource(name, text))
	if r == nil {
		t.Fatal(name, inWords(ds))
	}
	return r
}

func paramNamed(v *Verb, name string) *Param {
	for i := range v.Params {
		if v.Params[i].Name == name {
			return &v.Params[i]
		}
	}
	return nil
}

func basePalette(t interface{ Fatal(...any) }) string {
	text, err := os.ReadFile("drift/testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// portalSources are the palettes of the bank's portal, as a client may use it.
func portalSources(t testing.TB) (all []*dsl.Source) {
	t.Helper()
	for _, name := range []string{"client.yaml", "onboarding.yaml"} {
		text, err := os.ReadFile(filepath.Join("palettes/bank", name))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, dsl.NewSource(name, string(text)))
	}
	return all
}

// loadPortal loads them.
func loadPortal(t testing.TB) *Registry {
	t.Helper()
	r, ds := LoadSources(portalSources(t)...)
	if r == nil {
		t.Fatal(inWords(ds))
	}
	return r
}
