package dialog_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/dialog"
	"verbatim/runtime/conversation/llm"
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

func (s *streaming) model(t *testing.T) llm.Model {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := llm.New(llm.Config{BaseURL: s.URL, Model: "test", Transport: transport, Attempts: 1, First: 300 * time.Millisecond, Idle: 300 * time.Millisecond, Now: func() time.Time { return morning },
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

// speaks streams text, and then does what end says.
func speaks(end, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		chunk(w, map[string]any{"content": text}, "")
		switch end {
		case "stall":
			<-r.Context().Done()
		case "cut":
			panic(http.ErrAbortHandler)
		case "garbage":
			_, _ = fmt.Fprint(w, "data: {\"choices\":\n\n")
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

// X14: what was done is told at once: the server says no more before it was.
func TestADeedIsToldWhileTheModelIsAsked(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	heard := make(chan struct{})
	s := serves(t, calling("I have cancelled everything. ", "house__note", `{"repair-id": "@boiler", "note": "tomorrow", "expected": null}`),
		func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-heard:
				calling("", "reply__tell", `{"facts": ["@kitchen-window.status"]}`)(w, r)
			case <-r.Context().Done():
				t.Error("the call waited for the reply")
			}
		})
	said := false
	a, pieces, steps := follow(t, h.talk(s.model(t), tools), "The boiler: tomorrow. And the window?", func(e dialog.Event) {
		if e.Kind == dialog.Telling && !said {
			said = true
			close(heard)
		}
	})
	if want := "Done: leave a note on a repair, and say when something is expected.\n- Boiler: notes \"tomorrow\".\nStatus of Kitchen Window: reported."; a.Text != want || len(pieces) != 2 {
		t.Errorf("told %q, want %q", pieces, want)
	}
	if steps != "reading house.list-repairs\nasking \ndoing house.note\nasking \n" {
		t.Errorf("steps: %s", steps)
	}
}

// X14, U30: an answer that breaks off is asked for again, and none of its text
// is told.
func TestAnAnswerThatBreaksOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	tell := calling("", "reply__tell", `{"facts": ["@boiler.status"]}`)
	for name, c := range map[string]struct {
		answers []http.HandlerFunc
		told    string // or what it begins with
	}{
		"cut":       {[]http.HandlerFunc{speaks("cut", "I thi"), tell}, "Status of Boiler: ordered."},
		"garbage":   {[]http.HandlerFunc{speaks("garbage", "I thi"), tell}, "Status of Boiler: ordered."},
		"a stall":   {[]http.HandlerFunc{speaks("stall", "I thi")}, "I cannot chat just now"}, // and nobody waits twice (F27)
		"cut twice": {[]http.HandlerFunc{speaks("cut", "I thi"), speaks("cut", "I thi")}, "I cannot chat just now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serves(t, c.answers...)
			a, _, _ := follow(t, h.talk(s.model(t), tools), "How is it going?", nil)
			if !strings.HasPrefix(a.Text, c.told) || strings.Contains(a.Text, "I thi") {
				t.Errorf("told %q, want %q", a.Text, c.told)
			}
			if want := min(2, len(c.answers)); len(s.asked) != want || slices.Contains(s.asked, false) {
				t.Errorf("asked, streamed or not: %v", s.asked)
			}
		})
	}
}

// Characters that nobody sees are spoken of before anything else.
func TestHiddenCharactersAreToldFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t, "house")
	a, _, _ := follow(t, h.talk(answers(tells("@boiler.status")), nil), "How is\u202e it going?", nil)
	if !strings.HasPrefix(a.Text, "There were characters in that message") || !strings.HasSuffix(a.Text, "\nStatus of Boiler: ordered.") {
		t.Errorf("told %q", a.Text)
	}
}
