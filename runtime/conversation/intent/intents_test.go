package intent

import (
	"cmp"
	"slices"

	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// Sentences that others collected for other systems are no part of this project:
//
//	go test ./runtime/conversation/intent -run TestIntents -v -intents DIR
//
// DIR holds banking77-train.csv and banking77-test.csv of PolyAI, and clinc150.json
// of clinc/oos-eval.
var (
	intentsDir  = flag.String("intents", "", "the `folder` of intents by others, to measure with")
	intentsMost = flag.Int("most", 1500, "of how many sentences of a set is measured")
)

// An intentSet is a set of sentences by their intents.
type intentSet struct {
	name        string
	train, test [][2]string // a sentence and its intent
	beyond      [][2]string // more sentences that may be fitted to
	beside      []string    // sentences of the same kind that belong to no intent
	strays      []string    // and those that may be fitted to
}

// phrasesOfIntent is how many sentences of each intent become phrases of its verb.
const phrasesOfIntent = 10

func intentSets(t testing.TB) []intentSet {
	t.Helper()
	if *intentsDir == "" {
		t.Skip("-intents names no folder, so that nothing is measured on intents by others")
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(*intentsDir, name))
		if err != nil {
			t.Fatalf("the folder of intents lacks %s: %v", name, err)
		}
		return data
	}
	rows := func(name string) (all [][2]string) {
		records, err := csv.NewReader(strings.NewReader(string(read(name)))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records[1:] {
			all = append(all, [2]string{r[0], r[1]})
		}
		return all
	}
	var clinc map[string][][2]string
	if err := json.Unmarshal(read("clinc150.json"), &clinc); err != nil {
		t.Fatal(err)
	}
	var beside, strays []string
	for _, s := range clinc["oos_test"] {
		beside = append(beside, s[0])
	}
	for _, s := range append(clinc["oos_train"], clinc["oos_val"]...) {
		strays = append(strays, s[0])
	}
	return []intentSet{
		{"banking77", rows("banking77-train.csv"), rows("banking77-test.csv"), nil, nil, nil},
		{"clinc150", clinc["train"], clinc["test"], clinc["val"], beside, strays},
	}
}

// palette is a palette of a verb for each intent, and the sentences that may be fitted
// to and are no phrase of it.
func (s *intentSet) palette(t testing.TB) (*verbs.Registry, [][2]string) {
	t.Helper()
	var order []string
	var rest [][2]string
	phrases := map[string][]string{}
	for _, row := range s.train {
		if phrases[row[1]] == nil {
			order = append(order, row[1])
		}
		if len(phrases[row[1]]) == phrasesOfIntent {
			rest = append(rest, row)
			continue
		}
		phrases[row[1]] = append(phrases[row[1]], strings.NewReplacer("{", "(", "}", ")").Replace(row[0]))
	}
	var b strings.Builder
	b.WriteString("domain: intents\nroles: [{name: anybody, description: Anybody.}]\nverbs:\n")
	for _, name := range order {
		list, err := json.Marshal(phrases[name])
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.ReplaceAll(name, "_", " ")
		fmt.Fprintf(&b, "  - verb: %s\n    description: %s.\n    roles: [anybody]\n    handler: true\n    phrases: %s\n", intentVerb(name)[len("intents."):], strings.TrimRight(strings.ToUpper(plain[:1])+plain[1:], "?"), list)
	}
	reg, ds := loading.Dir(fstest.MapFS{"intents.yaml": {Data: []byte(b.String())}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg, append(rest, s.beyond...)
}

func intentVerb(intent string) string {
	plain := strings.ToLower(strings.Trim(strings.NewReplacer("_", "-", "?", "").Replace(intent), "-"))
	return "intents." + plain
}

// sample is random.Random(20261122).sample(range(n), k) of Python, so that all who
// measure take the same sentences.
func sample(n, k int) []int {
	const seed = 20261122
	var mt [624]uint32
	mt[0] = 19650218
	for i := 1; i < len(mt); i++ {
		mt[i] = 1812433253*(mt[i-1]^mt[i-1]>>30) + uint32(i)
	}
	i := 1
	for range mt {
		mt[i] = mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1664525 + seed
		if i++; i == len(mt) {
			mt[0], i = mt[len(mt)-1], 1
		}
	}
	for range len(mt) - 1 {
		mt[i] = mt[i] ^ (mt[i-1]^mt[i-1]>>30)*1566083941 - uint32(i)
		if i++; i == len(mt) {
			mt[0], i = mt[len(mt)-1], 1
		}
	}
	mt[0] = 1 << 31
	at := len(mt)
	next := func() uint32 {
		if at == len(mt) {
			for j := range mt {
				y := mt[j]&(1<<31) | mt[(j+1)%len(mt)]&(1<<31-1)
				mt[j] = mt[(j+397)%len(mt)] ^ y>>1 ^ y&1*0x9908b0df
			}
			at = 0
		}
		y := mt[at]
		at++
		y ^= y >> 11
		y ^= y << 7 & 0x9d2c5680
		y ^= y << 15 & 0xefc60000
		return y ^ y>>18
	}
	pool := make([]int, n)
	for i := range pool {
		pool[i] = i
	}
	out := make([]int, min(n, k))
	for i := range out {
		bits := 0
		for (n-i)>>bits > 0 {
			bits++
		}
		j := n
		for j >= n-i {
			j = int(next() >> (32 - bits))
		}
		out[i] = pool[j]
		pool[j] = pool[n-i-1]
	}
	return out
}

// A tally is what became of sentences whose intent is known.
type tally struct {
	said, first, second, menu int
	right5, wrong5, five      int // proposed at 0.5, and right or in a menu of five otherwise
	right8, wrong8, eight     int
	beside, beside5, beside8  int
	took                      time.Duration
	sure                      [][2]float64
}

// at returns how many are right where so many are wrong, of the surest.
func (t *tally) atWrong(most float64) float64 {
	slices.SortStableFunc(t.sure, func(a, b [2]float64) int { return cmp.Compare(b[0], a[0]) })
	right, wrong := 0, 0
	for _, s := range t.sure {
		if s[1] == 1 {
			right++
		} else if wrong++; percent(wrong, t.said) > most {
			break
		}
	}
	return percent(right, t.said)
}

func (t *tally) String() string {
	s := fmt.Sprintf("%d sentences: first %.1f %%, within two %.1f, within five %.1f; at 0.5 rightly %.1f, wrongly %.1f, right or in a menu %.1f; at 0.8 rightly %.1f, wrongly %.1f, right or in a menu %.1f",
		t.said, percent(t.first, t.said), percent(t.second, t.said), percent(t.menu, t.said),
		percent(t.right5, t.said), percent(t.wrong5, t.said), percent(t.five, t.said),
		percent(t.right8, t.said), percent(t.wrong8, t.said), percent(t.eight, t.said))
	if t.beside > 0 {
		s += fmt.Sprintf("; of %d that belong to nothing, proposed at 0.5 %.1f %%, at 0.8 %.1f", t.beside, percent(t.beside5, t.beside), percent(t.beside8, t.beside))
	}
	s += fmt.Sprintf("; %.1f right where 1.5 are wrong, %.1f where 3", t.atWrong(1.5), t.atWrong(3))
	return s + fmt.Sprintf("; %.2f ms a sentence", float64(t.took.Microseconds())/1000/float64(max(1, t.said+t.beside)))
}

// count reads a sentence that means a verb; "" is none.
func (t *tally) count(r *Reader, text, want string) {
	start := time.Now()
	h := r.Read(text, english)
	t.took += time.Since(start)
	var p Part
	for i := range h.Parts {
		if i == 0 || h.Parts[i].Confidence > p.Confidence {
			p = h.Parts[i]
		}
	}
	rank := len(p.Ranked)
	for i := range p.Ranked {
		if p.Ranked[i].Verb.Name == want {
			rank = min(rank, i)
		}
	}
	if want == "" {
		t.beside++
		if p.Confidence >= 0.5 {
			t.beside5++
		}
		if p.Confidence >= 0.8 {
			t.beside8++
		}
		return
	}
	t.said++
	t.sure = append(t.sure, [2]float64{p.Confidence, float64(one(rank == 0 && len(p.Ranked) > 0))})
	in := func(n int) int {
		if rank < n && rank < len(p.Ranked) {
			return 1
		}
		return 0
	}
	t.first, t.second, t.menu = t.first+in(1), t.second+in(2), t.menu+in(5)
	at := func(least float64, right, wrong, menu *int) {
		switch {
		case p.Confidence < least:
			*menu += in(5)
		case in(1) == 1:
			*right++
			*menu++
		default:
			*wrong++
		}
	}
	at(0.5, &t.right5, &t.wrong5, &t.five)
	at(0.8, &t.right8, &t.wrong8, &t.eight)
}

// F28: what others say to other systems: how often the verb comes first, and what is
// proposed.
func TestIntents(t *testing.T) {
	for _, s := range intentSets(t) {
		s.measure(t, s.test, s.beside)
	}
}

// The same of sentences that may be fitted to: what is changed is judged by these, so
// that the test sentences stay unseen.
func TestIntentsToFit(t *testing.T) {
	for _, s := range intentSets(t) {
		_, rest := s.palette(t)
		s.measure(t, rest, s.strays)
	}
}

func (s *intentSet) measure(t *testing.T, sentences [][2]string, beside []string) {
	reg, _ := s.palette(t)
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	r.Read("a first sentence", english)
	var all tally
	for _, i := range sample(len(sentences), *intentsMost) {
		all.count(r, sentences[i][0], intentVerb(sentences[i][1]))
	}
	for _, text := range beside {
		all.count(r, text, "")
	}
	t.Logf("%s, %d verbs: %s", s.name, len(reg.Verbs()), &all)
}
