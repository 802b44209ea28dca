package intent

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/runtime/conversation/values"
	"verbatim/stores"
	"verbatim/verbs"
	loading "verbatim/verbs/load"
	"verbatim/verbs/verbstest"
)

var update = flag.Bool("update", false, "write what is understood into the golden file")

// Floors of the half that nothing was tuned on, a point below what was measured
// (84.0, 94.4, 6.4 and 91.1, and lately 85.6, 95.2, 4.8 and 91.1), since a verb that is added elsewhere moves them a
// little. They may rise; where one falls, something was lost.
const (
	floorFirst   = 83
	floorSecond  = 93
	ceilingWrong = 7.5
	floorRefused = 90
)

// Sentences that are not the palettes' own, half of which nothing was tuned on:
// how often the right verb comes first, or second, how often a wrong one is
// proposed, and how often nothing is where nothing should be.
func TestHeldOutHalf(t *testing.T) {
	f := measure(t, true)
	fmt.Printf("phrase: held-out half: %s\n", f)
	if all := measure(t, false); f.said+f.foreign+all.said+all.foreign < 300 || f.foreign+all.foreign < 80 {
		t.Errorf("%d sentences of which %d mean nothing here", f.said+f.foreign+all.said+all.foreign, f.foreign+all.foreign)
	}
	for _, c := range []struct {
		what      string
		is, bound float64
		atMost    bool
	}{
		{"top-1", percent(f.first, f.said), floorFirst, false},
		{"top-2", percent(f.second, f.said), floorSecond, false},
		{"proposed wrongly", percent(f.wrong, f.said), ceilingWrong, true},
		{"refused or asked", percent(f.refused, f.foreign), floorRefused, false},
	} {
		if c.atMost && c.is > c.bound || !c.atMost && c.is < c.bound {
			t.Errorf("%s is %.1f %%, and was %.1f %%", c.what, c.is, c.bound)
		}
	}
}

// describe says what was understood.
func describe(text string, h *Heard) string {
	var b strings.Builder
	switch {
	case h.Hidden:
		b.WriteString("\thidden characters\n")
	case len(h.Parts) == 0:
		b.WriteString("\tnothing\n")
	}
	for i := range h.Parts {
		p := &h.Parts[i]
		switch {
		case p.Call != "":
			fmt.Fprintf(&b, "\t%s\n", p.Call)
		case p.Verb != nil:
			fmt.Fprintf(&b, "\t%s ...\n", p.Verb.Name)
		default:
			fmt.Fprintf(&b, "\t%s\n", p.Certainty)
		}
		for _, a := range p.Args {
			if a.Said() {
				fmt.Fprintf(&b, "\t\t:%s %s from %q\n", a.Param.Name, dsl.FormatValue(a.Value), text[a.Range.Start:a.Range.End])
			} else if a.Follows != "" {
				fmt.Fprintf(&b, "\t\t:%s %s, as @%s says\n", a.Param.Name, dsl.FormatValue(a.Value), a.Follows)
			} else {
				fmt.Fprintf(&b, "\t\t:%s %s, the only one\n", a.Param.Name, dsl.FormatValue(a.Value))
			}
		}
		for _, q := range p.Asks {
			fmt.Fprintf(&b, "\t\t? %s\n", strings.ReplaceAll(q.Text, "\n", " / "))
		}
	}
	return b.String()
}

// Whole messages, as a person would read what was made of them; every call
// parses and checks, and says of each of its values who said it. Facts and days
// in words are exact, and what may mean two things is asked. (X13, O27, O28)
func TestMessages(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "calls.txt")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	var d *domain
	var r *Reader
	var reg *verbs.Registry
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "\t") {
			continue
		}
		b.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if i := slices.IndexFunc(domains, func(d domain) bool { return d.name == line }); i >= 0 {
			d = &domains[i]
			r, reg = d.reader(t)
			continue
		}
		h := r.Read(line, english)
		b.WriteString(describe(line, &h))
		for i := range h.Parts {
			checkPart(t, line, &h.Parts[i], reg, d)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got := b.String(); got != string(data) {
		w, g := strings.Split(string(data), "\n"), strings.Split(got, "\n")
		for i := range min(len(w), len(g)) {
			if w[i] != g[i] {
				t.Fatalf("line %d\nwant %s\ngot  %s", i+1, w[i], g[i])
			}
		}
		t.Fatal("one is longer")
	}
}

type fataler interface {
	Fatalf(string, ...any)
}

// checkPart holds a part against what is promised of every part.
func checkPart(t fataler, text string, p *Part, reg *verbs.Registry, d *domain) {
	if (p.Call != "") && (p.Certainty != Sure || len(p.Asks) > 0) {
		t.Fatalf("%q: a call is proposed that is not sure, or lacks something", text)
	}
	for i := range p.Args {
		a := &p.Args[i]
		if a.Range.Start < 0 || a.Range.End > len(text) || a.Range.Start > a.Range.End {
			t.Fatalf("%q: :%s is at %v", text, a.Param.Name, a.Range)
		}
		// Free text is the person's own, to the letter.
		if a.Value.Kind == dsl.String && a.Reading == nil && dsl.FormatValue(dsl.NewString(text[a.Range.Start:a.Range.End])) != dsl.FormatValue(a.Value) {
			t.Fatalf("%q: :%s is %s", text, a.Param.Name, dsl.FormatValue(a.Value))
		}
	}
	if p.Call == "" {
		return
	}
	script, ds := dsl.Parse(dsl.NewSource("said", p.Call+"\n"))
	if ds.HasErrors() || len(script.Calls) != 1 {
		t.Fatalf("%q: %s does not parse: %v", text, p.Call, ds)
	}
	if got := dsl.FormatCall(&script.Calls[0]); got != p.Call {
		t.Fatalf("%q: %s is not canonical; %s is", text, p.Call, got)
	}
	prog, ds := reg.Check(script, names{reg, d.rows})
	if ds.HasErrors() {
		t.Fatalf("%q: %s is refused: %v", text, p.Call, ds)
	}
	prog.SaidBy(p.Literals(script))
	call := &prog.Calls()[0]
	for i := range p.Args {
		a := &p.Args[i]
		for j := range call.Verb.Params {
			if call.Verb.Params[j].Name != a.Param.Name {
				continue
			}
			want := verbs.FromScript
			if a.Said() {
				want = verbs.FromPerson
			}
			if got := prog.Said(&call.Args[j]); got.Kinds() != want {
				t.Fatalf("%q: :%s came from %s", text, a.Param.Name, got)
			}
		}
	}
}

// Whatever is said, only verbs that the session may use and names that it was
// given are ever proposed, offered or ranked; those of others are not there.
// (SAFE-A1, SAFE-A2)
func TestOnlyWhatTheSessionKnows(t *testing.T) {
	t.Parallel()
	reg := load(t, domains[0].dir)
	ix := New(reg)
	all := reg.Palette("client").Verbs
	pool := []string{"I", "have", "the", "passport", "of", "Thomas", "Müller", "Jonas", "Lindqvist", "Pierre", "source", "of", "wealth", "identity", "date", "of", "birth", "why", "do", "you", "need", "tell", "me", "about", "tomorrow", "next", "week", "call", "what", "is", "missing", ".", "upload://abc", "waive", "accept", "reject", "@jonas-lindqvist-source-of-wealth"}
	rapid.Check(t, func(t *rapid.T) {
		keep := rapid.SliceOfN(rapid.Bool(), len(all), len(all)).Draw(t, "verbs")
		var may []*verbs.Verb
		for i, v := range all {
			if keep[i] {
				may = append(may, v)
			}
		}
		rows := map[string][]string{
			"outstanding-request": rapid.SliceOfDistinct(rapid.SampledFrom([]string{"pierre-dupont-source-of-wealth", "thomas-muller-identity", "maria-schmidt-date-of-birth"}), rapid.ID[string]).Draw(t, "requests"),
			"entity":              rapid.SliceOfDistinct(rapid.SampledFrom([]string{"pierre-dupont", "thomas-muller", "clara-weiss"}), rapid.ID[string]).Draw(t, "people"),
		}
		d := &domain{rows: rows}
		v := Vocabulary{Verbs: may, Names: map[*verbs.Entity][]string{}}
		given := map[string]bool{}
		for e, list := range rows {
			v.Names[reg.Entity(e)] = list
			for _, n := range list {
				given["@"+n] = true
			}
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pool), 1, 14).Draw(t, "words"), " ")
		r := ix.Reader(v)
		h := r.Read(text, english)
		for i := range h.Parts {
			p := &h.Parts[i]
			checkPart(t, text, p, reg, d)
			for _, ranked := range p.Ranked {
				if !slices.Contains(may, ranked.Verb) {
					t.Fatalf("%q ranks %s", text, ranked.Verb.Name)
				}
			}
			for _, a := range p.Args {
				if a.Param.Type.Name == verbs.RefType && !given[dsl.FormatValue(a.Value)] {
					t.Fatalf("%q takes %s", text, dsl.FormatValue(a.Value))
				}
			}
			for _, q := range p.Asks {
				for _, c := range q.Choices {
					if strings.HasPrefix(c, "@") && !given[c] {
						t.Fatalf("%q offers %s", text, c)
					}
				}
			}
		}
		for _, short := range r.Shortlist(text, 20) {
			if !slices.Contains(may, short) {
				t.Fatalf("%q lists %s", text, short.Name)
			}
		}
	})
}

// A sure sentence, for the property above to be about something: with its verb
// taken away, or its row, there is no such call.
func TestWhatIsTakenAwayIsNotProposed(t *testing.T) {
	t.Parallel()
	const text = "Why do you need Pierre's source of wealth?"
	reg := load(t, domains[0].dir)
	ix := New(reg)
	request := reg.Entity("outstanding-request")
	detail := reg.Verb("client.get-request-detail")
	full := Vocabulary{Verbs: reg.Palette("client").Verbs, Names: map[*verbs.Entity][]string{request: {"pierre-dupont-source-of-wealth", "thomas-muller-identity"}}}
	h := ix.Reader(full).Read(text, english)
	if len(h.Parts) != 1 || h.Parts[0].Call != "client.get-request-detail :request-id @pierre-dupont-source-of-wealth" {
		t.Fatalf("%+v", h)
	}
	less := full
	less.Verbs = slices.DeleteFunc(slices.Clone(full.Verbs), func(v *verbs.Verb) bool { return v == detail })
	for _, p := range ix.Reader(less).Read(text, english).Parts {
		for _, ranked := range p.Ranked {
			if ranked.Verb == detail {
				t.Errorf("a verb that is not permitted is ranked")
			}
		}
	}
	others := full
	others.Names = map[*verbs.Entity][]string{request: {"thomas-muller-identity", "maria-schmidt-date-of-birth"}}
	for _, p := range ix.Reader(others).Read(text, english).Parts {
		if p.Call != "" {
			t.Errorf("with Pierre out of scope, %s is proposed", p.Call)
		}
	}
}

// Where there is only one row, it is meant where nobody speaks of another.
// (SAFE-A2)
func TestTheOnlyOneIsNotAnother(t *testing.T) {
	t.Parallel()
	reg := load(t, domains[1].dir)
	ix := New(reg)
	order := reg.Entity("order")
	for _, name := range []string{"v-1003", "z-2001"} {
		r := ix.Reader(Vocabulary{Verbs: reg.Palette("retail").Verbs, Names: map[*verbs.Entity][]string{order: {name}}})
		for _, text := range []string{"cancel V-9999", "cancel Z-9999", "cancel order 9999", "cancel the order of Berger", "V-9999 has arrived", "ship V-10030 with AT00012345", "cancel V-100"} {
			for _, p := range r.Read(text, english).Parts {
				if p.Call != "" {
					t.Errorf("%q, where there is only %s: %s", text, name, p.Call)
				}
			}
		}
		want := "retail.cancel :order-id @" + name
		if h := r.Read("does not want the order any more", english); len(h.Parts) != 1 || h.Parts[0].Call != want {
			t.Errorf("the only one is not meant: %+v", h)
		}
	}
}

// X12, X13: what may mean several things is asked about with its choices, in all
// four languages. Each of them fills its argument with itself and nothing else, and
// leaves the texts as they were said.
func TestAChoiceFillsItsArgument(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	for _, l := range values.Languages() {
		in := values.In{Now: now, Languages: []values.Language{l}}
		for _, text := range []string{"Maria's date of birth is 3/4/1972.", "Tell them that Pierre's accountant will have it on 03/04/2025"} {
			h := r.Read(text, in)
			if len(h.Parts) != 1 || len(h.Parts[0].Asks) != 1 {
				t.Fatalf("%s: %q: %+v", l, text, h.Parts)
			}
			p := &h.Parts[0]
			ask := &p.Asks[0]
			says := p.Offers(ask)
			if len(says) != 2 || !strings.Contains(ask.Text, says[0]) || !strings.Contains(ask.Text, says[1]) {
				t.Fatalf("%s: %q asks %q, offers %q", l, text, ask.Text, says)
			}
			for k, choice := range ask.Choices {
				for _, answer := range []string{choice, says[k]} {
					h := chosen(r, p, ask, answer).Read(text, in)
					if len(h.Parts) != 1 || !strings.Contains(h.Parts[0].Call, choice) || strings.HasPrefix(text, "Tell") && !strings.Contains(h.Parts[0].Call, text[len("Tell them that "):]) {
						t.Errorf("%s: %q to %q means %+v", l, answer, text, h.Parts)
					}
				}
			}
		}
		// Three digits behind a point are thousands to some.
		for _, text := range []string{"1.234", "1,234", "1.234 EUR", "500 $"} {
			all, _ := values.Find(text, in)
			for i := range all {
				for _, o := range all[i].Others {
					var q Ask
					q.offer(&all[i], o, l)
					if again, _ := values.Find(q.Choices[0], in); len(again) != 1 || !again[0].Known() || again[0].Currency != o.Currency || !stores.Equal(again[0].Value, o.Value) {
						t.Errorf("%s: %q of %q means %+v", l, q.Choices[0], text, again)
					}
				}
			}
		}
	}
	// A verb of no use is not offered, unless no other is.
	v := r.in
	for _, useful := range []bool{true, false} {
		v.Useful = func(v *verbs.Verb) bool { return useful && v.Name != "client.collection-stop" }
		h := r.ix.Reader(v).Read("I don't want any more questions", values.In{Now: now})
		if len(h.Parts) != 1 || len(h.Parts[0].Asks) != 1 || slices.Contains(h.Parts[0].Asks[0].Choices, "client.collection-stop") == useful {
			t.Errorf("%v: %+v", useful, h.Parts)
		}
	}
}

// chosen is a reader for which a question was answered.
func chosen(r *Reader, p *Part, a *Ask, answer string) *Reader {
	v := r.in
	v.Given = []Given{{p.Verb.Name, a.Param.Name, answer}}
	return r.ix.Reader(v)
}

// A day that is chosen between two that were said is the argument's, and the text keeps both as
// they were said. An answer that says more than a value, or none of that kind, fills nothing.
func TestAChosenDayLeavesTheTextAsItWasSaid(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	const text = "Tell them that Pierre's returns for 31 December 2024 come on 15 January 2025"
	h := r.Read(text, english)
	ask := &h.Parts[0].Asks[0]
	for answer, expect := range map[string][2]string{
		ask.Choices[1]: {"2025-01-15"}, "no, I meant 20 January 2025": {"2025-01-20"}, "on 15 January 2025, please": {"2025-01-15"},
		"le 15 janvier 2025": {"2025-01-15"}, "15. Januar 2025": {"2025-01-15"}, "15 de enero de 2025": {"2025-01-15"}, // in another language
		"15/1": {"2025-01-15"}, "it is 1/15, I think": {"2025-01-15"}, "3/4": {}, "3/4 of the papers are here": {}, // without a year
		"on 15 January 2025 unless the accountant falls ill":      {"2025-01-15", "unless the accountant falls ill"},
		"probably 15 January 2025, my accountant is ill":          {"2025-01-15", "my accountant is ill"},
		"my accountant is ill, so 15 January 2025":                {"2025-01-15", "my accountant is ill"},
		"my friend is bob@evil.example 15 January 2025":           {"2025-01-15", "my friend is bob@evil.example"},
		"on 15 January 2025, when Thomas's passport comes":        {},
		"on 15 January 2025, or does the analyst need it sooner?": {},
		"two of the three papers are with the accountant":         {}, "Pierre": {},
	} {
		want := "client.add-note :request-id @pierre-dupont-source-of-wealth :note \"that Pierre's returns for 31 December 2024 come on 15 January 2025\" :expected-date " + expect[0]
		h := chosen(r, &h.Parts[0], ask, answer).Read(text, english)
		if args := h.Parts[0].Args; expect[1] != "" && args[len(args)-1].Beside != expect[1] {
			t.Errorf("%q says %q besides", answer, args[len(args)-1].Beside)
		}
		if h.Parts[0].Call != want && (h.Parts[0].Call != "" || !strings.HasSuffix(want, " ")) {
			t.Errorf("%q: %s", answer, describe(text, &h))
		}
	}
}

// Where only values are said, the likeliest verb that accepts them is meant; where a word says which
// verb is, its refusal stands.
func TestValuesAloneAreForTheVerbThatAcceptsThem(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	const born = `client.provide-info :request-id @maria-schmidt-date-of-birth :info-type DATE_OF_BIRTH :collected-data {:date_of_birth "1972-03-15"}`
	for said, want := range map[string]string{
		"maria 15 march 1972": born, "15 March 1972, Maria Schmidt": born, "Maria: 15.3.1972": born,
		"Pierre 15 March 1972": "", "leave a note on Maria: it came on 15 March 1972": "", "Maria 3/4/1972": "",
	} {
		if h := r.Read(said, english); len(h.Parts) != 1 || h.Parts[0].Call != want || want == "" && len(h.Parts[0].Asks) == 0 {
			t.Error(describe(said, &h))
		} else if said == "Maria 3/4/1972" && len(h.Parts[0].Asks[0].Choices) != 2 {
			t.Error(describe(said, &h))
		}
	}
}

// A row that was chosen is that of the whole part: a sentence that only adds a day to it stays a
// part of it.
func TestAChosenRowIsThatOfAllSentences(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	const text = "Still waiting on our accountant. Should have them next week."
	h := r.Read(text, english)
	h = chosen(r, &h.Parts[0], &h.Parts[0].Asks[0], "@pierre-dupont-source-of-wealth").Read(text, english)
	if want := `client.add-note :request-id @pierre-dupont-source-of-wealth :note "Still waiting on our accountant" :expected-date 2025-01-03`; len(h.Parts) != 1 || h.Parts[0].Call != want {
		t.Error(describe(text, &h))
	}
}

// Nothing of a message is dropped without a word: what is said of another person is asked about where
// it is not clear, both of two questions are answered, and a day in a further sentence of a note is in
// the note.
func TestNoHalfOfAMessageIsDropped(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	const born = "client.provide-info :request-id @maria-schmidt-date-of-birth :info-type DATE_OF_BIRTH :collected-data {:date_of_birth \"1972-03-15\"}"
	for said, want := range map[string][]string{
		"Maria was born March 15, 1972 and Thomas was born March 16, 1973":  {born, "?"},
		"Maria was born March 15, 1972. Thomas was born March 16, 1973.":    {born, "?"},
		"What is still needed and what is settled already?":                 {"client.get-outstanding", "client.get-completed"},
		"Tell me how far we are and what is still needed":                   {"client.get-status", "client.get-outstanding"},
		"Was fehlt noch und was ist schon erledigt?":                        {"client.get-outstanding", "client.get-completed"},
		"Qu'est-ce qui manque encore et qu'est-ce qui est déjà réglé ?":     {"client.get-outstanding", "client.get-completed"},
		"¿Qué falta todavía y qué está ya resuelto?":                        {"client.get-outstanding", "client.get-completed"},
		"How far are we, and what holds it up?":                             {"client.get-status"},
		"What is still needed and why?":                                     {"client.get-outstanding"},
		"Note for Pierre: accountant is late. Maria was born on 15.3.1972.": {"client.add-note :request-id @pierre-dupont-source-of-wealth :note \"accountant is late. Maria was born on 15.3.1972.\""},
	} {
		h := r.Read(said, values.In{Now: now})
		var got []string
		for i := range h.Parts {
			p := &h.Parts[i]
			if got = append(got, p.Call); p.Call == "" && len(p.Asks) > 0 {
				got[i] = "?"
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is read as %s", said, describe(said, &h))
		}
	}
}

// Every fact of a sentence is read: at an "and" and at a comma, however many there are, and two of one
// kind where they are about two people's papers. What is one text stays one.
func TestEachFactOfASentenceIsRead(t *testing.T) {
	t.Parallel()
	r, _ := domains[0].reader(t)
	const born = "client.provide-info :request-id @maria-schmidt-date-of-birth :info-type DATE_OF_BIRTH :collected-data {:date_of_birth \"1972-03-15\"}"
	note := func(row, text, day string) string {
		return "client.add-note :request-id @" + row + " :note \"" + text + "\" :expected-date " + day
	}
	for text, want := range map[string][]string{
		"Maria was born on 15 March 1972 and Pierre's tax returns will come on 15 January 2025 and Thomas's passport will come on 20 January 2025": {born,
			note("pierre-dupont-source-of-wealth", "Pierre's tax returns will come on 15 January 2025", "2025-01-15"), note("thomas-muller-identity", "Thomas's passport will come on 20 January 2025", "2025-01-20")},
		"Maria was born on 15 March 1972, we expect Pierre's tax returns on 15 January 2025, and Thomas has lost his passport": {born,
			note("pierre-dupont-source-of-wealth", "we expect Pierre's tax returns on 15 January 2025", "2025-01-15"), ""},
		"Maria was born on 15 March 1972, Pierre's tax returns will come on 15 January 2025 and Thomas has lost his passport": {born,
			note("pierre-dupont-source-of-wealth", "Pierre's tax returns will come on 15 January 2025", "2025-01-15"), ""},
		"Leave a note on Pierre: the accountant is ill, and Thomas has lost his passport": {`client.add-note :request-id @pierre-dupont-source-of-wealth :note "the accountant is ill, and Thomas has lost his passport"`},
	} {
		h := r.Read(text, english)
		var got []string
		for i := range h.Parts {
			got = append(got, h.Parts[i].Call)
			if p := &h.Parts[i]; p.Call == "" && len(p.Asks) == 0 {
				t.Errorf("%q is neither read nor asked about in %q", text[p.Range.Start:p.Range.End], text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q is read as %s", text, describe(text, &h))
		}
	}
}

// Among a thousand verbs, the one that is spoken of is among the twenty that a
// prompt is given.
func TestAmongAThousandVerbs(t *testing.T) {
	t.Parallel()
	reg, ds := loading.Dir(verbstest.Files(1000))
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	for i := 0; i < 1000; i += 37 {
		name := verbstest.VerbName(i)
		text := "please " + strings.ReplaceAll(name, "-", " ")
		list := r.Shortlist(text, 20)
		if len(list) != 20 || !slices.ContainsFunc(list, func(v *verbs.Verb) bool { return strings.HasSuffix(v.Name, "."+name) }) {
			t.Errorf("%q: %d verbs, and not %s", text, len(list), name)
		}
	}
}

// Nothing panics, and what is promised of a part holds, whatever is said.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"Maria was born March 15, 1972. I have Thomas's passport here.", "\"call me\" ¿? “x”", "cancel V-1003 and ship V-1002", "why\u200b?", "a.b.c. and and and"} {
		f.Add(text)
	}
	reg := load(f, domains[0].dir)
	r, _ := domains[0].reader(f)
	_ = reg
	f.Fuzz(func(t *testing.T, text string) {
		h := r.Read(text, values.In{Now: now})
		for i := range h.Parts {
			p := &h.Parts[i]
			if p.Range.Start > p.Range.End || p.Range.End > len(text) {
				t.Fatalf("%q: a part at %v", text, p.Range)
			}
			for _, a := range p.Args {
				_ = text[a.Range.Start:a.Range.End]
			}
			if p.Call != "" && len(p.Asks) > 0 {
				t.Fatalf("%q: %s, and asks", text, p.Call)
			}
		}
		r.Shortlist(text, 20)
	})
}

func benchmarkReader(b *testing.B) *Reader {
	reg, ds := loading.Dir(verbstest.Files(1000))
	if ds.HasErrors() {
		b.Fatal(ds)
	}
	v := Vocabulary{Verbs: reg.Verbs(), Names: map[*verbs.Entity][]string{}}
	for _, e := range reg.Entities() {
		for i := range 200 {
			v.Names[e] = append(v.Names[e], fmt.Sprintf("%s-person-%d-matter-%d", e.Store.Name, i, i%17))
		}
	}
	r := New(reg).Reader(v)
	r.Read("a first sentence", english) // fits the model
	return r
}

// One sentence, with a thousand verbs: the goal is 1 ms.
func BenchmarkRead(b *testing.B) {
	r := benchmarkReader(b)
	b.ReportAllocs()
	for b.Loop() {
		r.Read("We are waiting for the signature of person 17, it will come next week.", english)
	}
}

func BenchmarkShortlist(b *testing.B) {
	r := benchmarkReader(b)
	b.ReportAllocs()
	for b.Loop() {
		r.Shortlist("We are waiting for the signature of person 17, it will come next week.", 20)
	}
}

func BenchmarkNew(b *testing.B) {
	reg, ds := loading.Dir(verbstest.Files(1000))
	if ds.HasErrors() {
		b.Fatal(ds)
	}
	b.ReportAllocs()
	for b.Loop() {
		New(reg)
	}
}

// What several sentences say together is meant, where it is likelier than what one of them
// says alone; what two of them say clearly is meant twice. (F28)
func TestSeveralSentencesMayMeanOneThing(t *testing.T) {
	t.Parallel()
	s := intentSet{train: [][2]string{
		{"i asked for a refund weeks ago", "refund_missing"},
		{"i ordered something weeks ago", "order_missing"},
		{"the card was sent weeks ago", "card_missing"},
		{"the parcel was sent weeks ago", "parcel_missing"},
		{"i want to ask for a refund", "ask_refund"},
		{"i ask for a refund of this", "ask_refund"},
		{"what is on my account", "show_account"},
		{"show my account", "show_account"},
	}}
	reg, _ := s.palette(t)
	r := New(reg).Reader(Vocabulary{Verbs: reg.Verbs()})
	for text, want := range map[string]string{
		"I asked for a refund. That was weeks ago, it is missing.": "intents.refund-missing",
		"I ask for a refund. Show my account.":                     "intents.ask-refund intents.show-account",
	} {
		var said []string
		h := r.Read(text, english)
		for i := range h.Parts {
			if p := &h.Parts[i]; p.Certainty == Sure {
				said = append(said, p.Verb.Name)
			}
		}
		if got := strings.Join(said, " "); got != want {
			t.Errorf("%q: %s, and not %s", text, got, want)
		}
	}
}
