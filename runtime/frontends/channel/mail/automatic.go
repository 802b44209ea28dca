package mail

import (
	"bytes"
	_ "embed"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/internal/mimepart"
)

// away matches the subjects of automatic answers.
var away = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(?:` + values.Expression("automatic") + `|` + values.Expression("away") + `)`)
})

//go:embed fields.txt
var fields string

// unread says what the presence of fields does that are not read.
var unread = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(fields) {
		if words := strings.Fields(line); len(words) > 2 && words[0] != "#" {
			all[words[0]] = words[1]
		}
	}
	return all
})

// replaces reports whether a mail stands for another that may have been handled.
func (h *head) replaces() bool {
	for name := range h.count {
		if unread()[name] == "unsure" {
			return true
		}
	}
	return false
}

var daemon = regexp.MustCompile(`(?i)^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply)(?:[+@-]|$)`)

// automatic reports whether a machine sent a mail; such a mail is not answered.
func automatic(h *head, in arrival) bool {
	is := func(name string, values ...string) bool {
		value, _, _ := strings.Cut(strings.ToLower(mimepart.Uncommented(h.value(name))), ";")
		return slices.Contains(values, strings.TrimSpace(value))
	}
	for _, name := range [...]string{"list-id", "list-unsubscribe", "x-autoreply", "x-autorespond"} {
		if h.count[name] > 0 {
			return true
		}
	}
	from, _ := h.answerTo()
	return in.null || h.count["auto-submitted"] > 0 && !is("auto-submitted", "no") || is("precedence", "bulk", "list", "junk", "auto_reply") ||
		h.count["x-auto-response-suppress"] > 0 && !is("x-auto-response-suppress", "none") || is("content-type", "multipart/report") ||
		daemon.MatchString(from) || away().MatchString(mimepart.Text(h.value("subject")))
}

var (
	failedLine = regexp.MustCompile(`(?im)^action:[ \t]*failed\b`)
	statusLine = regexp.MustCompile(`(?im)^status:[ \t]*([245]\.\d{1,3}\.\d{1,3})`)
	originalID = regexp.MustCompile(`(?im)^message-id:\s*(<[^<>\s]+>)`)
)

// bounce reads a report (RFC 3464) that a mail of ours was not delivered.
func (a *Adapter) bounce(h *head, body []byte) (s channel.Status, ok bool) {
	whole := h.part(body)
	if !whole.Multipart() || whole.Kind != "multipart/report" || !strings.EqualFold(whole.Params["report-type"], "delivery-status") {
		return s, false
	}
	var report, original []byte
	for range 10 {
		p, _ := whole.Next()
		if p == nil {
			break
		}
		text, _ := io.ReadAll(io.LimitReader(p.Body, 64<<10))
		switch p.Kind {
		case "message/delivery-status", "message/global-delivery-status":
			report = text
		case "message/rfc822", "message/global", "text/rfc822-headers", "message/rfc822-headers":
			original, _, _ = bytes.Cut(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
		}
	}
	id := originalID.FindSubmatch(original)
	if id == nil || !failedLine.Match(report) {
		return s, false
	}
	ours := strings.TrimSuffix(strings.Trim(string(id[1]), "<>"), "@"+a.o.Domain) // a foreign ID keeps its @
	if !plainID().MatchString(ours) {
		return s, false
	}
	why := &channel.Failure{Code: "5.0.0", Text: "the mail was returned"}
	if code := statusLine.FindSubmatch(report); code != nil {
		why.Code = string(code[1])
	}
	why.Permanent = why.Code[0] == '5'
	return channel.Status{Channel: Channel, ID: string(id[1]), Ours: ours, State: channel.Failed, At: a.o.Clock(), Why: why}, true
}
