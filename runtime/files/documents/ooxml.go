package documents

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"strconv"
	"strings"
	"time"
)

// An archive is a file of Office: parts in XML, and relations between them.
type archive struct {
	x     *extractor
	files map[string]*zip.File
}

// open checks the archive's directory before it reads any part.
func (x *extractor) open(data []byte) (*archive, error) {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fail(Damaged, "it is cut short, or is no archive")
	}
	a := &archive{x: x, files: make(map[string]*zip.File)}
	var total uint64
	for _, f := range z.File {
		if err := x.entry(); err != nil {
			return nil, err
		}
		if path.IsAbs(f.Name) || strings.Contains(f.Name, "\\") || strings.HasPrefix(path.Clean(f.Name), "..") {
			return nil, fail(Damaged, "a name in it leads out of the archive")
		}
		if f.Flags&1 != 0 {
			return nil, &Failure{Reason: Encrypted}
		}
		if total += f.UncompressedSize64; total > uint64(x.limits.Unpacked) || f.UncompressedSize64 > uint64(x.limits.Unpacked) {
			return nil, fail(TooLarge, "it unpacks to more than %d bytes", x.limits.Unpacked)
		}
		// Text packs to a twentieth, a bomb to a thousandth.
		if f.UncompressedSize64 > 8<<20 && f.UncompressedSize64/200 > f.CompressedSize64 {
			return nil, fail(TooLarge, "a part of it is packed more than 200 times smaller")
		}
		if name := strings.ToLower(f.Name); a.files[name] == nil {
			a.files[name] = f
		}
	}
	return a, nil
}

// each reads a part as a stream of XML and calls fn for each start, end and
// text. A part that is not there has none.
func (a *archive) each(name string, fn func(t xml.Token) error) error {
	data, err := a.part(name)
	if err != nil || data == nil {
		return err
	}
	return a.parse(name, data, fn)
}

// part unpacks a part.
func (a *archive) part(name string) ([]byte, error) {
	f := a.files[strings.ToLower(name)]
	if f == nil {
		return nil, nil
	}
	r, err := f.Open()
	if err != nil {
		return nil, fail(Unsupported, "it is packed in a way that is not read")
	}
	defer r.Close()
	data, err := a.x.unpack(r)
	var failure *Failure
	if err != nil && !errors.As(err, &failure) {
		return nil, fail(Damaged, "%s cannot be unpacked", path.Base(name))
	}
	return data, err
}

func (a *archive) parse(name string, data []byte, fn func(t xml.Token) error) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		return nil, fail(Unsupported, "its XML is not Unicode")
	}
	for depth := 0; ; {
		t, err := d.RawToken()
		var failure *Failure
		switch {
		case errors.Is(err, io.EOF) && depth == 0:
			return nil
		case errors.As(err, &failure):
			return err
		case err != nil:
			return fail(Damaged, "the XML of %s is not well formed", path.Base(name))
		}
		switch t.(type) {
		case xml.StartElement:
			if depth++; depth > a.x.limits.Depth*2 {
				return fail(Loop, "its elements are nested more than %d deep", a.x.limits.Depth*2)
			}
		case xml.EndElement:
			depth--
		case xml.CharData:
		default:
			// No entity is declared by us or for us, so none expands.
			continue
		}
		if err := fn(t); err != nil {
			return err
		}
	}
}

// attr returns an attribute, whatever its namespace.
func attr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func isOn(v string) bool { return v == "1" || v == "true" || v == "on" }

// A relation leads from a part to another.
type relation struct{ id, kind, target string }

// relations returns the relations of a part, with targets as names in the archive.
func (a *archive) relations(part string) (list []relation, err error) {
	dir, base := path.Split(part)
	err = a.each(dir+"_rels/"+base+".rels", func(t xml.Token) error {
		e, ok := t.(xml.StartElement)
		if !ok || e.Name.Local != "Relationship" || attr(e, "TargetMode") == "External" {
			return nil
		}
		target := attr(e, "Target")
		if !strings.HasPrefix(target, "/") {
			target = path.Join(dir, target)
		}
		list = append(list, relation{attr(e, "Id"), path.Base(attr(e, "Type")), strings.TrimPrefix(target, "/")})
		return nil
	})
	return list, err
}

// main returns the main part of the archive, and its relations.
func (a *archive) main(fallback string) (part string, rels []relation, err error) {
	roots, err := a.relations("")
	if err != nil {
		return "", nil, err
	}
	part = fallback
	for _, r := range roots {
		if r.kind == "officeDocument" && a.files[strings.ToLower(r.target)] != nil {
			part = r.target
		}
	}
	if err := a.properties(); err != nil {
		return "", nil, err
	}
	rels, err = a.relations(part)
	return part, rels, err
}

// properties reads who wrote the file, and when.
func (a *archive) properties() error {
	var name string
	return a.each("docProps/core.xml", func(t xml.Token) error {
		switch t := t.(type) {
		case xml.StartElement:
			name = t.Name.Local
		case xml.EndElement:
			name = ""
		case xml.CharData:
			s := strings.TrimSpace(string(t))
			when, err := time.Parse(time.RFC3339, s)
			switch {
			case a.x.inside != "":
			case name == "title":
				a.x.doc.Title = s
			case name == "creator":
				a.x.doc.Author = s
			case name == "created" && err == nil:
				a.x.doc.Created = when
			case name == "modified" && err == nil:
				a.x.doc.Modified = when
			}
		}
		return nil
	})
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
