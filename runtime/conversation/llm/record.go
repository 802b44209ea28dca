package llm

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sync"
	"time"
)

// A transcript is a text file of one JSON object per line: a header, and then one exchange per
// line, in the order in which they ended. It holds the requests and answers verbatim, so it is as
// confidential as they are; only random values are replaced by a number (see Scene.Drawn).

const transcriptSchema = "verbatim/transcript@1"

// A Scene holds the facts that a transcript needs beside the exchanges.
type Scene struct {
	// At is the time of the recording, and Zone its IANA time zone. Prompts contain the day, so a
	// replay must run at that time, in that zone.
	At   time.Time
	Zone string
	// Drawn finds random values that differ each time, such as the reference of a file: its first
	// group. A transcript has a number for each, in the order of their appearance, and a replay
	// inserts its own.
	Drawn *regexp.Regexp
}

type transcriptHeader struct {
	Schema string    `json:"schema"`
	At     time.Time `json:"at,omitzero"`
	Zone   string    `json:"zone,omitempty"`
}

// A recorded line: a chat or an embedding, and its result.
type recorded struct {
	Chat    *Request    `json:"chat,omitempty"`
	Reply   *Reply      `json:"reply,omitempty"`
	Embed   []string    `json:"embed,omitempty"`
	Vectors [][]float32 `json:"vectors,omitempty"`
	Usage   *Usage      `json:"usage,omitempty"`
	Error   *failure    `json:"error,omitempty"`
}

// A failure is an *Error as a transcript keeps it.
type failure struct {
	Kind   Kind   `json:"kind"`
	Status int    `json:"status,omitempty"`
	Text   string `json:"text,omitempty"`
	Usage  Usage  `json:"usage"`
}

// A Recorder is a model that asks another and records the conversation.
type Recorder struct {
	model Model
	mu    sync.Mutex
	w     io.Writer
	scene Scene
	drawn numbering
	begun bool
}

// NewRecorder makes a model that asks m and writes a transcript to w. It writes each line before it
// returns the answer; an error in writing is an error of the call, so that no recording is silently
// incomplete.
func NewRecorder(m Model, w io.Writer, scene Scene) *Recorder {
	return &Recorder{model: m, w: w, scene: scene, drawn: numbering{what: scene.Drawn}}
}

// Chat asks, and writes down.
func (r *Recorder) Chat(ctx context.Context, q Request, piece func(string)) (*Reply, error) {
	reply, err := r.model.Chat(ctx, q, piece)
	if werr := r.write(recorded{Chat: &q, Reply: reply, Error: failed(err)}); werr != nil {
		return nil, werr
	}
	return reply, err
}

// Embed asks, and writes down.
func (r *Recorder) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	if len(texts) == 0 {
		return r.model.Embed(ctx, texts) // nothing is asked
	}
	vectors, usage, err := r.model.Embed(ctx, texts)
	if werr := r.write(recorded{Embed: texts, Vectors: vectors, Usage: &usage, Error: failed(err)}); werr != nil {
		return nil, usage, werr
	}
	return vectors, usage, err
}

func failed(err error) *failure {
	if err == nil {
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		return &failure{Kind: Unavailable, Text: err.Error()}
	}
	f := &failure{Kind: e.Kind, Status: e.Status, Usage: e.Usage}
	if e.Err != nil {
		f.Text = e.Err.Error()
	}
	return f
}

func (r *Recorder) write(line recorded) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if !r.begun {
		if err := enc.Encode(transcriptHeader{transcriptSchema, r.scene.At, r.scene.Zone}); err != nil {
			return err
		}
	}
	if err := enc.Encode(line); err != nil {
		return err
	}
	if _, err := r.w.Write(r.drawn.hide(out.Bytes())); err != nil {
		return &Error{Kind: Unavailable, Err: fmt.Errorf("the transcript could not be written: %w", err)}
	}
	r.begun = true
	return nil
}

// A Replay is a model that answers from a transcript: each request with the
// answer recorded for the same request, in the order in which they were
// recorded, and each answer once. Anything else is Unrecorded.
type Replay struct {
	mu    sync.Mutex
	lines []recorded
	by    map[[32]byte][]int // unused lines, by the digest of the request
	left  int
	scene Scene
	drawn numbering
}

// maxTranscript bounds one line of a transcript.
const maxTranscript = 64 << 20

// NewReplay reads a transcript in which the values that drawn matches, if it is not nil, are
// replaced by numbers. It refuses unknown fields: they would be part of the request.
func NewReplay(r io.Reader, drawn *regexp.Regexp) (*Replay, error) {
	p := &Replay{by: map[[32]byte][]int{}, drawn: numbering{what: drawn}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxTranscript)
	n := 0
	for lines.Scan() {
		n++
		text := bytes.TrimSpace(lines.Bytes())
		if n == 1 {
			var h transcriptHeader
			if err := json.Unmarshal(text, &h); err != nil || h.Schema != transcriptSchema {
				return nil, fmt.Errorf("line 1 is not the header of a transcript, {%q:%q}", "schema", transcriptSchema)
			}
			p.scene = Scene{At: h.At, Zone: h.Zone, Drawn: drawn}
			continue
		}
		if len(text) == 0 {
			continue
		}
		var line recorded
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&line); err != nil {
			return nil, fmt.Errorf("line %d of the transcript: %w", n, err)
		}
		if (line.Chat == nil) == (line.Embed == nil) || line.Chat != nil && (line.Reply == nil) == (line.Error == nil) || line.Embed != nil && (line.Vectors == nil) == (line.Error == nil) {
			return nil, fmt.Errorf("line %d of the transcript is not one question and its answer", n)
		}
		key := sha256.Sum256(question(line.Chat, line.Embed))
		p.by[key] = append(p.by[key], len(p.lines))
		p.lines = append(p.lines, line)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the transcript breaks off after line %d: %w", n, err)
	}
	if n == 0 {
		return nil, errors.New("the transcript is empty: not even its header is there")
	}
	p.left = len(p.lines)
	return p, nil
}

func question(chat *Request, texts []string) []byte {
	text, err := json.Marshal(recorded{Chat: chat, Embed: texts})
	if err != nil { // a schema that is not JSON, which no line can hold either
		return []byte(err.Error())
	}
	return text
}

// Scene returns the recorded time and zone, as far as the transcript has them.
func (p *Replay) Scene() Scene { return p.scene }

// Left returns the number of unused answers.
func (p *Replay) Left() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// Chat returns the recorded answer; a streamed answer comes in one piece.
func (p *Replay) Chat(ctx context.Context, q Request, piece func(string)) (*Reply, error) {
	line, err := p.take(ctx, &q, nil)
	if err != nil {
		return nil, err
	}
	if piece != nil && line.Reply.Text != "" {
		piece(line.Reply.Text)
	}
	return line.Reply, nil
}

// Embed returns the recorded answer.
func (p *Replay) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	if len(texts) == 0 {
		return nil, Usage{}, nil
	}
	line, err := p.take(ctx, nil, texts)
	if err != nil {
		return nil, Usage{}, err
	}
	return line.Vectors, *line.Usage, nil
}

func (p *Replay) take(ctx context.Context, chat *Request, texts []string) (*recorded, error) {
	if err := ctx.Err(); err != nil {
		return nil, &Error{Kind: Cancelled, Err: err}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	asked := p.drawn.hide(question(chat, texts))
	key := sha256.Sum256(asked)
	at := p.by[key]
	if len(at) == 0 {
		return nil, &Error{Kind: Unrecorded, Err: errors.New(p.nearest(asked, key))}
	}
	line, err := p.drawn.show(p.lines[at[0]])
	if err != nil {
		return nil, &Error{Kind: Unrecorded, Err: err}
	}
	p.by[key], p.left = at[1:], p.left-1
	if f := line.Error; f != nil {
		e := &Error{Kind: f.Kind, Status: f.Status, Attempts: 1, Usage: f.Usage}
		if f.Text != "" {
			e.Err = errors.New(f.Text)
		}
		return nil, e
	}
	return line, nil
}

// nearest says how an unexpected question differs from the next unused one, so that a person who
// changed a prompt sees where.
func (p *Replay) nearest(asked []byte, key [32]byte) string {
	what := "question " + hex.EncodeToString(key[:6])
	if _, known := p.by[key]; known {
		return what + " was recorded, and all its answers are used"
	}
	if p.left == 0 {
		return what + " comes after the end of the transcript"
	}
	next := -1
	for _, at := range p.by {
		if len(at) > 0 && (next < 0 || at[0] < next) {
			next = at[0]
		}
	}
	line := &p.lines[next]
	var q recorded
	_ = json.Unmarshal(asked, &q) // made from one
	chat := q.Chat
	if chat == nil || line.Chat == nil {
		return fmt.Sprintf("%s is not in the transcript, whose next line is %d", what, next+2)
	}
	for i := range chat.Messages {
		if i >= len(line.Chat.Messages) {
			return fmt.Sprintf("%s has %d messages where line %d has %d", what, len(chat.Messages), next+2, len(line.Chat.Messages))
		}
		got, want := &chat.Messages[i], &line.Chat.Messages[i]
		if got.Role != want.Role || got.Text != want.Text {
			return fmt.Sprintf("%s differs from line %d in message %d (%s), from byte %d on: %q where %q was recorded", what, next+2, i+1, got.Role, parts(got.Text, want.Text), after(got.Text, want.Text), after(want.Text, got.Text))
		}
	}
	return fmt.Sprintf("%s differs from line %d in what is asked beside the messages' text", what, next+2)
}

// parts returns where two texts part.
func parts(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// after returns a short part of a, from its first difference to b.
func after(a, b string) string {
	const most = 40
	rest := a[parts(a, b):]
	if len(rest) > most {
		rest = rest[:most] + "…"
	}
	return rest
}
