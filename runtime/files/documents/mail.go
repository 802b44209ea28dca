package documents

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/emersion/go-message/textproto"

	"verbatim/runtime/internal/mimepart"
)

// mostMails is the greatest depth of mails inside mails.
const mostMails = 5

// mail reads a mail: its headers, its text, and each attachment as a separate file.
func (x *extractor) mail(data []byte) error {
	if x.mails++; x.mails > mostMails || x.mails > x.limits.Depth {
		return fail(Loop, "mails are nested more than %d deep", mostMails)
	}
	defer func() { x.mails-- }()
	r := bufio.NewReader(bytes.NewReader(data))
	h, err := textproto.ReadHeader(r)
	if err != nil {
		return fail(Damaged, "its headers cannot be taken apart")
	}
	if h.Len() == 0 {
		return fail(WrongType, "it has no headers of a mail")
	}
	var fields []mimepart.Field
	for all := h.Fields(); all.Next(); {
		fields = append(fields, mimepart.Field{Name: all.Key(), Value: all.Value()})
	}
	for _, name := range []string{"From", "To", "Cc", "Date", "Subject"} {
		value := strings.TrimSpace(mimepart.Text(h.Get(name)))
		if value == "" {
			continue
		}
		if err := x.add(Piece{Kind: Header, At: Location{Part: name}, Text: value}); err != nil {
			return err
		}
		if x.inside == "" && name == "From" {
			x.doc.Author = value
		} else if x.inside == "" && name == "Subject" {
			x.doc.Title = value
		}
	}
	if date, err := mimepart.Date(h.Get("Date")); err == nil && x.inside == "" {
		x.doc.Modified = date
	}
	line := 0
	return x.part(mimepart.New(fields, r), &line, 0)
}

// part reads one part of a mail, and the parts of that.
func (x *extractor) part(p *mimepart.Part, line *int, depth int) error {
	if err := x.entry(); err != nil {
		return err
	}
	if depth > 20 {
		return fail(Loop, "the parts of a mail are nested more than 20 deep")
	}
	if p.Multipart() {
		return x.multipart(p, line, depth)
	}
	// With an unknown character set, the bytes stay as they are.
	data, err := x.unpack(p.Body)
	var failure *Failure
	if errors.As(err, &failure) {
		return err
	}
	name := p.Name
	switch body := !p.Attached && name == ""; {
	case body && p.Kind == "text/plain":
		s, _, _ := decode(data)
		s = mimepart.Unflowed(strings.ReplaceAll(s, "\r\n", "\n"), p.Params)
		*line, err = x.lines(s, *line)
		return err
	case body && p.Kind == "text/html" && p.Params["charset"] != "":
		return x.markup(data) // the library has made it UTF-8
	case body && p.Kind == "text/html":
		return x.html(data)
	case p.Kind == "message/rfc822" && name == "":
		name = "message.eml"
	case name == "" && strings.HasPrefix(p.Kind, "image/"):
		return nil // a picture in the text
	case name == "":
		name = "attachment"
	}
	return x.attachment(name, data)
}

// multipart reads the parts; of alternatives, the first that has text.
func (x *extractor) multipart(whole *mimepart.Part, line *int, depth int) error {
	var told bool
	for {
		p, err := whole.Next()
		if p == nil {
			if !errors.Is(err, io.EOF) && !told {
				return fail(Damaged, "its parts cannot be taken apart")
			}
			return nil
		}
		if told && whole.Kind == "multipart/alternative" {
			if err := x.entry(); err != nil {
				return err
			}
			continue
		}
		if err := x.part(p, line, depth+1); err != nil {
			return err
		}
		told = true
	}
}

// attachment reads a file that lies in another. That it cannot be read is told
// and does not keep us from the rest.
func (x *extractor) attachment(name string, data []byte) error {
	inside, section := x.inside, x.section
	shown := path.Base(strings.ReplaceAll(name, "\\", "/"))
	x.inside = strings.TrimPrefix(inside+" > "+shown, " > ")
	if x.names[x.inside]++; x.names[x.inside] > 1 {
		x.inside += fmt.Sprintf(" (%d)", x.names[x.inside])
	}
	before := x.counts
	defer func() { x.inside, x.section = inside, section }()
	err := safely(func() error { return x.read(shown, data) })
	if err == nil {
		return nil
	}
	failure := &Failure{Reason: Damaged}
	errors.As(err, &failure)
	x.counts = before // its use does not count against the rest
	x.doc.Skipped = append(x.doc.Skipped, Skipped{x.inside, failure.Reason, failure.Detail})
	return nil
}
