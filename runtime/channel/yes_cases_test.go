package channel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime/channel/internal/proven"
	"verbatim/stores/sqlite"
)

// A yes is a message that may be an answer to a question that was asked.
type yes struct {
	Why string
	// Channel is mail or whatsapp. Asked is how many questions are open in that thread, 0, 1
	// or 2, and Elsewhere says that one is open in another thread of the same person.
	Channel   string
	Asked     int
	Elsewhere bool
	// From is asked, colleague or stranger.
	From string
	// Auto says that the mail's head calls it automatic.
	Auto bool
	// Forwarded says that WhatsApp marks it as forwarded.
	Forwarded bool
	// Text is the body. {question} is the text of the open question, each line after "> ", and
	// {older} that of a question that was asked and answered before.
	Text string
	// Confirms says whether the one question is agreed to by it.
	Confirms bool
}

// disputed is a case of two open questions that its author calls no agreement to "the one open
// question": it says yes to the first of them, and the first is done.
const disputed = "fr: deux questions, oui pour la première"

// casesInOne is how many cases share a store: each leaves rows there that the next ones read.
const casesInOne = 25

// RunYes plays the cases; split finds out what of a mail is new. It returns how many agreed
// wrongly, and how many did not and should have.
func RunYes(t *testing.T, text []byte, split func(string) (own, quoted string, unsure bool)) (wrong, missed, all int) {
	var w *world
	scan := bufio.NewScanner(bytes.NewReader(text))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		line := strings.TrimSpace(scan.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		var c yes
		dec := json.NewDecoder(strings.NewReader(line))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&c); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if all%casesInOne == 0 {
			store, err := sqlite.Open(filepath.Join(t.TempDir(), "c.db"))
			w = newWorld(t, store, err)
		}
		all++
		switch got := w.confirms(&c, all, split); {
		case got && !c.Confirms && c.Why != disputed:
			wrong++
			t.Errorf("agreed wrongly: %s: %q", c.Why, c.Text)
		case !got && c.Confirms:
			missed++
			t.Logf("not taken for a yes: %s: %q", c.Why, c.Text)
		}
	}
	return wrong, missed, all
}

// confirms plays one case in threads of its own.
func (w *world) confirms(c *yes, n int, split func(string) (string, string, bool)) bool {
	w.t.Helper()
	inbox := fmt.Sprintf("n%d", n)
	if err := w.s.Open(w.t.Context(), "whatsapp", inbox); err != nil {
		w.t.Fatal(err)
	}
	say := func(id, text string) Facts {
		f := w.mail("ada@umza.example", fmt.Sprintf("c%d-%s", n, id), text)
		f.Thread = inbox
		if c.Channel == "whatsapp" {
			f = w.whatsapp("491515550199", fmt.Sprintf("c%d-%s", n, id), text)
			f.Inbox = inbox
		}
		return f
	}
	older := one2(w, w.hears(say("old", "order repairs for Solar One")))
	w.hears(say("oldno", "no"))
	open := ""
	for i := range c.Asked {
		open = one2(w, w.hears(say(fmt.Sprint("ask", i), "order repairs for "+[]string{"Wind Two", "Solar One"}[i])))
	}
	if c.Elsewhere {
		f := w.mail("ada@umza.example", fmt.Sprintf("c%d-else", n), "order repairs for Wind Two")
		f.Thread = inbox + "else"
		open = one2(w, w.hears(f))
	}
	quoted := func(text string) string { return "> " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n> ") }
	body := strings.NewReplacer("{question}", quoted(open), "{older}", quoted(older)).Replace(c.Text)
	f := say("yes", body)
	if c.Channel == "mail" {
		f.Text, f.Quoted, f.Unsure = split(body)
	}
	if f.Automatic = c.Auto; c.Forwarded {
		f.Text, f.Quoted, f.Unsure = "", body, true
	}
	switch c.From {
	case "colleague":
		f.From, f.Known = "ben@umza.example", []Identity{{Kind: "email", Subject: "ben@umza.example"}}
	case "stranger":
		f.From, f.Known = "who@x.example", []Identity{{Kind: "email", Subject: "who@x.example"}}
	}
	if c.Channel == "whatsapp" && c.From != "asked" {
		f.From, f.Known = "499999999", []Identity{{Kind: "whatsapp_phone", Subject: "+499999999"}}
	}
	before := len(w.rows("order", "", ""))
	w.hears(f)
	return len(w.rows("order", "", "")) > before
}

// one2 is the text of the only message that was sent.
func one2(w *world, all []Out) string {
	w.t.Helper()
	if len(all) != 1 {
		w.t.Fatalf("%d messages were sent", len(all))
	}
	return all[0].Text
}

var _ = proven.Text
