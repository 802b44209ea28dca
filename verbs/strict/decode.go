package strict

import (
	"errors"

	"gopkg.in/yaml.v3"
)

// Decode turns a panic of the library into an error: its parser has panicked on odd input
// before, and a palette is input.
func Decode(dec *yaml.Decoder, n *yaml.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = errors.New("yaml: it cannot be read")
		}
	}()
	return dec.Decode(n)
}

// TooNested finds excessively nested flow brackets or `- - -` and `? ? ?` chains before the YAML
// parser, which is slow on them, sees them. It may count brackets inside quotes; a palette with
// hundreds of those unclosed does not exist.
func TooNested(text string) (at int, found bool) {
	const most = 1000
	depth, run := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '[', '{':
			if depth++; depth > most {
				return i, true
			}
		case ']', '}':
			if depth > 0 {
				depth--
			}
		case '-', '?', ':':
			if i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t') {
				if run++; run > most {
					return i, true
				}
			}
			continue
		case ' ', '\t':
			continue
		}
		run = 0
	}
	return 0, false
}
