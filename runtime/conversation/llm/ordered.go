package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A request is changed as JSON, and the order of its members is kept: models fill arguments in the
// order of the schema, and a prompt is cached by its bytes.

// An object is a JSON object in its order.
type object []member

type member struct {
	key   string
	value any // *object, []any, or json.RawMessage
}

// ordered reads JSON.
func ordered(text []byte) (any, error) {
	var bounded json.RawMessage // in its depth
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&bounded); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(bounded))
	dec.UseNumber()
	return orderedValue(dec)
}

func orderedValue(dec *json.Decoder) (any, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch token {
	case json.Delim('{'):
		o := &object{}
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				return nil, err
			}
			value, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			*o = append(*o, member{key.(string), value}) // keys are strings, or Token failed
		}
		_, err = dec.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for dec.More() {
			value, err := orderedValue(dec)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		_, err = dec.Token()
		return list, err
	}
	text, err := json.Marshal(token)
	return json.RawMessage(text), err
}

// MarshalJSON writes the object in its order.
func (o *object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, m := range *o {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(append(b, key...), ':'), value...)
	}
	return append(b, '}'), nil
}

func (o *object) at(key string) int {
	if o == nil {
		return -1
	}
	for i := range *o {
		if (*o)[i].key == key {
			return i
		}
	}
	return -1
}

// get returns a member, or nil.
func (o *object) get(key string) any {
	if i := o.at(key); i >= 0 {
		return (*o)[i].value
	}
	return nil
}

// text returns a member that is a string.
func (o *object) text(key string) (s string) {
	if raw, ok := o.get(key).(json.RawMessage); ok {
		_ = json.Unmarshal(raw, &s) // another type leaves it empty
	}
	return s
}

func (o *object) set(key string, value any) {
	switch value.(type) {
	case *object, []any, json.RawMessage:
	default:
		text, err := json.Marshal(value)
		if err != nil { // only texts, numbers and truth values are set
			panic(fmt.Sprintf("%T is no JSON: %v", value, err))
		}
		value = json.RawMessage(text)
	}
	if i := o.at(key); i >= 0 {
		(*o)[i].value = value
		return
	}
	*o = append(*o, member{key, value})
}

func (o *object) drop(key string) bool {
	i := o.at(key)
	if i >= 0 {
		*o = append((*o)[:i:i], (*o)[i+1:]...)
	}
	return i >= 0
}

// number returns a member that is a number, or a text of one.
func (o *object) number(key string) (n int, ok bool) {
	raw, _ := o.get(key).(json.RawMessage)
	f, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	return int(max(min(f, math.MaxInt32), -math.MaxInt32)), err == nil && f == f
}

func (o *object) list(key string) (list []any, ok bool) {
	list, ok = o.get(key).([]any)
	return list, ok
}
