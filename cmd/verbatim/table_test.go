package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"
)

const questions = `domain: qa
description: Questions to a seller.
roles: [{name: asker, description: Who asks.}]
entities:
  deal:
    managed: true
    key: deal_id
    scope: self
    label: "{name}"
    fields: {name: {type: string, required: true}}
  question:
    managed: true
    key: question_id
    scope: deal
    label: "{number}"
    unique: [[deal, number]]
    fields:
      deal: {type: ref, ref-type: deal, required: true}
      number: {type: integer, required: true}
      question: {type: string, required: true}
      asked_on: {type: date}
      price: {type: decimal}
      answer: {type: string}
pages:
  - role: asker
    title: Questions
    about: deal
    items: {verb: qa.open, row: open, title: [text]}
    also: [qa.export]
verbs:
  - verb: ask
    description: Ask a question.
    roles: [asker]
    args:
      - {name: deal-id, type: ref, ref-type: deal, required: true}
      - {name: number, type: integer, required: true}
      - {name: question, type: string, required: true}
      - {name: asked-on, type: date}
      - {name: price, type: decimal}
      - {name: answer, type: string}
    effects:
      - {creates: question, set: {deal: deal-id, number: number, question: question, asked_on: asked-on, price: price, answer: answer}}
  - verb: list
    description: The questions.
    roles: [asker]
    reads:
      entity: question
      order: [number]
      fields: {number: number, question: question, asked_on: asked_on, price: price, answer: answer}
  - verb: open
    description: The questions that are open.
    roles: [asker]
    reads: {entity: question, where: row.answer == nil, fields: {open: question_id, text: question}}
  - verb: export
    description: The questions, as a workbook.
    roles: [asker]
    reads:
      entity: question
      order: [number]
      limit: 1000
      file: Questions and answers.xlsx
      fields: {number: number, question: question, asked_on: asked_on, price: price, answer: answer}
  - verb: import
    description: The answers, from a workbook.
    roles: [asker]
    args:
      - {name: file, type: string, required: true, upload: {types: [application/vnd.openxmlformats-officedocument.spreadsheetml.sheet, text/csv, text/plain, application/pdf], max-size: 10 MB}}
      - {name: sheet, type: string}
    tool:
      server: documents
      name: table
      read-only: true
      with: {file: file, sheet: sheet}
      rows: rows
      columns: {number: integer, answer: string, asked_on: date, price: decimal}
    effects:
      - updates: question
        for-each: answer
        where: row.number == each.number
        set: {answer: each.answer, asked_on: each.asked_on, price: each.price}
`

// migrates makes the tables of palettes, and puts rows into them.
func (h *house) migrates(palettes, data string) {
	h.t.Helper()
	migrate := []string{"migrate", "--palettes", palettes}
	for _, e := range h.env { // on a server, by who owns the tables
		if at, ok := strings.CutPrefix(e, "VERBATIM_STORE="); ok {
			migrate = append(migrate, "--store", at, "--grant-to", "verbatim_app")
			break
		}
	}
	h.do(migrate...)
	h.do(append(migrate, "--data", data)...)
}

// withQuestions is a house with a list of questions, of which Clara is asked.
func withQuestions(h *house) {
	write := func(name, text string) {
		h.t.Helper()
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(h.dir, "qa"), 0o700); err != nil {
		h.t.Fatal(err)
	}
	write("qa/qa.yaml", questions)
	write("asker.sql", `INSERT INTO deal (deal_id, name) VALUES ('00000001-0000-4000-8000-000000000001', 'Muller'), ('00000001-0000-4000-8000-000000000002', 'Nordlicht');
INSERT INTO verbatim_grant (principal, role, entity, key) VALUES
	('clara', 'asker', 'deal', '00000001-0000-4000-8000-000000000001'),
	('jonas', 'asker', 'deal', '00000001-0000-4000-8000-000000000002');`)
	write("ask.dsl", `qa.ask :deal-id @muller :number 1 :question "What was revenue in 2024?" :asked-on 2025-01-03 :price 1234.50
qa.ask :deal-id @muller :number 2 :question "=HYPERLINK(\"http://evil.example\")" :asked-on 2025-01-04 :answer "to come"
qa.ask :deal-id @muller :number 3 :question "Who holds 12345678901234567890 shares?" :price 12345678901234567.89`)
	write("list.dsl", "qa.list")
	write("export.dsl", "qa.export")
	h.migrates("qa", "asker.sql")
	h.do("run", "--palettes", "qa", "--as", "clara", "ask.dsl")
}

// exported has the workbook made, and gets it.
func (h *house) exported(to string) string {
	h.t.Helper()
	var out struct {
		Preview struct {
			Calls []struct {
				Result struct {
					File struct{ Reference, Name string }
				}
			}
		}
	}
	said := h.do("run", "--palettes", "qa", "--as", "clara", "--json", "export.dsl")
	if err := json.Unmarshal([]byte(said), &out); err != nil || out.Preview.Calls[0].Result.File.Name != "Questions and answers.xlsx" {
		h.t.Fatal(said, err)
	}
	reference := out.Preview.Calls[0].Result.File.Reference
	h.do("upload", "--palettes", "qa", "--as", "clara", "--get", reference, "-o", to)
	return reference
}

// imports sends a workbook and imports it, and returns what it was told.
func (h *house) imports(file string) string {
	h.t.Helper()
	reference := drawn.FindString(h.do("upload", "--palettes", "qa", "--as", "clara", file))
	if err := os.WriteFile(filepath.Join(h.dir, "import.dsl"), fmt.Appendf(nil, "qa.import :file %q", reference), 0o600); err != nil {
		h.t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "run", "--palettes", "qa", "--as", "clara", "import.dsl")
	cmd.Dir, cmd.Env = h.dir, h.env
	out, _ := cmd.CombinedOutput()
	return string(out)
}

// saved is a workbook as another program saves it: by way of a format in which it can be
// edited as text.
func saved(t *testing.T, dir, name string, edit func(string) string) {
	t.Helper()
	office := func(kind, name string) {
		cmd := exec.Command("soffice", "-env:UserInstallation=file://"+dir+"/office", "--headless", "--convert-to", kind, "--outdir", dir, filepath.Join(dir, name))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	office("fods", name)
	flat := filepath.Join(dir, strings.TrimSuffix(name, ".xlsx")+".fods")
	text, err := os.ReadFile(flat)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(flat, []byte(edit(string(text))), 0o600); err != nil {
		t.Fatal(err)
	}
	office("xlsx", filepath.Base(flat))
}

// M64: a list goes out as a workbook, a person fills a column with their own program,
// and the import changes what they filled, and nothing else: texts that look like formulas,
// exact numbers and dates come back as they went.
func TestAWorkbookGoesOutAndComesBack(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		withQuestions(h)
		before := h.do("run", "--palettes", "qa", "--as", "clara", "list.dsl")
		h.exported("q.xlsx")
		f, err := excelize.OpenFile(filepath.Join(h.dir, "q.xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := f.GetRows("Sheet1")
		if err != nil || len(rows) != 4 || strings.Join(rows[0], "|") != "Number|Question|Asked on|Price|Answer" {
			t.Fatal(rows, err)
		}
		if formula, _ := f.GetCellFormula("Sheet1", "B3"); formula != "" || rows[2][1] != `=HYPERLINK("http://evil.example")` {
			t.Errorf("a text is the formula %q: %q", formula, rows[2][1])
		}
		if kind, _ := f.GetCellType("Sheet1", "D4"); kind == excelize.CellTypeNumber || rows[3][3] != "12345678901234567.89" {
			t.Errorf("a number that no workbook holds: %v %s", kind, rows[3][3])
		}
		if said := h.imports("q.xlsx"); !strings.Contains(said, "1 call changed nothing") {
			t.Errorf("what nobody edited changes something:\n%s", said)
		}
		if err := f.SetCellStr("Sheet1", "E2", "EUR 5.2m, as audited"); err != nil {
			t.Fatal(err)
		}
		if err := f.SaveAs(filepath.Join(h.dir, "filled.xlsx")); err != nil {
			t.Fatal(err)
		}
		if said := h.imports("filled.xlsx"); !strings.Contains(said, "1 call changed 1 row") {
			t.Errorf("one answer was filled in:\n%s", said)
		}
		want := strings.Replace(before, "answer    (empty)", `answer    EUR 5.2m, as audited`, 1)
		if got := h.do("run", "--palettes", "qa", "--as", "clara", "list.dsl"); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
		if _, err := exec.LookPath("soffice"); err != nil {
			t.Log("there is no other program here that edits workbooks")
			return
		}
		saved(t, h.dir, "filled.xlsx", func(text string) string { return strings.ReplaceAll(text, "to come", "Nobody") })
		if said := h.imports("filled.xlsx"); !strings.Contains(said, "1 call changed 1 row") {
			t.Errorf("one answer was edited with another program:\n%s", said)
		}
		want = strings.Replace(want, "to come", "Nobody", 1)
		if got := h.do("run", "--palettes", "qa", "--as", "clara", "list.dsl"); got != want {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	})
}

// A file that a verb made is its caller's, whichever way they come for it, and to anybody
// else it does not exist. (M64, SAFE-H7)
func TestAMadeFileIsItsCallersAlone(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, h *house) {
		withQuestions(h)
		reference := h.exported("q.xlsx")
		content, err := os.ReadFile(filepath.Join(h.dir, "q.xlsx"))
		if err != nil {
			t.Fatal(err)
		}
		for name, args := range map[string][]string{
			"another's":        {"--as", "jonas", "--get", reference},
			"none":             {"--as", "clara", "--get", "upload://" + strings.Repeat("a", 32)},
			"no reference":     {"--as", "clara", "--get", "q.xlsx"},
			"a file is there":  {"--as", "clara", "--get", reference, "-o", "q.xlsx"},
			"one is sent, too": {"--as", "clara", "--get", reference, "q.xlsx"},
		} {
			cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), append([]string{"upload", "--palettes", "qa"}, args...)...)
			cmd.Dir, cmd.Env = h.dir, h.env
			out, err := cmd.CombinedOutput()
			want := "there is no such file of yours"
			switch name {
			case "a file is there":
				want = "cannot be written"
			case "one is sent, too":
				want = "gives a file and sends none"
			}
			if err == nil || !strings.Contains(string(out), want) {
				t.Errorf("%s: %v\n%s", name, err, out)
			}
		}
		s := h.serve("--palettes", "qa", "--log", "off", "--sign-in", "clara", "--sign-in", "jonas")
		clara, jonas := newVisitor(t).comes(s, "clara"), newVisitor(t).comes(s, "jonas")
		at := s.url + "/v1/uploads/" + strings.TrimPrefix(reference, "upload://") + "/content"
		r, err := clara.Get(at)
		if err != nil {
			t.Fatal(err)
		}
		status, body := clara.answer(r, nil)
		if status != http.StatusOK || body != string(content) {
			t.Errorf("%d, %d bytes of %d", status, len(body), len(content))
		}
		for key, want := range map[string]string{"Content-Disposition": `attachment; filename="Questions and answers.xlsx"`, "X-Content-Type-Options": "nosniff", "Cache-Control": "private, no-store"} {
			if got := r.Header.Get(key); got != want {
				t.Errorf("%s: %q, want %q", key, got, want)
			}
		}
		if status, page := clara.form(s.url+"/do/qa.export", url.Values{"key": {strings.Repeat("k", 32)}}); status != http.StatusOK || !strings.Contains(page, "Questions and answers.xlsx</a>") || !regexp.MustCompile(`href="/v1/uploads/[a-z0-9]{32}/content"`).MatchString(page) {
			t.Errorf("%d %s", status, page)
		}
		status, theirs := jonas.get(at)
		if missing, none := jonas.get(strings.Replace(at, strings.TrimPrefix(reference, "upload://"), strings.Repeat("a", 32), 1)); status != http.StatusNotFound || missing != status || masked(theirs) != masked(none) {
			t.Errorf("%d %s\nnone: %d %s", status, theirs, missing, none)
		}
		if status, _ := newVisitor(t).get(at); status != http.StatusUnauthorized {
			t.Errorf("somebody who is not signed in: %d", status)
		}
	})
}

// longPDF is a PDF of so many pages.
func longPDF(pages int) []byte {
	var b bytes.Buffer
	var at []int
	object := func(text string) {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", len(at), text)
	}
	b.WriteString("%PDF-1.4\n")
	var kids, lines strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 5+i)
	}
	for i := range 30 {
		fmt.Fprintf(&lines, "1 0 0 1 50 %d Tm (Line %d of a page that says a lot) Tj ", 780-18*i, i)
	}
	content := "BT /F 12 Tf " + lines.String() + "ET"
	object("<</Type/Catalog/Pages 2 0 R>>")
	object(fmt.Sprintf("<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), pages))
	object(fmt.Sprintf("<</Length %d>>\nstream\n%s\nendstream", len(content), content))
	object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	for range pages {
		object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>")
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, start)
	return b.Bytes()
}

const papers = `domain: papers
description: Papers that somebody reads.
roles: [{name: reader, description: Who reads.}]
verbs:
  - verb: describe
    description: What a paper is.
    roles: [reader]
    phrases: ["describe {file}"]
    args: [{name: file, type: string, required: true, upload: {types: [application/pdf], max-size: 20 MB}}]
    tool: {server: documents, name: describe, read-only: true, with: {file: file}, columns: {pages: integer}}
`

// Who waits for a long document is told how many of its pages are read, by the command and
// by the server; who stops waiting is let go at once, and nothing was changed. (M16)
func TestALongDocumentTellsItsPages(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	for name, text := range map[string]string{"papers/papers.yaml": papers, "long.pdf": string(longPDF(400)),
		"reader.sql": `INSERT INTO verbatim_grant (principal, role) VALUES ('clara', 'reader');`} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(h.dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(h.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	h.do("migrate", "--palettes", "papers", "--data", "reader.sql")
	script := fmt.Sprintf("papers.describe :file %q", drawn.FindString(h.do("upload", "--palettes", "papers", "--as", "clara", "long.pdf")))
	if err := os.WriteFile(filepath.Join(h.dir, "describe.dsl"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	const pages = `"event":"progress","phase":"ask","done":`
	const of = `"total":400,"number":1,"verb":"papers.describe","text":"pages"`
	if said := h.do("run", "--palettes", "papers", "--as", "clara", "--json", "--events", "describe.dsl"); !strings.Contains(said, pages) || !strings.Contains(said, of) || !strings.Contains(said, `[400]`) {
		t.Errorf("%s", said)
	}
	chat := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "chat", "--palettes", "papers", "--as", "clara", "--json", "--events")
	chat.Dir, chat.Env, chat.Stdin = h.dir, h.env, strings.NewReader("describe "+strings.Fields(strings.ReplaceAll(script, `"`, ""))[2]+"\n")
	if said, err := chat.Output(); err != nil || !strings.Contains(string(said), `"event":"doing","done":`) || !strings.Contains(string(said), `"total":400,"verb":"papers.describe"`) {
		t.Errorf("%v %s", err, said)
	}
	s := h.serve("--palettes", "papers", "--log", "off", "--sign-in", "clara")
	clara := newVisitor(t).comes(s, "clara")
	body, _ := json.Marshal(map[string]string{"script": script})
	r, err := http.NewRequest(http.MethodPost, s.url+"/v1/run", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "text/event-stream")
	if status, said := clara.answer(clara.Do(r)); status != http.StatusOK || !strings.Contains(said, pages) || !strings.Contains(said, of) {
		t.Errorf("%d %s", status, said)
	}

	cmd := exec.Command(filepath.Join(h.dir, ".bin", "verbatim"), "run", "--palettes", "papers", "--as", "clara", "--json", "--events", "describe.dsl")
	cmd.Dir, cmd.Env = h.dir, append(h.env, "PROCESS=own")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var at time.Time
	var last string
	for lines.Scan() {
		if last = lines.Text(); at.IsZero() && strings.Contains(last, pages) {
			at = time.Now()
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	if cmd.ProcessState.ExitCode() != exitRefused || !strings.Contains(last, `"stopped"`) || time.Since(at) > 3*time.Second {
		t.Errorf("it ends with %d after %v: %s", cmd.ProcessState.ExitCode(), time.Since(at), last)
	}
}
