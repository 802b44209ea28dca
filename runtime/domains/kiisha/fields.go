package kiisha

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"verbatim/runtime/files/documents"
)

// A Field is a value that a document states under a label, with its place.
type Field struct {
	Number int    `json:"number"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Place  string `json:"place"`
	Text   string `json:"text"` // as in the document
}

//go:embed fields.txt
var fieldList string

// labels maps the labels in documents to the names of fields.
func labels() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(fieldList) {
		if name, list, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(line, "#") {
			for label := range strings.SplitSeq(list, "|") {
				all[tokens(label)] = name
			}
		}
	}
	return all
}

const (
	mostFields = 100
	longest    = 200 // letters of a value
)

// Fields reads the values of a document that stand under a known label: after its colon, or in the
// cell beside it. It leaves out what a reader of the file does not see.
func Fields(doc *documents.Document) []Field {
	known := labels()
	all := []Field{}
	add := func(label, value, text string, at documents.Location) {
		name := known[tokens(label)]
		value = strings.TrimSpace(value)
		if name == "" || value == "" || utf8.RuneCountInString(value) > longest || len(all) == mostFields {
			return
		}
		all = append(all, Field{len(all) + 1, name, value, at.String(), strings.TrimSpace(text)})
	}
	var before *documents.Piece // the cell to the left
	for i := range doc.Pieces {
		p := &doc.Pieces[i]
		if p.Hidden {
			continue
		}
		if p.Cell != nil {
			if before != nil && before.At.Sheet == p.At.Sheet && before.At.Table == p.At.Table && before.At.Row == p.At.Row {
				add(strings.TrimSuffix(before.Text, ":"), p.Text, before.Text+" | "+p.Text, p.At)
			}
			before = p
			continue
		}
		before = nil
		for line := range strings.Lines(p.Text) {
			if label, value, ok := strings.Cut(line, ":"); ok {
				add(label, value, line, p.At)
			}
		}
	}
	return all
}
