// Package journal reads what happened: it proves a journal, signs and compares
// its heads, moves it, carries it out again, and erases from it what a person
// may have forgotten.
//
//	head, err := journal.Verify(journal.Entries(ctx, store, 1, 0))
//
// # What stands in it
//
// An entry says who said what, under which palette, what became of it, and how
// every row stood before and after. The store gives it a number, the hash of the
// entry before and a hash of its own, in the order in which transactions were
// committed: see stores.Entry. Calls that were refused, declined, skipped or not
// agreed to in time have entries too.
//
// Values of fields and arguments that a palette marks as sensitive or personal
// do not stand in entries. In their place stands a Commitment, and the values
// with their salts in a row beside, an Opening, which can be erased. The text of
// a call that has to do with any of them is committed to as a whole.
//
// # What it proves, and what it does not
//
// A chain that Verify accepts was not altered in the middle: no entry was
// changed, added, taken out or moved. It does not show that the end is the end:
// whoever can write to the store can cut it off, or write all of it anew with
// hashes that fit. For that somebody else has to keep a checkpoint, a signed
// Head: a journal extends it or does not. Entries behind the last checkpoint are
// covered by the next. Who has the private key can sign any head; who can write
// to the store and holds the key can do anything, and is not who this is against.
//
// Erasing an opening leaves the chain as it was. A commitment without its salt
// tells nobody what it stood for, even where it can only have been one of a few
// values. Backups and exports of before still hold what was erased; the journal
// says that it was done, and by whom. What is erased of one row may have been
// said of another too: that is listed, and erased where that is asked for.
//
// Carrying a journal out again gives the rows that it tells of, and where their
// values come from, and every difference from those in the store is named. Rows that were there before the
// journal are known to it from the moment that a baseline tells of them.
// Decimals are compared by their worth, since a database may pad them.
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
//	go test ./runtime/torture ./stores/sqlite ./stores/postgres -run '^$' -bench 'Journal$|Chain$' -benchtime 1x
//
// # Forms
//
// Checkpoints are signed notes as of C2SP (c2sp.org/signed-note and
// c2sp.org/tlog-checkpoint), which the transparency logs of Go and of
// certificates use too, signed with Ed25519. The lines of an exported journal
// are described at Read. What an entry hashes is described at stores.Entry.Write
// and stores.Entry.Chain, a commitment at Commitment.
package journal
