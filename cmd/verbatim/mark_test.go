package main

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A database is the same under another address: what waits there is not dropped.
func TestAnotherAddressIsNoCopy(t *testing.T) {
	t.Parallel()
	h := onServer(t)
	h.people()
	h.proposes(`system.grant-high-role :principal-id @nina :role "analyst"`)
	var at *url.URL
	for _, v := range h.env {
		if text, ok := strings.CutPrefix(v, "VERBATIM_STORE="); ok {
			at, _ = url.Parse(text)
		}
	}
	q := at.Query()
	other := filepath.Join(t.TempDir(), "s")
	if err := os.Symlink(q.Get("host"), other); err != nil {
		t.Fatal(err)
	}
	q.Set("host", other)
	at.RawQuery = q.Encode()
	if out := h.do("confirm", "--as", "bo", "--store", at.String()); !strings.Contains(out, "system.grant-high-role") || strings.Contains(out, "dropped") {
		t.Errorf("it does not wait under another address: %s", out)
	}
	if out := h.do("confirm", "--as", "bo"); !strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it does not wait any more: %s", out)
	}
	// An earlier build noted the address. It counts once, and is not there to be believed later, when
	// another database may stand under it.
	notes, _ := filepath.Glob(filepath.Join(h.dir, ".state", "verbatim", "*.json"))
	if len(notes) != 1 {
		t.Fatal(notes)
	}
	text, err := os.ReadFile(notes[0])
	if err != nil || !strings.Contains(string(text), `"database `) {
		t.Fatal(string(text), err)
	}
	address := (address{url: at.String()}).place()
	old := regexp.MustCompile(`"database [^"]*"`).ReplaceAllString(string(text), strconv.Quote(address))
	if err := os.WriteFile(notes[0], []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := h.do("confirm", "--as", "bo", "--store", at.String()); !strings.Contains(out, "system.grant-high-role") {
		t.Errorf("it does not wait after an earlier build: %s", out)
	}
	if text, err = os.ReadFile(notes[0]); err != nil || strings.Contains(string(text), address) || !strings.Contains(string(text), `"database `) {
		t.Errorf("%s is noted, %v", text, err)
	}
}
