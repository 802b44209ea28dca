package guard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"verbatim/runtime/protocols/mcp"
)

// An upstream is one client's connection to one server.
type upstream struct {
	session *session
	*Server

	starting sync.Mutex // held while it is started or its list is read
	offering sync.Mutex // held while it is asked whether its tools may pass

	mu      sync.Mutex
	pipe    pipe // nil while it does not run
	next    int64
	waiting map[int64]*waiting
	asked   map[string]int64 // requests of the server that wait for the client, by its id
	calls   int
	forgot  bool // it ended after a call, and nobody was told yet
	rubbish bool
	hello   json.RawMessage // what it answered to initialize

	pin   *pin    // as it was when the list was compared
	tools []*tool // as last compared; nil before
	stale bool    // the list has changed since
	told  string  // digest of the list that was traced last
}

// A waiting is a request that has not been answered.
type waiting struct {
	// done is called once, with the answer or with nil if it was lost.
	done func(*message)
}

var errGone = errors.New("it ended")

// start starts the server if it does not run, and greets it.
func (u *upstream) start(ctx context.Context) error {
	u.mu.Lock()
	runs := u.pipe != nil
	u.mu.Unlock()
	if runs {
		return nil
	}
	var p pipe
	var err error
	var wrote func() string
	if u.URL != "" {
		p, wrote = newAddress(u.session.ctx, u.URL, u.Headers), func() string { return "" }
	} else if p, wrote, err = u.program(); err != nil {
		return err
	}
	u.mu.Lock()
	u.pipe, u.tools, u.stale = p, nil, false
	u.mu.Unlock()
	u.session.heard.Add(1)
	go func() {
		defer u.session.heard.Done()
		u.listen(p)
	}()
	answer, err := u.ask(ctx, "initialize", u.session.greeting())
	if err == nil && answer.Error != nil {
		err = fmt.Errorf("it refused the connection: %s", textOf(answer.Error))
	}
	if err != nil {
		p.close()
		if said := wrote(); said != "" {
			err = fmt.Errorf("%w (it wrote: %q)", err, said)
		}
		return err
	}
	u.mu.Lock()
	u.hello = answer.Result
	u.mu.Unlock()
	u.remember("initialize", answer.Result)
	if a, is := p.(*address); is {
		a.greeted(answer.Result)
	}
	return p.write(&message{Method: "notifications/initialized"})
}

// program starts a program. It gets the whole environment that the client gave, and runs as the user.
func (u *upstream) program() (pipe, func() string, error) {
	cmd := exec.Command(u.Command[0], u.Command[1:]...)
	cmd.Dir, cmd.Env = u.Dir, os.Environ()
	for _, name := range slices.Sorted(maps.Keys(u.Env)) {
		cmd.Env = append(cmd.Env, name+"="+u.Env[name])
	}
	group(cmd)
	last := &mcp.Tail{To: u.session.Log}
	cmd.Stderr, cmd.WaitDelay = last, time.Second
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, fmt.Errorf("its program cannot be started: %w", err)
	}
	ended := make(chan struct{})
	end := sync.OnceFunc(func() {
		in.Close()
		go func() { // it may finish what it does
			select {
			case <-ended:
			case <-time.After(2 * time.Second):
			}
			kill(cmd)
		}()
	})
	p := newLines(out, in, end)
	p.over = func() {
		end()
		_ = cmd.Wait()
		close(ended)
	}
	return p, last.Text, nil
}

// ask sends a request of our own and waits for the answer.
func (u *upstream) ask(ctx context.Context, method string, params json.RawMessage) (*message, error) {
	got := make(chan *message, 1)
	if _, err := u.send(&message{Method: method, Params: params}, func(m *message) { got <- m }); err != nil {
		return nil, err
	}
	select {
	case m := <-got:
		if m == nil {
			return nil, errGone
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// send sends a request under an id of our own. done is called once if the error is nil, and never
// otherwise.
func (u *upstream) send(m *message, done func(*message)) (id int64, err error) {
	u.mu.Lock()
	p := u.pipe
	if p == nil {
		u.mu.Unlock()
		return 0, errGone
	}
	u.next++
	id = u.next
	u.waiting[id] = &waiting{done}
	u.mu.Unlock()
	if err = p.write(&message{ID: number(id), Method: m.Method, Params: m.Params}); err != nil && u.taken(id) != nil {
		return id, fmt.Errorf("it takes nothing any more: %w", err)
	}
	return id, nil
}

// taken takes a request that waits.
func (u *upstream) taken(id int64) *waiting {
	u.mu.Lock()
	defer u.mu.Unlock()
	w := u.waiting[id]
	delete(u.waiting, id)
	return w
}

// tells sends a notification, if the server runs.
func (u *upstream) tells(m *message) {
	u.mu.Lock()
	p := u.pipe
	u.mu.Unlock()
	if p != nil {
		_ = p.write(m)
	}
}

// listen hears the server until it ends.
func (u *upstream) listen(p pipe) {
	for {
		m, err := p.read()
		var long *tooLong
		switch {
		case errors.As(err, &long):
			var id int64
			if json.Unmarshal(long.id, &id) == nil {
				m, err = &message{ID: long.id, Error: errorOf(codeFailed, "the server answered with more than "+fmt.Sprint(MaxMessage>>20)+" MiB, which is not passed on; what it did is done")}, nil
			}
		case errors.Is(err, errNoMessage) && !u.rubbish:
			u.rubbish = true
			u.session.says("%s writes to its standard output what is no message; such lines are left out", u.Name)
		}
		if errors.Is(err, errNoMessage) {
			continue
		}
		if err != nil {
			break
		}
		u.hears(m)
	}
	u.mu.Lock()
	lost := u.waiting
	u.pipe, u.waiting, u.asked = nil, map[int64]*waiting{}, nil
	u.forgot = u.forgot || u.calls > 0
	u.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		lost[id].done(nil)
	}
	p.close()
}

// hears takes a message of the server.
func (u *upstream) hears(m *message) {
	s := u.session
	switch {
	case m.answers():
		var id int64
		if json.Unmarshal(m.ID, &id) == nil {
			if w := u.taken(id); w != nil {
				if m.lost {
					m = nil
				}
				w.done(m)
			}
		}
	case m.asks():
		u.asksBack(m)
	case m.Method == "notifications/cancelled":
		var p struct{ RequestID json.RawMessage }
		_ = json.Unmarshal(m.Params, &p)
		u.mu.Lock()
		id, is := u.asked[string(p.RequestID)]
		u.mu.Unlock()
		if is {
			_ = s.client.write(&message{Method: m.Method, Params: with(m.Params, "requestId", number(id))})
		}
	default:
		if m.Method == "notifications/tools/list_changed" {
			u.mu.Lock()
			u.stale = true
			u.mu.Unlock()
		}
		u.remember(m.Method, m.Params)
		_ = s.client.write(&message{Method: m.Method, Params: m.Params})
	}
}

// remember remembers the telling parts of what a server says, so that they have their origin.
func (u *upstream) remember(in string, texts ...json.RawMessage) {
	from, all := source{Server: u.Name, Tool: in, Time: u.session.Clock()}, ""
	u.mu.Lock()
	if u.pin != nil {
		from.As = u.pin.As
	}
	u.mu.Unlock()
	for _, text := range texts {
		all += textIn(text)
	}
	if err := u.session.traces.keep(from, all); err != nil {
		u.session.says("what %s said cannot be traced: %s", u.Name, err)
	}
}

// asksBack takes a request of the server. A question to the person is passed on as a stranger's; a
// server neither uses the client's model nor learns of its folders.
func (u *upstream) asksBack(m *message) {
	s := u.session
	refuse := func(why string) {
		s.says("%s asked for %s, which was refused: %s", u.Name, m.Method, why)
		u.tells(&message{ID: m.ID, Error: errorOf(codeMethod, why)})
	}
	switch m.Method {
	case "ping":
		u.tells(&message{ID: m.ID, Result: json.RawMessage("{}")})
	case "elicitation/create":
		if !s.elicits() {
			refuse("this client cannot ask its person")
			return
		}
		u.remember(m.Method, m.Params)
		var p struct{ Message string }
		_ = json.Unmarshal(m.Params, &p)
		text, _ := json.Marshal(fmt.Sprintf("The server %s asks you this. The words are its own, and so is what it does with your answer:\n\n%s", u.Name, safeLines(p.Message)))
		id, err := s.asksClient(m.Method, with(m.Params, "message", text), func(answer *message) {
			u.mu.Lock()
			delete(u.asked, string(m.ID))
			u.mu.Unlock()
			if answer != nil {
				u.tells(&message{ID: m.ID, Result: answer.Result, Error: answer.Error})
			}
		})
		if err == nil {
			u.mu.Lock()
			if u.asked == nil {
				u.asked = map[string]int64{}
			}
			u.asked[string(m.ID)] = id
			u.mu.Unlock()
		}
	case "sampling/createMessage":
		refuse("the client's model is not lent to servers")
	case "roots/list":
		refuse("the client's folders are not told to servers; name them in the server's arguments")
	default:
		refuse("nothing of that kind is passed on")
	}
}

// with returns an object with a member replaced.
func with(object json.RawMessage, name string, value json.RawMessage) json.RawMessage {
	m := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &m)
	m[name] = value
	out, _ := json.Marshal(m)
	return out
}

// textOf returns the message of an error of JSON-RPC.
func textOf(raw json.RawMessage) string {
	var e struct{ Message string }
	_ = json.Unmarshal(raw, &e)
	return safeLines(e.Message)
}

// stop ends the connection.
func (u *upstream) stop() {
	u.mu.Lock()
	p := u.pipe
	u.mu.Unlock()
	if p != nil {
		p.close()
	}
}
