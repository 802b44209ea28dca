package load

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/expr"
	"verbatim/verbs/message"
	"verbatim/verbs/naming"
)

// Diagnostics that need more than their entry in messages.txt: a fix, or a choice among entries.

// misspelt reports whether a word can only have been meant as the name of an
// entity: one edit away, or two in a long name.
func (l *loader) misspelt(d *doc, name string) bool {
	for _, n := range message.Nearest(name, visible(d, l.entities)) {
		most := 1
		if len(name) > 8 {
			most = 2
		}
		if dsl.Distance(name, n, most) <= most {
			return true
		}
	}
	return false
}

func notYAML(at dsl.Place, message string) dsl.Diagnostic {
	for _, name := range slices.Sorted(maps.Keys(messages())) {
		if words, ok := strings.CutPrefix(name, "not-yaml/"); ok && strings.Contains(message, words) {
			return tell(at, name)
		}
	}
	return tell(at, "not-yaml")
}

func missingKey(at dsl.Place, of, name string) dsl.Diagnostic {
	return tell(at, "missing-key", shapes()[of], name, shapes()[of].key(name).example)
}

func nothingWritten(at dsl.Place, k *key) dsl.Diagnostic {
	return tell(at, "nothing-written", k.name, k.example)
}

func notBoolean(at dsl.Place, name, word string) dsl.Diagnostic {
	d := tell(at, "not-boolean", name)
	d.Fixes = verbs.TruthFix(at, word)
	return d
}

func heldByNobody(at dsl.Place, v *verbs.Verb, e *verbs.Entity) dsl.Diagnostic {
	example := ""
	for i, f := range e.Store.Fields {
		for j := range v.Params {
			if t := v.Params[j].Type; f.Ref != nil && example == "" && t != nil && t.Name == verbs.RefType && t.Entity != nil && t.Entity.Store == e.Store.Fields[i].Ref {
				example = fmt.Sprintf("row.%s == %s and …", f.Name, v.Params[j].Ident)
			}
		}
	}
	example = cmp.Or(example, "row.ORDER == order_id and …")
	return tell(at, "held-by-nobody", e, example)
}

func requiresNothing(at dsl.Place, verb string, holds bool) dsl.Diagnostic {
	if holds {
		return tell(at, "requires-nothing", verb)
	}
	return tell(at, "requires-nothing/never", verb)
}

func badName(at dsl.Place, what, word string) dsl.Diagnostic {
	if len(word) > naming.MaxName {
		return tell(at, "bad-name/long", what, naming.MaxName)
	}
	d := tell(at, "bad-name", word, what)
	if better := naming.From(word); better != word && (naming.IsName(better) || what == "domain" && naming.IsDottedName(better)) {
		d.Fixes = []dsl.Fix{{Title: "call it " + better, Edits: []dsl.Edit{{Range: at.Range, Text: better}}}}
	}
	return d
}

func badCode(at dsl.Place, word string) dsl.Diagnostic {
	d := tell(at, "bad-name/code", word)
	if better := strings.ToUpper(strings.ReplaceAll(word, " ", "_")); better != word && naming.IsCode(better) {
		d.Fixes = []dsl.Fix{{Title: "write " + better, Edits: []dsl.Edit{{Range: at.Range, Text: better}}}}
	}
	return d
}

func unknownRole(at dsl.Place, word string, roles []*verbs.Role, note string) dsl.Diagnostic {
	d := tell(at, "unknown-role", word, roles, note)
	if len(d.Fixes) == 1 {
		i := slices.IndexFunc(roles, func(r *verbs.Role) bool { return r.Name == d.Fixes[0].Edits[0].Text })
		d.Related = append(d.Related, dsl.Related{Place: roles[i].Place, Message: roles[i].Name + " is declared here"})
	}
	return d
}

func unknownArgument(at dsl.Place, v *verbs.Verb, word string) dsl.Diagnostic {
	return noArgument(at, v, word, v.Names())
}

// unknownParam is unknownArgument where names are written with underscores.
func unknownParam(at dsl.Place, v *verbs.Verb, word string) dsl.Diagnostic {
	names := v.Names()
	for i := range names {
		names[i] = naming.Underscored(names[i])
	}
	return noArgument(at, v, word, names)
}

func noArgument(at dsl.Place, v *verbs.Verb, word string, names []string) dsl.Diagnostic {
	d := tell(at, "unknown-argument", v, word, names)
	if len(names) == 0 {
		d.Notes = []string{v.Name + " takes no arguments"}
	}
	return d
}

// internalNamed says that a palette names an internal verb where people or models
// would come to call it.
func internalNamed(at dsl.Place, v *verbs.Verb, what string) dsl.Diagnostic {
	return tell(at, "contradiction", what+" "+v.Name+", which is internal", "only the work of a trigger calls it, with run; name another verb", v.Place, "declared here")
}

func handlerNeeded(at dsl.Place, verb, what string, prose, declared bool) dsl.Diagnostic {
	label := "the engine cannot do this by itself"
	switch {
	case prose:
		label = "a sentence is a promise that only a handler can keep"
	case declared:
		label = "how is not said, so only a handler can keep this"
	case what == "returns":
		label = "where the result comes from is not said"
	}
	return tell(at, "handler-needed", verb, label)
}

func macroCircle(at dsl.Place, circle []*verbs.Verb) dsl.Diagnostic {
	d := tell(at, "macro-circle", strings.Join(message.Names(circle, (*verbs.Verb).String), " -> "))
	for _, v := range circle[1 : len(circle)-1] {
		d.Related = append(d.Related, dsl.Related{Place: v.Place, Message: v.Name})
	}
	return d
}

func operandDoesNotApply(at dsl.Place, key, kind string) dsl.Diagnostic {
	to := map[string]string{"where": "updates and deletes", "set": "creates and updates", "with": "triggers and notifies", "as": "one row that is created", "by": "upserts", "that": "all"}[key]
	return tell(at, "limit-does-not-apply/operand", key, kind, cmp.Or(to, "triggers"))
}

func operandNotEntity(at dsl.Place, text, kind, entity string) dsl.Diagnostic {
	wanted := "the name of an entity"
	if strings.Contains(kind, "update") {
		wanted = "an entity, or one field of it"
	}
	return tell(at, "bad-operand", kind, wanted, text, entity)
}

func refDefault(at dsl.Place, name, value string) dsl.Diagnostic {
	d := tell(at, "bad-value/ref", name, value)
	d.Fixes = message.Replacements(at, []string{activeWord}, "")
	return d
}

func activeOfWhat(at dsl.Place, p *verbs.Param) dsl.Diagnostic {
	if e := p.Type.Entity; e != nil {
		return tell(at, "default-active/entity", p, e)
	}
	return tell(at, "default-active", p)
}

func missingWhere(at dsl.Place, e *verbs.Entity, v *verbs.Verb) dsl.Diagnostic {
	d := tell(at, "missing-where", e)
	for i := range v.Params {
		if t := v.Params[i].Type; t != nil && t.Name == verbs.RefType && t.Entity == e {
			d.Notes = append(d.Notes, "the argument you may mean: where: "+v.Params[i].Name)
		}
	}
	return d
}

func countNotReference(at dsl.Place, e *verbs.Entity, field string, row *verbs.Entity) dsl.Diagnostic {
	var to []string
	for i := range e.Fields {
		if t := e.Fields[i].Type; t != nil && t.Name == verbs.RefType && t.Entity == row {
			to = append(to, e.Store.Fields[i].Name)
		}
	}
	d := tell(at, "not-a-reference/count", field, e, row)
	if len(to) > 0 {
		d.Notes = []string{"references to " + row.Store.Name + ": " + strings.Join(to, ", ")}
		d.Fixes = message.Replacements(at, to, "")
	}
	return d
}

// exprFault is what is wrong with the text of an expression.
func exprFault(at dsl.Place, e *expr.Error, word string) dsl.Diagnostic {
	d := dsl.Diagnostic{Code: e.Code, Summary: e.Summary, Label: e.Label, Place: at, Notes: e.Notes}
	if e.Write != "" {
		d.Fixes = message.Replacements(at, []string{e.Write}, "")
	}
	if near := message.Nearest(word, e.Legal); len(near) > 0 {
		d.Label, d.Fixes = message.DidYouMean(near), message.Replacements(at, near, "")
	}
	return d
}

func codeInQuotes(at dsl.Place, word string, list *verbs.CodeList) dsl.Diagnostic {
	d := tell(at, "type-mismatch/code", word)
	if code := list.Called(word); code != "" {
		d.Label, d.Fixes = "say "+code, message.Replacements(at, []string{code}, "")
	} else if naming.IsCode(word) {
		d.Fixes = message.Replacements(at, []string{word}, "")
	}
	return d
}
