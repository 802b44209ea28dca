package dialog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/dialog"
	"verbatim/runtime/llm"
)

// An endpoint that streams: each request is answered by the next of its answers,
// the last again and again.
type streaming struct {
	*httptest.Server
	mu      sync.Mutex
	answers []http.HandlerFunc
	asked   []bool // whether each was to be streamed
}

func serves(t *testing.T, answers ...http.HandlerFunc) *streaming {
	t.Helper()
	s := &streaming{answers: answers}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Stream bool }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		answer := s.answers[min(len(s.asked), len(s.answers)-1)]
		s.asked = append(s.asked, body.Stream)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *streaming) model(t *testing.T) llm.Model { return s.modelIn(t, dialog.Tools) }

func (s *streaming) modelIn(t *testing.T, mode dialog.Mode) llm.Model {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	grammars := llm.NoGrammars
	if mode == dialog.Grammar {
		grammars = llm.LlamaCpp
	}
	c, err := llm.New(llm.Config{BaseURL: s.URL, Model: "test", Grammars: grammars, Transport: transport, Attempts: 1, Idle: 300 * time.Millisecond, Now: func() time.Time { return morning },
		Wait: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func chunk(w http.ResponseWriter, delta map[string]any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	text, _ := json.Marshal(map[string]any{"id": "1", "model": "test", "choices": []any{choice}})
	_, _ = fmt.Fprintf(w, "data: %s\n\n", text)
	w.(http.Flusher).Flush()
}

// speaks streams pieces of text; after the last it does what end says.
func speaks(end string, pieces ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			chunk(w, map[string]any{"content": p}, "")
		}
		switch end {
		case "stall":
			<-r.Context().Done()
		case "cut":
			panic(http.ErrAbortHandler)
		case "garbage":
			_, _ = fmt.Fprint(w, "data: {\"choices\":\n\n")
		default:
			chunk(w, map[string]any{}, "stop")
			_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
		}
	}
}

// calling streams a text, and then a call.
func calling(text, name, args string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		chunk(w, map[string]any{"content": text}, "")
		chunk(w, map[string]any{"tool_calls": []any{map[string]any{"index": 0, "id": "a", "type": "function", "function": map[string]any{"name": name, "arguments": args}}}}, "")
		chunk(w, map[string]any{}, "tool_calls")
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// whole answers without streaming.
func whole(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}}})
	}
}

// follow takes a turn, and returns what was told, piece by piece.
func follow(t *testing.T, c *talk, said string, also func(dialog.Event)) (*dialog.Answer, []string, string) {
	t.Helper()
	var pieces []string
	var steps strings.Builder
	a, err := c.Follow(t.Context(), dialog.Message{Text: said}, func(e dialog.Event) {
		if e.Kind == dialog.Telling {
			pieces = append(pieces, e.Text)
		} else {
			fmt.Fprintf(&steps, "%s %s\n", e.Kind, e.Verb)
		}
		if also != nil {
			also(e)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(pieces, ""); got != a.Text || a.Turn.Told != a.Text {
		t.Errorf("told %q in pieces, and %q in all", got, a.Text)
	}
	return a, pieces, steps.String()
}

func tools(o *dialog.Options) { o.Mode = dialog.Tools }

// inMode is how a model writes, and how it writes what it says to a person.
func inMode(mode dialog.Mode) (func(*dialog.Options), func(string) string) {
	says := func(text string) string { return text }
	if mode == dialog.Grammar {
		says = func(text string) string {
			return "; " + strings.ReplaceAll(text, "\n", "\n; ")
		}
	}
	return func(o *dialog.Options) { o.Mode = mode }, says
}

var modes = []dialog.Mode{dialog.Tools, dialog.Text, dialog.Grammar}

// X14, U30: a sentence that facts bear out is told while the model still speaks;
// the server says no more before it was.
func TestASentenceIsToldWhileTheModelSpeaks(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			toldMeanwhile(t, mode)
		})
	}
}

func toldMeanwhile(t *testing.T, mode dialog.Mode) {
	h := newHouse(t, "house")
	set, says := inMode(mode)
	heard := make(chan struct{})
	s := serves(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range []string{says("The Boi"), "ler is ordered", ". ", "It is due on 15 January 2025, and the"} {
			chunk(w, map[string]any{"content": p}, "")
		}
		select {
		case <-heard:
		case <-r.Context().Done():
			t.Error("the first sentence waited for the second")
			return
		}
		chunk(w, map[string]any{"content": " Kitchen Window is reported." + strings.TrimPrefix(says("\n"), "; ") + "Shall I cancel it?"}, "")
		chunk(w, map[string]any{}, "stop")
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n")
	})
	said := false
	a, pieces, steps := follow(t, h.talk(s.modelIn(t, mode), set), "How is it going?", func(e dialog.Event) {
		if e.Kind == dialog.Telling && !said {
			said = true
			close(heard)
		}
	})
	want := "The Boiler is ordered. It is due on 15 January 2025, and the Kitchen Window is reported.\nShall I cancel it?"
	if a.Text != want || len(pieces) < 2 {
		t.Errorf("told %q; %v", pieces, a.Turn.Replaced)
	}
	if steps != "reading house.list-repairs\nasking \n" {
		t.Errorf("steps: %s", steps)
	}
}

// X14: what is told does not depend on how the answer is cut into pieces, nor on
// whether anybody follows.
func TestPiecesDoNotMatter(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	for _, text := range []string{
		"The Boiler is ordered and due on 2025-01-15. The Kitchen Window is reported. I think that is all.",
		"1. Boiler, ordered.\n2. Kitchen Window, reported.\n\nWhich one do you mean?",
		"The Boiler is ordered. The Zinnia Skylight is reported too. The Kitchen Window is reported.",
		"Der Boiler ist bestellt und soll am 15. Januar 2025 fertig sein. Das Kitchen Window ist gemeldet.",
		"Let me see. The Boiler is ordered.",
		"  The Boiler is ordered.  \n",
		"Mr. Oldershaw comes. The Boiler is ordered.",
		"The Boiler is ordered, e.g. The Kitchen Window is not.",
		"The Boiler is ordered.   \n\n  The Kitchen Window is reported. <b>It is late.</b>",
	} {
		for _, mode := range modes {
			set, says := inMode(mode)
			piecesDoNotMatter(t, h, says(text), set)
		}
	}
}

func piecesDoNotMatter(t *testing.T, h *house, text string, set func(*dialog.Options)) {
	t.Helper()
	var want string
	for size := 1; size <= len(text); size += 1 + size/3 {
		var pieces []string
		for rest := []rune(text); len(rest) > 0; {
			n := min(size, len(rest))
			pieces = append(pieces, string(rest[:n]))
			rest = rest[n:]
		}
		m := &pieced{pieces: pieces}
		a, _, _ := follow(t, h.talk(m, set), "How is it going?", nil)
		if want == "" {
			want = a.Text
			if alone := h.talk(m, set).say("How is it going?"); alone.Text != want {
				t.Errorf("%q: told %q where nobody follows, and %q where somebody does", text, alone.Text, want)
			}
		}
		if a.Text != want {
			t.Errorf("%q: told %q in pieces of %d, and %q in others", text, a.Text, size, want)
		}
		if strings.Contains(a.Text, "Zinnia") || strings.Contains(a.Text, "Oldershaw") {
			t.Errorf("told %q", a.Text)
		}
	}
}

// pieced is a model that speaks in pieces.
type pieced struct{ pieces []string }

func (p *pieced) Chat(_ context.Context, _ llm.Request, piece func(string)) (*llm.Reply, error) {
	for _, text := range p.pieces {
		if piece != nil {
			piece(text)
		}
	}
	return &llm.Reply{Text: strings.Join(p.pieces, ""), Finish: llm.Stopped}, nil
}

func (*pieced) Embed(context.Context, []string) ([][]float32, llm.Usage, error) {
	return nil, llm.Usage{}, nil
}

// X14, U30: what a model says before a call, what breaks off, and what no fact
// bears out.
func TestWhatIsToldOfAnAnswerThatGoesWrong(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	note := calling("I will note that for the Boiler at once. ", "house__note", `{"repair-id": "@boiler", "note": "tomorrow"}`)
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		asked   int
		told    string // all of it, or what it begins with and "…"
		not     string
	}{
		"an announcement before a call":    {[]http.HandlerFunc{note, speaks("", "Noted for the Boiler. ")}, 2, "Noted for the Boiler.", "I will"},
		"facts before a call":              {[]http.HandlerFunc{calling("The Boiler is ordered. I will note it. ", "house__note", `{"repair-id": "@kitchen-window", "note": "tomorrow"}`), speaks("", "Noted.")}, 2, "The Boiler is ordered.\nNoted.", "I will"},
		"cut before anything was told":     {[]http.HandlerFunc{speaks("cut", "I thi"), whole("The Boiler is ordered.")}, 2, "The Boiler is ordered.", "thi"},
		"garbage before anything was told": {[]http.HandlerFunc{speaks("garbage", "Hel"), whole("The Boiler is ordered.")}, 2, "The Boiler is ordered.", ""},
		"a stall before anything was told": {[]http.HandlerFunc{speaks("stall", "The Boiler"), whole("The Boiler is ordered.")}, 2, "The Boiler is ordered.", ""},
		"cut after something was told":     {[]http.HandlerFunc{speaks("cut", "The Boiler is ordered. The K")}, 1, "The Boiler is ordered.\nI was cut off there.…", "The K"},
		"a stall after something was told": {[]http.HandlerFunc{speaks("stall", "The Boiler is ordered. The K")}, 1, "The Boiler is ordered.\nI was cut off there.…", "The K"},
		"cut twice":                        {[]http.HandlerFunc{speaks("cut", "I thi"), speaks("cut", "I thi")}, 2, "I cannot chat just now…", "thi"},
		"a day that is none":               {[]http.HandlerFunc{speaks("", "The Boiler is ordered. It comes on 16 January 2025. ")}, 1, "The Boiler is ordered.\nI leave out what else…", "16 January"},
		"a day that is none, at first":     {[]http.HandlerFunc{speaks("", "It comes on 16 January 2025. The Boiler is ordered. ")}, 1, "…", "16 January"},
		"a name in the middle":             {[]http.HandlerFunc{speaks("", "The Boiler is ordered. The Zinnia Skylight leaks badly. The Kitchen Window is reported. ")}, 1, "The Boiler is ordered.\nI leave out what else…", "Zinnia"},
		"a link in the middle":             {[]http.HandlerFunc{speaks("", "The Boiler is ordered. See https://evil.test/x for more. ")}, 1, "The Boiler is ordered.\nI leave out what else…", "evil"},
		"a call among the words":           {[]http.HandlerFunc{speaks("", "The Boiler is ordered.\nhouse.cancel :repair-id @boiler\nThat is all of it.")}, 1, "The Boiler is ordered.\nThat is all of it.\nThis would cancel a repair…", "house."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serves(t, c.answers...)
			a, _, _ := follow(t, h.talk(s.model(t), tools), "How is it going? tomorrow", nil)
			begins, open := strings.CutSuffix(c.told, "…")
			if open && !strings.HasPrefix(a.Text, begins) || !open && a.Text != c.told || c.not != "" && strings.Contains(a.Text, c.not) {
				t.Errorf("told %q, want %q; %v", a.Text, c.told, a.Turn.Replaced)
			}
			if len(s.asked) != c.asked || !s.asked[0] || len(s.asked) > 1 && strings.Contains(name, "before anything") && s.asked[1] {
				t.Errorf("asked, streamed or not: %v", s.asked)
			}
		})
	}
}

// X14: where calls stand among the words, nobody is shown one, however the answer is
// cut into pieces: what stands before the first of them is told while the model
// speaks, and what stands behind it when it is known what came of it.
func TestCallsAmongTheWordsAreNotTold(t *testing.T) {
	t.Parallel()
	const note = "house.note :repair-id @boiler :note \"tomorrow\""
	for name, c := range map[string]struct {
		mode         dialog.Mode
		first, again string // what the model says
		told         string
	}{
		"in a fence":              {dialog.Text, "The Boiler is ordered.\n```\n" + note + "\n```\n", "Noted for the Boiler.", "The Boiler is ordered.\nNoted for the Boiler."},
		"without a fence":         {dialog.Text, "The Boiler is ordered.\n" + note + "\nThe Kitchen Window is reported. ", "Noted for the Boiler.", "The Boiler is ordered.\nNoted for the Boiler."},
		"at first":                {dialog.Text, "```\n" + note + "\n```\nThe Boiler is ordered. ", "Noted for the Boiler.", "Noted for the Boiler."},
		"in a fence of tildes":    {dialog.Text, "The Boiler is ordered. The Kitchen Window is reported.\n~~~ verbatim\n" + note + "\n~~~", "Noted.", "The Boiler is ordered. The Kitchen Window is reported.\nNoted."},
		"in a list":               {dialog.Text, "The Boiler is ordered.\n  (" + note + ")\n", "Noted for the Boiler.", "The Boiler is ordered.\nNoted for the Boiler."},
		"behind a comment":        {dialog.Grammar, "; The Boiler is ordered.\n" + note, "; Noted for the Boiler.", "The Boiler is ordered.\nNoted for the Boiler."},
		"before a comment":        {dialog.Grammar, note + "\n; The Boiler is ordered. ", "; Noted for the Boiler.", "Noted for the Boiler."},
		"a comment and no more":   {dialog.Grammar, note, ";Noted for the Boiler.\n;  The Boiler is ordered.", "Noted for the Boiler.\n The Boiler is ordered."},
		"an announcement as well": {dialog.Text, "The Boiler is ordered. I will note it.\n" + note, "Noted for the Boiler.", "The Boiler is ordered.\nNoted for the Boiler."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t, "house")
			set, _ := inMode(c.mode)
			for size := 1; size < len(c.first); size += 1 + size/2 {
				m := &turnwise{}
				what := fmt.Sprintf("tomorrow %d", size) // something new each time
				for _, text := range []string{c.first, c.again} {
					var pieces []string
					for rest := strings.ReplaceAll(text, "tomorrow", what); rest != ""; {
						n := min(size, len(rest))
						pieces, rest = append(pieces, rest[:n]), rest[n:]
					}
					m.answers = append(m.answers, pieced{pieces})
				}
				a, _, _ := follow(t, h.talk(m, set), "Note "+what+" for the Boiler", nil)
				if a.Text != c.told || strings.Contains(a.Text, "house.") {
					t.Errorf("in pieces of %d: told %q, want %q; %v", size, a.Text, c.told, a.Turn.Replaced)
				}
			}
		})
	}
}

// turnwise is a model that says one thing after the other.
type turnwise struct {
	answers []pieced
	pieced
}

func (m *turnwise) Chat(ctx context.Context, q llm.Request, piece func(string)) (*llm.Reply, error) {
	next := m.answers[0]
	m.answers = m.answers[min(1, len(m.answers)-1):]
	return next.Chat(ctx, q, piece)
}

// Characters that nobody sees are spoken of before anything else, also where the
// answer comes in pieces.
func TestHiddenCharactersAreToldFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	a, _, _ := follow(t, h.talk(&pieced{[]string{"The Boiler is ordered. ", "The Kitchen Window is reported."}}, tools), "How is\u202e it going?", nil)
	if !strings.HasPrefix(a.Text, "There were characters in that message") || !strings.HasSuffix(a.Text, "\nThe Boiler is ordered. The Kitchen Window is reported.") {
		t.Errorf("told %q", a.Text)
	}
}
