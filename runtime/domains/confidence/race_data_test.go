package confidence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"verbatim/runtime/domains/confidence/modeltest"
)

// The data of the race: a graph and 200 questions about it, made from a seed, so that the right
// answers are known. Each question has things of its own, whose names are coined and occur
// nowhere else. A name in an answer therefore tells which question it belongs to.

// The kinds of race.yaml.
const (
	lookup     = "lookup"
	connection = "connection"
	twoStep    = "two-step"
	summary    = "three-step-summary"
)

// A raceQuestion is a question and its right answer.
type raceQuestion struct {
	kind  string
	text  string
	facts []string // every one of them occurs in a right answer
	own   []string // those that occur in no right answer to another question
}

// A relation is how two things are connected, and how people ask for it.
type relation struct {
	how    string
	asks   string // with {} for the thing that is known
	asks2  string // with {} for the founder of the thing
	object bool   // the object of the link is asked for, and not the subject
}

var relations = []relation{
	{"is based in", "Where is {} based?", "Where is the company based that {} founded?", true},
	{"directs", "Who directs {}?", "Who directs the company that {} founded?", false},
	{"makes", "What does {} make?", "What does the company make that {} founded?", true},
	{"owns", "Who owns {}?", "Who owns the company that {} founded?", false},
	{"banks with", "Which bank does {} use?", "Which bank does the company use that {} founded?", true},
}

// Papers say one thing each, with a number that occurs once.
var sayings = []struct{ title, says, unit string }{
	{"Limits of %s", "Under %s nobody stores more than %d %s.", "barrels"},
	{"Fees of %s", "Under %s a licence costs %d %s.", "crowns"},
	{"Terms of %s", "Under %s a permit lasts %d %s.", "weeks"},
}

// noWay is what the palette's verb says of two things that are not connected; behind it stands
// of how many links.
const noWay = "no way of at most"

// A raceData is the graph and the questions.
type raceData struct {
	questions []raceQuestion
	scripts   []string // that fill the graph
	// other is, for each name that is asked for and for each word of one, a name that stands
	// at the same place of another question: what nonsense is about.
	other map[string]string

	rand  *rand.Rand
	words []string
}

// word coins a word that is unlike all others: a search that allows for two wrong letters finds
// nothing else by it.
func (d *raceData) word() string {
	const consonants, vowels = "bdfgklmnprstvz", "aeiou"
again:
	for {
		var b strings.Builder
		for range 4 {
			b.WriteByte(consonants[d.rand.IntN(len(consonants))])
			b.WriteByte(vowels[d.rand.IntN(len(vowels))])
		}
		b.WriteByte(consonants[d.rand.IntN(len(consonants))])
		w := b.String()
		for _, other := range d.words {
			if alike(w, other) {
				continue again
			}
		}
		d.words = append(d.words, w)
		return strings.ToUpper(w[:1]) + w[1:]
	}
}

// alike reports whether two words of one length differ in fewer than four places. Words that
// are shifted against each other differ in nearly all of them, and are not looked for.
func alike(a, b string) bool {
	differ := 0
	for i := range a {
		if a[i] != b[i] {
			differ++
		}
	}
	return differ < 4
}

func (d *raceData) name() string { return d.word() + " " + d.word() }

// newRaceData makes the questions of race.yaml.
func newRaceData(r *modeltest.Race, seed uint64) *raceData {
	d := &raceData{other: map[string]string{}, rand: rand.New(rand.NewPCG(seed, 42))}
	for _, k := range r.Questions.Kinds {
		asked := make([][]string, k.Count) // the names that are looked for, by question
		for i := range asked {
			q, script := raceQuestion{kind: k.Kind}, &strings.Builder{}
			switch k.Kind {
			case lookup:
				company := d.name()
				asked[i] = []string{company}
				q.text, q.facts = d.company(script, company, i, relations[i%len(relations)].asks, company)
			case twoStep:
				founder, company := d.name(), d.name()
				asked[i] = []string{founder, company}
				q.text, q.facts = d.company(script, company, i, relations[i%len(relations)].asks2, founder)
				d.add(script, founder)
				d.connect(script, founder, "founded", company)
			case connection:
				from, to := d.name(), d.name()
				asked[i] = []string{from, to}
				q.text = fmt.Sprintf("How are %s and %s connected?", from, to)
				d.add(script, from)
				d.add(script, to)
				if i < k.Unconnected { // each knows somebody, and there is no way
					for _, end := range asked[i] {
						beside := d.name()
						d.add(script, beside)
						d.connect(script, end, "supplies", beside)
					}
					q.facts = []string{from, to, noWay}
					break
				}
				at := from
				for range 1 + i%2 {
					between := d.name()
					d.add(script, between)
					d.connect(script, at, "supplies", between)
					q.facts, at = append(q.facts, between), between
				}
				d.connect(script, at, "supplies", to)
			case summary:
				topic := d.name()
				asked[i] = []string{topic}
				q.text = fmt.Sprintf("Summarise what the papers say about %s.", topic)
				for j, s := range sayings {
					n := 1000 + 3*i + j // of four digits, and nobody else's
					fmt.Fprintf(script, "graph.file :title %q :content %q\n", fmt.Sprintf(s.title, topic), fmt.Sprintf(s.says, topic, n, s.unit))
					q.facts = append(q.facts, fmt.Sprintf("%d %s", n, s.unit))
				}
			}
			q.own = slices.DeleteFunc(slices.Clone(q.facts), func(f string) bool { return f == noWay })
			d.questions, d.scripts = append(d.questions, q), append(d.scripts, script.String())
		}
		for i := range asked {
			for j, name := range asked[i] {
				other := asked[(i+1)%len(asked)][j]
				for _, known := range append(strings.Fields(name), name) {
					d.other[strings.ToLower(known)] = other
				}
			}
		}
	}
	d.rand.Shuffle(len(d.questions), func(i, j int) { d.questions[i], d.questions[j] = d.questions[j], d.questions[i] })
	return d
}

// company adds a company with everything that can be asked of one, and returns a question that
// names a thing, and its answer.
func (d *raceData) company(script *strings.Builder, company string, i int, asks, of string) (text string, facts []string) {
	d.add(script, company)
	for j, r := range relations {
		other := d.word()
		d.add(script, other)
		if r.object {
			d.connect(script, company, r.how, other)
		} else {
			d.connect(script, other, r.how, company)
		}
		if j == i%len(relations) {
			facts = []string{other}
		}
	}
	return strings.Replace(asks, "{}", of, 1), facts
}

func label(name string) string { return strings.ReplaceAll(strings.ToLower(name), " ", "-") }

func (d *raceData) add(script *strings.Builder, name string) {
	fmt.Fprintf(script, "graph.add :name %q :kind \"thing\" :as @%s\n", name, label(name))
}

func (d *raceData) connect(script *strings.Builder, from, how, to string) {
	fmt.Fprintf(script, "graph.connect :subject-id @%s :how %q :object-id @%s\n", label(from), how, label(to))
}
