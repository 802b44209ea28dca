package load

import (
	"regexp"
	"strconv"
	"sync"

	"gopkg.in/yaml.v3"

	"verbatim/dsl"
	"verbatim/verbs"
)

// uploadForm is the pattern of a reference. All arguments share it.
const uploadForm = verbs.UploadScheme + `[A-Za-z0-9_-]{1,200}`

var uploadPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + uploadForm + ")$") })

var (
	mediaType = regexp.MustCompile(`^[a-z]+/(\*|[a-z0-9][a-z0-9.+-]*)$`)
	sizeForm  = regexp.MustCompile(`^([1-9][0-9]{0,5}) ?(B|kB|MB|GB|KiB|MiB|GiB)$`)
)

// maxUpload is the largest file that a palette can accept.
const maxUpload = 5 << 30

// upload reads which files an argument accepts.
func (l *loader) upload(d *doc, p *verbs.Param, f mapping) {
	n := f.at("upload").value
	if n == nil || p.Type == nil {
		return
	}
	if p.Type.Name != verbs.StringType {
		d.report(tell(d.place(f.at("upload").key), "contradiction", ":"+p.Name+" is an upload and no string", "a file is referred to by text such as upload://q3vn5…; its type is string", d.place(f.at("type").value), "its type"))
		return
	}
	for _, key := range []string{"pattern", "min-length", "max-length"} {
		if k := f.at(key).key; k != nil {
			d.report(tell(d.place(k), "contradiction", ":"+p.Name+" is an upload, whose form is known", "leave "+key+" out", d.place(f.at("upload").key), "an upload"))
			return
		}
	}
	if f.at("default").value != nil {
		d.report(tell(d.place(f.at("default").key), "contradiction", ":"+p.Name+" is an upload and has a default", "a file belongs to the person who sent it; leave the default out", d.place(f.at("upload").key), "an upload"))
		return
	}
	u, ok := d.fields(n, "upload")
	if !ok || u.at("types").value == nil || u.at("max-size").value == nil {
		return
	}
	up := &verbs.Upload{}
	d.items(u.at("types"), func(n *yaml.Node) {
		if !mediaType.MatchString(n.Value) {
			d.report(tell(d.place(n), "bad-media-type", n.Value))
			return
		}
		up.Types = append(up.Types, n.Value)
	})
	if len(u.at("types").value.Content) == 0 {
		d.report(tell(d.place(u.at("types").key), "contradiction", ":"+p.Name+" takes files of no type", "name the types that it takes", dsl.Place{}, ""))
	}
	size, ok := parseSize(u.at("max-size").value.Value)
	if !ok {
		d.report(tell(d.place(u.at("max-size").value), "bad-size", u.at("max-size").value.Value))
	}
	up.MaxSize = size
	p.Upload = up
	p.Type = &verbs.Type{Name: verbs.StringType, Scale: p.Type.Scale, Pattern: uploadPattern()}
}

// parseSize reads a size such as "20 MB", as palettes write it.
func parseSize(text string) (int64, bool) {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, _ := strconv.ParseInt(m[1], 10, 64) // six digits
	n *= verbs.SizeUnits[m[2]]
	return n, n <= maxUpload
}
