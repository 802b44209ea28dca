package guard

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A page asks on this machine, under an address that is made for one question and told to the person
// alone. A client that agrees by itself does not know it.
type page struct {
	mu     sync.Mutex
	server *http.Server
	host   string
	asked  map[string]*paged
}

// A paged is a question that waits on a page.
type paged struct {
	*question
	answer chan map[string]bool
}

func digestOf(text string) [32]byte { return sha256.Sum256([]byte(text)) }

// put shows a question, and waits for the answer.
func (p *page) put(ctx context.Context, g *Guard, q *question) (map[string]bool, error) {
	token, asked := rand.Text(), &paged{q, make(chan map[string]bool, 1)}
	p.mu.Lock()
	if p.server == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			p.mu.Unlock()
			return nil, &nobody{"no page can be served here: " + err.Error()}
		}
		p.host, p.asked = l.Addr().String(), map[string]*paged{}
		p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
		go func() { _ = p.server.Serve(l) }()
	}
	p.asked[token] = asked
	at := "http://" + p.host + "/" + token
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.asked, token)
		p.mu.Unlock()
	}()
	if err := g.Show(at); err != nil {
		return nil, &nobody{err.Error()}
	}
	select {
	case ticked := <-asked.answer:
		return ticked, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *page) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.server != nil {
		_ = p.server.Close()
	}
}

var asking = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Verbatim asks</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere;background:#f4f4f4;color:#111;padding:1rem}button{font:inherit;padding:.4rem 1.2rem;margin-right:1rem}</style></head>
<body><main>{{if .Done}}<p role="status">{{.Done}}</p>{{else}}<h1>Verbatim asks</h1><pre>{{.Text}}</pre>
<form method="post">{{range .More}}<p><label><input type="checkbox" name="{{.Name}}"> {{.Title}}: {{.Says}}</label></p>{{end}}
<p>{{.First.Says}}</p>
<button name="answer" value="no">No</button><button name="answer" value="yes">{{.First.Title}}</button></form>{{end}}</main></body></html>`))

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	token := strings.TrimPrefix(r.URL.Path, "/")
	p.mu.Lock()
	host, asked := p.host, p.asked[token]
	p.mu.Unlock()
	data := struct {
		Done, Text string
		First      choice
		More       []choice
	}{}
	origin, _ := url.Parse(r.Header.Get("Origin"))
	switch {
	case r.Host != host: // another name that leads here
		http.Error(w, "not here", http.StatusMisdirectedRequest)
		return
	case r.Method == http.MethodPost && r.Header.Get("Origin") != "" && r.Header.Get("Origin") != "null" && (origin == nil || origin.Host != host):
		http.Error(w, "not from there", http.StatusForbidden)
		return
	case asked == nil:
		w.WriteHeader(http.StatusNotFound)
		data.Done = "This question was answered, or nobody waits for the answer any more."
	case r.Method == http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, 4096)
		if err := r.ParseForm(); err != nil {
			http.Error(w, "that is no answer", http.StatusBadRequest)
			return
		}
		var ticked map[string]bool
		if data.Done = "Nothing was sent."; r.PostForm.Get("answer") == "yes" {
			data.Done, ticked = "Agreed. You can close this page.", map[string]bool{asked.choices[0].Name: true}
			for _, c := range asked.choices[1:] {
				ticked[c.Name] = r.PostForm.Get(c.Name) != ""
			}
		}
		p.mu.Lock()
		_, waits := p.asked[token]
		delete(p.asked, token)
		p.mu.Unlock()
		if waits { // one answer counts
			asked.answer <- ticked
		}
	default:
		data.Text, data.First, data.More = asked.text, asked.choices[0], asked.choices[1:]
	}
	if err := asking.Execute(w, data); err != nil && !errors.Is(err, net.ErrClosed) {
		return
	}
}

// Shows returns what brings an address before the person: a program such as a browser or, without one,
// the terminal. The client sees neither.
func Shows(program string) func(at string) error {
	return func(at string) error {
		if cmd := exec.Command(program, at); program != "" && cmd.Start() == nil {
			go func() { _ = cmd.Wait() }()
			return nil
		}
		tty, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
		if err != nil {
			return errors.New("there is neither a browser nor a terminal here")
		}
		defer tty.Close()
		_, err = fmt.Fprintf(tty, "\nverbatim guard asks: open %s\n", at)
		return err
	}
}
