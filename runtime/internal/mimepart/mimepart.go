// Package mimepart takes a mail apart: what kind each of its parts is, whether it is a file, and
// what stands in it. Header fields are read with comments (RFC 2045, 5.1) and with parameters in
// pieces and character sets (RFC 2231), and in one place for the channel of mails and for files that
// are mails.
//
//	p := mimepart.New(fields, body)
//	for p.Multipart() {
//		part, err := p.Next()
//		…
//	}
//
// Where programs may read a field differently, the part is a file and Unsure: nobody's words are
// taken from it.
package mimepart

import (
	"bytes"
	"io"
	"strings"

	"github.com/emersion/go-message"
	"github.com/emersion/go-message/textproto"
)

// A Field is one of a header. Its value has no line breaks.
type Field struct{ Name, Value string }

// A Part is a part of a mail, or the mail itself.
type Part struct {
	Kind   string            // in lower case: "text/plain"
	Params map[string]string // of Content-Type
	Name   string            // of the file, "" if it has none
	ID     string            // of Content-ID, without its angles
	// Inline says that Content-Disposition says so: a part that is shown, whatever its name.
	Inline bool
	// Attached says that the part is a file: it is marked as one, or Unsure, or named and not both
	// marked as inline and of a stated type.
	Attached bool
	// Unsure says that a field of its header cannot be read with certainty.
	Unsure bool
	// Body is what the part holds, decoded; a text is in UTF-8 unless the part is Unsure.
	Body io.Reader

	parts *textproto.MultipartReader
}

// New reads the header of a mail. The fields are in their order; other fields are left out.
func New(fields []Field, body io.Reader) *Part { return read(fields, body, "text/plain", false) }

// Multipart reports whether a part consists of others that can be told apart.
func (p *Part) Multipart() bool { return p.parts != nil }

// Next returns the next part of a multipart, and io.EOF after the last.
func (p *Part) Next() (*Part, error) {
	part, err := p.parts.NextPart()
	if err != nil {
		return nil, err
	}
	var fields []Field
	odd := false
	for all := part.Header.Fields(); all.Next(); {
		raw, err := all.Raw()
		odd = odd || err != nil || misread(raw)
		fields = append(fields, Field{all.Key(), all.Value()})
	}
	usual := "text/plain"
	if p.Kind == "multipart/digest" {
		usual = "message/rfc822" // RFC 2046, 5.1.5
	}
	return read(fields, part, usual, odd), nil
}

// misread reports whether programs may differ in where a field begins, or what its name is.
func misread(raw []byte) bool {
	name, _, _ := bytes.Cut(raw, []byte(":"))
	bare := bytes.ReplaceAll(raw, []byte("\r\n"), nil)
	return bytes.ContainsAny(name, " \t") || bytes.ContainsAny(bare, "\r\x00")
}

// mostBoundary is the greatest length of a boundary (RFC 2046, 5.1.1).
const mostBoundary = 70

func read(fields []Field, body io.Reader, usual string, odd bool) *Part {
	p := &Part{Unsure: odd, Kind: usual, Params: map[string]string{}, Body: body}
	once := func(name string) (value string, there bool) {
		for _, f := range fields {
			if strings.EqualFold(f.Name, name) {
				p.Unsure = p.Unsure || there // a second one: programs take the one or the other
				if !there {
					value, there = f.Value, true
				}
			}
		}
		return value, there
	}
	value, typed := once("Content-Type")
	if typed {
		v, ok := parse(value, true)
		p.Kind, p.Params, p.Unsure = v.main, v.params, p.Unsure || !ok
	}
	if value, there := once("Content-Disposition"); there {
		v, ok := parse(value, false)
		p.Name, p.Inline, p.Attached, p.Unsure = v.params["filename"], ok && v.main == "inline", v.main != "inline", p.Unsure || !ok
	}
	if p.Name == "" {
		p.Name = p.Params["name"]
	}
	value, _ = once("Content-Transfer-Encoding")
	encoding, ok := bare(value)
	p.Unsure = p.Unsure || !ok
	id, _ := once("Content-ID")
	p.ID = strings.Trim(Uncommented(id), "<> \t")

	if strings.HasPrefix(p.Kind, "multipart/") {
		switch b := p.Params["boundary"]; {
		case b == "" || len(b) > mostBoundary || strings.HasSuffix(b, " ") || encoding == "base64":
			p.Unsure = true
		case !p.Unsure && !p.Attached:
			p.parts = textproto.NewMultipartReader(body, b)
		}
	} else {
		p.decode(encoding, body)
	}
	p.Attached = p.Attached || p.Unsure || p.Name != "" && !(p.Inline && typed)
	return p
}

// decode undoes the transfer encoding, and makes UTF-8 of a text.
func (p *Part) decode(encoding string, body io.Reader) {
	var h message.Header
	h.Set("Content-Transfer-Encoding", encoding)
	params := map[string]string{}
	if charset, there := p.Params["charset"]; there {
		params["charset"] = charset
	}
	if !p.Unsure {
		h.SetContentType(p.Kind, params)
	}
	e, err := message.New(h, body)
	p.Body, p.Unsure = e.Body, p.Unsure || err != nil
}

// Unflowed joins the lines of each paragraph of a text whose parameters say that it flows
// (format=flowed, RFC 3676). Its lines end in \n.
func Unflowed(s string, params map[string]string) string {
	if !strings.EqualFold(params["format"], "flowed") {
		return s
	}
	joins := strings.EqualFold(params["delsp"], "yes")
	var b strings.Builder
	deep, open := 0, false
	for line := range strings.SplitSeq(s, "\n") {
		rest := strings.TrimLeft(line, ">")
		depth := len(line) - len(rest)
		rest = strings.TrimPrefix(rest, " ")
		if open && (depth != deep || rest == "-- ") {
			b.WriteByte('\n')
			open = false
		}
		if !open && depth > 0 {
			b.WriteString(strings.Repeat(">", depth) + " ")
		}
		deep, open = depth, strings.HasSuffix(rest, " ") && rest != "-- "
		if open && joins {
			rest = rest[:len(rest)-1]
		}
		b.WriteString(rest)
		if !open {
			b.WriteByte('\n')
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
