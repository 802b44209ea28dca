package pages_test

import (
	"bytes"
	"compress/gzip"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"verbatim/runtime/conversation/values"
	"verbatim/runtime/frontends/http/pages"
	"verbatim/runtime/tests/browsertest"
)

// evil is markup that somebody stored.
const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(2)> javascript:alert(3)`

// gallery is one page of each kind of block, as full as it gets.
func gallery(l values.Language) map[string]pages.Page {
	frame := pages.Page{Language: l, Title: "Your onboarding", Head: "Your onboarding", Brand: pages.Brand{Name: "Bank of the North"}, Org: "Allianz Reinsurance AG", Person: "Clara Weiss", Help: "/person",
		SignOut: &pages.Act{URL: "/sign-out"}, Look: &pages.Act{URL: "/look", Hidden: []pages.Hidden{{Name: "to", Value: "/"}}},
		Nav: []pages.Link{{URL: "/", Text: "Your onboarding", Here: true}, {URL: "/a", Text: "What you told us"}}}
	with := func(wide bool, main []pages.Block, aside ...pages.Block) pages.Page {
		p := frame
		p.Wide, p.Main, p.Aside = wide, main, aside
		return p
	}
	field := func(id, kind, label string, wrong string) pages.Field {
		return pages.Field{ID: id, Name: id, Kind: kind, Label: label, Hint: "For example 31 3 1972", Wrong: wrong, Max: 200, Accept: "application/pdf", Many: true, Most: 1 << 20, Here: []pages.File{{Value: "upload://1", Name: "passport.pdf", Size: "2.1 MB"}}, Draft: id,
			Options: []pages.Choice{{Value: "PASSPORT", Text: "Passport", Chosen: true}, {Value: "ID", Text: "National identity card"}}}
	}
	diffs := []pages.Diff{{Title: "Source of wealth, Pierre Dupont", Op: "changed", Fields: []pages.Changed{
		{Name: "Due date", Was: true, Before: "Wednesday 15 January 2025", After: "Monday 10 February 2025", From: "you said"}, {Name: "Note", After: "Accountant on leave", From: "from letter.pdf"}}}}
	call := `client.add-note :request-id @pierre-dupont-source-of-wealth :note "Accountant"`
	file := field("file-said", "file", "Add a file", "")
	portal := with(false, []pages.Block{
		pages.Progress{Bold: "27 of 31 steps done (87 %).", Text: "4 are with you, 0 are with us.", Done: 870, Ours: 30, Total: 1000},
		pages.Tasks{ID: "open", Title: "What we still need (3)", Tasks: []pages.Task{
			{Title: "Source of wealth: Pierre Dupont", URL: "/x", Tag: pages.Tag{Text: "Part received", Tone: "you"}, Lines: []string{"Due Wednesday 15 January 2025, in 19 days"},
				Facts: []pages.Fact{{Name: "We have", Text: "bank statements (received 12 December)"}, {Name: "Still needed", Text: "tax returns 2021, 2022, 2023"}, {Name: "Why", Text: "Pierre is investing €50 million. FCA rules ask us to verify how his wealth was built up over time, not only where this investment comes from."}, {Name: "Accepts", Text: "tax returns, audited accounts, or a letter from a tax adviser"}},
				Acts:  []pages.Link{{URL: "/a", Text: "Send a document", Of: "Source of wealth", Tone: "main"}, {URL: "/b", Text: "Tell us when"}, {URL: "/c", Text: "Ask about this"}}},
			{Title: "Identity document: Thomas Müller", URL: "/y", Tag: pages.Tag{Text: "With us for checking", Tone: "us"}, More: &pages.More{Summary: "Why we ask", Of: "Thomas Müller", Facts: []pages.Fact{{Name: "Why", Text: "The law asks for it."}}}},
			{Title: "Date of birth: Maria Schmidt", URL: "/z", Tag: pages.Tag{Text: "We need a correction", Tone: "bad"}}},
			Folded: &pages.Folded{Summary: "Done (27)", Tasks: []pages.Task{{Title: "Address: Thomas Müller", Tag: pages.Tag{Text: "Done", Tone: "done"}, Lines: []string{"Friday 13 December 2024"}}}}},
		pages.Banner{Tone: "warn", Text: "You expected the tax returns by 3 January.", Acts: []pages.Link{{URL: "/s", Text: "Send them now"}}},
	}, pages.Talk{URL: "/talk", Hidden: []pages.Hidden{{Name: "key", Value: "k"}}, Last: "x", Draft: "half a sen", Acts: []pages.Link{{URL: "/f", Text: "How the last answer came about"}}, File: &file,
		Messages: []pages.Message{{Who: "You", Mine: true, Lines: []string{"Maria was born March 15, 1972. I have Thomas's passport here."}}, {Who: "Assistant", Lines: []string{"Saved: Maria Schmidt, date of birth 15 March 1972.", "For Thomas's passport, **add the file** here.", "* one < two"}, Acts: []pages.Link{{URL: "/c", Text: "Change", Of: "Give the information"}, {URL: "/u", Text: "Take it back"}}}},
		Cards:    []pages.Card{{ID: "ask", Title: "Save Maria Schmidt's date of birth?", Rows: diffs, Lines: []string{"This goes to the filing."}, Facts: []pages.Fact{{Name: "Good until", Text: "tomorrow 09:03"}}, URL: "/talk", Buttons: []pages.Button{{Name: "said", Value: "yes", Text: "Save"}, {Name: "said", Value: "no", Text: "Do not save"}}}},
		Replies:  []pages.Button{{Value: "Yes", Text: "Yes"}, {Value: "Another date", Text: "Another date"}}})
	portal.Banners = []pages.Banner{{Tone: "ok", Text: "Saved."}, {Tone: "bad", Text: "Not sent."}}
	forms := with(false, []pages.Block{pages.Form{Title: "Send a document", Step: "Question 2 of 5: beneficial owner", Lines: []string{"You entered 1 January 1850. Nothing was saved."}, URL: "/f", Files: true,
		Wrong: []pages.Mistake{{Field: "born", Text: "Date of birth must be after 1 January 1900"}, {Text: "The server was busy."}},
		Fields: []pages.Field{field("born", "date", "Date of birth", "It must be after 1 January 1900"), field("text", "text", "Name", ""), field("area", "area", "Note", "Too long"), field("number", "number", "Percent", ""), field("email", "email", "Address", ""),
			field("tel", "tel", "Telephone", ""), field("radio", "radio", "What is it?", "Please choose"), field("checks", "checks", "Which of them?", ""), field("select", "select", "Country", ""), field("file", "file", "The document", "")},
		Buttons: []pages.Button{{Text: "Save and continue", Tone: "main"}, {Name: "later", Value: "1", Text: "Save and come back later"}}, Links: []pages.Link{{URL: "/", Text: "Back"}}},
		pages.Answers{Title: "Check your answers", Lines: []string{"They are sent when you confirm them."}, URL: "/send", Rows: []pages.Answered{{Label: "Date of birth", Answer: "15 March 1972", Change: "/c", Now: true}, {Label: "Tax number", Answer: "••••••", Change: "/d", Show: "tax_number"}},
			Buttons: []pages.Button{{Name: "send", Value: "1", Text: "Send these 5 answers", Tone: "main"}}, Links: []pages.Link{{URL: "/", Text: "Back"}}}})
	forms.Wrong = true
	question := field("q", "date", "Date of birth", "")
	question.Heading, question.Optional = true, true
	asked := with(false, []pages.Block{pages.Form{Step: "Question 2 of 5", URL: "/q", Fields: []pages.Field{question}, Buttons: []pages.Button{{Text: "Save and continue", Tone: "main"}}}})
	asked.Head, asked.Back = "", &pages.Link{URL: "/", Text: "Back"}
	receipt := with(false, []pages.Block{pages.Prose{ID: "told", Told: true, Title: "Saved", Lines: []string{"Maria Schmidt, date of birth 15 March 1972."}, Links: []pages.Link{{URL: "/", Text: "Back to the list"}}},
		pages.Prose{ID: "p", Title: "More", Lines: []string{"Text."}, Calls: []string{call}, Facts: []pages.Fact{{Name: "Who", Text: "Clara"}}, Links: []pages.Link{{URL: "/", Text: "On"}}}})
	console := with(true, []pages.Block{
		pages.Inbox{ID: "queue", Title: "Waiting for you (2)", Together: "/q", Rows: []pages.Item{{URL: "/1", Key: "1", Title: "Extend the due date", Aside: "12 minutes ago", Lines: []string{"asked by Clara Weiss"}}, {URL: "/2", Title: "Waive"}}},
		pages.Card{ID: "four", Title: "Extend the due date to 10 February 2025", Aside: "asked by Clara Weiss", Calls: []string{call}, Rows: diffs, Notes: []pages.Banner{{Tone: "warn", Text: "Weber looked at this in the last five minutes."}}, Facts: []pages.Fact{{Name: "Why you are asked", Text: "26 days later than now; the rule allows 14"}},
			URL: "/d", Fields: []pages.Field{{ID: "reason", Name: "reason", Kind: "text", Label: "Why not"}}, Buttons: []pages.Button{{Name: "decide", Value: "agree", Text: "Agree"}, {Name: "decide", Value: "decline", Text: "Decline"}}},
		pages.Table{ID: "journal", Title: "Journal", Find: &pages.Find{URL: "/q", Fields: []pages.Field{{ID: "find", Name: "q", Kind: "search", Label: "Search"}}}, Pages: &pages.Pager{Before: &pages.Link{URL: "/p", Text: "Newer"}, After: &pages.Link{URL: "/n", Text: "Older"}}, Lines: []string{"The chain is whole."}, Head: []string{"When", "Who", "Call", "State"}, Rows: [][]pages.Cell{{{Text: "09:14", URL: "/j/1"}, {Text: "lena"}, {Text: "client.add-note", Code: true}, {Text: "done"}}}},
		pages.Turn{Happened: []string{"09:02 Clara: our accountant is away", "09:02 proposed 1 call"}, Why: []pages.Fact{{Name: "Read", Text: "her message"}, {Name: "Matched", Text: "more time"}}},
		pages.Graph{ID: "graph", Title: "Steps", Says: "1 of 3 steps is done.", Width: 440, Height: 140, Nodes: []pages.Node{{Class: "done", X: 2, Y: 2, W: 190, H: 56, Text: "found", Under: "done, 0.85 of 0.80 needed"}, {Class: "wait", X: 242, Y: 2, W: 190, H: 56, Text: "topics", Under: "doubtful"}, {Class: "bad", X: 242, Y: 78, W: 190, H: 56, Text: "told", Under: "failed"}},
			Edges: []pages.Edge{{X1: 192, Y1: 30, X2: 242, Y2: 30}, {X1: 192, Y1: 30, X2: 242, Y2: 106}}, Head: []string{"Step", "State"}, Rows: [][]string{{"found", "done"}}, Again: "/x"},
		pages.Plot{ID: "plot", Title: "Calls per day", Says: "Most calls were done.", Series: []pages.Series{{Tone: "a", Text: "Done"}, {Tone: "c", Text: "Refused"}},
			Columns: []pages.Column{{Text: "1 Jan", Values: []float64{10, 3}}, {Text: "2 Jan", Values: []float64{7, 0}}}, Head: []string{"Day", "Done", "Refused"}, Rows: [][]string{{"1 Jan", "10", "3"}, {"2 Jan", "7", "0"}}},
		pages.Plot{ID: "shares", Title: "How sure", Says: "Two shares.", Beside: true, Percent: true, Series: []pages.Series{{Tone: "a", Text: "Sure"}, {Tone: "b", Text: "Right"}},
			Columns: []pages.Column{{Text: "0.5", Values: []float64{0.5, 0.4}}}, Head: []string{"Score", "Sure", "Right"}, Rows: [][]string{{"0.5", "0.5", "0.4"}}},
	})
	console.Keys, console.KeysOff = true, &pages.Act{URL: "/keys"}
	empty := with(false, []pages.Block{pages.Tasks{ID: "open", Title: "What we still need", Empty: "No open request that you can see."}, pages.Inbox{ID: "q", Title: "Waiting for you", Empty: "Nothing waits."}, pages.Table{ID: "t", Title: "Jobs", Empty: "There are none."}}, pages.Talk{Off: "I cannot chat just now. Everything can still be done with the buttons above."})
	return map[string]pages.Page{"portal": portal, "forms": forms, "question": asked, "receipt": receipt, "console": console, "empty": empty}
}

// serves serves pages and their assets, under the policy of the server.
func serves(t *testing.T, all map[string]pages.Page) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
		if strings.HasPrefix(r.URL.Path, pages.Assets) {
			text, _, kind, _ := pages.Asset(strings.TrimPrefix(r.URL.Path, pages.Assets))
			w.Header().Set("Content-Type", kind)
			_, _ = w.Write(text)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if err := all[r.URL.Path[1:]].Render(w); err != nil {
			t.Error(err)
		}
	}
}

// U24: between the two narrowest widths at which pages are judged, the style sheet changes nothing:
// what is judged at one of them alone holds at the other.
func TestNarrowPagesHaveOneStyle(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?:min|max)-width:([0-9.]+)rem\)`).FindAllSubmatch(text, -1)
	if all := bytes.Count(text, []byte("@media (min-width")) + bytes.Count(text, []byte("@media (max-width")); len(found) < all || all == 0 {
		t.Errorf("%d of %d widths are understood", len(found), all)
	}
	for _, m := range found {
		if at, err := strconv.ParseFloat(string(m[1]), 64); err != nil || at*16 >= float64(browsertest.Widths[0]) && at*16 <= float64(browsertest.Widths[1]) {
			t.Errorf("%s changes the page", m[0])
		}
	}
}

// U23, U24, U25, U26: every block, full and empty, light and dark, narrow and wide.
func TestBrowserGallery(t *testing.T) {
	all := gallery(values.English)
	server := httptest.NewServer(serves(t, all))
	defer server.Close()
	tab := browsertest.Open(t)
	for name := range all {
		tab.Everywhere(server.URL+"/"+name, "gallery-"+name)
	}
}

// U25: where the system chooses the colours, everything is there and is told apart: by
// shape, or by a pair of the system's own colours.
func TestBrowserForcedColours(t *testing.T) {
	all := gallery(values.English)
	server := httptest.NewServer(serves(t, all))
	defer server.Close()
	tab := browsertest.Open(t)
	for name := range all {
		for _, look := range []string{"forced light", "forced dark"} {
			shown := "forced-" + strings.ReplaceAll(name+" "+look, " ", "-")
			tab.Size(320, look)
			tab.Go(server.URL + "/" + name)
			tab.Audit(shown)
			tab.Size(1280, look)
			tab.AuditAct(shown)
			if got := tab.Eval(`matchMedia("(forced-colors: active)").matches`); got != "true" {
				t.Fatal("the system chooses no colours")
			}
			// What is wrong, as lines.
			if wrong := tab.Eval(`(() => {
				const wrong = [], css = e => getComputedStyle(e), all = (what, fn) => document.querySelectorAll(what).forEach(fn);
				const say = (e, why) => wrong.push(why + ": " + e.outerHTML.slice(0, 90));
				const behind = e => { for (; e; e = e.parentElement) { const c = css(e).backgroundColor; if (!c.endsWith(", 0)")) return c; } return css(document.documentElement).backgroundColor; };
				const framed = e => ["Top", "Left"].some(s => css(e)["border" + s + "Style"] !== "none" && parseFloat(css(e)["border" + s + "Width"]) >= 1 && css(e)["border" + s + "Color"] !== behind(e.parentElement));
				all(".btn:not(.bare), .tag, .banner, .card, .summary, input:not([type=radio]):not([type=checkbox]):not([type=hidden]), textarea, select, pre.call", e => framed(e) || say(e, "it has no edge"));
				all(".btn:not(.plain):not(.bare)", e => css(e).backgroundColor !== behind(e.parentElement) || say(e, "it is no more than a plain button"));
				all(".btn.bare", e => css(e).textDecorationLine === "underline" || say(e, "it does not look like a link"));
				all(".from, .hint, .why, .tag, .quiet, dt", e => css(e).color !== behind(e) || say(e, "it cannot be read"));
				all("del", e => css(e).textDecorationLine === "line-through" || say(e, "it is not struck out"));
				all("ins", e => css(e).textDecorationLine === "underline" || say(e, "it is not marked as new"));
				all(".field.wrong input:not([type=radio]):not([type=checkbox])", e => parseFloat(css(e).borderTopWidth) > 2 || say(e, "what is wrong looks like what is right"));
				all(".nav a:not([aria-current])", e => css(e).borderBottomColor !== css(document.querySelector(".nav [aria-current]")).borderBottomColor || say(e, "it looks like where one is"));
				all(".banner", e => all(".banner", o => e.className === o.className || css(e).borderLeftStyle !== css(o).borderLeftStyle || ![e, o].some(b => b.matches(".bad")) || say(e, "it looks like " + o.className)));
				all(".plot, .far svg", e => { const fills = new Set([...e.querySelectorAll("rect:not(.frame)")].map(r => r.getAttribute("class") + css(r).fill)), kinds = new Set([...e.querySelectorAll("rect:not(.frame)")].map(r => r.getAttribute("class"))), colours = new Set([...e.querySelectorAll("rect:not(.frame)")].map(r => css(r).fill)); if (fills.size !== kinds.size || colours.size !== kinds.size) say(e, "its bars look alike"); });
				return wrong.join("\n");
			})()`); wrong != "" {
				t.Errorf("%s, %s:\n%s", name, look, wrong)
			}
			// The focus is a ring wherever the keyboard takes it.
			first := ""
			for range 60 {
				tab.Press("\t")
				ring, at, _ := strings.Cut(tab.Eval(`(e => { window.at ??= 0; e.dataset.at ??= window.at++; const c = getComputedStyle(e); return [c.outlineStyle, parseFloat(c.outlineWidth) >= 2, c.outlineColor !== getComputedStyle(document.documentElement).backgroundColor] + " " + e.dataset.at + " " + e.outerHTML.slice(0, 90) })(document.activeElement)`), " ")
				if at == first {
					break
				}
				if first == "" {
					first = at
				}
				if ring != "solid,true,true" && !strings.Contains(at, "<body") {
					t.Errorf("%s, %s: the focus is not seen (%s) on %s", name, look, ring, at)
				}
			}
			if first == "" || strings.HasPrefix(first, "0 <body") {
				t.Errorf("%s, %s: Tab leads nowhere", name, look)
			}
		}
	}
}

// U26: a page whose second half comes late is painted when it is whole. Painted before, it
// would move as the rest comes.
func TestBrowserPaintsOnce(t *testing.T) {
	all := gallery(values.English)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, pages.Assets) {
			serves(t, all)(w, r)
			return
		}
		page, ok := all[r.URL.Path[1:]]
		if !ok { // a graph that moves is looked at again
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		var b bytes.Buffer
		if err := page.Render(&b); err != nil {
			t.Error(err)
		}
		// The tools of the header are pushed aside by what follows in it.
		first, rest, ok := bytes.Cut(b.Bytes(), []byte(`<form method="post" action="/sign-out">`))
		if !ok {
			t.Error("the page has no tools")
		}
		_, _ = w.Write(first)
		_ = http.NewResponseController(w).Flush()
		time.Sleep(300 * time.Millisecond)
		_, _ = w.Write(append([]byte(`<form method="post" action="/sign-out">`), rest...))
	}))
	defer server.Close()
	tab := browsertest.Open(t)
	tab.Size(1280, "light")
	for name := range all {
		tab.Go(server.URL + "/" + name)
		tab.Audit("in-parts-" + name)
		if got := tab.Shift(); got != 0 {
			t.Errorf("%s shifts by %g", name, got)
		}
	}
}

// fill sets every text of a value to text, and gives every list two members.
func fill(v reflect.Value, text string, depth int) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(7)
	case reflect.Pointer:
		if depth > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), text, depth-1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text, depth)
		}
	case reflect.Slice:
		if depth == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			if v.Type().Elem().Kind() != reflect.Interface {
				fill(v.Index(i), text, depth-1)
				continue
			}
			v.Index(i).Set(reflect.ValueOf(pages.Banner{Tone: text, Text: text}))
		}
	}
}

// SAFE-A: whatever is stored, in whatever place it ends up, it is text. Every template
// is executed with nothing in it and with markup in all of it, in each language.
func TestMarkupIsText(t *testing.T) {
	t.Parallel()
	fields := []pages.Field{}
	for _, kind := range []string{"text", "area", "number", "email", "tel", "search", "date", "radio", "checks", "select", "file"} {
		var f pages.Field
		fill(reflect.ValueOf(&f).Elem(), evil, 4)
		f.Kind = kind
		fields = append(fields, f)
	}
	form := pages.Form{}
	fill(reflect.ValueOf(&form).Elem(), evil, 5)
	form.Fields = fields
	blocks := []pages.Block{pages.Progress{}, pages.Tasks{}, pages.Talk{}, pages.Form{Fields: []pages.Field{{}}}, pages.Answers{}, pages.Card{}, pages.Prose{}, pages.Inbox{}, pages.Table{}, pages.Turn{}, pages.Plot{}, pages.Banner{}}
	full := []pages.Block{form}
	for _, b := range blocks {
		v := reflect.New(reflect.TypeOf(b)).Elem()
		fill(v, evil, 5)
		if table, ok := v.Interface().(pages.Table); ok {
			table.Rows = [][]pages.Cell{table.Rows[0]}
			v.Set(reflect.ValueOf(table))
		}
		full = append(full, v.Interface().(pages.Block))
	}
	for _, l := range values.Languages() {
		var page pages.Page
		fill(reflect.ValueOf(&page).Elem(), evil, 5)
		page.Language, page.Main = l, full
		for _, p := range []pages.Page{{Language: l, Main: blocks}, page} {
			var out bytes.Buffer
			if err := p.Render(&out); err != nil {
				t.Fatal(err)
			}
			text := out.String()
			for _, bad := range []string{"<script>alert", "<img src=x", `href="javascript:`, " onerror=alert(2)>", "style=", " onclick", "ZgotmplZ"} {
				if strings.Contains(text, bad) {
					at := strings.Index(text, bad)
					t.Errorf("%s: %s", l, text[max(0, at-100):min(len(text), at+100)])
				}
			}
			if n := strings.Count(text, "<script"); n != 2 {
				t.Errorf("%s: %d scripts", l, n)
			}
		}
	}
}

// U37: what pages load is small, whole and ours.
func TestAssetsAreSmall(t *testing.T) {
	t.Parallel()
	var sum, whole int
	for _, name := range []string{"style.css", "page.js", "htmx.min.js"} {
		text, err := os.ReadFile(filepath.Join("assets", name))
		if err != nil {
			t.Fatal(err)
		}
		var small bytes.Buffer
		z, _ := gzip.NewWriterLevel(&small, gzip.BestCompression)
		_, _ = z.Write(text)
		_ = z.Close()
		sum, whole = sum+small.Len(), whole+len(text)
		if strings.Contains(string(text), "//cdn") || name != "htmx.min.js" && strings.Contains(string(text), "http") {
			t.Errorf("%s loads from elsewhere", name)
		}
	}
	if t.Logf("%d bytes, %d compressed", whole, sum); sum > 60<<10 || whole > 70_000 {
		t.Errorf("assets are %d bytes, %d compressed", whole, sum)
	}
	if theirs, err := os.ReadFile(browsertest.Judge("htmx.org/dist/htmx.min.js")); err == nil {
		if ours, _ := os.ReadFile("assets/htmx.min.js"); !bytes.Equal(ours, theirs) {
			t.Error("htmx.min.js is not that of the package")
		}
	}
}

// U25: the tokens keep their contrast, light and dark.
func TestTokensHaveContrast(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("assets/style.css")
	if err != nil {
		t.Fatal(err)
	}
	for i, look := range []string{"light", "dark"} {
		token := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z0-9-]+):light-dark\((#[0-9A-F]{6}),(#[0-9A-F]{6})\)`).FindAllStringSubmatch(string(css), -1) {
			token[m[1]] = m[2+i]
		}
		for _, pair := range []struct {
			front, back string
			least       float64
		}{{"ink", "paper", 4.5}, {"ink", "ground", 4.5}, {"ink2", "paper", 4.5}, {"ink2", "ground", 4.5}, {"accent", "paper", 4.5}, {"accent", "ground", 4.5}, {"accent", "info-bg", 4.5}, {"on-accent", "accent", 4.5}, {"ok", "ok-bg", 4.5}, {"warn", "warn-bg", 4.5},
			{"bad", "bad-bg", 4.5}, {"bad", "paper", 4.5}, {"ink", "ok-bg", 4.5}, {"ink", "warn-bg", 4.5}, {"ink", "bad-bg", 4.5}, {"ink", "info-bg", 4.5}, {"accent", "ok-bg", 4.5}, {"accent", "warn-bg", 4.5}, {"accent", "bad-bg", 4.5}, {"ink2", "info-bg", 4.5}, {"edge", "paper", 3}, {"edge", "ground", 3}, {"focus", "paper", 3}, {"focus", "ground", 3}} {
			if token[pair.front] == "" || token[pair.back] == "" {
				t.Fatalf("%s has no %s or %s", look, pair.front, pair.back)
			}
			if got := pages.Contrast(token[pair.front], token[pair.back]); got < pair.least {
				t.Errorf("%s %s on %s: %.2f, less than %.1f", look, pair.front, pair.back, got, pair.least)
			}
		}
	}
}

// G54: an organisation sets its name, its logo and its accent, and no accent that cannot be read.
func TestABrandCanBeRead(t *testing.T) {
	t.Parallel()
	for _, of := range []struct{ colours, file, wrong, css string }{
		{"", "", "", ""},
		{"#1B4F9C", "", "", ":root{--accent:light-dark(#1B4F9C,#"},
		{"#6A1B1B, #FFB4A8", "logo.SVG", "", ":root{--accent:light-dark(#6A1B1B,#FFB4A8)}"},
		{"#8AB8FF", "", "take a darker one", ""},
		{"#1B4F9C,#1B4F9C", "", "take a lighter one", ""},
		{"blue", "", "a colour is written like #1B4F9C", ""},
		{"", "logo.gif", "ends in .svg or .png", ""},
	} {
		b, err := pages.NewBrand("Bank of the North", of.colours, of.file, []byte("<svg/>"))
		if (err == nil) != (of.wrong == "") || err != nil && !strings.Contains(err.Error(), of.wrong) {
			t.Errorf("%q %q: %v", of.colours, of.file, err)
		}
		if of.css != "" {
			text, _, _, ok := pages.Asset(strings.TrimPrefix(b.Colours, pages.Assets))
			if !ok || !strings.HasPrefix(string(text), of.css) {
				t.Errorf("%q makes %q", of.colours, text)
			}
		}
		if of.file == "logo.SVG" {
			if _, _, kind, ok := pages.Asset(strings.TrimPrefix(b.Logo, pages.Assets)); !ok || kind != "image/svg+xml" {
				t.Errorf("the logo is %q", kind)
			}
		}
	}
}

// G55: the axis of a plot begins at nought, counts in whole numbers that people count in, and reaches
// over the highest column; names of columns do not touch.
func TestPlotsHaveAnAxis(t *testing.T) {
	t.Parallel()
	for highest, want := range map[float64]string{0: "0 1", 1: "0 1", 3: "0 1 2 3", 7: "0 2 4 6 8", 23: "0 5 10 15 20 25", 112: "0 25 50 75 100 125", 990: "0 200 400 600 800 1000"} {
		p := pages.Plot{Series: []pages.Series{{Tone: "a"}, {Tone: "c"}}}
		for range 14 {
			p.Columns = append(p.Columns, pages.Column{Text: "Monday 30 November", Values: []float64{highest - math.Floor(highest/3), math.Floor(highest / 3)}})
		}
		var axis []string
		for _, m := range p.Axis() {
			axis = append(axis, m.Text)
		}
		if got := strings.Join(axis, " "); got != want {
			t.Errorf("%g: the axis says %s, not %s", highest, got, want)
		}
		for _, b := range p.Bars() {
			if b.Y < 10 || b.H < 0 || b.Y+b.H > 170 {
				t.Errorf("%g: a bar stands at %+v", highest, b)
			}
		}
		marks := p.Marks()
		for i := range marks[1:] {
			if wide := 7 * len(marks[i].Text); marks[i+1].X-marks[i].X < wide || len(marks) < 5 {
				t.Errorf("names of columns touch: %+v", marks)
			}
		}
	}
}

// Templates, the style sheet and the script are read by people.
func TestTemplatesAreReadable(t *testing.T) {
	t.Parallel()
	parts, _ := filepath.Glob("parts/*.html")
	for _, name := range append(parts, "assets/style.css", "assets/page.js") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range strings.Split(string(text), "\n") {
			if len(line) > 160 {
				t.Errorf("%s:%d has %d characters", name, i+1, len(line))
			}
		}
	}
	if len(parts) < 5 {
		t.Errorf("there are %d files of templates", len(parts))
	}
}

// G55: nobody reads the signs of Markdown in a message of a model, and what they write themselves stays
// as they wrote it.
func TestMessagesShowNoMarkdown(t *testing.T) {
	t.Parallel()
	lines := []string{"**Two** things are left, 2 * 3 ** 4:", "* one < two", "- **three**", "## Next"}
	var b bytes.Buffer
	p := pages.Page{Main: []pages.Block{pages.Talk{Messages: []pages.Message{{Who: "Assistant", Lines: lines}, {Who: "You", Mine: true, Lines: lines}}}}}
	if err := p.Render(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<p><strong>Two</strong> things are left, 2 * 3 ** 4:</p>", "<p>• one &lt; two</p>", "<p>• <strong>three</strong></p>", "<p>Next</p>", "<p>**Two** things are left", "<p>## Next</p>"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in\n%s", want, b.String())
		}
	}
}

// G37: htmx gives a request up after a minute unless the page says otherwise, and a local model that is
// loaded needs longer; how long is waited is the server's to say.
func TestPagesWaitForAModel(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := (&pages.Page{}).Render(&b); err != nil {
		t.Fatal(err)
	}
	library, err := os.ReadFile("assets/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `"defaultTimeout":0}`) || !strings.Contains(string(library), "defaultTimeout:6e4") {
		t.Error("a form of a page is given up after a minute")
	}
}
