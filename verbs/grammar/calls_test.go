package grammar_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/grammar"
)

// A speaker makes calls up from the types of a palette, as somebody writes them who
// knows the language and no grammar of it.
type speaker struct {
	*rand.Rand
	s session
}

// F16: of every palette, a thousand calls that the checker accepts are sentences of its
// grammar: what it is held to keeps a model from nothing.
func TestWhatIsAcceptedTheGrammarAllows(t *testing.T) {
	t.Parallel()
	for name := range palettes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := session{reg: load(t, name)}
			g := grammar.New(vocabulary(s))
			p := speaker{rand.New(rand.NewPCG(1000, uint64(len(name)))), s}
			accepted, refused := 0, 0
			said := map[*verbs.Verb]bool{}
			for accepted < 1000 && refused < 3000 {
				v := s.reg.Verbs()[p.IntN(len(s.reg.Verbs()))]
				if v.Internal {
					continue
				}
				call := p.call(v)
				text := dsl.FormatCall(&call)
				script, ds := dsl.Parse(dsl.NewSource("person", text))
				if !ds.HasErrors() {
					_, ds = s.reg.Check(script, s)
				}
				if ds.HasErrors() {
					refused++
					continue
				}
				accepted++
				said[v] = true
				if !g.Accepts(text) {
					t.Fatalf("it is accepted, and not in the grammar: %s", text)
				}
			}
			for _, v := range s.reg.Verbs() {
				if !said[v] && !v.Internal {
					t.Errorf("nothing that was said with %s was accepted", v.Name)
				}
			}
			if accepted < 1000 {
				t.Errorf("%d calls are accepted", accepted)
			}
		})
	}
}

func (p speaker) call(v *verbs.Verb) dsl.Call {
	call := dsl.NewCall(v.Name)
	chosen := map[int]string{}
	for i := range v.Params {
		a := &v.Params[i]
		if !a.Required && p.IntN(2) == 0 {
			continue
		}
		value := p.value(a.Type)
		if by, ok := a.SchemaOf(); ok && chosen[by] != "" {
			value = p.schema(v.Params[by].Type.Codes.Schema(chosen[by]))
		} else if ok {
			continue
		}
		if chosen[i] = value.Text; value.Kind == dsl.Invalid {
			continue
		}
		call.Args = append(call.Args, dsl.NewArg(a.Name, value))
	}
	return call
}

// iban is the number of a German account: 13 and 14 stand for D and E (ISO 13616).
func (p speaker) iban() string {
	account := p.matching("[0-9]{18}")
	n, _ := new(big.Int).SetString(account+"131400", 10)
	return fmt.Sprintf("DE%02d%s", 98-n.Mod(n, big.NewInt(97)).Int64(), account)
}

func (p speaker) value(t *verbs.Type) dsl.Value {
	switch t.Name {
	case verbs.StringType:
		if t.Pattern != nil {
			return dsl.NewString(p.matching(t.Pattern.String()))
		}
		return dsl.NewString(p.text(t.MinLength, t.MaxLength))
	case verbs.EmailType:
		return dsl.NewString(p.matching("[a-z]{1,9}(\\.[a-z]{1,5})?@[a-z]{2,8}\\.(com|ch)"))
	case verbs.IBANType:
		return dsl.NewString(p.iban())
	case verbs.PhoneType:
		return dsl.NewString(p.matching("\\+4[1-9]( [0-9]{2,3}){3}"))
	case verbs.IntegerType:
		lo, hi := int64(-1000), int64(1000)
		if !t.Min.IsNull() {
			lo = t.Min.Int()
			hi = lo + 5
		}
		if !t.Max.IsNull() {
			hi = t.Max.Int()
		}
		return dsl.NewInteger(lo + p.Int64N(max(1, hi-lo+1)))
	case verbs.DecimalType:
		least := "0"
		if !t.Min.IsNull() {
			least = t.Min.Text()
		}
		lo, _ := stores.ParseDecimal(least)
		text := []string{lo.Text(), t.Max.Text(), fmt.Sprint(p.IntN(90)), fmt.Sprintf("%d.%d", p.IntN(90), p.IntN(10)), fmt.Sprintf("-%d.5", p.IntN(9))}[p.IntN(5)]
		if text == "" {
			text = "1.25"
		}
		return dsl.NewNumber(text)
	case verbs.BooleanType:
		return dsl.NewBool(p.IntN(2) == 0)
	case verbs.DateType:
		return dsl.NewDate(p.day(t).Format(time.DateOnly))
	case verbs.DateTimeType:
		return dsl.NewTime(p.day(t).Add(time.Duration(p.IntN(86400)) * time.Second))
	case verbs.DurationType:
		return dsl.NewString([]string{"3d", "36h", "1d12h", "90m", "2w"}[p.IntN(5)])
	case verbs.UUIDType:
		return dsl.NewUUID(p.matching("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"))
	case verbs.CodeType:
		if t.Codes == nil {
			return dsl.NewCode(p.matching("[A-Z][A-Z0-9_]{0,9}"))
		}
		c := t.Codes.Codes[p.IntN(len(t.Codes.Codes))]
		if v := dsl.NewCode(c.Name); v.Kind == dsl.Code {
			return v
		}
		return dsl.NewString(c.Name)
	case verbs.RefType:
		names := p.s.names(t.Entity)
		return dsl.NewSymbol(names[p.IntN(len(names))])
	case verbs.MoneyType:
		codes := t.CurrencyCodes()
		return dsl.NewMap(dsl.NewArg("amount", p.value(t.Amount())), dsl.NewArg("currency", dsl.NewCode(codes[p.IntN(len(codes))])))
	case verbs.ListType:
		n := t.MinLength + p.IntN(3)
		if t.MaxLength > 0 {
			n = min(n, t.MaxLength)
		}
		items := make([]dsl.Value, n)
		for i := range items {
			items[i] = p.value(t.Item)
		}
		return dsl.NewList(items...)
	case verbs.RecordType:
		var fields []dsl.Arg
		for i := range t.Fields {
			if f := &t.Fields[i]; f.Required || p.IntN(2) == 0 {
				fields = append(fields, dsl.NewArg(f.Name, p.value(f.Type)))
			}
		}
		return dsl.NewMap(fields...)
	case verbs.ObjectType:
		return p.schema(t.Schema)
	}
	return dsl.NewString(p.text(0, 10)) // of any type
}

func (p speaker) day(t *verbs.Type) time.Time {
	from, to := time.Date(1950, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)
	if !t.Min.IsNull() {
		from = t.Min.Time()
	}
	if !t.Max.IsNull() {
		to = t.Max.Time()
	}
	return from.Add(time.Duration(p.Float64() * float64(to.Sub(from)))).Truncate(time.Second)
}

func (p speaker) text(least, most int) string {
	letters := []rune("ab cdé Ürich,.;:'-\"\\\n0123456789")
	n := least + p.IntN(12)
	if most > 0 {
		n = min(n, most)
	}
	if p.IntN(10) == 0 && most > 0 {
		n = most
	}
	var b strings.Builder
	for range n {
		b.WriteRune(letters[p.IntN(len(letters))])
	}
	return b.String()
}

// schema makes an object up for the plain rules of its schema.
func (p speaker) schema(s *verbs.Schema) dsl.Value {
	if s == nil {
		return dsl.NewMap()
	}
	var doc map[string]any
	if decodeAll(s.Text(), &doc) != nil {
		return dsl.NewNil()
	}
	return p.json(doc, doc)
}

func (p speaker) json(doc, m map[string]any) dsl.Value {
	if ref, ok := m["$ref"].(string); ok {
		defs, _ := doc["$defs"].(map[string]any)
		to, _ := defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		return p.json(doc, to)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		if list, ok := m[key].([]any); ok {
			one, _ := list[p.IntN(len(list))].(map[string]any)
			return p.json(doc, one)
		}
	}
	if list, ok := m["enum"].([]any); ok {
		return constant(list[p.IntN(len(list))])
	}
	if c, ok := m["const"]; ok {
		return constant(c)
	}
	kind, _ := m["type"].(string)
	if kinds, ok := m["type"].([]any); ok {
		kind = fmt.Sprint(kinds[p.IntN(len(kinds))])
	}
	n := func(key string, otherwise int) int {
		if x, ok := m[key].(json.Number); ok {
			f, _ := x.Float64()
			return int(f)
		}
		return otherwise
	}
	props, _ := m["properties"].(map[string]any)
	switch {
	case kind == "object" || kind == "" && props != nil:
		var entries []dsl.Arg
		required, _ := m["required"].([]any)
		for _, key := range slices.Sorted(func(yield func(string) bool) {
			for key := range props {
				if !yield(key) {
					return
				}
			}
		}) {
			if part, _ := props[key].(map[string]any); slices.Contains(required, any(key)) || p.IntN(2) == 0 {
				entries = append(entries, dsl.NewArg(key, p.json(doc, part)))
			}
		}
		return dsl.NewMap(entries...)
	case kind == "array":
		items := make([]dsl.Value, n("minItems", 0)+p.IntN(max(1, min(3, n("maxItems", 3)-n("minItems", 0)+1))))
		of, _ := m["items"].(map[string]any)
		for i := range items {
			items[i] = p.json(doc, of)
		}
		return dsl.NewList(items...)
	case kind == "integer" || kind == "number":
		return dsl.NewInteger(int64(n("minimum", 0) + p.IntN(max(1, n("maximum", n("minimum", 0)+9)-n("minimum", 0)+1))))
	case kind == "boolean":
		return dsl.NewBool(p.IntN(2) == 0)
	case kind == "null":
		return dsl.NewNil()
	case m["format"] == "date":
		return dsl.NewString(p.day(&verbs.Type{}).Format(time.DateOnly))
	case m["pattern"] != nil:
		return dsl.NewString(p.matching(m["pattern"].(string)))
	}
	return dsl.NewString(p.text(n("minLength", 0), n("maxLength", 20)))
}

func constant(v any) dsl.Value {
	switch v := v.(type) {
	case string:
		return dsl.NewString(v)
	case json.Number:
		return dsl.NewNumber(v.String())
	case bool:
		return dsl.NewBool(v)
	}
	return dsl.NewNil()
}

// matching makes a text up that an expression matches.
func (p speaker) matching(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	var say func(re *syntax.Regexp)
	say = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			b.WriteString(string(re.Rune))
		case syntax.OpCharClass:
			var few []rune // those that people write
			for c := ' '; c < 0x17f; c++ {
				for i := 0; i+1 < len(re.Rune); i += 2 {
					if re.Rune[i] <= c && c <= re.Rune[i+1] && (c < 0x7f || c > 0xbf) {
						few = append(few, c)
					}
				}
			}
			b.WriteRune(few[p.IntN(len(few))])
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteByte('x')
		case syntax.OpAlternate:
			say(re.Sub[p.IntN(len(re.Sub))])
		case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
			lo, hi := re.Min, re.Max
			switch re.Op {
			case syntax.OpStar:
				lo, hi = 0, 4
			case syntax.OpPlus:
				lo, hi = 1, 5
			case syntax.OpQuest:
				lo, hi = 0, 1
			}
			if hi < 0 {
				hi = lo + 4
			}
			for range lo + p.IntN(hi-lo+1) {
				say(re.Sub[0])
			}
		default:
			for _, sub := range re.Sub {
				say(sub)
			}
		}
	}
	say(re)
	return b.String()
}
