package runtime

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"verbatim/stores"
	"verbatim/verbs"
)

// A person or a model is never shown a key. It sees names such as
// `@pierre-dupont-identity`, made of the label of a row, and where rows share a
// label `@pierre-dupont-identity~k3f9ab`. The suffix belongs to the row: it is made
// of the row's key with a secret of the store, so that it never changes, tells
// nothing of the key, and means nothing in another store.
//
// The store keeps each name that a row was given, for ever: see stores.Name. So a
// name that somebody was shown means that row, in every process and whatever
// becomes of labels, or it is an error. Rows that the engine writes get their names
// in the transaction that writes them. Rows of other programs get theirs when
// they are first shown, when a name is looked for in a scope of at most maxNamed
// rows, and from NameRows.
//
// What is kept (journal, pending confirmations, what is done under a key) holds
// the name with the whole suffix.
type names struct {
	mu    sync.Mutex
	books map[*stores.Entity]*book
	fresh []stores.Name // shown, and not kept in the store yet
}

// A book holds what a session knows of the names of one entity's rows.
type book struct {
	whole  bool // every row in scope was read; otherwise only single rows were named
	vast   bool // there were too many to read
	rows   map[stores.Value]named
	plain  map[string][]stores.Value // rows by their name without suffix
	keys   map[string]stores.Value   // rows by each word that the session knows them by
	unsure map[string]bool           // words that may mean several rows
	texts  map[string]stores.Value   // what a script called a row that has exactly that label
}

// A named is what a row is called.
type named struct {
	name  string // as it is shown: without the suffix where it is the only one of its name
	kept  string // with the whole suffix, as it is written down
	label string
	owner string // as of stores.Name
}

const (
	// maxNamed is how many rows of one entity a session reads to name them.
	maxNamed = 5000
	// maxSlug keeps a name short enough to be typed.
	maxSlug = 48
	// suffixLength is that of a whole suffix, 80 bits, and shownSuffix of what is
	// shown of it. A suffix that is not whole counts together with the name.
	suffixLength = 16
	shownSuffix  = 6
	// maxHomonyms is how many rows of one name are looked at.
	maxHomonyms = 6
	// namingTime bounds the reading of labels by Check.
	namingTime = 10 * time.Second
	// keepingTime bounds the keeping of names, which nobody asked for.
	keepingTime = 2 * time.Second
	// suffixLetters spell five bits each; letters that look like digits are left out.
	suffixLetters = "0123456789abcdefghjkmnpqrstvwxyz"
	// hiddenOwner is the owner of a row that only those who see all rows can see.
	hiddenOwner = "(hidden)"
)

func (n *names) book(e *stores.Entity) *book {
	if n.books == nil {
		n.books = make(map[*stores.Entity]*book)
	}
	b := n.books[e]
	if b == nil {
		b = &book{rows: make(map[stores.Value]named), plain: make(map[string][]stores.Value), keys: make(map[string]stores.Value), unsure: make(map[string]bool)}
		n.books[e] = b
	}
	return b
}

// suffix makes the suffix of a row.
func (e *Engine) suffix(id stores.Identity, of *stores.Entity, key stores.Value) string {
	mac := hmac.New(sha256.New, id.Secret)
	fmt.Fprintf(mac, "verbatim name 1\x00%s\x00%s\x00%s", of.Table, key.Kind(), key.Text())
	sum := mac.Sum(nil)
	b := make([]byte, suffixLength)
	for i := range b {
		bit := i * 5
		word := uint16(sum[bit/8])<<8 | uint16(sum[bit/8+1])
		b[i] = suffixLetters[word>>(11-bit%8)&31]
	}
	return string(b)
}

// identity is that of the store, asked for once.
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

// A naming is a row that is to be named.
type naming struct {
	key    stores.Value
	label  string
	owner  string
	plain  string
	suffix string
	shared bool // others have its plain name
	kept   bool // the store has this very name
}

// name names rows of an entity that have no name in this session yet. Names that
// the store does not have are kept by keepNames.
func (s *Session) name(ctx context.Context, r stores.Reader, e *verbs.Entity, rows []naming) error {
	s.names.mu.Lock()
	b := s.names.book(e.Store)
	rows = slices.DeleteFunc(rows, func(n naming) bool { _, known := b.rows[n.key]; return known })
	s.names.mu.Unlock()
	if len(rows) == 0 {
		return nil
	}
	if err := s.spell(ctx, r, e, rows); err != nil {
		return err
	}
	var unsure []stores.Value
	for i := range rows {
		if !rows[i].kept {
			unsure = append(unsure, rows[i].key)
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
			rows[i].kept = rows[i].kept || have[rows[i].as(e.Store)]
		}
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	for i := range rows {
		b.add(&rows[i])
		if !rows[i].kept {
			s.names.fresh = append(s.names.fresh, rows[i].as(e.Store))
		}
	}
	return nil
}

// spell works out the name and the suffix of rows, and asks the store who else is
// called so.
func (s *Session) spell(ctx context.Context, r stores.Reader, e *verbs.Entity, rows []naming) error {
	id, err := s.e.identity(ctx)
	if err != nil {
		return err
	}
	count := make(map[string]int)
	for i := range rows {
		n := &rows[i]
		n.plain, n.suffix = slug(n.label, e.Store.Name), s.e.suffix(id, e.Store, n.key)
		// A row without a label is one of many by nature: its name has the suffix.
		n.shared = len(e.Label.Text) == 0
		count[n.plain]++
	}
	if len(e.Label.Text) == 0 {
		return nil
	}
	found, err := r.Names(ctx, stores.NameQuery{Entity: e.Store, Plain: slices.Collect(maps.Keys(count)), Owners: s.owners(e.Store), Most: 2})
	if err != nil {
		return err
	}
	with := make(map[string][]stores.Name)
	for _, n := range found {
		with[n.Plain] = append(with[n.Plain], n)
	}
	for i := range rows {
		n := &rows[i]
		n.shared = count[n.plain] > 1
		for _, other := range with[n.plain] {
			n.shared = n.shared || other.Key != n.key
			n.kept = n.kept || other.Key == n.key && other.Owner == n.owner
		}
	}
	return nil
}

// adopt notes what a row is called that was just committed.
func (s *Session) adopt(e *stores.Entity, n naming) {
	if n.plain == "" {
		return // the session does not see it
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	s.names.book(e).add(&n)
}

// forget drops what a row was called, whose label has changed. The words that it
// was known by go on meaning it.
func (s *Session) forget(e *stores.Entity, key stores.Value) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.book(e)
	delete(b.rows, key)
	b.whole = false
	for plain, keys := range b.plain {
		b.plain[plain] = slices.DeleteFunc(keys, func(k stores.Value) bool { return k == key })
	}
}

// renames reports whether a change sets a field that its row is called by.
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

// as is the name as the store keeps it.
func (n *naming) as(e *stores.Entity) stores.Name {
	return stores.Name{Entity: e, Key: n.key, Plain: n.plain, Suffix: n.suffix, Owner: n.owner}
}

// add notes what a row is called. A name that turns out to be that of several rows
// no longer means the first of them.
func (b *book) add(n *naming) {
	if _, known := b.rows[n.key]; known {
		return
	}
	row := named{name: n.plain, kept: n.plain + "~" + n.suffix, label: n.label, owner: n.owner}
	short := n.plain + "~" + n.suffix[:shownSuffix]
	others := b.plain[n.plain]
	b.plain[n.plain] = append(others, n.key)
	if n.shared || len(others) > 0 {
		row.name = short
		for _, other := range others {
			had := b.rows[other]
			if had.name == n.plain {
				had.name = had.kept[:len(n.plain)+1+shownSuffix]
				b.rows[other] = had
			}
		}
		delete(b.keys, n.plain)
		b.unsure[n.plain] = b.unsure[n.plain] || len(others) > 0
	} else {
		b.keys[n.plain] = n.key
	}
	if other, taken := b.keys[short]; taken && other != n.key {
		// Two rows of one name whose suffixes begin alike: both are shown whole.
		row.name = row.kept
		had := b.rows[other]
		had.name = had.kept
		b.rows[other] = had
		b.unsure[short] = true
		delete(b.keys, short)
	} else if !b.unsure[short] {
		b.keys[short] = n.key
	} else {
		row.name = row.kept
	}
	b.keys[row.kept] = n.key
	b.rows[n.key] = row
}

// owners are those whose rows of an entity the session sees, nil for everybody's.
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

// rootOf is the entity whose rows own those of e.
func rootOf(e *stores.Entity) *stores.Entity {
	if n := len(e.Scope); n > 0 && e.Scope[n-1].To != nil {
		return e.Scope[n-1].To
	}
	return e
}

// onlyOwner is the owner of every row of an entity that the session sees, where
// that is known without a look at the row.
func (s *Session) onlyOwner(e *stores.Entity) (string, bool) {
	owners := s.owners(e)
	if e.Access == stores.ByPath && len(e.Scope) == 0 || len(owners) != 1 {
		return "", false
	}
	return owners[0], true
}

// SeesSeveral reports whether the session sees rows of several owners: then it is
// told whose a row is.
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

// labels selects what a row is called by: its key, then the fields of its
// template. A sensitive field never becomes part of a name.
func labels(e *verbs.Entity) []stores.Path {
	paths := []stores.Path{{Field: e.Store.Key}}
	for _, p := range e.Label.Paths {
		if !sensitivePath(e.Store, p) {
			paths = append(paths, p)
		}
	}
	return paths
}

// namedBy selects what a row is called by and whose it is: what labels selects,
// its owner, and the fields that may hide it.
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

// toName makes a naming of what namedBy selected.
func toName(e *verbs.Entity, values []stores.Value) naming {
	n := naming{key: values[0], label: label(e, values)}
	rest := values[len(labels(e)):]
	if e.Store.Access == stores.ForAll {
		return n
	}
	n.owner = rest[0].Text()
	for _, shown := range rest[1:] {
		if shown.Kind() != stores.Bool || !shown.Bool() {
			n.owner = hiddenOwner
		}
	}
	return n
}

func sensitivePath(e *stores.Entity, p stores.Path) bool {
	return p.Count == nil && fieldAt(e, p).Sensitive
}

// label prints what labels selected.
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

// read names every row of an entity within scope. Rows that a run has added and
// not yet committed are left out: they may never be.
func (s *Session) read(ctx context.Context, r stores.Reader, e *verbs.Entity, uncommitted map[stores.Value]string) error {
	rows, err := r.Find(ctx, stores.Find{Entity: e.Store, Select: s.e.naming[e], Limit: maxNamed})
	if errors.Is(err, stores.ErrLimit) {
		s.names.mu.Lock()
		defer s.names.mu.Unlock()
		s.names.book(e.Store).vast = true
		return nil
	}
	if err != nil {
		return err
	}
	all := make([]naming, 0, len(rows))
	for _, row := range rows {
		if _, skip := uncommitted[row[0]]; !skip {
			all = append(all, toName(e, row))
		}
	}
	if err := s.name(ctx, r, e, all); err != nil {
		return err
	}
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	s.names.book(e.Store).whole = true
	return nil
}

// nameKeys names the rows that have some keys, of those within scope.
func (s *Session) nameKeys(ctx context.Context, r stores.Reader, e *verbs.Entity, keys []stores.Value) error {
	where := isRow(e.Store, keys[0])
	if len(keys) > 1 {
		where = &stores.Cond{Op: stores.In, Path: stores.Path{Field: e.Store.Key}, Value: stores.NewList(keys...)}
	}
	rows, err := r.Find(ctx, stores.Find{Entity: e.Store, Select: s.e.naming[e], Where: where, Limit: len(keys)})
	if err != nil {
		return err
	}
	all := make([]naming, len(rows))
	for i, row := range rows {
		all[i] = toName(e, row)
	}
	return s.name(ctx, r, e, all)
}

// NameRows has the store keep the names of all rows that have none yet, and returns
// how many these were. Rows that the engine writes have theirs from the start. Who
// loads rows by other means calls it afterwards; it can be called at any time, also
// while others work.
func (e *Engine) NameRows(ctx context.Context) (int, error) {
	all := stores.Scope{All: true}
	total := 0
	id, err := e.identity(ctx)
	if err != nil {
		return 0, failure(err)
	}
	for _, entity := range e.entities {
		find := stores.Find{Entity: entity.Store, Select: e.naming[entity], Limit: maxNamed, Cut: true}
		for {
			var missing []stores.Name
			read := 0
			err := e.store.View(ctx, all, func(r stores.Reader) error {
				rows, err := r.Find(ctx, find)
				if err != nil || len(rows) == 0 {
					return err
				}
				read = len(rows)
				find.Where = &stores.Cond{Op: stores.Gt, Path: stores.Path{Field: entity.Store.Key}, Value: rows[read-1][0]}
				names := make([]stores.Name, read)
				keys := make([]stores.Value, read)
				for i, row := range rows {
					n := toName(entity, row)
					n.plain, n.suffix = slug(n.label, entity.Store.Name), e.suffix(id, entity.Store, n.key)
					names[i], keys[i] = n.as(entity.Store), n.key
				}
				kept, err := r.Names(ctx, stores.NameQuery{Entity: entity.Store, Keys: keys})
				have := make(map[stores.Name]bool, len(kept))
				for _, n := range kept {
					have[n] = true
				}
				missing = slices.DeleteFunc(names, func(n stores.Name) bool { return have[n] })
				return err
			})
			if err == nil && len(missing) > 0 {
				err = e.write(ctx, all, func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Names: missing}) })
			}
			if err != nil {
				return total, failure(err)
			}
			if total += len(missing); read < maxNamed {
				break
			}
		}
	}
	return total, nil
}

// view reads within the session's scope, and has the store keep the names that were
// given meanwhile.
func (s *Session) view(ctx context.Context, fn func(stores.Reader) error) error {
	err := s.e.store.View(ctx, s.scope, fn)
	if err == nil {
		s.keepNames(ctx)
	}
	return err
}

// keepNames has the store keep the names that were given since. It is done before
// anybody is shown them. Where it cannot be done, in a store that only takes reads,
// say, a name is found as long as few enough rows are in scope.
func (s *Session) keepNames(ctx context.Context) {
	s.names.mu.Lock()
	fresh := s.names.fresh
	s.names.fresh = nil
	s.names.mu.Unlock()
	if len(fresh) > 0 {
		ctx, stop := context.WithTimeout(ctx, keepingTime)
		defer stop()
		s.e.store.Update(ctx, s.engineScope(), func(tx stores.Tx) error { return tx.Apply(ctx, stores.Batch{Names: fresh}) })
	}
}

// known returns what a row is called, if it was named.
func (s *Session) known(e *stores.Entity, key stores.Value) (named, bool) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.books[e]
	if b == nil {
		return named{}, false
	}
	row, ok := b.rows[key]
	return row, ok
}

// key returns the row that a name of an entity stands for in this session.
func (s *Session) key(e *stores.Entity, name string) (stores.Value, bool) {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.books[e]
	if b == nil {
		return stores.Value{}, false
	}
	key, ok := b.keys[name]
	return key, ok
}

// isVast reports whether an entity is known to have too many rows in scope to read
// them all.
func (s *Session) isVast(e *verbs.Entity) bool {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	return s.names.book(e.Store).vast
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
		all, err := r.Names(ctx, stores.NameQuery{Entity: e.Store, Suffix: suffix, Owners: owners, Most: maxHomonyms})
		if err != nil {
			return err
		}
		for _, n := range all {
			// Part of a suffix is not enough by itself.
			if len(suffix) == suffixLength || n.Plain == name {
				found[word] = append(found[word], n)
			}
		}
	}
	if len(plain) > 0 {
		all, err := r.Names(ctx, stores.NameQuery{Entity: e.Store, Plain: plain, Owners: owners, Most: maxHomonyms})
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
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.book(e.Store)
	for _, word := range words {
		var keys, there []stores.Value
		for _, n := range found[word] {
			if slices.Contains(keys, n.Key) {
				continue
			}
			keys = append(keys, n.Key)
			if _, ok := b.rows[n.Key]; ok {
				there = append(there, n.Key)
			}
		}
		switch {
		case len(there) == 0:
		case len(keys) == 1 && !b.unsure[word]:
			b.keys[word] = keys[0]
		default:
			// It was, or is, the name of another row as well.
			delete(b.keys, word)
			b.unsure[word] = true
			if !strings.Contains(word, "~") {
				for _, key := range there {
					if !slices.Contains(b.plain[word], key) {
						b.plain[word] = append(b.plain[word], key)
					}
				}
			}
		}
	}
	return nil
}

// shortened is a symbol of a text that is kept, as people are shown it.
func shortened(symbol string) string {
	if at := strings.IndexByte(symbol, '~'); at >= 0 {
		name, path, has := strings.Cut(symbol, ".")
		if symbol = name[:min(len(name), at+1+shownSuffix)]; has {
			symbol += "." + path
		}
	}
	return symbol
}

// homonyms are the rows that a name may mean, where it may mean several.
func (s *Session) homonyms(e *stores.Entity, word string) []named {
	s.names.mu.Lock()
	defer s.names.mu.Unlock()
	b := s.names.books[e]
	if b == nil {
		return nil
	}
	if _, known := b.keys[word]; known {
		return nil
	}
	plain, suffix, _ := strings.Cut(word, "~")
	var all []named
	for _, key := range b.plain[plain] {
		row := b.rows[key]
		if suffix == "" || strings.HasPrefix(row.kept[strings.LastIndexByte(row.kept, '~')+1:], suffix) {
			row.name = row.kept[:strings.LastIndexByte(row.kept, '~')+1+shownSuffix]
			all = append(all, row)
		}
	}
	slices.SortFunc(all, func(a, b named) int { return strings.Compare(a.kept, b.kept) })
	return all[:min(len(all), maxHomonyms)]
}

// ownerName is what the owner of a row is called, where this is another row that was
// named before.
func (s *Session) ownerName(e *stores.Entity, owner string) string {
	root, key, ok := ownerOf(e, owner)
	switch {
	case e.Access == stores.ByPrincipal:
		return owner
	case !ok:
		return ""
	}
	row, _ := s.known(root, key)
	if row.name == "" {
		return ""
	}
	return "@" + row.name
}

// ownerOf is the row that owns rows of an entity, where this is another row.
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
		named, _ := s.known(e.Store, row)
		of, key, ok := ownerOf(e.Store, named.owner)
		if ok && !slices.Contains(keys, key) {
			root, keys = of, append(keys, key)
		}
	}
	if len(keys) == 0 || s.e.reg.EntityOf(root) == nil {
		return nil
	}
	return s.nameKeys(ctx, r, s.e.reg.EntityOf(root), keys)
}
