package main

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"verbatim/runtime/frontends/wire"
	"verbatim/stores"
	"verbatim/stores/journal"
	"verbatim/stores/receipt"
)

func logVerifyCommand(a *app) *cobra.Command {
	var store, palettes, since, key string
	var archived []string
	cmd := &cobra.Command{
		Use:     "verify [FILE]",
		Short:   "Check that the journal is whole and extends a checkpoint",
		Example: "verbatim log verify",
		Long: `FILE is a journal that log export wrote; without one it is that of the store. With
--since it must begin with exactly the entries that the checkpoint knows. --key is the
public key that must have signed the checkpoint, or a file with it. --archived is an export
of entries that the store has no more: they are verified beside those that it has. Rights
that verbs gave are worked out from the journal and must be those that there are.`,
		Args: atMost(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if key != "" && since == "" {
				return usage("--key checks the signature of a checkpoint", "give the checkpoint with --since")
			}
			file := ""
			if len(args) == 1 {
				file = args[0]
			}
			if file != "" && len(archived) > 0 {
				return usage("--archived stands beside a store, and a file is a journal by itself", "give one of them")
			}
			a.reads = true
			return a.logVerify(cmd.Context(), store, palettes, file, since, key, archived)
		},
	}
	a.storeFlag(cmd, &store)
	a.palettesFlag(cmd, &palettes)
	cmd.Flags().StringVar(&since, "since", "", "a `file` with a checkpoint that was kept elsewhere")
	cmd.Flags().StringVar(&key, "key", "", "the public `key` of whoever signed it")
	cmd.Flags().StringArrayVar(&archived, "archived", nil, "a `file` with entries that the store has no more")
	return cmd
}

// brokenJournal reports that the journal was changed.
func brokenJournal(err error) error {
	code, next := "journal-broken", "stop writing to this store, keep a copy of it, and compare it with a backup or an export"
	var fork *journal.ForkError
	var behind *journal.BehindError
	switch {
	case errors.As(err, &fork):
		code = "journal-forked"
	case errors.As(err, &behind):
		code, next = "journal-behind", next+"; if no newer copy is left: verbatim help back-up"
	}
	return &stop{exitInput, code, err.Error(), next}
}

// publicKey reads a public key, or several with white space between them, or a file with them. "" is none.
func publicKey(key string) ([]*journal.Verifier, error) {
	if key == "" {
		return nil, nil
	}
	if b, err := os.ReadFile(key); err == nil {
		key = string(b)
	}
	list := strings.Fields(key)
	if len(list) == 0 {
		list = []string{""} // no key
	}
	var all []*journal.Verifier
	for _, one := range list {
		v, err := journal.ParseVerifier(one)
		if err != nil {
			return nil, &stop{exitInput, "bad-key", "--key: " + err.Error(), "verbatim log keygen prints the public key of the key it makes"}
		}
		all = append(all, v)
	}
	return all, nil
}

// checkpoint reads a checkpoint from a file; signed says whether its signature was verified.
func (a *app) checkpoint(file, key string) (c journal.Checkpoint, signed bool, err error) {
	src, err := a.source(file)
	if err != nil {
		return c, false, err
	}
	keys, err := publicKey(key)
	if err != nil {
		return c, false, err
	}
	c, err = journal.ReadCheckpoint(journal.CutConsistency(src.Text), keys...)
	if err != nil {
		next := "a checkpoint is what verbatim log checkpoint printed, unchanged"
		if errors.Is(err, journal.ErrSignature) {
			next = "give --key the public half of the key that signed it, and leave the checkpoint unchanged"
		}
		return c, false, &stop{exitInput, "bad-checkpoint", fmt.Sprintf("%s: %s", file, err), next}
	}
	return c, len(keys) > 0, nil
}

func (a *app) logVerify(ctx context.Context, store, palettes, file, since, key string, archived []string) error {
	a.long()
	v := verifying{app: a, file: file}
	return v.verify(ctx, store, palettes, since, key, archived)
}

// verify verifies the journal of a file or of a store.
func (v *verifying) verify(ctx context.Context, store, palettes, since, key string, archived []string) error {
	a := v.app
	var known []journal.Head
	var c *journal.Checkpoint
	var signed bool
	if since != "" {
		var err error
		c = new(journal.Checkpoint)
		if *c, signed, err = a.checkpoint(since, key); err != nil {
			return err
		}
		known = append(known, c.Head)
	}
	entries, end, err := v.open(ctx, store, palettes, archived)
	if err != nil {
		return err
	}
	defer end()
	h, err := journal.Verify(entries, v.roots, known...)
	if err != nil {
		return v.broken(err)
	}
	unsure, err := v.unsure(ctx)
	if err != nil {
		return err
	}
	switch {
	case c == nil:
		unsure = append(unsure, "whether its end was cut off, or all of it was written anew: only a checkpoint kept elsewhere can tell")
	case !signed:
		unsure = append(unsure, "who made the checkpoint: its signature was not checked, --key does that")
	}
	if c != nil {
		if c.Size > 0 {
			c.Entries = h.Entries - h.Size + c.Size
		}
		if h.Entries > c.Entries {
			unsure = append(unsure, fmt.Sprintf("whether entries after %d were there before: the checkpoint does not reach them", c.Entries))
		}
	}
	v.tells(h, c, signed, unsure)
	return nil
}

// A verifying verifies one journal.
type verifying struct {
	*app
	file    string       // "" for the journal of a store
	opened  stores.Store // a store that is only read and is not closed; nil opens one
	losses  journal.Losses
	given   *grantCheck  // nil for a file
	store   stores.Store // nil for a file
	roots   iter.Seq2[stores.Root, error]
	missing func(int64) (string, error) // returns the name of the missing part that has an entry; nil for a file
}

// open opens the journal, and end closes it.
func (v *verifying) open(ctx context.Context, store, palettes string, archived []string) (entries iter.Seq2[*stores.Entry, error], end func(), err error) {
	if v.file != "" {
		f, err := v.openJournal(v.file)
		if err != nil {
			return nil, nil, err
		}
		return v.losses.Watch(journal.Read(f)), func() { f.Close() }, nil
	}
	s := v.opened
	end = func() {}
	if s == nil {
		if s, err = v.app.open(ctx, store); err != nil {
			return nil, nil, err
		}
		end = func() { s.Close() }
		if err := s.Seal(ctx); err != nil && !errors.Is(err, stores.ErrStandby) {
			end()
			return nil, nil, err
		}
	}
	v.store, v.roots = s, journal.Roots(ctx, s)
	v.given, v.missing = v.rights(s, palettes), missingPart(ctx, s)
	lines := journal.Opened(ctx, s, operatorName, journal.Entries(ctx, s, 1, 0))
	if len(archived) > 0 {
		var read func()
		if lines, read, err = v.beside(ctx, s, archived); err != nil {
			end()
			return nil, nil, err
		}
		closes := end
		end = func() { read(); closes() }
	}
	return v.losses.Watch(v.given.watch(lines)), end, nil
}

// broken reports why the journal is not intact, or could not be read.
func (v *verifying) broken(err error) error {
	var chain *stores.ChainError
	var log *stores.LogError
	var fork *journal.ForkError
	var behind *journal.BehindError
	var line *journal.FileError
	switch {
	case errors.As(err, &chain) && chain.Missing && v.missing != nil:
		where, lookErr := v.missing(chain.Seq)
		if lookErr != nil {
			return v.journalFailed(lookErr)
		}
		if where != "" {
			return &stop{exitInput, "journal-broken", chain.Error() + ". It belongs to " + where, "attach it, or give what log export wrote of it: verbatim log verify --archived FILE"}
		}
		return brokenJournal(err)
	case errors.As(err, &chain), errors.As(err, &log), errors.As(err, &fork), errors.As(err, &behind):
		return brokenJournal(err)
	case errors.As(err, &line):
		if v.file != "" {
			err = fmt.Errorf("%s: %w", v.file, err)
		}
		return &stop{exitInput, "journal-broken", err.Error(), "export it again, or look for a copy"}
	}
	return v.journalFailed(err)
}

// unsure lists what an intact journal leaves open. It fails for a journal that lacks values which
// nobody ordered to be erased, and for a store whose rights the journal did not record.
func (v *verifying) unsure(ctx context.Context) (unsure []string, err error) {
	switch gone := v.losses.Unordered(); {
	case len(gone) == 0:
	case v.file != "" && v.losses.Whole == 0:
		unsure = append(unsure, "whether values were erased that no entry ordered: the file has none of them")
	default:
		return nil, &stop{exitInput, "journal-broken", "values are missing that no entry of the journal ordered to be erased, of entries " + strings.ReplaceAll(gone.String(), " ", ", ") + ": somebody took them out of the store", "find out who can change the store, and take the values from a backup or an export"}
	}
	if v.given == nil {
		return unsure, nil
	}
	switch waits, err := v.store.Unsealed(ctx); {
	case err != nil:
		return nil, v.journalFailed(err)
	case len(waits.Stray) > 0:
		return nil, &stop{exitInput, "journal-broken", fmt.Sprintf("the log lacks journal entry %d, and nothing says that it is still to be sealed", waits.Stray[0]), "find out who can change the store, and compare it with a backup or an export"}
	case waits.Waiting > 0:
		unsure = append(unsure, receipt.Counted(int(waits.Waiting), "entry")+" that are not sealed yet")
	}
	more, err := v.given.compare(ctx)
	var differ *stop
	if err != nil && !errors.As(err, &differ) {
		err = v.journalFailed(err)
	}
	return append(unsure, more...), err
}

// tells reports that a journal is intact up to h, and extends the checkpoint c, if there is one.
func (v *verifying) tells(h journal.Head, c *journal.Checkpoint, signed bool, unsure []string) {
	if v.json {
		out := verifyJSON{Schema: "verbatim/verify@1", Entries: h.Entries, Leaves: h.Size, Hash: hex.EncodeToString(h.Hash[:]), Erasable: v.losses.Erasable, Openings: v.losses.Whole, Unknown: wire.Some(unsure)}
		if c != nil {
			out.Since, out.Signed = c.Entries, signed
		}
		v.emit(out)
		return
	}
	head := "none"
	if h.Entries > 0 {
		head = fmt.Sprintf("%x %x", h.Hash[:2], h.Hash[2:4])
	}
	entries := "entries"
	if h.Entries == 1 {
		entries = "entry"
	}
	fmt.Fprintf(v.out, "journal whole: %s %s, head %s\n", receipt.Thousands(int(h.Entries)), entries, head)
	if c != nil {
		by := ""
		if signed {
			by = ", signed by " + c.Origin
		}
		fmt.Fprintf(v.out, "extends the checkpoint of %s%s\n", receipt.Counted(int(c.Entries), "entry"), by)
	}
	if gone := v.losses.Erasable - v.losses.Whole; gone > 0 {
		fmt.Fprintf(v.out, "erased from %s: what stood there cannot be told\n", receipt.Counted(gone, "entry"))
	}
	for _, u := range unsure {
		fmt.Fprintf(v.out, "cannot know %s\n", u)
	}
}

// missingPart returns a function that names the missing part of a journal to which an entry
// belongs.
func missingPart(ctx context.Context, s stores.Store) func(int64) (string, error) {
	parted, ok := s.(interface {
		MissingPart(context.Context, int64) (string, bool, error)
	})
	if !ok {
		return nil
	}
	return func(seq int64) (string, error) {
		name, detached, err := parted.MissingPart(ctx, seq)
		if detached {
			name += ", which is detached"
		} else if name != "" {
			name += ", which is not in the database"
		}
		return name, err
	}
}

// beside iterates over the entries of a store and of archived exports, in order.
func (a *app) beside(ctx context.Context, s stores.Store, files []string) (lines iter.Seq2[*journal.Line, error], end func(), err error) {
	type export struct {
		name  string
		first *journal.Line
		err   error
		next  func() (*journal.Line, error, bool)
	}
	var all []export
	var ends []func()
	end = func() {
		for _, f := range ends {
			f()
		}
	}
	for _, name := range files {
		f, err := a.openJournal(name)
		if err != nil {
			end()
			return nil, nil, err
		}
		next, stop := iter.Pull2(journal.Read(f))
		ends = append(ends, func() { stop(); f.Close() })
		l, err, ok := next()
		switch {
		case err != nil:
			end()
			return nil, nil, a.badFile(name, err)
		case ok:
			all = append(all, export{name, l, nil, next})
		}
	}
	slices.SortStableFunc(all, func(a, b export) int { return cmp.Compare(a.first.Entry.Place, b.first.Entry.Place) })
	return func(yield func(*journal.Line, error) bool) {
		at := int64(1)
		live := func(to int64) bool {
			for l, err := range journal.Opened(ctx, s, operatorName, journal.Entries(ctx, s, at, to)) {
				if !yield(l, err) {
					return false
				}
			}
			return true
		}
		for _, x := range all {
			if first := x.first.Entry.Place; at < first && !live(first-1) {
				return
			}
			for l, err, ok := x.first, x.err, true; ok; l, err, ok = x.next() {
				if err != nil {
					yield(nil, fmt.Errorf("%s: %w", x.name, err))
					return
				}
				if l.Entry.Place < at { // another export has it: one that ends with an entry that came late
					continue
				}
				if at = l.Entry.Place + 1; !yield(l, nil) {
					return
				}
			}
		}
		live(0)
	}, end, nil
}

type verifyJSON struct {
	Schema   string   `json:"schema"`
	Entries  int64    `json:"entries"`
	Leaves   int64    `json:"leaves,omitempty"` // of the log
	Hash     string   `json:"hash"`
	Since    int64    `json:"since,omitempty"`
	Signed   bool     `json:"signed,omitempty"`
	Erasable int      `json:"erasable"` // entries that commit to values
	Openings int      `json:"openings"` // of those, entries whose values all exist
	Unknown  []string `json:"unknown"`
}

// openJournal opens a file that `log export` wrote.
func (a *app) openJournal(name string) (*os.File, error) {
	f, err := os.Open(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, &stop{exitUsage, "no-such-file", fmt.Sprintf("there is no file %s%s", quoted(name), nearFile(name)), "verbatim log export --as d.lang > FILE writes one"}
	case err != nil:
		return nil, &stop{exitUsage, "unreadable", fmt.Sprintf("the file %s cannot be read: %s", quoted(name), reason(err)), "check the path, and who may read it"}
	}
	return f, nil
}

func logCheckpointCommand(a *app) *cobra.Command {
	var store, sign, since, key string
	cmd := &cobra.Command{
		Use:     "checkpoint",
		Short:   "Print the signed head of the journal, to be kept elsewhere",
		Example: "verbatim log keygen bank.key --name bank.example/journal\nverbatim log checkpoint --sign bank.key",
		Long: `The whole journal is checked first. It must extend what the key signed last, which is kept
beside the key in FILE.signed, and with --since that checkpoint too. With --since, the proof
that it does comes first, in the form in which C2SP's witnesses take it. Keep what is printed
where whoever can change the store cannot: log verify --since holds the journal against it.`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			k, err := a.logKey(sign)
			if err != nil {
				return err
			}
			if k == nil {
				return usage("who signs it?", "verbatim log checkpoint --sign FILE; verbatim log keygen FILE makes the key")
			}
			return a.logCheckpoint(cmd.Context(), store, k, since, key)
		},
	}
	a.storeFlag(cmd, &store)
	cmd.Flags().StringVar(&sign, "sign", "", "the `file` with the private key (default $VERBATIM_LOG_KEY)")
	cmd.Flags().StringVar(&since, "since", "", "a `file` with the checkpoint before")
	cmd.Flags().StringVar(&key, "key", "", "the public `key` of whoever signed that, if it was another")
	return cmd
}

// logKey opens the key that signs the log; nil if none is given.
func (a *app) logKey(file string) (*logKey, error) {
	by := "the key"
	if file == "" {
		by, file = "VERBATIM_LOG_KEY, the key", a.env("VERBATIM_LOG_KEY")
	}
	if file == "" {
		return nil, nil
	}
	k, err := openLogKey(file)
	switch {
	case errors.Is(err, journal.ErrKey), errors.Is(err, journal.ErrChainKey):
		return nil, &stop{exitInput, "bad-key", fmt.Sprintf("%s %s: %s", by, quoted(file), err), "verbatim log keygen FILE makes one"}
	case errors.Is(err, fs.ErrNotExist):
		return nil, &stop{exitUsage, "no-such-file", fmt.Sprintf("%s %s cannot be read: %s", by, quoted(file), reason(err)), "verbatim log keygen FILE makes one"}
	case err != nil:
		return nil, &stop{exitUsage, "no-such-file", fmt.Sprintf("%s %s cannot be read: %s", by, quoted(file), reason(err)), "let this user read it, and write to its folder, under systemd in /var/lib/verbatim: verbatim help prove"}
	}
	return k, nil
}

// notSigned reports why a log is not signed.
func (a *app) notSigned(err error) error {
	var fork *journal.ForkError
	var behind *journal.BehindError
	if errors.As(err, &fork) || errors.As(err, &behind) {
		return &stop{exitInput, "log-not-signed", "nothing is signed: the log does not extend what its key signed last: " + err.Error(), "if the store was put back on purpose, begin a log with a new key: verbatim log keygen NEW --name NEW-NAME"}
	}
	if errors.Is(err, errSignedLost) {
		return &stop{exitInput, "log-not-signed", "nothing is signed: " + err.Error() + ", so nobody can tell whether the log extends that", "put FILE.signed back beside the key, or begin a log with a new key: verbatim log keygen NEW --name NEW-NAME"}
	}
	return broken("the log cannot be signed", err, "the key's folder holds what it signed last, and has to be writable")
}

func (a *app) logCheckpoint(ctx context.Context, store string, k *logKey, since, key string) error {
	var known []journal.Head
	if since != "" {
		c, _, err := a.checkpoint(since, cmp.Or(key, k.public()))
		if err != nil {
			return err
		}
		known = append(known, c.Head)
	}
	s, err := a.open(ctx, store)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Seal(ctx); err != nil && !errors.Is(err, stores.ErrStandby) {
		return a.journalFailed(err)
	}
	h, err := journal.Whole(ctx, s, known...)
	if err != nil {
		return a.journalFailed(err)
	}
	if h.Size == 0 {
		return &stop{exitRefused, "no-log", "the log of this store begins with its next entry: there is nothing to sign yet", "sign it when something was done"}
	}
	note, err := k.sign(ctx, s, h)
	if err != nil {
		return a.notSigned(err)
	}
	if len(known) > 0 && known[0].Size > 0 {
		path, err := journal.Consistency(ctx, s, known[0].Size, h)
		if err != nil {
			return a.journalFailed(err)
		}
		note = journal.WriteConsistency(known[0].Size, path, note)
	}
	if a.json {
		a.emit(struct {
			Schema  string `json:"schema"`
			Origin  string `json:"origin"`
			Entries int64  `json:"entries"`
			Leaves  int64  `json:"leaves"`
			Hash    string `json:"hash"`
			Note    string `json:"note"`
		}{"verbatim/checkpoint@1", k.signer.Name, h.Entries, h.Size, hex.EncodeToString(h.Hash[:]), note})
		return nil
	}
	fmt.Fprint(a.out, note)
	return nil
}

func logKeygenCommand(a *app) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:     "keygen FILE",
		Short:   "Make the key that signs checkpoints, and print its public half",
		Example: "verbatim log keygen journal.key --name bank.example/payments",
		Long: `FILE is readable by its owner only, and is never overwritten. Whoever has it can sign
any head. Hand what is printed to those who check: log verify --since CHECKPOINT --key.`,
		Args: exactly(1, "the file to make"),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.logKeygen(args[0], name)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "which journal it is for, one `word` such as bank.example/journal")
	return cmd
}

func (a *app) logKeygen(file, name string) error {
	if name == "" {
		return usage("which journal is the key for?", "verbatim log keygen "+shell(file)+" --name HOST/JOURNAL")
	}
	if !strings.HasSuffix(name, journal.OfLog) {
		name += journal.OfLog // keys without it signed the older chain
	}
	signer, err := journal.NewSigner(name, a.random)
	if errors.Is(err, journal.ErrKey) {
		return usage(fmt.Sprintf("--name %q: %s", name, strings.TrimSuffix(err.Error(), ": "+journal.ErrKey.Error())), "give something such as bank.example/journal")
	}
	if err != nil {
		return broken("no key can be made", err, "try again")
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		// It has signed nothing. From now on the file is never missing, unless somebody lost it.
		var signed *os.File
		if signed, err = os.OpenFile(file+".signed", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			err = signed.Close()
		} else {
			f.Close()
			os.Remove(file)
			file += ".signed"
		}
	}
	if errors.Is(err, os.ErrExist) {
		return &stop{exitUsage, "exists", fmt.Sprintf("the file %s is there already", quoted(file)), "a key is never overwritten: name another file"}
	}
	if err == nil {
		_, err = f.WriteString(signer.Secret() + "\n")
		if closed := f.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		return broken(fmt.Sprintf("the key %s cannot be written", quoted(file)), err, "check the folder, and who may write to it")
	}
	if a.json {
		a.emit(struct {
			Schema string `json:"schema"`
			File   string `json:"file"`
			Public string `json:"public"`
		}{"verbatim/key@1", file, signer.Verifier.String()})
		return nil
	}
	fmt.Fprintln(a.out, signer.Verifier.String())
	return nil
}
