package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/merkle"
)

// A logKey is the key that signs the log of one journal, in a file outside of its store. Beside it
// stands what it signed last, in a file with the same name and ".signed" behind it, which is empty
// when the key is made. It signs nothing without that file, and no
// log that does not extend that one, so that a store that was put back, or rewritten, is noticed
// and not vouched for. It is safe for use by many goroutines; processes that share a key share
// its folder. While a key replaces another, the file holds both, the newest first: both sign, and what
// either signed counts.
type logKey struct {
	signer *journal.Signer
	before []*journal.Signer // on the lines below
	file   string
	mu     sync.Mutex
}

// openLogKey reads the key in a file, or the keys.
func openLogKey(file string) (*logKey, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	k := &logKey{file: file}
	for line := range strings.Lines(strings.TrimSpace(string(text)) + "\n") {
		signer, err := journal.ParseSigner(line)
		switch {
		case err != nil:
			return nil, err
		case !strings.HasSuffix(signer.Name, journal.OfLog):
			return nil, journal.ErrChainKey
		case k.signer == nil:
			k.signer = signer
		case signer.Name != k.signer.Name:
			return nil, fmt.Errorf("keys that replace one another have one name: %w", journal.ErrKey)
		default:
			k.before = append(k.before, signer)
		}
	}
	return k, nil
}

// canNote refuses a key beside which this user cannot write what it signed. A full disk is no reason: room
// can be made meanwhile.
func (k *logKey) canNote() error {
	folder := filepath.Dir(k.file)
	if err := canWrite(folder); err != nil && !errors.Is(err, syscall.ENOSPC) {
		return usage(fmt.Sprintf("VERBATIM_LOG_KEY is %s, and what it signs cannot be noted beside it in %s: %s", quoted(k.file), quoted(folder), reason(err)),
			"keep the key, with its file .signed, in a folder where this user may write, under systemd in /var/lib/verbatim: verbatim help prove")
	}
	return nil
}

// verifiers are the public halves, the newest first.
func (k *logKey) verifiers() []*journal.Verifier {
	all := []*journal.Verifier{&k.signer.Verifier}
	for _, s := range k.before {
		all = append(all, &s.Verifier)
	}
	return all
}

// public returns the public halves as --key takes them.
func (k *logKey) public() string {
	var all []string
	for _, v := range k.verifiers() {
		all = append(all, v.String())
	}
	return strings.Join(all, " ")
}

// errSignedLost says that nobody knows what the key signed last.
var errSignedLost = errors.New("the file with what the key signed last is missing")

// signed returns what the key signed last.
func (k *logKey) signed() (journal.Checkpoint, error) {
	text, err := os.ReadFile(k.file + ".signed")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return journal.Checkpoint{}, errSignedLost
	case err != nil || len(text) == 0:
		return journal.Checkpoint{}, err
	}
	c, err := journal.ReadCheckpoint(string(text), k.verifiers()...)
	if err != nil {
		err = fmt.Errorf("what the key signed last: %w", err)
	}
	return c, err
}

// check returns a *journal.BehindError or a *journal.ForkError if the log with a head does not extend what the key
// signed last.
func (k *logKey) check(ctx context.Context, s stores.Log, h journal.Head) error {
	was, err := k.signed()
	if err != nil || was.Size == 0 {
		return err
	}
	if h.Size < was.Size {
		return &journal.BehindError{Size: h.Entries, Known: h.EntriesAt(was.Size)}
	}
	path, err := journal.Consistency(ctx, s, was.Size, h)
	if err != nil {
		return err
	}
	if merkle.Extends(was.Size, h.Size, path, was.Hash, h.Hash) != nil {
		return &journal.ForkError{Seq: h.EntriesAt(was.Size)}
	}
	return nil
}

// refuses returns why the key would not sign the log as it is, nil if it would.
func (k *logKey) refuses(ctx context.Context, s stores.Store) error {
	h, err := journal.Last(ctx, s)
	if err != nil || h.Size == 0 {
		return nil // a store that cannot be read is told as such, and there is nothing to sign before the first entry
	}
	return k.check(ctx, s, h)
}

// signs returns the function that signs heads of a store with the key; nil without one.
func (k *logKey) signs(s stores.Log) func(context.Context, journal.Head) (string, error) {
	if k == nil {
		return nil
	}
	return func(ctx context.Context, h journal.Head) (string, error) { return k.sign(ctx, s, h) }
}

// sign signs a head, after check, and notes it.
func (k *logKey) sign(ctx context.Context, s stores.Log, h journal.Head) (note string, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	unlock, err := lockFile(k.file)
	if err != nil {
		return "", err
	}
	defer unlock()
	if err := k.check(ctx, s, h); err != nil {
		return "", err
	}
	note = k.signer.Sign(h, k.before...)
	return note, writeSafely(k.file+".signed", note)
}

// writeSafely writes a file so that it holds either the old text or the new one, whatever stops.
func writeSafely(file, text string) error {
	dir := filepath.Dir(file)
	f, err := os.CreateTemp(dir, "signed")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return err
	}
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
