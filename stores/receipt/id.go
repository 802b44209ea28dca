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
func Short(id string) string {
	id, _ = ReadAnswer(id)
	return id[max(0, len(id)-shortLength):]
}

const shortLength = len("91d0-c7f2")

// answerSign stands between the id of a preview and the occasion on which somebody was asked.
const answerSign = "~"

// Answer is what an answer to the question of a preview names: the preview, and the occasion on
// which it was shown. Two questions with the same content have different answers.
func (r *Receipt) Answer() string { return AnswerTo(r.Sealed().ID, r.Occasion) }

// AnswerTo is what an answer to the question about a preview names; occasion may be empty.
func AnswerTo(id, occasion string) string {
	if occasion == "" {
		return id
	}
	return id + answerSign + occasion
}

// ReadAnswer divides what Answer returned. Somebody who types only the id, or its short form,
// means the latest question that has it.
func ReadAnswer(answer string) (id, occasion string) {
	id, occasion, _ = strings.Cut(answer, answerSign)
	return id, occasion
}

// IsID reports whether said is the id or its short form.
func IsID(id, said string) bool {
	id, _ = ReadAnswer(id)
	said = strings.ToLower(said)
	return said != "" && (said == id || said == Short(id))
}
