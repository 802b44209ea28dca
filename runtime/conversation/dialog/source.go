package dialog

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"verbatim/stores"
	"verbatim/stores/receipt"
	"verbatim/verbs"
)

// A source is a text that the person said or that the model was shown in this turn, with its
// origin. The values of calls and replies are traced to sources.
type source struct {
	origin verbs.Origin
	text   string
	when   time.Time // of people's words: the day to which "tomorrow" refers
	past   bool      // it was shown in an earlier turn
	// unshown says that the model does not see it now.
	unshown bool
	own     []statement // of the person's words that may lead to a change now
	// answered says that the turn that they began called something.
	answered bool
	// amended says that these are the words of a change that the person amends, and theirs behind.
	amended bool

	folded   string
	squeezed string
	starts   []int // indexes in squeezed where words begin, ascending
	ends     []int
	readings []reading
	read     bool
}

// A reading is an exact value that a text says in words.
type reading struct {
	start, end int
	date       bool
	value      stores.Value   // null if it is ambiguous
	others     []stores.Value // the possible values, if it is ambiguous
	text       string         // of account numbers and the like: the value as text
	currency   string         // of an amount, by sign, name or code; "" if it is ambiguous
	currencies []string       // the possible ones
}

// A reader finds exact values in a text: dates, amounts, numbers.
type reader func(text string, now time.Time) []reading

// sources are the sources of a turn so far.
type sources struct {
	all     []*source
	wish    []*source // the person's words that may lead to a change now
	told    []*source // what the person was told before
	used    []string  // names in the calls that changed something
	changed *Turn     // the last turn that changed something
	asked   bool      // the last turn asked for more
	read    reader
	now     time.Time
}

func (s *sources) add(origin verbs.Origin, text string, when time.Time) {
	if strings.TrimSpace(text) == "" {
		return
	}
	s.all = append(s.all, &source{origin: origin, text: text, when: when})
}

// result adds the result of a call, each value with its origin. Sensitive values are not shown, so
// they are no source.
func (s *sources) result(r *receipt.Result) {
	by := map[verbs.Origin]*strings.Builder{}
	var order []verbs.Origin
	for i, row := range r.Rows {
		for j, v := range row {
			if v.IsNull() || r.Sensitive != nil && r.Sensitive[j] {
				continue
			}
			o := verbs.Stored(r.Origin(i, j))
			if by[o] == nil {
				by[o] = &strings.Builder{}
				order = append(order, o)
			}
			// Each value has a line of its own, so no literal is found across two.
			by[o].WriteString(plain(v))
			by[o].WriteByte('\n')
		}
	}
	for _, o := range order {
		s.add(o, by[o].String(), s.now)
	}
}

// untrusted combines the origins of all sources that are less trusted than a record.
func (s *sources) untrusted() verbs.Origin {
	var o verbs.Origin
	for _, src := range s.all {
		if !src.past && !src.origin.Trusted() {
			o = o.Mix(src.origin)
		}
	}
	return o
}

// plain returns a value as people and models read it.
func plain(v stores.Value) string {
	if v.IsNull() {
		return ""
	}
	return v.Text()
}

// Folding

// fold makes texts comparable: lower case, single spaces, one kind of quotation mark.
func fold(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	gap := true
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			if !gap && r != '\n' {
				b.WriteByte(' ')
			} else if r == '\n' {
				b.WriteByte('\n')
			}
			gap = true
			continue
		case r == '’' || r == '‘':
			r = '\''
		case r == '“' || r == '”' || r == '„' || r == '«' || r == '»':
			r = '"'
		case r == '–' || r == '—' || r == '‑':
			r = '-'
		}
		gap = false
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.TrimSpace(b.String())
}

// squeeze keeps letters and digits only, with the positions where words begin and end. So an
// account number is found in any grouping, and not inside another one.
func squeeze(text string) (out string, starts, ends []int) {
	var b strings.Builder
	inside := false
	for _, r := range text {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if !inside {
				starts = append(starts, b.Len())
			}
			inside = true
			b.WriteRune(unicode.ToLower(r))
			continue
		}
		if inside {
			ends = append(ends, b.Len())
		}
		inside = false
	}
	if inside {
		ends = append(ends, b.Len())
	}
	return b.String(), starts, ends
}

func (s *source) prepare(read reader) {
	if s.read {
		return
	}
	s.read = true
	s.folded = fold(s.text)
	s.squeezed, s.starts, s.ends = squeeze(s.text)
	s.readings = read(s.text, s.when)
}

// hasWords reports whether a text occurs in the source at word boundaries.
func (s *source) hasWords(folded string) bool {
	return folded != "" && containsWord(s.folded, folded)
}

func containsWord(text, part string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(part):])
		first, _ := utf8.DecodeRuneInString(part)
		last, _ := utf8.DecodeLastRuneInString(part)
		if !(isWord(before) && isWord(first)) && !(isWord(after) && isWord(last)) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		from = i + size
	}
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// hasSqueezed reports whether letters and digits occur in the source in a row, from the beginning
// to the end of words.
func (s *source) hasSqueezed(part string) bool {
	if part == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(s.squeezed[from:], part)
		if i < 0 {
			return false
		}
		i += from
		_, begins := slices.BinarySearch(s.starts, i)
		_, ends := slices.BinarySearch(s.ends, i+len(part))
		if begins && ends {
			return true
		}
		from = i + 1
	}
}

// hasDate reports whether the source says a date for certain, or as one of several possible ones.
func (s *source) hasDate(day stores.Value) (certain, possible bool) {
	for i := range s.readings {
		r := &s.readings[i]
		if !r.date {
			continue
		}
		certain = certain || r.value == day
		possible = possible || r.value == day || slices.Contains(r.others, day)
	}
	return certain, possible
}

func (s *source) hasNumber(n stores.Value) (certain, possible bool) {
	for i := range s.readings {
		r := &s.readings[i]
		if r.date {
			continue
		}
		same := func(v stores.Value) bool { return isNumber(v) && stores.Equal(v, n) }
		certain = certain || same(r.value)
		possible = possible || same(r.value) || slices.ContainsFunc(r.others, same)
	}
	return certain, possible
}

func isNumber(v stores.Value) bool { return v.Kind() == stores.Int || v.Kind() == stores.Decimal }
