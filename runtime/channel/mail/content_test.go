package mail

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/channel/internal/proven"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Each mail in testdata is as a program writes it; beside it stands what is read of it.
func TestMailsAreReadAsTheyAreMeant(t *testing.T) {
	t.Parallel()
	all, err := filepath.Glob("testdata/*.eml")
	if err != nil || len(all) < 30 {
		t.Fatal(len(all), err)
	}
	for _, name := range all {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			c := read(readHead(raw))
			var b strings.Builder
			fmt.Fprintf(&b, "kind: %s\nunsure: %v\ntoo many: %v\n", c.kind(), c.unsure, c.tooMany)
			for _, f := range c.files {
				fmt.Fprintf(&b, "file: %q %s %d\n", f.Name, f.Type, f.Size)
			}
			fmt.Fprintf(&b, "--- own\n%s\n--- quoted\n%s\n", c.own, c.quoted)
			golden := strings.TrimSuffix(name, ".eml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || string(want) != b.String() {
				t.Errorf("%s is read as\n%s\nwant\n%s", name, b.String(), want)
			}
		})
	}
}

// mixed is a mail of some parts.
func mixed(parts ...string) []byte {
	return []byte("Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n" + strings.Join(parts, "\r\n--b\r\n") + "\r\n--b--\r\n")
}

const attached = "Content-Disposition: attachment; filename=a.txt\r\nContent-Type: text/plain\r\n\r\nx"

// What is read of one mail is bounded, and a mail at the bound is whole.
func TestReadingIsBounded(t *testing.T) {
	t.Parallel()
	repeat := func(n int) []byte {
		return mixed(strings.Split(strings.Repeat(attached+"\x01", n-1)+attached, "\x01")...)
	}
	nested := func(n int) []byte {
		s := "Content-Type: text/plain\r\n\r\nYes"
		for i := range n {
			s = fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n%s\r\n--b%d--\r\n", i, i, s, i)
		}
		return []byte(s)
	}
	mails := func(n int) []byte {
		s := "Content-Type: text/plain\r\n\r\nYes"
		for range n {
			s = "Content-Type: message/rfc822\r\n\r\nSubject: x\r\n" + s
		}
		return []byte(s)
	}
	texts := func(n int) []byte {
		return mixed(strings.Split(strings.Repeat("Content-Type: text/plain\r\n\r\nx\x01", n-1)+"Content-Type: text/plain\r\n\r\nx", "\x01")...)
	}
	for name, c := range map[string]struct {
		raw     []byte
		files   int
		tooMany bool
	}{
		"20 files":             {repeat(20), 20, false},
		"21 files":             {repeat(21), 20, true},
		"99 parts":             {texts(99), 0, false},
		"100 parts":            {texts(100), 0, true},
		"10000 parts":          {texts(10000), 0, true},
		"parts 10 deep":        {nested(10), 0, false},
		"parts 11 deep":        {nested(11), 0, true},
		"parts 200 deep":       {nested(200), 0, true},
		"mails 10 deep":        {mails(10), 0, false},
		"mails 1000 deep":      {mails(1000), 0, true},
		"25 MB of files":       {mixed(strings.TrimSuffix(attached, "x")+strings.Repeat("y", mostBytes-1), attached), 2, false},
		"a byte more":          {mixed(strings.TrimSuffix(attached, "x")+strings.Repeat("y", mostBytes), attached), 1, true},
		"a file that is large": {mixed(attached, strings.TrimSuffix(attached, "x")+strings.Repeat("y", mostBytes+1)), 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			c2 := read(readHead(c.raw))
			if len(c2.files) != c.files || c2.tooMany != c.tooMany {
				t.Errorf("%d files, too many %v", len(c2.files), c2.tooMany)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("it takes %v", took)
			}
		})
	}
}

// A long text is cut, and says so; so is a page that cannot be taken apart.
func TestWhatIsCutIsUnsure(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"a long text":      "\r\n" + strings.Repeat("ä", mostText),
		"a long quotation": "\r\nYes\r\n" + strings.Repeat("> a\r\n", mostText/4),
		"a long page":      "Content-Type: text/html\r\n\r\n<p>Yes" + strings.Repeat(" ", mostMarkup),
		"a deep page":      "Content-Type: text/html\r\n\r\n" + strings.Repeat("<div>", 5000) + "Yes",
		"a forwarded one":  "Content-Type: message/rfc822\r\n\r\n\r\n" + strings.Repeat("ä ", mostText),
	} {
		c := read(readHead([]byte("Subject: x\r\n" + raw)))
		if !c.unsure || len(c.own) > mostText || len(c.quoted) > mostText || c.own == "" && c.quoted == "" {
			t.Errorf("%s: unsure %v, %d, %d bytes", name, c.unsure, len(c.own), len(c.quoted))
		}
	}
}

// A picture is no file where a page shows it and it is small.
func TestPicturesOfSignaturesAreNoFiles(t *testing.T) {
	t.Parallel()
	page := "Content-Type: text/html\r\n\r\n<p>Yes<img src=\"cid:a\">"
	image := func(id string, size int) string {
		return "Content-Type: image/png\r\nContent-ID: <" + id + ">\r\n\r\n" + strings.Repeat("x", size)
	}
	for name, c := range map[string]struct {
		image string
		files int
	}{
		"small and shown":  {image("a", iconBytes), 0},
		"large and shown":  {image("a", iconBytes+1), 1},
		"small, not shown": {image("b", 10), 1},
		"without an ID":    {"Content-Type: image/png\r\n\r\nx", 1},
	} {
		got := read(readHead(mixed(page, c.image)))
		if len(got.files) != c.files {
			t.Errorf("%s: %d files", name, len(got.files))
		}
	}
	if f := read(readHead(mixed("Content-Type: image/gif\r\n\r\nx"))).files[0]; f.Name != "file.gif" || f.Sum == "" {
		t.Errorf("%+v", f)
	}
}

// What a mail holds is told by its text, or else by its first file.
func TestKindIsThatOfWhatThereIs(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]proven.Kind{"image/png": proven.Image, "audio/ogg": proven.Audio, "video/mp4": proven.Video, "application/pdf": proven.Document} {
		c := read(readHead([]byte("Content-Type: " + kind + "\r\n\r\nx")))
		if c.kind() != want {
			t.Errorf("%s is %s", kind, c.kind())
		}
	}
}

// FuzzRead looks for mails that bring it down or take it long.
func FuzzRead(f *testing.F) {
	all, _ := filepath.Glob("testdata/*.eml")
	for _, name := range all {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	a := testAdapter(f, nil, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		h, body := readHead(raw)
		p, err := a.prove(t.Context(), h, arrival{raw: raw, envelope: "ada@umza.example", relayed: true})
		if err != nil || p.known != nil {
			t.Fatal("somebody is known", err)
		}
		facts := a.facts(h, body, arrival{inboxes: []string{"bot@ours.example"}}, p)
		a.bounce(h, body)
		if facts.ID == "" || facts.Thread == "" || bytes.ContainsRune([]byte(facts.Text), 0) {
			t.Fatalf("%+v", facts)
		}
	})
}
