package verbs

import "strings"

// An effectWord is a key that says what an effect does.
type effectWord struct {
	name string
	kind EffectKind
	may  bool
}

var effectWords = []effectWord{
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

// progressWords are the parts of progress by ProgressPart.
var progressWords = []string{"percent", "done", "total", "left", "stages", "stage"}

// typeWords are the types by TypeName.
var typeWords = []string{
	AnyType: "any", StringType: "string", IntegerType: "integer", DecimalType: "decimal",
	BooleanType: "boolean", DateType: "date", DateTimeType: "datetime", DurationType: "duration",
	UUIDType: "uuid", CodeType: "code", RefType: "ref", EmailType: "email", PhoneType: "phone",
	IBANType: "iban", BICType: "bic", LEIType: "lei", NationalIDType: "national-id",
	MoneyType: "money", ObjectType: "object", ListType: "list", RecordType: "record", CallType: "call",
}

// againWords are the words of Again.
var againWords = []string{Replace: "replace", Refuse: "refuse", Keep: "keep"}

// originWords are the words for the origins, by bit.
var originWords = []string{"script", "person", "record", "model", "tool", "document"}

// sameName compares names in which a dash and an underscore are the same.
func sameName(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := 0; i < len(a); i++ {
		if a[i] != b[i] && !(dashed(a[i]) && dashed(b[i])) {
			return false
		}
	}
	return true
}

// underscored returns a name as expressions and columns write it.
func underscored(name string) string { return strings.ReplaceAll(name, "-", "_") }

func dashed(c byte) bool { return c == '-' || c == '_' }
