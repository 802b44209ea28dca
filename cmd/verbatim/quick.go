package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
)

// Loading a thousand verbs takes many times as long as checking a call, and an
// editor or a hook checks often. So check remembers, for palettes that loaded
// without a mistake, on which lines each verb stands, and the next time reads
// only the verbs that the script names, the other lines left empty. The memory
// is good for these bytes and this program alone: it holds the bytes too,
// because comparing them is far quicker than hashing them.
//
// It may say only one thing: that a script has nothing wrong with it. Anything
// else is left to the palettes as a whole, which know all the words that may
// have been meant.

// quickFormat is the first line of an index; another format gets another.
const quickFormat = "verbatim palette index 4"

// An index says where the verbs of a directory of palettes stand.
type index struct {
	key      string // of everything the index depends on, apart from the bytes
	place    string // the file it is kept in
	files    []indexed
	palettes []indexedPalette
	verbs    map[string]indexedVerb
}

type indexed struct{ name, text string }

// A span is some whole lines of a file.
type span struct{ start, end, lines int }

type indexedPalette struct {
	file  string
	list  span     // the line on which its verbs begin; empty when it has none
	needs []string // verbs that it speaks of beside their list
	verbs []indexedVerb
}

type indexedVerb struct {
	name  string
	at    span
	needs []string // verbs that it speaks of
}

// quickIndex reads the palettes' bytes and what is remembered of them. Without
// a place for caches there is none.
func (a *app) quickIndex(dir string) *index {
	cache := a.env("XDG_CACHE_HOME")
	if cache == "" && a.env("HOME") != "" {
		cache = filepath.Join(a.env("HOME"), ".cache")
	}
	if !filepath.IsAbs(cache) || a.env("VERBATIM_CACHE") == "off" {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	program, err := os.Stat(self)
	if err != nil {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	whole, err := filepath.Abs(dir)
	if err != nil {
		return nil
	}
	ix := &index{}
	where := sha256.Sum256([]byte(whole))
	sum := sha256.New()
	fmt.Fprintf(sum, "%d %d\n", program.Size(), program.ModTime().UnixNano())
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil
		}
		fmt.Fprintf(sum, "%q %d\n", e.Name(), len(text))
		ix.files = append(ix.files, indexed{e.Name(), string(text)})
	}
	ix.key = hex.EncodeToString(sum.Sum(nil))
	ix.place = filepath.Join(cache, "verbatim", hex.EncodeToString(where[:16]))
	return ix
}

// head begins the memory of an index of so many bytes.
func (ix *index) head(size int) string {
	return fmt.Sprintf("%s %s %d", quickFormat, ix.key, size)
}

// read fills the index from what was remembered.
func (ix *index) read() bool {
	kept, err := os.ReadFile(ix.place)
	if err != nil {
		return false
	}
	first, texts, _ := bytes.Cut(kept, []byte("\n"))
	head := string(first)
	size, err := strconv.Atoi(head[strings.LastIndexByte(head, ' ')+1:])
	if err != nil || size < 0 || size > len(texts) || head != ix.head(size) {
		return false
	}
	rest := string(texts[:size])
	texts = texts[size:]
	for _, f := range ix.files {
		if len(texts) < len(f.text) || string(texts[:len(f.text)]) != f.text {
			return false
		}
		texts = texts[len(f.text):]
	}
	if len(texts) > 0 {
		return false
	}
	ix.palettes = nil
	ix.verbs = make(map[string]indexedVerb, strings.Count(rest, "\n"))
	for line := range strings.Lines(rest) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 5 {
			return false
		}
		var at span
		for i, n := range []*int{&at.start, &at.end, &at.lines} {
			if *n, err = strconv.Atoi(fields[2+i]); err != nil {
				return false
			}
		}
		switch n := len(ix.palettes); {
		case fields[0] == "palette":
			ix.palettes = append(ix.palettes, indexedPalette{file: fields[1], list: at, needs: fields[5:]})
		case fields[0] == "verb" && n > 0:
			v := indexedVerb{fields[1], at, fields[5:]}
			ix.verbs[v.name] = v
			ix.palettes[n-1].verbs = append(ix.palettes[n-1].verbs, v)
		default:
			return false
		}
	}
	return true
}

// registry loads the palettes with no other verbs than those that scripts
// name, or nothing when it cannot vouch for them.
func (ix *index) registry(scripts []*dsl.Script) *verbs.Registry {
	keep := map[string]bool{}
	known := true
	var want func(name string)
	want = func(name string) {
		v, ok := ix.verbs[name]
		if !ok {
			known = false
		}
		if !ok || keep[name] {
			return
		}
		keep[name] = true
		for _, needed := range v.needs {
			want(needed)
		}
	}
	for _, s := range scripts {
		for _, name := range verbsOf(s) {
			want(name)
		}
	}
	for i := range ix.palettes {
		for _, name := range ix.palettes[i].needs {
			want(name)
		}
	}
	if !known {
		return nil
	}
	var srcs []*dsl.Source
	for i := range ix.palettes {
		p := &ix.palettes[i]
		text, ok := ix.text(p.file)
		if !ok {
			return nil
		}
		if text, ok = p.without(text, keep); !ok {
			return nil
		}
		srcs = append(srcs, dsl.NewSource(p.file, text))
	}
	slices.SortFunc(srcs, func(a, b *dsl.Source) int { return strings.Compare(a.Name, b.Name) })
	reg, ds := verbs.LoadSources(srcs...)
	if ds.HasErrors() {
		return nil
	}
	return reg
}

func (ix *index) text(file string) (string, bool) {
	for _, f := range ix.files {
		if f.name == file {
			return f.text, true
		}
	}
	return "", false
}

// without leaves the lines of verbs that are not wanted empty, so that every
// other line keeps its number. A list without items is no list, so its key goes
// too.
func (p *indexedPalette) without(text string, keep map[string]bool) (string, bool) {
	var b strings.Builder
	b.Grow(len(text) / 4)
	done := 0
	drop := func(at span) bool {
		if at.start < done || at.end < at.start || at.end > len(text) || at.lines < 0 || at.lines > at.end-at.start {
			return false
		}
		b.WriteString(text[done:at.start])
		for range at.lines {
			b.WriteByte('\n')
		}
		done = at.end
		return true
	}
	if !slices.ContainsFunc(p.verbs, func(v indexedVerb) bool { return keep[v.name] }) && !drop(p.list) {
		return "", false
	}
	for _, v := range p.verbs {
		if !keep[v.name] && !drop(v.at) {
			return "", false
		}
	}
	b.WriteString(text[done:])
	return unsaid(b.String()), true
}

// unsaid leaves the lines empty that say the palette's texts in other languages: a
// check has nothing to do with them, and some are those of verbs that are left out.
func unsaid(text string) string {
	const key = "\nsays:\n"
	begins := strings.Index(text, key)
	if begins < 0 {
		return text
	}
	begins++
	end := begins + len(key) - 1
	for end < len(text) && (text[end] == ' ' || text[end] == '\n' || text[end] == '#' || text[end] == '\r') {
		n := strings.IndexByte(text[end:], '\n')
		if n < 0 {
			end = len(text)
			break
		}
		end += n + 1
	}
	return text[:begins] + strings.Repeat("\n", strings.Count(text[begins:end], "\n")) + text[end:]
}

// verbsOf are the verbs that a script names, those of nested calls included.
func verbsOf(s *dsl.Script) []string {
	var names []string
	dsl.Walk(s, func(n dsl.Node) bool {
		if n.Call != nil {
			names = append(names, n.Call.Verb)
		}
		return true
	})
	return names
}

// remember writes the index of palettes that loaded. That it cannot be written
// is nobody's concern.
func (ix *index) remember(reg *verbs.Registry) {
	var b strings.Builder
	for _, p := range reg.Palettes() {
		if !writeIndex(&b, p) {
			return
		}
	}
	dir := filepath.Dir(ix.place)
	if os.MkdirAll(dir, 0o700) != nil {
		return
	}
	forget(dir)
	tmp, err := os.CreateTemp(dir, ".new-*")
	if err != nil {
		return
	}
	parts := []string{ix.head(b.Len()), "\n", b.String()}
	for _, f := range ix.files {
		parts = append(parts, f.text)
	}
	_, err = tmp.WriteString(strings.Join(parts, ""))
	if closed := tmp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(tmp.Name(), ix.place)
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
	}
}

// forget keeps the folder small: an index costs nothing to make again.
func forget(dir string) {
	const most = 32
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < most {
		return
	}
	for _, e := range entries {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}

// writeIndex finds the lines of a palette's verbs. It knows the way palettes are
// written: `verbs:` on a line of its own, an item a verb, `verb:` its first key.
// One that is written in another way is not remembered.
func writeIndex(b *strings.Builder, p *verbs.Palette) bool {
	lines := strings.Split(p.Source.Text, "\n")
	file := filepath.Base(p.Source.Name)
	list := 0
	for i, line := range lines {
		text, _, _ := strings.Cut(line, "#")
		if strings.TrimRight(text, " \r") == "verbs:" {
			list = i + 1
		}
	}
	if (list == 0) != (len(p.Verbs) == 0) {
		return false
	}
	starts := make([]int, len(lines)+1) // where each line begins
	for i, line := range lines {
		starts[i+1] = min(starts[i]+len(line)+1, len(p.Source.Text))
	}
	lay := func(first, last int) string {
		return fmt.Sprintf("%d\t%d\t%d", starts[first-1], starts[last], last-first+1)
	}
	if list == 0 {
		fmt.Fprintf(b, "palette\t%s\t0\t0\t0", file)
	} else {
		fmt.Fprintf(b, "palette\t%s\t%s", file, lay(list, list))
	}
	if p.Conversation != nil {
		for _, name := range p.Conversation.Names() {
			b.WriteString("\t" + name)
		}
	}
	b.WriteByte('\n')
	indent, before := -1, list
	var firsts []int
	for _, v := range p.Verbs {
		at := p.Source.Position(v.Place.Range.Start).Line
		if v.Place.Source != p.Source || at <= before || at > len(lines) {
			return false
		}
		text := strings.TrimLeft(lines[at-1], " ")
		spaces := len(lines[at-1]) - len(text)
		if !strings.HasPrefix(text, "- verb:") || indent >= 0 && spaces != indent {
			return false
		}
		indent, before = spaces, at
		firsts = append(firsts, at)
	}
	for i, v := range p.Verbs {
		last := len(lines)
		if i+1 < len(firsts) {
			last = firsts[i+1] - 1
		} else {
			for n := firsts[i] + 1; n <= len(lines); n++ {
				text := strings.TrimLeft(lines[n-1], " ")
				if spaces := len(lines[n-1]) - len(text); text != "" && text[0] != '#' && text[0] != '\r' && spaces <= indent {
					last = n - 1
					break
				}
			}
		}
		fmt.Fprintf(b, "verb\t%s\t%s", v.Name, lay(firsts[i], last))
		if v.Deprecated != nil && v.Deprecated.ReplacedBy != "" {
			b.WriteString("\t" + v.Deprecated.ReplacedBy)
		}
		if v.Macro != nil {
			for _, name := range verbsOf(v.Macro.Script) {
				b.WriteString("\t" + name)
			}
		}
		for j := range v.Effects {
			if run := v.Effects[j].Run; run != nil {
				for _, name := range verbsOf(run.Script) {
					b.WriteString("\t" + name)
				}
			}
		}
		b.WriteByte('\n')
	}
	return true
}

// quickCheck reports whether scripts are known to have nothing wrong with them,
// without loading all of the palettes.
func (ix *index) quickCheck(scripts []*dsl.Script) bool {
	if ix == nil || !ix.read() {
		return false
	}
	reg := ix.registry(scripts)
	if reg == nil {
		return false
	}
	for _, s := range scripts {
		if _, ds := reg.Check(s, nil); len(ds) > 0 {
			return false
		}
	}
	return true
}
