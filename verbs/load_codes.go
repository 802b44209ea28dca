package verbs

import (
	"strings"

	"verbatim/dsl"
	"verbatim/verbs/expr"
)

// loadCodes explains what the loader says. The examples are palettes.
func loadCodes() []dsl.CodeDoc {
	const bank = "domain: bank\nroles: [{name: teller}]\n"
	const account = `codes: [{name: status, values: [OPEN, CLOSED]}]
entities:
  account:
    key: account_id
    scope: self
    fields:
      name: {type: string, required: true}
      status: {type: code, ref-type: status}
      opened: {type: date}
      balance: {type: decimal}
`
	verb := func(rest string) string { return bank + "verbs:\n  - verb: ask\n    roles: [teller]\n" + rest }
	arg := func(arg string) string { return verb("    handler: true\n    args: [" + arg + "]\n") }
	about := func(rest string, fields ...string) string {
		account := account
		for _, f := range fields {
			account += "      " + f + "\n"
		}
		return bank + account + "verbs:\n  - verb: change\n    roles: [teller]\n    args:\n" +
			"      - {name: account-id, type: ref, ref-type: account, required: true}\n" +
			"      - {name: new-name, type: string, required: true}\n" +
			"      - {name: on, type: date}\n" + rest
	}
	effect := func(lines ...string) string {
		return about("    effects:\n      - " + strings.Join(lines, "\n        ") + "\n")
	}
	when := func(expr string) string {
		return about("    handler: true\n    confirm:\n      - when: " + expr + "\n")
	}
	entity := func(rest string) string {
		return bank + "entities:\n  account:\n    key: account_id\n" + rest
	}
	arguments := func(n int) string {
		return arg(strings.TrimSuffix(strings.Repeat("{name: aX, type: string}, ", n), ", "))
	}
	numbered := func(s string) string {
		var b strings.Builder
		for i := 0; ; i++ {
			before, after, found := strings.Cut(s, "aX")
			b.WriteString(before)
			if !found {
				return b.String()
			}
			b.WriteString("a" + itoa(i))
			s = after
		}
	}
	return []dsl.CodeDoc{
		{
			Code:    "no-palettes",
			Meaning: "The directory holds no palette. Palettes are the files at its top whose names end in .yaml or .yml; hidden files and NAME_test.yaml are not among them.",
			Right:   bank,
		},
		{
			Code:    "unreadable-palette",
			Meaning: "The file or the directory is there and cannot be read. The operating system's reason is given.",
			Right:   bank,
		},
		{
			Code:    "palette-too-large",
			Meaning: "The file is longer than a palette may be. Several files are one palette each; they load together.",
			Wrong:   bank + strings.Repeat("# and so on\n", 20),
			Right:   bank,
		},
		{
			Code:    "not-utf8",
			Meaning: "The file holds bytes that are no UTF-8 text. Editors call the encoding UTF-8.",
			Wrong:   "domain: bank\ndescription: Caf\xe9\n",
			Right:   "domain: bank\ndescription: Café\n",
		},
		{
			Code:    "empty-palette",
			Meaning: "The file says nothing. A palette says at least its domain.",
			Wrong:   "# to do\n",
			Right:   bank,
		},
		{
			Code:    "not-yaml",
			Meaning: "The file cannot be read as YAML, so nothing in it is understood. The place is where reading stopped; what is wrong may stand a little before it.",
			Wrong:   "domain: bank\ndescription: accounts: all of them\n",
			Right:   "domain: bank\ndescription: \"accounts: all of them\"\n",
		},
		{
			Code:    "yaml-feature",
			Meaning: "YAML has anchors, aliases, tags, merge keys and several documents in one file. Palettes have none of them: what a palette says stands where it is said, and means what it shows.",
			Wrong:   "domain: bank\nroles:\n  - &t {name: teller}\n",
			Right:   bank,
		},
		{
			Code:    "unknown-key",
			Meaning: "A mapping has a key that means nothing there. Unknown keys are never ignored, because most are misspelt.",
			Wrong:   verb("    handlr: true\n    handler: true\n"),
			Right:   verb("    handler: true\n"),
		},
		{
			Code:    "missing-key",
			Meaning: "A mapping lacks a key that it cannot do without.",
			Wrong:   arg("{name: note}"),
			Right:   arg("{name: note, type: string}"),
		},
		{
			Code:    "wrong-shape",
			Meaning: "A key holds the wrong kind of YAML: text where a list is wanted, a list where a mapping is.",
			Wrong:   "domain: bank\nroles: teller\n",
			Right:   bank,
		},
		{
			Code:    "nothing-written",
			Meaning: "A key is there and nothing is said. Leave the key out, or say what was meant.",
			Wrong:   "domain: bank\ndescription:\n",
			Right:   "domain: bank\ndescription: Accounts.\n",
		},
		{
			Code:    "not-boolean",
			Meaning: "Only true and false say yes and no. YAML has other words for them, which not every reader takes the same way.",
			Wrong:   verb("    handler: yes\n"),
			Right:   verb("    handler: true\n"),
		},
		{
			Code:    "not-a-number",
			Meaning: "A number is written in digits, without exponents, leading zeros, other bases or quotes.",
			Wrong:   arg("{name: note, type: string, max-length: 2e3}"),
			Right:   arg("{name: note, type: string, max-length: 2000}"),
		},
		{
			Code:    "unknown-word",
			Meaning: "The key takes one of a few words, and this is none of them.",
			Wrong:   verb("    handler: true\n    confirm: sometimes\n"),
			Right:   verb("    handler: true\n    confirm: always\n"),
		},
		{
			Code:    "bad-name",
			Meaning: "Names are lower-case letters, digits, dashes and underscores, and begin with a letter. Codes are upper-case. Tables and columns are what both databases can quote.",
			Wrong:   "domain: Bank\n",
			Right:   "domain: bank\n",
		},
		{
			Code:    "reserved-word",
			Meaning: "An argument cannot have this name, because calls or expressions use the word for something else. Domains and tables whose names begin with verbatim are what the engine keeps of its own.",
			Wrong:   arg("{name: row, type: integer}"),
			Right:   arg("{name: row-number, type: integer}"),
		},
		{
			Code:    "declared-twice",
			Meaning: "Two things of one kind have the same name. Roles, codes, schemas and entities are shared by all files of the directory; a dash and an underscore are the same in a name.",
			Wrong:   "domain: bank\nroles: [{name: teller}, {name: teller}]\n",
			Right:   bank,
		},
		{
			Code:    "unknown-type",
			Meaning: "No type has this name.",
			Wrong:   arg("{name: on, type: dat}"),
			Right:   arg("{name: on, type: date}"),
		},
		{
			Code:    "unknown-role",
			Meaning: "No file of the directory declares a role of this name, so nobody has it.",
			Wrong:   bank + "verbs:\n  - {verb: ask, roles: [teler], handler: true}\n",
			Right:   bank + "verbs:\n  - {verb: ask, roles: [teller], handler: true}\n",
		},
		{
			Code:    "unknown-entity",
			Meaning: "No file of the directory declares an entity of this name.",
			Wrong:   about("    reads: {entity: acount, fields: {name: name}}\n"),
			Right:   about("    reads: {entity: account, fields: {name: name}}\n"),
		},
		{
			Code:    "unknown-code-list",
			Meaning: "No file of the directory declares a code list of this name.",
			Wrong:   bank + account + "verbs:\n  - verb: ask\n    roles: [teller]\n    handler: true\n    args: [{name: status, type: code, ref-type: stauts}]\n",
			Right:   bank + account + "verbs:\n  - verb: ask\n    roles: [teller]\n    handler: true\n    args: [{name: status, type: code, ref-type: status}]\n",
		},
		{
			Code:    "unknown-schema",
			Meaning: "No file of the directory declares a schema of this name.",
			Wrong:   "schemas: {address: {type: object}}\n" + arg("{name: to, type: object, schema: adress}"),
			Right:   "schemas: {address: {type: object}}\n" + arg("{name: to, type: object, schema: address}"),
		},
		{
			Code:    "bad-schema",
			Meaning: "What should be a JSON Schema is none.",
			Wrong:   "schemas: {address: {type: objekt}}\n" + bank,
			Right:   "schemas: {address: {type: object}}\n" + bank,
		},
		{
			Code:    "limit-does-not-apply",
			Meaning: "The key limits or details something else than what it stands beside, so it would do nothing.",
			Wrong:   arg("{name: on, type: date, max-length: 10}"),
			Right:   arg("{name: on, type: date, max: 2030-12-31}"),
		},
		{
			Code:    "bad-value",
			Meaning: "A default, an example, a limit or a constant is not a value that its type accepts.",
			Wrong:   arg("{name: on, type: date, default: 2025-02-30}"),
			Right:   arg("{name: on, type: date, default: 2025-02-28}"),
		},
		{
			Code:    "bad-pattern",
			Meaning: "The regular expression is not one of RE2, which has no look-around and no back-references so that it always takes time in proportion to the text, or it repeats so much that even that is long.",
			Wrong:   arg(`{name: iban, type: string, pattern: "(?=DE)[A-Z0-9]+"}`),
			Right:   arg(`{name: iban, type: string, pattern: "DE[0-9]{20}"}`),
		},
		{
			Code:    "bad-media-type",
			Meaning: "An upload names the types of files that it takes: application/pdf, image/jpeg, or image/* for every image. They are what is found in the file, not how its name ends.",
			Wrong:   arg("{name: note, type: string, upload: {types: [pdf], max-size: 20 MB}}"),
			Right:   arg("{name: note, type: string, upload: {types: [application/pdf], max-size: 20 MB}}"),
		},
		{
			Code:    "bad-size",
			Meaning: "A size is a whole number and a unit: B, kB, MB or GB, or KiB, MiB or GiB for powers of two. A file may have 5 GiB at most.",
			Wrong:   arg("{name: note, type: string, upload: {types: [application/pdf], max-size: twenty}}"),
			Right:   arg("{name: note, type: string, upload: {types: [application/pdf], max-size: 20 MB}}"),
		},
		{
			Code:    "bad-currency",
			Meaning: "Currencies are the codes of ISO 4217 that are in use.",
			Wrong:   arg("{name: price, type: money, currencies: [EURO]}"),
			Right:   arg("{name: price, type: money, currencies: [EUR]}"),
		},
		{
			Code:    "bad-duration",
			Meaning: "A length of time is a number and a unit: s, m, h, d or w.",
			Wrong:   verb("    handler: true\n    confirm: [{expires: tomorrow}]\n"),
			Right:   verb("    handler: true\n    confirm: [{expires: 24h}]\n"),
		},
		{
			Code:    "requires-nothing",
			Meaning: "A requirement always holds, or never does, whatever a call says. A requirement names an argument, or a field of the row that an argument names.",
			Wrong:   about("    handler: true\n    requires:\n      - {that: OPEN == CLOSED, else: it is closed}\n"),
			Right:   about("    handler: true\n    requires:\n      - {that: account_id.status == OPEN, else: it is closed}\n"),
		},
		{
			Code:    "passes-on-nil",
			Meaning: "A requirement holds where a field that it looks at is nil, which is often overlooked. Where it is meant, say nil: passes. This is a warning.",
			Wrong:   about("    handler: true\n    requires:\n      - {that: account_id.status != CLOSED, else: it is closed}\n"),
			Right:   about("    handler: true\n    requires:\n      - {that: account_id.status != CLOSED, nil: passes, else: it is closed}\n"),
		},
		{
			Code:    "held-by-nobody",
			Meaning: "A requirement says that there must be none of some rows, and not to which row those would belong. What is not there cannot be held, so two people could find none at the same time and add one each. One part of `where`, joined by `and`, says that a reference of such a row is the row of an argument that must be given; that row is held.",
			Wrong:   about("    handler: true\n    requires:\n      - {none: account, where: row.name == new_name, else: there is one of that name}\n", "parent: {type: ref, ref-type: account}"),
			Right:   about("    handler: true\n    requires:\n      - {none: account, where: row.parent == account_id and row.name == new_name, else: there is one of that name}\n", "parent: {type: ref, ref-type: account}"),
		},
		{
			Code:    "bad-key",
			Meaning: "The key of an entity is of a type that cannot be a key.",
			Wrong:   entity("    scope: self\n    fields: {account_id: {type: boolean}}\n"),
			Right:   entity("    scope: self\n    fields: {account_id: {type: string}}\n"),
		},
		{
			Code:    "money-field",
			Meaning: "Money is kept in two fields, an amount and a currency, so that a database can add it up. An argument may be money; a field may not.",
			Wrong:   entity("    scope: self\n    fields: {price: {type: money}}\n"),
			Right:   entity("    scope: self\n    fields: {price_amount: {type: decimal, scale: 2}, price_currency: {type: string}}\n"),
		},
		{
			Code:    "bad-scope",
			Meaning: "An entity must say whose its rows are, and this does not lead to an owner. Without one, nobody could be shown a row, or everybody would be.",
			Wrong:   entity("    scope: name\n    fields: {name: {type: string}}\n"),
			Right:   entity("    scope: {principal: name}\n    fields: {name: {type: string}}\n"),
		},
		{
			Code:    "bad-visible",
			Meaning: "What is to say whether a row is seen is no boolean field, nobody owns the rows, or fields that must be unique would tell of rows that are hidden.",
			Wrong:   entity("    scope: self\n    visible: name\n    fields: {name: {type: string}}\n"),
			Right:   entity("    scope: self\n    visible: shown\n    fields: {shown: {type: boolean, required: true}}\n"),
		},
		{
			Code:    "not-a-reference",
			Meaning: "A path goes on after a field that refers to nothing, or something is counted by a field that does not refer to the row.",
			Wrong:   entity("    scope: self\n    label: \"{name.first}\"\n    fields: {name: {type: string}}\n"),
			Right:   entity("    scope: self\n    label: \"{name}\"\n    fields: {name: {type: string}}\n"),
		},
		{
			Code:    "bad-braces",
			Meaning: "A label or a phrase has a brace that is not closed, or closed without being open.",
			Wrong:   entity("    scope: self\n    label: \"{name\"\n    fields: {name: {type: string}}\n"),
			Right:   entity("    scope: self\n    label: \"{name}\"\n    fields: {name: {type: string}}\n"),
		},
		{
			Code:    "any-reference",
			Meaning: "The argument or field refers to a row, and of which entity is not said and cannot be told from its name. Any row will be accepted. This is a warning.",
			Wrong:   arg("{name: account-id, type: ref}"),
			Right:   bank + account + "verbs:\n  - {verb: ask, roles: [teller], handler: true, args: [{name: account-id, type: ref}]}\n",
		},
		{
			Code:    "any-code",
			Meaning: "The argument or field is a code of no list that is declared. Any upper-case word will be accepted. This is a warning.",
			Wrong:   arg("{name: contact, type: code}"),
			Right:   "codes: [{name: contact, values: [CALL, EMAIL]}]\n" + arg("{name: contact, type: code, ref-type: contact}"),
		},
		{
			Code:    "contradiction",
			Meaning: "Two things that are said cannot both be so.",
			Wrong:   arg("{name: note, type: string, required: true, default: none}"),
			Right:   arg("{name: note, type: string, default: none}"),
		},
		{
			Code:    "nobody-may-use",
			Meaning: "The verb names no roles, so nobody may use it. This is a warning.",
			Wrong:   bank + "verbs:\n  - {verb: ask, handler: true}\n",
			Right:   bank + "verbs:\n  - {verb: ask, roles: [teller], handler: true}\n",
		},
		{
			Code:    "too-many-arguments",
			Meaning: "A verb takes at most 64 arguments.",
			Wrong:   numbered(arguments(maxParams + 1)),
			Right:   arg("{name: everything, type: object}"),
		},
		{
			Code:    "nothing-to-do",
			Meaning: "The verb has no effects, reads nothing, returns nothing and names nothing that carries it out.",
			Wrong:   verb("    description: Ask.\n"),
			Right:   verb("    handler: true\n"),
		},
		{
			Code:    "handler-needed",
			Meaning: "The verb promises something that the palette does not say how to do, so it needs a handler, a function in Go. `handler: true` says that this is meant. This is a warning.",
			Wrong:   verb("    effects: [{stores: what was answered so far}]\n"),
			Right:   verb("    effects: [{stores: what was answered so far}]\n    handler: true\n"),
		},
		{
			Code:    "two-ways",
			Meaning: "A verb is carried out in one way: by its effects, a read, a query, a script, a tool or a handler.",
			Wrong:   about("    reads: {entity: account, fields: {name: name}}\n    handler: true\n"),
			Right:   about("    reads: {entity: account, fields: {name: name}}\n"),
		},
		{
			Code:    "tool-unasked",
			Meaning: "A tool of another server acts outside of this system, where nothing can be taken back. Somebody has to decide who agrees first: `confirm` says it, also when it says never. A tool that changes nothing anywhere is `read-only: true`.",
			Wrong:   verb("    tool: {server: crm, name: create_ticket}\n"),
			Right:   verb("    tool: {server: crm, name: create_ticket}\n    confirm: always\n"),
		},
		{
			Code:    "tool-key",
			Meaning: "Keys of rows never leave this system, and another system cannot name a row of it by a key. Send fields of the row instead; take what comes back as text.",
			Wrong:   about("    tool: {server: crm, name: find, read-only: true}\n"),
			Right:   about("    tool: {server: crm, name: find, read-only: true, with: {name: account_id.name}}\n"),
		},
		{
			Code:    "tool-columns",
			Meaning: "`rows` says where the list stands in what a tool answers, and `columns` says what is in each of its items. The one needs the other.",
			Wrong:   verb("    tool: {server: crm, name: list, read-only: true, rows: tickets}\n"),
			Right:   verb("    tool: {server: crm, name: list, read-only: true, rows: tickets, columns: {number: string}}\n"),
		},
		{
			Code:    "tool-rows",
			Meaning: "A tool knows nothing of the rows that are kept here. The engine changes them once the tool has answered, and the palette has to say how.",
			Wrong:   about("    tool: {server: crm, name: rename, with: {to: new-name}}\n    confirm: always\n    effects: [{updates: account}]\n"),
			Right:   about("    tool: {server: crm, name: rename, with: {to: new-name}}\n    confirm: always\n    effects: [{updates: account, where: account-id, set: {name: new-name}}]\n"),
		},
		{
			Code:    "macro-circle",
			Meaning: "A script of calls leads back to itself, directly or through other scripts, and would never end.",
			Wrong:   verb("    script: bank.ask\n"),
			Right:   verb("    script: bank.answer\n") + "  - {verb: answer, roles: [teller], handler: true}\n",
		},
		{
			Code:    "no-effect",
			Meaning: "An effect does not say what it does: creates, updates, deletes, triggers, notifies, sets, stores, validates, attaches, returns, generates, if-true, if-false, or may- and one of them.",
			Wrong:   effect("when: \"true\""),
			Right:   effect("notifies: analyst", "when: \"true\""),
		},
		{
			Code:    "two-effects",
			Meaning: "One entry under effects says two things. Each effect has a dash of its own.",
			Wrong:   effect("notifies: analyst", "triggers: review"),
			Right:   about("    effects:\n      - notifies: analyst\n      - triggers: review\n"),
		},
		{
			Code:    "bad-operand",
			Meaning: "What stands after the effect is not what it needs.",
			Wrong:   effect("deletes: account.name", "where: account-id"),
			Right:   effect("deletes: account", "where: account-id"),
		},
		{
			Code:    "unknown-list",
			Meaning: "A read counts one of its lists, and has none of that name.",
			Wrong:   about("    reads: {entity: account, lists: {heirs: {of: account.after}}, fields: {n: count(heir)}}\n", "after: {type: ref, ref-type: account}"),
			Right:   about("    reads: {entity: account, lists: {heirs: {of: account.after}}, fields: {n: count(heirs)}}\n", "after: {type: ref, ref-type: account}"),
		},
		{
			Code:    "key-in-list",
			Meaning: "A list within a read tells text, numbers, dates and codes. Names of rows are minted for what a read returns itself, so that a key is never shown; in a list, say what people know a row by.",
			Wrong:   about("    reads: {entity: account, lists: {heirs: {of: account.after, fields: {who: account_id}}}, fields: {name: name}}\n", "after: {type: ref, ref-type: account}"),
			Right:   about("    reads: {entity: account, lists: {heirs: {of: account.after, fields: {who: name}}}, fields: {name: name}}\n", "after: {type: ref, ref-type: account}"),
		},
		{
			Code:    "no-progress",
			Meaning: "A read tells of progress, or of its stages, and the entity does not say what those are.",
			Wrong:   about("    reads: {entity: account, fields: {far: progress.percent}}\n", "after: {type: ref, ref-type: account}"),
			Right: strings.Replace(about("    reads: {entity: account, fields: {far: progress.percent}}\n", "after: {type: ref, ref-type: account}"),
				"    fields:\n", "    progress: {of: account.after, done: row.status == CLOSED}\n    fields:\n", 1),
		},
		{
			Code:    "prose-promise",
			Meaning: "The effect is a sentence, which only a handler can keep, and yet says which rows or fields.",
			Wrong:   effect("updates: the name of the account", "where: account-id", "set: {name: new-name}"),
			Right:   effect("updates: account", "where: account-id", "set: {name: new-name}"),
		},
		{
			Code:    "code-step",
			Meaning: "A code says to which others a field may change, and one of them is not of its list.",
			Wrong:   "domain: bank\ncodes:\n  - {name: step, values: [{code: OPEN, to: [CLOSD]}, CLOSED]}\n",
			Right:   "domain: bank\ncodes:\n  - {name: step, values: [{code: OPEN, to: [CLOSED]}, CLOSED]}\n",
		},
		{
			Code:    "schema-of",
			Meaning: "An object takes the schema of a code that stands in another argument. That is a code of a list of which every code has a schema, and the object has no other.",
			Wrong:   "domain: bank\nroles: [{name: teller}]\nschemas: {note: {type: object}}\ncodes:\n  - {name: kind, values: [{code: NOTE, schema: note}, OTHER]}\nverbs:\n  - verb: tell\n    roles: [teller]\n    args:\n      - {name: kind, type: code, ref-type: kind, required: true}\n      - {name: what, type: object, schema-of: kind}\n    effects: [{notifies: teller}]\n",
			Right:   "domain: bank\nroles: [{name: teller}]\nschemas: {note: {type: object}}\ncodes:\n  - {name: kind, values: [{code: NOTE, schema: note}, {code: OTHER, schema: note}]}\nverbs:\n  - verb: tell\n    roles: [teller]\n    args:\n      - {name: kind, type: code, ref-type: kind, required: true}\n      - {name: what, type: object, schema-of: kind}\n    effects: [{notifies: teller}]\n",
		},
		{
			Code:    "unheld-schema",
			Meaning: "A code picks the schema of an object, and the row beside it says which code is wanted, but nothing compares the two. This is a warning.",
			Wrong:   "domain: bank\nroles: [{name: teller}]\nschemas: {note: {type: object}}\ncodes:\n  - {name: kind, values: [{code: NOTE, schema: note}]}\nentities:\n  wish:\n    key: wish_id\n    scope: self\n    fields: {kind: {type: code, ref-type: kind, required: true}}\nverbs:\n  - verb: tell\n    roles: [teller]\n    args:\n      - {name: wish-id, type: ref, ref-type: wish, required: true}\n      - {name: kind, type: code, ref-type: kind, required: true}\n      - {name: what, type: object, schema-of: kind}\n    effects: [{notifies: teller}]\n",
			Right:   "domain: bank\nroles: [{name: teller}]\nschemas: {note: {type: object}}\ncodes:\n  - {name: kind, values: [{code: NOTE, schema: note}]}\nentities:\n  wish:\n    key: wish_id\n    scope: self\n    fields: {kind: {type: code, ref-type: kind, required: true}}\nverbs:\n  - verb: tell\n    roles: [teller]\n    args:\n      - {name: wish-id, type: ref, ref-type: wish, required: true}\n      - {name: kind, type: code, ref-type: kind, required: true}\n      - {name: what, type: object, schema-of: kind}\n    requires: [{that: wish_id.kind == kind, else: something else is wanted}]\n    effects: [{notifies: teller}]\n",
		},
		{
			Code:    "session-nothing",
			Meaning: "What the session is to keep under a name has no value.",
			Wrong:   effect("sets: session.asked ="),
			Right:   effect("sets: session.asked = new-name"),
		},
		{
			Code:    "session-type",
			Meaning: "What a session keeps under a name is of one type, whichever verb sets it; under the name active it is a row.",
			Wrong:   about("    effects:\n      - sets: session.asked = new-name\n      - sets: session.asked = true\n"),
			Right:   about("    effects:\n      - sets: session.asked = new-name\n      - sets: session.active = account-id\n"),
		},
		{
			Code:    "default-active",
			Meaning: "An argument that is left out stands for the row that somebody is at work on, and nobody is at work on a row of that kind: it is one of those that people are given access to, whose scope is self.",
			Wrong:   bank + "entities:\n  branch: {key: branch_id, scope: self}\n  desk: {key: desk_id, scope: branch, fields: {branch: {type: ref, ref-type: branch}}}\nverbs:\n  - {verb: look, roles: [teller], handler: true, args: [{name: desk-id, type: ref, ref-type: desk, default: active}]}\n",
			Right:   bank + "entities:\n  branch: {key: branch_id, scope: self}\n  desk: {key: desk_id, scope: branch, fields: {branch: {type: ref, ref-type: branch}}}\nverbs:\n  - {verb: look, roles: [teller], handler: true, args: [{name: branch-id, type: ref, ref-type: branch, default: active}]}\n",
		},
		{
			Code:    "moment-of-nothing",
			Meaning: "A trigger says when something is run, or when it is not or what is the same, and not what is run.",
			Wrong:   effect("triggers: later", "at: now + days(1)"),
			Right:   effect("triggers: later", "at: now + days(1)", "run: bank.change :account-id @account-id :new-name @new-name"),
		},
		{
			Code:    "again-without-key",
			Meaning: "A trigger says what becomes of a further piece of work while one waits, and not by which arguments the two are told to be the same.",
			Wrong:   effect("triggers: later", "run: bank.change :account-id @account-id :new-name @new-name", "again: refuse"),
			Right:   effect("triggers: later", "run: bank.change :account-id @account-id :new-name @new-name", "key: [account-id]", "again: refuse"),
		},
		{
			Code:    "not-one-call",
			Meaning: "The work of a trigger is one call of one verb. Several are a verb of their own, with a script.",
			Wrong:   effect("triggers: later", "run: \"bank.change :account-id @account-id :new-name @new-name bank.change :account-id @account-id :new-name @new-name\""),
			Right:   effect("triggers: later", "run: bank.change :account-id @account-id :new-name @new-name"),
		},
		{
			Code:    "work-undecided",
			Meaning: "A trigger that runs something has a name in one word and, if it is a may-trigger, a condition: the engine starts it, and has to know when.",
			Wrong:   effect("may-trigger: later", "run: bank.change :account-id @account-id :new-name @new-name"),
			Right:   effect("may-trigger: later", "when: \"true\"", "run: bank.change :account-id @account-id :new-name @new-name"),
		},
		{
			Code:    "work-with-secret",
			Meaning: "What a trigger runs is kept until its time. A sensitive value is not kept in that way: the work is given the row that holds it instead.",
			Wrong:   arg("{name: pin, type: string, sensitive: true}") + "    effects:\n      - triggers: later\n        when: pin != nil\n        run: bank.ask\n",
			Right:   arg("{name: pin, type: string, sensitive: true}") + "    effects:\n      - triggers: later\n        run: bank.ask\n",
		},
		{
			Code:    "key-changed",
			Meaning: "The key of a row is given to it when it is made, and stays.",
			Wrong:   effect("updates: account", "where: account-id", "set: {account_id: account-id}"),
			Right:   effect("updates: account", "where: account-id", "set: {name: new-name}"),
		},
		{
			Code:    "outside-promise",
			Meaning: "The effect promises to change one field and sets another.",
			Wrong:   effect("updates: account.status", "where: account-id", "set: {name: new-name}"),
			Right:   effect("updates: account.name", "where: account-id", "set: {name: new-name}"),
		},
		{
			Code:    "missing-field",
			Meaning: "A new row lacks a field that every row has and that has no default.",
			Wrong:   effect("creates: account", "set: {opened: today}"),
			Right:   effect("creates: account", "set: {name: new-name, opened: today}"),
		},
		{
			Code:    "missing-where",
			Meaning: "The effect changes rows and does not say which.",
			Wrong:   effect("updates: account", "set: {name: new-name}"),
			Right:   effect("updates: account", "where: account-id", "set: {name: new-name}"),
		},
		{
			Code:    "not-returned",
			Meaning: "The verb promises to give back a field that its read or query does not have.",
			Wrong:   about("    returns: {type: account, includes: [name, opened]}\n    reads: {entity: account, fields: {name: name}}\n"),
			Right:   about("    returns: {type: account, includes: [name]}\n    reads: {entity: account, fields: {name: name}}\n"),
		},
		{
			Code:    "type-mismatch",
			Meaning: "A value is of another type than what it is compared with, reckoned with, or put into.",
			Wrong:   effect("updates: account", "where: account-id", "set: {opened: new-name}"),
			Right:   effect("updates: account", "where: account-id", "set: {name: new-name}"),
		},
		{
			Code:    "may-be-absent",
			Meaning: "An argument that may be left out is used where a value is needed. Without it the call fails. This is a warning.",
			Wrong:   when("on > today"),
			Right:   when("on != nil and on > today"),
		},
		{
			Code:    "bad-expression",
			Meaning: "The text is not an expression, or breaks a rule of theirs: arguments have underscores, text has quotes, codes are in capitals, dates are date(\"2025-01-03\").",
			Wrong:   when("new-name == \"x\""),
			Right:   when("new_name == \"x\""),
		},
		{
			Code:    "unknown-function",
			Meaning: "Expressions have a few functions, and this is none of them.",
			Wrong:   when("length(new_name) > 5"),
			Right:   when("len(new_name) > 5"),
		},
		{
			Code:    "not-allowed",
			Meaning: "The expression does something that expressions are kept from: loops, variables, ranges, division, which is not exact. They stay short, quick and sure to end.",
			Wrong:   when("len(new_name) / 2 > 5"),
			Right:   when("len(new_name) > 10"),
		},
		{
			Code:    "too-complex",
			Meaning: "The expression is too long, or has too many parts.",
			Wrong:   when(strings.Repeat("1 + ", expr.MaxParts/2) + "1 > 2"),
			Right:   when("126 > 2"),
		},
		{
			Code:    "not-a-filter",
			Meaning: "A condition on rows is carried out by the store, which can compare fields with one another and with what is known beforehand, and nothing more.",
			Wrong:   about("    reads: {entity: account, where: row.balance * 2 > 100, fields: {name: name}}\n"),
			Right:   about("    reads: {entity: account, where: row.balance > 50, fields: {name: name}}\n"),
		},
	}
}
