// Package postgres keeps rows and the journal in a PostgreSQL database, for many
// processes on many machines.
//
//	s, err := postgres.Open(ctx, "postgres://verbatim_app@db/bank", postgres.MigrateAs("postgres://verbatim_owner@db/bank"))
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
// Two locks. Every statement holds the condition that its rows lie within the
// scope. Beside it, tables of ours have row-level security, enabled and forced,
// with restrictive policies that Migrate derives from the entities' scope paths;
// the scope reaches them in a setting that ends with the transaction, and where
// it is not set there are no rows. The store refuses to start, with ErrRole, as a
// role that policies do not bind: a superuser, one with BYPASSRLS, or one that is
// or can become the owner of tables of ours. Whoever can run SQL of their own as
// the application's role can set the setting: keep that role to the application.
// Queries that palettes write run as a role of their own where the server has one;
// see asker.go.
//
// A row of ours keeps whose it is, in a column verbatim_root, where its scope
// path leads through tables of ours by references that are never empty: both
// locks compare that with the scope, instead of going along the path for every
// row. Foreign keys keep it true, whoever writes and whatever moves; see root.go.
//
// It also keeps where its values come from, in a column verbatim_origins, which is
// null while all of them are trusted. Those of rows in tables of others stand in a
// table of ours; see mark.go.
//
// Tables of others are never altered. They have the first lock only, unless the
// organisation makes policies of its own for them; those may read the settings
// that are described in policy.go.
//
// Roles. Migrate works as the owner, whose URL MigrateAs gives, or on a store
// opened with AsOwner. It makes what is missing in one transaction, under a lock
// that other migrations wait for, and grants it to the application's role. What
// that role needs of tables of others (SELECT, and INSERT, UPDATE, DELETE where
// verbs write), their owners grant. An owner needs REFERENCES on a table of
// others for foreign keys to be made to it; without, there are none.
//
// Transactions. A View is one snapshot: repeatable read, read-only. An Update
// reads what is committed when each statement begins, for two reasons: a chain of
// commits cannot be appended to from a snapshot taken before the commit that it
// has to follow, and a row that another has changed meanwhile is found out by the
// guards of a change, as a conflict that can be tried again. A Get within an
// Update locks its row until the commit, so that what a verb decides by stays
// true; what Find and SQL return may change before the commit, unless a guard
// holds it. In a store that is a file, nobody else writes at all. A View that is
// called within an Update is another transaction, and needs a connection of its
// own: a pool of one would wait for itself.
//
// Journal. Entries are chained in the server while the transaction commits: an
// advisory lock is taken when everything else is done and COMMIT is on its way
// already, so that it is held for no longer than the server takes; prev is unique,
// within a part where the journal is kept in parts, and so is the number of an entry,
// in all of it. The application's role can add to the journal and change nothing in
// it; triggers stop everybody else's slips.
//
// Statements. The text of a question is written once for all questions of its form, and
// what differs between them is an argument: prepared.go. What a batch changes is one
// statement where no part of it has to see another, with its jobs and its names: join.go.
//
// Replica. A View may read a server that follows, where it has replayed all that was in
// the log when the View began: replica.go. What it finds is at least as new as that. One
// that the replica cuts off runs again, on the store itself.
//
// Round trips. The entries and notices of a batch go with the commit, and its
// changes too where it is Late, so that a transaction that reads one row and
// writes takes two: one for what it reads, one for the rest; what is read Together
// is one. A View whose first reads, asked together, say that they are the last
// takes one, and what belongs to their rows comes with them. Changes of a batch that do the same to
// different rows are one statement. A statement that finds no row to change fails
// in the server, so that a commit behind it cannot happen.
//
// Durability. That of the server's synchronous_commit: when Update has returned,
// what it committed is as safe as that setting makes it. What adds to the journal
// is committed first and waits for the disk after, in the same round trip, when
// the journal's lock is free again; otherwise no two could wait for the disk
// together. So others may see rows, and chain to entries, for as long as a disk
// takes before these are safe. A server that fails then loses the end of its log
// and never something from the middle: whoever saw such a row and wrote
// something themselves, and was told that it is done, is told so after the row
// was safe; only who reads and tells others, and writes nothing, may have told of
// what never was. A server whose synchronous_commit is off waits for nothing. The
// wait takes EXECUTE on pg_logical_emit_message, which everybody has unless it
// was taken away before the store was opened; it then waits with the lock.
//
// A commit whose answer did not come is answered with stores.ErrUnknown; every
// other error means that nothing was committed.
//
// Cancellation. A context ends waiting and reading, and the transaction with it:
// the connection is closed, and the server told. When one ends while changes that
// go with the commit wait for somebody, the server is asked to give them up, and
// its answer awaited. Nothing interrupts COMMIT itself; half a second after the
// context's deadline one that was not answered is unknown. A connection that does
// not come back idle is closed and not lent again.
//
// Errors. Those of package stores, to be told apart with errors.Is. Their text
// may be shown to users: it names entities and fields, and holds neither SQL nor
// values. The cause, for operators, is behind errors.As and names the SQLSTATE.
//
// Jobs. They are rows of River, the queue, in the schema verbatim_river, which
// Migrate makes with River's own migrations, and River's client and workers run them;
// River's tools can look after them. Any number of machines take from them, each job
// once at a time. What time it is, for all of them, is the server's to say. Workers
// listen for jobs that are due; behind a pooler, with default_query_exec_mode=exec,
// they poll. Row-level security does not hold for jobs: no query of a palette's author
// reaches them, and the engine looks at a principal's rights when it carries one out.
// See river.go for what River cannot be told.
//
// # Names and types
//
// A table's name is schema.table; without a schema it is in public, whatever the
// search_path. Names are taken as they are written, in their case. The store's
// own tables are public.verbatim_*, as in a file.
//
// value.go lists how values are kept in tables of ours, and shape.go which types
// of others can hold them: among them varchar, enumerations, domains, citext,
// timestamp without time zone (which means UTC), interval (without months), json
// and jsonb, and arrays for lists. What could be misread is an error that names
// the field, a type that is not exact a problem of Migrate.
//
// # Where the dialects differ
//
// What both stores say alike is in stores/sqlcore; what is here is PostgreSQL's own.
//
// An author's query is PostgreSQL's SQL. decimal_sum, which a file needs to add
// exactly, is sum here. A parameter's type is that of its value, and in CheckSQL,
// which may have none, that of the place where it stands. Tables of ours compare
// text by its bytes, here and there; tables of others in a query compare it as
// their columns are declared to.
//
// A decimal keeps its digits, but not zeros before them nor the sign of a zero:
// -0.00 comes back as 0.00.
//
// An author's query can make a value as large as the server allows, a gigabyte,
// within its time. PostgreSQL has no setting that would keep it smaller.
//
// A unique constraint on a table of others is that table's business. When its
// columns do not include the root of the scope, a duplicate tells that a row
// exists which the caller cannot see; on tables of ours it never does.
package postgres
