package load

import (
	"bytes"
	"encoding/json"
	"strings"
)

// PaletteSchema returns the JSON Schema of a palette file, for editors: it completes keys, shows
// their documentation, and underlines unknown ones. It is made from the same table by which
// palettes are read. A palette refers to it in its first line:
//
//	# yaml-language-server: $schema=palette.schema.json
//
// Load checks what a schema cannot express (that a role exists, that an expression has the right
// type).
func PaletteSchema() []byte { return schemaOf("palette") }

// SidecarSchema is the same for a palette's translations.
func SidecarSchema() []byte { return schemaOf("sidecar") }

func schemaOf(name string) []byte {
	d := definer{}
	root := d.shape(shapes()[name])
	root = append([]property{
		{"$schema", "http://json-schema.org/draft-07/schema#"},
		{"$id", name + ".schema.json"},
		{"$comment", "Made by verbatim from the definitions that palettes are read by."},
	}, root...)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(object(root)); err != nil {
		panic(err) // the table holds an example that is not JSON: a test finds it
	}
	return b.Bytes()
}

// A definer writes shapes as JSON Schema, each in full where it is used: editors show the
// description at a place and not that of the definition referred to.
type definer struct {
	inRecord bool // within a record, whose fields cannot be records
}

// An object keeps its members in order, so that the schema reads like the table and its text is
// always the same.
type object []property

type property struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		key, _ := json.Marshal(m.key) // of texts and numbers: it cannot fail
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), bytes.TrimSpace(value.Bytes())...)
	}
	return append(b, '}'), nil
}

// shape describes a mapping of known keys.
func (d definer) shape(sh *shape) object {
	var required []string
	properties := make(object, 0, len(sh.keys))
	for i := range sh.keys {
		k := &sh.keys[i]
		if d.inRecord && k.of == shapes()["record-field"] {
			continue
		}
		properties = append(properties, property{k.name, d.key(k)})
		if k.required {
			required = append(required, k.name)
		}
	}
	o := object{{"title", title(sh.name)}, {"description", sh.doc}, {"type", "object"}, {"properties", properties}}
	if required != nil {
		o = append(o, property{"required", required})
	}
	return append(o, property{"additionalProperties", false})
}

func (d definer) key(k *key) object {
	o := object{
		{"title", title(k.name)},
		{"description", k.doc},
		{"examples", []json.RawMessage{json.RawMessage(k.example)}},
	}
	list := func(of object) { o = append(o, property{"type", "array"}, property{"items", of}) }
	named := func(of any) {
		o = append(o, property{"type", "object"}, property{"additionalProperties", of})
	}
	// A mapping is described beside the text that may replace it; then errors of the text
	// alternative are not reported.
	or := func(kinds []string, of object) {
		o = append(o, property{"type", kinds})
		for _, m := range of {
			if m.key != "title" && m.key != "description" && m.key != "type" {
				o = append(o, m)
			}
		}
	}
	switch k.holds {
	case "text":
		o = append(o, property{"type", scalarTypes})
		if k.words != nil {
			o = append(o, property{"enum", k.words})
		}
	case "boolean":
		o = append(o, property{"type", "boolean"})
	case "integer":
		o = append(o, property{"type", "integer"}, property{"minimum", 0})
	case "number":
		o = append(o, property{"type", []string{"number", "string"}})
	case "texts":
		item := object{{"type", scalarTypes}}
		if k.words != nil {
			item = append(item, property{"enum", k.words})
		}
		list(item)
	case "map":
		or([]string{"object"}, d.shape(k.of))
	case "maps":
		list(d.shape(k.of))
	case "named-maps":
		d.inRecord = d.inRecord || k.of == shapes()["record-field"]
		named(d.shape(k.of))
	case "named-texts":
		named(object{{"type", scalarTypes}})
	case "named":
		named(true)
	case "lists":
		list(object{{"type", "array"}, {"items", object{{"type", "string"}}}})
	case "text-or-texts":
		o = append(o, property{"type", append([]string{"array"}, scalarTypes...)}, property{"items", object{{"type", scalarTypes}}})
	case "text-or-map":
		if k.of == nil { // the items of a list: a type again, one level down
			or([]string{"string", "object"}, object{{"properties", d.itemKeys()}, {"additionalProperties", false}})
		} else {
			or([]string{"string", "object"}, d.shape(k.of))
		}
	case "text-or-maps":
		o = append(o, property{"type", []string{"string", "array"}}, property{"items", d.orText(k.of)})
	case "texts-or-maps":
		list(d.orText(k.of))
	case "anything":
	}
	return o
}

// scalarTypes are the types that YAML may read an unquoted text as: a date, a number, a word.
var scalarTypes = []string{"string", "number", "boolean"}

// orText describes an item that is a mapping or text.
func (d definer) orText(sh *shape) object {
	o := d.shape(sh)
	for i := range o {
		if o[i].key == "type" {
			o[i].value = []string{"string", "object"}
		}
	}
	return o
}

// itemKeys describes the keys of a list's item type. Load checks lists of lists of lists.
func (d definer) itemKeys() object {
	keys := make(object, 0, len(shapes()["item"].keys))
	for _, k := range shapes()["item"].keys {
		if k.name == "of" {
			keys = append(keys, property{k.name, object{
				{"title", title(k.name)}, {"description", k.doc},
				{"examples", []json.RawMessage{json.RawMessage(k.example)}}, {"type", []string{"string", "object"}},
			}})
			continue
		}
		if d.inRecord && k.of == shapes()["record-field"] {
			continue
		}
		keys = append(keys, property{k.name, d.key(&k)})
	}
	return keys
}

// title returns a name as a heading.
func title(name string) string {
	for _, article := range []string{"a ", "an ", "the "} {
		name = strings.TrimPrefix(name, article)
	}
	name = strings.ReplaceAll(name, "-", " ")
	return strings.ToUpper(name[:1]) + name[1:]
}
