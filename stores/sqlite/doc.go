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
// Durability. A commit that was answered survives the process and the machine:
// the file is in WAL mode with synchronous=FULL. A commit that ends in an input
// or output error is answered with stores.ErrUnknown, because what reached the
// disk may be found whole after a restart; every other error means that nothing
// was committed. Of a running store, copy the file together with its -wal file,
// or not at all.
//
// Concurrency. One transaction writes at a time, in this process and in others
// that have the file open; the rest wait for BusyTimeout and are then answered
// with stores.ErrConflict. Update holds the write lock from its beginning, so
// that what it reads stays true until it commits, and no transaction fails half
// way because another was faster. Readers see a snapshot, and neither wait for
// the writer nor keep it waiting. A View that is called within an Update is
// another transaction: it does not see what the Update wrote. An Update within
// an Update waits for itself.
//
// Cancellation. A context ends waiting, reading at any row, and everything between
// two changes of a batch. Nothing interrupts a commit.
//
// Errors. Those of package stores, to be told apart with errors.Is. Their text
// may be shown to users: it names entities and fields, and holds neither SQL nor
// values. The cause, for operators, is behind errors.As and names SQLite's code.
//
// Jobs. They are rows of the table verbatim_job. Any number of processes on this
// machine take from them, each job once at a time; what time it is, this
// machine's clock says.
//
// # Names and types
//
// SQLite has no schemas: the table kyc.requests is called kyc_requests here.
// Tables of ours are STRICT. Decimals are text, compared by their worth through
// a collation that only this program has; a tool for SQLite reads everything and
// orders decimals wrongly. Dates and instants are text in ISO 8601, durations
// microseconds, uuids lower case. What SQL writes into them in another way, Load and
// Migrate spell so, or refuse.
//
// Tables of others may spell instants as SQLite does, with a space and without
// an offset, which means UTC, and JSON in any way; both are read, and compared
// by what they mean, at the price of a function call for each row. Decimals may stand
// in columns of numbers where the field says how many digits after the point are
// exact, and what a stores.Spelling says of a column is turned at the door. A row that
// holds something else names itself, its field and why: a read of many leaves it out.
//
// # Where the dialects differ
//
// What both stores say alike is in stores/sqlcore; what is here is SQLite's own.
//
// An author's query is SQLite's SQL. sum adds binary fractions, and a column
// declared decimal refuses them; decimal_sum adds exactly. In PostgreSQL sum is
// exact.
//
// A unique constraint on a table of others is that table's business. When its
// columns do not include the root of the scope, a duplicate tells that a row
// exists which the caller cannot see; on tables of ours it never does.
package sqlite
