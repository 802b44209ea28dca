package main

import (
	"strings"
	"testing"
)

// SAFE-S7, U39: what may be asked of a model in a day is one account for every
// process; when it is used up the person is told so once, in plain words, and the
// phrases of the palettes are understood all the same. A conversation and a
// message have caps of their own.
func TestADayHasOneBudget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	s := perform(t, []string{says("WHO_I_AM"), says("WHO_I_AM")})
	talk := func(budget string, says ...string) string {
		out, said, code := spokenIn(t, morning, dir, strings.Join(says, "\n")+"\n", "--base-url", s.URL, "--model", "scripted", "--budget", budget)
		if code != 0 || said != "" {
			t.Fatalf("exit %d: %s\n%s", code, said, out)
		}
		return out
	}
	if out := talk("30000,200000,7000", "Hi"); !strings.HasPrefix(out, "Assistant: I am a program") {
		t.Fatalf("told %q", out)
	}
	out := talk("30000,200000,7000", "How far are we?", "How far are we?", "What is the weather?")
	if len(s.asked) != 1 || strings.Count(out, "I cannot chat any more today") != 2 || strings.Count(out, "You are at 87 %") != 2 || !strings.Contains(out, "begins anew tomorrow") {
		t.Errorf("after %d requests, told\n%s", len(s.asked), out)
	}
	if out := talk("30000,200000,11000", "Hi", "Hi"); len(s.asked) != 2 || strings.Count(out, "I cannot chat any more today") != 1 {
		t.Errorf("after %d requests, told\n%s", len(s.asked), out)
	}
	for budget, says := range map[string]string{"30000,3000,1000000": "what this conversation may ask", "3000,200000,1000000": "one message may not ask so much", "3000": "what this conversation may ask"} {
		if out := talk(budget, "What is the weather?"); len(s.asked) != 2 || !strings.Contains(out, says) {
			t.Errorf("%s: after %d requests, told\n%s", budget, len(s.asked), out)
		}
	}
	for _, bad := range []string{"0", "x", "1,2", "1,2,3,4", "1,-2,3", ""} {
		if _, said, code := spokenIn(t, morning, dir, "", "--budget", bad); code != exitUsage || !strings.Contains(said, "--budget") {
			t.Errorf("%q: exit %d, %s", bad, code, said)
		}
	}
}

// SAFE-S7: a session that goes on from process to process does not begin its
// budget anew.
func TestASessionHasOneBudget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := layOut(dir); err != nil {
		t.Fatal(err)
	}
	s := perform(t, []string{says("WHO_I_AM"), says("WHO_I_AM")})
	for range 3 {
		if out, said, code := spokenIn(t, morning, dir, "Hi\n", "--base-url", s.URL, "--model", "scripted", "--budget", "7000", "--session", "s1"); code != 0 || said != "" {
			t.Fatalf("exit %d: %s\n%s", code, said, out)
		}
	}
	if len(s.asked) != 1 {
		t.Errorf("the model was asked %d times", len(s.asked))
	}
}
