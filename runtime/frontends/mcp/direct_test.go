package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/engine"
)

// A request as a client of 2026-07-28 sends it; a case may change it.
type sent struct {
	body, method, name string
	header             http.Header
}

func asking(method, name, rest string) sent {
	return sent{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"name":"` + name + `",` + rest + `}}`, method: method, name: name}
}

// How Accept is written for a plain call to be answered directly, and for the library to answer.
const plainly, byLibrary = "application/json, text/event-stream", "*/*"

const (
	triple  = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}`
	about   = `"_meta":{` + triple + `}`
	nobody  = `"arguments":{"account-id":"@nobody","note":"x"}`
	opening = `"arguments":{"title":"<Ä> & co"}`
)

func (s sent) request(accept string) *http.Request {
	r := httptest.NewRequest("POST", "/mcp", strings.NewReader(s.body))
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {accept}, "Mcp-Protocol-Version": {modern}, "Mcp-Method": {s.method}, "Mcp-Name": {s.name}}
	maps.Copy(r.Header, s.header)
	return r
}

// at sends a request and returns the status and the message that it is answered with.
func (s sent) at(t testing.TB, d *Door, c *Caller, accept string) (int, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	d.ServeHTTP(w, s.request(accept), c)
	text := w.Body.String()
	if _, data, ok := strings.Cut(text, "data: "); ok {
		text, _, _ = strings.Cut(data, "\n")
	}
	var message map[string]any
	if err := json.Unmarshal([]byte(text), &message); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	return w.Code, message
}

// A call that is answered without the library is answered as with it, and a message that the
// library refuses is refused. Which of the two answers is chosen by how Accept is written.
func TestBothWaysAnswerTheSame(t *testing.T) {
	t.Parallel()
	call := func(name, rest string) sent { return asking("tools/call", name, rest) }
	with := func(s sent, header, value string) sent {
		s.header = http.Header{header: {value}}
		return s
	}
	long := strings.Repeat("k", maxKey+1)
	for name, c := range map[string]struct {
		sent
		direct bool
	}{
		"a read":                       {call("ledger__list", about), true},
		"a write":                      {call("ledger__open", opening+","+about), true},
		"arguments of null":            {call("ledger__list", `"arguments":null,`+about), true},
		"arguments that are a list":    {call("ledger__list", `"arguments":[],`+about), true},
		"an argument twice":            {call("ledger__open", `"arguments":{"title":"a","title":"b"},`+about), false},
		"half a character":             {call("ledger__open", `"arguments":{"title":"\ud800"},`+about), false},
		"an argument that is unknown":  {call("ledger__open", `"arguments":{"titel":"a"},`+about), true},
		"a row that is not there":      {call("ledger__amend-1", nobody+","+about), true},
		"a tool that is not there":     {call("ledger__x", about), true},
		"a question":                   {call("ledger__close", `"arguments":{"account-id":"@first"},`+about), true},
		"a client that asks nobody":    {call("ledger__close", `"arguments":{"account-id":"@first"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`), true},
		"a key":                        {call("ledger__open", opening+`,"_meta":{`+triple+`,"verbatim/idempotency-key":"k"}`), true},
		"a key that is too long":       {call("ledger__open", opening+`,"_meta":{`+triple+`,"verbatim/idempotency-key":"`+long+`"}`), true},
		"meta of others":               {call("ledger__list", `"_meta":{`+triple+`,"traceparent":"00-1-2-01"}`), true},
		"a client with a name":         {call("ledger__list", `"_meta":{`+triple+`,"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`), true},
		"a client whose name is none":  {call("ledger__list", `"_meta":{`+triple+`,"io.modelcontextprotocol/clientInfo":{"name":7}}`), false},
		"an answer to no question":     {call("ledger__close", `"arguments":{"account-id":"@first"},"requestState":"x","inputResponses":{},`+about), false},
		"a member that nobody knows":   {call("ledger__list", `"x":1,`+about), false},
		"capital letters":              {call("ledger__list", `"Name":"ledger__open",`+about), false},
		"no meta":                      {call("ledger__list", `"arguments":{}`), false},
		"another version in meta":      {call("ledger__list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-01-01","io.modelcontextprotocol/clientCapabilities":{}}`), false},
		"no capabilities":              {call("ledger__list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), false},
		"another tool in the header":   {with(call("ledger__list", about), "Mcp-Name", "ledger__open"), false},
		"another method in the header": {with(call("ledger__list", about), "Mcp-Method", "tools/list"), false},
		"no method in the header":      {with(call("ledger__list", about), "Mcp-Method", ""), false},
		"an event to go on from":       {with(call("ledger__list", about), "Last-Event-Id", "1"), false},
		"a form":                       {with(call("ledger__list", about), "Content-Type", "application/x-www-form-urlencoded"), false},
		"another method":               {asking("tools/list", "x", about), false},
		"a method that is not there":   {asking("tools/x", "x", about), false},
		"JSON-RPC 1":                   {sent{body: strings.Replace(call("ledger__list", about).body, "2.0", "1.0", 1), method: "tools/call", name: "ledger__list"}, false},
		"a text as id":                 {sent{body: strings.Replace(call("ledger__list", about).body, `"id":1`, `"id":"a<\u00e9"`, 1), method: "tools/call", name: "ledger__list"}, true},
		"a fraction as id":             {sent{body: strings.Replace(call("ledger__list", about).body, `"id":1`, `"id":1.5`, 1), method: "tools/call", name: "ledger__list"}, false},
		"a large id":                   {sent{body: strings.Replace(call("ledger__list", about).body, `"id":1`, `"id":12345678901234567`, 1), method: "tools/call", name: "ledger__list"}, false},
		"a list as id":                 {sent{body: strings.Replace(call("ledger__list", about).body, `"id":1`, `"id":[1]`, 1), method: "tools/call", name: "ledger__list"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var codes [2]int
			var answers [2]string
			for i, accept := range []string{plainly, byLibrary} {
				reg, caller := house(t, 2)
				d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: func() time.Time { return time.Unix(1e9, 0) }})
				if err != nil {
					t.Fatal(err)
				}
				asking("tools/call", "ledger__open", `"arguments":{"title":"First"},`+about).at(t, d, caller, byLibrary)
				if got, want := direct(c.request(accept), []byte(c.body)) != nil, c.direct && i == 0; got != want {
					t.Errorf("Accept: %s: answered without the library: %v, want %v", accept, got, want)
				}
				code, answer := c.at(t, d, caller, accept)
				codes[i], answers[i] = code, told(t, answer)
			}
			if codes[0] != codes[1] || answers[0] != answers[1] {
				t.Errorf("without the library %d\n%s\nwith it %d\n%s", codes[0], answers[0], codes[1], answers[1])
			}
		})
	}
}

// random matches values that differ in each run: ids, suffixes of names, times and sealed states.
var random = regexp.MustCompile(`[0-9a-f]{4}(?:[- ][0-9a-f]{4})+|~[0-9a-z]+|\d{4}-\d\d-\d\d[T ][0-9:.]+|"requestState": "[^"]*"`)

// told prints an answer without its random values.
func told(t *testing.T, answer map[string]any) string {
	t.Helper()
	text, err := json.MarshalIndent(answer, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return random.ReplaceAllString(string(text), "-")
}

// A member that is repeated is refused at any depth, apart from arguments of tools, which are
// checked where they are read.
func TestRepeatedMembersOfMessages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"a":1,"b":{"a":2}}`: true,
		`{"a":1,"a":2}`:       false,
		`[{"a":1},{"a":1}]`:   true,
		`{"params":{"_meta":{"x":{"y":{"z":{"a":1,"a":2}}}}}}`:     false,
		`{"params":{"_meta":[[[[[[{"a":1,"\u0061":2}]]]]]]}}`:      false,
		`{"params":{"arguments":{"a":1,"a":2}}}`:                   true,
		`[{"params":{"arguments":{"a":{"b":1,"b":2}}}}]`:           true,
		`{"params":{"arguments":{"a":1,"a":2},"name":1,"name":2}}`: false,
		`{"params":{"arguments":{},"arguments":{}}}`:               false,
		`{"params":{"name":"\ud800"}}`:                             true, // no text, which is refused where it is read
	} {
		if got := distinct([]byte(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// A fault of ours is answered without its value, as the library's way does it.
func TestAPanicIsAnsweredDirectly(t *testing.T) {
	t.Parallel()
	reg, c := house(t, 1)
	c.Session = func(context.Context) (*engine.Session, error) { panic("a secret") }
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	for _, accept := range []string{plainly, byLibrary} {
		code, answer := asking("tools/call", "ledger__list", about).at(t, d, c, accept)
		fault, _ := answer["error"].(map[string]any)
		if code != http.StatusOK || fault["message"] != "the server itself failed" || fault["code"] != -32603.0 || answer["id"] != 1.0 {
			t.Error(accept, code, answer)
		}
	}
}

// Whatever a message holds, it is answered as the library's way answers it.
func FuzzBothWaysAnswerTheSame(f *testing.F) {
	for _, s := range []sent{asking("tools/call", "ledger__list", about), asking("tools/call", "ledger__amend-1", nobody+","+about), asking("tools/call", "ledger__close", `"arguments":{"account-id":"@first"},`+about)} {
		f.Add(s.body, s.method, s.name)
	}
	reg, c := house(f, 2)
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: func() time.Time { return time.Unix(1e9, 0) }})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body, method, name string) {
		s := sent{body: body, method: method, name: name}
		m := direct(s.request(plainly), []byte(body))
		if m == nil || m.Params.Name == "ledger__open" {
			t.Skip("the library answers it anyway, or the second call meets what the first one wrote")
		}
		code, answer := s.at(t, d, c, plainly)
		as, want := s.at(t, d, c, byLibrary)
		if code != as || told(t, answer) != told(t, want) {
			t.Errorf("without the library %d\n%s\nwith it %d\n%s", code, told(t, answer), as, told(t, want))
		}
	})
}

// Agreeing again to the same call does it again, and says when it was done; the same answer, sent
// again, is done once (G60).
func TestASecondAgreementIsASecondAct(t *testing.T) {
	t.Parallel()
	reg, c := house(t, 1)
	d, err := New(Options{Registry: reg, Seal: []byte("x"), Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	const paying = `"arguments":{"title":"Rent"},` + about
	ask := func() (state, text string) {
		_, m := asking("tools/call", "ledger__pay", paying).at(t, d, c, plainly)
		result, _ := m["result"].(map[string]any)
		state, _ = result["requestState"].(string)
		raw, _ := json.Marshal(result["inputRequests"])
		return state, string(raw)
	}
	agree := func(state string) string {
		sealed, _ := json.Marshal(state)
		_, m := asking("tools/call", "ledger__pay", `"requestState":`+string(sealed)+`,"inputResponses":{"agree":{"action":"accept","content":{"agree":true}}},`+paying).at(t, d, c, byLibrary)
		raw, _ := json.Marshal(m)
		return string(raw)
	}
	rows := func() int {
		_, m := asking("tools/call", "ledger__list", about).at(t, d, c, plainly)
		raw, _ := json.Marshal(m["result"].(map[string]any)["structuredContent"])
		return strings.Count(string(raw), "\"Rent\"")
	}
	first, text := ask()
	second, _ := ask()
	if strings.Contains(text, "earlier") {
		t.Error(text)
	}
	for i, c := range []struct {
		state  string
		rows   int
		before bool
	}{{first, 1, false}, {second, 2, false}, {first, 2, true}, {second, 2, true}} {
		answer := agree(c.state)
		if n := rows(); n != c.rows || strings.Contains(answer, "This was done before") != c.before {
			t.Errorf("answer %d: %d rows, want %d: %s", i+1, n, c.rows, answer)
		}
	}
	if _, text = ask(); !strings.Contains(text, "the same was done at ") {
		t.Error(text)
	}
}
