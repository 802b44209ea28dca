package intent

import (
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	loading "verbatim/verbs/load"
)

// A phrase with two texts is read: the words between them divide them. Where such words are in
// a text too, so that it could end twice, both texts are asked for, unless quotation marks tell.
func TestWordsBetweenTwoTextsDivideThem(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Sources(dsl.NewSource("shelf.yaml", `
domain: shelf
roles: [{name: reader, description: reads}]
entities:
  book: {key: book_id, scope: everyone, label: "{title}", fields: {title: {type: string}, author: {type: string}, year: {type: integer}}}
verbs:
  - verb: add
    description: Add a book to the shelf.
    roles: [reader]
    phrases: ["add the book {title} by {author}", "add the book {title}", "please put {title} by {author} on the shelf"]
    handler: true
    args: [{name: title, type: string, required: true}, {name: author, type: string}]
  - verb: quote
    description: Keep a sentence of a book.
    roles: [reader]
    phrases: ["quote {title}: {sentence}", "quote {title} with {sentence}"]
    handler: true
    args: [{name: title, type: string, required: true}, {name: sentence, type: string, required: true, max-length: 2000}]
  - {verb: list, description: List all of the books., roles: [reader], phrases: ["which books are there"], handler: true}
`))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	for _, c := range [][3]string{
		{"add the book Emma by Jane Austen", "shelf.add", `shelf.add :title "Emma" :author "Jane Austen"`},
		{"Please add the book The Hobbit, by John Tolkien.", "shelf.add", `shelf.add :title "The Hobbit" :author "John Tolkien"`},
		{"add the book Emma", "shelf.add", `shelf.add :title "Emma"`},
		{"put Emma by Jane Austen on the shelf", "shelf.add", `shelf.add :title "Emma" :author "Jane Austen"`},
		{"add the book Stand by Me by Stephen King", "shelf.add", ""},
		{`add the book "Stand by Me" by Stephen King`, "shelf.add", `shelf.add :title "Stand by Me" :author "Stephen King"`},
		{"quote Emma: It was a delightful visit", "shelf.quote", `shelf.quote :title "Emma" :sentence "It was a delightful visit"`},
		{"quote Emma with It was a delightful visit", "shelf.quote", `shelf.quote :title "Emma" :sentence "It was a delightful visit"`},
	} {
		h := r.Read(c[0], values.In{Now: now})
		if len(h.Parts) != 1 || h.Parts[0].Verb == nil || h.Parts[0].Verb.Name != c[1] || h.Parts[0].Call != c[2] || c[2] == "" && len(h.Parts[0].Asks) != 1 {
			t.Errorf("%q is read as %s", c[0], describe(c[0], &h))
		}
	}
}
