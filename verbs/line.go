package verbs

import (
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/message"
)

// The lines below show declarations of a palette, for references and for comparing palettes.
// White space does not count.

// OneLine returns a text on one line.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Line returns an expression on one line, "" if there is none.
func (x *Expr) Line() string {
	if x == nil {
		return ""
	}
	return OneLine(x.Text)
}

// Line returns a filter on one line, "" if there is none.
func (f *Filter) Line() string {
	if f == nil {
		return ""
	}
	return OneLine(f.Text)
}

// Line returns a requirement as the palette words it.
func (r *Require) Line(v *Verb) string {
	if r.Rows != nil {
		return r.Rows.Line(v)
	}
	return r.That.Line()
}

// Line returns the value that is sent to the tool under a key.
func (s *Send) Line(v *Verb) string {
	if s.Value == nil {
		return v.Params[s.Param].Ident
	}
	return s.Value.Line()
}

// Word returns the key that a palette writes for an effect.
func (e *Effect) Word() string {
	for _, w := range EffectWords {
		if w.Kind == e.Kind && w.May == e.May {
			return w.Name
		}
	}
	return ""
}

// Changes lists the fields that an effect may change, nil for any.
func (e *Effect) Changes() []string {
	if e.Kind != Updates && e.Kind != Creates {
		return nil
	}
	set := e.Fields
	if set == nil {
		for _, s := range e.Set {
			set = append(set, s.Field)
		}
	}
	if set == nil {
		return nil
	}
	return FieldNames(e.Entity.Store, set)
}

// KeyNames returns the names of the arguments that form the correlation key.
func (e *Effect) KeyNames(v *Verb) string {
	names := message.Names(e.Key, func(i int) string { return ":" + v.Params[i].Name })
	return strings.Join(names, " and ")
}

// RunLine returns the call that a trigger makes.
func (e *Effect) RunLine() string {
	var b strings.Builder
	for i := range e.Run.Script.Calls {
		b.WriteString(dsl.FormatCall(&e.Run.Script.Calls[i]))
	}
	return b.String()
}

// String returns the word that palettes use.
func (a Again) String() string { return AgainWords[a] }

// String returns the word that palettes use.
func (p ProgressPart) String() string { return ProgressWords[p] }

// Words returns the words that palettes use for the origins.
func (o Origins) Words() []string {
	var words []string
	for i, word := range OriginWords {
		if o&(1<<i) != 0 {
			words = append(words, word)
		}
	}
	return words
}

// OwnerOf describes who owns the rows of an entity.
func OwnerOf(e *stores.Entity) string {
	switch {
	case e.Access == stores.ForAll:
		return "everyone"
	case e.Access == stores.ByPath && len(e.Scope) == 0:
		return "themselves"
	}
	var steps []string
	at := e
	for _, s := range e.Scope {
		if at != nil && s.Field >= 0 && s.Field < len(at.Fields) {
			steps = append(steps, at.Fields[s.Field].Name)
		}
		at = s.To
	}
	if e.Access == stores.ByPrincipal {
		return "the principal named by " + strings.Join(steps, ".")
	}
	return "whoever holds " + strings.Join(steps, ".")
}

// FieldNames returns names of fields, in order.
func FieldNames(e *stores.Entity, fields []int) []string {
	names := message.Names(fields, func(i int) string { return e.Fields[i].Name })
	slices.Sort(names)
	return slices.Compact(names)
}
