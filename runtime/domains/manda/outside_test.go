package manda_test

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/domains/manda"
	"verbatim/runtime/engine"
	"verbatim/runtime/files/intake"
	"verbatim/runtime/files/services"
	"verbatim/runtime/protocols/tools"
	"verbatim/runtime/state/uploads"
	"verbatim/runtime/tests/browsertest"
	"verbatim/runtime/tests/norace"
	"verbatim/stores"
	"verbatim/stores/files"
	"verbatim/stores/receipt"
	"verbatim/stores/sqlite"
	"verbatim/verbs/load"
)

// How TestOutside is run:
//
//	go test ./runtime/domains/manda -run TestOutside -v -outside DIR [-every N] [-as xlsx|pdf [-printed DIR]] [-misses FILE]
//
// DIR holds the folders tatqa and planted, whose READMEs say what is in them and how it is judged.
var (
	outside = flag.String("outside", "", "a folder of public reports with questions, for TestOutside")
	every   = flag.Int("every", 1, "take one report of so many")
	as      = flag.String("as", "docx", "what reports are put into the room as: docx, xlsx for a workbook and a text, or pdf")
	prints  = flag.String("printed", "", "a folder in which printed reports stay for the next run")
	misses  = flag.String("misses", "", "a file for what was asked of the tuned part and how it was answered")
)

// An outsideReport is a report of tatqa.
type outsideReport struct {
	Report     string
	Table      [][]string
	Paragraphs []string
	Questions  []outsideQuestion
	Cells      []struct {
		Row, Column int
		Label, Year string
		Value       float64
		Percent     bool
	}
}

type outsideQuestion struct {
	Question, Scale, Kind, Where, Derivation string
	Answer                                   json.RawMessage
}

// held reports whether a report is of the quarter that nothing was tuned on.
func (r *outsideReport) held() bool {
	h := fnv.New32a()
	_, _ = io.WriteString(h, r.Report)
	return h.Sum32()%4 == 0
}

// tableFirst reports whether the table stands before the paragraphs: both are met.
func (r *outsideReport) tableFirst() bool {
	h := fnv.New32a()
	_, _ = io.WriteString(h, r.Report+" order")
	return h.Sum32()%2 == 0
}

func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s))
	return b.String()
}

// docx is the report as a Word document.
func (r *outsideReport) docx() []byte {
	paragraph := func(s string) string {
		return `<w:p><w:r><w:t xml:space="preserve">` + escaped(s) + `</w:t></w:r></w:p>`
	}
	var text, table strings.Builder
	for _, p := range r.Paragraphs {
		text.WriteString(paragraph(p))
	}
	table.WriteString("<w:tbl>")
	for _, row := range r.Table {
		table.WriteString("<w:tr>")
		for _, c := range row {
			table.WriteString("<w:tc>" + paragraph(c) + "</w:tc>")
		}
		table.WriteString("</w:tr>")
	}
	table.WriteString("</w:tbl>")
	body := text.String() + table.String()
	if r.tableFirst() {
		body = table.String() + text.String()
	}
	return zipped(map[string]string{
		"[Content_Types].xml": `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
		"_rels/.rels":         `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`,
		"word/document.xml":   `<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>` + body + `</w:body></w:document>`,
	})
}

// printedNumber is a number that a workbook would hold as one.
var printedNumber = regexp.MustCompile(`^\(?-?\d{1,3}(,\d{3})*(\.\d+)?\)?$|^\(?-?\d+(\.\d+)?\)?$`)

// xlsx is the table of the report as a workbook, its numbers as numbers.
func (r *outsideReport) xlsx() []byte {
	var rows strings.Builder
	for i, row := range r.Table {
		fmt.Fprintf(&rows, `<row r="%d">`, i+1)
		for k, c := range row {
			at := string(rune('A'+k)) + strconv.Itoa(i+1)
			if c = strings.TrimSpace(c); c == "" {
				continue
			} else if n, ok := printed(c); ok && printedNumber.MatchString(c) && !isYearText(c) {
				fmt.Fprintf(&rows, `<c r="%s"><v>%s</v></c>`, at, strconv.FormatFloat(n, 'f', -1, 64))
			} else {
				fmt.Fprintf(&rows, `<c r="%s" t="inlineStr"><is><t>%s</t></is></c>`, at, escaped(c))
			}
		}
		rows.WriteString("</row>")
	}
	return zipped(map[string]string{
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
		"_rels/.rels":                `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
		"xl/workbook.xml":            `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Sheet1" sheetId="1" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels": `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml":   `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>` + rows.String() + `</sheetData></worksheet>`,
	})
}

// zipped packs files, the list of their types first.
func zipped(all map[string]string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f, _ := w.Create(name)
		_, _ = io.WriteString(f, all[name])
	}
	w.Close()
	return b.Bytes()
}

// put are the files of a report, by their names.
func (r *outsideReport) put(name string, press *press) map[string][]byte {
	switch *as {
	case "xlsx":
		return map[string][]byte{name + ".xlsx": r.xlsx(), name + ".txt": []byte(strings.Join(r.Paragraphs, "\n\n"))}
	case "pdf":
		return map[string][]byte{name + ".pdf": press.print(r.html())}
	}
	return map[string][]byte{name + ".docx": r.docx()}
}

// html is the report as a page, in one of several layouts that annual reports have: ruled or not, a
// narrow column of labels whose cells wrap, currency signs and closing brackets in columns of their own.
func (r *outsideReport) html() string {
	h := fnv.New32a()
	_, _ = io.WriteString(h, r.Report+" layout")
	layout := h.Sum32()
	style := []string{"td,th{border:1px solid #888;padding:2pt 5pt}", "tr{border-bottom:.5pt solid #444}td,th{padding:1pt 6pt}", "td,th{padding:2pt 4pt}tr:nth-child(even){background:#e8eef8}", "td,th{padding:1pt 3pt}"}[layout%4]
	style += []string{"td:first-child{width:38%}", "table{width:100%}", "td:first-child{width:55mm}"}[layout/4%3]
	style += []string{"body{font:10pt/1.35 serif}", "body{font:9pt/1.3 sans-serif}"}[layout/12%2]
	apart := layout/24%2 == 0 && layout%4 != 0
	var text, table strings.Builder
	for _, p := range r.Paragraphs {
		text.WriteString("<p>" + escaped(p) + "</p>")
	}
	table.WriteString("<table>")
	for _, row := range r.Table {
		table.WriteString("<tr>")
		for k, c := range row {
			m := signed.FindStringSubmatch(strings.TrimSpace(c))
			switch {
			case k == 0:
				table.WriteString("<td>" + escaped(c) + "</td>")
			case !apart:
				table.WriteString("<td class=n>" + escaped(c) + "</td>")
			case m != nil:
				table.WriteString("<td>" + escaped(m[1]) + "</td><td class=n>" + escaped(m[2]) + "</td><td class=s>" + escaped(m[3]) + "</td>")
			default:
				table.WriteString("<td colspan=3 class=n>" + escaped(c) + "</td>")
			}
		}
		table.WriteString("</tr>")
	}
	table.WriteString("</table>")
	body := text.String() + table.String()
	if r.tableFirst() {
		body = table.String() + text.String()
	}
	return "<!doctype html><meta charset=utf-8><style>@page{size:A4;margin:18mm}table{border-collapse:collapse;margin:8pt 0}td{vertical-align:bottom}.n{text-align:right}.s{padding-left:0}tr{break-inside:avoid}" + style + "</style>" + body
}

// signed takes a printed figure apart: its currency, its digits, and what closes it.
var signed = regexp.MustCompile(`^([$€£¥]?)\s*(\(?[\d.,]+)\s*([)%]*)$`)

// A press prints pages one by one, and keeps what it printed if a folder is named for that.
type press struct {
	sync.Mutex
	tab *browsertest.Tab
}

func (p *press) print(html string) []byte {
	p.Lock()
	defer p.Unlock()
	sum := sha256.Sum256([]byte(html))
	kept := filepath.Join(*prints, hex.EncodeToString(sum[:12])+".pdf")
	if *prints != "" {
		if data, err := os.ReadFile(kept); err == nil {
			return data
		}
	}
	data := p.tab.Print(html)
	if *prints != "" {
		_ = os.WriteFile(kept, data, 0o600)
	}
	return data
}

// An outsideRoom is an engine on the palette of the data room, with a deal for each report.
type outsideRoom struct {
	engine  *engine.Engine
	intake  *intake.Service
	store   stores.Store
	finding *stores.Entity
}

func newOutsideRoom(t *testing.T, deals int) *outsideRoom {
	t.Helper()
	ctx, r := t.Context(), &outsideRoom{}
	reg, ds := load.Dir(os.DirFS("../../../verbs/palettes/manda"))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "room.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	r.store, r.finding = store, reg.Entity("finding").Store
	all := engine.Own()
	for _, e := range reg.Entities() {
		all = append(all, e.Store)
	}
	if plan, err := store.Migrate(ctx, all, true); err != nil || len(plan.Problems) > 0 {
		t.Fatal(err, plan)
	}
	var rows strings.Builder
	for i := range deals {
		id := dealKey(i)
		fmt.Fprintf(&rows, "INSERT INTO deal (deal_id, name) VALUES ('%s', 'Deal %d');\nINSERT INTO verbatim_principal (name, label) VALUES ('ada%d', 'Ada');\nINSERT INTO verbatim_grant (principal, role, entity, key) VALUES ('ada%d', 'analyst', 'deal', '%s'), ('ada%d', 'evaluator', 'deal', '%s');\n", id, i, i, i, id, i, id)
	}
	if err := store.Load(ctx, rows.String()); err != nil {
		t.Fatal(err)
	}
	disk, err := files.OpenDir(filepath.Join(dir, "files"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { disk.Close() })
	h := &engine.Handlers{}
	manda.Register(h)
	read := services.Reads(func(ctx context.Context, reference string) (string, io.ReadCloser, error) {
		return r.intake.Open(ctx, reference)
	})
	now := func() time.Time { return time.Date(2021, 6, 2, 9, 0, 0, 0, time.UTC) }
	r.engine, err = engine.New(reg, store, engine.Options{Clock: now, Handlers: h, Tools: tools.Services{Own: map[string]map[string]tools.Service{"documents": services.Documents(read), "figures": manda.Services(read, nil), "models": services.Models(nil)}},
		Keep: func(ctx context.Context, s *engine.Session, verb, name string, content []byte, lasts time.Duration) (uploads.Upload, error) {
			return r.intake.Keep(ctx, s, verb, name, content, lasts)
		}})
	if err != nil {
		t.Fatal(err)
	}
	r.intake = &intake.Service{Engine: r.engine, Files: disk, Scanner: intake.NoScanner, Clock: now}
	if _, err := r.engine.NameRows(ctx); err != nil {
		t.Fatal(err)
	}
	return r
}

// session is one of the analyst of a deal.
func (r *outsideRoom) session(t *testing.T, deal int) *engine.Session {
	s, err := r.engine.Session(t.Context(), "ada"+strconv.Itoa(deal))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// calls runs a script, or previews what only reads.
func (r *outsideRoom) calls(t *testing.T, deal int, script string, run bool) *receipt.Receipt {
	t.Helper()
	s := r.session(t, deal)
	parsed, ds := dsl.Parse(dsl.NewSource("room.dsl", script))
	if ds.HasErrors() {
		t.Fatal(ds, script)
	}
	program, ds := s.Check(t.Context(), parsed)
	if ds.HasErrors() {
		t.Fatal(ds, script)
	}
	var done *receipt.Receipt
	var err error
	if run {
		done, err = s.Run(t.Context(), program, engine.RunOptions{})
	} else {
		done, err = s.Preview(t.Context(), program)
	}
	if err != nil {
		t.Fatalf("%v: %s\n%s", err, engine.Sentence(err), script)
	}
	return done
}

func (r *outsideRoom) add(t *testing.T, deal int, all map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		u, err := r.intake.Receive(t.Context(), r.session(t, deal), name, bytes.NewReader(all[name]))
		if err != nil {
			t.Fatal(name, err)
		}
		r.calls(t, deal, fmt.Sprintf("manda.add-document :deal-id @deal-%d :name %q :file %q :as @document\nmanda.analyse-document :document-id @document", deal, name, u.Reference()), true)
	}
}

// A toldLine is a row of an answer.
type toldLine map[string]string

func linesOf(c *receipt.Call) (all []toldLine) {
	for _, row := range c.Result.Rows {
		l := toldLine{}
		for i, name := range c.Result.Columns {
			l[name] = row[i].Text()
		}
		all = append(all, l)
	}
	return all
}

var (
	numberIn  = regexp.MustCompile(`(\(|-|−)?\s?(?:us|rmb|nt)?[$€£¥]?\s?(\(|-|−)?\s?(\d[\d,]*\.?\d*|\.\d+)\s?(%|million|billion|thousand|trillion)?`)
	yearText  = regexp.MustCompile(`^(19|20)\d\d$`)
	wordsIn   = regexp.MustCompile(`[\p{L}\d]+`)
	outScales = map[string]float64{"": 1, "percent": 1, "%": 1, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
)

func isYearText(s string) bool { return yearText.MatchString(strings.TrimSpace(s)) }

// printed reads a text that is a number and nothing else, with its own scale.
func printed(s string) (float64, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	m := numberIn.FindStringSubmatch(s)
	if m == nil || strings.ContainsFunc(strings.NewReplacer("approximately", "", "us$", "", "rmb", "", "nt$", "").Replace(strings.Replace(s, m[0], "", 1)), func(r rune) bool { return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' }) {
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(m[3], ",", ""), 64)
	if err != nil {
		return 0, false
	}
	if m[1] != "" || m[2] != "" {
		v = -v
	}
	return v * outScales[m[4]], true
}

// digitOf is what the last digit of a printed figure counts: an answer may be more exact.
func digitOf(s string) float64 {
	m := numberIn.FindStringSubmatch(strings.ToLower(s))
	if m == nil {
		return 0
	}
	_, decimals, _ := strings.Cut(m[3], ".")
	return math.Pow(10, -float64(len(decimals))) * outScales[m[4]]
}

// nearly reports whether two figures are the same to a person: but for rounding to two decimals in the
// scale, or to one, and for the sign, which annual reports print either way.
func nearly(got, want, scale float64) bool {
	got, want = math.Abs(got), math.Abs(want)
	return math.Abs(got-want) <= 0.0051*scale+1e-9*want || math.Abs(got-math.Round(want/scale*10)/10*scale) <= 1e-9*want
}

func plainWords(s string) string {
	return strings.Join(wordsIn.FindAllString(strings.ToLower(s), -1), " ")
}

// A verdict is how a question was answered.
type verdict struct {
	group  string // figure, arithmetic, sentence, year, several, count
	how    string // right, unscaled, among, quoted-first, quoted, other, abstained, wrong
	score  float64
	scored bool
}

// judge says how a question was answered, as the README of the data does.
func (q *outsideQuestion) judge(lines []toldLine) verdict {
	var spans []string
	var number float64
	v := verdict{}
	if json.Unmarshal(q.Answer, &spans) != nil {
		var text string
		if json.Unmarshal(q.Answer, &text) == nil {
			number, _ = strconv.ParseFloat(text, 64)
		} else {
			_ = json.Unmarshal(q.Answer, &number)
		}
	}
	scale := outScales[q.Scale]
	figure, digit := true, 0.0
	switch {
	case q.Kind == "count":
		v.group = "count"
	case q.Kind == "arithmetic":
		v.group, number = "arithmetic", number*scale
	case q.Kind == "multi-span" || len(spans) != 1:
		v.group, figure = "several", false
	case isYearText(spans[0]):
		v.group, figure = "year", false
	default:
		if number, figure = printed(spans[0]); figure {
			v.group, number = "figure", number*scale
			digit = digitOf(spans[0]) * scale
		} else {
			v.group = "sentence"
		}
	}
	var claims []toldLine
	for _, l := range lines {
		if l["role"] == "claim" {
			claims = append(claims, l)
		}
	}
	if len(claims) == 0 {
		v.how = "abstained"
		return v
	}
	if p, err := strconv.ParseFloat(claims[0]["score"], 64); err == nil {
		v.score, v.scored = p, true
	}
	holds := func(l toldLine, spans []string) bool {
		text := " " + plainWords(l["text"]) + " "
		return !slices.ContainsFunc(spans, func(s string) bool { return !strings.Contains(text, " "+plainWords(s)+" ") })
	}
	if !figure {
		// tells reports whether some claims hold a span: as a figure, as a period, or in its words.
		tells := func(all []toldLine, span string) bool {
			n, number := printed(span)
			return slices.ContainsFunc(all, func(l toldLine) bool {
				f, err := strconv.ParseFloat(l["value"], 64)
				return number && err == nil && nearly(f, n*scale, scale) || isYearText(span) && strings.Contains(l["period"], span) || holds(l, []string{span})
			})
		}
		every := func(all []toldLine) bool {
			return !slices.ContainsFunc(spans, func(s string) bool { return !tells(all, s) })
		}
		switch {
		case v.group == "several" && every(claims), v.group != "several" && every(claims[:1]):
			v.how = "right"
		case slices.ContainsFunc(claims, func(l toldLine) bool { return holds(l, spans) }):
			v.how = "quoted"
		default:
			v.how = "wrong"
		}
		return v
	}
	of := func(l toldLine) (float64, bool) {
		f, err := strconv.ParseFloat(l["value"], 64)
		return f, err == nil && l["value"] != ""
	}
	is := func(l toldLine, want, by float64) bool {
		f, ok := of(l)
		return ok && (nearly(f, want, by) || want == number && math.Abs(math.Abs(f)-math.Abs(want)) <= digit/2+1e-9)
	}
	_, stated := of(claims[0])
	switch {
	case is(claims[0], number, scale), v.group == "arithmetic" && q.ofChange(number, func(n, by float64) bool { return is(claims[0], n, by) }):
		v.how = "right"
	case is(claims[0], number/scale, 1), is(claims[0], number*1e3, scale*1e3), is(claims[0], number*1e6, scale*1e6):
		v.how = "unscaled"
	case slices.ContainsFunc(claims, func(l toldLine) bool { return is(l, number, scale) }):
		v.how = "among"
	case len(spans) == 1 && !stated && holds(claims[0], spans):
		v.how = "quoted-first"
	case len(spans) == 1 && slices.ContainsFunc(claims, func(l toldLine) bool { return holds(l, spans) }):
		v.how = "quoted"
	case !stated:
		v.how = "other" // words that do not hold it, and no figure
	default:
		v.how = "wrong"
	}
	return v
}

// derivedChange matches the reckoning of a change.
var derivedChange = regexp.MustCompile(`^\s*\(*\s*([^-/+*]+?)\s*-\s*\(?([^-/+*)]+)\)*\s*(?:/.*)?$`)

// ofChange reports whether a figure is the difference or the percentage of a change.
func (q *outsideQuestion) ofChange(number float64, is func(n, by float64) bool) bool {
	m := derivedChange.FindStringSubmatch(q.Derivation)
	if m == nil {
		return false
	}
	a, ok := printed(m[1])
	b, fine := printed(m[2])
	if !ok || !fine || b == 0 {
		return false
	}
	for _, by := range []float64{1, 1e3, 1e6, 1e9} {
		if q.Scale != "percent" && by == outScales[q.Scale] && is((a-b)/b*100, 1) || q.Scale == "percent" && is((a-b)*by, by) {
			return true
		}
	}
	return false
}

func joinLines(all []toldLine) string {
	var b strings.Builder
	for _, l := range all {
		b.WriteString(l["text"] + "\n")
	}
	return b.String()
}

// A tally counts verdicts by group and how, of the tuned part (0) and of the other (1).
type tally struct {
	sync.Mutex
	n      map[[2]string][2]int
	all    map[string][2]int
	scored [2][]verdict
	misses []string
}

func (y *tally) count(held bool, v verdict) {
	y.Lock()
	defer y.Unlock()
	k := 0
	if held {
		k = 1
	}
	n, all := y.n[[2]string{v.group, v.how}], y.all[v.group]
	n[k]++
	all[k]++
	y.n[[2]string{v.group, v.how}], y.all[v.group] = n, all
	if v.scored {
		y.scored[k] = append(y.scored[k], v)
	}
}

func (y *tally) share(group string, hows ...string) string {
	all := y.all[group]
	var n [2]int
	for _, how := range hows {
		of := y.n[[2]string{group, how}]
		n[0], n[1] = n[0]+of[0], n[1]+of[1]
	}
	return fmt.Sprintf("%5.1f %% %5.1f %%", 100*float64(n[0])/float64(max(1, all[0])), 100*float64(n[1])/float64(max(1, all[1])))
}

func eachLine[T any](t *testing.T, name string) (all []T) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for in := bufio.NewReader(f); ; {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			var v T
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			all = append(all, v)
		}
		if err == io.EOF {
			return all
		}
	}
}

// M1 to M4, M14, M16, M58, G9, G11, G45: annual reports by others, each in a room of its own, through
// the real ingest and the real verb. Three quarters of the reports were tuned on, one was not; the
// table has both. The bounds are of what was measured, for both.
func TestOutside(t *testing.T) {
	if *outside == "" {
		t.Skip("-outside names no folder")
	}
	if norace.Run(t) {
		return
	}
	all := eachLine[*outsideReport](t, filepath.Join(*outside, "tatqa", "reports.jsonl"))
	by := map[string]*outsideReport{}
	for _, r := range all {
		by[r.Report] = r
	}
	type planted struct {
		Report, New string
		Row, Column int
	}
	var rooms []planted // of docx: what differs between two files does not depend on their form
	if *as == "docx" {
		rooms = eachLine[planted](t, filepath.Join(*outside, "planted", "rooms.jsonl"))
	}
	some := func(n int) (is []int) {
		for i := 0; i < n; i += *every {
			is = append(is, i)
		}
		return is
	}
	y := &tally{n: map[[2]string][2]int{}, all: map[string][2]int{}}
	var found, falsely, withFalse, asked [2]int
	press := &press{}
	if *as == "pdf" {
		press.tab = browsertest.Open(t)
	}
	const workers = 2
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			r := newOutsideRoom(t, len(all)+len(rooms))
			for n, i := range some(len(all)) {
				if n%workers == w {
					r.report(t, i, all[i], y, press)
				}
			}
			for n, i := range some(len(rooms)) {
				if n%workers != w {
					continue
				}
				p, deal := rooms[i], len(all)+i
				report := by[p.Report]
				other := *report
				other.Table = nil
				for _, row := range report.Table {
					other.Table = append(other.Table, slices.Clone(row))
				}
				other.Table[p.Row-1][p.Column-1] = p.New
				other.Paragraphs = slices.Clone(report.Paragraphs)
				if len(other.Paragraphs) > 0 {
					other.Paragraphs[0] = "Presentation of the management. " + other.Paragraphs[0]
				}
				r.add(t, deal, map[string][]byte{"Annual_Report.docx": report.docx()})
				r.add(t, deal, map[string][]byte{"Management_Presentation.docx": other.docx()})
				lines := linesOf(&r.calls(t, deal, fmt.Sprintf("manda.detect-contradictions :deal-id @deal-%d", deal), false).Calls[0])
				at := fmt.Sprintf("row %d, column %d", p.Row, p.Column)
				hit, others := false, 0
				for k := 0; k+1 < len(lines); k++ {
					a, b := lines[k], lines[k+1]
					if a["role"] != "claim" || b["role"] != "claim" {
						continue
					}
					k++
					if strings.HasSuffix(a["place"], at) && strings.HasSuffix(b["place"], at) && a["document"] != b["document"] {
						hit = true
					} else {
						others++
					}
				}
				y.Lock()
				k := 0
				if report.held() {
					k = 1
				}
				asked[k]++
				falsely[k] += others
				if hit {
					found[k]++
				}
				if others > 0 {
					withFalse[k]++
				}
				if (!hit || others > 0) && k == 0 {
					y.misses = append(y.misses, fmt.Sprintf("planted %s %s: %v, %d others\n%s", p.Report, at, hit, others, joinLines(lines)))
				}
				y.Unlock()
			}
		})
	}
	wait.Wait()
	if *misses != "" {
		slices.Sort(y.misses)
		if err := os.WriteFile(*misses, []byte(strings.Join(y.misses, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%-42s tuned    held", fmt.Sprintf("%d reports as %s", len(some(len(all))), *as))
	for _, row := range []struct {
		what, group string
		hows        []string
	}{
		{"one figure, right with its scale", "figure", []string{"right"}}, {"  right but for the scale", "figure", []string{"unscaled"}}, {"  among others", "figure", []string{"among"}}, {"  quoted", "figure", []string{"quoted-first", "quoted"}}, {"  wrong", "figure", []string{"wrong"}}, {"  other words", "figure", []string{"other"}}, {"  abstained", "figure", []string{"abstained"}},
		{"arithmetic, right", "arithmetic", []string{"right"}}, {"  unscaled", "arithmetic", []string{"unscaled"}}, {"  wrong", "arithmetic", []string{"wrong", "among"}}, {"  abstained", "arithmetic", []string{"abstained"}},
		{"sentence, first quotation", "sentence", []string{"right"}}, {"  among the quotations", "sentence", []string{"quoted"}}, {"  abstained", "sentence", []string{"abstained"}},
		{"several, all told", "several", []string{"right"}}, {"  abstained", "several", []string{"abstained"}},
		{"year, told first", "year", []string{"right"}}, {"count, right", "count", []string{"right"}},
		{"abstains, of all", "all", []string{"abstained"}},
		{"cells all right", "cell", []string{"right"}}, {"  a finding is there", "cell", []string{"right", "undated", "year", "value", "label"}}, {"  of an unknown year", "cell", []string{"undated"}}, {"  another year", "cell", []string{"year"}}, {"  another value or sign", "cell", []string{"value"}}, {"  another label", "cell", []string{"label"}}, {"  no finding", "cell", []string{"none"}},
	} {
		t.Logf("%-42s %s  (%d, %d)", row.what, y.share(row.group, row.hows...), y.all[row.group][0], y.all[row.group][1])
	}
	for k, name := range []string{"tuned", "held"} {
		n := float64(max(1, asked[k]))
		t.Logf("%-5s planted contradictions %.1f %%, %.2f false pairs a room, %d rooms with one, of %d", name, 100*float64(found[k])/n, float64(falsely[k])/n, withFalse[k], asked[k])
		area, wrong := reliability(y.scored[k])
		t.Logf("%-5s AUROC of the score %.3f, calibration error %.3f, of %d answers with a score", name, area, wrong, len(y.scored[k]))
	}
}

// M16: a workbook whose figures are in thousands, as only the text of its name says, is told in thousands with
// that text named; so is no percentage, no figure per share and no count, and no workbook of another name.
func TestAWorkbookHasTheScaleOfItsText(t *testing.T) {
	t.Parallel()
	report := &outsideReport{Table: [][]string{{"", "2019", "2018"}, {"Unearned revenue", "69,916", "62,001"}, {"Number of employees", "410", "395"}, {"Earnings per share", "3.5", "3.1"}, {"Tax rate", "21%", "22%"}}}
	r := newOutsideRoom(t, 1)
	r.add(t, 0, map[string][]byte{"Annual_Report.xlsx": report.xlsx(), "Annual_Report.txt": []byte("The following table has our figures (in thousands, except per share data). It is short.")})
	other := &outsideReport{Table: [][]string{{"", "2019"}, {"Deferred charges", "7,150"}}}
	r.add(t, 0, map[string][]byte{"Charges.xlsx": other.xlsx()})
	for question, want := range map[string]string{
		"What was the unearned revenue in 2019?":    "69916000",
		"What was the number of employees in 2019?": "410",
		"What were the earnings per share in 2018?": "3.1",
		"What was the tax rate in 2018?":            "22",
		"What were the deferred charges in 2019?":   "7150",
	} {
		lines := linesOf(&r.calls(t, 0, "manda.score-answer :deal-id @deal-0 :question "+strconv.Quote(question), false).Calls[0])
		if len(lines) == 0 || lines[0]["value"] != want {
			t.Errorf("%s: %v, not %s", question, lines, want)
			continue
		}
		if named := strings.Contains(lines[0]["text"], "Annual_Report.txt"); named != (want == "69916000") {
			t.Errorf("%s: %s", question, lines[0]["text"])
		}
	}
}

// reliability returns the area under the curve of the score, right against not, and the expected
// calibration error in ten bins.
func reliability(all []verdict) (area, wrong float64) {
	pairs, above := 0.0, 0.0
	var bins [10][3]float64
	for _, v := range all {
		right := 0.0
		if v.how == "right" {
			right = 1
		}
		b := &bins[min(9, int(v.score*10))]
		b[0], b[1], b[2] = b[0]+1, b[1]+v.score, b[2]+right
		for _, o := range all {
			if v.how != "right" || o.how == "right" {
				continue
			}
			pairs++
			if v.score > o.score {
				above++
			} else if v.score == o.score {
				above += 0.5
			}
		}
	}
	for _, b := range bins {
		wrong += math.Abs(b[1]-b[2]) / float64(max(1, len(all)))
	}
	return above / max(1, pairs), wrong
}

// report puts one report into its room, asks its questions and looks at its cells.
func (r *outsideRoom) report(t *testing.T, deal int, report *outsideReport, y *tally, press *press) {
	r.add(t, deal, report.put("Annual_Report", press))
	for i := range report.Questions {
		q := &report.Questions[i]
		lines := linesOf(&r.calls(t, deal, fmt.Sprintf("manda.score-answer :deal-id @deal-%d :question %s", deal, strconv.Quote(q.Question)), false).Calls[0])
		v := q.judge(lines)
		y.count(report.held(), v)
		y.count(report.held(), verdict{group: "all", how: v.how})
		if !report.held() {
			y.Lock()
			y.misses = append(y.misses, fmt.Sprintf("%s %s %.3f %s\n  ? %s\n  = %s %s (%s, %s)\n  > %s", v.group, v.how, v.score, report.Report, q.Question, q.Answer, q.Scale, q.Where, q.Derivation, strings.ReplaceAll(strings.TrimSpace(saidLines(lines)), "\n", "\n  > ")))
			y.Unlock()
		}
	}
	if *as != "docx" {
		return
	}
	at := map[string][]toldLine{}
	for _, l := range r.findings(t, deal) {
		at[l["place"]] = append(at[l["place"]], l)
	}
	scales := []float64{1}
	for _, q := range report.Questions {
		if by := outScales[q.Scale]; by > 1 && strings.Contains(q.Where, "table") {
			scales = append(scales, by)
		}
	}
	for _, c := range report.Cells {
		v := verdict{group: "cell", how: "none"}
		for _, l := range at[fmt.Sprintf("table 1, row %d, column %d", c.Row, c.Column)] {
			n, _ := strconv.ParseFloat(l["value"], 64)
			words, has := strings.Fields(plainWords(c.Label)), " "+plainWords(l["metric"]+" "+l["subject"])+" "
			shared := 0
			for _, w := range words {
				if strings.Contains(has, " "+w+" ") {
					shared++
				}
			}
			switch {
			case !slices.ContainsFunc(scales, func(by float64) bool { return math.Abs(n-c.Value*by) < 1e-6*max(1, math.Abs(n)) }):
				v.how = "value"
			case l["period"] == "":
				v.how = "undated"
			case !strings.Contains(l["period"], c.Year):
				v.how = "year"
			case float64(shared) < 0.6*float64(len(words)):
				v.how = "label"
			default:
				v.how = "right"
			}
			if v.how == "right" {
				break
			}
		}
		y.count(report.held(), v)
		if v.how != "right" && !report.held() {
			y.Lock()
			y.misses = append(y.misses, fmt.Sprintf("cell %s %s row %d column %d %q of %s is %v: %v", v.how, report.Report, c.Row, c.Column, c.Label, c.Year, c.Value, at[fmt.Sprintf("table 1, row %d, column %d", c.Row, c.Column)]))
			y.Unlock()
		}
	}
}

// findings are the stored findings of a deal.
func (r *outsideRoom) findings(t *testing.T, deal int) (all []toldLine) {
	t.Helper()
	id, _ := stores.ParseUUID(dealKey(deal))
	err := r.store.View(t.Context(), stores.Scope{All: true}, func(tx stores.Reader) error {
		rows, err := tx.Find(t.Context(), stores.Find{Entity: r.finding, Where: &stores.Cond{Op: stores.Eq, Path: stores.Path{Field: r.finding.FieldIndex("deal")}, Value: id}})
		for _, row := range rows {
			l := toldLine{}
			for i, f := range r.finding.Fields {
				l[f.Name] = row[i].Text()
			}
			all = append(all, l)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func dealKey(deal int) string { return fmt.Sprintf("00000001-0000-4000-8000-%012d", deal+1) }

func saidLines(all []toldLine) string {
	var b strings.Builder
	for _, l := range all {
		fmt.Fprintf(&b, "[%s %s %s %s] %.2000s\n", l["role"], l["value"], l["unit"], l["period"], l["text"])
	}
	return b.String()
}
