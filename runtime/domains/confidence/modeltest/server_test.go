package modeltest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/runtime/conversation/llm"
)

func client(t testing.TB, s *Server, change func(*llm.Config)) *llm.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 32}
	t.Cleanup(transport.CloseIdleConnections)
	c := llm.Config{BaseURL: s.URL, Model: "test", Transport: transport, Attempts: 1}
	if change != nil {
		change(&c)
	}
	model, err := llm.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

func serve(t testing.TB, mind func(Request) llm.Reply, o Options) *Server {
	t.Helper()
	s := New(mind, o)
	t.Cleanup(s.Close)
	return s
}

func asks(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.System, Text: "rules"}, {Role: llm.User, Text: text}}}
}

func echo(r Request) llm.Reply { return llm.Reply{Text: "You said: " + r.Messages[1].Text} }

// The client of models that agents use gets the mind's reply, streamed or not, and the mind gets
// all of the request: history, functions and schema.
func TestTheClientOfModelsIsAnsweredByTheMind(t *testing.T) {
	t.Parallel()
	zero, schema := float32(0), []byte(`{"type":"object","properties":{"steps":{"type":"array"}}}`)
	history := []llm.Message{
		{Role: llm.User, Text: "Who directs Acme?"},
		{Role: llm.Assistant, Text: "I look.", Calls: []llm.ToolCall{{ID: "c1", Name: "graph__find", Arguments: `{"name":"Acme"}`}}},
		{Role: llm.ToolRole, CallID: "c1", Text: "Grüße, Bo Ång."},
	}
	tool := llm.Tool{Name: "graph__find", Description: "Finds.", Parameters: []byte(`{"type":"object"}`)}
	for name, c := range map[string]struct {
		asked llm.Request
		reply llm.Reply
	}{
		"text":     {llm.Request{Messages: history, Temperature: &zero, MaxTokens: 7}, llm.Reply{Text: "Bo Ång directs it — „wirklich“.", Finish: llm.Stopped}},
		"calls":    {llm.Request{Messages: history, Tools: []llm.Tool{tool}, MustCall: true}, llm.Reply{Text: "Again.", Calls: []llm.ToolCall{{ID: "x", Name: "graph__find", Arguments: `{"name":"Bo"}`}, {ID: "y", Name: "graph__find", Arguments: `{}`}}, Finish: llm.Called}},
		"schema":   {llm.Request{Messages: history, Schema: schema, SchemaName: "plan"}, llm.Reply{Text: `{"steps":[]}`, Finish: llm.Stopped}},
		"cut":      {llm.Request{Messages: history}, llm.Reply{Text: "Bo", Finish: llm.TooLong}},
		"filtered": {llm.Request{Messages: history}, llm.Reply{Text: "Bo", Finish: llm.Filtered}},
		"refused":  {llm.Request{Messages: history}, llm.Reply{Refusal: "I will not.", Finish: llm.Filtered}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var told []Request
			s := serve(t, func(r Request) llm.Reply {
				mu.Lock()
				defer mu.Unlock()
				told = append(told, r)
				return c.reply
			}, Options{})
			model := client(t, s, nil)
			for _, piece := range []func(string){nil, func(string) {}} {
				got, err := model.Chat(t.Context(), c.asked, piece)
				if err != nil {
					t.Fatal(err)
				}
				if got.Text != c.reply.Text || got.Finish != c.reply.Finish || got.Refusal != c.reply.Refusal || !slices.Equal(got.Calls, c.reply.Calls) {
					t.Errorf("streamed %t: the reply is %+v, want %+v", piece != nil, got, c.reply)
				}
				if got.Usage.In == 0 || got.Usage.Estimated || got.Usage.Out == 0 && c.reply.Text != "" {
					t.Errorf("streamed %t: the usage is %+v", piece != nil, got.Usage)
				}
			}
			if len(told) != 2 || !reflect.DeepEqual(told[0].Request, c.asked) || told[0].Digest != told[1].Digest {
				t.Errorf("the mind was told %+v, want twice %+v", told, c.asked)
			}
		})
	}
}

// Answers take the stated time: so long before the first token, and so long for each.
func TestAnswersTakeTheStatedTime(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("word ", 80) // 100 tokens
	s := serve(t, func(Request) llm.Reply { return llm.Reply{Text: text} }, Options{Base: 60 * time.Millisecond, PerToken: time.Millisecond})
	model := client(t, s, nil)
	for _, streamed := range []bool{false, true} {
		var first time.Duration
		var piece func(string)
		began := time.Now()
		if streamed {
			piece = func(string) {
				if first == 0 {
					first = time.Since(began)
				}
			}
		}
		if _, err := model.Chat(t.Context(), asks("x"), piece); err != nil {
			t.Fatal(err)
		}
		// Upper bounds are wide, for machines that are busy.
		if all := time.Since(began); all < 160*time.Millisecond || all > time.Second {
			t.Errorf("streamed %t: it took %v, want 160ms", streamed, all)
		}
		if streamed && (first < 60*time.Millisecond || first > 150*time.Millisecond) {
			t.Logf("the first piece came after %v", first)
			if first < 60*time.Millisecond {
				t.Error("the first piece came too soon")
			}
		}
	}
}

// Each fault is to the client what it stands for.
func TestFaultsAreWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	for fault, want := range map[Fault]llm.Kind{Fails: llm.Unavailable, TimesOut: llm.Late, Empty: llm.Garbled, Cut: ""} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			calls := []llm.ToolCall{{ID: "1", Name: "find", Arguments: `{"name":"Acme"}`}}
			s := serve(t, func(r Request) llm.Reply {
				if r.Messages[1].Text == "call" {
					return llm.Reply{Calls: slices.Clone(calls)}
				}
				return llm.Reply{Text: "ABCDÉFGH"}
			}, Options{Faults: &Faults{Rate: 1, Shares: Shares{fault: 1}}})
			model := client(t, s, func(c *llm.Config) { c.Timeout = 100 * time.Millisecond })
			got, err := model.Chat(t.Context(), asks("say"), func(string) {})
			var e *llm.Error
			switch errors.As(err, &e); {
			case want != "":
				if e == nil || e.Kind != want {
					t.Errorf("the error is %v, want kind %s", err, want)
				}
			case err != nil:
				t.Fatal(err)
			case got.Finish != llm.Stopped || got.Text != "ABCD":
				t.Errorf("the reply is %+v", got)
			}
			if seen := s.Seen(); len(seen) != 1 || seen[0].Fault != fault || !strings.Contains(seen[0].Body, `"say"`) {
				t.Errorf("seen: %+v", seen)
			}
			if fault == Cut {
				got, err := model.Chat(t.Context(), asks("call"), nil)
				if err != nil || len(got.Calls) != 1 || got.Calls[0].Arguments != `{"name"` {
					t.Errorf("%+v %v", got, err)
				}
			}
		})
	}
}

// A call that hangs is ended by its caller, by the server's own limit, and by the server's end.
func TestACallThatHangsEnds(t *testing.T) {
	t.Parallel()
	hangs := func() *Faults { return &Faults{Rate: 1, Shares: Shares{TimesOut: 1}} }
	s := serve(t, echo, Options{Faults: hangs(), Hang: 20 * time.Millisecond})
	var e *llm.Error
	if _, err := client(t, s, nil).Chat(t.Context(), asks("x"), nil); !errors.As(err, &e) || e.Status != http.StatusGatewayTimeout {
		t.Errorf("the error is %v, want HTTP 504", err)
	}
	long := New(echo, Options{Faults: hangs()})
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { _, err := client(t, long, nil).Chat(ctx, asks("x"), nil); done <- err }()
	go func() { _, err := client(t, long, nil).Chat(t.Context(), asks("y"), nil); done <- err }()
	for len(long.Seen()) < 2 {
		time.Sleep(time.Millisecond)
	}
	stop()
	if err := <-done; !errors.As(err, &e) || e.Kind != llm.Cancelled {
		t.Errorf("the error is %v, want kind cancelled", err)
	}
	long.Close()
	if err := <-done; err == nil {
		t.Error("a call survived its server")
	}
}

// What goes wrong depends on the seed and on what is asked, and not on the order in which
// requests arrive or on how many are under way.
func TestFaultsDoNotDependOnTheOrderOfRequests(t *testing.T) {
	t.Parallel()
	race := read(t)
	const questions, tries = 40, 3
	run := func(seed uint64, parallel int, backwards bool) map[string][]Fault {
		o := race.Options(seed, 0.3)
		o.Base, o.PerToken, o.Hang = 0, 0, time.Millisecond
		s := serve(t, echo, o)
		model := client(t, s, nil)
		ask := make(chan int)
		var all sync.WaitGroup
		for range parallel {
			all.Go(func() {
				for i := range ask {
					for range tries {
						_, _ = model.Chat(t.Context(), asks(fmt.Sprint("question ", i)), nil)
					}
				}
			})
		}
		for i := range questions {
			if backwards {
				i = questions - 1 - i
			}
			ask <- i
		}
		close(ask)
		all.Wait()
		faults := map[string][]Fault{}
		for _, seen := range s.Seen() {
			faults[seen.Digest] = append(faults[seen.Digest], seen.Fault)
		}
		return faults
	}
	one := run(1, 1, false)
	if len(one) != questions {
		t.Fatalf("%d digests of %d questions", len(one), questions)
	}
	if again := run(1, 8, true); !reflect.DeepEqual(one, again) {
		t.Error("another order gave other faults")
	}
	if other := run(2, 1, false); reflect.DeepEqual(one, other) {
		t.Error("another seed gave the same faults")
	}
	varies := 0
	for _, f := range one {
		if f[0] != f[1] || f[1] != f[2] {
			varies++
		}
	}
	if varies < questions/4 {
		t.Errorf("only %d of %d requests fared otherwise when they were repeated", varies, questions)
	}
}

// Faults come at the stated rate and in the stated shares.
func TestFaultsComeAtTheStatedRate(t *testing.T) {
	t.Parallel()
	race := read(t)
	const n = 20000
	for _, shares := range []Shares{race.Faults.Model, race.Faults.Tool} {
		for _, rate := range race.Faults.Rates {
			f := Faults{Seed: 7, Rate: rate, Shares: shares}
			count := map[Fault]float64{}
			for i := range n {
				count[f.Next(fmt.Sprint(i))]++
			}
			for kind, share := range shares {
				if got, want := count[kind]/n, rate*share; math.Abs(got-want) > 0.01 {
					t.Errorf("rate %v: %s came in %.3f of cases, want %.3f", rate, kind, got, want)
				}
			}
			if got := 1 - count[NoFault]/n; math.Abs(got-rate) > 0.01 || rate == 0 && got != 0 {
				t.Errorf("there were faults in %.3f of cases, want %v", got, rate)
			}
		}
	}
}

// What is no request of the protocol is refused as endpoints refuse it.
func TestARequestThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	s := serve(t, echo, Options{})
	for path, body := range map[string]string{"/v1/chat/completions": `{"messages":`, "/v1/embeddings": `{}`} {
		resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest || len(s.Seen()) > 0 {
			t.Errorf("%s: HTTP %d", path, resp.StatusCode)
		}
	}
}

func read(t testing.TB) *Race {
	t.Helper()
	r, err := ReadRace("../testdata/race.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The conditions of the race agree with themselves and with TrustGraph's table.
func TestTheConditionsOfTheRaceAgree(t *testing.T) { // T42
	t.Parallel()
	r := read(t)
	n := 0
	for _, k := range r.Questions.Kinds {
		n += k.Count
	}
	if n != r.Questions.Count || n != 200 {
		t.Errorf("the kinds have %d questions, want %d", n, r.Questions.Count)
	}
	for name, shares := range map[string]Shares{"model": r.Faults.Model, "tool": r.Faults.Tool} {
		sum := 0.0
		for kind, share := range shares {
			sum += share
			if !slices.Contains([]Fault{Fails, TimesOut, Empty, Cut, Nonsense}, kind) {
				t.Errorf("there is no fault %q", kind)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("the shares of the faults of a %s are %v together", name, sum)
		}
	}
	// The table: +30 % at the median, +50 % at the 99th percentile and of memory, 85 to 92 %.
	react, planner := r.Source["react"], r.Source["confidence"]
	for name, got := range map[string][2]float64{
		"p50":    {planner.P50 / react.P50, r.Claims.P50AtMost},
		"p99":    {planner.P99 / react.P99, r.Claims.P99AtMost},
		"memory": {planner.MemoryMB / react.MemoryMB, r.Claims.MemoryAtMost},
	} {
		if got[0] != got[1] {
			t.Errorf("%s: the planner may cost %v times as much, the table says %v", name, got[1], got[0])
		}
	}
	if r.Claims.NoGainAt != r.Faults.Rates[0] || !slices.Equal(r.Faults.Rates, []float64{0, 0.1, 0.3}) || react.Success != 0.85 || planner.Success != 0.92 {
		t.Errorf("%+v", r)
	}
	// The median of the ways to an answer is the table's, at 40 tokens a call of the model.
	var ways []float64
	for _, k := range r.Questions.Kinds {
		way := float64(k.Calls+1)*(r.Model.Base+40*r.Model.PerToken) + float64(k.Calls)*r.Tools["default"]
		ways = append(ways, slices.Repeat([]float64{way}, k.Count)...)
	}
	slices.Sort(ways)
	if ways[len(ways)/2] != react.P50 {
		t.Errorf("the median way takes %v ms, want %v", ways[len(ways)/2], react.P50)
	}
}
