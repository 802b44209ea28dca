package verbs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
	"verbatim/verbs/jsondoc"
	"verbatim/verbs/message"
)

// Accept checks a value that became known only at run time, such as a field of another call's
// result, against the type, as Check does with written values: its kind, its limits, its code
// list, its schema. It returns the value in its stored form. The error is a sentence about what
// is wanted and quotes nothing of the value. Null is accepted; the argument decides whether it
// may be missing. The store decides whether a reference leads to a row.
func (t *Type) Accept(v stores.Value) (stores.Value, error) {
	if v.IsNull() {
		return v, nil
	}
	switch t.Name {
	case AnyType, RefType:
		return v, nil
	case ListType:
		return t.acceptList(v)
	case ObjectType, MoneyType:
		return t.acceptObject(v)
	case RecordType:
		return t.acceptRecord(v)
	}
	want := t.Kind()
	if want == stores.Decimal && v.Kind() == stores.Int {
		v, _ = stores.ParseDecimal(v.Text())
	}
	if v.Kind() != want {
		return v, fmt.Errorf("%s is wanted, not %s", t.Phrase(), message.Article(v.Kind().String()))
	}
	v, p := t.Limit(v)
	if p != Fine {
		if p == notRuled {
			return v, fmt.Errorf("%s; %s", t.wants(p), t.fault(v.Text(), true))
		}
		return v, errors.New(t.wants(p))
	}
	return v, nil
}

// Kind returns the kind of values that stores keep for the type; Null if it does not determine one.
func (t *Type) Kind() stores.Kind {
	switch t.Name {
	case StringType, CodeType, EmailType, PhoneType, IBANType, BICType, LEIType, NationalIDType, CallType:
		return stores.String
	case IntegerType:
		return stores.Int
	case DecimalType:
		return stores.Decimal
	case BooleanType:
		return stores.Bool
	case DateType:
		return stores.Date
	case DateTimeType:
		return stores.Time
	case DurationType:
		return stores.Duration
	case UUIDType, RefType:
		return stores.UUID
	case ObjectType, ListType, MoneyType, RecordType:
		return stores.JSON
	}
	return stores.Null
}

func (t *Type) acceptList(v stores.Value) (stores.Value, error) {
	var raw []json.RawMessage
	if v.Kind() != stores.JSON || json.Unmarshal([]byte(v.Text()), &raw) != nil {
		return v, fmt.Errorf("%s is wanted", t.Phrase())
	}
	switch {
	case len(raw) < t.MinLength:
		return v, errors.New(t.wants(TooShort))
	case t.MaxLength > 0 && len(raw) > t.MaxLength:
		return v, errors.New(t.wants(TooLong))
	case t.Item == nil || t.Item.Name == AnyType:
		return v, nil
	}
	items := make([]stores.Value, len(raw))
	for i := range raw {
		item, ok := stores.FromJSON(t.Item.Kind(), raw[i])
		if ok && item.IsNull() {
			ok = false
		}
		if !ok {
			return v, fmt.Errorf("item %d: %s is wanted", i+1, t.Item.Phrase())
		}
		item, err := t.Item.Accept(item)
		if err != nil {
			return v, fmt.Errorf("item %d: %w", i+1, err)
		}
		items[i] = item
	}
	return stores.NewList(items...), nil
}

func (t *Type) acceptObject(v stores.Value) (stores.Value, error) {
	if v.Kind() != stores.JSON || !strings.HasPrefix(v.Text(), "{") {
		return v, fmt.Errorf("%s is wanted", t.Phrase())
	}
	if t.Name == MoneyType {
		var parts map[string]json.RawMessage
		if json.Unmarshal([]byte(v.Text()), &parts) != nil || len(parts) != 2 {
			return v, errors.New("an amount and a currency are wanted")
		}
		amount, ok := stores.FromJSON(stores.Decimal, parts["amount"])
		if !ok || amount.IsNull() {
			return v, errors.New("an amount and a currency are wanted")
		}
		if _, err := t.moneyPart("amount").Accept(amount); err != nil {
			return v, err
		}
		currency, ok := stores.FromJSON(stores.String, parts["currency"])
		if !ok || !t.AcceptsCurrency(currency.Text()) {
			return v, errors.New("another currency is wanted")
		}
		return v, nil
	}
	if t.Schema == nil {
		return v, nil
	}
	breaches, err := t.Schema.check(v)
	switch {
	case err != nil:
		return v, err
	case len(breaches) == 0:
		return v, nil
	}
	b := breaches[0]
	says := b.says
	if !b.safe {
		says = "does not satisfy its schema"
	}
	return v, errors.New(strings.TrimSpace(strings.Join(b.path, ".") + " " + says))
}

// wants describes what a limit requires, without the value that broke it.
func (t *Type) wants(p Problem) string {
	unit := "character"
	if t.Name == ListType {
		unit = "item"
	}
	switch p {
	case TooShort:
		return "at least " + message.Count(t.MinLength, unit) + " must be given"
	case TooLong:
		return "at most " + message.Count(t.MaxLength, unit) + " may be given"
	case noMatch:
		return "this form is wanted: " + patternOf(t)
	case tooSmall:
		return "the least is " + t.Min.Text()
	case tooLarge:
		return "the most is " + t.Max.Text()
	case tooPrecise:
		return "at most " + message.Count(t.Scale, "digit") + " may stand after the point"
	}
	return t.Phrase() + " is wanted"
}

// AsLiteral writes a value as a script does, lists and objects too.
func AsLiteral(v stores.Value) dsl.Value {
	switch v.Kind() {
	case stores.Null:
		return dsl.NewNil()
	case stores.Bool:
		return dsl.NewBool(v.Bool())
	case stores.Int, stores.Decimal:
		return dsl.NewNumber(v.Text())
	case stores.Date:
		return dsl.NewDate(v.Text())
	case stores.Time:
		return dsl.NewTime(v.Time())
	case stores.UUID:
		return dsl.NewUUID(v.Text())
	case stores.JSON:
		x, err := jsondoc.Decode(v.Text())
		if err != nil {
			return dsl.NewNil()
		}
		return jsondoc.Value(x)
	}
	return dsl.NewString(v.Text())
}
