package runtime

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs"
)

// A person or a model is never shown a key. It sees names such as
// `@pierre-dupont-identity`, minted from the labels of the rows that the
// session may see; a name that was not minted stands for nothing.
//
// Each entity has a space of names of its own, so that what one script mentions
// cannot change what a name means in the next. Within it a name is the label in
// lower-case ASCII; rows of one label get -2, -3 and so on in the order of
// their keys. Once minted, a name keeps its row for as long as the session
// lasts.
type names struct {
	mu    sync.Mutex
	books map[*stores.Entity]*book
}

// A book holds the names of one entity's rows.
type book struct {
	whole bool // every row in scope was read; otherwise only single rows were named
	vast  bool // there were too many to read
	keys  map[string]stores.Value
	rows  map[stores.Value]named
	next  map[string]int          // of each name without its number, the number to try next
	texts map[string]stores.Value // what a script called a row that has exactly that label
}

type named struct{ name, label string }

const (
	// maxNamed is how many rows of one entity a session names by itself.
	// Beyond it, the rows that reads give back are named one by one.
	maxNamed = 5000
	// maxSlug keeps a name short enough to be typed.
	maxSlug = 48
	// namingTime bounds the reading of labels, which Check does without a
	// context of its own.
	namingTime = 10 * time.Second
)

func (n *names) book(e *stores.Entity) *book {
	if n.books == nil {
		n.books = make(map[*stores.Entity]*book)
	}
	b := n.books[e]
	if b == nil {
		b = &book{keys: make(map[string]stores.Value), rows: make(map[stores.Value]named), next: make(map[string]int)}
		n.books[e] = b
	}
	return b
}

// mint names a row that has no name yet.
func (b *book) mint(e *stores.Entity, key stores.Value, label string) named {
	if row, ok := b.rows[key]; ok {
		return row
	}
	base := slug(label, e.Name)
	name, n := base, b.next[base]
	if n > 0 {
		// A name is never given back, so that all below are taken.
		name = base + "-" + strconv.Itoa(n)
	}
	for {
		if n = max(n+1, 2); b.keys[name].IsNull() {
			break
		}
		name = base + "-" + strconv.Itoa(n)
	}
	b.next[base] = n
	row := named{name: name, label: label}
	b.keys[name], b.rows[key] = key, row
	return row
}

// labels selects what a row is called by: its key, then the fields of its
// template. A sensitive field never becomes part of a name.
func labels(e *verbs.Entity) []stores.Path {
	paths := []stores.Path{{Field: e.Store.Key}}
	for _, p := range e.Label.Paths {
		if !sensitivePath(e.Store, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

func sensitivePath(e *stores.Entity, p stores.Path) bool {
	return p.Count == nil && fieldAt(e, p).Sensitive
}

// label prints what labels selected.
func label(e *verbs.Entity, values []stores.Value) string {
	var b strings.Builder
	next := 1
	for i, text := range e.Label.Text {
		b.WriteString(text)
		if i >= len(e.Label.Paths) {
			break
		}
		if sensitivePath(e.Store, e.Label.Paths[i]) {
			continue
		}
		b.WriteString(values[next].Text())
		next++
	}
	return strings.TrimSpace(b.String())
}

// read names every row of an entity within scope that has no name yet. Rows
// that a run has added and not yet committed are left out: they may never be.
func (s *Session) read(ctx context.Context, r stores.Reader, e *verbs.Entity, uncommitted map[stores.Value]string) error {
	rows, err := r.Find(ctx, stores.Find{Entity: e.Store, Select: s.e.labelled[e], Limit: maxNamed})
	if errors.Is(err, stores.ErrLimit) {
		s.names.mu.Lock()
		defer s.names.mu.Unlock()
		s.names.book(e.Store).vast = true
		return nil
	}
	if err != nil {
		return err
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.book(e.Store)
	b.whole = true
	for _, row := range rows {
		if _, skip := uncommitted[row[0]]; !skip {
			b.mint(e.Store, row[0], label(e, row))
		}
	}
	return nil
}

// known returns what a row is called, if it was named.
func (s *Session) known(e *stores.Entity, key stores.Value) (named, bool) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.books[e]
	if b == nil {
		return named{}, false
	}
	row, ok := b.rows[key]
	return row, ok
}

// name makes sure that a row has a name, given its label.
func (s *Session) name(e *stores.Entity, key stores.Value, label string) named {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	return s.names.book(e).mint(e, key, label)
}

// key returns the row that a name of an entity stands for.
func (s *Session) key(e *stores.Entity, name string) (stores.Value, bool) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.books[e]
	if b == nil {
		return stores.Value{}, false
	}
	key, ok := b.keys[name]
	return key, ok
}

// scriptNames answers the checker for one script. A name that several entities
// use stands for the one that the arguments of this script ask for.
type scriptNames struct {
	s     *Session
	wants map[string][]*verbs.Entity // by symbol, in the order of the script
	among []*verbs.Entity            // every entity the script may speak of
	meant map[*verbs.Entity][]*meaning
}

// Lookup implements verbs.Names.
func (n *scriptNames) Lookup(name string) *verbs.Entity {
	for _, e := range n.wants[name] {
		if _, ok := n.s.key(e.Store, name); ok {
			return e
		}
	}
	for _, e := range n.among {
		if _, ok := n.s.key(e.Store, name); ok {
			return e
		}
	}
	for _, e := range n.among {
		if slices.ContainsFunc(n.meant[e], func(m *meaning) bool { return m.text == name }) {
			if _, ok := n.s.text(e.Store, name); ok {
				return e
			}
		}
	}
	return nil
}

// Nearby implements verbs.Names. It knows only what the session was given, so
// that a suggestion tells nothing of other people's rows.
func (n *scriptNames) Nearby(name string) []string {
	among := n.wants[name]
	if len(among) == 0 {
		among = n.among
	}
	var all []string
	n.s.names.mu.Lock()
	for _, e := range among {
		if b := n.s.names.books[e.Store]; b != nil {
			for have := range b.keys {
				all = append(all, have)
			}
		}
	}
	n.s.names.mu.Unlock()
	slices.Sort(all)
	near := dsl.Nearest(name, slices.Values(slices.Compact(all)))
	if len(near) == 0 {
		near = n.s.likeNames(among, name)
	}
	return near
}

// missing reports whether a name is wanted of an entity that has none such.
func (n *scriptNames) missing(e *verbs.Entity) bool {
	for name, wants := range n.wants {
		if slices.Contains(wants, e) {
			if _, ok := n.s.key(e.Store, name); !ok {
				return true
			}
		}
	}
	return false
}

// mentioned works out what the symbols of a script may stand for. Symbols that
// the script binds itself are not the session's.
func (s *Session) mentioned(script *dsl.Script) *scriptNames {
	n := &scriptNames{s: s, wants: make(map[string][]*verbs.Entity)}
	bound := make(map[string]bool)
	var bindings func(c *dsl.Call)
	var inside func(v dsl.Value, fn func(dsl.Value))
	inside = func(v dsl.Value, fn func(dsl.Value)) {
		fn(v)
		for _, item := range v.Items() {
			inside(item, fn)
		}
		for _, entry := range v.Entries() {
			inside(entry.Value, fn)
		}
	}
	bindings = func(c *dsl.Call) {
		if c.As != "" {
			bound[c.As] = true
		}
		for i := range c.Args {
			inside(c.Args[i].Value, func(v dsl.Value) {
				if nested := v.Call(); nested != nil {
					bindings(nested)
				}
			})
		}
	}
	for i := range script.Calls {
		bindings(&script.Calls[i])
	}
	all := false
	var call func(c *dsl.Call)
	call = func(c *dsl.Call) {
		verb := s.e.reg.Verb(c.Verb)
		for i := range c.Args {
			var want *verbs.Entity
			if verb != nil {
				want = wanted(verb, c.Args[i].Key)
			}
			inside(c.Args[i].Value, func(v dsl.Value) {
				if nested := v.Call(); nested != nil {
					call(nested)
				}
				if v.Kind == dsl.String && want != nil {
					if _, isKey := stores.ParseUUID(v.Text); !isKey {
						n.ask(v.Text, want)
					}
				}
				if v.Kind != dsl.Symbol {
					return
				}
				name, path, _ := strings.Cut(v.Text, ".")
				switch {
				case bound[name]:
				case want != nil && path == "":
					n.want(name, want)
				default:
					all = true
				}
			})
		}
	}
	for i := range script.Calls {
		call(&script.Calls[i])
	}
	if all {
		n.among = s.e.entities
	}
	return n
}

func (n *scriptNames) want(name string, e *verbs.Entity) {
	if !slices.Contains(n.wants[name], e) {
		n.wants[name] = append(n.wants[name], e)
	}
	if !slices.Contains(n.among, e) {
		n.among = append(n.among, e)
	}
}

// wanted returns the entity that an argument refers to, nil when it is none or
// any.
func wanted(verb *verbs.Verb, key string) *verbs.Entity {
	for i := range verb.Params {
		if verb.Params[i].Name != key {
			continue
		}
		t := verb.Params[i].Type
		for t != nil && t.Name == verbs.ListType {
			t = t.Item
		}
		if t != nil && t.Name == verbs.RefType {
			return t.Entity
		}
	}
	return nil
}

// NameFrom is how the name of a row begins that has a label: "Pierre Dupont" is
// pierre-dupont. It is "" where the label makes no name.
func NameFrom(label string) string { return slug(label, "") }

// slug makes a name of a label: ASCII letters in lower case and digits, joined
// by hyphens, beginning with a letter. Latin letters lose their marks; what no
// ASCII letter stands for is dropped, and a label of nothing else gives the
// name of its entity.
func slug(label, entity string) string {
	b := make([]byte, 0, maxSlug)
	gap := false
	for _, r := range label {
		word := fold(r)
		if word == "" {
			gap = gap || r < utf8.RuneSelf || r == '\u00a0' || r == '–' || r == '—'
			continue
		}
		if gap && len(b) > 0 {
			b = append(b, '-')
		}
		gap = false
		b = append(b, word...)
		if len(b) > maxSlug {
			// Cut between words, where there is a place to.
			if cut := strings.LastIndexByte(string(b[:maxSlug+1]), '-'); cut > maxSlug/2 {
				b = b[:cut]
			}
			b = b[:min(len(b), maxSlug)]
			break
		}
	}
	name := string(b)
	switch {
	case name == "":
		name = strings.ReplaceAll(entity, "_", "-")
	case name[0] >= '0' && name[0] <= '9':
		name = strings.ReplaceAll(entity, "_", "-") + "-" + name
	}
	return name
}

// Unmarked writes a text as names are written: in lower case and without the
// marks of Latin letters. What names drop is left as it is.
func Unmarked(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for _, r := range text {
		if word := fold(r); word != "" {
			b.WriteString(word)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

const (
	asciiLetters = "abcdefghijklmnopqrstuvwxyz"
	asciiDigits  = "0123456789"
)

// fold returns the ASCII letters or digit for a rune, "" when there is none.
func fold(r rune) string {
	switch {
	case r >= 'a' && r <= 'z':
		return asciiLetters[r-'a' : r-'a'+1]
	case r >= 'A' && r <= 'Z':
		return asciiLetters[r-'A' : r-'A'+1]
	case r >= '0' && r <= '9':
		return asciiDigits[r-'0' : r-'0'+1]
	case r < 0xc0:
		return ""
	}
	if r >= 0x1ea0 && r <= 0x1ef9 { // Vietnamese, in the order of its letters
		for _, block := range []struct {
			last rune
			is   string
		}{{0x1eb7, "a"}, {0x1ec7, "e"}, {0x1ecb, "i"}, {0x1ee3, "o"}, {0x1ef1, "u"}, {0x1ef9, "y"}} {
			if r <= block.last {
				return block.is
			}
		}
	}
	if i := strings.IndexRune(latin, r); i >= 0 {
		// Each entry of latin is its letters up to the next space, after "=".
		end := strings.IndexByte(latin[i:], ' ') + i
		return latin[strings.LastIndexByte(latin[:end], '=')+1 : end]
	}
	return ""
}

// latin lists the letters with marks of the European languages and what each
// is written as without them. It is short on purpose: a name is a convenience,
// and a transliteration that is wrong is worse than a dropped letter.
const latin = "ÀÁÂÃÄÅàáâãäåĀāĂăĄąǍǎ=a ÆæǢǣ=ae ÇçĆćĈĉĊċČč=c ĎďĐđÐð=d ÈÉÊËèéêëĒēĔĕĖėĘęĚě=e " +
	"ĜĝĞğĠġĢģ=g ĤĥĦħ=h ÌÍÎÏìíîïĨĩĪīĬĭĮįİı=i Ĵĵ=j Ķķĸ=k ĹĺĻļĽľĿŀŁł=l ÑñŃńŅņŇňŉŊŋ=n " +
	"ÒÓÔÕÖØòóôõöøŌōŎŏŐő=o Œœ=oe ŔŕŖŗŘř=r ŚśŜŝŞşŠšȘș=s ẞß=ss ŢţŤťŦŧȚț=t Þþ=th " +
	"ÙÚÛÜùúûüŨũŪūŬŭŮůŰűŲų=u Ŵŵ=w ÝÿýŶŷŸ=y ŹźŻżŽž=z "

// fieldAt returns the field that a path ends at.
func fieldAt(e *stores.Entity, p stores.Path) *stores.Field {
	for _, step := range p.Steps {
		e = step.To
	}
	return &e.Fields[p.Field]
}
