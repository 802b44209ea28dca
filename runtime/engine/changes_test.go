package engine

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

const deskPalette = `domain: desk
roles: [{name: keeper, description: Who keeps the desk}, {name: guest, description: Who sits at it}]
codes:
  - name: level
    values: [{code: LOW, to: [MID, HIGH]}, {code: MID}, {code: HIGH, else: it is as high as it gets}]
  - {name: colour, values: [RED, BLUE]}
entities:
  note:
    table: desk.notes
    key: note_id
    managed: true
    scope: everyone
    label: "{text}"
    unique: [[text]]
    unique-else: this was noted already
    fields:
      text: {type: string, required: true, max-length: 5}
      level: {type: code, ref-type: level, required: true, default: LOW}
      colour: {type: code, ref-type: colour}
      count: {type: integer}
      any: {type: code}
  pin:
    table: desk.pins
    key: pin_id
    managed: true
    scope: everyone
    label: "{text}"
    fields: {text: {type: string}, note: {type: ref, ref-type: note}}
verbs:
  - verb: drop
    description: Take a pin away.
    roles: [keeper, guest]
    args: [{name: pin-id, type: ref, ref-type: pin, required: true}]
    confirm: [{when: pin_id.note.count > 3, reason: much hangs on it}, {when: 'pin_id.text == "x"'}]
    effects: [{deletes: pin, where: pin-id}]
  - verb: pin
    description: Put a pin up.
    roles: [keeper]
    args: [{name: text, type: string, required: true}]
    effects: [{creates: pin, set: {text: text}}]
  - verb: turn
    description: Take a pin away and put two up.
    roles: [keeper, guest]
    args: [{name: pin-id, type: ref, ref-type: pin, required: true}]
    script: |
      desk.drop :pin-id @pin-id
      desk.pin :text "a"
      desk.pin :text "b"
  - verb: tidy
    description: What only work does.
    internal: true
    roles: [keeper, guest]
    effects: [{creates: pin, set: {text: '"z"'}}]
`

// Fields of a note, in order.
const (
	noteID = iota
	noteText
	noteLevel
	noteColour
	noteCount
	noteAny
)

// desk loads entities for tests that look at no store.
func desk(t *testing.T) (note, pin *verbs.Entity) {
	t.Helper()
	reg := deskRegistry(t)
	return reg.Entity("note"), reg.Entity("pin")
}

func deskRegistry(t *testing.T) *verbs.Registry {
	t.Helper()
	reg, ds := load.Dir(fstest.MapFS{"desk.yaml": {Data: []byte(deskPalette)}})
	if ds.HasErrors() {
		t.Fatal(inWords(ds))
	}
	return reg
}

func joining(t *testing.T) (*source, *step) {
	t.Helper()
	n := 0
	e := &Engine{opt: Options{NewID: func() string {
		n++
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
	}}}
	src := dsl.NewSource("a.dsl", "desk.note")
	return &source{e: e, draft: newDraft()},
		&step{verb: &verbs.Verb{Name: "desk.note"}, call: spelling{index: 3, place: dsl.Place{Source: src}}}
}

func str(s string) stores.Value { return stores.NewString(s) }

func keyOf(n int) stores.Value {
	k, _ := stores.ParseUUID(fmt.Sprintf("00000000-0000-4000-9000-%012d", n))
	return k
}

// codeOf is the code of a complaint, "" of nothing and "failure" of a fault.
func codeOf(err error) string {
	var c *callError
	var f *Failure
	switch {
	case err == nil:
		return ""
	case errors.As(err, &c):
		return c.diagnostic.Code
	case errors.As(err, &f):
		return "failure"
	}
	return err.Error()
}

// SAFE-L3, SAFE-S3: proposals for one row become one change, which holds while
// what was read of the row stands; rows of other entities and rows that are added
// are not taken for it, though they have its key.
func TestProposalsForOneRowBecomeOneChange(t *testing.T) {
	t.Parallel()
	note, pin := desk(t)
	before := stores.Row{Entity: note.Store, Values: []stores.Value{keyOf(1), str("old"), str("LOW"), {}, stores.NewInt(1), {}}}
	update := func(stood []int, set ...assignment) rowChange {
		return rowChange{op: stores.Update, entity: note, key: keyOf(1), before: before, set: set, stood: stood}
	}
	remove := rowChange{op: stores.Delete, entity: note, key: keyOf(1), before: before}
	person, letter := verbs.NewOrigin(verbs.FromPerson, ""), verbs.NewOrigin(verbs.FromDocument, "letter.pdf")
	text := func(s string, came verbs.Origin) assignment {
		return assignment{field: noteText, value: str(s), came: came}
	}
	count := assignment{field: noteCount, value: stores.NewInt(2)}
	type want struct {
		op      stores.Op
		entity  *verbs.Entity
		set     string
		guard   []int
		origins string
	}
	for _, c := range []struct {
		name       string
		rowChanges []rowChange
		code       string
		want       []want
	}{
		{"one", []rowChange{update([]int{noteLevel}, text("new", person))}, "", []want{{stores.Update, note, "1=new", []int{1, 2}, "person"}}},
		{"two fields", []rowChange{update(nil, count), update([]int{noteLevel, noteText}, text("new", person))}, "",
			[]want{{stores.Update, note, "1=new 4=2", []int{1, 2, 4}, "person"}}},
		{"one value twice", []rowChange{update(nil, text("new", letter)), update(nil, text("new", person))}, "",
			[]want{{stores.Update, note, "1=new", []int{1}, "document=letter.pdf,person"}}},
		{"one value twice, of unknown origin first", []rowChange{update(nil, text("new", verbs.Origin{})), update(nil, text("new", person))}, "",
			[]want{{stores.Update, note, "1=new", []int{1}, "person"}}},
		{"two values", []rowChange{update(nil, text("new", person)), update(nil, text("other", person))}, "failure", nil},
		{"a new value and the old one", []rowChange{update(nil, text("new", person)), update(nil, text("old", person))}, "failure", nil},
		{"a new value and the old one of another field", []rowChange{update(nil, count), update(nil, text("old", person))}, "",
			[]want{{stores.Update, note, "4=2", []int{4}, ""}}},
		{"the old value", []rowChange{update([]int{noteLevel}, text("old", person))}, "", nil},
		{"a deletion", []rowChange{remove}, "", []want{{stores.Delete, note, "", []int{0, 1, 2, 3, 4, 5}, ""}}},
		{"a change and a deletion", []rowChange{update(nil, count), remove}, "failure", nil},
		{"a deletion and a change", []rowChange{remove, update(nil, count)}, "failure", nil},
		{"another entity", []rowChange{update(nil, count), {op: stores.Delete, entity: pin, key: keyOf(1), before: stores.Row{Values: []stores.Value{keyOf(1), {}, {}}}}}, "",
			[]want{{stores.Update, note, "4=2", []int{4}, ""}, {stores.Delete, pin, "", []int{0, 1, 2}, ""}}},
		{"another row", []rowChange{update(nil, count), {op: stores.Delete, entity: note, key: keyOf(2), before: stores.Row{Values: make([]stores.Value, 6)}}}, "",
			[]want{{stores.Update, note, "4=2", []int{4}, ""}, {stores.Delete, note, "", []int{0, 1, 2, 3, 4, 5}, ""}}},
		{"a row that is added", []rowChange{{op: stores.Insert, entity: pin, set: []assignment{{field: 0, value: keyOf(1)}}},
			{op: stores.Delete, entity: pin, key: keyOf(1), before: stores.Row{Values: []stores.Value{keyOf(1), {}, {}}}}}, "",
			[]want{{stores.Insert, pin, "", nil, ""}, {stores.Delete, pin, "", []int{0, 1, 2}, ""}}},
		{"a value that its field cannot hold", []rowChange{update(nil, text("longer", person))}, "not-accepted", nil},
		{"a code that follows no other", []rowChange{update(nil, assignment{field: noteLevel, value: str("XXL")})}, "not-accepted", nil},
	} {
		r, st := joining(t)
		var err error
		st.out.changes, err = changesOf(r, st, c.rowChanges, false)
		if codeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		}
		if c.code != "" {
			continue
		}
		var got []want
		for _, d := range st.out.changes {
			w := want{op: d.Op, entity: d.entity, guard: d.Guard}
			for i, a := range d.Set {
				w.set += fmt.Sprintf(" %d=%s", a.Field, a.Value.Text())
				if d.row.Fields[i].Name != d.Entity.Fields[a.Field].Name {
					t.Errorf("%s: field %d is told as %s", c.name, a.Field, d.row.Fields[i].Name)
				}
				if a.Field == noteText {
					w.origins = d.row.Fields[i].Origin
				}
			}
			w.set = trimmed(w.set)
			got = append(got, w)
		}
		if !slices.EqualFunc(got, c.want, func(a, b want) bool {
			return a.op == b.op && a.entity == b.entity && a.set == b.set && slices.Equal(a.guard, b.guard) && a.origins == b.origins
		}) {
			t.Errorf("%s:\n%+v\nwant\n%+v", c.name, got, c.want)
		}
	}
}

func trimmed(s string) string {
	if s != "" {
		return s[1:]
	}
	return s
}

// SAFE-L3: a deletion tells of every field that held something, but the key.
func TestADeletionTellsWhatIsLost(t *testing.T) {
	t.Parallel()
	note, _ := desk(t)
	r, st := joining(t)
	p := rowChange{op: stores.Delete, entity: note, key: keyOf(1), before: stores.Row{Values: []stores.Value{keyOf(1), str("old"), str("LOW"), {}, {}, {}}}}
	changes, err := changesOf(r, st, []rowChange{p}, false)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, f := range changes[0].row.Fields {
		told = append(told, f.Name+"="+f.Before.Text())
	}
	if !slices.Equal(told, []string{"text=old", "level=LOW"}) {
		t.Error(told)
	}
}

// SAFE-L3: a row is added with the key it was given, or a new one; defaults are
// written down, and a required field is not left out.
func TestARowIsAddedWithItsDefaults(t *testing.T) {
	t.Parallel()
	note, _ := desk(t)
	text, made := assignment{field: noteText, value: str("new")}, "00000000-0000-4000-8000-000000000001"
	for _, c := range []struct {
		name string
		p    rowChange
		code string
		key  string
		set  string
	}{
		{"no key", rowChange{set: []assignment{text}}, "", made, "1=new 2=LOW"},
		{"a key that is nil", rowChange{set: []assignment{text, {field: noteID}}}, "", made, "1=new 2=LOW"},
		{"a key of its own", rowChange{set: []assignment{text, {field: noteID, value: keyOf(7)}}}, "", keyOf(7).Text(), "1=new 2=LOW"},
		{"a key that a handler knows", rowChange{key: keyOf(8), set: []assignment{text, {field: noteID}}}, "", keyOf(8).Text(), "1=new 2=LOW"},
		{"another level", rowChange{set: []assignment{text, {field: noteLevel, value: str("HIGH")}, {field: noteCount, value: stores.NewInt(4)}}}, "", made, "1=new 2=HIGH 4=4"},
		{"no text", rowChange{}, "value-needed", "", ""},
		{"a text that is nil", rowChange{set: []assignment{{field: noteText}}}, "value-needed", "", ""},
		{"a default that is taken away", rowChange{set: []assignment{text, {field: noteLevel}}}, "value-needed", "", ""},
		{"no code of its list", rowChange{set: []assignment{text, {field: noteColour, value: str("PINK")}}}, "not-accepted", "", ""},
		{"no integer", rowChange{set: []assignment{text, {field: noteCount, value: str("4")}}}, "not-accepted", "", ""},
	} {
		r, st := joining(t)
		c.p.op, c.p.entity = stores.Insert, note
		changes, err := changesOf(r, st, []rowChange{c.p}, false)
		if codeOf(err) != c.code {
			t.Errorf("%s: %v, want %q", c.name, err, c.code)
		}
		if c.code != "" {
			if len(changes) > 0 {
				t.Errorf("%s: it is added all the same", c.name)
			}
			continue
		}
		d := changes[0]
		set := ""
		for _, a := range d.Set {
			set += fmt.Sprintf(" %d=%s", a.Field, a.Value.Text())
		}
		if is := r.draft.added[view.RowKey{Entity: d.Entity, Key: d.Key}]; d.Key.Text() != c.key || d.row.Key != d.Key || trimmed(set) != c.set || !is {
			t.Errorf("%s: %s with%s", c.name, d.Key.Text(), set)
		}
	}
}

// SAFE-L3: a key is made up where a text or a uuid is wanted, and nowhere else; it
// is known by its number, also where a part of a script is planned by itself.
func TestKeysAreMadeUpWhereTheyCanBe(t *testing.T) {
	t.Parallel()
	for kind := stores.Bool; kind <= stores.JSON; kind++ {
		r, _ := joining(t)
		key, err := newKey(r, &stores.Entity{Name: "thing", Fields: []stores.Field{{Name: "id", Kind: kind}}})
		if kind == stores.UUID || kind == stores.String {
			if err != nil || key.Kind() != kind || r.draft.alias[key] != "new 1" {
				t.Errorf("%s: %v %v %q", kind, key, err, r.draft.alias[key])
			}
		} else if codeOf(err) != "failure" {
			t.Errorf("%s: %v %v", kind, key, err)
		}
	}
	r, _ := joining(t)
	r.draft.made = 4
	r.draft.added = map[view.RowKey]bool{{Key: keyOf(1)}: true}
	key, err := newKey(r, &stores.Entity{Fields: []stores.Field{{Kind: stores.UUID}}})
	if err != nil || r.draft.alias[key] != "new 6" {
		t.Errorf("%v %q", err, r.draft.alias[key])
	}
}

// SAFE-L3: a code follows the one before it where the list says so, and any other
// where it does not.
func TestACodeFollowsWhatItsListSays(t *testing.T) {
	t.Parallel()
	note, _ := desk(t)
	for _, c := range []struct {
		field    int
		from, to stores.Value
		refused  bool
	}{
		{noteLevel, str("LOW"), str("HIGH"), false}, {noteLevel, str("HIGH"), str("LOW"), true}, {noteLevel, str("MID"), str("HIGH"), true},
		{noteLevel, str("HIGH"), str("HIGH"), false}, {noteLevel, stores.Value{}, str("HIGH"), false}, {noteLevel, str("LOW"), stores.Value{}, true},
		{noteColour, str("RED"), str("BLUE"), false}, {noteAny, str("RED"), str("BLUE"), false}, {noteText, str("a"), str("b"), false},
		{noteID, keyOf(1), keyOf(2), false},
	} {
		_, st := joining(t)
		err := follows(st, note, assignment{field: c.field, value: c.to}, c.from)
		if want := map[bool]string{true: "no-step"}[c.refused]; codeOf(err) != want {
			t.Errorf("%s from %v to %v: %v", note.Store.Fields[c.field].Name, c.from, c.to, err)
		}
	}
}

// SAFE-L3: what a palette says of rows that are the same is told where there is
// one thing to tell.
func TestRowsThatAreTheSameAreToldInThePalettesWords(t *testing.T) {
	t.Parallel()
	note, pin := desk(t)
	other, silent := *note, *note
	other.Twice, silent.Twice = "something else", ""
	with := func(op stores.Op, e *verbs.Entity) change { return change{Change: stores.Change{Op: op}, entity: e} }
	for _, c := range []struct {
		changes []change
		want    string
	}{
		{nil, ""},
		{[]change{with(stores.Insert, note)}, note.Twice},
		{[]change{with(stores.Update, note)}, note.Twice},
		{[]change{with(stores.Delete, note)}, ""},
		{[]change{with(stores.Insert, pin)}, ""},
		{[]change{with(stores.Insert, pin), with(stores.Insert, note), with(stores.Delete, &other)}, note.Twice},
		{[]change{with(stores.Insert, note), with(stores.Insert, pin), with(stores.Delete, &silent)}, note.Twice},
		{[]change{with(stores.Insert, note), with(stores.Insert, note)}, note.Twice},
		{[]change{with(stores.Insert, note), with(stores.Insert, &other)}, ""},
		{[]change{with(stores.Insert, note), with(stores.Insert, &silent)}, ""},
		{[]change{with(stores.Insert, &silent), with(stores.Insert, note)}, ""},
	} {
		if got := duplicateText(&step{out: effects{changes: c.changes}}); got != c.want {
			t.Errorf("%d changes: %q, want %q", len(c.changes), got, c.want)
		}
	}
}

// SAFE-L3: what a store says comes to a person in the words of the call, and what
// was said already is left as it was.
func TestWhatAStoreSaysIsToldInTheWordsOfTheCall(t *testing.T) {
	t.Parallel()
	_, st := joining(t)
	elsewhere := dsl.Place{Source: dsl.NewSource("b.dsl", "x")}
	said := &callError{call: 0, diagnostic: tell(elsewhere, "unknown-name/touched", "x")}
	for _, err := range []error{
		said, &callError{call: 5, diagnostic: tell(elsewhere, "unknown-name/touched", "x")},
		&Refusal{}, &BrokenPromise{}, &Failure{Err: errors.New("x")}, stores.ErrConflict,
	} {
		if got := userError(st, err); got != err {
			t.Errorf("%T became %v", err, got)
		}
	}
	if got := userError(st, fmt.Errorf("in a handler: %w", said)); got != error(said) {
		t.Error(got)
	}
	var c *callError
	if got := userError(st, &callError{call: -1, diagnostic: tell(elsewhere, "unknown-name/touched", "x")}); !errors.As(got, &c) || c.call != st.call.index || c.diagnostic.Place != st.call.place {
		t.Errorf("of a handler: %+v", got)
	}
	for err, want := range map[error]dsl.Diagnostic{
		verbs.ErrAbsent:     tell(st.call.place, "value-needed/condition", st.verb.Name),
		verbs.ErrRange:      tell(st.call.place, "wrong-value/range", st.verb.Name),
		verbs.ErrZero:       tell(st.call.place, "wrong-value/range", st.verb.Name),
		stores.ErrNotFound:  tell(st.call.place, "unknown-name/touched", st.verb.Name),
		stores.ErrReadOnly:  tell(st.call.place, "not-accepted/reading", st.verb.Name),
		stores.ErrDuplicate: tell(st.call.place, "already-exists", st.verb.Name+" would add what is there already"),
		stores.ErrInvalid:   tell(st.call.place, "not-accepted", st.verb.Name),
		stores.ErrLimit:     tell(st.call.place, "too-much", st.verb.Name),
	} {
		got := userError(st, fmt.Errorf("apply: %w", err))
		if !errors.As(got, &c) || c.call != st.call.index || c.diagnostic.Summary != want.Summary || c.diagnostic.Code != want.Code {
			t.Errorf("%v is told as %v", err, got)
		}
	}
	broken := errors.New("the disk is gone")
	if got := userError(st, broken); codeOf(got) != "failure" || !errors.Is(got, broken) {
		t.Error(got)
	}
}

// SAFE-L3: what a call gives is the row that it added, before one that it changed,
// before one that it read, before one that it is about and left as it was.
func TestACallGivesTheRowThatItIsAbout(t *testing.T) {
	t.Parallel()
	note, pin := desk(t)
	with := func(op stores.Op, e *verbs.Entity, key int) change {
		return change{Change: stores.Change{Op: op, Entity: e.Store, Key: keyOf(key)}, entity: e}
	}
	read := func(e *verbs.Entity, keys ...int) *table {
		t := &table{entity: e}
		for _, k := range keys {
			t.keys = append(t.keys, keyOf(k))
		}
		return t
	}
	rows := []stores.Row{{Entity: note.Store, Values: []stores.Value{keyOf(9)}}, {Entity: pin.Store, Values: []stores.Value{keyOf(8)}}, {}}
	effect := func(kind verbs.EffectKind, e *verbs.Entity, where *verbs.Where) verbs.Effect {
		return verbs.Effect{Kind: kind, Entity: e, Where: where}
	}
	changed := []change{with(stores.Delete, note, 1), with(stores.Update, note, 2), with(stores.Update, pin, 3), with(stores.Insert, note, 4), with(stores.Insert, pin, 5)}
	for _, c := range []struct {
		name string
		st   step
		want *verbs.Entity
		gave *verbs.Entity
		key  int
	}{
		{"added", step{out: effects{changes: changed}}, nil, note, 4},
		{"added, of a kind", step{out: effects{changes: changed}}, pin, pin, 5},
		{"added by a call inside", step{out: effects{changes: changed[:3]}, tree: nesting{inner: []*step{{out: effects{changes: changed[3:]}}}}}, nil, note, 4},
		{"changed", step{out: effects{changes: changed[:3], cells: read(note, 6)}}, nil, note, 2},
		{"changed, of a kind", step{out: effects{changes: changed[:3]}}, pin, pin, 3},
		{"changed, while another kind was added", step{out: effects{changes: []change{changed[1], changed[4]}}}, note, note, 2},
		{"deleted", step{out: effects{changes: changed[:1]}}, nil, nil, 0},
		{"changed, of another kind", step{out: effects{changes: changed[:2]}}, pin, nil, 0},
		{"read", step{out: effects{cells: read(note, 6)}}, nil, note, 6},
		{"read, of a kind", step{out: effects{cells: read(note, 6)}}, note, note, 6},
		{"read, of another kind", step{out: effects{cells: read(note, 6)}}, pin, nil, 0},
		{"read several", step{out: effects{cells: read(note, 6, 7)}}, nil, nil, 0},
		{"read none", step{out: effects{cells: read(note)}}, nil, nil, 0},
		{"read what is no row", step{out: effects{cells: read(nil, 6)}}, nil, nil, 0},
		{"about", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Updates, note, &verbs.Where{Param: 0})}}}, nil, note, 9},
		{"about, of a kind", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Updates, note, &verbs.Where{Param: 0}), effect(verbs.Updates, pin, &verbs.Where{Param: 1})}}}, pin, pin, 8},
		{"about, of another kind", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Updates, note, &verbs.Where{Param: 0})}}}, pin, nil, 0},
		{"about whatever a filter finds", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Updates, note, &verbs.Where{Filter: &verbs.Filter{}})}}}, nil, nil, 0},
		{"about any", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Updates, note, nil)}}}, nil, nil, 0},
		{"about a new one", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Creates, note, &verbs.Where{Param: 0})}}}, nil, nil, 0},
		{"about an argument that was left out", step{verb: &verbs.Verb{Effects: []verbs.Effect{effect(verbs.Updates, note, &verbs.Where{Param: 2})}}}, nil, nil, 0},
	} {
		if c.st.args.rows = rows; c.st.verb == nil {
			c.st.verb = &verbs.Verb{}
		}
		e, key, some := c.st.row(c.want)
		if e != c.gave || some != (c.gave != nil) || some && key != keyOf(c.key) {
			t.Errorf("%s: %v %v %t", c.name, e, key, some)
		}
	}
}

// SAFE-L3, SAFE-S5: where nothing may be written, nothing is.
func TestAVerbThatOnlyReadsChangesNothing(t *testing.T) {
	t.Parallel()
	note, _ := desk(t)
	look, st := joining(t)
	look.snapshot, look.read = true, view.Open(nil, nil, nil)
	r := &run{src: look, plan: plan{steps: []*step{st}}}
	st.args.sealed = st.sealIn(new([]byte))
	err := r.apply(t.Context(), st, []rowChange{{op: stores.Insert, entity: note, set: []assignment{{field: noteText, value: str("new")}}}})
	if codeOf(err) != "failure" || r.src.read.Waiting() {
		t.Errorf("%v, changes wait: %t", err, r.src.read.Waiting())
	}
}

// SAFE-L3: an expression that cannot be worked out is no failure of a store.
func TestAStoreFailsWhereNoExpressionDid(t *testing.T) {
	t.Parallel()
	if err := error(&evalError{err: verbs.ErrZero}); isStoreError(err) || isStoreError(fmt.Errorf("a rule: %w", err)) || !isStoreError(stores.ErrConflict) {
		t.Error("a store and an expression are taken for each other")
	}
}
