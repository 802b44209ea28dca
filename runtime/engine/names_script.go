package engine

import (
	"context"
	"slices"
	"strings"

	"verbatim/dsl"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
)

// scriptNames answers the checker for one script. If several entities use a name, it stands for the
// entity that the arguments of this script ask for.
type scriptNames struct {
	s     *Session
	wants map[string][]*verbs.Entity // by symbol, in the order of the script
	all   []string                   // symbols that may stand for a row of any entity
	among []*verbs.Entity            // every entity the script may speak of
	meant map[*verbs.Entity][]*meaning
}

// May implements verbs.Permitted.
func (n *scriptNames) May(v *verbs.Verb) bool { return n.s.May(v) }

// Lookup implements verbs.Names.
func (n *scriptNames) Lookup(name string) *verbs.Entity {
	for _, e := range n.wants[name] {
		if _, ok := n.s.names.Key(e.Store, name); ok {
			return e
		}
	}
	for _, e := range n.among {
		if _, ok := n.s.names.Key(e.Store, name); ok {
			return e
		}
	}
	for _, e := range n.among {
		if slices.ContainsFunc(n.meant[e], func(m *meaning) bool { return m.text == name }) {
			if _, ok := n.s.names.Text(e.Store, name); ok {
				return e
			}
		}
	}
	return nil
}

// Homonyms implements verbs.Homonyms.
func (n *scriptNames) Homonyms(name string) []verbs.Candidate {
	var all []verbs.Candidate
	for _, e := range n.among {
		for _, row := range n.s.names.Homonyms(e.Store, name) {
			c := verbs.Candidate{Name: row.Name, Label: row.Label}
			if c.Label == "" {
				c.Label = e.Store.Name
			}
			if owner := n.s.ownerName(e.Store, row.Owner); owner != "" && n.s.SeesSeveral() {
				c.Tells = "of " + owner
			}
			all = append(all, c)
		}
	}
	return all
}

// Nearby implements verbs.Names. It suggests only names that the session was shown, so that a
// suggestion reveals nothing about other people's rows.
func (n *scriptNames) Nearby(name string) []string {
	among := n.wants[name]
	if len(among) == 0 {
		among = n.among
	}
	var all []string
	for _, e := range among {
		n.s.names.Each(e.Store, func(_ stores.Value, row names.Row) { all = append(all, row.Name) })
	}
	slices.Sort(all)
	plain, _, _ := strings.Cut(name, "~")
	near := dsl.Nearest(name, slices.Values(slices.Compact(all)))
	if len(near) == 0 {
		near = n.s.likeNames(among, plain)
	}
	return near
}

// bind fixes the rows that the names of a program mean.
func (n *scriptNames) bind(p *verbs.Program) {
	p.Names(func(a *verbs.Arg, t *verbs.Type) {
		e := (*verbs.Entity)(nil)
		if t != nil && t.Name == verbs.RefType && a.Path() == "" {
			e = t.Entity
		}
		if e == nil {
			e = n.Lookup(a.Name())
		}
		if e == nil {
			return
		}
		key, ok := n.s.names.Key(e.Store, a.Name())
		if !ok && a.Syntax.Kind == dsl.String {
			key, ok = n.s.names.Text(e.Store, a.Name())
		}
		if row, named := n.s.names.Row(e.Store, key); ok && named {
			p.Bind(a, verbs.Row{Entity: e, Key: key, Name: row.Kept})
		}
	})
}

// words lists the symbols that may name a row of an entity.
func (n *scriptNames) words(e *verbs.Entity) []string {
	words := slices.Clone(n.all)
	for name, wants := range n.wants {
		if slices.Contains(wants, e) && !slices.Contains(words, name) {
			words = append(words, name)
		}
	}
	slices.Sort(words)
	return words
}

// mentioned collects the symbols of a script that may name rows. Symbols that the script binds
// itself are left out.
func (s *Session) mentioned(script *dsl.Script) *scriptNames {
	n := &scriptNames{s: s, wants: make(map[string][]*verbs.Entity)}
	bound := make(map[string]bool)
	dsl.Walk(script, func(at dsl.Node) bool {
		if at.Call != nil && at.Call.As != "" {
			bound[at.Call.As] = true
		}
		return true
	})
	var call func(c *dsl.Call)
	var value func(v *dsl.Value, t *verbs.Type)
	call = func(c *dsl.Call) {
		verb := s.e.reg.Verb(c.Verb)
		for i := range c.Args {
			var t *verbs.Type
			if verb != nil {
				if k := slices.IndexFunc(verb.Params, func(p verbs.Param) bool { return p.Name == c.Args[i].Key }); k >= 0 {
					t = verb.Params[k].Type
				}
			}
			value(&c.Args[i].Value, t)
		}
	}
	value = func(v *dsl.Value, t *verbs.Type) {
		if v.Kind == dsl.List && t != nil && t.Name == verbs.ListType {
			for items, i := v.Items(), 0; i < len(items); i++ {
				value(&items[i], t.Item)
			}
			return
		}
		for t != nil && t.Name == verbs.ListType {
			t = t.Item
		}
		if v.Kind == dsl.Map && t != nil && t.Name == verbs.RecordType {
			for entries, i := v.Entries(), 0; i < len(entries); i++ {
				value(&entries[i].Value, t.Field(entries[i].Key))
			}
			return
		}
		var want *verbs.Entity
		if t != nil && t.Name == verbs.RefType {
			want = t.Entity
		}
		dsl.WalkValue(v, func(at dsl.Node) bool {
			if at.Call != nil {
				call(at.Call)
				return false
			}
			if at.Value != nil {
				n.mention(at.Value, want, bound)
			}
			return true
		})
	}
	for i := range script.Calls {
		call(&script.Calls[i])
	}
	if len(n.all) > 0 {
		n.among = s.e.catalog.entities
	}
	return n
}

// mention notes a value that may name a row; want is the entity, if it is known.
func (n *scriptNames) mention(v *dsl.Value, want *verbs.Entity, bound map[string]bool) {
	switch v.Kind {
	case dsl.String:
		if _, isKey := stores.ParseUUID(v.Text); want != nil && !isKey {
			n.ask(v.Text, want)
		}
	case dsl.Symbol:
		name, path, _ := strings.Cut(v.Text, ".")
		switch {
		case bound[name]:
		case want != nil && path == "":
			n.want(name, want)
		case !slices.Contains(n.all, name):
			n.all = append(n.all, name)
		}
	}
}

func (n *scriptNames) want(name string, e *verbs.Entity) {
	if !slices.Contains(n.wants[name], e) {
		n.wants[name] = append(n.wants[name], e)
	}
	if !slices.Contains(n.among, e) {
		n.among = append(n.among, e)
	}
}

// find looks up the names of a script: in the store's table of names and, if they are not there,
// among the rows within scope, if these are few.
func (n *scriptNames) find(ctx context.Context, r stores.Reader) error {
	for _, e := range n.among {
		if err := n.s.lookUp(ctx, r, e, n.lost(e)); err != nil {
			return err
		}
	}
	for _, e := range n.among {
		if len(n.lost(e)) > 0 && n.s.names.Extent(e.Store) != names.TooMany {
			if err := n.s.read(ctx, r, e, nil); err != nil {
				return err
			}
		}
	}
	for _, e := range n.among {
		if !n.s.SeesSeveral() {
			break
		}
		var several []stores.Value
		for _, word := range n.words(e) {
			for _, row := range n.s.names.Homonyms(e.Store, word) {
				if key, ok := n.s.names.Key(e.Store, row.Kept); ok {
					several = append(several, key)
				}
			}
		}
		if err := n.s.nameOwners(ctx, r, e, several); err != nil {
			return err
		}
	}
	return nil
}

// lost lists the symbols for an entity that are still unknown.
func (n *scriptNames) lost(e *verbs.Entity) []string {
	return slices.DeleteFunc(n.words(e), func(word string) bool {
		if slices.Contains(n.all, word) {
			return n.Lookup(word) != nil
		}
		if _, known := n.s.names.Key(e.Store, word); known {
			return true
		}
		return len(n.s.names.Homonyms(e.Store, word)) > 0
	})
}
