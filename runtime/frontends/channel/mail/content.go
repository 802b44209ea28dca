package mail

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"verbatim/runtime/frontends/channel"
	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/internal/mimepart"
	"verbatim/verbs/message"
)

// The greatest amounts that are read of one mail.
const (
	mostDepth  = 10
	mostParts  = 100
	mostFiles  = 20
	mostBytes  = 25 << 20
	mostText   = 256 << 10
	mostMarkup = 1 << 20
	iconBytes  = 64 << 10 // of a picture that a signature shows
)

// signatures are the types of parts that mail programs add. They are no files of the sender.
var signatures = []string{"application/pkcs7-signature", "application/x-pkcs7-signature", "application/pgp-signature"}

// A content is the content of a mail.
type content struct {
	own, quoted              string
	files                    []proven.File
	unsure, tooMany, invited bool

	texts     []text
	forwarded []string
	markup    strings.Builder // of all pages, which say what pictures they show
	pictures  []picture
	parts     int
	left      int64
}

// A text is one of the body, in the order of the mail.
type text struct {
	said  string
	page  bool // it was HTML
	hides bool // and it holds more than is seen
}

// rank orders alternatives by preference. Plain text is preferred to the page unless the page hides
// something: the program that made the plain text may not have left that out.
func (t text) rank() int {
	switch {
	case t.hides:
		return 2
	case t.page:
		return 0
	}
	return 1
}

// A picture is a file that a page may show.
type picture struct {
	file proven.File
	id   string
}

// read reads a mail, as far as it can be read.
func read(h *head, body []byte) *content {
	c := &content{left: mostBytes, unsure: h.odd}
	whole := h.part(body)
	c.part(whole, 0, false)
	if whole.Multipart() && c.parts == 1 { // not one of its parts could be found
		c.keep("", whole, body)
	}
	for _, p := range c.pictures {
		if p.file.Size > iconBytes || p.id == "" || !strings.Contains(c.markup.String(), "cid:"+p.id) {
			c.file(p.file)
		}
	}
	all := message.Names(c.texts, func(t text) string { return t.said })
	said, cut := shortened(strings.Join(all, "\n"))
	own, quoted, unsure := Split(said)
	quoted, long := shortened(strings.TrimSpace(strings.Join(append([]string{quoted}, c.forwarded...), "\n")))
	c.own, c.quoted, c.unsure = own, quoted, c.unsure || unsure || cut || long
	return c
}

// shortened cuts a text that is too long.
func shortened(s string) (string, bool) {
	if len(s) <= mostText {
		return s, false
	}
	return strings.ToValidUTF8(s[:mostText], ""), true
}

// kind returns the main kind of a mail's content.
func (c *content) kind() channel.Kind {
	switch {
	case c.invited:
		return proven.Invite
	case c.own != "" || len(c.files) == 0:
		return proven.Text
	}
	for prefix, kind := range map[string]proven.Kind{"image/": proven.Image, "audio/": proven.Audio, "video/": proven.Video} {
		if strings.HasPrefix(c.files[0].Type, prefix) {
			return kind
		}
	}
	return proven.Document
}

// part reads one part of a mail, and the parts of that. What is forwarded is not the sender's.
func (c *content) part(p *mimepart.Part, depth int, forwarded bool) {
	if c.parts++; c.parts > mostParts || depth > mostDepth {
		c.tooMany = true
		return
	}
	c.unsure = c.unsure || p.Unsure
	if p.Multipart() {
		c.multipart(p, depth, forwarded)
		return
	}
	data, err := io.ReadAll(io.LimitReader(p.Body, c.left+1))
	if int64(len(data)) > c.left {
		c.tooMany, c.left = true, 0
		return
	}
	c.left -= int64(len(data))
	c.unsure = c.unsure || err != nil
	name, words := p.Name, !p.Attached
	if p.Name != "" && len(c.texts) > 0 {
		words = false // a text beside the sender's own is a file, though it is shown
	}
	if words = words && (p.Kind == "text/plain" || p.Kind == "text/html"); words && !utf8.Valid(data) {
		c.unsure, words = true, false // its bytes are not of its character set
	}
	switch {
	case p.Kind == "message/rfc822" || p.Kind == "message/global":
		c.mail(data, depth)
		return
	case words && p.Kind == "text/plain":
		c.say(text{said: c.plain(data, p.Params)}, forwarded)
		return
	case words:
		if len(data) > mostMarkup {
			data, c.unsure = data[:mostMarkup], true
		}
		markup := c.letters(data)
		c.markup.WriteString(markup)
		said, hides, ok := readPage(markup)
		c.unsure = c.unsure || !ok
		c.say(text{said, true, hides}, forwarded)
		return
	case strings.HasPrefix(p.Kind, "message/"):
		return // what servers report to one another
	case slices.Contains(signatures, p.Kind):
		return
	case p.Kind == "text/calendar":
		c.invited = c.invited || !forwarded
		name = cmp.Or(name, "invite.ics")
	}
	c.keep(name, p, data)
}

// keep keeps a part as a file, or as a picture that a page may show.
func (c *content) keep(name string, p *mimepart.Part, data []byte) {
	sum := sha256.Sum256(data)
	f := proven.File{Name: fileName(name), Type: p.Kind, Size: int64(len(data)), Sum: hex.EncodeToString(sum[:]), Content: data}
	if strings.HasPrefix(p.Kind, "image/") {
		c.pictures = append(c.pictures, picture{f, p.ID})
		return
	}
	c.file(f)
}

// file keeps a file.
func (c *content) file(f proven.File) {
	if len(c.files) >= mostFiles {
		c.tooMany = true
		return
	}
	c.files = append(c.files, f)
}

// say keeps a text.
func (c *content) say(t text, forwarded bool) {
	if forwarded {
		c.forwarded = append(c.forwarded, t.said)
		return
	}
	c.texts = append(c.texts, t)
}

// multipart reads the parts, and of alternatives one.
func (c *content) multipart(whole *mimepart.Part, depth int, forwarded bool) {
	alternative := whole.Kind == "multipart/alternative"
	texts := &c.texts
	before, best := len(*texts), []text(nil)
	for c.parts <= mostParts {
		p, err := whole.Next()
		if p == nil {
			c.unsure = c.unsure || err != io.EOF
			break
		}
		c.part(p, depth+1, forwarded)
		if said := (*texts)[before:]; alternative && len(said) > 0 {
			blank := func(all []text) bool { return len(all) == 1 && strings.TrimSpace(all[0].said) == "" && !all[0].hides }
			if best == nil || !blank(said) && (blank(best) || said[0].rank() > best[0].rank()) {
				best = slices.Clone(said)
			}
			*texts = (*texts)[:before]
		}
	}
	*texts = append(*texts, best...)
}

// mail reads a mail within the mail.
func (c *content) mail(data []byte, depth int) {
	h, body := readHead(data)
	for _, name := range [...]string{"From", "Date", "Subject"} {
		if v := oneLine(mimepart.Text(h.value(strings.ToLower(name))), 300); v != "" {
			c.forwarded = append(c.forwarded, name+": "+v)
		}
	}
	c.unsure = c.unsure || h.odd
	c.part(h.part(body), depth+1, true)
}

// plain reads plain text.
func (c *content) plain(data []byte, params map[string]string) string {
	return mimepart.Unflowed(strings.ReplaceAll(c.letters(data), "\r\n", "\n"), params)
}

// letters removes what a text cannot hold.
func (c *content) letters(data []byte) string {
	if bytes.IndexByte(data, 0) >= 0 {
		c.unsure, data = true, bytes.ReplaceAll(data, []byte{0}, nil)
	}
	return strings.TrimPrefix(string(data), "\uFEFF")
}

// fileName returns a file name without folders.
func fileName(name string) string {
	name = oneLine(path.Base(strings.ReplaceAll(name, `\`, "/")), 200)
	if strings.Trim(name, "./ ") == "" {
		return "file"
	}
	return name
}
