package llm

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	openai "github.com/sashabaranov/go-openai"
)

// Grammars says how an endpoint is asked to keep to a grammar, and in which
// syntax it wants it.
type Grammars string

// The ways to hand over a grammar.
const (
	NoGrammars Grammars = ""          // it cannot be asked
	LlamaCpp   Grammars = "llama.cpp" // field grammar, in GBNF
	VLLM       Grammars = "vllm"      // field structured_outputs.grammar, in GBNF as xgrammar reads it
)

// Config says which endpoint to ask, and how patiently.
type Config struct {
	BaseURL   string // "http://localhost:8080/v1"; without a path, /v1 is added
	Key       string // sent as a bearer token; empty for endpoints that want none
	Model     string
	Embedding string // the model of Embed; without one, Embed is Unsupported
	Grammars  Grammars

	// Timeout bounds one attempt, First the wait for the first byte of a streamed answer, and Idle the
	// silence after that. The defaults are five minutes, 90 seconds, in which a local server loads a
	// model, and 30 seconds.
	Timeout, First, Idle time.Duration
	// Attempts is the greatest number of attempts per request; the default is 3, and 1 tries once. With
	// more, an empty answer is asked for in at most three other ways. A request is not sent again after a
	// piece of its answer was passed on.
	Attempts int
	// Backoff is the longest wait before the second attempt, and doubles with each; MaxWait bounds
	// it, and the client gives up if a Retry-After exceeds MaxWait. The defaults are half a second
	// and twenty seconds.
	Backoff, MaxWait time.Duration
	// MaxBytes bounds an answer on the wire; the default is 8 MiB.
	MaxBytes int64

	// Random gives numbers in [0, 1), with which waits are spread so that many
	// clients do not come back together (full jitter, as in M. Brooker,
	// "Exponential Backoff And Jitter", 2015). Without it every wait is as long
	// as it may be.
	Random func() float64
	// Wait waits, or returns the context's error; Now tells the time. The
	// defaults are the clock's.
	Wait func(context.Context, time.Duration) error
	Now  func() time.Time
	// Transport reaches the network; the default is a copy of
	// http.DefaultTransport.
	Transport http.RoundTripper
	// Adapted is told what the endpoint refuses, when a request without it has succeeded; each once.
	Adapted func(Adaptation)
	// Exchanged is told each request as it was sent, and what came back.
	Exchanged func(Exchange)
}

// An Exchange is one request and its answer, without the key: neither holds headers, and an endpoint
// that repeats the key has it taken out.
type Exchange struct {
	Sent, Received string
	Status         int    // 0 if nothing came back
	Failed         string // why it is no answer
	Reply          Reply  // what was understood of it
}

// mostKept bounds what is kept of an answer for Exchanged.
const mostKept = 1 << 20

// A Client asks one endpoint.
type Client struct {
	Config
	key  string
	base string
	bare bool // the base URL had no path
	api  *openai.Client

	mu      sync.Mutex
	adapted adapted           // what has helped
	said    map[string]string // the endpoint's words, by the name of what it refused
}

// New makes a client. It sends nothing. What stands around a key, as the end of the line of a file, is no
// part of it, nor is the path of a request one of the base URL.
func New(c Config) (*Client, error) {
	c.Key = strings.TrimSpace(c.Key)
	address, whole := strings.CutSuffix(strings.TrimRight(strings.TrimSpace(c.BaseURL), "/"), "/chat/completions")
	c.BaseURL = address
	base, err := url.Parse(c.BaseURL)
	switch {
	case c.BaseURL == "":
		return nil, errors.New("a base URL is needed, such as http://localhost:8080/v1")
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, errors.New("the base URL is not one of http or https, such as http://localhost:8080/v1")
	case base.User != nil || base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("the base URL must be scheme, host and path alone: the key goes elsewhere")
	case c.Model == "":
		return nil, errors.New("the name of a model is needed")
	case strings.ContainsAny(c.Key, "\r\n\x00"):
		return nil, errors.New("the key contains a line break: give it as one line")
	}
	switch c.Grammars {
	case NoGrammars, LlamaCpp, VLLM:
	default:
		return nil, fmt.Errorf("grammars are handed over as %s or %s", LlamaCpp, VLLM)
	}
	bare := !whole && base.Path == ""
	if bare {
		base.Path = "/v1"
	}
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{{&c.Timeout, 5 * time.Minute}, {&c.First, 90 * time.Second}, {&c.Idle, 30 * time.Second}, {&c.Backoff, time.Second / 2}, {&c.MaxWait, 20 * time.Second}} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	c.First = min(c.First, c.Timeout)
	if c.Attempts <= 0 {
		c.Attempts = 3
	}
	if c.MaxBytes <= 0 {
		c.MaxBytes = 8 << 20
	}
	if c.Random == nil {
		c.Random = func() float64 { return math.Nextafter(1, 0) }
	}
	if c.Wait == nil {
		c.Wait = wait
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Transport == nil {
		if c.Transport, err = ownTransport(); err != nil {
			return nil, err
		}
	}
	client := &Client{Config: c, key: c.Key, base: base.String(), bare: bare, said: map[string]string{}}
	client.adapted = familyOf(base.Hostname(), c.Model).adapted()
	config := openai.DefaultConfig(c.Key)
	config.BaseURL = client.base
	config.HTTPClient = &http.Client{
		Transport: &transport{next: c.Transport, maxBytes: c.MaxBytes, first: c.First, whole: c.Timeout, idle: c.Idle, now: c.Now},
	}
	client.api = openai.NewClientWithConfig(config)
	client.Key = ""
	return client, nil
}

func ownTransport() (http.RoundTripper, error) {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("the default transport was replaced: give one")
	}
	return t.Clone(), nil
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// String returns the name of the model and its address, without the key.
func (c *Client) String() string { return c.Model + " at " + c.base }

// Format keeps the key out of %+v too.
func (c *Client) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, c.String()) }

// Chat asks for the next message.
func (c *Client) Chat(ctx context.Context, r Request, piece func(string)) (*Reply, error) {
	request, extra, err := c.request(&r)
	if err != nil {
		return nil, err
	}
	var reply *Reply
	handed := false
	attempt := func(ctx context.Context, x *exchange) error {
		var err error
		reply = &Reply{}
		x.reply, x.streamed = reply, piece != nil
		if piece == nil {
			err = c.whole(ctx, request, reply, x)
		} else {
			err = c.stream(ctx, request, reply, x, func(s string) { handed = true; piece(s) })
		}
		if err == nil {
			reply.tidy(len(r.Schema) > 0)
			reply.Unread = x.size > smallest && 0 < reply.Usage.In && reply.Usage.In < x.size*leastRead/100
		}
		if err == nil && len(reply.Calls) == 0 && reply.Finish == Stopped && (len(r.Tools) > 0 || strings.Contains(reply.Text, "<|channel|>")) {
			if reply.Calls, reply.Text = inText(reply.Text, r.Tools); len(reply.Calls) > 0 {
				reply.Text, reply.Finish = "", Called
				reply.number()
			}
		}
		if err == nil && reply.empty() {
			return x.nothing(reply)
		}
		return err
	}
	// What an attempt cost: the endpoint's own count, or what was sent and came back.
	cost := func() Usage {
		if reply.Usage.Total() > 0 {
			return reply.Usage
		}
		u := Usage{In: r.estimate(), Out: EstimateTokens(reply.Text) + EstimateTokens(reply.Reasoning), Estimated: true}
		for _, call := range reply.Calls {
			u.Out += EstimateTokens(call.Name) + EstimateTokens(call.Arguments)
		}
		return u
	}
	var beside []string
	for i := range r.Messages {
		beside = append(beside, r.Messages[i].Beside)
		for _, call := range r.Messages[i].Calls {
			beside = append(beside, call.Beside)
		}
	}
	spent, e := c.persist(ctx, extra, beside, attempt, &handed, cost)
	if e != nil {
		e.Usage = spent
		return nil, e
	}
	reply.Usage = spent
	return reply, nil
}

// nothing says why an answer is empty, as far as one can tell.
func (x *exchange) nothing(reply *Reply) *Error {
	e := &Error{Kind: Garbled, Err: errors.New("the answer is empty"), Advice: "the context that its server has loaded may be too small: choose a larger context, or another model"}
	switch {
	case reply.Finish == TooLong && (x.thought || reply.Reasoning != ""):
		e.Kind, e.last, e.Advice = Cut, true, "the model thought until the answer was as long as it may be: choose another model, or have it think less"
	case reply.Finish == TooLong:
		e.last = true
	default:
		e.empty = true
	}
	if reply.Unread {
		e.Advice = LargerContext
	}
	return e
}

// LargerContext says what an operator can do about a prompt of which a part was left out.
const LargerContext = "its server read far fewer tokens than it was sent, so it cuts off what is too long: load the model with a larger context (OLLAMA_CONTEXT_LENGTH of Ollama), or give fewer palettes"

// empty reports whether an answer says nothing at all.
func (r *Reply) empty() bool {
	return (r.Finish == Stopped || r.Finish == TooLong) && strings.TrimSpace(r.Text) == "" && len(r.Calls) == 0
}

// request says a Request in the words of the protocol.
func (c *Client) request(r *Request) (openai.ChatCompletionRequest, map[string]any, error) {
	q := openai.ChatCompletionRequest{Seed: r.Seed, Stop: r.Stop}
	// Not told to the library, which refuses some names by itself: only the endpoint knows.
	extra := map[string]any{"model": c.Model}
	shapes := 0
	for _, shaped := range []bool{len(r.Tools) > 0, len(r.Schema) > 0, r.Grammar != ""} {
		if shaped {
			shapes++
		}
	}
	invalid := func(text string) (openai.ChatCompletionRequest, map[string]any, error) {
		return q, nil, &Error{Kind: Invalid, Err: errors.New(text)}
	}
	switch {
	case len(r.Messages) == 0:
		return invalid("there is no message")
	case shapes > 1:
		return invalid("an answer is shaped by tools, a schema or a grammar: one of them")
	case r.Grammar != "" && c.Grammars == NoGrammars:
		return q, nil, &Error{Kind: Unsupported, Err: errors.New("this endpoint is not known to take grammars")}
	}
	ids := map[string]string{} // by which calls are sent: some endpoints give the same ones each turn
	sent := map[string]bool{}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Text == "" && len(m.Calls) == 0 && m.Role != ToolRole {
			return invalid(fmt.Sprintf("message %d is empty", i+1))
		}
		if m.Role == ToolRole && m.CallID == "" {
			return invalid(fmt.Sprintf("message %d answers no call", i+1))
		}
		msg := openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text, ToolCallID: cmp.Or(ids[m.CallID], m.CallID), ReasoningContent: m.Reasoning}
		if m.Role == ToolRole && m.Text == "" {
			msg.Content = " " // the library leaves an empty text out, which endpoints refuse
		}
		for _, call := range m.Calls {
			id := call.ID
			for n := len(sent) + 1; sent[id]; n++ {
				id = fmt.Sprintf("call%05d", n)
			}
			sent[id], ids[call.ID] = true, id
			msg.ToolCalls = append(msg.ToolCalls, openai.ToolCall{ID: id, Type: openai.ToolTypeFunction, Function: openai.FunctionCall{Name: call.Name, Arguments: anObject(call.Arguments)}})
		}
		q.Messages = append(q.Messages, msg)
	}
	for i := range r.Tools {
		t := &r.Tools[i]
		parameters := short(t.Parameters)
		q.Tools = append(q.Tools, openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{Name: t.Name, Description: t.Description, Parameters: parameters, Strict: strictSubset(parameters)}})
	}
	if r.MustCall && len(r.Tools) > 0 {
		q.ToolChoice = "required"
	}
	if len(r.Schema) > 0 {
		name := r.SchemaName
		if name == "" {
			name = "answer"
		}
		q.ResponseFormat = &openai.ChatCompletionResponseFormat{
			Type:       openai.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &openai.ChatCompletionResponseFormatJSONSchema{Name: name, Schema: r.Schema, Strict: strictSubset(r.Schema)},
		}
	}
	if r.Grammar != "" {
		switch c.Grammars {
		case LlamaCpp:
			extra["grammar"] = r.Grammar
		case VLLM:
			extra["structured_outputs"] = map[string]string{"grammar": r.Grammar}
		}
	}
	if r.Temperature != nil {
		// Said here, because the library leaves a zero out and the endpoint's own
		// default is not zero.
		extra["temperature"] = *r.Temperature
	}
	if r.MaxTokens > 0 {
		extra["max_tokens"] = r.MaxTokens
	}
	return q, extra, nil
}

// anObject returns arguments as endpoints take them back: many refuse a call without any, or one that is
// cut.
func anObject(arguments string) string {
	var o map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &o) == nil && o != nil {
		return arguments
	}
	if strings.TrimSpace(arguments) == "" {
		return "{}"
	}
	text, _ := json.Marshal(map[string]string{"text": arguments}) // a text always is JSON
	return string(text)
}

// whole asks for an answer in one piece.
func (c *Client) whole(ctx context.Context, q openai.ChatCompletionRequest, reply *Reply, x *exchange) error {
	resp, err := c.api.CreateChatCompletion(ctx, q)
	if err != nil {
		return err
	}
	if len(resp.Choices) == 0 {
		return errors.New("there is no choice in the answer")
	}
	choice := &resp.Choices[0]
	*reply = Reply{
		Text: choice.Message.Content, Refusal: choice.Message.Refusal, Reasoning: kept(choice.Message.ReasoningContent), Model: resp.Model,
		Usage: Usage{In: resp.Usage.PromptTokens, Out: resp.Usage.CompletionTokens}, Calls: x.made(), Beside: x.aside(),
	}
	return reply.end(choice.FinishReason)
}

// mostReasoning is how much of a model's reasoning is kept, to be sent back to endpoints that want it.
const mostReasoning = 256 << 10

func kept(reasoning string) string {
	if len(reasoning) > mostReasoning {
		return ""
	}
	return reasoning
}

// stream asks for an answer piece by piece. After an error, reply holds what came before it.
func (c *Client) stream(ctx context.Context, q openai.ChatCompletionRequest, reply *Reply, x *exchange, piece func(string)) error {
	q.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	s, err := c.api.CreateChatCompletionStream(ctx, q)
	if err != nil {
		return err
	}
	defer s.Close()
	var text, refusal, reasoning strings.Builder
	keep := func() {
		reply.Text, reply.Refusal, reply.Reasoning = text.String(), refusal.String(), kept(reasoning.String())
		reply.Calls, reply.Beside = x.made(), x.aside()
	}
	var finish openai.FinishReason
	for {
		chunk, err := s.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			keep()
			return err
		}
		if chunk.Model != "" {
			reply.Model = chunk.Model
		}
		if chunk.Usage != nil {
			reply.Usage = Usage{In: chunk.Usage.PromptTokens, Out: chunk.Usage.CompletionTokens}
		}
		for i := range chunk.Choices {
			choice := &chunk.Choices[i]
			if choice.Index != 0 {
				continue
			}
			if choice.FinishReason != "" {
				finish = choice.FinishReason
			}
			refusal.WriteString(choice.Delta.Refusal)
			reasoning.WriteString(choice.Delta.ReasoningContent)
			if choice.Delta.Content != "" {
				text.WriteString(choice.Delta.Content)
				piece(choice.Delta.Content)
			}
		}
	}
	keep()
	if finish == "" && !(x.done && reply.whole()) {
		// A stream that simply ends was cut, whatever the connection says. One that says that it is
		// over, and is whole, only lacks the reason.
		return &Error{Kind: Cut, Status: http.StatusOK, Err: errors.New("the stream ended without a reason")}
	}
	return reply.end(finish)
}

// whole reports whether an answer says something, and no call is cut.
func (r *Reply) whole() bool {
	for i := range r.Calls {
		if a := r.Calls[i].Arguments; a != "" && !json.Valid([]byte(a)) {
			return false
		}
	}
	return r.Text != "" || len(r.Calls) > 0
}

// end says why an answer ended.
func (r *Reply) end(reason openai.FinishReason) error {
	for i := range r.Calls {
		if r.Calls[i].Name == "" {
			return &Error{Kind: Garbled, Err: fmt.Errorf("tool call %d has no name", i+1)}
		}
	}
	r.number()
	switch {
	case r.Refusal != "" || reason == openai.FinishReasonContentFilter:
		r.Finish = Filtered
	case reason == openai.FinishReasonLength:
		r.Finish = TooLong
	case len(r.Calls) > 0: // some endpoints say "stop" here too
		r.Finish = Called
	default:
		r.Finish = Stopped
	}
	return nil
}

// number gives calls without an identifier, or with that of another, one of their own: the answer to a
// call is found by it. Mistral takes nine letters or digits and nothing else.
func (r *Reply) number() {
	seen := map[string]bool{}
	for i := range r.Calls {
		id := &r.Calls[i].ID
		for n := i + 1; *id == "" || seen[*id]; n += maxCalls {
			*id = fmt.Sprintf("call%05d", n)
		}
		seen[*id] = true
	}
}

// Embed asks for vectors.
func (c *Client) Embed(ctx context.Context, texts []string) ([][]float32, Usage, error) {
	if c.Embedding == "" {
		return nil, Usage{}, &Error{Kind: Unsupported, Err: errors.New("no embedding model is configured")}
	}
	if len(texts) == 0 {
		return nil, Usage{}, nil
	}
	cost := Usage{Estimated: true}
	for i, t := range texts {
		if t == "" {
			return nil, Usage{}, &Error{Kind: Invalid, Err: fmt.Errorf("text %d is empty", i+1)}
		}
		cost.In += EstimateTokens(t)
	}
	var vectors [][]float32
	var usage Usage
	attempt := func(ctx context.Context, _ *exchange) error {
		resp, err := c.api.CreateEmbeddings(ctx, openai.EmbeddingRequestStrings{Input: texts, Model: openai.EmbeddingModel(c.Embedding), EncodingFormat: openai.EmbeddingEncodingFormatFloat})
		if err != nil {
			return err
		}
		usage = Usage{In: resp.Usage.PromptTokens}
		vectors, err = inOrder(resp.Data, len(texts))
		return err
	}
	never := false
	spent, e := c.persist(ctx, nil, nil, attempt, &never, func() Usage {
		if usage.Total() > 0 {
			return usage
		}
		return cost
	})
	if e != nil {
		e.Usage = spent
		return nil, Usage{}, e
	}
	return vectors, spent, nil
}

// inOrder sorts vectors by the text that each belongs to.
func inOrder(data []openai.Embedding, n int) ([][]float32, error) {
	vectors := make([][]float32, n)
	for i := range data {
		d := &data[i]
		if d.Index < 0 || d.Index >= n || vectors[d.Index] != nil {
			return nil, fmt.Errorf("a vector for text %d, of %d, is one too many", d.Index+1, n)
		}
		vectors[d.Index] = d.Embedding
	}
	for i, v := range vectors {
		if len(v) == 0 || len(v) != len(vectors[0]) {
			return nil, fmt.Errorf("the vector for text %d is missing or of another length", i+1)
		}
		for _, x := range v {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				return nil, fmt.Errorf("the vector for text %d is not of numbers", i+1)
			}
		}
	}
	return vectors, nil
}

// leastRead is the least part, in hundreds, that an endpoint's count of a prompt has of ours, if it has
// read all: ours errs on the high side.
const leastRead = 60

// smallest is a prompt that every server holds.
const smallest = 1000

// silencers are the parts of a request without which an empty answer is asked for again, one after the other:
// first none, since it may have been an accident; a call that must be made (LM Studio, lmstudio-bug-tracker
// issue 1904, 2026-05-10); a stream of calls (mlx-serve issue 287, 2026-08-28).
var silencers = []string{"", "tool_choice", "stream"}

// persist makes attempts until one succeeds, none can, or no more are allowed. A request that is
// refused for a part that can be taken back is sent again at once without it, which is no attempt.
// spent is what the endpoint has read and written in all of them: a request that was refused, or never
// arrived, costs nothing.
func (c *Client) persist(ctx context.Context, extra map[string]any, beside []string, attempt func(context.Context, *exchange) error, handed *bool, cost func() Usage) (spent Usage, _ *Error) {
	state := c.known()
	said := map[string]string{}
	var waited time.Duration // for a model that is loaded
	ways := silencers
	var begun adapted // before an answer was empty
	var heard map[string]string
	for n := 1; ; n++ {
		x := &exchange{extra: extra, beside: beside, adapted: state}
		err := c.once(ctx, x, attempt)
		if err == nil || x.read(err) {
			spent = spent.plus(cost())
		}
		if err == nil {
			if x.ghosts {
				state = maps.Clone(state)
				state["tool_calls"], said["tool_calls"] = 1, "an entry without id and function"
			}
			c.learn(state, said)
			return spent, nil
		}
		if r := x.refused; r != nil && r.mayName() && ctx.Err() == nil {
			if more, ok := state.next(x.asked, r.all+"\n"+r.best); ok {
				for name, steps := range more {
					if steps != state[name] {
						said[name] = c.scrubbed(errors.New(r.best)).Error()
					}
				}
				state = more
				n--
				continue
			}
		}
		err.Attempts = n
		if err.empty && c.Attempts > 1 && !*handed && ctx.Err() == nil {
			if heard == nil {
				begun, heard = state, maps.Clone(said)
			}
			again := false
			for ; !again && len(ways) > 0; ways = ways[1:] {
				if state, again = begun.without(x.asked, ways[0]); ways[0] != "" {
					said = maps.Clone(heard)
					said[ways[0]] = "nothing: " + err.Err.Error()
				}
			}
			if again {
				continue
			}
			return spent, err
		}
		if x.refused != nil && x.refused.loading() && waited < c.First && ctx.Err() == nil {
			pause := min(c.Backoff<<min(n-1, 4), c.MaxWait, c.First-waited)
			if waited += pause; c.Wait(ctx, pause) == nil {
				continue
			}
		}
		if n >= c.Attempts || !err.again() || *handed || ctx.Err() != nil {
			return spent, err
		}
		pause, ok := c.pause(n, err.RetryAfter)
		if !ok {
			return spent, err
		}
		if c.Wait(ctx, pause) != nil {
			return spent, err
		}
	}
}

// read reports whether the endpoint has read a request that failed.
func (x *exchange) read(err *Error) bool {
	switch {
	case x.refused != nil || x.status >= 300:
		return false
	case x.status != 0:
		return true
	}
	// It was still at work on it.
	return x.written.Load() && (err.Kind == Late || err.Kind == Cancelled)
}

func (u Usage) plus(v Usage) Usage {
	return Usage{In: u.In + v.In, Out: u.Out + v.Out, Estimated: u.Estimated || v.Estimated}
}

func (c *Client) known() adapted {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.adapted
}

// learn remembers what has helped.
func (c *Client) learn(state adapted, said map[string]string) {
	if len(said) == 0 {
		return
	}
	c.mu.Lock()
	merged := adapted{}
	var fresh []string
	for i := range adjustables {
		name := adjustables[i].name
		merged[name] = max(c.adapted[name], state[name])
		if merged[name] != c.adapted[name] {
			fresh = append(fresh, name)
			c.said[name] = said[name]
		}
	}
	c.adapted = merged
	all := merged.list(c.said)
	c.mu.Unlock()
	for _, a := range all {
		if c.Config.Adapted != nil && slices.Contains(fresh, a.Parameter) {
			c.Config.Adapted(a)
		}
	}
}

// Adaptations returns what is changed in every request for this endpoint, in a fixed order.
func (c *Client) Adaptations() []Adaptation {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.adapted.list(c.said)
}

func (c *Client) once(ctx context.Context, x *exchange, attempt func(context.Context, *exchange) error) *Error {
	within, stop := context.WithTimeoutCause(context.WithValue(ctx, exchangeKey{}, x), c.Timeout, errLate)
	defer stop()
	x.keeps = c.Exchanged != nil
	err := attempt(within, x)
	var failed *Error
	if err != nil {
		failed = c.failed(ctx, within, err, x)
	}
	if c.Exchanged != nil && x.sent {
		e := Exchange{Sent: c.keyless(string(x.carried)), Received: c.keyless(string(x.received)), Status: x.status}
		if failed != nil {
			e.Failed = failed.Error()
		}
		if x.reply != nil {
			is, _ := json.Marshal(x.reply) // made of texts and numbers
			clean := c.keyless(string(is))
			_ = json.Unmarshal([]byte(clean), &e.Reply)
			if clean != string(is) { // the pieces of a stream may cut the key in two
				e.Received = clean
			}
		}
		c.Exchanged(e)
	}
	return failed
}

// pause returns the wait after the n-th attempt: the time that the endpoint asked for, and a random
// part of a bound that doubles each time. ok is false if the endpoint asks for more than MaxWait.
func (c *Client) pause(n int, asked time.Duration) (d time.Duration, ok bool) {
	most := c.Backoff << min(n-1, 20)
	if most <= 0 || most > c.MaxWait {
		most = c.MaxWait
	}
	d = asked + time.Duration(c.Random()*float64(most))
	return d, asked <= c.MaxWait
}
