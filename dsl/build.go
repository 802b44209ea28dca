package dsl

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// The constructors never fail. For a value that the language cannot express (a date the calendar
// does not have, a code with a space in it) they return a value of kind Invalid that keeps the
// offending text; it prints as <invalid "…">, which Parse refuses, so that it can never be taken
// for something else. Err says what is wrong with a finished call.

// NewCall builds a call. Arguments keep their order. To name the result, set
// the As field to a symbol without its @.
func NewCall(verb string, args ...Arg) Call { return Call{Verb: verb, Args: args} }

// NewArg builds `:key value`; the key is given without its colon.
func NewArg(key string, v Value) Arg { return Arg{Key: key, Value: v} }

// NewNil returns nil.
func NewNil() Value { return Value{Kind: Nil, Text: "nil"} }

// NewBool returns true or false.
func NewBool(b bool) Value { return Value{Kind: Bool, Text: strconv.FormatBool(b)} }

// NewInteger returns a whole number.
func NewInteger(n int64) Value { return Value{Kind: Integer, Text: strconv.FormatInt(n, 10)} }

// NewNumber returns an integer or a decimal with exactly these digits: "12", "-3.50".
func NewNumber(text string) Value {
	k := numberKind(text)
	return Value{Kind: k, Text: text}
}

// NewString returns a quoted text. A text that is not valid UTF-8 gives Invalid.
func NewString(text string) Value {
	if !utf8.ValidString(text) {
		return invalid(text)
	}
	return Value{Kind: String, Text: text}
}

// NewDate returns a date, written 2025-01-03.
func NewDate(text string) Value {
	if !isDateShape(text) || DateFault(text) != "" {
		return invalid(text)
	}
	return Value{Kind: Date, Text: text}
}

// NewDateTime returns an instant, written 2025-01-03T10:00:00Z or with an offset and up to six
// digits of a fraction.
func NewDateTime(text string) Value {
	if !isDateTimeShape(text) || dateTimeProblem(text) != "" {
		return invalid(text)
	}
	return Value{Kind: DateTime, Text: canonicalDateTime(text)}
}

// NewTime is NewDateTime in UTC, cut to microseconds.
func NewTime(t time.Time) Value {
	return NewDateTime(t.UTC().Truncate(time.Microsecond).Format("2006-01-02T15:04:05.999999Z"))
}

// NewUUID returns a UUID, given with its hyphens, in either case.
func NewUUID(text string) Value {
	if !isUUID(text) {
		return invalid(text)
	}
	return Value{Kind: UUID, Text: lowerASCII(text)}
}

// NewCode returns a code, an upper-case word.
func NewCode(word string) Value {
	if !isCode(word) {
		return invalid(word)
	}
	return Value{Kind: Code, Text: word}
}

// NewSymbol returns a name with an optional path, without the @: "request.due-date".
func NewSymbol(path string) Value {
	if !isSymbol(path) {
		return invalid(path)
	}
	return Value{Kind: Symbol, Text: path}
}

// NewList returns a list of these values.
func NewList(items ...Value) Value { return listOf(items) }

// NewMap returns a map of these entries, whose keys should differ.
func NewMap(entries ...Arg) Value { return mapOf(entries) }

// NewNested returns a call as a value.
func NewNested(c Call) Value { return nestedOf(&c) }

func invalid(text string) Value { return Value{Kind: Invalid, Text: text} }

// Err returns nil if the call can be written: AppendCall then gives a line that Parse reads back
// as an equal call.
func (c *Call) Err() error {
	if !isVerb(c.Verb) {
		return fmt.Errorf("%q is not a verb: a verb is lower-case names joined by dots", c.Verb)
	}
	if c.As != "" && !isNameText(c.As, isLower|isUpper) {
		return fmt.Errorf("%s: %q is not the name of a symbol", c.Verb, c.As)
	}
	for i := range c.Args {
		if c.Args[i].Key == "as" {
			return fmt.Errorf("%s: an argument cannot be called :as, which names the result", c.Verb)
		}
		if err := c.Args[i].err(); err != nil {
			return fmt.Errorf("%s: %w", c.Verb, err)
		}
	}
	return nil
}

func (a *Arg) err() error {
	if !isKey(a.Key) {
		return fmt.Errorf("%q is not a key: a key is a lower-case letter, then letters, digits, - and _", a.Key)
	}
	return a.valueErr()
}

func (a *Arg) valueErr() error {
	if err := a.Value.Err(); err != nil {
		return fmt.Errorf("%s: %w", FormatKey(a.Key), err)
	}
	return nil
}

// Err returns nil if the value can be written.
func (v Value) Err() error {
	switch v.Kind {
	case List:
		for _, item := range v.Items() {
			if err := item.Err(); err != nil {
				return err
			}
		}
		return nil
	case Map:
		seen := make(map[string]bool, v.n)
		for i := range v.Entries() {
			entry := &v.Entries()[i]
			if !isMapKey(entry.Key) {
				return fmt.Errorf("%q is not a key of a map: one is text of one character at least", entry.Key)
			}
			if err := entry.valueErr(); err != nil {
				return err
			}
			if seen[entry.Key] {
				return fmt.Errorf("the map holds %s twice", FormatKey(entry.Key))
			}
			seen[entry.Key] = true
		}
		return nil
	case Nested:
		if c := v.Call(); c != nil {
			return c.Err()
		}
		return errors.New("a nested call without a call")
	case String:
		if !utf8.ValidString(v.Text) {
			return fmt.Errorf("the text %q is not valid UTF-8", v.Text)
		}
		return nil
	case Symbol:
		if !isSymbol(v.Text) {
			return fmt.Errorf("%q is not a symbol", v.Text)
		}
		return nil
	case Nil:
		return nil
	}
	if v.Kind == Invalid || wordKind(v.Text) != v.Kind || !isCanonicalWord(v.Kind, v.Text) {
		return fmt.Errorf("%q is not a value of the language", v.Text)
	}
	return nil
}
