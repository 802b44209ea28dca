// Package services has functions of this program that palettes use like tools of other servers: the
// engine journals an attempt that changes something, calls none inside a transaction, and refuses
// an answer that does not fit.
//
//	tools.Services{Own: map[string]map[string]tools.Service{"documents": services.Documents(services.Reads(open))}}
package services

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"verbatim/runtime/files/documents"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores/files"
)

// An Open opens a file by its reference, upload://…. The error is files.ErrNotFound if there is no
// such file.
type Open func(ctx context.Context, reference string) (name string, content io.ReadCloser, err error)

// A Read reads the document with a reference, and reports the number of pages read so far. An error
// about the file is a *documents.Failure.
type Read func(ctx context.Context, reference string, tell func(done, total int)) (*documents.Document, error)

// Reads opens a file on each call, since the caller may not be permitted to read it, and parses it
// once in a child process: it keeps the last document, which several verbs use one after another.
// The content of a reference does not change. It is safe for concurrent use.
func Reads(open Open) Read {
	type read struct {
		reference string
		doc       *documents.Document
	}
	var last atomic.Pointer[read]
	return func(ctx context.Context, reference string, tell func(done, total int)) (*documents.Document, error) {
		name, content, err := open(ctx, reference)
		if err != nil {
			return nil, err
		}
		defer content.Close()
		if kept := last.Load(); kept != nil && kept.reference == reference {
			return kept.doc, nil
		}
		doc, err := documents.Follow(ctx, name, content, documents.Limits{}, tell)
		if err != nil {
			return nil, err
		}
		last.Store(&read{reference, &doc})
		return &doc, nil
	}
}

// Documents are services that extract the text of files, with its places: describe returns the
// facts about a file, read its text in chunks, and table the rows of its table, at most a thousand
// at a time.
func Documents(read Read) map[string]tools.Service {
	return map[string]tools.Service{
		"describe": {
			Document: true,
			Says:     "What a file is: its format, title, author, times, pages, and into how many chunks it is read.",
			Input:    json.RawMessage(`{"type":"object","properties":{"file":{"type":"string","format":"upload"},"size":{"type":"integer"}},"required":["file"],"additionalProperties":false}`),
			Output: json.RawMessage(`{"type":"object","properties":{"format":{"type":"string"},"title":{"type":["string","null"]},"author":{"type":["string","null"]},
				"created":{"type":["string","null"],"format":"date-time"},"modified":{"type":["string","null"],"format":"date-time"},"pages":{"type":["integer","null"]},
				"scanned":{"type":"integer"},"skipped":{"type":["string","null"]},"chunks":{"type":"integer"}}}`),
			Do: reading(read, func(doc *documents.Document, a arguments) any {
				all := Chunks(doc, a.Size)
				d := described{Format: doc.Format, Title: some(doc.Title), Author: some(doc.Author), Pages: number(doc.Pages), Scanned: len(doc.Scans), Chunks: len(all)}
				if !doc.Created.IsZero() {
					d.Created = some(doc.Created.UTC().Format("2006-01-02T15:04:05Z"))
				}
				if !doc.Modified.IsZero() {
					d.Modified = some(doc.Modified.UTC().Format("2006-01-02T15:04:05Z"))
				}
				var skipped []string
				for _, s := range doc.Skipped {
					skipped = append(skipped, s.Name+": "+s.Reason.Error())
				}
				d.Skipped = some(strings.Join(skipped, "; "))
				return d
			}),
		},
		"read": {
			Document: true,
			Says:     "The text of a file in chunks, each with its place, from the chunk of a number on.",
			Input:    json.RawMessage(`{"type":"object","properties":{"file":{"type":"string","format":"upload"},"size":{"type":"integer"},"from":{"type":"integer"}},"required":["file"],"additionalProperties":false}`),
			Output: json.RawMessage(`{"type":"object","properties":{"chunks":{"type":"array","items":{"type":"object","properties":{"number":{"type":"integer"},"place":{"type":"string"},"kind":{"type":"string"},
				"heading":{"type":["string","null"]},"text":{"type":"string"},"page":{"type":["integer","null"]},"slide":{"type":["integer","null"]},"sheet":{"type":["string","null"]},"cell":{"type":["string","null"]},"line":{"type":["integer","null"]}}}}}}`),
			Do: reading(read, func(doc *documents.Document, a arguments) any {
				all := Chunks(doc, a.Size)
				from := min(max(0, a.From-1), len(all))
				return struct {
					Chunks []Chunk `json:"chunks"`
				}{all[from:min(len(all), from+atOnce):len(all)]}
			}),
		},
		"table": {
			Document: true,
			Says:     "The rows of a table in a workbook or a CSV file, by the headings that its columns have.",
			Input:    json.RawMessage(`{"type":"object","properties":{"file":{"type":"string","format":"upload"},"sheet":{"type":"string"}},"required":["file"],"additionalProperties":false}`),
			Output:   json.RawMessage(`{"type":"object","properties":{"rows":{"type":"array","items":{"type":"object","additionalProperties":true}}}}`),
			Do: answering(read, func(doc *documents.Document, a arguments, c tools.Call) (any, string, error) {
				rows, why := table(doc, a, c)
				return rows, why, nil
			}),
		},
	}
}

// atOnce is the greatest number of chunks in one answer: the greatest number of rows of a tool's
// answer.
const atOnce = 1000

type arguments struct {
	File  string `json:"file"`
	Size  int    `json:"size"`
	From  int    `json:"from"`
	Sheet string `json:"sheet"`
	Name  string `json:"name"`
}

type described struct {
	Format   string  `json:"format"`
	Title    *string `json:"title"`
	Author   *string `json:"author"`
	Created  *string `json:"created"`
	Modified *string `json:"modified"`
	Pages    *int    `json:"pages"`
	Scanned  int     `json:"scanned"` // pages that are pictures without text
	Skipped  *string `json:"skipped"` // attachments that were not read
	Chunks   int     `json:"chunks"`
}

func some(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n int) *int {
	if n == 0 {
		return nil
	}
	return &n
}

// reading reads the file of a call, and answers from its content.
func reading(read Read, answer func(*documents.Document, arguments) any) func(context.Context, tools.Call) (tools.Answer, error) {
	return answering(read, func(doc *documents.Document, a arguments, _ tools.Call) (any, string, error) {
		return answer(doc, a), "", nil
	})
}

// Reading makes a service of another package that answers from a document: from its content, its
// name in the call, and a starting number.
func Reading(read Read, answer func(doc *documents.Document, name string, from int) any) func(context.Context, tools.Call) (tools.Answer, error) {
	return reading(read, func(doc *documents.Document, a arguments) any { return answer(doc, a.Name, a.From) })
}

// Asking is Reading for an answer from a third party, which may be missing: why tells the reason,
// and err means that the caller has given up.
func Asking(read Read, answer func(doc *documents.Document, name string, from int) (said any, why string, err error)) func(context.Context, tools.Call) (tools.Answer, error) {
	return answering(read, func(doc *documents.Document, a arguments, _ tools.Call) (any, string, error) {
		return answer(doc, a.Name, a.From)
	})
}

// answering is reading for a document that may have no answer: why tells the reason.
func answering(read Read, answer func(*documents.Document, arguments, tools.Call) (any, string, error)) func(context.Context, tools.Call) (tools.Answer, error) {
	return func(ctx context.Context, c tools.Call) (tools.Answer, error) {
		var a arguments
		if err := json.Unmarshal([]byte(c.Args), &a); err != nil {
			return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
		}
		doc, err := read(ctx, a.File, func(done, total int) {
			if c.Tell != nil {
				c.Tell(done, total, "pages")
			}
		})
		if errors.Is(err, files.ErrNotFound) {
			return tools.Answer{Failed: true, Text: "the file is not there any more"}, nil
		}
		var failed *documents.Failure
		if errors.As(err, &failed) {
			return tools.Answer{Failed: true, Text: failed.Error()}, nil
		}
		if err != nil {
			return tools.Answer{}, err
		}
		said, why, err := answer(doc, a, c)
		if err != nil {
			return tools.Answer{}, fmt.Errorf("%w: %w", tools.ErrNotCalled, err)
		}
		if why != "" {
			return tools.Answer{Failed: true, Text: why}, nil
		}
		text, err := json.Marshal(said)
		return tools.Answer{Structured: string(text)}, err
	}
}

// parts returns the visible pieces. Longer ones are cut at so many characters, after a space if
// there is one near the end.
func parts(pieces []documents.Piece, size int) iter.Seq[documents.Piece] {
	return func(yield func(documents.Piece) bool) {
		for _, p := range pieces {
			if p.Hidden || p.Text == "" {
				continue
			}
			for rest := []rune(p.Text); len(rest) > 0; {
				n := min(len(rest), size)
				if n < len(rest) {
					for k := n; k > n*3/4; k-- {
						if rest[k-1] == ' ' {
							n = k
							break
						}
					}
				}
				p.Text = string(rest[:n])
				if rest = rest[n:]; !yield(p) {
					return
				}
			}
		}
	}
}

// A Chunk is text that stands together: of one page, one slide, one sheet or one section,
// and one table or none.
type Chunk struct {
	Number  int     `json:"number"` // from 1
	Place   string  `json:"place"`  // as people cite it: p.12, 'P&L'!B15
	Kind    string  `json:"kind"`   // text or table
	Heading *string `json:"heading"`
	Text    string  `json:"text"` // of a table, a row a line, with | between cells
	Page    *int    `json:"page"`
	Slide   *int    `json:"slide"`
	Sheet   *string `json:"sheet"`
	Cell    *string `json:"cell"` // the first
	Line    *int    `json:"line"` // the first
}

// The sizes of chunks, in characters.
const (
	defaultSize = 1200
	leastSize   = 200
	mostSize    = 8000
)

// together holds the common places of the pieces of one chunk.
type together struct {
	inside, sheet, part, section string
	page, slide, table           int
}

// Chunks joins the pieces of a document, in their order, into chunks of at most so many characters;
// 0 means 1 200. A longer piece is cut. Pieces that are invisible in the file are left out.
func Chunks(doc *documents.Document, size int) []Chunk {
	size = cmp.Or(size, defaultSize)
	size = min(max(size, leastSize), mostSize)
	var all []Chunk
	var now together
	var row int
	length := 0
	for p := range parts(doc.Pieces, size) {
		at := together{p.At.Inside, p.At.Sheet, p.At.Part, p.At.Section, p.At.Page, p.At.Slide, p.At.Table}
		chars := utf8.RuneCountInString(p.Text)
		sameRow := p.Cell != nil && at == now && p.At.Row == row && row > 0
		if len(all) == 0 || at != now || length+chars+3 > size && !sameRow || length+chars+3 > mostSize || p.Kind == documents.Heading && at.page == 0 {
			c := Chunk{Number: len(all) + 1, Place: p.At.String(), Kind: "text", Heading: some(p.At.Section),
				Page: number(p.At.Page), Slide: number(p.At.Slide), Sheet: some(p.At.Sheet), Cell: some(p.At.Ref), Line: number(p.At.Line)}
			if p.Cell != nil {
				c.Kind = "table"
			}
			all, now, length, sameRow = append(all, c), at, 0, false
		}
		c := &all[len(all)-1]
		switch {
		case c.Text == "":
		case sameRow:
			c.Text += " | "
		default:
			c.Text += "\n"
		}
		c.Text += p.Text
		length += chars + 3
		row = p.At.Row
	}
	return all
}
