package load

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
)

// brokenDir cannot be read.
type brokenDir struct{}

func (brokenDir) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// U4: for each code of the loader, the wrong example earns exactly it and the
// right one earns nothing at all.
func TestExamplesOfLoadCodesRun(t *testing.T) {
	t.Parallel()
	for _, doc := range loadCodes() {
		t.Run(doc.Code, func(t *testing.T) {
			t.Parallel()
			for i, text := range []string{doc.Wrong, doc.Right} {
				var dir fs.FS = fstest.MapFS{"bank.yaml": {Data: []byte(text)}}
				var opts []Option
				switch {
				case doc.Code == "palette-too-large":
					opts = append(opts, MaxFile(len(doc.Right)))
				case i == 0 && doc.Code == "no-palettes":
					dir = fstest.MapFS{}
				case i == 0 && doc.Code == "unreadable-palette":
					dir = brokenDir{}
				}
				r, ds := Dir(dir, opts...)
				if i == 0 {
					if len(ds) == 0 {
						t.Error("the wrong example earns nothing")
					}
					for _, d := range ds {
						if d.Code != doc.Code {
							t.Errorf("the wrong example earns %s: %s", d.Code, d.Summary)
						}
					}
				}
				if i == 1 && (r == nil || len(ds) > 0) {
					t.Errorf("the right example earns %s: %s", ds[0].Code, ds[0].Summary)
				}
			}
		})
	}
}

// U4: every code that the loader can report is explained, here or beside the
// parser or the checker, and once in the package.
func TestEveryLoadCodeIsDocumented(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{"duplicate-key": true, "too-deep": true} // by the parser
	for _, doc := range Codes() {
		if documented[doc.Code] {
			t.Errorf("%s is documented twice", doc.Code)
		}
		documented[doc.Code] = true
	}
	for _, doc := range dsl.Codes() {
		documented[doc.Code] = true
	}
	found := map[string]bool{}
	for name := range messages() {
		code, _, _ := strings.Cut(name, "/")
		if found[code] = true; !documented[code] {
			t.Errorf("%s is not documented", code)
		}
	}
	if len(found) < 60 {
		t.Errorf("only %d codes found", len(found))
	}
}
