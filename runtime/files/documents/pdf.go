package documents

import (
	"bytes"
	"context"
	"errors"
	"math"
	"regexp"
	"strings"
	"sync"

	"github.com/pdfcpu/pdfcpu/pkg/filter"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// A pdf is a PDF that is being read. The library reads, repairs and decrypts its objects; we compute
// the text of a page, and its positions.
type pdf struct {
	*extractor
	table *model.XRefTable
	fonts map[types.IndirectRef]*font
	forms int                        // how many were drawn, on all pages
	dark  map[types.IndirectRef]bool // the layers that are off
	told  map[part]string            // what the structure says in place of what is drawn
	cells map[part]*tag              // which cells of tables it declares
	roles types.Dict                 // the standard names of the names of its elements
}

// lockedInTrailer matches the description of an encryption that stands in the trailer itself.
var lockedInTrailer = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/Encrypt\s*<<`) })

// noSettings keeps the library from making a folder of settings.
var noSettings = sync.OnceFunc(func() { model.ConfigPath = "disable" })

// mostForms is the greatest number of forms that are drawn, however they call one another.
const mostForms = 100_000

// pdf reads a PDF page by page.
func (x *extractor) pdf(data []byte) error {
	noSettings()
	conf := model.NewDefaultConfiguration()
	conf.ValidationMode, conf.Offline = model.ValidationRelaxed, true
	conf.Limits.MaxStreamBytes, conf.Limits.MaxDecodeBytes = x.limits.Unpacked, x.limits.Unpacked
	conf.Limits.MaxObjectCount, conf.Limits.MaxXRefEntries = 2_000_000, 2_000_000
	conf.Limits.MaxRecursionDepth = x.limits.Depth
	ctx, err := pdfcpu.ReadWithContext(context.Background(), bytes.NewReader(data), conf)
	if err != nil {
		return pdfFailure(err)
	}
	// The library knows encryption that its trailer refers to, and takes no notice of one written in it.
	if ctx.Encrypt == nil && lockedInTrailer().Match(data) {
		return &Failure{Reason: Encrypted}
	}
	p := &pdf{extractor: x, table: ctx.XRefTable, fonts: make(map[types.IndirectRef]*font)}
	p.properties()
	_ = ctx.EnsurePageCount() // as the file says: it is for telling how far we are
	root, err := p.table.Catalog()
	if err != nil || root == nil {
		return fail(Damaged, "it has no catalogue")
	}
	p.layers(root["OCProperties"])
	p.structure(root["StructTreeRoot"])
	before, scans := x.pages, []int(nil)
	err = p.tree(root["Pages"], nil, map[types.IndirectRef]bool{}, func(page types.Dict, object int) error {
		if err := x.page(); err != nil {
			return err
		}
		number := x.pages - before
		if err := x.far(number, max(number, ctx.PageCount)); err != nil {
			return err
		}
		glyphs, pictures, err := p.glyphs(page, object)
		if err != nil {
			return err
		}
		if len(glyphs) == 0 && pictures {
			scans = append(scans, number)
		}
		return x.layOut(number, glyphs)
	})
	if err != nil {
		return err
	}
	pages := x.pages - before
	if x.inside == "" {
		x.doc.Pages, x.doc.Scans = pages, scans
	}
	switch {
	case pages == 0:
		return fail(Damaged, "it has no pages")
	case len(scans) == pages:
		return &Failure{Reason: Scan}
	}
	return nil
}

// pdfFailure finds the reason for an error of the library.
func pdfFailure(err error) error {
	for reason, causes := range map[Reason][]error{
		Encrypted: {pdfcpu.ErrWrongPassword, pdfcpu.ErrEncrypted, pdfcpu.ErrOwnerPasswordRequired},
		Loop:      {model.ErrMaxRecursionDepthExceeded, model.ErrPageTreeCycle},
		TooLarge:  {filter.ErrDecodeLimitExceeded},
	} {
		for _, cause := range causes {
			if errors.Is(err, cause) {
				return &Failure{Reason: reason}
			}
		}
	}
	if said := err.Error(); strings.Contains(said, "encryption") || strings.Contains(said, "crypt") {
		return fail(Encrypted, "in a way that is not known")
	} else if strings.Contains(said, "limit") {
		return &Failure{Reason: TooLarge}
	}
	return fail(Damaged, "its objects cannot be found")
}

// inherited are the entries that a page inherits from its groups.
var inherited = []string{"Resources", "Rotate", "MediaBox", "CropBox"}

// tree calls fn for each page below a node, with the inherited entries filled in.
func (p *pdf) tree(node types.Object, from types.Dict, above map[types.IndirectRef]bool, fn func(page types.Dict, object int) error) error {
	ref, ok := node.(types.IndirectRef)
	if ok {
		if above[ref] {
			return fail(Loop, "a group of pages contains itself")
		}
		if len(above) > p.limits.Depth {
			return fail(Loop, "groups of pages are nested more than %d deep", p.limits.Depth)
		}
		above[ref] = true
		defer delete(above, ref)
	}
	d, ok := p.dict(node)
	if !ok {
		return nil
	}
	own := types.Dict{}
	for k, v := range d {
		own[k] = v
	}
	for _, key := range inherited {
		if own[key] == nil && from[key] != nil {
			own[key] = from[key]
		}
	}
	kids, ok := p.get(d["Kids"]).(types.Array)
	if !ok {
		return fn(own, int(ref.ObjectNumber))
	}
	for _, kid := range kids {
		if err := p.tree(kid, own, above, fn); err != nil {
			return err
		}
	}
	return nil
}

// get follows a reference; it returns nil if the reference leads nowhere.
func (p *pdf) get(o types.Object) types.Object {
	for range 8 {
		if _, ok := o.(types.IndirectRef); !ok {
			return o
		}
		found, err := p.table.Dereference(o)
		if err != nil {
			return nil
		}
		o = found
	}
	return nil
}

func (p *pdf) dict(o types.Object) (types.Dict, bool) {
	switch o := p.get(o).(type) {
	case types.Dict:
		return o, true
	case types.StreamDict:
		return o.Dict, true
	}
	return nil, false
}

func (p *pdf) name(o types.Object) string {
	n, _ := p.get(o).(types.Name)
	return string(n)
}

func (p *pdf) number(o types.Object) (float64, bool) {
	switch n := p.get(o).(type) {
	case types.Integer:
		return float64(n), true
	case types.Float:
		return float64(n), true
	}
	return 0, false
}

func (p *pdf) numbers(o types.Object) (list []float64) {
	a, _ := p.get(o).(types.Array)
	for _, v := range a {
		n, _ := p.number(v)
		list = append(list, n)
	}
	return list
}

// stream decodes a stream. From a damaged stream it returns the part before the damage, or nothing.
func (p *pdf) stream(o types.Object) ([]byte, error) {
	s, ok := p.get(o).(types.StreamDict)
	if !ok {
		return nil, nil
	}
	known := s.Content != nil
	err := s.DecodeWithLimit(p.limits.Unpacked - p.unpacked)
	if errors.Is(err, filter.ErrDecodeLimitExceeded) {
		return nil, fail(TooLarge, "it unpacks to more than %d bytes", p.limits.Unpacked)
	}
	if !known {
		if p.unpacked += int64(len(s.Content)); p.unpacked > p.limits.Unpacked {
			return nil, fail(TooLarge, "it unpacks to more than %d bytes", p.limits.Unpacked)
		}
	}
	return s.Content, nil
}

// properties reads who wrote the file, and when.
func (p *pdf) properties() {
	if p.inside != "" || p.table.Info == nil {
		return
	}
	info, _ := p.dict(*p.table.Info)
	said := func(key string) string {
		s, err := model.Text(p.get(info[key]))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(s)
	}
	p.doc.Title, p.doc.Author = said("Title"), said("Author")
	if t, ok := types.DateTime(said("CreationDate"), true); ok {
		p.doc.Created = t
	}
	if t, ok := types.DateTime(said("ModDate"), true); ok {
		p.doc.Modified = t
	}
}

// glyphs returns the letters of a page in the order of drawing, and whether there are pictures.
func (p *pdf) glyphs(page types.Dict, object int) ([]glyph, bool, error) {
	var content []byte
	parts, ok := p.get(page["Contents"]).(types.Array)
	if !ok {
		parts = types.Array{page["Contents"]}
	}
	for _, part := range parts {
		data, err := p.stream(part)
		if err != nil {
			return nil, false, err
		}
		content = append(append(content, data...), '\n')
	}
	resources, _ := p.dict(page["Resources"])
	turn, _ := p.number(page["Rotate"])
	upright := state{ctm: rotation(int(turn)), scale: 1}
	d := &drawing{pdf: p, page: object, seen: p.boxOf(page["MediaBox"], upright.ctm).and(p.boxOf(page["CropBox"], upright.ctm))}
	err := d.draw(content, resources, upright, 0)
	notes, _ := p.get(page["Annots"]).(types.Array)
	for _, o := range notes {
		if err == nil {
			err = d.note(o, upright)
		}
	}
	return d.glyphs, d.pictures, err
}

// note draws an annotation: a filled-in form field, or a remark.
func (d *drawing) note(o types.Object, s state) error {
	note, _ := d.dict(o)
	flags, _ := d.number(note["F"])
	s.unseen = d.off(note["OC"])
	box := d.numbers(note["Rect"])
	if kind := d.name(note["Subtype"]); kind == "Popup" || kind == "Link" || int(flags)&(2|32) != 0 || len(box) != 4 {
		return nil
	}
	x, y := min(box[0], box[2]), min(box[1], box[3])
	looks, _ := d.dict(note["AP"])
	form := looks["N"]
	if _, drawn := d.get(form).(types.StreamDict); !drawn {
		states, _ := d.dict(form)
		form = states[d.name(note["AS"])]
	}
	if drawn, ok := d.get(form).(types.StreamDict); ok {
		m := matrix{1, 0, 0, 1, 0, 0}
		if own := d.numbers(drawn.Dict["Matrix"]); len(own) == 6 {
			m = matrix(own)
		}
		if b := d.numbers(drawn.Dict["BBox"]); len(b) == 4 {
			x1, y1 := m.apply(b[0], b[1])
			x2, y2 := m.apply(b[2], b[3])
			s.ctm = matrix{1, 0, 0, 1, x - min(x1, x2), y - min(y1, y2)}.times(s.ctm)
		}
		return d.form(form, nil, s, 0)
	}
	// Its appearance is up to the viewer: the text is placed in its box.
	for _, key := range []string{"V", "Contents"} {
		if text, err := model.Text(d.get(note[key])); err == nil && strings.TrimSpace(text) != "" {
			size := min(10, math.Abs(box[3]-box[1]))
			x1, y1 := s.ctm.apply(x, y)
			x2, y2 := s.ctm.apply(max(box[0], box[2]), y)
			d.glyphs = append(d.glyphs, glyph{strings.Join(strings.Fields(text), " "), x1, y1, x2 - x1, y2 - y1, size, s.unseen || !d.seen.holds((x1+x2)/2, (y1+y2)/2), nil})
			return nil
		}
	}
	return nil
}
