package verbs

import (
	"cmp"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs/values"
)

// Example returns a value that the argument accepts, as a script writes it: the palette's own
// example if it has one, otherwise one made from the type.
func (p *Param) Example() string {
	if len(p.Examples) > 0 {
		return p.Type.write(p.Examples[0])
	}
	if p.ByCode != nil { // the example for the code argument is the first code of its list
		return p.ByCode.Codes[0].Schema.Example()
	}
	return p.Type.example(p.Name)
}

// blank returns what a repair shows for the argument: an example of the palette, or otherwise
// only a description of what is wanted, since an invented value might be left in.
func (p *Param) blank() string {
	if len(p.Examples) > 0 {
		return p.Example()
	}
	return p.Type.blank()
}

func (t *Type) blank() string {
	switch {
	case t.Name == RecordType:
		return t.blankRecord()
	case t.Name == ListType && t.Item != nil && t.Item.Name == RecordType:
		return "[" + t.Item.blankRecord() + "]"
	}
	return "<" + t.Short() + ">"
}

// spelt describes how values of the type are written, if that needs to be said.
func (t *Type) spelt() string {
	switch t.Name {
	case DateType:
		return "a date is written YYYY-MM-DD"
	case DateTimeType:
		return "a date and time is written YYYY-MM-DDThh:mm:ssZ"
	case DurationType:
		return "a duration is numbers with their units, in quotes: w, d, h, m, s"
	case CodeType:
		return "a code is written in capitals, without quotes"
	case BooleanType:
		return "true and false have no quotes"
	case IntegerType, DecimalType:
		return "a number has no quotes"
	}
	return ""
}

// write writes an example of the palette as a script would.
func (t *Type) write(text string) string {
	switch t.Name {
	case StringType, EmailType, PhoneType, IBANType, BICType, LEIType, NationalIDType, DurationType:
		return dsl.FormatValue(dsl.NewString(text))
	case RefType:
		if text != "" && text[0] != '@' && dsl.NewSymbol(text).Kind == dsl.Symbol {
			return "@" + text
		}
	}
	return text
}

// exampleCurrency is a currency that money of this type may be in.
func (t *Type) exampleCurrency() string {
	if len(t.Currencies) > 0 {
		return t.Currencies[0]
	}
	return "EUR"
}

func (t *Type) example(name string) string {
	switch t.Name {
	case StringType:
		return dsl.FormatValue(dsl.NewString(t.exampleText(name)))
	case IntegerType:
		return t.exampleNumber("1")
	case DecimalType:
		switch {
		case t.Scale == 0:
			return t.exampleNumber("10")
		case t.Scale == 1:
			return t.exampleNumber("10.5")
		}
		return t.exampleNumber("10.50")
	case BooleanType:
		return "true"
	case DateType:
		return t.exampleNumber("2025-01-03")
	case DateTimeType:
		return t.exampleNumber("2025-01-03T10:00:00Z")
	case DurationType:
		return `"3d"`
	case UUIDType:
		return "123e4567-e89b-12d3-a456-426614174000"
	case CodeType:
		if t.Codes != nil && len(t.Codes.Codes) > 0 {
			return t.Codes.Codes[0].Name
		}
		return "PASSPORT"
	case RefType:
		return "@" + exampleName(t)
	case EmailType:
		return `"clara@example.com"`
	case PhoneType:
		return `"+44 20 7946 0018"`
	case IBANType:
		return `"DE89 3704 0044 0532 0130 00"`
	case BICType:
		return `"DEUTDEFF"`
	case LEIType:
		return `"5493001KJTIIGC8Y1R12"`
	case NationalIDType:
		_, sample := values.IDName(t.Country)
		return dsl.FormatValue(dsl.NewString(cmp.Or(sample, "131052-308T")))
	case MoneyType:
		return "{:amount " + t.moneyPart("amount").example("") + " :currency " + t.exampleCurrency() + "}"
	case ListType:
		item := anyType
		if t.Item != nil {
			item = t.Item
		}
		items := make([]string, max(1, t.MinLength))
		for i := range items {
			items[i] = item.example(name)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case ObjectType:
		return t.Schema.Example()
	case RecordType:
		return t.exampleRecord()
	case CallType:
		return "(example.call)"
	}
	return `"value"`
}

// exampleNumber keeps a number, date or time within its limits.
func (t *Type) exampleNumber(s string) string {
	v, p := (&Type{Name: t.Name, Scale: -1}).Literal(&dsl.Value{Kind: dslKinds[t.Name], Text: s})
	switch {
	case p != Fine:
		return s
	case !t.Min.IsNull() && Less(v, t.Min):
		return t.Min.Text()
	case !t.Max.IsNull() && Less(t.Max, v):
		return t.Max.Text()
	}
	return s
}

var dslKinds = [...]dsl.Kind{
	IntegerType: dsl.Integer, DecimalType: dsl.Decimal, DateType: dsl.Date, DateTimeType: dsl.DateTime,
}

func (t *Type) exampleText(name string) string {
	if t.Pattern != nil {
		if text, ok := matching(t.Pattern); ok && t.limitText(text) == Fine {
			return text
		}
	}
	text := strings.ReplaceAll(name, "-", " ")
	text = cmp.Or(text, "text")
	for t.MinLength > 0 && len(text) < t.MinLength {
		text += " " + text
	}
	if t.MaxLength > 0 && len(text) > t.MaxLength {
		text = text[:t.MaxLength]
	}
	return text
}

func exampleName(t *Type) string {
	if t.Entity != nil {
		return t.Entity.Store.Name
	}
	return "name"
}

// matching makes a text that matches a pattern, for patterns of ordinary parts.
func matching(p *regexp.Regexp) (string, bool) {
	tree, err := syntax.Parse(p.String(), syntax.Perl)
	if err != nil {
		return "", false
	}
	var b strings.Builder
	spell(&b, tree.Simplify(), 0)
	return b.String(), p.MatchString(b.String())
}

func spell(b *strings.Builder, re *syntax.Regexp, depth int) {
	if depth > 100 || b.Len() > 1000 {
		return
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		// A letter or digit reads better than whatever comes first.
		for _, r := range "A1a" {
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= r && r <= re.Rune[i+1] {
					b.WriteRune(r)
					return
				}
			}
		}
		if len(re.Rune) > 0 {
			b.WriteRune(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('a')
	case syntax.OpCapture, syntax.OpPlus:
		spell(b, re.Sub[0], depth+1)
	case syntax.OpAlternate:
		spell(b, re.Sub[0], depth+1)
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			spell(b, sub, depth+1)
		}
	case syntax.OpRepeat:
		for range re.Min {
			spell(b, re.Sub[0], depth+1)
		}
	}
}

// Example returns a call of the verb that parses and checks: its required arguments with the
// palette's own examples, or values made from their types.
func (v *Verb) Example() string {
	var b strings.Builder
	b.WriteString(v.Name)
	for i := range v.Params {
		if p := &v.Params[i]; p.Required {
			value := p.Example()
			if len(p.Examples) == 0 && p.Type.Name == StringType && v.isCountry(i) {
				value = `"FI"` // whose number the example of a national id is
			}
			fmt.Fprintf(&b, " :%s %s", p.Name, value)
		}
	}
	return b.String()
}

// isCountry reports whether an argument holds the country of another one.
func (v *Verb) isCountry(param int) bool {
	for i := range v.Params {
		if by, ok := v.CountryParam(i); ok && by == param {
			return true
		}
	}
	return false
}
