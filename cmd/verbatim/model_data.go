package main

import (
	"fmt"
	"slices"
	"strings"

	"verbatim/verbs"
)

// A modelData is what of a verb's answer reaches the endpoint of a model: the fields that a read
// returns, or those of the rows that it writes. Withheld are the sensitive ones, of which the model
// learns that they are there. Texts of others among them stand behind a bar, or are left out where the
// palette says so. Besides these it is sent the person's own words, and the names of rows that they
// may see.
type modelData struct {
	Verb     string   `json:"verb"`
	Fields   []string `json:"fields"`
	Withheld []string `json:"withheld"`
}

// dataOf lists them for every verb that a conversation can use.
func dataOf(reg *verbs.Registry) []modelData {
	all := []modelData{}
	for _, v := range reg.Verbs() {
		if v.Internal {
			continue
		}
		d := modelData{v.Name, []string{}, []string{}}
		add := func(name string, sensitive bool) {
			list := &d.Fields
			if sensitive {
				list = &d.Withheld
			}
			if !slices.Contains(*list, name) {
				*list = append(*list, name)
			}
		}
		switch {
		case v.Read != nil:
			for _, f := range v.Read.Fields {
				add(f.Name, f.Sensitive)
			}
		case v.Query != nil:
			for i, c := range v.Query.Columns {
				add(c.Name, v.Query.Sensitive != nil && v.Query.Sensitive[i])
			}
		}
		for i := range v.Effects {
			e := &v.Effects[i]
			if e.Entity == nil {
				continue
			}
			switch e.Kind {
			case verbs.Creates, verbs.Updates, verbs.Deletes:
				for j := range e.Entity.Store.Fields { // a trigger may change any of them
					if f := &e.Entity.Store.Fields[j]; e.Kind != verbs.Deletes {
						add(e.Entity.Store.Name+"."+f.Name, f.Sensitive)
					}
				}
			}
		}
		all = append(all, d)
	}
	return all
}

// modelData prints which fields of which palette reach an endpoint.
func (a *app) modelData(palettes string) error {
	reg, err := a.wholePalettes(palettes)
	if err != nil {
		return err
	}
	all := dataOf(reg)
	if a.json {
		a.emit(struct {
			Schema string      `json:"schema"`
			Verbs  []modelData `json:"verbs"`
		}{"verbatim/model-data@1", all})
		return nil
	}
	fmt.Fprintln(a.out, "A model's endpoint is sent what the person writes, the names of rows that they may see,\nand of what is read and done for them these fields:")
	for _, d := range all {
		if len(d.Fields)+len(d.Withheld) == 0 {
			continue
		}
		fmt.Fprintf(a.out, "%s\n", d.Verb)
		if len(d.Fields) > 0 {
			fmt.Fprintf(a.out, "    sent      %s\n", strings.Join(d.Fields, ", "))
		}
		if len(d.Withheld) > 0 {
			fmt.Fprintf(a.out, "    withheld  %s\n", strings.Join(d.Withheld, ", "))
		}
	}
	return nil
}
