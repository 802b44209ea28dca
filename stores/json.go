package stores

// spelt reports whether a text is one JSON value in its canonical form, as far as one pass can
// tell: most texts that are read were written by us. It returns false if that is uncertain: for a
// key with an escape in it, and for characters escaped other than by a letter.
func spelt(s string) bool {
	end := spelling(s, 0, 0)
	return end > 0 && end == len(s)
}

// spelling returns the end of the value that begins at i, and 0 if the value is not known to be
// canonical.
func spelling(s string, i, depth int) int {
	if i >= len(s) || depth > maxJSONDepth {
		return 0
	}
	switch c := s[i]; {
	case c == '"':
		end, _ := quoted(s, i)
		return end
	case c == '{':
		if i++; i < len(s) && s[i] == '}' {
			return i + 1
		}
		for last, first := "", true; ; first = false {
			end, plain := quoted(s, i)
			if end == 0 || !plain || end >= len(s) || s[end] != ':' {
				return 0
			}
			key := s[i+1 : end-1]
			if !first && key <= last {
				return 0
			}
			last = key
			if i = spelling(s, end+1, depth+1); i == 0 || i >= len(s) {
				return 0
			}
			switch s[i] {
			case '}':
				return i + 1
			case ',':
				i++
			default:
				return 0
			}
		}
	case c == '[':
		if i++; i < len(s) && s[i] == ']' {
			return i + 1
		}
		for {
			if i = spelling(s, i, depth+1); i == 0 || i >= len(s) {
				return 0
			}
			switch s[i] {
			case ']':
				return i + 1
			case ',':
				i++
			default:
				return 0
			}
		}
	case c == '-' || c >= '0' && c <= '9':
		return number(s, i)
	}
	for _, word := range [...]string{"null", "true", "false"} {
		if len(s)-i >= len(word) && s[i:i+len(word)] == word {
			return i + len(word)
		}
	}
	return 0
}

// quoted returns the end of the string that begins at i, and whether it has no escapes.
func quoted(s string, i int) (end int, plain bool) {
	if i >= len(s) || s[i] != '"' {
		return 0, false
	}
	plain = true
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, plain
		case c == '\\':
			plain = false
			if i++; i >= len(s) {
				return 0, false
			}
			switch s[i] {
			case '"', '\\', 'n', 'r', 't':
			default:
				return 0, false
			}
		case c < 0x20 || c == 0x7f:
			return 0, false
		case c == 0xe2 && i+2 < len(s) && s[i+1] == 0x80 && s[i+2]&^1 == 0xa8: // U+2028 and U+2029
			return 0, false
		}
	}
	return 0, false
}

// number returns the end of the number that begins at i.
func number(s string, i int) int {
	digits := func() bool {
		from := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > from
	}
	if s[i] == '-' {
		i++
	}
	if i < len(s) && s[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(s) && s[i] == '.' {
		if i++; !digits() {
			return 0
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		if i++; i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}
