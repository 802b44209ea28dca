package whatsapp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/whatsapp/cloudtest"
)

// A failed is what is decided on.
type failed struct {
	code                       string
	permanent, closed, unknown bool
}

func why(t *testing.T, err error) failed {
	t.Helper()
	var f *channel.Failure
	if !errors.As(err, &f) || f.Text == "" {
		t.Fatalf("%T %v", err, err)
	}
	for _, private := range []string{"token", "canary", person} {
		if strings.Contains(strings.ReplaceAll(f.Text, "the token is", ""), private) {
			t.Errorf("%q tells", f.Text)
		}
	}
	return failed{f.Code, f.Permanent, f.Closed, f.Unknown}
}

// answerable lets the person write, so that they can be answered.
func answerable(t *testing.T, w *world, people ...string) {
	t.Helper()
	for _, p := range append(people, person) {
		if _, status, err := w.cloud.Say(t.Context(), p, cloudtest.Text("hi")); status != 200 || err != nil {
			t.Fatal(status, err)
		}
	}
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	two := []channel.Choice{{ID: "y", Title: "Yes"}, {ID: "n", Title: "No"}}
	for name, c := range map[string]struct {
		out  channel.Out
		want cloudtest.Sent
	}{
		"text":           {channel.Out{Text: "Größe <b>"}, cloudtest.Sent{Form: "text", Text: "Größe <b>"}},
		"an answer":      {channel.Out{Text: "a", ReplyTo: "wamid.q", References: []string{"x"}, Subject: "s"}, cloudtest.Sent{Form: "text", Text: "a", ReplyTo: "wamid.q"}},
		"buttons":        {channel.Out{Text: "a", Choices: two}, cloudtest.Sent{Form: "button", Text: "a", Choices: []string{"y", "n"}, Titles: []string{"Yes", "No"}}},
		"a list":         {channel.Out{Text: "a", Choices: []channel.Choice{{ID: "p", Title: "The passport of Ada"}, {ID: "q", Title: "The passport of her son"}}}, cloudtest.Sent{Form: "list", Text: "a", Choices: []string{"p", "q"}, Titles: []string{"The passport of Ada", "The passport of her son"}}},
		"numbers":        {channel.Out{Text: "a", Choices: []channel.Choice{{ID: "p", Title: strings.Repeat("x", 25)}}}, cloudtest.Sent{Form: "text", Text: "a\n\n1) " + strings.Repeat("x", 25)}},
		"a template":     {channel.Out{Text: "left out", Choices: two, Template: &channel.Template{Name: "reminder", Language: "de", Values: []string{"Ada", "3 January"}}}, cloudtest.Sent{Form: "template", Text: "reminder", Language: "de", Values: []string{"Ada", "3 January"}}},
		"without values": {channel.Out{Template: &channel.Template{Name: "hello", Language: "en"}}, cloudtest.Sent{Form: "template", Text: "hello", Language: "en"}},
		"with a plus":    {channel.Out{Text: "a", To: "+" + person}, cloudtest.Sent{Form: "text", Text: "a"}},
		"to a user id":   {channel.Out{Text: "a", To: "DE.1234"}, cloudtest.Sent{Form: "text", Text: "a", To: "DE.1234"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			answerable(t, w, "DE.1234")
			c.out.ID, c.out.Inbox = "d-1", inbox
			if c.out.To == "" {
				c.out.To = person
			}
			if c.want.To == "" {
				c.want.To = person
			}
			id, err := w.Send(t.Context(), c.out)
			if err != nil {
				t.Fatal(err)
			}
			c.want.ID, c.want.Ours = id, "d-1"
			if got := w.cloud.Sent(); len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What cannot be sent is told before anything is.
func TestWhatCannotBeSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	answerable(t, w)
	good := channel.Out{ID: "d", Inbox: inbox, To: person, Text: "a"}
	for want, change := range map[string]func(o *channel.Out){
		"inbox":    func(o *channel.Out) { o.Inbox = "1" },
		"receiver": func(o *channel.Out) { o.To = "+" },
		"id":       func(o *channel.Out) { o.ID = strings.Repeat("d", 513) },
		"text":     func(o *channel.Out) { o.Text = " \n" },
		"length":   func(o *channel.Out) { o.Text = strings.Repeat("ü", 4097) },
	} {
		o := good
		change(&o)
		_, err := w.Send(t.Context(), o)
		if got := why(t, err); got != (failed{code: want, permanent: true}) {
			t.Errorf("%s: %+v", want, got)
		}
	}
	o := good
	o.ID = ""
	if _, err := w.Send(t.Context(), o); why(t, err).code != "id" {
		t.Error(err)
	}
	o.ID = strings.Repeat("d", 512)
	if _, err := w.Send(t.Context(), o); err != nil || len(w.cloud.Sent()) != 1 {
		t.Error(err, w.cloud.Sent())
	}
}

// Codes decide what is done next, and without one the status does.
func TestWhyItWasNotSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status, code int
		want         failed
	}{
		{400, 131047, failed{code: "131047", closed: true}},
		{400, 131026, failed{code: "131026", permanent: true}},
		{400, 131030, failed{code: "131030", permanent: true}},
		{400, 131062, failed{code: "131062", permanent: true}},
		{400, 130472, failed{code: "130472", permanent: true}},
		{500, 131049, failed{code: "131049", permanent: true}},
		{400, 130429, failed{code: "130429"}},
		{400, 131056, failed{code: "131056"}},
		{400, 131048, failed{code: "131048"}},
		{429, 80007, failed{code: "80007"}},
		{500, 1, failed{code: "1"}},
		{503, 0, failed{code: "503"}},
		{400, 190, failed{code: "190"}},
		{401, 0, failed{code: "401"}},
		{403, 10, failed{code: "10"}},
		{400, 100, failed{code: "100", permanent: true}},
		{404, 0, failed{code: "404", permanent: true}},
		{408, 0, failed{code: "408"}},
		{302, 0, failed{code: "302"}},
		{0, 0, failed{code: "lost", unknown: true}}, // it is taken, and never answered
	} {
		w := newWorld(t)
		answerable(t, w)
		w.cloud.Fail(c.status, c.code)
		_, err := w.Send(t.Context(), channel.Out{ID: "d", Inbox: inbox, To: person, Text: "canary"})
		if got := why(t, err); got != c.want {
			t.Errorf("%d %d: %+v", c.status, c.code, got)
		}
		if taken := len(w.cloud.Sent()) == 1; taken != c.want.unknown {
			t.Errorf("%d %d: taken %v", c.status, c.code, taken)
		}
	}
	if got := *failure(0, 999); got.Permanent || got.Closed || got.Unknown || got.Code != "999" {
		t.Errorf("%+v", got)
	}
}

// Within a day of what they wrote they are answered, and then by a template alone.
func TestAfterADayOnlyATemplateIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := channel.Out{ID: "d", Inbox: inbox, To: person, Text: "a"}
	if _, err := w.Send(t.Context(), text); why(t, err) != (failed{code: "131047", closed: true}) {
		t.Error(err) // they never wrote
	}
	answerable(t, w)
	w.clock.Add(24*time.Hour - time.Second)
	if _, err := w.Send(t.Context(), text); err != nil {
		t.Error(err)
	}
	w.clock.Add(time.Second) // what we send does not count
	if _, err := w.Send(t.Context(), text); why(t, err) != (failed{code: "131047", closed: true}) {
		t.Error(err)
	}
	text.Template = &channel.Template{Name: "hello", Language: "en"}
	if _, err := w.Send(t.Context(), text); err != nil {
		t.Error(err)
	}
	text.Template = &channel.Template{Name: "of nobody", Language: "en"}
	if _, err := w.Send(t.Context(), text); why(t, err) != (failed{code: "100", permanent: true}) {
		t.Error(err)
	}
}

func TestATokenThatIsNotAcceptedIsForTheOperator(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.Token = "another-token" })
	if _, err := w.Send(t.Context(), channel.Out{ID: "d", Inbox: inbox, To: person, Text: "a"}); why(t, err) != (failed{code: "190"}) {
		t.Error(err)
	}
}

// A number of Argentina or Brazil is tried in its other spelling, once, and only after it was
// told that nobody is reached by the first.
func TestTheOtherSpellingOfANumberIsTriedOnce(t *testing.T) {
	t.Parallel()
	const long, short = "5491123456789", "541123456789"
	send := func(w *world, to string) error {
		_, err := w.Send(t.Context(), channel.Out{ID: "d", Inbox: inbox, To: to, Text: "a"})
		return err
	}
	w := newWorld(t, func(_ *Options, c *cloudtest.Options) { c.People = []string{person, short} })
	answerable(t, w, short)
	if err := send(w, long); err != nil || w.cloud.Sent()[0].To != short {
		t.Error(err, w.cloud.Sent())
	}
	for _, c := range []struct {
		codes []int
		want  string // "" is sent
		tries int
	}{
		{[]int{131030}, "", 2}, {[]int{131026}, "", 2}, {[]int{131026, 131030}, "131026", 2}, {[]int{131026, 131056}, "131056", 2}, {[]int{131026, 131047}, "131047", 2},
		{[]int{131056}, "131056", 1}, {[]int{131047}, "131047", 1}, {[]int{100}, "100", 1},
	} {
		w := newWorld(t)
		answerable(t, w, long, short)
		for _, code := range c.codes {
			w.cloud.Fail(400, code)
		}
		w.cloud.Fail(400, 1) // what is left of the failures says how often it was tried
		if c.want == "" {
			w = newWorld(t)
			answerable(t, w, long, short)
			w.cloud.Fail(400, c.codes[0])
		}
		err := send(w, long)
		if c.want == "" {
			if err != nil || len(w.cloud.Sent()) != 1 || w.cloud.Sent()[0].To != short {
				t.Errorf("%v: %v %+v", c.codes, err, w.cloud.Sent())
			}
			continue
		}
		if got := why(t, err); got.code != c.want {
			t.Errorf("%v: %+v", c.codes, got)
		}
		if err := send(w, person); why(t, err).code != "1" {
			t.Errorf("%v: tried another number of times", c.codes)
		}
	}
	w = newWorld(t)
	answerable(t, w)
	w.cloud.Fail(400, 131026)
	if err := send(w, person); why(t, err).code != "131026" || len(w.cloud.Sent()) != 0 {
		t.Error(err) // other countries have one spelling
	}
}

// What was written and not answered may have arrived; what was never written has not.
func TestALostAnswerIsNotKnown(t *testing.T) {
	t.Parallel()
	out := channel.Out{ID: "d", Inbox: inbox, To: person, Text: "a"}
	block := make(chan struct{})
	var asked atomic.Int32
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   failed
	}{
		"never":   {func(_ http.ResponseWriter, r *http.Request) { <-block }, failed{code: "lost", unknown: true}},
		"no JSON": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "<html>") }, failed{code: "answer", unknown: true}},
		"no id":   {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"messages":[{}]}`) }, failed{code: "answer", unknown: true}},
		"nothing": {func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{}`) }, failed{code: "answer", unknown: true}},
		"half": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "99")
			fmt.Fprint(w, `{`)
		}, failed{code: "lost", unknown: true}},
		"elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			http.Redirect(w, r, "/other", http.StatusTemporaryRedirect)
		}, failed{code: "307"}},
	} {
		server := httptest.NewServer(c.answer)
		t.Cleanup(server.Close)
		w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API, o.Timeout = server.URL+"/v23.0", 300*time.Millisecond })
		if _, err := w.Send(t.Context(), out); why(t, err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	close(block)
	if asked.Load() != 1 {
		t.Errorf("a redirect was followed, %d", asked.Load())
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	w := newWorld(t, func(o *Options, _ *cloudtest.Options) { o.API = "http://" + l.Addr().String() })
	if _, err := w.Send(t.Context(), out); why(t, err) != (failed{code: "unreachable"}) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.Send(ctx, out); why(t, err) != (failed{code: "unreachable"}) {
		t.Error(err)
	}
}

func TestAMessageIsMarkedAsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.Read(t.Context(), inbox, "wamid.in.1"); err != nil || !reflect.DeepEqual(w.cloud.Read(), []string{"wamid.in.1"}) {
		t.Error(err, w.cloud.Read())
	}
	if err := w.Read(t.Context(), "../1", "wamid.in.1"); why(t, err) != (failed{code: "inbox", permanent: true}) {
		t.Error(err)
	}
}

func TestWhatAnAdapterNeeds(t *testing.T) {
	t.Parallel()
	good := Options{API: "https://graph.facebook.com/v23.0/", Token: "t", Secret: "s", Verify: "v", Numbers: []string{inbox}, Pick: strings.Repeat("ü", 20)}
	a, err := New(good)
	if err != nil || a.Channel() != "whatsapp" || a.opt.API != "https://graph.facebook.com/v23.0" {
		t.Fatal(err)
	}
	for name, change := range map[string]func(o *Options){
		"no API": func(o *Options) { o.API = "" }, "no host": func(o *Options) { o.API = "https:///v23.0" }, "http": func(o *Options) { o.API = "http://graph.facebook.com/v23.0" },
		"a password": func(o *Options) { o.API = "https://u:p@graph.facebook.com/v23.0" }, "a query": func(o *Options) { o.API = "https://graph.facebook.com/v23.0?x" },
		"no token": func(o *Options) { o.Token = "" }, "no secret": func(o *Options) { o.Secret = "" }, "no word": func(o *Options) { o.Verify = "" },
		"no number": func(o *Options) { o.Numbers = nil }, "a number of another kind": func(o *Options) { o.Numbers = []string{"+1 555"} }, "a path": func(o *Options) { o.Numbers = []string{"../1"} },
		"an empty number": func(o *Options) { o.Numbers = []string{""} }, "a long button": func(o *Options) { o.Pick = strings.Repeat("ü", 21) },
	} {
		o := good
		change(&o)
		if _, err := New(o); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}
