package engine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/protocols/tools"
	"verbatim/stores"
	"verbatim/verbs"
)

// maxToolRows is the greatest number of rows in a tool's answer. A longer answer is refused, never
// cut.
const maxToolRows = 1000

// answerColumn is the column of a tool's answer if its palette names no columns.
const answerColumn = "answer"

func toolColumns(v *verbs.Verb) []column {
	if len(v.Tool.Columns) == 0 {
		return []column{{name: answerColumn}}
	}
	columns := make([]column, len(v.Tool.Columns))
	for i, c := range v.Tool.Columns {
		columns[i].name = c.Name
	}
	return columns
}

// answerTable types a tool's answer by its palette. The answer comes from outside: if it does not
// fit it is refused, and no error quotes any of it.
func answerTable(v *verbs.Verb, a tools.Answer) (*table, error) {
	t := &table{columns: toolColumns(v), file: a.File}
	if len(v.Tool.Columns) == 0 {
		text := cmp.Or(a.Text, a.Structured)
		t.rows = [][]cell{{{value: stores.NewString(text)}}}
		return t, nil
	}
	text := a.Structured
	if text == "" {
		text = a.Text // servers from before there were structured answers
	}
	var whole map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &whole); err != nil || whole == nil {
		return nil, fmt.Errorf("it answered with no object")
	}
	items := []map[string]json.RawMessage{whole}
	if v.Tool.Rows != "" {
		raw, ok := member(whole, v.Tool.Rows)
		if !ok {
			return nil, fmt.Errorf("its answer has no %s", v.Tool.Rows)
		}
		items = nil
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, fmt.Errorf("%s of its answer is no list of objects", v.Tool.Rows)
		}
		if len(items) > maxToolRows {
			return nil, fmt.Errorf("%s of its answer has %d rows, and %d are allowed", v.Tool.Rows, len(items), maxToolRows)
		}
	}
	for _, item := range items {
		row := make([]cell, len(v.Tool.Columns))
		for i, c := range v.Tool.Columns {
			raw, ok := member(item, c.Name)
			if !ok {
				return nil, fmt.Errorf("its answer has no %s", c.Name)
			}
			var err error
			if row[i].value, err = answered(v.Tool.Types[i], c, raw); err != nil {
				return nil, fmt.Errorf("%s of its answer does not fit: %w", c.Name, err)
			}
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// said words a tool's answer, for the case that it is not kept here.
func (e *externalCall) said(a tools.Answer) string {
	t, err := answerTable(e.st.verb, a)
	if err != nil || len(t.rows) == 0 {
		return ""
	}
	var all []string
	for i, c := range t.rows[0] {
		all = append(all, t.columns[i].name+" "+dsl.FormatValue(verbs.AsLiteral(c.value)))
	}
	said := "it answered: " + strings.Join(all, ", ")
	if more := len(t.rows) - 1; more > 0 {
		said += fmt.Sprintf(", and %d more", more)
	}
	return said
}

func answered(t *verbs.Type, c stores.Column, raw json.RawMessage) (stores.Value, error) {
	if string(raw) == "null" {
		return stores.Value{}, nil
	}
	v, ok := stores.Value{}, false
	switch kind := c.Kind; kind {
	case stores.Null, stores.JSON:
		var err error
		v, err = stores.ParseJSON(string(raw))
		ok = err == nil
	default:
		if v, ok = stores.FromJSON(kind, raw); !ok {
			// Numbers and the like may come as text, to keep every digit.
			var s string
			if json.Unmarshal(raw, &s) == nil {
				v, ok = stores.Parse(kind, s)
			}
		}
	}
	if !ok {
		return v, fmt.Errorf("a %s is wanted", c.Kind)
	}
	v, err := c.Spelling.Loaded(v)
	if err != nil {
		return v, err
	}
	return t.Accept(v)
}

// member finds a member of an answer. Dashes, underscores and capitals make no
// difference, unless two members differ in nothing else.
func member(object map[string]json.RawMessage, name string) (json.RawMessage, bool) {
	if raw, ok := object[name]; ok {
		return raw, true
	}
	var found json.RawMessage
	n := 0
	for key, raw := range object {
		if tools.Squash(key) == tools.Squash(name) {
			found = raw
			n++
		}
	}
	return found, n == 1
}
