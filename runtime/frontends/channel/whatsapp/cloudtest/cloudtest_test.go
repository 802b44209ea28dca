package cloudtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const number, person = "106540352242922", "4915155501990"

func start(t *testing.T, o Options) (*Server, string) {
	t.Helper()
	o.Token, o.Secret, o.Verify, o.Number, o.Templates = "token", "secret", "verify", number, map[string]int{"reminder": 1}
	o.Clock = func() time.Time { return time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC) }
	s := New(o)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, server.URL
}

func post(t *testing.T, url, token, body string) (status, code int, text string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, _ := io.ReadAll(resp.Body)
	var got struct{ Error struct{ Code int } }
	_ = json.Unmarshal(b, &got)
	return resp.StatusCode, got.Error.Code, string(b)
}

// What the Cloud API refuses is refused here, or tests of a sender would show nothing.
func TestWhatTheCloudRefuses(t *testing.T) {
	t.Parallel()
	s, url := start(t, Options{People: []string{person, "491510000000"}})
	s.Batch([]Object{s.Message(person, Text("hi"))}, nil) // the window is open
	const all = `"messaging_product":"whatsapp","recipient_type":"individual",`
	to := all + `"to":"` + person + `",`
	button := func(n, title int) string {
		var bs []string
		for i := range n {
			bs = append(bs, fmt.Sprintf(`{"type":"reply","reply":{"id":"%d","title":"%d%s"}}`, i, i, strings.Repeat("x", title-1)))
		}
		return `"type":"interactive","interactive":{"type":"button","body":{"text":"a"},"action":{"buttons":[` + strings.Join(bs, ",") + `]}}`
	}
	list := func(n, title, more int, open string) string {
		var rows []string
		for i := range n {
			rows = append(rows, fmt.Sprintf(`{"id":"%d","title":"%d%s","description":"%s"}`, i, i%10, strings.Repeat("x", title-1), strings.Repeat("x", more)))
		}
		return `"type":"interactive","interactive":{"type":"list","body":{"text":"a"},"action":{"button":"` + open + `","sections":[{"rows":[` + strings.Join(rows, ",") + `]}]}}`
	}
	template := func(name string, values string) string {
		return `"type":"template","template":{"name":"` + name + `","language":{"code":"de"},"components":[{"type":"body","parameters":[` + values + `]}]}`
	}
	for name, c := range map[string]struct {
		body         string
		status, code int
	}{
		"text":                 {to + `"type":"text","text":{"body":"a"}`, 200, 0},
		"the longest":          {to + `"type":"text","text":{"body":"` + strings.Repeat("ü", 4096) + `"}`, 200, 0},
		"a longer":             {to + `"type":"text","text":{"body":"` + strings.Repeat("ü", 4097) + `"}`, 400, 100},
		"empty":                {to + `"type":"text","text":{"body":""}`, 400, 100},
		"of another type":      {to + `"type":"image","text":{"body":"a"}`, 400, 100},
		"of no type":           {to + `"type":"hologram"`, 400, 100},
		"an unknown field":     {to + `"type":"text","text":{"body":"a"},"more":1`, 400, 100},
		"no product":           {`"to":"` + person + `","type":"text","text":{"body":"a"}`, 400, 100},
		"nobody":               {all + `"type":"text","text":{"body":"a"}`, 400, 100},
		"no number":            {all + `"to":"Ada","type":"text","text":{"body":"a"}`, 400, 100},
		"a stranger":           {all + `"to":"491519999999","type":"text","text":{"body":"a"}`, 400, 131026},
		"who never wrote":      {all + `"to":"491510000000","type":"text","text":{"body":"a"}`, 400, 131047},
		"a template to them":   {all + `"to":"491510000000",` + template("reminder", `{"type":"text","text":"x"}`), 200, 0},
		"an unknown template":  {to + template("other", `{"type":"text","text":"x"}`), 400, 100},
		"values that lack":     {to + template("reminder", ``), 400, 100},
		"three buttons":        {to + button(3, 20), 200, 0},
		"four":                 {to + button(4, 20), 400, 100},
		"none":                 {to + button(0, 20), 400, 100},
		"titles of 21":         {to + button(1, 21), 400, 100},
		"ten rows":             {to + list(10, 24, 72, strings.Repeat("x", 20)), 200, 0},
		"eleven":               {to + list(11, 24, 72, "x"), 400, 100},
		"row titles of 25":     {to + list(1, 25, 0, "x"), 400, 100},
		"second lines of 73":   {to + list(1, 24, 73, "x"), 400, 100},
		"a button of 21":       {to + list(1, 24, 0, strings.Repeat("x", 21)), 400, 100},
		"no button":            {to + list(1, 24, 0, ""), 400, 100},
		"an answer to nothing": {to + `"type":"text","text":{"body":"a"},"context":{"message_id":""}`, 400, 100},
		"data of 513":          {to + `"type":"text","text":{"body":"a"},"biz_opaque_callback_data":"` + strings.Repeat("x", 513) + `"`, 400, 100},
	} {
		if status, code, text := post(t, url+"/v23.0/"+number+"/messages", "Bearer token", "{"+c.body+"}"); status != c.status || code != c.code {
			t.Errorf("%s: %d %d %s", name, status, code, text)
		}
	}
	good := "{" + to + `"type":"text","text":{"body":"a"}}`
	for _, token := range []string{"", "token", "Bearer other"} {
		if status, code, _ := post(t, url+"/v23.0/"+number+"/messages", token, good); status != 401 || code != 190 {
			t.Errorf("%q: %d %d", token, status, code)
		}
	}
	if status, code, _ := post(t, url+"/v23.0/1/messages", "Bearer token", good); status != 400 || code != 100 {
		t.Error(status, code)
	}
}

// A demonstration speaks to it over HTTP.
func TestADemonstrationSpeaksOverHTTP(t *testing.T) {
	t.Parallel()
	var bodies []string
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		if r.Header.Get("X-Hub-Signature-256") != Sign("secret", b) {
			t.Error(r.Header)
		}
		bodies = append(bodies, string(b))
	}))
	t.Cleanup(hook.Close)
	_, url := start(t, Options{Webhook: hook.URL})
	for _, body := range []string{`{"from":"` + person + `","text":"hi"}`, `{"from":"` + person + `","tap":"y","title":"Yes"}`, `{"from":"` + person + `","file":"JVBERg==","type":"application/pdf","name":"a.pdf"}`} {
		if status, _, text := post(t, url+"/test/say", "", body); status != 200 || !strings.Contains(text, `"status":200`) {
			t.Errorf("%d %s", status, text)
		}
	}
	for i, want := range []string{`"body":"hi"`, `"button_reply":{"id":"y","title":"Yes"}`, `"filename":"a.pdf"`} {
		if len(bodies) != 3 || !strings.Contains(bodies[i], want) {
			t.Fatal(bodies)
		}
	}
	if status, _, _ := post(t, url+"/test/say", "", `{}`); status != 400 {
		t.Error(status)
	}
	resp, err := http.Get(url + "/test/sent")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, _ := io.ReadAll(resp.Body); strings.TrimSpace(string(b)) != "[]" {
		t.Errorf("%s", b)
	}
}
