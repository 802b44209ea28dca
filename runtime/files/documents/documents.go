// Package documents extracts the text of files, with the location of each piece, so that an
// answer can cite it:
//
//	doc, err := documents.Read(ctx, "Annual report.pdf", file, documents.Limits{})
//	for _, p := range doc.Pieces {
//		fmt.Println(p.At, p.Text) // p.12 Revenue rose to €5.2m.
//	}
//
// A file is read in a child process with little time, little memory, and no
// way to open a file or a connection. The child is the same program, started
// again: its main calls Child before anything else.
package documents

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A Document is the content of a file, in the order in which people read it.
type Document struct {
	Format    string    `json:"format"`              // pdf, xlsx, docx, pptx, csv, mail, html or text
	Title     string    `json:"title,omitempty"`     // as the file states it; the subject of a mail
	Author    string    `json:"author,omitempty"`    // as the file states it; the sender of a mail
	Created   time.Time `json:"created,omitzero"`    // as the file states it
	Modified  time.Time `json:"modified,omitzero"`   // as the file states it; the date of a mail
	Pages     int       `json:"pages,omitempty"`     // pages, sheets or slides
	Encoding  string    `json:"encoding,omitempty"`  // of a text, a csv or an HTML file: the encoding that was assumed
	Separator string    `json:"separator,omitempty"` // of a csv file: the separator that was assumed
	Scans     []int     `json:"scans,omitempty"`     // the pages that are pictures without text
	Skipped   []Skipped `json:"skipped,omitempty"`   // attachments that were not read, or not to their end
	Pieces    []Piece   `json:"-"`
}

// A Skipped is an attachment that was not read, or not to its end, and why.
type Skipped struct {
	Name   string `json:"name"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// A Kind is the kind of a piece.
type Kind string

// The kinds of pieces.
const (
	Text    Kind = "text"    // a paragraph, or a line if there are no paragraphs
	Heading Kind = "heading" // the title of the following pieces
	InCell  Kind = "cell"    // a cell of a table; it has a Cell
	Note    Kind = "note"    // a speaker's note, a footnote, a comment
	Header  Kind = "header"  // a header of a mail, or of each page, or a footer
)

// A Piece is some text and its place.
type Piece struct {
	Kind   Kind     `json:"k"`
	At     Location `json:"a"`
	Text   string   `json:"t"`
	Level  int      `json:"l,omitempty"` // of a heading: 1 is the highest
	Hidden bool     `json:"h,omitempty"` // a reader of the file does not see it
	Cell   *Cell    `json:"c,omitempty"`
}

// A Cell is a cell of a table. Its row and column are in its Location.
type Cell struct {
	Type    string `json:"t,omitempty"` // text, number, date, bool, error or empty; only set for workbooks
	Value   string `json:"v,omitempty"` // a number as an exact decimal, a date as 2025-01-31 or 2025-01-31T10:00:00; "" for text
	Formula string `json:"f,omitempty"` // without the equals sign
	Format  string `json:"n,omitempty"` // how a workbook shows the number: #,##0.0 "€m"
	Rows    int    `json:"r,omitempty"` // how many rows it covers, where more than one
	Columns int    `json:"w,omitempty"` // how many columns it covers, where more than one
}

// A Location is a place in a document. What a format has no word for is zero.
// Two pieces of one document never share a Location.
type Location struct {
	Inside    string `json:"i,omitempty"` // the attachment, or attachments within one another: "mail.eml > plan.xlsx"
	Page      int    `json:"p,omitempty"` // of a PDF
	Slide     int    `json:"s,omitempty"`
	Sheet     string `json:"h,omitempty"`
	Ref       string `json:"r,omitempty"` // of a workbook's cell: B15
	Part      string `json:"x,omitempty"` // header, footer, footnotes, notes …; of a mail, the name of a header
	Section   string `json:"n,omitempty"` // the heading that it stands under; of a slide, its title
	Paragraph int    `json:"g,omitempty"` // counted through the file, or the slide
	Line      int    `json:"l,omitempty"` // counted through the file, or the page
	Table     int    `json:"t,omitempty"` // counted through the file
	Row       int    `json:"y,omitempty"`
	Column    int    `json:"c,omitempty"`
}

// String returns the location as people cite it: p.12, 'P&L'!B15, slide 3, section "Revenue", line
// 4. Finer details than a page or a slide are in the fields.
func (l Location) String() string {
	var s string
	switch {
	case l.Page > 0:
		s = "p." + strconv.Itoa(l.Page)
	case l.Sheet != "":
		s = sheetRef(l.Sheet) + "!" + l.Ref
	case l.Slide > 0:
		s = "slide " + strconv.Itoa(l.Slide)
	case l.Part != "":
		s = l.Part
	case l.Section != "":
		s = "section " + strconv.Quote(l.Section)
	case l.Line > 0 && l.Table == 0:
		s = "line " + strconv.Itoa(l.Line)
	case l.Paragraph > 0 && l.Table == 0:
		s = "paragraph " + strconv.Itoa(l.Paragraph)
	}
	if l.Table > 0 && l.Page == 0 && l.Slide == 0 && l.Sheet == "" {
		at := fmt.Sprintf("row %d, column %d", l.Row, l.Column)
		if l.Line == 0 { // a csv file is one table
			at = fmt.Sprintf("table %d, %s", l.Table, at)
		}
		s = strings.TrimPrefix(s+", "+at, ", ")
	}
	if l.Inside != "" {
		return strings.TrimSuffix(l.Inside+": "+s, ": ")
	}
	return s
}

// sheetRef writes the name of a sheet as in a formula.
func sheetRef(name string) string {
	plain := name != ""
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		plain = plain && (letter || i > 0 && r >= '0' && r <= '9')
	}
	if plain {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", "''") + "'"
}

// Limits bound the resources for reading one file. A zero field means the default.
type Limits struct {
	Input    int64         `json:"input"`    // bytes of the file; 32 MiB
	Unpacked int64         `json:"unpacked"` // bytes of all packed data in it; 256 MiB
	Output   int64         `json:"output"`   // bytes of the child's answer; 64 MiB
	Memory   int64         `json:"memory"`   // bytes of the child that are resident; 512 MiB
	Wall     time.Duration `json:"wall"`     // until the child is killed; 5 s
	CPU      time.Duration `json:"cpu"`      // of processor time; Wall, in whole seconds
	Pages    int           `json:"pages"`    // pages, sheets or slides; 5 000
	Cells    int           `json:"cells"`    // cells of tables; 250 000
	Entries  int           `json:"entries"`  // files in an archive, parts of a mail; 5 000
	Depth    int           `json:"depth"`    // mails within mails, elements within elements; 100, and 5 for mails
}

func (l Limits) orDefault() Limits {
	setDefault(&l.Input, 32<<20)
	setDefault(&l.Unpacked, 256<<20)
	setDefault(&l.Output, 64<<20)
	setDefault(&l.Memory, 512<<20)
	setDefault(&l.Wall, 5*time.Second)
	setDefault(&l.CPU, (l.Wall + time.Second - 1).Truncate(time.Second))
	setDefault(&l.Pages, 5000)
	setDefault(&l.Cells, 250_000)
	setDefault(&l.Entries, 5000)
	setDefault(&l.Depth, 100)
	return l
}

func setDefault[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// A Reason says why a file was not read. It is an error: errors.Is(err,
// documents.Encrypted).
type Reason string

// The reasons.
const (
	Empty       Reason = "empty"
	Encrypted   Reason = "encrypted"
	Damaged     Reason = "damaged"
	TooLarge    Reason = "too-large"
	TooMany     Reason = "too-many"
	Loop        Reason = "loop"
	WrongType   Reason = "wrong-type"
	Unsupported Reason = "unsupported"
	Scan        Reason = "scan"
	TimedOut    Reason = "timed-out"
	Memory      Reason = "memory"
	Crashed     Reason = "crashed"
)

var sentences = map[Reason]string{
	Empty:       "the file is empty",
	Encrypted:   "the file is encrypted: ask its sender for one that opens without a password",
	Damaged:     "the file is damaged",
	TooLarge:    "the file is larger than is read, packed or unpacked",
	TooMany:     "the file has more parts than are read",
	Loop:        "parts of the file contain one another",
	WrongType:   "the file is not what its name says",
	Unsupported: "files of this type are not read",
	Scan:        "the file is a scan: its pages are pictures without text",
	TimedOut:    "the file could not be read in the time allowed",
	Memory:      "the file could not be read in the memory allowed",
	Crashed:     "the program that reads files failed on this one",
}

// Error implements error with a sentence for people.
func (r Reason) Error() string { return sentences[r] }

// A Failure is a reason with a detail. It never holds text of the file.
type Failure struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

func (f *Failure) Error() string {
	if f.Detail == "" {
		return f.Reason.Error()
	}
	return f.Reason.Error() + " (" + f.Detail + ")"
}

// Unwrap makes errors.Is know the reason.
func (f *Failure) Unwrap() error { return f.Reason }

func fail(r Reason, format string, args ...any) error {
	return &Failure{r, fmt.Sprintf(format, args...)}
}
