// Package sqlite keeps rows and the journal in one SQLite file. It is the store
// that needs nothing installed.
//
//	s, err := sqlite.Open("verbatim.db")
//	plan, err := s.Migrate(ctx, entities, true)
//	err = s.View(ctx, scope, func(r stores.Reader) error {
//		row, err := r.Get(ctx, request, key)
//		…
//	})
//
// # What is promised
//
// The suite in stores/storetest, which this package passes, and in addition:
//
// Durability. A commit that returned nil survives a crash of the process and of the machine: the
// file is in WAL mode with synchronous=FULL. A commit that ends in an input or output error
// returns stores.ErrUnknown, because its data may be complete on the disk after a restart; every
// other error means that nothing was committed. Copy a running store together with its -wal file,
// or not at all.
//
// Concurrency. One transaction writes at a time, in this process and in others that have the file
// open; the rest wait for BusyTimeout and then get stores.ErrConflict. Update holds the write
// lock from its beginning, so that what it reads stays true until it commits, and no transaction
// fails half way because another was faster. Readers see a snapshot, and neither wait for the
// writer nor make it wait. A View that is called within an Update is another transaction: it does
// not see what the Update wrote. An Update within an Update waits for itself.
//
// Cancellation. The end of a context ends waits, reads at any row, and a batch between two
// changes. Nothing interrupts a commit.
//
// Errors. They are those of package stores: test them with errors.Is. Their text may be shown to
// users: it names entities and fields, and holds neither SQL nor values. The cause, for
// operators, is reached with errors.As and names SQLite's code.
//
// Jobs. They are rows of the table verbatim_job. Any number of processes on this machine take
// from them, each job once at a time; this machine's clock says when a job is due.
//
// # Names and types
//
// SQLite has no schemas: the table kyc.requests is called kyc_requests here.
// Tables of ours are STRICT. Decimals are text, compared by their numeric value through a
// collation that only this program has; a tool for SQLite reads everything and orders decimals
// wrongly. Dates and times are text in ISO 8601, durations microseconds, UUIDs lower case. Load
// and Migrate convert values that SQL wrote in another form, or refuse them.
//
// Tables of others may write times as SQLite does, with a space and without an offset, which
// means UTC, and JSON in any form; both are read, and compared by their meaning, at the price of
// a function call for each row. Decimals may be in numeric columns if the field says how many
// digits after the point are exact there, and a stores.Spelling converts a column's values as
// they are read and written. A row that holds anything else is reported with its field and the
// reason: a read of many rows leaves it out.
//
// # Where the dialects differ
//
// The common part of both stores is in stores/sqlcore; this package holds what is specific to
// SQLite.
//
// An author's query is SQLite's SQL. sum adds binary fractions, and a column
// declared decimal refuses them; decimal_sum adds exactly. In PostgreSQL sum is
// exact.
//
// A unique constraint on a table that is not ours is that table's business. If its columns do not
// include the root of the scope, a duplicate reveals that a row exists which the caller cannot
// see; on our tables that never happens.
package sqlite
