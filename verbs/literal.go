package verbs

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/stores"
)

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
		dec := json.NewDecoder(strings.NewReader(v.Text()))
		dec.UseNumber()
		var x any
		if dec.Decode(&x) != nil {
			return dsl.NewNil()
		}
		return plainLiteral(x)
	}
	return dsl.NewString(v.Text())
}

func plainLiteral(x any) dsl.Value {
	switch x := x.(type) {
	case bool:
		return dsl.NewBool(x)
	case string:
		return dsl.NewString(x)
	case json.Number:
		return dsl.NewNumber(x.String())
	case []any:
		items := make([]dsl.Value, len(x))
		for i := range x {
			items[i] = plainLiteral(x[i])
		}
		return dsl.NewList(items...)
	case map[string]any:
		var entries []dsl.Arg
		for _, k := range slices.Sorted(maps.Keys(x)) {
			entries = append(entries, dsl.NewArg(k, plainLiteral(x[k])))
		}
		return dsl.NewMap(entries...)
	}
	return dsl.NewNil()
}
