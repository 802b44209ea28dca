package guard

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
)

// traces know which telling parts of results came from where. What a result held and an argument
// repeats has the result as its origin: an address, an account, a number of five digits and more, or a
// run of 24 characters, whatever their case and white space. Only keyed digests are kept, in a file
// that all guards of a user share, since a letter is read from one server and acted on in another.
//
// What was reworded, encoded or cut into short pieces is not found.
type traces struct {
	file string
	base uint64 // of the digests, secret

	mu   sync.Mutex
	read int64              // of the file
	all  map[uint64]int32   // the first source
	also map[uint64][]int32 // those of other servers
	from []source
	own  map[uint64]bool // what clients of this process said before any result did
}

// A source is a result.
type source struct {
	Server string    `json:"s"`
	Tool   string    `json:"t"`
	Time   time.Time `json:"at"`
	As     string    `json:"as,omitempty"` // see pin.As
}

// String says where something came from.
func (s *source) String() string {
	return fmt.Sprintf("a result of %s of %s (%s)", safe(s.Tool), safe(s.Server), s.Time.UTC().Format("2006-01-02 15:04:05"))
}

const (
	// Of a result every run of gram characters is kept that begins at a multiple of stride. An
	// argument is looked at everywhere, so that a common run of gram+stride-1 characters is found.
	gram, stride = 16, 9
	// mostTraces is how many parts are remembered; the file is begun anew after as many.
	mostTraces = 250_000
	// wideText is the length of a result from which runs are kept more sparsely.
	wideText = 256 << 10
)

func newTraces(s *State, key []byte) (*traces, error) {
	if len(key) < 8 {
		return nil, errors.New("traces need a key")
	}
	t := &traces{file: s.Path("traces"), base: binary.BigEndian.Uint64(key)%(prime-1000) + 500, all: map[uint64]int32{}, also: map[uint64][]int32{}, own: map[uint64]bool{}}
	if info, err := os.Stat(t.file); err == nil && info.Size() > mostTraces*11 {
		_ = os.Remove(t.file)
	}
	return t, t.refresh()
}

// prime is the modulus of digests of runs.
const prime = 1<<61 - 1

func mul(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	sum := lo&prime + (lo>>61 | hi<<3)
	sum = sum&prime + sum>>61
	if sum >= prime {
		sum -= prime
	}
	return sum
}

func hashOf(base uint64, text []rune) (h uint64) {
	for _, r := range text {
		h = (mul(h, base) + uint64(r) + 1) % prime
	}
	return h
}

// plainText writes text in small letters, with one space between words.
func plainText(text string) []rune {
	out := make([]rune, 0, len(text))
	space := true
	for _, r := range text {
		if unicode.IsSpace(r) {
			if !space {
				out = append(out, ' ')
			}
			space = true
			continue
		}
		space = false
		out = append(out, unicode.ToLower(r))
	}
	return out
}

// grams calls fn with the digest of each run of gram characters, a step after the last one, that tells
// something.
func (t *traces) grams(text []rune, step int, fn func(h uint64, tells bool)) {
	for ; len(text) >= gram; text = text[min(step, len(text)):] {
		different := 0 // neighbours
		for i := 1; i < gram; i++ {
			if text[i] != text[i-1] {
				different++
			}
		}
		fn(hashOf(t.base, text[:gram]), different > gram/3)
	}
}

var atoms = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\pL\pN._%+-]+@[\pL\pN-]+(?:\.[\pL\pN-]+)*|[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>)\]]+|(?:^|[\s"'<>()\[\],;=])(?:[a-zA-Z0-9-]+\.)+[a-zA-Z]{2,}(?::[0-9]+)?(?:/[^\s"'<>)\]]*)?|\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{2,4}){3,8}\b|[0-9][0-9 .,/-]{3,40}[0-9]|0x[0-9a-fA-F]{8,}`)
})

// files are endings of names of files, which are no hosts.
const files = " md txt json js mjs ts tsx go py rs java html css csv xml yaml yml toml pdf png jpg jpeg gif svg zip gz log sh sql db lock cfg conf ini docx xlsx bak tmp "

// forms returns the spellings under which a telling word is known.
func forms(m string) (all []string) {
	if strings.ContainsFunc(m, unicode.IsLetter) {
		m = strings.TrimLeft(strings.ToLower(strings.ReplaceAll(m, " ", "")), "\t\n\r\"'<>()[],;=")
		if _, rest, is := strings.Cut(m, "://"); is {
			m = rest
		}
		m = strings.TrimRight(m, ".,;:/")
		if !strings.ContainsAny(m, "@:/") && strings.Contains(files, " "+m[strings.LastIndexByte(m, '.')+1:]+" ") {
			return nil
		}
		return []string{m}
	}
	for _, part := range append(strings.Fields(m), m) { // one number, or several
		whole := part
		if i := strings.LastIndexAny(part, ".,"); i > 0 && len(part)-i <= 3 { // an amount
			whole = part[:i]
		}
		for _, text := range []string{part, whole} {
			digits := strings.Map(func(r rune) rune {
				if r >= '0' && r <= '9' {
					return r
				}
				return -1
			}, text)
			if len(digits) >= 5 && !slices.Contains(all, digits) {
				all = append(all, digits)
			}
		}
	}
	return all
}

// telling calls fn with the digest of each telling word.
func (t *traces) telling(text string, fn func(h uint64)) {
	for _, m := range atoms().FindAllString(text, 50_000) {
		for _, form := range forms(m) {
			fn(hashOf(t.base, []rune(form)) | 1<<62)
		}
	}
}

// keep remembers the telling parts of a result.
func (t *traces) keep(from source, text string) error {
	var found []uint64
	seen := map[uint64]bool{}
	add := func(h uint64) {
		if !seen[h] && !t.own[h] && !t.knows(h, from.Server) {
			seen[h] = true
			found = append(found, h)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return err
	}
	t.telling(text, add)
	plain := plainText(text)
	t.grams(plain, stride*(1+len(plain)/wideText), func(h uint64, tells bool) {
		if tells {
			add(h)
		}
	})
	if len(found) == 0 {
		return nil
	}
	raw := make([]byte, 0, 8*len(found))
	for _, h := range found {
		raw = binary.BigEndian.AppendUint64(raw, h)
	}
	line, _ := json.Marshal(struct {
		source
		D string `json:"d"`
	}{from, base64.RawStdEncoding.EncodeToString(raw)})
	f, err := os.OpenFile(t.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// refresh reads what was added to the file.
func (t *traces) refresh() error {
	info, err := os.Stat(t.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || info.Size() == t.read {
		return err
	}
	f, err := os.Open(t.file)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() < t.read { // another process began it anew
		t.read = 0
	}
	if _, err := f.Seek(t.read, 0); err != nil {
		return err
	}
	in := bufio.NewReaderSize(f, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil // a line that is being written
		}
		t.read += int64(len(line))
		var l struct {
			source
			D []byte `json:"-"`
			T string `json:"d"`
		}
		if json.Unmarshal(bytes.TrimSpace(line), &l) != nil {
			continue
		}
		raw, err := base64.RawStdEncoding.DecodeString(l.T)
		if err != nil {
			continue
		}
		if len(t.all) > mostTraces {
			clear(t.all)
			clear(t.also)
			t.from = nil
		}
		t.from = append(t.from, l.source)
		for ; len(raw) >= 8; raw = raw[8:] {
			h := binary.BigEndian.Uint64(raw)
			if _, known := t.all[h]; !known { // the first that held it
				t.all[h] = int32(len(t.from) - 1)
			} else if !t.knows(h, l.Server) {
				t.also[h] = append(t.also[h], int32(len(t.from)-1))
			}
		}
	}
}

// sources returns what held a telling part: one source for each server.
func (t *traces) sources(h uint64) (all []*source) {
	if first, known := t.all[h]; known {
		all = append(all, &t.from[first])
		for _, i := range t.also[h] {
			all = append(all, &t.from[i])
		}
	}
	return all
}

// knows reports whether a server is known to have said a telling part.
func (t *traces) knows(h uint64, server string) bool {
	return slices.ContainsFunc(t.sources(h), func(s *source) bool { return s.Server == server })
}

// find returns the results that held a telling part of a text, one of each server. What no result held
// is the client's own from now on.
func (t *traces) find(text string) (from []*source, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.refresh(); err != nil {
		return nil, err
	}
	var own []uint64
	look := func(h uint64) {
		own = append(own, h)
		if t.own[h] {
			return
		}
		for _, s := range t.sources(h) {
			if !slices.ContainsFunc(from, func(f *source) bool { return f.Server == s.Server }) {
				from = append(from, s)
			}
		}
	}
	t.telling(text, look)
	t.grams(plainText(text), 1, func(h uint64, _ bool) { look(h) })
	if from == nil && len(t.own) < mostTraces {
		for _, h := range own {
			t.own[h] = true
		}
	}
	return from, nil
}
