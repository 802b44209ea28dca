package main

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A database is the same under another address: what waits there is not dropped. A copy of it is
// another, and there it is.
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
}
