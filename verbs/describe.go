package verbs

import (
	"fmt"
	"strings"

	"verbatim/verbs/message"
	"verbatim/verbs/values"
)

// Short returns the type in a word or two, as references show it.
func (t *Type) Short() string {
	switch {
	case t.Name == RefType && t.Entity != nil:
		return "ref " + t.Entity.Store.Name
	case t.Name == CodeType && t.Codes != nil:
		return "code " + t.Codes.Name
	case t.Name == ListType && t.Item != nil && t.Item.Name != AnyType:
		return "list of " + t.Item.Short()
	case t.Name == ObjectType && t.Schema != nil && t.Schema.Name != "":
		return "object " + t.Schema.Name
	}
	return t.Name.String()
}

// Limits describes the limits of a type.
func (t *Type) Limits() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	unit := "character"
	if t.Name == ListType {
		unit = "item"
	}
	switch {
	case t.MinLength > 0 && t.MaxLength > 0:
		add("%d to %s", t.MinLength, message.Count(t.MaxLength, unit))
	case t.MaxLength > 0:
		add("at most %s", message.Count(t.MaxLength, unit))
	case t.MinLength > 1 || t.MinLength == 1 && t.Name == ListType:
		add("at least %s", message.Count(t.MinLength, unit))
	}
	least, most := t.Min.Text(), t.Max.Text()
	if t.MinDay != nil {
		least = t.MinDay.String()
	}
	if t.MaxDay != nil {
		most = t.MaxDay.String()
	}
	switch {
	case least != "" && most != "":
		add("from %s to %s", least, most)
	case least != "":
		add("from %s", least)
	case most != "":
		add("up to %s", most)
	}
	if t.Name == DecimalType && t.Scale >= 0 {
		add("%s after the point", message.Count(t.Scale, "digit"))
	}
	if t.Pattern != nil {
		add("in the form %s", patternOf(t))
	}
	if t.Name == CodeType && t.Codes != nil {
		add("%s", message.Some(t.Codes.Names(), 8))
	}
	if len(t.Currencies) > 0 {
		add("in %s", message.Joined(t.Currencies, "or"))
	}
	if t.Name == RecordType {
		add("with %s", t.fieldWords())
	}
	if t.Item != nil {
		if inner := t.Item.Limits(); inner != "" {
			add("each %s", inner)
		}
	}
	return strings.Join(parts, ", ")
}

func patternOf(t *Type) string {
	return strings.TrimSuffix(strings.TrimPrefix(t.Pattern.String(), "^(?:"), ")$")
}

// Phrase describes the values of a type.
func (t *Type) Phrase() string {
	switch t.Name {
	case AnyType:
		return "a value"
	case BooleanType:
		return "true or false"
	case DateTimeType:
		return "a date and time"
	case EmailType:
		return "an e-mail address"
	case PhoneType:
		return "a telephone number"
	case IBANType:
		return "an IBAN"
	case BICType:
		return "a BIC"
	case LEIType:
		return "an LEI"
	case NationalIDType:
		if name, _ := values.IDName(t.Country); name != "" {
			return "a " + name
		}
		return "a national id"
	case MoneyType:
		return "an amount of money"
	case CodeType:
		if t.Codes != nil {
			return "a code of " + t.Codes.Name
		}
		return "a code"
	case RefType:
		if t.Entity != nil {
			return "a reference to " + message.Article(t.Entity.Store.Name)
		}
		return "a reference"
	case ListType:
		if t.Item != nil && t.Item.Name != AnyType {
			return "a list of " + t.Item.plural()
		}
		return "a list"
	case UUIDType:
		return "a uuid"
	}
	return message.Article(t.Name.String())
}

func (t *Type) plural() string {
	switch t.Name {
	case BooleanType:
		return "true or false"
	case CodeType:
		if t.Codes != nil {
			return t.Codes.Name + " codes"
		}
	case RefType:
		if t.Entity != nil {
			return t.Entity.Store.Name + " references"
		}
		return "references"
	case MoneyType:
		return "amounts of money"
	case EmailType:
		return "e-mail addresses"
	case PhoneType:
		return "telephone numbers"
	case IBANType, BICType, LEIType:
		return strings.ToUpper(t.Name.String()) + "s"
	case NationalIDType:
		return "national ids"
	case AnyType:
		return "values"
	}
	return t.Name.String() + "s"
}

// String returns the type as messages name it.
func (t *Type) String() string { return t.Phrase() }

// String returns the name of the verb.
func (v *Verb) String() string { return v.Name }

// String returns the name of the argument.
func (p *Param) String() string { return p.Name }

// String returns the name of the entity.
func (e *Entity) String() string { return e.Store.Name }

// String returns the name of the list.
func (l *CodeList) String() string { return l.Name }

// String returns the name of the role.
func (r *Role) String() string { return r.Name }

// String returns the name of the list.
func (l ReadList) String() string { return l.Name }
