package engine

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/verbs"
)

// SAFE-S5: what passed the gate is what is carried out and committed: an
// argument that is another one afterwards stops the run.
func TestArgumentsThatChangeAfterTheGateStopTheRun(t *testing.T) {
	t.Parallel()
	st := &step{verb: &verbs.Verb{Name: "a.b"}, args: arguments{values: []stores.Value{stores.NewString("x"), stores.NewInt(1)}}}
	st.args.sealed = st.sealIn(new([]byte))
	r := &run{src: &source{e: &Engine{}}, plan: plan{steps: []*step{st}}}
	if err := r.unchanged(st); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]stores.Value{
		{stores.NewString("y"), stores.NewInt(1)},
		{stores.NewString("x"), stores.NewInt(2)},
		{stores.NewString("x"), stores.NewString("1")},
		{stores.NewString("x"), stores.NewInt(1), stores.NewInt(1)},
		{stores.NewString("x")},
	} {
		st.args.values = other
		var failure *Failure
		if err := r.unchanged(st); !errors.As(err, &failure) {
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
	st := &step{verb: &verbs.Verb{Name: "a.b"}, args: arguments{values: []stores.Value{stores.NewString("x"), stores.NewInt(1)}, from: []verbs.Origin{letter, person}}}
	st.args.sealed = st.sealIn(new([]byte))
	r := &run{src: &source{e: new(Engine)}, plan: plan{steps: []*step{st}}}
	if err := r.unchanged(st); err != nil {
		t.Fatal(err)
	}
	for _, other := range [][]verbs.Origin{{person, person}, {letter, letter}, {person, letter}, {verbs.NewOrigin(verbs.FromDocument, ""), person}, {{}, {}}, nil} {
		st.args.from = other
		var failure *Failure
		if err := r.unchanged(st); !errors.As(err, &failure) {
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
			st.args.values = append(st.args.values, stores.NewString(s))
		}
		return st.sealIn(new([]byte))
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

// brokenReader is a store that fails, or whose rows hold nothing.
type brokenReader struct {
	stores.Reader
	err error
}

func (b brokenReader) Get(context.Context, *stores.Entity, stores.Value) (stores.Row, error) {
	return stores.Row{}, b.err
}

func (b brokenReader) Find(_ context.Context, f stores.Find) ([][]stores.Value, error) {
	return [][]stores.Value{make([]stores.Value, len(f.Select))}, b.err
}

func (b brokenReader) Together(context.Context, []stores.Ask) error { return b.err }

// SAFE-L3: a rule asks unless it is known not to hold; where a store fails to say,
// the call fails, and nobody is asked to agree to what cannot be seen.
func TestARuleAsksUnlessItIsKnownNotToHold(t *testing.T) {
	t.Parallel()
	e := deskEngine(t)
	drop := e.reg.Verb("desk.drop")
	gone := errors.New("the disk is gone")
	for _, c := range []struct {
		text  stores.Value
		err   error
		asks  []string
		fails bool
	}{
		{text: str("x"), asks: []string{"much hangs on it", asksWhen(drop.Confirm[1].When.Text)}},
		{text: str("y"), asks: []string{"much hangs on it"}},
		{asks: []string{"much hangs on it"}},
		{text: str("y"), err: gone, fails: true},
		{text: str("y"), err: context.Canceled, fails: true},
	} {
		pin := stores.Row{Entity: e.reg.Entity("pin").Store, Values: []stores.Value{keyOf(1), c.text, {}}}
		if c.err != nil {
			pin.Values[2] = keyOf(2) // the note has to be read
		}
		st := &step{verb: drop, args: arguments{values: []stores.Value{keyOf(1)}, rows: []stores.Row{pin}}}
		r := &source{e: e, s: &Session{e: e}, read: view.Direct(brokenReader{err: c.err}, nil, nil)}
		found, err := gate(t.Context(), r, st)
		var asks []string
		for _, a := range found {
			asks = append(asks, a.Reason)
		}
		if (err != nil) != c.fails || c.fails && !errors.Is(err, c.err) || !slices.Equal(asks, c.asks) {
			t.Errorf("%v, %v: %v asks %q", c.text, c.err, err, asks)
		}
	}
}

// SAFE-L3: an agreement is good for as long as the strictest rule lets it be.
func TestTheStrictestRuleSaysHowLongAnAgreementIsGood(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lasts []time.Duration
		want  time.Duration
	}{
		{nil, verbs.DefaultExpiry}, {[]time.Duration{time.Hour}, time.Hour}, {[]time.Duration{time.Hour, 2 * time.Hour}, time.Hour},
		{[]time.Duration{3 * time.Hour, 2 * time.Hour}, 2 * time.Hour}, {[]time.Duration{1000 * time.Hour}, 1000 * time.Hour},
	} {
		st := &step{}
		for _, d := range c.lasts {
			st.asks = append(st.asks, ask{lasts: d})
		}
		r := &run{plan: plan{top: []*step{st}, steps: []*step{st}}}
		if got := r.lasts(); got != c.want {
			t.Errorf("%v: %s", c.lasts, got)
		}
	}
}

// SAFE-L3, SAFE-C1: an ID alone is an agreement only where nobody is asked, and
// only to what has that ID; where something is asked, a preview that is gone, or
// could not be looked for, is none.
func TestAnIDAloneIsAnAgreementToWhatAsksNobody(t *testing.T) {
	t.Parallel()
	e := deskEngine(t)
	script, _ := dsl.Parse(dsl.NewSource("a.dsl", `desk.pin :text "c"`))
	p, ds := e.reg.Check(script, nil)
	if ds.HasErrors() {
		t.Fatal(inWords(ds))
	}
	const id = "0123456789abcdef0123456789abcdef"
	gone := errors.New("the disk is gone")
	kept := []stores.Value{keyOf(1)}
	for _, c := range []struct {
		name   string
		t      runOptions
		asked  bool
		read   error
		want   string // the code of a refusal, "" of consent
		failed error
	}{
		{name: "what asks nobody", t: runOptions{opt: RunOptions{Agreed: id}}},
		{name: "what asks nobody, and another ID", t: runOptions{opt: RunOptions{Agreed: "f" + id[1:]}}, want: codeStalePreview},
		{name: "what asks somebody", t: runOptions{opt: RunOptions{Agreed: id}}, asked: true, want: codeStalePreview},
		{name: "what asks nobody, and no list", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{unread: gone}}},
		{name: "what asks nobody, another ID and no list", t: runOptions{opt: RunOptions{Agreed: "f" + id[1:]}, answer: answerOf{unread: gone}}, want: codeStalePreview},
		{name: "what asks somebody, and no list", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{unread: gone}}, asked: true, failed: gone},
		{name: "a kept preview that is gone", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{kept: kept}}, asked: true, read: stores.ErrNotFound, want: codeStalePreview},
		{name: "a kept preview that is gone, of what asks nobody", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{kept: kept}}, read: stores.ErrNotFound},
		{name: "a kept preview that cannot be read", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{kept: kept}}, read: gone, failed: gone},
		{name: "one that was shown", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id}}}},
		{name: "one that was shown and kept, and is gone", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id, kept: keyOf(1)}}}, read: stores.ErrNotFound, want: codeStalePreview},
		{name: "one that was shown and used", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id}, spent: true}}, want: codeAlreadyUsed},
		{name: "one that was shown and declined", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id}, spent: true, declined: true}}, want: codeDeclinedBefore},
		{name: "one that was shown, of something else", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id, digest: [32]byte{1}}}}, want: codeStalePreview},
		{name: "one that was shown, too late", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id}}}, asked: true, want: codeAgreementExpired},
		{name: "one that was shown, in time", t: runOptions{opt: RunOptions{Agreed: id}, answer: answerOf{claimed: &shown{id: id, until: time.Unix(1, 0)}}}, asked: true},
	} {
		r := &run{src: &source{e: e, s: &Session{e: e}, now: time.Unix(0, 0), read: view.Direct(brokenReader{err: c.read}, nil, nil)}, plan: plan{prog: p, id: id}}
		err := r.ownConsent(t.Context(), &c.t, c.asked)
		var refusal *Refusal
		switch {
		case c.failed != nil:
			if errors.As(err, &refusal) || !errors.Is(err, c.failed) {
				t.Errorf("%s: %v", c.name, err)
			}
		case c.want == "":
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		default:
			if !errors.As(err, &refusal) || refusal.Diagnostics[0].Code != c.want {
				t.Errorf("%s: %v, want %s", c.name, err, c.want)
			}
		}
	}
}
