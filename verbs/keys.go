package verbs

import "slices"

// The words of a palette. One table says which keys a mapping may have, what
// they hold and what they are for; the decoder refuses everything else by it,
// and the JSON Schema that editors use is printed from it.

// A shape is a mapping with known keys.
type shape struct {
	name string // "a verb", as messages call it
	doc  string
	keys []key
}

// A key is one key of a shape.
type key struct {
	name     string
	doc      string
	example  string // YAML flow syntax, which is JSON where it matters
	holds    form
	of       *shape // of maps and mappings
	required bool
	words    []string // of a word: the ones there are, for editors
}

// key finds a key by its name.
func (sh *shape) key(name string) *key {
	for i := range sh.keys {
		if sh.keys[i].name == name {
			return &sh.keys[i]
		}
	}
	return nil
}

// A form says which YAML a key may hold.
type form uint8

const (
	aText           form = iota // one scalar, taken by its text
	aBoolean                    // true or false
	anInteger                   // digits
	aNumber                     // digits with a point
	texts                       // a list of text
	aMap                        // a mapping of one shape
	mappings                    // a list of mappings of one shape
	namedMaps                   // a mapping from names of the author's choosing to mappings of one shape
	namedTexts                  // a mapping from names to text
	textOrMap                   // a word, or a mapping of one shape
	textByLanguage              // text, or a mapping from languages to text
	textOrMaps                  // a word, or a list of mappings of one shape
	textsOrMaps                 // a list whose items are words or mappings of one shape
	textsByLanguage             // a list of text, or a mapping from languages to such lists
	uniques                     // a list of lists of text
	anything                    // whatever YAML says: a JSON Schema, a default
	namedAny                    // a mapping from names to whatever YAML says
)

// The keys of a palette file.
const (
	palDomain = iota
	palDescription
	palRoles
	palCodes
	palSchemas
	palEntities
	palVerbs
	palConversation
	palSays
	palKeys
)

var paletteShape = &shape{
	name: "a palette",
	doc:  "A verb palette for Verbatim: what may be said in one domain, about which data, and by whom.",
	keys: []key{
		palDomain:       {name: "domain", doc: "The first part of every verb's name in this file. It may be dotted.", example: `"client"`, required: true},
		palDescription:  {name: "description", doc: "What the domain is about, in a sentence or two.", example: `"What a client may say about its own onboarding."`},
		palRoles:        {name: "roles", doc: "Roles, for all palettes of the directory.", example: `[{"name": "client", "description": "Somebody at the client."}]`, holds: mappings, of: roleShape},
		palCodes:        {name: "codes", doc: "Closed lists of codes, for all palettes of the directory.", example: `[{"name": "request-status", "values": ["PENDING", "FULFILLED"]}]`, holds: mappings, of: codesShape},
		palSchemas:      {name: "schemas", doc: "JSON Schemas by name, for arguments and fields of type object.", example: `{"address": {"type": "object", "properties": {"city": {"type": "string"}}}}`, holds: namedAny},
		palEntities:     {name: "entities", doc: "Kinds of rows: their tables, fields and owners.", example: `{"cbu": {"key": "cbu_id", "scope": "self", "fields": {"name": {"type": "string"}}}}`, holds: namedMaps, of: entityShape},
		palVerbs:        {name: "verbs", doc: "What may be said.", example: `[{"verb": "add-note", "description": "Leave a note."}]`, holds: mappings, of: verbShape},
		palConversation: {name: "conversation", doc: "How a model is to talk about this domain, and what it is told before it does.", example: `{"context": ["client.get-status"], "conduct": ["Say why before you ask for anything."]}`, holds: aMap, of: conversationShape},
		palSays:         {name: "says", doc: "Texts of this palette in other languages, for people: what codes are called and mean, why something is asked first, what a requirement tells, what questions are called. The text itself is the key.", example: `{"PENDING": {"de": "offen"}, "the order has not been paid": {"de": "die Bestellung ist nicht bezahlt"}}`, holds: namedAny},
	},
}

// The keys of a conversation.
const (
	convContext = iota
	convConduct
	convPlanFirst
	convAnswers
	convPerson
	convKeys
)

var conversationShape = &shape{
	name: "a conversation",
	doc:  "How a model is to talk about this domain, and what it is told before it does.",
	keys: []key{
		convContext:   {name: "context", doc: "Verbs that only answer, and that can be called without arguments: what they say now is told to the model at the start of every turn, where the person may use them.", example: `["client.get-status", "client.get-outstanding"]`, holds: texts},
		convConduct:   {name: "conduct", doc: "Rules of conduct, a sentence or a few each, that the model is given word for word.", example: `["Say why before you ask for anything.", "You cannot waive a requirement."]`, holds: texts},
		convAnswers:   {name: "answers", doc: "What becomes of a message where no model reads it, while the person is being asked something.", example: `{"while": "collecting", "verb": "client.answer", "argument": "value"}`, holds: aMap, of: answersShape},
		convPerson:    {name: "person", doc: "The verb by which somebody asks for a person: whoever asks for what no verb does is told of it, where they may use it.", example: `"client.escalate"`, holds: aText},
		convPlanFirst: {name: "plan-first", doc: "true when a model has to write all calls of a turn before it is shown anything that came out of a document or a tool.", example: `true`, holds: aBoolean},
	},
}

// The keys of what becomes of an answer.
const (
	ansWhile = iota
	ansVerb
	ansArgument
	ansYes
	ansNo
	ansKeys
)

var answersShape = &shape{
	name: "what becomes of an answer",
	doc:  "A message is taken for an answer while something in the session is true, unless it plainly says something else.",
	keys: []key{
		ansWhile:    {name: "while", doc: "What of the session is true meanwhile: something that an effect sets.", example: `"collecting"`, required: true},
		ansVerb:     {name: "verb", doc: "The verb that takes an answer.", example: `"client.answer"`, required: true},
		ansArgument: {name: "argument", doc: "Which of its arguments is what was said, word for word.", example: `"value"`, required: true},
		ansYes:      {name: "yes", doc: "The call that a plain yes is, where nothing else asks for one.", example: `"client.send :confirmed true"`},
		ansNo:       {name: "no", doc: "The call that a plain no is.", example: `"client.send :confirmed false"`},
	},
}

// The keys of a role.
const (
	roleName = iota
	roleDescription
	roleSees
	roleKeeps
	roleKeys
)

var roleShape = &shape{
	name: "a role",
	doc:  "What a principal is allowed to be.",
	keys: []key{
		roleName:        {name: "name", doc: "The role's name.", example: `"analyst"`, required: true},
		roleDescription: {name: "description", doc: "Who has it.", example: `"Somebody at the bank who reviews what clients send."`},
		roleSees:        {name: "sees", doc: "Which rows it opens: granted, only those that the principal was given, or all.", example: `"all"`, words: []string{"granted", "all"}},
		roleKeeps:       {name: "keeps", doc: "What it looks after: the journal, from which it may erase what is personal.", example: `"journal"`, words: []string{"journal"}},
	},
}

// The keys of a code list.
const (
	codesName = iota
	codesDescription
	codesValues
	codesKeys
)

var codesShape = &shape{
	name: "a code list",
	doc:  "A closed list of upper-case words.",
	keys: []key{
		codesName:        {name: "name", doc: "The list's name, for ref-type.", example: `"request-status"`, required: true},
		codesDescription: {name: "description", doc: "What the codes say.", example: `"How far a request has come."`},
		codesValues:      {name: "values", doc: "The codes, each a word or a word with its description.", example: `["PENDING", {"code": "FULFILLED", "description": "settled"}]`, holds: textsOrMaps, of: codeShape, required: true},
	},
}

// The keys of a code.
const (
	codeName = iota
	codeDescription
	codeTo
	codeElse
	codeSchema
	codeKeys
)

var codeShape = &shape{
	name: "a code",
	doc:  "One member of a code list.",
	keys: []key{
		codeName:        {name: "code", doc: "The code, in capitals.", example: `"FULFILLED"`, required: true},
		codeDescription: {name: "description", doc: "What it means.", example: `"settled"`},
		codeTo:          {name: "to", doc: "The codes that a field which holds this one may change to. Where a code of a list says so, no field of that list changes otherwise.", example: `["FULFILLED"]`, holds: texts},
		codeElse:        {name: "else", doc: "What somebody is told who would have a field change from this code to one that may not follow.", example: `"this request is settled"`},
		codeSchema:      {name: "schema", doc: "The JSON Schema of what an argument with schema-of takes when another argument is this code, by its name under schemas.", example: `"address"`},
	},
}

// The keys of an entity.
const (
	entDescription = iota
	entTable
	entKey
	entManaged
	entScope
	entVisible
	entLabel
	entUnique
	entTwice
	entFields
	entProgress
	entKeys
)

var entityShape = &shape{
	name: "an entity",
	doc:  "A kind of row: its table, its fields and the way to whoever may see it.",
	keys: []key{
		entDescription: {name: "description", doc: "What one row is.", example: `"Something the bank still needs, and why."`},
		entTable:       {name: "table", doc: "Its table, with the schema if there is one. The entity's name with underscores when left out.", example: `"kyc.outstanding_requests"`},
		entKey:         {name: "key", doc: "The key field. It is a uuid unless it is declared under fields.", example: `"request_id"`, required: true},
		entManaged:     {name: "managed", doc: "Whether Verbatim creates and extends the table. A table that is not managed exists already and is never altered.", example: `true`, holds: aBoolean},
		entScope:       {name: "scope", doc: "Whose row it is: the reference fields that lead to the owner, `self` for a row that owns itself, `everyone` for reference data, or {principal: FIELD} for rows that name a principal.", example: `"workstream.case.cbu"`, holds: textOrMap, of: scopeShape, required: true},
		entVisible:     {name: "visible", doc: "The boolean field that must be true for a row to be there for anybody whose role does not see all. Otherwise it, and what belongs to it, does not exist for them.", example: `"client_visible"`},
		entLabel:       {name: "label", doc: "What people read for a row; session names are made from it.", example: `"{workstream.entity.name} {request_subtype}"`},
		entUnique:      {name: "unique", doc: "Sets of fields that no two rows of one owner share.", example: `[["workstream", "request_subtype"]]`, holds: uniques},
		entTwice:       {name: "unique-else", doc: "What somebody is told who would have two rows share them.", example: `"this was sent already"`},
		entFields:      {name: "fields", doc: "The fields by name.", example: `{"status": {"type": "code", "ref-type": "request-status"}}`, holds: namedMaps, of: fieldShape},
		entProgress:    {name: "progress", doc: "How far a row is: which rows are its steps, and when one is done. Reads tell it as progress.percent and so on.", example: `{"of": "case-step.case", "done": "row.done"}`, holds: aMap, of: progressShape},
	},
}

// The keys of progress.
const (
	progressOf = iota
	progressStage
	progressWeight
	progressDone
	progressKeys
)

var progressShape = &shape{
	name: "progress",
	doc:  "How far a row is, by its steps, which are rows of another entity.",
	keys: []key{
		progressOf:     {name: "of", doc: "The steps: ENTITY.PATH, where the path of references leads from a step to the row that it is a step of.", example: `"case-step.case"`, required: true},
		progressStage:  {name: "stage", doc: "The step's field that says to which stage it belongs. The order of its code list is the order of the stages.", example: `"stage"`},
		progressWeight: {name: "weight", doc: "The step's field that says how much it counts in the percentage. Every step counts the same when left out.", example: `"weight"`},
		progressDone:   {name: "done", doc: "When a step counts as done, over `row`, the step.", example: `"row.done or row.request.status == FULFILLED"`, required: true},
	},
}

// The keys of a scope that is a mapping.
const (
	scopePrincipal = iota
	scopeKeys
)

var scopeShape = &shape{
	name: "a scope",
	doc:  "Rows that name a principal.",
	keys: []key{
		scopePrincipal: {name: "principal", doc: "The field that holds the principal's name, along references if need be.", example: `"owner_name"`, required: true},
	},
}

// The keys that say what a value may be. Fields, arguments and items of lists
// share them, so they come first in each.
const (
	typType = iota
	typRefType
	typOf
	typSchema
	typMinLength
	typMaxLength
	typPattern
	typMin
	typMax
	typScale
	typCurrencies
	typKeys
)

var typeKeys = []key{
	typType:       {name: "type", doc: "The type.", example: `"string"`, required: true, words: typeWords},
	typRefType:    {name: "ref-type", doc: "Of a ref, the entity; of a code, the code list.", example: `"outstanding-request"`},
	typOf:         {name: "of", doc: "Of a list, what its items are: a type, or a mapping that says more.", example: `{"type": "code", "ref-type": "document-type"}`, holds: textOrMap},
	typSchema:     {name: "schema", doc: "Of an object, the name of a schema, or a JSON Schema itself.", example: `"address"`, holds: anything},
	typMinLength:  {name: "min-length", doc: "Of a string, the least number of characters; of a list, of items.", example: `1`, holds: anInteger},
	typMaxLength:  {name: "max-length", doc: "Of a string, the greatest number of characters; of a list, of items.", example: `2000`, holds: anInteger},
	typPattern:    {name: "pattern", doc: "Of a string, a regular expression (RE2) that all of it must match.", example: `"[A-Z]{2}[0-9]+"`},
	typMin:        {name: "min", doc: "The least integer, decimal or date. Of an argument that is a date also today, in the time zone of the person, or so long before or after it: today + 30 days, today - 18 years.", example: `0`, holds: aNumber},
	typMax:        {name: "max", doc: "The greatest integer, decimal or date. Of an argument that is a date also today, or so long before or after it.", example: `1000000.00`, holds: aNumber},
	typScale:      {name: "scale", doc: "Of a decimal, the digits after its point.", example: `2`, holds: anInteger},
	typCurrencies: {name: "currencies", doc: "Of money, the currencies it may be in.", example: `["EUR", "USD"]`, holds: texts},
}

var itemShape = &shape{name: "the type of a list's items", doc: "What the items of a list are.", keys: typeKeys}

// The keys of a field, after those of its type.
const (
	fieldColumn = typKeys + iota
	fieldRequired
	fieldDefault
	fieldDescription
	fieldSensitive
	fieldPersonal
	fieldWrittenBy
	fieldKeys
)

var fieldShape = &shape{
	name: "a field",
	doc:  "One column of an entity.",
	keys: append(typeKeys[:typKeys:typKeys], []key{
		{name: "column", doc: "Its column. The field's name with underscores when left out.", example: `"workstream_id"`},
		{name: "required", doc: "Whether every row has it.", example: `true`, holds: aBoolean},
		{name: "default", doc: "What a new row holds when nothing else is said.", example: `"PENDING"`, holds: anything},
		{name: "description", doc: "What it says.", example: `"what the client told us"`},
		{name: "sensitive", doc: "Whether it is kept out of logs, messages and prompts.", example: `true`, holds: aBoolean},
		{name: "personal", doc: "Whether it says something of a person, so that it must be possible to erase it from the journal.", example: `true`, holds: aBoolean},
		{name: "written-by", doc: "The roles whose own words it holds. To everybody else they are a stranger's, as those of a document are.", example: `["client"]`, holds: texts},
	}...),
}

// The keys of an argument, after those of its type.
const (
	argName = typKeys + iota
	argRequired
	argDefault
	argDescription
	argSensitive
	argPersonal
	argFrom
	argOtherwise
	argAsks
	argExamples
	argSchemaOf
	argFollowUps
	argUpload
	argKeys
)

var argShape = &shape{
	name: "an argument",
	doc:  "One argument of a verb.",
	keys: append(typeKeys[:typKeys:typKeys], []key{
		{name: "name", doc: "Its name, as calls write it after the colon. Expressions write it with underscores.", example: `"expected-date"`, required: true},
		{name: "required", doc: "Whether a call must give it.", example: `true`, holds: aBoolean},
		{name: "default", doc: "What it is when a call leaves it out. Of a ref to an entity whose scope is self it is `active`: the row that whoever asks is at work on.", example: `false`, holds: anything},
		{name: "description", doc: "What to give, in words for whoever writes the call.", example: `"when it should be there"`},
		{name: "sensitive", doc: "Whether it is kept out of logs, messages and prompts.", example: `true`, holds: aBoolean},
		{name: "personal", doc: "Whether it says something of a person, so that it must be possible to erase it from the journal.", example: `true`, holds: aBoolean},
		{name: "from", doc: "Where its value may come from. Anywhere, when left out.", example: `["person", "record"]`, holds: texts, words: originWords},
		{name: "otherwise", doc: "What happens to a value that comes from elsewhere: refuse, which is the default; ask; or a rule for asking.", example: `{"by": "compliance"}`, holds: textOrMap, of: otherwiseShape},
		{name: "asks", doc: "The question for it, where somebody left it out; or one for each language.", example: `"When should it be there?"`, holds: textByLanguage},
		{name: "examples", doc: "Values that would do.", example: `["2025-01-03"]`, holds: texts},
		{name: "schema-of", doc: "Of an object: the argument, a code, whose schema it must satisfy.", example: `"info-type"`},
		{name: "follow-ups", doc: "Of an object with schema-of: that it is taken without what its schema requires under a condition, in `then` or `else`. `missing(ARGUMENT)` lists that, for it to be asked.", example: `true`, holds: aBoolean},
		{name: "upload", doc: "Of a string, that it refers to a file which whoever asks has sent, and which files it takes.", example: `{"types": ["application/pdf", "image/*"], "max-size": "20 MB"}`, holds: aMap, of: uploadShape},
	}...),
}

// The keys of an upload.
const (
	uploadTypes = iota
	uploadMaxSize
	uploadKeys
)

var uploadShape = &shape{
	name: "an upload",
	doc:  "Which files an argument takes. A file is used only by whoever sent it, and only once it was looked at for harm.",
	keys: []key{
		uploadTypes:   {name: "types", doc: "The media types that are taken, told by what is in the file; image/* is every image.", example: `["application/pdf", "image/jpeg"]`, holds: texts, required: true},
		uploadMaxSize: {name: "max-size", doc: "How large a file may be: a number and B, kB, MB, GB, or KiB, MiB, GiB; at most 5 GiB.", example: `"20 MB"`, required: true},
	},
}

// The keys of a verb.
const (
	verbName = iota
	verbDescription
	verbRoles
	verbPhrases
	verbTells
	verbDeprecated
	verbArgs
	verbReturns
	verbRequires
	verbConfirm
	verbEffects
	verbReads
	verbQuery
	verbScript
	verbTool
	verbHandler
	verbInternal
	verbKeys
)

var verbShape = &shape{
	name: "a verb",
	doc:  "One thing that may be said: what it takes, who may use it, what it does.",
	keys: []key{
		verbName:        {name: "verb", doc: "Its name within the domain.", example: `"add-note"`, required: true},
		verbDescription: {name: "description", doc: "What it does, in a sentence.", example: `"Leave a note on a request."`},
		verbRoles:       {name: "roles", doc: "Who may use it. Nobody, when left out.", example: `["client"]`, holds: texts},
		verbPhrases:     {name: "phrases", doc: "What people say when they mean it, with arguments in braces. A mapping gives them by language, en, de, fr or es; a list is English.", example: `["tell them {note}"]`, holds: textsByLanguage},
		verbTells:       {name: "tells", doc: "How a person is told what came of it, where no model words it.", example: `{"each": "{name}[, due {due_date}].", "none": "Nothing is open."}`, holds: aMap, of: tellsShape},
		verbDeprecated:  {name: "deprecated", doc: "Says that it should no longer be used, and what to use instead.", example: `{"reason": "split in two", "replaced-by": "client.add-note"}`, holds: aMap, of: deprecatedShape},
		verbArgs:        {name: "args", doc: "Its arguments.", example: `[{"name": "note", "type": "string", "required": true}]`, holds: mappings, of: argShape},
		verbReturns:     {name: "returns", doc: "What it gives back.", example: `{"type": "request-detail", "includes": ["status"]}`, holds: aMap, of: returnsShape},
		verbRequires:    {name: "requires", doc: "What must hold before anything happens. Every rule must.", example: `[{"that": "order_id.status == PAID", "else": "the order has not been paid"}]`, holds: mappings, of: requireShape},
		verbConfirm:     {name: "confirm", doc: "When somebody must agree first: never, always, or rules, which add up.", example: `[{"when": "amount > 1000", "by": "compliance"}]`, holds: textOrMaps, of: confirmShape},
		verbEffects:     {name: "effects", doc: "What it promises to do. Nothing else can happen.", example: `[{"creates": "reminder", "set": {"request": "request-id"}}]`, holds: mappings, of: effectShape},
		verbReads:       {name: "reads", doc: "Carries it out as a read of one entity.", example: `{"entity": "outstanding-request", "fields": {"status": "status"}}`, holds: aMap, of: readsShape},
		verbQuery:       {name: "query", doc: "Carries it out as a query in SQL, inside the caller's scope.", example: `{"sql": "SELECT name FROM entities", "columns": {"name": "string"}}`, holds: aMap, of: queryShape},
		verbScript:      {name: "script", doc: "Carries it out as calls of other verbs, with its arguments as @names.", example: `"client.add-note :request-id @request-id :note @note"`},
		verbTool:        {name: "tool", doc: "Carries it out by a tool of an MCP server.", example: `{"server": "crm", "name": "create_ticket"}`, holds: aMap, of: toolShape},
		verbHandler:     {name: "handler", doc: "Says that a Go function carries it out.", example: `true`, holds: aBoolean},
		verbInternal:    {name: "internal", doc: "Keeps it for work that triggers start: nobody can call it otherwise, and no model is told of it.", example: `true`, holds: aBoolean},
	},
}

// The keys of what a person is told.
const (
	tellFirst = iota
	tellEach
	tellNone
	tellDone
	tellAsks
	tellKeys
)

var tellsShape = &shape{
	name: "what a person is told",
	doc:  "Sentences, or for each language a sentence: {en: …, de: …}. {NAME} is a value that it returns or an argument; what stands in [brackets] is left out where a value in it is empty, [NAME? text] where that one is empty, false or 0; <LIST* text> is said of each item of a list.",
	keys: []key{
		tellFirst: {name: "first", doc: "What is said before the rows that were found; {count} is how many.", example: `"[count? There are {count} left:]"`, holds: textByLanguage},
		tellEach:  {name: "each", doc: "What is said of each row.", example: `"{name}[, due {due_date}]. {reason}"`, holds: textByLanguage},
		tellNone:  {name: "none", doc: "What is said where nothing was found.", example: `"Nothing is open."`, holds: textByLanguage},
		tellDone:  {name: "done", doc: "What is said when it was done.", example: `"I have noted that on {request-id}."`, holds: textByLanguage},
		tellAsks:  {name: "asks", doc: "How somebody is asked before it is done, where they are asked: a sentence that says every argument.", example: `"May I note for {request-id}: {note}?"`, holds: textByLanguage},
	},
}

// The keys of a deprecation.
const (
	depReason = iota
	depReplacedBy
	depArgs
	depKeys
)

var deprecatedShape = &shape{
	name: "a deprecation",
	doc:  "Why a verb should no longer be used, and what to use instead.",
	keys: []key{
		depReason:     {name: "reason", doc: "Why.", example: `"split in two"`},
		depReplacedBy: {name: "replaced-by", doc: "The full name of the verb to use instead.", example: `"client.add-note"`},
		depArgs:       {name: "args", doc: "Arguments that have another name there: old to new.", example: `{"text": "note"}`, holds: namedTexts},
	},
}

// The keys of what a verb returns.
const (
	retType = iota
	retIncludes
	retShows
	retKeys
)

var returnsShape = &shape{
	name: "a result",
	doc:  "What a verb gives back.",
	keys: []key{
		retType:     {name: "type", doc: "What the result is called.", example: `"request-detail"`, required: true},
		retIncludes: {name: "includes", doc: "The fields it promises.", example: `["status", "due_date"]`, holds: texts},
		retShows:    {name: "shows", doc: "Those of them that the person who asks is told in a conversation, also where what they said was sensitive: their own answers, to be checked. No model, journal or log has them.", example: `["answer"]`, holds: texts},
	},
}

// The keys of a requirement.
const (
	reqThat = iota
	reqNone
	reqWhere
	reqElse
	reqNil
	reqKeys
)

var requireShape = &shape{
	name: "a requirement",
	doc:  "One thing that must hold. Where it does not, the call is refused and nothing happens.",
	keys: []key{
		reqThat:  {name: "that", doc: "The condition, over arguments and fields of the rows that they name.", example: `"order_id.status == PAID"`},
		reqNone:  {name: "none", doc: "Instead of a condition: the entity of which no row may be there for which `where` holds.", example: `"shipment"`},
		reqWhere: {name: "where", doc: "Of none: which rows, over `row`. One part of it, joined by `and`, says whose they are, by a reference argument: row.order == order_id.", example: `"row.order == order_id and row.lost_at == nil"`},
		reqElse:  {name: "else", doc: "What whoever asked is told when it does not hold.", example: `"the order has not been paid"`, required: true},
		reqNil:   {name: "nil", doc: "Of that: says that it is meant to hold where a field which it looks at is nil.", example: `"passes"`, words: []string{"passes"}},
	},
}

// The keys of a confirmation rule.
const (
	confWhen = iota
	confBy
	confExpires
	confReason
	confKeys
)

var confirmShape = &shape{
	name: "a confirmation rule",
	doc:  "One reason to ask first. Rules add up; none takes another away.",
	keys: []key{
		confWhen:    {name: "when", doc: "The condition; always, when left out.", example: `"new_date > request_id.due_date + days(14)"`},
		confBy:      {name: "by", doc: "The role of somebody else who must agree; the person asking, when left out.", example: `"compliance"`},
		confExpires: {name: "expires", doc: "How long the question stands: hours, minutes or days.", example: `"24h"`},
		confReason:  {name: "reason", doc: "Why it is asked, for whoever is asked.", example: `"it sends a message that cannot be recalled"`},
	},
}

var otherwiseShape = &shape{
	name: "a rule for other origins",
	doc:  "Who must agree to a value that does not come from where it should.",
	keys: []key{
		confBy - 1:      {name: "by", doc: "The role of somebody else who must agree; the person asking, when left out.", example: `"compliance"`},
		confExpires - 1: {name: "expires", doc: "How long the question stands: hours, minutes or days.", example: `"24h"`},
		confReason - 1:  {name: "reason", doc: "What else whoever is asked should know.", example: `"money cannot be called back"`},
	},
}

// The keys of an effect, after its kinds: effKinds[k] is kind k, and
// effMayKinds[k] its may- form.
const (
	effWhere = 2*effectKinds - 3 + iota
	effWhen
	effSet
	effWith
	effAt
	effRun
	effUnless
	effKey
	effAgain
	effKeys
)

// effectKinds counts the kinds; validates, if-true and if-false have no may-
// form.
const effectKinds = 13

var effectWords = []struct {
	name, doc, example string
	kind               EffectKind
	may                bool
}{
	{"creates", "Creates a row of this entity.", `"reminder"`, Creates, false},
	{"updates", "Changes rows of this entity, or only this field of them.", `"outstanding-request.client_notes"`, Updates, false},
	{"deletes", "Deletes rows of this entity.", `"reminder"`, Deletes, false},
	{"triggers", "Starts this work, through the outbox.", `"internal-review-workflow"`, Triggers, false},
	{"notifies", "Sends a message to somebody, through the outbox.", `"assigned-analyst"`, Notifies, false},
	{"sets", "Sets something in the session.", `"session.collection_mode = true"`, Sets, false},
	{"stores", "Keeps something.", `"partial collection progress"`, Stores, false},
	{"validates", "Checks something.", `"value against field schema"`, Validates, false},
	{"attaches", "Attaches something.", `"full-conversation-context"`, Attaches, false},
	{"returns", "Gives something back.", `"next-question OR complete"`, ReturnsEffect, false},
	{"generates", "Writes something.", `"provide-info script"`, Generates, false},
	{"if-true", "What happens when the confirmed argument is true.", `"submits"`, IfTrue, false},
	{"if-false", "What happens when it is false.", `"returns to editing"`, IfFalse, false},
	{"may-create", "May create a row of this entity.", `"reminder"`, Creates, true},
	{"may-update", "May change rows of this entity, or only this field of them.", `"outstanding-request.status"`, Updates, true},
	{"may-delete", "May delete rows of this entity.", `"reminder"`, Deletes, true},
	{"may-trigger", "May start this work.", `"follow-up-questions"`, Triggers, true},
	{"may-notify", "May send a message to somebody.", `"assigned-analyst"`, Notifies, true},
	{"may-set", "May set something in the session.", `"session.mode = done"`, Sets, true},
	{"may-store", "May keep something.", `"partial progress"`, Stores, true},
	{"may-attach", "May attach something.", `"transcript"`, Attaches, true},
	{"may-return", "May give something back.", `"warning"`, ReturnsEffect, true},
	{"may-generate", "May write something.", `"summary"`, Generates, true},
}

var effectShape = &shape{
	name: "an effect",
	doc:  "One promise. Exactly one key says what it does.",
	keys: effectShapeKeys(),
}

func effectShapeKeys() []key {
	keys := make([]key, 0, effKeys)
	for _, w := range effectWords {
		keys = append(keys, key{name: w.name, doc: w.doc, example: w.example})
	}
	return append(keys,
		key{name: "where", doc: "Which rows: a reference argument, or an expression over `row`.", example: `"request-id"`},
		key{name: "when", doc: "The condition; always, when left out.", example: `"expected_date != nil"`},
		key{name: "set", doc: "Fields and what they become: an argument or an expression.", example: `{"client_notes": "note"}`, holds: namedTexts},
		key{name: "with", doc: "Of a message or of work, what goes along: an argument or an expression.", example: `{"request": "request-id"}`, holds: namedTexts},
		key{name: "at", doc: "Of work that is run here, when it begins: a date, which is the start of that day, or an instant; at once, when left out.", example: `"expected_date + days(1)"`},
		key{name: "run", doc: "Of work that is run here, the one call that it is; @names are the arguments of this verb.", example: `"client.remind :request-id @request-id"`},
		key{name: "unless", doc: "Of work that is run here, a condition that is asked when its time has come: where it holds, the work is not done.", example: `"request_id.status == FULFILLED"`},
		key{name: "key", doc: "Of work that is run here, the arguments by which one piece of it is told from another.", example: `["request-id"]`, holds: texts},
		key{name: "again", doc: "Of work with a key, what becomes of a further piece while one waits under the same key.", example: `"replace"`, words: againWords},
	)
}

// The keys of a declarative read.
const (
	readEntity = iota
	readWhere
	readOrder
	readOne
	readLimit
	readFields
	readLists
	readKeys
)

var readsShape = &shape{
	name: "a read",
	doc:  "A read of one entity, within the caller's scope.",
	keys: []key{
		readEntity: {name: "entity", doc: "What to read.", example: `"outstanding-request"`, required: true},
		readWhere:  {name: "where", doc: "An expression over `row`.", example: `"row.client_visible and row.status != FULFILLED"`},
		readOrder:  {name: "order", doc: "Fields to sort by, each with `desc` after it to sort downwards.", example: `["due_date", "created_at desc"]`, holds: texts},
		readOne:    {name: "one", doc: "The reference argument that names the single row to read.", example: `"request-id"`},
		readLimit:  {name: "limit", doc: "The most rows there may be; more are refused, never cut off.", example: `200`, holds: anInteger},
		readFields: {name: "fields", doc: "Returned names and where each comes from: a field, a path along references, count(ENTITY.FIELD), count(LIST), describe(FIELD) for the palette's words for codes, progress.PART, or an expression over `row`.", example: `{"entity_name": "workstream.entity.name", "submissions": "count(document-submission.request)", "late": "row.due_date < today"}`, holds: namedTexts, required: true},
		readLists:  {name: "lists", doc: "Rows that belong to the row read, by name. A list with fields is returned; any can be counted.", example: `{"missing": {"of": "request-part.request", "where": "not row.received", "fields": {"name": "name"}}}`, holds: namedMaps, of: listShape},
	},
}

// The keys of a list within a read.
const (
	listOf = iota
	listWhere
	listOrder
	listFields
	listKeys
)

var listShape = &shape{
	name: "a list",
	doc:  "Rows of another entity that belong to the row read.",
	keys: []key{
		listOf:     {name: "of", doc: "Which rows: ENTITY.PATH, where the path of references leads from them to the row read.", example: `"outstanding-request.workstream.case"`, required: true},
		listWhere:  {name: "where", doc: "An expression over `row`, one of them.", example: `"row.client_visible"`},
		listOrder:  {name: "order", doc: "Fields to sort by, each with `desc` after it to sort downwards.", example: `["due_date"]`, holds: texts},
		listFields: {name: "fields", doc: "What is told of each, as in a read.", example: `{"who": "workstream.entity.name", "what": "request_subtype"}`, holds: namedTexts},
	},
}

// progressWords are the parts of progress by ProgressPart.
var progressWords = []string{"percent", "done", "total", "left", "stages", "stage"}

// The keys of a query.
const (
	querySQL = iota
	queryColumns
	queryOne
	queryKeys
)

var queryShape = &shape{
	name: "a query",
	doc:  "A read in the author's own SQL.",
	keys: []key{
		querySQL:     {name: "sql", doc: "One SELECT. :name is an argument, with underscores.", example: `"SELECT name FROM entities WHERE entity_id = :entity_id"`, required: true},
		queryColumns: {name: "columns", doc: "The columns and their types, in order. `ref ENTITY` is shown as a session name, `sensitive TYPE` is kept out of logs and messages.", example: `{"name": "string", "owner": "ref cbu"}`, holds: namedTexts, required: true},
		queryOne:     {name: "one", doc: "Whether it gives exactly one row.", example: `true`, holds: aBoolean},
	},
}

// The keys of a tool.
const (
	toolServer = iota
	toolName
	toolWith
	toolReadOnly
	toolIdempotent
	toolRows
	toolColumns
	toolKeys
)

var toolShape = &shape{
	name: "a tool",
	doc:  "A tool of an MCP server.",
	keys: []key{
		toolServer:     {name: "server", doc: "The server, as the configuration calls it.", example: `"crm"`, required: true},
		toolName:       {name: "name", doc: "The tool's name there.", example: `"create_ticket"`, required: true},
		toolWith:       {name: "with", doc: "What is sent: the tool's names, and an expression for each. Every argument under its own name, when left out.", example: `{"title": "request_id.subtype", "body": "text"}`, holds: namedTexts},
		toolReadOnly:   {name: "read-only", doc: "Whether it changes nothing anywhere, so that a preview may call it.", example: `true`, holds: aBoolean},
		toolIdempotent: {name: "idempotent", doc: "Whether the server does it once however often it is asked under one idempotency key.", example: `true`, holds: aBoolean},
		toolRows:       {name: "rows", doc: "Where the list stands in its answer, when it answers with several.", example: `"tickets"`},
		toolColumns:    {name: "columns", doc: "What it answers with, and the types.", example: `{"number": "string", "opened": "datetime"}`, holds: namedTexts},
	},
}

// typeWords are the types by TypeName.
var typeWords = []string{
	AnyType: "any", StringType: "string", IntegerType: "integer", DecimalType: "decimal",
	BooleanType: "boolean", DateType: "date", DateTimeType: "datetime", DurationType: "duration",
	UUIDType: "uuid", CodeType: "code", RefType: "ref", EmailType: "email", PhoneType: "phone",
	MoneyType: "money", ObjectType: "object", ListType: "list",
}

// sortedTypes are the types as they are offered.
var sortedTypes = slices.Sorted(slices.Values(typeWords))

// againWords are what becomes of work again, by Again.
var againWords = []string{Replace: "replace", Refuse: "refuse", Keep: "keep"}

// originWords are the origins by bit.
var originWords = []string{"script", "person", "record", "model", "tool", "document"}
