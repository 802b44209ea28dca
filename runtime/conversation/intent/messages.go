package intent

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/forms"
	"verbatim/runtime/conversation/values"
	"verbatim/verbs"
)

// Questions in the person's language. The names of verbs and arguments, and the descriptions of
// arguments, come from the palette.

type question = values.Key

const (
	askVerb     question = "phrase/ask-verb"
	askVerbs    question = "phrase/ask-verbs"
	askMissing  question = "phrase/ask-missing"
	askSeveral  question = "phrase/ask-several"
	askStranger question = "phrase/ask-stranger"
	askField    question = "phrase/ask-field"
	askLimit    question = "phrase/ask-limit"
	askWhich    question = "phrase/ask-which"
	askUnfit    question = "phrase/ask-unfit"
	askUnread   question = "phrase/ask-unread"
	askShorter  question = "phrase/ask-shorter"
	askDay      question = "phrase/ask-day"
	askTime     question = "phrase/ask-time"
	askMore     question = "phrase/ask-more"
	askCurrency question = "phrase/ask-currency"
	inQuotes    question = "phrase/in-quotes"
)

// The kinds of values of arguments, if the palette has no word for the argument in the language.
const (
	aDate    question = "phrase/a-date"
	aMoney   question = "phrase/a-money"
	aNumber  question = "phrase/a-number"
	anEmail  question = "phrase/a-email"
	aPhone   question = "phrase/a-phone"
	aBoolean question = "phrase/a-boolean"
	aValue   question = "phrase/a-value"
)

func kindOf(t verbs.TypeName) question {
	switch t {
	case verbs.DateType, verbs.DateTimeType:
		return aDate
	case verbs.MoneyType:
		return aMoney
	case verbs.IntegerType, verbs.DecimalType:
		return aNumber
	case verbs.EmailType:
		return anEmail
	case verbs.PhoneType:
		return aPhone
	case verbs.BooleanType:
		return aBoolean
	}
	return aValue
}

// speaks returns the language of questions about a sentence in language l.
func (r *Reader) speaks(l values.Language) values.Language {
	if r.in.Tongue != nil {
		return *r.in.Tongue
	}
	return l
}

// ask words a question about a verb or an argument.
func (r *Reader) ask(l values.Language, q question, about any, choices []string) string {
	l = r.speaks(l)
	if field, ok := about.(forms.Question); ok {
		field = field.In(l)
		text := q.In(l, field.Label)
		if field.Hint != "" {
			text += " (" + strings.TrimSuffix(field.Hint, ".") + ")"
		}
		return text
	}
	if p, ok := about.(*verbs.Param); ok {
		if own := p.Asks.In(l.String()); own != nil && (q == askMissing || q == askSeveral) {
			return strings.TrimSuffix(own.Say(nil)+" "+r.join(l, choices), " ")
		}
		switch q {
		case askStranger:
			return q.In(l) + " " + r.join(l, choices)
		case askShorter: // choices are how long it is, and may be
			return q.In(l, choices...)
		}
		if q == askLimit && l != values.English {
			return askUnfit.In(l)
		}
		name, ok := r.ix.reg.Says(l.String(), p.Name)
		switch {
		case !ok && l != values.English && len(choices) > 0: // it need not be called anything
			return askWhich.In(l, r.join(l, choices))
		case !ok && l != values.English:
			q, name = askMissing, kindOf(p.Type.Name).In(l)
		case !ok:
			name = strings.ReplaceAll(strings.TrimSuffix(name, "-id"), "-", " ")
		}
		if q == askMissing && p.Type.Entity != nil && l == values.English {
			q = askSeveral // "What is yard?" would ask what a yard is
		}
		text := q.In(l, name)
		switch {
		case q == askLimit:
			return text + strings.Join(choices, ", ")
		case len(choices) > 0:
			return text + " " + r.join(l, choices)
		}
		return text
	}
	names := make([]string, len(choices))
	all := about.([]*verbs.Verb)
	for i, c := range choices {
		v := all[slices.IndexFunc(all, func(v *verbs.Verb) bool { return v.Name == c })]
		names[i] = r.does(l, v)
		if names[i] == "" {
			english := *r
			english.in.Tongue = new(values.Language)
			return english.ask(values.English, q, about, choices)
		}
	}
	if len(names) == 1 {
		return q.In(l, inQuotes.In(l, names[0]))
	}
	var list strings.Builder
	for i, name := range names {
		list.WriteString("\n" + strconv.Itoa(i+1) + ". " + upper(name))
	}
	return askVerbs.In(l, list.String())
}

// upper capitalises the first letter.
func upper(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

// does returns the effect of a verb in words: its description or, in another language, a phrase
// without places; "" if there is none.
func (r *Reader) does(l values.Language, v *verbs.Verb) string {
	if l != values.English {
		if said, ok := r.ix.reg.Says(l.String(), v.Description); ok {
			first, _, _ := strings.Cut(said, ". ")
			return strings.TrimSuffix(first, ".")
		}
		for _, p := range v.PhrasesIn[l.String()] {
			if !strings.Contains(p, "{") {
				return p
			}
		}
		return ""
	}
	first, _, _ := strings.Cut(v.Description, ". ")
	if first = strings.TrimSuffix(first, "."); first == "" {
		return v.Name
	}
	return strings.ToLower(first[:1]) + first[1:]
}

// join lists choices; the names of rows are written as words.
func (r *Reader) join(l values.Language, all []string) string {
	all = slices.Clone(all)
	for i, c := range all {
		if r.in.Say != nil {
			all[i] = r.in.Say(l, c)
		}
		if name, ok := strings.CutPrefix(all[i], "@"); ok {
			all[i] = strings.ReplaceAll(name, "-", " ")
		}
	}
	return values.Either(l, all)
}
