package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

const rewritten = `
domain: post
roles: [{name: clerk, description: Who writes.}]
verbs:
  - verb: send
    description: Send a letter.
    roles: [clerk]
    handler: true
    args: [{name: to, type: string, required: true, max-length: 5}]
  - verb: mail
    description: Send a letter.
    roles: [clerk]
    handler: true
    deprecated: {reason: it is sent, replaced-by: post.send, args: {whom: to}}
    args: [{name: whom, type: string, required: true}]
  - verb: fax
    description: Send a fax.
    roles: [clerk]
    handler: true
    deprecated: {reason: nobody has one, replaced-by: post.send, args: {whom: to}}
    args: [{name: whom, type: string, required: true}, {name: number, type: string}]
`

// OB11: however many calls there are, each is rewritten or told, and a second time nothing
// changes. More complaints than are told at once hide no call that can be rewritten, and a
// text with a mistake is never passed over in silence.
func TestEveryCallIsRenewedOrTold(t *testing.T) {
	t.Parallel()
	r, ds := Sources(dsl.NewSource("post.yaml", rewritten))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	check := func(text string) dsl.Diagnostics { return r.CheckText("a.dsl", text) }
	for name, test := range map[string]struct {
		text, want string
		left       int
	}{
		"nothing":            {"", "", 0},
		"many":               {strings.Repeat("post.mail :whom \"a\"\n", 1000), strings.Repeat("post.send :to \"a\"\n", 1000), 0},
		"one too long":       {"post.mail :whom \"a\"\npost.mail :whom \"abcdef\"\npost.mail :whom \"b\"\n", "post.send :to \"a\"\npost.mail :whom \"abcdef\"\npost.send :to \"b\"\n", 1},
		"every other":        {strings.Repeat("post.mail :whom \"abcdef\"\npost.mail :whom \"b\"\n", 40), strings.Repeat("post.mail :whom \"abcdef\"\npost.send :to \"b\"\n", 40), 40},
		"more than are told": {strings.Repeat("post.fax :whom \"a\" :number \"1\"\n", 150), strings.Repeat("post.fax :whom \"a\" :number \"1\"\n", 150), 150},
		"another mistake":    {"post.mail :whom \"a\"\npost.sned :to \"b\"\n", "post.mail :whom \"a\"\npost.sned :to \"b\"\n", 2},
		"only a mistake":     {"post.sned :to \"b\"\n", "post.sned :to \"b\"\n", 1},
		"no text":            {"post.mail :whom \"a", "post.mail :whom \"a", 1},
	} {
		got, left := verbs.Rewrite(test.text, check)
		if got != test.want {
			t.Errorf("%s: %.200s", name, got)
		}
		if len(left) != test.left {
			t.Errorf("%s: %d are told: %v", name, len(left), left)
		}
		if again, _ := verbs.Rewrite(got, check); again != got {
			t.Errorf("%s: a second time it becomes %.200s", name, again)
		}
	}
}
