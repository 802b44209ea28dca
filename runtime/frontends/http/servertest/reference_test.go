package servertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// manyVerbs is how many verbs a large palette has.
const manyVerbs = 1257

// large is a house with such a palette, and an analyst who is signed in.
func large(t testing.TB) (*house, *http.Client) {
	h := newHouse(t, func(h *house) {
		own := filepath.Join(h.dir, "palettes")
		if err := os.CopyFS(own, os.DirFS(filepath.Join(root, "verbs/palettes/bank"))); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString("domain: ledger\ndescription: What a large house has verbs for.\nverbs:\n")
		things := []string{"account", "settlement", "position", "mandate", "exposure", "covenant", "facility", "collateral", "valuation", "instruction"}
		does := []string{"open", "close", "list", "review", "amend", "release", "hold", "report", "reconcile", "archive"}
		for i := range manyVerbs {
			thing, do := things[i%10], does[i/10%10]
			fmt.Fprintf(&b, "  - verb: %s-%s-%d\n    description: %s the %s of desk %d, as the rules of the house have it, and tell whom it concerns.\n    roles: [analyst]\n    args:\n      - {name: request-id, type: ref, ref-type: outstanding-request, required: true, description: what it is about}\n      - {name: note, type: string, required: true, max-length: 200}\n    effects:\n      - notifies: desk-%d\n        with: {request: request-id, note: note}\n", do, thing, i, strings.ToUpper(do[:1])+do[1:], thing, i, i)
		}
		if err := os.WriteFile(filepath.Join(own, "ledger.yaml"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		h.env = []string{"VERBATIM_PALETTES=" + own}
	})
	jar, _ := cookiejar.New(nil)
	c := &http.Client{Jar: jar}
	at, err := url.Parse(h.links["t.weber"])
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.PostForm(h.url("/sign-in/link"), url.Values{"link": {at.Query().Get("link")}})
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r, err)
	}
	_ = r.Body.Close()
	return h, c
}

func size(t testing.TB, c *http.Client, url string) (int, string) {
	t.Helper()
	r, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r.Body)
	if r.Body.Close(); err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(r.Status, err)
	}
	return len(text), string(text)
}

// looks are pages of the reference: the first, the last, what is found, and one verb.
var looks = []string{"/verbs", "/verbs?page=12", "/verbs?q=reconcile+covenant", "/verbs?q=the+rules+of+the+house", "/verbs/ledger.open-account-0"}

// U37: no page of the reference of 1 257 verbs, with what is searched for, is larger than
// 100 kB, or takes longer than 100 ms where the machine has time for it.
func TestReferenceOfManyVerbs(t *testing.T) {
	t.Parallel()
	h, c := large(t)
	for _, look := range looks {
		n, text, least := 0, "", time.Hour
		for range 5 {
			began := time.Now()
			n, text = size(t, c, h.url(look))
			least = min(least, time.Since(began))
		}
		t.Logf("%6d bytes in %s: %s", n, least, look)
		if n > 100_000 || least > 100*time.Millisecond || !strings.Contains(text, "ledger.") {
			t.Errorf("%s has %d bytes, in %s", look, n, least)
		}
	}
	if _, text := size(t, c, h.url("/verbs?q=the+rules+of+the+house")); !strings.Contains(text, fmt.Sprint("Verbs: ", manyVerbs)) {
		t.Error("not all of them are found")
	}
}
