package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// tokens counts the tokens of requests as they were sent, by o200k: the texts of their messages, and
// the names, descriptions and schemas of their tools.
func tokens(t *testing.T, requests ...string) (counts []int) {
	t.Helper()
	folder := os.Getenv("VERBATIM_JUDGES")
	if folder == "" {
		if os.Getenv("VERBATIM_REQUIRE_AJV") == "1" {
			t.Fatal("the counter of tokens is not here; `make judges` fetches it")
		}
		t.Skip("SKIPPED, NOT TESTED: the counter of tokens is not here; `make judges` fetches it into .cache/judges, which VERBATIM_JUDGES names")
	}
	texts := make([]string, len(requests))
	for i, text := range requests {
		var q struct {
			Messages []struct{ Content string }
			Tools    []struct {
				Function struct {
					Name, Description string
					Parameters        json.RawMessage
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &q); err != nil {
			t.Fatal(err)
		}
		for _, m := range q.Messages {
			texts[i] += m.Content + "\n"
		}
		for _, tool := range q.Tools {
			texts[i] += tool.Function.Name + "\n" + tool.Function.Description + "\n" + string(tool.Function.Parameters) + "\n"
		}
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
	if err := json.Unmarshal(out, &counts); err != nil || len(counts) != len(requests) {
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
