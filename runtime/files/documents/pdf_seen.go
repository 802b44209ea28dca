package documents

import (
	"math"
	"strings"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// What a reader of a page sees: the part of it that is shown (ISO 32000-1, 14.11.2), the layers that
// are on (8.11), and the text that stands for what is drawn (14.9.4).

// A box is a rectangle of a page that is turned upright: left, bottom, right, top.
type box [4]float64

// everywhere is the box of a page that says nothing of its size.
var everywhere = box{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}

// boxOf reads a box of a page.
func (p *pdf) boxOf(o types.Object, turn matrix) box {
	b := p.numbers(o)
	if len(b) != 4 || b[0] == b[2] || b[1] == b[3] {
		return everywhere
	}
	x1, y1 := turn.apply(b[0], b[1])
	x2, y2 := turn.apply(b[2], b[3])
	return box{min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2)}
}

// and returns what two boxes share, or the first if they share nothing.
func (b box) and(c box) box {
	both := box{max(b[0], c[0]), max(b[1], c[1]), min(b[2], c[2]), min(b[3], c[3])}
	if both[0] >= both[2] || both[1] >= both[3] {
		return b
	}
	return both
}

// holds reports whether a point is in the box. A point on its edge is seen in half.
func (b box) holds(x, y float64) bool {
	const edge = 1
	return x >= b[0]-edge && x <= b[2]+edge && y >= b[1]-edge && y <= b[3]+edge
}

// layers notes which layers are off when the file is opened.
func (p *pdf) layers(o types.Object) {
	properties, ok := p.dict(o)
	if !ok {
		return
	}
	p.dark = map[types.IndirectRef]bool{}
	set := func(list types.Object, off bool) {
		groups, _ := p.get(list).(types.Array)
		for _, g := range groups {
			if ref, ok := g.(types.IndirectRef); ok {
				p.dark[ref] = off
			}
		}
	}
	first, _ := p.dict(properties["D"])
	if p.name(first["BaseState"]) == "OFF" {
		set(properties["OCGs"], true)
	}
	set(first["ON"], false)
	set(first["OFF"], true)
}

// off reports whether a layer is off, or the layers that what is drawn belongs to. An expression over
// layers (VE) is not read: its plain list beside it is.
func (p *pdf) off(o types.Object) bool {
	if ref, ok := o.(types.IndirectRef); ok && p.dark[ref] {
		return true
	}
	membership, ok := p.dict(o)
	if !ok || p.name(membership["Type"]) != "OCMD" {
		return false
	}
	groups, several := p.get(membership["OCGs"]).(types.Array)
	if !several {
		groups = types.Array{membership["OCGs"]}
	}
	on, off := 0, 0
	for _, g := range groups {
		if ref, ok := g.(types.IndirectRef); ok && p.dark[ref] {
			off++
		} else if ok {
			on++
		}
	}
	if on+off == 0 {
		return false
	}
	switch p.name(membership["P"]) {
	case "AllOn":
		return off > 0
	case "AnyOff":
		return off == 0
	case "AllOff":
		return on > 0
	}
	return on == 0
}

// A part is a part of a page that the structure of the document knows by its number.
type part struct{ page, id int }

// mostElements bounds how many elements of a structure are looked at.
const mostElements = 200_000

// structure notes which texts stand for parts of pages because an element of the structure says so: the
// first part that the element holds has its text, and those after it have none. It also notes which parts
// are cells of tables.
func (p *pdf) structure(o types.Object) {
	root, ok := p.dict(o)
	if !ok {
		return
	}
	p.told, p.cells = map[part]string{}, map[part]*tag{}
	p.roles, _ = p.dict(root["RoleMap"])
	left := mostElements
	var walk func(o types.Object, page int, text *string, table *tagged, cell *tag, deep int)
	walk = func(o types.Object, page int, text *string, table *tagged, cell *tag, deep int) {
		if left--; left < 0 || deep > p.limits.Depth {
			return
		}
		hold := func(id int) {
			if text != nil {
				p.told[part{page, id}], *text = *text, ""
			}
			if cell != nil {
				p.cells[part{page, id}] = cell
			}
		}
		switch of := p.get(o).(type) {
		case types.Integer:
			hold(int(of))
		case types.Array:
			for _, kid := range of {
				walk(kid, page, text, table, cell, deep+1)
			}
		case types.Dict:
			if ref, ok := of["Pg"].(types.IndirectRef); ok {
				page = int(ref.ObjectNumber)
			}
			if id, ok := p.number(of["MCID"]); ok {
				if of["Stm"] == nil { // a form numbers its own
					hold(int(id))
				}
				return
			}
			if own := p.get(of["ActualText"]); own != nil && text == nil {
				if s, err := model.Text(own); err == nil {
					text = &s
				}
			}
			table, cell = table.begin(p, of, cell)
			walk(of["K"], page, text, table, cell, deep+1)
		}
	}
	walk(root["K"], 0, nil, nil, nil, 0)
}

// A mark is a part of the drawing that begins at a glyph.
type mark struct {
	from    int
	text    string // what stands for it
	instead bool   // whether something does
	unseen  bool   // whether what surrounds it is
	cell    *tag   // that what surrounds it belongs to
}

// listOf returns the list of properties that the operands of a mark name.
func (d *drawing) listOf(args []any, resources types.Dict) types.Object {
	if len(args) < 2 {
		return nil
	}
	name, _ := args[1].(word)
	lists, _ := d.dict(resources["Properties"])
	return lists[string(name)]
}

// layerOff reports whether a mark begins what belongs to a layer that is off.
func (d *drawing) layerOff(args []any, resources types.Dict) bool {
	return len(args) > 0 && args[0] == any(word("OC")) && d.off(d.listOf(args, resources))
}

// actual returns the text that stands for what a mark holds, by its own properties or by the structure
// of the document, and the cell that it belongs to. Properties stand in place, taken apart by the lexer, or
// are named.
func (d *drawing) actual(args []any, resources types.Dict, depth int) (string, bool, *tag) {
	list, _ := d.dict(d.listOf(args, resources))
	text := d.get(list["ActualText"])
	id, numbered := d.number(list["MCID"])
	for i := 1; i+1 < len(args); i++ {
		switch v := args[i+1].(type) {
		case []byte:
			if args[i] == any(word("ActualText")) {
				text = types.NewHexLiteral(v)
			}
		case float64:
			if args[i] == any(word("MCID")) {
				id, numbered = v, true
			}
		}
	}
	var cell *tag
	if numbered && depth == 0 {
		cell = d.cells[part{d.page, int(id)}]
		if told, ok := d.told[part{d.page, int(id)}]; ok {
			return told, true, cell
		}
	}
	if text == nil {
		return "", false, cell
	}
	s, err := model.Text(text)
	return s, err == nil, cell
}

// instead puts the text of a mark in the place of its glyphs.
func (d *drawing) instead(m mark) {
	if !m.instead || m.from >= len(d.glyphs) {
		return
	}
	first, last := d.glyphs[m.from], d.glyphs[len(d.glyphs)-1]
	if math.Abs(last.y-first.y) < first.size/2 && math.Abs(first.dy) < first.size/2 {
		first.dx = last.x + last.dx - first.x
	}
	first.text = strings.ReplaceAll(m.text, "\u00ad", "")
	d.glyphs = append(d.glyphs[:m.from], first)
}
