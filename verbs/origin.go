package verbs

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/verbs/message"
)

// An Origin says where a value came from: the script's author, the person's own words, a record,
// the model, a tool or a document; tools and documents have names. A value made from several has
// the origins of all of them, and is trusted as little as the least trusted of them. Origins are
// compared with ==.
//
// The zero Origin is that of values that nobody gave: defaults, macros and expressions of a
// palette; the time; the name of the caller. A palette's author is the author of a script as
// well, so the zero Origin is accepted where FromScript is; mixed with another origin it adds
// nothing.
type Origin struct {
	kinds Origins
	// sources names documents and tools, as String writes them: sorted, each
	// once, joined by commas.
	sources string
}

// untrusted are the origins that a value keeps when it is saved.
const untrusted = FromModel | FromTool | FromDocument

// Limits of an Origin, which grows with the names of documents.
const (
	maxSource  = 120 // bytes of one name
	maxSources = 6   // names beyond these are dropped; the kind stays
)

// NewOrigin makes an origin of one kind. Only tools and documents have a name,
// which may be "".
func NewOrigin(kind Origins, source string) Origin {
	o := Origin{kinds: kind & (1<<len(OriginWords) - 1)}
	if kind != FromTool && kind != FromDocument || source == "" {
		return o
	}
	o.sources = OriginWords[bits.TrailingZeros8(uint8(kind))] + "=" + escapeSource(source)
	return o
}

// Kinds returns the origins as a set.
func (o Origin) Kinds() Origins { return o.kinds }

// Trusted reports whether nothing in it is less trusted than a record.
func (o Origin) Trusted() bool { return o.kinds&untrusted == 0 }

// Sources returns the names of documents and tools, in the form that String uses.
func (o Origin) Sources() string { return o.sources }

// Within reports whether all of its origins are accepted.
func (o Origin) Within(accepted Origins) bool {
	if o.kinds == 0 {
		return accepted&FromScript != 0
	}
	return o.kinds&^accepted == 0
}

// Mix returns the origin of a value made from two.
func (o Origin) Mix(p Origin) Origin {
	o.kinds |= p.kinds
	switch {
	case p.sources == "" || o.sources == p.sources:
	case o.sources == "":
		o.sources = p.sources
	default:
		all := append(strings.Split(o.sources, ","), strings.Split(p.sources, ",")...)
		slices.Sort(all)
		all = slices.Compact(all)
		o.sources = strings.Join(all[:min(len(all), maxSources)], ",")
	}
	return o
}

// Mark returns the text that is stored beside a field: String without origins as trusted as a
// record, "" if none is left.
func (o Origin) Mark() string {
	o.kinds &= untrusted
	return o.String()
}

// Stored returns the origin of a value that was read from a field with a mark; "" is no mark. An
// unreadable mark counts as the least trusted origin.
func Stored(mark string) Origin {
	if mark == "" {
		return Origin{kinds: FromRecord}
	}
	o, err := ParseOrigin(mark)
	if err != nil || o.kinds == 0 {
		return Origin{kinds: FromDocument}
	}
	return o
}

// String writes the origin in a form that ParseOrigin reads, least trusted
// first: "document=letter.pdf,model".
func (o Origin) String() string {
	if o.sources == "" && bits.OnesCount8(uint8(o.kinds)) == 1 {
		return OriginWords[bits.TrailingZeros8(uint8(o.kinds))]
	}
	var parts []string
	for i := len(OriginWords) - 1; i >= 0; i-- {
		if o.kinds&(1<<i) == 0 {
			continue
		}
		named := false
		for _, s := range strings.Split(o.sources, ",") {
			if strings.HasPrefix(s, OriginWords[i]+"=") {
				parts, named = append(parts, s), true
			}
		}
		if !named {
			parts = append(parts, OriginWords[i])
		}
	}
	return strings.Join(parts, ",")
}

var errOrigin = fmt.Errorf("an origin is one of %s, and document or tool may be followed by = and a name", strings.Join(OriginWords, ", "))

// ParseOrigin reads what String wrote. "" is the zero Origin.
func ParseOrigin(s string) (Origin, error) {
	var o Origin
	if s == "" {
		return o, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		word, source, named := strings.Cut(part, "=")
		i := slices.Index(OriginWords, word)
		if i < 0 {
			return Origin{}, errOrigin
		}
		kind := Origins(1) << i
		if named {
			name, ok := unescapeSource(source)
			if !ok || name == "" || kind != FromTool && kind != FromDocument {
				return Origin{}, errOrigin
			}
			source = name
		}
		o = o.Mix(NewOrigin(kind, source))
	}
	return o, nil
}

// Unnamed drops the names of documents that drop accepts. The kind stays.
func (o Origin) Unnamed(drop func(name string) bool) Origin {
	var kept []string
	for s := range strings.SplitSeq(o.sources, ",") {
		source, ok := strings.CutPrefix(s, OriginWords[bits.TrailingZeros8(uint8(FromDocument))]+"=")
		if name, _ := unescapeSource(source); !ok || !drop(name) {
			kept = append(kept, s)
		}
	}
	o.sources = strings.Join(kept, ",")
	return o
}

// Words describes the origin to a person: "letter.pdf", "the model and a record". It is "" for a
// value that nobody gave.
func (o Origin) Words() string {
	var parts []string
	for i := len(OriginWords) - 1; i >= 0; i-- {
		kind := Origins(1) << i
		if o.kinds&kind == 0 {
			continue
		}
		named := false
		for _, s := range strings.Split(o.sources, ",") {
			name, ok := strings.CutPrefix(s, OriginWords[i]+"=")
			if !ok {
				continue
			}
			named = true
			name, _ = unescapeSource(name)
			if kind == FromTool {
				name = "the tool " + name
			}
			parts = append(parts, name)
		}
		if !named {
			parts = append(parts, originPhrases[i])
		}
	}
	return message.Joined(parts, "and")
}

// originPhrases are the words for origins in Words, by bit.
var originPhrases = []string{"the script", "a person", "a record", "the model", "a tool", "a document"}

// Wanted describes which origins are accepted: "a person or a record".
func (o Origins) Wanted() string {
	var parts []string
	for i := range OriginWords {
		if o&(1<<i) != 0 {
			parts = append(parts, originPhrases[i])
		}
	}
	return message.Joined(parts, "or")
}

// escapeSource makes a name safe within an origin: on one line, without characters that have a
// meaning there. A name that is too long is cut.
func escapeSource(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	b := make([]byte, 0, len(s))
	for i, r := range s {
		if len(b) >= maxSource {
			b = append(b, "…"...)
			break
		}
		if strings.ContainsRune("%,=;", r) || !unicode.IsPrint(r) {
			for _, c := range []byte(s[i : i+utf8.RuneLen(r)]) {
				b = fmt.Appendf(b, "%%%02X", c)
			}
			continue
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

func unescapeSource(s string) (string, bool) {
	if !strings.Contains(s, "%") {
		return s, utf8.ValidString(s)
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b = append(b, s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b = append(b, byte(n))
		i += 2
	}
	return string(b), utf8.Valid(b)
}

// Literals say where the values that a script writes out came from. The zero Literals are for a
// script written by a person of the organisation: everything in it is the author's own.
type Literals struct {
	// Origin is the origin of every value; zero is FromScript.
	Origin Origin
	// Of, if set, knows the origins of single values by their place: in a model's text, for
	// example, the values that repeat the person's own words. It is called for each scalar, and
	// for each part of a list or a map.
	Of func(at dsl.Range) (Origin, bool)
	// Unheard says that a model wrote the script, and that the door which took it does not hear the
	// person whom the model works for. Calls that may change something are then asked about, whatever
	// their values come from.
	Unheard bool
}

// unheard begins the text of Literals that are Unheard.
const unheard = "!"

func (l *Literals) at(r dsl.Range) Origin {
	if l.Of != nil {
		if o, ok := l.Of(r); ok {
			return o
		}
	}
	if l.Origin == (Origin{}) {
		return Origin{kinds: FromScript}
	}
	return l.Origin
}

// of returns the origin of a value that was written out, mixed from its parts.
func (l *Literals) of(v *dsl.Value) Origin {
	if l.Of == nil {
		return l.at(dsl.Range{})
	}
	var o Origin
	eachLiteral(v, func(v *dsl.Value) { o = o.Mix(l.at(v.Range)) })
	if o == (Origin{}) { // an empty list
		o = l.at(v.Range)
	}
	return o
}

// eachLiteral calls fn with the literals in a value, in order, including those in the arguments
// of nested calls.
func eachLiteral(v *dsl.Value, fn func(*dsl.Value)) {
	switch v.Kind {
	case dsl.List:
		items := v.Items()
		for i := range items {
			eachLiteral(&items[i], fn)
		}
	case dsl.Map:
		entries := v.Entries()
		for i := range entries {
			eachLiteral(&entries[i].Value, fn)
		}
	case dsl.Nested:
		args := v.Call().Args
		for i := range args {
			eachLiteral(&args[i].Value, fn)
		}
	default:
		fn(v)
	}
}

// Encode writes Literals for a script in few bytes, for ReadLiterals to read with the script's
// canonical text: "" for the author's own, "model;2:person" if the third value is the person's
// own words. A "!" in front says that they are Unheard.
func (l Literals) Encode(script *dsl.Script) string {
	all := l.at(dsl.Range{})
	if l.Of != nil {
		all = (&Literals{Origin: l.Origin}).at(dsl.Range{})
	}
	text := all.String()
	if l.Unheard {
		text = unheard + text
	} else if l.Of == nil && all.kinds == FromScript {
		return ""
	}
	n := 0
	for i := range script.Calls {
		args := script.Calls[i].Args
		for j := range args {
			eachLiteral(&args[j].Value, func(v *dsl.Value) {
				if o := l.at(v.Range); o != all {
					text += ";" + strconv.Itoa(n) + ":" + o.String()
				}
				n++
			})
		}
	}
	return text
}

// EncodeOrigins is Encode for a call under construction: an origin for each literal in it, in
// order.
func EncodeOrigins(origins []Origin) string {
	if len(origins) == 0 {
		return ""
	}
	text := origins[0].String()
	for i, o := range origins[1:] {
		if o != origins[0] {
			text += ";" + strconv.Itoa(i+1) + ":" + o.String()
		}
	}
	return text
}

var errLiterals = errors.New("what was kept of where values came from cannot be read")

// ReadLiterals reads what Encode wrote for a script. On an error every value of the script counts
// as a document's.
func ReadLiterals(text string, script *dsl.Script) (Literals, error) {
	text, isUnheard := strings.CutPrefix(text, unheard)
	worst := Literals{Origin: Origin{kinds: FromDocument}, Unheard: isUnheard}
	parts := strings.Split(text, ";")
	all, err := ParseOrigin(parts[0])
	if err != nil {
		return worst, errLiterals
	}
	l := Literals{Origin: all, Unheard: isUnheard}
	if len(parts) == 1 {
		return l, nil
	}
	other := make(map[int]Origin)
	for _, part := range parts[1:] {
		at, origin, ok := strings.Cut(part, ":")
		n, err := strconv.Atoi(at)
		o, err2 := ParseOrigin(origin)
		if !ok || err != nil || err2 != nil || o.kinds == 0 {
			return worst, errLiterals
		}
		other[n] = o
	}
	places := make(map[dsl.Range]Origin)
	n := 0
	for i := range script.Calls {
		args := script.Calls[i].Args
		for j := range args {
			eachLiteral(&args[j].Value, func(v *dsl.Value) {
				if o, ok := other[n]; ok {
					places[v.Range] = o
					delete(other, n)
				}
				n++
			})
		}
	}
	if len(other) > 0 {
		return worst, errLiterals
	}
	l.Of = func(at dsl.Range) (Origin, bool) {
		o, ok := places[at]
		return o, ok
	}
	return l, nil
}
