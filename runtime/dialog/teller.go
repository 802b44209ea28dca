package dialog

import (
	"strings"

	"verbatim/dsl"
	"verbatim/runtime"
	"verbatim/runtime/words"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Teller words what pages show as a conversation words it: in the sentences of the
// palettes, and in a person's language.
type Teller struct{ w wording }

// NewTeller tells in a language, calling rows what a session calls them.
func NewTeller(reg *verbs.Registry, s *runtime.Session, language words.Language) Teller {
	w := newWording(reg)
	if s != nil {
		w.called = s.Called
	}
	return Teller{w.in(language.String())}
}

// Value is a value as a sentence has it; "" of nothing, and of no.
func (t Teller) Value(v stores.Value) string {
	if v.Kind() == stores.String && strings.HasPrefix(v.Text(), "@") {
		return t.w.row(&receipt.Call{}, v.Text()[1:])
	}
	return t.w.words(v)
}

// Item is a member of an object in a list, as a sentence has it.
func (t Teller) Item(of map[string]any, name string) string { return toldItem{t.w, of}.Value(name) }

// Label is what people call a field, an argument or a kind of row.
func (t Teller) Label(name string) string {
	return sentenceCase(t.w.wholly(func(w wording) string { return w.label(name) }))
}

// Text is a text of a palette in the language.
func (t Teller) Text(text string) string {
	said, _ := t.w.reg.Says(t.w.language, text)
	return said
}

// Verb is what a verb does.
func (t Teller) Verb(v *verbs.Verb) string {
	return sentenceCase(t.w.wholly(func(w wording) string { return w.does(v) }))
}

// Row is what people call a row.
func (t Teller) Row(r *receipt.Row) string { return sentenceCase(t.w.asWords(t.w.titled(r))) }

// Field is a value before or after, as it stands beside the other.
func (t Teller) Field(f *receipt.Field, v receipt.Value) string {
	switch {
	case f.Sensitive:
		return t.w.say(saySecret)
	case f.File != nil && v.Value == f.After.Value:
		return t.w.fileWords(f.File)
	case v.Kind() == stores.String && strings.HasPrefix(v.Text(), "@"):
		return t.w.row(&receipt.Call{}, v.Text()[1:])
	}
	if text := t.w.words(v.Shown()); text != "" {
		return text
	}
	return t.w.value(v.Shown())
}

// From says where a value comes from that no record vouches for; "" of others.
func (t Teller) From(origin string) string {
	if o := verbs.Stored(origin); foreign(o) {
		return t.w.source(o)
	}
	return ""
}

// Done tells what was done or found.
func (t Teller) Done(r *receipt.Receipt) string { return t.w.told([]*receipt.Receipt{r}) }

// Asks is the question whether to do it; "" where the palettes have none.
func (t Teller) Asks(r *receipt.Receipt) string { return strings.TrimSpace(t.w.asks(r)) }

// Refused says why something is not done, and what to do.
func (t Teller) Refused(ds dsl.Diagnostics) string { return t.w.refused(ds) }
