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
}

// readPage turns HTML into text. It fails where the page cannot be taken apart.
func readPage(markup string) (string, bool) {
	root, err := html.ParseWithOptions(strings.NewReader(markup), html.ParseOptionEnableScripting(false))
	if err != nil {
		var b strings.Builder
		for z := html.NewTokenizer(strings.NewReader(markup)); ; {
			switch z.Next() {
			case html.ErrorToken:
				return b.String(), false
			case html.TextToken:
				b.Write(z.Text())
				b.WriteByte('\n')
			}
		}
	}
	p := &page{}
	p.walk(root, false)
	return p.out.String(), true
}

var (
	unseen   = regexp.MustCompile(`(?i)(display\s*:\s*none|visibility\s*:\s*hidden|mso-hide\s*:\s*all|opacity\s*:\s*0*\.?0*(?:;|\s|$)|(?:font-size|max-height)\s*:\s*0*\.?0*(?:px|pt|em|rem|%)?\s*(?:;|!|$))`)
	indented = regexp.MustCompile(`(?i)border(?:-left)?\s*:\s*(?:none|0)`)
	divider  = regexp.MustCompile(`(?i)border:\s*none;\s*border-top:\s*solid #(?:E1E1E1|B5C4DF)`)

	quotes   = []string{"gmail_attr", "yahoo_quoted", "moz-cite-prefix", "protonmail_quote", "tutanota_quote", "zmail_extra", "gmail_quote"}
	signs    = []string{"gmail_signature", "moz-signature", "Signature", "ms-outlook-mobile-signature", "protonmail_signature_block"}
	dividers = []string{"divRplyFwdMsg", "appendonsend", "OutlookMessageHeader", "mail-editor-reference-message-container"}
	blocks   = []atom.Atom{atom.P, atom.Div, atom.Li, atom.Ul, atom.Ol, atom.Blockquote, atom.Pre, atom.Tr, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6,
		atom.Hr, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Dt, atom.Dd, atom.Address, atom.Center, atom.Body, atom.Form}
	silentTags = []atom.Atom{atom.Head, atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Svg, atom.Iframe, atom.Title, atom.Object, atom.Textarea, atom.Select}
)

func (p *page) walk(n *html.Node, pre bool) {
	switch n.Type {
	case html.TextNode:
		p.text(n.Data, pre)
		return
	case html.ElementNode:
	case html.DocumentNode:
	default:
		return
	}
	style, names := attribute(n, "style"), append(strings.Fields(attribute(n, "class")), attribute(n, "id"))
	is := func(some []string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			return slices.Contains(some, strings.TrimPrefix(name, "x_")) // Outlook renames what it quotes
		})
	}
	if slices.Contains(silentTags, n.DataAtom) || unseen.MatchString(style) || attribute(n, "hidden") != "" || is(signs) {
		return
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
		p.walk(c, pre || n.DataAtom == atom.Pre)
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

// answered reports whether what Gmail takes for a quotation holds one of its own, so that
// somebody may have written between its parts. Not so in what is passed on.
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

// flush ends a line. An empty one is kept where the page has it.
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

// attribute is the value of an element's attribute. One without a value has its name as value.
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
