package engine

import (
	"testing"

	"verbatim/stores"
	"verbatim/verbs"
)

// A code is described by its description, else by its label; one that the palette does not know by
// nothing.
func TestACodeIsDescribed(t *testing.T) {
	t.Parallel()
	list := &verbs.CodeList{Codes: []verbs.Code{{Name: "ATRIUM", Label: "the atrium", Description: "the large room"}, {Name: "LIBRARY", Label: "the library"}, {Name: "CELLAR"}}}
	for code, want := range map[string]string{"ATRIUM": "the large room", "LIBRARY": "the library", "CELLAR": "", "ROOF": ""} {
		got, err := described(list, &verbs.Type{Name: verbs.CodeType, Codes: list}, stores.NewString(code))
		if err != nil || got.Text() != want {
			t.Errorf("%s: %q %v, want %q", code, got.Text(), err, want)
		}
	}
}
