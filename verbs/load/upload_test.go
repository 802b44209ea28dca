package load

import (
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/verbs"
)

// What an author can get wrong about a file, each told where it stands.
func TestLoadUploads(t *testing.T) {
	t.Parallel()
	for arg, want := range map[string]string{
		"{name: paper, type: string, upload: {types: [application/pdf, image/*], max-size: 20 MB}}":                         "",
		"{name: paper, type: string, upload: {types: [application/vnd.ms-excel], max-size: 5 GiB}, examples: [upload://x]}": "",
		"{name: paper, type: string, upload: {types: [application/pdf], max-size: 20 MB}, examples: [paper.pdf]}":           "bad-value",
		"{name: paper, type: uuid, upload: {types: [application/pdf], max-size: 20 MB}}":                                    "contradiction",
		"{name: paper, type: string, pattern: x, upload: {types: [application/pdf], max-size: 20 MB}}":                      "contradiction",
		"{name: paper, type: string, max-length: 3, upload: {types: [application/pdf], max-size: 20 MB}}":                   "contradiction",
		"{name: paper, type: string, default: upload://x, upload: {types: [application/pdf], max-size: 20 MB}}":             "contradiction",
		"{name: paper, type: string, upload: {types: [], max-size: 20 MB}}":                                                 "contradiction",
		"{name: paper, type: string, upload: {types: [pdf], max-size: 20 MB}}":                                              "bad-media-type",
		"{name: paper, type: string, upload: {types: ['*/*'], max-size: 20 MB}}":                                            "bad-media-type",
		"{name: paper, type: string, upload: {types: [Application/PDF], max-size: 20 MB}}":                                  "bad-media-type",
		"{name: paper, type: string, upload: {types: [application/pdf], max-size: 20}}":                                     "bad-size",
		"{name: paper, type: string, upload: {types: [application/pdf], max-size: 0 MB}}":                                   "bad-size",
		"{name: paper, type: string, upload: {types: [application/pdf], max-size: 6 GiB}}":                                  "bad-size",
		"{name: paper, type: string, upload: {types: [application/pdf]}}":                                                   "missing-key",
		"{name: paper, type: string, upload: {types: [application/pdf], max-size: 1 MB, scan: none}}":                       "unknown-key",
	} {
		text := "domain: x\nroles: [{name: clerk, description: c}]\nverbs:\n  - verb: file\n    description: File it.\n    roles: [clerk]\n    handler: true\n    args:\n      - " + arg + "\n"
		_, ds := Sources(dsl.NewSource("x.yaml", text))
		got := ""
		for _, d := range ds {
			if d.Severity == dsl.Error {
				got = d.Code
			}
		}
		if got != want {
			t.Errorf("%s\n%q, not %q: %s", arg, got, want, inWords(ds))
		}
	}
}

// A reference has a form, which the checker knows; whose file it is, the gate.
func TestCheckUploads(t *testing.T) {
	t.Parallel()
	r, ds := Sources(dsl.NewSource("x.yaml", `
domain: x
roles: [{name: clerk, description: c}]
verbs:
  - verb: file
    description: File it.
    roles: [clerk]
    handler: true
    args:
      - {name: paper, type: string, required: true, upload: {types: [application/pdf, image/*], max-size: 20 MB}}
`))
	if ds.HasErrors() {
		t.Fatal(inWords(ds))
	}
	for text, want := range map[string]bool{
		"upload://thm7qk2vx9dn4wz8rc5gy3pb6jfe0sau": true, "upload://": false, "file:///etc/passwd": false, "upload://a/../b": false, "upload://a\nb": false, "xupload://a": false,
	} {
		call := dsl.NewCall("x.file", dsl.NewArg("paper", dsl.NewString(text)))
		script, more := dsl.Parse(dsl.NewSource("t.dsl", dsl.FormatCall(&call)))
		if len(more) > 0 {
			t.Fatal(more)
		}
		_, more = r.Check(script, nil)
		if more.HasErrors() == want {
			t.Errorf("%q: %s", text, inWords(more))
		}
	}
	u := r.Verb("x.file").Params[0].Upload
	for kind, want := range map[string]bool{"application/pdf": true, "image/png": true, "image/svg+xml": true, "imagery/png": false, "text/html": false, "": false} {
		if u.Takes(kind) != want {
			t.Errorf("%q", kind)
		}
	}
}

// A size reads as people write it, and never smaller than it is.
func TestSizes(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0 B", 1: "1 B", 999: "999 B", 1000: "1 kB", 1001: "1.1 kB", 1500: "1.5 kB", 1 << 20: "1.1 MB", 20_000_000: "20 MB", 20_000_001: "20.1 MB", 5 << 30: "5.4 GB"} {
		if got := verbs.SizeText(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for text, want := range map[string]int64{"20 MB": 20_000_000, "20MiB": 20 << 20, "1 B": 1, "5 GiB": 5 << 30, "-1 MB": 0, "1.5 MB": 0, "1 mb": 0, "9999999 B": 0, "": 0} {
		if got, ok := parseSize(text); ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %d %v", text, got, ok)
		}
	}
}

func loadText(t interface{ Fatal(...any) }, name, text string) *verbs.Registry {
	r, ds := Sources(dsl.NewSource(name, text))
	if r == nil {
		t.Fatal(name, inWords(ds))
	}
	return r
}

// A field names files where verbs fill it with files that are sent, and with nothing else.
func TestWhichFieldNamesAFile(t *testing.T) {
	t.Parallel()
	const palette = `domain: x
roles: [{name: clerk, description: c}]
entities:
  paper:
    table: papers
    key: paper_id
    managed: true
    scope: everyone
    fields: {note: {type: string}, file: {type: string}, count: {type: integer}}
verbs:
  - verb: add
    description: Add it.
    roles: [clerk]
    args:
      - {name: file, type: string, required: true, upload: {types: [application/pdf], max-size: 20 MB}}
      - {name: note, type: string}
    effects:
      - creates: paper
        set: {file: file, note: note}
`
	verb := func(effect string) string {
		return "  - verb: more\n    description: More.\n    roles: [clerk]\n    args:\n      - {name: note, type: string}\n      - {name: paper-id, type: ref, ref-type: paper, required: true}\n" + effect
	}
	for name, c := range map[string]struct{ was, is, more, want string }{
		"filled with files":           {"", "", "", "file"},
		"beside other changes":        {"", "", verb("    effects:\n      - updates: paper\n        where: paper-id\n        set: {note: note}\n"), "file"},
		"filled with a text too":      {"", "", verb("    effects:\n      - updates: paper\n        where: paper-id\n        set: {file: note}\n"), ""},
		"filled with another's":       {"", "", verb("    effects:\n      - updates: paper\n        where: paper-id\n        set: {file: paper_id.note}\n"), ""},
		"reckoned":                    {"set: {file: file,", `set: {file: file + "",`, "", ""},
		"a handler may fill any":      {"", "", verb("    handler: true\n    effects:\n      - updates: paper\n        where: paper-id\n"), ""},
		"a handler may fill it":       {"", "", verb("    handler: true\n    effects:\n      - updates: paper.file\n        where: paper-id\n"), ""},
		"a handler fills another":     {"", "", verb("    handler: true\n    effects:\n      - updates: paper.note\n        where: paper-id\n"), "file"},
		"a handler may add rows":      {"", "", verb("    handler: true\n    effects:\n      - may-create: paper\n"), ""},
		"sensitive":                   {"file: {type: string}", "file: {type: string, sensitive: true}", "", ""},
		"personal":                    {"file: {type: string}", "file: {type: string, personal: true}", "", ""},
		"of a table of somebody else": {"managed: true", "managed: false", "", ""},
		"of no file":                  {", upload: {types: [application/pdf], max-size: 20 MB}", "", "", ""},
	} {
		text := palette + c.more
		if c.was != "" {
			text = strings.Replace(text, c.was, c.is, 1)
		}
		r, ds := Sources(dsl.NewSource("x.yaml", text))
		if r == nil {
			t.Errorf("%s: %s", name, inWords(ds))
			continue
		}
		e, got := r.Entity("paper"), ""
		if at := r.FileField(e); at >= 0 {
			got = e.Store.Fields[at].Name
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
