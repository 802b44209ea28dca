package verbs

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"verbatim/dsl"
)

// A snippet is a fenced block of the guide.
type snippet struct {
	line       int
	lang, info string
	text       string
}

func snippets(t *testing.T, file string) []snippet {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []snippet
	for _, m := range regexp.MustCompile("(?ms)^```([a-z]+) ?([^\n]*)\n(.*?)^```$").FindAllSubmatchIndex(text, -1) {
		found = append(found, snippet{
			line: strings.Count(string(text[:m[0]]), "\n") + 1,
			lang: string(text[m[2]:m[3]]), info: string(text[m[4]:m[5]]), text: string(text[m[6]:m[7]]),
		})
	}
	return found
}

// The guide's palettes load and its scripts check: nothing in it is only said.
// Its commands are played by the tests of the command.
func TestGuide(t *testing.T) {
	t.Parallel()
	var told, rooms, diary, search, kitchen, beside, apart string
	var scripts []snippet
	for _, s := range snippets(t, "README.md") {
		switch {
		case s.info == "palette":
			told += s.text + "\n"
		case s.info == "file=verbs/rooms.yaml":
			rooms = strings.Replace(s.text, "type: dat,", "type: date,", 1)
		case s.info == "file=verbs/diary.yaml":
			diary = s.text
		case s.info == "file=verbs/search.yaml":
			search = s.text
		case s.info == "file=kitchen.yaml":
			kitchen = s.text
		case s.info == "file=pay.de.yaml":
			beside = s.text
		case s.info == "file=kyc.yaml":
			apart = s.text
		case s.info == "file=blank/blank.yaml", s.info == "file=asks.yaml", s.lang == "text", s.lang == "json", strings.HasPrefix(s.text, "shop."), strings.HasPrefix(s.text, "system."):
			// the commands play them over tables of their own
		case s.lang == "verbatim":
			scripts = append(scripts, s)
		case s.lang != "console" && s.lang != "sql":
			t.Errorf("README.md:%d: nothing runs this block", s.line)
		}
	}
	pay, ds := LoadSources(dsl.NewSource("pay.yaml", told), dsl.NewSource("pay.de.yaml", beside), dsl.NewSource("kyc.yaml", apart))
	if pay == nil {
		t.Fatal(inWords(ds))
	}
	for _, d := range ds {
		if d.Code != "handler-needed" && d.Code != "any-code" {
			t.Errorf("%s: %s", d.Code, d.Summary)
		}
	}
	if cooks, ds := LoadSources(dsl.NewSource("kitchen.yaml", kitchen)); len(ds) > 0 || len(cooks.NoUndo()) > 0 {
		t.Fatal(inWords(ds))
	}
	small, ds := LoadSources(dsl.NewSource("rooms.yaml", rooms), dsl.NewSource("diary.yaml", diary), dsl.NewSource("search.yaml", search))
	if len(ds) > 0 {
		t.Fatal(inWords(ds))
	}
	for _, s := range scripts {
		script, ds := dsl.Parse(dsl.NewSource("README.md", s.text))
		r := pay
		if strings.HasPrefix(s.text, "rooms.") || strings.HasPrefix(s.text, "diary.") || strings.HasPrefix(s.text, "search.") {
			r = small
		}
		_, more := r.Check(script, nil)
		if ds = append(ds, more...); len(ds) > 0 {
			t.Errorf("README.md:%d: %s", s.line, inWords(ds))
		}
	}
}

// The guide shows every key and every type that a palette can have.
func TestGuideShowsEveryKey(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(text)
	keys := map[string]bool{}
	for _, written := range regexp.MustCompile(`[A-Za-z0-9_-]+:`).FindAllString(guide, -1) {
		keys[strings.TrimSuffix(written, ":")] = true
	}
	for _, s := range shapes() {
		for _, k := range s.keys {
			if !strings.Contains(guide, "`"+k.name+"`") && !keys[k.name] {
				t.Errorf("%s of %s is not shown", k.name, s.name)
			}
		}
	}
	for _, name := range typeWords {
		if !strings.Contains(guide, "type: "+name) || !strings.Contains(guide, "| `"+name+"` |") {
			t.Errorf("type %s is not shown", name)
		}
	}
	for _, name := range originWords {
		if !strings.Contains(guide, "`"+name+"`") {
			t.Errorf("origin %s is not shown", name)
		}
	}
}

// Whatever the guide says of expressions loads as the condition of a rule.
func TestGuideExpressions(t *testing.T) {
	t.Parallel()
	var told string
	for _, s := range snippets(t, "README.md") {
		if s.info == "palette" {
			told += s.text + "\n"
		}
	}
	told += `
  - verb: attempt
    description: Try a condition.
    roles: [clerk]
    args:
      - {name: payment-id, type: ref, ref-type: payment, required: true}
      - {name: price, type: money, required: true}
      - {name: text, type: string, required: true}
      - {name: day, type: date, required: true}
      - {name: tags, type: list, of: string, required: true}
      - {name: n, type: integer, required: true}
    effects:
      - notifies: somebody
    confirm:
      - when: `
	for _, expr := range []string{
		`payment_id.supplier.name == text`,
		`price.amount > 12.50 and price.currency == EUR`,
		`payment_id.status == DRAFT or payment_id.status in [RELEASED, REJECTED]`,
		`payment_id.note == nil or payment_id.note != "text"`,
		`day > today + days(2) or day < today - weeks(1)`,
		`payment_id.entered + hours(4) < now - minutes(5)`,
		`principal == text`,
		`day == date("2025-01-20")`,
		`n * 2 + 1 - 3 >= 10 and n % 2 != 0 or not (n <= 3)`,
		`n > 3 ? true : false`,
		`text contains "a" or text startsWith "b" or text endsWith "c" or text matches "^[a-z]+$"`,
		`len(text) > 3 and lower(text) == upper(trim(text))`,
		`len(tags) > 3 or "a" in tags`,
	} {
		if r, ds := LoadSources(dsl.NewSource("pay.yaml", told+"'"+expr+"'\n")); r == nil {
			t.Errorf("%s\n%s", expr, inWords(ds))
		}
	}
	if r, _ := LoadSources(dsl.NewSource("pay.yaml", told+"'n == text'\n")); r != nil {
		t.Error("a number is compared with a text and nobody minds")
	}
}
