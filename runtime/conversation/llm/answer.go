package llm

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	openai "github.com/sashabaranov/go-openai"
)

// Endpoints write an answer in many forms: a stream where none was asked for, and the reverse; a
// content that is a list of parts; arguments that are an object; fields of types of their own. What is
// used of it is written anew, in the one form that the protocol library reads.

// plain returns an answer, or an event of a stream, as the library reads it. Calls are gathered beside
// it, since the library's types hold neither arguments in other forms nor what endpoints add to a call.
func (x *exchange) plain(o *object) (*object, error) {
	out := &object{}
	if model := o.text("model"); model != "" {
		out.set("model", model)
	}
	said := "message"
	if x.streamed {
		said = "delta"
	}
	kept := []any{}
	usage := child(o, "usage")
	choices, _ := o.list("choices")
	for i, c := range choices {
		choice, _ := c.(*object)
		if n, has := choice.number("index"); has && n != 0 || !has && i > 0 {
			continue
		}
		usage = cmp.Or(usage, child(choice, "usage")) // Moonshot's place for it
		message := cmp.Or(child(choice, "delta"), child(choice, "message"))
		plain, err := x.message(message)
		if err != nil {
			return nil, err
		}
		end, err := ending(choice.text("finish_reason"))
		if err != nil {
			return nil, err
		}
		kept = append(kept, &object{{"index", json.RawMessage("0")}, {said, plain}, {"finish_reason", end}})
	}
	out.set("choices", kept)
	if usage != nil {
		thought, _ := child(usage, "completion_tokens_details").number("reasoning_tokens")
		x.thought = x.thought || thought > 0
		in, made := counted(usage, "prompt_tokens"), counted(usage, "completion_tokens")
		out.set("usage", &object{{"prompt_tokens", in}, {"completion_tokens", made}})
	}
	return out, nil
}

// counted returns a count of tokens; one below 0 is none.
func counted(usage *object, name string) json.RawMessage {
	n, _ := usage.number(name)
	return json.RawMessage(strconv.Itoa(max(n, 0)))
}

// message returns a message, or a piece of one, without its calls.
func (x *exchange) message(m *object) (*object, error) {
	out := &object{}
	if m == nil {
		return out, nil
	}
	text, thought, err := content(m.get("content"))
	if err != nil {
		return nil, err
	}
	if thought == "" {
		thought = cmp.Or(m.text("reasoning_content"), m.text("reasoning"))
	}
	for i, f := range []struct{ name, text string }{{"content", text}, {"reasoning_content", thought}, {"refusal", m.text("refusal")}} {
		if x.pieces {
			f.text = x.texts[i].more(f.text)
		}
		if f.text != "" {
			out.set(f.name, f.text)
			x.began = true
		}
	}
	x.details = append(x.details, listed(m, "reasoning_details")...)
	calls, _ := m.list("tool_calls")
	if f := child(m, "function_call"); f != nil { // the form before tools
		calls = append(calls, &object{{"function", f}})
	}
	for _, c := range calls {
		call, ok := c.(*object)
		if !ok {
			return nil, &Error{Kind: Garbled, Err: errors.New("a call is no object")}
		}
		if err := x.grow(call); err != nil {
			return nil, err
		}
		x.began = true
	}
	return out, nil
}

// A growing text comes in pieces. Some endpoints repeat in each piece all that came before it, and some
// the whole text once more at the end (DashScope, QwenLM/qwen-code pull request 3896, 2026-05-13).
type growing struct {
	whole  string
	pieces int
	repeat bool // each piece has all of it
}

// longRepeat is a length from which a text that stands at the head of a piece is no chance.
const longRepeat = 24

// more takes a piece, and returns what of it is new.
func (g *growing) more(piece string) string {
	if piece == "" {
		return ""
	}
	g.pieces++
	if rest, all := strings.CutPrefix(piece, g.whole); all && g.whole != "" {
		short := g.pieces == 2 && rest != "" && strings.ContainsFunc(g.whole, unicode.IsLetter)
		if g.repeat || short || len(g.whole) >= longRepeat {
			g.repeat = true
			piece = rest
		}
	}
	g.whole += piece
	return piece
}

// content returns the text of a message, and what the model thought: Mistral writes both into a list
// of parts.
func content(v any) (text, thought string, err error) {
	switch v := v.(type) {
	case nil:
	case json.RawMessage:
		if string(v) != "null" {
			err = json.Unmarshal(v, &text)
		}
	case []any:
		for _, part := range v {
			t, th, err := content(part)
			if err != nil {
				return "", "", err
			}
			text, thought = text+t, thought+th
		}
	case *object:
		inner := v.get("text")
		thinks := v.at("thinking") >= 0
		if thinks {
			inner = v.get("thinking")
		}
		if kind := v.text("type"); inner == nil && (strings.Contains(kind, "thinking") || strings.Contains(kind, "reasoning")) {
			return "", "", nil // withheld
		}
		if inner == nil {
			return "", "", &Error{Kind: Garbled, Err: fmt.Errorf("a part of the answer is of the type %q, and holds no text", v.text("type"))}
		}
		if text, thought, err = content(inner); thinks {
			text, thought = "", thought+text
		}
	}
	if err != nil {
		err = &Error{Kind: Garbled, Err: errors.New("the content of the answer is no text")}
	}
	return text, thought, err
}

// ending reads the reason for which an answer ended; endpoints have words of their own.
func ending(reason string) (json.RawMessage, error) {
	lower := strings.ToLower(reason)
	is := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(lower, w) })
	}
	switch {
	case reason == "":
		return json.RawMessage("null"), nil
	case is("malformed", "unexpected_tool", "too_many_tool", "invalid_tool", "tool_error"):
		return nil, &Error{Kind: Garbled, Err: fmt.Errorf("the endpoint says that the answer ended as %s", reason)}
	case is("error", "abort", "cancel", "timeout", "interrupt", "insufficient_system", "overload", "preempt"): // DeepSeek, Zhipu, SGLang, Moonshot
		return nil, &Error{Kind: Cut, Err: fmt.Errorf("the endpoint says that the answer ended as %s", reason)}
	case is("max_token", "max_output", "length", "context_window"):
		reason = string(openai.FinishReasonLength)
	case is("safety", "filter", "refus", "sensitive", "recitation", "blocklist", "prohibited", "spii", "guardrail", "moderation", "blocked"):
		reason = string(openai.FinishReasonContentFilter)
	}
	return json.Marshal(reason)
}

// A gathered is a call of which some pieces have come.
type gathered struct {
	ToolCall
	index int    // the endpoint's own, -1 if it gives none
	last  string // the last piece of its arguments
}

// maxCalls bounds the tools that one answer may ask for.
const maxCalls = 1000

// grow adds a call, or a piece of one, to the calls that have begun. Some endpoints repeat the name or
// the id in each piece, some give several calls one index, and some give no index at all.
func (x *exchange) grow(piece *object) error {
	f := child(piece, "function")
	if f == nil {
		f = piece
	}
	id, name, arguments := piece.text("id"), f.text("name"), argumentsOf(f)
	index, has := piece.number("index")
	if !has || !x.pieces {
		index = -1
	}
	var call *gathered
	for i := range x.calls {
		c := &x.calls[i]
		if has && c.index == index || !has && (id == "" || c.ID == id) {
			call = c // the last of them
		}
	}
	if call != nil && name != "" && x.pieces {
		same := id == call.ID || id == "" || call.ID == ""
		over := arguments != "" && (id == "" || id != call.ID) && json.Valid([]byte(call.Arguments))
		if !same || over {
			call = nil
		}
	}
	if call == nil || !x.pieces {
		if len(x.calls) == maxCalls {
			return &Error{Kind: Garbled, Err: fmt.Errorf("it asks for more than %d tools at once", maxCalls)}
		}
		x.calls = append(x.calls, gathered{index: index})
		call = &x.calls[len(x.calls)-1]
	}
	call.ID = cmp.Or(call.ID, id)
	name, _, _ = strings.Cut(name, "<|") // a mark of its channel
	if strings.HasPrefix(name, call.Name) {
		call.Name = name // the whole of it again
	} else {
		call.Name += name
	}
	call.Arguments += arguments
	call.last = cmp.Or(arguments, call.last)
	return call.add(piece)
}

func argumentsOf(f *object) string {
	v := f.get("arguments")
	if raw, ok := v.(json.RawMessage); ok || v == nil {
		var text string
		if json.Unmarshal(raw, &text) == nil || string(raw) == "null" || v == nil {
			return text
		}
	}
	text, err := json.Marshal(v)
	if err != nil { // it was read from JSON
		return ""
	}
	return string(text)
}

// add keeps what an endpoint puts beside a call and wants to have back with it.
func (g *gathered) add(piece *object) error {
	for _, m := range *piece {
		if m.key != "extra_content" && m.key != "provider_specific_fields" && !strings.Contains(strings.ToLower(m.key), "signature") {
			continue
		}
		if raw, ok := m.value.(json.RawMessage); ok && (string(raw) == "null" || string(raw) == `""`) {
			continue
		}
		all := &object{}
		if g.Beside != "" {
			value, err := ordered([]byte(g.Beside))
			if err != nil {
				return err
			}
			all = value.(*object) // written below
		}
		all.set(m.key, m.value)
		text, err := json.Marshal(all)
		if err != nil {
			return err
		}
		g.Beside = string(text)
	}
	return nil
}

// made returns the calls that were gathered. What has neither a name, an id nor arguments beside others is
// none (LM Studio, lmstudio-bug-tracker issue 830, 2025-08-02).
func (x *exchange) made() (calls []ToolCall) {
	named := slices.ContainsFunc(x.calls, func(g gathered) bool { return g.Name != "" })
	for _, g := range x.calls {
		if named && g.Name == "" && g.ID == "" && g.Arguments == "" {
			x.ghosts = true
			continue
		}
		if !json.Valid([]byte(g.Arguments)) && json.Valid([]byte(g.last)) {
			g.Arguments = g.last // the last piece has all of them again
		}
		if g.ID == "" || !slices.Contains(calls, g.ToolCall) { // said again
			calls = append(calls, g.ToolCall)
		}
	}
	return calls
}

// aside returns what stands beside the message: OpenRouter has the signatures of thoughts there.
func (x *exchange) aside() string {
	if len(x.details) == 0 {
		return ""
	}
	text, err := json.Marshal(&object{{"reasoning_details", x.details}})
	if err != nil || len(text) > mostReasoning {
		return ""
	}
	return string(text)
}

// refusedIn returns the refusal that stands in an answer with status 200, or in an event of a stream; nil
// if it is an answer. kind is the type of the event.
func refusedIn(o *object, kind string) *refusal {
	wrong := o.get("error")
	if raw, ok := wrong.(json.RawMessage); ok && (string(raw) == "null" || string(raw) == `""` || string(raw) == "false") {
		wrong = nil
	}
	_, answers := o.list("choices")
	if _, vectors := o.list("data"); vectors {
		answers = true
	}
	for _, c := range listed(o, "choices") {
		if e := child(c, "error"); e != nil { // OpenRouter's place for it
			wrong, o = e, &object{{"error", e}}
		}
	}
	says := slices.ContainsFunc([]string{"errors", "detail", "message", "msg", "error_msg", "error_message"}, func(name string) bool { return o.at(name) >= 0 })
	if n, ok := child(o, "base_resp").number("status_code"); ok && n != 0 { // MiniMax
		wrong = o.get("base_resp")
	}
	if wrong == nil && kind != "error" && (answers || !says) {
		return nil
	}
	text, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	r := readRefusal(http.StatusBadGateway, text) // in trouble, unless it says otherwise
	for _, of := range []*object{o, child(o, "error")} {
		for _, name := range []string{"code", "status", "status_code"} {
			if n, ok := of.number(name); ok && n >= 400 && n < 600 {
				r.status = n
			}
		}
	}
	if r.noSuchPath() {
		r.status = http.StatusNotFound
	}
	return r
}

// failed makes an error of a refusal under status 200. Where the answer had not begun, the request was
// refused.
func (x *exchange) failed(r *refusal) error {
	if !x.began {
		x.refused = r
	}
	return &Error{Kind: r.kind(), Err: errors.New(r.best)}
}

// document reads an answer in one piece.
func (x *exchange) document(text []byte) ([]byte, error) {
	value, err := ordered(text)
	if list, ok := value.([]any); ok && len(list) == 1 {
		value = list[0]
	}
	o, ok := value.(*object)
	if err != nil || !ok {
		return nil, &Error{Kind: Garbled, Err: fmt.Errorf("the answer is not the JSON of an answer: %s", cut(text))}
	}
	if r := refusedIn(o, ""); r != nil {
		return nil, x.failed(r)
	}
	if x.reply == nil { // vectors
		return text, nil
	}
	if o, err = x.plain(o); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(o); err != nil {
		return nil, err
	}
	if x.streamed {
		x.done = true
		text = append(append([]byte("data: "), text...), "\n\ndata: "+over+"\n\n"...)
	}
	return text, nil
}

// cut returns the beginning of a text, on one line.
func cut(text []byte) string {
	const most = 200
	line := strings.Join(strings.Fields(string(text[:min(len(text), most)])), " ")
	if len(text) > most {
		line += "…"
	}
	return strings.ToValidUTF8(line, "")
}

// over is the last event of a stream.
const over = "[DONE]"

// Events reads a stream and writes it anew, an event a line. Comments are left out: the library gives
// up after some hundreds.
type events struct {
	io.Closer
	x     *exchange
	in    *bufio.Reader
	out   bytes.Buffer
	kind  string // the type of the event
	data  []byte // what has come of it
	stray []byte // text that is no event
	any   bool
	err   error
}

func (e *events) Read(p []byte) (int, error) {
	for e.out.Len() == 0 {
		if e.err != nil {
			return 0, e.err
		}
		o, err := e.next()
		e.err = err
		if o == nil {
			continue
		}
		text, err := json.Marshal(o)
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(&e.out, "data: %s\n\n", text)
	}
	return e.out.Read(p)
}

// next reads a line, and returns the event that it ends, as the library reads it.
func (e *events) next() (*object, error) {
	line, err := e.in.ReadBytes('\n')
	line = bytes.TrimPrefix(bytes.TrimRight(line, "\r\n"), []byte("\ufeff"))
	field, value, _ := bytes.Cut(line, []byte(":"))
	switch {
	case len(line) == 0:
		data := bytes.TrimSpace(e.data)
		if len(data) == 0 || slices.Contains([]string{"ping", "heartbeat", "keepalive", "keep-alive"}, e.kind) {
			e.data = nil // a sign of life
		}
		if len(e.data) > 0 && err == nil {
			return nil, &Error{Kind: Garbled, Err: fmt.Errorf("an event of the stream is no JSON: %s", cut(e.data))}
		}
		e.kind = ""
	case string(field) == "event":
		e.kind = string(bytes.TrimSpace(value))
	case string(field) == "data", line[0] == '{' && len(e.data) == 0:
		if line[0] == '{' {
			value = line // a refusal without its frame
		}
		e.data = append(append(e.data, bytes.TrimSpace(value)...), '\n')
		if o, told := e.told(); told != nil || o != nil {
			return o, told
		}
	case len(e.stray) < mostRefusal && len(field) > 0:
		e.stray = append(append(e.stray, line...), '\n')
	}
	if err == io.EOF && !e.any && len(e.stray) > 0 {
		return nil, &Error{Kind: Garbled, Err: fmt.Errorf("the answer is not the JSON of an answer: %s", cut(e.stray))}
	}
	return nil, err
}

// told returns the event that has come, if it is whole.
func (e *events) told() (*object, error) {
	text := bytes.TrimSpace(e.data)
	if string(text) == over {
		e.x.done = true
		return nil, io.EOF
	}
	if len(text) == 0 || !json.Valid(text) {
		return nil, nil
	}
	e.data, e.any = nil, true
	value, err := ordered(text)
	o, ok := value.(*object)
	if err != nil || !ok {
		return nil, err
	}
	if r := refusedIn(o, e.kind); r != nil {
		return nil, e.x.failed(r)
	}
	return e.x.plain(o)
}

// whole reads a stream to its end, for a caller who expects an answer in one piece.
func (e *events) whole() ([]byte, error) {
	var text, thought, refusal strings.Builder
	out, end := &object{}, any(json.RawMessage("null"))
	for {
		o, err := e.next()
		for _, c := range listed(o, "choices") {
			choice := c.(*object) // written by plain
			m := child(choice, "message")
			text.WriteString(m.text("content"))
			thought.WriteString(m.text("reasoning_content"))
			refusal.WriteString(m.text("refusal"))
			if choice.text("finish_reason") != "" {
				end = choice.get("finish_reason")
			}
		}
		if o != nil && o.at("usage") >= 0 {
			out.set("usage", o.get("usage"))
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if !e.any {
		return nil, &Error{Kind: Cut, Err: errors.New("the stream ended without an answer")}
	}
	message := &object{}
	message.set("content", text.String())
	message.set("reasoning_content", thought.String())
	message.set("refusal", refusal.String())
	out.set("choices", []any{&object{{"message", message}, {"finish_reason", end}}})
	return json.Marshal(out)
}

func listed(o *object, key string) []any {
	list, _ := o.list(key)
	return list
}
