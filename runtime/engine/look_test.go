package engine_test

import (
	"context"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/runtime/engine/seal"
)

// looking are verbs of a club that have a function look at the members of all clubs.
const looking = `
  - verb: vouch
    description: Whether somebody is a member of some club, for a club that asks.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: name, type: string, required: true}
      - {name: public-key, type: string, required: true}
    looks: [member]
    discloses:
      - {name: known, type: integer, min: 0, max: 2}
      - {name: phone, type: string, sealed: {for: public-key, bound: [loan-id]}}
      - {name: who, type: string, withheld: true}
    limits:
      - {at-most: 14, within: 1d, refused: counts}
    effects:
      - updates: loan.seen
        where: loan-id
        set: {seen: who}
      - updates: loan.note
        where: loan-id
        set: {note: "known > 0 ? 'known' : 'not known'"}

  - verb: open-seen
    description: What was seen.
    roles: [auditor]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
    returns: {type: seen, includes: [seen], shows: [seen]}
    reads: {entity: loan, one: loan-id, fields: {seen: seen}}
`

type vouch struct {
	Loan engine.Ref `verb:"loan-id"`
	Name string     `verb:"name"`
	Key  string     `verb:"public-key"`
}

// A function that looks at what its caller does not see tells only what the palette
// discloses: values of few, what is sealed for a key, and what goes into sensitive fields.
func TestALookTellsOnlyWhatIsDisclosed(t *testing.T) { // H19
	t.Parallel()
	text := strings.Replace(lendingText(t), "      note:       {type: string}\n", "      note:       {type: string}\n      seen:       {type: string, sensitive: true}\n", 1)
	worldsOfPalette(t, text+looking, func(t *testing.T, w *world) {
		h := &engine.Handlers{Partial: true}
		mode := ""
		engine.Looks(h, "lending.vouch", func(ctx context.Context, l *engine.Look, a vouch) (engine.Fields, error) {
			rows, err := l.Rows(ctx, "member", engine.Fields{"name": a.Name})
			if err != nil {
				return nil, err
			}
			given := engine.Fields{"known": min(len(rows), 2)}
			for _, row := range rows {
				given["phone"], given["who"] = row.Value("phone"), row.Value("name").Text()+" has "+row.Value("phone").Text()
			}
			switch mode {
			case "too much":
				given["known"] = 7
			case "more":
				given["club"] = "South"
			case "refuses":
				return nil, engine.Refuse("Zoé Müller is at South", "ask there")
			case "elsewhere":
				_, err := l.Rows(ctx, "item", engine.Fields{"name": "Kayak"})
				return given, err
			case "panics":
				panic("+33 1 23 45 67 89")
			}
			return given, nil
		})
		w.engine = w.another(h)
		private, err := ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		script := func(name, key string) string {
			return fmt.Sprintf("lending.vouch :loan-id @tent-ann :name %q :public-key %q", name, key)
		}
		key := base64.StdEncoding.EncodeToString(private.PublicKey().Bytes())
		before, err := w.preview("kim", script("Zoé Müller", key))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := w.run("kim", script("Zoé Müller", key))
		if err != nil {
			t.Fatal(err)
		}
		if again, err := w.preview("kim", script("Zoé Müller", key)); err != nil || again.Sealed().ID == "" || before.Sealed().ID == "" {
			t.Errorf("a second preview: %v", err)
		}
		result := reply.Calls[0].Result
		if got := fmt.Sprint(result.Columns); got != "[known phone]" {
			t.Fatal(got)
		}
		if told := fmt.Sprint(result.Rows); strings.Contains(told, "+33") {
			t.Errorf("the caller is told %s", told)
		}
		for _, f := range reply.Calls[0].Rows[0].Fields {
			if f.Sensitive != (f.Name == "seen") {
				t.Errorf("of %s it is said that it is sensitive: %v", f.Name, f.Sensitive)
			}
		}
		for _, e := range w.journal() {
			if told := fmt.Sprint(e); strings.Contains(told, "+33 1") {
				t.Errorf("the journal holds %s", told)
			}
		}
		// What is sealed is opened by whoever has the key, under what it is bound to.
		sealed := strings.Trim(fmt.Sprint(result.Rows[0][1]), `"`)
		raw, err := base64.StdEncoding.DecodeString(sealed)
		if err != nil {
			t.Fatal(err)
		}
		owner, err := hpke.NewDHKEMPrivateKey(private)
		if err != nil {
			t.Fatal(err)
		}
		kept := fmt.Sprint(w.journal()[len(w.journal())-1].Call)
		parsed, _ := dsl.Parse(dsl.NewSource("journal", kept))
		name, _ := parsed.Calls[0].Get("loan-id")
		name.Text = name.Text[strings.LastIndexByte(name.Text, '~')+1:]
		open := func(parts ...string) (string, error) {
			plain, err := hpke.Open(owner, hpke.HKDFSHA256(), hpke.AES256GCM(), []byte(seal.Info(parts...)), raw)
			return string(plain), err
		}
		if got, err := open("lending.vouch", "phone", "kim", name.Text); err != nil || got != "+33 1 23 45 67 89" {
			t.Errorf("it opens to %q, %v", got, err)
		}
		for _, other := range [][]string{{"lending.vouch", "phone", "sam", name.Text}, {"lending.vouch", "phone", "kim", name.Text + "x"}, {"lending.other", "phone", "kim", name.Text}} {
			if got, err := open(other...); err == nil {
				t.Errorf("under %q it opens to %q", other, got)
			}
		}
		// What is withheld stands in a sensitive field, for whom a verb opens it.
		seen, err := w.run("ada", "lending.open-seen :loan-id @tent-ann")
		if err != nil || !strings.Contains(fmt.Sprint(seen.Calls[0].Result.Rows), "has +33") {
			t.Errorf("the auditor is shown %v, %v", seen, err)
		}
		// A key that is none is refused whether or not there is something to seal, and so is
		// one of low order.
		for _, bad := range []string{"x", base64.StdEncoding.EncodeToString(make([]byte, 32)), base64.StdEncoding.EncodeToString(make([]byte, 31))} {
			for _, who := range []string{"Zoé Müller", "Nobody"} {
				w.refused("kim", script(who, bad), "not-possible")
			}
		}
		// A function that gives what its palette does not say has failed, and tells nothing.
		for _, mode = range []string{"too much", "more", "refuses", "elsewhere", "panics"} {
			_, err = w.preview("kim", script("Zoé Müller", key))
			var fault *engine.Failure
			if !errors.As(err, &fault) {
				t.Fatalf("%s: %v", mode, err)
			}
			if told := err.Error(); strings.Contains(told, "+33") || strings.Contains(told, "South") {
				t.Errorf("%s: %s", mode, told)
			}
		}
		mode = ""
	})
}

// A preview of a verb that discloses and changes something tells nothing of what comes of it:
// else it could be asked for again and again, and its changes, which count that, would never
// stand. What comes after it in a script is not previewed.
func TestPreviewsOfALookTellNothing(t *testing.T) { // H16, H19
	t.Parallel()
	text := strings.Replace(lendingText(t), "      note:       {type: string}\n", "      note:       {type: string}\n      seen:       {type: string, sensitive: true}\n", 1)
	worldsOfPalette(t, text+looking, func(t *testing.T, w *world) {
		h := &engine.Handlers{Partial: true}
		engine.Looks(h, "lending.vouch", func(context.Context, *engine.Look, vouch) (engine.Fields, error) {
			return engine.Fields{"known": 1, "phone": "+33", "who": "Bob"}, nil
		})
		w.engine = w.another(h)
		private, err := ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("lending.vouch :loan-id @tent-ann :name %q :public-key %q", "Bob", base64.StdEncoding.EncodeToString(private.PublicKey().Bytes()))
		entries := len(w.journal())
		for range 20 { // more than its palette allows in a day
			shown, err := w.preview("kim", script)
			if err != nil {
				t.Fatal(err)
			}
			c := shown.Calls[0]
			if len(c.Rows)+len(c.Result.Columns)+len(c.Result.Rows) > 0 || fmt.Sprint(c.Result.Left) != "[what comes of it is told once it is done]" {
				t.Fatalf("it tells %+v", c)
			}
		}
		_, err = w.preview("kim", script+"\nlending.list-items")
		wantRefusal(t, err, "not-previewed")
		if more := len(w.journal()) - entries; more != 0 {
			t.Errorf("the journal has %d entries of what told nothing", more)
		}
		for range 14 {
			if done, err := w.run("kim", script); err != nil || fmt.Sprint(done.Calls[0].Result.Rows[0][0]) != "1" {
				t.Fatal(done, err)
			}
		}
		_, err = w.run("kim", script)
		wantRefusal(t, err, "limit-reached")
	})
}

// A look finds people whose names are spelled almost so, in every club, and none of them
// where the palette does not say that it looks there.
func TestALookFindsNamesSpelledAlmostSo(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("      note:       {type: string}\n", "      note:       {type: string}\n      seen:       {type: string, sensitive: true}\n",
		"    table: club.members\n", "    table: club.members\n    search: {names: [name]}\n").Replace(lendingText(t))
	worldsOfPalette(t, text+looking, func(t *testing.T, w *world) {
		h := &engine.Handlers{Partial: true}
		var seen []string
		engine.Looks(h, "lending.vouch", func(ctx context.Context, l *engine.Look, a vouch) (engine.Fields, error) {
			rows, _, err := l.Alike(ctx, "member", 2, a.Name)
			seen = nil
			for _, row := range rows {
				seen = append(seen, row.Value("name").Text())
			}
			if _, _, err := l.Alike(ctx, "item", 2, a.Name); err == nil {
				t.Error("it looks at things, too")
			}
			return engine.Fields{"known": min(2, len(rows))}, err
		})
		w.engine = w.another(h)
		private, err := ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		key := base64.StdEncoding.EncodeToString(private.PublicKey().Bytes())
		for name, want := range map[string]string{"zoe mueller": "[Zoé Müller]", "ZOE MULLER": "[Zoé Müller]", "Zo Mullr": "[Zoé Müller]", "Z Mullr": "[]", "Bobb": "[Bob]", "Xx": "[]"} {
			reply, err := w.run("kim", fmt.Sprintf("lending.vouch :loan-id @tent-ann :name %q :public-key %q", name, key))
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(seen); got != want || fmt.Sprint(reply.Calls[0].Result.Rows[0][0]) != fmt.Sprint(min(2, len(seen))) {
				t.Errorf("%q finds %s, want %s", name, got, want)
			}
		}
	})
}
