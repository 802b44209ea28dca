package verbs

import (
	"slices"
	"strings"

	"verbatim/dsl"
)

// checkCodes explains what the checker says. The examples are scripts over a
// small palette of a bank's client.
func checkCodes() []dsl.CodeDoc {
	return []dsl.CodeDoc{
		{
			Code:    "unknown-verb",
			Meaning: "No palette declares a verb of this name. The nearest names are offered, and a verb of the same name in another domain; `verbatim explain` lists all there are. A verb that its palette calls internal is there for work alone, and unknown to everybody else.",
			Wrong:   `client.add-noet :request-id @pierre-sow :note "next week"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "unknown-argument",
			Meaning: "The verb takes no argument of this name. The nearest of those not yet given is offered.",
			Wrong:   `client.add-note :request-id @pierre-sow :notes "next week"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "missing-argument",
			Meaning: "An argument that the verb cannot do without was not given, or was given nil, which is the same. All that are missing are named at once, with an example of each.",
			Wrong:   `client.add-note :request-id @pierre-sow`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "duplicate-argument",
			Meaning: "An argument is given twice. Nobody can say which of the two was meant, so neither is taken.",
			Wrong:   `client.add-note :request-id @pierre-sow :note "next week" :note "next month"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week, or next month"`,
		},
		{
			Code:    "wrong-type",
			Meaning: "The value is of another type than the argument. A quoted string is read as a date, a time, a duration, a uuid or a code where one is wanted, but never as a number, and a number is never taken for text.",
			Wrong:   `client.remind :request-id @pierre-sow :on 20250103`,
			Right:   `client.remind :request-id @pierre-sow :on 2025-01-03`,
		},
		{
			Code:    "bad-ref-kind",
			Meaning: "The argument wants a row of one kind, and the name or the result given is a row of another.",
			Wrong:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @reminder\nclient.add-note :request-id @reminder :note \"next week\"",
			Right:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @reminder\nclient.forget :reminder-id @reminder",
		},
		{
			Code:    "unknown-code",
			Meaning: "The code is not in the list that the argument takes its codes from. Codes are spelled exactly, in capitals.",
			Wrong:   `client.submit-document :request-id @pierre-sow :document-type PASPORT`,
			Right:   `client.submit-document :request-id @pierre-sow :document-type PASSPORT`,
		},
		{
			Code:    "unknown-name",
			Meaning: "Nothing is called by this name: neither the result of another call in the script, nor a row that you can see.",
			Wrong:   `client.add-note :request-id @piere-sow :note "next week"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "ambiguous-name",
			Meaning: "A row is named by a text that is not exactly what one row is called: several come near, or one does and is not quite it. Which is meant is never guessed; the likeliest are told, with their names.",
			Wrong:   `client.add-note :request-id "pierre wealth" :note "next week"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "unknown-field",
			Meaning: "What stands before the dot is known, and has no field of the name behind it.",
			Wrong:   "client.get-request :request-id @pierre-sow :as @r\nclient.remind :request-id @pierre-sow :on @r.due-dat",
			Right:   "client.get-request :request-id @pierre-sow :as @r\nclient.remind :request-id @pierre-sow :on @r.due-date",
		},
		{
			Code:    "duplicate-binding",
			Meaning: "Two calls are given the same name with `:as`. Calls may stand in any order, so a name can belong to one of them only.",
			Wrong:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @r\nclient.remind :request-id @pierre-sow :on 2025-01-04 :as @r\nclient.forget :reminder-id @r",
			Right:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @r\nclient.remind :request-id @pierre-sow :on 2025-01-04\nclient.forget :reminder-id @r",
		},
		{
			Code:    "unused-binding",
			Meaning: "A call is given a name with `:as` and no other call uses it. It does no harm; perhaps the name is misspelt where it was to be used. This is a warning.",
			Wrong:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @r\nclient.add-note :request-id @pierre-sow :note \"next week\"",
			Right:   "client.remind :request-id @pierre-sow :on 2025-01-03\nclient.add-note :request-id @pierre-sow :note \"next week\"",
		},
		{
			Code:    "binding-shadows-name",
			Meaning: "A call is given a name with `:as` that the session already knows. In the script the name means the call's result; the other row cannot be reached. This is a warning.",
			Wrong:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @allianz\nclient.forget :reminder-id @allianz",
			Right:   "client.remind :request-id @pierre-sow :on 2025-01-03 :as @r\nclient.forget :reminder-id @r",
		},
		{
			Code:    "cycle",
			Meaning: "Each of these calls uses the result of the next, and the last uses that of the first, so none of them can be the first to run.",
			Wrong:   "client.get-request :request-id @b.request-id :as @a\nclient.get-request :request-id @a.request-id :as @b",
			Right:   "client.get-request :request-id @pierre-sow :as @a\nclient.get-request :request-id @a.request-id :as @b\nclient.get-request :request-id @b.request-id",
		},
		{
			Code:    "hard-coded-uuid",
			Meaning: "A row is named by its key instead of its name. It works, but keys differ from one database to the next and nobody can see whether this one is right. This is a warning.",
			Wrong:   `client.add-note :request-id 123e4567-e89b-12d3-a456-426614174000 :note "next week"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "deprecated-verb",
			Meaning: "The verb still works and will go. Where the palette says which verb takes its place, the fix writes that one, with its arguments. This is a warning.",
			Wrong:   `client.note :request-id @pierre-sow :text "next week"`,
			Right:   `client.add-note :request-id @pierre-sow :note "next week"`,
		},
		{
			Code:    "invalid-duration",
			Meaning: "The text is no duration. One is written with whole numbers and units, from large to small (w, d, h, m, s, ms, us), or in the form of ISO 8601 without years and months, whose length varies. A day is 24 hours.",
			Wrong:   `client.call-me :within "3 days"`,
			Right:   `client.call-me :within "3d"`,
		},
		{
			Code:    "invalid-email",
			Meaning: "The text is not one e-mail address by itself.",
			Wrong:   `client.call-me :email "Clara <clara@example.com>"`,
			Right:   `client.call-me :email "clara@example.com"`,
		},
		{
			Code:    "invalid-phone",
			Meaning: "The text is no telephone number: 7 to 15 digits, which may begin with + and hold the usual punctuation.",
			Wrong:   `client.call-me :phone "ask Clara"`,
			Right:   `client.call-me :phone "+44 20 7946 0018"`,
		},
		{
			Code:    "out-of-range",
			Meaning: "A number, date or time is less than the least or more than the most that the argument allows.",
			Wrong:   `client.call-me :times 4`,
			Right:   `client.call-me :times 3`,
		},
		{
			Code:    "too-precise",
			Meaning: "A decimal has more digits after its point than the argument allows. Decimals are exact and are never rounded for you.",
			Wrong:   `client.call-me :deposit 12.505`,
			Right:   `client.call-me :deposit 12.51`,
		},
		{
			Code:    "too-short",
			Meaning: "A text has fewer characters, or a list fewer items, than the argument needs.",
			Wrong:   `client.add-note :request-id @pierre-sow :note "ok"`,
			Right:   `client.add-note :request-id @pierre-sow :note "agreed"`,
		},
		{
			Code:    "too-long",
			Meaning: "A text has more characters, or a list more items, than the argument takes. Characters are counted as a reader counts them, not in bytes.",
			Wrong:   `client.add-note :request-id @pierre-sow :note "` + strings.Repeat("later ", 8) + `"`,
			Right:   `client.add-note :request-id @pierre-sow :note "later"`,
		},
		{
			Code:    "pattern-mismatch",
			Meaning: "A text does not have the form that the palette demands of it. The whole text must match, not a part.",
			Wrong:   `client.call-me :account "no. 123456"`,
			Right:   `client.call-me :account "GB123456"`,
		},
		{
			Code:    "schema-mismatch",
			Meaning: "An object breaks a rule of its JSON Schema. The place is inside the object, where the rule is broken.",
			Wrong:   `client.call-me :address {:street "Main Street 1" :town "Vienna" :city 1010}`,
			Right:   `client.call-me :address {:street "Main Street 1" :city "Vienna"}`,
		},
	}
}

// driftCodes explains what Drift says. The examples are two palettes, the old
// one first, with a line of three dashes between them.
func driftCodes() []dsl.CodeDoc {
	const raise = " Where it is meant, agree to it by comparing with the new palettes from then on."
	ask := func(confirm string) string { return driftExample("confirm: " + confirm) }
	return []dsl.CodeDoc{
		{
			Code:    "confirm-lowered",
			Meaning: "A verb asks less than it did: a rule is gone, its condition is another, somebody else need not agree, or an agreement is good for longer." + raise,
			Wrong:   ask("[always]") + "---\n" + ask(`[{when: "limit > 100"}]`),
			Right:   ask(`[{when: "limit > 100"}]`) + "---\n" + ask("[always]"),
		},
		{
			Code:    "requirement-dropped",
			Meaning: "A verb required something that it no longer requires, or that it now words in another way: it can be used where it was refused." + raise,
			Wrong:   driftExample(`requires: [{that: "limit > 1", else: that is too little}]`) + "---\n" + driftExample(""),
			Right:   driftExample("") + "---\n" + driftExample(`requires: [{that: "limit > 1", else: that is too little}]`),
		},
		{
			Code:    "role-added",
			Meaning: "A verb may be used by a role that could not use it." + raise,
			Wrong:   driftExample("") + "---\n" + strings.Replace(driftExample(""), "roles: [clerk]", "roles: [clerk, guest]", 1),
			Right:   strings.Replace(driftExample(""), "roles: [clerk]", "roles: [clerk, guest]", 1) + "---\n" + driftExample(""),
		},
		driftDoc("role-widened", "A role sees the rows of everybody and saw only those it was granted."+raise,
			"description: Enters them.}", "description: Enters them., sees: all}"),
		driftDoc("effect-widened", "A verb can change what it could not: an effect is new, changes more fields, reaches other rows, sets another value, or has lost its condition."+raise,
			"set: {limit: limit}", "set: {limit: limit, name: name}"),
		driftDoc("promise-dropped", "Something that the verb always did need not happen any more."+raise,
			"- notifies: supervisor", "- may-notify: supervisor"),
		driftDoc("sensitive-dropped", "Values that were never shown may be shown and logged."+raise,
			"{name: name, type: string, sensitive: true}", "{name: name, type: string}"),
		driftDoc("personal-dropped", "Values that could be erased from the journal will stay in it for ever."+raise,
			"fields: {name: {type: string, personal: true}", "fields: {name: {type: string}"),
		driftDoc("origin-widened", "An argument may come from somewhere it could not come from, such as a document."+raise,
			"from: [person]", "from: [person, document]"),
		driftDoc("limit-loosened", "Something is accepted that was refused: a longer text, a larger number, another code, an argument left out."+raise,
			"max: 1000", "max: 9000"),
		driftDoc("default-changed", "An argument that is left out means something else than before, so calls that nobody changed do something else."+raise,
			"default: 10", "default: 20"),
		driftDoc("scope-changed", "The rows of an entity belong to somebody else than before."+raise,
			"scope: self", "scope: everyone"),
		driftDoc("table-changed", "An entity or a field is kept elsewhere, so that verbs read and change other data, or a table may be altered that was not."+raise,
			"table: payees", "table: customers"),
		driftDoc("read-widened", "A verb shows more than it did: more fields, other rows, or more of them."+raise,
			"limit: 50", "limit: 500"),
		driftDoc("query-changed", "The SQL of a verb is another. Two queries cannot be compared by a machine, so somebody must."+raise,
			"SELECT count(*) AS n", "SELECT count(*) + 1 AS n"),
		driftDoc("carrier-changed", "A verb is carried out in another way: by a handler, another tool, another script of verbs."+raise,
			"server: desk", "server: other"),
		{
			Code:    "new-verb",
			Meaning: "A verb is new. Whether its roles should be able to do what it does, only a person can tell. This is a warning.",
			Wrong:   driftExample("") + "---\n" + driftExample("") + "  - {verb: look, description: Look., roles: [clerk], reads: {entity: payee, fields: {name: name}}}\n",
			Right:   driftExample("") + "---\n" + driftExample(""),
		},
	}
}

// driftDoc documents a code that one replacement in the example earns and the
// opposite replacement does not.
func driftDoc(code, meaning, strict, loose string) dsl.CodeDoc {
	old := driftExample("")
	new := strings.Replace(old, strict, loose, 1)
	return dsl.CodeDoc{Code: code, Meaning: meaning, Wrong: old + "---\n" + new, Right: old + "---\n" + old}
}

func driftExample(more string) string {
	if more != "" {
		more = "    " + more + "\n"
	}
	return `domain: pay
roles:
  - {name: clerk, description: Enters them.}
  - {name: guest, description: Looks on.}
entities:
  payee:
    table: payees
    key: payee_id
    scope: self
    fields: {name: {type: string, personal: true}, limit: {type: decimal}}
verbs:
  - verb: set-limit
    description: How much may be paid.
    roles: [clerk]
` + more + `    args:
      - {name: payee-id, type: ref, ref-type: payee, required: true, from: [person]}
      - {name: limit, type: decimal, max: 1000, default: 10}
      - {name: name, type: string, sensitive: true}
    effects:
      - updates: payee
        where: payee-id
        set: {limit: limit}
      - notifies: supervisor
  - {verb: list, description: All., roles: [clerk], reads: {entity: payee, limit: 50, fields: {name: name}}}
  - {verb: count, description: How many., roles: [clerk], query: {sql: SELECT count(*) AS n FROM payees, columns: {n: integer}}}
  - {verb: ticket, description: Ask for help., roles: [clerk], tool: {server: desk, name: create}, confirm: always}
`
}

// CheckCodes are those of the checker alone: what may be wrong with a call.
func CheckCodes() []dsl.CodeDoc { return checkCodes() }

// Codes explains every diagnostic code of this package. The examples of the
// loader are palettes, those of the checker are scripts, and those of Drift are
// two palettes with a line of three dashes between them.
func Codes() []dsl.CodeDoc {
	return slices.Concat(loadCodes(), checkCodes(), driftCodes(), []dsl.CodeDoc{unspokenCode})
}

// unspokenCode is what Unspoken warns of.
var unspokenCode = dsl.CodeDoc{
	Code:    "unspoken",
	Meaning: "A palette says things in a language in some places and not in others, so that whoever speaks it is answered half in English. This is a warning: say the rest, beside the others or under says, or leave the language out.",
	Wrong:   unspokenExample("Thank you."),
	Right:   unspokenExample("{en: Thank you., de: Danke.}"),
}

func unspokenExample(done string) string {
	return `domain: bank
roles: [{name: client}]
verbs:
  - verb: thank
    description: Thank the bank.
    roles: [client]
    phrases: {en: [thank you], de: [danke]}
    tells: {done: ` + done + `}
    effects: [{notifies: client}]
says:
  Thank the bank.: {de: der Bank danken}
`
}
