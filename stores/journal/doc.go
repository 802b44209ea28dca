// Package journal reads the journal: it verifies a journal, signs and compares its heads, moves
// and replays it, and erases from it what a person may have forgotten.
//
//	head, err := journal.Verify(journal.Entries(ctx, store, 1, 0))
//
// # What stands in it
//
// An entry says who said what, under which palette, what the outcome was, and how every row was
// before and after. The store gives it a number, the hash of the entry before and a hash of its
// own, in the order in which transactions were committed: see stores.Entry. Calls that were
// refused, declined, skipped or not agreed to in time have entries too.
//
// Values of fields and arguments that a palette marks as sensitive or personal are not in
// entries. A Commitment takes their place, and the values with their salts are in a separate row,
// an Opening, which can be erased. The text of a call that involves any of them is committed to
// as a whole.
//
// # What it proves, and what it does not
//
// A chain that Verify accepts was not altered in the middle: no entry was changed, added, taken
// out or moved. It does not show that the end is the end: whoever can write to the store can cut
// it off, or write all of it anew with hashes that fit. To detect that, somebody else has to keep
// a checkpoint, a signed Head: a journal extends it or does not. Entries after the last
// checkpoint are covered by the next. Anyone who has the private key can sign any head; someone
// who can write to the store and has the key can do anything, and is outside what this protects
// against.
//
// Erasing an opening leaves the chain as it was. A commitment without its salt does not reveal
// its value, even if that can only have been one of a few. Earlier backups and exports still hold
// what was erased; the journal says that it was erased, and by whom. A text that is erased for
// one row may also occur in entries about others: these are listed, and erased on request.
//
// Replaying a journal gives the rows that it records, and the origins of their values, and
// reports every difference from those in the store. It knows rows that are older than the journal
// from the baseline that records them on. Decimals are compared by their numeric value, since a
// database may pad them.
//
// # What it costs
//
// An entry of a call with two arguments that adds a row takes about 760 bytes in
// SQLite and 710 in PostgreSQL, indexes included, and the mark of a field that
// came out of a document 80 and 260. Eight clients who write through the engine,
// with commits that wait for the disk, get as much done with the journal as
// without it, give or take what a busy machine makes of it: on PostgreSQL between
// eight and ten scripts where there were ten. Without the engine, a store that
// adds one row of two small fields in a transaction does with an entry half of
// what it does without on SQLite, and four fifths on PostgreSQL. Measured by
//
//	go test ./runtime/tests/torture ./stores/sqlite ./stores/postgres -run '^$' -bench 'Journal$|Chain$' -benchtime 1x
//
// # Forms
//
// Checkpoints are signed notes as of C2SP (c2sp.org/signed-note and
// c2sp.org/tlog-checkpoint), which the transparency logs of Go and of
// certificates use too, signed with Ed25519. The lines of an exported journal
// are described at Read. What an entry hashes is described at stores.Entry.Write
// and stores.Entry.Chain, a commitment at Commitment.
package journal
