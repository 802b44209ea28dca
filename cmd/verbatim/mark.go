package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/domains/manda"
	"verbatim/runtime/engine"
	"verbatim/stores"
	"verbatim/verbs"
)

// A store cannot know that it is a copy, or that it was restored from a backup. Its pending
// confirmations may then have been used since. So the command notes, in the user's own state, each
// place where a store was used and how far its journal had come. If the two disagree, pending
// confirmations are dropped.
type mark struct {
	store stores.Store
	file  string // "" if nothing can be noted
	place string
	mu    sync.Mutex // guards known
	known places
}

// places are the journal heads of a store, by the place where it was used.
type places map[string]struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// stateFolder is the folder of the command's state, or "".
func (a *app) stateFolder() string {
	dir := a.env("XDG_STATE_HOME")
	if home := a.env("HOME"); dir == "" && home != "" {
		dir = filepath.Join(home, ".local", "state")
	}
	if dir != "" {
		dir = filepath.Join(dir, "verbatim")
	}
	return dir
}

// ours reports whether a verb belongs to the program and has no phrases: operators call such verbs
// by name, so they do not take part in matching.
func ours(v *verbs.Verb) bool {
	domain, _, _ := strings.Cut(v.Name, ".")
	return (domain == "system" || domain == "channel") && len(v.Phrases) == 0
}

// phrases indexes the palettes' phrases, and what the data room's answers say in languages that its
// palette does not speak.
func (a *app) phrases(reg *verbs.Registry) *intent.Index {
	index := intent.New(reg, ours)
	if reg.Verb("manda.query-knowledge-base") != nil {
		index.Also(manda.Says)
	}
	return index
}

// marked compares a store with its note. unknown says that there is none, so a restored or copied
// store would not be noticed.
func (a *app) marked(ctx context.Context, engine *engine.Engine, store stores.Store, flag string) (m *mark, unknown bool, err error) {
	id, err := store.Identity(ctx)
	if err != nil {
		return nil, false, err
	}
	at, err := a.storeAddress(flag)
	if err != nil {
		return nil, false, err
	}
	m = &mark{store: store, place: cmp.Or(id.Place, at.place()), known: places{}}
	dir := a.stateFolder()
	if dir == "" {
		return m, true, nil
	}
	m.file = filepath.Join(dir, id.ID+".json")
	text, err := os.ReadFile(m.file)
	if err != nil || json.Unmarshal(text, &m.known) != nil || len(m.known) == 0 {
		m.known = places{}
		a.keeps(ctx, m)
		return m, true, nil
	}
	why := ""
	was, here := m.known[m.place]
	if old, noted := m.known[at.place()]; !here && noted { // by an earlier build, which noted addresses
		was, here = old, true
	}
	if id.Place != "" { // from now on an address says nothing: what was noted of it grows old
		delete(m.known, at.place())
	}
	if !here {
		why = "it is a copy of a store that was used elsewhere"
	} else if was.Seq > 0 {
		entries, err := store.Journal(ctx, was.Seq, was.Seq)
		if err != nil {
			return nil, false, err
		}
		if len(entries) != 1 || hex.EncodeToString(entries[0].Hash[:]) != was.Hash {
			why = "it was put back to what it was a while ago"
		}
	}
	if why == "" {
		a.keeps(ctx, m)
		return m, false, nil
	}
	n, err := engine.DropPending(ctx)
	if n > 0 {
		fmt.Fprintf(a.err, "this store is not what it was when it was last used here: %s. What waited for an agreement was dropped (%d); ask again\n", why, n)
	}
	if err == nil {
		a.keeps(ctx, m)
	}
	return m, false, err
}

// keeps writes the note now, and again after each commit that used an agreement. A process that is
// killed writes no note at its end. Without this one, an older copy of the store would not be
// recognised, and the same agreement could be used again.
func (a *app) keeps(ctx context.Context, m *mark) {
	m.keep(ctx)
	a.agreed = m.keep
}

// noteAgreed is engine.Options.Agreed.
func (a *app) noteAgreed(ctx context.Context) {
	if a.agreed != nil {
		a.agreed(ctx)
	}
}

// keep notes how far the journal has come.
func (m *mark) keep(ctx context.Context) {
	if m == nil || m.file == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	seq, hash, err := m.store.Head(context.WithoutCancel(ctx))
	if err != nil {
		return
	}
	is := m.known[m.place]
	is.Seq, is.Hash = seq, hex.EncodeToString(hash[:])
	m.known[m.place] = is
	if text, err := json.Marshal(m.known); err == nil {
		note(m.file, text)
	}
}

// note writes a file of the state atomically.
func note(file string, text []byte) {
	if os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	if temp, err := os.CreateTemp(filepath.Dir(file), "mark"); err == nil {
		_, err = temp.Write(text)
		if closed := temp.Close(); err == nil && closed == nil {
			err = os.Rename(temp.Name(), file)
		}
		if err != nil {
			os.Remove(temp.Name())
		}
	}
}

// place identifies a store without its user.
func (at address) place() string {
	if at.url != "" {
		u, err := url.Parse(at.url)
		if err != nil {
			return "postgres"
		}
		return u.Host + u.Path + " " + u.Query().Get("host")
	}
	path, err := filepath.Abs(at.file)
	if err != nil {
		path = at.file
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return path
}
