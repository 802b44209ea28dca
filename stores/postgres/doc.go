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
// Two locks. Every statement contains the condition that its rows lie within the scope. In
// addition, our tables have row-level security, enabled and forced, with restrictive policies
// that Migrate derives from the entities' scope paths; the policies read the scope from a setting
// that ends with the transaction, and show no rows without it. The store refuses to start, with
// ErrRole, under a role that is not bound by policies: a superuser, one with BYPASSRLS, or one
// that is or can become the owner of our tables. A client that can run its own SQL as the
// application's role can set the setting: only the application may have that role. Authors'
// queries run as a role of their own if the server has one; see asker.go.
//
// A row of ours keeps its owner in a column verbatim_root, if its scope path leads through our
// tables by references that are never empty: both locks compare that column with the scope,
// instead of following the path for every row. Foreign keys keep it correct, whoever writes and
// whatever moves; see root.go.
//
// It also keeps the origins of its values in a column verbatim_origins, which is null while all
// of them are trusted. The origins of rows in other tables are in a table of ours; see mark.go.
//
// Tables that are not ours are never altered. They have the first lock only, unless the
// organisation makes policies of its own for them; those may read the settings that policy.go
// describes.
//
// Roles. Migrate works as the owner, whose URL MigrateAs gives, or on a store opened with
// AsOwner. It makes what is missing in one transaction, under a lock that other migrations wait
// for, and grants it to the application's role. The owners of other tables grant the rights that
// this role needs on them (SELECT, and INSERT, UPDATE, DELETE where verbs write). To make foreign
// keys to another's table, our owner needs REFERENCES on it; without that right there are none.
//
// Transactions. A View is one snapshot: repeatable read, read-only. An Update reads what is
// committed when each statement begins, so that the guards of a change detect that another
// transaction has changed its row meanwhile, as a conflict that can be tried again. A Get within an Update locks its row until the commit, so that what a verb decides by
// stays true; what Find and SQL return may change before the commit, unless a guard covers it.
// (In a SQLite store, nobody else writes at all.) A View that is called within an Update is
// another transaction, and needs a connection of its own: a pool of one would wait for itself.
//
// Journal. An entry is committed without a lock that another writer waits for. Its number is drawn
// by the last statement before COMMIT, and a sealer in every process that writes gives it a place
// in the log: seal.go. The application's role can add to the journal and the log, and change
// nothing in them; triggers stop accidental changes by other roles.
//
// Statements. The text of a question is written once for all questions of its form, and its
// arguments carry what differs between them: prepared.go. The changes of a batch are one
// statement if none of them has to see another, together with its jobs and its names: join.go.
//
// Replica. A View may read a replica if that has replayed everything that was in the log when the
// View began: replica.go. So it sees nothing older than that. A View that the replica cuts off
// runs again, on the store itself.
//
// Round trips. The entries and notices of a batch go with the commit, and its changes too if it
// is Late, so that a transaction that reads one row and writes takes two: one for the read, one
// for the rest; a Together is one. A View whose first reads, made together, say that they are the
// last takes one, and the related rows come with them. Changes of a batch that do the same to
// different rows are one statement. A statement that finds no row to change fails in the server,
// so that a commit behind it cannot happen.
//
// Durability. That of the server's synchronous_commit: when Update has returned, its changes are
// as safe as that setting makes them.
//
// A commit whose answer did not come returns stores.ErrUnknown; every other error means that
// nothing was committed.
//
// Cancellation. The end of a context ends waits, reads, and the transaction: the connection is
// closed, and the server told. If the context ends while changes sent with the commit wait for
// another transaction, the server is asked to cancel them, and its answer is awaited. Nothing
// interrupts COMMIT itself; if it is not answered half a second after the context's deadline, its
// outcome is unknown. A connection that is not idle afterwards is closed and not lent again.
//
// Errors. They are those of package stores: test them with errors.Is. Their text may be shown to
// users: it names entities and fields, and holds neither SQL nor values. The cause, for
// operators, is reached with errors.As and names the SQLSTATE.
//
// Jobs. They are rows of River, the queue, in the schema verbatim_river, which Migrate makes with
// River's own migrations. River's client and workers run them, and River's tools can manage them.
// Any number of machines take from the queue, each job once at a time. The server's clock decides
// when a job is due. Workers listen for due jobs; behind a pooler, with
// default_query_exec_mode=exec, they poll. Row-level security does not apply to jobs: no author's
// query reaches them, and the engine checks a principal's rights when it carries one out.
// river.go says what River cannot be configured to do.
//
// # Names and types
//
// A table's name is schema.table; without a schema it is in public, whatever the search_path.
// Triggers, defaults and rules of other tables have the search_path that the database sets for the
// role, behind pg_catalog, or the one in the URL: see searchPath.
// Names are case-sensitive. The store's own tables are public.verbatim_*, as in SQLite.
//
// value.go lists how our tables store values, and shape.go which column types of other tables can
// hold them: among them varchar, enumerations, domains, citext, timestamp without time zone
// (which means UTC), interval (a row with months is unreadable), json and jsonb, and arrays for lists. A value
// that could be misread is an error that names the field; a type that is not exact is a problem
// of Migrate.
//
// # Where the dialects differ
//
// The common part of both stores is in stores/sqlcore; this package holds what is specific to
// PostgreSQL.
//
// An author's query is PostgreSQL's SQL. decimal_sum, which SQLite needs to add exactly, is sum
// here. A parameter has the type of its value; in CheckSQL, where it may have no value, it has
// the type of the place where it stands. Our tables compare text by its bytes in both stores;
// other tables compare it in a query as their columns are declared to.
//
// A decimal keeps its digits, but not zeros before them nor the sign of a zero:
// -0.00 comes back as 0.00.
//
// An author's query can make a value as large as the server allows, a gigabyte,
// within its time. PostgreSQL has no setting that would keep it smaller.
//
// A unique constraint on a table that is not ours is that table's business. If its columns do not
// include the root of the scope, a duplicate reveals that a row exists which the caller cannot
// see; on our tables that never happens.
package postgres
