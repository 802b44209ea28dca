package search_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"verbatim/stores/search"
)

func TestNamesAreFolded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"John Smith":            "john smith",
		"  JOHN   SMITH ":       "john smith",
		"Müller-Łukasz, J.":     "muller lukasz j",
		"O'Brien":               "obrien",
		"O’Brien":               "obrien",
		"O´Brien":               "obrien",
		"Oʻrinboyev Maʼmura":    "orinboyev mamura",
		"Пётр Ильич":            "petr ilich",
		"Ｊｏｈｎ":                  "john",
		"José\u0301":            "jose",
		"":                      "",
		"—":                     "",
		"\u0301\u0302\u0323":    "", // marks alone
		"\u202eJohn\u200b":      "john",
		strings.Repeat("a", 99): strings.Repeat("a", 64),
	} {
		if got := search.Name(text); got != want {
			t.Errorf("%q is folded to %q, want %q", text, got, want)
		}
	}
}

// Every letter of these alphabets has a spelling in Latin letters; the marks of two, Cyrillic's soft
// sign and hard sign, are spelled by nothing. (G49)
func TestEveryLetterIsSpelled(t *testing.T) {
	t.Parallel()
	for _, table := range []*unicode.RangeTable{unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Georgian, unicode.Armenian} {
		for r := rune(0x80); r <= unicode.MaxRune; r++ {
			if plain := norm.NFKC.String(string(r)); !unicode.Is(table, r) || !unicode.IsLetter(r) || strings.ContainsAny(plain, "ъьЪЬ ") {
				continue // a space stands in a mark of Greek that is shown by itself
			}
			got := search.Name("x" + string(r) + "x")
			if len(got) < 3 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz") != "" {
				t.Errorf("%c (%U) is spelled %q", r, r, got)
			}
		}
	}
}

// Each line of the table of letters says which languages spell a letter so, and by which source; each
// source has its name and its year at the head, and some line goes by it. No line stands there twice.
func TestEveryLineOfLettersHasASource(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("letters.txt")
	if err != nil {
		t.Fatal(err)
	}
	source := regexp.MustCompile(`^#   (\S+) +\S.*\b(1[89]|20)\d\d\b`)
	line := regexp.MustCompile(`^\S{1,2} +(\*|[a-z]{2}(?:,[a-z]{2})*) +(\S+) +(?:-|[a-z]+)(?: [a-z]+)*$`)
	sources, seen := map[string]int{}, map[string]bool{}
	for l := range strings.Lines(string(text)) {
		l = strings.TrimRight(l, "\n")
		if m := source.FindStringSubmatch(l); m != nil {
			sources[m[1]] = 0
		} else if l != "" && l[0] != '#' {
			m := line.FindStringSubmatch(l)
			if m == nil {
				t.Errorf("%q is no line of letters", l)
				continue
			}
			if _, named := sources[m[2]]; !named {
				t.Errorf("%q: no source %s", l, m[2])
			}
			sources[m[2]]++
			f := strings.Fields(l)
			if seen[f[0]+f[1]+f[2]] {
				t.Errorf("%q: twice", l)
			}
			seen[f[0]+f[1]+f[2]] = true
		}
	}
	for name, lines := range sources {
		if lines == 0 {
			t.Errorf("no line goes by %s", name)
		}
	}
	if len(sources) < 20 || len(seen) < 300 {
		t.Errorf("%d sources, %d lines", len(sources), len(seen))
	}
}

// People, as they write their names and as passports and letters do: all of these are one name. (G49, G69)
func TestOneNameInManySpellings(t *testing.T) {
	t.Parallel()
	for _, c := range []string{
		"Jürgen Schröder = Juergen Schroeder = Jurgen Schroder", "Søren Ærø = Soeren Aeroe = Soren Aero", "Åse Ångström = Aase Aangstroem = Ase Angstrom",
		"Weiß = Weiss", "Łukasz Żółć = Lukasz Zolc", "Þór Guðmundsson = Thor Gudmundsson", "Đorđe = Djordje = Dorde", "Məmmədov = Mammadov = Memmedov",
		"Yıldız = Yildiz", "Gal·la = Galla", "Ñuñez = Nunez", "Ђорђе Ћирић = Đorđe Ćirić = Djordje Ciric = Dorde Ciric", "Ана Ћирић = Ana Ćirić",
		"Щукин Юрий = Shchukin Yuriy = Shchukin Iurii = Schukin Yury", "Дмитрий Толстой = Dmitriy Tolstoy = Dmitrii Tolstoi = Dmitry Tolstoy", "Александр = Aleksandr = Alexandr",
		"Първанов = Parvanov", "Щерева = Shtereva", "Олексій Гнатюк = Oleksii Hnatiuk = Oleksiy Hnatyuk", "Єлизавета = Yelyzaveta", "Әсел Құнанбаев = Asel Qunanbaev = Asel Kunanbaev",
		"Δημήτρης Μπακογιάννης = Dimitris Bakogiannis", "Γιώργος Παπανδρέου = Giorgos Papandreou", "Ευάγγελος = Evangelos", "Χρήστος = Christos = Hristos",
		"Nguyễn Văn Hùng = NGUYEN VAN HUNG = Nguye\u0302\u0303n Va\u0306n Hu\u0300ng", "Đỗ Thị Bích Phượng = DO THI BICH PHUONG", "Trương Quốc Vượng = Truong Quoc Vuong", "Phạm Hữu Đạt = Pham Huu Dat", "Bùi Ỷ Lan = BUI Y LAN",
		"გიორგი ჭავჭავაძე = Giorgi Chavchavadze", "ᲒᲘᲝᲠᲒᲘ = Giorgi", "Արամ Խաչատրյան = Aram Khachatryan", "Պետրոսյան = Petrosyan",
	} {
		names := strings.Split(c, " = ")
		for _, a := range names {
			for _, b := range names {
				if x, y := search.NameWords(a), search.NameWords(b); len(x) != len(y) {
					t.Errorf("%s and %s: %d and %d words", a, b, len(x), len(y))
				} else {
					for i := range x {
						// Spellings in Latin letters of a third one need not be one another's.
						if d := x[i].Edits(y[i]); d > 0 && (a == names[0] || b == names[0]) {
							t.Errorf("%s and %s: %d letters", a, b, d)
						}
					}
				}
			}
		}
	}
	for _, c := range []string{"Müller = Möller", "Jürgen = Jorgen", "Шевченко = Щевченко", "Ана = Ања", "Гнатюк = Кнатюк", "Weiss = Weis", "Hoang = Huang"} {
		a, b, _ := strings.Cut(c, " = ")
		if search.NameWords(a)[0].Edits(search.NameWords(b)[0]) == 0 {
			t.Error(c)
		}
	}
	// Letters of one alphabet that differ are two, however they are spelled in another; accents and ё are none.
	for c, want := range map[string]int{"Лисенко = Лісенко": 1, "Гончар = Ґончар": 1, "Ќосев = Косев": 1, "Наталья = Наталия": 1, "Юрій = Юрії": 1, "Χρήστος = Χρίστος": 1, "თეა = ტეა": 1,
		"Семёнов = Семенов": 0, "Μαΐα = ΜΑΙΑ": 0, "Γιώργος = ΓΙΩΡΓΟΣ": 0, "Йордано\u0301ва = Йорданова": 0} {
		a, b, _ := strings.Cut(c, " = ")
		if got := search.NameWords(a)[0].Edits(search.NameWords(b)[0]); got != want {
			t.Errorf("%s: %d letters", c, got)
		}
	}
	if d := search.NameWords("Smith")[0].Edits(search.NameWords("Simth")[0]); d != 1 {
		t.Errorf("two letters that change places count as %d", d)
	}
}

// levenshtein is the definition, cell by cell.
func levenshtein(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := last
			if a[i] != b[j] {
				d = 1 + min(last, row[j], row[j+1])
			}
			last, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}

// The distance of all letters at once is that of the definition.
func TestDistanceIsLevenshteins(t *testing.T) { // H21
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-e ]{0,64}`)
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		if got, want := search.NewPattern(a).Distance([]byte(b)), levenshtein(a, b); got != want {
			t.Errorf("%q and %q are %d apart, not %d", a, b, want, got)
		}
	})
}

// filler are as many names as are sorted at once.
var filler = func() (all []string) {
	for i := range 2500 {
		all = append(all, strings.NewReplacer("0", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5", "f").Replace(strconv.FormatInt(int64(i*7), 6)+" "+strconv.FormatInt(int64(i*13), 6)))
	}
	return all
}()

// What the names in memory find is what a look at each of them finds, whatever was added
// and in which order.
func TestNearNamesAreThoseOfAPlainScan(t *testing.T) { // PERF-F1
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`[a-f]{1,6} [a-f]{1,6}`), rapid.StringMatching(`[a-z0-9 ]{0,14}`), rapid.StringMatching(`[aeiou]{58,64}`))
		names := rapid.SliceOfN(name, 0, 60).Draw(t, "names")
		var kept search.Names
		if rapid.Bool().Draw(t, "many") { // so many that they are sorted, some of them before others are added
			names = slices.Concat(names, filler, names)
		}
		for i, n := range names {
			upto, _ := kept.Upto()
			kept.Add(upto, []search.Named{{Seq: int64(i + 1), Owner: int64(i % 3), Key: fmt.Sprint("k", i), Name: n}})
			if i%700 == 0 {
				kept.Settle()
			}
		}
		asked := name.Draw(t, "asked")
		edits := rapid.IntRange(0, search.MostEdits).Draw(t, "edits")
		var owners map[int64]bool
		if rapid.Bool().Draw(t, "some") {
			owners = map[int64]bool{1: true}
		}
		var got, want []string
		kept.Near(search.NewPattern(asked), edits, owners, func(key string, d int) { got = append(got, fmt.Sprint(key, " ", d)) })
		for i, n := range names {
			if d := levenshtein(asked, n); d <= edits && (owners == nil || owners[int64(i%3)]) {
				want = append(want, fmt.Sprint("k", i, " ", d))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q within %d of %q: found %q, there are %q", asked, edits, names, got, want)
		}
	})
}

// people are names of as many people, of frequent and of rare names.
func people(n int) []search.Named {
	r := rand.New(rand.NewPCG(1, 2))
	syllables := strings.Fields("an bel cor da el fi gre ha il jo ka lo mi nor o pe qui ro sa te ul ver wa xi yo za ber man son ley ton ski er ic ez ova ini ard")
	word := func() string {
		var b strings.Builder
		for range 2 + r.IntN(2) {
			b.WriteString(syllables[int(float64(len(syllables))*r.Float64()*r.Float64())])
		}
		return b.String()
	}
	given := make([]string, 2000)
	for i := range given {
		given[i] = word()
	}
	all := make([]search.Named, n)
	for i := range all {
		all[i] = search.Named{Seq: int64(i + 1), Key: fmt.Sprintf("00000000-0000-4000-8000-%012d", i), Name: given[int(2000*r.Float64()*r.Float64()*r.Float64())] + " " + word() + word()[:2]}
	}
	return all
}

func BenchmarkNames(b *testing.B) {
	all := people(1_000_000)
	var kept search.Names
	b.Run("add", func(b *testing.B) {
		for b.Loop() {
			kept = search.Names{}
			kept.Add(0, all)
			kept.Settle()
		}
	})
	for _, edits := range []int{1, 2, 4} {
		b.Run(fmt.Sprint("near/", edits), func(b *testing.B) {
			b.ReportAllocs()
			found, i := 0, 0
			for b.Loop() {
				kept.Near(search.NewPattern(all[i*7919%len(all)].Name), edits, nil, func(string, int) { found++ })
				i++
			}
			b.ReportMetric(float64(found)/float64(i), "hits/op")
		})
	}
	b.Run("scan/2", func(b *testing.B) {
		scanned := make([][]byte, len(all))
		for i := range all {
			scanned[i] = []byte(all[i].Name)
		}
		found, i := 0, 0
		for b.Loop() {
			p := search.NewPattern(all[i*7919%len(all)].Name)
			for j := range all {
				if p.Distance(scanned[j]) <= 2 {
					found++
				}
			}
			i++
		}
		b.ReportMetric(float64(found)/float64(i), "hits/op")
	})
}
