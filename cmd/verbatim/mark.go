package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"verbatim/runtime/conversation/intent"
	"verbatim/runtime/domains/manda"
	"verbatim/runtime/engine"
	"verbatim/runtime/frontends/http/server"
	"verbatim/runtime/frontends/http/server/logins"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/verbs"
	"verbatim/verbs/strict"
)

// A file cannot know that it is a copy, or that it was restored from a backup. Its pending
// confirmations may then have been used since. So the command notes, in a folder for its state, each
// place where a store was used and how far its journal had come. If the two disagree, or if a
// database says that it was restored, pending confirmations and logins are dropped.
type mark struct {
	store  stores.Store
	tells  bool   // the store notices restores by itself
	file   string // "" if nothing can be noted
	place  string
	mu     sync.Mutex // guards known and failed
	known  places
	failed error // why the last note was not written
}

// places are the heads of a store's journal, that of the last sealed entry, by the place where it was used.
type places map[string]struct {
	Seq  int64  `json:"seq"`
	Hash string `json:"hash"`
}

// stateFolder is the folder of the command's state, or "". A unit of systemd names the only one
// that it may write.
func (a *app) stateFolder() string {
	dir := cmp.Or(a.env("XDG_STATE_HOME"), a.env("STATE_DIRECTORY"))
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

// marked compares a store with its note, and drops what was restored or copied with it.
func (a *app) marked(ctx context.Context, engine *engine.Engine, store stores.Store, flag string) (*mark, error) {
	m, why, err := a.suspects(ctx, store, flag)
	if err == nil && why != "" {
		err = a.dropOld(ctx, engine, store, why)
	}
	if err != nil {
		return m, err
	}
	a.keeps(ctx, m)
	return m, nil
}

// suspects says why a store may not be what it was when it was last used here, or "". A file of which
// nothing is noted may be a copy or a backup: nobody knows whether what waits in it was decided since.
func (a *app) suspects(ctx context.Context, store stores.Store, flag string) (m *mark, why string, err error) {
	id, err := store.Identity(ctx)
	if err != nil {
		return nil, "", err
	}
	at, err := a.storeAddress(flag)
	if err != nil {
		return nil, "", err
	}
	m = &mark{store: store, tells: id.Tells, place: cmp.Or(id.Place, at.place()), known: places{}}
	if dir := a.stateFolder(); dir != "" {
		m.file = filepath.Join(dir, id.ID+".json")
	}
	if text, err := os.ReadFile(m.file); err == nil && strict.Record(text, &m.known) == nil && len(m.known) > 0 {
		if why, err = m.differs(ctx, id.Place, at.place()); err != nil {
			return nil, "", err
		}
	} else if m.known = (places{}); !id.Tells && m.file != "" && canWrite(filepath.Dir(m.file)) == nil { // see withoutMark
		if seq, _, err := store.Head(ctx); err != nil {
			return nil, "", err
		} else if seq > 0 { // else nobody asked for anything yet
			why = "nothing is noted of it on this machine, so it may be a copy or a backup"
		}
	}
	if id.Restored {
		why = "its database was put back from a backup, or another server took over"
	}
	if why != "" {
		why = "this store may not be what it was when it was last used here: " + why
	}
	return m, why, nil
}

// dropOld drops what waits for an agreement, and logins and links for signing in: all of them may
// have been used, or ended, since the store was what it is.
func (a *app) dropOld(ctx context.Context, engine *engine.Engine, store stores.Store, why string) error {
	n, err := engine.DropPending(ctx)
	if err == nil {
		err = (&logins.Book{Store: store, Clock: a.now}).Forget(ctx)
	}
	if errors.Is(err, stores.ErrSchema) { // a store without logins has none to drop
		err = nil
	}
	if err == nil {
		err = store.Settle(ctx)
	}
	if err == nil && n > 0 {
		fmt.Fprintf(a.err, "%s. What waited for an agreement was dropped (%d); ask again\n", why, n)
	}
	return err
}

// restoreLook is how often a server looks whether its database was restored under it.
const restoreLook = time.Second

// watchRestores drops what waits, and logins, when a database is restored while a server uses it, until ctx
// ends. An agreement looks by itself; logins may be good for a second.
func (a *app) watchRestores(ctx context.Context, engine *engine.Engine, store stores.Store, log *slog.Logger) {
	again := time.NewTicker(restoreLook)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
		}
		if id, err := store.Identity(ctx); err != nil || !id.Restored {
			continue // a store that does not answer is reported elsewhere
		}
		log.Error("store", "error", restoredUnder, "next", "verbatim log verify --since CHECKPOINT; whoever waited has to ask again, and people to sign in")
		if err := a.dropOld(ctx, engine, store, restoredUnder); err != nil {
			log.Error("store", "error", err.Error())
		}
	}
}

const restoredUnder = "the database was put back from a backup, or another server took over, while this server ran"

// differs compares the note with the store, and says what does not agree, or "". address is where
// the store was reached, which earlier builds noted.
func (m *mark) differs(ctx context.Context, place, address string) (string, error) {
	was, here := m.known[m.place]
	if old, noted := m.known[address]; !here && noted {
		was, here = old, true
	}
	if place != "" { // from now on an address says nothing: what was noted of it grows old
		delete(m.known, address)
	}
	if !here {
		return "it is a copy of a store that was used elsewhere", nil
	}
	if was.Seq == 0 {
		return "", nil
	}
	h, err := journal.At(ctx, m.store, was.Seq)
	var behind *journal.BehindError
	if errors.As(err, &behind) || err == nil && hex.EncodeToString(h.Hash[:]) != was.Hash {
		return "it was put back to what it was a while ago", nil
	}
	return "", err
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
	ctx, end := stores.Detached(ctx)
	defer end()
	_ = m.store.Seal(ctx) // what is committed counts, even if it cannot be sealed now
	seq, hash, err := m.store.Head(ctx)
	if err != nil {
		return
	}
	is := m.known[m.place]
	is.Seq, is.Hash = seq, hex.EncodeToString(hash[:])
	m.known[m.place] = is
	text, err := json.Marshal(m.known)
	if err == nil {
		err = note(m.file, text)
	}
	m.failed = err
}

// blind reports why a restore of the store would not be noticed, or "".
func (m *mark) blind() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.tells:
		return ""
	case m.file == "":
		return "neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME names a folder for the program's state"
	case m.failed != nil:
		return reason(m.failed)
	}
	return ""
}

// withoutMark drops what is older than this start where a restore could not be noticed: nobody
// knows whether it has been used. It returns what operators should know.
func (a *app) withoutMark(ctx context.Context, m *mark, engine *engine.Engine, log *slog.Logger) ([]server.Note, error) {
	why := m.blind()
	if why == "" {
		return nil, nil
	}
	says := "a restored store would not be noticed, since nothing can be noted of it (" + why + ")"
	log.Error("store", "next", "set STATE_DIRECTORY to a folder that stays", "error", says)
	return []server.Note{{About: server.NoteRestore, Says: says}}, a.dropOld(ctx, engine, m.store, says)
}

// note writes a file of the state atomically.
func note(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(file), "mark")
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		os.Remove(temp.Name())
	}
	return err
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
