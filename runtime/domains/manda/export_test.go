package manda

import (
	"verbatim/runtime/files/documents"
	"verbatim/runtime/files/services"
)

// A Proposed is a proposal for the fit of the weights: what it would be told as, and its features.
type Proposed struct {
	Lines    []Line
	Features map[string]float64
	Sure     float64
}

// A Book is a document in memory, as the engine would have it.
type Book struct{ room DealFacts }

// Add reads a document into a book.
func (b *Book) Add(name string, doc *documents.Document) {
	about, findings := Extract(name, doc)
	for i := range findings {
		f := &findings[i]
		fact := FindingFacts{Document: name, Metric: f.Metric, Label: f.Label, Head: f.Head, Title: f.Title, Subject: PartOf(f.Subject, about.Part, about.Part), Period: f.Period.String(), Unit: f.Unit, Status: f.Status, Value: f.Value, Step: f.Step}
		if m := lexicon()[f.Metric]; m != nil && m.unsigned {
			fact.Value = fact.Value.Abs(fact.Value)
		}
		b.room.Facts = append(b.room.Facts, Fact{FindingFacts: fact, Domain: f.Domain, Place: f.Place, Text: f.Text, Confidence: f.Confidence, Dated: about.Date, Number: i + 1})
	}
	for _, c := range services.Chunks(doc, 0) {
		heading := ""
		if c.Heading != nil {
			heading = *c.Heading
		}
		b.room.Passages = append(b.room.Passages, Passage{Document: name, Place: c.Place, Heading: heading, Text: c.Text})
	}
	b.room.Documents++
}

// Proposals are all that the rows and sentences of a book propose for a question; nil if it is not one
// for them.
func (b *Book) Proposals(question string) (all []Proposed) {
	q := Read(question, "Deal", nil)
	if !q.plain() {
		return nil
	}
	list := newFinder(&q, b.room.Facts).propose(&q, b.room.Passages)
	for _, p := range list {
		a := &answer{tongue: tongue(q.Language), room: &b.room, q: q}
		a.proposed(p, list)
		all = append(all, Proposed{a.lines, p.x, p.sure})
	}
	return all
}
