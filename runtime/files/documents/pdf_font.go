package documents

import (
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	metrics "github.com/pdfcpu/pdfcpu/pkg/font"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
	"golang.org/x/text/encoding/charmap"
)

// A font says of codes which letters they are, and how wide.
type font struct {
	wide    bool            // codes have two bytes
	direct  bool            // codes are Unicode
	letters map[int]string  // by code
	widths  map[int]float64 // by code, in thousandths of the size
	missing float64         // the width of any other
	unit    float64         // the factor from widths to font sizes
	lengths [5]bool         // by length in bytes, whether codes have it, if the font states that
}

// next returns the letters of the first code, its width in font sizes, and its length in bytes.
func (f *font) next(s []byte) (letters string, width float64, n int) {
	n = 1
	if f.wide && len(s) > 1 && (f.lengths[2] || !f.lengths[1]) {
		n = 2
	}
	code := 0
	for _, b := range s[:n] {
		code = code<<8 | int(b)
	}
	w, ok := f.widths[code]
	if !ok {
		w = f.missing
	}
	letters, ok = f.letters[code]
	switch {
	case ok:
	case f.direct:
		letters = string(utf16.Decode([]uint16{uint16(code)}))
	case !f.wide && (code == '\t' || code == '\n' || code == '\r'):
		letters = " "
	default:
		letters = "\ufffd" // that there is a letter is known, and not which
	}
	return letters, w * f.unit, n
}

// fontOf returns the font that a page's resource refers to.
func (p *pdf) fontOf(o types.Object) (*font, error) {
	ref, shared := o.(types.IndirectRef)
	if f := p.fonts[ref]; shared && f != nil {
		return f, nil
	}
	d, ok := p.dict(o)
	if !ok {
		return nil, nil
	}
	f := &font{letters: make(map[int]string), widths: make(map[int]float64), unit: 0.001}
	if p.name(d["Subtype"]) == "Type0" {
		p.composite(f, d)
	} else if err := p.simple(f, d); err != nil {
		return nil, err
	}
	toUnicode, err := p.stream(d["ToUnicode"])
	if err != nil {
		return nil, err
	}
	f.names(toUnicode)
	if shared {
		p.fonts[ref] = f
	}
	return f, nil
}

// composite reads a font of many letters, whose codes have two bytes.
func (p *pdf) composite(f *font, d types.Dict) {
	f.wide, f.missing = true, 1000
	f.direct = strings.HasPrefix(p.name(d["Encoding"]), "Uni")
	below, _ := p.get(d["DescendantFonts"]).(types.Array)
	if len(below) == 0 {
		return
	}
	cid, _ := p.dict(below[0])
	if w, ok := p.number(cid["DW"]); ok {
		f.missing = w
	}
	list, _ := p.get(cid["W"]).(types.Array)
	for i := 0; i+1 < len(list); {
		first, _ := p.number(list[i])
		if widths := p.numbers(list[i+1]); widths != nil {
			for k, w := range widths {
				f.widths[int(first)+k] = w
			}
			i += 2
			continue
		}
		if i+2 >= len(list) {
			return
		}
		last, _ := p.number(list[i+1])
		w, _ := p.number(list[i+2])
		for code := int(first); code <= int(last) && code < 1<<16; code++ {
			f.widths[code] = w
		}
		i += 3
	}
}

// simple reads a font whose codes have one byte.
func (p *pdf) simple(f *font, d types.Dict) error {
	base := charmap.Windows1252 // close to the encoding of the standard fonts
	encoding, _ := p.dict(d["Encoding"])
	name := p.name(d["Encoding"]) + p.name(encoding["BaseEncoding"])
	if name == "MacRomanEncoding" {
		base = charmap.Macintosh
	}
	for code := 32; code < 256; code++ {
		f.letters[code] = string(base.DecodeByte(byte(code)))
	}
	if name != "WinAnsiEncoding" && name != "MacRomanEncoding" {
		f.letters['\''], f.letters['`'] = "’", "‘"
	}
	if strings.Contains(p.name(d["BaseFont"]), "ZapfDingbats") { // the ticks and bullets of forms
		for code := range 0x5f {
			f.letters[code+0x20] = string(rune(0x2700 + code))
		}
		f.letters['l'], f.letters['n'], f.letters['u'] = "●", "■", "◆"
	}
	about, _ := p.dict(d["FontDescriptor"])
	if name == "" && about["FontFile"] != nil {
		program, err := p.stream(about["FontFile"])
		if err != nil {
			return err
		}
		for _, m := range puts.FindAllSubmatch(program, 256) {
			code, _ := strconv.Atoi(string(m[1]))
			f.name(code, string(m[2]))
		}
	}
	differences, _ := p.get(encoding["Differences"]).(types.Array)
	code := 0
	for _, v := range differences {
		if n, ok := p.number(v); ok {
			code = int(n)
		} else if name := p.name(v); name != "" && code < 256 {
			f.name(code, name)
			code++
		}
	}
	first, _ := p.number(d["FirstChar"])
	for i, w := range p.numbers(d["Widths"]) {
		f.widths[int(first)+i] = w
	}
	f.missing, _ = p.number(about["MissingWidth"])
	if m := p.numbers(d["FontMatrix"]); len(m) == 6 && p.name(d["Subtype"]) == "Type3" {
		f.unit = m[0]
	}
	if called := p.name(d["BaseFont"]); len(f.widths) == 0 && metrics.IsCoreFont(called) {
		for code, s := range f.letters {
			w, _ := metrics.CharWidth(called, []rune(s + " ")[0])
			f.widths[code] = float64(w)
		}
	} else if len(f.widths) == 0 && f.missing == 0 {
		f.missing = 500
	}
	return nil
}

// name notes the glyph of a code. A name that says nothing leaves the letter
// that the code most often is.
func (f *font) name(code int, glyph string) {
	if s := character(glyph); s != "" {
		f.letters[code] = s
	}
}

// puts matches the lines of a font program that name the glyph of a code.
var puts = regexp.MustCompile(`dup\s+(\d{1,3})\s*/([A-Za-z0-9._]+)\s+put`)

// names reads the letters of the codes, as the font states them for copying.
func (f *font) names(cmap []byte) {
	lex, named := lexer{data: cmap}, 0
	for {
		op, args, ok := lex.next()
		if !ok || named > 1<<20 {
			return
		}
		code := func(i int) (n int) {
			s, _ := args[i].([]byte)
			for _, b := range s[:min(len(s), 4)] {
				n = n<<8 | int(b)
			}
			return n
		}
		switch op {
		case "endcodespacerange":
			for _, a := range args {
				if s, ok := a.([]byte); ok && len(s) < len(f.lengths) {
					f.lengths[len(s)] = true
				}
			}
		case "endbfchar":
			for i := 0; i+1 < len(args); i += 2 {
				if s, ok := args[i+1].([]byte); ok {
					f.letters[code(i)] = letters(s, 0)
				}
			}
		case "endbfrange":
			for i := 0; i+2 < len(args); i += 3 {
				first, last := code(i), min(code(i+1), 1<<16-1)
				named += max(0, last-first)
				switch to := args[i+2].(type) {
				case []byte:
					for c := first; c <= last; c++ {
						f.letters[c] = letters(to, c-first)
					}
				case []any:
					for k, v := range to {
						if s, ok := v.([]byte); ok && first+k <= last {
							f.letters[first+k] = letters(s, 0)
						}
					}
				}
			}
		}
	}
}

// letters decodes UTF-16 text, and adds an offset to its last letter.
func letters(s []byte, on int) string {
	var units []uint16
	for i := 0; i+1 < len(s); i += 2 {
		units = append(units, uint16(s[i])<<8|uint16(s[i+1]))
	}
	if len(s) == 1 {
		units = append(units, uint16(s[0]))
	}
	if len(units) > 0 {
		units[len(units)-1] += uint16(on)
	}
	return apart.Replace(string(utf16.Decode(units)))
}

// apart takes ligatures apart, so that a word is found however it is set.
var apart = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st", "\u00ad", "-", "\u00a0", " ", "\x00", "", "\uf0b7", "•", "\uf0a7", "•", "\ue00c", "•")

//go:embed glyphs.txt
var glyphNames string

var glyphsByName = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(glyphNames) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, entry := range strings.Fields(line) {
			name, hex, _ := strings.Cut(entry, ":")
			if n, err := strconv.ParseUint(hex, 16, 32); err == nil {
				all[name] = apart.Replace(string(rune(n)))
			}
		}
	}
	return all
})

// character returns the text of a glyph from its name: eacute, f_f_i, uni20AC, A.alt.
func character(name string) (s string) {
	name, _, _ = strings.Cut(name, ".")
	for part := range strings.SplitSeq(name, "_") {
		c, ok := glyphsByName()[part]
		if hex := strings.TrimPrefix(strings.TrimPrefix(part, "uni"), "u"); !ok && len(hex) >= 4 && len(hex) < len(part) {
			if n, err := strconv.ParseUint(hex[:min(len(hex), 6)], 16, 32); err == nil {
				c = string(rune(n))
			}
		}
		if !ok && c == "" && len(part) == 1 {
			c = part
		}
		s += c
	}
	return s
}
