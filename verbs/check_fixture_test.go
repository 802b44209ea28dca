package verbs

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"verbatim/dsl"
	"verbatim/stores"
)

// bank is a small palette written in Go, so that the checker's tests say
// nothing about loading. It has one of everything the checker looks at.
type bank struct {
	*Registry
	cbu, person, request, reminder *Entity
	documentTypes, statuses        *CodeList
}

func newBank() *bank {
	b := &bank{}
	b.documentTypes = codeList("document-type", "PASSPORT", "TAX_RETURN", "AUDITED_ACCOUNTS", "ADVISOR_LETTER")
	b.statuses = codeList("request-status", "PENDING", "PARTIALLY_FULFILLED", "FULFILLED")
	b.cbu = entity("cbu", field("cbu_id", UUIDType), field("name", StringType))
	b.person = entity("person", field("person_id", UUIDType), field("name", StringType), refField("cbu", b.cbu))
	b.request = entity("outstanding-request",
		field("request_id", UUIDType), refField("person", b.person), codeField("status", b.statuses),
		field("due_date", DateType), field("client_notes", StringType), field("client_visible", BooleanType))
	b.reminder = entity("reminder", field("reminder_id", UUIDType), refField("request", b.request), field("remind_on", DateType))

	analyst := &Role{Name: "analyst"}
	client := &Role{Name: "client"}
	ref := func(e *Entity) *Type { return &Type{Name: RefType, Entity: e, Scale: -1} }
	of := func(n TypeName) *Type { return &Type{Name: n, Scale: -1} }
	address := NewSchema("address", []byte(`{
		"type": "object",
		"required": ["street", "city"],
		"additionalProperties": false,
		"properties": {
			"street": {"type": "string", "minLength": 1},
			"city": {"type": "string"},
			"since": {"type": "string", "format": "date"},
			"kind": {"enum": ["HOME", "WORK"]},
			"floors": {"type": "array", "items": {"type": "integer", "minimum": 0}},
			"rent": {"type": "number", "multipleOf": 0.01}
		}}`), dsl.Place{})
	verbs := []*Verb{
		{
			Name: "client.add-note", Description: "Leave a note on a request.", Roles: []*Role{client},
			Params: []Param{
				{Name: "request-id", Type: ref(b.request), Required: true, Description: "a request you can see"},
				{Name: "note", Type: &Type{Name: StringType, MinLength: 1, MaxLength: 2000}, Required: true, Examples: []string{"Accountant on leave"}},
				{Name: "expected-date", Type: of(DateType)},
			},
			Effects: []Effect{
				{Kind: Updates, Entity: b.request, Fields: []int{4}, Where: &Where{Param: 0}},
				{Kind: Creates, May: true, Entity: b.reminder},
			},
		},
		{
			Name: "client.remind", Roles: []*Role{client, analyst},
			Params: []Param{
				{Name: "request-id", Type: ref(b.request), Required: true},
				{Name: "on", Type: of(DateType), Required: true},
			},
			Effects: []Effect{{Kind: Creates, Entity: b.reminder}},
		},
		{
			Name: "client.drop-reminder", Params: []Param{{Name: "reminder-id", Type: ref(b.reminder), Required: true}},
			Effects: []Effect{{Kind: Deletes, Entity: b.reminder, Where: &Where{Param: 0}}},
		},
		{
			Name: "client.submit-document",
			Params: []Param{
				{Name: "request-id", Type: ref(b.request), Required: true},
				{Name: "document-type", Type: &Type{Name: CodeType, Codes: b.documentTypes}, Required: true},
				{Name: "file-reference", Type: of(StringType), Required: true},
				{Name: "notes", Type: of(StringType)},
			},
			Handler: true,
		},
		{
			Name: "client.get-outstanding",
			Params: []Param{
				{Name: "cbu-id", Type: ref(b.cbu)},
				{Name: "include-completed", Type: of(BooleanType), Default: stores.NewBool(false)},
			},
			Read: &Read{Entity: b.request, Fields: []ReadField{
				{Name: "request_id", Path: stores.Path{Field: 0}},
				{Name: "due_date", Path: stores.Path{Field: 3}},
				{Name: "reminders", Path: stores.Path{Count: b.reminder.Store, By: 1}},
			}},
		},
		{
			Name: "client.get-request",
			Params: []Param{
				{Name: "request-id", Type: ref(b.request), Required: true},
			},
			Read: &Read{Entity: b.request, One: true, Fields: []ReadField{
				{Name: "request_id", Path: stores.Path{Field: 0}},
				{Name: "due_date", Path: stores.Path{Field: 3}},
			}},
		},
		{
			Name: "client.noted", Deprecated: &Deprecation{Reason: "it could not hold a date", ReplacedBy: "client.add-note", Args: map[string]string{"text": "note"}},
			Params: []Param{
				{Name: "request-id", Type: ref(b.request), Required: true},
				{Name: "text", Type: of(StringType), Required: true},
			},
			Effects: []Effect{{Kind: Updates, Entity: b.request, Where: &Where{Param: 0}}},
		},
		{
			Name: "bank.everything",
			Params: []Param{
				{Name: "count", Type: &Type{Name: IntegerType, Min: stores.NewInt(0), Max: stores.NewInt(10)}},
				{Name: "price", Type: &Type{Name: DecimalType, Scale: 2, Min: decimal("0"), Max: decimal("1000000.00")}},
				{Name: "flag", Type: of(BooleanType)},
				{Name: "day", Type: &Type{Name: DateType, Min: date("2000-01-01")}},
				{Name: "moment", Type: of(DateTimeType)},
				{Name: "within", Type: of(DurationType)},
				{Name: "id", Type: of(UUIDType)},
				{Name: "email", Type: of(EmailType)},
				{Name: "phone", Type: of(PhoneType)},
				{Name: "iban", Type: of(IBANType)},
				{Name: "bic", Type: of(BICType)},
				{Name: "lei", Type: of(LEIType)},
				{Name: "finn", Type: &Type{Name: NationalIDType, Scale: -1, Country: "FI"}},
				{Name: "nationality", Ident: "nationality", Type: of(StringType)},
				{Name: "person", Type: &Type{Name: NationalIDType, Scale: -1, CountryOf: "nationality"}},
				{Name: "known-as", Type: &Type{Name: ListType, Scale: -1, Item: &Type{Name: RecordType, Scale: -1, Fields: []Param{
					{Name: "country", Ident: "country", Type: of(StringType), Required: true},
					{Name: "id", Ident: "id", Type: &Type{Name: NationalIDType, Scale: -1, CountryOf: "country"}},
				}}}},
				{Name: "any-money", Type: of(MoneyType)},
				{Name: "money", Type: &Type{Name: MoneyType, Scale: -1, Currencies: []string{"EUR", "USD"}}},
				{Name: "address", Type: &Type{Name: ObjectType, Schema: address}},
				{Name: "tags", Type: &Type{Name: ListType, Item: of(StringType), MinLength: 1, MaxLength: 3}},
				{Name: "people", Type: &Type{Name: ListType, Item: ref(b.person)}},
				{Name: "anything", Type: of(AnyType)},
				{Name: "secret", Type: &Type{Name: StringType, MaxLength: 4}, Sensitive: true},
				{Name: "ssn", Type: &Type{Name: StringType, Pattern: regexp.MustCompile(`^(?:\d{3}-\d{2}-\d{4})$`)}, Sensitive: true, Examples: []string{"078-05-1120"}},
				{Name: "object", Type: of(ObjectType)},
				{Name: "code", Type: of(CodeType)},
			},
		},
	}
	palettes := []*Palette{{Domain: "client"}, {Domain: "bank"}}
	for _, v := range verbs {
		p := palettes[0]
		if v.Name == "bank.everything" {
			p = palettes[1]
		}
		p.Verbs = append(p.Verbs, v)
	}
	b.Registry = New(Declarations{Palettes: palettes, Entities: []*Entity{b.cbu, b.person, b.request, b.reminder},
		Codes: []*CodeList{b.documentTypes, b.statuses}, Roles: []*Role{analyst, client}, Schemas: []*Schema{address}, Digest: "bank"})
	return b
}

func entity(name string, fields ...Field) *Entity {
	e := &Entity{Store: &stores.Entity{Name: name}}
	for _, f := range fields {
		kept := stores.Field{Name: f.Description}
		if f.Type.Entity != nil {
			kept.Ref = f.Type.Entity.Store
		}
		f.Description = ""
		e.Fields = append(e.Fields, f)
		e.Store.Fields = append(e.Store.Fields, kept)
	}
	return e
}

// field carries the name in Description until entity has moved it to where it
// belongs.
func field(name string, t TypeName) Field {
	return Field{Description: name, Type: &Type{Name: t, Scale: -1}}
}

func refField(name string, to *Entity) Field {
	return Field{Description: name, Type: &Type{Name: RefType, Entity: to, Scale: -1}}
}

func codeField(name string, codes *CodeList) Field {
	return Field{Description: name, Type: &Type{Name: CodeType, Codes: codes, Scale: -1}}
}

func codeList(name string, codes ...string) *CodeList {
	l := &CodeList{Name: name}
	for _, c := range codes {
		l.Codes = append(l.Codes, Code{Name: c})
	}
	return l
}

func decimal(s string) stores.Value {
	v, ok := stores.ParseDecimal(s)
	if !ok {
		panic(s)
	}
	return v
}

func date(s string) stores.Value {
	v, ok := stores.ParseDate(s)
	if !ok {
		panic(s)
	}
	return v
}

// session is a Names over a few known names.
type session map[string]*Entity

func (s session) Lookup(name string) *Entity { return s[name] }

func (s session) Nearby(name string) []string {
	var names []string
	for n := range s {
		names = append(names, n)
	}
	return dsl.Nearest(name, slices.Values(names))
}

func (s session) Meant(_ *Entity, text string) ([]Candidate, string) {
	if text != "pierre wealth" {
		return nil, ""
	}
	return []Candidate{{"pierre-sow", "Pierre source of wealth", "status PENDING"}, {"maria-dob", "Maria date of birth", ""}}, "not all were looked at"
}

func (b *bank) session() session {
	return session{"pierre-sow": b.request, "maria-dob": b.request, "pierre": b.person, "allianz": b.cbu}
}

// manyVerbs is a palette of n verbs of five arguments, one of each ordinary
// kind.
func manyVerbs(n int) *Registry {
	request := entity("request", field("request_id", UUIDType))
	codes := codeList("document-type", "PASSPORT", "TAX_RETURN", "AUDITED_ACCOUNTS", "ADVISOR_LETTER")
	var palettes []*Palette
	var p *Palette
	for i := range n {
		if i%50 == 0 {
			p = &Palette{Domain: fmt.Sprintf("domain%03d", i/50)}
			palettes = append(palettes, p)
		}
		p.Verbs = append(p.Verbs, &Verb{
			Name: fmt.Sprintf("%s.submit-thing-%05d", p.Domain, i),
			Params: []Param{
				{Name: "request-id", Type: &Type{Name: RefType, Entity: request}, Required: true},
				{Name: "document-type", Type: &Type{Name: CodeType, Codes: codes}, Required: true},
				{Name: "note", Type: &Type{Name: StringType, MaxLength: 2000}, Required: true},
				{Name: "expected-date", Type: &Type{Name: DateType}},
				{Name: "amount", Type: &Type{Name: DecimalType, Scale: 2, Min: decimal("0")}},
			},
		})
	}
	return New(Declarations{Palettes: palettes, Entities: []*Entity{request}, Codes: []*CodeList{codes}, Digest: "many"})
}

func fiveArguments(verb string) dsl.Call {
	return dsl.NewCall(verb,
		dsl.NewArg("request-id", dsl.NewSymbol("pierre-sow")),
		dsl.NewArg("document-type", dsl.NewCode("TAX_RETURN")),
		dsl.NewArg("note", dsl.NewString("Accountant is sending it")),
		dsl.NewArg("expected-date", dsl.NewDate("2025-01-03")),
		dsl.NewArg("amount", dsl.NewNumber("12.50")))
}

// PERF-C1: one call of five arguments, in a small palette and in a large one.
func BenchmarkCheckCall(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprintf("verbs=%d", n), func(b *testing.B) {
			r := manyVerbs(n)
			script := &dsl.Script{Source: dsl.NewSource("-", ""), Calls: []dsl.Call{fiveArguments(r.Verbs()[n/2].Name)}}
			p := new(Program)
			b.ReportAllocs()
			for b.Loop() {
				if ds := r.CheckInto(p, script, nil); len(ds) > 0 {
					b.Fatal(ds)
				}
			}
		})
	}
}

// The same with another verb each time, so that none of them is in a cache.
func BenchmarkCheckCallScattered(b *testing.B) {
	for _, n := range []int{100, 10000} {
		b.Run(fmt.Sprintf("verbs=%d", n), func(b *testing.B) {
			r := manyVerbs(n)
			scripts := make([]*dsl.Script, n)
			for i, v := range r.Verbs() {
				scripts[(i*7919)%n] = &dsl.Script{Source: dsl.NewSource("-", ""), Calls: []dsl.Call{fiveArguments(v.Name)}}
			}
			p := new(Program)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if ds := r.CheckInto(p, scripts[i%n], nil); len(ds) > 0 {
					b.Fatal(ds)
				}
			}
		})
	}
}

func thousandCalls(r *Registry) *dsl.Script {
	s := &dsl.Script{Source: dsl.NewSource("-", "")}
	for i := range 1000 {
		c := fiveArguments(r.Verbs()[i%len(r.Verbs())].Name)
		c.As = fmt.Sprintf("r%d", i)
		if i > 0 {
			c.Args[0].Value = dsl.NewSymbol(fmt.Sprintf("r%d", i-1))
		}
		s.Calls = append(s.Calls, c)
	}
	return s
}

// A script of 1 000 calls, each of which uses the one before.
func BenchmarkCheckScript1000(b *testing.B) {
	r := manyVerbs(1000)
	script := thousandCalls(r)
	p := new(Program)
	b.ReportAllocs()
	for b.Loop() {
		if ds := r.CheckInto(p, script, nil); ds.HasErrors() {
			b.Fatal(ds)
		}
	}
}

// PERF-C3, its first half: from the text of one statement to a program.
func BenchmarkParseAndCheck(b *testing.B) {
	r := manyVerbs(1000)
	text := r.Verbs()[500].Name + ` :request-id @pierre-sow :document-type TAX_RETURN :note "Accountant is sending it" :expected-date 2025-01-03 :amount 12.50`
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		script, ds := dsl.Parse(dsl.NewSource("-", text))
		if len(ds) > 0 {
			b.Fatal(inWords(ds))
		}
		if p, ds := r.Check(script, nil); p == nil {
			b.Fatal(inWords(ds))
		}
	}
}
