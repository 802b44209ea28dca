package a2a_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/protocols/a2a"
)

// bearer shows a token with each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// This program gives tasks to another server of this program, by both bindings, with streams
// and without: a task is followed to its end, the same message is the same task, a refusal is
// one, a task that nobody waits for is taken back, and one that waits for somebody else's
// agreement is not said to be canceled (T49).
func TestA2AAsksItself(t *testing.T) {
	t.Parallel()
	onDesks(t, func(t *testing.T, d *desk) {
		s := d.serve()
		for n, c := range []struct {
			binding string
			streams bool
		}{{"JSONRPC", true}, {"JSONRPC", false}, {"HTTP+JSON", true}, {"HTTP+JSON", false}} {
			by := fmt.Sprintf("%s %t", c.binding, c.streams)
			client := &a2a.Client{HTTP: &http.Client{Transport: bearer("acme")}, Limit: 1 << 20}
			card, err := client.ReadCard(t.Context(), s.url+"/")
			if err != nil {
				t.Fatal(err)
			}
			if first, err := card.Interface(); err != nil || first.ProtocolBinding != "JSONRPC" {
				t.Error(first, err)
			}
			client.At = card.Interfaces[slices.IndexFunc(card.Interfaces, func(i a2a.AgentInterface) bool { return i.ProtocolBinding == c.binding })]
			client.Streams = c.streams
			send := func(ctx context.Context, id, skill string, args dict) (*a2a.SendMessageResponse, error) {
				return client.Do(ctx, &a2a.Message{MessageID: fmt.Sprint(id, n), Role: a2a.User, Parts: []a2a.Part{a2a.DataPart(dict{"skill": skill, "arguments": args})}})
			}
			subject := "Printer " + by
			go func() {
				for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
					tasks, _ := at(s.rpc("acme", "ListTasks", dict{"status": "TASK_STATE_WORKING", "includeArtifacts": true}), "result.tasks").([]any)
					for _, one := range tasks {
						if at(one, "artifacts.0.parts.0.data.subject") == subject {
							s.does("clara", fmt.Sprintf("desk.solve :ticket-id %s :text \"It prints\"", name(one)))
							return
						}
					}
				}
			}()
			answer, err := send(t.Context(), "m", "desk.report", dict{"text": subject})
			if err != nil || answer.Task.Status.State != a2a.Completed {
				t.Fatalf("%s: %+v %v", by, answer, err)
			}
			var told struct{ Subject, Remark string }
			if err := json.Unmarshal(answer.Task.Artifacts[0].Parts[0].Data, &told); err != nil || told.Subject != subject || told.Remark != "It prints" {
				t.Errorf("%s: %+v %v", by, told, err)
			}
			again, err := send(t.Context(), "m", "desk.report", dict{"text": subject})
			if err != nil || again.Task.ID != answer.Task.ID {
				t.Errorf("%s: sent again it is %+v %v", by, again, err)
			}
			var unknown *a2a.Error
			if _, err := send(t.Context(), "n", "desk.tickle", dict{}); !errors.As(err, &unknown) || unknown.Begun() || !strings.Contains(unknown.Text, "no such skill") {
				t.Errorf("%s: %v", by, err)
			}
			if refused, err := send(t.Context(), "r", "desk.report", dict{"text": "nonsense"}); err != nil || refused.Message == nil || !strings.Contains(a2a.Words(refused.Message.Parts), "machines alone") {
				t.Errorf("%s: %+v %v", by, refused, err)
			}
			var left *a2a.SendMessageResponse
			for wait := 300 * time.Millisecond; left == nil && wait < time.Minute; wait *= 2 { // on a busy machine it has not begun by then
				short, stop := context.WithTimeout(t.Context(), wait)
				left, err = send(short, "o", "desk.report", dict{"text": "Left " + by})
				stop()
			}
			if left == nil {
				t.Fatalf("%s: %v", by, err)
			}
			if !errors.Is(err, context.DeadlineExceeded) || state(s.rpc("acme", "GetTask", dict{"id": left.Task.ID})["result"]) != "CANCELED" {
				t.Errorf("%s: %v", by, err)
			}
			if _, err := send(t.Context(), "p", "desk.report", dict{"text": "Night " + by, "urgent": true}); err == nil || !strings.Contains(err.Error(), "waits for somebody (TASK_STATE_AUTH_REQUIRED), and could not be canceled") {
				t.Errorf("%s: %v", by, err)
			}
			// Nobody else's task is anybody's.
			client.HTTP.Transport = bearer("other")
			if theirs, err := send(t.Context(), "m", "desk.report", dict{"text": "nonsense"}); err != nil || theirs.Task != nil {
				t.Errorf("%s: %+v %v", by, theirs, err)
			}
		}
	})
}
