package receipt

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"verbatim/stores"
)

// values are of every kind, with texts that are hard to write down.
var values = rapid.Custom(func(t *rapid.T) stores.Value {
	kind := rapid.IntRange(int(stores.Bool), int(stores.JSON)).Draw(t, "kind")
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"`, `\`, "\u2028", `a","b":{`, "null", "!"})).Draw(t, "text")
	n := rapid.Int64Range(-1<<40, 1<<40).Draw(t, "number")
	parsed := func(kind stores.Kind, text string) stores.Value {
		v, ok := stores.Parse(kind, text)
		if !ok {
			t.Fatalf("%s is no %s", text, kind)
		}
		return v
	}
	switch stores.Kind(kind) {
	case stores.Bool:
		return stores.NewBool(n%2 == 0)
	case stores.Int:
		return stores.NewInt(n)
	case stores.Decimal:
		return parsed(stores.Decimal, "-12.50")
	case stores.Date:
		return stores.NewDays(n % 20000)
	case stores.Time:
		return parsed(stores.Time, "2025-01-03T10:00:00.000001Z")
	case stores.Duration:
		return parsed(stores.Duration, parsed(stores.Duration, "1h30m0s").Text())
	case stores.UUID:
		return parsed(stores.UUID, "00000000-0000-4000-8000-000000000001")
	case stores.JSON:
		return stores.NewObject([]string{"a", "b"}, []stores.Value{stores.NewString(strings.ToValidUTF8(text, "")), stores.NewInt(n)})
	}
	return stores.NewString(strings.ToValidUTF8(text, ""))
})

var (
	texts = rapid.SampledFrom([]string{"", "x", `"quoted" \ and
broken`, "@pierre", "1:2"})
	keys   = rapid.OneOf(rapid.Just(stores.NewString("k")), rapid.Just(stores.NewInt(7)), rapid.Map(rapid.Just("00000000-0000-4000-8000-00000000000a"), func(s string) stores.Value { v, _ := stores.Parse(stores.UUID, s); return v }))
	places = rapid.Custom(func(t *rapid.T) Place {
		if rapid.Bool().Draw(t, "nowhere") {
			return Place{}
		}
		return Place{texts.Draw(t, "source"), rapid.IntRange(1, 99).Draw(t, "line"), 1}
	})
)

// few makes a short list, nil when it is empty.
func few[T any](t *rapid.T, name string, one *rapid.Generator[T]) []T {
	all := rapid.SliceOfN(one, 0, 3).Draw(t, name)
	if len(all) == 0 {
		return nil
	}
	return all
}

// side is a value of a kind. Of a sensitive one nothing is kept.
func side(t *rapid.T, name string, v stores.Value, sensitive bool) Value {
	switch {
	case rapid.Bool().Draw(t, name+" committed"):
		return Value{Is: "c7tltn4"}
	case sensitive || rapid.Bool().Draw(t, name+" null"):
		return Value{}
	}
	return Value{Value: v, Name: texts.Draw(t, name+" name")}
}

var fields = rapid.Custom(func(t *rapid.T) Field {
	v, sensitive := values.Draw(t, "value"), rapid.Bool().Draw(t, "sensitive")
	f := Field{Name: "f", Column: texts.Draw(t, "column"), Kind: v.Kind(), Code: rapid.Bool().Draw(t, "code"), Before: side(t, "before", v, sensitive), After: side(t, "after", v, sensitive),
		Sensitive: sensitive, From: texts.Draw(t, "from"), Origin: texts.Draw(t, "origin"), Was: texts.Draw(t, "was")}
	if rapid.Bool().Draw(t, "file") {
		f.File = &File{"letter.pdf", "application/pdf", 12, texts.Draw(t, "says"), texts.Draw(t, "reference")}
	}
	return f
})

var rows = rapid.Custom(func(t *rapid.T) Row {
	r := Row{Op: rapid.SampledFrom([]string{Inserted, Updated, Deleted, Found, Redacted}).Draw(t, "op"), Entity: "e", Table: "s.t", Key: keys.Draw(t, "key"),
		Label: texts.Draw(t, "label"), Owner: texts.Draw(t, "owner"), Fields: few(t, "fields", fields), Given: few(t, "given", fields)}
	if rapid.Bool().Draw(t, "personal") {
		r.NameIs = "fBSr"
	} else {
		r.Name = texts.Draw(t, "name")
	}
	return r
})

var results = rapid.Custom(func(t *rapid.T) *Result {
	r := &Result{Columns: []string{"a", "b"}, File: rapid.SampledFrom([]*File{nil, {Name: "a.xlsx", Size: 7, Reference: "upload://a"}}).Draw(t, "made"), From: texts.Draw(t, "from"), Late: rapid.Bool().Draw(t, "late"), Rows: few(t, "rows", rapid.SliceOfN(values, 2, 2))}
	if rapid.Bool().Draw(t, "sensitive") {
		r.Sensitive, r.Own = []bool{true, false}, []bool{true, false}
		for _, row := range r.Rows {
			row[0] = stores.Value{} // nothing of it is kept
		}
	}
	for i := range r.Rows {
		r.Origins = append(r.Origins, []string{texts.Draw(t, "origin"), "record"})
		r.Keys = append(r.Keys, keys.Draw(t, "key"))
		if rapid.Bool().Draw(t, "ref") {
			r.Rows[i][1] = stores.NewString("@pierre")
			r.Refs = append(r.Refs, Ref{i, 1, "e", keys.Draw(t, "ref key")})
		}
	}
	return r
})

var settings = rapid.Custom(func(t *rapid.T) Setting {
	s := Setting{Name: "active", Sensitive: rapid.Bool().Draw(t, "sensitive"), From: texts.Draw(t, "from"), Origin: texts.Draw(t, "origin")}
	if !s.Sensitive {
		s.Before, s.After = Of(values.Draw(t, "before")), Value{Value: values.Draw(t, "after"), Name: texts.Draw(t, "name")}
	}
	return s
})

var sent = rapid.Custom(func(t *rapid.T) Sent {
	s := Sent{Key: "k", Sensitive: rapid.Bool().Draw(t, "sensitive"), From: texts.Draw(t, "from")}
	if !s.Sensitive {
		s.Value = values.Draw(t, "value")
	}
	return s
})

// The tests that draw receipts are not parallel: a generator may be used by one test
// at a time.
var receipts = rapid.Custom(func(t *rapid.T) *Receipt {
	call := rapid.Custom(func(t *rapid.T) Call {
		c := Call{Verb: "desk.pay", Place: places.Draw(t, "place"), Text: texts.Draw(t, "call"), Rows: few(t, "rows", rows), Session: few(t, "session", settings), Seq: rapid.Int64Range(0, 9).Draw(t, "seq")}
		if rapid.Bool().Draw(t, "more") {
			c.Notices = []Notice{{"trigger", "t", texts.Draw(t, "calls"), values.Draw(t, "at"), 2}, {Kind: "notify"}}
			c.Filled = []Filled{{"cbu-id", "@a", texts.Draw(t, "label"), "cbu", keys.Draw(t, "filled"), FirstOfThese, 3, []string{"cbu.open", ""}}}
			c.JobChanges = []JobChange{{"1", "call", "what", texts.Draw(t, "principal"), "dead", 3, texts.Draw(t, "note"), true}}
			c.Asks = []Ask{{texts.Draw(t, "by"), "why", places.Draw(t, "rule"), 2}}
			c.External = []ExternalCall{{"server", "tool", few(t, "sent", sent), rapid.Bool().Draw(t, "reads"), rapid.Bool().Draw(t, "here"), rapid.IntRange(0, 3).Draw(t, "tries"), stores.Value{}, rapid.Bool().Draw(t, "previewed"), []Follow{{"insert", texts.Draw(t, "what"), []string{"a", "b"}}, {What: "board"}}}}
			c.Result = results.Draw(t, "result")
		}
		return c
	})
	r := &Receipt{ID: texts.Draw(t, "id"), Done: rapid.Bool().Draw(t, "done"), Repeated: rapid.Bool().Draw(t, "repeated"), Calls: few(t, "calls", call), First: 3, Last: rapid.Int64().Draw(t, "last")}
	if rapid.Bool().Draw(t, "sealed") {
		r.Digest[31] = 7
	}
	return r
})

// A receipt that is kept comes back as it was, and nothing else is taken for it.
func TestWhatIsKeptComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := receipts.Draw(t, "receipt")
		text := string(r.AppendKept(nil))
		back, err := ParseKept(text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !reflect.DeepEqual(back, r) {
			t.Fatalf("%s\n%+v\n%+v", text, r, back)
		}
		// One letter less, or a blank more, is another text, and none that is read.
		at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
		for _, spoilt := range []string{text[:at] + text[at+1:], text[:at], text + " ", text[:at] + "," + text[at:]} {
			if back, err := ParseKept(spoilt); spoilt != text && err == nil && reflect.DeepEqual(back, r) {
				t.Fatalf("%s\nis taken for\n%s", spoilt, text)
			}
		}
	})
}

func TestAnotherKeptFormIsRefused(t *testing.T) {
	t.Parallel()
	text := string((&Receipt{ID: "c7f2-91d0", Calls: []Call{{Verb: "desk.pay", Rows: []Row{{Op: Inserted, Entity: "e", Key: stores.NewInt(1)}}}}}).AppendKept(nil))
	if _, err := ParseKept(text); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ from, to, want string }{
		{`"v":1`, `"v":2`, "it is of version 2, and this program reads version 1"},
		{`"v":1,`, ``, "it is not written as receipts are"},
		{`"Verb":`, `"Word":`, "a member that nobody knows"},
		{`"Op":"insert"`, `"Op":"insert","Why":"x"`, "a member that nobody knows"},
		{`"Kind":"integer"`, `"Kind":"colour"`, "of a kind that nobody knows"},
		{`"Key":1`, `"Key":"1"`, "no integer"},
		{`"ID":"c7f2-91d0"`, `"ID": "c7f2-91d0"`, "not written as receipts are"},
		{`}],"Verb"`, `],"Verb"`, "where one belongs"},
	} {
		spoilt := strings.Replace(text, c.from, c.to, 1)
		if spoilt == text {
			t.Fatalf("%s does not hold %s", text, c.from)
		}
		if _, err := ParseKept(spoilt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", spoilt, err)
		}
	}
}

// Of a sensitive value neither form holds anything, and the outside form holds no
// key. An agreement is to both.
func TestFormsHoldWhatTheyMay(t *testing.T) {
	t.Parallel()
	const secret, key = "hunter2", "00000000-0000-4000-8000-00000000beef"
	is := Of(stores.NewString(secret))
	id, _ := stores.Parse(stores.UUID, key)
	r := &Receipt{Calls: []Call{{Verb: "desk.pay",
		Rows:     []Row{{Op: Updated, Entity: "e", Table: "t", Key: id, Name: "@a", Fields: []Field{{Name: "pin", Before: is, After: is, Sensitive: true}, {Name: "of", Kind: stores.UUID, After: Value{Value: id, Name: "@b"}}}}},
		Session:  []Setting{{Name: "s", Before: is, After: is, Sensitive: true}, {Name: "active", After: Value{Value: id, Name: "@a"}}},
		Filled:   []Filled{{Param: "p", Name: "@a", Key: id, Stand: OnlyOne}},
		External: []ExternalCall{{"s", "t", []Sent{{Key: "k", Value: is.Value, Sensitive: true}}, true, false, 0, stores.Value{}, false, nil}},
		Result: &Result{Columns: []string{"pin", "of"}, Sensitive: []bool{true, false}, Rows: [][]stores.Value{{is.Value, stores.NewString("@b")}},
			Refs: []Ref{{0, 1, "e", id}}, Keys: []stores.Value{id}},
	}}}
	outside, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	Print(&text, r, Options{})
	kept, digest := string(r.AppendKept(nil)), string(r.Calls[0].AppendDigest(nil, nil))
	for _, c := range []struct {
		name, text         string
		hasSecret, hasKeys bool
	}{{"outside", string(outside), false, false}, {"printed", text.String(), false, false}, {"kept", kept, false, true}, {"digest", digest, true, true}} {
		if strings.Contains(c.text, secret) != c.hasSecret || strings.Contains(c.text, key) != c.hasKeys {
			t.Errorf("%s: %s", c.name, c.text)
		}
	}
	if n := strings.Count(digest, secret); n != 6 {
		t.Errorf("an agreement is to %d of 6 sensitive values: %s", n, digest)
	}
	if strings.Contains(digest, "@") {
		t.Errorf("an agreement is to names: %s", digest)
	}
}

// Whatever a call would do is part of what is agreed to, and how rows are called and
// where calls stand is not.
func TestAnAgreementIsToAllThatIsDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := receipts.Draw(t, "receipt")
		for i := range r.Calls {
			c := &r.Calls[i]
			was := string(c.AppendDigest(nil, nil))
			c.Place, c.Seq = Place{"other.dsl", 7, 1}, c.Seq+1
			for j := range c.Rows {
				c.Rows[j].Name, c.Rows[j].Label, c.Rows[j].Owner = "@other", "Other", "@owner"
			}
			for j := range c.External { // G15
				c.External[j].Tries, c.External[j].Answered, c.External[j].Previewed = 7, stores.NewTime(time.Unix(0, 0)), true
			}
			if is := string(c.AppendDigest(nil, nil)); is != was {
				t.Fatalf("a name or a place is agreed to:\n%s\n%s", was, is)
			}
			for j := range c.Rows {
				row := &c.Rows[j]
				row.Key = stores.NewString("another")
				if is := string(c.AppendDigest(nil, nil)); is == was {
					t.Fatalf("another row is the same agreement:\n%s", was)
				}
				was = string(c.AppendDigest(nil, nil))
			}
			c.Notices = append(c.Notices, Notice{Kind: "notify", Target: "guard"})
			if is := string(c.AppendDigest(nil, nil)); is == was {
				t.Fatalf("another notice is the same agreement:\n%s", was)
			}
		}
	})
}

func TestValuesThatMoveGoByTheirAlias(t *testing.T) {
	t.Parallel()
	call := func(key, at string) string {
		k, _ := stores.Parse(stores.UUID, key)
		moment, _ := stores.Parse(stores.Time, at)
		c := Call{Rows: []Row{{Op: Inserted, Entity: "e", Key: k, Fields: []Field{{Name: "at", Kind: stores.Time, After: Of(moment)}}}},
			Result: &Result{Columns: []string{"of", "at"}, Rows: [][]stores.Value{{stores.NewString("new"), moment}}, Refs: []Ref{{0, 0, "e", k}}}}
		return string(c.AppendDigest(nil, map[stores.Value]string{k: "new 1", moment: "now 0"}))
	}
	a := call("00000000-0000-4000-8000-000000000001", "2025-01-03T10:00:00Z")
	if b := call("00000000-0000-4000-8000-000000000002", "2025-01-04T10:00:00Z"); a != b || !strings.Contains(a, `!"now 0"`) {
		t.Errorf("%s\n%s", a, b)
	}
}
