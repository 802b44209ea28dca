// Package sqlcore is what the two SQL stores say alike: the text of statements, the
// conditions of a scope and of a Find, the plan of a migration, and the guard over SQL
// that an author wrote.
//
//	t := sqlcore.NewText[stores.Value, none](sqlcore.Marked).Add("SELECT name FROM ", dialect.Table(e), " t WHERE true")
//	sqlcore.Within(t, view, e, "t", true)
//	rows := run(t.Whole(), t.Args)
//
// What differs is stated by the store: words in a Dialect, a Syntax and a Guard, and
// answers in Rows (how a field is compared, what a scope holds), Asks (what paths and
// comparisons add) and Catalogue (what there is of tables, and what changes them). Nothing
// here asks which database it is.
//
// # What is promised
//
// Within, InScope and Root write no column that they were not given by Rows, and no name
// that is not quoted or made by Text.Alias. A condition that Finder writes means what
// stores.Cond says, with two truth values, whatever the database makes of null.
//
// A Query holds the author's text as tokens, split as the database splits it. Only what
// stands in Query.As runs, never a comment. Query.Table takes entities, table functions and
// the author's own common tables for tables, and nothing else.
//
// A Schema changes nothing but what Move renames, in a transaction that is rolled back
// unless the plan is carried out. Its steps stand in the order in which they have to run;
// while there is a problem, none may.
//
// What the two dialects say in different words stays in the stores: how values are kept,
// the journal, jobs, the index of a search, locks, policies, and the walk over an author's
// tokens. SQLite's authorizer looks at functions and columns itself; for PostgreSQL the walk
// looks at every one.
package sqlcore
