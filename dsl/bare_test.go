package dsl

import "testing"

// A bare scanner and recursive descent over the same texts, without
// diagnostics, escapes or recovery: what the least possible parser costs.
type bare struct {
	s     string
	i     int
	arena []Arg
}

func (p *bare) ws() {
	for p.i < len(p.s) && (p.s[p.i] == ' ' || p.s[p.i] == '\n' || p.s[p.i] == ',') {
		p.i++
	}
}

func (p *bare) run() string {
	from := p.i
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\n', ',', ')', ']', '}':
			return p.s[from:p.i]
		}
		p.i++
	}
	return p.s[from:]
}

func (p *bare) value() Value {
	start := p.i
	switch c := p.s[p.i]; {
	case c == '"':
		p.i++
		for p.s[p.i] != '"' {
			if p.s[p.i] == '\\' {
				p.i++
			}
			p.i++
		}
		p.i++
		return Value{Kind: String, Range: Range{int32(start), int32(p.i)}, Text: p.s[start+1 : p.i-1]}
	case c == '[':
		p.i++
		var items []Value
		for p.ws(); p.s[p.i] != ']'; p.ws() {
			items = append(items, p.value())
		}
		p.i++
		v := listOf(items)
		v.Range = Range{int32(start), int32(p.i)}
		return v
	case c == '{':
		p.i++
		var entries []Arg
		for p.ws(); p.s[p.i] == ':'; p.ws() {
			entries = append(entries, p.arg())
		}
		p.i++
		v := mapOf(entries)
		v.Range = Range{int32(start), int32(p.i)}
		return v
	case c == '@':
		p.i++
		return Value{Kind: Symbol, Text: p.run(), Range: Range{int32(start), int32(p.i)}}
	case c >= 'A' && c <= 'Z':
		return Value{Kind: Code, Text: p.run(), Range: Range{int32(start), int32(p.i)}}
	case c >= 'a' && c <= 'z':
		return Value{Kind: Bool, Text: p.run(), Range: Range{int32(start), int32(p.i)}}
	}
	w := p.run()
	k := Integer
	switch {
	case len(w) == 10 && w[4] == '-':
		k = Date
	case len(w) == 36:
		k = UUID
	default:
		for j := range len(w) {
			if w[j] == '.' {
				k = Decimal
			}
		}
	}
	return Value{Kind: k, Text: w, Range: Range{int32(start), int32(p.i)}}
}

func (p *bare) arg() Arg {
	start := p.i
	p.i++
	key := p.run()
	a := Arg{Key: key, KeyRange: Range{int32(start), int32(p.i)}}
	p.ws()
	a.Value = p.value()
	return a
}

func (p *bare) script() (calls []Call) {
	calls = make([]Call, 0, len(p.s)/90)
	for p.ws(); p.i < len(p.s); p.ws() {
		c := Call{Range: Range{Start: int32(p.i)}}
		paren := p.s[p.i] == '('
		if paren {
			p.i++
		}
		from := p.i
		c.Verb = p.run()
		c.VerbRange = Range{int32(from), int32(p.i)}
		if cap(p.arena)-len(p.arena) < 32 {
			p.arena = make([]Arg, 0, 1024)
		}
		first := len(p.arena)
		for p.ws(); p.i < len(p.s) && p.s[p.i] == ':'; p.ws() {
			if p.s[p.i:p.i+4] == ":as " {
				p.i += 4
				from := p.i
				c.As = p.run()
				c.AsRange = Range{int32(from), int32(p.i)}
				continue
			}
			p.arena = append(p.arena, p.arg())
		}
		c.Args = p.arena[first:len(p.arena):len(p.arena)]
		if paren {
			p.i++
		}
		c.Range.End = int32(p.i)
		calls = append(calls, c)
	}
	return calls
}

// PERF-P1: compare with BenchmarkParse10k.
func BenchmarkBare10k(b *testing.B) {
	text := realistic(10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if p := (bare{s: text}); len(p.script()) != 10_000 {
			b.Fatal("lost a call")
		}
	}
}
