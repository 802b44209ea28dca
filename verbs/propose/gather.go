package propose

import (
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// filesKey is the member of a gathered document that has the other files.
const filesKey = "x-verbatim-files"

// maxFiles is the greatest number of files of one description.
const maxFiles = 500

// Gather reads a description with the files that it refers to, as one document that refers to nothing
// outside of itself but what cannot be read, and returns the names of all its files. No file outside of files is read.
func Gather(files fs.FS, name string) (text []byte, names []string, err error) {
	g := gatherer{files: files, docs: map[string]any{}}
	if text, err = ReadFile(files, name); err != nil {
		return nil, nil, err
	}
	doc, err := readDocument(text)
	if err != nil {
		return text, []string{name}, nil // its reader says what is wrong
	}
	g.left = maxDescribed - len(text)
	top, ok := doc.(map[string]any)
	g.main = name
	g.point(doc, name)
	if names = append([]string{name}, g.names...); !ok || len(g.docs) == 0 {
		return text, names, nil
	}
	top[filesKey] = g.docs
	text, err = json.Marshal(top)
	return text, names, err
}

// ReadFile reads a file of a description.
func ReadFile(files fs.FS, name string) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDescribed+1))
	return text, err
}

type gatherer struct {
	files fs.FS
	main  string
	docs  map[string]any // the other files, by their names
	names []string
	left  int // bytes that may be read
}

// point makes the references in a part of a file point into the gathered document.
func (g *gatherer) point(v any, in string) {
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			g.point(part, in)
		}
	case map[string]any:
		for key, part := range v {
			if ref, ok := part.(string); ok && key == "$ref" {
				v[key] = g.target(ref, in)
			} else {
				g.point(part, in)
			}
		}
	}
}

// target returns a reference of a file as one of the gathered document, and reads the file that it leads
// to. A reference to an address, to outside of the folder, or to what cannot be read stays as it is:
// whatever has it says that it stands elsewhere.
func (g *gatherer) target(ref, in string) string {
	file, at, _ := strings.Cut(ref, "#")
	name := in
	if file != "" {
		name = path.Join(path.Dir(in), file)
	}
	switch {
	case name == g.main:
		return "#" + at
	case strings.HasPrefix(file, "/") || strings.Contains(file, ":") || !fs.ValidPath(name):
		return ref
	case !slices.Contains(g.names, name):
		if len(g.names) == maxFiles {
			return ref
		}
		g.names = append(g.names, name)
		text, err := ReadFile(g.files, name)
		if g.left -= len(text); err != nil || g.left < 0 {
			return ref
		}
		doc, err := readDocument(text)
		if err != nil {
			return ref
		}
		g.docs[name] = doc
		g.point(doc, name)
	case g.docs[name] == nil:
		return ref
	}
	return "#/" + filesKey + "/" + strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name) + at
}
