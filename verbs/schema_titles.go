package verbs

import "encoding/json"

// Titles are what people call a property of an object, and a value of it: its title,
// and that of the one of its choices which the value is. Each is "" where the schema
// has none.
func (s *Schema) Titles(property, value string) (title, called string) {
	var top struct {
		Properties map[string]struct {
			Title string `json:"title"`
			OneOf []struct {
				Const any    `json:"const"`
				Title string `json:"title"`
			} `json:"oneOf"`
		} `json:"properties"`
	}
	if json.Unmarshal(s.text, &top) != nil {
		return "", ""
	}
	p := top.Properties[property]
	for _, o := range p.OneOf {
		if o.Const == value {
			called = o.Title
		}
	}
	return p.Title, called
}
