package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
)

// people and things of a club with a large membership: names with accents, of
// several words, nearly alike, and twice the same.
var labels = []string{
	"Pierre Dupont source of wealth", "Pierre Dupont identity", "Pierre Dupond identity", "Maria Müller source of wealth",
	"Maria Muñoz identity", "Zoé Lefèvre proof of address", "Jürgen Groß tax residency", "Łukasz Wójcik identity",
	"Anne-Marie O'Neill bank statement", "Jean Luc Picard tax return", "Søren Ångström identity", "Acme Holding S.à r.l. register extract",
	"Acme Trading Ltd register extract", "Giorgos Παπαδόπουλος identity", "Иван Петров source of funds", "Nguyễn Văn An identity",
	"Source of wealth letter 2024", "Drill 18V", "Drill 12V", "Twin", "Twin", "Kayak paddle",
}

// OB4: text finds what people mean by it: names in part, misspelt, without
// accents, in any order, by initials. The first candidate is the one that is
// meant; "" is nothing at all, and "=" in front of it that it is taken as it
// is, because it is exactly what one row is called.
var phrases = []struct{ text, want string }{
	{"Pierre Dupont source of wealth", "=Pierre Dupont source of wealth"},
	{"pierre dupont SOURCE OF WEALTH", "=Pierre Dupont source of wealth"},
	{"  Pierre  Dupont, source-of-wealth. ", "=Pierre Dupont source of wealth"},
	{"Maria Muller source of wealth", "=Maria Müller source of wealth"},
	{"Zoe Lefevre proof of address", "=Zoé Lefèvre proof of address"},
	{"Jurgen Gross tax residency", "=Jürgen Groß tax residency"},
	{"lukasz wojcik identity", "=Łukasz Wójcik identity"},
	{"Soren Angstrom identity", "=Søren Ångström identity"},
	{"nguyen van an identity", "=Nguyễn Văn An identity"},
	{"ИВАН ПЕТРОВ source of funds", "=Иван Петров source of funds"},
	{"TENT", "=Tent"},
	{"Pierre source of wealth", "Pierre Dupont source of wealth"},
	{"pierre sow", "Pierre Dupont source of wealth"},
	{"PD sow", "Pierre Dupont source of wealth"},
	{"source of wealth Pierre Dupont", "Pierre Dupont source of wealth"},
	{"wealth pierre", "Pierre Dupont source of wealth"},
	{"Piere Dupont wealth", "Pierre Dupont source of wealth"},
	{"Dupont, Pierre: identity", "Pierre Dupont identity"},
	{"Pierre Dupond", "Pierre Dupond identity"},
	{"peirre dupont identity", "Pierre Dupont identity"},
	{"P. Dupont identity", "Pierre Dupont identity"},
	{"mueller source of wealth", "Maria Müller source of wealth"},
	{"Mülller wealth", "Maria Müller source of wealth"},
	{"Maria identity", "Maria Muñoz identity"},
	{"munoz", "Maria Muñoz identity"},
	{"lefevre adress", "Zoé Lefèvre proof of address"},
	{"Zoë proof of address", "Zoé Lefèvre proof of address"},
	{"address Lefèvre", "Zoé Lefèvre proof of address"},
	{"gross tax", "Jürgen Groß tax residency"},
	{"tax residency of Juergen", "Jürgen Groß tax residency"},
	{"wojcik", "Łukasz Wójcik identity"},
	{"Annemarie ONeill", "Anne-Marie O'Neill bank statement"},
	{"Anne Marie O’Neill statement", "Anne-Marie O'Neill bank statement"},
	{"oneil bank statment", "Anne-Marie O'Neill bank statement"},
	{"Jean-Luc tax return", "Jean Luc Picard tax return"},
	{"picard", "Jean Luc Picard tax return"},
	{"angstrom", "Søren Ångström identity"},
	{"acme holding extract", "Acme Holding S.à r.l. register extract"},
	{"ACME Trading Limited register", "Acme Trading Ltd register extract"},
	{"Παπαδοπουλος", "Giorgos Παπαδόπουλος identity"},
	{"Петров", "Иван Петров source of funds"},
	{"van an identity", "Nguyễn Văn An identity"},
	{"wealth letter", "Source of wealth letter 2024"},
	{"drill 18", "Drill 18V"},
	{"drlil 12v", "Drill 12V"},
	{"tend", "Tent"},
	{"kayak", "Kayak paddle"},
	{"Twin", "Twin"},
	{"unicorn", ""},
	{"wheelbarrow of Jack", ""},
	{"xyz", ""},
	{"", ""},
	{"…", ""},
	{"@@@", ""},
}

// crowd adds an item of every label to a club.
func (w *world) crowd(club, from int, labels []string) {
	e := w.entity("item")
	var all []stores.Change
	for i, label := range labels {
		all = append(all, stores.Change{Op: stores.Insert, Entity: e, Key: id(from + i), Set: []stores.Assign{
			{Field: e.FieldIndex("club"), Value: id(club)}, {Field: e.FieldIndex("name"), Value: str(label)}}})
	}
	w.change(all...)
}

func TestTextFindsWhatIsMeant(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	unique := append([]string(nil), labels...)
	unique[20] = "Twin " // names of items are unique; labels need not be
	w.crowd(1, 500, unique)
	s := w.session("kim")
	if len(phrases) < 50 {
		t.Errorf("%d phrases", len(phrases))
	}
	for _, c := range phrases {
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", "lending.lose :item-id "+dsl.FormatValue(dsl.NewString(c.text))))
		p, ds := s.Check(context.Background(), script)
		if label, exact := strings.CutPrefix(c.want, "="); exact {
			if p == nil {
				t.Errorf("%q is not taken: %s", c.text, told(ds))
				continue
			}
			preview, err := s.Preview(t.Context(), p)
			if err != nil || preview.Calls[0].Rows[0].Label != label {
				t.Errorf("%q is taken for another row: %v", c.text, err)
			}
			continue
		}
		if p != nil || len(ds) != 1 {
			t.Errorf("%q is guessed at: %s", c.text, told(ds))
			continue
		}
		d := ds[0]
		if c.want == "" {
			if d.Code != "unknown-name" || len(d.Fixes) > 0 {
				t.Errorf("%q: %s", c.text, told(ds))
			}
			continue
		}
		if d.Code != "ambiguous-name" || len(d.Fixes) == 0 || len(d.Fixes) > 5 || !strings.Contains(d.Notes[0], ": "+c.want) {
			t.Errorf("%q is not taken for %q: %s", c.text, c.want, told(ds))
			continue
		}
		// Each fix, put in, is a call that can be run, on the row that was told.
		for i, fix := range d.Fixes {
			if fix.Safe {
				t.Errorf("%q: a guess counts as safe", c.text)
			}
			preview, err := s.Preview(t.Context(), w.program(s, "lending.lose :item-id "+fix.Edits[0].Text))
			if err != nil {
				t.Fatal(err)
			}
			if row := preview.Calls[0].Rows[0]; !strings.HasPrefix(d.Notes[i], row.Name+": "+row.Label) {
				t.Errorf("%q: %s is %s", c.text, d.Notes[i], row.Label)
			}
		}
	}
}

// OB4: rows of one label are told apart by what differs; what is sensitive is
// not told.
func TestCandidatesAreToldApart(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	e := w.entity("member")
	for i, phone := range []string{"555-1", "555-2"} {
		w.change(stores.Change{Op: stores.Insert, Entity: e, Key: id(600 + i), Set: []stores.Assign{
			{Field: e.FieldIndex("club"), Value: id(1)}, {Field: e.FieldIndex("name"), Value: str("Jo Doe")}, {Field: e.FieldIndex("phone"), Value: str(phone)}}})
	}
	w.crowd(1, 700, []string{"Rope long", "Rope short"})
	w.set("item", 700, "worth", decimal("12.50"))
	s := w.session("kim")
	for text, want := range map[string]string{
		`lending.set-phone :member-id "jo doe" :phone "1"`: `ambiguous-name|"jo doe" may mean several rows of member; say which|@jo-doe~: Jo Doe; @jo-doe~: Jo Doe`,
		`lending.lose :item-id "rope"`:                     `ambiguous-name|"rope" may mean several rows of item; say which|@rope-long: Rope long (worth 12.50); @rope-short: Rope short (worth none)`,
		`lending.lose :item-id "lang rope"`:                `ambiguous-name|nothing is called exactly "lang rope"; one item comes near|@rope-long: Rope long`,
		`lending.lose :item-id @long-rope`:                 `unknown-name|nothing is called @long-rope here|`,
	} {
		script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
		_, ds := s.Check(context.Background(), script)
		if len(ds) != 1 {
			t.Fatal(told(ds))
		}
		if got := ds[0].Code + "|" + ds[0].Summary + "|" + strings.Join(ds[0].Notes, "; "); suffixes.ReplaceAllString(got, "~") != want {
			t.Errorf("%s\n%s\nwant %s", text, got, want)
		}
		if strings.Contains(told(ds), "555") {
			t.Errorf("tells a number: %s", told(ds))
		}
		if text[len(text)-1] == 'e' && !strings.Contains(ds[0].Label, "@rope-long") {
			t.Errorf("does not know what was meant: %s", told(ds))
		}
	}
}

// SAFE-A1 SAFE-A2: what text finds ends at the scope. A row of the other club
// is as little there as one that is not: not by its label, not nearly, not in
// what is suggested.
func TestTextFindsNothingForeign(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	w.crowd(2, 500, labels[:19])
	for _, c := range phrases {
		if c.text == "" || strings.Contains(strings.ToLower(c.text), "ten") || strings.Contains(c.text, "dril") {
			continue // there is such a thing in the north as well
		}
		text := dsl.FormatValue(dsl.NewString(c.text))
		theirs := w.everything("kim", "lending.lose :item-id "+text)
		none := w.everything("kim", `lending.lose :item-id "zqzqzq"`)
		if strings.ReplaceAll(theirs, strings.TrimSpace(text), `"zqzqzq"`) != none {
			t.Errorf("%s: %s", text, theirs)
		}
	}
}

// A label that becomes another row's, or two rows', is looked at anew.
func TestTextIsLookedForAnew(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	s := w.session("kim")
	text := `lending.lose :item-id "DRILL"`
	p := w.program(s, text)
	if preview, err := s.Preview(t.Context(), p); err != nil || preview.Calls[0].Rows[0].Name != "@drill" {
		t.Fatal(err)
	}
	w.set("item", 21, "name", str("Drill no more"))
	w.set("item", 24, "name", str("Drill"))
	if preview, err := s.Preview(t.Context(), w.program(s, text)); err != nil || preview.Calls[0].Rows[0].Label != "Drill" || plain(preview.Calls[0].Rows[0].Name) != "@drill" || preview.Calls[0].Rows[0].Name == "@drill" {
		t.Fatal(err)
	}
	w.crowd(1, 500, []string{"drill"})
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", text))
	if _, ds := s.Check(context.Background(), script); len(ds) != 1 || ds[0].Code != "ambiguous-name" {
		t.Error(told(ds))
	}
	// A list of texts, and one that is a name.
	if _, ds := s.Check(context.Background(), script); len(ds) != 1 {
		t.Error(told(ds))
	}
	if _, err := w.run("kim", `lending.lend :item-id "ladder" :member-id "ANN"`); err != nil {
		t.Error(err)
	}
}

// Beyond the rows that a session names by itself, and beyond those that are
// looked at, text is still answered, and says what was not looked at.
func TestTextAmongManyRows(t *testing.T) {
	t.Parallel()
	w := newWorldOf(t, load(t, "testdata/palettes"), handlers(honest, appraised))
	many := make([]string, 6000)
	for i := range many {
		many[i] = fmt.Sprintf("Crate %05d", i)
	}
	w.crowd(1, 10_000, many)
	s := w.session("kim")
	if preview, err := s.Preview(t.Context(), w.program(s, `lending.lose :item-id "crate 05999"`)); err != nil || preview.Calls[0].Rows[0].Label != "Crate 05999" {
		t.Error(err)
	}
	script, _ := dsl.Parse(dsl.NewSource("test.dsl", `lending.lose :item-id "crate 0599"`))
	_, ds := s.Check(context.Background(), script)
	if len(ds) != 1 || len(ds[0].Fixes) != 5 || !strings.Contains(ds[0].Notes[0], "Crate 0599") {
		t.Error(told(ds))
	}
	var texts strings.Builder
	for i := range 30 {
		fmt.Fprintf(&texts, "lending.lose :item-id \"unheard %d\"\n", i)
	}
	script, _ = dsl.Parse(dsl.NewSource("test.dsl", texts.String()))
	if _, ds = s.Check(context.Background(), script); len(ds) != 30 || !strings.Contains(told(ds[29:]), "more than 20 texts") {
		t.Error(told(ds))
	}
}
