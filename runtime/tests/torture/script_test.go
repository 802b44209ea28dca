package torture

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A script is text with what is to be known about it.
type script struct {
	tag   string // its key, too
	parts int
	text  string
	big   bool // a manager must agree
}

// stream makes scripts without end. The same seed makes the same ones.
type stream struct {
	rnd  *rand.Rand
	name string
	n    int
}

func newStream(seed uint64, name string) *stream {
	return &stream{rnd: rand.New(rand.NewPCG(seed, 0)), name: name}
}

// three are accounts that differ.
func (s *stream) three() (a, b, c string) {
	p := s.rnd.Perm(accounts)
	return fmt.Sprintf("@acc%d", p[0]), fmt.Sprintf("@acc%d", p[1]), fmt.Sprintf("@acc%d", p[2])
}

// next is a script of one to four calls that change something, and perhaps some
// that look. The tag says how many parts there must be.
func (s *stream) next() script {
	s.n++
	want := 1 + s.rnd.IntN(4)
	tag := fmt.Sprintf("%s-%d/%d", s.name, s.n, want)
	var b strings.Builder
	for part := 1; part <= want; {
		a, c, d := s.three()
		amount := 1 + s.rnd.IntN(60)
		switch k := s.rnd.IntN(12); {
		case k == 0:
			fmt.Fprintln(&b, "bank.list-accounts")
			continue
		case k == 1:
			fmt.Fprintln(&b, "bank.totals")
			continue
		case k <= 3:
			fmt.Fprintf(&b, "bank.write :account-id %s :text \"%s, part %d\" :tag \"%s\" :part %d\n", a, tag, part, tag, part)
		case k == 4:
			fmt.Fprintf(&b, "bank.see :account-id %s :tag \"%s\" :part %d\n", a, tag, part)
		case k == 5:
			fmt.Fprintf(&b, "bank.tidy :account-id %s :tag \"%s\" :part %d\n", a, tag, part)
		case k <= 7 && part < want:
			fmt.Fprintf(&b, "bank.round :a-id %s :b-id %s :c-id %s :amount %d :tag \"%s\" :first %d :second %d\n", a, c, d, amount, tag, part, part+1)
			part++
		default:
			fmt.Fprintf(&b, "bank.move :from-id %s :to-id %s :amount %d :tag \"%s\" :part %d\n", a, c, amount, tag, part)
		}
		part++
	}
	return script{tag: tag, parts: want, text: b.String()}
}

// big is a script that a manager must agree to, and perhaps the teller too.
func (s *stream) big() script {
	s.n++
	a, b, c := s.three()
	tag := fmt.Sprintf("%s-%d/2", s.name, s.n)
	text := fmt.Sprintf("bank.move :from-id %s :to-id %s :amount %d :tag \"%s\" :part 1\n", a, b, 501+s.rnd.IntN(20), tag)
	if s.rnd.IntN(2) == 0 {
		text += fmt.Sprintf("bank.tidy :account-id %s :tag \"%s\" :part 2\n", c, tag)
	} else {
		text += fmt.Sprintf("bank.see :account-id %s :tag \"%s\" :part 2\n", c, tag)
	}
	return script{tag: tag, parts: 2, text: text, big: true}
}

// take is the next script; with big, every other one needs the manager.
func (s *stream) take(big bool) script {
	if big && s.n%2 == 1 {
		return s.big()
	}
	return s.next()
}

// parts reads from a tag how many parts its script has.
func parts(tag string) int {
	_, n, _ := strings.Cut(tag, "/")
	var want int
	if _, err := fmt.Sscan(n, &want); err != nil {
		return 0
	}
	return want
}
