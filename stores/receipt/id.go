package receipt

import (
	"fmt"
	"strings"
)

// NewID writes 128 bits as people read them: eight groups of four digits. What is
// agreed to has such an id.
func NewID(bits []byte) string {
	groups := make([]string, 8)
	for i := range groups {
		groups[i] = fmt.Sprintf("%x", bits[2*i:2*i+2])
	}
	return strings.Join(groups, "-")
}

// Short is the end of an id, which people read to one another. It is good for looking
// an id up among a person's own, and for nothing else.
func Short(id string) string { return id[max(0, len(id)-shortLength):] }

const shortLength = len("91d0-c7f2")

// IsID reports whether somebody means an id, by all of it or by its short form.
func IsID(id, said string) bool {
	said = strings.ToLower(said)
	return said != "" && (said == id || said == Short(id))
}
