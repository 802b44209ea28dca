// Package pages draws what people see of the server. A page is a frame and blocks in
// it; each block is a struct that holds texts, and one template that sets them. No
// struct knows a store, an engine or a palette: who fills one in does.
//
//	page := pages.Page{Language: values.English, Title: "Your onboarding", Main: []pages.Block{pages.Tasks{...}}}
//	err := page.Render(w)
//
// Sentences of the house are in the catalogue of runtime/conversation/values, in each language. All
// pages are links and forms first: the script adds to what works without it. htmx is
// vendored from the npm package htmx.org 4.0.1, and pdf, jbig2 and openjpeg from pdfjs-dist 6.5.438 (its
// folders build and wasm), each under the licence beside it.
package pages

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"verbatim/runtime/conversation/values"
)

//go:embed parts
var parts embed.FS

//go:embed assets
var files embed.FS

// Assets is the path of style sheets and scripts. The name of a file changes with its content, so
// that browsers may cache it for good.
const Assets = "/assets/"

// An asset is a file that pages load.
type asset struct {
	name, kind string
	text       []byte
	small      func() []byte // the same by gzip, made when it is first asked for: most are never
}

func newAsset(name, kind string, text []byte) *asset {
	sum, ext := sha256.Sum256(text), path.Ext(name)
	return &asset{strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:6]) + ext, kind, text, sync.OnceValue(func() []byte { return Compress(text, gzip.BestCompression) })}
}

// Compress returns a text by gzip.
func Compress(text []byte, level int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, level) // the level is one of the package's
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

var kinds = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".LICENSE": "text/plain; charset=utf-8"}

// assets are the assets by two names: the one that a page asks for, and that of the file.
var assets = sync.OnceValue(func() map[string]*asset {
	all := map[string]*asset{}
	entries, _ := fs.ReadDir(files, "assets")
	for _, e := range entries {
		text, _ := files.ReadFile("assets/" + e.Name())
		a := newAsset(e.Name(), kinds[path.Ext(e.Name())], text)
		all[e.Name()], all[a.name] = a, a
	}
	return all
})

// Asset returns the file of a name below Assets, the same by gzip, and its type.
func Asset(name string) (text []byte, small func() []byte, kind string, ok bool) {
	a := assets()[name]
	if own, ok := ours.Load(name); ok {
		a = own.(*asset)
	}
	if a == nil {
		return nil, nil, "", false
	}
	return a.text, a.small, a.kind, true
}

// templates are the templates of the blocks, for each language.
var templates = sync.OnceValue(func() map[values.Language]*template.Template {
	all := map[values.Language]*template.Template{}
	for _, l := range values.Languages() {
		t := template.New("parts")
		t.Funcs(template.FuncMap{
			"say":    func(key string, of ...string) string { return values.Key(key).In(l, of...) },
			"runs":   func(text string) []string { return strings.SplitAfter(text, "_") }, // of a name of a file, which may break between them
			"next":   func(i int) int { return i + 1 },
			"asset":  func(name string) string { return Assets + assets()[name].name },
			"marked": marked,
			"languages": func() (others []Choice) { // that a page can be read in besides
				for _, o := range values.Languages() {
					if o != l {
						others = append(others, Choice{Value: o.String(), Text: values.Key("pages/language").In(o)})
					}
				}
				return others
			},
			"part": func(b Block) (template.HTML, error) {
				var out bytes.Buffer
				err := t.ExecuteTemplate(&out, b.part(), b)
				return template.HTML(out.String()), err // a whole element, escaped by its own template
			},
		})
		all[l] = template.Must(t.ParseFS(parts, "parts/*.html"))
	}
	return all
})

var emphasis = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`) })

// marked sets a line of a message. Models write Markdown: what is **strong** in it is set so, and the
// signs before headings and lists go.
func marked(line string) template.HTML {
	if heading, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok {
		line = heading
	}
	if item, ok := strings.CutPrefix(strings.TrimSpace(line), "* "); ok {
		line = "• " + item
	} else if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
		line = "• " + item
	}
	return template.HTML(emphasis().ReplaceAllString(template.HTMLEscapeString(strings.TrimSpace(line)), "<strong>$1</strong>"))
}

// Render writes the page.
func (p Page) Render(w io.Writer) error {
	t := templates()[p.Language]
	if t == nil {
		t = templates()[values.English]
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, "page", p); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Sentence capitalises the first letter of a text.
func Sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}
