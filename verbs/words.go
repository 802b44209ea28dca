package verbs

import "strings"

// An EffectWord is a key that says what an effect does.
type EffectWord struct {
	Name string
	Kind EffectKind
	May  bool
}

// EffectWords are those keys.
var EffectWords = []EffectWord{
	{"creates", Creates, false},
	{"updates", Updates, false},
	{"upserts", Creates, false}, // and Updates
	{"deletes", Deletes, false},
	{"triggers", Triggers, false},
	{"notifies", Notifies, false},
	{"sets", Sets, false},
	{"stores", Stores, false},
	{"validates", Validates, false},
	{"attaches", Attaches, false},
	{"returns", ReturnsEffect, false},
	{"generates", Generates, false},
	{"if-true", IfTrue, false},
	{"if-false", IfFalse, false},
	{"may-create", Creates, true},
	{"may-update", Updates, true},
	{"may-delete", Deletes, true},
	{"may-trigger", Triggers, true},
	{"may-notify", Notifies, true},
	{"may-set", Sets, true},
	{"may-store", Stores, true},
	{"may-attach", Attaches, true},
	{"may-return", ReturnsEffect, true},
	{"may-generate", Generates, true},
}

// ProgressWords are the parts of progress by ProgressPart.
var ProgressWords = []string{"percent", "done", "total", "left", "stages", "stage"}

// TypeWords are the types by TypeName.
var TypeWords = []string{
	AnyType: "any", StringType: "string", IntegerType: "integer", DecimalType: "decimal",
	BooleanType: "boolean", DateType: "date", DateTimeType: "datetime", DurationType: "duration",
	UUIDType: "uuid", CodeType: "code", RefType: "ref", EmailType: "email", PhoneType: "phone",
	IBANType: "iban", BICType: "bic", LEIType: "lei", NationalIDType: "national-id",
	MoneyType: "money", ObjectType: "object", ListType: "list", RecordType: "record", CallType: "call",
}

// AgainWords are the words of Again.
var AgainWords = []string{Replace: "replace", Refuse: "refuse", Keep: "keep"}

// OriginWords are the words for the origins, by bit.
var OriginWords = []string{"script", "person", "record", "model", "tool", "document"}

// TypeOfName returns the type that an argument of text is called like, as iban of payee_iban.
func TypeOfName(ident string) string {
	for _, name := range []TypeName{IBANType, BICType, LEIType, EmailType, PhoneType} {
		if word := name.String(); ident == word || strings.HasSuffix(ident, "_"+word) {
			return word
		}
	}
	return ""
}

// String returns the word that palettes use.
func (n TypeName) String() string { return TypeWords[n] }

var typesByWord = func() map[string]TypeName {
	m := make(map[string]TypeName, len(TypeWords))
	for i, w := range TypeWords {
		m[w] = TypeName(i)
	}
	return m
}()

// TypeNamed returns the type of that name.
func TypeNamed(word string) (TypeName, bool) {
	name, ok := typesByWord[word]
	return name, ok
}
