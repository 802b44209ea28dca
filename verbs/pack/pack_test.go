package pack

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func files() map[string][]byte {
	return map[string][]byte{
		ManifestName:       []byte(`{"name": "shop", "version": "1.2.0"}`),
		"verbs/shop.yaml":  []byte("domain: shop\n"),
		"morning.dsl":      []byte("shop.open\n"),
		"eval/orders.yaml": []byte("cases: []\n"),
	}
}

// OB9: the same files make the same bytes, and what comes out is what went in.
func TestAPackIsItsFiles(t *testing.T) {
	t.Parallel()
	p, err := Make(files())
	if err != nil {
		t.Fatal(err)
	}
	two, err := Make(files())
	if err != nil || !bytes.Equal(p.Archive, two.Archive) {
		t.Fatal("two packs of the same files differ", err)
	}
	again := files()
	again[sumName] = []byte("left over from unpacking\n")
	if three, err := Make(again); err != nil || !bytes.Equal(p.Archive, three.Archive) {
		t.Error("a digest that lies among the files changes the pack", err)
	}
	palettes, err := p.Palettes()
	if err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(palettes, "shop.yaml"); err != nil {
		t.Error(err)
	}
	if p.Name != "shop" || p.Version != "1.2.0" || len(p.Files) != 4 || !strings.HasPrefix(p.Digest, "h1:") {
		t.Errorf("%+v", p)
	}
	changed := files()
	changed["morning.dsl"] = []byte("shop.close\n")
	if q, err := Make(changed); err != nil || q.Digest == p.Digest {
		t.Error("another file, and the same digest", err)
	}
}

// An entry of an archive that somebody made by hand.
type entry struct {
	name, text string
	mode       fs.FileMode
	method     uint16
}

func archive(t *testing.T, all ...entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, e := range all {
		h := &zip.FileHeader{Name: e.name, Method: e.method}
		h.SetMode(e.mode | 0o644)
		f, err := w.CreateHeader(h)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(e.text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// What no archive may be is refused before anything of it is used.
func TestBadArchivesAreRefused(t *testing.T) {
	t.Parallel()
	p, err := Make(files())
	if err != nil {
		t.Fatal(err)
	}
	good := p.Archive
	manifest := entry{name: ManifestName, text: `{"name": "shop", "version": "1.2.0"}`}
	lie := bytes.Replace(good, []byte("shop.open\n"), []byte("shop.shut\n"), 1)
	many := []entry{manifest}
	for i := range maxFiles {
		many = append(many, entry{name: "f" + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26)})
	}
	tests := map[string]struct {
		archive []byte
		says    string
	}{
		"no archive":                 {[]byte("PK, or not"), "no ZIP file"},
		"cut short":                  {good[:len(good)/2], "no ZIP file"},
		"nothing":                    {archive(t), "holds no pack.json"},
		"no digest":                  {archive(t, manifest), "holds no pack.sum"},
		"a digest that lies":         {archive(t, manifest, entry{name: sumName, text: p.Digest + "\n"}), "it says that its digest is"},
		"a byte changed":             {lie, "cannot be read: checksum error"},
		"a path out of it":           {archive(t, manifest, entry{name: "../../etc/cron.d/x"}), "leads out of the pack"},
		"a path from the root":       {archive(t, manifest, entry{name: "/etc/passwd"}), "leads out of the pack"},
		"a path of Windows":          {archive(t, manifest, entry{name: `verbs\..\x`}), "leads out of the pack"},
		"a drive":                    {archive(t, manifest, entry{name: `C:x`}), "leads out of the pack"},
		"a name that hides":          {archive(t, manifest, entry{name: "a\x1b[2Jb"}), "leads out of the pack"},
		"a link":                     {archive(t, manifest, entry{name: "verbs/x.yaml", text: "/etc/passwd", mode: fs.ModeSymlink}), "no plain file"},
		"a folder":                   {archive(t, manifest, entry{name: "verbs/"}), "leads out of the pack"},
		"a name twice":               {archive(t, manifest, manifest), "there twice"},
		"names that are one":         {archive(t, manifest, entry{name: "verbs/a.yaml"}, entry{name: "verbs/A.yaml"}), "one file on some systems"},
		"a file that is a folder":    {archive(t, manifest, entry{name: "verbs"}, entry{name: "verbs/a.yaml"}), "and the folder of"},
		"too many files":             {archive(t, many...), "at most 2000"},
		"a bomb":                     {saying(t, manifest, []byte{0xfe, 0xff, 0xff, 0x7f}), "more than"},
		"a manifest that is no JSON": {archive(t, entry{name: ManifestName, text: "name: shop"}), "cannot be read"},
		"a key that nobody knows":    {archive(t, entry{name: ManifestName, text: `{"name": "a", "version": "1.0.0", "fetch": "https://x"}`}), `"fetch" means nothing`},
		"two objects":                {archive(t, entry{name: ManifestName, text: `{"name": "a", "version": "1.0.0"} {}`}), "a second value"},
		"a name with a slash":        {archive(t, entry{name: ManifestName, text: `{"name": "../a", "version": "1.0.0"}`}), "is not one of small letters"},
		"no version":                 {archive(t, entry{name: ManifestName, text: `{"name": "a"}`}), "a version is written 1.4.0"},
		"a range of versions":        {archive(t, entry{name: ManifestName, text: `{"name": "a", "version": "1.0.0", "needs": {"packs": {"b": "^1"}}}`}), "needs.packs.b is"},
		"a store that nobody has":    {archive(t, entry{name: ManifestName, text: `{"name": "a", "version": "1.0.0", "needs": {"stores": ["oracle"]}}`}), "there is no store"},
		"a size that lies":           {saying(t, manifest, []byte{1, 0, 0, 0}), "cannot be read"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Open(test.archive); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v; want %q", err, test.says)
			}
		})
	}
}

// saying is an archive whose directory says that one of its files is of a size, which it is not.
func saying(t *testing.T, manifest entry, size []byte) []byte {
	t.Helper()
	b := archive(t, manifest, entry{name: "zeros", text: strings.Repeat("\x00", 1<<20), method: zip.Deflate}, entry{name: sumName, text: "h1:x\n"})
	at := bytes.LastIndex(b, []byte("PK\x01\x02"))
	at = bytes.LastIndex(b[:at], []byte("PK\x01\x02")) // that of zeros
	copy(b[at+24:], size)
	return b
}

// Every need that is not met is named at once.
func TestUnmetNeedsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	m, err := ReadManifest([]byte(`{"name": "a", "version": "1.0.0", "needs": {"verbatim": "2.1.0", "packs": {"b": "1.2.0", "c": "1.0.0", "d": "1.4.0"}, "stores": ["postgres"]}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := m.Unmet("2.0.9", map[string]string{"b": "2.0.0", "d": "1.10.0"}, "sqlite")
	want := []string{"verbatim 2.1.0 or newer; this is 2.0.9", "the pack b 1.2.0; 2.0.0 is installed", "the pack c 1.0.0; it is not installed", "a store of postgres; this one is sqlite"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := m.Unmet("development build", map[string]string{"b": "1.2.0", "c": "1.0.1", "d": "1.4.0"}, "postgres"); got != nil {
		t.Errorf("%q", got)
	}
}

// A name stands for one pack, and its version goes on.
func TestALockPinsAPack(t *testing.T) {
	t.Parallel()
	made := func(version, text string) *Pack {
		f := files()
		f[ManifestName] = []byte(`{"name": "shop", "version": "` + version + `"}`)
		f["morning.dsl"] = []byte(text)
		p, err := Make(f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var l Lock
	if err := l.Pin(made("1.2.0", "a")); err != nil {
		t.Fatal(err)
	}
	l, err := ReadLock([]byte(l.Text()))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what  string
		err   error
		wants string
	}{
		{"itself", l.Check(made("1.2.0", "a")), ""},
		{"other contents", l.Check(made("1.2.0", "b")), "with the digest"},
		{"another version", l.Check(made("1.3.0", "a")), "pins shop at version 1.2.0"},
		{"an older one", l.Pin(made("1.1.9", "a")), "does not go back"},
		{"the version again", l.Pin(made("1.2.0", "b")), "a version is given to one pack"},
		{"itself again", l.Pin(made("1.2.0", "a")), ""},
		{"a newer one", l.Pin(made("1.10.0", "b")), ""},
	} {
		if test.wants == "" && test.err != nil || test.wants != "" && (test.err == nil || !strings.Contains(test.err.Error(), test.wants)) {
			t.Errorf("%s: %v", test.what, test.err)
		}
	}
	for _, bad := range []string{"", "{", `{"packs": {"../x": {"version": "1.0.0"}}}`, `{"packs": {"x": {"version": "../1"}}}`, `{"more": 1}`} {
		if _, err := ReadLock([]byte(bad)); err == nil {
			t.Errorf("%q is read", bad)
		}
	}
}
