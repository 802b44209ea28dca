package dialog

import (
	"regexp"
	"sync"
)

// lazily compiles an expression when it is first asked for. Those that read four
// languages take longer to compile than the whole command takes to check a script,
// and only a conversation needs them.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
