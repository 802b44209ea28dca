package verbs

import "encoding/json"

// Titles returns the title of a property of an object, and the title of the choice that a value
// of the property is. Each is "" if the schema has none.
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
