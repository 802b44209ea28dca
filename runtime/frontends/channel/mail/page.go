package mail

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A page turns HTML into lines. Those that are quoted begin with ">".
type page struct {
	out, line strings.Builder
	quoted    bool
	rest      bool // all that follows is quoted: Outlook draws a line and marks nothing
	styles    styles
	hides     bool // something is not seen
	unsure    bool // something that is not quoted is seen or not
}

// readPage returns the text of an HTML page that a reader sees. ok is false if that is not certain;
// hides says that the page contains more.
func readPage(markup string) (text string, hides, ok bool) {
	root, err := html.ParseWithOptions(strings.NewReader(markup), html.ParseOptionEnableScripting(false))
	if err != nil {
		var b strings.Builder
		for z := html.NewTokenizer(strings.NewReader(markup)); ; {
			switch z.Next() {
			case html.ErrorToken:
				return b.String(), true, false
			case html.TextToken:
				b.Write(z.Text())
				b.WriteByte('\n')
			}
		}
	}
	p := &page{}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Style {
			p.sheet(n)
		}
	}
	p.walk(root, false, looks{plainLook, plainLook})
	return p.out.String(), p.hides, !p.unsure && p.styles.work <= mostWork
}

// sheet reads a style sheet of the page.
func (p *page) sheet(n *html.Node) {
	media := strings.ToLower(strings.TrimSpace(attribute(n, "media")))
	if media == "print" || n.FirstChild == nil {
		return
	}
	all, ok := rules(n.FirstChild.Data, media != "" && media != "all" && media != "screen")
	p.styles.add(all)
	p.unsure = p.unsure || !ok
}

var (
	indented = regexp.MustCompile(`(?i)border(?:-left)?\s*:\s*(?:none|0)`)
	divider  = regexp.MustCompile(`(?i)border:\s*none;\s*border-top:\s*solid #(?:E1E1E1|B5C4DF)`)

	quotes   = []string{"gmail_attr", "yahoo_quoted", "moz-cite-prefix", "protonmail_quote", "tutanota_quote", "zmail_extra", "gmail_quote"}
	signs    = []string{"gmail_signature", "moz-signature", "Signature", "ms-outlook-mobile-signature", "protonmail_signature_block"}
	dividers = []string{"divRplyFwdMsg", "appendonsend", "OutlookMessageHeader", "mail-editor-reference-message-container"}
	blocks   = []atom.Atom{atom.P, atom.Div, atom.Li, atom.Ul, atom.Ol, atom.Blockquote, atom.Pre, atom.Tr, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Hr, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Dt, atom.Dd, atom.Address, atom.Center, atom.Body, atom.Form, atom.Dialog}
	silentTags = []atom.Atom{atom.Head, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Title, atom.Object, atom.Textarea, atom.Select,
		atom.Datalist, atom.Audio, atom.Video, atom.Canvas, atom.Noframes, atom.Noembed}
)

// walk reads the content of an element with these looks.
func (p *page) walk(n *html.Node, pre bool, l looks) {
	switch n.Type {
	case html.TextNode:
		switch how := l.visible(); {
		case how == seen:
			p.text(n.Data, pre)
		case strings.Trim(n.Data, blanks) != "":
			p.hides = true
			p.unsure = p.unsure || how == unsure && !p.quoted && !p.rest
		}
		return
	case html.ElementNode:
	case html.DocumentNode:
	default:
		return
	}
	style, names := attribute(n, "style"), append(strings.Fields(attribute(n, "class")), attribute(n, "id"))
	is := func(some []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(some, strings.TrimPrefix(name, "x_")) // Outlook renames the classes of quoted text
		})
	}
	if slices.Contains(silentTags, n.DataAtom) || is(signs) {
		return
	}
	l = p.styles.of(n, l)
	if attribute(n, "hidden") != "" || n.DataAtom == atom.Dialog && attribute(n, "open") == "" {
		l.plain.gone, l.perhaps.gone = true, true
	}
	if n.DataAtom == atom.Br {
		p.flush(true)
		return
	}
	block := slices.Contains(blocks, n.DataAtom)
	if block {
		p.flush(false)
	}
	was := p.quoted
	switch {
	case is(dividers), divider.MatchString(style):
		p.flush(false)
		p.rest = true
	case n.DataAtom == atom.Blockquote && !indented.MatchString(style), is(quotes) && !answered(n):
		p.flush(false)
		p.quoted = true
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		p.walk(c, pre || n.DataAtom == atom.Pre, l)
	}
	if block || p.quoted != was {
		p.flush(false)
	}
	p.quoted = was
	if n.DataAtom == atom.P {
		p.flush(true)
	}
	if n.DataAtom == atom.Td || n.DataAtom == atom.Th {
		p.line.WriteByte(' ')
	}
}

// blanks show nothing: programs fill the space behind a hidden line with them.
const blanks = " \t\r\n\u00a0\u00ad\u034f\u2007\u200b\u200c\u200d\u200e\u200f\u2800\ufeff"

// answered reports whether an element that Gmail marks as a quotation contains another one, so that
// somebody may have written between its parts. In forwarded mail this does not count.
func answered(n *html.Node) (inside bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		inside = inside || c.DataAtom == atom.Blockquote
		if strings.Contains(attribute(c, "class"), "gmail_attr") && c.FirstChild != nil && strings.HasPrefix(strings.TrimSpace(c.FirstChild.Data), "---") {
			return false
		}
	}
	return inside
}

func (p *page) text(s string, pre bool) {
	if pre {
		for i, line := range strings.Split(s, "\n") {
			if i > 0 {
				p.flush(true)
			}
			p.line.WriteString(line)
		}
		return
	}
	p.line.WriteString(strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s))
}

// flush ends a line. It keeps an empty line if the page has one.
func (p *page) flush(empty bool) {
	line := strings.Join(strings.Fields(p.line.String()), " ")
	p.line.Reset()
	switch {
	case line == "" && !empty:
		return
	case p.quoted || p.rest:
		p.out.WriteString("> ")
	}
	p.out.WriteString(line + "\n")
}

// attribute returns the value of an element's attribute. Without a value, that is its name.
func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			if a.Val == "" {
				return name
			}
			return a.Val
		}
	}
	return ""
}
