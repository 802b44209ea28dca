package llm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
)

// X15: what was recorded with a model is played again without it, failures too.
func TestAConversationIsPlayedAgain(t *testing.T) {
	t.Parallel()
	e := serve(t, says("<one> & \u2028two"), status(400, "", `{"error":{"message":"no"}}`), says("again"),
		status(200, "", `{"data":[{"index":0,"embedding":[0.1,0.33333334]}],"usage":{"prompt_tokens":4}}`))
	c, _ := e.client(t, nil)
	var transcript bytes.Buffer
	rec := llm.NewRecorder(c, &transcript, llm.Scene{})
	schema := llm.Request{Messages: ask("?").Messages, Schema: json.RawMessage("{ \"const\": \"<a>\" }")}
	play := func(m llm.Model) (out []any) {
		for _, q := range []llm.Request{ask("first"), ask("second"), schema} {
			reply, err := m.Chat(t.Context(), q, nil)
			kind := llm.Kind("")
			var e *llm.Error
			if errors.As(err, &e) {
				kind = e.Kind
			}
			out = append(out, reply, kind)
		}
		v, u, err := m.Embed(t.Context(), []string{"abc"})
		return append(out, v, u, err)
	}
	want := play(rec)
	p, err := llm.NewReplay(bytes.NewReader(transcript.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := play(p); !reflect.DeepEqual(got, want) {
		t.Errorf("played again: %+v, recorded: %+v", got, want)
	}
	if p.Left() != 0 {
		t.Errorf("%d answers are left", p.Left())
	}
	if strings.Contains(transcript.String(), secret) {
		t.Error("the key is in the transcript")
	}
}

// A prompt that nobody recorded fails, and says how it differs.
func TestAnUnexpectedPromptFailsLoudly(t *testing.T) {
	t.Parallel()
	m := &eager{}
	var transcript bytes.Buffer
	if _, err := llm.NewRecorder(m, &transcript, llm.Scene{}).Chat(t.Context(), ask("what is due on Monday?"), nil); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		q    llm.Request
		want string
	}{
		"another text":      {ask("what is due on Friday?"), `from byte 15 on: "Friday?" where "Monday?" was recorded`},
		"more messages":     {llm.Request{Messages: append(ask("what is due on Monday?").Messages, ask("x").Messages...)}, "has 2 messages where line 2 has 1"},
		"another parameter": {llm.Request{Messages: ask("what is due on Monday?").Messages, MaxTokens: 3}, "beside the messages' text"},
	} {
		p, err := llm.NewReplay(bytes.NewReader(transcript.Bytes()), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Chat(t.Context(), c.q, nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Kind != llm.Unrecorded || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	p, err := llm.NewReplay(bytes.NewReader(transcript.Bytes()), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"", "all its answers are used"} {
		if _, err := p.Chat(t.Context(), ask("what is due on Monday?"), nil); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if _, err := p.Chat(t.Context(), ask("x"), nil); err == nil || !strings.Contains(err.Error(), "after the end") {
		t.Errorf("past the end: %v", err)
	}
}

func TestBrokenTranscriptsAreRefused(t *testing.T) {
	t.Parallel()
	const header = `{"schema":"verbatim/transcript@1"}` + "\n"
	for name, text := range map[string]string{
		"empty":            "",
		"no header":        `{"chat":{"messages":[]}}`,
		"another version":  `{"schema":"verbatim/transcript@2"}`,
		"half a line":      header + `{"chat":{"mess`,
		"an unknown field": header + `{"chat":{"messages":[],"topP":1},"reply":{"finish":"stop","usage":{"in":0,"out":0}}}`,
		"no answer":        header + `{"chat":{"messages":[]}}`,
		"no question":      header + `{"reply":{"finish":"stop","usage":{"in":0,"out":0}}}`,
	} {
		if _, err := llm.NewReplay(strings.NewReader(text), nil); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestWhatCannotBeRecordedFails(t *testing.T) {
	t.Parallel()
	if _, err := llm.NewRecorder(&eager{}, full{}, llm.Scene{}).Chat(t.Context(), ask("?"), nil); err == nil || !strings.Contains(err.Error(), "transcript") {
		t.Errorf("got %v", err)
	}
}

// Arbitrary transcripts are refused or played; they do no harm.
func FuzzReplay(f *testing.F) {
	f.Add(`{"schema":"verbatim/transcript@1"}` + "\n" + `{"chat":{"messages":[{"role":"user","text":"?"}]},"reply":{"text":"x","finish":"stop","usage":{"in":1,"out":1}}}`)
	f.Add(`{"schema":"verbatim/transcript@1"}` + "\n" + `{"embed":["?"],"error":{"kind":"late","usage":{"in":1,"out":1}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := llm.NewReplay(strings.NewReader(text), nil)
		if err != nil {
			return
		}
		_, _ = p.Chat(t.Context(), ask("?"), func(string) {})
		_, _, _ = p.Embed(t.Context(), []string{"?"})
		if p.Left() < 0 {
			t.Error("more was answered than recorded")
		}
	})
}

// An echo answers what it is asked.
type echo struct{ llm.Model }

func (echo) Chat(_ context.Context, q llm.Request, _ func(string)) (*llm.Reply, error) {
	return &llm.Reply{Text: q.Messages[0].Text}, nil
}

// What is drawn anew each time stands in a transcript by a number, and a replay
// puts in its own; one that comes in another place is another conversation.
func TestWhatIsDrawnHasANumber(t *testing.T) {
	t.Parallel()
	drawn := regexp.MustCompile(`file://([a-z]{4})\b`)
	at := time.Date(2024, 12, 27, 9, 0, 0, 0, time.UTC)
	var transcript bytes.Buffer
	rec := llm.NewRecorder(echo{}, &transcript, llm.Scene{At: at, Zone: "Europe/Vienna", Drawn: drawn})
	for _, text := range []string{"as in file://abcd, here is file://wxyz", "again file://wxyz, and file://longer"} {
		if reply, err := rec.Chat(t.Context(), ask(text), nil); err != nil || reply.Text != text {
			t.Fatal(reply, err)
		}
	}
	if text := transcript.String(); strings.Contains(text, "wxyz") || !strings.Contains(text, "file://reference-2") || !strings.Contains(text, "file://longer") {
		t.Error(text)
	}
	for name, c := range map[string]struct{ first, second, answer string }{
		"another file":     {"as in file://abcd, here is file://qrst", "again file://qrst, and file://longer", "again file://qrst, and file://longer"},
		"the wrong one":    {"as in file://abcd, here is file://qrst", "again file://abcd, and file://longer", ""},
		"one too many":     {"as in file://abcd, here is file://qrst", "again file://uvwx, and file://longer", ""},
		"one for both":     {"as in file://abcd, here is file://abcd", "", ""},
		"a number is none": {"as in file://reference-1, here is file://reference-2", "again file://reference-2, and file://longer", "again file://reference-2, and file://longer"},
	} {
		p, err := llm.NewReplay(bytes.NewReader(transcript.Bytes()), drawn)
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Scene(); !s.At.Equal(at) || s.Zone != "Europe/Vienna" {
			t.Error(s)
		}
		got := ""
		if reply, err := p.Chat(t.Context(), ask(c.first), nil); err == nil {
			if reply.Text != c.first {
				t.Errorf("%s: %q was answered to %q", name, reply.Text, c.first)
			}
			if reply, err := p.Chat(t.Context(), ask(c.second), nil); err == nil {
				got = reply.Text
			}
		}
		if got != c.answer {
			t.Errorf("%s: answered %q, want %q", name, got, c.answer)
		}
	}
}
