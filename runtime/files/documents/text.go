package documents

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	textunicode "golang.org/x/text/encoding/unicode"
)

// text reads plain text: each line that says something is a piece.
func (x *extractor) text(data []byte) error {
	s, err := x.decoded(data)
	if err != nil {
		return err
	}
	_, err = x.lines(s, 0)
	return err
}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// lines adds the lines of a text and returns the number of the last.
func (x *extractor) lines(s string, line int) (int, error) {
	for text := range strings.Lines(newlines.Replace(s)) {
		line++
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		if err := x.add(Piece{Kind: Text, At: Location{Line: line}, Text: text}); err != nil {
			return line, err
		}
	}
	return line, nil
}

func (x *extractor) decoded(data []byte) (string, error) {
	s, name, ok := decode(data)
	if !ok {
		return "", fail(WrongType, "the bytes are not text")
	}
	if x.inside == "" {
		x.doc.Encoding = name
	}
	return s, nil
}

// csv reads a table and guesses its separator.
func (x *extractor) csv(data []byte) error {
	s, err := x.decoded(data)
	if err != nil {
		return err
	}
	s = newlines.Replace(s)
	skipped := 0
	sep := separator(s)
	if first, rest, ok := strings.Cut(s, "\n"); ok && strings.HasPrefix(first, "sep=") && len(strings.TrimSpace(first)) == 5 {
		sep, s, skipped = rune(first[4]), rest, 1 // as Excel writes it
	}
	if x.inside == "" {
		x.doc.Separator = string(sep)
	}
	x.tables++
	r := csv.NewReader(strings.NewReader(s))
	r.Comma, r.LazyQuotes, r.FieldsPerRecord, r.ReuseRecord = sep, true, -1, true
	for row, next := 1, 1; ; row++ {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fail(Damaged, "row %d cannot be taken apart", row)
		}
		first, _ := r.FieldPos(0)
		row += first - next // lines without anything are rows too
		next = first + strings.Count(strings.Join(record, ""), "\n") + 1
		for i, value := range record {
			if value = strings.TrimSpace(value); value == "" {
				continue
			}
			line, _ := r.FieldPos(i)
			at := Location{Table: x.tables, Row: row, Column: i + 1, Line: line + skipped}
			if err := x.add(Piece{Kind: InCell, At: at, Text: value, Cell: &Cell{}}); err != nil {
				return err
			}
		}
	}
}

// separator finds the character that occurs equally often in most of the first rows, outside quotes.
func separator(s string) rune {
	best, most := ',', 0
	for _, sep := range ";,\t|" {
		var counts []int
		n, quoted := 0, false
		for _, r := range s[:min(len(s), 64<<10)] {
			switch {
			case r == '"':
				quoted = !quoted
			case r == sep && !quoted:
				n++
			case r == '\n' && !quoted:
				counts, n = append(counts, n), 0
			}
		}
		if counts = append(counts, n); len(counts) > 1 && n == 0 {
			counts = counts[:len(counts)-1]
		}
		rows := map[int]int{} // by how many separators they have
		for _, c := range counts {
			rows[c]++
			if score := rows[c]*1000/len(counts)*100 + min(c, 99); c > 0 && score > most {
				best, most = sep, score
			}
		}
	}
	return best
}

// decode finds the encoding of a text, and its name. ok is false if it is no text in any encoding.
func decode(data []byte) (text, name string, ok bool) {
	as := func(e encoding.Encoding, name string) (string, string, bool) {
		s, err := e.NewDecoder().String(string(data))
		return strings.TrimPrefix(s, "\ufeff"), name, err == nil
	}
	head := data[:min(len(data), 4096)]
	switch even, odd := nuls(head); {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), odd > len(head)/6 && even == 0:
		return as(textunicode.UTF16(textunicode.LittleEndian, textunicode.IgnoreBOM), "UTF-16LE")
	case bytes.HasPrefix(data, []byte("\xfe\xff")), even > len(head)/6 && odd == 0:
		return as(textunicode.UTF16(textunicode.BigEndian, textunicode.IgnoreBOM), "UTF-16BE")
	case even+odd > 0, controls(data):
		return "", "", false
	case utf8.Valid(data):
		return strings.TrimPrefix(string(data), "\ufeff"), "UTF-8", true
	}
	best := charmap.Windows1252
	for _, c := range []*charmap.Charmap{charmap.CodePage850, charmap.Macintosh} {
		if likely(data, c) > likely(data, best) {
			best = c
		}
	}
	return as(best, best.String())
}

func nuls(data []byte) (even, odd int) {
	for i, b := range data {
		if b == 0 && i%2 == 0 {
			even++
		} else if b == 0 {
			odd++
		}
	}
	return even, odd
}

// controls reports whether there are more control characters than any text has.
func controls(data []byte) bool {
	n := 0
	for _, b := range data {
		if b < 0x20 && b != '\n' && b != '\r' && b != '\t' && b != '\f' {
			n++
		}
	}
	return n > len(data)/50
}

// likely says how well the bytes above ASCII look as letters within words and
// signs beside them.
func likely(data []byte, c *charmap.Charmap) (score int) {
	isLetter := func(i int) bool { return i >= 0 && i < len(data) && unicode.IsLetter(rune(data[i])) && data[i] < 0x80 }
	for i, b := range data[:min(len(data), 64<<10)] {
		if b < 0x80 {
			continue
		}
		switch r := c.DecodeByte(b); {
		case unicode.IsLower(r) && (isLetter(i-1) || isLetter(i+1)), unicode.IsUpper(r) && !isLetter(i-1) && isLetter(i+1):
			score++
		case r == '’' || !unicode.IsLetter(r) && unicode.IsPrint(r) && !(isLetter(i-1) && isLetter(i+1)):
			score++
		case !unicode.IsPrint(r) && r != '\u00a0' || r == utf8.RuneError:
			score -= 2
		}
	}
	return score
}
