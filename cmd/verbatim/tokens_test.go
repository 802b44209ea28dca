package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/stores/postgres/pgtest"
	"verbatim/verbs"
)

// tokens counts the tokens of requests as they were sent, by o200k.
func tokens(t *testing.T, requests ...string) []int {
	t.Helper()
	texts := make([]string, len(requests))
	for i := range requests {
		_, texts[i] = promptOf(t, requests[i])
	}
	return countTokens(t, texts)
}

// promptOf returns what of a request a model reads: the names, descriptions and schemas of its tools,
// and behind them the texts of its messages.
func promptOf(t *testing.T, request string) (tools, all string) {
	t.Helper()
	var q struct {
		Messages []struct{ Content string }
		Tools    []struct {
			Function struct {
				Name, Description string
				Parameters        json.RawMessage
			}
		}
	}
	if err := json.Unmarshal([]byte(request), &q); err != nil {
		t.Fatal(err)
	}
	for _, tool := range q.Tools {
		tools += tool.Function.Name + "\n" + tool.Function.Description + "\n" + string(tool.Function.Parameters) + "\n"
	}
	all = tools
	for _, m := range q.Messages {
		all += m.Content + "\n"
	}
	return tools, all
}

// countTokens counts the tokens of texts by o200k.
func countTokens(t *testing.T, texts []string) (counts []int) {
	t.Helper()
	folder := os.Getenv("VERBATIM_JUDGES")
	if folder == "" {
		if os.Getenv("VERBATIM_REQUIRE_AJV") == "1" {
			t.Fatal("the counter of tokens is not here; `make judges` fetches it")
		}
		t.Skip("SKIPPED, NOT TESTED: the counter of tokens is not here; `make judges` fetches it into .cache/judges, which VERBATIM_JUDGES names")
	}
	in, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/judge_tokens.mjs", folder)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &counts); err != nil || len(counts) != len(texts) {
		t.Fatal(err, string(out))
	}
	return counts
}

// G39: the first prompt of the portal has at most 3,500 tokens in tools mode, tools and records
// included.
func TestThePortalsPromptIsShort(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	s := perform(t, clara.model)
	if _, said, code := spokenIn(t, morning, dir, strings.Join(clara.says, "\n")+"\n", "--base-url", s.URL, "--model", "scripted"); code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	counts := tokens(t, s.asked...)
	t.Logf("the prompts of the example have %v tokens", counts)
	if counts[0] > 3500 {
		t.Errorf("the first prompt has %d tokens", counts[0])
	}
}

// G39: at least nine tenths of the first prompt of a conversation stand unchanged at the head of the
// second, and so on from turn to turn while the tools are the same: for each role of every palette that we
// ship, in stores with rows and without. At most one turn in five has other tools than the one before it,
// though people ask for something else each time.
func TestPromptsBeginAsTheOnesBefore(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var texts []string // a prompt, and the head that it shares with the one before
	type turn struct {
		who    string
		others bool // it has other tools than the one before
	}
	var turns []turn
	play := func(t *testing.T, store, palettes, as string, says []string, args ...string) {
		s := perform(t, slices.Repeat([]string{`{"call": "reply__say", "args": {"what": "WELCOME"}}`}, len(says)))
		var o, e bytes.Buffer
		w := world{load: loadOnce, in: strings.NewReader(strings.Join(says, "\n") + "\n"), out: &o, err: &e, env: func(string) string { return "" }, now: func() time.Time { return morning }, random: rand.Reader,
			terminal: func(world) (io.ReadCloser, bool) { return nil, false }, args: append([]string{"chat", "--palettes", palettes, "--store", store, "--as", as, "--base-url", s.URL, "--model", "scripted"}, args...)}
		if code := run(context.Background(), w); code != exitDone || len(s.asked) < 5 {
			t.Fatalf("%s: exit %d after %d requests of %d: %s", as, code, len(s.asked), len(says), &e)
		}
		mu.Lock()
		defer mu.Unlock()
		before, had := "", ""
		for i, asked := range s.asked {
			tools, all := promptOf(t, asked)
			if i > 0 {
				n := 0
				for n < min(len(before), len(all)) && before[n] == all[n] {
					n++
				}
				texts = append(texts, before, strings.ToValidUTF8(before[:n], ""))
				turns = append(turns, turn{palettes + ", " + as, tools != had})
			}
			before, had = all, tools
		}
	}
	t.Run("plays", func(t *testing.T) {
		t.Run("the portal", func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := layOut(dir); err != nil {
				t.Fatal(err)
			}
			play(t, filepath.Join(dir, "verbatim.db"), filepath.Join(dir, "verbs"), "clara", []string{"How far are we?", "What do you still need from Thomas?", "And from Maria?", "I want to talk to somebody", "What have I sent you?", "Why do you need that from Pierre?", "Go on with Allianz", "The accountant is ill."})
		})
		for palettes, data := range map[string][]string{
			"../../verbs/palettes/bank": {"../../examples/client/bank.sql"}, "../../verbs/palettes/confidence": nil, "../../verbs/palettes/kiisha": nil, "../../verbs/palettes/kyc": nil, "../../verbs/palettes/manda": nil,
			"../../examples/helpdesk/verbs": {"../../examples/helpdesk/people.sql"}, "../../examples/retail/verbs": {"../../examples/retail/schema.sql", "../../examples/retail/data.sql", "../../examples/retail/people.sql"},
			"../../examples/workshop/verbs": {"../../examples/workshop/people.sql"},
		} {
			t.Run(strings.NewReplacer("../../", "", "/", " ").Replace(palettes), func(t *testing.T) {
				t.Parallel()
				l, err := loadOnce(palettes)
				if err != nil || l.reg == nil {
					t.Fatal(err, l)
				}
				// Whom nobody has named, for each role; and whom the example names, who see rows.
				may := map[string][]*verbs.Verb{}
				for _, v := range l.reg.Verbs() {
					for _, role := range v.Roles {
						if !v.Internal {
							may["a-"+role.Name] = append(may["a-"+role.Name], v)
						}
					}
				}
				people := ""
				for as := range may {
					people += fmt.Sprintf("INSERT INTO verbatim_principal (name, label) VALUES ('%s', 'Ada');\nINSERT INTO verbatim_grant (principal, role) VALUES ('%s', '%s');\n", as, as, as[2:])
				}
				dir := t.TempDir()
				put(t, filepath.Join(dir, "people.sql"), []byte(people))
				store := filepath.Join(dir, "verbatim.db")
				args := []string{"migrate", "--palettes", palettes, "--store", store}
				if strings.Contains(palettes, "workshop") {
					db := pgtest.Database(t)
					for _, file := range []string{"schema.sql", "data.sql"} {
						text, err := os.ReadFile(filepath.Join("../../examples/workshop", file))
						if err == nil {
							err = db.Load(string(text))
						}
						if err != nil {
							t.Fatal(err)
						}
					}
					store = db.App
					args = []string{"migrate", "--palettes", palettes, "--store", db.Owner, "--grant-to", "verbatim_app"}
				}
				for _, file := range append(data, filepath.Join(dir, "people.sql")) {
					args = append(args, "--data", file)
				}
				var said bytes.Buffer
				if code := run(context.Background(), world{load: loadOnce, args: args, in: strings.NewReader(""), out: &said, err: &said, env: func(string) string { return "" }, now: func() time.Time { return morning }, random: rand.Reader, terminal: openTerminal}); code != exitDone {
					t.Fatalf("exit %d: %s", code, &said)
				}
				for as, role := range map[string]string{"mara": "a-clerk", "otto": "a-manager", "holly": "a-counter", "ada": "a-member"} {
					if may[role] != nil && slices.ContainsFunc(data, func(file string) bool { return strings.HasPrefix(file, filepath.Dir(palettes)) }) {
						may[as] = may[role]
					}
				}
				for as, list := range may {
					var says []string
					for i := range 10 { // about the whole of what they may do
						v := list[i*len(list)/10]
						says = append(says, strings.Join(strings.FieldsFunc(v.Description, func(r rune) bool { return r == '\n' }), " "))
					}
					if len(list) > 2 {
						play(t, store, palettes, as, says)
					}
				}
			})
		}
	})
	counts := countTokens(t, texts)
	others := 0
	for i, turn := range turns {
		whole, head := counts[2*i], counts[2*i+1]
		if turn.others {
			others++
		}
		if 10*head < 9*whole && !turn.others {
			t.Errorf("%s: %d of %d tokens of a prompt stand at the head of the next: %.200q", turn.who, head, whole, texts[2*i][len(texts[2*i+1]):])
		}
	}
	t.Logf("%d prompts, %d with other tools", len(turns), others)
	if len(turns) < 100 || 5*others > len(turns) {
		t.Errorf("%d of %d turns have other tools", others, len(turns))
	}
}
