package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"verbatim/dsl"
	"verbatim/runtime/internal/view"
	"verbatim/runtime/state/names"
	"verbatim/stores"
	"verbatim/verbs"
	"verbatim/verbs/message"
)

// This file looks names up; package names keeps those of a session.
//
// A name that was shown once means that row, in every process and whatever label the row has
// later, or it is an error. Rows that the engine writes get their names in the same
// transaction. Rows of other programs get theirs when they are first shown, when a name is
// looked for in a scope of at most maxNamed rows, and from NameRows.

const (
	// maxNamed is how many rows of one entity a session reads to name them.
	maxNamed = 5000
	// namingTime bounds the reading of labels by Check.
	namingTime = 10 * time.Second
	// keepingTime bounds the writing of new names, which is not part of a request.
	keepingTime = 2 * time.Second
	// hiddenOwner is the owner of a row that only principals who see all rows can see.
	hiddenOwner = "(hidden)"
)

// identity returns the identity of the store, which is read once.
func (e *Engine) identity(ctx context.Context) (stores.Identity, error) {
	e.idOnce.Lock()
	defer e.idOnce.Unlock()
	if e.id.ID != "" {
		return e.id, nil
	}
	id, err := e.store.Identity(ctx)
	if err == nil {
		e.id = id
	}
	return id, err
}

// name names rows of an entity that have no name in this session yet. keepNames writes those
// that the store does not have.
func (s *Session) name(ctx context.Context, r stores.Reader, e *verbs.Entity, rows []names.NamedRow) error {
	rows = s.names.Unknown(e.Store, rows)
	if len(rows) == 0 {
		return nil
	}
	if err := s.spell(ctx, r, e, rows); err != nil {
		return err
	}
	var unsure []stores.Value
	for i := range rows {
		if !rows[i].Kept {
			unsure = append(unsure, rows[i].Key)
		}
	}
	if len(unsure) > 0 {
		found, err := r.Names(ctx, stores.NameQuery{Entity: e.Store, Keys: unsure})
		if err != nil {
			return err
		}
		have := make(map[stores.Name]bool, len(found))
		for _, n := range found {
			have[n] = true
		}
		for i := range rows {
			rows[i].Kept = rows[i].Kept || have[rows[i].Name(e.Store)]
		}
	}
	s.names.Add(e.Store, rows...)
	return nil
}

// Suffixes returns the whole suffixes of rows that the session sees, by their keys. A suffix
// never changes, and a name that ends with it finds the row whatever its label is.
func (ns Names) Suffixes(ctx context.Context, e *verbs.Entity, keys ...stores.Value) ([]string, error) {
	id, err := ns.s.e.identity(ctx)
	if err != nil {
		return nil, failure(err)
	}
	all := make([]string, len(keys))
	var unnamed []stores.Value // such as rows of other programs
	for i, key := range keys {
		all[i] = names.Suffix(id.Secret, e.Store, key)
		if _, named := ns.s.names.Row(e.Store, key); !named {
			unnamed = append(unnamed, key)
		}
	}
	if len(unnamed) > 0 {
		err = ns.s.view(ctx, func(r stores.Reader) error { return ns.s.nameKeys(ctx, r, e, unnamed) })
	}
	return all, failure(err)
}

// spell computes the names and suffixes of rows, and asks the store which other rows share them.
func (s *Session) spell(ctx context.Context, r stores.Reader, e *verbs.Entity, rows []names.NamedRow) error {
	ask, err := s.spelled(ctx, e, rows)
	if err != nil || ask == nil {
		return err
	}
	found, err := r.Names(ctx, *ask)
	compare(rows, found)
	return err
}

// spelled works out the names and suffixes of rows as far as the rows tell them, and the query
// for the rest: nil where the names need their suffix in any case.
func (s *Session) spelled(ctx context.Context, e *verbs.Entity, rows []names.NamedRow) (*stores.NameQuery, error) {
	id, err := s.e.identity(ctx)
	if err != nil {
		return nil, err
	}
	bare := len(e.Label.Text) == 0 // a row without a label is one of many by nature
	plain := make([]string, 0, len(rows))
	for i := range rows {
		n := &rows[i]
		n.Plain, n.Suffix = names.Slug(n.Label, e.Store.Name), names.Suffix(id.Secret, e.Store, n.Key)
		n.Shared = bare
		plain = append(plain, n.Plain)
	}
	if bare {
		return nil, nil
	}
	slices.Sort(plain)
	for i := range rows {
		at, _ := slices.BinarySearch(plain, rows[i].Plain)
		rows[i].Shared = at+1 < len(plain) && plain[at+1] == rows[i].Plain
	}
	return &stores.NameQuery{Entity: e.Store, Plain: slices.Compact(plain), Owners: s.owners(e.Store), Most: 2}, nil
}

// compare notes which rows share their name with a row in found, and which names the store has
// already.
func compare(rows []names.NamedRow, found []stores.Name) {
	slices.SortFunc(found, func(a, b stores.Name) int { return strings.Compare(a.Plain, b.Plain) })
	for i := range rows {
		n := &rows[i]
		at, _ := slices.BinarySearchFunc(found, n.Plain, func(other stores.Name, plain string) int { return strings.Compare(other.Plain, plain) })
		for ; at < len(found) && found[at].Plain == n.Plain; at++ {
			n.Shared = n.Shared || found[at].Key != n.Key
			n.Kept = n.Kept || found[at].Key == n.Key && found[at].Owner == n.Owner
		}
	}
}

// adopt notes the name of a row that was just committed.
func (s *Session) adopt(e *stores.Entity, n *names.NamedRow) {
	if n == nil || n.Plain == "" {
		return // the session does not see it
	}
	n.Kept = true
	s.names.Add(e, *n)
}

// renames reports whether a change sets a field of its row's label.
func (e *Engine) renames(c *change) bool {
	for _, p := range c.entity.Label.Paths {
		first := p.Field
		if len(p.Steps) > 0 {
			first = p.Steps[0].Field
		}
		if p.Count == nil && slices.ContainsFunc(c.Set, func(a stores.Assign) bool { return a.Field == first }) {
			return true
		}
	}
	return false
}

// owners returns the owners whose rows of an entity the session sees; nil means all.
func (s *Session) owners(e *stores.Entity) []string {
	switch {
	case s.scope.All:
		return nil
	case e.Access == stores.ForAll:
		return []string{""}
	case e.Access == stores.ByPrincipal:
		return []string{s.who.Name}
	}
	held := s.scope.Holds[rootOf(e).Name]
	owners := make([]string, len(held))
	for i, key := range held {
		owners[i] = key.Text()
	}
	return owners
}

// rootOf returns the entity whose rows own those of e.
func rootOf(e *stores.Entity) *stores.Entity {
	if n := len(e.Scope); n > 0 && e.Scope[n-1].To != nil {
		return e.Scope[n-1].To
	}
	return e
}

// onlyOwner returns the owner of all rows of an entity that the session sees, if there is only
// one.
func (s *Session) onlyOwner(e *stores.Entity) (string, bool) {
	owners := s.owners(e)
	if e.Access == stores.ByPath && len(e.Scope) == 0 || len(owners) != 1 {
		return "", false
	}
	return owners[0], true
}

// SeesSeveral reports whether the session sees rows of several owners. Receipts then name the
// owner of each row.
func (s *Session) SeesSeveral() bool {
	if s.scope.All {
		return true
	}
	for name, keys := range s.scope.Holds {
		if e := s.e.reg.Entity(name); e != nil && len(keys) > 1 {
			return true
		}
	}
	return false
}

// labels selects the key of a row and the fields of its label. A sensitive field never becomes
// part of a name.
func labels(e *verbs.Entity) []stores.Path {
	paths := []stores.Path{{Field: e.Store.Key}}
	for _, p := range e.Label.Paths {
		if !sensitivePath(e.Store, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// namedBy selects what labels does, the owner of the row, and the fields that may hide it.
func namedBy(e *verbs.Entity) []stores.Path {
	paths := labels(e)
	of := e.Store
	switch n := len(of.Scope); {
	case of.Access == stores.ForAll:
		return paths
	case n == 0:
		paths = append(paths, stores.Path{Field: of.Key})
	default:
		paths = append(paths, stores.Path{Steps: of.Scope[:n-1], Field: of.Scope[n-1].Field})
	}
	at := of
	for i := 0; ; i++ {
		for _, f := range at.Visible {
			paths = append(paths, stores.Path{Steps: of.Scope[:i], Field: f})
		}
		if i >= len(of.Scope) || of.Scope[i].To == nil {
			return paths
		}
		at = of.Scope[i].To
	}
}

// toName makes a name of the values that namedBy selected.
func toName(e *verbs.Entity, values []stores.Value) names.NamedRow {
	n := names.NamedRow{Key: values[0], Label: label(e, values)}
	rest := values[len(labels(e)):]
	if e.Store.Access == stores.ForAll {
		return n
	}
	n.Owner = rest[0].Text()
	for _, shown := range rest[1:] {
		if shown.Kind() != stores.Bool || !shown.Bool() {
			n.Owner = hiddenOwner
		}
	}
	return n
}

func sensitivePath(e *stores.Entity, p stores.Path) bool {
	return p.Count == nil && fieldAt(e, p).Sensitive
}

// label prints a label of the values that labels selected.
func label(e *verbs.Entity, values []stores.Value) string {
	var b strings.Builder
	next := 1
	for i, text := range e.Label.Text {
		b.WriteString(text)
		if i >= len(e.Label.Paths) {
			break
		}
		if sensitivePath(e.Store, e.Label.Paths[i]) {
			continue
		}
		b.WriteString(values[next].Text())
		next++
	}
	return strings.TrimSpace(b.String())
}

// read names every row of an entity within scope, except rows that a run has added and not yet
// committed.
func (s *Session) read(ctx context.Context, r stores.Reader, e *verbs.Entity, uncommitted map[view.RowKey]bool) error {
	rows, err := r.Find(ctx, stores.Find{Entity: e.Store, Select: s.e.catalog.names[e], Limit: maxNamed, Blank: true})
	if errors.Is(err, stores.ErrLimit) {
		s.names.SetExtent(e.Store, names.TooMany)
		return nil
	}
	if err != nil {
		return err
	}
	all := make([]names.NamedRow, 0, len(rows))
	for _, row := range rows {
		if !uncommitted[view.RowKey{Entity: e.Store, Key: row[0]}] {
			all = append(all, toName(e, row))
		}
	}
	if err := s.name(ctx, r, e, all); err != nil {
		return err
	}
	s.names.SetExtent(e.Store, names.All)
	return nil
}

// nameKeys names the rows that have some keys, of those within scope.
func (s *Session) nameKeys(ctx context.Context, r stores.Reader, e *verbs.Entity, keys []stores.Value) error {
	return s.labels(ctx, r, e, keys, func(rows []names.NamedRow) error { return s.name(ctx, r, e, rows) })
}

// mostLabels is how many labels are read at once: a store refuses to return more rows than its cap.
const mostLabels = 1000

// labels reads the labels of the rows that have some keys, of those within scope.
func (s *Session) labels(ctx context.Context, r stores.Reader, e *verbs.Entity, keys []stores.Value, each func([]names.NamedRow) error) error {
	for some := range slices.Chunk(keys, mostLabels) {
		where := isRow(e.Store, some[0])
		if len(some) > 1 {
			where = &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(some...)}
		}
		rows, err := r.Find(ctx, stores.Find{Entity: e.Store, Select: s.e.catalog.names[e], Where: where, Limit: len(some), Blank: true})
		if err != nil {
			return err
		}
		all := make([]names.NamedRow, len(rows))
		for i, row := range rows {
			all[i] = toName(e, row)
		}
		if err := each(all); err != nil {
			return err
		}
	}
	return nil
}

// NameRows gives a name to all rows that have none yet, and returns their number. Rows that
// the engine writes have one from the start. Call it after rows were loaded by other means; it
// is safe at any time, while others work.
func (e *Engine) NameRows(ctx context.Context) (int, error) {
	all := stores.Scope{All: true}
	total := 0
	id, err := e.identity(ctx)
	if err != nil {
		return 0, failure(err)
	}
	for _, entity := range e.catalog.entities {
		find := stores.Find{Entity: entity.Store, Select: e.catalog.names[entity], Limit: maxNamed, Cut: true, Blank: true}
		for {
			var missing []stores.Name
			var last stores.Value
			var nameless []stores.Unreadable
			read := 0
			find.Unreadable = &nameless
			err := e.store.View(ctx, all, func(r stores.Reader) error {
				nameless = nil
				rows, err := r.Find(ctx, find)
				if err != nil || len(rows) == 0 {
					return err
				}
				read = len(rows) + len(nameless)
				last = rows[len(rows)-1][0]
				given := make([]stores.Name, len(rows))
				keys := make([]stores.Value, len(rows))
				for i, row := range rows {
					n := toName(entity, row)
					n.Plain, n.Suffix = names.Slug(n.Label, entity.Store.Name), names.Suffix(id.Secret, entity.Store, n.Key)
					given[i], keys[i] = n.Name(entity.Store), n.Key
				}
				kept, err := r.Names(ctx, stores.NameQuery{Entity: entity.Store, Keys: keys})
				have := make(map[stores.Name]bool, len(kept))
				for _, n := range kept {
					have[n] = true
				}
				missing = slices.DeleteFunc(given, func(n stores.Name) bool { return have[n] })
				return err
			})
			if err == nil && len(missing) > 0 {
				err = writeTo(ctx, e, all, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Names: missing}) })
			}
			if err != nil {
				return total, failure(err)
			}
			if total += len(missing); read < maxNamed {
				break
			}
			find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: entity.Store.Key}, Value: last}
		}
	}
	return total, nil
}

// view reads within the session's scope, and then keeps the names that were given meanwhile.
func (s *Session) view(ctx context.Context, fn func(stores.Reader) error) error {
	err := s.e.store.View(ctx, s.scope, fn)
	if err == nil {
		s.keepNames(ctx)
	}
	return err
}

// keepNames writes new names to the store, before anybody is shown them. If that fails, as in
// a store that is read-only, a name is still found while few enough rows are in scope.
func (s *Session) keepNames(ctx context.Context) {
	if fresh := s.names.Fresh(); len(fresh) > 0 {
		ctx, stop := context.WithTimeout(ctx, keepingTime)
		defer stop()
		s.e.store.Update(ctx, s.engineScope(), func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Names: fresh}) })
	}
}

// lookUp looks for names in the store's table.
func (s *Session) lookUp(ctx context.Context, r stores.Reader, e *verbs.Entity, words []string) error {
	if len(words) == 0 {
		return nil
	}
	owners := s.owners(e.Store)
	found := make(map[string][]stores.Name, len(words))
	var plain []string
	for _, word := range words {
		name, suffix, has := strings.Cut(word, "~")
		if !has {
			plain = append(plain, word)
			continue
		}
		all, err := r.Names(ctx, stores.NameQuery{Entity: e.Store, Suffix: suffix, Owners: owners, Most: names.MaxHomonyms})
		if err != nil {
			return err
		}
		for _, n := range all {
			// Part of a suffix is not enough by itself.
			if len(suffix) == names.SuffixLength || n.Plain == name {
				found[word] = append(found[word], n)
			}
		}
	}
	if len(plain) > 0 {
		all, err := r.Names(ctx, stores.NameQuery{Entity: e.Store, Plain: plain, Owners: owners, Most: names.MaxHomonyms})
		if err != nil {
			return err
		}
		for _, n := range all {
			found[n.Plain] = append(found[n.Plain], n)
		}
	}
	var keys []stores.Value
	for _, all := range found {
		for _, n := range all {
			if !slices.Contains(keys, n.Key) {
				keys = append(keys, n.Key)
			}
		}
	}
	if len(keys) > 0 {
		if err := s.nameKeys(ctx, r, e, keys); err != nil {
			return err
		}
	}
	for _, word := range words {
		s.names.Settle(e.Store, word, found[word])
	}
	return nil
}

// ownerName returns the name of a row's owner, if that is another row and has a name in this
// session.
func (s *Session) ownerName(e *stores.Entity, owner string) string {
	root, key, ok := ownerOf(e, owner)
	switch {
	case e.Access == stores.ByPrincipal:
		return owner
	case !ok:
		return ""
	}
	row, _ := s.names.Row(root, key)
	if row.Name == "" {
		return ""
	}
	return row.Shown()
}

// ownerOf returns the row that owns a row of an entity, if that is another row.
func ownerOf(e *stores.Entity, owner string) (root *stores.Entity, key stores.Value, ok bool) {
	root = rootOf(e)
	if root == e || e.Access != stores.ByPath || owner == "" || owner == hiddenOwner {
		return root, key, false
	}
	key, ok = stores.Parse(root.Fields[root.Key].Kind, owner)
	return root, key, ok
}

// nameOwners names the owners of rows of an entity that were named.
func (s *Session) nameOwners(ctx context.Context, r stores.Reader, e *verbs.Entity, rows []stores.Value) error {
	var root *stores.Entity
	var keys []stores.Value
	for _, row := range rows {
		named, _ := s.names.Row(e.Store, row)
		of, key, ok := ownerOf(e.Store, named.Owner)
		if ok && !slices.Contains(keys, key) {
			root, keys = of, append(keys, key)
		}
	}
	if len(keys) == 0 || s.e.reg.EntityOf(root) == nil {
		return nil
	}
	return s.nameKeys(ctx, r, s.e.reg.EntityOf(root), keys)
}

// fieldAt returns the field that a path ends at.
func fieldAt(e *stores.Entity, p stores.Path) *stores.Field {
	for _, step := range p.Steps {
		e = step.To
	}
	return &e.Fields[p.Field]
}

// ErrAmbiguous says that a name stands for several rows. Its text lists them.
var ErrAmbiguous = errors.New("that is the name of several rows")

// Find finds a row within scope by its name, such as @pierre-sow, or by its label. The name
// of its entity may stand before either, separated by a blank. It returns stores.ErrNotFound
// where there is no such row within scope, and an error that wraps ErrAmbiguous where there
// are several.
func (ns Names) Find(ctx context.Context, text string) (*stores.Entity, stores.Value, error) {
	among := ns.s.e.catalog.entities
	if name, rest, ok := strings.Cut(text, " "); ok {
		if e := ns.s.e.reg.Entity(name); e != nil {
			among, text = []*verbs.Entity{e}, rest
		}
	}
	type hit struct {
		e   *verbs.Entity
		key stores.Value
		row names.Row
	}
	var hits []hit
	name, isName := strings.CutPrefix(text, "@")
	err := ns.s.view(ctx, func(r stores.Reader) error {
		for _, e := range among {
			if isName {
				if err := ns.s.lookUp(ctx, r, e, []string{name}); err != nil {
					return err
				}
				if _, found := ns.s.names.Key(e.Store, name); found {
					continue
				}
			}
			if err := ns.s.read(ctx, r, e, nil); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, stores.Value{}, failure(err)
	}
	for _, e := range among {
		means, known := ns.s.names.Key(e.Store, name)
		ns.s.names.Each(e.Store, func(key stores.Value, row names.Row) {
			if isName && (known && means == key || row.Plain() == name) || !isName && strings.EqualFold(row.Label, text) {
				hits = append(hits, hit{e, key, row})
			}
		})
	}
	switch len(hits) {
	case 0:
		return nil, stores.Value{}, stores.ErrNotFound
	case 1:
		return hits[0].e.Store, hits[0].key, nil
	}
	list := message.Names(hits, func(h hit) string { return strconv.Quote(h.e.Store.Name + " @" + h.row.Name) })
	slices.Sort(list)
	return nil, stores.Value{}, fmt.Errorf("%w: %s", ErrAmbiguous, strings.Join(list, ", "))
}

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
		near = likeNames(n.s, among, plain)
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

// look looks for every text that is no name.
func (n *scriptNames) look(ctx context.Context, r stores.Reader) error {
	for _, e := range n.among {
		var all []*meaning
		for _, m := range n.meant[e] {
			if _, named := n.s.names.Key(e.Store, m.text); !named && len(m.words) > 0 {
				all = append(all, m)
			}
		}
		if len(all) == 0 {
			continue
		}
		if err := searchLabels(ctx, n.s, r, e, all); err != nil {
			return err
		}
		for _, m := range all {
			if key, exact := n.s.names.Text(e.Store, m.text); exact {
				if err := n.s.nameKeys(ctx, r, e, []stores.Value{key}); err != nil {
					return err
				}
				continue
			}
			if err := tellCandidates(ctx, n.s, r, e, m); err != nil {
				return err
			}
		}
	}
	return nil
}
