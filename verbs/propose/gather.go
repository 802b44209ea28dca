package propose

import (
	"encoding/json"
	"fmt"
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
// outside of itself, and returns the names of all files that it read. No file outside of files is read.
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
	if err := g.point(doc, name); err != nil {
		return nil, nil, err
	}
	if !ok || len(g.docs) == 0 {
		return text, []string{name}, nil
	}
	top[filesKey] = g.docs
	text, err = json.Marshal(top)
	return text, append([]string{name}, g.names...), err
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
func (g *gatherer) point(v any, in string) error {
	switch v := v.(type) {
	case []any:
		for _, part := range v {
			if err := g.point(part, in); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, part := range v {
			ref, ok := part.(string)
			if key != "$ref" || !ok {
				if err := g.point(part, in); err != nil {
					return err
				}
				continue
			}
			to, err := g.target(ref, in)
			if err != nil {
				return err
			}
			v[key] = to
		}
	}
	return nil
}

// target returns a reference of a file as one of the gathered document, and reads the file that it leads
// to. References to addresses stay as they are: nothing is fetched.
func (g *gatherer) target(ref, in string) (string, error) {
	file, at, _ := strings.Cut(ref, "#")
	if strings.Contains(file, ":") {
		return ref, nil
	}
	name := in
	if file != "" {
		name = path.Join(path.Dir(in), file)
	}
	if name == g.main {
		return "#" + at, nil
	}
	if strings.HasPrefix(file, "/") {
		name = file
	}
	if !fs.ValidPath(name) {
		return "", fmt.Errorf("it refers to %s, which is outside of its folder", cutText(ref, 100))
	}
	if !slices.Contains(g.names, name) {
		if len(g.names) == maxFiles {
			return "", fmt.Errorf("it has more than %d files", maxFiles)
		}
		g.names = append(g.names, name)
		text, err := ReadFile(g.files, name)
		if err != nil {
			return "", fmt.Errorf("it refers to a file that cannot be read: %w", err)
		}
		if g.left -= len(text); g.left < 0 {
			return "", fmt.Errorf("its files have more than %d bytes", maxDescribed)
		}
		doc, err := readDocument(text)
		if err != nil {
			return "", fmt.Errorf("it refers to %s: %w", cutText(name, 100), err)
		}
		g.docs[name] = doc
		if err := g.point(doc, name); err != nil {
			return "", err
		}
	}
	return "#/" + filesKey + "/" + strings.NewReplacer("~", "~0", "/", "~1", "%", "%25").Replace(name) + at, nil
}
