package mail

import (
	"cmp"
	"image/color"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/image/colornames"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A look is the visual style of an element, as far as it decides whether a reader sees its text.
// Inner elements inherit it.
type look struct {
	gone   bool // the element and all that it contains is invisible, whatever styles that has
	veiled bool // visibility: hidden, which an inner element may undo
	size   float64
	ink    paint
	ground paint
}

// A paint is a colour, possibly unknown.
type paint struct {
	color.NRGBA
	unknown bool // a picture, or a colour that the reader's program computes
	assumed bool // no style states it: programs use other colours in dark mode
}

// plainLook is the look of a page without styles.
var plainLook = look{size: 16, ink: paint{NRGBA: color.NRGBA{A: 255}, assumed: true}, ground: paint{NRGBA: color.NRGBA{R: 255, G: 255, B: 255, A: 255}, assumed: true}}

// A visibility says whether text is seen.
type visibility int

const (
	seen visibility = iota
	unsure
	unseen
)

const (
	tiny    = 2   // letters and boxes of so many pixels show nothing
	nearly  = 24  // of 255: two colours that differ by no more look the same
	outside = 300 // an element that is moved by so many pixels is off the page
)

// visible reports whether a reader sees the text of an element.
func (l look) visible() visibility {
	switch {
	case l.gone, l.veiled, l.size <= tiny, l.ink.A == 0 && !l.ink.unknown:
		return unseen
	case l.ground.unknown || !l.ink.unknown && !alike(l.ink.NRGBA, l.ground.NRGBA):
		return seen
	case l.ink.unknown || l.ink.assumed || l.ground.assumed:
		return unsure
	}
	return unseen
}

// alike reports whether letters of a colour, which may let the ground through, do not stand
// out from it.
func alike(ink, ground color.NRGBA) bool {
	far := func(a, b uint8) int { return (int(a) - int(b)) * int(ink.A) / 255 }
	return max(far(ink.R, ground.R), far(ink.G, ground.G), far(ink.B, ground.B)) < nearly && min(far(ink.R, ground.R), far(ink.G, ground.G), far(ink.B, ground.B)) > -nearly
}

// within returns the look of an element inside another.
func (l look) within(n *html.Node, d declared) look {
	if d["display"] == "none" || d["mso-hide"] == "all" || d["content-visibility"] == "hidden" || zero(d["opacity"]) || zero(d["zoom"]) || zero(d["max-height"]) ||
		fades.MatchString(d["filter"]) || d.boxed() || d.moved() {
		l.gone = true
	}
	switch d["visibility"] {
	case "hidden", "collapse":
		l.veiled = true
	case "visible", "initial":
		l.veiled = false
	}
	size := cmp.Or(d["font-size"], sizeOf(d["font"]))
	if px, ok := length(size, l.size); ok {
		l.size = px
	} else if slices.Contains(usual, size) {
		l.size = plainLook.size
	}
	var ink string
	switch n.DataAtom {
	case atom.Font:
		ink = attribute(n, "color")
	case atom.Body:
		ink = attribute(n, "text")
	}
	if p, ok := painted(cmp.Or(d["-webkit-text-fill-color"], d["color"], hashed(ink))); ok {
		l.ink = p
	}
	for _, ground := range [...]string{hashed(attribute(n, "bgcolor")), d["background"], d["background-color"]} {
		if p, ok := painted(ground); ok && (p.unknown || p.A > 128) {
			l.ground = p
		} else if strings.Contains(ground, "url(") || strings.Contains(ground, "gradient") {
			l.ground = paint{unknown: true}
		}
	}
	return l
}

// usual are words for legible font sizes.
var usual = []string{"xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large", "initial"}

// sizeOf returns the size in a font property. A number alone is a weight, except 0.
func sizeOf(font string) (size string) {
	for word := range strings.FieldsSeq(font) {
		word, _, _ = strings.Cut(word, "/")
		m := number.FindStringSubmatch(word)
		if slices.Contains(usual, word) || m != nil && (m[2] != "" || zero(word)) {
			size = word
		}
	}
	return size
}

// hashed returns the colour in an attribute, where the # may be missing.
func hashed(value string) string {
	value = strings.ToLower(strings.TrimSpace(value))
	if _, named := colornames.Map[value]; !named && hexes.MatchString("#"+value) {
		return "#" + value
	}
	return value
}

var (
	fades  = regexp.MustCompile(`opacity\(\s*0*\.?0*%?\s*\)`)
	shrink = regexp.MustCompile(`scale(?:x|y|3d)?\(\s*0*\.?0*\s*[,)]|matrix\(\s*0*\.?0*\s*,`)
	shift  = regexp.MustCompile(`-?\d*\.?\d+(?:[a-z]+|%)?`)
	number = regexp.MustCompile(`^([-+]?\d*\.?\d+(?:e[-+]?\d+)?)([a-z]*|%)$`)
)

// boxed reports whether an element is cut to a box in which nothing shows.
func (d declared) boxed() bool {
	for _, side := range [...]string{"height", "width", "max-width"} {
		if px, ok := length(d[side], 0); ok && px <= tiny && cuts(d["overflow"]+d["overflow-x"]+d["overflow-y"]) {
			return true
		}
	}
	if clip := d["clip"]; strings.HasPrefix(clip, "rect(") && !slices.ContainsFunc(shift.FindAllString(clip, -1), func(s string) bool { px, _ := length(s, 0); return px > tiny }) {
		return !strings.Contains(clip, "auto")
	}
	shape, inner, _ := strings.Cut(d["clip-path"], "(")
	first, ok := length(shift.FindString(inner), 100)
	return ok && (shape == "circle" && first == 0 || shape == "inset" && first >= 50) // half from each side
}

func cuts(overflow string) bool { return overflow != "" && !strings.Contains(overflow, "visible") }

// moved reports whether an element stands outside of the page.
func (d declared) moved() bool {
	for _, name := range [...]string{"left", "top", "right", "bottom", "text-indent", "margin", "margin-left", "margin-top", "transform", "translate"} {
		value := d[name]
		if name == "transform" && shrink.MatchString(value) {
			return true
		}
		if name == "transform" && !strings.Contains(value, "translate") {
			continue
		}
		for _, part := range shift.FindAllString(value, -1) {
			px, ok := length(part, plainLook.size)
			if percent, is := strings.CutPrefix(part, "-"); ok && (px <= -outside || px >= 10*outside || is && strings.HasSuffix(part, "%") && len(percent) >= len("100%")) {
				return true // a percentage is of its own width or of the page: off the page either way
			}
		}
	}
	return d["scale"] != "" && zero(d["scale"])
}

func zero(value string) bool {
	m := number.FindStringSubmatch(value)
	if m == nil {
		return false
	}
	f, err := strconv.ParseFloat(m[1], 64)
	if m[2] == "%" {
		f /= 100
	}
	return err == nil && f <= 0.05
}

var units = map[string]float64{"": 1, "px": 1, "pt": 4. / 3, "pc": 16, "in": 96, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "rem": 16, "ch": 8, "vw": 8, "vh": 6, "vmin": 6, "vmax": 8}

// length returns a length in pixels. Font-relative lengths refer to the parent's font size.
func length(value string, parent float64) (px float64, ok bool) {
	m := number.FindStringSubmatch(value)
	if m == nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(m[1], 64)
	switch m[2] {
	case "em":
		return f * parent, err == nil
	case "ex":
		return f * parent / 2, err == nil
	case "%":
		return f * parent / 100, err == nil
	}
	unit, known := units[m[2]]
	return f * unit, err == nil && known
}

var (
	hexes = regexp.MustCompile(`^#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$`)
	mixes = regexp.MustCompile(`\b(rgb|hsl)a?\(([^()]*)\)`)
	falls = regexp.MustCompile(`^var\(\s*--[^,()]*,(.*)\)$`)
)

// painted reads a colour. Of a background, it may stand among other words.
func painted(value string) (p paint, ok bool) {
	if m := falls.FindStringSubmatch(value); m != nil {
		return painted(strings.TrimSpace(m[1]))
	}
	value = strings.TrimSpace(value)
	if c, ok := colornames.Map[value]; ok {
		return paint{NRGBA: color.NRGBA{c.R, c.G, c.B, 255}}, true
	}
	switch m := mixes.FindStringSubmatch(value); {
	case value == "transparent":
		return paint{}, true
	case m != nil:
		return blended(m[1], m[2])
	case strings.HasSuffix(value, ")") && strings.IndexByte(value, '(') > 0 && !strings.HasPrefix(value, "url("):
		return paint{unknown: true}, true
	}
	if m := hexes.FindStringSubmatch(value); m != nil {
		digits := m[1]
		if len(digits) < 6 {
			var long strings.Builder
			for _, r := range digits {
				long.WriteString(strings.Repeat(string(r), 2))
			}
			digits = long.String()
		}
		if len(digits) == 6 {
			digits += "ff"
		}
		n, err := strconv.ParseUint(digits, 16, 32)
		return paint{NRGBA: color.NRGBA{uint8(n >> 24), uint8(n >> 16), uint8(n >> 8), uint8(n)}}, err == nil
	}
	for word := range strings.FieldsSeq(value) {
		if word != value {
			if p, ok := painted(word); ok {
				return p, true
			}
		}
	}
	return paint{}, false
}

// blended reads the parts of rgb() and hsl().
func blended(how, parts string) (paint, bool) {
	all := strings.FieldsFunc(parts, func(r rune) bool { return r == ',' || r == '/' || r == ' ' })
	if len(all) < 3 {
		return paint{unknown: true}, true
	}
	var f [4]float64
	f[3] = 1
	for i, s := range all[:min(4, len(all))] {
		v, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSuffix(s, "%"), "deg"), 64)
		if err != nil {
			return paint{unknown: true}, true
		}
		switch percent := strings.HasSuffix(s, "%"); {
		case percent && how == "rgb" && i < 3:
			v *= 2.55
		case percent:
			v /= 100
		}
		f[i] = v
	}
	byteOf := func(v float64) uint8 { return uint8(max(0, min(255, v+.5))) }
	if how == "rgb" {
		return paint{NRGBA: color.NRGBA{byteOf(f[0]), byteOf(f[1]), byteOf(f[2]), byteOf(f[3] * 255)}}, true
	}
	hue := f[0] - 360*float64(int(f[0]/360))
	if hue < 0 {
		hue += 360
	}
	channel := func(n float64) uint8 {
		k := n + hue/30
		if k >= 12 {
			k -= 12
		}
		return byteOf(255 * (f[2] - f[1]*min(f[2], 1-f[2])*max(-1, min(k-3, 9-k, 1))))
	}
	return paint{NRGBA: color.NRGBA{channel(0), channel(8), channel(4), byteOf(f[3] * 255)}}, true
}

// declared are properties by name, in lower case.
type declared map[string]string

// A declaration is a declaration of a style sheet or an attribute.
type declaration struct {
	name, value string
	weight      int // the greater weight wins, and with equal weights the later declaration
	place       int
}

const (
	weighsImportant = 1 << 30
	weighsInline    = 1 << 29
)

var (
	remarks = regexp.MustCompile(`(?s)/\*.*?(?:\*/|$)|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?`)
	escapes = regexp.MustCompile(`\\(?:([0-9a-fA-F]{1,6})\s?|([^\n]))`)
)

// bare returns CSS without comments and quoted texts, with its escapes resolved, in lower case.
func bare(css string) string {
	css = remarks.ReplaceAllStringFunc(css, func(s string) string {
		if s[0] == '/' {
			return " "
		}
		return "x" // a quoted text is no name or value that matters here
	})
	css = escapes.ReplaceAllStringFunc(css, func(s string) string {
		if n, err := strconv.ParseUint(strings.TrimSpace(s[1:]), 16, 21); err == nil {
			return inert(string(rune(n)))
		}
		return inert(s[1:])
	})
	return strings.ToLower(css)
}

// inert replaces the characters of a name that have a meaning in CSS.
func inert(name string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune(" .#:;,>+~*[](){}=\"'/\\@!%&", r) {
			return 0xE000 + r
		}
		return r
	}, name)
}

// declarations reads the declarations of a block.
func declarations(block string, weight int) (all []declaration) {
	for d := range strings.SplitSeq(block, ";") {
		name, value, ok := strings.Cut(d, ":")
		value, important, _ := strings.Cut(value, "!")
		if name = strings.TrimSpace(name); !ok || name == "" {
			continue
		}
		w := weight
		if strings.TrimSpace(important) == "important" {
			w += weighsImportant
		}
		all = append(all, declaration{name: name, value: strings.TrimSpace(value), weight: w})
	}
	return all
}

// settled returns the declarations that win.
func settled(all []declaration) declared {
	slices.SortStableFunc(all, func(a, b declaration) int { return cmp.Or(a.weight-b.weight, a.place-b.place) })
	d := declared{}
	for _, one := range all {
		d[one.name] = one.value
		switch one.name {
		case "font": // resets the size, as the size resets that of the font
			delete(d, "font-size")
		case "background":
			delete(d, "background-color")
		}
	}
	return d
}

// A styling is a rule of a style sheet within a mail. It applies to the elements that its selector names.
type styling struct {
	tag     string
	names   []string // "#id" and ".class"
	perhaps bool     // it depends on more than the element, or on the reader's program
	all     []declaration
}

// mostRules is the greatest number of rules of a page that are read.
const mostRules = 2000

// matches reports whether a rule applies to an element.
func (r *styling) matches(n *html.Node, names map[string]bool) bool {
	return (r.tag == "" || r.tag == n.Data) && !slices.ContainsFunc(r.names, func(name string) bool { return !names[name] })
}

// rules reads a style sheet. The second result is false if it has too many rules.
func rules(css string, perhaps bool) ([]styling, bool) {
	if len(css) > mostSheets {
		return nil, false
	}
	return block(strings.NewReplacer("<!--", "", "-->", "").Replace(bare(css)), perhaps, 0, nil)
}

func block(css string, perhaps bool, depth int, all []styling) ([]styling, bool) {
	if depth > mostDepth {
		return all, false
	}
	for len(css) > 0 {
		open := strings.IndexByte(css, '{')
		if open < 0 {
			break
		}
		head := css[:open]
		if end := strings.LastIndexByte(head, ';'); end >= 0 {
			head = head[end+1:] // @import and @charset
		}
		head = strings.TrimSpace(within.ReplaceAllString(head, ":x"))
		end, deep := len(css), 0
		for i := open; i < len(css); i++ {
			if css[i] == '{' {
				deep++
			} else if css[i] == '}' {
				if deep--; deep == 0 {
					end = i
					break
				}
			}
		}
		inner := css[open+1 : end]
		css = css[min(end+1, len(css)):]
		if strings.HasPrefix(head, "@") {
			kind, condition, _ := strings.Cut(head, " ") // the part in parentheses is a condition
			condition = strings.TrimSpace(condition)
			ok := true
			switch {
			case kind == "@media" && condition == "print":
			case kind == "@media" || kind == "@supports" || kind == "@layer" || kind == "@container":
				all, ok = block(inner, perhaps || condition != "screen" && condition != "all", depth+1, all)
			}
			if !ok {
				return all, false
			}
			continue
		}
		if strings.Contains(inner, "{") { // rules within a rule, which few programs know
			inner, perhaps = nested.ReplaceAllString(inner, ";"), true
		}
		for selector := range strings.SplitSeq(head, ",") {
			if len(all) >= mostRules {
				return all, false
			}
			if selector = strings.TrimSpace(selector); !strings.Contains(selector, "::") { // part of an element
				all = append(all, selected(selector, inner, perhaps))
			}
		}
	}
	return all, true
}

var (
	within    = regexp.MustCompile(`\[[^\]]*\]|\([^()]*\)`)
	nested    = regexp.MustCompile(`[^;{}]*\{|\}`)
	combined  = regexp.MustCompile(`[\s>+~]`)
	compound  = regexp.MustCompile(`^([a-z][a-z0-9-]*|\*)?((?:[.#][^.#:\[\s]+)*)`)
	namesOfIt = regexp.MustCompile(`[.#][^.#]+`)
)

// selected returns the rule for one selector. Of a selector with several elements, only the last
// part is tested.
func selected(selector, inner string, perhaps bool) styling {
	last := selector
	if at := combined.FindAllStringIndex(selector, -1); at != nil {
		last, perhaps = selector[at[len(at)-1][1]:], true
	}
	m := compound.FindStringSubmatch(last)
	r := styling{tag: strings.TrimPrefix(m[1], "*"), names: namesOfIt.FindAllString(m[2], -1), perhaps: perhaps || len(m[0]) < len(last)}
	weight := min(len(r.names), 1000) << 10
	for _, name := range r.names {
		if name[0] == '#' {
			weight += 1 << 20
		}
	}
	if r.tag != "" {
		weight++
	}
	r.all = declarations(inner, weight)
	return r
}

// styles are the style rules of a page, each under one of the names that it applies to.
type styles struct {
	rules map[string][]styling
	count int
	work  int
}

const (
	mostWork   = 1 << 17   // how often a rule is laid to an element
	mostStyle  = 8 << 10   // bytes of the style of one element
	mostSheets = 256 << 10 // bytes of a style sheet
)

// add adds rules.
func (s *styles) add(all []styling) {
	if s.rules == nil {
		s.rules = map[string][]styling{}
	}
	for _, r := range all {
		s.count++
		for i := range r.all {
			r.all[i].place = s.count
		}
		name := r.tag
		if len(r.names) > 0 {
			name = r.names[0]
		}
		s.rules[name] = append(s.rules[name], r)
	}
}

// looks are the looks of an element: by the rules that certainly apply, and with those that may.
type looks struct{ plain, perhaps look }

// of returns the looks of an element inside another.
func (s *styles) of(n *html.Node, outer looks) looks {
	names := map[string]bool{n.Data: true, "": true, "#" + inert(strings.ToLower(attribute(n, "id"))): true}
	for class := range strings.FieldsSeq(attribute(n, "class")) {
		names["."+inert(strings.ToLower(class))] = true
	}
	var sure, all []declaration
	for _, name := range slices.Sorted(maps.Keys(names)) {
		for i := range s.rules[name] {
			r := &s.rules[name][i]
			if s.work += 1 + len(r.names); s.work > mostWork || !r.matches(n, names) {
				continue
			}
			s.work += len(r.all)
			all = append(all, r.all...)
			if !r.perhaps {
				sure = append(sure, r.all...)
			}
		}
	}
	style := attribute(n, "style")
	long := len(style) > mostStyle
	if long {
		style = ""
	}
	inline := declarations(bare(style), weighsInline)
	same := len(sure) == len(all) && outer.plain == outer.perhaps
	d := settled(append(sure, inline...))
	inner := looks{plain: outer.plain.within(n, d)}
	inner.perhaps = inner.plain
	if !same {
		inner.perhaps = outer.perhaps.within(n, settled(append(all, inline...)))
	}
	inner.perhaps.gone = inner.perhaps.gone || long || d.worked()
	return inner
}

// deciding are the properties that decide whether text is seen.
var deciding = []string{"display", "visibility", "opacity", "font-size", "max-height"}

// worked reports whether a deciding property has a value that the reader's program computes.
func (d declared) worked() bool {
	return slices.ContainsFunc(deciding, func(name string) bool { return strings.Contains(d[name], "(") })
}

// visible reports whether a reader sees the text of an element.
func (l looks) visible() visibility {
	a, b := l.plain.visible(), l.perhaps.visible()
	if a == b {
		return a
	}
	return unsure
}
