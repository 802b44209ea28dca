package verbs

import (
	"slices"
	"strconv"
	"strings"

	"verbatim/verbs/message"
)

// UploadScheme begins a reference to an upload.
const UploadScheme = "upload://"

// An Upload says which files an argument accepts: the argument is a string that refers to a file.
type Upload struct {
	Types   []string // "application/pdf", "image/*"
	MaxSize int64    // in bytes
}

// Takes reports whether files of a type are accepted.
func (u *Upload) Takes(mediaType string) bool {
	return slices.ContainsFunc(u.Types, func(t string) bool { return covers(t, mediaType) })
}

// covers reports whether t is the type of, or a family that contains it.
func covers(t, of string) bool {
	family, all := strings.CutSuffix(t, "*")
	return t == of || all && strings.HasPrefix(of, family)
}

// Wanted describes which files are accepted.
func (u *Upload) Wanted() string {
	return message.Joined(u.Types, "or") + ", at most " + SizeText(u.MaxSize)
}

// SizeText writes a size in bytes for people.
func SizeText(n int64) string {
	unit, name := int64(1), "B"
	for _, u := range []string{"kB", "MB", "GB"} {
		if n >= SizeUnits[u] {
			unit, name = SizeUnits[u], u
		}
	}
	if unit == 1 || n%unit == 0 {
		return strconv.FormatInt(n/unit, 10) + " " + name
	}
	// One digit is enough, rounded up: a size over a limit must not read like the limit.
	tenths := (n*10 + unit - 1) / unit
	return strconv.FormatInt(tenths/10, 10) + "." + strconv.FormatInt(tenths%10, 10) + " " + name
}

// office are the short names of types with unreadable names.
var office = map[string]string{
	"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":         "XLSX",
	"application/vnd.openxmlformats-officedocument.wordprocessingml.document":   "DOCX",
	"application/vnd.openxmlformats-officedocument.presentationml.presentation": "PPTX",
}

// TypeText writes a type of file for people: "PDF". A type without a short name keeps its own.
func TypeText(media string) string {
	const short = 4
	if name, ok := office[media]; ok {
		return name
	}
	if _, kind, ok := strings.Cut(media, "/"); ok && kind != "" && len(kind) <= short {
		return strings.ToUpper(kind)
	}
	return media
}

// FileField returns the field of an entity that refers to a file, -1 if there is none: a field
// that verbs fill only with files that their callers sent. So nobody can put a reference to
// another person's file into a row, and everybody who sees the row may read the file.
func (r *Registry) FileField(e *Entity) int {
	if !e.Store.Managed {
		return -1 // others may write any value
	}
	files := map[int]bool{}
	for _, v := range r.sorted {
		for i := range v.Effects {
			x := &v.Effects[i]
			if x.Entity != e || x.Kind != Creates && x.Kind != Updates {
				continue
			}
			if v.Handler {
				fields := x.handlerWrites()
				if fields == nil {
					return -1 // a handler may write any field
				}
				for _, f := range fields {
					files[f] = false
				}
				continue
			}
			for _, set := range x.Set {
				param, alone := set.Value.ArgOnly()
				is := alone && v.Params[param].Upload != nil && !v.Params[param].Sensitive
				if was, known := files[set.Field]; known {
					is = is && was
				}
				files[set.Field] = is
			}
		}
	}
	for i := range e.Fields {
		if files[i] && !e.Store.Fields[i].Sensitive && !e.Store.Fields[i].Personal {
			return i
		}
	}
	return -1
}

// handlerWrites lists the fields that a handler may change by an update; nil is any field.
func (x *Effect) handlerWrites() []int {
	if x.Kind != Updates {
		return nil
	}
	fields := slices.Clone(x.Fields)
	for _, set := range x.Set {
		fields = append(fields, set.Field)
	}
	return fields
}

// SizeUnits are the units of sizes, in bytes.
var SizeUnits = map[string]int64{"B": 1, "kB": 1000, "MB": 1000_000, "GB": 1000_000_000, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
