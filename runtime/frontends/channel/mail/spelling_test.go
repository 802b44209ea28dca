package mail

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	others "github.com/emersion/go-message/mail"
)

var spellings = flag.Int("spellings", 500, "how many spellings of headers are compared with other programs")

// A speller spells headers of a part as programs, people and attackers do.
type speller struct {
	*rand.Rand
	// odd is how many of ten choices may be such as no standard has.
	odd int
}

// one chooses among all, of which the first so many are as they should be.
func (r *speller) one(right int, all ...string) string {
	if r.IntN(10) >= r.odd {
		return all[r.IntN(right)]
	}
	return all[r.IntN(len(all))]
}

func (r *speller) sometimes(one int, text string) string {
	if r.IntN(one) == 0 {
		return text
	}
	return ""
}

// space is white space, comments and folds.
func (r *speller) space() string {
	return r.one(9, "", "", "", "", " ", " ", "\r\n ", " (c)", "(a (b) c)", "  ", "\t", "\r\n\t", `(\))`, " (attachment) ", "(;)", "(inline; x=\"y)", "\n ", "\r ")
}

func (r *speller) value() string {
	return r.one(4, "note.txt", `"note.txt"`, `"note (1); \"x\".txt"`, `"=?utf-8?Q?n=C3=B6te.txt?="`, "note (1).txt", "note 1.txt", `"note (1).txt"`, `"a;b.txt"`, `"a\"b.txt"`, `"note.txt`, `note.txt"`, "", `""`, "=?utf-8?Q?n=C3=B6te.txt?=",
		"utf-8''n%C3%B6te.txt", "iso-8859-1'de'n%F6te.txt", "utf-8'n%te.txt", "n\xf6te.txt", "\"n\xc3\xb6te.txt\"", "a/b.txt", `a\b.txt`, "<note.txt>", "note,1.txt", "'note.txt'", "2026-01-01", "12", "x=y", "no;te.txt")
}

func (r *speller) params(names ...string) (s string) {
	for range r.IntN(3) {
		s += r.space() + r.one(1, ";", ";;", ",", " ") + r.space() + r.one(2, names...) + r.space() + r.one(1, "=", "", "==") + r.space() + r.value()
	}
	return s + r.sometimes(6, ";") + r.sometimes(8, r.space())
}

func (r *speller) disposition() string {
	return r.one(2, "Content-Disposition", "Content-disposition", "CONTENT-DISPOSITION", "Content-Disposition ", "Content-Disposition\t", "Content-Dispositiom", " Content-Disposition") + ":" + r.space() +
		r.one(5, "attachment", "inline", "inline", "ATTACHMENT", "Attachment", "form-data", "x-file", "attach ment", "", `"attachment"`, "attachment/inline", "inline attachment", "=?utf-8?Q?attachment?=", "attachment\x00", "*") +
		r.params("filename", "FileName", "filename*", "filename*0", "filename*1", "filename*0*", "filename*00", "size", "creation-date", "name", "") + "\r\n"
}

func (r *speller) kind() string {
	return r.one(2, "Content-Type", "content-type", "Content-Type ") + ":" + r.space() +
		r.one(4, "text/plain", "text/plain", "TEXT/Plain", "text/html", "text /plain", "text/ plain", "text", "", "text/plain/x", "text/x-note", "application/octet-stream", "image/png", "text/plain,text/html", `"text/plain"`, "message/rfc822", "text/plain x") +
		r.params("name", "charset", "format", "name*", "name*0*", "NAME", "boundary") + "\r\n"
}

func (r *speller) encoding() string {
	return "Content-Transfer-Encoding:" + r.space() + r.one(5, "7bit", "8bit", "binary", "quoted-printable", "7BIT", "x-none", "7bit;", "") + r.space() + "\r\n"
}

// header spells the header of a part, of which some bytes may be others than they should be.
func (r *speller) header() string {
	var all []string
	for range len(r.one(2, "", "1", "22")) {
		all = append(all, r.kind())
	}
	for range len(r.one(2, "", "1", "22")) {
		all = append(all, r.disposition())
	}
	if r.IntN(4) == 0 {
		all = append(all, r.encoding())
	}
	if r.IntN(4) == 0 {
		all = append(all, "Content-Description: Content-Disposition: inline\r\n")
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	text := []byte(strings.Join(all, ""))
	if r.IntN(20) < r.odd && len(text) > 0 {
		const odd = "();:\"\\=*/ \t\r\n,<>@'?\x00\xe9-ax%"
		for range 1 + r.IntN(2) {
			at, c := r.IntN(len(text)), odd[r.IntN(len(odd))]
			switch r.IntN(3) {
			case 0:
				text[at] = c
			case 1:
				text = append(text[:at], append([]byte{c}, text[at:]...)...)
			default:
				text = append(text[:at], text[at+1:]...)
			}
			if len(text) == 0 {
				break
			}
		}
	}
	return string(text)
}

// mail makes a mail in which a part with such a header holds the word.
func (r *speller) mail() []byte {
	r.odd = max(0, r.IntN(6)-2)
	head := "From: Ada <ada@umza.example>\r\nTo: bot@ours.example\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
	part := r.header() + "\r\nZebra\r\n"
	hello := "Content-Type: text/plain\r\n\r\nHello\r\n"
	joined := func(kind string, parts ...string) string {
		return "Content-Type: " + kind + "; boundary=b\r\n\r\n--b\r\n" + strings.Join(parts, "--b\r\n") + "--b--\r\n"
	}
	switch r.IntN(7) {
	case 0:
		return []byte(head + part)
	case 1:
		return []byte(head + joined("multipart/mixed", part, hello))
	case 2:
		return []byte(head + joined("multipart/digest", part))
	case 3:
		return []byte(head + joined("multipart/related", hello, part))
	case 4: // the header is that of parts
		return []byte(head + r.disposition() + joined("multipart/mixed", hello, "\r\nZebra\r\n"))
	}
	return []byte(head + joined("multipart/mixed", hello, part))
}

// library says what go-message's own reader of mails takes the part for.
func library(raw []byte) string {
	r, err := others.CreateReader(bytes.NewReader(raw))
	if r == nil {
		return fmt.Sprint(err)
	}
	for {
		p, _ := r.NextPart()
		if p == nil {
			return ""
		}
		data, _ := io.ReadAll(p.Body)
		if bytes.Contains(data, []byte("Zebra")) {
			if _, file := p.Header.(*others.AttachmentHeader); file {
				return "attached"
			}
			return "shown"
		}
	}
}

// judge runs a program that says of each mail what it takes the part for.
func judge(t *testing.T, mails [][]byte, program ...string) []string {
	var in bytes.Buffer
	for _, m := range mails {
		in.WriteString(base64.StdEncoding.EncodeToString(m) + "\n")
	}
	cmd := exec.Command(program[0], program[1:]...)
	cmd.Stdin, cmd.Stderr = &in, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v", program, err)
	}
	var said []string
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		said = append(said, lines.Text())
	}
	if len(said) != len(mails) {
		t.Fatalf("%v says %d things of %d mails", program, len(said), len(mails))
	}
	return said
}

// However a header is spelled, what another program takes for an attachment is never the words of
// the sender. // G5
func TestWhatAnyProgramTakesForAFileIsNobodysWords(t *testing.T) {
	t.Parallel()
	r := &speller{Rand: rand.New(rand.NewPCG(48, 5))}
	mails := make([][]byte, *spellings)
	for i := range mails {
		mails[i] = r.mail()
	}
	judges := map[string][]string{}
	python, err := exec.LookPath("python3")
	switch {
	case err == nil:
		judges["Python's email"] = judge(t, mails, python, "testdata/judges/judge.py")
	case os.Getenv("TEST_REQUIRE_MAILS") != "":
		t.Fatal("there is no python3, which judges how mails are read")
	}
	folder := os.Getenv("TEST_JUDGES")
	if _, err := os.Stat(filepath.Join(folder, "node_modules/postal-mime")); folder != "" && err == nil {
		both := judge(t, mails, "node", "testdata/judges/judge.mjs", folder)
		for _, line := range both {
			var said [2]string
			if err := json.Unmarshal([]byte(line), &said); err != nil {
				t.Fatal(err)
			}
			judges["postal-mime"], judges["mailparser"] = append(judges["postal-mime"], said[0]), append(judges["mailparser"], said[1])
		}
	} else if os.Getenv("TEST_REQUIRE_MAILS") != "" {
		t.Fatal("there is no postal-mime in TEST_JUDGES: make judges fetches it")
	}
	for _, m := range mails {
		judges["go-message"] = append(judges["go-message"], library(m))
	}
	words, files, unsure, wrong := 0, 0, 0, 0
	for i, m := range mails {
		c := read(readHead(m))
		ours := strings.Contains(c.own, "Zebra")
		switch {
		case c.unsure:
			unsure++
		case ours:
			words++
		default:
			files++
		}
		for name, said := range judges {
			if ours && said[i] == "attached" {
				if wrong++; wrong < 10 {
					t.Errorf("%s takes for an attachment what we take for words:\n%q", name, m)
				}
			}
		}
	}
	t.Logf("of %d mails %d say it, %d have it as a file or not at all, %d are unsure; judges: %d", len(mails), words, files, unsure, len(judges))
	if min(words, files, unsure) < len(mails)/10 {
		t.Error("the spellings are too alike to compare")
	}
}
