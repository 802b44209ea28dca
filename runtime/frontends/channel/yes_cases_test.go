package channel

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"verbatim/runtime/frontends/channel/internal/proven"
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
	// Lang is the language of the question; "" is English. The answer may be in another one.
	// About is what the question is about: "payment", "access", or "" for repairs.
	Lang, About string
	// Confirms says whether the one question is agreed to by it.
	Confirms bool
}

// signers are the names that the first author had the person sign with, who is one.
var signers = map[string]string{"en": "Anna Clarke", "de": "Jonas Weber", "fr": "Claire Moreau", "es": "Lucía Ortega"}

// casesInOne is how many cases share a store: each leaves rows there that the next ones read.
const casesInOne = 25

// RunYes plays the cases; split finds out what of a mail is new. It returns how many agreed
// wrongly, and how many did not and should have. Of the cases that agree it plays one in so many.
func RunYes(t *testing.T, text []byte, every int, split func(string) (own, quoted string, unsure bool)) (wrong, missed, all int) {
	var w *world
	agree := 0
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
		if c.Confirms {
			if agree++; agree%every != 0 {
				continue
			}
		}
		lang, _, _ := strings.Cut(c.Why, ":")
		if all%casesInOne == 0 {
			w = onFile(t)
		}
		if all++; c.Lang == "en" {
			c.Lang = ""
		}
		if w.person = ""; strings.Contains(string(text), "Anna Clarke") {
			w.person = signers[lang]
		}
		switch got := w.confirms(&c, all, split); {
		case got && !c.Confirms && c.Asked < 2:
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
	asks := func(project string) string {
		return strings.ReplaceAll(requests[c.Lang+" "+c.About], "PROJECT", project)
	}
	// An earlier question was declined in every third thread, and in each from which a case quotes it.
	older := ""
	if n%3 == 0 || strings.Contains(c.Text, "{older}") {
		older = one2(w, w.hears(say("old", asks("Solar One"))))
		w.hears(say("oldno", map[string]string{"de": "nein", "fr": "non"}[c.Lang]+map[bool]string{true: "no"}[c.Lang == "" || c.Lang == "es"]))
	}
	open := ""
	for i := range c.Asked {
		open = one2(w, w.hears(say(fmt.Sprint("ask", i), asks([]string{"Wind Two", "Solar One"}[i]))))
	}
	if c.Elsewhere {
		f := w.mail("ada@umza.example", fmt.Sprintf("c%d-else", n), asks("Wind Two"))
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
	before := w.agreed()
	w.hears(f)
	// Where two were asked, the second one put the first off by its name and stands alone: a yes is
	// to it, or to the one that it quotes, and never to both.
	if w.agreed() > before+1 {
		w.t.Errorf("both agreed to: %s: %q", c.Why, c.Text)
	}
	return w.agreed() > before
}

// requests are what leads to the questions.
var requests = map[string]string{
	" ": "order repairs for PROJECT", "de ": "Bitte bestellen Sie die Reparaturen für PROJECT", "fr ": "Merci de commander les réparations pour PROJECT", "es ": "Por favor, encargue las reparaciones para PROJECT",
	" payment": "please pay them for PROJECT", "de payment": "Bitte zahlen Sie das für PROJECT", "fr payment": "Merci de payer cela pour PROJECT", "es payment": "Por favor, pague esto por PROJECT",
	" access": "please give him access to PROJECT", "de access": "Bitte geben Sie ihm Zugang zu PROJECT", "fr access": "Merci de lui donner un accès à PROJECT", "es access": "Por favor, necesito para él el acceso a PROJECT",
}

// agreed is how many rows were made of what was asked.
func (w *world) agreed() int {
	return len(w.rows("order", "", "")) + len(w.rows("payment", "", "")) + len(w.rows("reader", "", ""))
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
