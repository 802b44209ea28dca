package servertest

import (
	"bytes"
	"context"
	"crypto/md5"
	"crypto/rc4"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"verbatim/runtime/tests/browsertest"
	"verbatim/stores/sqlite"
)

// Files that nobody would choose for a test of what goes well.

// newPDF puts objects together to a PDF, the first of which is its catalog. more stands in the trailer.
func newPDF(more string, objects ...string) string {
	var b strings.Builder
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	from := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, more, from)
	return b.String()
}

// scan is a PDF of so many pages, each a picture without text.
func scan(pages int) string {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>", "", "<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent 1 /Length 8 >>\nstream\nabcdefgh\nendstream"}
	var kids strings.Builder
	for range pages {
		content := "q 595 0 0 842 0 0 cm /I Do Q"
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /XObject << /I 3 0 R >> >> >>", len(objects)+2),
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content))
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)-1)
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), pages)
	return newPDF("", objects...)
}

// locked is a PDF that opens with a password, by the standard handler of revision 2.
func locked(password string) string {
	const pad = "\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A"
	padded := func(text string) []byte { return []byte((text + pad)[:32]) }
	crypt := func(key, text []byte) []byte {
		c, err := rc4.NewCipher(key)
		if err != nil {
			panic(err)
		}
		out := make([]byte, len(text))
		c.XORKeyStream(out, text)
		return out
	}
	owner := md5.Sum(padded("owner"))
	o := crypt(owner[:5], padded(password))
	key := md5.Sum(bytes.Join([][]byte{padded(password), o, {0xFC, 0xFF, 0xFF, 0xFF}, []byte("0123456789abcdef")}, nil))
	u := crypt(key[:5], []byte(pad))
	return newPDF(fmt.Sprintf("/Encrypt 4 0 R /ID [<%x> <%[1]x>]", "0123456789abcdef"), "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] >>", fmt.Sprintf("<< /Filter /Standard /V 1 /R 2 /O <%x> /U <%x> /P -4 >>", o, u))
}

// Bad input of 55: a scan of 300 pages, a PDF with a password and a picture of 40 megapixels are looked at
// beside their decision on a phone and on a desk; no page is wider than the window, and of the scan only
// the pages near the reader are held.
func TestBrowserDocumentsThatAreHard(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	clara := h.reader("clara")
	clara.sends("scan.pdf", scan(300))
	clara.sends("locked.pdf", locked("secret"))
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewPaletted(image.Rect(0, 0, 8000, 5000), color.Palette{color.White, color.Black})); err != nil {
		t.Fatal(err)
	}
	clara.sends("picture.png", picture.String())
	tab := browsertest.Open(t)
	tab.Size(320, "light")
	h.signIn(tab, "t.weber")
	tab.Wait("What clients sent (1)")
	const item = "/p/1/item/thomas-muller-identity"
	open := func(name string) {
		t.Helper()
		tab.Go(h.url(item))
		if !strings.HasPrefix(tab.Eval(`document.querySelector("#document").textContent`), name) {
			follow(tab, ".files", name)
			tab.Until(`document.querySelector("#document").textContent`, name)
		}
	}
	open("picture.png")
	tab.Until(`document.querySelector(".picture").complete && document.querySelector(".picture").naturalWidth`, "8000")
	everywhere(tab, "review-picture")
	open("locked.pdf")
	tab.Wait("The document has a password. Ask its sender for one without")
	everywhere(tab, "review-locked")
	open("scan.pdf")
	tab.Wait("Page 1 of 300")
	tab.Wait("The pages are pictures without text. Compare by eye.")
	tab.Eval(`(() => { const at = document.querySelector(".pdf-pages"); at.scrollTop = at.scrollHeight; return "" })()`)
	tab.Wait("of 300")
	tab.Until(`document.querySelectorAll(".pdf-page:last-child canvas").length`, "1")
	if got := tab.Eval(`document.querySelectorAll(".pdf-page canvas").length <= 8`); got != "true" {
		t.Errorf("%s pages are held", tab.Eval(`document.querySelectorAll(".pdf-page canvas").length`))
	}
	everywhere(tab, "review-scan")
}

// Bad input of 55: a request that is deleted while it is open is told as not there, and nothing is done;
// of two analysts who decide on one request, the second is told that it waits no longer, and sees who was
// first.
func TestARequestIsGoneOrTaken(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.reader("clara").sends("passport.pdf", example(t, "passport.pdf"))
	weber, nowak := h.reader("t.weber"), h.reader("a.nowak")
	const item, accept = "/p/1/item/thomas-muller-identity", "/do/review.accept"
	one, two := form(t, weber.get(item, http.StatusOK), accept), form(t, nowak.get(item, http.StatusOK), accept)
	weber.post(accept, http.StatusOK, with(one, "direct", "1"))
	second := nowak.posts(accept, with(two, "direct", "1"))
	if text := plain(second); !strings.Contains(text, "This request does not wait for a review. Nothing was changed.") {
		t.Errorf("the second is told:\n%s", text)
	}
	says(t, second, "Accept what was sent, which settles the request T. Weber, ")
	if strings.Contains(second, ">Accept</button>") {
		t.Error("the second may press again")
	}
	if text := plain(nowak.get(item, http.StatusOK)); !strings.Contains(text, "T. Weber, ") || !strings.Contains(text, "accepted") {
		t.Errorf("who was first is not told:\n%s", text)
	}
	if n := strings.Count(h.run("log", "show", "--as", "d.lang", "--outcome", "ok", "--verb", "review.accept"), "review.accept"); n != 1 {
		t.Errorf("it was accepted %d times", n)
	}

	// Its form is open when the row is deleted.
	const waive = "/do/review.waive"
	open := form(t, weber.get(waive+"?item=maria-schmidt-date-of-birth", http.StatusOK), waive)
	store, err := sqlite.Open(filepath.Join(h.dir, "house.db"))
	if err != nil {
		t.Fatal(err)
	}
	err = store.Load(context.Background(), `
DELETE FROM kyc_request_guidance WHERE request_id = '000004e9-0000-4000-8000-000000000003';
UPDATE kyc_case_steps SET request_id = NULL WHERE request_id = '000004e9-0000-4000-8000-000000000003';
DELETE FROM kyc_outstanding_requests WHERE request_id = '000004e9-0000-4000-8000-000000000003';`)
	_ = store.Close()
	if err != nil {
		t.Fatal(err)
	}
	told := weber.posts(waive, with(open, "request-id", "maria-schmidt-date-of-birth", "reason", "The register has it"))
	if !strings.Contains(told, "Error:") || strings.Contains(told, "Yes, do it") {
		t.Errorf("of a row that is gone it is told:\n%s", plain(told))
	}
	weber.get("/p/1/item/maria-schmidt-date-of-birth", http.StatusNotFound)
	if list := weber.get("/p/1", http.StatusOK); strings.Contains(list, "Maria") {
		t.Error("a row that is gone is listed")
	}
}

// posts posts a form and returns the page, whatever its status below 500.
func (r reader) posts(path string, form url.Values) string {
	r.h.t.Helper()
	a, err := r.c.PostForm(r.h.url(path), form)
	if err != nil {
		r.h.t.Fatal(err)
	}
	if a.StatusCode >= http.StatusInternalServerError {
		r.h.t.Fatalf("%s: %s", path, a.Status)
	}
	return r.read(a.StatusCode)(a, nil)
}

// Bad input of 55: names that are written from right to left stand apart from the days and numbers beside
// them, and a login does not depend on the clock of the browser.
func TestNamesFromRightToLeft(t *testing.T) {
	t.Parallel()
	const name = "نورة العتيبي"
	h := newHouse(t, func(h *house) { h.edit("people.sql", "'Clara Weiss'", "'"+name+"'") })
	clara, weber := h.reader("clara"), h.reader("t.weber")
	clara.sends("passport.pdf", example(t, "passport.pdf"))
	page := weber.get("/p/1/item/thomas-muller-identity", http.StatusOK)
	if !strings.Contains(page, "\u2068"+name+"\u2069, ") {
		t.Errorf("the name runs into the day beside it:\n%s", page[strings.Index(page, `class="timeline`):])
	}
	if rows := h.reader("d.lang").get("/journal.csv?who=clara", http.StatusOK); !strings.Contains(rows, ","+name+",") {
		t.Errorf("a file for other programs has marks of pages:\n%s", rows)
	}
	for _, cookie := range clara.c.Jar.Cookies(&url.URL{Scheme: "http", Host: "localhost"}) {
		if !cookie.Expires.IsZero() {
			t.Errorf("%s ends by the browser's clock", cookie.Name)
		}
	}
	r, err := clara.c.Get(h.url("/"))
	if err != nil {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	for _, line := range r.Header.Values("Set-Cookie") {
		if strings.Contains(line, "Expires=") {
			t.Errorf("a cookie ends at an instant: %s", line)
		}
	}
}

// 55: many files at once: a bar for each and one for all, why one was refused, and what is here already is
// there after one leaves and comes back, until it is sent.
func TestBrowserManyFiles(t *testing.T) {
	t.Parallel()
	h, tab := come(t, 360, "clara", "The next thing to do")
	const at = "/do/client.submit-document?item=thomas-muller-identity"
	_, before := h.rows("document-submission")
	dir := t.TempDir()
	var files []string
	for i := range 12 {
		files = append(files, filepath.Join(dir, fmt.Sprintf("page-%02d.pdf", i)))
		content := fmt.Sprintf("%%PDF-1.4 %d", i)
		if i == 5 {
			content = ""
		}
		if err := os.WriteFile(files[i], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tab.Go(h.url(at))
	tab.File("#file-reference", files...)
	tab.Wait("Here: 11, to come: 0, refused: 1")
	tab.Wait("page-05.pdf: The file is empty. Send one that has something in it")
	for what, want := range map[string]string{
		`document.querySelectorAll(".sent li progress").length`:                                       "12",
		`document.querySelector(".all progress").value / document.querySelector(".all progress").max`: "1",
		`document.querySelectorAll(".sent li.wrong button").length`:                                   "2", // remove, and try again
	} {
		if got := tab.Eval(what); got != want {
			t.Errorf("%s is %s, want %s", what, got, want)
		}
	}
	tab.AuditAct("files-many")
	tab.Go(h.url("/"))
	tab.Go(h.url(at))
	tab.Until(`[...document.querySelectorAll(".sent li")].filter(li => li.innerText.includes("Here already: page-") && li.querySelector("input[type=hidden]")).length`, "11")
	follow(tab, ".sent li:first-child", "Remove")
	tab.Click("#document-type")
	tab.Click("main form .acts .btn")
	tab.Wait("The bank checks it now.")
	if _, rows := h.rows("document-submission"); len(rows) != len(before)+10 {
		t.Errorf("%d files were sent, of 10", len(rows)-len(before))
	}
	tab.Go(h.url(at))
	if got := tab.Eval(`document.querySelectorAll(".sent li").length`); got != "0" {
		t.Errorf("%s files are there after they were sent", got)
	}
}
