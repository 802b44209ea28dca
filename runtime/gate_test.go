package runtime

import (
	"errors"
	"testing"

	"verbatim/stores"
	"verbatim/verbs"
)

// SAFE-S5: what passed the gate is what is carried out and committed: an
// argument that is another one afterwards stops the run.
func TestArgumentsThatChangeAfterTheGateStopTheRun(t *testing.T) {
	t.Parallel()
	st := &step{verb: &verbs.Verb{Name: "a.b"}, args: []stores.Value{stores.NewString("x"), stores.NewInt(1)}}
	st.sealed = st.seal()
	r := &run{e: &Engine{}, steps: []*step{st}}
	if err := r.still(st); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]stores.Value{
		{stores.NewString("y"), stores.NewInt(1)},
		{stores.NewString("x"), stores.NewInt(2)},
		{stores.NewString("x"), stores.NewString("1")},
		{stores.NewString("x"), stores.NewInt(1), stores.NewInt(1)},
		{stores.NewString("x")},
	} {
		st.args = other
		var failure *Failure
		if err := r.still(st); !errors.As(err, &failure) {
			t.Errorf("%v passed", other)
		}
		if err := r.commit(t.Context(), RunOptions{}); !errors.As(err, &failure) {
			t.Errorf("%v was committed", other)
		}
	}
}

// SAFE-S5: and so does an argument that is the same and comes from elsewhere.
func TestOriginsThatChangeAfterTheGateStopTheRun(t *testing.T) {
	t.Parallel()
	person, letter := verbs.NewOrigin(verbs.FromPerson, ""), verbs.NewOrigin(verbs.FromDocument, "letter.pdf")
	st := &step{verb: &verbs.Verb{Name: "a.b"}, args: []stores.Value{stores.NewString("x"), stores.NewInt(1)}, from: []verbs.Origin{letter, person}}
	st.sealed = st.seal()
	r := &run{e: new(Engine), steps: []*step{st}}
	if err := r.still(st); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]verbs.Origin{{person, person}, {letter, letter}, {person, letter}, {verbs.NewOrigin(verbs.FromDocument, ""), person}, {{}, {}}, nil} {
		st.from = other
		var failure *Failure
		if err := r.still(st); !errors.As(err, &failure) {
			t.Errorf("%v passed", other)
		}
		if err := r.commit(t.Context(), RunOptions{}); !errors.As(err, &failure) {
			t.Errorf("%v was committed", other)
		}
	}
}

// The seal keeps values apart: no two lists of arguments run together.
func TestSealKeepsArgumentsApart(t *testing.T) {
	t.Parallel()
	seal := func(texts ...string) [32]byte {
		st := &step{verb: &verbs.Verb{Name: "a.b"}}
		for _, s := range texts {
			st.args = append(st.args, stores.NewString(s))
		}
		return st.seal()
	}
	if seal("ab", "c") == seal("a", "bc") || seal("ab") == seal("ab", "") || seal() == seal("") {
		t.Error("two calls have one seal")
	}
	// Nor does a text that holds what stands between two.
	const between = "\x00\x00\x00\x00\x00\x00\x00\x06string"
	if seal("a"+between+"b", "c") == seal("a", "b"+between+"c") {
		t.Error("a text can hold the end of itself and the beginning of the next")
	}
}
