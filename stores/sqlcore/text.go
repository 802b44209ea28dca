package sqlcore

import (
	"strconv"
	"sync"
)

// A Text is a statement under construction: its words and, in the same order, its arguments. A is
// the type of an argument; S is the other state of one store that the parts of a statement share.
// A Text belongs to one goroutine.
type Text[A, S any] struct {
	Args  []A
	words []byte
	room  *[]byte // the pooled buffer of the words; nil for a part
	*Shared[S]
}

// Shared is the state that the parts of one statement share.
type Shared[S any] struct {
	Own    S
	hole   Hole
	seq    int // number of aliases made
	values int // how many values of conditions were written
}

// A Hole stands for an argument until the statement is complete.
type Hole byte

// The ways in which a statement can name its arguments.
const (
	Marked   Hole = '?' // each by a question mark
	Numbered Hole = 0   // $1, $2 …, numbered when the statement is whole; the byte occurs in no name and in no word of ours
)

// longText is the length from which a text is not cached.
const longText = 16 << 10

// rooms are buffers for the text of statements.
var rooms = sync.Pool{New: func() any { b := make([]byte, 0, 2048); return &b }}

// NewText begins a statement.
func NewText[A, S any](hole Hole) *Text[A, S] {
	t := new(struct {
		Text[A, S]
		shared Shared[S]
	})
	t.room = rooms.Get().(*[]byte)
	t.words, t.shared.hole, t.Shared = (*t.room)[:0], hole, &t.shared
	return &t.Text
}

// Done returns the buffer to the pool. The text is empty then.
func (t *Text[A, S]) Done() {
	if t.room != nil && cap(t.words) <= longText {
		*t.room = t.words[:0]
		rooms.Put(t.room)
	}
	t.words, t.room = nil, nil
}

// Part begins a piece that is written separately and joined later.
func (t *Text[A, S]) Part() *Text[A, S] {
	p := new(struct {
		Text[A, S]
		room [64]byte
	})
	p.words, p.Shared = p.room[:0], t.Shared
	return &p.Text
}

// Add writes words one after another.
func (t *Text[A, S]) Add(words ...string) *Text[A, S] {
	for _, w := range words {
		t.words = append(t.words, w...)
	}
	return t
}

// Name writes a quoted name, so that it can be nothing but a name.
func (t *Text[A, S]) Name(name string) *Text[A, S] {
	t.words = append(t.words, '"')
	for i := range len(name) {
		switch name[i] {
		case byte(Numbered):
		case '"':
			t.words = append(t.words, `""`...)
		default:
			t.words = append(t.words, name[i])
		}
	}
	t.words = append(t.words, '"')
	return t
}

// Arg writes a placeholder for an argument, and words behind it, such as a cast.
func (t *Text[A, S]) Arg(v A, words ...string) *Text[A, S] {
	t.words = append(t.words, byte(t.hole))
	t.Args = append(t.Args, v)
	return t.Add(words...)
}

// Join appends a piece with its arguments.
func (t *Text[A, S]) Join(p *Text[A, S]) *Text[A, S] {
	t.words = append(t.words, p.words...)
	t.Args = append(t.Args, p.Args...)
	return t
}

// Alias makes a name that no other part of the statement has.
func (t *Text[A, S]) Alias() string {
	t.seq++
	return "v" + strconv.Itoa(t.seq)
}

// Nth numbers the values of conditions, from 0.
func (t *Text[A, S]) Nth() int {
	t.values++
	return t.values - 1
}

// Limit writes how many rows are wanted as a literal. SQLite plans a statement again for
// each value of a limit that is bound, and PostgreSQL plans one for all values only if it
// knows the limit.
func (t *Text[A, S]) Limit(n int) *Text[A, S] { return t.Add(" LIMIT ", strconv.Itoa(n)) }

// Len is how long it is so far.
func (t *Text[A, S]) Len() int { return len(t.words) }

// String is what was written so far.
func (t *Text[A, S]) String() string { return string(t.words) }

// Whole returns the statement with its arguments named, and calls Done. Args stays.
func (t *Text[A, S]) Whole() string {
	defer t.Done()
	if t.hole == Marked {
		return wholes.keep(t.words)
	}
	room := rooms.Get().(*[]byte)
	defer rooms.Put(room)
	b, n := (*room)[:0], 0
	for _, w := range t.words {
		if w != byte(Numbered) {
			b = append(b, w)
			continue
		}
		n++
		b = strconv.AppendInt(append(b, '$'), int64(n), 10)
	}
	if len(b) <= longText {
		*room = b
	}
	return wholes.keep(b)
}

// wholes are the statements that were written lately. Most are written again and again.
var wholes spelled

// mostTexts bounds them: more than that are not written again and again.
const mostTexts = 2000

// A spelled keeps each text once.
type spelled struct {
	mu    sync.RWMutex
	texts map[string]string
}

func (s *spelled) keep(b []byte) string {
	if len(b) > longText {
		return string(b)
	}
	s.mu.RLock()
	text, there := s.texts[string(b)]
	s.mu.RUnlock()
	if there {
		return text
	}
	text = string(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.texts == nil || len(s.texts) >= mostTexts {
		s.texts = make(map[string]string)
	}
	s.texts[text] = text
	return text
}
