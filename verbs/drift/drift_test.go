package drift

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"verbatim/dsl"
	"verbatim/verbs"
	"verbatim/verbs/load"
)

// A mutation changes the base palette, and earns these codes; none when the
// change is harmless.
type mutation struct {
	name, from, to string
	codes          string
}

// Every way in which the base palette can be made less safe.
var lowering = []mutation{
	{"a rule is removed", `      - {when: "amount > 500", by: supervisor, expires: 2h, reason: large amounts need four eyes}` + "\n", "", "confirm-lowered"},
	{"a condition changes", "amount > 500", "amount > 5000", "confirm-lowered"},
	{"nobody else must agree", "by: supervisor, expires", "expires", "confirm-lowered"},
	{"somebody else must agree than before", "by: supervisor", "by: auditor", "confirm-lowered"},
	{"an agreement lasts longer", "expires: 2h", "expires: 3h", "confirm-lowered"},
	{"an agreement lasts as long as the engine lets it", "expires: 2h, ", "", "confirm-lowered"},
	{"a program may agree in the place of a person", "by: supervisor, expires", "by: supervisor, programs: true, expires", "confirm-lowered"}, // G21
	{"always becomes sometimes", "      - always\n", "      - {when: urgent}\n", "confirm-lowered"},
	{"no rule is left", "    confirm:\n      - {when: \"amount > 500\", by: supervisor, expires: 2h, reason: large amounts need four eyes}\n      - always\n", "", "confirm-lowered"},
	{"never asks", "    confirm:\n      - {when: \"amount > 500\", by: supervisor, expires: 2h, reason: large amounts need four eyes}\n      - always\n", "    confirm: never\n", "confirm-lowered"},
	{"a requirement is removed", "      - {that: amount <= payee_id.limit, else: that is above the limit}\n", "", "requirement-dropped"},
	{"no requirement is left", "    requires:\n      - {that: \"payee_id.status != SENT\", else: it was sent already}\n      - {that: amount <= payee_id.limit, else: that is above the limit}\n      - {none: slip, where: row.payee == payee_id and row.content == content(bill), else: this bill was sent already}\n", "", "requirement-dropped"},
	{"a requirement asks for less", "amount <= payee_id.limit", "amount <= payee_id.limit * 2", "requirement-dropped"},
	{"a requirement may be got round", "payee_id.status != SENT", "payee_id.status != SENT or urgent", "requirement-dropped"},
	{"something may be there twice", "      - {none: slip, where: row.payee == payee_id and row.content == content(bill), else: this bill was sent already}\n", "", "requirement-dropped"},
	{"fewer of them count", "row.content == content(bill)", "row.content == content(bill) and row.content != \"0\"", "requirement-dropped"},
	{"people write by mail", "plan-first: true}", "plan-first: true, channels: [mail]}", "door-opened"},
	{"a model writes sentences", "plan-first: true}", "plan-first: true, replies: phrased}", "door-opened"},
	{"a limit is gone", "    limits:\n      - {at-most: 5, within: 1d, of: everyone, refused: counts}\n", "", "limit-loosened"},
	{"an exclusion is gone", "    excludes:\n      - {verb: get-payee, same: payee-id, when: before, else: look another time}\n", "", "requirement-dropped"},
	{"an exclusion is of another verb", "verb: get-payee, same", "verb: list-payees, same", "requirement-dropped"},
	{"a limit leaves more room", "at-most: 5", "at-most: 6", "limit-loosened"},
	{"a limit looks back less far", "within: 1d", "within: 23h", "limit-loosened"},
	{"a limit is each caller's own", "of: everyone, ", "", "limit-loosened"},
	{"what is refused does not count", ", refused: counts", "", "limit-loosened"},
	{"a role is added", "roles: [clerk]\n    phrases", "roles: [clerk, auditor]\n    phrases", "role-added"},
	{"a role is added to a read", "roles: [auditor]", "roles: [auditor, clerk]", "role-added"},
	{"a role sees everything", "description: Enters payments.", "description: Enters payments.\n    sees: all", "role-widened"},
	{"an effect is added", "      - triggers: screening\n", "      - triggers: screening\n      - creates: branch\n        set: {bank: payee_id.bank, name: note}\n        when: note != nil and payee_id.bank != nil\n", "effect-widened"},
	{"an effect that may be is added", "      - triggers: screening\n", "      - triggers: screening\n      - may-delete: payee\n        where: payee-id\n", "effect-widened"},
	{"an effect changes more fields", "set: {iban: iban, limit: amount}", "set: {iban: iban, limit: amount, name: note}", "effect-widened"},
	{"an effect sets something else", "set: {iban: iban, limit: amount}", "set: {iban: iban, limit: amount * 2}", "effect-widened"},
	{"a condition of an effect is dropped", "        when: note != nil\n", "", "effect-widened"},
	{"a condition of an effect changes", "when: note != nil", "when: note != nil or urgent", "effect-widened"},
	{"an effect reaches other rows", "row.status == DRAFT and row.name == 'x'", "row.status == DRAFT", "effect-widened"},
	{"an effect reaches any row", `where: "row.status == DRAFT and row.name == 'x'"`, `where: "true"`, "effect-widened"},
	{"a notice says something else", "with: {amount: amount}", "with: {amount: amount, iban: iban}", "effect-widened"},
	{"a notice is no longer promised", "      - notifies: supervisor\n        with: {amount: amount}\n", "", "promise-dropped"},
	{"a notice may be left out", "- notifies: supervisor", "- may-notify: supervisor", "promise-dropped"},
	{"a notice becomes conditional", "        with: {amount: amount}\n", "        with: {amount: amount}\n        when: urgent\n", "promise-dropped"},
	{"a check is no longer promised", "      - validates: the payee against the list of sanctions\n", "", "promise-dropped"},
	{"other work is started", "triggers: screening", "triggers: nothing-much", "effect-widened promise-dropped"},
	{"the session is set to something else", "session.approved = true", "session.approved = false", "effect-widened"},
	{"an argument is not sensitive", "required: true, sensitive: true, from", "required: true, from", "sensitive-dropped"},
	{"a model reads before it writes", ", plan-first: true", "", "origin-widened"},
	{"nothing is said of talking about it", "conversation: {context: [pay.list-payees], plan-first: true}\n", "", "origin-widened"},
	{"a role keeps the journal", "sees: all", "sees: all\n    keeps: journal", "role-widened"},
	{"a field is not personal", "name: {type: string, required: true, max-length: 70, personal: true}", "name: {type: string, required: true, max-length: 70}", "personal-dropped"},
	{"an argument is not personal", "personal: true, description: anything else", "description: anything else", "personal-dropped"},
	{"a field is not sensitive", "code: {type: string, sensitive: true}", "code: {type: string}", "sensitive-dropped"},
	{"another origin is allowed", "from: [person, record]", "from: [person, record, document]", "origin-widened"},
	{"other origins ask", "from: [person, record]", "from: [person, record], otherwise: ask", "origin-widened"},
	{"any origin is allowed", ", from: [person, record]", "", "origin-widened"},
	{"an argument may be left out", "{name: reason, type: code, ref-type: reason, required: true}", "{name: reason, type: code, ref-type: reason}", "limit-loosened"},
	{"an argument is gone", "      - {name: reason, type: code, ref-type: reason, required: true}\n", "", "limit-loosened"},
	{"a field of a record may be left out", "max: 1, required: true}", "max: 1}", "limit-loosened"},
	{"a field of a record may be more", "max: 1, required: true}", "max: 2, required: true}", "limit-loosened"},
	{"a record has another field", "to: {type: ref, ref-type: payee}}", "to: {type: ref, ref-type: payee}, note: {type: string}}", "limit-loosened"},
	{"a text may be longer", "max-length: 34", "max-length: 340", "limit-loosened"},
	{"a text has no end", ", max-length: 34", "", "limit-loosened"},
	{"a text may be shorter", "min-length: 15, ", "", "limit-loosened"},
	{"another pattern", "[0-9]{13,32}", "[0-9]*", "limit-loosened"},
	{"no pattern", `pattern: "[A-Z]{2}[0-9]{13,32}", `, "", "limit-loosened"},
	{"a number may be smaller", "min: 1, ", "min: 0, ", "limit-loosened"},
	{"a number may be larger", "max: 1000.00", "max: 10000.00", "limit-loosened"},
	{"a number has no limit", ", max: 1000.00", "", "limit-loosened"},
	{"a number is finer", "max: 1000.00, scale: 2", "max: 1000.00, scale: 3", "limit-loosened"},
	{"a larger file", "max-size: 5 MB", "max-size: 5 MiB", "limit-loosened"},
	{"another type of file", "types: [application/pdf, image/png]", "types: [application/pdf, image/png, text/html]", "limit-loosened"},
	{"a family of types of files", "types: [application/pdf, image/png]", "types: [application/pdf, image/*]", "limit-loosened"},
	{"any text instead of a file", ", upload: {types: [image/jpeg], max-size: 1 MB}", "", "limit-loosened"},
	{"any reference instead of a file", "upload: {types: [image/jpeg], max-size: 1 MB}", "pattern: \"upload://[A-Za-z0-9_-]{1,200}\"", "limit-loosened"},
	{"a code is added", "[INVOICE, SALARY]", "[INVOICE, SALARY, BRIBE]", "limit-loosened"},
	{"any code will do", "{name: reason, type: code, ref-type: reason,", "{name: reason, type: code,", "limit-loosened"},
	{"other codes", "{name: reason, type: code, ref-type: reason,", "{name: reason, type: code, ref-type: status,", "limit-loosened"},
	{"another type", "{name: day, type: date}", "{name: day, type: string}", "limit-loosened"},
	{"any type", "{name: day, type: date}", "{name: day, type: any}", "limit-loosened"},
	{"any currency", "type: money, currencies: [EUR]", "type: money", "limit-loosened"},
	{"more currencies", "currencies: [EUR]", "currencies: [EUR, USD]", "limit-loosened"},
	{"another schema", "city: {type: string, maxLength: 40}", "city: {type: string, maxLength: 400}", "limit-loosened"},
	{"no schema", "type: object, schema: address", "type: object", "limit-loosened"},
	{"longer items", "of: {type: string, max-length: 10}", "of: {type: string, max-length: 100}", "limit-loosened"},
	{"any items", "of: {type: string, max-length: 10}", "of: any", "limit-loosened"},
	{"more items", "max-length: 3}", "max-length: 30}", "limit-loosened"},
	{"another default", "type: boolean, default: false", "type: boolean, default: true", "default-changed"},
	{"the way to the owner changes", "scope: branch.bank", "scope: bank", "scope-changed"},
	{"everybody's data", "scope: branch.bank", "scope: everyone", "scope-changed"},
	{"rows are hidden no more", "    visible: open\n", "", "read-widened"},
	{"another table", "table: payees", "table: customers", "table-changed"},
	{"another column", "column: branch_id", "column: other_branch_id", "table-changed"},
	{"a table is taken over", "    table: branches\n", "    table: branches\n    managed: true\n", "table-changed"},
	{"names need not differ", "    unique: [[branch, name]]\n", "", "limit-loosened"},
	{"a field may be empty", "name: {type: string, required: true, max-length: 70, personal: true}", "name: {type: string, max-length: 70, personal: true}", "limit-loosened"},
	{"a field may be longer", "max-length: 70", "max-length: 700", "limit-loosened"},
	{"a label says more", "    scope: branch.bank\n    label: \"{name}\"", "    scope: branch.bank\n    label: \"{name} {status}\"", "read-widened"},
	{"a read returns more", "        payee_id: payee_id\n", "        payee_id: payee_id\n        bank: branch.bank.name\n", "read-widened"},
	{"a read returns other rows", `where: "row.status != DRAFT"`, `where: "row.status == DRAFT"`, "read-widened"},
	{"a read returns all rows", "      where: \"row.status != DRAFT\"\n", "", "read-widened"},
	{"a read returns more rows", "limit: 50", "limit: 500", "read-widened"},
	{"a read returns as many as there are", "      limit: 50\n", "", "read-widened"},
	{"a read returns many", "      one: payee-id\n", "", "read-widened"},
	{"another query", "count(*) AS n FROM payees", "count(*) + 1 AS n FROM payees", "query-changed"},
	{"a query of many rows", "      columns: {n: integer}\n      one: true\n", "      columns: {n: integer}\n", "read-widened"},
	{"another macro", "pay.get-payee :payee-id @payee-id", "pay.list-payees :payee-id @payee-id", "carrier-changed"},
	{"another tool", "create_ticket", "close_ticket", "carrier-changed"},
	{"another server", "server: desk", "server: evil", "carrier-changed"},
	{"a tool is called in previews", "name: create_ticket, ", "name: create_ticket, read-only: true, ", "carrier-changed"},
	{"a tool is asked again", "name: create_ticket, ", "name: create_ticket, idempotent: true, ", "carrier-changed"},
	{"a tool is sent something else", "name: create_ticket, ", "name: create_ticket, with: {body: text}, ", "carrier-changed"},
	{"nobody is asked about a tool", "columns: {number: string}}\n    confirm: always\n", "columns: {number: string}}\n    confirm: never\n", "confirm-lowered"},
	{"a handler takes over", "      - triggers: screening\n", "      - triggers: screening\n    handler: true\n", "carrier-changed"},
	{"a handler returns more", "includes: [approved]", "includes: [approved, iban]", "read-widened"},
}

// Changes that make a palette stricter, or change only words.
var harmless = []mutation{
	{"a field of a record is gone", ", to: {type: ref, ref-type: payee}}", "}", ""},
	{"a field of a record takes less", "max: 1, required: true}", "max: 0.5, required: true}", ""},
	{"another description", "description: Pay somebody else.", "description: Pay another person.", ""},
	{"another phrase", `phrases: ["pay {payee-id}"]`, `phrases: ["send money to {payee-id}", "pay {payee-id}"]`, ""},
	{"a comment", "    confirm:\n", "    # ask first\n    confirm:\n", ""},
	{"white space in a condition", "amount > 500", "amount  >  500", ""},
	{"another reason", "large amounts need four eyes", "two people look at large amounts", ""},
	{"a requirement is added", "    requires:\n", "    requires:\n      - {that: day == nil or day > today, else: that day is over}\n", ""},
	{"requirements change places", "      - {that: \"payee_id.status != SENT\", else: it was sent already}\n      - {that: amount <= payee_id.limit, else: that is above the limit}\n", "      - {that: amount <= payee_id.limit, else: that is above the limit}\n      - {that: \"payee_id.status != SENT\", else: it was sent already}\n", ""},
	{"a requirement in other words", "that is above the limit", "so much may not be paid", ""},
	{"a rule is added", "      - always\n", "      - always\n      - {when: urgent, by: auditor}\n", ""},
	{"an exclusion of more", "same: payee-id, when: before, else: look another time", "else: look some other time", ""},
	{"a limit is tighter", "at-most: 5, within: 1d", "at-most: 4, within: 2d", ""},
	{"a rule is quicker to expire", "expires: 2h", "expires: 1h", ""},
	{"a role is removed", "roles: [clerk]\n    phrases", "roles: []\n    phrases", ""},
	{"a role sees less", "    sees: all\n", "", ""},
	{"an effect that may be is removed", "      - may-update: payee.note\n        where: payee-id\n        when: note != nil\n        set: {note: note}\n", "", ""},
	{"an argument is sensitive", "{name: day, type: date}", "{name: day, type: date, sensitive: true}", ""},
	{"a field is personal", "limit: {type: decimal, scale: 2}", "limit: {type: decimal, scale: 2, personal: true}", ""},
	{"fewer origins", "from: [person, record]", "from: [person]", ""},
	{"an argument is required", "{name: day, type: date}", "{name: day, type: date, required: true}", ""},
	{"a smaller file", "max-size: 5 MB", "max-size: 4999 kB", ""},
	{"fewer types of files", "types: [application/pdf, image/png]", "types: [application/pdf]", ""},
	{"shorter", "max-length: 34", "max-length: 30", ""},
	{"longer at least", "min-length: 15", "min-length: 16", ""},
	{"smaller at most", "max: 1000.00", "max: 999.00", ""},
	{"coarser", "max: 1000.00, scale: 2", "max: 1000.0, scale: 1", ""},
	{"a code is removed", "[INVOICE, SALARY]", "[INVOICE]", ""},
	{"a description of a code", "[INVOICE, SALARY]", "[{code: INVOICE, description: a bill}, SALARY]", ""},
	{"a field of a read is removed", "        iban: iban\n", "", ""},
	{"a read with a filter returns fewer", "limit: 50", "limit: 5", ""},
	{"another order", "order: [name]", "order: [name desc]", ""},
	{"a verb is removed", "  - verb: count-payees\n    description: How many there are.\n    roles: [auditor]\n    query:\n      sql: SELECT count(*) AS n FROM payees\n      columns: {n: integer}\n      one: true\n", "", ""},
	{"a verb is deprecated", "    description: Whom we pay.\n", "    description: Whom we pay.\n    deprecated: {reason: slow}\n", ""},
	{"a field is added", "      note: {type: string}\n", "      note: {type: string}\n      more: {type: string}\n", ""},
	{"an optional argument is added", "      - {name: day, type: date}\n", "      - {name: day, type: date}\n      - {name: other, type: date}\n", ""},
	{"arguments change places", "      - {name: day, type: date}\n      - {name: price, type: money, currencies: [EUR]}\n", "      - {name: price, type: money, currencies: [EUR]}\n      - {name: day, type: date}\n", ""},
	{"reference data gets an owner", "scope: everyone", "scope: self", ""},
	{"a query in other white space", "SELECT count(*) AS n FROM payees", "SELECT  count(*)  AS n   FROM payees", ""},
}

func basePalette(t interface{ Fatal(...any) }) string {
	text, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func loadText(t interface{ Fatal(...any) }, name, text string) *verbs.Registry {
	r, ds := load.Sources(dsl.NewSource(name, text))
	if r == nil {
		t.Fatal(name, inWords(ds))
	}
	return r
}

func (m mutation) apply(text string) (string, bool) {
	if !strings.Contains(text, m.from) {
		return text, false
	}
	return strings.Replace(text, m.from, m.to, 1), true
}

// SAFE-P6: each change that lowers safety is named, with its code, its place in
// the new palette and the old place beside it.
func TestEveryLoweringIsNamed(t *testing.T) {
	t.Parallel()
	base := basePalette(t)
	old := loadText(t, "old.yaml", base)
	for _, m := range lowering {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			text, ok := m.apply(base)
			if !ok {
				t.Fatal("the palette has no such text")
			}
			ds := Between(old, loadText(t, "new.yaml", text))
			if len(ds) == 0 {
				t.Fatal("nothing is said")
			}
			codes := map[string]bool{}
			for _, d := range ds {
				codes[d.Code] = true
				if d.Severity != dsl.Error || !strings.Contains(" "+m.codes+" ", " "+d.Code+" ") {
					t.Errorf("unexpected %s: %s", d.Code, d.Summary)
				}
				if d.Place.Source == nil || d.Place.Source.Name != "new.yaml" || d.Place.Range.End == 0 {
					t.Errorf("%s has no place in the new palette", d.Code)
				}
				if len(d.Related) != 1 || d.Related[0].Place.Source.Name != "old.yaml" {
					t.Errorf("%s does not point to the old palette", d.Code)
				}
				if d.Label == "" || len(d.Notes) == 0 {
					t.Errorf("%s does not say what it was and what to do", d.Code)
				}
			}
			for _, code := range strings.Fields(m.codes) {
				if !codes[code] {
					t.Errorf("no %s in\n%s", code, inWords(ds))
				}
			}
		})
	}
}

// What is stricter, and what is only worded otherwise, is silent.
func TestHarmlessChangesAreSilent(t *testing.T) {
	t.Parallel()
	base := basePalette(t)
	old := loadText(t, "old.yaml", base)
	if ds := Between(old, old); len(ds) > 0 {
		t.Errorf("a palette drifts from itself: %s", inWords(ds))
	}
	for _, m := range harmless {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			text, ok := m.apply(base)
			if !ok {
				t.Fatal("the palette has no such text")
			}
			if ds := Between(old, loadText(t, "new.yaml", text)); len(ds) > 0 {
				t.Error(inWords(ds))
			}
		})
	}
}

// A lowering stays visible among any number of harmless changes.
func TestLoweringsDoNotHide(t *testing.T) {
	t.Parallel()
	base := basePalette(t)
	old := loadText(t, "old.yaml", base)
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.SampledFrom(lowering).Draw(t, "lowering")
		text, _ := m.apply(base)
		for _, h := range rapid.SliceOfN(rapid.SampledFrom(harmless), 0, 5).Draw(t, "harmless") {
			text, _ = h.apply(text)
		}
		r, ds := load.Sources(dsl.NewSource("new.yaml", text))
		if r == nil {
			t.Skip(inWords(ds)) // two changes may contradict one another
		}
		if strings.Contains(text, m.from) && m.to != "" && !strings.Contains(text, m.to) {
			t.Skip("undone by another change")
		}
		if ds := Between(old, r); !ds.HasErrors() && r.Verb("pay.count-payees") != nil {
			t.Fatalf("%s is not seen", m.name)
		}
	})
}

// A new verb is shown with who may use it.
func TestNewVerbsAreShown(t *testing.T) {
	t.Parallel()
	base := basePalette(t)
	more := base + "  - verb: look\n    description: Look.\n    roles: [clerk, auditor]\n    reads: {entity: payee, fields: {name: name}}\n"
	ds := Between(loadText(t, "old.yaml", base), loadText(t, "new.yaml", more))
	if len(ds) != 1 || ds[0].Code != "new-verb" || ds[0].Severity != dsl.Warning || ds[0].Label != "may be used by clerk and auditor" {
		t.Error(fmt.Sprint(ds))
	}
}

// U4, SAFE-P6: for each code, the wrong example earns exactly it and the right one
// earns nothing.
func TestExamplesOfDriftCodesRun(t *testing.T) {
	t.Parallel()
	for _, doc := range Codes() {
		t.Run(doc.Code, func(t *testing.T) {
			t.Parallel()
			for i, text := range []string{doc.Wrong, doc.Right} {
				before, after, ok := strings.Cut(text, "---\n")
				if !ok {
					t.Fatal("not two palettes")
				}
				ds := Between(loadText(t, "old.yaml", before), loadText(t, "new.yaml", after))
				if i == 0 && (len(ds) == 0 || ds[0].Code != doc.Code) {
					t.Errorf("the wrong example earns %s", inWords(ds))
				}
				if i == 1 && len(ds) > 0 {
					t.Errorf("the right example earns %s", inWords(ds))
				}
			}
		})
	}
}

// U4: every code that is reported is explained.
func TestEveryDriftCodeIsDocumented(t *testing.T) {
	t.Parallel()
	documented := map[string]bool{}
	for _, doc := range Codes() {
		if documented[doc.Code] {
			t.Errorf("%s is documented twice", doc.Code)
		}
		documented[doc.Code] = true
	}
	text, err := os.ReadFile("drift.go")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?:Code: +|lower\(|label := )"([a-z]+(?:-[a-z]+)*)"`).FindAllSubmatch(text, -1)
	for _, m := range found {
		if !documented[string(m[1])] {
			t.Errorf("%s is not documented", m[1])
		}
	}
	if len(found) < 30 {
		t.Errorf("only %d codes found", len(found))
	}
}

func inWords(ds dsl.Diagnostics) string {
	var b strings.Builder
	for _, d := range ds {
		fmt.Fprintf(&b, "%s: %s\n", d.Code, d.Summary)
	}
	return b.String()
}

// X6: what only work could call, people may call.
func TestInternalVerbBecomesCallable(t *testing.T) {
	t.Parallel()
	const palette = `domain: x
roles: [{name: clerk}]
verbs:
  - verb: chase
    roles: [clerk]
    internal: true
    effects: [{notifies: supplier}]
`
	was, now := loadText(t, "x.yaml", palette), loadText(t, "x.yaml", strings.Replace(palette, "    internal: true\n", "", 1))
	if ds := Between(was, now); len(ds) != 1 || ds[0].Code != "role-added" {
		t.Errorf("that everybody may call it now is %s", inWords(ds))
	}
}
