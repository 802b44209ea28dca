package mimepart

import (
	"io"
	"strings"
	"testing"
	"time"
)

// A header is read as the standards have it, and what they do not have is a file and unsure.
func TestHeadersAreReadWithCommentsAndPieces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header       string
		name         string
		file, unsure bool
	}{
		// G5
		{"Content-Disposition: attachment; filename=note (1).txt", "note", true, true},
		{"Content-Disposition: attachment; filename=my note.txt", "my", true, true},
		{`Content-Disposition: attachment; filename="note.txt`, "", true, true},
		{"Content-Disposition: attachment; filename", "", true, true},
		{"Content-Disposition: attachment; filename=a.txt; filename=b.txt", "a.txt", true, true},
		{"Content-Disposition: attachment; filename=n\xf6te.txt", "n", true, true},
		{"Content-Disposition:", "", true, true},
		{"Content-Disposition: inline attachment", "", true, true},
		{"Content-Disposition: inline\r\nContent-Disposition: attachment", "", true, true},
		{"Content-Disposition : attachment", "", true, true},
		{"Content-Type: text/plain; name=note 1.txt", "note", true, true},
		{"Content-Type: text/plain; charset=utf-8; charset=utf-16", "", true, true},
		{"Content-Type: text/plain; charset=x-klingon", "", true, true},
		{"Content-Type: text/plain\r\nContent-Type: text/html", "", true, true},
		{"Content-Type: text", "", true, true},
		{"Content-Type: multipart/mixed", "", true, true},
		{"Content-Transfer-Encoding: x-uu", "", true, true},
		{"Content-Transfer-Encoding: 7bit 8bit", "", true, true},
		// What is certain.
		{"Content-Type: text/plain; charset=us-ascii (Plain text)", "", false, false}, // G73
		{"Content-Disposition: (shown) inline (c)", "", false, false},
		{"Content-Disposition: attachment (a file (of mine)) ; (c) filename (c) = (c) a.txt (c)", "a.txt", true, false},
		{"Content-Transfer-Encoding: 7bit (c)", "", false, false},
		{"Content-Disposition: x-new", "", true, false}, // RFC 2183, 2.8
		{"Content-Disposition: ATTACHMENT;", "", true, false},
		{"Content-Type: text/plain; charset=\"utf-8\";", "", false, false},
		{"Content-Type: text/plain; name=a.txt", "a.txt", true, false},
		{"Content-Type: text/plain\r\nContent-Disposition: inline; filename=a.txt", "a.txt", false, false}, // G34
		{`Content-Disposition: attachment; filename="a\"b;(c).txt"`, `a"b;(c).txt`, true, false},
		{"Content-Disposition: attachment; filename*=utf-8''n%C3%B6te.txt", "nöte.txt", true, false},
		{"Content-Disposition: attachment; filename*=iso-8859-1'de'n%F6te.txt", "nöte.txt", true, false}, // G34
		{"Content-Disposition: attachment; filename*1*=%F6te.txt; filename*0*=iso-8859-1'de'n", "nöte.txt", true, false},
		{`Content-Disposition: attachment; filename*0="a long "; filename*1="name.txt"`, "a long name.txt", true, false},
		{"Content-Disposition: attachment; filename=n.txt; filename*=utf-8''n%C3%B6te.txt", "nöte.txt", true, false},
		{"Content-Disposition: attachment; filename=\"=?utf-8*de?Q?n=C3=B6te.txt?=\"", "nöte.txt", true, false},
		// Pieces that do not make a whole.
		{"Content-Disposition: attachment; filename*1=b.txt", "", true, true},
		{"Content-Disposition: attachment; filename*0=a; filename*00=b", "a", true, true},
		{"Content-Disposition: attachment; filename*=utf-8''a; filename*0*=utf-8''b", "a", true, true},
		{"Content-Disposition: attachment; filename*=utf-8'n%zz", "", true, true},
		{"Content-Disposition: attachment; filename*=x-klingon''n", "n", true, true},
	} {
		whole := New([]Field{{"Content-Type", "multipart/mixed; boundary=b"}}, strings.NewReader("--b\r\n"+c.header+"\r\n\r\nx\r\n--b--\r\n"))
		p, err := whole.Next()
		if err != nil || p.Name != c.name || p.Attached != c.file || p.Unsure != c.unsure {
			t.Errorf("%q: name %q, a file %v, unsure %v, %v", c.header, p.Name, p.Attached, p.Unsure, err)
		}
	}
}

// What a part holds is decoded though a comment stands in its encoding, and what lies in a digest is
// a mail. // G73
func TestPartsAreDecoded(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable (c)":                   "text/plain Müller",
		"Content-Type: text/plain; charset=iso-8859-1 (Latin)\r\nContent-Transfer-Encoding: (c) 8bit":                  "text/plain M=C3=BCller",
		"Content-Type: text/plain; charset*=us-ascii'en'utf-8\r\nContent-Transfer-Encoding: Quoted-Printable":          "text/plain Müller",
		"Content-Type: application/x-y\r\nContent-Transfer-Encoding: quoted-printable":                                 "application/x-y Müller",
		"Subject: a mail in a digest\r\nContent-Transfer-Encoding: quoted-printable":                                   "message/rfc822 Müller",
		"Content-Type: text/plain; boundary=b\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-ID: (c) <a@b>": "text/plain Müller",
	} {
		whole := New([]Field{{"content-type", "multipart/digest; (c) boundary=b"}}, strings.NewReader("--b\r\n"+header+"\r\n\r\nM=C3=BCller\r\n--b--\r\n"))
		p, err := whole.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(p.Body)
		if got := p.Kind + " " + string(data); got != want || err != nil || p.ID != "" && p.ID != "a@b" {
			t.Errorf("%q: %q, want %q, %v", header, got, want, err)
		}
	}
}

// Encoded words may name a language. // G73
func TestEncodedWordsNameALanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"=?iso-8859-1*de?Q?M=FCller?=":             "Müller",
		"=?utf-8*de-AT?B?TcO8bGxlcg==?= * =?a*b?=": "Müller * =?a*b?=",
		"=?utf-8?Q?M=C3=BCller?=":                  "Müller",
		"2 * 3 ?= 6":                               "2 * 3 ?= 6",
		"=?x-klingon*tlh?Q?a?=":                    "=?x-klingon*tlh?Q?a?=",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// A date has the zone that the standard says, and one with a zone that nobody knows is none. // G34
func TestDatesHaveTheirZone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Mon, 5 Jan 2026 10:20:00 +0100":           "2026-01-05T09:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 +0100 (CET)":     "2026-01-05T09:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 EST":             "2026-01-05T15:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 EDT":             "2026-01-05T14:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 CST":             "2026-01-05T16:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 CDT":             "2026-01-05T15:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 MST":             "2026-01-05T17:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 MDT":             "2026-01-05T16:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 PST":             "2026-01-05T18:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 pdt (c)":         "2026-01-05T17:20:00Z",
		"5 Jan 2026 10:20 GMT":                     "2026-01-05T10:20:00Z",
		"Mon, (c) 5 Jan 2026 10:20:00 UT":          "2026-01-05T10:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 Z":               "2026-01-05T10:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 B":               "2026-01-05T10:20:00Z",
		"Mon, 5 Jan 2026 10:20:00 CET":             "",
		"Mon, 5 Jan 2026 10:20:00 J":               "",
		"Mon, 5 Jan 2026 10:20:00 (c":              "",
		"2026-01-05":                               "",
		"":                                         "",
		"(c)":                                      "",
		"Mon, 35 Jan 2026 10:20:00 +0100":          "",
		"Mon, 5 Jan 2026 10:20:00 EST extra words": "",
	} {
		got, err := Date(text)
		if (err != nil) != (want == "") || err == nil && got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%q is %v, %v, want %q", text, got, err, want)
		}
	}
}

// Whatever a header says, taking it apart ends, and a part that is unsure is a file.
func FuzzNew(f *testing.F) {
	for _, s := range []string{"attachment; filename=note (1).txt", "inline; filename*0*=utf-8''a; filename*1=b", `(a (b)) inline; x="\"`, "text/plain; charset=utf-8 (c)", "=?a*b?Q?c?="} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, disposition, kind string) {
		p := New([]Field{{"Content-Disposition", disposition}, {"Content-Type", kind}}, strings.NewReader("x"))
		if p.Unsure && !p.Attached || p.Multipart() && p.Attached {
			t.Fatalf("%+v", p)
		}
		_, _ = io.ReadAll(p.Body)
		Text(disposition)
		_, _ = Date(disposition)
	})
}

// The lines of a paragraph that flows are one (RFC 3676).
func TestFlowedLinesAreJoined(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a \nb\nc":            "a b\nc",
		"> a \n> b\nc":        "> a b\nc",
		"> a \n>> b\nc":       "> a \n>> b\nc",
		"> a \nb":             "> a \nb",
		"a \n-- \nb":          "a \n-- \nb",
		" > no quotation \nb": "> no quotation b",
		"a\n\nb":              "a\n\nb",
	} {
		if got := Unflowed(text, map[string]string{"format": "Flowed"}); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	if got := Unflowed("a \nb\n-- \nc", map[string]string{"format": "flowed", "delsp": "yes"}); got != "ab\n-- \nc" {
		t.Errorf("%q", got)
	}
}
