// Package palettes holds the palettes that Verbatim is shipped with, in sets. A set is a folder
// of palettes that belong together, with what they say in other languages beside them. The
// program carries them, so that they can be used without a copy of this repository.
package palettes

import (
	"embed"
	"io/fs"
)

//go:embed */*.yaml
var files embed.FS

// A Set is palettes that load together.
type Set struct {
	Name  string
	About string // what it is for, in a line
}

// Sets lists the sets, by name.
func Sets() []Set {
	return []Set{
		{"bank", "A bank asks its clients for documents and facts, and reviews what they send."},
		{"confidence", "A graph of things is asked by plans, which say how sure their answers are."},
		{"kiisha", "Documents of energy projects: what is missing, who may see what, and work to do."},
		{"kyc", "Agents of other companies ask whether somebody is who they say they are."},
		{"manda", "A data room answers questions, and says where each answer stands."},
	}
}

// Names lists the names of the sets.
func Names() (names []string) {
	for _, s := range Sets() {
		names = append(names, s.Name)
	}
	return names
}

// Files returns the files of a set; false if none is called so.
func Files(name string) (fs.FS, bool) {
	for _, s := range Sets() {
		if s.Name == name {
			sub, err := fs.Sub(files, name)
			return sub, err == nil
		}
	}
	return nil, false
}

// Text returns the text of a file, such as "bank/client.yaml". The file has to be there.
func Text(file string) string {
	text, err := files.ReadFile(file)
	if err != nil {
		panic(err)
	}
	return string(text)
}
