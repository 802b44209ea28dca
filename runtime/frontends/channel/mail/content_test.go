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

	"verbatim/runtime/frontends/channel/internal/proven"
	"verbatim/runtime/tests/norace"
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
	if norace.Run(t) {
		return
	}
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
	if f := read(readHead(mixed("Content-Type: image/gif\r\n\r\nx"))).files[0]; f.Name != "file" || f.Sum == "" {
		t.Errorf("%+v", f)
	}
}

// What servers and programs add is no file; a page that is attached is one.
func TestWhatNobodySentIsNoFile(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int{"message/delivery-status": 0, "application/pkcs7-signature": 0, "application/x-pkcs7-signature": 0, "application/pgp-signature": 0, "text/calendar": 1} {
		if c := read(readHead(mixed("Content-Type: " + kind + "\r\n\r\nx"))); len(c.files) != want || c.own != "" {
			t.Errorf("%s: %d files, %q", kind, len(c.files), c.own)
		}
	}
	page := "Content-Type: text/html\r\nContent-Disposition: attachment; filename=a.html\r\n\r\n<p>x"
	if c := read(readHead(mixed(page))); len(c.files) != 1 || c.own != "" || c.files[0].Name != "a.html" {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{"": "file", "..": "file", "/": "file", "a/../../b.txt": "b.txt", `c:\x\y.txt`: "y.txt", "a\r\nb": "a b", strings.Repeat("x", 300): strings.Repeat("x", 200)} {
		if got := fileName(name); got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
	if c := read(readHead([]byte("Subject: x\r\n\r\n"))); c.kind() != proven.Text {
		t.Error(c.kind())
	}
}

// Of alternatives one is read, and of other parts all.
func TestAlternativesAreReadOnce(t *testing.T) {
	t.Parallel()
	plain, other, blank, page, empty := "Content-Type: text/plain\r\n\r\nPlain", "Content-Type: text/plain\r\n\r\nOther", "Content-Type: text/plain\r\n\r\n ", "Content-Type: text/html\r\n\r\n<p>Page", "Content-Type: text/html\r\n\r\n<p>"
	both := string(mixed(plain, other))
	for name, c := range map[string]struct {
		parts []string
		own   string
	}{
		"plain first":       {[]string{plain, page}, "Plain"},
		"page first":        {[]string{page, plain}, "Plain"},
		"blank first":       {[]string{blank, page}, "Page"},
		"blank second":      {[]string{page, blank}, "Page"},
		"an empty page":     {[]string{plain, empty}, "Plain"},
		"two plain ones":    {[]string{plain, other}, "Plain"},
		"two pages":         {[]string{page, strings.Replace(page, "Page", "Second", 1)}, "Page"},
		"several in one":    {[]string{both, page}, "Plain\nOther"},
		"nothing but blank": {[]string{blank, empty}, ""},
	} {
		raw := "Content-Type: multipart/alternative; boundary=a\r\n\r\n--a\r\n" + strings.Join(c.parts, "\r\n--a\r\n") + "\r\n--a--\r\n"
		if got := read(readHead([]byte(raw))); got.own != c.own {
			t.Errorf("%s: %q", name, got.own)
		}
	}
	if c := read(readHead([]byte(both))); c.own != "Plain\nOther" || c.unsure {
		t.Errorf("%q", c.own)
	}
}

// What cannot be read whole says so.
func TestBrokenMailsAreUnsure(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		raw, own string
		files    int
	}{
		"a boundary that never comes":   {"Content-Type: multipart/mixed; boundary=b\r\n\r\nYes\r\n", "", 1},
		"a type that is none":           {"Content-Type: text/plain; charset\r\n\r\nYes\r\n", "", 1},
		"a header of a part that ends":  {string(mixed("Content-Type: text/plain\r\n\r\nYes", "no field\r\n\r\nNo")), "Yes", 0},
		"an unknown charset in a part":  {string(mixed("Content-Type: text/plain; charset=x-klingon\r\n\r\nYes")), "", 1},
		"an unknown encoding":           {"Content-Type: text/plain\r\nContent-Transfer-Encoding: x-uu\r\n\r\nYes", "", 1},
		"an unknown charset in a mail":  {"Content-Type: message/rfc822\r\n\r\nContent-Type: text/plain; charset=x-klingon\r\n\r\nYes", "", 1},
		"base64 that ends in the midst": {"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nWWVz!", "Yes", 0},
	} {
		if got := read(readHead([]byte(c.raw))); got.own != c.own || len(got.files) != c.files || !got.unsure {
			t.Errorf("%s: %q, %d files, unsure %v", name, got.own, len(got.files), got.unsure)
		}
	}
}

// A page is read as it is seen.
func TestPagesAreReadAsTheyAreSeen(t *testing.T) {
	t.Parallel()
	for markup, want := range map[string]string{
		"a<p>b</p>c":               "a\nb\n\nc\n",
		"<div>a</div><div>b</div>": "a\nb\n",
		"a<br>b":                   "a\nb\n",
		"<table><tr><td>a<td>b<tr><th>c<th>d</table>": "a b\nc d\n",
		"<pre>a\nb  c</pre>d":                         "a\nb c\nd\n",
		"x\ny":                                        "x y\n",
		"<blockquote>q</blockquote>a":                 "> q\na\n",
		"a<blockquote>q</blockquote>":                 "a\n> q\n",
		`<blockquote style="margin:0 0 0 40px;border:none">a</blockquote>`:                                      "a\n",
		`a<span class="gmail_attr">q</span>b`:                                                                   "a\n> q\nb\n",
		`<div class="gmail_quote">q</div>`:                                                                      "> q\n",
		`<div class="gmail_quote">a<blockquote>q</blockquote></div>`:                                            "a\n> q\n",
		`<div class="gmail_quote"><div class="gmail_quote">q<blockquote>q</blockquote></div></div>`:             "> q\n> q\n",
		`<div class="gmail_quote">q<div class="gmail_quote"><blockquote>q</blockquote></div></div>`:             "> q\n> q\n",
		`<div class="gmail_quote"><div class="gmail_attr">--- Forwarded</div>q<blockquote>q</blockquote></div>`: "> --- Forwarded\n> q\n> q\n",
		`<div class="gmail_quote"><div class="gmail_attr"></div>a<blockquote>q</blockquote></div>`:              "a\n> q\n",
		`<div class="gmail_quote"><div class="gmail_quote">q</div></div>`:                                       "> q\n",
		`<div class="gmail_quote"><div>q<blockquote>q</blockquote></div></div>`:                                 "> q\n> q\n",
		`a<span id="appendonsend"></span>q`:                                                                     "a\n> q\n",
		`a<div id="x_divRplyFwdMsg">q</div>q`:                                                                   "a\n> q\n> q\n",
		`a<span style="visibility:hidden">x</span><i style="opacity:0">x</i><i style="max-height:0">x</i>b`:     "ab\n",
		`<i style="font-size:0.5em">a</i><i style="opacity:0.5">b</i><i style="line-height:0">c</i>`:            "abc\n",
		`a<script>x</script><style>x</style><textarea>x</textarea><template>x</template>`:                       "a\n",
	} {
		if got, _, ok := readPage(markup); got != want || !ok {
			t.Errorf("%s is %q, want %q", markup, got, want)
		}
	}
	if got, _, ok := readPage(strings.Repeat("<div>", 600) + "a<b>b"); got != "a\nb\n" || ok {
		t.Errorf("%q, %v", got, ok)
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
		p, err := a.prove(t.Context(), h, body, arrival{raw: raw, envelope: "ada@umza.example", relayed: true})
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

// A line is one line, however it was written.
func TestALineIsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{" a \r\n b\x00c\u0085d ": "a b c d", "a\xffb": "a b", "abcdef": "abcde", "äöüßé": "äöüßé", "äöüßéx": "äöüßé"} {
		if got := oneLine(text, 5+2*strings.Count(text, " a ")); got != want {
			t.Errorf("%q is %q", text, got)
		}
	}
}

// What cannot be read with certainty speaks for nobody. // G5
func TestAFileNeverSpeaksForItsSender(t *testing.T) {
	t.Parallel()
	for header, unsure := range map[string]bool{
		"Content-Disposition: attachment; filename=note (1).txt":                              true,
		"Content-Disposition: attachment; filename=my note.txt":                               true,
		"Content-Disposition: attachment; filename=\"note.txt":                                true,
		"Content-Disposition: attachment; filename":                                           true,
		"Content-Disposition: attachment filename=note.txt":                                   true,
		"Content-Disposition: attachment; filename=a; filename=b":                             true,
		"Content-Disposition: attachment; filename=n\xf6te.txt":                               true,
		"Content-Disposition: attachment, inline":                                             true,
		"Content-Type: text/plain; charset=x-klingon":                                         true,
		"Content-Type: text/plain; name=note 1.txt":                                           true,
		"Content-Disposition: attachment (the note) ; filename=note.txt (1)":                  false, // G73
		"Content-Disposition: (c) attachment":                                                 false,
		"Content-Disposition: x-new; filename=note.txt":                                       false,
		"Content-Type: text/plain\r\nContent-Disposition: inline; filename=beside-others.txt": false,
	} {
		c := read(readHead(mixed("Content-Type: text/plain\r\n\r\nHello", header+"\r\n\r\nYes")))
		if c.own != "Hello" || len(c.files) != 1 || c.unsure != unsure {
			t.Errorf("%q: %q, %d files, unsure %v", header, c.own, len(c.files), c.unsure)
		}
	}
	// A part of parts may be a file as well, and what lies in a digest is a mail of somebody's.
	parts := "Content-Type: multipart/mixed; boundary=c\r\nContent-Disposition: attachment\r\n\r\n--c\r\n\r\nYes\r\n--c--"
	if c := read(readHead(mixed("\r\nHello", parts))); c.own != "Hello" || len(c.files) != 1 {
		t.Errorf("%q, %d files", c.own, len(c.files))
	}
	if c := read(readHead([]byte("Content-Type: multipart/digest; boundary=b\r\n\r\n--b\r\n\r\nSubject: x\r\n\r\nYes\r\n--b--\r\n"))); c.own != "" || !strings.Contains(c.quoted, "Yes") {
		t.Errorf("%q, %q", c.own, c.quoted)
	}
	// A named text that is shown, and stands first, is what its sender says. // G34
	if c := read(readHead([]byte("Content-Type: text/plain; name=text.txt\r\nContent-Disposition: inline\r\n\r\nHello\r\n"))); c.own != "Hello" || c.unsure {
		t.Errorf("%q, unsure %v", c.own, c.unsure)
	}
}
