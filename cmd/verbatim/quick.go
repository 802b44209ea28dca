package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
)

// Loading a thousand verbs takes many times as long as checking a call, and an
// editor or a hook checks often. So check remembers, for palettes that loaded
// without a mistake, on which lines each verb stands, and the next time reads
// only the verbs that the script names, the other lines left empty. The memory
// is good for these bytes and this program alone.
//
// It may say only one thing: that a script has nothing wrong with it. Anything
// else is left to the palettes as a whole, which know all the words that may
// have been meant.

// quickFormat is the first line of an index; another format gets another.
const quickFormat = "verbatim palette index 1"

// An index says where the verbs of a directory of palettes stand.
type index struct {
	key   string // of everything the index depends on
	place string // the file it is kept in
	files []indexed
	lists map[string]int // of each palette: the line on which its verbs begin, 0 when it has none
	verbs map[string]indexedVerb
}

type indexed struct{ name, text string }

type indexedVerb struct {
	file        string
	first, last int      // lines, from one
	needs       []string // verbs that it speaks of
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
	ix := &index{}
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\n%d %d\n", quickFormat, program.Size(), program.ModTime().UnixNano())
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); e.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil
		}
		fmt.Fprintf(sum, "%q %d\n", e.Name(), len(text))
		sum.Write(text)
		ix.files = append(ix.files, indexed{e.Name(), string(text)})
	}
	ix.key = hex.EncodeToString(sum.Sum(nil))
	ix.place = filepath.Join(cache, "verbatim", ix.key[:32])
	return ix
}

// read fills the index from what was remembered.
func (ix *index) read() bool {
	text, err := os.ReadFile(ix.place)
	if err != nil {
		return false
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	if head != quickFormat+" "+ix.key {
		return false
	}
	ix.lists = map[string]int{}
	ix.verbs = make(map[string]indexedVerb, strings.Count(rest, "\n"))
	for line := range strings.Lines(rest) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		switch {
		case len(fields) == 3 && fields[0] == "palette":
			ix.lists[fields[1]], err = strconv.Atoi(fields[2])
		case len(fields) >= 5 && fields[0] == "verb":
			v := indexedVerb{file: fields[2], needs: fields[5:]}
			if v.first, err = strconv.Atoi(fields[3]); err == nil {
				v.last, err = strconv.Atoi(fields[4])
			}
			ix.verbs[fields[1]] = v
		default:
			return false
		}
		if err != nil {
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
	if !known {
		return nil
	}
	// Line by line, what is not wanted is left empty, so that every line keeps
	// its number.
	drop := map[string]map[int]int{} // of a file: first line to last
	kept := map[string]bool{}
	for name, v := range ix.verbs {
		if keep[name] {
			kept[v.file] = true
			continue
		}
		if drop[v.file] == nil {
			drop[v.file] = map[int]int{}
		}
		drop[v.file][v.first] = v.last
	}
	var srcs []*dsl.Source
	for _, f := range ix.files {
		list, ok := ix.lists[f.name]
		if !ok {
			continue // no palette: a test, or hidden
		}
		if drop[f.name] != nil && !kept[f.name] {
			drop[f.name][list] = list // a list without items is none
		}
		var b strings.Builder
		until, number := 0, 0
		for line := range strings.Lines(f.text) {
			number++
			if last, ok := drop[f.name][number]; ok {
				until = last
			}
			if number <= until {
				b.WriteByte('\n')
				continue
			}
			b.WriteString(line)
		}
		srcs = append(srcs, dsl.NewSource(f.name, b.String()))
	}
	reg, ds := verbs.LoadSources(srcs...)
	if ds.HasErrors() {
		return nil
	}
	return reg
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
	fmt.Fprintf(&b, "%s %s\n", quickFormat, ix.key)
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
	_, err = tmp.WriteString(b.String())
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
	fmt.Fprintf(b, "palette\t%s\t%d\n", file, list)
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
		fmt.Fprintf(b, "verb\t%s\t%s\t%d\t%d", v.Name, file, firsts[i], last)
		if v.Deprecated != nil && v.Deprecated.ReplacedBy != "" {
			b.WriteString("\t" + v.Deprecated.ReplacedBy)
		}
		if v.Macro != nil {
			for _, name := range verbsOf(v.Macro.Script) {
				b.WriteString("\t" + name)
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
