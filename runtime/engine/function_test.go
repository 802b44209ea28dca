package engine_test

import (
	"errors"
	"strings"
	"testing"

	"verbatim/dsl"
	"verbatim/runtime/engine"
	"verbatim/stores"
	loading "verbatim/verbs/load"
)

// reckoning calls functions of its program wherever an expression may.
const reckoning = `
  - verb: seal
    description: Note a code on a loan.
    roles: [keeper]
    args:
      - {name: loan-id, type: ref, ref-type: loan, required: true}
      - {name: code, type: string, required: true}
      - {name: item-id, type: ref, ref-type: item}
    requires:
      - {that: "check_code(code, loan_id.item.name)", else: the code does not belong to this thing}
      - {that: "item_id == nil or level(item_id.worth) != OUT", else: not this one}
    confirm:
      - {when: "level(loan_id.item.worth) == LOST", reason: it is gone}
    effects:
      - updates: loan.note
        where: loan-id
        set: {note: "'sealed ' + code"}

  - verb: levels
    description: How much each thing is worth.
    roles: [keeper]
    args: []
    reads:
      entity: item
      order: [name]
      fields: {name: name, level: level(row.worth)}
`

const reckoners = `functions:
  - {name: check-code, description: Whether a code fits a name., takes: [string, string], gives: boolean}
  - {name: level, takes: [decimal], gives: {type: code, ref-type: item-status}}

`

func reckoningWorld(t *testing.T, h *engine.Handlers) *world {
	t.Helper()
	text := strings.Replace(lendingText(t), "\nentities:\n", "\n"+reckoners+"entities:\n", 1) + reckoning
	return newWorldOf(t, loadYAML(t, map[string]string{"lending.yaml": text}), h)
}

// A function that a program brings is called where expressions are worked out, with what
// its palette says, and what it gives is held to that.
func TestFunctionsOfTheProgram(t *testing.T) {
	t.Parallel()
	h := &engine.Handlers{}
	h.Function("check-code", func(args []stores.Value) (stores.Value, error) {
		return stores.NewBool(strings.HasSuffix(args[0].Text(), args[1].Text())), nil
	})
	h.Function("level", func(args []stores.Value) (stores.Value, error) {
		switch worth := args[0].Text(); worth {
		case "80":
			return str("IN"), nil
		case "250.00":
			return str("LOST"), nil
		case "120.50":
			panic("no level")
		}
		return stores.Value{}, errors.New("none")
	})
	w := reckoningWorld(t, h)
	if got := sentences(w.refused("kim", `lending.seal :loan-id @tent-ann :code "x-Saw"`, "requirement-not-met")); got != "the code does not belong to this thing" {
		t.Error(got)
	}
	r, err := w.preview("kim", `lending.seal :loan-id @saw-bob :code "x-Saw"`)
	if err != nil || len(r.Asks()) != 1 || r.Asks()[0].Reason != "it is gone" {
		t.Errorf("%+v %v", r, err)
	}
	equal(t, w.done("kim", `lending.seal :loan-id @saw-bob :code "x-Saw"`), []string{`~ loan ` + id(31).Text() + ` note="sealed x-Saw"`})
	// What fails does not hold; of what is absent it is not asked; and where it decides
	// whether somebody is asked, they are.
	w.refused("kim", `lending.seal :loan-id @saw-bob :code "x-Saw" :item-id @ladder`, "requirement-not-met")
	w.refused("kim", `lending.seal :loan-id @saw-bob :code "x-Saw" :item-id @tent`, "requirement-not-met")
	if r, err := w.preview("kim", `lending.seal :loan-id @tent-ann :code "x-Tent"`); err != nil || len(r.Asks()) != 1 {
		t.Errorf("nobody is asked: %v", err)
	}
	_, err = w.run("kim", "lending.levels")
	var failure *engine.Failure
	if !errors.As(err, &failure) || !strings.Contains(err.Error(), "level panicked: no level") {
		t.Errorf("it says %v", err)
	}

	// Of two under one name, it is not clear which is meant.
	h.Function("level", func([]stores.Value) (stores.Value, error) { return stores.Value{}, nil })
	var config *engine.ConfigError
	if _, err := engine.New(w.reg, w.store, engine.Options{Handlers: h}); !errors.As(err, &config) || len(config.Diagnostics) != 1 || config.Diagnostics[0].Code != "handler-not-wanted" {
		t.Errorf("of a function that is registered twice: %v", err)
	}

	// One that gives what it does not say gives nothing.
	h = &engine.Handlers{Partial: true}
	h.Function("level", func([]stores.Value) (stores.Value, error) { return str("HIGH"), nil })
	w = reckoningWorld(t, h)
	w.refused("kim", `lending.seal :loan-id @saw-bob :code "x-Saw" :item-id @drill`, "requirement-not-met")
}

// An engine says which functions it lacks, and which nobody asked for.
func TestFunctionsThatAreNotThere(t *testing.T) {
	t.Parallel()
	w := reckoningWorld(t, &engine.Handlers{Partial: true})
	w.refused("kim", `lending.seal :loan-id @saw-bob :code "x-Saw"`, "requirement-not-met")
	if got := (&engine.Handlers{}).LacksFunctions(w.reg); strings.Join(got, " ") != "check-code level" {
		t.Errorf("lacks %q", got)
	}
	h := &engine.Handlers{}
	h.Function("levels", func([]stores.Value) (stores.Value, error) { return stores.Value{}, nil })
	_, err := engine.New(w.reg, w.store, engine.Options{Handlers: h})
	var config *engine.ConfigError
	if !errors.As(err, &config) || len(config.Diagnostics) != 3 {
		t.Fatalf("it says %v", err)
	}
}

// What cannot be meant is told when palettes are loaded.
func TestFunctionsAreChecked(t *testing.T) {
	t.Parallel()
	base := strings.Replace(lendingText(t), "\nentities:\n", "\n"+reckoners+"entities:\n", 1)
	for _, c := range []struct{ was, is, code string }{
		{"check_code(code, loan_id.item.name)", "check_code(code)", "bad-expression"},
		{"check_code(code, loan_id.item.name)", "check_code(code, loan_id.due)", "type-mismatch"},
		{"check_code(code, loan_id.item.name)", "check_codes(code, loan_id.item.name)", "unknown-function"},
		{"check_code(code, loan_id.item.name)", "level(loan_id.item.worth)", "type-mismatch"},
		{"level(item_id.worth) != OUT", "level(item_id.worth) != AWAY", "unknown-code"},
		{"takes: [decimal]", "takes: [decimals]", "unknown-type"},
		{"takes: [decimal]", "takes: [{type: ref, ref-type: nothing}]", "unknown-entity"},
		{"{name: level,", "{name: round,", "reserved-word"},
		{"{name: level,", "{name: check_code,", "declared-twice"},
	} {
		text := strings.Replace(base+reckoning, c.was, c.is, 1)
		_, ds := loading.Sources(dsl.NewSource("lending.yaml", text))
		found := false
		for _, d := range ds {
			found = found || d.Code == c.code
		}
		if !found {
			t.Errorf("%s: want %s, got %s", c.is, c.code, told(ds))
		}
	}
}
