package intent

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"verbatim/verbs"
	loading "verbatim/verbs/load"
)

// What a thousand verbs come to that nobody wrote for this program: the operations of nineteen API
// descriptions, as `verbatim new DOMAIN --from FILE` makes palettes of them (DOMAIN is the file's name without
// "twilio_", with hyphens: video-v1), two phrases for each and 300 sentences, by four people who had read
// neither the code nor each other's lines. The sentences are not looked at, and nothing is fitted to them.
//
//	go test ./runtime/conversation/intent -run TestOperations -v -operations DIR-OF-PALETTES
var (
	operationsDir = flag.String("operations", "", "the `folder` of palettes of API descriptions, to measure with")
	withoutSaid   = flag.Bool("no-phrases", false, "leave out the phrases: the palettes' own words alone")
)

// asked are forms of a wish in which nothing more is said than in the wish itself.
var asked = []struct {
	name string
	do   func(string) string
}{
	{"plain", func(s string) string { return s }},
	{"could you please", func(s string) string { return "could you please " + s }},
	{"thanks a lot", func(s string) string { return strings.TrimRight(s, ".?! ") + ", thanks a lot" }},
	{"hi there, I would like to", func(s string) string { return "hi there, I would like to " + s }},
	{"a typo", func(s string) string { return around[3].do(s) }},
}

// operationPhrases lists what was said of the operations in a file: each verb, and a text.
func operationPhrases(t testing.TB, file string) (all [][2]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "operations", file))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if verb, text, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			all = append(all, [2]string{verb, text})
		}
	}
	return all
}

// operations loads the palettes of the operations, with phrases.
func operations(t testing.TB, said [][2]string) *verbs.Registry {
	t.Helper()
	if *operationsDir == "" {
		t.Skip("-operations names no folder")
	}
	phrases := map[string][]string{}
	for _, p := range said {
		phrases[p[0]] = append(phrases[p[0]], strings.NewReplacer("{", "(", "}", ")").Replace(p[1]))
	}
	files, err := filepath.Glob(filepath.Join(*operationsDir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no palettes: %v", err)
	}
	palettes := fstest.MapFS{}
	verb := regexp.MustCompile(`(?m)^  - verb: (\S+)$`)
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		domain := strings.TrimSuffix(filepath.Base(f), ".yaml")
		text := verb.ReplaceAllStringFunc(string(data), func(line string) string {
			said := phrases[domain+"."+verb.FindStringSubmatch(line)[1]]
			if len(said) == 0 {
				return line
			}
			list, _ := json.Marshal(said)
			return line + "\n    phrases: " + string(list)
		})
		palettes[filepath.Base(f)] = &fstest.MapFile{Data: []byte(text)}
	}
	reg, ds := loading.Dir(palettes)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return reg
}

// operationsLeftOut are the phrases of which the second is left out for every second verb, and those.
func operationsLeftOut(t testing.TB) (kept, left [][2]string) {
	all := operationPhrases(t, "phrases.tsv")
	for i, p := range all {
		if i%4 == 1 && i > 0 && all[i-1][0] == p[0] {
			left = append(left, p)
		} else {
			kept = append(kept, p)
		}
	}
	return kept, left
}

func TestOperations(t *testing.T) {
	var phrases [][2]string
	if !*withoutSaid {
		phrases = operationPhrases(t, "phrases.tsv")
	}
	measureOperations(t, operations(t, phrases), operationPhrases(t, "sentences.tsv"))
}

// The same of phrases that are left out: what is changed is judged by these, so that the sentences stay
// unseen.
func TestOperationsToFit(t *testing.T) {
	kept, left := operationsLeftOut(t)
	measureOperations(t, operations(t, kept), left)
}

func measureOperations(t *testing.T, reg *verbs.Registry, sentences [][2]string) {
	t.Helper()
	start := time.Now()
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	made := time.Since(start)
	r.Read("a first sentence", english)
	t.Logf("%d verbs: made in %d ms, and with the first sentence %d ms", len(reg.Verbs()), made.Milliseconds(), time.Since(start).Milliseconds())
	for _, form := range asked {
		right, wrong, first, five := 0, 0, 0, 0
		var took time.Duration
		for _, s := range sentences {
			text := form.do(s[1])
			start := time.Now()
			h := r.Read(text, english)
			took += time.Since(start)
			isRight, isWrong, rank := false, false, ranked
			for i := range h.Parts {
				p := &h.Parts[i]
				if p.Certainty == Sure {
					if p.Verb.Name == s[0] {
						isRight = true
					} else {
						isWrong = true
					}
				}
				for k := range p.Ranked {
					if p.Ranked[k].Verb.Name == s[0] {
						rank = min(rank, k)
					}
				}
			}
			right, wrong, first, five = right+one(isRight && !isWrong), wrong+one(isWrong), first+one(rank == 0), five+one(rank < ranked)
		}
		n := len(sentences)
		t.Logf("%s: %d sentences: right %.1f %%, wrong %.1f, first %.1f, within five %.1f; %.2f ms a sentence", form.name, n, percent(right, n), percent(wrong, n), percent(first, n), percent(five, n), float64(took.Microseconds())/1000/float64(n))
	}
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}
