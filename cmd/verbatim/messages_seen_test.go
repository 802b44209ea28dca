package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/tests/norace"
)

// The cases of testdata/messages-seen were written by somebody who had read the palettes and none of the
// program's code, and were judged once, by another's hand. They have been looked at since, so that what
// comes back now is kept beside them: a change shows there what it does to them. Those of the palettes
// that need a program of others or a whole data room beside them, helpdesk and manda, are not played here.

var (
	messagesEvery = flag.Int("messages-every", 8, "play one message of testdata/messages-seen in so many")
	messagesSeen  = "testdata/messages-seen/"
)

// A messageCase is what somebody says, in one conversation, and what was expected, in words.
type messageCase struct {
	ID, Palette, As, Lang string
	Say                   []string
	Expect                string
}

// mondayMorning is when the messages are said.
var mondayMorning = time.Date(2026, 11, 30, 10, 0, 0, 0, time.UTC)

// messagesRun runs the program in process on a store.
func messagesRun(t *testing.T, palettes, store, in string, args ...string) string {
	t.Helper()
	var o, e bytes.Buffer
	env := map[string]string{"VERBATIM_PALETTES": palettes, "VERBATIM_STORE": store, "VERBATIM_SCAN": "none", "VERBATIM_FILES": store + ".files", "XDG_STATE_HOME": filepath.Dir(store), "NO_COLOR": "1"}
	w := world{load: loadOnce, args: args, in: strings.NewReader(in), out: &o, err: &e, env: func(name string) string { return env[name] },
		now: func() time.Time { return mondayMorning }, random: rand.Reader, terminal: func(world) (io.ReadCloser, bool) { return nil, false }}
	if code := run(context.Background(), w); code != exitDone {
		t.Fatalf("verbatim %s: exit %d: %s", strings.Join(args, " "), code, e.String())
	}
	return o.String()
}

// messagesStores makes a store for each palette.
func messagesStores(t *testing.T) (palettes, stores map[string]string) {
	palettes = map[string]string{"client": "bank", "review": "bank", "kiisha": "kiisha", "kyc": "kyc", "retail": "../../examples/retail/verbs"}
	data := map[string][]string{
		"client": {"client/bank.sql", "client/people.sql"}, "review": {"client/bank.sql", "client/people.sql"},
		"kiisha": {"kiisha/organisations.sql", "kiisha/eval.sql"}, "kyc": {"kyc/people.sql"},
		"retail": {"retail/schema.sql", "retail/data.sql", "retail/people.sql"},
	}
	stores = map[string]string{}
	for name := range palettes {
		stores[name] = filepath.Join(t.TempDir(), name+".db")
		does := func(args ...string) string { return messagesRun(t, palettes[name], stores[name], "", args...) }
		if name != "client" && name != "review" && name != "retail" {
			does("migrate")
		}
		args := []string{"migrate"}
		for _, file := range data[name] {
			args = append(args, "--data", "../../examples/"+file)
		}
		does(args...)
		switch name {
		case "review":
			ref := strings.Fields(does("upload", "--as", "clara", "../../examples/client/passport.pdf"))[0]
			script := filepath.Join(t.TempDir(), "sent.dsl")
			if err := os.WriteFile(script, fmt.Appendf(nil, "client.submit-document :request-id @thomas-muller-identity :document-type PASSPORT :file-reference %q\n"+
				"client.request-clarification :request-id @pierre-dupont-source-of-wealth :question \"Would the 2021 return do in German?\"\n", ref), 0o600); err != nil {
				t.Fatal(err)
			}
			does("run", "--as", "clara", "--yes", script)
		case "kyc":
			does("index", "verify")
			does("migrate", "--administrator", "ada", "--administrator", "bo")
			does("run", "--as", "ada", "--yes", "../../examples/kyc/agents.dsl")
		}
	}
	return palettes, stores
}

// What comes back to the messages that were looked at is what the golden file has.
func TestMessagesSeen(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	all, err := os.ReadFile(messagesSeen + "cases.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	golden := map[string]string{}
	kept, err := os.ReadFile(messagesSeen + "answers.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, section := range strings.Split(string(kept), "\n## ")[min(1, len(kept)):] {
		id, _, _ := strings.Cut(section, " ")
		golden[id] = strings.TrimSpace(section)
	}
	if *update {
		*messagesEvery = 1
	}
	palettes, stores := messagesStores(t)
	from := t.TempDir()
	passport, err := os.ReadFile("../../examples/client/passport.pdf")
	if err == nil {
		err = os.WriteFile(filepath.Join(from, "passport.pdf"), passport, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	now.WriteString("# What comes back to the messages of cases.jsonl; written by -update, and read by people.\n")
	n := 0
	for line := range strings.Lines(string(all)) {
		var c messageCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if n++; palettes[c.Palette] == "" || n%*messagesEvery != 0 {
			continue
		}
		store := filepath.Join(t.TempDir(), "one.db")
		text, err := os.ReadFile(stores[c.Palette])
		if err == nil {
			err = os.WriteFile(store, text, 0o600)
		}
		if err == nil && c.Palette == "review" {
			err = os.CopyFS(store+".files", os.DirFS(stores[c.Palette]+".files"))
		}
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"chat", "--as", c.As, "--session", "one"}
		if c.Palette == "client" {
			args = append(args, "--send-from", from)
		}
		told := messagesRun(t, palettes[c.Palette], store, strings.Join(c.Say, "\n")+"\n", args...)
		section := fmt.Sprintf("%s %s %s %s: %s\n%s", c.ID, c.Palette, c.As, c.Lang, strings.Join(c.Say, " || "), strings.TrimSpace(told))
		fmt.Fprintf(&now, "\n## %s\n", section)
		if !*update && golden[c.ID] != section {
			t.Errorf("expected: %s\ntold:\n%s\nand not\n%s", c.Expect, section, golden[c.ID])
		}
	}
	if *update {
		if err := os.WriteFile(messagesSeen+"answers.txt", []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
