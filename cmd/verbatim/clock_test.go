package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A logged is what a server logs.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *logged) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(b)
}

func (h *logged) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.String()
}

// The clocks of two servers disagree by a day and more. Both go by the store's: a link of
// one is good at the other, whoever signed in with one is known to the other, what was
// asked for can be agreed to with the other, and the journal tells times that are true.
func TestServersWhoseClocksDisagree(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	defer ended.Wait()
	defer stop()
	begin := func(ahead time.Duration) (s *running, log *logged) {
		t.Helper()
		s, log = &running{links: map[string]string{}}, &logged{}
		env := map[string]string{"VERBATIM_PALETTES": filepath.Join(h.dir, "verbs")}
		for _, v := range h.env {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		env["VERBATIM_SCAN"] = ""
		out, in := io.Pipe()
		ended.Go(func() {
			code := run(ctx, world{load: loadOnce, args: []string{"serve", "--listen", "127.0.0.1:0", "--no-work", "--sign-in", "t.weber", "--sign-in", "a.nowak"},
				in: strings.NewReader(""), out: in, err: log, env: func(name string) string { return env[name] },
				now: func() time.Time { return time.Now().Add(ahead) }, random: rand.Reader, terminal: openTerminal})
			in.CloseWithError(fmt.Errorf("it ended with %d: %s", code, log))
		})
		lines := bufio.NewScanner(out)
		for len(s.links) < 2 && lines.Scan() {
			if at, ok := strings.CutPrefix(lines.Text(), "serving   "); ok {
				s.url = at
			} else if m := link.FindStringSubmatch(lines.Text()); m != nil {
				s.links[m[1]] = m[2]
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
		go io.Copy(io.Discard, out)
		return s, log
	}
	ahead, toldAhead := begin(26 * time.Hour)
	behind, toldBehind := begin(-26 * time.Hour)
	for log, says := range map[*logged]string{toldAhead: `"level":"ERROR","msg":"clock","ahead":"26h0m`, toldBehind: `"level":"ERROR","msg":"clock","behind":"26h0m`} {
		if !strings.Contains(log.String(), says) && !strings.Contains(log.String(), strings.Replace(says, "26h0m", "25h59m", 1)) {
			t.Errorf("the log does not say by how much the clock is off: %s", log)
		}
	}
	comes := func(at *running, link string) *visitor {
		t.Helper()
		v := newVisitor(t)
		if status, body := v.form(at.url+"/sign-in/link", url.Values{"link": {link}}); status != http.StatusSeeOther {
			t.Fatalf("the link of one is answered %d by the other: %s", status, body)
		}
		return v
	}
	weber := comes(ahead, behind.links["t.weber"])
	nowak := comes(behind, ahead.links["a.nowak"])
	for _, s := range []*running{ahead, behind} {
		for _, v := range []*visitor{weber, nowak} {
			if status, body := v.get(s.url + "/v1/verbs"); status != http.StatusOK {
				t.Fatalf("who signed in with one is answered %d by the other: %s", status, body)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(h.dir, "waive.dsl"))
	if err != nil {
		t.Fatal(err)
	}
	script := map[string]string{"script": string(text)}
	if status, body, err := weber.post(behind.url+"/v1/propose", "", script); err != nil || status >= 400 {
		t.Fatal(status, body, err)
	}
	status, body := nowak.get(ahead.url + "/v1/confirmations")
	if status != http.StatusOK || !strings.Contains(body, `"id":"`) {
		t.Fatalf("what was asked for with one does not wait at the other: %d %s", status, body)
	}
	_, id, _ := strings.Cut(body, `"id":"`)
	id, _, _ = strings.Cut(id, `"`)
	if status, body, err := nowak.post(ahead.url+"/v1/confirmations/"+id+"/agree", "", map[string]string{}); err != nil || status != http.StatusOK {
		t.Errorf("it cannot be agreed to: %d %s %v", status, body, err)
	}
	for line := range strings.Lines(h.do("log", "show", "--as", "d.lang")) {
		f := strings.Split(line, "\t")
		at, err := time.Parse(time.RFC3339, f[1])
		if err != nil || time.Since(at).Abs() > time.Hour {
			t.Errorf("an entry says %s: %v", f[1], err)
		}
	}
}
