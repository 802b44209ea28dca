package channel

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// K7 K39: a message whose sender is proved is made by adapters alone. K3 K8: people are found by
// what they show in one function; whoever else looks at what identities are compared by says
// here why.
func TestOneWayInAndOneIdentity(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	proves := []string{"runtime/frontends/channel/mail/mail.go", "runtime/frontends/channel/signed/signed.go", "runtime/frontends/channel/whatsapp/decode.go"}
	compares := map[string]string{
		"runtime/domains/rights/known.go":       "the function, and the verb that adds one",
		"runtime/frontends/channel/register.go": "whether an address of a person's own may be written to",
		"runtime/frontends/channel/deliver.go":  "whether the person wrote from an address lately",
		"runtime/frontends/channel/handle.go":   "whether what somebody is to be known by from now on is anybody's already",
		"runtime/frontends/channel/code.go":     "an identity that waits to be verified, which lets nobody in",
	}
	var made []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel := filepath.ToSlash(strings.TrimPrefix(name, root+string(filepath.Separator)))
		if strings.Contains(string(text), "proven.Prove(") && !strings.HasSuffix(rel, "internal/proven/proven.go") {
			made = append(made, rel)
		}
		if strings.Contains(string(text), `"known_by"`) && compares[rel] == "" {
			t.Errorf("%s finds people by what they show", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(made)
	if !slices.Equal(made, proves) {
		t.Errorf("messages are made in %v, and adapters are %v", made, proves)
	}
}
