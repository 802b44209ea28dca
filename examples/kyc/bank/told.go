package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// An ear takes what our agent tells of tasks, if our agent signed it.
type ear struct {
	agent string // its URL, where its keys are
	url   string // where it is told
	told  chan notification
	wrong chan error
}

// A notification is what was told, and how.
type notification struct {
	Task struct {
		ID     string `json:"id"`
		Status struct {
			State string `json:"state"`
		} `json:"status"`
	} `json:"task"`
}

// listen opens an ear on this machine.
func listen(agent string) (*ear, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &ear{agent: agent, url: "http://" + l.Addr().String() + "/told", told: make(chan notification, 10), wrong: make(chan error, 10)}
	go func() { _ = http.Serve(l, e) }()
	return e, nil
}

func (e *ear) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var n notification
	if err == nil {
		err = e.verify(r.Header, body, time.Now())
	}
	if err == nil {
		err = json.Unmarshal(body, &n)
	}
	if err != nil {
		w.WriteHeader(http.StatusUnauthorized)
		e.wrong <- err
		return
	}
	e.told <- n
}

// verify checks that our agent signed a notification: for us, lately, over these bytes.
func (e *ear) verify(h http.Header, body []byte, now time.Time) error {
	token, ok := strings.CutPrefix(h.Get("Authorization"), "Bearer ")
	parts := strings.Split(token, ".")
	if !ok || len(parts) != 3 {
		return errors.New("it is not signed")
	}
	var head struct{ Alg, Kid string }
	var says struct {
		Iss, Aud, Jti string
		Iat, Exp      int64
		Body          string `json:"request_body_sha256"`
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err = errors.Join(err, decode(parts[0], &head), decode(parts[1], &says)); err != nil {
		return fmt.Errorf("its signature cannot be read: %w", err)
	}
	key, err := e.key(head.Kid)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	switch {
	case head.Alg != "EdDSA" || !ed25519.Verify(key, []byte(parts[0]+"."+parts[1]), signature):
		return errors.New("the signature is not that of our agent")
	case says.Iss != e.agent || says.Aud != e.url:
		return errors.New("it is from another agent, or for somebody else")
	case now.Unix() >= says.Exp || now.Unix() < says.Iat-60:
		return errors.New("it was signed at another time")
	case says.Jti == "" || says.Jti != h.Get("Webhook-Id"):
		return errors.New("it is another notification's signature")
	case says.Body != hex.EncodeToString(sum[:]):
		return errors.New("other bytes were signed")
	}
	return nil
}

func decode(part string, into any) error {
	text, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// key fetches one of the keys that our agent publishes.
func (e *ear) key(id string) (ed25519.PublicKey, error) {
	answer, err := http.Get(e.agent + "/.well-known/jwks.json")
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var all struct {
		Keys []struct{ Kty, Crv, X, Kid string }
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, 1<<20)).Decode(&all); err != nil {
		return nil, err
	}
	for _, k := range all.Keys {
		if x, err := base64.RawURLEncoding.DecodeString(k.X); err == nil && k.Kid == id && k.Kty == "OKP" && k.Crv == "Ed25519" && len(x) == ed25519.PublicKeySize {
			return x, nil
		}
	}
	return nil, errors.New("our agent publishes no such key")
}

// follow asks to be told what becomes of the task.
func (a *agent) follow() error {
	if a.ear == nil {
		var err error
		if a.ear, err = listen(a.url); err != nil {
			return err
		}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "CreateTaskPushNotificationConfig", "params": map[string]any{"taskId": a.task, "url": a.ear.url}})
	if err != nil {
		return err
	}
	r, err := http.NewRequest("POST", a.url+"/a2a", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header = http.Header{"Authorization": {"Bearer " + a.token}, "Content-Type": {"application/json"}, "A2a-Version": {"1.0"}}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var made struct{ Error json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil || made.Error != nil {
		return fmt.Errorf("nobody will tell us: %s", made.Error)
	}
	fmt.Fprint(a.out, "bank  asks to be told what becomes of TASK\n\n")
	return nil
}

// hears waits until it is told that the task is in a state.
func (a *agent) hears(state string) error {
	for late := time.After(30 * time.Second); ; {
		select {
		case n := <-a.ear.told:
			if n.Task.ID == a.task && n.Task.Status.State == state {
				fmt.Fprintf(a.out, "kyc   tells the bank that TASK is %s, signed with the key that it publishes\n\n", state)
				return nil
			}
		case err := <-a.ear.wrong:
			return err
		case <-late:
			return errors.New("nobody told us that the task is " + state)
		}
	}
}
