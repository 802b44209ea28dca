package receipt

import (
	"fmt"
	"strings"
)

// NewID writes 128 bits for people: eight groups of four digits. Previews that a person agrees to
// have such an id.
func NewID(bits []byte) string {
	groups := make([]string, 8)
	for i := range groups {
		groups[i] = fmt.Sprintf("%x", bits[2*i:2*i+2])
	}
	return strings.Join(groups, "-")
}

// Short returns the end of an id, which people read to one another. It only serves to look up an
// id among a person's own.
func Short(id string) string { return id[max(0, len(id)-shortLength):] }

const shortLength = len("91d0-c7f2")

// IsID reports whether said is the id or its short form.
func IsID(id, said string) bool {
	said = strings.ToLower(said)
	return said != "" && (said == id || said == Short(id))
}
