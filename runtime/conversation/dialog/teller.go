package dialog

import (
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A Teller words things for pages as a conversation would: in the palettes' sentences and the
// person's language.
type Teller struct{ w wording }

// NewTeller makes a Teller for a language, with a session's names for rows.
func NewTeller(reg *verbs.Registry, s *engine.Session, language values.Language) Teller {
	w := newWording(reg)
	if s != nil {
		w.called = s.Names().Called
	}
	return Teller{w.in(language.String())}
}

// Value words a value; "" for nil and false.
func (t Teller) Value(v stores.Value) string {
	if v.Kind() == stores.String && strings.HasPrefix(v.Text(), "@") {
		return t.w.row(&receipt.Call{}, v.Text()[1:])
	}
	return t.w.words(v)
}

// Item words a member of an object in a list.
func (t Teller) Item(of map[string]any, name string) string { return toldItem{t.w, of}.Value(name) }

// Label names a field, an argument or a kind of row.
func (t Teller) Label(name string) string {
	return sentenceCase(t.w.wholly(func(w wording) string { return w.label(name) }))
}

// Text translates a text of a palette.
func (t Teller) Text(text string) string {
	said, _ := t.w.reg.Says(t.w.language, text)
	return said
}

// Verb says what a verb does.
func (t Teller) Verb(v *verbs.Verb) string {
	return sentenceCase(t.w.wholly(func(w wording) string { return w.does(v) }))
}

// Row returns the label of a row.
func (t Teller) Row(r *receipt.Row) string { return sentenceCase(t.w.asWords(t.w.titled(r))) }

// Field words a value before or after a change.
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

// From names the untrusted origin of a value; "" for any other.
func (t Teller) From(origin string) string {
	if o := verbs.Stored(origin); foreign(o) {
		return t.w.source(o)
	}
	return ""
}

// Done words what was done or found.
func (t Teller) Done(r *receipt.Receipt) string { return t.w.told([]*receipt.Receipt{r}) }

// Asks returns the question for agreement; "" if the palettes have none.
func (t Teller) Asks(r *receipt.Receipt) string { return strings.TrimSpace(t.w.asks(r)) }

// Earlier says when the same was done before; "" if it never was.
func (t Teller) Earlier(r *receipt.Receipt, zone *time.Location) string {
	t.w.zone = zone
	return t.w.earlier(r.Earlier)
}

// Refused says why something cannot be done, and what to do.
func (t Teller) Refused(ds dsl.Diagnostics) string { return t.w.refused(ds) }
