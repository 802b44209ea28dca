package engine_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/stores/sqlite"
	"verbatim/verbs"
)

// Every code is documented once, and every documented code can be earned.
func TestEveryCodeIsDocumented(t *testing.T) {
	t.Parallel()
	declared := make(map[string]bool)
	for file, code := range map[string]string{"messages.txt": `(?m)^([a-z-]+)`, "../protocols/tools/messages.go": `(?m)^\t(?:code|Code)\w+ += "([a-z-]+)"$`} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(code).FindAllStringSubmatch(string(source), -1) {
			declared[m[1]] = true
		}
	}
	documented := make(map[string]bool)
	for _, doc := range engine.Codes() {
		if documented[doc.Code] {
			t.Errorf("%s is documented twice", doc.Code)
		}
		if !declared[doc.Code] {
			t.Errorf("%s is documented and not declared", doc.Code)
		}
		if doc.Meaning == "" || doc.Wrong == "" || doc.Right == "" {
			t.Errorf("%s is half documented", doc.Code)
		}
		documented[doc.Code] = true
	}
	for code := range declared {
		if !documented[code] {
			t.Errorf("%s is not documented", code)
		}
	}
	if len(declared) < 20 {
		t.Errorf("only %d codes were found", len(declared))
	}
}

// U4: both examples of every code run; the wrong one earns the code and the
// right one earns nothing.
func TestExamplesOfCodesRun(t *testing.T) {
	t.Parallel()
	for _, doc := range engine.Codes() {
		t.Run(doc.Code, func(t *testing.T) {
			t.Parallel()
			if got := earned(t, doc.Wrong); got != doc.Code {
				t.Errorf("the wrong example earns %q", got)
			}
			if got := earned(t, doc.Right); got != "" {
				t.Errorf("the right example earns %q", got)
			}
		})
	}
}

// earned runs an example and returns the code that it earns.
func earned(t *testing.T, example string) string {
	t.Helper()
	if strings.HasPrefix(example, "domain:") {
		return earnedByPalette(t, example)
	}
	first, _, _ := strings.Cut(example, "\n")
	who, how, _ := strings.Cut(strings.TrimPrefix(first, "; as "), ", ")
	ctx := context.Background()
	var w *world
	if how == "with handlers" {
		w = craftedWorld(t, honest, func(ctx context.Context, c *engine.Call, a appraiseArgs) (engine.Outcome, error) {
			if a.Worth.Text() == "0" {
				return engine.Outcome{}, engine.Refuse("nothing is worth nothing", "say what it is worth")
			}
			return appraised(ctx, c, a)
		})
	} else {
		w = newWorld(t)
	}
	eng := w.engine
	faulty := func(s *faultyStore) {
		s.Store = w.store
		var err error
		if eng, err = engine.New(w.reg, s, engine.Options{Clock: w.now, NewID: w.newID}); err != nil {
			t.Fatal(err)
		}
	}
	if desk, ok := strings.CutPrefix(how, "at the desk"); ok {
		return earnedAtDesk(t, who, strings.TrimPrefix(desk, " "), example)
	}
	if workshop, ok := strings.CutPrefix(how, "with a workshop"); ok {
		return earnedOfTools(t, who, strings.TrimPrefix(workshop, " "), example)
	}
	if how == "with other clubs" {
		w = fileWorld(t, map[string]string{"lending.yaml": lendingText(t) + disclosing})
		eng = w.engine
	}
	if how == "with files" {
		w = filingWorld(t)
		eng = w.engine
	}
	if how == "with a trigger that changes keys" {
		e := w.entity("reminder")
		e.Managed = false // only tables of others have triggers
		trigger(t, w, fmt.Sprintf(`CREATE TRIGGER other AFTER INSERT ON "%s" BEGIN UPDATE "%[1]s" SET "%s" = '00000000-0000-4000-8000-000000000999' WHERE rowid = NEW.rowid; END`, strings.ReplaceAll(e.Table, ".", "_"), e.Fields[e.Key].Column))
	}
	switch how {
	case "while somebody else writes":
		faulty(&faultyStore{update: func(int) error { return stores.ErrConflict }})
	case "while there are very many rows":
		faulty(&faultyStore{find: stores.ErrLimit})
	case "while a row holds what cannot be read":
		faulty(&faultyStore{find: &stores.Unreadable{Entity: w.reg.Entity("item").Store, Field: "item.title", Why: "something other than a string"}})
	case "while the store does not answer":
		faulty(&faultyStore{view: errors.New("no answer")})
	}
	if role, ok := strings.CutPrefix(how, "with role "); ok {
		kim, err := w.store.Principal(ctx, who)
		if kim.Roles = []string{role}; err == nil {
			err = eng.SetPrincipal(ctx, kim)
		}
		if err != nil {
			return codeOf(t, err)
		}
	}
	s, err := eng.Session(ctx, who)
	if err != nil {
		return codeOf(t, err)
	}
	if before, ok := strings.CutPrefix(how, "after "); ok { // what is taken back
		if reply, err := s.Run(ctx, w.program(s, before), engine.RunOptions{}); err != nil || reply.First != 1 {
			t.Fatalf("%+v, %v", reply, err)
		}
	}
	script, ds := dsl.Parse(dsl.NewSource("example.dsl", example))
	if ds.HasErrors() && how != "as far as it can be read" {
		t.Fatal(told(ds))
	}
	said := verbs.Literals{}
	switch {
	case how == "in a person's words":
		said.Origin = verbs.NewOrigin(verbs.FromPerson, "")
	case strings.HasPrefix(how, "out of "):
		said.Origin = verbs.NewOrigin(verbs.FromDocument, strings.TrimPrefix(how, "out of "))
	}
	from := 0
	if _, err := fmt.Sscanf(how, "from call %d", &from); err != nil {
		from = 0
	}
	p, ds := s.Check(context.Background(), script, engine.CheckOptions{Said: said, From: from})
	if p == nil {
		if len(ds) != 1 {
			t.Fatal(told(ds))
		}
		return ds[0].Code
	}
	o := engine.RunOptions{}
	switch preview, err := s.Preview(ctx, p); {
	case err != nil:
		return codeOf(t, err)
	case how == "agreeing to what was shown":
		o.Agreed = preview.ID
	case strings.HasPrefix(how, "agreeing to "):
		if o.Agreed = strings.TrimPrefix(how, "agreeing to "); o.Agreed == "nothing" {
			o.Agreed = ""
		}
	}
	switch {
	case strings.HasPrefix(how, "agreed to by "):
		return codeOf(t, agreedBy(w, s, p, strings.TrimPrefix(how, "agreed to by ")))
	case strings.HasPrefix(how, "declined by bo"):
		c := w.propose(s, p)
		if err := w.session("bo").Decline(ctx, c.ID, "not this year"); err != nil {
			t.Fatal(err)
		}
		_, err = s.Propose(ctx, p, w.own(s, p))
		return codeOf(t, err)
	case how == "whose rights change":
		w.grant("kim", "board")
	case strings.HasPrefix(how, "sent "):
		o.Key = "k"
		if how == "sent with the key of another script" {
			_, err = s.Run(ctx, w.program(s, "lending.lose :item-id @tent"), o)
		} else {
			_, err = s.Run(ctx, p, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = committed(ctx, s, p, how == "call by call", o)
	return codeOf(t, err)
}

// agreedBy proposes a program and has somebody agree to it.
func agreedBy(w *world, s *engine.Session, p *verbs.Program, how string) error {
	ctx := context.Background()
	c := w.propose(s, p)
	who, rest, _ := strings.Cut(how, " ")
	who = strings.TrimSuffix(who, ",")
	agreer := w.session(who)
	switch rest {
	case "after bo":
		w.grant(who, "board")
		if _, _, err := w.session("bo").Agree(ctx, c.ID); err != nil {
			return err
		}
		agreer = w.session(who)
	case "a week later":
		w.later(7 * 24 * time.Hour)
	case "who has just signed in":
		agreer.Prove(w.now())
	case "who has lost the role":
		w.grant(who, "member")
	case "under other palettes":
		agreer = w.otherPalettes().session(who)
	}
	_, _, err := agreer.Agree(ctx, c.ID)
	return err
}

func codeOf(t testing.TB, err error) string {
	t.Helper()
	var r *engine.Refusal
	if errors.As(err, &r) {
		return r.Diagnostics[0].Code
	}
	var f *engine.Failure
	if errors.As(err, &f) && f.Told != nil {
		return f.Told.Code
	}
	if err != nil {
		t.Fatalf("%T: %v", err, err)
	}
	return ""
}

func earnedByPalette(t *testing.T, text string) string {
	t.Helper()
	reg := loadYAML(t, map[string]string{"shop.yaml": text})
	type price struct {
		Name string `verb:"name"`
	}
	h := &engine.Handlers{}
	engine.Handle(h, "shop.price", func(context.Context, *engine.Call, price) (engine.Outcome, error) { return engine.Outcome{}, nil })
	store := &faultyStore{checkSQL: func(q stores.SQL) error {
		if !strings.HasPrefix(q.Text, "SELECT") {
			return &stores.SQLError{Offset: -1, Msg: "it is no SELECT"}
		}
		return nil
	}}
	eng, err := engine.New(reg, store, engine.Options{Handlers: h, Tools: deskTools{}})
	if err == nil {
		for _, d := range eng.Unfit() {
			return d.Code
		}
		for _, d := range tools.Check(context.Background(), reg, deskTools{}) {
			return d.Code
		}
	}
	var config *engine.ConfigError
	if errors.As(err, &config) {
		return config.Diagnostics[0].Code
	}
	if err != nil {
		t.Fatal(err)
	}
	return ""
}

// What is said to a person has no full stop at its end, no capital at its
// beginning, and no exclamation mark.
func TestMessagesAreWrittenAlike(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, doc := range engine.Codes() {
		if !strings.HasSuffix(doc.Meaning, ".") || strings.Contains(doc.Meaning, "!") {
			t.Errorf("%s: %q", doc.Code, doc.Meaning)
		}
	}
	for _, text := range []string{"lending.board-only :item-id @saw", "lending.lose :item-id " + id(25).Text()} {
		_, err := w.run("kim", text)
		r, ok := err.(*engine.Refusal)
		if !ok {
			t.Fatal(err)
		}
		for _, d := range r.Diagnostics {
			for _, s := range append([]string{d.Summary}, d.Notes...) {
				if strings.HasSuffix(s, ".") || strings.ToLower(s[:1]) != s[:1] || strings.Contains(s, "!") {
					t.Errorf("%s: %q", d.Code, s)
				}
			}
			if len(d.Notes) == 0 {
				t.Errorf("%s has no next step", d.Code)
			}
		}
	}
}

// trigger adds a trigger to the tables of a world, which are made by others.
func trigger(t *testing.T, w *world, sql string) {
	t.Helper()
	if err := w.store.(*sqlite.Store).Load(context.Background(), sql); err != nil {
		t.Fatal(err)
	}
}
