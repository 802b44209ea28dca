package words

// A Word is a word or a number of a text, in the form in which words are
// compared.
type Word struct {
	Plain string
	Range Range
	// Breaks says that a sentence ends, or a line, between it and the word
	// before.
	Breaks bool
	// Hidden says that characters that cannot be seen stand in it or beside it.
	Hidden bool
}

// Split divides a text into words, at most so many, and says whether there were
// more.
func Split(text string, most int) (all []Word, more bool) {
	// A word has a byte at least; what is beyond is not looked at.
	const longest = 64
	cut := len(text)
	if most < cut/longest {
		cut = most * longest
		for cut > 0 && text[cut]&0xC0 == 0x80 {
			cut--
		}
		more = true
	}
	s := scan{text: text[:cut]}
	s.divide()
	plain := string(s.plain)
	breaks := false
	for i := range s.tokens {
		t := &s.tokens[i]
		breaks = breaks || t.space == newLine
		if t.kind == markToken {
			switch t.mark {
			case '.', '!', '?', ';':
				// Not the point in "3.5", nor the one of "15. March".
				if i+1 == len(s.tokens) || s.tokens[i+1].space != noSpace && (i == 0 || t.mark != '.' || s.tokens[i-1].kind != numberToken || s.tokens[i-1].to-s.tokens[i-1].from > 2) {
					breaks = true
				}
			}
			continue
		}
		if len(all) == most {
			return all, true
		}
		all = append(all, Word{Plain: plain[t.from:t.to], Range: Range{int(t.start), int(t.end)}, Breaks: breaks && len(all) > 0, Hidden: t.hidden})
		breaks = false
	}
	return all, more
}
