package whatsapp

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

//go:embed fields.txt
var fields string

// What the presence of a member of a message does that is not read.
const (
	ignore = "ignore"
	unsure = "unsure"
	refuse = "refuse"
)

// listed holds the members that are not read, and what each does.
var listed = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for line := range strings.Lines(fields) {
		if words := strings.Fields(line); len(words) > 2 && words[0] != "#" {
			all[words[0]] = words[1]
		}
	}
	return all
})

// known holds the members of a message that are read.
var known = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	members(all, "messages", reflect.TypeFor[wireMessage]())
	return all
})

func members(all map[string]bool, path string, t reflect.Type) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("json")
		if name == "" {
			name = strings.ToLower(t.Field(i).Name)
		}
		all[path+"."+name] = true
		members(all, path+"."+name, t.Field(i).Type)
	}
}

// unread says what comes of the members of a message that are not read, and names those that are
// not listed either. The operator may have some of those ignored.
func unread(raw json.RawMessage, ignored []string) (does string, unknown []string) {
	var message any
	if json.Unmarshal(raw, &message) != nil {
		return ignore, nil
	}
	does = ignore
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for _, one := range v {
				walk(path, one)
			}
		case map[string]any:
			for name, one := range v {
				member := path + "." + strings.ToLower(name)
				switch what, is := listed()[member]; {
				case is && (does == ignore || what == refuse):
					does = what
				case is || slices.Contains(ignored, member):
				case known()[member]:
					walk(member, one)
				default:
					unknown = append(unknown, clean(member))
					if does == ignore {
						does = unsure
					}
				}
			}
		}
	}
	walk("messages", message)
	return does, unknown
}
