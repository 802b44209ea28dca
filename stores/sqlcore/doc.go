// Package sqlcore holds what the two SQL stores have in common: the text of statements, the
// conditions of a scope and of a Find, the plan of a migration, and the guard over SQL that an
// author wrote.
//
//	t := sqlcore.NewText[stores.Value, none](sqlcore.Marked).Add("SELECT name FROM ", dialect.Table(e), " t WHERE true")
//	sqlcore.Within(t, view, e, "t", true)
//	rows := run(t.Whole(), t.Args)
//
// The stores supply what differs: words in a Dialect, a Syntax and a Guard, and answers in Rows
// (how a field is compared, what a scope holds), Asks (what paths and comparisons add) and
// Catalogue (which tables there are, and the statements that change them). Nothing here asks
// which database it is.
//
// # What is promised
//
// Within, InScope and Root write only columns that Rows gave them, and only names that are quoted
// or made by Text.Alias. A condition that Finder writes means what stores.Cond says, with two
// truth values, whatever the database makes of null.
//
// A Query holds the author's text as tokens, split as the database splits it. Only the text in
// Query.As runs, and never a comment. Query.Table accepts entities, table functions and the
// author's own common tables as tables, and nothing else.
//
// A Schema changes only what Move renames, in a transaction that is rolled back unless the plan
// is carried out. Its steps are in the order in which they have to run; none may run while there
// is a problem.
//
// What the two databases do differently stays in the stores: the encoding of values, the journal,
// jobs, the search index, locks, policies, and the walk over an author's tokens. SQLite's
// authorizer checks functions and columns itself; for PostgreSQL the walk checks each of them.
package sqlcore
