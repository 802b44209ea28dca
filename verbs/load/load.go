// Package load reads palettes: YAML becomes a verbs.Registry, whole or not at all, and every mistake
// is reported at its place.
//
//	reg, diags := load.Dir(os.DirFS("palettes"))
//
// keys.txt says which keys a palette may have; one walker holds each mapping to it, the JSON Schema
// for editors is made of it, and so is the help. Expressions are checked against the types of what
// they name, and become programs of package verbs/expr.
package load

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/verbs"
)

// DefaultMaxFile is the greatest size of a palette file in bytes.
const DefaultMaxFile = 1 << 20

// An Option changes how palettes are loaded.
type Option func(*options)

type options struct {
	maxFile int
	with    []*dsl.Source
}

// MaxFile sets the greatest size of a palette file in bytes, instead of DefaultMaxFile.
func MaxFile(bytes int) Option { return func(o *options) { o.maxFile = bytes } }

// Beside adds a program's own palettes, from memory, to those of the directory. The directory
// loads as it would without them: its palettes do not see their names, and may declare code lists
// and schemas of the same names. A role, an entity or a domain of theirs is taken, as the store
// knows it by its name.
func Beside(srcs ...*dsl.Source) Option { return func(o *options) { o.with = append(o.with, srcs...) } }

// Dir reads the palettes at the top of a directory: every file whose name ends in .yaml or .yml,
// apart from hidden ones and from tests, NAME_test.yaml. Translations of a palette are in its
// Sidecar, NAME.de.yaml. They load whole or not at all: the Registry is nil if there is an error,
// and every mistake in every file is reported, once, in the order of the files. If a file cannot
// be read, only that is reported. Warnings may come with a Registry.
//
// Scripts are checked with the Registry's Check.
func Dir(dir fs.FS, opts ...Option) (*verbs.Registry, dsl.Diagnostics) {
	o := applied(opts)
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, dsl.Diagnostics{tell(dsl.Place{}, "unreadable-palette", "the directory", plainError(err))}
	}
	var srcs []*dsl.Source
	var unread dsl.Diagnostics
	for _, e := range entries { // ReadDir sorts them
		name := e.Name()
		if e.IsDir() || !isPalette(name) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() > int64(o.maxFile) {
			// The size alone is a reason not to read it.
			unread = append(unread, tell(dsl.Place{Source: dsl.NewSource(name, "")}, "palette-too-large", int(info.Size()), o.maxFile))
			continue
		}
		text, err := fs.ReadFile(dir, name)
		if err != nil {
			unread = append(unread, tell(dsl.Place{Source: dsl.NewSource(name, "")}, "unreadable-palette", name, plainError(err)))
			continue
		}
		srcs = append(srcs, dsl.NewSource(name, string(text)))
	}
	if len(unread) > 0 {
		return nil, unread // the others may use names that these files declare
	}
	if len(srcs) == 0 {
		return nil, dsl.Diagnostics{tell(dsl.Place{}, "no-palettes")}
	}
	return load(append(srcs, o.with...), o)
}

// Sources is Dir for texts in memory.
func Sources(srcs ...*dsl.Source) (*verbs.Registry, dsl.Diagnostics) {
	return load(srcs, applied(nil))
}

func applied(opts []Option) options {
	o := options{maxFile: DefaultMaxFile}
	for _, opt := range opts {
		opt(&o)
	}
	return o
}

func isPalette(name string) bool {
	base, ext := strings.TrimSuffix(name, path.Ext(name)), path.Ext(name)
	return (ext == ".yaml" || ext == ".yml") && base != "" && !strings.HasPrefix(name, ".") && !strings.HasSuffix(base, "_test")
}

// plainError returns a file system's error without the path and the operation, which the message
// names itself.
func plainError(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

func load(srcs []*dsl.Source, o options) (*verbs.Registry, dsl.Diagnostics) {
	return newLoader().load(srcs, o, false)
}

// load reads palettes. With always it makes a Registry even if there are errors, which may be
// used only to check scripts.
func (l *loader) load(srcs []*dsl.Source, o options, always bool) (*verbs.Registry, dsl.Diagnostics) {
	var sidecars []*doc
	for _, src := range srcs {
		_, language := sidecarName(src.Name)
		d := &doc{src: src}
		if language == "" || strings.TrimSpace(src.Text) != "" { // a translator may begin with an empty file
			if l.kept != nil {
				d = l.kept.doc(src, o.maxFile)
			} else {
				d = newDoc(src, o.maxFile)
			}
		}
		d.uses, d.beside, d.apart = l.uses, slices.Contains(o.with, src), o.with
		l.docs = append(l.docs, d)
		if language != "" {
			sidecars = append(sidecars, d)
		} else if d.root != nil {
			l.declare(d)
		} else {
			l.miss(d, false, mapping{})
		}
	}
	l.taken()
	l.sharesKnown()
	l.schemasOfCodes()
	if len(l.functions) > 0 {
		l.signatures()
	}
	each(l.entityNodes, l.makeFields)
	l.former()
	each(l.entityNodes, l.relate)
	each(l.entityNodes, l.visible)
	each(l.entityNodes, l.tellsOfHidden)
	for i := range l.entityNodes {
		if at := l.entityNodes[i].f.at("search"); at.value != nil {
			l.search(&l.entityNodes[i], at)
		}
	}
	each(l.entityNodes, l.progress)
	each(l.verbNodes, l.verb)
	for i := range l.verbNodes {
		l.settleDeprecation(&l.verbNodes[i])
		l.settleExclusions(&l.verbNodes[i])
	}
	for _, d := range sidecars {
		if d.root != nil {
			l.sidecar(d)
		}
	}
	each(l.conversations, l.conversation)
	each(l.pages, l.page)
	each(l.taskNodes, l.task)
	for _, e := range l.searched {
		l.ownerStays(e)
	}
	l.recursion()
	l.sessions()
	failed := l.diagnostics().HasErrors()
	if failed {
		if !l.macros() && !always {
			return nil, l.diagnostics()
		}
		l.fillIn()
	}
	all := verbs.Declarations{Palettes: l.palettes, Entities: l.entities, Codes: l.codes, Roles: l.roles, Schemas: l.schemas, Says: l.says, Digest: digestOf(srcs)}
	for _, n := range l.functions {
		all.Functions = append(all.Functions, n.fn)
	}
	r := verbs.New(all)
	for i := range l.verbNodes {
		// The calls of a macro can be checked only now.
		if l.uses != nil {
			l.usesOfScripts(r, &l.verbNodes[i])
		}
		if vn := &l.verbNodes[i]; vn.v.Macro != nil {
			_, diags := r.CheckMacro(vn.v)
			vn.d.relay(vn.f.at("script").value, diags)
		}
		for _, run := range l.verbNodes[i].runs {
			_, diags := r.CheckRun(l.verbNodes[i].v, run.macro)
			l.verbNodes[i].d.relay(run.at, diags)
		}
		l.onlyRead(r, &l.verbNodes[i])
		l.checkUndo(r, &l.verbNodes[i])
	}
	for _, n := range l.single {
		_, diags := r.Check(n.script, nil)
		n.d.relay(n.at, slices.DeleteFunc(diags, func(d dsl.Diagnostic) bool { return d.Code != verbs.CodeDeprecated }))
	}
	diags := l.diagnostics()
	if (failed || diags.HasErrors()) && !always {
		return nil, diags
	}
	return r, diags
}

// each calls fn with each of several nodes.
func each[N any](nodes []N, fn func(*N)) {
	for i := range nodes {
		fn(&nodes[i])
	}
}

func (l *loader) macros() bool {
	return slices.ContainsFunc(l.verbNodes, func(vn verbNode) bool { return vn.v.Macro != nil || len(vn.runs) > 0 || vn.undone != nil })
}

// fillIn completes what errors left undefined, so that scripts can be checked although nothing
// will load: whatever is not known accepts everything.
func (l *loader) fillIn() {
	for _, e := range l.entities {
		for i := range e.Fields {
			if e.Fields[i].Type == nil {
				e.Fields[i].Type = plainTypes[verbs.AnyType]
			}
		}
	}
	for i := range l.verbNodes {
		v := l.verbNodes[i].v
		for j := range v.Params {
			if v.Params[j].Type == nil {
				v.Params[j].Type = plainTypes[verbs.AnyType]
			}
		}
		if v.Read != nil && v.Read.Entity == nil {
			v.Read = nil
		}
		if v.Deprecated != nil && l.verbNamed[v.Deprecated.ReplacedBy] == nil {
			v.Deprecated = nil
		}
	}
}

// diagnostics collects the diagnostics of all files, in the order of the text. An unknown name
// whose declaration was not read is not reported as an error of its own, unless it looks like a
// known name.
func (l *loader) diagnostics() dsl.Diagnostics {
	follows := func(d dsl.Diagnostic) bool {
		return l.lost[d.Code] && (len(d.Fixes) == 0 || l.nameless && d.Code == "unknown-verb")
	}
	// If there is any error, at least one is reported.
	told := slices.ContainsFunc(l.docs, func(d *doc) bool {
		return slices.ContainsFunc(d.diags, func(d dsl.Diagnostic) bool { return d.Severity == dsl.Error && !follows(d) })
	})
	var all dsl.Diagnostics
	for _, d := range l.docs {
		if told {
			d.diags = slices.DeleteFunc(d.diags, follows)
		}
		slices.SortStableFunc(d.diags, func(a, b dsl.Diagnostic) int {
			return cmp.Compare(a.Place.Range.Start, b.Place.Range.Start)
		})
		all = append(all, d.diags...)
		if d.more > 0 {
			all = append(all, tell(d.at(int32(len(d.src.Text)), 0), "too-many-mistakes", d.more))
		}
	}
	return all
}

// digestOf returns a digest of texts with their names; moving text from one file to another
// changes it.
func digestOf(srcs []*dsl.Source) string {
	h := sha256.New()
	buf := make([]byte, 0, 8<<10) // avoids copying whole texts
	part := func(s string) {
		h.Write(binary.BigEndian.AppendUint64(buf, uint64(len(s))))
		for s != "" {
			n := min(len(s), cap(buf))
			h.Write(append(buf, s[:n]...))
			s = s[n:]
		}
	}
	for _, s := range srcs {
		part(s.Name)
		part(s.Text)
	}
	return hex.EncodeToString(h.Sum(nil))
}
