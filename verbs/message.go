package verbs

import (
	_ "embed"
	"sync"

	"verbatim/dsl"
	"verbatim/verbs/message"
)

//go:embed messages.txt
var messagesText string

var messages = sync.OnceValue(func() message.Messages { return message.Read(messagesText) })

// Tell makes a diagnostic of an entry of messages.txt.
func tell(at dsl.Place, name string, args ...any) dsl.Diagnostic {
	return messages().New(at, name, args...)
}
