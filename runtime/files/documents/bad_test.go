package documents

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"verbatim/runtime/tests/norace"
)

// zipOf packs names and texts, one after the other.
func zipOf(parts ...string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		f, _ := w.Create(parts[i])
		f.Write([]byte(parts[i+1]))
	}
	w.Close()
	return b.Bytes()
}

func docxOf(body string) []byte {
	return zipOf("word/document.xml", `<w:document xmlns:w="w"><w:body>`+body+`</w:body></w:document>`)
}

// xlsxOf is a workbook of one sheet that holds rows.
func xlsxOf(rows string) []byte {
	return zipOf("xl/workbook.xml", `<workbook><sheets><sheet name="A" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData>`+rows+`</sheetData></worksheet>`)
}

// styledOf is a workbook of one row of cells; style 1 has the first of the formats, which is a code or
// the number of one that is built in.
func styledOf(cells string, formats ...string) []byte { return bookOf("", cells, formats...) }

// bookOf is the same with properties of the workbook.
func bookOf(properties, cells string, formats ...string) []byte {
	var codes, styles strings.Builder
	for i, f := range formats {
		id, builtIn := strings.CutPrefix(f, "#")
		if !builtIn {
			id = fmt.Sprint(200 + i)
			fmt.Fprintf(&codes, `<numFmt numFmtId="%s" formatCode="%s"/>`, id, html.EscapeString(f))
		}
		fmt.Fprintf(&styles, `<xf numFmtId="%s"/>`, id)
	}
	return zipOf("xl/workbook.xml", `<workbook>`+properties+`<sheets><sheet name="A" r:id="r1"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="r2" Type="x/styles" Target="styles.xml"/></Relationships>`,
		"xl/styles.xml", `<styleSheet><numFmts>`+codes.String()+`</numFmts><cellXfs><xf numFmtId="0"/>`+styles.String()+`</cellXfs></styleSheet>`,
		"xl/worksheets/sheet1.xml", `<worksheet><sheetData><row>`+cells+`</row></sheetData></worksheet>`)
}

// pdfOf is a PDF of objects, the first of which is its catalogue.
func pdfOf(objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, o := range offsets {
		fmt.Fprintf(&b, "%010d 00000 n \n", o)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return b.Bytes()
}

// pageOf is a PDF of one page: what its catalogue says besides, its resources, what is drawn, and
// objects from number 6. A reader sees it from 90 points on, and above 600.
func pageOf(catalogue, resources, content string, objects ...string) []byte {
	return pdfOf(append([]string{"<</Type/Catalog/Pages 2 0 R" + catalogue + ">>", "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 595 842]>>",
		"<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>" + resources + ">>/CropBox[90 600 595 842]>>", stream("", content), "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"}, objects...)...)
}

// packedPDF has its catalogue in a stream of objects that stands in itself.
func packedPDF() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.7\n")
	fmt.Fprintf(&b, "2 0 obj\n%s\nendobj\n", stream("/Type/ObjStm/N 2/First 8/Extends 2 0 R", "1 0 2 0 <</Type/Catalog/Pages 2 0 R>>"))
	table := b.Len()
	entries := []byte{0, 0, 0, 0, 2, 0, 2, 0, 2, 0, 2, 1, 1, byte(table >> 8), byte(table), 0}
	fmt.Fprintf(&b, "3 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF\n", stream("/Type/XRef/Size 4/W[1 2 1]/Root 1 0 R", string(entries)), table)
	return b.Bytes()
}

func stream(dict, data string) string {
	return fmt.Sprintf("<<%s/Length %d>>\nstream\n%s\nendstream", dict, len(data), data)
}

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}

const onePage = "<</Type/Pages/Kids[3 0 R]/Count 1>>"

func mailOf(parts int) []byte {
	return []byte("From: a@example.com\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" +
		strings.Repeat("--b\r\nContent-Type: text/plain\r\n\r\nx\r\n", parts) + "--b--\r\n")
}

// nested wraps a mail into mails.
func nested(n int) []byte {
	mail := "From: a@example.com\r\n\r\ninnermost\r\n"
	for i := range n {
		mail = fmt.Sprintf("From: a@example.com\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\nContent-Type: message/rfc822\r\n\r\n%s\r\n--b%d--\r\n", i, i, mail, i)
	}
	return []byte(mail)
}

var resources = `/Resources<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>/XObject<</X 5 0 R>>>>`

// Each file that cannot be read has its own reason, and is told from the
// others by it.
func TestBadFilesHaveTheirReason(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	var entries []string
	for i := range 100_000 {
		entries = append(entries, fmt.Sprint("word/", i), "")
	}
	seed := rand.New(rand.NewPCG(1, 2))
	garbage := make([]byte, 4096)
	for i := range garbage {
		garbage[i] = byte(seed.Uint32())
	}
	bomb := strings.Repeat("A", 16<<20)
	deep := strings.Repeat("<w:p>", 100_000)
	laughs := `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	for name, bad := range map[string]struct {
		file string
		data []byte
		want Reason
	}{
		"no bytes":                      {"a.pdf", nil, Empty},
		"garbage called a PDF":          {"a.pdf", garbage, Damaged},
		"garbage called a workbook":     {"a.xlsx", garbage, Damaged},
		"garbage called a table":        {"a.csv", garbage, WrongType},
		"garbage without a type":        {"a", garbage, Unsupported},
		"a picture called a PDF":        {"a.pdf", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"), WrongType},
		"a picture":                     {"a.png", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x00\x00\x00\x00"), Unsupported},
		"a PDF called a document":       {"a.docx", pdfOf("<<>>"), WrongType},
		"a PDF called a text":           {"a.txt", pdfOf("<<>>"), WrongType},
		"a document called a workbook":  {"a.xlsx", docxOf(""), WrongType},
		"text called a PDF":             {"a.pdf", []byte("Dear Jane, here is the PDF."), WrongType},
		"an archive called a workbook":  {"a.xlsx", zipOf("a.xlsx", string(xlsxOf(""))), WrongType},
		"an archive":                    {"a.zip", zipOf("a.txt", "text"), Unsupported},
		"a workbook of Excel 97":        {"a.xls", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), make([]byte, 600)...), Unsupported},
		"an encrypted workbook":         {"a.xlsx", append([]byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"), utf16le("EncryptedPackage")...), Encrypted},
		"a PDF locked in its trailer":   {"a.pdf", bytes.Replace(pageOf("", "", "BT /F 12 Tf (Secret) Tj ET"), []byte("/Root 1 0 R"), []byte("/Root 1 0 R/Encrypt<</Filter/Standard/V 1/R 2/O<00>/U<00>/P -4>>"), 1), Encrypted},
		"a bomb":                        {"a.docx", docxOf("<w:p><w:r><w:t>" + bomb + "</w:t></w:r></w:p>"), TooLarge},
		"a hundred thousand entries":    {"a.docx", zipOf(append([]string{"word/document.xml", ""}, entries...)...), TooMany},
		"a name that leads out":         {"a.docx", zipOf("word/document.xml", "<a/>", "../../etc/passwd", ""), Damaged},
		"entities":                      {"a.docx", zipOf("word/document.xml", laughs+"<w:document><w:p><w:r><w:t>&b;</w:t></w:r></w:p></w:document>"), Damaged},
		"elements without end":          {"a.docx", docxOf(deep), Loop},
		"a workbook without sheets":     {"a.xlsx", zipOf("xl/workbook.xml", "<workbook/>"), Damaged},
		"a workbook without its sheet":  {"a.xlsx", zipOf("xl/workbook.xml", `<workbook><sheets><sheet name="A" r:id="r1"/></sheets></workbook>`, "xl/_rels/workbook.xml.rels", `<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`), Damaged},
		"slides without slides":         {"a.pptx", zipOf("ppt/presentation.xml", "<p/>"), Damaged},
		"a packed text":                 {"a.gz", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), Unsupported},
		"XML that breaks off":           {"a.xlsx", xlsxOf("<row><c r='A1'><v>1"), Damaged},
		"too many cells":                {"a.xlsx", xlsxOf(strings.Repeat("<row><c><v>1</v></c><c><v>2</v></c></row>", 15_000)), TooMany},
		"too many cells in a table":     {"a.csv", []byte(strings.Repeat("1;2;3\n", 9000)), TooMany},
		"ten thousand parts":            {"a.eml", mailOf(10_000), TooMany},
		"objects within themselves":     {"a.pdf", packedPDF(), Damaged},
		"no mail":                       {"a.eml", []byte("\r\njust some text\r\n"), WrongType},
		"a PDF without pages":           {"a.pdf", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"), Damaged},
		"a PDF without objects":         {"a.pdf", []byte("%PDF-1.7\nnothing here\n%%EOF\n"), Damaged},
		"pages within themselves":       {"a.pdf", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Pages/Kids[2 0 R]/Count 1/Parent 2 0 R>>"), Loop},
		"a form that draws itself":      {"a.pdf", pdfOf("<</Type/Catalog/Pages 2 0 R>>", onePage, "<</Type/Page/Contents 4 0 R"+resources+">>", stream("", "/X Do"), stream("/Type/XObject/Subtype/Form/BBox[0 0 1 1]", "/X Do /X Do")), Loop},
		"a million pages that are one":  {"a.pdf", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Count 1000000/Kids["+strings.Repeat("3 0 R ", 1_000_000)+"]>>", "<</Type/Page>>"), TooMany},
		"a page that unpacks to much":   {"a.pdf", pdfOf("<</Type/Catalog/Pages 2 0 R>>", onePage, "<</Type/Page/Contents 4 0 R>>", stream("/Filter/FlateDecode", deflated(bomb))), TooLarge},
		"tables of objects in a circle": {"a.pdf", bytes.Replace(pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[]/Count 0>>"), []byte("/Root"), []byte("/Prev 9 /Root"), 1), Damaged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			d, err := read(t.Context(), bad.file, bytes.NewReader(bad.data), Limits{Unpacked: 12 << 20, Cells: 25_000, Wall: time.Minute}, nil, "")
			if reasonOf(err) != bad.want {
				t.Errorf("it says %v (%q), not %q; %d pieces", err, reasonOf(err), bad.want, len(d.Pieces))
			}
			if took := time.Since(began); took > 25*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// What is bad in one place leaves the rest.
func TestWhatCanBeReadIsRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file string
		data []byte
		want string
	}{
		"a million pages claimed":            {"a.pdf", pdfOf("<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1000000>>", "<</Type/Page/Contents 4 0 R"+resources+">>", stream("", "BT /F 12 Tf (one page) Tj ET")), "pdf · 1 pages\np.1 l1 | one page\n"},
		"no table of objects":                {"a.pdf", bytes.Replace(pdfOf("<</Type/Catalog/Pages 2 0 R>>", onePage, "<</Type/Page/Contents 4 0 R"+resources+">>", stream("", "BT /F 12 Tf (found again) Tj ET")), []byte("startxref\n"), []byte("startxref\n9"), 1), "pdf · 1 pages\np.1 l1 | found again\n"},
		"mails within mails":                 {"a.eml", nested(7), "mail · \"a@example.com\"\nskipped: message.eml > message.eml > message.eml > message.eml > message.eml: parts of the file contain one another (mails are nested more than 5 deep)\nFrom (header) | a@example.com\nmessage.eml: From (header) | a@example.com\nmessage.eml > message.eml: From (header) | a@example.com\nmessage.eml > message.eml > message.eml: From (header) | a@example.com\nmessage.eml > message.eml > message.eml > message.eml: From (header) | a@example.com\n"},
		"a table of bad HTML":                {"a.html", []byte("<h1>A<table><td rowspan=99999 colspan=99999>b<td>c<tr><td>d"), ""},
		"a shared formula moved":             {"a.xlsx", xlsxOf(`<row r="2"><c r="B2"><f t="shared" si="0" ref="B2:B3">A2*$C$1+LOG10(AB2)&amp;"A2"+'A2 x'!A1+TAX</f><v>1</v></c></row><row r="3"><c r="C3"><f t="shared" si="0"/><v>2</v></c></row>`), "xlsx · 1 pages\nA!B2 | 1 · number ={A2*$C$1+LOG10(AB2)&\"A2\"+'A2 x'!A1+TAX}\nA!C3 | 2 · number ={B3*$C$1+LOG10(AC3)&\"A2\"+'A2 x'!B2+TAX}\n"},
		"a table with empty lines":           {"a.csv", []byte("Report\n\na;b\n\"c\nd\";e\n\n\nf;g\n"), "csv · \"UTF-8\" · \";\"\nrow 1, column 1 | Report\nrow 3, column 1 | a\nrow 3, column 2 | b\nrow 4, column 1 | c⏎d\nrow 4, column 2 | e\nrow 7, column 1 | f\nrow 7, column 2 | g\n"},
		"a separator that is stated":         {"a.csv", []byte("sep=|\r\na;b|c;d\r\n"), "csv · \"UTF-8\" · \"|\"\nrow 1, column 1 | a;b\nrow 1, column 2 | c;d\n"},
		"lines of an old Macintosh":          {"a.csv", []byte("a,b\rc,d"), "csv · \"UTF-8\" · \",\"\nrow 1, column 1 | a\nrow 1, column 2 | b\nrow 2, column 1 | c\nrow 2, column 2 | d\n"},
		"UTF-16 that does not say so":        {"a.txt", utf16le(strings.Repeat("plain text\n", 2)), "text · \"UTF-16LE\"\nline 1 | plain text\nline 2 | plain text\n"},
		"text that is hidden":                {"a.html", []byte("<meta charset=utf-8><p>seen<span style='display: none'>not</span></p><table><tr><td>5.2<i hidden>validated</i></table>"), "html · \"utf-8\"\nparagraph 1 | seen\nparagraph 2 (hidden) | not\ntable 1, row 1, column 1 | 5.2\n"},
		"one attachment too large":           {"a.eml", append([]byte("Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Disposition: attachment; filename=a.csv\r\n\r\n"+strings.Repeat("1;2;3\r\n", 4000)), "--b\r\n\r\nread\r\n--b--\r\n"...), "!a.csv: the file has more parts than are read"},
		"tables that arrange a page":         {"a.html", []byte("<meta charset=utf-8><table><tr><td><h1>Menu</h1><td><p>one<table><tr><td>a<td>b</table></table>"), "html · \"utf-8\"\nsection \"Menu\" (heading) | Menu\nsection \"Menu\" | one\nsection \"Menu\", table 1, row 1, column 1 | a\nsection \"Menu\", table 1, row 1, column 2 | b\n"},
		"attachments of one name":            {"a.eml", []byte("Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\none\r\n--b\r\nContent-Disposition: attachment; filename=a.txt\r\n\r\ntwo\r\n--b\r\nContent-Type: application/pdf\r\n\r\n%PDF-\r\n--b--\r\n"), "mail · \"s\"\nskipped: attachment: the file is damaged (its objects cannot be found)\nSubject (header) | s\na.txt: line 1 | one\na.txt (2): line 1 | two\n"},
		"an unknown encoding's mail":         {"a.eml", []byte("From: a@example.com\r\nContent-Type: text/plain; charset=no-such\r\n\r\nplain\r\n"), "mail · \"a@example.com\"\nFrom (header) | a@example.com\nattachment: line 1 | plain\n"},
		"an attachment by a sloppy hand":     {"a.eml", []byte("Subject: s\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b\r\nContent-Disposition: attachment; filename=note (1).txt\r\n\r\nYes\r\n--b--\r\n"), "mail · \"s\"\nSubject (header) | s\nline 1 | Hello\nnote: line 1 | Yes\n"}, // G5
		"comments in a header":               {"a.eml", []byte("Subject: =?utf-8*de?Q?M=C3=BCller?=\r\nContent-Type: text/plain; charset=utf-8 (c)\r\nContent-Transfer-Encoding: (c) quoted-printable\r\n\r\nM=C3=BCller\r\n"), "mail · \"Müller\"\nSubject (header) | Müller\nline 1 | Müller\n"},                      // G73
		"text that flows":                    {"a.eml", []byte("Subject: s\r\nContent-Type: text/plain; format=flowed\r\n\r\nThe price is \r\n5.2 million.\r\n"), "mail · \"s\"\nSubject (header) | s\nline 1 | The price is 5.2 million.\n"},
		"letters that are escaped":           {"a.xlsx", xlsxOf(`<row><c t="inlineStr"><is><t>one_x000D_&#10;two _x0041__xD83D__xDE00_ _x005F_x0041_ _x0000_</t></is></c></row>`), "xlsx · 1 pages\nA!A1 | one⏎two A😀 _x0041_\n"},                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                  // G68
		"formulas over rows and columns":     {"a.xlsx", xlsxOf(`<row r="2"><c r="B2"><f t="shared" si="0" ref="B2:B3">SUM(1:1)+SUM($A:B)+SUM(1:$3)+AB:AC!C4+A1:B2</f><v>1</v></c></row><row r="3"><c r="C3"><f t="shared" si="0"/><v>2</v></c></row>`), "xlsx · 1 pages\nA!B2 | 1 · number ={SUM(1:1)+SUM($A:B)+SUM(1:$3)+AB:AC!C4+A1:B2}\nA!C3 | 2 · number ={SUM(2:2)+SUM($A:C)+SUM(2:$3)+AB:AC!D5+B2:C3}\n"},                                                                                                                                                                                                                                                                                                                                                                   // G68
		"durations, and days":                {"a.xlsx", styledOf(`<c s="1"><v>1.5</v></c><c s="2"><v>-1.5</v></c><c s="3"><v>0</v></c><c s="4"><v>0</v></c><c s="5"><v>45000</v></c><c s="6"><v>45000</v></c><c s="7"><v>0.0520833333</v></c><c s="8"><v>1</v></c><c s="8"><v>60</v></c><c s="8"><v>61</v></c>`, "[h]:mm", "[h]:mm:ss", "yyyy-mm-dd", "h:mm", "#71", "ว/ด/ปปปป", "[m] \"min\"", "d.m.yyyy"), "xlsx · 1 pages\nA!A1 | 36:00 · number [h]:mm\nA!B1 | -36:00:00 · number [h]:mm:ss\nA!C1 | 0 · number yyyy-mm-dd\nA!D1 | 00:00:00 · date h:mm\nA!E1 | 2023-03-15 · date d/m/yyyy\nA!F1 | 2023-03-15 · date ว/ด/ปปปป\nA!G1 | 75 min · number [m] \"min\"\nA!H1 | 1900-01-01 · date d.m.yyyy\nA!I1 | 1900-02-28 · date d.m.yyyy\nA!J1 | 1900-03-01 · date d.m.yyyy\n"}, // G68
		"words that nobody sees":             {"a.docx", zipOf("word/document.xml", `<w:document xmlns:w="w"><w:body><w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>seen </w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr><w:t>not</w:t></w:r><w:r><w:rPr><w:rStyle w:val="H"/></w:rPr><w:t> nor this</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>too</w:t></w:r></w:p></w:body></w:document>`, "word/_rels/document.xml.rels", `<Relationships><Relationship Id="r1" Type="x/styles" Target="styles.xml"/></Relationships>`, "word/styles.xml", `<w:styles xmlns:w="w"><w:style w:styleId="G"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="H"><w:basedOn w:val="G"/></w:style></w:styles>`), "docx\nparagraph 1 (hidden) | not nor this\nparagraph 2 | seen too\n"},
		"symbols of fonts":                   {"a.docx", docxOf(`<w:p><w:r><w:sym w:font="Symbol" w:char="F0B3"/><w:t>2 years, </w:t><w:sym w:font="Wingdings" w:char="F0FC"/><w:t> </w:t><w:sym w:font="Symbol" w:char="F061"/><w:sym w:font="Arial" w:char="20AC"/><w:sym w:font="Odd" w:char="F021"/></w:r></w:p>`), "docx\nparagraph 1 | ≥2 years, ✓ α€\ufffd\n"}, // G47
		"a workbook of 1904":                 {"a.xlsx", bookOf(`<workbookPr date1904="1"/>`, `<c s="1"><v>44198</v></c><c s="1"><v>0</v></c><c s="1"><v>59</v></c>`, "yyyy-mm-dd"), "xlsx · 1 pages\nA!A1 | 2025-01-03 · date yyyy-mm-dd\nA!B1 | 1904-01-01 · date yyyy-mm-dd\nA!C1 | 1904-02-29 · date yyyy-mm-dd\n"},
		"layers that are off":                {"a.pdf", pageOf("/OCProperties<</OCGs[6 0 R 7 0 R]/D<</OFF[7 0 R]>>>>", "/Properties<</On 6 0 R/Off 7 0 R/Any<</Type/OCMD/OCGs[6 0 R 7 0 R]>>/All<</Type/OCMD/OCGs[6 0 R 7 0 R]/P/AllOn>>>>", "BT /F 12 Tf 100 700 Td /OC /On BDC (on) Tj EMC 0 -20 Td /OC /Off BDC (off) Tj /Span BMC ( still) Tj EMC EMC 0 -20 Td /OC /Any BDC (any) Tj EMC 0 -20 Td /OC /All BDC (all) Tj EMC 0 -20 Td (plain) Tj ET", "<</Type/OCG/Name(On)>>", "<</Type/OCG/Name(Off)>>"), "pdf · 1 pages\np.1 l1 | on\np.1 l2 | any\np.1 l3 | plain\np.1 l4 (hidden) | off still\np.1 l5 (hidden) | all\n"}, // G71
		"all layers off but one":             {"a.pdf", pageOf("/OCProperties<</OCGs[6 0 R 7 0 R]/D<</BaseState/OFF/ON[6 0 R]>>>>", "/Properties<</On 6 0 R/Off 7 0 R>>", "BT /F 12 Tf 100 700 Td /OC /On BDC (on) Tj EMC 0 -20 Td /OC /Off BDC (off) Tj EMC ET", "<</Type/OCG/Name(On)>>", "<</Type/OCG/Name(Off)>>"), "pdf · 1 pages\np.1 l1 | on\np.1 l2 (hidden) | off\n"},                                                                                                                                                                                                                                                   // G71
		"text beside the page":               {"a.pdf", pageOf("", "", "BT /F 12 Tf 100 700 Td (seen) Tj 0 -120 Td (cropped) Tj -300 0 Td (left of it) Tj ET"), "pdf · 1 pages\np.1 l1 | seen\np.1 l2 (hidden) | left of it cropped\n"},                                                                                                                                                                                                                                                                                                                                                                                          // G71
		"text that stands for what is drawn": {"a.pdf", pageOf("", "/Properties<</P<</ActualText(ffi)>>>>", "BT /F 12 Tf 100 720 Td (o) Tj /Span /P BDC (xy) Tj EMC (ce) Tj 60 0 Td /Span <</MCID 0/ActualText <FEFF20AC>>> BDC (E) Tj EMC ( 5) Tj ET"), "pdf · 1 pages\np.1 l1 | office € 5\n"},                                                                                                                                                                                                                                                                                                                                 // G71
		"text of the structure": {"a.pdf", pageOf("/StructTreeRoot 6 0 R", "/Properties<</P<</MCID 2>>>>/XObject<</X 10 0 R>>", "BT /F 12 Tf 100 720 Td /Span <</MCID 0>> BDC (au) Tj EMC 0 -20 Td /Span <</MCID 1>> BDC (- tumn) Tj EMC 0 -20 Td /P /P BDC (E) Tj EMC ( 5 ) Tj /Span <</MCID 3/ActualText (own)>> BDC (x) Tj EMC ( ) Tj /Span <</MCID 9>> BDC (plain) Tj EMC ET /X Do",
			"<</Type/StructTreeRoot/K[7 0 R]>>", "<</S/Document/Pg 3 0 R/K[8 0 R 9 0 R 7 0 R 3]>>", "<</S/Span/ActualText(autumn)/K[0<</Type/MCR/Pg 3 0 R/MCID 1>>]>>", "<</S/P/K[<</S/Span/ActualText<FEFF20AC>/K[2]>> <</Type/MCR/Stm 10 0 R/MCID 9>>]>>",
			stream("/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</Font<</F 5 0 R>>>>", "BT /F 12 Tf 100 660 Td /Span <</MCID 0>> BDC (of a form) Tj EMC ET")), "pdf · 1 pages\np.1 l1 | autumn\np.1 l2 | € 5 own plain\np.1 l3 | of a form\n"}, // G71
		"cells of two lines": {"a.pdf", pageOf("", "", "BT /F 12 Tf 1 0 0 1 100 700 Tm (Item) Tj 1 0 0 1 250 700 Tm (Note) Tj 1 0 0 1 400 700 Tm (2024) Tj 1 0 0 1 100 680 Tm (Fees and) Tj 1 0 0 1 250 680 Tm (A long note that) Tj 1 0 0 1 400 680 Tm (120) Tj 1 0 0 1 250 666 Tm (goes on) Tj 1 0 0 1 100 646 Tm (Total) Tj 1 0 0 1 400 646 Tm (135) Tj ET"),
			"pdf · 1 pages\np.1 l1 t1 r1 c1 | Item\np.1 l1 t1 r1 c2 | Note\np.1 l1 t1 r1 c3 | 2024\np.1 l2 t1 r2 c1 | Fees and\np.1 l2 t1 r2 c2 | A long note that goes on\np.1 l2 t1 r2 c3 | 120\np.1 l3 t1 r3 c1 | Total\np.1 l3 t1 r3 c3 | 135\n"}, // G47
		"raised figures": {"a.pdf", pageOf("", "", "BT /F 12 Tf 100 720 Td (10) Tj /F 7 Tf 1 0 0 1 113.5 725 Tm (6) Tj /F 12 Tf 1 0 0 1 120 720 Tm (EUR) Tj 0 -14 Td (1,234) Tj /F 7 Tf 3 Ts (2) Tj 0 Ts /F 12 Tf ( net) Tj ET"), "pdf · 1 pages\np.1 l1 | 10⁶ EUR\np.1 l2 | 1,234² net\n"}, // G71
	} {
		d, err := here(c.file, c.data, Limits{Cells: 10_000})
		if some, ok := strings.CutPrefix(c.want, "!"); ok || some == "" {
			if got := show(d, err); err != nil || !strings.Contains(got, some) || ok && !strings.Contains(got, "| read\n") {
				t.Errorf("%s: it reads\n%.500s", name, got)
			}
		} else if got := show(d, err); got != c.want {
			t.Errorf("%s: it reads\n%s\nand should read\n%s", name, got, c.want)
		}
	}
}

// A file that is cut short anywhere, or has a byte changed, is read or has a
// reason; it never panics and takes no long time.
func TestBrokenFilesDoNoHarm(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	for _, name := range []string{"cap-table.pdf", "kpis.pdf", "budget.xlsx", "annual-report.docx", "strategy.pptx", "statement.eml", "index-1252.csv", "letter.html", "trial-balance.tsv"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile("testdata/golden/" + name)
			if err != nil {
				t.Fatal(err)
			}
			try := func(what string, data []byte) {
				began := time.Now()
				_, err := here(name, data, Limits{Unpacked: 8 << 20})
				if err != nil && reasonOf(err) == "" {
					t.Errorf("%s: %v", what, err)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s: it took %v", what, took)
				}
			}
			step := max(1, len(data)/3000)
			for n := 0; n < len(data); n += step {
				try(fmt.Sprintf("cut at %d", n), data[:n])
			}
			seed := rand.New(rand.NewPCG(3, 4))
			for range 500 / step {
				broken := bytes.Clone(data)
				at := seed.IntN(len(broken))
				broken[at] = byte(seed.Uint32())
				try(fmt.Sprintf("changed at %d", at), broken)
			}
		})
	}
}

var cells = flag.Int("cells", 100_000, "cells of the large workbook; a million take half a minute")

// A workbook of a million cells is read within the memory that a child has,
// where the caller allows for as many.
func TestAMillionCells(t *testing.T) {
	t.Parallel()
	if norace.Run(t) {
		return
	}
	height := *cells / 50
	var rows strings.Builder
	for r := range height {
		rows.WriteString("<row>")
		for c := range 50 {
			fmt.Fprintf(&rows, "<c><v>%d.25</v></c>", r*50+c)
		}
		rows.WriteString("</row>")
	}
	d, err := Read(t.Context(), "a.xlsx", bytes.NewReader(xlsxOf(rows.String())), Limits{Cells: 1_000_000, Output: 256 << 20, Wall: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if last := d.Pieces[len(d.Pieces)-1]; len(d.Pieces) != 50*height || last.At.String() != fmt.Sprint("A!AX", height) || last.Text != fmt.Sprintf("%d.25", 50*height-1) {
		t.Errorf("%d cells, the last is %s %s", len(d.Pieces), last.At, last.Text)
	}
}

// A file that is too large by a byte, or has no end, starts no child.
func TestTooLargeIsToldAtOnce(t *testing.T) {
	t.Parallel()
	for _, r := range []io.Reader{strings.NewReader(strings.Repeat("a", 1001)), endless{}} {
		began := time.Now()
		if _, err := Read(t.Context(), "a.txt", r, Limits{Input: 1000}); !errors.Is(err, TooLarge) {
			t.Errorf("it says %v", err)
		}
		if took := time.Since(began); took > 500*time.Millisecond && !raced {
			t.Errorf("it took %v", took)
		}
	}
	if _, err := Read(t.Context(), "a.txt", strings.NewReader(strings.Repeat("a", 1000)), Limits{Input: 1000}); err != nil {
		t.Error(err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A program whose main forgets to call Child does not start itself without end.
// A child that is stopped on a busy machine, halfway through its answer, did not answer wrongly:
// the pipe may be closed before it has ended.
func TestAClosedPipeIsNoAnswer(t *testing.T) {
	t.Parallel()
	for _, end := range []error{io.EOF, os.ErrClosed, &os.PathError{Op: "read", Path: "|0", Err: os.ErrClosed}} {
		half := io.MultiReader(strings.NewReader(`{"Pieces":[{"Text":"Rev`), iotest.ErrReader(end))
		if _, answered, err := receive(half, Limits{}.orDefault(), nil); answered || err != nil {
			t.Errorf("%v: answered: %t, %v", end, answered, err)
		}
	}
	if _, _, err := receive(strings.NewReader("{]"), Limits{}.orDefault(), nil); err == nil {
		t.Error("what is no JSON is an answer")
	}
}

func TestAChildStartsNoChild(t *testing.T) {
	t.Setenv(ChildMark, "1")
	if _, err := Read(t.Context(), "a.txt", strings.NewReader("text"), Limits{}); err == nil || reasonOf(err) != "" {
		t.Errorf("it says %v", err)
	}
}

// What reads bytes without a library takes any bytes.
func FuzzPlainParts(f *testing.F) {
	f.Add([]byte("BT /F 12 Tf [(a) -300 <6162>] TJ ET"))
	f.Add([]byte("a;b\n\"c;d\";e\n"))
	f.Add([]byte("SUM($A1:B$2)&\"A1\""))
	f.Add([]byte("1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <00> <10> [<0041>] endbfrange"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if s, _, ok := decode(data); ok {
			separator(s)
			moved(s, 1, -1)
			formatOf(s).duration(1.5)
			unescaped(s)
			character(s)
			if c, r := position(s); c > 0 && c < 18_000 && columnName(c)+fmt.Sprint(r) != s && !strings.Contains(s, "0") && !strings.Contains(s, "+") {
				t.Errorf("%q is column %d and row %d", s, c, r)
			}
		}
		(&font{letters: map[int]string{}}).names(data)
		lex := lexer{data: data}
		for n := 0; ; n++ {
			if _, _, ok := lex.next(); !ok {
				break
			}
			if n > len(data)+1 {
				t.Fatal("the lexer does not move on")
			}
		}
	})
}
